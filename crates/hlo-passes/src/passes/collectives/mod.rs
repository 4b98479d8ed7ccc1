//! Passes about collective operations and the devices they run on.

mod call_config;
pub(crate) mod collective_token_removal;
mod device_groups;
pub(crate) mod legalize_device_assignment;
pub(crate) mod partition_embeding_ops;
pub(crate) mod rewrite_scatter_partition;
pub(crate) mod trivial_cc_removal;
