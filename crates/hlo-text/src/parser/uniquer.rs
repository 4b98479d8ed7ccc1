//! XLA's way to make names unique: a name is a root and perhaps a number behind the last dot; a number that is
//! taken is replaced by the next free one of its root.

use hashbrown::{HashMap, HashSet};

use crate::ir::HASHER;

/// The numbers of one root.
#[derive(Default)]
struct Numbers {
    used: HashSet<i64, foldhash::fast::FixedState>,
    next: i64,
}

/// Names given out so far.
pub(crate) struct NameUniquer {
    roots: HashMap<Vec<u8>, Numbers, foldhash::fast::FixedState>,
}

/// Splits `name` into root and number, `None` if it has no number.
pub(crate) fn split_number(name: &str) -> (&str, Option<i64>) {
    match name.rfind('.') {
        Some(dot) if dot > 0 && dot + 1 < name.len() => match parse_int64(&name[dot + 1..]) {
            Some(number) => (&name[..dot], Some(number)),
            None => (name, None),
        },
        _ => (name, None),
    }
}

/// A decimal `i64`, sign and leading zeros allowed.
fn parse_int64(text: &str) -> Option<i64> {
    text.parse().ok()
}

impl NameUniquer {
    pub(crate) fn new() -> Self {
        Self { roots: HashMap::with_hasher(HASHER) }
    }

    /// The unique name for `name`.
    pub(crate) fn unique(&mut self, name: &str) -> String {
        let (root, wanted) = split_number(name);
        let numbers = match self.roots.get_mut(root.as_bytes()) {
            Some(numbers) => numbers,
            None => self
                .roots
                .entry(root.as_bytes().to_vec())
                .or_insert_with(|| Numbers { used: HashSet::with_hasher(HASHER), next: 0 }),
        };
        let mut number = wanted.unwrap_or(0);
        if !numbers.used.insert(number) {
            while !numbers.used.insert(numbers.next) {
                numbers.next += 1;
            }
            number = numbers.next;
            numbers.next += 1;
        }
        if number == 0 && wanted.is_none() { root.to_owned() } else { format!("{root}.{number}") }
    }
}

/// Whether [`NameUniquer::unique`] might change a name that occurs once: it is not spelt the way it would be given
/// out (`x.007`), or its number is the one a bare root has (`x.0`).
pub(crate) fn is_risky(name: &str) -> bool {
    let bytes = name.as_bytes();
    match bytes.iter().rposition(|&byte| byte == b'.') {
        Some(dot) if dot > 0 && dot + 1 < bytes.len() => matches!(bytes[dot + 1], b'0' | b'-' | b'+'),
        _ => false,
    }
}
