//! `rewrite_scatter_partition`: recognizes gathers that are spelt as scatters over devices.
//!
//! Two idioms give every device the chunks of all, and become a `reshape` of one `all-gather`:
//!
//! 1. `reshape(all-reduce(dynamic-update-slice(zeros, chunk, start)))` with an adding reducer: every device writes its
//!    chunk into zeros at its own place, and all are added up.
//! 2. `reshape(get-tuple-element(while))`: a loop of as many turns as a ring has devices; each turn passes a carried chunk
//!    on by a `collective-permute` whose pairs are rings, and writes it into a carried buffer at its owner's place.
//!
//! ```text
//! r0 = f32[1,2,3] reshape(p)
//! put = f32[4,2,3] dynamic-update-slice(zeros, r0, partition-id, 0, 0)
//! ar = f32[4,2,3] all-reduce(put), channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=add
//! ROOT r = f32[8,3] reshape(ar)
//!
//! all-gather = f32[8,3] all-gather(p), channel_id=1, replica_groups={{0,1,2,3}}, dimensions={0}, use_global_device_ids=true
//! ROOT r = f32[8,3] reshape(all-gather)
//! ```
//!
//! Conditions, all of them checked: the chunk lies along one dimension and fills the others; chunks tile the buffer
//! exactly; the start, computed for every device (and turn) from `partition-id`, `replica-id`, constants, tables and
//! integer arithmetic, is the owner's place in its group times the chunk's size. In a ring the groups and the places
//! follow from what is written where. If the chunk is a `reshape` that only adds the dimension of the groups, what it
//! reshapes is gathered.
//!
//! Groups, channel and `use_global_device_ids` are those of the all-reduce; a ring gets groups of devices and the channel of
//! its permute. If the old all-reduce or loop stays for other users, or if another instruction has the channel, the
//! all-gather gets one of its own. What nothing else uses is removed, with the side effect a channel is outside of SPMD
//! modules. With control dependencies of the all-reduce, the loop or the reshape nothing happens.
//!
//! A module whose header leaves `replica_count` or `num_partitions` out has as many as its groups name, which the log
//! says if something is rewritten; numbers of devices alone are then those of partitions. Where groups name more devices
//! than they name replicas and partitions, the count that is not named makes up for it; if none can, nothing happens. A
//! ring of more devices than a header has that gives one of the two stays.
//!
//! Every computation but fusion bodies is searched in post-order; matches are collected first. A second run finds
//! nothing. Zeros: the sum of +0 and -0 is +0, so idiom 1 may change the sign of a zero in a chunk of floats.
//!
//! Confidence: low for the original's patterns; what is done here is ours.

use hlo_text::ir::{
    ArrayShape, Attr, AttrKey, AttrValue, ComputationId, InstructionId, Opcode, ReplicaGroups, Shape, Value,
};

use super::device_groups::{Devices, EVERYONE_IS_UNKNOWN, device_pairs, is_among_everyone, participants};
use crate::analysis::{DevicePoint, DeviceScalar, in_post_order_of_all, reducer_opcode};
use crate::edit::Editor;
use crate::pass::{Pass, PassContext, PassResult, Place};
use crate::{Map, Set};

/// How many numbers may be computed to prove one match: devices times turns.
const MAX_EVALUATIONS: usize = 1 << 18;

/// How many carried numbers a loop's turns may depend on.
const MAX_CARRIED_NUMBERS: usize = 16;

/// The pass.
pub(crate) struct RewriteScatterPartition;

/// A reshape of a gather in disguise.
struct Match {
    reshape: InstructionId,
    /// The all-reduce or the loop.
    source: InstructionId,
    /// What stands between the reshape and a loop.
    element: Option<InstructionId>,
    /// What is gathered along which dimension of it, how many times.
    chunk: InstructionId,
    dimension: usize,
    count: i64,
    /// Attributes of the all-gather.
    groups: ReplicaGroups,
    channel: Channel,
    is_global: bool,
}

/// The channel of the all-gather.
#[derive(Clone, Copy)]
enum Channel {
    None,
    /// This one, if its owner goes.
    Of(i64),
    Fresh,
}

impl Pass for RewriteScatterPartition {
    fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()> {
        let computations: Vec<ComputationId> =
            edit.computations().iter().copied().filter(|&id| !edit.is_fusion_computation(id)).collect();
        let devices = Devices::of(edit);
        let mut matches = Vec::new();
        let mut channels = Map::default();
        for &computation in edit.computations() {
            for id in edit.live_instructions(computation) {
                if let Some(channel) = edit.int(id, AttrKey::ChannelId) {
                    *channels.entry(channel).or_insert(0) += 1;
                }
            }
        }
        in_post_order_of_all(edit, &computations, |id| {
            if let Some(found) = recognize(edit, id, devices, context) {
                matches.push(found);
            }
        });
        let mut is_logged = false;
        for found in matches {
            let replaced = [Some(found.reshape), Some(found.source), found.element];
            if let Some(ordered) =
                replaced.into_iter().flatten().find(|&id| edit.has_control_dependencies(id))
            {
                let who = if ordered == found.reshape {
                    "it".to_owned()
                } else {
                    format!("`{}`", edit.name_of(ordered))
                };
                let why = format!("{who} has control dependencies, so it can't be replaced");
                context.missed(edit, found.reshape, why);
                continue;
            }
            if !context.may_rewrite(edit, found.reshape) {
                continue;
            }
            if !std::mem::replace(&mut is_logged, true) {
                devices.log_inferred(edit, context);
            }
            let (place, name) = (Place::of(edit, found.reshape), edit.name_of(found.source).to_owned());
            rewrite(edit, &found, &channels)?;
            context.applied_at(place, format_args!("`{name}` is an all-gather in disguise"));
        }
        Ok(())
    }
}

/// The match that a reshape is, if it is one.
fn recognize(
    edit: &Editor<'_>,
    reshape: InstructionId,
    devices: Devices,
    context: &mut PassContext<'_>,
) -> Option<Match> {
    let &[source] = edit.operands(reshape) else { return None };
    if edit.instruction(reshape).opcode != Opcode::Reshape {
        return None;
    }
    let result = match edit.instruction(source).opcode {
        Opcode::AllReduce => recognize_all_reduce(edit, reshape, source, devices),
        Opcode::GetTupleElement => {
            let &[tuple] = edit.operands(source) else { return None };
            if edit.instruction(tuple).opcode != Opcode::While {
                return None;
            }
            recognize_ring(edit, reshape, source, tuple, devices)
        }
        _ => return None,
    };
    match result {
        Ok(found) => Some(found),
        Err(why) => {
            context.missed(edit, reshape, why);
            None
        }
    }
}

/// Why something is no match.
type Why = String;

/// A chunk written into a buffer along one dimension.
struct Placement {
    buffer: InstructionId,
    chunk: InstructionId,
    dimension: usize,
    /// Elements of the chunk along the dimension, and of the buffer.
    size: i64,
    extent: i64,
    start: InstructionId,
}

/// A static array, or why not.
fn static_array<'e>(edit: &'e Editor<'_>, id: InstructionId) -> Result<&'e ArrayShape, Why> {
    let array = edit.shape_of(id).as_array().filter(|array| !array.is_dynamic());
    array.ok_or_else(|| format!("`{}` is not a static array", edit.name_of(id)))
}

/// Takes a dynamic-update-slice apart that fills all dimensions of the buffer but one.
fn placement(edit: &Editor<'_>, update: InstructionId) -> Result<Placement, Why> {
    let (&[buffer, chunk, ref starts @ ..], Opcode::DynamicUpdateSlice) =
        (edit.operands(update), edit.instruction(update).opcode)
    else {
        return Err(format!("`{}` is not a dynamic-update-slice", edit.name_of(update)));
    };
    let (whole, part) = (static_array(edit, buffer)?, static_array(edit, chunk)?);
    if whole.rank() != part.rank() || starts.len() != whole.rank() {
        return Err("a chunk is not written with one start for each dimension".to_owned());
    }
    let sizes = || whole.dimensions.iter().zip(&part.dimensions);
    let mut partial = sizes().enumerate().filter(|(_, (whole, part))| whole != part);
    let (Some((dimension, (&extent, &size))), None) = (partial.next(), partial.next()) else {
        return Err("a chunk does not fill all dimensions but one".to_owned());
    };
    // Where a chunk fills a dimension, its start is clamped to zero.
    Ok(Placement { buffer, chunk, dimension, size, extent, start: starts[dimension] })
}

/// Whether it is a constant of zeros, or a broadcast of one.
fn is_zero(edit: &Editor<'_>, id: InstructionId) -> bool {
    let id = match (edit.instruction(id).opcode, edit.operands(id)) {
        (Opcode::Broadcast, &[operand]) => operand,
        _ => id,
    };
    let instruction = edit.instruction(id);
    let literal = instruction.literal.filter(|_| instruction.opcode == Opcode::Constant);
    literal.is_some_and(|literal| edit.literal(literal).is_all(0))
}

/// What is gathered in place of a chunk, along the same dimension: what a reshape that adds this dimension reshapes, if
/// it has another one there.
fn without_added_dimension(edit: &Editor<'_>, chunk: InstructionId, dimension: usize) -> InstructionId {
    let (&[source], Opcode::Reshape) = (edit.operands(chunk), edit.instruction(chunk).opcode) else {
        return chunk;
    };
    let (Ok(shape), Ok(inner)) = (static_array(edit, chunk), static_array(edit, source)) else {
        return chunk;
    };
    let mut sizes = shape.dimensions.clone();
    let is_added = sizes.get(dimension) == Some(&1) && {
        sizes.remove(dimension);
        sizes == inner.dimensions
    };
    if is_added && dimension < inner.rank() { source } else { chunk }
}

/// How many chunks of `size` tile `extent`, if that many devices are in each group.
fn count_of_tiles(extent: i64, size: i64, groups: &[Vec<i64>]) -> Result<i64, Why> {
    let count = groups.first().map_or(0, Vec::len);
    if count < 2 || groups.iter().any(|group| group.len() != count) {
        return Err("its groups are not of one size above one".to_owned());
    }
    let count = count as i64;
    if size == 0 || size.checked_mul(count) != Some(extent) {
        return Err(format!("{count} chunks of {size} don't tile {extent}"));
    }
    Ok(count)
}

/// Fails if devices can't be told apart.
fn check_devices(devices: Devices) -> Result<(), Why> {
    match devices.unclear() {
        Some(why) => Err(why),
        None if devices.are_countable() => Ok(()),
        None => Err("there are too many devices".to_owned()),
    }
}

fn recognize_all_reduce(
    edit: &Editor<'_>,
    reshape: InstructionId,
    all_reduce: InstructionId,
    devices: Devices,
) -> Result<Match, Why> {
    let &[update] = edit.operands(all_reduce) else {
        return Err("its all-reduce does not have one operand".to_owned());
    };
    let reducer = edit.called(all_reduce, AttrKey::ToApply);
    if reducer.and_then(|reducer| reducer_opcode(edit, reducer)) != Some(Opcode::Add) {
        return Err("its all-reduce does not add".to_owned());
    }
    let placement = placement(edit, update)?;
    if !is_zero(edit, placement.buffer) {
        return Err("its all-reduce is not of a chunk among zeros".to_owned());
    }
    check_devices(devices)?;
    if devices.is_one() && is_among_everyone(edit, all_reduce) {
        return Err(EVERYONE_IS_UNKNOWN.to_owned());
    }
    let groups = participants(edit, all_reduce, devices).map_err(|error| error.message)?;
    let count = count_of_tiles(placement.extent, placement.size, &groups)?;
    if groups.iter().map(Vec::len).sum::<usize>() > MAX_EVALUATIONS {
        return Err("there are too many devices".to_owned());
    }
    let start = DeviceScalar::of(edit, placement.start, |_| None);
    let start = start.ok_or("it is not known where chunks start")?;
    for group in &groups {
        for (place, &device) in group.iter().enumerate() {
            let wanted = place as i128 * i128::from(placement.size);
            if start.at(edit, devices.point(device, &[])) != Some(wanted) {
                return Err(format!("device {device} does not write to its place in its group"));
            }
        }
    }
    let groups = match edit.value_of(all_reduce, AttrKey::ReplicaGroups) {
        Some(Value::ReplicaGroups(groups)) => groups.clone(),
        _ => ReplicaGroups::default(),
    };
    Ok(Match {
        reshape,
        source: all_reduce,
        element: None,
        chunk: without_added_dimension(edit, placement.chunk, placement.dimension),
        dimension: placement.dimension,
        count,
        groups,
        channel: edit.int(all_reduce, AttrKey::ChannelId).map_or(Channel::None, Channel::Of),
        is_global: edit.flag(all_reduce, AttrKey::UseGlobalDeviceIds),
    })
}

/// The condition of a loop, and what it carries.
struct Loop {
    condition: ComputationId,
    /// What the loop begins with.
    initial: Vec<InstructionId>,
    /// What the next turn gets.
    next: Vec<InstructionId>,
}

impl Loop {
    fn of(edit: &Editor<'_>, id: InstructionId) -> Option<Self> {
        let (body, condition) = (edit.called(id, AttrKey::Body)?, edit.called(id, AttrKey::Condition)?);
        let &[initial] = edit.operands(id) else { return None };
        let root = edit.computation(body).root;
        let tuple = |id: InstructionId| edit.instruction(id).opcode == Opcode::Tuple;
        (tuple(initial) && tuple(root) && edit.operands(initial).len() == edit.operands(root).len()).then(
            || Self {
                condition,
                initial: edit.operands(initial).to_vec(),
                next: edit.operands(root).to_vec(),
            },
        )
    }

    /// The index of the element that an instruction of the body or the condition takes from what is carried.
    fn carried(&self, edit: &Editor<'_>, id: InstructionId) -> Option<usize> {
        let (Opcode::GetTupleElement, &[tuple]) = (edit.instruction(id).opcode, edit.operands(id)) else {
            return None;
        };
        if edit.instruction(tuple).opcode != Opcode::Parameter {
            return None;
        }
        usize::try_from(edit.int(id, AttrKey::Index)?).ok()
    }
}

/// The numbers of a loop, turn by turn.
struct Simulation {
    /// Whether there is another turn.
    test: DeviceScalar,
    /// Where the chunk is written.
    start: DeviceScalar,
    /// The carried numbers that these depend on: which they are, how they begin and how they go on.
    numbers: Vec<(usize, DeviceScalar, DeviceScalar)>,
    /// How many elements are carried.
    count: usize,
}

impl Simulation {
    fn of(edit: &Editor<'_>, carried: &Loop, start: InstructionId) -> Result<Self, Why> {
        let number = |id| carried.carried(edit, id);
        let test = DeviceScalar::of(edit, edit.computation(carried.condition).root, number);
        let test = test.ok_or("it is not known how often its loop runs")?;
        let start = DeviceScalar::of(edit, start, number).ok_or("it is not known where chunks start")?;
        let mut open: Vec<usize> = test.variables().chain(start.variables()).collect();
        let mut seen = Set::default();
        let mut numbers = Vec::new();
        while let Some(index) = open.pop() {
            if !seen.insert(index) {
                continue;
            }
            let (Some(&initial), Some(&next)) = (carried.initial.get(index), carried.next.get(index)) else {
                return Err("its loop has no such element".to_owned());
            };
            let initial = DeviceScalar::of(edit, initial, |_| None);
            let next = DeviceScalar::of(edit, next, number);
            let (initial, next) = initial.zip(next).ok_or("it is not known what its loop counts")?;
            open.extend(next.variables());
            numbers.push((index, initial, next));
            if numbers.len() > MAX_CARRIED_NUMBERS {
                return Err("its loop counts too many things".to_owned());
            }
        }
        Ok(Self { test, start, numbers, count: carried.next.len() })
    }

    /// Where a device writes in each turn, if there are `turns` of them.
    fn starts(&self, edit: &Editor<'_>, devices: Devices, device: i64, turns: usize) -> Option<Vec<i128>> {
        let mut values = vec![0; self.count];
        for (index, initial, _) in &self.numbers {
            values[*index] = initial.at(edit, devices.point(device, &[]))?;
        }
        let mut starts = Vec::with_capacity(turns);
        let mut next = Vec::with_capacity(self.numbers.len());
        loop {
            let point = devices.point(device, &values);
            if self.test.at(edit, point)? == 0 {
                return (starts.len() == turns).then_some(starts);
            }
            if starts.len() == turns {
                return None;
            }
            starts.push(self.start.at(edit, point)?);
            next.clear();
            for (_, _, step) in &self.numbers {
                next.push(step.at(edit, point)?);
            }
            for ((index, ..), &value) in self.numbers.iter().zip(&next) {
                values[*index] = value;
            }
        }
    }
}

fn recognize_ring(
    edit: &Editor<'_>,
    reshape: InstructionId,
    element: InstructionId,
    source: InstructionId,
    devices: Devices,
) -> Result<Match, Why> {
    let index = edit.int(element, AttrKey::Index).and_then(|index| usize::try_from(index).ok());
    let carried = Loop::of(edit, source).ok_or("its loop does not carry a tuple")?;
    let buffer = index.filter(|&index| index < carried.next.len()).ok_or("its loop has no such element")?;
    let placement = placement(edit, carried.next[buffer])?;
    if carried.carried(edit, placement.buffer) != Some(buffer) {
        return Err("its loop does not write to the buffer it carries".to_owned());
    }
    // The chunk is written before or after it is passed on.
    let written = without_added_dimension(edit, placement.chunk, placement.dimension);
    let is_permute = |id: InstructionId| edit.instruction(id).opcode == Opcode::CollectivePermute;
    let is_passed_first = is_permute(written);
    let held = match edit.operands(written) {
        &[operand] if is_passed_first => operand,
        _ => written,
    };
    let chunk = carried.carried(edit, held).ok_or("its loop does not write the chunk it carries")?;
    let permute = carried.next[chunk];
    let gets = |operand| carried.carried(edit, operand) == Some(chunk);
    let passes_on = is_permute(permute) && matches!(edit.operands(permute), &[operand] if gets(operand));
    if !passes_on || (is_passed_first && permute != written) {
        return Err("its loop does not pass the chunk on by a collective-permute".to_owned());
    }
    check_devices(devices)?;
    let pairs = device_pairs(edit, permute, devices).map_err(|error| error.message)?;
    let rings = Rings::of(&pairs, devices)?;
    let turns = rings.size;
    if turns * rings.sources.len() > MAX_EVALUATIONS {
        return Err("there are too many devices".to_owned());
    }
    let simulation = Simulation::of(edit, &carried, placement.start)?;
    let places = rings.places(is_passed_first, |device| {
        let starts = simulation.starts(edit, devices, device, turns);
        let starts = starts.ok_or_else(|| format!("its loop is not known to run {turns} times"))?;
        let size = i128::from(placement.size.max(1));
        if starts.iter().any(|start| start % size != 0) {
            return Err(format!("device {device} does not write at a multiple of the chunk"));
        }
        Ok(starts.into_iter().map(|start| start / size).collect())
    })?;
    let groups = rings.groups(&places)?;
    let count = count_of_tiles(placement.extent, placement.size, &groups)?;
    // With one partition, devices are replicas.
    let channel = edit.int(permute, AttrKey::ChannelId);
    let by_replica = channel.is_none() && devices.partitions == 1;
    if !by_replica && let Some(why) = devices.half_a_header(edit) {
        return Err(why);
    }
    Ok(Match {
        reshape,
        source,
        element: Some(element),
        chunk: carried.initial[chunk],
        dimension: placement.dimension,
        count,
        groups: ReplicaGroups::Lists(groups),
        channel: match channel {
            Some(channel) => Channel::Of(channel),
            None if by_replica => Channel::None,
            None => Channel::Fresh,
        },
        is_global: !by_replica,
    })
}

/// A permutation of all devices whose cycles have one size.
struct Rings {
    /// From whom each device gets.
    sources: Vec<usize>,
    size: usize,
}

impl Rings {
    fn of(pairs: &[Vec<i64>], devices: Devices) -> Result<Self, Why> {
        let count = usize::try_from(devices.replicas * devices.partitions).unwrap_or(0);
        let mut sources = vec![usize::MAX; count];
        let mut given = vec![false; count];
        for pair in pairs {
            let [source, target] = [0, 1].map(|index: usize| pair.get(index).copied().unwrap_or(-1) as usize);
            if source >= count || target >= count || sources[target] != usize::MAX || given[source] {
                return Err("its pairs are no permutation".to_owned());
            }
            sources[target] = source;
            given[source] = true;
        }
        if sources.contains(&usize::MAX) {
            return Err("its pairs leave devices out".to_owned());
        }
        let mut size = None;
        let mut seen = vec![false; count];
        for first in 0..count {
            let (mut device, mut length) = (first, 0);
            while !std::mem::replace(&mut seen[device], true) {
                device = sources[device];
                length += 1;
            }
            if length > 0 && *size.get_or_insert(length) != length {
                return Err("its rings differ in size".to_owned());
            }
        }
        match size {
            Some(size) if size > 1 => Ok(Self { sources, size }),
            _ => Err("its pairs form no ring".to_owned()),
        }
    }

    /// The place at which each device's chunk is written, if it is the same for all who write it.
    fn places(
        &self,
        is_passed_first: bool,
        places_of: impl Fn(i64) -> Result<Vec<i128>, Why>,
    ) -> Result<Vec<i128>, Why> {
        let mut places = vec![None; self.sources.len()];
        for device in 0..self.sources.len() {
            let mut owner = if is_passed_first { self.sources[device] } else { device };
            for place in places_of(device as i64)? {
                if *places[owner].get_or_insert(place) != place {
                    return Err(format!("the chunk of device {owner} does not have one place"));
                }
                owner = self.sources[owner];
            }
        }
        Ok(places.into_iter().map(|place| place.unwrap_or(-1)).collect())
    }

    /// The devices of each ring in the order of their places, which must be all there are.
    fn groups(&self, places: &[i128]) -> Result<Vec<Vec<i64>>, Why> {
        let mut groups = Vec::new();
        let mut seen = vec![false; places.len()];
        for first in 0..places.len() {
            if seen[first] {
                continue;
            }
            let mut group = vec![-1; self.size];
            let mut device = first;
            while !std::mem::replace(&mut seen[device], true) {
                let slot = usize::try_from(places[device]).ok().and_then(|place| group.get_mut(place));
                match slot {
                    Some(slot) if *slot < 0 => *slot = device as i64,
                    _ => return Err("two chunks have one place, or one has none".to_owned()),
                }
                device = self.sources[device];
            }
            groups.push(group);
        }
        Ok(groups)
    }
}

fn rewrite(edit: &mut Editor<'_>, found: &Match, channels: &Map<i64, usize>) -> PassResult<()> {
    let goes = goes(edit, found);
    // Nothing else may be on the channel: not another instruction, and not the same one in a body that is run elsewhere.
    let is_free = |channel: i64| {
        let mut is_own = goes && channels.get(&channel) == Some(&1);
        if edit.instruction(found.source).opcode == Opcode::While {
            edit.for_each_called_computation(found.source, |body| is_own &= edit.callers(body).len() == 1);
        }
        is_own
    };
    let channel = match found.channel {
        Channel::None => None,
        Channel::Of(channel) if is_free(channel) => Some(channel),
        Channel::Of(_) | Channel::Fresh => Some(edit.next_channel_id()?),
    };
    let parent = edit.instruction(found.reshape).parent;
    let Shape::Array(chunk) = edit.shape_of(found.chunk).clone() else { return Ok(()) };
    let mut dimensions = chunk.dimensions.clone();
    // No larger than the buffer, whose size is known.
    dimensions[found.dimension] = dimensions[found.dimension].saturating_mul(found.count);
    let shape = edit.intern_shape(Shape::Array(ArrayShape { dimensions, ..chunk }));
    let groups = AttrValue::Value(edit.intern_value(Value::ReplicaGroups(found.groups.clone())));
    let along = AttrValue::Value(edit.intern_value(Value::Ints(vec![found.dimension as i64])));
    let mut attributes = vec![
        Attr { key: AttrKey::ReplicaGroups, value: groups },
        Attr { key: AttrKey::Dimensions, value: along },
    ];
    attributes
        .extend(channel.map(|channel| Attr { key: AttrKey::ChannelId, value: AttrValue::Int(channel) }));
    if found.is_global {
        attributes.push(Attr { key: AttrKey::UseGlobalDeviceIds, value: AttrValue::Bool(true) });
    }
    let gather = edit.add(parent, Opcode::AllGather, shape, &[found.chunk], &attributes);
    let shape = edit.instruction(found.reshape).shape;
    let reshape = edit.add(parent, Opcode::Reshape, shape, &[gather], &[]);
    edit.replace_instruction(found.reshape, reshape)?;
    if goes && !edit.is_removed(found.source) {
        edit.remove_with_dead_operands(found.source);
    }
    Ok(())
}

/// Whether the all-reduce or the loop is only there for the match.
fn goes(edit: &Editor<'_>, found: &Match) -> bool {
    let only_for = |id: InstructionId, user: InstructionId| {
        edit.users(id) == [user] && !edit.is_root(id) && !edit.has_control_dependencies(id)
    };
    let Some(element) = found.element else { return only_for(found.source, found.reshape) };
    if !only_for(element, found.reshape) || !only_for(found.source, element) {
        return false;
    }
    // Of all that a loop may do beside, only passing the chunk on is known to be done by the all-gather.
    let mut bodies = Vec::new();
    edit.for_each_called_computation(found.source, |body| bodies.push(body));
    bodies.into_iter().all(|body| {
        edit.live_instructions(body)
            .all(|id| edit.instruction(id).opcode == Opcode::CollectivePermute || !edit.has_side_effect(id))
    })
}

impl Devices {
    /// Where a device is.
    fn point(self, device: i64, variables: &[i128]) -> DevicePoint<'_> {
        let (replica, partition) = (device / self.partitions, device % self.partitions);
        DevicePoint { replica, partition, variables }
    }
}
