//! `partition-embeding-ops`: splits look-ups of rows over the shards of their table.
//!
//! A row look-up is a `gather` in the entry computation whose table is an entry parameter (seen through `convert`,
//! `reshape`, `bitcast` and `get-tuple-element`), which takes whole rows of one dimension by integers:
//! `collapsed_slice_dims={d}`, `start_index_map={d}`, full slice sizes elsewhere, one number per index.
//!
//! With N shards the indices are clamped to the table, as `gather` does; each shard is a slice of the table and is
//! looked up with the index less its first row; a chain of selects takes each row from the shard that has it. So every
//! element type works, and out-of-range indices mean what they did.
//!
//! ```text
//! --passes='partition-embeding-ops{shards=2}'
//!
//! g = f32[3,2] gather(f32[6,2] table, s32[3] ids), ...
//!
//! row = s32[3] clamp(zeros, ids, lasts)
//! gather = f32[3,2] gather(slice of rows 0 to 2, row), ...
//! gather.1 = f32[3,2] gather(slice of rows 3 to 5, subtract(row, 3)), ...
//! stitched = f32[3,2] select(broadcast(compare(row, 3), direction=LT), gather, gather.1)
//! ```
//!
//! An index type too narrow for the last row is widened to `s32` (or `s64`) first. New instructions are named after their
//! opcodes; the shards' gathers keep the metadata, the sharding and the frontend attributes of the old one.
//!
//! Options: `shards`, the module's `num_partitions` by default, 1 means nothing to do; `mode`: `shard` as above, or
//! `param`, which puts a new entry parameter `gather.param` at the end in place of the look-up: it is then done outside.
//! `shards` counts in mode `shard` only; `param` takes every look-up in a table, whatever divides its rows.
//!
//! Left alone: other gathers, in mode `shard` tables whose rows N doesn't divide, dynamic shapes, gathers with control edges, other
//! computations. A second run changes nothing: the shards are slices.
//!
//! Confidence: low for the original's mechanics; what is done here is ours. (The spelling is the key's own.)

use hlo_text::ir::words::{ComparisonDirection, ComparisonType};
use hlo_text::ir::{
    ArrayShape, Attr, AttrKey, AttrValue, ElementClass, ElementType, InstructionId, Opcode, Shape, ShapeId,
    SliceRange, Value,
};

use crate::edit::Editor;
use crate::options::{OptionInfo, OptionType};
use crate::pass::{Pass, PassContext, PassError, PassResult};

/// How many shards there may be; each look-up becomes that many.
pub(crate) const MAX_SHARDS: i64 = 4096;

/// How many conversions and the like may stand between a table and its parameter.
const MAX_STEPS: usize = 16;

/// The pass.
pub(crate) struct PartitionEmbedingOps;

/// Its options.
pub(crate) const OPTIONS: &[OptionInfo] = &[
    OptionInfo {
        name: "shards",
        kind: OptionType::Integer(0),
        doc: "Shards of each table, in mode `shard`; 0 stands for the module's num_partitions.",
    },
    OptionInfo {
        name: "mode",
        kind: OptionType::Text("shard"),
        doc: "`shard` looks up each shard, `param` takes the rows from a new parameter.",
    },
];

/// A look-up of rows.
struct LookUp {
    gather: InstructionId,
    table: InstructionId,
    indices: InstructionId,
    /// The dimension of the table that has the rows.
    dimension: usize,
    rows: i64,
    /// Shape of the indices without the dimension of their components.
    batch: ArrayShape,
    /// Dimensions of the result that are those of `batch`.
    batch_dimensions: Vec<i64>,
}

impl Pass for PartitionEmbedingOps {
    fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()> {
        let as_parameter = match context.options.text("mode") {
            "shard" => false,
            "param" => true,
            other => {
                return Err(PassError::bad_option("mode", "`shard` or `param`", other));
            }
        };
        let shards = match context.options.integer("shards") {
            0 => edit.header.num_partitions,
            shards => shards,
        };
        if !as_parameter && !(1..=MAX_SHARDS).contains(&shards) {
            let takes = format!("1 to {MAX_SHARDS}, or 0 for the number of partitions of the header");
            return Err(PassError::bad_option("shards", &takes, &shards.to_string()));
        }
        let mut found = Vec::new();
        for gather in edit.post_order(edit.entry()) {
            if edit.instruction(gather).opcode == Opcode::Gather {
                let look_up = recognize(edit, gather)
                    .and_then(|look_up| if as_parameter { Ok(look_up) } else { divisible(look_up, shards) });
                match look_up {
                    Ok(look_up) => found.push(look_up),
                    Err(why) => context.missed(edit, gather, why),
                }
            }
        }
        if context.wants_remarks {
            explain_other_computations(edit, context);
        }
        for look_up in found {
            let gather = look_up.gather;
            if edit.has_control_dependencies(gather) {
                context.missed(edit, gather, "it has control dependencies, so it can't be replaced");
                continue;
            }
            if !context.may_rewrite(edit, gather) {
                continue;
            }
            let new = if as_parameter {
                context.applied(edit, gather, "its rows become a parameter");
                let shape = edit.instruction(gather).shape;
                edit.add_entry_parameter(shape, "gather.param")
            } else {
                let rows = look_up.rows / shards;
                context.applied(edit, gather, format_args!("split over {shards} shards of {rows} rows"));
                split(edit, &look_up, shards)?
            };
            edit.replace_instruction(gather, new)?;
        }
        Ok(())
    }
}

fn explain_other_computations(edit: &Editor<'_>, context: &mut PassContext<'_>) {
    for &computation in edit.computations() {
        if computation == edit.entry() {
            continue;
        }
        for id in edit.live_instructions(computation) {
            if edit.instruction(id).opcode == Opcode::Gather {
                context.missed(edit, id, "it is not in the entry computation");
            }
        }
    }
}

fn divisible(look_up: LookUp, shards: i64) -> Result<LookUp, String> {
    if shards == 1 {
        return Err("one shard is the whole table".to_owned());
    }
    if look_up.rows % shards != 0 || look_up.rows == 0 {
        return Err(format!("{shards} shards don't divide {} rows", look_up.rows));
    }
    Ok(look_up)
}

/// The gather as a look-up of rows, or why it is none.
fn recognize(edit: &Editor<'_>, gather: InstructionId) -> Result<LookUp, String> {
    let &[table, indices] = edit.operands(gather) else {
        return Err("it does not have two operands".to_owned());
    };
    if !is_from_parameter(edit, table) {
        return Err("its table does not come from an entry parameter".to_owned());
    }
    let (Shape::Array(table_shape), Shape::Array(indices_shape), Shape::Array(result)) =
        (edit.shape_of(table), edit.shape_of(indices), edit.shape_of(gather))
    else {
        return Err("it is not between arrays".to_owned());
    };
    if [table_shape, indices_shape, result].iter().any(|shape| shape.is_dynamic()) {
        return Err("its shapes are dynamic".to_owned());
    }
    if !indices_shape.element_type.is_integer() {
        return Err("its indices are not integers".to_owned());
    }
    let ints = |key| edit.ints(gather, key).unwrap_or_default();
    if !ints(AttrKey::OperandBatchingDims).is_empty() || !ints(AttrKey::StartIndicesBatchingDims).is_empty() {
        return Err("it has batching dimensions".to_owned());
    }
    let (&[collapsed], &[mapped]) = (ints(AttrKey::CollapsedSliceDims), ints(AttrKey::StartIndexMap)) else {
        return Err("it does not collapse and index just one dimension".to_owned());
    };
    let dimension = usize::try_from(collapsed).ok().filter(|&dimension| dimension < table_shape.rank());
    let Some(dimension) = dimension.filter(|_| collapsed == mapped) else {
        return Err("it does not collapse the dimension it indexes".to_owned());
    };
    let mut row = table_shape.dimensions.clone();
    let rows = std::mem::replace(&mut row[dimension], 1);
    if ints(AttrKey::SliceSizes) != row {
        return Err("its slices are not whole rows".to_owned());
    }
    let mut batch = indices_shape.dimensions.clone();
    let component = edit.int(gather, AttrKey::IndexVectorDim).and_then(|index| usize::try_from(index).ok());
    match component {
        Some(index) if index == batch.len() => {}
        Some(index) if batch.get(index) == Some(&1) => {
            batch.remove(index);
        }
        _ => return Err("its indices have several components".to_owned()),
    }
    let offsets = ints(AttrKey::OffsetDims);
    let batch_dimensions: Vec<i64> =
        (0..result.rank() as i64).filter(|dimension| !offsets.contains(dimension)).collect();
    let batch_sizes = batch_dimensions.iter().map(|&dimension| result.dimensions[dimension as usize]);
    if !batch_sizes.eq(batch.iter().copied()) {
        return Err("its result does not have the dimensions of its indices".to_owned());
    }
    let batch = ArrayShape::new(ElementType::Pred, batch);
    Ok(LookUp { gather, table, indices, dimension, rows, batch, batch_dimensions })
}

/// Whether it is an entry parameter, or one in another shape or type.
fn is_from_parameter(edit: &Editor<'_>, mut id: InstructionId) -> bool {
    use Opcode as O;
    for _ in 0..MAX_STEPS {
        match (edit.instruction(id).opcode, edit.operands(id)) {
            (O::Parameter, _) => return true,
            (O::Convert | O::Reshape | O::Bitcast | O::GetTupleElement, &[operand]) => id = operand,
            _ => return false,
        }
    }
    false
}

/// Adds the look-ups of all shards and what joins them.
fn split(edit: &mut Editor<'_>, look_up: &LookUp, shards: i64) -> PassResult<InstructionId> {
    let parent = edit.instruction(look_up.gather).parent;
    let size = look_up.rows / shards;
    let indices = widen(edit, look_up)?;
    let index_shape = edit.instruction(indices).shape;
    let zeros = add_number(edit, index_shape, indices, 0)?;
    let lasts = add_number(edit, index_shape, indices, look_up.rows - 1)?;
    let row = edit.add(parent, Opcode::Clamp, index_shape, &[zeros, indices, lasts], &[]);

    let mut parts = vec![look_up_shard(edit, look_up, row, 0, size)];
    let mut limits = Vec::new();
    for shard in 1..shards {
        let limit = add_number(edit, index_shape, indices, shard * size)?;
        let local = edit.add(parent, Opcode::Subtract, index_shape, &[row, limit], &[]);
        parts.push(look_up_shard(edit, look_up, local, shard, size));
        limits.push(limit);
    }
    let Some(mut stitched) = parts.pop() else { return Ok(look_up.gather) };
    while let (Some(part), Some(limit)) = (parts.pop(), limits.pop()) {
        let inside = add_is_inside(edit, look_up, row, limit);
        stitched = edit.add_select(inside, part, stitched);
    }
    Ok(stitched)
}

/// The indices in a type that has the number of the last row.
fn widen(edit: &mut Editor<'_>, look_up: &LookUp) -> PassResult<InstructionId> {
    let last = i128::from(look_up.rows) - 1;
    let fits = |element_type: ElementType| {
        let bits = element_type.bits() - u32::from(element_type.class() == ElementClass::Signed);
        last < 1i128 << bits
    };
    match edit.element_type(look_up.indices) {
        Some(element_type) if !fits(element_type) => {
            let wide = if fits(ElementType::S32) { ElementType::S32 } else { ElementType::S64 };
            edit.add_convert(look_up.indices, wide)
        }
        _ => Ok(look_up.indices),
    }
}

/// Adds an array of a number, beside and of the type of `like`.
fn add_number(
    edit: &mut Editor<'_>,
    shape: ShapeId,
    like: InstructionId,
    number: i64,
) -> PassResult<InstructionId> {
    let parent = edit.instruction(like).parent;
    let element_type = edit.element_type(like).unwrap_or(ElementType::S32);
    let constant = edit.add_scalar_constant(parent, element_type, number)?;
    Ok(edit.add_broadcast_of_scalar(constant, shape))
}

/// Adds the look-up of a shard.
fn look_up_shard(
    edit: &mut Editor<'_>,
    look_up: &LookUp,
    indices: InstructionId,
    shard: i64,
    size: i64,
) -> InstructionId {
    let gather = look_up.gather;
    let parent = edit.instruction(gather).parent;
    let Shape::Array(table) = edit.shape_of(look_up.table).clone() else { return gather };
    let mut ranges: Vec<SliceRange> =
        table.dimensions.iter().map(|&limit| SliceRange { start: 0, limit, stride: 1 }).collect();
    ranges[look_up.dimension] = SliceRange { start: shard * size, limit: (shard + 1) * size, stride: 1 };
    let mut dimensions = table.dimensions.clone();
    dimensions[look_up.dimension] = size;
    let shape = edit.intern_shape(Shape::Array(ArrayShape { dimensions, ..table }));
    let ranges = AttrValue::Value(edit.intern_value(Value::Slice(ranges)));
    let attributes = [Attr { key: AttrKey::Slice, value: ranges }];
    let rows = edit.add(parent, Opcode::Slice, shape, &[look_up.table], &attributes);
    let part = edit.copy_instruction_as_new(gather, parent, &[rows, indices]);
    edit.set_attribute(part, AttrKey::Origin, None);
    // What is less than the first row of a shard wraps around without a sign.
    let is_unsigned = edit.element_type(indices).is_some_and(|t| t.class() == ElementClass::Unsigned);
    if shard > 0 && is_unsigned {
        edit.set_attribute(part, AttrKey::IndicesAreSorted, None);
    }
    part
}

/// Adds whether each row is before `limit`, in the shape of the result.
fn add_is_inside(
    edit: &mut Editor<'_>,
    look_up: &LookUp,
    row: InstructionId,
    limit: InstructionId,
) -> InstructionId {
    let instruction = edit.instruction(row);
    let (parent, row_shape) = (instruction.parent, instruction.shape);
    let is_signed = edit.element_type(row).is_some_and(|t| t.class() == ElementClass::Signed);
    let comparison = if is_signed { ComparisonType::Signed } else { ComparisonType::Unsigned };
    let shape = edit.with_element_type(row_shape, ElementType::Pred);
    let mut inside = edit.add_compare(parent, shape, [row, limit], ComparisonDirection::Lt, comparison);
    let has_component = edit.shape_of(row).as_array().is_some_and(|rows| rows.rank() != look_up.batch.rank());
    if has_component {
        let shape = edit.intern_shape(Shape::Array(look_up.batch.clone()));
        inside = edit.add(parent, Opcode::Reshape, shape, &[inside], &[]);
    }
    let result = edit.instruction(look_up.gather).shape;
    let shape = edit.with_element_type(result, ElementType::Pred);
    let dimensions = AttrValue::Value(edit.intern_value(Value::Ints(look_up.batch_dimensions.clone())));
    let attributes = [Attr { key: AttrKey::Dimensions, value: dimensions }];
    edit.add(parent, Opcode::Broadcast, shape, &[inside], &attributes)
}
