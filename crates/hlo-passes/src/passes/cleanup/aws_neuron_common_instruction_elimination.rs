//! `aws_neuron_common_instruction_elimination`: instructions are replaced by earlier identical ones of the same
//! computation.
//!
//! All computations but the bodies of fusions are visited, operands first, so that users of merged instructions merge
//! in the same run.
//!
//! ```text
//! x  = f32[2] exponential(a)                   x  = f32[2] exponential(a)
//! y  = f32[2] exponential(a)              =>   nx = f32[2] negate(x)
//! nx = f32[2] negate(x)                        s  = f32[2] add(nx, nx)
//! ny = f32[2] negate(y)
//! s  = f32[2] add(nx, ny)
//! ```
//!
//! 1. Identical: same opcode, same operands in the same order, same shape with layout, same attributes (called
//!    computations count by what they compute), same sharding. The first keeps its name; uses of the later ones move
//!    to it, the root included.
//! 2. Constants are identical when their bits are: 0 and -0 differ, equal NaNs don't.
//! 3. Metadata, original values and frontend attributes don't count, but the one that holds a Shardy sharding does.
//!
//! Left alone:
//!
//! 4. parameters; constants whose values are left out (`{...}`); instructions without operands, but for constants,
//!    `iota`, `partition-id` and `replica-id`; copies, calls and the like that are started and awaited apart
//! 5. instructions with side effects, `rng`s among them (with a remark)
//! 6. collectives of all kinds (with a remark)
//! 7. instructions with control dependencies (with a remark), and what is identical to none but these
//! 8. constants of computations that have a `domain`: those of different domains must stay apart
//! 9. instructions that differ in nothing but the layout, or in nothing but the sharding (with a remark)
//!
//! The stock `cse` also merges instructions of different layouts, and those with operands the other way round.
//! Confidence: high.

use hlo_text::ir::{AttrKey, ComputationId, InstructionId, LiteralId, Opcode, ShapeId, Symbol};
use smallvec::SmallVec;

use crate::analysis::{CallGraph, is_collective};
use crate::edit::Editor;
use crate::hash::ModuleHash;
use crate::pass::{HAS_CONTROL_DEPENDENCIES, Pass, PassContext, PassResult};
use crate::passes::stock::cse::{NO_IDENTICAL, comparable, shardy_of};
use crate::structure::{StructuralHasher, hash_literal};
use crate::{Map, Set};

/// The pass.
pub(crate) struct CommonInstructionElimination;

impl Pass for CommonInstructionElimination {
    fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()> {
        let mut structure = StructuralHasher::default();
        structure.hash_computations(edit);
        let mut keys = Keys { structure, literals: Map::default() };
        // What is called comes first, so that it is compared as it is in the end.
        for computation in CallGraph::of(edit).post_order() {
            if !edit.is_fusion_computation(computation) {
                keys.merge(edit, computation, context)?;
                keys.structure.update(edit, computation);
            }
        }
        Ok(())
    }
}

/// Why instructions that have no key stay.
const NEVER_MERGED: &str = "it is of a kind that is never merged: parameters, elided constants, constants beside a \
                            `domain`, others without operands, what is started and awaited apart";

/// What makes instructions identical, shape and shardings aside.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    opcode: Opcode,
    operands: SmallVec<[InstructionId; 4]>,
    attributes: SmallVec<[(AttrKey, [u64; 2]); 2]>,
    literal: Option<ModuleHash>,
}

/// What may make instructions of the same key differ.
#[derive(Clone, Copy, PartialEq)]
struct Rest {
    shape: ShapeId,
    sharding: Option<hlo_text::ir::AttrValue>,
    shardy: Option<Symbol>,
}

/// The first instruction with each of some shardings.
type Known = SmallVec<[(Rest, InstructionId); 1]>;

struct Keys {
    /// Of the computations as they are.
    structure: StructuralHasher,
    literals: Map<LiteralId, ModuleHash>,
}

impl Keys {
    fn merge(
        &mut self,
        edit: &mut Editor<'_>,
        computation: ComputationId,
        context: &mut PassContext<'_>,
    ) -> PassResult<()> {
        let has_domains =
            edit.live_instructions(computation).any(|id| edit.instruction(id).opcode == Opcode::Domain);
        // Instructions of one key mostly agree in the rest, too; many of one key with many shapes are found by the
        // second map.
        let mut seen: Map<Key, (u32, ShapeId)> = Map::default();
        let mut first: Map<(u32, ShapeId), Known> = Map::default();
        // Of which operands have been replaced.
        let mut fusions = Set::default();
        for id in edit.post_order(computation) {
            if edit.is_removed(id) {
                continue;
            }
            // Operands are what they are to be by now. Done once, however many of them were replaced.
            if fusions.remove(&id)
                && edit.merge_equal_fusion_operands(id)?
                && let Some(body) = edit.called(id, AttrKey::Calls)
            {
                self.structure.update_with_called(edit, body);
            }
            let Some(key) = self.key(edit, id, has_domains) else {
                context.missed_if_asked(edit, id, NEVER_MERGED);
                continue;
            };
            let rest = rest(edit, id);
            let next = seen.len() as u32;
            let (number, first_shape) = *seen.entry(key).or_insert((next, rest.shape));
            let known = first.entry((number, rest.shape)).or_default();
            let Some(&(_, earlier)) = known.iter().find(|(other, _)| *other == rest) else {
                if !known.is_empty() {
                    context.missed(edit, id, "an identical instruction has another sharding");
                } else if first_shape != rest.shape && edit.shapes().compatible(first_shape, rest.shape) {
                    context.missed(edit, id, "an identical instruction has another layout");
                } else {
                    context.missed_if_asked(edit, id, NO_IDENTICAL);
                }
                // What others would be replaced by must not wait, nor be waited for, by more than its operands and users.
                // Few shardings of one value are enough to remember.
                if known.len() < MAX_SHARDINGS && !edit.has_control_dependencies(id) {
                    known.push((rest, id));
                }
                continue;
            };
            if let Some(why) = why_not(edit, id) {
                context.missed(edit, id, why);
                continue;
            }
            if !context.may_rewrite(edit, id) {
                continue;
            }
            context.applied(edit, id, format_args!("replaced by the identical `{}`", edit.name_of(earlier)));
            edit.replace_all_uses_unmerged(id, earlier, &mut fusions);
            edit.remove_with_dead_operands(id);
        }
        Ok(())
    }

    /// `None` for instructions that are never merged.
    fn key(&mut self, edit: &Editor<'_>, id: InstructionId, has_domains: bool) -> Option<Key> {
        let instruction = edit.instruction(id);
        let opcode = instruction.opcode;
        let literal = match (opcode, instruction.literal) {
            (Opcode::Domain, _) => return None,
            // Replaced one by one, halves of a pair could leave a first one with two users.
            _ if opcode.begins_pair() => return None,
            (Opcode::Iota | Opcode::PartitionId | Opcode::ReplicaId, _) => None,
            (Opcode::Constant, Some(literal)) => {
                if has_domains || edit.literal(literal).has_elided() {
                    return None;
                }
                Some(*self.literals.entry(literal).or_insert_with(|| hash_literal(edit, literal)))
            }
            _ if edit.operands(id).is_empty() => return None,
            _ => None,
        };
        let mut attributes = SmallVec::new();
        for attr in edit.attributes(id) {
            let ignored =
                [AttrKey::Sharding, AttrKey::FrontendAttributes, AttrKey::Origin, AttrKey::Statistics];
            if !ignored.contains(&attr.key) {
                attributes.push((attr.key, comparable(edit, &self.structure, attr.value)));
            }
        }
        Some(Key { opcode, operands: SmallVec::from_slice(edit.operands(id)), attributes, literal })
    }
}

/// How many different shardings of otherwise identical instructions are kept apart; more stay as they are.
const MAX_SHARDINGS: usize = 16;

fn rest(edit: &Editor<'_>, id: InstructionId) -> Rest {
    let shape = edit.instruction(id).shape;
    Rest { shape, sharding: edit.attribute(id, AttrKey::Sharding), shardy: shardy_of(edit, id) }
}

/// Why an instruction with an identical one stays.
fn why_not(edit: &Editor<'_>, id: InstructionId) -> Option<&'static str> {
    if is_collective(edit.instruction(id).opcode) {
        Some("it is a collective, though identical to an earlier one")
    } else if edit.has_side_effect(id) {
        Some("it has a side effect, though identical to an earlier one")
    } else if edit.has_control_dependencies(id) {
        Some(HAS_CONTROL_DEPENDENCIES)
    } else {
        None
    }
}
