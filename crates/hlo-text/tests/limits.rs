//! Hostile texts: nested without end, with counts beyond all memory, with lists and names that tempt quadratic
//! algorithms. Each must get its answer soon, on the small stack of a test thread.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use hlo_text::diagnostic::{Code, Diagnostic};
use hlo_text::shape_inference::MAX_TUPLE_NODES;

use hlo_text::{MAX_CALL_NESTING, MAX_NESTING_DEPTH, Module, ParseOptions, PrintOptions, parse_module};

/// Enough to overflow a stack by recursion, and to notice quadratic time.
const MANY: usize = 100_000;

/// How long an answer may take in a build without optimisation on a busy machine; quadratic algorithms take
/// minutes.
const PATIENCE: Duration = Duration::from_secs(20);

fn both() -> [ParseOptions; 2] {
    [ParseOptions::default(), ParseOptions::strict()]
}

#[track_caller]
fn timed<T>(what: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = what();
    let taken = start.elapsed();
    assert!(taken < PATIENCE, "took {taken:?}");
    result
}

#[track_caller]
fn parsed(text: &str, options: &ParseOptions) -> Result<Module, Box<Diagnostic>> {
    timed(|| match parse_module(text, options) {
        Ok(parsed) => Ok(parsed.module),
        Err(errors) => Err(Box::new(errors.into_iter().next().expect("a rejection has a reason"))),
    })
}

#[track_caller]
fn rejected(text: &str, code: Code) {
    for options in both() {
        let error = parsed(text, &options).map(|_| ()).expect_err("must be rejected");
        assert_eq!(error.code, code, "{}", error.message);
    }
}

#[track_caller]
fn round_trips(text: &str) {
    for options in both() {
        let module = parsed(text, &options).unwrap_or_else(|error| panic!("{}", error.message));
        for print in [PrintOptions::default(), PrintOptions::short_parsable()] {
            let printed = timed(|| module.to_text(&print));
            let again = parsed(&printed, &options).unwrap_or_else(|error| panic!("{}", error.message));
            assert!(printed == timed(|| again.to_text(&print)));
        }
        for preset in ["canonical", "fingerprint"] {
            let print = PrintOptions::preset(preset).expect("a preset");
            timed(|| module.to_text(&print));
        }
        let copy = timed(|| module.clone());
        timed(|| drop((copy, module)));
    }
}

fn nested(open: &str, inner: &str, close: &str, depth: usize) -> String {
    format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
}

#[test]
fn tuple_shapes() {
    let module = |depth| {
        let shape = nested("(", "f32[2]{0}", ")", depth);
        format!(
            "HloModule m\n\nENTRY e {{\n  p = {shape} parameter(0)\n  ROOT t = ({shape}) tuple({shape} p)\n}}\n"
        )
    };
    round_trips(&module(MAX_NESTING_DEPTH - 1));
    rejected(&module(MANY), Code::TooDeep);
    rejected(&format!("ENTRY e {{ p = {}", "(".repeat(MANY)), Code::TooDeep);
    rejected(&format!("ENTRY e {{ p = {}", "f32[2]{0:P(".repeat(MANY)), Code::TooDeep);
    rejected(&format!("ENTRY e {{ p = {}", "b(".repeat(MANY)), Code::TooDeep);
}

#[test]
fn inferred_shapes() {
    // Each tuple holds the one before.
    let chain = |length: usize, operands: &str| {
        let mut text = String::from("HloModule m\n\nENTRY e {\n  t0 = f32[2]{0} parameter(0)\n");
        for index in 1..=length {
            let operands = operands.replace('T', &format!("t{}", index - 1));
            let root = if index == length { "ROOT " } else { "" };
            let _ = writeln!(text, "  {root}t{index} = tuple({operands})");
        }
        text + "}\n"
    };
    round_trips(&chain(100, "T"));
    rejected(&chain(MAX_NESTING_DEPTH + 1, "T"), Code::ShapeInference);
    rejected(&chain(MANY, "T"), Code::ShapeInference);
    // Shapes that double with each instruction.
    round_trips(&chain(10, "T, T"));
    rejected(&chain(64, "T, T"), Code::ShapeInference);
    const { assert!(MAX_TUPLE_NODES < 1 << 30) };
    // Shapes that are computed whatever the text declares.
    let mut text =
        String::from("HloModule m\n\nENTRY e {\n  v0 = f32[] parameter(0)\n  t = token[] after-all()\n");
    for index in 1..MANY / 10 {
        let _ = writeln!(text, "  v{index} = (f32[], u32[], token[]) send(v{}, t), channel_id=1", index - 1);
    }
    rejected(&(text + "}\n"), Code::TooDeep);
}

#[test]
fn operands() {
    let module = |depth| {
        let operand = nested("f32[2]{0} negate(", "f32[2]{0} p", ")", depth);
        format!(
            "HloModule m\n\nENTRY e {{\n  p = f32[2]{{0}} parameter(0)\n  ROOT n = f32[2]{{0}} abs({operand})\n}}\n"
        )
    };
    round_trips(&module(1000));
    let options = ParseOptions::default();
    let text = module(MAX_CALL_NESTING - 1);
    let deep = parsed(&text, &options).expect("within the limit");
    assert_eq!(deep.instruction_count(), MAX_CALL_NESTING + 1);
    rejected(&module(MANY), Code::TooDeep);
    // As a single instruction, without shapes that would have to be inferred.
    let single = nested("f32[2] negate(", "f32[2] p", ")", 1000);
    parsed(&format!("x = {single}"), &options).expect("within the limit");
    rejected(&format!("x = {}", nested("f32[2] negate(", "f32[2] p", ")", MANY)), Code::TooDeep);
}

#[test]
fn inline_computations() {
    let module = |depth| {
        let body = nested(
            "{ p = f32[2]{0} parameter(0) ROOT c = f32[2]{0} call(p), to_apply=",
            "{ ROOT p = f32[2]{0} parameter(0) }",
            " }",
            depth,
        );
        format!(
            "HloModule m\n\nENTRY e {{\n  p = f32[2]{{0}} parameter(0)\n  ROOT c = f32[2]{{0}} call(p), to_apply={body}\n}}\n"
        )
    };
    round_trips(&module(MAX_NESTING_DEPTH / 2));
    rejected(&module(MANY), Code::TooDeep);
}

#[test]
fn literals() {
    let tuple = |depth| {
        let shape = nested("(", "f32[]", ")", depth);
        let value = nested("(", "1", ")", depth);
        format!("HloModule m\n\nENTRY e {{\n  ROOT c = {shape} constant({value})\n}}\n")
    };
    let depth = MAX_NESTING_DEPTH - 1;
    for options in both() {
        let module = parsed(&tuple(depth), &options).unwrap_or_else(|error| panic!("{}", error.message));
        let print = PrintOptions { print_large_constants: true, ..PrintOptions::default() };
        let printed = module.to_text(&print);
        assert_eq!(parsed(&printed, &options).expect("it is read").to_text(&print), printed);
        drop(module.clone());
    }
    rejected(&tuple(MANY), Code::TooDeep);
    let braces = format!("ENTRY e {{ ROOT c = f32[2,2] constant({}) }}", nested("{", "1", "}", MANY));
    rejected(&braces, Code::BadLiteral);
    let parens = format!("ENTRY e {{ ROOT c = (f32[]) constant({}) }}", nested("(", "1", ")", MANY));
    rejected(&parens, Code::BadLiteral);
}

#[test]
fn elements_that_are_not_there() {
    for options in both() {
        for shape in
            ["f32[1000000000000]", "f32[9223372036854775807]", "s4[4294967296,1024]", "pred[1000000000000]"]
        {
            for value in ["{1,2,3}", "1", ""] {
                let text = format!("HloModule m\n\nENTRY e {{ ROOT c = {shape} constant({value}) }}");
                assert!(parsed(&text, &options).is_err(), "{text}");
            }
            let text = format!("HloModule m\n\nENTRY e {{ ROOT c = {shape} constant({{...}}) }}");
            let module = parsed(&text, &options);
            if shape.contains(',') {
                // Within one brace `...` stands for all of one row.
                continue;
            }
            let printed = module.expect("nothing is made up").to_text(&PrintOptions::default());
            assert!(printed.contains("constant({...})"), "{printed}");
        }
        let text = "HloModule m\n\nENTRY e { ROOT c = f32[9223372036854775807,9223372036854775807] constant({...}) }";
        assert!(parsed(text, &options).is_err());
    }
}

#[test]
fn braces_in_attributes() {
    let attribute = |value: &str| {
        format!("HloModule m\n\nENTRY e {{\n  ROOT p = f32[2]{{0}} parameter(0), {value}\n}}\n")
    };
    let dictionary = nested("{\"a\": ", "1", "}", MANY);
    round_trips(&attribute(&format!("backend_config={dictionary}")));
    let text = attribute(&format!("backend_config={dictionary}"));
    let module = parsed(&text, &ParseOptions::default()).expect("a dictionary");
    timed(|| module.to_text(&PrintOptions { sort_backend_config: true, ..PrintOptions::default() }));
    let open = "{".repeat(MANY);
    let parens = "(".repeat(MANY);
    for key in [
        "backend_config",
        "frontend_attributes",
        "sharding",
        "metadata",
        "origin",
        "statistics",
        "control-predecessors",
        "parameter_replication",
        "some_attribute_of_tomorrow",
    ] {
        for value in [&open, &parens] {
            for options in both() {
                assert!(parsed(&attribute(&format!("{key}={value}")), &options).is_err());
            }
        }
    }
    let origin = nested("(", "{\"a\"}", ")", MAX_NESTING_DEPTH - 1);
    round_trips(&attribute(&format!("origin={{{origin}}}")));
    let unknown = nested("{", "1", "}", MANY);
    let text = attribute(&format!("some_attribute_of_tomorrow={unknown}"));
    let module = parsed(&text, &ParseOptions::default()).expect("kept as it is");
    assert!(module.to_text(&PrintOptions::default()).contains(&unknown));
}

#[test]
fn braces_in_the_header() {
    for key in [
        "input_output_alias",
        "buffer_donor",
        "entry_computation_layout",
        "frontend_attributes",
        "origin_recovery_table",
        "debug_attributes",
        "tomorrow",
    ] {
        for value in
            ["{".repeat(MANY), "(".repeat(MANY), "{(".repeat(MANY), nested("{", "", "}", MANY / 2) + "{"]
        {
            for options in both() {
                assert!(parsed(&format!("HloModule m, {key}={value}"), &options).is_err(), "{key}");
            }
        }
    }
}

#[test]
fn long_lists() {
    let mut text = String::from("HloModule m\n\nENTRY e {\n");
    // Parameters that count down, so that none is higher than those before.
    for number in (0..MANY / 4).rev() {
        let _ = writeln!(text, "  p{number} = f32[] parameter({number})");
    }
    let names = |prefix: &str| {
        let names: Vec<String> = (0..MANY / 4).map(|number| format!("{prefix}{number}")).collect();
        names.join(",")
    };
    let without_edges = format!("{text}  a = f32[] negate(p0)\n  ROOT t = tuple({})\n}}\n", names("p"));
    round_trips(&without_edges);
    let _ = writeln!(text, "  a = f32[] negate(p0), control-predecessors={{{}}}", names("p"));
    let _ = writeln!(text, "  ROOT t = tuple({})\n}}", names("p"));
    // XLA's short form leaves control edges out but honours them, so that it prints in another order once read.
    let module = parsed(&text, &ParseOptions::default()).unwrap_or_else(|error| panic!("{}", error.message));
    let printed = timed(|| module.to_text(&PrintOptions::default()));
    let again =
        parsed(&printed, &ParseOptions::default()).unwrap_or_else(|error| panic!("{}", error.message));
    assert!(printed == again.to_text(&PrintOptions::default()));
    let again = text.replace("  a = ", "  again = f32[] parameter(7)\n  a = ");
    rejected(&again, Code::BadParameter);
    let numbers: Vec<String> = (0..MANY).map(|number| number.to_string()).collect();
    let numbers = numbers.join(",");
    for value in [
        format!("ROOT c = s32[{MANY}] constant({{{numbers}}})"),
        format!("ROOT p = f32[2] parameter(0), sharding={{devices=[{MANY}]{numbers}}}"),
        format!("ROOT p = f32[2] parameter(0), backend_config={{\"a\": [{numbers}]}}"),
    ] {
        round_trips(&format!("HloModule m\n\nENTRY e {{\n  {value}\n}}\n"));
    }
}

#[test]
fn many_unknown_attributes() {
    let mut attributes = String::new();
    for number in 0..MANY / 4 {
        let _ = write!(attributes, ", tomorrow{number}={number}");
    }
    let text =
        format!("HloModule m{attributes}\n\nENTRY e {{\n  ROOT p = f32[] parameter(0){attributes}\n}}\n");
    let module = parsed(&text, &ParseOptions::default()).expect("kept");
    assert!(module.to_text(&PrintOptions::default()).matches(&attributes).count() == 2);
    assert!(parsed(&text, &ParseOptions::strict()).is_err());
}

#[test]
fn hostile_names() {
    // Long names that are nearly the same, with and without numbers at their ends.
    let long = "x".repeat(MANY);
    let text = format!(
        "HloModule {long}\n\n{long} {{\n  ROOT {long} = f32[] parameter(0)\n}}\n\n\
         ENTRY {long}.1 {{\n  {long} = f32[] parameter(0)\n  ROOT {long}.1 = f32[] call({long}), to_apply={long}\n}}\n"
    );
    round_trips(&text);
    rejected(&text.replace(&format!("call({long})"), &format!("call({long}y)")), Code::UndefinedInstruction);
    rejected(&text.replace("to_apply=", "to_apply=y"), Code::UndefinedComputation);
    // The same name in many computations, numbers that overflow, numbers in the way.
    let mut text = String::from("HloModule m\n\n");
    for number in 0..MANY / 40 {
        let _ = writeln!(
            text,
            "f.{number} {{\n  a = f32[] parameter(0)\n  a.1 = f32[] negate(a)\n  a.18446744073709551615 = f32[] negate(a.1)\n  ROOT a.007 = f32[] abs(a.18446744073709551615)\n}}\n"
        );
    }
    text += "ENTRY e {\n  ROOT a.00 = f32[] parameter(0)\n}\n";
    let options = ParseOptions::strict();
    let module = parsed(&text, &options).expect("names are made unique");
    let printed = module.to_text(&PrintOptions::default());
    let again = parsed(&printed, &options).expect("it is read");
    assert_eq!(again.to_text(&PrintOptions::default()), printed);
}

#[test]
fn many_faults() {
    let mut text = String::from("HloModule m\n\nENTRY e {\n  p = f32[] parameter(0)\n");
    for number in 0..MANY / 4 {
        let _ = writeln!(text, "  a{number} = f32[] negate(q{number}), to_apply=x{number}");
    }
    text += "}\n";
    for options in both() {
        let errors = timed(|| parse_module(&text, &options)).expect_err("there are faults");
        assert_eq!(errors.len(), options.max_errors);
    }
    let calls = text.replace("negate(q", "call(p), q=(").replace("  p = ", "  p=");
    for options in both() {
        assert!(timed(|| parse_module(&calls, &options)).is_err());
    }
    // Computations that are never defined: only the first are worth saying.
    let mut text = String::from("HloModule m\n\nENTRY e {\n  p = f32[] parameter(0)\n");
    for number in 0..MANY / 4 {
        let _ = writeln!(text, "  a{number} = f32[] call(p), to_apply=x{number}");
    }
    text += "}\n";
    rejected(&text, Code::UndefinedComputation);
}

#[test]
fn calls_that_double() {
    // Each computation calls the one before twice: canonical prints show bodies in place.
    let mut text = String::from("HloModule m\n\nc0 {\n  ROOT p = f32[] parameter(0)\n}\n\n");
    for number in 1..60 {
        let before = number - 1;
        let _ = writeln!(
            text,
            "c{number} {{\n  p = f32[] parameter(0)\n  a = f32[] call(p), to_apply=c{before}\n  ROOT b = f32[] call(a), to_apply=c{before}\n}}\n"
        );
    }
    text += "ENTRY e {\n  p = f32[] parameter(0)\n  ROOT c = f32[] call(p), to_apply=c59\n}\n";
    let module = parsed(&text, &ParseOptions::default()).expect("it is read");
    let printed = module.to_text(&PrintOptions::default());
    assert!(printed.contains("to_apply=%c59"));
}

#[test]
fn asynchronous_chains() {
    let mut text = String::from("HloModule m\n\nENTRY e {\n  p = f32[4] parameter(0)\n");
    text += "  n0 = ((f32[4]), f32[4], s32[]) custom-call-start(p), custom_call_target=\"f\"\n";
    for number in 1..60_000 {
        let before = number - 1;
        let _ = writeln!(text, "  n{number} = ((f32[4]), f32[4], s32[]) custom-call-update(n{before})");
    }
    text += "  ROOT done = f32[4] custom-call-done(n59999)\n}\n";
    for options in both() {
        parsed(&text, &options).unwrap_or_else(|error| panic!("{}", error.message));
    }
}
