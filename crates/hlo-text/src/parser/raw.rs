//! How far a value reaches whose syntax we don't know.

use super::ParseResult;
use crate::diagnostic::{Code, Diagnostic, Span, did_you_mean, shorten};
use crate::lexer::{Cursor, Token};

/// Where the value at byte `offset` ends if brackets, quoted strings and comments in it are balanced: before the
/// comma, the closing bracket or the blank that follows it. A blank before an opening bracket is within the value
/// (`mesh[a=2] {a}`). `None` if there is no such value.
pub(crate) fn raw_value_extent(source: &str, offset: usize) -> Option<usize> {
    extent(source.as_bytes(), offset, true)
}

/// The same for a value that a blank ends whatever follows.
fn raw_field_extent(source: &str, offset: usize) -> Option<usize> {
    extent(source.as_bytes(), offset, false)
}

fn extent(bytes: &[u8], offset: usize, joins_brackets: bool) -> Option<usize> {
    let mut at = skip_blanks(bytes, offset);
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
            b',' if open.is_empty() => break,
            b' ' | b'\t' | b'\r' | b'\n' => {
                let next = skip_blanks(bytes, at);
                let is_within = !open.is_empty()
                    || joins_brackets
                        && !bytes[at..next].contains(&b'\n')
                        && matches!(bytes.get(next), Some(b'{' | b'[' | b'('));
                if !is_within {
                    break;
                }
                at = next;
                continue;
            }
            _ => {}
        }
        at += 1;
        end = Some(at);
    }
    if open.is_empty() { end } else { None }
}

fn skip_blanks(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
        at += 1;
    }
    at
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
/// `names` are those that could have been meant.
pub(crate) fn keep_raw_attribute<'s>(
    cursor: &mut Cursor<'s>,
    names: &[&'static str],
) -> ParseResult<(&'s str, Diagnostic)> {
    keep(cursor, raw_value_extent, names)
}

/// The same for a field between blanks.
pub(crate) fn keep_raw_field<'s>(
    cursor: &mut Cursor<'s>,
    names: &[&'static str],
) -> ParseResult<(&'s str, Diagnostic)> {
    keep(cursor, raw_field_extent, names)
}

/// What is said of what is kept.
pub(crate) const KEPT: &str = "it is kept and printed back; `--strict` refuses it";

/// There is no value after the name that is the current token, or it doesn't end.
pub(crate) fn no_raw_value(cursor: &mut Cursor<'_>) -> Box<Diagnostic> {
    let what = format!("a value of `{}`, with all its brackets and quotes closed", shorten(cursor.word()));
    cursor.bump();
    cursor.unexpected(&what)
}

fn keep<'s>(
    cursor: &mut Cursor<'s>,
    extent: fn(&str, usize) -> Option<usize>,
    names: &[&'static str],
) -> ParseResult<(&'s str, Diagnostic)> {
    let source = cursor.source();
    let name = Span::new(cursor.start(), cursor.end() - 1);
    let start = cursor.start();
    let word = cursor.word();
    let end = match extent(source, cursor.end()) {
        Some(end) if cursor.token() == Token::AttrName => end,
        _ => return Err(no_raw_value(cursor)),
    };
    cursor.seek(end);
    let message = format!("`{}` is not an attribute we know", shorten(word));
    let help = match did_you_mean(word, names.iter().copied()) {
        Some(close) => format!("did you mean `{close}`? As it stands {KEPT}"),
        None => KEPT.to_owned(),
    };
    Ok((&source[start..end], Diagnostic::new(Code::UnknownAttributeKept, name, message).help(help).warning()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_values_reach_as_far_as_they_should() {
        let rows: [(&str, Option<&str>); 21] = [
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
            ("3 ROOT r = f32[4] negate(q)", Some("3")),
            ("1 sharding={replicated}", Some("1")),
            ("mesh['a'=2,'b'=4] {a}, x", Some("mesh['a'=2,'b'=4] {a}")),
            ("{a}\n{b}", Some("{a}")),
            ("\n  {4}\n", Some("\n  {4}")),
            ("\n 4\n  r = f32[] constant(1)", Some("\n 4")),
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
