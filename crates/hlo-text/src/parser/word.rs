//! Words of a vocabulary, and lists of them.

use super::ParseResult;
use crate::diagnostic::{Code, Diagnostic, did_you_mean, shorten};
use crate::ir::words::{Precision, Vocabulary};
use crate::lexer::{Cursor, Token};

/// Takes a word of `vocabulary`, the value of an attribute called `name`, and gives its index there.
pub(crate) fn parse_word(cursor: &mut Cursor<'_>, vocabulary: Vocabulary, name: &str) -> ParseResult<u8> {
    if cursor.token() != Token::Ident {
        return Err(list_words(*cursor.unexpected(&format!("a word for `{name}`")), vocabulary));
    }
    let text = cursor.text();
    let Some(word) = vocabulary.find(text) else {
        let message = format!("`{}` is no word for `{name}`", shorten(text));
        let diagnostic = Diagnostic::new(Code::BadAttributeValue, cursor.span(), message);
        return Err(match closest(text, vocabulary) {
            Some(meant) => diagnostic.help(format!("did you mean `{meant}`?")).boxed(),
            None => list_words(diagnostic, vocabulary),
        });
    };
    cursor.bump();
    Ok(word)
}

/// The word that was probably meant, letter case aside.
fn closest(text: &str, vocabulary: Vocabulary) -> Option<&'static str> {
    let words = vocabulary.words().iter().copied();
    words.clone().find(|word| word.eq_ignore_ascii_case(text)).or_else(|| did_you_mean(text, words))
}

fn list_words(diagnostic: Diagnostic, vocabulary: Vocabulary) -> Box<Diagnostic> {
    let words: Vec<String> = vocabulary.words().iter().map(|word| format!("`{word}`")).collect();
    diagnostic.help(format!("the words are {}", words.join(", "))).boxed()
}

/// Takes `{high,default}`, at least one word or nothing.
pub(crate) fn parse_precisions(cursor: &mut Cursor<'_>) -> ParseResult<Vec<Precision>> {
    let mut list = Vec::new();
    cursor.expect(Token::LBrace, "`{` and a list of precisions")?;
    if cursor.token() != Token::RBrace {
        loop {
            let word = parse_word(cursor, Vocabulary::Precision, "operand_precision")?;
            list.extend(Precision::from_word(word));
            if !cursor.eat(Token::Comma) {
                break;
            }
        }
    }
    cursor.expect(Token::RBrace, "`,` or `}` in the list of precisions")?;
    Ok(list)
}
