//! XLA's own passes.

pub(crate) mod call_inliner;
pub(crate) mod conditional_to_select;
pub(crate) mod cse;
pub(crate) mod dce;
pub(crate) mod flatten_call_graph;
pub(crate) mod tuple_simplifier;
