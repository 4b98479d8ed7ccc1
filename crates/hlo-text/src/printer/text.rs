//! Quoted strings and `{...}` dictionaries.

use crate::lexer::{escape_into, looks_like_json};

/// Appends `text` in double quotes, with escapes.
pub(crate) fn write_quoted(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    escape_into(out, text);
    out.push(b'"');
}

/// Appends `text` as it is if it is a `{...}` dictionary, otherwise in quotes.
pub(crate) fn write_string_or_json(out: &mut Vec<u8>, text: &[u8]) {
    if looks_like_json(text) {
        out.extend_from_slice(text);
    } else {
        write_quoted(out, text);
    }
}
