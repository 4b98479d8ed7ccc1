//! What convolutions and windowed operations have: `window`, `padding`, `dim_labels`, `sparsity_config`.

use smallvec::SmallVec;

use super::list::write_joined;
use super::write_int;
use crate::ir::{
    ConvolutionDimensionNumbers, PaddingDimension, SparsityConfig, TensorSparsity, Window, WindowDimension,
};

/// Appends `{size=2x2 stride=1x2}`: the size, and whatever is not the usual in some dimension.
pub(crate) fn write_window(out: &mut Vec<u8>, window: &Window) {
    let dimensions = window.dimensions.as_slice();
    out.push(b'{');
    if !dimensions.is_empty() {
        out.extend_from_slice(b"size=");
        write_joined(out, dimensions, b"x", |out, dimension| write_int(out, dimension.size));
    }
    let mut field = |name: &[u8], usual: i64, value: fn(&WindowDimension) -> i64| {
        if dimensions.iter().any(|dimension| value(dimension) != usual) {
            out.extend_from_slice(name);
            write_joined(out, dimensions, b"x", |out, dimension| write_int(out, value(dimension)));
        }
    };
    field(b" stride=", 1, |dimension| dimension.stride);
    if dimensions.iter().any(|dimension| (dimension.padding_low, dimension.padding_high) != (0, 0)) {
        out.extend_from_slice(b" pad=");
        write_joined(out, dimensions, b"x", |out, dimension| {
            write_int(out, dimension.padding_low);
            out.push(b'_');
            write_int(out, dimension.padding_high);
        });
    }
    let mut field = |name: &[u8], usual: i64, value: fn(&WindowDimension) -> i64| {
        if dimensions.iter().any(|dimension| value(dimension) != usual) {
            out.extend_from_slice(name);
            write_joined(out, dimensions, b"x", |out, dimension| write_int(out, value(dimension)));
        }
    };
    field(b" lhs_dilate=", 1, |dimension| dimension.base_dilation);
    field(b" rhs_dilate=", 1, |dimension| dimension.window_dilation);
    field(b" rhs_reversal=", 0, |dimension| dimension.window_reversal.into());
    out.push(b'}');
}

/// Appends `0_0x1_2_3`.
pub(crate) fn write_padding(out: &mut Vec<u8>, padding: &[PaddingDimension]) {
    let has_interior = padding.iter().any(|dimension| dimension.interior != 0);
    write_joined(out, padding, b"x", |out, dimension| {
        write_int(out, dimension.low);
        out.push(b'_');
        write_int(out, dimension.high);
        if has_interior {
            out.push(b'_');
            write_int(out, dimension.interior);
        }
    });
}

/// More dimensions than this have no labels, and are not written.
const MAX_LABELS: usize = 64;

/// Appends a part of `dim_labels`: two letters and the digits, each at its position; whatever comes later takes the
/// place of what is there.
fn write_labels(out: &mut Vec<u8>, letters: [u8; 2], first: i64, second: i64, spatial: &[i64]) {
    let positions = || [first, second].into_iter().chain(spatial.iter().copied());
    let valid = |position: i64| usize::try_from(position).ok().filter(|&position| position < MAX_LABELS);
    let length = positions().filter_map(valid).max().map_or(0, |last| last + 1);
    let mut labels: SmallVec<[u8; MAX_LABELS]> = SmallVec::from_elem(b'?', length);
    let digits = (0..spatial.len()).map(|index| char::from_digit(index as u32, 10).map_or(b'?', |c| c as u8));
    for (position, label) in positions().zip(letters.into_iter().chain(digits)) {
        if let Some(place) = valid(position).and_then(|position| labels.get_mut(position)) {
            *place = label;
        }
    }
    out.extend_from_slice(&labels);
}

/// Appends `b01f_01io->b01f`.
pub(crate) fn write_dim_labels(out: &mut Vec<u8>, numbers: &ConvolutionDimensionNumbers) {
    write_labels(out, *b"bf", numbers.input_batch, numbers.input_feature, &numbers.input_spatial);
    out.push(b'_');
    let (input, output) = (numbers.kernel_input_feature, numbers.kernel_output_feature);
    write_labels(out, *b"io", input, output, &numbers.kernel_spatial);
    out.extend_from_slice(b"->");
    write_labels(out, *b"bf", numbers.output_batch, numbers.output_feature, &numbers.output_spatial);
}

/// Appends `{lhs={sparsity=2x4 dimension=1 stride=1} rhs={...}}`.
pub(crate) fn write_sparsity_config(out: &mut Vec<u8>, config: &SparsityConfig) {
    out.push(b'{');
    if let Some(lhs) = &config.lhs {
        out.extend_from_slice(b"lhs=");
        write_tensor_sparsity(out, lhs);
    }
    if let Some(rhs) = &config.rhs {
        out.extend_from_slice(if config.lhs.is_some() { b" rhs=" } else { b"rhs=" });
        write_tensor_sparsity(out, rhs);
    }
    out.push(b'}');
}

fn write_tensor_sparsity(out: &mut Vec<u8>, sparsity: &TensorSparsity) {
    out.extend_from_slice(b"{sparsity=");
    write_int(out, sparsity.sparsity.0);
    out.push(b'x');
    write_int(out, sparsity.sparsity.1);
    out.extend_from_slice(b" dimension=");
    write_int(out, sparsity.dimension);
    out.extend_from_slice(b" stride=");
    write_int(out, sparsity.stride);
    out.push(b'}');
}
