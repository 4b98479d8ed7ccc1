//! `trivial-cc-removal`: collectives in which every device is alone go.
//!
//! All computations are visited, operands first.
//!
//! ```text
//! ar = (f32[4], f32[2]) all-reduce(p, q), replica_groups={{0},{1}}, to_apply=add
//! g  = f32[4] get-tuple-element(ar), index=0
//! h  = f32[2] get-tuple-element(ar), index=1
//! t  = (f32[4], f32[2]) tuple(g, h)                               =>   t = (f32[4], f32[2]) tuple(p, q)
//! ```
//!
//! A collective is trivial if its groups, as its mode has them, have one device each. With R replicas and P partitions
//! (of the header; where it leaves a number out, as many as the groups of the module name, and at least 1; asynchronous
//! forms and calls count, and groups of D devices make D/R partitions, or D/P replicas where groups name partitions;
//! pairs and broadcasts need not name all, so that more devices than theirs say nothing):
//!
//! 1. `all-gather`, `all-reduce`, `reduce-scatter`, `all-to-all` with groups of one: without a channel (replicas), with a
//!    channel and `use_global_device_ids` (devices), `all-to-all` with a channel (partitions)
//! 2. the first three with a channel and without `use_global_device_ids`: groups of one, and P is 1
//! 3. no groups at all mean everybody: R is 1 without a channel, P is 1 for `all-to-all` with one, both are 1 otherwise
//! 4. `collective-permute` whose pairs are all from a device to itself, with all replicas (no channel) or all partitions
//!    (channel) among them
//! 5. `collective-broadcast` with groups of one that name everybody; the others would get zeros
//! 6. calls of `AwsNeuronAllReduce...`, `AwsNeuronReduceScatter...` and `AwsNeuronAllGather...` whose `backend_config`
//!    begins `replica_groups={{0},{1}}`: groups of one, devices if it says `use_global_device_ids=1`, else as in 1 and 2
//!
//! 7. An array result is replaced by the operand.
//! 8. Of a tuple result each `get-tuple-element` is replaced by its operand. No metadata moves.
//!
//! Left alone, with a remark:
//!
//! 9. groups of several devices
//! 10. permutes that move data, or leave someone out
//! 11. broadcasts that leave someone out
//! 12. a result of another shape or layout than the operand
//! 13. control dependencies of the collective or of an element
//! 14. a permute of parts of buffers (`slice_sizes`)
//! 15. calls whose groups, or what follows them, can't be read: `replica_groups={{0}{1}}`
//! 16. what 2 to 6 would have to know R or P for, where the groups of devices don't go with the others of the module
//!
//! Dumps of torch-xla leave the number of replicas out. If no group names any, a collective without groups counts as one
//! of a single device, and goes; the log says so. Write `replica_count` into the header if there are more.
//!
//! Error `NCC_IARE001`: the tuple of a trivial collective is used as a whole, by a root or something that is no
//! `get-tuple-element`. Asynchronous forms are not looked at. Confidence: high; the conditions are ours.

use hlo_text::ir::{AttrKey, InstructionId, Opcode, ReplicaGroups, Value};

use super::call_config::CallConfig;
use super::device_groups::{Devices, is_among_everyone};
use crate::Set;
use crate::analysis::{GroupMode, group_mode};
use crate::edit::Editor;
use crate::pass::{Finding, HAS_CONTROL_DEPENDENCIES, Pass, PassContext, PassError, PassResult, Place};
use crate::passes::stock::tuple_simplifier::tuple_element;
use crate::registry::codes::WHOLE_TUPLE;

/// What calls that stand for collectives begin with; an operation and a type follow.
const CALL_PREFIXES: [&str; 3] = ["AwsNeuronAllReduce", "AwsNeuronReduceScatter", "AwsNeuronAllGather"];

/// The pass.
pub(crate) struct TrivialCcRemoval;

impl Pass for TrivialCcRemoval {
    fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()> {
        let devices = Devices::of(edit);
        // Without groups, and so of everyone: how many that are only the header could say.
        let mut of_everyone: Option<(String, usize)> = None;
        for computation in edit.computations().to_vec() {
            // What runs asynchronously is one instruction and can't be none.
            if edit.is_async_computation(computation) {
                continue;
            }
            for id in edit.post_order(computation) {
                if edit.is_removed(id) {
                    continue;
                }
                if find(edit, id, devices)?.or_report(edit, id, context).is_some()
                    && context.may_rewrite(edit, id)
                {
                    if is_among_everyone(edit, id) {
                        let (_, count) = of_everyone.get_or_insert_with(|| (edit.name_of(id).to_owned(), 0));
                        *count += 1;
                    }
                    remove(edit, id, context)?;
                }
            }
        }
        if let Some((first, count)) = of_everyone {
            let which = if count == 1 {
                format!("`{first}` has no groups and goes")
            } else {
                format!("{count} collectives, the first is `{first}`, have no groups and go")
            };
            context.log.push(format!(
                "note: {which} because neither the header nor groups name more than one device; if there are more, write \
                 `replica_count` or `num_partitions` into the header"
            ));
        }
        Ok(())
    }
}

/// Whether everyone is alone in this collective and it can go.
fn find(edit: &Editor<'_>, id: InstructionId, devices: Devices) -> PassResult<Finding<()>> {
    use Opcode as O;
    let judged = match edit.instruction(id).opcode {
        O::AllGather | O::AllReduce | O::ReduceScatter | O::AllToAll | O::CollectiveBroadcast => {
            judge_groups(edit, id, devices)
        }
        O::CollectivePermute => judge_pairs(edit, id, devices),
        O::CustomCall => judge_call(edit, id, devices),
        _ => return Ok(Finding::Other),
    };
    Ok(match judged {
        Finding::Match(()) => judge_uses(edit, id)?,
        judged => judged,
    })
}

fn judge_groups(edit: &Editor<'_>, id: InstructionId, devices: Devices) -> Finding<()> {
    let Some(mode) = group_mode(edit, id) else {
        return Finding::near("use_global_device_ids needs a channel");
    };
    let Some(Value::ReplicaGroups(groups)) = edit.value_of(id, AttrKey::ReplicaGroups) else {
        return judge_group_sizes(devices, mode, None);
    };
    let sizes = judge_group_sizes(devices, mode, Some(groups));
    // Who is left out depends on who is there.
    if matches!(sizes, Finding::Match(()))
        && edit.instruction(id).opcode == Opcode::CollectiveBroadcast
        && !groups.is_empty()
    {
        let Ok(lists) = groups.to_lists() else { return Finding::near("its groups can't be written out") };
        if let Some(why) = devices.unclear() {
            return Finding::near(why);
        }
        let members = lists.iter().flatten().copied().collect();
        if !has_everybody(devices, mode, &members) {
            return Finding::near("its groups leave someone out, who gets zeros");
        }
    }
    sizes
}

fn judge_group_sizes(devices: Devices, mode: GroupMode, groups: Option<&ReplicaGroups>) -> Finding<()> {
    let Devices { replicas, partitions, .. } = devices;
    let Some(groups) = groups.filter(|groups| !groups.is_empty()) else {
        let everybody = match mode {
            GroupMode::CrossReplica => replicas,
            GroupMode::CrossPartition => partitions,
            GroupMode::CrossReplicaAndPartition => replicas.saturating_mul(partitions),
            GroupMode::FlattenedIds => {
                return Finding::near("without groups it can't have use_global_device_ids");
            }
        };
        return if let Some(why) = devices.unclear() {
            Finding::near(why)
        } else if everybody == 1 {
            Finding::Match(())
        } else {
            Finding::near(format!("no groups mean one of all {everybody}"))
        };
    };
    // Lists may differ in length; then there is no common size.
    if groups.group_size() != Some(1) {
        return Finding::near("its groups have more than one member");
    }
    if mode == GroupMode::CrossReplicaAndPartition {
        if let Some(why) = devices.unclear() {
            return Finding::near(why);
        }
        if partitions != 1 {
            return Finding::near(format!("its groups are of replicas with {partitions} partitions each"));
        }
    }
    Finding::Match(())
}

/// Whether `members` has all replicas or partitions that there are.
fn has_everybody(devices: Devices, mode: GroupMode, members: &Set<i64>) -> bool {
    let everybody = match mode {
        GroupMode::CrossPartition => devices.partitions,
        _ => devices.replicas,
    };
    // Ends at the first that is missing.
    (0..everybody).all(|member| members.contains(&member))
}

fn judge_pairs(edit: &Editor<'_>, id: InstructionId, devices: Devices) -> Finding<()> {
    let Some(mode) = group_mode(edit, id) else { return Finding::Other };
    let pairs = match edit.value_of(id, AttrKey::SourceTargetPairs) {
        Some(Value::IntLists(pairs)) => pairs.as_slice(),
        _ => &[],
    };
    let mut members = Set::default();
    for pair in pairs {
        let &[source, target] = pair.as_slice() else { return Finding::Other };
        if source != target {
            return Finding::near(format!("it moves data from {source} to {target}"));
        }
        members.insert(source);
    }
    if !edit.is_default(id, AttrKey::PermuteSliceSizes) {
        return Finding::near("it moves parts of buffers");
    }
    if let Some(why) = devices.unclear() {
        return Finding::near(why);
    }
    if !has_everybody(devices, mode, &members) {
        return Finding::near("its pairs leave someone out, who gets zeros");
    }
    Finding::Match(())
}

/// Calls made from collectives, with the groups in their configuration.
fn judge_call(edit: &Editor<'_>, id: InstructionId, devices: Devices) -> Finding<()> {
    let target = edit.string(id, AttrKey::CustomCallTarget).unwrap_or_default();
    if !CALL_PREFIXES.iter().any(|prefix| target.starts_with(prefix.as_bytes())) {
        return Finding::Other;
    }
    match CallConfig::of(edit, id) {
        Some(Ok(config)) => {
            let mode = config.mode();
            judge_group_sizes(devices, mode, Some(&ReplicaGroups::Lists(config.groups)))
        }
        Some(Err(why)) => Finding::near(why),
        None => Finding::Other,
    }
}

/// Whether the operands can take the place of the results.
fn judge_uses(edit: &Editor<'_>, id: InstructionId) -> PassResult<Finding<()>> {
    let operands = edit.operands(id);
    let results = match edit.shape_of(id).as_tuple() {
        Some(elements) => elements.to_vec(),
        None => vec![edit.instruction(id).shape],
    };
    let same = results.len() == operands.len()
        && results.iter().zip(operands).all(|(&shape, &operand)| edit.instruction(operand).shape == shape);
    if !same {
        return Ok(Finding::near("its result has another shape or layout than its operand"));
    }
    if edit.has_control_dependencies(id) {
        return Ok(Finding::near(HAS_CONTROL_DEPENDENCIES));
    }
    if edit.shape_of(id).as_tuple().is_none() {
        return Ok(Finding::Match(()));
    }
    if edit.users(id).iter().any(|&user| edit.has_control_dependencies(user)) {
        return Ok(Finding::near("an element of its result has control dependencies"));
    }
    let whole = edit.users(id).iter().find(|&&user| tuple_element(edit, user).is_none());
    let by = match whole {
        Some(&user) => format!("by `{}`", edit.name_of(user)),
        None if edit.is_root(id) => "as the root".to_owned(),
        None => return Ok(Finding::Match(())),
    };
    let message = format!("everyone is alone in this collective, but its tuple is used as a whole, {by}");
    Err(PassError::at(edit, id, message).code(WHOLE_TUPLE))
}

fn remove(edit: &mut Editor<'_>, id: InstructionId, context: &mut PassContext<'_>) -> PassResult<()> {
    let place = Place::of(edit, id);
    let operands = edit.operands(id).to_vec();
    if edit.shape_of(id).as_tuple().is_none() {
        let Some(&operand) = operands.first() else { return Ok(()) };
        context.applied_at(place, format_args!("replaced by `{}`", edit.name_of(operand)));
        edit.replace_all_uses(id, operand)?;
    } else {
        context.applied_at(place, format_args!("replaced by its {} operands", operands.len()));
        for element in edit.users(id).to_vec() {
            if let Some((_, index)) = tuple_element(edit, element)
                && let Some(&operand) = operands.get(index)
            {
                edit.replace_all_uses(element, operand)?;
                edit.remove_instruction(element);
            }
        }
    }
    edit.remove_with_dead_operands(id);
    Ok(())
}
