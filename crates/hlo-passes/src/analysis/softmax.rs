//! Softmaxes, written out as front ends do.
//!
//! `divide(e, broadcast(reduce-add(e)))` with `e = exponential(subtract(x, broadcast(reduce-max(x))))`; conversions, copies
//! and changes of shape may stand between any two of these. Which dimension is which is followed through all of them.

use hlo_text::ir::{ArrayShape, AttrKey, InstructionId, Module, Opcode, Shape};
use smallvec::SmallVec;

use super::reducer_opcode;

/// How many conversions and the like may stand between two parts of a softmax.
const MAX_STEPS: usize = 16;

/// Which dimension of the quotient each dimension of a value is. Those of size 1 are none: they come and go.
type Axes = SmallVec<[Option<usize>; 4]>;

/// The dimension that a reduction takes away.
const REDUCED: Option<usize> = Some(usize::MAX);

/// The value that `divide` is the softmax of, if it is the last step of one: what the exponential takes, or `x` where that
/// is the difference of `x` and its maximum along the dimension of the sum.
///
/// # Errors
/// Why it almost is one.
pub(crate) fn logits_of(
    module: &Module,
    divide: InstructionId,
) -> Result<Option<InstructionId>, &'static str> {
    const OTHER_SUM: &str = "an exponential is divided, but not by its own sum";
    let &[dividend, divisor] = module.operands(divide) else { return Ok(None) };
    let Shape::Array(quotient) = module.shape_of(divide) else { return Ok(None) };
    let axes: Axes =
        quotient.dimensions.iter().enumerate().map(|(at, &size)| (size != 1).then_some(at)).collect();
    let (exponential, own) = origin(module, dividend, axes.clone());
    let (Opcode::Exponential, &[exponent]) =
        (module.instruction(exponential).opcode, module.operands(exponential))
    else {
        return Ok(None);
    };
    let (sum, axes) = origin(module, divisor, axes);
    let sum = Reduction::of(module, sum, Opcode::Add, axes).ok_or(OTHER_SUM)?;
    let Some(summed) = sum.axes else {
        return Err("an exponential is divided by a sum along several dimensions");
    };
    let (of, summed) = origin(module, sum.value, summed);
    if of != exponential {
        return Err(OTHER_SUM);
    }
    if !is_zero(module, sum.init) {
        return Err("an exponential is divided by its own sum, but that does not begin at 0");
    }
    let Some(axis) = reduced_axis(&summed, &own, sum.is_of_one) else {
        return Err("an exponential is divided by its own sum along another dimension");
    };
    let (shifted, axes) = origin(module, exponent, own);
    if let (Opcode::Subtract, &[value, shift]) =
        (module.instruction(shifted).opcode, module.operands(shifted))
        && let Some(maximum) = maximum(module, shift, axes.clone())
        && let Some(reduced) = maximum.axes
    {
        let (x, own) = origin(module, value, axes);
        let (of, reduced) = origin(module, maximum.value, reduced);
        if of == x && reduced_axis(&reduced, &own, maximum.is_of_one) == Some(axis) {
            return Ok(Some(value));
        }
    }
    Ok(Some(exponent))
}

/// A reduction of one value.
struct Reduction {
    value: InstructionId,
    init: InstructionId,
    /// Those of the value; `None` if it is along several dimensions.
    axes: Option<Axes>,
    /// It is along a dimension of size 1.
    is_of_one: bool,
}

impl Reduction {
    /// The reduction `id` with `reducer`, if it is one, whose result has `axes`.
    fn of(module: &Module, id: InstructionId, reducer: Opcode, axes: Axes) -> Option<Self> {
        let &[value, init] = module.operands(id) else { return None };
        let computation = module.called(id, AttrKey::ToApply)?;
        if module.instruction(id).opcode != Opcode::Reduce
            || reducer_opcode(module, computation) != Some(reducer)
        {
            return None;
        }
        let Shape::Array(shape) = module.shape_of(value) else { return None };
        let mut is_of_one = false;
        let axes = match module.ints(id, AttrKey::Dimensions) {
            Some(&[dimension]) => usize::try_from(dimension).ok().filter(|&at| at <= axes.len()).map(|at| {
                is_of_one = shape.dimensions.get(at) == Some(&1);
                let mut axes = axes;
                axes.insert(at, if is_of_one { None } else { REDUCED });
                axes
            }),
            _ => None,
        };
        Some(Self { value, init, axes, is_of_one })
    }
}

/// What a maximum is of; a lower bound may be applied to it.
fn maximum(module: &Module, id: InstructionId, axes: Axes) -> Option<Reduction> {
    let (id, axes) = origin(module, id, axes);
    if let (Opcode::Maximum, &[a, b]) = (module.instruction(id).opcode, module.operands(id)) {
        return [a, b].into_iter().find_map(|operand| {
            let (operand, axes) = origin(module, operand, axes.clone());
            Reduction::of(module, operand, Opcode::Maximum, axes)
        });
    }
    Reduction::of(module, id, Opcode::Maximum, axes)
}

/// The dimension a reduction is along, of a value with axes `own` of which it has told `reduced`. `None` within: that is of
/// size 1; without: other dimensions of the value are not where they were.
fn reduced_axis(reduced: &Axes, own: &Axes, is_of_one: bool) -> Option<Option<usize>> {
    let mut axis = None;
    if reduced.len() != own.len() {
        return None;
    }
    for (&of_reduction, &of_value) in reduced.iter().zip(own) {
        if of_reduction == REDUCED {
            axis = of_value;
        } else if of_reduction != of_value {
            return None;
        }
    }
    (axis.is_some() != is_of_one).then_some(axis)
}

/// The first instruction behind conversions, copies and changes of shape, with its axes.
fn origin(module: &Module, mut id: InstructionId, mut axes: Axes) -> (InstructionId, Axes) {
    for _ in 0..MAX_STEPS {
        let &[operand] = module.operands(id) else { break };
        let (Shape::Array(from), Shape::Array(to)) = (module.shape_of(operand), module.shape_of(id)) else {
            break;
        };
        let before = match module.instruction(id).opcode {
            Opcode::Convert | Opcode::Copy => Some(axes.clone()),
            Opcode::Reshape => before_reshape(from, to, &axes),
            Opcode::Bitcast if is_row_major(from) && is_row_major(to) => before_reshape(from, to, &axes),
            Opcode::Broadcast => module.ints(id, AttrKey::Dimensions).and_then(|dimensions| {
                dimensions.iter().map(|&at| axes.get(usize::try_from(at).ok()?).copied()).collect()
            }),
            _ => None,
        };
        match before {
            Some(before) => (id, axes) = (operand, before),
            None => break,
        }
    }
    (id, axes)
}

/// The axes before a reshape that only adds and takes away dimensions of size 1.
fn before_reshape(from: &ArrayShape, to: &ArrayShape, axes: &Axes) -> Option<Axes> {
    let mut after = to.dimensions.iter().zip(axes).filter(|&(&size, _)| size != 1);
    let mut before = Axes::new();
    for &size in &from.dimensions {
        before.push(match size {
            1 => None,
            _ => after.next().filter(|&(&same, _)| same == size).map(|(_, &axis)| axis)?,
        });
    }
    after.next().is_none().then_some(before)
}

/// Whether elements lie in the order of their indices, so that a bitcast is a reshape.
fn is_row_major(shape: &ArrayShape) -> bool {
    let Some(layout) = &shape.layout else { return true };
    layout.minor_to_major.iter().rev().zip(0..).all(|(&dimension, place)| dimension == place)
}

/// Whether a scalar is 0.
fn is_zero(module: &Module, id: InstructionId) -> bool {
    let (id, _) = origin(module, id, Axes::new());
    let literal =
        module.instruction(id).literal.filter(|_| module.instruction(id).opcode == Opcode::Constant);
    let elements = literal.and_then(|literal| module.literal(literal).elements());
    elements.is_some_and(|elements| elements.len() == 1 && elements.f64(0) == Some(0.0))
}
