//! `canonicalize-names`: names that depend on what a module computes, not on who wrote it.
//!
//! Instructions are called as their opcodes are, parameters `p0`, `p1` and so on, the entry computation `main` and the
//! others `computation`; numbers are added as XLA does it. The entry computation comes first, then the others from the last
//! one printed to the first, instructions as they are printed.

use hlo_text::ir::{ComputationId, InstructionId, Opcode};

use crate::edit::Editor;
use crate::pass::{Pass, PassContext, PassResult};

/// The pass.
pub(crate) struct CanonicalizeNames;

impl Pass for CanonicalizeNames {
    fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()> {
        let entry = edit.entry();
        if !context.may_rewrite(edit, edit.computation(entry).root) {
            return Ok(());
        }
        // As they are printed, so that reading the print and naming everything anew gives the same.
        let mut order = edit.printing_order();
        order.reverse();
        // Computations that nobody calls would come before the entry.
        order.sort_by_key(|(id, _)| *id != entry);
        let computations: Vec<(ComputationId, &str)> =
            order.iter().map(|&(id, _)| (id, if id == entry { "main" } else { "computation" })).collect();
        let instructions = order.iter().flat_map(|(_, instructions)| instructions.iter().copied());
        let instructions = instructions.filter(|&id| !edit.is_removed(id));
        let wanted = |id: InstructionId| {
            let instruction = edit.instruction(id);
            let name = match instruction.opcode {
                Opcode::Parameter => format!("p{}", instruction.parameter_number),
                opcode => opcode.name().to_owned(),
            };
            (id, name)
        };
        let names: Vec<(InstructionId, String)> = instructions.map(wanted).collect();
        edit.rename_all(&computations, names);
        Ok(())
    }
}
