//! `metadata={op_type="..." op_name="..." source_line=1}`.

use std::borrow::Cow;

use super::text::{write_quoted, write_raw_quoted};
use super::write_int;
use crate::PrintOptions;
use crate::ir::{Metadata, MetadataField, MetadataFieldKind, Module, StackFrameIndex};

/// Appends metadata with its braces.
pub(crate) fn write_metadata(
    out: &mut Vec<u8>,
    module: &Module,
    metadata: &Metadata,
    options: &PrintOptions,
) {
    let metadata = match options.print_inline_stack_frames {
        true => with_inline_frame(metadata, &module.header.stack_frames),
        false => Cow::Borrowed(metadata),
    };
    let (fields, unknown) = match options.print_metadata_only_op_name {
        true => (&[MetadataField::OpName][..], false),
        false => (MetadataField::ALL, true),
    };
    write_fields(out, module, &metadata, fields, unknown);
}

/// Appends all metadata with its braces, whatever the options: in shardings XLA does not look at them.
pub(crate) fn write_all_metadata(out: &mut Vec<u8>, module: &Module, metadata: &Metadata) {
    write_fields(out, module, metadata, MetadataField::ALL, true);
}

fn write_fields(
    out: &mut Vec<u8>,
    module: &Module,
    metadata: &Metadata,
    fields: &[MetadataField],
    write_unknown: bool,
) {
    out.push(b'{');
    let start = out.len();
    for &field in fields {
        match field.kind() {
            MetadataFieldKind::String => {
                let Some(symbol) = metadata.string(field) else { continue };
                let text = module.strings().get(symbol);
                write_name(out, start, field);
                if field == MetadataField::SchedulingName {
                    // XLA does not escape this one.
                    write_raw_quoted(out, module, text);
                } else {
                    write_quoted(out, text);
                }
            }
            MetadataFieldKind::Number => {
                let number = metadata.number(field);
                if number != 0 {
                    write_name(out, start, field);
                    write_int(out, number.into());
                }
            }
            MetadataFieldKind::ProfileTypes => {
                let types = metadata.extra.as_deref().map_or(&[][..], |extra| &extra.profile_type);
                if !types.is_empty() {
                    write_name(out, start, field);
                    super::list::write_braced(out, types, |out, &number| write_int(out, number.into()));
                }
            }
        }
    }
    if let Some(extra) = metadata.extra.as_deref().filter(|_| write_unknown) {
        for &unknown in &extra.unknown {
            write_blank(out, start);
            out.extend_from_slice(module.strings().get(unknown));
        }
    }
    out.push(b'}');
}

/// Appends what separates a field from those before it, of which the first one is at `start`.
fn write_blank(out: &mut Vec<u8>, start: usize) {
    if out.len() > start {
        out.push(b' ');
    }
}

fn write_name(out: &mut Vec<u8>, start: usize, field: MetadataField) {
    write_blank(out, start);
    out.extend_from_slice(field.name().as_bytes());
    out.push(b'=');
}

/// The metadata with the place of its stack frame written out instead of the frame's number.
fn with_inline_frame<'m>(metadata: &'m Metadata, tables: &StackFrameIndex) -> Cow<'m, Metadata> {
    let Some((frame, file_name)) = tables.location_of(metadata.stack_frame_id) else {
        return Cow::Borrowed(metadata);
    };
    Cow::Owned(Metadata {
        source_file: Some(file_name),
        source_line: frame.line,
        source_end_line: frame.end_line,
        source_column: frame.column,
        source_end_column: frame.end_column,
        stack_frame_id: 0,
        ..metadata.clone()
    })
}
