//! Passes about collective operations and the devices they run on.

pub(crate) mod legalize_device_assignment;
pub(crate) mod partition_embeding_ops;
