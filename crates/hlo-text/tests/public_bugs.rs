//! Inputs on which released parsers died, made data up, or said nothing: each gets a diagnostic at the right place,
//! or is read as it should be.

use hlo_text::diagnostic::Code;
use hlo_text::{Module, ParseOptions, PrintOptions, parse_module};

fn module(lines: &str) -> String {
    format!(
        "HloModule m\n\nplus {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}}\n\n\
         ENTRY e {{\n  {lines}\n}}\n"
    )
}

/// Both modes refuse `lines` with `code`; the place is where `^` stands in them.
#[track_caller]
fn refused(lines: &str, code: Code) {
    let at = module(lines).find('^').expect("a mark");
    let text = module(&lines.replacen('^', "", 1));
    for options in [ParseOptions::default(), ParseOptions::strict()] {
        let errors = parse_module(&text, &options).map(|_| ()).expect_err(lines);
        assert_eq!(errors[0].code, code, "{lines}: {}", errors[0].message);
        assert_eq!(errors[0].primary.span.start as usize, at, "{lines}: {}", errors[0].message);
    }
}

#[track_caller]
fn accepted(text: &str) -> Module {
    for options in [ParseOptions::strict(), ParseOptions::default()] {
        match parse_module(text, &options) {
            Ok(parsed) if options.dialect == hlo_text::Dialect::Lenient => return parsed.module,
            Ok(_) => {}
            Err(errors) => panic!("{text}\n{:?}", errors.first()),
        }
    }
    unreachable!("the second one is lenient")
}

#[test]
fn computations_that_do_not_exist() {
    refused(
        "s = ((), (), f32[]) call-start(), to_apply={%ghost^}\n  ROOT d = f32[] call-done(s)",
        Code::UnexpectedToken,
    );
    let text = module("p = f32[] parameter(0)\n  ROOT r = f32[] call(p), to_apply=ghost");
    for options in [ParseOptions::default(), ParseOptions::strict()] {
        let errors = parse_module(&text, &options).expect_err("there is no ghost");
        assert_eq!(errors[0].code, Code::UndefinedComputation);
        assert!(errors[0].message.contains("`ghost`"));
    }
    for (name, help) in [("ghost", "no computation `ghost`"), ("plus", "without braces")] {
        let text =
            module(&format!("p = f32[] parameter(0)\n  ROOT r = f32[] call(p, p), to_apply={{%{name}}}"));
        let errors = parse_module(&text, &ParseOptions::default()).expect_err(name);
        assert!(errors[0].help.as_ref().is_some_and(|text| text.contains(help)), "{:?}", errors[0]);
    }
}

#[test]
fn dimensions_that_are_not_there() {
    refused(
        "t = f32[<=9] parameter(0)\n  ROOT n = s32[] get-dimension-size(t), ^dimensions={}",
        Code::BadAttributeValue,
    );
    refused(
        "p = f32[4] parameter(0)\n  ROOT r = f32[8] all-gather(p), ^dimensions={}",
        Code::BadAttributeValue,
    );
    refused(
        "p = f32[4] parameter(0)\n  ROOT r = f32[2] reduce-scatter(p), ^dimensions={}, to_apply=plus",
        Code::BadAttributeValue,
    );
}

#[test]
fn what_aborts_elsewhere() {
    for (lines, code) in [
        ("p = f32[3,5] parameter(0)\n  ROOT r = f32[16] ^reshape(p)", Code::ShapeForm),
        (
            "p = f32[3,5] parameter(0)\n  n = s32[] parameter(1)\n  ROOT r = f32[<=16] ^dynamic-reshape(p, n)",
            Code::ShapeForm,
        ),
        ("ROOT p = f32[] parameter(1)", Code::BadParameter),
        ("ROOT c = s32[] constant(^true)", Code::BadLiteral),
        ("ROOT c = token[] constant(^)", Code::BadLiteral),
        ("p = opaque[] parameter(0)\n  ROOT c = opaque[] ^copy(p)", Code::ShapeForm),
        ("p = token[] parameter(0)\n  ROOT c = pred[] ^compare(p, p), direction=LT", Code::ShapeForm),
        ("ROOT r = f32[] ^replica-id()", Code::ShapeForm),
        (
            "p = f32[] parameter(0)\n  ROOT c = f32[] conditional^(), branch_computations={plus}",
            Code::OperandCount,
        ),
        ("p = f32[] parameter(^-1)", Code::BadParameter),
    ] {
        if lines.contains('^') && code != Code::BadParameter {
            refused(lines, code);
            continue;
        }
        let text = module(&lines.replacen('^', "", 1));
        for options in [ParseOptions::default(), ParseOptions::strict()] {
            let errors = parse_module(&text, &options).map(|_| ()).expect_err(lines);
            assert_eq!(errors[0].code, code, "{lines}");
        }
    }
}

#[test]
fn places() {
    // The place of a fault in a nested instruction is the operand, from its shape on.
    for (operand, code) in [
        ("f32[2] negate(p, p)", Code::OperandCount),
        ("f32[2] slice(p)", Code::MissingAttribute),
        ("f32[2] parameter(-1)", Code::BadParameter),
        ("f32[2] constant({1, x})", Code::UnexpectedToken),
    ] {
        refused(&format!("p = f32[2] parameter(0)\n  ROOT r = f32[2] abs(^{operand})"), code);
    }
}

#[test]
fn lists_of_devices() {
    let all_reduce = |groups: &str| {
        format!(
            "v = f32[8] parameter(0)\n  ROOT t = f32[8] all-reduce(v), replica_groups={groups}, to_apply=plus"
        )
    };
    let text = module(&all_reduce("mesh['a'=2,'b'=2, device_ids=(3,1,0)] {'a'}"));
    let errors = parse_module(&text, &ParseOptions::default()).expect_err("three of four devices");
    assert_eq!(errors[0].code, Code::BadReplicaGroups);
    assert!(errors[0].message.contains('4') && errors[0].message.contains('3'), "{}", errors[0].message);
    assert!(parse_module(&text, &ParseOptions::strict()).is_err());
    let text = module(&all_reduce("mesh['a'=2,'b'=2], device_ids=(3,1,0), {'a'}"));
    assert!(parse_module(&text, &ParseOptions::default()).is_err());
    // jaxlib 0.10.2 reads eight devices for a grid of four, newer versions don't.
    let text = module(&all_reduce("[2,2]<=[8]"));
    let errors = parse_module(&text, &ParseOptions::default()).expect_err("eight devices for four places");
    assert_eq!(errors[0].code, Code::BadReplicaGroups);
    assert!(parse_module(&text, &ParseOptions::strict()).is_ok());
    accepted(&module(&all_reduce("[2,4]<=[4,2]T(1,0)")));
}

#[test]
fn text_that_ends_early() {
    for text in [
        "HloModule m, frontend_attributes={a=\"never closed}",
        "HloModule m\n\nENTRY e {\n  ROOT p = f32[99999999999999999999] parameter(0)",
        "HloModule m\n\nENTRY e {",
        "HloModule m\n\nENTRY e {\n  ROOT p = f32[",
        "HloModule m\n\nENTRY e {\n  ROOT c = f32[2] constant({1,",
        "HloModule m /* ",
        "HloModule",
        "{",
        "",
    ] {
        for options in [ParseOptions::default(), ParseOptions::strict()] {
            assert!(parse_module(text, &options).is_err(), "{text}");
        }
    }
}

#[test]
fn valid_texts_that_were_refused_or_damaged() {
    // Parameters in any order; bounded dimensions; tuples of one; calls of custom calls; module attributes.
    let text = "HloModule m, frontend_attributes={tool=\"x\",list={\"a\": [1]}}\n\nwork {\n  b = f32[] parameter(1)\n  \
                a = f32[] parameter(0)\n  ROOT c = f32[] subtract(a, b)\n}\n\nENTRY e {\n  q = s32[<=4,2]{1,0} parameter(1)\n  \
                p = f32[] parameter(0)\n  t = (s32[<=4,2]{1,0}) tuple(q)\n  k = f32[] custom-call(p), custom_call_target=\"T\", \
                called_computations={work}, backend_config=\"\\\"quoted\\\"\"\n  b = (s32[<=4,2]{1,0}) opt-barrier(t)\n  \
                ROOT r = tuple(k, b)\n}\n";
    let printed = accepted(text).to_text(&PrintOptions::default());
    for part in [
        "frontend_attributes={list={\"a\": [1]},tool=\"x\"}",
        "(s32[<=4,2]{1,0}) tuple(%q)",
        "called_computations={%work}, backend_config=\"\\\"quoted\\\"\"",
        "%work (a: f32[], b: f32[]) -> f32[]",
    ] {
        assert!(printed.contains(part), "{printed}");
    }
    let one_line = PrintOptions { print_metadata: false, ..PrintOptions::default() };
    let text = "HloModule m\n\nFileNames\n1 \"a.py\"\n\nFunctionNames\n1 \"f\"\n\nFileLocations\n\
                1 {file_name_id=1 function_name_id=1 line=1 end_line=1 column=1 end_column=2}\n\nStackFrames\n\
                1 {file_location_id=1 parent_frame_id=1}\n\nENTRY e {\n  ROOT p = f32[] parameter(0), metadata={op_name=\"x\" stack_frame_id=1}\n}\n";
    let printed = accepted(text).to_text(&one_line);
    assert!(!printed.contains("FileNames") && !printed.contains("metadata"), "{printed}");
}
