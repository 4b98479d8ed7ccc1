//! Words of two lines that are different.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Lines are compared word by word if what is between their common beginning and end has at most so many words;
/// otherwise all of that counts as different.
const MAX_WORDS: usize = 400;

/// The parts of `old` and of `new` (bytes) that the other doesn't have, in order.
pub fn differences(old: &str, new: &str) -> [Vec<Range<usize>>; 2] {
    let (a, b) = (words(old), words(new));
    let front = a.iter().zip(&b).take_while(|(a, b)| old[(*a).clone()] == new[(*b).clone()]).count();
    let (tail_a, tail_b) = (&a[front..], &b[front..]);
    let back = tail_a
        .iter()
        .rev()
        .zip(tail_b.iter().rev())
        .take_while(|(a, b)| old[(*a).clone()] == new[(*b).clone()])
        .count();
    let (a, b) = (&tail_a[..tail_a.len() - back], &tail_b[..tail_b.len() - back]);
    let whole = |words: &[Range<usize>]| Some(words.first()?.start..words.last()?.end);
    if a.len().max(b.len()) > MAX_WORDS {
        return [whole(a).into_iter().collect(), whole(b).into_iter().collect()];
    }
    let texts_a: Vec<&str> = a.iter().map(|word| &old[word.clone()]).collect();
    let texts_b: Vec<&str> = b.iter().map(|word| &new[word.clone()]).collect();
    let mut found = [Vec::new(), Vec::new()];
    for op in capture_diff_slices(Algorithm::Myers, &texts_a, &texts_b) {
        if !matches!(op, DiffOp::Equal { .. }) {
            push(&mut found[0], whole(&a[op.old_range()]));
            push(&mut found[1], whole(&b[op.new_range()]));
        }
    }
    found
}

/// Appends a range; one that touches the last is joined with it.
fn push(ranges: &mut Vec<Range<usize>>, more: Option<Range<usize>>) {
    if let Some(range) = more {
        match ranges.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => ranges.push(range),
        }
    }
}

/// The words of a line: names, numbers and keywords in one piece, everything else character by character.
fn words(line: &str) -> Vec<Range<usize>> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '%');
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut in_word = false;
    for (at, c) in line.char_indices() {
        let end = at + c.len_utf8();
        match words.last_mut() {
            Some(last) if in_word && is_word(c) => last.end = end,
            _ => words.push(at..end),
        }
        in_word = is_word(c);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(old: &str, new: &str) -> [String; 2] {
        let [a, b] = differences(old, new);
        let mark = |text: &str, ranges: Vec<Range<usize>>| {
            let mut marked = text.to_owned();
            for range in ranges.into_iter().rev() {
                marked.insert(range.end, ']');
                marked.insert(range.start, '[');
            }
            marked
        };
        [mark(old, a), mark(new, b)]
    }

    #[test]
    fn names_and_numbers_are_words() {
        assert_eq!(
            marked("%a.1 = f32[2]{0} add(%p, %q)", "%a.1 = f32[4]{0} add(%q, %q)"),
            ["%a.1 = f32[[2]]{0} add([%p], %q)", "%a.1 = f32[[4]]{0} add([%q], %q)"]
        );
        assert_eq!(marked("a", "a"), ["a", "a"]);
        assert_eq!(marked("", "x é"), ["", "[x é]"]);
        assert_eq!(marked("f(a)", "f(a, b)"), ["f(a)", "f(a[, b])"]);
    }

    #[test]
    fn very_long_differences_are_one() {
        let long = |word: &str| format!("begin {} end", format!("{word} ").repeat(MAX_WORDS));
        let [a, b] = differences(&long("x"), &long("y"));
        assert_eq!((a.len(), b.len()), (1, 1));
        assert_eq!(a[0].start, "begin ".len());
    }
}
