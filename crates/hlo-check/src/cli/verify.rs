//! `hlo-check verify FILE...`: reads modules and says which rules of the verifier they break.

use std::io::{self, Write};

use hlo_text::diagnostic::{Diagnostic, Report, Severity, Source};
use hlo_text::{ParseOptions, VerifyOptions, parse_bytes, verify};

use super::options::{Syntax, Words, flag};
use super::{Streams, exit};

pub(super) const SYNTAX: Syntax = Syntax {
    operands: "FILE...",
    words: Words::Files,
    options: &[
        flag("--layout-sensitive", "layouts must fit as well"),
        flag("--allow-mixed-precision", "operands may be floating-point numbers of different widths"),
        flag("--strict", "reads only what XLA reads"),
        flag("--short", "one line for each fault"),
    ],
    about: "Reads modules and says which rules of XLA's verifier they break; `-` is standard input.",
    notes: "Example: hlo-check verify --short model.hlo\n\
            Exit status: 0 all are valid, 2 wrong usage or unreadable file, 3 not HLO text, 4 invalid module.",
};

/// Checks files.
pub(super) fn run(command: &str, args: &[String], streams: &mut Streams<'_>) -> io::Result<u8> {
    let given = match SYNTAX.read(command, args, streams)? {
        Ok(given) => given,
        Err(status) => return Ok(status),
    };
    if given.operands.is_empty() {
        return SYNTAX.misused(command, "no file is given", streams);
    }
    let parse = if given.has("--strict") { ParseOptions::strict() } else { ParseOptions::default() };
    let rules = VerifyOptions {
        layout_sensitive: given.has("--layout-sensitive"),
        allow_mixed_precision: given.has("--allow-mixed-precision"),
        ..VerifyOptions::default()
    };
    let short = given.has("--short");
    let mut status = 0;
    for &file in &given.operands {
        let own = match streams.read(file) {
            Ok(bytes) => {
                let name = if file == "-" { "<stdin>" } else { file };
                check(name, &bytes, &parse, &rules, short, streams.out)?
            }
            Err(error) => {
                writeln!(streams.err, "error: can't read {file}: {error}")?;
                exit::USAGE
            }
        };
        if status == 0 {
            status = own;
        }
    }
    Ok(status)
}

/// Writes what is to be said of a file; the exit status for it.
fn check(
    name: &str,
    bytes: &[u8],
    parse: &ParseOptions,
    rules: &VerifyOptions,
    short: bool,
    out: &mut dyn Write,
) -> io::Result<u8> {
    let (diagnostics, text, fault): (Vec<Diagnostic>, _, u8) = match parse_bytes(bytes, parse) {
        Ok(parsed) => {
            let violations = verify(&parsed.module, rules).into_iter();
            let found = violations.map(|violation| violation.diagnostic(&parsed.source_map));
            (found.collect(), String::from_utf8_lossy(bytes), exit::VERIFY)
        }
        Err(mut rejected) => {
            crate::pasted::advise(&mut rejected.diagnostics, bytes, name);
            (rejected.diagnostics, rejected.text, exit::PARSE)
        }
    };
    for diagnostic in &diagnostics {
        let report = Report::new(diagnostic, Source::new(name, &text));
        let text = if short { report.render_short() } else { report.render(false) };
        out.write_all(text.as_bytes())?;
    }
    let is_bad = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    Ok(if is_bad { fault } else { 0 })
}
