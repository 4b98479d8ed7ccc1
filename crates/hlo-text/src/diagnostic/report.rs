//! A diagnostic together with the text it is about, as miette wants it.

use std::fmt;

use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, SourceCode, SourceSpan, SpanContents,
};

use super::{Diagnostic, Severity, Span};

/// A named text.
#[derive(Clone, Copy, Debug)]
pub struct Source<'t> {
    /// What the user calls it: a path, or `<stdin>`.
    pub name: &'t str,
    /// All of it.
    pub text: &'t str,
    /// Number of its first line; more than 1 if it is a part of a file, 0 if there is no text to point into.
    pub first_line: usize,
}

impl<'t> Source<'t> {
    /// A text that is read as a whole.
    pub fn new(name: &'t str, text: &'t str) -> Self {
        Self { name, text, first_line: 1 }
    }

    /// A source that has no text, a protocol buffer for instance: only its name is shown.
    pub fn without_text(name: &'t str) -> Self {
        Self { name, text: "", first_line: 0 }
    }

    fn has_text(&self) -> bool {
        self.first_line > 0
    }

    /// The same as a part of a file: its first line is line `first_line` there.
    #[must_use]
    pub fn starting_at(self, first_line: usize) -> Self {
        Self { first_line, ..self }
    }

    /// Line and column of byte `offset`, both from 1; columns count characters.
    pub fn place(&self, offset: usize) -> (usize, usize) {
        let (line, column) = place(self.text, offset);
        (line + self.first_line.saturating_sub(1), column)
    }
}

/// Lines longer than this are cut around the place a label points at: real HLO has lines of many kilobytes.
const MAX_LINE_WIDTH: usize = 160;

/// A diagnostic with its source: a [`miette::Diagnostic`] that any report handler renders.
#[derive(Clone, Copy)]
pub struct Report<'t> {
    diagnostic: &'t Diagnostic,
    source: Source<'t>,
}

impl<'t> Report<'t> {
    /// The report of `diagnostic`, which is about `source`.
    pub fn new(diagnostic: &'t Diagnostic, source: Source<'t>) -> Self {
        Self { diagnostic, source }
    }

    /// The report as text for people, with the lines it points at; `color` adds ANSI colours.
    pub fn render(&self, color: bool) -> String {
        let theme = if color { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
        let handler = GraphicalReportHandler::new_themed(theme).with_width(100).with_context_lines(0);
        let excerpt = Excerpt::new(self);
        let mut out = String::new();
        match handler.render_report(&mut out, &excerpt) {
            // Otherwise the lines that are shown say where it is.
            Ok(()) if !self.source.has_text() => format!("  in {}\n{out}", self.source.name),
            Ok(()) => out,
            Err(fmt::Error) => self.render_short(),
        }
    }

    /// `name:line:column: error[HLO0001]: message`, one line.
    pub fn render_short(&self) -> String {
        let (line, column) = self.source.place(self.diagnostic.place().span.start as usize);
        let severity = severity_name(self.diagnostic.severity);
        let Diagnostic { code, message, .. } = self.diagnostic;
        if !self.source.has_text() {
            return format!("{}: {severity}[{}]: {message}\n", self.source.name, code.as_str());
        }
        format!("{}:{line}:{column}: {severity}[{}]: {message}\n", self.source.name, code.as_str())
    }
}

/// `error` or `warning`.
pub fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

/// Line and column of byte `offset` of `text`, both from 1; columns count characters.
pub fn place(text: &str, offset: usize) -> (usize, usize) {
    let offset = floor_boundary(text, offset);
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    (memchr::memchr_iter(b'\n', before.as_bytes()).count() + 1, before[line_start..].chars().count() + 1)
}

/// The last character boundary at or before `offset`.
fn floor_boundary(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// The lines a report shows, cut to a readable width, with the labels moved accordingly.
struct Excerpt<'t> {
    report: &'t Report<'t>,
    lines: Vec<Line>,
    labels: Vec<LabeledSpan>,
    code: &'static str,
}

/// A line of the source, perhaps cut at both ends.
struct Line {
    number: usize,
    /// Characters of the source's line that are cut off before it.
    cut: usize,
    /// Bytes of the mark that stands for them.
    mark: usize,
    /// Place in the excerpt's own text.
    start: usize,
    text: String,
}

impl Line {
    /// The column in the source, from 0, of byte `offset` of the excerpt.
    fn column(&self, offset: usize) -> usize {
        let shown = self.text.get(self.mark..offset.saturating_sub(self.start)).unwrap_or_default();
        self.cut + shown.chars().count()
    }
}

impl<'t> Excerpt<'t> {
    fn new(report: &'t Report<'t>) -> Self {
        let text = report.source.text;
        let diagnostic = report.diagnostic;
        let shown = diagnostic.place();
        let mut places: Vec<(Span, &str, bool)> = vec![(shown.span, shown.text.as_str(), true)];
        places.extend(diagnostic.secondary.iter().map(|label| (label.span, label.text.as_str(), false)));
        let mut starts: Vec<(usize, usize)> = Vec::new();
        for (span, _, _) in &places {
            let offset = floor_boundary(text, span.start as usize);
            let start = text[..offset].rfind('\n').map_or(0, |at| at + 1);
            if !starts.iter().any(|known| known.0 == start) {
                starts.push((start, offset));
            }
        }
        // The place of the fault first, then the others as the text has them.
        starts[1..].sort_unstable();
        let mut lines: Vec<Line> = Vec::new();
        let mut labels = Vec::new();
        let mut at = 0;
        for (start, focus) in starts {
            let end = text[start..].find('\n').map_or(text.len(), |length| start + length);
            let (from, to) = cut(text, start, end, focus);
            let mut shown = String::new();
            if from > start {
                shown.push('…');
            }
            let prefix = shown.len();
            // Control characters would do things to terminals. All of them are one byte, so labels stay right.
            let harmless = |c: char| if c.is_ascii_control() && c != '\t' { '?' } else { c };
            shown.extend(text[from..to].trim_end_matches('\r').chars().map(harmless));
            if to < end {
                shown.push('…');
            }
            // What is behind the last character needs something to point at.
            if places.iter().any(|(span, ..)| span.start as usize == end && span.start == span.end) {
                shown.push(' ');
            }
            for (span, label, primary) in &places {
                let (begin, finish) = (span.start as usize, span.end as usize);
                if begin < start || begin > end {
                    continue;
                }
                let begin = begin.clamp(from, to) - from + prefix;
                let finish = finish.clamp(from, to) - from + prefix;
                let label = (!label.is_empty()).then(|| (*label).to_owned());
                let span = SourceSpan::from((at + begin, finish.saturating_sub(begin)));
                labels.push(if *primary {
                    LabeledSpan::new_primary_with_span(label, span)
                } else {
                    LabeledSpan::new_with_span(label, span)
                });
            }
            let length = shown.len();
            lines.push(Line {
                number: report.source.place(start).0,
                cut: text[start..from].chars().count(),
                mark: prefix,
                start: at,
                text: shown,
            });
            at += length + 1;
        }
        Self { report, lines, labels, code: diagnostic.code.as_str() }
    }
}

/// The part of the line `start..end` that is shown around `focus`.
fn cut(text: &str, start: usize, end: usize, focus: usize) -> (usize, usize) {
    if end - start <= MAX_LINE_WIDTH {
        return (start, end);
    }
    let before = MAX_LINE_WIDTH / 3;
    let from = floor_boundary(text, focus.saturating_sub(before).max(start));
    let to = floor_boundary(text, (from + MAX_LINE_WIDTH).min(end));
    (from, to)
}

impl fmt::Debug for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.report.diagnostic.message)
    }
}

impl std::error::Error for Excerpt<'_> {}

impl miette::Diagnostic for Excerpt<'_> {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.code))
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.report.diagnostic.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.report.diagnostic.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display + 'a>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.report.source.has_text().then_some(self)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.report.source.has_text().then(|| Box::new(self.labels.iter().cloned()) as Box<_>)
    }
}

impl SourceCode for Excerpt<'_> {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        _context_lines_before: usize,
        _context_lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let line = self.lines.iter().rev().find(|line| line.start <= span.offset());
        // A span of several lines is asked for to merge them; each is to be shown alone.
        let line = line
            .filter(|line| span.offset() + span.len() <= line.start + line.text.len())
            .ok_or(MietteError::OutOfBounds)?;
        Ok(Box::new(miette::MietteSpanContents::new_named(
            self.report.source.name.to_owned(),
            line.text.as_bytes(),
            SourceSpan::from((line.start, line.text.len())),
            line.number - 1,
            line.column(span.offset()),
            1,
        )))
    }
}
