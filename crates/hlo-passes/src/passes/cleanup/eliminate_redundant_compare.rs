//! `eliminate-redundant-compare`: comparisons of a comparison's result with a constant truth value go.
//!
//! Front ends wrap conditions as `compare(compare(a, b), false), direction=NE`, which is the inner comparison. All
//! computations are visited, operands first, so that chains collapse in one run.
//!
//! ```text
//! in  = pred[4] compare(a, b), direction=LT                     out = pred[4] compare(a, b), direction=LT
//! f   = pred[4] broadcast(pred[] constant(false))          =>
//! out = pred[4] compare(in, f), direction=NE
//! ```
//!
//! With `c` a comparison and `k` a truth value that is the same in all elements (a constant, or one behind broadcasts,
//! reshapes, transposes and copies), these are `c`:
//!
//! 1. `c NE false`, `false NE c`
//! 2. `c EQ true`, `true EQ c`
//! 3. `c GT false`
//! 4. `c GE true`
//! 5. `false LT c`
//! 6. `true LE c`
//!
//! The inner comparison takes over the name of the outer one, as always when one instruction is replaced by another of
//! the same opcode; it keeps its own metadata, sharding and attributes and gets those of the outer one that it lacks.
//!
//! Left alone, with a remark:
//!
//! 7. other directions and constants: they give `not c` or a constant
//! 8. a constant compared with something that is no comparison
//! 9. a comparison compared with something that is no constant, or whose elements differ
//! 10. an inner comparison of another layout, or with other dynamic dimensions
//! 11. an ordering (`GT`, `GE`, `LT`, `LE`) of another type than the default `UNSIGNED`: `true` may be -1 there
//! 12. control dependencies
//!
//! Confidence: high; the table of directions is ours, as all that keep the value.

use hlo_text::ir::words::{ComparisonDirection, ComparisonType};
use hlo_text::ir::{AttrKey, AttrValue, ElementType, InstructionId, Opcode};

use crate::analysis::{comparison_type, mirrored};
use crate::edit::Editor;
use crate::pass::{Finding, HAS_CONTROL_DEPENDENCIES, Pass, PassContext, PassResult, Place};

/// The pass.
pub(crate) struct EliminateRedundantCompare;

impl Pass for EliminateRedundantCompare {
    fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()> {
        for computation in edit.computations().to_vec() {
            for id in edit.post_order(computation) {
                if edit.is_removed(id) || edit.instruction(id).opcode != Opcode::Compare {
                    continue;
                }
                let Some(inner) = find(edit, id).or_report(edit, id, context) else { continue };
                if !context.may_rewrite(edit, id) {
                    continue;
                }
                let place = Place::of(edit, id);
                let what = format!("replaced by the comparison `{}`", edit.name_of(inner));
                if edit.replace_instruction(id, inner)? {
                    context.applied_at(place, what);
                }
            }
        }
        Ok(())
    }
}

/// The comparison that `outer` repeats.
fn find(edit: &Editor<'_>, outer: InstructionId) -> Finding<InstructionId> {
    let &[lhs, rhs] = edit.operands(outer) else { return Finding::Other };
    if edit.element_type(lhs) != Some(ElementType::Pred) {
        return Finding::Other;
    }
    let is_comparison = |id| edit.instruction(id).opcode == Opcode::Compare;
    let truth = |id| edit.uniform_constant(id).and_then(|elements| elements.bool(0));
    let (inner, constant, reversed) = match (truth(lhs), truth(rhs)) {
        (_, Some(constant)) => (lhs, constant, false),
        (Some(constant), None) => (rhs, constant, true),
        (None, None) if is_comparison(lhs) || is_comparison(rhs) => {
            return Finding::near(
                "a comparison is compared with something that is not a constant truth value",
            );
        }
        (None, None) => return Finding::Other,
    };
    if !is_comparison(inner) {
        return Finding::near("the operand beside the constant is not a comparison");
    }
    let Some(AttrValue::Word(word)) = edit.attribute(outer, AttrKey::Direction) else {
        return Finding::Other;
    };
    let Some(direction) = ComparisonDirection::from_word(word) else { return Finding::Other };
    use ComparisonDirection as D;
    let direction = if reversed { mirrored(direction) } else { direction };
    let keeps_value = matches!((direction, constant), (D::Ne | D::Gt, false) | (D::Eq | D::Ge, true));
    if !keeps_value {
        return Finding::near("the result is a constant or the negation of the inner comparison");
    }
    let is_ordering = matches!(direction, D::Gt | D::Ge);
    if is_ordering && comparison_type(edit, outer) != Some(ComparisonType::Unsigned) {
        return Finding::near("truth values are ordered by a type that is not UNSIGNED");
    }
    if edit.instruction(inner).shape != edit.instruction(outer).shape {
        return Finding::near("the inner comparison has another layout or other dynamic dimensions");
    }
    if edit.has_control_dependencies(outer) {
        return Finding::near(HAS_CONTROL_DEPENDENCIES);
    }
    Finding::Match(inner)
}
