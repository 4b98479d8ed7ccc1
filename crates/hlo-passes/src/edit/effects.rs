//! Which instructions do more than compute their result.

use std::cell::RefCell;

use hlo_text::Module;
use hlo_text::ir::{ComputationId, InstructionId};

use super::Editor;

/// What is known about whole computations.
#[derive(Default)]
pub(super) struct EffectCache(RefCell<Vec<Option<bool>>>);

impl EffectCache {
    /// Forgets everything.
    pub(super) fn forget(&mut self) {
        self.0.get_mut().clear();
    }

    /// Forgets what may be wrong once the instruction has come or gone.
    pub(super) fn note_change(&mut self, module: &Module, id: InstructionId) {
        if self.0.get_mut().is_empty() {
            return;
        }
        let mut calls = false;
        module.for_each_called_computation(id, |_| calls = true);
        if calls || module.has_own_side_effect(id) {
            self.forget();
        }
    }
}

impl Editor<'_> {
    /// Whether the instruction does more than compute its result: sends, random numbers, constrained or (outside
    /// SPMD modules) channel collectives, flagged custom calls, or calls of such (XLA's `HasSideEffect`).
    pub fn has_side_effect(&self, id: InstructionId) -> bool {
        let mut effect = self.has_own_side_effect(id);
        if !effect {
            self.for_each_called_computation(id, |callee| {
                effect = effect || self.computation_has_side_effect(callee)
            });
        }
        effect
    }

    /// Whether an instruction of the computation has a side effect.
    pub fn computation_has_side_effect(&self, id: ComputationId) -> bool {
        let mut known = self.effects.0.borrow_mut();
        known.resize(self.computation_id_limit(), None);
        if let Some(effect) = known[id.index()] {
            return effect;
        }
        // Callees first, without recursion: a computation is looked at again when its callees are known.
        let mut stack = vec![id];
        while let Some(&computation) = stack.last() {
            let depth = stack.len();
            let mut effect = false;
            for instruction in self.live_instructions(computation) {
                effect |= self.has_own_side_effect(instruction);
                self.for_each_called_computation(instruction, |callee| match known[callee.index()] {
                    Some(called) => effect |= called,
                    None => stack.push(callee),
                });
                if effect {
                    break;
                }
            }
            if effect || stack.len() == depth {
                stack.truncate(depth - 1);
                known[computation.index()] = Some(effect);
            }
        }
        known[id.index()].unwrap_or(false)
    }
}
