//! The texts a run works on, and places in them.

use std::cell::OnceCell;

/// Which text of a [`SourceMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BufferId(u32);

/// One byte place in one text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Loc {
    /// The text.
    pub buffer: BufferId,
    /// Byte offset; may equal the length of the text.
    pub offset: usize,
}

/// A range of bytes in one text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// The text.
    pub buffer: BufferId,
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// Where the span starts.
    #[must_use]
    pub fn loc(self) -> Loc {
        Loc { buffer: self.buffer, offset: self.start }
    }
}

/// A place as people count it: line from 1, column in bytes from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, counted by `\n`.
    pub line: usize,
    /// Column, counted from the last `\n` or `\r` (as LLVM does).
    pub column: usize,
}

struct Buffer {
    name: String,
    text: Vec<u8>,
    newlines: OnceCell<Vec<usize>>,
}

/// The texts of a run, with their names.
#[derive(Default)]
pub struct SourceMap {
    buffers: Vec<Buffer>,
}

impl SourceMap {
    /// Adds a text under the name diagnostics show.
    pub fn add(&mut self, name: &str, text: Vec<u8>) -> BufferId {
        let id = BufferId(self.buffers.len() as u32);
        self.buffers.push(Buffer { name: name.to_owned(), text, newlines: OnceCell::new() });
        id
    }

    fn buffer(&self, id: BufferId) -> &Buffer {
        &self.buffers[id.0 as usize]
    }

    /// The whole text.
    #[must_use]
    pub fn text(&self, id: BufferId) -> &[u8] {
        &self.buffer(id).text
    }

    /// Its name.
    #[must_use]
    pub fn name(&self, id: BufferId) -> &str {
        &self.buffer(id).name
    }

    /// The bytes of a span.
    #[must_use]
    pub fn slice(&self, span: Span) -> &[u8] {
        self.text(span.buffer).get(span.start..span.end).unwrap_or_default()
    }

    /// Line and column of a place.
    #[must_use]
    pub fn position(&self, loc: Loc) -> Position {
        let buffer = self.buffer(loc.buffer);
        let newlines = buffer.newlines.get_or_init(|| memchr::memchr_iter(b'\n', &buffer.text).collect());
        let line = newlines.partition_point(|&newline| newline < loc.offset);
        Position { line: line + 1, column: loc.offset - self.line_start(loc) + 1 }
    }

    fn line_start(&self, loc: Loc) -> usize {
        memchr::memrchr2(b'\n', b'\r', &self.text(loc.buffer)[..loc.offset]).map_or(0, |i| i + 1)
    }

    /// The line a place is in, without its end; `\r` ends lines too.
    #[must_use]
    pub fn line_span(&self, loc: Loc) -> Span {
        let text = self.text(loc.buffer);
        let end = memchr::memchr2(b'\n', b'\r', &text[loc.offset..]).map_or(text.len(), |i| loc.offset + i);
        Span { buffer: loc.buffer, start: self.line_start(loc), end }
    }
}

/// Brings a file into the form everything is matched in: `\r\n` becomes `\n`, and each run of blanks
/// and tabs one blank unless `keep_blanks`.
#[must_use]
pub fn canonicalize(text: Vec<u8>, keep_blanks: bool) -> Vec<u8> {
    let returns = memchr::memmem::find(&text, b"\r\n");
    let blanks = if keep_blanks {
        None
    } else {
        let tab = memchr::memchr(b'\t', &text);
        memchr::memmem::find(&text, b"  ").map_or(tab, |at| Some(tab.map_or(at, |tab| tab.min(at))))
    };
    let Some(first) = returns.map_or(blanks, |at| Some(blanks.map_or(at, |blank| blank.min(at)))) else {
        return text;
    };
    // A tab may follow a blank: start with the whole run.
    let first = if !keep_blanks && first > 0 && text[first - 1] == b' ' { first - 1 } else { first };
    let mut out = Vec::with_capacity(text.len());
    out.extend_from_slice(&text[..first]);
    let mut rest = &text[first..];
    while let Some(&byte) = rest.first() {
        let skip = match byte {
            b'\r' if rest.get(1) == Some(&b'\n') => 1,
            b' ' | b'\t' if !keep_blanks => {
                out.push(b' ');
                rest.iter().position(|byte| !matches!(byte, b' ' | b'\t')).unwrap_or(rest.len())
            }
            _ => {
                out.push(byte);
                1
            }
        };
        rest = &rest[skip..];
        // Copy up to the next byte that may need work in one go.
        let plain =
            if keep_blanks { memchr::memchr(b'\r', rest) } else { memchr::memchr3(b' ', b'\t', b'\r', rest) };
        let plain = plain.unwrap_or(rest.len());
        out.extend_from_slice(&rest[..plain]);
        rest = &rest[plain..];
    }
    out
}
