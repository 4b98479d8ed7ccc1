//! The layout of HLO text as people write it: one instruction per line, two blanks before it, one blank line between
//! computations. Only blanks and line ends change; words, their order and comments stay.
//!
//! ```
//! let text = "HloModule   m\nENTRY e { // the entry\n p = f32[2]   parameter( 0 )\n\n\n  ROOT n=f32[2] negate(p) }";
//! # let text = text.replace("n=f32", "n = f32");
//! let formatted = hlo_text::format::format(&text, &Default::default()).unwrap();
//! assert_eq!(
//!     formatted,
//!     "HloModule m\n\nENTRY e { // the entry\n  p = f32[2] parameter(0)\n\n  ROOT n = f32[2] negate(p)\n}\n"
//! );
//! ```

mod instruction;
mod pieces;
mod scan;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use crate::diagnostic::Diagnostic;
use crate::ir::{InstructionId, Layout, Module, Shape, ShapeId};
use crate::{ParseOptions, Parsed, PrintOptions, parse_module};
use pieces::{Piece, Pieces};

pub use scan::quoted_length;

/// How text is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FormatOptions {
    /// Result shapes that are left out are written where operands and attributes determine them.
    pub infer_shapes: bool,
}

/// Why a text can't be laid out.
#[derive(Clone, Debug)]
pub enum FormatError {
    /// It isn't HLO: every fault found.
    NotHlo(Vec<Diagnostic>),
    /// Something would be lost, which is said in a sentence: the text should stay as it is.
    NotKept(String),
}

/// Blanks before an instruction.
const INDENT: &str = "  ";

/// The text of one module, or of a piece of one, laid out; it ends with a line feed.
///
/// # Errors
/// The text isn't HLO, or something in it couldn't be kept.
pub fn format(text: &str, options: &FormatOptions) -> Result<String, FormatError> {
    let parse = ParseOptions { infer_shapes: options.infer_shapes, ..ParseOptions::default() };
    let parsed = parse_module(text, &parse).map_err(FormatError::NotHlo)?;
    let pieces = pieces::cut(text, &Starts::of(text, &parsed))
        .ok_or_else(|| FormatError::NotKept("its structure is unusual".to_owned()))?;
    let formatted = write(&pieces, &parsed, options);
    check_kept(text, &formatted, &parsed.module, &parse)?;
    Ok(formatted)
}

/// Makes sure that the new text says what the old one did.
fn check_kept(text: &str, formatted: &str, module: &Module, parse: &ParseOptions) -> Result<(), FormatError> {
    let lost = |what: &str| FormatError::NotKept(format!("{what} couldn't be kept"));
    if !scan::comments(text).eq(scan::comments(formatted)) {
        return Err(lost("its comments"));
    }
    let again = parse_module(formatted, parse).map_err(|_| lost("its meaning"))?;
    let print = PrintOptions { print_large_constants: true, ..PrintOptions::default() };
    let (mut old, mut new) = (Vec::new(), Vec::new());
    crate::print_module(&mut old, module, &print);
    crate::print_module(&mut new, &again.module, &print);
    // The order in which things are written means something as well.
    let is_same_order = module.instruction_id_limit() == again.module.instruction_id_limit()
        && module.computations().iter().zip(again.module.computations()).all(|(&a, &b)| {
            let names = |module: &Module, id| {
                let list = &module.computation(id).instructions;
                list.iter().map(|&id| module.name_of(id).to_owned()).collect::<Vec<_>>()
            };
            names(module, a) == names(&again.module, b)
        });
    if old == new && is_same_order { Ok(()) } else { Err(lost("its meaning")) }
}

/// Where instructions begin in the text.
struct Starts {
    by_place: HashMap<usize, InstructionId>,
}

impl Starts {
    fn of(text: &str, parsed: &Parsed) -> Self {
        let module = &parsed.module;
        let mut by_place = HashMap::new();
        for id in module.computations().iter().flat_map(|&id| &module.computation(id).instructions) {
            if let Some(span) = parsed.source_map.instruction(*id) {
                let start = span.start as usize;
                let has_percent = start > 0 && text.as_bytes().get(start - 1) == Some(&b'%');
                let start = if has_percent { start - 1 } else { start };
                // What is made of another instruction's words, the inside of `copy-start` for example, has no place of
                // its own.
                if is_defined_at(text, start) {
                    by_place.insert(start, *id);
                }
            }
        }
        Self { by_place }
    }

    /// The instruction whose name begins at `place`.
    fn at(&self, place: usize) -> Option<InstructionId> {
        self.by_place.get(&place).copied()
    }
}

/// Whether a name and `=` stand at `place`.
fn is_defined_at(text: &str, place: usize) -> bool {
    let Some(tail) = text.get(place..) else { return false };
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '%' | '_' | '.' | '-');
    let mut rest = tail.trim_start_matches(is_name);
    while let Some((scan::Kind::Blanks | scan::Kind::LineComment | scan::Kind::BlockComment, length)) =
        scan::next(rest)
    {
        rest = &rest[length..];
    }
    rest.starts_with('=')
}

/// A result shape as it is written into text: the layout only where it isn't the usual one.
fn shape_text(module: &Module, id: ShapeId) -> String {
    let mut open = vec![id];
    let mut is_usual = true;
    while let Some(id) = open.pop() {
        match module.shape(id) {
            Shape::Array(array) => {
                let usual = Layout::default_for_rank(array.rank());
                is_usual &= array.layout.as_ref().is_none_or(|layout| *layout == usual);
            }
            Shape::Tuple(elements) => open.extend(elements),
            Shape::Buffer(element) => open.push(*element),
            Shape::Token | Shape::Opaque => {}
        }
    }
    module.shape_text(id, !is_usual)
}

fn write(pieces: &Pieces<'_>, parsed: &Parsed, options: &FormatOptions) -> String {
    let mut out = String::new();
    let mut depth = 0usize;
    // A blank line that was there, or that has to be; written before the next thing unless that closes something.
    let mut is_blank = false;
    let mut after_open = true;
    for (index, piece) in pieces.list.iter().enumerate() {
        if matches!(piece, Piece::Blank) {
            is_blank = true;
            continue;
        }
        let begins_computation = matches!(piece, Piece::Open(_)) || {
            // Comments directly before a computation belong to it.
            depth == 0
                && matches!(piece, Piece::Comment { .. })
                && is_blank
                && pieces.list[index..]
                    .iter()
                    .find(|piece| !matches!(piece, Piece::Comment { .. }))
                    .is_some_and(|piece| matches!(piece, Piece::Open(_)))
        };
        let follows_comment =
            index > 0 && matches!(pieces.list[index - 1], Piece::Comment { .. }) && !is_blank;
        let wants_blank = begins_computation && !follows_comment;
        let forbids_blank = after_open || matches!(piece, Piece::Close(_) | Piece::Trailing(_));
        if (is_blank || wants_blank) && !forbids_blank && !out.is_empty() {
            out.push('\n');
        }
        is_blank = false;
        after_open = false;
        match piece {
            Piece::Blank => {}
            Piece::Comment { text, is_flush } => {
                if depth > 0 && !is_flush {
                    out.push_str(INDENT);
                }
                push_lines(&mut out, text);
            }
            Piece::Trailing(text) => {
                // Onto the line that has just been written.
                out.pop();
                out.push(' ');
                push_lines(&mut out, text);
                after_open = index > 0 && matches!(pieces.list[index - 1], Piece::Open(_));
            }
            Piece::Header(text) => push_lines(&mut out, text),
            Piece::Table(line) => push_lines(&mut out, line),
            Piece::Open(text) => {
                push_lines(&mut out, text);
                depth += 1;
                after_open = true;
            }
            Piece::Close(text) => {
                depth = depth.saturating_sub(1);
                push_lines(&mut out, text);
            }
            Piece::Instruction { code, id } => {
                if depth > 0 {
                    out.push_str(INDENT);
                }
                let shape = options
                    .infer_shapes
                    .then(|| id.map(|id| shape_text(&parsed.module, parsed.module.instruction(id).shape)))
                    .flatten();
                push_lines(&mut out, &instruction::format(code, shape.as_deref()));
            }
        }
    }
    out
}

/// Appends lines without the blanks at their ends, each with a line feed.
fn push_lines(out: &mut String, text: &str) {
    for line in text.lines() {
        out.push_str(line.trim_end());
        out.push('\n');
    }
}
