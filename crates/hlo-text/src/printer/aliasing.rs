//! Buffers that several values share: `output_to_operand_aliasing=`, `input_output_alias=`, `buffer_donor=`.

use super::list::{write_ints, write_joined};
use super::write_int;
use crate::ir::{AliasKind, BufferDonor, InputOutputAlias, OperandAliasing};

/// Appends `{{0}: (1, {}), {1}: (0, {2})}`.
pub(crate) fn write_operand_aliasing(out: &mut Vec<u8>, entries: &[OperandAliasing]) {
    out.push(b'{');
    write_joined(out, entries, b", ", |out, entry| {
        write_ints(out, &entry.output_index);
        out.extend_from_slice(b": ");
        write_place(out, entry.operand, &entry.operand_index);
        out.push(b')');
    });
    out.push(b'}');
}

/// Appends `{ {0}: (1, {}, must-alias) }`.
pub(crate) fn write_input_output_alias(out: &mut Vec<u8>, entries: &[InputOutputAlias]) {
    out.extend_from_slice(b"{ ");
    write_joined(out, entries, b", ", |out, entry| {
        write_ints(out, &entry.output_index);
        out.extend_from_slice(b": ");
        write_place(out, entry.parameter, &entry.parameter_index);
        out.extend_from_slice(match entry.kind {
            AliasKind::May => b", may-alias)",
            AliasKind::Must => b", must-alias)",
        });
    });
    out.extend_from_slice(b" }");
}

/// Appends `{ (0, {}), (1, {0}) }`.
pub(crate) fn write_buffer_donors(out: &mut Vec<u8>, entries: &[BufferDonor]) {
    out.extend_from_slice(b"{ ");
    write_joined(out, entries, b", ", |out, entry| {
        write_place(out, entry.parameter, &entry.parameter_index);
        out.push(b')');
    });
    out.extend_from_slice(b" }");
}

fn write_place(out: &mut Vec<u8>, number: i64, index: &[i64]) {
    out.push(b'(');
    write_int(out, number);
    out.extend_from_slice(b", ");
    write_ints(out, index);
}
