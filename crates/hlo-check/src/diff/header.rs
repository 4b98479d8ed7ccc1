//! Differences between `HloModule` lines.

use hlo_text::ir::HeaderKey;
use hlo_text::{Module, PrintOptions};

use super::DiffOptions;

/// An attribute of the `HloModule` line that is different.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderChange {
    /// Its spelling; `HloModule` for the module's name.
    pub name: String,
    /// Its text before, `None` if it wasn't there.
    pub before: Option<String>,
    /// Its text after, `None` if it isn't there.
    pub after: Option<String>,
}

/// The attributes that are different, in printing order.
pub(super) fn changes(before: &Module, after: &Module, options: &DiffOptions) -> Vec<HeaderChange> {
    let print = PrintOptions { print_metadata: options.metadata, ..PrintOptions::default() };
    let mut changes = Vec::new();
    let mut note = |name: &str, before: Option<String>, after: Option<String>| {
        if before != after {
            changes.push(HeaderChange { name: name.to_owned(), before, after });
        }
    };
    if options.names {
        note("HloModule", Some(module_name(before)), Some(module_name(after)));
    }
    for &key in HeaderKey::ALL {
        // Where values come from is metadata as well.
        if key != HeaderKey::OriginRecoveryTable || options.metadata {
            note(key.name(), before.header_text(key, &print), after.header_text(key, &print));
        }
    }
    let (old, new) = (unknown(before), unknown(after));
    for (name, text) in &old {
        let there = new.iter().find(|(other, _)| other == name).map(|(_, text)| text.clone());
        note(name, Some(text.clone()), there);
    }
    for (name, text) in &new {
        if !old.iter().any(|(other, _)| other == name) {
            note(name, None, Some(text.clone()));
        }
    }
    changes
}

fn module_name(module: &Module) -> String {
    String::from_utf8_lossy(module.strings().get(module.name)).into_owned()
}

/// The attributes nobody knows, by name.
fn unknown(module: &Module) -> Vec<(String, String)> {
    let split = |text: String| match text.split_once('=') {
        Some((name, value)) => (name.to_owned(), value.to_owned()),
        None => (text, String::new()),
    };
    let texts = module.header.unknown.iter().map(|&symbol| module.strings().get(symbol));
    texts.map(|text| split(String::from_utf8_lossy(text).into_owned())).collect()
}
