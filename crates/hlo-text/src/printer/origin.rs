//! `{({"a" {0}}, {})}`: original values, and the original arrays in them. XLA does not escape their names.

use super::list::{write_ints, write_joined};
use super::text::write_raw_quoted;
use crate::ir::{Module, OriginalArray, OriginalNode, OriginalValue};

/// Appends an original value.
pub(crate) fn write_original_value(out: &mut Vec<u8>, module: &Module, value: &OriginalValue) {
    out.push(b'{');
    match value {
        OriginalValue::SyntheticCall => out.extend_from_slice(b"[synthetic_call]"),
        OriginalValue::Tree(tree) => write_node(out, module, tree),
    }
    out.push(b'}');
}

fn write_node(out: &mut Vec<u8>, module: &Module, node: &OriginalNode) {
    match node {
        OriginalNode::Array(OriginalArray { name: None, .. }) => out.extend_from_slice(b"{}"),
        OriginalNode::Array(array) => write_original_array(out, module, array),
        OriginalNode::Tuple(children) => {
            out.push(b'(');
            write_joined(out, children, b", ", |out, child| write_node(out, module, child));
            out.push(b')');
        }
    }
}

/// Appends `{"a" {0}}`; an array without a name is `{""}`.
pub(crate) fn write_original_array(out: &mut Vec<u8>, module: &Module, array: &OriginalArray) {
    out.push(b'{');
    write_raw_quoted(out, module, array.name.map_or(b"", |name| module.strings().get(name)));
    if !array.index.is_empty() {
        out.push(b' ');
        write_ints(out, &array.index);
    }
    out.push(b'}');
}
