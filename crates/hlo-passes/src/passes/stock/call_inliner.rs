//! `call-inliner`: calls are replaced by what they call.

use hlo_text::ir::{AttrKey, InstructionId, Opcode, Value};

use super::dce;
use crate::analysis::{CallGraph, Growth, copied_size};
use crate::edit::{Editor, KnownNeeds};
use crate::pass::{Pass, PassContext, PassResult};

/// The frontend attribute that says whether a call may be inlined, and what it says when not (now).
const INLINEABLE: &[u8] = b"inlineable";
const NOT_INLINEABLE: [&[u8]; 2] = [b"false", b"xla_late"];

/// The pass.
pub(crate) struct CallInliner;

impl Pass for CallInliner {
    fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()> {
        let mut inlined = false;
        let mut known = KnownNeeds::default();
        // Dead computations stay until the end where what is done with them leaves its traces in names.
        let keep_callees = has_fusion_of_many_results(edit);
        for (call, reason) in find_calls(edit, context.rewrites_left())? {
            if let Some(reason) = reason {
                context.missed(edit, call, reason);
                continue;
            }
            if !context.may_rewrite(edit, call) {
                continue;
            }
            context.applied(edit, call, "inlined");
            if keep_callees {
                edit.inline_one_of_calls(call, &mut known)?;
            } else {
                edit.inline_call_and_drop_callee(call, &mut known)?;
            }
            inlined = true;
        }
        if inlined {
            dce::run_on_module(edit)?;
        }
        Ok(())
    }
}

/// Whether there is a fusion that `dce` may leave fewer results: that makes new instructions, in dead computations, too,
/// and an order of computations in which dead ones count.
fn has_fusion_of_many_results(edit: &Editor<'_>) -> bool {
    let mut all = edit.computations().iter().flat_map(|&id| edit.live_instructions(id));
    all.any(|id| edit.instruction(id).opcode == Opcode::Fusion && edit.shape_of(id).as_tuple().is_some())
}

/// The calls in the order they are inlined, with the reasons why some are not. Callees come first: what is inlined has
/// nothing to inline left.
///
/// # Errors
/// The module would become too large if `limit` of them were inlined.
fn find_calls(edit: &Editor<'_>, mut limit: u64) -> PassResult<Vec<(InstructionId, Option<&'static str>)>> {
    let mut found = Vec::new();
    let mut growth = Growth::default();
    let mut sizes = vec![0; edit.computation_id_limit()];
    for computation in CallGraph::of(edit).post_order() {
        let mut size = copied_size(edit, computation, &sizes);
        for call in edit.post_order(computation) {
            if edit.instruction(call).opcode != Opcode::Call {
                continue;
            }
            let reason = reason_to_keep(edit, call);
            found.push((call, reason));
            if reason.is_none()
                && limit > 0
                && let Some(callee) = edit.called(call, AttrKey::ToApply)
            {
                limit -= 1;
                // Operands take the place of parameters, and the copies that of the call.
                let parameters = edit.computation(callee).parameters.len() as u64;
                let copied = sizes[callee.index()].saturating_sub(parameters);
                growth.add(call, copied);
                size = size.saturating_add(copied).saturating_sub(1);
            }
        }
        sizes[computation.index()] = size;
    }
    growth.check(edit)?;
    Ok(found)
}

fn reason_to_keep(edit: &Editor<'_>, call: InstructionId) -> Option<&'static str> {
    if !edit.is_default(call, AttrKey::BackendConfig) {
        return Some("it has a backend config");
    }
    let parent = edit.instruction(call).parent;
    let is_async = |&caller: &InstructionId| {
        matches!(
            edit.instruction(caller).opcode,
            Opcode::AsyncStart | Opcode::AsyncUpdate | Opcode::AsyncDone
        )
    };
    if edit.callers(parent).iter().any(is_async) {
        return Some("it is the call of an asynchronous start");
    }
    let says_no = match edit.value_of(call, AttrKey::FrontendAttributes) {
        Some(Value::FrontendAttributes(entries)) => entries.iter().any(|&(key, value)| {
            let strings = edit.strings();
            strings.get(key) == INLINEABLE && NOT_INLINEABLE.contains(&strings.get(value))
        }),
        _ => false,
    };
    says_no.then_some("its frontend attribute `inlineable` forbids it")
}
