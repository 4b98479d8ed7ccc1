//! `flatten-call-graph`: every call, loop and conditional gets computations of its own.

use hlo_text::ir::{ComputationId, InstructionId};

use crate::analysis::{CallGraph, Growth, copied_tree_sizes};
use crate::edit::Editor;
use crate::pass::{Pass, PassContext, PassResult};

/// What the names of copies end with.
const SUFFIX: &str = "clone";

/// The pass.
pub(crate) struct FlattenCallGraph;

impl Pass for FlattenCallGraph {
    fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()> {
        // Callers are those of the start: a copy calls copies from the beginning.
        let graph = CallGraph::of(edit);
        let shared = shared_calls(&graph);
        let sizes = copied_tree_sizes(edit, &graph);
        let mut growth = Growth::default();
        let limit = usize::try_from(context.rewrites_left()).unwrap_or(usize::MAX);
        for &(caller, computation) in shared.iter().take(limit) {
            growth.add(caller, sizes[computation.index()]);
        }
        growth.check(edit)?;
        for (caller, computation) in shared {
            if context.may_rewrite(edit, caller) {
                context.applied(
                    edit,
                    caller,
                    format_args!("gets its own copy of `{}`", edit.computation_name(computation)),
                );
                give_own_copy(edit, caller, computation);
            }
        }
        Ok(())
    }
}

/// The calls that get copies, and of what, in the order they get them.
fn shared_calls(graph: &CallGraph) -> Vec<(InstructionId, ComputationId)> {
    let mut shared = Vec::new();
    for computation in graph.post_order() {
        let callers = graph.callers(computation);
        // The calls of one instruction follow each other: of an instruction that calls twice, all get copies.
        let kept = usize::from(callers.get(1) != callers.first());
        shared.extend(callers.iter().skip(kept).map(|&caller| (caller, computation)));
    }
    shared
}

/// Copies `computation`, and all it calls, for the first call of it by `caller`.
fn give_own_copy(edit: &mut Editor<'_>, caller: InstructionId, computation: ComputationId) {
    let copy = |edit: &mut Editor<'_>, caller, original| {
        let (copy, _) = edit.clone_computation(original, SUFFIX);
        edit.replace_first_call(caller, original, copy);
        copy
    };
    let mut worklist = vec![copy(edit, caller, computation)];
    while let Some(current) = worklist.pop() {
        for instruction in edit.live_instructions(current).collect::<Vec<_>>() {
            let mut callees = Vec::new();
            edit.for_each_called_computation(instruction, |callee| callees.push(callee));
            for callee in callees {
                worklist.push(copy(edit, instruction, callee));
            }
        }
    }
}
