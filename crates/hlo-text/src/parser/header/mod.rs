//! The attributes of the `HloModule` line.

use crate::diagnostic::{Code, Diagnostic, Span};
use crate::ir::{EntryComputationLayout, Header, HeaderKey, Interner, Module, OriginRecovery, OriginalArray};
use crate::lexer::{Cursor, Token};
use crate::parser::aliasing::{parse_buffer_donors, parse_input_output_alias};
use crate::parser::dictionary::parse_frontend_attributes;
use crate::parser::list::parse_bools;
use crate::parser::origin::parse_original_array;
use crate::parser::raw::{KEPT, keep_raw_attribute};
use crate::parser::shape::parse_shape;
use crate::parser::sub_attribute::unknown_name;
use crate::parser::{Dialect, ParseResult, ValueContext};

/// Which attributes the header has had so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SeenHeaderKeys(u32);

impl SeenHeaderKeys {
    /// Adds `key`; `false` if it was there already.
    fn insert(&mut self, key: HeaderKey) -> bool {
        let bit = 1 << key as u32;
        let is_new = self.0 & bit == 0;
        self.0 |= bit;
        is_new
    }
}

/// Attributes of older and newer XLA versions, which are kept as they are, and whose they are.
const DIALECT_ATTRIBUTES: &[(&str, &str)] =
    &[("debug_attributes", "of XLA since 2026"), ("dynamic_parameter_binding", "of XLA before 2023")];

/// How the texts of modules inside the header are read. It has to bound how deep modules stand in modules.
pub(crate) type ParseNestedModule<'a> = dyn FnMut(&str) -> ParseResult<Module> + 'a;

/// Takes an attribute of the header, name and value.
pub(crate) fn parse_header_attribute(
    cursor: &mut Cursor<'_>,
    context: &mut ValueContext<'_>,
    header: &mut Header,
    seen: &mut SeenHeaderKeys,
    parse_module: &mut ParseNestedModule<'_>,
) -> ParseResult<()> {
    if cursor.token() != Token::AttrName {
        return Err(cursor.unexpected("the name of an attribute of the module with its `=`"));
    }
    let (name, key_span) = (cursor.word(), cursor.span());
    let Some(key) = HeaderKey::from_name(name) else {
        let names: Vec<&str> = HeaderKey::ALL.iter().map(|key| key.name()).collect();
        if context.dialect == Dialect::Strict {
            return Err(unknown_name(name, key_span, "an attribute of the module", &names));
        }
        let (text, mut warning) = keep_raw_attribute(cursor, &names)?;
        if let Some(row) = DIALECT_ATTRIBUTES.iter().find(|row| row.0 == name) {
            warning = Diagnostic::new(Code::Dialect, key_span, format!("`{name}` is {}", row.1))
                .help(KEPT)
                .warning();
        }
        context.warnings.push(warning);
        header.unknown.push(context.module.strings_mut().intern(text.as_bytes()));
        return Ok(());
    };
    if !seen.insert(key) {
        let message = format!("the module has two attributes `{name}`");
        return Err(Diagnostic::new(Code::DuplicateAttribute, key_span, message).boxed());
    }
    cursor.bump();
    match key {
        HeaderKey::IsScheduled => header.is_scheduled = cursor.bool()?,
        HeaderKey::InputOutputAlias => {
            header.input_output_alias = parse_input_output_alias(cursor, context)?;
        }
        HeaderKey::BufferDonor => header.buffer_donors = parse_buffer_donors(cursor)?,
        HeaderKey::AliasPassthroughParams => header.alias_passthrough_params = cursor.bool()?,
        HeaderKey::EntryComputationLayout => {
            header.entry_computation_layout = Some(parse_entry_layout(cursor, context)?);
        }
        HeaderKey::AllowSpmdShardingPropagationToParameters => {
            header.allow_spmd_sharding_propagation_to_parameters = parse_bool_or_bools(cursor, key_span)?;
        }
        HeaderKey::AllowSpmdShardingPropagationToOutput => {
            header.allow_spmd_sharding_propagation_to_output = parse_bool_or_bools(cursor, key_span)?;
        }
        HeaderKey::ReplicaCount => header.replica_count = cursor.int()?,
        HeaderKey::NumPartitions => header.num_partitions = cursor.int()?,
        HeaderKey::FrontendAttributes => {
            header.frontend_attributes = parse_frontend_attributes(cursor, context, key_span)?;
        }
        HeaderKey::OriginRecoveryTable => {
            header.origin_recovery_table = parse_recovery_table(cursor, context, key_span, parse_module)?;
        }
    }
    Ok(())
}

fn parse_bool_or_bools(cursor: &mut Cursor<'_>, key: Span) -> ParseResult<Vec<bool>> {
    if cursor.token() == Token::LBrace {
        return parse_bools(cursor, key);
    }
    Ok(vec![cursor.bool()?])
}

/// Takes `{(f32[2]{0}, s32[])->f32[2]{0}}`; a comma after the last parameter is tolerated.
fn parse_entry_layout(
    cursor: &mut Cursor<'_>,
    context: &mut ValueContext<'_>,
) -> ParseResult<EntryComputationLayout> {
    let mut parameters = Vec::new();
    cursor.expect(Token::LBrace, "`{` and shapes such as `{(f32[2]{0})->f32[]}`")?;
    cursor.expect(Token::LParen, "`(` and the shapes of the parameters")?;
    while cursor.token() != Token::RParen {
        parameters.push(parse_shape(cursor, context)?);
        if cursor.token() == Token::RParen {
            break;
        }
        cursor.expect(Token::Comma, "`,` or `)` after the shape of a parameter")?;
    }
    cursor.bump();
    cursor.expect(Token::Arrow, "`->` and the shape of the result")?;
    let result = parse_shape(cursor, context)?;
    cursor.expect(Token::RBrace, "`}` after the shape of the result")?;
    Ok(EntryComputationLayout { parameters, result })
}

/// Takes `{ {"old" {0}} : {"new"}, "MODULE" {"older"} : {"new"} }`. The result is sorted by the old array; of equal
/// ones the first counts.
fn parse_recovery_table(
    cursor: &mut Cursor<'_>,
    context: &mut ValueContext<'_>,
    key: Span,
    parse_module: &mut ParseNestedModule<'_>,
) -> ParseResult<Vec<OriginRecovery>> {
    let mut table = Vec::new();
    cursor.expect(Token::LBrace, "`{` and a recovery table")?;
    while cursor.token() != Token::RBrace {
        let old = parse_original_array(cursor, context)?;
        cursor.expect(Token::Colon, "`:` as in `{\"old\"} : {\"new\"}`")?;
        let new = parse_original_array(cursor, context)?;
        let mut module = None;
        if cursor.eat(Token::Comma) {
            let text_span = cursor.span();
            let text = cursor.string()?;
            // A module that is wrong has XLA say nothing but that the attribute can't be read.
            let nested = std::str::from_utf8(&text)
                .map_err(|_| "it is not UTF-8".to_owned())
                .and_then(|text| parse_module(text).map_err(|error| error.message));
            match nested {
                Ok(nested) => module = Some(Box::new(nested)),
                Err(fault) => {
                    let message =
                        format!("the attribute has the text of a module that cannot be read: {fault}");
                    return Err(Diagnostic::new(Code::BadAttributeValue, key, message)
                        .also(text_span, "this text")
                        .boxed());
                }
            }
        }
        table.push(OriginRecovery { old, new, module });
    }
    cursor.bump();
    let strings = context.module.strings();
    table.sort_by(|a, b| sort_key(strings, &a.old).cmp(&sort_key(strings, &b.old)));
    table.dedup_by(|later, earlier| later.old == earlier.old);
    Ok(table)
}

fn sort_key<'a>(strings: &'a Interner, array: &'a OriginalArray) -> (&'a [u8], &'a [i64]) {
    (array.name.map_or(b"", |name| strings.get(name)), &array.index)
}

#[cfg(test)]
mod tests;
