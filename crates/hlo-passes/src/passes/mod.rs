//! The passes, one file each, in folders by family. The table of [`registry`](crate::registry) names them.

pub(crate) mod legalize;
pub(crate) mod stock;
pub(crate) mod tools;
