//! `LiteralProto`.

use super::super::fault::{Fault, FaultKind, InField, Read};
use super::super::schema::literal_proto as p;
use super::super::wire::{Writer, put_varint};
use super::super::{ELIDED_LITERAL, MAX_PROTO_BYTES, literal_field, physical};
use super::shape::write_shape;
use crate::ir::{ArrayShape, ElementType, Elements, Literal, LiteralData, Module, Shape};

/// Appends the fields of a literal. Values that were left out are written as zeros with a mark; `elided` becomes true
/// then.
pub(super) fn write_literal(
    w: &mut Writer,
    module: &Module,
    literal: &Literal,
    elided: &mut bool,
) -> Read<()> {
    w.message(p::SHAPE, |w| write_shape(w, module, literal.shape));
    match (&literal.data, module.shape(literal.shape)) {
        (LiteralData::Dense(elements), Shape::Array(array)) => write_elements(w, array, elements),
        (LiteralData::Elided, Shape::Array(array)) => {
            let count = array.element_count().and_then(|count| usize::try_from(count).ok());
            let zeros = Elements::from_valid(array.element_type, smallvec::SmallVec::new());
            let count = count.ok_or_else(too_large)?;
            write_elements(w, array, &zeros.followed_by_zeros(count))?;
            *elided = true;
            w.bool(ELIDED_LITERAL, true);
            Ok(())
        }
        (LiteralData::Tuple(elements), _) => {
            for (index, element) in elements.iter().enumerate() {
                let mut result = Ok(());
                w.message(p::TUPLE_LITERALS, |w| result = write_literal(w, module, element, elided));
                result.at("tuple_literals", index)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn too_large() -> Box<Fault> {
    let message = format!("with its literals the module has more than {MAX_PROTO_BYTES} bytes");
    Fault::new(FaultKind::TooLarge, message)
}

fn write_elements(w: &mut Writer, array: &ArrayShape, elements: &Elements) -> Read<()> {
    let element_type = elements.element_type();
    let size = element_type.storage_bytes();
    let wanted = elements.len().checked_mul(size).and_then(|wanted| wanted.checked_add(w.out.len()));
    if wanted.is_none_or(|wanted| wanted > MAX_PROTO_BYTES) {
        return Err(too_large());
    }
    if elements.is_empty() {
        return Ok(());
    }
    let number = literal_field(element_type);
    let order = physical::Order::of(array);
    let mask = match element_type.bits() {
        bits @ 1..8 => !(0xffu8 << bits),
        _ => 0xff,
    };
    let each = |visit: &mut dyn FnMut(&[u8])| match &order {
        Some(order) => order.for_each(elements.len(), |index| elements.element_bytes(index), visit),
        None => elements.for_each_bytes(0..elements.len(), visit),
    };
    match element_type {
        ElementType::Pred | ElementType::S32 | ElementType::U32 | ElementType::S64 | ElementType::U64 => {
            let signed = matches!(element_type, ElementType::S32 | ElementType::S64);
            w.message(number, |w| {
                each(&mut |bytes| put_varint(&mut w.out, extended(bytes, signed)));
            });
        }
        // The bytes of the field are those of the elements.
        _ if order.is_none() && mask == 0xff => w.always_bytes(number, &elements.bytes()),
        _ => {
            w.out.reserve(elements.len() * size);
            w.message(number, |w| {
                each(&mut |bytes| w.out.extend(bytes.iter().map(|byte| byte & mask)));
            });
        }
    }
    Ok(())
}

fn extended(bytes: &[u8], signed: bool) -> u64 {
    let negative = signed && bytes.last().is_some_and(|&byte| byte >= 0x80);
    let mut wide = [if negative { 0xff } else { 0 }; 8];
    if let Some(low) = wide.get_mut(..bytes.len()) {
        low.copy_from_slice(bytes);
    }
    u64::from_le_bytes(wide)
}
