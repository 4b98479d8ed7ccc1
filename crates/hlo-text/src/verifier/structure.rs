//! Rules about the module as a graph: references, circles, names, order, threads.

use crate::diagnostic::Code;
use crate::ir::{AttrKey, AttrValue, ComputationId, InstructionId, Opcode, Value};

use super::{Check, Verifier, Violation};

impl Verifier<'_> {
    /// Whatever instructions and computations refer to is there, and operands are of the same computation.
    pub(super) fn check_references(&mut self) {
        let module = self.module;
        let limit = module.instruction_id_limit();
        for &computation in module.computations() {
            let is_here = |id: InstructionId| {
                id.index() < limit && !module.is_removed(id) && module.instruction(id).parent == computation
            };
            let root = module.computation(computation).root;
            if !is_here(root) {
                let message = format!(
                    "the root of computation `{}` is not one of its instructions",
                    module.computation_name(computation)
                );
                let violation = Violation::of_module(Code::RemovedReference, message);
                self.found.push(Violation { computation: Some(computation), ..violation });
            }
            for id in module.live_instructions(computation) {
                let operands = module.operands(id).iter().map(|&operand| ("an operand", operand));
                let before = module.control_predecessors(id).iter().map(|&id| ("a control predecessor", id));
                if let Some((what, gone)) = operands.chain(before).find(|(_, operand)| !is_here(*operand)) {
                    let state = match gone.index() < limit && !module.is_removed(gone) {
                        true => "belongs to another computation",
                        false => "was removed",
                    };
                    let message = format!("{what} of `{}` {state}", module.name_of(id));
                    self.found.push(self.wrong(Code::RemovedReference, id, message));
                }
                if !self.calls_are_there(id) {
                    let message = format!("`{}` calls a computation that was removed", module.name_of(id));
                    self.found.push(self.wrong(Code::RemovedReference, id, message));
                }
                if self.is_full() {
                    return;
                }
            }
        }
    }

    fn calls_are_there(&self, id: InstructionId) -> bool {
        let module = self.module;
        let is_there = |id: &ComputationId| module.computations.get(id.index()).is_some_and(Option::is_some);
        module.attributes(id).iter().all(|attribute| match attribute.value {
            AttrValue::Computation(computation) => is_there(&computation),
            AttrValue::Value(value) if attribute.key.is_called_computation() => match module.value(value) {
                Value::Computations(computations) => computations.iter().all(is_there),
                _ => true,
            },
            _ => true,
        })
    }

    /// Instructions don't depend on each other in a circle; those of a scheduled module come after what they depend
    /// on.
    pub(super) fn check_order(&mut self) {
        let module = self.module;
        let mut positions = vec![u32::MAX; module.instruction_id_limit()];
        let mut states = Vec::new();
        for &computation in module.computations() {
            let ids = || module.live_instructions(computation);
            for (position, id) in ids().enumerate() {
                positions[id.index()] = u32::try_from(position).unwrap_or(u32::MAX);
            }
            let depends = |id: InstructionId| {
                module.operands(id).iter().chain(module.control_predecessors(id)).copied()
            };
            let early = ids().find_map(|id| {
                let late = depends(id).find(|other| positions[other.index()] >= positions[id.index()])?;
                Some((id, late))
            });
            // In order there is no circle.
            let Some((id, late)) = early else { continue };
            if let Some(at) = self.circle_in(computation, &mut states) {
                let message = format!(
                    "`{}` depends on its own result, by operands or control edges",
                    module.name_of(at)
                );
                self.found.push(self.wrong(Code::OperandCycle, at, message));
            } else if module.header.is_scheduled && self.uses.callers(computation).fusion.is_none() {
                let message = format!(
                    "`{}` is scheduled before `{}`, which it depends on",
                    module.name_of(id),
                    module.name_of(late)
                );
                let violation = self.wrong(Code::ScheduleOrder, id, message).also(late, "this comes later");
                self.found.push(violation);
            }
        }
    }

    /// An instruction of the computation that depends on itself. `state` is what is known of the instructions of
    /// other computations.
    fn circle_in(&self, computation: ComputationId, state: &mut Vec<u8>) -> Option<InstructionId> {
        const OPEN: u8 = 1;
        const DONE: u8 = 2;
        let module = self.module;
        state.resize(module.instruction_id_limit(), 0);
        let mut stack: Vec<(InstructionId, usize)> = Vec::new();
        for start in module.live_instructions(computation) {
            if state[start.index()] == DONE {
                continue;
            }
            state[start.index()] = OPEN;
            stack.push((start, 0));
            while let Some((id, next)) = stack.last_mut() {
                let (operands, before) = (module.operands(*id), module.control_predecessors(*id));
                let follows = operands.get(*next).or_else(|| before.get(*next - operands.len()));
                *next += 1;
                match follows.map(|&other| (other, state[other.index()])) {
                    Some((other, OPEN)) => return Some(other),
                    Some((_, DONE)) => {}
                    Some((other, _)) => {
                        state[other.index()] = OPEN;
                        stack.push((other, 0));
                    }
                    None => {
                        state[id.index()] = DONE;
                        stack.pop();
                    }
                }
            }
        }
        None
    }

    /// No two instructions of the module have the same name.
    pub(super) fn check_names(&mut self) {
        let module = self.module;
        let mut taken = vec![false; module.strings().len()];
        for &computation in module.computations() {
            for id in module.live_instructions(computation) {
                let name = module.instruction(id).name;
                let is_new = taken.get_mut(name.index()).is_some_and(|taken| !std::mem::replace(taken, true));
                if !is_new {
                    let message = format!(
                        "the name `{}` is that of another instruction of the module, too",
                        module.name_of(id)
                    );
                    self.found.push(self.wrong(Code::RepeatedName, id, message));
                }
            }
        }
    }

    /// What a fusion, loop or conditional calls runs on its own thread.
    pub(super) fn check_threads(&self, id: InstructionId) -> Check {
        let own = self.module.instruction(id).parent;
        let mut other = None;
        self.module.for_each_called_computation(id, |called| {
            if other.is_none() && self.thread_of(called) != self.thread_of(own) {
                other = Some(called);
            }
        });
        let Some(called) = other else { return Ok(()) };
        let text = |thread: &[u8]| String::from_utf8_lossy(thread).into_owned();
        let message = format!(
            "`{}` runs on execution thread \"{}\", but its computation `{}` on \"{}\"",
            self.name(id),
            text(self.thread_of(own)),
            self.module.computation_name(called),
            text(self.thread_of(called))
        );
        Err(self.wrong(Code::ThreadMismatch, id, message))
    }

    /// All all-reduces constrain their layout, or none does.
    pub(super) fn check_all_reduce_layouts(&mut self) {
        let module = self.module;
        let mut first: Option<(InstructionId, bool)> = None;
        for &computation in module.computations() {
            for id in module.live_instructions(computation) {
                if !matches!(self.opcode(id), Opcode::AllReduce | Opcode::AllReduceStart) {
                    continue;
                }
                let constrained = module.flag(id, AttrKey::ConstrainLayout);
                let (other, expected) = *first.get_or_insert((id, constrained));
                if constrained != expected {
                    let words = |constrained| if constrained { "constrains" } else { "doesn't constrain" };
                    let message = format!(
                        "`{}` {} its layout, but `{}` {}",
                        self.name(id),
                        words(constrained),
                        self.name(other),
                        words(expected)
                    );
                    // Neuron's front ends write both; layouts mean nothing to its compiler.
                    let violation = self.wrong(Code::AllReduceLayouts, id, message).warning();
                    self.found.push(violation.also(other, format!("this {}", words(expected))));
                    return;
                }
            }
        }
    }
}
