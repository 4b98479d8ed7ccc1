//! `conditional-to-select`: conditionals of two branches in computations that run once per element become selects.

use hlo_text::ir::{
    AttrKey, AttrValue, ComputationId, ElementType, InstructionId, NewInstruction, Opcode, Shape,
};

use crate::analysis::{CallContext, CallGraph};
use crate::edit::Editor;
use crate::pass::{Pass, PassContext, PassError, PassResult};

/// The pass.
pub(crate) struct ConditionalToSelect;

impl Pass for ConditionalToSelect {
    fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()> {
        let graph = CallGraph::of(edit);
        let contexts = graph.contexts(edit);
        for computation in graph.post_order() {
            let is_embedded = contexts[computation.index()].is_only(CallContext::Embedded);
            for id in edit.live_instructions(computation).collect::<Vec<_>>() {
                if edit.is_removed(id) || edit.instruction(id).opcode != Opcode::Conditional {
                    continue;
                }
                if is_embedded {
                    make_select(edit, id, context)?;
                } else {
                    context.missed(edit, id, "its computation is not run once per element");
                }
            }
        }
        Ok(())
    }
}

fn make_select(
    edit: &mut Editor<'_>,
    conditional: InstructionId,
    context: &mut PassContext<'_>,
) -> PassResult<()> {
    let mut branches = Vec::new();
    edit.for_each_called_computation(conditional, |branch| branches.push(branch));
    let (&[first, second], &[index, for_first, for_second]) = (&branches[..], edit.operands(conditional))
    else {
        context.missed(edit, conditional, "it does not have two branches");
        return Ok(());
    };
    if edit.computation_has_side_effect(first) || edit.computation_has_side_effect(second) {
        context.missed(edit, conditional, "a branch has a side effect");
        return Ok(());
    }
    if !matches!(edit.shape_of(conditional), Shape::Array(_)) {
        context.missed(edit, conditional, "its result is not an array");
        return Ok(());
    }
    if edit.has_control_dependencies(conditional) {
        context.missed(edit, conditional, "it has control dependencies, so it can't be replaced");
        return Ok(());
    }
    if !context.may_rewrite(edit, conditional) {
        return Ok(());
    }
    context.applied(edit, conditional, "both branches are inlined, a select chooses");
    let parent = edit.instruction(conditional).parent;
    // An index of 0 takes the first branch, everything else the second: as a truth value it is the wrong way round.
    let by_truth = edit.element_type(index) == Some(ElementType::Pred);
    let (mut on_true, mut on_false) = ((first, for_first), (second, for_second));
    let mut predicate = index;
    if !by_truth {
        std::mem::swap(&mut on_true, &mut on_false);
        let shape = edit.with_element_type(edit.instruction(index).shape, ElementType::Pred);
        predicate = edit.add(parent, Opcode::Convert, shape, &[index], &[]);
    }
    let mut call =
        |(branch, operand): (ComputationId, InstructionId)| add_call(edit, conditional, branch, operand);
    let on_true = call(on_true);
    let on_false = call(on_false);
    let shape = edit.instruction(conditional).shape;
    let rank = edit.shape_of(conditional).as_array().map_or(0, hlo_text::ir::ArrayShape::rank);
    if rank > 0 {
        let shape = edit.with_element_type(shape, ElementType::Pred);
        predicate = edit.add_broadcast_of_scalar(predicate, shape);
    }
    let select = edit.add(parent, Opcode::Select, shape, &[predicate, on_true, on_false], &[]);
    if !edit.replace_instruction(conditional, select)? {
        return Err(PassError::at(edit, conditional, "it can't be replaced"));
    }
    edit.inline_call(on_true)?;
    edit.inline_call(on_false)?;
    Ok(())
}

/// Adds a call of a branch that looks like the conditional.
fn add_call(
    edit: &mut Editor<'_>,
    conditional: InstructionId,
    branch: ComputationId,
    operand: InstructionId,
) -> InstructionId {
    let instruction = edit.instruction(conditional);
    let (parent, shape, metadata) = (instruction.parent, instruction.shape, instruction.metadata);
    let mut attributes =
        vec![hlo_text::ir::Attr { key: AttrKey::ToApply, value: AttrValue::Computation(branch) }];
    let derived = [AttrKey::Sharding, AttrKey::FrontendAttributes, AttrKey::Origin];
    attributes.extend(edit.attributes(conditional).iter().filter(|attr| derived.contains(&attr.key)));
    let operands = [operand];
    let new = NewInstruction {
        attributes: &attributes,
        metadata,
        ..NewInstruction::new(Opcode::Call, shape, &operands)
    };
    edit.add_instruction(parent, new)
}
