//! Builds the IR while the grammar reduces: scopes, computations, instructions in the making.
//!
//! The grammar's actions call the methods here; the first fault is kept and stops the token source. What an
//! instruction must satisfy is in `instruction.rs` and `checks.rs`, attributes are in `attributes.rs`.

use std::cell::{Cell, RefCell};

use hashbrown::HashMap;

use crate::diagnostic::{Code, Diagnostic, Span};
use crate::ir::{
    Attr, AttrKey, AttrValue, Computation, ComputationId, HASHER, HeaderKey, Instruction, InstructionId,
    LiteralId, MetadataId, Module, Opcode, PoolRange, ShapeId, Symbol,
};
use crate::lexer::Cursor;

use super::shape::parse_shape;
use super::text_cache::{TextCache, shape_length, text_hash};
use super::tokens::OpcodeWord;
use super::{Dialect, ParseResult, ValueContext};

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
    /// Spellings of attributes that are printed otherwise, of instructions in the making: how many frames enclose
    /// the instruction's, the attribute, its text.
    pub(super) pending_as_read: Vec<(usize, AttrKey, Symbol)>,
    /// What `%t#0` stands for, each made once.
    tuple_elements: HashMap<(InstructionId, i64), InstructionId, foldhash::fast::FixedState>,
}

impl<'s> Builder<'s> {
    /// A builder for `source`.
    pub(crate) fn new(source: &'s str, dialect: Dialect) -> Self {
        let mut module = Module::new("");
        // Typical ratios of real modules, so that the tables rarely grow.
        let lines = source.len() / 160;
        module.strings = crate::ir::Interner::with_capacity(lines, source.len() / 8);
        module.instructions.reserve(lines);
        module.operand_pool.reserve(lines * 2);
        module.attribute_pool.reserve(lines);
        module.name = module.strings.intern(b"");
        module.reads_back = dialect == Dialect::Lenient;
        Self {
            source,
            dialect,
            infer_shapes: false,
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

    pub(super) fn reserve_computation(&mut self) -> ComputationId {
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

    pub(super) fn open_scope(
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

    fn finish_computation(&mut self, mut scope: Scope, brace: Span) -> ParseResult<ComputationId> {
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
    fn sanitize_computation_name(&mut self, name: Symbol) -> Symbol {
        match super::instruction::legal_name(self.module.strings.name(name)) {
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

    fn undefined_computation(&self, name: Symbol, span: Span) -> Box<Diagnostic> {
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
    fn begin(&mut self, name: Option<Symbol>, name_span: Span, root_span: Option<Span>) {
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
    pub(super) fn lookup(&self, name: Symbol) -> Option<InstructionId> {
        let first = self.scopes.last()?.first_instruction;
        let id = (*self.definitions.get(name.index())?)?;
        (id.index() >= first).then_some(id)
    }

    pub(super) fn define(&mut self, name: Symbol, id: InstructionId) {
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

    fn wrong_operand_shape(
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

    fn unknown_operand(&mut self, shape: Option<(ShapeId, u32)>, name: Symbol, at: u32) {
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
    fn operand_parameter(&mut self, name: Option<Symbol>, shape: ShapeId, span: Span, push: bool) {
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

    /// Span of the earlier definition if `name` is defined in the innermost computation.
    pub(super) fn earlier_definition(&self, name: Symbol) -> Option<Span> {
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
    pub(super) fn enclosing(&self) -> Option<super::hints::Enclosing<'_>> {
        let scope = self.scopes.first().filter(|scope| !scope.inline)?;
        Some(super::hints::Enclosing {
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
    pub(super) fn poison(&mut self, name: Symbol) {
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
        open.truncate(super::DEFAULT_MAX_ERRORS);
        open.into_iter().map(|(&name, forward)| *self.undefined_computation(name, forward.span)).collect()
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
