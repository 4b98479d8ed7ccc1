//! What pass is meant by a key that none has.

use hlo_text::diagnostic::did_you_mean;

use super::{PassInfo, all};

/// Names longer than this aren't keys with a mistake in them.
const MAX_NAME: usize = 256;

/// Shorter pieces of keys and words of descriptions say too little.
const MIN_PIECE: usize = 4;

/// What several passes have in their names: it alone doesn't say which is meant.
const COMMON_WORDS: &[&str] = &["pass", "passes", "neuron", "with", "that", "from", "into"];

/// A key or a name as it is compared: letter case counts as little as which of `-` and `_` is written.
fn plain(name: &str) -> String {
    name.to_ascii_lowercase().replace('_', "-")
}

/// The words of a text that say something.
fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() >= MIN_PIECE);
    words.map(str::to_ascii_lowercase).filter(|word| !COMMON_WORDS.contains(&word.as_str()))
}

/// Whether two words are the same but for their endings: `instruction` and `instructions`.
fn is_same_word(a: &str, b: &str) -> bool {
    a.starts_with(b) || b.starts_with(a)
}

/// The key of the pass that is probably meant by `name`: one that begins like it, else one that is almost spelt like it, else
/// one that ends or goes on like it, else one whose key and description have all its words.
pub fn nearest(name: &str) -> Option<&'static str> {
    if name.len() > MAX_NAME {
        return None;
    }
    let wanted = plain(name);
    let keys: Vec<(String, &'static PassInfo)> = all().map(|info| (plain(info.key), info)).collect();
    let of = |found: &str| keys.iter().find(|(key, _)| key == found).map(|(_, info)| info.key);
    if let Some(key) = of(&wanted) {
        return Some(key);
    }
    // The shortest has the least that wasn't asked for.
    let shortest = |test: fn(&str, &str) -> bool| {
        let found = keys.iter().filter(|(key, _)| wanted.len() >= MIN_PIECE && test(key, &wanted));
        found.min_by_key(|(key, _)| key.len()).map(|(_, info)| info.key)
    };
    if let Some(key) = shortest(|key, name| key.starts_with(name)) {
        return Some(key);
    }
    if let Some(close) = did_you_mean(&wanted, keys.iter().map(|(key, _)| key.as_str())) {
        return of(close);
    }
    let piece =
        shortest(|key, name| key.ends_with(name)).or_else(|| shortest(|key, name| key.contains(name)));
    if piece.is_some() {
        return piece;
    }
    // A piece of a key may be misspelt as well: as many of its words as there are, from either end.
    let count = wanted.split('-').count();
    let tail = |key: &str| key.rmatch_indices('-').nth(count - 1).map_or(0, |(at, _)| at + 1);
    let head = |key: &str| key.match_indices('-').nth(count - 1).map_or(key.len(), |(at, _)| at);
    let is_near = |piece: &str| {
        let mut pairs = piece.split('-').zip(wanted.split('-'));
        // Mistakes are seldom in the first letter, and short words are near many others.
        let are_near = |word: &str, meant: &str| {
            word.as_bytes().first() == meant.as_bytes().first() && did_you_mean(meant, [word]).is_some()
        };
        piece.split('-').count() == count && pairs.all(|(word, meant)| are_near(word, meant))
    };
    let has_near_piece = |key: &str| is_near(&key[tail(key)..]) || is_near(&key[..head(key)]);
    if wanted.len() >= MIN_PIECE
        && let Some((_, info)) = keys.iter().find(|(key, _)| has_near_piece(key))
    {
        return Some(info.key);
    }
    let asked: Vec<String> = words(name).collect();
    if asked.is_empty() {
        return None;
    }
    let mut best: Option<(usize, &'static str)> = None;
    for (key, info) in &keys {
        let has = |text: &str, word: &str| words(text).any(|other| is_same_word(&other, word));
        if asked.iter().all(|word| has(key, word) || has(info.doc, word)) {
            let in_key = asked.iter().filter(|word| has(key, word)).count();
            if best.is_none_or(|(most, _)| in_key > most) {
                best = Some((in_key, info.key));
            }
        }
    }
    best.map(|(_, key)| key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pass_that_is_meant_is_found() {
        for (name, key) in [
            ("dec", Some("dce")),
            ("DCE", Some("dce")),
            ("legalize_compare", Some("legalize-compare")),
            ("aws-neuron-resolve-self-comparison", Some("aws_neuron_resolve_self_comparison")),
            ("common-instruction-elimination", Some("aws_neuron_common_instruction_elimination")),
            ("resolve-self-comparision", Some("aws_neuron_resolve_self_comparison")),
            ("opt-barrier", Some("opt-barrier-removal")),
            ("scatter_partition", Some("rewrite_scatter_partition")),
            ("barrier", Some("opt-barrier-removal")),
            ("legalize-comp", Some("legalize-compare")),
            ("replace-min", Some("replace-minimum-constant")),
            ("nope", None),
            ("identical-instruction", Some("aws_neuron_common_instruction_elimination")),
            ("", None),
            ("x", None),
            ("neuron-pass", None),
            ("nothing-like-that", None),
            ("dce-like-nothing", None),
        ] {
            assert_eq!(nearest(name), key, "{name}");
        }
        assert_eq!(nearest(&"dce".repeat(1000)), None);
    }
}
