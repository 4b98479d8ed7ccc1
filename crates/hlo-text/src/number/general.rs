//! C's `%.*g`, and how XLA prints each floating-point type with it.
//!
//! The digits come from exact integer arithmetic where 128 bits hold it, which is nearly always, and from the
//! standard library's exact printing otherwise.

use std::io::Write;

use super::EXACT_POWERS;
use super::format::{decode_float, nan_payload};
use crate::ir::ElementType;

/// The powers of five that fit 128 bits.
const POWERS_OF_FIVE: [u128; 56] = {
    let mut table = [1; 56];
    let mut index = 1;
    while index < table.len() {
        table[index] = table[index - 1] * 5;
        index += 1;
    }
    table
};

/// The powers of ten that fit 64 bits.
const POWERS_OF_TEN: [u64; 20] = {
    let mut table = [1; 20];
    let mut index = 1;
    while index < table.len() {
        table[index] = table[index - 1] * 10;
        index += 1;
    }
    table
};

/// The most digits the exact arithmetic is for; a double never needs more.
const MAX_FAST_DIGITS: u32 = 17;

/// A finite positive number as decimal digits: `digits` is an integer of as many digits as were asked for, the
/// first of which has the weight 10^`exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Decimal {
    digits: u64,
    exponent: i32,
}

/// `numerator / 2^shift` to nearest, ties to even.
fn shift_rounded(numerator: u128, shift: u32) -> Option<u128> {
    match shift {
        0 => Some(numerator),
        1..=127 => {
            let quotient = numerator >> shift;
            let rest = numerator & ((1 << shift) - 1);
            let half = 1u128 << (shift - 1);
            Some(quotient + u128::from(rest > half || (rest == half && quotient & 1 == 1)))
        }
        _ => None,
    }
}

/// `numerator / denominator` to nearest, ties to even.
fn divide_rounded(numerator: u128, denominator: u128) -> u128 {
    let (quotient, rest) = match (u64::try_from(numerator), u64::try_from(denominator)) {
        (Ok(numerator), Ok(denominator)) => {
            (u128::from(numerator / denominator), u128::from(numerator % denominator))
        }
        _ => (numerator / denominator, numerator % denominator),
    };
    let above = rest > denominator - rest || (rest == denominator - rest && quotient & 1 == 1);
    quotient + u128::from(above)
}

/// `value * 2^shift` if it fits.
fn shift_exact(value: u128, shift: u32) -> Option<u128> {
    (shift <= value.leading_zeros()).then(|| value << shift)
}

/// `mantissa * 5^power` if 64 bits hold it: always so for a float that is not far from 1.
fn small_product(mantissa: u64, power: i32) -> Option<u64> {
    let fives = *POWERS_OF_FIVE.get(usize::try_from(power).ok()?)?;
    mantissa.checked_mul(u64::try_from(fives).ok()?)
}

/// `mantissa * 2^exponent * 10^power` to nearest, ties to even, if 128 bits are enough.
fn scale(mantissa: u64, exponent: i32, power: i32) -> Option<u128> {
    if let Some(product) = small_product(mantissa, power) {
        let shift = (exponent + power).unsigned_abs();
        if exponent + power < 0 && shift < 64 {
            let half = 1u64 << (shift - 1);
            let rest = product & (half + (half - 1));
            let quotient = product >> shift;
            return Some(u128::from(
                quotient + u64::from(rest > half || (rest == half && quotient & 1 == 1)),
            ));
        }
    }
    let mantissa = u128::from(mantissa);
    let fives = *POWERS_OF_FIVE.get(power.unsigned_abs() as usize)?;
    let shift = exponent + power;
    match (power >= 0, shift >= 0) {
        (true, true) => shift_exact(mantissa.checked_mul(fives)?, shift.unsigned_abs()),
        (true, false) => shift_rounded(mantissa.checked_mul(fives)?, shift.unsigned_abs()),
        (false, true) => Some(divide_rounded(shift_exact(mantissa, shift.unsigned_abs())?, fives)),
        (false, false) => Some(divide_rounded(mantissa, shift_exact(fives, shift.unsigned_abs())?)),
    }
}

/// The `count` leading digits (1 to [`MAX_FAST_DIGITS`]) of a finite positive number, correctly rounded.
fn leading_digits(value: f64, count: u32) -> Option<Decimal> {
    let bits = value.to_bits();
    let field = (bits >> 52 & 0x7ff) as i32;
    let fraction = bits & ((1 << 52) - 1);
    let (mantissa, binary_exponent) =
        if field == 0 { (fraction, -1074) } else { (fraction | 1 << 52, field - 1075) };
    // Trailing zeros only make the products larger.
    let zeros = mantissa.trailing_zeros();
    let (mantissa, binary_exponent) = (mantissa >> zeros, binary_exponent + zeros as i32);
    let log2 = binary_exponent + 63 - mantissa.leading_zeros() as i32;
    // log10(2) * 2^18, rounded down: at most one below the decimal exponent, never above it.
    let least = (log2 * 78913) >> 18;
    let limit = POWERS_OF_TEN[count as usize];
    for exponent in [least, least + 1] {
        let digits = scale(mantissa, binary_exponent, count as i32 - 1 - exponent)?;
        if digits < u128::from(limit) {
            return Some(Decimal { digits: digits as u64, exponent });
        }
    }
    None
}

/// Appends `value` as C's `printf("%.*g", digits, value)` does; NaNs as `nan` or `-nan`. 0 digits mean 1.
pub(crate) fn write_general(out: &mut Vec<u8>, value: f64, digits: usize) {
    let digits = u32::try_from(digits.max(1)).unwrap_or(u32::MAX);
    if value.is_sign_negative() {
        out.push(b'-');
    }
    let magnitude = value.abs();
    if magnitude.is_nan() {
        out.extend_from_slice(b"nan");
    } else if magnitude.is_infinite() {
        out.extend_from_slice(b"inf");
    } else if magnitude == 0.0 {
        out.push(b'0');
    } else if !write_small_integer(out, magnitude, digits) {
        let fast = if digits <= MAX_FAST_DIGITS { leading_digits(magnitude, digits) } else { None };
        match fast {
            Some(decimal) => write_decimal(out, decimal, digits),
            None => write_slowly(out, magnitude, digits),
        }
    }
}

/// Integers of no more than `digits` digits are printed as they are.
#[inline]
fn write_small_integer(out: &mut Vec<u8>, magnitude: f64, digits: u32) -> bool {
    let integer = magnitude as u64;
    let limit = POWERS_OF_TEN[(digits as usize).min(15)];
    let is_small = integer < limit && integer as f64 == magnitude;
    if is_small {
        out.extend_from_slice(itoa::Buffer::new().format(integer).as_bytes());
    }
    is_small
}

/// Digits of a double that the arithmetic gives are at most [`MAX_FAST_DIGITS`]; with zeros, a dot and an exponent
/// they fit this.
const MAX_LAYOUT: usize = 32;

/// Appends digits laid out as `%g` does: trailing zeros dropped; an exponent if it is below -4 or at least
/// `precision`.
fn write_decimal(out: &mut Vec<u8>, decimal: Decimal, precision: u32) {
    let mut buffer = itoa::Buffer::new();
    let all = buffer.format(decimal.digits).as_bytes();
    let significant = all.iter().rposition(|digit| *digit != b'0').map_or(1, |last| last + 1);
    let digits = all.get(..significant).unwrap_or(all);
    let exponent = decimal.exponent;
    if exponent < -4 || exponent >= precision as i32 {
        return lay_out(out, digits, exponent, precision);
    }
    // The common layouts in one piece.
    let mut text = [b'0'; MAX_LAYOUT];
    let length = if exponent < 0 {
        let zeros = 1 + exponent.unsigned_abs() as usize;
        text[1] = b'.';
        text[zeros..zeros + digits.len()].copy_from_slice(digits);
        zeros + digits.len()
    } else {
        let whole = exponent as usize + 1;
        if digits.len() <= whole {
            text[..digits.len()].copy_from_slice(digits);
            whole
        } else {
            text[..whole].copy_from_slice(&digits[..whole]);
            text[whole] = b'.';
            text[whole + 1..=digits.len()].copy_from_slice(&digits[whole..]);
            digits.len() + 1
        }
    };
    out.extend_from_slice(&text[..length]);
}

/// Appends any number of digits laid out as `%g` does.
fn lay_out(out: &mut Vec<u8>, digits: &[u8], exponent: i32, precision: u32) {
    if exponent < -4 || i64::from(exponent) >= i64::from(precision) {
        out.extend_from_slice(&digits[..1]);
        if digits.len() > 1 {
            out.push(b'.');
            out.extend_from_slice(&digits[1..]);
        }
        out.extend_from_slice(if exponent < 0 { b"e-" } else { b"e+" });
        let magnitude = exponent.unsigned_abs();
        if magnitude < 10 {
            out.push(b'0');
        }
        out.extend_from_slice(itoa::Buffer::new().format(magnitude).as_bytes());
    } else if exponent < 0 {
        out.extend_from_slice(&b"0.000"[..1 + exponent.unsigned_abs() as usize]);
        out.extend_from_slice(digits);
    } else {
        let whole = exponent as usize + 1;
        if digits.len() <= whole {
            out.extend_from_slice(digits);
            out.resize(out.len() + whole - digits.len(), b'0');
        } else {
            out.extend_from_slice(&digits[..whole]);
            out.push(b'.');
            out.extend_from_slice(&digits[whole..]);
        }
    }
}

/// Digits beyond which no double has any that are not 0 (the smallest have up to 767).
const MAX_DIGITS: u32 = 770;

/// Text on the stack: a digit, a dot, the other digits, an exponent.
struct StackText {
    bytes: [u8; MAX_DIGITS as usize + 16],
    length: usize,
}

impl std::fmt::Write for StackText {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let end = self.length + text.len();
        self.bytes.get_mut(self.length..end).ok_or(std::fmt::Error)?.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

/// For magnitudes that 128 bits can't scale: the standard library prints exactly, in another layout.
fn write_slowly(out: &mut Vec<u8>, magnitude: f64, digits: u32) {
    let mut text = StackText { bytes: [0; MAX_DIGITS as usize + 16], length: 0 };
    let precision = digits.min(MAX_DIGITS) as usize - 1;
    // The buffer has room for every double.
    let _ = std::fmt::Write::write_fmt(&mut text, format_args!("{magnitude:.precision$e}"));
    let StackText { mut bytes, length } = text;
    let mark = bytes[..length].iter().position(|byte| *byte == b'e').unwrap_or(length);
    let exponent = bytes.get(mark + 1..length).and_then(|text| std::str::from_utf8(text).ok()?.parse().ok());
    // Without the dot the digits are in one piece.
    let end = if bytes[1] == b'.' {
        bytes.copy_within(2..mark, 1);
        mark - 1
    } else {
        mark
    };
    let significant = bytes[..end].iter().rposition(|digit| *digit != b'0').map_or(1, |last| last + 1);
    lay_out(out, &bytes[..significant], exponent.unwrap_or(0), digits);
}

/// The double nearest to the decimal, if one exactly rounded operation gives it.
fn nearest_double(decimal: Decimal, precision: u32) -> Option<f64> {
    let power = decimal.exponent - (precision as i32 - 1);
    let factor = *EXACT_POWERS.get(power.unsigned_abs() as usize)?;
    let digits = decimal.digits as f64;
    Some(if power < 0 { digits / factor } else { digits * factor })
}

/// Whether the decimal reads back as the `f32` of this value; `None` if that takes a full conversion.
fn reads_back_as_f32(decimal: Decimal, precision: u32, value: f64) -> Option<bool> {
    const BELOW_F32: u64 = (1 << 29) - 1;
    const MIDDLE: u64 = 1 << 28;
    let double = nearest_double(decimal, precision)?;
    // In the middle of two floats, the rounding to a double may have hidden on which side the decimal is.
    if double.to_bits() & BELOW_F32 == MIDDLE || double < f64::from(f32::MIN_POSITIVE) {
        return None;
    }
    Some(f64::from(double as f32) == value)
}

/// How `f32` and `f64` are printed: with few digits if these read back to the same value, else with many.
struct Shortest {
    few: u32,
    many: u32,
    /// 10^(many - few)
    unit: u64,
    /// Numbers of `many` digits that a value's `few` digits can stand for differ from them by no more than this:
    /// half of the distance between neighbouring floats, 2^-24 or 2^-53 of the value, and the rounding.
    tolerance: u64,
    smallest_normal: f64,
    is_f32: bool,
}

const F32: Shortest = Shortest {
    few: 6,
    many: 9,
    unit: 1000,
    tolerance: 61,
    smallest_normal: f32::MIN_POSITIVE as f64,
    is_f32: true,
};

const F64: Shortest = Shortest {
    few: 15,
    many: 17,
    unit: 100,
    tolerance: 13,
    smallest_normal: f64::MIN_POSITIVE,
    is_f32: false,
};

impl Shortest {
    fn write(&self, out: &mut Vec<u8>, value: f64) {
        let magnitude = value.abs();
        if magnitude == 0.0 || !magnitude.is_finite() {
            return write_general(out, value, self.few as usize);
        }
        if value.is_sign_negative() {
            out.push(b'-');
        }
        if write_small_integer(out, magnitude, self.few) {
            return;
        }
        if magnitude < self.smallest_normal {
            return self.write_slowly(out, magnitude);
        }
        let Some(wide) = leading_digits(magnitude, self.many) else {
            return self.write_slowly(out, magnitude);
        };
        let rest = wide.digits % self.unit;
        if rest > self.tolerance && self.unit - rest > self.tolerance {
            return write_decimal(out, wide, self.many);
        }
        // So near to fewer digits, rounding the wide ones is rounding the value.
        let mut narrow = Decimal { digits: (wide.digits + self.tolerance) / self.unit, ..wide };
        if narrow.digits == POWERS_OF_TEN[self.few as usize] {
            narrow = Decimal { digits: narrow.digits / 10, exponent: narrow.exponent + 1 };
        }
        let reads_back = if self.is_f32 {
            reads_back_as_f32(narrow, self.few, magnitude)
        } else {
            nearest_double(narrow, self.few).map(|double| double == magnitude)
        };
        match reads_back {
            Some(true) => write_decimal(out, narrow, self.few),
            Some(false) => write_decimal(out, wide, self.many),
            None => self.write_slowly(out, magnitude),
        }
    }

    /// By what the rule says: print, read back, print again.
    fn write_slowly(&self, out: &mut Vec<u8>, magnitude: f64) {
        let start = out.len();
        write_general(out, magnitude, self.few as usize);
        let text = std::str::from_utf8(&out[start..]).unwrap_or("");
        let reads_back = if self.is_f32 {
            text.parse::<f32>().is_ok_and(|float| f64::from(float) == magnitude)
        } else {
            text.parse::<f64>().is_ok_and(|double| double == magnitude)
        };
        if !reads_back {
            out.truncate(start);
            write_general(out, magnitude, self.many as usize);
        }
    }
}

/// Significant digits of the types that are printed with a fixed number of them.
fn fixed_digits(element_type: ElementType) -> usize {
    match element_type {
        ElementType::F16 => 5,
        ElementType::Bf16 => 4,
        ElementType::F8E5M2
        | ElementType::F8E5M2FNUZ
        | ElementType::F8E8M0FNU
        | ElementType::F4E2M1FN
        | ElementType::F6E3M2FN => 2,
        _ => 3,
    }
}

/// Appends a value of a float type, given as bits, as XLA prints it in a literal.
pub(crate) fn write_float(out: &mut Vec<u8>, element_type: ElementType, bits: u64) {
    let value = decode_float(element_type, bits);
    match element_type {
        _ if value.is_nan() => {
            out.extend_from_slice(if value.is_sign_negative() { b"-nan" } else { b"nan" });
            if let Some(payload) = nan_payload(element_type, bits) {
                // Writing to a vector can't fail.
                let _ = write!(out, "(0x{payload:x})");
            }
        }
        ElementType::F32 => F32.write(out, value),
        ElementType::F64 => F64.write(out, value),
        _ => write_general(out, value, fixed_digits(element_type)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn general(value: f64, digits: usize) -> String {
        let mut out = Vec::new();
        write_general(&mut out, value, digits);
        String::from_utf8(out).expect("ASCII")
    }

    fn float(element_type: ElementType, bits: u64) -> String {
        let mut out = Vec::new();
        write_float(&mut out, element_type, bits);
        String::from_utf8(out).expect("ASCII")
    }

    #[test]
    fn general_layouts() {
        let cases: &[(f64, usize, &str)] = &[
            (0.0, 6, "0"),
            (-0.0, 6, "-0"),
            (1.0, 6, "1"),
            (100.0, 6, "100"),
            (999_999.0, 6, "999999"),
            (1e6, 6, "1e+06"),
            (999_999.5, 6, "1e+06"),
            (1_234_567.0, 6, "1.23457e+06"),
            (0.0001, 6, "0.0001"),
            (0.00001, 6, "1e-05"),
            (0.000_099_999_99, 6, "0.0001"),
            (0.1, 17, "0.10000000000000001"),
            (1e100, 6, "1e+100"),
            (f64::MAX, 17, "1.7976931348623157e+308"),
            (5e-324, 6, "4.94066e-324"),
            (5e-324, 17, "4.9406564584124654e-324"),
            (123.456, 4, "123.5"),
            (120.0, 2, "1.2e+02"),
            // Ties go to the even digit.
            (2.5, 1, "2"),
            (3.5, 1, "4"),
            (0.312_5, 3, "0.312"),
            (0.437_5, 3, "0.438"),
            (12_345_650.0, 6, "1.23456e+07"),
            (9.5, 1, "1e+01"),
            (9.5, 0, "1e+01"),
            (0.5, 60, "0.5"),
            (1e23, 24, "99999999999999991611392"),
            (1e23, 23, "99999999999999991611392"),
            (1e23, 22, "9.999999999999999161139e+22"),
            (9.536_743_164_062_5e-7, 30, "9.5367431640625e-07"),
            (f64::NAN, 6, "nan"),
            (-f64::NAN, 6, "-nan"),
            (f64::INFINITY, 6, "inf"),
            (f64::NEG_INFINITY, 6, "-inf"),
        ];
        for &(value, digits, expected) in cases {
            assert_eq!(general(value, digits), expected, "{value:e} {digits}");
        }
    }

    #[test]
    fn fast_and_exact_digits_agree() {
        let mut state = 0x1234_5678_9abc_def1u64;
        for round in 0..200_000u32 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let wide = f64::from_bits(state & !(1 << 63));
            let near = (state >> 11) as f64 / (1u64 << 40) as f64;
            let short = f64::from(f32::from_bits((state >> 33) as u32));
            for value in [wide, near, short].into_iter().filter(|value| value.is_finite() && *value != 0.0) {
                let digits = round % MAX_FAST_DIGITS + 1;
                let mut slow = Vec::new();
                write_slowly(&mut slow, value, digits);
                assert_eq!(general(value, digits as usize).as_bytes(), slow, "{value:e} {digits}");
            }
        }
    }

    #[test]
    fn floats_by_type() {
        use ElementType as T;
        let f32_bits = |value: f32| u64::from(value.to_bits());
        let cases: &[(T, u64, &str)] = &[
            (T::F32, f32_bits(0.1), "0.1"),
            (T::F32, f32_bits(1.0 / 3.0), "0.333333343"),
            (T::F32, f32_bits(16_777_216.0), "16777216"),
            (T::F32, f32_bits(1e6), "1e+06"),
            (T::F32, f32_bits(f32::MAX), "3.40282347e+38"),
            (T::F32, 1, "1.4013e-45"),
            (T::F32, f32_bits(-0.0), "-0"),
            (T::F32, 0xff80_0000, "-inf"),
            (T::F32, 0x7fc0_0000, "nan"),
            (T::F32, 0xffc0_0001, "-nan(0x400001)"),
            (T::F64, 0.1f64.to_bits(), "0.1"),
            (T::F64, (0.1f64 + 0.2).to_bits(), "0.30000000000000004"),
            (T::F64, 1, "4.94065645841247e-324"),
            (T::F64, 2.225_073_858_507_201e-308f64.to_bits(), "2.2250738585072009e-308"),
            (T::F16, 0x7bff, "65504"),
            (T::F16, 0x3555, "0.33325"),
            (T::Bf16, 0x7f7f, "3.39e+38"),
            (T::F8E5M2, 0x7b, "5.7e+04"),
            (T::F8E8M0FNU, 0, "5.9e-39"),
            (T::F8E8M0FNU, 255, "nan"),
            (T::F8E4M3FNUZ, 0x80, "-nan"),
            (T::F8E3M4, 0x7f, "nan(0xf)"),
            (T::F6E2M3FN, 0x1f, "7.5"),
            (T::F4E2M1FN, 0x8, "-0"),
        ];
        for &(element_type, bits, expected) in cases {
            assert_eq!(float(element_type, bits), expected, "{element_type:?} {bits:#x}");
        }
    }

    #[test]
    fn the_short_way_is_the_rule() {
        let mut state = 3u64;
        for round in 0..200_000u32 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Any bits, and decimals of some digits, which are near the limit of what few digits can say.
            let digits = (state >> 20) % 10u64.pow(round % 17 + 1);
            let power = EXACT_POWERS[(state % 20) as usize];
            for value in [f64::from_bits(state & !(1 << 63)), digits as f64 / power, digits as f64 * power] {
                if !value.is_finite() || value == 0.0 {
                    continue;
                }
                let mut slow = Vec::new();
                F64.write_slowly(&mut slow, value);
                assert_eq!(float(ElementType::F64, value.to_bits()).as_bytes(), slow, "{value:e}");
                let single = value as f32;
                if single.is_finite() && single != 0.0 {
                    let mut slow = Vec::new();
                    F32.write_slowly(&mut slow, f64::from(single));
                    let text = float(ElementType::F32, u64::from(single.to_bits()));
                    assert_eq!(text.as_bytes(), slow, "{single:e}");
                }
            }
        }
    }

    #[test]
    fn printed_f32_and_f64_read_back() {
        let mut state = 7u64;
        for _ in 0..200_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let single = f32::from_bits((state >> 32) as u32);
            if single.is_finite() {
                let text = float(ElementType::F32, u64::from(single.to_bits()));
                assert_eq!(text.parse::<f32>().expect("a number").to_bits(), single.to_bits(), "{text}");
                let short = general(f64::from(single), 6);
                let is_short = short.parse::<f32>().expect("a number") == single;
                assert_eq!(text == short, is_short, "{text} {short}");
            }
            let double = f64::from_bits(state);
            if double.is_finite() {
                let text = float(ElementType::F64, state);
                assert_eq!(text.parse::<f64>().expect("a number").to_bits(), state, "{text}");
            }
        }
    }
}
