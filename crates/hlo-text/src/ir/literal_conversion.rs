//! Values of one element type as values of another.

use super::element_type::{ElementClass, ElementType};
use super::literal::Elements;
use crate::number::{decode_float, encode_float, max_finite};

/// How values are converted.
#[derive(Clone, Copy)]
struct Rule {
    exact: bool,
    overflow: Overflow,
}

/// A value before it gets its new type.
#[derive(Clone, Copy)]
enum Scalar {
    Integer(i128),
    Float(f64),
    Complex(f64, f64),
}

/// What becomes of finite floating-point values beyond the largest of the new type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overflow {
    /// They have no value of that type.
    #[default]
    Refuse,
    /// The largest finite value, with their sign.
    Saturate,
}

impl Elements {
    /// The same values with another element type; the number of the first element whose value the type can't hold.
    ///
    /// Values are rounded from one floating-point type to another of at least 8 bits. Everything else must be exact:
    /// integers, `pred`, types below 8 bits. A finite value must stay finite, see [`Overflow`]; infinities, NaNs and an
    /// imaginary part need a type that has them.
    ///
    /// # Errors
    /// The number of the first element that the type doesn't have.
    pub fn converted(&self, to: ElementType, overflow: Overflow) -> Result<Self, usize> {
        let from = self.element_type();
        let is_exact = |element_type: ElementType| {
            element_type.bits() < 8 || element_type.is_integer() || element_type == ElementType::Pred
        };
        let exact = is_exact(from) || is_exact(to);
        let rule = Rule { exact, overflow };
        // Zeros at the end are converted once.
        let stored = self.stored_count();
        let mut bytes = Vec::with_capacity(stored * to.storage_bytes());
        for index in 0..stored {
            self.scalar(index).and_then(|value| write(value, to, rule, &mut bytes)).ok_or(index)?;
        }
        if stored < self.len() {
            let mut zero = Vec::new();
            let fits = write(Scalar::Integer(0), to, rule, &mut zero).is_some();
            if !fits || zero.iter().any(|&byte| byte != 0) {
                return Err(stored);
            }
        }
        let converted = Self::from_bytes(to, bytes).ok_or(0usize)?;
        Ok(converted.followed_by_zeros(self.len()))
    }

    fn scalar(&self, index: usize) -> Option<Scalar> {
        Some(match self.element_type().class() {
            ElementClass::Pred | ElementClass::Unsigned => Scalar::Integer(i128::from(self.u64(index)?)),
            ElementClass::Signed => Scalar::Integer(i128::from(self.i64(index)?)),
            ElementClass::Float => Scalar::Float(self.f64(index)?),
            ElementClass::Complex => {
                let (real, imaginary) = self.complex(index)?;
                Scalar::Complex(real, imaginary)
            }
            ElementClass::NotArray => return None,
        })
    }
}

/// Appends a value; `None` if the type doesn't have it.
fn write(value: Scalar, to: ElementType, rule: Rule, bytes: &mut Vec<u8>) -> Option<()> {
    if let Some(part) = to.complex_component() {
        let (real, imaginary) = match value {
            Scalar::Complex(real, imaginary) => (Scalar::Float(real), imaginary),
            other => (other, 0.0),
        };
        write(real, part, rule, bytes)?;
        return write(Scalar::Float(imaginary), part, rule, bytes);
    }
    let value = match value {
        Scalar::Complex(real, 0.0) => Scalar::Float(real),
        Scalar::Complex(..) => return None,
        other => other,
    };
    let bits = match to.class() {
        ElementClass::Float => float_bits(value, to, rule)?,
        ElementClass::Pred | ElementClass::Signed | ElementClass::Unsigned => integer_bits(value, to)?,
        ElementClass::Complex | ElementClass::NotArray => return None,
    };
    bytes.extend_from_slice(bits.to_le_bytes().get(..to.storage_bytes())?);
    Some(())
}

fn float_bits(value: Scalar, to: ElementType, rule: Rule) -> Option<u64> {
    let exact = rule.exact;
    let wanted = match value {
        Scalar::Integer(integer) => {
            let float = integer as f64;
            if exact && float as i128 != integer {
                return None;
            }
            float
        }
        Scalar::Float(float) | Scalar::Complex(float, _) => float,
    };
    let bits = encode_float(to, wanted);
    let got = decode_float(to, bits);
    let fits = if wanted.is_nan() {
        got.is_nan()
    } else if exact || wanted.is_infinite() {
        got == wanted
    } else {
        // Types without infinity saturate.
        let saturates = decode_float(to, encode_float(to, f64::INFINITY)).is_finite();
        let largest = max_finite(to);
        let overflows = !got.is_finite() || (saturates && wanted.abs() > largest);
        if overflows && rule.overflow == Overflow::Saturate && (to != ElementType::F8E8M0FNU || wanted > 0.0)
        {
            return Some(encode_float(to, largest.copysign(wanted)));
        }
        !overflows
            // `f8e8m0fnu` has neither zero nor negative values.
            && (to != ElementType::F8E8M0FNU || wanted > 0.0)
    };
    fits.then_some(bits)
}

fn integer_bits(value: Scalar, to: ElementType) -> Option<u64> {
    let integer = match value {
        Scalar::Integer(integer) => integer,
        Scalar::Float(float) | Scalar::Complex(float, _) => {
            let integer = float as i128;
            // Infinities saturate, NaN becomes 0.
            if integer as f64 != float || !float.is_finite() {
                return None;
            }
            integer
        }
    };
    let bits = to.bits();
    let (lowest, highest) = match to.class() {
        ElementClass::Pred => (0, 1),
        ElementClass::Signed => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        _ => (0, (1i128 << bits) - 1),
    };
    (lowest..=highest).contains(&integer).then_some(integer as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ElementType as T;

    fn convert(from: T, values: &[f64], to: T) -> Result<Vec<f64>, usize> {
        let elements = Elements::from_f64s(from, values.iter().copied()).expect("an array type");
        let converted = elements.converted(to, Overflow::Refuse)?;
        assert_eq!(converted.len(), elements.len());
        Ok((0..converted.len()).map(|index| converted.f64(index).expect("a real type")).collect())
    }

    #[test]
    fn floats_are_rounded_but_stay_finite() {
        assert_eq!(convert(T::F32, &[1.0, 1.001, -0.0], T::Bf16), Ok(vec![1.0, 1.0, 0.0]));
        assert_eq!(convert(T::F32, &[1.0, 1e30], T::F16).err(), Some(1));
        assert_eq!(convert(T::F32, &[65519.0], T::F16), Ok(vec![65504.0]));
        assert_eq!(convert(T::F32, &[500.0], T::F8E4M3FN).err(), Some(0));
        assert_eq!(convert(T::F32, &[f64::INFINITY], T::F16), Ok(vec![f64::INFINITY]));
        assert_eq!(convert(T::F32, &[f64::INFINITY], T::F8E4M3FN).err(), Some(0));
        assert!(convert(T::F32, &[f64::NAN], T::F8E4M3FN).is_ok_and(|values| values[0].is_nan()));
        assert_eq!(convert(T::F32, &[f64::NAN], T::F4E2M1FN).err(), Some(0));
        assert_eq!(convert(T::F32, &[1.5, 1.6], T::F4E2M1FN).err(), Some(1));
        assert_eq!(convert(T::F32, &[2.0, 0.0], T::F8E8M0FNU).err(), Some(1));
        assert_eq!(convert(T::F32, &[2.0, -2.0], T::F8E8M0FNU).err(), Some(1));
        assert_eq!(convert(T::Bf16, &[0.5], T::F64), Ok(vec![0.5]));
    }

    #[test]
    fn large_values_saturate_on_demand() {
        let saturate = |to, value: f64| {
            let elements = Elements::from_f64s(T::F64, [value]).expect("an array type");
            elements.converted(to, Overflow::Saturate).map(|converted| converted.f64(0))
        };
        assert_eq!(saturate(T::F16, -1e30), Ok(Some(-65504.0)));
        assert_eq!(saturate(T::F8E4M3FN, 1e30), Ok(Some(448.0)));
        assert_eq!(saturate(T::F16, f64::INFINITY), Ok(Some(f64::INFINITY)));
        assert_eq!(saturate(T::F8E4M3FN, f64::INFINITY), Err(0));
        assert_eq!(saturate(T::S8, 1000.0), Err(0));
        assert_eq!(saturate(T::F8E8M0FNU, -1e300), Err(0));
    }

    #[test]
    fn integers_must_be_exact() {
        assert_eq!(convert(T::S32, &[-1.0, 127.0], T::S8), Ok(vec![-1.0, 127.0]));
        assert_eq!(convert(T::S32, &[-1.0, 128.0], T::S8).err(), Some(1));
        assert_eq!(convert(T::S32, &[-1.0], T::U64).err(), Some(0));
        assert_eq!(convert(T::F32, &[2.0, 2.5], T::S4).err(), Some(1));
        assert_eq!(convert(T::F32, &[f64::NAN], T::S32).err(), Some(0));
        assert_eq!(convert(T::F64, &[1e300], T::S64).err(), Some(0));
        assert_eq!(convert(T::F32, &[0.0, 1.0, 2.0], T::Pred).err(), Some(2));
        assert_eq!(convert(T::Pred, &[0.0, 1.0], T::F32), Ok(vec![0.0, 1.0]));
        assert_eq!(convert(T::S32, &[16_777_217.0], T::F32).err(), Some(0));
        assert_eq!(convert(T::S32, &[100_000.0], T::F16).err(), Some(0));
        let wide = Elements::from_i64s(T::U64, [-1]).expect("integers");
        assert_eq!(wide.converted(T::S64, Overflow::Refuse), Err(0));
        assert_eq!(wide.converted(T::U64, Overflow::Refuse), Ok(wide.clone()));
    }

    #[test]
    fn complex_values_keep_both_parts() {
        let complex = Elements::from_complex(T::C64, [(1.0, 2.0)]).expect("complex");
        assert_eq!(
            complex.converted(T::C128, Overflow::Refuse).map(|wide| wide.complex(0)),
            Ok(Some((1.0, 2.0)))
        );
        assert_eq!(complex.converted(T::F32, Overflow::Refuse), Err(0));
        assert_eq!(convert(T::C64, &[3.0], T::S32), Ok(vec![3.0]));
        let one = Elements::from_i64s(T::S32, [1]).expect("integers");
        assert_eq!(
            one.converted(T::C64, Overflow::Refuse).map(|complex| complex.complex(0)),
            Ok(Some((1.0, 0.0)))
        );
    }

    #[test]
    fn zeros_that_are_not_stored_stay_so() {
        let zeros = Elements::from_i64s(T::S32, [7]).expect("integers").followed_by_zeros(1 << 40);
        let converted = zeros.converted(T::Bf16, Overflow::Refuse).expect("both fit");
        assert_eq!((converted.len(), converted.f64(0), converted.f64(9)), (1 << 40, Some(7.0), Some(0.0)));
        assert_eq!(zeros.converted(T::F8E8M0FNU, Overflow::Refuse).err(), Some(0));
    }
}
