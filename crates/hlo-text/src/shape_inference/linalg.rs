//! Fourier transforms, linear algebra, batch normalisation.

use crate::ir::words::{FftType, TriangularSolveTranspose};
use crate::ir::{ArrayShape, AttrKey as K, ElementType, UNBOUNDED};

use super::Inferred;
use super::error::{ShapeError, ShapeResult};
use super::rule::{Rule, index_below};
use super::types::{
    Dimension, array_text, dimension, is_float_or_complex, make, same_type_or_floats, sizes_agree, with_type,
};

/// `fft`
pub(super) fn fft(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let operand = rule.array(0)?;
    let lengths = rule.ints(K::FftLength)?;
    let Some(kind) = rule.word(K::FftType).and_then(FftType::from_word) else {
        return Err(ShapeError::attribute(K::FftType, "fft needs the attribute fft_type"));
    };
    let count = lengths.len();
    let &[.., last_length] = lengths else {
        return Err(ShapeError::attribute(K::FftLength, "fft needs 1 to 3 lengths, but has none"));
    };
    if count > 3 {
        return Err(ShapeError::attribute(
            K::FftLength,
            format!("fft needs 1 to 3 lengths, but has {count}"),
        ));
    }
    let element_type = operand.element_type;
    let wanted = match kind {
        FftType::Rfft => (matches!(element_type, ElementType::F32 | ElementType::F64), "f32 or f64"),
        FftType::Fft | FftType::Ifft | FftType::Irfft => {
            (element_type.complex_component().is_some(), "complex")
        }
    };
    if !wanted.0 {
        let message = format!(
            "{} takes {} elements, but its operand is {}",
            kind.name(),
            wanted.1,
            array_text(operand)
        );
        return Err(ShapeError::operand(0, message));
    }
    let Some(first) = operand.rank().checked_sub(count) else {
        let message = format!("{count} lengths for {}", array_text(operand));
        return Err(ShapeError::attribute(K::FftLength, message));
    };
    let wrong = |index: usize, wanted: i64| {
        let message = format!("dimension {index} of {} must be {wanted} by fft_length", array_text(operand));
        Err(ShapeError::attribute(K::FftLength, message))
    };
    let halved = last_length.max(0) / 2 + 1;
    let last_index = first + count - 1;
    let mut result = operand.clone();
    match kind {
        FftType::Fft | FftType::Ifft => return Ok(Inferred::Existing(rule.operand(0)?)),
        FftType::Rfft => {
            for (index, &length) in (first..).zip(lengths) {
                if !sizes_agree(operand.dimensions[index], length) {
                    return wrong(index, length);
                }
            }
            let complex = if element_type == ElementType::F32 { ElementType::C64 } else { ElementType::C128 };
            result = with_type(result, complex);
            if last_length != 0 {
                set_size(&mut result, last_index, halved);
            }
        }
        FftType::Irfft => {
            for (index, &length) in (first..last_index).zip(lengths) {
                if operand.dimensions[index] != length {
                    return wrong(index, length);
                }
            }
            let last = operand.dimensions[last_index];
            if last != UNBOUNDED && last != halved && !(last == 0 && last_length == 0) {
                return wrong(last_index, halved);
            }
            if last_length < 0 {
                return wrong(last_index, halved);
            }
            result = with_type(result, element_type.complex_component().unwrap_or(element_type));
            set_size(&mut result, last_index, last_length);
        }
    }
    Ok(Inferred::Array(result))
}

/// Changes a size; an unbounded dimension becomes static, others keep their mark.
fn set_size(array: &mut ArrayShape, index: usize, size: i64) {
    let dim = dimension(array, index);
    array.dynamic[index] = dim.dynamic && !dim.is_unbounded();
    array.dimensions[index] = size;
}

/// Sizes of the two minor dimensions of the matrices of a linear algebra opcode.
fn matrix_sizes(rule: &Rule<'_>, array: &ArrayShape) -> ShapeResult<(i64, i64)> {
    match *array.dimensions {
        [.., rows, columns] => Ok((rows, columns)),
        _ => {
            let message = format!("{} takes matrices, but operand 0 is {}", rule.opcode(), array_text(array));
            Err(ShapeError::operand(0, message))
        }
    }
}

/// The matrices of operand 0, which must be square; their size.
fn square_size(rule: &Rule<'_>, array: &ArrayShape) -> ShapeResult<i64> {
    let (rows, columns) = matrix_sizes(rule, array)?;
    if sizes_agree(rows, columns) {
        return Ok(columns);
    }
    let message = format!("{} takes square matrices, but operand 0 is {}", rule.opcode(), array_text(array));
    Err(ShapeError::operand(0, message))
}

/// `cholesky`
pub(super) fn cholesky(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let operand = rule.array(0)?;
    if !is_float_or_complex(operand.element_type) {
        let message = format!(
            "cholesky takes floating-point or complex elements, but its operand is {}",
            array_text(operand)
        );
        return Err(ShapeError::operand(0, message));
    }
    square_size(rule, operand)?;
    Ok(Inferred::Existing(rule.operand(0)?))
}

/// `triangular-solve(a, b)`
pub(super) fn triangular_solve(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let (a, b) = (rule.array(0)?, rule.array(1)?);
    let shapes = || format!("{} and {}", array_text(a), array_text(b));
    let wrong = |message: String| Err(ShapeError::operand(1, message));
    if !is_float_or_complex(a.element_type) || a.element_type != b.element_type {
        return wrong(format!(
            "triangular-solve takes one floating-point or complex type, but is given {}",
            shapes()
        ));
    }
    let size = square_size(rule, a)?;
    let (rows, columns) = matrix_sizes(rule, b)?;
    if a.rank() != b.rank() {
        return wrong(format!("triangular-solve of different ranks: {}", shapes()));
    }
    let shared = if rule.flag(K::LeftSide) { rows } else { columns };
    if !sizes_agree(size, shared) {
        return wrong(format!("the shared dimension of {} differs", shapes()));
    }
    let batch = a.rank() - 2;
    if a.dimensions[..batch] != b.dimensions[..batch] {
        return wrong(format!("the batch dimensions of {} differ", shapes()));
    }
    let transpose = rule.word(K::TransposeA).and_then(TriangularSolveTranspose::from_word);
    if matches!(transpose, None | Some(TriangularSolveTranspose::Invalid)) {
        let message = "transpose_a must be NO_TRANSPOSE, TRANSPOSE or ADJOINT";
        return Err(ShapeError::attribute(K::TransposeA, message));
    }
    Ok(Inferred::Existing(rule.operand(1)?))
}

/// The kinds of batch normalisation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BatchNorm {
    /// `(operand, scale, offset)`
    Training,
    /// `(operand, scale, offset, mean, variance)`
    Inference,
    /// `(operand, scale, mean, variance, output gradient)`
    Grad,
}

/// `batch-norm-training`, `batch-norm-inference`, `batch-norm-grad`
pub(super) fn batch_norm(rule: &Rule<'_>, kind: BatchNorm) -> ShapeResult<Inferred> {
    let operand = rule.array(0)?;
    let number = rule.int(K::FeatureIndex)?;
    let feature = index_below(number, operand.rank()).ok_or_else(|| {
        let message = format!("feature_index={number} is no dimension of {}", array_text(operand));
        ShapeError::attribute(K::FeatureIndex, message)
    })?;
    if !operand.element_type.is_float() {
        let message = format!(
            "{} takes floating-point elements, but its operand is {}",
            rule.opcode(),
            array_text(operand)
        );
        return Err(ShapeError::operand(0, message));
    }
    let features = dimension(operand, feature);
    let (per_feature, rank_is_checked) = match kind {
        BatchNorm::Training => (1..3, 3),
        BatchNorm::Inference => (1..5, 3),
        BatchNorm::Grad => (1..4, 4),
    };
    for index in per_feature {
        let array = rule.array(index)?;
        let fits = same_type_or_floats(array.element_type, operand.element_type)
            && (array.rank() == 1 || index >= rank_is_checked)
            && array.dimensions.first().is_some_and(|&size| sizes_agree(size, features.size));
        if !fits {
            let message = format!(
                "operand {index} of {} must have an element for each of the {} features of {}, but is {}",
                rule.opcode(),
                features,
                array_text(operand),
                array_text(array)
            );
            return Err(ShapeError::operand(index, message));
        }
    }
    if kind == BatchNorm::Grad {
        let gradient = rule.array(4)?;
        let fits = super::types::arrays_compatible(gradient, operand, super::types::TypeMatch::AnyFloat);
        if !fits {
            let message = format!(
                "the output gradient {} must have the shape of the operand {}",
                array_text(gradient),
                array_text(operand)
            );
            return Err(ShapeError::operand(4, message));
        }
    }
    let whole = Inferred::Existing(rule.operand(0)?);
    if kind == BatchNorm::Inference {
        return Ok(whole);
    }
    let feature_shape = || Inferred::Array(make(operand.element_type, [Dimension { ..features }]));
    Ok(Inferred::Tuple(vec![whole, feature_shape(), feature_shape()]))
}
