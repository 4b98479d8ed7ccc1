//! Whether a module keeps the rules that XLA's compiler asks of every module it takes.
//!
//! Facts: the rules of XLA's `HloVerifier` of 2026, as its CPU compiler applies them before its first pass. Unlike
//! that one, [`verify`] doesn't stop at the first fault. One rule has one [`Code`], from HLO1001 on; what it asks, with
//! an example, is the code's explanation.
//!
//! The checks read the module and nothing else: the time is linear in its size, and no shape is added to its table.

mod asynchronous;
mod buffers;
mod calls;
mod channels;
mod collectives;
mod elementwise;
mod entry;
mod equality;
mod facts;
mod fusion;
mod groups;
mod layouts;
mod origin;
mod reductions;
mod scan;
mod shapes;
mod sharding;
mod structure;
#[cfg(test)]
mod tests;
mod uses;
mod violation;

pub use violation::Violation;

use hashbrown::HashMap;

use crate::diagnostic::Code;
use crate::ir::{AttrKey, ComputationId, HASHER, InstructionId, Module, Opcode, ShapeId};
use crate::shape_inference::shape_text;

use equality::{COMPATIBLE, EQUAL, Sameness};
use facts::ShapeFacts;
use uses::Uses;

/// How many violations are reported unless the caller asks for another number.
pub const DEFAULT_MAX_VIOLATIONS: usize = 20;

/// What is asked of a module. The defaults are those of XLA.
#[derive(Clone, Copy, Debug)]
pub struct VerifyOptions {
    /// Shapes that must be the same must have the same layouts, too; bitcasts and copies keep the rules of a module
    /// whose layouts are final.
    pub layout_sensitive: bool,
    /// Operands may be floating-point numbers of different widths, and results of another width than theirs.
    pub allow_mixed_precision: bool,
    /// Results may have dimensions of unknown size (`?`).
    pub allow_unbounded_dynamism: bool,
    /// The number of devices of a sharding must be the module's number of partitions.
    pub verify_sharding_device_numbers: bool,
    /// Groups of collectives must name every participant once.
    pub check_replica_groups: bool,
    /// Comparisons must be of a type that fits what they compare. Otherwise those that aren't are warnings: graphs of
    /// some front ends have them, for compilers that put them right.
    pub check_comparison_types: bool,
    /// After this many violations checking stops; warnings don't count, and as many are given.
    pub max_violations: usize,
}

impl Default for VerifyOptions {
    fn default() -> Self {
        Self {
            layout_sensitive: false,
            allow_mixed_precision: false,
            allow_unbounded_dynamism: false,
            verify_sharding_device_numbers: true,
            check_replica_groups: true,
            check_comparison_types: true,
            max_violations: DEFAULT_MAX_VIOLATIONS,
        }
    }
}

/// Every rule that `module` breaks, at most [`VerifyOptions::max_violations`] and as many warnings; empty if it is valid.
///
/// The order follows the module: rules about the instructions of a computation in the order of its instructions, then
/// rules about the computation, then those about the module.
pub fn verify(module: &Module, options: &VerifyOptions) -> Vec<Violation> {
    let mut verifier = Verifier {
        module,
        options,
        uses: Uses::default(),
        facts: ShapeFacts::new(module),
        found: Vec::new(),
        warnings: 0,
        same: if options.layout_sensitive { EQUAL } else { COMPATIBLE },
        operand_shapes: Vec::new(),
        starts: HashMap::with_hasher(HASHER),
    };
    verifier.run();
    let mut left = options.max_violations;
    verifier.found.retain(|violation| {
        let is_shown = !violation.is_error() || left > 0;
        left = left.saturating_sub(usize::from(violation.is_error()));
        is_shown
    });
    verifier.found
}

/// A check that may find something.
type Check = Result<(), Violation>;

/// The state of one run.
struct Verifier<'m> {
    module: &'m Module,
    options: &'m VerifyOptions,
    uses: Uses,
    facts: ShapeFacts,
    found: Vec<Violation>,
    /// How many of these are warnings.
    warnings: usize,
    /// What is asked of shapes that must be the same.
    same: Sameness,
    /// The shapes of the operands of the instruction at hand.
    operand_shapes: Vec<ShapeId>,
    /// The start of each update and done seen so far.
    starts: HashMap<InstructionId, InstructionId, foldhash::fast::FixedState>,
}

impl Verifier<'_> {
    fn run(&mut self) {
        // What follows looks up whatever the module refers to, and walks along operands.
        self.check_references();
        if !self.found.is_empty() {
            return;
        }
        self.uses = Uses::new(self.module, self.facts.any_buffer);
        self.check_order();
        if !self.found.is_empty() {
            return;
        }
        self.check_names();
        for &computation in self.module.computations() {
            for id in self.module.live_instructions(computation) {
                self.check_instruction(id);
                if self.is_full() {
                    return;
                }
            }
            self.check_computation(computation);
            if self.is_full() {
                return;
            }
        }
        self.check_channels();
        self.check_all_reduce_layouts();
        self.check_entry();
    }

    fn is_full(&self) -> bool {
        self.found.len() - self.warnings >= self.options.max_violations
    }

    /// Notes what a check found. Warnings, however many, don't keep errors from being found.
    fn note(&mut self, check: Check) {
        let Err(violation) = check else { return };
        if !violation.is_error() {
            if self.warnings >= self.options.max_violations {
                return;
            }
            self.warnings += 1;
        }
        self.found.push(violation);
    }

    fn check_instruction(&mut self, id: InstructionId) {
        let before = self.found.len();
        let opcode = self.module.instruction(id).opcode;
        self.note(self.check_async_pair(id));
        self.note(self.check_unbounded(id));
        let shape_itself = self.check_shape_itself(id);
        if shape_itself.is_ok() {
            self.note(self.check_element_sizes(id));
        }
        self.note(shape_itself);
        if self.module.instruction(id).attribute_count() > 0 {
            self.note(self.check_sharding(id));
            self.note(self.check_origin(id));
        }
        self.check_shape(id);
        if self.found.len() == before {
            self.note(self.check_elementwise(id));
        }
        match opcode {
            Opcode::Fusion => self.check_fusion_body(id),
            Opcode::While | Opcode::Conditional => {
                self.note(self.check_threads(id));
                self.note(self.check_sharding_consistency(id));
            }
            _ => {}
        }
        if self.facts.any_buffer {
            self.note(self.check_buffers(id));
        }
        if self.options.layout_sensitive {
            self.note(self.check_layouts(id));
        }
    }

    fn check_computation(&mut self, id: ComputationId) {
        self.note(self.check_async_content(id));
    }

    // ------------------------------------------------------------ what checks share

    /// A violation of `code` by an instruction.
    fn wrong(&self, code: Code, id: InstructionId, message: impl Into<String>) -> Violation {
        Violation::of_instruction(code, self.module, id, message)
    }

    /// A shape in words, with layouts where they count.
    fn text(&self, id: ShapeId) -> String {
        if self.options.layout_sensitive {
            crate::printer::shape::shape_text(self.module, id, true)
        } else {
            shape_text(self.module.shapes(), id)
        }
    }

    fn shape_id(&self, id: InstructionId) -> ShapeId {
        self.module.instruction(id).shape
    }

    /// The shape of an instruction in words.
    fn text_of(&self, id: InstructionId) -> String {
        self.text(self.shape_id(id))
    }

    fn name(&self, id: InstructionId) -> &str {
        self.module.name_of(id)
    }

    /// Whether two shapes are the same, layouts included where they count.
    fn is_same(&self, a: ShapeId, b: ShapeId) -> bool {
        self.same.of(self.module.shapes(), a, b)
    }

    /// Whether two shapes are compatible, whatever the options.
    fn is_compatible(&self, a: ShapeId, b: ShapeId) -> bool {
        COMPATIBLE.of(self.module.shapes(), a, b)
    }

    fn opcode(&self, id: InstructionId) -> Opcode {
        self.module.instruction(id).opcode
    }

    /// The shape of a computation's result.
    fn result_of(&self, computation: ComputationId) -> ShapeId {
        self.shape_id(self.module.computation(computation).root)
    }

    /// The execution thread of a computation.
    fn thread_of(&self, computation: ComputationId) -> &[u8] {
        let thread = self.module.computation(computation).execution_thread;
        thread.map_or(b"main", |thread| self.module.strings().get(thread))
    }

    /// The value of a frontend attribute.
    fn frontend_attribute(&self, id: InstructionId, key: &str) -> Option<&[u8]> {
        match self.module.value_of(id, AttrKey::FrontendAttributes)? {
            crate::ir::Value::FrontendAttributes(entries) => {
                let strings = self.module.strings();
                let entry = entries.iter().find(|(name, _)| strings.get(*name) == key.as_bytes());
                entry.map(|(_, value)| strings.get(*value))
            }
            _ => None,
        }
    }
}
