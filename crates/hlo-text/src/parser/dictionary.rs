//! Free-form texts: `frontend_attributes={key="value"}`, `backend_config=`.

use std::borrow::Cow;

use super::list::at_key;
use super::{ParseResult, ValueContext};
use crate::diagnostic::Span;
use crate::ir::{Interner, Symbol};
use crate::lexer::{Cursor, Token};

/// Takes a quoted string or a `{...}` dictionary of the attribute whose name stands at `key`.
fn string_or_json<'s>(cursor: &mut Cursor<'s>, key: Span) -> ParseResult<Cow<'s, [u8]>> {
    match cursor.token() {
        Token::String | Token::LBrace => cursor.string_or_json(),
        // Of values of another kind XLA says nothing but that the attribute can't be read.
        _ => Err(at_key(cursor, key, "its value must be a quoted string or a `{...}` dictionary")),
    }
}

/// Takes `{key="value",other={"a": 1}}` of the attribute whose name stands at `key`. The result is sorted by
/// the keys' bytes; of equal keys the last one counts.
pub(crate) fn parse_frontend_attributes(
    cursor: &mut Cursor<'_>,
    context: &mut ValueContext<'_>,
    key: Span,
) -> ParseResult<Vec<(Symbol, Symbol)>> {
    let mut entries = Vec::new();
    cursor.expect(Token::LBrace, "`{` and attributes such as `{key=\"value\"}`")?;
    if cursor.token() != Token::RBrace {
        loop {
            if cursor.token() != Token::AttrName {
                return Err(cursor.unexpected("the name of a frontend attribute with its `=`"));
            }
            let name = context.module.strings_mut().intern(cursor.word().as_bytes());
            cursor.bump();
            let value = string_or_json(cursor, key)?;
            entries.push((name, context.module.strings_mut().intern(&value)));
            if !cursor.eat(Token::Comma) {
                break;
            }
        }
    }
    cursor.expect(Token::RBrace, "`,` or `}` in the frontend attributes")?;
    sort_by_key(&mut entries, context.module.strings());
    Ok(entries)
}

fn sort_by_key(entries: &mut Vec<(Symbol, Symbol)>, strings: &Interner) {
    let text = |entry: &(Symbol, Symbol)| strings.get(entry.0);
    if entries.is_sorted_by(|a, b| text(a) < text(b)) {
        return;
    }
    entries.sort_by(|a, b| text(a).cmp(text(b)));
    // The sort is stable, so the last of equal keys is the one to keep: it moves to the first one's place.
    entries.dedup_by(|later, earlier| {
        let is_same = later.0 == earlier.0;
        if is_same {
            earlier.1 = later.1;
        }
        is_same
    });
}

/// Takes the value of `backend_config=`, whose name stands at `key`.
pub(crate) fn parse_backend_config(
    cursor: &mut Cursor<'_>,
    context: &mut ValueContext<'_>,
    key: Span,
) -> ParseResult<Symbol> {
    let text = string_or_json(cursor, key)?;
    Ok(context.module.strings_mut().intern(&without_empty_wait_queues(text)))
}

/// XLA's printer of GPU configurations once wrote this entry into all of them; XLA's parser drops it.
const WAIT_QUEUES: &[u8] = b"\"wait_on_operation_queues\"";

/// Length of `: [ ] ,` at the start of `text`, blanks allowed before each.
fn empty_list_length(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    for expected in [b':', b'[', b']', b','] {
        while matches!(text.get(at), Some(b' ' | b'\t' | b'\r' | b'\n' | b'\x0c')) {
            at += 1;
        }
        if text.get(at) != Some(&expected) {
            return None;
        }
        at += 1;
    }
    Some(at)
}

/// `text` without every `"wait_on_operation_queues":[],`, wherever it stands.
fn without_empty_wait_queues(text: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    let finder = memchr::memmem::Finder::new(WAIT_QUEUES);
    let mut kept: Option<Vec<u8>> = None;
    // Everything before `copied` is in `kept` or dropped.
    let (mut at, mut copied) = (0, 0);
    while let Some(offset) = finder.find(&text[at..]) {
        let start = at + offset;
        let end = start + WAIT_QUEUES.len();
        match empty_list_length(&text[end..]) {
            Some(length) => {
                kept.get_or_insert_default().extend_from_slice(&text[copied..start]);
                at = end + length;
                copied = at;
            }
            // The closing quote may open another one.
            None => at = end - 1,
        }
    }
    match kept {
        None => text,
        Some(mut kept) => {
            kept.extend_from_slice(&text[copied..]);
            kept.into()
        }
    }
}
