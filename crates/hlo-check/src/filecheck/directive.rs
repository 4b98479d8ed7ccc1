//! Directives: what a prefix in the check file introduces.

/// The kinds of directives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CheckKind {
    /// `CHECK:` and `CHECK-COUNT-n:`
    Plain,
    /// `CHECK-NEXT:`
    Next,
    /// `CHECK-SAME:`
    Same,
    /// `CHECK-NOT:`
    Not,
    /// `CHECK-DAG:`
    Dag,
    /// `CHECK-LABEL:`
    Label,
    /// `CHECK-EMPTY:`
    Empty,
    /// `COM:`, `RUN:`
    Comment,
    /// The implicit end of the file after trailing NOT and DAG directives.
    Eof,
    /// `CHECK-NOT-NEXT:` and the like.
    BadNot,
    /// `CHECK-COUNT-x:`
    BadCount,
    /// `CHECK_NEXT:` and the like.
    Misspelled,
}

/// A directive that can be combined with `{LITERAL}`: its suffix and its name in the input dump.
pub(super) struct SuffixRow {
    pub(super) kind: CheckKind,
    /// What follows `PREFIX-`.
    pub(super) suffix: &'static str,
    /// Label in the input dump.
    pub(super) label: &'static str,
}

/// The suffixes, in the order they are tried.
pub(super) const SUFFIXES: &[SuffixRow] = &[
    SuffixRow { kind: CheckKind::Next, suffix: "NEXT", label: "next" },
    SuffixRow { kind: CheckKind::Same, suffix: "SAME", label: "same" },
    SuffixRow { kind: CheckKind::Not, suffix: "NOT", label: "not" },
    SuffixRow { kind: CheckKind::Dag, suffix: "DAG", label: "dag" },
    SuffixRow { kind: CheckKind::Label, suffix: "LABEL", label: "label" },
    SuffixRow { kind: CheckKind::Empty, suffix: "EMPTY", label: "empty" },
];

/// Combinations with NOT that LLVM refuses.
const BAD_NOT: &[&[u8]] = &[
    b"DAG-NOT:",
    b"NOT-DAG:",
    b"NEXT-NOT:",
    b"NOT-NEXT:",
    b"SAME-NOT:",
    b"NOT-SAME:",
    b"EMPTY-NOT:",
    b"NOT-EMPTY:",
];

/// A directive's kind with its modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CheckType {
    /// The kind.
    pub kind: CheckKind,
    /// How often it must match (`-COUNT-n`); 1 otherwise.
    pub count: u32,
    /// `{LITERAL}`
    pub literal: bool,
}

impl CheckType {
    /// A kind without modifiers.
    #[must_use]
    pub const fn new(kind: CheckKind) -> Self {
        Self { kind, count: 1, literal: false }
    }

    /// What messages call it, e.g. `CHECK-NEXT{LITERAL}`.
    #[must_use]
    pub fn description(self, prefix: &str) -> String {
        let modifiers = if self.literal { "{LITERAL}" } else { "" };
        match self.kind {
            CheckKind::Plain if self.count > 1 => format!("{prefix}-COUNT{modifiers}"),
            CheckKind::Plain | CheckKind::Comment => format!("{prefix}{modifiers}"),
            CheckKind::Eof => "implicit EOF".to_owned(),
            CheckKind::BadNot => "bad NOT".to_owned(),
            CheckKind::BadCount => "bad COUNT".to_owned(),
            CheckKind::Misspelled => "misspelled".to_owned(),
            kind => format!("{prefix}-{}{modifiers}", suffix(kind)),
        }
    }

    /// Its label in the input dump.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self.kind {
            CheckKind::Plain if self.count > 1 => "count",
            CheckKind::Plain => "check",
            CheckKind::Comment => "com",
            CheckKind::Eof => "eof",
            CheckKind::BadNot => "bad-not",
            CheckKind::BadCount => "bad-count",
            CheckKind::Misspelled => "misspelled",
            kind => SUFFIXES.iter().find(|row| row.kind == kind).map_or("", |row| row.label),
        }
    }
}

/// The suffix of a kind that has one, else "".
#[must_use]
pub fn suffix(kind: CheckKind) -> &'static str {
    SUFFIXES.iter().find(|row| row.kind == kind).map_or("", |row| row.suffix)
}

/// Whether a byte continues a word that a prefix may be part of.
#[must_use]
pub fn is_part_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'
}

fn skip_space(text: &[u8]) -> &[u8] {
    let blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0x0b;
    &text[text.iter().position(|byte| !blank(byte)).unwrap_or(text.len())..]
}

/// Reads what follows a prefix. On success says what it is and how many bytes of `rest` belong to it.
///
/// `None`: not a directive after all.
#[must_use]
pub fn after_check_prefix(rest: &[u8]) -> Option<(CheckType, usize)> {
    let plain = CheckType::new(CheckKind::Plain);
    if rest.first() == Some(&b':') {
        return Some((plain, 1));
    }
    if rest.first() == Some(&b'{') {
        return modifiers(rest, rest, plain);
    }
    let misspelled = rest.first() == Some(&b'_');
    let after = rest.strip_prefix(b"_").or_else(|| rest.strip_prefix(b"-"))?;
    let (check, length) = after_separator(rest, after)?;
    let kind = if misspelled { CheckKind::Misspelled } else { check.kind };
    Some((CheckType { kind, ..check }, length))
}

fn after_separator(whole: &[u8], rest: &[u8]) -> Option<(CheckType, usize)> {
    if let Some(count) = rest.strip_prefix(b"COUNT-") {
        let (value, after) = read_count(count);
        let followed = matches!(after.first(), Some(b':' | b'{'));
        return match value {
            Some(count) if followed => {
                modifiers(whole, after, CheckType { count, ..CheckType::new(CheckKind::Plain) })
            }
            _ => Some((CheckType::new(CheckKind::BadCount), whole.len() - after.len())),
        };
    }
    if BAD_NOT.iter().any(|combination| rest.starts_with(combination)) {
        return Some((CheckType::new(CheckKind::BadNot), whole.len() - rest.len()));
    }
    let row = SUFFIXES.iter().find(|row| rest.starts_with(row.suffix.as_bytes()))?;
    modifiers(whole, &rest[row.suffix.len()..], CheckType::new(row.kind))
}

/// The number of `-COUNT-n` (1 to 2^31 - 1) and the text after it; after a malformed number, the text
/// from it on.
fn read_count(text: &[u8]) -> (Option<u32>, &[u8]) {
    let (negative, digits) = match text.strip_prefix(b"-") {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let length = digits.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(digits.len());
    let value = digits[..length]
        .iter()
        .try_fold(0i64, |value, &digit| value.checked_mul(10)?.checked_add(i64::from(digit - b'0')));
    match value {
        Some(value) if length > 0 => {
            let value = if negative { -value } else { value };
            let count = i32::try_from(value).ok().filter(|&value| value > 0);
            (count.map(i32::cast_unsigned), &digits[length..])
        }
        _ => (None, text),
    }
}

/// `:` or `{LITERAL, …}:`.
fn modifiers(whole: &[u8], rest: &[u8], check: CheckType) -> Option<(CheckType, usize)> {
    let mut check = check;
    if let Some(after) = rest.strip_prefix(b":") {
        return Some((check, whole.len() - after.len()));
    }
    let mut rest = rest.strip_prefix(b"{")?;
    loop {
        rest = skip_space(rest).strip_prefix(b"LITERAL")?;
        check.literal = true;
        rest = skip_space(rest);
        match rest.strip_prefix(b",") {
            Some(after) => rest = after,
            None => break,
        }
    }
    let after = rest.strip_prefix(b"}:")?;
    Some((check, whole.len() - after.len()))
}
