//! The passes, one file each, in folders by family. The table of [`registry`](crate::registry) names them.

pub(crate) mod cleanup;
pub(crate) mod collectives;
pub(crate) mod control_flow;
pub(crate) mod debugging;
pub(crate) mod interface;
mod json;
pub(crate) mod kernels;
pub(crate) mod legalize;
pub(crate) mod stock;
mod targets;
pub(crate) mod tools;
pub(crate) mod types;
