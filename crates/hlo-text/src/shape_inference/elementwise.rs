//! Elementwise opcodes and conversions.

use crate::diagnostic::Code;
use crate::ir::{ArrayShape, ElementClass, ElementType};

use super::Inferred;
use super::error::{ShapeError, ShapeResult};
use super::rule::Rule;
use super::types::{
    self, Dimension, TypeMatch, array_text, arrays_compatible, dimension, dimensions, higher_precision,
    is_float_or_complex, make, same_type_or_floats, with_type,
};

/// Which element types a unary opcode takes.
#[derive(Clone, Copy)]
pub(super) enum UnaryTypes {
    Float,
    FloatOrComplex,
    /// Complex gives its real type.
    ToReal,
    /// As [`Self::ToReal`], signed integers too.
    Magnitude,
    Arithmetic,
    SignedOrComplex,
    PredOrInteger,
    Integer,
    /// Gives `pred`.
    FloatTest,
}

impl UnaryTypes {
    fn accepts(self, element_type: ElementType) -> bool {
        let class = element_type.class();
        match self {
            UnaryTypes::Float | UnaryTypes::FloatTest => class == ElementClass::Float,
            UnaryTypes::FloatOrComplex | UnaryTypes::ToReal => is_float_or_complex(element_type),
            UnaryTypes::Magnitude | UnaryTypes::SignedOrComplex => {
                class == ElementClass::Signed || is_float_or_complex(element_type)
            }
            UnaryTypes::Arithmetic => element_type.is_integer() || is_float_or_complex(element_type),
            UnaryTypes::PredOrInteger => class == ElementClass::Pred || element_type.is_integer(),
            UnaryTypes::Integer => element_type.is_integer(),
        }
    }

    fn description(self) -> &'static str {
        match self {
            UnaryTypes::Float | UnaryTypes::FloatTest => "floating-point",
            UnaryTypes::FloatOrComplex | UnaryTypes::ToReal => "floating-point or complex",
            UnaryTypes::Magnitude | UnaryTypes::SignedOrComplex => {
                "signed integer, floating-point or complex"
            }
            UnaryTypes::Arithmetic => "integer, floating-point or complex",
            UnaryTypes::PredOrInteger => "pred or integer",
            UnaryTypes::Integer => "integer",
        }
    }
}

/// Opcodes of one operand.
pub(super) fn unary(rule: &Rule<'_>, types: UnaryTypes) -> ShapeResult<Inferred> {
    let array = rule.array(0)?;
    let element_type = array.element_type;
    if !types.accepts(element_type) {
        let message = format!(
            "{} takes {} elements, but its operand is {}",
            rule.opcode(),
            types.description(),
            array_text(array)
        );
        return Err(ShapeError::operand(0, message));
    }
    let result_type = match types {
        UnaryTypes::ToReal | UnaryTypes::Magnitude => element_type.complex_component(),
        UnaryTypes::FloatTest => Some(ElementType::Pred),
        _ => None,
    };
    Ok(match result_type {
        Some(result_type) => Inferred::Array(with_type(array.clone(), result_type)),
        None => Inferred::Existing(rule.operand(0)?),
    })
}

/// The type of higher precision, or why there is none.
pub(super) fn common_type(rule: &Rule<'_>, a: ElementType, b: ElementType) -> ShapeResult<ElementType> {
    higher_precision(a, b).ok_or_else(|| {
        ShapeError::instruction(format!(
            "neither {} nor {} is of higher precision, so {} has no result type",
            a.name(),
            b.name(),
            rule.opcode()
        ))
        .by(Code::OperandTypes)
    })
}

/// Which element types a binary opcode takes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BinaryTypes {
    Any,
    NotPred,
    FloatOrComplex,
    PredOrInteger,
    /// Two reals to a complex.
    Complex,
    /// Gives `pred`.
    Compare,
}

/// Opcodes of two operands.
pub(super) fn binary(rule: &Rule<'_>, types: BinaryTypes) -> ShapeResult<Inferred> {
    let (lhs, rhs) = (rule.array(0)?, rule.array(1)?);
    let wrong = |index: usize, array: &ArrayShape, wanted: &str| {
        let message = format!(
            "{} takes {wanted} elements, but operand {index} is {}",
            rule.opcode(),
            array_text(array)
        );
        Err(ShapeError::operand(index, message).by(Code::ElementTypes))
    };
    match types {
        BinaryTypes::Any | BinaryTypes::Compare => {}
        BinaryTypes::NotPred | BinaryTypes::FloatOrComplex => {
            for (index, array) in [lhs, rhs].into_iter().enumerate() {
                if array.element_type == ElementType::Pred {
                    return wrong(index, array, "no pred");
                }
            }
        }
        BinaryTypes::PredOrInteger => {
            if lhs.element_type != ElementType::Pred && !lhs.element_type.is_integer() {
                return wrong(0, lhs, "pred or integer");
            }
        }
        BinaryTypes::Complex => {
            if !lhs.element_type.is_float() {
                return wrong(0, lhs, "floating-point");
            }
        }
    }
    if !same_type_or_floats(lhs.element_type, rhs.element_type) {
        let message = format!(
            "{} of different element types: {} and {}",
            rule.opcode(),
            array_text(lhs),
            array_text(rhs)
        );
        return Err(ShapeError::operand(1, message).by(Code::OperandTypes));
    }
    if types == BinaryTypes::FloatOrComplex && !is_float_or_complex(lhs.element_type) {
        return wrong(0, lhs, "floating-point or complex");
    }
    let common = common_type(rule, lhs.element_type, rhs.element_type)?;
    let result_type = match (types, common) {
        (BinaryTypes::Complex, _) => match (lhs.element_type, rhs.element_type) {
            (ElementType::F32, ElementType::F32) => ElementType::C64,
            (ElementType::F64, ElementType::F64) => ElementType::C128,
            _ => {
                let message = format!(
                    "complex numbers are made of two f32 or two f64, not of {} and {}",
                    array_text(lhs),
                    array_text(rhs)
                );
                return Err(ShapeError::operand(0, message).by(Code::ElementTypes));
            }
        },
        (BinaryTypes::Compare, _) => ElementType::Pred,
        _ => common,
    };
    let all_bounded = |array: &ArrayShape| !dimensions(array).any(Dimension::is_unbounded);
    if lhs.dimensions == rhs.dimensions && all_bounded(lhs) {
        let mut result = with_type(lhs.clone(), result_type);
        for (mark, &other) in result.dynamic.iter_mut().zip(&rhs.dynamic) {
            *mark |= other;
        }
        return Ok(Inferred::Array(result));
    }
    let dims: Vec<Dimension> = if lhs.rank() == rhs.rank() {
        dimensions(lhs).zip(dimensions(rhs)).map(|(a, b)| stretch(a, b)).collect::<Option<_>>().ok_or_else(
            || {
                let message = format!(
                    "{} of incompatible shapes: {} and {}",
                    rule.opcode(),
                    array_text(lhs),
                    array_text(rhs)
                );
                ShapeError::operand(1, message)
            },
        )?
    } else if lhs.rank() == 0 {
        dimensions(rhs).collect()
    } else if rhs.rank() == 0 {
        dimensions(lhs).collect()
    } else {
        let message = format!(
            "the operands of {} must have equal ranks, but are {} and {}",
            rule.opcode(),
            array_text(lhs),
            array_text(rhs)
        );
        return Err(ShapeError::operand(1, message));
    };
    Ok(Inferred::Array(make(result_type, dims)))
}

/// One dimension of a binary operation whose operands differ.
fn stretch(a: Dimension, b: Dimension) -> Option<Dimension> {
    if a.size == 1 {
        Some(b)
    } else if b.size == 1 {
        Some(a)
    } else if a.size == b.size {
        Some(Dimension { size: a.size, dynamic: a.dynamic || b.dynamic })
    } else if a.is_unbounded() {
        Some(b)
    } else if b.is_unbounded() {
        Some(a)
    } else {
        None
    }
}

/// `select(pred, on_true, on_false)`
pub(super) fn select(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let [pred, on_true, on_false] = [rule.array(0)?, rule.array(1)?, rule.array(2)?];
    if !arrays_compatible(on_true, on_false, TypeMatch::AnyFloat) {
        let message = format!(
            "the values select chooses between must have the same shape, but are {} and {}",
            array_text(on_true),
            array_text(on_false)
        );
        return Err(ShapeError::operand(2, message));
    }
    if pred.element_type != ElementType::Pred {
        let message = format!("select's first operand must be pred, but is {}", array_text(pred));
        return Err(ShapeError::operand(0, message).by(Code::ElementTypes));
    }
    let scalar = pred.rank() == 0;
    let fits = |value| arrays_compatible(pred, value, TypeMatch::Ignored);
    let mut values = [on_true, on_false].into_iter();
    if !scalar && !values.all(fits) {
        let message = format!(
            "select's predicate {} must be a scalar or have the dimensions of the values {} and {}",
            array_text(pred),
            array_text(on_true),
            array_text(on_false)
        );
        return Err(ShapeError::operand(0, message));
    }
    let common = common_type(rule, on_true.element_type, on_false.element_type)?;
    let mut result = with_type(if scalar { on_true.clone() } else { pred.clone() }, common);
    if let (Some(layout), Some(model)) = (&mut result.layout, &on_true.layout) {
        layout.element_size_in_bits = model.element_size_in_bits;
    }
    for index in 0..result.rank() {
        let (a, b) = (dimension(on_true, index), dimension(on_false, index));
        if a.is_unbounded() || b.is_unbounded() {
            // The more specific of the two sizes.
            result.dimensions[index] = if a.is_unbounded() { b.size } else { a.size };
            result.dynamic[index] = a.dynamic && b.dynamic;
        } else {
            result.dynamic[index] |= a.dynamic || b.dynamic;
        }
    }
    Ok(Inferred::Array(result))
}

/// `clamp(min, operand, max)`
pub(super) fn clamp(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let [min, operand, max] = [rule.array(0)?, rule.array(1)?, rule.array(2)?];
    let shapes = || format!("{}, {}, {}", array_text(min), array_text(operand), array_text(max));
    let types = [min, operand, max].map(|array| array.element_type);
    if !same_type_or_floats(types[0], types[1])
        || !same_type_or_floats(types[1], types[2])
        || !same_type_or_floats(types[0], types[2])
    {
        let message = format!("clamp of different element types: {}", shapes());
        return Err(ShapeError::instruction(message).by(Code::OperandTypes));
    }
    let fits = |a: &ArrayShape, b: &ArrayShape| arrays_compatible(a, b, TypeMatch::AnyFloat);
    for (index, bound) in [(0, min), (2, max)] {
        if bound.rank() > 0 && !fits(bound, operand) {
            let message = format!("clamp's bounds must be scalars or shaped like its operand: {}", shapes());
            return Err(ShapeError::operand(index, message));
        }
    }
    if min.rank() > 0 && max.rank() > 0 && !fits(min, max) {
        return Err(ShapeError::instruction(format!("clamp's bounds don't fit each other: {}", shapes())));
    }
    Ok(Inferred::Existing(rule.operand(1)?))
}

fn stated_type(rule: &Rule<'_>) -> ShapeResult<ElementType> {
    let id = rule.stated()?;
    let array = rule.module.shape(id).as_array().ok_or_else(|| {
        ShapeError::instruction(format!("{} can't give a {}, only an array", rule.opcode(), rule.text(id)))
    })?;
    Ok(array.element_type)
}

/// `convert`: the target type is the stated one.
pub(super) fn convert(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let element_type = stated_type(rule)?;
    Ok(Inferred::Array(with_type(rule.array(0)?.clone(), element_type)))
}

/// `bitcast-convert`: the target type is the stated one.
pub(super) fn bitcast_convert(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let operand = rule.array(0)?;
    let target = stated_type(rule)?;
    if operand.element_type.complex_component().is_some() != target.complex_component().is_some() {
        let message =
            format!("bitcast-convert between complex and real: {} to {}", array_text(operand), target.name());
        return Err(ShapeError::operand(0, message));
    }
    let (from, to) = (operand.element_type.bits(), target.bits());
    let (wide, narrow) = (from.max(to), from.min(to));
    if narrow == 0 || !wide.is_multiple_of(narrow) {
        let message = format!(
            "the sizes of {} and {} don't divide: {from} and {to} bits",
            array_text(operand),
            target.name()
        );
        return Err(ShapeError::operand(0, message));
    }
    let ratio = i64::from(wide / narrow);
    let mut result = with_type(operand.clone(), target);
    if from > to {
        let minor = result.rank() as i64;
        result.dimensions.push(ratio);
        result.dynamic.push(false);
        if let Some(layout) = &mut result.layout {
            layout.minor_to_major.insert(0, minor);
        }
    } else if from < to {
        if result.dimensions.pop() != Some(ratio) {
            let message = format!(
                "the last dimension of {} must be {ratio} to become one {}",
                array_text(operand),
                target.name()
            );
            return Err(ShapeError::operand(0, message));
        }
        result.dynamic.pop();
        let removed = result.rank() as i64;
        if let Some(layout) = &mut result.layout {
            layout.minor_to_major.retain(|&dim| dim != removed);
        }
    }
    Ok(Inferred::Array(result))
}

/// `reduce-precision`
pub(super) fn reduce_precision(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    use crate::ir::AttrKey as K;
    let result = unary(rule, UnaryTypes::Float).map_err(|error| error.by(Code::ElementTypes))?;
    for (key, least) in [(K::ExponentBits, 1), (K::MantissaBits, 0)] {
        let bits = rule.int(key)?;
        if bits < least {
            let message = format!("{} must be at least {least}, but is {bits}", key.name());
            return Err(ShapeError::attribute(key, message));
        }
    }
    Ok(result)
}

/// `stochastic-convert(operand, random)`: the target type is the stated one.
pub(super) fn stochastic_convert(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let (operand, random) = (rule.array(0)?, rule.array(1)?);
    let target = stated_type(rule)?;
    if random.element_type.class() != ElementClass::Unsigned {
        let message = format!("the random bits must be unsigned integers, but are {}", array_text(random));
        return Err(ShapeError::operand(1, message));
    }
    if !operand.element_type.is_float() {
        let message =
            format!("stochastic-convert takes floating-point elements, but is given {}", array_text(operand));
        return Err(ShapeError::operand(0, message));
    }
    let same_place = operand.dimensions == random.dimensions
        && operand.dynamic == random.dynamic
        && operand.layout == random.layout;
    if operand.element_type.bits() != random.element_type.bits() || !same_place {
        let message = format!(
            "the random bits must have the operand's width, dimensions and layout: {} and {}",
            array_text(operand),
            array_text(random)
        );
        return Err(ShapeError::operand(1, message));
    }
    Ok(Inferred::Array(types::with_type(operand.clone(), target)))
}
