//! Tables of instructions without shapes and what must be inferred for them.

mod extended;
mod limits;
mod parser_rules;
mod request;

use request::Request;

use super::{ShapeErrorKind, ShapeErrorSubject};
use crate::ir::AttrKey;

/// What a case must give.
#[derive(Clone, Copy, Debug)]
enum Expected {
    Shape(&'static str),
    Fails(ShapeErrorSubject),
}

/// `text` gives `shape`, layout included.
fn gives(text: &'static str, shape: &'static str) -> (&'static str, Expected) {
    (text, Expected::Shape(shape))
}

/// `text` is refused because of operand `index`.
fn operand(text: &'static str, index: usize) -> (&'static str, Expected) {
    (text, Expected::Fails(ShapeErrorSubject::Operand(index)))
}

/// `text` is refused because of an attribute.
fn attribute(text: &'static str, key: AttrKey) -> (&'static str, Expected) {
    (text, Expected::Fails(ShapeErrorSubject::Attribute(key)))
}

/// `text` is refused as a whole.
fn whole(text: &'static str) -> (&'static str, Expected) {
    (text, Expected::Fails(ShapeErrorSubject::Instruction))
}

/// Checks cases against the parser's rules.
fn check(cases: &[(&str, Expected)]) {
    for &(text, expected) in cases {
        let mut request = Request::new(text);
        let result = request.infer();
        compare(text, &mut request, result, expected);
    }
}

fn compare(
    text: &str,
    request: &mut Request,
    result: Result<crate::ir::ShapeId, super::ShapeError>,
    expected: Expected,
) {
    match (result, expected) {
        (Ok(id), Expected::Shape(wanted)) => {
            let wanted_id = request::shape(&mut request.module, wanted);
            assert_eq!(id, wanted_id, "{text}: {} instead of {wanted}", request.describe(id));
        }
        (Err(error), Expected::Fails(subject)) => {
            assert_eq!(error.subject, subject, "{text}: {error}");
            assert_eq!(error.kind, ShapeErrorKind::Invalid, "{text}: {error}");
            assert!(!error.message.is_empty() && !error.message.ends_with('.'), "{text}: {error}");
        }
        (result, expected) => panic!("{text}: {result:?} instead of {expected:?}"),
    }
}
