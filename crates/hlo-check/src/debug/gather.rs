//! Where a pasted text begins and ends among lines that may be commands.

use super::commands;
use super::paste::lines::bare;
use super::paste::scan;

/// Whether a line is the first of a pasted text rather than a command.
pub(crate) fn begins_paste(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("```")
        || line.starts_with("@@ ")
        || line.starts_with("diff --git ")
        || is_hlo(&bare(line))
}

/// Whether a line, without what surrounds HLO, looks like HLO.
fn is_hlo(line: &str) -> bool {
    let line = line.trim();
    let word = line.split(|c: char| c.is_whitespace() || c == ',').next().unwrap_or_default();
    match word {
        "HloModule" | "ENTRY" | "ROOT" | "FileNames" | "FunctionNames" | "FileLocations" | "StackFrames" => {
            true
        }
        _ => is_instruction(line) || is_heading(line) || line.starts_with('}'),
    }
}

/// Whether the line begins with a name, `=`, and what an opcode's parenthesis follows.
pub(crate) fn is_instruction(line: &str) -> bool {
    scan::instruction(line).is_some_and(|parts| parts.has_operands)
}

/// Whether the line opens a computation.
fn is_heading(line: &str) -> bool {
    let Some(line) = line.trim_end().strip_suffix('{') else { return false };
    let name = line.trim_start().strip_prefix('%').unwrap_or(line.trim_start());
    let end = name
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')))
        .unwrap_or(name.len());
    let rest = name.get(end..).unwrap_or_default().trim_start();
    end > 0 && (rest.is_empty() || rest.starts_with('('))
}

/// What a line does to a text that is being gathered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// It belongs to the text, which goes on.
    More,
    /// It is the last of the text.
    Last,
    /// It comes after the text.
    Behind,
}

/// A text whose lines come one by one.
#[derive(Debug, Default)]
pub(crate) struct Gatherer {
    /// The lines so far.
    pub(crate) text: String,
    is_fenced: bool,
    has_header: bool,
    has_entry: bool,
    /// Braces and the like that are open.
    depth: usize,
}

impl Gatherer {
    /// Takes the next line; the first one must be such that [`begins_paste`].
    pub(crate) fn take(&mut self, line: &str) -> Step {
        let is_first = self.text.is_empty();
        let step = self.look(line, is_first);
        if step != Step::Behind {
            self.text.push_str(line);
            self.text.push('\n');
        }
        step
    }

    fn look(&mut self, line: &str, is_first: bool) -> Step {
        if line.trim_start().starts_with("```") {
            self.is_fenced = true;
            return if is_first { Step::More } else { Step::Last };
        }
        if self.is_fenced {
            return Step::More;
        }
        let bare = bare(line);
        let words = bare.trim();
        if words.is_empty() {
            let goes_on = self.has_header && !(self.has_entry && self.depth == 0);
            return if goes_on { Step::More } else { Step::Last };
        }
        // A command ends a text that was cut.
        let first = words.split_whitespace().next().unwrap_or_default();
        if !is_first && !is_hlo(&bare) && (self.depth == 0 || commands::find(first).is_some()) {
            let is_comment = words.starts_with("//");
            return if is_comment && self.depth > 0 { Step::More } else { Step::Behind };
        }
        self.has_header |= words.starts_with("HloModule");
        self.has_entry |= words.starts_with("ENTRY");
        let was_open = self.depth > 0;
        self.depth = depth_after(&bare, self.depth);
        let closes = was_open && self.depth == 0 && words.starts_with('}');
        if closes && self.has_entry { Step::Last } else { Step::More }
    }

    /// Whether the whole of `text` is one paste or a command: nothing more has to follow.
    pub(crate) fn is_whole(text: &str) -> bool {
        let mut lines = text.lines().skip_while(|line| line.trim().is_empty());
        let Some(first) = lines.next() else { return true };
        if !begins_paste(first) || text.ends_with("\n\n") || text.ends_with("\n\r\n") {
            return true;
        }
        let mut gatherer = Self::default();
        gatherer.take(first);
        lines.any(|line| gatherer.take(line) != Step::More)
    }
}

/// How many brackets are open behind `line` if `depth` were before it. Strings and comments don't count.
fn depth_after(line: &str, mut depth: usize) -> usize {
    let mut rest = line.chars().peekable();
    let mut in_string = false;
    while let Some(c) = rest.next() {
        match c {
            '\\' if in_string => {
                rest.next();
            }
            '"' => in_string = !in_string,
            _ if in_string => {}
            '/' if rest.peek() == Some(&'/') => break,
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    depth
}
