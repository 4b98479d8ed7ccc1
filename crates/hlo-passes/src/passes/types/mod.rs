//! Passes about element types.

pub(crate) mod rewrite_module_dtype;
