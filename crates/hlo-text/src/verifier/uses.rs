//! Who uses and who calls: what rules ask about the other end of an edge.

use hashbrown::HashMap;

use crate::ir::{ComputationId, HASHER, InstructionId, Module, Opcode};

/// Who calls a computation.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Callers {
    /// The first fusion that does.
    pub(super) fusion: Option<InstructionId>,
    /// The first asynchronous start that does.
    pub(super) start: Option<InstructionId>,
    /// Whether more than one asynchronous start does.
    pub(super) several_starts: bool,
    /// Whether it is the body of a loop.
    pub(super) is_body: bool,
}

/// Users and callers.
#[derive(Debug, Default)]
pub(super) struct Uses {
    /// Whether each instruction has a user.
    used: Vec<bool>,
    /// The users, in order and each once, of instructions whose users are asked for.
    lists: HashMap<InstructionId, Vec<InstructionId>, foldhash::fast::FixedState>,
    callers: HashMap<ComputationId, Callers, foldhash::fast::FixedState>,
}

impl Uses {
    /// The users of all instructions are kept if `all_lists`.
    pub(super) fn new(module: &Module, all_lists: bool) -> Self {
        let mut uses = Self {
            used: vec![false; module.instruction_id_limit()],
            lists: HashMap::with_hasher(HASHER),
            callers: HashMap::with_hasher(HASHER),
        };
        for &computation in module.computations() {
            for id in module.live_instructions(computation) {
                uses.add(module, id, all_lists);
            }
        }
        uses
    }

    fn add(&mut self, module: &Module, id: InstructionId, all_lists: bool) {
        for &operand in module.operands(id) {
            if let Some(used) = self.used.get_mut(operand.index()) {
                *used = true;
            }
            if all_lists || module.instruction(operand).opcode.begins_pair() {
                let list = self.lists.entry(operand).or_default();
                if list.last() != Some(&id) {
                    list.push(id);
                }
            }
        }
        if module.attributes(id).is_empty() {
            return;
        }
        let opcode = module.instruction(id).opcode;
        let body = match opcode {
            Opcode::While => module.called(id, crate::ir::AttrKey::Body),
            Opcode::Fusion | Opcode::AsyncStart => None,
            _ => return,
        };
        module.for_each_called_computation(id, |computation| {
            let callers = self.callers.entry(computation).or_default();
            match opcode {
                Opcode::Fusion => {
                    callers.fusion.get_or_insert(id);
                }
                Opcode::AsyncStart => {
                    callers.several_starts |= callers.start.is_some();
                    callers.start.get_or_insert(id);
                }
                _ => callers.is_body |= body == Some(computation),
            }
        });
    }

    /// Whether anything in its computation uses the instruction.
    pub(super) fn has_users(&self, id: InstructionId) -> bool {
        self.used.get(id.index()) == Some(&true)
    }

    /// The users of a half of a pair, or of any instruction if the module has buffers; each once.
    pub(super) fn users(&self, id: InstructionId) -> &[InstructionId] {
        self.lists.get(&id).map_or(&[], Vec::as_slice)
    }

    /// Who calls a computation.
    pub(super) fn callers(&self, id: ComputationId) -> Callers {
        self.callers.get(&id).copied().unwrap_or_default()
    }
}
