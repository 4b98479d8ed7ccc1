//! What a module is beside names: a hash that is equal for modules that compute the same thing in the same way.

use std::hash::{Hash, Hasher};

use hlo_text::ir::{
    Attr, AttrKey, AttrValue, ComputationId, InstructionId, LiteralData, LiteralId, Opcode, ShapeId, Value,
    ValueId,
};
use hlo_text::{Module, PrintOptions};

use crate::Set;
use crate::analysis::{CallGraph, PostOrder};
use crate::hash::{ModuleHash, Twin};

/// Hashes modules and computations by structure: names, metadata, original values, statistics and the order of
/// independent instructions don't count; shapes, layouts, attributes, constants, control edges and how often
/// something is computed do. Computations nobody calls don't count.
///
/// Hashes of different modules are comparable.
pub struct StructuralHasher {
    instructions: Vec<ModuleHash>,
    computations: Vec<Option<ModuleHash>>,
    shapes: Vec<Option<ModuleHash>>,
    values: Vec<Option<ModuleHash>>,
    literals: Vec<Option<ModuleHash>>,
    order: PostOrder,
    options: PrintOptions,
    only_results: bool,
}

impl Default for StructuralHasher {
    fn default() -> Self {
        Self {
            instructions: Vec::new(),
            computations: Vec::new(),
            shapes: Vec::new(),
            values: Vec::new(),
            literals: Vec::new(),
            order: PostOrder::default(),
            options: PrintOptions { print_metadata: false, ..PrintOptions::default() },
            only_results: false,
        }
    }
}

/// The hash of a module, see [`StructuralHasher`].
pub fn structural_hash(module: &Module) -> ModuleHash {
    let mut hasher = StructuralHasher::default();
    hasher.hash_computations(module);
    let mut state = Twin::new();
    hasher.computation(module.entry()).hash(&mut state);
    let header = &module.header;
    header.is_scheduled.hash(&mut state);
    header.input_output_alias.hash(&mut state);
    header.buffer_donors.hash(&mut state);
    header.replica_count.hash(&mut state);
    header.num_partitions.hash(&mut state);
    let entry = module.computation(module.entry());
    let (parameters, result) = match &header.entry_computation_layout {
        Some(layout) => (layout.parameters.clone(), layout.result),
        None => {
            let shapes = entry.parameters.iter().map(|&id| module.instruction(id).shape);
            (shapes.collect(), module.instruction(entry.root).shape)
        }
    };
    for shape in parameters.into_iter().chain([result]) {
        hasher.shape(module, shape).hash(&mut state);
    }
    state.result()
}

/// Whether an attribute leaves what an instruction computes as it is.
fn is_no_part_of_results(opcode: Opcode, key: AttrKey) -> bool {
    opcode == Opcode::Parameter || matches!(key, AttrKey::Sharding | AttrKey::FrontendAttributes)
}

/// The place `index` of a table that grows.
fn slot(table: &mut Vec<Option<ModuleHash>>, index: usize) -> &mut Option<ModuleHash> {
    if table.len() <= index {
        table.resize(index + 1, None);
    }
    &mut table[index]
}

fn hash_of(value: impl Hash) -> ModuleHash {
    let mut state = Twin::new();
    value.hash(&mut state);
    state.result()
}

impl StructuralHasher {
    /// A hasher for which computations are equal that compute equal results, as XLA's `HloComputation::Equal` has it: what
    /// the root doesn't need, control edges, shardings and frontend attributes don't count, nor does what parameters have
    /// but their numbers and shapes.
    pub(crate) fn of_results() -> Self {
        Self { only_results: true, ..Self::default() }
    }

    /// Hashes all computations of a module, callees first.
    pub fn hash_computations(&mut self, module: &Module) {
        self.instructions.clear();
        self.instructions.resize(module.instruction_id_limit(), ModuleHash::default());
        self.computations.clear();
        self.computations.resize(module.computation_id_limit(), None);
        for id in CallGraph::of(module).post_order() {
            let hash = self.hash_computation(module, id);
            self.computations[id.index()] = Some(hash);
        }
    }

    /// Hashes a computation anew after it has changed; those it calls must be known as they are, and no instruction may be new.
    pub(crate) fn update(&mut self, module: &Module, id: ComputationId) {
        let hash = self.hash_computation(module, id);
        *slot(&mut self.computations, id.index()) = Some(hash);
    }

    /// The same with all that the computation calls, directly or not.
    pub(crate) fn update_with_called(&mut self, module: &Module, id: ComputationId) {
        let mut seen = Set::default();
        let mut open = vec![(id, false)];
        while let Some((next, are_called_known)) = open.pop() {
            if are_called_known {
                self.update(module, next);
            } else if seen.insert(next) {
                open.push((next, true));
                for instruction in module.live_instructions(next) {
                    module.for_each_called_computation(instruction, |called| open.push((called, false)));
                }
            }
        }
    }

    /// The hash of a computation that [`StructuralHasher::hash_computations`] has seen.
    pub fn computation(&self, id: ComputationId) -> ModuleHash {
        self.computations.get(id.index()).copied().flatten().unwrap_or_default()
    }

    /// The hash of an instruction that [`StructuralHasher::hash_computations`] has seen, with all it needs.
    pub fn instruction(&self, id: InstructionId) -> ModuleHash {
        self.instructions.get(id.index()).copied().unwrap_or_default()
    }

    fn hash_computation(&mut self, module: &Module, id: ComputationId) -> ModuleHash {
        let instructions = self.order.of(module, id);
        // The sum does not depend on the order of independent instructions, but on how many there are.
        let mut sum = [0u64; 2];
        for &instruction in &instructions {
            let hash = self.hash_instruction(module, instruction);
            self.instructions[instruction.index()] = hash;
            sum = [0, 1].map(|half: usize| sum[half].wrapping_add(hash.0[half]));
        }
        let computation = module.computation(id);
        let thread = computation.execution_thread.map(|thread| module.strings().get(thread));
        if self.only_results {
            return hash_of((self.instruction(computation.root), computation.parameters.len(), thread));
        }
        hash_of((self.instruction(computation.root), sum, instructions.len(), thread))
    }

    fn hash_instruction(&mut self, module: &Module, id: InstructionId) -> ModuleHash {
        let instruction = module.instruction(id);
        let mut state = Twin::new();
        instruction.opcode.hash(&mut state);
        instruction.parameter_number.hash(&mut state);
        self.shape(module, instruction.shape).hash(&mut state);
        let predecessors = if self.only_results { &[] } else { module.control_predecessors(id) };
        for ids in [module.operands(id), predecessors] {
            ids.len().hash(&mut state);
            ids.iter().for_each(|&id| self.instruction(id).hash(&mut state));
        }
        if let Some(literal) = instruction.literal {
            self.literal(module, literal).hash(&mut state);
        }
        for &attr in module.attributes(id) {
            if attr.is_printed()
                && !matches!(attr.key, AttrKey::Origin | AttrKey::Statistics)
                && !(self.only_results && is_no_part_of_results(instruction.opcode, attr.key))
            {
                attr.key.hash(&mut state);
                self.hash_attribute(module, attr, &mut state);
            }
        }
        state.result()
    }

    fn hash_attribute(&mut self, module: &Module, attr: Attr, state: &mut Twin) {
        match attr.value {
            AttrValue::Bool(value) => value.hash(state),
            AttrValue::Int(value) => value.hash(state),
            AttrValue::Float(value) => value.to_bits().hash(state),
            AttrValue::Word(value) => value.hash(state),
            AttrValue::String(value) | AttrValue::Raw(value) => module.strings().get(value).hash(state),
            AttrValue::Computation(value) => self.computation(value).hash(state),
            AttrValue::Shape(value) => self.shape(module, value).hash(state),
            AttrValue::Literal(value) => self.literal(module, value).hash(state),
            AttrValue::Value(value) => match module.value(value) {
                Value::Computations(called) => called.iter().for_each(|&id| self.computation(id).hash(state)),
                _ => self.value(module, value).hash(state),
            },
        }
    }

    fn shape(&mut self, module: &Module, id: ShapeId) -> ModuleHash {
        *slot(&mut self.shapes, id.index()).get_or_insert_with(|| hash_of(module.shape_text(id, true)))
    }

    fn value(&mut self, module: &Module, id: ValueId) -> ModuleHash {
        let options = &self.options;
        *slot(&mut self.values, id.index()).get_or_insert_with(|| hash_of(module.value_text(id, options)))
    }

    fn literal(&mut self, module: &Module, id: LiteralId) -> ModuleHash {
        *slot(&mut self.literals, id.index()).get_or_insert_with(|| hash_literal(module, id))
    }
}

/// A hash of a literal's values; how they lie in memory does not count, nor do shapes of empty tuples.
pub(crate) fn hash_literal(module: &Module, id: LiteralId) -> ModuleHash {
    let mut state = Twin::new();
    let mut pending = vec![module.literal(id)];
    while let Some(literal) = pending.pop() {
        match &literal.data {
            LiteralData::Dense(elements) => elements.hash(&mut state),
            LiteralData::Elided => state.write_u32(u32::MAX),
            LiteralData::Tuple(elements) => {
                elements.len().hash(&mut state);
                pending.extend(elements);
            }
        }
    }
    state.result()
}
