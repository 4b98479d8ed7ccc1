//! `add-logit-output`: returns the logits as well, the values that a softmax turns into the probabilities.
//!
//! The logits are found by the softmax: `divide(e, broadcast(reduce-add(e)))` where `e` is
//! `exponential(subtract(x, broadcast(reduce-max(x))))`; then `x` is the logits. Without the subtraction they are what
//! the exponential takes. Conversions, copies and reshapes may stand in between. Of several softmaxes the one nearest to
//! the root counts, the first operand first.
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
//! Nothing happens if the logits are returned already (so a second run changes nothing, unless the logits are a softmax
//! themselves), or if no softmax leads to the
//! result. Only the entry computation is searched.
//!
//! Confidence: medium; appending and the choice among several are ours.

use std::collections::VecDeque;

use hlo_text::ir::{AttrKey, InstructionId, Opcode, Shape};

use crate::Set;
use crate::analysis::reducer_opcode;
use crate::edit::{Editor, ResultSource};
use crate::options::{OptionInfo, OptionType};
use crate::pass::{Pass, PassContext, PassError, PassResult};

/// How many conversions and the like may stand between two parts of a softmax.
const MAX_STEPS: usize = 16;

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
        let is_returned = root == logits || (is_tuple && !replaces && edit.operands(root).contains(&logits));
        if is_returned {
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

/// The first instruction behind conversions, copies and changes of shape.
fn origin(edit: &Editor<'_>, mut id: InstructionId) -> InstructionId {
    use Opcode as O;
    for _ in 0..MAX_STEPS {
        match (edit.instruction(id).opcode, edit.operands(id)) {
            (O::Convert | O::Copy | O::Reshape | O::Bitcast | O::Broadcast, &[operand]) => id = operand,
            _ => break,
        }
    }
    id
}

/// The value a reduction with this reducer works on.
fn reduced(edit: &Editor<'_>, id: InstructionId, reducer: Opcode) -> Option<InstructionId> {
    let instruction = edit.instruction(id);
    let &[value, _] = edit.operands(id) else { return None };
    let computation = edit.called(id, AttrKey::ToApply)?;
    let matches = instruction.opcode == Opcode::Reduce && reducer_opcode(edit, computation) == Some(reducer);
    matches.then_some(value)
}

/// The logits, if the division is that of a softmax; an error says why it almost is.
fn logits_of(edit: &Editor<'_>, divide: InstructionId) -> Result<Option<InstructionId>, &'static str> {
    let &[dividend, divisor] = edit.operands(divide) else { return Ok(None) };
    let exponential = origin(edit, dividend);
    if edit.instruction(exponential).opcode != Opcode::Exponential {
        return Ok(None);
    }
    let sum = reduced(edit, origin(edit, divisor), Opcode::Add);
    if sum.map(|value| origin(edit, value)) != Some(exponential) {
        return Err("an exponential is divided, but not by its own sum");
    }
    let &[exponent] = edit.operands(exponential) else { return Ok(None) };
    let shifted = origin(edit, exponent);
    if let (Opcode::Subtract, &[value, shift]) = (edit.instruction(shifted).opcode, edit.operands(shifted))
        && let Some(of) = maximum_of(edit, origin(edit, shift))
        && origin(edit, of) == origin(edit, value)
    {
        return Ok(Some(value));
    }
    Ok(Some(exponent))
}

/// What the maximum is of; a lower bound may be applied to it.
fn maximum_of(edit: &Editor<'_>, id: InstructionId) -> Option<InstructionId> {
    if let (Opcode::Maximum, &[a, b]) = (edit.instruction(id).opcode, edit.operands(id)) {
        let mut operands = [a, b].into_iter().map(|operand| origin(edit, operand));
        return operands.find_map(|operand| reduced(edit, operand, Opcode::Maximum));
    }
    reduced(edit, id, Opcode::Maximum)
}
