//! Short texts, copied fast. A print consists of millions of pieces of a few bytes; a copy whose length is known at
//! compile time takes a fraction of the time of one of variable length, so a whole block is copied and cut.

const BLOCK: usize = 32;

/// Appends `pool[start..end]`.
#[inline(always)]
pub(crate) fn write_range(out: &mut Vec<u8>, pool: &[u8], start: usize, end: usize) {
    let tail = &pool[start..];
    let length = end - start;
    match tail.first_chunk::<BLOCK>() {
        Some(block) if length <= BLOCK => {
            let target = out.len() + length;
            out.extend_from_slice(block);
            out.truncate(target);
        }
        _ => out.extend_from_slice(&tail[..length]),
    }
}

/// Texts of a vocabulary, numbered, next to each other.
#[derive(Default)]
pub(super) struct Pieces {
    pool: Vec<u8>,
    ranges: Vec<(u32, u32)>,
}

impl FromIterator<String> for Pieces {
    fn from_iter<T: IntoIterator<Item = String>>(texts: T) -> Self {
        let mut pieces = Self::default();
        for text in texts {
            let start = pieces.pool.len() as u32;
            pieces.pool.extend_from_slice(text.as_bytes());
            pieces.ranges.push((start, pieces.pool.len() as u32));
        }
        // So that there is a whole block after the last one.
        pieces.pool.resize(pieces.pool.len() + BLOCK, 0);
        pieces
    }
}

impl Pieces {
    /// Appends the text of number `index`.
    #[inline(always)]
    pub(super) fn write(&self, out: &mut Vec<u8>, index: usize) {
        let (start, end) = self.ranges[index];
        write_range(out, &self.pool, start as usize, end as usize);
    }
}

/// Texts that are rendered when they are first needed, and copied from then on.
#[derive(Default)]
pub(super) struct RenderedTexts {
    pool: Vec<u8>,
    /// By number; an empty range is none, nothing is rendered as nothing.
    ranges: Vec<(usize, usize)>,
}

/// Beyond this many bytes no more texts are kept.
const MAX_KEPT_BYTES: usize = 64 << 20;

impl RenderedTexts {
    /// For texts with numbers below `count`. With 0 nothing is ever kept.
    pub(super) fn with_count(count: usize) -> Self {
        Self { pool: Vec::new(), ranges: vec![(0, 0); count] }
    }

    /// Appends the text of number `index`, which `render` makes.
    #[inline(always)]
    pub(super) fn write(&mut self, out: &mut Vec<u8>, index: usize, render: impl FnOnce(&mut Vec<u8>)) {
        match self.ranges.get(index) {
            Some(&(start, end)) if start < end => write_range(out, &self.pool, start, end),
            _ => self.render(out, index, render),
        }
    }

    #[cold]
    #[inline(never)]
    fn render(&mut self, out: &mut Vec<u8>, index: usize, render: impl FnOnce(&mut Vec<u8>)) {
        let from = out.len();
        render(out);
        let text = &out[from..];
        if let Some(range) = self.ranges.get_mut(index)
            && self.pool.len() + text.len() <= MAX_KEPT_BYTES
        {
            let start = self.pool.len();
            self.pool.extend_from_slice(text);
            *range = (start, self.pool.len());
        }
    }
}

/// Long texts that are repeated: the places where they stand in the print already.
#[derive(Default)]
pub(super) struct RepeatedTexts {
    /// By number, counted from the start of the print; an empty range is none.
    ranges: Vec<(usize, usize)>,
    /// How many bytes of the print are no longer in the buffer.
    gone: usize,
}

impl RepeatedTexts {
    /// For texts with numbers below `count`. With 0 nothing is remembered.
    pub(super) fn with_count(count: usize) -> Self {
        Self { ranges: vec![(0, 0); count], gone: 0 }
    }

    /// The first so many bytes are no longer in the buffer.
    #[inline]
    pub(super) fn forget(&mut self, bytes: usize) {
        self.gone += bytes;
    }

    /// Appends the text of number `index`, which `render` makes if it doesn't stand in `out` yet.
    #[inline]
    pub(super) fn write(&mut self, out: &mut Vec<u8>, index: usize, render: impl FnOnce(&mut Vec<u8>)) {
        let gone = self.gone;
        let from = gone + out.len();
        match self.ranges.get_mut(index) {
            Some(&mut (start, end)) if start < end && start >= gone => {
                out.extend_from_within(start - gone..end - gone);
            }
            range => {
                render(out);
                if let Some(range) = range {
                    *range = (from, gone + out.len());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated() {
        let mut count = 0;
        let mut texts = RepeatedTexts::with_count(2);
        let mut out = b"before ".to_vec();
        let mut write = |texts: &mut RepeatedTexts, out: &mut Vec<u8>, index: usize| {
            texts.write(out, index, |out| {
                count += 1;
                out.extend_from_slice(format!("{index};").as_bytes());
            });
        };
        for index in [0, 1, 0, 1, 2, 2] {
            write(&mut texts, &mut out, index);
        }
        assert_eq!(out, b"before 0;1;0;1;2;2;");
        texts.forget(out.len());
        out.clear();
        for index in [1, 1, 0] {
            write(&mut texts, &mut out, index);
        }
        assert_eq!(out, b"1;1;0;");
        assert_eq!(count, 6, "2 is beyond the numbers that are remembered");
    }

    #[test]
    fn ranges() {
        let pool: Vec<u8> = (0..100).collect();
        for start in 0..100 {
            for end in start..=100 {
                let mut out = vec![7];
                write_range(&mut out, &pool, start, end);
                assert_eq!(out[0], 7);
                assert_eq!(out[1..], pool[start..end]);
            }
        }
    }

    #[test]
    fn pieces() {
        let long = "x".repeat(BLOCK + 1);
        let pieces: Pieces =
            ["ab".to_owned(), String::new(), long.clone(), "c".to_owned()].into_iter().collect();
        let mut out = Vec::new();
        for index in [3, 2, 1, 0] {
            pieces.write(&mut out, index);
        }
        assert_eq!(out, format!("c{long}ab").into_bytes());
    }

    #[test]
    fn rendered_once() {
        let mut count = 0;
        let mut texts = RenderedTexts::with_count(2);
        let mut out = Vec::new();
        for index in [0, 1, 0, 1, 2, 2] {
            texts.write(&mut out, index, |out| {
                count += 1;
                out.extend_from_slice(format!("{index};").as_bytes());
            });
        }
        assert_eq!(out, b"0;1;0;1;2;2;");
        assert_eq!(count, 4, "2 is beyond the numbers that are kept");
    }
}
