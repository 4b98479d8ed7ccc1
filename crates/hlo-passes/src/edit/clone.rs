//! Copies of whole computations.

use hlo_text::ir::{AttrKey, ComputationId, InstructionId, Opcode};

use super::Editor;
use crate::{Map, Set};

/// What the names of copied bodies end with.
pub(super) const SUFFIX: &str = "clone";

impl Editor<'_> {
    /// The computation that is part of the instruction: the body of a fusion or of an asynchronous start.
    pub(crate) fn own_body(&self, id: InstructionId) -> Option<ComputationId> {
        match self.instruction(id).opcode {
            Opcode::Fusion | Opcode::AsyncStart => self.called(id, AttrKey::Calls),
            _ => None,
        }
    }

    /// Adds a copy of a computation. It is called `NAME.SUFFIX`, its instructions like the originals as far as
    /// that is free. It calls the same computations, but the bodies of fusions and asynchronous starts are copied with
    /// it. Returns the copy and what became of each instruction.
    pub fn clone_computation(
        &mut self,
        id: ComputationId,
        suffix: &str,
    ) -> (ComputationId, Map<InstructionId, InstructionId>) {
        let mut bodies = Map::default();
        for body in self.bodies_inside(id) {
            let (copy, _) = self.clone_with_bodies(body, SUFFIX, &bodies);
            bodies.insert(body, copy);
        }
        self.clone_with_bodies(id, suffix, &bodies)
    }

    /// The bodies of fusions and asynchronous starts in a computation, and in those, innermost first.
    fn bodies_inside(&self, id: ComputationId) -> Vec<ComputationId> {
        let mut order = Vec::new();
        let mut seen = Set::from_iter([id]);
        let mut stack = vec![(id, false)];
        while let Some((computation, is_done)) = stack.pop() {
            if is_done {
                order.push(computation);
                continue;
            }
            if computation != id {
                stack.push((computation, true));
            }
            let inner = self.live_instructions(computation).filter_map(|id| self.own_body(id));
            let inner: Vec<ComputationId> = inner.filter(|&body| seen.insert(body)).collect();
            stack.extend(inner.into_iter().rev().map(|body| (body, false)));
        }
        order
    }

    fn clone_with_bodies(
        &mut self,
        id: ComputationId,
        suffix: &str,
        bodies: &Map<ComputationId, ComputationId>,
    ) -> (ComputationId, Map<InstructionId, InstructionId>) {
        let name = format!("{}.{suffix}", self.computation_name(id));
        self.touched = true;
        let clone = self.module.add_computation(&name);
        let thread = self.computation(id).execution_thread;
        self.module.set_execution_thread(clone, thread);
        let order = self.creation_order(id);
        let mut copies = Map::default();
        let mut operands = Vec::new();
        for &instruction in &order {
            operands.clear();
            operands.extend(self.operands(instruction).iter().map(|operand| copies[operand]));
            let body = self.own_body(instruction).and_then(|body| bodies.get(&body)).copied();
            let name = self.module.name_of(instruction).to_owned();
            let copy = self.copy_with_body(instruction, clone, &operands, body, &name);
            copies.insert(instruction, copy);
        }
        for instruction in order {
            for predecessor in self.control_predecessors(instruction).to_vec() {
                self.add_control_dependency(copies[&predecessor], copies[&instruction]);
            }
        }
        self.module.set_root(clone, copies[&self.computation(id).root]);
        (clone, copies)
    }

    /// Parameters by number, so that the copies get the same ones, then the others: as created, but operands before
    /// users.
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
