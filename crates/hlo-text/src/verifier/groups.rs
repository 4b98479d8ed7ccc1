//! Replica groups: which participants of a collective work together.

use crate::diagnostic::Code;
use crate::ir::{AttrKey, InstructionId, Opcode, ReplicaGroups, Value};

use super::{Check, Verifier};

/// What the numbers of replica groups stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GroupMode {
    CrossReplica,
    CrossPartition,
    CrossReplicaAndPartition,
    FlattenedId,
}

impl GroupMode {
    fn name(self) -> &'static str {
        match self {
            Self::CrossReplica => "cross_replica",
            Self::CrossPartition => "cross_partition",
            Self::CrossReplicaAndPartition => "cross_replica_and_partition",
            Self::FlattenedId => "flattened_id",
        }
    }

    fn participants(self) -> &'static str {
        match self {
            Self::CrossReplica | Self::CrossReplicaAndPartition => "replicas",
            Self::CrossPartition => "partitions",
            Self::FlattenedId => "devices",
        }
    }
}

impl Verifier<'_> {
    /// What the numbers of the groups stand for.
    pub(super) fn group_mode(&self, id: InstructionId) -> Result<GroupMode, super::Violation> {
        let module = self.module;
        // Where modules are handed on, channel 0 is none.
        let has_channel = self.number(id, AttrKey::ChannelId).is_some_and(|channel| channel != 0);
        let opcode = self.opcode(id);
        if opcode.presence(AttrKey::UseGlobalDeviceIds).is_none() {
            return Ok(if has_channel { GroupMode::CrossPartition } else { GroupMode::CrossReplica });
        }
        match (has_channel, module.flag(id, AttrKey::UseGlobalDeviceIds)) {
            (false, false) => Ok(GroupMode::CrossReplica),
            (true, false) => Ok(GroupMode::CrossReplicaAndPartition),
            (true, true) => Ok(GroupMode::FlattenedId),
            (false, true) => {
                let message =
                    format!("{opcode} `{}` has use_global_device_ids=true, but no channel_id", self.name(id));
                Err(self.wrong(Code::GroupMode, id, message))
            }
        }
    }

    pub(super) fn groups(&self, id: InstructionId) -> Option<&ReplicaGroups> {
        match self.module.value_of(id, AttrKey::ReplicaGroups)? {
            Value::ReplicaGroups(groups) => Some(groups),
            _ => None,
        }
    }

    /// How many participants a group has, 1 if nothing says; `None` if it can't be counted.
    pub(super) fn group_size(&self, id: InstructionId, mode: GroupMode) -> Option<i64> {
        let header = &self.module.header;
        let (replicas, partitions) = (header.replica_count, header.num_partitions);
        let first = self.groups(id).filter(|groups| !groups.is_empty()).map(|groups| match groups {
            ReplicaGroups::Lists(lists) => lists.first().map(|list| list.len() as i64),
            other => other.group_size(),
        });
        match mode {
            GroupMode::CrossReplica => first.unwrap_or(Some(replicas)),
            GroupMode::CrossPartition => first.unwrap_or(Some(partitions)),
            GroupMode::CrossReplicaAndPartition => first.unwrap_or(Some(replicas))?.checked_mul(partitions),
            GroupMode::FlattenedId => first.unwrap_or(None),
        }
    }

    /// Groups name every participant once.
    pub(super) fn check_groups(&self, id: InstructionId, mode: GroupMode) -> Check {
        let Some(groups) = self.groups(id) else { return Ok(()) };
        let opcode = self.opcode(id);
        if groups.is_empty() {
            if mode == GroupMode::FlattenedId {
                let message =
                    format!("{opcode} `{}` with global device numbers needs replica groups", self.name(id));
                return Err(self.wrong(Code::GroupsMissing, id, message));
            }
            return Ok(());
        }
        if !self.options.check_replica_groups {
            return Ok(());
        }
        let wrong = |what: String| {
            Err(self.wrong(
                Code::ReplicaGroups,
                id,
                format!("the replica groups of {opcode} `{}` {what}", self.name(id)),
            ))
        };
        let Some(count) = groups.device_count() else { return wrong("can't be counted".to_owned()) };
        if let ReplicaGroups::Lists(lists) = groups {
            if lists.iter().any(Vec::is_empty) {
                return wrong("have an empty one".to_owned());
            }
            // Every number below the count is there once, or one is out of range or repeated.
            let mut seen = vec![false; usize::try_from(count).unwrap_or(0)];
            for &number in lists.iter().flatten() {
                let Some(seen) = usize::try_from(number).ok().and_then(|index| seen.get_mut(index)) else {
                    let last = count - 1;
                    return wrong(format!(
                        "name {number}, but with {count} numbers they must be 0 to {last}"
                    ));
                };
                if std::mem::replace(seen, true) {
                    return wrong(format!("name {number} twice"));
                }
            }
        }
        let header = &self.module.header;
        let wanted = match mode {
            GroupMode::CrossReplica | GroupMode::CrossReplicaAndPartition => header.replica_count,
            GroupMode::CrossPartition => header.num_partitions,
            GroupMode::FlattenedId => header.replica_count.saturating_mul(header.num_partitions),
        };
        if wanted != 1 && wanted != count {
            return wrong(format!(
                "name {count} {}, but the module has {wanted} (mode {})",
                mode.participants(),
                mode.name()
            ));
        }
        let uniform = !matches!(opcode, Opcode::AllReduce | Opcode::AllReduceStart);
        if let ReplicaGroups::Lists(lists) = groups
            && uniform
            && lists.iter().any(|list| list.len() != lists[0].len())
        {
            let message = format!("the replica groups of {opcode} `{}` must have equal sizes", self.name(id));
            return Err(self.wrong(Code::GroupSizes, id, message));
        }
        Ok(())
    }
}
