//! INTEGRATION: replace this file by the printer of metadata. Inside shardings XLA writes every block, even an
//! empty one, and ignores `print_metadata_only_op_name`.

use super::options::PrintOptions;
use crate::ir::{Metadata, Module};
use crate::lexer::escape_into;

/// Appends `{op_name="..."}` with its braces; the rare fields are for the real printer.
pub(super) fn write_metadata(
    out: &mut Vec<u8>,
    module: &Module,
    metadata: &Metadata,
    _options: &PrintOptions,
) {
    let start = out.len();
    let texts =
        [("op_type", metadata.op_type), ("op_name", metadata.op_name), ("source_file", metadata.source_file)];
    let numbers = [("source_line", metadata.source_line), ("stack_frame_id", metadata.stack_frame_id)];
    for (name, text) in texts {
        if let Some(text) = text {
            out.extend_from_slice(b" ");
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b"=\"");
            escape_into(out, module.strings().get(text));
            out.push(b'"');
        }
    }
    for (name, number) in numbers {
        if number != 0 {
            out.extend_from_slice(format!(" {name}={number}").as_bytes());
        }
    }
    // The first field's blank gives way to the brace.
    if out.len() > start {
        out[start] = b'{';
    } else {
        out.push(b'{');
    }
    out.push(b'}');
}
