//! Rules about fusions.

use crate::diagnostic::Code;
use crate::ir::{AttrKey, ComputationId, InstructionId};

use super::equality::{COMPATIBLE, EQUAL, Layouts, Sameness};
use super::{Check, Verifier};

impl Verifier<'_> {
    pub(super) fn check_fusion_signature(&self, id: InstructionId) -> Check {
        let module = self.module;
        let Some(fused) = module.called(id, AttrKey::Calls) else { return Ok(()) };
        let result = self.result_of(fused);
        if !self.is_same(self.shape_id(id), result) {
            let (stated, inferred) = (self.text_of(id), self.text(result));
            let message =
                format!("fusion `{}` is stated to be {stated}, but its root is {inferred}", self.name(id));
            let root = module.computation(fused).root;
            return Err(self.wrong(Code::FusionSignature, id, message).also(root, "the root"));
        }
        let (parameters, operands) = (&module.computation(fused).parameters, module.operands(id));
        if parameters.len() > operands.len() {
            let message = format!(
                "the computation of fusion `{}` takes {} parameters, but it has {} operands",
                self.name(id),
                parameters.len(),
                operands.len()
            );
            return Err(self.wrong(Code::FusionSignature, id, message));
        }
        for (index, (&parameter, &operand)) in parameters.iter().zip(operands).enumerate() {
            if !self.is_same(self.shape_id(parameter), self.shape_id(operand)) {
                let message = format!(
                    "operand {index} of fusion `{}` is {}, but parameter {index} of its computation is {}",
                    self.name(id),
                    self.text_of(operand),
                    self.text_of(parameter)
                );
                return Err(self
                    .wrong(Code::FusionSignature, id, message)
                    .also(parameter, "the parameter")
                    .also(operand, "the operand"));
            }
        }
        let how = match (self.options.layout_sensitive, self.is_in_fusion(id)) {
            (false, _) => COMPATIBLE,
            (true, true) => Sameness { layouts: Layouts::Untiled, ..EQUAL },
            (true, false) => EQUAL,
        };
        self.check_aliasing(id, how)
    }

    /// The computation of a fusion belongs to it, and everything in it is needed.
    pub(super) fn check_fusion_body(&mut self, id: InstructionId) {
        let Some(fused) = self.module.called(id, AttrKey::Calls) else { return };
        self.note(self.check_threads(id));
        self.note(self.check_ownership(id, fused));
        self.note(self.check_needed(id, fused));
    }

    fn check_ownership(&self, id: InstructionId, fused: ComputationId) -> Check {
        if fused == self.module.entry() {
            let message = format!("fusion `{}` calls the entry computation", self.name(id));
            return Err(self.wrong(Code::FusionBody, id, message));
        }
        match self.uses.callers(fused).fusion {
            Some(first) if first != id => {
                let message = format!(
                    "fusion `{}` calls `{}`, which belongs to fusion `{}`",
                    self.name(id),
                    self.module.computation_name(fused),
                    self.name(first)
                );
                Err(self
                    .wrong(Code::FusionBody, id, message)
                    .also(first, "the first fusion that calls it")
                    .help("give each fusion a computation of its own"))
            }
            _ => Ok(()),
        }
    }

    fn check_needed(&self, id: InstructionId, fused: ComputationId) -> Check {
        let root = self.module.computation(fused).root;
        let name = self.module.computation_name(fused);
        if self.uses.has_users(root) {
            let message = format!(
                "`{}` is the root of the fused computation `{name}`, but is used in it",
                self.name(root)
            );
            return Err(self.wrong(Code::FusionBody, root, message).also(id, "the fusion"));
        }
        for inner in self.module.live_instructions(fused) {
            if inner != root && !self.uses.has_users(inner) && !self.module.has_own_side_effect(inner) {
                let message = format!("`{}` in the fused computation `{name}` is not used", self.name(inner));
                return Err(self
                    .wrong(Code::FusionBody, inner, message)
                    .also(id, "the fusion")
                    .help("leave it out of the fusion"));
            }
        }
        Ok(())
    }
}
