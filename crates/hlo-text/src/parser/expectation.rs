//! What the parser waits for, in the user's words.

use super::shape::at_shape;
use super::tokens::{Place, Tok};
use crate::diagnostic::{Code, Diagnostic, shorten};
use crate::ir::Opcode;
use crate::lexer::{Cursor, Token};

/// What a text begins with.
const START: &str = "`HloModule` and a name, `ENTRY`, or a computation";

/// What could come in `place` after `previous`, in the user's words.
pub(super) fn expectation(place: Place, previous: Tok) -> &'static str {
    match place {
        Place::TopLevel => match previous {
            Tok::StartModule | Tok::StartInstruction | Tok::StartBody | Tok::StartComputations => START,
            Tok::HloModule => "the name of the module",
            Tok::Entry => "the name of the computation",
            _ => "a computation: `ENTRY` or a name, perhaps a signature, and `{`",
        },
        Place::Signature => "a signature such as `(p: f32[2]) -> f32[2]`",
        Place::Body => match previous {
            Tok::Root => "the name of an instruction",
            Tok::LBrace => "an instruction: `name = shape opcode(...)`",
            Tok::StartInstruction => START,
            _ => "an attribute, an instruction (`name = shape opcode(...)`), or `}`",
        },
        Place::RightHandSide => match previous {
            Tok::Shape(_) => "an opcode",
            _ => "a shape and an opcode",
        },
        Place::Operands => "an operand, `,` or `)`",
        Place::Payload(Opcode::Parameter) => "the number of the parameter",
        Place::Payload(_) => "a literal",
        Place::Called => "the name of a computation, or an inline one in braces",
        Place::OpenCalledList => "`{` and a list of computations",
        Place::CalledList => "a computation, `,` or `}`",
    }
}

/// What is missing before a word with `=`, if the current token is one in `place` after `previous`: `, ` before an
/// attribute, or a blank between the name of an instruction and `=`.
pub(super) fn attribute_out_of_place(
    cursor: &Cursor<'_>,
    place: Place,
    previous: Tok,
    in_header: bool,
) -> Option<Box<Diagnostic>> {
    if cursor.token() != Token::AttrName || !matches!(place, Place::Body | Place::TopLevel) {
        return None;
    }
    let word = shorten(cursor.word());
    let mut ahead = cursor.clone();
    ahead.bump();
    let defines = place == Place::Body && at_shape(&ahead);
    let follows = match previous {
        Tok::RBrace => true,
        Tok::RParen => place == Place::Body,
        Tok::Attribute | Tok::Name(_) => in_header || place == Place::Body,
        _ => false,
    };
    let (message, help) = match (defines, follows) {
        (true, _) => (
            format!("there must be a blank between the name `{word}` and `=`"),
            format!("write `{word} = ...`"),
        ),
        (false, true) => {
            (format!("a `,` is missing before the attribute `{word}`"), format!("write `, {word}=...`"))
        }
        (false, false) => return None,
    };
    Some(Diagnostic::new(Code::UnexpectedToken, cursor.span(), message).help(help).boxed())
}
