//! `flatten-call-graph`: every call, loop and conditional gets computations of its own.

use hlo_text::ir::{ComputationId, InstructionId, Opcode};

use crate::analysis::CallGraph;
use crate::edit::Editor;
use crate::pass::{Pass, PassContext, PassError, PassResult};

/// How many instructions the copies may have: a computation that is called twice by one that is called twice, and so
/// on, would otherwise give copies without end.
pub(crate) const MAX_COPIED_INSTRUCTIONS: usize = 1 << 24;

/// What the names of copies end with.
const SUFFIX: &str = "clone";

/// The pass.
pub(crate) struct FlattenCallGraph;

impl Pass for FlattenCallGraph {
    fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()> {
        // Callers are those of the start: a copy calls copies from the beginning.
        let graph = CallGraph::of(edit);
        let mut copied = 0;
        for computation in graph.post_order() {
            let callers = graph.callers(computation);
            if callers.iter().any(|&caller| is_async(edit, caller)) {
                continue;
            }
            for (index, &caller) in callers.iter().enumerate() {
                // The calls of one instruction follow each other.
                if index == 0 && callers.get(1) != Some(&caller) {
                    continue;
                }
                if context.may_rewrite(edit, caller) {
                    context.applied(
                        edit,
                        caller,
                        format_args!("gets its own copy of `{}`", edit.computation_name(computation)),
                    );
                    give_own_copy(edit, caller, computation, &mut copied)?;
                }
            }
        }
        Ok(())
    }
}

fn is_async(edit: &Editor<'_>, caller: InstructionId) -> bool {
    matches!(edit.instruction(caller).opcode, Opcode::AsyncStart | Opcode::AsyncUpdate | Opcode::AsyncDone)
}

/// Copies `computation`, and all it calls, for the first call of it by `caller`.
fn give_own_copy(
    edit: &mut Editor<'_>,
    caller: InstructionId,
    computation: ComputationId,
    copied: &mut usize,
) -> PassResult<()> {
    let mut copy = |edit: &mut Editor<'_>, caller, original| {
        *copied += edit.computation(original).instructions.len();
        if *copied > MAX_COPIED_INSTRUCTIONS {
            let message = format!("the copies would have more than {MAX_COPIED_INSTRUCTIONS} instructions");
            return Err(PassError::at(edit, caller, message));
        }
        let (copy, _) = edit.clone_computation(original, SUFFIX);
        edit.replace_first_call(caller, original, copy);
        Ok(copy)
    };
    let mut worklist = vec![copy(edit, caller, computation)?];
    while let Some(current) = worklist.pop() {
        for instruction in edit.live_instructions(current).collect::<Vec<_>>() {
            let mut callees = Vec::new();
            edit.for_each_called_computation(instruction, |callee| callees.push(callee));
            for callee in callees {
                worklist.push(copy(edit, instruction, callee)?);
            }
        }
    }
    Ok(())
}
