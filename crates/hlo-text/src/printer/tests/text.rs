//! What stands in the text.

use super::*;
use crate::ir::{Metadata, Shape};

#[test]
fn default_text() {
    assert_eq!(
        reduction().text(&PrintOptions::default()),
        "HloModule m.1, entry_computation_layout={(f32[])->f32[]}\n\
         \n\
         %sum.3 (x.1: f32[], y.1: f32[]) -> f32[] {\n\
         \x20 %x.1 = f32[] parameter(0)\n\
         \x20 %y.1 = f32[] parameter(1)\n\
         \x20 ROOT %z = f32[] add(%x.1, %y.1)\n\
         }\n\
         \n\
         ENTRY %e.7 (p: f32[]) -> f32[] {\n\
         \x20 %p = f32[] parameter(0)\n\
         \x20 %r.9 = f32[] reduce(%p, %p, %p, %p, %p, /*index=5*/%p), dimensions={1}, to_apply=%sum.3\n\
         \x20 ROOT %t = f32[] tuple(%r.9)\n\
         }\n\
         \n"
    );
    assert_eq!(reduction().module.to_string(), reduction().text(&PrintOptions::default()));
}

#[test]
fn single_options() {
    let b = reduction();
    let cases: &[(PrintOptions, &str, &str)] = &[
        (
            with(|o| o.indent_amount = 2),
            "    ENTRY %e.7 (p: f32[]) -> f32[] {",
            "      %r.9 = f32[] reduce(%p, %p, %p, %p, %p, /*index=5*/%p), dimensions={1}, to_apply=%sum.3",
        ),
        (
            with(|o| {
                o.is_in_nested_computation = true;
                o.print_operand_index_annotation_interval = 2;
            }),
            "ENTRY (p: f32[]) -> f32[] {",
            "  %r.9 = f32[] reduce(%p, %p, /*index=2*/%p, %p, /*index=4*/%p, %p), dimensions={1}, to_apply=%sum.3",
        ),
        (
            with(|o| {
                o.print_ids = false;
                o.compact_operands = true;
            }),
            "ENTRY %(p: f32[]) -> f32[] {",
            "  %r = f32[] reduce(%p, %p, %p, %p, ...(+2)), dimensions={1}, to_apply=%sum",
        ),
        (
            with(|o| {
                o.print_program_shape = false;
                o.print_operand_names = false;
            }),
            "ENTRY %e.7 {",
            "  %r.9 = f32[] reduce(, , , , , /*index=5*/), dimensions={1}, to_apply=%sum.3",
        ),
        (
            with(|o| {
                o.print_percent = false;
                o.print_operand_shape = true;
                o.print_extra_attributes = false;
            }),
            "ENTRY e.7 (p: f32[]) -> f32[] {",
            "  r.9 = f32[] reduce(f32[] p, f32[] p, f32[] p, f32[] p, f32[] p, /*index=5*/f32[] p), to_apply=sum.3",
        ),
        (
            with(|o| {
                o.print_result_shape = false;
                o.print_subcomputation_mode = SubcomputationMode::Off;
            }),
            "ENTRY %e.7 (p: f32[]) -> f32[] {",
            "  %r.9 = reduce(%p, %p, %p, %p, %p, /*index=5*/%p), dimensions={1}",
        ),
        (
            with(|o| o.canonicalize_instruction_names = true),
            "ENTRY %e.7 (p: f32[]) -> f32[] {",
            "  tmp_1 = f32[] reduce(tmp_0, tmp_0, tmp_0, tmp_0, tmp_0, /*index=5*/tmp_0), dimensions={1}, to_apply=%sum.3",
        ),
        (
            with(|o| o.print_entry_keyword = false),
            "%e.7 (p: f32[]) -> f32[] {",
            "  %r.9 = f32[] reduce(%p, %p, %p, %p, %p, /*index=5*/%p), dimensions={1}, to_apply=%sum.3",
        ),
    ];
    for (options, head, line) in cases {
        let text = b.text(options);
        assert_eq!(text.lines().find(|line| line.contains("reduce(")), Some(*line));
        assert_eq!(text.lines().filter(|line| line.ends_with('{')).nth(1), Some(*head));
    }
    assert!(b.text(&with(|o| o.print_parameter_number = false)).contains(" parameter()\n"));
    let layout = "entry_computation_layout={(f32[])->f32[]}";
    let indented = format!("  HloModule m.1, {layout}\n\n  %sum.3 ");
    assert!(b.text(&with(|o| o.indent_amount = 1)).starts_with(&indented));
    let anonymous = format!("HloModule , {layout}\n\n%(x: f32[], y: f32[]) -> ");
    assert!(b.text(&with(|o| o.print_ids = false)).starts_with(&anonymous));
}

#[test]
fn full_bodies() {
    let mut b = reduction();
    assert_eq!(
        b.body(&PrintOptions::canonical()),
        "sum.3 {\n\
         \x20 tmp_0 = f32[] parameter(0)\n\
         \x20 tmp_1 = f32[] parameter(1)\n\
         \x20 ROOT tmp_2 = f32[] add(f32[] tmp_0, f32[] tmp_1)\n\
         }\n\
         \n\
         ENTRY e.7 {\n\
         \x20 tmp_0 = f32[] parameter(0)\n\
         \x20 tmp_1 = f32[] reduce(f32[] tmp_0, f32[] tmp_0, f32[] tmp_0, f32[] tmp_0, f32[] tmp_0, f32[] tmp_0), dimensions={1}, to_apply=\n\
         \x20 {\n\
         \x20   tmp_0 = f32[] parameter(0)\n\
         \x20   tmp_1 = f32[] parameter(1)\n\
         \x20   ROOT tmp_2 = f32[] add(f32[] tmp_0, f32[] tmp_1)\n\
         \x20 }\n\
         \x20 ROOT tmp_2 = f32[] tuple(f32[] tmp_1)\n\
         }\n\
         \n"
    );
    assert!(b.body(&PrintOptions::fingerprint()).starts_with("{\n  tmp_0 = f32[] parameter(0)\n"));
    assert!(b.body(&PrintOptions::fingerprint()).contains("\nENTRY {\n"));
    assert!(b.body(&PrintOptions::module_fingerprint()).contains("reduce(tmp_0, tmp_0, tmp_0,"));

    // This opcode has its body under another key.
    let index = b.find("r.9").index();
    b.module.instructions[index].opcode = ReduceScatter;
    assert!(b.body(&PrintOptions::canonical()).contains(", dimensions={1}, calls=\n  {\n"));
    assert!(b.body(&PrintOptions::default()).contains(", dimensions={1}, to_apply=%sum.3\n"));
}

#[test]
fn several_computations() {
    let b = control_flow();
    let text = b.body(&PrintOptions::default());
    assert!(text.contains("while(%p), condition=%c, body=%b\n"));
    assert!(text.contains("conditional(%w, %w, %w), branch_computations={%b, %c}\n"));
    assert!(text.contains("call(%k), to_apply=%b, is_composite=true\n"));

    assert!(b.body(&PrintOptions::canonical()).ends_with(
        "branch_computations={\n\
         \x20 {\n\
         \x20   ROOT tmp_0 = f32[] parameter(0)\n\
         \x20 },\n\
         \x20 {\n\
         \x20   ROOT tmp_0 = f32[] parameter(0)\n\
         \x20 }\n\
         }\n\
         \x20 ROOT tmp_3 = f32[] call(f32[] tmp_2), to_apply=\n\
         \x20 {\n\
         \x20   ROOT tmp_0 = f32[] parameter(0)\n\
         \x20 }, is_composite=true\n\
         }\n\
         \n"
    ));

    for mode in [SubcomputationMode::Off, SubcomputationMode::NonSequentialBodies] {
        let text = b.body(&with(|o| o.print_subcomputation_mode = mode));
        assert!(text.contains("while(%p)\n"));
        assert!(text.contains("conditional(%w, %w, %w)\n"));
        assert!(text.contains("call(%k)\n"));
    }
}

#[test]
fn async_sugar() {
    let b = asynchronous();
    assert_eq!(
        b.body(&PrintOptions::default()),
        "ENTRY %e (p: f32[]) -> f32[] {\n\
         \x20 %p = f32[] parameter(0)\n\
         \x20 %s = f32[] negate-start(%p), async_execution_thread=\"t\"\n\
         \x20 %u = f32[] negate-update(%s)\n\
         \x20 ROOT %d = f32[] negate-done(%u)\n\
         }\n\
         \n"
    );
    let plain = b.body(&with(|o| o.syntax_sugar_async_ops = false));
    assert!(plain.starts_with("%async_wrapped (async_param: f32[]) -> f32[] {\n"));
    assert!(plain.contains("async-start(%p), async_execution_thread=\"t\", calls=%async_wrapped\n"));
    assert!(plain.contains("async-update(%s)\n") && plain.contains("async-done(%u)\n"));
    assert!(b.body(&with(|o| o.print_extra_attributes = false)).contains("negate-start(%p)\n"));
    assert!(b.body(&PrintOptions::canonical()).contains(
        "negate-start(f32[] tmp_0), async_execution_thread=\"t\", calls=\n\
         \x20 {\n\
         \x20   tmp_0 = f32[] parameter(0)\n\
         \x20   ROOT tmp_1 = f32[] negate(f32[] tmp_0)\n\
         \x20 }\n"
    ));
    let done = b.find("d");
    assert_eq!(b.module.print_instruction(done, &PrintOptions::default()), "%d = f32[] negate-done(%u)");
}

#[test]
fn no_async_sugar_for_more_than_one_instruction() {
    let mut b = asynchronous();
    let index = b.find("async_param").index();
    b.module.instructions[index].opcode = Opcode::ReplicaId;
    let text = b.body(&PrintOptions::default());
    assert!(text.starts_with("%async_wrapped (async_param: f32[]) -> f32[] {\n"));
    assert!(text.contains("async-start(%p), async_execution_thread=\"t\", calls=%async_wrapped\n"));
    assert!(text.contains("async-update(%s)\n") && text.contains("async-done(%u)\n"));
}

#[test]
fn attributes_of_the_wrapped_instruction() {
    let mut b = asynchronous();
    let key = b.module.strings_mut().intern(b"k");
    let value = b.module.strings_mut().intern(b"wrapped");
    let frontend = b.value(Value::FrontendAttributes(vec![(key, value)]));
    b.attributes("n", &[(AttrKey::FrontendAttributes, frontend)]);
    b.control("n", &["async_param"]);
    b.control("s", &["p"]);
    assert!(b.body(&PrintOptions::default()).contains(
        "negate-start(%p), async_execution_thread=\"t\", frontend_attributes={k=\"wrapped\"}, \
         control-predecessors={%async_param}, control-predecessors={%p}\n"
    ));

    // The start's own ones hide those of the wrapped instruction.
    let value = b.module.strings_mut().intern(b"start");
    let frontend = b.value(Value::FrontendAttributes(vec![(key, value)]));
    let calls = b.module.called(b.find("s"), AttrKey::Calls).unwrap();
    b.attributes(
        "s",
        &[(AttrKey::Calls, AttrValue::Computation(calls)), (AttrKey::FrontendAttributes, frontend)],
    );
    assert!(b.body(&PrintOptions::default()).contains(
        "negate-start(%p), control-predecessors={%async_param}, frontend_attributes={k=\"start\"}, \
         control-predecessors={%p}\n"
    ));
}

#[test]
fn frontend_attributes_of_a_start_hide_those_in_bodies() {
    let mut b = Builder::new();
    let called = b.computation("f", &[("a", Parameter, &[]), ("n", Negate, &["a"])]);
    let wrapped = b.computation("w", &[("q", Parameter, &[]), ("c", Call, &["q"])]);
    b.computation("e", &[("p", Parameter, &[]), ("s", AsyncStart, &["p"]), ("d", AsyncDone, &["s"])]);
    let key = b.module.strings_mut().intern(b"k");
    let frontend = b.value(Value::FrontendAttributes(vec![(key, key)]));
    b.attributes("n", &[(AttrKey::FrontendAttributes, frontend)]);
    b.attributes("c", &[(AttrKey::ToApply, AttrValue::Computation(called))]);
    b.attributes(
        "s",
        &[(AttrKey::Calls, AttrValue::Computation(wrapped)), (AttrKey::FrontendAttributes, frontend)],
    );
    let text = b.body(&PrintOptions::canonical());
    assert!(text.ends_with(
        "call-start(f32[] tmp_0), to_apply=\n\
         \x20 {\n\
         \x20   tmp_0 = f32[] parameter(0)\n\
         \x20   ROOT tmp_1 = f32[] negate(f32[] tmp_0)\n\
         \x20 }, calls=\n\
         \x20 {\n\
         \x20   tmp_0 = f32[] parameter(0)\n\
         \x20   ROOT tmp_1 = f32[] call(f32[] tmp_0), to_apply=\n\
         \x20   {\n\
         \x20     tmp_0 = f32[] parameter(0)\n\
         \x20     ROOT tmp_1 = f32[] negate(f32[] tmp_0), frontend_attributes={k=\"k\"}\n\
         \x20   }\n\
         \x20 }, frontend_attributes={k=\"k\"}\n\
         \x20 ROOT tmp_2 = f32[] call-done(f32[] tmp_1)\n\
         }\n\
         \n"
    ));
}

#[test]
fn sections_of_attributes() {
    let mut b = Builder::new();
    b.computation("e", &[("p", Parameter, &[]), ("c", Opcode::CustomCall, &["p"])]);
    let target = b.string("t");
    let config = b.string("{}");
    let key = b.module.strings_mut().intern(b"k");
    let frontend = b.value(Value::FrontendAttributes(vec![(key, key)]));
    let unknown = b.module.strings_mut().intern(b"novel={1 2}");
    let mut attributes = [
        (AttrKey::Unknown, AttrValue::Raw(unknown)),
        (AttrKey::BackendConfig, config),
        (AttrKey::FrontendAttributes, frontend),
        (AttrKey::CustomCallTarget, target),
        (AttrKey::FeatureGroupCount, AttrValue::Int(20)),
    ];
    attributes.sort_by_key(|&(key, _)| printing_position(Opcode::CustomCall, key));
    b.attributes("c", &attributes);
    b.control("c", &["p"]);
    let op_name = Some(b.module.strings_mut().intern(b"n"));
    let metadata = b.module.intern_metadata(Metadata { op_name, ..Metadata::default() });
    let id = b.find("c");
    b.module.instructions[id.index()].metadata = Some(metadata);
    let line = |options: &PrintOptions| b.module.print_instruction(id, options);
    assert_eq!(
        line(&PrintOptions::default()),
        "%c = f32[] custom-call(%p), feature_group_count=20, custom_call_target=\"t\", \
         frontend_attributes={k=\"k\"}, control-predecessors={%p}, metadata={op_name=\"n\"}, \
         backend_config={}, novel={1 2}"
    );
    let few = with(|o| {
        o.print_extra_attributes = false;
        o.print_metadata = false;
        o.print_backend_config = false;
        o.print_frontend_attributes = false;
        o.print_control_dependencies = false;
    });
    assert_eq!(line(&few), "%c = f32[] custom-call(%p)");
    let canonical = "custom-call(f32[]), feature_group_count=20, custom_call_target=\"t\", \
                     frontend_attributes={k=\"k\"}, novel={1 2}";
    assert_eq!(line(&PrintOptions::canonical()), format!("f32[] {canonical}"));
    let inside = PrintOptions { is_in_nested_computation: true, ..PrintOptions::canonical() };
    assert!(line(&inside).starts_with("tmp_0 = f32[] custom-call(f32[] tmp_1), "));
}

#[test]
fn result_accuracy_stands_among_the_common_attributes() {
    let mut keys = [AttrKey::ResultAccuracy, AttrKey::Origin, AttrKey::Statistics, AttrKey::Sharding];
    keys.sort_by_key(|&key| printing_position(Opcode::Exponential, key));
    assert_eq!(keys, [AttrKey::Sharding, AttrKey::Statistics, AttrKey::ResultAccuracy, AttrKey::Origin]);
}

#[test]
fn attributes_that_options_change() {
    let mut b = Builder::new();
    b.computation(
        "e",
        &[("p", Parameter, &[]), ("i", Opcode::Infeed, &["p"]), ("g", Opcode::AllReduce, &["p"])],
    );
    let config = b.string("c");
    b.attributes("i", &[(AttrKey::InfeedConfig, config)]);
    b.attributes("g", &[(AttrKey::ChannelId, AttrValue::Int(3))]);
    let (infeed, reduce) = (b.find("i"), b.find("g"));
    let as_read = b.module.strings_mut().intern(b"channel=3");
    b.module.as_read.insert((reduce, AttrKey::ChannelId), as_read);
    let line = |id, options: &PrintOptions| b.module.print_instruction(id, options);
    assert_eq!(line(infeed, &PrintOptions::default()), "%i = f32[] infeed(%p), infeed_config=\"c\"");
    assert_eq!(line(infeed, &with(|o| o.print_infeed_outfeed_config = false)), "%i = f32[] infeed(%p)");
    assert_eq!(line(reduce, &PrintOptions::default()), "%g = f32[] all-reduce(%p), channel_id=3");
    assert_eq!(
        line(reduce, &with(|o| o.print_channel_id = false)),
        "%g = f32[] all-reduce(%p), channel_id=_"
    );
    assert_eq!(line(reduce, &with(|o| o.syntax_as_read = true)), "%g = f32[] all-reduce(%p), channel=3");
}

#[test]
fn after_the_brace() {
    let mut b = Builder::new();
    let e = b.computation(
        "e",
        &[
            ("a", Parameter, &[]),
            ("b", Abs, &["a"]),
            ("c", Abs, &["b"]),
            ("d", Abs, &["c"]),
            ("f", Abs, &["d"]),
            ("g", Abs, &["f"]),
        ],
    );
    let thread = b.module.strings_mut().intern(b"\"raw\"");
    b.module.computations[e.index()].as_mut().unwrap().execution_thread = Some(thread);
    let end = |options: &PrintOptions| b.text(options).lines().nth_back(1).unwrap().to_owned();
    assert_eq!(end(&PrintOptions::default()), "}, execution_thread=\"\"raw\"\"");
    assert_eq!(end(&with(|o| o.print_ids = false)), "}");
    let named = with(|o| o.print_name_after_closing_brace = true);
    assert_eq!(end(&named), "}, execution_thread=\"\"raw\"\" // e");
}

#[test]
fn deep_shapes_in_instructions() {
    let mut b = reduction();
    let mut shape = b.scalar;
    for _ in 0..50_000 {
        shape = b.module.shapes_mut().intern(Shape::Tuple(vec![shape]));
    }
    let index = b.find("t").index();
    b.module.instructions[index].shape = shape;
    assert!(b.text(&PrintOptions::default()).contains("((((f32[]))))"));
}

#[test]
fn numbers() {
    for number in [0, 9, 10, 99, 100, 999, 1000, 9999, 10_000, 123_456, -1, -10, i64::MIN, i64::MAX] {
        let mut out = Vec::new();
        write_int(&mut out, number);
        assert_eq!(String::from_utf8(out).unwrap(), number.to_string());
    }
}

#[test]
fn long_texts_are_written_in_pieces() {
    let mut b = Builder::new();
    let op_name = Some(b.module.strings_mut().intern("n".repeat(3 << 20).as_bytes()));
    let metadata = b.module.intern_metadata(Metadata { op_name, ..Metadata::default() });
    for index in 0..3 {
        b.computation(&format!("c{index}"), &[(&format!("p{index}"), Parameter, &[])]);
        let id = b.find(&format!("p{index}"));
        b.module.instructions[id.index()].metadata = Some(metadata);
    }
    // The helper compares what is written with what is printed at once.
    assert!(b.text(&PrintOptions::default()).len() > 9 << 20);
}

/// A computation of many pieces: texts that repeat are copied only from what is still in the buffer.
#[test]
fn long_computations_are_written_in_pieces() {
    let mut text = "HloModule m\n\nENTRY e {\n  n0 = f32[] parameter(0)\n".to_owned();
    for line in 1..=6000 {
        let metadata = format!("op_name=\"{}/{}\"", "long/".repeat(20), line % 7 * (line / 2000));
        let root = if line == 6000 { "ROOT " } else { "" };
        text.push_str(&format!("  {root}n{line} = f32[] negate(n{}), metadata={{{metadata}}}\n", line - 1));
    }
    text.push_str("}\n");
    let parsed = crate::parse_module(&text, &crate::ParseOptions::default()).expect("a valid module");
    let options = PrintOptions::default();
    let mut pieces = Pieces::default();
    parsed.module.write_to(&mut pieces, &options).expect("memory takes everything");
    assert_eq!(pieces.0.concat(), parsed.module.to_text(&options).into_bytes());
    assert!(pieces.0.len() > 3, "only {} pieces", pieces.0.len());
    let longest = pieces.0.iter().map(Vec::len).max().unwrap_or_default();
    assert!(longest < 1 << 19, "a piece of {longest} bytes");
}

/// What was written, write by write.
#[derive(Default)]
struct Pieces(Vec<Vec<u8>>);

impl std::io::Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.push(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
