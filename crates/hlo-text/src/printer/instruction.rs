//! Instructions as text: `%name = shape opcode(operands), attributes`.

use super::computation::Order;
use super::options::SubcomputationMode;
use super::pieces::write_range;
use super::plan::Section;
use super::shape::write_separator;
use super::{MAX_BODY_DEPTH, Printer, Scope, literal, metadata, shown_name, value, write_int, write_name};
use crate::ir::{
    Attr, AttrKey, AttrValue, ComputationId, Instruction, InstructionId, MetadataId, Opcode, OperandFormat,
    Symbol, Value,
};

/// How many operands [`compact_operands`](super::PrintOptions::compact_operands) leaves.
const MAX_COMPACT_OPERANDS: usize = 4;

impl Printer<'_> {
    /// Appends an instruction, without indentation, `ROOT` or line feed.
    pub(super) fn instruction(&mut self, out: &mut Vec<u8>, id: InstructionId, scope: Scope) {
        let module = self.module;
        let options = self.options;
        let instruction = module.instruction(id);
        let opcode = instruction.opcode;

        if !options.canonicalize_instruction_names {
            self.name(out, instruction.name);
            out.extend_from_slice(b" = ");
        } else if scope.in_computation {
            self.names.write(out, id);
            out.extend_from_slice(b" = ");
        }
        if options.print_result_shape {
            self.shapes.write_before(out, module, instruction.shape);
        }

        let wrapped = if self.may_be_sugared(opcode) { self.sugar.wrapped(module, id) } else { None };
        match wrapped {
            Some(wrapped) => {
                out.extend_from_slice(module.instruction(wrapped).opcode.name().as_bytes());
                out.extend_from_slice(match opcode {
                    Opcode::AsyncStart => b"-start(",
                    Opcode::AsyncUpdate => b"-update(",
                    _ => b"-done(",
                });
            }
            None => self.tables.write_head(out, opcode),
        }
        match opcode.operand_format() {
            OperandFormat::Operands => self.operands(out, instruction, scope),
            OperandFormat::ParameterNumber if !options.print_parameter_number => {}
            OperandFormat::ParameterNumber => write_int(out, i64::from(instruction.parameter_number)),
            OperandFormat::Literal => match instruction.literal {
                Some(literal) => literal::write_literal(out, module, module.literal(literal), options),
                None => out.extend_from_slice(b"{...}"),
            },
        }
        out.push(b')');

        if !instruction.attributes.is_empty()
            || instruction.has_control_predecessors
            || instruction.metadata.is_some()
        {
            self.attributes(out, id, wrapped.filter(|_| opcode == Opcode::AsyncStart), scope);
        }
    }

    /// Appends the real name of an instruction.
    #[inline(always)]
    fn name(&self, out: &mut Vec<u8>, name: Symbol) {
        if self.options.print_percent {
            out.push(b'%');
        }
        self.name_without_mark(out, name);
    }

    #[inline(always)]
    fn name_without_mark(&self, out: &mut Vec<u8>, name: Symbol) {
        if self.options.print_ids {
            let (pool, start, end) = self.module.strings().range(name);
            write_range(out, pool, start, end);
        } else {
            out.extend_from_slice(shown_name(self.module, name, self.options));
        }
    }

    #[inline(always)]
    fn operands(&mut self, out: &mut Vec<u8>, instruction: &Instruction, scope: Scope) {
        let module = self.module;
        let all = &module.operand_pool[instruction.operands.as_range()];
        if !self.has_plain_operands {
            self.unusual_operands(out, all, scope);
            return;
        }
        let interval = self.options.print_operand_index_annotation_interval;
        for (index, &operand) in all.iter().enumerate() {
            let name = module.instruction(operand).name;
            if self.options.print_percent && (1..interval).contains(&index) {
                out.extend_from_slice(b", %");
                self.name_without_mark(out, name);
            } else {
                write_separator(out, index, interval);
                self.name(out, name);
            }
        }
    }

    /// Appends operands with shapes, with canonical names, without names, or not all of them.
    #[inline(never)]
    fn unusual_operands(&mut self, out: &mut Vec<u8>, all: &[InstructionId], scope: Scope) {
        let module = self.module;
        let options = self.options;
        let shown = match all.get(..MAX_COMPACT_OPERANDS) {
            Some(shown) if options.compact_operands => shown,
            _ => all,
        };
        let has_name = match options.canonicalize_instruction_names {
            true => scope.in_computation,
            false => options.print_operand_names,
        };
        for (index, &operand) in shown.iter().enumerate() {
            write_separator(out, index, options.print_operand_index_annotation_interval);
            let instruction = module.instruction(operand);
            if options.print_operand_shape {
                self.shapes.write_before(out, module, instruction.shape);
                if !has_name {
                    out.pop();
                }
            }
            if !has_name {
                continue;
            }
            if options.canonicalize_instruction_names {
                self.names.write(out, operand);
            } else {
                self.name(out, instruction.name);
            }
        }
        if shown.len() < all.len() {
            out.extend_from_slice(b", ...(+");
            write_int(out, (all.len() - shown.len()) as i64);
            out.push(b')');
        }
    }

    /// Appends all attributes. `wrapped` is what a sugared start shows of the instruction that it runs.
    fn attributes(
        &mut self,
        out: &mut Vec<u8>,
        id: InstructionId,
        wrapped: Option<InstructionId>,
        scope: Scope,
    ) {
        let module = self.module;
        let instruction = module.instruction(id);
        let mut attributes = module.attribute_pool[instruction.attributes.as_range()].iter();
        if let Some(wrapped) = wrapped {
            self.attributes_of_wrapped(out, id, wrapped, &mut attributes, scope);
        }
        self.sections_until(out, id, &mut attributes, Section::ControlPredecessors, wrapped.is_some(), scope);
        if instruction.has_control_predecessors {
            self.control_predecessors(out, id);
        }
        self.sections_until(out, id, &mut attributes, Section::Metadata, false, scope);
        if let Some(metadata) = instruction.metadata {
            self.metadata(out, id, metadata);
        }
        self.sections_until(out, id, &mut attributes, Section::Unknown, false, scope);
        for attribute in attributes {
            self.attribute(out, id, attribute);
        }
    }

    /// Appends what XLA prints of a wrapped instruction on the line of the start `id`: everything before its
    /// original value, in the middle of the start's own attributes.
    fn attributes_of_wrapped(
        &mut self,
        out: &mut Vec<u8>,
        id: InstructionId,
        wrapped: InstructionId,
        own: &mut std::slice::Iter<'_, Attr>,
        scope: Scope,
    ) {
        if !self.options.print_extra_attributes {
            return;
        }
        if let Some(thread) = own.as_slice().first().filter(|attr| attr.key == AttrKey::AsyncExecutionThread)
        {
            self.attribute(out, id, thread);
            own.next();
        }
        // Frontend attributes of the start hide all those that would stand before them, also in bodies. A start in such
        // a body decides for itself, as in XLA.
        let hides = self.module.attribute(id, AttrKey::FrontendAttributes).is_some();
        let skipped = self.plan.skips(AttrKey::FrontendAttributes);
        self.plan.set_skipped(AttrKey::FrontendAttributes, hides || !self.options.print_frontend_attributes);
        let mut attributes = self.module.attributes(wrapped).iter();
        self.sections_until(out, wrapped, &mut attributes, Section::ControlPredecessors, false, scope);
        self.control_predecessors(out, wrapped);
        self.sections_until(out, wrapped, &mut attributes, Section::Origin, false, scope);
        self.plan.set_skipped(AttrKey::FrontendAttributes, skipped);
    }

    /// Appends the attributes of the sections before `end`.
    #[inline(always)]
    fn sections_until(
        &mut self,
        out: &mut Vec<u8>,
        id: InstructionId,
        attributes: &mut std::slice::Iter<'_, Attr>,
        end: Section,
        sugared: bool,
        scope: Scope,
    ) {
        while let Some(attribute) = attributes.as_slice().first() {
            let section = self.plan.section(attribute.key);
            if section >= end {
                return;
            }
            attributes.next();
            if section == Section::Called {
                self.called(out, id, attribute, sugared, scope);
            } else {
                self.attribute(out, id, attribute);
            }
        }
    }

    /// Appends an attribute that is neither a computation, nor control predecessors, nor metadata.
    #[inline(always)]
    fn attribute(&mut self, out: &mut Vec<u8>, id: InstructionId, attribute: &Attr) {
        let Attr { key, value } = *attribute;
        if self.plan.skips(key) || self.attribute_as_read(out, id, key) {
            return;
        }
        if let AttrValue::Raw(text) = value {
            out.extend_from_slice(b", ");
            out.extend_from_slice(self.module.strings().get(text));
            return;
        }
        if !attribute.is_printed() && !self.options.syntax_as_read {
            return;
        }
        self.tables.write_prefix(out, key);
        match value {
            AttrValue::Int(_) if key == AttrKey::ChannelId && !self.options.print_channel_id => {
                out.push(b'_')
            }
            AttrValue::Int(number) => write_int(out, number),
            // A structured value belongs to attributes of one syntax, so its text doesn't depend on the key.
            AttrValue::Value(id) => self.values.write(out, id.index(), |out| {
                value::write_attribute_value(out, self.module, key, value, self.options);
            }),
            value => value::write_attribute_value(out, self.module, key, value, self.options),
        }
    }

    /// Appends the spelling that the attribute had in the text, if that is wanted and known.
    #[inline(always)]
    fn attribute_as_read(&self, out: &mut Vec<u8>, id: InstructionId, key: AttrKey) -> bool {
        self.options.syntax_as_read && self.write_as_read(out, id, key)
    }

    #[cold]
    fn write_as_read(&self, out: &mut Vec<u8>, id: InstructionId, key: AttrKey) -> bool {
        let Some(text) = self.module.as_read(id, key) else { return false };
        out.extend_from_slice(b", ");
        out.extend_from_slice(text);
        true
    }

    fn control_predecessors(&mut self, out: &mut Vec<u8>, id: InstructionId) {
        let module = self.module;
        let predecessors = module.control_predecessors(id);
        if predecessors.is_empty() || self.plan.skips(AttrKey::ControlPredecessors) {
            return;
        }
        self.tables.write_prefix(out, AttrKey::ControlPredecessors);
        out.push(b'{');
        for (index, &predecessor) in predecessors.iter().enumerate() {
            write_separator(out, index, 0);
            // XLA shows the real names here, canonical or not.
            write_name(out, module, module.instruction(predecessor).name, self.options);
        }
        out.push(b'}');
    }

    #[inline]
    fn metadata(&mut self, out: &mut Vec<u8>, id: InstructionId, metadata: MetadataId) {
        if self.plan.skips(AttrKey::Metadata) || self.attribute_as_read(out, id, AttrKey::Metadata) {
            return;
        }
        self.metadata.write(out, metadata.index(), |out| {
            let metadata = self.module.metadata(metadata);
            if metadata.is_printed() {
                self.tables.write_prefix(out, AttrKey::Metadata);
                metadata::write_metadata(out, self.module, metadata, self.options);
            }
        });
    }

    /// Appends an attribute of the section of called computations.
    fn called(
        &mut self,
        out: &mut Vec<u8>,
        id: InstructionId,
        attribute: &Attr,
        sugared: bool,
        scope: Scope,
    ) {
        let Attr { key, value } = *attribute;
        if self.plan.skips(key) {
            return;
        }
        let opcode = self.module.instruction(id).opcode;
        let is_sequential = matches!(opcode, Opcode::Call | Opcode::Conditional | Opcode::While);
        let bodies = match self.options.print_subcomputation_mode {
            SubcomputationMode::NonSequentialBodies if is_sequential => return,
            SubcomputationMode::NonSequentialBodies | SubcomputationMode::FullBodies => true,
            SubcomputationMode::NameOnly | SubcomputationMode::Off => false,
        };
        match value {
            AttrValue::Computation(computation) if bodies => {
                // XLA has `to_apply` in the list of names but not in that of bodies for these two.
                let key = match opcode {
                    Opcode::ReduceScatter | Opcode::Scan if key == AttrKey::ToApply => AttrKey::Calls,
                    _ => key,
                };
                self.tables.write_prefix(out, key);
                self.body(out, computation, scope, true);
            }
            AttrValue::Computation(computation) => {
                if !sugared {
                    self.tables.write_prefix(out, key);
                    self.computation_name(out, computation);
                }
            }
            AttrValue::Value(value) => {
                if let Value::Computations(computations) = self.module.value(value) {
                    self.tables.write_prefix(out, key);
                    self.computations(out, computations, bodies, scope);
                }
            }
            _ => self.attribute(out, id, attribute),
        }
    }

    fn computations(
        &mut self,
        out: &mut Vec<u8>,
        computations: &[ComputationId],
        bodies: bool,
        scope: Scope,
    ) {
        out.push(b'{');
        if bodies {
            out.push(b'\n');
        }
        for (index, &computation) in computations.iter().enumerate() {
            match bodies {
                true => {
                    if index > 0 {
                        out.extend_from_slice(b",\n");
                    }
                    self.body(out, computation, scope, false);
                }
                false => {
                    write_separator(out, index, 0);
                    self.computation_name(out, computation);
                }
            }
        }
        // XLA doesn't indent this one.
        out.extend_from_slice(if bodies { b"\n}" } else { b"}" });
    }

    fn computation_name(&self, out: &mut Vec<u8>, computation: ComputationId) {
        write_name(out, self.module, self.module.computation(computation).name, self.options);
    }

    /// Appends the body of a called computation, on the next line if it stands after a key; its name if there
    /// are too many bodies.
    fn body(&mut self, out: &mut Vec<u8>, computation: ComputationId, scope: Scope, after_key: bool) {
        let size = self.module.computation(computation).instructions.len();
        if scope.depth >= MAX_BODY_DEPTH || self.body_instructions + size > self.max_body_instructions {
            self.computation_name(out, computation);
            return;
        }
        self.body_instructions += size;
        if after_key {
            out.push(b'\n');
        }
        self.computation(out, computation, Order::Post, Scope { depth: scope.depth + 1, ..scope });
    }
}
