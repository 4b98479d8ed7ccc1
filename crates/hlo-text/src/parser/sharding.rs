//! `sharding=`: replicated, tiles, meshes, tuples of them.

use super::mesh::{AxisNames, MeshReader, dialect_warning, int_sequence};
use super::metadata::parse_metadata;
use super::{Dialect, ParseResult, ValueContext};
use crate::diagnostic::{Code, Diagnostic, Span};
use crate::ir::{
    DimensionSharding, Mesh, Metadata, NamedSharding, ShardGroup, Sharding, ShardingKind, SingleSharding,
    SubgroupType, TileAssignment,
};
use crate::lexer::{Cursor, Keyword, Token};

/// The sharding at the cursor, right after `sharding=`. A tuple-shaped instruction repeats a single one with
/// [`Sharding::repeat_for_leaves`].
pub(crate) fn parse_sharding(
    cursor: &mut Cursor<'_>,
    context: &mut ValueContext<'_>,
) -> ParseResult<Sharding> {
    let mut reader = MeshReader::new(cursor, Code::BadSharding);
    let result = sharding(cursor, context, &mut reader);
    reader.finish(result, context.dialect)
}

fn sharding(
    cursor: &mut Cursor<'_>,
    context: &mut ValueContext<'_>,
    reader: &mut MeshReader,
) -> ParseResult<Sharding> {
    cursor.expect(Token::LBrace, "`{` and a sharding")?;
    if !matches!(cursor.token(), Token::LBrace | Token::RBrace) {
        return single(cursor, context, reader).map(Sharding::Single);
    }
    let mut elements = Vec::new();
    if cursor.token() == Token::LBrace {
        loop {
            cursor.expect(Token::LBrace, "`{` and the sharding of a tuple element")?;
            elements.push(single(cursor, context, reader)?);
            if !cursor.eat(Token::Comma) {
                break;
            }
        }
    }
    cursor.expect(Token::RBrace, "`,` or `}` after the sharding of a tuple element")?;
    Ok(Sharding::Tuple(elements))
}

/// A sharding of an array, after its `{`.
fn single(
    cursor: &mut Cursor<'_>,
    context: &mut ValueContext<'_>,
    reader: &mut MeshReader,
) -> ParseResult<SingleSharding> {
    match reader.mesh(cursor, context)? {
        Some(mesh) => named(cursor, context, reader, mesh),
        None => words(cursor, context, reader),
    }
}

/// What has been read of a sharding without mesh. Words may come in any order and repeatedly; what they say
/// together is looked at when all have been read.
#[derive(Default)]
struct Words {
    replicated: bool,
    maximal: bool,
    manual: bool,
    unknown: bool,
    unreduced: bool,
    last_tile_dim_replicate: bool,
    shard_as: bool,
    shard_like: bool,
    group: i64,
    devices: Vec<i64>,
    dimensions: Vec<i64>,
    reshape: Vec<i64>,
    permutation: Vec<u32>,
    subgroups: Vec<SubgroupType>,
    metadata: Vec<Metadata>,
}

fn words(
    cursor: &mut Cursor<'_>,
    context: &mut ValueContext<'_>,
    reader: &mut MeshReader,
) -> ParseResult<SingleSharding> {
    let first = cursor.span();
    let mut words = Words::default();
    loop {
        match cursor.token() {
            Token::RBrace => break,
            Token::AttrName => {
                word_with_value(cursor, context, reader, &mut words)?;
                continue;
            }
            Token::Keyword(keyword) => match keyword {
                Keyword::Replicated => words.replicated = true,
                Keyword::Maximal => words.maximal = true,
                Keyword::Manual => words.manual = true,
                Keyword::Unknown => words.unknown = true,
                Keyword::Unreduced => words.unreduced = true,
                Keyword::LastTileDimReplicate => words.last_tile_dim_replicate = true,
                Keyword::ShardAs | Keyword::ShardLike => {
                    words.shard_as |= keyword == Keyword::ShardAs;
                    words.shard_like |= keyword == Keyword::ShardLike;
                    cursor.bump();
                    words.group = cursor.int()?;
                    continue;
                }
                _ => return Err(unexpected_word(cursor)),
            },
            _ => return Err(unexpected_word(cursor)),
        }
        cursor.bump();
    }
    let span = Span::new(first.start as usize, cursor.end());
    let kind = words.kind(context, reader, first, span)?;
    cursor.bump();
    let shard_group = (words.shard_as || words.shard_like)
        .then_some(ShardGroup { exactly: words.shard_as, id: words.group });
    Ok(SingleSharding { kind, shard_group, metadata: words.metadata })
}

fn unexpected_word(cursor: &Cursor<'_>) -> Box<Diagnostic> {
    let error = cursor.unexpected(
        "`replicated`, `manual`, `maximal device=N`, `devices=[...]` or another word of a sharding",
    );
    match cursor.token() {
        Token::Comma => Box::new(error.help("words of a sharding are separated by blanks")),
        _ => error,
    }
}

/// `device=`, `devices=`, `metadata=` or `last_tile_dims=`.
fn word_with_value(
    cursor: &mut Cursor<'_>,
    context: &mut ValueContext<'_>,
    reader: &MeshReader,
    words: &mut Words,
) -> ParseResult<()> {
    match cursor.word() {
        "device" => {
            cursor.bump();
            words.devices = vec![cursor.int()?];
        }
        "devices" => {
            cursor.bump();
            cursor.expect(Token::LSquare, "`[` and the dimensions of the tile assignment")?;
            words.dimensions.append(&mut int_sequence(cursor)?);
            cursor.expect(Token::RSquare, "`,` or `]` in the dimensions of the tile assignment")?;
            if cursor.eat(Token::Leq) {
                let mut iota = reader.iota(cursor)?;
                words.reshape.append(&mut iota.reshape);
                words.permutation.append(&mut iota.permutation);
            } else {
                words.devices.append(&mut int_sequence(cursor)?);
            }
        }
        "metadata" => {
            cursor.bump();
            metadata_list(cursor, context, reader, &mut words.metadata)?;
        }
        "last_tile_dims" => {
            cursor.bump();
            cursor.expect(Token::LBrace, "`{` and types of subgroups")?;
            if cursor.token() != Token::RBrace {
                loop {
                    words.subgroups.push(subgroup_type(cursor, reader)?);
                    if !cursor.eat(Token::Comma) {
                        break;
                    }
                }
            }
            cursor.expect(Token::RBrace, "`,` or `}` in the types of subgroups")?;
        }
        _ => return Err(cursor.unexpected("`device=`, `devices=`, `last_tile_dims=` or `metadata=`")),
    }
    Ok(())
}

fn subgroup_type(cursor: &mut Cursor<'_>, reader: &MeshReader) -> ParseResult<SubgroupType> {
    let found = SubgroupType::ALL.into_iter().find(|subgroup| subgroup.name() == cursor.text());
    let Some(subgroup) = found.filter(|_| matches!(cursor.token(), Token::Keyword(_))) else {
        let message = "a subgroup is `maximal`, `manual`, `unreduced` or `replicated`";
        return Err(reader.silent_error(cursor.span(), message));
    };
    cursor.bump();
    Ok(subgroup)
}

/// `{...}` or `{{...}, {...}}`, added to `list`.
fn metadata_list(
    cursor: &mut Cursor<'_>,
    context: &mut ValueContext<'_>,
    reader: &MeshReader,
    list: &mut Vec<Metadata>,
) -> ParseResult<()> {
    if cursor.token() != Token::LBrace || cursor.peek() != Token::LBrace {
        list.push(parse_metadata(cursor, context, reader.key())?);
        return Ok(());
    }
    cursor.bump();
    loop {
        list.push(parse_metadata(cursor, context, reader.key())?);
        if !cursor.eat(Token::Comma) {
            break;
        }
    }
    cursor.expect(Token::RBrace, "`,` or `}` in the list of metadata")
}

impl Words {
    /// What the words say. `first` is the first of them, where XLA points; `span` is all of them.
    fn kind(
        &mut self,
        context: &mut ValueContext<'_>,
        reader: &MeshReader,
        first: Span,
        span: Span,
    ) -> ParseResult<ShardingKind> {
        let whole = [
            (self.replicated, ShardingKind::Replicated, "replicated"),
            (self.manual, ShardingKind::Manual, "manual"),
            (self.unknown, ShardingKind::Unknown, "unknown"),
            (self.unreduced, ShardingKind::Unreduced, "unreduced"),
        ];
        if self.maximal && !self.replicated {
            let [device] = self.devices[..] else {
                let message = format!("`maximal` needs one device, not {}", self.devices.len());
                return Err(Box::new(reader.error(first, message).help("write `{maximal device=0}`")));
            };
            return Ok(ShardingKind::Maximal(device));
        }
        if let Some((_, kind, name)) = whole.into_iter().find(|(given, ..)| *given) {
            if !self.devices.is_empty() {
                return Err(reader.error(first, format!("`{name}` takes no devices")));
            }
            return Ok(kind);
        }
        if self.dimensions.is_empty() {
            let message = "the sharding says neither `replicated`, `manual` and so on nor `devices=[...]`";
            return Err(reader.error(first, message));
        }
        let dimensions = std::mem::take(&mut self.dimensions);
        let assignment = if self.permutation.is_empty() {
            self.listed(context, reader, first, span, dimensions)?
        } else {
            if !self.devices.is_empty() {
                return Err(reader.error(first, "the devices are given twice: by `<=[...]` and as a list"));
            }
            if self.permutation.len() != self.reshape.len() {
                let message = format!(
                    "there are {} reshape dimensions, but the permutation has {} entries",
                    self.reshape.len(),
                    self.permutation.len()
                );
                return Err(reader.error(first, message));
            }
            let (reshape, permutation) =
                (std::mem::take(&mut self.reshape), std::mem::take(&mut self.permutation));
            let iota = crate::ir::Iota::new(reshape, permutation);
            TileAssignment::iota(dimensions, iota.map_err(|error| reader.tile_error(first, error))?)
        };
        let mut subgroups = std::mem::take(&mut self.subgroups);
        if self.last_tile_dim_replicate {
            if !subgroups.is_empty() {
                let message = "`last_tile_dim_replicate` and `last_tile_dims` exclude each other";
                let error = reader.error(first, message);
                return Err(Box::new(error.help("write `last_tile_dims={..., replicated}`")));
            }
            subgroups.push(SubgroupType::Replicated);
        }
        ShardingKind::tiled(assignment, &subgroups).map_err(|error| reader.tile_error(first, error))
    }

    /// The tile assignment whose devices are listed.
    fn listed(
        &mut self,
        context: &mut ValueContext<'_>,
        reader: &MeshReader,
        first: Span,
        span: Span,
        dimensions: Vec<i64>,
    ) -> ParseResult<TileAssignment> {
        let given = self.devices.len();
        if given <= 1 {
            let error = reader.error(first, "a tiled sharding needs more than one device");
            return Err(Box::new(error.help("one device alone is `{maximal device=0}`")));
        }
        let devices = std::mem::take(&mut self.devices);
        let assignment = TileAssignment::list(dimensions, devices);
        let assignment = assignment.map_err(|error| reader.tile_error(first, error))?;
        let places = assignment.device_count().unwrap_or(0);
        if places != given as i64 {
            let message = format!(
                "the tile assignment has {places} places, but only {given} devices; XLA puts device 0 in the others"
            );
            context.warnings.push(Diagnostic::new(Code::BadSharding, span, message).warning());
        }
        Ok(assignment)
    }
}

/// A sharding over a mesh, after the mesh.
fn named(
    cursor: &mut Cursor<'_>,
    context: &mut ValueContext<'_>,
    reader: &mut MeshReader,
    mesh: Mesh,
) -> ParseResult<SingleSharding> {
    let mut named = NamedSharding::replicated_over(mesh);
    let mut metadata = Vec::new();
    let names = named.mesh.axis_indices().unwrap_or_default();
    let start = cursor.start();
    let is_maximal = named.mesh.is_maximal();
    if !is_maximal {
        cursor.eat(Token::Comma);
    }
    let word = match cursor.token() {
        _ if is_maximal => None,
        Token::Keyword(Keyword::Replicated | Keyword::Manual | Keyword::Unreduced) => Some(cursor.text()),
        // `unreduced=max`
        Token::AttrName if context.dialect == Dialect::Lenient && cursor.word() == "unreduced" => {
            Some("unreduced")
        }
        _ => None,
    };
    match word {
        Some(word) => whole_mesh(cursor, context, reader, &names, word, &mut named)?,
        None if is_maximal => {}
        None => {
            cursor.expect(Token::LSquare, "`replicated`, `manual`, `unreduced` or `[` and the dimensions")?;
            if cursor.token() != Token::RSquare {
                loop {
                    let dimension = dimension(cursor, context, reader, &named.mesh, &names)?;
                    named.dimensions.push(dimension);
                    if !cursor.eat(Token::Comma) {
                        break;
                    }
                }
            }
            cursor.expect(Token::RSquare, "`,` or `]` after the sharding of a dimension")?;
        }
    }
    if word.is_some() || is_maximal {
        if cursor.eat(Token::Comma) {
            if cursor.token() != Token::AttrName {
                return Err(cursor.unexpected("`metadata=`"));
            }
            if cursor.word() != "metadata" {
                let message = format!("only `metadata=` may follow here, not `{}`", cursor.text());
                return Err(reader.silent_error(cursor.span(), message));
            }
            cursor.bump();
            metadata_list(cursor, context, reader, &mut metadata)?;
        }
        cursor.expect(Token::RBrace, "`}` at the end of the sharding")?;
    } else {
        sections(cursor, context, reader, &names, &mut named, &mut metadata)?;
    }
    let span = Span::new(start, cursor.previous_end());
    check(context, reader, span, &named)?;
    Ok(SingleSharding { kind: ShardingKind::Named(Box::new(named)), shard_group: None, metadata })
}

/// `replicated`, `manual`, `unreduced`, and newer XLA's `unreduced=max{'x'}`.
fn whole_mesh(
    cursor: &mut Cursor<'_>,
    context: &mut ValueContext<'_>,
    reader: &MeshReader,
    names: &AxisNames,
    word: &str,
    named: &mut NamedSharding,
) -> ParseResult<()> {
    let span = cursor.span();
    let has_reduction = cursor.token() == Token::AttrName;
    cursor.bump();
    if word == "unreduced" {
        if has_reduction {
            reduction(cursor, context, named)?;
        }
        if context.dialect == Dialect::Lenient && (has_reduction || cursor.token() == Token::LBrace) {
            let message = "jaxlib 0.10.2 writes `[], unreduced={...}`";
            dialect_warning(context, span, message);
            if cursor.token() == Token::LBrace {
                named.unreduced = reader.axis_list(cursor, context, &named.mesh, names)?;
                return Ok(());
            }
        }
    }
    if word == "replicated" {
        return Ok(());
    }
    if named.mesh.axes.is_empty() {
        return Err(reader.error(span, format!("`{word}` needs a mesh with axes")));
    }
    let all = (0..named.mesh.axes.len() as u32).map(|axis| crate::ir::AxisRef { axis, sub_axis: None });
    match word {
        "manual" => named.manual = all.collect(),
        _ => named.unreduced = all.collect(),
    }
    Ok(())
}

/// `max`, how newer XLA versions combine summands.
fn reduction(
    cursor: &mut Cursor<'_>,
    context: &mut ValueContext<'_>,
    named: &mut NamedSharding,
) -> ParseResult<()> {
    if cursor.token() != Token::Ident {
        return Err(cursor.unexpected("a reduction such as `max`, or `{` and names of axes"));
    }
    named.reduction = Some(context.module.strings_mut().intern(cursor.text().as_bytes()));
    cursor.bump();
    Ok(())
}

/// `{'x', 'y', ?}`
fn dimension(
    cursor: &mut Cursor<'_>,
    context: &mut ValueContext<'_>,
    reader: &MeshReader,
    mesh: &Mesh,
    names: &AxisNames,
) -> ParseResult<DimensionSharding> {
    let mut dimension = DimensionSharding::default();
    cursor.expect(Token::LBrace, "`{` and the axes of a dimension")?;
    if cursor.token() != Token::RBrace {
        loop {
            if dimension.is_open {
                return Err(cursor.unexpected("`}`: nothing may follow `?`"));
            }
            if cursor.eat(Token::Question) {
                dimension.is_open = true;
            } else {
                dimension.axes.push(reader.axis(cursor, context, mesh, names)?);
            }
            if !cursor.eat(Token::Comma) {
                break;
            }
        }
    }
    cursor.expect(Token::RBrace, "`,` or `}` in the axes of a dimension")?;
    Ok(dimension)
}

/// `, replicated={...}, unreduced={...}, manual={...}, metadata={...}` in any order, and the closing brace.
fn sections(
    cursor: &mut Cursor<'_>,
    context: &mut ValueContext<'_>,
    reader: &MeshReader,
    names: &AxisNames,
    named: &mut NamedSharding,
    metadata: &mut Vec<Metadata>,
) -> ParseResult<()> {
    while !cursor.eat(Token::RBrace) {
        cursor.expect(Token::Comma, "`,` or `}` in the sharding")?;
        if cursor.token() != Token::AttrName {
            return Err(cursor.unexpected("`replicated=`, `unreduced=`, `manual=` or `metadata=`"));
        }
        let key = cursor.word();
        let key_span = cursor.span();
        cursor.bump();
        match key {
            "metadata" => {
                metadata_list(cursor, context, reader, metadata)?;
                continue;
            }
            "replicated" | "unreduced" | "manual" => {}
            _ => {
                let error =
                    cursor.unexpected("the sections `replicated=`, `unreduced=`, `manual=`, `metadata=`");
                return Err(Box::new(error.also(key_span, "there is no such section")));
            }
        }
        if key == "unreduced" && cursor.token() == Token::Ident && context.dialect == Dialect::Lenient {
            let message = "jaxlib 0.10.2 knows no reductions in shardings";
            dialect_warning(context, cursor.span(), message);
            reduction(cursor, context, named)?;
        }
        let mut axes = reader.axis_list(cursor, context, &named.mesh, names)?;
        match key {
            "replicated" => named.replicated.append(&mut axes),
            "unreduced" => named.unreduced.append(&mut axes),
            _ => named.manual.append(&mut axes),
        }
    }
    Ok(())
}

/// What XLA checks of a sharding over a mesh, and dies of.
fn check(
    context: &ValueContext<'_>,
    reader: &MeshReader,
    span: Span,
    named: &NamedSharding,
) -> ParseResult<()> {
    let mesh = &named.mesh;
    let sorted = [&named.replicated, &named.unreduced, &named.manual];
    let in_dimensions = named.dimensions.iter().flat_map(|dimension| &dimension.axes);
    let all = in_dimensions.chain(sorted.into_iter().flatten()).copied();
    let checked = mesh.check_axes(all).and_then(|()| {
        named.dimensions.iter().try_for_each(|dimension| mesh.check_neighbours(&dimension.axes, false))?;
        sorted.into_iter().try_for_each(|axes| mesh.check_neighbours(axes, true))
    });
    checked.map_err(|error| reader.axis_error(context, mesh, span, error))
}
