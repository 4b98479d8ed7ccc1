//! Boolean expressions over features: `linux && !(asan || {{target=x86.*}})`.
//!
//! Grammar: `or := and ('||' and)*`, `and := not ('&&' not)*`, `not := '!' not | '(' or ')' | match`.
//! A match is a run of identifiers and `{{regex}}` pieces; it holds if it equals a feature as a
//! whole. `true` always holds, any other unknown name never does.

use std::collections::BTreeSet;

use regex::Regex;

use super::quote::python;

/// How deeply `(` and `!` may nest.
pub const MAX_NESTING: usize = 200;

/// A parsed expression.
#[derive(Clone, Debug)]
pub struct BooleanExpr {
    root: Node,
    text: String,
}

#[derive(Clone, Debug)]
enum Node {
    Name(String),
    Pattern { regex: Regex, spelling: String },
    Not(Box<Node>),
    And(Vec<Node>),
    Or(Vec<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    Symbol(&'a str),
    Match(&'a str),
    End,
}

impl Token<'_> {
    fn quoted(self) -> String {
        match self {
            Token::Symbol(text) | Token::Match(text) => python(text),
            Token::End => "<end of expression>".to_owned(),
        }
    }
}

/// The set of features that hold.
pub type Features = BTreeSet<String>;

impl BooleanExpr {
    /// Parses an expression.
    ///
    /// # Errors
    /// A description in lit's words, ending with the expression.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut parser = Parser { rest: text, token: Token::End };
        parser
            .advance()
            .and_then(|()| parser.or_expr(0))
            .and_then(|root| {
                parser.expect_end()?;
                Ok(root)
            })
            .map(|root| BooleanExpr { root, text: text.to_owned() })
            .map_err(|message| format!("{message}\nin expression: {}", python(text)))
    }

    /// Parses and evaluates in one step.
    ///
    /// # Errors
    /// As [`BooleanExpr::parse`].
    pub fn evaluate_text(text: &str, features: &Features) -> Result<bool, String> {
        let simple = text.trim();
        // The bulk of all conditions is one plain name.
        if !simple.is_empty() && simple.bytes().all(is_name_byte) {
            return Ok(name_holds(simple, features));
        }
        Ok(Self::parse(text)?.evaluate(features))
    }

    /// Whether the expression holds for these features.
    pub fn evaluate(&self, features: &Features) -> bool {
        self.root.evaluate(features)
    }

    /// The expression as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Adds every name and pattern the expression asks about.
    pub fn collect_names(&self, names: &mut BTreeSet<String>) {
        self.root.collect_names(names);
    }
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-+=._".contains(&byte)
}

fn name_holds(name: &str, features: &Features) -> bool {
    name == "true" || features.contains(name)
}

impl Node {
    fn evaluate(&self, features: &Features) -> bool {
        match self {
            Node::Name(name) => name_holds(name, features),
            Node::Pattern { regex, .. } => {
                regex.is_match("true") || features.iter().any(|feature| regex.is_match(feature))
            }
            Node::Not(inner) => !inner.evaluate(features),
            Node::And(parts) => parts.iter().all(|part| part.evaluate(features)),
            Node::Or(parts) => parts.iter().any(|part| part.evaluate(features)),
        }
    }

    fn collect_names(&self, names: &mut BTreeSet<String>) {
        match self {
            Node::Name(name) => {
                names.insert(name.clone());
            }
            Node::Pattern { spelling, .. } => {
                names.insert(spelling.clone());
            }
            Node::Not(inner) => inner.collect_names(names),
            Node::And(parts) | Node::Or(parts) => {
                for part in parts {
                    part.collect_names(names);
                }
            }
        }
    }
}

struct Parser<'a> {
    rest: &'a str,
    token: Token<'a>,
}

impl<'a> Parser<'a> {
    /// Moves to the next token.
    fn advance(&mut self) -> Result<(), String> {
        let text = self.rest.trim_start();
        if text.is_empty() && !self.rest.is_empty() && self.rest.trim().is_empty() {
            // A tail of blanks belongs to the token before; alone it is not an expression.
            return Err(format!("couldn't parse text: {}", python(self.rest)));
        }
        let (token, length) = match text.as_bytes() {
            [] => (Token::End, 0),
            [b'(' | b')' | b'!', ..] => (Token::Symbol(&text[..1]), 1),
            [b'&', b'&', ..] | [b'|', b'|', ..] => (Token::Symbol(&text[..2]), 2),
            _ => match match_length(text) {
                0 => return Err(format!("couldn't parse text: {}", python(self.rest))),
                length => (Token::Match(&text[..length]), length),
            },
        };
        self.token = token;
        self.rest = text[length..].trim_start();
        Ok(())
    }

    fn accept(&mut self, symbol: &str) -> Result<bool, String> {
        if self.token == Token::Symbol(symbol) {
            self.advance()?;
            return Ok(true);
        }
        Ok(false)
    }

    fn expect_end(&self) -> Result<(), String> {
        match self.token {
            Token::End => Ok(()),
            other => Err(format!("expected: <end of expression>\nhave: {}", other.quoted())),
        }
    }

    fn or_expr(&mut self, depth: usize) -> Result<Node, String> {
        let first = self.and_expr(depth)?;
        let mut parts = vec![first];
        while self.accept("||")? {
            parts.push(self.and_expr(depth)?);
        }
        Ok(flatten(parts, Node::Or))
    }

    fn and_expr(&mut self, depth: usize) -> Result<Node, String> {
        let first = self.not_expr(depth)?;
        let mut parts = vec![first];
        while self.accept("&&")? {
            parts.push(self.not_expr(depth)?);
        }
        Ok(flatten(parts, Node::And))
    }

    fn not_expr(&mut self, depth: usize) -> Result<Node, String> {
        if depth > MAX_NESTING {
            return Err(format!("expression nests more than {MAX_NESTING} levels deep"));
        }
        if self.accept("!")? {
            return Ok(Node::Not(Box::new(self.not_expr(depth + 1)?)));
        }
        if self.accept("(")? {
            let inner = self.or_expr(depth + 1)?;
            if self.token != Token::Symbol(")") {
                return Err(format!("expected: ')'\nhave: {}", self.token.quoted()));
            }
            self.advance()?;
            return Ok(inner);
        }
        match self.token {
            Token::Match(text) => {
                let node = match_node(text)?;
                self.advance()?;
                Ok(node)
            }
            other => Err(format!("expected: '!', '(', '{{{{', or identifier\nhave: {}", other.quoted())),
        }
    }
}

fn flatten(mut parts: Vec<Node>, make: fn(Vec<Node>) -> Node) -> Node {
    if parts.len() == 1 { parts.remove(0) } else { make(parts) }
}

/// Length of the run of identifiers and `{{...}}` pieces that `text` starts with.
fn match_length(text: &str) -> usize {
    let mut end = 0;
    loop {
        let rest = &text[end..];
        let name = rest.bytes().take_while(|&byte| is_name_byte(byte)).count();
        if name > 0 {
            end += name;
        } else if let Some(length) = braced_length(rest) {
            end += length;
        } else {
            return end;
        }
    }
}

/// Length of a `{{...}}` piece with at least one character in it and no line break.
fn braced_length(text: &str) -> Option<usize> {
    let body = text.strip_prefix("{{")?;
    let first = body.chars().next()?.len_utf8();
    let end = first + body[first..].find("}}")?;
    if body[..end].contains('\n') {
        return None;
    }
    Some(2 + end + 2)
}

fn match_node(text: &str) -> Result<Node, String> {
    if !text.contains("{{") {
        return Ok(Node::Name(text.to_owned()));
    }
    let mut pattern = String::from(r"\A(?:");
    let mut rest = text;
    while !rest.is_empty() {
        if let Some(length) = braced_length(rest) {
            pattern.push_str("(?:");
            pattern.push_str(&rest[2..length - 2]);
            pattern.push(')');
            rest = &rest[length..];
        } else {
            let length = rest.bytes().take_while(|&byte| is_name_byte(byte)).count().max(1);
            pattern.push_str(&regex::escape(&rest[..length]));
            rest = &rest[length..];
        }
    }
    pattern.push_str(r")\z");
    let regex = Regex::new(&pattern)
        .map_err(|error| format!("invalid regular expression in {}: {error}", python(text)))?;
    Ok(Node::Pattern { regex, spelling: text.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn features(names: &[&str]) -> Features {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[track_caller]
    fn check(text: &str, names: &[&str], expected: bool) {
        let value = BooleanExpr::parse(text).map(|expr| expr.evaluate(&features(names)));
        assert_eq!(value, Ok(expected), "{text}");
        assert_eq!(BooleanExpr::evaluate_text(text, &features(names)), Ok(expected), "{text}");
    }

    #[track_caller]
    fn check_error(text: &str, message: &str) {
        let error = BooleanExpr::parse(text).expect_err(text);
        assert_eq!(error, format!("{message}\nin expression: {}", python(text)));
    }

    #[test]
    fn names() {
        check("true", &[], true);
        check("false", &[], false);
        check("True", &[], false);
        check("its-true", &["its-true"], true);
        check("e=quals", &["e=quals"], true);
        check("tru", &["true-ish"], false);
    }

    #[test]
    fn patterns_match_whole_features() {
        check("{{its.+}}", &["its-true"], true);
        check("{{its}}", &["its-true"], false);
        check("d1g{{[0-9]}}t{{[a-z]}}", &["d1g1ts"], true);
        check("{{(a|b)}}c", &["bc"], true);
        check("{{a|b}}c", &["a"], false);
        check("{{t.*}}", &[], true);
    }

    #[test]
    fn operators() {
        check("a && b || c", &["c"], true);
        check("a || b && c", &["a"], true);
        check("!(a || b)", &["b"], false);
        check("! ! a", &["a"], true);
        check("(a)", &["a"], true);
        check("a&&b", &["a", "b"], true);
    }

    #[test]
    fn errors() {
        check_error("", "expected: '!', '(', '{{', or identifier\nhave: <end of expression>");
        check_error("ba#d", "couldn't parse text: '#d'");
        check_error("a b", "expected: <end of expression>\nhave: 'b'");
        check_error("(a", "expected: ')'\nhave: <end of expression>");
        check_error("a ||", "expected: '!', '(', '{{', or identifier\nhave: <end of expression>");
        check_error("&& b", "expected: '!', '(', '{{', or identifier\nhave: '&&'");
        check_error("{{}}", "couldn't parse text: '{{}}'");
    }

    #[test]
    fn nesting_is_bounded() {
        let deep = format!("{}a", "!".repeat(100_000));
        assert!(BooleanExpr::parse(&deep).unwrap_err().contains("nests more than"));
        let deep = "(".repeat(100_000);
        assert!(BooleanExpr::parse(&deep).unwrap_err().contains("nests more than"));
    }
}
