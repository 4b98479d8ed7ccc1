//! Which instructions do more than compute their result.

use std::cell::RefCell;

use hlo_text::Module;
use hlo_text::ir::{AttrKey, ComputationId, InstructionId, Opcode};

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
        if calls || has_own_side_effect(module, id) {
            self.forget();
        }
    }
}

/// Whether the module is one program for all partitions; then channel ids alone are no side effect. A text
/// module is when its header gives a number of partitions.
fn is_spmd(module: &Module) -> bool {
    module.header.num_partitions != 1
}

/// Whether the instruction itself has a side effect (XLA's `HasSideEffectNoRecurse`); what it calls doesn't count.
pub(super) fn has_own_side_effect(module: &Module, id: InstructionId) -> bool {
    use Opcode as O;
    let channel = || module.int(id, AttrKey::ChannelId).is_some() && !is_spmd(module);
    match module.instruction(id).opcode {
        O::Send
        | O::SendDone
        | O::Recv
        | O::RecvDone
        | O::Rng
        | O::RngGetAndUpdateState
        | O::Infeed
        | O::Outfeed
        | O::AllReduceStart
        | O::AllReduceDone
        | O::AllGatherStart
        | O::AllGatherDone
        | O::CollectiveBroadcast
        | O::CollectivePermuteStart
        | O::CollectivePermuteDone => true,
        O::AllToAll | O::AllGather | O::AllReduce | O::ReduceScatter => {
            module.flag(id, AttrKey::ConstrainLayout) || channel()
        }
        O::CollectivePermute | O::RaggedAllToAll => channel(),
        O::CustomCall => module.flag(id, AttrKey::CustomCallHasSideEffect),
        _ => false,
    }
}

impl Editor<'_> {
    /// Whether the instruction does more than compute its result: sends, random numbers, constrained or (outside
    /// SPMD modules) channel collectives, flagged custom calls, or calls of such (XLA's `HasSideEffect`).
    pub fn has_side_effect(&self, id: InstructionId) -> bool {
        let mut effect = has_own_side_effect(self, id);
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
                effect |= has_own_side_effect(self, instruction);
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
