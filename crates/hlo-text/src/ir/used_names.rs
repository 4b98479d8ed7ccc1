//! The names a module has given out, and fresh ones like XLA's `NameUniquer` makes them.
//!
//! XLA keeps, for every root, the numbers that were ever given out and a counter. All numbers below the counter are
//! taken, so the names themselves say everything but the counter; a bit per interned string replaces XLA's sets.

use std::borrow::Cow;

use hashbrown::HashMap;

use super::element_type::ElementType;
use super::ids::Symbol;
use super::interner::Interner;

/// The names of one kind (instructions or computations) that are taken, names of removed things included.
#[derive(Clone, Debug)]
pub(crate) struct NameSet {
    taken: Vec<bool>,
    counters: HashMap<Symbol, i64, foldhash::fast::FixedState>,
    /// Where names are put together.
    text: Vec<u8>,
}

impl Default for NameSet {
    fn default() -> Self {
        Self { taken: Vec::new(), counters: HashMap::with_hasher(super::HASHER), text: Vec::new() }
    }
}

/// Splits `name` into root and number, `None` if it has no number.
fn split_number(name: &str) -> (&str, Option<i64>) {
    match name.rfind('.') {
        // Leading zeros and a sign are fine.
        Some(dot) if dot > 0 && dot + 1 < name.len() => match name[dot + 1..].parse() {
            Ok(number) => (&name[..dot], Some(number)),
            Err(_) => (name, None),
        },
        _ => (name, None),
    }
}

/// What has to be known of a name to see that it is not changed if nobody has it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spelling {
    /// Has no number.
    Bare,
    /// Has a number other than 0, written as it would be given out.
    Numbered,
    /// Has the number 0, or is written another way (`x.007`).
    Risky,
}

fn spelling(name: &[u8]) -> Spelling {
    match memchr::memrchr(b'.', name) {
        Some(dot) if dot > 0 && dot + 1 < name.len() => match name[dot + 1] {
            b'1'..=b'9' => Spelling::Numbered,
            b'0' | b'-' | b'+' => Spelling::Risky,
            _ => Spelling::Bare,
        },
        _ => Spelling::Bare,
    }
}

impl NameSet {
    /// Makes `names` unique, in order; most are already, and only get a mark.
    pub(crate) fn unique_in_place(names: &mut [Symbol], strings: &mut Interner) {
        let mut set = Self { taken: vec![false; strings.len()], ..Self::default() };
        // Whether some name has the number 0 that a bare name of the same root has, too.
        let mut zero_taken = false;
        for name in names {
            let text = strings.get(*name);
            let certain = match spelling(text) {
                Spelling::Numbered => true,
                Spelling::Bare => !zero_taken,
                Spelling::Risky => false,
            };
            let taken = set.taken.get(name.index()).copied().unwrap_or(false);
            if certain && !taken {
                set.take(*name);
                continue;
            }
            let text = strings.name(*name).to_owned();
            *name = set.unique(&text, strings);
            zero_taken |= strings.get(*name).ends_with(b".0");
        }
    }

    /// Notes that `name` is taken.
    pub(crate) fn take(&mut self, name: Symbol) {
        let index = name.index();
        if index >= self.taken.len() {
            self.taken.resize((index + 1).next_power_of_two(), false);
        }
        self.taken[index] = true;
    }

    fn is_taken(&self, name: &[u8], strings: &Interner) -> bool {
        let symbol = strings.lookup(name);
        symbol.is_some_and(|symbol| self.taken.get(symbol.index()).copied().unwrap_or(false))
    }

    /// Whether `number` of `root` is taken; `self.text` becomes its name. A bare root has number 0; a root that ends in
    /// a number is never bare.
    fn is_number_taken(&mut self, root: &str, number: i64, strings: &Interner) -> bool {
        self.text.clear();
        self.text.extend_from_slice(root.as_bytes());
        let bare = number == 0 && split_number(root).1.is_none();
        if bare && self.is_taken(&self.text, strings) {
            return true;
        }
        self.text.push(b'.');
        self.text.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
        self.is_taken(&self.text, strings)
    }

    /// A name that is not taken, as like `wanted` as XLA makes it; it is taken from now on.
    pub(crate) fn unique(&mut self, wanted: &str, strings: &mut Interner) -> Symbol {
        let (root, wanted_number) = split_number(wanted);
        let number = wanted_number.unwrap_or(0);
        if self.is_number_taken(root, number, strings) {
            return self.next_of(root, wanted_number.is_none(), strings);
        }
        let is_bare = number == 0 && wanted_number.is_none();
        let symbol = strings.intern(if is_bare { root.as_bytes() } else { &self.text });
        self.take(symbol);
        symbol
    }

    /// As [`NameSet::unique`] for a name that is in use, so that it need not be looked up.
    pub(crate) fn unique_like(&mut self, name: Symbol, strings: &mut Interner) -> Symbol {
        let is_taken = self.taken.get(name.index()).copied().unwrap_or(false);
        let text = strings.name(name).to_owned();
        if is_taken && spelling(text.as_bytes()) != Spelling::Risky && is_legal_name(text.as_bytes()) {
            let (root, number) = split_number(&text);
            return self.next_of(root, number.is_none(), strings);
        }
        self.unique(&sanitize(&text), strings)
    }

    /// The next name of a root that is not taken; number 0 of it is not written if the name wanted has none.
    fn next_of(&mut self, root: &str, is_bare: bool, strings: &mut Interner) -> Symbol {
        let counter_key = strings.intern(root.as_bytes());
        let mut number = self.counters.get(&counter_key).copied().unwrap_or(0);
        let symbol = loop {
            // Of number 0 there are two spellings.
            if number != 0 || !self.is_number_taken(root, 0, strings) {
                let symbol = match number {
                    0 if is_bare => counter_key,
                    _ => {
                        self.write_number(root, number);
                        strings.intern(&self.text)
                    }
                };
                if !self.taken.get(symbol.index()).copied().unwrap_or(false) {
                    break symbol;
                }
            }
            number += 1;
        };
        self.counters.insert(counter_key, number + 1);
        self.take(symbol);
        symbol
    }

    fn write_number(&mut self, root: &str, number: i64) {
        self.text.clear();
        self.text.extend_from_slice(root.as_bytes());
        self.text.push(b'.');
        self.text.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
    }
}

/// The taken names of a module.
#[derive(Clone, Debug, Default)]
pub(crate) struct UsedNames {
    pub(crate) instructions: NameSet,
    pub(crate) computations: NameSet,
}

/// Whether `name` is legal as it is, see [`sanitize`].
pub(crate) fn is_legal_name(name: &[u8]) -> bool {
    let Some((first, rest)) = name.split_first() else { return false };
    (first.is_ascii_alphabetic() || *first == b'_')
        && rest.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
        && (!name.starts_with(b"__") || name.starts_with(b"__xla_"))
        && !(may_be_type(name)
            && std::str::from_utf8(name).is_ok_and(|name| ElementType::from_name(name).is_some()))
}

/// A quick look whether `name` could be that of an element type: they are short, without dots and signs.
#[inline]
pub(crate) fn may_be_type(name: &[u8]) -> bool {
    const LONGEST: usize = "f8e4m3b11fnuz".len();
    name.len() <= LONGEST && memchr::memchr3(b'.', b'_', b'-', name).is_none()
}

/// `name` as XLA makes it legal: first character a letter or `_`, the others of `[A-Za-z0-9_.-]`, no element type's
/// name, no leading `__` but `__xla_`.
pub(crate) fn sanitize(name: &str) -> Cow<'_, str> {
    let is_legal = |index: usize, byte: u8| match index {
        0 => byte.is_ascii_alphabetic() || byte == b'_',
        _ => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'),
    };
    let mut clean = Cow::Borrowed(name);
    if !name.bytes().enumerate().all(|(index, byte)| is_legal(index, byte)) {
        let bytes = name.bytes().enumerate();
        clean =
            bytes.map(|(index, byte)| if is_legal(index, byte) { char::from(byte) } else { '_' }).collect();
    }
    if ElementType::from_name(&clean).is_some() {
        clean.to_mut().push('_');
    }
    if clean.starts_with("__") && !clean.starts_with("__xla_") {
        clean.to_mut().replace_range(..1, "a");
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
            (&["p.1", "p.1.2", "p.1.2"], &["p.1", "p.1.2", "p.1.0"]),
            (&["p.1.2", "p.1.2", "p.1"], &["p.1.2", "p.1.0", "p.1"]),
            (&["x.3", "x.3", "x"], &["x.3", "x.0", "x.1"]),
            (&["n", "n.1", "n", "n.1"], &["n", "n.1", "n.2", "n.3"]),
        ] {
            assert_eq!(unique_all(names), expected, "{names:?}");
            let mut strings = Interner::default();
            let mut symbols: Vec<Symbol> = names.iter().map(|name| strings.intern(name.as_bytes())).collect();
            NameSet::unique_in_place(&mut symbols, &mut strings);
            let unique: Vec<&str> = symbols.iter().map(|&symbol| strings.name(symbol)).collect();
            assert_eq!(unique, expected, "{names:?}");
        }
    }

    /// A copy of what has a name is called what somebody who asks for the same name gets.
    #[test]
    fn copies_are_named_as_if_asked_for() {
        for names in [
            &["p", "p", "p.1", "p.7"][..],
            &["x.3", "x.0", "x", "x.1.2"],
            &["p.007", "p.7", "p.0", "p"],
            &["q.99999999999999999999", "q.-1", "q.+2", "q.", "q.x", "_q.00"],
        ] {
            let made = |copy: fn(&mut NameSet, Symbol, &mut Interner) -> Symbol| {
                let (mut strings, mut set) = (Interner::default(), NameSet::default());
                let mut symbols: Vec<Symbol> =
                    names.iter().map(|name| set.unique(name, &mut strings)).collect();
                for round in 0..3 * names.len() {
                    symbols.push(copy(&mut set, symbols[round], &mut strings));
                }
                symbols.iter().map(|&symbol| strings.name(symbol).to_owned()).collect::<Vec<_>>()
            };
            let asked = made(|set, name, strings| {
                let text = strings.name(name).to_owned();
                set.unique(&text, strings)
            });
            assert_eq!(made(NameSet::unique_like), asked);
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
