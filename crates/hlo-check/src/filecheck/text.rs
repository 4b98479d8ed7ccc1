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
