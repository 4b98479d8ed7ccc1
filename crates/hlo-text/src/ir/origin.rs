//! Original values: which arrays of the program before optimization an instruction's result holds.

use super::header::OriginalArray;

/// `origin={...}`
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum OriginalValue {
    /// `{[synthetic_call]}`: a call that the original program does not have.
    SyntheticCall,
    /// `{({"a" {0}}, {})}`: a tree that need not have the structure of the result.
    Tree(OriginalNode),
}

/// A node of the tree of an [`OriginalValue`]. The parser keeps trees within
/// [`MAX_NESTING_DEPTH`](crate::MAX_NESTING_DEPTH).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum OriginalNode {
    /// `{"a" {0}}`, or `{}` when the original program has no such array.
    Array(OriginalArray),
    /// `(..., ...)`
    Tuple(Vec<OriginalNode>),
}
