//! Writing a module that came from a protocol buffer, so that nothing of it is lost.
//!
//! The IR doesn't hold everything that a message can say: fields that HLO text has no place for, fields of newer
//! versions, unusual spellings of the same thing. They stay where they are, in the bytes that were read, and come from
//! there when the module is written: each message is written three times, as it was read (*original*), as the IR says
//! it was right after reading (*base*), and as the IR says it now (*current*). Where base and current agree the original
//! stands; where they differ the module was edited, and the current value is taken. Instructions and computations go by
//! their ids, other entries of lists by their place.

use std::borrow::Cow;

use hashbrown::HashMap;

use super::fault::{InField, Read};
use super::read::{ProtoIds, read_module};
use super::schema::{hlo_computation_proto as c, hlo_instruction_proto as i, hlo_module_proto as m};
use super::table::Message;
use super::wire::{Field, Fields, WireType, Writer};
use super::write::{AssignedIds, Encoder, Listed};
use crate::ir::{ComputationId, HASHER, InstructionId, Module};
use crate::parser::Dialect;

type ById<'b> = HashMap<i64, &'b [u8], foldhash::fast::FixedState>;

/// Appends what becomes of a message of which there are three versions.
fn merge(
    w: &mut Writer,
    original: &[u8],
    base: &[u8],
    current: &[u8],
    message: &'static Message,
) -> Read<()> {
    if base == current {
        w.out.extend_from_slice(original);
        return Ok(());
    }
    let fields = |bytes| Fields::new(bytes).collect::<Read<Vec<Field<'_>>>>();
    let (original, base, current) = (fields(original)?, fields(base)?, fields(current)?);
    let mut numbers: Vec<u32> = original.iter().chain(&current).map(|field| field.number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    for number in numbers {
        let of = |fields: &[Field<'_>]| -> Vec<usize> {
            (0..fields.len()).filter(|&at| fields[at].number == number).collect()
        };
        let (o, b, c) = (of(&original), of(&base), of(&current));
        let same = b.len() == c.len() && b.iter().zip(&c).all(|(&b, &c)| base[b].raw == current[c].raw);
        if same {
            o.iter().for_each(|&at| w.out.extend_from_slice(original[at].raw));
            continue;
        }
        let inner = message.field(number).and_then(|field| Some((field.name, field.message()?)));
        let comparable = o.len() == c.len() && b.len() == c.len();
        let is_message = |fields: &[Field<'_>], places: &[usize]| {
            places.iter().all(|&at| fields[at].wire_type == WireType::Bytes)
        };
        match inner {
            Some((name, inner)) if comparable && is_message(&original, &o) => {
                for (index, ((&o, &b), &c)) in o.iter().zip(&b).zip(&c).enumerate() {
                    let mut result = Ok(());
                    let (o, b, c) = (original[o].bytes, base[b].bytes, current[c].bytes);
                    w.message(number, |w| result = merge(w, o, b, c, inner));
                    result.at(name, index)?;
                }
            }
            _ => c.iter().for_each(|&at| w.out.extend_from_slice(current[at].raw)),
        }
    }
    Ok(())
}

/// The fields of a message but those with a number, and those by the id that they have in a field of theirs.
fn split(bytes: &[u8], number: u32, id: u32) -> Read<(Vec<u8>, Vec<i64>, ById<'_>)> {
    let mut rest = Vec::new();
    let mut order = Vec::new();
    let mut by_id = ById::with_hasher(HASHER);
    for field in Fields::new(bytes) {
        let field = field?;
        if field.number != number {
            rest.extend_from_slice(field.raw);
            continue;
        }
        let mut found = 0;
        for inner in Fields::new(field.bytes()?) {
            let inner = inner?;
            if inner.number == id {
                found = inner.int64()?;
            }
        }
        order.push(found);
        by_id.insert(found, field.bytes);
    }
    Ok((rest, order, by_id))
}

/// What was read and what is written now.
struct Versions<'m> {
    base: Encoder<'m>,
    current: Encoder<'m>,
    base_module: &'m Module,
    module: &'m Module,
    known: &'m ProtoIds,
}

/// Writes `module`, which was made of the message `original` by reading it and editing the result.
pub(super) fn write_merged(
    module: &Module,
    original: &[u8],
    known: &ProtoIds,
    dialect: Dialect,
    elided: &mut Vec<InstructionId>,
) -> Read<Vec<u8>> {
    let base = read_module(original, dialect)?;
    let base_ids = AssignedIds::new(&base.module, Some(&base.ids));
    let ids = AssignedIds::new(module, Some(known));
    let mut versions = Versions {
        base: Encoder::new(&base.module, &base_ids),
        current: Encoder::new(module, &ids),
        base_module: &base.module,
        module,
        known,
    };
    let out = versions.module(original, &ids)?;
    elided.append(&mut versions.current.elided);
    Ok(out)
}

impl Versions<'_> {
    fn module(&mut self, original: &[u8], ids: &AssignedIds) -> Read<Vec<u8>> {
        let (rest, original_order, computations) = split(original, m::COMPUTATIONS, c::ID)?;
        let (base_order, order) = (self.base.order(), self.current.order());
        let mut parts = [Writer::default(), Writer::default()];
        self.base.before_computations(&mut parts[0]);
        self.base.after_computations(&mut parts[0], &base_order)?;
        self.current.before_computations(&mut parts[1]);
        self.current.after_computations(&mut parts[1], &order)?;
        let mut merged_rest = Writer::default();
        merge(&mut merged_rest, &rest, &parts[0].out, &parts[1].out, &m::MESSAGE)?;

        let base_lists: HashMap<ComputationId, &Listed, foldhash::fast::FixedState> =
            base_order.iter().map(|listed| (listed.id, listed)).collect();
        // In the order of the original, unless computations came, went or moved.
        let moved = order.iter().map(|listed| listed.id).ne(base_order.iter().map(|listed| listed.id));
        let mut by_id: HashMap<i64, Cow<'_, [u8]>, foldhash::fast::FixedState> = HashMap::with_hasher(HASHER);
        let mut written = Vec::with_capacity(order.len());
        for (index, listed) in order.iter().enumerate() {
            let id = ids.computation(listed.id);
            let before =
                base_lists.get(&listed.id).filter(|_| listed.id.index() < self.known.computations.len());
            let bytes = match (before, computations.get(&id)) {
                (Some(before), Some(original)) => self.computation(original, before, listed, ids),
                _ => {
                    let mut w = Writer::default();
                    self.current.computation(&mut w, listed).map(|()| w.out.into())
                }
            };
            by_id.insert(id, bytes.at("computations", index)?);
            written.push(id);
        }
        let is_same = |id: &i64| matches!((by_id.get(id), computations.get(id)), (Some(new), Some(old)) if new.as_ref() == *old);
        if !moved
            && written.len() == original_order.len()
            && merged_rest.out == rest
            && original_order.iter().all(is_same)
        {
            return Ok(original.to_vec());
        }
        let mut w = Writer { out: Vec::with_capacity(original.len()) };
        let (before, after): (Vec<_>, Vec<_>) = Fields::new(&merged_rest.out)
            .collect::<Read<Vec<_>>>()?
            .into_iter()
            .partition(|field| field.number < m::COMPUTATIONS);
        before.iter().for_each(|field| w.out.extend_from_slice(field.raw));
        let final_order = if moved { &written } else { &original_order };
        for id in final_order {
            if let Some(bytes) = by_id.get(id) {
                w.always_bytes(m::COMPUTATIONS, bytes);
            }
        }
        after.iter().for_each(|field| w.out.extend_from_slice(field.raw));
        Ok(w.out)
    }

    fn computation<'b>(
        &mut self,
        original: &'b [u8],
        before: &Listed,
        now: &Listed,
        ids: &AssignedIds,
    ) -> Read<Cow<'b, [u8]>> {
        let (rest, original_order, instructions) = split(original, c::INSTRUCTIONS, i::ID)?;
        let mut parts = [Writer::default(), Writer::default()];
        self.base.before_instructions(&mut parts[0], before.id);
        self.base.after_instructions(&mut parts[0], before.id);
        self.current.before_instructions(&mut parts[1], now.id);
        self.current.after_instructions(&mut parts[1], now.id);
        let mut merged_rest = Writer::default();
        merge(&mut merged_rest, &rest, &parts[0].out, &parts[1].out, &c::MESSAGE)?;
        let mut by_id: HashMap<i64, Cow<'_, [u8]>, foldhash::fast::FixedState> = HashMap::with_hasher(HASHER);
        let mut written = Vec::with_capacity(now.instructions.len());
        let mut changed = merged_rest.out != rest;
        for (index, &id) in now.instructions.iter().enumerate() {
            let number = ids.instruction(id);
            let original = instructions.get(&number).filter(|_| self.known.has(self.module, id));
            let bytes = match original {
                Some(original) => self.instruction(original, id),
                None => {
                    let mut w = Writer::default();
                    self.current.one_instruction(&mut w, id).map(|()| w.out.into())
                }
            };
            let bytes = bytes.at("instructions", index)?;
            changed |= original.is_none_or(|original| *original != bytes.as_ref());
            by_id.insert(number, bytes);
            written.push(number);
        }
        let moved = before.instructions != now.instructions;
        if !changed && !moved && written.len() == original_order.len() {
            return Ok(original.into());
        }
        let mut w = Writer { out: Vec::with_capacity(original.len()) };
        let fields = Fields::new(&merged_rest.out).collect::<Read<Vec<_>>>()?;
        let (first, last): (Vec<_>, Vec<_>) =
            fields.into_iter().partition(|field| field.number < c::INSTRUCTIONS);
        first.iter().for_each(|field| w.out.extend_from_slice(field.raw));
        for number in if moved { &written } else { &original_order } {
            if let Some(bytes) = by_id.get(number) {
                w.always_bytes(c::INSTRUCTIONS, bytes);
            }
        }
        last.iter().for_each(|field| w.out.extend_from_slice(field.raw));
        Ok(w.out.into())
    }

    fn instruction<'b>(&mut self, original: &'b [u8], id: InstructionId) -> Read<Cow<'b, [u8]>> {
        // Literals may be large: they are compared where they are.
        let literal = |module: &Module| module.instruction(id).literal;
        let same = match (literal(self.base_module), literal(self.module)) {
            (Some(before), Some(now)) => {
                self.base_module.literal(before).data == self.module.literal(now).data
                    && self.base_module.shape_text(self.base_module.literal(before).shape, true)
                        == self.module.shape_text(self.module.literal(now).shape, true)
            }
            _ => false,
        };
        self.base.omit_literal = same;
        self.current.omit_literal = same;
        let (mut before, mut now) = (Writer::default(), Writer::default());
        self.base.one_instruction(&mut before, id)?;
        self.current.one_instruction(&mut now, id)?;
        self.base.omit_literal = false;
        self.current.omit_literal = false;
        if before.out == now.out {
            return Ok(original.into());
        }
        let mut w = Writer::default();
        merge(&mut w, original, &before.out, &now.out, &i::MESSAGE)?;
        Ok(w.out.into())
    }
}
