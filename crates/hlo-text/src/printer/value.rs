//! The value of an instruction's attribute.

use super::aliasing::write_operand_aliasing;
use super::convolution::{write_dim_labels, write_padding, write_sparsity_config, write_window};
use super::list::{
    write_bool, write_bools, write_braced, write_int_lists, write_ints, write_joined, write_slice,
};
use super::literal::write_typed_literal;
use super::origin::write_original_value;
use super::replica_groups::write_replica_groups;
use super::shape::write_shape;
use super::sharding::write_sharding;
use super::sort_json::sorted_json;
use super::text::{write_quoted, write_raw_quoted, write_string_or_json};
use super::{write_int, write_name};
use crate::PrintOptions;
use crate::ir::{
    AttrKey, AttrKind, AttrValue, ComputationId, Module, Number, ResultAccuracy, Statistics, Symbol, Value,
};

/// Significant digits of floating-point attributes.
const DIGITS: usize = 6;

/// Appends the value of an attribute.
pub(crate) fn write_attribute_value(
    out: &mut Vec<u8>,
    module: &Module,
    key: AttrKey,
    value: AttrValue,
    options: &PrintOptions,
) {
    match value {
        AttrValue::Int(_) if key == AttrKey::ChannelId && !options.print_channel_id => out.push(b'_'),
        AttrValue::Bool(flag) => write_bool(out, flag),
        AttrValue::Int(number) => write_int(out, number),
        AttrValue::Float(number) => write_number(out, number.into()),
        AttrValue::Word(word) => {
            let words = match key.kind() {
                AttrKind::Word(vocabulary) => vocabulary.words(),
                _ => &[],
            };
            out.extend_from_slice(words.get(usize::from(word)).map_or(b"", |word| word.as_bytes()));
        }
        AttrValue::String(symbol) => {
            let text = module.strings().get(symbol);
            match key.kind() {
                AttrKind::StringOrJson if options.sort_backend_config => {
                    write_string_or_json(out, module, sorted_json(text).as_deref().unwrap_or(text));
                }
                AttrKind::StringOrJson => write_string_or_json(out, module, text),
                AttrKind::RawString => write_raw_quoted(out, module, text),
                _ => write_quoted(out, text),
            }
        }
        AttrValue::Computation(computation) => write_computation(out, module, computation, options),
        AttrValue::Shape(shape) => write_shape(out, module, shape, true),
        AttrValue::Literal(literal) => {
            write_typed_literal(out, module, module.literal(literal), |out, shape| {
                write_shape(out, module, shape, true);
            });
        }
        AttrValue::Value(value) => write_value(out, module, module.value(value), options),
        AttrValue::Raw(symbol) => out.extend_from_slice(module.strings().get(symbol)),
    }
}

fn write_computation(out: &mut Vec<u8>, module: &Module, id: ComputationId, options: &PrintOptions) {
    write_name(out, module, module.computation(id).name, options);
}

/// Appends a structured value.
pub(crate) fn write_value(out: &mut Vec<u8>, module: &Module, value: &Value, options: &PrintOptions) {
    match value {
        Value::Ints(ints) => write_ints(out, ints),
        Value::IntLists(lists) => write_int_lists(out, lists),
        Value::Bools(flags) => write_bools(out, flags),
        Value::Computations(computations) => {
            out.push(b'{');
            write_joined(out, computations, b", ", |out, &id| write_computation(out, module, id, options));
            out.push(b'}');
        }
        Value::Shapes(shapes) => {
            out.push(b'{');
            write_joined(out, shapes, b", ", |out, &shape| write_shape(out, module, shape, true));
            out.push(b'}');
        }
        Value::Window(window) => write_window(out, window),
        Value::Padding(padding) => write_padding(out, padding),
        Value::DimLabels(numbers) => write_dim_labels(out, numbers),
        Value::Slice(ranges) => write_slice(out, ranges),
        Value::Precision(list) => {
            write_braced(out, list, |out, precision| out.extend_from_slice(precision.name().as_bytes()));
        }
        Value::ReplicaGroups(groups) => write_replica_groups(out, module, groups, options),
        Value::Sharding(sharding) => write_sharding(out, module, sharding, options),
        Value::FrontendAttributes(entries) => write_frontend_attributes(out, module, entries),
        Value::Statistics(statistics) => write_statistics(out, module, statistics),
        Value::ResultAccuracy(accuracy) => write_result_accuracy(out, accuracy),
        Value::OriginalValue(value) => write_original_value(out, module, value),
        Value::SparsityConfig(config) => write_sparsity_config(out, config),
        Value::Domain(domain) => {
            out.extend_from_slice(b"{kind=\"sharding\", entry=");
            write_sharding(out, module, &domain.entry, options);
            out.extend_from_slice(b", exit=");
            write_sharding(out, module, &domain.exit, options);
            out.push(b'}');
        }
        Value::Aliasing(entries) => write_operand_aliasing(out, entries),
    }
}

/// Appends `{key="value",other={"a": 1}}`.
pub(crate) fn write_frontend_attributes(out: &mut Vec<u8>, module: &Module, entries: &[(Symbol, Symbol)]) {
    write_braced(out, entries, |out, &(key, value)| {
        out.extend_from_slice(module.strings().get(key));
        out.push(b'=');
        write_string_or_json(out, module, module.strings().get(value));
    });
}

/// Appends a number the way C's `%g` does; a NaN has no sign.
fn write_number(out: &mut Vec<u8>, number: f64) {
    if number.is_nan() {
        out.extend_from_slice(b"nan");
    } else {
        crate::number::write_general(out, number, DIGITS);
    }
}

fn write_statistics(out: &mut Vec<u8>, module: &Module, statistics: &Statistics) {
    out.extend_from_slice(b"{visualizing_index=");
    write_int(out, statistics.visualizing_index);
    for &(name, Number(value)) in &statistics.entries {
        out.push(b',');
        out.extend_from_slice(module.strings().get(name));
        out.push(b'=');
        write_number(out, value);
    }
    out.push(b'}');
}

fn write_result_accuracy(out: &mut Vec<u8>, accuracy: &ResultAccuracy) {
    match accuracy {
        ResultAccuracy::Mode(mode) => {
            out.extend_from_slice(b"{mode=");
            out.extend_from_slice(mode.name().as_bytes());
            out.push(b'}');
        }
        ResultAccuracy::Tolerance { atol, rtol, ulps } => {
            out.extend_from_slice(b"{tolerance={atol=");
            write_number(out, atol.0);
            out.extend_from_slice(b",rtol=");
            write_number(out, rtol.0);
            out.extend_from_slice(b",ulps=");
            write_int(out, *ulps);
            out.extend_from_slice(b"}}");
        }
    }
}
