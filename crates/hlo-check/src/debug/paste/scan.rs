//! Reading a single instruction of a text that the parser doesn't take as a whole: names, shapes, attributes as texts.

/// An instruction as far as it can be told apart; all texts are pieces of the line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parts<'t> {
    /// Whether `ROOT` stands before it.
    pub(crate) is_root: bool,
    /// Its name without `%`.
    pub(crate) name: &'t str,
    /// Its shape as written; empty if it is left out.
    pub(crate) shape: &'t str,
    pub(crate) opcode: &'t str,
    /// What stands between the parentheses.
    pub(crate) inside: &'t str,
    /// The operands; none for opcodes that have something else between the parentheses.
    pub(crate) operands: Vec<Operand<'t>>,
    pub(crate) attributes: Vec<Attribute<'t>>,
    /// Whether a parenthesis follows the opcode.
    pub(crate) has_operands: bool,
    /// Whether the text goes to the end of the instruction.
    pub(crate) is_whole: bool,
}

/// An operand that is named.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operand<'t> {
    /// Its name without `%`; empty for an instruction that stands in place.
    pub(crate) name: &'t str,
    /// The shape before it; empty if there is none.
    pub(crate) shape: &'t str,
}

/// An attribute as written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attribute<'t> {
    pub(crate) key: &'t str,
    pub(crate) value: &'t str,
}

/// Whether `c` may be in a name.
pub(crate) fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')
}

/// The offset behind the bracket that closes the one `text` begins with. Strings and comments are passed over.
pub(crate) fn close_of(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut depth, mut at) = (0usize, 0);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => at = end_of_string(bytes, at)?,
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                let rest = text.get(at + 2..)?;
                at += 2 + rest.find("*/")? + 1;
            }
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// The offset of the quotation mark that ends the string beginning at `at`.
fn end_of_string(bytes: &[u8], at: usize) -> Option<usize> {
    let mut end = at + 1;
    loop {
        match bytes.get(end)? {
            b'\\' => end += 2,
            b'"' => return Some(end),
            _ => end += 1,
        }
    }
}

/// `text` without blanks and comments at its beginning.
pub(crate) fn skip_blanks(text: &str) -> &str {
    let mut rest = text.trim_start();
    while let Some(comment) = rest.strip_prefix("/*") {
        let Some((_, after)) = comment.split_once("*/") else { return "" };
        rest = after.trim_start();
    }
    rest
}

/// The parts of `text` between commas outside of brackets, strings and comments.
pub(crate) fn split_list(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let (mut parts, mut begin, mut depth, mut at) = (Vec::new(), 0, 0usize, 0);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => match end_of_string(bytes, at) {
                Some(end) => at = end,
                None => break,
            },
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                match text.get(at + 2..).and_then(|rest| rest.find("*/")) {
                    Some(length) => at += 2 + length + 1,
                    None => break,
                }
            }
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                parts.push(text.get(begin..at).unwrap_or_default());
                begin = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    parts.push(text.get(begin..).unwrap_or_default());
    parts.retain(|part| !skip_blanks(part).is_empty());
    parts
}

/// The length of the shape `text` begins with; 0 if it doesn't begin with one.
pub(crate) fn shape_length(text: &str) -> usize {
    if text.starts_with('(') {
        // A tuple; behind it stands something else.
        return close_of(text).unwrap_or(0);
    }
    let word = text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len());
    let Some(rest) = text.get(word..).filter(|rest| word > 0 && rest.starts_with('[')) else { return 0 };
    let Some(dimensions) = close_of(rest) else { return 0 };
    let mut length = word + dimensions;
    if let Some(layout) = text.get(length..).filter(|rest| rest.starts_with('{')) {
        length += close_of(layout).unwrap_or(0);
    }
    length
}

/// Splits `text` behind the name it begins with, `%` left out.
pub(crate) fn split_name(text: &str) -> (&str, &str) {
    let text = text.strip_prefix('%').unwrap_or(text);
    text.split_at(text.find(|c| !is_name_char(c)).unwrap_or(text.len()))
}

/// Reads `ROOT name = shape opcode(...), key=value, ...`; `None` if it doesn't begin like that.
pub(crate) fn instruction(text: &str) -> Option<Parts<'_>> {
    let mut parts = Parts::default();
    let mut rest = skip_blanks(text);
    if let Some(after) = rest.strip_prefix("ROOT").filter(|after| after.starts_with(char::is_whitespace)) {
        parts.is_root = true;
        rest = skip_blanks(after);
    }
    let rest_is_marked = rest.starts_with('%');
    let (name, after) = split_name(rest);
    parts.name = name;
    rest = skip_blanks(skip_blanks(after).strip_prefix('=')?);
    // A name that begins with a digit is the end of one.
    let is_name = rest_is_marked || name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if name.is_empty() || !is_name {
        return None;
    }
    let length = shape_length(rest);
    let (shape, after) = rest.split_at_checked(length)?;
    (parts.shape, rest) = (shape, skip_blanks(after));
    let (opcode, after) = split_name(rest);
    parts.opcode = opcode;
    rest = skip_blanks(after);
    if opcode.is_empty() || !rest.starts_with('(') {
        return Some(parts);
    }
    parts.has_operands = true;
    let Some(end) = close_of(rest) else { return Some(parts) };
    parts.inside = rest.get(1..end - 1)?;
    rest = skip_blanks(rest.get(end..)?);
    if !matches!(opcode, "constant" | "parameter" | "iota") {
        parts.operands = split_list(parts.inside).into_iter().map(operand).collect();
    }
    parts.is_whole = attributes(rest, &mut parts.attributes);
    Some(parts)
}

fn operand(text: &str) -> Operand<'_> {
    let text = skip_blanks(text);
    let length = shape_length(text);
    let (shape, rest) = text.split_at_checked(length).unwrap_or(("", text));
    let (name, after) = split_name(skip_blanks(rest));
    if skip_blanks(after).is_empty() && !name.is_empty() {
        Operand { name, shape }
    } else {
        Operand { name: "", shape: "" }
    }
}

/// Reads `, key=value` again and again; whether nothing is left.
fn attributes<'t>(text: &'t str, found: &mut Vec<Attribute<'t>>) -> bool {
    let mut rest = skip_blanks(text);
    while let Some(after) = rest.strip_prefix(',') {
        let (key, after) = split_name(skip_blanks(after));
        let Some(value) = skip_blanks(after).strip_prefix('=').map(skip_blanks) else { return false };
        let Some(length) = value_length(value) else { return false };
        let Some((value, after)) = value.split_at_checked(length) else { return false };
        found.push(Attribute { key, value });
        rest = skip_blanks(after);
    }
    rest.is_empty() || rest.starts_with("//")
}

/// The length of the value `text` begins with: all up to a comma, blank or the end, brackets and strings in one piece.
fn value_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => at = end_of_string(bytes, at)? + 1,
            b'(' | b'[' | b'{' => at += close_of(text.get(at..)?)?,
            b',' => break,
            byte if byte.is_ascii_whitespace() => {
                // `mesh[...] {...}` and `[2,2]<=[4] T(1,0)` go on behind a blank.
                let rest = text.get(at..)?.trim_start();
                if !(rest.starts_with(['{', '[']) || rest.starts_with("T(")) {
                    break;
                }
                at = text.len() - rest.len();
            }
            _ => at += 1,
        }
    }
    (at > 0).then_some(at)
}

impl<'t> Parts<'t> {
    /// The text of an attribute.
    pub(crate) fn attribute(&self, key: &str) -> Option<&'t str> {
        self.attributes.iter().find(|attribute| attribute.key == key).map(|attribute| attribute.value)
    }

    /// The numbers of an attribute such as `dimensions={0,1}`.
    pub(crate) fn numbers(&self, key: &str) -> Vec<usize> {
        let value = self.attribute(key).unwrap_or_default();
        let words = value.split(|c: char| !c.is_ascii_digit()).filter(|word| !word.is_empty());
        words.filter_map(|word| word.parse().ok()).collect()
    }
}

/// The names in `{a, b}`, or the one that stands alone, without `%`.
pub(crate) fn names(value: &str) -> Vec<&str> {
    let inner = value.strip_prefix('{').and_then(|value| value.strip_suffix('}')).unwrap_or(value);
    let names = split_list(inner).into_iter().map(|part| split_name(skip_blanks(part)));
    names
        .filter(|(name, rest)| !name.is_empty() && skip_blanks(rest).is_empty())
        .map(|(name, _)| name)
        .collect()
}
