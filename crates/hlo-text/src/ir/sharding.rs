//! Shardings: how an array is spread over devices.

/// A sharding.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sharding {}
