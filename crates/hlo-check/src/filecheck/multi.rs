//! Many literals in one pass over the text.

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

/// Literals looked for together at least.
const FEWEST: usize = 8;
/// Bytes that single searches would read at least, for one pass with all literals to pay.
const LEAST_WORK: usize = 1 << 22;

/// Whether looking for `literals` texts in `length` bytes together is worth it.
pub(super) fn pays(literals: usize, length: usize) -> bool {
    literals >= FEWEST && literals.saturating_mul(length) >= LEAST_WORK
}

/// Where each literal first stands in `text`. `None`: the literals are too much for one automaton.
pub(super) fn first_places(literals: &[&[u8]], text: &[u8]) -> Option<Vec<Option<usize>>> {
    let automaton = AhoCorasick::builder()
        .kind(Some(AhoCorasickKind::ContiguousNFA))
        .match_kind(MatchKind::Standard)
        .build(literals)
        .ok()?;
    let mut places = vec![None; literals.len()];
    let mut missing = literals.len();
    for found in automaton.try_find_overlapping_iter(text).ok()? {
        let place = &mut places[found.pattern().as_usize()];
        if place.is_none() {
            *place = Some(found.start());
            missing -= 1;
            if missing == 0 {
                break;
            }
        }
    }
    Some(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_literal_has_its_own_first_place() {
        let literals: Vec<&[u8]> = vec![b"abc", b"bc", b"c", b"abc", b"zz", b"cab"];
        let places = first_places(&literals, b"xxcabcabc").expect("a small automaton");
        assert_eq!(places, [Some(3), Some(4), Some(2), Some(3), None, Some(2)]);
    }
}
