//! `hlo-check explain CODE|KEY`.

use std::io;

use super::{Streams, exit};

/// Explains a diagnostic code or a pass.
pub(super) fn run(command: &str, args: &[String], streams: &mut Streams<'_>) -> io::Result<u8> {
    let [topic] = args else {
        writeln!(
            streams.err,
            "usage: {command} CODE|PASS\n\nCODE is a diagnostic's, HLO0001 and so on; `all` explains every one."
        )?;
        return Ok(exit::USAGE);
    };
    crate::explain::run(topic, streams.out, streams.err)
}
