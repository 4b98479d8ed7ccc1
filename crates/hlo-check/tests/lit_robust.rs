//! Whatever stands in a test file, reading it ends with a result or a message.

use std::path::PathBuf;

use hlo_check::lit::boolean_expr::{BooleanExpr, Features};
use hlo_check::lit::directives;
use hlo_check::lit::shell::parser;
use hlo_check::lit::substitution::{Substitutions, TestPaths};

const PIECES: [&str; 44] = [
    "RUN:",
    "XFAIL:",
    "REQUIRES:",
    "DEFINE:",
    "REDEFINE:",
    "UNSUPPORTED:",
    "ALLOW_RETRIES:",
    "END.",
    "%",
    "%%",
    "%s",
    "%t",
    "%{",
    "%}",
    "%if ",
    "%else",
    "%(line",
    "+1)",
    "%{x}",
    " = ",
    "\\\n",
    "\n",
    "\r",
    "|",
    "||",
    "&&",
    "&",
    ";",
    "<",
    ">",
    "2>&1",
    ">>",
    "'",
    "\"",
    "\\",
    "*",
    "[",
    "{{",
    "}}",
    "(",
    "!",
    "a",
    " ",
    "\u{e9}",
];

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as usize % bound
    }

    fn text(&mut self, longest: usize) -> String {
        let length = self.below(longest);
        (0..length).map(|_| PIECES[self.below(PIECES.len())]).collect()
    }
}

#[test]
fn random_files() {
    let paths = TestPaths {
        source: PathBuf::from("/s/a"),
        temp_dir: PathBuf::from("/o"),
        temp_base: PathBuf::from("/o/a"),
    };
    let features: Features = ["a".to_owned()].into_iter().collect();
    let mut random = Random(7);
    let (mut scripts, mut lines, mut trees, mut conditions) = (0, 0, 0, 0);
    for _ in 0..10_000 {
        let text = random.text(30);
        scripts += usize::from(directives::parse(text.as_bytes()).is_ok());
        let line = random.text(14);
        if let Ok(line) = Substitutions::new(&[], &paths, &features, Some(3)).apply(&line) {
            lines += 1;
            trees += usize::from(parser::parse(&line, random.below(2) == 0).is_ok());
        }
        conditions += usize::from(BooleanExpr::parse(&random.text(6)).is_ok());
    }
    // The generator is of use only if much of what it makes is read to the end.
    for (what, count) in
        [("scripts", scripts), ("lines", lines), ("trees", trees), ("conditions", conditions)]
    {
        assert!(count > 100, "{what}: {count}");
    }
}

#[test]
fn random_bytes() {
    let mut random = Random(9);
    for _ in 0..5_000 {
        let length = random.below(60);
        let mut bytes: Vec<u8> = (0..length).map(|_| random.below(256) as u8).collect();
        bytes.extend_from_slice(b"RUN:");
        bytes.extend((0..20).map(|_| random.below(256) as u8));
        // Either verdict is fine.
        let _ = directives::parse(&bytes);
    }
}

#[test]
fn a_large_file_is_read_in_one_pass() {
    // A hundred thousand keywords: quadratic reading would not end.
    let text = "RUN: true\n".repeat(100_000);
    let script = directives::parse(text.as_bytes()).unwrap();
    assert_eq!(script.lines.len(), 100_000);
    assert_eq!(script.lines.last().map(|line| line.start_line), Some(100_000));
}
