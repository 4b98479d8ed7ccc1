//! Writes the CHECK lines of tests anew: what stands between the markers of a generated block, and nothing else.
//!
//! A test is run as always, with a FileCheck that writes down its input and finds no fault. What was written down becomes
//! CHECK lines, and the new text is kept only if the test passes with it.

mod blocks;
mod generate;
mod record;
mod variables;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use similar::TextDiff;

use crate::lit::discovery::Test;
use crate::lit::result::{ResultCode, TestResult};
use crate::lit::runner::test_paths;
use crate::lit::{Host, directives, run_test};
use blocks::Layout;
use record::Record;

/// How often lines are written anew because writing them has changed the output: messages have line numbers.
const MAX_ROUNDS: usize = 3;

/// What is asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct UpdateOptions {
    /// Add a block for prefixes that have no checks at all.
    pub create: bool,
}

/// What has become of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// There is nothing to update: no block.
    NoBlocks,
    /// The blocks are as they would be written.
    Unchanged,
    /// The new text of the file.
    Changed(Vec<u8>),
    /// It can't be updated, and why.
    Refused(String),
}

/// What the lines of a test should be; nothing is written.
pub struct Proposal {
    /// The file.
    pub path: PathBuf,
    /// Its text.
    pub old: Vec<u8>,
    /// What should become of it.
    pub outcome: Outcome,
    /// What is worth knowing.
    pub notes: Vec<String>,
}

/// Whether the test has a generated block.
pub fn has_blocks(test: &Test) -> bool {
    std::fs::read(test.source()).is_ok_and(|text| !Layout::of(&text).blocks.is_empty())
}

/// Finds out what the lines of a test should be.
pub fn propose(test: &Test, host: &Host, options: UpdateOptions) -> Proposal {
    let path = test.source();
    let old = match std::fs::read(&path) {
        Ok(text) => text,
        Err(error) => {
            let outcome = Outcome::Refused(format!("it can't be read: {error}"));
            return Proposal { path, old: Vec::new(), outcome, notes: Vec::new() };
        }
    };
    let mut notes = Vec::new();
    let outcome = match new_text(test, host, options, &path, &old, &mut notes) {
        Ok(Some(text)) if text == old => Outcome::Unchanged,
        Ok(Some(text)) => Outcome::Changed(text),
        Ok(None) => Outcome::NoBlocks,
        Err(message) => Outcome::Refused(message),
    };
    Proposal { path, old, outcome, notes }
}

fn new_text(
    test: &Test,
    host: &Host,
    options: UpdateOptions,
    path: &Path,
    old: &[u8],
    notes: &mut Vec<String>,
) -> Result<Option<Vec<u8>>, String> {
    if Layout::of(old).blocks.is_empty() && !options.create {
        return Ok(None);
    }
    let script = directives::parse(old)?;
    if !script.xfails.is_empty() {
        return Err("it is expected to fail (XFAIL)".to_owned());
    }
    let records = records_of(test, host, path)?;
    if records.is_empty() {
        return Err("no RUN line gives FileCheck this file".to_owned());
    }
    let paths = test_paths(test);
    let folder = path.parent().unwrap_or(Path::new(""));
    let text = blocks::rewrite(old, &records, options, &[folder, &paths.temp_dir], notes)?;
    record::check(&records, path, &text)?;
    Ok(Some(text))
}

/// Runs the test and gives what its FileCheck calls read.
fn records_of(test: &Test, host: &Host, path: &Path) -> Result<Vec<Record>, String> {
    let recorder = Arc::new(record::Recorder::new(path.to_owned()));
    let mut recording = host.clone();
    recording.tools.retain(|tool| tool.name() != record::NAME);
    recording.tools.push(Arc::clone(&recorder) as Arc<dyn crate::tool::Tool>);
    let result = run_test(test, &recording);
    match result.code {
        ResultCode::Pass | ResultCode::FlakyPass => Ok(recorder.take()),
        ResultCode::Unsupported => Err(format!("it isn't supported here: {}", result.output.trim())),
        _ => Err(failure("a RUN line fails", &result)),
    }
}

fn failure(what: &str, result: &TestResult) -> String {
    let place = result.line.map_or_else(String::new, |line| format!(" (line {line})"));
    let log = result.output.trim();
    let log = log.lines().map(|line| format!("\n  {line}")).collect::<String>();
    format!("{what}{place}{log}")
}

/// Writes a proposal's text and runs the test; what was there before is put back if the test doesn't pass.
///
/// # Errors
/// Why the file is as it was.
pub fn apply(proposal: &Proposal, test: &Test, host: &Host, options: UpdateOptions) -> Result<(), String> {
    let Outcome::Changed(text) = &proposal.outcome else { return Ok(()) };
    let written = settle(proposal, test, host, options, text);
    if written.is_err() {
        write(&proposal.path, &proposal.old)
            .map_err(|error| format!("{} can't be put back as it was: {error}", proposal.path.display()))?;
    }
    written
}

fn settle(
    proposal: &Proposal,
    test: &Test,
    host: &Host,
    options: UpdateOptions,
    text: &[u8],
) -> Result<(), String> {
    let path = &proposal.path;
    let mut text = text.to_vec();
    for _ in 0..MAX_ROUNDS {
        write(path, &text).map_err(|error| format!("it can't be written: {error}"))?;
        let again = new_text(test, host, options, path, &text, &mut Vec::new())?;
        match again {
            Some(again) if again != text => text = again,
            _ => {
                let result = run_test(test, host);
                return match result.code {
                    ResultCode::Pass | ResultCode::FlakyPass => Ok(()),
                    _ => Err(failure("with the new lines the test doesn't pass", &result)),
                };
            }
        }
    }
    Err("the output is different each time".to_owned())
}

/// Replaces a file as a whole: nobody sees half of it.
fn write(path: &Path, text: &[u8]) -> std::io::Result<()> {
    use std::io::Write;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".hlo-check-").tempfile_in(folder)?;
    file.write_all(text)?;
    file.as_file().set_permissions(std::fs::metadata(path)?.permissions())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// What would change in a file, as a unified diff.
pub fn diff(name: &str, old: &[u8], new: &[u8]) -> String {
    let (old, new) = (String::from_utf8_lossy(old), String::from_utf8_lossy(new));
    TextDiff::from_lines(&*old, &*new).unified_diff().header(name, name).to_string()
}

#[cfg(test)]
mod tests;
