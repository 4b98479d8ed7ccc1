//! Lints of a test, from its text and all its calls of FileCheck.

use std::path::{Path, PathBuf};

use super::arguments;
use crate::filecheck::lint::{self, Usage};
use crate::filecheck::options::{DEFAULT_CHECK_PREFIXES, DEFAULT_COMMENT_PREFIXES, MatchOptions};
use crate::filecheck::report::rich;
use crate::tool::{Finding, Review};

/// Lints the test's text.
pub fn review(review: &Review<'_>) -> Vec<Finding> {
    let usage = usage(review);
    let findings = lint::lint(review.text, &usage);
    let mut places = Places { text: review.text, line: 1, line_start: 0, at: 0 };
    let rendered = rich::render_lints(&findings, review.name, review.text, false);
    let render = |(lint, rendered): (&lint::Lint, String)| {
        let (line, column) = places.of(lint.span.start);
        Finding {
            code: lint.code.name(),
            line,
            column,
            message: lint.message.clone(),
            help: lint.help.clone(),
            rendered,
        }
    };
    findings.iter().zip(rendered).map(render).collect()
}

/// Lines and columns of places that come in order.
struct Places<'t> {
    text: &'t [u8],
    line: usize,
    line_start: usize,
    at: usize,
}

impl Places<'_> {
    fn of(&mut self, offset: usize) -> (usize, usize) {
        for newline in memchr::memchr_iter(b'\n', &self.text[self.at..offset]) {
            self.line += 1;
            self.line_start = self.at + newline + 1;
        }
        self.at = offset;
        (self.line, offset - self.line_start + 1)
    }
}

/// How the calls use the test. Prefixes that only calls for other files have (made from the test, perhaps) are known,
/// but not asked of the test.
fn usage(review: &Review<'_>) -> Usage {
    let mut usage = Usage { calls: Some(review.calls.len()), ..Usage::default() };
    for call in review.calls {
        let Ok(parsed) = arguments::parse(super::NAME, call) else { continue };
        let own = Usage::of_call(&parsed.matching);
        let given = MatchOptions::effective_check_prefixes(&parsed.matching);
        usage.check_prefixes.extend(given.iter().map(|&prefix| prefix.to_owned()));
        let comments = MatchOptions::effective_comment_prefixes(&parsed.matching);
        usage.comment_prefixes.extend(comments.iter().map(|&prefix| prefix.to_owned()));
        usage.defined.extend(own.defined);
        let check_file = parsed.check_file.unwrap_or_default();
        if is_same_file(&call.current_dir.join(check_file), review.path) {
            usage.required_prefixes.extend(own.required_prefixes);
        }
    }
    let defaults = |prefixes: &[&str]| prefixes.iter().map(|&prefix| prefix.to_owned()).collect();
    for (prefixes, default) in [
        (&mut usage.check_prefixes, DEFAULT_CHECK_PREFIXES),
        (&mut usage.comment_prefixes, DEFAULT_COMMENT_PREFIXES),
        (&mut usage.required_prefixes, &[]),
    ] {
        if prefixes.is_empty() {
            *prefixes = defaults(default);
        }
        prefixes.sort_unstable();
        prefixes.dedup();
    }
    usage
}

fn is_same_file(a: &Path, b: &Path) -> bool {
    let plain = |path: &Path| -> PathBuf { path.components().collect() };
    plain(a) == plain(b)
}
