//! Reading inputs, in whatever form a module comes, and places in them.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::Path;

use hlo_text::diagnostic::{Diagnostic, Rejected, Source};
use hlo_text::ir::InstructionId;
use hlo_text::proto::{self, Encoding};
use hlo_text::{Module, ParseOptions, Parsed, SourceMap, Violation, parse_bytes};

/// A form that a module is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// HLO text.
    Hlo,
    /// A protocol buffer: `HloModuleProto`, `HloProto` or `HloSnapshot`.
    Proto(Encoding),
}

impl Format {
    /// The names of all, as options take them.
    pub const NAMES: &'static str = "hlo, pb or pbtxt";

    /// The format called `name`, also by a usual ending of files.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "hlo" | "txt" | "text" => Self::Hlo,
            "pb" | "proto" | "binary" => Self::Proto(Encoding::Binary),
            "pbtxt" | "prototxt" | "textproto" => Self::Proto(Encoding::Text),
            _ => return None,
        })
    }

    /// The usual ending of files.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Hlo => "hlo",
            Self::Proto(Encoding::Binary) => "pb",
            Self::Proto(Encoding::Text) => "pbtxt",
        }
    }

    /// The format that the name of a file speaks for, and whether the file is compressed (`.pb.gz`).
    pub fn of_path(path: &str) -> (Option<Self>, bool) {
        let path = Path::new(path);
        let ending = |path: &Path| path.extension().and_then(OsStr::to_str).map(str::to_ascii_lowercase);
        let is_compressed = ending(path).as_deref() == Some("gz");
        let name = if is_compressed { path.file_stem().map(Path::new) } else { Some(path) };
        (name.and_then(ending).and_then(|ending| Self::from_name(&ending)), is_compressed)
    }
}

/// A module that has been read, with what belongs beside it.
#[derive(Debug)]
pub struct Input<'b> {
    /// The module.
    pub module: Module,
    /// What is to be said although it was accepted.
    pub warnings: Vec<Diagnostic>,
    /// Where everything is in the text.
    pub source_map: SourceMap,
    /// What it was read from if that is a protocol buffer.
    pub proto: Option<proto::Source<'b>>,
    /// The text, empty if it was none.
    text: Cow<'b, str>,
}

/// An input that can't be read, with what there is to show of it.
#[derive(Debug)]
pub struct Refused<'b> {
    /// Why, at least one.
    pub diagnostics: Vec<Diagnostic>,
    text: Option<Cow<'b, str>>,
}

impl<'b> From<Rejected<'b>> for Refused<'b> {
    fn from(rejected: Rejected<'b>) -> Self {
        Self { diagnostics: rejected.diagnostics, text: Some(rejected.text) }
    }
}

impl Refused<'_> {
    fn into_owned(self) -> Refused<'static> {
        Refused { diagnostics: self.diagnostics, text: self.text.map(|text| Cow::Owned(text.into_owned())) }
    }

    /// What the diagnostics are about, called `name`.
    pub fn source<'t>(&'t self, name: &'t str) -> Source<'t> {
        match &self.text {
            Some(text) => Source::new(name, text),
            None => Source::without_text(name),
        }
    }
}

impl Input<'_> {
    fn into_owned(self) -> Input<'static> {
        Input {
            text: Cow::Owned(self.text.into_owned()),
            proto: self.proto.map(proto::Source::into_owned),
            module: self.module,
            warnings: self.warnings,
            source_map: self.source_map,
        }
    }

    /// What diagnostics are about, called `name`.
    pub fn source<'t>(&'t self, name: &'t str) -> Source<'t> {
        if self.proto.is_some() { Source::without_text(name) } else { Source::new(name, &self.text) }
    }

    /// The violation as a diagnostic about this input. Where there is no text to point into, the message says where.
    pub fn diagnostic(&self, violation: &Violation) -> Diagnostic {
        let mut diagnostic = violation.diagnostic(&self.source_map);
        if self.proto.is_some() {
            let place = |id: InstructionId| {
                let computation = self.module.computation_name(self.module.instruction(id).parent);
                format!("`{}` in `{computation}`", self.module.name_of(id))
            };
            if let Some(id) = violation.instruction {
                diagnostic.message = format!("{}: {}", place(id), diagnostic.message);
            }
        }
        diagnostic
    }
}

/// Reads a module. Which form it has is told from the content unless `format` says it; gzip files are unpacked.
///
/// # Errors
/// Every fault found.
pub fn read<'b>(
    bytes: &'b [u8],
    format: Option<Format>,
    options: &ParseOptions,
) -> Result<Input<'b>, Refused<'b>> {
    let unpacked =
        proto::decompress(bytes).map_err(|error| Refused { diagnostics: vec![*error], text: None })?;
    let format = format.unwrap_or_else(|| match proto::detect(&unpacked) {
        Some(encoding) => Format::Proto(encoding),
        None => Format::Hlo,
    });
    match (unpacked, format) {
        (Cow::Borrowed(bytes), Format::Hlo) => read_text(bytes, options),
        (Cow::Borrowed(bytes), Format::Proto(encoding)) => read_proto(bytes, encoding, options),
        // What was unpacked ends here: nothing may borrow from it.
        (Cow::Owned(bytes), Format::Hlo) => read_owned_text(bytes, options),
        (Cow::Owned(bytes), Format::Proto(encoding)) => {
            read_proto(&bytes, encoding, options).map(Input::into_owned).map_err(Refused::into_owned)
        }
    }
}

fn read_text<'b>(bytes: &'b [u8], options: &ParseOptions) -> Result<Input<'b>, Refused<'b>> {
    let Parsed { module, warnings, source_map } = parse_bytes(bytes, options)?;
    // The bytes have just been read as text.
    Ok(Input { module, warnings, source_map, proto: None, text: String::from_utf8_lossy(bytes) })
}

/// The same of a text that is kept without another copy of it.
fn read_owned_text(bytes: Vec<u8>, options: &ParseOptions) -> Result<Input<'static>, Refused<'static>> {
    let into_text = |bytes| match String::from_utf8(bytes) {
        Ok(text) => Cow::Owned(text),
        Err(error) => Cow::Owned(String::from_utf8_lossy(error.as_bytes()).into_owned()),
    };
    match parse_bytes(&bytes, options) {
        Ok(Parsed { module, warnings, source_map }) => {
            Ok(Input { module, warnings, source_map, proto: None, text: into_text(bytes) })
        }
        Err(Rejected { diagnostics, text }) => {
            // Of bytes that are no text only the beginning is shown.
            let shown = match text {
                Cow::Borrowed(text) if text.len() == bytes.len() => None,
                other => Some(Cow::Owned(other.into_owned())),
            };
            Err(Refused { diagnostics, text: Some(shown.unwrap_or_else(|| into_text(bytes))) })
        }
    }
}

fn read_proto<'b>(
    bytes: &'b [u8],
    encoding: Encoding,
    options: &ParseOptions,
) -> Result<Input<'b>, Refused<'b>> {
    let options = proto::ReadOptions { dialect: options.dialect, encoding: Some(encoding) };
    match proto::read(bytes, &options) {
        Ok(read) => Ok(Input {
            module: read.module,
            warnings: read.warnings,
            source_map: SourceMap::default(),
            proto: Some(read.source),
            text: Cow::Borrowed(""),
        }),
        Err(rejected) => {
            let text = Some(rejected.text).filter(|text| !text.is_empty());
            Err(Refused { diagnostics: rejected.diagnostics, text })
        }
    }
}

/// Line and column of byte `offset` of `text`, both from 1; columns count bytes.
pub fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let line = memchr::memchr_iter(b'\n', before).count() + 1;
    let column = before.len() - memchr::memrchr(b'\n', before).map_or(0, |at| at + 1) + 1;
    (line, column)
}
