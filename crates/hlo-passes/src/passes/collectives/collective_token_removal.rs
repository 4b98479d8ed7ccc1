//! `collective-token-removal`: numbers that are threaded through collectives to order them go.
//!
//! Front ends whose graphs have no tokens order collectives by a scalar that each takes as its last operand and hands on
//! as its last result. Back ends that order collectives in another way don't need it.
//!
//! ```text
//! tok = f32[] constant(0)
//! a0 = (f32[4], f32[]) all-reduce(p, tok), ...                a0 = f32[4] all-reduce(p), ...
//! v0 = f32[4] get-tuple-element(a0), index=0
//! t0 = f32[] get-tuple-element(a0), index=1             =>
//! a1 = (f32[4], f32[]) all-reduce(q, t0), ...                 a1 = f32[4] all-reduce(q), ...
//! v1 = f32[4] get-tuple-element(a1), index=0
//! t  = (f32[4], f32[4]) tuple(v0, v1)                         t  = (f32[4], f32[4]) tuple(a0, a1)
//! ```
//!
//! In each computation, the largest set of collectives is found for which all of this holds:
//!
//! 1. they are `all-reduce`, `all-gather`, `reduce-scatter` or `collective-permute` with at least two operands and a
//!    tuple of as many results, of which the last is a scalar, as is the last operand
//! 2. the last result is read only as the last operand of collectives of the set, or not at all; converts, and additions
//!    and multiplications with a constant, may be on the way
//!
//! Where the first of these numbers comes from does not matter: it is a constant, or a parameter of the entry
//! computation (which stays), as in dumps of torch-xla.
//!
//! 3. All of them lose their last operand and last result. With one result left the collective is an array, and what
//!    read the element reads the collective.
//! 4. What only made the number goes, too.
//! 5. Names, metadata, attributes and the shardings of the other results stay.
//!
//! Left alone, with a remark:
//!
//! 6. collectives whose last result is read as data: by another opcode, by a collective outside the set (of a single
//!    operand, say), as another operand than the last
//! 7. collectives whose last result reaches the root
//! 8. results that are used as a whole
//! 9. control dependencies
//! 10. `all-to-all`: its operands are one per device; permutes of parts of buffers
//!
//! The order between the collectives is lost; that is the purpose. Confidence: medium; the test for tokens is ours.

use std::borrow::Cow;

use hlo_text::ir::{AttrKey, ComputationId, InstructionId, Opcode};

use crate::edit::{Editor, ReplaceOptions};
use crate::pass::{Finding, HAS_CONTROL_DEPENDENCIES, Pass, PassContext, PassResult, Place};
use crate::passes::stock::tuple_simplifier::tuple_element;
use crate::{Map, Set};

/// The pass.
pub(crate) struct CollectiveTokenRemoval;

impl Pass for CollectiveTokenRemoval {
    fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()> {
        for computation in edit.computations().to_vec() {
            // Readers first, so that what is removed has no readers left.
            for id in find(edit, computation, context).into_iter().rev() {
                // One that only made the number for others has gone with them.
                if !edit.is_removed(id) {
                    remove_token(edit, id, context)?;
                }
            }
        }
        Ok(())
    }
}

/// The collectives that lose their last operand, operands first.
fn find(edit: &Editor<'_>, computation: ComputationId, context: &mut PassContext<'_>) -> Vec<InstructionId> {
    let has_any = edit.live_instructions(computation).any(|id| {
        let opcode = edit.instruction(id).opcode;
        is_eligible(opcode) || opcode == Opcode::AllToAll
    });
    if !has_any {
        return Vec::new();
    }
    let mut search = Search { edit, reasons: Map::default() };
    let mut candidates = Vec::new();
    for id in edit.post_order(computation) {
        match search.judge(id) {
            Finding::Match(()) => candidates.push(id),
            Finding::Near(why) => {
                search.reasons.insert(id, why);
            }
            Finding::Other => {}
        }
    }
    // Whose last result is read by whom: a reader that is out takes those it reads out.
    let mut members: Set<InstructionId> = candidates.iter().copied().collect();
    let mut producers: Map<InstructionId, Vec<InstructionId>> = Map::default();
    let mut out: Vec<InstructionId> = Vec::new();
    for &id in &candidates {
        match search.readers(id) {
            Ok(readers) => {
                for reader in readers {
                    if members.contains(&reader) {
                        producers.entry(reader).or_default().push(id);
                    } else if search.exclude(&mut members, id, data_read(edit, reader)) {
                        out.push(id);
                    }
                }
            }
            Err(why) => {
                if search.exclude(&mut members, id, why) {
                    out.push(id);
                }
            }
        }
    }
    while let Some(reader) = out.pop() {
        for producer in producers.remove(&reader).unwrap_or_default() {
            if search.exclude(&mut members, producer, data_read(edit, reader)) {
                out.push(producer);
            }
        }
    }
    if context.wants_remarks {
        for id in edit.live_instructions(computation) {
            if let Some(why) = search.reasons.get(&id) {
                context.missed(edit, id, why);
            }
        }
    }
    candidates.retain(|id| members.contains(id));
    candidates
}

fn data_read(edit: &Editor<'_>, reader: InstructionId) -> Cow<'static, str> {
    Cow::Owned(format!("its last result is read as data, by `{}`", edit.name_of(reader)))
}

fn is_eligible(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::AllReduce | Opcode::AllGather | Opcode::ReduceScatter | Opcode::CollectivePermute
    )
}

struct Search<'e, 'm> {
    edit: &'e Editor<'m>,
    /// Why collectives stay.
    reasons: Map<InstructionId, Cow<'static, str>>,
}

impl Search<'_, '_> {
    fn exclude(
        &mut self,
        members: &mut Set<InstructionId>,
        id: InstructionId,
        why: Cow<'static, str>,
    ) -> bool {
        let was_member = members.remove(&id);
        if was_member {
            self.reasons.insert(id, why);
        }
        was_member
    }

    /// Whether the collective is a candidate, whoever reads its results.
    fn judge(&self, id: InstructionId) -> Finding<()> {
        let edit = self.edit;
        let opcode = edit.instruction(id).opcode;
        if !is_eligible(opcode) && opcode != Opcode::AllToAll {
            return Finding::Other;
        }
        let operands = edit.operands(id);
        let Some(results) = edit.shape_of(id).as_tuple() else { return Finding::Other };
        let Some(&operand) = operands.last() else { return Finding::Other };
        if operands.len() < 2 || results.len() != operands.len() {
            return Finding::Other;
        }
        if opcode == Opcode::AllToAll || !edit.is_default(id, AttrKey::PermuteSliceSizes) {
            return Finding::near("its operands belong together");
        }
        // Results have the ranks of their operands.
        if edit.shape_of(operand).as_array().is_none_or(|array| array.rank() != 0) {
            return Finding::near("its last operand is not a scalar");
        }
        if edit.has_control_dependencies(id) {
            return Finding::near(HAS_CONTROL_DEPENDENCIES);
        }
        if edit.is_root(id) {
            return Finding::near("its result is used as a whole, as the root");
        }
        for &user in edit.users(id) {
            if tuple_element(edit, user).is_none() {
                return Finding::near(format!("its result is used as a whole, by `{}`", edit.name_of(user)));
            }
            if edit.has_control_dependencies(user) {
                return Finding::near("an element of its result has control dependencies");
            }
        }
        Finding::Match(())
    }

    /// The collectives that take the last result as their last operand.
    fn readers(&self, id: InstructionId) -> Result<Vec<InstructionId>, Cow<'static, str>> {
        let edit = self.edit;
        let last = edit.operands(id).len() - 1;
        let mut readers = Vec::new();
        let is_last =
            |&user: &InstructionId| tuple_element(edit, user).is_some_and(|(_, index)| index == last);
        let mut open: Vec<InstructionId> = edit.users(id).iter().copied().filter(is_last).collect();
        while let Some(value) = open.pop() {
            if edit.is_root(value) {
                return Err("its last result reaches the root".into());
            }
            for &user in edit.users(value) {
                if is_eligible(edit.instruction(user).opcode) {
                    let operands = edit.operands(user);
                    let times = operands.iter().filter(|&&operand| operand == value).count();
                    if times != 1 || operands.last() != Some(&value) || operands.len() < 2 {
                        return Err(data_read(edit, user));
                    }
                    readers.push(user);
                } else if number_behind(edit, user) == Some(value) && !edit.has_control_dependencies(user) {
                    open.push(user);
                } else {
                    return Err(data_read(edit, user));
                }
            }
        }
        Ok(readers)
    }
}

/// What a convert, or an addition or multiplication with a constant, changes.
fn number_behind(edit: &Editor<'_>, id: InstructionId) -> Option<InstructionId> {
    match (edit.instruction(id).opcode, edit.operands(id)) {
        (Opcode::Convert, &[operand]) => Some(operand),
        (Opcode::Add | Opcode::Multiply, &[lhs, rhs]) => {
            if edit.uniform_constant(rhs).is_some() {
                Some(lhs)
            } else {
                edit.uniform_constant(lhs).is_some().then_some(rhs)
            }
        }
        _ => None,
    }
}

/// Replaces a collective by one without the last operand and result.
fn remove_token(edit: &mut Editor<'_>, old: InstructionId, context: &mut PassContext<'_>) -> PassResult<()> {
    let operands = edit.operands(old).to_vec();
    let Some((_, kept)) = operands.split_last() else { return Ok(()) };
    let last = kept.len();
    let elements: Vec<(InstructionId, usize)> =
        edit.users(old).iter().filter_map(|&user| Some((user, tuple_element(edit, user)?.1))).collect();
    // A reader that stayed, for lack of fuel, still needs the number.
    let is_read =
        |&(element, index): &(InstructionId, usize)| index == last && !edit.users(element).is_empty();
    if elements.iter().any(is_read) {
        context.missed(edit, old, "what reads its last result has not been rewritten");
        return Ok(());
    }
    if !context.may_rewrite(edit, old) {
        return Ok(());
    }
    context.applied_at(Place::of(edit, old), "its last operand and result are gone");
    let parent = edit.instruction(old).parent;
    let new = edit.copy_instruction(old, parent, kept);
    edit.keep_elements(new, &(0..last).collect::<Vec<_>>());
    for (element, index) in elements {
        if index == last {
            edit.remove_instruction(element);
        } else if last == 1 {
            edit.replace_with(element, new, ReplaceOptions::default())?;
        } else {
            edit.set_operand(element, 0, new);
        }
    }
    let options = ReplaceOptions { allow_other_shape: true, ..ReplaceOptions::default() };
    edit.replace_with(old, new, options)?;
    Ok(())
}
