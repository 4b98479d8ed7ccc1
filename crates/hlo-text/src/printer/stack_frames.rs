//! The tables `FileNames`, `FunctionNames`, `FileLocations`, `StackFrames`.

use super::text::write_quoted;
use super::write_int;
use crate::ir::{Module, Symbol};

/// Appends the stack-frame tables, nothing if there are none.
pub(crate) fn write_stack_frames(out: &mut Vec<u8>, module: &Module) {
    let tables = &module.header.stack_frames;
    if tables.stack_frames.is_empty() {
        return;
    }
    let write_names = |out: &mut Vec<u8>, title: &[u8], names: &[Symbol]| {
        out.extend_from_slice(title);
        for (number, &name) in (1..).zip(names) {
            write_int(out, number);
            out.push(b' ');
            write_quoted(out, module.strings().get(name));
            out.push(b'\n');
        }
    };
    write_names(out, b"\n\nFileNames\n", &tables.file_names);
    write_names(out, b"\nFunctionNames\n", &tables.function_names);
    out.extend_from_slice(b"\nFileLocations\n");
    for (number, location) in (1..).zip(&tables.file_locations) {
        write_entry(
            out,
            number,
            &[
                (b" {file_name_id=", location.file_name_id.into()),
                (b" function_name_id=", location.function_name_id.into()),
                (b" line=", location.line.into()),
                (b" end_line=", location.end_line.into()),
                (b" column=", location.column.into()),
                (b" end_column=", location.end_column.into()),
            ],
        );
    }
    out.extend_from_slice(b"\nStackFrames\n");
    for (number, frame) in (1..).zip(&tables.stack_frames) {
        // The text shows one more than the number of the parent, and 1 for none.
        let parent = i64::from(frame.parent_frame_id) + 1;
        let fields: [(&[u8], i64); 2] =
            [(b" {file_location_id=", frame.file_location_id.into()), (b" parent_frame_id=", parent)];
        write_entry(out, number, &fields);
    }
}

fn write_entry(out: &mut Vec<u8>, number: i64, fields: &[(&[u8], i64)]) {
    write_int(out, number);
    for &(name, value) in fields {
        out.extend_from_slice(name);
        write_int(out, value);
    }
    out.extend_from_slice(b"}\n");
}
