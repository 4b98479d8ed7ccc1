//! From the IR to text; one file per vocabulary, the mirror of the parser.

mod options;
mod replica_groups;
mod sharding;
mod sharding_metadata;

pub use options::{PrintOptions, SubcomputationMode};
#[cfg(test)]
pub(crate) use {replica_groups::write_replica_groups as groups_for_dev, sharding::write_sharding as sharding_for_dev};
