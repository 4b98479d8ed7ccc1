//! What belongs to the module as a whole.

use super::super::fault::{InField, Read};
use super::super::schema::{
    hlo_buffer_donor_proto as bd, hlo_buffer_donor_proto_buffer_donor_entry_proto as donor,
    hlo_input_output_alias_proto as ioa, hlo_input_output_alias_proto_alias_entry_proto as alias,
    hlo_module_proto as m, hlo_schedule_proto as sched, hlo_schedule_proto_instruction_sequence as sequence,
    hlo_schedule_proto_sequences_entry as entry, original_value_recovery_table_proto as table,
    original_value_recovery_table_proto_entry as row,
};
use super::super::wire::Writer;
use super::metadata::{write_frontend_attributes, write_original_array, write_stack_frames};
use super::shape::write_program_shape;
use super::{AssignedIds, Encoder, Listed};
use crate::ir::{AliasKind, StackFrameIndex};

impl Encoder<'_> {
    /// The fields of the module before its computations.
    pub(crate) fn before_computations(&self, w: &mut Writer) {
        let module = self.module;
        w.bytes(m::NAME, self.text(module.name));
        w.bytes(m::ENTRY_COMPUTATION_NAME, self.text(module.computation(module.entry()).name));
    }

    /// The fields of the module behind its computations.
    pub(crate) fn after_computations(&mut self, w: &mut Writer, order: &[Listed]) -> Read<()> {
        let module = self.module;
        let header = &module.header;
        let layout = module.entry_layout();
        w.message(m::HOST_PROGRAM_SHAPE, |w| {
            let names = (0..layout.parameters.len()).map(|number| format!("p{number}").into_bytes().into());
            write_program_shape(w, module, &layout.parameters, layout.result, names);
        });
        w.int(m::ENTRY_COMPUTATION_ID, self.ids.computation(module.entry()));
        if header.is_scheduled {
            w.message(m::SCHEDULE, |w| self.schedule(w, order));
        }
        w.message(m::INPUT_OUTPUT_ALIAS, |w| {
            for pair in &header.input_output_alias {
                w.message(ioa::ENTRIES, |w| {
                    w.ints(alias::OUTPUT_SHAPE_INDEX, pair.output_index.iter().copied());
                    w.int(alias::PARAMETER_NUMBER, pair.parameter);
                    w.ints(alias::PARAMETER_SHAPE_INDEX, pair.parameter_index.iter().copied());
                    w.int(alias::KIND, if pair.kind == AliasKind::Must { 2 } else { 1 });
                });
            }
        });
        if header.stack_frames != StackFrameIndex::default() {
            w.message(m::STACK_FRAME_INDEX, |w| write_stack_frames(w, module, &header.stack_frames));
        }
        w.message(m::BUFFER_DONOR, |w| {
            for entry in &header.buffer_donors {
                w.message(bd::ENTRIES, |w| {
                    w.int(donor::PARAMETER_NUMBER, entry.parameter);
                    w.ints(donor::PARAMETER_SHAPE_INDEX, entry.parameter_index.iter().copied());
                });
            }
        });
        w.message(m::FRONTEND_ATTRIBUTES, |w| {
            write_frontend_attributes(w, module, &header.frontend_attributes);
        });
        if header.origin_recovery_table.is_empty() {
            return Ok(());
        }
        let mut result = Ok(());
        w.message(m::ORIGINAL_VALUE_RECOVERY_TABLE, |w| result = self.recovery_table(w));
        result.within("original_value_recovery_table")
    }

    fn recovery_table(&self, w: &mut Writer) -> Read<()> {
        for (index, recovery) in self.module.header.origin_recovery_table.iter().enumerate() {
            let mut result = Ok(());
            w.message(table::ENTRIES, |w| {
                w.message(row::OLD_ORIGINAL_ARRAY, |w| write_original_array(w, self.module, &recovery.old));
                w.message(row::NEW_ORIGINAL_ARRAY, |w| write_original_array(w, self.module, &recovery.new));
                if let Some(nested) = &recovery.module {
                    let ids = AssignedIds::new(nested, None);
                    w.message(row::RECOVERY_MODULE, |w| result = Encoder::new(nested, &ids).module(w));
                }
            });
            result.within("recovery_module").at("entries", index)?;
        }
        Ok(())
    }

    /// Every computation but those of fusions has a sequence. They are sorted, so that the bytes are the same each time.
    fn schedule(&self, w: &mut Writer, order: &[Listed]) {
        let mut scheduled: Vec<_> =
            order.iter().map(|listed| listed.id).filter(|id| !self.fusion_bodies.contains(id)).collect();
        scheduled.sort_by_key(|&id| self.ids.computation(id));
        for id in scheduled {
            w.message(sched::SEQUENCES, |w| {
                w.always_int(entry::KEY, self.ids.computation(id));
                w.message(entry::VALUE, |w| {
                    let ids = self.module.live_instructions(id).map(|id| self.ids.instruction(id));
                    w.ints(sequence::INSTRUCTION_IDS, ids);
                });
            });
        }
    }
}
