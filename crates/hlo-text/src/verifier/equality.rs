//! When two shapes are the same: XLA's notions of compatible and equal.

use hashbrown::HashSet;
use smallvec::SmallVec;

use crate::ir::{ArrayShape, ElementType, HASHER, Layout, Shape, ShapeId, ShapeTable, UNBOUNDED};
use crate::shape_inference::Inferred;

/// Which element types are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Types {
    Exact,
    /// Two floating-point types of any widths are.
    AnyFloat,
    Ignored,
}

/// What of a layout counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layouts {
    Ignored,
    /// The order of the dimensions, and what XLA doesn't count as part of how an array is tiled and placed.
    Order,
    /// All but tiles, memory space and tail padding.
    Untiled,
    /// All but memory space and splits.
    Anywhere,
    Full,
}

/// After so many pairs of parts those that have been compared are remembered.
const UNCOUNTED_STEPS: usize = 256;

/// A notion of sameness.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sameness {
    pub(super) types: Types,
    pub(super) layouts: Layouts,
    /// Whether bounded and static dimensions differ; if not, unbounded ones go with all.
    pub(super) dynamic: bool,
    /// Whether a buffer is the same as its array.
    pub(super) buffers_are_arrays: bool,
}

/// Structure, element types and sizes.
pub(super) const COMPATIBLE: Sameness =
    Sameness { types: Types::Exact, layouts: Layouts::Ignored, dynamic: false, buffers_are_arrays: false };
/// Structure and sizes; floating-point types are alike.
pub(super) const FLOATS_ALIKE: Sameness = Sameness { types: Types::AnyFloat, ..COMPATIBLE };
/// Structure and sizes.
pub(super) const DIMENSIONS: Sameness = Sameness { types: Types::Ignored, ..COMPATIBLE };
/// Everything.
pub(super) const EQUAL: Sameness = Sameness { layouts: Layouts::Full, dynamic: true, ..COMPATIBLE };
/// Everything but how arrays are tiled and where they are.
pub(super) const EQUAL_ORDER: Sameness = Sameness { layouts: Layouts::Order, ..EQUAL };

impl Sameness {
    /// Whether `a` and `b` are the same.
    pub(super) fn of(self, shapes: &ShapeTable, a: ShapeId, b: ShapeId) -> bool {
        let mut pairs: SmallVec<[(ShapeId, ShapeId); 8]> = SmallVec::new();
        pairs.push((a, b));
        let mut seen: HashSet<(ShapeId, ShapeId), foldhash::fast::FixedState> = HashSet::with_hasher(HASHER);
        let mut steps = 0;
        while let Some((mut a, mut b)) = pairs.pop() {
            if a == b {
                continue;
            }
            // Shapes share their parts; what is large is seldom new all through.
            steps += 1;
            if steps > UNCOUNTED_STEPS && !seen.insert((a, b)) {
                continue;
            }
            if self.buffers_are_arrays {
                a = content(shapes, a);
                b = content(shapes, b);
            }
            match (shapes.get(a), shapes.get(b)) {
                (Shape::Array(x), Shape::Array(y)) if self.arrays(x, y) => {}
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

    /// Whether what a rule gives is the same as the shape `b`. The nesting of what rules build is bounded.
    pub(super) fn of_inferred(self, shapes: &ShapeTable, a: &Inferred, b: ShapeId) -> bool {
        match (a, shapes.get(b)) {
            (Inferred::Existing(a), _) => self.of(shapes, *a, b),
            (Inferred::Array(x), Shape::Array(y)) => self.arrays(x, y),
            (Inferred::Token, Shape::Token) => true,
            (Inferred::Buffer(x), Shape::Buffer(y)) => self.of_inferred(shapes, x, *y),
            (Inferred::Tuple(x), Shape::Tuple(y)) => {
                x.len() == y.len() && x.iter().zip(y).all(|(x, &y)| self.of_inferred(shapes, x, y))
            }
            _ => false,
        }
    }

    /// Whether the arrays are the same.
    pub(super) fn arrays(self, a: &ArrayShape, b: &ArrayShape) -> bool {
        self.types_of(a.element_type, b.element_type)
            && if self.dynamic {
                a.dimensions == b.dimensions && a.dynamic == b.dynamic
            } else {
                same_sizes(&a.dimensions, &b.dimensions)
            }
            && self.layouts_of(a.layout.as_ref(), b.layout.as_ref())
    }

    fn types_of(self, a: ElementType, b: ElementType) -> bool {
        match self.types {
            Types::Exact => a == b,
            Types::AnyFloat => a == b || a.is_float() && b.is_float(),
            Types::Ignored => true,
        }
    }

    fn layouts_of(self, a: Option<&Layout>, b: Option<&Layout>) -> bool {
        if self.layouts == Layouts::Ignored {
            return true;
        }
        let (a, b) = match (a, b) {
            (Some(a), Some(b)) => (a, b),
            (None, None) => return true,
            _ => return false,
        };
        let tiled = matches!(self.layouts, Layouts::Full | Layouts::Anywhere);
        let placed = self.layouts == Layouts::Full;
        let sized = self.layouts != Layouts::Order;
        let split = matches!(self.layouts, Layouts::Full | Layouts::Untiled);
        a.minor_to_major == b.minor_to_major
            && a.index_type == b.index_type
            && a.pointer_type == b.pointer_type
            && (!tiled || a.tiles == b.tiles && a.tail_padding_alignment == b.tail_padding_alignment)
            && (!placed || a.memory_space == b.memory_space)
            && (!sized || a.element_size_in_bits == b.element_size_in_bits)
            && (!split || a.split_configs == b.split_configs)
    }
}

fn content(shapes: &ShapeTable, id: ShapeId) -> ShapeId {
    match shapes.get(id) {
        Shape::Buffer(array) => *array,
        _ => id,
    }
}

/// Whether sizes go together, an unbounded one with every other.
pub(super) fn same_sizes(a: &[i64], b: &[i64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(&x, &y)| x == y || x == UNBOUNDED || y == UNBOUNDED)
}

/// The part of a shape that `index` names, `None` if it has no such part.
pub(super) fn part(shapes: &ShapeTable, shape: ShapeId, index: &[i64]) -> Option<ShapeId> {
    index.iter().try_fold(shape, |shape, &number| {
        shapes.get(shape).as_tuple()?.get(usize::try_from(number).ok()?).copied()
    })
}
