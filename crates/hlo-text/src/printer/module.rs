//! Modules as text, and the ways in from outside.

use std::io;

use super::computation::Order;
use super::order::{Calls, InstructionOrder};
use super::{PrintOptions, Printer, Scope, header, stack_frames, write_blanks};
use crate::ir::{ComputationId, HeaderKey, InstructionId, MetadataId, Module, ShapeId, ValueId};

/// Texts are handed over to a writer in pieces of about this many bytes.
const CHUNK_BYTES: usize = 1 << 18;

/// For the first allocation: about how long the line of an instruction is without strings.
const BYTES_PER_INSTRUCTION: usize = 120;

/// For the first allocation: about how often a string is printed.
const USES_OF_STRINGS: usize = 2;

/// Appends the text of `module` to `out`.
pub fn print_module(out: &mut Vec<u8>, module: &Module, options: &PrintOptions) {
    out.reserve(
        module.instruction_count() * BYTES_PER_INSTRUCTION + module.strings().byte_count() * USES_OF_STRINGS,
    );
    print_pieces(out, module, options, |_| Ok(())).expect("the buffer takes everything");
}

impl Module {
    /// The computations in the order they are printed, each with its instructions in that order; computations that are
    /// printed as `X-start` come last. It is the same when the print has been read again.
    pub fn printing_order(&self) -> Vec<(ComputationId, Vec<InstructionId>)> {
        let options = PrintOptions::default();
        let printer = Printer::new(self, &options);
        let mut calls = Calls::of(self, printer.tables, options.syntax_sugar_async_ops);
        let mut computations = calls.printing_order(self);
        let printed: hashbrown::HashSet<ComputationId, foldhash::fast::FixedState> =
            computations.iter().copied().collect();
        computations.extend(self.computations().iter().copied().filter(|id| !printed.contains(id)));
        let mut order = InstructionOrder::default();
        let instructions_of = |id: ComputationId| {
            let is_scheduled = self.header.is_scheduled && !calls.is_fusion_body(id);
            let range = match is_scheduled {
                true => order.push_creation_order(self, id),
                false => order.push_post_order(self, id),
            };
            let instructions = range.clone().map(|index| order.at(index)).collect();
            order.truncate(range.start);
            (id, instructions)
        };
        computations.into_iter().map(instructions_of).collect()
    }
}

/// Appends the text of `module` to `out`, calling `piece` from time to time, which may empty it.
fn print_pieces(
    out: &mut Vec<u8>,
    module: &Module,
    options: &PrintOptions,
    mut piece: impl FnMut(&mut Vec<u8>) -> io::Result<()>,
) -> io::Result<()> {
    let mut printer = Printer::new(module, options);
    let mut calls = Calls::of(module, printer.tables, options.syntax_sugar_async_ops);
    let order = match options.canonicalize_computations {
        true => calls.creation_order(module),
        false => calls.printing_order(module),
    };

    write_blanks(out, 2 * options.indent_amount);
    out.extend_from_slice(b"HloModule ");
    if options.print_ids {
        out.extend_from_slice(module.strings().get(module.name));
    }
    header::write_header(out, module, options);
    if options.print_metadata {
        stack_frames::write_stack_frames(out, module);
    }
    out.extend_from_slice(b"\n\n");

    let scope = Scope { indent: options.indent_amount, depth: 0, in_computation: true };
    for computation in order {
        let is_scheduled = module.header.is_scheduled && !calls.is_fusion_body(computation);
        let order = if is_scheduled { Order::Creation } else { Order::Post };
        printer.computation_in_pieces(out, computation, order, scope, &mut piece)?;
        out.extend_from_slice(b"\n\n");
    }
    Ok(())
}

impl Module {
    /// The text of the module. Bytes of quoted strings that are not UTF-8 and that XLA prints without escapes
    /// (execution threads, for example) are replaced; [`Self::write_to`] and [`print_module`] keep them.
    pub fn to_text(&self, options: &PrintOptions) -> String {
        let mut out = Vec::new();
        print_module(&mut out, self, options);
        into_string(out)
    }

    /// Writes the text of the module.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_to(&self, mut writer: impl io::Write, options: &PrintOptions) -> io::Result<()> {
        let mut out = Vec::with_capacity(CHUNK_BYTES + CHUNK_BYTES / 4);
        print_pieces(&mut out, self, options, |out| {
            if out.len() >= CHUNK_BYTES {
                writer.write_all(out)?;
                out.clear();
            }
            Ok(())
        })?;
        writer.write_all(&out)
    }

    /// The text of one computation, instructions in post-order, without a line feed at the end.
    pub fn print_computation(&self, id: ComputationId, options: &PrintOptions) -> String {
        let mut out = Vec::new();
        let scope = Scope { indent: options.indent_amount, depth: 0, in_computation: true };
        Printer::new(self, options).computation(&mut out, id, Order::Post, scope);
        into_string(out)
    }

    /// The text of one instruction, without indentation, `ROOT` and line feed. As in XLA, canonical names are
    /// left out unless the options say that this is inside a computation.
    pub fn print_instruction(&self, id: InstructionId, options: &PrintOptions) -> String {
        let mut out = Vec::new();
        let mut printer = Printer::for_one_line(self, options);
        let in_computation = options.is_in_nested_computation;
        if in_computation && options.canonicalize_instruction_names {
            printer.names.start(self, self.computation(self.instruction(id).parent));
        }
        printer.instruction(&mut out, id, Scope { indent: options.indent_amount, depth: 0, in_computation });
        into_string(out)
    }

    /// A shape as it is printed.
    pub fn shape_text(&self, id: ShapeId, with_layout: bool) -> String {
        super::shape::shape_text(self, id, with_layout)
    }

    /// What the `HloModule` line says of `key`, without the key; `None` if it says nothing.
    pub fn header_text(&self, key: HeaderKey, options: &PrintOptions) -> Option<String> {
        header::is_printed(self, key).then(|| {
            let mut out = Vec::new();
            header::write_attribute(&mut out, self, key, options);
            into_string(out)
        })
    }

    /// Metadata as it is printed, with its braces.
    pub fn metadata_text(&self, id: MetadataId, options: &PrintOptions) -> Vec<u8> {
        let mut out = Vec::new();
        super::metadata::write_metadata(&mut out, self, self.metadata(id), options);
        out
    }

    /// A structured attribute value as it is printed.
    pub fn value_text(&self, id: ValueId, options: &PrintOptions) -> Vec<u8> {
        let mut out = Vec::new();
        super::value::write_value(&mut out, self, self.value(id), options);
        out
    }
}

impl std::fmt::Display for Module {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.to_text(&PrintOptions::default()))
    }
}

fn into_string(text: Vec<u8>) -> String {
    String::from_utf8(text).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
