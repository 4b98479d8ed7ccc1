//! The operator string a regular expression compiles to.
//!
//! The layout is the one of Spencer's library (operators with relative jumps, `x*` as an optional
//! `x+`, `x?` as `x` or nothing, bounded repetition as copies), because LLVM's sub-match rules are
//! defined by walking exactly this string.

/// A set of byte values.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ByteSet([u64; 4]);

impl ByteSet {
    pub(super) fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    pub(super) fn remove(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] &= !(1 << (byte & 63));
    }

    pub(super) fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] & (1 << (byte & 63)) != 0
    }

    pub(super) fn invert(&mut self) {
        for word in &mut self.0 {
            *word = !*word;
        }
    }

    pub(super) fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    pub(super) fn first(&self) -> Option<u8> {
        (0..=255u8).find(|&byte| self.contains(byte))
    }

    /// Everything but a newline: what `.` matches.
    pub(super) fn any_but_newline() -> Self {
        let mut set = Self([u64::MAX; 4]);
        set.remove(b'\n');
        set
    }

    pub(super) fn single(byte: u8) -> Self {
        let mut set = Self::default();
        set.insert(byte);
        set
    }
}

/// One operator. Jumps are distances from the operator's own place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    /// One byte.
    Char(u8),
    /// One byte of the set with this index.
    Set(u32),
    /// `^`: start of the text or after a newline.
    LineStart,
    /// `$`: end of the text or before a newline.
    LineEnd,
    /// `[[:<:]]`
    WordStart,
    /// `[[:>:]]`
    WordEnd,
    /// Start of a `+` body; forward distance to its end.
    PlusOpen(u32),
    /// End of a `+` body; backward distance to its start.
    PlusClose(u32),
    /// Start of an optional body; forward distance to its end.
    QuestOpen(u32),
    /// End of an optional body.
    QuestClose,
    /// Start of alternatives; forward distance to the first `Or2`.
    AltOpen(u32),
    /// End of an alternative; backward distance to where it began.
    Or1,
    /// Start of a later alternative; forward distance to the next `Or2` or the `AltClose`.
    Or2(u32),
    /// End of alternatives.
    AltClose,
    /// Start of group n.
    GroupOpen(u32),
    /// End of group n.
    GroupClose(u32),
    /// A back-reference to group n; a copy of the group's operators follows as an approximation.
    BackOpen(u32),
    /// End of that copy.
    BackClose(u32),
}

/// A compiled expression.
#[derive(Default)]
pub(super) struct Program {
    pub(super) ops: Vec<Op>,
    pub(super) sets: Vec<ByteSet>,
    /// Number of groups.
    pub(super) groups: u32,
    pub(super) has_backrefs: bool,
    pub(super) has_word_boundaries: bool,
    /// How many `^` the text has.
    pub(super) line_starts: usize,
    /// How many `$` the text has.
    pub(super) line_ends: usize,
}

/// Largest operator string, without its two end marks, that LLVM's matcher keeps in one machine word.
const SMALL: usize = 62;

impl Program {
    /// How often threads can go on over line boundaries at one place: LLVM's matcher for small
    /// expressions tries as often as the text has such operators, which are fewer than those of the
    /// program if a repetition copied some.
    pub(super) fn boundary_rounds(&self, at_start: bool, at_end: bool) -> usize {
        if self.ops.len() > SMALL {
            return usize::MAX;
        }
        let starts = if at_start { self.line_starts } else { 0 };
        let ends = if at_end { self.line_ends } else { 0 };
        starts + ends
    }

    /// Whether LLVM's matcher lets threads pass several word boundaries at one place.
    pub(super) fn is_large(&self) -> bool {
        self.ops.len() > SMALL
    }

    /// Whether a repetition copied line boundaries.
    pub(super) fn copies_boundaries(&self) -> bool {
        let count = |wanted| self.ops.iter().filter(|&&op| op == wanted).count();
        count(Op::LineStart) > self.line_starts || count(Op::LineEnd) > self.line_ends
    }

    /// Whether the operator at `place` reads `byte`.
    pub(super) fn consumes(&self, place: usize, byte: u8) -> bool {
        match self.ops[place] {
            Op::Char(expected) => byte == expected,
            Op::Set(set) => self.sets[set as usize].contains(byte),
            _ => false,
        }
    }

    /// The place just after the operator (with its whole body) that starts at `at`.
    pub(super) fn end_of(&self, at: usize) -> usize {
        match self.ops[at] {
            Op::PlusOpen(skip) | Op::QuestOpen(skip) => at + skip as usize + 1,
            Op::AltOpen(skip) => {
                let mut end = at + skip as usize;
                while let Op::Or2(skip) = self.ops[end] {
                    end += skip as usize;
                }
                end + 1
            }
            _ => at + 1,
        }
    }

    /// The alternatives of the `AltOpen` at `at`, each as a range of operators.
    pub(super) fn branches(&self, at: usize) -> Vec<(usize, usize)> {
        let Op::AltOpen(skip) = self.ops[at] else { return Vec::new() };
        let mut start = at + 1;
        let mut next = at + skip as usize;
        let mut branches = Vec::new();
        loop {
            match self.ops[next] {
                Op::Or2(skip) => {
                    // The `Or1` that closes a branch stands right before the next `Or2`.
                    branches.push((start, next - 1));
                    start = next + 1;
                    next += skip as usize;
                }
                _ => {
                    branches.push((start, next));
                    return branches;
                }
            }
        }
    }
}
