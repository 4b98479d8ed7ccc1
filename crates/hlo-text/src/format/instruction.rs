//! An instruction on one line.

use super::scan::{Kind, group_length, next};
use crate::ir::{AttrKey, AttrKind, HeaderKey};

/// An instruction laid out; `shape` is written before the opcode if there is none. What has a comment to the end of a line
/// in it stays on its lines.
pub(super) fn format(code: &str, shape: Option<&str>) -> String {
    let code = match shape.and_then(|shape| with_shape(code, shape)) {
        Some(shaped) => shaped,
        None => code.to_owned(),
    };
    if has_line_comment(&code) { code } else { separate_name(&collapse(&code)) }
}

fn has_line_comment(code: &str) -> bool {
    let mut rest = code;
    while let Some((kind, length)) = next(rest) {
        if kind == Kind::LineComment {
            return true;
        }
        rest = &rest[length..];
    }
    false
}

/// The instruction with `shape` before its opcode; `None` if it has a shape.
fn with_shape(code: &str, shape: &str) -> Option<String> {
    let mut at = 0;
    loop {
        let (kind, length) = next(&code[at..])?;
        at += length;
        if kind == Kind::Other('=') {
            break;
        }
    }
    while let Some((Kind::Blanks | Kind::LineComment | Kind::BlockComment, length)) = next(&code[at..]) {
        at += length;
    }
    let word = code[at..].find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_')))?;
    let is_opcode = word > 0 && code[at + word..].trim_start().starts_with('(');
    is_opcode.then(|| format!("{}{shape} {}", &code[..at], &code[at..]))
}

/// One blank at either side of the first `=`.
fn separate_name(code: &str) -> String {
    match code.split_once('=') {
        Some((name, rest)) => format!("{} = {}", name.trim_end(), rest.trim_start()),
        None => code.to_owned(),
    }
}

/// Whether the value of an attribute is text that must stay as it is: JSON, and what nobody knows.
fn is_verbatim(key: &str) -> bool {
    let mut known = AttrKey::ALL.iter().map(|key| key.info()).filter(|info| info.name == key).peekable();
    if known.peek().is_none() {
        return HeaderKey::from_name(key).is_none_or(|key| key == HeaderKey::OriginRecoveryTable);
    }
    known.any(|info| matches!(info.kind, AttrKind::StringOrJson | AttrKind::Raw))
}

/// Code on one line: runs of blanks become one; after commas outside braces there is one, inside parentheses and before
/// commas none.
pub(super) fn collapse(code: &str) -> String {
    let mut out = String::with_capacity(code.len());
    let mut open: Vec<char> = Vec::new();
    let mut is_blank = false;
    let mut at = 0;
    // The attribute whose value is being written, by place in `out`.
    while let Some((kind, length)) = next(&code[at..]) {
        let item = &code[at..at + length];
        let only_parentheses = open.iter().all(|&bracket| bracket == '(');
        match kind {
            Kind::Blanks => {
                is_blank = true;
                at += length;
                continue;
            }
            Kind::Other(c) => {
                let before = out.chars().next_back();
                let wants_blank = match c {
                    ',' | ')' if only_parentheses => false,
                    _ if only_parentheses && before == Some(',') => true,
                    _ if only_parentheses && before == Some('(') => false,
                    _ if open.is_empty() && before == Some('=') && !out.ends_with(" =") => false,
                    _ => is_blank,
                };
                if wants_blank && !out.is_empty() {
                    out.push(' ');
                }
                if c == '{' && out.ends_with('=') && is_verbatim(last_key(&out)) {
                    let group = group_length(&code[at..]).unwrap_or(length);
                    out.push_str(&code[at..at + group]);
                    at += group;
                    is_blank = false;
                    continue;
                }
                match c {
                    '(' | '{' | '[' => open.push(c),
                    ')' | '}' | ']' => {
                        open.pop();
                    }
                    _ => {}
                }
            }
            _ => {
                let before = out.chars().next_back();
                let wants_blank = match before {
                    Some('(') if only_parentheses => false,
                    Some(',') if only_parentheses => true,
                    _ => is_blank,
                };
                if wants_blank && !out.is_empty() {
                    out.push(' ');
                }
            }
        }
        out.push_str(item);
        at += length;
        is_blank = false;
    }
    out
}

/// The word before the `=` that `text` ends with.
fn last_key(text: &str) -> &str {
    let text = text.trim_end_matches('=');
    let start =
        text.rfind(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))).map_or(0, |at| at + 1);
    text.get(start..).unwrap_or_default()
}
