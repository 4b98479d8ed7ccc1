//! Who uses what: a list per instruction, each user once.

use hlo_text::ir::InstructionId;
use smallvec::SmallVec;

use crate::Map;

/// Longer lists have an index, so that removing from them doesn't search.
const SCAN_LIMIT: usize = 16;

/// Lists of instructions, one per arena index. The order is XLA's: users come in the order in which they start to
/// use, and the last one takes the place of one that stops.
#[derive(Clone, Debug, Default)]
pub(crate) struct UserLists {
    lists: Vec<SmallVec<[InstructionId; 2]>>,
    /// Where each user is in its list, for lists longer than [`SCAN_LIMIT`].
    places: Map<(u32, InstructionId), u32>,
}

impl UserLists {
    pub(crate) fn with_capacity(count: usize) -> Self {
        Self { lists: vec![SmallVec::new(); count], places: Map::default() }
    }

    #[inline]
    pub(crate) fn get(&self, of: usize) -> &[InstructionId] {
        self.lists.get(of).map_or(&[], SmallVec::as_slice)
    }

    fn place(&self, of: usize, user: InstructionId) -> Option<usize> {
        let list = self.get(of);
        if list.len() > SCAN_LIMIT {
            self.places.get(&(of as u32, user)).map(|&place| place as usize)
        } else {
            list.iter().position(|&other| other == user)
        }
    }

    /// Adds a user unless it is there.
    pub(crate) fn add(&mut self, of: usize, user: InstructionId) {
        if of >= self.lists.len() {
            self.lists.resize(of + 1, SmallVec::new());
        }
        // The user added last is the most likely one to come again: the next operand of the same instruction.
        if self.lists[of].last() == Some(&user) || self.place(of, user).is_some() {
            return;
        }
        let list = &mut self.lists[of];
        list.push(user);
        if list.len() == SCAN_LIMIT + 1 {
            let places = list.iter().enumerate().map(|(place, &user)| ((of as u32, user), place as u32));
            self.places.extend(places);
        } else if list.len() > SCAN_LIMIT {
            self.places.insert((of as u32, user), list.len() as u32 - 1);
        }
    }

    /// Removes a user if it is there.
    pub(crate) fn remove(&mut self, of: usize, user: InstructionId) {
        let Some(place) = self.place(of, user) else { return };
        let list = &mut self.lists[of];
        let indexed = list.len() > SCAN_LIMIT;
        list.swap_remove(place);
        if !indexed {
            return;
        }
        self.places.remove(&(of as u32, user));
        if let Some(&moved) = list.get(place) {
            self.places.insert((of as u32, moved), place as u32);
        }
        if list.len() == SCAN_LIMIT {
            for &user in list.iter() {
                self.places.remove(&(of as u32, user));
            }
        }
    }

    /// Takes the whole list.
    pub(crate) fn take(&mut self, of: usize) -> SmallVec<[InstructionId; 2]> {
        let Some(list) = self.lists.get_mut(of) else { return SmallVec::new() };
        let list = std::mem::take(list);
        if list.len() > SCAN_LIMIT {
            for &user in &list {
                self.places.remove(&(of as u32, user));
            }
        }
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_behave_like_plain_ones_across_the_limit() {
        let ids: Vec<_> = (0..3 * SCAN_LIMIT).map(InstructionId::from_index).collect();
        let mut lists = UserLists::default();
        let mut plain: Vec<InstructionId> = Vec::new();
        for round in 0..4 {
            for (step, &id) in ids.iter().enumerate() {
                if (step + round) % 3 != 0 {
                    lists.add(5, id);
                    lists.add(5, id);
                    if !plain.contains(&id) {
                        plain.push(id);
                    }
                }
            }
            assert_eq!(lists.get(5), plain);
            for (step, &id) in ids.iter().enumerate().rev() {
                if (step + round) % 4 != 0 {
                    lists.remove(5, id);
                    if let Some(place) = plain.iter().position(|&other| other == id) {
                        plain.swap_remove(place);
                    }
                    assert_eq!(lists.get(5), plain);
                }
            }
        }
        assert_eq!(lists.take(5).as_slice(), plain);
        assert!(lists.get(5).is_empty() && lists.places.is_empty() && lists.get(99).is_empty());
    }
}
