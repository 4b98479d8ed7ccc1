//! Modules, computations, instructions: the arenas and the ways to look into them.

use hashbrown::HashMap;

use super::attribute::{Attr, AttrKey, AttrValue};
use super::header::Header;
use super::ids::{ComputationId, InstructionId, LiteralId, MetadataId, PoolRange, ShapeId, Symbol, ValueId};
use super::interner::{Interner, Pool};
use super::literal::Literal;
use super::metadata::Metadata;
use super::opcode::Opcode;
use super::shape::{Shape, ShapeTable};
use super::used_names::UsedNames;
use super::value::Value;

/// An instruction. What has variable length lies in pools of the module; read it through [`Module`].
#[derive(Clone, Debug)]
pub struct Instruction {
    /// Unique among the module's instructions (XLA's uniquing).
    pub name: Symbol,
    /// Result shape.
    pub shape: ShapeId,
    /// Where the operands are, see [`Module::operands`].
    pub(crate) operands: PoolRange,
    /// Where the attributes are, see [`Module::attributes`]. Sorted in the order they are printed.
    pub(crate) attributes: PoolRange,
    /// `metadata=`
    pub metadata: Option<MetadataId>,
    /// The computation it belongs to.
    pub parent: ComputationId,
    /// A constant's literal.
    pub literal: Option<LiteralId>,
    /// A parameter's number, 0 for everything else.
    pub parameter_number: u32,
    /// What it does.
    pub opcode: Opcode,
    /// Whether the module has control predecessors for it; saves the look-up.
    pub(crate) has_control_predecessors: bool,
    /// Whether it has been removed; its id is never used again.
    pub(crate) removed: bool,
}

impl Instruction {
    /// Number of attributes beside metadata and control predecessors.
    pub fn attribute_count(&self) -> usize {
        self.attributes.len()
    }
}

/// A computation.
#[derive(Clone, Debug)]
pub struct Computation {
    /// Unique among the module's computations.
    pub name: Symbol,
    /// In creation order (text order, nested operands before the instruction that uses them).
    pub instructions: Vec<InstructionId>,
    /// Parameters by number.
    pub parameters: Vec<InstructionId>,
    /// The instruction whose value is the result.
    pub root: InstructionId,
    /// `execution_thread=`; `None` is "main".
    pub execution_thread: Option<Symbol>,
}

/// An HLO module: what one HLO text says.
///
/// Everything with a name or a length is interned or pooled, so that cloning is a few `memcpy`s and equal things
/// have equal ids. Edits that keep user lists, names and layout right are the business of the `hlo-passes` crate.
#[derive(Clone, Debug)]
pub struct Module {
    /// The name, as the text has it.
    pub name: Symbol,
    /// The attributes of the `HloModule` line.
    pub header: Header,
    /// Whether prints must read back as this module where XLA's do not: XLA shows some asynchronous computations
    /// and strings in a way that loses part of them, and orders some computations differently each time. Modules
    /// read in lenient mode have it; all others print byte for byte what XLA prints.
    pub reads_back: bool,
    pub(crate) strings: Interner,
    pub(crate) shapes: ShapeTable,
    pub(crate) values: Pool<Value>,
    pub(crate) metadata: Pool<Metadata>,
    pub(crate) literals: Vec<Literal>,
    pub(crate) operand_pool: Vec<InstructionId>,
    pub(crate) attribute_pool: Vec<Attr>,
    pub(crate) control_predecessors: HashMap<InstructionId, Vec<InstructionId>, foldhash::fast::FixedState>,
    pub(crate) as_read: HashMap<(InstructionId, AttrKey), Symbol, foldhash::fast::FixedState>,
    pub(crate) instructions: Vec<Instruction>,
    /// `None`: reserved for a computation that is named before it is defined, or removed.
    pub(crate) computations: Vec<Option<Computation>>,
    /// Creation order: the order the text finishes them.
    pub(crate) computation_order: Vec<ComputationId>,
    pub(crate) entry: Option<ComputationId>,
    /// Names that edits must not give out again; made by the first edit that needs a name.
    pub(crate) used_names: Option<Box<UsedNames>>,
    /// Computations whose lists still have removed instructions, perhaps more than once.
    pub(crate) with_removed: Vec<ComputationId>,
}

impl Default for Module {
    fn default() -> Self {
        Self::new("")
    }
}

impl Module {
    /// A module without computations.
    pub fn new(name: &str) -> Self {
        let mut strings = Interner::default();
        let name = strings.intern(name.as_bytes());
        Self {
            name,
            header: Header::default(),
            reads_back: false,
            strings,
            shapes: ShapeTable::default(),
            values: Pool::default(),
            metadata: Pool::default(),
            literals: Vec::new(),
            operand_pool: Vec::new(),
            attribute_pool: Vec::new(),
            control_predecessors: HashMap::with_hasher(super::HASHER),
            as_read: HashMap::with_hasher(super::HASHER),
            instructions: Vec::new(),
            computations: Vec::new(),
            computation_order: Vec::new(),
            entry: None,
            used_names: None,
            with_removed: Vec::new(),
        }
    }

    /// The entry computation.
    ///
    /// # Panics
    /// On a module under construction; every parsed module has one.
    pub fn entry(&self) -> ComputationId {
        self.entry.expect("a finished module has an entry computation")
    }

    /// The computations in creation order.
    pub fn computations(&self) -> &[ComputationId] {
        &self.computation_order
    }

    /// A computation.
    ///
    /// # Panics
    /// If it was removed.
    #[inline]
    pub fn computation(&self, id: ComputationId) -> &Computation {
        self.computations[id.index()].as_ref().expect("computation was removed")
    }

    /// An instruction.
    #[inline]
    pub fn instruction(&self, id: InstructionId) -> &Instruction {
        &self.instructions[id.index()]
    }

    /// Number of instruction ids ever given out; ids are below it.
    pub fn instruction_id_limit(&self) -> usize {
        self.instructions.len()
    }

    /// Number of computation ids ever given out; ids are below it.
    pub fn computation_id_limit(&self) -> usize {
        self.computations.len()
    }

    /// Number of instructions in all computations.
    pub fn instruction_count(&self) -> usize {
        self.computation_order.iter().map(|&id| self.computation(id).instructions.len()).sum()
    }

    /// The operands of an instruction.
    #[inline]
    pub fn operands(&self, id: InstructionId) -> &[InstructionId] {
        &self.operand_pool[self.instruction(id).operands.as_range()]
    }

    /// The attributes of an instruction beside metadata and control predecessors, in printing order.
    #[inline]
    pub fn attributes(&self, id: InstructionId) -> &[Attr] {
        &self.attribute_pool[self.instruction(id).attributes.as_range()]
    }

    /// The instructions that must run before this one although it doesn't use them, in text order.
    pub fn control_predecessors(&self, id: InstructionId) -> &[InstructionId] {
        if !self.instruction(id).has_control_predecessors {
            return &[];
        }
        self.control_predecessors.get(&id).map_or(&[], Vec::as_slice)
    }

    /// The value of an attribute, `None` if the instruction doesn't have it.
    #[inline]
    pub fn attribute(&self, id: InstructionId, key: AttrKey) -> Option<AttrValue> {
        self.attributes(id).iter().find(|attr| attr.key == key).map(|attr| attr.value)
    }

    /// A structured attribute value, `None` if the instruction doesn't have it or it isn't structured.
    pub fn value_of(&self, id: InstructionId, key: AttrKey) -> Option<&Value> {
        match self.attribute(id, key)? {
            AttrValue::Value(value) => Some(self.value(value)),
            _ => None,
        }
    }

    /// An integer list attribute such as `dimensions`.
    pub fn ints(&self, id: InstructionId, key: AttrKey) -> Option<&[i64]> {
        match self.value_of(id, key)? {
            Value::Ints(ints) => Some(ints),
            _ => None,
        }
    }

    /// An integer attribute such as `index`.
    pub fn int(&self, id: InstructionId, key: AttrKey) -> Option<i64> {
        match self.attribute(id, key)? {
            AttrValue::Int(int) => Some(int),
            _ => None,
        }
    }

    /// A flag; absent flags are their default.
    pub fn flag(&self, id: InstructionId, key: AttrKey) -> bool {
        match self.attribute(id, key) {
            Some(AttrValue::Bool(flag)) => flag,
            _ => key.info().default == super::AttrDefault::Bool(true),
        }
    }

    /// A string attribute such as `custom_call_target`.
    pub fn string(&self, id: InstructionId, key: AttrKey) -> Option<&[u8]> {
        match self.attribute(id, key)? {
            AttrValue::String(symbol) => Some(self.strings.get(symbol)),
            _ => None,
        }
    }

    /// The computation named by an attribute such as `to_apply`.
    pub fn called(&self, id: InstructionId, key: AttrKey) -> Option<ComputationId> {
        match self.attribute(id, key)? {
            AttrValue::Computation(computation) => Some(computation),
            _ => None,
        }
    }

    /// Calls `visit` for each computation the instruction calls, in XLA's order: `body` before `condition`,
    /// everything else as printed.
    #[inline]
    pub fn for_each_called_computation(&self, id: InstructionId, mut visit: impl FnMut(ComputationId)) {
        let instruction = self.instruction(id);
        let attributes = &self.attribute_pool[instruction.attributes.as_range()];
        let mut each = |attr: &Attr| match attr.value {
            AttrValue::Computation(computation) => visit(computation),
            AttrValue::Value(value) if attr.key.is_called_computation() => {
                if let Value::Computations(computations) = self.value(value) {
                    computations.iter().copied().for_each(&mut visit);
                }
            }
            _ => {}
        };
        if instruction.opcode == Opcode::While {
            attributes.iter().rev().for_each(&mut each);
        } else {
            attributes.iter().for_each(&mut each);
        }
    }

    /// A structured attribute value.
    #[inline]
    pub fn value(&self, id: ValueId) -> &Value {
        self.values.get(id.index())
    }

    /// The id of a structured attribute value, which is added if it is new.
    pub fn intern_value(&mut self, value: Value) -> ValueId {
        ValueId::from_index(self.values.intern(value))
    }

    /// A metadata block.
    #[inline]
    pub fn metadata(&self, id: MetadataId) -> &Metadata {
        self.metadata.get(id.index())
    }

    /// The id of a metadata block, which is added if it is new.
    pub fn intern_metadata(&mut self, metadata: Metadata) -> MetadataId {
        MetadataId::from_index(self.metadata.intern(metadata))
    }

    /// All ids of literals are below this; those of literals that are added later are not.
    pub fn literal_id_limit(&self) -> usize {
        self.literals.len()
    }

    /// A literal.
    #[inline]
    pub fn literal(&self, id: LiteralId) -> &Literal {
        &self.literals[id.index()]
    }

    /// Adds a literal.
    pub fn add_literal(&mut self, literal: Literal) -> LiteralId {
        self.literals.push(literal);
        LiteralId::from_index(self.literals.len() - 1)
    }

    /// The shapes of the module.
    pub fn shapes(&self) -> &ShapeTable {
        &self.shapes
    }

    /// The shapes of the module, to add some.
    pub fn shapes_mut(&mut self) -> &mut ShapeTable {
        &mut self.shapes
    }

    /// A shape.
    #[inline]
    pub fn shape(&self, id: ShapeId) -> &Shape {
        self.shapes.get(id)
    }

    /// The result shape of an instruction.
    #[inline]
    pub fn shape_of(&self, id: InstructionId) -> &Shape {
        self.shapes.get(self.instruction(id).shape)
    }

    /// The strings of the module.
    pub fn strings(&self) -> &Interner {
        &self.strings
    }

    /// The strings of the module, to add some.
    pub fn strings_mut(&mut self) -> &mut Interner {
        &mut self.strings
    }

    /// An instruction's name.
    #[inline]
    pub fn name_of(&self, id: InstructionId) -> &str {
        self.strings.name(self.instruction(id).name)
    }

    /// A computation's name.
    pub fn computation_name(&self, id: ComputationId) -> &str {
        self.strings.name(self.computation(id).name)
    }

    /// How the text spelt an attribute that is printed differently today (`--syntax=as-read`).
    pub fn as_read(&self, id: InstructionId, key: AttrKey) -> Option<&[u8]> {
        self.as_read.get(&(id, key)).map(|&symbol| self.strings.get(symbol))
    }
}
