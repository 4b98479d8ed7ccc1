//! Making a module of what people paste: HLO in Markdown, in logs, in diffs, cut off, or only a few lines of it.
//!
//! [`lines`] takes off what stands around HLO, line by line. [`outline`] says what is left: headers, headings of
//! computations, instructions, which [`scan`] takes apart. [`rebuild`] closes what is open; [`undefined`] turns names that
//! nothing defines into parameters, with [`shapes`] read off their uses; [`stand_in`] makes computations for those that
//! are called but not there. Whatever is done is said, with the number of the line, and nothing is done to a text that
//! can be read.

pub(crate) mod lines;
mod outline;
mod rebuild;
pub(crate) mod scan;
mod shapes;
mod stand_in;
mod undefined;

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

impl Repair {
    fn at(line: usize, what: impl Into<String>) -> Self {
        Self { line, last_line: line, what: what.into() }
    }
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
    /// Whether there is no whole instruction in it.
    pub is_empty: bool,
}

/// Reads a text, repairing it if it can't be read as it is.
///
/// # Errors
/// What is wrong with the text after all repairs.
pub fn load(bytes: &[u8]) -> Result<Repaired, Failed> {
    match parse_bytes(bytes, &ParseOptions::default()) {
        Ok(parsed) => Ok(Repaired {
            text: String::from_utf8_lossy(bytes).into_owned(),
            repairs: Vec::new(),
            parsed: Box::new(parsed),
        }),
        Err(_) => repair(bytes),
    }
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
        // If nothing could be done, the faults are those of the original.
        match parse_bytes(bytes, &options) {
            Err(Rejected { diagnostics, text }) if failed.repairs.is_empty() && !failed.is_empty => {
                Failed { text: text.into_owned(), repairs: Vec::new(), diagnostics, is_empty: false }
            }
            _ => failed,
        }
    })
}

#[cfg(test)]
mod tests;
