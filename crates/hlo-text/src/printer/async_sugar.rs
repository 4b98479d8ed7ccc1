//! `X-start(...)` instead of `async-start(...), calls=...`: XLA prints a started computation that is nothing but
//! parameters and a root as that root, and leaves the computation out.

use hashbrown::HashMap;

use crate::ir::{AttrKey, ComputationId, HASHER, InstructionId, Module, Opcode};

/// Whether `computation` consists of parameters and its root.
pub(super) fn is_single_instruction(module: &Module, computation: ComputationId) -> bool {
    let computation = module.computation(computation);
    computation
        .instructions
        .iter()
        .all(|&id| id == computation.root || module.instruction(id).opcode == Opcode::Parameter)
}

/// What the asynchronous instructions of a module wrap.
pub(super) struct AsyncSugar {
    /// The wrapped instruction of starts and updates seen so far, `None` if there is no sugar for them.
    wrapped: HashMap<InstructionId, Option<InstructionId>, foldhash::fast::FixedState>,
}

impl Default for AsyncSugar {
    fn default() -> Self {
        Self { wrapped: HashMap::with_hasher(HASHER) }
    }
}

impl AsyncSugar {
    /// The root of the computation that the chain of the start, update or done `id` runs, if that computation
    /// is nothing else.
    pub(super) fn wrapped(&mut self, module: &Module, id: InstructionId) -> Option<InstructionId> {
        // Up the chain of updates, to the start or to one that is known. Operands are printed before their
        // users, so that is one step, except when a single instruction is printed.
        let mut link = id;
        let wrapped = loop {
            if let Some(&known) = self.wrapped.get(&link) {
                break known;
            }
            match module.instruction(link).opcode {
                Opcode::AsyncStart => {
                    break module
                        .called(link, AttrKey::Calls)
                        .filter(|&computation| is_single_instruction(module, computation))
                        .map(|computation| module.computation(computation).root);
                }
                Opcode::AsyncUpdate | Opcode::AsyncDone => match module.operands(link).first() {
                    Some(&operand) => link = operand,
                    None => break None,
                },
                _ => break None,
            }
        };
        self.wrapped.insert(link, wrapped);
        self.wrapped.insert(id, wrapped);
        wrapped
    }
}
