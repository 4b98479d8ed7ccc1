//! What becomes of names and open computations after a fault.

use super::{Builder, Forward};
use crate::diagnostic::{Diagnostic, Span};
use crate::ir::Symbol;

impl<'s> Builder<'s> {
    /// Span of the earlier definition if `name` is defined in the innermost computation.
    pub(in crate::parser) fn earlier_definition(&self, name: Symbol) -> Option<Span> {
        self.lookup(name).map(|id| self.spans[id.index()])
    }

    /// After a fault: forgets instructions in the making and inline computations, so that parsing can go on in
    /// the outermost open computation, or between computations.
    pub(crate) fn recover(&mut self) {
        self.recovered = true;
        self.poisoned.extend(self.defining.take());
        if let Some(frame) = self.frames.first()
            && let Some(name) = frame.name
        {
            self.poisoned.insert(name);
        }
        while self.scopes.last().is_some_and(|scope| scope.inline) {
            let Some(scope) = self.scopes.pop() else { break };
            for (symbol, before) in scope.shadowed.iter().rev() {
                self.definitions[symbol.index()] = *before;
            }
        }
        let frames = self.scopes.last().map_or(0, |scope| scope.frames);
        self.frames.truncate(frames);
        self.operands.clear();
        self.attributes.clear();
        self.called.clear();
        self.called_keys.clear();
        self.pending_as_read.clear();
        self.signature = None;
    }

    /// Whether a computation is open.
    pub(crate) fn in_computation(&self) -> bool {
        !self.scopes.is_empty()
    }

    /// Whether the innermost open computation is an inline one.
    pub(crate) fn in_inline(&self) -> bool {
        self.scopes.last().is_some_and(|scope| scope.inline)
    }

    /// The outermost open computation.
    pub(in crate::parser) fn enclosing(&self) -> Option<crate::parser::hints::Enclosing<'_>> {
        let scope = self.scopes.first().filter(|scope| !scope.inline)?;
        Some(crate::parser::hints::Enclosing {
            name: self.module.strings.name(scope.name),
            name_span: scope.name_span,
        })
    }

    /// Opens a computation called `name` whose head is faulty.
    pub(crate) fn open_faulty(&mut self, name: &str, name_span: Span) {
        let name = self.intern_name(name);
        let id = self.reserve_computation();
        self.open_scope(id, name, name_span, false, false);
    }

    /// Closes the open computation, whose `}` is missing, at byte `at`. What is missing in it has been reported.
    pub(crate) fn close_unfinished(&mut self, at: usize) {
        self.close_computation(at as u32);
        self.error = None;
        self.scopes.clear();
        self.frames.clear();
    }

    /// Notes that the definition of `name` is faulty.
    pub(in crate::parser) fn poison(&mut self, name: Symbol) {
        self.poisoned.insert(name);
    }

    /// Whether using `name` is the consequence of a fault that has been reported.
    pub(crate) fn is_poisoned(&self, name: &str) -> bool {
        self.module.strings.lookup(name.as_bytes()).is_some_and(|symbol| self.poisoned.contains(&symbol))
    }

    /// The first computations that were named but never defined, in text order.
    pub(crate) fn undefined_computations(&self) -> Vec<Diagnostic> {
        let mut open: Vec<(&Symbol, &Forward)> = self.forward.iter().collect();
        open.sort_by_key(|(_, forward)| forward.span.start);
        open.truncate(crate::parser::DEFAULT_MAX_ERRORS);
        open.into_iter().map(|(&name, forward)| *self.undefined_computation(name, forward.span)).collect()
    }
}
