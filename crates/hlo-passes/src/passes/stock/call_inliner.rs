//! `call-inliner`: calls are replaced by what they call.

use hlo_text::ir::{AttrKey, InstructionId, Opcode, Value};

use super::dce;
use crate::analysis::CallGraph;
use crate::edit::Editor;
use crate::pass::{Pass, PassContext, PassResult};

/// The frontend attribute that says whether a call may be inlined, and what it says when not (now).
const INLINEABLE: &[u8] = b"inlineable";
const NOT_INLINEABLE: [&[u8]; 2] = [b"false", b"xla_late"];

/// The pass.
pub(crate) struct CallInliner;

impl Pass for CallInliner {
    fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()> {
        let mut inlined = false;
        // Callees first: what is inlined has nothing to inline left.
        for computation in CallGraph::of(edit).post_order() {
            for call in edit.post_order(computation) {
                if edit.instruction(call).opcode != Opcode::Call || edit.is_removed(call) {
                    continue;
                }
                if let Some(reason) = reason_to_keep(edit, call) {
                    context.missed(edit, call, reason);
                    continue;
                }
                if !context.may_rewrite(edit, call) {
                    continue;
                }
                context.applied(edit, call, "inlined");
                edit.inline_call(call)?;
                inlined = true;
            }
        }
        if inlined {
            dce::run_on_module(edit)?;
        }
        Ok(())
    }
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
