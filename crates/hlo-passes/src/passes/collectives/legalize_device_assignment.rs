//! `legalize-device-assignment`: collectives name the devices that work together, not replicas or partitions.
//!
//! With R replicas and P partitions, device `r·P + p` runs partition `p` of replica `r`. What the groups of a collective
//! mean depends on its attributes; they are written out as groups of devices:
//!
//! | form | a group `{i, j}` stands for | no groups stand for |
//! |---|---|---|
//! | no channel | `{i·P+p, j·P+p}` for each `p` | all replicas, for each partition |
//! | channel (all-gather, all-reduce, reduce-scatter) | all partitions of replicas `i` and `j` | everyone |
//! | channel and `use_global_device_ids` | the devices `i` and `j` | (invalid) |
//! | channel (all-to-all, collective-permute) | `{r·P+i, r·P+j}` for each `r` | all partitions, for each replica |
//!
//! ```text
//! HloModule m, replica_count=2, num_partitions=2
//!   all-reduce(p), replica_groups={{0,1}}, to_apply=add
//!
//!   all-reduce(p), channel_id=1, replica_groups={{0,2},{1,3}}, use_global_device_ids=true, to_apply=add
//! ```
//!
//! So that the numbers keep their meaning, all-gather, all-reduce and reduce-scatter get `use_global_device_ids` and a
//! channel, their own or the next free one. All-to-all and collective-permute have no such flag: with one partition
//! the numbers are those of replicas and the channel goes; with one replica they are those of partitions and a channel
//! comes; with several of both, devices can't be said, and the instruction stays.
//!
//! A module whose header leaves `replica_count` or `num_partitions` out (or says 1, which is the same to a reader) has as
//! many as its groups name, those of asynchronous forms and of calls among them; the log says so if something is
//! rewritten. Groups of D devices make D/R partitions, or D/P replicas where groups name partitions only. Where that is
//! no whole number, or groups name both and fewer, or only pairs or broadcasts name them, nothing tells what the numbers
//! of replicas or partitions stand for, and the collective stays, with a warning. So does one whose devices are more
//! than a header that gives one of the two counts. A collective among everyone stays unless the header says how many
//! that are, and so does one whose shapes are for fewer devices than would be named.
//!
//! Every computation is searched, in order, in post-order. Names, metadata, shardings and everything else stay.
//!
//! Options: `literal-groups` writes device numbers even where they can't be said (as the original does; it changes the
//! meaning, and what comes out is not valid, so that it needs `--no-verify`); `skip-transfers` leaves `send` and `recv` alone, which are an error otherwise.
//!
//! Errors: `Unhandled Collective instruction:` for `send` and `recv`; collectives of several operands
//! (`decompose-cc-ops` splits them); groups that name replicas or partitions there are none of; no groups with
//! `use_global_device_ids`, or no channel; no channel id left to take. All but the last are found before anything changes.
//!
//! Left alone: collectives with control edges; those that name devices already (so a second run changes nothing);
//! asynchronous forms, what an `async-start` calls among them; `collective-broadcast`, `ragged-all-to-all`.
//!
//! Confidence: high; the flag, the channel and the limits are ours.

use std::borrow::Cow;

use hlo_text::ir::{
    AttrKey, AttrValue, ComputationId, InstructionId, MAX_EXPANDED_DEVICES, Opcode, ReplicaGroups, Shape,
    Value, ValueId,
};

use super::device_groups::{Devices, EVERYONE_IS_UNKNOWN, device_groups, device_pairs, is_among_everyone};

use crate::Set;
use crate::analysis::in_post_order_of_all;
use crate::edit::Editor;
use crate::options::{OptionInfo, OptionType};
use crate::pass::{Pass, PassContext, PassError, PassResult};

/// The pass.
pub(crate) struct LegalizeDeviceAssignment;

/// Its options.
pub(crate) const OPTIONS: &[OptionInfo] = &[
    OptionInfo {
        name: "literal-groups",
        kind: OptionType::Flag(false),
        doc: "Writes device numbers even where they are read as something else.",
    },
    OptionInfo {
        name: "skip-transfers",
        kind: OptionType::Flag(false),
        doc: "Leaves send and recv alone instead of failing.",
    },
];

/// What becomes of a collective.
enum Plan {
    Stays { why: Cow<'static, str>, is_warned_of: bool },
    Rewritten(Rewrite),
}

impl Plan {
    fn stays(why: impl Into<Cow<'static, str>>) -> Self {
        Self::Stays { why: why.into(), is_warned_of: false }
    }

    fn warned(why: String) -> Self {
        Self::Stays { why: why.into(), is_warned_of: true }
    }
}

/// Attributes a collective is to have.
struct Rewrite {
    key: AttrKey,
    groups: ValueId,
    has_channel: bool,
    is_global: bool,
    /// Whether the groups will be read as what they are.
    is_expressible: bool,
}

impl Pass for LegalizeDeviceAssignment {
    fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()> {
        let devices = Devices::of(edit);
        let mut collectives = Vec::new();
        let computations = edit.computations().to_vec();
        in_post_order_of_all(edit, &computations, |id| {
            if is_collective(edit.instruction(id).opcode) {
                collectives.push(id);
            }
        });
        if !collectives.is_empty() && !devices.are_countable() {
            return Err(PassError::new(format!(
                "{} replicas of {} partitions are no number of devices from 1 to {MAX_EXPANDED_DEVICES}",
                devices.replicas, devices.partitions
            )));
        }
        // What is an error is one before anything changes.
        let asynchronous: Set<ComputationId> =
            computations.into_iter().filter(|&id| edit.is_async_computation(id)).collect();
        let mut plans = Vec::with_capacity(collectives.len());
        for id in collectives {
            let plan = if asynchronous.contains(&edit.instruction(id).parent) {
                Plan::stays("it runs asynchronously")
            } else {
                plan(edit, id, devices, context)?
            };
            plans.push((id, plan));
        }
        if plans.iter().any(|(_, plan)| matches!(plan, Plan::Rewritten(_))) {
            devices.log_inferred(edit, context);
        }
        for (id, plan) in plans {
            match plan {
                Plan::Stays { why, is_warned_of } => {
                    if is_warned_of {
                        context.log.push(format!("warning: `{}` stays: {why}", edit.name_of(id)));
                    }
                    context.missed(edit, id, why);
                }
                Plan::Rewritten(rewrite) => apply(edit, id, rewrite, context)?,
            }
        }
        Ok(())
    }
}

/// What the original takes for one, and what people might.
fn is_collective(opcode: Opcode) -> bool {
    use Opcode as O;
    matches!(
        opcode,
        O::AllGather
            | O::AllReduce
            | O::AllToAll
            | O::CollectivePermute
            | O::Recv
            | O::ReduceScatter
            | O::Send
            | O::AllGatherStart
            | O::AllReduceStart
            | O::CollectivePermuteStart
            | O::CollectiveBroadcast
            | O::RaggedAllToAll
    )
}

fn plan(
    edit: &mut Editor<'_>,
    id: InstructionId,
    devices: Devices,
    context: &PassContext<'_>,
) -> PassResult<Plan> {
    use Opcode as O;
    let opcode = edit.instruction(id).opcode;
    match opcode {
        O::Send | O::Recv if context.options.flag("skip-transfers") => {
            return Ok(Plan::stays("transfers are skipped"));
        }
        O::Send | O::Recv => {
            return Err(PassError::at(edit, id, format!("Unhandled Collective instruction: {opcode}")));
        }
        O::AllGather | O::AllReduce | O::AllToAll | O::CollectivePermute | O::ReduceScatter => {}
        _ => {
            return Ok(Plan::stays(format!("{opcode} is not one of the collectives that are rewritten")));
        }
    }
    if edit.operands(id).len() != 1 {
        let count = edit.operands(id).len();
        let message = format!("it has {count} operands and must have one; decompose-cc-ops splits it");
        return Err(PassError::at(edit, id, message));
    }
    // A header that says 1 is like one that says nothing.
    if (devices.are_inferred || devices.is_one())
        && is_among_everyone(edit, id)
        && !edit.flag(id, AttrKey::UseGlobalDeviceIds)
    {
        return Ok(Plan::stays(EVERYONE_IS_UNKNOWN));
    }
    let is_permute = opcode == O::CollectivePermute;
    let is_global = !is_permute && opcode != O::AllToAll;
    let groups =
        if is_permute { Some(device_pairs(edit, id, devices)?) } else { device_groups(edit, id, devices)? };
    let Some(groups) = groups else {
        return Ok(Plan::stays("its groups name devices already"));
    };
    if let Some(why) = devices.unclear() {
        return Ok(Plan::warned(why));
    }
    if is_global && let Some(why) = devices.half_a_header(edit) {
        return Ok(Plan::warned(why));
    }
    let is_expressible = is_global || devices.replicas == 1 || devices.partitions == 1;
    if !is_expressible && !context.options.flag("literal-groups") {
        let why = format!("{opcode} can't name devices among several replicas of several partitions");
        return Ok(Plan::warned(why));
    }
    if devices.are_inferred
        && let Some(factor) = shard_count(edit, id)
        && let Some(size) = groups.first().map(Vec::len)
        && size as i64 != factor
    {
        let why = format!("its shapes are for groups of {factor}, but {size} would be named");
        return Ok(Plan::stays(why));
    }
    let (key, groups) = if is_permute {
        (AttrKey::SourceTargetPairs, Value::IntLists(groups))
    } else {
        (AttrKey::ReplicaGroups, Value::ReplicaGroups(ReplicaGroups::Lists(groups)))
    };
    Ok(Plan::Rewritten(Rewrite {
        key,
        groups: edit.intern_value(groups),
        has_channel: is_global || devices.partitions > 1,
        is_global,
        is_expressible,
    }))
}

/// By how much a gather or a scatter among devices makes its dimension longer or shorter.
fn shard_count(edit: &Editor<'_>, id: InstructionId) -> Option<i64> {
    let (result, &operand) = (edit.shape_of(id), edit.operands(id).first()?);
    let (whole, part) = match edit.instruction(id).opcode {
        Opcode::AllGather => (result, edit.shape_of(operand)),
        Opcode::ReduceScatter => (edit.shape_of(operand), result),
        _ => return None,
    };
    let along = usize::try_from(*edit.ints(id, AttrKey::Dimensions)?.first()?).ok()?;
    let size = |shape: &Shape| shape.as_array()?.dimensions.get(along).copied();
    size(whole)?.checked_div(size(part)?)
}

fn apply(
    edit: &mut Editor<'_>,
    id: InstructionId,
    rewrite: Rewrite,
    context: &mut PassContext<'_>,
) -> PassResult<()> {
    let channel = edit.int(id, AttrKey::ChannelId);
    // Channel 0 does not survive XLA's own format.
    let is_channel = |channel: i64| channel > 0 || !rewrite.is_global;
    let has_same_channel = !rewrite.is_expressible || channel.is_some_and(is_channel) == rewrite.has_channel;
    let has_same_flag = edit.flag(id, AttrKey::UseGlobalDeviceIds) == rewrite.is_global;
    let has_same_groups = edit.value_of(id, rewrite.key) == Some(edit.value(rewrite.groups));
    if has_same_channel && has_same_flag && has_same_groups {
        context.missed(edit, id, "its groups name devices already");
        return Ok(());
    }
    if edit.has_control_dependencies(id) {
        context.missed(edit, id, "it has control dependencies, so it can't be replaced");
        return Ok(());
    }
    if !context.may_rewrite(edit, id) {
        return Ok(());
    }
    if !has_same_channel {
        let channel = if rewrite.has_channel { Some(AttrValue::Int(edit.next_channel_id()?)) } else { None };
        edit.set_attribute(id, AttrKey::ChannelId, channel);
    }
    context.applied(edit, id, "its groups name devices now");
    edit.set_attribute(id, rewrite.key, Some(AttrValue::Value(rewrite.groups)));
    if !has_same_flag {
        let flag = rewrite.is_global.then_some(AttrValue::Bool(true));
        edit.set_attribute(id, AttrKey::UseGlobalDeviceIds, flag);
    }
    Ok(())
}
