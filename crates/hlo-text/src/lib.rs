//! XLA's textual HLO: read it, hold it, write it.

pub mod diagnostic;
pub mod ir;
mod lexer;
pub mod number;
mod parser;
mod printer;

pub use ir::Module;
pub use parser::{Dialect, MAX_NESTING_DEPTH};
pub use printer::{PrintOptions, SubcomputationMode, print_module};
