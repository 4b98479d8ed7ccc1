//! Computations as text.

use std::io;

use super::text::write_raw_quoted;
use super::{Printer, Scope, shown_name, write_blanks};
use crate::ir::ComputationId;

/// How a computation's instructions are ordered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// As they were made: the schedule.
    Creation,
    /// Operands before users, see [`InstructionOrder::push_post_order`](super::order::InstructionOrder).
    Post,
}

/// Computations with more instructions show their name again after the brace, if asked for.
const NAME_AFTER_BRACE_ABOVE: usize = 5;

impl Printer<'_> {
    /// Appends a computation, without a line feed after its brace.
    pub(super) fn computation(&mut self, out: &mut Vec<u8>, id: ComputationId, order: Order, scope: Scope) {
        self.computation_in_pieces(out, id, order, scope, &mut |_| Ok(()))
            .expect("nothing is written elsewhere");
    }

    /// As [`Printer::computation`], calling `piece` after every instruction; it may empty `out`.
    pub(super) fn computation_in_pieces(
        &mut self,
        out: &mut Vec<u8>,
        id: ComputationId,
        order: Order,
        scope: Scope,
        piece: &mut dyn FnMut(&mut Vec<u8>) -> io::Result<()>,
    ) -> io::Result<()> {
        let module = self.module;
        let options = self.options;
        let computation = module.computation(id);
        let is_body = scope.depth > 0;

        write_blanks(out, 2 * scope.indent);
        if options.print_entry_keyword && module.entry == Some(id) {
            out.extend_from_slice(b"ENTRY ");
        }
        if !is_body && !options.is_in_nested_computation {
            if options.print_percent {
                out.push(b'%');
            }
            if options.print_ids {
                out.extend_from_slice(module.strings().get(computation.name));
                out.push(b' ');
            }
        }
        if options.print_program_shape {
            self.signature(out, id);
            out.push(b' ');
        }
        out.extend_from_slice(b"{\n");

        let outer = options.canonicalize_instruction_names.then(|| self.names.start(module, computation));
        let range = match order {
            Order::Creation => self.order.push_creation_order(module, id),
            Order::Post => self.order.push_post_order(module, id),
        };
        let inner = Scope { indent: scope.indent + 1, in_computation: true, ..scope };
        for index in range.clone() {
            let instruction = self.order.at(index);
            write_blanks(out, 2 * inner.indent);
            if instruction == computation.root {
                out.extend_from_slice(b"ROOT ");
            }
            self.instruction(out, instruction, inner);
            out.push(b'\n');
            let length = out.len();
            piece(out)?;
            self.metadata.forget(length - out.len());
        }
        self.order.truncate(range.start);
        if let Some(outer) = outer {
            self.names.resume(outer);
        }

        write_blanks(out, 2 * scope.indent);
        out.push(b'}');
        if options.print_ids
            && let Some(thread) = computation.execution_thread
        {
            out.extend_from_slice(b", execution_thread=");
            write_raw_quoted(out, module, module.strings().get(thread));
        }
        if options.print_name_after_closing_brace && computation.instructions.len() > NAME_AFTER_BRACE_ABOVE {
            out.extend_from_slice(b" // ");
            out.extend_from_slice(module.strings().get(computation.name));
        }
        Ok(())
    }

    /// Appends `(p0: f32[2], p1: s32[]) -> f32[2]`.
    fn signature(&mut self, out: &mut Vec<u8>, id: ComputationId) {
        let module = self.module;
        let computation = module.computation(id);
        out.push(b'(');
        for (index, &parameter) in computation.parameters.iter().enumerate() {
            if index > 0 {
                out.extend_from_slice(b", ");
            }
            let parameter = module.instruction(parameter);
            out.extend_from_slice(shown_name(module, parameter.name, self.options));
            out.extend_from_slice(b": ");
            self.shapes.write_for_signature(out, module, parameter.shape);
        }
        out.extend_from_slice(b") -> ");
        self.shapes.write_for_signature(out, module, module.instruction(computation.root).shape);
    }
}
