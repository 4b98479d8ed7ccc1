//! Changing an element type everywhere in a module.

use hlo_text::Module;
use hlo_text::diagnostic::Severity;
use hlo_text::ir::words::ComparisonType;
use hlo_text::ir::{
    ArrayShape, AttrKey, AttrValue, ElementClass, ElementType, EntryComputationLayout, InstructionId, Layout,
    Literal, LiteralData, LiteralId, Opcode, Overflow, Shape, ShapeId, Value,
};
use hlo_text::shape_inference::{InferRequest, infer_shape_extended};
use hlo_text::verifier::{VerifyOptions, verify};

use super::Editor;
use crate::analysis::default_comparison_type;
use crate::pass::{PassError, PassResult};
use crate::{Map, Set};

/// What becomes of an instruction.
struct Change {
    id: InstructionId,
    shape: [ShapeId; 2],
    literal: Option<[LiteralId; 2]>,
    attributes: Vec<(AttrKey, [Option<AttrValue>; 2])>,
}

/// Which of the two states of a [`Change`].
#[derive(Clone, Copy)]
enum State {
    Old = 0,
    New = 1,
}

impl Editor<'_> {
    /// Gives every array of element type `from` the type `to`: results, constants, shapes and literals in attributes,
    /// and the entry layout. Comparisons that had the default comparison type get the new default. Returns how many
    /// instructions changed.
    ///
    /// # Errors
    /// A constant has a value that `to` doesn't have (see [`Overflow`]), or an instruction needs `from` where it is, or takes operands of type
    /// `to` in a way its opcode doesn't allow. Then nothing has changed.
    pub fn change_element_type(
        &mut self,
        from: ElementType,
        to: ElementType,
        overflow: Overflow,
    ) -> PassResult<usize> {
        if from == to {
            return Ok(0);
        }
        let shapes = self.changed_shapes(from, to);
        let mut changes = Vec::new();
        for computation in self.computations().to_vec() {
            for id in self.live_instructions(computation).collect::<Vec<_>>() {
                if let Some(place) = fixed_place(self, id, from, to) {
                    let message = format!("{} can't be made {}: {place}", from.name(), to.name());
                    return Err(PassError::at(self, id, message));
                }
                changes.extend(self.plan_change(id, &shapes, from, to, overflow)?);
            }
        }
        self.apply(&changes, State::New);
        let suspects = self.instructions_that_do_not_fit();
        if !suspects.is_empty() {
            self.apply(&changes, State::Old);
            let before: Map<InstructionId, String> =
                self.instructions_that_do_not_fit().into_iter().collect();
            // What was wrong before is not the change's fault.
            if let Some((id, why)) = suspects.into_iter().find(|(id, _)| !before.contains_key(id)) {
                let message = format!("{} can't be made {}: {why}", from.name(), to.name());
                return Err(PassError::at(self, id, message));
            }
            self.apply(&changes, State::New);
        }
        let old_layout = self.header.entry_computation_layout.clone();
        if let Some(layout) = &old_layout {
            let new = |shape: &ShapeId| shapes[shape.index()];
            let parameters = layout.parameters.iter().map(new).collect();
            let layout = EntryComputationLayout { parameters, result: new(&layout.result) };
            self.module.header.entry_computation_layout = Some(layout);
        }
        // What shapes don't tell: that there are no complex random numbers, for one.
        let broken = self.instructions_that_break_rules();
        if !broken.is_empty() {
            let new_layout = std::mem::replace(&mut self.module.header.entry_computation_layout, old_layout);
            self.apply(&changes, State::Old);
            let before: Set<InstructionId> =
                self.instructions_that_break_rules().into_iter().map(|(id, _)| id).collect();
            if let Some((id, why)) = broken.into_iter().find(|(id, _)| !before.contains(id)) {
                let message = format!("{} can't be made {}: {why}", from.name(), to.name());
                return Err(PassError::at(self, id, message));
            }
            self.apply(&changes, State::New);
            self.module.header.entry_computation_layout = new_layout;
        }
        Ok(changes.len())
    }

    /// What becomes of each shape of the module.
    fn changed_shapes(&mut self, from: ElementType, to: ElementType) -> Vec<ShapeId> {
        let mut changed: Vec<ShapeId> = Vec::with_capacity(self.shapes().len());
        // Elements of tuples come before the tuples.
        for (id, shape) in self.shapes().clone().iter() {
            let new = match shape {
                Shape::Array(array) if array.element_type == from => {
                    let layout = array.layout.clone().map(|layout| Layout {
                        element_size_in_bits: match layout.element_size_in_bits {
                            0 => 0,
                            _ if to.bits() < 8 => i64::from(to.bits()),
                            _ => 0,
                        },
                        ..layout
                    });
                    self.intern_shape(Shape::Array(ArrayShape { element_type: to, layout, ..array.clone() }))
                }
                Shape::Tuple(elements)
                    if elements.iter().any(|element| changed[element.index()] != *element) =>
                {
                    let elements = elements.iter().map(|element| changed[element.index()]).collect();
                    self.intern_shape(Shape::Tuple(elements))
                }
                Shape::Buffer(element) => self.intern_shape(Shape::Buffer(changed[element.index()])),
                _ => id,
            };
            changed.push(new);
        }
        changed
    }

    fn plan_change(
        &mut self,
        id: InstructionId,
        shapes: &[ShapeId],
        from: ElementType,
        to: ElementType,
        overflow: Overflow,
    ) -> PassResult<Option<Change>> {
        let (shape, literal) = (self.instruction(id).shape, self.instruction(id).literal);
        let new_shape = shapes[shape.index()];
        let literal = match literal {
            Some(old) => self.changed_literal(id, old, shapes, from, to, overflow)?.map(|new| [old, new]),
            None => None,
        };
        let mut attributes = Vec::new();
        for attr in self.attributes(id).to_vec() {
            let new = match attr.value {
                AttrValue::Shape(shape) => Some(AttrValue::Shape(shapes[shape.index()])),
                AttrValue::Literal(old) => {
                    self.changed_literal(id, old, shapes, from, to, overflow)?.map(AttrValue::Literal)
                }
                AttrValue::Value(value) => match self.value(value) {
                    Value::Shapes(list) => {
                        let list = list.iter().map(|shape| shapes[shape.index()]).collect();
                        Some(AttrValue::Value(self.intern_value(Value::Shapes(list))))
                    }
                    _ => None,
                },
                AttrValue::Word(word) if attr.key == AttrKey::ComparisonType => {
                    if !self.compares(id, from) {
                        continue;
                    }
                    let comparison = ComparisonType::from_word(word);
                    if comparison == default_comparison_type(from)
                        || comparison == default_comparison_type(to)
                    {
                        attributes.push((attr.key, [Some(attr.value), None]));
                        continue;
                    }
                    let is_total_order = comparison == Some(ComparisonType::FloatTotalOrder);
                    if is_total_order != to.is_float() {
                        let name = comparison.map_or("", ComparisonType::name);
                        let message = format!(
                            "{} can't be made {}: comparison type {name} is not one of {1}",
                            from.name(),
                            to.name()
                        );
                        return Err(PassError::at(self, id, message));
                    }
                    None
                }
                _ => None,
            };
            if let Some(new) = new.filter(|new| *new != attr.value) {
                attributes.push((attr.key, [Some(attr.value), Some(new)]));
            }
        }
        let is_changed = new_shape != shape || literal.is_some() || !attributes.is_empty();
        Ok(is_changed.then_some(Change { id, shape: [shape, new_shape], literal, attributes }))
    }

    fn compares(&self, id: InstructionId, element_type: ElementType) -> bool {
        self.operands(id).first().is_some_and(|&operand| self.element_type(operand) == Some(element_type))
    }

    /// The literal with its arrays of type `from` converted, `None` if it has none.
    fn changed_literal(
        &mut self,
        id: InstructionId,
        literal: LiteralId,
        shapes: &[ShapeId],
        from: ElementType,
        to: ElementType,
        overflow: Overflow,
    ) -> PassResult<Option<LiteralId>> {
        let old = self.literal(literal);
        if shapes[old.shape.index()] == old.shape {
            return Ok(None);
        }
        let new = convert_literal(old, shapes, to, overflow).map_err(|index| {
            let message = format!(
                "{} can't be made {}: element {index} of its value doesn't fit",
                from.name(),
                to.name()
            );
            PassError::at(self, id, message)
        })?;
        Ok(Some(self.add_literal(new)))
    }

    fn apply(&mut self, changes: &[Change], state: State) {
        let state = state as usize;
        for change in changes {
            self.set_shape(change.id, change.shape[state]);
            if let Some(literals) = change.literal {
                self.touched = true;
                self.module.set_literal(change.id, literals[state]);
            }
            for &(key, values) in &change.attributes {
                self.set_attribute(change.id, key, values[state]);
            }
        }
    }

    /// Instructions whose result shape is not what their opcode gives for their operands, and what is wrong.
    fn instructions_that_do_not_fit(&mut self) -> Vec<(InstructionId, String)> {
        let mut found = Vec::new();
        for computation in self.computations().to_vec() {
            for id in self.live_instructions(computation).collect::<Vec<_>>() {
                if let Err(why) = self.check_shape(id) {
                    found.push((id, why));
                }
            }
        }
        found
    }

    /// Instructions that the verifier refuses, and why.
    fn instructions_that_break_rules(&self) -> Vec<(InstructionId, String)> {
        let options = VerifyOptions { max_violations: usize::MAX, ..VerifyOptions::default() };
        let violations = verify(self, &options).into_iter();
        let errors = violations.filter(|violation| violation.severity == Severity::Error);
        errors.filter_map(|violation| Some((violation.instruction?, violation.message))).collect()
    }

    fn check_shape(&mut self, id: InstructionId) -> Result<(), String> {
        let instruction = self.instruction(id);
        let (opcode, shape) = (instruction.opcode, instruction.shape);
        let operands: Vec<ShapeId> = self.operands(id).iter().map(|&id| self.instruction(id).shape).collect();
        let attributes = self.attributes(id).to_vec();
        let request = InferRequest { opcode, operands: &operands, attributes: &attributes };
        let inferred =
            infer_shape_extended(&request, Some(shape), self.module).map_err(|error| error.message)?;
        if self.shapes().compatible(inferred, shape) {
            return Ok(());
        }
        let (inferred, shape) = (self.shape_text(inferred, false), self.shape_text(shape, false));
        Err(format!("its result would be {inferred}, not {shape}"))
    }
}

/// The number of the element that doesn't fit is the error.
fn convert_literal(
    literal: &Literal,
    shapes: &[ShapeId],
    to: ElementType,
    overflow: Overflow,
) -> Result<Literal, usize> {
    let data = match &literal.data {
        LiteralData::Dense(elements) if shapes[literal.shape.index()] != literal.shape => {
            LiteralData::Dense(elements.converted(to, overflow)?)
        }
        // The parser bounds how deeply tuples are nested.
        LiteralData::Tuple(elements) => {
            let converted = elements.iter().map(|element| convert_literal(element, shapes, to, overflow));
            LiteralData::Tuple(converted.collect::<Result<_, _>>()?)
        }
        other => other.clone(),
    };
    Ok(Literal { shape: shapes[literal.shape.index()], data })
}

/// Where the opcode decides about the element type, if that is `from`.
fn fixed_place(
    module: &Module,
    id: InstructionId,
    from: ElementType,
    to: ElementType,
) -> Option<&'static str> {
    use Opcode as O;
    let is_from = |id: InstructionId| module.shape_of(id).element_type() == Some(from);
    let operand = |index: usize| module.operands(id).get(index).is_some_and(|&id| is_from(id));
    let result = is_from(id);
    let opcode = module.instruction(id).opcode;
    let fixed = match opcode {
        O::PartitionId | O::ReplicaId | O::GetDimensionSize | O::RngGetAndUpdateState if result => {
            "its result always has this type"
        }
        O::Compare | O::IsFinite if result => "its result is always a truth value",
        O::SetDimensionSize if operand(1) => "the size always has this type",
        O::Select if operand(0) => "the selector is always a truth value",
        O::Conditional if operand(0) => "the selector always has this type",
        O::While => {
            let condition = module.called(id, AttrKey::Condition)?;
            let is_fixed = is_from(module.computation(condition).root);
            return is_fixed.then_some("the condition is always a truth value");
        }
        O::Real | O::Imag | O::Complex | O::Fft if result || operand(0) || operand(1) => {
            "its real and complex types come in pairs"
        }
        O::Abs if operand(0) && from.class() == ElementClass::Complex => {
            "its real and complex types come in pairs"
        }
        O::BitcastConvert if (result || operand(0)) && from.bits() != to.bits() => {
            "reinterpreting bits needs types of this size"
        }
        O::Send | O::Recv | O::CopyStart => {
            let place = if opcode == O::CopyStart { 2 } else { 1 };
            let context = *module.shape_of(id).as_tuple()?.get(place)?;
            let is_fixed = module.shape(context).element_type() == Some(from);
            return is_fixed.then_some("the context of a transfer or copy always has this type");
        }
        _ => return None,
    };
    Some(fixed)
}
