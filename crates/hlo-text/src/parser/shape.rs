//! Shapes and layouts: `f32[2,<=3,?]{2,1,0:T(8,128)S(1)}`, `(s32[], token[])`, `b(f32[2])`.

use smallvec::SmallVec;

use super::{Dialect, MAX_NESTING_DEPTH, ParseResult, ValueContext};
use crate::diagnostic::{Code, Diagnostic, Span};
use crate::ir::{
    ArrayShape, ElementClass, ElementType, Layout, Shape, ShapeId, SplitConfig, TileDimension, UNBOUNDED,
};
use crate::lexer::{Cursor, Token};

/// Whether a shape begins at the current token.
pub(crate) fn at_shape(cursor: &Cursor<'_>) -> bool {
    match cursor.token() {
        Token::Type(_) | Token::LParen => true,
        Token::Ident => cursor.text() == "b" && cursor.peek() == Token::LParen,
        _ => false,
    }
}

/// How deeply physical shapes (`P(...)` in a layout) may stand in each other.
const MAX_PHYSICAL_NESTING: usize = 16;

/// Takes a shape.
pub(crate) fn parse_shape(cursor: &mut Cursor<'_>, context: &mut ValueContext<'_>) -> ParseResult<ShapeId> {
    parse_in_layout(cursor, context, 0)
}

/// A tuple or buffer that has been opened.
enum Open {
    /// With its elements so far.
    Tuple(Vec<ShapeId>),
    /// With its first byte.
    Buffer(usize),
}

/// Takes a shape that stands in `physical` layouts. Tuples nest as deep as the text has it: no recursion.
fn parse_in_layout(
    cursor: &mut Cursor<'_>,
    context: &mut ValueContext<'_>,
    physical: usize,
) -> ParseResult<ShapeId> {
    let mut open: SmallVec<[Open; 2]> = SmallVec::new();
    loop {
        if open.len() > MAX_NESTING_DEPTH || physical > MAX_PHYSICAL_NESTING {
            let message = match physical {
                0 => format!("tuple shapes are nested more than {MAX_NESTING_DEPTH} levels deep"),
                _ => format!("physical shapes are nested more than {MAX_PHYSICAL_NESTING} levels deep"),
            };
            return Err(Diagnostic::new(Code::TooDeep, cursor.span(), message).boxed());
        }
        let mut done = match cursor.token() {
            Token::Type(element_type) => {
                let start = cursor.start();
                cursor.bump();
                let shape = parse_array(cursor, context, element_type, start, physical)?;
                context.module.shapes.intern(shape)
            }
            Token::LParen => {
                cursor.bump();
                if cursor.token() != Token::RParen {
                    open.push(Open::Tuple(Vec::new()));
                    continue;
                }
                cursor.bump();
                context.module.shapes.intern(Shape::Tuple(Vec::new()))
            }
            Token::Ident if at_shape(cursor) => {
                open.push(Open::Buffer(cursor.start()));
                cursor.bump();
                cursor.bump();
                continue;
            }
            _ => return Err(no_shape(cursor)),
        };
        // Closes what ends here.
        loop {
            match open.last_mut() {
                None => return Ok(done),
                Some(Open::Tuple(elements)) => {
                    elements.push(done);
                    if cursor.eat(Token::Comma) {
                        break;
                    }
                    if cursor.token() == Token::RParen {
                        check_element_layouts(cursor, context, elements)?;
                    }
                    cursor.expect(Token::RParen, "`,` or `)` in the tuple shape")?;
                    done = context.module.shapes.intern(Shape::Tuple(std::mem::take(elements)));
                }
                Some(Open::Buffer(start)) => {
                    cursor.expect(Token::RParen, "`)` after the shape of the buffer")?;
                    if context.module.shape(done).as_array().is_none() {
                        let span = Span::new(*start, cursor.previous_end());
                        let message = "a buffer must be of an array shape";
                        return Err(Diagnostic::new(Code::BadShape, span, message).boxed());
                    }
                    done = context.module.shapes.intern(Shape::Buffer(done));
                }
            }
            open.pop();
        }
    }
}

/// What is wrong with a layout, if anything. XLA looks where it makes literals and tuples, and nowhere else.
pub(crate) fn layout_fault(array: &ArrayShape, layout: &Layout) -> Option<&'static str> {
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

/// XLA validates the layouts of a tuple's elements (and only of those) when it reads a shape.
fn check_element_layouts(
    cursor: &Cursor<'_>,
    context: &ValueContext<'_>,
    elements: &[ShapeId],
) -> ParseResult<()> {
    for (index, &element) in elements.iter().enumerate() {
        let array = match context.module.shape(element) {
            Shape::Array(array) => array,
            &Shape::Buffer(inner) => match context.module.shape(inner) {
                Shape::Array(array) => array,
                _ => continue,
            },
            _ => continue,
        };
        if let Some(fault) = array.layout.as_ref().and_then(|layout| layout_fault(array, layout)) {
            let message = format!("element {index} of the tuple cannot have its layout: {fault}");
            return Err(Diagnostic::new(Code::BadLayout, cursor.span(), message).boxed());
        }
    }
    Ok(())
}

fn no_shape(cursor: &Cursor<'_>) -> Box<Diagnostic> {
    let mut error = cursor.unexpected("a shape");
    error.code = Code::BadShape;
    if cursor.token() == Token::Ident {
        let types = ElementType::ALL.iter().map(|element_type| element_type.name());
        if let Some(close) = crate::diagnostic::did_you_mean(cursor.text(), types) {
            error.help = Some(format!("did you mean `{close}`?"));
        }
    }
    error
}

/// Takes what follows an element type.
fn parse_array(
    cursor: &mut Cursor<'_>,
    context: &mut ValueContext<'_>,
    element_type: ElementType,
    start: usize,
    physical: usize,
) -> ParseResult<Shape> {
    let mut dimensions = Vec::new();
    let mut dynamic = Vec::new();
    cursor.expect(Token::LSquare, "`[` and the dimensions")?;
    if cursor.token() != Token::RSquare {
        loop {
            let (size, is_dynamic) = parse_dimension(cursor)?;
            dimensions.push(size);
            dynamic.push(is_dynamic);
            if !cursor.eat(Token::Comma) {
                break;
            }
        }
    }
    cursor.expect(Token::RSquare, "`,` or `]` after a dimension")?;
    let layout = match at_layout(cursor) {
        true => Some(parse_layout(cursor, context, dimensions.len(), physical)?),
        false => None,
    };
    if element_type.class() == ElementClass::NotArray {
        if !dimensions.is_empty() || layout.is_some() {
            let span = Span::new(start, cursor.previous_end());
            let message = format!("`{}` has neither dimensions nor a layout", element_type.name());
            return Err(Diagnostic::new(Code::BadShape, span, message)
                .help(format!("write `{}[]`", element_type.name()))
                .boxed());
        }
        return Ok(if element_type == ElementType::Token { Shape::Token } else { Shape::Opaque });
    }
    let layout = layout.unwrap_or_else(|| Layout::default_for_rank(dimensions.len()));
    Ok(Shape::Array(ArrayShape { element_type, dimensions, dynamic, layout: Some(layout) }))
}

/// Takes `3`, `<=3` or `?`: the size and whether it is dynamic.
fn parse_dimension(cursor: &mut Cursor<'_>) -> ParseResult<(i64, bool)> {
    if cursor.eat(Token::Question) {
        return Ok((UNBOUNDED, true));
    }
    let is_dynamic = cursor.eat(Token::Leq);
    let span = cursor.span();
    if cursor.token() != Token::Int {
        return Err(cursor.unexpected("a dimension: a size, `<=` and a bound, or `?`"));
    }
    let size = cursor.int()?;
    if size < 0 {
        return Err(Diagnostic::new(Code::BadShape, span, "a dimension must not be negative").boxed());
    }
    Ok((size, is_dynamic))
}

/// Whether the `{` at the current token opens a layout: only if an integer or `:` follows.
pub(crate) fn at_layout(cursor: &Cursor<'_>) -> bool {
    cursor.token() == Token::LBrace && matches!(cursor.peek(), Token::Int | Token::Colon)
}

/// The part of a layout that stands after the colon, being read. XLA notes faults inside the fields and goes
/// on; they only count when the closing brace is not found then.
struct FieldReader<'c, 's> {
    cursor: &'c mut Cursor<'s>,
    dialect: Dialect,
    complaint: Option<Box<Diagnostic>>,
}

impl FieldReader<'_, '_> {
    fn complain(&mut self, what: &str) {
        if self.complaint.is_none() {
            self.complaint = Some(self.cursor.unexpected(what));
        }
    }

    /// Takes `token` if it is there and complains otherwise.
    fn want(&mut self, token: Token, what: &str) -> bool {
        let found = self.cursor.eat(token);
        if !found {
            self.complain(what);
        }
        found
    }

    /// Takes an integer if there is one and complains otherwise.
    fn int(&mut self) -> Option<i64> {
        if self.cursor.token() != Token::Int {
            self.complain("an integer");
            return None;
        }
        let value = self.cursor.int_value();
        self.cursor.bump();
        Some(value)
    }

    /// Takes the field's letters if they are there.
    fn letters(&mut self, letters: &str) -> bool {
        let found = self.cursor.token() == Token::Ident && self.cursor.text() == letters;
        if found {
            self.cursor.bump();
        }
        found
    }

    /// Takes `X(n)`.
    fn int_field(&mut self, letters: &str) -> Option<i64> {
        if !self.letters(letters) {
            return None;
        }
        self.want(Token::LParen, "`(`");
        let value = self.int();
        if value.is_some() {
            self.want(Token::RParen, "`)`");
        }
        value
    }

    /// Takes `#(u8)` or `*(u8)`; types other than integers become invalid, as in XLA.
    fn type_field(&mut self, sign: Token) -> Option<Option<ElementType>> {
        if !self.cursor.eat(sign) {
            return None;
        }
        self.want(Token::LParen, "`(`");
        // XLA prints this for types that it should not have read.
        if self.dialect == Dialect::Lenient && self.letters("invalid") {
            self.want(Token::RParen, "`)`");
            return Some(None);
        }
        let Token::Type(element_type) = self.cursor.token() else {
            self.complain("an unsigned integer type");
            return None;
        };
        if element_type.class() != ElementClass::Unsigned {
            self.complain("an unsigned integer type");
        }
        self.cursor.bump();
        self.want(Token::RParen, "`)`");
        Some(element_type.is_integer().then_some(element_type))
    }

    /// Takes `T(8,128)(2,1)`; `None` after a fault that XLA dies of.
    fn tiles(&mut self) -> ParseResult<Vec<Vec<TileDimension>>> {
        let mut tiles = Vec::new();
        if !self.letters("T") {
            return Ok(tiles);
        }
        // A fault ends the tiles: what follows must be the next field, or the end of the layout.
        while self.want(Token::LParen, "`(` and the dimensions of a tile") {
            let mut tile = Vec::new();
            let mut is_good = true;
            while is_good && (self.cursor.token() != Token::RParen || !tile.is_empty()) {
                let span = self.cursor.span();
                if self.cursor.eat(Token::Asterisk) {
                    tile.push(TileDimension::Combine);
                } else if self.cursor.token() != Token::Int {
                    self.complain("a tile dimension");
                    is_good = false;
                    break;
                } else {
                    match self.int() {
                        Some(UNBOUNDED) => tile.push(TileDimension::Combine),
                        Some(size) if size >= 0 => tile.push(TileDimension::Size(size)),
                        _ => {
                            let message = "a tile dimension must not be negative";
                            return Err(Diagnostic::new(Code::BadLayout, span, message)
                                .help("write `*` to combine a dimension with the next")
                                .boxed());
                        }
                    }
                }
                if !self.cursor.eat(Token::Comma) {
                    break;
                }
            }
            tiles.push(tile);
            let is_closed = is_good && self.want(Token::RParen, "`,` or `)` in a tile");
            if !is_closed || self.cursor.token() != Token::LParen {
                break;
            }
        }
        // `T` without a tile is an empty one.
        if tiles.is_empty() {
            tiles.push(Vec::new());
        }
        Ok(tiles)
    }

    /// Takes `D(D+~,C)`, which XLA reads and drops.
    fn dimension_level_types(&mut self) {
        if !self.letters("D") {
            return;
        }
        self.want(Token::LParen, "`(`");
        loop {
            if !["D", "C", "S", "H"].into_iter().any(|letters| self.letters(letters)) {
                self.complain("a dimension level type: D, C, S or H");
                return;
            }
            self.cursor.eat(Token::Plus);
            self.cursor.eat(Token::Tilde);
            if !self.cursor.eat(Token::Comma) {
                break;
            }
        }
        self.want(Token::RParen, "`,` or `)`");
    }

    /// Takes `SC(0:1,2)(1:3)`.
    fn split_configs(&mut self) -> Vec<SplitConfig> {
        let mut configs = Vec::new();
        if !self.letters("SC") {
            return configs;
        }
        loop {
            self.want(Token::LParen, "`(` and a split");
            let Some(dimension) = self.int() else { return configs };
            let mut indices = Vec::new();
            self.want(Token::Colon, "`:` and the split indices");
            if self.cursor.token() == Token::Int {
                while let Some(index) = self.int() {
                    indices.push(index);
                    if !self.cursor.eat(Token::Comma) {
                        break;
                    }
                }
            }
            configs.push(SplitConfig { dimension, indices });
            self.want(Token::RParen, "`,` or `)` in a split");
            if self.cursor.token() != Token::LParen {
                return configs;
            }
        }
    }
}

/// Takes a layout; the current token is its `{`.
pub(crate) fn parse_layout(
    cursor: &mut Cursor<'_>,
    context: &mut ValueContext<'_>,
    rank: usize,
    physical: usize,
) -> ParseResult<Layout> {
    let start = cursor.start();
    let mut layout = Layout { tail_padding_alignment: 1, ..Layout::default() };
    cursor.bump();
    if cursor.token() == Token::Int {
        loop {
            layout.minor_to_major.push(cursor.int()?);
            if !cursor.eat(Token::Comma) {
                break;
            }
        }
    }
    let mut complaint = None;
    if cursor.eat(Token::Colon) {
        complaint = parse_fields(cursor, context, &mut layout, physical)?;
    }
    if cursor.token() != Token::RBrace {
        let mut error = complaint.unwrap_or_else(|| cursor.unexpected("`}` after the layout"));
        error.code = Code::BadLayout;
        if error.help.is_none() {
            error.help = Some("fields come in the order D T L # * E S SC M, each at most once".to_owned());
        }
        return Err(error);
    }
    cursor.bump();
    let entries = layout.minor_to_major.len();
    if entries != rank {
        let message = format!("the layout has {entries} dimensions, but the shape has {rank}");
        return Err(Diagnostic::new(Code::BadLayout, cursor.span(), message)
            .also(Span::new(start, cursor.previous_end()), format!("{entries} dimensions here"))
            .boxed());
    }
    Ok(layout)
}

fn parse_fields(
    cursor: &mut Cursor<'_>,
    context: &mut ValueContext<'_>,
    layout: &mut Layout,
    physical: usize,
) -> ParseResult<Option<Box<Diagnostic>>> {
    let mut reader = FieldReader { cursor, dialect: context.dialect, complaint: None };
    reader.dimension_level_types();
    layout.tiles = reader.tiles()?;
    let alignment_at = reader.cursor.span();
    if let Some(alignment) = reader.int_field("L") {
        if alignment < 1 {
            let message = "the tail padding alignment must be at least 1";
            return Err(Diagnostic::new(Code::BadLayout, alignment_at, message).boxed());
        }
        layout.tail_padding_alignment = alignment;
    }
    layout.index_type = reader.type_field(Token::Octothorp);
    layout.pointer_type = reader.type_field(Token::Asterisk);
    layout.element_size_in_bits = reader.int_field("E").unwrap_or(0);
    layout.memory_space = reader.int_field("S").unwrap_or(0);
    layout.split_configs = reader.split_configs();
    if reader.letters("P") {
        reader.want(Token::LParen, "`(`");
        parse_in_layout(reader.cursor, context, physical + 1)?;
        reader.want(Token::RParen, "`)`");
        reader.cursor.eat(Token::RBrace);
        let message = "a physical shape is only for sparse arrays, which HLO text cannot describe";
        return Err(Diagnostic::new(Code::BadLayout, reader.cursor.span(), message).boxed());
    }
    layout.dynamic_shape_metadata_prefix_bytes = reader.int_field("M").unwrap_or(0).max(0);
    Ok(reader.complaint)
}
