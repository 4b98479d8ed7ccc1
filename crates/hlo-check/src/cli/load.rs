//! Reading modules for subcommands.

use std::io;

use hlo_text::{ParseOptions, Parsed};

use super::{Streams, exit};
use crate::input::{self, Input};
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

/// Reads a module, in whatever form it is; the exit status if it can't be, which has been explained then.
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
    match input::read(&bytes, None, options) {
        Ok(Input { module, warnings, source_map, .. }) => Ok(Ok(Parsed { module, warnings, source_map })),
        Err(mut refused) => {
            crate::pasted::advise(&mut refused.diagnostics, &bytes, path);
            let source = refused.source(display_name(path));
            for diagnostic in &refused.diagnostics {
                let text = diagnostic_text(diagnostic, source, format, false);
                streams.err.write_all(text.as_bytes())?;
            }
            Ok(Err(exit::PARSE))
        }
    }
}
