//! XLA's textual HLO: read it, hold it, write it.

pub mod diagnostic;
pub mod ir;
mod lexer;
mod parser;
mod printer;

pub use ir::Module;
pub use parser::{Dialect, MAX_NESTING_DEPTH};
pub use printer::{PrintOptions, SubcomputationMode};
#[cfg(test)]
mod sharding_dev;
