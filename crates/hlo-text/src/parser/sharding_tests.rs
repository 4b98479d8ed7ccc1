//! Shardings and replica groups: what is read, how it is normalised and printed, and where it is refused.

use super::replica_groups::parse_replica_groups;
use super::sharding::parse_sharding;
use super::{Dialect, ParseResult, ValueContext};
use crate::PrintOptions;
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{Module, ReplicaGroups, Sharding, TileAssignment, TileError};
use crate::lexer::{Cursor, Token};
use crate::printer::replica_groups::write_replica_groups;
use crate::printer::sharding::write_sharding;

/// Reads the value of `key=value`, which must reach to the end of the text.
fn read<T>(
    text: &str,
    dialect: Dialect,
    parse: impl FnOnce(&mut Cursor<'_>, &mut ValueContext<'_>) -> ParseResult<T>,
) -> (Module, Vec<Diagnostic>, ParseResult<T>) {
    let mut module = Module::new("m");
    let mut warnings = Vec::new();
    let mut cursor = Cursor::new(text);
    cursor.bump();
    let mut context = ValueContext { module: &mut module, dialect, warnings: &mut warnings };
    let result = parse(&mut cursor, &mut context);
    if result.is_ok() {
        assert_eq!(cursor.token(), Token::Eof, "{text} was not read to its end");
    }
    (module, warnings, result)
}

fn sharding_text(value: &str, dialect: Dialect, options: &PrintOptions) -> Result<String, Box<Diagnostic>> {
    let (module, _, result) = read(&format!("sharding={value}"), dialect, parse_sharding);
    let mut out = Vec::new();
    write_sharding(&mut out, &module, &result?, options);
    Ok(String::from_utf8_lossy(&out).into_owned())
}

fn groups_text(value: &str, dialect: Dialect, options: &PrintOptions) -> Result<String, Box<Diagnostic>> {
    let (module, _, result) = read(&format!("replica_groups={value}"), dialect, parse_replica_groups);
    let mut out = Vec::new();
    write_replica_groups(&mut out, &module, &result?, options);
    Ok(String::from_utf8_lossy(&out).into_owned())
}

type Print = fn(&str, Dialect, &PrintOptions) -> Result<String, Box<Diagnostic>>;

/// Compares prints; an empty expectation stands for the text itself. What is printed must be read again as itself.
fn check_prints(print: Print, dialect: Dialect, cases: &[(&str, &str)]) {
    let options = PrintOptions::default();
    for &(value, expected) in cases {
        let expected = if expected.is_empty() { value } else { expected };
        let printed = print(value, dialect, &options).unwrap_or_else(|error| panic!("{value}: {error:?}"));
        assert_eq!(printed, expected, "print of {value}");
        let again = print(&printed, dialect, &options).unwrap_or_else(|error| panic!("{printed}: {error:?}"));
        assert_eq!(again, printed, "second print of {value}");
    }
}

/// Compares codes and columns of errors; columns count from the start of the value, so the key is negative.
fn check_errors(print: Print, key: &str, dialect: Dialect, cases: &[(&str, Code, i64)]) {
    for &(value, code, column) in cases {
        match print(value, dialect, &PrintOptions::default()) {
            Ok(printed) => panic!("{value} was accepted: {printed}"),
            Err(error) => {
                let at = i64::from(error.primary.span.start) - key.len() as i64;
                assert_eq!((error.code, at), (code, column), "{value}: {}", error.message);
            }
        }
    }
}

#[test]
fn words_and_tuples() {
    check_prints(
        sharding_text,
        Dialect::Strict,
        &[
            ("{replicated}", ""),
            ("{manual}", ""),
            ("{unknown}", ""),
            ("{unreduced}", ""),
            ("{maximal device=3}", ""),
            ("{device=-2 maximal}", "{maximal device=-2}"),
            ("{maximal devices=[1]7}", "{maximal device=7}"),
            ("{manual replicated}", "{replicated}"),
            ("{unreduced unknown}", "{unknown}"),
            ("{replicated shard_like 1 shard_as 2 shard_like 3}", "{replicated shard_as 3}"),
            ("{shard_like 7 manual}", "{manual shard_like 7}"),
            ("{}", ""),
            ("{{replicated}}", ""),
            ("{{replicated},{maximal device=1},{manual}}", "{{replicated}, {maximal device=1}, {manual}}"),
            (
                "{{manual},{manual},{manual},{manual},{manual},{devices=[2]<=[2]}}",
                "{{manual}, {manual}, {manual}, {manual}, {manual}, /*index=5*/{devices=[2]<=[2]}}",
            ),
            ("{metadata={op_name=\"a\"} replicated}", "{replicated metadata={op_name=\"a\"}}"),
            ("{replicated metadata={{op_name=\"a\"}}}", "{replicated metadata={op_name=\"a\"}}"),
            ("{replicated metadata={}}", ""),
            ("{manual metadata={} metadata={op_type=\"t\"}}", "{manual metadata={{}, {op_type=\"t\"}}}"),
            (
                "{devices=[2]1,0 metadata={{op_name=\"a\"},{op_name=\"b\"}} shard_as 4}",
                "{devices=[2]1,0 shard_as 4 metadata={{op_name=\"a\"}, {op_name=\"b\"}}}",
            ),
        ],
    );
}

#[test]
fn tiles_are_normalised() {
    check_prints(
        sharding_text,
        Dialect::Strict,
        &[
            ("{devices=[2,2]0,2,1,3}", ""),
            ("{devices=[2,2]0,1,2,3}", ""),
            ("{devices=[2,2]5,6}", "{devices=[2,2]5,6,0,0}"),
            ("{devices=[3,4]<=[12]}", ""),
            ("{devices=[3,4]<=[7]}", ""),
            ("{devices=[6]<=[2,3]T(0,1)}", "{devices=[6]<=[6]}"),
            ("{devices=[5,3]<=[1,3,1,5]T(3,2,1,0)}", "{devices=[5,3]<=[3,5]T(1,0)}"),
            ("{devices=[10,3]<=[3,2,5]T(1,2,0)}", "{devices=[10,3]<=[3,10]T(1,0)}"),
            ("{devices=[1,1]<=[1,1]T(1,0)}", "{devices=[1,1]<=[1]}"),
            ("{devices=[2,3]<=[2,3]T(0,0)}", ""),
            ("{devices=[900000000000,2]<=[1800000000000]}", ""),
            ("{devices=[2]0,1 devices=[2]3,2}", "{devices=[2,2]0,1,3,2}"),
        ],
    );
}

#[test]
fn subgroups_are_normalised() {
    check_prints(
        sharding_text,
        Dialect::Strict,
        &[
            ("{devices=[2,3]<=[6] last_tile_dim_replicate}", ""),
            (
                "{devices=[2,3]<=[6] last_tile_dims={replicated}}",
                "{devices=[2,3]<=[6] last_tile_dim_replicate}",
            ),
            ("{devices=[6]<=[6] last_tile_dim_replicate}", "{replicated}"),
            ("{devices=[1,1,6]<=[6] last_tile_dim_replicate}", "{replicated}"),
            ("{devices=[1,2,3]<=[6] last_tile_dims={manual,manual}}", "{manual}"),
            ("{devices=[1,6]5,4,3,2,1,0 last_tile_dims={unreduced}}", "{unreduced}"),
            ("{devices=[1,6]<=[6] last_tile_dims={maximal}}", ""),
            ("{devices=[6,1]<=[6] last_tile_dim_replicate}", "{devices=[6]<=[6]}"),
            ("{devices=[6,1]<=[6] last_tile_dims={}}", "{devices=[6,1]<=[6]}"),
            (
                "{devices=[2,3]5,4,3,2,1,0 last_tile_dim_replicate}",
                "{devices=[2,3]3,4,5,0,1,2 last_tile_dim_replicate}",
            ),
            (
                "{devices=[2,3]5,4,3,2,1,0 last_tile_dims={manual}}",
                "{devices=[2,3]5,4,3,2,1,0 last_tile_dims={manual}}",
            ),
            (
                "{devices=[2,2,3]<=[12] last_tile_dims={replicated,manual}}",
                "{devices=[2,3,2]<=[2,2,3]T(0,2,1) last_tile_dims={manual, replicated}}",
            ),
            (
                "{devices=[2,1,3,5]<=[30] last_tile_dims={maximal,manual,manual}}",
                "{devices=[2,15]<=[30] last_tile_dims={manual}}",
            ),
            (
                "{devices=[2,3,2]<=[3,4]T(1,0) last_tile_dims={replicated,manual}}",
                "{devices=[2,2,3]0,5,8,1,4,9,2,7,10,3,6,11 last_tile_dims={manual, replicated}}",
            ),
            (
                "{devices=[3,2]<=[2,3]T(1,0) last_tile_dims={manual}}",
                "{devices=[3,2]<=[2,3]T(1,0) last_tile_dims={manual}}",
            ),
            (
                "{devices=[4,4]<=[4,4]T(1,0) last_tile_dim_replicate}",
                "{devices=[4,4]<=[4,4]T(1,0) last_tile_dim_replicate}",
            ),
            (
                "{devices=[4,6]<=[2,3,4]T(2,1,0) last_tile_dim_replicate}",
                "{devices=[4,6]<=[6,4]T(1,0) last_tile_dim_replicate}",
            ),
            (
                "{devices=[3,4]<=[2,6]T(1,0) last_tile_dim_replicate}",
                "{devices=[3,4]<=[2,3,2]T(1,0,2) last_tile_dim_replicate}",
            ),
            (
                "{devices=[4,3,2]<=[8,3]T(1,0) last_tile_dims={unreduced,replicated}}",
                "{devices=[4,3,2]<=[8,3]T(1,0) last_tile_dims={unreduced, replicated}}",
            ),
        ],
    );
}

#[test]
fn shardings_over_meshes() {
    check_prints(
        sharding_text,
        Dialect::Strict,
        &[
            ("{mesh['p'=2,'q'=4], replicated}", ""),
            ("{mesh[\"p\"=2] manual}", "{mesh['p'=2], manual}"),
            (
                "{mesh['p'=2], unreduced, metadata={op_name=\"a\"}}",
                "{mesh['p'=2], unreduced, metadata={{op_name=\"a\"}}}",
            ),
            ("{mesh['p'=2], []}", "{mesh['p'=2], replicated}"),
            ("{mesh[], [{}]}", ""),
            ("{mesh['p'=2,'q'=4], [{'p'}, {'q', ?}, {?}, {}]}", ""),
            ("{mesh['p'=2,'q'=4], [{'1','0'}]}", "{mesh['p'=2,'q'=4], [{'q', 'p'}]}"),
            ("{mesh['1'=2,'0'=4], [{'1'}]}", ""),
            ("{mesh['p'=2,'q'=8], [{'q':(4)2, 'q':(1)2}, {'q':(2)2}]}", ""),
            ("{mesh['p'=12], [{'p':(1)2}, {'p':(4)3}]}", ""),
            (
                "{mesh['p'=2,'q'=4,'r'=3,'s'=5], [{'p'}], metadata={}, manual={'q'},unreduced={'r'}, replicated={'s'}}",
                "{mesh['p'=2,'q'=4,'r'=3,'s'=5], [{'p'}], replicated={'s'}, unreduced={'r'}, manual={'q'}, metadata={{}}}",
            ),
            ("{mesh['p'=2,'q'=1], [], manual={'p'}}", "{mesh['p'=2,'q'=1], manual}"),
            ("{mesh['p'=2,'q'=4], [], unreduced={'p','q'}}", "{mesh['p'=2,'q'=4], unreduced}"),
            ("{mesh['p'=2,'q'=4], [{}], manual={'p','q'}}", "{mesh['p'=2,'q'=4], [{}], manual={'p', 'q'}}"),
            ("{mesh['p'=4], [], manual={'p':(1)2}}", ""),
            ("{mesh['p'=2,'q'=2], device_ids=(3,1,2,0), [{'p'}]}", ""),
            ("{mesh['p'=2,'q'=3], device_ids=([3,2]T(1,0)), [{'p'}]}", ""),
            ("{mesh['p'=2,'q'=3], device_ids=([2,3]T(0,1)), [{'p'}]}", "{mesh['p'=2,'q'=3], [{'p'}]}"),
            ("{mesh['p'=2], ignored=[{'p'}]}", "{mesh['p'=2], [{'p'}]}"),
            ("{maximal_mesh[device_id=3]}", ""),
            ("{maximal_mesh[device_id=3], metadata={}}", "{maximal_mesh[device_id=3], metadata={{}}}"),
            ("{{mesh['p'=2], replicated}, {manual}}", ""),
        ],
    );
}

#[test]
fn refused_shardings() {
    use Code::{BadSharding, OutOfRange, TooLarge, UnexpectedToken};
    check_errors(
        sharding_text,
        "sharding=",
        Dialect::Strict,
        &[
            ("replicated", UnexpectedToken, 0),
            ("{nonsense}", UnexpectedToken, 1),
            ("{nonsense=1}", UnexpectedToken, 1),
            ("{replicated, manual}", UnexpectedToken, 11),
            ("{replicated", UnexpectedToken, 11),
            ("{{replicated} {manual}}", UnexpectedToken, 14),
            ("{{replicated},}", UnexpectedToken, 14),
            ("{{{replicated}}}", UnexpectedToken, 2),
            ("{maximal}", BadSharding, 1),
            ("{maximal device=x}", UnexpectedToken, 16),
            ("{replicated device=1}", BadSharding, 1),
            ("{unknown devices=[2]0,1}", BadSharding, 1),
            ("{shard_as 1}", BadSharding, 1),
            ("{replicated shard_like}", UnexpectedToken, 22),
            ("{devices=[1,1]0}", BadSharding, 1),
            ("{devices=[2,2]0,1,2,3,4}", BadSharding, 1),
            ("{devices=[2,-2]0,1,2}", BadSharding, 1),
            ("{devices=[4611686018427387904,8]0,1}", OutOfRange, 1),
            ("{devices=[1000000,1000000]0,1}", TooLarge, 1),
            ("{devices=2}", UnexpectedToken, 9),
            ("{devices=[2x2]0,1}", UnexpectedToken, 10),
            ("{devices=[2,2]0,1,}", UnexpectedToken, 18),
            ("{devices=[2,2]<=4}", UnexpectedToken, 16),
            ("{devices=[4,2]<=[2,4]}", UnexpectedToken, 21),
            ("{devices=[4,2]<=[8]T(0)}", UnexpectedToken, 19),
            ("{devices=[4,2]<=[2,4]T(1,2)}", BadSharding, 26),
            ("{devices=[4,2]<=[2,4]T(1,-1)}", BadSharding, 27),
            ("{devices=[4,2]<=[2,4]T(1)}", BadSharding, 1),
            ("{devices=[4]<=[4] device=1}", BadSharding, 1),
            ("{devices=[2]0,1 last_tile_dims={other}}", BadSharding, -9),
            ("{devices=[2]0,1 last_tile_dims={unknown}}", BadSharding, -9),
            ("{devices=[2]0,1 last_tile_dims={manual manual}}", UnexpectedToken, 39),
            ("{devices=[2]0,1 last_tile_dims={manual,manual}}", BadSharding, 1),
            ("{devices=[2]0,1 last_tile_dim_replicate last_tile_dims={manual}}", BadSharding, 1),
            ("{devices=[3,4,5]<=[7] last_tile_dims={manual,replicated}}", BadSharding, 1),
            ("{devices=[3,4]<=[0] last_tile_dim_replicate}", BadSharding, 1),
            ("{devices=[2,2,3]<=[68719476767,2]T(1,0) last_tile_dims={replicated,manual}}", TooLarge, 1),
            ("{replicated metadata=1}", UnexpectedToken, 21),
            ("{replicated metadata={{} {}}}", UnexpectedToken, 25),
        ],
    );
}

#[test]
fn refused_meshes() {
    use Code::{BadSharding, UnexpectedToken};
    check_errors(
        sharding_text,
        "sharding=",
        Dialect::Strict,
        &[
            ("{mesh}", UnexpectedToken, 5),
            ("{mesh[p=2], replicated}", UnexpectedToken, 6),
            ("{mesh['p':2], replicated}", UnexpectedToken, 9),
            ("{mesh['p'=2,], replicated}", UnexpectedToken, 12),
            ("{mesh['p'=2 'q'=4], replicated}", UnexpectedToken, 12),
            ("{mesh['p'=2]}", UnexpectedToken, 12),
            // XLA's complaint after the comma comes first.
            ("{mesh['p'=2], other}", UnexpectedToken, 14),
            ("{mesh['p'=2], [{p}]}", UnexpectedToken, 14),
            ("{{mesh['p'=2], [{'p'}]} {}}", UnexpectedToken, 15),
            ("{mesh['p'=2], device_ids=([2]), [{p}]}", UnexpectedToken, 34),
            ("{mesh['p'=2], device_ids=([2]), [{'p' ?}]}", UnexpectedToken, 38),
            ("{mesh['p'=2], device_ids=([2]), [{?,'p'}]}", UnexpectedToken, 36),
            ("{mesh['p'=4], device_ids=([4]), [{'p':2}]}", UnexpectedToken, 38),
            ("{mesh['p'=4], device_ids=([4]), [{'p'}], other={}}", UnexpectedToken, 47),
            ("{mesh['p'=4], device_ids=([4]), [{'p'}] manual={}}", UnexpectedToken, 40),
            ("{mesh['p'=4], device_ids=([4]), manual, replicated={}}", BadSharding, -9),
            ("{maximal_mesh[device_id=3], replicated}", UnexpectedToken, 28),
            ("{maximal_mesh[device_id=3] replicated}", UnexpectedToken, 27),
            ("{maximal_mesh[device=3]}", UnexpectedToken, 21),
            ("{single_device[3]}", UnexpectedToken, 1),
            ("{mesh['p'=2] [], unreduced=max{'p'}}", UnexpectedToken, 27),
        ],
    );
    // XLA dies of these.
    let fatal = [
        "{mesh['p'=2,'p'=4] replicated}",
        "{mesh['p'=2] [{'q'}]}",
        "{mesh['p'=2] [{'1'}]}",
        "{mesh['p'=2] [{'p'}, {'p'}]}",
        "{mesh['p'=2] [{'p'}], replicated={'p'}}",
        "{mesh['p'=4] [{'p':(1)2, 'p':(2)2}]}",
        "{mesh['p'=4] [{'p':(1)4}]}",
        "{mesh['p'=4] [{'p':(1)3}]}",
        "{mesh['p'=4] [{'p':(0)2}]}",
        "{mesh['p'=4] [{'p':(2)1}]}",
        "{mesh['p'=4] [{'p':(4611686018427387904)4}]}",
        "{mesh['p'=12] [{'p':(2)2}, {'p':(3)2}]}",
        "{mesh['p'=12] [{'p':(1)2}, {'p':(3)2}]}",
        "{mesh['p'=4,'q'=2] [], manual={'q','p'}}",
        "{mesh['p'=8] [], unreduced={'p':(4)2,'p':(1)2}}",
        "{mesh[] manual}",
        "{mesh['p'=2,'q'=2], device_ids=(0,2,1) replicated}",
        "{mesh['p'=2,'q'=2], device_ids=(0,1,2,3) replicated}",
        "{mesh['p'=2,'q'=2], device_ids=(0,1,1,3) replicated}",
        "{mesh['p'=2,'q'=2], device_ids=(0,1,4,3) replicated}",
        "{mesh['p'=2,'q'=2], device_ids=([2,2]T(1)) replicated}",
    ];
    for value in fatal {
        let result = sharding_text(value, Dialect::Strict, &PrintOptions::default());
        assert_eq!(result.map_err(|error| error.code), Err(BadSharding), "{value}");
    }
}

#[test]
fn messages_help() {
    let error = |value: &str| {
        sharding_text(value, Dialect::Lenient, &PrintOptions::default()).map_err(|error| *error).unwrap_err()
    };
    let short = error("{mesh['p'=2,'q'=2], device_ids=(0,2,1), replicated}");
    assert!(short.message.contains("4 devices") && short.message.contains("lists 3"), "{}", short.message);
    let typo = error("{mesh['data'=2,'model'=4], [{'modle'}]}");
    assert_eq!(typo.help.as_deref(), Some("did you mean 'model'?"));
    assert_eq!(
        error("{replicated, manual}").help.as_deref(),
        Some("words of a sharding are separated by blanks")
    );
    // Where nothing has to be as in XLA, the error stands at the fault.
    assert_eq!(error("{mesh['p'=2], [{p}]}").primary.span.start, 25);
}

#[test]
fn groups() {
    check_prints(
        groups_text,
        Dialect::Strict,
        &[
            ("{}", ""),
            ("{{}}", ""),
            ("{ { 0 , 1 } , {2} }", "{{0,1},{2}}"),
            ("{{0,1},{-3,7,7}}", ""),
            ("[2,4]<=[8]", ""),
            ("[2,4]<=[2,4]T(0,1)", "[2,4]<=[8]"),
            ("[2,4]<=[4,2]T(1,0)", ""),
            ("[3,0]<=[5]", ""),
            ("[32,2]<=[64,1]T(0,0)", "[32,2]<=[64]"),
            ("[2,2]<=[1,4]T(0,0)", "[2,2]<=[4]"),
            ("mesh['p'=2,'q'=4] {'p'}", ""),
            ("mesh[\"p\"=2,'q'=4], {'1',\"p\"}", "mesh['p'=2,'q'=4] {'q','p'}"),
            ("mesh['p'=2,'q'=4] {'q':(2)2}", ""),
            ("mesh['p'=2,'q'=2], device_ids=(3,2,1,0){'p'}", "mesh['p'=2,'q'=2], device_ids=(3,2,1,0) {'p'}"),
        ],
    );
}

#[test]
fn refused_groups() {
    use Code::{BadReplicaGroups, UnexpectedToken};
    check_errors(
        groups_text,
        "replica_groups=",
        Dialect::Strict,
        &[
            ("all", UnexpectedToken, 0),
            ("{0,1}", UnexpectedToken, 1),
            ("{{0,1},}", UnexpectedToken, 7),
            ("{{0,1,}}", UnexpectedToken, 6),
            ("{{0x1}}", UnexpectedToken, 3),
            ("[8]<=[8]", BadReplicaGroups, -15),
            ("[2,2,2]<=[8]", BadReplicaGroups, -15),
            ("[2,2]0,1,2,3", UnexpectedToken, 5),
            ("[2x2]<=[4]", UnexpectedToken, 1),
            ("[2,2]<=[2,2]", UnexpectedToken, 12),
            ("[2,2]<=[2,2]T(0)", BadReplicaGroups, 7),
            ("[2,2]<=[1,2,3]T(0,0,1)", BadReplicaGroups, 7),
            ("mesh['p'=2]", UnexpectedToken, 11),
            ("mesh['p'=2] {p}", UnexpectedToken, 13),
            ("mesh['p'=2], {p}", UnexpectedToken, 13),
            ("mesh['p'=2] {'p','p'}", BadReplicaGroups, 12),
            ("mesh['p'=2,'q'=1] {'q'}", BadReplicaGroups, 23),
            ("mesh['p'=2,'q'=2, device_ids=(3,1,0)] {'p'}", UnexpectedToken, 18),
        ],
    );
}

#[test]
fn groups_as_lists() {
    let full = PrintOptions { print_full_replica_group_list: true, ..PrintOptions::default() };
    let cases = [
        ("{{3,1},{2}}", "{{3,1},{2}}"),
        ("[2,4]<=[4,2]T(1,0)", "{{0,2,4,6},{1,3,5,7}}"),
        ("[0,4]<=[0]", "{}"),
        ("mesh['p'=2,'q'=4] {'p'}", "{{0,4},{1,5},{2,6},{3,7}}"),
        ("mesh['p'=2,'q'=4] {'q','p'}", "{{0,4,1,5,2,6,3,7}}"),
        ("mesh['p'=2,'q'=8] {'q':(4)2,'p','q':(1)2}", "{{0,4,8,12,1,5,9,13},{2,6,10,14,3,7,11,15}}"),
        ("mesh['p'=2,'q'=2], device_ids=(0,2,1,3) {'p'}", "{{0,1},{2,3}}"),
        ("mesh['p'=2,'q'=4], device_ids=([4,2]T(1,0)) {'p'}", "{{0,1},{2,3},{4,5},{6,7}}"),
        // What can't be written out keeps its form.
        ("[2,4]<=[3]", "[2,4]<=[3]"),
        ("[2,2]<=[2,2]T(1,1)", "[2,2]<=[2,2]T(1,1)"),
        ("[1000000,1000000]<=[1000000000000]", "[1000000,1000000]<=[1000000000000]"),
        ("mesh['p'=2,'q'=-1] {'p'}", "mesh['p'=2,'q'=-1] {'p'}"),
    ];
    for (value, expected) in cases {
        let printed = groups_text(value, Dialect::Strict, &full);
        assert_eq!(printed.as_deref().ok(), Some(expected), "{value}");
    }
}

#[test]
fn spellings_of_other_versions() {
    let cases = [
        ("{single_device[3]}", "{maximal_mesh[device_id=3]}"),
        ("{single_device[device_id=3]}", "{maximal_mesh[device_id=3]}"),
        (
            "{mesh['p'=2,'q'=2, device_ids=(3,2,1,0)], replicated}",
            "{mesh['p'=2,'q'=2], device_ids=(3,2,1,0), replicated}",
        ),
        ("{mesh['p'=2], unreduced{'p'}}", "{mesh['p'=2], unreduced}"),
        ("{mesh['p'=2,'q'=2], unreduced{'p'}}", "{mesh['p'=2,'q'=2], [], unreduced={'p'}}"),
        ("{mesh['p'=2], unreduced=max}", "{mesh['p'=2], unreduced=max}"),
        ("{mesh['p'=2,'q'=2], [{}], unreduced=max{'p'}}", "{mesh['p'=2,'q'=2], [{}], unreduced=max{'p'}}"),
    ];
    for (value, expected) in cases {
        let text = format!("sharding={value}");
        let (_, warnings, result) = read(&text, Dialect::Lenient, parse_sharding);
        assert!(result.is_ok(), "{value}");
        assert!(warnings.iter().any(|warning| warning.code == Code::Dialect), "{value}: no warning");
        check_prints(sharding_text, Dialect::Lenient, &[(value, expected)]);
        assert!(sharding_text(value, Dialect::Strict, &PrintOptions::default()).is_err(), "{value}");
    }
    check_prints(groups_text, Dialect::Lenient, &[("mesh['p'=2,'q'=1] {'q'}", "")]);
}

#[test]
fn metadata_is_an_option() {
    let without = PrintOptions { print_metadata: false, ..PrintOptions::default() };
    for (value, expected) in [
        ("{replicated metadata={op_name=\"a\"}}", "{replicated}"),
        ("{mesh['p'=2], manual, metadata={}}", "{mesh['p'=2], manual}"),
    ] {
        assert_eq!(sharding_text(value, Dialect::Strict, &without).as_deref().ok(), Some(expected));
    }
}

#[test]
fn what_shardings_say() {
    let parsed = |value: &str| -> Sharding {
        let (_, _, result) = read(&format!("sharding={value}"), Dialect::Strict, parse_sharding);
        result.unwrap_or_else(|error| panic!("{value}: {error:?}"))
    };
    assert!(parsed("{replicated}").is_replicated());
    assert!(parsed("{{manual}, {mesh['p'=2], manual}}").is_manual());
    assert_eq!(parsed("{{maximal device=2}, {maximal_mesh[device_id=2]}}").single_device(), Some(2));
    assert_eq!(parsed("{{maximal device=2}, {manual}}").single_device(), None);
    assert!(!parsed("{maximal_mesh[device_id=2]}").is_replicated());
    assert_eq!(
        parsed("{devices=[2,3,4]<=[24] last_tile_dim_replicate}").elements()[0].device_count(),
        Some(24)
    );
    let tiled = parsed("{devices=[2,3,4]<=[24] last_tile_dim_replicate}");
    assert_eq!(tiled.elements()[0].as_tiled().map(|tiled| tiled.data_dimensions()), Some(&[2, 3][..]));
    assert_eq!(parsed("{manual}").repeat_for_leaves(3), parsed("{{manual},{manual},{manual}}"));
    assert_eq!(parsed("{manual}").repeat_for_leaves(0), parsed("{{manual}}"));
    assert_eq!(parsed("{{manual}}").repeat_for_leaves(3), parsed("{{manual}}"));
}

#[test]
fn what_groups_say() {
    let parsed = |value: &str| -> ReplicaGroups {
        let (_, _, result) = read(&format!("replica_groups={value}"), Dialect::Strict, parse_replica_groups);
        result.unwrap_or_else(|error| panic!("{value}: {error:?}"))
    };
    let sizes = |value: &str| {
        let groups = parsed(value);
        (groups.group_count(), groups.group_size(), groups.device_count())
    };
    assert_eq!(sizes("{}"), (Some(0), None, Some(0)));
    assert_eq!(sizes("{{0,1},{2}}"), (Some(2), None, Some(3)));
    assert_eq!(sizes("[2,4]<=[8]"), (Some(2), Some(4), Some(8)));
    assert_eq!(sizes("mesh['p'=3,'q'=4] {'q':(2)2}"), (Some(6), Some(2), Some(12)));
    assert_eq!(parsed("[2,2]<=[2,2]T(1,0)").to_lists(), Ok(vec![vec![0, 2], vec![1, 3]]));
    assert_eq!(parsed("[2,4]<=[3]").to_lists(), Err(TileError::DeviceCount { places: 8, devices: 3 }));
    assert!(matches!(parsed("[9999999,9999]<=[99989990001]").to_lists(), Err(TileError::TooManyDevices(_))));
}

#[test]
fn lists_are_filled_up_to_a_limit() {
    use crate::ir::MAX_FILLED_DEVICES;
    let limit = MAX_FILLED_DEVICES as i64;
    assert!(TileAssignment::list(vec![limit], vec![0, 1]).is_ok());
    let refused = TileAssignment::list(vec![limit + 1], vec![0, 1]);
    assert_eq!(refused, Err(TileError::TooManyDevices(limit + 1)));
    let devices: Vec<i64> = (0..=limit).collect();
    assert!(TileAssignment::list(vec![limit + 1], devices).is_ok(), "what the text lists has no limit");
}

#[test]
fn rules_are_written_out_up_to_a_limit() {
    use crate::ir::MAX_NORMALIZED_DEVICES;
    let text = |devices: usize| {
        let value = format!(
            "{{devices=[2,3,{}]<=[3,{}]T(1,0) last_tile_dims={{replicated,manual}}}}",
            devices / 6,
            devices / 3
        );
        sharding_text(&value, Dialect::Strict, &PrintOptions::default()).map_err(|error| error.code)
    };
    let fits = MAX_NORMALIZED_DEVICES / 6 * 6;
    assert!(text(fits).is_ok_and(|printed| !printed.contains("<=")));
    assert_eq!(text(fits + 12), Err(Code::TooLarge));
}
