//! Equality across modules: what ids of one module mean is compared with what ids of the other mean.

use std::collections::HashMap;

use hlo_text::ir::{
    Attr, AttrKey, AttrValue, ComputationId, InstructionId, LiteralData, LiteralId, MetadataId, ShapeId,
    Symbol, Value, ValueId,
};
use hlo_text::{Module, PrintOptions};

use super::DiffOptions;
use super::aspects::{Aspect, Aspects};
use super::matching::Matching;

/// A text that either module has, by number.
type TextId = u32;

/// Numbers of what the tables of one module hold, each found out once.
struct Side<'m> {
    module: &'m Module,
    shapes: Vec<Option<TextId>>,
    bare_shapes: Vec<Option<TextId>>,
    values: Vec<Option<TextId>>,
    metadata: Vec<Option<TextId>>,
}

/// Which module.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    Before = 0,
    After = 1,
}

/// Compares instructions of two modules.
pub(super) struct Comparer<'m> {
    sides: [Side<'m>; 2],
    texts: HashMap<Vec<u8>, TextId>,
    print: PrintOptions,
    options: DiffOptions,
}

/// The number of a text.
fn number(texts: &mut HashMap<Vec<u8>, TextId>, text: Vec<u8>) -> TextId {
    let next = texts.len() as TextId;
    *texts.entry(text).or_insert(next)
}

/// The place `index` of a table that grows.
fn slot(table: &mut Vec<Option<TextId>>, index: usize) -> &mut Option<TextId> {
    if table.len() <= index {
        table.resize(index + 1, None);
    }
    &mut table[index]
}

impl<'m> Comparer<'m> {
    pub(super) fn new(before: &'m Module, after: &'m Module, options: DiffOptions) -> Self {
        let side = |module| Side {
            module,
            shapes: Vec::new(),
            bare_shapes: Vec::new(),
            values: Vec::new(),
            metadata: Vec::new(),
        };
        let print = PrintOptions {
            print_metadata: options.metadata,
            print_inline_stack_frames: true,
            ..PrintOptions::default()
        };
        Self { sides: [side(before), side(after)], texts: HashMap::new(), print, options }
    }

    fn module(&self, which: Which) -> &'m Module {
        self.sides[which as usize].module
    }

    fn shape(&mut self, which: Which, id: ShapeId) -> TextId {
        let Side { module, shapes, .. } = &mut self.sides[which as usize];
        let texts = &mut self.texts;
        *slot(shapes, id.index())
            .get_or_insert_with(|| number(texts, module.shape_text(id, true).into_bytes()))
    }

    /// A shape without its layouts.
    pub(super) fn bare_shape(&mut self, which: Which, id: ShapeId) -> TextId {
        let Side { module, bare_shapes, .. } = &mut self.sides[which as usize];
        let texts = &mut self.texts;
        *slot(bare_shapes, id.index())
            .get_or_insert_with(|| number(texts, module.shape_text(id, false).into_bytes()))
    }

    fn value(&mut self, which: Which, id: ValueId) -> TextId {
        let Side { module, values, .. } = &mut self.sides[which as usize];
        let (texts, print) = (&mut self.texts, &self.print);
        *slot(values, id.index()).get_or_insert_with(|| number(texts, module.value_text(id, print)))
    }

    fn metadata(&mut self, which: Which, id: Option<MetadataId>) -> Option<TextId> {
        let Side { module, metadata, .. } = &mut self.sides[which as usize];
        let id = id.filter(|&id| module.metadata(id).is_printed())?;
        let (texts, print) = (&mut self.texts, &self.print);
        Some(
            *slot(metadata, id.index()).get_or_insert_with(|| number(texts, module.metadata_text(id, print))),
        )
    }

    fn string(&self, which: Which, symbol: Symbol) -> &'m [u8] {
        self.module(which).strings().get(symbol)
    }

    /// The computation an instruction of the module before is in.
    pub(super) fn parent_before(&self, id: InstructionId) -> ComputationId {
        self.module(Which::Before).instruction(id).parent
    }

    pub(super) fn same_computation_name(&self, before: ComputationId, after: ComputationId) -> bool {
        self.module(Which::Before).computation_name(before)
            == self.module(Which::After).computation_name(after)
    }

    pub(super) fn same_thread(&self, before: ComputationId, after: ComputationId) -> bool {
        let thread = |which, id| {
            let thread = self.module(which).computation(id).execution_thread;
            thread.map(|symbol| self.string(which, symbol))
        };
        thread(Which::Before, before) == thread(Which::After, after)
    }

    /// What is different about two instructions that are the same thing.
    pub(super) fn aspects(
        &mut self,
        before: InstructionId,
        after: InstructionId,
        matching: &Matching,
    ) -> Aspects {
        let (old_module, new_module) = (self.module(Which::Before), self.module(Which::After));
        let (old, new) = (old_module.instruction(before), new_module.instruction(after));
        let mut aspects = Aspects::default();
        aspects.note(
            Aspect::Name,
            self.options.names && old_module.name_of(before) != new_module.name_of(after),
        );
        aspects.note(Aspect::Opcode, old.opcode != new.opcode);
        if self.shape(Which::Before, old.shape) != self.shape(Which::After, new.shape) {
            let same = self.bare_shape(Which::Before, old.shape) == self.bare_shape(Which::After, new.shape);
            aspects.note(if same { Aspect::Layout } else { Aspect::Shape }, true);
        }
        let same_values = |old: &[InstructionId], new: &[InstructionId]| {
            old.len() == new.len() && old.iter().zip(new).all(|(&a, &b)| matching.after(a) == Some(b))
        };
        aspects.note(Aspect::Operands, !same_values(old_module.operands(before), new_module.operands(after)));
        aspects.note(
            Aspect::ControlPredecessors,
            !same_values(old_module.control_predecessors(before), new_module.control_predecessors(after)),
        );
        aspects.note(Aspect::Attributes, !self.same_attributes(before, after, matching));
        let same_literals = match (old.literal, new.literal) {
            (Some(old), Some(new)) => self.same_literals(old, new),
            (old, new) => old.is_none() && new.is_none(),
        };
        aspects.note(Aspect::Literal, !same_literals);
        aspects.note(Aspect::ParameterNumber, old.parameter_number != new.parameter_number);
        aspects.note(Aspect::Root, old_module.is_root(before) != new_module.is_root(after));
        if self.options.metadata {
            let (old, new) = (old.metadata, new.metadata);
            let same = self.metadata(Which::Before, old) == self.metadata(Which::After, new);
            aspects.note(Aspect::Metadata, !same);
        }
        aspects
    }

    fn same_attributes(&mut self, before: InstructionId, after: InstructionId, matching: &Matching) -> bool {
        let metadata = self.options.metadata;
        let counts = |attr: &&Attr| {
            attr.is_printed() && (metadata || !matches!(attr.key, AttrKey::Origin | AttrKey::Statistics))
        };
        let mut old = self.module(Which::Before).attributes(before).iter().filter(counts);
        let mut new = self.module(Which::After).attributes(after).iter().filter(counts);
        loop {
            match (old.next(), new.next()) {
                (None, None) => return true,
                (Some(a), Some(b)) if a.key == b.key && self.same_values(a, b, matching) => {}
                _ => return false,
            }
        }
    }

    fn same_values(&mut self, old: &Attr, new: &Attr, matching: &Matching) -> bool {
        use AttrValue as V;
        let same_computation = |a: ComputationId, b| matching.computation_after(a) == Some(b);
        match (old.value, new.value) {
            (V::Bool(a), V::Bool(b)) => a == b,
            (V::Int(a), V::Int(b)) => a == b,
            (V::Float(a), V::Float(b)) => a.to_bits() == b.to_bits(),
            (V::Word(a), V::Word(b)) => a == b,
            (V::String(a), V::String(b)) | (V::Raw(a), V::Raw(b)) => {
                self.string(Which::Before, a) == self.string(Which::After, b)
            }
            (V::Computation(a), V::Computation(b)) => same_computation(a, b),
            (V::Shape(a), V::Shape(b)) => self.shape(Which::Before, a) == self.shape(Which::After, b),
            (V::Literal(a), V::Literal(b)) => self.same_literals(a, b),
            (V::Value(a), V::Value(b)) => {
                match (self.module(Which::Before).value(a), self.module(Which::After).value(b)) {
                    (Value::Computations(a), Value::Computations(b)) => {
                        a.len() == b.len() && a.iter().zip(b).all(|(&a, &b)| same_computation(a, b))
                    }
                    _ => self.value(Which::Before, a) == self.value(Which::After, b),
                }
            }
            _ => false,
        }
    }

    /// Whether two literals have the same values; their shapes are those of their instructions.
    fn same_literals(&self, old: LiteralId, new: LiteralId) -> bool {
        let mut pairs =
            vec![(self.module(Which::Before).literal(old), self.module(Which::After).literal(new))];
        while let Some((a, b)) = pairs.pop() {
            match (&a.data, &b.data) {
                (LiteralData::Dense(a), LiteralData::Dense(b)) if a == b => {}
                (LiteralData::Elided, LiteralData::Elided) => {}
                (LiteralData::Tuple(a), LiteralData::Tuple(b)) if a.len() == b.len() => {
                    pairs.extend(a.iter().zip(b));
                }
                _ => return false,
            }
        }
        true
    }
}
