//! Keeping the instructions of scheduled modules in an order in which they can run.

use std::collections::VecDeque;

use hlo_text::ir::{ComputationId, InstructionId};

use super::Editor;
use crate::{Map, Set};

impl Editor<'_> {
    /// Puts instructions that have come since the last time into the schedule: as early as what they need allows,
    /// as XLA's `HloSchedule::Update` does. What was scheduled before keeps its order.
    pub(super) fn update_schedule(&mut self) {
        let limit = self.instruction_id_limit();
        let first_new = std::mem::replace(&mut self.first_new, limit);
        if !self.header.is_scheduled || !self.touched {
            return;
        }
        for id in self.computations().to_vec() {
            let instructions = &self.computation(id).instructions;
            let (old, new): (Vec<_>, Vec<_>) = instructions.iter().partition(|id| id.index() < first_new);
            // A computation that is new as a whole is in the order of its making, which is a good one.
            let mut order = if old.is_empty() || new.is_empty() {
                instructions.clone()
            } else {
                self.merge_into_schedule(&old, &new)
            };
            if !self.can_run(&order, id) {
                order = self.post_order(id);
            }
            self.module.set_instruction_order(id, order);
        }
    }

    /// What must have run before the instruction, each once.
    fn needed(&self, id: InstructionId) -> Set<InstructionId> {
        self.operands(id).iter().chain(self.control_predecessors(id)).copied().collect()
    }

    fn merge_into_schedule(&self, old: &[InstructionId], new: &[InstructionId]) -> Vec<InstructionId> {
        let mut waiting: Map<InstructionId, usize> = Map::default();
        let mut waiters: Map<InstructionId, Vec<InstructionId>> = Map::default();
        let mut ready = VecDeque::new();
        for &id in new {
            let needed = self.needed(id);
            if needed.is_empty() {
                ready.push_back(id);
            }
            waiting.insert(id, needed.len());
            for needed in needed {
                waiters.entry(needed).or_default().push(id);
            }
        }
        let mut order = Vec::with_capacity(old.len() + new.len());
        let mut scheduled = old.iter();
        loop {
            while let Some(id) = ready.pop_front() {
                order.push(id);
                for &waiter in waiters.get(&id).into_iter().flatten() {
                    if let Some(count) = waiting.get_mut(&waiter) {
                        *count -= 1;
                        if *count == 0 {
                            ready.push_back(waiter);
                        }
                    }
                }
            }
            match scheduled.next() {
                Some(&id) => ready.push_back(id),
                None => return order,
            }
        }
    }

    /// Whether the order has every instruction of the computation after all it needs.
    fn can_run(&self, order: &[InstructionId], computation: ComputationId) -> bool {
        let mut done: Set<InstructionId> = Set::default();
        let in_order = order.iter().all(|&id| {
            let mut needed = self.operands(id).iter().chain(self.control_predecessors(id));
            let ready = needed.all(|id| done.contains(id));
            done.insert(id);
            ready
        });
        in_order && done.len() == self.computation(computation).instructions.len()
    }
}
