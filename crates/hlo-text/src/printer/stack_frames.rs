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
        write_field(out, number, b" {file_name_id=");
        write_field(out, location.file_name_id, b" function_name_id=");
        write_field(out, location.function_name_id, b" line=");
        write_field(out, location.line, b" end_line=");
        write_field(out, location.end_line, b" column=");
        write_field(out, location.column, b" end_column=");
        write_field(out, location.end_column, b"}\n");
    }
    out.extend_from_slice(b"\nStackFrames\n");
    for (number, frame) in (1..).zip(&tables.stack_frames) {
        write_field(out, number, b" {file_location_id=");
        write_field(out, frame.file_location_id, b" parent_frame_id=");
        // The text shows one more than the number of the parent, and 1 for none.
        write_int(out, i64::from(frame.parent_frame_id) + 1);
        out.extend_from_slice(b"}\n");
    }
}

/// Appends a number and what stands behind it. (There are thousands of these, and texts whose length is known when
/// this is compiled are copied faster.)
#[inline(always)]
fn write_field<const N: usize>(out: &mut Vec<u8>, number: i32, then: &[u8; N]) {
    write_int(out, number.into());
    out.extend_from_slice(then);
}
