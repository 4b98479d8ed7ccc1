//! MERGE: stands in for the printing of numbers, which replaces this file.

/// Appends `value` as C's `%.{digits}g` does.
pub(crate) fn write_general(out: &mut Vec<u8>, value: f64, digits: usize) {
    if !value.is_finite() {
        out.extend_from_slice(format!("{value}").to_lowercase().as_bytes());
        return;
    }
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    let text = if exponent < -4 || exponent >= digits as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", trim(mantissa), exponent.abs())
    } else {
        trim(&format!("{value:.*}", (digits as i32 - 1 - exponent) as usize))
    };
    out.extend_from_slice(text.as_bytes());
}
