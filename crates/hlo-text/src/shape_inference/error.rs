//! Why a result shape doesn't follow.

use crate::ir::AttrKey;

/// What a [`ShapeError`] is about, for whoever has spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeErrorSubject {
    /// The instruction as a whole.
    Instruction,
    /// The operand of this number, from 0.
    Operand(usize),
    /// An attribute; also for a fault of the computation it names.
    Attribute(AttrKey),
}

/// Which kind of fault a [`ShapeError`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeErrorKind {
    /// The opcode's shape doesn't follow from operands and attributes: it must be stated.
    NotInferable,
    /// The operands or attributes break a rule of the opcode.
    Invalid,
}

/// Why a result shape doesn't follow from operands and attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShapeError {
    /// The kind of fault.
    pub kind: ShapeErrorKind,
    /// What it is about.
    pub subject: ShapeErrorSubject,
    /// One sentence that names the shapes in question, without a final period.
    pub message: String,
}

impl ShapeError {
    /// A fault of the instruction as a whole.
    pub(super) fn instruction(message: impl Into<String>) -> Self {
        Self {
            kind: ShapeErrorKind::Invalid,
            subject: ShapeErrorSubject::Instruction,
            message: message.into(),
        }
    }

    /// A fault of one operand.
    pub(super) fn operand(index: usize, message: impl Into<String>) -> Self {
        Self { subject: ShapeErrorSubject::Operand(index), ..Self::instruction(message) }
    }

    /// A fault of one attribute, or of the computation it names.
    pub(super) fn attribute(key: AttrKey, message: impl Into<String>) -> Self {
        Self { subject: ShapeErrorSubject::Attribute(key), ..Self::instruction(message) }
    }

    /// The shape must be stated.
    pub(super) fn not_inferable(message: impl Into<String>) -> Self {
        Self { kind: ShapeErrorKind::NotInferable, ..Self::instruction(message) }
    }
}

impl std::fmt::Display for ShapeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ShapeError {}

/// What a rule gives.
pub(super) type ShapeResult<T> = Result<T, ShapeError>;
