//! Buffers that several values share: `output_to_operand_aliasing=`, `input_output_alias=`, `buffer_donor=`.

use super::list::parse_shape_index;
use super::{Dialect, ParseResult, ValueContext};
use crate::diagnostic::{Code, Diagnostic, Span, shorten};
use crate::ir::{
    AliasKind, BufferDonor, HeaderKey, InputOutputAlias, Module, OperandAliasing, Shape, ShapeId, ShapeIndex,
};
use crate::lexer::{Cursor, Token};

/// Takes `{ENTRY, ENTRY}`; a comma after the last entry is tolerated.
fn parse_entries(
    cursor: &mut Cursor<'_>,
    what: &str,
    mut entry: impl FnMut(&mut Cursor<'_>) -> ParseResult<()>,
) -> ParseResult<()> {
    if !cursor.eat(Token::LBrace) {
        return Err(cursor.unexpected(&format!("`{{` and a list of {what}")));
    }
    while cursor.token() != Token::RBrace {
        entry(cursor)?;
        if !cursor.eat(Token::Comma) {
            break;
        }
    }
    if !cursor.eat(Token::RBrace) {
        return Err(cursor.unexpected(&format!("`,` or `}}` in the list of {what}")));
    }
    Ok(())
}

/// Takes the current token, which must be `token`, as an entry of the form `form` has it.
fn expect(cursor: &mut Cursor<'_>, token: Token, text: &str, form: &str) -> ParseResult<()> {
    if cursor.eat(token) { Ok(()) } else { Err(cursor.unexpected(&format!("`{text}` as in `{form}`"))) }
}

/// Takes `(NUMBER, INDEX`, what all entries have.
fn parse_place(cursor: &mut Cursor<'_>, form: &str) -> ParseResult<(i64, ShapeIndex)> {
    expect(cursor, Token::LParen, "(", form)?;
    let number = cursor.int()?;
    expect(cursor, Token::Comma, ",", form)?;
    Ok((number, parse_shape_index(cursor)?))
}

/// Takes `{{0}: (1, {}), {1}: (0, {2})}`.
pub(crate) fn parse_operand_aliasing(cursor: &mut Cursor<'_>) -> ParseResult<Vec<OperandAliasing>> {
    const FORM: &str = "{output index}: (operand number, {operand index})";
    let mut entries = Vec::new();
    parse_entries(cursor, "operand aliases", |cursor| {
        let output_index = parse_shape_index(cursor)?;
        expect(cursor, Token::Colon, ":", FORM)?;
        let (operand, operand_index) = parse_place(cursor, FORM)?;
        expect(cursor, Token::RParen, ")", FORM)?;
        entries.push(OperandAliasing { output_index, operand, operand_index });
        Ok(())
    })?;
    Ok(entries)
}

/// Takes `{ {0}: (1, {}, must-alias), {1}: (0, {2}) }`. The result is sorted by output index; of equal output
/// indices the first one counts.
pub(crate) fn parse_input_output_alias(
    cursor: &mut Cursor<'_>,
    context: &mut ValueContext<'_>,
) -> ParseResult<Vec<InputOutputAlias>> {
    const FORM: &str = "{output index}: (parameter number, {parameter index}, may-alias)";
    let mut entries: Vec<InputOutputAlias> = Vec::new();
    parse_entries(cursor, "aliases", |cursor| {
        let output_index = parse_shape_index(cursor)?;
        expect(cursor, Token::Colon, ":", FORM)?;
        if context.dialect == Dialect::Lenient && cursor.token() == Token::Int {
            context.warnings.push(old_spelling(cursor.span(), "a parameter number without parentheses"));
            let parameter = cursor.int()?;
            let (parameter_index, kind) = (ShapeIndex::new(), AliasKind::May);
            entries.push(InputOutputAlias { output_index, parameter, parameter_index, kind });
            return Ok(());
        }
        let (parameter, parameter_index) = parse_place(cursor, FORM)?;
        let kind = if cursor.eat(Token::Comma) { parse_alias_kind(cursor, context)? } else { AliasKind::May };
        expect(cursor, Token::RParen, ")", FORM)?;
        entries.push(InputOutputAlias { output_index, parameter, parameter_index, kind });
        Ok(())
    })?;
    entries.sort_by(|a, b| a.output_index.cmp(&b.output_index));
    entries.dedup_by(|later, earlier| later.output_index == earlier.output_index);
    Ok(entries)
}

fn old_spelling(span: Span, what: &str) -> Diagnostic {
    Diagnostic::new(Code::Dialect, span, format!("{what} is how older XLA versions write this")).warning()
}

fn parse_alias_kind(cursor: &mut Cursor<'_>, context: &mut ValueContext<'_>) -> ParseResult<AliasKind> {
    if !matches!(cursor.token(), Token::Ident | Token::Name) {
        return Err(cursor.unexpected("`may-alias` or `must-alias`"));
    }
    let (name, span) = (cursor.word(), cursor.span());
    cursor.bump();
    match name {
        "may-alias" => return Ok(AliasKind::May),
        "must-alias" => return Ok(AliasKind::Must),
        // The names of the same two kinds before they were renamed.
        "USER" | "SYSTEM" if context.dialect == Dialect::Lenient => {
            context.warnings.push(old_spelling(span, &format!("`{name}`")));
            return Ok(if name == "USER" { AliasKind::May } else { AliasKind::Must });
        }
        _ => {}
    }
    // XLA notices at the token after the name.
    let message = format!("`{}` is no kind of alias", shorten(name));
    Err(Diagnostic::new(Code::BadAlias, cursor.span(), message)
        .focus(span, "")
        .help("the kinds are `may-alias` and `must-alias`")
        .boxed())
}

/// Takes `{ (0, {}), (1, {0}) }`. The result is sorted, and has each entry once.
pub(crate) fn parse_buffer_donors(cursor: &mut Cursor<'_>) -> ParseResult<Vec<BufferDonor>> {
    const FORM: &str = "(parameter number, {parameter index})";
    let mut entries = Vec::new();
    parse_entries(cursor, "buffer donors", |cursor| {
        let (parameter, parameter_index) = parse_place(cursor, FORM)?;
        expect(cursor, Token::RParen, ")", FORM)?;
        entries.push(BufferDonor { parameter, parameter_index });
        Ok(())
    })?;
    entries.sort_unstable();
    entries.dedup();
    Ok(entries)
}

/// Looks whether the aliases and donors of the header fit the entry computation, whose result has the shape
/// `result`. XLA does so at the end of the text: `end`. Only what XLA looks at is checked: output indices, and
/// that parameter numbers are not negative. `key_span` is where an attribute of the header stands.
pub(crate) fn check_aliases(
    module: &Module,
    result: ShapeId,
    end: Span,
    key_span: impl Fn(HeaderKey) -> Option<Span>,
) -> ParseResult<()> {
    let fail_at = |key: HeaderKey, message: String| {
        let error = Diagnostic::new(Code::BadAlias, end, message);
        Err(match key_span(key) {
            Some(span) => error.focus(span, "").boxed(),
            None => error.boxed(),
        })
    };
    let fail = |message: String| fail_at(HeaderKey::InputOutputAlias, message);
    for alias in &module.header.input_output_alias {
        if !has_index(module, result, &alias.output_index) {
            let index = &alias.output_index;
            return fail(format!("the result of the entry computation has no part {index:?} to alias"));
        }
        if alias.parameter < 0 {
            return fail(format!("the aliased parameter number {} is negative", alias.parameter));
        }
    }
    match module.header.buffer_donors.iter().find(|donor| donor.parameter < 0) {
        Some(donor) => {
            let message = format!("the parameter number {} of a buffer donor is negative", donor.parameter);
            fail_at(HeaderKey::BufferDonor, message)
        }
        None => Ok(()),
    }
}

fn has_index(module: &Module, mut shape: ShapeId, index: &[i64]) -> bool {
    for &number in index {
        let Shape::Tuple(elements) = module.shape(shape) else { return false };
        let Some(&element) = usize::try_from(number).ok().and_then(|number| elements.get(number)) else {
            return false;
        };
        shape = element;
    }
    true
}
