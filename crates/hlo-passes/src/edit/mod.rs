//! The only way passes change a module: adding, replacing and removing instructions with XLA's rules about names,
//! metadata, control edges and dead operands, and everything that must follow kept consistent.

mod builder;
mod clone;
mod constants;
mod effects;
mod element_type;
mod elements;
mod fusion;
mod inline;
#[cfg(test)]
mod inline_tests;
mod interface;
mod operand_places;
mod replace;
mod schedule;
mod shardy;
#[cfg(test)]
pub(crate) mod tests;
mod text;
mod users;

use std::cell::{Cell, OnceCell, RefCell};
use std::ops::Deref;

use hlo_text::Module;
use hlo_text::ir::{
    AttrKey, AttrValue, ComputationId, ElementType, InstructionId, Literal, LiteralId, Metadata, MetadataId,
    NewInstruction, Opcode, Shape, ShapeId, Symbol, Value, ValueId,
};

use crate::Map;
use crate::analysis::PostOrder;
use crate::pass::{PassError, PassResult};
use constants::LiteralFacts;
use effects::EffectCache;
use operand_places::OperandPlaces;
use users::UserLists;

pub use constants::IntegerRange;
pub(crate) use constants::integer;
pub use inline::{InlinedInstructions, KnownNeeds};
pub use interface::ResultSource;
pub use replace::ReplaceOptions;

/// How many instructions of each opcode came and went.
#[derive(Clone, Debug)]
pub struct EditCounts {
    /// By [`Opcode`] as a number.
    pub added: Vec<u32>,
    /// By [`Opcode`] as a number.
    pub removed: Vec<u32>,
}

impl Default for EditCounts {
    fn default() -> Self {
        Self { added: vec![0; Opcode::ALL.len()], removed: vec![0; Opcode::ALL.len()] }
    }
}

/// A module being edited. It reads like the [`Module`] it derefs to. User lists and the like are made when first
/// asked for and then kept up to date, over as many passes as share the editor.
///
/// Removed instructions stay in [`Computation::instructions`](hlo_text::ir::Computation) until
/// [`Editor::compact`] or the end of the editor; [`Module::live_instructions`] leaves them out.
pub struct Editor<'m> {
    module: &'m mut Module,
    users: OnceCell<UserLists>,
    operand_places: OperandPlaces,
    control_successors: OnceCell<UserLists>,
    callers: OnceCell<UserLists>,
    effects: EffectCache,
    literal_facts: LiteralFacts,
    post_order: RefCell<PostOrder>,
    /// The largest channel id in use, at least 0.
    largest_channel_id: Cell<Option<i64>>,
    /// What became of metadata when a call's `op_name` was put before its own.
    prefixed_metadata: Map<(Symbol, Option<MetadataId>), Option<MetadataId>>,
    /// Ids below this were there when the schedule was last right.
    first_new: usize,
    touched: bool,
    counts: EditCounts,
    /// How many instructions were copied or moved by inlining since the counts were reset.
    copied: u64,
    /// Computations that inlining has emptied, to be removed together.
    emptied: Vec<ComputationId>,
}

impl Deref for Editor<'_> {
    type Target = Module;

    fn deref(&self) -> &Module {
        self.module
    }
}

impl Drop for Editor<'_> {
    fn drop(&mut self) {
        self.compact();
    }
}

impl<'m> Editor<'m> {
    /// Starts editing.
    pub fn new(module: &'m mut Module) -> Self {
        let first_new = module.instruction_id_limit();
        Self {
            module,
            users: OnceCell::new(),
            operand_places: OperandPlaces::default(),
            control_successors: OnceCell::new(),
            callers: OnceCell::new(),
            effects: EffectCache::default(),
            literal_facts: LiteralFacts::default(),
            post_order: RefCell::default(),
            largest_channel_id: Cell::new(None),
            prefixed_metadata: Map::default(),
            first_new,
            touched: false,
            counts: EditCounts::default(),
            copied: 0,
            emptied: Vec::new(),
        }
    }

    /// Whether anything was changed since the last [`Editor::reset_counts`]; a change may have been undone.
    pub fn is_touched(&self) -> bool {
        self.touched
    }

    /// What came and went since the last [`Editor::reset_counts`].
    pub fn counts(&self) -> &EditCounts {
        &self.counts
    }

    /// Forgets what came and went.
    pub fn reset_counts(&mut self) {
        self.touched = false;
        self.counts = EditCounts::default();
        self.copied = 0;
    }

    /// Drops removed instructions from the lists of their computations and computations that inlining has emptied, and
    /// puts new instructions of scheduled modules where they can run.
    pub fn compact(&mut self) {
        let mut emptied = std::mem::take(&mut self.emptied);
        emptied.retain(|&id| self.module.has_computation(id));
        self.remove_computations(&emptied);
        self.module.compact();
        self.update_schedule();
    }

    // ------------------------------------------------------------ questions

    /// The instructions that use `id` as an operand, each once. In XLA's order: by when they began to use it, but
    /// the last one takes the place of one that stopped.
    pub fn users(&self, id: InstructionId) -> &[InstructionId] {
        self.user_lists().get(id.index())
    }

    fn user_lists(&self) -> &UserLists {
        self.users.get_or_init(|| {
            let mut lists = UserLists::with_capacity(self.module.instruction_id_limit());
            for &computation in self.module.computations() {
                for user in self.module.live_instructions(computation) {
                    for operand in self.module.operands(user) {
                        lists.add(operand.index(), user);
                    }
                }
            }
            lists
        })
    }

    /// The instructions that must run after `id` although they don't use it.
    pub fn control_successors(&self, id: InstructionId) -> &[InstructionId] {
        let lists = self.control_successors.get_or_init(|| {
            let mut lists = UserLists::default();
            if !self.module.is_free_of_control_edges() {
                for &computation in self.module.computations() {
                    for successor in self.module.live_instructions(computation) {
                        for predecessor in self.module.control_predecessors(successor) {
                            lists.add(predecessor.index(), successor);
                        }
                    }
                }
            }
            lists
        });
        lists.get(id.index())
    }

    /// Whether `id` has control predecessors or successors.
    pub fn has_control_dependencies(&self, id: InstructionId) -> bool {
        !self.module.control_predecessors(id).is_empty() || !self.control_successors(id).is_empty()
    }

    /// The instructions that call a computation, each once.
    pub fn callers(&self, id: ComputationId) -> &[InstructionId] {
        let lists = self.callers.get_or_init(|| {
            let mut lists = UserLists::with_capacity(self.module.computation_id_limit());
            for &computation in self.module.computations() {
                for caller in self.module.live_instructions(computation) {
                    self.module
                        .for_each_called_computation(caller, |callee| lists.add(callee.index(), caller));
                }
            }
            lists
        });
        lists.get(id.index())
    }

    /// The `fusion` whose body the computation is.
    pub fn fusion_of(&self, id: ComputationId) -> Option<InstructionId> {
        let callers = self.callers(id).iter().copied();
        callers.filter(|&caller| self.instruction(caller).opcode == Opcode::Fusion).last()
    }

    /// Whether the computation is the body of a `fusion`.
    pub fn is_fusion_computation(&self, id: ComputationId) -> bool {
        self.fusion_of(id).is_some()
    }

    /// Whether the computation is what an `async-start` starts: one instruction and its parameters, and so it must stay.
    pub fn is_async_computation(&self, id: ComputationId) -> bool {
        self.callers(id).iter().any(|&caller| self.instruction(caller).opcode == Opcode::AsyncStart)
    }

    /// Whether the instruction has no users and is not the root.
    pub fn is_dead(&self, id: InstructionId) -> bool {
        self.users(id).is_empty() && !self.is_root(id)
    }

    /// The instructions of a computation in post-order, see [`PostOrder::of`].
    pub fn post_order(&self, id: ComputationId) -> Vec<InstructionId> {
        self.post_order.borrow_mut().of(self.module, id)
    }

    /// The instructions of a computation in the order of XLA's visitors, see [`PostOrder::accept_order`].
    pub fn accept_order(&self, id: ComputationId) -> Vec<InstructionId> {
        self.post_order.borrow_mut().accept_order(self.module, id)
    }

    /// The element type, `None` unless the result is an array.
    pub fn element_type(&self, id: InstructionId) -> Option<ElementType> {
        self.shape_of(id).as_array().map(|array| array.element_type)
    }

    /// A channel id that is free: one more than the largest in the module, at least 1. The scan happens once.
    ///
    /// # Errors
    /// If the largest in the module is the largest there is.
    pub fn next_channel_id(&mut self) -> PassResult<i64> {
        let largest = self.largest_channel_id.get().unwrap_or_else(|| {
            let ids = self.module.computations().iter().flat_map(|&id| self.module.live_instructions(id));
            let channels = ids.filter_map(|id| self.module.int(id, AttrKey::ChannelId));
            channels.max().unwrap_or(0).max(0)
        });
        self.largest_channel_id.set(Some(largest));
        let next = largest
            .checked_add(1)
            .ok_or_else(|| PassError::new(format!("no channel id is left, {largest} is in use")))?;
        self.largest_channel_id.set(Some(next));
        Ok(next)
    }

    // ------------------------------------------------------------ pools

    /// The symbol of a string.
    pub fn intern(&mut self, text: impl AsRef<[u8]>) -> Symbol {
        self.module.strings_mut().intern(text.as_ref())
    }

    /// The id of a shape.
    pub fn intern_shape(&mut self, shape: Shape) -> ShapeId {
        self.module.shapes_mut().intern(shape)
    }

    /// The id of a static array shape with the default layout.
    pub fn array_shape(&mut self, element_type: ElementType, dimensions: &[i64]) -> ShapeId {
        self.module.shapes_mut().array(element_type, dimensions)
    }

    /// The id of a tuple shape.
    pub fn tuple_shape(&mut self, elements: &[ShapeId]) -> ShapeId {
        self.intern_shape(Shape::Tuple(elements.to_vec()))
    }

    /// The id of a structured attribute value.
    pub fn intern_value(&mut self, value: Value) -> ValueId {
        self.module.intern_value(value)
    }

    /// The id of a metadata block.
    pub fn intern_metadata(&mut self, metadata: Metadata) -> MetadataId {
        self.module.intern_metadata(metadata)
    }

    /// Adds a literal.
    pub fn add_literal(&mut self, literal: Literal) -> LiteralId {
        self.module.add_literal(literal)
    }

    // ------------------------------------------------------------ changes

    /// Appends an instruction.
    pub fn add_instruction(&mut self, parent: ComputationId, new: NewInstruction<'_>) -> InstructionId {
        let id = self.module.add_instruction(parent, new);
        self.note_added(id);
        id
    }

    /// Appends a copy with other operands, named like the original as far as that is free; it has no control edges.
    /// A fusion or an asynchronous start gets a copy of its body.
    pub fn copy_instruction(
        &mut self,
        source: InstructionId,
        parent: ComputationId,
        operands: &[InstructionId],
    ) -> InstructionId {
        let name = self.module.name_of(source).to_owned();
        self.copy_named(source, parent, operands, &name)
    }

    /// Appends a copy like [`Editor::copy_instruction`], but named after its opcode, as new instructions are.
    pub fn copy_instruction_as_new(
        &mut self,
        source: InstructionId,
        parent: ComputationId,
        operands: &[InstructionId],
    ) -> InstructionId {
        let name = self.module.instruction(source).opcode.name();
        self.copy_named(source, parent, operands, name)
    }

    fn copy_named(
        &mut self,
        source: InstructionId,
        parent: ComputationId,
        operands: &[InstructionId],
        name: &str,
    ) -> InstructionId {
        let body = self.own_body(source).map(|body| self.clone_computation(body, clone::SUFFIX).0);
        self.copy_with_body(source, parent, operands, body, name)
    }

    /// Appends a copy with other operands, a name, and, if it has one of its own, another body.
    fn copy_with_body(
        &mut self,
        source: InstructionId,
        parent: ComputationId,
        operands: &[InstructionId],
        body: Option<ComputationId>,
        name: &str,
    ) -> InstructionId {
        let id = self.module.copy_instruction(source, parent, operands, name);
        if let (Some(old), Some(new)) = (self.own_body(source), body) {
            self.module.replace_called_computation(id, old, new);
        }
        self.note_added(id);
        id
    }

    fn note_added(&mut self, id: InstructionId) {
        self.touched = true;
        self.counts.added[self.module.instruction(id).opcode as usize] += 1;
        if let Some(users) = self.users.get_mut() {
            for operand in self.module.operands(id) {
                users.add(operand.index(), id);
            }
        }
        if let Some(callers) = self.callers.get_mut() {
            self.module.for_each_called_computation(id, |callee| callers.add(callee.index(), id));
        }
        self.effects.note_change(self.module, id);
        self.forget_channels(id);
    }

    /// New channel ids may be larger than those seen.
    fn forget_channels(&mut self, id: InstructionId) {
        if let (Some(largest), Some(channel)) =
            (self.largest_channel_id.get(), self.module.int(id, AttrKey::ChannelId))
        {
            self.largest_channel_id.set(Some(largest.max(channel)));
        }
    }

    /// Replaces operand number `index`.
    ///
    /// # Panics
    /// If there is no such operand.
    pub fn set_operand(&mut self, id: InstructionId, index: usize, operand: InstructionId) {
        let old = self.module.operands(id)[index];
        if old == operand {
            return;
        }
        self.touched = true;
        let is_left = self.operand_places.replace_one(self.module, id, index, operand);
        if let Some(users) = self.users.get_mut() {
            if !is_left {
                users.remove(old.index(), id);
            }
            users.add(operand.index(), id);
        }
    }

    /// Replaces all operands.
    pub fn set_operands(&mut self, id: InstructionId, operands: &[InstructionId]) {
        self.touched = true;
        self.operand_places.forget(id);
        if let Some(users) = self.users.get_mut() {
            for old in self.module.operands(id) {
                users.remove(old.index(), id);
            }
        }
        self.module.set_operands(id, operands);
        if let Some(users) = self.users.get_mut() {
            for operand in operands {
                users.add(operand.index(), id);
            }
        }
    }

    /// Sets an attribute or, with `None`, removes it.
    pub fn set_attribute(&mut self, id: InstructionId, key: AttrKey, value: Option<AttrValue>) {
        self.touched = true;
        let calls = key.is_called_computation();
        if calls && let Some(callers) = self.callers.get_mut() {
            self.module.for_each_called_computation(id, |callee| callers.remove(callee.index(), id));
        }
        self.module.set_attribute(id, key, value);
        if calls && let Some(callers) = self.callers.get_mut() {
            self.module.for_each_called_computation(id, |callee| callers.add(callee.index(), id));
        }
        self.effects.forget();
        self.forget_channels(id);
    }

    /// Makes an instruction call `new` wherever it calls `old`.
    pub fn replace_called_computation(&mut self, id: InstructionId, old: ComputationId, new: ComputationId) {
        self.touched = true;
        self.module.replace_called_computation(id, old, new);
        if let Some(callers) = self.callers.get_mut() {
            callers.remove(old.index(), id);
            callers.add(new.index(), id);
        }
        self.effects.forget();
    }

    /// Makes an instruction call `new` where it calls `old` first.
    pub fn replace_first_call(&mut self, id: InstructionId, old: ComputationId, new: ComputationId) {
        self.touched = true;
        self.module.replace_first_call(id, old, new);
        let mut calls_old = false;
        self.for_each_called_computation(id, |callee| calls_old |= callee == old);
        if let Some(callers) = self.callers.get_mut() {
            if !calls_old {
                callers.remove(old.index(), id);
            }
            callers.add(new.index(), id);
        }
        self.effects.forget();
    }

    /// Sets the metadata.
    pub fn set_metadata(&mut self, id: InstructionId, metadata: Option<MetadataId>) {
        self.touched = true;
        self.module.set_metadata(id, metadata);
    }

    /// Sets the result shape, and nothing that depends on it.
    pub fn set_shape(&mut self, id: InstructionId, shape: ShapeId) {
        self.touched = true;
        self.module.set_shape(id, shape);
    }

    /// Makes an instruction the root of its computation.
    pub fn set_root(&mut self, id: InstructionId) {
        self.touched = true;
        let parent = self.module.instruction(id).parent;
        self.module.set_root(parent, id);
    }

    /// Makes `successor` run after `predecessor`.
    pub fn add_control_dependency(&mut self, predecessor: InstructionId, successor: InstructionId) {
        self.touched = true;
        self.module.add_control_dependency(predecessor, successor);
        if let Some(lists) = self.control_successors.get_mut() {
            lists.add(predecessor.index(), successor);
        }
    }

    /// Removes the edge between two instructions.
    pub fn remove_control_dependency(&mut self, predecessor: InstructionId, successor: InstructionId) {
        self.touched = true;
        self.module.remove_control_dependency(predecessor, successor);
        if let Some(lists) = self.control_successors.get_mut() {
            lists.remove(predecessor.index(), successor);
        }
    }

    /// Removes all control edges from and to an instruction.
    pub fn drop_control_dependencies(&mut self, id: InstructionId) {
        for predecessor in self.module.control_predecessors(id).to_vec() {
            self.remove_control_dependency(predecessor, id);
        }
        for successor in self.control_successors(id).to_vec() {
            self.remove_control_dependency(id, successor);
        }
    }

    /// Gives an instruction the control edges of another one, which keeps its own.
    pub fn copy_control_dependencies(&mut self, from: InstructionId, to: InstructionId) {
        for predecessor in self.module.control_predecessors(from).to_vec() {
            if predecessor != to {
                self.add_control_dependency(predecessor, to);
            }
        }
        for successor in self.control_successors(from).to_vec() {
            if successor != to {
                self.add_control_dependency(to, successor);
            }
        }
    }

    /// Removes an instruction that nothing uses and that is not the root, with its control edges. Its operands
    /// stay, see [`Editor::remove_with_dead_operands`].
    pub fn remove_instruction(&mut self, id: InstructionId) {
        self.touched = true;
        self.counts.removed[self.module.instruction(id).opcode as usize] += 1;
        self.effects.note_change(self.module, id);
        self.drop_control_dependencies(id);
        if let Some(users) = self.users.get_mut() {
            for operand in self.module.operands(id) {
                users.remove(operand.index(), id);
            }
        }
        if let Some(callers) = self.callers.get_mut() {
            self.module.for_each_called_computation(id, |callee| callers.remove(callee.index(), id));
        }
        self.module.remove_instruction(id);
    }

    /// Removes computations that nothing calls.
    pub fn remove_computations(&mut self, ids: &[ComputationId]) {
        if ids.is_empty() {
            return;
        }
        self.touched = true;
        for &id in ids {
            for instruction in self.module.live_instructions(id) {
                self.counts.removed[self.module.instruction(instruction).opcode as usize] += 1;
                if let Some(callers) = self.callers.get_mut() {
                    self.module.for_each_called_computation(instruction, |callee| {
                        callers.remove(callee.index(), instruction);
                    });
                }
            }
        }
        self.effects.forget();
        self.module.remove_computations(ids);
    }
}
