//! `legalize-intrinsics`: activation calls get the name of the kernel for their element type and an element count;
//! ring-transfer markers go.
//!
//! Only calls in the entry computation whose target is one of these, letter by letter, are rewritten:
//!
//! - `AwsNeuronErf`, `AwsNeuronGelu`, `AwsNeuronGeluApprxTanh`, `AwsNeuronGeluBackward`, `AwsNeuronSilu` and
//!   `AwsNeuronSiluBackward` get the suffix of the result's element type (`_f16`, `_f32`, `_bf16`; none for others), their
//!   first operand and a constant with the number of elements;
//! - `AwsNeuronTransferWithStaticRing` is replaced by its first operand.
//!
//! Calls of types without a suffix keep their name, so a second run rewrites them once more: the same calls, with another
//! constant for the number of elements.

use hlo_text::diagnostic::did_you_mean;
use hlo_text::ir::{AttrKey, ElementType, InstructionId, Opcode, Shape};

use crate::edit::Editor;
use crate::pass::{Pass, PassContext, PassError, PassResult};

/// Calls that are replaced by their operand.
const MARKERS: &[&str] = &["AwsNeuronTransferWithStaticRing"];

/// Calls that get a kernel's name.
const ACTIVATIONS: &[&str] = &[
    "AwsNeuronErf",
    "AwsNeuronGelu",
    "AwsNeuronGeluApprxTanh",
    "AwsNeuronGeluBackward",
    "AwsNeuronSilu",
    "AwsNeuronSiluBackward",
];

/// What the targets of calls for the device's compiler begin with.
const VENDOR_PREFIX: &str = "AwsNeuron";

/// What the kernel for an element type has behind its name. Other types have kernels without suffix.
fn suffix(element_type: ElementType) -> &'static str {
    match element_type {
        ElementType::F16 => "_f16",
        ElementType::F32 => "_f32",
        ElementType::Bf16 => "_bf16",
        _ => "",
    }
}

/// What is to be done with a call.
enum Action {
    Bypass,
    Legalize { target: String, count: i32 },
}

/// The pass.
pub(crate) struct LegalizeIntrinsics;

impl Pass for LegalizeIntrinsics {
    fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()> {
        // Rewriting changes what the walk would see, so all calls are found first.
        let mut actions = Vec::new();
        for call in edit.post_order(edit.entry()) {
            if edit.instruction(call).opcode == Opcode::CustomCall
                && let Some(action) = plan(edit, call, context)
            {
                actions.push((call, action));
            }
        }
        if context.wants_remarks {
            explain_other_computations(edit, context);
        }
        for (call, action) in actions {
            if edit.has_control_dependencies(call) {
                context.missed(edit, call, "it has control dependencies, so it can't be replaced");
                continue;
            }
            let Some(&operand) = edit.operands(call).first() else {
                return Err(PassError::at(edit, call, "the call needs an operand"));
            };
            if !context.may_rewrite(edit, call) {
                continue;
            }
            match action {
                Action::Bypass => {
                    context.applied(
                        edit,
                        call,
                        format_args!("replaced by its operand `{}`", edit.name_of(operand)),
                    );
                    edit.replace_instruction(call, operand)?;
                }
                Action::Legalize { target, count } => {
                    context.applied(edit, call, format_args!("now calls `{target}` for {count} elements"));
                    let instruction = edit.instruction(call);
                    let (parent, shape) = (instruction.parent, instruction.shape);
                    let count = edit.add_scalar_constant(parent, ElementType::S32, i64::from(count))?;
                    let new = edit.add_custom_call(parent, shape, &[operand, count], &target);
                    edit.replace_instruction(call, new)?;
                }
            }
        }
        Ok(())
    }
}

/// The target of a custom call, if it is text.
fn target_of<'e>(edit: &'e Editor<'_>, call: InstructionId) -> &'e str {
    let target = edit.string(call, AttrKey::CustomCallTarget).unwrap_or_default();
    std::str::from_utf8(target).unwrap_or_default()
}

fn plan(edit: &Editor<'_>, call: InstructionId, context: &mut PassContext<'_>) -> Option<Action> {
    let target = target_of(edit, call);
    if MARKERS.contains(&target) {
        return Some(Action::Bypass);
    }
    if !ACTIVATIONS.contains(&target) {
        explain_target(edit, call, context);
        return None;
    }
    let Shape::Array(result) = edit.shape_of(call) else {
        context.missed(edit, call, "its result is not an array");
        return None;
    };
    // The original multiplies in 32 bits.
    let count = result.dimensions.iter().fold(1i32, |count, &size| count.wrapping_mul(size as i32));
    if result.element_count() != Some(i64::from(count)) {
        let note = format_args!("the element count does not fit in 32 bits and becomes {count}");
        context.note(edit, call, note);
    }
    Some(Action::Legalize { target: format!("{target}{}", suffix(result.element_type)), count })
}

/// Says why a call with a target that looks like ours is none of ours.
fn explain_target(edit: &Editor<'_>, call: InstructionId, context: &mut PassContext<'_>) {
    let target = target_of(edit, call);
    if !context.wants_remarks || !target.to_ascii_lowercase().starts_with(&VENDOR_PREFIX.to_ascii_lowercase())
    {
        return;
    }
    let mut known = MARKERS.iter().chain(ACTIVATIONS);
    let base = target.trim_end_matches("_f16").trim_end_matches("_bf16").trim_end_matches("_f32");
    if known.clone().any(|&name| name == base) {
        context.missed(edit, call, format_args!("`{target}` is the name of a kernel already"));
    } else if let Some(close) = known.find(|name| name.eq_ignore_ascii_case(target)) {
        context.missed(edit, call, format_args!("`{target}` is not `{close}`: letter case counts"));
    } else {
        let (what, names) = match near_targets(target) {
            near if near.is_empty() => ("those are", MARKERS.iter().chain(ACTIVATIONS).copied().collect()),
            near if near.len() == 1 => ("the nearest is", near),
            near => ("the nearest are", near),
        };
        let names = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let reason = format_args!("`{target}` is not one of this pass's targets; {what} {names}");
        context.missed(edit, call, reason);
    }
}

/// The pass's targets that `target` may have been meant to be: those it abbreviates, then the one it is spelt most like.
fn near_targets(target: &str) -> Vec<&'static str> {
    /// What is shorter abbreviates nearly anything.
    const SHORTEST_ABBREVIATION: usize = 3;
    let own_part = |name: &'static str| name.strip_prefix(VENDOR_PREFIX).unwrap_or(name);
    let asked = target.get(VENDOR_PREFIX.len()..).unwrap_or_default().to_ascii_lowercase();
    let abbreviates = |name: &str| {
        let mut letters = name.bytes().map(|letter| letter.to_ascii_lowercase());
        asked.bytes().all(|wanted| letters.any(|letter| letter == wanted))
    };
    let known = || MARKERS.iter().chain(ACTIVATIONS).copied();
    let mut near: Vec<&'static str> = Vec::new();
    if asked.len() >= SHORTEST_ABBREVIATION {
        near.extend(known().filter(|name| abbreviates(own_part(name))));
    }
    let spelt = target.get(VENDOR_PREFIX.len()..).unwrap_or_default();
    if let Some(close) = did_you_mean(spelt, known().map(own_part)) {
        near.extend(known().filter(|name| own_part(name) == close));
    }
    let mut seen = Vec::new();
    near.retain(|name| {
        let is_new = !seen.contains(name);
        seen.push(*name);
        is_new
    });
    near
}

/// Says of calls in other computations why they stay.
fn explain_other_computations(edit: &Editor<'_>, context: &mut PassContext<'_>) {
    for &computation in edit.computations() {
        if computation == edit.entry() {
            continue;
        }
        for call in edit.live_instructions(computation) {
            if edit.instruction(call).opcode == Opcode::CustomCall {
                let target = target_of(edit, call);
                if MARKERS.contains(&target) || ACTIVATIONS.contains(&target) {
                    context.missed(edit, call, "it is not in the entry computation");
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_targets_are_named() {
        assert_eq!(near_targets("AwsNeuronGeluBwd"), ["AwsNeuronGeluBackward", "AwsNeuronGelu"]);
        assert_eq!(near_targets("AwsNeuronSilu2"), ["AwsNeuronSilu"]);
        assert_eq!(near_targets("AwsNeuronSiluBackwards"), ["AwsNeuronSiluBackward"]);
        assert_eq!(near_targets("awsneuronStaticRing"), ["AwsNeuronTransferWithStaticRing"]);
        assert!(near_targets("AwsNeuronSoftmax").is_empty());
        assert!(near_targets("AwsNeuron").is_empty());
        assert!(near_targets("AwsNeuron\u{e9}").is_empty());
    }

    #[test]
    fn the_documentation_names_all_targets() {
        let head = include_str!("intrinsics.rs").split("\nuse ").next().unwrap_or_default();
        for name in MARKERS.iter().chain(ACTIVATIONS) {
            assert!(head.contains(&format!("`{name}`")), "{name}");
        }
    }
}
