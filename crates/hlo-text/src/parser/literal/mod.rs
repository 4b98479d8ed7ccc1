//! Literals: the body of `constant(...)`, whose shape is known, and the typed literals of `literal=`.

mod dense;
mod fast;
#[cfg(test)]
mod tests;

use smallvec::SmallVec;

use super::{MAX_NESTING_DEPTH, ParseResult, ValueContext};
use crate::diagnostic::{Code, Diagnostic, Span};
use crate::ir::{
    ArrayShape, Elements, Layout, Literal, LiteralData, Shape, ShapeId, TileDimension, UNBOUNDED,
};
use crate::lexer::{Cursor, Token};

/// The most bytes that are filled with zeros because the text has fewer elements than the shape: XLA reads
/// `f32[3] constant(1)` as `{1, 0, 0}`. Text that is short must not take much memory.
pub(crate) const MAX_ZERO_FILLED_BYTES: usize = 1 << 28;

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
    let result = parse_of_shape(cursor, context, shape, 0, &mut complaint);
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

/// A tuple whose elements are being read.
struct OpenTuple {
    shapes: Vec<ShapeId>,
    elements: Vec<Literal>,
}

/// Takes a literal of the shape `shape` that stands in `depth` tuples. Tuples nest as deep as their shapes: no
/// recursion.
fn parse_of_shape(
    cursor: &mut Cursor<'_>,
    context: &mut ValueContext<'_>,
    shape: ShapeId,
    depth: usize,
    complaint: &mut Complaint,
) -> ParseResult<Literal> {
    let mut open: SmallVec<[OpenTuple; 1]> = SmallVec::new();
    let mut next = shape;
    loop {
        if depth + open.len() > MAX_NESTING_DEPTH {
            return Err(too_deep(cursor.span()));
        }
        let mut literal = match context.module.shapes.get(next) {
            Shape::Tuple(shapes) => {
                let shapes = shapes.clone();
                cursor.expect(Token::LParen, "`(` and the elements of the tuple")?;
                match shapes.first() {
                    Some(&first) if cursor.token() != Token::RParen => {
                        next = first;
                        open.push(OpenTuple { shapes, elements: Vec::new() });
                        continue;
                    }
                    _ => {}
                }
                close_tuple(cursor, shapes.len())?;
                // `()` makes every element an empty tuple.
                let empty = tuple(context, Vec::new());
                tuple(context, vec![empty; shapes.len()])
            }
            _ => parse_array(cursor, context, next, complaint)?,
        };
        loop {
            let Some(innermost) = open.last_mut() else { return Ok(literal) };
            innermost.elements.push(literal);
            if let Some(&following) = innermost.shapes.get(innermost.elements.len()) {
                expect_separator(cursor, complaint);
                next = following;
                break;
            }
            close_tuple(cursor, innermost.shapes.len())?;
            let elements = std::mem::take(&mut innermost.elements);
            literal = tuple(context, elements);
            open.pop();
        }
    }
}

fn close_tuple(cursor: &mut Cursor<'_>, elements: usize) -> ParseResult<()> {
    if cursor.eat(Token::RParen) {
        return Ok(());
    }
    let mut error = cursor.unexpected("`)`");
    error.message = format!("expected `)` after the {elements} elements of the tuple");
    Err(error)
}

/// Takes a literal whose shape is no tuple.
fn parse_array(
    cursor: &mut Cursor<'_>,
    context: &mut ValueContext<'_>,
    shape: ShapeId,
    complaint: &mut Complaint,
) -> ParseResult<Literal> {
    let (shape, array) = match context.module.shapes.get(shape) {
        Shape::Array(array) => (shape, array),
        &Shape::Buffer(element) => match context.module.shapes.get(element) {
            Shape::Array(array) => (element, array),
            _ => return Err(bad(cursor.span(), "only buffers of arrays have literals")),
        },
        Shape::Tuple(_) => return Err(cursor.unexpected("an array")),
        Shape::Token => return Err(bad(cursor.span(), "there are no literals of type `token`")),
        Shape::Opaque => return Err(bad(cursor.span(), "there are no literals of type `opaque`")),
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
    match layout_fault(array, layout) {
        None => Ok(()),
        Some(fault) => {
            let message = format!("a literal cannot have this layout: {fault}");
            Err(Diagnostic::new(Code::BadLayout, cursor.span(), message).boxed())
        }
    }
}

fn layout_fault(array: &ArrayShape, layout: &Layout) -> Option<&'static str> {
    let rank = array.rank();
    if !is_permutation(&layout.minor_to_major, rank) {
        return Some("its dimensions are not each of the shape's once");
    }
    if layout.index_type.is_some() || layout.pointer_type.is_some() {
        return Some("index and pointer types are for sparse arrays");
    }
    let is_bad_tile = |tile: &Vec<TileDimension>| {
        tile.is_empty() || tile.iter().any(|size| matches!(size, TileDimension::Size(size) if *size < 1))
    };
    if layout.tiles.iter().any(is_bad_tile) {
        return Some("a tile must have dimensions, and sizes of at least 1");
    }
    if layout.element_size_in_bits < 0 {
        return Some("the element size is negative");
    }
    for (position, split) in layout.split_configs.iter().enumerate() {
        // Splits count dimensions from the slowest varying one.
        let logical = usize::try_from(split.dimension)
            .ok()
            .and_then(|dimension| layout.minor_to_major.iter().rev().nth(dimension))
            .and_then(|&dimension| array.dimensions.get(usize::try_from(dimension).ok()?));
        let Some(&size) = logical else {
            return Some("a split is of a dimension that the shape doesn't have");
        };
        if layout.split_configs[..position].iter().any(|other| other.dimension == split.dimension) {
            return Some("a dimension has two splits");
        }
        let mut previous = 0;
        for &index in &split.indices {
            if index <= previous || index >= size {
                return Some("split indices must increase, within the dimension");
            }
            previous = index;
        }
    }
    None
}

fn is_permutation(entries: &[i64], rank: usize) -> bool {
    let is_default = entries.iter().rev().enumerate().all(|(index, &entry)| entry == index as i64);
    if entries.len() != rank {
        return false;
    }
    if is_default {
        return true;
    }
    let mut seen = vec![false; rank];
    entries.iter().all(|&entry| {
        let slot = usize::try_from(entry).ok().and_then(|entry| seen.get_mut(entry));
        slot.is_some_and(|slot| !std::mem::replace(slot, true))
    })
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

fn parse_typed(
    cursor: &mut Cursor<'_>,
    context: &mut ValueContext<'_>,
    complaint: &mut Complaint,
) -> ParseResult<Literal> {
    // The elements so far of each tuple that is open.
    let mut open: Vec<Vec<Literal>> = Vec::new();
    loop {
        if open.len() > MAX_NESTING_DEPTH {
            return Err(too_deep(cursor.span()));
        }
        let mut literal = if cursor.token() != Token::LParen {
            let shape = super::shape::parse_shape(cursor, context)?;
            parse_of_shape(cursor, context, shape, open.len(), complaint)?
        } else {
            cursor.bump();
            if cursor.token() != Token::RParen {
                open.push(Vec::new());
                continue;
            }
            cursor.bump();
            tuple(context, Vec::new())
        };
        loop {
            let Some(innermost) = open.last_mut() else { return Ok(literal) };
            innermost.push(literal);
            if cursor.token() != Token::RParen {
                expect_separator(cursor, complaint);
            }
            if !cursor.eat(Token::RParen) {
                break;
            }
            let elements = std::mem::take(innermost);
            literal = tuple(context, elements);
            open.pop();
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
    mut bytes: dense::Bytes,
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
    let size = array.element_type.storage_bytes();
    if bytes.len() as i64 / size as i64 != count {
        let wanted = usize::try_from(count).ok().and_then(|count| count.checked_mul(size));
        let Some(wanted) = wanted.filter(|&wanted| wanted <= MAX_ZERO_FILLED_BYTES) else {
            return Err(too_large(span, count, "elements"));
        };
        bytes.resize(wanted, 0);
    }
    Ok(LiteralData::Dense(Elements::from_valid(array.element_type, bytes)))
}
