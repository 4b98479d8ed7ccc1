//! From messages to the IR, one file per family of messages.
//!
//! Instructions go through the same checks as those of texts (see [`Builder`]). Messages that repeat, shapes and
//! metadata above all, are looked at once.

mod header;
mod ids;
mod instruction;
mod literal;
mod metadata;
mod plan;
mod shape;
mod sharding;
mod values;

use hashbrown::HashMap;

use super::cache::BytesCache;
use super::fault::{Fault, FaultKind, InField, Read};
use super::schema::{hlo_computation_proto as c, hlo_module_proto as m};
use super::wire::Fields;
use crate::ir::{
    Attr, AttrValue, ComputationId, HASHER, InstructionId, LiteralId, MetadataId, Module, ShapeId, Symbol,
};
use crate::parser::Dialect;
use crate::parser::builder::Builder;
use ids::InstructionIds;

/// How deeply modules may stand in recovery tables of modules.
const MAX_MODULE_NESTING: usize = 8;

/// How many instructions are looked at to say how many there are: parameters and constants come first and are short.
const SAMPLED_INSTRUCTIONS: usize = 4096;

/// As few bytes as instructions take in the mean, so that what is allocated for them is bounded by the input.
const MIN_INSTRUCTION_BYTES: usize = 32;

/// The kind of messages in caches that hold only one.
const ANY: u8 = 0;

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
    shapes: BytesCache<'b, ShapeId>,
    metadata: BytesCache<'b, Option<MetadataId>>,
    literals: BytesCache<'b, LiteralId>,
    /// By attribute.
    values: BytesCache<'b, Option<AttrValue>>,
    instructions: InstructionIds,
    computations: Ids<ComputationId>,
    /// The ids of computations by computation.
    computation_ids: Vec<i64>,
    /// The computations of instructions by instruction.
    parents: Vec<ComputationId>,
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
    slots: Vec<instruction::Slot>,
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
    let expected = expected_instructions(bytes);
    let reader = Reader {
        builder: Builder::for_parts(dialect, expected, bytes.len()),
        dialect,
        shapes: BytesCache::default(),
        metadata: BytesCache::default(),
        literals: BytesCache::default(),
        values: BytesCache::default(),
        instructions: InstructionIds::with_capacity(expected),
        computations: Ids::with_hasher(HASHER),
        computation_ids: Vec::new(),
        parents: Vec::with_capacity(expected),
        payloads: Vec::new(),
        first_instruction: 0,
        size: bytes.len(),
        depth,
        fields: Vec::new(),
        slots: vec![Default::default(); instruction::SLOTS],
        operands: Vec::new(),
        attributes: Vec::new(),
    };
    reader.read(bytes)
}

/// About how many instructions the module in `bytes` has, for the first allocations: as many as there would be if all
/// were as long as the first ones of the longest computation.
fn expected_instructions(bytes: &[u8]) -> usize {
    let fields =
        |bytes, number| Fields::new(bytes).map_while(Result::ok).filter(move |field| field.number == number);
    let (mut total, mut longest): (usize, &[u8]) = (0, &[]);
    for field in fields(bytes, m::COMPUTATIONS) {
        total += field.bytes.len();
        if field.bytes.len() > longest.len() {
            longest = field.bytes;
        }
    }
    let (mut count, mut sampled) = (0, 0);
    for field in fields(longest, c::INSTRUCTIONS).take(SAMPLED_INSTRUCTIONS) {
        count += 1;
        sampled += field.raw.len();
    }
    total / (sampled / count.max(1)).max(MIN_INSTRUCTION_BYTES)
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
        let ids = ProtoIds {
            instructions: self.instructions.into_ids(),
            computations: self.computation_ids,
            parents: self.parents,
        };
        Ok(ReadModule { module: self.builder.into_module(), ids, repeated_names })
    }

    fn computation(&mut self, bytes: &'b [u8]) -> Read<(i64, ComputationId)> {
        let mut name: &[u8] = &[];
        let result = self.computation_parts(bytes, &mut name);
        result.map_err(|fault| fault.named(name))
    }

    fn computation_parts(&mut self, bytes: &'b [u8], name: &mut &'b [u8]) -> Read<(i64, ComputationId)> {
        let (mut id, mut root_id, mut thread, mut count) = (0, 0, None, 0);
        for field in Fields::new(bytes) {
            let field = field?;
            match field.number {
                c::INSTRUCTIONS => count += 1,
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
        self.instructions.begin_computation();
        let mut order: Vec<(i64, InstructionId)> = Vec::with_capacity(count);
        for field in Fields::new(bytes) {
            let field = field?;
            if field.number == c::INSTRUCTIONS {
                let index = order.len();
                let read = field.bytes().and_then(|bytes| self.instruction(bytes));
                order.push(read.at("instructions", index)?);
            }
        }
        let first = self.first_instruction;
        let Some(root) = self.instructions.get(root_id).filter(|root| root.index() >= first) else {
            let message = format!("no instruction of the computation has the id {root_id}");
            return Err(Fault::new(FaultKind::Id, message).within("root_id"));
        };
        let root = self.sort_by_id(order, root);
        self.parents.resize(self.builder.module_ref().instruction_id_limit(), computation);
        let order = (first..self.builder.module_ref().instruction_id_limit()).map(InstructionId::from_index);
        let order = order.collect();
        let thread = thread.filter(|&thread| self.builder.module_ref().strings().get(thread) != b"main");
        self.builder
            .end_computation(computation, root, order, thread)
            .map_err(|error| Fault::new(FaultKind::Checked(error.code), error.message))?;
        if self.computations.insert(id, computation).is_some() {
            return Err(Fault::new(FaultKind::Id, format!("two computations have the id {id}")).within("id"));
        }
        self.computation_ids.resize(computation.index() + 1, 0);
        self.computation_ids[computation.index()] = id;
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
        self.instructions.set(first, sorted.iter().map(|&(id, _)| id));
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
