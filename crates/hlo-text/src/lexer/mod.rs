//! Tokens of HLO text, exactly XLA's classes, and the cursor that parsers read them through.
//!
//! Words are looked at with their next byte, as XLA does: `dimensions=` is an attribute name, `p:` a name,
//! `%p` a name whatever it spells. Opcodes and attribute names are plain words here; they are resolved against
//! their tables where an error can say more than "syntax error".

mod cursor;
mod foreign;
mod number;
mod strings;

use logos::{FilterResult, Lexer, Logos};

use crate::ir::ElementType;

pub(crate) use cursor::{Cursor, TEXT_ENDS};
pub(crate) use strings::{escape_into, json_dict_length, looks_like_json, unescape};

/// A token. Values of numbers are in [`Extras`].
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(extras = Extras)]
#[logos(skip r"[ \t\r\n]+")]
#[logos(skip r"//[^\n\r\x00]*")]
pub(crate) enum Token {
    #[token("=")]
    Equal,
    #[token(",")]
    Comma,
    #[token(":")]
    Colon,
    #[token("*")]
    Asterisk,
    #[token("+")]
    Plus,
    #[token("~")]
    Tilde,
    #[token("#")]
    Octothorp,
    #[token("[")]
    LSquare,
    #[token("]")]
    RSquare,
    #[token("{")]
    LBrace,
    #[token("}")]
    RBrace,
    #[token("(")]
    LParen,
    #[token(")")]
    RParen,
    #[token("->")]
    Arrow,
    #[token("<=")]
    Leq,
    #[token("...")]
    Dots,
    /// `?` where no number pattern matches.
    Question,
    /// `%name`, or a word directly followed by `:` (which is part of the token).
    #[regex(r"%[A-Za-z_][A-Za-z0-9_.\-]*")]
    Name,
    /// A word directly followed by `=` (which is part of the token).
    AttrName,
    /// Any other word. All words are classified in the callback.
    #[regex(r"[A-Za-z_][A-Za-z0-9_.\-]*", word)]
    Ident,
    /// `f32`, `token` ...: reserved words.
    Type(ElementType),
    /// Other reserved words.
    Keyword(Keyword),
    /// Value in [`Extras::int`].
    #[regex(r"[0-9?\-]", number::number)]
    Int,
    /// Value in [`Extras::decimal`]; also `nan` and `-nan` with their payloads.
    Decimal,
    /// `-inf`
    NegInf,
    /// `b0f_0io->b0f`
    DimLabels,
    /// `2x3`
    Dxd,
    /// `0_0x1_2_3`
    Pad,
    /// A quoted string with valid escapes.
    #[regex(r#""([^"\\]|\\[^\n])*""#, strings::string)]
    #[regex(r#"'([^'\\]|\\[^\n])*'"#, strings::string)]
    String,
    /// The end of the text.
    Eof,
    /// Something that is no token.
    #[token("/*", block_comment)]
    Error,
}

/// The reserved words that are not element types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keyword {
    True,
    False,
    Inf,
    HloModule,
    Entry,
    Root,
    FileLocations,
    FileNames,
    FunctionNames,
    StackFrames,
    Maximal,
    Replicated,
    Manual,
    LastTileDimReplicate,
    ShardAs,
    ShardLike,
    Unknown,
    Unreduced,
}

/// What a token carries beside its class and place: the value of the last number token.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extras {
    /// Of the last [`Token::Int`].
    pub(crate) int: i64,
    /// Of the last [`Token::Decimal`].
    pub(crate) decimal: f64,
}

/// Decides what a word is, in XLA's order.
fn word(lexer: &mut Lexer<'_, Token>) -> Token {
    let rest = lexer.remainder().as_bytes();
    match rest.first() {
        Some(b':') => {
            lexer.bump(1);
            return Token::Name;
        }
        Some(b'=') => {
            lexer.bump(1);
            return Token::AttrName;
        }
        _ => {}
    }
    let text = lexer.slice();
    if let Some(element_type) = ElementType::from_name(text) {
        return Token::Type(element_type);
    }
    let keyword = match text {
        "nan" => return number::nan_payload(lexer, false),
        "true" => Keyword::True,
        "false" => Keyword::False,
        "inf" => Keyword::Inf,
        "HloModule" => Keyword::HloModule,
        "ENTRY" => Keyword::Entry,
        "ROOT" => Keyword::Root,
        "FileLocations" => Keyword::FileLocations,
        "FileNames" => Keyword::FileNames,
        "FunctionNames" => Keyword::FunctionNames,
        "StackFrames" => Keyword::StackFrames,
        "maximal" => Keyword::Maximal,
        "replicated" => Keyword::Replicated,
        "manual" => Keyword::Manual,
        "last_tile_dim_replicate" => Keyword::LastTileDimReplicate,
        "shard_as" => Keyword::ShardAs,
        "shard_like" => Keyword::ShardLike,
        "unknown" => Keyword::Unknown,
        "unreduced" => Keyword::Unreduced,
        _ => {
            if matches!(text.as_bytes()[0], b'b' | b'f') {
                let from_word = &lexer.source().as_bytes()[lexer.span().start..];
                if let Some(length) = number::dim_labels_length(from_word) {
                    // The labels may run past the word, or end inside it.
                    return if length >= text.len() {
                        lexer.bump(length - text.len());
                        Token::DimLabels
                    } else {
                        Token::Ident
                    };
                }
            }
            return Token::Ident;
        }
    };
    Token::Keyword(keyword)
}

/// `/* ... */`: skipped; unclosed, or with a NUL byte, it is an error token.
fn block_comment(lexer: &mut Lexer<'_, Token>) -> FilterResult<(), ()> {
    let rest = lexer.remainder().as_bytes();
    match memchr::memmem::find(rest, b"*/") {
        Some(length) if memchr::memchr(0, &rest[..length]).is_none() => {
            lexer.bump(length + 2);
            FilterResult::Skip
        }
        _ => FilterResult::Error(()),
    }
}
