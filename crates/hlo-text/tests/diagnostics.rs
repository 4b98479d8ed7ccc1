//! Every diagnostic code: what is said of its failing example, word for word, and that the fixed one is fine.
//!
//! The expected texts are tests/diagnostics/*.err; with `HLO_BLESS=1` in the environment they are rewritten.

use std::fmt::Write;
use std::path::Path;

use hlo_text::diagnostic::{Code, Diagnostic, Report, Source};
use hlo_text::{Dialect, ParseOptions, PrintOptions, VerifyOptions, parse_bytes, proto, verify};

/// The diagnostics for `bytes` as people see them, and the codes of all; those of the verifier, too, if it is asked.
fn complaints(
    name: &str,
    bytes: &[u8],
    options: &ParseOptions,
    rules: Option<&VerifyOptions>,
) -> (String, Vec<Code>) {
    let (diagnostics, text): (Vec<Diagnostic>, String) = match parse_bytes(bytes, options) {
        Ok(parsed) => {
            let mut diagnostics = parsed.warnings;
            if let Some(rules) = rules {
                let violations = verify(&parsed.module, rules);
                let source_map = &parsed.source_map;
                diagnostics.extend(violations.iter().map(|violation| violation.diagnostic(source_map)));
            }
            (diagnostics, String::from_utf8_lossy(bytes).into_owned())
        }
        Err(rejected) => (rejected.diagnostics, rejected.text.into_owned()),
    };
    let mut out = String::new();
    for diagnostic in &diagnostics {
        let report = Report::new(diagnostic, Source::new(name, &text));
        write!(out, "{}\n{}", report.render_short(), report.render(false)).expect("strings take everything");
    }
    // Padding at line ends differs between versions of the renderer and says nothing.
    let out = out.lines().flat_map(|line| [line.trim_end(), "\n"]).collect();
    (out, diagnostics.iter().map(|diagnostic| diagnostic.code).collect())
}

/// The same for a protocol buffer in text form, and of what its module can't carry as HLO text.
fn proto_complaints(name: &str, bytes: &[u8]) -> (String, Vec<Code>) {
    let (diagnostics, text) = match proto::read(bytes, &proto::ReadOptions::default()) {
        Ok(read) => {
            (proto::lost_in_text(&read.module, &read.source, &PrintOptions::default()), String::new())
        }
        Err(rejected) => (rejected.diagnostics, rejected.text.into_owned()),
    };
    let source = if text.is_empty() { Source::without_text(name) } else { Source::new(name, &text) };
    let mut out = String::new();
    for diagnostic in &diagnostics {
        let report = Report::new(diagnostic, source);
        write!(out, "{}\n{}", report.render_short(), report.render(false)).expect("strings take everything");
    }
    let out = out.lines().flat_map(|line| [line.trim_end(), "\n"]).collect();
    (out, diagnostics.iter().map(|diagnostic| diagnostic.code).collect())
}

#[test]
fn every_code_has_an_example_that_says_it_and_one_that_is_fine() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics");
    let bless = std::env::var_os("HLO_BLESS").is_some_and(|value| value == "1");
    let mut faults = String::new();
    for &code in Code::ALL {
        let explanation = code.explanation();
        assert!(!explanation.text.is_empty(), "{code:?} is not explained");
        if explanation.failing.is_empty() {
            assert!(code.is_rule(), "{code:?} has no example");
            continue;
        }
        let rules =
            VerifyOptions { layout_sensitive: code.is_layout_sensitive(), ..VerifyOptions::default() };
        let rules = code.is_rule().then_some(&rules);
        let dialect = if code.is_strict_only() { Dialect::Strict } else { Dialect::Lenient };
        let options = ParseOptions { dialect, ..ParseOptions::default() };
        let is_proto = proto::detect(explanation.fixed) == Some(proto::Encoding::Text);
        let name = format!("{}.{}", code.as_str(), if is_proto { "pbtxt" } else { "hlo" });
        let complaints = |bytes| match is_proto {
            true => proto_complaints(&name, bytes),
            false => complaints(&name, bytes, &options, rules),
        };
        let (text, codes) = complaints(explanation.failing);
        // A rule may be broken at both ends of an edge.
        if codes.is_empty() || codes.iter().any(|&found| found != code) || !code.is_rule() && codes.len() > 1
        {
            writeln!(faults, "{name} gets {codes:?} instead of {code:?} alone:\n{text}").expect("a string");
        }
        let (fixed, codes) = complaints(explanation.fixed);
        if !codes.is_empty() {
            writeln!(faults, "the fixed example of {name} is not fine:\n{fixed}").expect("a string");
        }
        let golden = folder.join(format!("{}.err", code.as_str()));
        if bless {
            std::fs::write(&golden, &text).expect("the folder can be written to");
            continue;
        }
        let expected = std::fs::read_to_string(&golden).unwrap_or_default().replace("\r\n", "\n");
        if expected != text {
            writeln!(faults, "{} should say\n{expected}\nbut says\n{text}", golden.display())
                .expect("a string");
        }
    }
    assert!(
        faults.is_empty(),
        "{faults}\nIf the new texts are right: HLO_BLESS=1 cargo test -p hlo-text --test diagnostics"
    );
}

#[test]
fn every_file_belongs_to_a_code() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics");
    for entry in std::fs::read_dir(folder).expect("the folder exists") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        let (number, ending) = name.split_once('.').expect("a name with an ending");
        assert!(Code::from_text(number).is_some(), "{name}");
        assert!(["hlo", "fixed.hlo", "pbtxt", "fixed.pbtxt", "err"].contains(&ending), "{name}");
    }
}
