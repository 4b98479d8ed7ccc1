//! Which instructions and computations of two modules are the same thing.
//!
//! Certain matches first: the same name and the same structure (what is computed from what), then either of them. Which
//! of the two goes before the other depends on the modules: passes keep names, whereas dumps of two compilations number
//! the same instructions differently. What is left is found by its neighbours: operands of users that are the same
//! thing, users of operands that are.

use std::collections::{HashMap, VecDeque};

use hlo_passes::hash::ModuleHash;
use hlo_passes::structure::StructuralHasher;
use hlo_text::Module;
use hlo_text::ir::{ComputationId, InstructionId, Opcode};

use super::compare::{Comparer, Which};
use super::order::Orders;

/// Counterparts, in both directions.
pub(super) struct Matching {
    after: Vec<Option<InstructionId>>,
    before: Vec<Option<InstructionId>>,
    computation_after: Vec<Option<ComputationId>>,
    computation_before: Vec<Option<ComputationId>>,
}

impl Matching {
    pub(super) fn new(
        before: &Module,
        after: &Module,
        orders: &[Orders; 2],
        comparer: &mut Comparer<'_>,
    ) -> Self {
        let matching = Self {
            after: vec![None; before.instruction_id_limit()],
            before: vec![None; after.instruction_id_limit()],
            computation_after: vec![None; before.computation_id_limit()],
            computation_before: vec![None; after.computation_id_limit()],
        };
        let mut matcher = Matcher::new([before, after], orders, comparer, matching);
        matcher.run();
        matcher.matching
    }

    /// The counterpart of an instruction of the module before.
    pub(super) fn after(&self, id: InstructionId) -> Option<InstructionId> {
        self.after[id.index()]
    }

    /// The counterpart of an instruction of the module after.
    pub(super) fn before(&self, id: InstructionId) -> Option<InstructionId> {
        self.before[id.index()]
    }

    /// The counterpart of a computation of the module before.
    pub(super) fn computation_after(&self, id: ComputationId) -> Option<ComputationId> {
        self.computation_after[id.index()]
    }

    /// The counterpart of a computation of the module after.
    pub(super) fn computation_before(&self, id: ComputationId) -> Option<ComputationId> {
        self.computation_before[id.index()]
    }

    fn is_free(&self, before: InstructionId, after: InstructionId) -> bool {
        self.after(before).is_none() && self.before(after).is_none()
    }
}

/// What instructions with the same operands are told apart by.
type Signature = (Opcode, u32, usize);

struct Matcher<'a, 'm, 'c> {
    modules: [&'m Module; 2],
    orders: &'a [Orders; 2],
    comparer: &'a mut Comparer<'c>,
    hashers: [StructuralHasher; 2],
    /// Instructions of the module after.
    by_name: HashMap<&'m str, InstructionId>,
    /// Names say more than structure.
    trusts_names: bool,
    /// Computations that match and whose instructions have not been looked at.
    pending: VecDeque<(ComputationId, ComputationId)>,
    matching: Matching,
}

impl<'a, 'm, 'c> Matcher<'a, 'm, 'c> {
    fn new(
        modules: [&'m Module; 2],
        orders: &'a [Orders; 2],
        comparer: &'a mut Comparer<'c>,
        matching: Matching,
    ) -> Self {
        let hashers = modules.map(|module| {
            let mut hasher = StructuralHasher::default();
            hasher.hash_computations(module);
            hasher
        });
        let instructions = orders[1].computations().flat_map(|(_, list)| list);
        let by_name = instructions.map(|&id| (modules[1].name_of(id), id)).collect();
        let mut matcher = Self {
            modules,
            orders,
            comparer,
            hashers,
            by_name,
            trusts_names: true,
            pending: VecDeque::new(),
            matching,
        };
        matcher.trusts_names = matcher.names_agree_with_structure();
        matcher
    }

    fn hash(&self, which: Which, id: InstructionId) -> ModuleHash {
        self.hashers[which as usize].instruction(id)
    }

    fn same_structure(&mut self, before: InstructionId, after: InstructionId) -> bool {
        self.hash(Which::Before, before) == self.hash(Which::After, after)
    }

    /// Whether most instructions that can be only each other by structure have the same name.
    fn names_agree_with_structure(&self) -> bool {
        let unique = |which: Which| {
            let mut found: HashMap<ModuleHash, Option<InstructionId>> = HashMap::new();
            for &id in self.orders[which as usize].computations().flat_map(|(_, list)| list) {
                found.entry(self.hash(which, id)).and_modify(|first| *first = None).or_insert(Some(id));
            }
            found
        };
        let after = unique(Which::After);
        let (mut same, mut different) = (0, 0);
        for (hash, id) in unique(Which::Before) {
            if let (Some(before), Some(Some(after))) = (id, after.get(&hash)) {
                match self.modules[0].name_of(before) == self.modules[1].name_of(*after) {
                    true => same += 1,
                    false => different += 1,
                }
            }
        }
        same >= different
    }

    fn run(&mut self) {
        self.pair(self.modules[0].entry(), self.modules[1].entry());
        self.pair_by_name(|matcher, before, after| {
            matcher.hashers[0].computation(before) == matcher.hashers[1].computation(after)
        });
        if self.trusts_names {
            self.pair_by_name(|_, _, _| true);
        }
        self.pair_by_structure();
        self.match_pending();
        self.pair_by_name(|_, _, _| true);
        self.match_pending();
        if self.trusts_names {
            self.match_across_computations();
        }
    }

    // ------------------------------------------------------------ computations

    fn pair(&mut self, before: ComputationId, after: ComputationId) {
        let Matching { computation_after, computation_before, .. } = &mut self.matching;
        let (there, back) = (&mut computation_after[before.index()], &mut computation_before[after.index()]);
        if there.is_none() && back.is_none() {
            (*there, *back) = (Some(after), Some(before));
            self.pending.push_back((before, after));
        }
    }

    fn pair_by_name(&mut self, fits: impl Fn(&Self, ComputationId, ComputationId) -> bool) {
        let after: HashMap<&str, ComputationId> =
            self.orders[1].computations().map(|(id, _)| (self.modules[1].computation_name(id), id)).collect();
        let orders = self.orders;
        for (id, _) in orders[0].computations() {
            if let Some(&other) = after.get(self.modules[0].computation_name(id))
                && fits(self, id, other)
            {
                self.pair(id, other);
            }
        }
    }

    fn pair_by_structure(&mut self) {
        let mut after: HashMap<ModuleHash, VecDeque<ComputationId>> = HashMap::new();
        let orders = self.orders;
        for (id, _) in orders[1].computations() {
            if self.matching.computation_before(id).is_none() {
                after.entry(self.hashers[1].computation(id)).or_default().push_back(id);
            }
        }
        for (id, _) in orders[0].computations() {
            if self.matching.computation_after(id).is_none()
                && let Some(other) =
                    after.get_mut(&self.hashers[0].computation(id)).and_then(VecDeque::pop_front)
            {
                self.pair(id, other);
            }
        }
    }

    /// Matches the instructions of paired computations, and pairs what they call.
    fn match_pending(&mut self) {
        while let Some((before, after)) = self.pending.pop_front() {
            self.match_instructions(before, after);
            let orders = self.orders;
            for &id in orders[0].of(before) {
                let Some(other) = self.matching.after(id) else { continue };
                let (mut old, mut new) = (Vec::new(), Vec::new());
                self.modules[0].for_each_called_computation(id, |callee| old.push(callee));
                if old.is_empty() {
                    continue;
                }
                self.modules[1].for_each_called_computation(other, |callee| new.push(callee));
                for (old, new) in old.into_iter().zip(new) {
                    self.pair(old, new);
                }
            }
        }
    }

    // ------------------------------------------------------------ instructions

    fn match_pair(&mut self, before: InstructionId, after: InstructionId) -> bool {
        let is_free = self.matching.is_free(before, after);
        if is_free {
            self.matching.after[before.index()] = Some(after);
            self.matching.before[after.index()] = Some(before);
        }
        is_free
    }

    fn match_instructions(&mut self, before: ComputationId, after: ComputationId) {
        let orders = self.orders;
        let (old, new) = (orders[0].of(before), orders[1].of(after));
        if self.trusts_names {
            self.match_by_name(old, after, |matcher, a, b| matcher.same_structure(a, b));
            self.match_by_name(old, after, Self::same_opcode);
        }
        // Of things that are the same several times over, users tell which is which; after that their order.
        self.match_by_structure(old, new, true);
        self.match_operands(old.to_vec(), Self::same_structure);
        self.match_by_structure(old, new, false);
        let parameters = |module: &'m Module, id| module.computation(id).parameters.iter().copied();
        let pairs = parameters(self.modules[0], before).zip(parameters(self.modules[1], after));
        for (a, b) in pairs {
            self.match_pair(a, b);
        }
        let roots = (self.modules[0].computation(before).root, self.modules[1].computation(after).root);
        if self.same_opcode(roots.0, roots.1) {
            self.match_pair(roots.0, roots.1);
        }
        // Every match may say what its operands are, and those what their users are.
        self.match_operands(old.to_vec(), Self::same_opcode);
        let found = self.match_users(old, new);
        self.match_operands(found, Self::same_opcode);
        if !self.trusts_names {
            self.match_by_name(old, after, |matcher, a, b| {
                matcher.same_opcode(a, b)
                    && matcher.signature(Which::Before, a) == matcher.signature(Which::After, b)
            });
            self.match_by_name(old, after, Self::same_opcode);
        } else {
            self.match_by_name(old, after, |_, _, _| true);
        }
    }

    fn same_opcode(&mut self, before: InstructionId, after: InstructionId) -> bool {
        self.modules[0].instruction(before).opcode == self.modules[1].instruction(after).opcode
    }

    fn signature(&mut self, which: Which, id: InstructionId) -> Signature {
        let module = self.modules[which as usize];
        let instruction = module.instruction(id);
        let shape = self.comparer.bare_shape(which, instruction.shape);
        (instruction.opcode, shape, instruction.attribute_count())
    }

    /// Matches instructions with those of the same name in `computation` that fit.
    fn match_by_name(
        &mut self,
        old: &[InstructionId],
        computation: ComputationId,
        mut fits: impl FnMut(&mut Self, InstructionId, InstructionId) -> bool,
    ) {
        for &id in old {
            if self.matching.after(id).is_some() {
                continue;
            }
            if let Some(&other) = self.by_name.get(self.modules[0].name_of(id))
                && self.modules[1].instruction(other).parent == computation
                && fits(self, id, other)
            {
                self.match_pair(id, other);
            }
        }
    }

    /// Matches what computes the same from the same, in order; or only what there is once of on both sides.
    fn match_by_structure(&mut self, old: &[InstructionId], new: &[InstructionId], only_unique: bool) {
        let mut after: HashMap<ModuleHash, VecDeque<InstructionId>> = HashMap::new();
        for &id in new {
            if self.matching.before(id).is_none() {
                after.entry(self.hash(Which::After, id)).or_default().push_back(id);
            }
        }
        if only_unique {
            let mut counts: HashMap<ModuleHash, usize> = HashMap::new();
            for &id in old.iter().filter(|&&id| self.matching.after(id).is_none()) {
                *counts.entry(self.hash(Which::Before, id)).or_default() += 1;
            }
            after.retain(|hash, candidates| candidates.len() == 1 && counts.get(hash) == Some(&1));
        }
        for &id in old {
            if self.matching.after(id).is_none()
                && let Some(other) =
                    after.get_mut(&self.hash(Which::Before, id)).and_then(VecDeque::pop_front)
            {
                self.match_pair(id, other);
            }
        }
    }

    /// Matches operands of the instructions that have counterparts, from users to what they use, if they fit.
    fn match_operands(
        &mut self,
        mut pending: Vec<InstructionId>,
        fits: impl Fn(&mut Self, InstructionId, InstructionId) -> bool,
    ) {
        while let Some(id) = pending.pop() {
            let Some(other) = self.matching.after(id) else { continue };
            let (old, new) = (self.modules[0].operands(id), self.modules[1].operands(other));
            if old.len() != new.len() {
                continue;
            }
            for (&a, &b) in old.iter().zip(new) {
                if fits(self, a, b) && self.match_pair(a, b) {
                    pending.push(a);
                }
            }
        }
    }

    /// Matches instructions with those that do the same with the counterparts of their operands; gives those.
    fn match_users(&mut self, old: &[InstructionId], new: &[InstructionId]) -> Vec<InstructionId> {
        let mut after: HashMap<(Signature, Vec<InstructionId>), VecDeque<InstructionId>> = HashMap::new();
        for &id in new {
            if self.matching.before(id).is_none() {
                let key = (self.signature(Which::After, id), self.modules[1].operands(id).to_vec());
                after.entry(key).or_default().push_back(id);
            }
        }
        let mut found = Vec::new();
        if after.is_empty() {
            return found;
        }
        for &id in old {
            let own = self.modules[0].operands(id);
            if self.matching.after(id).is_some() || own.is_empty() {
                continue;
            }
            let operands: Vec<InstructionId> =
                own.iter().filter_map(|&operand| self.matching.after(operand)).collect();
            if operands.len() < own.len() {
                continue;
            }
            let signature = self.signature(Which::Before, id);
            let Some(candidates) = after.get_mut(&(signature, operands)) else { continue };
            while let Some(other) = candidates.pop_front() {
                if self.match_pair(id, other) {
                    found.push(id);
                    break;
                }
            }
        }
        found
    }

    /// Matches what is left over by name and opcode, wherever it stands: calls are inlined, and parts outlined.
    fn match_across_computations(&mut self) {
        let orders = self.orders;
        for &id in orders[0].computations().flat_map(|(_, list)| list) {
            if self.matching.after(id).is_none()
                && self.modules[0].instruction(id).opcode != Opcode::Parameter
                && let Some(&other) = self.by_name.get(self.modules[0].name_of(id))
                && self.same_opcode(id, other)
            {
                self.match_pair(id, other);
            }
        }
    }
}
