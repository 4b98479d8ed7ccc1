//! `--report=github`: annotations in GitHub's workflow log, at RUN lines that failed and where lints found something.

use std::path::Path;

use super::Outcome;

/// One command per failing test; `root` is what paths are made relative to.
pub fn annotations(outcomes: &[Outcome<'_>], root: &Path) -> String {
    let mut out = String::new();
    for (test, result) in outcomes.iter().filter(|(_, result)| result.code.is_failure()) {
        let source = test.source();
        let file = source.strip_prefix(root).unwrap_or(&source);
        let message = if result.summary.is_empty() { result.code.label() } else { &result.summary };
        out.push_str(&format!(
            "::error file={},line={},title={}::{}\n",
            property(&file.to_string_lossy().replace('\\', "/")),
            result.line.unwrap_or(1),
            property(&format!("{}: {}", result.code.name(), test.full_name())),
            data(message)
        ));
    }
    for (test, result) in outcomes {
        let source = test.source();
        let file = source.strip_prefix(root).unwrap_or(&source).to_string_lossy().replace('\\', "/");
        for finding in &result.findings {
            out.push_str(&format!(
                "::warning file={},line={},col={},title={}::{}\n",
                property(&file),
                finding.line,
                finding.column,
                property(finding.code),
                data(&format!("{}; {}", finding.message, finding.help))
            ));
        }
    }
    out
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    #[test]
    fn escapes() {
        assert_eq!(super::property("a:b,c%\n"), "a%3Ab%2Cc%25%0A");
        assert_eq!(super::data("a:b"), "a:b");
    }
}
