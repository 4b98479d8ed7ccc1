//! POSIX ERE text to [`Program`], with LLVM's dialect and error messages.

use super::classes::{COLLATING_NAMES, class_member};
use super::program::{ByteSet, Op, Program};

/// Largest count in `{m,n}` (POSIX RE_DUP_MAX).
pub const MAX_REPETITION: u32 = 255;
/// Deepest nesting of groups; LLVM has no bound and overflows its stack instead.
pub const MAX_GROUP_DEPTH: u32 = 500;
/// Largest compiled expression, in operators; nested repetition multiplies.
pub const MAX_PROGRAM_OPS: usize = 1 << 20;

/// How many of the latest sets a new one is compared with, so as to share storage.
const SHARED_SETS: usize = 16;

/// Why an expression does not compile. `Display` gives LLVM's wording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegexError {
    /// Unknown `[.name.]` or `[=x=]`.
    CollatingElement,
    /// Unknown `[:name:]`.
    CharacterClass,
    /// Nothing after a backslash.
    TrailingBackslash,
    /// `\n` before group n is closed.
    BackReference,
    /// `[` without `]`.
    Brackets,
    /// `(` without `)`, or the reverse.
    Parentheses,
    /// `{m,n` without `}`.
    Braces,
    /// Count over 255, or m above n.
    RepetitionCount,
    /// `[z-a]`.
    Range,
    /// The compiled form exceeds [`MAX_PROGRAM_OPS`] or [`MAX_GROUP_DEPTH`].
    TooLarge,
    /// A repetition with nothing, an anchor or another repetition before it.
    RepetitionOperand,
    /// An empty branch or expression.
    Empty,
}

impl std::fmt::Display for RegexError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::CollatingElement => "invalid collating element",
            Self::CharacterClass => "invalid character class",
            Self::TrailingBackslash => "trailing backslash (\\)",
            Self::BackReference => "invalid backreference number",
            Self::Brackets => "brackets ([ ]) not balanced",
            Self::Parentheses => "parentheses not balanced",
            Self::Braces => "braces not balanced",
            Self::RepetitionCount => "invalid repetition count(s)",
            Self::Range => "invalid character range",
            Self::TooLarge => "out of memory",
            Self::RepetitionOperand => "repetition-operator operand invalid",
            Self::Empty => "empty (sub)expression",
        })
    }
}

/// Number of groups of an expression.
///
/// # Errors
/// The first fault of the expression.
pub fn group_count(text: &[u8]) -> Result<u32, RegexError> {
    parse(text, false).map(|program| program.groups)
}

/// Compiles `text`.
pub(super) fn parse(text: &[u8], ignore_case: bool) -> Result<Program, RegexError> {
    let mut parser = Parser {
        text,
        at: 0,
        ignore_case,
        program: Program { ops: Vec::with_capacity(text.len()), ..Program::default() },
        spans: [None; 10],
        depth: 0,
    };
    parser.alternatives(None)?;
    Ok(parser.program)
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    ignore_case: bool,
    program: Program,
    /// Operators of the closed groups 1 to 9: (place of its open, place of its close).
    spans: [Option<(usize, usize)>; 10],
    depth: u32,
}

fn distance(from: usize, to: usize) -> u32 {
    // Programs are bounded by MAX_PROGRAM_OPS, far below u32::MAX.
    (to - from) as u32
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn peek_second(&self) -> Option<u8> {
        self.text.get(self.at + 1).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn starts_with(&self, text: &[u8]) -> bool {
        self.text[self.at..].starts_with(text)
    }

    fn eat_all(&mut self, text: &[u8]) -> bool {
        let found = self.starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    fn here(&self) -> usize {
        self.program.ops.len()
    }

    fn emit(&mut self, op: Op) -> Result<(), RegexError> {
        if self.here() >= MAX_PROGRAM_OPS {
            return Err(RegexError::TooLarge);
        }
        self.program.ops.push(op);
        Ok(())
    }

    /// Puts `op` before the operators from `at` on; jumps inside them are relative and stay right.
    fn insert(&mut self, at: usize, op: Op) -> Result<(), RegexError> {
        if self.here() >= MAX_PROGRAM_OPS {
            return Err(RegexError::TooLarge);
        }
        self.program.ops.insert(at, op);
        for (open, close) in self.spans.iter_mut().flatten() {
            *open += usize::from(*open >= at);
            *close += usize::from(*close >= at);
        }
        Ok(())
    }

    fn duplicate(&mut self, from: usize, to: usize) -> Result<usize, RegexError> {
        let copy = self.here();
        if copy + to.saturating_sub(from) > MAX_PROGRAM_OPS {
            return Err(RegexError::TooLarge);
        }
        self.program.ops.extend_from_within(from..to);
        Ok(copy)
    }

    /// `branch ('|' branch)*` up to `stop` or the end.
    fn alternatives(&mut self, stop: Option<u8>) -> Result<(), RegexError> {
        let start = self.here();
        // Places of the AltOpen and of each Or2, whose distances are filled in as they become known.
        let mut last_jump: Option<usize> = None;
        loop {
            let branch = self.here();
            while let Some(byte) = self.peek() {
                if byte == b'|' || Some(byte) == stop {
                    break;
                }
                self.piece()?;
            }
            if self.here() == branch {
                return Err(RegexError::Empty);
            }
            if !self.eat(b'|') {
                break;
            }
            let jump = match last_jump {
                Some(jump) => jump,
                None => {
                    self.insert(start, Op::AltOpen(0))?;
                    start
                }
            };
            self.emit(Op::Or1)?;
            let here = self.here();
            self.set_jump(jump, here);
            self.emit(Op::Or2(0))?;
            last_jump = Some(here);
        }
        if let Some(jump) = last_jump {
            let here = self.here();
            self.set_jump(jump, here);
            self.emit(Op::AltClose)?;
        }
        Ok(())
    }

    fn set_jump(&mut self, at: usize, target: usize) {
        let skip = distance(at, target);
        match &mut self.program.ops[at] {
            Op::AltOpen(jump) | Op::Or2(jump) => *jump = skip,
            _ => {}
        }
    }

    /// Whether a repetition operator stands here; `{` counts only before a digit.
    fn at_repetition(&self) -> bool {
        match self.peek() {
            Some(b'*' | b'+' | b'?') => true,
            Some(b'{') => self.peek_second().is_some_and(|byte| byte.is_ascii_digit()),
            _ => false,
        }
    }

    /// An atom with its repetition.
    fn piece(&mut self) -> Result<(), RegexError> {
        let start = self.here();
        let was_caret = self.atom()?;
        if !self.at_repetition() {
            return Ok(());
        }
        let operator = self.text[self.at];
        self.at += 1;
        if was_caret {
            return Err(RegexError::RepetitionOperand);
        }
        match operator {
            b'*' => {
                self.plus(start)?;
                let skip = distance(start, self.here()) + 1;
                self.insert(start, Op::QuestOpen(skip))?;
                self.emit(Op::QuestClose)?;
            }
            b'+' => self.plus(start)?,
            b'?' => self.optional(start)?,
            _ => {
                let from = self.count()?;
                let to = if !self.eat(b',') {
                    Some(from)
                } else if self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
                    let to = self.count()?;
                    if from > to {
                        return Err(RegexError::RepetitionCount);
                    }
                    Some(to)
                } else {
                    None
                };
                self.repeat(start, from, to)?;
                if !self.eat(b'}') {
                    let closed = self.text[self.at..].contains(&b'}');
                    return Err(if closed { RegexError::RepetitionCount } else { RegexError::Braces });
                }
            }
        }
        if self.at_repetition() {
            return Err(RegexError::RepetitionOperand);
        }
        Ok(())
    }

    fn plus(&mut self, start: usize) -> Result<(), RegexError> {
        let skip = distance(start, self.here()) + 1;
        self.insert(start, Op::PlusOpen(skip))?;
        self.emit(Op::PlusClose(skip))
    }

    /// `x?`: `x` or nothing, as two alternatives.
    fn optional(&mut self, start: usize) -> Result<(), RegexError> {
        self.insert(start, Op::AltOpen(0))?;
        self.emit(Op::Or1)?;
        let or2 = self.here();
        self.set_jump(start, or2);
        self.emit(Op::Or2(1))?;
        self.emit(Op::AltClose)
    }

    /// Rewrites the operand at `start..` to occur `from` to `to` times, by copies.
    fn repeat(&mut self, start: usize, from: u32, to: Option<u32>) -> Result<(), RegexError> {
        let mut start = start;
        let (mut from, mut to) = (from, to);
        // Where an enclosing `x{0,n}` began, when its `?` must be closed at the end.
        let mut wrap = None;
        loop {
            match (from, to) {
                (0, Some(0)) => {
                    self.program.ops.truncate(start);
                    for span in &mut self.spans {
                        if span.is_some_and(|(_, close)| close >= start) {
                            *span = None;
                        }
                    }
                    break;
                }
                (0, _) => {
                    wrap = Some(start);
                    from = 1;
                }
                (1, Some(1)) => break,
                (1, Some(n)) => {
                    let finish = self.here();
                    self.optional(start)?;
                    start = self.duplicate(start + 1, finish + 1)?;
                    to = Some(n - 1);
                }
                (1, None) => {
                    self.plus(start)?;
                    break;
                }
                (n, _) => {
                    let finish = self.here();
                    start = self.duplicate(start, finish)?;
                    from = n - 1;
                    to = to.map(|to| to - 1);
                }
            }
        }
        match wrap {
            Some(start) => self.optional(start),
            None => Ok(()),
        }
    }

    fn count(&mut self) -> Result<u32, RegexError> {
        let mut count = 0;
        let mut digits = 0;
        while let Some(byte) = self.peek().filter(u8::is_ascii_digit) {
            if count > MAX_REPETITION {
                break;
            }
            count = count * 10 + u32::from(byte - b'0');
            digits += 1;
            self.at += 1;
        }
        if digits > 0 && count <= MAX_REPETITION { Ok(count) } else { Err(RegexError::RepetitionCount) }
    }

    /// One atom; says whether it was `^`.
    fn atom(&mut self) -> Result<bool, RegexError> {
        let byte = self.text[self.at];
        self.at += 1;
        match byte {
            b'(' => self.group()?,
            b')' => return Err(RegexError::Parentheses),
            b'^' => {
                self.program.line_starts += 1;
                self.emit(Op::LineStart)?;
                return Ok(true);
            }
            b'$' => {
                self.program.line_ends += 1;
                self.emit(Op::LineEnd)?;
            }
            b'|' => return Err(RegexError::Empty),
            b'*' | b'+' | b'?' => return Err(RegexError::RepetitionOperand),
            b'.' => self.set(ByteSet::any_but_newline())?,
            b'[' => self.bracket()?,
            b'\\' => {
                let Some(byte) = self.peek() else { return Err(RegexError::TrailingBackslash) };
                self.at += 1;
                if (b'1'..=b'9').contains(&byte) {
                    self.back_reference(byte - b'0')?;
                } else {
                    self.ordinary(byte)?;
                }
            }
            b'{' if self.peek().is_some_and(|byte| byte.is_ascii_digit()) => {
                return Err(RegexError::RepetitionOperand);
            }
            _ => self.ordinary(byte)?,
        }
        Ok(false)
    }

    fn group(&mut self) -> Result<(), RegexError> {
        if self.peek().is_none() {
            return Err(RegexError::Parentheses);
        }
        self.depth += 1;
        if self.depth > MAX_GROUP_DEPTH {
            return Err(RegexError::TooLarge);
        }
        self.program.groups += 1;
        let number = self.program.groups;
        let open = self.here();
        self.emit(Op::GroupOpen(number))?;
        if self.peek() != Some(b')') {
            self.alternatives(Some(b')'))?;
        }
        if let Some(span) = self.spans.get_mut(number as usize) {
            *span = Some((open, self.program.ops.len()));
        }
        self.emit(Op::GroupClose(number))?;
        self.depth -= 1;
        if self.eat(b')') { Ok(()) } else { Err(RegexError::Parentheses) }
    }

    fn back_reference(&mut self, number: u8) -> Result<(), RegexError> {
        let Some((open, close)) = self.spans[usize::from(number)] else {
            return Err(RegexError::BackReference);
        };
        self.program.has_backrefs = true;
        self.emit(Op::BackOpen(number.into()))?;
        self.duplicate(open + 1, close)?;
        self.emit(Op::BackClose(number.into()))
    }

    fn ordinary(&mut self, byte: u8) -> Result<(), RegexError> {
        if self.ignore_case && byte.is_ascii_alphabetic() {
            let mut set = ByteSet::single(byte);
            set.insert(byte ^ 0x20);
            self.set(set)
        } else {
            self.emit(Op::Char(byte))
        }
    }

    fn set(&mut self, set: ByteSet) -> Result<(), RegexError> {
        // Sharing is only an economy: look at the latest few.
        let sets = &mut self.program.sets;
        let recent = sets.len().saturating_sub(SHARED_SETS);
        let index = match sets[recent..].iter().position(|other| *other == set) {
            Some(index) => recent + index,
            None => {
                sets.push(set);
                sets.len() - 1
            }
        };
        self.emit(Op::Set(index as u32))
    }

    fn bracket(&mut self) -> Result<(), RegexError> {
        for (text, op) in [(b"[:<:]]", Op::WordStart), (b"[:>:]]", Op::WordEnd)] {
            if self.eat_all(text) {
                self.program.has_word_boundaries = true;
                return self.emit(op);
            }
        }
        let mut set = ByteSet::default();
        let inverted = self.eat(b'^');
        if self.eat(b']') {
            set.insert(b']');
        } else if self.eat(b'-') {
            set.insert(b'-');
        }
        while let Some(byte) = self.peek() {
            if byte == b']' || self.starts_with(b"-]") {
                break;
            }
            self.bracket_term(&mut set)?;
        }
        if self.eat(b'-') {
            set.insert(b'-');
        }
        if !self.eat(b']') {
            return Err(RegexError::Brackets);
        }
        if self.ignore_case {
            for byte in (0..=255u8).filter(u8::is_ascii_alphabetic) {
                if set.contains(byte) {
                    set.insert(byte ^ 0x20);
                }
            }
        }
        if inverted {
            set.invert();
            set.remove(b'\n');
        }
        match (set.len(), set.first()) {
            (1, Some(byte)) => self.ordinary(byte),
            _ => self.set(set),
        }
    }

    fn bracket_term(&mut self, set: &mut ByteSet) -> Result<(), RegexError> {
        match (self.peek(), self.peek_second()) {
            (Some(b'-'), _) => return Err(RegexError::Range),
            (Some(b'['), Some(b':')) => {
                self.at += 2;
                self.class_start(RegexError::CharacterClass)?;
                let start = self.at;
                while self.peek().is_some_and(|byte| byte.is_ascii_alphabetic()) {
                    self.at += 1;
                }
                let Some(member) = class_member(&self.text[start..self.at]) else {
                    return Err(RegexError::CharacterClass);
                };
                for byte in (0..=255u8).filter(|&byte| member(byte)) {
                    set.insert(byte);
                }
                self.class_end(b":]", RegexError::CharacterClass)?;
            }
            (Some(b'['), Some(b'=')) => {
                self.at += 2;
                self.class_start(RegexError::CollatingElement)?;
                let byte = self.collating_element(b'=')?;
                set.insert(byte);
                self.class_end(b"=]", RegexError::CollatingElement)?;
            }
            _ => {
                let first = self.bracket_symbol()?;
                let last = if self.peek() == Some(b'-') && self.peek_second().is_some_and(|b| b != b']') {
                    self.at += 1;
                    if self.eat(b'-') { b'-' } else { self.bracket_symbol()? }
                } else {
                    first
                };
                // LLVM compares as C's signed char.
                let (first, last) = (first as i8, last as i8);
                if first > last {
                    return Err(RegexError::Range);
                }
                for byte in first..=last {
                    set.insert(byte as u8);
                }
            }
        }
        Ok(())
    }

    fn class_start(&self, fault: RegexError) -> Result<(), RegexError> {
        match self.peek() {
            None => Err(RegexError::Brackets),
            Some(b'-' | b']') => Err(fault),
            Some(_) => Ok(()),
        }
    }

    fn class_end(&mut self, end: &[u8], fault: RegexError) -> Result<(), RegexError> {
        if self.peek().is_none() {
            return Err(RegexError::Brackets);
        }
        if self.eat_all(end) { Ok(()) } else { Err(fault) }
    }

    fn bracket_symbol(&mut self) -> Result<u8, RegexError> {
        if self.eat_all(b"[.") {
            let byte = self.collating_element(b'.')?;
            return if self.eat_all(b".]") { Ok(byte) } else { Err(RegexError::CollatingElement) };
        }
        let byte = self.peek().ok_or(RegexError::Brackets)?;
        self.at += 1;
        Ok(byte)
    }

    fn collating_element(&mut self, end: u8) -> Result<u8, RegexError> {
        let start = self.at;
        while self.at < self.text.len() && !self.starts_with(&[end, b']']) {
            self.at += 1;
        }
        if self.at == self.text.len() {
            return Err(RegexError::Brackets);
        }
        match &self.text[start..self.at] {
            [byte] => Ok(*byte),
            name => COLLATING_NAMES
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, byte)| *byte)
                .ok_or(RegexError::CollatingElement),
        }
    }
}
