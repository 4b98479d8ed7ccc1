//! Modules that are put together from finished parts, as the protobuf form has them: the same checks as for texts, but
//! nothing is derived. What XLA's parser makes of a text (shapes that follow from operands, attributes that move to
//! wrapped instructions) has been made already.

use super::{Builder, Frame, PendingAttr, Scope};
use crate::diagnostic::Span;
use crate::ir::{Attr, ComputationId, InstructionId, LiteralId, MetadataId, Module, Opcode, ShapeId, Symbol};
use crate::parser::tokens::OpcodeWord;
use crate::parser::{Dialect, ParseResult};
use crate::printer::printing_position;

/// About how many bytes of strings there are for an instruction.
const STRING_BYTES: usize = 32;

/// An instruction whose parts are known.
pub(crate) struct InstructionParts<'p> {
    pub(crate) name: Symbol,
    pub(crate) opcode: Opcode,
    pub(crate) shape: ShapeId,
    pub(crate) operands: &'p [InstructionId],
    /// Each key once.
    pub(crate) attributes: &'p [Attr],
    pub(crate) control_predecessors: Vec<InstructionId>,
    pub(crate) metadata: Option<MetadataId>,
    pub(crate) literal: Option<LiteralId>,
    pub(crate) parameter_number: i64,
}

impl Builder<'static> {
    /// A builder for about that many instructions that are read from `size` bytes, without a text.
    pub(crate) fn for_parts(dialect: Dialect, instructions: usize, size: usize) -> Self {
        // Names and what metadata say; the bytes of literals are none of them.
        let bytes = (instructions * STRING_BYTES).min(size);
        Self { from_parts: true, ..Self::with_room("", dialect, instructions, bytes) }
    }

    /// The module in the making.
    pub(crate) fn module(&mut self) -> &mut Module {
        &mut self.module
    }

    /// The same, to look at.
    pub(crate) fn module_ref(&self) -> &Module {
        &self.module
    }

    /// Begins a computation.
    pub(crate) fn begin_computation(&mut self, name: Symbol) -> ComputationId {
        let id = self.reserve_computation();
        self.open_scope(id, name, Span::default(), false, false);
        id
    }

    /// Adds an instruction to the computation that was begun last.
    pub(crate) fn add_parts(&mut self, parts: InstructionParts<'_>) -> ParseResult<InstructionId> {
        let nowhere = Span::default();
        let frame = Frame {
            name: Some(parts.name),
            name_span: nowhere,
            root_span: None,
            shape: Some(parts.shape),
            word: OpcodeWord { opcode: parts.opcode, wrapped: None },
            opcode_at: nowhere,
            paren_at: nowhere,
            after_operands: Some(nowhere),
            after: nowhere,
            operands: 0,
            attributes: 0,
            metadata: parts.metadata,
            control_predecessors: parts.control_predecessors,
        };
        self.operands.clear();
        self.operands.extend_from_slice(parts.operands);
        self.attributes.clear();
        self.attributes.extend(parts.attributes.iter().map(|&attr| PendingAttr {
            rank: printing_position(parts.opcode, attr.key),
            attr,
            span: nowhere,
        }));
        self.pending_literal = parts.literal;
        self.pending_number = (parts.parameter_number, nowhere);
        self.complete(&frame)
    }

    /// Gives the instructions from `first` on, all of the computation that was begun last, new ids: that of `old[n]`
    /// becomes `first + n`. Gives the new ids by the old ones.
    pub(crate) fn reorder(&mut self, first: usize, old: &[InstructionId]) -> Vec<InstructionId> {
        let mut new = vec![InstructionId::from_index(first); old.len()];
        for (place, id) in old.iter().enumerate() {
            new[id.index() - first] = InstructionId::from_index(first + place);
        }
        let renamed = |id: InstructionId| new[id.index() - first];
        let module = &mut self.module;
        let mut moved: Vec<_> = old.iter().map(|id| module.instructions[id.index()].clone()).collect();
        for instruction in &moved {
            for operand in &mut module.operand_pool[instruction.operands.as_range()] {
                *operand = renamed(*operand);
            }
        }
        let with_edges: Vec<InstructionId> =
            old.iter().copied().filter(|&id| module.instruction(id).has_control_predecessors).collect();
        let edges: Vec<_> = with_edges
            .iter()
            .map(|id| (*id, module.control_predecessors.remove(id).unwrap_or_default()))
            .collect();
        for (id, predecessors) in edges {
            let predecessors = predecessors.into_iter().map(renamed).collect();
            module.control_predecessors.insert(renamed(id), predecessors);
        }
        module.instructions.truncate(first);
        module.instructions.append(&mut moved);
        if let Some(scope) = self.scopes.last_mut() {
            scope.parameters.iter_mut().for_each(|parameter| parameter.1 = renamed(parameter.1));
        }
        for start in &mut self.async_starts {
            if start.index() >= first {
                *start = renamed(*start);
            }
        }
        new
    }

    /// Completes the computation `id`, which was begun last and whose instructions are those of `order`.
    pub(crate) fn end_computation(
        &mut self,
        id: ComputationId,
        root: InstructionId,
        order: Vec<InstructionId>,
        thread: Option<Symbol>,
    ) -> ParseResult<()> {
        if let Some(scope) = self.scopes.pop() {
            let scope = Scope { instructions: order, root: Some((root, Span::default())), ..scope };
            self.finish_computation(scope, Span::default())?;
        }
        if let Some(computation) = &mut self.module.computations[id.index()] {
            computation.execution_thread = thread;
        }
        Ok(())
    }

    /// The parts of the module as they are.
    pub(crate) fn into_module(self) -> Module {
        self.module
    }
}
