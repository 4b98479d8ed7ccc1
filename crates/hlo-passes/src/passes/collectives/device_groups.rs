//! Which devices work together in a collective. Device `r·P + p` runs partition `p` of `P` of replica `r`.

use hlo_text::ir::{AttrKey, InstructionId, MAX_EXPANDED_DEVICES, Opcode, ReplicaGroups, Value};

use super::call_config::CallConfig;
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
    /// How many devices groups name by their own numbers, if no replicas and partitions that are known make so many.
    unexplained: Option<i64>,
}

/// What a collective, or a call that stands for one, names.
struct Members {
    mode: GroupMode,
    largest: i64,
    /// Whether there are no others; those who send nothing and get nothing are not in pairs, nor need they be in
    /// broadcasts.
    are_all: bool,
}

impl Members {
    fn of(edit: &Editor<'_>, id: InstructionId) -> Option<Self> {
        if let Some(config) = CallConfig::of(edit, id) {
            let config = config.ok()?;
            let largest = config.groups.iter().flatten().max().copied()?;
            return Some(Self { mode: config.mode(), largest, are_all: true });
        }
        let groups = edit.value_of(id, AttrKey::ReplicaGroups);
        let are_all = groups.is_some() && edit.instruction(id).opcode != Opcode::CollectiveBroadcast;
        let largest = match groups.or_else(|| edit.value_of(id, AttrKey::SourceTargetPairs))? {
            Value::IntLists(lists) | Value::ReplicaGroups(ReplicaGroups::Lists(lists)) => {
                lists.iter().flatten().max().copied()?
            }
            // The other forms name everyone from 0 on.
            Value::ReplicaGroups(groups) => groups.device_count()? - 1,
            _ => return None,
        };
        Some(Self { mode: group_mode(edit, id)?, largest, are_all })
    }
}

/// How many there are at least, as collectives name them.
#[derive(Clone, Copy)]
struct Named {
    replicas: i64,
    partitions: i64,
    devices: i64,
}

impl Named {
    const NONE: Self = Self { replicas: 1, partitions: 1, devices: 1 };

    fn add(&mut self, mode: GroupMode, largest: i64) {
        let count = match mode {
            GroupMode::CrossReplica | GroupMode::CrossReplicaAndPartition => &mut self.replicas,
            GroupMode::CrossPartition => &mut self.partitions,
            GroupMode::FlattenedIds => &mut self.devices,
        };
        *count = largest.saturating_add(1).max(*count);
    }
}

/// Why collectives without groups can't be told who takes part.
pub(super) const EVERYONE_IS_UNKNOWN: &str =
    "everyone takes part, but the header doesn't say how many that are";

/// Whether a collective, or a call that stands for one, has no groups, which stands for everyone.
pub(super) fn is_among_everyone(edit: &Editor<'_>, id: InstructionId) -> bool {
    match (edit.value_of(id, AttrKey::ReplicaGroups), edit.instruction(id).opcode) {
        (Some(Value::ReplicaGroups(groups)), _) => groups.is_empty(),
        (_, Opcode::CustomCall) => {
            matches!(CallConfig::of(edit, id), Some(Ok(config)) if config.groups.is_empty())
        }
        (_, opcode) => opcode != Opcode::CollectivePermute,
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
    /// nothing, and groups name more, as many are taken to be there as groups name. Groups of devices tell the count
    /// that no other groups do.
    pub(super) fn of(edit: &Editor<'_>) -> Self {
        let (mut named, mut named_by_all) = (Named::NONE, Named::NONE);
        for &computation in edit.computations() {
            for id in edit.live_instructions(computation) {
                let Some(Members { mode, largest, are_all }) = Members::of(edit, id) else { continue };
                named.add(mode, largest);
                if are_all {
                    named_by_all.add(mode, largest);
                }
            }
        }
        let header = &edit.header;
        let (are_replicas_stated, are_partitions_stated) =
            (header.replica_count != 1, header.num_partitions != 1);
        let mut replicas = if are_replicas_stated { header.replica_count } else { named.replicas };
        let mut partitions = if are_partitions_stated { header.num_partitions } else { named.partitions };
        let is_countable =
            replicas >= 1 && partitions >= 1 && !(are_replicas_stated && are_partitions_stated);
        let mut unexplained = None;
        let devices = named.devices;
        if is_countable && devices > replicas.saturating_mul(partitions) {
            let are_replicas_known = are_replicas_stated || named.replicas == named_by_all.replicas;
            let are_partitions_known = are_partitions_stated || named.partitions == named_by_all.partitions;
            // Modules with global device numbers alone are one program for many partitions.
            if partitions == 1 && are_replicas_known && devices % replicas == 0 {
                partitions = devices / replicas;
            } else if replicas == 1 && are_partitions_known && devices % partitions == 0 {
                replicas = devices / partitions;
            } else {
                unexplained = Some(devices);
            }
        }
        let are_inferred =
            replicas != header.replica_count || partitions != header.num_partitions || unexplained.is_some();
        Self { replicas, partitions, are_inferred, unexplained }
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

    /// Why it isn't known how many replicas and partitions there are: groups name more devices than those that are known
    /// have, in no number that would tell how many more of which.
    pub(super) fn unclear(self) -> Option<String> {
        let Self { replicas, partitions, .. } = self;
        let devices = self.unexplained?;
        let plural = |count: i64| if count == 1 { "" } else { "s" };
        Some(format!(
            "groups name {devices} devices, which don't follow from {replicas} replica{} and {partitions} partition{}",
            plural(replicas),
            plural(partitions)
        ))
    }

    /// Whether there is one device only, as far as anything says.
    pub(super) fn is_one(self) -> bool {
        self.replicas == 1 && self.partitions == 1
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
