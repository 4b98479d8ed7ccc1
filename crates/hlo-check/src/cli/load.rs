//! Reading modules for subcommands.

use std::io;

use hlo_text::diagnostic::Source;
use hlo_text::{ParseOptions, Parsed, parse_bytes};

use super::{Streams, exit};
use crate::opt::{ErrorFormat, diagnostic_text};

/// What messages call a file.
pub(super) fn display_name(path: &str) -> &str {
    if path == "-" { "<stdin>" } else { path }
}

/// The bytes of a file; the exit status if it can't be read, which has been said then.
pub(super) fn bytes(path: &str, streams: &mut Streams<'_>) -> io::Result<Result<Vec<u8>, u8>> {
    match streams.read(path) {
        Ok(bytes) => Ok(Ok(bytes)),
        Err(error) => {
            writeln!(streams.err, "error: can't read {}: {error}", display_name(path))?;
            Ok(Err(exit::USAGE))
        }
    }
}

/// Reads a module; the exit status if it can't be, which has been explained then.
pub(super) fn module(
    path: &str,
    options: &ParseOptions,
    format: ErrorFormat,
    streams: &mut Streams<'_>,
) -> io::Result<Result<Parsed, u8>> {
    let bytes = match bytes(path, streams)? {
        Ok(bytes) => bytes,
        Err(status) => return Ok(Err(status)),
    };
    match parse_bytes(&bytes, options) {
        Ok(parsed) => Ok(Ok(parsed)),
        Err(mut rejected) => {
            crate::pasted::advise(&mut rejected.diagnostics, &bytes, path);
            let source = Source::new(display_name(path), &rejected.text);
            for diagnostic in &rejected.diagnostics {
                let text = diagnostic_text(diagnostic, source, format, false);
                streams.err.write_all(text.as_bytes())?;
            }
            Ok(Err(exit::PARSE))
        }
    }
}
