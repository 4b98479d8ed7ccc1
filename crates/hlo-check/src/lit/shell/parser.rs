//! RUN lines as trees: sequences of pipelines of commands.

use super::lexer::{Operator, RedirectOp, SyntaxError, Token, Word, lex};

/// A redirection of one command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// The operator.
    pub op: RedirectOp,
    /// The number written before it.
    pub fd: Option<String>,
    /// What follows it: a file or a stream's number.
    pub target: Word,
}

/// A program with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The words; there is at least one.
    pub words: Vec<Word>,
    /// The redirections in the order written.
    pub redirects: Vec<Redirect>,
}

/// Commands joined by `|`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pipeline {
    /// The commands; there is at least one.
    pub commands: Vec<Command>,
}

/// What decides whether the pipeline after it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connector {
    /// `&&`: if the status so far is 0.
    And,
    /// `||`: if it is not.
    Or,
    /// `;`: always.
    Then,
    /// `&`: refused when the line is run.
    Background,
}

/// A whole RUN line. Connectors have equal precedence and group to the left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequence {
    /// The pipeline that always runs.
    pub first: Pipeline,
    /// The others, each with what joins it to the ones before.
    pub rest: Vec<(Connector, Pipeline)>,
}

impl Sequence {
    /// Every command in the order written.
    pub fn commands(&self) -> impl Iterator<Item = &Command> {
        std::iter::once(&self.first)
            .chain(self.rest.iter().map(|(_, pipeline)| pipeline))
            .flat_map(|pipeline| &pipeline.commands)
    }
}

/// Reads a RUN line whose substitutions have been made. `backslash_escapes` is false on Windows.
///
/// # Errors
/// See [`SyntaxError`]; the test is UNRESOLVED then.
pub fn parse(text: &str, backslash_escapes: bool) -> Result<Sequence, SyntaxError> {
    let tokens = lex(text, backslash_escapes)?;
    let mut parser = Parser { tokens: tokens.into_iter().peekable(), end: text.len() };
    parser.sequence()
}

struct Parser<I: Iterator<Item = (Token, usize)>> {
    tokens: std::iter::Peekable<I>,
    end: usize,
}

impl<I: Iterator<Item = (Token, usize)>> Parser<I> {
    fn sequence(&mut self) -> Result<Sequence, SyntaxError> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        while let Some((token, offset)) = self.tokens.next() {
            let (connector, text) = match token {
                Token::Operator(op @ Operator::And) => (Connector::And, op.text()),
                Token::Operator(op @ Operator::Or) => (Connector::Or, op.text()),
                Token::Operator(op @ Operator::Semicolon) => (Connector::Then, op.text()),
                Token::Operator(op @ Operator::Background) => (Connector::Background, op.text()),
                // The pipeline reader stops at nothing else.
                Token::Operator(Operator::Pipe) | Token::Word(_) | Token::Redirect(..) => {
                    return Err(SyntaxError::new("unexpected token", offset));
                }
            };
            if self.tokens.peek().is_none() {
                return Err(SyntaxError::new(format!("missing argument to operator '{text}'"), offset));
            }
            rest.push((connector, self.pipeline()?));
        }
        Ok(Sequence { first, rest })
    }

    fn pipeline(&mut self) -> Result<Pipeline, SyntaxError> {
        let mut commands = vec![self.command()?];
        while self.tokens.next_if(|(token, _)| *token == Token::Operator(Operator::Pipe)).is_some() {
            commands.push(self.command()?);
        }
        Ok(Pipeline { commands })
    }

    fn command(&mut self) -> Result<Command, SyntaxError> {
        let first = match self.tokens.next() {
            None => return Err(SyntaxError::new("empty command", self.end)),
            Some((Token::Word(word), offset)) if word.text.is_empty() => {
                return Err(SyntaxError::new("empty command", offset));
            }
            Some((Token::Word(word), _)) => word,
            Some((Token::Operator(op), offset)) => return Err(unexpected(op.text(), offset)),
            Some((Token::Redirect(op, _), offset)) => return Err(unexpected(op.text(), offset)),
        };
        let mut command = Command { words: vec![first], redirects: Vec::new() };
        while let Some((token, offset)) =
            self.tokens.next_if(|(token, _)| !matches!(token, Token::Operator(_)))
        {
            match token {
                Token::Word(word) => command.words.push(word),
                Token::Redirect(op, fd) => {
                    let near =
                        || SyntaxError::new(format!("syntax error near token '{}'", op.text()), offset);
                    match self.tokens.next() {
                        Some((Token::Word(target), _)) if !target.text.is_empty() => {
                            command.redirects.push(Redirect { op, fd, target });
                        }
                        Some((Token::Redirect(RedirectOp::Read, None), _)) if op == RedirectOp::Read => {
                            return Err(SyntaxError::new("here-documents ('<<') are not supported", offset));
                        }
                        _ => return Err(near()),
                    }
                }
                // Excluded by the condition above.
                Token::Operator(_) => break,
            }
        }
        Ok(command)
    }
}

fn unexpected(text: &str, offset: usize) -> SyntaxError {
    SyntaxError::new(format!("syntax error near unexpected token '{text}'"), offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &Command) -> String {
        let mut text: Vec<String> = command.words.iter().map(|word| word.text.clone()).collect();
        text.extend(command.redirects.iter().map(|redirect| {
            let fd = redirect.fd.clone().unwrap_or_default();
            format!("[{fd}{} {}]", redirect.op.text(), redirect.target.text)
        }));
        text.join(" ")
    }

    #[test]
    fn sequences_and_pipelines() {
        let tree = parse("a b | c > x 2>&1 && d ; e || f", true).unwrap();
        let all: Vec<String> = tree.commands().map(words).collect();
        assert_eq!(all, ["a b", "c [> x] [2>& 1]", "d", "e", "f"]);
        let connectors: Vec<Connector> = tree.rest.iter().map(|(op, _)| *op).collect();
        assert_eq!(connectors, [Connector::And, Connector::Then, Connector::Or]);
        assert_eq!(tree.first.commands.len(), 2);
    }

    #[test]
    fn redirects_may_stand_between_words() {
        let tree = parse("a > x b < y c", true).unwrap();
        assert_eq!(words(&tree.first.commands[0]), "a b c [> x] [< y]");
    }

    #[test]
    fn errors() {
        for (text, message, offset) in [
            ("", "empty command", 0),
            ("'' a", "empty command", 0),
            ("| a", "syntax error near unexpected token '|'", 0),
            ("a | | b", "syntax error near unexpected token '|'", 4),
            ("a && ", "missing argument to operator '&&'", 2),
            ("a ;", "missing argument to operator ';'", 2),
            ("a > | b", "syntax error near token '>'", 2),
            ("> x", "syntax error near unexpected token '>'", 0),
            ("a << b", "here-documents ('<<') are not supported", 2),
            ("a > ''", "syntax error near token '>'", 2),
        ] {
            assert_eq!(parse(text, true), Err(SyntaxError::new(message, offset)), "{text}");
        }
    }
}
