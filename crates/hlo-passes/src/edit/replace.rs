//! Replacing and removing instructions by XLA's rules.

use std::collections::VecDeque;

use hlo_text::ir::{AttrDefault, AttrKey, AttrKind, AttrValue, InstructionId, Opcode, Value};

use smallvec::SmallVec;

use super::Editor;
use crate::Set;
use crate::pass::{PassError, PassResult};

/// What [`Editor::replace_with`] does beside moving the uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplaceOptions {
    /// Nothing happens if both instructions have shardings and these differ.
    pub preserve_sharding: bool,
    /// The new instruction takes over the control edges, unless it would wait for itself; otherwise nothing happens if
    /// there are any.
    pub relay_control_dependencies: bool,
    /// Operands that become dead are removed as well.
    pub remove_dead_operands: bool,
    /// Shapes may differ.
    pub allow_other_shape: bool,
    /// The new instruction gets the old one's original value, if it has one.
    pub copy_original_value: bool,
}

impl Default for ReplaceOptions {
    /// What XLA's `ReplaceInstruction(old, new)` does.
    fn default() -> Self {
        Self {
            preserve_sharding: false,
            relay_control_dependencies: false,
            remove_dead_operands: true,
            allow_other_shape: false,
            copy_original_value: true,
        }
    }
}

/// Instructions looked through for a cycle; where more would have to be, there may be one.
const MAX_SEARCHED: usize = 1000;

/// Updates between a start and its done that are looked through; behind more, dead instructions stay.
const MAX_UPDATES: usize = 100;

/// Control edges that may take the place of those of one instruction.
const MAX_RELAYED_EDGES: usize = 1 << 12;

impl Editor<'_> {
    /// Replaces `old` by `new` (XLA's `ReplaceInstruction`) and says whether it did: an instruction with control
    /// edges is left alone.
    ///
    /// Unless `new` has its own, it gets the metadata (when it has no `op_name`), frontend attributes and sharding
    /// of `old`; original values are copied; the name is kept when both have the same opcode (and, for custom calls,
    /// the same target). Then `old` goes, with operands that became dead.
    ///
    /// # Errors
    /// The shapes are not compatible.
    pub fn replace_instruction(&mut self, old: InstructionId, new: InstructionId) -> PassResult<bool> {
        self.replace_with(old, new, ReplaceOptions::default())
    }

    /// Replaces `old` by `new`, see [`Editor::replace_instruction`].
    ///
    /// # Errors
    /// The shapes are not compatible, and that isn't allowed.
    pub fn replace_with(
        &mut self,
        old: InstructionId,
        new: InstructionId,
        options: ReplaceOptions,
    ) -> PassResult<bool> {
        let (old_shape, new_shape) = (self.instruction(old).shape, self.instruction(new).shape);
        let compatible = self.shapes().compatible(old_shape, new_shape);
        if !compatible && !options.allow_other_shape {
            return Err(PassError::at(self, old, self.shape_conflict(old, new)));
        }
        if !self.can_replace_with(old, new, options) {
            return Ok(false);
        }
        if options.relay_control_dependencies {
            self.order_effects_before_successors(old);
            self.copy_control_dependencies(old, new);
            self.drop_control_dependencies(old);
        }
        self.inherit(old, new, compatible && options.copy_original_value);
        self.replace_all_uses(old, new)?;
        if self.keeps_name(old, new) {
            let name = self.instruction(old).name;
            self.touched = true;
            self.module.set_name(new, name);
        }
        if options.remove_dead_operands {
            self.remove_dead(&[old], options.relay_control_dependencies);
        } else if self.is_dead(old) {
            self.remove_instruction(old);
        }
        Ok(true)
    }

    /// Whether [`Editor::replace_with`] would replace `old` by `new`, if their shapes allow it: shardings and control edges
    /// may forbid it.
    pub fn can_replace_with(&self, old: InstructionId, new: InstructionId, options: ReplaceOptions) -> bool {
        if options.preserve_sharding
            && let (Some(of_old), Some(of_new)) =
                (self.attribute(old, AttrKey::Sharding), self.attribute(new, AttrKey::Sharding))
            && of_old != of_new
        {
            return false;
        }
        if options.relay_control_dependencies {
            !self.has_many_edges(old) && !self.waits_for(old, new)
        } else {
            !self.has_control_dependencies(old)
        }
    }

    /// Whether a control predecessor of `old` may depend on `new`, which then can't take its place. XLA doesn't ask.
    fn waits_for(&self, old: InstructionId, new: InstructionId) -> bool {
        let mut open: Vec<InstructionId> =
            self.control_predecessors(old).iter().copied().filter(|&before| before != new).collect();
        let mut seen: Set<InstructionId> = open.iter().copied().collect();
        while let Some(id) = open.pop() {
            if id == new || seen.len() > MAX_SEARCHED {
                return true;
            }
            for &before in self.operands(id).iter().chain(self.control_predecessors(id)) {
                if seen.insert(before) {
                    open.push(before);
                }
            }
        }
        false
    }

    /// XLA's words for two shapes that don't fit.
    fn shape_conflict(&self, old: InstructionId, new: InstructionId) -> String {
        let side =
            |id| format!("\"{}\" ({})", self.name_of(id), self.shape_text(self.instruction(id).shape, false));
        format!("it can't be replaced by an instruction of another shape: {} vs {}", side(old), side(new))
    }

    /// Gives `new` what it has none of.
    fn inherit(&mut self, old: InstructionId, new: InstructionId, with_origin: bool) {
        let op_name = |id: InstructionId| {
            let metadata = self.instruction(id).metadata.map(|metadata| self.metadata(metadata));
            metadata.and_then(|metadata| metadata.op_name).is_some()
        };
        if op_name(old) && !op_name(new) {
            let metadata = self.instruction(old).metadata;
            self.set_metadata(new, metadata);
        }
        for key in [AttrKey::FrontendAttributes, AttrKey::Sharding] {
            if self.attribute(new, key).is_none()
                && let Some(value) = self.attribute(old, key)
            {
                self.set_attribute(new, key, Some(value));
            }
        }
        if with_origin {
            self.inherit_origin(old, new);
        }
    }

    /// Gives `new`, of the same shape, the original value of `old` if that has one.
    pub fn inherit_origin(&mut self, old: InstructionId, new: InstructionId) {
        if let Some(origin) = self.attribute(old, AttrKey::Origin) {
            self.set_attribute(new, AttrKey::Origin, Some(origin));
        }
    }

    fn keeps_name(&self, old: InstructionId, new: InstructionId) -> bool {
        let opcode = self.instruction(old).opcode;
        let target = |id| self.attribute(id, AttrKey::CustomCallTarget);
        opcode == self.instruction(new).opcode && (opcode != Opcode::CustomCall || target(old) == target(new))
    }

    /// Moves all uses of `old` to `new`, the root included, and nothing else (XLA's `ReplaceAllUsesWith`). If `new`
    /// uses `old` itself, that use stays.
    ///
    /// # Errors
    /// A fusion's operands became equal and its body does not fit them.
    pub fn replace_all_uses(&mut self, old: InstructionId, new: InstructionId) -> PassResult<()> {
        for user in self.move_uses(old, new) {
            if self.instruction(user).opcode == Opcode::Fusion {
                self.merge_equal_fusion_operands(user)?;
            }
        }
        Ok(())
    }

    /// The same, but fusions whose operands may have become equal keep them, and are put into `fusions`, for
    /// [`Editor::merge_equal_fusion_operands`].
    pub fn replace_all_uses_unmerged(
        &mut self,
        old: InstructionId,
        new: InstructionId,
        fusions: &mut Set<InstructionId>,
    ) {
        let users = self.move_uses(old, new);
        fusions.extend(users.into_iter().filter(|&user| self.instruction(user).opcode == Opcode::Fusion));
    }

    /// Moves all uses, and gives the users.
    fn move_uses(&mut self, old: InstructionId, new: InstructionId) -> SmallVec<[InstructionId; 2]> {
        if old == new {
            return SmallVec::new();
        }
        self.touched = true;
        self.user_lists();
        let mut users = self.users.get_mut().map(|users| users.take(old.index())).unwrap_or_default();
        let count = users.len();
        users.retain(|user| *user != new);
        let new_is_user = users.len() < count;
        for &user in &users {
            self.operand_places.replace_all(self.module, user, old, new);
            if let Some(users) = self.users.get_mut() {
                users.add(new.index(), user);
            }
        }
        if new_is_user && let Some(users) = self.users.get_mut() {
            users.add(old.index(), new);
        }
        if self.is_root(old) {
            self.set_root(new);
        }
        users
    }

    /// Whether removing the instruction leaves everything else as it is: it has no control edges, and it is no
    /// parameter (XLA's `IsSafelyRemovable`), or it is in a fusion, where edges order nothing and nothing may stay without
    /// users. The second half of a pair can't go when the first has to
    /// stay, which XLA doesn't ask.
    pub fn is_safely_removable(&self, id: InstructionId) -> bool {
        let is_free = !self.has_control_dependencies(id) || self.is_fused(id);
        is_free
            && self.are_first_halves_removable(id)
            && (self.instruction(id).opcode != Opcode::Parameter || self.is_fused(id))
    }

    /// Whether what the instruction is the second half of, over all updates in between, has no control edges.
    fn are_first_halves_removable(&self, id: InstructionId) -> bool {
        let mut half = id;
        for _ in 0..MAX_UPDATES {
            match self.operands(half).first() {
                Some(&first) if self.instruction(first).opcode.begins_pair() => {
                    if self.has_control_dependencies(first) {
                        return false;
                    }
                    half = first;
                }
                _ => return true,
            }
        }
        false
    }

    /// Removes a dead instruction, whatever its side effects, and then operands that became dead, without side
    /// effects and safely removable. Nothing happens unless the instruction is dead and safely removable.
    pub fn remove_with_dead_operands(&mut self, id: InstructionId) {
        self.remove_dead(&[id], false);
    }

    /// The same for each of several instructions.
    pub fn remove_all_with_dead_operands(&mut self, ids: &[InstructionId]) {
        self.remove_dead(ids, false);
    }

    /// The same; with `relay_control_dependencies` control edges keep nothing, what comes before such an instruction then
    /// comes before what comes after it.
    fn remove_dead(&mut self, ids: &[InstructionId], relay_control_dependencies: bool) {
        let given: Set<InstructionId> = ids.iter().copied().collect();
        let mut removed = Set::default();
        let mut starts = ids.to_vec();
        while !starts.is_empty() {
            let mut parameters = Vec::new();
            for start in std::mem::take(&mut starts) {
                let mut worklist = VecDeque::from([start]);
                while let Some(item) = worklist.pop_front() {
                    if removed.contains(&item)
                        || self.is_removed(item)
                        || !self.is_dead(item)
                        || (!given.contains(&item) && self.has_side_effect(item))
                    {
                        continue;
                    }
                    if self.has_control_dependencies(item)
                        && (relay_control_dependencies || self.is_fused(item))
                    {
                        self.relay_control_dependencies(item);
                    }
                    if !self.is_safely_removable(item) {
                        continue;
                    }
                    worklist.extend(self.operands(item));
                    removed.insert(item);
                    if self.instruction(item).opcode == Opcode::Parameter {
                        parameters.push(item);
                    } else {
                        self.remove_instruction(item);
                    }
                }
            }
            // XLA goes on with operands that have side effects, and loses these.
            starts = self.remove_fusion_parameters(&parameters);
        }
    }

    /// Has what comes after an instruction by a control edge wait for the operands of that instruction behind which there are
    /// side effects: it did so by way of the instruction. XLA doesn't, and loses their order.
    fn order_effects_before_successors(&mut self, id: InstructionId) {
        let successors = self.control_successors(id).to_vec();
        if successors.is_empty() || self.is_fused(id) {
            return;
        }
        let operands: Set<InstructionId> = self.operands(id).iter().copied().collect();
        let mut operands: Vec<InstructionId> =
            operands.into_iter().filter(|&operand| self.is_behind_effects(operand)).collect();
        operands.sort_unstable();
        for &successor in &successors {
            for &operand in &operands {
                self.add_control_dependency(operand, successor);
            }
        }
    }

    /// Whether more control edges than [`MAX_RELAYED_EDGES`] may have to take the place of those of an instruction.
    fn has_many_edges(&self, id: InstructionId) -> bool {
        let before = self.operands(id).len() + self.control_predecessors(id).len();
        before.saturating_mul(self.control_successors(id).len()) > MAX_RELAYED_EDGES
    }

    /// Whether the instruction, or what it waits for, has a side effect, as far as a short search shows.
    fn is_behind_effects(&self, id: InstructionId) -> bool {
        let mut seen = Set::from_iter([id]);
        let mut open = vec![id];
        while let Some(next) = open.pop() {
            if self.has_side_effect(next) || seen.len() > MAX_SEARCHED {
                return true;
            }
            let before = self.operands(next).iter().chain(self.control_predecessors(next));
            open.extend(before.copied().filter(|&before| seen.insert(before)));
        }
        false
    }

    /// Takes the control edges of an instruction away and orders what they ordered; leaves them where these would be too
    /// many, or the instruction can't be removed anyway.
    fn relay_control_dependencies(&mut self, id: InstructionId) {
        let before = self.control_predecessors(id).to_vec();
        let after = self.control_successors(id).to_vec();
        if before.is_empty() && after.is_empty()
            || self.has_many_edges(id)
            || !self.are_first_halves_removable(id)
            || (self.instruction(id).opcode == Opcode::Parameter && !self.is_fused(id))
        {
            return;
        }
        self.order_effects_before_successors(id);
        self.drop_control_dependencies(id);
        for &predecessor in &before {
            for &successor in &after {
                self.add_control_dependency(predecessor, successor);
            }
        }
    }

    /// Whether an attribute is absent or has the value that counts as absent.
    pub fn is_default(&self, id: InstructionId, key: AttrKey) -> bool {
        let Some(value) = self.attribute(id, key) else { return true };
        match (key.info().default, value) {
            (AttrDefault::Bool(default), AttrValue::Bool(value)) => default == value,
            (AttrDefault::Int(default), AttrValue::Int(value)) => default == value,
            (AttrDefault::Word(default), AttrValue::Word(value)) => default == value,
            (AttrDefault::Text(default), AttrValue::String(value)) => {
                self.strings().get(value) == default.as_bytes()
            }
            (AttrDefault::Empty, AttrValue::String(value)) => self.strings().get(value).is_empty(),
            (AttrDefault::Empty, AttrValue::Value(value)) if key.kind() == AttrKind::FrontendAttributes => {
                matches!(self.value(value), Value::FrontendAttributes(entries) if entries.is_empty())
            }
            _ => false,
        }
    }
}
