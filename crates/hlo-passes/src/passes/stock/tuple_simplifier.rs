//! `tuple-simplifier`: elements of tuples are used directly.

use hlo_text::ir::{AttrKey, InstructionId, Opcode};

use crate::edit::{Editor, ReplaceOptions};
use crate::pass::{Pass, PassContext, PassResult};

/// The pass.
pub(crate) struct TupleSimplifier;

impl Pass for TupleSimplifier {
    fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()> {
        let computations = edit.computations().to_vec();
        for computation in computations {
            for instruction in edit.post_order(computation) {
                if edit.is_removed(instruction) {
                    continue;
                }
                match edit.instruction(instruction).opcode {
                    Opcode::Tuple => remove_whole_tuple(edit, instruction, context)?,
                    Opcode::GetTupleElement => look_through(edit, instruction, context)?,
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

/// The operand and index of a `get-tuple-element`.
pub(crate) fn tuple_element(edit: &Editor<'_>, id: InstructionId) -> Option<(InstructionId, usize)> {
    if edit.instruction(id).opcode != Opcode::GetTupleElement {
        return None;
    }
    let index = usize::try_from(edit.int(id, AttrKey::Index)?).ok()?;
    Some((*edit.operands(id).first()?, index))
}

/// Replaces a tuple of all elements of another one, in order, by that one.
fn remove_whole_tuple(
    edit: &mut Editor<'_>,
    tuple: InstructionId,
    context: &mut PassContext<'_>,
) -> PassResult<()> {
    let mut whole = None;
    for (number, &operand) in edit.operands(tuple).iter().enumerate() {
        match tuple_element(edit, operand) {
            Some((source, index)) if index == number && *whole.get_or_insert(source) == source => {}
            _ => return Ok(()),
        }
    }
    let Some(whole) = whole else { return Ok(()) };
    if !edit.shapes().compatible(edit.instruction(whole).shape, edit.instruction(tuple).shape) {
        context.missed(edit, tuple, format_args!("`{}` has more elements", edit.name_of(whole)));
        return Ok(());
    }
    let options = ReplaceOptions { preserve_sharding: true, ..ReplaceOptions::default() };
    replace(edit, tuple, whole, options, context)
}

/// Replaces a chain of `get-tuple-element`s that ends in tuples by the element.
fn look_through(
    edit: &mut Editor<'_>,
    element: InstructionId,
    context: &mut PassContext<'_>,
) -> PassResult<()> {
    let mut path = Vec::new();
    let mut source = element;
    while let Some((operand, index)) = tuple_element(edit, source) {
        path.push(index);
        source = operand;
    }
    for &index in path.iter().rev() {
        let operand = match edit.instruction(source).opcode {
            Opcode::Tuple => edit.operands(source).get(index),
            _ => None,
        };
        match operand {
            Some(&operand) => source = operand,
            None => return Ok(()),
        }
    }
    let options = ReplaceOptions {
        preserve_sharding: true,
        relay_control_dependencies: true,
        ..ReplaceOptions::default()
    };
    replace(edit, element, source, options, context)
}

fn replace(
    edit: &mut Editor<'_>,
    old: InstructionId,
    new: InstructionId,
    options: ReplaceOptions,
    context: &mut PassContext<'_>,
) -> PassResult<()> {
    if !context.may_rewrite(edit, old) {
        return Ok(());
    }
    let place = context.wants_remarks.then(|| crate::pass::Place::of(edit, old));
    if edit.replace_with(old, new, options)? {
        if let Some(place) = place {
            context.applied_at(place, format_args!("replaced by `{}`", edit.name_of(new)));
        }
    } else if edit.has_control_dependencies(old) {
        context.missed(edit, old, "it has control dependencies, so it can't be replaced");
    } else {
        context.missed(edit, old, format_args!("its sharding differs from that of `{}`", edit.name_of(new)));
    }
    Ok(())
}
