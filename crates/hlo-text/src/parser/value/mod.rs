//! The value of an instruction's attribute, by the kind the attribute table gives it.

use crate::diagnostic::Span;
use crate::ir::{AttrKey, AttrKind, AttrValue, Value};
use crate::lexer::Cursor;
use crate::parser::accuracy::{parse_result_accuracy, parse_statistics};
use crate::parser::aliasing::parse_operand_aliasing;
use crate::parser::convolution::{parse_dim_labels, parse_padding, parse_sparsity_config, parse_window};
use crate::parser::dictionary::{parse_backend_config, parse_frontend_attributes};
use crate::parser::domain::parse_domain;
use crate::parser::list::{parse_bools, parse_int_lists, parse_shapes, parse_slice};
use crate::parser::literal::parse_typed_literal;
use crate::parser::number::{parse_float, parse_int32};
use crate::parser::origin::parse_original_value;
use crate::parser::replica_groups::parse_replica_groups;
use crate::parser::shape::parse_shape;
use crate::parser::sharding::parse_sharding;
use crate::parser::word::{parse_precisions, parse_word};
use crate::parser::{ParseResult, ValueContext};

/// Takes the value of `key`, whose name has just been taken. Not for values that name computations or
/// instructions, nor for metadata: they need more than the context.
pub(crate) fn parse_attribute_value(
    cursor: &mut Cursor<'_>,
    context: &mut ValueContext<'_>,
    key: AttrKey,
) -> ParseResult<AttrValue> {
    let name_end = cursor.previous_end();
    // The name is followed by its `=`.
    let key_span = Span::new(name_end.saturating_sub(key.name().len() + 1), name_end);
    let value = match key.kind() {
        AttrKind::Bool => return Ok(AttrValue::Bool(cursor.bool()?)),
        AttrKind::Int => return Ok(AttrValue::Int(cursor.int()?)),
        AttrKind::Int32 => return Ok(AttrValue::Int(parse_int32(cursor)?.into())),
        AttrKind::Float => return Ok(AttrValue::Float(parse_float(cursor)?)),
        AttrKind::Word(vocabulary) => {
            return Ok(AttrValue::Word(parse_word(cursor, vocabulary, key.name())?));
        }
        AttrKind::String | AttrKind::RawString => {
            let text = cursor.string()?;
            return Ok(AttrValue::String(context.module.strings_mut().intern(&text)));
        }
        AttrKind::StringOrJson => {
            return Ok(AttrValue::String(parse_backend_config(cursor, context, key_span)?));
        }
        AttrKind::Shape => return Ok(AttrValue::Shape(parse_shape(cursor, context)?)),
        AttrKind::Literal => {
            let literal = parse_typed_literal(cursor, context)?;
            return Ok(AttrValue::Literal(context.module.add_literal(literal)));
        }
        AttrKind::Shapes => Value::Shapes(parse_shapes(cursor, context)?),
        AttrKind::Ints => Value::Ints(cursor.int_list()?),
        AttrKind::IntLists => Value::IntLists(parse_int_lists(cursor)?),
        AttrKind::Bools => Value::Bools(parse_bools(cursor, key_span)?),
        AttrKind::Window => Value::Window(parse_window(cursor)?),
        AttrKind::Padding => Value::Padding(parse_padding(cursor)?),
        AttrKind::DimLabels => Value::DimLabels(parse_dim_labels(cursor, context.dialect)?),
        AttrKind::Slice => Value::Slice(parse_slice(cursor)?),
        AttrKind::Precision => Value::Precision(parse_precisions(cursor)?),
        AttrKind::ReplicaGroups => Value::ReplicaGroups(parse_replica_groups(cursor, context)?),
        AttrKind::Sharding => Value::Sharding(parse_sharding(cursor, context)?),
        AttrKind::FrontendAttributes => {
            Value::FrontendAttributes(parse_frontend_attributes(cursor, context, key_span)?)
        }
        AttrKind::Statistics => Value::Statistics(parse_statistics(cursor, context, key_span)?),
        AttrKind::ResultAccuracy => Value::ResultAccuracy(parse_result_accuracy(cursor)?),
        AttrKind::OriginalValue => Value::OriginalValue(parse_original_value(cursor, context)?),
        AttrKind::SparsityConfig => Value::SparsityConfig(parse_sparsity_config(cursor)?),
        AttrKind::Domain => Value::Domain(parse_domain(cursor, context)?),
        AttrKind::Aliasing => Value::Aliasing(parse_operand_aliasing(cursor)?),
        AttrKind::Computation
        | AttrKind::Computations
        | AttrKind::ControlPredecessors
        | AttrKind::Metadata
        | AttrKind::Raw => return Err(cursor.unexpected("a value that stands for itself")),
    };
    Ok(AttrValue::Value(context.module.intern_value(value)))
}

#[cfg(test)]
mod tests;
