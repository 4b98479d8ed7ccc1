//! `hlo-check explain CODE|KEY`.

use std::io;

use super::Streams;
use super::options::{Syntax, Words};

pub(super) const SYNTAX: Syntax = Syntax {
    operands: "CODE|PASS|@PIPELINE",
    words: Words::Topics,
    options: &[],
    about: "Explains a diagnostic code (HLO0001 or 1 and so on; `all` explains every one; NCC_OPT001 and others of the original), a pass or a pipeline.",
    notes: "Example: hlo-check explain HLO0008",
};

/// Explains a diagnostic code or a pass.
pub(super) fn run(command: &str, args: &[String], streams: &mut Streams<'_>) -> io::Result<u8> {
    let given = match SYNTAX.read(command, args, streams)? {
        Ok(given) => given,
        Err(status) => return Ok(status),
    };
    match given.operands[..] {
        [topic] => crate::explain::run(topic, streams.out, streams.err),
        _ => SYNTAX.misused(command, "one code or pass is explained at a time", streams),
    }
}
