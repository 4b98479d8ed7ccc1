//! MERGE: stands in for the metadata printer, which replaces this file.

use crate::PrintOptions;
use crate::ir::{Metadata, Module};

/// Appends metadata with its braces.
pub(crate) fn write_metadata(
    out: &mut Vec<u8>,
    module: &Module,
    metadata: &Metadata,
    _options: &PrintOptions,
) {
    out.extend_from_slice(b"{op_name=\"");
    if let Some(name) = metadata.op_name {
        out.extend_from_slice(module.strings().get(name));
    }
    out.extend_from_slice(b"\"}");
}
