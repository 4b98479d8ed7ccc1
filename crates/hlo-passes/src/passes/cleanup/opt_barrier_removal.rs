//! `opt-barrier-removal`: elements of optimization barriers are taken from before the barrier.
//!
//! Barriers keep a compiler from moving or merging what is on their two sides. Back ends that don't look across such
//! lines anyway have no use for them. All computations are visited, operands first.
//!
//! ```text
//! t  = (f32[2], f32[2]) tuple(a, b)
//! ob = (f32[2], f32[2]) opt-barrier(t)
//! g  = f32[2] get-tuple-element(ob), index=1
//! n  = f32[2] negate(g)                            =>  n = f32[2] negate(b)
//! ```
//!
//! 1. `get-tuple-element` of `opt-barrier` of `tuple` is replaced by the tuple's operand, tokens and inner tuples
//!    included. Barrier and tuple go with their last reader.
//!
//! Left alone, with a remark:
//!
//! 2. barriers of anything but a `tuple` instruction: arrays, parameters, results of loops
//! 3. barriers that are used as a whole, by another opcode or as a root (elements read beside are still replaced)
//! 4. elements with control dependencies
//! 5. elements of another layout than the tuple's operand
//!
//! What the barrier ordered is ordered no more; that is the purpose. A barrier with control dependencies stays, with them,
//! though nobody reads it. Confidence: high.

use hlo_text::ir::{InstructionId, Opcode};

use crate::edit::Editor;
use crate::pass::{Finding, HAS_CONTROL_DEPENDENCIES, Pass, PassContext, PassResult, Place};
use crate::passes::stock::tuple_simplifier::tuple_element;

/// The pass.
pub(crate) struct OptBarrierRemoval;

impl Pass for OptBarrierRemoval {
    fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()> {
        for computation in edit.computations().to_vec() {
            for id in edit.post_order(computation) {
                if edit.is_removed(id) {
                    continue;
                }
                let Some(source) = find(edit, id).or_report(edit, id, context) else { continue };
                if !context.may_rewrite(edit, id) {
                    continue;
                }
                let place = Place::of(edit, id);
                let what = format!("replaced by `{}`, from before the barrier", edit.name_of(source));
                if edit.replace_instruction(id, source)? {
                    context.applied_at(place, what);
                }
            }
        }
        if context.wants_remarks {
            explain_barriers(edit, context);
        }
        Ok(())
    }
}

/// What the element is before the barrier.
fn find(edit: &Editor<'_>, element: InstructionId) -> Finding<InstructionId> {
    let Some((barrier, index)) = tuple_element(edit, element) else { return Finding::Other };
    if edit.instruction(barrier).opcode != Opcode::OptBarrier {
        return Finding::Other;
    }
    let Some(&tuple) = edit.operands(barrier).first() else { return Finding::Other };
    if edit.instruction(tuple).opcode != Opcode::Tuple {
        // Said once, of the barrier.
        return Finding::Other;
    }
    let Some(&source) = edit.operands(tuple).get(index) else { return Finding::Other };
    if edit.has_control_dependencies(element) {
        return Finding::near(HAS_CONTROL_DEPENDENCIES);
    }
    if edit.instruction(source).shape != edit.instruction(element).shape {
        return Finding::near("the operand of the tuple has another layout");
    }
    Finding::Match(source)
}

/// Says of each barrier that is left why it stays.
fn explain_barriers(edit: &Editor<'_>, context: &mut PassContext<'_>) {
    for &computation in edit.computations() {
        for barrier in edit.live_instructions(computation) {
            if edit.instruction(barrier).opcode != Opcode::OptBarrier {
                continue;
            }
            let of_tuple = edit
                .operands(barrier)
                .first()
                .is_some_and(|&of| edit.instruction(of).opcode == Opcode::Tuple);
            let mut users = edit.users(barrier).iter();
            let whole = users.find(|&&user| edit.instruction(user).opcode != Opcode::GetTupleElement);
            if !of_tuple {
                context.missed(edit, barrier, "its operand is not a tuple instruction");
            } else if edit.is_root(barrier) {
                context.missed(edit, barrier, "it is used as a whole: it is the root");
            } else if let Some(&user) = whole {
                context.missed(
                    edit,
                    barrier,
                    format_args!("it is used as a whole, by `{}`", edit.name_of(user)),
                );
            }
        }
    }
}
