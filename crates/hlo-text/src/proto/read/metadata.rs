//! `OpMetadata`, stack frames, original values, frontend attributes.

use super::super::MAX_PROTO_NESTING;
use super::super::fault::{Fault, InField, Read};
use super::super::schema::{
    frontend_attributes as fa, frontend_attributes_map_entry as entry, op_metadata as m,
    original_array_proto as oa, original_value_element_proto as oe, original_value_proto as ov, payload,
    stack_frame_index_proto as sf, stack_frame_index_proto_file_location as fl,
    stack_frame_index_proto_stack_frame as frame,
};
use super::super::wire::{Field, Fields};
use super::shape::too_deep;
use super::{ANY, Reader};
use crate::ir::{
    FileLocation, Metadata, MetadataId, OriginalArray, OriginalNode, OriginalValue, StackFrame,
    StackFrameIndex, Symbol,
};

impl<'b> Reader<'b> {
    /// A string that says something.
    pub(super) fn text(&mut self, field: &Field<'b>) -> Read<Option<Symbol>> {
        let bytes = field.bytes()?;
        Ok((!bytes.is_empty()).then(|| self.module().strings_mut().intern(bytes)))
    }

    /// The metadata in `bytes`, `None` if they say nothing.
    #[inline]
    pub(super) fn metadata_id(&mut self, bytes: &'b [u8]) -> Read<Option<MetadataId>> {
        if bytes.is_empty() {
            return Ok(None);
        }
        let place = match self.metadata.get(ANY, bytes) {
            Ok(id) => return Ok(id),
            Err(place) => place,
        };
        let metadata = self.metadata(bytes)?;
        let id = (metadata != Metadata::default()).then(|| self.module().intern_metadata(metadata));
        self.metadata.insert(place, ANY, bytes, id);
        Ok(id)
    }

    /// The metadata in `bytes`.
    pub(super) fn metadata(&mut self, bytes: &'b [u8]) -> Read<Metadata> {
        let mut metadata = Metadata::default();
        for field in Fields::new(bytes) {
            let field = field?;
            match field.number {
                m::OP_TYPE => metadata.op_type = self.text(&field).within("op_type")?,
                m::OP_NAME => metadata.op_name = self.text(&field).within("op_name")?,
                m::SOURCE_FILE => metadata.source_file = self.text(&field).within("source_file")?,
                m::SOURCE_LINE => metadata.source_line = field.int32().within("source_line")?,
                m::SOURCE_END_LINE => metadata.source_end_line = field.int32().within("source_end_line")?,
                m::SOURCE_COLUMN => metadata.source_column = field.int32().within("source_column")?,
                m::SOURCE_END_COLUMN => {
                    metadata.source_end_column = field.int32().within("source_end_column")?;
                }
                m::STACK_FRAME_ID => metadata.stack_frame_id = field.int32().within("stack_frame_id")?,
                m::PROFILE_TYPE => {
                    let types = &mut metadata.extra.get_or_insert_default().profile_type;
                    field.varints(|bits| types.push(bits as i32)).within("profile_type")?;
                }
                m::DEDUPLICATED_NAME => {
                    if let Some(name) = self.text(&field).within("deduplicated_name")? {
                        metadata.extra.get_or_insert_default().deduplicated_name = Some(name);
                    }
                }
                m::SCHEDULING_NAME => {
                    if let Some(name) = self.text(&field).within("scheduling_name")? {
                        metadata.extra.get_or_insert_default().scheduling_name = Some(name);
                    }
                }
                m::METADATA_PAYLOAD => {
                    let text =
                        field.bytes().and_then(|bytes| self.payload(bytes)).within("metadata_payload")?;
                    if let Some(text) = text {
                        let text = self.module().strings_mut().intern(text);
                        metadata.extra.get_or_insert_default().payload = Some(text);
                    }
                }
                _ => {}
            }
        }
        Ok(metadata)
    }

    /// What a `Payload` stands for: a text in it, or one of the module's.
    pub(super) fn payload(&self, bytes: &'b [u8]) -> Read<Option<&'b [u8]>> {
        let mut value = None;
        for field in Fields::new(bytes) {
            let field = field?;
            match field.number {
                payload::VALUE => value = Some(field.bytes().within("value")?),
                payload::ID => {
                    let id = field.int64().within("id")?;
                    value = usize::try_from(id).ok().and_then(|id| self.payloads.get(id).copied());
                }
                _ => {}
            }
        }
        Ok(value)
    }

    /// The stack-frame tables in `bytes`.
    pub(super) fn stack_frames(&mut self, bytes: &'b [u8]) -> Read<StackFrameIndex> {
        let mut tables = StackFrameIndex::default();
        for field in Fields::new(bytes) {
            let field = field?;
            match field.number {
                sf::FILE_NAMES => {
                    let name = field.bytes().within("file_names")?;
                    tables.file_names.push(self.module().strings_mut().intern(name));
                }
                sf::FUNCTION_NAMES => {
                    let name = field.bytes().within("function_names")?;
                    tables.function_names.push(self.module().strings_mut().intern(name));
                }
                sf::FILE_LOCATIONS => {
                    let index = tables.file_locations.len();
                    let location = field.bytes().and_then(file_location).at("file_locations", index)?;
                    tables.file_locations.push(location);
                }
                sf::STACK_FRAMES => {
                    let index = tables.stack_frames.len();
                    let frame = field.bytes().and_then(stack_frame).at("stack_frames", index)?;
                    tables.stack_frames.push(frame);
                }
                _ => {}
            }
        }
        Ok(tables)
    }

    /// The array of the original program in `bytes`.
    pub(super) fn original_array(&mut self, bytes: &'b [u8]) -> Read<OriginalArray> {
        let mut array = OriginalArray::default();
        for field in Fields::new(bytes) {
            let field = field?;
            match field.number {
                oa::INSTRUCTION_NAME => array.name = self.text(&field).within("instruction_name")?,
                oa::SHAPE_INDEX => field.int64s(&mut array.index).within("shape_index")?,
                _ => {}
            }
        }
        Ok(array)
    }

    /// The original value in `bytes`, of a result that consists of `shapes` shapes.
    pub(super) fn original_value(&mut self, bytes: &'b [u8], shapes: usize) -> Read<OriginalValue> {
        let mut elements: Vec<(Vec<i64>, OriginalArray)> = Vec::new();
        for field in Fields::new(bytes) {
            let field = field?;
            match field.number {
                ov::ELEMENTS => {
                    let index = elements.len();
                    let element = field.bytes().and_then(|bytes| self.original_element(bytes));
                    elements.push(element.at("elements", index)?);
                }
                ov::IS_SYNTHETIC_CALL if field.bool().within("is_synthetic_call")? => {
                    return Ok(OriginalValue::SyntheticCall);
                }
                _ => {}
            }
        }
        // Places between those that are given have no array; there can't be more than places in the result.
        let limit = elements.len().max(shapes);
        let mut root = OriginalNode::Tuple(Vec::new());
        let mut places = elements.len() + shapes;
        for (index, (path, array)) in elements.into_iter().enumerate() {
            if path.len() > MAX_PROTO_NESTING {
                return Err(too_deep("original values").at("elements", index));
            }
            put(&mut root, &path, array, limit, &mut places).at("elements", index)?;
        }
        Ok(OriginalValue::Tree(root))
    }

    fn original_element(&mut self, bytes: &'b [u8]) -> Read<(Vec<i64>, OriginalArray)> {
        let mut path = Vec::new();
        let mut array = OriginalArray::default();
        for field in Fields::new(bytes) {
            let field = field?;
            match field.number {
                oe::SHAPE_INDEX => field.int64s(&mut path).within("shape_index")?,
                oe::ORIGINAL_ARRAY => {
                    let read = field.bytes().and_then(|bytes| self.original_array(bytes));
                    array = read.within("original_array")?;
                }
                _ => {}
            }
        }
        Ok((path, array))
    }

    /// Keys and values, sorted by the keys; of equal keys the last one counts.
    pub(super) fn frontend_attributes(&mut self, bytes: &'b [u8]) -> Read<Vec<(Symbol, Symbol)>> {
        let mut entries: Vec<(&'b [u8], &'b [u8])> = Vec::new();
        for field in Fields::new(bytes) {
            let field = field?;
            if field.number != fa::MAP {
                continue;
            }
            let (mut key, mut value): (&[u8], &[u8]) = (&[], &[]);
            let index = entries.len();
            for inner in Fields::new(field.bytes().at("map", index)?) {
                let inner = inner.at("map", index)?;
                match inner.number {
                    entry::KEY => key = inner.bytes().within("key").at("map", index)?,
                    entry::VALUE => value = inner.bytes().within("value").at("map", index)?,
                    _ => {}
                }
            }
            entries.push((key, value));
        }
        entries.sort_by(|a, b| a.0.cmp(b.0));
        entries.dedup_by(|later, earlier| {
            let is_same = later.0 == earlier.0;
            if is_same {
                earlier.1 = later.1;
            }
            is_same
        });
        let strings = self.module().strings_mut();
        Ok(entries.into_iter().map(|(key, value)| (strings.intern(key), strings.intern(value))).collect())
    }
}

/// Puts an array where `path` leads. Nodes on the way become tuples, those beside them have no array.
fn put(
    root: &mut OriginalNode,
    path: &[i64],
    array: OriginalArray,
    limit: usize,
    places: &mut usize,
) -> Read<()> {
    let mut node = root;
    for &step in path {
        let step = usize::try_from(step).ok().filter(|&step| step < limit).ok_or_else(|| {
            Fault::value(format!("there is no element {step} in the result")).within("shape_index")
        })?;
        if !matches!(node, OriginalNode::Tuple(_)) {
            *node = OriginalNode::Tuple(Vec::new());
        }
        let OriginalNode::Tuple(children) = node else { return Ok(()) };
        if children.len() <= step {
            let missing = step + 1 - children.len();
            *places = places.checked_sub(missing.saturating_sub(1)).ok_or_else(|| {
                Fault::value("there are more places than the result has").within("shape_index")
            })?;
            children.resize(step + 1, OriginalNode::Array(OriginalArray::default()));
        }
        node = &mut children[step];
    }
    *node = OriginalNode::Array(array);
    Ok(())
}

fn file_location(bytes: &[u8]) -> Read<FileLocation> {
    let mut location = FileLocation::default();
    for field in Fields::new(bytes) {
        let field = field?;
        match field.number {
            fl::FILE_NAME_ID => location.file_name_id = field.int32().within("file_name_id")?,
            fl::FUNCTION_NAME_ID => location.function_name_id = field.int32().within("function_name_id")?,
            fl::LINE => location.line = field.int32().within("line")?,
            fl::END_LINE => location.end_line = field.int32().within("end_line")?,
            fl::COLUMN => location.column = field.int32().within("column")?,
            fl::END_COLUMN => location.end_column = field.int32().within("end_column")?,
            _ => {}
        }
    }
    Ok(location)
}

fn stack_frame(bytes: &[u8]) -> Read<StackFrame> {
    let mut read = StackFrame::default();
    for field in Fields::new(bytes) {
        let field = field?;
        match field.number {
            frame::FILE_LOCATION_ID => read.file_location_id = field.int32().within("file_location_id")?,
            frame::PARENT_FRAME_ID => read.parent_frame_id = field.int32().within("parent_frame_id")?,
            _ => {}
        }
    }
    Ok(read)
}
