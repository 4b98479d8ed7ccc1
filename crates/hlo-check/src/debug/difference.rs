//! What is different between two modules.

use std::time::Duration;

use hlo_text::{Module, PrintOptions};
use similar::{ChangeTag, TextDiff};

use super::style::{Tint, paint, shorten};

/// How long a difference is optimised before it is shown as it is.
const PATIENCE: Duration = Duration::from_secs(5);

/// The instructions that are in one of the modules only; empty if both print the same.
pub(crate) fn between(before: &Module, after: &Module, color: bool) -> String {
    let options = PrintOptions::default();
    let (before, after) = (before.to_text(&options), after.to_text(&options));
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(before.as_str(), after.as_str());
    let mut out = String::new();
    for change in diff.iter_all_changes() {
        let (sign, tint) = match change.tag() {
            ChangeTag::Equal => continue,
            ChangeTag::Delete => ("-", Tint::Removed),
            ChangeTag::Insert => ("+", Tint::Added),
        };
        let line = shorten(change.value().trim_end());
        if !line.is_empty() {
            out.push_str(&paint(color, tint, &format!("{sign} {line}")));
            out.push('\n');
        }
    }
    out
}
