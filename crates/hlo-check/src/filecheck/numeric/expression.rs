//! Parsed expressions and their evaluation.

use num_bigint::BigInt;
use num_bigint::Sign;

use super::format::Format;
use crate::filecheck::source::Span;
use crate::filecheck::variables::{NumericId, Variables};

/// The operations, written infix or as a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Add,
    Sub,
    Mul,
    Div,
    Max,
    Min,
}

/// Operations by the name they are called by.
pub(super) const FUNCTIONS: &[(&[u8], Operation)] = &[
    (b"add", Operation::Add),
    (b"div", Operation::Div),
    (b"max", Operation::Max),
    (b"min", Operation::Min),
    (b"mul", Operation::Mul),
    (b"sub", Operation::Sub),
];

/// One step of an expression in postfix order (nesting costs no stack).
#[derive(Clone, Debug)]
pub(super) enum Step {
    Literal(BigInt),
    Variable { name: Span, id: NumericId },
    Operation(Operation),
}

/// An expression with the format of its value.
#[derive(Clone, Debug)]
pub struct Expression {
    pub(super) steps: Vec<Step>,
    /// How its value is written.
    pub format: Format,
}

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evaluation {
    /// A variable without value, and where it is named.
    Undefined(Span),
    /// Division by zero, or a value its format cannot express.
    Overflow,
}

impl Expression {
    /// Whether the block is only a wildcard (`[[#]]`, `[[#VAR:]]`).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Computes the value.
    ///
    /// # Errors
    /// Everything that stands in the way, in the order of the text.
    pub fn evaluate(&self, variables: &Variables) -> Result<BigInt, Vec<Evaluation>> {
        let mut stack: Vec<Result<BigInt, Vec<Evaluation>>> = Vec::new();
        for step in &self.steps {
            let value = match step {
                Step::Literal(value) => Ok(value.clone()),
                Step::Variable { name, id } => match variables.numeric_value(*id) {
                    Some(value) => Ok(value.clone()),
                    None => Err(vec![Evaluation::Undefined(*name)]),
                },
                Step::Operation(operation) => {
                    let right = stack.pop().unwrap_or_else(|| Ok(BigInt::default()));
                    let left = stack.pop().unwrap_or_else(|| Ok(BigInt::default()));
                    match (left, right) {
                        (Ok(left), Ok(right)) => {
                            apply(*operation, left, right).ok_or_else(|| vec![Evaluation::Overflow])
                        }
                        (left, right) => {
                            let mut faults = left.err().unwrap_or_default();
                            faults.extend(right.err().unwrap_or_default());
                            Err(faults)
                        }
                    }
                }
            };
            stack.push(value);
        }
        stack.pop().unwrap_or_else(|| Ok(BigInt::default()))
    }
}

fn apply(operation: Operation, left: BigInt, right: BigInt) -> Option<BigInt> {
    Some(match operation {
        Operation::Add => left + right,
        Operation::Sub => left - right,
        Operation::Mul => left * right,
        Operation::Div if right.sign() == Sign::NoSign => return None,
        // Truncates towards zero.
        Operation::Div => left / right,
        Operation::Max => left.max(right),
        Operation::Min => left.min(right),
    })
}
