//! The fast path of dense literals: values straight from the bytes of the text.
//!
//! It handles what is right and plain, with the state of the token loop, and stops before everything else, so
//! that every fault and every oddity is the token loop's.

use super::dense::{Reader, complex_bits, float_bits, integer_bits};
use crate::ir::{ElementClass, ElementType};
use crate::number::{Scanned, scan_number};
use crate::parser::Dialect;

/// How values of one type are stored; each function says whether it could.
trait Sink {
    const IS_COMPLEX: bool = false;

    fn int(&self, bytes: &mut Vec<u8>, value: i64, is_negative: bool) -> bool;

    fn decimal(&self, _bytes: &mut Vec<u8>, _value: f64) -> bool {
        false
    }

    /// `inf`, `-inf`, `nan`
    fn special(&self, _bytes: &mut Vec<u8>, _value: f64) -> bool {
        false
    }

    fn truth(&self, _bytes: &mut Vec<u8>, _value: bool) -> bool {
        false
    }

    fn pair(&self, _bytes: &mut Vec<u8>, _real: Scanned, _imaginary: Scanned) -> bool {
        false
    }
}

struct Pred;

impl Sink for Pred {
    #[inline(always)]
    fn int(&self, bytes: &mut Vec<u8>, value: i64, _is_negative: bool) -> bool {
        bytes.push(u8::from(value != 0));
        true
    }

    fn truth(&self, bytes: &mut Vec<u8>, value: bool) -> bool {
        bytes.push(u8::from(value));
        true
    }
}

struct Integer<const SIZE: usize>(ElementType);

impl<const SIZE: usize> Sink for Integer<SIZE> {
    #[inline(always)]
    fn int(&self, bytes: &mut Vec<u8>, value: i64, _is_negative: bool) -> bool {
        let Some(bits) = integer_bits(self.0, value) else { return false };
        bytes.extend_from_slice(&bits.to_le_bytes()[..SIZE]);
        true
    }
}

/// Where integers stand for floats, `-0` depends on the dialect.
#[inline(always)]
fn int_as_double(value: i64, is_negative: bool, keeps_minus_zero: bool) -> f64 {
    if value == 0 && is_negative && keeps_minus_zero { -0.0 } else { value as f64 }
}

struct Single {
    keeps_minus_zero: bool,
}

impl Sink for Single {
    #[inline(always)]
    fn int(&self, bytes: &mut Vec<u8>, value: i64, is_negative: bool) -> bool {
        self.decimal(bytes, int_as_double(value, is_negative, self.keeps_minus_zero))
    }

    #[inline(always)]
    fn decimal(&self, bytes: &mut Vec<u8>, value: f64) -> bool {
        let single = value as f32;
        if single.is_finite() {
            bytes.extend_from_slice(&single.to_le_bytes());
        }
        single.is_finite()
    }

    fn special(&self, bytes: &mut Vec<u8>, value: f64) -> bool {
        Float::<4> { element_type: ElementType::F32, keeps_minus_zero: false }.special(bytes, value)
    }
}

struct Float<const SIZE: usize> {
    element_type: ElementType,
    keeps_minus_zero: bool,
}

impl<const SIZE: usize> Sink for Float<SIZE> {
    #[inline(always)]
    fn int(&self, bytes: &mut Vec<u8>, value: i64, is_negative: bool) -> bool {
        self.decimal(bytes, int_as_double(value, is_negative, self.keeps_minus_zero))
    }

    #[inline(always)]
    fn decimal(&self, bytes: &mut Vec<u8>, value: f64) -> bool {
        value.is_finite() && self.special(bytes, value)
    }

    #[inline]
    fn special(&self, bytes: &mut Vec<u8>, value: f64) -> bool {
        let Some(bits) = float_bits(self.element_type, value, self.keeps_minus_zero) else { return false };
        bytes.extend_from_slice(&bits.to_le_bytes()[..SIZE]);
        true
    }
}

struct Complex<const PART_SIZE: usize> {
    part: ElementType,
    keeps_minus_zero: bool,
}

impl<const PART_SIZE: usize> Sink for Complex<PART_SIZE> {
    const IS_COMPLEX: bool = true;

    fn int(&self, _bytes: &mut Vec<u8>, _value: i64, _is_negative: bool) -> bool {
        false
    }

    #[inline]
    fn pair(&self, bytes: &mut Vec<u8>, real: Scanned, imaginary: Scanned) -> bool {
        let double = |scanned| match scanned {
            Scanned::Int(value, is_negative) => int_as_double(value, is_negative, self.keeps_minus_zero),
            Scanned::Decimal(value) => value,
        };
        let (real, imaginary) = (double(real), double(imaginary));
        if !(real.is_finite() && imaginary.is_finite()) {
            return false;
        }
        let Some((real, imaginary)) = complex_bits(self.part, real, imaginary) else { return false };
        bytes.extend_from_slice(&real.to_le_bytes()[..PART_SIZE]);
        bytes.extend_from_slice(&imaginary.to_le_bytes()[..PART_SIZE]);
        true
    }
}

/// Handles as much of the literal as is plain, from a token's first byte at `start`. The place where it stopped:
/// `start`, or behind something that has been handled; behind the whole literal if no brace is open any more.
pub(super) fn run(reader: &mut Reader<'_>, text: &[u8], start: usize) -> usize {
    let element_type = reader.array.element_type;
    let keeps_minus_zero = reader.dialect == Dialect::Lenient;
    match (element_type.class(), element_type.storage_bytes()) {
        (ElementClass::Pred, _) => read(reader, &Pred, text, start),
        (ElementClass::Signed | ElementClass::Unsigned, 1) => {
            read(reader, &Integer::<1>(element_type), text, start)
        }
        (ElementClass::Signed | ElementClass::Unsigned, 2) => {
            read(reader, &Integer::<2>(element_type), text, start)
        }
        (ElementClass::Signed | ElementClass::Unsigned, 4) => {
            read(reader, &Integer::<4>(element_type), text, start)
        }
        (ElementClass::Signed | ElementClass::Unsigned, _) => {
            read(reader, &Integer::<8>(element_type), text, start)
        }
        (ElementClass::Float, 1) => read(reader, &Float::<1> { element_type, keeps_minus_zero }, text, start),
        (ElementClass::Float, 2) => read(reader, &Float::<2> { element_type, keeps_minus_zero }, text, start),
        (ElementClass::Float, 4) => read(reader, &Single { keeps_minus_zero }, text, start),
        (ElementClass::Float, _) => read(reader, &Float::<8> { element_type, keeps_minus_zero }, text, start),
        (ElementClass::Complex, 8) => {
            read(reader, &Complex::<4> { part: ElementType::F32, keeps_minus_zero }, text, start)
        }
        (ElementClass::Complex, _) => {
            read(reader, &Complex::<8> { part: ElementType::F64, keeps_minus_zero }, text, start)
        }
        (ElementClass::NotArray, _) => start,
    }
}

/// Whether a value may end before this byte without a look at what follows.
#[inline(always)]
fn is_delimiter(byte: Option<&u8>) -> bool {
    matches!(byte, Some(b',' | b' ' | b'}' | b'\n' | b'\r' | b'\t'))
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t')
}

fn read<S: Sink>(reader: &mut Reader<'_>, sink: &S, text: &[u8], start: usize) -> usize {
    let mut bytes = std::mem::take(&mut reader.bytes).into_vec();
    let end = read_into(reader, sink, text, start, &mut bytes);
    reader.bytes = bytes.into();
    end
}

fn read_into<S: Sink>(
    reader: &mut Reader<'_>,
    sink: &S,
    text: &[u8],
    start: usize,
    bytes: &mut Vec<u8>,
) -> usize {
    let dimensions = reader.array.dimensions.as_slice();
    let rank = dimensions.len();
    let Some(&row_size) = dimensions.last() else { return start };
    // Elements of the innermost brace are counted here, the rest in the reader.
    let mut row = reader.seen[rank - 1];
    let mut level = reader.level;
    let mut at = start;
    'text: while let Some(&byte) = text.get(at) {
        match byte {
            b' ' | b'\n' | b'\r' | b'\t' => at += 1,
            b',' if level > 0 => at += 1,
            b'-' | b'0'..=b'9' if level == rank && row < row_size => {
                // The numbers of a row one after the other.
                loop {
                    let Some((number, end)) = scan_number(text, at) else {
                        let Some(end) = minus_infinity(sink, text, at, bytes) else { break 'text };
                        row += 1;
                        at = end;
                        break;
                    };
                    let stored = is_delimiter(text.get(end))
                        && match number {
                            Scanned::Int(value, is_negative) => sink.int(bytes, value, is_negative),
                            Scanned::Decimal(value) => sink.decimal(bytes, value),
                        };
                    if !stored {
                        break 'text;
                    }
                    row += 1;
                    at = end;
                    match text.get(at..) {
                        Some([b',', b' ', b'0'..=b'9' | b'-', ..]) if row < row_size => at += 2,
                        Some([b',', b'0'..=b'9' | b'-', ..]) if row < row_size => at += 1,
                        _ => break,
                    }
                }
            }
            b'{' if level < rank => {
                if let Some(outer) = level.checked_sub(1) {
                    if reader.seen[outer] >= dimensions[outer] {
                        break;
                    }
                    reader.seen[outer] += 1;
                }
                level += 1;
                at += 1;
            }
            b'}' if level > 0 => {
                if level == rank {
                    if row != row_size {
                        break;
                    }
                    row = 0;
                } else {
                    if reader.seen[level - 1] != dimensions[level - 1] {
                        break;
                    }
                    reader.seen[level - 1] = 0;
                }
                level -= 1;
                at += 1;
                if level == 0 {
                    break;
                }
            }
            b'(' if S::IS_COMPLEX && level == rank && row < row_size => {
                let Some((real, imaginary, end)) = scan_pair(text, at) else { break };
                if !sink.pair(bytes, real, imaginary) {
                    break;
                }
                row += 1;
                at = end;
            }
            b't' | b'f' | b'i' | b'n' if level == rank && row < row_size => {
                let Some(end) = word(sink, text, at, bytes) else { break };
                row += 1;
                at = end;
            }
            b'/' => match comment_length(&text[at..]) {
                Some(length) => at += length,
                None => break,
            },
            _ => break,
        }
    }
    reader.seen[rank - 1] = row;
    reader.level = level;
    at
}

/// Stores the word at `at`; the place after it.
fn word<S: Sink>(sink: &S, text: &[u8], at: usize, bytes: &mut Vec<u8>) -> Option<usize> {
    let rest = text.get(at..)?;
    let is = |word: &[u8]| rest.starts_with(word) && is_delimiter(rest.get(word.len()));
    let (stored, length) = if is(b"true") {
        (sink.truth(bytes, true), 4)
    } else if is(b"false") {
        (sink.truth(bytes, false), 5)
    } else if is(b"inf") {
        (sink.special(bytes, f64::INFINITY), 3)
    } else if is(b"nan") {
        (sink.special(bytes, quiet_nan()), 3)
    } else {
        (false, 0)
    };
    stored.then_some(at + length)
}

fn minus_infinity<S: Sink>(sink: &S, text: &[u8], at: usize, bytes: &mut Vec<u8>) -> Option<usize> {
    let end = at + b"-inf".len();
    let is = text.get(at..end)? == b"-inf" && is_delimiter(text.get(end));
    (is && sink.special(bytes, f64::NEG_INFINITY)).then_some(end)
}

/// The NaN that `nan` is, whatever the platform's is.
fn quiet_nan() -> f64 {
    f64::from_bits(0x7ff8 << 48)
}

/// `(real, imaginary)` with plain numbers and blanks, and the place after it.
#[inline(always)]
fn scan_pair(text: &[u8], at: usize) -> Option<(Scanned, Scanned, usize)> {
    let (real, at) = scan_number(text, skip_blanks(text, at + 1))?;
    let at = skip_blanks(text, at);
    if text.get(at) != Some(&b',') {
        return None;
    }
    let (imaginary, at) = scan_number(text, skip_blanks(text, at + 1))?;
    let at = skip_blanks(text, at);
    (text.get(at) == Some(&b')')).then_some((real, imaginary, at + 1))
}

fn skip_blanks(text: &[u8], mut at: usize) -> usize {
    while text.get(at).is_some_and(|&byte| is_blank(byte)) {
        at += 1;
    }
    at
}

/// Length of the block comment at the start of `text`, if it is a proper one.
fn comment_length(text: &[u8]) -> Option<usize> {
    let body = text.strip_prefix(b"/*")?;
    let length = memchr::memmem::find(body, b"*/")?;
    memchr::memchr(0, &body[..length]).is_none().then_some(length + 4)
}
