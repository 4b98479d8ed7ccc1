//! Numbers: the floating-point types of HLO bit by bit, `%g` printing, and reading decimals fast.

mod decimal;
mod format;
mod general;

pub(crate) use decimal::{Scanned, scan_number};
pub use format::{decode_float, encode_float, max_finite, nan_payload, nan_with_payload};
pub(crate) use format::{is_finite, round_nan_to_f32};
pub(crate) use general::{write_float, write_general};

/// Powers of ten that are exact in a double.
const EXACT_POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];
