//! Which computation calls which.

use hlo_text::Module;
use hlo_text::ir::{ComputationId, InstructionId, Opcode};

/// The calls of a module at one point in time, in creation order.
pub struct CallGraph {
    callees: Vec<Vec<ComputationId>>,
    callers: Vec<Vec<InstructionId>>,
    roots: Vec<ComputationId>,
}

impl CallGraph {
    /// The calls of `module`.
    pub fn of(module: &Module) -> Self {
        let limit = module.computation_id_limit();
        let mut graph =
            Self { callees: vec![Vec::new(); limit], callers: vec![Vec::new(); limit], roots: Vec::new() };
        let mut last_caller = vec![None; limit];
        for &computation in module.computations() {
            for instruction in module.live_instructions(computation) {
                module.for_each_called_computation(instruction, |callee| {
                    graph.callers[callee.index()].push(instruction);
                    // Each callee once per caller, in order of the first call.
                    if last_caller[callee.index()].replace(computation) != Some(computation) {
                        graph.callees[computation.index()].push(callee);
                    }
                });
            }
        }
        let is_root = |id: &ComputationId| graph.callers[id.index()].is_empty();
        graph.roots = module.computations().iter().copied().filter(is_root).collect();
        graph
    }

    /// The instructions that call `id`; one that calls it twice is there twice.
    pub fn callers(&self, id: ComputationId) -> &[InstructionId] {
        &self.callers[id.index()]
    }

    /// The computations `id` calls, each once.
    pub fn callees(&self, id: ComputationId) -> &[ComputationId] {
        &self.callees[id.index()]
    }

    /// All computations, callees before callers; computations nobody calls start the walk in creation order.
    pub fn post_order(&self) -> Vec<ComputationId> {
        let mut visited = vec![false; self.callees.len()];
        let mut order = Vec::new();
        // The second number is how many callees have been visited.
        let mut stack: Vec<(ComputationId, usize)> = Vec::new();
        for &root in &self.roots {
            stack.push((root, 0));
            visited[root.index()] = true;
            while let Some((id, next)) = stack.last_mut() {
                match self.callees[id.index()].get(*next) {
                    Some(&callee) => {
                        *next += 1;
                        if !std::mem::replace(&mut visited[callee.index()], true) {
                            stack.push((callee, 0));
                        }
                    }
                    None => {
                        order.push(*id);
                        stack.pop();
                    }
                }
            }
        }
        order
    }
}

/// How a computation is run, by all who call it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contexts {
    control_flow: bool,
    embedded: bool,
}

impl Contexts {
    /// Whether it is run in this way and in no other.
    pub fn is_only(self, context: CallContext) -> bool {
        match context {
            CallContext::ControlFlow => self.control_flow && !self.embedded,
            CallContext::Embedded => self.embedded && !self.control_flow,
        }
    }
}

impl CallGraph {
    /// How each computation is run, by [`ComputationId`]: what an embedded computation calls is embedded, too.
    pub fn contexts(&self, module: &Module) -> Vec<Contexts> {
        let mut contexts = vec![Contexts::default(); self.callees.len()];
        for &root in &self.roots {
            contexts[root.index()].control_flow = true;
        }
        for caller in self.post_order().into_iter().rev() {
            let from = contexts[caller.index()];
            for instruction in module.live_instructions(caller) {
                let context = CallContext::of(module.instruction(instruction).opcode);
                module.for_each_called_computation(instruction, |callee| {
                    let to = &mut contexts[callee.index()];
                    to.embedded |= from.embedded || context == Some(CallContext::Embedded);
                    to.control_flow |= from.control_flow && context == Some(CallContext::ControlFlow);
                });
            }
        }
        contexts
    }
}

/// Whether calls of this kind run the computation as a whole, once per element, or not known to be either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallContext {
    /// `call`, `while`, `conditional` and the like.
    ControlFlow,
    /// `map`, `reduce`, `fusion` and the like.
    Embedded,
}

impl CallContext {
    /// How the callees of an opcode are run, `None` for opcodes that call nothing.
    pub fn of(opcode: Opcode) -> Option<Self> {
        use Opcode as O;
        match opcode {
            O::Call | O::Conditional | O::While | O::AsyncStart | O::AsyncUpdate | O::AsyncDone => {
                Some(Self::ControlFlow)
            }
            O::AllReduce
            | O::AllReduceStart
            | O::ReduceScatter
            | O::Map
            | O::Reduce
            | O::ReduceWindow
            | O::Scan
            | O::Scatter
            | O::SelectAndScatter
            | O::Sort
            | O::TopK
            | O::Fusion
            | O::CustomCall => Some(Self::Embedded),
            _ => None,
        }
    }
}
