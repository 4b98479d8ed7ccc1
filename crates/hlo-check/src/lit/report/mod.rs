//! What is told about a run, and in which format.

pub mod github;
pub mod histogram;
pub mod json;
pub mod text;
pub mod xunit;

use super::discovery::Test;
use super::result::TestResult;

/// A test with its result.
pub type Outcome<'o> = (&'o Test, &'o TestResult);

/// Sorts by suite, then path; suites of one name stay apart.
pub fn by_suite_and_path(outcomes: &mut [Outcome<'_>]) {
    outcomes.sort_by(|(a, _), (b, _)| {
        let key = |test: &Test| (test.suite.config.name.clone(), test.suite.config.source_root.clone());
        key(a).cmp(&key(b)).then_with(|| a.path.split('/').cmp(b.path.split('/')))
    });
}
