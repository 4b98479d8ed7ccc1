//! Pieces of a text that know where they stand.

use super::source::{BufferId, Loc, SourceMap, Span};

/// A part of a text of the [`SourceMap`], for parsing.
#[derive(Clone, Copy)]
pub(super) struct Piece<'a> {
    text: &'a [u8],
    buffer: BufferId,
    start: usize,
}

impl<'a> Piece<'a> {
    pub(super) fn new(sources: &'a SourceMap, span: Span) -> Self {
        Self { text: sources.slice(span), buffer: span.buffer, start: span.start }
    }

    pub(super) fn bytes(self) -> &'a [u8] {
        self.text
    }

    pub(super) fn is_empty(self) -> bool {
        self.text.is_empty()
    }

    pub(super) fn first(self) -> Option<u8> {
        self.text.first().copied()
    }

    pub(super) fn loc(self) -> Loc {
        Loc { buffer: self.buffer, offset: self.start }
    }

    pub(super) fn span(self) -> Span {
        Span { buffer: self.buffer, start: self.start, end: self.start + self.text.len() }
    }

    /// Without the first `count` bytes (or all there are).
    pub(super) fn drop_front(self, count: usize) -> Self {
        let count = count.min(self.text.len());
        Self { text: &self.text[count..], buffer: self.buffer, start: self.start + count }
    }

    /// The first `count` bytes (or all there are).
    pub(super) fn take_front(self, count: usize) -> Self {
        Self { text: &self.text[..count.min(self.text.len())], ..self }
    }

    pub(super) fn find(self, byte: u8) -> Option<usize> {
        memchr::memchr(byte, self.text)
    }

    pub(super) fn find_bytes(self, bytes: &[u8]) -> Option<usize> {
        memchr::memmem::find(self.text, bytes)
    }

    /// Drops `prefix` from the front, if it is there.
    pub(super) fn eat(&mut self, prefix: &[u8]) -> bool {
        let found = self.text.starts_with(prefix);
        if found {
            *self = self.drop_front(prefix.len());
        }
        found
    }

    pub(super) fn skip_blanks(self) -> Self {
        let blanks = self.text.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        self.drop_front(blanks)
    }

    pub(super) fn trim_end_blanks(self) -> Self {
        let blanks = self.text.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        self.take_front(self.text.len() - blanks)
    }
}

/// Counts line ends (`\r\n` and `\n\r` count once) and says where the second line starts.
pub(super) fn count_newlines(text: &[u8]) -> (usize, usize) {
    let mut count = 0;
    let mut second_line = 0;
    let mut at = 0;
    while let Some(skip) = memchr::memchr2(b'\n', b'\r', &text[at..]) {
        at += skip;
        count += 1;
        let pair = text.get(at + 1).is_some_and(|&next| matches!(next, b'\n' | b'\r') && next != text[at]);
        at += if pair { 2 } else { 1 };
        if count == 1 {
            second_line = at;
        }
    }
    (count, second_line)
}

/// Escapes like LLVM's `write_escaped`: backslash, tab, newline, quote; octal for what is not printable.
pub(super) fn write_escaped(out: &mut Vec<u8>, text: &[u8]) {
    for &byte in text {
        match byte {
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'"' => out.extend_from_slice(b"\\\""),
            b' '..=b'~' => out.push(byte),
            _ => out.extend_from_slice(&[
                b'\\',
                b'0' + (byte >> 6),
                b'0' + ((byte >> 3) & 7),
                b'0' + (byte & 7),
            ]),
        }
    }
}
