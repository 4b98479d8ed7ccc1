//! How far a value reaches whose syntax we don't know.

use super::ParseResult;
use crate::diagnostic::{Code, Diagnostic, Span, shorten};
use crate::lexer::{Cursor, Token};

/// Where the value at byte `offset` ends if brackets, quoted strings and comments in it are balanced: before the
/// comma, the line feed or the closing bracket that follows it. `None` if there is no such value.
pub(crate) fn raw_value_extent(source: &str, offset: usize) -> Option<usize> {
    extent(source.as_bytes(), offset, false)
}

/// The same for a value that a blank ends.
fn raw_field_extent(source: &str, offset: usize) -> Option<usize> {
    extent(source.as_bytes(), offset, true)
}

fn extent(bytes: &[u8], offset: usize, stop_at_blank: bool) -> Option<usize> {
    let mut at = offset;
    while matches!(bytes.get(at), Some(b' ' | b'\t')) {
        at += 1;
    }
    let mut open: Vec<u8> = Vec::new();
    // End of the value so far: blanks before what ends it do not belong to it.
    let mut end = None;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'(' => open.push(b')'),
            b'[' => open.push(b']'),
            b'{' => open.push(b'}'),
            b')' | b']' | b'}' => match open.pop() {
                Some(expected) if expected == byte => {}
                Some(_) => return None,
                None => break,
            },
            b'"' | b'\'' => at = string_end(bytes, at)? - 1,
            b'/' => {
                if let Some(comment) = comment_end(bytes, at)? {
                    at = comment;
                    continue;
                }
            }
            b',' | b'\n' if open.is_empty() => break,
            b' ' | b'\t' if open.is_empty() && stop_at_blank => break,
            b' ' | b'\t' | b'\r' => {
                at += 1;
                continue;
            }
            _ => {}
        }
        at += 1;
        end = Some(at);
    }
    if open.is_empty() { end } else { None }
}

/// The byte after the quoted string at `at`.
fn string_end(bytes: &[u8], at: usize) -> Option<usize> {
    let quote = bytes[at];
    let mut end = at + 1;
    loop {
        end += memchr::memchr2(quote, b'\\', bytes.get(end..)?)?;
        if bytes[end] == quote {
            return Some(end + 1);
        }
        end += 2;
    }
}

/// The byte after the comment at `at`; the inner `None` if the slash begins no comment, the outer one if the
/// comment doesn't end.
fn comment_end(bytes: &[u8], at: usize) -> Option<Option<usize>> {
    let rest = &bytes[at..];
    if rest.starts_with(b"//") {
        return Some(Some(at + memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len())));
    }
    if rest.starts_with(b"/*") {
        return Some(Some(at + 2 + memchr::memmem::find(&rest[2..], b"*/")? + 2));
    }
    Some(None)
}

/// Takes an attribute we don't know, whose name is the current token, as it is; gives its text with a warning.
pub(crate) fn keep_raw_attribute<'s>(cursor: &mut Cursor<'s>) -> ParseResult<(&'s str, Diagnostic)> {
    keep(cursor, raw_value_extent)
}

/// The same for a field between blanks.
pub(crate) fn keep_raw_field<'s>(cursor: &mut Cursor<'s>) -> ParseResult<(&'s str, Diagnostic)> {
    keep(cursor, raw_field_extent)
}

fn keep<'s>(
    cursor: &mut Cursor<'s>,
    extent: fn(&str, usize) -> Option<usize>,
) -> ParseResult<(&'s str, Diagnostic)> {
    let source = cursor.source();
    let name = Span::new(cursor.start(), cursor.end() - 1);
    let start = cursor.start();
    let word = cursor.word();
    let end = match extent(source, cursor.end()) {
        Some(end) if cursor.token() == Token::AttrName => end,
        _ => {
            cursor.bump();
            return Err(cursor.unexpected(&format!("a value of `{}`", shorten(word))));
        }
    };
    cursor.seek(end);
    let message = format!("`{}` is not an attribute we know; it is kept as it is", shorten(word));
    Ok((&source[start..end], Diagnostic::new(Code::UnknownAttributeKept, name, message).warning()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_values_reach_as_far_as_they_should() {
        let rows: [(&str, Option<&str>); 15] = [
            ("1, next=2", Some("1")),
            ("word  \nnext", Some("word")),
            ("{a={1,2} b=(3)}, next", Some("{a={1,2} b=(3)}")),
            ("{\n [0:2],\n}\n", Some("{\n [0:2],\n}")),
            ("\"a,}\\\"b\", next", Some("\"a,}\\\"b\"")),
            ("'a,}'}", Some("'a,}'")),
            ("{/* } */1}, x", Some("{/* } */1}")),
            ("{1 // }\n}, x", Some("{1 // }\n}")),
            ("[4]<=[2,2]T(1,0) }", Some("[4]<=[2,2]T(1,0)")),
            ("a/b, c", Some("a/b")),
            ("1 // rest", Some("1")),
            (", x", None),
            ("{1", None),
            ("{1)", None),
            ("\"a", None),
        ];
        for (text, expected) in rows {
            let found = raw_value_extent(text, 0).map(|end| &text[..end]);
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn blanks_end_a_raw_field() {
        for (text, expected) in [("a b=1", "a"), ("{a b} c", "{a b}"), ("\"a b\"}", "\"a b\"")] {
            assert_eq!(raw_field_extent(text, 0), Some(expected.len()), "{text}");
        }
    }
}
