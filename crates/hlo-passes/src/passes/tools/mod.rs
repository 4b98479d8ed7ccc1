//! Passes for tests and for looking at modules; none of them changes what is computed.

pub(crate) mod canonicalize_names;
pub(crate) mod strip_metadata;
pub(crate) mod verifier;
