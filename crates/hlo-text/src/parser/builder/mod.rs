//! Builds the IR while the grammar reduces: scopes, computations, instructions in the making.
//!
//! The grammar's actions call the methods here; the first fault is kept and stops the token source. What an
//! instruction must satisfy is in `instruction.rs` and `checks.rs`, attributes are in `attributes.rs`.

mod computations;
mod faults;
mod operands;
mod parts;

use std::cell::{Cell, RefCell};

use hashbrown::HashMap;

use crate::diagnostic::{Code, Diagnostic, Span};
use crate::ir::{
    Attr, AttrKey, AttrValue, ComputationId, HASHER, HeaderKey, Instruction, InstructionId, LiteralId,
    MetadataId, Module, Opcode, ShapeId, Symbol,
};
use crate::lexer::Cursor;

use super::shape::parse_shape;
use super::text_cache::{TextCache, shape_length, text_hash};
use super::tokens::OpcodeWord;
use super::{Dialect, ParseResult, ValueContext};

pub(crate) use parts::InstructionParts;

/// A builder that the token source and the grammar's actions share; they take turns.
pub(crate) struct SharedBuilder<'s> {
    builder: RefCell<Builder<'s>>,
    /// Where the last token that the grammar has been given begins.
    lookahead: Cell<u32>,
}

impl<'s> SharedBuilder<'s> {
    pub(crate) fn new(builder: Builder<'s>) -> Self {
        Self { builder: RefCell::new(builder), lookahead: Cell::new(0) }
    }

    #[inline]
    pub(crate) fn borrow(&self) -> std::cell::Ref<'_, Builder<'s>> {
        self.builder.borrow()
    }

    #[inline]
    pub(crate) fn borrow_mut(&self) -> std::cell::RefMut<'_, Builder<'s>> {
        self.builder.borrow_mut()
    }

    /// Where the token begins that the grammar looks at before it reduces.
    #[inline]
    pub(crate) fn lookahead(&self) -> u32 {
        self.lookahead.get()
    }

    #[inline]
    pub(crate) fn set_lookahead(&self, at: u32) {
        self.lookahead.set(at);
    }

    pub(crate) fn into_inner(self) -> Builder<'s> {
        self.builder.into_inner()
    }
}

/// The attribute that may follow a computation.
const EXECUTION_THREAD: &str = "execution_thread";

/// The thread that is not written.
pub(super) const MAIN_THREAD: &[u8] = b"main";

/// An attribute that has been read for the instruction in the making.
#[derive(Clone, Copy)]
pub(super) struct PendingAttr {
    /// Place in the printing order.
    pub(super) rank: u8,
    pub(super) attr: Attr,
    /// Of the key.
    pub(super) span: Span,
}

/// An instruction in the making.
pub(super) struct Frame {
    pub(super) name: Option<Symbol>,
    pub(super) name_span: Span,
    pub(super) root_span: Option<Span>,
    pub(super) shape: Option<ShapeId>,
    pub(super) word: OpcodeWord,
    /// Of the opcode.
    pub(super) opcode_at: Span,
    /// Of the `(`.
    pub(super) paren_at: Span,
    /// Of the token after the `)`.
    pub(super) after_operands: Option<Span>,
    /// Of the token after the whole instruction.
    pub(super) after: Span,
    /// Where its operands begin on the stack.
    pub(super) operands: usize,
    /// Where its attributes begin on the stack.
    pub(super) attributes: usize,
    pub(super) metadata: Option<MetadataId>,
    pub(super) control_predecessors: Vec<InstructionId>,
}

/// A computation in the making.
pub(super) struct Scope {
    pub(super) id: ComputationId,
    name: Symbol,
    name_span: Span,
    is_entry: bool,
    inline: bool,
    /// Instructions below this index are not visible here.
    first_instruction: usize,
    pub(super) instructions: Vec<InstructionId>,
    parameters: Vec<(i64, InstructionId, Span)>,
    /// The highest of their numbers, -1 without any.
    highest_parameter: i64,
    /// Their numbers, made when one comes that is not the highest.
    parameter_numbers: Option<HashMap<i64, Span, foldhash::fast::FixedState>>,
    root: Option<(InstructionId, Span)>,
    signature: Option<(ShapeId, Span)>,
    /// Names of an inline computation, with what they meant before.
    shadowed: Vec<(Symbol, Option<InstructionId>)>,
    /// Where this computation's instructions begin on the frame stack.
    frames: usize,
}

impl Scope {
    pub(super) fn add_parameter(&mut self, number: i64, id: InstructionId, span: Span) {
        self.parameters.push((number, id, span));
        self.highest_parameter = self.highest_parameter.max(number);
        if let Some(numbers) = &mut self.parameter_numbers {
            numbers.insert(number, span);
        }
    }
}

/// A computation that has been named but not defined yet.
struct Forward {
    id: ComputationId,
    span: Span,
}

/// What shapes and attribute values are kept apart by in the text cache: an attribute, or 255 for shapes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct CacheKind(pub(super) u8);

impl From<CacheKind> for u64 {
    fn from(kind: CacheKind) -> u64 {
        u64::from(kind.0)
    }
}

pub(super) const SHAPE_KIND: CacheKind = CacheKind(255);

/// What a piece of text stands for.
#[derive(Clone, Copy)]
pub(super) enum Cached {
    Shape(ShapeId),
    Value(AttrValue),
    Metadata(MetadataId),
    Literal(LiteralId),
}

/// Builds one module from one text.
pub(crate) struct Builder<'s> {
    pub(super) source: &'s str,
    pub(super) dialect: Dialect,
    /// Whether shapes that XLA wants written may be left out.
    pub(super) infer_shapes: bool,
    /// Whether the module is put together from finished parts: shapes and attributes are taken as they are.
    pub(super) from_parts: bool,
    pub(super) nesting: super::Nesting,
    pub(super) module: Module,
    pub(super) warnings: Vec<Diagnostic>,
    error: Option<Box<Diagnostic>>,
    /// A fault that XLA notes without stopping: it counts only if another one follows.
    pub(super) noted: Option<Box<Diagnostic>>,
    /// Whether unknown operands become parameters.
    pub(super) single_instruction: bool,
    pub(super) cache: TextCache<CacheKind, Cached>,
    /// What each name means in the innermost computation; ids of outer ones don't count.
    definitions: Vec<Option<InstructionId>>,
    /// Names whose definitions were faulty: using them is no second fault.
    poisoned: hashbrown::HashSet<Symbol, foldhash::fast::FixedState>,
    /// Whether a fault has been reported: instructions may be missing then, so computations are not checked.
    recovered: bool,
    /// The name of the instruction read last.
    defining: Option<Symbol>,
    scopes: Vec<Scope>,
    pub(super) frames: Vec<Frame>,
    pub(super) operands: Vec<InstructionId>,
    pub(super) attributes: Vec<PendingAttr>,
    /// Names `opcode.anon`; made when the first nested instruction needs one.
    nested_names: Option<crate::ir::NameSet>,
    pub(super) pending_number: (i64, Span),
    pub(super) pending_literal: Option<LiteralId>,
    last_after_operands: Span,
    signature: Option<(ShapeId, Span)>,
    computation_names: HashMap<Symbol, (ComputationId, Span), foldhash::fast::FixedState>,
    forward: HashMap<Symbol, Forward, foldhash::fast::FixedState>,
    /// Keys whose computations are being read: their places in `attributes`, and where the computations begin in
    /// `called`.
    pub(super) called_keys: Vec<(usize, usize)>,
    pub(super) called: Vec<ComputationId>,
    pub(super) last_closed: Option<ComputationId>,
    pending_thread: Option<Symbol>,
    entry_span: Option<Span>,
    pub(super) header_keys: super::header::SeenHeaderKeys,
    header_key_spans: Vec<(HeaderKey, Span)>,
    /// As the text has them, not pruned.
    pub(super) stack_frames: crate::ir::StackFrameIndex,
    /// How many modules this one is inside of (`origin_recovery_table`).
    pub(super) depth: usize,
    /// Where each instruction is in the text.
    pub(super) spans: Vec<Span>,
    pub(super) async_starts: Vec<InstructionId>,
    /// The starts of the asynchronous chains, by their updates.
    pub(super) starts_of_updates: HashMap<InstructionId, InstructionId, foldhash::fast::FixedState>,
    /// The computations of `X-start(...)`, which the text doesn't name.
    pub(super) hidden: Vec<ComputationId>,
    /// Spellings of attributes that are printed otherwise, of instructions in the making: how many frames enclose
    /// the instruction's, the attribute, its text.
    pub(super) pending_as_read: Vec<(usize, AttrKey, Symbol)>,
    /// What `%t#0` stands for, each made once.
    tuple_elements: HashMap<(InstructionId, i64), InstructionId, foldhash::fast::FixedState>,
}

impl<'s> Builder<'s> {
    /// A builder for `source`.
    pub(crate) fn new(source: &'s str, dialect: Dialect) -> Self {
        // Typical ratios of real modules, so that the tables rarely grow.
        Self::with_room(source, dialect, source.len() / 160, source.len() / 8)
    }

    /// A builder for `source` with room for that many lines, and for strings of that many bytes.
    fn with_room(source: &'s str, dialect: Dialect, lines: usize, string_bytes: usize) -> Self {
        let mut module = Module::new("");
        module.strings = crate::ir::Interner::with_capacity(lines, string_bytes);
        module.instructions.reserve(lines);
        module.operand_pool.reserve(lines * 2);
        module.attribute_pool.reserve(lines);
        module.name = module.strings.intern(b"");
        module.reads_back = dialect == Dialect::Lenient;
        Self {
            source,
            dialect,
            infer_shapes: false,
            from_parts: false,
            nesting: super::Nesting::SHALLOW,
            module,
            warnings: Vec::new(),
            error: None,
            noted: None,
            single_instruction: false,
            cache: TextCache::new(),
            definitions: Vec::with_capacity(lines),
            poisoned: hashbrown::HashSet::with_hasher(HASHER),
            recovered: false,
            defining: None,
            scopes: Vec::new(),
            frames: Vec::new(),
            operands: Vec::new(),
            attributes: Vec::new(),
            nested_names: None,
            pending_number: (0, Span::default()),
            pending_literal: None,
            last_after_operands: Span::default(),
            signature: None,
            computation_names: HashMap::with_hasher(HASHER),
            forward: HashMap::with_hasher(HASHER),
            called_keys: Vec::new(),
            called: Vec::new(),
            last_closed: None,
            pending_thread: None,
            entry_span: None,
            header_keys: super::header::SeenHeaderKeys::default(),
            header_key_spans: Vec::new(),
            stack_frames: crate::ir::StackFrameIndex::default(),
            depth: 0,
            spans: Vec::with_capacity(lines),
            async_starts: Vec::new(),
            starts_of_updates: HashMap::with_hasher(HASHER),
            hidden: Vec::new(),
            pending_as_read: Vec::new(),
            tuple_elements: HashMap::with_hasher(HASHER),
        }
    }

    /// The finished module with what belongs beside it.
    pub(crate) fn into_parsed(self) -> super::Parsed {
        super::Parsed {
            module: self.module,
            warnings: self.warnings,
            source_map: super::SourceMap { instructions: self.spans },
        }
    }

    /// Keeps `error` if it is the first; the token source then stops.
    pub(crate) fn fail(&mut self, error: Box<Diagnostic>) {
        if self.error.is_none() {
            // What was noted before is the cause.
            self.error = Some(self.noted.take().unwrap_or(error));
        }
    }

    #[inline]
    pub(crate) fn has_failed(&self) -> bool {
        self.error.is_some()
    }

    /// Takes the fault that stopped the parse.
    pub(crate) fn take_error(&mut self) -> Option<Box<Diagnostic>> {
        self.error.take()
    }

    pub(super) fn context(&mut self) -> ValueContext<'_> {
        ValueContext { module: &mut self.module, dialect: self.dialect, warnings: &mut self.warnings }
    }

    #[inline]
    pub(super) fn strict(&self) -> bool {
        self.dialect == Dialect::Strict
    }

    #[inline]
    pub(crate) fn intern_name(&mut self, name: &str) -> Symbol {
        self.module.strings.intern(name.as_bytes())
    }

    /// The same of a name that is being defined: if its definition turns out to be faulty, uses are not.
    #[inline]
    pub(crate) fn intern_definition(&mut self, name: &str) -> Symbol {
        let symbol = self.intern_name(name);
        self.defining = Some(symbol);
        symbol
    }

    /// The span of the name `symbol` whose token begins at `at`.
    pub(super) fn name_span(&self, symbol: Symbol, at: u32) -> Span {
        let sign = u32::from(self.source.as_bytes().get(at as usize) == Some(&b'%'));
        Span { start: at, end: at + sign + self.module.strings.get(symbol).len() as u32 }
    }

    // ------------------------------------------------------------ pieces the token source asks for

    /// Takes a shape; equal texts are typed once.
    #[inline]
    pub(crate) fn shape(&mut self, cursor: &mut Cursor<'s>) -> ParseResult<ShapeId> {
        let source = self.source.as_bytes();
        let start = cursor.start();
        let Some(length) = shape_length(&source[start..]) else {
            return parse_shape(cursor, &mut self.context());
        };
        let text = &source[start..start + length];
        let hash = text_hash(SHAPE_KIND, text);
        if let Some(Cached::Shape(shape)) = self.cache.get(source, hash, SHAPE_KIND, text) {
            cursor.seek(start + length);
            return Ok(shape);
        }
        let shape = parse_shape(cursor, &mut self.context())?;
        if cursor.previous_end() == start + length {
            self.cache.insert(hash, SHAPE_KIND, start, length, Cached::Shape(shape));
        }
        Ok(shape)
    }

    pub(crate) fn parameter_number(&mut self, cursor: &mut Cursor<'s>) -> ParseResult<()> {
        let span = cursor.span();
        let number = cursor.int()?;
        if number < 0 {
            // XLA says it one token later.
            let message = "a parameter number must not be negative";
            return Err(Diagnostic::new(Code::BadParameter, cursor.span(), message).focus(span, "").boxed());
        }
        self.pending_number = (number, span);
        let duplicate = self.scopes.last_mut().and_then(|scope| {
            // Numbers nearly always count up.
            if number > scope.highest_parameter {
                return None;
            }
            let parameters = &scope.parameters;
            let numbers = scope
                .parameter_numbers
                .get_or_insert_with(|| parameters.iter().map(|&(number, _, span)| (number, span)).collect());
            numbers.get(&number).copied()
        });
        if let Some(first) = duplicate {
            return Err(Diagnostic::new(
                Code::BadParameter,
                cursor.span(),
                format!("parameter {number} is defined twice"),
            )
            .focus(span, "")
            .also(first, "the first time here")
            .boxed());
        }
        Ok(())
    }

    /// Takes the literal of a constant of `shape`.
    pub(crate) fn constant_literal(
        &mut self,
        cursor: &mut Cursor<'s>,
        shape: Option<ShapeId>,
    ) -> ParseResult<()> {
        let Some(shape) = shape else {
            let message = "the shape of a constant must be written";
            let paren = Span::new(cursor.previous_end().saturating_sub(1), cursor.previous_end());
            return Err(Diagnostic::new(Code::MissingShape, paren, message)
                .help("write it before the opcode: `x = f32[] constant(1)`")
                .boxed());
        };
        let source = self.source.as_bytes();
        let start = cursor.start();
        // Scalars and short lists repeat; the key is the text from the shape's id on.
        let length = source[start..].iter().take(24).position(|&byte| byte == b')').unwrap_or(0);
        let text = &source[start..start + length];
        let cacheable = !text.is_empty() && !text.iter().any(|byte| matches!(byte, b'(' | b'/'));
        let kind = CacheKind(254);
        let hash = text_hash(kind, text) ^ (shape.index() as u64).wrapping_mul(0xff51_afd7_ed55_8ccd);
        if cacheable
            && let Some(Cached::Literal(literal)) = self.cache.get(source, hash, kind, text)
            && self.module.literal(literal).shape == shape
        {
            self.pending_literal = Some(literal);
            cursor.seek(start + length);
            return Ok(());
        }
        let warnings = self.warnings.len();
        let literal = super::literal::parse_literal(cursor, &mut self.context(), shape)?;
        if self.strict()
            && let Some(warning) = self.warnings.get(warnings)
        {
            let noted = Diagnostic { severity: crate::diagnostic::Severity::Error, ..warning.clone() };
            self.noted.get_or_insert(noted.boxed());
        }
        let same_shape = literal.shape == shape;
        let literal = self.module.add_literal(literal);
        if cacheable && same_shape && cursor.start() == start + length {
            self.cache.insert(hash, kind, start, length, Cached::Literal(literal));
        }
        self.pending_literal = Some(literal);
        Ok(())
    }

    /// Notes the token after the operands of an instruction.
    #[inline]
    pub(crate) fn after_operands(&mut self, span: Span) {
        self.last_after_operands = span;
    }

    /// The token after the operands of the innermost instruction in the making.
    pub(super) fn take_after_operands(&mut self) -> Span {
        let last = self.last_after_operands;
        match self.frames.last_mut() {
            Some(frame) => *frame.after_operands.get_or_insert(last),
            None => last,
        }
    }

    // ------------------------------------------------------------ computations

    /// Notes that the attribute `word` of the module stands at `span`.
    pub(crate) fn note_header_key(&mut self, word: &str, span: Span) {
        self.header_key_spans.extend(HeaderKey::from_name(word).map(|key| (key, span)));
    }

    /// Where the attribute `key` of the module stands.
    pub(super) fn header_key_span(&self, key: HeaderKey) -> Option<Span> {
        self.header_key_spans.iter().find(|row| row.0 == key).map(|row| row.1)
    }

    pub(crate) fn module_name(&mut self, name: Symbol, _at: u32) {
        self.module.name = name;
    }

    pub(crate) fn signature(&mut self, shape: ShapeId, at: u32) {
        let end = at + 1;
        self.signature = Some((shape, Span { start: at, end }));
    }

    /// Adds an instruction to the innermost computation.
    pub(super) fn push_instruction(&mut self, mut instruction: Instruction, span: Span) -> InstructionId {
        let id = InstructionId::from_index(self.module.instructions.len());
        if let Some(scope) = self.scopes.last_mut() {
            instruction.parent = scope.id;
            scope.instructions.push(id);
        }
        self.module.instructions.push(instruction);
        self.spans.push(span);
        id
    }

    pub(super) fn scope_mut(&mut self) -> Option<&mut Scope> {
        self.scopes.last_mut()
    }

    /// Opens the computation of the single-instruction form.
    pub(crate) fn open_single_instruction(&mut self) {
        self.single_instruction = true;
        let name = self.intern_name("_");
        self.module.name = name;
        self.module.header.is_scheduled = true;
        let id = self.reserve_computation();
        self.open_scope(id, name, Span::default(), true, false);
        // Its computation comes before the inline ones of its attributes.
        self.module.computation_order.push(id);
    }

    /// Closes the computation of the single-instruction form.
    pub(crate) fn close_single_instruction(&mut self, at: usize) {
        self.close_computation(at as u32);
        self.module.computation_order.pop();
        let Some(Some(computation)) = self.module.computations.first() else { return };
        let parameters: Vec<ShapeId> =
            computation.parameters.iter().map(|&id| self.module.instruction(id).shape).collect();
        let result = self.module.instruction(computation.root).shape;
        let parameters =
            parameters.into_iter().map(|shape| self.module.shapes.with_default_layout(shape)).collect();
        let result = self.module.shapes.with_default_layout(result);
        self.module.header.entry_computation_layout =
            Some(crate::ir::EntryComputationLayout { parameters, result });
    }

    /// The name of a nested instruction.
    pub(super) fn nested_name(&mut self, opcode: Opcode) -> Symbol {
        let names = self.nested_names.get_or_insert_with(|| {
            let mut names = crate::ir::NameSet::default();
            for instruction in &self.module.instructions {
                let text = self.module.strings.name(instruction.name).to_owned();
                names.unique(&text, &mut self.module.strings);
            }
            names
        });
        names.unique(&format!("{}.anon", opcode.name()), &mut self.module.strings)
    }

    /// Enters an explicit name in the table of nested names.
    pub(super) fn note_name(&mut self, name: Symbol) {
        if let Some(names) = &mut self.nested_names {
            let text = self.module.strings.name(name).to_owned();
            names.unique(&text, &mut self.module.strings);
        }
    }

    /// Notes `id` as the root of the innermost computation.
    pub(super) fn set_root(&mut self, id: InstructionId, span: Span) -> ParseResult<()> {
        let Some(scope) = self.scopes.last_mut() else { return Ok(()) };
        if let Some((_, first)) = scope.root {
            return Err(Diagnostic::new(Code::BadRoot, span, "a computation has only one root")
                .also(first, "the first one is here")
                .boxed());
        }
        scope.root = Some((id, span));
        Ok(())
    }
}
