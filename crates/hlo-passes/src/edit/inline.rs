//! Replacing a call by the body of what it calls.

use hlo_text::ir::{
    AttrKey, AttrValue, ComputationId, InstructionId, Metadata, MetadataId, Opcode, OriginalNode,
    OriginalValue, Symbol, Value,
};

use super::clone::SUFFIX;
use super::{Editor, ReplaceOptions};
use crate::analysis::MAX_COPIED_INSTRUCTIONS;
use crate::pass::{PassError, PassResult};
use crate::{Map, Set};

/// The longest `op_name` that is made by putting a call's before an instruction's, in bytes.
const MAX_OP_NAME_BYTES: usize = 1024;

/// What marks a composite call; its body, once inlined, is none.
const COMPOSITE_ATTRIBUTES: [&[u8]; 3] = [b"composite.attributes", b"composite.name", b"composite.version"];

/// What became of each instruction of the callee.
pub type InlinedInstructions = Map<InstructionId, InstructionId>;

/// What earlier searches found of who needs an operand of calls that are inlined one after the other. What doesn't need
/// it never comes to need it by inlining.
#[derive(Debug, Default)]
pub struct KnownNeeds {
    /// The operand.
    of: Option<InstructionId>,
    dependent: Set<InstructionId>,
    independent: Set<InstructionId>,
}

/// A call that is being inlined.
struct Inlining {
    call: InstructionId,
    callee: ComputationId,
    caller: ComputationId,
    /// The instructions of the callee in the order in which they come into the caller.
    order: Vec<InstructionId>,
    /// What must run before the call.
    predecessors: Vec<InstructionId>,
    /// What is put before `op_name`s.
    op_name: Option<Symbol>,
    /// The computations whose `op_name`s have it already.
    named: Set<ComputationId>,
}

impl Editor<'_> {
    /// Replaces a `call` by a copy of the computation it calls (XLA's `CallInliner::Inline`). The computation
    /// stays.
    ///
    /// The copies run after the call's control predecessors, and what the call had to precede runs after the new
    /// root. The call's `op_name` is put before those of the copies and, in place, of what they call; its original
    /// value before theirs.
    ///
    /// # Errors
    /// It is no call, the call's shape doesn't fit the computation, or with its copies there would be more than
    /// [`MAX_COPIED_INSTRUCTIONS`] since the last [`Editor::reset_counts`].
    pub fn inline_call(&mut self, call: InstructionId) -> PassResult<InlinedInstructions> {
        self.inline_one_of_calls(call, &mut KnownNeeds::default())
    }

    /// [`Editor::inline_call`], one of several with nothing else done in between: what is `known` from those before
    /// spares searching.
    ///
    /// # Errors
    /// As [`Editor::inline_call`].
    pub fn inline_one_of_calls(
        &mut self,
        call: InstructionId,
        known: &mut KnownNeeds,
    ) -> PassResult<InlinedInstructions> {
        let mut inlining = self.begin_inlining(call)?;
        let mut copies = InlinedInstructions::default();
        let mut operands = Vec::new();
        for instruction in std::mem::take(&mut inlining.order) {
            if let Some(operand) = self.argument(&inlining, instruction) {
                copies.insert(instruction, operand);
                continue;
            }
            operands.clear();
            operands.extend(self.operands(instruction).iter().map(|operand| copies[operand]));
            let copy = self.copy_instruction(instruction, inlining.caller, &operands);
            copies.insert(instruction, copy);
            for predecessor in self.control_predecessors(instruction).to_vec() {
                self.add_control_dependency(copies[&predecessor], copy);
            }
            self.adopt(&mut inlining, copy);
        }
        let root = copies[&self.computation(inlining.callee).root];
        self.end_inlining(call, root, known)?;
        Ok(copies)
    }

    /// Replaces a `call` by what it calls, like [`Editor::inline_call`]; and if nothing else needs the computation, it
    /// goes. Its instructions are then not copied but moved, so that however deep calls are nested no more
    /// instructions are made than are left. Names, orders and all else become what copying makes of them; the bodies
    /// of fusions and asynchronous starts are copied, and the old ones stay with no caller. Returns what has taken the
    /// place of the call.
    ///
    /// The computation has no instructions from now on, and is gone after [`Editor::compact`]. It stays if it is the
    /// entry or something else calls it; and in a scheduled module, where the order of the ids tells what was scheduled.
    /// What is `known` is as for [`Editor::inline_one_of_calls`].
    ///
    /// # Errors
    /// As [`Editor::inline_call`].
    pub fn inline_call_and_drop_callee(
        &mut self,
        call: InstructionId,
        known: &mut KnownNeeds,
    ) -> PassResult<InstructionId> {
        let callee = self.called(call, AttrKey::ToApply);
        let is_needed = |callee| {
            callee == self.entry()
                || callee == self.instruction(call).parent
                || self.callers(callee) != [call]
        };
        let Some(callee) = callee.filter(|&callee| !self.header.is_scheduled && !is_needed(callee)) else {
            let root = callee.map(|callee| self.computation(callee).root);
            let copies = self.inline_one_of_calls(call, known)?;
            let root = root.and_then(|root| copies.get(&root).copied());
            return root.ok_or_else(|| PassError::new("the callee has no root"));
        };
        let mut inlining = self.begin_inlining(call)?;
        let root = self.computation(callee).root;
        let root = self.argument(&inlining, root).unwrap_or(root);
        // Made before anything moves, so that they are in the order of the lists.
        self.user_lists();
        let left = self.module.take_instructions(callee);
        for id in std::mem::take(&mut inlining.order) {
            if self.instruction(id).opcode != Opcode::Parameter {
                self.move_instruction(&inlining, id);
                self.adopt(&mut inlining, id);
            }
        }
        for id in left {
            if self.instruction(id).parent == callee {
                self.forget_moved_from(id);
            }
        }
        self.emptied.push(callee);
        self.end_inlining(call, root, known)?;
        Ok(root)
    }

    /// What inlining a call needs to know, or why that can't be done.
    fn begin_inlining(&mut self, call: InstructionId) -> PassResult<Inlining> {
        let callee = match self.instruction(call).opcode {
            Opcode::Call => self.called(call, AttrKey::ToApply),
            _ => None,
        };
        let Some(callee) = callee else {
            return Err(PassError::at(self, call, "only a `call` can be inlined"));
        };
        let given = self.operands(call).len();
        if given < self.computation(callee).parameters.len() {
            let message = format!("the callee's parameter {given} has no operand");
            return Err(PassError::at(self, call, message));
        }
        let order = self.accept_order(callee);
        self.copied += order.len() as u64;
        if self.copied > MAX_COPIED_INSTRUCTIONS {
            let message = format!("inlining here would make more than {MAX_COPIED_INSTRUCTIONS} copies");
            return Err(PassError::at(self, call, message));
        }
        if self.flag(call, AttrKey::IsComposite) {
            self.drop_composite_attributes(call);
        }
        Ok(Inlining {
            call,
            callee,
            caller: self.instruction(call).parent,
            order,
            predecessors: self.control_predecessors(call).to_vec(),
            op_name: self.op_name_symbol(call).filter(|&name| !self.strings().get(name).is_empty()),
            named: Set::default(),
        })
    }

    /// The operand that takes the place of a parameter of the callee, `None` for everything else.
    fn argument(&self, inlining: &Inlining, id: InstructionId) -> Option<InstructionId> {
        let instruction = self.instruction(id);
        let is_parameter = instruction.opcode == Opcode::Parameter && instruction.parent == inlining.callee;
        let number = instruction.parameter_number as usize;
        is_parameter.then(|| self.operands(inlining.call).get(number).copied()).flatten()
    }

    /// Gives an instruction that has come into the caller what it gets from the call.
    fn adopt(&mut self, inlining: &mut Inlining, new: InstructionId) {
        for &predecessor in &inlining.predecessors {
            self.add_control_dependency(predecessor, new);
        }
        if let Some(op_name) = inlining.op_name {
            self.prefix_op_names(new, op_name, &mut inlining.named);
        }
        self.prefix_original_value(inlining.call, new);
    }

    /// Puts the root of the callee, as it is in the caller, in the place of the call.
    fn end_inlining(
        &mut self,
        call: InstructionId,
        root: InstructionId,
        known: &mut KnownNeeds,
    ) -> PassResult<()> {
        self.relay_control_edges(call, root, known);
        let options = ReplaceOptions { copy_original_value: false, ..ReplaceOptions::default() };
        self.replace_with(call, root, options)?;
        Ok(())
    }

    /// Moves an instruction, and no parameter, of the callee to the caller, as if a copy were made and the original
    /// removed. What it needs has been moved.
    fn move_instruction(&mut self, inlining: &Inlining, id: InstructionId) {
        self.touched = true;
        let body = self.own_body(id).map(|body| (body, self.clone_computation(body, SUFFIX).0));
        self.module.move_instruction(id, inlining.caller);
        if let Some((old, new)) = body {
            self.replace_called_computation(id, old, new);
        }
        let opcode = self.instruction(id).opcode as usize;
        self.counts.added[opcode] += 1;
        self.counts.removed[opcode] += 1;
        self.effects.note_change(self.module, id);
        self.operand_places.forget(id);
        for index in 0..self.operands(id).len() {
            if let Some(argument) = self.argument(inlining, self.operands(id)[index]) {
                self.module.set_operand(id, index, argument);
            }
        }
        // Those who use it follow, in the order in which they are moved.
        if let Some(users) = self.users.get_mut() {
            users.take(id.index());
            for operand in self.module.operands(id) {
                users.add(operand.index(), id);
            }
        }
        if self.is_free_of_control_edges() {
            return;
        }
        let predecessors = self.control_predecessors(id).to_vec();
        self.module.drop_control_predecessors(id);
        if let Some(successors) = self.control_successors.get_mut() {
            successors.take(id.index());
        }
        for predecessor in predecessors {
            let predecessor = self.argument(inlining, predecessor).unwrap_or(predecessor);
            self.add_control_dependency(predecessor, id);
        }
    }

    /// Removes an instruction that has stayed in a callee whose others were moved.
    fn forget_moved_from(&mut self, id: InstructionId) {
        let opcode = self.instruction(id).opcode as usize;
        self.counts.removed[opcode] += 1;
        for lists in [&mut self.users, &mut self.control_successors] {
            if let Some(lists) = lists.get_mut() {
                lists.take(id.index());
            }
        }
        if let Some(callers) = self.callers.get_mut() {
            self.module.for_each_called_computation(id, |callee| callers.remove(callee.index(), id));
        }
        self.module.remove_instruction(id);
    }

    /// Moves the control edges of a call to its inlined root. A root that was there before, an operand of the call,
    /// can't run after what needs it; then the edges skip it.
    fn relay_control_edges(&mut self, call: InstructionId, root: InstructionId, known: &mut KnownNeeds) {
        let predecessors = self.control_predecessors(call).to_vec();
        let successors = self.control_successors(call).to_vec();
        // Nothing in the caller needs what has just come into it.
        let was_there = self.operands(call).contains(&root);
        if !was_there {
            // It may need less than the call did.
            known.dependent.clear();
        }
        self.drop_control_dependencies(call);
        // The edges that are made below change none of the answers: what needed the root does, and nothing more.
        let need_root = if was_there {
            self.which_depend_on(&predecessors, root, known)
        } else {
            vec![false; predecessors.len()]
        };
        for (&predecessor, needs_root) in predecessors.iter().zip(need_root) {
            if !needs_root {
                self.add_control_dependency(predecessor, root);
            } else {
                for &successor in &successors {
                    self.add_control_dependency(predecessor, successor);
                }
            }
        }
        for &successor in &successors {
            self.add_control_dependency(root, successor);
        }
    }

    /// Which of several instructions are `earlier` or need it, directly or not.
    ///
    /// What they need is searched, and at the same pace what needs `earlier`: the shorter search decides, so that a
    /// value that few need is known to be one however long the program before the others is. What `known` says is not
    /// searched again.
    pub(super) fn which_depend_on(
        &self,
        laters: &[InstructionId],
        earlier: InstructionId,
        known: &mut KnownNeeds,
    ) -> Vec<bool> {
        if known.of != Some(earlier) {
            *known = KnownNeeds { of: Some(earlier), ..KnownNeeds::default() };
        }
        let KnownNeeds { dependent: known_dependent, independent, .. } = known;
        let mut dependent = Set::from_iter([earlier]);
        // What needs them has been looked at up to a place in their lists.
        let mut frontier = vec![(earlier, 0)];
        let mut answers = Vec::with_capacity(laters.len());
        for &later in laters {
            let mut seen = vec![later];
            let is_dependent = 'search: {
                if dependent.contains(&later) || known_dependent.contains(&later) {
                    break 'search true;
                }
                if !independent.insert(later) {
                    break 'search false;
                }
                let mut place = 0;
                while let Some(&id) = seen.get(place) {
                    place += 1;
                    for &needed in self.operands(id).iter().chain(self.control_predecessors(id)) {
                        if dependent.contains(&needed) || known_dependent.contains(&needed) {
                            break 'search true;
                        }
                        if independent.insert(needed) {
                            seen.push(needed);
                        }
                        if !self.find_next_dependent(&mut dependent, &mut frontier) {
                            break 'search dependent.contains(&later);
                        }
                    }
                }
                false
            };
            if is_dependent {
                // Some of these may need it.
                for id in seen {
                    independent.remove(&id);
                }
                known_dependent.insert(later);
            }
            answers.push(is_dependent);
        }
        answers
    }

    /// One step of the search for what needs an instruction; false if all has been found.
    fn find_next_dependent(
        &self,
        dependent: &mut Set<InstructionId>,
        frontier: &mut Vec<(InstructionId, usize)>,
    ) -> bool {
        let Some((id, place)) = frontier.last_mut() else { return false };
        let users = self.users(*id);
        let next = users.get(*place).or_else(|| self.control_successors(*id).get(*place - users.len()));
        *place += 1;
        match next {
            Some(&next) => {
                if dependent.insert(next) {
                    frontier.push((next, 0));
                }
            }
            None => {
                frontier.pop();
            }
        }
        true
    }

    /// Whether `later` is `earlier` or needs it, directly or not.
    pub fn depends_on(&self, later: InstructionId, earlier: InstructionId) -> bool {
        let mut seen = Set::from_iter([later]);
        let mut stack = vec![later];
        while let Some(id) = stack.pop() {
            if id == earlier {
                return true;
            }
            let needed = self.operands(id).iter().chain(self.control_predecessors(id));
            stack.extend(needed.filter(|&&id| seen.insert(id)));
        }
        false
    }

    fn op_name_symbol(&self, id: InstructionId) -> Option<Symbol> {
        self.metadata(self.instruction(id).metadata?).op_name
    }

    /// Puts the name of the call's original value before the names in that of a copy. Without such a name the copy
    /// has none; of a call that the original program doesn't have the copies keep theirs.
    fn prefix_original_value(&mut self, call: InstructionId, copy: InstructionId) {
        let Some(Value::OriginalValue(OriginalValue::Tree(tree))) = self.value_of(copy, AttrKey::Origin)
        else {
            return;
        };
        let mut tree = tree.clone();
        let prefix = match self.value_of(call, AttrKey::Origin) {
            Some(Value::OriginalValue(OriginalValue::SyntheticCall)) => return,
            Some(Value::OriginalValue(OriginalValue::Tree(of_call))) => first_name(of_call),
            _ => None,
        };
        let prefixed = prefix.map(|prefix| {
            let prefix = self.strings().get(prefix).to_vec();
            self.prefix_names(&mut tree, &prefix);
            let value = self.intern_value(Value::OriginalValue(OriginalValue::Tree(tree)));
            AttrValue::Value(value)
        });
        self.set_attribute(copy, AttrKey::Origin, prefixed);
    }

    fn prefix_names(&mut self, tree: &mut OriginalNode, prefix: &[u8]) {
        let mut nodes = vec![tree];
        while let Some(node) = nodes.pop() {
            match node {
                OriginalNode::Tuple(elements) => nodes.extend(elements),
                OriginalNode::Array(array) => {
                    if let Some(name) = array.name {
                        let joined = [prefix, b"/", self.strings().get(name)].concat();
                        array.name = Some(self.intern(joined));
                    }
                }
            }
        }
    }

    /// Removes the marks of a composite from a call's frontend attributes.
    fn drop_composite_attributes(&mut self, call: InstructionId) {
        let Some(Value::FrontendAttributes(entries)) = self.value_of(call, AttrKey::FrontendAttributes)
        else {
            return;
        };
        let kept = entries
            .iter()
            .copied()
            .filter(|(key, _)| !COMPOSITE_ATTRIBUTES.contains(&self.strings().get(*key)));
        let kept: Vec<_> = kept.collect();
        let value =
            (!kept.is_empty()).then(|| AttrValue::Value(self.intern_value(Value::FrontendAttributes(kept))));
        self.set_attribute(call, AttrKey::FrontendAttributes, value);
    }

    /// Puts `prefix/` before the `op_name` of an instruction and of all in the computations it calls, but in none of
    /// those in `done`. Names that begin with the prefix already stay, and those that would become too long.
    fn prefix_op_names(&mut self, id: InstructionId, prefix: Symbol, done: &mut Set<ComputationId>) {
        let mut pending = Vec::new();
        self.for_each_called_computation(id, |callee| pending.push(callee));
        self.prefix_op_name(id, prefix);
        while let Some(computation) = pending.pop() {
            if !done.insert(computation) {
                continue;
            }
            for id in self.live_instructions(computation).collect::<Vec<_>>() {
                self.for_each_called_computation(id, |callee| pending.push(callee));
                self.prefix_op_name(id, prefix);
            }
        }
    }

    fn prefix_op_name(&mut self, id: InstructionId, prefix: Symbol) {
        let old = self.instruction(id).metadata;
        let new = match self.prefixed_metadata.get(&(prefix, old)) {
            Some(&known) => known,
            None => {
                let made = self.prefixed(old, prefix);
                self.prefixed_metadata.insert((prefix, old), made);
                made
            }
        };
        if new != old {
            self.set_metadata(id, new);
        }
    }

    /// The metadata with `prefix/` before its `op_name`.
    fn prefixed(&mut self, old: Option<MetadataId>, prefix: Symbol) -> Option<MetadataId> {
        let metadata = old.map(|old| self.metadata(old));
        let strings = self.strings();
        let text = strings.get(prefix);
        let name = metadata.and_then(|metadata| metadata.op_name).map_or(&[][..], |name| strings.get(name));
        let op_name = match name {
            [] => prefix,
            name if name.starts_with(text) || text.len() + 1 + name.len() > MAX_OP_NAME_BYTES => return old,
            name => {
                let joined = [text, b"/", name].concat();
                self.intern(joined)
            }
        };
        let metadata = old.map(|old| self.metadata(old).clone()).unwrap_or_default();
        Some(self.intern_metadata(Metadata { op_name: Some(op_name), ..metadata }))
    }
}

/// The name of the first array of an original value.
fn first_name(mut tree: &OriginalNode) -> Option<Symbol> {
    loop {
        match tree {
            OriginalNode::Array(array) => return array.name,
            OriginalNode::Tuple(elements) => tree = elements.first()?,
        }
    }
}
