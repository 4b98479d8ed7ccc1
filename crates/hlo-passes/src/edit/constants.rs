//! What constants hold: questions that passes ask again and again, each answered once per literal.

use std::cell::RefCell;

use hlo_text::ir::{Elements, InstructionId, LiteralId, Opcode};

use super::Editor;
use crate::Map;

/// How many broadcasts, reshapes and the like are looked through on the way to a constant.
const MAX_CHAIN: usize = 8;

/// The smallest and the largest of some integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntegerRange {
    /// The smallest.
    pub lowest: i128,
    /// The largest.
    pub highest: i128,
}

/// What is known about literals. They never change, so this never has to be forgotten.
#[derive(Default)]
pub(super) struct LiteralFacts {
    uniform: RefCell<Map<LiteralId, bool>>,
    ranges: RefCell<Map<LiteralId, Option<IntegerRange>>>,
}

impl Editor<'_> {
    /// The values of a constant, unless the text leaves them out.
    pub fn constant_elements(&self, id: InstructionId) -> Option<&Elements> {
        let instruction = self.instruction(id);
        let literal = instruction.literal.filter(|_| instruction.opcode == Opcode::Constant)?;
        self.literal(literal).elements()
    }

    /// The one value that every element of the result has: that of a constant whose elements are all the same, or of
    /// such a constant behind broadcasts, reshapes, transposes and copies. It is element 0 of what this returns.
    pub fn uniform_constant(&self, id: InstructionId) -> Option<&Elements> {
        let mut source = id;
        for _ in 0..=MAX_CHAIN {
            match self.instruction(source).opcode {
                Opcode::Broadcast | Opcode::Reshape | Opcode::Transpose | Opcode::Copy => {
                    source = *self.operands(source).first()?;
                }
                Opcode::Constant => {
                    let literal = self.instruction(source).literal?;
                    let elements = self.constant_elements(source)?;
                    let is_uniform = *self
                        .literal_facts
                        .uniform
                        .borrow_mut()
                        .entry(literal)
                        .or_insert_with(|| !elements.is_empty() && elements.all_equal());
                    return is_uniform.then_some(elements);
                }
                _ => return None,
            }
        }
        None
    }

    /// The smallest and the largest element of an integer constant that has any.
    pub fn integer_range(&self, constant: InstructionId) -> Option<IntegerRange> {
        let literal = self.instruction(constant).literal?;
        let elements = self.constant_elements(constant)?;
        let mut ranges = self.literal_facts.ranges.borrow_mut();
        *ranges.entry(literal).or_insert_with(|| {
            let mut values = (0..elements.len()).map(|index| integer(elements, index));
            let first = values.next()??;
            values.try_fold(IntegerRange { lowest: first, highest: first }, |range, value| {
                let value = value?;
                Some(IntegerRange { lowest: range.lowest.min(value), highest: range.highest.max(value) })
            })
        })
    }
}

/// An element of an integer type.
pub(crate) fn integer(elements: &Elements, index: usize) -> Option<i128> {
    if !elements.element_type().is_integer() {
        return None;
    }
    elements.i64(index).map(i128::from).or_else(|| elements.u64(index).map(i128::from))
}
