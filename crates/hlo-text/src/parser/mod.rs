//! From tokens to the IR: names resolved, attributes typed, semantic checks; one file per vocabulary.

pub(crate) mod shape;
pub(crate) mod uniquer;

use crate::diagnostic::Diagnostic;
use crate::ir::Module;

/// What parsing a piece of text gives.
pub(crate) type ParseResult<T> = Result<T, Box<Diagnostic>>;

/// Which texts are accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// What XLA (jaxlib 0.10.2) accepts, nothing else.
    Strict,
    /// Also the spellings of older and newer XLA versions, and attributes we don't know.
    #[default]
    Lenient,
}

/// How deeply braces, parentheses, nested operands, tuple shapes and computations may be nested.
pub const MAX_NESTING_DEPTH: usize = 1000;

/// What the parsers of attribute values work on.
pub(crate) struct ValueContext<'m> {
    /// Where strings, shapes and values are interned.
    pub(crate) module: &'m mut Module,
    /// Which texts are accepted.
    pub(crate) dialect: Dialect,
    /// What is to be said although the text is accepted.
    pub(crate) warnings: &'m mut Vec<Diagnostic>,
}
