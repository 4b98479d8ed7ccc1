//! `convolution`.

use crate::ir::{ArrayShape, AttrKey as K, ConvolutionDimensionNumbers, Value};

use super::Inferred;
use super::elementwise::common_type;
use super::error::{ShapeError, ShapeResult};
use super::rule::{Rule, index_below};
use super::types::{Dimension, array_text, dimension, make};
use super::window::window_result;

/// The positions of two features and the spatial dimensions as indices, which must be a permutation.
fn positions(first: i64, second: i64, spatial: &[i64], which: &str) -> ShapeResult<Vec<usize>> {
    let rank = spatial.len() + 2;
    let mut seen = vec![false; rank];
    let numbers = [first, second].into_iter().chain(spatial.iter().copied());
    let indices = numbers.map(|number| {
        let index = index_below(number, rank)?;
        (!std::mem::replace(&mut seen[index], true)).then_some(index)
    });
    indices.collect::<Option<Vec<usize>>>().ok_or_else(|| {
        let message = format!("the {which} labels must name each dimension once");
        ShapeError::attribute(K::DimLabels, message)
    })
}

/// The kernel: an array, or the first of a pair in the sparse case.
fn kernel<'a>(rule: &Rule<'a>) -> ShapeResult<&'a ArrayShape> {
    let id = rule.operand(1)?;
    let Some(elements) = rule.module.shape(id).as_tuple() else {
        return rule.array(1);
    };
    let array = match elements {
        [values, _] => rule.module.shape(*values).as_array(),
        _ => None,
    };
    array.ok_or_else(|| {
        let message = format!("a sparse kernel must be a pair of arrays, but is {}", rule.text(id));
        ShapeError::operand(1, message)
    })
}

/// `convolution(lhs, rhs)`: XLA's forward rule, whatever the kind.
pub(super) fn convolution(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let rhs = kernel(rule)?;
    let lhs = rule.array(0)?;
    let (feature_groups, batch_groups) = (rule.count(K::FeatureGroupCount), rule.count(K::BatchGroupCount));
    for (key, count) in [(K::FeatureGroupCount, feature_groups), (K::BatchGroupCount, batch_groups)] {
        if count <= 0 {
            let message = format!("{} must be positive, but is {count}", key.name());
            return Err(ShapeError::attribute(key, message));
        }
    }
    if feature_groups > 1 && batch_groups > 1 {
        let message = format!(
            "only one of feature_group_count={feature_groups} and batch_group_count={batch_groups} may exceed 1"
        );
        return Err(ShapeError::attribute(K::BatchGroupCount, message));
    }
    let Value::DimLabels(labels) = rule.required_value(K::DimLabels)? else {
        return Err(ShapeError::attribute(K::DimLabels, "dim_labels= must be dimension labels"));
    };
    let (input, kernel, output) = check_labels(labels)?;
    let rank = input.len();
    for (index, array) in [lhs, rhs].into_iter().enumerate() {
        if array.rank() != rank {
            let message =
                format!("the labels are for rank {rank}, but operand {index} is {}", array_text(array));
            return Err(ShapeError::operand(index, message));
        }
    }

    let batch = dimension(lhs, input[0]);
    let features = dimension(lhs, input[1]);
    let kernel_output = dimension(rhs, kernel[1]);
    let kernel_input = kernel_input_features(rule, dimension(rhs, kernel[0]).size)?;
    let shapes = || format!("convolution of {} and {}", array_text(lhs), array_text(rhs));
    if kernel_output.dynamic {
        let message = format!("the kernel's output features must not be dynamic: {}", shapes());
        return Err(ShapeError::operand(1, message));
    }
    for (what, size, operand, key, groups) in [
        ("the kernel's output features", kernel_output.size, 1, K::BatchGroupCount, batch_groups),
        ("the kernel's output features", kernel_output.size, 1, K::FeatureGroupCount, feature_groups),
        ("the batch size", batch.size, 0, K::BatchGroupCount, batch_groups),
    ] {
        let unbounded = size == crate::ir::UNBOUNDED;
        if size.checked_rem(groups) != Some(0) || unbounded && groups > 1 {
            let message =
                format!("{what}, {size}, must be a multiple of {}={groups}: {}", key.name(), shapes());
            return Err(ShapeError::operand(operand, message));
        }
    }
    if features.size.checked_rem(feature_groups) != Some(0) || features.size / feature_groups != kernel_input
    {
        let message = format!(
            "{} input features in {feature_groups} groups don't go with {kernel_input} of the kernel: {}",
            features,
            shapes()
        );
        return Err(ShapeError::operand(0, message));
    }

    let window = rule.window();
    if window.dimensions.len() != rank - 2 {
        let message =
            format!("the window must have {} dimensions, but has {}", rank - 2, window.dimensions.len());
        return Err(ShapeError::attribute(K::Window, message));
    }
    let kernel_spatial = kernel[2..].iter().map(|&index| rhs.dimensions[index]);
    if !window.dimensions.iter().map(|dim| dim.size).eq(kernel_spatial) {
        let message = format!("the window's sizes must be those of the kernel {}", array_text(rhs));
        return Err(ShapeError::attribute(K::Window, message));
    }
    let base: Vec<Dimension> = input[2..].iter().map(|&index| dimension(lhs, index)).collect();
    let spatial = window_result(&base, window, lhs.element_type)?;

    let element_type = match rule.stated_array() {
        Some(stated) => stated.element_type,
        None => common_type(rule, lhs.element_type, rhs.element_type)?,
    };
    let mut dims = vec![Dimension::fixed(0); rank];
    dims[output[0]] =
        if batch.is_unbounded() { batch } else { Dimension { size: batch.size / batch_groups, ..batch } };
    dims[output[1]] = Dimension::fixed(kernel_output.size);
    for (place, &index) in output[2..].iter().enumerate() {
        let mut dim = dimension(&spatial, place);
        dim.dynamic |= rhs.dynamic[kernel[2 + place]];
        dims[index] = dim;
    }
    Ok(Inferred::Array(make(element_type, dims)))
}

/// Positions in input, kernel and output: batch and feature (input and output feature in the kernel), then
/// spatial ones.
fn check_labels(labels: &ConvolutionDimensionNumbers) -> ShapeResult<(Vec<usize>, Vec<usize>, Vec<usize>)> {
    let spatial = labels.input_spatial.len();
    if labels.kernel_spatial.len() != spatial || labels.output_spatial.len() != spatial {
        let message = "input, kernel and output must have as many spatial dimensions";
        return Err(ShapeError::attribute(K::DimLabels, message));
    }
    Ok((
        positions(labels.input_batch, labels.input_feature, &labels.input_spatial, "input")?,
        positions(
            labels.kernel_input_feature,
            labels.kernel_output_feature,
            &labels.kernel_spatial,
            "kernel",
        )?,
        positions(labels.output_batch, labels.output_feature, &labels.output_spatial, "output")?,
    ))
}

/// Input features of the kernel; a sparse one (1 of N is there) stands for N times as many.
fn kernel_input_features(rule: &Rule<'_>, size: i64) -> ShapeResult<i64> {
    let sparsity = match rule.optional_value(K::SparsityConfig) {
        Some(Value::SparsityConfig(config)) => config.rhs.as_ref(),
        _ => None,
    };
    let Some(sparsity) = sparsity else {
        return Ok(size);
    };
    let (present, block) = sparsity.sparsity;
    let dense = (present == 1).then(|| size.checked_mul(block)).flatten();
    dense.ok_or_else(|| {
        let message = format!("sparsity {present}x{block} of the kernel: only 1 of N is possible");
        ShapeError::attribute(K::SparsityConfig, message)
    })
}
