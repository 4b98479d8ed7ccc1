//! XLA's textual HLO: read it, hold it, write it.

pub mod diagnostic;
pub mod ir;
mod lexer;
pub mod number;
mod parser;
mod printer;
pub mod shape_inference;

#[allow(
    missing_docs,
    unreachable_pub,
    unused_qualifications,
    clippy::all,
    clippy::allow_attributes_without_reason,
    reason = "generated code"
)]
mod grammar {
    use lalrpop_util::lalrpop_mod;
    lalrpop_mod!(generated, "/grammar.rs");
    pub(crate) use generated::StartParser;
}

pub use ir::Module;
pub use parser::{
    DEFAULT_MAX_ERRORS, Dialect, MAX_CALL_NESTING, MAX_NESTING_DEPTH, MAX_TEXT_BYTES, ParseOptions, Parsed,
    SourceMap, parse_module,
};
pub use printer::{PrintOptions, SubcomputationMode, print_module};
