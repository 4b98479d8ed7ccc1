//! `dce`: instructions whose results nobody needs, and computations nobody calls, are removed.
//!
//! Results of fusions that nobody takes go, too, with what shardings and original values say of them; side effects in the
//! fusion stay. In fusions control dependencies keep nothing, and aliases of results follow when operands go. XLA's pass leaves
//! all these as they were, and takes the tuple away also where the one result that is left is sharded otherwise where it is
//! taken, taken after what depends on the fusion, or read by a side effect in the fusion: that gives modules its verifier
//! refuses. Here such fusions stay, with a remark.
//!
//! The second half of a pair stays when the first has to, which XLA's pass doesn't ask either.

use std::collections::BTreeSet;

use hlo_text::ir::{AttrKey, AttrValue, ComputationId, InstructionId, Opcode, Value};

use super::tuple_simplifier::tuple_element;
use crate::Set;
use crate::analysis::CallGraph;
use crate::edit::{Editor, ReplaceOptions};
use crate::pass::{Pass, PassContext, PassResult};

/// The target of calls that carry a sharding.
const SHARDING: &[u8] = b"Sharding";

/// The pass.
pub(crate) struct Dce;

impl Pass for Dce {
    fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()> {
        // Callers first, so that an unused element of a fusion is seen before the fusion's body.
        for computation in CallGraph::of(edit).post_order().into_iter().rev() {
            drop_unused_fusion_outputs(edit, computation, context)?;
            let mut dead = dead_roots(edit, computation, context);
            dead.retain(|&instruction| context.may_rewrite(edit, instruction));
            for &instruction in &dead {
                context.applied(edit, instruction, "removed: nothing uses it");
            }
            edit.remove_all_with_dead_operands(&dead);
            say_if_asked(edit, computation, context);
        }
        let mut dead = dead_computations(edit);
        let removable = dead.iter().take_while(|&&id| {
            let root = edit.computation(id).root;
            let may_rewrite = context.may_rewrite(edit, root);
            if may_rewrite {
                context.applied(edit, root, "removed with its computation, which nothing calls");
            }
            may_rewrite
        });
        dead.truncate(removable.count());
        edit.remove_computations(&dead);
        Ok(())
    }
}

/// The whole pass, as part of another one.
pub(crate) fn run_on_module(edit: &mut Editor<'_>) -> PassResult<()> {
    Dce.run(edit, &mut PassContext::default())
}

/// Says why the instruction somebody asks about is needed.
fn say_if_asked(edit: &Editor<'_>, computation: ComputationId, context: &mut PassContext<'_>) {
    let Some(id) = context.asked_about.filter(|id| id.index() < edit.instruction_id_limit()) else { return };
    if edit.is_removed(id) || edit.instruction(id).parent != computation {
        return;
    }
    match *edit.users(id) {
        _ if edit.is_root(id) => context.missed(edit, id, "it is the root of its computation"),
        [user] => context.missed(edit, id, format_args!("`{}` uses it", edit.name_of(user))),
        [user, ref others @ ..] => {
            let (name, count) = (edit.name_of(user), others.len());
            context.missed(edit, id, format_args!("`{name}` and {count} more use it"));
        }
        [] if edit.instruction(id).opcode == Opcode::Parameter => {
            context.missed(edit, id, "nothing uses it, but parameters stay");
        }
        // What else nothing uses has its remark.
        [] => {}
    }
}

/// The instructions from which removal starts.
fn dead_roots(
    edit: &Editor<'_>,
    computation: ComputationId,
    context: &mut PassContext<'_>,
) -> Vec<InstructionId> {
    let mut dead = Vec::new();
    for id in edit.live_instructions(computation) {
        if !edit.is_dead(id) {
            continue;
        }
        if !edit.is_safely_removable(id) {
            if edit.has_control_dependencies(id) {
                context.missed(edit, id, "nothing uses it, but it has control dependencies");
            }
        } else if edit.has_side_effect(id) {
            context.missed(edit, id, "nothing uses it, but it has a side effect");
        } else if keeps_sharding(edit, id) {
            context.missed(
                edit,
                id,
                "nothing uses it, but it says how a parameter or shared value is sharded",
            );
        } else {
            dead.push(id);
        }
    }
    dead
}

/// Whether the instruction is a call that says how its operand is sharded, and nothing else does.
fn keeps_sharding(edit: &Editor<'_>, id: InstructionId) -> bool {
    if edit.instruction(id).opcode != Opcode::CustomCall
        || edit.string(id, AttrKey::CustomCallTarget) != Some(SHARDING)
    {
        return false;
    }
    let Some(&operand) = edit.operands(id).first() else { return false };
    edit.is_root(operand)
        || edit.instruction(operand).opcode == Opcode::Parameter
        || edit.users(operand).len() != 1
}

/// How a fusion of one result takes the place of that element of a tuple. Shardings are compared before.
const TAKING_THE_PLACE: ReplaceOptions = ReplaceOptions {
    preserve_sharding: false,
    relay_control_dependencies: true,
    remove_dead_operands: true,
    allow_other_shape: false,
    copy_original_value: true,
};

/// Why the fusion can't take the place of `users`, which all take the element at `kept`.
fn reason_to_keep_tuple(
    edit: &Editor<'_>,
    fusion: InstructionId,
    users: &[InstructionId],
    kept: &[usize],
) -> Option<&'static str> {
    let mut known = edit.sharding_of_elements(fusion, kept);
    for &user in users {
        if let Some(Value::Sharding(own)) = edit.value_of(user, AttrKey::Sharding)
            && known.get_or_insert_with(|| own.clone()) != own
        {
            return Some("the one that is has another sharding where it is taken");
        }
        if !edit.can_replace_with(user, fusion, TAKING_THE_PLACE) {
            return Some("the one that is is taken after what depends on the fusion");
        }
    }
    None
}

/// Whether something with a side effect reads `output` in the body of a fusion, and so would stay: the root of a fusion
/// has no users in it.
fn is_read_by_effects(edit: &Editor<'_>, root: InstructionId, output: InstructionId) -> bool {
    let mut seen = Set::from_iter([output, root]);
    let mut open = vec![output];
    while let Some(id) = open.pop() {
        for &user in edit.users(id) {
            if seen.insert(user) {
                if edit.has_side_effect(user) {
                    return true;
                }
                open.push(user);
            }
        }
    }
    false
}

/// Drops elements of a fusion's result that no `get-tuple-element` takes.
fn drop_unused_fusion_outputs(
    edit: &mut Editor<'_>,
    computation: ComputationId,
    context: &mut PassContext<'_>,
) -> PassResult<()> {
    let &[fusion] = edit.callers(computation) else { return Ok(()) };
    let root = edit.computation(computation).root;
    if edit.instruction(fusion).opcode != Opcode::Fusion
        || edit.instruction(root).opcode != Opcode::Tuple
        || edit.attribute(root, AttrKey::Sharding).is_some()
        || !edit.is_default(fusion, AttrKey::OutputToOperandAliasing)
        || edit.has_control_dependencies(fusion)
        || edit.is_custom_fusion(fusion)
        || edit.is_root(fusion)
        || edit.users(fusion).is_empty()
    {
        return Ok(());
    }
    let mut used = BTreeSet::new();
    for &user in edit.users(fusion) {
        match tuple_element(edit, user) {
            Some((_, index)) => used.insert(index),
            None => return Ok(()),
        };
    }
    let results = edit.operands(root);
    if used.len() == results.len() {
        return Ok(());
    }
    let outputs: Option<Vec<InstructionId>> = used.iter().map(|&index| results.get(index).copied()).collect();
    let Some(outputs) = outputs else { return Ok(()) };
    let kept: Vec<usize> = used.iter().copied().collect();
    let users = edit.users(fusion).to_vec();
    // XLA doesn't ask, and leaves elements of what is no tuple any more.
    let reason = match outputs[..] {
        [output] if is_read_by_effects(edit, root, output) => {
            Some("the one that is is read by a side effect in the fusion")
        }
        [_] => reason_to_keep_tuple(edit, fusion, &users, &kept),
        _ => None,
    };
    if let Some(reason) = reason {
        context.missed(edit, fusion, format_args!("not all of its results are used, but {reason}"));
        return Ok(());
    }
    if !context.may_rewrite(edit, fusion) {
        return Ok(());
    }
    context.applied(
        edit,
        fusion,
        format_args!("{} of its {} results are used", kept.len(), edit.operands(root).len()),
    );
    edit.keep_elements(fusion, &kept);
    if let [output] = outputs[..] {
        for user in users {
            edit.replace_with(user, fusion, TAKING_THE_PLACE)?;
        }
        edit.replace_all_uses(root, output)?;
    } else {
        for user in users {
            if let Some((_, old)) = tuple_element(edit, user) {
                let new = used.range(..old).count();
                edit.set_attribute(user, AttrKey::Index, Some(AttrValue::Int(new as i64)));
            }
        }
        let tuple = edit.add_tuple(computation, &outputs);
        let options = ReplaceOptions {
            allow_other_shape: true,
            relay_control_dependencies: true,
            ..ReplaceOptions::default()
        };
        edit.replace_with(root, tuple, options)?;
    }
    Ok(())
}

/// Computations that the entry computation doesn't call, directly or not, callers before what they call.
pub(crate) fn dead_computations(edit: &Editor<'_>) -> Vec<ComputationId> {
    let graph = CallGraph::of(edit);
    let mut live = vec![false; edit.computation_id_limit()];
    let mut stack = vec![edit.entry()];
    live[edit.entry().index()] = true;
    while let Some(id) = stack.pop() {
        for &callee in graph.callees(id) {
            if !std::mem::replace(&mut live[callee.index()], true) {
                stack.push(callee);
            }
        }
    }
    if edit.computations().iter().all(|id| live[id.index()]) {
        return Vec::new();
    }
    graph.post_order().into_iter().rev().filter(|id| !live[id.index()]).collect()
}
