//! How far a part of a program can match: all threads at once, linear in the text.

use super::StepLimitReached;
use super::program::{Op, Program};

/// The text being matched. Its first byte is the start of the text for `^`, its last the end for `$`.
#[derive(Clone, Copy)]
pub(super) struct Text<'t>(pub(super) &'t [u8]);

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

impl Text<'_> {
    pub(super) fn at_line_start(&self, at: usize) -> bool {
        at == 0 || self.0.get(at - 1) == Some(&b'\n')
    }

    pub(super) fn at_line_end(&self, at: usize) -> bool {
        self.0.get(at).is_none_or(|&byte| byte == b'\n')
    }

    fn word_before(&self, at: usize) -> bool {
        at > 0 && self.0.get(at - 1).copied().is_some_and(is_word)
    }

    fn word_after(&self, at: usize) -> bool {
        self.0.get(at).copied().is_some_and(is_word)
    }

    pub(super) fn at_word_start(&self, at: usize) -> bool {
        !self.word_before(at) && self.word_after(at)
    }

    pub(super) fn at_word_end(&self, at: usize) -> bool {
        self.word_before(at) && !self.word_after(at)
    }
}

/// Counts work down to zero, so that no expression can run without end.
pub(super) struct Budget {
    left: u64,
}

impl Budget {
    pub(super) fn new(steps: u64) -> Self {
        Self { left: steps }
    }

    pub(super) fn spend(&mut self, steps: u64) -> Result<(), StepLimitReached> {
        match self.left.checked_sub(steps) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(StepLimitReached),
        }
    }
}

/// Places in the program that are alive, in the order they were found.
#[derive(Default)]
struct Threads {
    places: Vec<u32>,
    /// `seen[place] == generation` marks membership.
    seen: Vec<u32>,
    generation: u32,
}

impl Threads {
    fn reset(&mut self, places: usize) {
        self.places.clear();
        if self.seen.len() < places || self.generation == u32::MAX {
            self.seen.clear();
            self.seen.resize(places, 0);
            self.generation = 0;
        }
        self.generation += 1;
    }

    fn add(&mut self, place: usize) -> bool {
        let new = self.seen[place] != self.generation;
        if new {
            self.seen[place] = self.generation;
        }
        new
    }

    fn has(&self, place: usize) -> bool {
        self.seen[place] == self.generation
    }
}

/// Scratch space for simulations.
#[derive(Default)]
pub(super) struct Simulator {
    current: Threads,
    next: Threads,
    stack: Vec<u32>,
}

impl Simulator {
    /// The end of the longest match of operators `ops` that starts at `start` and ends at or before
    /// `stop`.
    pub(super) fn longest(
        &mut self,
        program: &Program,
        text: Text<'_>,
        (start, stop): (usize, usize),
        ops: (usize, usize),
        budget: &mut Budget,
    ) -> Result<Option<usize>, StepLimitReached> {
        let (first, last) = ops;
        let places = program.ops.len() + 1;
        self.current.reset(places);
        Self::follow(program, &mut self.current, &mut self.stack, first, last);
        let mut longest = None;
        let mut at = start;
        loop {
            self.pass_assertions(program, text, at, last);
            if self.current.has(last) {
                longest = Some(at);
            }
            if self.current.places.is_empty() || at >= stop {
                return Ok(longest);
            }
            let Some(&byte) = text.0.get(at) else { return Ok(longest) };
            budget.spend(1 + self.current.places.len() as u64)?;
            self.next.reset(places);
            for index in 0..self.current.places.len() {
                let place = self.current.places[index] as usize;
                if program.consumes(place, byte) {
                    Self::follow(program, &mut self.next, &mut self.stack, place + 1, last);
                }
            }
            std::mem::swap(&mut self.current, &mut self.next);
            at += 1;
        }
    }

    /// Where LLVM's matcher begins to look for the start of a match that it knows to exist: the last
    /// place up to the earliest end of a match at which no thread but new ones was alive.
    ///
    /// `hidden[place]` marks operators after which a thread looks like a new one (see
    /// [`Self::hidden`]); it then begins too late, and so must we.
    pub(super) fn cold_start(
        &mut self,
        program: &Program,
        text: Text<'_>,
        (start, stop): (usize, usize),
        hidden: &[bool],
        budget: &mut Budget,
    ) -> Result<Option<usize>, StepLimitReached> {
        let last = program.ops.len();
        let mut cold = start;
        self.current.reset(last + 1);
        Self::follow(program, &mut self.current, &mut self.stack, 0, last);
        let mut at = start;
        loop {
            self.pass_assertions(program, text, at, last);
            if self.current.has(last) {
                return Ok(Some(cold));
            }
            let byte = match text.0.get(at) {
                Some(&byte) if at < stop => byte,
                _ => return Ok(None),
            };
            budget.spend(1 + self.current.places.len() as u64)?;
            self.next.reset(last + 1);
            Self::follow(program, &mut self.next, &mut self.stack, 0, last);
            let mut only_new = true;
            for index in 0..self.current.places.len() {
                let place = self.current.places[index] as usize;
                if program.consumes(place, byte) {
                    only_new &= hidden[place];
                    Self::follow(program, &mut self.next, &mut self.stack, place + 1, last);
                }
            }
            std::mem::swap(&mut self.current, &mut self.next);
            at += 1;
            if only_new {
                cold = at;
            }
        }
    }

    /// For each operator that reads a byte, whether the place after it can be reached from the start
    /// without reading; `None` if that is so for none.
    pub(super) fn hidden(&mut self, program: &Program) -> Option<Vec<bool>> {
        let last = program.ops.len();
        self.current.reset(last + 1);
        Self::follow(program, &mut self.current, &mut self.stack, 0, last);
        let reads = |op: &Op| matches!(op, Op::Char(_) | Op::Set(_));
        let hidden: Vec<bool> = program
            .ops
            .iter()
            .enumerate()
            .map(|(place, op)| reads(op) && self.current.has(place + 1))
            .collect();
        hidden.contains(&true).then_some(hidden)
    }

    /// Lets threads that stand before an assertion through, where it holds.
    ///
    /// Line boundaries are passed first, in rounds, then word boundaries once: the order of LLVM's
    /// matcher, in which `[[:<:]]^` never matches.
    fn pass_assertions(&mut self, program: &Program, text: Text<'_>, at: usize, last: usize) {
        if program.line_starts + program.line_ends > 0 {
            let (line_start, line_end) = (text.at_line_start(at), text.at_line_end(at));
            let mut begin = 0;
            for _ in 0..program.boundary_rounds(line_start, line_end) {
                let end = self.current.places.len();
                if begin == end {
                    break;
                }
                for index in begin..end {
                    let place = self.current.places[index] as usize;
                    let holds = match program.ops[place] {
                        Op::LineStart => line_start,
                        Op::LineEnd => line_end,
                        _ => false,
                    };
                    if holds {
                        Self::follow(program, &mut self.current, &mut self.stack, place + 1, last);
                    }
                }
                begin = end;
            }
        }
        if program.has_word_boundaries {
            let small = self.current.places.len();
            let mut index = 0;
            while index < if program.is_large() { self.current.places.len() } else { small } {
                let place = self.current.places[index] as usize;
                let holds = match program.ops[place] {
                    Op::WordStart => text.at_word_start(at),
                    Op::WordEnd => text.at_word_end(at),
                    _ => false,
                };
                if holds {
                    Self::follow(program, &mut self.current, &mut self.stack, place + 1, last);
                }
                index += 1;
            }
        }
    }

    /// Adds everything reachable from `from` without reading text; operators that wait for a byte or
    /// an assertion end up in `threads.places`.
    fn follow(program: &Program, threads: &mut Threads, stack: &mut Vec<u32>, from: usize, last: usize) {
        stack.push(from as u32);
        while let Some(place) = stack.pop() {
            let place = place as usize;
            if !threads.add(place) || place == last {
                continue;
            }
            let after = place + 1;
            match program.ops[place] {
                Op::Char(_) | Op::Set(_) | Op::LineStart | Op::LineEnd | Op::WordStart | Op::WordEnd => {
                    threads.places.push(place as u32);
                }
                Op::PlusClose(back) => {
                    stack.push(after as u32);
                    stack.push((place - back as usize) as u32);
                }
                Op::QuestOpen(skip) | Op::AltOpen(skip) => {
                    stack.push((place + skip as usize) as u32);
                    stack.push(after as u32);
                }
                Op::Or2(skip) => {
                    // The last branch's jump leads to the AltClose, which it must not skip to.
                    let next = place + skip as usize;
                    if matches!(program.ops[next], Op::Or2(_)) {
                        stack.push(next as u32);
                    }
                    stack.push(after as u32);
                }
                Op::Or1 => {
                    let mut end = after;
                    while let Op::Or2(skip) = program.ops[end] {
                        end += skip as usize;
                    }
                    stack.push(end as u32);
                }
                Op::PlusOpen(_)
                | Op::QuestClose
                | Op::AltClose
                | Op::GroupOpen(_)
                | Op::GroupClose(_)
                | Op::BackOpen(_)
                | Op::BackClose(_) => stack.push(after as u32),
            }
        }
    }
}
