//! `metadata-naming`: every instruction of the entry computation gets an `op_name` that tells them apart.
//!
//! The new name is `OLD.OPCODE.NUMBER`, or `OPCODE.NUMBER` where there was none; the number is the instruction's place
//! in post-order, from 0. Other fields of the metadata stay. So the same module always gets the same names, and two
//! instructions never share one unless their old names already ended alike.
//!
//! ```text
//! ROOT n = f32[2] negate(a), metadata={op_type="neg" op_name="jit(f)/neg"}
//! ROOT n = f32[2] negate(a), metadata={op_type="neg" op_name="jit(f)/neg.negate.1"}
//! ```
//!
//! Limits: other computations are left alone; a second run appends again.
//!
//! Confidence: medium, the format is ours.

use hlo_text::ir::Metadata;

use crate::edit::Editor;
use crate::pass::{Pass, PassContext, PassResult};

/// The pass.
pub(crate) struct MetadataNaming;

impl Pass for MetadataNaming {
    fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()> {
        for (number, id) in edit.post_order(edit.entry()).into_iter().enumerate() {
            if !context.may_rewrite(edit, id) {
                continue;
            }
            let instruction = edit.instruction(id);
            let opcode = instruction.opcode;
            let old =
                instruction.metadata.map(|metadata| edit.metadata(metadata).clone()).unwrap_or_default();
            let mut name = match old.op_name {
                Some(name) => [edit.strings().get(name), b"."].concat(),
                None => Vec::new(),
            };
            name.extend_from_slice(format!("{opcode}.{number}").as_bytes());
            if context.wants_remarks {
                let shown = String::from_utf8_lossy(&name).into_owned();
                context.applied(edit, id, format_args!("op_name becomes \"{shown}\""));
            }
            let op_name = Some(edit.intern(name));
            let metadata = edit.intern_metadata(Metadata { op_name, ..old });
            edit.set_metadata(id, Some(metadata));
        }
        if context.wants_remarks {
            for &computation in edit.computations() {
                if computation != edit.entry() {
                    let root = edit.computation(computation).root;
                    context.missed(edit, root, "its computation is not the entry");
                }
            }
        }
        Ok(())
    }
}
