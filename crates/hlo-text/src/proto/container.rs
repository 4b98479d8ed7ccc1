//! What a module comes wrapped in, told from the content.

use std::borrow::Cow;
use std::io::Read as _;

use super::fault::{Fault, FaultKind, Read};
use super::schema::{hlo_module_proto, hlo_proto, hlo_snapshot};
use super::table::Message;
use super::wire::{Fields, WireType, Writer};
use super::{MAX_PROTO_BYTES, text_format};
use crate::diagnostic::{Code, Diagnostic, Span};

/// The message that holds the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Container {
    /// `HloModuleProto`, the module itself.
    Module,
    /// `HloProto`, as XLA's `--xla_dump_hlo_as_proto` writes it: the module and its buffer assignment.
    HloProto,
    /// `HloSnapshot`: an `HloProto`, arguments and result.
    Snapshot,
}

impl Container {
    pub(super) fn message(self) -> &'static Message {
        match self {
            Container::Module => &hlo_module_proto::MESSAGE,
            Container::HloProto => &hlo_proto::MESSAGE,
            Container::Snapshot => &hlo_snapshot::MESSAGE,
        }
    }

    /// The fields that lead to the module, with their numbers.
    fn path(self) -> &'static [(u32, &'static str)] {
        match self {
            Container::Module => &[],
            Container::HloProto => &[(hlo_proto::HLO_MODULE, "hlo_module")],
            Container::Snapshot => &[(hlo_snapshot::HLO, "hlo"), (hlo_proto::HLO_MODULE, "hlo_module")],
        }
    }
}

/// How messages are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// The wire format (`.pb`).
    Binary,
    /// Protobuf's text format (`.pbtxt`).
    Text,
}

/// The two bytes a gzip file begins with.
const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];

/// How many times as long as the file its contents can be at most: a block of deflate stands for no more.
const MAX_GZIP_RATIO: usize = 1032;

/// How many bytes behind the last member of a gzip file are shown.
const SHOWN_BYTES: usize = 12;

/// The contents of a gzip file, all members of it; other bytes as they are. Zeros may follow, as on tapes.
///
/// # Errors
/// The file is damaged, something else follows, or its contents are larger than [`MAX_PROTO_BYTES`].
pub fn decompress(bytes: &[u8]) -> Result<Cow<'_, [u8]>, Box<Diagnostic>> {
    unpack(bytes, MAX_PROTO_BYTES)
}

fn unpack(bytes: &[u8], limit: usize) -> Result<Cow<'_, [u8]>, Box<Diagnostic>> {
    if !bytes.starts_with(GZIP_MAGIC) {
        return Ok(Cow::Borrowed(bytes));
    }
    let mut out = Vec::new();
    // Only to grow less often: what the file says may be wrong, and there may be no such memory.
    let _ = out.try_reserve_exact(expected_length(bytes).min(limit));
    let mut rest = bytes;
    while !rest.is_empty() {
        let at = bytes.len() - rest.len();
        if !rest.starts_with(GZIP_MAGIC) {
            if rest.iter().all(|&byte| byte == 0) {
                break;
            }
            return Err(trailing(rest, at));
        }
        let mut member = flate2::bufread::GzDecoder::new(rest);
        // A bit more than the limit, to see that there is more.
        let left = (limit - out.len()) as u64 + 1;
        if let Err(error) = (&mut member).take(left).read_to_end(&mut out) {
            let place =
                if at == 0 { String::new() } else { format!(" in the member that begins at byte {at}") };
            let message = format!("the gzip file is damaged{place}: {error}");
            return Err(Diagnostic::new(Code::BadProto, Span::default(), message).boxed());
        }
        if out.len() > limit {
            let message = format!("the gzip file contains more than {limit} bytes");
            return Err(Diagnostic::new(Code::TooLarge, Span::default(), message).boxed());
        }
        rest = member.into_inner();
    }
    Ok(Cow::Owned(out))
}

/// How many bytes a gzip file says it contains, in its last four; no more than it can. It contains more if it has
/// several members.
fn expected_length(bytes: &[u8]) -> usize {
    let said = bytes.last_chunk().map_or(0, |&length| u32::from_le_bytes(length));
    (said as usize).min(bytes.len().saturating_mul(MAX_GZIP_RATIO))
}

/// What is said of bytes at `at` that are behind the last member of a gzip file.
fn trailing(rest: &[u8], at: usize) -> Box<Diagnostic> {
    let start = &rest[..rest.len().min(SHOWN_BYTES)];
    let is_text = start.iter().all(|&byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace());
    let shown = match is_text {
        true => start.escape_ascii().to_string(),
        false => start.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" "),
    };
    let (bytes, are) = if rest.len() == 1 { ("byte", "is") } else { ("bytes", "are") };
    let more = if start.len() < rest.len() { " ..." } else { "" };
    let message = format!(
        "behind the gzip data, which end at byte {at}, there {are} {} more {bytes} that {are} no gzip data: `{shown}`{more}",
        rest.len()
    );
    let help = format!(
        "if they don't belong to the file, take them off: `head -c {at} FILE`; if they do, they must be compressed, too"
    );
    Diagnostic::new(Code::BadProto, Span::default(), message).help(help).boxed()
}

/// How much of the input is looked at.
const SNIFF_BYTES: usize = 4096;

/// How the protocol buffer in `bytes` is written; `None` if this looks like something else. Gzip files must have been
/// unpacked, see [`decompress`].
pub fn detect(bytes: &[u8]) -> Option<Encoding> {
    let start = &bytes[..bytes.len().min(SNIFF_BYTES)];
    if text_format::starts_message(start) {
        return Some(Encoding::Text);
    }
    let is_control = |byte: &u8| *byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c);
    let text = start.trim_ascii_start();
    let is_text =
        text.starts_with(b"HloModule") || text.starts_with(b"ENTRY") || !start.iter().any(is_control);
    // The usual first fields say enough, so that a file that is cut off is known, too; otherwise it must be a message
    // up to its end.
    let is_usual = matches!(start.first()?, 0x0a | 0x12 | 0x1a | 0x22);
    let is_message = || Fields::new(bytes).all(|field| field.is_ok());
    (!is_text && (is_usual || is_message())).then_some(Encoding::Binary)
}

/// The largest number of a field of `HloProto` and `HloSnapshot`.
const LAST_WRAPPER_FIELD: u32 = 4;

/// The value of the first field with the number 1 if it is a message, that is, no text.
fn wrapped(bytes: &[u8]) -> Option<&[u8]> {
    // Whatever comes behind a fault doesn't matter.
    let first = Fields::new(bytes).map_while(Result::ok).find(|field| field.number == 1)?;
    let is_name = std::str::from_utf8(first.bytes).is_ok_and(|text| !text.chars().any(char::is_control));
    (first.wire_type == WireType::Bytes && !is_name && begins_message(first.bytes)).then_some(first.bytes)
}

/// Whether `bytes` can be a module or what a module is wrapped in: those begin with texts and messages, or with fields of
/// newer versions. Names may hold any byte.
fn begins_message(bytes: &[u8]) -> bool {
    let is_known = |number| hlo_module_proto::MESSAGE.field(number).is_some();
    let first = Fields::new(bytes).next();
    first.is_none_or(|field| {
        field.is_ok_and(|field| field.wire_type == WireType::Bytes || !is_known(field.number))
    })
}

/// What the binary message in `bytes` is. The first field of a module is its name, that of the others a message; and
/// only a module has many fields.
pub(super) fn container_of(bytes: &[u8]) -> Container {
    let is_of_module =
        |number| number > LAST_WRAPPER_FIELD && hlo_module_proto::MESSAGE.field(number).is_some();
    if Fields::new(bytes).map_while(Result::ok).any(|field| is_of_module(field.number)) {
        return Container::Module;
    }
    match wrapped(bytes) {
        None => Container::Module,
        Some(inner) if wrapped(inner).is_none() => Container::HloProto,
        Some(_) => Container::Snapshot,
    }
}

/// Where in the message in `bytes` the module is.
pub(super) fn module_range(bytes: &[u8], container: Container) -> Read<std::ops::Range<usize>> {
    let mut range = 0..bytes.len();
    for &(number, name) in container.path() {
        let mut found = None;
        let mut fields = Fields::new(&bytes[range.clone()]);
        while let Some(field) = fields.next() {
            let field = field?;
            if field.number == number {
                let end = range.start + fields.position();
                found = Some(end - field.bytes()?.len()..end);
            }
        }
        range = found.ok_or_else(|| Fault::new(FaultKind::Malformed, format!("there is no `{name}`")))?;
    }
    Ok(range)
}

/// The message in `bytes` with another module in it.
pub(super) fn replace_module(bytes: &[u8], container: Container, module: Vec<u8>) -> Vec<u8> {
    replace(bytes, container.path(), module)
}

fn replace(bytes: &[u8], path: &[(u32, &'static str)], module: Vec<u8>) -> Vec<u8> {
    let Some((&(number, _), rest)) = path.split_first() else { return module };
    let fields: Vec<_> = Fields::new(bytes).map_while(Result::ok).collect();
    let last = fields.iter().rposition(|field| field.number == number);
    let mut module = Some(module);
    let mut w = Writer::default();
    for (at, field) in fields.iter().enumerate() {
        match module.take_if(|_| Some(at) == last) {
            Some(module) => w.always_bytes(number, &replace(field.bytes, rest, module)),
            None => w.out.extend_from_slice(field.raw),
        }
    }
    w.out
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("memory takes everything")
    }

    fn fault(bytes: &[u8]) -> Diagnostic {
        *decompress(bytes).expect_err("not in order")
    }

    #[test]
    fn members_follow_each_other_and_zeros_the_last_one() {
        let both = [gzip(b"Hlo"), gzip(b""), gzip(b"Module"), vec![0; 512]].concat();
        assert_eq!(decompress(&both).expect("in order").as_ref(), b"HloModule");
        assert_eq!(decompress(b"\x1e\x8b").expect("no gzip file").as_ref(), b"\x1e\x8b");
    }

    #[test]
    fn what_follows_is_named() {
        let packed = gzip(b"HloModule m");
        let at = packed.len();
        let text = fault(&[&packed[..], b"HloModule twice\n"].concat());
        assert_eq!(
            text.message,
            format!(
                "behind the gzip data, which end at byte {at}, there are 16 more bytes that are no gzip data: \
                 `HloModule tw` ..."
            )
        );
        assert!(text.help.is_some_and(|help| help.contains(&format!("`head -c {at} FILE`"))));
        let binary = fault(&[&packed[..], &[0, 0, 7]].concat());
        assert!(
            binary.message.ends_with("there are 3 more bytes that are no gzip data: `00 00 07`"),
            "{binary:?}"
        );
        let one = fault(&[&packed[..], b"\n"].concat());
        assert!(one.message.ends_with(r"there is 1 more byte that is no gzip data: `\n`"), "{one:?}");
        // A member that is cut off is damaged.
        let cut = fault(&[&packed[..], &packed[..at - 9]].concat());
        let place = format!("the gzip file is damaged in the member that begins at byte {at}: ");
        assert!(cut.message.starts_with(&place), "{cut:?}");
        assert!(fault(&packed[..at - 1]).message.starts_with("the gzip file is damaged: "));
    }

    #[test]
    fn unpacking_ends_at_the_limit() {
        let packed = gzip(&[b' '; 1000]);
        assert_eq!(unpack(&packed, 1000).map(|bytes| bytes.len()).ok(), Some(1000));
        let members = [gzip(&[b' '; 600]), gzip(&[b' '; 600])].concat();
        for bytes in [packed, members] {
            let fault = unpack(&bytes, 999).expect_err("too long");
            assert_eq!(
                (fault.code, &*fault.message),
                (Code::TooLarge, "the gzip file contains more than 999 bytes")
            );
        }
    }

    #[test]
    fn the_length_a_file_claims_costs_nothing() {
        let mut packed = gzip(&[b' '; 100_000]);
        assert_eq!(decompress(&packed).map(|bytes| bytes.into_owned().capacity()).ok(), Some(100_000));
        let at = packed.len() - 1;
        packed[at] = 0x7f;
        assert!(expected_length(&packed) <= packed.len() * MAX_GZIP_RATIO);
    }
}
