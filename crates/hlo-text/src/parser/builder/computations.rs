//! Computations: opening and closing them, inline ones, calls of them by name.

use super::{Builder, EXECUTION_THREAD, Forward, MAIN_THREAD, Scope};
use crate::diagnostic::{Code, Diagnostic, Span};
use crate::ir::{Computation, ComputationId, Symbol};
use crate::lexer::Cursor;
use crate::parser::ParseResult;

impl<'s> Builder<'s> {
    pub(in crate::parser) fn reserve_computation(&mut self) -> ComputationId {
        self.module.computations.push(None);
        ComputationId::from_index(self.module.computations.len() - 1)
    }

    pub(crate) fn open_computation(&mut self, is_entry: bool, entry_at: u32, name: Symbol, name_at: u32) {
        let name_span = self.name_span(name, name_at);
        if is_entry {
            let span = Span { start: entry_at, end: entry_at + "ENTRY".len() as u32 };
            if let Some(first) = self.entry_span {
                let error = Diagnostic::new(Code::BadRoot, span, "a module has only one entry computation");
                return self.fail(error.also(first, "the first one is here").boxed());
            }
            self.entry_span = Some(span);
        }
        if let Some(&(_, first)) = self.computation_names.get(&name) {
            let text = self.module.strings.name(name).to_owned();
            let error = Diagnostic::new(
                Code::DuplicateComputation,
                name_span,
                format!("computation `{text}` is defined twice"),
            );
            return self.fail(error.also(first, "the first definition is here").boxed());
        }
        let id = match self.forward.remove(&name) {
            Some(forward) => forward.id,
            None => self.reserve_computation(),
        };
        self.open_scope(id, name, name_span, is_entry, false);
    }

    pub(in crate::parser) fn open_scope(
        &mut self,
        id: ComputationId,
        name: Symbol,
        name_span: Span,
        is_entry: bool,
        inline: bool,
    ) {
        self.scopes.push(Scope {
            id,
            name,
            name_span,
            is_entry,
            inline,
            first_instruction: self.module.instructions.len(),
            instructions: Vec::new(),
            parameters: Vec::new(),
            highest_parameter: -1,
            parameter_numbers: None,
            root: None,
            signature: self.signature.take(),
            shadowed: Vec::new(),
            frames: self.frames.len(),
        });
    }

    pub(crate) fn open_inline(&mut self, at: u32) {
        let id = self.reserve_computation();
        let name = self.intern_name("_");
        self.open_scope(id, name, Span { start: at, end: at + 1 }, false, true);
    }

    pub(crate) fn close_inline(&mut self, at: u32) {
        self.close_computation(at);
        if let Some(id) = self.last_closed {
            self.called.push(id);
        }
    }

    pub(crate) fn close_computation(&mut self, at: u32) {
        if self.has_failed() {
            return;
        }
        let Some(scope) = self.scopes.pop() else { return };
        if scope.inline {
            for (symbol, before) in scope.shadowed.iter().rev() {
                self.definitions[symbol.index()] = *before;
            }
        }
        let brace = Span { start: at, end: at + 1 };
        match self.finish_computation(scope, brace) {
            Ok(id) => self.last_closed = Some(id),
            Err(error) => self.fail(error),
        }
    }

    pub(super) fn finish_computation(&mut self, mut scope: Scope, brace: Span) -> ParseResult<ComputationId> {
        let root = match (scope.root, scope.instructions.last()) {
            (Some((root, _)), _) => root,
            (None, Some(&last)) => last,
            (None, None) if self.recovered => {
                self.computation_names.insert(scope.name, (scope.id, scope.name_span));
                return Ok(scope.id);
            }
            (None, None) => {
                return Err(Diagnostic::new(
                    Code::UnexpectedToken,
                    brace,
                    "a computation has at least one instruction",
                )
                .boxed());
            }
        };
        scope.parameters.sort_by_key(|parameter| parameter.0);
        for (expected, &(number, _, span)) in scope.parameters.iter().enumerate() {
            if number != expected as i64 && !self.recovered {
                let message = format!("parameter {number} is defined, but parameter {expected} is not");
                return Err(Diagnostic::new(Code::BadParameter, span, message)
                    .help("the parameters of a computation are numbered 0, 1, 2 and so on without a gap")
                    .boxed());
            }
        }
        if let Some((declared, span)) = scope.signature.filter(|_| !self.recovered) {
            let actual = self.module.instruction(root).shape;
            if !self.module.shapes.compatible(declared, actual) {
                let text = |shape| crate::printer::shape::shape_text(&self.module, shape, false);
                let message = format!(
                    "the signature says the result is `{}`, but the root is `{}`",
                    text(declared),
                    text(actual)
                );
                return Err(Diagnostic::new(Code::BadSignature, span, message)
                    .also(self.spans[root.index()], "the root is here")
                    .boxed());
            }
        }
        let name = self.sanitize_computation_name(scope.name);
        self.module.computations[scope.id.index()] = Some(Computation {
            name,
            instructions: scope.instructions,
            parameters: scope.parameters.iter().map(|parameter| parameter.1).collect(),
            root,
            execution_thread: None,
        });
        self.module.computation_order.push(scope.id);
        if scope.is_entry {
            self.module.entry = Some(scope.id);
        }
        if !scope.inline {
            self.computation_names.insert(scope.name, (scope.id, scope.name_span));
        }
        Ok(scope.id)
    }

    /// Computation names are silently made legal; look-up uses the text.
    pub(super) fn sanitize_computation_name(&mut self, name: Symbol) -> Symbol {
        match crate::parser::instruction::legal_name(self.module.strings.name(name)) {
            Some(legal) => self.module.strings.intern(legal.as_bytes()),
            None => name,
        }
    }

    /// A computation outside any other has been read, its execution thread included.
    pub(crate) fn computation_done(&mut self) {
        let Some(thread) = self.pending_thread.take() else { return };
        if let Some(id) = self.last_closed
            && self.module.strings.get(thread) != MAIN_THREAD
            && let Some(computation) = &mut self.module.computations[id.index()]
        {
            computation.execution_thread = Some(thread);
        }
    }

    /// Takes `execution_thread="..."` after a computation.
    pub(crate) fn execution_thread(&mut self, cursor: &mut Cursor<'s>) -> ParseResult<()> {
        let key = cursor.span();
        if cursor.word() != EXECUTION_THREAD {
            let message =
                format!("a computation has no attribute `{}`", crate::diagnostic::shorten(cursor.word()));
            return Err(Diagnostic::new(Code::UnknownAttribute, key, message)
                .help("only `execution_thread=\"...\"` may follow a computation")
                .boxed());
        }
        cursor.bump();
        let thread = cursor.string()?;
        // The grammar has not closed the computation yet: it needed this token to do so.
        self.pending_thread = Some(self.module.strings.intern(&thread));
        Ok(())
    }

    /// The computation called `name`; in lenient reading it may come later in the text.
    pub(crate) fn called_by_name(&mut self, name: Symbol, at: u32) {
        if let Some(&(id, _)) = self.computation_names.get(&name) {
            self.called.push(id);
            return;
        }
        let span = self.name_span(name, at);
        if self.strict() || self.single_instruction {
            let error = self.undefined_computation(name, span);
            return self.fail(error);
        }
        let id = match self.forward.get(&name) {
            Some(forward) => forward.id,
            None => {
                let open = self.scopes.iter().find(|scope| !scope.inline && scope.name == name);
                match open {
                    // A computation that calls itself.
                    Some(_) => {
                        let error =
                            Diagnostic::new(Code::BadComputation, span, "a computation cannot call itself");
                        return self.fail(error.boxed());
                    }
                    None => {
                        let id = self.reserve_computation();
                        self.forward.insert(name, Forward { id, span });
                        id
                    }
                }
            }
        };
        self.called.push(id);
    }

    /// Whether a computation called `name` has been read.
    pub(crate) fn has_computation(&self, name: Symbol) -> bool {
        self.computation_names.contains_key(&name)
    }

    pub(super) fn undefined_computation(&self, name: Symbol, span: Span) -> Box<Diagnostic> {
        let text = self.module.strings.name(name);
        let mut error =
            Diagnostic::new(Code::UndefinedComputation, span, format!("there is no computation `{text}`"));
        let names = self.computation_names.keys().map(|&symbol| self.module.strings.name(symbol));
        let mut names: Vec<&str> = names.collect();
        names.sort_unstable();
        if let Some(close) = crate::diagnostic::did_you_mean(text, names) {
            error = error.help(format!("did you mean `{close}`?"));
        } else if self.strict() {
            error = error.help("a computation must be defined before it is called");
        }
        error.boxed()
    }

    // ------------------------------------------------------------ instructions
}
