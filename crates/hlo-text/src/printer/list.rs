//! Lists: `{1,2}`, `{{0,1},{2}}`, `{true,false}`, `{[0:2], [1:4:3]}`.

use super::write_int;
use crate::ir::SliceRange;

/// Appends the items with `separator` between them.
pub(crate) fn write_joined<T>(
    out: &mut Vec<u8>,
    items: &[T],
    separator: &[u8],
    mut write: impl FnMut(&mut Vec<u8>, &T),
) {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.extend_from_slice(separator);
        }
        write(out, item);
    }
}

/// Appends the items in braces with commas between them.
pub(crate) fn write_braced<T>(out: &mut Vec<u8>, items: &[T], write: impl FnMut(&mut Vec<u8>, &T)) {
    out.push(b'{');
    write_joined(out, items, b",", write);
    out.push(b'}');
}

/// Appends `{1,2}`.
pub(crate) fn write_ints(out: &mut Vec<u8>, ints: &[i64]) {
    write_braced(out, ints, |out, &int| write_int(out, int));
}

/// Appends `{{0,1},{2}}`.
pub(crate) fn write_int_lists(out: &mut Vec<u8>, lists: &[Vec<i64>]) {
    write_braced(out, lists, |out, list| write_ints(out, list));
}

/// Appends `true` or `false`.
pub(crate) fn write_bool(out: &mut Vec<u8>, flag: bool) {
    out.extend_from_slice(if flag { b"true" } else { b"false" });
}

/// Appends `{true,false}`.
pub(crate) fn write_bools(out: &mut Vec<u8>, flags: &[bool]) {
    write_braced(out, flags, |out, &flag| write_bool(out, flag));
}

/// Appends `{[0:2], [1:4:3]}`; strides stand everywhere or, if they are all 1, nowhere.
pub(crate) fn write_slice(out: &mut Vec<u8>, ranges: &[SliceRange]) {
    let has_strides = ranges.iter().any(|range| range.stride != 1);
    out.push(b'{');
    write_joined(out, ranges, b", ", |out, range| {
        out.push(b'[');
        write_int(out, range.start);
        out.push(b':');
        write_int(out, range.limit);
        if has_strides {
            out.push(b':');
            write_int(out, range.stride);
        }
        out.push(b']');
    });
    out.push(b'}');
}
