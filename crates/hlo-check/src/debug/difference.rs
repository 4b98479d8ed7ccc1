//! What is different between two modules, as sessions show it.

use hlo_text::Module;

use crate::diff::{DiffOptions, ModuleDiff, RenderOptions};

/// How many instructions that are the same are shown around those that aren't, after passes.
const CONTEXT: usize = 1;

/// What became of the instructions; empty if both modules are the same.
pub(crate) fn between(before: &Module, after: &Module, color: bool) -> String {
    render(before, after, RenderOptions { color, context: CONTEXT, ..RenderOptions::default() })
}

/// The same as `hlo-check diff` shows it.
pub(crate) fn in_full(before: &Module, after: &Module, color: bool) -> String {
    render(before, after, RenderOptions { color, ..RenderOptions::default() })
}

fn render(before: &Module, after: &Module, options: RenderOptions) -> String {
    ModuleDiff::new(before, after, &DiffOptions::default()).render(&options)
}
