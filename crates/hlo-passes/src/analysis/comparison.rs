//! How values are compared unless a `compare` says otherwise.

use hlo_text::Module;
use hlo_text::ir::words::{ComparisonDirection, ComparisonType};
use hlo_text::ir::{AttrKey, AttrValue, ElementClass, ElementType, InstructionId};

/// The comparison type of an element type (XLA's `Comparison::DefaultComparisonType`); `None` for types without
/// values. `pred` compares as unsigned, complex as floating point.
pub fn default_comparison_type(element_type: ElementType) -> Option<ComparisonType> {
    match element_type.class() {
        ElementClass::Float | ElementClass::Complex => Some(ComparisonType::Float),
        ElementClass::Signed => Some(ComparisonType::Signed),
        ElementClass::Unsigned | ElementClass::Pred => Some(ComparisonType::Unsigned),
        ElementClass::NotArray => None,
    }
}

/// The type a `compare` compares with: what it says, or else the default of its first operand.
pub fn comparison_type(module: &Module, compare: InstructionId) -> Option<ComparisonType> {
    if let Some(AttrValue::Word(word)) = module.attribute(compare, AttrKey::ComparisonType) {
        return ComparisonType::from_word(word);
    }
    let &operand = module.operands(compare).first()?;
    default_comparison_type(module.shape_of(operand).element_type()?)
}

/// The direction with the operands the other way round.
pub fn mirrored(direction: ComparisonDirection) -> ComparisonDirection {
    use ComparisonDirection as D;
    match direction {
        D::Eq => D::Eq,
        D::Ne => D::Ne,
        D::Ge => D::Le,
        D::Gt => D::Lt,
        D::Le => D::Ge,
        D::Lt => D::Gt,
    }
}
