//! Literals: constant values, dense and bit-exact.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::ops::Range;

use smallvec::SmallVec;

use super::element_type::{ElementClass, ElementType};
use super::ids::ShapeId;
use super::shape::ShapeTable;
use crate::number::{decode_float, encode_float};

/// A literal. Equality and hashes are bit by bit: `-0` differs from `0`, equal NaNs are equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Literal {
    /// Its shape, layout included; bounded dimensions are static, there are no buffers.
    pub shape: ShapeId,
    /// The values.
    pub data: LiteralData,
}

/// The values of a [`Literal`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LiteralData {
    /// Elements of an array in row-major (logical) order, as many as the shape has.
    Dense(Elements),
    /// Elements of a tuple.
    Tuple(Vec<Literal>),
    /// `{...}`: the text left the values of an array out. Printable as `{...}`, never readable as numbers.
    Elided,
}

impl Literal {
    /// A scalar of type `element_type` with the value `value`, see [`Elements::from_i64s`]; `None` for `token`
    /// and `opaque`.
    pub fn scalar(shapes: &mut ShapeTable, element_type: ElementType, value: i64) -> Option<Self> {
        let elements = Elements::from_i64s(element_type, [value])?;
        Some(Self { shape: shapes.array(element_type, &[]), data: LiteralData::Dense(elements) })
    }

    /// A scalar of type `element_type` with the value `value`, see [`Elements::from_f64s`]; `None` for `token`
    /// and `opaque`.
    pub fn scalar_f64(shapes: &mut ShapeTable, element_type: ElementType, value: f64) -> Option<Self> {
        let elements = Elements::from_f64s(element_type, [value])?;
        Some(Self { shape: shapes.array(element_type, &[]), data: LiteralData::Dense(elements) })
    }

    /// The elements if this is an array whose values are known.
    pub fn elements(&self) -> Option<&Elements> {
        match &self.data {
            LiteralData::Dense(elements) => Some(elements),
            _ => None,
        }
    }

    /// The elements of a tuple.
    pub fn as_tuple(&self) -> Option<&[Literal]> {
        match &self.data {
            LiteralData::Tuple(elements) => Some(elements),
            _ => None,
        }
    }

    /// Whether this is an array whose elements are all `value`, see [`Elements::is_all`].
    pub fn is_all(&self, value: i64) -> bool {
        self.elements().is_some_and(|elements| elements.is_all(value))
    }

    /// Whether any values are left out (`{...}`), at any depth.
    pub fn has_elided(&self) -> bool {
        let mut open = vec![self];
        while let Some(literal) = open.pop() {
            match &literal.data {
                LiteralData::Elided => return true,
                LiteralData::Tuple(elements) => open.extend(elements),
                LiteralData::Dense(_) => {}
            }
        }
        false
    }
}

/// Scalars of every type lie beside the literal, not on the heap.
const INLINE_BYTES: usize = 16;

/// The elements of an array in row-major order: little-endian, each [`ElementType::storage_bytes`] bytes.
///
/// `pred` is one byte, 0 or 1. Sub-byte types take one byte per element; signed ones are sign-extended, unsigned
/// ones and floats zero-extended. Complex elements are the real part and then the imaginary part.
///
/// Zero bytes at the end may be left out of memory, as `f32[4096,4096] constant(1)` is legal and short.
#[derive(Clone, Debug)]
pub struct Elements {
    element_type: ElementType,
    /// Of whole elements.
    stored: SmallVec<[u8; INLINE_BYTES]>,
    /// Number of elements; those that are not stored are zero bytes.
    len: usize,
}

impl PartialEq for Elements {
    fn eq(&self, other: &Self) -> bool {
        let (short, long) = if self.stored.len() <= other.stored.len() {
            (&self.stored, &other.stored)
        } else {
            (&other.stored, &self.stored)
        };
        self.element_type == other.element_type
            && self.len == other.len
            && long.starts_with(short)
            && long.iter().skip(short.len()).all(|&byte| byte == 0)
    }
}

impl Eq for Elements {}

impl Hash for Elements {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let used = self.stored.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        (self.element_type, self.len, &self.stored[..used]).hash(state);
    }
}

impl Elements {
    /// Elements from their bytes; `None` if these are not a whole number of elements, if the type has none, or
    /// if a byte of a `pred` or sub-byte type is not as described at [`Elements`].
    pub fn from_bytes(element_type: ElementType, bytes: Vec<u8>) -> Option<Self> {
        let size = element_type.storage_bytes();
        if size == 0 || !bytes.len().is_multiple_of(size) {
            return None;
        }
        let narrow = element_type.bits() < 8 || element_type == ElementType::Pred;
        let valid = |&byte: &u8| match element_type.class() {
            ElementClass::Pred => byte <= 1,
            ElementClass::Signed => wrap_integer(element_type, i64::from(byte as i8)) as u8 == byte,
            _ => u32::from(byte) >> element_type.bits() == 0,
        };
        if narrow && !bytes.iter().all(valid) {
            return None;
        }
        Some(Self::from_valid(element_type, bytes.into()))
    }

    /// The same for bytes that are known to be right.
    pub(crate) fn from_valid(element_type: ElementType, mut bytes: SmallVec<[u8; INLINE_BYTES]>) -> Self {
        bytes.shrink_to_fit();
        Self { element_type, len: bytes.len() / element_type.storage_bytes(), stored: bytes }
    }

    /// The same elements and zeros after them, `len` in all, at least as many as there are.
    pub(crate) fn followed_by_zeros(self, len: usize) -> Self {
        Self { len: len.max(self.len), ..self }
    }

    /// How many elements are in memory; those after them are zero bytes.
    pub(crate) fn stored_count(&self) -> usize {
        self.stored.len() / self.element_type.storage_bytes()
    }

    /// Elements from integers; `None` for `token` and `opaque`.
    ///
    /// Integer types keep the low bits, `pred` is whether the value is not 0, floating-point types take the
    /// nearest value, complex ones have no imaginary part.
    pub fn from_i64s(element_type: ElementType, values: impl IntoIterator<Item = i64>) -> Option<Self> {
        Self::collect(element_type, values, |bytes, value| match element_type.class() {
            ElementClass::Pred => bytes.push(u8::from(value != 0)),
            ElementClass::Signed | ElementClass::Unsigned => {
                push(bytes, wrap_integer(element_type, value) as u64, element_type.storage_bytes())
            }
            _ => push_f64(bytes, element_type, value as f64),
        })
    }

    /// Elements from doubles; `None` for `token` and `opaque`.
    ///
    /// Floating-point types take what [`encode_float`] gives, complex ones have no imaginary part, `pred` is
    /// whether the value is not 0, integer types drop the fraction and saturate.
    pub fn from_f64s(element_type: ElementType, values: impl IntoIterator<Item = f64>) -> Option<Self> {
        Self::collect(element_type, values, |bytes, value| match element_type.class() {
            ElementClass::Pred => bytes.push(u8::from(value != 0.0)),
            ElementClass::Signed => {
                let highest = i64::MAX >> (64 - element_type.bits());
                let integer = (value as i64).clamp(-highest - 1, highest);
                push(bytes, integer as u64, element_type.storage_bytes());
            }
            ElementClass::Unsigned => {
                let highest = u64::MAX >> (64 - element_type.bits());
                push(bytes, (value as u64).min(highest), element_type.storage_bytes());
            }
            _ => push_f64(bytes, element_type, value),
        })
    }

    /// Elements of `c64` or `c128` from real and imaginary parts; `None` for other types.
    pub fn from_complex(
        element_type: ElementType,
        values: impl IntoIterator<Item = (f64, f64)>,
    ) -> Option<Self> {
        let part = element_type.complex_component()?;
        Self::collect(element_type, values, |bytes, (real, imaginary)| {
            push_f64(bytes, part, real);
            push_f64(bytes, part, imaginary);
        })
    }

    fn collect<T>(
        element_type: ElementType,
        values: impl IntoIterator<Item = T>,
        mut write: impl FnMut(&mut SmallVec<[u8; INLINE_BYTES]>, T),
    ) -> Option<Self> {
        if !element_type.is_array_element() {
            return None;
        }
        let mut bytes = SmallVec::new();
        values.into_iter().for_each(|value| write(&mut bytes, value));
        Some(Self { element_type, len: bytes.len() / element_type.storage_bytes(), stored: bytes })
    }

    /// Type of the elements, never `token` or `opaque`.
    pub fn element_type(&self) -> ElementType {
        self.element_type
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All bytes; owned if zeros at the end have to be added.
    pub fn bytes(&self) -> Cow<'_, [u8]> {
        let wanted = self.len * self.element_type.storage_bytes();
        if self.stored.len() == wanted {
            return Cow::Borrowed(&self.stored);
        }
        let mut bytes = vec![0; wanted];
        bytes[..self.stored.len()].copy_from_slice(&self.stored);
        Cow::Owned(bytes)
    }

    /// The bytes of one element.
    pub fn element_bytes(&self, index: usize) -> Option<&[u8]> {
        const ZEROS: [u8; 16] = [0; 16];
        if index >= self.len {
            return None;
        }
        let size = self.element_type.storage_bytes();
        self.stored.get(index * size..).and_then(|rest| rest.get(..size)).or(ZEROS.get(..size))
    }

    /// Calls `visit` with the bytes of each of these elements, those that there are.
    #[inline]
    pub(crate) fn for_each_bytes(&self, range: Range<usize>, mut visit: impl FnMut(&[u8])) {
        let size = self.element_type.storage_bytes();
        let end = range.end.min(self.len);
        let stored_end = end.min(self.stored.len() / size).max(range.start);
        let stored = self.stored.get(range.start * size..stored_end * size).unwrap_or(&[]);
        stored.chunks_exact(size).for_each(&mut visit);
        let zeros = [0; INLINE_BYTES];
        (stored_end..end).for_each(|_| visit(&zeros[..size]));
    }

    /// The stored bits of an element that is not complex, zero-extended to 64.
    pub fn bits(&self, index: usize) -> Option<u64> {
        let bytes = self.element_bytes(index)?;
        (self.element_type.class() != ElementClass::Complex).then(|| read(bytes))
    }

    /// An integer or `pred` element; `None` for other types, and for `u64` values above `i64`.
    pub fn i64(&self, index: usize) -> Option<i64> {
        let bits = self.bits(index)?;
        match self.element_type.class() {
            ElementClass::Signed => Some(sign_extend(bits, self.element_type)),
            ElementClass::Unsigned | ElementClass::Pred => i64::try_from(bits).ok(),
            _ => None,
        }
    }

    /// An integer or `pred` element; `None` for other types, and for negative values.
    pub fn u64(&self, index: usize) -> Option<u64> {
        let bits = self.bits(index)?;
        match self.element_type.class() {
            ElementClass::Signed => u64::try_from(sign_extend(bits, self.element_type)).ok(),
            ElementClass::Unsigned | ElementClass::Pred => Some(bits),
            _ => None,
        }
    }

    /// An element that is not complex as a double: floats exactly, 64-bit integers rounded.
    pub fn f64(&self, index: usize) -> Option<f64> {
        let bits = self.bits(index)?;
        match self.element_type.class() {
            ElementClass::Float => Some(decode_float(self.element_type, bits)),
            ElementClass::Signed => Some(sign_extend(bits, self.element_type) as f64),
            ElementClass::Unsigned | ElementClass::Pred => Some(bits as f64),
            _ => None,
        }
    }

    /// A `pred` element; `None` for other types.
    pub fn bool(&self, index: usize) -> Option<bool> {
        let bits = self.bits(index)?;
        (self.element_type == ElementType::Pred).then_some(bits != 0)
    }

    /// Real and imaginary part of a complex element; `None` for other types.
    pub fn complex(&self, index: usize) -> Option<(f64, f64)> {
        let part = self.element_type.complex_component()?;
        let bytes = self.element_bytes(index)?;
        let (real, imaginary) = bytes.split_at(bytes.len() / 2);
        Some((decode_float(part, read(real)), decode_float(part, read(imaginary))))
    }

    /// Whether every element is `value`; an array without elements is. `-0` is not 0, a complex element must
    /// have the imaginary part 0, types that don't have the value have no such element.
    pub fn is_all(&self, value: i64) -> bool {
        let Some(one) = Self::from_i64s(self.element_type, [value]) else { return false };
        let exact = match self.element_type.class() {
            ElementClass::Pred => value == 0 || value == 1,
            ElementClass::Signed | ElementClass::Unsigned => one.i64(0) == Some(value),
            ElementClass::Float => one.f64(0) == Some(value as f64),
            ElementClass::Complex => true,
            ElementClass::NotArray => false,
        };
        if exact { self.is_all_of(&one) } else { self.is_empty() }
    }

    /// Whether all elements have the same bits; an array without elements has.
    pub fn all_equal(&self) -> bool {
        self.element_bytes(0).is_none_or(|first| self.is_all_bytes(first))
    }

    fn is_all_of(&self, one: &Self) -> bool {
        self.is_empty() || self.is_all_bytes(&one.stored)
    }

    fn is_all_bytes(&self, one: &[u8]) -> bool {
        let is_complete = self.stored.len() == self.len * one.len();
        self.stored.chunks_exact(one.len()).all(|element| element == one)
            && (is_complete || one.iter().all(|&byte| byte == 0))
    }
}

/// The low bits of `value` as a value of an integer type: sign- or zero-extended.
fn wrap_integer(element_type: ElementType, value: i64) -> i64 {
    let unused = 64 - element_type.bits();
    match element_type.class() {
        ElementClass::Signed => value << unused >> unused,
        _ => ((value as u64) << unused >> unused) as i64,
    }
}

fn sign_extend(bits: u64, element_type: ElementType) -> i64 {
    let unused = 64 - 8 * element_type.storage_bytes() as u32;
    (bits as i64) << unused >> unused
}

fn read(bytes: &[u8]) -> u64 {
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(wide)
}

fn push(bytes: &mut SmallVec<[u8; INLINE_BYTES]>, bits: u64, size: usize) {
    bytes.extend_from_slice(&bits.to_le_bytes()[..size]);
}

/// Appends an element of a floating-point or complex type.
fn push_f64(bytes: &mut SmallVec<[u8; INLINE_BYTES]>, element_type: ElementType, value: f64) {
    match element_type.complex_component() {
        Some(part) => {
            push(bytes, encode_float(part, value), part.storage_bytes());
            push(bytes, 0, part.storage_bytes());
        }
        None => push(bytes, encode_float(element_type, value), element_type.storage_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_survive_in_every_type_that_has_them() {
        for &element_type in ElementType::ALL.iter().filter(|t| t.is_array_element()) {
            let Some(elements) = Elements::from_i64s(element_type, [0, 1, 1]) else {
                panic!("{element_type:?}")
            };
            assert_eq!(elements.len(), 3);
            assert_eq!(elements.bytes().len(), 3 * element_type.storage_bytes());
            match element_type {
                ElementType::C64 | ElementType::C128 => assert_eq!(elements.complex(1), Some((1.0, 0.0))),
                ElementType::S1 => assert_eq!(elements.i64(1), Some(-1)),
                _ => assert_eq!(elements.f64(1), Some(1.0), "{element_type:?}"),
            }
            let copy = Elements::from_bytes(element_type, elements.bytes().into_owned());
            assert_eq!(copy.as_ref(), Some(&elements), "{element_type:?}");
        }
        assert_eq!(Elements::from_i64s(ElementType::Token, [1]), None);
    }

    #[test]
    fn access_by_kind() {
        let signed = Elements::from_i64s(ElementType::S4, [-8, 7, 9]).expect("an array type");
        assert_eq!(signed.bytes(), [0xf8, 7, 0xf9].as_slice());
        assert_eq!((signed.i64(0), signed.i64(2), signed.i64(3)), (Some(-8), Some(-7), None));
        assert_eq!((signed.u64(0), signed.u64(1)), (None, Some(7)));
        let wide = Elements::from_i64s(ElementType::U64, [-1]).expect("an array type");
        assert_eq!((wide.u64(0), wide.i64(0)), (Some(u64::MAX), None));
        let floats = Elements::from_f64s(ElementType::Bf16, [1.5, f64::NEG_INFINITY]).expect("an array type");
        assert_eq!((floats.f64(0), floats.i64(0)), (Some(1.5), None));
        let integers = Elements::from_f64s(ElementType::U4, [-3.0, 2.9, 99.0]).expect("an array type");
        assert_eq!(integers.bytes(), [0, 2, 15].as_slice());
        let integers = Elements::from_f64s(ElementType::S2, [-3.0, f64::NAN, 99.0]).expect("an array type");
        assert_eq!((integers.i64(0), integers.i64(1), integers.i64(2)), (Some(-2), Some(0), Some(1)));
        let complex = Elements::from_complex(ElementType::C64, [(1.0, -0.0)]).expect("a complex type");
        assert_eq!(complex.complex(0), Some((1.0, -0.0)));
        assert_eq!(complex.bits(0), None);
        let preds = Elements::from_bytes(ElementType::Pred, vec![1, 0]).expect("valid");
        assert_eq!((preds.bool(0), preds.bool(1), preds.bool(2)), (Some(true), Some(false), None));
    }

    #[test]
    fn bytes_must_be_valid() {
        assert_eq!(Elements::from_bytes(ElementType::Pred, vec![2]), None);
        assert_eq!(Elements::from_bytes(ElementType::S4, vec![8]), None);
        assert_eq!(Elements::from_bytes(ElementType::U4, vec![0xf8]), None);
        assert_eq!(Elements::from_bytes(ElementType::F6E2M3FN, vec![0x40]), None);
        assert_eq!(Elements::from_bytes(ElementType::F32, vec![0; 6]), None);
        assert_eq!(Elements::from_bytes(ElementType::Opaque, vec![]), None);
    }

    #[test]
    fn zeros_at_the_end_need_no_memory() {
        let hash = |elements: &Elements| {
            let mut hasher = std::hash::DefaultHasher::new();
            elements.hash(&mut hasher);
            hasher.finish()
        };
        let of =
            |values: &[i64]| Elements::from_i64s(ElementType::S16, values.iter().copied()).expect("integers");
        let (short, long) = (of(&[7]).followed_by_zeros(3), of(&[7, 0, 0]));
        assert_eq!((&short, hash(&short)), (&long, hash(&long)));
        assert_ne!(short, of(&[7, 0, 1]));
        assert_ne!(short, of(&[7, 0]));
        assert_ne!(short, of(&[7]));
        assert_eq!((short.len(), short.i64(0), short.i64(2), short.i64(3)), (3, Some(7), Some(0), None));
        assert_eq!(short.bytes(), long.bytes());
        assert!(!short.all_equal() && !short.is_all(7) && !short.is_all(0));
        let zeros = of(&[]).followed_by_zeros(1 << 40);
        assert!(zeros.all_equal() && zeros.is_all(0) && !zeros.is_all(1));
    }

    #[test]
    fn all_of_one_value() {
        let is_all = |element_type, values: &[f64], value| {
            Elements::from_f64s(element_type, values.iter().copied()).expect("an array type").is_all(value)
        };
        assert!(is_all(ElementType::F32, &[1.0, 1.0], 1));
        assert!(!is_all(ElementType::F32, &[1.0, 2.0], 1));
        assert!(!is_all(ElementType::F32, &[-0.0], 0));
        assert!(is_all(ElementType::F32, &[], 7));
        assert!(!is_all(ElementType::S1, &[-1.0], 1));
        assert!(is_all(ElementType::S1, &[-1.0], -1));
        assert!(!is_all(ElementType::U8, &[255.0], -1));
        assert!(is_all(ElementType::C128, &[1.0], 1));
        assert!(!is_all(ElementType::F8E8M0FNU, &[1e-45], 0));
        assert!(!is_all(ElementType::Pred, &[1.0], 2));
        assert!(!is_all(ElementType::F4E2M1FN, &[5.0], 5));
    }

    #[test]
    fn elided_values_are_found_at_any_depth() {
        let mut shapes = ShapeTable::default();
        let scalar = Literal::scalar(&mut shapes, ElementType::S32, 3).expect("an array type");
        let elided = Literal { shape: scalar.shape, data: LiteralData::Elided };
        let tuple = |elements| Literal { shape: scalar.shape, data: LiteralData::Tuple(elements) };
        assert!(!tuple(vec![scalar.clone(), tuple(vec![])]).has_elided());
        assert!(tuple(vec![scalar.clone(), tuple(vec![elided])]).has_elided());
        let half = Literal::scalar_f64(&mut shapes, ElementType::F16, 0.5).expect("an array type");
        assert_eq!(half.elements().and_then(|elements| elements.f64(0)), Some(0.5));
    }
}
