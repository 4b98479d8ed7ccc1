//! What only readers see: names and metadata.

use hlo_text::ir::{ComputationId, InstructionId, StackFrameIndex};

use super::Editor;

impl Editor<'_> {
    /// Gives all computations and instructions new names, made unique in the order of the lists, which must be
    /// complete.
    pub fn rename_all(
        &mut self,
        computations: &[(ComputationId, &str)],
        instructions: impl IntoIterator<Item = (InstructionId, String)>,
    ) {
        self.touched = true;
        self.module.rename_all(computations, instructions);
    }

    /// Removes the tables of stack frames; metadata that refers to them must be gone.
    pub fn remove_stack_frames(&mut self) {
        self.touched = true;
        self.module.header.stack_frames = StackFrameIndex::default();
    }
}
