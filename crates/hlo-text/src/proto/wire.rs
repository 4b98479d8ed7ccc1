//! The wire format of protocol buffers: keys, varints and length-delimited pieces.
//!
//! Reading borrows: a value is a slice of the input, so that strings and literals are copied once, into the IR.
//! What is unknown can be copied from its own bytes.

use std::fmt;

use super::fault::{Fault, FaultKind, Read};

/// How deeply groups, which only unknown fields can be, may be nested.
const MAX_GROUP_NESTING: usize = 100;

/// A varint has at most this many bytes.
const MAX_VARINT_BYTES: usize = 10;

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WireType {
    Varint = 0,
    Fixed64 = 1,
    Bytes = 2,
    Group = 3,
    Fixed32 = 5,
}

impl fmt::Display for WireType {
    /// As messages call it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            WireType::Varint => "a varint",
            WireType::Fixed64 => "8 bytes",
            WireType::Bytes => "bytes with a length",
            WireType::Group => "a group",
            WireType::Fixed32 => "4 bytes",
        })
    }
}

/// A field of a message: its number and value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field<'b> {
    pub(crate) number: u32,
    pub(crate) wire_type: WireType,
    /// The number of varints and fixed-width values.
    pub(crate) bits: u64,
    /// What is in length-delimited values.
    pub(crate) bytes: &'b [u8],
    /// All of the field, key included.
    pub(crate) raw: &'b [u8],
}

/// The fields of a message, in the order they are written.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Fields<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Where the next field begins.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    #[inline]
    fn varint(&mut self) -> Read<u64> {
        // Nearly all are one byte.
        if let Some(&byte) = self.bytes.get(self.at)
            && byte < 0x80
        {
            self.at += 1;
            return Ok(u64::from(byte));
        }
        let (value, length) = read_varint(&self.bytes[self.at.min(self.bytes.len())..])?;
        self.at += length;
        Ok(value)
    }

    #[inline]
    fn take(&mut self, length: u64) -> Read<&'b [u8]> {
        let rest = &self.bytes[self.at..];
        let taken = usize::try_from(length)
            .ok()
            .and_then(|length| rest.get(..length))
            .ok_or_else(|| too_few_bytes(length, rest.len()))?;
        self.at += taken.len();
        Ok(taken)
    }

    // Inlined so that fields are made where they are used: they are too large to be handed over cheaply.
    #[inline(always)]
    fn next_field(&mut self) -> Read<Field<'b>> {
        let start = self.at;
        let key = self.varint()?;
        let number = u32::try_from(key >> 3).ok().filter(|&number| number != 0 && number < 1 << 29);
        let number = number.ok_or_else(|| no_field_number(key >> 3))?;
        let (mut bits, mut bytes): (u64, &[u8]) = (0, &[]);
        let wire_type = match key & 7 {
            0 => {
                bits = self.varint()?;
                WireType::Varint
            }
            1 => {
                bits = le_bits(self.take(8)?);
                WireType::Fixed64
            }
            2 => {
                let length = self.varint()?;
                bytes = self.take(length)?;
                WireType::Bytes
            }
            3 => {
                self.skip_group(number)?;
                WireType::Group
            }
            5 => {
                bits = le_bits(self.take(4)?);
                WireType::Fixed32
            }
            other => return Err(no_wire_type(number, other)),
        };
        Ok(Field { number, wire_type, bits, bytes, raw: &self.bytes[start..self.at] })
    }

    /// Passes over a group up to its end.
    fn skip_group(&mut self, number: u32) -> Read<()> {
        let mut open = vec![number];
        while let Some(&innermost) = open.last() {
            let key = self.varint()?;
            match key & 7 {
                0 => drop(self.varint()?),
                1 => drop(self.take(8)?),
                2 => {
                    let length = self.varint()?;
                    self.take(length)?;
                }
                3 if open.len() < MAX_GROUP_NESTING => open.push((key >> 3) as u32),
                3 => {
                    let message = format!("groups are nested more than {MAX_GROUP_NESTING} levels deep");
                    return Err(Fault::new(FaultKind::TooDeep, message));
                }
                4 if key >> 3 == u64::from(innermost) => drop(open.pop()),
                5 => drop(self.take(4)?),
                _ => {
                    let message = format!("the group {innermost} is not closed");
                    return Err(Fault::new(FaultKind::Malformed, message));
                }
            }
        }
        Ok(())
    }
}

impl<'b> Iterator for Fields<'b> {
    type Item = Read<Field<'b>>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.bytes.len() {
            return None;
        }
        let start = self.at;
        let field = self.next_field();
        if field.is_err() {
            self.at = self.bytes.len();
            return Some(field.map_err(|fault| fault.at_byte(start)));
        }
        Some(field)
    }
}

#[cold]
fn no_field_number(number: u64) -> Box<Fault> {
    Fault::new(FaultKind::Malformed, format!("{number} is no field number"))
}

#[cold]
fn no_wire_type(number: u32, wire_type: u64) -> Box<Fault> {
    let message = format!("field {number} has wire type {wire_type}, which there isn't");
    Fault::new(FaultKind::Malformed, message)
}

#[cold]
fn too_few_bytes(length: u64, left: usize) -> Box<Fault> {
    Fault::new(FaultKind::Malformed, format!("{length} bytes are announced, but {left} are left"))
}

fn le_bits(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte))
}

/// The varint at the start of `bytes`, and its length.
fn read_varint(bytes: &[u8]) -> Read<(u64, usize)> {
    let mut value = 0u64;
    for (index, &byte) in bytes.iter().take(MAX_VARINT_BYTES).enumerate() {
        value |= u64::from(byte & 0x7f).wrapping_shl(7 * index as u32);
        if byte < 0x80 {
            return Ok((value, index + 1));
        }
    }
    let message = match bytes.len() < MAX_VARINT_BYTES {
        true => "the input ends within a number".to_owned(),
        false => format!("a number has more than {MAX_VARINT_BYTES} bytes"),
    };
    Err(Fault::new(FaultKind::Malformed, message))
}

impl<'b> Field<'b> {
    fn mismatch(&self, wanted: WireType) -> Box<Fault> {
        Fault::new(
            FaultKind::Malformed,
            format!("field {} is written as {}, not as {wanted}", self.number, self.wire_type),
        )
    }

    /// The number in a varint.
    #[inline]
    pub(crate) fn varint(&self) -> Read<u64> {
        if self.wire_type == WireType::Varint { Ok(self.bits) } else { Err(self.mismatch(WireType::Varint)) }
    }

    /// An `int64`.
    #[inline]
    pub(crate) fn int64(&self) -> Read<i64> {
        self.varint().map(|bits| bits as i64)
    }

    /// An `int32` or an enumeration; longer numbers are cut off, as protobuf does.
    #[inline]
    pub(crate) fn int32(&self) -> Read<i32> {
        self.varint().map(|bits| bits as i32)
    }

    /// A `bool`.
    #[inline]
    pub(crate) fn bool(&self) -> Read<bool> {
        self.varint().map(|bits| bits != 0)
    }

    /// A `float`.
    pub(crate) fn float(&self) -> Read<f32> {
        match self.wire_type {
            WireType::Fixed32 => Ok(f32::from_bits(self.bits as u32)),
            _ => Err(self.mismatch(WireType::Fixed32)),
        }
    }

    /// A `double`.
    pub(crate) fn double(&self) -> Read<f64> {
        match self.wire_type {
            WireType::Fixed64 => Ok(f64::from_bits(self.bits)),
            _ => Err(self.mismatch(WireType::Fixed64)),
        }
    }

    /// `string`, `bytes`, or a message.
    #[inline]
    pub(crate) fn bytes(&self) -> Read<&'b [u8]> {
        if self.wire_type == WireType::Bytes { Ok(self.bytes) } else { Err(self.mismatch(WireType::Bytes)) }
    }

    /// Calls `visit` for each number of a repeated field of integers, packed or not.
    pub(crate) fn varints(&self, mut visit: impl FnMut(u64)) -> Read<()> {
        if self.wire_type != WireType::Bytes {
            visit(self.varint()?);
            return Ok(());
        }
        let mut packed = Fields::new(self.bytes);
        while packed.at < packed.bytes.len() {
            visit(packed.varint()?);
        }
        Ok(())
    }

    /// Adds the numbers of a repeated field of `int64`, packed or not.
    pub(crate) fn int64s(&self, list: &mut Vec<i64>) -> Read<()> {
        self.varints(|bits| list.push(bits as i64))
    }

    /// Adds the flags of a repeated field of `bool`, packed or not.
    pub(crate) fn bools(&self, list: &mut Vec<bool>) -> Read<()> {
        self.varints(|bits| list.push(bits != 0))
    }
}

/// The number of varints in `bytes`, which are packed; more than there are if the last one is not complete.
pub(crate) fn count_varints(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte < 0x80).count()
        + usize::from(bytes.last().is_some_and(|&byte| byte >= 0x80))
}

/// Appends a varint.
#[inline]
pub(crate) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn put_key(out: &mut Vec<u8>, number: u32, wire_type: WireType) {
    put_varint(out, u64::from(number) << 3 | wire_type as u64);
}

/// Appends fields to a message. Fields with the value that is not written in proto3 (0, false, empty) are left out
/// by the methods whose names don't say otherwise.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    pub(crate) out: Vec<u8>,
}

impl Writer {
    /// An integer, an enumeration or a flag.
    pub(crate) fn int(&mut self, number: u32, value: i64) {
        if value != 0 {
            self.always_int(number, value);
        }
    }

    /// An integer, even if it is 0.
    pub(crate) fn always_int(&mut self, number: u32, value: i64) {
        put_key(&mut self.out, number, WireType::Varint);
        put_varint(&mut self.out, value as u64);
    }

    /// A flag.
    pub(crate) fn bool(&mut self, number: u32, value: bool) {
        self.int(number, i64::from(value));
    }

    /// A `float`.
    pub(crate) fn float(&mut self, number: u32, value: f32) {
        if value.to_bits() != 0 {
            self.fixed32(number, value.to_bits());
        }
    }

    /// A `double`.
    pub(crate) fn double(&mut self, number: u32, value: f64) {
        if value.to_bits() != 0 {
            self.fixed64(number, value.to_bits());
        }
    }

    /// 4 bytes, whatever they are.
    pub(crate) fn fixed32(&mut self, number: u32, bits: u32) {
        put_key(&mut self.out, number, WireType::Fixed32);
        self.out.extend_from_slice(&bits.to_le_bytes());
    }

    /// 8 bytes, whatever they are.
    pub(crate) fn fixed64(&mut self, number: u32, bits: u64) {
        put_key(&mut self.out, number, WireType::Fixed64);
        self.out.extend_from_slice(&bits.to_le_bytes());
    }

    /// `string` or `bytes`.
    pub(crate) fn bytes(&mut self, number: u32, value: &[u8]) {
        if !value.is_empty() {
            self.always_bytes(number, value);
        }
    }

    /// `string`, `bytes`, or a finished message, even if it is empty.
    pub(crate) fn always_bytes(&mut self, number: u32, value: &[u8]) {
        put_key(&mut self.out, number, WireType::Bytes);
        put_varint(&mut self.out, value.len() as u64);
        self.out.extend_from_slice(value);
    }

    /// A message, even if it is empty; `write` appends its fields.
    pub(crate) fn message(&mut self, number: u32, write: impl FnOnce(&mut Self)) {
        put_key(&mut self.out, number, WireType::Bytes);
        self.delimited(write);
    }

    /// The length of what `write` appends, and that.
    fn delimited(&mut self, write: impl FnOnce(&mut Self)) {
        let start = self.out.len();
        // Most messages are short: one byte is kept for the length, and more are inserted where they are needed.
        self.out.push(0);
        write(self);
        let length = self.out.len() - start - 1;
        if length < 0x80 {
            self.out[start] = length as u8;
            return;
        }
        let mut prefix = Vec::with_capacity(MAX_VARINT_BYTES);
        put_varint(&mut prefix, length as u64);
        self.out.splice(start..=start, prefix);
    }

    /// Packed integers.
    pub(crate) fn ints(&mut self, number: u32, values: impl IntoIterator<Item = i64>) {
        let mut values = values.into_iter().peekable();
        if values.peek().is_some() {
            self.message(number, |w| values.for_each(|value| put_varint(&mut w.out, value as u64)));
        }
    }

    /// Packed flags.
    pub(crate) fn bools(&mut self, number: u32, values: &[bool]) {
        self.ints(number, values.iter().map(|&value| i64::from(value)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(bytes: &[u8]) -> Read<Vec<Field<'_>>> {
        Fields::new(bytes).collect()
    }

    #[test]
    fn what_is_written_can_be_read() {
        let mut writer = Writer::default();
        writer.int(1, -1);
        writer.int(2, 0);
        writer.always_int(3, 0);
        writer.message(4, |w| w.bytes(1, &[7; 300]));
        writer.ints(6, [1, 300]);
        writer.double(7, -0.0);
        writer.float(8, 1.5);
        let fields = fields(&writer.out).expect("well formed");
        let numbers: Vec<u32> = fields.iter().map(|field| field.number).collect();
        assert_eq!(numbers, [1, 3, 4, 6, 7, 8]);
        assert_eq!(fields[0].int64().ok(), Some(-1));
        assert_eq!(fields[2].bytes().map(<[u8]>::len).ok(), Some(303));
        let mut ints = Vec::new();
        assert!(fields[3].int64s(&mut ints).is_ok());
        assert_eq!(ints, [1, 300]);
        assert_eq!(fields[4].double().map(f64::to_bits).ok(), Some((-0.0f64).to_bits()));
        assert_eq!(fields[5].float().ok(), Some(1.5));
        assert_eq!(fields.iter().map(|field| field.raw.len()).sum::<usize>(), writer.out.len());
        assert!(fields[0].bytes().is_err() && fields[2].int64().is_err());
    }

    #[test]
    fn groups_are_passed_over_as_a_whole() {
        // Group 9 with a varint and a group in it, then field 1.
        let bytes = [0x4b, 0x08, 0x01, 0x53, 0x54, 0x4c, 0x08, 0x05];
        let fields = fields(&bytes).expect("well formed");
        assert_eq!((fields[0].number, fields[0].raw.len(), fields[1].number), (9, 6, 1));
        let mut deep = [0x4b; 200].to_vec();
        deep.extend([0x4c; 200]);
        assert_eq!(self::fields(&deep).err().map(|fault| fault.kind), Some(FaultKind::TooDeep));
    }

    #[test]
    fn malformed_bytes_are_refused() {
        for bytes in [
            &[0x08][..],
            &[0x08, 0x80],
            &[0x0a, 0x05, 0x01],
            &[0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
            &[0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
            &[0x00, 0x01],
            &[0x0c],
            &[0x0e],
            &[0x4b, 0x54],
            &[0x4b],
            &[0x0d, 0x01],
            &[0x09, 0x01],
        ] {
            assert_eq!(fields(bytes).err().map(|fault| fault.kind), Some(FaultKind::Malformed), "{bytes:?}");
        }
    }
}
