//! Modules as protocol buffers: `HloModuleProto` and what it comes wrapped in, binary or as text.
//!
//! ```
//! use hlo_text::{ParseOptions, PrintOptions, parse_module, proto};
//!
//! let text = "HloModule m\n\nENTRY e {\n  ROOT p = f32[2]{0} parameter(0)\n}\n";
//! let module = parse_module(text, &ParseOptions::strict()).unwrap().module;
//! let bytes = proto::write(&module, None).unwrap().bytes;
//! let read = proto::read(&bytes, &proto::ReadOptions::default()).unwrap();
//! assert_eq!(read.module.to_text(&PrintOptions::default()), module.to_text(&PrintOptions::default()));
//! ```
//!
//! The definitions are in `proto/*.proto`, their table in `schema.rs`; names, numbers and what XLA's readers and writers
//! make of the fields are those of XLA as of July 2026 (jaxlib 0.10.2).
//!
//! Messages are read and written by hand on the wire format and not through generated types, for three reasons:
//! generated types drop fields that they don't know, and these have to survive; they would copy each literal and each
//! string into a message of their own before it is copied into the IR; and most messages of a module are repetitions,
//! which are recognised by their bytes here without being decoded.
//!
//! What the IR doesn't hold is kept beside it, in [`Source`].

mod cache;
mod container;
mod fault;
mod forms;
mod losses;
mod merge;
mod physical;
mod read;
#[rustfmt::skip]
#[allow(dead_code, reason = "the table is complete, whether all of it is used or not")]
mod schema;
mod table;
mod text_format;
mod wire;
mod write;

use std::borrow::Cow;

use crate::diagnostic::{Code, Diagnostic, Rejected, Span};
use crate::ir::{ElementType, Module};
use crate::parser::Dialect;
use fault::Fault;
use read::ProtoIds;
use schema::literal_proto;
use wire::Writer;

pub use container::{Container, Encoding, decompress, detect};
pub use losses::{lost_container, lost_in_proto, lost_in_text, lost_in_text_format, without_field};

/// How deeply shapes, literals, shardings and original values may be nested in a protocol buffer. Protobuf's own readers
/// refuse messages that are nested more than 100 deep.
pub const MAX_PROTO_NESTING: usize = 200;

/// The largest protocol buffer: protobuf's own limit.
pub const MAX_PROTO_BYTES: usize = i32::MAX as usize;

/// How a protocol buffer is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions {
    /// Strict reading accepts what XLA does, and prints are XLA's byte for byte. Lenient reading gives names that are
    /// there twice new ones, and prints read back.
    pub dialect: Dialect,
    /// How the input is written; `None`: told from the content.
    pub encoding: Option<Encoding>,
}

/// The protocol buffer that a module was read from. It lies beside the IR: it has what the IR doesn't hold, the ids of
/// instructions, unknown fields and everything that HLO text has no place for. [`write`] puts it back.
#[derive(Clone, Debug)]
pub struct Source<'b> {
    /// The binary form.
    bytes: Cow<'b, [u8]>,
    /// Where the module is.
    module: std::ops::Range<usize>,
    container: Container,
    encoding: Encoding,
    dialect: Dialect,
    ids: ProtoIds,
}

impl Source<'_> {
    /// The whole message in its binary form, as it was read.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What the module was wrapped in.
    pub fn container(&self) -> Container {
        self.container
    }

    /// How it was written.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The same without borrowing from what was read.
    pub fn into_owned(self) -> Source<'static> {
        Source { bytes: Cow::Owned(self.bytes.into_owned()), ..self }
    }
}

/// A module that has been read.
#[derive(Clone, Debug)]
pub struct ProtoModule<'b> {
    /// The module.
    pub module: Module,
    /// Where it comes from.
    pub source: Source<'b>,
    /// What is to be said although it was accepted.
    pub warnings: Vec<Diagnostic>,
}

/// Reads a module from any of the forms [`detect`] knows, gzipped or not. Instructions are in the order of their ids,
/// or of the schedule if there is one, as in XLA.
///
/// # Errors
/// The first fault; its message begins with the path of the field, as in
/// ``computations[0].instructions[3] (`add.4`).operand_ids: ...``.
pub fn read<'b>(bytes: &'b [u8], options: &ReadOptions) -> Result<ProtoModule<'b>, Rejected<'b>> {
    let without_text = |diagnostic| Rejected { diagnostics: vec![diagnostic], text: Cow::Borrowed("") };
    let unpacked = decompress(bytes).map_err(|error| without_text(*error))?;
    let encoding = options.encoding.or_else(|| detect(&unpacked)).unwrap_or(Encoding::Binary);
    let (bytes, container) = match encoding {
        Encoding::Binary => {
            let container = container::container_of(&unpacked);
            (unpacked, container)
        }
        Encoding::Text => {
            let (bytes, container) = from_text(unpacked)?;
            (bytes.into(), container)
        }
    };
    read_binary(bytes, container, encoding, options).map_err(|fault| without_text(fault.into_diagnostic()))
}

fn read_binary<'b>(
    bytes: Cow<'b, [u8]>,
    container: Container,
    encoding: Encoding,
    options: &ReadOptions,
) -> fault::Read<ProtoModule<'b>> {
    if bytes.len() > MAX_PROTO_BYTES {
        let message = format!("the input has {} bytes; the limit is {MAX_PROTO_BYTES}", bytes.len());
        return Err(Fault::new(fault::FaultKind::TooLarge, message));
    }
    let range = container::module_range(&bytes, container)?;
    let read = read::read_module(&bytes[range.clone()], options.dialect)?;
    let warnings = read.repeated_names.first().map(|first| {
        let message = match read.repeated_names.len() {
            1 => format!("the name `{first}` is given twice; the later one gets another name"),
            count => format!(
                "names are given again {count} times, first `{first}`; the later ones get other names"
            ),
        };
        Diagnostic::new(Code::DuplicateInstruction, Span::default(), message).warning()
    });
    let source =
        Source { module: range, container, encoding, dialect: options.dialect, ids: read.ids, bytes };
    Ok(ProtoModule { warnings: warnings.into_iter().collect(), module: read.module, source })
}

/// The binary form of a message in protobuf's text format.
fn from_text(text: Cow<'_, [u8]>) -> Result<(Vec<u8>, Container), Rejected<'_>> {
    let text: Cow<'_, str> = match text {
        Cow::Borrowed(bytes) => crate::diagnostic::decode(bytes)?.into(),
        Cow::Owned(bytes) => match String::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned().into(),
        },
    };
    let container = text_format::container_of(&text);
    match text_format::parse_message(&text, container.message()) {
        Ok(bytes) => Ok((bytes, container)),
        Err((at, fault)) => {
            let mut diagnostic = fault.into_diagnostic();
            diagnostic.primary.span = Span::new(at, at + 1);
            Err(Rejected { diagnostics: vec![diagnostic], text })
        }
    }
}

/// A module that has been written.
#[derive(Clone, Debug)]
pub struct Written {
    /// An `HloModuleProto`; the same for the same module, every time.
    pub bytes: Vec<u8>,
    /// What is to be said of it.
    pub warnings: Vec<Diagnostic>,
}

/// Writes a module as XLA does. `source` is what it was read from, if it was read from a protocol buffer: the module may
/// have been edited since, and what was not keeps every field it had there.
///
/// # Errors
/// The module has more than [`MAX_PROTO_BYTES`], or shapes that are nested deeper than [`MAX_PROTO_NESTING`].
pub fn write(module: &Module, source: Option<&Source<'_>>) -> Result<Written, Box<Diagnostic>> {
    let depths = module.shapes().iter().map(|(id, _)| module.shapes().extent(id).depth as usize);
    if depths.max().is_some_and(|depth| depth > MAX_PROTO_NESTING) {
        let message = format!("shapes are nested more than {MAX_PROTO_NESTING} levels deep");
        return Err(Diagnostic::new(Code::TooDeep, Span::default(), message).boxed());
    }
    let mut elided = Vec::new();
    let bytes = match source {
        Some(source) => {
            let original = &source.bytes[source.module.clone()];
            merge::write_merged(module, original, &source.ids, source.dialect, &mut elided)
        }
        None => {
            let ids = write::AssignedIds::new(module, None);
            let mut encoder = write::Encoder::new(module, &ids);
            let mut w = Writer { out: Vec::with_capacity(encoder.size_estimate().min(MAX_PROTO_BYTES)) };
            let result = encoder.module(&mut w);
            elided.append(&mut encoder.elided);
            result.map(|()| w.out)
        }
    };
    let bytes = bytes.map_err(|fault| Box::new(fault.into_diagnostic()))?;
    if bytes.len() > MAX_PROTO_BYTES {
        let message = format!("the module has {} bytes; the limit is {MAX_PROTO_BYTES}", bytes.len());
        return Err(Diagnostic::new(Code::TooLarge, Span::default(), message).boxed());
    }
    let mut warnings = Vec::new();
    if let Some(&first) = elided.first() {
        let message = format!(
            "the values of {} constant{} are left out (`{{...}}`), the first is `{}`; zeros are written",
            elided.len(),
            if elided.len() == 1 { "" } else { "s" },
            module.name_of(first)
        );
        let help = "print the text with all constants (`print_large_constants`) to have them here";
        warnings.push(Diagnostic::new(Code::ProtoLoss, Span::default(), message).help(help).warning());
    }
    Ok(Written { bytes, warnings })
}

/// Puts a module back into what it was read from, in place of the one that was there: buffer assignments and arguments
/// stay as they are. `module` is what [`write`] gave.
pub fn wrap(module: Vec<u8>, source: &Source<'_>) -> Vec<u8> {
    container::replace_module(&source.bytes, source.container, module)
}

/// A message that holds a module in protobuf's text format.
///
/// # Errors
/// The bytes are none.
pub fn to_text(bytes: &[u8], container: Container) -> Result<String, Box<Diagnostic>> {
    let mut out = Vec::new();
    match text_format::print_message(&mut out, bytes, container.message()) {
        Ok(()) => Ok(String::from_utf8_lossy(&out).into_owned()),
        Err(fault) => Err(Box::new(fault.into_diagnostic())),
    }
}

/// `TUPLE` of `PrimitiveType`.
const TUPLE_TYPE: i32 = 13;

/// `BUFFER` of `PrimitiveType`.
const BUFFER_TYPE: i32 = 34;

/// What a tile dimension `*` is written as.
const COMBINED_TILE: i64 = i64::MIN;

/// A field of `LiteralProto` of our own, a flag: the values were left out where the literal was read, `{...}`, and
/// zeros stand for them. Others pass over it as over every unknown field.
const ELIDED_LITERAL: u32 = 16_001;

/// The field of `LiteralProto` that holds elements of this type.
fn literal_field(element_type: ElementType) -> u32 {
    use ElementType as T;
    use literal_proto as p;
    match element_type {
        T::Pred => p::PREDS,
        T::S1 => p::S1S,
        T::S2 => p::S2S,
        T::S4 => p::S4S,
        T::S8 => p::S8S,
        T::S16 => p::S16S,
        T::S32 => p::S32S,
        T::S64 => p::S64S,
        T::U1 => p::U1S,
        T::U2 => p::U2S,
        T::U4 => p::U4S,
        T::U8 => p::U8S,
        T::U16 => p::U16S,
        T::U32 => p::U32S,
        T::U64 => p::U64S,
        T::F16 => p::F16S,
        T::F32 => p::F32S,
        T::F64 => p::F64S,
        T::Bf16 => p::BF16S,
        T::F4E2M1FN => p::F4E2M1FNS,
        T::F6E2M3FN => p::F6E2M3FNS,
        T::F6E3M2FN => p::F6E3M2FNS,
        T::F8E3M4 => p::F8E3M4S,
        T::F8E4M3 => p::F8E4M3S,
        T::F8E4M3B11FNUZ => p::F8E4M3B11FNUZS,
        T::F8E4M3FN => p::F8E4M3FNS,
        T::F8E4M3FNUZ => p::F8E4M3FNUZS,
        T::F8E5M2 => p::F8E5M2S,
        T::F8E5M2FNUZ => p::F8E5M2FNUZS,
        T::F8E8M0FNU => p::F8E8M0FNUS,
        T::C64 => p::C64S,
        T::C128 => p::C128S,
        // Neither has elements.
        T::Token | T::Opaque => 0,
    }
}

/// The type of an `OpSharding`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ShardingType {
    Replicated = 0,
    Maximal = 1,
    Tuple = 2,
    Other = 3,
    Manual = 4,
    Unknown = 5,
    Unreduced = 6,
}

impl ShardingType {
    fn from_number(number: i32) -> Option<Self> {
        const ALL: [ShardingType; 7] = [
            ShardingType::Replicated,
            ShardingType::Maximal,
            ShardingType::Tuple,
            ShardingType::Other,
            ShardingType::Manual,
            ShardingType::Unknown,
            ShardingType::Unreduced,
        ];
        ALL.get(usize::try_from(number).ok()?).copied()
    }

    /// How summands are combined, by number; sums are not written.
    fn reduction_name(number: i32) -> Option<&'static str> {
        REDUCTIONS.iter().find(|row| row.0 == number).map(|row| row.1)
    }
}

/// `NamedShardingProto.ReductionOpProto` and the words of the text.
const REDUCTIONS: &[(i32, &str)] = &[(1, "max"), (2, "min")];
