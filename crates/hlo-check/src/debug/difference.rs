//! What is different between two modules, as sessions show it.

use hlo_text::Module;

use crate::diff::{DiffOptions, ModuleDiff, RenderOptions};

/// How many instructions that are the same are shown around those that aren't.
const CONTEXT: usize = 1;

/// What became of the instructions; empty if both modules are the same.
pub(crate) fn between(before: &Module, after: &Module, color: bool) -> String {
    let diff = ModuleDiff::new(before, after, &DiffOptions::default());
    diff.render(&RenderOptions { color, context: CONTEXT, ..RenderOptions::default() })
}
