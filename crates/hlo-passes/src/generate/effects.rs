//! Side effects: transfers, random numbers, calls of what nobody knows; and Neuron's own calls.

use hlo_text::ir::ElementType;

use super::generator::{Generator, Value};
use super::types::{Type, literal};

/// A transfer between device and host, or between devices, in the order of tokens.
pub(super) fn transfer(g: &mut Generator<'_, '_>) {
    let x = g.any();
    let ty = x.ty.clone();
    let token = g.token();
    let context = Type::scalar(ElementType::U32);
    let next = match g.choices.below(4) {
        0 => {
            let both = Type::Tuple(vec![ty, Type::Token]);
            let result = g.add(both, "infeed", &[&token], "");
            g.tuple_element(&result, 0);
            g.tuple_element(&result, 1)
        }
        1 => g.add(Type::Token, "outfeed", &[&x, &token], &format!("outfeed_shape={ty}")),
        2 => {
            let host = g.choices.pick(&["", ", is_host_transfer=true"]);
            let attributes = format!("channel_id={}{host}", g.channel());
            let state = Type::Tuple(vec![ty, context, Type::Token]);
            let start = g.add_once(state, "send", &[&x, &token], &attributes);
            g.add(Type::Token, "send-done", &[&start], &attributes)
        }
        _ => {
            let attributes = format!("channel_id={}", g.channel());
            let state = Type::Tuple(vec![ty.clone(), context, Type::Token]);
            let start = g.add_once(state, "recv", &[&token], &attributes);
            let both = Type::Tuple(vec![ty, Type::Token]);
            let result = g.add(both, "recv-done", &[&start], &attributes);
            g.tuple_element(&result, 0);
            g.tuple_element(&result, 1)
        }
    };
    if !g.choices.one_in(6) {
        g.set_token(next);
    }
}

/// A transfer to be printed, as `inject-prints` makes it.
pub(super) fn device_print(g: &mut Generator<'_, '_>) {
    let x = g.any();
    let token = g.token();
    let mark = "frontend_attributes={_xla_host_transfer_rendezvous=\"AwsNeuronDevicePrint\"}";
    let attributes = format!("channel_id={}, is_host_transfer=true", g.channel());
    let state = Type::Tuple(vec![x.ty.clone(), Type::scalar(ElementType::U32), Type::Token]);
    let start = g.add_once(state, "send", &[&x, &token], &format!("{attributes}, {mark}"));
    let next = g.add(Type::Token, "send-done", &[&start], &attributes);
    g.set_token(next);
}

pub(super) fn random(g: &mut Generator<'_, '_>) {
    if g.choices.one_in(4) {
        let state = g.value(&Type::Array(ElementType::U64, vec![2]));
        let bits = Type::Array(ElementType::U32, vec![4]);
        let both = Type::Tuple(vec![state.ty.clone(), bits]);
        let result = g.add(both, "rng-bit-generator", &[&state], "algorithm=rng_philox");
        g.tuple_element(&result, 1);
        return;
    }
    let element = g.choices.pick(&[ElementType::F32, ElementType::Bf16, ElementType::S32]);
    let normal = element.is_float() && g.choices.one_in(3);
    let (low, high) = if g.choices.one_in(4) {
        let scalar = Type::scalar(element);
        (g.value(&scalar), g.value(&scalar))
    } else {
        (g.constant(element, "0"), g.constant(element, "1"))
    };
    let ty = g.array(element);
    let distribution = if normal { "rng_normal" } else { "rng_uniform" };
    g.add(ty, "rng", &[&low, &high], &format!("distribution={distribution}"));
}

/// A random mask and what it is applied to.
pub(super) fn dropout(g: &mut Generator<'_, '_>) {
    let element = g.choices.pick(&[ElementType::F32, ElementType::Bf16]);
    let ty = g.array_of_rank(element, 1);
    let x = g.value(&ty);
    let (low, high) = (g.constant(element, "0"), g.constant(element, "1"));
    let numbers = g.add(ty.clone(), "rng", &[&low, &high], "distribution=rng_uniform");
    let spread = |g: &mut Generator<'_, '_>, text: &str| {
        let scalar = g.constant(element, text);
        g.add(ty.clone(), "broadcast", &[&scalar], "dimensions={}")
    };
    let threshold = spread(g, "0.5");
    let direction = g.choices.pick(&["LT", "GE", "LE", "EQ"]);
    let flag = ty.of(ElementType::Pred);
    let mask = g.add(flag, "compare", &[&numbers, &threshold], &format!("direction={direction}"));
    let keep = spread(g, "0.5");
    let scaled = g.add(ty.clone(), "divide", &[&x, &keep], "");
    if g.choices.one_in(2) {
        let zeros = spread(g, "0");
        g.add(ty.clone(), "select", &[&mask, &scaled, &zeros], "");
    } else {
        let ones = g.add(ty.clone(), "convert", &[&mask], "");
        g.add(ty.clone(), "multiply", &[&scaled, &ones], "");
    }
}

/// A call of something outside.
pub(super) fn custom_call(g: &mut Generator<'_, '_>) {
    let x = g.any();
    let effect = g.choices.pick(&["", ", custom_call_has_side_effect=true"]);
    let config = g.choices.pick(&["", ", backend_config=\"a=1\"", ", backend_config={\"a\":1}"]);
    let attributes = format!("custom_call_target=\"other\"{effect}{config}");
    g.add(x.ty.clone(), "custom-call", &[&x], &attributes);
}

/// Targets of calls for Neuron's compiler that take one array and give one like it.
const KERNELS: [&str; 10] = [
    "AwsNeuronGelu",
    "AwsNeuronTransferWithStaticRing",
    "AwsNeuronErf",
    "AwsNeuronSilu",
    "AwsNeuronGeluBackward",
    "AwsNeuronGeluApprxTanh",
    "AwsNeuronSiluBackward",
    "AwsNeuronGelu_f32",
    "AwsNeuronSoftmax",
    "AwsNeuronModuleMarkerStart-Forward",
];

pub(super) fn kernel(g: &mut Generator<'_, '_>) {
    let element = g.element_of(ElementType::is_float);
    let ty = g.array(element);
    let x = g.value(&ty);
    let target = g.choices.pick(&KERNELS);
    let first = g.add(ty.clone(), "custom-call", &[&x], &format!("custom_call_target=\"{target}\""));
    if g.choices.one_in(3) {
        let target = g.choices.pick(&KERNELS);
        g.add(ty, "custom-call", &[&first], &format!("custom_call_target=\"{target}\""));
    }
}

/// A collective written as a call.
pub(super) fn collective_call(g: &mut Generator<'_, '_>) {
    let element = g.choices.pick(&[ElementType::F32, ElementType::Bf16]);
    let ty = g.array_of_rank(element, 1);
    let x = g.value(&ty);
    let groups = g.choices.pick(&["{{0},{1}}", "{{0,1}}", "{{0}}"]);
    let target = g.choices.pick(&["AwsNeuronAllReduce_add_f32", "AwsNeuronAllReduce_max_bf16"]);
    let attributes = format!("custom_call_target=\"{target}\", backend_config=\"replica_groups={groups}\"");
    g.add(ty, "custom-call", &[&x], &attributes);
}

/// A few values of one kind after another, so that constants repeat.
pub(super) fn constants(g: &mut Generator<'_, '_>) {
    let element = g.element();
    let number = g.choices.below(3);
    let text = literal(element, number);
    let scalars: Vec<Value> = (0..2).map(|_| g.constant(element, &text)).collect();
    let ty = g.array_of_rank(element, 1);
    for scalar in &scalars {
        g.add(ty.clone(), "broadcast", &[scalar], "dimensions={}");
    }
}
