//! A dictionary under construction: byte strings to dense ids.

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// Byte strings numbered from 0 in the order they were first seen; all bytes lie in one buffer.
///
/// Looking up a known string allocates nothing. The hash is seeded per process, so that no trace can choose its
/// collisions; ids do not depend on it.
#[derive(Clone, Default)]
pub struct Interner {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    table: HashTable<u32>,
    hasher: RandomState,
}

impl std::fmt::Debug for Interner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter().map(String::from_utf8_lossy)).finish()
    }
}

impl Interner {
    /// An empty dictionary.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The id of `text`, a new one if it was not seen before.
    pub fn intern(&mut self, text: &[u8]) -> u32 {
        let hash = self.hasher.hash_one(text);
        let (bytes, ends, hasher) = (&self.bytes, &self.ends, &self.hasher);
        if let Some(&id) = self.table.find(hash, |&id| slice(bytes, ends, id) == text) {
            return id;
        }
        let id = ends.len() as u32;
        self.table.insert_unique(hash, id, |&id| hasher.hash_one(slice(bytes, ends, id)));
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
        id
    }

    /// The id of `text` if it was seen before.
    #[must_use]
    pub fn find(&self, text: &[u8]) -> Option<u32> {
        let hash = self.hasher.hash_one(text);
        self.table.find(hash, |&id| slice(&self.bytes, &self.ends, id) == text).copied()
    }

    /// The string of an id that this dictionary gave out.
    #[inline]
    #[must_use]
    pub fn get(&self, id: u32) -> &[u8] {
        slice(&self.bytes, &self.ends, id)
    }

    /// Number of distinct strings.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether nothing was interned yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All strings in the order of their ids.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.ends.len() as u32).map(|id| self.get(id))
    }

    /// Bytes of memory held, to decide when a dictionary has grown too large.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.bytes.capacity() + self.ends.capacity() * size_of::<usize>() + self.table.allocation_size()
    }
}

#[inline]
fn slice<'a>(bytes: &'a [u8], ends: &[usize], id: u32) -> &'a [u8] {
    let id = id as usize;
    let start = if id == 0 { 0 } else { ends[id - 1] };
    &bytes[start..ends[id]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_string_keeps_its_id(texts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..4), 0..80)) {
            let mut interner = Interner::new();
            let ids: Vec<u32> = texts.iter().map(|text| interner.intern(text)).collect();
            for (text, id) in texts.iter().zip(&ids) {
                prop_assert_eq!(interner.get(*id), &text[..]);
                prop_assert_eq!(interner.find(text), Some(*id));
            }
            let distinct: std::collections::BTreeSet<_> = texts.iter().collect();
            prop_assert_eq!(interner.len(), distinct.len());
        }
    }
}
