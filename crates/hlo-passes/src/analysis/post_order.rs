//! Orders of the instructions of a computation, as XLA's walks have them.

use hlo_text::Module;
use hlo_text::ir::{ComputationId, InstructionId};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    New,
    Open,
    Done,
}

/// Finds post-orders; keeps its tables, so that walking all computations of a module costs no more than its size.
#[derive(Default)]
pub struct PostOrder {
    marks: Vec<Mark>,
    has_users: Vec<bool>,
    stack: Vec<InstructionId>,
}

impl PostOrder {
    /// The instructions of a computation, operands and control predecessors before those that need them.
    ///
    /// As XLA's `MakeInstructionPostOrder`: from every instruction without users, in creation order; of what an
    /// instruction needs the last control predecessor comes first, operand 0 follows after all of them.
    pub fn of(&mut self, module: &Module, computation: ComputationId) -> Vec<InstructionId> {
        let mut order = Vec::with_capacity(module.computation(computation).instructions.len());
        self.append(module, computation, &mut order);
        order
    }

    /// Appends what [`PostOrder::of`] gives.
    pub fn append(&mut self, module: &Module, computation: ComputationId, order: &mut Vec<InstructionId>) {
        self.grow(module);
        for id in module.live_instructions(computation) {
            self.marks[id.index()] = Mark::New;
            self.has_users[id.index()] = false;
        }
        for id in module.live_instructions(computation) {
            for operand in module.operands(id) {
                self.has_users[operand.index()] = true;
            }
        }
        for id in module.live_instructions(computation) {
            if !self.has_users[id.index()] {
                self.walk(id, order, |id, stack| {
                    stack.extend(module.operands(id).iter().rev());
                    stack.extend(module.control_predecessors(id));
                });
            }
        }
    }

    /// The order in which XLA's `HloComputation::Accept` visits: from dead instructions and then from the root,
    /// operand 0 first, control predecessors after the operands.
    pub fn accept_order(&mut self, module: &Module, computation: ComputationId) -> Vec<InstructionId> {
        self.grow(module);
        let mut order = Vec::with_capacity(module.computation(computation).instructions.len());
        for id in module.live_instructions(computation) {
            self.marks[id.index()] = Mark::New;
            self.has_users[id.index()] = false;
        }
        for id in module.live_instructions(computation) {
            for used in module.operands(id).iter().chain(module.control_predecessors(id)) {
                self.has_users[used.index()] = true;
            }
        }
        let root = module.computation(computation).root;
        let dead = module.live_instructions(computation);
        let dead: Vec<_> = dead.filter(|&id| id != root && !self.has_users[id.index()]).collect();
        for id in dead.into_iter().chain([root]) {
            self.walk(id, &mut order, |id, stack| {
                stack.extend(module.control_predecessors(id).iter().rev());
                stack.extend(module.operands(id).iter().rev());
            });
        }
        order
    }

    fn grow(&mut self, module: &Module) {
        let limit = module.instruction_id_limit();
        if self.marks.len() < limit {
            self.marks.resize(limit, Mark::New);
            self.has_users.resize(limit, false);
        }
    }

    /// Appends what `root` needs and has not been visited, then `root`. `push` pushes what an instruction needs, the
    /// first one to visit last.
    fn walk(
        &mut self,
        root: InstructionId,
        order: &mut Vec<InstructionId>,
        mut push: impl FnMut(InstructionId, &mut Vec<InstructionId>),
    ) {
        self.stack.push(root);
        while let Some(&id) = self.stack.last() {
            match self.marks[id.index()] {
                Mark::Done => {
                    self.stack.pop();
                }
                Mark::Open => {
                    self.stack.pop();
                    self.marks[id.index()] = Mark::Done;
                    order.push(id);
                }
                Mark::New => {
                    self.marks[id.index()] = Mark::Open;
                    push(id, &mut self.stack);
                }
            }
        }
    }
}
