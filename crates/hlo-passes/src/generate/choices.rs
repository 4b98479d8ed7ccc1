//! Where decisions come from: a seed, or bytes that a fuzzer changes.

/// A stream of decisions.
#[derive(Clone, Debug)]
pub struct Choices<'b>(Source<'b>);

#[derive(Clone, Debug)]
enum Source<'b> {
    /// The state of a SplitMix64 generator.
    Seed(u64),
    Bytes(&'b [u8]),
}

impl<'b> Choices<'b> {
    /// Endless decisions that follow from a number.
    pub fn from_seed(seed: u64) -> Self {
        Self(Source::Seed(seed))
    }

    /// One decision per byte (per four for more than 256 possibilities). When the bytes are used up, every decision is
    /// for the first possibility.
    pub fn from_bytes(bytes: &'b [u8]) -> Self {
        Self(Source::Bytes(bytes))
    }

    /// Whether there are no more bytes; never with a seed.
    pub fn is_exhausted(&self) -> bool {
        matches!(self.0, Source::Bytes([]))
    }

    /// A number below `count`, or 0 if `count` is 0.
    pub fn below(&mut self, count: usize) -> usize {
        if count < 2 {
            return 0;
        }
        let number = match &mut self.0 {
            Source::Seed(state) => split_mix(state),
            Source::Bytes(bytes) => {
                let width = if count > 256 { 4 } else { 1 };
                let (own, rest) = bytes.split_at(width.min(bytes.len()));
                *bytes = rest;
                own.iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
            }
        };
        // Bias does no harm here.
        (number % count as u64) as usize
    }

    /// True once in `count` times.
    pub fn one_in(&mut self, count: usize) -> bool {
        // The first possibility, which is what exhausted bytes decide for, is no.
        count < 2 || self.below(count) == count - 1
    }

    /// One of the entries.
    pub fn pick<T: Copy, const N: usize>(&mut self, entries: &[T; N]) -> T {
        const { assert!(N > 0) };
        entries[self.below(N)]
    }
}

/// Steele, Lea and Flood's generator: one addition and a mix.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_and_bytes_decide() {
        let mut seeded = Choices::from_seed(7);
        let numbers: Vec<_> = (0..100).map(|_| seeded.below(10)).collect();
        assert!((0..10).all(|digit| numbers.contains(&digit)));
        assert!(!seeded.is_exhausted());
        let mut bytes = Choices::from_bytes(&[3, 0, 0, 1, 44]);
        assert_eq!((bytes.below(2), bytes.below(1), bytes.below(1000)), (1, 0, 300));
        assert!(bytes.is_exhausted());
        assert_eq!((bytes.below(9), bytes.one_in(2), bytes.pick(&[5, 6])), (0, false, 5));
    }
}
