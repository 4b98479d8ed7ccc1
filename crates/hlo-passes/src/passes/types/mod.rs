//! Passes about element types.

pub(crate) mod replace_minimum_constant;
pub(crate) mod rewrite_module_dtype;
