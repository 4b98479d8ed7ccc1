//! Rules about calls, loops, conditionals and custom calls.

use crate::diagnostic::Code;
use crate::ir::{
    AttrKey, AttrValue, ComputationId, ElementType, InstructionId, Opcode, OperandAliasing, Shape, ShapeId,
    Value,
};

use super::equality::{COMPATIBLE, EQUAL, Layouts, Sameness, part};
use super::{Check, Verifier};

impl Verifier<'_> {
    pub(super) fn check_call(&self, id: InstructionId) -> Check {
        let Some(callee) = self.module.called(id, AttrKey::ToApply) else { return Ok(()) };
        self.check_arguments(id, callee, self.module.operands(id), Code::CallSignature)?;
        self.check_result(id, self.result_of(callee), Code::ResultShape)?;
        if self.module.flag(id, AttrKey::IsComposite) { self.check_composite(id) } else { Ok(()) }
    }

    /// The computation takes what it is given.
    fn check_arguments(
        &self,
        id: InstructionId,
        callee: ComputationId,
        arguments: &[InstructionId],
        code: Code,
    ) -> Check {
        let parameters = &self.module.computation(callee).parameters;
        let name = self.module.computation_name(callee);
        if parameters.len() != arguments.len() {
            let message = format!(
                "computation `{name}` takes {} parameters, but {} `{}` gives it {}",
                parameters.len(),
                self.opcode(id),
                self.name(id),
                arguments.len()
            );
            return Err(self.wrong(code, id, message));
        }
        for (index, (&parameter, &argument)) in parameters.iter().zip(arguments).enumerate() {
            if !self.is_same(self.shape_id(argument), self.shape_id(parameter)) {
                let message = format!(
                    "parameter {index} of `{name}` is {}, but {} `{}` gives it {}",
                    self.text_of(parameter),
                    self.opcode(id),
                    self.name(id),
                    self.text_of(argument)
                );
                return Err(self
                    .wrong(code, id, message)
                    .also(parameter, "the parameter")
                    .also(argument, "the operand"));
            }
        }
        Ok(())
    }

    /// The stated shape is what the computation gives.
    fn check_result(&self, id: InstructionId, result: ShapeId, code: Code) -> Check {
        if self.is_same(self.shape_id(id), result) {
            return Ok(());
        }
        let (stated, inferred) = (self.text_of(id), self.text(result));
        let message =
            format!("`{}` is stated to be {stated}, but its computation gives {inferred}", self.name(id));
        Err(self.wrong(code, id, message).label(format!("stated: {stated}; inferred: {inferred}")))
    }

    fn check_composite(&self, id: InstructionId) -> Check {
        let wrong = |what: &str| {
            Err(self.wrong(Code::CompositeCall, id, format!("composite call `{}` {what}", self.name(id))))
        };
        let attribute = |key| self.frontend_attribute(id, key);
        if self.module.value_of(id, AttrKey::FrontendAttributes).is_none() {
            return wrong("needs frontend attributes");
        }
        if attribute("composite.name").is_none_or(<[u8]>::is_empty) {
            return wrong("needs a name: frontend attribute `composite.name`");
        }
        if attribute("composite.attributes").is_some_and(<[u8]>::is_empty) {
            return wrong("has empty `composite.attributes`");
        }
        if let Some(version) = attribute("composite.version")
            && !std::str::from_utf8(version)
                .is_ok_and(|text| text.parse::<i64>().is_ok_and(|number| number >= 0))
        {
            return wrong("has a `composite.version` that is no number from 0");
        }
        Ok(())
    }

    pub(super) fn check_while(&self, id: InstructionId) -> Check {
        let module = self.module;
        let (Some(body), Some(condition)) =
            (module.called(id, AttrKey::Body), module.called(id, AttrKey::Condition))
        else {
            return Ok(());
        };
        let init = module.operands(id);
        self.check_arguments(id, body, init, Code::WhileSignature).map_err(|violation| {
            let given = init.first().map_or(String::new(), |&init| self.text_of(init));
            let result = self.text(self.result_of(body));
            violation.label(format!("starts from {given}; its body gives {result}"))
        })?;
        self.check_arguments(id, condition, init, Code::WhileSignature)?;
        let predicate = self.result_of(condition);
        let is_pred = module
            .shape(predicate)
            .as_array()
            .is_some_and(|array| array.rank() == 0 && array.element_type == ElementType::Pred);
        if !is_pred {
            let root = module.computation(condition).root;
            let message = format!(
                "the condition of while `{}` must give pred[], but gives {}",
                self.name(id),
                self.text(predicate)
            );
            return Err(self.wrong(Code::WhilePredicate, id, message).also(root, "the condition's root"));
        }
        self.check_result(id, self.result_of(body), Code::WhileSignature)
    }

    pub(super) fn check_conditional(&self, id: InstructionId) -> Check {
        let module = self.module;
        let Some((&index, arguments)) = module.operands(id).split_first() else { return Ok(()) };
        let mut branches = Vec::new();
        module.for_each_called_computation(id, |branch| branches.push(branch));
        let by_pred = module.attribute(id, AttrKey::BranchComputations).is_none();
        let fits = module.shape_of(index).as_array().is_some_and(|array| {
            array.rank() == 0
                && match array.element_type {
                    ElementType::Pred => by_pred || branches.len() == 2,
                    ElementType::S32 => !by_pred,
                    _ => false,
                }
        });
        if !fits {
            let message = format!(
                "conditional `{}` with {} branches can't choose by {}: two branches take pred[], others s32[]",
                self.name(id),
                branches.len(),
                self.text_of(index)
            );
            return Err(self.wrong(Code::BranchIndex, id, message).also(index, "the index"));
        }
        if branches.len() != arguments.len() {
            let message = format!(
                "conditional `{}` has {} branches, but operands for {}",
                self.name(id),
                branches.len(),
                arguments.len()
            );
            return Err(self.wrong(Code::WrongOperandCount, id, message));
        }
        for (&branch, argument) in branches.iter().zip(arguments) {
            self.check_arguments(id, branch, std::slice::from_ref(argument), Code::BranchSignature)?;
            self.check_result(id, self.result_of(branch), Code::BranchSignature)?;
        }
        Ok(())
    }

    // ------------------------------------------------------------ custom calls

    pub(super) fn check_custom_call(&self, id: InstructionId) -> Check {
        let target = self.module.string(id, AttrKey::CustomCallTarget).unwrap_or_default();
        if !matches!(target, b"LayoutConstraint" | b"control_dep") {
            self.check_layout_constraints(id)?;
        }
        if self.frontend_attribute(id, "xla_skip_custom_call_alias_shape_check").is_none() {
            let buffers_are_arrays = matches!(target, b"Pin" | b"Unpin");
            let how = if self.options.layout_sensitive { EQUAL } else { COMPATIBLE };
            self.check_aliasing(id, Sameness { buffers_are_arrays, ..how })?;
        }
        if target == b"GetRngSeed" {
            let is_seed = self
                .module
                .shape_of(id)
                .as_array()
                .is_some_and(|array| array.rank() == 0 && array.element_type == ElementType::U64);
            let operands = self.module.operands(id).len();
            if operands > 0 || !is_seed {
                let message = format!(
                    "`{}` calls GetRngSeed with {operands} operands for {}: it takes none and gives u64[]",
                    self.name(id),
                    self.text_of(id)
                );
                // Some versions of XLA take others.
                return Err(self.wrong(Code::RandomSeedCall, id, message).warning());
            }
        }
        Ok(())
    }

    fn check_layout_constraints(&self, id: InstructionId) -> Check {
        let Some(Value::Shapes(constraints)) = self.module.value_of(id, AttrKey::OperandLayoutConstraints)
        else {
            return Ok(());
        };
        let operands = self.module.operands(id);
        if constraints.len() != operands.len() {
            let message = format!(
                "custom call `{}` has {} operands, but layout constraints for {}",
                self.name(id),
                operands.len(),
                constraints.len()
            );
            return Err(self.wrong(Code::CustomCallLayouts, id, message));
        }
        for (index, (&constraint, &operand)) in constraints.iter().zip(operands).enumerate() {
            if !self.is_compatible(constraint, self.shape_id(operand)) {
                let message = format!(
                    "operand {index} of custom call `{}` is {}, but its layout constraint is {}",
                    self.name(id),
                    self.text_of(operand),
                    self.text(constraint)
                );
                return Err(self.wrong(Code::CustomCallLayouts, id, message).also(operand, "the operand"));
            }
        }
        Ok(())
    }

    /// `output_to_operand_aliasing=` joins parts that exist and are the same.
    pub(super) fn check_aliasing(&self, id: InstructionId, how: Sameness) -> Check {
        let module = self.module;
        let Some(Value::Aliasing(pairs)) = module.value_of(id, AttrKey::OutputToOperandAliasing) else {
            return Ok(());
        };
        let shapes = module.shapes();
        for OperandAliasing { output_index, operand, operand_index } in pairs {
            let text = crate::shape_inference::ints_text;
            let place = format!(
                "`{}` says that its output {} is operand {operand} {}",
                self.name(id),
                text(output_index),
                text(operand_index)
            );
            let source =
                usize::try_from(*operand).ok().and_then(|index| module.operands(id).get(index).copied());
            let input = source.and_then(|id| part(shapes, self.shape_id(id), operand_index));
            let output = part(shapes, self.shape_id(id), output_index);
            let (Some(input), Some(output)) = (input, output) else {
                let message = format!("{place}, which doesn't exist");
                return Err(self.wrong(Code::AliasingPair, id, message));
            };
            let single = |id: ShapeId| matches!(shapes.get(id), Shape::Array(array) if array.element_count() == Some(1));
            let how =
                if self.opcode(id) == Opcode::CustomCall && how.layouts == Layouts::Full && single(input) {
                    Sameness { layouts: Layouts::Anywhere, ..how }
                } else {
                    how
                };
            if !how.of(shapes, input, output) {
                let message = format!("{place}, but they are {} and {}", self.text(output), self.text(input));
                return Err(self.wrong(Code::AliasingPair, id, message));
            }
        }
        Ok(())
    }

    /// The number of an attribute, for those that have a default.
    pub(super) fn number(&self, id: InstructionId, key: AttrKey) -> Option<i64> {
        match self.module.attribute(id, key) {
            Some(AttrValue::Int(number)) => Some(number),
            _ => None,
        }
    }
}
