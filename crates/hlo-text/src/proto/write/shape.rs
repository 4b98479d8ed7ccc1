//! `ShapeProto`, `LayoutProto`, `ProgramShapeProto`.

use super::super::schema::{layout_proto as l, program_shape_proto as ps, shape_proto as s};
use super::super::schema::{split_config_proto as split, tile_proto as tile};
use super::super::wire::Writer;
use super::super::{BUFFER_TYPE, COMBINED_TILE, TUPLE_TYPE};
use crate::ir::{ElementType, Layout, Module, Shape, ShapeId, TileDimension};

/// Appends the fields of a shape. Shapes nest no deeper than the readers allow.
pub(super) fn write_shape(w: &mut Writer, module: &Module, id: ShapeId) {
    match module.shape(id) {
        Shape::Array(array) => {
            w.int(s::ELEMENT_TYPE, i64::from(array.element_type.proto_number()));
            w.ints(s::DIMENSIONS, array.dimensions.iter().copied());
            if let Some(layout) = &array.layout {
                w.message(s::LAYOUT, |w| write_layout(w, layout));
            }
            w.bools(s::IS_DYNAMIC_DIMENSION, &array.dynamic);
        }
        Shape::Tuple(elements) => {
            w.int(s::ELEMENT_TYPE, i64::from(TUPLE_TYPE));
            for &element in elements {
                w.message(s::TUPLE_SHAPES, |w| write_shape(w, module, element));
            }
        }
        Shape::Buffer(element) => {
            w.int(s::ELEMENT_TYPE, i64::from(BUFFER_TYPE));
            w.message(s::TUPLE_SHAPES, |w| write_shape(w, module, *element));
        }
        Shape::Token => w.int(s::ELEMENT_TYPE, i64::from(ElementType::Token.proto_number())),
        Shape::Opaque => w.int(s::ELEMENT_TYPE, i64::from(ElementType::Opaque.proto_number())),
    }
}

fn write_layout(w: &mut Writer, layout: &Layout) {
    w.ints(l::MINOR_TO_MAJOR, layout.minor_to_major.iter().copied());
    for sizes in &layout.tiles {
        w.message(l::TILES, |w| {
            let size = |size: &TileDimension| match *size {
                TileDimension::Size(size) => size,
                TileDimension::Combine => COMBINED_TILE,
            };
            w.ints(tile::DIMENSIONS, sizes.iter().map(size));
        });
    }
    w.int(l::ELEMENT_SIZE_IN_BITS, layout.element_size_in_bits);
    w.int(l::MEMORY_SPACE, layout.memory_space);
    let number = |element_type: Option<Option<ElementType>>| {
        i64::from(element_type.flatten().map_or(0, ElementType::proto_number))
    };
    w.int(l::INDEX_PRIMITIVE_TYPE, number(layout.index_type));
    w.int(l::POINTER_PRIMITIVE_TYPE, number(layout.pointer_type));
    w.int(l::DYNAMIC_SHAPE_METADATA_PREFIX_BYTES, layout.dynamic_shape_metadata_prefix_bytes);
    // XLA means 1 by nothing, and writes it.
    w.int(l::TAIL_PADDING_ALIGNMENT_IN_ELEMENTS, layout.tail_padding_alignment.max(1));
    for config in &layout.split_configs {
        w.message(l::SPLIT_CONFIGS, |w| {
            w.int(split::DIMENSION, config.dimension);
            w.ints(split::SPLIT_INDICES, config.indices.iter().copied());
        });
    }
}

/// Appends the fields of a program shape; a name for each parameter.
pub(super) fn write_program_shape<'n>(
    w: &mut Writer,
    module: &Module,
    parameters: &[ShapeId],
    result: ShapeId,
    names: impl Iterator<Item = std::borrow::Cow<'n, [u8]>>,
) {
    for &parameter in parameters {
        w.message(ps::PARAMETERS, |w| write_shape(w, module, parameter));
    }
    w.message(ps::RESULT, |w| write_shape(w, module, result));
    names.for_each(|name| w.always_bytes(ps::PARAMETER_NAMES, &name));
}
