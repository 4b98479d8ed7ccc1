//! `cse`: instructions are replaced by earlier identical ones of the same computation.
//!
//! As in XLA's pass layouts and dynamic dimensions don't count, nor do metadata, frontend attributes and original values;
//! shardings count where both instructions have one, those of Shardy always, for constants and `iota`s neither. Constants
//! are combined within the parts of a computation that no `domain` leads out of, and `after-all` and `add-dependency` never.
//!
//! Unlike XLA's, this pass takes 0 and -0 for different constants, combines what is started and awaited apart as a whole,
//! leaves constants with control dependencies, and keeps the operands of an `all-to-all` in one layout.

use hlo_text::ir::{
    AttrKey, AttrValue, ComputationId, InstructionId, LiteralId, Opcode, Shape, ShapeId, Symbol, Value,
    ValueId,
};
use smallvec::SmallVec;

use super::tuple_simplifier::tuple_element;
use crate::analysis::CallGraph;
use crate::edit::Editor;
use crate::hash::ModuleHash;
use crate::pass::{HAS_CONTROL_DEPENDENCIES, Pass, PassContext, PassResult};
use crate::structure::{StructuralHasher, hash_literal};
use crate::{Map, Set};

/// Why instructions without operands stay.
const NO_OPERANDS: &str = "it has no operands: of such instructions only constants, `partition-id`, `replica-id` and \
                           several `iota` of one user are combined";

/// Why what begins a pair stays.
const BEGINS_PAIR: &str = "it begins a pair, which is combined as a whole where it ends";

/// Why instructions that could be combined stay.
pub(crate) const NO_IDENTICAL: &str = "no earlier instruction of its computation is identical to it";

/// The pass, as XLA has it when layouts don't count.
pub(crate) struct Cse;

impl Pass for Cse {
    fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()> {
        let mut structure = StructuralHasher::of_results();
        structure.hash_computations(edit);
        let mut eliminator = Eliminator {
            structure,
            shapes: Map::default(),
            literals: Map::default(),
            iotas: Map::default(),
            first_iotas: Map::default(),
            fusions: Set::default(),
        };
        // What is called comes first, so that it is compared as it is in the end.
        for computation in CallGraph::of(edit).post_order() {
            eliminator.iotas.clear();
            eliminator.first_iotas.clear();
            eliminator.combine_constants(edit, computation, context)?;
            take_first_results(edit, computation, context);
            eliminator.combine_instructions(edit, computation, context)?;
            eliminator.structure.update(edit, computation);
        }
        Ok(())
    }
}

struct Eliminator {
    /// Of the computations as they are.
    structure: StructuralHasher,
    /// Shapes without layouts.
    shapes: Map<ShapeId, ShapeId>,
    literals: Map<LiteralId, ModuleHash>,
    /// Each `iota` of the computation that has been seen, with the first identical one, and these by what they are.
    iotas: Map<InstructionId, InstructionId>,
    first_iotas: Map<Key, InstructionId>,
    /// Fusions of which operands have been replaced.
    fusions: Set<InstructionId>,
}

/// What identical instructions have in common, shardings aside.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    opcode: Opcode,
    shape: ShapeId,
    /// What it is the second half of, the last one first.
    halves: SmallVec<[(Opcode, ShapeId); 1]>,
    /// Those of the first half if there is one. Of identical `iota`s the first stands for all.
    operands: SmallVec<[InstructionId; 4]>,
    attributes: SmallVec<[(AttrKey, [u64; 2]); 2]>,
}

/// The sharding in Shardy's form.
pub(crate) fn shardy_of(edit: &Editor<'_>, id: InstructionId) -> Option<Symbol> {
    edit.shardy_sharding(id).map(|(_, sharding)| sharding)
}

fn sharding_of(edit: &Editor<'_>, id: InstructionId) -> Option<ValueId> {
    match edit.attribute(id, AttrKey::Sharding) {
        Some(AttrValue::Value(sharding)) => Some(sharding),
        _ => None,
    }
}

/// An instruction that stays, after its number among those of its key.
type Kept = (usize, InstructionId);

/// The instructions of one key that stay. A sharding may be there on one side only.
#[derive(Default)]
struct Known {
    count: usize,
    first: Option<Kept>,
    without_sharding: Option<Kept>,
    by_sharding: Map<ValueId, Kept>,
}

impl Known {
    /// The first instruction that has the same sharding or none, or any one for an instruction without.
    fn find(&self, sharding: Option<ValueId>) -> Option<InstructionId> {
        let Some(sharding) = sharding else { return self.first.map(|(_, id)| id) };
        let same = self.by_sharding.get(&sharding).copied();
        same.into_iter().chain(self.without_sharding).min().map(|(_, id)| id)
    }

    fn add(&mut self, sharding: Option<ValueId>, id: InstructionId) {
        let kept = (self.count, id);
        self.count += 1;
        self.first.get_or_insert(kept);
        match sharding {
            Some(sharding) => {
                self.by_sharding.insert(sharding, kept);
            }
            None => self.without_sharding = Some(kept),
        }
    }
}

/// The parts of a computation that no `domain` leads out of. Constants of different ones stay apart.
struct Domains {
    /// By instruction, the number of the first of its part; empty if there are no domains.
    parts: Map<InstructionId, usize>,
}

impl Domains {
    fn of(edit: &Editor<'_>, instructions: &[InstructionId]) -> Self {
        let is_domain = |id: InstructionId| edit.instruction(id).opcode == Opcode::Domain;
        let mut parts = Map::default();
        if instructions.iter().any(|&id| is_domain(id)) {
            let mut open = Vec::new();
            for &first in instructions {
                open.push(first);
                while let Some(id) = open.pop() {
                    if !is_domain(id) && !parts.contains_key(&id) {
                        parts.insert(id, first.index());
                        open.extend(edit.operands(id).iter().chain(edit.users(id)));
                    }
                }
            }
        }
        Self { parts }
    }

    fn of_instruction(&self, id: InstructionId) -> usize {
        self.parts.get(&id).copied().unwrap_or_default()
    }
}

impl Eliminator {
    /// The shape without layouts.
    fn layout_free(&mut self, edit: &mut Editor<'_>, id: ShapeId) -> ShapeId {
        if let Some(&known) = self.shapes.get(&id) {
            return known;
        }
        let free = match edit.shape(id).clone() {
            Shape::Array(array) => {
                let dynamic = vec![false; array.rank()];
                edit.intern_shape(Shape::Array(hlo_text::ir::ArrayShape { layout: None, dynamic, ..array }))
            }
            Shape::Tuple(elements) => {
                let elements = elements.into_iter().map(|element| self.layout_free(edit, element)).collect();
                edit.intern_shape(Shape::Tuple(elements))
            }
            Shape::Buffer(element) => {
                let element = self.layout_free(edit, element);
                edit.intern_shape(Shape::Buffer(element))
            }
            Shape::Token | Shape::Opaque => id,
        };
        self.shapes.insert(id, free);
        free
    }

    fn literal(&mut self, edit: &Editor<'_>, id: LiteralId) -> ModuleHash {
        *self.literals.entry(id).or_insert_with(|| hash_literal(edit, id))
    }

    /// Leaves one of the constants of equal type and value.
    fn combine_constants(
        &mut self,
        edit: &mut Editor<'_>,
        computation: ComputationId,
        context: &mut PassContext<'_>,
    ) -> PassResult<()> {
        let instructions: Vec<InstructionId> = edit.live_instructions(computation).collect();
        let domains = Domains::of(edit, &instructions);
        let mut seen: Map<(ShapeId, ModuleHash, usize), InstructionId> = Map::default();
        for id in instructions {
            let instruction = edit.instruction(id);
            let Some(literal) = instruction.literal.filter(|_| instruction.opcode == Opcode::Constant) else {
                continue;
            };
            if edit.literal(literal).has_elided() {
                context.missed_if_asked(edit, id, "its value is left out");
                continue;
            }
            let shape = instruction.shape;
            let key =
                (self.layout_free(edit, shape), self.literal(edit, literal), domains.of_instruction(id));
            let first = *seen.entry(key).or_insert(id);
            if first == id {
                context.missed_if_asked(edit, id, NO_IDENTICAL);
            } else if edit.has_control_dependencies(id) {
                context.missed_if_asked(edit, id, HAS_CONTROL_DEPENDENCIES);
            } else {
                replace_by(edit, id, first, &mut self.fusions, context)?;
            }
        }
        Ok(())
    }

    /// Leaves one of identical instructions with operands, and of `partition-id` and `replica-id`.
    fn combine_instructions(
        &mut self,
        edit: &mut Editor<'_>,
        computation: ComputationId,
        context: &mut PassContext<'_>,
    ) -> PassResult<()> {
        let mut seen: Map<(Key, Option<Symbol>), Known> = Map::default();
        for id in edit.post_order(computation) {
            if edit.is_removed(id) {
                continue;
            }
            let opcode = edit.instruction(id).opcode;
            // Operands are what they are to be by now. Done once, however many of them were replaced.
            if self.fusions.remove(&id)
                && edit.merge_equal_fusion_operands(id)?
                && let Some(body) = edit.called(id, AttrKey::Calls)
            {
                self.structure.update_with_called(edit, body);
            }
            let is_id = matches!(opcode, Opcode::PartitionId | Opcode::ReplicaId);
            if edit.operands(id).is_empty() && !is_id {
                if opcode != Opcode::Constant {
                    context.missed_if_asked(edit, id, NO_OPERANDS);
                }
                continue;
            }
            if opcode.begins_pair() {
                context.missed_if_asked(edit, id, BEGINS_PAIR);
                continue;
            }
            if edit.has_side_effect(id) || first_halves(edit, id).any(|half| edit.has_side_effect(half)) {
                context.missed_if_asked(edit, id, "it has a side effect");
                continue;
            }
            if edit.has_control_dependencies(id) || !edit.is_safely_removable(id) {
                context.missed_if_asked(edit, id, HAS_CONTROL_DEPENDENCIES);
                continue;
            }
            if matches!(opcode, Opcode::AfterAll | Opcode::AddDependency) {
                context.missed_if_asked(edit, id, "tokens are not combined");
                continue;
            }
            let key = (self.key(edit, id), shardy_of(edit, id));
            let known = seen.entry(key).or_default();
            if !replace_by_known(edit, id, known, &mut self.fusions, context)? {
                self.combine_iota_operands(edit, id, context);
            }
        }
        Ok(())
    }

    /// Makes operands of one instruction that are the same `iota` one.
    fn combine_iota_operands(
        &mut self,
        edit: &mut Editor<'_>,
        user: InstructionId,
        context: &mut PassContext<'_>,
    ) {
        let mut first_operands: Map<InstructionId, InstructionId> = Map::default();
        for index in 0..edit.operands(user).len() {
            let operand = edit.operands(user)[index];
            if edit.instruction(operand).opcode != Opcode::Iota {
                continue;
            }
            let identical = self.first_iota(edit, operand);
            let first = *first_operands.entry(identical).or_insert(operand);
            if first != operand && context.may_rewrite(edit, operand) {
                context.applied(edit, operand, format_args!("replaced by `{}`", edit.name_of(first)));
                edit.set_operand(user, index, first);
                if edit.is_dead(operand) && !edit.has_control_dependencies(operand) {
                    edit.remove_instruction(operand);
                }
            }
        }
    }

    /// The first `iota` of the computation that is identical to this one; shardings don't count.
    fn first_iota(&mut self, edit: &mut Editor<'_>, iota: InstructionId) -> InstructionId {
        if let Some(&first) = self.iotas.get(&iota) {
            return first;
        }
        let key = self.key(edit, iota);
        let first = *self.first_iotas.entry(key).or_insert(iota);
        self.iotas.insert(iota, first);
        first
    }

    fn key(&mut self, edit: &mut Editor<'_>, id: InstructionId) -> Key {
        let instruction = edit.instruction(id);
        let (opcode, shape) = (instruction.opcode, instruction.shape);
        let mut operands: SmallVec<[InstructionId; 4]> = SmallVec::from_slice(edit.operands(id));
        for operand in &mut operands {
            if edit.instruction(*operand).opcode == Opcode::Iota {
                *operand = self.first_iota(edit, *operand);
            }
        }
        if is_commutative(opcode) {
            operands.sort_unstable();
        }
        let mut attributes = SmallVec::new();
        // Halves that are replaced one by one may leave one with two users; they are one instruction here.
        let mut halves = SmallVec::new();
        let mut first = id;
        for half in first_halves(edit, id) {
            halves.push((edit.instruction(half).opcode, edit.instruction(half).shape));
            let kept = edit.attributes(half).iter().filter(|attr| attr.key != AttrKey::Origin);
            attributes.extend(kept.map(|attr| (attr.key, comparable(edit, &self.structure, attr.value))));
            first = half;
        }
        for (_, shape) in &mut halves {
            *shape = self.layout_free(edit, *shape);
        }
        if first != id {
            let own = operands.into_iter().skip(1);
            operands = edit.operands(first).iter().copied().chain(own).collect();
        }
        for attr in edit.attributes(id) {
            // Compared apart, or not part of what the instruction does.
            if matches!(
                attr.key,
                AttrKey::Sharding | AttrKey::FrontendAttributes | AttrKey::Origin | AttrKey::Statistics
            ) {
                continue;
            }
            let value = comparable(edit, &self.structure, attr.value);
            attributes.push((attr.key, value));
        }
        let shape = self.layout_free(edit, shape);
        Key { opcode, shape, halves, operands, attributes }
    }
}

/// What the instruction is the second half of: the updates and the start in front of it.
fn first_halves(edit: &Editor<'_>, id: InstructionId) -> impl Iterator<Item = InstructionId> {
    let before = |&id: &InstructionId| {
        edit.operands(id).first().copied().filter(|&half| edit.instruction(half).opcode.begins_pair())
    };
    std::iter::successors(before(&id), before)
}

/// A number that is the same for equal attribute values of a module, and, but for clashes of hashes, for no others.
/// Called computations are equal when they compute the same.
pub(crate) fn comparable(edit: &Editor<'_>, structure: &StructuralHasher, value: AttrValue) -> [u64; 2] {
    match value {
        AttrValue::Bool(value) => [u64::from(value), 0],
        AttrValue::Int(value) => [value as u64, 0],
        AttrValue::Float(value) => [u64::from(value.to_bits()), 0],
        AttrValue::Word(value) => [u64::from(value), 0],
        AttrValue::String(value) | AttrValue::Raw(value) => [value.index() as u64, 0],
        AttrValue::Shape(value) => [value.index() as u64, 0],
        AttrValue::Computation(value) => structure.computation(value).0,
        AttrValue::Literal(value) => hash_literal(edit, value).0,
        AttrValue::Value(value) => comparable_value(edit, structure, value),
    }
}

/// Values of a module are equal when their ids are, but called computations may be equal under other names.
fn comparable_value(edit: &Editor<'_>, structure: &StructuralHasher, id: ValueId) -> [u64; 2] {
    let Value::Computations(called) = edit.value(id) else { return [id.index() as u64, 1] };
    called.iter().fold([called.len() as u64, 2], |[a, b], &callee| {
        let [x, y] = structure.computation(callee).0;
        [a.rotate_left(5).wrapping_mul(31).wrapping_add(x), b.rotate_left(7).wrapping_mul(37).wrapping_add(y)]
    })
}

/// For each result of a fusion the first that is the same in its body; `None` if all differ or it has no several.
fn first_equal_results(edit: &Editor<'_>, fusion: InstructionId) -> Option<Vec<usize>> {
    if edit.instruction(fusion).opcode != Opcode::Fusion {
        return None;
    }
    let root = edit.computation(edit.called(fusion, AttrKey::Calls)?).root;
    if edit.instruction(root).opcode != Opcode::Tuple {
        return None;
    }
    let mut seen: Map<InstructionId, usize> = Map::default();
    let results = edit.operands(root).iter().enumerate();
    let first: Vec<usize> = results.map(|(index, &result)| *seen.entry(result).or_insert(index)).collect();
    (seen.len() < first.len()).then_some(first)
}

/// Has the first of equal results of a fusion taken wherever one of them is.
fn take_first_results(edit: &mut Editor<'_>, computation: ComputationId, context: &mut PassContext<'_>) {
    let mut fusions: Map<InstructionId, Option<Vec<usize>>> = Map::default();
    for id in edit.live_instructions(computation).collect::<Vec<_>>() {
        let Some((fusion, index)) = tuple_element(edit, id) else { continue };
        let results = fusions.entry(fusion).or_insert_with(|| first_equal_results(edit, fusion));
        let Some(&first) = results.as_ref().and_then(|results| results.get(index)) else { continue };
        if first != index && context.may_rewrite(edit, id) {
            context.applied(edit, id, format_args!("result {first} of the fusion is the same"));
            edit.set_attribute(id, AttrKey::Index, Some(AttrValue::Int(first as i64)));
        }
    }
}

/// Whether XLA takes the two operands as interchangeable; comparisons for equality don't count.
fn is_commutative(opcode: Opcode) -> bool {
    use Opcode as O;
    matches!(opcode, O::Add | O::Multiply | O::Mulhi | O::Maximum | O::Minimum | O::And | O::Or | O::Xor)
}

/// Replaces `id` by the first of `known` whose shardings agree with its own, or else adds it to them.
fn replace_by_known(
    edit: &mut Editor<'_>,
    id: InstructionId,
    known: &mut Known,
    fusions: &mut Set<InstructionId>,
    context: &mut PassContext<'_>,
) -> PassResult<bool> {
    let sharding = sharding_of(edit, id);
    let Some(earlier) = known.find(sharding) else {
        if known.count == 0 {
            context.missed_if_asked(edit, id, NO_IDENTICAL);
        } else {
            context.missed(edit, id, "an identical instruction has another sharding");
        }
        known.add(sharding, id);
        return Ok(false);
    };
    replace_by(edit, id, earlier, fusions, context)
}

/// Replaces `id` by `earlier` where that may be, and says whether it did.
fn replace_by(
    edit: &mut Editor<'_>,
    id: InstructionId,
    earlier: InstructionId,
    fusions: &mut Set<InstructionId>,
    context: &mut PassContext<'_>,
) -> PassResult<bool> {
    // The only one that wants operands of the same layout. XLA doesn't ask.
    let compares_operands = |&user: &InstructionId| {
        edit.instruction(user).opcode == Opcode::AllToAll && edit.operands(user).len() > 1
    };
    if edit.instruction(id).shape != edit.instruction(earlier).shape
        && edit.users(id).iter().any(compares_operands)
    {
        context.missed(edit, id, "an `all-to-all` compares its layout with that of other operands");
        return Ok(false);
    }
    if !context.may_rewrite(edit, id) {
        return Ok(false);
    }
    context.applied(edit, id, format_args!("replaced by the identical `{}`", edit.name_of(earlier)));
    edit.inherit_origin(id, earlier);
    edit.replace_all_uses_unmerged(id, earlier, fusions);
    edit.remove_with_dead_operands(id);
    Ok(true)
}
