//! `aws_neuron_constant_slice_convert_canonicalizer`: converted entries of an unsigned table are looked up in a signed
//! one.
//!
//! Passes that recognize the position of a device in its group expect tables of `s32`. All computations but the bodies
//! of fusions are visited.
//!
//! ```text
//! c = u32[4] constant({0, 1, 0, 1})                              c = s32[4] constant({0, 1, 0, 1})
//! d = u32[1] dynamic-slice(c, i), dynamic_slice_sizes={1}   =>   v = s32[1] dynamic-slice(c, i), dynamic_slice_sizes={1}
//! v = s32[1] convert(d)
//! ```
//!
//! 1. `convert` to `s32` of a `dynamic-slice` of a constant of rank 1 and type `u32`: the slice is taken, with the same
//!    indices and sizes, from a constant of type `s32`. It gets the metadata of the convert. Tables that several
//!    converts look into are converted once per computation.
//!
//! Left alone, with a remark:
//!
//! 2. tables with a value of 2^31 or more, which `s32` doesn't have
//! 3. tables of another type or of another rank
//! 4. slices of something that is not a constant, or whose values are left out (`{...}`)
//! 5. a convert to another type than `s32`
//! 6. control dependencies
//!
//! Old table and old slice stay for others who use them. Confidence: medium.

use hlo_text::ir::{
    ArrayShape, AttrKey, ElementType, Elements, InstructionId, Literal, LiteralData, Opcode, Shape,
};

use crate::Map;
use crate::edit::{Editor, integer};
use crate::pass::{Finding, HAS_CONTROL_DEPENDENCIES, Pass, PassContext, PassResult, expand_matches};

/// The pass.
pub(crate) struct ConstantSliceConvertCanonicalizer;

impl Pass for ConstantSliceConvertCanonicalizer {
    fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()> {
        let mut converted = Map::default();
        expand_matches(
            edit,
            context,
            |edit, id, context| find(edit, id).or_report(edit, id, context).is_some(),
            |edit, id, context| {
                let Some(found) = find(edit, id).or_report(edit, id, context) else { return Ok(None) };
                context.applied(
                    edit,
                    id,
                    format_args!("looked up in a table of s32 instead of `{}`", edit.name_of(found.table)),
                );
                let known = converted.get(&found.table).copied();
                let table = match known.filter(|&table| !edit.is_removed(table)) {
                    Some(table) => table,
                    None => {
                        let Some(table) = convert_table(edit, found.table) else { return Ok(None) };
                        converted.insert(found.table, table);
                        table
                    }
                };
                let shape = edit.instruction(id).shape;
                let starts = edit.operands(found.slice)[1..].to_vec();
                let sizes = edit.ints(found.slice, AttrKey::DynamicSliceSizes).unwrap_or_default().to_vec();
                let slice = edit.add_dynamic_slice(table, &starts, &sizes, shape);
                edit.set_metadata(slice, edit.instruction(id).metadata);
                Ok(Some(slice))
            },
        )
    }
}

struct Found {
    slice: InstructionId,
    table: InstructionId,
}

fn find(edit: &Editor<'_>, convert: InstructionId) -> Finding<Found> {
    if edit.instruction(convert).opcode != Opcode::Convert {
        return Finding::Other;
    }
    let &[slice] = edit.operands(convert) else { return Finding::Other };
    if edit.instruction(slice).opcode != Opcode::DynamicSlice {
        return Finding::Other;
    }
    let Some(&table) = edit.operands(slice).first() else { return Finding::Other };
    let Shape::Array(array) = edit.shape_of(table) else { return Finding::Other };
    let is_u32 = array.element_type == ElementType::U32;
    if edit.instruction(table).opcode != Opcode::Constant {
        // Most slices are of something else and of no interest.
        let near = is_u32 && array.rank() == 1 && edit.element_type(convert) == Some(ElementType::S32);
        return if near { Finding::near("what is sliced is not a constant") } else { Finding::Other };
    }
    if !is_u32 {
        return Finding::near("the table is not of type u32");
    }
    if array.rank() != 1 {
        return Finding::near("the table does not have rank 1");
    }
    if edit.element_type(convert) != Some(ElementType::S32) {
        return Finding::near("it does not convert to s32");
    }
    let Some(range) = edit.integer_range(table) else {
        return Finding::near("the values of the constant are not known");
    };
    if range.highest > i128::from(i32::MAX) {
        return Finding::near(format!("the value {} is too large for s32", range.highest));
    }
    if edit.has_control_dependencies(convert) {
        return Finding::near(HAS_CONTROL_DEPENDENCIES);
    }
    Finding::Match(Found { slice, table })
}

/// A constant of type `s32` with the same values.
fn convert_table(edit: &mut Editor<'_>, table: InstructionId) -> Option<InstructionId> {
    let elements = edit.constant_elements(table)?;
    let values = (0..elements.len()).map(|index| integer(elements, index).map_or(0, |value| value as i64));
    let elements = Elements::from_i64s(ElementType::S32, values)?;
    let array = edit.shape_of(table).as_array()?.clone();
    let shape = edit.intern_shape(Shape::Array(ArrayShape { element_type: ElementType::S32, ..array }));
    let parent = edit.instruction(table).parent;
    Some(edit.add_constant(parent, Literal { shape, data: LiteralData::Dense(elements) }))
}
