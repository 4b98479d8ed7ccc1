//! Rules about collectives.

use hashbrown::HashMap;

use crate::diagnostic::Code;
use crate::ir::{ArrayShape, AttrKey, HASHER, InstructionId, Opcode, Shape, ShapeId, UNBOUNDED, Value};

use super::equality::{EQUAL, Layouts, Sameness};
use super::{Check, Verifier};

/// All but where the arrays are.
const EQUAL_ANYWHERE: Sameness = Sameness { layouts: Layouts::Anywhere, ..EQUAL };

impl Verifier<'_> {
    pub(super) fn check_collective(&self, id: InstructionId) -> Check {
        match self.opcode(id) {
            Opcode::AllGather | Opcode::AllGatherStart => self.check_shards(id, true),
            Opcode::ReduceScatter => self.check_shards(id, false),
            Opcode::AllReduce | Opcode::AllReduceStart => self.check_all_reduce(id),
            Opcode::AllToAll => self.check_all_to_all(id),
            Opcode::RaggedAllToAll => self.check_ragged_all_to_all(id),
            Opcode::CollectivePermute | Opcode::CollectivePermuteStart => self.check_permute(id),
            _ => Ok(()),
        }
    }

    fn check_all_reduce(&self, id: InstructionId) -> Check {
        if self.options.check_replica_groups {
            self.check_groups(id, self.group_mode(id)?)?;
        }
        match self.number(id, AttrKey::ChannelId) {
            Some(channel) if channel <= 0 && self.opcode(id) == Opcode::AllReduce => {
                let message =
                    format!("all-reduce `{}` has channel_id={channel}: it must be positive", self.name(id));
                Err(self.wrong(Code::AllReduceChannel, id, message))
            }
            _ => Ok(()),
        }
    }

    /// The dimension grows or shrinks by as much as a group has members.
    fn check_shards(&self, id: InstructionId, gathers: bool) -> Check {
        let module = self.module;
        let mode = self.group_mode(id)?;
        self.check_groups(id, mode)?;
        let operands = module.operands(id);
        let along = module.ints(id, AttrKey::Dimensions).and_then(|list| list.first().copied()).unwrap_or(0);
        let along = usize::try_from(along).unwrap_or(usize::MAX);
        let mut result = self.shape_id(id);
        if self.opcode(id) == Opcode::AllGatherStart {
            result = module.shape(result).as_tuple().and_then(|it| it.get(1)).copied().unwrap_or(result);
        }
        if operands.len() > 1
            && let Shape::Tuple(elements) = module.shape(result)
        {
            result = elements.first().copied().unwrap_or(result);
        }
        let array = |id: ShapeId| module.shape(id).as_array();
        let (Some(operand), Some(result)) =
            (operands.first().and_then(|&operand| array(self.shape_id(operand))), array(result))
        else {
            return Ok(());
        };
        let (Some(&from), Some(&to)) = (operand.dimensions.get(along), result.dimensions.get(along)) else {
            return Ok(());
        };
        let (whole, part) = if gathers { (to, from) } else { (from, to) };
        if whole == UNBOUNDED || part <= 0 {
            return Ok(());
        }
        let count = whole / part + i64::from(whole % part != 0);
        let Some(size) = self.group_size(id, mode) else { return Ok(()) };
        if size == 1 || size == count {
            return self.check_ordering_operands(id, operands);
        }
        let message = format!(
            "{} `{}` changes dimension {along} from {from} to {to}, a factor of {count}, but its groups have {size} members",
            self.opcode(id),
            self.name(id)
        );
        Err(self.wrong(Code::ShardCount, id, message))
    }

    /// Neuron's front ends order collectives by scalars that go through them.
    fn check_ordering_operands(&self, id: InstructionId, operands: &[InstructionId]) -> Check {
        let is_scalar = |&&operand: &&InstructionId| {
            self.module.shape_of(operand).as_array().is_some_and(|array| array.rank() == 0)
        };
        let Some(&scalar) = operands.iter().skip(1).find(is_scalar) else { return Ok(()) };
        let message = format!(
            "{} `{}` takes the scalar `{}`, which has no dimension to work along; XLA refuses that, Neuron takes it",
            self.opcode(id),
            self.name(id),
            self.name(scalar)
        );
        Err(self.wrong(Code::CollectiveDimension, id, message).also(scalar, "the scalar").warning())
    }

    fn check_all_to_all(&self, id: InstructionId) -> Check {
        let module = self.module;
        let mode = self.group_mode(id)?;
        self.check_groups(id, mode)?;
        let Some(size) = self.group_size(id, mode) else { return Ok(()) };
        let operands = module.operands(id);
        let wrong = |message: String| {
            Err(self.wrong(Code::CollectiveOperands, id, format!("all-to-all `{}` {message}", self.name(id))))
        };
        if let Some(&along) = module.ints(id, AttrKey::Dimensions).and_then(<[i64]>::first) {
            if operands.len() != 1 {
                return wrong(format!("along a dimension must have one operand, but has {}", operands.len()));
            }
            let array = module.shape_of(operands[0]).as_array();
            let length = array.and_then(|array| array.dimensions.get(usize::try_from(along).ok()?).copied());
            if let Some(length) = length.filter(|&length| length != UNBOUNDED)
                && length.checked_rem(size) != Some(0)
            {
                let message = format!(
                    "all-to-all `{}` cuts dimension {along} of {} into {size} parts",
                    self.name(id),
                    self.text_of(operands[0])
                );
                return Err(self.wrong(Code::ShardCount, id, message));
            }
            return Ok(());
        }
        if operands.len() as i64 != size {
            return wrong(format!(
                "must have an operand for each of {size} members, but has {}",
                operands.len()
            ));
        }
        let first = self.shape_id(operands[0]);
        let other =
            operands.iter().find(|&&other| !EQUAL_ANYWHERE.of(module.shapes(), first, self.shape_id(other)));
        match other {
            Some(&other) => {
                let message = format!(
                    "all-to-all `{}` has operands of different shapes: {} and {}",
                    self.name(id),
                    self.text(first),
                    self.text_of(other)
                );
                Err(self.wrong(Code::CollectiveOperands, id, message).also(other, "the other operand"))
            }
            None => Ok(()),
        }
    }

    fn check_ragged_all_to_all(&self, id: InstructionId) -> Check {
        let module = self.module;
        if self.options.check_replica_groups {
            self.check_groups(id, self.group_mode(id)?)?;
        }
        let operands = module.operands(id);
        if operands.len() != 6 {
            let message =
                format!("ragged-all-to-all `{}` takes 6 operands, but has {}", self.name(id), operands.len());
            return Err(self.wrong(Code::WrongOperandCount, id, message));
        }
        for index in 2..6 {
            let rank = module.shape_of(operands[index]).as_array().map(ArrayShape::rank);
            let next = operands.get(index + 1);
            let same = |&next: &InstructionId| {
                EQUAL.of(module.shapes(), self.shape_id(operands[index]), self.shape_id(next))
            };
            if !matches!(rank, Some(1 | 2)) || next.is_some_and(|next| !same(next)) {
                let texts: Vec<String> = operands[2..].iter().map(|&id| self.text_of(id)).collect();
                let message = format!(
                    "operands 2 to 5 of ragged-all-to-all `{}` must have the same shape of rank 1 or 2, but are {}",
                    self.name(id),
                    texts.join(", ")
                );
                return Err(self
                    .wrong(Code::CollectiveOperands, id, message)
                    .also(operands[index], "this one"));
            }
        }
        Ok(())
    }

    fn check_permute(&self, id: InstructionId) -> Check {
        let module = self.module;
        let operands = module.operands(id);
        let opcode = self.opcode(id);
        let sizes = match module.value_of(id, AttrKey::PermuteSliceSizes) {
            Some(Value::IntLists(lists)) if !lists.is_empty() => lists.len(),
            _ => 0,
        };
        let in_place = sizes > 0;
        let slices = if in_place { self.check_permute_buffers(id, operands)? } else { 1 };
        let Some(Value::IntLists(pairs)) = module.value_of(id, AttrKey::SourceTargetPairs) else {
            return Ok(());
        };
        let header = &module.header;
        let mut limit = match self.number(id, AttrKey::ChannelId) {
            Some(_) => header.num_partitions,
            None => header.replica_count,
        };
        if limit == 1 {
            limit = pairs.iter().flatten().copied().max().unwrap_or(0).saturating_add(1);
        }
        let count = || HashMap::<i64, usize, foldhash::fast::FixedState>::with_hasher(HASHER);
        let mut seen = [("source", count()), ("target", count())];
        for pair in pairs {
            for (&number, (what, seen)) in pair.iter().zip(&mut seen) {
                if !(0..limit).contains(&number) {
                    let message = format!(
                        "{what} {number} of {opcode} `{}` is no participant: they are 0 to {}",
                        self.name(id),
                        limit - 1
                    );
                    return Err(self.wrong(Code::SourceTargetRange, id, message));
                }
                let times = seen.entry(number).or_insert(0);
                *times += 1;
                if *times > slices {
                    let message = format!(
                        "{what} {number} of {opcode} `{}` occurs {times} times, but may {slices}",
                        self.name(id)
                    );
                    return Err(self.wrong(Code::SourceTargetRepeated, id, message));
                }
            }
        }
        Ok(())
    }

    /// Buffers and offsets of a permute in place; how many slices there are.
    fn check_permute_buffers(
        &self,
        id: InstructionId,
        operands: &[InstructionId],
    ) -> Result<usize, super::Violation> {
        let module = self.module;
        let wrong = |message: &str| {
            let message = format!("{} `{}`: {message}", self.opcode(id), self.name(id));
            Err(self.wrong(Code::PermuteBuffers, id, message))
        };
        let &[input, output, input_offsets, output_offsets] = operands else {
            return wrong("in place it takes input, output and the offsets of both");
        };
        let tuple = |id: InstructionId| module.shape_of(id).as_tuple();
        let array = |id: ShapeId| module.shape(id).as_array();
        let buffers: Vec<(ShapeId, ShapeId)> = match (tuple(input), tuple(output)) {
            (None, None) => vec![(self.shape_id(input), self.shape_id(output))],
            (Some(a), Some(b)) if a.len() == b.len() => a.iter().copied().zip(b.iter().copied()).collect(),
            _ => return wrong("input and output must both be arrays, or tuples of as many"),
        };
        let several = tuple(input).is_some();
        let mut slices = 0;
        for (offsets, is_input) in [(input_offsets, true), (output_offsets, false)] {
            let Some(elements) = tuple(offsets) else { return wrong("offsets must be tuples") };
            if several && elements.len() != buffers.len() {
                return wrong("there must be offsets for every buffer");
            }
            let lists: Vec<(ShapeId, ShapeId)> = if several {
                buffers
                    .iter()
                    .zip(elements)
                    .map(|(&(a, b), &list)| (if is_input { a } else { b }, list))
                    .collect()
            } else {
                buffers.iter().map(|&(a, b)| (if is_input { a } else { b }, self.shape_id(offsets))).collect()
            };
            for (buffer, list) in lists {
                let rank = array(buffer).map_or(0, ArrayShape::rank);
                let Some(parts) = module.shape(list).as_tuple() else {
                    return wrong("offsets must be tuples");
                };
                // Either one offset, a number per dimension, or several of these.
                let nested = parts.iter().any(|&part| module.shape(part).as_tuple().is_some());
                let has_rank = |count: usize| count == rank;
                let fits = if nested {
                    parts
                        .iter()
                        .all(|&part| module.shape(part).as_tuple().is_some_and(|it| has_rank(it.len())))
                } else {
                    has_rank(parts.len())
                };
                if !fits {
                    return wrong("an offset must have a number for each dimension of its buffer");
                }
                if is_input {
                    slices += if nested { parts.len() } else { 1 };
                }
            }
        }
        Ok(slices.max(1))
    }
}
