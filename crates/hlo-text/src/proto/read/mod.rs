//! From messages to the IR, one file per family of messages.
//!
//! Instructions go through the same checks as those of texts (see [`Builder`]). Messages that repeat, shapes and
//! metadata above all, are looked at once.

mod header;
mod instruction;
mod literal;
mod metadata;
mod shape;
mod sharding;
mod values;

use hashbrown::HashMap;

use super::cache::BytesCache;
use super::fault::{Fault, FaultKind, InField, Read};
use super::schema::{hlo_computation_proto as c, hlo_module_proto as m};
use super::wire::Fields;
use crate::ir::{
    Attr, AttrKey, AttrValue, ComputationId, HASHER, InstructionId, MetadataId, Module, ShapeId, Symbol,
};
use crate::parser::Dialect;
use crate::parser::builder::Builder;

/// How deeply modules may stand in recovery tables of modules.
const MAX_MODULE_NESTING: usize = 8;

/// About how many bytes an instruction takes, for the first allocations.
const BYTES_PER_INSTRUCTION: usize = 150;

/// What kinds of messages are kept apart in the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kept {
    Shape,
    Metadata,
    Attribute(AttrKey),
}

/// What the bytes of a message stand for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cached {
    Shape(ShapeId),
    Metadata(Option<MetadataId>),
    Value(Option<AttrValue>),
}

type Ids<T> = HashMap<i64, T, foldhash::fast::FixedState>;

/// What has been met.
type Seen<T> = hashbrown::HashSet<T, foldhash::fast::FixedState>;

/// The ids that the form has for what is in the IR.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProtoIds {
    /// By instruction.
    pub(crate) instructions: Vec<i64>,
    /// By computation.
    pub(crate) computations: Vec<i64>,
    /// The computation each instruction was read in.
    pub(crate) parents: Vec<ComputationId>,
}

impl ProtoIds {
    /// Whether the instruction is one that was read, and where it was then.
    pub(crate) fn has(&self, module: &Module, id: InstructionId) -> bool {
        self.parents.get(id.index()) == Some(&module.instruction(id).parent)
    }
}

/// A module that has been read.
pub(crate) struct ReadModule {
    pub(crate) module: Module,
    pub(crate) ids: ProtoIds,
    /// What is to be said although it was accepted.
    pub(crate) repeated_names: Vec<String>,
}

/// Reads one `HloModuleProto`.
pub(super) struct Reader<'b> {
    builder: Builder<'static>,
    dialect: Dialect,
    cache: BytesCache<'b, Kept, Cached>,
    instructions: Ids<InstructionId>,
    computations: Ids<ComputationId>,
    ids: ProtoIds,
    /// Texts that others refer to by number.
    payloads: Vec<&'b [u8]>,
    /// The first instruction of the computation in the making.
    first_instruction: usize,
    /// Bytes of the whole module.
    size: usize,
    /// How many modules this one is inside of.
    depth: usize,
    // Kept for their memory.
    fields: Vec<super::wire::Field<'b>>,
    operands: Vec<InstructionId>,
    attributes: Vec<Attr>,
}

/// Reads the module in `bytes`.
pub(crate) fn read_module(bytes: &[u8], dialect: Dialect) -> Read<ReadModule> {
    read_nested(bytes, dialect, 0)
}

fn read_nested(bytes: &[u8], dialect: Dialect, depth: usize) -> Read<ReadModule> {
    if depth > MAX_MODULE_NESTING {
        let message = format!("modules are nested more than {MAX_MODULE_NESTING} levels deep");
        return Err(Fault::new(FaultKind::TooDeep, message));
    }
    let expected = bytes.len() / BYTES_PER_INSTRUCTION;
    let reader = Reader {
        builder: Builder::for_parts(dialect, expected),
        dialect,
        cache: BytesCache::default(),
        instructions: Ids::with_capacity_and_hasher(expected, HASHER),
        computations: Ids::with_hasher(HASHER),
        ids: ProtoIds::default(),
        payloads: Vec::new(),
        first_instruction: 0,
        size: bytes.len(),
        depth,
        fields: Vec::new(),
        operands: Vec::new(),
        attributes: Vec::new(),
    };
    reader.read(bytes)
}

/// The instructions of computations in the order they run.
type Sequences = Vec<(ComputationId, Vec<InstructionId>)>;

impl<'b> Reader<'b> {
    fn module(&mut self) -> &mut Module {
        self.builder.module()
    }

    /// A name as XLA makes it legal when it reads one.
    fn name(&mut self, bytes: &[u8]) -> Symbol {
        if crate::ir::is_legal_name(bytes) {
            return self.module().strings_mut().intern(bytes);
        }
        // XLA replaces bytes, not characters.
        let ascii = bytes.iter().map(|&byte| if byte.is_ascii() { char::from(byte) } else { '_' });
        let text: String = ascii.collect();
        let legal = crate::ir::sanitize(&text);
        self.module().strings_mut().intern(legal.as_bytes())
    }

    fn read(mut self, bytes: &'b [u8]) -> Read<ReadModule> {
        for field in Fields::new(bytes) {
            let field = field?;
            if field.number == m::PAYLOADS {
                self.payloads.push(field.bytes().within("payloads")?);
            }
        }
        let (mut entry_id, mut schedule) = (0, None);
        let mut order = Vec::new();
        for field in Fields::new(bytes) {
            let field = field?;
            match field.number {
                m::NAME => {
                    let name = field.bytes().within("name")?;
                    let name = self.name(name);
                    self.module().name = name;
                }
                m::COMPUTATIONS => {
                    let index = order.len();
                    let read = field.bytes().and_then(|bytes| self.computation(bytes));
                    order.push(read.at("computations", index)?);
                }
                m::ENTRY_COMPUTATION_ID => entry_id = field.int64().within("entry_computation_id")?,
                m::SCHEDULE => schedule = Some(field.bytes().within("schedule")?),
                _ => {}
            }
        }
        let Some(&entry) = self.computations.get(&entry_id) else {
            let message = format!("no computation has the id {entry_id}");
            return Err(Fault::new(FaultKind::Id, message).within("entry_computation_id"));
        };
        order.sort_by_key(|&(id, _)| id);
        self.module().computation_order = order.into_iter().map(|(_, computation)| computation).collect();
        self.module().entry = Some(entry);
        if let Some(schedule) = schedule {
            let sequences = self.schedule(schedule).within("schedule")?;
            self.run_in_order(sequences);
        }
        self.header(bytes, entry)?;
        let repeated_names = self.check_names()?;
        Ok(ReadModule { module: self.builder.into_module(), ids: self.ids, repeated_names })
    }

    fn computation(&mut self, bytes: &'b [u8]) -> Read<(i64, ComputationId)> {
        let mut name: &[u8] = &[];
        let result = self.computation_parts(bytes, &mut name);
        result.map_err(|fault| fault.named(name))
    }

    fn computation_parts(&mut self, bytes: &'b [u8], name: &mut &'b [u8]) -> Read<(i64, ComputationId)> {
        let (mut id, mut root_id, mut thread) = (0, 0, None);
        for field in Fields::new(bytes) {
            let field = field?;
            match field.number {
                c::NAME => *name = field.bytes().within("name")?,
                c::ID => id = field.int64().within("id")?,
                c::ROOT_ID => root_id = field.int64().within("root_id")?,
                c::EXECUTION_THREAD => thread = self.text(&field).within("execution_thread")?,
                _ => {}
            }
        }
        let symbol = self.name(name);
        let computation = self.builder.begin_computation(symbol);
        self.first_instruction = self.builder.module_ref().instruction_id_limit();
        let mut order = Vec::new();
        for field in Fields::new(bytes) {
            let field = field?;
            if field.number == c::INSTRUCTIONS {
                let index = order.len();
                let read = field.bytes().and_then(|bytes| self.instruction(bytes));
                let (instruction_id, instruction) = read.at("instructions", index)?;
                self.ids.instructions.resize(instruction.index() + 1, 0);
                self.ids.instructions[instruction.index()] = instruction_id;
                self.ids.parents.resize(instruction.index() + 1, computation);
                order.push((instruction_id, instruction));
            }
        }
        let first = self.first_instruction;
        let Some(&root) = self.instructions.get(&root_id).filter(|root| root.index() >= first) else {
            let message = format!("no instruction of the computation has the id {root_id}");
            return Err(Fault::new(FaultKind::Id, message).within("root_id"));
        };
        let root = self.sort_by_id(order, root);
        let order = (first..self.builder.module_ref().instruction_id_limit()).map(InstructionId::from_index);
        let order = order.collect();
        let thread = thread.filter(|&thread| self.builder.module_ref().strings().get(thread) != b"main");
        self.builder
            .end_computation(computation, root, order, thread)
            .map_err(|error| Fault::new(FaultKind::Checked(error.code), error.message))?;
        if self.computations.insert(id, computation).is_some() {
            return Err(Fault::new(FaultKind::Id, format!("two computations have the id {id}")).within("id"));
        }
        self.ids.computations.resize(computation.index() + 1, 0);
        self.ids.computations[computation.index()] = id;
        Ok((id, computation))
    }

    /// Gives the instructions of the computation in the making the order of their ids in the message, in which XLA has
    /// them; gives the root under its new id.
    fn sort_by_id(&mut self, order: Vec<(i64, InstructionId)>, root: InstructionId) -> InstructionId {
        if order.is_sorted_by_key(|&(id, _)| id) {
            return root;
        }
        let first = self.first_instruction;
        let mut sorted = order;
        sorted.sort_by_key(|&(id, _)| id);
        let old: Vec<InstructionId> = sorted.iter().map(|&(_, instruction)| instruction).collect();
        for (place, &(id, _)) in sorted.iter().enumerate() {
            self.ids.instructions[first + place] = id;
            self.instructions.insert(id, InstructionId::from_index(first + place));
        }
        let new = self.builder.reorder(first, &old);
        new.get(root.index() - first).copied().unwrap_or(root)
    }

    /// Puts the instructions of computations in the order of the schedule. Others are printed in post-order.
    fn run_in_order(&mut self, sequences: Sequences) {
        self.module().header.is_scheduled = true;
        let scheduled: Seen<ComputationId> = sequences.iter().map(|row| row.0).collect();
        let module = self.module();
        let others: Vec<ComputationId> =
            module.computations().iter().copied().filter(|id| !scheduled.contains(id)).collect();
        for id in others {
            let order = crate::printer::post_order(module, id);
            module.set_instruction_order(id, order);
        }
        for (id, order) in sequences {
            module.set_instruction_order(id, order);
        }
    }

    /// Names are there once each. In lenient reading those that aren't get new ones; gives the old ones.
    fn check_names(&mut self) -> Read<Vec<String>> {
        let module = self.builder.module_ref();
        let mut repeated = Vec::new();
        let mut seen = vec![false; module.strings().len()];
        let mut look = |name: Symbol| {
            if std::mem::replace(&mut seen[name.index()], true) {
                repeated.push(module.strings().name(name).to_owned());
            }
        };
        for &id in module.computations() {
            module.computation(id).instructions.iter().for_each(|&id| look(module.instruction(id).name));
        }
        let mut seen_computations = vec![false; module.strings().len()];
        for &id in module.computations() {
            let name = module.computation(id).name;
            if std::mem::replace(&mut seen_computations[name.index()], true) {
                repeated.push(module.strings().name(name).to_owned());
            }
        }
        match repeated.first() {
            None => {}
            Some(first) if self.dialect == Dialect::Strict => {
                let code = crate::diagnostic::Code::DuplicateInstruction;
                let message = format!("the name `{first}` is given twice");
                return Err(Fault::new(FaultKind::Checked(code), message));
            }
            Some(_) => crate::parser::make_names_unique(self.module(), &[]),
        }
        Ok(repeated)
    }
}
