//! `hilo-conditional-to-select`: both branches of a conditional are computed, and selects choose between their results.
//!
//! This is for devices that can't branch. Computations are visited callees first, so that conditionals in branches are
//! flattened before the branches are inlined.
//!
//! ```text
//! r = f32[2] conditional(i, a, b), branch_computations={b0, b1}
//!
//! c = pred[] convert(i)
//! x = ...                                            (the instructions of b1, of b)
//! y = ...                                            (the instructions of b0, of a)
//! r = f32[2] select(pred[2] broadcast(c), x, y)
//! ```
//!
//! 1. a conditional on `pred[]`: the first computation is that for true
//! 2. a conditional on `s32[]`: branch 1 is that for true; the index is converted once. HLO runs the last branch for
//!    every index but 0, which agrees.
//! 3. an array result: a select, with the predicate broadcast unless the result is a scalar
//! 4. a tuple: a select for each array in it, and tuples as before, empty ones included
//! 5. Names of the inlined instructions are made unique; they get the metadata of the conditional as those of a call do
//!    (`op_name` of both, joined with `/`). A branch that returns its parameter adds nothing to it.
//!
//! Left alone, with a remark:
//!
//! 6. other numbers of branches than two
//! 7. branches with side effects, nested ones included; collectives with a channel are one unless the header gives a
//!    number of partitions
//! 8. branches with a loop of unknown length: flattened it might never end. `force-loops` flattens them, too.
//! 9. results with tokens, opaque values or buffers in them, or with dynamic dimensions
//! 10. control dependencies
//! 11. what would make more than `inline-limit` instructions in all
//!
//! A conditional around collectives without side effects is flattened: then everyone takes part in them. The stock
//! `conditional-to-select` only looks at computations that run once per element.
//!
//! Options: `force-loops` (off), `inline-limit` (4,194,304). Confidence: high.

use hlo_text::ir::{
    ArrayShape, Attr, AttrKey, AttrValue, ComputationId, ElementType, InstructionId, NewInstruction, Opcode,
    Shape, ShapeId,
};

use crate::analysis::{CallGraph, UnknownLoops};
use crate::edit::Editor;
use crate::options::{OptionInfo, OptionType};
use crate::pass::{Finding, HAS_CONTROL_DEPENDENCIES, Pass, PassContext, PassError, PassResult, Place};

/// Flattens what might not end.
const FORCE_LOOPS: OptionInfo = OptionInfo {
    name: "force-loops",
    kind: OptionType::Flag(false),
    doc: "Branches with loops of unknown length are flattened, too.",
};

/// Branches that are shared by branches, and so on, would give instructions without end.
const INLINE_LIMIT: OptionInfo = OptionInfo {
    name: "inline-limit",
    kind: OptionType::Integer(1 << 22),
    doc: "How many instructions may be made.",
};

/// The options of the pass.
pub(crate) const OPTIONS: &[OptionInfo] = &[FORCE_LOOPS, INLINE_LIMIT];

/// The pass.
pub(crate) struct HiloConditionalToSelect;

/// A branch and its operand.
type Branch = (ComputationId, InstructionId);

struct Plan {
    selector: InstructionId,
    on_true: Branch,
    on_false: Branch,
    cost: usize,
}

impl Pass for HiloConditionalToSelect {
    fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()> {
        let graph = CallGraph::of(edit);
        let mut limits = Limits {
            loops: UnknownLoops::of(edit, &graph),
            force_loops: context.options.flag(FORCE_LOOPS.name),
            left: usize::try_from(context.options.integer(INLINE_LIMIT.name)).unwrap_or(0),
        };
        for computation in graph.post_order() {
            // What runs asynchronously is one instruction and must stay so.
            if edit.is_async_computation(computation) {
                continue;
            }
            for id in edit.live_instructions(computation).collect::<Vec<_>>() {
                if edit.is_removed(id) || edit.instruction(id).opcode != Opcode::Conditional {
                    continue;
                }
                if let Some(plan) = find(edit, id, &limits).or_report(edit, id, context)
                    && context.may_rewrite(edit, id)
                {
                    limits.left -= plan.cost;
                    flatten(edit, id, &plan, context)?;
                }
            }
        }
        Ok(())
    }
}

/// What may be flattened.
struct Limits {
    loops: UnknownLoops,
    force_loops: bool,
    /// How many instructions may still be made.
    left: usize,
}

/// How many instructions two branches and the choice between parts of a result give, about.
fn cost(edit: &Editor<'_>, branches: [Branch; 2], result: ShapeId) -> usize {
    // Two elements, a broadcast and a select for each part.
    let chosen = (edit.shapes().extent(result).nodes as usize).saturating_mul(4);
    let sizes = branches.iter().map(|branch| edit.computation(branch.0).instructions.len());
    sizes.fold(chosen, usize::saturating_add)
}

fn find(edit: &Editor<'_>, id: InstructionId, limits: &Limits) -> Finding<Plan> {
    let mut branches = Vec::new();
    edit.for_each_called_computation(id, |branch| branches.push(branch));
    let (&[first, second], &[selector, for_first, for_second]) = (branches.as_slice(), edit.operands(id))
    else {
        return Finding::near("it does not have two branches");
    };
    let (first, second) = ((first, for_first), (second, for_second));
    let shape = edit.instruction(id).shape;
    let cost = cost(edit, [first, second], shape);
    // The selector is a scalar of one of two types.
    let (on_true, on_false) = match edit.element_type(selector) {
        Some(ElementType::Pred) => (first, second),
        Some(ElementType::S32) => (second, first),
        _ => return Finding::Other,
    };
    let plan = Plan { selector, on_true, on_false, cost };
    if edit.has_control_dependencies(id) {
        return Finding::near(HAS_CONTROL_DEPENDENCIES);
    }
    for (branch, _) in [first, second] {
        let name = edit.computation_name(branch);
        if edit.computation_has_side_effect(branch) {
            return Finding::near(format!(
                "Not transforming conditional; branches have side effects: `{name}`"
            ));
        }
        if !limits.force_loops && limits.loops.are_in(branch) {
            return Finding::near(format!("branch `{name}` has a loop that may not end"));
        }
        if edit.computation(branch).parameters.len() != 1 {
            return Finding::near(format!("branch `{name}` does not have one parameter"));
        }
    }
    if cost > limits.left {
        return Finding::near("more instructions would be made than inline-limit says");
    }
    if let Err(why) = check_leaves(edit, shape) {
        return Finding::near(why);
    }
    Finding::Match(plan)
}

/// Whether there is a select for every part of the result.
fn check_leaves(edit: &Editor<'_>, shape: ShapeId) -> Result<(), &'static str> {
    let mut open = vec![shape];
    while let Some(shape) = open.pop() {
        match edit.shape(shape) {
            Shape::Tuple(elements) => open.extend(elements),
            Shape::Array(array) if array.is_dynamic() => return Err("a dimension of its result is dynamic"),
            Shape::Array(_) => {}
            Shape::Token => return Err("its result has a token, and tokens can't be selected"),
            Shape::Opaque | Shape::Buffer(_) => {
                return Err("its result has opaque values or buffers, which can't be selected");
            }
        }
    }
    Ok(())
}

fn flatten(
    edit: &mut Editor<'_>,
    id: InstructionId,
    plan: &Plan,
    context: &mut PassContext<'_>,
) -> PassResult<()> {
    let place = Place::of(edit, id);
    let shape = edit.instruction(id).shape;
    let mut predicate = plan.selector;
    if edit.element_type(predicate) != Some(ElementType::Pred) {
        predicate = edit.add_convert(predicate, ElementType::Pred)?;
    }
    let on_true = inline(edit, id, plan.on_true)?;
    let on_false = inline(edit, id, plan.on_false)?;
    let result = select(edit, predicate, on_true, on_false, shape)?;
    if !edit.replace_instruction(id, result)? {
        return Err(PassError::at(edit, id, "it can't be replaced"));
    }
    context.applied_at(place, "both branches are inlined, selects choose");
    Ok(())
}

/// Copies a branch into the computation of the conditional; gives its result.
fn inline(
    edit: &mut Editor<'_>,
    conditional: InstructionId,
    (branch, operand): Branch,
) -> PassResult<InstructionId> {
    let instruction = edit.instruction(conditional);
    let root = edit.computation(branch).root;
    // What the call has goes to the root of the branch. If that is the parameter it would go to an instruction that was
    // there before.
    let is_identity = edit.instruction(root).opcode == Opcode::Parameter;
    if is_identity {
        return Ok(operand);
    }
    let (parent, metadata) = (instruction.parent, instruction.metadata);
    let shape = edit.instruction(root).shape;
    let mut attributes = vec![Attr { key: AttrKey::ToApply, value: AttrValue::Computation(branch) }];
    let derived = [AttrKey::Sharding, AttrKey::FrontendAttributes];
    attributes.extend(edit.attributes(conditional).iter().filter(|attr| derived.contains(&attr.key)));
    let call =
        NewInstruction { attributes: &attributes, metadata, ..NewInstruction::new(Opcode::Call, shape, &[]) };
    let call = edit.add_instruction(parent, NewInstruction { operands: &[operand], ..call });
    let copies = edit.inline_call(call)?;
    copies.get(&root).copied().ok_or_else(|| PassError::at(edit, conditional, "a branch has no result"))
}

/// Chooses between two results, array by array. How deep tuples are nested is bounded by the parser.
fn select(
    edit: &mut Editor<'_>,
    predicate: InstructionId,
    on_true: InstructionId,
    on_false: InstructionId,
    shape: ShapeId,
) -> PassResult<InstructionId> {
    let parent = edit.instruction(predicate).parent;
    if let Some(elements) = edit.shape(shape).as_tuple() {
        let elements = elements.to_vec();
        let mut selected = Vec::with_capacity(elements.len());
        for (index, element) in elements.into_iter().enumerate() {
            let on_true = edit.add_get_tuple_element(on_true, index)?;
            let on_false = edit.add_get_tuple_element(on_false, index)?;
            selected.push(select(edit, predicate, on_true, on_false, element)?);
        }
        return Ok(edit.add_tuple(parent, &selected));
    }
    let mut predicate = predicate;
    if edit.shape(shape).as_array().is_some_and(|array: &ArrayShape| array.rank() > 0) {
        let truths = edit.with_element_type(shape, ElementType::Pred);
        predicate = edit.add_broadcast_of_scalar(predicate, truths);
    }
    Ok(edit.add(parent, Opcode::Select, shape, &[predicate, on_true, on_false], &[]))
}
