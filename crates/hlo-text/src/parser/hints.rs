//! What can be said of a fault once parsing has stopped: texts that end too soon, braces that are missing, words that
//! are nearly right. The place XLA reports stays the primary one.

use crate::diagnostic::{Code, Diagnostic, Span, did_you_mean, shorten};
use crate::ir::{ElementType, Opcode};
use crate::lexer::{Cursor, TEXT_ENDS, Token};

/// The words that computations, modules and roots begin with.
const WORDS: [&str; 3] = ["HloModule", "ENTRY", "ROOT"];

/// The computation in which the fault is.
pub(super) struct Enclosing<'a> {
    pub(super) name: &'a str,
    pub(super) name_span: Span,
}

/// Says more of `error`, which stopped the parser.
pub(super) fn explain(
    error: Box<Diagnostic>,
    text: &str,
    enclosing: Option<&Enclosing<'_>>,
) -> Box<Diagnostic> {
    let ends = |span: Span| span.start as usize >= text.len();
    if error.primary.text == TEXT_ENDS
        || error.secondary.iter().any(|it| it.text == TEXT_ENDS && ends(it.span))
    {
        return text_ends(error, text, enclosing);
    }
    if !matches!(error.code, Code::UnexpectedToken | Code::BadShape) || error.help.is_some() {
        return error;
    }
    if let Some(word) = wrong_element_type(&error, text) {
        return with_element_type(*error, word).boxed();
    }
    if let Some(name) = element_type_as_name(&error, text) {
        let help = format!("`{name}` is an element type and can't be a name");
        return error.help(help).boxed();
    }
    if error.code != Code::UnexpectedToken {
        return error;
    }
    let at = error.primary.span.start as usize;
    if let Some(computation) = enclosing
        && super::recovery::opens_computation(line_around(text, at))
    {
        return Diagnostic {
            message: format!("a `}}` is missing: computation `{}` is not closed", shorten(computation.name)),
            ..*error
        }
        .also(computation.name_span, "this computation")
        .boxed();
    }
    let Some(before) = text.get(..at).map(str::trim_end) else { return error };
    if before.ends_with(['"', '\''])
        && let Some(string) = string_over_lines(before)
    {
        return error
            .also(string, "the string before this place begins here, on another line")
            .help("perhaps the string on that line is not closed")
            .boxed();
    }
    let word = last_word(before);
    let names =
        text[at..].starts_with(|first: char| first.is_ascii_alphabetic() || matches!(first, '%' | '_'));
    if names && let Some(meant) = meant(word) {
        return error.help(format!("did you mean `{meant}` instead of `{word}`?")).boxed();
    }
    error
}

/// The element type that stands where only names do: before `=`, or alone among operands.
fn element_type_as_name<'t>(error: &Diagnostic, text: &'t str) -> Option<&'t str> {
    let (start, end) = (error.primary.span.start as usize, error.primary.span.end as usize);
    let is_element_type = |word: &str| ElementType::from_name(word).is_some();
    let token = text.get(start..end)?;
    if is_element_type(token) {
        return text.get(end..)?.trim_start().starts_with('=').then_some(token);
    }
    let before = last_word(text.get(..start)?.trim_end());
    (matches!(token, "," | ")") && is_element_type(before)).then_some(before)
}

/// The word before the `[` that the parser met, or before which it met the word.
fn wrong_element_type<'t>(error: &Diagnostic, text: &'t str) -> Option<&'t str> {
    let mut places = error.secondary.iter().chain([&error.primary]);
    places.find_map(|place| {
        let (start, end) = (place.span.start as usize, place.span.end as usize);
        let token = text.get(start..end)?;
        let word = if token == "[" { last_word(text.get(..start)?) } else { token };
        let is_word = !word.is_empty() && last_word(word).len() == word.len();
        (is_word && (token == "[" || text.get(end..)?.starts_with('['))).then_some(word)
    })
}

/// The same with what element type is meant by `word`, if it is clear.
pub(super) fn with_element_type(error: Diagnostic, word: &str) -> Diagnostic {
    let close = || did_you_mean(word, ElementType::ALL.iter().map(|element_type| element_type.name()));
    match ElementType::meant_by(word).map(ElementType::name).or_else(close) {
        Some(meant) => error.help(format!("did you mean `{meant}`?")),
        None => error,
    }
}

/// The word of [`WORDS`] that is meant by `word`.
fn meant(word: &str) -> Option<&'static str> {
    if word.is_empty() || WORDS.contains(&word) {
        return None;
    }
    let same = WORDS.into_iter().find(|known| known.eq_ignore_ascii_case(word));
    same.or_else(|| did_you_mean(&word.to_ascii_lowercase(), ["hlomodule", "entry", "root"]).and_then(meant))
}

/// The whole line of byte `at`.
fn line_around(text: &str, at: usize) -> &str {
    let bytes = text.as_bytes();
    let at = at.min(bytes.len());
    let start = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |before| before + 1);
    let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |length| at + length);
    text.get(start..end).unwrap_or_default()
}

/// The word at the end of `text`.
fn last_word(text: &str) -> &str {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    let length = text.bytes().rev().take_while(|&byte| is_word(byte)).count();
    &text[text.len() - length..]
}

/// Where the string begins that ends `text`, if it does so on another line.
fn string_over_lines(text: &str) -> Option<Span> {
    let (&quote, body) = text.as_bytes().split_last()?;
    let start = memchr::memrchr(quote, body)?;
    memchr::memchr(b'\n', &body[start..])?;
    Some(Span::new(start, start + 1))
}

/// The text ends too soon: says within what.
fn text_ends(mut error: Box<Diagnostic>, text: &str, enclosing: Option<&Enclosing<'_>>) -> Box<Diagnostic> {
    let content = text.trim_end().len();
    error.secondary.retain(|place| place.text != TEXT_ENDS);
    error.primary.text.clear();
    // The last line may be empty, which shows nothing.
    *error = error.focus(Span::new(content, content), TEXT_ENDS);
    let open = open_brackets(text);
    let Some(outermost) = open.first() else {
        if is_blank(text) {
            error.message = "the text is empty".to_owned();
            if content > 0 {
                error.message = "the text has nothing but comments".to_owned();
            }
            error.help = Some("give a module, a computation or an instruction".to_owned());
        }
        return error;
    };
    let within = open.iter().rev().find_map(|bracket| Some((bracket, bracket.owner?)));
    error.message = match (within, enclosing) {
        (Some((_, Owner::Opcode(opcode))), _) => {
            format!("the text ends within the parentheses of `{opcode}`")
        }
        (Some((_, Owner::Attribute(key))), _) => {
            format!("the text ends within the value of `{}`", shorten(key))
        }
        (None, Some(computation)) => {
            format!("the text ends before the `}}` of computation `{}`", shorten(computation.name))
        }
        (None, None) => "the text ends before all brackets are closed".to_owned(),
    };
    error.help = None;
    let unclosed = within.map_or(outermost, |(bracket, _)| bracket);
    error.also(unclosed.span, "this is not closed").boxed()
}

/// Whether there is no token in `text`.
fn is_blank(text: &str) -> bool {
    Cursor::new(text.trim_start_matches(super::BYTE_ORDER_MARK)).token() == Token::Eof
}

/// A bracket that is not closed.
struct Open<'s> {
    bracket: Token,
    span: Span,
    owner: Option<Owner<'s>>,
}

/// What stands directly before a bracket.
#[derive(Clone, Copy)]
enum Owner<'s> {
    Attribute(&'s str),
    Opcode(&'s str),
}

/// The brackets of `text` that are not closed, from the outermost to the innermost.
fn open_brackets(text: &str) -> Vec<Open<'_>> {
    let mut cursor = Cursor::new(text);
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut before = (Token::Eof, "");
    loop {
        let token = cursor.token();
        match token {
            Token::Eof => return open,
            Token::LBrace | Token::LParen | Token::LSquare => {
                let owner = match (before, token) {
                    ((Token::AttrName, key), _) => Some(Owner::Attribute(key)),
                    ((Token::Ident, word), Token::LParen) if is_opcode(word) => Some(Owner::Opcode(word)),
                    _ => None,
                };
                open.push(Open { bracket: token, span: cursor.span(), owner });
            }
            Token::RBrace | Token::RParen | Token::RSquare => {
                let opening = match token {
                    Token::RBrace => Token::LBrace,
                    Token::RParen => Token::LParen,
                    _ => Token::LSquare,
                };
                // What should have been closed before this one is a fault of its own.
                if let Some(place) = open.iter().rposition(|it| it.bracket == opening) {
                    open.truncate(place);
                }
            }
            _ => {}
        }
        before = (token, cursor.word());
        cursor.bump();
    }
}

fn is_opcode(word: &str) -> bool {
    Opcode::from_name(word).is_some() || super::async_ops::sugar(word).is_some()
}
