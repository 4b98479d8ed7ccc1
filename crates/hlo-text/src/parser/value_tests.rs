use super::value::parse_attribute_value;
use super::{Dialect, ValueContext};
use crate::PrintOptions;
use crate::diagnostic::Code;
use crate::ir::{AttrKey, Module};
use crate::lexer::Cursor;
use crate::printer::value::write_attribute_value;

/// Reads `value` as that of `key` and prints it again; errors come with their place, counted from the value on.
fn print_again(key: AttrKey, value: &str) -> Result<String, (Code, isize)> {
    let source = format!("{}={value}\n}}\n", key.name());
    let start = key.name().len() + 1;
    let mut module = Module::new("m");
    let mut warnings = Vec::new();
    let mut context = ValueContext { module: &mut module, dialect: Dialect::Strict, warnings: &mut warnings };
    let mut cursor = Cursor::new(&source);
    cursor.bump();
    match parse_attribute_value(&mut cursor, &mut context, key) {
        Ok(read) => {
            let mut out = Vec::new();
            write_attribute_value(&mut out, &module, key, read, &PrintOptions::default());
            Ok(String::from_utf8(out).unwrap())
        }
        Err(error) => Err((error.code, error.primary.span.start as isize - start as isize)),
    }
}

#[test]
fn dev() {
    let Ok(path) = std::env::var("HLO_DEV_ROWS") else { return };
    let text = std::fs::read_to_string(path).unwrap();
    for row in text.split('\x1e').filter(|row| !row.is_empty()) {
        let mut fields = row.split('\x1f');
        let (name, value, expected) =
            (fields.next().unwrap(), fields.next().unwrap(), fields.next().unwrap());
        let key = *AttrKey::ALL.iter().find(|key| key.name() == name).unwrap();
        let mine = match print_again(key, value) {
            Ok(text) => format!("OK {text}"),
            Err((code, at)) => format!("ERR {at} {}", code.as_str()),
        };
        let same =
            expected == mine || mine.starts_with(&format!("{expected} ")) && expected.starts_with("ERR");
        println!(
            "{} {name}={value:?}\n      mine {mine:?}{}",
            if same { "same" } else { "DIFF" },
            if same { String::new() } else { format!("\n      xla  {expected:?}") }
        );
    }
}
