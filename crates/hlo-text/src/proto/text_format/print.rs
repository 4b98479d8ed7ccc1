//! From messages to protobuf's text format.

use super::super::fault::{Fault, FaultKind, InField, Read};
use super::super::schema::hlo_instruction_proto;
use super::super::table::{Field, Kind, Message};
use super::super::wire::{self, Fields, WireType};
use super::MAX_DEPTH;

/// Appends the message in `bytes`, one field on a line.
pub(in crate::proto) fn print_message(
    out: &mut Vec<u8>,
    bytes: &[u8],
    message: &'static Message,
) -> Read<()> {
    Printer { out, depth: 0 }.message(bytes, message)
}

struct Printer<'o> {
    out: &'o mut Vec<u8>,
    depth: usize,
}

impl Printer<'_> {
    fn message(&mut self, bytes: &[u8], message: &'static Message) -> Read<()> {
        if self.depth > MAX_DEPTH {
            return Err(Fault::new(
                FaultKind::TooDeep,
                format!("messages are nested more than {MAX_DEPTH} levels deep"),
            ));
        }
        for field in Fields::new(bytes) {
            let field = field?;
            match message.field(field.number) {
                Some(known) if fits(known, field.wire_type) => {
                    self.known(&field, known).within(known.name)?
                }
                _ => self.unknown(&field)?,
            }
        }
        Ok(())
    }

    fn begin(&mut self, name: &str) {
        self.out.resize(self.out.len() + 2 * self.depth, b' ');
        self.out.extend_from_slice(name.as_bytes());
    }

    fn known(&mut self, field: &wire::Field<'_>, known: &'static Field) -> Read<()> {
        if let Some(inner) = known.message() {
            self.begin(known.name);
            self.out.extend_from_slice(b" {\n");
            self.depth += 1;
            let result = self.message(field.bytes, inner);
            self.depth -= 1;
            self.begin("}\n");
            return result;
        }
        if field.wire_type == WireType::Bytes && known.is_packable() {
            let mut result = Ok(());
            each_packed(field.bytes, known.kind, |bits| {
                self.begin(known.name);
                self.out.extend_from_slice(b": ");
                self.scalar(bits, known.kind);
                self.out.push(b'\n');
            })
            .unwrap_or_else(|fault| result = Err(fault));
            return result;
        }
        self.begin(known.name);
        self.out.extend_from_slice(b": ");
        match known.kind {
            Kind::String | Kind::Bytes => quoted(self.out, field.bytes),
            kind => self.scalar(field.bits, kind),
        }
        self.out.push(b'\n');
        Ok(())
    }

    fn scalar(&mut self, bits: u64, kind: Kind) {
        let text = match kind {
            Kind::Bool => (bits != 0).to_string(),
            Kind::Float => float_text(f64::from(f32::from_bits(bits as u32)), f32::from_bits(bits as u32)),
            Kind::Double => float_text(f64::from_bits(bits), f64::from_bits(bits)),
            Kind::Uint64 => bits.to_string(),
            Kind::Uint32 => (bits as u32).to_string(),
            Kind::Int32 => (bits as i32).to_string(),
            Kind::Enum(values) => match values.name_of(bits as i32) {
                Some(name) => name.to_owned(),
                None => (bits as i32).to_string(),
            },
            Kind::Int64 | Kind::String | Kind::Bytes | Kind::Message(_) => (bits as i64).to_string(),
        };
        self.out.extend_from_slice(text.as_bytes());
    }

    /// A field that the table doesn't have, by its number.
    fn unknown(&mut self, field: &wire::Field<'_>) -> Read<()> {
        self.begin(&field.number.to_string());
        match field.wire_type {
            WireType::Varint => self.out.extend_from_slice(format!(": {}", field.bits).as_bytes()),
            WireType::Fixed32 => self.out.extend_from_slice(format!(": 0x{:08x}", field.bits).as_bytes()),
            WireType::Fixed64 => self.out.extend_from_slice(format!(": 0x{:016x}", field.bits).as_bytes()),
            WireType::Bytes => {
                self.out.extend_from_slice(b": ");
                quoted(self.out, field.bytes);
            }
            WireType::Group => {
                let message = format!("field {} is a group, which the text form can't have", field.number);
                return Err(Fault::new(FaultKind::Malformed, message));
            }
        }
        self.out.push(b'\n');
        Ok(())
    }
}

/// Whether a value may be written like this in the field.
fn fits(known: &Field, wire_type: WireType) -> bool {
    let own = match known.kind {
        Kind::Double => WireType::Fixed64,
        Kind::Float => WireType::Fixed32,
        Kind::String | Kind::Bytes | Kind::Message(_) => WireType::Bytes,
        _ => WireType::Varint,
    };
    wire_type == own || (wire_type == WireType::Bytes && known.is_packable())
}

/// Calls `visit` with each of the packed values.
fn each_packed(bytes: &[u8], kind: Kind, mut visit: impl FnMut(u64)) -> Read<()> {
    let width = match kind {
        Kind::Double => 8,
        Kind::Float => 4,
        _ => {
            let field = wire::Field {
                number: hlo_instruction_proto::ID,
                wire_type: WireType::Bytes,
                bits: 0,
                bytes,
                raw: bytes,
            };
            return field.varints(visit);
        }
    };
    if !bytes.len().is_multiple_of(width) {
        return Err(Fault::new(
            FaultKind::Malformed,
            format!("{} bytes are no numbers of {width}", bytes.len()),
        ));
    }
    for chunk in bytes.chunks_exact(width) {
        visit(chunk.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte)));
    }
    Ok(())
}

/// The shortest text that is read as the same number. Bits of NaNs are not kept, as in protobuf.
fn float_text(value: f64, shown: impl std::fmt::Display + std::fmt::LowerExp) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value < 0.0 { "-inf" } else { "inf" }.to_owned();
    }
    let plain = value == 0.0 || (1e-4..1e16).contains(&value.abs());
    if plain { format!("{shown}") } else { exponent_text(&format!("{shown:e}")) }
}

/// `1.5e-7` as C writes it, `1.5e-07`.
fn exponent_text(text: &str) -> String {
    let Some((digits, exponent)) = text.split_once('e') else { return text.to_owned() };
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    format!("{digits}e{sign}{exponent:0>2}")
}

/// Appends `text` in quotes; what is not printable ASCII as octal escapes.
fn quoted(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    for &byte in text {
        match byte {
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'"' => out.extend_from_slice(b"\\\""),
            b'\'' => out.extend_from_slice(b"\\'"),
            b'\\' => out.extend_from_slice(b"\\\\"),
            0x20..0x7f => out.push(byte),
            _ => {
                let digit = |shift: u8| b'0' + (byte >> shift & 7);
                out.extend_from_slice(&[b'\\', digit(6), digit(3), digit(0)]);
            }
        }
    }
    out.push(b'"');
}
