//! Rules about buffers (`b(f32[4])`): who may hold, make and write them.

use crate::diagnostic::Code;
use crate::ir::{AttrKey, InstructionId, Opcode, OperandAliasing, Shape, ShapeId, Value};

use super::equality::{COMPATIBLE, EQUAL, Sameness};
use super::{Check, Verifier};

/// A part of a shape that is a buffer.
type Place = Vec<i64>;

impl Verifier<'_> {
    pub(super) fn check_buffers(&self, id: InstructionId) -> Check {
        use Opcode as O;
        let module = self.module;
        let parent = module.instruction(id).parent;
        let opcode = self.opcode(id);
        if self.uses.callers(parent).start.is_some() {
            let is_call = module.is_root(id) && opcode == O::CustomCall;
            return if is_call { self.check_buffer_call(id) } else { Ok(()) };
        }
        match opcode {
            O::AsyncStart | O::AsyncUpdate | O::AsyncDone | O::GetTupleElement | O::Tuple => Ok(()),
            O::Call if self.frontend_attribute(id, "_xla_stream_annotation").is_some() => Ok(()),
            O::CustomCall => self.check_buffer_call(id),
            O::While => self.check_writers(id),
            O::Parameter if parent == module.entry() => self.check_no_buffers(id, &[]),
            O::Parameter => self.check_writers(id),
            O::DynamicUpdateSlice => match module.operands(id).split_first() {
                Some((&first, rest)) if matches!(module.shape_of(first), Shape::Buffer(_)) => {
                    for &operand in rest {
                        self.check_no_buffer_in(id, operand)?;
                    }
                    self.check_writers(id)
                }
                _ => self.check_no_buffers(id, module.operands(id)),
            },
            _ => self.check_no_buffers(id, module.operands(id)),
        }
    }

    fn check_no_buffers(&self, id: InstructionId, operands: &[InstructionId]) -> Check {
        self.check_no_buffer_in(id, id)?;
        operands.iter().try_for_each(|&operand| self.check_no_buffer_in(id, operand))
    }

    fn check_no_buffer_in(&self, id: InstructionId, place: InstructionId) -> Check {
        if self.buffers(self.shape_id(place)).is_empty() {
            return Ok(());
        }
        let message = format!(
            "{} `{}` can't have to do with buffers, but `{}` is {}",
            self.opcode(id),
            self.name(id),
            self.name(place),
            self.text_of(place)
        );
        Err(self.wrong(Code::BufferContext, id, message).also(place, "the buffer"))
    }

    /// The buffers in a shape.
    fn buffers(&self, shape: ShapeId) -> Vec<Place> {
        let mut found = Vec::new();
        let mut open = vec![(shape, Vec::new())];
        while let Some((shape, place)) = open.pop() {
            if !self.facts.of(shape).has_buffer {
                continue;
            }
            match self.module.shape(shape) {
                Shape::Buffer(_) => found.push(place),
                Shape::Tuple(elements) => {
                    for (index, &element) in elements.iter().enumerate().rev() {
                        let mut inner = place.clone();
                        inner.push(index as i64);
                        open.push((element, inner));
                    }
                }
                Shape::Array(_) | Shape::Token | Shape::Opaque => {}
            }
        }
        found
    }

    /// Each buffer of the result is written at most once.
    fn check_writers(&self, id: InstructionId) -> Check {
        for place in self.buffers(self.shape_id(id)) {
            let writers = self.writers(id, place);
            if let [first, second, ..] = writers[..] {
                let message = format!(
                    "a buffer of `{}` is written by `{}` and `{}`",
                    self.name(id),
                    self.name(first),
                    self.name(second)
                );
                return Err(self
                    .wrong(Code::BufferWriters, id, message)
                    .also(first, "one writer")
                    .also(second, "another writer"));
            }
        }
        Ok(())
    }

    fn writers(&self, id: InstructionId, place: Place) -> Vec<InstructionId> {
        use Opcode as O;
        let module = self.module;
        let mut writers = Vec::new();
        let mut open = vec![(id, place)];
        while let Some((id, place)) = open.pop() {
            for &user in self.uses.users(id) {
                match self.opcode(user) {
                    O::Fusion
                    | O::Call
                    | O::CustomCall
                    | O::While
                    | O::Conditional
                    | O::DynamicUpdateSlice => {
                        writers.push(user);
                    }
                    O::GetTupleElement => {
                        if let Some((first, rest)) = place.split_first()
                            && module.int(user, AttrKey::Index) == Some(*first)
                        {
                            open.push((user, rest.to_vec()));
                        }
                    }
                    O::Tuple if module.is_root(user) => {
                        let is_body = self.uses.callers(module.instruction(user).parent).is_body;
                        writers.extend(is_body.then_some(user));
                    }
                    O::Tuple => {
                        for (index, _) in
                            module.operands(user).iter().enumerate().filter(|(_, operand)| **operand == id)
                        {
                            let inner = std::iter::once(index as i64).chain(place.iter().copied());
                            open.push((user, inner.collect()));
                        }
                    }
                    _ => {}
                }
                if writers.len() > 1 {
                    return writers;
                }
            }
        }
        writers
    }

    fn check_buffer_call(&self, id: InstructionId) -> Check {
        let module = self.module;
        let wrong = |message: String| {
            Err(self.wrong(Code::BufferCustomCall, id, format!("custom call `{}` {message}", self.name(id))))
        };
        let aliases: &[OperandAliasing] = match module.value_of(id, AttrKey::OutputToOperandAliasing) {
            Some(Value::Aliasing(pairs)) => pairs,
            _ => &[],
        };
        let operands = module.operands(id);
        let is_buffer = |id: InstructionId| matches!(module.shape_of(id), Shape::Buffer(_));
        let is_array = |id: InstructionId| matches!(module.shape_of(id), Shape::Array(_));
        let target = module.string(id, AttrKey::CustomCallTarget).unwrap_or_default();
        match target {
            b"Pin" | b"Unpin" => {
                let pins = target == b"Pin";
                let right = |from, to| {
                    if pins { is_array(from) && is_buffer(to) } else { is_buffer(from) && is_array(to) }
                };
                let &[operand] = operands else {
                    return wrong(format!("must have one operand, but has {}", operands.len()));
                };
                if !right(operand, id) {
                    return wrong(format!(
                        "must {} a buffer, but takes {} and gives {}",
                        if pins { "make" } else { "take" },
                        self.text_of(operand),
                        self.text_of(id)
                    ));
                }
                let how = if self.options.layout_sensitive { EQUAL } else { COMPATIBLE };
                let how = Sameness { buffers_are_arrays: true, ..how };
                if !how.of(module.shapes(), self.shape_id(operand), self.shape_id(id)) {
                    return wrong(format!(
                        "must have the same shape as its operand, but takes {} and gives {}",
                        self.text_of(operand),
                        self.text_of(id)
                    ));
                }
                if aliases.len() != 1 {
                    return wrong(format!(
                        "must have one output-to-operand alias, but has {}",
                        aliases.len()
                    ));
                }
                if pins { self.check_writers(id) } else { Ok(()) }
            }
            b"CreateBuffer" => {
                if !operands.is_empty() || !is_buffer(id) {
                    return wrong("must take nothing and give a buffer".to_owned());
                }
                self.check_writers(id)
            }
            _ => {
                for (number, &operand) in operands.iter().enumerate() {
                    for place in self.buffers(self.shape_id(operand)) {
                        let matching = |pair: &&OperandAliasing| {
                            pair.operand == number as i64 && pair.operand_index == place
                        };
                        let count = aliases.iter().filter(matching).count();
                        if count != 1 {
                            return wrong(format!(
                                "takes the buffer `{}`, but {count} of its results are that buffer",
                                self.name(operand)
                            ));
                        }
                    }
                }
                for place in self.buffers(self.shape_id(id)) {
                    let count = aliases.iter().filter(|pair| pair.output_index == place).count();
                    if count != 1 {
                        return wrong(format!("gives a buffer that {count} of its operands are"));
                    }
                }
                self.check_writers(id)
            }
        }
    }
}
