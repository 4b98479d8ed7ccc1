//! What messages stand for, by their bytes.

use std::hash::BuildHasher;

use hashbrown::HashTable;

use crate::ir::HASHER;

/// A map from pieces of the input to what they stand for. `K` keeps apart messages of different types.
pub(super) struct BytesCache<'b, K, V> {
    table: HashTable<(u64, K, &'b [u8], V)>,
}

impl<K, V> Default for BytesCache<'_, K, V> {
    fn default() -> Self {
        Self { table: HashTable::new() }
    }
}

/// Larger messages hardly repeat, and hashing them would take as long as reading them.
const MAX_BYTES: usize = 1 << 12;

impl<'b, K: Copy + Eq + std::hash::Hash, V: Copy> BytesCache<'b, K, V> {
    fn hash(kind: K, bytes: &[u8]) -> u64 {
        HASHER.hash_one((kind, bytes))
    }

    /// What the message of this type in `bytes` stands for, if it is known.
    #[inline]
    pub(super) fn get(&self, kind: K, bytes: &[u8]) -> Option<V> {
        if bytes.len() > MAX_BYTES {
            return None;
        }
        let hash = Self::hash(kind, bytes);
        let found = self.table.find(hash, |entry| entry.0 == hash && entry.1 == kind && entry.2 == bytes);
        found.map(|entry| entry.3)
    }

    /// Notes what a message stands for.
    pub(super) fn insert(&mut self, kind: K, bytes: &'b [u8], value: V) {
        if bytes.len() <= MAX_BYTES {
            let hash = Self::hash(kind, bytes);
            self.table.insert_unique(hash, (hash, kind, bytes, value), |entry| entry.0);
        }
    }
}
