use super::*;
use crate::PrintOptions;
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{FileLocation, Module, StackFrame, StackFrameIndex};
use crate::printer::metadata::write_metadata;

/// Where the tests say that the attribute's name is.
const KEY: Span = Span { start: u32::MAX, end: u32::MAX };

fn read(
    module: &mut Module,
    text: &str,
    dialect: Dialect,
) -> Result<(Metadata, Vec<Diagnostic>), Box<Diagnostic>> {
    let mut warnings = Vec::new();
    let mut context = ValueContext { module, dialect, warnings: &mut warnings };
    let mut cursor = Cursor::new(text);
    let metadata = parse_metadata(&mut cursor, &mut context, KEY)?;
    assert_eq!(cursor.text(), "", "all of {text} is read");
    Ok((metadata, warnings))
}

fn print_again(text: &str, dialect: Dialect, options: &PrintOptions) -> String {
    let mut module = Module::new("m");
    let (metadata, _) = read(&mut module, text, dialect).unwrap();
    let mut out = Vec::new();
    write_metadata(&mut out, &module, &metadata, options);
    String::from_utf8(out).unwrap()
}

/// Everything there is, in an order of its own, and as it is printed.
const FULL: &str = r#"{source_line=-4, op_name="a\351" source_end_line=7 source_column=2
    source_end_column=3 deduplicated_name='d' scheduling_name="s\"q" op_type="t" source_file="f"
    profile_type={1,2,0} metadata_payload="\001x" stack_frame_id=9}"#;
const FULL_PRINTED: &str = r#"{op_type="t" op_name="a\351" source_file="f" source_line=-4 source_end_line=7 source_column=2 source_end_column=3 profile_type={1,2,0} deduplicated_name="d" scheduling_name="s"q" stack_frame_id=9 metadata_payload="\001x"}"#;

#[test]
fn metadata_is_printed_as_xla_prints_it() {
    let rows = [
        ("{}", "{}"),
        (r#"{,op_name="a"}"#, r#"{op_name="a"}"#),
        (r#"{ op_name= "a" , op_type= "b" }"#, r#"{op_type="b" op_name="a"}"#),
        (
            r#"{op_name="a"op_type="b"source_line=3source_end_line=4}"#,
            r#"{op_type="b" op_name="a" source_line=3 source_end_line=4}"#,
        ),
        (r#"{op_name="a" source_line=18446744073709551615}"#, r#"{op_name="a" source_line=-1}"#),
        (r#"{op_name="a" source_line=2147483647}"#, r#"{op_name="a" source_line=2147483647}"#),
        (r#"{op_name="a" source_line=-0}"#, r#"{op_name="a"}"#),
        (r#"{op_name="" op_type="" deduplicated_name="" scheduling_name=""}"#, "{}"),
        (r#"{metadata_payload=""}"#, r#"{metadata_payload=""}"#),
        (
            r#"{op_name="a\\" op_type="\\\"" source_file="\x41\n"}"#,
            r#"{op_type="\\\"" op_name="a\\" source_file="A\n"}"#,
        ),
        ("{op_name=\"x\ny\"}", r#"{op_name="x\ny"}"#),
        (r#"{op_name="a"/*c*/op_type='b'}"#, r#"{op_type="b" op_name="a"}"#),
        (FULL, FULL_PRINTED),
    ];
    for (text, printed) in rows {
        assert_eq!(print_again(text, Dialect::Strict, &PrintOptions::default()), printed, "{text}");
    }
}

#[test]
fn faults_are_reported_where_xla_reports_them() {
    use Code::{BadAttributeValue, DuplicateAttribute, OutOfRange, UnexpectedToken, UnknownAttribute};
    let rows = [
        (r#"{op_name="a",}"#, UnexpectedToken, 13),
        (r#"{op_name="a",,op_type="b"}"#, UnexpectedToken, 13),
        (r#"{op_name="a" op_name="b"}"#, DuplicateAttribute, 13),
        (r#"{op_name="a" source_line=9999999999}"#, OutOfRange, 25),
        (r#"{op_name="a" source_line=99999999999999999999999}"#, UnexpectedToken, 25),
        (r#"{op_name="a" source_line="x"}"#, UnexpectedToken, 25),
        (r#"{op_name="a" source_line=3x4}"#, UnexpectedToken, 25),
        (r#"{op_name="a" source_line=1_2}"#, UnexpectedToken, 25),
        (r#"{op_name="a" source_line=1.0}"#, UnexpectedToken, 25),
        (r#"{op_name="a" profile_type={1,4}}"#, BadAttributeValue, KEY.start),
        (r#"{op_name="a" profile_type={-1}}"#, BadAttributeValue, KEY.start),
        (r#"{op_name="a" profile_type={a}}"#, UnexpectedToken, 27),
        (r#"{op_name="a" profile_type=1}"#, UnexpectedToken, 26),
        (r#"{op_name ="a"}"#, UnexpectedToken, 1),
        (r#"{op_name={}}"#, UnexpectedToken, 9),
        (r#"{op_name=a"x"}"#, UnexpectedToken, 9),
        (r#"{op_name="a" source_file="\q"}"#, UnexpectedToken, 25),
        ("{op_name=\"a\\\nb\"}", UnexpectedToken, 9),
        (r#"{op_name="a" foo}"#, UnexpectedToken, 13),
        (r#"{op_name="a" foo=3}"#, UnknownAttribute, 13),
        (r#"{op_name="a" preserve_layout=true}"#, UnknownAttribute, 13),
        (r#"{"x"}"#, UnexpectedToken, 1),
        ("op", UnexpectedToken, 0),
        (r#"{op_name="a""#, UnexpectedToken, 12),
        (r#"{op_name="a"#, UnexpectedToken, 9),
        ("{op_name=\"a\\", UnexpectedToken, 9),
        ("{", UnexpectedToken, 1),
    ];
    for (text, code, at) in rows {
        let error = read(&mut Module::new("m"), text, Dialect::Strict).unwrap_err();
        assert_eq!((error.code, error.primary.span.start), (code, at), "{text}");
    }
}

#[test]
fn the_scanner_and_the_grammar_agree() {
    let texts = [
        r#"{op_type="t" op_name="jit(f)/add" source_file="/a b/c.py" source_line=12}"#,
        r#"{op_name="" stack_frame_id=7 source_line=-5}"#,
        r#"{op_name="x\"y\\" scheduling_name="\101"}"#,
        r#"{metadata_payload="" deduplicated_name="é"}"#,
    ];
    for text in texts {
        let mut module = Module::new("m");
        let scanned = scan_printed_form(text, 1, module.strings_mut());
        assert_eq!(scanned.as_ref().map(|found| found.1), Some(text.len()), "{text}");
        // A comment is left to the grammar.
        let commented = text.replacen('{', "{/**/", 1);
        assert!(scan_printed_form(&commented, 1, module.strings_mut()).is_none());
        let (parsed, _) = read(&mut module, &commented, Dialect::Strict).unwrap();
        assert_eq!(scanned.map(|found| found.0), Some(parsed), "{text}");
    }
}

#[test]
fn unknown_fields_are_kept_in_lenient_reading() {
    let text = r#"{foo=3 op_name="n" preserve_layout=true bar={a, b}}"#;
    let mut module = Module::new("m");
    let (metadata, warnings) = read(&mut module, text, Dialect::Lenient).unwrap();
    let places: Vec<_> = warnings.iter().map(|warning| (warning.code, warning.primary.span.start)).collect();
    let kept = Code::UnknownAttributeKept;
    assert_eq!(places, [(kept, 1), (kept, 19), (kept, 40)]);
    assert!(metadata.is_printed());
    let printed = r#"{op_name="n" foo=3 preserve_layout=true bar={a, b}}"#;
    assert_eq!(print_again(text, Dialect::Lenient, &PrintOptions::default()), printed);
}

#[test]
fn options_change_metadata() {
    let only_name = PrintOptions { print_metadata_only_op_name: true, ..PrintOptions::default() };
    assert_eq!(print_again(FULL, Dialect::Strict, &only_name), r#"{op_name="a\351"}"#);
    assert_eq!(print_again(r#"{op_type="a"}"#, Dialect::Strict, &only_name), "{}");

    let mut module = Module::new("m");
    let (metadata, _) = read(&mut module, r#"{op_name="a" stack_frame_id=1}"#, Dialect::Strict).unwrap();
    let name = module.strings_mut().intern(b"f.py");
    let location =
        FileLocation { file_name_id: 1, function_name_id: 1, line: 2, end_line: 3, column: 4, end_column: 0 };
    module.header.stack_frames = StackFrameIndex {
        file_names: vec![name],
        function_names: vec![name],
        file_locations: vec![location],
        stack_frames: vec![StackFrame { file_location_id: 1, parent_frame_id: 0 }],
    };
    let inline = PrintOptions { print_inline_stack_frames: true, ..PrintOptions::default() };
    let mut out = Vec::new();
    write_metadata(&mut out, &module, &metadata, &inline);
    let expected = r#"{op_name="a" source_file="f.py" source_line=2 source_end_line=3 source_column=4}"#;
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}
