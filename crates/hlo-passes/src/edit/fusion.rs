//! Fusions, whose operands and the parameters of whose bodies go together.

use hlo_text::ir::words::FusionKind;
use hlo_text::ir::{AttrKey, AttrValue, ComputationId, InstructionId, Opcode, OperandAliasing, Value};

use super::Editor;
use crate::Map;
use crate::pass::{PassError, PassResult};

impl Editor<'_> {
    /// Leaves one of each operand of a fusion, with the parameters of its body to match, and says whether there were several.
    /// Custom fusions stay.
    ///
    /// # Errors
    /// The body has another number of parameters than the fusion has operands.
    pub fn merge_equal_fusion_operands(&mut self, fusion: InstructionId) -> PassResult<bool> {
        if self.is_custom_fusion(fusion) {
            return Ok(false);
        }
        let operands = self.operands(fusion).to_vec();
        let mut first_at = Map::default();
        let mut merged = Vec::new();
        for (index, &operand) in operands.iter().enumerate() {
            match first_at.entry(operand) {
                hashbrown::hash_map::Entry::Occupied(first) => merged.push((index, *first.get())),
                hashbrown::hash_map::Entry::Vacant(slot) => {
                    slot.insert(index);
                }
            }
        }
        let body = self.called(fusion, AttrKey::Calls);
        let Some(body) = body.filter(|&body| !merged.is_empty() && self.sole_fusion_of(body).is_some())
        else {
            return Ok(false);
        };
        let parameters = self.computation(body).parameters.clone();
        if parameters.len() != operands.len() {
            return Err(PassError::at(self, fusion, "the fusion's body has another number of parameters"));
        }
        for &(index, first) in &merged {
            self.replace_all_uses(parameters[index], parameters[first])?;
        }
        let gone: Vec<InstructionId> = merged.iter().map(|&(index, _)| parameters[index]).collect();
        self.remove_operands(fusion, &merged);
        self.remove_parameters_of(body, &gone);
        Ok(true)
    }

    /// Whether it is a fusion of the kind whose body only its back end understands.
    pub fn is_custom_fusion(&self, id: InstructionId) -> bool {
        self.instruction(id).opcode == Opcode::Fusion
            && self.attribute(id, AttrKey::FusionKind) == Some(AttrValue::Word(FusionKind::Custom.word()))
    }

    /// The fusion whose body the computation is, if nothing else calls it: only then can its parameters change.
    pub(super) fn sole_fusion_of(&self, id: ComputationId) -> Option<InstructionId> {
        let &[caller] = self.callers(id) else { return None };
        (self.instruction(caller).opcode == Opcode::Fusion).then_some(caller)
    }

    /// Whether the instruction is in the body of a fusion that nothing else calls.
    pub(super) fn is_fused(&self, id: InstructionId) -> bool {
        self.sole_fusion_of(self.instruction(id).parent).is_some()
    }

    /// Removes unused parameters of fusions' bodies together with the fusions' operands, and gives these.
    pub(super) fn remove_fusion_parameters(&mut self, parameters: &[InstructionId]) -> Vec<InstructionId> {
        let mut by_body: Map<ComputationId, Vec<InstructionId>> = Map::default();
        let mut bodies = Vec::new();
        for &parameter in parameters {
            let body = self.instruction(parameter).parent;
            let found = by_body.entry(body).or_insert_with(|| {
                bodies.push(body);
                Vec::new()
            });
            found.push(parameter);
        }
        let mut dropped = Vec::new();
        for body in bodies {
            let (Some(fusion), Some(parameters)) = (self.sole_fusion_of(body), by_body.remove(&body)) else {
                continue;
            };
            let mut gone = Vec::new();
            for &parameter in &parameters {
                let number = self.instruction(parameter).parameter_number as usize;
                if let Some(&operand) = self.operands(fusion).get(number) {
                    gone.push((number, number));
                    dropped.push(operand);
                }
            }
            self.remove_operands(fusion, &gone);
            self.remove_parameters_of(body, &parameters);
        }
        dropped
    }

    /// Removes operands; each is given with the one that stands for it, itself if none does. Aliases of results follow;
    /// those of operands that nothing stands for go. XLA leaves them all as they are.
    fn remove_operands(&mut self, id: InstructionId, gone: &[(usize, usize)]) {
        let stands_for: Map<usize, usize> = gone.iter().copied().collect();
        let operands = self.operands(id).to_vec();
        let mut kept = Vec::with_capacity(operands.len());
        let mut new_numbers = vec![None; operands.len()];
        for (number, &operand) in operands.iter().enumerate() {
            if !stands_for.contains_key(&number) {
                new_numbers[number] = Some(kept.len());
                kept.push(operand);
            }
        }
        if let Some(Value::Aliasing(aliases)) = self.value_of(id, AttrKey::OutputToOperandAliasing) {
            let renumbered = aliases.iter().filter_map(|alias| {
                let number = usize::try_from(alias.operand).ok()?;
                let number = stands_for.get(&number).copied().unwrap_or(number);
                let number = new_numbers.get(number).copied().flatten()?;
                Some(OperandAliasing { operand: number as i64, ..alias.clone() })
            });
            let renumbered: Vec<OperandAliasing> = renumbered.collect();
            let value = (!renumbered.is_empty())
                .then(|| AttrValue::Value(self.intern_value(Value::Aliasing(renumbered))));
            self.set_attribute(id, AttrKey::OutputToOperandAliasing, value);
        }
        self.set_operands(id, &kept);
    }

    /// Removes parameters that nothing uses; the others are numbered anew once.
    pub(super) fn remove_parameters_of(&mut self, body: ComputationId, parameters: &[InstructionId]) {
        self.touched = true;
        self.counts.removed[Opcode::Parameter as usize] += parameters.len() as u32;
        for &parameter in parameters {
            self.drop_control_dependencies(parameter);
        }
        self.module.remove_parameters(body, parameters);
    }
}
