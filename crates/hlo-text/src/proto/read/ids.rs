//! Which instruction has which id in the message.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Ids;
use crate::ir::{HASHER, InstructionId};

/// How many ids a computation may leave out for each that it has, and for the few that every computation may, for its
/// ids to be looked up by a table of places.
const MAX_SPREAD: usize = 8;

/// The ids of instructions. XLA gives the instructions of a computation ascending ids, mostly without gaps, and those
/// of no other computation between them: then an id is the instruction's place, and the list of ids is all there is to
/// keep. Any other order is fine, too; ids are looked up by their hashes then.
pub(super) struct InstructionIds {
    /// By instruction.
    ids: Vec<i64>,
    /// The first instruction of the computation in the making.
    first: usize,
    /// By how much ids are above the first one of the computation in the making: the place after the first, plus one, 0
    /// for ids that are left out. Empty as long as there are none of these.
    places: Vec<u32>,
    /// The lowest id of the computations before that is above the ids of the one in the making.
    limit: Option<i64>,
    /// The computations before by their first, lowest ids: their last ids, and which instructions they have.
    before: BTreeMap<i64, (i64, Range<usize>)>,
    /// Made once ids don't come in the usual order; the other tables don't count then.
    hashed: Option<Ids<InstructionId>>,
}

impl InstructionIds {
    pub(super) fn with_capacity(instructions: usize) -> Self {
        Self {
            ids: Vec::with_capacity(instructions),
            first: 0,
            places: Vec::new(),
            limit: None,
            before: BTreeMap::new(),
            hashed: None,
        }
    }

    /// The ids that follow are those of another computation.
    pub(super) fn begin_computation(&mut self) {
        if let (None, [first, .., last] | [first @ last]) = (&self.hashed, &self.ids[self.first..]) {
            self.before.insert(*first, (*last, self.first..self.ids.len()));
        }
        self.first = self.ids.len();
        self.places.clear();
    }

    /// Gives an instruction, which comes after all that have one, its id. False: another one has it.
    #[inline]
    pub(super) fn insert(&mut self, id: i64, instruction: InstructionId) -> bool {
        if self.hashed.is_none() && !(instruction.index() == self.ids.len() && self.takes(id)) {
            self.hash_all();
        }
        let is_new = match &mut self.hashed {
            Some(hashed) => hashed.insert(id, instruction).is_none(),
            None => true,
        };
        self.ids.resize(instruction.index(), 0);
        self.ids.push(id);
        is_new
    }

    /// Whether the instruction in the making may have this id without hashing any; notes its place.
    #[inline]
    fn takes(&mut self, id: i64) -> bool {
        let own = &self.ids[self.first..];
        let (Some(&first), Some(&last)) = (own.first(), own.last()) else { return self.takes_first(id) };
        if id <= last || self.limit.is_some_and(|limit| id >= limit) {
            return false;
        }
        if self.places.is_empty() && last.checked_add(1) == Some(id) {
            return true;
        }
        let count = own.len();
        let Some(offset) = offset(first, id).filter(|&offset| offset / MAX_SPREAD <= count + MAX_SPREAD)
        else {
            return false;
        };
        if self.places.is_empty() {
            self.places.extend(1..=count as u32);
        }
        self.places.resize(offset, 0);
        self.places.push(count as u32 + 1);
        true
    }

    fn takes_first(&mut self, id: i64) -> bool {
        self.limit = self.before.range(id..).next().map(|(&first, _)| first);
        let is_below = |(_, (last, _)): (&i64, &(i64, Range<usize>))| *last < id;
        self.limit != Some(id) && self.before.range(..id).next_back().is_none_or(is_below)
    }

    #[cold]
    fn hash_all(&mut self) {
        let mut hashed = Ids::with_capacity_and_hasher(self.ids.len() + 1, HASHER);
        let places = self.ids.iter().enumerate();
        hashed.extend(places.map(|(index, &id)| (id, InstructionId::from_index(index))));
        self.hashed = Some(hashed);
        self.places = Vec::new();
        self.before.clear();
    }

    /// The instruction with this id, of those that have one.
    #[inline]
    pub(super) fn get(&self, id: i64) -> Option<InstructionId> {
        if let Some(hashed) = &self.hashed {
            return hashed.get(&id).copied();
        }
        let own = &self.ids[self.first..];
        if let Some(offset) = own.first().and_then(|&first| offset(first, id)) {
            let place = match self.places.get(offset) {
                Some(0) => None,
                Some(&place) => Some(place as usize - 1),
                None => Some(offset),
            };
            if let Some(place) = place.filter(|&place| own.get(place) == Some(&id)) {
                return Some(InstructionId::from_index(self.first + place));
            }
        }
        self.get_before(id)
    }

    /// The same of the computations before.
    fn get_before(&self, id: i64) -> Option<InstructionId> {
        let (_, (_, range)) = self.before.range(..=id).next_back()?;
        let place = self.ids.get(range.clone())?.binary_search(&id).ok()?;
        Some(InstructionId::from_index(range.start + place))
    }

    /// The instructions from `first` on have got these ids, which were those of others of them.
    pub(super) fn set(&mut self, first: usize, ids: impl Iterator<Item = i64>) {
        if self.hashed.is_none() {
            self.hash_all();
        }
        for (index, id) in (first..self.ids.len()).zip(ids) {
            self.ids[index] = id;
            if let Some(hashed) = &mut self.hashed {
                hashed.insert(id, InstructionId::from_index(index));
            }
        }
    }

    /// The ids by instruction.
    pub(super) fn into_ids(self) -> Vec<i64> {
        self.ids
    }
}

/// By how much `id` is above `first`.
#[inline]
fn offset(first: i64, id: i64) -> Option<usize> {
    id.checked_sub(first).and_then(|offset| usize::try_from(offset).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computations with these ids are looked up like in a map; gives whether they were hashed.
    fn check(computations: &[&[i64]]) -> bool {
        let mut ids = InstructionIds::with_capacity(0);
        let mut expected = std::collections::HashMap::new();
        let mut count = 0;
        for &computation in computations {
            ids.begin_computation();
            for &id in computation {
                let instruction = InstructionId::from_index(count);
                count += 1;
                assert_eq!(ids.insert(id, instruction), expected.insert(id, instruction).is_none(), "{id}");
                for &id in expected.keys() {
                    for id in [id, id.wrapping_add(1), id.wrapping_sub(1), -id, id ^ 1 << 33] {
                        assert_eq!(ids.get(id), expected.get(&id).copied(), "{id} in {computations:?}");
                    }
                }
            }
        }
        let is_hashed = ids.hashed.is_some();
        assert_eq!(ids.into_ids(), computations.concat());
        is_hashed
    }

    #[test]
    fn usual_ids_are_places() {
        assert!(!check(&[&[0, 1, 2], &[3, 4, 5], &[], &[6]]));
        // The computation in the upper half, computations in any order, gaps.
        let upper = |computation: i64, id: i64| computation << 32 | id;
        assert!(!check(&[
            &[upper(7, 1), upper(7, 2), upper(7, 9), upper(7, 10)],
            &[upper(2, 0), upper(2, 3)],
            &[upper(9, 5), upper(9, 6), upper(9, 7)],
            &[upper(3, 1)],
        ]));
        assert!(!check(&[&[10, 11], &[1, 2, 5], &[7], &[12, 40]]));
        assert!(!check(&[&[-3, -2, 0], &[1]]));
    }

    #[test]
    fn unusual_ids_are_found() {
        // Descending, repeated, between those of another computation, far apart, at the ends of the range.
        assert!(check(&[&[3, 2, 1]]));
        assert!(check(&[&[1, 2], &[3, 3]]));
        assert!(check(&[&[1, 2], &[2]]));
        assert!(check(&[&[1, 5], &[3]]));
        assert!(check(&[&[5, 6], &[3, 4, 5]]));
        assert!(check(&[&[5, 6], &[3, 7, 8]]));
        assert!(check(&[&[0, 1 << 40, 3 << 40]]));
        assert!(check(&[&[i64::MIN + 1, i64::MAX]]));
        assert!(check(&[&[i64::MAX], &[1, i64::MAX]]));
    }
}
