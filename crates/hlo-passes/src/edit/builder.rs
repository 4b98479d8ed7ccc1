//! Adding the instructions passes add most.

use hlo_text::ir::words::{ComparisonDirection, ComparisonType};
use hlo_text::ir::{
    Attr, AttrKey, AttrValue, ComputationId, ElementType, InstructionId, Literal, NewInstruction, Opcode,
    Shape, ShapeId, Value,
};

use hlo_text::shape_inference::{InferRequest, infer_shape_extended};
use smallvec::SmallVec;

use super::Editor;
use crate::analysis::default_comparison_type;
use crate::pass::{PassError, PassResult};

impl Editor<'_> {
    /// Adds an instruction of a stated shape.
    pub fn add(
        &mut self,
        parent: ComputationId,
        opcode: Opcode,
        shape: ShapeId,
        operands: &[InstructionId],
        attributes: &[Attr],
    ) -> InstructionId {
        let new = NewInstruction { attributes, ..NewInstruction::new(opcode, shape, operands) };
        self.add_instruction(parent, new)
    }

    /// Adds an instruction beside its operands, with the shape XLA gives it. Where a part of the shape doesn't follow
    /// from operands and attributes (the type of a `convert`, the sizes of a `reshape`), `stated` says it.
    ///
    /// # Errors
    /// Operands and attributes break a rule of the opcode (the message names the shapes), or a part of the shape must
    /// be stated, or there are no operands.
    pub fn add_inferred(
        &mut self,
        opcode: Opcode,
        operands: &[InstructionId],
        attributes: &[Attr],
        stated: Option<ShapeId>,
    ) -> PassResult<InstructionId> {
        let Some(&first) = operands.first() else {
            return Err(PassError::new(format!("{opcode} without operands needs a computation to be in")));
        };
        let parent = self.instruction(first).parent;
        let shapes: Vec<ShapeId> = operands.iter().map(|&id| self.instruction(id).shape).collect();
        let request = InferRequest { opcode, operands: &shapes, attributes };
        let shape = infer_shape_extended(&request, stated, self.module);
        let shape = shape.map_err(|error| PassError::at(self, first, error.message))?;
        Ok(self.add(parent, opcode, shape, operands, attributes))
    }

    /// Adds an elementwise instruction of one operand, such as `negate`.
    ///
    /// # Errors
    /// See [`Editor::add_inferred`].
    pub fn add_unary(&mut self, opcode: Opcode, operand: InstructionId) -> PassResult<InstructionId> {
        self.add_inferred(opcode, &[operand], &[], None)
    }

    /// Adds an elementwise instruction of two operands, such as `add`.
    ///
    /// # Errors
    /// See [`Editor::add_inferred`].
    pub fn add_binary(
        &mut self,
        opcode: Opcode,
        lhs: InstructionId,
        rhs: InstructionId,
    ) -> PassResult<InstructionId> {
        self.add_inferred(opcode, &[lhs, rhs], &[], None)
    }

    /// Adds `convert` to an element type.
    ///
    /// # Errors
    /// The operand is no array of values that can be converted.
    pub fn add_convert(
        &mut self,
        operand: InstructionId,
        element_type: ElementType,
    ) -> PassResult<InstructionId> {
        let stated = self.with_element_type(self.instruction(operand).shape, element_type);
        self.add_inferred(Opcode::Convert, &[operand], &[], Some(stated))
    }

    /// Adds `constant(value)` of a scalar type.
    ///
    /// # Errors
    /// The type has no values.
    pub fn add_scalar_constant(
        &mut self,
        parent: ComputationId,
        element_type: ElementType,
        value: i64,
    ) -> PassResult<InstructionId> {
        let literal = Literal::scalar(self.module.shapes_mut(), element_type, value);
        let literal = literal.ok_or_else(|| {
            PassError::new(format!("there are no constants of type {}", element_type.name()))
        })?;
        Ok(self.add_constant(parent, literal))
    }

    /// Adds a constant.
    pub fn add_constant(&mut self, parent: ComputationId, literal: Literal) -> InstructionId {
        let shape = literal.shape;
        let literal = Some(self.add_literal(literal));
        self.add_instruction(
            parent,
            NewInstruction { literal, ..NewInstruction::new(Opcode::Constant, shape, &[]) },
        )
    }

    /// Adds `compare`.
    pub fn add_compare(
        &mut self,
        parent: ComputationId,
        shape: ShapeId,
        operands: [InstructionId; 2],
        direction: ComparisonDirection,
        comparison: ComparisonType,
    ) -> InstructionId {
        let attributes = [
            Attr { key: AttrKey::Direction, value: AttrValue::Word(direction.word()) },
            Attr { key: AttrKey::ComparisonType, value: AttrValue::Word(comparison.word()) },
        ];
        // A default is not written down, as the parser has it.
        let default = self.element_type(operands[0]).and_then(default_comparison_type);
        let written = if default == Some(comparison) { 1 } else { 2 };
        self.add(parent, Opcode::Compare, shape, &operands, &attributes[..written])
    }

    /// Adds `custom-call` with an empty opaque and the original interface.
    pub fn add_custom_call(
        &mut self,
        parent: ComputationId,
        shape: ShapeId,
        operands: &[InstructionId],
        target: &str,
    ) -> InstructionId {
        let target = self.intern(target);
        let attributes = [Attr { key: AttrKey::CustomCallTarget, value: AttrValue::String(target) }];
        self.add(parent, Opcode::CustomCall, shape, operands, &attributes)
    }

    /// Adds `tuple`.
    pub fn add_tuple(&mut self, parent: ComputationId, elements: &[InstructionId]) -> InstructionId {
        let shapes: Vec<ShapeId> = elements.iter().map(|&id| self.instruction(id).shape).collect();
        let shape = self.tuple_shape(&shapes);
        self.add(parent, Opcode::Tuple, shape, elements, &[])
    }

    /// Adds `get-tuple-element` beside its operand.
    ///
    /// # Errors
    /// The operand is no tuple or has no such element.
    pub fn add_get_tuple_element(&mut self, tuple: InstructionId, index: usize) -> PassResult<InstructionId> {
        let element = self.shape_of(tuple).as_tuple().and_then(|elements| elements.get(index)).copied();
        let Some(shape) = element else {
            return Err(PassError::at(self, tuple, format!("its shape has no tuple element {index}")));
        };
        let attributes = [Attr { key: AttrKey::Index, value: AttrValue::Int(index as i64) }];
        let parent = self.instruction(tuple).parent;
        Ok(self.add(parent, Opcode::GetTupleElement, shape, &[tuple], &attributes))
    }

    /// Adds `select` beside its operands, shaped like `on_true`.
    pub fn add_select(
        &mut self,
        predicate: InstructionId,
        on_true: InstructionId,
        on_false: InstructionId,
    ) -> InstructionId {
        let instruction = self.instruction(on_true);
        let (parent, shape) = (instruction.parent, instruction.shape);
        self.add(parent, Opcode::Select, shape, &[predicate, on_true, on_false], &[])
    }

    /// Adds `broadcast` of a scalar to a shape.
    pub fn add_broadcast_of_scalar(&mut self, scalar: InstructionId, shape: ShapeId) -> InstructionId {
        self.add_broadcast(scalar, &[], shape)
    }

    /// Adds `broadcast` to a stated shape; `dimensions` says which dimension of the result each dimension of the
    /// operand becomes.
    pub fn add_broadcast(
        &mut self,
        operand: InstructionId,
        dimensions: &[i64],
        shape: ShapeId,
    ) -> InstructionId {
        let attribute = self.ints_attribute(AttrKey::Dimensions, dimensions);
        let parent = self.instruction(operand).parent;
        self.add(parent, Opcode::Broadcast, shape, &[operand], &[attribute])
    }

    /// Adds `reshape` to a stated shape.
    ///
    /// # Errors
    /// The shapes have different numbers of elements or different element types.
    pub fn add_reshape(&mut self, operand: InstructionId, shape: ShapeId) -> PassResult<InstructionId> {
        self.add_inferred(Opcode::Reshape, &[operand], &[], Some(shape))
    }

    /// Adds `transpose` with a stated shape; dimension `i` of the result is dimension `permutation[i]` of the operand.
    pub fn add_transpose(
        &mut self,
        operand: InstructionId,
        permutation: &[i64],
        shape: ShapeId,
    ) -> InstructionId {
        let attribute = self.ints_attribute(AttrKey::Dimensions, permutation);
        let parent = self.instruction(operand).parent;
        self.add(parent, Opcode::Transpose, shape, &[operand], &[attribute])
    }

    /// Adds `dynamic-slice` with a stated shape.
    pub fn add_dynamic_slice(
        &mut self,
        operand: InstructionId,
        starts: &[InstructionId],
        sizes: &[i64],
        shape: ShapeId,
    ) -> InstructionId {
        let attribute = self.ints_attribute(AttrKey::DynamicSliceSizes, sizes);
        let operands: SmallVec<[InstructionId; 8]> = [operand].iter().chain(starts).copied().collect();
        let parent = self.instruction(operand).parent;
        self.add(parent, Opcode::DynamicSlice, shape, &operands, &[attribute])
    }

    /// Adds `reduce` of one operand with a stated shape.
    pub fn add_reduce(
        &mut self,
        operand: InstructionId,
        init: InstructionId,
        dimensions: &[i64],
        reducer: ComputationId,
        shape: ShapeId,
    ) -> InstructionId {
        let attributes = [
            self.ints_attribute(AttrKey::Dimensions, dimensions),
            Attr { key: AttrKey::ToApply, value: AttrValue::Computation(reducer) },
        ];
        let parent = self.instruction(operand).parent;
        self.add(parent, Opcode::Reduce, shape, &[operand, init], &attributes)
    }

    /// Adds a computation that applies an opcode of two operands to two scalars, as reducers do. Its parameters are
    /// called `lhs` and `rhs`.
    pub fn add_binary_computation(
        &mut self,
        name: &str,
        opcode: Opcode,
        element_type: ElementType,
    ) -> ComputationId {
        let scalar = self.module.shapes_mut().array(element_type, &[]);
        let computation = self.module.add_computation(name);
        self.touched = true;
        let [lhs, rhs] = ["lhs", "rhs"].map(|name| {
            let parameter = NewInstruction::new(Opcode::Parameter, scalar, &[]);
            self.add_instruction(computation, NewInstruction { name, ..parameter })
        });
        let root = self.add(computation, opcode, scalar, &[lhs, rhs], &[]);
        self.set_root(root);
        computation
    }

    fn ints_attribute(&mut self, key: AttrKey, values: &[i64]) -> Attr {
        Attr { key, value: AttrValue::Value(self.intern_value(Value::Ints(values.to_vec()))) }
    }

    /// The id of the shape with another element type in every array.
    pub fn with_element_type(&mut self, shape: ShapeId, element_type: ElementType) -> ShapeId {
        let changed = match self.shape(shape) {
            Shape::Array(array) => Shape::Array(hlo_text::ir::ArrayShape { element_type, ..array.clone() }),
            _ => return shape,
        };
        self.intern_shape(changed)
    }
}
