//! RUN lines without a shell: text to tree ([`parser`]), tree to results ([`exec`]).

pub mod call;
pub mod exec;
pub mod external;
pub mod glob;
pub mod lexer;
pub mod log;
pub mod parser;
pub mod redirect;
mod rerun;
