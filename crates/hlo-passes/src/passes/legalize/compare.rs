//! `legalize-compare`: comparisons of the entry computation get the default comparison type of what they compare.
//!
//! Comparisons in other computations stay: `call-inliner` first brings some into the entry. That a comparison is of a type
//! its operands don't have, as `SIGNED` of `u32`, is a warning of the input, and an error where a pass that runs after
//! this one finds it.

use hlo_text::ir::words::{ComparisonDirection, ComparisonType};
use hlo_text::ir::{AttrKey, AttrValue, ElementType, InstructionId, Opcode, Shape};

use crate::analysis::{comparison_type, default_comparison_type};
use crate::edit::Editor;
use crate::pass::{Pass, PassContext, PassError, PassResult};

/// The pass.
pub(crate) struct LegalizeCompare;

impl Pass for LegalizeCompare {
    fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()> {
        for compare in edit.post_order(edit.entry()) {
            if edit.instruction(compare).opcode == Opcode::Compare && !edit.is_removed(compare) {
                legalize(edit, compare, context)?;
            }
        }
        if context.wants_remarks {
            explain_other_computations(edit, context);
        }
        Ok(())
    }
}

fn legalize(edit: &mut Editor<'_>, compare: InstructionId, context: &mut PassContext<'_>) -> PassResult<()> {
    let &[lhs, rhs] = edit.operands(compare) else {
        return Err(PassError::at(edit, compare, "a comparison needs two operands"));
    };
    let element_type = match edit.shape_of(rhs) {
        Shape::Tuple(_) => Err("TUPLE".to_owned()),
        Shape::Buffer(_) => Err("BUFFER".to_owned()),
        Shape::Opaque => Err("OPAQUE_TYPE".to_owned()),
        Shape::Token => Err(ElementType::Token.xla_name()),
        Shape::Array(array) => Ok(array.element_type),
    };
    let default = element_type.and_then(|element_type| {
        default_comparison_type(element_type).ok_or_else(|| element_type.xla_name())
    });
    let default = match default {
        Ok(default) => default,
        Err(name) => return Err(PassError::at(edit, compare, format!("Unexpected: {name}"))),
    };
    let stored = comparison_type(edit, compare);
    if stored == Some(default) {
        let reason = format_args!("type {} is the default already", default.name());
        context.missed(edit, compare, reason);
        return Ok(());
    }
    if edit.has_control_dependencies(compare) {
        context.missed(edit, compare, "it has control dependencies, so it can't be replaced");
        return Ok(());
    }
    let direction = match edit.attribute(compare, AttrKey::Direction) {
        Some(AttrValue::Word(word)) => ComparisonDirection::from_word(word),
        _ => None,
    };
    let Some(direction) = direction else {
        return Err(PassError::at(edit, compare, "a comparison needs a direction"));
    };
    if !context.may_rewrite(edit, compare) {
        return Ok(());
    }
    context.applied(
        edit,
        compare,
        format_args!("type {} becomes {}", stored.map_or("none", ComparisonType::name), default.name()),
    );
    let instruction = edit.instruction(compare);
    let (parent, shape) = (instruction.parent, instruction.shape);
    let new = edit.add_compare(parent, shape, [lhs, rhs], direction, default);
    edit.replace_instruction(compare, new)?;
    Ok(())
}

/// Says of comparisons in other computations why they stay.
fn explain_other_computations(edit: &Editor<'_>, context: &mut PassContext<'_>) {
    for &computation in edit.computations() {
        if computation == edit.entry() {
            continue;
        }
        for compare in edit.live_instructions(computation) {
            if edit.instruction(compare).opcode == Opcode::Compare
                && edit.attribute(compare, AttrKey::ComparisonType).is_some()
            {
                context.missed(edit, compare, "it is not in the entry computation");
            }
        }
    }
}
