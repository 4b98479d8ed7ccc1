//! `transform-variadic-reduce`: a reduce that finds maximum and position becomes two plain reduces.
//!
//! All computations are visited.
//!
//! ```text
//! r = (f32[2], s32[2]) reduce(p, io, ninf, zero), dimensions={1}, to_apply=argmax
//!
//! v = f32[2] reduce(p, ninf), dimensions={1}, to_apply=maximum
//! q = pred[2,5] compare(p, f32[2,5] broadcast(v), dimensions={0}), direction=EQ
//! s = s32[2,5] select(q, io, s32[2,5] broadcast(s32[] constant(2147483647)))
//! i = s32[2] reduce(s, s32[] constant(2147483647)), dimensions={1}, to_apply=minimum
//! r = (f32[2], s32[2]) tuple(v, i)
//! ```
//!
//! It happens if all of this holds:
//!
//! 1. two operands, values and indices, and one reduced dimension of at least one element
//! 2. the indices are an `iota` along the reduced dimension, perhaps broadcast or converted, and the type can count so far
//! 3. the start value is minus infinity, for integer values the lowest of the type; the start index is 0
//! 4. the reducer keeps the larger value and its index. It is tried on all cases there are, so its spelling doesn't
//!    matter as long as it is made of `compare`, `select`, `maximum`, `minimum`, `and`, `or`, `xor` and `not`.
//!
//! Of equal values the reducer's rule decides:
//!
//! 5. the lower index wins, or the value seen first (`GE` without a rule for ties): the smallest of the matching indices
//! 6. the higher index wins, or the value seen last (`GT` without a rule for ties, as XLA evaluates reduces): the largest
//!    of the matching indices
//!
//! Left alone, with a remark:
//!
//! 7. other reducers, those that keep the smaller value and those that use other instructions among them
//! 8. reducers that test for NaN (`compare(v, v), direction=NE`), unless `assume-no-nan` is given
//! 9. comparisons in total order, or of integers in another type than their own
//! 10. other start values, start indices and indices
//! 11. dynamic dimensions, and values whose layout is another than that of the indices
//! 12. control dependencies
//!
//! The results are the same but for two things, which the row of the pass in the table says, too:
//!
//! * NaN: a reducer without a test for NaN is rewritten although NaN changes the result: of `[1, NaN, 3, 2, 0]` it may
//!   give `(3, 2)`, the plain reduces give NaN and an index that is none (the largest number of its type, the lowest for
//!   the largest of the matching indices).
//! * Zeros: where 0 and -0 are both the largest, the reducer's rule for equal values decides which of them is given; the
//!   plain reduce may give the other one. They count as the same.
//!
//! Option: `assume-no-nan` (off). Each reduce that is made has a reducer of its own, named
//! `OPERAND.reduce_sub_computation`, as XLA makes them.
//! Confidence: high; the conditions are ours.

use hlo_text::ir::words::{ComparisonDirection, ComparisonType};
use hlo_text::ir::{
    ArrayShape, AttrKey, AttrValue, ComputationId, ElementClass, ElementType, InstructionId, Opcode, Shape,
    ShapeId,
};
use smallvec::SmallVec;

use crate::Map;
use crate::analysis::{comparison_type, default_comparison_type, in_post_order_of_all};
use crate::edit::{Editor, integer};
use crate::pass::{Finding, HAS_CONTROL_DEPENDENCIES, Pass, PassContext, PassResult, Place};
use crate::passes::cleanup::aws_neuron_resolve_self_comparison::ASSUME_NO_NAN;

/// How many instructions a reducer may have.
const MAX_REDUCER: usize = 64;

/// How many broadcasts and converts are looked through on the way to an iota.
const MAX_CHAIN: usize = 4;

/// The pass.
pub(crate) struct TransformVariadicReduce;

/// Which index equal values give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tie {
    First,
    Last,
}

struct Plan {
    values: InstructionId,
    indices: InstructionId,
    init: InstructionId,
    dimension: i64,
    results: [ShapeId; 2],
    value_type: ElementType,
    index_type: ElementType,
    tie: Tie,
}

impl Pass for TransformVariadicReduce {
    fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()> {
        let no_nan = context.options.flag(ASSUME_NO_NAN.name);
        let computations = edit.computations().to_vec();
        let mut judged = Map::default();
        let mut plans = Vec::new();
        in_post_order_of_all(edit, &computations, |id| {
            if let Some(plan) = find(edit, id, no_nan, &mut judged).or_report(edit, id, context) {
                plans.push((id, plan));
            }
        });
        for (id, plan) in plans {
            if context.may_rewrite(edit, id) {
                rewrite(edit, id, &plan, context)?;
            }
        }
        Ok(())
    }
}

fn find(
    edit: &Editor<'_>,
    id: InstructionId,
    no_nan: bool,
    judged: &mut Map<ComputationId, Result<Tie, &'static str>>,
) -> Finding<Plan> {
    if edit.instruction(id).opcode != Opcode::Reduce {
        return Finding::Other;
    }
    let &[values, indices, init, index_init] = edit.operands(id) else { return Finding::Other };
    let (Some(results), Some(reducer)) = (edit.shape_of(id).as_tuple(), edit.called(id, AttrKey::ToApply))
    else {
        return Finding::Other;
    };
    let (&[first, second], Shape::Array(array), Shape::Array(index_array)) =
        (results, edit.shape_of(values), edit.shape_of(indices))
    else {
        return Finding::Other;
    };
    let tie = *judged.entry(reducer).or_insert_with(|| judge_reducer(edit, reducer, no_nan));
    let tie = match tie {
        Ok(tie) => tie,
        Err(why) => return Finding::near(why),
    };
    let (value_type, index_type) = (array.element_type, index_array.element_type);
    let Some(&[dimension]) = edit.ints(id, AttrKey::Dimensions) else {
        return Finding::near("it does not reduce exactly one dimension");
    };
    let Some(&extent) = usize::try_from(dimension).ok().and_then(|at| array.dimensions.get(at)) else {
        return Finding::Other;
    };
    let result_is_dynamic =
        [first, second].iter().any(|&shape| edit.shape(shape).as_array().is_none_or(ArrayShape::is_dynamic));
    if array.is_dynamic() || index_array.is_dynamic() || result_is_dynamic {
        return Finding::near("a dimension is dynamic");
    }
    if array.layout.is_some() && index_array.layout.is_some() && array.layout != index_array.layout {
        return Finding::near("its values and indices have different layouts");
    }
    if extent < 1 {
        return Finding::near("the reduced dimension has no elements");
    }
    if !index_type.is_integer() || !counts_along(edit, indices, dimension, extent) {
        return Finding::near("its second operand does not count along the reduced dimension");
    }
    if !starts_at_lowest(edit, init, value_type) {
        return Finding::near("the start value is not the lowest there is");
    }
    if edit.uniform_constant(index_init).and_then(|elements| integer(elements, 0)) != Some(0) {
        return Finding::near("the start index is not 0");
    }
    if edit.has_control_dependencies(id) {
        return Finding::near(HAS_CONTROL_DEPENDENCIES);
    }
    Finding::Match(Plan {
        values,
        indices,
        init,
        dimension,
        results: [first, second],
        value_type,
        index_type,
        tie,
    })
}

/// Minus infinity for floats; with the lowest finite value a row of minus infinities would match nowhere.
fn starts_at_lowest(edit: &Editor<'_>, init: InstructionId, element_type: ElementType) -> bool {
    let Some(elements) = edit.uniform_constant(init) else { return false };
    match element_type.class() {
        ElementClass::Float => elements.f64(0) == Some(f64::NEG_INFINITY),
        ElementClass::Signed | ElementClass::Unsigned => {
            integer(elements, 0) == Some(integer_bounds(element_type).0)
        }
        ElementClass::Pred | ElementClass::Complex | ElementClass::NotArray => false,
    }
}

/// The smallest and the largest number of an integer type.
fn integer_bounds(element_type: ElementType) -> (i128, i128) {
    let bits = element_type.bits();
    match element_type.class() {
        ElementClass::Signed => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        _ => (0, (1i128 << bits) - 1),
    }
}

/// Whether the elements are 0, 1, 2, ... along a dimension.
fn counts_along(edit: &Editor<'_>, indices: InstructionId, dimension: i64, extent: i64) -> bool {
    let mut dimension = dimension;
    let mut source = indices;
    for _ in 0..=MAX_CHAIN {
        let Some(element_type) = edit.element_type(source).filter(|of| of.is_integer()) else { return false };
        if i128::from(extent) - 1 > integer_bounds(element_type).1 {
            return false;
        }
        let Some(&operand) = edit.operands(source).first() else {
            return edit.instruction(source).opcode == Opcode::Iota
                && edit.int(source, AttrKey::IotaDimension) == Some(dimension);
        };
        match edit.instruction(source).opcode {
            Opcode::Convert | Opcode::Copy => {}
            Opcode::Broadcast => {
                let of_operand = edit.ints(source, AttrKey::Dimensions).unwrap_or_default();
                let Some(at) = of_operand.iter().position(|&to| to == dimension) else { return false };
                dimension = at as i64;
            }
            _ => return false,
        }
        source = operand;
    }
    false
}

/// How two numbers relate.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Less,
    Equal,
    Greater,
}

impl Order {
    const ALL: [Self; 3] = [Self::Less, Self::Equal, Self::Greater];

    fn reversed(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::Equal => Self::Equal,
            Self::Greater => Self::Less,
        }
    }
}

/// What an instruction of a reducer gives, in one case. The number is which of the two: what has been reduced so far (0)
/// or the next element (1).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Abstract {
    Value(usize),
    Index(usize),
    Truth(bool),
}

/// Tries a reducer on every way in which two values and their indices relate.
fn judge_reducer(edit: &Editor<'_>, reducer: ComputationId, no_nan: bool) -> Result<Tie, &'static str> {
    const NOT_ARG_MAX: &str = "the reducer does not keep the larger value and its index";
    let computation = edit.computation(reducer);
    if computation.parameters.len() != 4 || computation.instructions.len() > MAX_REDUCER {
        return Err(NOT_ARG_MAX);
    }
    let order = edit.post_order(reducer);
    for &id in &order {
        if edit.instruction(id).opcode == Opcode::Compare {
            check_compare(edit, id, computation.parameters.as_slice(), no_nan)?;
        }
    }
    let mut tie = None;
    for values in Order::ALL {
        for indices in Order::ALL {
            let results = evaluate(edit, reducer, &order, values, indices).ok_or(NOT_ARG_MAX)?;
            let &[Abstract::Value(value), Abstract::Index(index)] = results.as_slice() else {
                return Err(NOT_ARG_MAX);
            };
            match values {
                Order::Less if (value, index) != (1, 1) => return Err(NOT_ARG_MAX),
                Order::Greater if (value, index) != (0, 0) => return Err(NOT_ARG_MAX),
                Order::Equal if indices == Order::Less => tie = Some(index),
                Order::Less | Order::Equal | Order::Greater => {}
            }
        }
    }
    // Elements come in the order of their indices, so what has been reduced so far has the lower one.
    match tie {
        Some(0) => Ok(Tie::First),
        Some(_) => Ok(Tie::Last),
        None => Err(NOT_ARG_MAX),
    }
}

/// Refuses comparisons whose outcome the order of two numbers doesn't decide.
fn check_compare(
    edit: &Editor<'_>,
    compare: InstructionId,
    parameters: &[InstructionId],
    no_nan: bool,
) -> Result<(), &'static str> {
    let &[lhs, rhs] = edit.operands(compare) else { return Ok(()) };
    let is_value = |id: InstructionId| id == parameters[0] || id == parameters[2];
    let element_type = edit.element_type(lhs);
    let is_float = element_type.is_some_and(ElementType::is_float);
    if lhs == rhs && is_float && !no_nan && is_value(lhs) {
        return Err("the reducer tests for NaN");
    }
    let comparison = comparison_type(edit, compare);
    if comparison == Some(ComparisonType::FloatTotalOrder) {
        return Err("the reducer compares in total order");
    }
    if comparison != element_type.and_then(default_comparison_type) {
        return Err("the reducer compares numbers in another type than their own");
    }
    Ok(())
}

/// What the root's elements are when the first value and index relate to the second in this way.
fn evaluate(
    edit: &Editor<'_>,
    reducer: ComputationId,
    order: &[InstructionId],
    values: Order,
    indices: Order,
) -> Option<Vec<Abstract>> {
    let computation = edit.computation(reducer);
    let mut known: Map<InstructionId, Abstract> = Map::default();
    for (number, &parameter) in computation.parameters.iter().enumerate() {
        let side = number / 2;
        let is_value = number % 2 == 0;
        known.insert(parameter, if is_value { Abstract::Value(side) } else { Abstract::Index(side) });
    }
    let relate = |a: Abstract, b: Abstract| {
        let (order, a, b) = match (a, b) {
            (Abstract::Value(a), Abstract::Value(b)) => (values, a, b),
            (Abstract::Index(a), Abstract::Index(b)) => (indices, a, b),
            _ => return None,
        };
        Some(match (a, b) {
            (0, 1) => order,
            (1, 0) => order.reversed(),
            _ => Order::Equal,
        })
    };
    for &id in order {
        let opcode = edit.instruction(id).opcode;
        let operands: Option<SmallVec<[Abstract; 3]>> =
            edit.operands(id).iter().map(|operand| known.get(operand).copied()).collect();
        let Some(operands) = operands.filter(|operands| !operands.is_empty()) else { continue };
        use Abstract::Truth;
        let result = match (opcode, operands.as_slice()) {
            (Opcode::Compare, &[lhs, rhs]) => {
                relate(lhs, rhs).and_then(|order| holds(edit, id, order)).map(Truth)
            }
            (Opcode::Maximum, &[lhs, rhs]) => {
                relate(lhs, rhs).map(|order| if order == Order::Less { rhs } else { lhs })
            }
            (Opcode::Minimum, &[lhs, rhs]) => {
                relate(lhs, rhs).map(|order| if order == Order::Greater { rhs } else { lhs })
            }
            (Opcode::Select, &[Truth(which), on_true, on_false]) => {
                Some(if which { on_true } else { on_false })
            }
            (Opcode::And, &[Truth(a), Truth(b)]) => Some(Truth(a && b)),
            (Opcode::Or, &[Truth(a), Truth(b)]) => Some(Truth(a || b)),
            (Opcode::Xor, &[Truth(a), Truth(b)]) => Some(Truth(a != b)),
            (Opcode::Not, &[Truth(a)]) => Some(Truth(!a)),
            _ => None,
        };
        if let Some(result) = result {
            known.insert(id, result);
        }
    }
    if edit.instruction(computation.root).opcode != Opcode::Tuple {
        return None;
    }
    edit.operands(computation.root).iter().map(|element| known.get(element).copied()).collect()
}

/// Whether a comparison is true for numbers that relate in this way.
fn holds(edit: &Editor<'_>, compare: InstructionId, order: Order) -> Option<bool> {
    let Some(AttrValue::Word(word)) = edit.attribute(compare, AttrKey::Direction) else { return None };
    use ComparisonDirection as D;
    Some(match D::from_word(word)? {
        D::Eq => order == Order::Equal,
        D::Ne => order != Order::Equal,
        D::Ge => order != Order::Less,
        D::Gt => order == Order::Greater,
        D::Le => order != Order::Greater,
        D::Lt => order == Order::Less,
    })
}

fn rewrite(
    edit: &mut Editor<'_>,
    id: InstructionId,
    plan: &Plan,
    context: &mut PassContext<'_>,
) -> PassResult<()> {
    let place = Place::of(edit, id);
    let parent = edit.instruction(id).parent;
    let reducer = |edit: &mut Editor<'_>, opcode, element_type, operand| {
        let name = format!("{}.reduce_sub_computation", edit.name_of(operand));
        edit.add_binary_computation(&name, opcode, element_type)
    };
    let values_shape = edit.instruction(plan.values).shape;
    let indices_shape = edit.instruction(plan.indices).shape;
    let rank = edit.shape_of(plan.values).as_array().map_or(0, ArrayShape::rank) as i64;
    let kept: Vec<i64> = (0..rank).filter(|&dimension| dimension != plan.dimension).collect();

    let maximum = reducer(edit, Opcode::Maximum, plan.value_type, plan.values);
    let largest = edit.add_reduce(plan.values, plan.init, &[plan.dimension], maximum, plan.results[0]);
    let everywhere = edit.add_broadcast(largest, &kept, values_shape);
    let truths = edit.with_element_type(values_shape, ElementType::Pred);
    let comparison = default_comparison_type(plan.value_type).unwrap_or(ComparisonType::Float);
    let operands = [plan.values, everywhere];
    let is_largest = edit.add_compare(parent, truths, operands, ComparisonDirection::Eq, comparison);

    let (opcode, (lowest, highest)) = match plan.tie {
        Tie::First => (Opcode::Minimum, integer_bounds(plan.index_type)),
        Tie::Last => (Opcode::Maximum, integer_bounds(plan.index_type)),
    };
    // The low 64 bits are the number in every type.
    let sentinel = if plan.tie == Tie::First { highest } else { lowest } as i64;
    let sentinel = edit.add_scalar_constant(parent, plan.index_type, sentinel)?;
    let sentinels = edit.add_broadcast_of_scalar(sentinel, indices_shape);
    let candidates = edit.add_select(is_largest, plan.indices, sentinels);
    let choice = reducer(edit, opcode, plan.index_type, candidates);
    let index = edit.add_reduce(candidates, sentinel, &[plan.dimension], choice, plan.results[1]);
    let tuple = edit.add_tuple(parent, &[largest, index]);
    edit.replace_instruction(id, tuple)?;
    context.applied_at(place, "a maximum and the index of it, in plain reduces");
    Ok(())
}
