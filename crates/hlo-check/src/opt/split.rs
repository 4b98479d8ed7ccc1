//! `--split-input-file`: files with several modules, MLIR's marker between them.

/// The line between two cases.
const MARKER: &[u8] = b"// -----";

/// What stands between the outputs of two cases, so that the output can be split again.
pub(super) const SEPARATOR: &[u8] = b"// -----\n\n";

/// How many dashes after `//` look like a separator.
const SUSPICIOUS_DASHES: usize = 3;

/// A case of a split file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Case<'b> {
    /// Number of its first line in the file, from 1.
    pub(crate) first_line: usize,
    /// Its text, without markers.
    pub(crate) bytes: &'b [u8],
}

/// Whether the text before `at` ends with a line that is the marker: what follows may be another case.
pub(super) fn ends_case(bytes: &[u8], at: usize) -> bool {
    let before = bytes.get(..at).unwrap_or_default().trim_ascii_end();
    let line = before.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
    is_marker(line)
}

/// The cases of a file, at least one. Lines that are the marker and nothing else, blanks at the end aside, separate.
/// Cases without anything but blanks and comments are none.
///
/// # Errors
/// The numbers of the lines that are almost the marker: XLA's tools separate at some of them, and cases that run
/// together give errors that don't say why.
pub(crate) fn cases(bytes: &[u8]) -> Result<Vec<Case<'_>>, Vec<usize>> {
    let (mut cases, mut near_misses) = (Vec::new(), Vec::new());
    let (mut first_line, mut start, mut at) = (1, 0, 0);
    for (index, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let next = at + line.len();
        if is_marker(line) {
            cases.push(Case { first_line, bytes: &bytes[start..at] });
            (first_line, start) = (index + 2, next);
        } else if is_near_miss(line) {
            near_misses.push(index + 1);
        }
        at = next;
    }
    cases.push(Case { first_line, bytes: &bytes[start..] });
    if !near_misses.is_empty() {
        return Err(near_misses);
    }
    let first = cases[0];
    cases.retain(|case| has_text(case.bytes));
    if cases.is_empty() {
        // There is nothing: one case that can be complained about.
        cases.push(first);
    }
    Ok(cases)
}

fn is_marker(line: &[u8]) -> bool {
    line.strip_prefix(MARKER).is_some_and(|tail| tail.trim_ascii().is_empty())
}

/// Whether a line that isn't the marker seems meant for it: other blanks, another number of dashes, or words after it.
fn is_near_miss(line: &[u8]) -> bool {
    let Some(comment) = line.trim_ascii().strip_prefix(b"//") else { return false };
    let comment = comment.trim_ascii_start();
    let dashes = comment.iter().take_while(|&&byte| byte == b'-').count();
    dashes >= SUSPICIOUS_DASHES && (dashes == comment.len() || line.trim_ascii_start().starts_with(MARKER))
}

/// Whether there is anything but blanks and comments.
pub(crate) fn has_text(bytes: &[u8]) -> bool {
    let mut rest = bytes.trim_ascii_start();
    loop {
        let end = if rest.starts_with(b"//") {
            memchr::memchr(b'\n', rest)
        } else if rest.starts_with(b"/*") {
            memchr::memmem::find(&rest[2..], b"*/").map(|at| at + 4)
        } else {
            return !rest.is_empty();
        };
        match end {
            Some(end) => rest = rest[end..].trim_ascii_start(),
            // A comment up to the end of the file; if it isn't closed, that is a fault to tell.
            None => return rest.starts_with(b"/*"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<(usize, &str)> {
        let cases = cases(text.as_bytes()).expect("no line is suspicious");
        cases
            .into_iter()
            .map(|case| (case.first_line, std::str::from_utf8(case.bytes).unwrap_or("?")))
            .collect()
    }

    #[test]
    fn marker_lines_separate() {
        assert_eq!(split("a\nb"), [(1, "a\nb")]);
        assert_eq!(split("a\n// -----\nb\n"), [(1, "a\n"), (3, "b\n")]);
        assert_eq!(split("a\r\n// ----- \r\nb\n// -----"), [(1, "a\r\n"), (3, "b\n")]);
        assert_eq!(split("a // -----\n// CHECK: // -----\n"), [(1, "a // -----\n// CHECK: // -----\n")]);
    }

    #[test]
    fn cases_without_text_are_none() {
        assert_eq!(split("// -----\na\n// -----\n\n// -----\nb"), [(2, "a\n"), (6, "b")]);
        assert_eq!(split("// RUN: x\n /* y\n*/\n// -----\na\n// -----\n// end"), [(5, "a\n")]);
        assert_eq!(split(""), [(1, "")]);
        assert_eq!(split("\n// -----\n"), [(1, "\n")]);
        assert_eq!(split("a\n// -----\n/* b"), [(1, "a\n"), (3, "/* b")]);
    }

    #[test]
    fn what_is_almost_the_marker_is_named() {
        for line in [
            "  // -----",
            "//-----",
            "// ------",
            "// ---",
            "// ----- second",
            "//  -----",
            "// ------------",
        ] {
            let text = format!("a\n{line}\nb\n// -----\nc\n{line}");
            assert_eq!(cases(text.as_bytes()), Err(vec![2, 6]), "{line}");
        }
        for line in ["// --", "//--- file", "// --- a ---", "// a -----", "-----", "/ -----"] {
            assert!(cases(line.as_bytes()).is_ok(), "{line}");
        }
    }
}
