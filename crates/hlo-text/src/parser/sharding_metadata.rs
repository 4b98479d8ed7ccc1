//! INTEGRATION: replace this file by `use super::metadata::parse_metadata;` in sharding.rs.

use super::{ParseResult, ValueContext};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::Metadata;
use crate::lexer::{Cursor, Token};

/// Takes `{op_name="..." source_line=1}`; the rare fields are for the real parser.
pub(super) fn parse_metadata(
    cursor: &mut Cursor<'_>,
    context: &mut ValueContext<'_>,
) -> ParseResult<Metadata> {
    let mut metadata = Metadata::default();
    cursor.expect(Token::LBrace, "`{` and the fields of the metadata")?;
    while cursor.token() != Token::RBrace {
        cursor.eat(Token::Comma);
        if cursor.token() != Token::AttrName {
            return Err(cursor.unexpected("the name of a metadata field"));
        }
        let (word, span) = (cursor.word(), cursor.span());
        let text = match word {
            "op_type" => &mut metadata.op_type,
            "op_name" => &mut metadata.op_name,
            "source_file" => &mut metadata.source_file,
            "source_line" | "stack_frame_id" => {
                cursor.bump();
                let start = cursor.span();
                let number = i32::try_from(cursor.int()?).map_err(|_| {
                    Diagnostic::new(Code::OutOfRange, start, "the number exceeds 32 bits").boxed()
                })?;
                match word {
                    "source_line" => metadata.source_line = number,
                    _ => metadata.stack_frame_id = number,
                }
                continue;
            }
            _ => return Err(Diagnostic::new(Code::UnknownAttribute, span, "no such metadata field").boxed()),
        };
        cursor.bump();
        let value = cursor.string()?;
        *text = (!value.is_empty()).then(|| context.module.strings_mut().intern(&value));
    }
    cursor.bump();
    Ok(metadata)
}
