//! What rules ask about the insides of shapes, found out once for each shape of the table.

use crate::ir::{ElementType, Module, Shape, ShapeId, UNBOUNDED};

use super::entry::{layout_fault, size_fault};
use super::layouts::has_custom_size;

/// The floating-point types in a shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Floats {
    #[default]
    None,
    One(ElementType),
    /// Two different ones that are in it.
    Mixed(ElementType, ElementType),
}

impl Floats {
    /// The types in both.
    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, other) => other,
            (own, Self::None) => own,
            (Self::One(a), Self::One(b)) if a == b => self,
            (Self::One(a), Self::One(b)) => Self::Mixed(a, b),
            (Self::Mixed(a, b), _) | (_, Self::Mixed(a, b)) => Self::Mixed(a, b),
        }
    }
}

/// What is inside a shape, at any depth.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Facts {
    pub(super) floats: Floats,
    /// A dimension of unknown size.
    pub(super) has_unbounded: bool,
    /// A layout that states a size for elements that are whole bytes.
    pub(super) has_custom_size: bool,
    pub(super) has_buffer: bool,
    /// A layout that is none for its array.
    pub(super) has_bad_layout: bool,
    /// An array of more elements or bytes than can be counted.
    pub(super) is_too_large: bool,
}

impl Facts {
    fn and(self, other: Self) -> Self {
        Self {
            floats: self.floats.and(other.floats),
            has_unbounded: self.has_unbounded || other.has_unbounded,
            has_custom_size: self.has_custom_size || other.has_custom_size,
            has_buffer: self.has_buffer || other.has_buffer,
            has_bad_layout: self.has_bad_layout || other.has_bad_layout,
            is_too_large: self.is_too_large || other.is_too_large,
        }
    }
}

/// The facts of every shape. Shapes share their parts, so that walking each one anew could take very long.
#[derive(Debug, Default)]
pub(super) struct ShapeFacts {
    facts: Vec<Facts>,
    /// Whether any shape has a buffer.
    pub(super) any_buffer: bool,
}

impl ShapeFacts {
    pub(super) fn new(module: &Module) -> Self {
        let mut all = Self { facts: Vec::with_capacity(module.shapes().len()), any_buffer: false };
        // Elements are in the table before the tuples they are in.
        for (_, shape) in module.shapes().iter() {
            let facts = match shape {
                Shape::Array(array) => Facts {
                    floats: match array.element_type {
                        float if float.is_float() => Floats::One(float),
                        _ => Floats::None,
                    },
                    has_unbounded: array.dimensions.contains(&UNBOUNDED),
                    has_custom_size: has_custom_size(array),
                    has_buffer: false,
                    has_bad_layout: array
                        .layout
                        .as_ref()
                        .is_some_and(|layout| layout_fault(layout, array).is_some()),
                    is_too_large: size_fault(array).is_some(),
                },
                Shape::Tuple(elements) => {
                    elements.iter().fold(Facts::default(), |facts, &element| facts.and(all.of(element)))
                }
                Shape::Buffer(element) => Facts { has_buffer: true, ..all.of(*element) },
                Shape::Token | Shape::Opaque => Facts::default(),
            };
            all.any_buffer |= facts.has_buffer;
            all.facts.push(facts);
        }
        all
    }

    pub(super) fn of(&self, id: ShapeId) -> Facts {
        self.facts.get(id.index()).copied().unwrap_or_default()
    }
}
