//! Messages as LLVM prints them.

use super::{Color, Painter};
use crate::filecheck::diagnostic::{Diagnostic, Event, Severity};
use crate::filecheck::source::SourceMap;

/// Tab stops of the terminal.
const TAB: usize = 8;

/// Renders messages in order.
#[must_use]
pub fn render(events: &[Event], sources: &SourceMap, colors: bool) -> Vec<u8> {
    let mut painter = Painter::new(colors);
    for event in events {
        match event {
            Event::Diagnostic(diagnostic) => render_one(diagnostic, sources, &mut painter),
            Event::Text(text) => painter.put(text),
        }
    }
    painter.out
}

fn render_one(diagnostic: &Diagnostic, sources: &SourceMap, painter: &mut Painter) {
    let loc = diagnostic.loc;
    let position = sources.position(loc);
    painter.bold();
    let place = format!("{}:{}:{}: ", sources.name(loc.buffer), position.line, position.column);
    painter.put(place.as_bytes());
    painter.reset();
    let (color, label) = match diagnostic.severity {
        Severity::Error => (Color::Red, "error: "),
        Severity::Note => (Color::Black, "note: "),
        Severity::Remark => (Color::Blue, "remark: "),
    };
    painter.color(color);
    painter.put(label.as_bytes());
    painter.reset();
    painter.bold();
    painter.put(&diagnostic.message);
    painter.put(b"\n");
    painter.reset();

    let line_span = sources.line_span(loc);
    let line = sources.slice(line_span);
    put_with_tabs(line, line, painter);
    painter.put(b"\n");
    if !line.is_ascii() {
        // Columns would be wrong.
        return;
    }
    let mut marks = vec![b' '; line.len() + 1];
    if let Some(range) = diagnostic.range
        && range.start <= line_span.end
        && range.end >= line_span.start
    {
        let start = range.start.max(line_span.start) - line_span.start;
        let end = range.end.min(line_span.end) - line_span.start;
        if start < end {
            marks[start..end].fill(b'~');
        }
    }
    marks[(position.column - 1).min(line.len())] = b'^';
    let length = marks.iter().rposition(|&mark| mark != b' ').map_or(0, |last| last + 1);
    painter.color(Color::Green);
    put_with_tabs(&marks[..length], line, painter);
    painter.put(b"\n");
    painter.reset();
}

/// Writes `text`, repeating a byte up to the next tab stop where `line` has a tab.
fn put_with_tabs(text: &[u8], line: &[u8], painter: &mut Painter) {
    let mut column = 0;
    for (index, &byte) in text.iter().enumerate() {
        if line.get(index) != Some(&b'\t') {
            painter.out.push(byte);
            column += 1;
            continue;
        }
        let fill = if byte == b'\t' { b' ' } else { byte };
        loop {
            painter.out.push(fill);
            column += 1;
            if column % TAB == 0 {
                break;
            }
        }
    }
}
