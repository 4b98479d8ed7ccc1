//! What messages stand for, by their bytes.

use std::hash::BuildHasher;

use hashbrown::HashTable;

use crate::ir::HASHER;

/// A map from messages of the input to what they stand for.
pub(super) struct BytesCache<'b, V> {
    table: HashTable<(u64, u8, &'b [u8], V)>,
}

/// The place of a message in the cache: its hash, `None` if it is too large to be kept.
#[derive(Clone, Copy)]
pub(super) struct Place(Option<u64>);

impl<V> Default for BytesCache<'_, V> {
    fn default() -> Self {
        Self { table: HashTable::new() }
    }
}

/// Larger messages hardly repeat, and hashing them would take as long as reading them.
const MAX_BYTES: usize = 1 << 12;

impl<'b, V: Copy> BytesCache<'b, V> {
    /// What the message in `bytes` stands for where `kind` keeps apart what means different things; if it is not known, where [`Self::insert`] puts it.
    #[inline]
    pub(super) fn get(&self, kind: u8, bytes: &[u8]) -> Result<V, Place> {
        if bytes.len() > MAX_BYTES {
            return Err(Place(None));
        }
        let hash = HASHER.hash_one(bytes) ^ u64::from(kind).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let found = self.table.find(hash, |entry| entry.0 == hash && entry.1 == kind && entry.2 == bytes);
        found.map(|entry| entry.3).ok_or(Place(Some(hash)))
    }

    /// Notes what a message stands for that [`Self::get`] gave this place.
    #[inline]
    pub(super) fn insert(&mut self, place: Place, kind: u8, bytes: &'b [u8], value: V) {
        if let Place(Some(hash)) = place {
            self.table.insert_unique(hash, (hash, kind, bytes, value), |entry| entry.0);
        }
    }
}
