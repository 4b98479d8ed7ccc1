//! From tokens to the IR: names resolved, attributes typed, semantic checks; one file per vocabulary.

mod accuracy;
pub(crate) mod aliasing;
mod async_ops;
mod attributes;
pub(crate) mod builder;
mod checks;
mod convolution;
mod dictionary;
mod domain;
mod expectation;
mod finish;
mod fragment;
pub(crate) mod header;
mod hints;
mod instruction;
mod list;
pub(crate) mod literal;
mod mesh;
pub(crate) mod metadata;
mod number;
mod origin;
pub(crate) mod raw;
mod recovery;
pub(crate) mod replica_groups;
pub(crate) mod shape;
pub(crate) mod sharding;
#[cfg(test)]
mod sharding_tests;
pub(crate) mod stack_frames;
mod sub_attribute;
mod text_cache;
pub(crate) mod tokens;
pub(crate) mod value;
mod word;

use crate::diagnostic::{Code, Diagnostic, Rejected, Span, decode, mistaken};
use crate::ir::Module;
use crate::lexer::{Cursor, Keyword, TEXT_ENDS, Token};

pub(crate) use async_ops::has_async_sugar;
use builder::{Builder, SharedBuilder};
pub(crate) use finish::make_names_unique;
use tokens::{Entry, TokenSource};

pub use fragment::{Fragment, FromText, parse};

/// What parsing a piece of text gives.
pub(crate) type ParseResult<T> = Result<T, Box<Diagnostic>>;

/// Which texts are accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// What XLA (jaxlib 0.10.2) accepts, nothing else.
    Strict,
    /// Also the spellings of older and newer XLA versions, and attributes we don't know.
    #[default]
    Lenient,
}

/// How deeply braces, tuple shapes and literals may be nested.
pub const MAX_NESTING_DEPTH: usize = 1000;

/// How deeply instructions may be nested as operands; today's XLA has the same limit.
pub const MAX_CALL_NESTING: usize = 8192;

/// How deeply inline computations may stand in each other.
pub const MAX_BODY_NESTING: usize = 1000;

/// How deep a text may be. The generated parser recurses, so the limits go with a stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nesting {
    pub(crate) calls: usize,
    pub(crate) bodies: usize,
}

impl Nesting {
    /// Fits on any thread's stack, in unoptimized builds, too.
    pub(crate) const SHALLOW: Self = Self { calls: 200, bodies: 100 };
    /// Needs [`DEEP_STACK_BYTES`].
    pub(crate) const DEEP: Self = Self { calls: MAX_CALL_NESTING, bodies: MAX_BODY_NESTING };
}

/// The stack for texts that are nested deeper than [`Nesting::SHALLOW`].
const DEEP_STACK_BYTES: usize = 256 << 20;

/// What editors of some systems write before a text; lenient reading passes over it.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The largest text that is read, in bytes: places in it must fit in 32 bits.
pub const MAX_TEXT_BYTES: usize = u32::MAX as usize - 1;

/// How many errors of one text are reported unless the caller asks for another number.
pub const DEFAULT_MAX_ERRORS: usize = 20;

/// How a text is read.
#[derive(Clone, Debug)]
pub struct ParseOptions {
    /// Which texts are accepted.
    pub dialect: Dialect,
    /// After this many errors reading stops.
    pub max_errors: usize,
    /// Result shapes may be left out of every instruction where operands and attributes determine them, also where
    /// XLA wants them written.
    pub infer_shapes: bool,
}

impl Default for ParseOptions {
    fn default() -> Self {
        Self { dialect: Dialect::default(), max_errors: DEFAULT_MAX_ERRORS, infer_shapes: false }
    }
}

impl ParseOptions {
    /// What XLA accepts, nothing else.
    pub fn strict() -> Self {
        Self { dialect: Dialect::Strict, ..Self::default() }
    }
}

/// Where the instructions of a parsed module are in its text. It lies beside the IR: equality and hashes don't
/// see it, and edits don't maintain it.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    instructions: Vec<Span>,
}

impl SourceMap {
    /// The name of an instruction in the text, `None` for instructions that came later.
    pub fn instruction(&self, id: crate::ir::InstructionId) -> Option<Span> {
        self.instructions.get(id.index()).copied()
    }
}

/// A module that has been read.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The module.
    pub module: Module,
    /// What is to be said although the text was accepted.
    pub warnings: Vec<Diagnostic>,
    /// Where everything is in the text.
    pub source_map: SourceMap,
}

/// What the parsers of attribute values work on.
pub(crate) struct ValueContext<'m> {
    /// Where strings, shapes and values are interned.
    pub(crate) module: &'m mut Module,
    /// Which texts are accepted.
    pub(crate) dialect: Dialect,
    /// What is to be said although the text is accepted.
    pub(crate) warnings: &'m mut Vec<Diagnostic>,
}

/// Reads HLO text: a module with or without its `HloModule` line, or a single instruction.
///
/// # Errors
/// Every fault found, in text order; at least one.
pub fn parse_module(text: &str, options: &ParseOptions) -> Result<Parsed, Vec<Diagnostic>> {
    if text.len() > MAX_TEXT_BYTES {
        let message = format!("the text has {} bytes; the limit is {MAX_TEXT_BYTES}", text.len());
        return Err(vec![Diagnostic::new(Code::TooLarge, Span::default(), message)]);
    }
    match parse_within(text, options, Nesting::SHALLOW) {
        // Rare enough that starting over costs nothing in practice.
        Err(errors) if errors.iter().any(|error| error.code == Code::TooDeep) => {
            parse_deep(text, options, errors)
        }
        result => result,
    }
}

/// Reads a deeply nested text on a thread with a stack for it.
fn parse_deep(
    text: &str,
    options: &ParseOptions,
    shallow: Vec<Diagnostic>,
) -> Result<Parsed, Vec<Diagnostic>> {
    std::thread::scope(|scope| {
        let parse = || parse_within(text, options, Nesting::DEEP);
        let thread = std::thread::Builder::new().stack_size(DEEP_STACK_BYTES).spawn_scoped(scope, parse);
        // Without threads the text stays too deep.
        match thread.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(result)) => result,
            _ => Err(shallow),
        }
    })
}

fn parse_within(text: &str, options: &ParseOptions, nesting: Nesting) -> Result<Parsed, Vec<Diagnostic>> {
    let mut builder = Builder::new(text, options.dialect);
    builder.nesting = nesting;
    builder.infer_shapes = options.infer_shapes;
    let begin = match options.dialect {
        Dialect::Strict => 0,
        Dialect::Lenient => text.len() - text.trim_start_matches(BYTE_ORDER_MARK).len(),
    };
    let cursor = Cursor::at(text, begin);
    let entry = match cursor.token() {
        Token::Keyword(Keyword::HloModule | Keyword::Entry) => Entry::Module,
        _ if cursor.peek() == Token::LBrace => Entry::Module,
        _ if options.dialect == Dialect::Lenient && starts_computation(&cursor) => Entry::Module,
        _ => Entry::Instruction,
    };
    match entry {
        Entry::Instruction => parse_single_instruction(text, begin, builder),
        _ => recovery::parse_with_recovery(text, begin, builder, options.max_errors),
    }
}

/// Reads HLO text from bytes, as [`parse_module`] does. An input that is not HLO text at all but something people
/// take for it gets a diagnostic that says so.
///
/// # Errors
/// Every fault found, in text order, with the text they point into.
pub fn parse_bytes<'t>(bytes: &'t [u8], options: &ParseOptions) -> Result<Parsed, Rejected<'t>> {
    let text = decode(bytes)?;
    parse_module(text, options).map_err(|diagnostics| {
        let diagnostics = match mistaken(bytes) {
            Some(diagnostic) => vec![diagnostic],
            None => diagnostics,
        };
        Rejected { diagnostics, text: text.into() }
    })
}

/// Whether the text begins with a computation that has a signature, or with tables: XLA takes such a text without
/// header for an instruction.
fn starts_computation(cursor: &Cursor<'_>) -> bool {
    let mut ahead = cursor.clone();
    if ahead.token() == Token::Keyword(Keyword::FileNames) {
        return true;
    }
    if !matches!(ahead.token(), Token::Name | Token::Ident) {
        return false;
    }
    ahead.bump();
    ahead.token() == Token::LParen
}

/// Runs the grammar from `offset`. `Err` is the first fault.
fn run<'s>(
    shared: &SharedBuilder<'s>,
    text: &'s str,
    offset: usize,
    entry: Entry,
) -> Result<(), Box<Diagnostic>> {
    let mut source = TokenSource::new(shared, text, offset, entry);
    let result = crate::grammar::StartParser::new().parse(shared, &mut source);
    if let Err(error) = result {
        let error = translate(error, &source);
        shared.borrow_mut().fail(error);
    }
    match shared.borrow_mut().take_error() {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// The one place that turns the generator's errors into our words.
fn translate(
    error: lalrpop_util::ParseError<u32, tokens::Tok, ()>,
    source: &TokenSource<'_, '_>,
) -> Box<Diagnostic> {
    use lalrpop_util::ParseError;
    let cursor = source.cursor();
    let (span, found) = match error {
        ParseError::UnrecognizedToken { token: (start, _, end), .. }
        | ParseError::ExtraToken { token: (start, _, end) } => {
            let text = cursor.source().get(start as usize..end as usize).unwrap_or_default();
            (Span { start, end }, format!("found `{}`", crate::diagnostic::shorten(text)))
        }
        ParseError::UnrecognizedEof { .. } | ParseError::InvalidToken { .. } | ParseError::User { .. } => {
            (cursor.span(), TEXT_ENDS.to_owned())
        }
    };
    let message = format!("expected {}", source.expectation_before());
    let error = Diagnostic::new(Code::UnexpectedToken, span, message).label(found);
    match source.operand_span(span) {
        Some(operand) => error.at(operand).boxed(),
        None => error.boxed(),
    }
}

fn parse_single_instruction<'s>(
    text: &'s str,
    begin: usize,
    mut builder: Builder<'s>,
) -> Result<Parsed, Vec<Diagnostic>> {
    builder.open_single_instruction();
    let shared = SharedBuilder::new(builder);
    let result = run(&shared, text, begin, Entry::Instruction);
    let mut builder = shared.into_inner();
    let result = result.and_then(|()| {
        builder.close_single_instruction(text.len());
        builder.take_error().map_or(Ok(()), Err)
    });
    result.map_err(|error| vec![*hints::explain(error, text, None)]).and_then(|()| builder.finish())?;
    Ok(builder.into_parsed())
}

/// How deeply modules may stand in `origin_recovery_table`s of modules.
const MAX_MODULE_NESTING: usize = 8;

/// Reads a module that stands in the header of another.
fn parse_nested_module(text: &str, dialect: Dialect, depth: usize) -> ParseResult<Module> {
    if depth > MAX_MODULE_NESTING {
        let message = format!("modules are nested more than {MAX_MODULE_NESTING} levels deep");
        return Err(Diagnostic::new(Code::TooDeep, Span::default(), message).boxed());
    }
    let mut builder = Builder::new(text, dialect);
    builder.depth = depth;
    match recovery::parse_with_recovery(text, 0, builder, 1) {
        Ok(parsed) => Ok(parsed.module),
        Err(errors) => Err(errors.into_iter().next().map(Diagnostic::boxed).unwrap_or_else(|| {
            Diagnostic::new(Code::UnexpectedToken, Span::default(), "the module is malformed").boxed()
        })),
    }
}
