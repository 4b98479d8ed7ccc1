//! POSIX extended regular expressions as LLVM's regex library means them: bytes, leftmost-longest,
//! newline-sensitive, with the sub-match rules and back-references of Spencer's engine.
//!
//! [`program`] holds the operator string, [`parser`] builds it from text, [`simulate`] answers
//! "how far can this part match", [`captures`] finds sub-matches, [`simple`] is the fast engine for
//! the shapes that fill real check files, and [`Regex`] puts them together.

mod captures;
mod classes;
mod parser;
mod program;
mod search;
mod simple;
mod simulate;

pub use parser::{MAX_GROUP_DEPTH, MAX_PROGRAM_OPS, MAX_REPETITION, RegexError, group_count};
pub use search::{MAX_MATCH_STEPS, Match, Regex, Scratch, StepLimitReached};

/// The characters LLVM's `Regex::escape` puts a backslash before.
const METACHARACTERS: &[u8] = b"()^$|*+?.[]\\{}";

/// Appends `text` to `out` so that, as a regular expression, it matches itself.
///
/// A NUL gets a backslash too, as in LLVM.
pub fn escape_into(out: &mut Vec<u8>, text: &[u8]) {
    out.reserve(text.len());
    for &byte in text {
        if byte == 0 || METACHARACTERS.contains(&byte) {
            out.push(b'\\');
        }
        out.push(byte);
    }
}
