//! Passes about calls of hand-written kernels.

pub(crate) mod emit_offloaded_dropout;
