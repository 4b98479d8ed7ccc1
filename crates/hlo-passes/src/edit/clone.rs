//! Copies of whole computations.

use hlo_text::ir::{ComputationId, InstructionId};

use super::Editor;
use crate::{Map, Set};

impl Editor<'_> {
    /// Adds a copy of a computation. It is called `NAME.SUFFIX`, its instructions like the originals as far as
    /// that is free, and it calls the same computations. Returns the copy and what became of each instruction.
    pub fn clone_computation(
        &mut self,
        id: ComputationId,
        suffix: &str,
    ) -> (ComputationId, Map<InstructionId, InstructionId>) {
        let name = format!("{}.{suffix}", self.computation_name(id));
        self.touched = true;
        let clone = self.module.add_computation(&name);
        let thread = self.computation(id).execution_thread;
        self.module.set_execution_thread(clone, thread);
        // Parameters by number, so that they get the same ones; the rest in creation order, operands first.
        let order = self.creation_order(id);
        let mut copies = Map::default();
        let mut operands = Vec::new();
        for instruction in order {
            operands.clear();
            operands.extend(self.operands(instruction).iter().map(|operand| copies[operand]));
            let copy = self.copy_instruction(instruction, clone, &operands);
            copies.insert(instruction, copy);
        }
        for (&instruction, &copy) in &copies {
            for predecessor in self.control_predecessors(instruction).to_vec() {
                self.add_control_dependency(copies[&predecessor], copy);
            }
        }
        self.module.set_root(clone, copies[&self.computation(id).root]);
        (clone, copies)
    }

    /// Parameters by number, then the others: as created, but operands before users.
    fn creation_order(&self, id: ComputationId) -> Vec<InstructionId> {
        let computation = self.computation(id);
        let mut order = computation.parameters.clone();
        let mut placed: Set<_> = order.iter().copied().collect();
        let mut stack = Vec::new();
        for instruction in self.live_instructions(id) {
            stack.push((instruction, false));
            while let Some((instruction, operands_done)) = stack.pop() {
                if operands_done {
                    if placed.insert(instruction) {
                        order.push(instruction);
                    }
                } else if !placed.contains(&instruction) {
                    stack.push((instruction, true));
                    let operands = self.operands(instruction).iter().rev();
                    stack.extend(operands.filter(|id| !placed.contains(*id)).map(|&id| (id, false)));
                }
            }
        }
        order
    }
}
