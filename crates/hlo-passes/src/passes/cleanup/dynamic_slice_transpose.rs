//! `dynamic-slice-transpose`: a slice of a transpose becomes a transpose of a slice, which moves less data.
//!
//! All computations but the bodies of fusions are visited. All matches are found before the first is rewritten, so in
//! a chain of transposes under one slice each run moves the slice past one of them.
//!
//! ```text
//! t = f32[6,4] transpose(a), dimensions={1,0}                     s = f32[4,2] dynamic-slice(a, j, i), dynamic_slice_sizes={4,2}
//! d = f32[2,4] dynamic-slice(t, i, j), dynamic_slice_sizes={2,4}  =>  d = f32[2,4] transpose(s), dimensions={1,0}
//! ```
//!
//! 1. `dynamic-slice` of `transpose`: start indices and sizes are put into the order of the transpose's operand, whose
//!    layout the new slice has; the new transpose has the shape and layout of the old slice. A transpose that others
//!    use, too, stays for them.
//!
//! Left alone, with a remark:
//!
//! 2. start indices in one vector (an old form)
//! 3. dynamic dimensions
//! 4. control dependencies
//!
//! Confidence: high. The notes on the original speak of `transpose(dynamic-slice(x))`; what they list is only well
//! typed for `dynamic-slice(transpose(x))`.

use hlo_text::ir::{ArrayShape, AttrKey, InstructionId, Opcode, Shape, ShapeId};

use crate::edit::Editor;
use crate::pass::{Finding, HAS_CONTROL_DEPENDENCIES, OpExpander, PassContext, PassResult};

/// The pass.
pub(crate) struct DynamicSliceTranspose;

/// The slice before the transpose.
struct Plan {
    source: InstructionId,
    permutation: Vec<i64>,
    starts: Vec<InstructionId>,
    sizes: Vec<i64>,
    sliced: ArrayShape,
    result: ShapeId,
}

impl OpExpander for DynamicSliceTranspose {
    fn matches(&self, edit: &Editor<'_>, id: InstructionId, context: &mut PassContext<'_>) -> bool {
        find(edit, id).or_report(edit, id, context).is_some()
    }

    fn expand(
        &self,
        edit: &mut Editor<'_>,
        id: InstructionId,
        context: &mut PassContext<'_>,
    ) -> PassResult<Option<InstructionId>> {
        let Some(plan) = find(edit, id).or_report(edit, id, context) else { return Ok(None) };
        context.applied(edit, id, format_args!("slices `{}` and then transposes", edit.name_of(plan.source)));
        let sliced = edit.intern_shape(Shape::Array(plan.sliced));
        let slice = edit.add_dynamic_slice(plan.source, &plan.starts, &plan.sizes, sliced);
        Ok(Some(edit.add_transpose(slice, &plan.permutation, plan.result)))
    }
}

fn find(edit: &Editor<'_>, slice: InstructionId) -> Finding<Plan> {
    if edit.instruction(slice).opcode != Opcode::DynamicSlice {
        return Finding::Other;
    }
    let Some((&transpose, starts)) = edit.operands(slice).split_first() else { return Finding::Other };
    if edit.instruction(transpose).opcode != Opcode::Transpose {
        return Finding::Other;
    }
    let (Some(&source), Some(permutation), Some(sizes)) = (
        edit.operands(transpose).first(),
        edit.ints(transpose, AttrKey::Dimensions),
        edit.ints(slice, AttrKey::DynamicSliceSizes),
    ) else {
        return Finding::Other;
    };
    let (Shape::Array(array), Shape::Array(result)) = (edit.shape_of(source), edit.shape_of(slice)) else {
        return Finding::Other;
    };
    let rank = array.rank();
    let is_vector = |&id: &InstructionId| edit.shape_of(id).as_array().is_some_and(|array| array.rank() == 1);
    if starts.iter().any(is_vector) {
        return Finding::near("its start indices come as one vector");
    }
    if permutation.len() != rank || sizes.len() != rank || starts.len() != rank {
        return Finding::Other;
    }
    if array.is_dynamic() || result.is_dynamic() {
        return Finding::near("a dimension is dynamic");
    }
    if edit.has_control_dependencies(slice) {
        return Finding::near(HAS_CONTROL_DEPENDENCIES);
    }
    let mut new_starts = starts.to_vec();
    let mut new_sizes = sizes.to_vec();
    for (from, &to) in permutation.iter().enumerate() {
        let to = usize::try_from(to).ok().filter(|&to| to < rank);
        let Some(to) = to else { return Finding::Other };
        new_starts[to] = starts[from];
        new_sizes[to] = sizes[from];
    }
    Finding::Match(Plan {
        source,
        permutation: permutation.to_vec(),
        starts: new_starts,
        sliced: ArrayShape { dimensions: new_sizes.clone(), ..array.clone() },
        sizes: new_sizes,
        result: edit.instruction(slice).shape,
    })
}
