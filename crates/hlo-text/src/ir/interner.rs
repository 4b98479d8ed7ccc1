//! Byte strings and values held once per module and named by a small id.

use std::hash::{BuildHasher, Hash};

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use super::ids::Symbol;

/// The hasher of every table of a module: fast, and the same in every run (output never depends on a seed).
pub(crate) const HASHER: FixedState = FixedState::with_seed(0x9e37_79b9_7f4a_7c15);

/// All byte strings of a module, each stored once, in one allocation.
///
/// Quoted strings of HLO text may hold any byte (`"\377"`), so the entries are bytes; names are always
/// ASCII and have [`Interner::name`].
#[derive(Clone, Default)]
pub struct Interner {
    bytes: Vec<u8>,
    ends: Vec<u32>,
    table: HashTable<Symbol>,
    /// The last symbol asked for of each value of the hash's middle bits; empty for tables that fit the processor's
    /// caches. Operands are mostly defined a few lines above, so this spares a large table's cache misses.
    recent: Vec<Symbol>,
}

/// How many strings a table has to be made for to keep its recent symbols apart.
const LARGE: usize = 1 << 15;

/// How many recent symbols a large table keeps: a power of two, enough for the names and metadata of a body of ten
/// thousand lines, few enough to stay in the processor's second cache.
const RECENT: usize = 1 << 16;

impl Interner {
    /// An empty interner with room for about `strings` strings of `bytes` bytes in total.
    pub fn with_capacity(strings: usize, bytes: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(bytes),
            ends: Vec::with_capacity(strings),
            table: HashTable::with_capacity(strings),
            recent: if strings < LARGE { Vec::new() } else { vec![Symbol::from_index(0); RECENT] },
        }
    }

    fn get_in<'a>(bytes: &'a [u8], ends: &[u32], symbol: Symbol) -> &'a [u8] {
        let index = symbol.index();
        let start = if index == 0 { 0 } else { ends[index - 1] as usize };
        &bytes[start..ends[index] as usize]
    }

    /// The symbol of `text`, which is added if it is new.
    ///
    /// # Panics
    /// If all strings together exceed 4 GiB; the parser's input size limit is far below.
    #[inline]
    pub fn intern(&mut self, text: &[u8]) -> Symbol {
        let Self { bytes, ends, table, recent } = self;
        let hash = HASHER.hash_one(text);
        // The low bits and the highest seven choose the table's slot; these are others.
        let place = (hash >> 32) as usize % RECENT;
        if let Some(&symbol) = recent.get(place)
            && symbol.index() < ends.len()
            && Self::get_in(bytes, ends, symbol) == text
        {
            return symbol;
        }
        let entry = table.entry(
            hash,
            |&symbol| Self::get_in(bytes, ends, symbol) == text,
            |&symbol| HASHER.hash_one(Self::get_in(bytes, ends, symbol)),
        );
        let symbol = match entry {
            hashbrown::hash_table::Entry::Occupied(found) => *found.get(),
            hashbrown::hash_table::Entry::Vacant(slot) => {
                let symbol = Symbol::from_index(ends.len());
                slot.insert(symbol);
                bytes.extend_from_slice(text);
                ends.push(u32::try_from(bytes.len()).expect("interned strings exceed 4 GiB"));
                symbol
            }
        };
        if let Some(last) = recent.get_mut(place) {
            *last = symbol;
        }
        symbol
    }

    /// The symbol of `text` if it has one.
    pub fn lookup(&self, text: &[u8]) -> Option<Symbol> {
        let hash = HASHER.hash_one(text);
        self.table.find(hash, |&symbol| self.get(symbol) == text).copied()
    }

    /// The bytes of all strings, and where in them those of `symbol` are.
    #[inline]
    pub(crate) fn range(&self, symbol: Symbol) -> (&[u8], usize, usize) {
        let index = symbol.index();
        let start = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        (&self.bytes, start, self.ends[index] as usize)
    }

    /// The bytes of `symbol`.
    #[inline]
    pub fn get(&self, symbol: Symbol) -> &[u8] {
        Self::get_in(&self.bytes, &self.ends, symbol)
    }

    /// The text of a symbol that is a name; names are ASCII by the lexer's rules. Other byte strings that
    /// are not UTF-8 give an empty text.
    #[inline]
    pub fn name(&self, symbol: Symbol) -> &str {
        std::str::from_utf8(self.get(symbol)).unwrap_or("")
    }

    /// Length of all strings together.
    pub(crate) fn byte_count(&self) -> usize {
        self.bytes.len()
    }

    /// Number of distinct strings.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether nothing has been interned.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

impl std::fmt::Debug for Interner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Interner")
            .field("strings", &self.ends.len())
            .field("bytes", &self.bytes.len())
            .finish()
    }
}

/// Hash-consed values of one type; the index of a value never changes.
#[derive(Clone, Debug)]
pub(crate) struct Pool<T> {
    items: Vec<T>,
    table: HashTable<u32>,
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self { items: Vec::new(), table: HashTable::new() }
    }
}

impl<T: Hash + Eq> Pool<T> {
    /// The index of `item`, which is added if no equal one is there.
    pub(crate) fn intern(&mut self, item: T) -> usize {
        let hash = HASHER.hash_one(&item);
        let items = &self.items;
        if let Some(&found) = self.table.find(hash, |&index| items[index as usize] == item) {
            return found as usize;
        }
        let index = u32::try_from(self.items.len()).expect("pool of more than u32::MAX entries");
        self.items.push(item);
        let items = &self.items;
        self.table.insert_unique(hash, index, |&index| HASHER.hash_one(&items[index as usize]));
        index as usize
    }

    /// The value at `index`.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> &T {
        &self.items[index]
    }

    /// Number of values.
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables that keep recent symbols apart number strings as those that don't, new ones and old ones, near and far.
    #[test]
    fn recent_symbols_change_nothing() {
        let (mut small, mut large) = (Interner::default(), Interner::with_capacity(LARGE, 0));
        assert!(small.recent.is_empty() && !large.recent.is_empty());
        for step in 0..3 * RECENT as u64 {
            let far = step.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 46;
            for number in [step, step / 2, far] {
                let text = number.to_string();
                assert_eq!(small.intern(text.as_bytes()), large.intern(text.as_bytes()), "{text}");
            }
        }
        assert_eq!(small.len(), large.len());
        assert_eq!(large.get(large.lookup(b"77").unwrap()), b"77");
    }
}
