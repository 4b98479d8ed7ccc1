//! `ShapeProto`, `LayoutProto`, `ProgramShapeProto`.

use super::super::fault::{Fault, FaultKind, InField, Read};
use super::super::schema::{layout_proto as l, program_shape_proto as ps, shape_proto as s};
use super::super::schema::{split_config_proto as split, tile_proto as tile};
use super::super::wire::Fields;
use super::super::{BUFFER_TYPE, COMBINED_TILE, MAX_PROTO_NESTING, TUPLE_TYPE};
use super::{ANY, Reader};
use crate::ir::{ArrayShape, ElementType, Layout, Shape, ShapeId, SplitConfig, TileDimension, UNBOUNDED};

/// The element type with the number `number` in XLA's enumeration.
pub(super) fn element_type(number: i32) -> Option<ElementType> {
    const COUNT: usize = 64;
    static BY_NUMBER: [Option<ElementType>; COUNT] = {
        let mut table = [None; COUNT];
        let mut at = 0;
        while at < ElementType::ALL.len() {
            let element_type = ElementType::ALL[at];
            table[element_type.proto_number() as usize] = Some(element_type);
            at += 1;
        }
        table
    };
    BY_NUMBER.get(usize::try_from(number).ok()?).copied().flatten()
}

impl<'b> Reader<'b> {
    /// The shape in `bytes`; equal bytes are looked at once.
    #[inline]
    pub(super) fn shape(&mut self, bytes: &'b [u8]) -> Read<ShapeId> {
        let place = match self.shapes.get(ANY, bytes) {
            Ok(shape) => return Ok(shape),
            Err(place) => place,
        };
        let shape = self.nested_shape(bytes, 0)?;
        self.shapes.insert(place, ANY, bytes, shape);
        Ok(shape)
    }

    fn nested_shape(&mut self, bytes: &'b [u8], depth: usize) -> Read<ShapeId> {
        if depth > MAX_PROTO_NESTING {
            return Err(too_deep("shapes"));
        }
        let mut number = 0;
        let mut dimensions = Vec::new();
        let mut dynamic = Vec::new();
        let mut elements = Vec::new();
        let mut layout = None;
        for field in Fields::new(bytes) {
            let field = field?;
            match field.number {
                s::ELEMENT_TYPE => number = field.int32().within("element_type")?,
                s::DIMENSIONS => field.int64s(&mut dimensions).within("dimensions")?,
                s::IS_DYNAMIC_DIMENSION => field.bools(&mut dynamic).within("is_dynamic_dimension")?,
                s::TUPLE_SHAPES => {
                    let index = elements.len();
                    let element = field.bytes().and_then(|bytes| self.nested_shape(bytes, depth + 1));
                    elements.push(element.at("tuple_shapes", index)?);
                }
                s::LAYOUT => layout = Some(field.bytes().within("layout")?),
                _ => {}
            }
        }
        let shape = match (number, elements.as_slice()) {
            (TUPLE_TYPE, _) => Shape::Tuple(elements),
            (BUFFER_TYPE, &[element]) if self.module().shape(element).as_array().is_some() => {
                Shape::Buffer(element)
            }
            (BUFFER_TYPE, _) => return Err(Fault::value("a buffer consists of one array")),
            _ => match element_type(number) {
                Some(ElementType::Token) => Shape::Token,
                Some(ElementType::Opaque) => Shape::Opaque,
                Some(element_type) => {
                    check_dimensions(&dimensions, &dynamic)?;
                    dynamic.resize(dimensions.len(), false);
                    let layout = match layout {
                        Some(layout) => Some(self.layout(layout).within("layout")?),
                        None => None,
                    };
                    Shape::Array(ArrayShape { element_type, dimensions, dynamic, layout })
                }
                None => {
                    let message = format!("{number} is no element type");
                    return Err(Fault::value(message).within("element_type"));
                }
            },
        };
        Ok(self.module().shapes_mut().intern(shape))
    }

    fn layout(&mut self, bytes: &'b [u8]) -> Read<Layout> {
        let mut layout = Layout { tail_padding_alignment: 1, ..Layout::default() };
        for field in Fields::new(bytes) {
            let field = field?;
            match field.number {
                l::MINOR_TO_MAJOR => field.int64s(&mut layout.minor_to_major).within("minor_to_major")?,
                l::TILES => {
                    let index = layout.tiles.len();
                    let tile = field.bytes().and_then(read_tile).at("tiles", index)?;
                    layout.tiles.push(tile);
                }
                l::TAIL_PADDING_ALIGNMENT_IN_ELEMENTS => {
                    let alignment = field.int64().within("tail_padding_alignment_in_elements")?;
                    layout.tail_padding_alignment = if alignment == 0 { 1 } else { alignment };
                }
                l::ELEMENT_SIZE_IN_BITS => {
                    layout.element_size_in_bits = field.int64().within("element_size_in_bits")?;
                }
                l::MEMORY_SPACE => layout.memory_space = field.int64().within("memory_space")?,
                l::INDEX_PRIMITIVE_TYPE => {
                    let number = field.int32().within("index_primitive_type")?;
                    layout.index_type = (number != 0).then(|| element_type(number));
                }
                l::POINTER_PRIMITIVE_TYPE => {
                    let number = field.int32().within("pointer_primitive_type")?;
                    layout.pointer_type = (number != 0).then(|| element_type(number));
                }
                l::DYNAMIC_SHAPE_METADATA_PREFIX_BYTES => {
                    layout.dynamic_shape_metadata_prefix_bytes =
                        field.int64().within("dynamic_shape_metadata_prefix_bytes")?;
                }
                l::SPLIT_CONFIGS => {
                    let index = layout.split_configs.len();
                    let split = field.bytes().and_then(read_split).at("split_configs", index)?;
                    layout.split_configs.push(split);
                }
                _ => {}
            }
        }
        Ok(layout)
    }

    /// Parameters and result of a `ProgramShapeProto`.
    pub(super) fn program_shape(&mut self, bytes: &'b [u8]) -> Read<(Vec<ShapeId>, Option<ShapeId>)> {
        let mut parameters = Vec::new();
        let mut result = None;
        for field in Fields::new(bytes) {
            let field = field?;
            match field.number {
                ps::PARAMETERS => {
                    let index = parameters.len();
                    let shape = field.bytes().and_then(|bytes| self.shape(bytes));
                    parameters.push(shape.at("parameters", index)?);
                }
                ps::RESULT => {
                    let shape = field.bytes().and_then(|bytes| self.shape(bytes));
                    result = Some(shape.within("result")?);
                }
                _ => {}
            }
        }
        Ok((parameters, result))
    }
}

fn check_dimensions(dimensions: &[i64], dynamic: &[bool]) -> Read<()> {
    for (index, &size) in dimensions.iter().enumerate() {
        let is_dynamic = dynamic.get(index).copied().unwrap_or(false);
        if size < 0 && !(size == UNBOUNDED && is_dynamic) {
            return Err(Fault::value(format!("a dimension must not be {size}")).at("dimensions", index));
        }
    }
    Ok(())
}

fn read_tile(bytes: &[u8]) -> Read<Vec<TileDimension>> {
    let mut sizes = Vec::new();
    for field in Fields::new(bytes) {
        let field = field?;
        if field.number == tile::DIMENSIONS {
            field.int64s(&mut sizes).within("dimensions")?;
        }
    }
    let dimension = |(index, size): (usize, i64)| match size {
        COMBINED_TILE => Ok(TileDimension::Combine),
        0.. => Ok(TileDimension::Size(size)),
        _ => Err(Fault::value(format!("a tile dimension must not be {size}")).at("dimensions", index)),
    };
    sizes.into_iter().enumerate().map(dimension).collect()
}

fn read_split(bytes: &[u8]) -> Read<SplitConfig> {
    let mut config = SplitConfig { dimension: 0, indices: Vec::new() };
    for field in Fields::new(bytes) {
        let field = field?;
        match field.number {
            split::DIMENSION => config.dimension = field.int64().within("dimension")?,
            split::SPLIT_INDICES => field.int64s(&mut config.indices).within("split_indices")?,
            _ => {}
        }
    }
    Ok(config)
}

pub(super) fn too_deep(what: &str) -> Box<Fault> {
    Fault::new(FaultKind::TooDeep, format!("{what} are nested more than {MAX_PROTO_NESTING} levels deep"))
}
