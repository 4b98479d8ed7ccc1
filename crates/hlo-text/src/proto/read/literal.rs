//! `LiteralProto`: elements in the order of the layout, in a field for each type.

use smallvec::SmallVec;

use super::super::fault::{Fault, FaultKind, InField, Read};
use super::super::schema::literal_proto as p;
use super::super::wire::{Field, Fields, WireType};
use super::super::{ELIDED_LITERAL, MAX_PROTO_NESTING, literal_field, physical};
use super::shape::too_deep;
use super::{ANY, Reader};
use crate::ir::{
    ArrayShape, ElementClass, ElementType, Elements, Literal, LiteralData, LiteralId, Shape, ShapeId,
};

/// How many empty rows a constant may have (`f32[1000,0]` has 1000). Nothing in the message stands for them, but a print
/// shows each.
pub(crate) const MAX_EMPTY_ROWS: i64 = 1 << 20;

/// How long literals may be that are looked for among those before; longer ones hardly repeat.
const MAX_SHARED_BYTES: usize = 96;

impl<'b> Reader<'b> {
    /// The literal in `bytes`; equal short ones are one.
    pub(super) fn literal_id(&mut self, bytes: &'b [u8]) -> Read<LiteralId> {
        if bytes.len() > MAX_SHARED_BYTES {
            let literal = self.nested_literal(bytes, 0)?;
            return Ok(self.module().add_literal(literal));
        }
        let place = match self.literals.get(ANY, bytes) {
            Ok(literal) => return Ok(literal),
            Err(place) => place,
        };
        let literal = self.nested_literal(bytes, 0)?;
        let literal = self.module().add_literal(literal);
        self.literals.insert(place, ANY, bytes, literal);
        Ok(literal)
    }

    fn nested_literal(&mut self, bytes: &'b [u8], depth: usize) -> Read<Literal> {
        if depth > MAX_PROTO_NESTING {
            return Err(too_deep("literals"));
        }
        let mut shape = None;
        let mut tuple: SmallVec<[&'b [u8]; 4]> = SmallVec::new();
        let mut is_elided = false;
        for field in Fields::new(bytes) {
            let field = field?;
            match field.number {
                p::SHAPE => {
                    let read = field.bytes().and_then(|bytes| self.shape(bytes));
                    shape = Some(read.within("shape")?);
                }
                p::TUPLE_LITERALS => tuple.push(field.bytes().within("tuple_literals")?),
                ELIDED_LITERAL => is_elided = field.bool()?,
                _ => {}
            }
        }
        let Some(shape) = shape else { return Err(Fault::value("a literal has a shape").within("shape")) };
        let data = match self.module().shape(shape).clone() {
            Shape::Array(_) if is_elided => LiteralData::Elided,
            Shape::Array(array) => LiteralData::Dense(elements(bytes, &array)?),
            Shape::Tuple(shapes) => LiteralData::Tuple(self.tuple(&shapes, &tuple, depth)?),
            Shape::Token => LiteralData::Tuple(Vec::new()),
            Shape::Opaque | Shape::Buffer(_) => {
                return Err(Fault::value("only arrays, tuples and tokens have values").within("shape"));
            }
        };
        Ok(Literal { shape, data })
    }

    fn tuple(&mut self, shapes: &[ShapeId], tuple: &[&'b [u8]], depth: usize) -> Read<Vec<Literal>> {
        if shapes.len() != tuple.len() {
            let message = format!("the tuple has {} elements, but {} are given", shapes.len(), tuple.len());
            return Err(Fault::value(message).within("tuple_literals"));
        }
        let mut elements = Vec::with_capacity(tuple.len());
        for (index, (&bytes, &shape)) in tuple.iter().zip(shapes).enumerate() {
            let element = self.nested_literal(bytes, depth + 1).at("tuple_literals", index)?;
            if !self.module().shapes().compatible(shape, element.shape) {
                let message = "the element has another shape than the tuple says";
                return Err(Fault::value(message).at("tuple_literals", index));
            }
            elements.push(element);
        }
        Ok(elements)
    }
}

/// The elements of an array in row-major order.
fn elements(bytes: &[u8], array: &ArrayShape) -> Read<Elements> {
    let element_type = array.element_type;
    let number = literal_field(element_type);
    let name = p::MESSAGE.field(number).map_or("", |field| field.name);
    let size = element_type.storage_bytes();
    // As many elements as can be there: what the shape says may be anything.
    let mut stored: SmallVec<[u8; 16]> = SmallVec::new();
    let mut fields =
        Fields::new(bytes).filter(|field| field.as_ref().map_or(true, |field| field.number == number));
    for field in &mut fields {
        append(&field?, element_type, &mut stored).within(name)?;
    }
    let count = array.element_count();
    let found = stored.len() / size;
    if count.and_then(|count| usize::try_from(count).ok()) != Some(found)
        || !stored.len().is_multiple_of(size)
    {
        let wanted = count.map_or("an unknown number of".to_owned(), |count| count.to_string());
        return Err(
            Fault::value(format!("the shape has {wanted} elements, but {found} are given")).within(name)
        );
    }
    if found == 0 {
        let rows = array.dimensions.iter().take_while(|&&size| size != 0);
        let rows = rows.fold(1i64, |rows, &size| rows.saturating_mul(size.max(1)));
        if rows > MAX_EMPTY_ROWS {
            let message = format!("{rows} empty rows; constants have at most {MAX_EMPTY_ROWS}");
            return Err(Fault::new(FaultKind::TooLarge, message).within("shape"));
        }
    }
    normalize(element_type, &mut stored);
    if let Some(layout) = &array.layout
        && let Some(fault) = crate::parser::shape::layout_fault(array, layout)
    {
        return Err(Fault::value(format!("a literal can't have this layout: {fault}")).within("shape"));
    }
    if let Some(order) = physical::Order::of(array) {
        stored = order.to_logical(&stored, size).into();
    }
    Ok(Elements::from_valid(element_type, stored))
}

/// Adds the elements in `field`, little-endian.
fn append(field: &Field<'_>, element_type: ElementType, out: &mut SmallVec<[u8; 16]>) -> Read<()> {
    let size = element_type.storage_bytes();
    match element_type {
        ElementType::Pred => field.varints(|bits| out.push(u8::from(bits != 0))),
        ElementType::S32 | ElementType::U32 | ElementType::S64 | ElementType::U64 => {
            if field.wire_type == WireType::Bytes {
                out.reserve(super::super::wire::count_varints(field.bytes) * size);
            }
            field.varints(|bits| out.extend_from_slice(&bits.to_le_bytes()[..size]))
        }
        ElementType::F32 | ElementType::F64 | ElementType::C64 | ElementType::C128
            if field.wire_type != WireType::Bytes =>
        {
            // Not packed: a part each.
            match element_type {
                ElementType::F32 | ElementType::C64 => out.extend_from_slice(&field.float()?.to_le_bytes()),
                _ => out.extend_from_slice(&field.double()?.to_le_bytes()),
            }
            Ok(())
        }
        _ => {
            out.extend_from_slice(field.bytes()?);
            Ok(())
        }
    }
}

/// Makes the unused bits of elements below 8 bits what [`Elements`] has in them.
fn normalize(element_type: ElementType, stored: &mut [u8]) {
    let unused = match element_type.bits() {
        bits @ 1..8 => 8 - bits,
        _ => return,
    };
    let signed = element_type.class() == ElementClass::Signed;
    for byte in stored {
        *byte = match signed {
            true => ((*byte as i8) << unused >> unused) as u8,
            false => *byte << unused >> unused,
        };
    }
}
