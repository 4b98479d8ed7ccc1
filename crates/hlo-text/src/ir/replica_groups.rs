//! Which devices take part in a collective together.

/// The groups of a collective.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReplicaGroups {}
