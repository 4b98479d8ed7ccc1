//! Passes that bring instructions into the form the back end takes.

pub(crate) mod compare;
pub(crate) mod intrinsics;
pub(crate) mod transform_variadic_reduce;
