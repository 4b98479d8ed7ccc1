//! How much copying computations would add to a module, known before anything is copied.

use hlo_text::Module;
use hlo_text::ir::{ComputationId, InstructionId};

use super::CallGraph;
use crate::edit::Editor;
use crate::pass::{PassError, PassResult};

/// How many instructions the copies of one run of a pass may have. Where a computation is called twice by one that is
/// called twice, and so on, they would double at every step; modules that frameworks write don't come near.
pub const MAX_COPIED_INSTRUCTIONS: u64 = 1 << 24;

/// Adds up what a pass is going to copy. Sums stop at the largest number.
#[derive(Debug, Default)]
pub(crate) struct Growth {
    copied: u64,
    /// The first instruction whose copies are too many.
    culprit: Option<InstructionId>,
}

impl Growth {
    /// So many instructions are copied for `id`.
    pub(crate) fn add(&mut self, id: InstructionId, count: u64) {
        self.copied = self.copied.saturating_add(count);
        if self.copied > MAX_COPIED_INSTRUCTIONS {
            self.culprit.get_or_insert(id);
        }
    }

    /// Whether that is bearable.
    ///
    /// # Errors
    /// It is not: how large the module would become, at the instruction where the copies become too many.
    pub(crate) fn check(&self, module: &Module) -> PassResult<()> {
        let Some(culprit) = self.culprit else { return Ok(()) };
        let sizes = module.computations().iter().map(|&id| module.live_instructions(id).count() as u64);
        let before: u64 = sizes.sum();
        let at_least = if self.copied == u64::MAX { "at least " } else { "" };
        let message = format!(
            "the module of {before} instructions would get {at_least}{} more by copying, here and elsewhere; at most \
             {MAX_COPIED_INSTRUCTIONS} may be copied",
            self.copied
        );
        Err(PassError::at(module, culprit, message))
    }
}

/// How many instructions a copy of `computation` adds: its own and the bodies of its fusions and asynchronous starts,
/// whose sizes are known from `sizes`, by [`ComputationId`].
pub(crate) fn copied_size(edit: &Editor<'_>, computation: ComputationId, sizes: &[u64]) -> u64 {
    edit.live_instructions(computation).fold(0, |size: u64, id| {
        let body = edit.own_body(id).map_or(0, |body| sizes[body.index()]);
        size.saturating_add(1).saturating_add(body)
    })
}

/// As [`copied_size`] if everything the computation calls is copied with it, once per call; by [`ComputationId`].
pub(crate) fn copied_tree_sizes(edit: &Editor<'_>, graph: &CallGraph) -> Vec<u64> {
    let mut sizes = vec![0; edit.computation_id_limit()];
    let mut trees = vec![0_u64; edit.computation_id_limit()];
    for computation in graph.post_order() {
        let size = copied_size(edit, computation, &sizes);
        let mut tree = size;
        for id in edit.live_instructions(computation) {
            edit.for_each_called_computation(id, |callee| tree = tree.saturating_add(trees[callee.index()]));
        }
        sizes[computation.index()] = size;
        trees[computation.index()] = tree;
    }
    trees
}
