//! Collectives, the opcodes that start and finish transfers, and `rng`.

use crate::diagnostic::Code;
use crate::ir::{ArrayShape, AttrKey as K, ElementType, Shape, ShapeId};

use super::Inferred;
use super::data_movement::{arrays_as_they_are, same_as};
use super::error::{ShapeError, ShapeResult};
use super::rule::Rule;
use super::types::{Dimension, TypeMatch, array_text, dimension, dimensions, make, scalar};

/// How many participants share an array along a dimension, as the stated shape says: it has operand 0's share or
/// the whole.
fn shard_count(
    rule: &Rule<'_>,
    stated: Option<ShapeId>,
    whole_is_result: bool,
    along: usize,
) -> ShapeResult<i64> {
    let first = rule.array(0)?;
    let stated = stated.and_then(|id| rule.elements(id).first().copied());
    let result = stated.and_then(|id| rule.module.shape(id).as_array());
    let Some(result) = result.filter(|result| result.rank() > along) else {
        return Err(ShapeError::not_inferable(format!(
            "how many participants {} has is known from its shape only: it must be stated",
            rule.opcode()
        )));
    };
    let (operand, result) = (dimension(first, along), dimension(result, along));
    let (whole, part) = if whole_is_result { (result, operand) } else { (operand, result) };
    // Nothing follows from unbounded and empty dimensions, and any number goes.
    if whole.size <= 0 || part.size <= 0 {
        return Ok(1);
    }
    Ok(whole.size / part.size + i64::from(whole.size % part.size != 0))
}

/// The dimension a collective works along, and its operands.
fn along(rule: &Rule<'_>) -> ShapeResult<usize> {
    rule.dimension_index(K::Dimensions, rule.first_int(K::Dimensions)?, rule.array(0)?.rank())
        .map_err(|error| error.by(Code::CollectiveDimension))
}

/// One array, or a tuple of several.
fn arrays_shape(mut arrays: Vec<ArrayShape>) -> Inferred {
    if arrays.len() == 1
        && let Some(array) = arrays.pop()
    {
        return Inferred::Array(array);
    }
    Inferred::Tuple(arrays.into_iter().map(Inferred::Array).collect())
}

fn resized(rule: &Rule<'_>, index: usize, along: usize, dim: Dimension) -> ShapeResult<ArrayShape> {
    let mut result = rule.array(index)?.clone();
    result.dimensions[along] = dim.size;
    result.dynamic[along] = dim.dynamic;
    Ok(result)
}

/// The dimension `along` of operand `index`, which may have fewer dimensions than operand 0.
fn dimension_along(rule: &Rule<'_>, index: usize, along: usize) -> ShapeResult<Dimension> {
    let array = rule.array(index)?;
    rule.dimension_index(K::Dimensions, along as i64, array.rank())
        .map_err(|error| error.by(Code::CollectiveDimension))?;
    Ok(dimension(array, along))
}

/// Whether an operand is one that Neuron's front ends add to order collectives: a scalar after the first operand,
/// which goes through as it is. XLA has no such thing.
fn is_ordering(rule: &Rule<'_>, index: usize) -> ShapeResult<bool> {
    Ok(index > 0 && rule.array(index)?.rank() == 0)
}

fn gathered(rule: &Rule<'_>, stated: Option<ShapeId>) -> ShapeResult<Inferred> {
    let along = along(rule)?;
    let count = shard_count(rule, stated, true, along)?;
    let mut arrays = Vec::with_capacity(rule.operand_count());
    for index in 0..rule.operand_count() {
        if is_ordering(rule, index)? {
            arrays.push(rule.array(index)?.clone());
            continue;
        }
        let dim = dimension_along(rule, index, along)?;
        let size = if dim.is_unbounded() { Some(dim.size) } else { dim.size.checked_mul(count) };
        let Some(size) = size else {
            let message =
                format!("{count} times dimension {along} of {} is out of range", rule.operand_text(index));
            return Err(ShapeError::operand(index, message));
        };
        arrays.push(resized(rule, index, along, Dimension { size, dynamic: dim.is_unbounded() })?);
    }
    Ok(arrays_shape(arrays))
}

/// `all-gather`; the number of participants follows from the stated shape.
pub(super) fn all_gather(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    gathered(rule, rule.stated)
}

/// `all-gather-start`: what goes in and what comes out.
pub(super) fn all_gather_start(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let stated = rule.stated.and_then(|id| rule.module.shape(id).as_tuple()?.get(1).copied());
    let output = gathered(rule, stated)?;
    Ok(Inferred::Tuple(vec![rule.one_or_tuple(rule.request.operands), output]))
}

/// `all-gather-done`, `collective-permute-done`, `async-done`: element 1 of the operand.
pub(super) fn second_element(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let id = rule.operand(0)?;
    match rule.module.shape(id) {
        Shape::Tuple(elements) if elements.len() >= 2 => Ok(Inferred::Existing(elements[1])),
        _ => {
            let message = format!("{} takes what a start gives, not {}", rule.opcode(), rule.text(id));
            Err(ShapeError::operand(0, message))
        }
    }
}

/// `reduce-scatter`; the number of participants follows from the stated shape.
pub(super) fn reduce_scatter(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let along = along(rule)?;
    let count = shard_count(rule, rule.stated, false, along)?;
    let mut arrays = Vec::with_capacity(rule.operand_count());
    for index in 0..rule.operand_count() {
        if is_ordering(rule, index)? {
            arrays.push(rule.array(index)?.clone());
            continue;
        }
        let dim = dimension_along(rule, index, along)?;
        if dim.size.checked_rem(count) != Some(0) {
            let message =
                format!("dimension {along} of {} is no multiple of {count}", rule.operand_text(index));
            return Err(ShapeError::operand(index, message).by(Code::ShardCount));
        }
        let result = if dim.dynamic {
            Dimension { size: crate::ir::UNBOUNDED, dynamic: true }
        } else {
            Dimension::fixed(dim.size / count)
        };
        arrays.push(resized(rule, index, along, result)?);
    }
    Ok(arrays_shape(arrays))
}

/// `all-to-all`, along a dimension of its one operand or as a tuple.
pub(super) fn all_to_all(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let ids = rule.request.operands;
    let arrays = rule.arrays(0..ids.len())?;
    let Some((&first, others)) = arrays.split_first() else {
        return Err(
            ShapeError::instruction("all-to-all needs at least one operand").by(Code::WrongOperandCount)
        );
    };
    if rule.attribute(K::Dimensions).is_none() {
        for (index, &array) in others.iter().enumerate() {
            let same_place = first.dimensions == array.dimensions && first.dynamic == array.dynamic;
            if !same_place || first.element_type != array.element_type {
                let message = format!(
                    "the operands of all-to-all must have the same shape, but are {} and {}",
                    array_text(first),
                    array_text(array)
                );
                return Err(ShapeError::operand(index + 1, message));
            }
        }
        if let Some(index) = arrays.iter().position(|array| dimensions(array).any(Dimension::is_unbounded)) {
            let message = format!("a tuple all-to-all can't take {}", array_text(arrays[index]));
            return Err(ShapeError::operand(index, message));
        }
        return Ok(Inferred::tuple(ids));
    }
    along(rule)?;
    if dimensions(first).any(|dim| dim.dynamic && !dim.is_unbounded()) {
        let message = format!("all-to-all along a dimension can't take {}", array_text(first));
        return Err(ShapeError::operand(0, message));
    }
    // What each participant gives away comes back from the others.
    Ok(Inferred::Array(make(first.element_type, dimensions(first))))
}

/// `collective-permute`; with slice sizes it writes into its second operand.
pub(super) fn collective_permute(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    if is_in_place(rule) { same_as(rule, 1) } else { arrays_as_they_are(rule) }
}

fn is_in_place(rule: &Rule<'_>) -> bool {
    rule.attribute(K::PermuteSliceSizes).is_some() && rule.operand_count() == 4
}

/// `collective-permute-start`: what goes in, what comes out, and the context the stated shape has.
pub(super) fn collective_permute_start(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let mut elements = if is_in_place(rule) {
        vec![same_as(rule, 0)?, same_as(rule, 1)?]
    } else {
        // Several operands, unlike one, may be tuples.
        if rule.operand_count() <= 1 {
            rule.array(0)?;
        }
        let whole = || rule.one_or_tuple(rule.request.operands);
        vec![whole(), whole()]
    };
    elements.extend(stated_context(rule, 2));
    Ok(Inferred::Tuple(elements))
}

/// The elements of the stated shape from `first` on: contexts, which are free.
fn stated_context(rule: &Rule<'_>, first: usize) -> impl Iterator<Item = Inferred> {
    let elements = rule.stated.and_then(|id| rule.module.shape(id).as_tuple()).unwrap_or(&[]);
    elements
        .get(first..)
        .unwrap_or(&[])
        .iter()
        .map(|&id| Inferred::Existing(id))
        .collect::<Vec<_>>()
        .into_iter()
}

/// `async-start`: operands, the result of the computation, and the context the stated shape has.
pub(super) fn async_start(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let computation = rule.computation(K::Calls)?;
    if computation.arity() != rule.operand_count() {
        let message = format!(
            "the computation takes {} parameters, but async-start has {} operands",
            computation.arity(),
            rule.operand_count()
        );
        return Err(ShapeError::attribute(K::Calls, message));
    }
    for (index, parameter) in computation.parameters().enumerate() {
        let operand = rule.operand(index)?;
        if !rule.compatible(parameter, operand, TypeMatch::Exact) {
            let message = format!(
                "parameter {index} of the computation is {}, but operand {index} is {}",
                rule.text(parameter),
                rule.text(operand)
            );
            return Err(ShapeError::operand(index, message));
        }
    }
    let mut elements = vec![Inferred::tuple(rule.request.operands), Inferred::Existing(computation.result)];
    elements.extend(stated_context(rule, 2));
    Ok(Inferred::Tuple(elements))
}

/// `copy-start`: destination, source, context.
pub(super) fn copy_start(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let source = rule.operand(0)?;
    // The destination may lie elsewhere: its layout is the stated one.
    let stated = rule.stated.and_then(|id| rule.module.shape(id).as_tuple()?.first().copied());
    let destination = stated.filter(|&id| rule.compatible(id, source, TypeMatch::Exact)).unwrap_or(source);
    Ok(Inferred::Tuple(vec![
        Inferred::Existing(destination),
        Inferred::Existing(source),
        Inferred::Array(scalar(ElementType::U32)),
    ]))
}

/// `copy-done`: the destination.
pub(super) fn copy_done(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let id = rule.operand(0)?;
    match *rule.module.shape(id) {
        Shape::Tuple(ref elements) if elements.len() == 3 => {
            if rule.compatible(elements[0], elements[1], TypeMatch::Exact) {
                return Ok(Inferred::Existing(elements[0]));
            }
            let message = format!("source and destination of the copy differ: {}", rule.text(id));
            Err(ShapeError::operand(0, message))
        }
        _ => {
            let message = format!("copy-done takes what copy-start gives, not {}", rule.text(id));
            Err(ShapeError::operand(0, message))
        }
    }
}

/// `send(value, token)`
pub(super) fn send(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let value = rule.operand(0)?;
    Ok(Inferred::Tuple(vec![
        Inferred::Existing(value),
        Inferred::Array(scalar(ElementType::U32)),
        Inferred::Token,
    ]))
}

/// The value that the stated tuple of `infeed` or `recv` begins with.
fn received(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let stated = rule.stated()?;
    let first = rule.module.shape(stated).as_tuple().and_then(|elements| elements.first());
    first.map(|&id| Inferred::Existing(id)).ok_or_else(|| {
        ShapeError::instruction(format!(
            "the shape of {} must be a tuple that begins with what is received, not {}",
            rule.opcode(),
            rule.text(stated)
        ))
    })
}

/// `recv(token)`: what the stated shape begins with, a context, a token.
pub(super) fn recv(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let context = Inferred::Array(scalar(ElementType::U32));
    Ok(Inferred::Tuple(vec![received(rule)?, context, Inferred::Token]))
}

/// `infeed(token)`: what the stated shape begins with, and a token.
pub(super) fn infeed(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    Ok(Inferred::Tuple(vec![received(rule)?, Inferred::Token]))
}

/// `recv-done`: the data and a token.
pub(super) fn recv_done(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let id = rule.operand(0)?;
    match rule.module.shape(id) {
        Shape::Tuple(elements) if !elements.is_empty() => {
            Ok(Inferred::Tuple(vec![Inferred::Existing(elements[0]), Inferred::Token]))
        }
        _ => {
            let message = format!("recv-done takes what recv gives, not {}", rule.text(id));
            Err(ShapeError::operand(0, message))
        }
    }
}

/// `rng(a, b)`: the stated shape.
pub(super) fn rng(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let stated = rule.stated()?;
    if rule.operand_count() != 2 {
        let message = format!("rng takes two scalars, but has {} operands", rule.operand_count());
        return Err(ShapeError::instruction(message).by(Code::WrongOperandCount));
    }
    let result = rule.stated_array();
    for index in 0..2 {
        let array = rule.array(index)?;
        if array.rank() != 0 || result.is_none_or(|result| result.element_type != array.element_type) {
            let message = format!(
                "rng takes two scalars of the result's type, but operand {index} is {} and the result {}",
                array_text(array),
                rule.text(stated)
            );
            return Err(ShapeError::operand(index, message));
        }
    }
    Ok(Inferred::Existing(stated))
}

/// `rng-bit-generator(state)`: the stated shape, which begins with the state if it is a tuple.
pub(super) fn rng_bit_generator(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let stated = rule.stated()?;
    let state = rule.operand(0)?;
    if let Some(elements) = rule.module.shape(stated).as_tuple() {
        let fits = elements.len() == 2 && rule.compatible(elements[0], state, TypeMatch::Exact);
        if !fits {
            let message = format!(
                "rng-bit-generator gives the new state {} and bits, not {}",
                rule.text(state),
                rule.text(stated)
            );
            return Err(ShapeError::instruction(message));
        }
    }
    Ok(Inferred::Existing(stated))
}
