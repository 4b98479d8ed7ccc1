//! `aws_neuron_dynamic_slice_reshape_canonicalizer`: index arithmetic on an entry of a table happens before the
//! reshape to a scalar.
//!
//! The result is the form in which passes recognize offsets into shards. All computations but the bodies of fusions
//! are visited.
//!
//! ```text
//! d = s32[1] dynamic-slice(c, i), dynamic_slice_sizes={1}        d = s32[1] dynamic-slice(c, i), dynamic_slice_sizes={1}
//! r = s32[] reshape(d)                                      =>   m = s32[1] multiply(s32[1] constant({4}), d)
//! v = s32[] multiply(r, s32[] constant(4))                       v = s32[] reshape(m)
//! ```
//!
//! 1. `multiply` of an integer constant and the `reshape` to a scalar of a `dynamic-slice` of one element from an array
//!    of rank 1, in either order
//! 2. `add` of the same
//!
//! Left alone, with a remark:
//!
//! 3. slices of arrays of rank 2 or more, or of more than one element
//! 4. another factor that is not a constant, or whose value is left out (`{...}`)
//! 5. types that are not integers
//! 6. control dependencies
//!
//! A reshape that others use, too, stays for them. Confidence: medium.

use hlo_text::ir::{InstructionId, Literal, LiteralData, Opcode};

use crate::edit::Editor;
use crate::pass::{Finding, HAS_CONTROL_DEPENDENCIES, OpExpander, PassContext, PassResult};

/// The pass.
pub(crate) struct DynamicSliceReshapeCanonicalizer;

struct Found {
    slice: InstructionId,
    constant: InstructionId,
}

impl OpExpander for DynamicSliceReshapeCanonicalizer {
    fn matches(&self, edit: &Editor<'_>, id: InstructionId, context: &mut PassContext<'_>) -> bool {
        find(edit, id).or_report(edit, id, context).is_some()
    }

    fn expand(
        &self,
        edit: &mut Editor<'_>,
        id: InstructionId,
        context: &mut PassContext<'_>,
    ) -> PassResult<Option<InstructionId>> {
        let Some(Found { slice, constant }) = find(edit, id).or_report(edit, id, context) else {
            return Ok(None);
        };
        let Some(elements) = edit.uniform_constant(constant).cloned() else { return Ok(None) };
        context.applied(
            edit,
            id,
            format_args!("expanding: computed from `{}` before the reshape", edit.name_of(slice)),
        );
        let instruction = edit.instruction(id);
        let (opcode, parent, shape) = (instruction.opcode, instruction.parent, instruction.shape);
        let of_slice = edit.instruction(slice).shape;
        let constant =
            edit.add_constant(parent, Literal { shape: of_slice, data: LiteralData::Dense(elements) });
        let result = edit.add(parent, opcode, of_slice, &[constant, slice], &[]);
        Ok(Some(edit.add_reshape(result, shape)?))
    }
}

fn find(edit: &Editor<'_>, id: InstructionId) -> Finding<Found> {
    if !matches!(edit.instruction(id).opcode, Opcode::Multiply | Opcode::Add) {
        return Finding::Other;
    }
    let (&[lhs, rhs], Some(array)) = (edit.operands(id), edit.shape_of(id).as_array()) else {
        return Finding::Other;
    };
    if array.rank() != 0 {
        return Finding::Other;
    }
    let sliced = |id: InstructionId| match (edit.instruction(id).opcode, edit.operands(id)) {
        (Opcode::Reshape, &[operand]) => {
            (edit.instruction(operand).opcode == Opcode::DynamicSlice).then_some(operand)
        }
        _ => None,
    };
    let (slice, constant) = match (sliced(lhs), sliced(rhs)) {
        (Some(slice), _) if edit.uniform_constant(rhs).is_some() => (slice, rhs),
        (_, Some(slice)) if edit.uniform_constant(lhs).is_some() => (slice, lhs),
        (None, None) => return Finding::Other,
        _ => return Finding::near("it does not combine an entry of a table with a constant"),
    };
    if !array.element_type.is_integer() {
        return Finding::near("its type is not an integer type");
    }
    let is_element_of_rank_1 =
        edit.shape_of(slice).as_array().is_some_and(|array| array.dimensions == [1] && !array.is_dynamic());
    if !is_element_of_rank_1 {
        return Finding::near("what is reshaped is not one element of an array of rank 1");
    }
    // A value of one element, also when it comes from a broadcast.
    if edit.uniform_constant(constant).is_none_or(|elements| elements.len() != 1) {
        return Finding::near("the constant is not a scalar");
    }
    if edit.has_control_dependencies(id) {
        return Finding::near(HAS_CONTROL_DEPENDENCIES);
    }
    Finding::Match(Found { slice, constant })
}
