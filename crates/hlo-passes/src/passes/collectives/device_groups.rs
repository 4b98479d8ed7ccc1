//! Which devices work together in a collective. Device `r·P + p` runs partition `p` of `P` of replica `r`.

use hlo_text::ir::{AttrKey, InstructionId, MAX_EXPANDED_DEVICES, Opcode, ReplicaGroups, Value};

use crate::analysis::{GroupMode, group_mode};
use crate::edit::Editor;
use crate::pass::{PassContext, PassError, PassResult};

/// How many there are of each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Devices {
    pub(super) replicas: i64,
    pub(super) partitions: i64,
    /// The header doesn't say it, groups do.
    pub(super) are_inferred: bool,
}

/// The largest number in the groups or pairs of a collective.
fn largest_member(edit: &Editor<'_>, id: InstructionId) -> Option<i64> {
    let groups = match edit.instruction(id).opcode {
        Opcode::CollectivePermute => match edit.value_of(id, AttrKey::SourceTargetPairs)? {
            Value::IntLists(pairs) => return pairs.iter().flatten().max().copied(),
            _ => return None,
        },
        Opcode::AllGather | Opcode::AllReduce | Opcode::AllToAll | Opcode::ReduceScatter => {
            edit.value_of(id, AttrKey::ReplicaGroups)?
        }
        _ => return None,
    };
    match groups {
        Value::ReplicaGroups(ReplicaGroups::Lists(lists)) => lists.iter().flatten().max().copied(),
        // The other forms name everyone from 0 on.
        Value::ReplicaGroups(groups) => groups.device_count().map(|count| count - 1),
        _ => None,
    }
}

/// Why collectives without groups can't be told who takes part.
pub(super) const EVERYONE_IS_UNKNOWN: &str =
    "everyone takes part, but the header doesn't say how many that are";

/// Whether a collective has no groups, which stands for everyone.
pub(super) fn is_among_everyone(edit: &Editor<'_>, id: InstructionId) -> bool {
    match edit.value_of(id, AttrKey::ReplicaGroups) {
        Some(Value::ReplicaGroups(groups)) => groups.is_empty(),
        _ => edit.instruction(id).opcode != Opcode::CollectivePermute,
    }
}

/// What the numbers in a collective's groups or pairs are.
fn known_mode(edit: &Editor<'_>, id: InstructionId) -> PassResult<GroupMode> {
    let mode = group_mode(edit, id);
    mode.ok_or_else(|| PassError::at(edit, id, "use_global_device_ids needs a channel"))
}

/// The groups of devices, `None` if the groups are these already.
pub(super) fn device_groups(
    edit: &Editor<'_>,
    id: InstructionId,
    devices: Devices,
) -> PassResult<Option<Vec<Vec<i64>>>> {
    let fail = |message: String| PassError::at(edit, id, message);
    let mode = known_mode(edit, id)?;
    let groups = match edit.value_of(id, AttrKey::ReplicaGroups) {
        Some(Value::ReplicaGroups(groups)) => {
            groups.to_lists().map_err(|error| fail(format!("its groups can't be written out: {error}")))?
        }
        _ => Vec::new(),
    };
    if mode == GroupMode::FlattenedIds {
        if groups.is_empty() {
            return Err(fail("use_global_device_ids needs groups".to_owned()));
        }
        return Ok(None);
    }
    let (members, what) = match mode {
        GroupMode::CrossPartition => (devices.partitions, "partition"),
        _ => (devices.replicas, "replica"),
    };
    if groups.is_empty() && devices.are_inferred {
        return Err(fail(EVERYONE_IS_UNKNOWN.to_owned()));
    }
    let groups = if groups.is_empty() { vec![(0..members).collect()] } else { groups };
    let mut sorted: Vec<i64> = groups.iter().flatten().copied().collect();
    sorted.sort_unstable();
    if let Some(&unknown) = sorted.iter().find(|&&member| !(0..members).contains(&member)) {
        return Err(fail(format!("its groups name {what} {unknown}, but there are {members}")));
    }
    if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(fail(format!("its groups name {what} {} twice", twice[0])));
    }
    let Devices { replicas, partitions, .. } = devices;
    let mut result = Vec::new();
    for group in groups {
        match mode {
            GroupMode::CrossReplica => result.extend(
                (0..partitions).map(|partition| group.iter().map(|r| r * partitions + partition).collect()),
            ),
            GroupMode::CrossPartition => result.extend(
                (0..replicas).map(|replica| group.iter().map(|p| replica * partitions + p).collect()),
            ),
            GroupMode::CrossReplicaAndPartition | GroupMode::FlattenedIds => {
                let members = group.iter().flat_map(|r| (0..partitions).map(move |p| r * partitions + p));
                result.push(members.collect());
            }
        }
    }
    Ok(Some(result))
}

/// The pairs of devices of a collective-permute.
pub(super) fn device_pairs(
    edit: &Editor<'_>,
    id: InstructionId,
    devices: Devices,
) -> PassResult<Vec<Vec<i64>>> {
    let fail = |message: String| PassError::at(edit, id, message);
    let mode = known_mode(edit, id)?;
    let pairs = match edit.value_of(id, AttrKey::SourceTargetPairs) {
        Some(Value::IntLists(pairs)) => pairs.as_slice(),
        _ => &[],
    };
    let Devices { replicas, partitions, .. } = devices;
    let is_across_replicas = mode == GroupMode::CrossReplica;
    let (members, others) = if is_across_replicas { (replicas, partitions) } else { (partitions, replicas) };
    let count = usize::try_from(others).unwrap_or(usize::MAX).saturating_mul(pairs.len());
    if count > MAX_EXPANDED_DEVICES {
        return Err(fail(format!("it has more than {MAX_EXPANDED_DEVICES} pairs of devices")));
    }
    let mut result = Vec::with_capacity(count);
    for pair in pairs {
        let &[source, target] = pair.as_slice() else {
            return Err(fail("its pairs do not have two members".to_owned()));
        };
        for member in [source, target] {
            if !(0..members).contains(&member) {
                let what = if is_across_replicas { "replica" } else { "partition" };
                return Err(fail(format!("its pairs name {what} {member}, but there are {members}")));
            }
        }
        result.extend((0..others).map(|other| {
            let device = |member| {
                if is_across_replicas { member * partitions + other } else { other * partitions + member }
            };
            vec![device(source), device(target)]
        }));
    }
    Ok(result)
}

impl Devices {
    /// Those of a module. Dumps of some front ends leave the numbers to the launcher; where the header says one, or
    /// nothing, and groups name more, as many are taken to be there as groups name.
    pub(super) fn of(edit: &Editor<'_>) -> Self {
        let header = &edit.header;
        let mut named = Self { replicas: 1, partitions: 1, are_inferred: true };
        let mut devices = 1;
        for &computation in edit.computations() {
            for id in edit.live_instructions(computation) {
                let Some(largest) = largest_member(edit, id) else { continue };
                let count = match group_mode(edit, id) {
                    Some(GroupMode::CrossReplica | GroupMode::CrossReplicaAndPartition) => {
                        &mut named.replicas
                    }
                    Some(GroupMode::CrossPartition) => &mut named.partitions,
                    Some(GroupMode::FlattenedIds) => &mut devices,
                    None => continue,
                };
                *count = largest.saturating_add(1).max(*count);
            }
        }
        // Modules with global device numbers are one program for many partitions.
        if named.replicas == 1 && named.partitions == 1 && header.replica_count == 1 {
            named.partitions = devices;
        }
        let or_named = |given, named| if given == 1 { named } else { given };
        let replicas = or_named(header.replica_count, named.replicas);
        let partitions = or_named(header.num_partitions, named.partitions);
        let are_inferred = replicas != header.replica_count || partitions != header.num_partitions;
        Self { replicas, partitions, are_inferred }
    }

    /// Says what the header doesn't.
    pub(super) fn log_inferred(self, edit: &Editor<'_>, context: &mut PassContext<'_>) {
        for (what, count, given) in [
            ("replica_count", self.replicas, edit.header.replica_count),
            ("num_partitions", self.partitions, edit.header.num_partitions),
        ] {
            if count != given {
                context.log.push(format!("note: {what} is taken to be {count}, as groups name that many"));
            }
        }
    }

    /// Why devices can't be numbered from 0 on: the header gives one of the two counts, and groups name more of the
    /// other.
    pub(super) fn half_a_header(self, edit: &Editor<'_>) -> Option<String> {
        let stated = edit.header.replica_count.saturating_mul(edit.header.num_partitions);
        let count = self.replicas.saturating_mul(self.partitions);
        (stated != 1 && stated != count)
            .then(|| format!("the header counts {stated} devices, the groups {count}"))
    }

    /// Whether all devices can be written down.
    pub(super) fn are_countable(self) -> bool {
        let count = self.replicas.checked_mul(self.partitions);
        let limit = i64::try_from(MAX_EXPANDED_DEVICES).unwrap_or(i64::MAX);
        self.replicas >= 1 && self.partitions >= 1 && count.is_some_and(|count| count <= limit)
    }
}

/// The groups of devices of a collective with groups, written out.
pub(super) fn participants(
    edit: &Editor<'_>,
    id: InstructionId,
    devices: Devices,
) -> PassResult<Vec<Vec<i64>>> {
    if let Some(groups) = device_groups(edit, id, devices)? {
        return Ok(groups);
    }
    match edit.value_of(id, AttrKey::ReplicaGroups) {
        Some(Value::ReplicaGroups(groups)) => {
            let groups = groups.to_lists();
            groups
                .map_err(|error| PassError::at(edit, id, format!("its groups can't be written out: {error}")))
        }
        _ => Ok(Vec::new()),
    }
}
