//! Shardy's shardings of instructions: a frontend attribute with one entry for each value of the result.
//!
//! ```text
//! frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@mesh, [{\"x\"}]>, <@mesh, [{}]>]>"}
//! ```
//!
//! Facts: Shardy's `TensorShardingPerValueAttr`, and how XLA's `round_trip_common` writes it into HLO.

use std::ops::Range;

use hlo_text::ir::{AttrKey, AttrValue, InstructionId, ShapeId, Symbol, Value};

use super::Editor;
use super::interface::ResultSource;

/// The frontend attribute that holds a Shardy sharding.
const KEY: &[u8] = b"xla.sdy.sharding";
const OPEN: &[u8] = b"#sdy.sharding_per_value<[";
const CLOSE: &[u8] = b"]>";

impl Editor<'_> {
    /// The sharding of an instruction in Shardy's form, as a frontend attribute: name and value.
    pub fn shardy_sharding(&self, id: InstructionId) -> Option<(Symbol, Symbol)> {
        let Some(Value::FrontendAttributes(entries)) = self.value_of(id, AttrKey::FrontendAttributes) else {
            return None;
        };
        entries.iter().copied().find(|&(key, _)| self.strings().get(key) == KEY)
    }

    /// Gives an instruction a Shardy sharding in place of the one it has, or takes that away.
    fn set_shardy_sharding(&mut self, id: InstructionId, sharding: Option<Vec<u8>>) {
        let Some((key, old)) = self.shardy_sharding(id) else { return };
        let Some(Value::FrontendAttributes(entries)) = self.value_of(id, AttrKey::FrontendAttributes) else {
            return;
        };
        let mut entries = entries.clone();
        match sharding {
            Some(sharding) => {
                let new = self.intern(sharding);
                if new == old {
                    return;
                }
                for entry in entries.iter_mut().filter(|entry| entry.0 == key) {
                    entry.1 = new;
                }
            }
            None => entries.retain(|entry| entry.0 != key),
        }
        let value = (!entries.is_empty()).then(|| self.intern_value(Value::FrontendAttributes(entries)));
        self.set_attribute(id, AttrKey::FrontendAttributes, value.map(AttrValue::Value));
    }

    /// Keeps the entries of those elements of a tuple that `kept` counts, in that order; the tuple has the elements
    /// `elements`. Nothing happens to a text that isn't understood, or has another number of entries than there are
    /// elements or leaves.
    pub(super) fn keep_shardy_entries(&mut self, id: InstructionId, elements: &[ShapeId], kept: &[usize]) {
        let Some((_, value)) = self.shardy_sharding(id) else { return };
        let text = self.strings().get(value);
        let Some(ranges) = self.shardy_entries(text, elements) else { return };
        let entries: Vec<&[u8]> =
            kept.iter().filter_map(|&element| text.get(ranges.get(element)?.clone())).collect();
        let new = joined(&entries);
        self.set_shardy_sharding(id, new);
    }

    /// Makes the list of a root that was a result of `old` elements, of one value without, one of a result of `new` ones.
    pub(super) fn set_shardy_of_result(
        &mut self,
        root: InstructionId,
        old: Option<&[ShapeId]>,
        new: &[(InstructionId, ResultSource)],
    ) {
        let (Some((_, sharding)), Some(old)) = (self.shardy_sharding(root), old) else { return };
        if let Some(sharding) = self.shardy_of_result(sharding, old, new) {
            self.set_shardy_sharding(root, sharding);
        }
    }

    /// The Shardy sharding of a new result of the entry computation, whose old one has the elements `elements` and the
    /// sharding `old`. `None` if it is to stay as it is: where it isn't understood. `Some(None)` if it has to go,
    /// because nothing is known of a new element.
    fn shardy_of_result(
        &self,
        old: Symbol,
        elements: &[ShapeId],
        new: &[(InstructionId, ResultSource)],
    ) -> Option<Option<Vec<u8>>> {
        let old = self.strings().get(old);
        let ranges = self.shardy_entries(old, elements)?;
        let mut entries = Vec::with_capacity(new.len());
        for &(id, source) in new {
            let entry = match source {
                ResultSource::Element(element) => {
                    ranges.get(element).and_then(|range| old.get(range.clone()))
                }
                ResultSource::Whole => old.get(OPEN.len()..old.len() - CLOSE.len()),
                ResultSource::New => self.shardy_sharding(id).and_then(|(_, own)| {
                    let own = self.strings().get(own);
                    let range = self.shardy_entries(own, &[self.instruction(id).shape])?.pop()?;
                    own.get(range)
                }),
            };
            let Some(entry) = entry else { return Some(None) };
            entries.push(entry);
        }
        Some(joined(&entries))
    }

    /// Where the entries of each element are in the text. `None` if it isn't understood, or has another number of
    /// entries than there are elements or leaves.
    fn shardy_entries(&self, text: &[u8], elements: &[ShapeId]) -> Option<Vec<Range<usize>>> {
        let entries = split(text)?;
        let starts = self.leaf_starts(elements);
        if starts.last() != Some(&entries.len()) {
            return (entries.len() == elements.len()).then_some(entries);
        }
        let of_element = |ends: &[usize]| match entries.get(ends[0]..ends[1]) {
            Some([first, .., last]) => first.start..last.end,
            Some([only]) => only.clone(),
            _ => 0..0,
        };
        Some(starts.windows(2).map(of_element).collect())
    }
}

/// The list of these entries; elements without leaves have empty ones. `None` if none is left.
fn joined(entries: &[&[u8]]) -> Option<Vec<u8>> {
    let entries: Vec<&[u8]> = entries.iter().copied().filter(|entry| !entry.is_empty()).collect();
    (!entries.is_empty()).then(|| [OPEN, &entries.join(&b", "[..]), CLOSE].concat())
}

/// Where the entries of a list of shardings are. `None` if the text is something else.
fn split(text: &[u8]) -> Option<Vec<Range<usize>>> {
    let inner = text.strip_prefix(OPEN)?.strip_suffix(CLOSE)?;
    let end = OPEN.len() + inner.len();
    let mut entries = Vec::new();
    let mut open = Vec::new();
    // Quotation marks are written with a backslash where the text itself is a string.
    let mut quote: Option<usize> = None;
    let mut is_in_string = false;
    let mut backslashes = 0;
    let mut start = OPEN.len();
    for (place, &byte) in inner.iter().enumerate() {
        let place = OPEN.len() + place;
        match byte {
            b'"' => {
                let before = *quote.get_or_insert(backslashes);
                if before > 1 || backslashes < before {
                    return None;
                }
                // More backslashes than the first mark has: the mark is part of a string.
                is_in_string = if backslashes == before { !is_in_string } else { is_in_string };
                if backslashes != before && !is_in_string {
                    return None;
                }
            }
            _ if is_in_string => {}
            b'<' => open.push(b'>'),
            b'[' => open.push(b']'),
            b'{' => open.push(b'}'),
            b'(' => open.push(b')'),
            b'>' | b']' | b'}' | b')' if open.pop() != Some(byte) => return None,
            b',' if open.is_empty() => {
                entries.push(start..place);
                start = place + 1;
            }
            _ => {}
        }
        backslashes = if byte == b'\\' { backslashes + 1 } else { 0 };
    }
    if is_in_string || !open.is_empty() {
        return None;
    }
    if !entries.is_empty() || !inner.trim_ascii().is_empty() {
        entries.push(start..end);
    }
    for range in &mut entries {
        let entry = &text[range.clone()];
        range.start += entry.len() - entry.trim_ascii_start().len();
        range.end -= entry.len() - entry.trim_ascii_end().len();
        // One that begins with something else is no sharding.
        if text.get(range.start) != Some(&b'<') || range.end <= range.start {
            return None;
        }
    }
    Some(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(inner: &str) -> Option<Vec<String>> {
        let text = format!("#sdy.sharding_per_value<[{inner}]>");
        let ranges = split(text.as_bytes())?;
        Some(ranges.into_iter().map(|range| text[range].to_owned()).collect())
    }

    #[test]
    fn entries_end_at_outer_commas() {
        for (inner, expected) in [
            ("", &[][..]),
            ("<@m, [{}]>", &["<@m, [{}]>"][..]),
            (r#"<@m, [{"x", "y"}, {?}]>,<@m, []>"#, &[r#"<@m, [{"x", "y"}, {?}]>"#, "<@m, []>"]),
            (r#"<@m, [{\"x\":(1)2}]> , <@m, []>"#, &[r#"<@m, [{\"x\":(1)2}]>"#, "<@m, []>"]),
            (r#"<@m, [{"x>, <"}]>, <@m, []>"#, &[r#"<@m, [{"x>, <"}]>"#, "<@m, []>"]),
            (r#"<@m, [{"x\">, <"}]>, <@m, []>"#, &[r#"<@m, [{"x\">, <"}]>"#, "<@m, []>"]),
        ] {
            let expected: Vec<String> = expected.iter().map(|&entry| entry.to_owned()).collect();
            assert_eq!(entries(inner), Some(expected), "{inner}");
        }
    }

    #[test]
    fn other_texts_are_not_understood() {
        for inner in [
            "<@m, [{}>]",
            "<@m",
            "@m>",
            "<@m>,",
            ",<@m>",
            "x",
            "<@m, [{\"x}]>",
            "<\\\\\"a\\\\\">",
            "<\\\"a\">",
        ] {
            assert_eq!(entries(inner), None, "{inner}");
        }
        for text in ["", "#sdy.sharding<@m, []>", "#sdy.sharding_per_value<[", "#sdy.sharding_per_value<[]"] {
            assert_eq!(split(text.as_bytes()), None, "{text}");
        }
    }
}
