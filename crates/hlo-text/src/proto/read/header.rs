//! What belongs to the module as a whole: schedule, aliases, donors, entry layout, tables.

use super::super::fault::{Fault, FaultKind, InField, Read};
use super::super::schema::{
    hlo_buffer_donor_proto as bd, hlo_buffer_donor_proto_buffer_donor_entry_proto as donor,
    hlo_input_output_alias_proto as ioa, hlo_input_output_alias_proto_alias_entry_proto as alias,
    hlo_module_proto as m, hlo_schedule_proto as sched, hlo_schedule_proto_instruction_sequence as sequence,
    hlo_schedule_proto_sequences_entry as entry, original_value_recovery_table_proto as table,
    original_value_recovery_table_proto_entry as row,
};
use super::super::wire::Fields;
use super::{Reader, Seen, Sequences, read_nested};
use crate::diagnostic::Span;
use crate::ir::{
    AliasKind, BufferDonor, ComputationId, EntryComputationLayout, HASHER, InputOutputAlias, InstructionId,
    OriginRecovery, OriginalArray, StackFrameIndex, table_entry,
};

/// `MUST_ALIAS`
const MUST_ALIAS: i32 = 2;

impl<'b> Reader<'b> {
    pub(super) fn header(&mut self, bytes: &'b [u8], entry: ComputationId) -> Read<()> {
        for field in Fields::new(bytes) {
            let field = field?;
            match field.number {
                m::HOST_PROGRAM_SHAPE => {
                    let (parameters, result) = field
                        .bytes()
                        .and_then(|bytes| self.program_shape(bytes))
                        .within("host_program_shape")?;
                    let module = self.module();
                    let expected = module.computation(entry).parameters.len();
                    let Some(result) = result else { continue };
                    if parameters.len() != expected {
                        let message = format!(
                            "the entry computation has {expected} parameters, but {} are given",
                            parameters.len()
                        );
                        return Err(Fault::value(message).within("parameters").within("host_program_shape"));
                    }
                    module.header.entry_computation_layout =
                        Some(EntryComputationLayout { parameters, result });
                }
                m::INPUT_OUTPUT_ALIAS => {
                    let aliases = field.bytes().and_then(aliases).within("input_output_alias")?;
                    self.module().header.input_output_alias = aliases;
                }
                m::BUFFER_DONOR => {
                    let donors = field.bytes().and_then(donors).within("buffer_donor")?;
                    self.module().header.buffer_donors = donors;
                }
                m::STACK_FRAME_INDEX => {
                    let tables = field
                        .bytes()
                        .and_then(|bytes| self.stack_frames(bytes))
                        .and_then(check_frames)
                        .within("stack_frame_index")?;
                    self.module().header.stack_frames = tables;
                }
                m::FRONTEND_ATTRIBUTES => {
                    let read = field.bytes().and_then(|bytes| self.frontend_attributes(bytes));
                    self.module().header.frontend_attributes = read.within("frontend_attributes")?;
                }
                m::ORIGINAL_VALUE_RECOVERY_TABLE => {
                    let table = field.bytes().and_then(|bytes| self.recovery_table(bytes));
                    self.module().header.origin_recovery_table =
                        table.within("original_value_recovery_table")?;
                }
                _ => {}
            }
        }
        let module = self.builder.module_ref();
        let result = module.instruction(module.computation(entry).root).shape;
        crate::parser::aliasing::check_aliases(module, result, Span::default(), |_| None)
            .map_err(|error| Fault::new(FaultKind::Checked(error.code), error.message))
    }

    /// The sequences of an `HloScheduleProto`.
    pub(super) fn schedule(&mut self, bytes: &'b [u8]) -> Read<Sequences> {
        let mut sequences = Sequences::new();
        let mut seen = Seen::default();
        for field in Fields::new(bytes) {
            let field = field?;
            if field.number != sched::SEQUENCES {
                continue;
            }
            let index = sequences.len();
            let read = field.bytes().and_then(|bytes| self.sequence(bytes)).at("sequences", index)?;
            if !seen.insert(read.0) {
                return Err(Fault::value("the computation has a sequence already").at("sequences", index));
            }
            sequences.push(read);
        }
        Ok(sequences)
    }

    fn sequence(&mut self, bytes: &'b [u8]) -> Read<(ComputationId, Vec<InstructionId>)> {
        let (mut key, mut value): (i64, &[u8]) = (0, &[]);
        for field in Fields::new(bytes) {
            let field = field?;
            match field.number {
                entry::KEY => key = field.int64().within("key")?,
                entry::VALUE => value = field.bytes().within("value")?,
                _ => {}
            }
        }
        let Some(&computation) = self.computations.get(&key) else {
            let message = format!("no computation has the id {key}");
            return Err(Fault::new(FaultKind::Id, message).within("key"));
        };
        let mut ids = Vec::new();
        for field in Fields::new(value) {
            let field = field.within("value")?;
            if field.number == sequence::INSTRUCTION_IDS {
                field.int64s(&mut ids).within("instruction_ids").within("value")?;
            }
        }
        let module = self.builder.module_ref();
        let mut order = Vec::with_capacity(ids.len());
        let mut seen = Seen::with_capacity_and_hasher(ids.len(), HASHER);
        for id in ids {
            let found = self.instructions.get(id);
            let Some(instruction) =
                found.filter(|&found| module.instruction(found).parent == computation && seen.insert(found))
            else {
                let message = format!("{id} is no instruction of the computation, or is there twice");
                return Err(Fault::new(FaultKind::Id, message).within("instruction_ids").within("value"));
            };
            order.push(instruction);
        }
        let count = module.computation(computation).instructions.len();
        if order.len() != count {
            let message = format!("the computation has {count} instructions, but {} are given", order.len());
            return Err(Fault::value(message).within("instruction_ids").within("value"));
        }
        Ok((computation, order))
    }

    fn recovery_table(&mut self, bytes: &'b [u8]) -> Read<Vec<OriginRecovery>> {
        let mut rows: Vec<OriginRecovery> = Vec::new();
        for field in Fields::new(bytes) {
            let field = field?;
            if field.number == table::ENTRIES {
                let index = rows.len();
                let read = field.bytes().and_then(|bytes| self.recovery(bytes));
                rows.push(read.at("entries", index)?);
            }
        }
        let strings = self.builder.module_ref().strings();
        let key = |array: &OriginalArray| array.name.map_or(&b""[..], |name| strings.get(name)).to_vec();
        rows.sort_by(|a, b| (key(&a.old), &a.old.index).cmp(&(key(&b.old), &b.old.index)));
        rows.dedup_by(|later, earlier| later.old == earlier.old);
        Ok(rows)
    }

    fn recovery(&mut self, bytes: &'b [u8]) -> Read<OriginRecovery> {
        let mut read =
            OriginRecovery { old: OriginalArray::default(), new: OriginalArray::default(), module: None };
        for field in Fields::new(bytes) {
            let field = field?;
            match field.number {
                row::OLD_ORIGINAL_ARRAY => {
                    let array = field.bytes().and_then(|bytes| self.original_array(bytes));
                    read.old = array.within("old_original_array")?;
                }
                row::NEW_ORIGINAL_ARRAY => {
                    let array = field.bytes().and_then(|bytes| self.original_array(bytes));
                    read.new = array.within("new_original_array")?;
                }
                row::RECOVERY_MODULE => {
                    let nested =
                        field.bytes().and_then(|bytes| read_nested(bytes, self.dialect, self.depth + 1));
                    read.module = Some(Box::new(nested.within("recovery_module")?.module));
                }
                _ => {}
            }
        }
        Ok(read)
    }
}

fn aliases(bytes: &[u8]) -> Read<Vec<InputOutputAlias>> {
    let mut entries: Vec<InputOutputAlias> = Vec::new();
    for field in Fields::new(bytes) {
        let field = field?;
        if field.number != ioa::ENTRIES {
            continue;
        }
        let index = entries.len();
        let mut read = InputOutputAlias {
            output_index: Vec::new(),
            parameter: 0,
            parameter_index: Vec::new(),
            kind: AliasKind::May,
        };
        for inner in Fields::new(field.bytes().at("entries", index)?) {
            let inner = inner.at("entries", index)?;
            let result = match inner.number {
                alias::OUTPUT_SHAPE_INDEX => {
                    inner.int64s(&mut read.output_index).within("output_shape_index")
                }
                alias::PARAMETER_NUMBER => {
                    inner.int64().map(|number| read.parameter = number).within("parameter_number")
                }
                alias::PARAMETER_SHAPE_INDEX => {
                    inner.int64s(&mut read.parameter_index).within("parameter_shape_index")
                }
                alias::KIND => inner
                    .int32()
                    .map(|kind| {
                        read.kind = if kind == MUST_ALIAS { AliasKind::Must } else { AliasKind::May };
                    })
                    .within("kind"),
                _ => Ok(()),
            };
            result.at("entries", index)?;
        }
        entries.push(read);
    }
    entries.sort_by(|a, b| a.output_index.cmp(&b.output_index));
    entries.dedup_by(|later, earlier| later.output_index == earlier.output_index);
    Ok(entries)
}

fn donors(bytes: &[u8]) -> Read<Vec<BufferDonor>> {
    let mut entries = Vec::new();
    for field in Fields::new(bytes) {
        let field = field?;
        if field.number != bd::ENTRIES {
            continue;
        }
        let index = entries.len();
        let mut read = BufferDonor { parameter: 0, parameter_index: Vec::new() };
        for inner in Fields::new(field.bytes().at("entries", index)?) {
            let inner = inner.at("entries", index)?;
            let result = match inner.number {
                donor::PARAMETER_NUMBER => {
                    inner.int64().map(|number| read.parameter = number).within("parameter_number")
                }
                donor::PARAMETER_SHAPE_INDEX => {
                    inner.int64s(&mut read.parameter_index).within("parameter_shape_index")
                }
                _ => Ok(()),
            };
            result.at("entries", index)?;
        }
        entries.push(read);
    }
    entries.sort();
    entries.dedup();
    Ok(entries)
}

/// Stack frames don't call each other in a circle.
fn check_frames(tables: StackFrameIndex) -> Read<StackFrameIndex> {
    const OPEN: u8 = 1;
    const DONE: u8 = 2;
    let mut marks = vec![0u8; tables.stack_frames.len()];
    let mut chain = Vec::new();
    for start in 0..tables.stack_frames.len() {
        let mut at = start;
        loop {
            match marks[at] {
                OPEN => {
                    let message = "the frame is called by itself, through others";
                    let fault = Fault::new(FaultKind::Id, message).within("parent_frame_id");
                    return Err(fault.at("stack_frames", at));
                }
                DONE => break,
                _ => {}
            }
            marks[at] = OPEN;
            chain.push(at);
            let parent = tables.stack_frames[at].parent_frame_id;
            if table_entry(&tables.stack_frames, parent).is_none() {
                break;
            }
            at = parent as usize - 1;
        }
        chain.drain(..).for_each(|at| marks[at] = DONE);
    }
    Ok(tables)
}
