//! Canonical instruction names: `tmp_0`, `tmp_1`, numbered within a computation as they are needed.

use super::write_int;
use crate::ir::{Computation, InstructionId, Module};

const NONE: u32 = u32::MAX;

/// The canonical names of the computation that is being printed.
#[derive(Default)]
pub(super) struct CanonicalNames {
    /// By instruction; [`NONE`]: not needed so far.
    numbers: Vec<u32>,
    next: u32,
}

impl CanonicalNames {
    /// Starts a computation; gives what [`Self::resume`] needs to go on with the one around it.
    pub(super) fn start(&mut self, module: &Module, computation: &Computation) -> u32 {
        // An instruction belongs to one computation, so bodies don't disturb the numbers around them.
        self.numbers.resize(module.instruction_id_limit(), NONE);
        for &id in &computation.instructions {
            self.numbers[id.index()] = NONE;
        }
        std::mem::take(&mut self.next)
    }

    /// Goes on with the computation around the one that is finished.
    pub(super) fn resume(&mut self, next: u32) {
        self.next = next;
    }

    /// Appends the name of an instruction.
    pub(super) fn write(&mut self, out: &mut Vec<u8>, id: InstructionId) {
        let Some(number) = self.numbers.get_mut(id.index()) else { return };
        if *number == NONE {
            *number = self.next;
            self.next += 1;
        }
        out.extend_from_slice(b"tmp_");
        write_int(out, i64::from(*number));
    }
}
