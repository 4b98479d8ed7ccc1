//! Attributes inside the braces of an attribute: `{key=value key=value}`.

use super::ParseResult;
use crate::diagnostic::{Code, Diagnostic, Span, did_you_mean, shorten};
use crate::lexer::{Cursor, Token};

/// An error at an attribute name that is none of `names`; `what` says whose names they are.
pub(crate) fn unknown_name(word: &str, span: Span, what: &str, names: &[&str]) -> Box<Diagnostic> {
    let message = format!("`{}` is no name of {what}", shorten(word));
    let diagnostic = Diagnostic::new(Code::UnknownAttribute, span, message);
    let help = match did_you_mean(word, names.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => {
            let mut sorted = names.to_vec();
            sorted.sort_unstable();
            format!("the names are {}", sorted.join(", "))
        }
    };
    diagnostic.help(help).boxed()
}

/// Takes one of `names` with its `=` and gives its place among them; `what` says whose names they are.
pub(crate) fn take_name(cursor: &mut Cursor<'_>, what: &str, names: &[&str]) -> ParseResult<usize> {
    if cursor.token() != Token::AttrName {
        return Err(cursor.unexpected(&format!("`}}` or the name of {what} with its `=`")));
    }
    let word = cursor.word();
    let Some(index) = names.iter().position(|name| *name == word) else {
        return Err(unknown_name(word, cursor.span(), what, names));
    };
    cursor.bump();
    Ok(index)
}

/// Which sub-attributes were there.
pub(crate) struct Given {
    /// The `{`.
    open: Span,
    /// A bit for each name.
    names: u32,
}

impl Given {
    /// An error at the `{` if one of `names` was not there; XLA looks for them in alphabetical order, so they
    /// are given like that.
    pub(crate) fn require(&self, all: &[&str], names: &[&str]) -> ParseResult<()> {
        let is_given = |name: &str| {
            let index = all.iter().position(|other| *other == name);
            index.is_some_and(|index| self.names & 1 << index != 0)
        };
        match names.iter().find(|name| !is_given(name)) {
            None => Ok(()),
            Some(missing) => {
                let message = format!("`{missing}=` is missing between these braces");
                Err(Diagnostic::new(Code::MissingAttribute, self.open, message).boxed())
            }
        }
    }
}

/// Takes `{key=value, key=value}`, where commas may be left out. `value` takes the value of the name of the given
/// index; `unknown` takes a name that is not in `names` with its value, or says what is wrong with it.
pub(crate) fn parse_sub_attributes<'s>(
    cursor: &mut Cursor<'s>,
    what: &str,
    names: &[&str],
    mut value: impl FnMut(&mut Cursor<'s>, usize) -> ParseResult<()>,
    mut unknown: impl FnMut(&mut Cursor<'s>) -> ParseResult<()>,
) -> ParseResult<Given> {
    let mut given = Given { open: cursor.span(), names: 0 };
    cursor.expect(Token::LBrace, "`{`")?;
    while cursor.token() != Token::RBrace {
        cursor.eat(Token::Comma);
        if cursor.token() != Token::AttrName {
            return Err(cursor.unexpected(&format!("the name of {what} with its `=`")));
        }
        let word = cursor.word();
        let Some(index) = names.iter().position(|name| *name == word) else {
            unknown(cursor)?;
            continue;
        };
        if given.names & 1 << index != 0 {
            let message = format!("`{word}=` is given twice");
            return Err(Diagnostic::new(Code::DuplicateAttribute, cursor.span(), message).boxed());
        }
        given.names |= 1 << index;
        cursor.bump();
        value(cursor, index)?;
    }
    cursor.bump();
    Ok(given)
}
