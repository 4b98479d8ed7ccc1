//! The vocabulary of element types ("primitive types" in XLA), one table.

/// How the values of an element type are represented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementClass {
    /// `pred`
    Pred,
    /// Two's complement integers.
    Signed,
    /// Unsigned integers.
    Unsigned,
    /// Floating point, the 4-, 6- and 8-bit kinds included.
    Float,
    /// Pairs of `f32` or `f64`.
    Complex,
    /// `token`, `opaque`: no values.
    NotArray,
}

macro_rules! element_types {
    ($($variant:ident $text:literal $class:ident $bits:literal $proto:literal,)*) => {
        /// An element type. The order is that of XLA's `PrimitiveType` as text lists it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum ElementType {
            $(#[doc = concat!("`", $text, "`")] $variant,)*
        }

        impl ElementType {
            /// Every element type, in table order.
            pub const ALL: &'static [ElementType] = &[$(ElementType::$variant,)*];

            /// The spelling in HLO text.
            pub const fn name(self) -> &'static str {
                match self { $(ElementType::$variant => $text,)* }
            }

            /// How values are represented.
            pub const fn class(self) -> ElementClass {
                match self { $(ElementType::$variant => ElementClass::$class,)* }
            }

            /// Size of one value in bits (`pred` counts 8 as XLA stores it; 0 for `token` and `opaque`).
            pub const fn bits(self) -> u32 {
                match self { $(ElementType::$variant => $bits,)* }
            }

            /// The number of the type in XLA's `PrimitiveType` protobuf enumeration.
            pub const fn proto_number(self) -> i32 {
                match self { $(ElementType::$variant => $proto,)* }
            }

            /// The type spelt `text`, exact lower case.
            pub fn from_name(text: &str) -> Option<Self> {
                match text { $($text => Some(ElementType::$variant),)* _ => None }
            }
        }
    };
}

element_types! {
    Pred "pred" Pred 8 1,
    S1 "s1" Signed 1 30,
    S2 "s2" Signed 2 26,
    S4 "s4" Signed 4 21,
    S8 "s8" Signed 8 2,
    S16 "s16" Signed 16 3,
    S32 "s32" Signed 32 4,
    S64 "s64" Signed 64 5,
    U1 "u1" Unsigned 1 31,
    U2 "u2" Unsigned 2 27,
    U4 "u4" Unsigned 4 22,
    U8 "u8" Unsigned 8 6,
    U16 "u16" Unsigned 16 7,
    U32 "u32" Unsigned 32 8,
    U64 "u64" Unsigned 64 9,
    F16 "f16" Float 16 10,
    F32 "f32" Float 32 11,
    F64 "f64" Float 64 12,
    Bf16 "bf16" Float 16 16,
    F4E2M1FN "f4e2m1fn" Float 4 32,
    F6E2M3FN "f6e2m3fn" Float 6 36,
    F6E3M2FN "f6e3m2fn" Float 6 35,
    F8E3M4 "f8e3m4" Float 8 29,
    F8E4M3 "f8e4m3" Float 8 28,
    F8E4M3B11FNUZ "f8e4m3b11fnuz" Float 8 23,
    F8E4M3FN "f8e4m3fn" Float 8 20,
    F8E4M3FNUZ "f8e4m3fnuz" Float 8 25,
    F8E5M2 "f8e5m2" Float 8 19,
    F8E5M2FNUZ "f8e5m2fnuz" Float 8 24,
    F8E8M0FNU "f8e8m0fnu" Float 8 33,
    C64 "c64" Complex 64 15,
    C128 "c128" Complex 128 18,
    Token "token" NotArray 0 17,
    Opaque "opaque" NotArray 0 14,
}

impl ElementType {
    /// Bytes one value takes in a [`Literal`](crate::ir::Literal): sub-byte types take one byte each, as in XLA.
    pub const fn storage_bytes(self) -> usize {
        (self.bits() as usize).div_ceil(8)
    }

    /// Whether arrays of this type exist.
    pub const fn is_array_element(self) -> bool {
        !matches!(self.class(), ElementClass::NotArray)
    }

    /// Whether this is a floating-point type (complex is not).
    pub const fn is_float(self) -> bool {
        matches!(self.class(), ElementClass::Float)
    }

    /// Whether this is a signed or unsigned integer type (`pred` is not).
    pub const fn is_integer(self) -> bool {
        matches!(self.class(), ElementClass::Signed | ElementClass::Unsigned)
    }

    /// The real type of the parts of a complex type.
    pub const fn complex_component(self) -> Option<ElementType> {
        match self {
            ElementType::C64 => Some(ElementType::F32),
            ElementType::C128 => Some(ElementType::F64),
            _ => None,
        }
    }

    /// The type that is meant by `word`, which is no name of one: another spelling, or what other systems call it.
    pub(crate) fn meant_by(word: &str) -> Option<Self> {
        let word = word.to_ascii_lowercase();
        if let Some(element_type) = Self::from_name(&word) {
            return Some(element_type);
        }
        if let Some(row) = FOREIGN_NAMES.iter().find(|row| row.0 == word) {
            return Some(row.1);
        }
        // `float32`, `uint8_t`, `i32`: the width tells them apart.
        let word = word.strip_suffix("_t").unwrap_or(&word);
        let letters = word.trim_end_matches(|last: char| last.is_ascii_digit());
        let (_, prefix) = FOREIGN_PREFIXES.iter().find(|row| row.0 == letters)?;
        Self::from_name(&format!("{prefix}{}", &word[letters.len()..]))
    }

    /// XLA's enumerator name: upper case, as messages have it (`F32`, `PRED`).
    pub fn xla_name(self) -> String {
        self.name().to_ascii_uppercase()
    }
}

/// What C, MLIR and NumPy call types.
const FOREIGN_NAMES: &[(&str, ElementType)] = &[
    ("bool", ElementType::Pred),
    ("i1", ElementType::Pred),
    ("char", ElementType::S8),
    ("short", ElementType::S16),
    ("int", ElementType::S32),
    ("long", ElementType::S64),
    ("half", ElementType::F16),
    ("float", ElementType::F32),
    ("double", ElementType::F64),
    ("bfloat16", ElementType::Bf16),
];

/// What they write before the width of a type, and what HLO does.
const FOREIGN_PREFIXES: &[(&str, &str)] =
    &[("float", "f"), ("int", "s"), ("i", "s"), ("si", "s"), ("uint", "u"), ("ui", "u"), ("complex", "c")];

#[cfg(test)]
mod tests {
    use super::ElementType;

    #[test]
    fn other_spellings_are_understood() {
        let rows = [
            ("F32", Some("f32")),
            ("BF16", Some("bf16")),
            ("PRED", Some("pred")),
            ("float32", Some("f32")),
            ("Float64", Some("f64")),
            ("i64", Some("s64")),
            ("i1", Some("pred")),
            ("uint8_t", Some("u8")),
            ("ui16", Some("u16")),
            ("complex64", Some("c64")),
            ("bfloat16", Some("bf16")),
            ("bool", Some("pred")),
            ("int", Some("s32")),
            ("int7", None),
            ("add", None),
            ("", None),
            ("\u{e9}32", None),
        ];
        for (word, meant) in rows {
            assert_eq!(ElementType::meant_by(word).map(ElementType::name), meant, "{word}");
        }
    }
}
