//! Opcodes that apply a computation to elements: reductions, windows, `map`, `sort`, `scan`.

use crate::diagnostic::Code;
use crate::ir::{ArrayShape, AttrKey as K, ElementType, Shape, ShapeId};

use super::Inferred;
use super::error::{ShapeError, ShapeResult};
use super::rule::{Rule, Signature};
use super::types::{
    Dimension, TypeMatch, array_text, arrays_compatible, dimension, dimensions, make, same_dimensions,
    same_type_or_floats, scalar,
};
use super::window::window_result;

/// What a reducer combines: the type of the initial value and that of the inputs.
pub(super) struct Accumulator {
    pub(super) initial: ElementType,
    pub(super) input: ElementType,
}

/// The result of a reducer.
pub(super) struct Reducer {
    /// Element types of the results.
    pub(super) types: Vec<ElementType>,
    /// Whether it gives a tuple.
    pub(super) is_tuple: bool,
}

impl Reducer {
    /// The arrays as the reducer gives its results: one alone, or a tuple.
    fn shape(&self, arrays: impl Iterator<Item = ArrayShape>) -> Inferred {
        let mut arrays = arrays.map(Inferred::Array);
        match (self.is_tuple, arrays.next()) {
            (false, Some(array)) => array,
            (_, first) => Inferred::Tuple(first.into_iter().chain(arrays).collect()),
        }
    }
}

/// Checks that the computation of attribute `key` reduces values like `accumulators`.
pub(super) fn check_reducer(rule: &Rule<'_>, key: K, accumulators: &[Accumulator]) -> ShapeResult<Reducer> {
    let reducer = rule.computation(key)?;
    let count = accumulators.len();
    let wrong = |message: String| Err(ShapeError::attribute(key, message).by(Code::ReducerSignature));
    if reducer.arity() != 2 * count {
        return wrong(format!(
            "the reducer must take {} parameters, but takes {}",
            2 * count,
            reducer.arity()
        ));
    }
    let is_tuple = matches!(rule.module.shape(reducer.result), Shape::Tuple(_));
    let results = rule.elements(reducer.result);
    if results.len() != count {
        return wrong(format!(
            "the reducer must give {count} values, but gives {}",
            rule.text(reducer.result)
        ));
    }
    let mut types = Vec::with_capacity(count);
    for (index, (&result, accumulator)) in results.iter().zip(accumulators).enumerate() {
        let element_type = match rule.module.shape(result) {
            Shape::Array(array) if array.rank() == 0 => array.element_type,
            _ => {
                let text = rule.text(reducer.result);
                return wrong(format!("the reducer must give scalars, but gives {text}"));
            }
        };
        types.push(element_type);
        let (sum, next) = (reducer.parameter(index), reducer.parameter(count + index));
        let is_scalar = |id: ShapeId, element_type: ElementType, types: TypeMatch| {
            rule.compatible_with_array(id, &scalar(element_type), types)
        };
        if !is_scalar(sum, element_type, TypeMatch::Exact) {
            return wrong(format!(
                "parameter {index} of the reducer must have the shape of its result, but they are {} and {}",
                rule.text(sum),
                rule.text(result)
            ));
        }
        if !same_type_or_floats(element_type, accumulator.initial) {
            return wrong(format!(
                "the reducer gives {}, but the initial value is {}[]",
                rule.text(result),
                accumulator.initial.name()
            ));
        }
        if !is_scalar(next, accumulator.input, TypeMatch::AnyFloat) {
            return wrong(format!(
                "parameter {} of the reducer is {}, but the input's elements are {}",
                count + index,
                rule.text(next),
                accumulator.input.name()
            ));
        }
        if !is_scalar(next, element_type, TypeMatch::AnyFloat) {
            return wrong(format!(
                "parameter {} of the reducer must go with its result, but they are {} and {}",
                count + index,
                rule.text(next),
                rule.text(result)
            ));
        }
    }
    Ok(Reducer { types, is_tuple })
}

/// The type of an initial value, which must be a scalar.
fn initial_value(rule: &Rule<'_>, index: usize) -> ShapeResult<ElementType> {
    let array = rule.array(index)?;
    if array.rank() == 0 {
        return Ok(array.element_type);
    }
    let message = format!("the initial value must be a scalar, but is {}", array_text(array));
    Err(ShapeError::operand(index, message).by(Code::ReducerSignature))
}

/// Inputs and initial values of a reduction, and what its reducer gives.
fn reduction<'a>(
    rule: &Rule<'a>,
    inputs: std::ops::Range<usize>,
    first_initial: usize,
) -> ShapeResult<(Vec<&'a ArrayShape>, Vec<Accumulator>, Reducer)> {
    let arrays = rule.arrays(inputs)?;
    let Some(first) = arrays.first() else {
        let message = format!("{} needs at least one input", rule.opcode());
        return Err(ShapeError::instruction(message).by(Code::WrongOperandCount));
    };
    let mut accumulators = Vec::with_capacity(arrays.len());
    for (index, array) in arrays.iter().enumerate() {
        if !same_dimensions(first, array) {
            let message = format!(
                "the inputs of {} must have the same dimensions, but are {} and {}",
                rule.opcode(),
                array_text(first),
                array_text(array)
            );
            return Err(ShapeError::operand(index, message).by(Code::OperandShapes));
        }
        let initial = initial_value(rule, first_initial + index)?;
        accumulators.push(Accumulator { initial, input: array.element_type });
    }
    let reducer = check_reducer(rule, K::ToApply, &accumulators)?;
    Ok((arrays, accumulators, reducer))
}

fn check_even(rule: &Rule<'_>) -> ShapeResult<usize> {
    let count = rule.operand_count();
    if count >= 2 && count.is_multiple_of(2) {
        return Ok(count / 2);
    }
    let message =
        format!("{} takes inputs and as many initial values, but has {count} operands", rule.opcode());
    Err(ShapeError::instruction(message).by(Code::WrongOperandCount))
}

/// `reduce(inputs..., initial values...)`
pub(super) fn reduce(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let count = check_even(rule)?;
    let (arrays, _, reducer) = reduction(rule, 0..count, count)?;
    let first = arrays[0];
    let mut keep = vec![true; first.rank()];
    for &number in rule.ints(K::Dimensions)? {
        let index = rule.dimension_index(K::Dimensions, number, first.rank())?;
        if !std::mem::replace(&mut keep[index], false) {
            let message = format!("dimension {number} is reduced twice");
            return Err(ShapeError::attribute(K::Dimensions, message));
        }
    }
    let kept: Vec<Dimension> =
        (0..first.rank()).filter(|&index| keep[index]).map(|index| dimension(first, index)).collect();
    Ok(reducer.shape(reducer.types.iter().map(|&element_type| make(element_type, kept.iter().copied()))))
}

/// The arrays of window results of the first `inputs` operands, and what the reducer gives.
fn window_results(rule: &Rule<'_>, inputs: usize) -> ShapeResult<(Vec<ArrayShape>, Reducer)> {
    let (arrays, accumulators, reducer) = reduction(rule, 0..inputs, inputs)?;
    let mut results = Vec::with_capacity(arrays.len());
    for (array, accumulator) in arrays.iter().zip(&accumulators) {
        let base: Vec<Dimension> = dimensions(array).collect();
        results.push(window_result(&base, rule.window(), accumulator.initial)?);
    }
    Ok((results, reducer))
}

/// `reduce-window(inputs..., initial values...)`
pub(super) fn reduce_window(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let (results, reducer) = window_results(rule, check_even(rule)?)?;
    Ok(reducer.shape(results.into_iter()))
}

/// `reduce-window` as XLA's parser sees it: operand 0, initial value 1, an array even if the reducer gives a
/// tuple of one.
pub(super) fn reduce_window_of_first(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let (mut results, _) = window_results(rule, 1)?;
    Ok(Inferred::Array(results.swap_remove(0)))
}

/// `select-and-scatter(operand, source, initial value)`
pub(super) fn select_and_scatter(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let (operand, source) = (rule.array(0)?, rule.array(1)?);
    let select = rule.computation(K::Select)?;
    let wrong = |message: String| Err(ShapeError::attribute(K::Select, message));
    if select.arity() != 2 {
        return wrong(format!("the select computation must take 2 parameters, but takes {}", select.arity()));
    }
    if !rule.compatible_with_array(select.result, &scalar(ElementType::Pred), TypeMatch::Exact) {
        return wrong(format!("the select computation must give pred[], not {}", rule.text(select.result)));
    }
    for parameter in select.parameters() {
        if !rule.compatible_with_array(parameter, &scalar(operand.element_type), TypeMatch::AnyFloat) {
            return wrong(format!(
                "the select computation takes {}, but compares elements of {}",
                rule.text(parameter),
                array_text(operand)
            ));
        }
    }
    let accumulator = Accumulator { initial: initial_value(rule, 2)?, input: source.element_type };
    check_reducer(rule, K::Scatter, &[accumulator])?;
    let base: Vec<Dimension> = dimensions(operand).collect();
    let windows = window_result(&base, rule.window(), operand.element_type)?;
    if !arrays_compatible(source, &windows, TypeMatch::AnyFloat) {
        let message = format!(
            "the source {} must have an element per window of {}: {}",
            array_text(source),
            array_text(operand),
            array_text(&windows)
        );
        return Err(ShapeError::operand(1, message));
    }
    Ok(Inferred::Existing(rule.operand(0)?))
}

/// `map(operands...)`; `dimensions` is what the text says, or `None` where it doesn't matter.
pub(super) fn map(rule: &Rule<'_>, numbers: Option<&[i64]>) -> ShapeResult<Inferred> {
    let arrays = rule.arrays(0..rule.operand_count())?;
    let Some((&first, others)) = arrays.split_first() else {
        return Err(ShapeError::instruction("map needs at least one operand").by(Code::WrongOperandCount));
    };
    let mut reference = first;
    for (index, &array) in others.iter().enumerate() {
        if arrays_compatible(array, reference, TypeMatch::Ignored) {
            continue;
        }
        let mixed = array.rank() == 0 || reference.rank() == 0;
        if !mixed || !same_type_or_floats(array.element_type, reference.element_type) {
            let message = format!(
                "the operands of map must have the same shape, but are {} and {}",
                array_text(reference),
                array_text(array)
            );
            return Err(ShapeError::operand(index + 1, message).by(Code::OperandShapes));
        }
        if reference.rank() == 0 {
            reference = array;
        }
    }
    if let Some(numbers) = numbers
        && !(numbers.len() == reference.rank() && numbers.iter().copied().eq(0..reference.rank() as i64))
    {
        let message = format!("map must name all dimensions of {} in order", array_text(reference));
        return Err(ShapeError::attribute(K::Dimensions, message));
    }
    let computation = rule.computation(K::ToApply)?;
    let wrong = |message: String| Err(ShapeError::attribute(K::ToApply, message));
    if computation.arity() != arrays.len() {
        return wrong(format!(
            "the computation must take as many parameters as map has operands, {}, but takes {}",
            arrays.len(),
            computation.arity()
        ));
    }
    let as_scalar = |id: ShapeId| match rule.module.shape(id) {
        Shape::Array(array) if array.rank() == 0 => Some(array.element_type),
        _ => None,
    };
    let Some(result_type) = as_scalar(computation.result) else {
        return wrong(format!("the computation must give a scalar, not {}", rule.text(computation.result)));
    };
    for (index, (parameter, array)) in computation.parameters().zip(&arrays).enumerate() {
        let fits = as_scalar(parameter).is_some_and(|it| same_type_or_floats(it, array.element_type));
        if !fits {
            return wrong(format!(
                "parameter {index} of the computation is {}, but operand {index} has elements of {}",
                rule.text(parameter),
                array_text(array)
            ));
        }
    }
    Ok(Inferred::Array(make(result_type, dimensions(reference))))
}

/// `sort(operands...)`
pub(super) fn sort(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let ids = rule.request.operands;
    match ids {
        [] => {
            return Err(
                ShapeError::instruction("sort needs at least one operand").by(Code::WrongOperandCount)
            );
        }
        [one] => return Ok(Inferred::Existing(*one)),
        _ => {}
    }
    let arrays = rule.arrays(0..ids.len())?;
    for (index, array) in arrays.iter().enumerate().skip(1) {
        if !same_dimensions(arrays[0], array) {
            let message = format!(
                "the operands of sort must have the same dimensions, but are {} and {}",
                array_text(arrays[0]),
                array_text(array)
            );
            return Err(ShapeError::operand(index, message).by(Code::OperandShapes));
        }
    }
    Ok(Inferred::tuple(ids))
}

/// `scan(inputs..., carries...)`
pub(super) fn scan(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let carries = rule.int(K::NumCarries)?;
    let carries = usize::try_from(carries).unwrap_or(usize::MAX);
    if carries >= rule.operand_count() {
        let message =
            format!("scan has {} operands and as many or more carries, so no input", rule.operand_count());
        return Err(ShapeError::attribute(K::NumCarries, message));
    }
    let input = rule.array(0)?;
    let along = rule.dimension_index(K::Dimensions, rule.first_int(K::Dimensions)?, input.rank())?;
    let length = Dimension::fixed(input.dimensions[along]);
    let computation: Signature<'_> = rule.computation(K::ToApply)?;
    let stack = |id: ShapeId| -> ShapeResult<Inferred> {
        let fits = rule.module.shape(id).as_array().filter(|array| along <= array.rank());
        let Some(array) = fits else {
            let message = format!("scan can't stack {} along dimension {along}", rule.text(id));
            return Err(ShapeError::attribute(K::ToApply, message));
        };
        // XLA would make static dimensions of negative size.
        if length.is_unbounded() || dimensions(array).any(Dimension::is_unbounded) {
            let message = format!(
                "scan can't stack unbounded dimensions: {} along {}",
                rule.text(id),
                array_text(input)
            );
            return Err(ShapeError::attribute(K::ToApply, message));
        }
        Ok(Inferred::Array(stacked(array, along, length)))
    };
    match rule.module.shape(computation.result) {
        Shape::Tuple(elements) => {
            let Some(outputs) = elements.len().checked_sub(carries) else {
                let message = format!("scan's computation gives fewer than {carries} values");
                return Err(ShapeError::attribute(K::ToApply, message));
            };
            let (outputs, carried) = elements.split_at(outputs);
            let stacked = outputs.iter().map(|&id| stack(id));
            let carried = carried.iter().map(|&id| Ok(Inferred::Existing(id)));
            Ok(Inferred::Tuple(stacked.chain(carried).collect::<ShapeResult<_>>()?))
        }
        _ if carries > 0 => Ok(Inferred::Existing(computation.result)),
        _ => stack(computation.result),
    }
}

/// `length` arrays one after the other along a new dimension `along`: sizes are static, and the new dimension
/// lies just outside the one it displaces, innermost if there is none.
fn stacked(array: &ArrayShape, along: usize, length: Dimension) -> ArrayShape {
    let mut dims: Vec<Dimension> = array.dimensions.iter().map(|&size| Dimension::fixed(size)).collect();
    dims.insert(along, length);
    let mut result = make(array.element_type, dims);
    let order = array.layout.as_ref().map(|layout| &layout.minor_to_major);
    if let (Some(order), Some(layout)) = (order, &mut result.layout) {
        let number = along as i64;
        let mut moved: Vec<i64> = order.iter().map(|&dim| dim + i64::from(dim >= number)).collect();
        let place = order.iter().position(|&dim| dim == number).map_or(0, |displaced| displaced + 1);
        moved.insert(place, number);
        layout.minor_to_major = moved;
    }
    result
}
