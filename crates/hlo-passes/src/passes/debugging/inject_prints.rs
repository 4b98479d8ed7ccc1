//! `inject-prints`: sends the results of chosen instructions to the host, which prints them.
//!
//! For each target `x` a host transfer marked `AwsNeuronDevicePrint` is added:
//!
//! ```text
//! --passes='inject-prints{targets=x}'
//!
//! x = f32[2] exponential(a)
//!
//! x = f32[2] exponential(a)
//! after-all = token[] after-all()
//! send = (f32[2], u32[], token[]) send(x, after-all), channel_id=1, is_host_transfer=true, frontend_attributes={_xla_host_transfer_rendezvous="AwsNeuronDevicePrint"}
//! send-done = token[] send-done(send), channel_id=1, is_host_transfer=true
//! ```
//!
//! Prints of earlier runs whose data is not a target any more are removed as a whole; users of their tokens get the
//! token they waited for. A target that is printed already is left alone, so a second run changes nothing, and a run
//! without targets removes all prints.
//!
//! Options: `targets` (names), `targets-file` (a JSON file with more).
//!
//! Limits: a target must give an array, in a computation that runs as a whole: not in a fusion, a reducer or the
//! body of an asynchronous operation, where nothing may have side effects. Anything else is an error, found before
//! anything is changed, and so are names that don't exist. Prints with control edges are not removed.
//!
//! Confidence: medium; the options and where the mark sits are ours.

use hlo_text::ir::{
    Attr, AttrKey, AttrValue, ComputationId, ElementType, InstructionId, Opcode, Shape, Value,
};

use crate::Set;
use crate::analysis::{CallContext, CallGraph};
use crate::edit::Editor;
use crate::options::OptionInfo;
use crate::pass::{Pass, PassContext, PassError, PassResult};
use crate::passes::targets::{TARGETS, TARGETS_FILE, find_targets, is_async_body};

/// The frontend attribute of a host transfer that says whom it meets.
const RENDEZVOUS: &[u8] = b"_xla_host_transfer_rendezvous";

/// The mark of a print.
const MARK: &[u8] = b"AwsNeuronDevicePrint";

/// The pass.
pub(crate) struct InjectPrints;

/// Its options.
pub(crate) const OPTIONS: &[OptionInfo] = &[TARGETS, TARGETS_FILE];

impl Pass for InjectPrints {
    fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()> {
        let targets = find_targets(edit, context)?;
        let contexts = CallGraph::of(edit).contexts(edit);
        for &id in &targets {
            let parent = edit.instruction(id).parent;
            if !contexts[parent.index()].is_only(CallContext::ControlFlow) || is_async_body(edit, parent) {
                let why = "it can't be printed: its computation must not have side effects";
                return Err(PassError::at(edit, id, why));
            }
            if !matches!(edit.shape_of(id), Shape::Array(_))
                || edit.instruction(id).opcode == Opcode::AllReduceStart
            {
                return Err(PassError::at(edit, id, "it can't be printed: its result is not an array"));
            }
        }
        let wanted: Set<InstructionId> = targets.iter().copied().collect();
        let mut printed = Set::default();
        let mut stale = Vec::new();
        for &computation in edit.computations() {
            for send in edit.live_instructions(computation).filter(|&id| is_print(edit, id)) {
                match edit.operands(send).first() {
                    Some(&data) if wanted.contains(&data) => {
                        printed.insert(data);
                    }
                    _ => stale.push(send),
                }
            }
        }
        for send in stale {
            remove_print(edit, send, context)?;
        }
        // In post-order, not in the order of the list: names and channels don't depend on how the list is written.
        let parents: Set<ComputationId> = targets.iter().map(|&id| edit.instruction(id).parent).collect();
        for computation in edit.computations().to_vec() {
            if !parents.contains(&computation) {
                continue;
            }
            for id in edit.post_order(computation) {
                if !wanted.contains(&id) {
                    continue;
                }
                if printed.contains(&id) {
                    context.missed(edit, id, "it is printed already");
                } else if context.may_rewrite(edit, id) {
                    let channel = edit.next_channel_id()?;
                    context.applied(edit, id, "its result is printed");
                    add_print(edit, id, channel);
                }
            }
        }
        Ok(())
    }
}

/// Whether it is the send of a print.
fn is_print(edit: &Editor<'_>, id: InstructionId) -> bool {
    if edit.instruction(id).opcode != Opcode::Send || !edit.flag(id, AttrKey::IsHostTransfer) {
        return false;
    }
    let Some(Value::FrontendAttributes(entries)) = edit.value_of(id, AttrKey::FrontendAttributes) else {
        return false;
    };
    let strings = edit.strings();
    entries.iter().any(|&(key, value)| strings.get(key) == RENDEZVOUS && strings.get(value) == MARK)
}

fn add_print(edit: &mut Editor<'_>, data: InstructionId, channel: i64) {
    let instruction = edit.instruction(data);
    let (parent, data_shape) = (instruction.parent, instruction.shape);
    let token = edit.intern_shape(Shape::Token);
    let context = edit.array_shape(ElementType::U32, &[]);
    let shape = edit.tuple_shape(&[data_shape, context, token]);
    let mark = vec![(edit.intern(RENDEZVOUS), edit.intern(MARK))];
    let mark = AttrValue::Value(edit.intern_value(Value::FrontendAttributes(mark)));
    let attributes = [
        Attr { key: AttrKey::ChannelId, value: AttrValue::Int(channel) },
        Attr { key: AttrKey::IsHostTransfer, value: AttrValue::Bool(true) },
        Attr { key: AttrKey::FrontendAttributes, value: mark },
    ];
    let after_all = edit.add(parent, Opcode::AfterAll, token, &[], &[]);
    let send = edit.add(parent, Opcode::Send, shape, &[data, after_all], &attributes);
    edit.add(parent, Opcode::SendDone, token, &[send], &attributes[..2]);
}

fn remove_print(edit: &mut Editor<'_>, send: InstructionId, context: &mut PassContext<'_>) -> PassResult<()> {
    let users = edit.users(send).to_vec();
    let is_done = |&id: &InstructionId| edit.instruction(id).opcode == Opcode::SendDone;
    let (&[_, token], true) = (edit.operands(send), users.iter().all(is_done) && !edit.is_root(send)) else {
        context.missed(edit, send, "the print stays: not only a send-done uses it");
        return Ok(());
    };
    if users.iter().chain([&send]).any(|&id| edit.has_control_dependencies(id)) {
        context.missed(edit, send, "the print stays: it has control dependencies");
        return Ok(());
    }
    if !context.may_rewrite(edit, send) {
        return Ok(());
    }
    context.applied(edit, send, "the print is removed, its data is not a target");
    for done in users {
        edit.replace_all_uses(done, token)?;
        edit.remove_instruction(done);
    }
    edit.remove_instruction(send);
    // The token goes as well, unless something else waits for it. The data stays, used or not.
    if edit.instruction(token).opcode == Opcode::AfterAll
        && edit.is_dead(token)
        && !edit.has_control_dependencies(token)
    {
        edit.remove_instruction(token);
    }
    Ok(())
}
