//! Quoted strings, their escapes, and the `{...}` dictionaries that stand in for strings.

use logos::Lexer;

use super::Token;

/// A string token is one only if its escapes are valid.
pub(super) fn string(lexer: &mut Lexer<'_, Token>) -> Option<()> {
    let text = lexer.slice();
    let body = &text[1..text.len() - 1];
    if memchr::memchr(b'\\', body.as_bytes()).is_some() {
        unescape(body)?;
    }
    Some(())
}

/// The bytes that the body of a quoted string stands for; `None` if an escape is invalid.
pub(crate) fn unescape(body: &str) -> Option<Vec<u8>> {
    let bytes = body.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(offset) = memchr::memchr(b'\\', &bytes[at..]) {
        out.extend_from_slice(&bytes[at..at + offset]);
        at += offset + 1;
        let escape = *bytes.get(at)?;
        at += 1;
        let simple = match escape {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'a' => 0x07,
            b'b' => 0x08,
            b'f' => 0x0c,
            b'v' => 0x0b,
            b'\\' | b'\'' | b'"' | b'?' => escape,
            b'0'..=b'7' => {
                let digits = bytes[at - 1..].iter().take(3).take_while(|b| matches!(b, b'0'..=b'7')).count();
                let value = u32::from_str_radix(body.get(at - 1..at - 1 + digits)?, 8).ok()?;
                at += digits - 1;
                u8::try_from(value).ok()?
            }
            b'x' | b'X' => {
                let digits = bytes[at..].iter().take_while(|b| b.is_ascii_hexdigit()).count();
                // Any number of digits, as long as the value fits in a byte.
                let significant = bytes[at..at + digits].iter().position(|&b| b != b'0').unwrap_or(digits);
                if digits == 0 || digits - significant > 2 {
                    return None;
                }
                let value = match body.get(at + significant..at + digits)? {
                    "" => 0,
                    hex => u8::from_str_radix(hex, 16).ok()?,
                };
                at += digits;
                value
            }
            b'u' | b'U' => {
                let digits = if escape == b'u' { 4 } else { 8 };
                let hex = body.get(at..at + digits)?;
                if !hex.bytes().all(|b| b.is_ascii_hexdigit()) {
                    return None;
                }
                push_code_point(&mut out, u32::from_str_radix(hex, 16).ok()?)?;
                at += digits;
                continue;
            }
            _ => return None,
        };
        out.push(simple);
    }
    out.extend_from_slice(&bytes[at..]);
    Some(out)
}

/// Appends UTF-8; surrogates get the three bytes their number would have, as XLA writes them.
fn push_code_point(out: &mut Vec<u8>, code_point: u32) -> Option<()> {
    if let Some(character) = char::from_u32(code_point) {
        out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    } else if code_point <= 0xffff {
        let tail = |shift: u32| 0x80 | (code_point >> shift & 0x3f) as u8;
        out.extend_from_slice(&[0xe0 | (code_point >> 12) as u8, tail(6), tail(0)]);
    } else {
        return None;
    }
    Some(())
}

/// Whether a byte of a string is written as an escape.
#[inline(always)]
const fn needs_escape(byte: u8) -> bool {
    // Not short-circuiting, so that a loop over many bytes becomes vector instructions.
    (byte.wrapping_sub(0x20) > 0x7e - 0x20) | (byte == b'"') | (byte == b'\'') | (byte == b'\\')
}

/// Appends `text` with XLA's escapes: six named ones, everything else outside printable ASCII in octal.
pub(crate) fn escape_into(out: &mut Vec<u8>, text: &[u8]) {
    // Hardly any text has something to escape.
    if !text.iter().fold(false, |found, &byte| found | needs_escape(byte)) {
        out.extend_from_slice(text);
        return;
    }
    let mut clean = 0;
    for (index, &byte) in text.iter().enumerate() {
        if !needs_escape(byte) {
            continue;
        }
        out.extend_from_slice(&text[clean..index]);
        clean = index + 1;
        match byte {
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'"' | b'\'' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            _ => {
                out.extend_from_slice(&[
                    b'\\',
                    b'0' + (byte >> 6),
                    b'0' + (byte >> 3 & 7),
                    b'0' + (byte & 7),
                ]);
            }
        }
    }
    out.extend_from_slice(&text[clean..]);
}

/// Length of the `{...}` dictionary at the start of `bytes`: braces are counted, double-quoted strings skipped,
/// everything else is plain text. `None` if it doesn't end.
pub(crate) fn json_dict_length(bytes: &[u8]) -> Option<usize> {
    let mut depth = 0usize;
    let mut at = 0;
    loop {
        at += memchr::memchr3(b'{', b'}', b'"', bytes.get(at..)?)?;
        match bytes[at] {
            b'{' => depth += 1,
            b'}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {
                at += 1;
                loop {
                    at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
                    if bytes[at] == b'"' {
                        break;
                    }
                    // `.` of XLA's pattern does not match a line feed.
                    if bytes.get(at + 1).is_none_or(|&escaped| escaped == b'\n') {
                        return None;
                    }
                    at += 2;
                }
            }
        }
        at += 1;
    }
}

/// Whether XLA prints this string without quotes: it is one dictionary, blanks and comments around it allowed.
pub(crate) fn looks_like_json(text: &[u8]) -> bool {
    let Some(start) = skip_blank(text, 0) else { return false };
    if text.get(start) != Some(&b'{') {
        return false;
    }
    match json_dict_length(&text[start..]) {
        Some(length) => skip_blank(text, start + length) == Some(text.len()),
        None => false,
    }
}

/// The first place from `at` that is neither blank nor comment; `None` if a comment is malformed.
fn skip_blank(text: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match text.get(at) {
            Some(b' ' | b'\t' | b'\r' | b'\n') => at += 1,
            Some(b'/') => match text.get(at + 1) {
                Some(b'/') => {
                    let rest = &text[at..];
                    let end = memchr::memchr3(b'\n', b'\r', 0, rest).unwrap_or(rest.len());
                    if rest.get(end) == Some(&0) {
                        return None;
                    }
                    at += end;
                }
                Some(b'*') => at += 2 + memchr::memmem::find(&text[at + 2..], b"*/")? + 2,
                _ => return None,
            },
            _ => return Some(at),
        }
    }
}
