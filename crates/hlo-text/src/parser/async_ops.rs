//! The asynchronous sugar: `X-start`, `X-update` and `X-done` of any opcode X.

use hashbrown::{HashMap, HashSet};

use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{
    Attr, AttrKey, AttrValue, COMMON_ATTRIBUTES, ComputationId, Instruction, InstructionId, Opcode,
    OperandFormat, PoolRange, ShapeId,
};

use super::ParseResult;
use super::builder::{Builder, Frame, MAIN_THREAD, PendingAttr};
use super::tokens::OpcodeWord;
use crate::printer::printing_position;

/// Opcodes that have asynchronous opcodes of their own, so the sugar is not for them.
const NATIVE: &[Opcode] = &[
    Opcode::AllGather,
    Opcode::AllReduce,
    Opcode::CollectivePermute,
    Opcode::Copy,
    Opcode::Recv,
    Opcode::Send,
];

/// The asynchronous opcode and the wrapped one that `word` stands for.
pub(crate) fn sugar(word: &str) -> Option<(Opcode, Opcode)> {
    const SUFFIXES: &[(&str, Opcode)] =
        &[("-start", Opcode::AsyncStart), ("-update", Opcode::AsyncUpdate), ("-done", Opcode::AsyncDone)];
    SUFFIXES.iter().find_map(|&(suffix, opcode)| {
        let wrapped = Opcode::from_name(word.strip_suffix(suffix)?)?;
        (!NATIVE.contains(&wrapped)).then_some((opcode, wrapped))
    })
}

/// Whether `X-start` can be read for this X.
pub(crate) fn has_async_sugar(wrapped: Opcode) -> bool {
    !NATIVE.contains(&wrapped) && wrapped.operand_format() == OperandFormat::Operands
}

impl Builder<'_> {
    /// Builds the hidden computation of `X-start(...)` and makes `frame` an `async-start` that calls it.
    pub(super) fn wrap_async(&mut self, frame: &Frame, wrapped: Opcode) -> ParseResult<()> {
        let (parameters, result) = self.async_start_form(frame)?;
        if wrapped.operand_format() != OperandFormat::Operands {
            let message = format!("`{wrapped}` has no operands, so it cannot be asynchronous");
            return self.error_in(Code::BadAsync, frame, message);
        }
        let scope = self.reserve_computation();
        self.hidden.push(scope);
        let name = self.intern_name("async_wrapped");
        self.open_scope(scope, name, frame.opcode_at, false, true);
        let first_operand = self.operands.len();
        let parameter_name = self.intern_name("async_param");
        for (number, &shape) in parameters.iter().enumerate() {
            let parameter = Instruction {
                name: parameter_name,
                shape,
                operands: PoolRange::default(),
                attributes: PoolRange::default(),
                metadata: None,
                parent: scope,
                literal: None,
                parameter_number: number as u32,
                opcode: Opcode::Parameter,
                has_control_predecessors: false,
                removed: false,
            };
            let id = self.push_instruction(parameter, frame.opcode_at);
            if let Some(scope) = self.scope_mut() {
                scope.add_parameter(number as i64, id, frame.opcode_at);
            }
            self.operands.push(id);
        }
        let first_attribute = self.attributes.len();
        let own = wrapped.info().attributes;
        let is_own = |key: AttrKey| own.iter().any(|row| row.0 == key);
        for index in frame.attributes..first_attribute {
            let pending = self.attributes[index];
            let key = pending.attr.key;
            if is_own(key) || (key != AttrKey::Sharding && COMMON_ATTRIBUTES.iter().any(|row| row.0 == key)) {
                self.attributes.push(pending);
            }
        }
        let root_name = self.intern_name(wrapped.name());
        let root = Frame {
            name: Some(root_name),
            name_span: frame.opcode_at,
            root_span: None,
            shape: Some(result),
            word: OpcodeWord { opcode: wrapped, wrapped: None },
            opcode_at: frame.opcode_at,
            paren_at: frame.paren_at,
            after_operands: frame.after_operands,
            after: frame.after,
            operands: first_operand,
            attributes: first_attribute,
            metadata: frame.metadata,
            control_predecessors: Vec::new(),
        };
        let completed = self.complete(&root);
        self.operands.truncate(first_operand);
        self.attributes.truncate(first_attribute);
        completed?;
        self.close_computation(frame.opcode_at.start);
        // What belongs to the wrapped instruction is not the start's.
        let mut at = frame.attributes;
        while at < self.attributes.len() {
            if is_own(self.attributes[at].attr.key) {
                self.attributes.remove(at);
            } else {
                at += 1;
            }
        }
        if let Some(computation) = self.last_closed {
            self.set(frame, AttrKey::Calls, AttrValue::Computation(computation));
        }
        Ok(())
    }

    /// The shapes in `((parameters...), result, ...)` of an update.
    fn update_form(&self, frame: &Frame) -> Option<&[ShapeId]> {
        let elements = self.module.shape(frame.shape?).as_tuple()?;
        let [parameters, _, ..] = elements else { return None };
        self.module.shape(*parameters).as_tuple()
    }

    /// Parameter shapes and result shape of a start's shape `((parameters...), result, ...)`.
    fn async_start_form(&self, frame: &Frame) -> ParseResult<(Vec<ShapeId>, ShapeId)> {
        let elements = frame.shape.and_then(|shape| self.module.shape(shape).as_tuple());
        if let Some([parameters, result, ..]) = elements
            && let Some(parameters) = self.module.shape(*parameters).as_tuple()
        {
            return Ok((parameters.to_vec(), *result));
        }
        Err(Diagnostic::new(
            Code::BadAsync,
            frame.after_operands.unwrap_or(frame.after),
            "the shape of an asynchronous start is `((operand shapes...), result shape, ...)`",
        )
        .focus(frame.opcode_at, "")
        .boxed())
    }

    /// The checks of `async-start`, `async-update` and `async-done`.
    pub(super) fn check_async(&mut self, frame: &Frame) -> ParseResult<()> {
        if frame.word.opcode == Opcode::AsyncStart {
            self.async_start_form(frame)?;
            if let Some(called) = self.given_computation(frame, AttrKey::Calls)
                && frame.word.wrapped.is_none()
                && !self.from_parts
            {
                self.copy_to_wrapped(frame, called);
            }
            return Ok(());
        }
        let operand = self.operands_of(frame).first().copied();
        let is_open =
            |id| matches!(self.module.instruction(id).opcode, Opcode::AsyncStart | Opcode::AsyncUpdate);
        let binds_late =
            self.operands_of(frame).len() > 1 && frame.word.opcode == Opcode::AsyncUpdate && !self.strict();
        let only = self.operands_of(frame).len() == 1 || binds_late;
        let Some(operand) = operand.filter(|&id| only && is_open(id)) else {
            let message =
                format!("the operand of `{}` is an asynchronous start or update", frame.word.opcode);
            return self.error_in(Code::BadAsync, frame, message);
        };
        if frame.word.opcode == Opcode::AsyncUpdate
            && frame.shape != Some(self.module.instruction(operand).shape)
        {
            let message = "an update has the shape of its operand";
            let error = Diagnostic::new(Code::BadAsync, frame.after_operands.unwrap_or(frame.after), message)
                .focus(frame.opcode_at, "")
                .also(self.spans[operand.index()], "the operand");
            // Newer versions let it differ, since updates can bring operands.
            if self.strict() || self.update_form(frame).is_none() {
                return Err(error.boxed());
            }
        }
        if frame.word.opcode == Opcode::AsyncUpdate
            && (binds_late || frame.shape != Some(self.module.instruction(operand).shape))
        {
            let message = "an update that brings operands is of newer XLA versions";
            self.warnings.push(Diagnostic::new(Code::Dialect, frame.opcode_at, message).warning());
        }
        if self.from_parts {
            return Ok(());
        }
        self.check_against_start(frame, operand)
    }

    /// What an update or done says of the wrapped computation must be what its start says.
    fn check_against_start(&mut self, frame: &Frame, operand: InstructionId) -> ParseResult<()> {
        let Some(start) = self.start_of(operand) else { return Ok(()) };
        let Some(called) = self.module.called(start, AttrKey::Calls) else { return Ok(()) };
        if let Some(given) = self.given_computation(frame, AttrKey::Calls)
            && given != called
        {
            return Err(Diagnostic::new(
                Code::BadAsync,
                frame.after,
                "`calls` is not the computation of the start",
            )
            .focus(self.key_span(frame, AttrKey::Calls), "")
            .also(self.spans[start.index()], "the start")
            .boxed());
        }
        if let Some(AttrValue::String(given)) = self.given(frame, AttrKey::AsyncExecutionThread) {
            let thread = self.module.string(start, AttrKey::AsyncExecutionThread).unwrap_or(MAIN_THREAD);
            if self.module.strings.get(given) != thread {
                return Err(Diagnostic::new(
                    Code::BadAsync,
                    frame.after,
                    "`async_execution_thread` is not that of the start",
                )
                .focus(self.key_span(frame, AttrKey::AsyncExecutionThread), "")
                .also(self.spans[start.index()], "the start")
                .boxed());
            }
        }
        if let Some(wrapped) = frame.word.wrapped {
            let root = self.module.computations[called.index()].as_ref().map(|computation| computation.root);
            let actual = root.map(|root| self.module.instruction(root).opcode);
            if actual.is_some_and(|actual| actual != wrapped) {
                let message = format!("`{wrapped}` is not what the start wraps");
                return Err(Diagnostic::new(Code::BadAsync, frame.after, message)
                    .focus(frame.opcode_at, "")
                    .also(self.spans[start.index()], "the start")
                    .boxed());
            }
        }
        self.copy_to_wrapped(frame, called);
        Ok(())
    }

    /// The start of the chain that `link`, a start or an update, is of. It is kept for each update that something comes
    /// after, so that a long chain isn't walked again for each of its links.
    fn start_of(&mut self, link: InstructionId) -> Option<InstructionId> {
        let mut start = link;
        while self.module.instruction(start).opcode == Opcode::AsyncUpdate {
            start = match self.starts_of_updates.get(&start) {
                Some(&known) => known,
                None => *self.module.operands(start).first()?,
            };
        }
        if start != link {
            self.starts_of_updates.insert(link, start);
        }
        Some(start)
    }

    /// XLA copies some common attributes of starts, updates and dones to the wrapped instruction, over those it has. In
    /// lenient mode only an `X-start` does, whose line is all there is of the wrapped instruction. What updates and dones
    /// say stays: an `X-start` whose `X-done` has others could not be printed as such, and in chains they would get
    /// further with each reading of a print. So does what an `async-start` says: what the wrapped instruction has
    /// would be lost.
    fn copy_to_wrapped(&mut self, frame: &Frame, called: ComputationId) {
        let is_all = frame.word.opcode == Opcode::AsyncStart && frame.word.wrapped.is_some();
        if self.module.reads_back && !is_all {
            return;
        }
        const COPIED: &[AttrKey] =
            &[AttrKey::FrontendAttributes, AttrKey::Statistics, AttrKey::Origin, AttrKey::BackendConfig];
        let Some(computation) = self.module.computations[called.index()].as_ref() else { return };
        let root = computation.root;
        let copied: Vec<PendingAttr> = self
            .pending(frame)
            .iter()
            .copied()
            .filter(|pending| COPIED.contains(&pending.attr.key))
            .collect();
        if copied.is_empty() && frame.metadata.is_none() {
            return;
        }
        let opcode = self.module.instruction(root).opcode;
        let is_async = matches!(opcode, Opcode::AsyncStart | Opcode::AsyncUpdate | Opcode::AsyncDone);
        if self.module.reads_back && is_async {
            return;
        }
        let mut attributes: Vec<Attr> = self.module.attributes(root).to_vec();
        for pending in copied {
            attributes.retain(|attr| attr.key != pending.attr.key);
            attributes.push(pending.attr);
        }
        if frame.metadata.is_some() {
            self.module.instructions[root.index()].metadata = frame.metadata;
        }
        attributes.sort_by_key(|attr| printing_position(opcode, attr.key));
        let start = self.module.attribute_pool.len();
        self.module.attribute_pool.extend_from_slice(&attributes);
        self.module.instructions[root.index()].attributes = PoolRange::new(start, attributes.len());
    }

    /// After the text: execution threads follow the starts, and a computation has only one.
    pub(super) fn finish_async(&mut self) -> ParseResult<()> {
        let mut started: HashMap<ComputationId, InstructionId, foldhash::fast::FixedState> =
            HashMap::with_hasher(crate::ir::HASHER);
        for start in std::mem::take(&mut self.async_starts) {
            let Some(called) = self.module.called(start, AttrKey::Calls) else { continue };
            if let Some(first) = started.insert(called, start) {
                let message = format!(
                    "computation `{}` is called by more than one asynchronous start",
                    self.module.computation_name(called)
                );
                return Err(Diagnostic::new(Code::BadAsync, self.spans[start.index()], message)
                    .also(self.spans[first.index()], "the first one")
                    .boxed());
            }
            let thread = match self.module.attribute(start, AttrKey::AsyncExecutionThread) {
                Some(AttrValue::String(thread)) => Some(thread),
                _ => None,
            };
            let mut open = vec![called];
            let mut seen: HashSet<ComputationId, foldhash::fast::FixedState> =
                HashSet::with_hasher(crate::ir::HASHER);
            while let Some(id) = open.pop() {
                if !seen.insert(id) {
                    continue;
                }
                let Some(computation) = &mut self.module.computations[id.index()] else { continue };
                computation.execution_thread = thread;
                for instruction in computation.instructions.clone() {
                    self.module.for_each_called_computation(instruction, |callee| open.push(callee));
                }
            }
        }
        Ok(())
    }
}
