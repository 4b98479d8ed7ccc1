//! `OpMetadata`, stack frames, original values, frontend attributes.

use super::super::schema::{
    frontend_attributes as fa, frontend_attributes_map_entry as entry, op_metadata as m,
    original_array_proto as oa, original_value_element_proto as oe, original_value_proto as ov, payload,
    stack_frame_index_proto as sf, stack_frame_index_proto_file_location as fl,
    stack_frame_index_proto_stack_frame as frame,
};
use super::super::wire::Writer;
use crate::ir::{Metadata, Module, OriginalArray, OriginalNode, OriginalValue, StackFrameIndex, Symbol};

/// Appends the fields of metadata.
pub(super) fn write_metadata(w: &mut Writer, module: &Module, metadata: &Metadata) {
    let text = |w: &mut Writer, number, symbol: Option<Symbol>| {
        if let Some(symbol) = symbol {
            w.bytes(number, module.strings().get(symbol));
        }
    };
    text(w, m::OP_TYPE, metadata.op_type);
    text(w, m::OP_NAME, metadata.op_name);
    text(w, m::SOURCE_FILE, metadata.source_file);
    w.int(m::SOURCE_LINE, metadata.source_line.into());
    let extra = metadata.extra.as_deref();
    if let Some(extra) = extra {
        w.ints(m::PROFILE_TYPE, extra.profile_type.iter().map(|&number| number.into()));
        text(w, m::DEDUPLICATED_NAME, extra.deduplicated_name);
    }
    w.int(m::STACK_FRAME_ID, metadata.stack_frame_id.into());
    text(w, m::SCHEDULING_NAME, extra.and_then(|extra| extra.scheduling_name));
    w.int(m::SOURCE_END_LINE, metadata.source_end_line.into());
    w.int(m::SOURCE_COLUMN, metadata.source_column.into());
    w.int(m::SOURCE_END_COLUMN, metadata.source_end_column.into());
    if let Some(value) = extra.and_then(|extra| extra.payload) {
        w.message(m::METADATA_PAYLOAD, |w| w.always_bytes(payload::VALUE, module.strings().get(value)));
    }
}

/// Appends the stack-frame tables.
pub(super) fn write_stack_frames(w: &mut Writer, module: &Module, tables: &StackFrameIndex) {
    for &name in &tables.file_names {
        w.always_bytes(sf::FILE_NAMES, module.strings().get(name));
    }
    for &name in &tables.function_names {
        w.always_bytes(sf::FUNCTION_NAMES, module.strings().get(name));
    }
    for location in &tables.file_locations {
        w.message(sf::FILE_LOCATIONS, |w| {
            w.int(fl::FILE_NAME_ID, location.file_name_id.into());
            w.int(fl::FUNCTION_NAME_ID, location.function_name_id.into());
            w.int(fl::LINE, location.line.into());
            w.int(fl::COLUMN, location.column.into());
            w.int(fl::END_LINE, location.end_line.into());
            w.int(fl::END_COLUMN, location.end_column.into());
        });
    }
    for row in &tables.stack_frames {
        w.message(sf::STACK_FRAMES, |w| {
            w.int(frame::FILE_LOCATION_ID, row.file_location_id.into());
            w.int(frame::PARENT_FRAME_ID, row.parent_frame_id.into());
        });
    }
}

/// Appends the fields of an array of the original program.
pub(super) fn write_original_array(w: &mut Writer, module: &Module, array: &OriginalArray) {
    if let Some(name) = array.name {
        w.bytes(oa::INSTRUCTION_NAME, module.strings().get(name));
    }
    w.ints(oa::SHAPE_INDEX, array.index.iter().copied());
}

/// Appends the fields of an original value.
pub(super) fn write_original_value(w: &mut Writer, module: &Module, value: &OriginalValue) {
    match value {
        OriginalValue::SyntheticCall => w.bool(ov::IS_SYNTHETIC_CALL, true),
        OriginalValue::Tree(root) => write_node(w, module, root, &mut Vec::new()),
    }
}

fn write_node(w: &mut Writer, module: &Module, node: &OriginalNode, path: &mut Vec<i64>) {
    match node {
        OriginalNode::Array(array) => w.message(ov::ELEMENTS, |w| {
            w.ints(oe::SHAPE_INDEX, path.iter().copied());
            if array.name.is_some() {
                w.message(oe::ORIGINAL_ARRAY, |w| write_original_array(w, module, array));
            }
        }),
        OriginalNode::Tuple(children) => {
            for (index, child) in (0..).zip(children) {
                path.push(index);
                write_node(w, module, child, path);
                path.pop();
            }
        }
    }
}

/// Appends the entries of frontend attributes.
pub(super) fn write_frontend_attributes(w: &mut Writer, module: &Module, entries: &[(Symbol, Symbol)]) {
    for &(key, value) in entries {
        w.message(fa::MAP, |w| {
            w.always_bytes(entry::KEY, module.strings().get(key));
            w.always_bytes(entry::VALUE, module.strings().get(value));
        });
    }
}
