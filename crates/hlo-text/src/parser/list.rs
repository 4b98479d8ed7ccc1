//! Lists: `{{0,1},{2}}`, `{true,false}`, `{[0:2], [1:4:3]}`, `{f32[2]{0}, s32[]}`, shape indices `{1,0}`.

use smallvec::SmallVec;

use super::shape::parse_shape;
use super::{ParseResult, ValueContext};
use crate::diagnostic::{Code, Diagnostic, Span};
use crate::ir::{ShapeId, ShapeIndex, SliceRange};
use crate::lexer::{Cursor, Keyword, Token};

/// Takes `{{0,1},{2}}`.
pub(crate) fn parse_int_lists(cursor: &mut Cursor<'_>) -> ParseResult<Vec<Vec<i64>>> {
    let mut lists = Vec::new();
    cursor.expect(Token::LBrace, "`{` and a list of integer lists")?;
    if cursor.token() != Token::RBrace {
        lists.push(cursor.int_list()?);
        while cursor.eat(Token::Comma) {
            lists.push(cursor.int_list()?);
        }
    }
    cursor.expect(Token::RBrace, "`,` or `}` in the list of integer lists")?;
    Ok(lists)
}

/// Takes `{true,false}` of the attribute whose name stands at `key`.
pub(crate) fn parse_bools(cursor: &mut Cursor<'_>, key: Span) -> ParseResult<Vec<bool>> {
    let mut list = Vec::new();
    cursor.expect(Token::LBrace, "`{` and a list of `true` and `false`")?;
    if cursor.token() != Token::RBrace {
        loop {
            list.push(match cursor.token() {
                Token::Keyword(Keyword::True) => true,
                Token::Keyword(Keyword::False) => false,
                // Of wrong elements XLA says nothing but that the attribute can't be read.
                _ => return Err(at_key(cursor, key, "its values must be `true` or `false`")),
            });
            cursor.bump();
            if !cursor.eat(Token::Comma) {
                break;
            }
        }
    }
    cursor.expect(Token::RBrace, "`,` or `}` in the list of `true` and `false`")?;
    Ok(list)
}

/// An error at the name of an attribute whose value goes wrong at the current token.
pub(crate) fn at_key(cursor: &Cursor<'_>, key: Span, message: &str) -> Box<Diagnostic> {
    let found = cursor.unexpected("").primary;
    Diagnostic::new(Code::BadAttributeValue, key, format!("the attribute cannot be read: {message}"))
        .also(found.span, found.text)
        .boxed()
}

/// Takes `{[0:2], [1:4:3]}`.
pub(crate) fn parse_slice(cursor: &mut Cursor<'_>) -> ParseResult<Vec<SliceRange>> {
    let mut ranges = Vec::new();
    cursor.expect(Token::LBrace, "`{` and a list of ranges `[start:limit:stride]`")?;
    if cursor.token() != Token::RBrace {
        ranges.push(parse_range(cursor)?);
        while cursor.eat(Token::Comma) {
            ranges.push(parse_range(cursor)?);
        }
    }
    cursor.expect(Token::RBrace, "`,` or `}` in the list of ranges")?;
    Ok(ranges)
}

fn parse_range(cursor: &mut Cursor<'_>) -> ParseResult<SliceRange> {
    let start = cursor.start();
    if cursor.token() != Token::LSquare {
        return Err(cursor.unexpected("`[` and a range `[start:limit:stride]`"));
    }
    let mut numbers: SmallVec<[i64; 3]> = SmallVec::new();
    cursor.bump_to_list_element();
    if cursor.token() != Token::RSquare {
        loop {
            numbers.push(cursor.int()?);
            if cursor.token() != Token::Colon {
                break;
            }
            cursor.bump_to_list_element();
        }
    }
    cursor.expect(Token::RSquare, "`:` or `]` in the range")?;
    match *numbers.as_slice() {
        [start, limit] => Ok(SliceRange { start, limit, stride: 1 }),
        [start, limit, stride] => Ok(SliceRange { start, limit, stride }),
        _ => {
            let span = Span::new(start, cursor.previous_end());
            let message = format!("a range has two or three numbers, this one has {}", numbers.len());
            Err(Diagnostic::new(Code::BadAttributeValue, span, message)
                .help("write `[start:limit]` or `[start:limit:stride]`")
                .boxed())
        }
    }
}

/// Takes `{f32[2]{0}, s32[]}`.
pub(crate) fn parse_shapes(
    cursor: &mut Cursor<'_>,
    context: &mut ValueContext<'_>,
) -> ParseResult<Vec<ShapeId>> {
    let mut shapes = Vec::new();
    cursor.expect(Token::LBrace, "`{` and a list of shapes")?;
    if cursor.token() != Token::RBrace {
        shapes.push(parse_shape(cursor, context)?);
        while cursor.eat(Token::Comma) {
            shapes.push(parse_shape(cursor, context)?);
        }
    }
    cursor.expect(Token::RBrace, "`,` or `}` in the list of shapes")?;
    Ok(shapes)
}

/// Takes a shape index `{1,0}`; a comma after the last number is tolerated.
pub(crate) fn parse_shape_index(cursor: &mut Cursor<'_>) -> ParseResult<ShapeIndex> {
    let mut index = Vec::new();
    cursor.expect(Token::LBrace, "`{` and a shape index")?;
    while cursor.token() != Token::RBrace {
        index.push(cursor.int()?);
        if !cursor.eat(Token::Comma) {
            break;
        }
    }
    cursor.expect(Token::RBrace, "`,` or `}` in the shape index")?;
    Ok(index)
}
