//! MERGE: stands in for the literal printer, which replaces this file.

use crate::PrintOptions;
use crate::ir::{Literal, Module};

/// Appends the value of a constant, as much of it as the options show.
pub(crate) fn write_literal(
    out: &mut Vec<u8>,
    _module: &Module,
    _literal: &Literal,
    _options: &PrintOptions,
) {
    out.extend_from_slice(b"{...}");
}
