//! `gather` and `scatter`.

use crate::diagnostic::Code;
use crate::ir::{ArrayShape, AttrKey as K};

use super::Inferred;
use super::error::{ShapeError, ShapeResult};
use super::reduction::{Accumulator, check_reducer};
use super::rule::{Rule, index_below};
use super::types::{Dimension, array_text, dimension, dimensions, ints_text, make, sizes_agree};

/// The indices with the dimension of index vectors told apart from the batch dimensions.
struct Indices {
    /// All dimensions; a 1 was added if the index vector dimension is implicit.
    expanded: Vec<Dimension>,
    vector: usize,
}

impl Indices {
    fn new(rule: &Rule<'_>) -> ShapeResult<Self> {
        let operand = Self::operand(rule);
        let array = rule.array(operand)?;
        if !array.element_type.is_integer() {
            let message =
                format!("the indices of {} must be integers, but are {}", rule.opcode(), array_text(array));
            return Err(ShapeError::operand(operand, message));
        }
        let number = rule.int(K::IndexVectorDim)?;
        let vector = rule.dimension_index(K::IndexVectorDim, number, array.rank() + 1)?;
        let mut expanded: Vec<Dimension> = dimensions(array).collect();
        if vector == expanded.len() {
            expanded.push(Dimension::fixed(1));
        }
        Ok(Self { expanded, vector })
    }

    /// Which operand they are: the middle one.
    fn operand(rule: &Rule<'_>) -> usize {
        rule.operand_count() / 2
    }

    /// The dimensions that are not the index vector's.
    fn batch(&self) -> impl Iterator<Item = Dimension> + '_ {
        self.expanded.iter().enumerate().filter(|(index, _)| *index != self.vector).map(|(_, dim)| *dim)
    }

    /// `map` has an entry for each component of an index vector, all different and below `rank`.
    fn check_map(&self, key: K, map: &[i64], rank: usize) -> ShapeResult<()> {
        let components = self.expanded[self.vector];
        if !sizes_agree(map.len() as i64, components.size) {
            let message = format!(
                "{}={} has {} entries, but index vectors have {components} components",
                key.name(),
                ints_text(map),
                map.len()
            );
            return Err(ShapeError::attribute(key, message));
        }
        check_numbers(key, map, rank, Order::Any)
    }
}

/// In which order a list of dimension numbers must be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Ascending,
    Any,
}

/// Dimension numbers below `rank`, none twice.
fn check_numbers(key: K, numbers: &[i64], rank: usize, order: Order) -> ShapeResult<()> {
    let wrong = |what: String| {
        Err(ShapeError::attribute(key, format!("{}={} {what}", key.name(), ints_text(numbers))))
    };
    if let Some(number) = numbers.iter().find(|&&number| index_below(number, rank).is_none()) {
        return wrong(format!("has {number}, which is not a dimension number from 0 to below {rank}"));
    }
    if order == Order::Ascending && !numbers.is_sorted() {
        return wrong("must ascend".to_owned());
    }
    let mut seen = vec![false; rank];
    for &number in numbers {
        if let Some(index) = index_below(number, rank)
            && std::mem::replace(&mut seen[index], true)
        {
            return wrong(format!("has {number} twice"));
        }
    }
    Ok(())
}

fn same_length(first: K, first_len: usize, second: K, second_len: usize) -> ShapeResult<()> {
    if first_len == second_len {
        return Ok(());
    }
    let message = format!(
        "{} and {} must have as many entries, but have {first_len} and {second_len}",
        first.name(),
        second.name()
    );
    Err(ShapeError::attribute(second, message))
}

/// The dimensions below `rank` that are in neither list, ascending.
fn remaining(rank: usize, a: &[i64], b: &[i64]) -> Vec<usize> {
    let mut keep = vec![true; rank];
    for &number in a.iter().chain(b) {
        if let Some(index) = index_below(number, rank) {
            keep[index] = false;
        }
    }
    (0..rank).filter(|&index| keep[index]).collect()
}

/// `gather(input, indices)`
pub(super) fn gather(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let input = rule.array(0)?;
    let rank = input.rank();
    let indices = Indices::new(rule)?;
    let offset_dims = rule.ints(K::OffsetDims)?;
    let collapsed = rule.ints(K::CollapsedSliceDims)?;
    let map = rule.ints(K::StartIndexMap)?;
    let batching = rule.ints_or_empty(K::OperandBatchingDims);
    let index_batching = rule.ints_or_empty(K::StartIndicesBatchingDims);
    let slice_sizes = rule.ints(K::SliceSizes)?;

    let result_rank = offset_dims.len() + indices.expanded.len() - 1;
    check_numbers(K::OffsetDims, offset_dims, result_rank, Order::Ascending)?;
    indices.check_map(K::StartIndexMap, map, rank)?;
    check_numbers(K::CollapsedSliceDims, collapsed, rank, Order::Ascending)?;
    same_length(K::OperandBatchingDims, batching.len(), K::StartIndicesBatchingDims, index_batching.len())?;
    check_numbers(K::OperandBatchingDims, batching, rank, Order::Ascending)?;
    check_numbers(K::StartIndicesBatchingDims, index_batching, indices.expanded.len(), Order::Any)?;
    if slice_sizes.len() != rank {
        let message = format!("slice_sizes={} for {}", ints_text(slice_sizes), array_text(input));
        return Err(ShapeError::attribute(K::SliceSizes, message));
    }
    if rank != offset_dims.len() + collapsed.len() + batching.len() {
        let message = format!(
            "each dimension of {} must be an offset, collapsed or batching dimension, but there are {}, {} and {}",
            array_text(input),
            offset_dims.len(),
            collapsed.len(),
            batching.len()
        );
        return Err(ShapeError::attribute(K::OffsetDims, message));
    }
    for (index, &size) in slice_sizes.iter().enumerate() {
        let dim = dimension(input, index);
        if !dim.is_unbounded() && !(0..=dim.size).contains(&size) {
            let message = format!("slice size {size} doesn't fit dimension {index} of {}", array_text(input));
            return Err(ShapeError::attribute(K::SliceSizes, message));
        }
    }
    for &number in collapsed.iter().chain(batching) {
        let size = index_below(number, rank).map_or(0, |index| slice_sizes[index]);
        if size > 1 {
            let message =
                format!("dimension {number} is left out of the slices, so its slice size {size} must be 1");
            return Err(ShapeError::attribute(K::SliceSizes, message));
        }
    }

    let mut windows = remaining(rank, collapsed, batching).into_iter();
    let mut batch = indices.batch();
    let mut is_offset = vec![false; result_rank];
    for &number in offset_dims {
        if let Some(index) = index_below(number, result_rank) {
            is_offset[index] = true;
        }
    }
    let mut dims = Vec::with_capacity(result_rank);
    for offset in is_offset {
        let dim = if offset {
            windows.next().map(|index| {
                let size = slice_sizes[index];
                let whole = size == input.dimensions[index];
                Dimension { size, dynamic: whole && input.dynamic[index] }
            })
        } else {
            batch.next()
        };
        // A dimension that is both collapsed and batching leaves the windows short of one.
        dims.push(dim.ok_or_else(|| {
            let message = "the offset, collapsed and batching dimensions overlap";
            ShapeError::attribute(K::OffsetDims, message)
        })?);
    }
    // Unbounded input dimensions don't bound the slice sizes.
    if let Some(dim) = dims.iter().find(|dim| dim.size < 0 && !dim.is_unbounded()) {
        let message = format!("slice size {} is negative", dim.size);
        return Err(ShapeError::attribute(K::SliceSizes, message));
    }
    Ok(Inferred::Array(make(input.element_type, dims)))
}

/// `scatter(operands..., indices, updates...)`
pub(super) fn scatter(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let count = rule.operand_count();
    if count < 3 || count.is_multiple_of(2) {
        let message =
            format!("scatter takes operands, indices and as many updates, but has {count} operands");
        return Err(ShapeError::instruction(message).by(Code::WrongOperandCount));
    }
    let pairs = count / 2;
    let indices = Indices::new(rule)?;
    let operands = rule.arrays(0..pairs)?;
    let updates = rule.arrays(pairs + 1..count)?;
    for (index, (operand, update)) in operands.iter().zip(&updates).enumerate() {
        check_scatter_pair(rule, &indices, operand, update, pairs + 1 + index)?;
    }
    let accumulators: Vec<_> = operands
        .iter()
        .zip(&updates)
        .map(|(operand, update)| Accumulator { initial: operand.element_type, input: update.element_type })
        .collect();
    check_reducer(rule, K::ToApply, &accumulators)?;
    Ok(rule.one_or_tuple(&rule.request.operands[..pairs]))
}

fn check_scatter_pair(
    rule: &Rule<'_>,
    indices: &Indices,
    operand: &ArrayShape,
    update: &ArrayShape,
    update_operand: usize,
) -> ShapeResult<()> {
    let rank = operand.rank();
    let window = rule.ints(K::UpdateWindowDims)?;
    let inserted = rule.ints(K::InsertedWindowDims)?;
    let map = rule.ints(K::ScatterDimsToOperandDims)?;
    let batching = rule.ints_or_empty(K::InputBatchingDims);
    let index_batching = rule.ints_or_empty(K::ScatterIndicesBatchingDims);

    let wanted = indices.expanded.len() - 1 + window.len();
    if update.rank() != wanted {
        let message = format!("the updates {} must have rank {wanted}", array_text(update));
        return Err(ShapeError::operand(update_operand, message));
    }
    check_numbers(K::UpdateWindowDims, window, update.rank(), Order::Ascending)?;
    check_numbers(K::InsertedWindowDims, inserted, rank, Order::Ascending)?;
    if window.len() + inserted.len() + batching.len() != rank {
        let message = format!(
            "each dimension of {} must be a window, inserted or batching dimension, but there are {}, {} and {}",
            array_text(operand),
            window.len(),
            inserted.len(),
            batching.len()
        );
        return Err(ShapeError::attribute(K::UpdateWindowDims, message));
    }
    indices.check_map(K::ScatterDimsToOperandDims, map, rank)?;
    same_length(K::InputBatchingDims, batching.len(), K::ScatterIndicesBatchingDims, index_batching.len())?;
    check_numbers(K::InputBatchingDims, batching, rank, Order::Ascending)?;
    check_numbers(K::ScatterIndicesBatchingDims, index_batching, indices.expanded.len(), Order::Any)?;

    let mut is_window = vec![false; update.rank()];
    let windows = remaining(rank, inserted, batching);
    for (place, &number) in window.iter().enumerate() {
        let (Some(index), Some(&target)) = (index_below(number, update.rank()), windows.get(place)) else {
            let message = "the window, inserted and batching dimensions overlap";
            return Err(ShapeError::attribute(K::InsertedWindowDims, message));
        };
        is_window[index] = true;
        // XLA compares the plain numbers; the one that stands for "unbounded" is the least.
        if update.dimensions[index] > operand.dimensions[target] {
            let message = format!(
                "dimension {number} of the updates {} exceeds dimension {target} of {}",
                array_text(update),
                array_text(operand)
            );
            return Err(ShapeError::operand(update_operand, message));
        }
    }
    let scattered = dimensions(update).zip(&is_window).filter(|(_, is_window)| !**is_window);
    for ((dim, _), wanted) in scattered.zip(indices.batch()) {
        if !sizes_agree(dim.size, wanted.size) {
            let message =
                format!("the updates {} have {} where the indices have {}", array_text(update), dim, wanted);
            return Err(ShapeError::operand(update_operand, message));
        }
    }
    Ok(())
}
