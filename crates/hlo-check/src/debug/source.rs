//! A text on its way to a module: read as it is, or repaired.

use hlo_text::diagnostic::{Diagnostic, Report, Severity, Source as Named};
use hlo_text::{Module, ParseOptions, SourceMap, VerifyOptions, Violation, parse_bytes, verify};

use super::paste::{self, Repair};
use super::style::counted;
use crate::input;
use crate::opt::crash::lossless;

/// A text that has become a module.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// What messages call it.
    pub(crate) name: String,
    /// The file it is, if it is in one just so.
    pub(crate) file: Option<String>,
    /// What was read, after repairs.
    pub(crate) text: String,
    /// What had to be done to the text first.
    pub(crate) repairs: Vec<Repair>,
    /// Where instructions are in `text`.
    pub(crate) map: SourceMap,
    /// What is to be said although the text was read.
    pub(crate) warnings: Vec<Diagnostic>,
    /// The rules of the verifier that the module breaks.
    pub(crate) violations: Vec<Violation>,
}

impl Source {
    /// Whether every rule was kept, so that passes can be held to them.
    pub(crate) fn is_valid(&self) -> bool {
        !self.violations.iter().any(Violation::is_error)
    }

    /// The line of an offset in `text`, from 1.
    pub(crate) fn line(&self, offset: u32) -> usize {
        crate::input::line_and_column(&self.text, offset as usize).0
    }

    /// A diagnostic about the text, for people.
    pub(crate) fn render(&self, diagnostic: &Diagnostic, color: bool) -> String {
        Report::new(diagnostic, Named::new(&self.name, &self.text)).render(color)
    }

    /// The rules that are broken, for people.
    pub(crate) fn violations_text(&self, color: bool) -> String {
        self.violations.iter().map(|violation| self.render(&violation.diagnostic(&self.map), color)).collect()
    }

    /// What has been repaired, a line each.
    pub(crate) fn repairs_text(&self) -> String {
        repairs_text(&self.repairs)
    }
}

/// How many repairs are listed: a module that lost its beginning has thousands.
const SHOWN_REPAIRS: usize = 40;

fn repairs_text(repairs: &[Repair]) -> String {
    let shown = repairs.iter().take(SHOWN_REPAIRS);
    let mut text: String = shown.map(|repair| format!("repaired: {repair}\n")).collect();
    if repairs.len() > SHOWN_REPAIRS {
        text.push_str(&format!("... and {}\n", counted(repairs.len() - SHOWN_REPAIRS, "more repair")));
    }
    text
}

/// Why a text doesn't become a module.
#[derive(Clone, Debug)]
pub(crate) struct Unreadable {
    /// Reports, for people.
    pub(crate) text: String,
}

/// Reads `bytes`, repairing what people's clipboards do to HLO. `file` is the path if they are a file's.
///
/// # Errors
/// No module can be made of them.
pub(crate) fn read(
    name: &str,
    file: Option<&str>,
    bytes: &[u8],
    color: bool,
) -> Result<(Module, Source), Unreadable> {
    let options = ParseOptions::default();
    if let Ok(input) = input::read(bytes, None, &options)
        && input.proto.is_some()
    {
        // A protocol buffer is debugged as the text that it says.
        let text = lossless(&input.module);
        if let Ok(parsed) = parse_bytes(text.as_bytes(), &options) {
            return Ok(finish(name, None, text, Vec::new(), parsed));
        }
    }
    if let Ok(parsed) = parse_bytes(bytes, &options) {
        let text = String::from_utf8_lossy(bytes).into_owned();
        return Ok(finish(name, file, text, Vec::new(), parsed));
    }
    match paste::repair(bytes) {
        Ok(repaired) => {
            let paste::Repaired { text, repairs, parsed } = repaired;
            Ok(finish(name, None, text, repairs, *parsed))
        }
        Err(failed) => {
            let mut text = repairs_text(&failed.repairs);
            for diagnostic in &failed.diagnostics {
                text.push_str(&Report::new(diagnostic, Named::new(name, &failed.text)).render(color));
            }
            Err(Unreadable { text })
        }
    }
}

fn finish(
    name: &str,
    file: Option<&str>,
    text: String,
    repairs: Vec<Repair>,
    parsed: hlo_text::Parsed,
) -> (Module, Source) {
    // As hlo-opt has it: such comparisons can be read.
    let rules = VerifyOptions { check_comparison_types: false, ..VerifyOptions::default() };
    let violations = verify(&parsed.module, &rules);
    let mut warnings = parsed.warnings;
    warnings.retain(|warning| warning.severity == Severity::Warning);
    let source = Source {
        name: name.to_owned(),
        file: file.map(str::to_owned),
        text,
        repairs,
        map: parsed.source_map,
        warnings,
        violations,
    };
    (parsed.module, source)
}
