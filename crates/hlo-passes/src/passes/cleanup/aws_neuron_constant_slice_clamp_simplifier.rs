//! `aws_neuron_constant_slice_clamp_simplifier`: clamps of entries of a table that are all in range go.
//!
//! Front ends clamp the indices of dynamic slices. When the index is itself an entry of a constant table the clamp hides
//! the form in which other passes recognize shards. All computations but the bodies of fusions are visited.
//!
//! ```text
//! c = s32[4] constant({0, 2, 4, 6})
//! r = s32[] reshape(s32[1] dynamic-slice(c, i), dynamic_slice_sizes={1})
//! k = s32[] clamp(s32[] constant(0), r, s32[] constant(7))
//! n = s32[] negate(k)                                                =>  n = s32[] negate(r)
//! ```
//!
//! 1. `clamp(low, x, high)` of `s32` or `u32` is `x` if `x` is a `slice` or `dynamic-slice` of a constant, or reshapes
//!    of one, `low` and `high` are constants with one value (or broadcasts of such), and **all** elements of the table
//!    are between them
//!
//! Left alone, with a remark:
//!
//! 2. element types other than `s32` and `u32`
//! 3. tables with an element outside; with `low` above `high` that is every one
//! 4. bounds that are not constants of one value
//! 5. slices of something that is not a constant, or whose values are left out (`{...}`)
//! 6. a result of another layout than the slice
//! 7. control dependencies
//!
//! Confidence: medium. That the slice is returned, not the lower bound (operand 0), is deliberate.

use std::borrow::Cow;

use hlo_text::ir::{ElementType, InstructionId, Opcode};

use crate::edit::{Editor, integer};
use crate::pass::{Finding, HAS_CONTROL_DEPENDENCIES, OpExpander, PassContext, PassResult};

/// How many reshapes are looked through.
const MAX_RESHAPES: usize = 4;

/// The pass.
pub(crate) struct ConstantSliceClampSimplifier;

impl OpExpander for ConstantSliceClampSimplifier {
    fn matches(&self, edit: &Editor<'_>, id: InstructionId, context: &mut PassContext<'_>) -> bool {
        find(edit, id).or_report(edit, id, context).is_some()
    }

    fn expand(
        &self,
        edit: &mut Editor<'_>,
        id: InstructionId,
        context: &mut PassContext<'_>,
    ) -> PassResult<Option<InstructionId>> {
        let found = find(edit, id).or_report(edit, id, context);
        if let Some(value) = found {
            context.applied(edit, id, format_args!("`{}` is always in range", edit.name_of(value)));
        }
        Ok(found)
    }
}

/// The slice whose clamp changes nothing.
fn find(edit: &Editor<'_>, clamp: InstructionId) -> Finding<InstructionId> {
    if edit.instruction(clamp).opcode != Opcode::Clamp {
        return Finding::Other;
    }
    let &[low, value, high] = edit.operands(clamp) else { return Finding::Other };
    let mut slice = value;
    for _ in 0..MAX_RESHAPES {
        match (edit.instruction(slice).opcode, edit.operands(slice)) {
            (Opcode::Reshape, &[operand]) => slice = operand,
            _ => break,
        }
    }
    if !matches!(edit.instruction(slice).opcode, Opcode::Slice | Opcode::DynamicSlice) {
        return Finding::Other;
    }
    let Some(&table) = edit.operands(slice).first() else { return Finding::Other };
    if !matches!(edit.element_type(clamp), Some(ElementType::S32 | ElementType::U32)) {
        return Finding::near("its type is neither s32 nor u32");
    }
    if edit.instruction(table).opcode != Opcode::Constant {
        return Finding::near("what is sliced is not a constant");
    }
    let Some(range) = edit.integer_range(table) else {
        return Finding::near("the values of the constant are not known");
    };
    let bound = |id| edit.uniform_constant(id).and_then(|elements| integer(elements, 0));
    let (Some(low), Some(high)) = (bound(low), bound(high)) else {
        return Finding::near("its bounds are not constants of one value");
    };
    if range.lowest < low || range.highest > high {
        let outside = if range.lowest < low { range.lowest } else { range.highest };
        return Finding::Near(Cow::Owned(format!("{outside} is not between {low} and {high}")));
    }
    if edit.instruction(value).shape != edit.instruction(clamp).shape {
        return Finding::near("the slice has another layout or other dynamic dimensions");
    }
    if edit.has_control_dependencies(clamp) {
        return Finding::near(HAS_CONTROL_DEPENDENCIES);
    }
    Finding::Match(value)
}
