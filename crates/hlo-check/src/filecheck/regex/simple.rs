//! The fast engine for sequences of literals, repeated byte sets, line anchors and groups around
//! them: what almost all patterns of check files are.
//!
//! Trying the longest repetition first and giving back byte by byte finds, for these shapes, exactly
//! the leftmost-longest match with LLVM's sub-matches. Proof: let p be the ends of the parts of the first
//! way found and q those of any other. Where q first overtakes p inside a repetition, p could have
//! gone on to q's end there (all bytes up to it are in the set, and the count stays within bounds) and
//! continued like q, and that way would have been tried before; so q never overtakes.

use super::StepLimitReached;
use super::captures::Groups;
use super::program::{ByteSet, Op, Program};
use super::simulate::{Budget, Text};

/// One part of a sequence.
enum Part {
    Literal(Vec<u8>),
    Repeat { set: Table, min: usize, max: usize },
    LineStart,
    LineEnd,
    GroupOpen(usize),
    GroupClose(usize),
}

/// A byte set laid out for speed.
struct Table {
    member: Box<[bool; 256]>,
    /// It is everything but a newline.
    any_but_newline: bool,
}

impl Table {
    fn new(set: &ByteSet) -> Self {
        let mut member = Box::new([false; 256]);
        for byte in 0..=255u8 {
            member[usize::from(byte)] = set.contains(byte);
        }
        Self { member, any_but_newline: *set == ByteSet::any_but_newline() }
    }

    fn contains(&self, byte: u8) -> bool {
        self.member[usize::from(byte)]
    }

    /// How many bytes at the start of `text` are members, up to `max`.
    fn run(&self, text: &[u8], max: usize) -> usize {
        let text = &text[..text.len().min(max)];
        if self.any_but_newline {
            memchr::memchr(b'\n', text).unwrap_or(text.len())
        } else {
            text.iter().position(|&byte| !self.contains(byte)).unwrap_or(text.len())
        }
    }
}

/// A sequence of parts.
pub(super) struct Simple {
    parts: Vec<Part>,
    groups: usize,
}

/// A repetition that can still give bytes back.
struct Retreat {
    part: usize,
    low: usize,
    at: usize,
}

/// Scratch space of the engine.
#[derive(Default)]
pub(super) struct SimpleScratch {
    retreats: Vec<Retreat>,
    starts: Vec<usize>,
    ends: Vec<usize>,
}

impl Simple {
    /// The sequence `program` is, if it is one.
    pub(super) fn new(program: &Program) -> Option<Self> {
        if program.has_backrefs || program.has_word_boundaries || program.copies_boundaries() {
            return None;
        }
        let ops = &program.ops;
        let one = |place: usize| match ops.get(place) {
            Some(Op::Char(byte)) => Some(ByteSet::single(*byte)),
            Some(Op::Set(set)) => Some(program.sets[*set as usize]),
            _ => None,
        };
        let mut parts: Vec<Part> = Vec::new();
        let mut place = 0;
        while place < ops.len() {
            let after = program.end_of(place);
            let repeat = |set: ByteSet, min, max| Part::Repeat { set: Table::new(&set), min, max };
            match ops[place] {
                Op::Char(byte) => {
                    if let Some(Part::Literal(text)) = parts.last_mut() {
                        text.push(byte);
                    } else {
                        parts.push(Part::Literal(vec![byte]));
                    }
                }
                Op::Set(_) => parts.push(repeat(one(place)?, 1, 1)),
                Op::PlusOpen(2) => parts.push(repeat(one(place + 1)?, 1, usize::MAX)),
                Op::QuestOpen(4) if matches!(ops[place + 1], Op::PlusOpen(2)) => {
                    parts.push(repeat(one(place + 2)?, 0, usize::MAX));
                }
                Op::AltOpen(3) if ops[place + 3] == Op::Or2(1) && matches!(ops[place + 2], Op::Or1) => {
                    parts.push(repeat(one(place + 1)?, 0, 1));
                }
                Op::LineStart => parts.push(Part::LineStart),
                Op::LineEnd => parts.push(Part::LineEnd),
                Op::GroupOpen(group) => parts.push(Part::GroupOpen(group as usize)),
                Op::GroupClose(group) => parts.push(Part::GroupClose(group as usize)),
                _ => return None,
            }
            place = after;
        }
        Some(Self { parts, groups: program.groups as usize })
    }

    /// The leftmost match that starts in `from..=to`. `leading` finds the literal the sequence begins
    /// with, if it is at hand.
    pub(super) fn find(
        &self,
        text: Text<'_>,
        (from, to): (usize, usize),
        leading: Option<&memchr::memmem::Finder<'_>>,
        scratch: &mut SimpleScratch,
        budget: &mut Budget,
    ) -> Result<Option<(usize, usize)>, StepLimitReached> {
        let first = self.parts.iter().find(|part| !matches!(part, Part::GroupOpen(_)));
        let mut start = from;
        loop {
            // Skip starts that cannot be the leftmost match.
            match first {
                Some(Part::Literal(literal)) => {
                    let window = &text.0[start..text.0.len().min(to + literal.len())];
                    let skip = match leading {
                        Some(finder) => finder.find(window),
                        None => memchr::memmem::find(window, literal),
                    };
                    match skip {
                        Some(skip) => start += skip,
                        None => return Ok(None),
                    }
                }
                Some(Part::LineStart) if !text.at_line_start(start) => {
                    match memchr::memchr(b'\n', &text.0[start..to]) {
                        Some(skip) => start += skip + 1,
                        None => return Ok(None),
                    }
                }
                Some(Part::Repeat { set, min, max }) => {
                    // An unbounded repetition would have started earlier if the byte before it fits.
                    if *max == usize::MAX && start > from {
                        while start <= to && set.contains(text.0[start - 1]) {
                            start += 1;
                        }
                    }
                    if *min > 0 {
                        match text
                            .0
                            .get(start..text.0.len().min(to + 1))
                            .and_then(|window| window.iter().position(|&byte| set.contains(byte)))
                        {
                            Some(skip) => start += skip,
                            None => return Ok(None),
                        }
                    }
                }
                _ => {}
            }
            if start > to {
                return Ok(None);
            }
            if let Some(end) = self.match_at(text, start, scratch, budget)? {
                return Ok(Some((start, end)));
            }
            start += 1;
            if start > to {
                return Ok(None);
            }
        }
    }

    /// The groups of the match just found.
    pub(super) fn groups(&self, whole: (usize, usize), scratch: &SimpleScratch) -> Groups {
        let mut groups: Groups =
            scratch.starts.iter().zip(&scratch.ends).map(|(&start, &end)| Some((start, end))).collect();
        groups[0] = Some(whole);
        groups
    }

    fn match_at(
        &self,
        text: Text<'_>,
        start: usize,
        scratch: &mut SimpleScratch,
        budget: &mut Budget,
    ) -> Result<Option<usize>, StepLimitReached> {
        scratch.retreats.clear();
        scratch.starts.resize(self.groups + 1, 0);
        scratch.ends.resize(self.groups + 1, 0);
        let bytes = text.0;
        let mut at = start;
        let mut part = 0;
        loop {
            budget.spend(1)?;
            let matched = match self.parts.get(part) {
                None => return Ok(Some(at)),
                Some(Part::Literal(literal)) => {
                    let matched = bytes[at..].starts_with(literal);
                    if matched {
                        at += literal.len();
                    }
                    matched
                }
                Some(Part::Repeat { set, min, max }) => {
                    let run = set.run(&bytes[at..], *max);
                    budget.spend(run as u64 / 16)?;
                    if run > *min {
                        scratch.retreats.push(Retreat { part, low: at + min, at: at + run });
                    }
                    at += run;
                    run >= *min
                }
                Some(Part::LineStart) => text.at_line_start(at),
                Some(Part::LineEnd) => text.at_line_end(at),
                Some(Part::GroupOpen(group)) => {
                    scratch.starts[*group] = at;
                    true
                }
                Some(Part::GroupClose(group)) => {
                    scratch.ends[*group] = at;
                    true
                }
            };
            part += 1;
            if matched {
                continue;
            }
            // Let the latest repetition give back just enough for what follows it to begin.
            loop {
                let Some(retreat) = scratch.retreats.pop() else { return Ok(None) };
                let window = &bytes[retreat.low..retreat.at];
                let given = match self.literal_after(retreat.part) {
                    Some(byte) => memchr::memrchr(byte, window),
                    None => window.len().checked_sub(1),
                };
                let Some(given) = given else { continue };
                at = retreat.low + given;
                part = retreat.part + 1;
                if given > 0 {
                    scratch.retreats.push(Retreat { at, ..retreat });
                }
                break;
            }
        }
    }

    /// The byte that must follow the repetition at `part`, when that is certain.
    fn literal_after(&self, part: usize) -> Option<u8> {
        self.parts[part + 1..]
            .iter()
            .find(|part| !matches!(part, Part::GroupOpen(_) | Part::GroupClose(_)))
            .and_then(|part| match part {
                Part::Literal(literal) => literal.first().copied(),
                _ => None,
            })
    }
}
