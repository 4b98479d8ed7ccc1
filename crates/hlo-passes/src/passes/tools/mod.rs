//! Passes for tests and for looking at modules; none of them changes what is computed.

pub(crate) mod verifier;
