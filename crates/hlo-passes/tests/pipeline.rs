//! Pipelines over small modules: selection, fuel, remarks, what counts as a change.

use hlo_passes::hash::exact_hash;
use hlo_passes::options::{global_option, parse_pass_list};
use hlo_passes::pass::{Fuel, PassContext, RemarkKind};
use hlo_passes::pipeline::{NoObserver, Observer, PassOutcome, Pipeline, PipelineError, Selection};
use hlo_passes::registry::{self, PassInfo, Status};
use hlo_passes::structure::structural_hash;
use hlo_text::ir::AttrKey;
use hlo_text::{Module, ParseOptions, PrintOptions, parse_module};

fn parse(text: &str) -> Module {
    parse_module(text, &ParseOptions::default()).expect("the test's text is HLO").module
}

fn selection(passes: &str) -> Selection {
    Selection { passes: parse_pass_list(passes).expect("a list"), ..Selection::default() }
}

fn run(module: &mut Module, passes: &str, context: &mut PassContext<'_>) -> Result<bool, PipelineError> {
    Pipeline::new(&selection(passes))?.run(module, context, &mut NoObserver)
}

/// Three dead instructions, each of its own.
const DEAD: &str = "HloModule m
ENTRY e {
  p = f32[2] parameter(0)
  a = f32[2] negate(p)
  b = f32[2] sine(p)
  c = f32[2] cosine(p)
  ROOT r = f32[2] tanh(p)
}";

#[test]
fn a_change_is_what_prints_differently() {
    let mut module = parse(DEAD);
    let context = &mut PassContext::default();
    assert_eq!(run(&mut module, "dce", context), Ok(true));
    assert_eq!(module.instruction_count(), 2);
    assert_eq!(run(&mut module, "dce,stub", context), Ok(false));
    assert_eq!(run(&mut module, "", context), Ok(false));
    // The comparison is replaced by one that looks the same only if it was the default before.
    let mut module = parse(
        "HloModule m\nENTRY e {\n p = f64[2] parameter(0)\n ROOT g = f64[2] custom-call(p), custom_call_target=\"AwsNeuronGelu\"\n}",
    );
    assert_eq!(run(&mut module, "legalize-intrinsics", context), Ok(true));
}

#[test]
fn what_todays_text_leaves_out_is_no_change() {
    let call = "ROOT c = f32[2] custom-call(p), custom_call_target=\"t\"";
    let text = |more: &str| format!("HloModule m\nENTRY e {{\n p = f32[2] parameter(0)\n {call}{more}\n}}");
    let bare = parse(&text(""));
    for more in [", api_version=API_VERSION_UNSPECIFIED", ", metadata={source_line=3}"] {
        let mut module = parse(&text(more));
        assert_eq!(module.to_text(&PrintOptions::default()), bare.to_text(&PrintOptions::default()));
        assert_eq!(structural_hash(&module), structural_hash(&bare), "{more}");
        let before = exact_hash(&module);
        let root = module.computation(module.entry()).root;
        module.set_attribute(root, AttrKey::ApiVersion, None);
        module.set_metadata(root, None);
        assert_eq!(exact_hash(&module), before, "{more}");
    }
    let other = parse(&text(", api_version=API_VERSION_STATUS_RETURNING"));
    assert_ne!(structural_hash(&other), structural_hash(&bare));
}

#[test]
fn skipped_passes_do_not_run_and_are_logged() {
    let mut module = parse(DEAD);
    let mut context = PassContext::default();
    let selection = Selection { skip: vec!["dce".to_owned()], ..selection("stub,dce,dce") };
    let pipeline = Pipeline::new(&selection).expect("known keys");
    assert_eq!(pipeline.keys().collect::<Vec<_>>(), ["stub"]);
    assert_eq!(pipeline.run(&mut module, &mut context, &mut NoObserver), Ok(false));
    assert_eq!(context.log, ["Skipping pass: dce", "Skipping pass: dce"]);
    let selection = Selection { disable_all: true, ..selection };
    assert_eq!(Pipeline::new(&selection).expect("known keys").keys().count(), 0);
}

#[test]
fn faulty_selections_are_refused() {
    let message = |passes: &str| match Pipeline::new(&selection(passes)) {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    };
    assert_eq!(message("dec"), "Pass dec not found. Did you mean `dce`?");
    assert_eq!(message("no-such-pass-at-all"), "Pass no-such-pass-at-all not found.");
    assert_eq!(message("DCE"), "Pass DCE not found. Did you mean `dce`?");
    let unwritten = registry::all().find(|info| matches!(info.status, Status::Unimplemented(_)));
    if let Some(info) = unwritten {
        let expected = format!("{}: this pass is not implemented: ", info.key);
        assert!(message(&format!("dce,{}", info.key)).starts_with(&expected));
    }
    assert_eq!(message("dce{x=1}"), "dce: there is no option `x`: it has no options");
    let skip = |name: &str| Pipeline::new(&Selection { skip: vec![name.to_owned()], ..Selection::default() });
    assert!(skip("nope").is_err() && skip("algsimp").is_ok());
    let code = |passes: &str| Pipeline::new(&selection(passes)).err().and_then(|error| error.error.code);
    assert_eq!((code("dec"), code("dce{x=1}")), (Some("NCC_OPT003"), None));
}

#[test]
fn a_pipeline_that_has_run_takes_no_more_passes() {
    let mut pipeline = Pipeline::new(&selection("dce")).expect("known keys");
    let stub = parse_pass_list("stub").expect("a list").remove(0);
    assert_eq!(pipeline.add(&stub), Ok(()));
    assert_eq!(pipeline.list(0..9), "dce,stub");
    pipeline.run(&mut parse(DEAD), &mut PassContext::default(), &mut NoObserver).expect("it runs");
    let error = pipeline.add(&stub).expect_err("too late");
    assert_eq!(
        (error.error.code, error.to_string().as_str()),
        (Some("NCC_OPT002"), "AddPass cannot be called after Run")
    );
}

#[test]
fn options_for_all_passes_go_where_they_are_declared_and_not_given() {
    let option = |name: &str| global_option(name).expect("there is one");
    let mut selection =
        selection("dce,partition-embeding-ops,partition-embeding-ops{mode=shard},replace-rng");
    selection.options = vec![
        (option("enable-partition-gather"), "shard".to_owned()),
        (option("enable_partition_gather"), "param".to_owned()),
        (option("neuron-fsdp"), "true".to_owned()),
    ];
    let pipeline = Pipeline::new(&selection).expect("known keys and options");
    assert_eq!(
        pipeline.list(0..9),
        "dce,partition-embeding-ops{mode=param},partition-embeding-ops{mode=shard},replace-rng"
    );

    let combiner = registry::find("all-reduce-combiner").expect("a key");
    let reads = |name: &str| option(name).is_for(combiner.key, combiner.options);
    assert!(reads("collective-combine-threshold-count") && !reads("coalesce-fsdp"));
    let gatherer = registry::find("all-gather-combiner").expect("a key");
    assert!(option("coalesce-fsdp").is_for(gatherer.key, gatherer.options));

    let value = |name: &str, given: Option<&str>| option(name).value(given);
    assert_eq!(value("coalesce-fsdp", None), Ok(Some("true".to_owned())));
    assert_eq!(value("coalesce-fsdp", Some("maybe")), Err("takes `true` or `false`"));
    assert_eq!(value("enable-partition-gather", Some("true")), Ok(Some("param".to_owned())));
    assert_eq!(value("enable-partition-gather", Some("false")), Ok(None));
    assert_eq!(value("override_core_count", Some("4")), Ok(Some("4".to_owned())));
    assert_eq!(value("override-core-count", None), Err("takes a value"));
    assert!(global_option("dce").is_none());
}

#[test]
fn fuel_stops_rewrites_after_the_nth() {
    for (fuel, left) in [
        (Fuel { total: Some(0), per_pass: vec![] }, 5),
        (Fuel { total: Some(2), per_pass: vec![] }, 3),
        (Fuel { total: None, per_pass: vec![("dce".to_owned(), 1)] }, 4),
        (Fuel { total: None, per_pass: vec![("stub".to_owned(), 0)] }, 2),
        (Fuel { total: Some(9), per_pass: vec![("dce".to_owned(), 2)] }, 3),
    ] {
        let mut module = parse(DEAD);
        let mut context = PassContext { fuel, ..PassContext::default() };
        run(&mut module, "dce", &mut context).expect("dce");
        assert_eq!(module.instruction_count(), left);
        assert_eq!(context.rewrites as usize, 5 - left);
    }
}

#[derive(Default)]
struct Recorder {
    events: Vec<String>,
    fail: bool,
}

impl Observer for Recorder {
    fn before_pass(
        &mut self,
        index: usize,
        info: &'static PassInfo,
        _module: &Module,
    ) -> hlo_passes::PassResult<()> {
        self.events.push(format!("before {index} {}", info.key));
        Ok(())
    }

    fn after_pass(
        &mut self,
        index: usize,
        outcome: &PassOutcome,
        module: &Module,
    ) -> hlo_passes::PassResult<()> {
        let removed: u32 = outcome.counts.removed.iter().sum();
        let (changed, left) = (outcome.changed, module.instruction_count());
        self.events.push(format!("after {index} changed={changed} removed={removed} left={left}"));
        if self.fail { Err(hlo_passes::PassError::new("the module does not verify")) } else { Ok(()) }
    }
}

#[test]
fn observers_see_every_pass_and_may_stop_the_run() {
    let mut module = parse(DEAD);
    let pipeline = Pipeline::new(&selection("dce,stub,dce")).expect("known keys");
    let mut recorder = Recorder::default();
    assert_eq!(pipeline.run(&mut module, &mut PassContext::default(), &mut recorder), Ok(true));
    let expected = [
        "before 0 dce",
        "after 0 changed=true removed=3 left=2",
        "before 1 stub",
        "after 1 changed=false removed=0 left=2",
        "before 2 dce",
        "after 2 changed=false removed=0 left=2",
    ];
    assert_eq!(recorder.events, expected);
    let mut recorder = Recorder { fail: true, ..Recorder::default() };
    let error =
        pipeline.run(&mut parse(DEAD), &mut PassContext::default(), &mut recorder).expect_err("it says so");
    assert_eq!(error.to_string(), "dce: the module does not verify");
    assert_eq!(recorder.events.len(), 2);
}

/// What the remarks of a run say: `kind instruction: text`.
fn remarks(text: &str, passes: &str) -> Vec<String> {
    let mut context = PassContext { wants_remarks: true, ..PassContext::default() };
    run(&mut parse(text), passes, &mut context).expect("the passes run");
    let show = |remark: &hlo_passes::pass::Remark| {
        format!(
            "{} {}.{}: {}",
            remark.kind.name(),
            remark.place.computation,
            remark.place.instruction,
            remark.text
        )
    };
    context.remarks.iter().map(show).collect()
}

#[test]
fn legalize_intrinsics_says_why() {
    let text = "HloModule m
f {
  x = f32[2] parameter(0)
  ROOT g = f32[2] custom-call(x), custom_call_target=\"AwsNeuronGelu\"
}
ENTRY e {
  p = f32[2] parameter(0)
  big = f32[65536,65536] parameter(1)
  a = f32[2] custom-call(p), custom_call_target=\"AwsNeuronGelu\"
  ring = f32[2] custom-call(a), custom_call_target=\"AwsNeuronTransferWithStaticRing\"
  done = f32[2] custom-call(ring), custom_call_target=\"AwsNeuronSilu_bf16\"
  lower = f32[2] custom-call(done), custom_call_target=\"awsneuronerf\"
  softmax = f32[2] custom-call(lower), custom_call_target=\"AwsNeuronSoftmax\"
  short = f32[2] custom-call(softmax), custom_call_target=\"AwsNeuronGeluBwd\"
  other = f32[2] custom-call(short), custom_call_target=\"mine\"
  wide = f32[65536,65536] custom-call(big), custom_call_target=\"AwsNeuronErf\"
  pair = (f32[2], f32[2]) custom-call(other), custom_call_target=\"AwsNeuronErf\"
  late = f32[2] custom-call(p), custom_call_target=\"AwsNeuronErf\", control-predecessors={other}
  c = f32[2] call(other), to_apply=f
  ROOT t = tuple(c, wide, pair, late)
}";
    let expected = [
        "missed e.done: `AwsNeuronSilu_bf16` is the name of a kernel already",
        "missed e.lower: `awsneuronerf` is not `AwsNeuronErf`: letter case counts",
        "missed e.softmax: `AwsNeuronSoftmax` is not one of this pass's targets; those are \
         `AwsNeuronTransferWithStaticRing`, `AwsNeuronErf`, `AwsNeuronGelu`, `AwsNeuronGeluApprxTanh`, \
         `AwsNeuronGeluBackward`, `AwsNeuronSilu`, `AwsNeuronSiluBackward`",
        "missed e.short: `AwsNeuronGeluBwd` is not one of this pass's targets; the nearest are `AwsNeuronGeluBackward`, \
         `AwsNeuronGelu`",
        "note e.wide: the element count does not fit in 32 bits and becomes 0",
        "missed e.pair: its result is not an array",
        "missed f.g: it is not in the entry computation",
        "applied e.a: now calls `AwsNeuronGelu_f32` for 2 elements",
        "applied e.ring: replaced by its operand `custom-call`",
        "applied e.wide: now calls `AwsNeuronErf_f32` for 0 elements",
        "missed e.late: it has control dependencies, so it can't be replaced",
    ];
    assert_eq!(remarks(text, "legalize-intrinsics"), expected);
}

#[test]
fn legalize_compare_says_why() {
    let text = "HloModule m
lt {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT c = pred[] compare(x, y), direction=LT, type=TOTALORDER
}
ENTRY e {
  v = f32[4] parameter(0)
  a = pred[4] compare(v, v), direction=LT, type=TOTALORDER
  b = pred[4] compare(v, v), direction=LT
  n = f32[4] negate(v)
  c = pred[4] compare(v, v), direction=LT, type=TOTALORDER, control-predecessors={n}
  s = f32[4] sort(n), dimensions={0}, to_apply=lt
  ROOT t = tuple(a, b, c, s)
}";
    let expected = [
        "applied e.a: type TOTALORDER becomes FLOAT",
        "missed e.b: type FLOAT is the default already",
        "missed e.c: it has control dependencies, so it can't be replaced",
        "missed lt.c: it is not in the entry computation",
    ];
    // The second `c` of the module has another name.
    let said = remarks(text, "legalize-compare").join("\n").replace("e.c.1:", "e.c:");
    assert_eq!(said.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn without_fuel_remarks_say_so() {
    let mut context = PassContext {
        wants_remarks: true,
        fuel: Fuel { total: Some(1), per_pass: vec![] },
        ..PassContext::default()
    };
    run(&mut parse(DEAD), "dce", &mut context).expect("dce");
    let missed = context.remarks.iter().filter(|remark| remark.kind == RemarkKind::Missed);
    assert_eq!(missed.map(|remark| remark.text.as_str()).collect::<Vec<_>>(), ["out of fuel"; 2]);
}

#[test]
fn the_structural_hash_sees_structure_only() {
    let base = "HloModule m
f {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y)
}
ENTRY e {
  v = f32[4] parameter(0)
  z = f32[] constant(0)
  a = f32[4] negate(v)
  b = f32[4] sine(v)
  c = f32[4] add(a, b)
  ROOT r = f32[] reduce(c, z), dimensions={0}, to_apply=f
}";
    let hash = |text: &str| structural_hash(&parse(text));
    let same = [
        base.replace("v = ", "value = ").replace("(v)", "(value)"),
        base.replace("f {", "reducer {").replace("to_apply=f", "to_apply=reducer"),
        base.replace("sine(v)", "sine(v), metadata={op_name=\"x\"}"),
        base.replace("HloModule m", "HloModule other"),
        base.replace("HloModule m", "HloModule m\nunused {\n  ROOT x = f32[] parameter(0)\n}"),
        base.replace(
            "  a = f32[4] negate(v)\n  b = f32[4] sine(v)\n",
            "  b = f32[4] sine(v)\n  a = f32[4] negate(v)\n",
        ),
    ];
    for text in &same {
        assert_eq!(hash(text), hash(base), "{text}");
    }
    let different = [
        base.replace("negate", "cosine"),
        base.replace("add(a, b)", "add(b, a)"),
        base.replace("constant(0)", "constant(1)"),
        base.replace("f32[4]", "f32[5]"),
        base.replace("add(x, y)", "multiply(x, y)"),
        base.replace("sine(v)", "sine(v), control-predecessors={a}"),
        base.replace("  c = ", "  dead = f32[4] negate(v)\n  c = "),
        base.replace("sine(v)", "sine(v), sharding={replicated}"),
    ];
    for text in &different {
        assert_ne!(hash(text), hash(base), "{text}");
    }
}

#[test]
fn results_are_the_same_in_every_run() {
    let text = include_str!("../../../lit-tests/passes/call-inliner/nested.hlo");
    let print = || {
        let mut module = parse(text);
        run(&mut module, "call-inliner,cse,flatten-call-graph", &mut PassContext::default())
            .expect("they run");
        module.to_text(&PrintOptions::default())
    };
    let first = print();
    assert!((0..5).all(|_| print() == first));
}
