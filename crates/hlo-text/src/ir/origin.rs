//! Original values: which arrays of the program before optimization an instruction's result holds.

/// `origin={...}`
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OriginalValue {}
