//! In lenient mode a print with all constants in full reads back as the module it shows, and prints the same again,
//! also where XLA's own prints do not.

use hlo_text::{Module, ParseOptions, PrintOptions, parse_module};

fn read(text: &str, options: &ParseOptions) -> Module {
    match parse_module(text, options) {
        Ok(parsed) => parsed.module,
        Err(errors) => panic!("{text}\n{:?}", errors.first()),
    }
}

fn full() -> PrintOptions {
    PrintOptions { print_large_constants: true, print_operand_shape: true, ..PrintOptions::default() }
}

/// The print of `text`, which must be stable.
#[track_caller]
fn stable(text: &str) -> String {
    let options = ParseOptions::default();
    let first = read(text, &options);
    let printed = first.to_text(&full());
    let second = read(&printed, &options);
    assert_eq!(second.to_text(&full()), printed);
    // Not only what is printed by default.
    let unsugared = PrintOptions { syntax_sugar_async_ops: false, ..full() };
    assert_eq!(read(&first.to_text(&unsugared), &options).to_text(&full()), printed);
    printed
}

/// What strict reading makes of `text`: XLA's print.
fn strict(text: &str) -> String {
    read(text, &ParseOptions::strict()).to_text(&full())
}

#[test]
fn negative_zeros() {
    let text = "HloModule m\n\nENTRY e {\n  a = f32[3]{0} constant({-0, 0, -0.0})\n  b = c64[] constant((-0, -0))\n  \
                c = bf16[] constant(-0)\n  d = f16[1]{0} constant({-0})\n  e = f8e5m2[] constant(-0)\n  \
                ROOT t = tuple(a, b, c, d, e)\n}\n";
    let printed = stable(text);
    for constant in ["{-0, 0, -0}", "(-0, -0)", "bf16[] constant(-0)", "{-0}", "f8e5m2[] constant(-0)"] {
        assert!(printed.contains(constant), "{printed}");
    }
    // XLA loses the sign where there is no dot.
    assert!(strict(text).contains("{0, 0, -0}"));
}

#[test]
fn smallest_scale() {
    let text = "HloModule m\n\nENTRY e {\n  ROOT a = f8e8m0fnu[2]{0} constant({5.8e-39, 1.2e-38})\n}\n";
    assert!(stable(text).contains("constant({5.9e-39, 1.2e-38})"));
    assert!(strict(&stable(text)).contains("constant({1.2e-38, 1.2e-38})"));
}

#[test]
fn computations_in_any_order() {
    let text = "HloModule m\n\nENTRY e {\n  p = f32[] parameter(0)\n  ROOT c = f32[] call(p), to_apply=later\n}\n\n\
                later {\n  p = f32[] parameter(0)\n  ROOT c = f32[] call(p), to_apply=last\n}\n\n\
                last {\n  ROOT p = f32[] parameter(0)\n}\n";
    let printed = stable(text);
    let place = |name: &str| printed.find(&format!("%{name} (")).expect(name);
    assert!(place("last") < place("later") && printed.find("ENTRY").expect("an entry") > place("later"));
    assert!(parse_module(text, &ParseOptions::strict()).is_err());
    let cycle = text.replace(
        "ROOT p = f32[] parameter(0)",
        "p = f32[] parameter(0)\n  ROOT x = f32[] call(p), to_apply=later",
    );
    assert!(parse_module(&cycle, &ParseOptions::default()).is_err());
    let missing = text.replace("\n\nlast {", "\n\nlost {");
    assert!(parse_module(&missing, &ParseOptions::default()).is_err());
}

#[test]
fn order_of_called_computations() {
    // The second call comes first in post-order, so a print has the calls in another order than the text.
    let text = "HloModule m\n\nplus {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n\n\
                one {\n  ROOT p = f32[] parameter(0)\n}\n\ntwo {\n  ROOT p = f32[] parameter(0)\n}\n\n\
                ENTRY e {\n  p = f32[] parameter(0)\n  x = f32[] call(p), to_apply=one\n  y = f32[] call(p), to_apply=two\n  \
                ROOT t = tuple(y, x)\n}\n";
    let printed = stable(text);
    let again = strict(text);
    assert_ne!(
        read(&again, &ParseOptions::strict()).to_text(&full()),
        again,
        "XLA's own print is not stable"
    );
    let place = |text: &str, name: &str| text.find(name).expect("it is there");
    assert!(place(&printed, "%two (") < place(&printed, "%one ("), "{printed}");
    assert!(place(&again, "%two (") > place(&again, "%one ("), "{again}");
}

#[test]
fn stack_frames() {
    // The instructions of a print are in another order than those of the text, the frames are not.
    let text = "HloModule m\n\nFileNames\n1 \"a.py\"\n\nFunctionNames\n1 \"f\"\n\nFileLocations\n\
                1 {file_name_id=1 function_name_id=1 line=1 end_line=1 column=1 end_column=2}\n\
                2 {file_name_id=1 function_name_id=1 line=2 end_line=2 column=1 end_column=2}\n\nStackFrames\n\
                1 {file_location_id=1 parent_frame_id=1}\n2 {file_location_id=2 parent_frame_id=1}\n\n\
                ENTRY e {\n  p = f32[] parameter(0)\n  x = f32[] abs(p), metadata={op_name=\"x\" stack_frame_id=2}\n  \
                y = f32[] negate(p), metadata={op_name=\"y\" stack_frame_id=1}\n  ROOT t = tuple(y, x)\n}\n";
    let printed = stable(text);
    assert!(
        printed.contains("op_name=\"x\" stack_frame_id=2")
            && printed.contains("op_name=\"y\" stack_frame_id=1")
    );
    let xla = strict(text);
    assert_ne!(read(&xla, &ParseOptions::strict()).to_text(&full()), xla, "XLA's own print is not stable");
}

#[test]
fn asynchronous_computations_that_sugar_would_lose() {
    let module = |work: &str, start: &str| {
        format!(
            "HloModule m\n\nwork {{\n  a = f32[4]{{0}} parameter(0)\n  {work}\n}}\n\nENTRY e {{\n  p = f32[4]{{0}} parameter(0)\n  \
             s = ((f32[4]{{0}}), f32[4]{{0}}, s32[]) async-start(p), calls=work{start}\n  \
             ROOT d = f32[4]{{0}} async-done(s)\n}}\n"
        )
    };
    let sugared = stable(&module("ROOT r = f32[4]{0} abs(a)", ""));
    assert!(sugared.contains("abs-start(f32[4]{0} %p)") && !sugared.contains("%work"), "{sugared}");
    for (work, start) in [
        // An operand twice, none, one too many; what has a name of its own; what is not an operation.
        ("ROOT r = f32[4]{0} add(a, a)", ""),
        ("ROOT r = f32[4]{0} iota(), iota_dimension=0", ""),
        ("b = f32[4]{0} parameter(1)\n  ROOT r = f32[4]{0} abs(a)", ""),
        ("ROOT r = f32[4]{0} copy(a)", ""),
        ("ROOT b = f32[4]{0} parameter(1)", ""),
        ("ROOT r = f32[4]{0} abs(a), sharding={replicated}", ""),
        ("ROOT r = f32[4]{0} abs(a), frontend_attributes={k=\"v\"}", ""),
        ("ROOT r = f32[4]{0} abs(a), metadata={op_name=\"inside\"}", ""),
        ("ROOT r = f32[4]{0} abs(a)", ", statistics={visualizing_index=0,a=1}"),
    ] {
        let printed = stable(&module(work, start));
        assert!(printed.contains("async-start(") && printed.contains("calls=%work"), "{printed}");
    }
    let start = ", frontend_attributes={k=\"v\"}, metadata={op_name=\"x\"}";
    let printed = stable(&module("ROOT r = f32[4]{0} abs(a)", start));
    assert!(
        printed.contains("async-start(") && printed.contains("ROOT %r = f32[4]{0} abs(f32[4]{0} %a)\n"),
        "{printed}"
    );
    let both = stable(&module(&format!("ROOT r = f32[4]{{0}} abs(a){start}"), start));
    assert!(both.contains("abs-start("), "{both}");
}

#[test]
fn names_in_the_text_go_before_those_of_wrapped_instructions() {
    let text = "HloModule m\n\nENTRY e {\n  p = f32[1] parameter(0)\n  \
                s = ((f32[1]), f32[1], u32[]) custom-call-start(p), custom_call_target=\"later\"\n  \
                d = f32[1] custom-call-done(s)\n  \
                ROOT custom-call = f32[1] custom-call(d), custom_call_target=\"other\"\n}\n";
    let printed = stable(text);
    assert!(printed.contains("ROOT %custom-call = "), "{printed}");
    let xla = strict(text);
    assert!(xla.contains("ROOT %custom-call.1 = "), "{xla}");
}

#[test]
fn attributes_of_chains_of_starts_stay_where_they_are() {
    let text = "HloModule m\n\ninner {\n  a = f32[4]{0} parameter(0)\n  ROOT r = f32[4]{0} abs(a)\n}\n\nouter {\n  \
                a = f32[4]{0} parameter(0)\n  s = ((f32[4]{0}), f32[4]{0}) async-start(a), calls=inner\n  \
                ROOT d = f32[4]{0} async-done(s)\n}\n\nENTRY e {\n  p = f32[4]{0} parameter(0)\n  \
                s = ((f32[4]{0}), f32[4]{0}) async-start(p), calls=outer, frontend_attributes={group=\"1\"}\n  \
                ROOT d = f32[4]{0} async-done(s), frontend_attributes={group=\"2\"}\n}\n";
    stable(text);
}

#[test]
fn dones_with_metadata_of_their_own_keep_the_sugar() {
    let text = "HloModule m\n\nENTRY e {\n  p = f32[8]{0} parameter(0)\n  \
                s = ((f32[8]{0}), f32[8]{0}, u32[]) negate-start(p), metadata={scheduling_name=\"s\"}\n  \
                ROOT d = f32[8]{0} negate-done(s), metadata={scheduling_name=\"d\"}\n}\n";
    let printed = stable(text);
    assert!(printed.contains(" negate-start("), "{printed}");
    assert_eq!(printed, strict(text));
}

#[test]
fn strings_that_xla_does_not_escape() {
    let quoted = "a\\\"b\\\\c";
    for attribute in [
        format!("metadata={{op_name=\"n\" scheduling_name=\"{quoted}\"}}"),
        format!("origin={{{{\"{quoted}\"}}}}"),
        "backend_config=\"  {\\\"a\\\": 1} \"".to_owned(),
        "frontend_attributes={k=\" {\\\"a\\\": 1}\"}".to_owned(),
    ] {
        let text = format!(
            "HloModule m\n\nENTRY e {{\n  p = f32[] parameter(0)\n  ROOT r = f32[] negate(p), {attribute}\n}}\n"
        );
        let printed = stable(&text);
        assert!(printed.contains(&format!(", {attribute}\n")), "{printed}");
    }
    let text = format!(
        "HloModule m\n\nwork {{\n  ROOT p = f32[] parameter(0)\n}}, execution_thread=\"{quoted}\"\n\n\
         ENTRY e {{\n  p = f32[] parameter(0)\n  ROOT r = f32[] call(p), to_apply=work\n}}\n"
    );
    assert!(stable(&text).contains(&format!("}}, execution_thread=\"{quoted}\"\n")));
    let text = "HloModule m, origin_recovery_table={\n  {\"a\"} : {\"b\"},\n  \"HloModule n\n\n  ENTRY f {\n    \
                ROOT p = f32[] parameter(0), metadata={op_name=\\\"x\\\"}\n  }\"\n}\n\nENTRY e {\n  \
                ROOT p = f32[] parameter(0)\n}\n";
    assert!(stable(text).contains("metadata={op_name=\\\"x\\\"}"));
}

#[test]
fn what_xla_should_not_have_read() {
    let text = "HloModule m\n\nENTRY e {\n  ROOT p = f32[2]{0:#(pred)} parameter(0)\n}\n";
    assert!(stable(text).contains("f32[2]{0:#(invalid)} parameter(0)"));
    let text = "HloModule m\n\nENTRY e {\n  p = f32[1,6,5]{2,1,0} parameter(0)\n  k = f32[3,5,4]{2,1,0} parameter(1)\n  \
                ROOT r = f32[1,6,4]{2,1,0} convolution(p, k), window={size=3}, dim_labels=b?_io->bf\n}\n";
    assert!(stable(text).contains("dim_labels=f_io->bf"));
}

#[test]
fn elided_constants() {
    let text = "HloModule m\n\nENTRY e {\n  a = f32[12]{0} constant({...})\n  b = (s32[20]{0}, f32[]) constant(({...}, 1))\n  \
                ROOT t = tuple(a, b)\n}\n";
    let printed = stable(text);
    assert!(printed.contains("%a = f32[12]{0} constant({...})"), "{printed}");
    let module = read(text, &ParseOptions::default());
    for &id in &module.computation(module.entry()).instructions {
        if let Some(literal) = module.instruction(id).literal {
            assert!(module.literal(literal).has_elided());
            assert!(
                module.literal(literal).elements().is_none(),
                "what is left out is never readable as numbers"
            );
        }
    }
}

#[test]
fn original_values_of_elements() {
    let text = "HloModule m\n\nENTRY e {\n  p = f32[] parameter(0), origin={{\"p\"}}\n  q = f32[] parameter(1)\n  \
                t = (f32[], f32[]) tuple(p, q)\n  a = f32[] get-tuple-element(t), index=0\n  \
                b = f32[] get-tuple-element(t), index=1\n  c = f32[] get-tuple-element(t), index=0, origin={{\"c\"}}\n  \
                ROOT r = tuple(a, b, c)\n}\n";
    let printed = stable(text);
    for line in ["index=0, origin={{\"p\"}}", "index=1", "index=0, origin={{\"c\"}}"] {
        assert!(printed.contains(&format!("%t), {line}\n")), "{printed}");
    }
    assert_eq!(strict(text), printed);
}
