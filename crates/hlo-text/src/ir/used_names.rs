//! The names a module has given out, and fresh ones like XLA's `NameUniquer` makes them.
//!
//! XLA keeps, for every root, the numbers that were ever given out and a counter. All numbers below the counter are
//! taken, so the names themselves say everything but the counter; a bit per interned string replaces XLA's sets.

use hashbrown::HashMap;

use super::element_type::ElementType;
use super::ids::Symbol;
use super::interner::Interner;
use crate::parser::uniquer::split_number;

/// The names of one kind (instructions or computations) that are taken, names of removed things included.
#[derive(Clone, Debug)]
pub(crate) struct NameSet {
    taken: Vec<bool>,
    counters: HashMap<Symbol, i64, foldhash::fast::FixedState>,
}

impl Default for NameSet {
    fn default() -> Self {
        Self { taken: Vec::new(), counters: HashMap::with_hasher(super::HASHER) }
    }
}

impl NameSet {
    /// Notes that `name` is taken.
    pub(crate) fn take(&mut self, name: Symbol) {
        let index = name.index();
        if index >= self.taken.len() {
            self.taken.resize((index + 1).next_power_of_two(), false);
        }
        self.taken[index] = true;
    }

    fn is_taken(&self, name: &str, strings: &Interner) -> bool {
        let symbol = strings.lookup(name.as_bytes());
        symbol.is_some_and(|symbol| self.taken.get(symbol.index()).copied().unwrap_or(false))
    }

    /// Whether `number` of `root` is taken. A bare root has number 0.
    fn is_number_taken(&self, root: &str, number: i64, strings: &Interner) -> bool {
        (number == 0 && self.is_taken(root, strings)) || self.is_taken(&format!("{root}.{number}"), strings)
    }

    /// A name that is not taken, as like `wanted` as XLA makes it; it is taken from now on.
    pub(crate) fn unique(&mut self, wanted: &str, strings: &mut Interner) -> Symbol {
        let (root, wanted_number) = split_number(wanted);
        let mut number = wanted_number.unwrap_or(0);
        if self.is_number_taken(root, number, strings) {
            let counter_key = strings.intern(root.as_bytes());
            let mut next = self.counters.get(&counter_key).copied().unwrap_or(0);
            while self.is_number_taken(root, next, strings) {
                next += 1;
            }
            number = next;
            self.counters.insert(counter_key, next + 1);
        }
        let symbol = if number == 0 && wanted_number.is_none() {
            strings.intern(root.as_bytes())
        } else {
            strings.intern(format!("{root}.{number}").as_bytes())
        };
        self.take(symbol);
        symbol
    }
}

/// The taken names of a module.
#[derive(Clone, Debug, Default)]
pub(crate) struct UsedNames {
    pub(crate) instructions: NameSet,
    pub(crate) computations: NameSet,
}

/// `name` as XLA makes it legal: first character a letter or `_`, the others of `[A-Za-z0-9_.-]`, no element type's
/// name, no leading `__` but `__xla_`.
pub(crate) fn sanitize(name: &str) -> String {
    let mut bytes: Vec<u8> = name.bytes().collect();
    for (index, byte) in bytes.iter_mut().enumerate() {
        let ok = match index {
            0 => byte.is_ascii_alphabetic() || *byte == b'_',
            _ => byte.is_ascii_alphanumeric() || matches!(*byte, b'_' | b'.' | b'-'),
        };
        if !ok {
            *byte = b'_';
        }
    }
    let mut clean: String = bytes.into_iter().map(char::from).collect();
    if ElementType::from_name(&clean).is_some() {
        clean.push('_');
    }
    if clean.starts_with("__") && !clean.starts_with("__xla_") {
        clean.replace_range(..1, "a");
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unique_all(names: &[&str]) -> Vec<String> {
        let mut strings = Interner::default();
        let mut set = NameSet::default();
        names
            .iter()
            .map(|name| {
                let symbol = set.unique(name, &mut strings);
                strings.name(symbol).to_owned()
            })
            .collect()
    }

    #[test]
    fn names_are_made_unique_as_xla_does() {
        for (names, expected) in [
            (&["p", "p"][..], &["p", "p.1"][..]),
            (&["p", "p.0"], &["p", "p.1"]),
            (&["p.0", "p"], &["p.0", "p.1"]),
            (&["x.3", "x.3", "x.3"], &["x.3", "x.0", "x.1"]),
            (&["p.007", "p.7"], &["p.7", "p.0"]),
            (&["p.", "p."], &["p.", "p..1"]),
            (&["p.x", "p.x"], &["p.x", "p.x.1"]),
            (&["p.1.2", "p.1.2"], &["p.1.2", "p.1.0"]),
            (
                &["p.99999999999999999999", "p.99999999999999999999"],
                &["p.99999999999999999999", "p.99999999999999999999.1"],
            ),
            (&["n", "n.1", "n", "n.1"], &["n", "n.1", "n.2", "n.3"]),
        ] {
            assert_eq!(unique_all(names), expected, "{names:?}");
        }
    }

    #[test]
    fn names_are_made_legal_as_xla_does() {
        for (name, expected) in [
            ("add", "add"),
            ("0-clone", "_-clone"),
            ("a b/c", "a_b_c"),
            ("f32", "f32_"),
            ("tuple", "tuple"),
            ("__a", "a_a"),
            ("__xla_a", "__xla_a"),
            ("_a", "_a"),
            ("", ""),
        ] {
            assert_eq!(sanitize(name), expected, "{name}");
        }
    }
}
