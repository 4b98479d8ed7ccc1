//! Instructions near one another.

use std::collections::{HashMap, VecDeque};

use hlo_text::Module;
use hlo_text::ir::InstructionId;

/// The instruction called `name`, with or without `%`.
pub(super) fn find(module: &Module, name: &str) -> Option<InstructionId> {
    let name = name.strip_prefix('%').unwrap_or(name);
    let mut all = module.computations().iter().flat_map(|&id| module.live_instructions(id));
    all.find(|&id| module.name_of(id) == name)
}

/// What is at most `radius` steps from an instruction in its computation, along operands, users and control edges; and all
/// of the computations it calls. What is nearer comes first.
pub(super) fn around(module: &Module, start: InstructionId, radius: usize) -> Vec<InstructionId> {
    let mut found = near(module, &[start], radius);
    module.for_each_called_computation(start, |callee| found.extend(module.live_instructions(callee)));
    found
}

/// What is at most `radius` steps from one of `starts`, the nearer first.
pub(super) fn near(module: &Module, starts: &[InstructionId], radius: usize) -> Vec<InstructionId> {
    let mut computations: Vec<_> = starts.iter().map(|&start| module.instruction(start).parent).collect();
    computations.sort_unstable();
    computations.dedup();
    let mut neighbours: HashMap<InstructionId, Vec<InstructionId>> = HashMap::new();
    for id in computations.into_iter().flat_map(|id| module.live_instructions(id)) {
        for &need in module.operands(id).iter().chain(module.control_predecessors(id)) {
            neighbours.entry(id).or_default().push(need);
            neighbours.entry(need).or_default().push(id);
        }
    }
    let mut distances: HashMap<InstructionId, usize> = starts.iter().map(|&start| (start, 0)).collect();
    let mut pending: VecDeque<InstructionId> = starts.iter().copied().collect();
    let mut found = Vec::new();
    while let Some(id) = pending.pop_front() {
        found.push(id);
        let distance = distances.get(&id).copied().unwrap_or_default();
        if distance == radius {
            continue;
        }
        for &next in neighbours.get(&id).map_or(&[][..], Vec::as_slice) {
            distances.entry(next).or_insert_with(|| {
                pending.push_back(next);
                distance + 1
            });
        }
    }
    found
}
