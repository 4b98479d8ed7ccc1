//! A perfect look-up from the words of a fixed vocabulary to their row numbers, built at compile time.

/// An open-addressing table of at most `SIZE / 2` distinct words; `SIZE` is a power of two.
pub(crate) struct NameTable<const SIZE: usize> {
    slots: [Option<(&'static [u8], u8)>; SIZE],
}

impl<const SIZE: usize> NameTable<SIZE> {
    /// An empty table.
    pub(crate) const fn new() -> Self {
        assert!(SIZE.is_power_of_two());
        Self { slots: [None; SIZE] }
    }

    /// A hash of the length and a few bytes: the vocabularies are small, and most words differ there.
    const fn slot(word: &[u8]) -> usize {
        let n = word.len();
        if n == 0 {
            return 0;
        }
        let ends = (word[0] as usize) | (word[n - 1] as usize) << 8 | (word[n / 2] as usize) << 16;
        let middle = (word[n / 3] as usize) << 5 ^ (word[2 * n / 3] as usize) << 13;
        let mixed = (ends ^ middle ^ n << 24).wrapping_mul(0x9e37_79b9);
        (mixed >> 15) & (SIZE - 1)
    }

    /// The table with `word` added under `row`.
    pub(crate) const fn with(mut self, word: &'static str, row: u8) -> Self {
        let mut slot = Self::slot(word.as_bytes());
        while self.slots[slot].is_some() {
            slot = (slot + 1) & (SIZE - 1);
        }
        self.slots[slot] = Some((word.as_bytes(), row));
        self
    }

    /// The row of `word`.
    #[inline]
    pub(crate) fn get(&self, word: &[u8]) -> Option<u8> {
        let mut slot = Self::slot(word);
        while let Some((candidate, row)) = self.slots[slot] {
            if candidate == word {
                return Some(row);
            }
            slot = (slot + 1) & (SIZE - 1);
        }
        None
    }
}
