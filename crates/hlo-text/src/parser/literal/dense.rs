//! Dense literals: XLA's loop over tokens, which counts levels of braces and elements per dimension.

use smallvec::SmallVec;

use super::{Complaint, Extent, bad, element_count, fast, finish};
use crate::diagnostic::{Code, Diagnostic, Span};
use crate::ir::{ArrayShape, ElementClass, ElementType, LiteralData};
use crate::lexer::{Cursor, Keyword, Token};
use crate::number::{encode_float, is_finite, max_finite, nan_with_payload, round_nan_to_f32};
use crate::parser::{Dialect, ParseResult};

/// The bytes of elements; a scalar's lie on the stack.
pub(super) type Bytes = SmallVec<[u8; 16]>;

/// Elements of arrays of this many bytes get their memory at once; larger ones as the text goes on.
const PREALLOCATED_BYTES: i64 = 4096;

/// The state of the loop.
pub(super) struct Reader<'a> {
    pub(super) array: &'a ArrayShape,
    pub(super) dialect: Dialect,
    /// Number of elements of the array.
    pub(super) count: i64,
    /// How many braces are open.
    pub(super) level: usize,
    /// Elements or sub-arrays seen in the open brace of each dimension.
    pub(super) seen: SmallVec<[i64; 8]>,
    pub(super) bytes: Bytes,
    is_elided: bool,
    pub(super) complaint: Complaint,
}

/// Takes a dense literal of the shape `array`.
pub(super) fn parse(
    cursor: &mut Cursor<'_>,
    array: &ArrayShape,
    dialect: Dialect,
    complaint: &mut Complaint,
) -> ParseResult<LiteralData> {
    parse_with(cursor, array, dialect, complaint, true)
}

/// The same, with or without the fast path.
pub(super) fn parse_with(
    cursor: &mut Cursor<'_>,
    array: &ArrayShape,
    dialect: Dialect,
    complaint: &mut Complaint,
    use_fast_path: bool,
) -> ParseResult<LiteralData> {
    let start = cursor.span();
    let is_braced = cursor.token() == Token::LBrace;
    let Some(count) = element_count(array) else {
        let message = "the array has more elements than can be counted in 64 bits";
        return Err(Diagnostic::new(Code::TooLarge, start, message).boxed());
    };
    let mut reader = Reader {
        array,
        dialect,
        count,
        level: 0,
        seen: SmallVec::from_elem(0, array.rank()),
        bytes: Bytes::new(),
        is_elided: false,
        complaint: None,
    };
    let wanted = count.saturating_mul(array.element_type.storage_bytes() as i64);
    if wanted <= PREALLOCATED_BYTES {
        reader.bytes.reserve(wanted as usize);
    }
    let result = reader.run(cursor, use_fast_path);
    if complaint.is_none() {
        *complaint = reader.complaint.take();
    }
    result?;
    let extent = match (reader.is_elided, is_braced || array.dimensions.is_empty()) {
        (true, _) => Extent::Elided,
        (false, true) => Extent::Written,
        (false, false) => Extent::Bare,
    };
    finish(array, count, reader.bytes, extent, start)
}

impl Reader<'_> {
    fn run(&mut self, cursor: &mut Cursor<'_>, use_fast_path: bool) -> ParseResult<()> {
        loop {
            // A scalar's token has been read already. After a complaint the counts no longer bound the elements.
            if use_fast_path && !self.array.dimensions.is_empty() && self.complaint.is_none() {
                let start = cursor.start();
                let end = fast::run(self, cursor.source().as_bytes(), start);
                if end > start {
                    cursor.seek(end);
                    if self.level == 0 {
                        return Ok(());
                    }
                }
            }
            self.step(cursor)?;
            if self.level == 0 {
                return Ok(());
            }
        }
    }

    /// Handles one token, or one complex number.
    fn step(&mut self, cursor: &mut Cursor<'_>) -> ParseResult<()> {
        match cursor.token() {
            Token::LBrace => self.open(cursor),
            Token::RBrace => self.close(cursor),
            Token::Comma => {
                cursor.bump();
                Ok(())
            }
            Token::Dots => self.dots(cursor),
            Token::LParen => self.complex(cursor),
            Token::Keyword(Keyword::True | Keyword::False) => {
                self.count_element_leniently(cursor.span());
                if self.array.element_type != ElementType::Pred {
                    let name = self.array.element_type.name();
                    return Err(bad(
                        cursor.span(),
                        format!("`{}` is no value of type `{name}`", cursor.text()),
                    )
                    .help("only `pred` has `true` and `false`")
                    .boxed());
                }
                self.store(cursor.span(), u64::from(cursor.token() == Token::Keyword(Keyword::True)))?;
                cursor.bump();
                Ok(())
            }
            Token::Int | Token::Decimal | Token::NegInf | Token::Keyword(Keyword::Inf) => self.number(cursor),
            _ => {
                let mut error = cursor.unexpected("a value, `{`, `}` or `,` in the literal");
                if cursor.token() == Token::RParen {
                    error.help = (self.level > 0).then(|| format!("{} more `}}` first", self.level));
                }
                Err(error)
            }
        }
    }

    /// `{`
    fn open(&mut self, cursor: &mut Cursor<'_>) -> ParseResult<()> {
        let rank = self.array.rank();
        if self.level >= rank {
            let message = format!("the braces are nested deeper than the {rank} dimensions of the shape");
            return Err(bad(cursor.span(), message));
        }
        if let Some(outer) = self.level.checked_sub(1) {
            self.seen[outer] += 1;
            if self.seen[outer] > self.array.dimensions[outer] {
                let expected = self.expected(outer);
                return Err(bad(cursor.span(), format!("{expected}, and this is one more")));
            }
        }
        self.level += 1;
        cursor.bump();
        Ok(())
    }

    /// `}`
    fn close(&mut self, cursor: &mut Cursor<'_>) -> ParseResult<()> {
        let Some(level) = self.level.checked_sub(1) else {
            return Err(bad(cursor.span(), "this `}` has no `{`"));
        };
        if self.seen[level] != self.array.dimensions[level] {
            let message = format!("{}, found {}", self.expected(level), self.seen[level]);
            return Err(bad(cursor.span(), message));
        }
        self.seen[level] = 0;
        self.level = level;
        cursor.bump();
        Ok(())
    }

    /// "expected 3 elements in [0,1]": what the open brace of a dimension must hold.
    fn expected(&self, dimension: usize) -> String {
        let size = self.array.dimensions[dimension].max(0);
        let what = if dimension + 1 == self.array.rank() { "elements" } else { "sub-arrays" };
        let indices: Vec<String> = self.seen[..dimension].iter().map(|seen| (seen - 1).to_string()).collect();
        if indices.is_empty() {
            format!("expected {size} {what}")
        } else {
            format!("expected {size} {what} in sub-array [{}]", indices.join(","))
        }
    }

    /// `...`
    fn dots(&mut self, cursor: &mut Cursor<'_>) -> ParseResult<()> {
        if self.level != 1 {
            let message = format!("`...` must be within one brace, and is within {}", self.level);
            return Err(bad(cursor.span(), message).help("write `{...}`").boxed());
        }
        self.seen[0] = self.array.dimensions[0];
        self.is_elided = true;
        cursor.bump();
        Ok(())
    }

    fn count_element(&mut self, span: Span) -> ParseResult<()> {
        let Some(last) = self.array.rank().checked_sub(1) else { return Ok(()) };
        if self.level != last + 1 {
            let message = format!(
                "an element of an array of {} dimensions must be within as many braces, and is within {}",
                last + 1,
                self.level
            );
            return Err(bad(span, message));
        }
        self.seen[last] += 1;
        if self.seen[last] > self.array.dimensions[last] {
            return Err(bad(span, format!("{}, and this is one more", self.expected(last))));
        }
        Ok(())
    }

    /// XLA only notes misplaced elements that are not complex.
    fn count_element_leniently(&mut self, span: Span) {
        if let Err(error) = self.count_element(span) {
            self.complaint.get_or_insert(error);
        }
    }

    /// A number that is not complex.
    fn number(&mut self, cursor: &mut Cursor<'_>) -> ParseResult<()> {
        let span = cursor.span();
        let element_type = self.array.element_type;
        self.count_element_leniently(span);
        match element_type.class() {
            ElementClass::Pred | ElementClass::Signed | ElementClass::Unsigned => {
                if cursor.token() != Token::Int {
                    let mut error = cursor.unexpected("an integer");
                    error.help = Some(format!("values of type `{}` are integers", element_type.name()));
                    return Err(error);
                }
                let Some(bits) = integer_bits(element_type, cursor.int_value()) else {
                    return Err(out_of_range(span, element_type, cursor.text()));
                };
                self.store(span, bits)?;
            }
            ElementClass::Float => {
                let value = self.double(cursor)?;
                let Some(bits) = float_bits(element_type, value, self.dialect == Dialect::Lenient) else {
                    return Err(out_of_range(span, element_type, cursor.text()));
                };
                let bits = if value.is_nan() { checked_nan(element_type, value, span)? } else { bits };
                self.store(span, bits)?;
            }
            ElementClass::Complex | ElementClass::NotArray => {
                let name = element_type.name();
                return Err(bad(span, format!("a value of type `{name}` is a pair of numbers"))
                    .help(format!("write `({}, 0)`", crate::diagnostic::shorten(cursor.text())))
                    .boxed());
            }
        }
        cursor.bump();
        Ok(())
    }

    /// The value of the current token, which is not taken, as a double.
    fn double(&self, cursor: &Cursor<'_>) -> ParseResult<f64> {
        match cursor.token() {
            Token::Int => Ok(self.int_as_double(cursor.int_value(), cursor.text().starts_with('-'))),
            Token::Decimal if cursor.decimal_value().is_infinite() => {
                let message = format!("`{}` is beyond the range of a double", cursor.text());
                Err(Diagnostic::new(Code::OutOfRange, cursor.span(), message).boxed())
            }
            Token::Decimal => Ok(cursor.decimal_value()),
            Token::Keyword(Keyword::Inf) => Ok(f64::INFINITY),
            Token::NegInf => Ok(f64::NEG_INFINITY),
            _ => Err(cursor.unexpected("a number")),
        }
    }

    /// An integer in place of a decimal. XLA reads `-0` as 0, and so loses the sign it prints itself.
    pub(super) fn int_as_double(&self, value: i64, is_negative: bool) -> f64 {
        if value == 0 && is_negative && self.dialect == Dialect::Lenient { -0.0 } else { value as f64 }
    }

    /// `(real, imaginary)`
    fn complex(&mut self, cursor: &mut Cursor<'_>) -> ParseResult<()> {
        let span = cursor.span();
        let element_type = self.array.element_type;
        let Some(part) = element_type.complex_component() else {
            let name = element_type.name();
            return Err(bad(span, format!("a value of type `{name}` has no parentheses"))
                .help("parentheses are for complex numbers and tuples")
                .boxed());
        };
        self.count_element(span)?;
        cursor.bump();
        let real = self.double(cursor)?;
        cursor.bump();
        cursor.expect(Token::Comma, "`,` after the real part")?;
        let imaginary = self.double(cursor)?;
        cursor.bump();
        let end = cursor.end();
        cursor.expect(Token::RParen, "`)` after the imaginary part")?;
        let text = &cursor.source()[span.start as usize..end];
        let Some((real_bits, imaginary_bits)) = complex_bits(part, real, imaginary) else {
            return Err(out_of_range(span, element_type, text));
        };
        if real.is_nan() {
            // XLA gives both parts the same NaN.
            let nan = checked_nan(part, real, span)?;
            self.store_parts(span, &[nan, nan], part)
        } else {
            self.store_parts(span, &[real_bits, imaginary_bits], part)
        }
    }

    fn store(&mut self, span: Span, bits: u64) -> ParseResult<()> {
        self.store_parts(span, &[bits], self.array.element_type)
    }

    fn store_parts(&mut self, span: Span, parts: &[u64], part_type: ElementType) -> ParseResult<()> {
        let stored = (self.bytes.len() / self.array.element_type.storage_bytes()) as i64;
        if stored >= self.count {
            return Err(bad(span, format!("the shape has {} elements, and this is one more", self.count)));
        }
        for bits in parts {
            self.bytes.extend_from_slice(&bits.to_le_bytes()[..part_type.storage_bytes()]);
        }
        Ok(())
    }
}

/// The bits of an integer or `pred` value as it stands in the text, `None` if the type doesn't have it.
/// Negative values wrap in `u64`, as in XLA.
pub(super) fn integer_bits(element_type: ElementType, value: i64) -> Option<u64> {
    let bits = element_type.bits();
    let fits = match element_type.class() {
        ElementClass::Pred => return Some(u64::from(value != 0)),
        ElementClass::Signed => value >> (bits - 1) == 0 || value >> (bits - 1) == -1,
        ElementClass::Unsigned => value as u64 <= u64::MAX >> (64 - bits),
        _ => false,
    };
    fits.then_some(value as u64)
}

/// Below this a value of `f8e8m0fnu` is nearest to the smallest one, 2^-127.
const NEAREST_SMALLEST_E8M0: f64 = 1.5 / (1u128 << 127) as f64;

/// The bits of a floating-point value, `None` if it is finite and the type has no finite value near it.
///
/// The smallest `f8e8m0fnu` prints as a number that is a little larger. XLA reads that as the next value.
pub(super) fn float_bits(element_type: ElementType, value: f64, is_lenient: bool) -> Option<u64> {
    if is_lenient && element_type == ElementType::F8E8M0FNU && value > 0.0 && value < NEAREST_SMALLEST_E8M0 {
        return Some(0);
    }
    let bits = encode_float(element_type, value);
    (!value.is_finite() || is_finite(element_type, bits)).then_some(bits)
}

/// The bits of the parts of a complex value; parts must not exceed the largest finite value, not even by a
/// little that rounding would remove.
pub(super) fn complex_bits(part: ElementType, real: f64, imaginary: f64) -> Option<(u64, u64)> {
    let limit = if part == ElementType::F32 { f64::from(f32::MAX) } else { f64::MAX };
    if [real, imaginary].iter().any(|value| value.is_finite() && value.abs() > limit) {
        return None;
    }
    let narrow = |value: f64| {
        if value.is_nan() && part == ElementType::F32 {
            round_nan_to_f32(value)
        } else {
            encode_float(part, value)
        }
    };
    Some((narrow(real), narrow(imaginary)))
}

fn checked_nan(element_type: ElementType, value: f64, span: Span) -> ParseResult<u64> {
    nan_with_payload(element_type, value).map_err(|limit| {
        let name = element_type.name();
        let message = match limit {
            Some(limit) => format!("the NaN payload exceeds the largest of `{name}`, {limit:#x}"),
            None => format!("NaNs of `{name}` have no payload"),
        };
        Diagnostic::new(Code::OutOfRange, span, message).boxed()
    })
}

fn out_of_range(span: Span, element_type: ElementType, text: &str) -> Box<Diagnostic> {
    let text = crate::diagnostic::shorten(text);
    let message = format!("`{text}` doesn't fit the type `{}`", element_type.name());
    let diagnostic = Diagnostic::new(Code::OutOfRange, span, message);
    match range(element_type) {
        Some(range) => diagnostic.help(format!("values of `{}` are {range}", element_type.name())).boxed(),
        None => diagnostic.boxed(),
    }
}

/// The range of a type in words.
fn range(element_type: ElementType) -> Option<String> {
    let float = |value: f64| {
        let mut text = Vec::new();
        crate::number::write_general(&mut text, value, 6);
        String::from_utf8(text).ok()
    };
    let bits = element_type.bits();
    Some(match element_type.class() {
        ElementClass::Signed => {
            let highest = i64::MAX >> (64 - bits);
            format!("{} to {highest}", -highest - 1)
        }
        ElementClass::Unsigned => format!("0 to {}", u64::MAX >> (64 - bits)),
        ElementClass::Complex | ElementClass::Float => {
            let part = element_type.complex_component().unwrap_or(element_type);
            if part == ElementType::F8E8M0FNU {
                return Some("powers of two from 2^-127 to 2^127".to_owned());
            }
            let highest = float(max_finite(part))?;
            format!("-{highest} to {highest}")
        }
        ElementClass::Pred | ElementClass::NotArray => return None,
    })
}
