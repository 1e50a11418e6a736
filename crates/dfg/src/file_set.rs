//! Distinct files.

use hashbrown::HashSet;
use iotrail_model::{FileId, Nullable};

/// Distinct files. Most events have one of the latest files, which costs a comparison.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileSet {
    /// All of them, unless each is at a place of its own in `latest`; then none.
    files: Files,
    /// Files that were seen last, each at the place that its lowest bits say.
    latest: [Nullable<FileId>; LATEST],
}

const LATEST: usize = 8;

/// What a file takes in a hash table, about.
const HASHED_BYTES: usize = 8;
/// Bits of so many bytes are always worth it.
const LEAST_BYTES: usize = 64;

/// Files as bits by number; those behind the end of the bits in a hash table, until more bits take no more memory than it.
#[derive(Clone, Debug, Default)]
struct Files {
    words: Vec<u64>,
    /// How many bits are set.
    set: u64,
    hashed: HashSet<FileId, foldhash::fast::RandomState>,
}

impl FileSet {
    #[inline]
    pub(crate) fn insert(&mut self, file: Nullable<FileId>) {
        let Some(known) = file.get() else { return };
        let latest = self.latest[known.index() % LATEST];
        if latest != file {
            self.add(known, latest);
        }
    }

    /// Adds a file that is not where it would be if it were one of the latest; `there` is.
    fn add(&mut self, file: FileId, there: Nullable<FileId>) {
        self.latest[file.index() % LATEST] = Nullable::some(file);
        if self.files.len() == 0 {
            if there.is_null() {
                return;
            }
            let latest = self.latest.iter().chain([&there]);
            latest.filter_map(|file| file.get()).for_each(|file| self.files.insert(file));
        }
        self.files.insert(file);
    }

    pub(crate) fn merge(&mut self, other: Self) {
        let fewer = if self.len() < other.len() { std::mem::replace(self, other) } else { other };
        fewer.latest.iter().for_each(|file| self.insert(*file));
        fewer.files.for_each(|file| self.insert(Nullable::some(file)));
    }

    pub(crate) fn len(&self) -> u64 {
        match self.files.len() {
            0 => self.latest.iter().filter(|file| !file.is_null()).count() as u64,
            all => all,
        }
    }
}

impl Files {
    fn insert(&mut self, file: FileId) {
        if file.index() / 64 < self.words.len() {
            return self.set_bit(file);
        }
        if self.hashed.len() == self.hashed.capacity() && self.move_to_bits(file) {
            return self.set_bit(file);
        }
        self.hashed.insert(file);
    }

    fn set_bit(&mut self, file: FileId) {
        let (word, bit) = (&mut self.words[file.index() / 64], 1 << (file.index() % 64));
        self.set += u64::from(*word & bit == 0);
        *word |= bit;
    }

    /// Makes bits of the hashed files and of this one, if these take no more memory than all would in a hash table.
    #[cold]
    fn move_to_bits(&mut self, file: FileId) -> bool {
        let largest = self.hashed.iter().map(|file| file.index()).fold(file.index(), usize::max);
        let words = largest / 64 + 1;
        if words * 8 > self.len() as usize * HASHED_BYTES + LEAST_BYTES {
            return false;
        }
        self.words.resize(words, 0);
        std::mem::take(&mut self.hashed).into_iter().for_each(|file| self.set_bit(file));
        true
    }

    fn len(&self) -> u64 {
        self.set + self.hashed.len() as u64
    }

    fn for_each(&self, mut visit: impl FnMut(FileId)) {
        let bits = self.words.iter().enumerate().flat_map(|(index, word)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| index * 64 + bit)
        });
        bits.map(FileId::from_index).chain(self.hashed.iter().copied()).for_each(&mut visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn of(files: &[u32]) -> FileSet {
        let mut set = FileSet::default();
        files.iter().for_each(|file| set.insert(Nullable::some(FileId(*file))));
        set
    }

    proptest! {
        #[test]
        fn counts_what_is_distinct_whatever_the_numbers(
            dense in prop::collection::vec(0_u32..300, 0..500),
            sparse in prop::collection::vec(0..u32::MAX - 1, 0..40),
            cut in any::<prop::sample::Index>(),
        ) {
            let all = [dense.clone(), sparse, dense].concat();
            let distinct = all.iter().collect::<BTreeSet<_>>().len() as u64;
            prop_assert_eq!(of(&all).len(), distinct);
            let (left, right) = all.split_at(cut.index(all.len() + 1));
            let (mut forward, mut backward) = (of(left), of(right));
            forward.merge(of(right));
            backward.merge(of(left));
            prop_assert_eq!((forward.len(), backward.len()), (distinct, distinct));
        }
    }

    #[test]
    fn bits_take_no_more_memory_than_a_hash_table() {
        let near: Vec<u32> = (0..1000).collect();
        let far: Vec<u32> = (0..1000).map(|file| file * 4_000_000).collect();
        let (of_near, of_far, of_both) = (of(&near).files, of(&far).files, of(&[near, far].concat()).files);
        assert!((of_near.set, of_near.words.len()) == (1000, of_near.words.len().min(1000 / 8)));
        assert!(of_far.hashed.len() > 990 && of_far.words.len() < 16);
        assert!(of_both.set >= 1000 && of_both.words.len() <= 5000);
    }
}
