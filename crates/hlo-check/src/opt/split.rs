//! `--split-input-file`: files with several modules, MLIR's marker between them.

/// The line between two cases.
const MARKER: &[u8] = b"// -----";

/// What stands between the outputs of two cases, so that the output can be split again.
pub(super) const SEPARATOR: &[u8] = b"// -----\n\n";

/// A case of a split file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Case<'b> {
    /// Number of its first line in the file, from 1.
    pub(super) first_line: usize,
    /// Its text, without markers.
    pub(super) bytes: &'b [u8],
}

/// The cases of a file, at least one. Lines that are the marker and nothing else, blanks at the end aside, separate.
pub(super) fn cases(bytes: &[u8]) -> impl Iterator<Item = Case<'_>> {
    let mut rest = Some(bytes);
    let mut first_line = 1;
    std::iter::from_fn(move || {
        let text = rest?;
        let case = Case { first_line, bytes: text };
        let mut line_start = 0;
        loop {
            let line_end = memchr::memchr(b'\n', &text[line_start..]).map(|length| line_start + length);
            first_line += 1;
            let line = &text[line_start..line_end.unwrap_or(text.len())];
            if line.strip_prefix(MARKER).is_some_and(|tail| tail.trim_ascii().is_empty()) {
                rest = Some(line_end.map_or(&[][..], |end| &text[end + 1..]));
                return Some(Case { bytes: &text[..line_start], ..case });
            }
            match line_end {
                Some(end) => line_start = end + 1,
                None => {
                    rest = None;
                    return Some(case);
                }
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marker_lines_separate() {
        let split = |text: &'static str| -> Vec<(usize, &str)> {
            let text_of =
                |case: Case<'static>| (case.first_line, std::str::from_utf8(case.bytes).unwrap_or("?"));
            cases(text.as_bytes()).map(text_of).collect()
        };
        assert_eq!(split(""), [(1, "")]);
        assert_eq!(split("a\nb"), [(1, "a\nb")]);
        assert_eq!(split("a\n// -----\nb\n"), [(1, "a\n"), (3, "b\n")]);
        assert_eq!(split("a\r\n// ----- \r\nb\n// -----"), [(1, "a\r\n"), (3, "b\n"), (5, "")]);
        assert_eq!(split("a // -----\n// ------\n"), [(1, "a // -----\n// ------\n")]);
    }
}
