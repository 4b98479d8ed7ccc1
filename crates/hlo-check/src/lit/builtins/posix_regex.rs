//! POSIX regular expressions as `sed` spells them (basic, or extended with `-E`, with GNU's additions), for the engine
//! that FileCheck uses: leftmost-longest, with back-references.

use std::cell::RefCell;

use crate::filecheck::regex::{Match, Regex, Scratch};

/// A compiled expression of `sed`.
pub(super) struct SedRegex {
    regex: Regex,
    /// Number in the engine of each group of the expression, the whole match first.
    groups: Vec<usize>,
    scratch: RefCell<Scratch>,
}

impl std::fmt::Debug for SedRegex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SedRegex").field("groups", &self.groups).finish_non_exhaustive()
    }
}

/// Where an expression matched.
pub(super) struct Found<'r> {
    found: Match,
    groups: &'r [usize],
}

impl Found<'_> {
    pub(super) fn start(&self) -> usize {
        self.found.start
    }

    pub(super) fn end(&self) -> usize {
        self.found.end
    }

    /// Start and end of a group of the expression, 0 for the whole match.
    pub(super) fn group(&self, number: usize) -> Option<(usize, usize)> {
        let number = *self.groups.get(number)?;
        if number == 0 {
            return Some((self.found.start, self.found.end));
        }
        self.found.groups.get(number).copied().flatten()
    }
}

impl SedRegex {
    /// Compiles `pattern`; `extended` is `-E`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn new(pattern: &str, extended: bool, ignore_case: bool) -> Result<Self, String> {
        let (text, groups) = translate(pattern, extended)?;
        let regex = Regex::new(&text, ignore_case)
            .map_err(|error| format!("invalid regular expression '{pattern}': {error}"))?;
        Ok(Self { regex, groups, scratch: RefCell::default() })
    }

    /// How many groups it has, the whole match included.
    pub(super) fn group_count(&self) -> usize {
        self.groups.len()
    }

    /// The first match that starts at `from` or later.
    ///
    /// # Errors
    /// The search takes too long.
    pub(super) fn find_at(&self, text: &[u8], from: usize) -> Result<Option<Found<'_>>, String> {
        let found = self.regex.find_at(text, from, self.groups.len() > 1, &mut self.scratch.borrow_mut());
        let found = found.map_err(|_| "the regular expression takes too many steps on a line".to_owned())?;
        Ok(found.map(|found| Found { found, groups: &self.groups }))
    }
}

/// A part of a translated expression. Groups and references get their numbers when all are known.
enum Piece {
    /// Opens a group; whether it is one of the expression's own.
    Open(bool),
    Close,
    Text(Vec<u8>),
    /// A reference to a group of the expression.
    Reference(usize),
}

/// What stands between a parenthesis and its counterpart.
struct Level {
    /// Branches that are complete.
    branches: Vec<Vec<Piece>>,
    branch: Vec<Piece>,
    /// Where the last atom begins in `branch`, if something may be repeated there.
    atom: Option<usize>,
    /// That atom is repeated already.
    repeated: bool,
    /// Whether a branch begins here: `*` is itself then, `^` an anchor.
    start: bool,
}

impl Level {
    fn new() -> Self {
        Level { branches: Vec::new(), branch: Vec::new(), atom: None, repeated: false, start: true }
    }

    /// Adds something that can be repeated.
    fn atom(&mut self, pieces: impl IntoIterator<Item = Piece>) {
        self.atom = Some(self.branch.len());
        (self.repeated, self.start) = (false, false);
        self.branch.extend(pieces);
    }

    fn text(&mut self, text: impl Into<Vec<u8>>) {
        self.atom([Piece::Text(text.into())]);
    }

    fn literal(&mut self, c: char) {
        let mut text = Vec::new();
        crate::filecheck::regex::escape_into(&mut text, c.encode_utf8(&mut [0; 4]).as_bytes());
        if c.len_utf8() == 1 {
            self.text(text);
        } else {
            // What stands after a character of several bytes repeats all of them.
            self.atom([Piece::Open(false), Piece::Text(text), Piece::Close]);
        }
    }

    fn anchor(&mut self, text: &str, start: bool) {
        self.branch.push(Piece::Text(text.into()));
        self.atom = None;
        self.start = start;
    }

    fn repetition(&mut self, text: &[u8]) {
        if self.repeated
            && let Some(atom) = self.atom
        {
            self.branch.insert(atom, Piece::Open(false));
            self.branch.push(Piece::Close);
        }
        self.branch.push(Piece::Text(text.to_vec()));
        (self.repeated, self.start) = (true, false);
    }

    fn next_branch(&mut self) {
        let done = std::mem::replace(self, Level::new());
        self.branches = done.branches;
        self.branches.push(done.branch);
    }

    /// All branches. An empty one, which the engine doesn't have, makes the others optional.
    fn finish(mut self) -> Vec<Piece> {
        self.branches.push(self.branch);
        let count = self.branches.len();
        self.branches.retain(|branch| !branch.is_empty());
        let optional = self.branches.len() < count && !self.branches.is_empty();
        let mut pieces = Vec::new();
        if optional {
            pieces.push(Piece::Open(false));
        }
        for (index, branch) in self.branches.into_iter().enumerate() {
            if index > 0 {
                pieces.push(Piece::Text(b"|".to_vec()));
            }
            pieces.extend(branch);
        }
        if optional {
            pieces.extend([Piece::Close, Piece::Text(b"?".to_vec())]);
        }
        pieces
    }
}

/// The parentheses that are open, the whole expression first.
struct Translation {
    outer: Vec<Level>,
    level: Level,
}

impl Translation {
    fn open(&mut self) {
        self.outer.push(std::mem::replace(&mut self.level, Level::new()));
    }

    fn close(&mut self) -> Result<(), String> {
        let outer = self.outer.pop().ok_or("unmatched ) in regular expression")?;
        let inner = std::mem::replace(&mut self.level, outer).finish();
        let whole = std::iter::once(Piece::Open(true)).chain(inner).chain([Piece::Close]);
        self.level.atom(whole);
        Ok(())
    }

    /// The expression and the engine's number of each of its groups.
    fn finish(self) -> Result<(Vec<u8>, Vec<usize>), String> {
        if !self.outer.is_empty() {
            return Err("unmatched ( in regular expression".to_owned());
        }
        let pieces = self.level.finish();
        let mut groups = vec![0];
        let mut opened = 0;
        for piece in &pieces {
            if let Piece::Open(own) = piece {
                opened += 1;
                if *own {
                    groups.push(opened);
                }
            }
        }
        let mut out = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Open(_) => out.push(b'('),
                Piece::Close => out.push(b')'),
                Piece::Text(text) => out.extend_from_slice(&text),
                Piece::Reference(number) => match groups.get(number) {
                    Some(number) if *number <= 9 => out.extend_from_slice(format!("\\{number}").as_bytes()),
                    Some(_) => return Err("too many groups before a back-reference".to_owned()),
                    None => return Err(format!("invalid back-reference \\{number}")),
                },
            }
        }
        Ok((out, groups))
    }
}

/// Writes an expression of `sed` for the engine.
fn translate(pattern: &str, extended: bool) -> Result<(Vec<u8>, Vec<usize>), String> {
    let chars: Vec<char> = pattern.chars().collect();
    let mut translation = Translation { outer: Vec::new(), level: Level::new() };
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        at += 1;
        let rest = &chars[at..];
        match c {
            '[' => {
                let (text, length) = class(rest)?;
                translation.level.text(text);
                at += length;
            }
            '\\' => {
                let Some(&escaped) = rest.first() else {
                    return Err("trailing backslash in regular expression".to_owned());
                };
                at += 1;
                match escaped {
                    '(' | ')' | '|' | '{' | '}' | '+' | '?' if !extended => {
                        at += operator(escaped, &chars[at..], extended, &mut translation)?;
                    }
                    _ => escape(escaped, &mut translation.level)?,
                }
            }
            '(' | ')' | '|' | '+' | '?' | '{' if extended => {
                at += operator(c, rest, extended, &mut translation)?
            }
            '*' => at += operator(c, rest, extended, &mut translation)?,
            '.' => translation.level.text("."),
            '^' if extended || translation.level.start => translation.level.anchor("^", true),
            '$' if extended || matches!(rest, [] | ['\\', ')' | '|', ..]) => {
                translation.level.anchor("$", false);
            }
            c => translation.level.literal(c),
        }
    }
    translation.finish()
}

/// One of `( ) | * + ? {`; gives how many more characters belong to it.
fn operator(c: char, rest: &[char], extended: bool, translation: &mut Translation) -> Result<usize, String> {
    match c {
        '(' => translation.open(),
        ')' => translation.close()?,
        '|' => translation.level.next_branch(),
        '*' | '+' | '?' if translation.level.atom.is_none() => translation.level.literal(c),
        '*' | '+' | '?' => translation.level.repetition(c.encode_utf8(&mut [0; 4]).as_bytes()),
        '{' if translation.level.atom.is_some() && rest.first().is_some_and(char::is_ascii_digit) => {
            let length = rest
                .iter()
                .position(|c| !(c.is_ascii_digit() || *c == ','))
                .ok_or("unterminated { in regular expression")?;
            let tail = &rest[length..];
            let closes = if extended { tail.starts_with(&['}']) } else { tail.starts_with(&['\\', '}']) };
            if !closes {
                return Err("invalid content of {} in regular expression".to_owned());
            }
            let text: String =
                std::iter::once('{').chain(rest[..length].iter().copied()).chain(['}']).collect();
            translation.level.repetition(text.as_bytes());
            return Ok(length + if extended { 1 } else { 2 });
        }
        other => translation.level.literal(other),
    }
    Ok(0)
}

/// One escaped character that is no operator.
fn escape(escaped: char, out: &mut Level) -> Result<(), String> {
    match escaped {
        'n' => out.literal('\n'),
        't' => out.literal('\t'),
        'r' => out.literal('\r'),
        'f' => out.literal('\x0c'),
        'v' => out.literal('\x0b'),
        'w' => out.text("[_[:alnum:]]"),
        'W' => out.text("[^_[:alnum:]]"),
        's' => out.text("[[:space:]]"),
        'S' => out.text("[^[:space:]]"),
        '<' => out.anchor("[[:<:]]", false),
        '>' => out.anchor("[[:>:]]", false),
        'b' => {
            out.branch.extend([Piece::Open(false), Piece::Text(b"[[:<:]]|[[:>:]]".to_vec()), Piece::Close]);
            (out.atom, out.start) = (None, false);
        }
        'B' => return Err("'\\B' in a regular expression is not supported".to_owned()),
        '`' => out.anchor("^", false),
        '\'' => out.anchor("$", false),
        '1'..='9' => out.atom([Piece::Reference(escaped as usize - '0' as usize)]),
        other => out.literal(other),
    }
    Ok(())
}

/// Translates `[...]` whose contents are at the beginning of `chars`; gives how many characters it takes.
fn class(chars: &[char]) -> Result<(Vec<u8>, usize), String> {
    const UNTERMINATED: &str = "unterminated '[' in regular expression";
    let mut text = String::from("[");
    let mut at = 0;
    if chars.first() == Some(&'^') {
        text.push('^');
        at = 1;
    }
    let first = at;
    loop {
        let Some(&c) = chars.get(at) else { return Err(UNTERMINATED.to_owned()) };
        at += 1;
        match c {
            ']' if at - 1 > first => {
                text.push(']');
                return Ok((text.into_bytes(), at));
            }
            '[' if matches!(chars.get(at), Some(':' | '.' | '=')) => {
                let kind = chars[at];
                let close = chars[at + 1..].windows(2).position(|pair| pair == [kind, ']']);
                let end = at + 1 + close.ok_or(UNTERMINATED)? + 2;
                text.push('[');
                text.extend(&chars[at..end]);
                at = end;
            }
            '\\' => {
                let meant = match chars.get(at) {
                    Some('n') => Some('\n'),
                    Some('t') => Some('\t'),
                    Some('\\') => Some('\\'),
                    _ => None,
                };
                at += usize::from(meant.is_some());
                text.push(meant.unwrap_or('\\'));
            }
            c => text.push(c),
        }
    }
}
