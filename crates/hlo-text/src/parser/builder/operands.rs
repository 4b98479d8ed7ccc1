//! Instructions as they begin, and their operands.

use super::{Builder, Frame};
use crate::diagnostic::{Code, Diagnostic, Span};
use crate::ir::{
    Attr, AttrKey, AttrValue, ComputationId, Instruction, InstructionId, Opcode, PoolRange, ShapeId, Symbol,
};
use crate::parser::tokens::OpcodeWord;

impl<'s> Builder<'s> {
    #[inline]
    pub(crate) fn begin_instruction(&mut self, name: Symbol, at: u32, root_at: Option<u32>) {
        let name_span = self.name_span(name, at);
        let root_span = root_at.map(|start| Span { start, end: start + "ROOT".len() as u32 });
        self.begin(Some(name), name_span, root_span);
    }

    pub(crate) fn begin_unnamed_instruction(&mut self) {
        let name = self.intern_name("_");
        self.begin(Some(name), Span::default(), None);
    }

    #[inline]
    pub(super) fn begin(&mut self, name: Option<Symbol>, name_span: Span, root_span: Option<Span>) {
        self.frames.push(Frame {
            name,
            name_span,
            root_span,
            shape: None,
            word: OpcodeWord { opcode: Opcode::Tuple, wrapped: None },
            opcode_at: Span::default(),
            paren_at: Span::default(),
            after_operands: None,
            after: Span::default(),
            operands: self.operands.len(),
            attributes: self.attributes.len(),
            metadata: None,
            control_predecessors: Vec::new(),
        });
    }

    #[inline]
    pub(crate) fn open_operands(&mut self, shape: Option<ShapeId>, word: OpcodeWord, at: u32, paren_at: u32) {
        let Some(frame) = self.frames.last_mut() else { return };
        frame.shape = shape;
        frame.word = word;
        frame.opcode_at = Span { start: at, end: paren_at };
        frame.paren_at = Span { start: paren_at, end: paren_at + 1 };
        if shape.is_none() && !self.infer_shapes && !may_omit_shape(word.opcode) {
            let error = Diagnostic::new(
                Code::MissingShape,
                frame.paren_at,
                format!("the result shape of `{}` cannot be inferred from its operands", word.opcode),
            );
            let error = error
                .also(frame.opcode_at, "write the shape before this opcode")
                .help(format!("write `shape {}(...)`", word.opcode));
            self.fail(error.boxed());
        }
    }

    /// `start` is where the operand begins, with its shape if it has one.
    pub(crate) fn open_nested(
        &mut self,
        shape: Option<ShapeId>,
        word: OpcodeWord,
        at: u32,
        paren_at: u32,
        start: u32,
    ) {
        self.begin(None, Span { start, end: paren_at }, None);
        self.open_operands(shape, word, at, paren_at);
        if self.single_instruction && shape.is_some() {
            // XLA reads the opcode as the name of a parameter first.
            let text = word.opcode.name();
            let name = self.intern_name(text);
            if let Some(shape) = shape {
                self.operand_parameter(Some(name), shape, Span { start: at, end: paren_at }, false);
            }
        }
    }

    /// What `name` means in the innermost computation.
    #[inline]
    pub(in crate::parser) fn lookup(&self, name: Symbol) -> Option<InstructionId> {
        let first = self.scopes.last()?.first_instruction;
        let id = (*self.definitions.get(name.index())?)?;
        (id.index() >= first).then_some(id)
    }

    pub(in crate::parser) fn define(&mut self, name: Symbol, id: InstructionId) {
        if self.definitions.len() <= name.index() {
            self.definitions.resize(self.module.strings.len().max(name.index() + 1), None);
        }
        let before = self.definitions[name.index()].replace(id);
        if let Some(scope) = self.scopes.last_mut()
            && scope.inline
        {
            scope.shadowed.push((name, before));
        }
    }

    #[inline]
    pub(crate) fn operand(&mut self, shape: Option<(ShapeId, u32)>, name: Symbol, at: u32) {
        let Some(id) = self.lookup(name) else {
            return self.unknown_operand(shape, name, at);
        };
        if let Some((declared, shape_at)) = shape {
            let actual = self.module.instruction(id).shape;
            if !self.module.shapes.compatible(declared, actual) {
                return self.wrong_operand_shape(declared, id, shape_at, at, name);
            }
        }
        self.operands.push(id);
    }

    /// The operand `name#index`: a get-tuple-element that is not written on its own.
    pub(crate) fn tuple_element(&mut self, name: Symbol, at: u32, index: i64, index_at: u32) {
        let Some(id) = self.lookup(name) else {
            return self.unknown_operand(None, name, at);
        };
        let span = Span { start: at, end: index_at };
        let message = "`name#index` for an element of a tuple is of newer XLA versions";
        self.warnings.push(
            Diagnostic::new(Code::Dialect, span, message)
                .help("it becomes a `get-tuple-element` of its own")
                .warning(),
        );
        self.operands.push(id);
        self.inner_tuple_element(index, index_at);
    }

    /// The last operand, `name#index`, has been declared as `shape`.
    pub(crate) fn declared_tuple_element(&mut self, shape: ShapeId, shape_at: u32, at: u32) {
        if self.has_failed() {
            return;
        }
        let Some(&id) = self.operands.last() else { return };
        if !self.module.shapes.compatible(shape, self.module.instruction(id).shape) {
            let name = self.module.instruction(id).name;
            self.wrong_operand_shape(shape, id, shape_at, at, name);
        }
    }

    /// The last operand becomes its element `index`.
    pub(crate) fn inner_tuple_element(&mut self, index: i64, index_at: u32) {
        if self.has_failed() {
            return;
        }
        let Some(tuple) = self.operands.pop() else { return };
        if let Some(&known) = self.tuple_elements.get(&(tuple, index)) {
            return self.operands.push(known);
        }
        let span = Span { start: index_at, end: index_at + 1 };
        let elements = self.module.shape_of(tuple).as_tuple();
        let element = elements.and_then(|elements| elements.get(usize::try_from(index).ok()?));
        let Some(&shape) = element else {
            let text =
                crate::printer::shape::shape_text(&self.module, self.module.instruction(tuple).shape, false);
            let message = format!("there is no element {index} in `{text}`");
            let error = Diagnostic::new(Code::OutOfRange, span, message);
            return self.fail(error.also(self.spans[tuple.index()], "defined here").boxed());
        };
        let operands = self.module.operand_pool.len();
        self.module.operand_pool.push(tuple);
        let attributes = self.module.attribute_pool.len();
        self.module.attribute_pool.push(Attr { key: AttrKey::Index, value: AttrValue::Int(index) });
        let name = self.nested_name(Opcode::GetTupleElement);
        let id = self.push_instruction(
            Instruction {
                name,
                shape,
                operands: PoolRange::new(operands, 1),
                attributes: PoolRange::new(attributes, 1),
                metadata: None,
                parent: ComputationId::from_index(0),
                literal: None,
                parameter_number: 0,
                opcode: Opcode::GetTupleElement,
                has_control_predecessors: false,
                removed: false,
            },
            span,
        );
        self.define(name, id);
        self.tuple_elements.insert((tuple, index), id);
        self.operands.push(id);
    }

    pub(super) fn wrong_operand_shape(
        &mut self,
        declared: ShapeId,
        id: InstructionId,
        shape_at: u32,
        at: u32,
        name: Symbol,
    ) {
        let text = |shape| crate::printer::shape::shape_text(&self.module, shape, true);
        let actual = self.module.instruction(id).shape;
        let message = format!(
            "the operand is declared as `{}`, but `{}` is `{}`",
            text(declared),
            self.module.strings.name(name),
            text(actual)
        );
        let error = Diagnostic::new(Code::OperandShape, Span { start: shape_at, end: at }, message)
            .label("declared here")
            .also(self.spans[id.index()], "defined here");
        self.fail(error.boxed());
    }

    pub(super) fn unknown_operand(&mut self, shape: Option<(ShapeId, u32)>, name: Symbol, at: u32) {
        let span = self.name_span(name, at);
        if self.single_instruction && self.scopes.len() == 1 {
            return match shape {
                Some((shape, _)) => self.operand_parameter(Some(name), shape, span, true),
                None => {
                    let message = "the operand needs a shape, since it becomes a parameter";
                    let error = Diagnostic::new(Code::UndefinedInstruction, span, message);
                    self.fail(error.help("write the shape before the name: `f32[2] x`").boxed());
                }
            };
        }
        let text = self.module.strings.name(name).to_owned();
        let mut error =
            Diagnostic::new(Code::UndefinedInstruction, span, format!("instruction `{text}` is not defined"));
        let scope = self.scopes.last();
        let names =
            scope.into_iter().flat_map(|scope| &scope.instructions).map(|&id| self.module.name_of(id));
        // What is missing because its definition was faulty is not reported: no advice is looked for.
        let close =
            if self.poisoned.contains(&name) { None } else { crate::diagnostic::did_you_mean(&text, names) };
        if let Some(close) = close {
            error = error.help(format!("did you mean `{close}`?"));
        } else {
            error = error.help("an operand must be defined before it is used, in the same computation");
        }
        self.fail(error.boxed());
    }

    /// A parameter made of an operand of the single-instruction form.
    pub(super) fn operand_parameter(&mut self, name: Option<Symbol>, shape: ShapeId, span: Span, push: bool) {
        let Some(scope) = self.scopes.last() else { return };
        let number = scope.parameters.len();
        let name = name.unwrap_or_else(|| {
            let text = format!("_{number}");
            self.module.strings.intern(text.as_bytes())
        });
        let id = self.push_instruction(
            Instruction {
                name,
                shape,
                operands: PoolRange::default(),
                attributes: PoolRange::default(),
                metadata: None,
                parent: ComputationId::from_index(0),
                literal: None,
                parameter_number: number as u32,
                opcode: Opcode::Parameter,
                has_control_predecessors: false,
                removed: false,
            },
            span,
        );
        self.define(name, id);
        if let Some(scope) = self.scopes.last_mut() {
            scope.add_parameter(number as i64, id, span);
        }
        if push {
            self.operands.push(id);
        }
    }

    pub(crate) fn operand_without_name(&mut self, shape: ShapeId, at: u32) {
        let span = Span { start: at, end: at + 1 };
        if self.single_instruction && self.scopes.len() == 1 {
            return self.operand_parameter(None, shape, span, true);
        }
        let error = Diagnostic::new(Code::UnexpectedToken, span, "an operand needs a name")
            .label("only a shape is here; XLA drops such an operand");
        // It counts only if the number of operands is wrong then.
        self.noted.get_or_insert(error.boxed());
    }
}

/// Whether the text may leave out the result shape of `opcode`.
fn may_omit_shape(opcode: Opcode) -> bool {
    use crate::ir::ShapeRule;
    match opcode.info().shape_rule {
        ShapeRule::Inferable | ShapeRule::ComputedInferable => true,
        ShapeRule::Mandatory | ShapeRule::ComputedMandatory => false,
    }
}
