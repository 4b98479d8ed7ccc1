//! The searching half: literals and whole lines first, then the engine the expression needs.

use std::cell::OnceCell;

use memchr::memmem;
use regex_automata::{Anchored, Input, meta};

use super::captures::{Dissector, Groups};
use super::parser::{self, RegexError};
use super::program::{Op, Program};
use super::simple::{Simple, SimpleScratch};
use super::simulate::{Budget, Simulator, Text};

/// Most steps one search may take in the engines whose cost is not linear by construction (sub-matches,
/// back-references, extents). About a second or two of work.
pub const MAX_MATCH_STEPS: u64 = 1 << 28;

/// Steps the fast engine may take per byte of text before the linear one takes over.
const SIMPLE_STEPS_PER_BYTE: u64 = 8;
/// Steps it may take in any case.
const SIMPLE_STEPS: u64 = 4096;

/// A search was given up because it exceeded [`MAX_MATCH_STEPS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepLimitReached;

/// Where an expression matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// Start and end of each group, index 0 the whole match; empty when groups were not asked for.
    pub groups: Groups,
}

/// Scratch space that searches share.
#[derive(Default)]
pub struct Scratch {
    simulator: Simulator,
    simple: SimpleScratch,
}

/// A compiled POSIX extended regular expression.
pub struct Regex {
    program: Program,
    simple: Option<Simple>,
    /// A literal every match contains, and whether the match begins with it.
    required: Option<(memmem::Finder<'static>, bool)>,
    /// No match contains a newline.
    within_line: bool,
    /// See [`Simulator::hidden`].
    hidden: Option<Vec<bool>>,
    /// The general engine, built when first needed. `None`: too large for it.
    general: OnceCell<Option<meta::Regex>>,
}

impl Regex {
    /// Compiles `text` for a newline-sensitive search (`.` and `[^x]` leave out newlines, `^` and `$`
    /// match at lines).
    ///
    /// # Errors
    /// The first fault of the expression, in LLVM's terms.
    pub fn new(text: &[u8], ignore_case: bool) -> Result<Self, RegexError> {
        let program = parser::parse(text, ignore_case)?;
        let within_line = program.ops.iter().all(|op| match op {
            Op::Char(byte) => *byte != b'\n',
            Op::Set(set) => !program.sets[*set as usize].contains(b'\n'),
            _ => true,
        });
        let hidden = Simulator::default().hidden(&program);
        Ok(Self {
            simple: if hidden.is_none() { Simple::new(&program) } else { None },
            hidden,
            required: required_literal(&program)
                .map(|(literal, leads)| (memmem::Finder::new(&literal).into_owned(), leads)),
            within_line,
            general: OnceCell::new(),
            program,
        })
    }

    /// The leftmost-longest match in `text`, whose first byte counts as the start of a line.
    ///
    /// # Errors
    /// [`StepLimitReached`] when the search was given up.
    pub fn find(
        &self,
        text: &[u8],
        want_groups: bool,
        scratch: &mut Scratch,
    ) -> Result<Option<Match>, StepLimitReached> {
        self.find_at(text, 0, want_groups, scratch)
    }

    /// The leftmost-longest match in `text` that starts at `from` or later; what stands before it is seen by anchors
    /// and word boundaries. No match starts beyond the end of `text`.
    ///
    /// # Errors
    /// [`StepLimitReached`] when the search was given up.
    pub fn find_at(
        &self,
        text: &[u8],
        mut from: usize,
        want_groups: bool,
        scratch: &mut Scratch,
    ) -> Result<Option<Match>, StepLimitReached> {
        if from > text.len() {
            return Ok(None);
        }
        loop {
            // The part of the text in which the next match would start.
            let (start, to, next) = match &self.required {
                // Both engines look for a leading literal themselves.
                Some((finder, true)) => match finder.find(&text[from..]) {
                    Some(skip) => (from + skip, text.len(), text.len() + 1),
                    None => return Ok(None),
                },
                Some((finder, false)) if self.within_line => match finder.find(&text[from..]) {
                    Some(skip) => {
                        let at = from + skip;
                        let line = memchr::memrchr(b'\n', &text[from..at]).map_or(from, |i| from + i + 1);
                        let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |i| at + i);
                        (line, end, end + 1)
                    }
                    None => return Ok(None),
                },
                _ => (from, text.len(), text.len() + 1),
            };
            if let Some(found) = self.find_in(Text(text), (start, to), next, want_groups, scratch)? {
                return Ok(Some(found));
            }
            if next > text.len() {
                return Ok(None);
            }
            from = next;
        }
    }

    /// The leftmost match that starts in `from..=to`; the text up to `end` may be searched for it.
    fn find_in(
        &self,
        text: Text<'_>,
        (from, to): (usize, usize),
        end: usize,
        want_groups: bool,
        scratch: &mut Scratch,
    ) -> Result<Option<Match>, StepLimitReached> {
        if let Some(simple) = &self.simple {
            let steps = SIMPLE_STEPS + SIMPLE_STEPS_PER_BYTE * (end - from) as u64;
            let leading = self.required.as_ref().filter(|(_, leads)| *leads).map(|(finder, _)| finder);
            let mut budget = Budget::new(steps);
            match simple.find(text, (from, to), leading, &mut scratch.simple, &mut budget) {
                Ok(None) => return Ok(None),
                Ok(Some(span)) => {
                    let groups =
                        if want_groups { simple.groups(span, &scratch.simple) } else { Groups::new() };
                    return Ok(Some(Match { start: span.0, end: span.1, groups }));
                }
                Err(StepLimitReached) => {}
            }
        }
        self.find_general(text, (from, to), want_groups, scratch)
    }

    fn find_general(
        &self,
        text: Text<'_>,
        (from, to): (usize, usize),
        want_groups: bool,
        scratch: &mut Scratch,
    ) -> Result<Option<Match>, StepLimitReached> {
        let mut budget = Budget::new(MAX_MATCH_STEPS);
        let whole = (0, self.program.ops.len());
        let mut from = from;
        while from <= to {
            let start = self.next_start(text, (from, to), scratch, &mut budget)?;
            let Some(mut start) = start.filter(|&start| start <= to) else { return Ok(None) };
            if self.hidden.is_some() {
                // A match exists that starts here or later.
                while scratch
                    .simulator
                    .longest(&self.program, text, (start, text.0.len()), whole, &mut budget)?
                    .is_none()
                {
                    if start == to {
                        return Ok(None);
                    }
                    start += 1;
                }
            }
            let mut stop = text.0.len();
            let mut approximated = false;
            // With back-references the engines above only approximate; go through the possible ends.
            loop {
                let end =
                    scratch.simulator.longest(&self.program, text, (start, stop), whole, &mut budget)?;
                let Some(end) = end else { break };
                approximated = true;
                let span = (start, end);
                if !self.program.has_backrefs && !want_groups {
                    return Ok(Some(Match { start, end, groups: Groups::new() }));
                }
                let mut dissector = Dissector::new(&self.program, text, &mut scratch.simulator, &mut budget);
                let matched = if self.program.has_backrefs {
                    dissector.back_references(span)?
                } else {
                    dissector.dissect(span, whole)?;
                    true
                };
                if matched {
                    return Ok(Some(Match { start, end, groups: dissector.groups(span) }));
                }
                if end == start {
                    break;
                }
                stop = end - 1;
            }
            if approximated && start == text.0.len() {
                // LLVM gives up checking back-references at the end of the text, and takes what its
                // approximation found there for a match, without groups.
                let groups = vec![None; self.program.groups as usize + 1];
                return Ok(Some(Match { start, end: start, groups }));
            }
            from = start + 1;
        }
        Ok(None)
    }

    /// The next place from which a match is to be tried, as far as cheap means tell.
    fn next_start(
        &self,
        text: Text<'_>,
        (from, to): (usize, usize),
        scratch: &mut Scratch,
        budget: &mut Budget,
    ) -> Result<Option<usize>, StepLimitReached> {
        let window = if self.within_line {
            memchr::memchr(b'\n', &text.0[to..]).map_or(text.0.len(), |skip| to + skip)
        } else {
            text.0.len()
        };
        if let Some(hidden) = &self.hidden {
            let cold = scratch.simulator.cold_start(&self.program, text, (from, window), hidden, budget)?;
            return Ok(cold);
        }
        let general = self.general.get_or_init(|| build_general(&self.program));
        let general = general.as_ref().ok_or(StepLimitReached)?;
        let anchored = if from == to { Anchored::Yes } else { Anchored::No };
        let input = Input::new(text.0).range(from..window).anchored(anchored);
        Ok(general.find(input).map(|found| found.start()))
    }
}

/// The longest run of literal bytes that stands in every match, and whether matches begin with it.
fn required_literal(program: &Program) -> Option<(Vec<u8>, bool)> {
    let mut best: Option<(Vec<u8>, bool)> = None;
    let mut run: Vec<u8> = Vec::new();
    // Nothing but group marks so far.
    let mut leading = true;
    let mut place = 0;
    let mut keep = |run: &mut Vec<u8>, leading: bool| {
        let longer = best.as_ref().is_none_or(|(text, _)| run.len() > text.len());
        if !run.is_empty() && longer {
            best = Some((std::mem::take(run), leading));
        }
        run.clear();
    };
    while place < program.ops.len() {
        match program.ops[place] {
            Op::Char(byte) => run.push(byte),
            Op::GroupOpen(_) | Op::GroupClose(_) => {}
            _ => {
                let begins = leading && !run.is_empty();
                keep(&mut run, begins);
                leading = false;
            }
        }
        place = program.end_of(place);
    }
    let begins = leading && !run.is_empty();
    keep(&mut run, begins);
    best
}

fn build_general(program: &Program) -> Option<meta::Regex> {
    let syntax = regex_automata::util::syntax::Config::new()
        .unicode(false)
        .utf8(false)
        .nest_limit(8 * parser::MAX_GROUP_DEPTH);
    let config =
        meta::Config::new().utf8_empty(false).nfa_size_limit(None).onepass(false).dfa(false).backtrack(false);
    meta::Builder::new().syntax(syntax).configure(config).build(&render(program)).ok()
}

/// The program in the syntax of the `regex` crates, without groups, back-references as copies.
fn render(program: &Program) -> String {
    use std::fmt::Write;
    let mut out = String::new();
    for op in &program.ops {
        // Writing to a String cannot fail.
        let _ = match *op {
            Op::Char(byte) => write!(out, "\\x{byte:02x}"),
            Op::Set(set) => {
                let set = &program.sets[set as usize];
                let mut members = (0..=255u8).filter(|&byte| set.contains(byte)).peekable();
                if members.peek().is_none() {
                    out.push_str("[^\\x00-\\xff]");
                    continue;
                }
                out.push('[');
                while let Some(low) = members.next() {
                    let mut high = low;
                    while let Some(next) = members.next_if(|&next| Some(next) == high.checked_add(1)) {
                        high = next;
                    }
                    let _ = write!(out, "\\x{low:02x}-\\x{high:02x}");
                }
                write!(out, "]")
            }
            Op::LineStart => write!(out, "(?m:^)"),
            Op::LineEnd => write!(out, "(?m:$)"),
            Op::WordStart => write!(out, "\\b{{start}}"),
            Op::WordEnd => write!(out, "\\b{{end}}"),
            Op::PlusOpen(_) | Op::QuestOpen(_) | Op::AltOpen(_) => write!(out, "(?:"),
            Op::PlusClose(_) => write!(out, ")+"),
            Op::QuestClose => write!(out, ")?"),
            Op::AltClose => write!(out, ")"),
            Op::Or1 => Ok(()),
            Op::Or2(_) => write!(out, "|"),
            Op::GroupOpen(_) | Op::GroupClose(_) | Op::BackOpen(_) | Op::BackClose(_) => Ok(()),
        };
    }
    out
}
