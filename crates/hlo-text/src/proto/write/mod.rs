//! From the IR to messages, the mirror of [`read`](super::read).

mod header;
mod instruction;
mod literal;
mod metadata;
mod shape;
mod sharding;
mod values;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::fault::{InField, Read};
use super::read::ProtoIds;
use super::schema::{hlo_computation_proto as c, hlo_module_proto as m};
use super::wire::Writer;
use crate::ir::{ComputationId, InstructionId, Literal, LiteralData, Module, Opcode, Symbol};

/// How far up an instruction's id has the id of its computation.
const COMPUTATION_SHIFT: u32 = 32;

/// About how many bytes an instruction has without its literal.
const INSTRUCTION_BYTES: usize = 160;

/// About how many bytes the values of a literal have.
fn literal_size(literal: &Literal) -> usize {
    match &literal.data {
        LiteralData::Dense(elements) => {
            elements.len().saturating_mul(elements.element_type().storage_bytes())
        }
        LiteralData::Tuple(elements) => elements.iter().map(literal_size).fold(0, usize::saturating_add),
        LiteralData::Elided => 0,
    }
}

/// The ids that everything gets.
pub(crate) struct AssignedIds {
    instructions: Vec<i64>,
    computations: Vec<i64>,
}

impl AssignedIds {
    /// The ids of `module`: what has one in `known` keeps it, everything else gets one as XLA gives it.
    ///
    /// XLA numbers computations, and instructions within each; the id of an instruction has that of its computation in
    /// the upper half. Older versions numbered all instructions of a module.
    pub(crate) fn new(module: &Module, known: Option<&ProtoIds>) -> Self {
        let empty = ProtoIds::default();
        let known = known.unwrap_or(&empty);
        let mut ids = Self {
            instructions: vec![0; module.instruction_id_limit()],
            computations: vec![0; module.computation_id_limit()],
        };
        let mut next_computation =
            known.computations.iter().copied().max().map_or(0, |max| max.wrapping_add(1));
        for &id in module.computations() {
            ids.computations[id.index()] = known.computations.get(id.index()).copied().unwrap_or_else(|| {
                next_computation = next_computation.wrapping_add(1);
                next_computation.wrapping_sub(1)
            });
        }
        let is_known = |id: InstructionId| known.has(module, id);
        let upper =
            |id: ComputationId, ids: &Self| ids.computations[id.index()].wrapping_shl(COMPUTATION_SHIFT);
        let mut is_flat = false;
        let mut highest = -1;
        for &computation in module.computations() {
            for id in module.live_instructions(computation).filter(|&id| is_known(id)) {
                let known = known.instructions[id.index()];
                ids.instructions[id.index()] = known;
                highest = highest.max(known);
                is_flat |= known >> COMPUTATION_SHIFT != ids.computations[computation.index()];
            }
        }
        for &computation in module.computations() {
            let base = upper(computation, &ids);
            let of_known = module.live_instructions(computation).filter(|&id| is_known(id));
            let mut next = match is_flat {
                true => highest.wrapping_add(1),
                false => of_known
                    .map(|id| ids.instructions[id.index()])
                    .max()
                    .map_or(base, |id| id.wrapping_add(1)),
            };
            let mut new: Vec<InstructionId> =
                module.live_instructions(computation).filter(|&id| !is_known(id)).collect();
            // In the order in which they came, which a schedule may have changed.
            if module.header.is_scheduled {
                new.sort_unstable();
            }
            for id in new {
                ids.instructions[id.index()] = next;
                next = next.wrapping_add(1);
            }
            if is_flat {
                highest = next.wrapping_sub(1);
            }
        }
        ids
    }

    pub(crate) fn instruction(&self, id: InstructionId) -> i64 {
        self.instructions.get(id.index()).copied().unwrap_or(0)
    }

    pub(crate) fn computation(&self, id: ComputationId) -> i64 {
        self.computations.get(id.index()).copied().unwrap_or(0)
    }
}

/// Writes the parts of one module.
pub(crate) struct Encoder<'m> {
    module: &'m Module,
    ids: &'m AssignedIds,
    fusion_bodies: hashbrown::HashSet<ComputationId, foldhash::fast::FixedState>,
    /// Whether literals of constants are left out.
    pub(crate) omit_literal: bool,
    /// Constants whose values were left out.
    pub(crate) elided: Vec<InstructionId>,
}

/// A computation and the order of its instructions in the message.
pub(crate) struct Listed {
    pub(crate) id: ComputationId,
    pub(crate) instructions: Vec<InstructionId>,
}

impl<'m> Encoder<'m> {
    pub(crate) fn new(module: &'m Module, ids: &'m AssignedIds) -> Self {
        let mut fusion_bodies = hashbrown::HashSet::default();
        for &computation in module.computations() {
            for id in module.live_instructions(computation) {
                if module.instruction(id).opcode == Opcode::Fusion {
                    module.for_each_called_computation(id, |callee| {
                        fusion_bodies.insert(callee);
                    });
                }
            }
        }
        Self { module, ids, fusion_bodies, omit_literal: false, elided: Vec::new() }
    }

    /// About how many bytes the message has, so that room is made once and large literals don't move as it grows.
    pub(crate) fn size_estimate(&self) -> usize {
        let (mut count, mut literals) = (0usize, 0usize);
        for &computation in self.module.computations() {
            for id in self.module.live_instructions(computation) {
                count += 1;
                if let Some(literal) = self.module.instruction(id).literal {
                    literals = literals.saturating_add(literal_size(self.module.literal(literal)));
                }
            }
        }
        literals.saturating_add(count.saturating_mul(INSTRUCTION_BYTES))
    }

    /// The computations and instructions in the order they are written: callees and operands first. Of the computations
    /// whose callees are all written the one with the lowest id comes next, as in XLA.
    pub(crate) fn order(&self) -> Vec<Listed> {
        let module = self.module;
        let limit = module.computation_id_limit();
        let (mut missing, mut callers) = (vec![0usize; limit], vec![Vec::new(); limit]);
        for &caller in module.computations() {
            for id in module.live_instructions(caller) {
                module.for_each_called_computation(id, |callee| {
                    missing[caller.index()] += 1;
                    callers[callee.index()].push(caller);
                });
            }
        }
        let entry = |id: ComputationId| Reverse((self.ids.computation(id), id));
        let ready = module.computations().iter().copied().filter(|id| missing[id.index()] == 0);
        let mut ready: BinaryHeap<_> = ready.map(entry).collect();
        let mut order = Vec::with_capacity(module.computations().len());
        while let Some(Reverse((_, id))) = ready.pop() {
            order.push(Listed { id, instructions: crate::printer::post_order(module, id) });
            for &caller in &callers[id.index()] {
                missing[caller.index()] -= 1;
                if missing[caller.index()] == 0 {
                    ready.push(entry(caller));
                }
            }
        }
        order
    }

    /// Appends the fields of the module, each computation and its instructions written by this.
    pub(crate) fn module(&mut self, w: &mut Writer) -> Read<()> {
        let order = self.order();
        self.before_computations(w);
        for (index, listed) in order.iter().enumerate() {
            let mut result = Ok(());
            w.message(m::COMPUTATIONS, |w| result = self.computation(w, listed));
            result.at("computations", index)?;
        }
        self.after_computations(w, &order)
    }

    /// Appends the fields of a computation.
    pub(crate) fn computation(&mut self, w: &mut Writer, listed: &Listed) -> Read<()> {
        self.before_instructions(w, listed.id);
        for (index, &id) in listed.instructions.iter().enumerate() {
            let mut result = Ok(());
            w.message(c::INSTRUCTIONS, |w| result = self.instruction(w, id));
            result
                .map_err(|fault| fault.named(self.module.name_of(id).as_bytes()))
                .at("instructions", index)?;
        }
        self.after_instructions(w, listed.id);
        Ok(())
    }

    /// Appends the fields of one instruction.
    pub(crate) fn one_instruction(&mut self, w: &mut Writer, id: InstructionId) -> Read<()> {
        self.instruction(w, id)
    }

    /// The fields of a computation before its instructions.
    pub(crate) fn before_instructions(&self, w: &mut Writer, id: ComputationId) {
        w.bytes(c::NAME, self.text(self.module.computation(id).name));
    }

    /// The fields of a computation behind its instructions.
    pub(crate) fn after_instructions(&self, w: &mut Writer, id: ComputationId) {
        let module = self.module;
        let computation = module.computation(id);
        let shapes: Vec<_> = computation.parameters.iter().map(|&id| module.instruction(id).shape).collect();
        let result = module.instruction(computation.root).shape;
        let names = computation.parameters.iter().map(|&id| module.instruction(id).name);
        w.message(c::PROGRAM_SHAPE, |w| {
            let names = names.map(|name| self.text(name).into());
            shape::write_program_shape(w, module, &shapes, result, names);
        });
        w.int(c::ID, self.ids.computation(id));
        w.int(c::ROOT_ID, self.ids.instruction(computation.root));
        w.bool(c::IS_FUSION_COMPUTATION, self.fusion_bodies.contains(&id));
        if let Some(thread) = computation.execution_thread {
            w.bytes(c::EXECUTION_THREAD, self.text(thread));
        }
    }

    fn text(&self, symbol: Symbol) -> &'m [u8] {
        self.module.strings().get(symbol)
    }
}
