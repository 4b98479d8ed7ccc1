//! Replacing a call by the body of what it calls.

use hlo_text::ir::{
    AttrKey, AttrValue, ComputationId, InstructionId, Metadata, MetadataId, Opcode, OriginalNode,
    OriginalValue, Symbol, Value,
};

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
        let callee = match self.instruction(call).opcode {
            Opcode::Call => self.called(call, AttrKey::ToApply),
            _ => None,
        };
        let Some(callee) = callee else {
            return Err(PassError::at(self, call, "only a `call` can be inlined"));
        };
        let caller = self.instruction(call).parent;
        if self.flag(call, AttrKey::IsComposite) {
            self.drop_composite_attributes(call);
        }
        let predecessors = self.control_predecessors(call).to_vec();
        let op_name = self.op_name_symbol(call).filter(|&name| !self.strings().get(name).is_empty());
        let mut named = Set::default();
        let mut copies = InlinedInstructions::default();
        let mut operands = Vec::new();
        let order = self.accept_order(callee);
        self.copied += order.len() as u64;
        if self.copied > MAX_COPIED_INSTRUCTIONS {
            let message = format!("inlining here would make more than {MAX_COPIED_INSTRUCTIONS} copies");
            return Err(PassError::at(self, call, message));
        }
        for instruction in order {
            let number = self.instruction(instruction).parameter_number as usize;
            if self.instruction(instruction).opcode == Opcode::Parameter {
                let Some(&operand) = self.operands(call).get(number) else {
                    return Err(PassError::at(
                        self,
                        call,
                        format!("the callee's parameter {number} has no operand"),
                    ));
                };
                copies.insert(instruction, operand);
                continue;
            }
            operands.clear();
            operands.extend(self.operands(instruction).iter().map(|operand| copies[operand]));
            let copy = self.copy_instruction(instruction, caller, &operands);
            copies.insert(instruction, copy);
            for predecessor in self.control_predecessors(instruction).to_vec() {
                self.add_control_dependency(copies[&predecessor], copy);
            }
            for &predecessor in &predecessors {
                self.add_control_dependency(predecessor, copy);
            }
            if let Some(op_name) = op_name {
                self.prefix_op_names(copy, op_name, &mut named);
            }
            self.prefix_original_value(call, copy);
        }
        let root = copies[&self.computation(callee).root];
        self.relay_control_edges(call, root);
        let options = ReplaceOptions { copy_original_value: false, ..ReplaceOptions::default() };
        self.replace_with(call, root, options)?;
        Ok(copies)
    }

    /// Moves the control edges of a call to its inlined root. A root that was there before, an operand of the call,
    /// can't run after what needs it; then the edges skip it.
    fn relay_control_edges(&mut self, call: InstructionId, root: InstructionId) {
        let predecessors = self.control_predecessors(call).to_vec();
        let successors = self.control_successors(call).to_vec();
        self.drop_control_dependencies(call);
        for &predecessor in &predecessors {
            if predecessor != root && !self.depends_on(predecessor, root) {
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

    /// Whether `later` needs `earlier`, directly or not.
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
