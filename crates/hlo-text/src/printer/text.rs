//! Quoted strings and `{...}` dictionaries.

use crate::ir::Module;
use crate::lexer::{escape_into, looks_like_json};

/// Appends `text` in double quotes, with escapes.
pub(crate) fn write_quoted(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    escape_into(out, text);
    out.push(b'"');
}

/// Appends `text` as it is between double quotes, as XLA does with some strings; with escapes if the print must
/// read back.
pub(crate) fn write_raw_quoted(out: &mut Vec<u8>, module: &Module, text: &[u8]) {
    if module.reads_back && memchr::memchr2(b'"', b'\\', text).is_some() {
        return write_quoted(out, text);
    }
    out.push(b'"');
    out.extend_from_slice(text);
    out.push(b'"');
}

/// Appends `text` as it is if it is a `{...}` dictionary, otherwise in quotes.
pub(crate) fn write_string_or_json(out: &mut Vec<u8>, module: &Module, text: &[u8]) {
    // Blanks and comments around a dictionary are lost when it is read without quotes.
    let is_bare = !module.reads_back || (text.starts_with(b"{") && text.ends_with(b"}"));
    if is_bare && looks_like_json(text) {
        out.extend_from_slice(text);
    } else {
        write_quoted(out, text);
    }
}
