//! Words and operators of a RUN line, with the quoting rules of lit's internal shell.
//!
//! `'...'` is literal; in `"..."` a backslash escapes `"`, `\` and `$` and is kept before
//! anything else; outside quotes it escapes the next character (not on Windows, where it separates
//! folders). There are no variables, no `~`, no command substitution, no comments.

/// A word of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The text with its quotes and escapes resolved.
    pub text: String,
    /// Whether an unquoted `*` or `?` makes it a pattern for file names.
    pub glob: bool,
}

/// What joins or ends commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `|`
    Pipe,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `;`
    Semicolon,
    /// `&`
    Background,
}

/// One row per redirection operator; longest spelling first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectOp {
    /// `&>`
    Both,
    /// `>&`
    Duplicate,
    /// `>>`
    Append,
    /// `>`
    Write,
    /// `<&`
    DuplicateInput,
    /// `<>`
    ReadWrite,
    /// `<`
    Read,
}

const OPERATORS: [(&str, Operator); 5] = [
    ("||", Operator::Or),
    ("|", Operator::Pipe),
    ("&&", Operator::And),
    (";", Operator::Semicolon),
    ("&", Operator::Background),
];

const REDIRECTS: [(&str, RedirectOp); 7] = [
    ("&>", RedirectOp::Both),
    (">&", RedirectOp::Duplicate),
    (">>", RedirectOp::Append),
    (">", RedirectOp::Write),
    ("<&", RedirectOp::DuplicateInput),
    ("<>", RedirectOp::ReadWrite),
    ("<", RedirectOp::Read),
];

impl Operator {
    /// The spelling.
    pub fn text(self) -> &'static str {
        OPERATORS.iter().find(|(_, op)| *op == self).map_or("", |(text, _)| text)
    }
}

impl RedirectOp {
    /// The spelling.
    pub fn text(self) -> &'static str {
        REDIRECTS.iter().find(|(_, op)| *op == self).map_or("", |(text, _)| text)
    }
}

/// A piece of a RUN line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// A word.
    Word(Word),
    /// Something between commands.
    Operator(Operator),
    /// A redirection, with the number written before it.
    Redirect(RedirectOp, Option<String>),
}

/// A RUN line that can't be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// What is wrong.
    pub message: String,
    /// Byte offset in the line.
    pub offset: usize,
}

impl SyntaxError {
    pub(crate) fn new(message: impl Into<String>, offset: usize) -> Self {
        SyntaxError { message: message.into(), offset }
    }
}

/// Whether lit splits words at this character.
fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

fn is_special(byte: u8) -> bool {
    b"|&<>'\";\\".contains(&byte)
}

/// Splits a line into tokens, each with the byte offset at which it begins.
///
/// # Errors
/// An unterminated quote, a backslash or an operator at the very end, a construct of shells that
/// RUN lines don't have.
pub fn lex(text: &str, backslash_escapes: bool) -> Result<Vec<(Token, usize)>, SyntaxError> {
    let mut lexer = Lexer { text, at: 0, backslash_escapes };
    let mut tokens = Vec::with_capacity(16);
    while let Some(c) = lexer.peek() {
        if is_space(c) {
            lexer.at += c.len_utf8();
            continue;
        }
        let start = lexer.at;
        let token = lexer.token()?;
        tokens.push((token, start));
    }
    Ok(tokens)
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    backslash_escapes: bool,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn token(&mut self) -> Result<Token, SyntaxError> {
        if let Some(op) = self.redirect_op()? {
            return Ok(Token::Redirect(op, None));
        }
        for (text, op) in OPERATORS {
            if self.rest().starts_with(text) {
                self.at += text.len();
                if self.rest().is_empty() && op != Operator::Semicolon {
                    return Err(SyntaxError::new(
                        format!("missing argument to operator '{text}'"),
                        self.at - text.len(),
                    ));
                }
                return Ok(Token::Operator(op));
            }
        }
        self.word()
    }

    fn redirect_op(&mut self) -> Result<Option<RedirectOp>, SyntaxError> {
        let start = self.at;
        let Some((text, op)) = REDIRECTS.iter().find(|(text, _)| self.rest().starts_with(text)) else {
            return Ok(None);
        };
        self.at += text.len();
        if self.rest().is_empty() {
            return Err(SyntaxError::new(format!("syntax error near token '{text}'"), start));
        }
        Ok(Some(*op))
    }

    fn word(&mut self) -> Result<Token, SyntaxError> {
        let rest = self.rest();
        let length = rest.find(is_space).unwrap_or(rest.len());
        let chunk = &rest[..length];
        if !chunk.bytes().any(is_special) {
            self.at += length;
            let glob = chunk.contains(['*', '?']);
            return Ok(Token::Word(Word { text: chunk.to_owned(), glob }));
        }
        self.quoted_word()
    }

    fn quoted_word(&mut self) -> Result<Token, SyntaxError> {
        let start = self.at;
        let mut text = String::new();
        let mut glob = false;
        let mut quoted_glob = false;
        // A word's first character is taken as it is unless it opens a quotation: a backslash
        // there escapes nothing.
        match self.next() {
            Some(quote @ ('\'' | '"')) => self.quotation(quote, &mut text)?,
            Some(c) => text.push(c),
            None => {}
        }
        while let Some(c) = self.peek() {
            match c {
                '|' | '&' | ';' => break,
                c if is_space(c) => break,
                '<' | '>' => {
                    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
                        break;
                    }
                    if let Some(op) = self.redirect_op()? {
                        return Ok(Token::Redirect(op, Some(text)));
                    }
                    break;
                }
                '\'' | '"' => {
                    self.next();
                    let from = text.len();
                    self.quotation(c, &mut text)?;
                    quoted_glob |= text[from..].contains(['*', '?']);
                }
                '\\' if self.backslash_escapes => {
                    let offset = self.at;
                    self.next();
                    match self.next() {
                        Some(escaped) => text.push(escaped),
                        None => {
                            return Err(SyntaxError::new("nothing follows the backslash", offset));
                        }
                    }
                }
                c => {
                    self.next();
                    glob |= matches!(c, '*' | '?');
                    text.push(c);
                }
            }
        }
        if glob && quoted_glob {
            return Err(SyntaxError::new("a word can't have both quoted and unquoted '*' or '?'", start));
        }
        Ok(Token::Word(Word { text, glob }))
    }

    fn quotation(&mut self, quote: char, text: &mut String) -> Result<(), SyntaxError> {
        let opened = self.at - quote.len_utf8();
        while let Some(c) = self.next() {
            if c == quote {
                return Ok(());
            }
            if c == '\\' && quote == '"' {
                match self.next() {
                    Some(escaped @ ('"' | '\\' | '$')) => text.push(escaped),
                    Some(other) => {
                        text.push('\\');
                        text.push(other);
                    }
                    None => break,
                }
                continue;
            }
            text.push(c);
        }
        Err(SyntaxError::new(format!("missing quote character {quote}"), opened))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spell(text: &str, escapes: bool) -> Result<Vec<String>, String> {
        let tokens = lex(text, escapes).map_err(|error| error.message)?;
        Ok(tokens
            .into_iter()
            .map(|(token, _)| match token {
                Token::Word(Word { text, glob: false }) => text,
                Token::Word(Word { text, glob: true }) => format!("glob:{text}"),
                Token::Operator(op) => format!("op:{}", op.text()),
                Token::Redirect(op, None) => format!("op:{}", op.text()),
                Token::Redirect(op, Some(fd)) => format!("op:{fd}{}", op.text()),
            })
            .collect())
    }

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(spell(text, true).expect(text), expected, "{text}");
    }

    #[test]
    fn operators() {
        check("a|b||c;d&&e & f", &["a", "op:|", "b", "op:||", "c", "op:;", "d", "op:&&", "e", "op:&", "f"]);
        check("a>b 2>c", &["a", "op:>", "b", "op:2>", "c"]);
        check(
            "a 2>&1 &>x >&y >>z 2>>w <v",
            &["a", "op:2>&", "1", "op:&>", "x", "op:>&", "y", "op:>>", "z", "op:2>>", "w", "op:<", "v"],
        );
        check("a2>b", &["a2", "op:>", "b"]);
        check("a;", &["a", "op:;"]);
    }

    #[test]
    fn quotes() {
        check(r#"'a b' "c d" e'f'g"h""#, &["a b", "c d", "efgh"]);
        check(r#""a\"b\\c\$d\n" '\n'"#, &[r#"a"b\c$d\n"#, r"\n"]);
        check(r"a\ b c\\d \e f\g", &["a b", r"c\d", r"\e", "fg"]);
        check("'' \"\"", &["", ""]);
        check("a#b # c", &["a#b", "#", "c"]);
    }

    #[test]
    fn globs() {
        check("*.x '*' a\"?\" b*c", &["glob:*.x", "*", "a?", "glob:b*c"]);
        check(r"a\*b", &["a*b"]);
        assert!(spell("a*'?'", true).is_err());
    }

    #[test]
    fn windows_keeps_backslashes() {
        assert_eq!(spell(r"a\b 'c'\d", false).unwrap(), [r"a\b", r"c\d"]);
    }

    #[test]
    fn errors() {
        for text in ["'a", "\"a", "a\\", "a >", "a |", "a &", "a &&", "a '\\", "\"a\\"] {
            assert!(spell(text, true).is_err(), "{text}");
        }
    }
}
