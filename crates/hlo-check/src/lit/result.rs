//! What a test can end with.

use std::time::Duration;

use crate::tool::Finding;

/// The verdict on one test; names, labels and the failing ones are lit's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ResultCode {
    /// Filtered out before the run.
    Excluded,
    /// Selected but not run: the run was cut short.
    Skipped,
    /// A condition of the test (REQUIRES, UNSUPPORTED, a missing program) isn't met.
    Unsupported,
    /// All RUN lines succeeded.
    Pass,
    /// Succeeded, but not at the first attempt.
    FlakyPass,
    /// Succeeded after its expectations were updated.
    Fixed,
    /// Failed as XFAIL said it would.
    XFail,
    /// The test could not be run at all: no RUN line, a malformed directive, a shell syntax error.
    Unresolved,
    /// Took longer than its time limit.
    Timeout,
    /// A RUN line failed.
    Fail,
    /// XFAIL said it would fail, and it didn't.
    XPass,
}

/// One row per code: spelling in result lines, heading in the summary, whether it fails the run.
struct Row {
    code: ResultCode,
    name: &'static str,
    label: &'static str,
    failure: bool,
}

const fn row(code: ResultCode, name: &'static str, label: &'static str, failure: bool) -> Row {
    Row { code, name, label, failure }
}

/// In the order the summary lists them; indexed by the enum's discriminant.
const TABLE: [Row; 11] = [
    row(ResultCode::Excluded, "EXCLUDED", "Excluded", false),
    row(ResultCode::Skipped, "SKIPPED", "Skipped", false),
    row(ResultCode::Unsupported, "UNSUPPORTED", "Unsupported", false),
    row(ResultCode::Pass, "PASS", "Passed", false),
    row(ResultCode::FlakyPass, "FLAKYPASS", "Passed With Retry", false),
    row(ResultCode::Fixed, "FIXED", "Passed After Update", false),
    row(ResultCode::XFail, "XFAIL", "Expectedly Failed", false),
    row(ResultCode::Unresolved, "UNRESOLVED", "Unresolved", true),
    row(ResultCode::Timeout, "TIMEOUT", "Timed Out", true),
    row(ResultCode::Fail, "FAIL", "Failed", true),
    row(ResultCode::XPass, "XPASS", "Unexpectedly Passed", true),
];

impl ResultCode {
    /// Every code, in the summary's order.
    pub fn all() -> impl Iterator<Item = ResultCode> {
        TABLE.iter().map(|row| row.code)
    }

    /// As result lines spell it: `PASS`.
    pub fn name(self) -> &'static str {
        TABLE[self as usize].name
    }

    /// As the summary spells it: `Passed`.
    pub fn label(self) -> &'static str {
        TABLE[self as usize].label
    }

    /// Whether a test with this verdict makes the run fail.
    pub fn is_failure(self) -> bool {
        TABLE[self as usize].failure
    }
}

/// The outcome of one test.
#[derive(Clone, Debug)]
pub struct TestResult {
    /// The verdict.
    pub code: ResultCode,
    /// The log: commands run, their output, why the test failed.
    pub output: String,
    /// Wall time spent on it; `None` if it was not run.
    pub elapsed: Option<Duration>,
    /// When it began, counted from the beginning of the run.
    pub started: Duration,
    /// Number of the worker that ran it.
    pub worker: usize,
    /// How often it was run.
    pub attempts: u32,
    /// How often it could have been run.
    pub max_attempts: u32,
    /// Line of the RUN directive that failed, if one did.
    pub line: Option<u32>,
    /// One line for annotations and skip messages: the first complaint.
    pub summary: String,
    /// Files that the commands named, for `--watch`.
    pub inputs: Vec<std::path::PathBuf>,
    /// What the tools' lints say about the test.
    pub findings: Vec<Finding>,
}

impl TestResult {
    /// A result of a test that ran no command.
    pub fn new(code: ResultCode, output: impl Into<String>) -> Self {
        let output = output.into();
        let summary = output.lines().next().unwrap_or_default().to_owned();
        TestResult {
            code,
            output,
            elapsed: None,
            started: Duration::ZERO,
            worker: 0,
            attempts: 1,
            max_attempts: 1,
            line: None,
            summary,
            inputs: Vec::new(),
            findings: Vec::new(),
        }
    }

    /// Turns the verdict round if the test was expected to fail.
    pub(crate) fn expect_failure(&mut self) {
        self.code = match self.code {
            ResultCode::Pass => ResultCode::XPass,
            ResultCode::Fail => ResultCode::XFail,
            other => other,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_indexed_by_discriminant() {
        for (index, row) in TABLE.iter().enumerate() {
            assert_eq!(row.code as usize, index, "{}", row.name);
        }
    }
}
