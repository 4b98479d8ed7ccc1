//! Which instructions do more than compute their result.

use super::{AttrKey, InstructionId, Module, Opcode};

impl Opcode {
    /// Whether it is one that another must follow: a start, an update, a send, a receive. What follows has it for its
    /// first operand.
    pub fn begins_pair(self) -> bool {
        use Opcode as O;
        matches!(
            self,
            O::AsyncStart
                | O::AsyncUpdate
                | O::AllReduceStart
                | O::AllGatherStart
                | O::CopyStart
                | O::CollectivePermuteStart
                | O::Send
                | O::Recv
        )
    }
}

impl Module {
    /// Whether the instruction itself has a side effect (XLA's `HasSideEffectNoRecurse`): sends, random numbers,
    /// constrained or channel collectives, flagged custom calls. What it calls doesn't count.
    ///
    /// In a module that is one program for all partitions, channel ids alone are no side effect; a text module is
    /// such when its header gives a number of partitions.
    pub fn has_own_side_effect(&self, id: InstructionId) -> bool {
        use Opcode as O;
        let is_spmd = self.header.num_partitions != 1;
        let channel = || !is_spmd && self.int(id, AttrKey::ChannelId).is_some();
        match self.instruction(id).opcode {
            O::Send
            | O::SendDone
            | O::Recv
            | O::RecvDone
            | O::Rng
            | O::RngGetAndUpdateState
            | O::Infeed
            | O::Outfeed
            | O::AllReduceStart
            | O::AllReduceDone
            | O::AllGatherStart
            | O::AllGatherDone
            | O::CollectiveBroadcast
            | O::CollectivePermuteStart
            | O::CollectivePermuteDone => true,
            O::AllToAll | O::AllGather | O::AllReduce | O::ReduceScatter => {
                self.flag(id, AttrKey::ConstrainLayout) || channel()
            }
            O::CollectivePermute | O::RaggedAllToAll => channel(),
            O::CustomCall => self.flag(id, AttrKey::CustomCallHasSideEffect),
            _ => false,
        }
    }
}
