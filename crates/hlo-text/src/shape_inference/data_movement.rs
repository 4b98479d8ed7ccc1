//! Opcodes that move elements about: broadcast, reshape, transpose, slices, pad, concatenate, sizes.

use crate::diagnostic::Code;
use crate::ir::{ArrayShape, AttrKey as K, ElementType, Layout, Shape, ShapeId, Value};

use super::Inferred;
use super::elementwise::common_type;
use super::error::{ShapeError, ShapeResult};
use super::rule::{Rule, index_below};
use super::types::{
    Dimension, TypeMatch, array_text, dimension, dimensions, ints_text, make, same_type_or_floats, scalar,
    sizes_agree,
};

/// `broadcast` without a stated shape: XLA takes `dimensions` as sizes of new leading dimensions.
pub(super) fn broadcast_of_sizes(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let operand = rule.array(0)?;
    let sizes = rule.ints_or_empty(K::Dimensions);
    if dimensions(operand).any(Dimension::is_unbounded) {
        let message = format!("a broadcast of {} must state its shape", array_text(operand));
        return Err(ShapeError::operand(0, message));
    }
    if let Some(size) = sizes.iter().find(|&&size| size < 0) {
        let message = format!("without a stated shape, dimensions are new sizes, and {size} is none");
        return Err(ShapeError::attribute(K::Dimensions, message));
    }
    let leading = sizes.iter().map(|&size| Dimension::fixed(size));
    let result = make(operand.element_type, leading.chain(dimensions(operand)));
    check_element_count(&result)?;
    Ok(Inferred::Array(result))
}

/// `broadcast` with a stated shape, whose dimensions `dimensions` are the operand's.
pub(super) fn broadcast(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let stated = rule.stated()?;
    let operand = rule.array(0)?;
    let numbers = rule.ints_or_empty(K::Dimensions);
    let Some(result) = rule.stated_array() else {
        return Err(ShapeError::instruction(format!("broadcast can't give {}", rule.text(stated))));
    };
    if operand.element_type != result.element_type || numbers.len() != operand.rank() {
        let message = format!(
            "{} doesn't broadcast to {} along dimensions={}",
            array_text(operand),
            array_text(result),
            ints_text(numbers)
        );
        return Err(ShapeError::attribute(K::Dimensions, message));
    }
    for (index, &number) in numbers.iter().enumerate() {
        let target = rule.dimension_index(K::Dimensions, number, result.rank())?;
        if operand.dimensions[index] != result.dimensions[target] {
            let message = format!(
                "dimension {index} of {} becomes dimension {number} of {}, but their sizes differ",
                array_text(operand),
                array_text(result)
            );
            return Err(ShapeError::attribute(K::Dimensions, message));
        }
    }
    Ok(Inferred::Existing(stated))
}

/// XLA refuses shapes whose bounds multiply to more than `i64` holds where it creates them with a check.
pub(super) fn check_element_count(array: &ArrayShape) -> ShapeResult<()> {
    let mut product = 1i64;
    for dim in dimensions(array).filter(|dim| !dim.is_unbounded()) {
        product = match product.checked_mul(dim.size) {
            Some(product) if dim.size >= 0 => product,
            _ => {
                let message =
                    format!("{} is no possible result: its element count is out of range", array_text(array));
                return Err(ShapeError::instruction(message));
            }
        };
    }
    Ok(())
}

/// `reshape`, `dynamic-reshape`: the stated shape, if the element counts agree.
pub(super) fn reshape(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let stated = rule.stated()?;
    let operand = rule.array(0)?;
    let Some(result) = rule.stated_array() else {
        return Err(ShapeError::instruction(format!("{} can't give {}", rule.opcode(), rule.text(stated))));
    };
    let unbounded = dimensions(operand).any(Dimension::is_unbounded);
    let same_count = unbounded
        || match (operand.element_count(), result.element_count()) {
            (Some(from), Some(to)) => from == to,
            _ => operand.dimensions == result.dimensions,
        };
    if operand.element_type != result.element_type || !same_count {
        let message = format!(
            "{} of {} to {}: the element types and counts must be the same",
            rule.opcode(),
            array_text(operand),
            array_text(result)
        );
        return Err(ShapeError::operand(0, message));
    }
    Ok(Inferred::Existing(stated))
}

/// `dynamic-reshape(operand, sizes...)`
pub(super) fn dynamic_reshape(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let result = reshape(rule)?;
    let rank = rule.stated_array().map_or(0, ArrayShape::rank);
    if rule.operand_count() != rank + 1 {
        let message = format!(
            "dynamic-reshape to {rank} dimensions takes as many sizes, but is given {}",
            rule.operand_count().saturating_sub(1)
        );
        return Err(ShapeError::instruction(message).by(Code::WrongOperandCount));
    }
    for index in 1..=rank {
        let size = rule.array(index)?;
        if size.element_type != ElementType::S32 {
            let message = format!(
                "the sizes of dynamic-reshape must be s32, but operand {index} is {}",
                array_text(size)
            );
            return Err(ShapeError::operand(index, message));
        }
    }
    Ok(result)
}

/// `transpose`: the layout goes along, so that the transpose is a bitcast.
pub(super) fn transpose(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let operand = rule.array(0)?;
    let permutation = rule.ints(K::Dimensions)?;
    let rank = operand.rank();
    let bad = || {
        let message = format!(
            "dimensions={} is not a permutation of the dimensions of {}",
            ints_text(permutation),
            array_text(operand)
        );
        ShapeError::attribute(K::Dimensions, message)
    };
    if permutation.len() != rank {
        return Err(bad());
    }
    let mut position = vec![None; rank];
    let mut dims = Vec::with_capacity(rank);
    for (index, &number) in permutation.iter().enumerate() {
        let source = index_below(number, rank).ok_or_else(bad)?;
        if position[source].replace(index as i64).is_some() {
            return Err(bad());
        }
        dims.push(dimension(operand, source));
    }
    let mut result = make(operand.element_type, dims);
    result.layout = match &operand.layout {
        None => None,
        Some(layout) => {
            let places = layout.minor_to_major.iter().map(|&number| position[index_below(number, rank)?]);
            let minor_to_major = places.collect::<Option<Vec<i64>>>().ok_or_else(|| {
                let message =
                    format!("the layout of {} names dimensions it doesn't have", array_text(operand));
                ShapeError::operand(0, message)
            })?;
            Some(Layout { minor_to_major, ..layout.clone() })
        }
    };
    Ok(Inferred::Array(result))
}

/// `reverse`
pub(super) fn reverse(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let operand = rule.array(0)?;
    let numbers = rule.ints(K::Dimensions)?;
    let mut seen = vec![false; operand.rank()];
    for &number in numbers {
        let index = rule.dimension_index(K::Dimensions, number, operand.rank())?;
        if std::mem::replace(&mut seen[index], true) {
            let message = format!("dimension {number} is reversed twice");
            return Err(ShapeError::attribute(K::Dimensions, message));
        }
    }
    Ok(Inferred::Existing(rule.operand(0)?))
}

/// `slice`
pub(super) fn slice(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let operand = rule.array(0)?;
    let Value::Slice(ranges) = rule.required_value(K::Slice)? else {
        return Err(ShapeError::attribute(K::Slice, "slice= must be a list of ranges"));
    };
    let wrong = |text: String| Err(ShapeError::attribute(K::Slice, text));
    if ranges.len() != operand.rank() {
        return wrong(format!("{} slice ranges for {}", ranges.len(), array_text(operand)));
    }
    let mut dims = Vec::with_capacity(ranges.len());
    for (index, range) in ranges.iter().enumerate() {
        let dim = dimension(operand, index);
        let shown = format!("[{}:{}:{}]", range.start, range.limit, range.stride);
        if range.start < 0 {
            return wrong(format!("slice range {shown} starts below 0"));
        }
        if !dim.is_unbounded() && range.limit > dim.size {
            return wrong(format!(
                "slice range {shown} ends beyond dimension {index} of {}",
                array_text(operand)
            ));
        }
        if range.start > range.limit {
            return wrong(format!("slice range {shown} ends before it starts"));
        }
        if range.stride <= 0 {
            return wrong(format!("slice range {shown} must have a positive stride"));
        }
        // Neither overflows: 0 <= start <= limit, and the stride is at least 1.
        let span = range.limit - range.start;
        let size = span / range.stride + i64::from(span % range.stride != 0);
        dims.push(Dimension { size, dynamic: dim.dynamic && !dim.is_unbounded() && size != 1 });
    }
    Ok(Inferred::Array(make(operand.element_type, dims)))
}

/// Checks the start indices of a dynamic slice or update: one vector, or a scalar per dimension.
fn check_start_indices(rule: &Rule<'_>, first: usize, operand: &ArrayShape) -> ShapeResult<()> {
    start_indices(rule, first, operand).map_err(|error| error.by(Code::StartIndices))
}

fn start_indices(rule: &Rule<'_>, first: usize, operand: &ArrayShape) -> ShapeResult<()> {
    let count = rule.operand_count().saturating_sub(first);
    let not_enough = || {
        let message = format!("{} start indices for {}", count, array_text(operand));
        Err(ShapeError::instruction(message))
    };
    if count == 0 {
        return if operand.rank() == 0 { Ok(()) } else { not_enough() };
    }
    let index = rule.array(first)?;
    if !index.element_type.is_integer() {
        let message = format!("start indices must be integers, but operand {first} is {}", array_text(index));
        return Err(ShapeError::operand(first, message));
    }
    match index.rank() {
        1 => {
            if count != 1 {
                let message =
                    format!("a vector of start indices must be the only one, but there are {count}");
                return Err(ShapeError::instruction(message));
            }
            if index.dimensions[0] != operand.rank() as i64 {
                let message = format!("start indices {} for {}", array_text(index), array_text(operand));
                return Err(ShapeError::operand(first, message));
            }
            Ok(())
        }
        0 => {
            if count != operand.rank() {
                return not_enough();
            }
            for other in first + 1..first + count {
                if !rule.compatible_with_array(rule.operand(other)?, index, TypeMatch::Exact) {
                    let message = format!(
                        "start indices must have the same shape, but are {} and {}",
                        array_text(index),
                        rule.operand_text(other)
                    );
                    return Err(ShapeError::operand(other, message));
                }
            }
            Ok(())
        }
        _ => {
            let message = format!("start indices must be scalars or one vector, not {}", array_text(index));
            Err(ShapeError::operand(first, message))
        }
    }
}

/// `dynamic-slice(operand, starts...)`
pub(super) fn dynamic_slice(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let operand = rule.array(0)?;
    check_start_indices(rule, 1, operand)?;
    let sizes = rule.ints(K::DynamicSliceSizes)?;
    if sizes.len() != operand.rank() {
        let message = format!("{} slice sizes for {}", sizes.len(), array_text(operand));
        return Err(ShapeError::attribute(K::DynamicSliceSizes, message));
    }
    let mut dims = Vec::with_capacity(sizes.len());
    for (index, &size) in sizes.iter().enumerate() {
        let dim = dimension(operand, index);
        if size < 0 || !dim.is_unbounded() && size > dim.size {
            let message =
                format!("slice size {size} doesn't fit dimension {index} of {}", array_text(operand));
            return Err(ShapeError::attribute(K::DynamicSliceSizes, message));
        }
        dims.push(Dimension { size, dynamic: dim.dynamic && size > 1 && size == dim.size });
    }
    Ok(Inferred::Array(make(operand.element_type, dims)))
}

/// `dynamic-update-slice(operand, update, starts...)`
pub(super) fn dynamic_update_slice(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let id = rule.operand(0)?;
    let (array_id, is_buffer) = match rule.module.shape(id) {
        Shape::Buffer(inner) => (*inner, true),
        _ => (id, false),
    };
    let Some(operand) = rule.module.shape(array_id).as_array() else {
        let message = format!("dynamic-update-slice updates an array or buffer, not {}", rule.text(id));
        return Err(ShapeError::operand(0, message));
    };
    let update = rule.array(1)?;
    check_start_indices(rule, 2, operand)?;
    let wrong = |what: String| {
        let shapes = format!("{} in {}", array_text(update), array_text(operand));
        Err(ShapeError::operand(1, format!("{what}: {shapes}")))
    };
    if update.rank() != operand.rank() {
        return wrong("the update must have the operand's rank".to_owned());
    }
    if !same_type_or_floats(update.element_type, operand.element_type) {
        return wrong("the update must have the operand's element type".to_owned());
    }
    let mut result = operand.clone();
    for index in 0..operand.rank() {
        let (new, old) = (dimension(update, index), dimension(operand, index));
        if new.size < 0 || !old.is_unbounded() && new.size > old.size {
            return wrong(format!("dimension {index} of the update doesn't fit"));
        }
        result.dynamic[index] |= new.dynamic && new.size == old.size;
    }
    if result == *operand {
        return Ok(Inferred::Existing(id));
    }
    let result = Inferred::Array(result);
    Ok(if is_buffer { Inferred::Buffer(Box::new(result)) } else { result })
}

/// `pad(operand, value)`
pub(super) fn pad(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let (operand, value) = (rule.array(0)?, rule.array(1)?);
    let Value::Padding(padding) = rule.required_value(K::Padding)? else {
        return Err(ShapeError::attribute(K::Padding, "padding= must be a list of paddings"));
    };
    if value.rank() != 0 {
        let message = format!("the padding value must be a scalar, but is {}", array_text(value));
        return Err(ShapeError::operand(1, message));
    }
    if padding.len() != operand.rank() {
        let message = format!("{} paddings for {}", padding.len(), array_text(operand));
        return Err(ShapeError::attribute(K::Padding, message));
    }
    if !same_type_or_floats(operand.element_type, value.element_type) {
        let message = format!(
            "the padding value {} must have the element type of {}",
            array_text(value),
            array_text(operand)
        );
        return Err(ShapeError::operand(1, message));
    }
    let element_type = common_type(rule, operand.element_type, value.element_type)?;
    let mut dims = Vec::with_capacity(padding.len());
    for (index, pad) in padding.iter().enumerate() {
        let dim = dimension(operand, index);
        if pad.interior < 0 {
            let message = format!("interior padding must not be negative, but is {}", pad.interior);
            return Err(ShapeError::attribute(K::Padding, message));
        }
        if dim.is_unbounded() {
            dims.push(dim);
            continue;
        }
        let size = (dim.size - 1)
            .max(0)
            .checked_mul(pad.interior)
            .and_then(|interior| interior.checked_add(dim.size))
            .and_then(|size| size.checked_add(pad.low))
            .and_then(|size| size.checked_add(pad.high))
            .filter(|&size| size >= 0);
        let Some(size) = size else {
            let message = format!(
                "padding {}_{}_{} of dimension {index} of {} gives no possible size",
                pad.low,
                pad.high,
                pad.interior,
                array_text(operand)
            );
            return Err(ShapeError::attribute(K::Padding, message));
        };
        dims.push(Dimension { size, ..dim });
    }
    Ok(Inferred::Array(make(element_type, dims)))
}

/// `concatenate`
pub(super) fn concatenate(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    if rule.operand_count() == 0 {
        return Err(
            ShapeError::instruction("concatenate needs at least one operand").by(Code::WrongOperandCount)
        );
    }
    let arrays = rule.arrays(0..rule.operand_count())?;
    let first = arrays[0];
    let along = rule.dimension_index(K::Dimensions, rule.first_int(K::Dimensions)?, first.rank())?;
    let mut dims: Vec<Dimension> =
        vec![Dimension { size: crate::ir::UNBOUNDED, dynamic: true }; first.rank()];
    dims[along] = Dimension::fixed(0);
    for (index, &array) in arrays.iter().enumerate() {
        let wrong = |what: &str| {
            let shapes = format!("{} and {}", array_text(first), array_text(array));
            ShapeError::operand(index, format!("concatenate of {what}: {shapes}"))
        };
        if array.rank() != first.rank() {
            return Err(wrong("different ranks"));
        }
        if !same_type_or_floats(array.element_type, first.element_type) {
            return Err(wrong("different element types"));
        }
        for (number, dim) in dims.iter_mut().enumerate() {
            let next = dimension(array, number);
            let joined = if number == along {
                join(*dim, next)
            } else if sizes_agree(first.dimensions[number], next.size) {
                most_specific(*dim, next)
            } else {
                None
            };
            *dim = joined.ok_or_else(|| wrong("dimensions that don't fit"))?;
        }
    }
    // XLA raises the type by the last operand only.
    let last = arrays[arrays.len() - 1];
    Ok(Inferred::Array(make(common_type(rule, first.element_type, last.element_type)?, dims)))
}

/// The size of two dimensions one after the other; `None` if it is out of range.
fn join(a: Dimension, b: Dimension) -> Option<Dimension> {
    if a.is_unbounded() || b.is_unbounded() {
        return Some(Dimension { size: crate::ir::UNBOUNDED, dynamic: true });
    }
    Some(Dimension { size: a.size.checked_add(b.size)?, dynamic: a.dynamic || b.dynamic })
}

/// What is known of a dimension that is both `a` and `b`.
fn most_specific(a: Dimension, b: Dimension) -> Option<Dimension> {
    match (a.is_unbounded(), b.is_unbounded()) {
        (true, false) => Some(b),
        (false, true) => Some(a),
        _ if a.size == b.size => Some(Dimension { size: a.size, dynamic: a.dynamic || b.dynamic }),
        _ => None,
    }
}

/// `get-dimension-size`, `set-dimension-size`: the dimension, whose size must fit in 32 bits.
fn measured_dimension(rule: &Rule<'_>, operand: &ArrayShape) -> ShapeResult<usize> {
    let index = rule.dimension_index(K::Dimensions, rule.first_int(K::Dimensions)?, operand.rank())?;
    if operand.dimensions[index] > i64::from(i32::MAX) {
        let message = format!("dimension {index} of {} doesn't fit in s32", array_text(operand));
        return Err(ShapeError::operand(0, message));
    }
    Ok(index)
}

/// `get-dimension-size`
pub(super) fn get_dimension_size(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    measured_dimension(rule, rule.array(0)?)?;
    Ok(Inferred::Array(scalar(ElementType::S32)))
}

/// `set-dimension-size(operand, size)`
pub(super) fn set_dimension_size(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let (operand, size) = (rule.array(0)?, rule.operand(1)?);
    let index = measured_dimension(rule, operand)?;
    if !rule.compatible_with_array(size, &scalar(ElementType::S32), TypeMatch::Exact) {
        let message = format!("the size must be an s32 scalar, but is {}", rule.text(size));
        return Err(ShapeError::operand(1, message));
    }
    let mut result = operand.clone();
    result.dynamic[index] = true;
    Ok(Inferred::Array(result))
}

/// `topk`: the largest values and their indices.
pub(super) fn topk(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let operand = rule.array(0)?;
    let k = rule.int(K::K)?;
    let mut dims: Vec<Dimension> = dimensions(operand).collect();
    match dims.last_mut() {
        // For a scalar XLA reads what isn't there, and may let it pass.
        Some(last) if (0..=last.size).contains(&k) => *last = Dimension::fixed(k),
        _ => {
            let message = format!("k={k} is not within the last dimension of {}", array_text(operand));
            return Err(ShapeError::attribute(K::K, message));
        }
    }
    let values = make(operand.element_type, dims.iter().copied());
    Ok(Inferred::Tuple(vec![Inferred::Array(values), Inferred::Array(make(ElementType::S32, dims))]))
}

/// `iota`: the stated shape.
pub(super) fn iota(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let stated = rule.stated()?;
    let number = rule.int(K::IotaDimension)?;
    let Some(result) = rule.stated_array() else {
        return Err(ShapeError::instruction(format!("iota can't give {}", rule.text(stated))));
    };
    rule.dimension_index(K::IotaDimension, number, result.rank())?;
    if result.element_type == ElementType::Pred {
        return Err(ShapeError::instruction(format!("iota can't count in {}", array_text(result))));
    }
    Ok(Inferred::Existing(stated))
}

/// The shape of an operand as it is.
pub(super) fn same_as(rule: &Rule<'_>, index: usize) -> ShapeResult<Inferred> {
    rule.operand(index).map(Inferred::Existing)
}

/// The shape of an operand as it is, which must be an array.
pub(super) fn same_array_as(rule: &Rule<'_>, index: usize) -> ShapeResult<Inferred> {
    rule.array(index)?;
    same_as(rule, index)
}

/// The shapes of the operands, all of them arrays: one as it is, several as a tuple.
pub(super) fn arrays_as_they_are(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let ids: &[ShapeId] = rule.request.operands;
    rule.arrays(0..ids.len())?;
    if ids.is_empty() {
        let message = format!("{} needs at least one operand", rule.opcode());
        return Err(ShapeError::instruction(message).by(Code::WrongOperandCount));
    }
    Ok(rule.one_or_tuple(ids))
}
