//! XLA's own passes.

pub(crate) mod call_inliner;
pub(crate) mod dce;
pub(crate) mod tuple_simplifier;
