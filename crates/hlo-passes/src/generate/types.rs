//! The shapes of generated values.

use std::fmt;

use hlo_text::ir::{ElementClass, ElementType};

/// The shape of a value, layouts aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Array(ElementType, Vec<usize>),
    Tuple(Vec<Type>),
    Token,
}

impl Type {
    pub(super) fn scalar(element: ElementType) -> Self {
        Self::Array(element, Vec::new())
    }

    pub(super) fn element(&self) -> Option<ElementType> {
        match self {
            Self::Array(element, _) => Some(*element),
            _ => None,
        }
    }

    /// The sizes of an array; empty for everything else.
    pub(super) fn sizes(&self) -> &[usize] {
        match self {
            Self::Array(_, sizes) => sizes,
            _ => &[],
        }
    }

    pub(super) fn rank(&self) -> usize {
        self.sizes().len()
    }

    /// The same array with another element type.
    pub(super) fn of(&self, element: ElementType) -> Self {
        Self::Array(element, self.sizes().to_vec())
    }

    pub(super) fn has_token(&self) -> bool {
        match self {
            Self::Array(..) => false,
            Self::Tuple(elements) => elements.iter().any(Self::has_token),
            Self::Token => true,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Array(element, sizes) => write!(f, "{}[{}]", element.name(), list(sizes)),
            Self::Tuple(elements) => {
                f.write_str("(")?;
                for (index, element) in elements.iter().enumerate() {
                    write!(f, "{}{element}", if index == 0 { "" } else { ", " })?;
                }
                f.write_str(")")
            }
            Self::Token => f.write_str("token[]"),
        }
    }
}

/// Numbers with commas between.
pub(super) fn list<T: fmt::Display>(numbers: &[T]) -> String {
    numbers.iter().map(T::to_string).collect::<Vec<_>>().join(",")
}

/// A scalar of a type as constants are written: a small number, `true` for every odd one of `pred`.
pub(super) fn literal(element: ElementType, number: usize) -> String {
    match element.class() {
        ElementClass::Pred => if number % 2 == 1 { "true" } else { "false" }.to_owned(),
        ElementClass::Complex => format!("({number}, 0)"),
        _ => number.to_string(),
    }
}
