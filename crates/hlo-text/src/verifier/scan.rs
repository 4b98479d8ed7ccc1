//! Rules about `scan`.

use crate::diagnostic::Code;
use crate::ir::{ArrayShape, AttrKey, InstructionId, Shape, ShapeId};

use super::equality::{COMPATIBLE, FLOATS_ALIKE, Sameness};
use super::{Check, Verifier, Violation};

impl Verifier<'_> {
    fn scan_fault(&self, id: InstructionId, message: impl std::fmt::Display) -> Violation {
        self.wrong(Code::Scan, id, format!("scan `{}`: {message}", self.name(id)))
    }

    /// A tuple's elements, or the shape alone.
    fn parts(&self, id: ShapeId) -> Vec<ShapeId> {
        match self.module.shape(id) {
            Shape::Tuple(elements) => elements.clone(),
            _ => vec![id],
        }
    }

    /// Inputs come apart along the dimension, carries go around, outputs are put together.
    pub(super) fn check_scan(&self, id: InstructionId) -> Check {
        let module = self.module;
        let wrong = |message: String| Err(self.scan_fault(id, message));
        let &[along] = module.ints(id, AttrKey::Dimensions).unwrap_or_default() else {
            return wrong("it must name exactly one dimension".to_owned());
        };
        if self.options.layout_sensitive && !module.flag(id, AttrKey::IsAssociative) {
            return wrong("only associative scans can be left when layouts are final".to_owned());
        }
        let Some(applied) = module.called(id, AttrKey::ToApply) else { return Ok(()) };
        let operands = module.operands(id);
        let parameters = &module.computation(applied).parameters;
        let (roots, results) = (self.parts(self.result_of(applied)), self.parts(self.shape_id(id)));
        let carries =
            usize::try_from(self.number(id, AttrKey::NumCarries).unwrap_or(0)).unwrap_or(usize::MAX);
        let (Some(inputs), Some(outputs)) =
            (operands.len().checked_sub(carries), results.len().checked_sub(carries))
        else {
            return wrong(format!(
                "it has {} operands and {} results, but {carries} carries",
                operands.len(),
                results.len()
            ));
        };
        if inputs == 0 && outputs == 0 {
            return wrong("it has no inputs or outputs".to_owned());
        }
        if parameters.len() != operands.len() || roots.len() != results.len() {
            return wrong(format!(
                "it has {} operands and {} results, but its computation {} parameters and {} results",
                operands.len(),
                results.len(),
                parameters.len(),
                roots.len()
            ));
        }
        let Ok(along) = usize::try_from(along) else {
            return wrong(format!("there is no dimension {along}"));
        };
        let how = if self.options.allow_mixed_precision { FLOATS_ALIKE } else { COMPATIBLE };
        let whole = |index: usize, shape: ShapeId, what: &str| -> Result<&ArrayShape, Violation> {
            let array = module.shape(shape).as_array().filter(|array| along < array.rank());
            array.ok_or_else(|| {
                self.scan_fault(id, format!("{what} {index} has no dimension {along}: {}", self.text(shape)))
            })
        };
        let operand_shape = |index: usize| self.shape_id(operands[index]);
        let length = if inputs > 0 {
            whole(0, operand_shape(0), "operand")?.dimensions[along]
        } else {
            whole(0, results[0], "result")?.dimensions[along]
        };
        for (index, &parameter) in parameters.iter().enumerate().take(inputs) {
            let shape = operand_shape(index);
            let array = whole(index, shape, "operand")?;
            if array.dimensions[along] != length {
                return wrong(format!(
                    "dimension {along} of operand {index}, {}, must be {length}",
                    self.text(shape)
                ));
            }
            let parameter = self.shape_id(parameter);
            if !self.is_slice(parameter, array, along, how) {
                return wrong(format!(
                    "parameter {index} of its computation is {}, but operand {index} is {}",
                    self.text(parameter),
                    self.text(shape)
                ));
            }
        }
        let same = |a, b| how.of(module.shapes(), a, b);
        for index in inputs..operands.len() {
            let (parameter, root) = (self.shape_id(parameters[index]), roots[outputs + index - inputs]);
            let operand = operand_shape(index);
            if !same(parameter, operand) || !same(parameter, root) {
                return wrong(format!(
                    "a carry is given as {}, taken as {} and passed on as {}",
                    self.text(operand),
                    self.text(parameter),
                    self.text(root)
                ));
            }
        }
        for (index, (&root, &result)) in roots.iter().zip(&results).enumerate() {
            let fits = if index < outputs {
                self.is_slice(root, whole(index, result, "result")?, along, how)
            } else {
                same(root, result)
            };
            if !fits {
                return wrong(format!(
                    "result {index} is {}, but its computation gives {}",
                    self.text(result),
                    self.text(root)
                ));
            }
        }
        Ok(())
    }

    /// Whether `shape` is `whole` without the dimension `along`.
    fn is_slice(&self, shape: ShapeId, whole: &ArrayShape, along: usize, how: Sameness) -> bool {
        let mut slice = whole.clone();
        slice.dimensions.remove(along);
        slice.dynamic.remove(along);
        self.module.shape(shape).as_array().is_some_and(|array| how.arrays(array, &slice))
    }
}
