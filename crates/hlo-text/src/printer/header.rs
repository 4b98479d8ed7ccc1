//! The attributes of the `HloModule` line.

use super::aliasing::{write_buffer_donors, write_input_output_alias};
use super::list::{write_bool, write_bools};
use super::origin::write_original_array;
use super::shape::write_shape;
use super::value::write_frontend_attributes;
use super::{print_module, write_int};
use crate::PrintOptions;
use crate::ir::{HeaderKey, Module, OriginRecovery, ShapeId};

/// Every so many parameters a comment tells the number, whatever the print options.
const INDEX_COMMENT_INTERVAL: usize = 5;

/// Appends the attributes of the `HloModule` line, each after a comma.
pub(crate) fn write_header(out: &mut Vec<u8>, module: &Module, options: &PrintOptions) {
    for &key in HeaderKey::ALL.iter().filter(|&&key| is_printed(module, key)) {
        out.extend_from_slice(b", ");
        out.extend_from_slice(key.name().as_bytes());
        out.push(b'=');
        write_attribute(out, module, key, options);
    }
    for &unknown in &module.header.unknown {
        out.extend_from_slice(b", ");
        out.extend_from_slice(module.strings().get(unknown));
    }
}

/// Whether an attribute says something that its absence doesn't.
pub(super) fn is_printed(module: &Module, key: HeaderKey) -> bool {
    let header = &module.header;
    match key {
        HeaderKey::IsScheduled => header.is_scheduled,
        HeaderKey::InputOutputAlias => !header.input_output_alias.is_empty(),
        HeaderKey::BufferDonor => !header.buffer_donors.is_empty(),
        HeaderKey::AliasPassthroughParams => header.alias_passthrough_params,
        HeaderKey::EntryComputationLayout => true,
        HeaderKey::AllowSpmdShardingPropagationToParameters => {
            says_something(&header.allow_spmd_sharding_propagation_to_parameters)
        }
        HeaderKey::AllowSpmdShardingPropagationToOutput => {
            says_something(&header.allow_spmd_sharding_propagation_to_output)
        }
        HeaderKey::ReplicaCount => header.replica_count != 1,
        HeaderKey::NumPartitions => header.num_partitions != 1,
        HeaderKey::FrontendAttributes => !header.frontend_attributes.is_empty(),
        HeaderKey::OriginRecoveryTable => !header.origin_recovery_table.is_empty(),
    }
}

/// Appends what stands behind an attribute's `=`.
pub(super) fn write_attribute(out: &mut Vec<u8>, module: &Module, key: HeaderKey, options: &PrintOptions) {
    let header = &module.header;
    match key {
        HeaderKey::IsScheduled | HeaderKey::AliasPassthroughParams => write_bool(out, true),
        HeaderKey::InputOutputAlias => write_input_output_alias(out, &header.input_output_alias),
        HeaderKey::BufferDonor => write_buffer_donors(out, &header.buffer_donors),
        HeaderKey::EntryComputationLayout => write_entry_layout(out, module),
        HeaderKey::AllowSpmdShardingPropagationToParameters => {
            write_bools(out, &header.allow_spmd_sharding_propagation_to_parameters);
        }
        HeaderKey::AllowSpmdShardingPropagationToOutput => {
            write_bools(out, &header.allow_spmd_sharding_propagation_to_output);
        }
        HeaderKey::ReplicaCount => write_int(out, header.replica_count),
        HeaderKey::NumPartitions => write_int(out, header.num_partitions),
        HeaderKey::FrontendAttributes => {
            write_frontend_attributes(out, module, &header.frontend_attributes);
        }
        HeaderKey::OriginRecoveryTable => {
            write_recovery_table(out, module, &header.origin_recovery_table, options.indent_amount);
        }
    }
}

/// Whether a list of flags is there and not the default, a single `false`.
fn says_something(flags: &[bool]) -> bool {
    !matches!(flags, [] | [false])
}

fn write_entry_layout(out: &mut Vec<u8>, module: &Module) {
    match &module.header.entry_computation_layout {
        Some(layout) => write_signature(out, module, layout.parameters.iter().copied(), layout.result),
        None => {
            let entry = module.computation(module.entry());
            let parameters = entry.parameters.iter().map(|&id| module.instruction(id).shape);
            write_signature(out, module, parameters, module.instruction(entry.root).shape);
        }
    }
}

fn write_signature(
    out: &mut Vec<u8>,
    module: &Module,
    parameters: impl Iterator<Item = ShapeId>,
    result: ShapeId,
) {
    out.extend_from_slice(b"{(");
    for (index, shape) in parameters.enumerate() {
        if index > 0 {
            out.extend_from_slice(b", ");
            if index % INDEX_COMMENT_INTERVAL == 0 {
                out.extend_from_slice(b"/*index=");
                write_int(out, index as i64);
                out.extend_from_slice(b"*/");
            }
        }
        write_shape(out, module, shape, true);
    }
    out.extend_from_slice(b")->");
    write_shape(out, module, result, true);
    out.push(b'}');
}

/// Appends `text`, each quote and backslash after a backslash.
fn escape_quotes(out: &mut Vec<u8>, text: &[u8]) {
    let mut from = 0;
    for at in memchr::memchr2_iter(b'"', b'\\', text) {
        out.extend_from_slice(&text[from..at]);
        out.push(b'\\');
        from = at;
    }
    out.extend_from_slice(&text[from..]);
}

/// Appends the table on lines of its own, and the modules in it with the default options; the last brace stands at
/// the start of its line, and is followed by a line feed.
fn write_recovery_table(out: &mut Vec<u8>, module: &Module, table: &[OriginRecovery], indent: usize) {
    /// How much further the modules are indented, in steps of two blanks.
    const MODULE_INDENT: usize = 2;
    let margin = |out: &mut Vec<u8>| out.resize(out.len() + 2 * (indent + 1), b' ');
    out.extend_from_slice(b"{\n");
    for entry in table {
        margin(out);
        write_original_array(out, module, &entry.old);
        out.extend_from_slice(b" : ");
        write_original_array(out, module, &entry.new);
        if let Some(nested) = &entry.module {
            out.extend_from_slice(b",\n");
            margin(out);
            out.extend_from_slice(b"\"\n");
            let options = PrintOptions { indent_amount: indent + MODULE_INDENT, ..PrintOptions::default() };
            if module.reads_back {
                let mut text = Vec::new();
                print_module(&mut text, nested, &options);
                escape_quotes(out, &text);
            } else {
                print_module(out, nested, &options);
            }
            out.push(b'\n');
            margin(out);
            out.push(b'"');
        }
        out.push(b'\n');
    }
    out.extend_from_slice(b"}\n");
}
