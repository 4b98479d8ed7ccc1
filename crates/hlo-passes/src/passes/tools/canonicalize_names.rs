//! `canonicalize-names`: names that depend on what a module computes, not on who wrote it.
//!
//! Instructions are called as their opcodes are, parameters `p0`, `p1` and so on, the entry computation `main` and the
//! others `computation`; numbers are added as XLA does it. The entry computation comes first, callers before what they
//! call, instructions in post-order.

use hlo_text::ir::{ComputationId, InstructionId, Opcode};

use crate::analysis::{CallGraph, PostOrder};
use crate::edit::Editor;
use crate::pass::{Pass, PassContext, PassResult};

/// The pass.
pub(crate) struct CanonicalizeNames;

impl Pass for CanonicalizeNames {
    fn run(&self, edit: &mut Editor<'_>, _context: &mut PassContext<'_>) -> PassResult<()> {
        let entry = edit.entry();
        let mut order = CallGraph::of(edit).post_order();
        order.reverse();
        // Computations that nobody calls would come before the entry.
        order.sort_by_key(|&id| id != entry);
        let computations: Vec<(ComputationId, &str)> =
            order.iter().map(|&id| (id, if id == entry { "main" } else { "computation" })).collect();
        let mut post_order = PostOrder::default();
        let mut instructions = Vec::new();
        for &(id, _) in &computations {
            post_order.append(edit, id, &mut instructions);
        }
        let wanted = |id: InstructionId| {
            let instruction = edit.instruction(id);
            let name = match instruction.opcode {
                Opcode::Parameter => format!("p{}", instruction.parameter_number),
                opcode => opcode.name().to_owned(),
            };
            (id, name)
        };
        let names: Vec<(InstructionId, String)> = instructions.into_iter().map(wanted).collect();
        edit.rename_all(&computations, names);
        Ok(())
    }
}
