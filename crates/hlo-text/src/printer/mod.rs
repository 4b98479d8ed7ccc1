//! From the IR to text; one file per vocabulary, the mirror of the parser.

pub(crate) mod literal;
mod options;

pub use options::{PrintOptions, SubcomputationMode};
