//! Hashes of modules: an exact one, which tells whether anything that prints has changed.

use std::hash::{Hash, Hasher};

use hlo_text::Module;
use hlo_text::ir::{AttrValue, ComputationId, InstructionId, LiteralId, Value};

use crate::analysis::PostOrder;

/// A 128-bit hash: two runs of a 64-bit hasher with different seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleHash(pub [u64; 2]);

impl std::fmt::Display for ModuleHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [high, low] = self.0;
        write!(f, "{high:016x}{low:016x}")
    }
}

/// Feeds two hashers at once.
pub(crate) struct Twin(pub(crate) [foldhash::fast::FoldHasher<'static>; 2]);

impl Twin {
    pub(crate) fn new() -> Self {
        use std::hash::BuildHasher;
        let seeds = [0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f];
        Self(seeds.map(|seed| foldhash::fast::FixedState::with_seed(seed).build_hasher()))
    }
}

impl Twin {
    pub(crate) fn result(&self) -> ModuleHash {
        ModuleHash([self.0[0].finish(), self.0[1].finish()])
    }
}

impl Hasher for Twin {
    fn finish(&self) -> u64 {
        self.0[0].finish()
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.iter_mut().for_each(|hasher| hasher.write(bytes));
    }

    fn write_u32(&mut self, number: u32) {
        self.0.iter_mut().for_each(|hasher| hasher.write_u32(number));
    }

    fn write_u64(&mut self, number: u64) {
        self.0.iter_mut().for_each(|hasher| hasher.write_u64(number));
    }
}

/// Hashes literals, each once.
#[derive(Default)]
pub struct ExactHasher {
    literals: Vec<Option<u64>>,
    order: PostOrder,
}

impl ExactHasher {
    /// A hash of everything about `module` that any print of today's syntax shows.
    ///
    /// Names, shapes and attribute values count by their ids in the module's pools, which never change what they stand
    /// for; so hashes are only comparable between states of the same module (or clones of it). Literals count by
    /// their values, instructions by their names.
    pub fn hash(&mut self, module: &Module) -> ModuleHash {
        let mut state = Twin::new();
        module.name.hash(&mut state);
        hash_header(module, &mut state);
        let mut instructions = Vec::new();
        for &id in module.computations() {
            let computation = module.computation(id);
            (id == module.entry()).hash(&mut state);
            computation.name.hash(&mut state);
            computation.execution_thread.hash(&mut state);
            module.instruction(computation.root).name.hash(&mut state);
            instructions.clear();
            if module.header.is_scheduled {
                instructions.extend(module.live_instructions(id));
            } else {
                self.order.append(module, id, &mut instructions);
            }
            instructions.len().hash(&mut state);
            for &instruction in &instructions {
                self.hash_instruction(module, instruction, &mut state);
            }
        }
        state.result()
    }

    fn hash_instruction(&mut self, module: &Module, id: InstructionId, state: &mut Twin) {
        let instruction = module.instruction(id);
        instruction.name.hash(state);
        instruction.shape.hash(state);
        instruction.opcode.hash(state);
        instruction.parameter_number.hash(state);
        instruction.metadata.filter(|&id| module.metadata(id).is_printed()).hash(state);
        let names = |ids: &[InstructionId], state: &mut Twin| {
            ids.len().hash(state);
            ids.iter().for_each(|&id| module.instruction(id).name.hash(state));
        };
        names(module.operands(id), state);
        names(module.control_predecessors(id), state);
        if let Some(literal) = instruction.literal {
            self.literal(module, literal).hash(state);
        }
        let attributes = module.attributes(id).iter().filter(|attr| attr.is_printed());
        attributes.clone().count().hash(state);
        for attr in attributes {
            attr.key.hash(state);
            let computation_name = |id: ComputationId| module.computation(id).name;
            match attr.value {
                AttrValue::Bool(value) => value.hash(state),
                AttrValue::Int(value) => value.hash(state),
                AttrValue::Float(value) => value.to_bits().hash(state),
                AttrValue::Word(value) => value.hash(state),
                AttrValue::String(value) | AttrValue::Raw(value) => value.hash(state),
                AttrValue::Computation(value) => computation_name(value).hash(state),
                AttrValue::Shape(value) => value.hash(state),
                AttrValue::Literal(value) => self.literal(module, value).hash(state),
                AttrValue::Value(value) => match module.value(value) {
                    Value::Computations(called) => {
                        called.iter().for_each(|&id| computation_name(id).hash(state))
                    }
                    _ => value.hash(state),
                },
            }
        }
    }

    fn literal(&mut self, module: &Module, id: LiteralId) -> u64 {
        if self.literals.len() <= id.index() {
            self.literals.resize(id.index() + 1, None);
        }
        *self.literals[id.index()].get_or_insert_with(|| {
            let mut state = Twin::new();
            module.literal(id).hash(&mut state);
            state.finish()
        })
    }
}

/// A hash of everything about `module` that any print shows, see [`ExactHasher::hash`].
pub fn exact_hash(module: &Module) -> ModuleHash {
    ExactHasher::default().hash(module)
}

fn hash_header(module: &Module, state: &mut Twin) {
    let header = &module.header;
    header.is_scheduled.hash(state);
    header.input_output_alias.hash(state);
    header.buffer_donors.hash(state);
    header.alias_passthrough_params.hash(state);
    match &header.entry_computation_layout {
        Some(layout) => layout.hash(state),
        None => {
            // What it stands for, so that writing it down changes nothing.
            let entry = module.computation(module.entry());
            let shapes = entry.parameters.iter().map(|&id| module.instruction(id).shape);
            shapes.collect::<Vec<_>>().hash(state);
            module.instruction(entry.root).shape.hash(state);
        }
    }
    header.allow_spmd_sharding_propagation_to_parameters.hash(state);
    header.allow_spmd_sharding_propagation_to_output.hash(state);
    header.replica_count.hash(state);
    header.num_partitions.hash(state);
    header.frontend_attributes.hash(state);
    header.unknown.hash(state);
    header.origin_recovery_table.len().hash(state);
    for entry in &header.origin_recovery_table {
        entry.old.hash(state);
        entry.new.hash(state);
        entry.module.as_ref().map(|module| exact_hash(module).0).hash(state);
    }
    let frames = &header.stack_frames;
    frames.file_names.hash(state);
    frames.function_names.hash(state);
    frames.file_locations.hash(state);
    frames.stack_frames.hash(state);
}
