//! The arithmetic of windows.

use crate::diagnostic::Code;
use crate::ir::{ArrayShape, AttrKey, ElementType, Window, WindowDimension};

use super::data_movement::check_element_count;
use super::error::{ShapeError, ShapeResult};
use super::types::{Dimension, make};

/// The size of `size` elements with `dilation - 1` holes between neighbours.
fn dilated(size: i64, dilation: i64) -> Option<i64> {
    if size == 0 { Some(0) } else { size.checked_sub(1)?.checked_mul(dilation)?.checked_add(1) }
}

/// How many windows fit into `base` elements; `None` if a number is out of range.
fn window_count(base: i64, window: &WindowDimension) -> Option<i64> {
    let padded = dilated(base, window.base_dilation)?
        .checked_add(window.padding_low)?
        .checked_add(window.padding_high)
        .filter(|&size| size >= 0)?;
    let extent = dilated(window.size, window.window_dilation)?;
    if padded == 0 || extent > padded { Some(0) } else { Some((padded - extent) / window.stride + 1) }
}

/// An array with an element per position of the window over `base`.
pub(super) fn window_result(
    base: &[Dimension],
    window: &Window,
    element_type: ElementType,
) -> ShapeResult<ArrayShape> {
    let wrong = |message: String| Err(ShapeError::attribute(AttrKey::Window, message).by(Code::WindowShape));
    if window.dimensions.len() != base.len() {
        return wrong(format!(
            "the window has {} dimensions, but goes over {}",
            window.dimensions.len(),
            base.len()
        ));
    }
    let mut dims = Vec::with_capacity(base.len());
    for (index, (&dim, window)) in base.iter().zip(&window.dimensions).enumerate() {
        for (value, name) in [
            (window.size, "size"),
            (window.stride, "stride"),
            (window.base_dilation, "lhs_dilate"),
            (window.window_dilation, "rhs_dilate"),
        ] {
            if value <= 0 {
                return wrong(format!("{name} of window dimension {index} must be positive, but is {value}"));
            }
        }
        if dim.is_unbounded() {
            dims.push(dim);
            continue;
        }
        let Some(size) = window_count(dim.size, window) else {
            return wrong(format!(
                "window dimension {index} over {} elements gives no possible size: padding {}_{}",
                dim.size, window.padding_low, window.padding_high
            ));
        };
        dims.push(Dimension { size, ..dim });
    }
    let result = make(element_type, dims);
    check_element_count(&result)?;
    Ok(result)
}
