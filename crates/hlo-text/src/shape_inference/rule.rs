//! What a rule sees of the instruction, and what it gives back.

use crate::diagnostic::Code;
use crate::ir::{
    ArrayShape, AttrKey, AttrValue, Computation, InstructionId, Module, Opcode, Shape, ShapeId, Value, Window,
};

use super::error::{ShapeError, ShapeResult};
use super::types::{self, TypeMatch};
use super::{InferRequest, Inferred};

/// The instruction whose shape is wanted.
pub(super) struct Rule<'a> {
    pub(super) module: &'a Module,
    pub(super) request: &'a InferRequest<'a>,
    /// The shape the instruction is said to have, where a rule depends on it.
    pub(super) stated: Option<ShapeId>,
}

/// A called computation: the shapes of its parameters and its result.
pub(super) struct Signature<'a> {
    module: &'a Module,
    parameters: &'a [InstructionId],
    /// Shape of the result.
    pub(super) result: ShapeId,
}

impl<'a> Signature<'a> {
    /// Number of parameters.
    pub(super) fn arity(&self) -> usize {
        self.parameters.len()
    }

    /// Shape of a parameter; `index` is below [`Self::arity`].
    pub(super) fn parameter(&self, index: usize) -> ShapeId {
        self.module.instruction(self.parameters[index]).shape
    }

    /// Shapes of the parameters.
    pub(super) fn parameters(&self) -> impl Iterator<Item = ShapeId> + '_ {
        (0..self.arity()).map(|index| self.parameter(index))
    }
}

impl<'a> Rule<'a> {
    pub(super) fn opcode(&self) -> Opcode {
        self.request.opcode
    }

    pub(super) fn operand_count(&self) -> usize {
        self.request.operands.len()
    }

    /// Shape of an operand.
    pub(super) fn operand(&self, index: usize) -> ShapeResult<ShapeId> {
        self.request.operands.get(index).copied().ok_or_else(|| {
            let count = self.operand_count();
            ShapeError::instruction(format!("{} needs more than {count} operands", self.opcode()))
                .by(Code::WrongOperandCount)
        })
    }

    /// Shape of an operand that must be an array (buffers are none).
    pub(super) fn array(&self, index: usize) -> ShapeResult<&'a ArrayShape> {
        let id = self.operand(index)?;
        self.module.shape(id).as_array().ok_or_else(|| {
            let message = format!(
                "operand {index} of {} must be an array, but its shape is {}",
                self.opcode(),
                self.text(id)
            );
            ShapeError::operand(index, message).by(Code::NotAnArray)
        })
    }

    /// Shapes of the operands `range`, all arrays.
    pub(super) fn arrays(&self, range: std::ops::Range<usize>) -> ShapeResult<Vec<&'a ArrayShape>> {
        range.map(|index| self.array(index)).collect()
    }

    /// A shape in words.
    pub(super) fn text(&self, id: ShapeId) -> String {
        types::shape_text(self.module.shapes(), id)
    }

    /// An operand's shape in words; empty if there is no such operand.
    pub(super) fn operand_text(&self, index: usize) -> String {
        self.request.operands.get(index).map_or(String::new(), |&id| self.text(id))
    }

    /// Whether two shapes go together.
    pub(super) fn compatible(&self, a: ShapeId, b: ShapeId, types: TypeMatch) -> bool {
        types::compatible(self.module.shapes(), a, b, types)
    }

    /// Whether a shape goes together with an array.
    pub(super) fn compatible_with_array(&self, a: ShapeId, b: &ArrayShape, types: TypeMatch) -> bool {
        self.module.shape(a).as_array().is_some_and(|a| types::arrays_compatible(a, b, types))
    }

    /// The array that the stated shape is, if one is stated.
    pub(super) fn stated_array(&self) -> Option<&'a ArrayShape> {
        self.module.shape(self.stated?).as_array()
    }

    /// The stated shape, for opcodes whose shape doesn't follow.
    pub(super) fn stated(&self) -> ShapeResult<ShapeId> {
        self.stated.ok_or_else(|| {
            ShapeError::not_inferable(format!(
                "the shape of {} doesn't follow from its operands: it must be stated",
                self.opcode()
            ))
        })
    }

    /// An attribute's value.
    pub(super) fn attribute(&self, key: AttrKey) -> Option<AttrValue> {
        self.request.attributes.iter().find(|attr| attr.key == key).map(|attr| attr.value)
    }

    fn value(&self, key: AttrKey) -> Option<&'a Value> {
        match self.attribute(key)? {
            AttrValue::Value(id) => Some(self.module.value(id)),
            _ => None,
        }
    }

    fn missing(&self, key: AttrKey) -> ShapeError {
        ShapeError::attribute(key, format!("{} needs the attribute {}", self.opcode(), key.name()))
    }

    /// A list of integers that must be there.
    pub(super) fn ints(&self, key: AttrKey) -> ShapeResult<&'a [i64]> {
        match self.value(key) {
            Some(Value::Ints(ints)) => Ok(ints),
            _ => Err(self.missing(key)),
        }
    }

    /// A list of integers, empty if it is not given.
    pub(super) fn ints_or_empty(&self, key: AttrKey) -> &'a [i64] {
        match self.value(key) {
            Some(Value::Ints(ints)) => ints,
            _ => &[],
        }
    }

    /// The first number of a list that must have one.
    pub(super) fn first_int(&self, key: AttrKey) -> ShapeResult<i64> {
        let ints = self.ints(key)?;
        ints.first().copied().ok_or_else(|| {
            let message = format!("{} of {} must have an entry", key.name(), self.opcode());
            ShapeError::attribute(key, message)
        })
    }

    /// An integer that must be there.
    pub(super) fn int(&self, key: AttrKey) -> ShapeResult<i64> {
        match self.attribute(key) {
            Some(AttrValue::Int(int)) => Ok(int),
            _ => Err(self.missing(key)),
        }
    }

    /// An integer, 1 if it is not given.
    pub(super) fn count(&self, key: AttrKey) -> i64 {
        self.int(key).unwrap_or(1)
    }

    /// A flag, `false` if it is not given.
    pub(super) fn flag(&self, key: AttrKey) -> bool {
        self.attribute(key) == Some(AttrValue::Bool(true))
    }

    /// The index of a word, if it is given.
    pub(super) fn word(&self, key: AttrKey) -> Option<u8> {
        match self.attribute(key)? {
            AttrValue::Word(word) => Some(word),
            _ => None,
        }
    }

    /// A structured value that must be there.
    pub(super) fn required_value(&self, key: AttrKey) -> ShapeResult<&'a Value> {
        self.value(key).ok_or_else(|| self.missing(key))
    }

    /// A structured value if it is given.
    pub(super) fn optional_value(&self, key: AttrKey) -> Option<&'a Value> {
        self.value(key)
    }

    /// The window, without dimensions if it is not given.
    pub(super) fn window(&self) -> &'a Window {
        static EMPTY: Window = Window { dimensions: Vec::new() };
        match self.value(AttrKey::Window) {
            Some(Value::Window(window)) => window,
            _ => &EMPTY,
        }
    }

    /// The computation an attribute names.
    pub(super) fn computation(&self, key: AttrKey) -> ShapeResult<Signature<'a>> {
        match self.attribute(key) {
            Some(AttrValue::Computation(id)) => self.signature(key, id),
            _ => Err(self.missing(key)),
        }
    }

    /// The shapes of a computation that `key` names.
    pub(super) fn signature(&self, key: AttrKey, id: crate::ir::ComputationId) -> ShapeResult<Signature<'a>> {
        let computation: Option<&'a Computation> =
            self.module.computations.get(id.index()).and_then(Option::as_ref);
        let Some(computation) = computation else {
            let message = format!("the computation that {} names is not defined", key.name());
            return Err(ShapeError::attribute(key, message));
        };
        let result = self.module.instruction(computation.root).shape;
        Ok(Signature { module: self.module, parameters: &computation.parameters, result })
    }

    /// The shapes at the top level of a tuple, or the shape itself.
    pub(super) fn elements(&self, id: ShapeId) -> Vec<ShapeId> {
        match self.module.shape(id) {
            Shape::Tuple(elements) => elements.clone(),
            _ => vec![id],
        }
    }

    /// One shape as it is, several as a tuple.
    pub(super) fn one_or_tuple(&self, ids: &[ShapeId]) -> Inferred {
        match ids {
            [one] => Inferred::Existing(*one),
            _ => Inferred::tuple(ids),
        }
    }

    /// The index of a dimension given as a number of attribute `key`, which must be below `rank`.
    pub(super) fn dimension_index(&self, key: AttrKey, number: i64, rank: usize) -> ShapeResult<usize> {
        index_below(number, rank).ok_or_else(|| {
            let message = format!(
                "{} of {} is {number}, but must be a dimension number from 0 to below {rank}",
                key.name(),
                self.opcode()
            );
            ShapeError::attribute(key, message)
        })
    }
}

/// `number` as an index, if it is one below `limit`.
pub(super) fn index_below(number: i64, limit: usize) -> Option<usize> {
    usize::try_from(number).ok().filter(|&index| index < limit)
}
