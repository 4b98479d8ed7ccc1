//! The annotated dump of the input.

use std::collections::HashMap;
use std::io::Write;
use std::rc::Rc;

use super::{Color, Painter};
use crate::filecheck::diagnostic::{Annotation, Outcome};
use crate::filecheck::options::{DumpFilter, DumpOptions};
use crate::filecheck::source::{BufferId, Loc, SourceMap, Span};

/// How an outcome is shown.
struct Marker {
    lead: u8,
    color: Color,
    note: &'static str,
    is_error: bool,
}

fn marker(outcome: Outcome) -> Marker {
    let (lead, color, note, is_error) = match outcome {
        Outcome::FoundAndExpected => (b'^', Color::Green, "", false),
        Outcome::FoundButExcluded => (b'!', Color::Red, "error: no match expected", true),
        Outcome::FoundButWrongLine => (b'!', Color::Red, "error: match on wrong line", true),
        Outcome::FoundButDiscarded => (b'!', Color::Cyan, "discard: overlaps earlier match", false),
        Outcome::NoneAndExcluded => (b'X', Color::Green, "", false),
        Outcome::NoneButExpected => (b'X', Color::Red, "error: no match found", true),
        Outcome::NoneForInvalidPattern => (b'X', Color::Red, "error: match failed for invalid pattern", true),
        Outcome::Fuzzy => (b'?', Color::Magenta, "possible intended match", true),
    };
    Marker { lead, color, note, is_error }
}

/// The marks of one annotation on one line.
struct Mark {
    /// Order in which the annotation was made.
    order: usize,
    label: Rc<str>,
    first_line: bool,
    line: usize,
    start: usize,
    /// One past the last column; `usize::MAX` for up to the end of the line.
    end: usize,
    lead: u8,
    color: Color,
    note: Vec<u8>,
    is_error: bool,
    expected_match: bool,
}

/// The explanation printed by `--dump-input=help`.
pub const HELP: &str = include_str!("dump_help.txt");

/// Renders the dump. `implicit` are the places of the patterns of `--implicit-check-not`.
#[must_use]
pub fn render(
    sources: &SourceMap,
    implicit: &[Span],
    input: BufferId,
    annotations: &[Annotation],
    options: DumpOptions,
    verbose: bool,
    colors: bool,
) -> Vec<u8> {
    let (marks, label_width) = marks(sources, implicit, annotations);
    let dump = Dump {
        text: sources.text(input),
        marks: &marks,
        options,
        verbose,
        colors,
        width: 0,
        painter: Painter::new(colors),
        elided: Painter::new(colors),
        elided_lines: 0,
    };
    dump.render(label_width)
}

fn marks(sources: &SourceMap, implicit: &[Span], annotations: &[Annotation]) -> (Vec<Mark>, usize) {
    let mut totals: HashMap<Loc, usize> = HashMap::new();
    for annotation in annotations {
        *totals.entry(annotation.check).or_default() += 1;
    }
    let mut seen: HashMap<Loc, usize> = HashMap::new();
    let mut marks = Vec::new();
    let mut label_width = 0;
    for (order, annotation) in annotations.iter().enumerate() {
        let check = annotation.check;
        let mut label = format!("{}:", annotation.check_type.label());
        match implicit.iter().position(|span| span.buffer == check.buffer) {
            Some(index) => label.push_str(&format!("imp{}", index + 1)),
            None => label.push_str(&sources.position(check).line.to_string()),
        }
        if totals.get(&check).copied().unwrap_or_default() > 1 {
            let index = seen.entry(check).or_default();
            label.push_str(&format!("'{index}"));
            *index += 1;
        }
        label_width = label_width.max(label.len());
        let label: Rc<str> = label.into();
        let marker = marker(annotation.outcome);
        let range = annotation.range;
        let start = sources.position(range.loc());
        let end = sources.position(Loc { buffer: range.buffer, offset: range.end });
        // A note without extent says nothing about the place it is shown at.
        let bare_note = !annotation.note.is_empty() && start == end;
        let note = if annotation.note.is_empty() { marker.note.as_bytes() } else { &annotation.note[..] };
        let mark = |line: usize, start: usize, end: usize, first_line: bool| Mark {
            order,
            label: label.clone(),
            first_line,
            line,
            start,
            end,
            lead: match (first_line, bare_note) {
                (false, _) => b'~',
                (true, true) => b' ',
                (true, false) => marker.lead,
            },
            color: marker.color,
            note: if first_line { note.to_vec() } else { Vec::new() },
            is_error: marker.is_error,
            expected_match: annotation.outcome == Outcome::FoundAndExpected,
        };
        if start.line == end.line {
            marks.push(mark(start.line, start.column, end.column.max(start.column + 1), true));
            continue;
        }
        marks.push(mark(start.line, start.column, usize::MAX, true));
        for line in start.line + 1..=end.line {
            if line < end.line {
                marks.push(mark(line, 1, usize::MAX, false));
            } else if end.column > 1 {
                marks.push(mark(line, 1, end.column, false));
            }
        }
    }
    marks.sort_by_key(|mark| (mark.line, mark.order));
    (marks, label_width)
}

struct Dump<'a> {
    text: &'a [u8],
    marks: &'a [Mark],
    options: DumpOptions,
    verbose: bool,
    colors: bool,
    width: usize,
    painter: Painter,
    /// Lines left out so far, in case an ellipsis would be no shorter.
    elided: Painter,
    /// How many lines are left out so far.
    elided_lines: usize,
}

/// Lines an ellipsis takes.
const ELLIPSIS_LINES: usize = 3;

impl Dump<'_> {
    fn render(mut self, label_width: usize) -> Vec<u8> {
        self.painter.put(b"Input was:\n<<<<<<\n");
        let newlines = memchr::memchr_iter(b'\n', self.text).count();
        let lines = newlines + usize::from(self.text.last() != Some(&b'\n'));
        // Room for a blank before line numbers and for one after labels, so that they never line up.
        self.width = label_width.max(lines.max(1).ilog10() as usize + 1) + 3;
        // LLVM asks here whether colours are on, with an object that paints.
        self.painter.bold();
        self.painter.reset();

        let context = self.options.context as usize;
        let mut previous: Option<usize> = None;
        // The next line that the filter shows; computed anew once it is behind.
        let mut next = Some(0);
        let mut at = 0;
        let mut mark = 0;
        let mut line = 1;
        while at != self.text.len() || mark != self.marks.len() {
            if next.is_some_and(|next| next < line) {
                next = self.next_in_filter(line, mark);
            }
            if next == Some(line) {
                previous = Some(line);
            }
            let near_previous = previous.is_some_and(|previous| previous + context >= line);
            let near_next = next.is_some_and(|next| line + context >= next);
            let shown = near_previous || near_next;
            if shown {
                self.end_elision();
            }
            let end = memchr::memchr(b'\n', &self.text[at..]).map_or(self.text.len(), |i| at + i + 1);
            let marks_end = mark + self.marks[mark..].iter().take_while(|mark| mark.line == line).count();
            let of_line = &self.marks[mark..marks_end];
            if !shown {
                self.elided_lines += 1 + of_line.len();
                if self.elided_lines > ELLIPSIS_LINES {
                    // These will never be shown.
                    (at, mark, line) = (end, marks_end, line + 1);
                    continue;
                }
            }
            let target = if shown { &mut self.painter } else { &mut self.elided };
            put_line(target, line, self.width, &self.text[at..end], of_line, self.verbose, self.colors);
            for mark in of_line {
                put_mark(target, mark, self.width, end - at);
            }
            at = end;
            mark = marks_end;
            line += 1;
        }
        self.end_elision();
        self.painter.put(b">>>>>>\n");
        self.painter.out
    }

    fn next_in_filter(&self, line: usize, mark: usize) -> Option<usize> {
        let wanted = |mark: &&Mark| match self.options.filter {
            DumpFilter::All | DumpFilter::AnnotationFull => true,
            DumpFilter::Annotation => mark.first_line,
            DumpFilter::Error => mark.first_line && mark.is_error,
        };
        if self.options.filter == DumpFilter::All {
            return Some(line);
        }
        self.marks[mark..].iter().find(wanted).map(|mark| mark.line)
    }

    fn end_elision(&mut self) {
        let elided = std::mem::take(&mut self.elided.out);
        if std::mem::take(&mut self.elided_lines) <= ELLIPSIS_LINES {
            self.painter.put(&elided);
            return;
        }
        for _ in 0..ELLIPSIS_LINES {
            self.painter.color(Color::Black);
            let dot = format!("{:>width$}", ".", width = self.width);
            self.painter.put(dot.as_bytes());
            self.painter.reset();
            self.painter.put(b"\n");
        }
    }
}

fn put_line(
    painter: &mut Painter,
    number: usize,
    width: usize,
    line: &[u8],
    marks: &[Mark],
    verbose: bool,
    colors: bool,
) {
    painter.color(Color::Black);
    let _ = write!(painter.out, "{number:>width$}: ");
    painter.reset();
    painter.bold();
    if verbose {
        painter.background(Color::Cyan);
    }
    let (body, newline) = match line.strip_suffix(b"\n") {
        Some(body) => (body, true),
        None => (line, false),
    };
    if verbose && colors {
        // What no expected match covers stands out.
        let matched = |column: usize| {
            marks.iter().any(|mark| mark.expected_match && mark.start <= column && column < mark.end)
        };
        let mut in_match = false;
        for column in 1..=body.len() + usize::from(newline) {
            let was = std::mem::replace(&mut in_match, matched(column));
            if in_match && !was {
                painter.reset();
            } else if was && !in_match {
                painter.background(Color::Cyan);
            }
            painter.out.push(body.get(column - 1).copied().unwrap_or(b' '));
        }
    } else {
        painter.put(body);
        if newline {
            painter.put(b" ");
        }
    }
    painter.reset();
    painter.put(b"\n");
}

fn put_mark(painter: &mut Painter, mark: &Mark, width: usize, line_width: usize) {
    painter.color(mark.color);
    let _ = write!(painter.out, "{:<width$}  ", mark.label);
    let blanks = mark.start - 1;
    painter.out.resize(painter.out.len() + blanks, b' ');
    painter.out.push(mark.lead);
    let mut column = mark.start + 1;
    let marked = mark.end.min(line_width + 1).saturating_sub(column);
    painter.out.resize(painter.out.len() + marked, b'~');
    column += marked;
    if !mark.note.is_empty() {
        let gap = (line_width + 1).saturating_sub(column);
        painter.out.resize(painter.out.len() + gap + 1, b' ');
        painter.put(&mark.note);
    }
    painter.put(b"\n");
    painter.reset();
}
