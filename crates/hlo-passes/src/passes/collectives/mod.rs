//! Passes about collective operations.

pub(crate) mod collective_token_removal;
pub(crate) mod trivial_cc_removal;
