//! `strip-metadata`: removes what says where instructions come from.

use hlo_text::ir::{AttrKey, InstructionId};

use crate::edit::Editor;
use crate::options::{OptionInfo, OptionType};
use crate::pass::{Pass, PassContext, PassResult};

/// What the pass takes.
pub(crate) const OPTIONS: &[OptionInfo] = &[OptionInfo {
    name: "origin",
    kind: OptionType::Flag(false),
    doc: "removes `origin` and `statistics` as well",
}];

/// The pass.
pub(crate) struct StripMetadata;

impl Pass for StripMetadata {
    fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()> {
        let root = edit.computation(edit.entry()).root;
        if !context.may_rewrite(edit, root) {
            return Ok(());
        }
        let more = context.options.flag("origin");
        let ids: Vec<InstructionId> =
            edit.computations().iter().flat_map(|&id| edit.live_instructions(id)).collect();
        for id in ids {
            if edit.instruction(id).metadata.is_some() {
                edit.set_metadata(id, None);
            }
            for key in [AttrKey::Origin, AttrKey::Statistics].into_iter().filter(|_| more) {
                if edit.attribute(id, key).is_some() {
                    edit.set_attribute(id, key, None);
                }
            }
        }
        edit.remove_stack_frames();
        Ok(())
    }
}
