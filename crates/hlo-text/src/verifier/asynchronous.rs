//! Rules about starts and their dones: pairs, and the shapes of `async-*`.

use crate::diagnostic::Code;
use crate::ir::{AttrKey, ComputationId, InstructionId, Opcode, OperandAliasing, ShapeId, ShapeTable, Value};

use super::equality::{COMPATIBLE, EQUAL, Sameness, part};
use super::{Check, Verifier};

/// Custom calls that only order instructions, and don't count as users.
const ORDERING_TARGET: &[u8] = b"control_dep";

/// A start, and what may use it.
const ENDS: &[(Opcode, &[Opcode])] = &[
    (Opcode::AsyncStart, &[Opcode::AsyncUpdate, Opcode::AsyncDone]),
    (Opcode::AsyncUpdate, &[Opcode::AsyncUpdate, Opcode::AsyncDone]),
    (Opcode::AllReduceStart, &[Opcode::AllReduceDone]),
    (Opcode::AllGatherStart, &[Opcode::AllGatherDone]),
    (Opcode::CopyStart, &[Opcode::CopyDone]),
    (Opcode::CollectivePermuteStart, &[Opcode::CollectivePermuteDone]),
    (Opcode::Send, &[Opcode::SendDone, Opcode::Tuple]),
    (Opcode::Recv, &[Opcode::RecvDone, Opcode::Tuple]),
];

/// A done, and what it may take.
const BEGINNINGS: &[(Opcode, &[Opcode])] = &[
    (Opcode::AsyncDone, &[Opcode::AsyncStart, Opcode::AsyncUpdate]),
    (Opcode::AsyncUpdate, &[Opcode::AsyncStart, Opcode::AsyncUpdate]),
    (Opcode::AllReduceDone, &[Opcode::AllReduceStart]),
    (Opcode::AllGatherDone, &[Opcode::AllGatherStart]),
    (Opcode::CopyDone, &[Opcode::CopyStart]),
    (Opcode::CollectivePermuteDone, &[Opcode::CollectivePermuteStart]),
    (Opcode::SendDone, &[Opcode::Send, Opcode::GetTupleElement]),
    (Opcode::RecvDone, &[Opcode::Recv, Opcode::GetTupleElement]),
];

fn row(table: &'static [(Opcode, &'static [Opcode])], opcode: Opcode) -> Option<&'static [Opcode]> {
    table.iter().find(|row| row.0 == opcode).map(|row| row.1)
}

fn names(opcodes: &[Opcode]) -> String {
    let names: Vec<&str> = opcodes.iter().map(|opcode| opcode.name()).collect();
    names.join(" or ")
}

impl Verifier<'_> {
    /// A start has one user, its done; a done takes a start.
    pub(super) fn check_async_pair(&self, id: InstructionId) -> Check {
        let opcode = self.opcode(id);
        if opcode.begins_pair() {
            self.check_end(id, opcode)?;
        }
        if let Some(allowed) = row(BEGINNINGS, opcode) {
            let operand = self.module.operands(id).first().copied();
            let Some(operand) = operand else {
                return Err(self.wrong(Code::DoneOperand, id, format!("{opcode} needs an operand")));
            };
            if !allowed.contains(&self.opcode(operand)) {
                let message = format!(
                    "{opcode} takes what {} gives, but `{}` is a {}",
                    names(allowed),
                    self.name(operand),
                    self.opcode(operand)
                );
                return Err(self.wrong(Code::DoneOperand, id, message).also(operand, "the operand"));
            }
        }
        Ok(())
    }

    fn check_end(&self, id: InstructionId, opcode: Opcode) -> Check {
        let Some(allowed) = row(ENDS, opcode) else { return Ok(()) };
        if matches!(opcode, Opcode::Send | Opcode::Recv) && self.is_root_of_async(id) {
            return Ok(());
        }
        let mut users = self.uses.users(id).iter().copied().filter(|&user| !self.is_ordering(user));
        let first = users.next();
        let more = users.count();
        let (Some(user), 0) = (first, more) else {
            let count = if first.is_some() { more + 1 } else { 0 };
            let message = format!("{opcode} `{}` must have exactly one user, but has {count}", self.name(id));
            return Err(self
                .wrong(Code::StartUsers, id, message)
                .help(format!("add one {}, and let everything else use its result", names(allowed))));
        };
        if !allowed.contains(&self.opcode(user)) {
            let message = format!(
                "{opcode} `{}` can only be used by {}, but `{}` is a {}",
                self.name(id),
                names(allowed),
                self.name(user),
                self.opcode(user)
            );
            return Err(self.wrong(Code::StartUsers, id, message).also(user, "the user"));
        }
        if matches!(opcode, Opcode::AsyncStart | Opcode::AsyncUpdate) {
            let place = self.module.operands(user).iter().rposition(|&operand| operand == id);
            if let Some(place) = place.filter(|&place| place > 0) {
                let message = format!(
                    "{opcode} `{}` can only be the first operand of an {}, but is operand {place}",
                    self.name(id),
                    self.opcode(user)
                );
                return Err(self.wrong(Code::StartUsers, id, message).also(user, "used here"));
            }
        }
        Ok(())
    }

    fn is_ordering(&self, id: InstructionId) -> bool {
        self.opcode(id) == Opcode::CustomCall
            && self.module.string(id, AttrKey::CustomCallTarget) == Some(ORDERING_TARGET)
    }

    /// Whether the instruction is the root of a computation that an asynchronous start calls.
    pub(super) fn is_root_of_async(&self, id: InstructionId) -> bool {
        let parent = self.module.instruction(id).parent;
        self.module.is_root(id) && self.uses.callers(parent).start.is_some()
    }

    /// The computation that a start, update or done wraps.
    fn wrapped(&mut self, id: InstructionId) -> Option<ComputationId> {
        let mut at = id;
        let start = loop {
            match self.opcode(at) {
                Opcode::AsyncStart => break at,
                Opcode::AsyncUpdate | Opcode::AsyncDone => {
                    if let Some(&start) = self.starts.get(&at) {
                        break start;
                    }
                    at = *self.module.operands(at).first()?;
                }
                _ => return None,
            }
        };
        // Operands come first, so that chains are not walked again and again.
        self.starts.insert(id, start);
        self.module.called(start, AttrKey::Calls)
    }

    /// The shapes of `async-start`, `async-update` and `async-done`.
    pub(super) fn check_async(&mut self, id: InstructionId) -> Check {
        let Some(computation) = self.wrapped(id) else {
            // Where the chain is broken, that has been said.
            return Ok(());
        };
        let opcode = self.opcode(id);
        let inner: Vec<ShapeId> =
            self.module.computation(computation).parameters.iter().map(|&id| self.shape_id(id)).collect();
        let result = self.result_of(computation);
        if opcode == Opcode::AsyncDone {
            if !self.is_same(self.shape_id(id), result) {
                let message = format!(
                    "async-done `{}` is {}, but its computation gives {}",
                    self.name(id),
                    self.text_of(id),
                    self.text(result)
                );
                return Err(self.wrong(Code::AsyncShape, id, message));
            }
            return self.check_fully_bound(id, &inner);
        }
        let (bound, output) = self.async_elements(id, id)?;
        if !self.is_prefix(&bound, &inner) {
            let message = format!(
                "{opcode} `{}` says its operands are {}, but its computation takes {}",
                self.name(id),
                self.list(&bound),
                self.list(&inner)
            );
            return Err(self.wrong(Code::AsyncShape, id, message));
        }
        if !self.is_same_or_prefix(output, result) {
            let message = format!(
                "{opcode} `{}` says its result is {}, but its computation gives {}",
                self.name(id),
                self.text(output),
                self.text(result)
            );
            return Err(self.wrong(Code::AsyncShape, id, message));
        }
        self.check_async_thread(id, computation)?;
        self.check_async_operands(id, &bound, output)?;
        if opcode == Opcode::AsyncStart { self.check_async_aliasing(id, &inner, result) } else { Ok(()) }
    }

    /// The operands' and the result's part of the shape of a start or update.
    fn async_elements(
        &self,
        at: InstructionId,
        id: InstructionId,
    ) -> Result<(Vec<ShapeId>, ShapeId), super::Violation> {
        let shapes = self.module.shapes();
        if let Some(&[bound, output, ..]) = self.module.shape_of(id).as_tuple()
            && let Some(bound) = shapes.get(bound).as_tuple()
        {
            return Ok((bound.to_vec(), output));
        }
        let message = format!(
            "the shape of {} `{}` must be a tuple of its operands, as a tuple, and its result, but is {}",
            self.opcode(id),
            self.name(id),
            self.text_of(id)
        );
        Err(self.wrong(Code::AsyncShape, at, message))
    }

    fn list(&self, ids: &[ShapeId]) -> String {
        let texts: Vec<String> = ids.iter().map(|&id| self.text(id)).collect();
        format!("({})", texts.join(", "))
    }

    /// Whether the shapes are the first of `all`, each itself or the first part of one.
    fn is_prefix(&self, some: &[ShapeId], all: &[ShapeId]) -> bool {
        some.len() <= all.len() && some.iter().zip(all).all(|(&a, &b)| self.is_same_or_prefix(a, b))
    }

    /// Whether a tuple is the same as another, or has only the first of its elements; at any depth.
    fn is_same_or_prefix(&self, a: ShapeId, b: ShapeId) -> bool {
        let shapes = self.module.shapes();
        let mut pairs = vec![(a, b)];
        while let Some((a, b)) = pairs.pop() {
            if a == b {
                continue;
            }
            match (shapes.get(a).as_tuple(), shapes.get(b).as_tuple()) {
                (Some(a), Some(b)) if a.len() <= b.len() => {
                    pairs.extend(a.iter().copied().zip(b.iter().copied()));
                }
                _ if self.is_same(a, b) => {}
                _ => return false,
            }
        }
        true
    }

    fn check_async_thread(&self, id: InstructionId, computation: ComputationId) -> Check {
        let start = self.starts.get(&id).copied().unwrap_or(id);
        let own = self.module.string(start, AttrKey::AsyncExecutionThread).unwrap_or(b"main");
        let inner = self.thread_of(computation);
        if own == inner {
            return Ok(());
        }
        let message = format!(
            "`{}` runs its computation on thread \"{}\", but that belongs to \"{}\"",
            self.name(id),
            String::from_utf8_lossy(own),
            String::from_utf8_lossy(inner)
        );
        Err(self.wrong(Code::ThreadMismatch, id, message))
    }

    fn check_async_operands(&self, id: InstructionId, bound: &[ShapeId], output: ShapeId) -> Check {
        let operands = self.module.operands(id);
        let opcode = self.opcode(id);
        let new = if opcode == Opcode::AsyncStart {
            (operands, bound)
        } else {
            let Some((&before, new)) = operands.split_first() else { return Ok(()) };
            let (old_bound, old_output) = self.async_elements(id, before)?;
            if !self.is_prefix(&old_bound, bound) || !self.is_same_or_prefix(old_output, output) {
                let message = format!(
                    "async-update `{}` is {}, which doesn't continue {} of `{}`",
                    self.name(id),
                    self.text_of(id),
                    self.text_of(before),
                    self.name(before)
                );
                return Err(self.wrong(Code::AsyncShape, id, message).also(before, "what it continues"));
            }
            (new, bound.get(old_bound.len()..).unwrap_or(&[]))
        };
        if new.0.len() != new.1.len() {
            let message = format!(
                "{opcode} `{}` has {} operands, but its shape is for {}",
                self.name(id),
                new.0.len(),
                new.1.len()
            );
            return Err(self.wrong(Code::AsyncOperands, id, message));
        }
        for (index, (&operand, &stated)) in new.0.iter().zip(new.1).enumerate() {
            if !self.is_same(self.shape_id(operand), stated) {
                let message = format!(
                    "operand {index} of {opcode} `{}` is {}, but its shape is for {}",
                    self.name(id),
                    self.text_of(operand),
                    self.text(stated)
                );
                return Err(self.wrong(Code::AsyncOperands, id, message).also(operand, "the operand"));
            }
        }
        Ok(())
    }

    fn check_fully_bound(&self, id: InstructionId, inner: &[ShapeId]) -> Check {
        let Some(&before) = self.module.operands(id).first() else { return Ok(()) };
        let (bound, _) = self.async_elements(id, before)?;
        let complete =
            bound.len() == inner.len() && bound.iter().zip(inner).all(|(&a, &b)| self.is_compatible(a, b));
        if complete {
            return Ok(());
        }
        let message = format!(
            "async-done `{}` comes after operands {}, but its computation takes {}",
            self.name(id),
            self.list(&bound),
            self.list(inner)
        );
        Err(self.wrong(Code::AsyncOperands, id, message).also(before, "the operands so far"))
    }

    fn check_async_aliasing(&self, id: InstructionId, inner: &[ShapeId], result: ShapeId) -> Check {
        let Some(Value::Aliasing(pairs)) = self.module.value_of(id, AttrKey::OutputToOperandAliasing) else {
            return Ok(());
        };
        let shapes = self.module.shapes();
        let how = Sameness {
            buffers_are_arrays: true,
            ..if self.options.layout_sensitive { EQUAL } else { COMPATIBLE }
        };
        for OperandAliasing { output_index, operand, operand_index } in pairs {
            let input = usize::try_from(*operand).ok().and_then(|index| inner.get(index));
            let input = input.and_then(|&shape| part(shapes, shape, operand_index));
            let output = self.async_part(shapes, inner, result, self.shape_id(id), output_index);
            if !input.zip(output).is_some_and(|(input, output)| how.of(shapes, input, output)) {
                let message = format!(
                    "an alias of {} `{}` is out of range or joins different shapes: {} and {}",
                    self.opcode(id),
                    self.name(id),
                    output.map_or("nothing".to_owned(), |id| self.text(id)),
                    input.map_or("nothing".to_owned(), |id| self.text(id))
                );
                return Err(self.wrong(Code::AsyncAliasing, id, message));
            }
        }
        Ok(())
    }

    /// The part `index` of (parameters, result, contexts...).
    fn async_part(
        &self,
        shapes: &ShapeTable,
        inner: &[ShapeId],
        result: ShapeId,
        stated: ShapeId,
        index: &[i64],
    ) -> Option<ShapeId> {
        match index {
            [] => None,
            [0, number, rest @ ..] => {
                let parameter = usize::try_from(*number).ok().and_then(|index| inner.get(index))?;
                part(shapes, *parameter, rest)
            }
            [1, rest @ ..] => part(shapes, result, rest),
            _ => part(shapes, stated, index),
        }
    }

    /// A computation that runs asynchronously is one operation. XLA's compiler asks that of all threads.
    pub(super) fn check_async_content(&self, computation: ComputationId) -> Check {
        let callers = self.uses.callers(computation);
        let Some(start) = callers.start else { return Ok(()) };
        let root = self.module.computation(computation).root;
        let extra = || {
            let ids = self.module.live_instructions(computation);
            ids.filter(|&id| id != root && self.opcode(id) != Opcode::Parameter)
        };
        let Some(first) = extra().next() else { return Ok(()) };
        let grouped =
            !callers.several_starts && self.frontend_attribute(start, "_collectives_group").is_some();
        let is_transfer = |id| {
            matches!(
                self.opcode(id),
                Opcode::Send | Opcode::Recv | Opcode::Bitcast | Opcode::Parameter | Opcode::Tuple
            )
        };
        let transfers = self.module.live_instructions(computation).all(is_transfer);
        let barrier = extra().all(|id| self.opcode(id) == Opcode::GetTupleElement);
        if grouped || transfers || barrier {
            return Ok(());
        }
        let message = format!(
            "computation `{}` runs asynchronously, so it must be one operation of its parameters, but has `{}`, too",
            self.module.computation_name(computation),
            self.name(first)
        );
        Err(self.wrong(Code::AsyncContent, first, message).also(start, "started here"))
    }
}
