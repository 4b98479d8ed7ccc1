//! From the IR to text; one file per vocabulary, the mirror of the parser.
//!
//! Printing is a function of the module and the [`PrintOptions`], byte for byte what XLA prints with the same
//! options. Everything appends to one byte buffer; names are copied from the interner, shapes from a cache of
//! rendered texts.

mod aliasing;
mod async_sugar;
mod canonical;
mod computation;
mod convolution;
pub(crate) mod header;
mod instruction;
mod list;
pub(crate) mod literal;
pub(crate) mod metadata;
mod module;
mod options;
mod order;
mod origin;
mod pieces;
mod plan;
pub(crate) mod replica_groups;
pub(crate) mod shape;
pub(crate) mod sharding;
mod sort_json;
pub(crate) mod stack_frames;
#[cfg(test)]
mod tests;
pub(crate) mod text;
pub(crate) mod value;

pub use module::print_module;
pub use options::{PrintOptions, SubcomputationMode};
pub(crate) use plan::{printing_position, printing_rank};

use crate::ir::{Module, Opcode, Symbol};

/// How deep bodies stand inside bodies in a print with [`SubcomputationMode::FullBodies`]. Computations called
/// from deeper ones are named instead; they are printed on their own anyway.
pub(crate) const MAX_BODY_DEPTH: usize = 256;

/// How many instructions a print repeats in bodies. A computation that is called twice by one that is called
/// twice, and so on, has bodies without end; beyond this number computations are named instead.
pub(crate) const MAX_BODY_INSTRUCTIONS: usize = 1 << 22;

/// The instructions of a computation in the order XLA prints those that are not scheduled.
pub(crate) fn post_order(
    module: &Module,
    computation: crate::ir::ComputationId,
) -> Vec<crate::ir::InstructionId> {
    let mut order = order::InstructionOrder::default();
    order.push_post_order(module, computation).map(|index| order.at(index)).collect()
}

/// Appends a decimal number.
#[inline(always)]
pub(crate) fn write_int(out: &mut Vec<u8>, number: i64) {
    // Dimension numbers, tuple indices, line numbers: nearly all numbers are short.
    let digit = |power: u32| b'0' + (number as u32 / power % 10) as u8;
    match number {
        0..=9 => out.push(digit(1)),
        10..=99 => out.extend_from_slice(&[digit(10), digit(1)]),
        100..=999 => out.extend_from_slice(&[digit(100), digit(10), digit(1)]),
        1000..=9999 => out.extend_from_slice(&[digit(1000), digit(100), digit(10), digit(1)]),
        _ => write_long_int(out, number),
    }
}

#[inline(never)]
fn write_long_int(out: &mut Vec<u8>, number: i64) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Appends `count` blanks.
#[inline]
fn write_blanks(out: &mut Vec<u8>, count: usize) {
    const BLANKS: [u8; 16] = [b' '; 16];
    let end = out.len() + count;
    if count <= BLANKS.len() {
        out.extend_from_slice(&BLANKS);
        out.truncate(end);
    } else {
        out.resize(end, b' ');
    }
}

/// What of a name the options let through: all of it, or what is before its first dot.
#[inline]
fn shown_name<'m>(module: &'m Module, name: Symbol, options: &PrintOptions) -> &'m [u8] {
    let text = module.strings().get(name);
    if options.print_ids {
        return text;
    }
    memchr::memchr(b'.', text).map_or(text, |dot| &text[..dot])
}

/// Appends the name of an instruction or a computation.
#[inline]
pub(crate) fn write_name(out: &mut Vec<u8>, module: &Module, name: Symbol, options: &PrintOptions) {
    if options.print_percent {
        out.push(b'%');
    }
    if options.print_ids {
        let (pool, start, end) = module.strings().range(name);
        pieces::write_range(out, pool, start, end);
    } else {
        out.extend_from_slice(shown_name(module, name, options));
    }
}

/// Where in the text an instruction or a computation stands.
#[derive(Clone, Copy)]
struct Scope {
    /// Steps of two blanks.
    indent: usize,
    /// Number of bodies around it.
    depth: usize,
    /// Whether it is printed as part of a computation; only then do canonical names mean anything.
    in_computation: bool,
}

/// The state of one print.
struct Printer<'m> {
    module: &'m Module,
    options: &'m PrintOptions,
    /// Operands are just names, and all are shown.
    has_plain_operands: bool,
    tables: &'static plan::Tables,
    plan: plan::Plan,
    shapes: shape::ShapeTexts,
    values: pieces::RenderedTexts,
    metadata: pieces::RepeatedTexts,
    order: order::InstructionOrder,
    names: canonical::CanonicalNames,
    sugar: async_sugar::AsyncSugar,
    body_instructions: usize,
    max_body_instructions: usize,
}

impl<'m> Printer<'m> {
    /// A printer for much text: shapes are rendered once.
    fn new(module: &'m Module, options: &'m PrintOptions) -> Self {
        Self {
            shapes: shape::ShapeTexts::new(options.include_layout_in_shapes).keeping(module),
            values: pieces::RenderedTexts::with_count(module.values.len()),
            metadata: pieces::RepeatedTexts::with_count(module.metadata.len()),
            ..Self::for_one_line(module, options)
        }
    }

    /// A printer for a single instruction: nothing whose cost grows with the module.
    fn for_one_line(module: &'m Module, options: &'m PrintOptions) -> Self {
        Self {
            module,
            options,
            has_plain_operands: options.print_operand_names
                && !options.print_operand_shape
                && !options.canonicalize_instruction_names
                && !options.compact_operands,
            tables: plan::Tables::get(),
            plan: plan::Plan::new(options),
            shapes: shape::ShapeTexts::new(options.include_layout_in_shapes),
            values: pieces::RenderedTexts::default(),
            metadata: pieces::RepeatedTexts::default(),
            order: order::InstructionOrder::default(),
            names: canonical::CanonicalNames::default(),
            sugar: async_sugar::AsyncSugar::default(),
            body_instructions: 0,
            max_body_instructions: MAX_BODY_INSTRUCTIONS,
        }
    }

    /// Whether the opcode's name is that of the wrapped instruction when its computation allows.
    fn may_be_sugared(&self, opcode: Opcode) -> bool {
        self.options.syntax_sugar_async_ops
            && matches!(opcode, Opcode::AsyncStart | Opcode::AsyncUpdate | Opcode::AsyncDone)
    }
}
