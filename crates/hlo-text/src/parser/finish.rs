//! After the last token: what can only be checked on the whole module, and unique names.

use hashbrown::HashSet;

use crate::diagnostic::{Code, Diagnostic, Span};
use crate::ir::{ComputationId, Module, Symbol};

use super::ParseResult;
use super::builder::Builder;
use crate::ir::NameSet;

impl Builder<'_> {
    /// Completes the module.
    pub(crate) fn finish(&mut self) -> Result<(), Vec<Diagnostic>> {
        let undefined = self.undefined_computations();
        if !undefined.is_empty() {
            return Err(undefined);
        }
        self.finish_checked().map_err(|error| vec![*error])
    }

    fn finish_checked(&mut self) -> ParseResult<()> {
        let end = Span::new(self.source.len(), self.source.len());
        let Some(&last) = self.module.computation_order.last() else {
            return Err(
                Diagnostic::new(Code::UnexpectedToken, end, "a module has at least one computation").boxed()
            );
        };
        let entry = *self.module.entry.get_or_insert(last);
        if !self.strict() {
            self.check_call_cycles()?;
        }
        let result = self.module.instruction(self.module.computation(entry).root).shape;
        super::aliasing::check_aliases(&self.module, result, end, |key| self.header_key_span(key))?;
        self.finish_async()?;
        super::stack_frames::rebuild_stack_frames(&mut self.module, &self.stack_frames);
        let hidden = std::mem::take(&mut self.hidden);
        // What stands in the text keeps its name; XLA renames it if it comes after a hidden one of that name.
        let last: &[ComputationId] = if self.module.reads_back { &hidden } else { &[] };
        make_names_unique(&mut self.module, last);
        if self.module.strings.get(self.module.name).is_empty() {
            let name = format!("module_{}", self.module.computation_name(entry));
            self.module.name = self.module.strings.intern(name.as_bytes());
        }
        Ok(())
    }

    /// Computations named before they are defined may call each other in a circle.
    fn check_call_cycles(&self) -> ParseResult<()> {
        #[derive(Clone, Copy, PartialEq)]
        enum Mark {
            New,
            Open,
            Done,
        }
        let module = &self.module;
        let mut marks = vec![Mark::New; module.computations.len()];
        for &start in &module.computation_order {
            let mut stack = vec![(start, false)];
            while let Some((id, leaving)) = stack.pop() {
                if leaving {
                    marks[id.index()] = Mark::Done;
                    continue;
                }
                if marks[id.index()] != Mark::New {
                    continue;
                }
                marks[id.index()] = Mark::Open;
                stack.push((id, true));
                for &instruction in &module.computation(id).instructions {
                    let mut circle = false;
                    module.for_each_called_computation(instruction, |callee| {
                        circle |= marks[callee.index()] == Mark::Open;
                        if marks[callee.index()] == Mark::New {
                            stack.push((callee, false));
                        }
                    });
                    if circle {
                        let message = format!("computation `{}` calls itself", module.computation_name(id));
                        return Err(Diagnostic::new(
                            Code::BadComputation,
                            self.spans[instruction.index()],
                            message,
                        )
                        .label("this call closes a circle")
                        .boxed());
                    }
                }
            }
        }
        Ok(())
    }
}

/// Makes the names of computations, and those of instructions, unique in the order XLA does: computations as they
/// were finished, their instructions as they were created. The computations `last`, which are in that order as well, come
/// after all others.
pub(crate) fn make_names_unique(module: &mut Module, last: &[ComputationId]) {
    let finished = std::mem::take(&mut module.computation_order);
    let mut order = finished.clone();
    if !last.is_empty() {
        let last: HashSet<ComputationId, foldhash::fast::FixedState> = last.iter().copied().collect();
        order.sort_by_key(|id| last.contains(id));
    }
    let mut names: Vec<Symbol> = order.iter().map(|&id| module.computation(id).name).collect();
    NameSet::unique_in_place(&mut names, &mut module.strings);
    for (&id, &name) in order.iter().zip(&names) {
        if let Some(computation) = &mut module.computations[id.index()] {
            computation.name = name;
        }
    }
    let each = |module: &Module, id: ComputationId| module.computation(id).instructions.len();
    names.clear();
    names.reserve(order.iter().map(|&id| each(module, id)).sum());
    for &id in &order {
        names.extend(module.computation(id).instructions.iter().map(|&id| module.instruction(id).name));
    }
    NameSet::unique_in_place(&mut names, &mut module.strings);
    let mut names = names.into_iter();
    for &id in &order {
        let Some(computation) = &module.computations[id.index()] else { continue };
        for (&instruction, name) in computation.instructions.iter().zip(&mut names) {
            module.instructions[instruction.index()].name = name;
        }
    }
    module.computation_order = finished;
}
