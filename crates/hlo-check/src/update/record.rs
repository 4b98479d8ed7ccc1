//! A FileCheck that writes down what it is given.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::filecheck::FileCheckTool;
use crate::filecheck::cli::{Caller, Files, call_of, run_as};
use crate::tool::{DiagnosticStyle, Invocation, Output, Tool};

/// What RUN lines call the program.
pub(super) const NAME: &str = "FileCheck";

/// A call of FileCheck with the test as its check file.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) invocation: Invocation,
    /// Its prefixes, in order.
    pub(super) prefixes: Vec<String>,
    /// What it is to check.
    pub(super) input: Vec<u8>,
}

/// Stands in for FileCheck. Calls with other check files are made as always.
pub(super) struct Recorder {
    test: PathBuf,
    records: Mutex<Vec<Record>>,
}

impl Recorder {
    pub(super) fn new(test: PathBuf) -> Self {
        Self { test, records: Mutex::default() }
    }

    /// What has been written down, in the order of the RUN lines.
    pub(super) fn take(&self) -> Vec<Record> {
        std::mem::take(&mut self.records.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }
}

/// Whether two paths are spelt alike but for `.` and doubled separators.
pub(super) fn is_same_file(a: &Path, b: &Path) -> bool {
    a.components().eq(b.components())
}

impl Tool for Recorder {
    fn name(&self) -> &'static str {
        NAME
    }

    fn shell_words(&self) -> &'static str {
        FileCheckTool.shell_words()
    }

    fn run(&self, invocation: &Invocation) -> Output {
        let own = call_of(invocation)
            .filter(|call| is_same_file(&invocation.current_dir.join(&call.check_file), &self.test));
        let Some(call) = own else { return FileCheckTool.run(invocation) };
        let input = match &call.input_file {
            None => invocation.stdin.clone(),
            Some(path) => match std::fs::read(invocation.current_dir.join(path)) {
                Ok(input) => input,
                Err(_) => return FileCheckTool.run(invocation),
            },
        };
        let record = Record { invocation: invocation.clone(), prefixes: call.prefixes, input };
        self.records.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(record);
        Output::default()
    }
}

/// The files of a recorded call, with another text of the test.
struct Substituted<'r> {
    record: &'r Record,
    test: &'r Path,
    text: &'r [u8],
}

impl Files for Substituted<'_> {
    fn stdin(&mut self) -> Vec<u8> {
        self.record.input.clone()
    }

    fn read(&mut self, path: &Path) -> std::io::Result<Vec<u8>> {
        if is_same_file(path, self.test) { Ok(self.text.to_vec()) } else { Ok(self.record.input.clone()) }
    }
}

/// Makes the calls with `text` for the test's text.
///
/// # Errors
/// What the first that fails says.
pub(super) fn check(records: &[Record], test: &Path, text: &[u8]) -> Result<(), String> {
    for record in records {
        let mut invocation = record.invocation.clone();
        invocation.diagnostics = DiagnosticStyle::Rich;
        let caller = Caller { command: NAME, colors: false, offers_rerun: false };
        let output = run_as(caller, &invocation, &mut Substituted { record, test, text });
        if output.status != 0 {
            let message = String::from_utf8_lossy(&output.stderr);
            let message: String = message.trim_end().lines().map(|line| format!("\n  {line}")).collect();
            return Err(format!("checks written by hand don't hold with the new lines:{message}"));
        }
    }
    Ok(())
}
