//! Numbers as attribute values: 32-bit integers, doubles, `f32` values, `2x3`.

use smallvec::SmallVec;

use super::ParseResult;
use crate::diagnostic::{Code, Diagnostic};
use crate::lexer::{Cursor, Keyword, Token};

/// The sizes of `2x3`.
pub(crate) type Sizes = SmallVec<[i64; 6]>;

/// Takes an integer that fits in 32 bits.
pub(crate) fn parse_int32(cursor: &mut Cursor<'_>) -> ParseResult<i32> {
    let span = cursor.span();
    let value = cursor.int()?;
    i32::try_from(value).map_err(|_| {
        let message = format!("{value} does not fit in 32 bits");
        Diagnostic::new(Code::OutOfRange, span, message)
            .help(format!("it must be between {} and {}", i32::MIN, i32::MAX))
            .boxed()
    })
}

/// Takes an integer, a decimal, `inf` or `-inf`. Decimals beyond the range of a double are errors.
pub(crate) fn parse_double(cursor: &mut Cursor<'_>) -> ParseResult<f64> {
    let value = match cursor.token() {
        Token::Int => cursor.int_value() as f64,
        Token::Decimal => cursor.decimal_value(),
        Token::Keyword(Keyword::Inf) => f64::INFINITY,
        Token::NegInf => f64::NEG_INFINITY,
        _ => return Err(cursor.unexpected("a number")),
    };
    if cursor.token() == Token::Decimal && value.is_infinite() {
        let message = "the number is too large for 64-bit floating point";
        return Err(Diagnostic::new(Code::OutOfRange, cursor.span(), message).boxed());
    }
    cursor.bump();
    Ok(value)
}

/// Takes a number within the range of `f32`; infinities are not.
pub(crate) fn parse_float(cursor: &mut Cursor<'_>) -> ParseResult<f32> {
    let span = cursor.span();
    let value = parse_double(cursor)?;
    if value.abs() > f64::from(f32::MAX) {
        let message = "the number is too large for 32-bit floating point";
        return Err(Diagnostic::new(Code::OutOfRange, span, message)
            .help(format!("its absolute value must be at most {:e}", f32::MAX))
            .boxed());
    }
    Ok(value as f32)
}

/// Takes `2x3`, or a single integer, the value of a field called `name`.
pub(crate) fn parse_sizes(cursor: &mut Cursor<'_>, name: &str) -> ParseResult<Sizes> {
    let sizes = match cursor.token() {
        Token::Int => SmallVec::from_slice(&[cursor.int_value()]),
        Token::Dxd => {
            let sizes: Result<Sizes, _> = cursor.text().split('x').map(str::parse).collect();
            sizes.map_err(|_| {
                let message = format!("a number of `{name}` does not fit in 64 bits");
                Diagnostic::new(Code::OutOfRange, cursor.span(), message).boxed()
            })?
        }
        _ => return Err(cursor.unexpected(&format!("numbers joined by `x` for `{name}`"))),
    };
    cursor.bump();
    Ok(sizes)
}
