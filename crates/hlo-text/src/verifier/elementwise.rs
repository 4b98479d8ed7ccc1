//! Rules about elementwise opcodes beyond their result shapes.

use crate::diagnostic::Code;
use crate::ir::words::ComparisonType;
use crate::ir::{AttrKey, AttrValue, ElementClass, InstructionId, Opcode, Shape};

use super::equality::DIMENSIONS;
use super::{Check, Verifier};

/// Whether every operand must have the dimensions of the result.
pub(super) fn is_elementwise(opcode: Opcode) -> bool {
    use Opcode as O;
    matches!(
        opcode,
        O::Abs
            | O::Acos
            | O::Acosh
            | O::Add
            | O::And
            | O::Asin
            | O::Asinh
            | O::Atan2
            | O::Atanh
            | O::Cbrt
            | O::Ceil
            | O::Compare
            | O::Complex
            | O::Convert
            | O::Copy
            | O::Cosh
            | O::Cosine
            | O::CountLeadingZeros
            | O::Divide
            | O::Domain
            | O::Erf
            | O::Exponential
            | O::ExponentialMinusOne
            | O::Floor
            | O::Imag
            | O::IsFinite
            | O::Log
            | O::LogPlusOne
            | O::Logistic
            | O::Maximum
            | O::Minimum
            | O::Mulhi
            | O::Multiply
            | O::Negate
            | O::Not
            | O::Or
            | O::Popcnt
            | O::Power
            | O::Real
            | O::ReducePrecision
            | O::Remainder
            | O::RoundNearestAfz
            | O::RoundNearestEven
            | O::Rsqrt
            | O::ShiftLeft
            | O::ShiftRightArithmetic
            | O::ShiftRightLogical
            | O::Sign
            | O::Sine
            | O::Sinh
            | O::Sqrt
            | O::StochasticConvert
            | O::Subtract
            | O::Tan
            | O::Tanh
            | O::Xor
    )
}

impl Verifier<'_> {
    /// Nothing is broadcast silently; comparisons compare as their operands are.
    pub(super) fn check_elementwise(&self, id: InstructionId) -> Check {
        let opcode = self.opcode(id);
        if !is_elementwise(opcode) {
            return Ok(());
        }
        let shape = self.shape_id(id);
        for (index, &operand) in self.module.operands(id).iter().enumerate() {
            if !DIMENSIONS.of(self.module.shapes(), self.shape_id(operand), shape) {
                let message = format!(
                    "operand {index} of {opcode} `{}` is {}, but the result is {}: nothing is broadcast silently",
                    self.name(id),
                    self.text_of(operand),
                    self.text_of(id)
                );
                return Err(self
                    .wrong(Code::ImplicitBroadcast, id, message)
                    .also(operand, "the operand")
                    .help("bring the operand to the result's dimensions with a broadcast"));
            }
        }
        if opcode == Opcode::Compare { self.check_comparison(id) } else { Ok(()) }
    }

    fn check_comparison(&self, id: InstructionId) -> Check {
        use ComparisonType as C;
        let operands = self.module.operands(id);
        let class = |index: usize| match operands.get(index).map(|&id| self.module.shape_of(id)) {
            Some(Shape::Array(array)) => Some(array.element_type.class()),
            _ => None,
        };
        let (Some(first), Some(second)) = (class(0), class(1)) else { return Ok(()) };
        let default = |class| match class {
            ElementClass::Float | ElementClass::Complex => C::Float,
            ElementClass::Signed => C::Signed,
            ElementClass::Unsigned | ElementClass::Pred | ElementClass::NotArray => C::Unsigned,
        };
        let stated = match self.module.attribute(id, AttrKey::ComparisonType) {
            Some(AttrValue::Word(word)) => C::from_word(word).unwrap_or_else(|| default(first)),
            _ => default(first),
        };
        let wanted = default(second);
        if stated == wanted || second == ElementClass::Float && stated == C::FloatTotalOrder {
            return Ok(());
        }
        let message = format!(
            "`{}` compares as {}, but its operands are {}, which compare as {}",
            self.name(id),
            stated.name(),
            operands.get(1).map_or(String::new(), |&id| self.text_of(id)),
            wanted.name()
        );
        let violation = self.wrong(Code::ComparisonType, id, message).help("leave out `type=`");
        Err(if self.options.check_comparison_types { violation } else { violation.warning() })
    }
}
