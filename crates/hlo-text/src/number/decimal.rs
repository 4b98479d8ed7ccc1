//! Reading numbers straight from the bytes of a literal.

use super::EXACT_POWERS;

/// A number at the start of some text, with an optional minus, no plus.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scanned {
    /// Only digits. The flag says whether there is a minus, which matters for `-0`.
    Int(i64, bool),
    /// With a dot or an exponent; infinite if it is beyond the range of a double.
    Decimal(f64),
}

/// A run of digits may be this long for its value to fit an `i64` for sure.
const SAFE_DIGITS: usize = 18;

/// Adds the digits at `at` to `value`; the place after them.
#[inline(always)]
fn digits(text: &[u8], mut at: usize, value: &mut u64) -> usize {
    while let Some(&byte) = text.get(at) {
        let digit = byte.wrapping_sub(b'0');
        if digit >= 10 {
            break;
        }
        *value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    at
}

/// The value of eight bytes if all are digits, by the arithmetic of all at once.
#[inline(always)]
fn eight_digits(bytes: [u8; 8]) -> Option<u64> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let word = u64::from_le_bytes(bytes);
    // A digit is 0x30 to 0x39: adding 0x46 sets the top bit above that, subtracting 0x30 below.
    let out_of_range = word.wrapping_add(0x46 * ONES) | word.wrapping_sub(0x30 * ONES);
    if out_of_range & (0x80 * ONES) != 0 {
        return None;
    }
    // Pairs, then fours, then all eight.
    let pairs = (word - 0x30 * ONES).wrapping_mul(1 + (10 << 8)) >> 8 & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(1 + (100 << 16)) >> 16 & 0x0000_ffff_0000_ffff;
    Some(fours.wrapping_mul(1 + (10_000 << 32)) >> 32)
}

/// [`digits`] for runs that tend to be long.
#[inline(always)]
fn many_digits(text: &[u8], mut at: usize, value: &mut u64) -> usize {
    if let Some(eight) =
        text.get(at..).and_then(|rest| rest.first_chunk()).and_then(|&bytes| eight_digits(bytes))
    {
        *value = value.wrapping_mul(100_000_000).wrapping_add(eight);
        at += 8;
    }
    digits(text, at, value)
}

/// The number that starts at `start` and the place after it. `None` if there is none, or none this reader is
/// for: the lexer decides on everything but plain numbers of moderate length.
#[inline(always)]
pub(crate) fn scan_number(text: &[u8], start: usize) -> Option<(Scanned, usize)> {
    let negative = text.get(start) == Some(&b'-');
    let first = start + usize::from(negative);
    let mut mantissa = 0u64;
    let whole_end = digits(text, first, &mut mantissa);
    if whole_end == first || whole_end - first > SAFE_DIGITS {
        return None;
    }
    let mut at = whole_end;
    let mut exponent = 0i64;
    let mut digit_count = whole_end - first;
    match text.get(at) {
        Some(b'.') => {
            let end = many_digits(text, at + 1, &mut mantissa);
            exponent = (at + 1) as i64 - end as i64;
            digit_count += end - (at + 1);
            at = end;
        }
        Some(b'e' | b'E') => {}
        _ => {
            let value = mantissa as i64;
            return Some((Scanned::Int(if negative { -value } else { value }, negative), at));
        }
    }
    if let Some(b'e' | b'E') = text.get(at) {
        let sign = text.get(at + 1);
        let digits_start = at + 1 + usize::from(matches!(sign, Some(b'+' | b'-')));
        let mut power = 0u64;
        let end = digits(text, digits_start, &mut power);
        if end == digits_start || end - digits_start > SAFE_DIGITS {
            return None;
        }
        exponent += if sign == Some(&b'-') { -(power as i64) } else { power as i64 };
        at = end;
    }
    // Both factors are exact, so one operation rounds once: the nearest double.
    if digit_count <= SAFE_DIGITS
        && mantissa <= 1 << 53
        && exponent.unsigned_abs() < EXACT_POWERS.len() as u64
    {
        let power = EXACT_POWERS[exponent.unsigned_abs() as usize];
        let magnitude = if exponent < 0 { mantissa as f64 / power } else { mantissa as f64 * power };
        return Some((Scanned::Decimal(if negative { -magnitude } else { magnitude }), at));
    }
    let value = std::str::from_utf8(text.get(start..at)?).ok()?.parse().ok()?;
    Some((Scanned::Decimal(value), at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        let cases: &[(&str, Option<(Scanned, usize)>)] = &[
            ("12,", Some((Scanned::Int(12, false), 2))),
            ("-0}", Some((Scanned::Int(0, true), 2))),
            ("1.", Some((Scanned::Decimal(1.0), 2))),
            ("-1.5e2 ", Some((Scanned::Decimal(-150.0), 6))),
            ("1e5", Some((Scanned::Decimal(1e5), 3))),
            ("1E-400", Some((Scanned::Decimal(0.0), 6))),
            ("1e400", Some((Scanned::Decimal(f64::INFINITY), 5))),
            ("1e+999999999999999999", Some((Scanned::Decimal(f64::INFINITY), 21))),
            ("0.1", Some((Scanned::Decimal(0.1), 3))),
            ("2.2250738585072011e-308", Some((Scanned::Decimal(2.225_073_858_507_201e-308), 23))),
            ("9007199254740993.0", Some((Scanned::Decimal(9_007_199_254_740_992.0), 18))),
            ("0.00000000000000000000001", Some((Scanned::Decimal(1e-23), 25))),
            ("99999999999999999999999999", None),
            (".5", None),
            ("-.5", None),
            ("1e", None),
            ("1.0e+", None),
            ("-", None),
            ("x", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(scan_number(text.as_bytes(), 0), *expected, "{text}");
        }
    }

    #[test]
    fn eight_digits_at_once() {
        assert_eq!(eight_digits(*b"12345678"), Some(12_345_678));
        assert_eq!(eight_digits(*b"00000009"), Some(9));
        assert_eq!(eight_digits(*b"99999999"), Some(99_999_999));
        for position in 0..8 {
            for byte in (0..=255u8).filter(|byte| !byte.is_ascii_digit()) {
                let mut text = *b"12345678";
                text[position] = byte;
                assert_eq!(eight_digits(text), None, "{text:?}");
            }
        }
    }

    #[test]
    fn decimals_are_the_nearest_doubles() {
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        for _ in 0..200_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let whole = state >> 40;
            let fraction = (state >> 8) & 0xff_ffff;
            let power = (state % 61) as i64 - 30;
            for text in [format!("{whole}.{fraction}e{power}"), format!("-{whole}.{fraction}")] {
                let expected = Scanned::Decimal(text.parse().expect("a number"));
                assert_eq!(scan_number(text.as_bytes(), 0), Some((expected, text.len())), "{text}");
            }
        }
    }
}
