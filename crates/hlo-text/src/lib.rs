//! XLA's textual HLO: read it, hold it, write it.
//!
//! ```
//! let text = "HloModule m\n\nENTRY e {\n  ROOT p = f32[2] parameter(0)\n}";
//! let parsed = hlo_text::parse_module(text, &hlo_text::ParseOptions::strict()).unwrap();
//! assert_eq!(
//!     parsed.module.to_text(&hlo_text::PrintOptions::short_parsable()),
//!     "HloModule m, entry_computation_layout={(f32[2]{0})->f32[2]{0}}\n\n\
//!      ENTRY e {\n  ROOT p = f32[2]{0} parameter(0)\n}\n\n"
//! );
//! ```

pub mod diagnostic;
pub mod format;
pub mod ir;
mod lexer;
pub mod number;
mod parser;
mod printer;
pub mod proto;
pub mod shape_inference;
pub mod verifier;

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
    DEFAULT_MAX_ERRORS, Dialect, Fragment, FromText, MAX_BODY_NESTING, MAX_CALL_NESTING, MAX_NESTING_DEPTH,
    MAX_TEXT_BYTES, ParseOptions, Parsed, SourceMap, parse, parse_bytes, parse_module,
};
pub use printer::{PrintOptions, SubcomputationMode, print_module};
pub use verifier::{VerifyOptions, Violation, verify};
