//! MERGE: stands in for the value printer, which replaces this file.

use super::write_int;
use crate::PrintOptions;
use crate::ir::{AttrKey, AttrKind, AttrValue, Module, Value};

/// Appends the value of an attribute.
pub(crate) fn write_attribute_value(
    out: &mut Vec<u8>,
    module: &Module,
    key: AttrKey,
    value: AttrValue,
    _options: &PrintOptions,
) {
    match (value, key.kind()) {
        (AttrValue::Bool(flag), _) => out.extend_from_slice(if flag { b"true" } else { b"false" }),
        (AttrValue::Int(number), _) => write_int(out, number),
        (AttrValue::Word(word), AttrKind::Word(vocabulary)) => {
            out.extend_from_slice(vocabulary.words()[word as usize].as_bytes());
        }
        (AttrValue::String(text), AttrKind::StringOrJson) => {
            out.extend_from_slice(module.strings().get(text));
        }
        (AttrValue::String(text), _) => {
            out.push(b'"');
            out.extend_from_slice(module.strings().get(text));
            out.push(b'"');
        }
        (AttrValue::Value(value), _) => match module.value(value) {
            Value::Ints(ints) => {
                out.push(b'{');
                for (index, &int) in ints.iter().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    write_int(out, int);
                }
                out.push(b'}');
            }
            Value::FrontendAttributes(entries) => {
                out.push(b'{');
                for (index, &(key, value)) in entries.iter().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    out.extend_from_slice(module.strings().get(key));
                    out.extend_from_slice(b"=\"");
                    out.extend_from_slice(module.strings().get(value));
                    out.push(b'"');
                }
                out.push(b'}');
            }
            _ => {}
        },
        _ => {}
    }
}
