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

/// Files as a hash table, or as bits by number as soon as these take no more memory.
#[derive(Clone, Debug)]
enum Files {
    Hashed(HashSet<FileId, foldhash::fast::RandomState>),
    Bits { words: Vec<u64>, count: u64 },
}

impl Default for Files {
    fn default() -> Self {
        Self::Hashed(HashSet::default())
    }
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
        match self {
            Self::Bits { words, count } => insert_bit(words, count, file),
            Self::Hashed(files) => {
                if files.len() == files.capacity() {
                    self.grow(file);
                    return self.insert(file);
                }
                files.insert(file);
            }
        }
    }

    /// Makes room for another file.
    #[cold]
    fn grow(&mut self, file: FileId) {
        let Self::Hashed(files) = self else { return };
        let largest = files.iter().map(|file| file.index()).max().unwrap_or_default().max(file.index());
        let hashed = files.capacity() * (size_of::<FileId>() + 1);
        if largest / 8 > 2 * hashed {
            files.reserve(1);
            return;
        }
        let (mut words, mut count) = (vec![0; largest / 64 + 1], 0);
        files.iter().for_each(|file| insert_bit(&mut words, &mut count, *file));
        *self = Self::Bits { words, count };
    }

    fn len(&self) -> u64 {
        match self {
            Self::Hashed(files) => files.len() as u64,
            Self::Bits { count, .. } => *count,
        }
    }

    fn for_each(&self, mut visit: impl FnMut(FileId)) {
        match self {
            Self::Hashed(files) => files.iter().for_each(|file| visit(*file)),
            Self::Bits { words, .. } => {
                let bits = words.iter().enumerate().flat_map(|(place, word)| {
                    (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| place * 64 + bit)
                });
                bits.for_each(|file| visit(FileId::from_index(file)));
            }
        }
    }
}

fn insert_bit(words: &mut Vec<u64>, count: &mut u64, file: FileId) {
    let (place, bit) = (file.index() / 64, file.index() % 64);
    if place >= words.len() {
        words.resize(place + 1, 0);
    }
    *count += u64::from(words[place] >> bit & 1 == 0);
    words[place] |= 1 << bit;
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
    fn files_that_are_far_apart_take_no_bits_between_them() {
        let far: Vec<u32> = (0..1000).map(|file| file * 4_000_000).collect();
        assert!(matches!(of(&far).files, Files::Hashed(_)));
        let near: Vec<u32> = (0..1000).collect();
        let Files::Bits { words, count } = of(&near).files else { panic!("still hashed") };
        assert_eq!((words.len() * 64 >= 1000, words.len() <= 32, count), (true, true, 1000));
    }
}
