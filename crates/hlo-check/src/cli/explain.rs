//! `hlo-check explain CODE|KEY`.

use std::io;

use super::{Streams, exit};

/// Explains a diagnostic code or a pass.
pub(super) fn run(command: &str, args: &[String], streams: &mut Streams<'_>) -> io::Result<u8> {
    let usage = format!(
        "usage: {command} CODE|PASS\n\nCODE is a diagnostic's, HLO0001 or 1 and so on; `all` explains every one."
    );
    if super::asks_for_help(args) {
        writeln!(streams.out, "{usage}")?;
        return Ok(0);
    }
    let [topic] = args else {
        writeln!(streams.err, "{usage}")?;
        return Ok(exit::USAGE);
    };
    crate::explain::run(topic, streams.out, streams.err)
}
