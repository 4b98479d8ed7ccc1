//! Values by their text: real modules repeat the same shapes, shardings, windows and dimension lists thousands of
//! times, so each distinct text is typed once.

use std::hash::BuildHasher;

use hashbrown::HashTable;

use crate::ir::HASHER;

/// A map from pieces of one source text to what they stand for. `K` keeps apart texts that mean different things
/// in different places.
pub(crate) struct TextCache<K, V> {
    table: HashTable<Entry<K, V>>,
}

struct Entry<K, V> {
    hash: u64,
    start: u32,
    len: u32,
    kind: K,
    value: V,
}

impl<K: Copy + Eq, V: Copy> TextCache<K, V> {
    pub(crate) fn new() -> Self {
        Self { table: HashTable::new() }
    }

    /// What `text`, a piece of `source`, stands for.
    #[inline]
    pub(crate) fn get(&self, source: &[u8], hash: u64, kind: K, text: &[u8]) -> Option<V> {
        let found = self.table.find(hash, |entry| {
            entry.hash == hash
                && entry.kind == kind
                && entry.len as usize == text.len()
                && &source[entry.start as usize..][..text.len()] == text
        });
        found.map(|entry| entry.value)
    }

    /// Notes what the `len` bytes at `start` stand for.
    pub(crate) fn insert(&mut self, hash: u64, kind: K, start: usize, len: usize, value: V) {
        let entry = Entry { hash, start: start as u32, len: len as u32, kind, value };
        self.table.insert_unique(hash, entry, |entry| entry.hash);
    }
}

/// The hash of a text and its kind, for [`TextCache::get`] and [`TextCache::insert`].
#[inline]
pub(crate) fn text_hash(kind: impl Into<u64>, text: &[u8]) -> u64 {
    HASHER.hash_one(text) ^ kind.into().wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Length of the `{...}` at the start of `bytes`. Gives up on what the fast scan doesn't know (comments, single
/// quotes, an unclosed brace): the token path then decides.
#[inline]
pub(crate) fn braces_length(bytes: &[u8]) -> Option<usize> {
    let mut depth = 0usize;
    let mut at = 0;
    loop {
        match *bytes.get(at)? {
            b'{' => depth += 1,
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            b'"' => {
                at += 1;
                loop {
                    at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
                    if bytes[at] == b'"' {
                        break;
                    }
                    at += 2;
                }
            }
            b'\'' | b'/' => return None,
            _ => {}
        }
        at += 1;
    }
}

/// Length of the shape at the start of `bytes`, which begins with an element type or `(`. Gives up on comments
/// inside arrays, on blanks before a layout, and on what is no shape.
#[inline]
pub(crate) fn shape_length(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    let mut depth = 0usize;
    loop {
        match *bytes.get(at)? {
            b'(' => {
                depth += 1;
                at += 1;
            }
            b')' => {
                depth = depth.checked_sub(1)?;
                at += 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            b',' | b' ' | b'\n' | b'\r' | b'\t' if depth > 0 => at += 1,
            // `/*index=5*/`
            b'/' if depth > 0 && bytes.get(at + 1) == Some(&b'*') => {
                at += 2 + memchr::memmem::find(&bytes[at + 2..], b"*/")? + 2;
            }
            b'a'..=b'z' => {
                at += array_length(&bytes[at..])?;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => return None,
        }
    }
}

/// Length of `f32[2,3]{1,0:T(8,128)}` at the start of `bytes`.
#[inline]
fn array_length(bytes: &[u8]) -> Option<usize> {
    let open = bytes.iter().take(16).position(|&byte| byte == b'[')?;
    let mut at = open + 1;
    loop {
        match *bytes.get(at)? {
            b']' => break,
            b'0'..=b'9' | b',' | b'<' | b'=' | b'?' => at += 1,
            _ => return None,
        }
    }
    at += 1;
    match bytes.get(at) {
        Some(b'{') => match bytes.get(at + 1) {
            // `f32[]{}` has no layout, and a blank may hide one.
            Some(b'0'..=b'9' | b':') => {}
            _ => return None,
        },
        // A layout may follow behind blanks or a comment.
        Some(b' ' | b'\t' | b'\n' | b'\r') => {
            let next = bytes[at..].iter().position(|byte| !byte.is_ascii_whitespace());
            return match next.map(|next| &bytes[at + next..]) {
                // A body, unless the first thing in the braces is an entry of a layout.
                Some([b'{', inner @ ..]) => {
                    let first = inner.iter().find(|byte| !byte.is_ascii_whitespace());
                    (!matches!(first, Some(b'0'..=b'9' | b':' | b'-' | b'/'))).then_some(at)
                }
                Some([b'/', ..]) => None,
                _ => Some(at),
            };
        }
        Some(b'/') => return None,
        _ => return Some(at),
    }
    loop {
        at += 1;
        match *bytes.get(at)? {
            b'}' => return Some(at + 1),
            b'/' | b'{' | b'"' | b'\'' => return None,
            _ => {}
        }
    }
}
