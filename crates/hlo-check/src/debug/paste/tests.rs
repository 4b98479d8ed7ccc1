//! What repairs make of texts, and what they say of it.

use super::lines::{bare, clean};
use super::{Failed, Repaired, load};

fn loaded(text: &str) -> Repaired {
    load(text.as_bytes()).unwrap_or_else(|Failed { text, diagnostics, .. }| panic!("{diagnostics:?}\n{text}"))
}

fn said(repaired: &Repaired) -> Vec<String> {
    repaired.repairs.iter().map(ToString::to_string).collect()
}

const MODULE: &str =
    "HloModule m\n\nENTRY %e {\n  %p = f32[2]{0} parameter(0)\n  ROOT %n = f32[2]{0} negate(%p)\n}\n";

#[test]
fn what_can_be_read_is_left_alone() {
    let repaired = loaded(MODULE);
    assert!(repaired.repairs.is_empty() && repaired.text == MODULE);
}

#[test]
fn prefixes_of_loggers_are_known() {
    for prefix in [
        "I0000 00:00:1700000000.123456    4242 hlo_pass_pipeline.cc:12] ",
        "W1130 12:34:56.789012 140 xla/service/dumping.cc:485] ",
        "2024-03-01 10:11:12.123456: I xla/service/hlo_module.cc:17] ",
        "2024-03-01 10:11:12,123 - jax._src.dispatch - DEBUG - ",
        "2024-03-01 10:11:12.000131: I torch_neuronx/trace.py:341] ",
        "[2024-03-01 10:11:12,123] [INFO] [compiler.py:12] ",
        "2024-03-01T10:11:12.1234567Z ",
        "2024-03-01T10:11:12+00:00 stderr F ",
        "2024-03-01 10:11:12 INFO ",
        "INFO:root:",
        "DEBUG:jax._src.compiler:",
        "[INFO] ",
        "(RayTrainWorker pid=4242, ip=10.0.0.7) ",
        "(pid=4242) ",
        "[rank3]: ",
        "[1,0]<stdout>:",
        "[10:11:12] ",
    ] {
        for line in ["HloModule m, is_scheduled=true", "  %p = f32[2]{0} parameter(0)", "}", "ENTRY e {"] {
            assert_eq!(bare(&format!("{prefix}{line}")).trim_start(), line.trim_start(), "{prefix}");
        }
        let text: String = MODULE.lines().map(|line| format!("{prefix}{line}\n")).collect();
        let repaired = loaded(&text);
        assert_eq!(said(&repaired), ["lines 1-6: log prefixes removed"], "{prefix}");
        assert_eq!(repaired.parsed.module.instruction_count(), 2);
    }
}

#[test]
fn hlo_is_no_prefix() {
    let lines = "1 \"a.py\"\n2 {file_name_id=1 line=2}\nc = f32[2] constant({-1, 2})\n  {1, 2},\nINFO.1 = f32[] add(a, b)\nERROR = f32[] add(a, b)\n";
    let mut repairs = Vec::new();
    let cleaned = clean(lines, &mut repairs);
    assert_eq!((cleaned.text().as_str(), repairs.len()), (lines, 0), "{repairs:?}");
}

#[test]
fn marks_around_hlo_are_removed_and_said() {
    let lines = |change: &dyn Fn(&str) -> String| MODULE.lines().map(change).collect::<String>();
    for (text, expected) in [
        (
            format!("Look:\n```hlo\n{MODULE}```\nBye.\n"),
            "lines 1-2: left out, since it isn't in the ``` block",
        ),
        (format!("```\n{MODULE}"), "line 1: left out, since it isn't in the ``` block"),
        (lines(&|line| format!("> {line}\n")), "lines 1-6: quotation marks `>` removed"),
        (lines(&|line| format!("\u{1b}[32m{line}\u{1b}[0m\n")), "lines 1-6: colour codes removed"),
        (lines(&|line| format!("+{line}\n")), "lines 1-6: diff markers removed"),
        (lines(&|line| format!("   7\t{line}\n")), "lines 1-6: line numbers removed"),
    ] {
        let repaired = loaded(&text);
        assert!(said(&repaired).iter().any(|it| it == expected), "{:?}", said(&repaired));
        assert_eq!(repaired.parsed.module.instruction_count(), 2, "{text}");
    }
}

#[test]
fn of_a_difference_the_new_side_is_read() {
    let text = "--- a.hlo\n+++ b.hlo\n@@ -1,5 +1,5 @@\n ENTRY %e {\n   %p = f32[2]{0} parameter(0)\n-  ROOT %n = f32[2]{0} negate(%p)\n+  ROOT %t = f32[2]{0} tanh(%p)\n }\n";
    let repaired = loaded(text);
    assert!(repaired.text.contains("tanh") && !repaired.text.contains("negate"), "{}", repaired.text);
}

#[test]
fn lost_operands_become_parameters_of_the_shape_their_uses_ask_for() {
    for (line, expected) in [
        ("y = f32[2,3] negate(x)", "x = f32[2,3] parameter(0)"),
        ("y = f32[2,3]{1,0} add(x, x)", "x = f32[2,3]{1,0} parameter(0)"),
        ("y = f32[2,3] broadcast(x), dimensions={1}", "x = f32[3] parameter(0)"),
        ("y = f32[2,3] transpose(x), dimensions={1,0}", "x = f32[3,2] parameter(0)"),
        ("y = f32[2] get-tuple-element(x), index=1", "x = (f32[], f32[2]) parameter(0)"),
        (
            "y = f32[2,3] dot(f32[2,5] x, z), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
            "z = f32[5,3] parameter(1)",
        ),
        ("y = f32[2] pad(x, z), padding=1_0", "x = f32[1] parameter(0)"),
        ("y = pred[2] compare(s32[2] x, z), direction=LT", "z = s32[2] parameter(1)"),
        ("y = f32[2] select(x, z, z)", "x = pred[2] parameter(0)"),
        ("y = f32[5] concatenate(f32[2] x, z), dimensions={0}", "z = f32[3] parameter(1)"),
        ("y = f32[2] slice(x), slice={[1:3]}", "x = f32[3] parameter(0)"),
        ("y = (f32[2], s32[]) while(x), condition=c, body=b", "x = (f32[2], s32[]) parameter(0)"),
        (
            "y = s32[2] gather(x, z), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}",
            "z = s32[2,1] parameter(1)",
        ),
    ] {
        let repaired = loaded(&format!("{line}\n"));
        let text = repaired.text.replace('%', "");
        assert!(text.contains(expected), "{line}:\n{text}");
        assert!(said(&repaired).iter().any(|it| it.starts_with("line 1: `")), "{:?}", said(&repaired));
    }
}

#[test]
fn computations_that_are_missing_get_stand_ins() {
    for (line, expected) in [
        (
            "y = f32[2] reduce(x, z), dimensions={0}, to_apply=sum",
            "(sum.parameter.0: f32[], sum.parameter.1: f32[]) -> f32[]",
        ),
        ("y = (f32[2], s32[]) while(x), condition=c, body=b", "((f32[2], s32[])) -> pred[]"),
        ("y = f32[8] sort(x), dimensions={0}, to_apply=less", "f32[]) -> pred[]"),
        ("y = f32[8] fusion(x), kind=kLoop, calls=fused", "(fused.parameter.0: f32[8]) -> f32[8]"),
    ] {
        let repaired = loaded(&format!("{line}\n"));
        assert!(said(&repaired).iter().any(|it| it.contains("a stand-in of its shape is added")), "{line}");
        let text = repaired.parsed.module.to_string().replace('%', "");
        let expected = expected.split(" -> ").last().unwrap_or_default();
        assert!(text.contains(&format!("-> {expected} {{")), "{line}:\n{text}");
    }
}

#[test]
fn what_is_cut_off_is_left_out_and_closed() {
    let text = "HloModule m, entry_computation_layout={(f32[2]{0})->f32[2]{0}}\n\nENTRY %e (p: f32[2]) -> f32[2] {\n  %p = f32[2]{0} parameter(0)\n  %n = f32[2]{0} negate(%p)\n  ROOT %t = f32[2]{0} ta";
    assert_eq!(
        said(&loaded(text)),
        [
            "line 6: left out, since it isn't a whole line of HLO: `ROOT %t = f32[2]{0} ta`",
            "line 6: `}` added behind it: the text ends within `e`",
            "line 1: left out of the header, since the entry computation isn't whole: `entry_computation_layout`",
        ]
    );
    let text = "egate(%p)\n  ROOT %t = f32[2]{0} tanh(%n)\n}\n\nENTRY %e {\n  %p = f32[2]{0} parameter(0)\n  ROOT %c = f32[2]{0} call(%p), to_apply=%f\n}\n";
    let repaired = loaded(text);
    assert_eq!(repaired.parsed.module.computations().len(), 3, "{}", repaired.text);
}

#[test]
fn lines_that_are_missing_between_computations_are_noticed() {
    // The end of one and the heading of the next.
    let text = "%sum (a: f32[], b: f32[]) -> f32[] {\n  %x = f32[4]{0} parameter(0)\n  %zero = f32[] constant(0)\n  ROOT %r = f32[] reduce(f32[4]{0} %x, f32[] %zero), dimensions={0}, to_apply=%sum\n}\n";
    let repaired = loaded(text);
    assert!(
        said(&repaired).iter().any(|it| it.contains("what follows calls `sum`")),
        "{:?}",
        said(&repaired)
    );
    // The root.
    let text =
        "ENTRY %e (a: f32[2]) -> (f32[2]) {\n  %a = f32[2]{0} parameter(0)\n  %n = f32[2]{0} negate(%a)\n}\n";
    let repaired = loaded(text);
    assert!(
        said(&repaired).iter().any(|it| it.contains("the signature of `e` is left out")),
        "{:?}",
        said(&repaired)
    );
    // The beginning of a name.
    let text = "12 = s32[] constant(0)\n  ROOT %n = s32[] negate(%constant.12)\n}\n";
    assert_eq!(loaded(text).parsed.module.instruction_count(), 2);
}

#[test]
fn parameters_of_a_heading_keep_their_numbers() {
    let text = "ENTRY %e (a: f32[2], b: s32[], c: f32[2]) -> f32[2] {\n  %c = f32[2]{0} parameter(2)\n  ROOT %s = f32[2]{0} add(%a, %c)\n}\n";
    let repaired = loaded(text);
    let text = repaired.text.replace('%', "");
    assert!(text.contains("a = f32[2] parameter(0)\n  b = s32[] parameter(1)\n"), "{text}");
    assert!(text.contains("ENTRY e (a: f32[2], b: s32[], c: f32[2]) -> f32[2] {"), "{text}");
}

#[test]
fn the_ends_of_asynchronous_operations_become_parameters() {
    let text = "d = f32[2] all-reduce-done(s)\nn = f32[2] negate(d)\n";
    let repaired = loaded(text);
    assert!(
        said(&repaired).iter().any(|it| it.contains("its start isn't in the text")),
        "{:?}",
        said(&repaired)
    );
}

#[test]
fn misspelt_names_are_guessed_at() {
    let text = "ENTRY e {\n  input = f32[2] parameter(0)\n  ROOT n = f32[2] negate(inptu)\n}\n";
    assert!(said(&loaded(text)).iter().any(|it| it.contains("did you mean `input`?")));
}

#[test]
fn what_is_wrong_beyond_repair_says_what_to_add() {
    for text in ["hello\n", "}\n", "HloModule m\n", "```\n```\n", "%x\n"] {
        let failed = load(text.as_bytes()).expect_err("nothing to read");
        assert!(failed.diagnostics.iter().any(|it| it.help.is_some()), "{text}: {:?}", failed.diagnostics);
    }
    // A fault of the text itself stays one.
    let failed = load(MODULE.replace("negate", "negat").as_bytes()).expect_err("no such opcode");
    assert_eq!(failed.diagnostics.first().map(|it| it.code.as_str()), Some("HLO0003"));
    assert!(failed.repairs.is_empty());
}

#[test]
fn no_text_makes_it_panic() {
    let seeds = [
        MODULE,
        "y = f32[2] reduce(x, z), dimensions={0}, to_apply=sum\n",
        "+ a = f32[] add(\"\\\n",
        "/* \" */ (((",
    ];
    for seed in seeds {
        for end in 0..=seed.len() {
            for begin in [0, end / 2, end] {
                if let Some(part) = seed.get(begin..end) {
                    let _ = load(part.as_bytes());
                    let _ = load(format!("> {part}").as_bytes());
                    let _ = load(format!("+{part}").as_bytes());
                }
            }
        }
    }
    let _ = load(&[0xff, 0xfe, b'\n', b'=']);
    let _ = load(
        "parameter(99999999999999999999)\nx = f32[] parameter(4294967295)\ny = f32[] add(z, w)\n".as_bytes(),
    );
}
