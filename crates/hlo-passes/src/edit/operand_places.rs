//! Where operands are in instructions that have many, so that replacing them one by one doesn't search all each time.

use hlo_text::Module;
use hlo_text::ir::InstructionId;

use crate::Map;

/// Instructions with fewer operands are searched.
const SCAN_LIMIT: usize = 64;
/// So many times the operands of one instruction are searched before an index of them is made, which costs about as much.
const SCANS_BEFORE_INDEX: u32 = 8;
/// Ends a list of places.
const NONE: u32 = u32::MAX;

/// The indices of instructions whose operands were replaced often.
#[derive(Debug, Default)]
pub(crate) struct OperandPlaces {
    wide: Map<InstructionId, Wide>,
}

#[derive(Debug, Default)]
struct Wide {
    scans: u32,
    /// The first place of each operand. Empty while there is no index.
    first: Map<InstructionId, u32>,
    /// For each place, the next one of the same operand.
    next: Vec<u32>,
}

impl Wide {
    fn new_index(&mut self, operands: &[InstructionId]) {
        self.next = vec![NONE; operands.len()];
        self.first.reserve(operands.len());
        for (place, &operand) in operands.iter().enumerate().rev() {
            let place = place as u32;
            self.next[place as usize] = self.first.insert(operand, place).unwrap_or(NONE);
        }
    }

    /// Puts a list of places, from `first` to `last`, before those of an operand.
    fn put(&mut self, operand: InstructionId, first: u32, last: u32) {
        self.next[last as usize] = self.first.insert(operand, first).unwrap_or(NONE);
    }

    /// Takes a place out of an operand's list.
    fn take(&mut self, operand: InstructionId, place: u32) {
        let after = self.next[place as usize];
        match self.first.get_mut(&operand) {
            Some(first) if *first == place && after == NONE => {
                self.first.remove(&operand);
            }
            Some(first) if *first == place => *first = after,
            Some(&mut first) => {
                let mut before = first;
                while before != NONE && self.next[before as usize] != place {
                    before = self.next[before as usize];
                }
                if before != NONE {
                    self.next[before as usize] = after;
                }
            }
            None => {}
        }
    }
}

impl OperandPlaces {
    /// The index of a user, if it is worth one.
    fn index(&mut self, module: &Module, user: InstructionId) -> Option<&mut Wide> {
        let operands = module.operands(user);
        if operands.len() < SCAN_LIMIT {
            return None;
        }
        let wide = self.wide.entry(user).or_default();
        if wide.first.is_empty() {
            wide.scans += 1;
            if wide.scans <= SCANS_BEFORE_INDEX {
                return None;
            }
            wide.new_index(operands);
        }
        Some(wide)
    }

    /// Makes each operand of `user` that is `old` be `new`.
    pub(crate) fn replace_all(
        &mut self,
        module: &mut Module,
        user: InstructionId,
        old: InstructionId,
        new: InstructionId,
    ) {
        let Some(wide) = self.index(module, user) else {
            for index in 0..module.operands(user).len() {
                if module.operands(user)[index] == old {
                    module.set_operand(user, index, new);
                }
            }
            return;
        };
        let Some(first) = wide.first.remove(&old) else { return };
        let (mut place, mut last) = (first, first);
        while place != NONE {
            module.set_operand(user, place as usize, new);
            last = place;
            place = wide.next[place as usize];
        }
        wide.put(new, first, last);
    }

    /// Makes operand number `index` of `user` be `new`, which it is not, and says whether the old one is still among the
    /// operands.
    ///
    /// # Panics
    /// If there is no such operand.
    pub(crate) fn replace_one(
        &mut self,
        module: &mut Module,
        user: InstructionId,
        index: usize,
        new: InstructionId,
    ) -> bool {
        let old = module.operands(user)[index];
        let wide = self.index(module, user);
        module.set_operand(user, index, new);
        let Some(wide) = wide else { return module.operands(user).contains(&old) };
        wide.take(old, index as u32);
        wide.put(new, index as u32, index as u32);
        wide.first.contains_key(&old)
    }

    /// Forgets an instruction whose operands change in another way.
    pub(crate) fn forget(&mut self, user: InstructionId) {
        self.wide.remove(&user);
    }
}

#[cfg(test)]
mod tests {
    use hlo_text::{ParseOptions, parse_module};

    use super::*;

    #[test]
    fn an_index_tells_what_a_search_finds() {
        let count = 3 * SCAN_LIMIT;
        let operands: Vec<String> = (0..count).map(|number| format!("p{}", number % 50)).collect();
        let parameters: Vec<String> =
            (0..50).map(|number| format!("p{number} = f32[] parameter({number})")).collect();
        let text = format!(
            "HloModule m\n\nENTRY e {{\n{}\nROOT t = tuple({})\n}}\n",
            parameters.join("\n"),
            operands.join(", ")
        );
        let mut module = parse_module(&text, &ParseOptions::default()).expect("it is valid").module;
        let entry = module.computation(module.entry());
        let (parameters, user) = (entry.parameters.clone(), entry.root);
        let mut plain = module.operands(user).to_vec();
        let mut places = OperandPlaces::default();
        for step in 0..600 {
            let (old, new) = (parameters[step * 7 % 50], parameters[(step * 13 + 5) % 50]);
            if step % 3 == 0 && old != new {
                places.replace_all(&mut module, user, old, new);
                plain.iter_mut().filter(|operand| **operand == old).for_each(|operand| *operand = new);
            } else if plain[step * 11 % count] != new {
                let index = step * 11 % count;
                let old = std::mem::replace(&mut plain[index], new);
                let left = places.replace_one(&mut module, user, index, new);
                assert_eq!(left, plain.contains(&old), "step {step}");
            }
            assert_eq!(module.operands(user), plain, "step {step}");
        }
        assert!(!places.wide[&user].first.is_empty(), "an index was made");
    }
}
