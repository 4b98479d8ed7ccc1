//! Facts about element types and shapes that the rules share: which type wins, when shapes go together, how a
//! shape is named in a message.

use crate::ir::{ArrayShape, ElementClass, ElementType, Layout, Shape, ShapeId, ShapeTable, UNBOUNDED};

/// How strictly [`compatible`] compares element types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TypeMatch {
    /// They must be equal.
    Exact,
    /// Two floating-point types of any widths count as equal.
    AnyFloat,
    /// They don't matter.
    Ignored,
}

/// One dimension of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dimension {
    /// In elements; the bound of a bounded dimension, [`UNBOUNDED`] for `?`.
    pub(super) size: i64,
    /// Whether it is bounded or unbounded rather than static.
    pub(super) dynamic: bool,
}

impl Dimension {
    /// `size` elements, always.
    pub(super) fn fixed(size: i64) -> Self {
        Self { size, dynamic: false }
    }

    /// Whether this is `?`.
    pub(super) fn is_unbounded(self) -> bool {
        self.size == UNBOUNDED
    }
}

impl std::fmt::Display for Dimension {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.is_unbounded(), self.dynamic) {
            (true, _) => f.write_str("?"),
            (false, true) => write!(f, "<={}", self.size),
            (false, false) => write!(f, "{}", self.size),
        }
    }
}

/// The dimension `index` of `array`.
pub(super) fn dimension(array: &ArrayShape, index: usize) -> Dimension {
    Dimension { size: array.dimensions[index], dynamic: array.dynamic[index] }
}

/// All dimensions of `array`.
pub(super) fn dimensions(array: &ArrayShape) -> impl Iterator<Item = Dimension> + '_ {
    (0..array.rank()).map(|index| dimension(array, index))
}

/// A new array with the default layout.
pub(super) fn make(element_type: ElementType, dims: impl IntoIterator<Item = Dimension>) -> ArrayShape {
    let mut array = ArrayShape { element_type, dimensions: Vec::new(), dynamic: Vec::new(), layout: None };
    for dim in dims {
        array.dimensions.push(dim.size);
        array.dynamic.push(dim.dynamic || dim.is_unbounded());
    }
    array.layout = Some(Layout::default_for_rank(array.rank()));
    array
}

/// A scalar.
pub(super) fn scalar(element_type: ElementType) -> ArrayShape {
    make(element_type, [])
}

/// `array` with another element type. The element size of the layout (`E(n)`) only survives in sub-byte types.
pub(super) fn with_type(mut array: ArrayShape, element_type: ElementType) -> ArrayShape {
    array.element_type = element_type;
    if let Some(layout) = &mut array.layout
        && (element_type.bits() >= 8 || element_type == ElementType::Pred)
    {
        layout.element_size_in_bits = 0;
    }
    array
}

/// Whether the sizes `a` and `b` go together: equal, or one of them unbounded.
pub(super) fn sizes_agree(a: i64, b: i64) -> bool {
    a == b || a == UNBOUNDED || b == UNBOUNDED
}

/// Whether the arrays have the same rank and sizes that go together.
pub(super) fn same_dimensions(a: &ArrayShape, b: &ArrayShape) -> bool {
    a.rank() == b.rank() && a.dimensions.iter().zip(&b.dimensions).all(|(&x, &y)| sizes_agree(x, y))
}

/// Whether the types are the same, or both floating point.
pub(super) fn same_type_or_floats(a: ElementType, b: ElementType) -> bool {
    a == b || a.is_float() && b.is_float()
}

fn types_match(a: ElementType, b: ElementType, types: TypeMatch) -> bool {
    match types {
        TypeMatch::Exact => a == b,
        TypeMatch::AnyFloat => same_type_or_floats(a, b),
        TypeMatch::Ignored => true,
    }
}

/// [`compatible`] for arrays.
pub(super) fn arrays_compatible(a: &ArrayShape, b: &ArrayShape, types: TypeMatch) -> bool {
    types_match(a.element_type, b.element_type, types) && same_dimensions(a, b)
}

/// XLA's compatibility: the same tuple structure, and at the leaves the same kind, element types as `types` says,
/// and sizes that go together. Layouts and dynamic marks don't matter.
pub(super) fn compatible(shapes: &ShapeTable, a: ShapeId, b: ShapeId, types: TypeMatch) -> bool {
    let mut pairs = smallvec::SmallVec::<[(ShapeId, ShapeId); 8]>::new();
    pairs.push((a, b));
    while let Some((a, b)) = pairs.pop() {
        if a == b {
            continue;
        }
        match (shapes.get(a), shapes.get(b)) {
            (Shape::Array(x), Shape::Array(y)) if arrays_compatible(x, y, types) => {}
            (Shape::Tuple(x), Shape::Tuple(y)) if x.len() == y.len() => {
                pairs.extend(x.iter().copied().zip(y.iter().copied()));
            }
            (Shape::Token, Shape::Token) | (Shape::Opaque, Shape::Opaque) => {}
            (Shape::Buffer(x), Shape::Buffer(y)) => pairs.push((*x, *y)),
            _ => return false,
        }
    }
    true
}

/// Exponent range and significand width of a type, -1 for what is not floating point: the power of two above its
/// largest finite value, and its significand bits with the hidden one (`std::numeric_limits`' `max_exponent` and
/// `digits` in XLA).
fn float_format(element_type: ElementType) -> (i32, i32) {
    match element_type {
        ElementType::F64 | ElementType::C128 => (1024, 53),
        ElementType::F32 | ElementType::C64 => (128, 24),
        ElementType::Bf16 => (128, 8),
        ElementType::F8E8M0FNU => (128, 1),
        ElementType::F16 => (16, 11),
        ElementType::F8E5M2 | ElementType::F8E5M2FNUZ => (16, 3),
        ElementType::F8E4M3FN => (9, 4),
        ElementType::F8E4M3 | ElementType::F8E4M3FNUZ => (8, 4),
        ElementType::F8E4M3B11FNUZ => (5, 4),
        ElementType::F6E3M2FN => (5, 3),
        ElementType::F8E3M4 => (4, 5),
        ElementType::F6E2M3FN => (3, 4),
        ElementType::F4E2M1FN => (3, 2),
        ElementType::Pred
        | ElementType::S1
        | ElementType::S2
        | ElementType::S4
        | ElementType::S8
        | ElementType::S16
        | ElementType::S32
        | ElementType::S64
        | ElementType::U1
        | ElementType::U2
        | ElementType::U4
        | ElementType::U8
        | ElementType::U16
        | ElementType::U32
        | ElementType::U64
        | ElementType::Token
        | ElementType::Opaque => (-1, -1),
    }
}

/// The type of higher precision: complex before real, then the wider exponent range, the wider significand, more
/// bits, signed before unsigned. `None` where XLA has no answer (`f8e5m2` and `f8e5m2fnuz`).
pub(super) fn higher_precision(a: ElementType, b: ElementType) -> Option<ElementType> {
    let rank = |element_type: ElementType| {
        let (exponent, significand) = float_format(element_type);
        let component = element_type.complex_component();
        let bits = match element_type {
            ElementType::Pred => 1,
            _ => component.unwrap_or(element_type).bits(),
        };
        (component.is_some(), exponent, significand, bits, element_type.class() == ElementClass::Signed)
    };
    match rank(a).cmp(&rank(b)) {
        std::cmp::Ordering::Greater => Some(a),
        std::cmp::Ordering::Less => Some(b),
        std::cmp::Ordering::Equal => (a == b).then_some(a),
    }
}

/// Whether values of the type are floating point or complex.
pub(super) fn is_float_or_complex(element_type: ElementType) -> bool {
    matches!(element_type.class(), ElementClass::Float | ElementClass::Complex)
}

/// Bytes after which [`shape_text`] stops.
const SHAPE_TEXT_LIMIT: usize = 200;

/// The shape as text without layouts, cut short when it is long.
pub(crate) fn shape_text(shapes: &ShapeTable, id: ShapeId) -> String {
    enum Piece {
        Shape(ShapeId),
        Text(&'static str),
    }
    let mut out = String::new();
    let mut pieces = vec![Piece::Shape(id)];
    while let Some(piece) = pieces.pop() {
        if out.len() > SHAPE_TEXT_LIMIT {
            out.push_str("...");
            break;
        }
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Shape(id) => match shapes.get(id) {
                Shape::Array(array) => push_array(&mut out, array),
                Shape::Token => out.push_str("token[]"),
                Shape::Opaque => out.push_str("opaque[]"),
                Shape::Buffer(inner) => {
                    out.push_str("b(");
                    pieces.push(Piece::Text(")"));
                    pieces.push(Piece::Shape(*inner));
                }
                Shape::Tuple(elements) => {
                    out.push('(');
                    pieces.push(Piece::Text(")"));
                    // No element takes less than a byte, so that more than these are never reached.
                    let shown = elements.len().min(SHAPE_TEXT_LIMIT + 1);
                    for (index, &element) in elements[..shown].iter().enumerate().rev() {
                        pieces.push(Piece::Shape(element));
                        if index > 0 {
                            pieces.push(Piece::Text(", "));
                        }
                    }
                }
            },
        }
    }
    out
}

/// [`shape_text`] of an array that is not in a table.
pub(crate) fn array_text(array: &ArrayShape) -> String {
    let mut out = String::new();
    push_array(&mut out, array);
    out
}

fn push_array(out: &mut String, array: &ArrayShape) {
    out.push_str(array.element_type.name());
    out.push('[');
    for (index, dim) in dimensions(array).enumerate() {
        if index > 0 {
            out.push(',');
        }
        if dim.is_unbounded() {
            out.push('?');
        } else {
            if dim.dynamic {
                out.push_str("<=");
            }
            out.push_str(itoa::Buffer::new().format(dim.size));
        }
        if out.len() > SHAPE_TEXT_LIMIT {
            out.push_str("...");
            break;
        }
    }
    out.push(']');
}

/// Numbers as an attribute lists them: `{0,2}`.
pub(crate) fn ints_text(ints: &[i64]) -> String {
    let shown: Vec<String> = ints.iter().map(i64::to_string).collect();
    format!("{{{}}}", shown.join(","))
}
