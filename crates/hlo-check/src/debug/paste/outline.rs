//! What the lines of a text are, as far as each can be told by itself.

use super::lines::Line;
use super::scan::{self, Parts};
use crate::debug::gather::is_instruction;

/// A piece of a text: one line, or several that belong together.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// The number of its first line in the pasted text.
    pub(super) line: usize,
    /// What it says.
    pub(super) text: String,
    pub(super) kind: Kind,
}

/// What a piece is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `HloModule ...`
    Header,
    /// A table such as `FileNames`.
    Table,
    /// `name (...) -> ... {`
    Open,
    Instruction,
    /// `}`
    Close,
    /// Blanks and comments.
    Blank,
    /// Something else.
    Other,
}

/// What begins tables, and the lines of each.
const TABLES: &[&str] = &["FileNames", "FunctionNames", "FileLocations", "StackFrames"];

/// What a line begins; `None` if it may as well go on with what is before it.
fn begins(text: &str) -> Option<Kind> {
    let text = text.trim();
    if text.is_empty() || text.starts_with("//") {
        Some(Kind::Blank)
    } else if text.starts_with("HloModule") {
        Some(Kind::Header)
    } else if TABLES.contains(&text) {
        Some(Kind::Table)
    } else if is_instruction(text) {
        Some(Kind::Instruction)
    } else if text == "}" || text.starts_with("} //") || text.starts_with("}, ") {
        Some(Kind::Close)
    } else if text.ends_with('{') && heading(text).is_some() {
        Some(Kind::Open)
    } else {
        None
    }
}

/// The heading of a computation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heading<'t> {
    pub(super) is_entry: bool,
    /// The name, without `%`; may be empty for `ENTRY {`.
    pub(super) name: &'t str,
    /// What stands between the parentheses of the signature.
    pub(super) parameters: Option<&'t str>,
}

/// Reads `ENTRY name (...) -> shape {`.
pub(super) fn heading(text: &str) -> Option<Heading<'_>> {
    let text = text.trim().strip_suffix('{')?.trim_end();
    let (is_entry, rest) = match text.strip_prefix("ENTRY") {
        Some(rest) if rest.is_empty() || rest.starts_with(char::is_whitespace) => (true, rest.trim_start()),
        _ => (false, text),
    };
    let (name, rest) = scan::split_name(rest);
    if name.is_empty() && !is_entry {
        return None;
    }
    let rest = scan::skip_blanks(rest);
    if rest.is_empty() {
        return Some(Heading { is_entry, name, parameters: None });
    }
    let end = rest.starts_with('(').then(|| scan::close_of(rest)).flatten()?;
    let behind = scan::skip_blanks(rest.get(end..)?);
    let fits = behind.is_empty() || behind.starts_with("->");
    fits.then_some(Heading { is_entry, name, parameters: rest.get(1..end - 1) })
}

/// How many lines without an end are looked at for one: a literal may have many, a line that was cut has none.
const MAX_CONTINUATION: usize = 100_000;

/// The pieces of a text, in order.
pub(super) fn outline(lines: &[Line]) -> Vec<Item> {
    let mut items = Vec::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let kind = begins(&line.text).unwrap_or(Kind::Other);
        let mut text = line.text.clone();
        at += 1;
        match kind {
            Kind::Table => {
                // Its rows begin with numbers.
                while let Some(row) = lines.get(at)
                    && row.text.trim_start().starts_with(|c: char| c.is_ascii_digit())
                {
                    text.push('\n');
                    text.push_str(&row.text);
                    at += 1;
                }
            }
            Kind::Header | Kind::Instruction => {
                let mut brackets = Brackets::default();
                brackets.pass(&text);
                let opens_body = text.trim_end().ends_with('{');
                let limit = at + MAX_CONTINUATION;
                while brackets.open > 0
                    && at < limit
                    && let Some(next) = lines.get(at)
                {
                    // Only the body of a computation that stands in place has lines that could stand alone.
                    let alone = begins(&next.text).is_some_and(|kind| kind != Kind::Blank);
                    if alone && !opens_body && !next.text.trim().starts_with('}') {
                        break;
                    }
                    brackets.pass(&next.text);
                    text.push('\n');
                    text.push_str(&next.text);
                    at += 1;
                }
            }
            _ => {}
        }
        items.push(Item { line: line.number, text, kind });
    }
    items
}

/// Brackets that are open behind a text.
#[derive(Default)]
struct Brackets {
    open: usize,
    in_string: bool,
}

impl Brackets {
    fn pass(&mut self, line: &str) {
        let mut bytes = line.bytes().peekable();
        while let Some(byte) = bytes.next() {
            match byte {
                b'\\' if self.in_string => {
                    bytes.next();
                }
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'(' | b'[' | b'{' => self.open += 1,
                b')' | b']' | b'}' => self.open = self.open.saturating_sub(1),
                _ => {}
            }
        }
    }
}

impl Item {
    /// The parts of an instruction; `None` if it is none.
    pub(super) fn parts(&self) -> Option<Parts<'_>> {
        if self.kind == Kind::Instruction { scan::instruction(&self.text) } else { None }
    }
}
