//! From the IR to text; one file per vocabulary, the mirror of the parser.

mod options;
pub(crate) mod replica_groups;
pub(crate) mod sharding;
mod sharding_metadata;

pub use options::{PrintOptions, SubcomputationMode};
