//! Shapes and layouts as text: `f32[2,<=3]{1,0:T(8,128)}`, `(s32[], token[])`, `b(f32[4]{0})`.

use smallvec::SmallVec;

use super::pieces::RenderedTexts;
use super::write_int;
use crate::ir::{ArrayShape, ElementType, Layout, Module, Shape, ShapeId, TileDimension, UNBOUNDED};

/// Every so many elements of a tuple shape a comment tells the index, whatever the print options.
const INDEX_COMMENT_INTERVAL: usize = 5;

/// A shape as text, for messages.
pub(crate) fn shape_text(module: &Module, id: ShapeId, with_layout: bool) -> String {
    let mut out = Vec::new();
    write_shape(&mut out, module, id, with_layout);
    String::from_utf8_lossy(&out).into_owned()
}

/// Appends a shape, layouts of arrays included if `with_layout`.
pub(crate) fn write_shape(out: &mut Vec<u8>, module: &Module, id: ShapeId, with_layout: bool) {
    // Shapes nest as deep as tuples of tuples in the text, and deeper when they were inferred: no recursion.
    let mut open: SmallVec<[(&[ShapeId], usize); 8]> = SmallVec::new();
    let mut next = Some(id);
    loop {
        if let Some(id) = next.take() {
            match module.shape(id) {
                Shape::Array(array) => write_array(out, array, with_layout),
                Shape::Token => out.extend_from_slice(b"token[]"),
                Shape::Opaque => out.extend_from_slice(b"opaque[]"),
                Shape::Tuple(elements) => {
                    out.push(b'(');
                    open.push((elements, 0));
                }
                Shape::Buffer(element) => {
                    out.extend_from_slice(b"b(");
                    open.push((std::slice::from_ref(element), 0));
                }
            }
        }
        let Some((elements, index)) = open.last_mut() else { return };
        match elements.get(*index) {
            Some(&element) => {
                write_separator(out, *index, INDEX_COMMENT_INTERVAL);
                *index += 1;
                next = Some(element);
            }
            None => {
                out.push(b')');
                open.pop();
            }
        }
    }
}

/// Appends what stands before element `index` of a list with index comments; `interval` 0 means no comments.
#[inline(always)]
pub(crate) fn write_separator(out: &mut Vec<u8>, index: usize, interval: usize) {
    if index == 0 {
        return;
    }
    out.extend_from_slice(b", ");
    // Most lists are shorter than the interval; a division takes long.
    if interval != 0 && index >= interval {
        write_index_comment(out, index, interval);
    }
}

#[cold]
fn write_index_comment(out: &mut Vec<u8>, index: usize, interval: usize) {
    if index.is_multiple_of(interval) {
        out.extend_from_slice(b"/*index=");
        write_int(out, index as i64);
        out.extend_from_slice(b"*/");
    }
}

/// An array shape as text, for messages.
pub(crate) fn array_text(array: &ArrayShape, with_layout: bool) -> String {
    let mut out = Vec::new();
    write_array(&mut out, array, with_layout);
    String::from_utf8_lossy(&out).into_owned()
}

fn write_array(out: &mut Vec<u8>, array: &ArrayShape, with_layout: bool) {
    out.extend_from_slice(array.element_type.name().as_bytes());
    out.push(b'[');
    for (index, &size) in array.dimensions.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        if size == UNBOUNDED {
            out.push(b'?');
            continue;
        }
        if array.dynamic.get(index) == Some(&true) {
            out.extend_from_slice(b"<=");
        }
        write_int(out, size);
    }
    out.push(b']');
    if let Some(layout) = array.layout.as_ref().filter(|_| with_layout) {
        let start = out.len();
        write_layout(out, layout);
        // A scalar shows its layout only if there is something in it.
        if array.dimensions.is_empty() && &out[start..] == b"{}" {
            out.truncate(start);
        }
    }
}

/// Appends a layout with its braces.
pub(crate) fn write_layout(out: &mut Vec<u8>, layout: &Layout) {
    out.push(b'{');
    write_ints(out, &layout.minor_to_major);
    let fields = out.len();
    if !layout.tiles.is_empty() {
        out.extend_from_slice(b":T");
        for tile in &layout.tiles {
            out.push(b'(');
            for (index, dimension) in tile.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                match *dimension {
                    TileDimension::Size(size) => write_int(out, size),
                    TileDimension::Combine => out.push(b'*'),
                }
            }
            out.push(b')');
        }
    }
    let number = |out: &mut Vec<u8>, mark: &[u8], number: i64| {
        write_mark(out, fields, mark);
        write_int(out, number);
        out.push(b')');
    };
    let element_type = |out: &mut Vec<u8>, mark: &[u8], element_type: Option<ElementType>| {
        write_mark(out, fields, mark);
        out.extend_from_slice(element_type.map_or("invalid", ElementType::name).as_bytes());
        out.push(b')');
    };
    if layout.tail_padding_alignment > 1 {
        number(out, b"L(", layout.tail_padding_alignment);
    }
    if let Some(index_type) = layout.index_type {
        element_type(out, b"#(", index_type);
    }
    if let Some(pointer_type) = layout.pointer_type {
        element_type(out, b"*(", pointer_type);
    }
    if layout.element_size_in_bits != 0 {
        number(out, b"E(", layout.element_size_in_bits);
    }
    if layout.memory_space != 0 {
        number(out, b"S(", layout.memory_space);
    }
    if !layout.split_configs.is_empty() {
        write_mark(out, fields, b"SC");
        for split in &layout.split_configs {
            out.push(b'(');
            write_int(out, split.dimension);
            out.push(b':');
            write_ints(out, &split.indices);
            out.push(b')');
        }
    }
    if layout.dynamic_shape_metadata_prefix_bytes > 0 {
        number(out, b"M(", layout.dynamic_shape_metadata_prefix_bytes);
    }
    out.push(b'}');
}

/// Appends the mark of a layout field, after a colon if it is the first field; `fields` is where they start.
fn write_mark(out: &mut Vec<u8>, fields: usize, mark: &[u8]) {
    if out.len() == fields {
        out.push(b':');
    }
    out.extend_from_slice(mark);
}

fn write_ints(out: &mut Vec<u8>, numbers: &[i64]) {
    for (index, &number) in numbers.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write_int(out, number);
    }
}

/// The texts of a module's shapes.
#[derive(Default)]
pub(super) struct ShapeTexts {
    with_layout: bool,
    /// As instructions show them, with a blank behind.
    of_instructions: RenderedTexts,
    /// As signatures show them.
    of_signatures: RenderedTexts,
}

impl ShapeTexts {
    /// Keeps nothing; `with_layout` is for instructions.
    pub(super) fn new(with_layout: bool) -> Self {
        Self { with_layout, ..Self::default() }
    }

    /// Keeps the texts of all shapes of `module`.
    pub(super) fn keeping(mut self, module: &Module) -> Self {
        let count = module.shapes().len();
        self.of_instructions = RenderedTexts::with_count(count);
        self.of_signatures = RenderedTexts::with_count(count);
        self
    }

    /// Appends the shape of an instruction, and a blank.
    #[inline]
    pub(super) fn write_before(&mut self, out: &mut Vec<u8>, module: &Module, id: ShapeId) {
        let with_layout = self.with_layout;
        self.of_instructions.write(out, id.index(), |out| {
            write_shape(out, module, id, with_layout);
            out.push(b' ');
        });
    }

    /// Appends a shape without layouts.
    #[inline]
    pub(super) fn write_for_signature(&mut self, out: &mut Vec<u8>, module: &Module, id: ShapeId) {
        self.of_signatures.write(out, id.index(), |out| write_shape(out, module, id, false));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::SplitConfig;

    fn text(module: &Module, id: ShapeId, with_layout: bool) -> String {
        let mut out = Vec::new();
        write_shape(&mut out, module, id, with_layout);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn arrays() {
        let mut module = Module::new("m");
        let mut array = |dimensions: &[i64], dynamic: &[bool], change: &dyn Fn(&mut Layout)| {
            let mut shape = ArrayShape::new(ElementType::F32, dimensions.to_vec());
            shape.dynamic = dynamic.to_vec();
            change(shape.layout.as_mut().unwrap());
            module.shapes_mut().intern(Shape::Array(shape))
        };
        let no = |_: &mut Layout| {};
        let cases = [
            (array(&[], &[], &no), "f32[]", "f32[]"),
            (array(&[2, 30], &[false; 2], &no), "f32[2,30]", "f32[2,30]{1,0}"),
            (array(&[UNBOUNDED, 4], &[true; 2], &no), "f32[?,<=4]", "f32[?,<=4]{1,0}"),
            (array(&[], &[], &|l| l.memory_space = 2), "f32[]", "f32[]{:S(2)}"),
            (
                array(&[16, 256], &[false; 2], &|l| {
                    l.tiles = vec![
                        vec![TileDimension::Size(8), TileDimension::Size(128)],
                        vec![TileDimension::Combine, TileDimension::Size(1)],
                        vec![],
                    ];
                    l.tail_padding_alignment = 4;
                    l.index_type = Some(Some(ElementType::U8));
                    l.pointer_type = Some(None);
                    l.element_size_in_bits = -4;
                    l.memory_space = 1;
                    l.split_configs = vec![
                        SplitConfig { dimension: 0, indices: vec![1, 2] },
                        SplitConfig { dimension: 1, indices: vec![] },
                    ];
                    l.dynamic_shape_metadata_prefix_bytes = 8;
                }),
                "f32[16,256]",
                "f32[16,256]{1,0:T(8,128)(*,1)()L(4)#(u8)*(invalid)E(-4)S(1)SC(0:1,2)(1:)M(8)}",
            ),
            (
                array(&[2], &[false], &|l| {
                    l.split_configs = vec![SplitConfig { dimension: 0, indices: vec![1] }]
                }),
                "f32[2]",
                "f32[2]{0:SC(0:1)}",
            ),
        ];
        for (id, without, with) in cases {
            assert_eq!(text(&module, id, false), without);
            assert_eq!(text(&module, id, true), with);
        }
    }

    #[test]
    fn array_without_layout() {
        let mut module = Module::new("m");
        let shape = ArrayShape { layout: None, ..ArrayShape::new(ElementType::S32, vec![3]) };
        let id = module.shapes_mut().intern(Shape::Array(shape));
        assert_eq!(text(&module, id, true), "s32[3]");
    }

    #[test]
    fn tuples_and_buffers() {
        let mut module = Module::new("m");
        let shapes = module.shapes_mut();
        let array = shapes.array(ElementType::F32, &[2]);
        let token = shapes.intern(Shape::Token);
        let opaque = shapes.intern(Shape::Opaque);
        let empty = shapes.intern(Shape::Tuple(vec![]));
        let buffer = shapes.intern(Shape::Buffer(array));
        let inner = shapes.intern(Shape::Tuple(vec![array, empty]));
        let long = shapes.intern(Shape::Tuple(vec![token, opaque, buffer, inner, array, array, token]));
        assert_eq!(text(&module, empty, true), "()");
        assert_eq!(
            text(&module, long, true),
            "(token[], opaque[], b(f32[2]{0}), (f32[2]{0}, ()), f32[2]{0}, /*index=5*/f32[2]{0}, token[])"
        );
        assert_eq!(
            text(&module, long, false),
            "(token[], opaque[], b(f32[2]), (f32[2], ()), f32[2], /*index=5*/f32[2], token[])"
        );
    }

    #[test]
    fn deep_tuples_need_no_stack() {
        let mut module = Module::new("m");
        let shapes = module.shapes_mut();
        let mut id = shapes.intern(Shape::Token);
        for _ in 0..100_000 {
            id = shapes.intern(Shape::Tuple(vec![id]));
        }
        let text = text(&module, id, true);
        assert_eq!(text.len(), 2 * 100_000 + "token[]".len());
    }

    #[test]
    fn kept_text_is_the_same() {
        let mut module = Module::new("m");
        let array = module.shapes_mut().array(ElementType::F32, &[2]);
        let tuple = module.shapes_mut().intern(Shape::Tuple(vec![array, array]));
        for mut texts in [ShapeTexts::new(true), ShapeTexts::new(true).keeping(&module)] {
            for id in [tuple, array, array, tuple] {
                let mut out = b"x".to_vec();
                texts.write_before(&mut out, &module, id);
                texts.write_for_signature(&mut out, &module, id);
                let expected = format!("x{} {}", text(&module, id, true), text(&module, id, false));
                assert_eq!(out, expected.into_bytes());
            }
        }
    }
}
