//! How often loops run.

use hlo_text::ir::words::ComparisonDirection;
use hlo_text::ir::{AttrKey, AttrValue, ComputationId, ElementClass, ElementType, InstructionId, Opcode};

use super::{CallGraph, mirrored};
use crate::edit::{Editor, integer};

/// How often a `while` runs its body: what its `backend_config` says (`{"known_trip_count":{"n":"10"}}`), or what
/// follows from a counter that starts at a constant, is compared with a constant and changes by a constant. `None`: not
/// known, perhaps without end.
pub fn trip_count(edit: &Editor<'_>, id: InstructionId) -> Option<u128> {
    annotated_count(edit.string(id, AttrKey::BackendConfig).unwrap_or_default())
        .or_else(|| Counter::of(edit, id)?.count())
}

/// The number in `"known_trip_count":{"n":"10"}`, wherever that stands.
fn annotated_count(config: &[u8]) -> Option<u128> {
    if config.is_empty() {
        return None;
    }
    let text: String =
        config.iter().filter(|byte| !byte.is_ascii_whitespace()).map(|&b| char::from(b)).collect();
    let (_, rest) = text.split_once("\"known_trip_count\":{\"n\":\"")?;
    let (digits, _) = rest.split_once('"')?;
    digits.parse().ok()
}

/// The counter of a loop.
struct Counter {
    start: i128,
    step: i128,
    limit: i128,
    /// The loop goes on while the counter relates to the limit in this way.
    direction: ComparisonDirection,
    element_type: ElementType,
}

impl Counter {
    fn of(edit: &Editor<'_>, id: InstructionId) -> Option<Self> {
        if edit.instruction(id).opcode != Opcode::While {
            return None;
        }
        let condition = edit.called(id, AttrKey::Condition)?;
        let body = edit.called(id, AttrKey::Body)?;
        let test = edit.computation(condition).root;
        let &[lhs, rhs] = edit.operands(test) else { return None };
        let Some(AttrValue::Word(word)) = edit.attribute(test, AttrKey::Direction) else { return None };
        let direction = ComparisonDirection::from_word(word)?;
        if edit.instruction(test).opcode != Opcode::Compare {
            return None;
        }
        // The part of the state that counts; `None`: all of it.
        let (part, limit, direction) = match (constant(edit, lhs), constant(edit, rhs)) {
            (None, Some(limit)) => (state_part(edit, condition, lhs)?, limit, direction),
            (Some(limit), None) => (state_part(edit, condition, rhs)?, limit, mirrored(direction)),
            _ => return None,
        };
        let of_tuple = |tuple: InstructionId| match part {
            None => Some(tuple),
            Some(index) if edit.instruction(tuple).opcode == Opcode::Tuple => {
                edit.operands(tuple).get(index).copied()
            }
            Some(_) => None,
        };
        let next = of_tuple(edit.computation(body).root)?;
        let start = constant(edit, of_tuple(*edit.operands(id).first()?)?)?;
        let &[lhs, rhs] = edit.operands(next) else { return None };
        let is_counter = |id| state_part(edit, body, id) == Some(part);
        let step = match edit.instruction(next).opcode {
            Opcode::Add if is_counter(lhs) => constant(edit, rhs)?,
            Opcode::Add if is_counter(rhs) => constant(edit, lhs)?,
            Opcode::Subtract if is_counter(lhs) => -constant(edit, rhs)?,
            _ => return None,
        };
        let element_type = edit.element_type(next)?;
        Some(Self { start, step, limit, direction, element_type })
    }

    fn count(&self) -> Option<u128> {
        use ComparisonDirection as D;
        let Self { start, step, limit, .. } = *self;
        let runs = match self.direction {
            D::Lt => start < limit,
            D::Le => start <= limit,
            D::Gt => start > limit,
            D::Ge => start >= limit,
            D::Eq => start == limit,
            D::Ne => start != limit,
        };
        if !runs {
            return Some(0);
        }
        if step == 0 {
            return None;
        }
        // How far the counter has to go, in the direction in which it goes.
        let distance = if step > 0 { limit - start } else { start - limit };
        let size = step.abs();
        let count = match self.direction {
            D::Lt if step > 0 => distance.div_euclid(size) + i128::from(distance % size != 0),
            D::Gt if step < 0 => distance.div_euclid(size) + i128::from(distance % size != 0),
            D::Le if step > 0 => distance / size + 1,
            D::Ge if step < 0 => distance / size + 1,
            D::Ne if distance > 0 && distance % size == 0 => distance / size,
            D::Eq => 1,
            _ => return None,
        };
        // A counter that overflows may go on.
        let last = start + count * step;
        let bits = self.element_type.bits();
        let range = match self.element_type.class() {
            ElementClass::Signed => -(1i128 << (bits - 1))..(1i128 << (bits - 1)),
            ElementClass::Unsigned => 0..(1i128 << bits),
            _ => return None,
        };
        range.contains(&last).then(|| count.unsigned_abs())
    }
}

fn constant(edit: &Editor<'_>, id: InstructionId) -> Option<i128> {
    integer(edit.uniform_constant(id)?, 0)
}

/// Which part of its only parameter an instruction of a computation is: an element or, `None`, all of it.
fn state_part(edit: &Editor<'_>, computation: ComputationId, id: InstructionId) -> Option<Option<usize>> {
    let &[state] = edit.computation(computation).parameters.as_slice() else { return None };
    if id == state {
        return Some(None);
    }
    if edit.instruction(id).opcode != Opcode::GetTupleElement || edit.operands(id).first() != Some(&state) {
        return None;
    }
    usize::try_from(edit.int(id, AttrKey::Index)?).ok().map(Some)
}

/// Which computations contain loops that may not end.
pub struct UnknownLoops(Vec<bool>);

impl UnknownLoops {
    /// Looks through a module.
    pub fn of(edit: &Editor<'_>, graph: &CallGraph) -> Self {
        let mut found = vec![false; edit.computation_id_limit()];
        for computation in graph.post_order() {
            let own = edit
                .live_instructions(computation)
                .any(|id| edit.instruction(id).opcode == Opcode::While && trip_count(edit, id).is_none());
            let called = graph.callees(computation).iter().any(|callee| found[callee.index()]);
            found[computation.index()] = own || called;
        }
        Self(found)
    }

    /// Whether a computation of that time, or one that it calls, has such a loop.
    pub fn are_in(&self, computation: ComputationId) -> bool {
        self.0.get(computation.index()).copied().unwrap_or(true)
    }
}
