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
pub fn canonicalize(mut text: Vec<u8>, keep_blanks: bool) -> Vec<u8> {
    let plain = keep_blanks || memchr::memchr(b'\t', &text).is_none();
    if memchr::memchr(b'\r', &text).is_some() || !plain {
        canonicalize_bytes(&mut text, keep_blanks);
    } else if !keep_blanks {
        squeeze_blanks(&mut text);
    }
    text
}

/// The common case: only runs of blanks to shorten, in place.
fn squeeze_blanks(text: &mut Vec<u8>) {
    let finder = memchr::memmem::Finder::new(b"  ");
    let (mut read, mut write) = (0, 0);
    while let Some(skip) = finder.find(&text[read..]) {
        // One blank of the run goes along with what stands before it.
        let end = read + skip + 1;
        if read != write {
            text.copy_within(read..end, write);
        }
        write += end - read;
        let run = text[end..].iter().position(|&byte| byte != b' ').unwrap_or(text.len() - end);
        read = end + run;
    }
    if read != write {
        text.copy_within(read.., write);
    }
    let length = write + (text.len() - read);
    text.truncate(length);
}

fn canonicalize_bytes(text: &mut Vec<u8>, keep_blanks: bool) {
    let (mut read, mut write) = (0, 0);
    while let Some(&byte) = text.get(read) {
        let blank = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
        if byte == b'\r' && text.get(read + 1) == Some(&b'\n') {
            read += 1;
            continue;
        }
        if keep_blanks || !blank(Some(&byte)) {
            text[write] = byte;
        } else {
            text[write] = b' ';
            while blank(text.get(read + 1)) {
                read += 1;
            }
        }
        read += 1;
        write += 1;
    }
    text.truncate(write);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_and_line_ends_are_made_uniform() {
        let cases: &[(&str, bool, &str)] = &[
            ("", false, ""),
            ("a  b   c ", false, "a b c "),
            ("a \t b\t\tc\t", false, "a b c "),
            ("   x\n   y  \n", false, " x\n y \n"),
            ("    ", false, " "),
            ("a\r\nb\rc\r", false, "a\nb\rc\r"),
            ("a  b\t\r\n", true, "a  b\t\n"),
        ];
        for (text, keep_blanks, expected) in cases {
            let got = canonicalize(text.as_bytes().to_vec(), *keep_blanks);
            assert_eq!(String::from_utf8_lossy(&got), *expected, "of {text:?}");
        }
    }

    #[test]
    fn columns_start_anew_after_a_carriage_return_but_lines_do_not() {
        let mut sources = SourceMap::default();
        let buffer = sources.add("f", b"ab\rcd\nef".to_vec());
        let position = |offset| {
            let Position { line, column } = sources.position(Loc { buffer, offset });
            (line, column)
        };
        assert_eq!(position(4), (1, 2));
        assert_eq!(position(7), (2, 2));
        assert_eq!(position(8), (2, 3));
    }
}
