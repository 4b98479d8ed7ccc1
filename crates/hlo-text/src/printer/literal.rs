//! Literals: XLA's one-line form, with or without shapes.

use smallvec::SmallVec;

use super::PrintOptions;
use super::shape::write_shape;
use crate::ir::{ElementClass, ElementType, Elements, Literal, LiteralData, Module, Shape, ShapeId};
use crate::number::write_float;

/// Arrays of more elements are printed as `{...}` unless all constants are wanted.
const MAX_ELEMENTS_IN_FULL: usize = 10;

/// Constants count as essential up to this number of elements (if they are integers).
const MAX_ESSENTIAL_ELEMENTS: usize = 500_000;

/// Comments say which index a brace stands for in arrays of more dimensions than this.
const MAX_UNCOMMENTED_RANK: usize = 3;

/// Appends what stands in `constant(...)`.
pub(crate) fn write_literal(out: &mut Vec<u8>, module: &Module, literal: &Literal, options: &PrintOptions) {
    if options.print_only_essential_constants {
        return write_essential(out, module, literal);
    }
    if options.leaves_out(literal) {
        write_elided(out);
    } else {
        write_tree(out, module, literal, false);
    }
}

impl PrintOptions {
    /// Whether `{...}` is printed in the place of a literal's values.
    pub fn leaves_out(&self, literal: &Literal) -> bool {
        let is_short = literal.elements().is_some_and(|elements| elements.len() <= MAX_ELEMENTS_IN_FULL);
        !is_short && !self.print_large_constants && !self.print_only_essential_constants
    }
}

/// Appends a literal with the shapes and layouts of its arrays, as `literal=` has it: in full, whatever its size.
pub(crate) fn write_typed_literal(out: &mut Vec<u8>, module: &Module, literal: &Literal) {
    write_tree(out, module, literal, true);
}

fn write_elided(out: &mut Vec<u8>) {
    out.extend_from_slice(b"{...}");
}

/// Appends what makes a difference to what a program computes, at a bearable length.
fn write_essential(out: &mut Vec<u8>, module: &Module, literal: &Literal) {
    if literal.is_all(0) {
        out.push(b'0');
    } else if literal.is_all(1) {
        out.push(b'1');
    } else if all_integers(module, literal)
        && literal.elements().is_none_or(|elements| elements.len() <= MAX_ESSENTIAL_ELEMENTS)
    {
        write_tree(out, module, literal, false);
    } else {
        write_elided(out);
    }
}

/// Whether all arrays in the literal are of integers; `pred` is none.
fn all_integers(module: &Module, literal: &Literal) -> bool {
    let mut open: SmallVec<[ShapeId; 8]> = SmallVec::from_slice(&[literal.shape]);
    while let Some(shape) = open.pop() {
        match module.shape(shape) {
            Shape::Tuple(elements) => open.extend_from_slice(elements),
            other => {
                if !other.element_type().is_some_and(ElementType::is_integer) {
                    return false;
                }
            }
        }
    }
    true
}

/// Appends a literal, tuples in parentheses; before each array its shape if `with_shapes`.
fn write_tree(out: &mut Vec<u8>, module: &Module, literal: &Literal, with_shapes: bool) {
    // The elements that are still to come of every open tuple.
    let mut open: SmallVec<[std::slice::Iter<'_, Literal>; 4]> = SmallVec::new();
    let mut next = Some(literal);
    loop {
        if let Some(literal) = next {
            if let LiteralData::Tuple(elements) = &literal.data {
                out.extend_from_slice(b"( ");
                let mut elements = elements.iter();
                next = elements.next();
                open.push(elements);
                if next.is_some() {
                    continue;
                }
            } else {
                if with_shapes {
                    write_shape(out, module, literal.shape, true);
                    out.push(b' ');
                }
                write_array(out, module, literal);
            }
        }
        loop {
            let Some(siblings) = open.last_mut() else { return };
            next = siblings.next();
            if next.is_some() {
                out.extend_from_slice(b", ");
                break;
            }
            out.extend_from_slice(b" )");
            open.pop();
        }
    }
}

fn write_array(out: &mut Vec<u8>, module: &Module, literal: &Literal) {
    match (&literal.data, module.shape(literal.shape)) {
        (LiteralData::Dense(elements), Shape::Array(array)) => write_dense(out, elements, &array.dimensions),
        _ => write_elided(out),
    }
}

/// Appends the elements in braces. Sizes and number of elements agree.
fn write_dense(out: &mut Vec<u8>, elements: &Elements, dimensions: &[i64]) {
    let element_type = elements.element_type();
    match (element_type, element_type.class()) {
        (ElementType::Pred, _) if dimensions.is_empty() => {
            out.extend_from_slice(if elements.bool(0) == Some(true) { b"true" } else { b"false" });
        }
        (_, ElementClass::Pred) => write_rows(out, elements, dimensions, |out, element| {
            out.push(if element.first() == Some(&0) { b'0' } else { b'1' });
        }),
        (_, ElementClass::Signed) => write_rows(out, elements, dimensions, |out, element| {
            let unused = 64 - 8 * element.len() as u32;
            let value = (read(element) as i64) << unused >> unused;
            out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
        }),
        (_, ElementClass::Unsigned) => write_rows(out, elements, dimensions, |out, element| {
            out.extend_from_slice(itoa::Buffer::new().format(read(element)).as_bytes());
        }),
        (ElementType::F32, _) => write_rows(out, elements, dimensions, |out, element| {
            write_float(out, ElementType::F32, read(element));
        }),
        _ => match element_type.complex_component() {
            Some(part) => write_rows(out, elements, dimensions, |out, element| {
                let (real, imaginary) = element.split_at(element.len() / 2);
                out.push(b'(');
                write_float(out, part, read(real));
                out.extend_from_slice(b", ");
                write_float(out, part, read(imaginary));
                out.push(b')');
            }),
            None => write_rows(out, elements, dimensions, |out, element| {
                write_float(out, element_type, read(element));
            }),
        },
    }
}

fn read(bytes: &[u8]) -> u64 {
    match *bytes {
        [byte] => u64::from(byte),
        [a, b] => u64::from(u16::from_le_bytes([a, b])),
        [a, b, c, d] => u64::from(u32::from_le_bytes([a, b, c, d])),
        _ => bytes.first_chunk().copied().map_or(0, u64::from_le_bytes),
    }
}

/// Appends elements row by row.
fn write_rows(
    out: &mut Vec<u8>,
    elements: &Elements,
    dimensions: &[i64],
    mut write_element: impl FnMut(&mut Vec<u8>, &[u8]),
) {
    let Some((&row_size, outer)) = dimensions.split_last() else {
        return elements.element_bytes(0).into_iter().for_each(|element| write_element(out, element));
    };
    // Negative ones are unbounded.
    let row_size = usize::try_from(row_size).unwrap_or(0);
    let (open, close): (&[u8], &[u8]) =
        if !outer.is_empty() && row_size > 1 { (b"{ ", b" }") } else { (b"{", b"}") };
    let mut first = 0;
    let mut write_row = |out: &mut Vec<u8>| {
        out.extend_from_slice(open);
        let mut is_first = true;
        elements.for_each_bytes(first..first.saturating_add(row_size), |element| {
            if !is_first {
                out.extend_from_slice(b", ");
            }
            is_first = false;
            write_element(out, element);
        });
        first = first.saturating_add(row_size);
        out.extend_from_slice(close);
    };
    // The index within every open brace outside the rows.
    let mut indices: SmallVec<[i64; 8]> = SmallVec::new();
    loop {
        // Down to a row, or to a dimension that is empty.
        while indices.len() < outer.len() {
            let depth = indices.len();
            let is_empty = outer[depth] <= 0;
            out.push(b'{');
            let comment = indices.last().filter(|_| dimensions.len() > MAX_UNCOMMENTED_RANK);
            if let Some(index) = comment {
                out.extend_from_slice(b" /*i");
                out.extend_from_slice(itoa::Buffer::new().format(depth - 1).as_bytes());
                out.push(b'=');
                out.extend_from_slice(itoa::Buffer::new().format(*index).as_bytes());
                out.extend_from_slice(b"*/");
            }
            if !(is_empty && comment.is_some()) {
                out.push(b' ');
            }
            indices.push(0);
            if is_empty {
                break;
            }
        }
        if indices.len().checked_sub(1).is_none_or(|depth| outer[depth] > 0) {
            write_row(out);
        }
        // Up to a dimension that goes on.
        loop {
            let Some(index) = indices.last_mut() else { return };
            *index += 1;
            let index = *index;
            if index < outer[indices.len() - 1] {
                out.extend_from_slice(b", ");
                break;
            }
            out.extend_from_slice(b" }");
            indices.pop();
        }
    }
}
