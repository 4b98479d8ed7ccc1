//! `--list-passes`.

use std::io::{self, Write};

use hlo_passes::options::OptionType;
use hlo_passes::registry::{self, Meaning, PassInfo};
use serde_json::{Value, json};

use super::arguments::ListForm;

/// Writes the passes.
pub(super) fn write(out: &mut dyn Write, form: ListForm) -> io::Result<()> {
    match form {
        ListForm::Keys => {
            let keys: Vec<&str> = registry::all().map(|info| info.key).collect();
            writeln!(out, "{}", keys.join(","))
        }
        ListForm::Long => write_table(out),
        ListForm::Json => {
            let passes: Vec<Value> = registry::all().map(describe).collect();
            writeln!(out, "{}", Value::from(passes))
        }
    }
}

fn write_table(out: &mut dyn Write) -> io::Result<()> {
    let width = registry::all().map(|info| info.key.len()).max().unwrap_or(0);
    for (number, info) in registry::all().enumerate() {
        let status = info.status.name();
        writeln!(out, "{:>3} {:<width$} {status:<13} {}", number + 1, info.key, info.doc)?;
    }
    writeln!(out)?;
    for pipeline in registry::PIPELINES {
        let name = format!("@{}", pipeline.name);
        writeln!(out, "    {name:<width$} {:<13} {}", "pipeline", pipeline.doc)?;
    }
    Ok(())
}

/// All fields of a row.
fn describe(info: &PassInfo) -> Value {
    let (meaning, detail) = match info.meaning {
        Meaning::Same => ("same", None),
        Meaning::SameAfter(reading) => ("same-after", Some(reading)),
        Meaning::Changes(what) => ("changes", Some(what)),
    };
    let options = info.options.iter().map(|option| {
        let default = match option.kind {
            OptionType::Flag(on) => Value::from(on),
            OptionType::Integer(number) => Value::from(number),
            OptionType::Text(text) => Value::from(text),
            OptionType::List => Value::Array(Vec::new()),
        };
        json!({ "name": option.name, "default": default, "doc": option.doc })
    });
    json!({
        "key": info.key,
        "class": info.class,
        "kind": word(info.kind),
        "origin": word(info.origin),
        "families": info.families.iter().map(word).collect::<Vec<_>>(),
        "confidence": word(info.confidence),
        "meaning": meaning,
        "meaning_detail": detail,
        "may_remove": info.may_remove.iter().map(word).collect::<Vec<_>>(),
        "status": info.status.name(),
        "reason": info.status.reason(),
        "options": options.collect::<Vec<_>>(),
        "doc": info.doc,
    })
}

/// The name of a variant in kebab case.
pub(crate) fn word(variant: impl std::fmt::Debug) -> String {
    let mut out = String::new();
    for c in format!("{variant:?}").chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('-');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}
