//! Literals: the body of `constant(...)`, whose shape is known, and the typed literals of `literal=`.

mod dense;
mod fast;
#[cfg(test)]
mod tests;

use super::{Dialect, MAX_NESTING_DEPTH, ParseResult, ValueContext};
use crate::diagnostic::{Code, Diagnostic, Span};
use crate::ir::{ArrayShape, Elements, Literal, LiteralData, Shape, ShapeId, UNBOUNDED};
use crate::lexer::{Cursor, Token};

/// The most elements an array may have of which the text has only one or none: XLA reads `f32[3] constant(1)` as
/// `{1, 0, 0}`. They take no memory, but are printed in full where large constants are. XLA's limit is its memory.
pub(crate) const MAX_UNWRITTEN_ELEMENTS: usize = 1 << 25;

/// The most rows an array without elements may have if they are not written: each prints as a pair of braces.
pub(crate) const MAX_UNWRITTEN_ROWS: i64 = 1 << 24;

/// The first fault that XLA notes without stopping. It counts if the literal turns out to be wrong, and is
/// a warning otherwise.
type Complaint = Option<Box<Diagnostic>>;

/// Takes a literal of the shape `shape`, as in `constant(...)` after the `(`; leaves the cursor at the `)`.
///
/// The literal's shape has bounded dimensions made static, arrays in place of buffers, and no element sizes in
/// layouts. `{...}` gives [`LiteralData::Elided`]. What XLA notes without rejecting the text becomes a warning.
pub(crate) fn parse_literal(
    cursor: &mut Cursor<'_>,
    context: &mut ValueContext<'_>,
    shape: ShapeId,
) -> ParseResult<Literal> {
    let mut complaint = None;
    let result = parse_of_shape(cursor, context, shape, &mut complaint);
    settle(result, complaint, context)
}

/// Takes a literal that says its own shape, as in `literal=`: `s32[2]{0} {1, 2}`, tuples `(f32[] 1, pred[] true)`.
pub(crate) fn parse_typed_literal(
    cursor: &mut Cursor<'_>,
    context: &mut ValueContext<'_>,
) -> ParseResult<Literal> {
    let mut complaint = None;
    let result = parse_typed(cursor, context, &mut complaint);
    settle(result, complaint, context)
}

fn settle(
    result: ParseResult<Literal>,
    complaint: Complaint,
    context: &mut ValueContext<'_>,
) -> ParseResult<Literal> {
    match (result, complaint) {
        (result, None) => result,
        (Ok(literal), Some(complaint)) => {
            context.warnings.push(complaint.warning());
            Ok(literal)
        }
        (Err(error), Some(complaint)) if complaint.primary.span == error.primary.span => Err(error),
        (Err(error), Some(complaint)) => Err(complaint.also(error.primary.span, error.message).boxed()),
    }
}

fn too_deep(span: Span) -> Box<Diagnostic> {
    let message = format!("tuple literals are nested more than {MAX_NESTING_DEPTH} levels deep");
    Diagnostic::new(Code::TooDeep, span, message).boxed()
}

fn bad(span: Span, message: impl Into<String>) -> Box<Diagnostic> {
    Diagnostic::new(Code::BadLiteral, span, message).boxed()
}

/// A tuple whose `(` has been taken.
struct OpenTuple {
    shapes: Vec<ShapeId>,
    /// At least one less than the shapes.
    elements: Vec<Literal>,
}

/// Takes a literal of the shape `shape`; tuples are kept on a stack of their own.
fn parse_of_shape(
    cursor: &mut Cursor<'_>,
    context: &mut ValueContext<'_>,
    mut shape: ShapeId,
    complaint: &mut Complaint,
) -> ParseResult<Literal> {
    let mut open: Vec<OpenTuple> = Vec::new();
    loop {
        let is_elided = context.dialect == Dialect::Lenient
            && cursor.token() == Token::LBrace
            && cursor.peek() == Token::Dots;
        let mut literal = match context.module.shapes.get(shape) {
            // XLA prints this of tuples as it does of arrays, but doesn't read it.
            Shape::Tuple(_) if is_elided => {
                cursor.bump();
                cursor.bump();
                cursor.expect(Token::RBrace, "`}` after `{...`")?;
                Literal { shape, data: LiteralData::Elided }
            }
            Shape::Tuple(shapes) => {
                if open.len() >= MAX_NESTING_DEPTH {
                    return Err(too_deep(cursor.span()));
                }
                cursor.expect(Token::LParen, "`(` and the elements of the tuple")?;
                if cursor.token() != Token::RParen
                    && let Some(&first) = shapes.first()
                {
                    open.push(OpenTuple { shapes: shapes.clone(), elements: Vec::new() });
                    shape = first;
                    continue;
                }
                // `()` is right for every tuple, and makes every element an empty tuple.
                let count = shapes.len();
                expect_end(cursor, count)?;
                let empty = tuple(context, Vec::new());
                tuple(context, vec![empty; count])
            }
            _ => parse_array(cursor, context, shape, complaint)?,
        };
        loop {
            let Some(outer) = open.last_mut() else { return Ok(literal) };
            outer.elements.push(literal);
            if let Some(&next) = outer.shapes.get(outer.elements.len()) {
                expect_separator(cursor, complaint);
                shape = next;
                break;
            }
            expect_end(cursor, outer.shapes.len())?;
            let elements = std::mem::take(&mut outer.elements);
            open.pop();
            literal = tuple(context, elements);
        }
    }
}

/// Takes the `)` of a tuple.
fn expect_end(cursor: &mut Cursor<'_>, count: usize) -> ParseResult<()> {
    cursor.expect(Token::RParen, "`)`").map_err(|mut error| {
        error.message = format!("expected `)` after the {count} elements of the tuple");
        error
    })
}

/// Takes a literal whose shape is no tuple.
fn parse_array(
    cursor: &mut Cursor<'_>,
    context: &mut ValueContext<'_>,
    shape: ShapeId,
    complaint: &mut Complaint,
) -> ParseResult<Literal> {
    let (shape, inner) = match *context.module.shapes.get(shape) {
        Shape::Buffer(element) => (element, context.module.shapes.get(element)),
        ref other => (shape, other),
    };
    let array = match inner {
        Shape::Array(array) => array,
        Shape::Token => return Err(bad(cursor.span(), "there are no literals of type `token`")),
        Shape::Opaque => return Err(bad(cursor.span(), "there are no literals of type `opaque`")),
        _ => return Err(bad(cursor.span(), "only buffers of arrays have literals")),
    };
    check_layout(cursor, array)?;
    let data = dense::parse(cursor, array, context.dialect, complaint)?;
    let shape = match literal_shape(array) {
        Some(changed) => context.module.shapes.intern(Shape::Array(changed)),
        None => shape,
    };
    Ok(Literal { shape, data })
}

/// The shape a literal of shape `array` has, `None` if it is the same.
fn literal_shape(array: &ArrayShape) -> Option<ArrayShape> {
    let is_static = |(&dynamic, &size): (&bool, &i64)| !dynamic || size == UNBOUNDED;
    let no_element_size = array.layout.as_ref().is_none_or(|layout| layout.element_size_in_bits == 0);
    if no_element_size && array.dynamic.iter().zip(&array.dimensions).all(is_static) {
        return None;
    }
    let mut changed = array.clone();
    for (dynamic, &size) in changed.dynamic.iter_mut().zip(&changed.dimensions) {
        *dynamic = size == UNBOUNDED;
    }
    if let Some(layout) = &mut changed.layout {
        layout.element_size_in_bits = 0;
    }
    Some(changed)
}

/// Layouts are not checked where shapes are read, but XLA lays literals out, and dies of layouts that make no
/// sense.
fn check_layout(cursor: &Cursor<'_>, array: &ArrayShape) -> ParseResult<()> {
    let Some(layout) = &array.layout else { return Ok(()) };
    match super::shape::layout_fault(array, layout) {
        None => Ok(()),
        Some(fault) => {
            let message = format!("a literal cannot have this layout: {fault}");
            Err(Diagnostic::new(Code::BadLayout, cursor.span(), message).boxed())
        }
    }
}

/// Takes the comma between elements of a tuple; XLA notes that it is missing and goes on.
fn expect_separator(cursor: &mut Cursor<'_>, complaint: &mut Complaint) {
    if let Err(error) = cursor.expect(Token::Comma, "`,` between elements of the tuple") {
        complaint.get_or_insert(error);
    }
}

fn tuple(context: &mut ValueContext<'_>, elements: Vec<Literal>) -> Literal {
    let shapes = elements.iter().map(|element| element.shape).collect();
    Literal { shape: context.module.shapes.intern(Shape::Tuple(shapes)), data: LiteralData::Tuple(elements) }
}

/// Takes a literal with its shape; tuples are kept on a stack of their own.
fn parse_typed(
    cursor: &mut Cursor<'_>,
    context: &mut ValueContext<'_>,
    complaint: &mut Complaint,
) -> ParseResult<Literal> {
    let mut open: Vec<Vec<Literal>> = Vec::new();
    loop {
        let mut literal = None;
        if cursor.token() == Token::LParen {
            if open.len() >= MAX_NESTING_DEPTH {
                return Err(too_deep(cursor.span()));
            }
            cursor.bump();
            open.push(Vec::new());
        } else {
            let shape = super::shape::parse_shape(cursor, context)?;
            literal = Some(parse_of_shape(cursor, context, shape, complaint)?);
        }
        loop {
            let is_end = cursor.token() == Token::RParen;
            match (literal.take(), open.last_mut()) {
                (Some(literal), None) => return Ok(literal),
                (Some(literal), Some(outer)) => {
                    outer.push(literal);
                    if !is_end {
                        expect_separator(cursor, complaint);
                        // After the last element a comma may stand.
                        if cursor.token() != Token::RParen {
                            break;
                        }
                    }
                }
                (None, _) if !is_end => break,
                (None, _) => {}
            }
            cursor.bump();
            let elements = open.pop().unwrap_or_default();
            literal = Some(tuple(context, elements));
        }
    }
}

/// Number of elements of an array that has literals: unbounded dimensions count as empty; `None` if it is
/// beyond `i64`.
fn element_count(array: &ArrayShape) -> Option<i64> {
    if array.dimensions.contains(&UNBOUNDED) { Some(0) } else { array.element_count() }
}

/// Number of rows that an array without elements prints.
fn empty_rows(array: &ArrayShape) -> i64 {
    array.dimensions.iter().take_while(|&&size| size > 0).fold(1, |rows, &size| rows.saturating_mul(size))
}

fn too_large(span: Span, count: i64, what: &str) -> Box<Diagnostic> {
    let message = format!("the shape has {count} {what}; too many to make up");
    Diagnostic::new(Code::TooLarge, span, message)
        .help("write all elements, or `{...}` to leave them out")
        .boxed()
}

/// How much of an array the text has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// All of it, in braces.
    Written,
    /// One value, or none.
    Bare,
    /// `...`
    Elided,
}

/// What the values that were read amount to.
fn finish(
    array: &ArrayShape,
    count: i64,
    bytes: dense::Bytes,
    extent: Extent,
    span: Span,
) -> ParseResult<LiteralData> {
    if count == 0 {
        let rows = empty_rows(array);
        return match extent {
            Extent::Elided if rows > MAX_UNWRITTEN_ROWS => Ok(LiteralData::Elided),
            Extent::Bare if rows > MAX_UNWRITTEN_ROWS => Err(too_large(span, rows, "rows")),
            _ => Ok(LiteralData::Dense(Elements::from_valid(array.element_type, bytes))),
        };
    }
    if extent == Extent::Elided {
        return Ok(LiteralData::Elided);
    }
    let elements = Elements::from_valid(array.element_type, bytes);
    let wanted = usize::try_from(count).unwrap_or(usize::MAX);
    if elements.len() < wanted && wanted > MAX_UNWRITTEN_ELEMENTS {
        return Err(too_large(span, count, "elements"));
    }
    Ok(LiteralData::Dense(elements.followed_by_zeros(wanted)))
}
