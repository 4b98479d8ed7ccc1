//! `domain={kind="sharding", entry={...}, exit={...}}`.

use super::sharding::parse_sharding;
use super::sub_attribute::{parse_sub_attributes, unknown_name};
use super::{ParseResult, ValueContext};
use crate::diagnostic::{Code, Diagnostic, shorten};
use crate::ir::Domain;
use crate::lexer::Cursor;

const NAMES: [&str; 3] = ["kind", "entry", "exit"];

/// Takes the two sides of a domain.
pub(crate) fn parse_domain(cursor: &mut Cursor<'_>, context: &mut ValueContext<'_>) -> ParseResult<Domain> {
    let what = "a field of the domain";
    let (mut kind, mut entry, mut exit) = (None, None, None);
    let given = parse_sub_attributes(
        cursor,
        what,
        &NAMES,
        |cursor, index| {
            match index {
                0 => {
                    let span = cursor.span();
                    kind = Some((cursor.string()?.into_owned(), span));
                }
                1 => entry = Some(parse_sharding(cursor, context)?),
                _ => exit = Some(parse_sharding(cursor, context)?),
            }
            Ok(())
        },
        |cursor| Err(unknown_name(cursor.word(), cursor.span(), what, &NAMES)),
    )?;
    given.require(&NAMES, &["entry", "exit", "kind"])?;
    if let Some((kind, span)) = kind
        && kind != b"sharding"
    {
        // XLA notices when it has read all of it.
        let message = format!("`{}` is no kind of domain", shorten(&String::from_utf8_lossy(&kind)));
        return Err(Diagnostic::new(Code::BadAttributeValue, cursor.span(), message)
            .also(span, "this kind")
            .help("the only kind is \"sharding\"")
            .boxed());
    }
    match (entry, exit) {
        (Some(entry), Some(exit)) => Ok(Domain { entry, exit }),
        _ => Err(cursor.unexpected("a domain with `entry=` and `exit=`")),
    }
}
