//! The floating-point types as data, and conversions between them and `f64`.
//!
//! Values are passed as bits in the low end of a `u64`. `f16` and `bf16` are rounded through `f32`, all smaller
//! types straight from `f64`, as XLA's parser does; rounding is to nearest, ties to even.

use crate::ir::ElementType;

/// What the largest exponent, and the encoding of minus zero, mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Specials {
    /// IEEE 754: infinities and NaNs with payloads.
    Ieee,
    /// `fn`: no infinities; all ones is NaN.
    NanAllOnes,
    /// `fnuz`: no infinities, no minus zero; its encoding is the only NaN.
    NanMinusZero,
    /// `fn` types below 8 bits: neither infinities nor NaNs, too large values saturate.
    FiniteOnly,
}

/// A signed floating-point type with an implicit leading bit and subnormals.
#[derive(Clone, Copy, Debug)]
struct Format {
    exponent_bits: u32,
    mantissa_bits: u32,
    bias: i32,
    specials: Specials,
}

impl Format {
    const fn new(exponent_bits: u32, mantissa_bits: u32, bias: i32, specials: Specials) -> Self {
        Self { exponent_bits, mantissa_bits, bias, specials }
    }

    /// The format of a float type; `None` for `f8e8m0fnu`, which has no sign and no mantissa, and for types
    /// that are not floats.
    const fn of(element_type: ElementType) -> Option<Self> {
        use Specials::{FiniteOnly, Ieee, NanAllOnes, NanMinusZero};
        Some(match element_type {
            ElementType::F64 => Self::new(11, 52, 1023, Ieee),
            ElementType::F32 => Self::new(8, 23, 127, Ieee),
            ElementType::F16 => Self::new(5, 10, 15, Ieee),
            ElementType::Bf16 => Self::new(8, 7, 127, Ieee),
            ElementType::F8E5M2 => Self::new(5, 2, 15, Ieee),
            ElementType::F8E4M3 => Self::new(4, 3, 7, Ieee),
            ElementType::F8E3M4 => Self::new(3, 4, 3, Ieee),
            ElementType::F8E4M3FN => Self::new(4, 3, 7, NanAllOnes),
            ElementType::F8E5M2FNUZ => Self::new(5, 2, 16, NanMinusZero),
            ElementType::F8E4M3FNUZ => Self::new(4, 3, 8, NanMinusZero),
            ElementType::F8E4M3B11FNUZ => Self::new(4, 3, 11, NanMinusZero),
            ElementType::F6E3M2FN => Self::new(3, 2, 3, FiniteOnly),
            ElementType::F6E2M3FN => Self::new(2, 3, 1, FiniteOnly),
            ElementType::F4E2M1FN => Self::new(2, 1, 1, FiniteOnly),
            _ => return None,
        })
    }

    /// The bits of the magnitude.
    const fn magnitude_mask(self) -> u64 {
        (1 << (self.exponent_bits + self.mantissa_bits)) - 1
    }

    const fn sign_bit(self) -> u64 {
        1 << (self.exponent_bits + self.mantissa_bits)
    }

    const fn mantissa_mask(self) -> u64 {
        (1 << self.mantissa_bits) - 1
    }

    /// The magnitude of infinity, for IEEE formats.
    const fn infinity(self) -> u64 {
        self.magnitude_mask() & !self.mantissa_mask()
    }

    const fn max_finite(self) -> u64 {
        match self.specials {
            Specials::Ieee => self.infinity() - 1,
            Specials::NanAllOnes => self.magnitude_mask() - 1,
            Specials::NanMinusZero | Specials::FiniteOnly => self.magnitude_mask(),
        }
    }

    /// What a magnitude beyond the finite ones becomes.
    const fn overflow(self, sign: u64) -> u64 {
        match self.specials {
            Specials::Ieee => sign | self.infinity(),
            Specials::NanAllOnes => sign | self.magnitude_mask(),
            Specials::NanMinusZero => self.sign_bit(),
            Specials::FiniteOnly => sign | self.max_finite(),
        }
    }

    /// A NaN of this format; the payload keeps its upper bits, or becomes quiet if they are all 0.
    const fn nan(self, bits: u64) -> u64 {
        let sign = if bits >> 63 != 0 { self.sign_bit() } else { 0 };
        match self.specials {
            Specials::Ieee => {
                let payload = (bits & F64_MANTISSA) >> (52 - self.mantissa_bits);
                let quiet = 1 << (self.mantissa_bits - 1);
                sign | self.infinity() | if payload == 0 { quiet } else { payload }
            }
            Specials::NanAllOnes => sign | self.magnitude_mask(),
            Specials::NanMinusZero => self.sign_bit(),
            // Without NaNs XLA's conversion gives a zero, of the other sign.
            Specials::FiniteOnly => sign ^ self.sign_bit(),
        }
    }

    fn encode(self, value: f64) -> u64 {
        let bits = value.to_bits();
        if value.is_nan() {
            return self.nan(bits);
        }
        let sign = if value.is_sign_negative() { self.sign_bit() } else { 0 };
        if value.is_infinite() {
            return self.overflow(sign);
        }
        let field = (bits >> 52 & 0x7ff) as i32;
        let significand = bits & F64_MANTISSA | if field == 0 { 0 } else { 1 << 52 };
        let exponent = field.max(1) - 1023;
        // Subnormals have the exponent of the smallest normal number but no leading bit.
        let target = exponent.max(1 - self.bias);
        let dropped = (52 - self.mantissa_bits) as i32 + (target - exponent);
        let rounded = round_shift(significand, dropped as u32);
        // The leading bit, and the carry of rounding, add 1 to the exponent field.
        let magnitude = (((target + self.bias - 1) as u64) << self.mantissa_bits) + rounded;
        if magnitude > self.max_finite() {
            self.overflow(sign)
        } else if magnitude == 0 && self.specials == Specials::NanMinusZero {
            0
        } else {
            sign | magnitude
        }
    }

    fn decode(self, bits: u64) -> f64 {
        let negative = bits & self.sign_bit() != 0;
        let magnitude = bits & self.magnitude_mask();
        let sign = if negative { 1 << 63 } else { 0 };
        let mantissa = magnitude & self.mantissa_mask();
        if magnitude > self.max_finite() {
            let wide = mantissa << (52 - self.mantissa_bits);
            return match self.specials {
                Specials::Ieee => f64::from_bits(sign | F64_INFINITY | wide),
                _ => f64::from_bits(sign | F64_INFINITY | F64_QUIET),
            };
        }
        if negative && magnitude == 0 && self.specials == Specials::NanMinusZero {
            return f64::from_bits(sign | F64_INFINITY | F64_QUIET);
        }
        let field = (magnitude >> self.mantissa_bits) as i32;
        let value = if field == 0 {
            mantissa as f64 * power_of_two(1 - self.bias - self.mantissa_bits as i32)
        } else {
            let exponent = (field - self.bias + 1023) as u64;
            f64::from_bits(exponent << 52 | mantissa << (52 - self.mantissa_bits))
        };
        if negative { -value } else { value }
    }
}

const F64_MANTISSA: u64 = (1 << 52) - 1;
const F64_INFINITY: u64 = 0x7ff << 52;
const F64_QUIET: u64 = 1 << 51;

/// `value / 2^shift`, to nearest, ties to even; `value` is below 2^54.
fn round_shift(value: u64, shift: u32) -> u64 {
    match shift {
        0 => value,
        1..=62 => {
            let half = 1u64 << (shift - 1);
            let quotient = value >> shift;
            let rest = value & ((half << 1) - 1);
            quotient + u64::from(rest > half || (rest == half && quotient & 1 == 1))
        }
        _ => 0,
    }
}

/// 2 to the power of an exponent that gives a normal `f64`.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// The NaN of `f8e8m0fnu`.
const E8M0_NAN: u64 = 0xff;

/// `f8e8m0fnu` is a biased exponent. Ties go up; positive numbers below the smallest become it; there is no zero.
fn encode_e8m0(value: f64) -> u64 {
    // Also false for NaN.
    if !(value > 0.0 && value.is_finite()) {
        return E8M0_NAN;
    }
    let smallest = power_of_two(-127);
    if value <= smallest {
        return 0;
    }
    if value < smallest * 2.0 {
        return 1;
    }
    let bits = value.to_bits();
    let field = (bits >> 52) + u64::from(bits & F64_QUIET != 0);
    // As 1023 - 127 is the difference of the biases.
    (field - 896).min(E8M0_NAN)
}

fn decode_e8m0(bits: u64) -> f64 {
    match bits & 0xff {
        E8M0_NAN => f64::NAN,
        exponent => power_of_two(exponent as i32 - 127),
    }
}

/// The value of type `element_type` nearest to `value`, as bits in the low end of the result.
///
/// `f16` and `bf16` are rounded through `f32`. Values beyond the range become infinity, in types without it NaN,
/// in the 4- and 6-bit types the largest finite value. NaNs keep their sign and the upper bits of their payload
/// where the type has them. `f8e8m0fnu` turns 0 and negative values into NaN. Types that are not floats give 0.
pub fn encode_float(element_type: ElementType, value: f64) -> u64 {
    match element_type {
        ElementType::F64 => value.to_bits(),
        ElementType::F32 if !value.is_nan() => u64::from((value as f32).to_bits()),
        ElementType::Bf16 if !value.is_nan() => {
            // The upper half of an f32; the carry of rounding runs into the exponent as it should.
            let bits = (value as f32).to_bits();
            u64::from((bits + 0x7fff + (bits >> 16 & 1)) >> 16)
        }
        ElementType::F16 if !value.is_nan() => {
            Format::of(element_type).map_or(0, |format| format.encode(f64::from(value as f32)))
        }
        ElementType::F8E8M0FNU => encode_e8m0(value),
        _ => Format::of(element_type).map_or(0, |format| format.encode(value)),
    }
}

/// The value of `bits`, exactly; NaNs keep sign and payload. Types that are not floats give 0.
pub fn decode_float(element_type: ElementType, bits: u64) -> f64 {
    match element_type {
        ElementType::F64 => f64::from_bits(bits),
        ElementType::F32 if bits & 0x7f80_0000 != 0x7f80_0000 => f64::from(f32::from_bits(bits as u32)),
        ElementType::Bf16 if bits & 0x7f80 != 0x7f80 => f64::from(f32::from_bits((bits as u32) << 16)),
        ElementType::F8E8M0FNU => decode_e8m0(bits),
        _ => Format::of(element_type).map_or(0.0, |format| format.decode(bits)),
    }
}

/// The largest finite value of a float type; 0 for other types.
pub fn max_finite(element_type: ElementType) -> f64 {
    match element_type {
        ElementType::F8E8M0FNU => decode_e8m0(E8M0_NAN - 1),
        _ => Format::of(element_type).map_or(0.0, |format| format.decode(format.max_finite())),
    }
}

/// Whether `bits` are a finite value of a float type.
pub(crate) fn is_finite(element_type: ElementType, bits: u64) -> bool {
    match Format::of(element_type) {
        Some(format) => {
            let is_only_nan = format.specials == Specials::NanMinusZero && bits == format.sign_bit();
            bits & format.magnitude_mask() <= format.max_finite() && !is_only_nan
        }
        None => bits != E8M0_NAN,
    }
}

/// The payload (all mantissa bits) of a NaN, `None` if it is the quiet bit alone, or if the type has no payloads.
pub fn nan_payload(element_type: ElementType, bits: u64) -> Option<u64> {
    let format = Format::of(element_type).filter(|format| format.specials == Specials::Ieee)?;
    let payload = bits & format.mantissa_mask();
    (payload != 1 << (format.mantissa_bits - 1)).then_some(payload)
}

/// The NaN of type `element_type` that the text of `nan` means, a double with a payload: the double's own quiet
/// payload stands for the quiet payload of the type, any other is taken as it is.
///
/// # Errors
/// The payload exceeds the largest of the type, which is given, or the type has no payloads (`None`).
pub fn nan_with_payload(element_type: ElementType, nan: f64) -> Result<u64, Option<u64>> {
    let bits = nan.to_bits();
    let payload = bits & F64_MANTISSA;
    if payload == F64_QUIET {
        return Ok(encode_float(element_type, nan));
    }
    let format = Format::of(element_type).filter(|format| format.specials == Specials::Ieee).ok_or(None)?;
    if payload > format.mantissa_mask() {
        return Err(Some(format.mantissa_mask()));
    }
    let sign = if nan.is_sign_negative() { format.sign_bit() } else { 0 };
    Ok(sign | format.infinity() | payload)
}

/// A NaN narrowed the way processors do: upper payload bits, made quiet.
pub(crate) fn round_nan_to_f32(nan: f64) -> u64 {
    encode_float(ElementType::F32, f64::from_bits(nan.to_bits() | F64_QUIET))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::ElementClass;

    fn float_types() -> impl Iterator<Item = ElementType> {
        ElementType::ALL.iter().copied().filter(|t| t.class() == ElementClass::Float)
    }

    #[test]
    fn every_small_value_survives_the_way_through_f64() {
        for element_type in float_types().filter(|t| t.bits() <= 16) {
            for bits in 0..1u64 << element_type.bits() {
                let value = decode_float(element_type, bits);
                assert_eq!(is_finite(element_type, bits), value.is_finite(), "{element_type:?} {bits:#x}");
                assert_eq!(encode_float(element_type, value), bits, "{element_type:?} {bits:#x} {value}");
            }
        }
    }

    #[test]
    fn rounding_picks_the_nearest_neighbour() {
        // Between neighbours: below the middle down, above it up, in the middle the even one.
        for element_type in float_types().filter(|t| t.bits() <= 8 && *t != ElementType::F8E8M0FNU) {
            let limit = 1u64 << (element_type.bits() - 1);
            for bits in 0..limit - 1 {
                let (low, high) = (decode_float(element_type, bits), decode_float(element_type, bits + 1));
                if !low.is_finite() || !high.is_finite() {
                    continue;
                }
                let middle = (low + high) / 2.0;
                let even = bits + (bits & 1);
                assert_eq!(encode_float(element_type, middle), even, "{element_type:?} {middle}");
                assert_eq!(encode_float(element_type, middle.next_down()), bits, "{element_type:?} {middle}");
                assert_eq!(
                    encode_float(element_type, middle.next_up()),
                    bits + 1,
                    "{element_type:?} {middle}"
                );
            }
        }
    }

    #[test]
    fn edges() {
        use ElementType as T;
        let cases: &[(T, f64, u64)] = &[
            (T::F16, 65519.0, 0x7bff),
            (T::F16, 65520.0, 0x7c00),
            // Rounded to f32 first, which makes it a tie.
            (T::F16, 1.000_488_281_25, 0x3c00),
            (T::F16, f64::from_bits(0x3ff0_0200_0000_0001), 0x3c00),
            (T::Bf16, 1.0, 0x3f80),
            (T::F8E4M3FN, 464.0, 0x7e),
            (T::F8E4M3FN, 465.0, 0x7f),
            (T::F8E4M3FN, f64::NEG_INFINITY, 0xff),
            (T::F8E4M3FNUZ, -0.0, 0),
            (T::F8E4M3FNUZ, -1e-20, 0),
            (T::F8E5M2FNUZ, f64::INFINITY, 0x80),
            (T::F8E5M2, 61439.0, 0x7b),
            (T::F8E5M2, 61440.0, 0x7c),
            (T::F4E2M1FN, 100.0, 7),
            (T::F4E2M1FN, f64::NEG_INFINITY, 15),
            (T::F4E2M1FN, f64::NAN, 8),
            (T::F6E3M2FN, -f64::NAN, 0),
            (T::F8E8M0FNU, 1.4, 127),
            (T::F8E8M0FNU, 1.5, 128),
            (T::F8E8M0FNU, 3.0, 129),
            (T::F8E8M0FNU, 1e-320, 0),
            (T::F8E8M0FNU, 5.88e-39, 1),
            (T::F8E8M0FNU, 2.5e38, 254),
            (T::F8E8M0FNU, 2.6e38, 255),
            (T::F8E8M0FNU, f64::MAX, 255),
            (T::F8E8M0FNU, 0.0, 255),
            (T::F8E8M0FNU, -1.0, 255),
            (T::F64, 5e-324, 1),
            (T::F32, 1e-50, 0),
        ];
        for &(element_type, value, bits) in cases {
            assert_eq!(encode_float(element_type, value), bits, "{element_type:?} {value:e}");
        }
    }

    #[test]
    fn payloads() {
        let nan = |payload: u64| f64::from_bits(F64_INFINITY | payload);
        assert_eq!(nan_with_payload(ElementType::F16, nan(1)), Ok(0x7c01));
        assert_eq!(nan_with_payload(ElementType::F16, nan(F64_QUIET)), Ok(0x7e00));
        assert_eq!(nan_with_payload(ElementType::F16, -nan(0x3ff)), Ok(0xffff));
        assert_eq!(nan_with_payload(ElementType::F16, nan(0x400)), Err(Some(0x3ff)));
        assert_eq!(nan_with_payload(ElementType::F8E4M3FN, nan(1)), Err(None));
        assert_eq!(nan_payload(ElementType::F32, 0x7fc0_0000), None);
        assert_eq!(nan_payload(ElementType::F32, 0x7fc0_0001), Some(0x40_0001));
        assert_eq!(nan_payload(ElementType::F8E4M3FNUZ, 0x80), None);
        assert_eq!(round_nan_to_f32(nan(0x2000_0000)), 0x7fc0_0001);
        assert_eq!(decode_float(ElementType::F32, 0x7f80_0001).to_bits(), F64_INFINITY | 1 << 29);
    }
}
