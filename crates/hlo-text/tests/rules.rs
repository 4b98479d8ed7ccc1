//! Rules of the verifier, case by case: tests/rules/*.hlo, each case with the codes it gets.

use std::fmt::Write;
use std::path::Path;

use hlo_text::diagnostic::Code;
use hlo_text::{ParseOptions, VerifyOptions, parse_module, verify};

const SEPARATOR: &str = "// -----\n";
const EXPECTATION: &str = "// expect: ";
/// Before the codes: layouts count.
const WITH_LAYOUTS: &str = "with layouts: ";

/// The codes a text gets, each once.
fn codes(text: &str, layout_sensitive: bool) -> Result<Vec<&'static str>, String> {
    let parsed = parse_module(text, &ParseOptions::default())
        .map_err(|errors| errors.into_iter().map(|error| error.message).collect::<Vec<_>>().join("; "))?;
    let options = VerifyOptions { layout_sensitive, ..VerifyOptions::default() };
    let violations = verify(&parsed.module, &options);
    let mut codes: Vec<&str> = violations.iter().map(|violation| violation.code.as_str()).collect();
    codes.sort_unstable();
    codes.dedup();
    Ok(codes)
}

#[test]
fn every_case_gets_its_codes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rules");
    let (mut cases, mut faults) = (0, String::new());
    for entry in std::fs::read_dir(folder).expect("the folder exists") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("a text").replace("\r\n", "\n");
        let mut line = 1;
        for case in text.split(SEPARATOR) {
            let expected = case.lines().find_map(|line| line.strip_prefix(EXPECTATION));
            let expected = expected.unwrap_or_else(|| panic!("{}:{line} expects nothing", path.display()));
            let with_layouts = expected.strip_prefix(WITH_LAYOUTS);
            let expected = with_layouts.unwrap_or(expected);
            let wanted: Vec<&str> = expected.split(' ').filter(|&code| code != "fine").collect();
            assert!(wanted.iter().all(|code| Code::from_text(code).is_some_and(Code::is_rule)), "{expected}");
            let found = codes(case, with_layouts.is_some());
            if found.as_ref() != Ok(&wanted) {
                writeln!(faults, "{}:{line}: {found:?} instead of {expected}\n{case}", path.display())
                    .expect("strings take everything");
            }
            cases += 1;
            line += case.lines().count() + 1;
        }
    }
    assert!(faults.is_empty(), "{faults}");
    assert!(cases > 300, "only {cases} cases were found");
}
