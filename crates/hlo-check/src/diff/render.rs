//! Differences as text.

use std::fmt::Write;
use std::ops::Range;

use hlo_text::ir::{ComputationId, InstructionId};
use hlo_text::{Module, PrintOptions};

use super::{ComputationDiff, InstructionDiff, Kind, ModuleDiff, words};

/// Lines longer than this, in characters, get no line of marks below them.
const MARKED_COLUMNS: usize = 400;

/// How differences are written.
#[derive(Clone, Debug)]
pub struct RenderOptions {
    /// With ANSI colours; otherwise marks under the words that are different.
    pub color: bool,
    /// How many instructions that are the same stand around those that aren't.
    pub context: usize,
    /// How instructions are printed.
    pub print: PrintOptions,
}

impl Default for RenderOptions {
    fn default() -> Self {
        Self { color: false, context: 2, print: PrintOptions::default() }
    }
}

/// What a line is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Plain,
    Heading,
    Removed,
    Added,
    Moved,
}

impl Style {
    fn color(self) -> &'static str {
        match self {
            Style::Plain => "",
            Style::Heading => "\x1b[1;36m",
            Style::Removed => "\x1b[31m",
            Style::Added => "\x1b[32m",
            Style::Moved => "\x1b[33m",
        }
    }
}

const RESET: &str = "\x1b[0m";
/// Reversed, for words in lines.
const EMPHASIS: &str = "\x1b[7m";
const NO_EMPHASIS: &str = "\x1b[27m";

struct Renderer<'r, 'm> {
    diff: &'r ModuleDiff<'m>,
    options: &'r RenderOptions,
    out: String,
}

impl ModuleDiff<'_> {
    /// The differences as text, nothing if there are none. Lines begin with `-` (gone), `+` (new), `~` (renamed), `>`
    /// (moved) or blanks; a line that begins with `?` marks words of the line above it.
    pub fn render(&self, options: &RenderOptions) -> String {
        let mut renderer = Renderer { diff: self, options, out: String::new() };
        if !self.header.is_empty() {
            renderer.header();
        }
        for computation in self.computations.iter().filter(|computation| !computation.is_same()) {
            renderer.computation(computation);
        }
        renderer.out
    }

    /// What is different in one line, such as `2 instructions added, 1 changed`.
    pub fn summary(&self) -> String {
        let counts = self.counts();
        let mut parts = Vec::new();
        let instructions = [
            (counts.added, "added"),
            (counts.removed, "removed"),
            (counts.changed, "changed"),
            (counts.renamed, "renamed"),
            (counts.moved, "moved"),
        ];
        let computations = [
            (counts.computations_added, "added"),
            (counts.computations_removed, "removed"),
            (counts.computations_renamed, "renamed"),
        ];
        for (noun, list) in [("instruction", &instructions[..]), ("computation", &computations[..])] {
            let mut is_first = true;
            for &(count, verb) in list.iter().filter(|(count, _)| *count > 0) {
                let noun = match (is_first, count) {
                    (false, _) => String::new(),
                    (true, 1) => format!("{noun} "),
                    (true, _) => format!("{noun}s "),
                };
                parts.push(format!("{count} {noun}{verb}"));
                is_first = false;
            }
        }
        match counts.header {
            0 => {}
            1 => parts.push("1 change of the HloModule line".to_owned()),
            count => parts.push(format!("{count} changes of the HloModule line")),
        }
        if parts.is_empty() {
            // Only what belongs to a computation as a whole.
            let same = self.computations.iter().all(ComputationDiff::is_same);
            parts.push(if same { "no differences" } else { "execution threads changed" }.to_owned());
        }
        parts.join(", ")
    }
}

impl Renderer<'_, '_> {
    fn header(&mut self) {
        self.line(Style::Heading, "", "HloModule", &[]);
        let diff = self.diff;
        for change in &diff.header {
            let text = |value: &Option<String>| {
                value.as_ref().map(|value| match change.name.as_str() {
                    "HloModule" => format!("HloModule {value}"),
                    name => format!("{name}={value}"),
                })
            };
            self.replacement(text(&change.before), text(&change.after));
        }
    }

    fn computation(&mut self, computation: &ComputationDiff) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        let (before, after) = (self.diff.before, self.diff.after);
        let title = |module: &Module, id: ComputationId| {
            let entry = if module.entry() == id { "ENTRY " } else { "" };
            format!("{entry}%{}", module.computation_name(id))
        };
        let heading = match (computation.before, computation.after) {
            (Some(old), Some(new)) if computation.renamed => {
                format!("{} -> {}", title(before, old), title(after, new))
            }
            (_, Some(new)) => title(after, new),
            (Some(old), None) => title(before, old),
            (None, None) => String::new(),
        };
        let note = match (computation.before, computation.after) {
            (None, _) => " (added)",
            (_, None) => " (removed)",
            _ => "",
        };
        self.line(Style::Heading, "", &format!("{heading}{note}"), &[]);
        if computation.rethreaded {
            let thread = |module: &Module, id: Option<ComputationId>| {
                let thread = id.and_then(|id| module.computation(id).execution_thread);
                let name = thread.map_or(&b"main"[..], |symbol| module.strings().get(symbol));
                Some(format!("execution_thread=\"{}\"", String::from_utf8_lossy(name)))
            };
            self.replacement(thread(before, computation.before), thread(after, computation.after));
        }
        let differs: Vec<bool> =
            computation.instructions.iter().map(|instruction| instruction.kind() != Kind::Same).collect();
        let shown = near(&differs, self.options.context);
        let mut skipped = 0;
        for (instruction, is_shown) in computation.instructions.iter().zip(shown) {
            if !is_shown {
                skipped += 1;
                continue;
            }
            self.skipped(&mut skipped);
            self.instruction(instruction);
        }
        self.skipped(&mut skipped);
    }

    fn skipped(&mut self, count: &mut usize) {
        match std::mem::take(count) {
            0 => {}
            1 => self.line(Style::Plain, "  ", "... 1 instruction that is the same", &[]),
            count => {
                self.line(Style::Plain, "  ", &format!("... {count} instructions that are the same"), &[]);
            }
        }
    }

    fn instruction(&mut self, instruction: &InstructionDiff) {
        let (before, after) = (self.diff.before, self.diff.after);
        let old = instruction.before.map(|id| self.text(before, id));
        let new = instruction.after.map(|id| self.text(after, id));
        match instruction.kind() {
            Kind::Same => self.line(Style::Plain, "  ", &new.unwrap_or_default(), &[]),
            Kind::Renamed => {
                let name = instruction.before.map_or("", |id| before.name_of(id));
                let text = new.unwrap_or_default();
                self.line(Style::Moved, "~ ", &format!("{text}  (was %{name})"), &[]);
            }
            Kind::Moved => {
                let text = new.unwrap_or_default();
                let from = self.origin(instruction);
                self.line(Style::Moved, "> ", &format!("{text}{from}"), &[]);
            }
            Kind::Added | Kind::Removed | Kind::Changed => self.replacement(old, new),
        }
    }

    /// Where something that moved between computations comes from.
    fn origin(&self, instruction: &InstructionDiff) -> String {
        let (Some(old), Some(new)) = (instruction.before, instruction.after) else { return String::new() };
        let parent = self.diff.before.instruction(old).parent;
        let here = self.diff.after.instruction(new).parent;
        let counterpart = self.diff.computations.iter().find(|computation| computation.after == Some(here));
        if counterpart.is_some_and(|computation| computation.before == Some(parent)) {
            return String::new();
        }
        format!("  (from %{})", self.diff.before.computation_name(parent))
    }

    fn text(&self, module: &Module, id: InstructionId) -> String {
        let root = if module.is_root(id) { "ROOT " } else { "" };
        format!("{root}{}", module.print_instruction(id, &self.options.print))
    }

    /// A text and what it became.
    fn replacement(&mut self, old: Option<String>, new: Option<String>) {
        match (old, new) {
            (Some(old), Some(new)) => {
                let [gone, come] = words::differences(&old, &new);
                self.line(Style::Removed, "- ", &old, &gone);
                self.line(Style::Added, "+ ", &new, &come);
            }
            (Some(old), None) => self.line(Style::Removed, "- ", &old, &[]),
            (None, Some(new)) => self.line(Style::Added, "+ ", &new, &[]),
            (None, None) => {}
        }
    }

    /// Appends a line; `marked` are the parts of `text` that stand out.
    fn line(&mut self, style: Style, prefix: &str, text: &str, marked: &[Range<usize>]) {
        let out = &mut self.out;
        let is_colored = self.options.color && style != Style::Plain;
        if is_colored {
            out.push_str(style.color());
        }
        out.push_str(prefix);
        if is_colored {
            let mut at = 0;
            for range in marked {
                out.push_str(&text[at..range.start]);
                out.push_str(EMPHASIS);
                out.push_str(&text[range.clone()]);
                out.push_str(NO_EMPHASIS);
                at = range.end;
            }
            out.push_str(&text[at..]);
            out.push_str(RESET);
            out.push('\n');
            return;
        }
        out.push_str(text);
        out.push('\n');
        if let Some(last) = marked.last()
            && text[..last.end].chars().count() <= MARKED_COLUMNS
        {
            let mut marks = String::new();
            for (at, _) in text[..last.end].char_indices() {
                let is_marked = marked.iter().any(|range| range.contains(&at));
                marks.push(if is_marked { '^' } else { ' ' });
            }
            // Writing to a string can't fail.
            let _ = writeln!(out, "? {marks}");
        }
    }
}

/// Which entries are within `distance` of one that is set.
fn near(set: &[bool], distance: usize) -> Vec<bool> {
    let mut near = vec![false; set.len()];
    let mut last: Option<usize> = None;
    for (index, slot) in near.iter_mut().enumerate() {
        if set[index] {
            last = Some(index);
        }
        *slot = last.is_some_and(|last| index - last <= distance);
    }
    let mut next: Option<usize> = None;
    for (index, slot) in near.iter_mut().enumerate().rev() {
        if set[index] {
            next = Some(index);
        }
        *slot |= next.is_some_and(|next| next - index <= distance);
    }
    near
}
