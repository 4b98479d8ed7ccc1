//! `add-logit-output`: returns the logits as well, the values that a softmax turns into the probabilities.
//!
//! The logits are found by the softmax: `divide(e, broadcast(reduce-add(e)))`, where the sum begins at 0 and is along one
//! dimension, and `e` is `exponential(subtract(x, broadcast(reduce-max(x))))` with the maximum along the same one; then `x`
//! is the logits. Without such a subtraction they are what the exponential takes. Conversions, copies and reshapes that
//! add or drop dimensions of size 1 may stand in between. Of several softmaxes the one nearest to the root counts, the
//! first operand first.
//!
//! ```text
//! ROOT t = (f32[2,3]) tuple(d)
//!
//! ROOT t = (f32[2,3], f32[2,3]) tuple(d, logits)
//! ```
//!
//! Option `mode`: `append` (the default) puts the logits behind the other results, so that all outputs and aliases keep
//! their places; a result that is no tuple becomes the first element of one, and its alias moves along. `replace` makes the
//! logits the only result, and no alias is left.
//!
//! Nothing happens if the logits are returned already, be it in a tuple of a tuple (so a second run changes nothing, unless
//! the logits are a softmax themselves), or if no softmax leads to the result. Only the entry computation is searched.
//!
//! Confidence: medium; appending and the choice among several are ours.

use std::collections::VecDeque;

use hlo_text::ir::{InstructionId, Opcode, Shape};

use crate::Set;
use crate::analysis::logits_of;
use crate::edit::{Editor, ResultSource};
use crate::options::{OptionInfo, OptionType};
use crate::pass::{Pass, PassContext, PassError, PassResult};

/// The pass.
pub(crate) struct AddLogitOutput;

/// Its options.
pub(crate) const OPTIONS: &[OptionInfo] = &[OptionInfo {
    name: "mode",
    kind: OptionType::Text("append"),
    doc: "`append` the logits to the results, or `replace` these by them.",
}];

impl Pass for AddLogitOutput {
    fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()> {
        let replaces = match context.options.text("mode") {
            "append" => false,
            "replace" => true,
            other => {
                return Err(PassError::bad_option("mode", "`append` or `replace`", other));
            }
        };
        let root = edit.computation(edit.entry()).root;
        let Some((softmax, logits)) = nearest_softmax(edit, root, context) else {
            context.missed(edit, root, "no softmax leads to the result");
            return Ok(());
        };
        context.log.push("Verified softmax pattern: div<-exp matches div<-reduce<-exp".to_owned());
        context.log.push(format!("Found logits tensor: {}", edit.name_of(logits)));
        let is_tuple = edit.instruction(root).opcode == Opcode::Tuple;
        if root == logits || (!replaces && is_returned(edit, root, logits)) {
            context.missed(edit, logits, "the logits are returned already");
            return Ok(());
        }
        if !context.may_rewrite(edit, logits) {
            return Ok(());
        }
        let how = if replaces { "replace the result" } else { "are returned as well" };
        let softmax = edit.name_of(softmax).to_owned();
        context.applied(edit, logits, format_args!("these logits of softmax `{softmax}` {how}"));
        if replaces {
            edit.set_result(logits);
            return Ok(());
        }
        let mut results = Vec::new();
        match edit.shape_of(root) {
            Shape::Tuple(_) if is_tuple => {
                let elements = edit.operands(root).iter().enumerate();
                results.extend(elements.map(|(index, &id)| (id, ResultSource::Element(index))));
            }
            Shape::Tuple(elements) => {
                for index in 0..elements.len() {
                    results.push((edit.add_get_tuple_element(root, index)?, ResultSource::Element(index)));
                }
            }
            _ => results.push((root, ResultSource::Whole)),
        }
        results.push((logits, ResultSource::New));
        edit.set_results(&results);
        Ok(())
    }
}

/// Whether a value is one of the results, in whatever tuple.
fn is_returned(edit: &Editor<'_>, root: InstructionId, value: InstructionId) -> bool {
    let mut seen = Set::default();
    let mut tuples = vec![root];
    while let Some(tuple) = tuples.pop() {
        if edit.instruction(tuple).opcode != Opcode::Tuple || !seen.insert(tuple) {
            continue;
        }
        if edit.operands(tuple).contains(&value) {
            return true;
        }
        tuples.extend_from_slice(edit.operands(tuple));
    }
    false
}

/// The softmax nearest to the root with its logits.
fn nearest_softmax(
    edit: &Editor<'_>,
    root: InstructionId,
    context: &mut PassContext<'_>,
) -> Option<(InstructionId, InstructionId)> {
    let mut seen = Set::from_iter([root]);
    let mut queue = VecDeque::from([root]);
    while let Some(id) = queue.pop_front() {
        if edit.instruction(id).opcode == Opcode::Divide {
            match logits_of(edit, id) {
                Ok(Some(logits)) => return Some((id, logits)),
                Ok(None) => {}
                Err(why) => context.missed(edit, id, why),
            }
        }
        queue.extend(edit.operands(id).iter().copied().filter(|&operand| seen.insert(operand)));
    }
    None
}
