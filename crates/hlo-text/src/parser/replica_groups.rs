//! `replica_groups=`: lists, iota and mesh form.

use super::mesh::{MeshReader, dialect_warning, int_sequence};
use super::{Dialect, ParseResult, ValueContext};
use crate::diagnostic::{Code, Span};
use crate::ir::ReplicaGroups;
use crate::lexer::{Cursor, Token};

/// The groups at the cursor, right after `replica_groups=`.
pub(crate) fn parse_replica_groups(
    cursor: &mut Cursor<'_>,
    context: &mut ValueContext<'_>,
) -> ParseResult<ReplicaGroups> {
    if cursor.token() == Token::LBrace {
        return group_lists(cursor);
    }
    let mut reader = MeshReader::new(cursor, Code::BadReplicaGroups);
    let result = groups_by_rule(cursor, context, &mut reader);
    reader.finish(result, context.dialect)
}

/// `{{0,1},{2,3}}`
fn group_lists(cursor: &mut Cursor<'_>) -> ParseResult<ReplicaGroups> {
    let mut groups = Vec::new();
    cursor.bump();
    if cursor.token() != Token::RBrace {
        loop {
            if cursor.token() != Token::LBrace {
                return Err(cursor.unexpected("`{` and the devices of a group"));
            }
            groups.push(cursor.int_list()?);
            if !cursor.eat(Token::Comma) {
                break;
            }
        }
    }
    cursor.expect(Token::RBrace, "`,` or `}` after a replica group")?;
    Ok(ReplicaGroups::Lists(groups))
}

/// `[2,4]<=[8]` or `mesh['x'=2,'y'=4] {'x'}`
fn groups_by_rule(
    cursor: &mut Cursor<'_>,
    context: &mut ValueContext<'_>,
    reader: &mut MeshReader,
) -> ParseResult<ReplicaGroups> {
    let start = cursor.start();
    if let Some(mesh) = reader.mesh(cursor, context)? {
        let list_start = cursor.start();
        let names = mesh.axis_indices().unwrap_or_default();
        let axes = reader.axis_list(cursor, context, &mesh, &names)?;
        let span = Span::new(list_start, cursor.previous_end());
        mesh.check_axes(axes.iter().copied())
            .and_then(|()| mesh.check_neighbours(&axes, false))
            .map_err(|error| reader.axis_error(context, &mesh, span, error))?;
        let groups = ReplicaGroups::Mesh { mesh, axes };
        match groups.group_size() {
            None => return Err(reader.error(span, "the number of devices of a group exceeds 64 bits")),
            Some(1) if context.dialect == Dialect::Lenient => {
                let message = "jaxlib 0.10.2 refuses groups of one device, newer XLA versions don't";
                dialect_warning(context, span, message);
            }
            Some(size) if size <= 1 => {
                let message = format!("a group must have more than one device, but the axes make {size}");
                return Err(Box::new(reader.error(cursor.span(), message).also(span, "these axes")));
            }
            Some(_) => {}
        }
        return Ok(groups);
    }
    cursor.expect(Token::LSquare, "replica groups: `{{0,1}}`, `[2,4]<=[8]` or `mesh['x'=2] {'x'}`")?;
    let dimensions = int_sequence(cursor)?;
    cursor.expect(Token::RSquare, "`,` or `]` in the dimensions of the groups")?;
    if cursor.token() != Token::Leq {
        return Err(cursor.unexpected("`<=` and the reshape dimensions of the devices"));
    }
    cursor.bump();
    let iota = reader.iota(cursor)?;
    let [group_count, group_size] = dimensions[..] else {
        let span = Span::new(start, cursor.previous_end());
        return Err(reader.silent_error(
            span,
            format!(
                "replica groups have two dimensions, groups and devices of a group, not {}",
                dimensions.len()
            ),
        ));
    };
    let devices = iota.build(reader)?;
    // jaxlib 0.10.2 doesn't look, newer versions do.
    let (wanted, found) = (group_count.checked_mul(group_size), devices.device_count().ok());
    if context.dialect == Dialect::Lenient && wanted != found {
        let count = |count: Option<i64>| count.map_or("too many".to_owned(), |count| count.to_string());
        let message = format!("the groups have {} devices, but {} are given", count(wanted), count(found));
        return Err(reader.error(Span::new(start, cursor.previous_end()), message));
    }
    Ok(ReplicaGroups::Iota { group_count, group_size, devices })
}
