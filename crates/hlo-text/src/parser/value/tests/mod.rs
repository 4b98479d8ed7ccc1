mod accepted;
mod rejected;

use super::parse_attribute_value;
use crate::PrintOptions;
use crate::diagnostic::Code;
use crate::ir::{AttrKey, AttrValue, Module, Value};
use crate::lexer::Cursor;
use crate::parser::{Dialect, MAX_NESTING_DEPTH, ValueContext};
use crate::printer::value::write_attribute_value;

/// Reads `value` as that of `key`; errors come with their place, counted from the value on.
fn read(module: &mut Module, key: AttrKey, value: &str) -> Result<AttrValue, (Code, isize)> {
    let source = format!("{}={value}\n}}\n", key.name());
    let start = key.name().len() as isize + 1;
    let mut warnings = Vec::new();
    let mut context = ValueContext { module, dialect: Dialect::Strict, warnings: &mut warnings };
    let mut cursor = Cursor::new(&source);
    cursor.bump();
    parse_attribute_value(&mut cursor, &mut context, key)
        .map_err(|error| (error.code, error.primary.span.start as isize - start))
}

fn print_again(key: AttrKey, value: &str, options: &PrintOptions) -> Result<String, (Code, isize)> {
    let mut module = Module::new("m");
    let read = read(&mut module, key, value)?;
    let mut out = Vec::new();
    write_attribute_value(&mut out, &module, key, read, options);
    Ok(String::from_utf8(out).unwrap())
}

#[test]
fn values_are_printed_as_xla_prints_them() {
    for (key, rows) in accepted::ROWS {
        for (value, printed) in *rows {
            let again = print_again(*key, value, &PrintOptions::default());
            assert_eq!(again.as_deref(), Ok(*printed), "{}={value}", key.name());
        }
    }
}

#[test]
fn faults_are_reported_where_xla_reports_them() {
    for (key, rows) in rejected::ROWS {
        for (value, code, at) in *rows {
            let result = print_again(*key, value, &PrintOptions::default());
            assert_eq!(result, Err((*code, *at)), "{}={value}", key.name());
        }
    }
}

#[test]
fn values_that_say_nothing_are_known() {
    let rows: [(AttrKey, &str, bool); 9] = [
        (AttrKey::OperandPrecision, "{default,default}", true),
        (AttrKey::OperandPrecision, "{default,high}", false),
        (AttrKey::ResultAccuracy, "{mode=default}", true),
        (AttrKey::ResultAccuracy, "{tolerance={}}", false),
        (AttrKey::Statistics, "{visualizing_index=3}", true),
        (AttrKey::Window, "{rhs_reversal=1}", true),
        (AttrKey::SparsityConfig, "{}", true),
        (AttrKey::SparsityConfig, "{rhs={}}", false),
        (AttrKey::Origin, "{}", false),
    ];
    for (key, value, is_empty) in rows {
        let mut module = Module::new("m");
        let Ok(AttrValue::Value(id)) = read(&mut module, key, value) else { panic!("{value} is not read") };
        assert_eq!(module.value(id).is_empty(), is_empty, "{}={value}", key.name());
    }
}

#[test]
fn unknown_words_get_a_proposal() {
    let rows = [
        (AttrKey::Direction, "eq", "did you mean `EQ`?"),
        (AttrKey::FusionKind, "kLop", "did you mean `kLoop`?"),
        (AttrKey::FftType, "x", "the words are `FFT`, `IFFT`, `RFFT`, `IRFFT`"),
    ];
    for (key, word, help) in rows {
        let (mut module, mut warnings) = (Module::new("m"), Vec::new());
        let mut context =
            ValueContext { module: &mut module, dialect: Dialect::Strict, warnings: &mut warnings };
        let error = parse_attribute_value(&mut Cursor::new(word), &mut context, key).unwrap_err();
        assert_eq!(error.help.as_deref(), Some(help));
    }
}

#[test]
fn deep_and_wide_original_values_do_no_harm() {
    let deep = |depth: usize| format!("{{{}{{\"a\"}}{}}}", "(".repeat(depth), ")".repeat(depth));
    let text = deep(MAX_NESTING_DEPTH);
    assert_eq!(print_again(AttrKey::Origin, &text, &PrintOptions::default()), Ok(text));
    let error = print_again(AttrKey::Origin, &deep(MAX_NESTING_DEPTH + 1), &PrintOptions::default());
    assert_eq!(error, Err((Code::TooDeep, MAX_NESTING_DEPTH as isize + 1)));

    // Arrays far below, put again and again, and many empty places.
    let wide = format!("{{{}{}}}", "(".repeat(MAX_NESTING_DEPTH), "{\"a\"},".repeat(200_000));
    assert!(read(&mut Module::new("m"), AttrKey::Origin, &wide).is_ok());
}

#[test]
fn a_great_many_empty_wait_queues_take_linear_time() {
    let entry = r#""wait_on_operation_queues":[],"#;
    let almost = r#""wait_on_operation_queues""#;
    let text = format!("{{{}{}\"a\":1}}", entry.repeat(100_000), almost.repeat(100_000));
    let left = format!("{{{}\"a\":1}}", almost.repeat(100_000));
    assert_eq!(print_again(AttrKey::BackendConfig, &text, &PrintOptions::default()), Ok(left));
}

#[test]
fn options_change_values() {
    let sorted = PrintOptions { sort_backend_config: true, ..PrintOptions::default() };
    let rows = [
        (
            r#"{"b": {"y":1, "x":[1, {"d":"\"}", "c":-1.5e3}]}, "a":true}"#,
            r#"{"a":true,"b":{"x":[1,{"c":-1.5e3,"d":"\"}"}],"y":1}}"#,
        ),
        (r#"{"b":1,"a":}"#, r#"{"b":1,"a":}"#),
        (r#"{"b":1 "a":2}"#, r#"{"b":1 "a":2}"#),
        (r#""b a""#, r#""b a""#),
        ("{}", "{}"),
    ];
    for (text, printed) in rows {
        assert_eq!(print_again(AttrKey::BackendConfig, text, &sorted).as_deref(), Ok(printed));
    }
    let hidden = PrintOptions { print_channel_id: false, ..PrintOptions::default() };
    assert_eq!(print_again(AttrKey::ChannelId, "7", &hidden).as_deref(), Ok("_"));
    assert_eq!(print_again(AttrKey::Delta, "7", &hidden).as_deref(), Ok("7"));
}

#[test]
fn equal_values_share_an_id() {
    let mut module = Module::new("m");
    let first = read(&mut module, AttrKey::Dimensions, "{0,1}").unwrap();
    let second = read(&mut module, AttrKey::FftLength, "{ 0, 1 }").unwrap();
    assert_eq!(first, second);
    let AttrValue::Value(id) = first else { panic!("a list is a structured value") };
    assert_eq!(module.value(id), &Value::Ints(vec![0, 1]));
}
