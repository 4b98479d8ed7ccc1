//! Which instructions are collectives, and who takes part in them.

use hlo_text::Module;
use hlo_text::ir::{AttrKey, InstructionId, Opcode};

/// Whether the opcode is an exchange among devices, its asynchronous halves included; sends and receives are none.
pub fn is_collective(opcode: Opcode) -> bool {
    use Opcode as O;
    matches!(
        opcode,
        O::AllGather
            | O::AllGatherStart
            | O::AllGatherDone
            | O::AllReduce
            | O::AllReduceStart
            | O::AllReduceDone
            | O::AllToAll
            | O::CollectiveBroadcast
            | O::CollectivePermute
            | O::CollectivePermuteStart
            | O::CollectivePermuteDone
            | O::RaggedAllToAll
            | O::ReduceScatter
    )
}

/// What the numbers in the groups of a collective stand for (XLA's `CollectiveOpGroupMode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupMode {
    /// Replicas; each partition has groups of its own.
    CrossReplica,
    /// Partitions; each replica has groups of its own.
    CrossPartition,
    /// Replicas; all their partitions take part together.
    CrossReplicaAndPartition,
    /// Devices: the number of the replica times the number of partitions, plus the number of the partition.
    FlattenedIds,
}

/// What the groups of a collective stand for; `None` if its attributes contradict each other.
pub fn group_mode(module: &Module, collective: InstructionId) -> Option<GroupMode> {
    use Opcode as O;
    let opcode = module.instruction(collective).opcode;
    let has_flag = matches!(
        opcode,
        O::AllGather | O::AllGatherStart | O::AllReduce | O::AllReduceStart | O::ReduceScatter
    );
    let is_global = has_flag && module.flag(collective, AttrKey::UseGlobalDeviceIds);
    match (module.int(collective, AttrKey::ChannelId).is_some(), is_global) {
        (false, false) => Some(GroupMode::CrossReplica),
        (false, true) => None,
        (true, true) => Some(GroupMode::FlattenedIds),
        (true, false) if has_flag => Some(GroupMode::CrossReplicaAndPartition),
        (true, false) => Some(GroupMode::CrossPartition),
    }
}
