//! An instruction is complete: its name, operands, attributes and shape are checked and it joins its computation.

use crate::diagnostic::{Code, Diagnostic, Span, did_you_mean, shorten};
use crate::ir::{
    Arity, Attr, AttrDefault, AttrKey, AttrKind, AttrValue, ComputationId, ElementType, Instruction,
    InstructionId, Opcode, PoolRange, Presence, ReplicaGroups, ShapeId, Value, may_be_type,
};

use super::ParseResult;
use super::builder::{Builder, Frame, PendingAttr};
use crate::printer::printing_rank;

/// The name XLA would give instead of `name`; `None` if `name` is legal. The lexer has seen to its characters.
pub(crate) fn legal_name(name: &str) -> Option<String> {
    if name.starts_with("__") && !name.starts_with("__xla_") {
        return Some(format!("a{}", &name[1..]));
    }
    if may_be_type(name.as_bytes()) && ElementType::from_name(name).is_some() {
        return Some(format!("{name}_"));
    }
    None
}

/// Whether `name` is one of those that [`legal_name`] changes; a quick look first, since hardly any is.
#[inline]
fn is_illegal(name: &[u8]) -> bool {
    (name.starts_with(b"__") || may_be_type(name))
        && std::str::from_utf8(name).is_ok_and(|name| legal_name(name).is_some())
}

impl Builder<'_> {
    /// The attributes of `frame` read so far.
    #[inline]
    pub(super) fn pending(&self, frame: &Frame) -> &[PendingAttr] {
        &self.attributes[frame.attributes..]
    }

    /// The value of `key` in `frame`.
    #[inline]
    pub(super) fn given(&self, frame: &Frame, key: AttrKey) -> Option<AttrValue> {
        self.pending(frame).iter().find(|pending| pending.attr.key == key).map(|pending| pending.attr.value)
    }

    /// The integer list `key` in `frame`.
    pub(super) fn given_ints(&self, frame: &Frame, key: AttrKey) -> Option<&[i64]> {
        match self.given(frame, key)? {
            AttrValue::Value(value) => match self.module.value(value) {
                Value::Ints(ints) => Some(ints),
                _ => None,
            },
            _ => None,
        }
    }

    /// The integer `key` in `frame`.
    pub(super) fn given_int(&self, frame: &Frame, key: AttrKey) -> Option<i64> {
        match self.given(frame, key)? {
            AttrValue::Int(int) => Some(int),
            _ => None,
        }
    }

    /// The flag `key` in `frame`, false when absent.
    pub(super) fn given_flag(&self, frame: &Frame, key: AttrKey) -> bool {
        matches!(self.given(frame, key), Some(AttrValue::Bool(true)))
    }

    /// The computation `key` in `frame`.
    pub(super) fn given_computation(&self, frame: &Frame, key: AttrKey) -> Option<ComputationId> {
        match self.given(frame, key)? {
            AttrValue::Computation(id) => Some(id),
            _ => None,
        }
    }

    /// Where `key` is written, or the opcode if it is not.
    pub(super) fn key_span(&self, frame: &Frame, key: AttrKey) -> Span {
        let pending = self.pending(frame).iter().find(|pending| pending.attr.key == key);
        pending.map_or(frame.opcode_at, |pending| pending.span)
    }

    /// Gives `key` of `frame` the value `value`, whether it was there or not.
    pub(super) fn set(&mut self, frame: &Frame, key: AttrKey, value: AttrValue) {
        if let Some(pending) = self.attributes[frame.attributes..].iter_mut().find(|p| p.attr.key == key) {
            pending.attr.value = value;
            return;
        }
        let own = frame.attribute_opcode().info().attributes.iter().position(|row| row.0 == key);
        let rank = printing_rank(key, own);
        self.attributes.push(PendingAttr { rank, attr: Attr { key, value }, span: frame.opcode_at });
    }

    /// Takes `key` out of `frame`.
    pub(super) fn remove(&mut self, frame: &Frame, key: AttrKey) {
        let from = frame.attributes;
        if let Some(place) = self.attributes[from..].iter().position(|pending| pending.attr.key == key) {
            self.attributes.remove(from + place);
        }
    }

    /// The operands of `frame`.
    #[inline]
    pub(super) fn operands_of(&self, frame: &Frame) -> &[InstructionId] {
        &self.operands[frame.operands..]
    }

    /// The shape of operand `index` of `frame`.
    pub(super) fn operand_shape(&self, frame: &Frame, index: usize) -> Option<ShapeId> {
        self.operands_of(frame).get(index).map(|&operand| self.module.instruction(operand).shape)
    }

    /// Before the first attribute is read: XLA counts the operands first.
    pub(super) fn check_operand_count_once(&mut self) -> ParseResult<()> {
        match self.frames.last() {
            Some(frame) if frame.attributes == self.attributes.len() => self.check_operand_count(frame),
            _ => Ok(()),
        }
    }

    fn check_operand_count(&self, frame: &Frame) -> ParseResult<()> {
        let Arity::Exact(expected) = frame.word.opcode.info().arity else { return Ok(()) };
        let found = self.operands.len() - frame.operands;
        if found == usize::from(expected)
            || frame.word.opcode.operand_format() != crate::ir::OperandFormat::Operands
        {
            return Ok(());
        }
        let message = format!(
            "`{}` takes {expected} operand{}, but {found} {} given",
            frame.word.opcode,
            if expected == 1 { "" } else { "s" },
            if found == 1 { "is" } else { "are" }
        );
        Err(Diagnostic::new(Code::OperandCount, frame.paren_at, message).boxed())
    }

    /// The grammar has read a whole instruction; the next token begins at `after`.
    #[inline]
    pub(crate) fn finish_instruction(&mut self, after: u32) {
        if self.has_failed() {
            return;
        }
        self.take_after_operands();
        let Some(mut frame) = self.frames.pop() else { return };
        frame.after = Span { start: after, end: after };
        let result = self.complete(&frame);
        self.operands.truncate(frame.operands);
        self.attributes.truncate(frame.attributes);
        if let Err(error) = result {
            if let Some(name) = frame.name {
                self.poison(name);
            }
            self.fail(error);
        }
    }

    /// The grammar has read a nested instruction; its `)` is at `at`.
    pub(crate) fn finish_nested(&mut self, at: u32) {
        if self.has_failed() {
            return;
        }
        let after = Span { start: at + 1, end: at + 1 };
        let Some(mut frame) = self.frames.pop() else { return };
        frame.after_operands = Some(after);
        frame.after = after;
        let result = self.complete(&frame);
        self.operands.truncate(frame.operands);
        self.attributes.truncate(frame.attributes);
        match result {
            Ok(id) => self.operands.push(id),
            // XLA drops a nested instruction that is faulty behind its parentheses; so do we when it would be
            // accepted, and say it.
            Err(error) => {
                let error = error.at(Span { start: frame.name_span.start, end: at + 1 }).boxed();
                if self.strict() {
                    self.noted.get_or_insert(error);
                } else {
                    self.fail(error);
                }
            }
        }
    }

    /// Checks everything and adds the instruction.
    pub(super) fn complete(&mut self, frame: &Frame) -> ParseResult<InstructionId> {
        self.check_operand_count(frame)?;
        self.check_required(frame)?;
        if let (Opcode::AsyncStart, Some(wrapped)) = (frame.word.opcode, frame.word.wrapped) {
            self.wrap_async(frame, wrapped)?;
        }
        let shape = self.check_and_shape(frame)?;
        self.check_name(frame)?;
        if !self.from_parts {
            self.inherit_origin(frame);
        }
        let attributes = self.normalize_attributes(frame, shape)?;
        let operands = self.store_operands(frame);
        let opcode = frame.word.opcode;
        let name = match frame.name {
            Some(name) => {
                self.note_name(name);
                name
            }
            None => self.nested_name(opcode),
        };
        let instruction = Instruction {
            name,
            shape,
            operands,
            attributes,
            metadata: frame.metadata,
            parent: ComputationId::from_index(0),
            literal: if opcode == Opcode::Constant { self.pending_literal.take() } else { None },
            parameter_number: if opcode == Opcode::Parameter { self.pending_number.0 as u32 } else { 0 },
            opcode,
            has_control_predecessors: !frame.control_predecessors.is_empty(),
            removed: false,
        };
        let id = self.push_instruction(instruction, frame.name_span);
        if !self.pending_as_read.is_empty() {
            self.store_as_read(id);
        }
        if opcode == Opcode::AsyncStart {
            self.async_starts.push(id);
        }
        if opcode == Opcode::Parameter {
            let (number, span) = self.pending_number;
            if let Some(scope) = self.scope_mut() {
                scope.add_parameter(number, id, span);
            }
        }
        if !frame.control_predecessors.is_empty() {
            self.module.control_predecessors.insert(id, frame.control_predecessors.clone());
        }
        if let Some(span) = frame.root_span {
            self.set_root(id, span)?;
        }
        self.define(name, id);
        Ok(id)
    }

    /// An element of a `tuple` has the original value of the operand it is, unless it is given its own.
    fn inherit_origin(&mut self, frame: &Frame) {
        if frame.word.opcode != Opcode::GetTupleElement {
            return;
        }
        let Some(&tuple) = self.operands_of(frame).first() else { return };
        if self.module.instruction(tuple).opcode != Opcode::Tuple
            || self.given(frame, AttrKey::Origin).is_some()
        {
            return;
        }
        let index = self.given_int(frame, AttrKey::Index).and_then(|index| usize::try_from(index).ok());
        let element = index.and_then(|index| self.module.operands(tuple).get(index).copied());
        if let Some(origin) = element.and_then(|element| self.module.attribute(element, AttrKey::Origin)) {
            self.set(frame, AttrKey::Origin, origin);
        }
    }

    /// Keeps the spellings that were noted for the attributes of the instruction `id`, which is complete.
    fn store_as_read(&mut self, id: InstructionId) {
        let depth = self.frames.len();
        let mut noted = std::mem::take(&mut self.pending_as_read);
        noted.retain(|&(frame, key, text)| {
            let has_it = match key {
                AttrKey::Metadata => self.module.instruction(id).metadata.is_some(),
                _ => self.module.attribute(id, key).is_some(),
            };
            if frame == depth && has_it {
                self.module.as_read.insert((id, key), text);
            }
            // What the instruction has dropped is dropped with it.
            frame < depth
        });
        self.pending_as_read = noted;
    }

    fn check_name(&mut self, frame: &Frame) -> ParseResult<()> {
        let Some(name) = frame.name else { return Ok(()) };
        if !is_illegal(self.module.strings.get(name)) && self.earlier_definition(name).is_none() {
            return Ok(());
        }
        let text = self.module.strings.name(name);
        if let Some(legal) = legal_name(text) {
            let message = format!("`{text}` cannot be the name of an instruction");
            return Err(Diagnostic::new(Code::IllegalName, frame.name_span, message)
                .help(format!("`{legal}` could"))
                .boxed());
        }
        if let Some(first) = self.earlier_definition(name) {
            let message = format!("instruction `{text}` is defined twice");
            return Err(Diagnostic::new(Code::DuplicateInstruction, frame.name_span, message)
                .also(first, "the first definition is here")
                .boxed());
        }
        Ok(())
    }

    fn check_required(&self, frame: &Frame) -> ParseResult<()> {
        let opcode = frame.attribute_opcode();
        let row = opcode.info().attributes;
        let given = self.pending(frame);
        // Attributes are mostly given in the order of the row, so this is nearly linear.
        let is_missing = |key: AttrKey| !given.iter().any(|pending| pending.attr.key == key);
        let mut missing: Option<&'static str> = None;
        for &(key, presence) in row {
            if presence == Presence::Required && is_missing(key) {
                let name = key.name();
                missing = Some(missing.map_or(name, |first| first.min(name)));
            }
        }
        if opcode == Opcode::Broadcast && is_missing(AttrKey::Dimensions) {
            let scalar = self.operand_shape(frame, 0).is_some_and(|shape| {
                self.module.shape(shape).as_array().is_some_and(|array| array.rank() == 0)
            });
            if !scalar {
                missing = Some(AttrKey::Dimensions.name());
            }
        }
        match missing {
            None => Ok(()),
            Some(name) => {
                let at = frame.after_operands.unwrap_or(frame.opcode_at);
                let message = format!("`{opcode}` needs the attribute `{name}`");
                let error = Diagnostic::new(Code::MissingAttribute, at, message).focus(frame.opcode_at, "");
                // Lenient reading has kept a misspelt one.
                let misspelt = given.iter().find_map(|pending| {
                    let AttrValue::Raw(text) = pending.attr.value else { return None };
                    let text = self.module.strings.name(text);
                    let word = text.split('=').next().unwrap_or(text).trim_end();
                    did_you_mean(word, [name]).map(|_| (pending.span, word.to_owned()))
                });
                Err(match misspelt {
                    Some((span, word)) => error
                        .also(span, format!("not `{}`", shorten(&word)))
                        .help(format!("did you mean `{name}` by `{}`?", shorten(&word))),
                    None => error.help(format!("add `, {name}=...`")),
                }
                .boxed())
            }
        }
    }

    /// Drops what is the default, fills in what is always printed, sorts, and stores the rest.
    fn normalize_attributes(&mut self, frame: &Frame, shape: ShapeId) -> ParseResult<PoolRange> {
        let opcode = frame.word.opcode;
        let from = frame.attributes;
        let mut at = from;
        while at < self.attributes.len() {
            let attr = self.attributes[at].attr;
            if self.keeps(opcode, attr) {
                at += 1;
            } else {
                self.attributes.remove(at);
            }
        }
        for &(key, presence) in opcode.info().attributes {
            if presence == Presence::Filled && self.given(frame, key).is_none() {
                let value = self.default_value(frame, key, shape);
                self.set(frame, key, value);
            }
        }
        let pending = &mut self.attributes[from..];
        // A handful of entries, nearly sorted.
        pending.sort_by_key(|pending| pending.rank);
        let start = self.module.attribute_pool.len();
        self.module.attribute_pool.extend(self.attributes[from..].iter().map(|pending| pending.attr));
        Ok(PoolRange::new(start, self.attributes.len() - from))
    }

    /// Whether an attribute stays in the IR.
    fn keeps(&self, opcode: Opcode, attr: Attr) -> bool {
        if matches!(attr.key, AttrKey::Metadata | AttrKey::ControlPredecessors) {
            return false;
        }
        if attr.key == AttrKey::Unknown {
            return true;
        }
        match opcode.presence(attr.key) {
            Some(Presence::Required | Presence::Optional | Presence::Filled) => true,
            Some(Presence::NonDefault) => !self.is_default(attr),
            Some(Presence::Dropped) | None => false,
        }
    }

    /// Whether an attribute has the value that counts as "not given".
    pub(super) fn is_default(&self, attr: Attr) -> bool {
        match (attr.key.info().default, attr.value) {
            (AttrDefault::Bool(default), AttrValue::Bool(value)) => default == value,
            (AttrDefault::Int(default), AttrValue::Int(value)) => default == value,
            (AttrDefault::Word(default), AttrValue::Word(value)) => default == value,
            (AttrDefault::Text(default), AttrValue::String(value)) => {
                self.module.strings.get(value) == default.as_bytes()
            }
            (AttrDefault::Empty, AttrValue::String(value)) => self.module.strings.get(value).is_empty(),
            (AttrDefault::Empty, AttrValue::Value(value)) => self.module.value(value).is_empty(),
            _ => false,
        }
    }

    /// What is filled in for an attribute that is always printed.
    fn default_value(&mut self, frame: &Frame, key: AttrKey, shape: ShapeId) -> AttrValue {
        match (key, key.info().default, key.kind()) {
            (AttrKey::OutfeedShape, ..) => AttrValue::Shape(self.operand_shape(frame, 0).unwrap_or(shape)),
            (_, AttrDefault::Bool(flag), _) => AttrValue::Bool(flag),
            (_, AttrDefault::Int(int), _) => AttrValue::Int(int),
            (_, AttrDefault::Word(word), _) => AttrValue::Word(word),
            (_, _, AttrKind::ReplicaGroups) => {
                let value = self.module.intern_value(Value::ReplicaGroups(ReplicaGroups::default()));
                AttrValue::Value(value)
            }
            _ => AttrValue::Value(self.module.intern_value(Value::Ints(Vec::new()))),
        }
    }

    fn store_operands(&mut self, frame: &Frame) -> PoolRange {
        let start = self.module.operand_pool.len();
        self.module.operand_pool.extend_from_slice(&self.operands[frame.operands..]);
        PoolRange::new(start, self.operands.len() - frame.operands)
    }
}

impl Frame {
    /// The opcode whose attributes the text gives: of `X-start` it is X.
    pub(super) fn attribute_opcode(&self) -> Opcode {
        match (self.word.opcode, self.word.wrapped) {
            (Opcode::AsyncStart, Some(wrapped)) => wrapped,
            (opcode, _) => opcode,
        }
    }
}
