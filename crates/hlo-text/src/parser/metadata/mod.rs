//! `metadata={op_type="..." op_name="..." source_file="..." source_line=1}`.
//!
//! In the dumps of real programs half of all bytes are metadata, nearly all of it in the form XLA prints. That
//! form is scanned by hand, without tokens; whatever else is there is read through the cursor from the `{` on.

use crate::diagnostic::Span;
use crate::ir::{Interner, Metadata, MetadataField, MetadataFieldKind};
use crate::lexer::{Cursor, Token, unescape};
use crate::parser::list::at_key;
use crate::parser::number::parse_int32;
use crate::parser::raw::keep_raw_field;
use crate::parser::sub_attribute::{parse_sub_attributes, unknown_name};
use crate::parser::{Dialect, ParseResult, ValueContext};

/// The profile types are numbered from 0 to this.
const MAX_PROFILE_TYPE: i64 = 3;

/// Takes a metadata block of the attribute whose name stands at `key`.
pub(crate) fn parse_metadata(
    cursor: &mut Cursor<'_>,
    context: &mut ValueContext<'_>,
    key: Span,
) -> ParseResult<Metadata> {
    if cursor.token() == Token::LBrace {
        let strings = context.module.strings_mut();
        if let Some((metadata, end)) = scan_printed_form(cursor.source(), cursor.end(), strings) {
            cursor.seek(end);
            return Ok(metadata);
        }
    }
    let mut metadata = Metadata::default();
    let mut unknown = Vec::new();
    let ValueContext { module, dialect, warnings } = context;
    let dialect = *dialect;
    parse_sub_attributes(
        cursor,
        "a metadata field",
        MetadataField::NAMES,
        |cursor, index| {
            let field = MetadataField::ALL[index];
            match field.kind() {
                MetadataFieldKind::Number => metadata.set_number(field, parse_int32(cursor)?),
                MetadataFieldKind::String => {
                    let text = cursor.string()?;
                    set_string(&mut metadata, field, &text, module.strings_mut());
                }
                MetadataFieldKind::ProfileTypes => {
                    let list = cursor.int_list()?;
                    if list.iter().any(|number| !(0..=MAX_PROFILE_TYPE).contains(number)) {
                        return Err(at_key(
                            cursor,
                            key,
                            &format!("a profile type is a number from 0 to {MAX_PROFILE_TYPE}"),
                        ));
                    }
                    if !list.is_empty() {
                        metadata.extra.get_or_insert_default().profile_type =
                            list.iter().map(|&number| number as i32).collect();
                    }
                }
            }
            Ok(())
        },
        |cursor| {
            if dialect == Dialect::Strict {
                let names = MetadataField::NAMES;
                return Err(unknown_name(cursor.word(), cursor.span(), "a metadata field", names));
            }
            let (text, warning) = keep_raw_field(cursor, MetadataField::NAMES)?;
            warnings.push(warning);
            unknown.push(text);
            Ok(())
        },
    )?;
    if !unknown.is_empty() {
        let symbols = unknown.iter().map(|text| module.strings_mut().intern(text.as_bytes()));
        metadata.extra.get_or_insert_default().unknown = symbols.collect();
    }
    Ok(metadata)
}

/// Sets a string field; XLA does not distinguish an empty text from none, except for the payload.
#[inline]
fn set_string(metadata: &mut Metadata, field: MetadataField, text: &[u8], strings: &mut Interner) {
    if !text.is_empty() || field == MetadataField::Payload {
        metadata.set_string(field, strings.intern(text));
    }
}

/// Reads the metadata block behind the `{` before byte `at` if it has the form that XLA prints: known fields,
/// each once, with one blank between them, strings in double quotes, small numbers. Gives the byte behind its `}`
/// too. For anything else, right or wrong, there is the grammar.
fn scan_printed_form(source: &str, mut at: usize, strings: &mut Interner) -> Option<(Metadata, usize)> {
    let bytes = source.as_bytes();
    let mut metadata = Metadata::default();
    let mut seen = 0u32;
    loop {
        let name = at;
        while matches!(bytes.get(at)?, b'a'..=b'z' | b'_') {
            at += 1;
        }
        if bytes[at] != b'=' {
            return None;
        }
        let field = MetadataField::from_name(&bytes[name..at])?;
        let bit = 1 << field as u32;
        if seen & bit != 0 {
            return None;
        }
        seen |= bit;
        at += 1;
        match field.kind() {
            MetadataFieldKind::String => {
                if *bytes.get(at)? != b'"' {
                    return None;
                }
                let start = at + 1;
                let mut end = start + memchr::memchr2(b'"', b'\\', &bytes[start..])?;
                if bytes[end] == b'"' {
                    set_string(&mut metadata, field, &bytes[start..end], strings);
                } else {
                    while bytes[end] == b'\\' {
                        if *bytes.get(end + 1)? == b'\n' {
                            return None;
                        }
                        end += 2;
                        end += memchr::memchr2(b'"', b'\\', bytes.get(end..)?)?;
                    }
                    set_string(&mut metadata, field, &unescape(source.get(start..end)?)?, strings);
                }
                at = end + 1;
            }
            MetadataFieldKind::Number => {
                let (number, length) = scan_number(&bytes[at..])?;
                metadata.set_number(field, number);
                at += length;
            }
            MetadataFieldKind::ProfileTypes => return None,
        }
        match bytes.get(at)? {
            b' ' => at += 1,
            b'}' => return Some((metadata, at + 1)),
            _ => return None,
        }
    }
}

/// An integer of at most 9 digits at the start of `bytes`, and its length.
#[inline]
fn scan_number(bytes: &[u8]) -> Option<(i32, usize)> {
    const MAX_DIGITS: usize = 9;
    let sign = usize::from(bytes.first() == Some(&b'-'));
    let mut value = 0i32;
    let mut length = sign;
    while let Some(digit @ b'0'..=b'9') = bytes.get(length) {
        if length == sign + MAX_DIGITS {
            return None;
        }
        value = value * 10 + i32::from(digit - b'0');
        length += 1;
    }
    (length > sign).then_some((if sign == 1 { -value } else { value }, length))
}

#[cfg(test)]
mod tests;
