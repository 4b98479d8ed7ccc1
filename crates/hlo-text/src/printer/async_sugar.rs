//! `X-start(...)` instead of `async-start(...), calls=...`: XLA prints a started computation that is nothing but
//! parameters and a root as that root, and leaves the computation out.

use hashbrown::HashMap;

use crate::ir::{AttrKey, Computation, HASHER, InstructionId, Module, Opcode, ShapeId};
use crate::parser::has_async_sugar;

/// The root of the computation that the start `id` calls, if the start is printed as that root.
pub(super) fn sugared_root(module: &Module, id: InstructionId) -> Option<InstructionId> {
    let computation = module.computation(module.called(id, AttrKey::Calls)?);
    let is_single = computation
        .instructions
        .iter()
        .all(|&id| id == computation.root || module.instruction(id).opcode == Opcode::Parameter);
    (is_single && (!module.reads_back || reads_back(module, id, computation))).then_some(computation.root)
}

/// What is on the line of a start belongs to the start and to what it wraps.
const SHARED: &[AttrKey] =
    &[AttrKey::FrontendAttributes, AttrKey::Statistics, AttrKey::Origin, AttrKey::BackendConfig];

/// Whether the computation can be made again from the start and its shape: the root has the parameters for its
/// operands, these have the shapes that the start's shape says, and nothing is printed twice.
fn reads_back(module: &Module, start: InstructionId, computation: &Computation) -> bool {
    let root = module.instruction(computation.root);
    let shapes = |list: &[InstructionId]| -> Vec<ShapeId> {
        list.iter().map(|&id| module.instruction(id).shape).collect()
    };
    let Some([parameters, result, ..]) = module.shape_of(start).as_tuple() else { return false };
    has_async_sugar(root.opcode)
        && module.operands(computation.root) == computation.parameters
        && module.shape(*parameters).as_tuple() == Some(&shapes(&computation.parameters))
        && *result == root.shape
        && module.attribute(start, AttrKey::Statistics).is_none()
        && module.attribute(computation.root, AttrKey::Sharding).is_none()
        && root.metadata == module.instruction(start).metadata
        && SHARED.iter().all(|&key| module.attribute(start, key) == module.attribute(computation.root, key))
        && module.control_predecessors(computation.root).is_empty()
}

/// What the asynchronous instructions of a module wrap.
pub(super) struct AsyncSugar {
    /// The wrapped instruction of starts and updates seen so far, `None` if there is no sugar for them.
    wrapped: HashMap<InstructionId, Option<InstructionId>, foldhash::fast::FixedState>,
}

impl Default for AsyncSugar {
    fn default() -> Self {
        Self { wrapped: HashMap::with_hasher(HASHER) }
    }
}

impl AsyncSugar {
    /// The root of the computation that the chain of the start, update or done `id` runs, if that computation
    /// is nothing else.
    pub(super) fn wrapped(&mut self, module: &Module, id: InstructionId) -> Option<InstructionId> {
        // Up the chain of updates, to the start or to one that is known. Operands are printed before their
        // users, so that is one step, except when a single instruction is printed.
        let mut link = id;
        let wrapped = loop {
            if let Some(&known) = self.wrapped.get(&link) {
                break known;
            }
            match module.instruction(link).opcode {
                Opcode::AsyncStart => break sugared_root(module, link),
                Opcode::AsyncUpdate | Opcode::AsyncDone => match module.operands(link).first() {
                    Some(&operand) => link = operand,
                    None => break None,
                },
                _ => break None,
            }
        };
        self.wrapped.insert(link, wrapped);
        self.wrapped.insert(id, wrapped);
        wrapped
    }
}
