//! `hlo-check verify FILE...`: reads modules and says which rules of the verifier they break.

use std::io::{self, Write};

use hlo_text::diagnostic::{Diagnostic, Report, Severity, Source};
use hlo_text::{ParseOptions, VerifyOptions, verify};

use super::options::{Syntax, Words, flag};
use super::{Streams, exit};
use crate::input;

pub(super) const SYNTAX: Syntax = Syntax {
    operands: "FILE...",
    words: Words::Files,
    options: &[
        flag("--layout-sensitive", "layouts must fit as well"),
        flag("--allow-mixed-precision", "operands may be floating-point numbers of different widths"),
        flag("--strict", "reads only what XLA reads"),
        flag("--short", "one line for each fault"),
    ],
    about: "Reads modules, text or protocol buffers, and says which rules of XLA's verifier they break; `-` is standard input.",
    notes: "Example: hlo-check verify --short model.hlo\n\
            Exit status: 0 all are valid, 2 wrong usage or unreadable file, 3 no HLO, 4 invalid module.",
};

/// Checks files.
pub(super) fn run(command: &str, args: &[String], streams: &mut Streams<'_>) -> io::Result<u8> {
    let given = match SYNTAX.read_some(command, args, "file", streams)? {
        Ok(given) => given,
        Err(status) => return Ok(status),
    };
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
    let write = |diagnostics: &[Diagnostic], source: Source<'_>, out: &mut dyn Write| {
        diagnostics.iter().try_for_each(|diagnostic| {
            let report = Report::new(diagnostic, source);
            let text = if short { report.render_short() } else { report.render(false) };
            out.write_all(text.as_bytes())
        })
    };
    let (diagnostics, fault): (Vec<Diagnostic>, u8) = match input::read(bytes, None, parse) {
        Ok(input) => {
            let violations = verify(&input.module, rules);
            let diagnostics: Vec<_> =
                violations.iter().map(|violation| input.diagnostic(violation)).collect();
            write(&diagnostics, input.source(name), out)?;
            (diagnostics, exit::VERIFY)
        }
        Err(mut refused) => {
            crate::pasted::advise(&mut refused.diagnostics, bytes, name);
            write(&refused.diagnostics, refused.source(name), out)?;
            (refused.diagnostics, exit::PARSE)
        }
    };
    let is_bad = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    Ok(if is_bad { fault } else { 0 })
}
