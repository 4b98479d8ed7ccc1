//! The token source of the grammar: coarse tokens made of the lexer's fine ones.
//!
//! A shape, an attribute with its value, a literal is one token, typed on the spot by the parser of its
//! vocabulary. What a word means depends on where it stands, so the source keeps track of that: names are
//! expected at the start of instructions and as operands, opcodes after `=` and before `(`.

use crate::diagnostic::{Code, Diagnostic, Span};
use crate::ir::{Opcode, OperandFormat, ShapeId, Symbol};
use crate::lexer::{Cursor, Keyword, Token};

use super::builder::SharedBuilder;
use super::expectation::{attribute_out_of_place, expectation};
use super::shape::at_shape;
use super::{MAX_BODY_NESTING, MAX_CALL_NESTING, Nesting, ParseResult};

/// An opcode as the text has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpcodeWord {
    /// Of the instruction itself; `async-start` and so on for `X-start`.
    pub(crate) opcode: Opcode,
    /// The X of `X-start`, `X-update`, `X-done`.
    pub(crate) wrapped: Option<Opcode>,
}

/// A token of the grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tok {
    StartModule,
    StartInstruction,
    StartBody,
    StartComputations,
    HloModule,
    Entry,
    Root,
    /// All four stack-frame tables.
    Tables,
    Name(Symbol),
    Shape(ShapeId),
    /// A name and the `=` behind it.
    Define(Symbol),
    /// An opcode and the `(` behind it.
    Open(OpcodeWord),
    /// A parameter number or a literal.
    Payload,
    /// `, key=value` with everything of the value.
    Attribute,
    /// `, key=` whose value is a computation.
    ComputationKey,
    /// `, key=` whose value is a list of computations.
    ComputationsKey,
    Equal,
    Comma,
    LParen,
    RParen,
    LBrace,
    RBrace,
    Arrow,
    /// `#N` after the name of a tuple.
    TupleIndex(i64),
}

/// Where the next token stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Between computations: `ENTRY`, a name, a signature.
    TopLevel,
    /// Within a signature, or after its arrow.
    Signature,
    /// Within a body, where an instruction starts or an attribute may follow.
    Body,
    /// After `=` of an instruction.
    RightHandSide,
    /// Within the parentheses of an instruction.
    Operands,
    /// Within the parentheses of `parameter` or `constant`.
    Payload(Opcode),
    /// After a key that names a computation.
    Called,
    /// After a key that names computations.
    OpenCalledList,
    /// Within a list of computations.
    CalledList,
}

/// A body (of a computation or inline) the source is inside of.
#[derive(Clone, Copy)]
struct Body {
    /// Of the instruction whose attributes may follow.
    opcode: Option<Opcode>,
    /// Where its closing brace leads.
    after: Place,
}

/// Which part of a text the grammar is to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    Module,
    Instruction,
    RestOfBody,
    Computations,
}

/// What [`Builder::attribute`](super::builder::Builder::attribute) found behind a key.
pub(crate) enum AttributeToken {
    /// Key and value have been taken.
    Complete,
    /// The key has been taken; a computation follows.
    Computation,
    /// The key has been taken; a list of computations follows.
    Computations,
}

/// An iterator of the grammar's tokens with their places.
pub(crate) struct TokenSource<'p, 's> {
    cursor: Cursor<'s>,
    builder: &'p SharedBuilder<'s>,
    nesting: Nesting,
    /// The last token given.
    previous: Tok,
    /// The token that selects the grammar's entry, until it is given.
    start: Option<Tok>,
    place: Place,
    /// The two before the last token given.
    place_before: Place,
    previous_before: Tok,
    bodies: Vec<Body>,
    /// Open parentheses of operands.
    parens: usize,
    /// The result shape last given, for the literal of a constant.
    shape: Option<ShapeId>,
    /// Where the operand begins that is being read.
    operand_start: usize,
    /// Whether header attributes and tables may come.
    in_header: bool,
    is_lenient: bool,
}

type Item = Result<(u32, Tok, u32), ()>;

impl<'p, 's> TokenSource<'p, 's> {
    /// A source that starts at byte `offset` of the text.
    pub(crate) fn new(builder: &'p SharedBuilder<'s>, source: &'s str, offset: usize, entry: Entry) -> Self {
        let (start, place) = match entry {
            Entry::Module => (Tok::StartModule, Place::TopLevel),
            Entry::Instruction => (Tok::StartInstruction, Place::Body),
            Entry::RestOfBody => (Tok::StartBody, Place::Body),
            Entry::Computations => (Tok::StartComputations, Place::TopLevel),
        };
        let bodies = match place {
            Place::Body => vec![Body { opcode: None, after: Place::TopLevel }],
            _ => Vec::new(),
        };
        Self {
            cursor: Cursor::at(source, offset),
            builder,
            nesting: builder.borrow().nesting,
            previous: start,
            start: Some(start),
            place,
            place_before: place,
            previous_before: start,
            bodies,
            parens: 0,
            shape: None,
            operand_start: 0,
            in_header: entry == Entry::Module,
            is_lenient: !builder.borrow().strict(),
        }
    }

    /// The token at which the source stands.
    pub(crate) fn cursor(&self) -> &Cursor<'s> {
        &self.cursor
    }

    /// What could have come instead of the last token given, in the user's words.
    pub(crate) fn expectation_before(&self) -> &'static str {
        expectation(self.place_before, self.previous_before)
    }

    fn expectation(&self) -> &'static str {
        expectation(self.place, self.previous)
    }

    fn fail(&self, error: Box<Diagnostic>) -> Item {
        self.builder.borrow_mut().fail(error);
        Err(())
    }

    fn unexpected(&self) -> Item {
        let mut error = match attribute_out_of_place(&self.cursor, self.place, self.previous, self.in_header)
        {
            Some(error) => error,
            None => self.cursor.unexpected(self.expectation()),
        };
        if let Some(span) = self.operand_span(error.primary.span) {
            error = (*error).at(span).boxed();
        }
        self.fail(error)
    }

    /// An operand that goes on unexpectedly is faulty as a whole: from its start to the end of `unexpected`.
    pub(crate) fn operand_span(&self, unexpected: Span) -> Option<Span> {
        let within = matches!(self.place_before, Place::Operands)
            && matches!(self.previous_before, Tok::Name(_) | Tok::Shape(_));
        within.then_some(Span { start: self.operand_start as u32, end: unexpected.end })
    }

    /// Takes the current token as `tok`.
    #[inline]
    fn take(&mut self, tok: Tok) -> Item {
        let start = self.cursor.start() as u32;
        self.cursor.bump();
        Ok((start, tok, self.cursor.previous_end() as u32))
    }

    /// Gives `tok` for what has been taken since `start`, or notes the fault.
    fn given(&mut self, start: usize, result: ParseResult<Tok>) -> Item {
        match result {
            Ok(tok) => Ok((start as u32, tok, self.cursor.previous_end() as u32)),
            Err(error) => self.fail(error),
        }
    }

    #[inline]
    fn take_name(&mut self) -> Item {
        let symbol = self.builder.borrow_mut().intern_name(self.cursor.word());
        self.take(Tok::Name(symbol))
    }

    #[inline]
    fn take_shape(&mut self) -> Item {
        let start = self.cursor.start();
        let result = self.builder.borrow_mut().shape(&mut self.cursor);
        self.shape = result.as_ref().ok().copied();
        self.given(start, result.map(Tok::Shape))
    }

    /// Takes the current word as an opcode.
    #[inline]
    fn take_opcode(&mut self) -> Item {
        let word = self.cursor.word();
        let found = match Opcode::from_name(word) {
            Some(opcode) => OpcodeWord { opcode, wrapped: None },
            None => match super::async_ops::sugar(word) {
                Some((opcode, wrapped)) => OpcodeWord { opcode, wrapped: Some(wrapped) },
                None => return self.unknown_opcode(word),
            },
        };
        if self.parens == 0
            && let Some(body) = self.bodies.last_mut()
        {
            // A start takes the attributes of the opcode it wraps.
            body.opcode = Some(match found {
                OpcodeWord { opcode: Opcode::AsyncStart, wrapped: Some(wrapped) } => wrapped,
                OpcodeWord { opcode, .. } => opcode,
            });
        }
        let start = self.cursor.start() as u32;
        self.cursor.bump();
        if self.cursor.token() != Token::LParen {
            return self.fail(self.cursor.unexpected("`(` and the operands"));
        }
        self.parens += 1;
        if self.parens > self.nesting.calls {
            let message = format!("instructions are nested more than {MAX_CALL_NESTING} levels deep");
            return self.fail(Diagnostic::new(Code::TooDeep, self.cursor.span(), message).boxed());
        }
        self.cursor.bump();
        self.place = match found.opcode.operand_format() {
            OperandFormat::Operands => Place::Operands,
            OperandFormat::ParameterNumber | OperandFormat::Literal => Place::Payload(found.opcode),
        };
        Ok((start, Tok::Open(found), self.cursor.previous_end() as u32))
    }

    fn unknown_opcode(&self, word: &str) -> Item {
        if self.cursor.peek() == Token::LSquare && !matches!(self.previous, Tok::Shape(_)) {
            let message = format!("there is no element type `{}`", crate::diagnostic::shorten(word));
            let error = Diagnostic::new(Code::BadShape, self.cursor.span(), message);
            return self.fail(super::hints::with_element_type(error, word).boxed());
        }
        let message = format!("unknown opcode `{}`", crate::diagnostic::shorten(word));
        let mut error = Diagnostic::new(Code::UnknownOpcode, self.cursor.span(), message);
        let names = Opcode::ALL.iter().map(|opcode| opcode.name());
        if let Some(close) = crate::diagnostic::did_you_mean(word, names) {
            error = error.help(format!("did you mean `{close}`?"));
        }
        self.fail(error.boxed())
    }

    fn too_deep(&self) -> Item {
        let message = format!("computations are nested more than {MAX_BODY_NESTING} levels deep");
        self.fail(Diagnostic::new(Code::TooDeep, self.cursor.span(), message).boxed())
    }

    /// Whether the current token is a reserved word that lenient reading takes for the name of an instruction or
    /// a computation because `next` follows: XLA prints such names without `%` in its short form.
    fn is_reserved_name(&self, next: Token) -> bool {
        let is_word = match self.cursor.token() {
            Token::Keyword(_) => true,
            Token::Decimal => self.cursor.text() == "nan",
            _ => false,
        };
        is_word && self.is_lenient && self.cursor.peek() == next
    }

    /// Takes the name of an instruction with its `=`.
    fn take_definition(&mut self) -> Item {
        let symbol = self.builder.borrow_mut().intern_definition(self.cursor.word());
        let start = self.cursor.start();
        self.cursor.bump();
        if self.cursor.token() != Token::Equal {
            let in_braces = self.cursor.token() == Token::RBrace
                && self.cursor.source()[..start].trim_end().ends_with('{');
            if in_braces {
                return self.name_in_braces(symbol);
            }
            return self.fail(self.cursor.unexpected("`=` after the name of the instruction"));
        }
        let start = start as u32;
        self.cursor.bump();
        self.place = Place::RightHandSide;
        self.shape = None;
        Ok((start, Tok::Define(symbol), self.cursor.previous_end() as u32))
    }

    fn next_in_body(&mut self, token: Token) -> Item {
        if matches!(token, Token::Keyword(_) | Token::Decimal) && self.is_reserved_name(Token::Equal) {
            return self.take_definition();
        }
        match token {
            Token::Name | Token::Ident => self.take_definition(),
            Token::Keyword(Keyword::Root) => self.take(Tok::Root),
            Token::Comma => self.attribute(),
            Token::RBrace => {
                let closed = self.bodies.pop();
                self.place = closed.map_or(Place::TopLevel, |body| body.after);
                self.take(Tok::RBrace)
            }
            // Only the single-instruction form may leave the name out; `=` stands for it.
            Token::Type(_) | Token::LParen if self.previous == Tok::StartInstruction => {
                self.place = Place::RightHandSide;
                let at = self.cursor.start() as u32;
                Ok((at, Tok::Equal, at))
            }
            _ => self.unexpected(),
        }
    }

    /// `to_apply={%f}`: the name has been taken, the `}` not.
    fn name_in_braces(&self, symbol: Symbol) -> Item {
        let mut error = self.cursor.unexpected("`=` after the name of the instruction");
        let builder = self.builder.borrow();
        let name = builder.module.strings().name(symbol);
        error.help = Some(match builder.has_computation(symbol) {
            true => format!("to call the computation `{name}`, write its name without braces"),
            false => format!("braces hold a whole computation, and there is no computation `{name}`"),
        });
        drop(builder);
        self.fail(error)
    }

    fn next_in_right_hand_side(&mut self, token: Token) -> Item {
        match (token, self.previous) {
            (Token::Ident, Tok::Shape(_)) => self.take_opcode(),
            (_, Tok::Shape(_)) => self.unexpected(),
            (Token::Type(_) | Token::LParen, _) => self.take_shape(),
            (Token::Ident, _) if at_shape(&self.cursor) => self.take_shape(),
            (Token::Ident, _) => self.take_opcode(),
            _ => self.unexpected(),
        }
    }

    fn next_in_operands(&mut self, token: Token) -> Item {
        if matches!(self.previous, Tok::Open(_) | Tok::Comma) {
            self.operand_start = self.cursor.start();
        }
        match token {
            Token::Name => self.take_name(),
            Token::Comma => self.take(Tok::Comma),
            Token::RParen => {
                self.parens -= 1;
                let item = self.take(Tok::RParen);
                if self.parens == 0 {
                    self.place = Place::Body;
                    self.builder.borrow_mut().after_operands(self.cursor.span());
                }
                item
            }
            Token::Octothorp
                if self.is_lenient && matches!(self.previous, Tok::Name(_) | Tok::TupleIndex(_)) =>
            {
                self.take_tuple_index()
            }
            Token::Keyword(_) | Token::Decimal
                if self.is_reserved_name(Token::Comma) || self.is_reserved_name(Token::RParen) =>
            {
                self.take_name()
            }
            Token::Ident if self.cursor.peek() != Token::LParen => self.take_name(),
            Token::Ident if !at_shape(&self.cursor) => self.take_opcode(),
            Token::Type(_) | Token::LParen | Token::Ident => self.take_shape(),
            _ => self.unexpected(),
        }
    }

    /// Takes `#N`.
    fn take_tuple_index(&mut self) -> Item {
        let start = self.cursor.start();
        self.cursor.bump();
        let result = self.cursor.int();
        self.given(start, result.map(Tok::TupleIndex))
    }

    fn next_payload(&mut self, opcode: Opcode) -> Item {
        let start = self.cursor.start();
        let result = if opcode == Opcode::Parameter {
            self.builder.borrow_mut().parameter_number(&mut self.cursor)
        } else {
            self.builder.borrow_mut().constant_literal(&mut self.cursor, self.shape)
        };
        self.place = Place::Operands;
        // XLA says of a nested instruction only that the operand is wrong.
        let operand = (self.parens > 1).then_some(self.operand_start as u32);
        let result = result.map_err(|error| match operand {
            Some(start) => {
                let span = Span { start, end: error.primary.span.end.max(start) };
                (*error).at(span).boxed()
            }
            None => error,
        });
        if result.is_ok() && self.cursor.token() != Token::RParen {
            return self.fail(self.cursor.unexpected(match opcode {
                Opcode::Parameter => "`)` after the number of the parameter",
                _ => "`)` after the literal",
            }));
        }
        self.given(start, result.map(|()| Tok::Payload))
    }

    fn next_called(&mut self, token: Token) -> Item {
        let after = if self.place == Place::Called { Place::Body } else { Place::CalledList };
        match (token, self.place) {
            (Token::LBrace, Place::OpenCalledList) => {
                self.place = Place::CalledList;
                self.take(Tok::LBrace)
            }
            (_, Place::OpenCalledList) => self.unexpected(),
            (Token::Name | Token::Ident, _) => {
                self.place = after;
                self.take_name()
            }
            (Token::Keyword(_) | Token::Decimal, _) if self.is_lenient && is_word(self.cursor.text()) => {
                self.place = after;
                self.take_name()
            }
            (Token::LBrace, _) => {
                if self.bodies.len() >= self.nesting.bodies {
                    return self.too_deep();
                }
                self.bodies.push(Body { opcode: None, after });
                self.place = Place::Body;
                self.take(Tok::LBrace)
            }
            (Token::Comma, Place::CalledList) => self.take(Tok::Comma),
            (Token::RBrace, Place::CalledList) => {
                self.place = Place::Body;
                self.take(Tok::RBrace)
            }
            _ => self.unexpected(),
        }
    }

    fn next_at_top_level(&mut self, token: Token) -> Item {
        let is_keyword = matches!(token, Token::Keyword(Keyword::Entry | Keyword::HloModule));
        let names_computation = match self.previous {
            Tok::Entry => true,
            Tok::HloModule => false,
            _ => !is_keyword,
        };
        if names_computation && (self.is_reserved_name(Token::LBrace) || self.is_reserved_name(Token::LParen))
        {
            return self.take_name();
        }
        match token {
            Token::Keyword(Keyword::HloModule) => self.take(Tok::HloModule),
            Token::Keyword(Keyword::Entry) => {
                self.in_header = false;
                self.take(Tok::Entry)
            }
            Token::Keyword(Keyword::FileNames) if self.in_header => {
                let start = self.cursor.start();
                let result = self.builder.borrow_mut().stack_frame_tables(&mut self.cursor);
                self.given(start, result.map(|()| Tok::Tables))
            }
            Token::Name | Token::Ident => {
                // The first name is the module's if `HloModule` stood before it.
                self.in_header &= matches!(self.previous, Tok::HloModule);
                self.take_name()
            }
            Token::LParen => {
                self.place = Place::Signature;
                self.take(Tok::LParen)
            }
            Token::LBrace => {
                self.in_header = false;
                self.bodies.push(Body { opcode: None, after: Place::TopLevel });
                self.place = Place::Body;
                self.take(Tok::LBrace)
            }
            Token::Comma if self.in_header || self.previous == Tok::RBrace => {
                self.cursor.bump();
                if self.cursor.token() != Token::AttrName {
                    return self.fail(self.cursor.unexpected("the name of an attribute"));
                }
                let start = self.cursor.start();
                let result = if self.in_header {
                    let (word, span) = (self.cursor.word(), self.cursor.span());
                    let name = Span { end: span.end - 1, ..span };
                    self.builder.borrow_mut().note_header_key(word, name);
                    self.builder.borrow_mut().header_attribute(&mut self.cursor)
                } else {
                    self.builder.borrow_mut().execution_thread(&mut self.cursor)
                };
                self.given(start, result.map(|()| Tok::Attribute))
            }
            _ => self.unexpected(),
        }
    }

    fn next_in_signature(&mut self, token: Token) -> Item {
        match token {
            Token::Name => self.take_name(),
            Token::Ident if !at_shape(&self.cursor) => self.take_name(),
            Token::Type(_) | Token::Ident | Token::LParen => self.take_shape(),
            Token::Comma => self.take(Tok::Comma),
            Token::RParen => self.take(Tok::RParen),
            Token::Arrow => self.take(Tok::Arrow),
            Token::LBrace => {
                self.place = Place::TopLevel;
                self.next_at_top_level(token)
            }
            _ => self.unexpected(),
        }
    }

    /// Takes `, key=value`, or `, key=` of computations.
    fn attribute(&mut self) -> Item {
        self.cursor.bump();
        if self.cursor.token() != Token::AttrName {
            return self.fail(self.cursor.unexpected("the name of an attribute"));
        }
        let start = self.cursor.start();
        let opcode = self.bodies.last().and_then(|body| body.opcode);
        let result = self.builder.borrow_mut().attribute(&mut self.cursor, opcode);
        let tok = result.map(|found| match found {
            AttributeToken::Complete => Tok::Attribute,
            AttributeToken::Computation => {
                self.place = Place::Called;
                Tok::ComputationKey
            }
            AttributeToken::Computations => {
                self.place = Place::OpenCalledList;
                Tok::ComputationsKey
            }
        });
        self.given(start, tok)
    }
}

impl Iterator for TokenSource<'_, '_> {
    type Item = Item;

    #[inline]
    fn next(&mut self) -> Option<Item> {
        if let Some(start) = self.start.take() {
            let at = self.cursor.start() as u32;
            return Some(Ok((at, start, at)));
        }
        if self.builder.borrow().has_failed() {
            return Some(Err(()));
        }
        self.place_before = self.place;
        self.previous_before = self.previous;
        let token = self.cursor.token();
        if token == Token::Eof && !matches!(self.place, Place::Payload(_)) {
            self.builder.set_lookahead(self.cursor.start() as u32);
            return None;
        }
        let item = match self.place {
            Place::Operands => self.next_in_operands(token),
            Place::Body => self.next_in_body(token),
            Place::RightHandSide => self.next_in_right_hand_side(token),
            Place::Payload(opcode) => self.next_payload(opcode),
            Place::Called | Place::OpenCalledList | Place::CalledList => self.next_called(token),
            Place::TopLevel => self.next_at_top_level(token),
            Place::Signature => self.next_in_signature(token),
        };
        if let Ok((start, tok, _)) = item {
            self.previous = tok;
            self.builder.set_lookahead(start);
        }
        Some(item)
    }
}

fn is_word(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
