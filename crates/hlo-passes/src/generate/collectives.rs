//! Communication between devices.

use hlo_text::ir::ElementType;

use super::elementwise::{reducer, reduction};
use super::generator::{Generator, Scope, Value};
use super::types::{Type, list};

/// Who takes part: the attributes that say so, and how many there are in each group.
struct Groups {
    attributes: String,
    size: usize,
}

/// What the numbers of groups stand for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Replicas,
    /// All partitions of some replicas.
    ReplicasAndPartitions,
    Devices,
    Partitions,
}

/// Groups for a collective; `all_to_all` ones with a channel number partitions.
fn groups(g: &mut Generator<'_, '_>, all_to_all: bool) -> Groups {
    let devices = g.devices;
    let mode = match g.choices.below(4) {
        0 | 3 => Mode::Replicas,
        _ if all_to_all => Mode::Partitions,
        1 => Mode::Devices,
        _ => Mode::ReplicasAndPartitions,
    };
    // A header that says nothing takes any number; it also says nothing if it says 1.
    let (count, factor) = match mode {
        Mode::Replicas => (devices.replicas, 1),
        Mode::ReplicasAndPartitions => (devices.replicas, devices.partitions.max(1)),
        Mode::Devices if devices.count() == 1 => (0, 1),
        Mode::Devices => (devices.count(), 1),
        Mode::Partitions => (devices.partitions, 1),
    };
    let count = if count > 1 { count } else { g.choices.pick(&[1, 2, 4]) };
    let mut size = count;
    if count > 1 && g.choices.one_in(2) {
        size = g.choices.pick(&[1, count / 2]);
    }
    let number = count / size;
    let rows: Vec<Vec<usize>> = match g.choices.below(2) {
        0 => (0..number).map(|group| (0..size).map(|at| group * size + at).collect()).collect(),
        _ => (0..number).map(|group| (0..size).map(|at| at * number + group).collect()).collect(),
    };
    let lists: Vec<String> = rows.iter().map(|row| format!("{{{}}}", list(row))).collect();
    let mut attributes = match g.choices.below(6) {
        4 => format!("replica_groups=[{number},{size}]<=[{count}]"),
        5 if mode != Mode::Devices => {
            size = match mode {
                Mode::Partitions => devices.partitions.max(1),
                _ => devices.replicas.max(1),
            };
            "replica_groups={}".to_owned()
        }
        _ => format!("replica_groups={{{}}}", lists.join(",")),
    };
    if mode != Mode::Replicas {
        attributes.push_str(&format!(", channel_id={}", g.channel()));
    }
    if mode == Mode::Devices {
        attributes.push_str(", use_global_device_ids=true");
    }
    Groups { attributes, size: size * factor }
}

/// The elements of a tuple result, which others may use.
fn elements(g: &mut Generator<'_, '_>, result: &Value) {
    for index in 0..1 + g.choices.below(3) {
        g.tuple_element(result, index);
    }
}

pub(super) fn all_reduce(g: &mut Generator<'_, '_>) {
    let element = g.element();
    let (_, opcode) = reduction(g, element);
    let apply = reducer(g, element, opcode);
    let who = groups(g, false);
    let attributes = format!("{}, to_apply={apply}", who.attributes);
    let count = g.choices.pick(&[1, 1, 2, 3]);
    let types: Vec<Type> = (0..count).map(|_| g.array(element)).collect();
    let operands: Vec<Value> = types.iter().map(|ty| g.value(ty)).collect();
    let operands: Vec<&Value> = operands.iter().collect();
    let result = if count == 1 { types[0].clone() } else { Type::Tuple(types) };
    if count == 1 && g.choices.one_in(6) {
        let start = g.add_once(result.clone(), "all-reduce-start", &operands, &attributes);
        g.add(result, "all-reduce-done", &[&start], "");
        return;
    }
    let result = g.add(result, "all-reduce", &operands, &attributes);
    elements(g, &result);
}

pub(super) fn gather_and_scatter(g: &mut Generator<'_, '_>) {
    let element = g.element_of(|element| element.is_float() || element.is_integer());
    let who = groups(g, false);
    let shard = g.array_of_rank(element, 1);
    let mut sizes = shard.sizes().to_vec();
    sizes[0] *= who.size;
    let whole = Type::Array(element, sizes);
    if g.choices.one_in(2) {
        let apply = reducer(g, element, "add");
        let x = g.value(&whole);
        let attributes = format!("{}, dimensions={{0}}, to_apply={apply}", who.attributes);
        g.add(shard, "reduce-scatter", &[&x], &attributes);
    } else {
        let x = g.value(&shard);
        let result = g.add(whole, "all-gather", &[&x], &format!("{}, dimensions={{0}}", who.attributes));
        if g.choices.one_in(3) {
            g.add(result.ty.clone(), "negate", &[&result], "");
        }
    }
}

pub(super) fn all_to_all(g: &mut Generator<'_, '_>) {
    let element = g.element();
    let who = groups(g, true);
    let shard = g.array_of_rank(element, 1);
    if g.choices.one_in(2) {
        let mut sizes = shard.sizes().to_vec();
        sizes[0] *= who.size;
        let x = g.value(&Type::Array(element, sizes));
        g.add(x.ty.clone(), "all-to-all", &[&x], &format!("{}, dimensions={{0}}", who.attributes));
        return;
    }
    let mut operands: Vec<Value> = (0..who.size).map(|_| g.value(&shard)).collect();
    if operands.iter().any(|operand| operand.has_layout) {
        // All must have the same layout.
        operands = vec![operands[0].clone(); who.size];
    }
    let operands: Vec<&Value> = operands.iter().collect();
    let result = g.add(Type::Tuple(vec![shard; who.size]), "all-to-all", &operands, &who.attributes);
    elements(g, &result);
}

pub(super) fn permute(g: &mut Generator<'_, '_>) {
    let x = g.any();
    let over_partitions = g.choices.one_in(2);
    let devices = g.devices;
    let count = if over_partitions { devices.partitions } else { devices.replicas };
    let count = if count > 1 { count } else { g.choices.pick(&[1, 2, 4]) };
    let by = g.choices.pick(&[0, 1, 0]);
    let named = if g.choices.one_in(4) { 1 } else { count };
    let pairs: Vec<String> = (0..named).map(|from| format!("{{{from},{}}}", (from + by) % count)).collect();
    let channel = if over_partitions { format!(", channel_id={}", g.channel()) } else { String::new() };
    let attributes = format!("source_target_pairs={{{}}}{channel}", pairs.join(","));
    g.add(x.ty.clone(), "collective-permute", &[&x], &attributes);
}

/// Collectives that a number threads like a token.
pub(super) fn threaded(g: &mut Generator<'_, '_>) {
    let element = g.choices.pick(&[ElementType::F32, ElementType::Bf16]);
    let apply = reducer(g, element, "add");
    let scalar = Type::scalar(element);
    let mut token = g.value(&scalar);
    for _ in 0..=g.choices.below(3) {
        let ty = g.array_of_rank(element, 1);
        let x = g.value(&ty);
        let who = groups(g, false);
        let attributes = format!("{}, to_apply={apply}", who.attributes);
        let result = Type::Tuple(vec![ty, scalar.clone()]);
        let result = g.add(result, "all-reduce", &[&x, &token], &attributes);
        g.tuple_element(&result, 0);
        let next = g.tuple_element(&result, 1);
        token = match g.choices.below(4) {
            3 => {
                let zero = g.constant(element, "0");
                g.add(scalar.clone(), "multiply", &[&next, &zero], "")
            }
            _ => next,
        };
    }
    if g.choices.one_in(3) {
        g.add(scalar, "negate", &[&token], "");
    }
}

/// A gather spelt as an addition of chunks, each in its own place.
pub(super) fn chunks(g: &mut Generator<'_, '_>) {
    let devices = g.devices;
    let over_partitions = devices.replicas < 2;
    let count = devices.count();
    let element = g.choices.pick(&[ElementType::F32, ElementType::S32]);
    let chunk = g.value(&Type::Array(element, vec![2, 4]));
    let chunk = g.add(Type::Array(element, vec![1, 2, 4]), "reshape", &[&chunk], "");
    let zero = g.constant(element, "0");
    let whole = Type::Array(element, vec![count, 2, 4]);
    let zeros = g.add(whole.clone(), "broadcast", &[&zero], "dimensions={}");
    let u32 = Type::scalar(ElementType::U32);
    let own = g.add(u32, if over_partitions { "partition-id" } else { "replica-id" }, &[], "");
    let origin = g.constant(ElementType::U32, "0");
    let put = g.add(whole.clone(), "dynamic-update-slice", &[&zeros, &chunk, &own, &origin, &origin], "");
    let apply = reducer(g, element, "add");
    let all: Vec<usize> = (0..count).collect();
    let who = if over_partitions {
        format!(
            "replica_groups={{{{{}}}}}, channel_id={}, use_global_device_ids=true",
            list(&all),
            g.channel()
        )
    } else if devices.partitions < 2 {
        format!("replica_groups={{{{{}}}}}", list(&all))
    } else {
        return;
    };
    let sum = g.add(whole, "all-reduce", &[&put], &format!("{who}, to_apply={apply}"));
    g.add(Type::Array(element, vec![count * 2, 4]), "reshape", &[&sum], "");
}

/// The same, as a loop in which chunks go round in a ring.
pub(super) fn ring(g: &mut Generator<'_, '_>) {
    let count = g.devices.partitions;
    if count < 2 || g.devices.replicas > 1 {
        return;
    }
    let s32 = Type::scalar(ElementType::S32);
    let (chunk, whole) =
        (Type::Array(ElementType::F32, vec![2, 4]), Type::Array(ElementType::F32, vec![2 * count, 4]));
    let x = g.value(&chunk);
    let device = g.add(Type::scalar(ElementType::U32), "partition-id", &[], "");
    let device = g.add(s32.clone(), "convert", &[&device], "");
    let (zero, none) = (g.constant(ElementType::S32, "0"), g.constant(ElementType::F32, "0"));
    let buffer = g.add(whole.clone(), "broadcast", &[&none], "dimensions={}");
    let state = Type::Tuple(vec![s32.clone(), s32.clone(), chunk, whole]);
    let condition = g.computation(Scope::Whole, std::slice::from_ref(&state), |g, given| {
        let at = g.tuple_element(&given[0], 0);
        let end = g.constant(ElementType::S32, &count.to_string());
        g.add(Type::scalar(ElementType::Pred), "compare", &[&at, &end], "direction=LT")
    });
    let body = g.computation(Scope::Whole, std::slice::from_ref(&state), |g, given| {
        let parts = g.tuple_elements(&given[0]);
        let [at, device, chunk, buffer] = &parts[..] else { return given[0].clone() };
        let number =
            |g: &mut Generator<'_, '_>, number: usize| g.constant(ElementType::S32, &number.to_string());
        let owner = g.add(s32.clone(), "add", &[device, at], "");
        let modulus = number(g, count);
        let owner = g.add(s32.clone(), "remainder", &[&owner, &modulus], "");
        let length = number(g, 2);
        let start = g.add(s32.clone(), "multiply", &[&owner, &length], "");
        let origin = number(g, 0);
        let filled = g.add(buffer.ty.clone(), "dynamic-update-slice", &[buffer, chunk, &start, &origin], "");
        let pairs: Vec<String> = (0..count).map(|to| format!("{{{},{to}}}", (to + 1) % count)).collect();
        let attributes = format!("source_target_pairs={{{}}}, channel_id={}", pairs.join(","), g.channel());
        let passed = g.add(chunk.ty.clone(), "collective-permute", &[chunk], &attributes);
        let one = number(g, 1);
        let next = g.add(s32.clone(), "add", &[at, &one], "");
        g.tuple(&[next, device.clone(), passed, filled])
    });
    let start = g.tuple(&[zero, device, x, buffer]);
    let attributes = format!("condition={}, body={}", condition.name, body.name);
    let result = g.add(state, "while", &[&start], &attributes);
    let buffer = g.tuple_element(&result, 3);
    g.add(Type::Array(ElementType::F32, vec![count, 2, 4]), "reshape", &[&buffer], "");
}

/// Which device this is, and a value everyone gets from one.
pub(super) fn place(g: &mut Generator<'_, '_>) {
    if g.choices.one_in(2) {
        let x = g.any();
        let channel = format!(", channel_id={}", g.channel());
        let channel = if g.devices.replicas > 1 { String::new() } else { channel };
        let attributes = format!("replica_groups={{{{0}}}}{channel}");
        let only_one = g.devices.count() == 1;
        if only_one {
            g.add(x.ty.clone(), "collective-broadcast", &[&x], &attributes);
            return;
        }
    }
    let opcode = g.choices.pick(&["partition-id", "replica-id"]);
    g.add(Type::scalar(ElementType::U32), opcode, &[], "");
}
