//! Passes about element types and precision.

pub(crate) mod replace_minimum_constant;
