//! Where the groups of a known match lie: LLVM's rules, which take each part of a sequence as long as
//! the rest allows, from left to right, the first alternative that fits, and a repetition's last round.

use super::StepLimitReached;
use super::program::{Op, Program};
use super::simulate::{Budget, Simulator, Text};

/// Start and end of each group; index 0 is the whole match.
pub(super) type Groups = Vec<Option<(usize, usize)>>;

/// Text that operators are known to match exactly: from and to, in the text and in the program.
type Task = ((usize, usize), (usize, usize));

/// Finds sub-matches in one text.
pub(super) struct Dissector<'a> {
    pub(super) program: &'a Program,
    pub(super) text: Text<'a>,
    pub(super) simulator: &'a mut Simulator,
    pub(super) budget: &'a mut Budget,
    starts: Vec<Option<usize>>,
    ends: Vec<Option<usize>>,
}

impl<'a> Dissector<'a> {
    pub(super) fn new(
        program: &'a Program,
        text: Text<'a>,
        simulator: &'a mut Simulator,
        budget: &'a mut Budget,
    ) -> Self {
        let groups = program.groups as usize + 1;
        Self { program, text, simulator, budget, starts: vec![None; groups], ends: vec![None; groups] }
    }

    /// The groups found so far.
    pub(super) fn groups(&self, whole: (usize, usize)) -> Groups {
        let mut groups: Groups =
            self.starts.iter().zip(&self.ends).map(|(start, end)| start.zip(*end)).collect();
        groups[0] = Some(whole);
        groups
    }

    fn longest(
        &mut self,
        span: (usize, usize),
        ops: (usize, usize),
    ) -> Result<Option<usize>, StepLimitReached> {
        self.simulator.longest(self.program, self.text, span, ops, self.budget)
    }

    /// How far the part `ops` goes so that `rest` still reaches `stop` exactly.
    fn extent(
        &mut self,
        (at, stop): (usize, usize),
        ops: (usize, usize),
        rest: (usize, usize),
    ) -> Result<usize, StepLimitReached> {
        let mut bound = stop;
        loop {
            let Some(end) = self.longest((at, bound), ops)? else { return Ok(at) };
            if self.longest((end, stop), rest)? == Some(stop) || end == at {
                return Ok(end);
            }
            bound = end - 1;
        }
    }

    /// Assigns the groups inside `ops`, which match the text from `start` to `stop` exactly.
    pub(super) fn dissect(
        &mut self,
        (start, stop): (usize, usize),
        ops: (usize, usize),
    ) -> Result<(), StepLimitReached> {
        // Work left to do, last first; nesting of groups must not become nesting of calls.
        let mut pending = vec![((start, stop), ops)];
        while let Some(((start, stop), (mut place, last))) = pending.pop() {
            let mut at = start;
            while place < last {
                let after = self.program.end_of(place);
                match self.program.ops[place] {
                    Op::Char(_) | Op::Set(_) => at += 1,
                    Op::GroupOpen(group) => self.starts[group as usize] = Some(at),
                    Op::GroupClose(group) => self.ends[group as usize] = Some(at),
                    Op::QuestOpen(_) => {
                        let end = self.extent((at, stop), (place, after), (after, last))?;
                        let inner = (place + 1, after - 1);
                        if self.longest((at, end), inner)?.is_some() {
                            Self::descend(&mut pending, (at, end), inner, (end, stop), (after, last));
                            break;
                        }
                        at = end;
                    }
                    Op::PlusOpen(_) => {
                        let end = self.extent((at, stop), (place, after), (after, last))?;
                        let inner = (place + 1, after - 1);
                        let round = self.last_round((at, end), inner)?;
                        Self::descend(&mut pending, round, inner, (end, stop), (after, last));
                        break;
                    }
                    Op::AltOpen(_) => {
                        let end = self.extent((at, stop), (place, after), (after, last))?;
                        let mut chosen = None;
                        for branch in self.program.branches(place) {
                            if self.longest((at, end), branch)? == Some(end) {
                                chosen = Some(branch);
                                break;
                            }
                        }
                        if let Some(branch) = chosen {
                            Self::descend(&mut pending, (at, end), branch, (end, stop), (after, last));
                            break;
                        }
                        at = end;
                    }
                    // Assertions have no length. Back-references never come here, and the rest only
                    // occurs inside the parts handled above.
                    _ => {}
                }
                place = after;
            }
        }
        Ok(())
    }

    /// Puts off the rest of a sequence until the inside of one of its parts is done.
    fn descend(
        pending: &mut Vec<Task>,
        inner_span: (usize, usize),
        inner: (usize, usize),
        rest_span: (usize, usize),
        rest: (usize, usize),
    ) {
        pending.push((rest_span, rest));
        pending.push((inner_span, inner));
    }

    /// The last round of a repetition whose rounds each match as much as they can.
    fn last_round(
        &mut self,
        (start, stop): (usize, usize),
        inner: (usize, usize),
    ) -> Result<(usize, usize), StepLimitReached> {
        let (mut before, mut at) = (start, start);
        loop {
            match self.longest((at, stop), inner)? {
                None => return Ok((before, at)),
                Some(end) if end == at => return Ok((at, end)),
                Some(end) => (before, at) = (at, end),
            }
        }
    }

    /// Like [`Self::dissect`] for expressions with back-references: searches the choices in order, and
    /// says whether there is a way to match from `start` to `stop` at all.
    pub(super) fn back_references(
        &mut self,
        (start, stop): (usize, usize),
    ) -> Result<bool, StepLimitReached> {
        let program = self.program;
        let text = self.text;
        self.starts.fill(None);
        self.ends.fill(None);
        let last = program.ops.len();
        let mut choices: Vec<Choice> = Vec::new();
        // Where each open repetition's current round began, by nesting level.
        let mut rounds: Vec<usize> = vec![usize::MAX];
        let (mut at, mut place, mut level) = (start, 0, 0);
        loop {
            self.budget.spend(1)?;
            let alive = if place == last {
                if at == stop {
                    return Ok(true);
                }
                false
            } else {
                let op = program.ops[place];
                place += 1;
                match op {
                    Op::Char(expected) => {
                        let matched = at < stop && text.0[at] == expected;
                        at += usize::from(matched);
                        matched
                    }
                    Op::Set(set) => {
                        let matched = at < stop && program.sets[set as usize].contains(text.0[at]);
                        at += usize::from(matched);
                        matched
                    }
                    Op::LineStart => at == 0 || (at < text.0.len() && text.at_line_start(at)),
                    Op::LineEnd => text.at_line_end(at),
                    Op::WordStart => text.at_word_start(at),
                    Op::WordEnd => text.at_word_end(at),
                    Op::QuestClose | Op::AltClose | Op::BackClose(_) => true,
                    Op::Or1 => {
                        while let Op::Or2(skip) = program.ops[place] {
                            place += skip as usize;
                        }
                        place += 1;
                        true
                    }
                    Op::BackOpen(group) => {
                        let group = group as usize;
                        match self.starts[group].zip(self.ends[group]) {
                            Some((from, to)) if from <= to => {
                                let length = to - from;
                                let matched =
                                    length <= stop - at && text.0[from..to] == text.0[at..at + length];
                                self.budget.spend(length as u64)?;
                                if matched {
                                    at += length;
                                    while program.ops[place] != Op::BackClose(group as u32) {
                                        place += 1;
                                    }
                                }
                                matched
                            }
                            _ => false,
                        }
                    }
                    Op::QuestOpen(skip) => {
                        choices.push(Choice::Resume { at, place: place + skip as usize, level });
                        true
                    }
                    Op::PlusOpen(_) => {
                        level += 1;
                        if rounds.len() <= level {
                            rounds.resize(level + 1, usize::MAX);
                        }
                        rounds[level] = at;
                        true
                    }
                    Op::PlusClose(back) => {
                        if rounds[level] == at {
                            level -= 1;
                        } else {
                            rounds[level] = at;
                            choices.push(Choice::Resume { at, place, level: level - 1 });
                            place -= back as usize;
                        }
                        true
                    }
                    Op::AltOpen(skip) => {
                        choices.push(Choice::Branch { at, or2: place - 1 + skip as usize, level });
                        true
                    }
                    // Reached only by falling out of nothing: branches end in Or1 or AltClose.
                    Op::Or2(_) => true,
                    Op::GroupOpen(group) => {
                        let group = group as usize;
                        choices.push(Choice::RestoreStart { group, value: self.starts[group] });
                        self.starts[group] = Some(at);
                        true
                    }
                    Op::GroupClose(group) => {
                        let group = group as usize;
                        choices.push(Choice::RestoreEnd { group, value: self.ends[group] });
                        self.ends[group] = Some(at);
                        true
                    }
                }
            };
            if alive {
                if choices.len() > MAX_CHOICES {
                    return Err(StepLimitReached);
                }
                continue;
            }
            loop {
                match choices.pop() {
                    None => return Ok(false),
                    Some(Choice::RestoreStart { group, value }) => self.starts[group] = value,
                    Some(Choice::RestoreEnd { group, value }) => self.ends[group] = value,
                    Some(Choice::Resume { at: to, place: there, level: nesting }) => {
                        (at, place, level) = (to, there, nesting);
                        break;
                    }
                    Some(Choice::Branch { at: to, or2, level: nesting }) => {
                        if let Op::Or2(skip) = program.ops[or2] {
                            let next = or2 + skip as usize;
                            if matches!(program.ops[next], Op::Or2(_)) {
                                choices.push(Choice::Branch { at: to, or2: next, level: nesting });
                            }
                        }
                        (at, place, level) = (to, or2 + 1, nesting);
                        break;
                    }
                }
            }
        }
    }
}

/// Most choices and undo records a back-reference search holds at once; it bounds memory.
const MAX_CHOICES: usize = 1 << 22;

/// What to go back to, or to undo, when a way through an expression fails.
enum Choice {
    Resume { at: usize, place: usize, level: usize },
    Branch { at: usize, or2: usize, level: usize },
    RestoreStart { group: usize, value: Option<usize> },
    RestoreEnd { group: usize, value: Option<usize> },
}
