//! Reading what is left of a text when nothing stands around it any more.

use super::{Failed, Repair, Repaired, lines::Cleaned};
use hlo_text::{ParseOptions, parse_bytes};

/// Reads the cleaned text.
pub(super) fn rebuild(cleaned: &Cleaned, repairs: Vec<Repair>) -> Result<Repaired, Failed> {
    let text = cleaned.text();
    match parse_bytes(text.as_bytes(), &ParseOptions::default()) {
        Ok(parsed) => Ok(Repaired { text, repairs, parsed: Box::new(parsed) }),
        Err(rejected) => {
            let d = rejected.diagnostics;
            Err(Failed { text, repairs, diagnostics: d })
        }
    }
}
