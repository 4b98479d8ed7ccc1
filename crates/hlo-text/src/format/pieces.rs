//! A text cut into what stands on lines of its own.

use super::Starts;
use super::instruction::collapse;
use super::scan::{Kind, group_length, next};
use crate::ir::InstructionId;

/// Something with a line of its own, or at the end of one.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'t> {
    /// One or more blank lines.
    Blank,
    /// A comment; `is_flush`: it begins in the first column.
    Comment { text: &'t str, is_flush: bool },
    /// A comment behind something else on the same line.
    Trailing(&'t str),
    /// The `HloModule` line.
    Header(String),
    /// A line of the tables between header and computations.
    Table(&'t str),
    /// A computation up to its `{`.
    Open(String),
    /// From a computation's `}` on.
    Close(String),
    /// An instruction as it is written.
    Instruction { code: &'t str, id: Option<InstructionId> },
}

pub(super) struct Pieces<'t> {
    pub(super) list: Vec<Piece<'t>>,
}

/// Headings of the tables of stack frames.
const TABLES: &[&str] = &["FileNames", "FunctionNames", "FileLocations", "StackFrames"];

/// Cuts a text that has been parsed. `None` if it is written in a way that is not understood here.
pub(super) fn cut<'t>(text: &'t str, starts: &Starts) -> Option<Pieces<'t>> {
    let mut cutter = Cutter { text, at: 0, starts, list: Vec::new(), in_body: false };
    cutter.run()?;
    Some(Pieces { list: cutter.list })
}

struct Cutter<'t, 's> {
    text: &'t str,
    at: usize,
    starts: &'s Starts,
    list: Vec<Piece<'t>>,
    in_body: bool,
}

impl<'t> Cutter<'t, '_> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn run(&mut self) -> Option<()> {
        loop {
            self.trivia();
            let rest = self.rest();
            if rest.is_empty() {
                return (!self.in_body).then_some(());
            }
            if self.in_body {
                match rest.starts_with('}') {
                    true => self.close()?,
                    false => self.instruction()?,
                }
            } else if rest.starts_with("HloModule") {
                self.header()?;
            } else if TABLES.iter().any(|table| rest.starts_with(table)) {
                self.table();
            } else if self.instruction_here().is_some() {
                self.instruction()?;
            } else {
                self.open()?;
            }
        }
    }

    /// Takes blanks and comments before the next thing.
    fn trivia(&mut self) {
        let mut newlines = 0;
        let begins = self.at == 0;
        while let Some((kind, length)) = next(self.rest()) {
            let item = &self.rest()[..length];
            match kind {
                Kind::Blanks => {
                    newlines += memchr::memchr_iter(b'\n', item.as_bytes()).count();
                    if newlines > 1 {
                        newlines = 1;
                        self.list.push(Piece::Blank);
                    }
                }
                Kind::LineComment | Kind::BlockComment => {
                    let is_first = begins && self.list.is_empty();
                    if newlines == 0 && !is_first && !self.list.is_empty() {
                        self.list.push(Piece::Trailing(item));
                    } else {
                        let before = self.text[..self.at].bytes().next_back();
                        let is_flush = before.is_none_or(|byte| byte == b'\n');
                        self.list.push(Piece::Comment { text: item, is_flush });
                    }
                    newlines = 0;
                }
                Kind::Other('\u{feff}') if self.at == 0 => {}
                _ => return,
            }
            self.at += length;
        }
    }

    /// Takes what is up to `end` and no blanks or comments at its end.
    fn take_code(&mut self, end: usize) -> &'t str {
        let start = self.at;
        let mut code_end = start;
        let mut at = start;
        while at < end
            && let Some((kind, length)) = next(&self.text[at..end])
        {
            at += length;
            if !matches!(kind, Kind::Blanks | Kind::LineComment | Kind::BlockComment) {
                code_end = at;
            }
        }
        self.at = code_end;
        &self.text[start..code_end]
    }

    /// From `HloModule` on as long as there are commas.
    fn header(&mut self) -> Option<()> {
        let end = self.list_end(self.at + "HloModule".len(), true)?;
        let code = self.take_code(end);
        self.list.push(Piece::Header(collapse(code)));
        Some(())
    }

    /// The place after a name and the attributes that follow it after commas, from `at`. A value is what has no blank in
    /// it outside brackets.
    fn list_end(&self, mut at: usize, starts_with_name: bool) -> Option<usize> {
        let mut end = at;
        // Whether a word may follow: a name, or an attribute after a comma.
        let mut wants_word = starts_with_name;
        while let Some((kind, length)) = next(&self.text[at..]) {
            match kind {
                Kind::Blanks | Kind::LineComment | Kind::BlockComment => {}
                Kind::Other(',') => {
                    wants_word = true;
                    end = at + length;
                }
                _ if wants_word => {
                    end = self.word_end(at)?;
                    wants_word = false;
                    at = end;
                    continue;
                }
                _ => break,
            }
            at += length;
        }
        Some(end)
    }

    /// The end of what has no blanks and commas outside brackets; blanks may follow `=`.
    fn word_end(&self, mut at: usize) -> Option<usize> {
        let mut after_equal = false;
        while let Some((kind, length)) = next(&self.text[at..]) {
            match kind {
                Kind::Blanks if after_equal => {}
                Kind::Blanks | Kind::LineComment | Kind::BlockComment | Kind::Other(',') => break,
                Kind::Other('{' | '(' | '[') => {
                    at += group_length(&self.text[at..])?;
                    after_equal = false;
                    continue;
                }
                kind => after_equal = kind == Kind::Other('='),
            }
            at += length;
        }
        Some(at)
    }

    fn table(&mut self) {
        let rest = self.rest();
        // To the blank line after it.
        let length = rest.find("\n\n").unwrap_or(rest.len());
        for line in rest[..length].lines() {
            self.list.push(Piece::Table(line));
        }
        self.at += length;
    }

    fn open(&mut self) -> Option<()> {
        let start = self.at;
        let mut at = start;
        loop {
            let (kind, length) = next(&self.text[at..])?;
            match kind {
                Kind::Other('(' | '[') => at += group_length(&self.text[at..])?,
                Kind::Other('{') if self.is_layout(at) => at += group_length(&self.text[at..])?,
                Kind::Other('{') => break,
                Kind::Other('}' | ')' | ']' | '=') | Kind::LineComment => return None,
                _ => at += length,
            }
        }
        let heading = collapse(self.text[start..at].trim_end());
        let blank = if heading.is_empty() { "" } else { " " };
        self.list.push(Piece::Open(format!("{heading}{blank}{{")));
        self.at = at + 1;
        self.in_body = true;
        Some(())
    }

    /// Whether the brace at `at` belongs to the shape before it: layouts hold numbers, bodies instructions.
    fn is_layout(&self, at: usize) -> bool {
        let follows_shape = self.text[..at].ends_with(']');
        let inner = self.text[at + 1..].trim_start();
        follows_shape && inner.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '}' | ':'))
    }

    fn close(&mut self) -> Option<()> {
        let start = self.at;
        let end = self.list_end(start + 1, false)?;
        self.at = start;
        let code = self.take_code(end);
        self.list.push(Piece::Close(collapse(code)));
        self.in_body = false;
        Some(())
    }

    /// The instruction that begins here, perhaps with `ROOT`.
    fn instruction_here(&self) -> Option<InstructionId> {
        self.instruction_at(self.at)
    }

    fn instruction_at(&self, at: usize) -> Option<InstructionId> {
        if let Some(id) = self.starts.at(at) {
            return Some(id);
        }
        let tail = self.text[at..].strip_prefix("ROOT")?;
        let mut place = self.text.len() - tail.len();
        while let Some((Kind::Blanks | Kind::LineComment | Kind::BlockComment, length)) =
            next(&self.text[place..])
        {
            place += length;
        }
        self.starts.at(place)
    }

    /// Takes an instruction: up to the next one, or to the brace that closes its computation.
    fn instruction(&mut self) -> Option<()> {
        let id = self.instruction_here();
        if id.is_none() && self.in_body {
            return None;
        }
        let mut at = self.at;
        // Past its own name.
        let mut is_own = true;
        let mut end = self.text.len();
        let mut at_word_start = true;
        while let Some((kind, length)) = next(&self.text[at..]) {
            match kind {
                Kind::Other('{' | '(' | '[') => {
                    at += group_length(&self.text[at..])?;
                    at_word_start = false;
                    continue;
                }
                Kind::Other('}') => {
                    end = at;
                    break;
                }
                Kind::Other('=') => is_own = false,
                Kind::Other(_) if at_word_start && !is_own && self.instruction_at(at).is_some() => {
                    end = at;
                    break;
                }
                _ => {}
            }
            at_word_start = matches!(kind, Kind::Blanks | Kind::LineComment | Kind::BlockComment)
                || matches!(kind, Kind::Other(')' | ']'));
            at += length;
        }
        let code = self.take_code(end);
        self.list.push(Piece::Instruction { code, id });
        Some(())
    }
}
