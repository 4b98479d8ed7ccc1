//! The low-level ways to change a module. They keep pools, control edges, parents, parameter lists and names
//! consistent; users, fusions and dead code are the business of the editor in `hlo-passes`.
//!
//! Removal leaves tombstones: the id stays valid and [`Module::is_removed`] says so, and
//! [`Computation::instructions`] keeps the entry until [`Module::compact`] runs, so that removing n instructions
//! costs O(n) in total. Names of removed instructions are never given out again, as in XLA.

use super::attribute::{Attr, AttrKey, AttrValue};
use super::header::EntryComputationLayout;
use super::ids::{ComputationId, InstructionId, LiteralId, MetadataId, PoolRange, ShapeId, Symbol};
use super::module::{Computation, Instruction, Module};
use super::opcode::Opcode;
use super::used_names::{UsedNames, sanitize};
use super::value::Value;
use crate::printer::printing_position;

/// What [`Module::add_instruction`] adds.
#[derive(Clone, Copy, Debug)]
pub struct NewInstruction<'a> {
    /// What it does.
    pub opcode: Opcode,
    /// Result shape.
    pub shape: ShapeId,
    /// Operands, of the same computation.
    pub operands: &'a [InstructionId],
    /// Attributes, in any order.
    pub attributes: &'a [Attr],
    /// The name wanted; the opcode's text if empty. It is made legal and unique.
    pub name: &'a str,
    /// `metadata=`
    pub metadata: Option<MetadataId>,
    /// A constant's literal.
    pub literal: Option<LiteralId>,
}

impl<'a> NewInstruction<'a> {
    /// An instruction without attributes, named after its opcode.
    pub fn new(opcode: Opcode, shape: ShapeId, operands: &'a [InstructionId]) -> Self {
        Self { opcode, shape, operands, attributes: &[], name: "", metadata: None, literal: None }
    }
}

impl Module {
    // ------------------------------------------------------------ names

    fn used_names(&mut self) -> &mut UsedNames {
        if self.used_names.is_none() {
            let mut names = UsedNames::default();
            for instruction in &self.instructions {
                names.instructions.take(instruction.name);
            }
            for computation in self.computations.iter().flatten() {
                names.computations.take(computation.name);
            }
            self.used_names = Some(Box::new(names));
        }
        self.used_names.get_or_insert_default()
    }

    /// A fresh instruction name, as like `wanted` as XLA makes it (`add` next to `add` is `add.1`); illegal
    /// characters are replaced.
    pub fn unique_instruction_name(&mut self, wanted: &str) -> Symbol {
        self.used_names();
        let Self { used_names, strings, .. } = self;
        used_names.get_or_insert_default().instructions.unique(&sanitize(wanted), strings)
    }

    /// A fresh name for what comes of an instruction: that which [`Module::unique_instruction_name`] makes of its own.
    fn unique_name_like(&mut self, id: InstructionId) -> Symbol {
        self.used_names();
        let name = self.instruction(id).name;
        let Self { used_names, strings, .. } = self;
        used_names.get_or_insert_default().instructions.unique_like(name, strings)
    }

    /// A fresh computation name, see [`Module::unique_instruction_name`].
    pub fn unique_computation_name(&mut self, wanted: &str) -> Symbol {
        self.used_names();
        let Self { used_names, strings, .. } = self;
        used_names.get_or_insert_default().computations.unique(&sanitize(wanted), strings)
    }

    /// Gives all computations and instructions new names, made unique in the order of the lists. Both lists must be
    /// complete: what is in neither keeps a name that may be given out again.
    pub fn rename_all(
        &mut self,
        computations: &[(ComputationId, &str)],
        instructions: impl IntoIterator<Item = (InstructionId, String)>,
    ) {
        self.used_names = Some(Box::default());
        for &(id, wanted) in computations {
            let name = self.unique_computation_name(wanted);
            if let Some(computation) = self.computations.get_mut(id.index()).and_then(Option::as_mut) {
                computation.name = name;
            }
        }
        for (id, wanted) in instructions {
            let name = self.unique_instruction_name(&wanted);
            self.set_name(id, name);
        }
    }

    // ------------------------------------------------------------ instructions

    /// Whether the instruction has been removed.
    #[inline]
    pub fn is_removed(&self, id: InstructionId) -> bool {
        self.instruction(id).removed
    }

    /// Whether the instruction is the root of its computation.
    #[inline]
    pub fn is_root(&self, id: InstructionId) -> bool {
        self.computation(self.instruction(id).parent).root == id
    }

    /// The instructions of a computation that have not been removed, in creation order.
    pub fn live_instructions(
        &self,
        id: ComputationId,
    ) -> impl DoubleEndedIterator<Item = InstructionId> + '_ {
        self.computation(id).instructions.iter().copied().filter(|&id| !self.is_removed(id))
    }

    /// Appends an instruction to a computation. A parameter gets the next free number.
    pub fn add_instruction(&mut self, parent: ComputationId, new: NewInstruction<'_>) -> InstructionId {
        let wanted = if new.name.is_empty() { new.opcode.name() } else { new.name };
        let name = self.unique_instruction_name(wanted);
        let operands = self.push_operands(new.operands.iter().copied());
        let start = self.attribute_pool.len();
        self.attribute_pool.extend_from_slice(new.attributes);
        let opcode = new.opcode;
        self.attribute_pool[start..].sort_by_key(|attr| printing_position(opcode, attr.key));
        let attributes = PoolRange::new(start, self.attribute_pool.len() - start);
        let instruction = Instruction {
            name,
            shape: new.shape,
            operands,
            attributes,
            metadata: new.metadata,
            parent,
            literal: new.literal,
            parameter_number: 0,
            opcode,
            has_control_predecessors: false,
            removed: false,
        };
        self.push_instruction(parent, instruction)
    }

    /// Appends a copy of `source` with other operands to a computation. The copy has everything but control edges;
    /// its name is made unique. A copied parameter gets the next free number.
    pub fn copy_instruction(
        &mut self,
        source: InstructionId,
        parent: ComputationId,
        operands: &[InstructionId],
        name: &str,
    ) -> InstructionId {
        let name = self.unique_instruction_name(name);
        let operands = self.push_operands(operands.iter().copied());
        let from = self.instruction(source).attributes.as_range();
        let start = self.attribute_pool.len();
        self.attribute_pool.extend_from_within(from);
        let attributes = PoolRange::new(start, self.attribute_pool.len() - start);
        let copy = Instruction {
            name,
            operands,
            attributes,
            parent,
            parameter_number: 0,
            has_control_predecessors: false,
            removed: false,
            ..self.instruction(source).clone()
        };
        self.push_instruction(parent, copy)
    }

    /// Moves an instruction that [`Module::take_instructions`] took to the end of a computation. Everything but
    /// its id and its control edges becomes as a copy has it: it gets a fresh name like the one it has, which stays
    /// taken, and forgets how the text spelt its attributes. A parameter gets the next free number.
    pub fn move_instruction(&mut self, id: InstructionId, parent: ComputationId) {
        let name = self.unique_name_like(id);
        if !self.as_read.is_empty() {
            let attributes = &self.attribute_pool[self.instructions[id.index()].attributes.as_range()];
            for attr in attributes {
                self.as_read.remove(&(id, attr.key));
            }
        }
        let instruction = self.instruction_mut(id);
        instruction.name = name;
        instruction.parent = parent;
        self.list_instruction(parent, id);
    }

    /// Takes the instructions out of a computation that is to be removed. Each must then be moved elsewhere
    /// ([`Module::move_instruction`]) or removed; parameters are no longer listed as such.
    pub fn take_instructions(&mut self, id: ComputationId) -> Vec<InstructionId> {
        let computation = self.computation_mut(id);
        computation.parameters.clear();
        let mut taken = std::mem::take(&mut computation.instructions);
        taken.retain(|&id| !self.is_removed(id));
        taken
    }

    fn push_operands(&mut self, operands: impl Iterator<Item = InstructionId>) -> PoolRange {
        let start = self.operand_pool.len();
        self.operand_pool.extend(operands);
        PoolRange::new(start, self.operand_pool.len() - start)
    }

    fn push_instruction(&mut self, parent: ComputationId, instruction: Instruction) -> InstructionId {
        let id = InstructionId::from_index(self.instructions.len());
        self.instructions.push(instruction);
        self.list_instruction(parent, id);
        id
    }

    /// Puts an instruction at the end of the lists of its computation.
    fn list_instruction(&mut self, parent: ComputationId, id: InstructionId) {
        let is_parameter = self.instruction(id).opcode == Opcode::Parameter;
        let computation = self.computation_mut(parent);
        computation.instructions.push(id);
        if is_parameter {
            let number = computation.parameters.len() as u32;
            computation.parameters.push(id);
            self.instruction_mut(id).parameter_number = number;
        }
    }

    fn computation_mut(&mut self, id: ComputationId) -> &mut Computation {
        self.computations[id.index()].as_mut().expect("computation was removed")
    }

    fn instruction_mut(&mut self, id: InstructionId) -> &mut Instruction {
        &mut self.instructions[id.index()]
    }

    /// Replaces operand number `index`.
    ///
    /// # Panics
    /// If there is no such operand.
    pub fn set_operand(&mut self, id: InstructionId, index: usize, operand: InstructionId) {
        let range = self.instruction(id).operands.as_range();
        self.operand_pool[range][index] = operand;
    }

    /// Replaces all operands, in place if there are not more than before.
    pub fn set_operands(&mut self, id: InstructionId, operands: &[InstructionId]) {
        let old = self.instruction(id).operands.as_range();
        let range = if operands.len() <= old.len() {
            self.operand_pool[old.start..old.start + operands.len()].copy_from_slice(operands);
            PoolRange::new(old.start, operands.len())
        } else {
            self.push_operands(operands.iter().copied())
        };
        self.instruction_mut(id).operands = range;
    }

    /// Sets or, with `None`, removes an attribute. The printing order is kept.
    pub fn set_attribute(&mut self, id: InstructionId, key: AttrKey, value: Option<AttrValue>) {
        self.as_read.remove(&(id, key));
        let range = self.instruction(id).attributes.as_range();
        let found = self.attribute_pool[range.clone()].iter().position(|attr| attr.key == key);
        match (found, value) {
            (None, None) => {}
            (Some(at), Some(value)) => self.attribute_pool[range.start + at].value = value,
            (Some(at), None) => {
                self.attribute_pool[range.start + at..range.end].rotate_left(1);
                self.instruction_mut(id).attributes = PoolRange::new(range.start, range.len() - 1);
            }
            (None, Some(value)) => {
                let opcode = self.instruction(id).opcode;
                let rank = printing_position(opcode, key);
                let at = self.attribute_pool[range.clone()]
                    .partition_point(|attr| printing_position(opcode, attr.key) <= rank);
                let start = self.attribute_pool.len();
                self.attribute_pool.extend_from_within(range.clone());
                self.attribute_pool.insert(start + at, Attr { key, value });
                self.instruction_mut(id).attributes = PoolRange::new(start, range.len() + 1);
            }
        }
    }

    /// Makes an instruction call `new` wherever it calls `old`.
    pub fn replace_called_computation(&mut self, id: InstructionId, old: ComputationId, new: ComputationId) {
        self.replace_calls(id, old, new, usize::MAX);
    }

    /// Makes an instruction call `new` where it calls `old` first, in the order of
    /// [`Module::for_each_called_computation`].
    pub fn replace_first_call(&mut self, id: InstructionId, old: ComputationId, new: ComputationId) {
        self.replace_calls(id, old, new, 1);
    }

    fn replace_calls(&mut self, id: InstructionId, old: ComputationId, new: ComputationId, mut limit: usize) {
        let mut replace = |called: ComputationId| {
            if called == old && limit > 0 {
                limit -= 1;
                return new;
            }
            called
        };
        let range = self.instruction(id).attributes.as_range();
        let mut places: Vec<usize> = range.collect();
        if self.instruction(id).opcode == Opcode::While {
            places.reverse();
        }
        for at in places {
            let attr = self.attribute_pool[at];
            let value = match attr.value {
                AttrValue::Computation(called) => AttrValue::Computation(replace(called)),
                AttrValue::Value(value) if attr.key.is_called_computation() => {
                    let Value::Computations(called) = self.value(value) else { continue };
                    let replaced = Value::Computations(called.iter().copied().map(&mut replace).collect());
                    AttrValue::Value(self.intern_value(replaced))
                }
                _ => continue,
            };
            self.attribute_pool[at].value = value;
        }
    }

    /// Sets the result shape. The shapes of the entry computation's header stay what they were.
    pub fn set_shape(&mut self, id: InstructionId, shape: ShapeId) {
        if Some(self.instruction(id).parent) == self.entry {
            self.settle_entry_layout();
        }
        self.instruction_mut(id).shape = shape;
    }

    /// Sets the metadata.
    pub fn set_metadata(&mut self, id: InstructionId, metadata: Option<MetadataId>) {
        self.instruction_mut(id).metadata = metadata;
    }

    /// Sets a constant's literal.
    pub fn set_literal(&mut self, id: InstructionId, literal: LiteralId) {
        self.instruction_mut(id).literal = Some(literal);
    }

    /// Sets the name, which must be unique: a fresh one, or that of an instruction about to be removed.
    pub fn set_name(&mut self, id: InstructionId, name: Symbol) {
        self.instruction_mut(id).name = name;
    }

    /// Removes an instruction that nothing uses, with its control predecessors. It must not be a root, and it must
    /// not be a control predecessor of another one. Parameters behind a removed one move up.
    pub fn remove_instruction(&mut self, id: InstructionId) {
        self.mark_removed(id);
        let Instruction { parent, opcode, .. } = *self.instruction(id);
        if opcode == Opcode::Parameter {
            self.renumber_parameters(parent);
        }
    }

    /// Removes parameters of one computation that nothing uses, see [`Module::remove_instruction`]; the others are
    /// numbered anew once.
    pub fn remove_parameters(&mut self, parent: ComputationId, parameters: &[InstructionId]) {
        parameters.iter().for_each(|&id| self.mark_removed(id));
        self.renumber_parameters(parent);
    }

    fn mark_removed(&mut self, id: InstructionId) {
        let instruction = self.instruction_mut(id);
        instruction.removed = true;
        let parent = instruction.parent;
        self.drop_control_predecessors(id);
        if self.with_removed.last() != Some(&parent) {
            self.with_removed.push(parent);
        }
    }

    fn renumber_parameters(&mut self, id: ComputationId) {
        let mut parameters = std::mem::take(&mut self.computation_mut(id).parameters);
        parameters.retain(|&parameter| !self.is_removed(parameter));
        for (number, &parameter) in parameters.iter().enumerate() {
            self.instruction_mut(parameter).parameter_number = number as u32;
        }
        self.computation_mut(id).parameters = parameters;
    }

    /// Drops removed instructions from the lists of their computations.
    pub fn compact(&mut self) {
        let mut pending = std::mem::take(&mut self.with_removed);
        pending.sort_unstable();
        pending.dedup();
        let Self { computations, instructions, .. } = self;
        for computation in pending {
            if let Some(computation) = &mut computations[computation.index()] {
                computation.instructions.retain(|id| !instructions[id.index()].removed);
            }
        }
    }

    /// Sets the order of the instructions of a computation, which means something in scheduled modules.
    ///
    /// # Panics
    /// If `order` has another number of instructions than the computation.
    pub fn set_instruction_order(&mut self, id: ComputationId, order: Vec<InstructionId>) {
        let computation = self.computation_mut(id);
        assert_eq!(computation.instructions.len(), order.len(), "the order must have every instruction once");
        computation.instructions = order;
    }

    // ------------------------------------------------------------ control edges

    /// Makes `successor` run after `predecessor`; nothing happens if it does already.
    pub fn add_control_dependency(&mut self, predecessor: InstructionId, successor: InstructionId) {
        let list = self.control_predecessors.entry(successor).or_default();
        if !list.contains(&predecessor) {
            list.push(predecessor);
        }
        self.instruction_mut(successor).has_control_predecessors = true;
    }

    /// Removes the edge between two instructions, if there is one.
    pub fn remove_control_dependency(&mut self, predecessor: InstructionId, successor: InstructionId) {
        let Some(list) = self.control_predecessors.get_mut(&successor) else { return };
        list.retain(|&id| id != predecessor);
        if list.is_empty() {
            self.drop_control_predecessors(successor);
        }
    }

    /// Removes all control edges into an instruction.
    pub fn drop_control_predecessors(&mut self, id: InstructionId) {
        if self.instruction(id).has_control_predecessors {
            self.control_predecessors.remove(&id);
            self.instruction_mut(id).has_control_predecessors = false;
        }
    }

    /// Whether no instruction of the module has control edges.
    pub fn is_free_of_control_edges(&self) -> bool {
        self.control_predecessors.is_empty()
    }

    // ------------------------------------------------------------ computations

    /// Adds a computation without instructions; the name is made unique. Its root is the first instruction added
    /// to any computation from now on, until [`Module::set_root`] says otherwise.
    pub fn add_computation(&mut self, name: &str) -> ComputationId {
        let name = self.unique_computation_name(name);
        let root = InstructionId::from_index(self.instructions.len());
        let computation = Computation {
            name,
            instructions: Vec::new(),
            parameters: Vec::new(),
            root,
            execution_thread: None,
        };
        self.computations.push(Some(computation));
        let id = ComputationId::from_index(self.computations.len() - 1);
        self.computation_order.push(id);
        id
    }

    /// Makes a computation the entry.
    pub fn set_entry(&mut self, id: ComputationId) {
        self.entry = Some(id);
    }

    /// Sets the thread a computation runs on; `None` is "main".
    pub fn set_execution_thread(&mut self, id: ComputationId, thread: Option<Symbol>) {
        self.computation_mut(id).execution_thread = thread;
    }

    /// Makes an instruction of the computation its root. As in XLA, the module's alias table is cleared when the
    /// entry computation gets a result of another shape.
    pub fn set_root(&mut self, id: ComputationId, root: InstructionId) {
        if Some(id) == self.entry {
            let old = self.computation(id).root;
            if old.index() < self.instructions.len() {
                self.settle_entry_layout();
                let (old, new) = (self.instruction(old).shape, self.instruction(root).shape);
                if !self.shapes.compatible(old, new) {
                    self.header.input_output_alias.clear();
                }
            }
        }
        self.computation_mut(id).root = root;
    }

    /// Writes the entry computation's layout down if the header leaves it to the instructions, so that later
    /// changes of those don't change it.
    pub fn settle_entry_layout(&mut self) {
        if self.entry.is_some() && self.header.entry_computation_layout.is_none() {
            self.header.entry_computation_layout = Some(self.entry_layout());
        }
    }

    /// The entry computation's layout: what the header says or else that of its instructions.
    pub fn entry_layout(&self) -> EntryComputationLayout {
        if let Some(layout) = &self.header.entry_computation_layout {
            return layout.clone();
        }
        let entry = self.computation(self.entry());
        let parameters = entry.parameters.iter().map(|&id| self.instruction(id).shape).collect();
        EntryComputationLayout { parameters, result: self.instruction(entry.root).shape }
    }

    /// Whether the computation is there and has not been removed.
    pub fn has_computation(&self, id: ComputationId) -> bool {
        self.computations.get(id.index()).is_some_and(Option::is_some)
    }

    /// Removes computations with all their instructions. Nothing that stays may call them, and the entry must not
    /// be among them.
    pub fn remove_computations(&mut self, ids: &[ComputationId]) {
        for id in ids {
            if let Some(computation) = self.computations[id.index()].take() {
                for instruction in computation.instructions {
                    self.drop_control_predecessors(instruction);
                    self.instruction_mut(instruction).removed = true;
                }
            }
        }
        let Self { computations, computation_order, .. } = self;
        computation_order.retain(|id| computations[id.index()].is_some());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::ElementType;

    /// `add(p0, negate(p0))` with a parameter that nothing uses.
    fn example() -> (Module, ComputationId, [InstructionId; 4]) {
        let mut module = Module::new("m");
        let shape = module.shapes_mut().array(ElementType::F32, &[2]);
        let entry = module.add_computation("e");
        module.set_entry(entry);
        let p0 = module.add_instruction(entry, NewInstruction::new(Opcode::Parameter, shape, &[]));
        let p1 = module.add_instruction(entry, NewInstruction::new(Opcode::Parameter, shape, &[]));
        let negate = module.add_instruction(entry, NewInstruction::new(Opcode::Negate, shape, &[p0]));
        let add = module.add_instruction(entry, NewInstruction::new(Opcode::Add, shape, &[p0, negate]));
        module.set_root(entry, add);
        (module, entry, [p0, p1, negate, add])
    }

    #[test]
    fn instructions_are_named_numbered_and_owned() {
        let (module, entry, [p0, p1, negate, add]) = example();
        let names: Vec<_> = [p0, p1, negate, add].map(|id| module.name_of(id)).into();
        assert_eq!(names, ["parameter", "parameter.1", "negate", "add"]);
        assert_eq!(module.instruction(p1).parameter_number, 1);
        assert_eq!(module.operands(add), [p0, negate]);
        assert!(module.is_root(add) && !module.is_root(negate));
        assert_eq!(module.instruction(add).parent, entry);
    }

    #[test]
    fn removal_leaves_the_list_until_it_is_compacted() {
        let (mut module, entry, [p0, p1, negate, add]) = example();
        module.set_operand(add, 1, p0);
        module.remove_instruction(negate);
        assert!(module.is_removed(negate));
        assert_eq!(module.live_instructions(entry).collect::<Vec<_>>(), [p0, p1, add]);
        module.compact();
        assert_eq!(module.computation(entry).instructions, [p0, p1, add]);
        let shape = module.instruction(p0).shape;
        let again = module.add_instruction(entry, NewInstruction::new(Opcode::Negate, shape, &[p0]));
        assert_eq!(module.name_of(again), "negate.1", "names of removed instructions stay taken");
    }

    #[test]
    fn removing_a_parameter_renumbers_the_others() {
        let (mut module, entry, [p0, p1, negate, add]) = example();
        for (id, operands) in [(negate, vec![p1]), (add, vec![p1, negate])] {
            module.set_operands(id, &operands);
        }
        module.remove_instruction(p0);
        assert_eq!(module.computation(entry).parameters, [p1]);
        assert_eq!(module.instruction(p1).parameter_number, 0);
    }

    #[test]
    fn attributes_stay_in_printing_order() {
        let (mut module, entry, [p0, ..]) = example();
        let shape = module.instruction(p0).shape;
        let attr = |key, value| Attr { key, value };
        let target = module.strings_mut().intern(b"t");
        let attributes = [
            attr(AttrKey::BackendConfig, AttrValue::String(target)),
            attr(AttrKey::CustomCallTarget, AttrValue::String(target)),
        ];
        let operands = [p0];
        let new = NewInstruction {
            attributes: &attributes,
            ..NewInstruction::new(Opcode::CustomCall, shape, &operands)
        };
        let call = module.add_instruction(entry, new);
        let keys = |module: &Module| module.attributes(call).iter().map(|attr| attr.key).collect::<Vec<_>>();
        assert_eq!(keys(&module), [AttrKey::CustomCallTarget, AttrKey::BackendConfig]);
        module.set_attribute(call, AttrKey::CustomCallHasSideEffect, Some(AttrValue::Bool(true)));
        module.set_attribute(call, AttrKey::Sharding, Some(AttrValue::String(target)));
        let all = [
            AttrKey::CustomCallTarget,
            AttrKey::CustomCallHasSideEffect,
            AttrKey::Sharding,
            AttrKey::BackendConfig,
        ];
        assert_eq!(keys(&module), all);
        module.set_attribute(call, AttrKey::CustomCallTarget, None);
        assert_eq!(keys(&module), all[1..]);
        module.set_attribute(call, AttrKey::BackendConfig, None);
        assert_eq!(keys(&module), all[1..3]);
        assert!(module.flag(call, AttrKey::CustomCallHasSideEffect));
    }

    #[test]
    fn control_edges_come_once_and_go() {
        let (mut module, _, [p0, _, negate, add]) = example();
        assert!(module.is_free_of_control_edges());
        module.add_control_dependency(p0, add);
        module.add_control_dependency(p0, add);
        module.add_control_dependency(negate, add);
        assert_eq!(module.control_predecessors(add), [p0, negate]);
        module.remove_control_dependency(p0, add);
        assert_eq!(module.control_predecessors(add), [negate]);
        module.remove_control_dependency(negate, add);
        assert!(module.control_predecessors(add).is_empty() && module.is_free_of_control_edges());
    }

    #[test]
    fn a_root_of_another_shape_clears_the_aliases_and_keeps_the_layout() {
        use crate::ir::InputOutputAlias;
        let (mut module, entry, [p0, _, _, add]) = example();
        let alias = InputOutputAlias {
            output_index: vec![],
            parameter: 0,
            parameter_index: vec![],
            kind: crate::ir::AliasKind::May,
        };
        module.header.input_output_alias.push(alias);
        let result = module.instruction(add).shape;
        module.set_root(entry, p0);
        assert_eq!(module.header.input_output_alias.len(), 1);
        let tuple = module.shapes_mut().intern(crate::ir::Shape::Tuple(vec![result]));
        let tuple = module.add_instruction(entry, NewInstruction::new(Opcode::Tuple, tuple, &[add]));
        module.set_root(entry, tuple);
        assert!(module.header.input_output_alias.is_empty());
        assert_eq!(module.header.entry_computation_layout.as_ref().map(|layout| layout.result), Some(result));
    }
}
