//! Literals: constant values, dense and bit-exact.

use super::ids::ShapeId;

/// A literal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Literal {
    /// Its shape, layout included; dimensions are static.
    pub shape: ShapeId,
    /// The values.
    pub data: LiteralData,
}

/// The values of a [`Literal`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LiteralData {
    /// Elements of an array in row-major (logical) order, little-endian, each
    /// [`ElementType::storage_bytes`](super::ElementType::storage_bytes) bytes: sub-byte types one byte per element (signed ones sign-extended).
    Dense(Vec<u8>),
    /// Elements of a tuple.
    Tuple(Vec<Literal>),
    /// `{...}`: the text left the values out. Printable as `{...}`, never readable as numbers.
    Elided,
}
