//! Moving elements about: slices, transposes, look-ups.

use hlo_text::ir::ElementType;

use super::elementwise::reducer;
use super::generator::{Generator, Value};
use super::types::{Type, list};

pub(super) fn reshape(g: &mut Generator<'_, '_>) {
    let element = g.element();
    let ty = g.array_of_rank(element, 1);
    let x = g.value(&ty);
    let count: usize = ty.sizes().iter().product();
    let sizes = match g.choices.below(3) {
        0 => vec![count],
        1 => vec![1, count],
        _ => {
            let factor = [4, 2, 1].into_iter().find(|factor| count.is_multiple_of(*factor)).unwrap_or(1);
            vec![factor, count / factor]
        }
    };
    let flat = g.add(Type::Array(element, sizes), "reshape", &[&x], "");
    if g.choices.one_in(2) {
        g.add(ty, "reshape", &[&flat], "");
    }
}

/// A transpose, perhaps with a dynamic slice of it.
pub(super) fn transpose(g: &mut Generator<'_, '_>) {
    let element = g.element();
    let ty = g.array_of_rank(element, 2);
    let mut permutation: Vec<usize> = (0..ty.rank()).collect();
    let by = 1 + g.choices.below(ty.rank());
    permutation.rotate_left(by % ty.rank());
    let sizes: Vec<usize> = permutation.iter().map(|&from| ty.sizes()[from]).collect();
    let x = g.value(&ty);
    let result = Type::Array(element, sizes);
    let moved = g.add(result, "transpose", &[&x], &format!("dimensions={{{}}}", list(&permutation)));
    if g.choices.one_in(2) {
        dynamic_slice_of(g, &moved);
    }
}

fn starts(g: &mut Generator<'_, '_>, rank: usize) -> Vec<Value> {
    let index = g.choices.pick(&[ElementType::S32, ElementType::U32]);
    (0..rank).map(|_| g.value(&Type::scalar(index))).collect()
}

fn dynamic_slice_of(g: &mut Generator<'_, '_>, x: &Value) -> Value {
    let Some(element) = x.ty.element() else { return x.clone() };
    let sizes: Vec<usize> = x.ty.sizes().iter().map(|&size| 1 + g.choices.below(size)).collect();
    let starts = starts(g, sizes.len());
    let operands: Vec<&Value> = std::iter::once(x).chain(&starts).collect();
    let attributes = format!("dynamic_slice_sizes={{{}}}", list(&sizes));
    g.add(Type::Array(element, sizes), "dynamic-slice", &operands, &attributes)
}

pub(super) fn slices(g: &mut Generator<'_, '_>) {
    let element = g.element();
    let ty = g.array_of_rank(element, 1);
    let x = g.value(&ty);
    match g.choices.below(4) {
        0 => {
            dynamic_slice_of(g, &x);
        }
        1 => {
            let halves: Vec<usize> = ty.sizes().iter().map(|size| size.div_ceil(2)).collect();
            let ranges: Vec<String> = halves.iter().map(|half| format!("[0:{half}]")).collect();
            let attributes = format!("slice={{{}}}", ranges.join(", "));
            let half = g.add(Type::Array(element, halves.clone()), "slice", &[&x], &attributes);
            let zero = g.value(&Type::scalar(element));
            let padding: Vec<String> =
                ty.sizes().iter().zip(&halves).map(|(size, half)| format!("0_{}", size - half)).collect();
            g.add(ty, "pad", &[&half, &zero], &format!("padding={}", padding.join("x")));
        }
        2 => {
            let part = Type::Array(element, ty.sizes().iter().map(|size| size.div_ceil(2)).collect());
            let part = g.value(&part);
            let starts = starts(g, ty.rank());
            let operands: Vec<&Value> = [&x, &part].into_iter().chain(&starts).collect();
            g.add(ty, "dynamic-update-slice", &operands, "");
        }
        _ => {
            let y = g.value(&ty);
            let mut sizes = ty.sizes().to_vec();
            sizes[0] *= 2;
            g.add(Type::Array(element, sizes), "concatenate", &[&x, &y], "dimensions={0}");
            g.add(ty, "reverse", &[&x], "dimensions={0}");
        }
    }
}

pub(super) fn broadcasts(g: &mut Generator<'_, '_>) {
    match g.choices.below(3) {
        0 => {
            let element = g.element_of(|element| element.is_float() || element.is_integer());
            let ty = g.array_of_rank(element, 1);
            let along = g.choices.below(ty.rank());
            g.add(ty, "iota", &[], &format!("iota_dimension={along}"));
        }
        1 => {
            let element = g.element();
            let ty = g.array_of_rank(element, 2);
            let row = g.value(&Type::Array(element, vec![ty.sizes()[ty.rank() - 1]]));
            let attributes = format!("dimensions={{{}}}", ty.rank() - 1);
            g.add(ty, "broadcast", &[&row], &attributes);
        }
        _ => {
            let element = g.element();
            let ty = g.array_of_rank(element, 1);
            let x = g.value(&ty);
            g.add(Type::scalar(ElementType::S32), "get-dimension-size", &[&x], "dimensions={0}");
        }
    }
}

/// Steps from an entry of a table to an offset; `SCALE` is the last.
const RESHAPE: usize = 0;
const CONVERT: usize = 1;
const CLAMP: usize = 2;
const SCALE: usize = 3;

/// An entry of a constant table, and what front ends do with it to find a device's place.
pub(super) fn table_entry(g: &mut Generator<'_, '_>) {
    let element = g.choices.pick(&[ElementType::S32, ElementType::U32, ElementType::S64]);
    let step = 1 + g.choices.below(3);
    let length = g.choices.pick(&[4, 8]);
    let entries: Vec<usize> = (0..length).map(|entry| entry * step).collect();
    let table = Type::Array(element, vec![length]);
    let table = if g.choices.one_in(6) {
        g.value(&table)
    } else {
        g.constant_array(&table, &format!("{{{}}}", list(&entries)))
    };
    let index = g.value(&Type::scalar(ElementType::S32));
    let one = Type::Array(element, vec![1]);
    let mut entry = if g.choices.one_in(5) {
        g.add(one, "slice", &[&table], "slice={[1:2]}")
    } else {
        g.add(one, "dynamic-slice", &[&table, &index], "dynamic_slice_sizes={1}")
    };
    // Half of the time what front ends write, otherwise anything.
    let usual: &[usize] = match (g.choices.below(4), element) {
        (0, ElementType::U32) => &[CONVERT, RESHAPE, SCALE],
        (0, _) => &[RESHAPE, SCALE],
        (1, _) => &[RESHAPE, CLAMP, SCALE],
        _ => &[],
    };
    let others = if usual.is_empty() { 1 + g.choices.below(4) } else { 0 };
    for step in 0..usual.len() + others {
        let ty = entry.ty.clone();
        let element = ty.element().unwrap_or(element);
        let kind = usual.get(step).copied().unwrap_or_else(|| g.choices.below(SCALE + 1));
        entry = match kind {
            RESHAPE => {
                let to = if ty.rank() == 0 { vec![1] } else { Vec::new() };
                g.add(Type::Array(element, to), "reshape", &[&entry], "")
            }
            CONVERT => g.add(ty.of(ElementType::S32), "convert", &[&entry], ""),
            CLAMP => {
                let low = g.constant(element, "0");
                let high = g.constant(element, &(step * (length - 1)).to_string());
                g.add(ty, "clamp", &[&low, &entry, &high], "")
            }
            _ => {
                let opcode = g.choices.pick(&["multiply", "add"]);
                let factor = if ty.rank() == 0 { g.constant(element, "4") } else { g.new_value(&ty) };
                if g.choices.one_in(2) {
                    g.add(ty, opcode, &[&factor, &entry], "")
                } else {
                    g.add(ty, opcode, &[&entry, &factor], "")
                }
            }
        };
    }
}

/// Rows of a table by number.
pub(super) fn row_look_up(g: &mut Generator<'_, '_>) {
    let element = g.element();
    let table = Type::Array(element, vec![g.choices.pick(&[8, 4, 6]), 2]);
    let mut table = if g.choices.one_in(4) { g.value(&table) } else { g.new_value(&table) };
    if g.choices.one_in(4) {
        table = g.add(table.ty.of(ElementType::F32), "convert", &[&table], "");
        if element.complex_component().is_some() {
            return; // A complex table stays complex; the conversion above drops its imaginary part.
        }
    }
    let element = table.ty.element().unwrap_or(element);
    let index = g.choices.pick(&[ElementType::S32, ElementType::U8, ElementType::S64]);
    let ids = g.value(&Type::Array(index, vec![4]));
    let sorted = g.choices.pick(&["", ", indices_are_sorted=true"]);
    let attributes = format!(
        "offset_dims={{1}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1,2}}{sorted}"
    );
    g.add(Type::Array(element, vec![4, 2]), "gather", &[&table, &ids], &attributes);
}

/// Rows added into a table.
pub(super) fn scatter(g: &mut Generator<'_, '_>) {
    let element = g.element_of(|element| element.is_float() || element.is_integer());
    let table = g.value(&Type::Array(element, vec![8, 2]));
    let ids = g.value(&Type::Array(ElementType::S32, vec![4]));
    let rows = g.value(&Type::Array(element, vec![4, 2]));
    let opcode = g.choices.pick(&["add", "maximum"]);
    let combine = reducer(g, element, opcode);
    let attributes = format!(
        "update_window_dims={{1}}, inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply={combine}"
    );
    g.add(table.ty.clone(), "scatter", &[&table, &ids, &rows], &attributes);
}
