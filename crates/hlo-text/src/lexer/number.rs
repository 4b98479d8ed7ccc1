//! Number-like tokens. XLA tries the alternatives in a fixed order, not by length, so they are scanned by hand.

use logos::Lexer;

use super::Token;

/// Length of a run of decimal digits.
fn digits(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(bytes.len())
}

/// Length of the decimal at the start of `bytes`: a dot or an exponent is needed.
fn decimal_length(bytes: &[u8]) -> Option<usize> {
    let sign = usize::from(bytes.first() == Some(&b'-'));
    let whole = digits(&bytes[sign..]);
    let mut at = sign + whole;
    let mut has_dot = false;
    if bytes.get(at) == Some(&b'.') {
        let fraction = digits(&bytes[at + 1..]);
        if whole > 0 || fraction > 0 {
            has_dot = true;
            at += 1 + fraction;
        }
    }
    if whole == 0 && !has_dot {
        return None;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let exponent_sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let exponent = digits(&bytes[at + 1 + exponent_sign..]);
        if exponent > 0 {
            return Some(at + 1 + exponent_sign + exponent);
        }
    }
    has_dot.then_some(at)
}

/// Length of dim labels `[0-9bf?]{2,}_[0-9io?]{2,}->[0-9bf?]{2,}` at the start of `bytes`.
pub(super) fn dim_labels_length(bytes: &[u8]) -> Option<usize> {
    let run = |from: usize, letters: &[u8]| {
        let rest = bytes.get(from..).unwrap_or(&[]);
        let length =
            rest.iter().position(|b| !(b.is_ascii_digit() || letters.contains(b))).unwrap_or(rest.len());
        (length >= 2).then_some(from + length)
    };
    let lhs = run(0, b"bf?")?;
    if bytes.get(lhs) != Some(&b'_') {
        return None;
    }
    let rhs = run(lhs + 1, b"io?")?;
    if bytes.get(rhs..rhs + 2) != Some(b"->") {
        return None;
    }
    run(rhs + 2, b"bf?")
}

/// Length of `2x3x4` at the start of `bytes`.
fn dxd_length(bytes: &[u8]) -> Option<usize> {
    let mut at = digits(bytes);
    if at == 0 {
        return None;
    }
    let mut parts = 1;
    while bytes.get(at) == Some(&b'x') {
        let more = digits(&bytes[at + 1..]);
        if more == 0 {
            break;
        }
        at += 1 + more;
        parts += 1;
    }
    (parts > 1).then_some(at)
}

/// Length of `-?N_-?N(_N)?` at the start of `bytes`.
fn pad_part_length(bytes: &[u8]) -> Option<usize> {
    let signed = |from: usize| {
        let rest = bytes.get(from..)?;
        let sign = usize::from(rest.first() == Some(&b'-'));
        let length = digits(&rest[sign..]);
        (length > 0).then_some(from + sign + length)
    };
    let low = signed(0)?;
    if bytes.get(low) != Some(&b'_') {
        return None;
    }
    let high = signed(low + 1)?;
    if bytes.get(high) == Some(&b'_') {
        let interior = digits(&bytes[high + 1..]);
        if interior > 0 {
            return Some(high + 1 + interior);
        }
    }
    Some(high)
}

/// Length of `0_0x1_2_3` at the start of `bytes`.
fn pad_length(bytes: &[u8]) -> Option<usize> {
    let mut at = pad_part_length(bytes)?;
    while bytes.get(at) == Some(&b'x') {
        match pad_part_length(&bytes[at + 1..]) {
            Some(more) => at += 1 + more,
            None => break,
        }
    }
    Some(at)
}

/// The value of `-?\d+` as XLA reads it: negative ones as `i64`, others as `u64` whose bits are reinterpreted.
pub(super) fn integer_value(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        _ => (false, text),
    };
    let mut value = 0u64;
    for digit in digits {
        value = value.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
    }
    if negative { 0i64.checked_sub_unsigned(value) } else { Some(value as i64) }
}

/// Length of `-?\d+` at the start of `bytes`.
pub(super) fn integer_length(bytes: &[u8]) -> Option<usize> {
    let sign = usize::from(bytes.first() == Some(&b'-'));
    let length = digits(&bytes[sign..]);
    (length > 0).then_some(sign + length)
}

/// Scans a token that starts with a digit, `-` or `?`; one byte has been taken.
pub(super) fn number(lexer: &mut Lexer<'_, Token>) -> Token {
    scan(lexer).unwrap_or(Token::Error)
}

fn scan(lexer: &mut Lexer<'_, Token>) -> Option<Token> {
    let start = lexer.span().start;
    let bytes = &lexer.source().as_bytes()[start..];
    // The common case first: an integer that nothing can extend.
    let plain = integer_length(bytes);
    let follows = plain.and_then(|length| bytes.get(length));
    if (!matches!(follows, Some(b'.' | b'e' | b'E' | b'x' | b'_' | b'b' | b'f' | b'?') | None)
        || follows.is_none())
        && let Some(length) = plain
        && let Some(value) = integer_value(&bytes[..length])
    {
        lexer.extras.int = value;
        lexer.bump(length - 1);
        return Some(Token::Int);
    }
    if let Some(length) = decimal_length(bytes) {
        let text = lexer.source().get(start..start + length)?;
        lexer.extras.decimal = text.parse().ok()?;
        lexer.bump(length - 1);
        return Some(Token::Decimal);
    }
    if let Some(length) = dim_labels_length(bytes) {
        lexer.bump(length - 1);
        return Some(Token::DimLabels);
    }
    if let Some(length) = dxd_length(bytes) {
        lexer.bump(length - 1);
        return Some(Token::Dxd);
    }
    if let Some(length) = pad_length(bytes) {
        lexer.bump(length - 1);
        return Some(Token::Pad);
    }
    if let Some(length) = plain
        && let Some(value) = integer_value(&bytes[..length])
    {
        lexer.extras.int = value;
        lexer.bump(length - 1);
        return Some(Token::Int);
    }
    if bytes.starts_with(b"-inf") {
        lexer.bump(3);
        return Some(Token::NegInf);
    }
    if bytes.starts_with(b"-nan") {
        lexer.bump(3);
        return Some(nan_payload(lexer, true));
    }
    (bytes[0] == b'?').then_some(Token::Question)
}

/// The largest NaN payload: the mantissa bits of a double.
const MAX_NAN_PAYLOAD: u64 = 0xf_ffff_ffff_ffff;

/// After `nan` or `-nan`: an optional payload `(0x...)`, directly behind.
pub(super) fn nan_payload(lexer: &mut Lexer<'_, Token>, negative: bool) -> Token {
    scan_nan_payload(lexer, negative).unwrap_or(Token::Error)
}

fn scan_nan_payload(lexer: &mut Lexer<'_, Token>, negative: bool) -> Option<Token> {
    const QUIET: u64 = 0x8_0000_0000_0000;
    let rest = lexer.remainder().as_bytes();
    let mut payload = QUIET;
    if rest.first() == Some(&b'(') {
        let hex = rest.strip_prefix(b"(0x")?;
        let length = hex.iter().position(|byte| !byte.is_ascii_hexdigit())?;
        if hex[length] != b')' || length == 0 {
            return None;
        }
        payload = 0;
        for byte in &hex[..length] {
            let digit = (*byte as char).to_digit(16)?;
            payload = payload.checked_mul(16)?.checked_add(u64::from(digit))?;
        }
        if payload == 0 || payload > MAX_NAN_PAYLOAD {
            return None;
        }
        lexer.bump("(0x".len() + length + ")".len());
    }
    let sign = if negative { 1 << 63 } else { 0 };
    lexer.extras.decimal = f64::from_bits(sign | 0x7ff << 52 | payload);
    Some(Token::Decimal)
}
