//! Making a module of what people paste: HLO in Markdown, in logs, in diffs, cut off, or only a few lines of it.
//!
//! [`lines`] takes off what stands around HLO, line by line. Whatever is done is said, with the number of the line, and
//! nothing is done to a text that can be read.

pub(crate) mod lines;
mod rebuild;

use std::fmt;

use hlo_text::diagnostic::{Diagnostic, Rejected};
use hlo_text::{ParseOptions, Parsed, parse_bytes};

/// Something that was done to a text before it could be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// The first line it was done to, from 1; 0 for the text as a whole.
    pub line: usize,
    /// The last line.
    pub last_line: usize,
    /// What was done.
    pub what: String,
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.last_line) {
            (0, _) => {}
            (line, last) if line == last => write!(f, "line {line}: ")?,
            (line, last) => write!(f, "lines {line}-{last}: ")?,
        }
        f.write_str(&self.what)
    }
}

/// A text that could be repaired.
#[derive(Debug)]
pub struct Repaired {
    /// The text as it was read.
    pub text: String,
    /// What was done to it.
    pub repairs: Vec<Repair>,
    /// What it says.
    pub parsed: Box<Parsed>,
}

/// A text that couldn't be repaired.
#[derive(Debug)]
pub struct Failed {
    /// The text as far as it was repaired, which `diagnostics` are about.
    pub text: String,
    /// What was done to it.
    pub repairs: Vec<Repair>,
    /// What is still wrong with it; at least one.
    pub diagnostics: Vec<Diagnostic>,
}

/// Makes a module of a text that can't be read as it is.
///
/// # Errors
/// What is wrong with the text after all repairs. If nothing could be done, the text is the original.
pub fn repair(bytes: &[u8]) -> Result<Repaired, Failed> {
    let options = ParseOptions::default();
    let original = String::from_utf8_lossy(bytes);
    let mut repairs = Vec::new();
    let cleaned = lines::clean(&original, &mut repairs);
    let text = cleaned.text();
    if !repairs.is_empty()
        && let Ok(parsed) = parse_bytes(text.as_bytes(), &options)
    {
        return Ok(Repaired { text, repairs, parsed: Box::new(parsed) });
    }
    rebuild::rebuild(&cleaned, repairs).map_err(|failed| {
        // Faults of the original are what people can look up, if it was HLO without anything around it.
        match parse_bytes(bytes, &options) {
            Err(Rejected { diagnostics, text }) if cleaned.is_original => {
                Failed { text: text.into_owned(), repairs: Vec::new(), diagnostics }
            }
            _ => failed,
        }
    })
}
