//! The orders in which two modules print their instructions.

use hlo_passes::analysis::{CallGraph, PostOrder};
use hlo_text::Module;
use hlo_text::ir::{ComputationId, InstructionId, Opcode};

/// The instructions of a module as they are printed.
pub(super) struct Orders {
    /// By computation.
    instructions: Vec<Vec<InstructionId>>,
    /// By instruction: its index in its computation.
    places: Vec<u32>,
    /// Callees first.
    computations: Vec<ComputationId>,
    /// By computation: the order is one in which they run.
    scheduled: Vec<bool>,
}

impl Orders {
    pub(super) fn new(module: &Module) -> Self {
        let limit = module.computation_id_limit();
        let mut scheduled = vec![module.header.is_scheduled; limit];
        if module.header.is_scheduled {
            for &computation in module.computations() {
                for id in module.live_instructions(computation) {
                    if module.instruction(id).opcode == Opcode::Fusion {
                        module.for_each_called_computation(id, |callee| scheduled[callee.index()] = false);
                    }
                }
            }
        }
        let mut orders = Self {
            instructions: vec![Vec::new(); limit],
            places: vec![0; module.instruction_id_limit()],
            computations: CallGraph::of(module).post_order(),
            scheduled,
        };
        let mut post_order = PostOrder::default();
        for &id in module.computations() {
            let list = match orders.scheduled[id.index()] {
                true => module.live_instructions(id).collect(),
                false => post_order.of(module, id),
            };
            for (place, instruction) in list.iter().enumerate() {
                orders.places[instruction.index()] = place as u32;
            }
            orders.instructions[id.index()] = list;
        }
        orders
    }

    /// The instructions of a computation.
    pub(super) fn of(&self, id: ComputationId) -> &[InstructionId] {
        &self.instructions[id.index()]
    }

    /// The computations, callees first, with their instructions.
    pub(super) fn computations(&self) -> impl DoubleEndedIterator<Item = (ComputationId, &[InstructionId])> {
        self.computations.iter().map(|&id| (id, self.of(id)))
    }

    /// The index of an instruction in its computation.
    pub(super) fn place(&self, id: InstructionId) -> usize {
        self.places[id.index()] as usize
    }

    pub(super) fn is_scheduled(&self, id: ComputationId) -> bool {
        self.scheduled[id.index()]
    }
}

/// Which entries belong to a longest increasing subsequence; those that are `None` don't.
pub(super) fn longest_increasing(places: &[Option<usize>]) -> Vec<bool> {
    // The last entries of the best sequences by length, and what comes before each entry in its own.
    let mut ends: Vec<usize> = Vec::new();
    let mut previous = vec![usize::MAX; places.len()];
    for (index, place) in places.iter().enumerate() {
        if place.is_none() {
            continue;
        }
        let length = ends.partition_point(|&end| places[end] < *place);
        if let Some(before) = length.checked_sub(1) {
            previous[index] = ends[before];
        }
        match ends.get_mut(length) {
            Some(end) => *end = index,
            None => ends.push(index),
        }
    }
    let mut chosen = vec![false; places.len()];
    let mut next = ends.last().copied().unwrap_or(usize::MAX);
    while let Some(slot) = chosen.get_mut(next) {
        *slot = true;
        next = previous[next];
    }
    chosen
}
