//! `aws_neuron_resolve_self_comparison`: comparisons of a value with itself become constants.
//!
//! All computations but the bodies of fusions are visited.
//!
//! ```text
//! c = pred[4] compare(a, a), direction=LE   =>   b = pred[4] broadcast(pred[] constant(true)), dimensions={}
//! ```
//!
//! 1. `EQ`, `LE`, `GE` are true, `NE`, `LT`, `GT` are false: a constant, and unless the result is a scalar a broadcast
//!    of it
//! 2. floating-point and complex values may be NaN, which differs from itself: of these only `LT`, `GT` and
//!    comparisons in total order (`type=TOTALORDER`) are resolved
//! 3. with `assume-no-nan` all are, as the original does
//!
//! Left alone, with a remark:
//!
//! 4. `EQ`, `NE`, `LE`, `GE` of floating-point or complex values: tests for NaN
//! 5. dynamic dimensions
//! 6. control dependencies
//!
//! Option: `assume-no-nan` (off). Confidence: high; the exception for NaN is ours.

use hlo_text::ir::words::{ComparisonDirection, ComparisonType};
use hlo_text::ir::{AttrKey, AttrValue, ElementType, InstructionId, Opcode, Shape};

use crate::analysis::comparison_type;
use crate::edit::Editor;
use crate::options::{OptionInfo, OptionType};
use crate::pass::{Finding, HAS_CONTROL_DEPENDENCIES, OpExpander, PassContext, PassResult};

/// The option that takes NaN for impossible.
pub(crate) const ASSUME_NO_NAN: OptionInfo = OptionInfo {
    name: "assume-no-nan",
    kind: OptionType::Flag(false),
    doc: "Floating-point values are taken to be no NaN.",
};

/// The pass.
pub(crate) struct ResolveSelfComparison;

impl OpExpander for ResolveSelfComparison {
    fn matches(&self, edit: &Editor<'_>, id: InstructionId, context: &mut PassContext<'_>) -> bool {
        let no_nan = context.options.flag(ASSUME_NO_NAN.name);
        find(edit, id, no_nan).or_report(edit, id, context).is_some()
    }

    fn expand(
        &self,
        edit: &mut Editor<'_>,
        id: InstructionId,
        context: &mut PassContext<'_>,
    ) -> PassResult<Option<InstructionId>> {
        let no_nan = context.options.flag(ASSUME_NO_NAN.name);
        let Some(truth) = find(edit, id, no_nan).or_report(edit, id, context) else { return Ok(None) };
        context.applied(edit, id, format_args!("resolving: always {truth}"));
        let instruction = edit.instruction(id);
        let (parent, shape) = (instruction.parent, instruction.shape);
        let is_scalar = edit.shape_of(id).as_array().is_some_and(|array| array.rank() == 0);
        let constant = edit.add_scalar_constant(parent, ElementType::Pred, i64::from(truth))?;
        Ok(Some(if is_scalar { constant } else { edit.add_broadcast_of_scalar(constant, shape) }))
    }
}

/// What the comparison always gives.
fn find(edit: &Editor<'_>, compare: InstructionId, no_nan: bool) -> Finding<bool> {
    if edit.instruction(compare).opcode != Opcode::Compare {
        return Finding::Other;
    }
    let &[lhs, rhs] = edit.operands(compare) else { return Finding::Other };
    let Shape::Array(array) = edit.shape_of(compare) else { return Finding::Other };
    if lhs != rhs {
        return Finding::Other;
    }
    let Some(AttrValue::Word(word)) = edit.attribute(compare, AttrKey::Direction) else {
        return Finding::Other;
    };
    use ComparisonDirection as D;
    let Some(direction) = D::from_word(word) else { return Finding::Other };
    let has_nan = !no_nan && comparison_type(edit, compare) == Some(ComparisonType::Float);
    if has_nan && !matches!(direction, D::Lt | D::Gt) {
        return Finding::near("it is a test for NaN");
    }
    if array.is_dynamic() {
        return Finding::near("a dimension is dynamic");
    }
    if edit.has_control_dependencies(compare) {
        return Finding::near(HAS_CONTROL_DEPENDENCIES);
    }
    Finding::Match(matches!(direction, D::Eq | D::Le | D::Ge))
}
