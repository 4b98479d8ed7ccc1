//! `dot`, `ragged-dot`, `scaled-dot`.

use crate::ir::{ArrayShape, AttrKey as K};

use super::Inferred;
use super::elementwise::common_type;
use super::error::{ShapeError, ShapeResult};
use super::rule::{Rule, index_below};
use super::types::{Dimension, array_text, dimension, make, sizes_agree};

/// One side of a dot.
struct Side<'a> {
    array: &'a ArrayShape,
    batch: &'a [i64],
    contracting: &'a [i64],
    /// For each dimension whether it is neither batch nor contracting.
    free: Vec<bool>,
}

impl<'a> Side<'a> {
    fn new(rule: &Rule<'a>, operand: usize, batch_key: K, contracting_key: K) -> ShapeResult<Self> {
        let array = rule.array(operand)?;
        let (batch, contracting) = (rule.ints_or_empty(batch_key), rule.ints_or_empty(contracting_key));
        let mut free = vec![true; array.rank()];
        for (key, numbers) in [(contracting_key, contracting), (batch_key, batch)] {
            for &number in numbers {
                let index = rule.dimension_index(key, number, array.rank())?;
                if !std::mem::replace(&mut free[index], false) {
                    let message = format!("dimension {number} of {} is named twice", array_text(array));
                    return Err(ShapeError::attribute(key, message));
                }
            }
        }
        Ok(Self { array, batch, contracting, free })
    }

    /// The dimension of a number that [`Self::new`] has checked.
    fn dimension(&self, number: i64) -> Option<Dimension> {
        Some(dimension(self.array, index_below(number, self.array.rank())?))
    }

    fn batch_dimensions(&self) -> impl Iterator<Item = Dimension> + '_ {
        self.batch.iter().filter_map(|&number| self.dimension(number))
    }

    fn free_numbers(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.free.len()).filter(|&index| self.free[index])
    }

    fn free_dimensions(&self) -> impl Iterator<Item = Dimension> + '_ {
        self.free_numbers().map(|index| dimension(self.array, index))
    }
}

fn sides<'a>(rule: &Rule<'a>, rhs_operand: usize) -> ShapeResult<(Side<'a>, Side<'a>)> {
    let lhs = Side::new(rule, 0, K::LhsBatchDims, K::LhsContractingDims)?;
    let rhs = Side::new(rule, rhs_operand, K::RhsBatchDims, K::RhsContractingDims)?;
    for (kind, key, left, right) in [
        ("contracting", K::RhsContractingDims, lhs.contracting, rhs.contracting),
        ("batch", K::RhsBatchDims, lhs.batch, rhs.batch),
    ] {
        let shapes = || format!("{} and {}", array_text(lhs.array), array_text(rhs.array));
        if left.len() != right.len() {
            let message = format!(
                "{} and {} {kind} dimensions of {}: there must be as many",
                left.len(),
                right.len(),
                shapes()
            );
            return Err(ShapeError::attribute(key, message));
        }
        for (&a, &b) in left.iter().zip(right) {
            let sizes = lhs.dimension(a).zip(rhs.dimension(b));
            if !sizes.is_some_and(|(a, b)| sizes_agree(a.size, b.size)) {
                let message = format!("{kind} dimensions {a} and {b} of {} have different sizes", shapes());
                return Err(ShapeError::attribute(key, message));
            }
        }
    }
    Ok((lhs, rhs))
}

fn result(
    rule: &Rule<'_>,
    lhs: &Side<'_>,
    rhs: &Side<'_>,
    dims: impl IntoIterator<Item = Dimension>,
) -> ShapeResult<Inferred> {
    // A stated type is the accumulation type; any goes.
    let element_type = match rule.stated_array() {
        Some(stated) => stated.element_type,
        None => common_type(rule, lhs.array.element_type, rhs.array.element_type)?,
    };
    Ok(Inferred::Array(make(element_type, dims)))
}

/// `dot(lhs, rhs)`, also as part of `scaled-dot`; `rhs_operand` is the number of the right operand.
pub(super) fn dot(rule: &Rule<'_>, rhs_operand: usize) -> ShapeResult<Inferred> {
    let (lhs, rhs) = sides(rule, rhs_operand)?;
    let dims = lhs.batch_dimensions().chain(lhs.free_dimensions()).chain(rhs.free_dimensions());
    result(rule, &lhs, &rhs, dims)
}

/// What the ragged dimension of the left side is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RaggedMode {
    Free,
    Contracting,
    Batch,
}

/// `ragged-dot(lhs, rhs, group_sizes)`
pub(super) fn ragged_dot(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let (lhs, rhs) = sides(rule, 1)?;
    let groups = rule.array(2)?;
    let &[ragged] = rule.ints_or_empty(K::LhsRaggedDims) else {
        let message = format!("exactly one dimension of {} must be ragged", array_text(lhs.array));
        return Err(ShapeError::attribute(K::LhsRaggedDims, message));
    };
    let ragged_index = rule.dimension_index(K::LhsRaggedDims, ragged, lhs.array.rank())?;

    let before = |list: &[i64]| -> Vec<Dimension> {
        list.iter()
            .take_while(|&&number| number != ragged)
            .filter_map(|&number| lhs.dimension(number))
            .collect()
    };
    let (mode, prefix) = if lhs.batch.contains(&ragged) {
        (RaggedMode::Batch, before(lhs.batch))
    } else if lhs.contracting.contains(&ragged) {
        let prefix = lhs.batch_dimensions().chain(before(lhs.contracting)).collect();
        (RaggedMode::Contracting, prefix)
    } else {
        let free = lhs.free_numbers().take_while(|&index| index < ragged_index);
        let free = free.map(|index| dimension(lhs.array, index));
        (RaggedMode::Free, lhs.batch_dimensions().chain(free).collect())
    };

    let rank = groups.rank();
    let Some(last) = rank.checked_sub(1) else {
        let message = format!("the group sizes must not be a scalar, but are {}", array_text(groups));
        return Err(ShapeError::operand(2, message));
    };
    let prefix_fits = prefix.iter().map(|dim| dim.size).eq(groups.dimensions[..last].iter().copied());
    if rank != 1 && !prefix_fits {
        let prefix: Vec<i64> = prefix.iter().map(|dim| dim.size).collect();
        let message = format!(
            "the group sizes {} must have one dimension or begin with those of {} before the ragged one: {}",
            array_text(groups),
            array_text(lhs.array),
            super::types::ints_text(&prefix)
        );
        return Err(ShapeError::operand(2, message));
    }
    let group_count = dimension(groups, last);

    let group_dims = rule.ints_or_empty(K::RhsGroupDims);
    let wrong = |message: String| Err(ShapeError::attribute(K::RhsGroupDims, message));
    let mut group_index = None;
    for &number in group_dims {
        let index = rule.dimension_index(K::RhsGroupDims, number, rhs.array.rank())?;
        if !rhs.free[index] {
            return wrong(format!("group dimension {number} is a batch or contracting dimension"));
        }
        group_index = Some(index);
    }
    let wanted = usize::from(mode == RaggedMode::Free);
    if group_dims.len() != wanted {
        return wrong(format!(
            "{} must have {wanted} group dimensions, but has {}",
            array_text(rhs.array),
            group_dims.len()
        ));
    }
    if let Some(index) = group_index
        && !sizes_agree(rhs.array.dimensions[index], group_count.size)
    {
        return wrong(format!(
            "group dimension {index} of {} must have {} elements, as many as there are groups",
            array_text(rhs.array),
            group_count
        ));
    }

    let leading = (mode == RaggedMode::Contracting).then_some(group_count);
    let rhs_free = rhs.free_numbers().filter(|&index| Some(index) != group_index);
    let rhs_free = rhs_free.map(|index| dimension(rhs.array, index));
    let dims = leading.into_iter().chain(lhs.batch_dimensions()).chain(lhs.free_dimensions()).chain(rhs_free);
    result(rule, &lhs, &rhs, dims)
}
