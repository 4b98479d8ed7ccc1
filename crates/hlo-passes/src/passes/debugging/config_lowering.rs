//! `config-lowering`: logs which opcodes each computation has, and changes nothing.
//!
//! For every computation, in the module's order, one line goes to the log:
//!
//! ```text
//! HLO Ops used in computation: e: negate, parameter
//! ```
//!
//! Opcodes come once each, in alphabetical order. Fusion bodies, reducers and loop bodies are computations like
//! others. The original lowers its configuration elsewhere; only this log is known of it.
//!
//! Confidence: medium.

use hlo_text::ir::Opcode;

use crate::edit::Editor;
use crate::pass::{Pass, PassContext, PassResult};

/// The pass.
pub(crate) struct ConfigLowering;

impl Pass for ConfigLowering {
    fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()> {
        for &computation in edit.computations() {
            let mut used = vec![false; Opcode::ALL.len()];
            for id in edit.live_instructions(computation) {
                used[edit.instruction(id).opcode as usize] = true;
            }
            let used = Opcode::ALL.iter().filter(|&&opcode| used[opcode as usize]);
            let mut names: Vec<&str> = used.map(|opcode| opcode.name()).collect();
            names.sort_unstable();
            let name = edit.computation_name(computation);
            context.log.push(format!("HLO Ops used in computation: {name}: {}", names.join(", ")));
        }
        Ok(())
    }
}
