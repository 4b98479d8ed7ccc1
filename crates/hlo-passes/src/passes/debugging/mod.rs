//! Passes for finding faults: they name, log, print, disturb, or make runs repeatable.

pub(crate) mod config_lowering;
pub(crate) mod inject_numerical_errors;
pub(crate) mod inject_prints;
pub(crate) mod metadata_naming;
mod random;
pub(crate) mod replace_rng;
