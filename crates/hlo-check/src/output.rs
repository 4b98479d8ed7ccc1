//! Writing modules, in whatever form.

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use hlo_text::diagnostic::Diagnostic;
use hlo_text::proto::{self, Container, Encoding, Source};
use hlo_text::{Module, PrintOptions};

use crate::input::Format;

/// How modules are written.
#[derive(Clone, Debug)]
pub struct OutputOptions {
    /// In which form.
    pub format: Format,
    /// Whether the result is compressed.
    pub compressed: bool,
    /// How texts are printed.
    pub print: PrintOptions,
    /// Whether protocol buffers are put back into what they came in, an `HloProto` for instance.
    pub keep_container: bool,
}

/// Writes `module`, which came from `source` if that is a protocol buffer; gives what is to be said of it.
///
/// # Errors
/// Those of the writer; within, that the module can't be written in this form.
pub fn write(
    module: &Module,
    source: Option<&Source<'_>>,
    options: &OutputOptions,
    mut out: impl Write,
) -> io::Result<Result<Vec<Diagnostic>, Box<Diagnostic>>> {
    let (bytes, warnings) = match options.format {
        Format::Hlo if !options.compressed => {
            module.write_to(out, &options.print)?;
            return Ok(Ok(Vec::new()));
        }
        Format::Hlo => {
            let mut text = Vec::new();
            module.write_to(&mut text, &options.print)?;
            (text, Vec::new())
        }
        Format::Proto(encoding) => match proto_bytes(module, source, options, encoding) {
            Ok(written) => written,
            Err(error) => return Ok(Err(error)),
        },
    };
    if options.compressed {
        // No time and no name: the same module gives the same bytes.
        let mut encoder = GzEncoder::new(&mut out, Compression::default());
        encoder.write_all(&bytes)?;
        encoder.finish()?;
    } else {
        out.write_all(&bytes)?;
    }
    Ok(Ok(warnings))
}

fn proto_bytes(
    module: &Module,
    source: Option<&Source<'_>>,
    options: &OutputOptions,
    encoding: Encoding,
) -> Result<(Vec<u8>, Vec<Diagnostic>), Box<Diagnostic>> {
    let (bytes, container, warnings) = message(module, source, options)?;
    let bytes = match encoding {
        Encoding::Binary => bytes,
        Encoding::Text => proto::to_text(&bytes, container)?.into_bytes(),
    };
    Ok((bytes, warnings))
}

/// The message that is written, what it is, and what is to be said of it.
///
/// # Errors
/// The module can't be written as a protocol buffer.
pub(crate) fn message(
    module: &Module,
    source: Option<&Source<'_>>,
    options: &OutputOptions,
) -> Result<(Vec<u8>, Container, Vec<Diagnostic>), Box<Diagnostic>> {
    let written = proto::write(module, source)?;
    let (bytes, container) = match source {
        Some(source) if options.keep_container => (proto::wrap(written.bytes, source), source.container()),
        _ => (written.bytes, Container::Module),
    };
    Ok((bytes, container, written.warnings))
}
