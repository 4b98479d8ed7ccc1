//! Failures in our own rendering: the directive, the line that comes closest, the first difference, and
//! the variables.

use std::fmt;

use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents,
    SourceCode, SourceSpan, SpanContents,
};

use crate::filecheck::diagnostic::{self, Code, Event, Failure, Report, Severity};
use crate::filecheck::source::{Loc, SourceMap, Span};

/// Lines longer than this are cut in the aligned view.
const LONGEST_LINE: usize = 200;
/// Values longer than this are cut.
const LONGEST_VALUE: usize = 120;
/// Lines kept around the one shown.
const CONTEXT: usize = 2;

/// A few lines of a file that know their numbers.
struct Excerpt {
    name: String,
    text: String,
    first_line: usize,
}

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let inner = self.text.read_span(span, before, after)?;
        Ok(Box::new(MietteSpanContents::new_named(
            self.name.clone(),
            inner.data(),
            *inner.span(),
            inner.line() + self.first_line,
            inner.column(),
            inner.line_count(),
        )))
    }
}

/// One rendered message.
struct Message {
    title: String,
    code: &'static str,
    source: Excerpt,
    labels: Vec<LabeledSpan>,
    help: Option<String>,
    related: Vec<Message>,
    severity: miette::Severity,
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.title)
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.title)
    }
}

impl std::error::Error for Message {}

impl Diagnostic for Message {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        (!self.code.is_empty()).then(|| Box::new(self.code) as Box<dyn fmt::Display>)
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(self.severity)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        if self.related.is_empty() {
            return None;
        }
        Some(Box::new(self.related.iter().map(|message| message as &dyn Diagnostic)))
    }
}

/// Text for the terminal: whatever is not UTF-8 or would move the cursor is replaced.
fn shown(bytes: &[u8]) -> String {
    let clean = |c: char| if c.is_control() && c != '\n' && c != '\t' { '\u{fffd}' } else { c };
    String::from_utf8_lossy(bytes).chars().map(clean).collect()
}

/// The lines around `loc`, and a function from places to offsets in them.
fn excerpt(sources: &SourceMap, loc: Loc) -> (Excerpt, usize) {
    let text = sources.text(loc.buffer);
    let mut start = sources.line_span(loc).start;
    let mut end = loc.offset;
    for _ in 0..CONTEXT {
        if start > 0 {
            start = memchr::memrchr(b'\n', &text[..start - 1]).map_or(0, |at| at + 1);
        }
    }
    for _ in 0..=CONTEXT {
        end = memchr::memchr(b'\n', &text[end..]).map_or(text.len(), |at| end + at + 1);
    }
    let first_line = sources.position(Loc { offset: start, ..loc }).line - 1;
    let name = sources.name(loc.buffer).to_owned();
    (Excerpt { name, text: shown(&text[start..end]), first_line }, start)
}

/// A label for a span, in the offsets of an excerpt that starts at `base`.
fn label(sources: &SourceMap, base: usize, span: Span, text: impl Into<String>) -> LabeledSpan {
    let line_end = sources.line_span(span.loc()).end;
    let head = Span { start: base.min(span.start), end: span.start, ..span };
    let body = Span { end: span.end.min(line_end).max(span.start), ..span };
    let start = shown(sources.slice(head)).len();
    let length = shown(sources.slice(body)).len();
    LabeledSpan::new_with_span(Some(text.into()), SourceSpan::new(start.into(), length))
}

/// The span without the rest of the lines after its first, and not empty where the line goes on.
fn point(sources: &SourceMap, loc: Loc) -> Span {
    let line = sources.line_span(loc);
    Span { start: loc.offset, end: (loc.offset + 1).min(line.end.max(loc.offset)), buffer: loc.buffer }
}

/// Renders all failures, or what makes the check file unusable.
#[must_use]
pub fn render(report: &Report, sources: &SourceMap, colors: bool, rerun: &str) -> String {
    let mut out = String::new();
    let failures = report.failures.as_deref().unwrap_or_default();
    if failures.is_empty() {
        for event in &report.events {
            match event {
                Event::Diagnostic(diagnostic) if diagnostic.severity == Severity::Error => {
                    put(&mut out, &malformed(diagnostic, sources), colors);
                }
                Event::Diagnostic(_) => {}
                Event::Text(text) => out.push_str(&shown(text)),
            }
        }
    }
    for failure in failures {
        put(&mut out, &message(failure, sources), colors);
    }
    if !out.is_empty() && !rerun.is_empty() {
        out.push_str(&format!("run again: {rerun}\n"));
    }
    out
}

fn put(out: &mut String, message: &Message, colors: bool) {
    let theme = if colors { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let handler =
        GraphicalReportHandler::new_themed(theme).with_width(LONGEST_LINE).with_context_lines(CONTEXT);
    // Writing to a String fails only if a span lies outside its excerpt; then plain words must do.
    if handler.render_report(out, message).is_err() {
        out.push_str(&message.title);
        out.push('\n');
    }
}

fn malformed(diagnostic: &diagnostic::Diagnostic, sources: &SourceMap) -> Message {
    let (source, base) = excerpt(sources, diagnostic.loc);
    Message {
        title: shown(&diagnostic.message),
        code: "filecheck::malformed",
        labels: vec![label(sources, base, point(sources, diagnostic.loc), "here")],
        source,
        help: None,
        related: Vec::new(),
        severity: miette::Severity::Error,
    }
}

fn message(failure: &Failure, sources: &SourceMap) -> Message {
    let directive = &failure.directive;
    let (title, code, note) = match failure.code {
        Code::Excluded => {
            (format!("{directive}: excluded text found"), "filecheck::excluded", "must not match")
        }
        Code::WrongLine => {
            (format!("{directive}: match on the wrong line"), "filecheck::wrong-line", "matches elsewhere")
        }
        Code::Substitution => {
            (format!("{directive}: a value is missing"), "filecheck::substitution", "cannot be tried")
        }
        Code::StepLimit => {
            (format!("{directive}: matching gave up"), "filecheck::step-limit", "takes too many steps")
        }
        _ => (format!("{directive}: no match"), "filecheck::not-found", "nothing matches this"),
    };
    let title = if failure.round > 1 { format!("{title} number {}", failure.round) } else { title };
    let (source, base) = excerpt(sources, failure.pattern.loc());
    let mut labels = Vec::new();
    match failure.progress {
        Some(progress) if progress.pattern.end < failure.pattern.end => {
            let line = sources.position(progress.input.loc()).line;
            labels.push(label(sources, base, progress.pattern, format!("found on line {line} of the input")));
            let rest = Span { start: progress.pattern.end, ..failure.pattern };
            labels.push(label(sources, base, rest, "but not followed by this"));
        }
        _ => labels.push(label(sources, base, failure.pattern, note)),
    }
    for fault in &failure.faults {
        if fault.loc.buffer == failure.pattern.buffer {
            labels.push(label(sources, base, point(sources, fault.loc), shown(&fault.message)));
        }
    }
    Message {
        title,
        code,
        source,
        labels,
        help: help(failure, sources),
        related: vec![in_input(failure, sources)],
        severity: miette::Severity::Error,
    }
}

/// The part of the message about the input.
fn in_input(failure: &Failure, sources: &SourceMap) -> Message {
    let (loc, title) = match (failure.found, closest(failure)) {
        (Some(found), _) => (found.loc(), "the match is here"),
        (None, Some(loc)) => (loc, "the closest place"),
        (None, None) => (failure.region.loc(), "the search begins here"),
    };
    let (source, base) = excerpt(sources, loc);
    let mut labels = Vec::new();
    if let Some(found) = failure.found {
        labels.push(label(sources, base, found, "matched"));
        if failure.code == Code::WrongLine && failure.region.start >= base {
            labels.push(label(sources, base, point(sources, failure.region.loc()), "previous match ends"));
        }
    } else if let Some(progress) = failure.progress {
        labels.push(label(sources, base, progress.input, "this much matches"));
        let end = Loc { offset: progress.input.end, ..progress.input.loc() };
        labels.push(label(sources, base, point(sources, end), "first difference"));
    } else {
        labels.push(label(sources, base, point(sources, loc), title));
    }
    Message {
        title: title.to_owned(),
        code: "",
        source,
        labels,
        help: None,
        related: Vec::new(),
        severity: miette::Severity::Advice,
    }
}

/// The place in the input that comes closest to the pattern.
fn closest(failure: &Failure) -> Option<Loc> {
    failure.progress.map(|progress| progress.input.loc()).or(failure.similar)
}

/// The aligned lines and the variables.
fn help(failure: &Failure, sources: &SourceMap) -> Option<String> {
    let mut lines = Vec::new();
    if failure.found.is_none()
        && failure.faults.is_empty()
        && let Some(loc) = closest(failure)
    {
        let line = Span { start: loc.offset, ..sources.line_span(loc) };
        // Where the part that matches ends, in either line; nothing may match and the line be alike all the same.
        let (pattern_end, input_end) = match failure.progress {
            Some(progress) => (Some(progress.pattern.end), Some(progress.input.end)),
            None => (None, None),
        };
        for (name, span, end) in [("pattern: ", failure.pattern, pattern_end), ("input:   ", line, input_end)]
        {
            lines.push(format!("{name}{}", cut(&shown(sources.slice(span)), LONGEST_LINE)));
            let Some(end) = end else { continue };
            let head =
                shown(sources.slice(Span { end: end.clamp(span.start, span.end.max(span.start)), ..span }));
            let column = head.chars().count();
            if column <= LONGEST_LINE {
                lines.push(format!("         {}^ same up to here", " ".repeat(column)));
            }
        }
    }
    if !failure.variables.is_empty() {
        lines.push("variables:".to_owned());
        for (name, value) in &failure.variables {
            lines.push(format!("  {} = {:?}", shown(name), cut(&shown(value), LONGEST_VALUE)));
        }
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn cut(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    text.chars().take(longest).chain(['…']).collect()
}

/// Renders lints of a check file, each by itself.
#[must_use]
pub fn render_lints(
    lints: &[crate::filecheck::lint::Lint],
    name: &str,
    text: &[u8],
    colors: bool,
) -> Vec<String> {
    if lints.is_empty() {
        return Vec::new();
    }
    let mut sources = SourceMap::default();
    let buffer = sources.add(name, text.to_vec());
    let render = |lint: &crate::filecheck::lint::Lint| {
        let mut out = String::new();
        let span = Span { buffer, start: lint.span.start, end: lint.span.end };
        let (source, base) = excerpt(&sources, span.loc());
        let message = Message {
            title: lint.message.clone(),
            code: lint.code.name(),
            source,
            labels: vec![label(&sources, base, span, "here")],
            help: Some(lint.help.clone()),
            related: Vec::new(),
            severity: miette::Severity::Warning,
        };
        put(&mut out, &message, colors);
        out
    };
    lints.iter().map(render).collect()
}
