//! Rules about computations that are applied to elements: `map`, `reduce`, `reduce-window`, `sort`.

use crate::diagnostic::Code;
use crate::ir::{ArrayShape, AttrKey, ElementType, InstructionId, Opcode};

use super::{Check, Verifier};

impl Verifier<'_> {
    fn array_of(&self, id: InstructionId) -> Option<&ArrayShape> {
        self.module.shape_of(id).as_array()
    }

    /// Parameters have exactly the element types of the operands of the same number.
    pub(super) fn check_applied_types(&self, id: InstructionId) -> Check {
        if self.options.allow_mixed_precision {
            return Ok(());
        }
        let Some(applied) = self.module.called(id, AttrKey::ToApply) else { return Ok(()) };
        let code = if self.opcode(id) == Opcode::Map { Code::MapSignature } else { Code::ReducerSignature };
        let parameters = &self.module.computation(applied).parameters;
        for (index, (&parameter, &operand)) in parameters.iter().zip(self.module.operands(id)).enumerate() {
            let element_type = |id| self.array_of(id).map(|array| array.element_type);
            if element_type(parameter) != element_type(operand) {
                let message = format!(
                    "parameter {index} of `{}` is {}, but operand {index} of {} `{}` is {}",
                    self.module.computation_name(applied),
                    self.text_of(parameter),
                    self.opcode(id),
                    self.name(id),
                    self.text_of(operand)
                );
                return Err(self
                    .wrong(code, id, message)
                    .also(parameter, "the parameter")
                    .also(operand, "the operand"));
            }
        }
        Ok(())
    }

    /// The comparison takes two elements of each operand.
    pub(super) fn check_sort(&self, id: InstructionId) -> Check {
        let module = self.module;
        let operands = module.operands(id);
        let Some(compare) = module.called(id, AttrKey::ToApply) else { return Ok(()) };
        let wrong = |message: String| self.wrong(Code::SortComparator, id, message);
        let result = self.result_of(compare);
        let is_pred = module
            .shape(result)
            .as_array()
            .is_some_and(|array| array.rank() == 0 && array.element_type == ElementType::Pred);
        if !is_pred {
            let message = format!(
                "the comparison of sort `{}` must give pred[], but gives {}",
                self.name(id),
                self.text(result)
            );
            return Err(wrong(message).also(module.computation(compare).root, "the comparison's root"));
        }
        let parameters = &module.computation(compare).parameters;
        if parameters.len() != 2 * operands.len() {
            let message = format!(
                "the comparison of sort `{}` must take {} parameters, two for each operand, but takes {}",
                self.name(id),
                2 * operands.len(),
                parameters.len()
            );
            return Err(wrong(message));
        }
        for (index, &parameter) in parameters.iter().enumerate() {
            let operand = operands[index / 2];
            let fits = match (self.array_of(parameter), self.array_of(operand)) {
                (Some(parameter), Some(operand)) => {
                    let (a, b) = (parameter.element_type, operand.element_type);
                    parameter.rank() == 0 && (a == b || a.is_float() && b.is_float())
                }
                _ => false,
            };
            if !fits {
                let message = format!(
                    "parameter {index} of the comparison of sort `{}` is {}, but compares elements of {}",
                    self.name(id),
                    self.text_of(parameter),
                    self.text_of(operand)
                );
                return Err(wrong(message).also(parameter, "the parameter").also(operand, "the operand"));
            }
        }
        let dimension =
            module.ints(id, AttrKey::Dimensions).and_then(|dimensions| dimensions.first().copied());
        let rank = operands.first().and_then(|&operand| self.array_of(operand)).map_or(0, ArrayShape::rank);
        match dimension {
            Some(dimension) if dimension >= rank as i64 => {
                let message = format!(
                    "sort `{}` sorts along dimension {dimension}, but its operands have {rank}",
                    self.name(id)
                );
                Err(self.wrong(Code::SortDimension, id, message))
            }
            _ => Ok(()),
        }
    }
}
