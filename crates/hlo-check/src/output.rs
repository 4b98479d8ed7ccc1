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

/// A module of which it is sure that it can be written.
pub(crate) enum Prepared<'m> {
    /// As text, which is made while it is written.
    Text(&'m Module, &'m OutputOptions),
    /// As these bytes, which may be compressed while they are written.
    Bytes(Vec<u8>, &'m OutputOptions),
    /// As these bytes, to the last one.
    Done(Vec<u8>),
}

/// Prepares the writing of `module`, which came from `source` if that is a protocol buffer; gives what is to be said of
/// it, too.
///
/// # Errors
/// The module can't be written in this form.
pub(crate) fn prepare<'m>(
    module: &'m Module,
    source: Option<&Source<'_>>,
    options: &'m OutputOptions,
) -> Result<(Prepared<'m>, Vec<Diagnostic>), Box<Diagnostic>> {
    match options.format {
        Format::Hlo => Ok((Prepared::Text(module, options), Vec::new())),
        Format::Proto(encoding) => {
            let (bytes, warnings) = proto_bytes(module, source, options, encoding)?;
            Ok((Prepared::Bytes(bytes, options), warnings))
        }
    }
}

impl Prepared<'_> {
    /// It as it will be written, which then takes no more work.
    ///
    /// # Errors
    /// Those of compressing.
    pub(crate) fn in_memory(self) -> io::Result<Self> {
        let mut bytes = Vec::new();
        self.write_to(&mut bytes)?;
        Ok(Self::Done(bytes))
    }

    /// Writes it.
    ///
    /// # Errors
    /// Those of the writer.
    pub(crate) fn write_to(&self, mut out: impl Write) -> io::Result<()> {
        match self {
            Self::Text(_, options) | Self::Bytes(_, options) if options.compressed => {}
            _ => return self.write_uncompressed(out),
        }
        // No time and no name: the same module gives the same bytes.
        let mut encoder = GzEncoder::new(&mut out, Compression::default());
        self.write_uncompressed(&mut encoder)?;
        encoder.finish()?;
        Ok(())
    }

    fn write_uncompressed(&self, mut out: impl Write) -> io::Result<()> {
        match self {
            Self::Text(module, options) => module.write_to(out, &options.print),
            Self::Bytes(bytes, _) | Self::Done(bytes) => out.write_all(bytes),
        }
    }
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
