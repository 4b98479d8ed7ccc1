//! Numeric substitution blocks: formats, values of any width, expressions.

mod expression;
mod format;
mod parser;

pub use expression::{Evaluation, Expression};
pub use format::{Format, FormatKind, MAX_PRECISION};
pub(super) use parser::{parse_block, parse_variable};
