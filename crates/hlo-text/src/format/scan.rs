//! What there is between words: strings, comments, blanks, brackets.

/// A stretch of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Blanks,
    /// `// ...`, without the line end.
    LineComment,
    /// `/* ... */`
    BlockComment,
    /// `"..."`
    Quoted,
    /// One character.
    Other(char),
}

/// What `text` begins with and how many bytes that is; `None` at its end.
pub(super) fn next(text: &str) -> Option<(Kind, usize)> {
    let first = text.chars().next()?;
    if first.is_ascii_whitespace() {
        let end = text.find(|c: char| !c.is_ascii_whitespace()).unwrap_or(text.len());
        return Some((Kind::Blanks, end));
    }
    if text.starts_with("//") {
        let end = text.find(['\n', '\r']).unwrap_or(text.len());
        return Some((Kind::LineComment, end));
    }
    if let Some(inner) = text.strip_prefix("/*") {
        let end = inner.find("*/").map_or(text.len(), |end| end + "/**/".len());
        return Some((Kind::BlockComment, end));
    }
    if first == '"' {
        return Some((Kind::Quoted, quoted_length(text)));
    }
    Some((Kind::Other(first), first.len_utf8()))
}

/// The length in bytes of the quoted string that `text` begins with, quotes included; all of `text` if it doesn't end.
pub fn quoted_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The comments of a text, without blanks at their lines' ends.
pub(super) fn comments(text: &str) -> impl Iterator<Item = Vec<&str>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let (kind, length) = next(rest)?;
            let (item, tail) = rest.split_at(length);
            rest = tail;
            if matches!(kind, Kind::LineComment | Kind::BlockComment) {
                return Some(item.lines().map(str::trim).collect());
            }
        }
    })
}

/// Length of the bracketed group that `text` begins with, brackets included; `None` if it isn't closed.
pub(super) fn group_length(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    let mut at = 0;
    while let Some((kind, length)) = next(&text[at..]) {
        at += length;
        match kind {
            Kind::Other('{' | '(' | '[') => depth += 1,
            Kind::Other('}' | ')' | ']') => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}
