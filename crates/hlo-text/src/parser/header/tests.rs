use super::*;
use crate::PrintOptions;
use crate::ir::{ElementType, Shape};
use crate::parser::aliasing::check_aliases;
use crate::printer::header::write_header;

/// Reads attributes with commas between them; the texts of modules are taken for their names.
fn read(text: &str, dialect: Dialect) -> Result<(Module, Vec<Diagnostic>), Box<Diagnostic>> {
    let (mut module, mut header) = (Module::new("m"), Header::default());
    let (mut seen, mut warnings) = (SeenHeaderKeys::default(), Vec::new());
    let mut context = ValueContext { module: &mut module, dialect, warnings: &mut warnings };
    let mut cursor = Cursor::new(text);
    let mut nested = |text: &str| match text {
        "bad" => Err(Cursor::new(text).unexpected("a module")),
        name => Ok(named(name)),
    };
    loop {
        parse_header_attribute(&mut cursor, &mut context, &mut header, &mut seen, &mut nested)?;
        if !cursor.eat(Token::Comma) {
            break;
        }
    }
    assert_eq!(cursor.token(), Token::Eof, "all of {text} is read");
    module.header = header;
    Ok((module, warnings))
}

/// A module without computations, printable all the same.
fn named(name: &str) -> Module {
    let mut module = Module::new(name);
    give_layout(&mut module);
    module
}

/// What [`give_layout`] adds to the text.
const LAYOUT: &str = ", entry_computation_layout={()->()}";

fn give_layout(module: &mut Module) {
    if module.header.entry_computation_layout.is_none() {
        let result = module.shapes_mut().intern(Shape::Tuple(Vec::new()));
        module.header.entry_computation_layout =
            Some(EntryComputationLayout { parameters: Vec::new(), result });
    }
}

fn print_again(text: &str, dialect: Dialect, options: &PrintOptions) -> String {
    let (mut module, _) = read(text, dialect).unwrap();
    give_layout(&mut module);
    let mut out = Vec::new();
    write_header(&mut out, &module, options);
    let printed = String::from_utf8(out).unwrap().replacen(LAYOUT, "", 1);
    printed.strip_prefix(", ").unwrap_or(&printed).to_owned()
}

#[test]
fn attributes_are_printed_as_xla_prints_them() {
    let rows = [
        ("is_scheduled=true", "is_scheduled=true"),
        ("is_scheduled=false, replica_count=1, alias_passthrough_params=false, buffer_donor={}", ""),
        ("replica_count=-5, num_partitions=18446744073709551615", "replica_count=-5, num_partitions=-1"),
        (
            "num_partitions=0, alias_passthrough_params=true",
            "alias_passthrough_params=true, num_partitions=0",
        ),
        ("frontend_attributes={b=\"1\", a= {\"x\": 2}}", "frontend_attributes={a={\"x\": 2},b=\"1\"}"),
        (
            "allow_spmd_sharding_propagation_to_parameters={ false , false }",
            "allow_spmd_sharding_propagation_to_parameters={false,false}",
        ),
        (
            "allow_spmd_sharding_propagation_to_output=true",
            "allow_spmd_sharding_propagation_to_output={true}",
        ),
        (
            "allow_spmd_sharding_propagation_to_output={}, allow_spmd_sharding_propagation_to_parameters=false",
            "",
        ),
        (
            "entry_computation_layout={(f32[2],f32[4],)->f32[2,3]{0,1:T(2,128)}}",
            "entry_computation_layout={(f32[2]{0}, f32[4]{0})->f32[2,3]{0,1:T(2,128)}}",
        ),
        (
            "entry_computation_layout={(f32[],f32[],f32[],f32[],f32[],f32[])->()}",
            "entry_computation_layout={(f32[], f32[], f32[], f32[], f32[], /*index=5*/f32[])->()}",
        ),
        ("input_output_alias={}", ""),
        (
            "input_output_alias={ {1}: (1, {2,}), {0}: ( 0 , { } , %must-alias ), {0}: (2, {}, may-alias:), {}: (4294967296, {-1}), }",
            "input_output_alias={ {}: (4294967296, {-1}, may-alias), {0}: (0, {}, must-alias), {1}: (1, {2}, may-alias) }",
        ),
        (
            "buffer_donor={ (7, {9}), (1,{2,-1}), (1,{2}), (7, {9}), }",
            "buffer_donor={ (1, {2}), (1, {2,-1}), (7, {9}) }",
        ),
        ("origin_recovery_table={}", ""),
        (
            "origin_recovery_table={ {\"z\"} : {\"b\"} {\"a\" {1}} : {} {\"a\" {0}} : {\"d\\n\" {2,}} {} : {\"\" {3}} {\"z\"} : {\"c\"} }",
            "origin_recovery_table={\n  {\"\"} : {\"\" {3}}\n  {\"a\" {0}} : {\"d\n\" {2}}\n  {\"a\" {1}} : {\"\"}\n  {\"z\"} : {\"b\"}\n}\n",
        ),
    ];
    for (text, printed) in rows {
        assert_eq!(print_again(text, Dialect::Strict, &PrintOptions::default()), printed, "{text}");
    }
}

#[test]
fn modules_in_the_recovery_table_are_indented() {
    let text = "origin_recovery_table={ {\"a\"} : {\"b\"}, \"x\" {\"c\"} : {\"d\"} }";
    let printed = "origin_recovery_table={\n  {\"a\"} : {\"b\"},\n  \"\n    HloModule x, \
                   entry_computation_layout={()->()}\n\n\n  \"\n  {\"c\"} : {\"d\"}\n}\n";
    let options = PrintOptions::short_parsable();
    assert_eq!(print_again(text, Dialect::Strict, &options), printed);
    let options = PrintOptions { indent_amount: 1, ..options };
    let printed = "origin_recovery_table={\n    {\"a\"} : {\"b\"},\n    \"\n      HloModule x, \
                   entry_computation_layout={()->()}\n\n\n    \"\n    {\"c\"} : {\"d\"}\n}\n";
    assert_eq!(print_again(text, Dialect::Strict, &options), printed);
}

#[test]
fn faults_are_reported_where_xla_reports_them() {
    use Code::{
        BadAlias, BadAttributeValue, BadLayout, BadShape, DuplicateAttribute, UnexpectedToken,
        UnknownAttribute,
    };
    let rows = [
        ("is_scheduled=1", UnexpectedToken, 13),
        ("is_scheduled", UnexpectedToken, 0),
        ("is_scheduled =true", UnexpectedToken, 0),
        ("is_scheduled=true, is_scheduled=true", DuplicateAttribute, 19),
        ("is_scheduled=true,", UnexpectedToken, 18),
        ("foo=1", UnknownAttribute, 0),
        ("sharding={replicated}", UnknownAttribute, 0),
        ("replica_count=a", UnexpectedToken, 14),
        ("replica_count=1.5", UnexpectedToken, 14),
        ("replica_count=", UnexpectedToken, 14),
        ("alias_passthrough_params=x", UnexpectedToken, 25),
        ("allow_spmd_sharding_propagation_to_output=x", UnexpectedToken, 42),
        ("allow_spmd_sharding_propagation_to_output={true,}", BadAttributeValue, 0),
        ("allow_spmd_sharding_propagation_to_output={x}", BadAttributeValue, 0),
        ("allow_spmd_sharding_propagation_to_output={true false}", UnexpectedToken, 48),
        ("entry_computation_layout=x", UnexpectedToken, 25),
        ("entry_computation_layout={x", UnexpectedToken, 26),
        ("entry_computation_layout={()", UnexpectedToken, 28),
        ("entry_computation_layout={(f32[2] f32[3])->f32[2]}", UnexpectedToken, 34),
        ("entry_computation_layout={(f32[2],,)->f32[2]}", BadShape, 34),
        ("entry_computation_layout={(,)->f32[]}", BadShape, 27),
        ("entry_computation_layout={()->}", BadShape, 30),
        ("entry_computation_layout={()->f32[2,3]{0}}", BadLayout, 41),
        ("input_output_alias=x", UnexpectedToken, 19),
        ("input_output_alias={ {0}: (0, {}) {1}: (1, {}) }", UnexpectedToken, 34),
        ("input_output_alias={ {0}: (0, {}, x) }", BadAlias, 35),
        ("input_output_alias={ {0}: (0, {}, MUST-ALIAS) }", BadAlias, 44),
        ("input_output_alias={ {0}: (0, {}, \"may-alias\") }", UnexpectedToken, 34),
        ("input_output_alias={ {0}: (0, {}, true) }", UnexpectedToken, 34),
        ("input_output_alias={ {0}: (0, {}, must-alias }", UnexpectedToken, 45),
        ("input_output_alias={ {0}: (a, {}) }", UnexpectedToken, 27),
        ("input_output_alias={ {0} (0, {}) }", UnexpectedToken, 25),
        ("input_output_alias={ {0}: (0) }", UnexpectedToken, 28),
        ("input_output_alias={ {0}: 0 }", UnexpectedToken, 26),
        ("input_output_alias={ 0: (0, {}) }", UnexpectedToken, 21),
        ("input_output_alias={ {0}: (0, {},) }", UnexpectedToken, 33),
        ("input_output_alias={ {0}: (0 {}) }", UnexpectedToken, 29),
        ("input_output_alias={ {0}: (0, {}), , }", UnexpectedToken, 35),
        ("buffer_donor=x", UnexpectedToken, 13),
        ("buffer_donor={ 0 }", UnexpectedToken, 15),
        ("buffer_donor={ (0) }", UnexpectedToken, 17),
        ("buffer_donor={ (0, 1) }", UnexpectedToken, 19),
        ("buffer_donor={ (1, {}) (0, {}) }", UnexpectedToken, 23),
        ("buffer_donor={ (0, {} x }", UnexpectedToken, 22),
        ("frontend_attributes=1", UnexpectedToken, 20),
        ("frontend_attributes={a=1}", BadAttributeValue, 0),
        ("origin_recovery_table=x", UnexpectedToken, 22),
        ("origin_recovery_table={ {\"a\"} {\"b\"} }", UnexpectedToken, 30),
        ("origin_recovery_table={ {\"a\"} : }", UnexpectedToken, 32),
        ("origin_recovery_table={ {\"a\" {0}} : {\"b\" {1,2}}, }", UnexpectedToken, 49),
        ("origin_recovery_table={ {\"a\"} : {\"b\"}, {\"c\"} : {\"d\"} }", UnexpectedToken, 39),
        ("origin_recovery_table={ {\"a\"} : {\"b\"}, \"bad\" }", BadAttributeValue, 0),
        ("origin_recovery_table={ {\"a\"} : {\"b\"}, \"\\377\" }", BadAttributeValue, 0),
        ("origin_recovery_table={ {a} : {\"b\"} }", UnexpectedToken, 25),
        ("origin_recovery_table={ {\"a\"} : {\"b\" {x}} }", UnexpectedToken, 38),
        ("origin_recovery_table={ \"a\" : {\"b\"} }", UnexpectedToken, 24),
    ];
    for (text, code, at) in rows {
        let error = read(text, Dialect::Strict).unwrap_err();
        assert_eq!((error.code, error.primary.span.start), (code, at), "{text}");
    }
}

#[test]
fn unknown_attributes_get_a_proposal_or_are_kept() {
    let error = read("is_schedule=true", Dialect::Strict).unwrap_err();
    assert_eq!(error.help.as_deref(), Some("did you mean `is_scheduled`?"));
    let error = read("zzz=true", Dialect::Strict).unwrap_err();
    assert!(error.help.unwrap().starts_with("the names are alias_passthrough_params, allow_spmd"));

    let text = "debug_attributes={ {\"a\", x}: (1), }, is_scheduled=true, foo=[1,2]";
    let (_, warnings) = read(text, Dialect::Lenient).unwrap();
    let places: Vec<_> = warnings.iter().map(|warning| (warning.code, warning.primary.span.start)).collect();
    assert_eq!(places, [(Code::Dialect, 0), (Code::UnknownAttributeKept, 56)]);
    let printed = "is_scheduled=true, debug_attributes={ {\"a\", x}: (1), }, foo=[1,2]";
    assert_eq!(print_again(text, Dialect::Lenient, &PrintOptions::default()), printed);
    assert_eq!(read("foo={", Dialect::Lenient).unwrap_err().primary.span.start, 4);
}

#[test]
fn old_spellings_of_aliases_are_read_leniently() {
    let text = "input_output_alias={ {1}: 0, {0}: (1, {}, SYSTEM), {2}: (2, {}, USER) }";
    assert_eq!(read(text, Dialect::Strict).unwrap_err().primary.span.start, 26);
    let (_, warnings) = read(text, Dialect::Lenient).unwrap();
    assert!(warnings.iter().all(|warning| warning.code == Code::Dialect) && warnings.len() == 3);
    let printed =
        "input_output_alias={ {0}: (1, {}, must-alias), {1}: (0, {}, may-alias), {2}: (2, {}, may-alias) }";
    assert_eq!(print_again(text, Dialect::Lenient, &PrintOptions::default()), printed);
}

#[test]
fn aliases_have_to_fit_the_result() {
    let rows = [
        ("input_output_alias={ {}: (0, {}), {0}: (9, {7}), {1,0}: (0, {}) }, buffer_donor={ (9, {}) }", true),
        ("input_output_alias={ {2}: (0, {}) }", false),
        ("input_output_alias={ {-1}: (0, {}) }", false),
        ("input_output_alias={ {0,0}: (0, {}) }", false),
        ("input_output_alias={ {0}: (-1, {}) }", false),
        ("buffer_donor={ (-1, {}) }", false),
    ];
    for (text, fits) in rows {
        let (mut module, _) = read(text, Dialect::Strict).unwrap();
        let array = module.shapes_mut().array(ElementType::F32, &[2]);
        let inner = module.shapes_mut().intern(Shape::Tuple(vec![array]));
        let result = module.shapes_mut().intern(Shape::Tuple(vec![array, inner]));
        let end = Span::new(5, 5);
        let place =
            check_aliases(&module, result, end, |_| None).map_err(|error| (error.code, error.primary.span));
        assert_eq!(place, if fits { Ok(()) } else { Err((Code::BadAlias, end)) }, "{text}");
    }
}
