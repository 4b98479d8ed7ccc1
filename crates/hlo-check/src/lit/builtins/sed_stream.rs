//! Runs scripts of `sed` over lines.

use super::posix_regex::{Found, SedRegex};
use super::sed_script::{Action, Address, Part, Script, Step};

/// A run of a script over some input.
pub(super) struct Stream<'s> {
    script: &'s Script,
    quiet: bool,
    /// Per command: the line its range goes up to (`None`: up to a match) while it is on.
    active: Vec<Option<Option<usize>>>,
    /// What has been printed.
    pub(super) out: Vec<u8>,
}

impl<'s> Stream<'s> {
    /// A run that hasn't begun; `quiet` is `-n`.
    pub(super) fn new(script: &'s Script, quiet: bool) -> Self {
        Stream { script, quiet, active: vec![None; script.commands.len()], out: Vec::new() }
    }

    /// Feeds it all input; gives the exit status.
    ///
    /// # Errors
    /// An expression takes too long.
    pub(super) fn run(&mut self, inputs: &[&[u8]]) -> Result<i32, String> {
        let lines: Vec<&[u8]> =
            inputs.iter().flat_map(|input| input.split_inclusive(|&byte| byte == b'\n')).collect();
        let count = lines.len();
        for (index, line) in lines.into_iter().enumerate() {
            let (text, end): (&[u8], &[u8]) = match line.strip_suffix(b"\n") {
                Some(text) => (text, b"\n"),
                // Only the very last line stays without a line end.
                None if index + 1 < count => (line, b"\n"),
                None => (line, b""),
            };
            if let Some(status) = self.line(text, end, index + 1, index + 1 == count)? {
                return Ok(status);
            }
        }
        Ok(0)
    }

    /// Works on one line; an exit status if the script quits.
    fn line(&mut self, text: &[u8], end: &[u8], number: usize, last: bool) -> Result<Option<i32>, String> {
        let mut space = text.to_vec();
        let mut appended = Vec::new();
        let mut deleted = false;
        let mut quit = None;
        let script = self.script;
        for (index, step) in script.commands.iter().enumerate() {
            if self.selects(index, step, &space, number, last)? == step.negated {
                continue;
            }
            match &step.action {
                Action::Substitute { regex, parts, first, all, print } => {
                    if substitute(&mut space, regex, parts, *first, *all)? && *print {
                        self.print(&space, end);
                    }
                }
                Action::Translate(table) => {
                    for byte in &mut space {
                        *byte = table[usize::from(*byte)];
                    }
                }
                Action::Delete => deleted = true,
                Action::Print => self.print(&space, end),
                Action::Quit(status) => quit = Some(*status),
                Action::LineNumber => self.out.extend_from_slice(format!("{number}\n").as_bytes()),
                Action::Append(text) => appended.extend_from_slice(text),
                Action::Insert(text) => self.out.extend_from_slice(text),
                Action::Change(text) => {
                    // For a range the text comes once, at its end.
                    if step.to.is_none() || step.negated || self.active[index].is_none() {
                        self.out.extend_from_slice(text);
                    }
                    deleted = true;
                }
            }
            if deleted || quit.is_some() {
                break;
            }
        }
        if !deleted && !self.quiet {
            self.print(&space, end);
        }
        if !appended.is_empty() && self.out.last().is_some_and(|&byte| byte != b'\n') {
            self.out.push(b'\n');
        }
        self.out.extend_from_slice(&appended);
        Ok(quit)
    }

    fn print(&mut self, text: &[u8], end: &[u8]) {
        if self.out.last().is_some_and(|&byte| byte != b'\n') {
            self.out.push(b'\n');
        }
        self.out.extend_from_slice(text);
        self.out.extend_from_slice(end);
    }

    fn selects(
        &mut self,
        index: usize,
        step: &Step,
        space: &[u8],
        number: usize,
        last: bool,
    ) -> Result<bool, String> {
        let holds = |address: &Address| {
            Ok::<bool, String>(match address {
                Address::Line(line) => *line == number,
                Address::Last => last,
                Address::Match(regex) => regex.find_at(space, 0)?.is_some(),
                Address::More(_) => false,
            })
        };
        let Some(from) = &step.from else { return Ok(true) };
        let Some(to) = &step.to else { return holds(from) };
        if let Some(until) = self.active[index] {
            let ends = match until {
                Some(line) => number >= line,
                None => holds(to)?,
            };
            if ends {
                self.active[index] = None;
            }
            // A range whose last line has been passed is over already.
            return Ok(until.is_none_or(|line| number <= line));
        }
        if !holds(from)? {
            return Ok(false);
        }
        let until = match to {
            Address::Line(line) => Some(*line),
            Address::More(count) => Some(number.saturating_add(*count)),
            Address::Last | Address::Match(_) => None,
        };
        let only_this = match until {
            Some(line) => line <= number,
            None => matches!(to, Address::Last) && last,
        };
        if !only_this {
            self.active[index] = Some(until);
        }
        Ok(true)
    }
}

/// Replaces the match number `first` (and, with `all`, those after it); whether there was one.
fn substitute(
    space: &mut Vec<u8>,
    regex: &SedRegex,
    parts: &[Part],
    first: usize,
    all: bool,
) -> Result<bool, String> {
    let mut out = Vec::with_capacity(space.len());
    let (mut copied, mut at, mut count) = (0, 0, 0);
    let mut done = false;
    let mut last_end = None;
    while let Some(found) = regex.find_at(space, at)? {
        let (start, end) = (found.start(), found.end());
        at = if end > start { end } else { end + 1 };
        // Nothing, right after a match, is no match of its own.
        if end == start && last_end == Some(end) {
            continue;
        }
        last_end = Some(end);
        count += 1;
        if count < first {
            continue;
        }
        out.extend_from_slice(&space[copied..start]);
        replace(space, &found, parts, &mut out);
        copied = end;
        done = true;
        if !all {
            break;
        }
    }
    if done {
        out.extend_from_slice(&space[copied..]);
        *space = out;
    }
    Ok(done)
}

fn replace(space: &[u8], found: &Found<'_>, parts: &[Part], out: &mut Vec<u8>) {
    for part in parts {
        match part {
            Part::Text(text) => out.extend_from_slice(text),
            Part::Group(number) => {
                if let Some((start, end)) = found.group(*number) {
                    out.extend_from_slice(&space[start..end]);
                }
            }
        }
    }
}
