//! `--xunit-xml-output`: the XML that JUnit made common.

use std::fmt::Write as _;
use std::time::Duration;

use super::super::result::ResultCode;
use super::{Outcome, by_suite_and_path};

/// The file's contents. XML can't hold every character: those it can't are left out, as in lit.
pub fn document(outcomes: &[Outcome<'_>], elapsed: Duration) -> String {
    let mut outcomes = outcomes.to_vec();
    by_suite_and_path(&mut outcomes);
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    // Writing to a String can't fail, here and below.
    let _ = writeln!(out, "<testsuites time=\"{:.2}\">", elapsed.as_secs_f64());
    for suite in outcomes.chunk_by(|(a, _), (b, _)| std::sync::Arc::ptr_eq(&a.suite, &b.suite)) {
        write_suite(&mut out, suite);
    }
    out.push_str("</testsuites>\n");
    out
}

fn is_skipped(code: ResultCode) -> bool {
    matches!(code, ResultCode::Excluded | ResultCode::Skipped | ResultCode::Unsupported)
}

fn seconds((_, result): &Outcome<'_>) -> f64 {
    result.elapsed.unwrap_or_default().as_secs_f64()
}

fn write_suite(out: &mut String, suite: &[Outcome<'_>]) {
    let Some((first, _)) = suite.first() else { return };
    let name = first.suite.config.name.replace('.', "-");
    let failures = suite.iter().filter(|(_, result)| result.code.is_failure()).count();
    let skipped = suite.iter().filter(|(_, result)| is_skipped(result.code)).count();
    let time: f64 = suite.iter().map(seconds).sum();
    let _ = writeln!(
        out,
        "<testsuite name={} tests=\"{}\" failures=\"{failures}\" skipped=\"{skipped}\" \
         time=\"{time:.2}\">",
        attribute(&name),
        suite.len()
    );
    for outcome in suite {
        write_test(out, outcome, &name);
    }
    out.push_str("</testsuite>\n");
}

fn write_test(out: &mut String, outcome: &Outcome<'_>, suite: &str) {
    let (test, result) = outcome;
    let (dir, name) = test.path.rsplit_once('/').unwrap_or(("", &test.path));
    let dir = dir.replace('.', "_");
    let class = format!("{suite}.{}", if dir.is_empty() { suite } else { &dir });
    let _ = write!(
        out,
        "<testcase classname={} name={} time=\"{:.2}\"",
        attribute(&class),
        attribute(name),
        seconds(outcome)
    );
    if result.code.is_failure() {
        let log = allowed(&result.output).replace("]]>", "]]]]><![CDATA[>");
        let _ = write!(out, ">\n  <failure><![CDATA[{log}]]></failure>\n</testcase>\n");
    } else if is_skipped(result.code) {
        let reason = match result.code {
            ResultCode::Excluded => "Test not selected (--filter, --max-tests)",
            ResultCode::Skipped => "Run ended early (--max-failures, --max-time)",
            _ if result.summary.is_empty() => "Unsupported configuration",
            _ => &result.summary,
        };
        let _ = write!(out, ">\n  <skipped message={}/>\n</testcase>\n", attribute(reason));
    } else {
        out.push_str("/>\n");
    }
}

/// Without the characters XML 1.0 forbids.
fn allowed(text: &str) -> String {
    text.chars()
        .filter(
            |&c| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..),
        )
        .collect()
}

fn attribute(text: &str) -> String {
    let mut out = String::from("\"");
    for c in allowed(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\r' => out.push_str("&#13;"),
            '\t' => out.push_str("&#9;"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes() {
        assert_eq!(attribute("a<b>&\"\n\u{1}"), "\"a&lt;b&gt;&amp;&quot;&#10;\"");
        assert_eq!(allowed("a\u{b}\u{fffe}b\t"), "ab\t");
    }
}
