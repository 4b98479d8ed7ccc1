//! A place in the text with the token that stands there.

use logos::{Lexer, Logos};

use super::{Extras, Token, foreign, number};
use crate::diagnostic::{Code, Diagnostic, Span};
use crate::parser::ParseResult;

/// What is said where a token was expected and there is none.
pub(crate) const TEXT_ENDS: &str = "the text ends here";

/// Reads tokens one at a time; the current token has not been taken yet. Cloning it is how to look further.
#[derive(Clone)]
pub(crate) struct Cursor<'s> {
    /// Stands at `end`.
    lexer: Lexer<'s, Token>,
    token: Token,
    start: usize,
    end: usize,
    /// End of the last token taken.
    previous_end: usize,
}

impl<'s> Cursor<'s> {
    /// A cursor at the first token of `source`.
    pub(crate) fn new(source: &'s str) -> Self {
        Self::at(source, 0)
    }

    /// A cursor at the first token from byte `offset` of `source`.
    pub(crate) fn at(source: &'s str, offset: usize) -> Self {
        let mut lexer = Token::lexer_with_extras(source, Extras::default());
        lexer.bump(offset);
        let mut cursor = Self { lexer, token: Token::Eof, start: offset, end: offset, previous_end: offset };
        cursor.advance();
        cursor
    }

    #[inline]
    fn advance(&mut self) {
        self.token = match self.lexer.next() {
            Some(Ok(token)) => token,
            Some(Err(())) => Token::Error,
            None => Token::Eof,
        };
        let span = self.lexer.span();
        self.start = span.start;
        self.end = span.end;
    }

    /// The whole text.
    pub(crate) fn source(&self) -> &'s str {
        self.lexer.source()
    }

    /// The current token.
    #[inline]
    pub(crate) fn token(&self) -> Token {
        self.token
    }

    /// First byte of the current token.
    #[inline]
    pub(crate) fn start(&self) -> usize {
        self.start
    }

    /// Byte after the current token.
    #[inline]
    pub(crate) fn end(&self) -> usize {
        self.end
    }

    /// Byte after the last token taken.
    pub(crate) fn previous_end(&self) -> usize {
        self.previous_end
    }

    /// Place of the current token.
    pub(crate) fn span(&self) -> Span {
        Span::new(self.start, self.end)
    }

    /// Text of the current token, all of it.
    #[inline]
    pub(crate) fn text(&self) -> &'s str {
        &self.source()[self.start..self.end]
    }

    /// Text of a name, word or attribute name without `%`, `:` or `=`.
    #[inline]
    pub(crate) fn word(&self) -> &'s str {
        let text = self.text();
        match self.token {
            Token::Name => text.strip_prefix('%').unwrap_or_else(|| &text[..text.len() - 1]),
            Token::AttrName => &text[..text.len() - 1],
            _ => text,
        }
    }

    /// Value of the current [`Token::Int`].
    #[inline]
    pub(crate) fn int_value(&self) -> i64 {
        self.lexer.extras.int
    }

    /// Value of the current [`Token::Decimal`].
    pub(crate) fn decimal_value(&self) -> f64 {
        self.lexer.extras.decimal
    }

    /// Bytes of the current [`Token::String`], unescaped.
    pub(crate) fn string_value(&self) -> std::borrow::Cow<'s, [u8]> {
        let text = self.text();
        let body = &text[1..text.len() - 1];
        if memchr::memchr(b'\\', body.as_bytes()).is_none() {
            return body.as_bytes().into();
        }
        super::unescape(body).unwrap_or_default().into()
    }

    /// Takes the current token.
    #[inline]
    pub(crate) fn bump(&mut self) {
        self.previous_end = self.end();
        self.advance();
    }

    /// Moves to byte `offset`, at or after the end of the current token, and reads the token there.
    #[inline]
    pub(crate) fn seek(&mut self, offset: usize) {
        let end = self.end();
        debug_assert!(offset >= end);
        self.lexer.bump(offset - end);
        self.previous_end = offset;
        self.advance();
    }

    /// The token after the current one.
    pub(crate) fn peek(&self) -> Token {
        let mut ahead = self.clone();
        ahead.bump();
        ahead.token
    }

    /// Takes the current token if it is `token`.
    #[inline]
    pub(crate) fn eat(&mut self, token: Token) -> bool {
        let found = self.token == token;
        if found {
            self.bump();
        }
        found
    }

    /// Takes the current token, which must be `token`; `what` names it in the error ("`)` after the operands").
    pub(crate) fn expect(&mut self, token: Token, what: &str) -> ParseResult<()> {
        if self.eat(token) { Ok(()) } else { Err(self.unexpected(what)) }
    }

    /// An error at the current token that says what was expected.
    pub(crate) fn unexpected(&self, what: &str) -> Box<Diagnostic> {
        let found = match self.token {
            Token::Eof => TEXT_ENDS.to_owned(),
            Token::Error => return self.no_token(what),
            _ => format!("found `{}`", crate::diagnostic::shorten(self.text())),
        };
        Diagnostic::new(Code::UnexpectedToken, self.span(), format!("expected {what}")).label(found).boxed()
    }

    /// An error at what is no token.
    fn no_token(&self, what: &str) -> Box<Diagnostic> {
        let fault = foreign::describe(self.source(), self.start);
        let message = match fault.message {
            Some(message) => message.to_owned(),
            None => format!("expected {what}"),
        };
        let mut error =
            Diagnostic::new(Code::UnexpectedToken, self.span(), message).label(fault.label.into_owned());
        error.help = fault.help.map(str::to_owned);
        error.boxed()
    }

    /// Takes an integer.
    pub(crate) fn int(&mut self) -> ParseResult<i64> {
        if self.token != Token::Int {
            return Err(self.unexpected("an integer"));
        }
        let value = self.int_value();
        self.bump();
        Ok(value)
    }

    /// Takes `true` or `false`.
    pub(crate) fn bool(&mut self) -> ParseResult<bool> {
        let value = match self.token {
            Token::Keyword(super::Keyword::True) => true,
            Token::Keyword(super::Keyword::False) => false,
            _ => return Err(self.unexpected("`true` or `false`")),
        };
        self.bump();
        Ok(value)
    }

    /// Takes a quoted string and gives its bytes, unescaped.
    pub(crate) fn string(&mut self) -> ParseResult<std::borrow::Cow<'s, [u8]>> {
        if self.token != Token::String {
            return Err(self.unexpected("a quoted string"));
        }
        let value = self.string_value();
        self.bump();
        Ok(value)
    }

    /// Takes a quoted string or a `{...}` dictionary (verbatim).
    pub(crate) fn string_or_json(&mut self) -> ParseResult<std::borrow::Cow<'s, [u8]>> {
        if self.token != Token::LBrace {
            return self.string();
        }
        let start = self.start();
        let bytes = &self.source().as_bytes()[start..];
        match super::json_dict_length(bytes) {
            Some(length) => {
                self.seek(start + length);
                Ok((&bytes[..length]).into())
            }
            None => Err(self.unexpected("a `{...}` dictionary with balanced braces")),
        }
    }

    /// Takes the current token, after which the next one is read as an element of an integer list: `0x1` is then
    /// the integer 0 and a word, not a `DxD`.
    pub(crate) fn bump_to_list_element(&mut self) {
        self.bump();
        if matches!(self.token, Token::Decimal | Token::DimLabels | Token::Dxd | Token::Pad) {
            let bytes = &self.source().as_bytes()[self.start..];
            let Some(length) = number::integer_length(bytes) else { return };
            let Some(value) = number::integer_value(&bytes[..length]) else { return };
            self.lexer = Token::lexer_with_extras(self.source(), Extras { int: value, decimal: 0.0 });
            self.lexer.bump(self.start + length);
            self.end = self.start + length;
            self.token = Token::Int;
        }
    }

    /// Takes `{1,2,3}`, XLA's integer list.
    pub(crate) fn int_list(&mut self) -> ParseResult<Vec<i64>> {
        let mut list = Vec::new();
        if self.token != Token::LBrace {
            return Err(self.unexpected("`{` and a list of integers"));
        }
        self.bump_to_list_element();
        if self.token != Token::RBrace {
            loop {
                list.push(self.int()?);
                if self.token != Token::Comma {
                    break;
                }
                self.bump_to_list_element();
            }
        }
        self.expect(Token::RBrace, "`,` or `}` in the list of integers")?;
        Ok(list)
    }
}
