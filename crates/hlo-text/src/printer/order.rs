//! The orders in which XLA prints computations and instructions. All walks keep their own stacks.

use std::ops::Range;

use super::async_sugar::sugared_root;
use super::plan::Tables;
use crate::ir::{ComputationId, InstructionId, Module, Opcode};

/// A computation is called by some instruction.
const CALLED: u8 = 1;
/// A fusion calls it.
const FUSION_BODY: u8 = 2;
/// It is printed as the instruction that it wraps.
const HIDDEN: u8 = 4;
/// It has been put on the walk's stack.
const PUSHED: u8 = 8;
/// Something is printed with its name.
const NAMED: u8 = 16;

/// Who calls whom in a module.
pub(super) struct Calls {
    /// By computation: the marks above.
    marks: Vec<u8>,
    /// Called computations, those of one instruction next to each other.
    callees: Vec<ComputationId>,
    /// Where the callees of each calling instruction end.
    group_ends: Vec<usize>,
    /// By computation: its calling instructions, in creation order.
    groups: Vec<Range<usize>>,
    /// Whether the text must say all that is there.
    reads_back: bool,
}

impl Calls {
    /// Looks through all instructions of `module`; with `async_sugar` the computations that are printed as
    /// `X-start` count as hidden.
    pub(super) fn of(module: &Module, tables: &Tables, async_sugar: bool) -> Self {
        let limit = module.computation_id_limit();
        let mut calls = Self {
            marks: vec![0; limit],
            callees: Vec::new(),
            group_ends: Vec::new(),
            groups: vec![0..0; limit],
            reads_back: module.reads_back,
        };
        let mut printed = module.reads_back.then(InstructionOrder::default);
        if printed.is_some() && module.header.is_scheduled {
            calls.mark_fusion_bodies(module);
        }
        for &computation in module.computations() {
            let start = calls.group_ends.len();
            let callers = module.computation(computation).instructions.iter();
            let callers = callers.filter(|&&id| tables.may_call(module.instruction(id).opcode));
            match &mut printed {
                // The order must be what it is when the print has been read again.
                Some(printed) if callers.clone().nth(1).is_some() => {
                    let is_scheduled = module.header.is_scheduled && !calls.is_fusion_body(computation);
                    let range = match is_scheduled {
                        true => printed.push_creation_order(module, computation),
                        false => printed.push_post_order(module, computation),
                    };
                    for index in range.clone() {
                        calls.add_caller(module, printed.at(index), async_sugar);
                    }
                    printed.truncate(range.start);
                }
                // XLA goes by the order in which instructions were made, scheduled or not.
                _ if module.header.is_scheduled && !callers.clone().is_sorted() => {
                    let mut callers: Vec<InstructionId> = callers.copied().collect();
                    callers.sort_unstable();
                    callers.iter().for_each(|&id| calls.add_caller(module, id, async_sugar));
                }
                _ => callers.for_each(|&id| calls.add_caller(module, id, async_sugar)),
            }
            calls.groups[computation.index()] = start..calls.group_ends.len();
        }
        calls
    }

    fn mark_fusion_bodies(&mut self, module: &Module) {
        for &computation in module.computations() {
            for &id in &module.computation(computation).instructions {
                if module.instruction(id).opcode == Opcode::Fusion {
                    module.for_each_called_computation(id, |callee| {
                        self.marks[callee.index()] |= FUSION_BODY;
                    });
                }
            }
        }
    }

    fn add_caller(&mut self, module: &Module, id: InstructionId, async_sugar: bool) {
        let Self { marks, callees, .. } = self;
        let opcode = module.instruction(id).opcode;
        let start = callees.len();
        module.for_each_called_computation(id, |callee| {
            callees.push(callee);
            marks[callee.index()] |= CALLED;
            match opcode {
                Opcode::Fusion => marks[callee.index()] |= FUSION_BODY,
                Opcode::AsyncStart if async_sugar && sugared_root(module, id).is_some() => {
                    marks[callee.index()] |= HIDDEN;
                    return;
                }
                _ => {}
            }
            marks[callee.index()] |= NAMED;
        });
        if callees.len() > start {
            self.group_ends.push(self.callees.len());
        }
    }

    /// Whether a fusion calls `computation`. Such computations are not scheduled.
    pub(super) fn is_fusion_body(&self, computation: ComputationId) -> bool {
        self.marks[computation.index()] & FUSION_BODY != 0
    }

    /// Whether the computation isn't printed. XLA leaves it out, too, when others than asynchronous starts call it, and prints
    /// a text that can't be read.
    fn is_hidden(&self, computation: ComputationId) -> bool {
        let marks = self.marks[computation.index()];
        marks & HIDDEN != 0 && !(self.reads_back && marks & NAMED != 0)
    }

    /// The computations as they were made, without the hidden ones.
    pub(super) fn creation_order(&self, module: &Module) -> Vec<ComputationId> {
        module.computations().iter().copied().filter(|&id| !self.is_hidden(id)).collect()
    }

    /// The computations in the order XLA prints them: callees before callers, except that a computation is
    /// marked already when it is pushed, so that it can come after a caller that is reached later.
    ///
    /// XLA marks anew for each computation that nobody calls and drops what it had before. One set of marks
    /// gives the same: all that such a walk meets below a known computation is known as well.
    pub(super) fn printing_order(&mut self, module: &Module) -> Vec<ComputationId> {
        let mut order = Vec::with_capacity(module.computations().len());
        let mut stack: Vec<(ComputationId, Range<usize>)> = Vec::new();
        for &root in module.computations() {
            if self.marks[root.index()] & CALLED != 0 {
                continue;
            }
            for group in self.groups[root.index()].clone() {
                self.push_group(group, &mut stack);
                while let Some((computation, groups)) = stack.last_mut() {
                    match groups.next() {
                        Some(group) => self.push_group(group, &mut stack),
                        None => {
                            order.push(*computation);
                            stack.pop();
                        }
                    }
                }
            }
            order.push(root);
        }
        order.retain(|&id| !self.is_hidden(id));
        order
    }

    fn push_group(&mut self, group: usize, stack: &mut Vec<(ComputationId, Range<usize>)>) {
        let start = if group == 0 { 0 } else { self.group_ends[group - 1] };
        for index in (start..self.group_ends[group]).rev() {
            let callee = self.callees[index];
            if self.marks[callee.index()] & PUSHED == 0 {
                self.marks[callee.index()] |= PUSHED;
                stack.push((callee, self.groups[callee.index()].clone()));
            }
        }
    }
}

/// Not reached yet.
const NEW: u8 = 0;
/// Its operands are on the stack.
const VISITING: u8 = 1;
/// Has its place in the order.
const DONE: u8 = 3;
const STATE: u8 = 3;
/// Some instruction has it as an operand, or comes after it for another reason.
const USED: u8 = 4;

/// Post-order of instructions, and room for the orders of computations inside computations.
#[derive(Default)]
pub(super) struct InstructionOrder {
    /// By instruction: state of the walk.
    marks: Vec<u8>,
    stack: Vec<InstructionId>,
    order: Vec<InstructionId>,
    /// By place in the computation: scratch of [`Self::is_in_post_order`].
    subtree_starts: Vec<u32>,
    used_later: Vec<bool>,
}

impl InstructionOrder {
    /// The instruction at `index` of an order that hasn't been dropped.
    #[inline]
    pub(super) fn at(&self, index: usize) -> InstructionId {
        self.order[index]
    }

    /// Drops the orders from `start` on.
    pub(super) fn truncate(&mut self, start: usize) {
        self.order.truncate(start);
    }

    /// Adds the instructions of `computation` as they were made; gives where they are.
    pub(super) fn push_creation_order(
        &mut self,
        module: &Module,
        computation: ComputationId,
    ) -> Range<usize> {
        let start = self.order.len();
        self.order.extend_from_slice(&module.computation(computation).instructions);
        start..self.order.len()
    }

    /// Whether the instructions were made in post-order, as they are when the text was printed by XLA. Finds that
    /// out in one pass without a stack, several times as fast as the walk. Says no where that is too hard to tell.
    ///
    /// In post-order the instructions that a walk finishes on behalf of an instruction, its subtree, stand directly
    /// before it: that of its last operand reached from here at the end, before it that of the one before, and so
    /// on. Its other operands stand before all of them.
    fn is_in_post_order(&mut self, module: &Module, computation: ComputationId) -> bool {
        let ids = module.computation(computation).instructions.as_slice();
        let Some(&first) = ids.first() else { return true };
        let base = first.index();
        let starts = &mut self.subtree_starts;
        let used_later = &mut self.used_later;
        starts.clear();
        starts.reserve(ids.len());
        used_later.clear();
        used_later.resize(ids.len(), false);
        for (place, &id) in ids.iter().enumerate() {
            let instruction = &module.instructions[id.index()];
            // Places follow from ids only if those have no gaps.
            if id.index() != base + place || instruction.has_control_predecessors {
                return false;
            }
            let mut start = place;
            let mut last_before = None;
            let mut next_operand = None;
            for &operand in module.operand_pool[instruction.operands.as_range()].iter().rev() {
                let at = operand.index().wrapping_sub(base);
                if at >= place {
                    return false;
                }
                if at + 1 == start {
                    start = starts[at] as usize;
                } else if at < start {
                    // Reached from elsewhere before; must not turn out to be inside the subtree.
                    last_before = last_before.max(Some(at));
                    used_later[at] = true;
                } else if next_operand != Some(operand) {
                    return false;
                }
                next_operand = Some(operand);
            }
            if last_before >= Some(start) {
                return false;
            }
            starts.push(start as u32);
        }
        // The walks start at the instructions without users.
        let mut end = ids.len();
        while let Some(root) = end.checked_sub(1) {
            if used_later[root] {
                return false;
            }
            end = starts[root] as usize;
        }
        true
    }

    /// Adds the instructions of `computation` in post-order; gives where they are: from each instruction without
    /// users, in creation order, depth first through control predecessors (the last one first) and operands. What is
    /// to be read again begins at instructions without control successors only: one without users that is reached
    /// by a control edge before its turn comes would otherwise stand elsewhere in the next print.
    pub(super) fn push_post_order(&mut self, module: &Module, computation: ComputationId) -> Range<usize> {
        if self.is_in_post_order(module, computation) {
            return self.push_creation_order(module, computation);
        }
        let start = self.order.len();
        let ids = module.computation(computation).instructions.as_slice();
        self.order.reserve(ids.len());
        self.marks.resize(module.instruction_id_limit(), NEW);
        // As slices and local variables these stay in registers; the walk is a fair part of a print.
        let instructions = module.instructions.as_slice();
        let operand_pool = module.operand_pool.as_slice();
        let marks = self.marks.as_mut_slice();
        for &id in ids {
            marks[id.index()] = NEW;
        }
        for &id in ids {
            for operand in &operand_pool[instructions[id.index()].operands.as_range()] {
                marks[operand.index()] |= USED;
            }
            if module.reads_back && instructions[id.index()].has_control_predecessors {
                for predecessor in module.control_predecessors(id) {
                    marks[predecessor.index()] |= USED;
                }
            }
        }

        let mut order = std::mem::take(&mut self.order);
        let mut stack = std::mem::take(&mut self.stack);
        for &id in ids {
            if marks[id.index()] & USED == 0 {
                stack.push(id);
            }
            while let Some(&id) = stack.last() {
                let mark = &mut marks[id.index()];
                let state = *mark & STATE;
                if state == NEW {
                    *mark |= VISITING;
                    let height = stack.len();
                    let instruction = &instructions[id.index()];
                    for &operand in operand_pool[instruction.operands.as_range()].iter().rev() {
                        if marks[operand.index()] & STATE != DONE {
                            stack.push(operand);
                        }
                    }
                    if instruction.has_control_predecessors {
                        for &predecessor in module.control_predecessors(id) {
                            if marks[predecessor.index()] & STATE != DONE {
                                stack.push(predecessor);
                            }
                        }
                    }
                    if stack.len() > height {
                        continue;
                    }
                }
                if state != DONE {
                    marks[id.index()] |= DONE;
                    order.push(id);
                }
                stack.pop();
            }
        }
        self.order = order;
        self.stack = stack;
        start..self.order.len()
    }
}
