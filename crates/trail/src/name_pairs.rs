//! Which names the rows of a part mention, and of which files: the rows of the table `files`.

use crate::own_names::OwnDictionary;
use hashbrown::HashSet;
use iotrail_model::{FileId, Nullable, PathId};

/// No file was seen under a path yet.
const NONE: u64 = u64::MAX;

/// The distinct pairs of a path and a file. A path mostly denotes one file, so most rows cost one look into a table.
#[derive(Debug, Default)]
pub(crate) struct NamePairs {
    /// The last file of each path.
    last: Vec<u64>,
    pairs: HashSet<(u32, u32), foldhash::fast::RandomState>,
    files: Mentioned,
}

/// Numbers of files that rows mention, a bit for each: a resolver counts from 0.
#[derive(Debug, Default)]
pub(crate) struct Mentioned(Vec<u64>);

impl Mentioned {
    fn insert(&mut self, file: FileId) {
        let (word, bit) = (file.index() / 64, file.index() % 64);
        if self.0.len() <= word {
            self.0.resize((word + 1).next_power_of_two(), 0);
        }
        self.0[word] |= 1 << bit;
    }

    pub(crate) fn has(&self, file: FileId) -> bool {
        self.0.get(file.index() / 64).is_some_and(|word| word & (1 << (file.index() % 64)) != 0)
    }
}

impl NamePairs {
    #[inline]
    pub(crate) fn note(&mut self, path: Nullable<PathId>, file: Nullable<FileId>) {
        let Some(path) = path.get() else { return };
        if self.last.get(path.index()) != Some(&u64::from(file.raw().0)) {
            self.learn(path, file);
        }
    }

    #[cold]
    fn learn(&mut self, path: PathId, file: Nullable<FileId>) {
        if self.last.len() <= path.index() {
            self.last.resize((path.index() + 1).next_power_of_two(), NONE);
        }
        self.last[path.index()] = u64::from(file.raw().0);
        self.pairs.insert((path.0, file.raw().0));
        file.get().into_iter().for_each(|file| self.files.insert(file));
    }

    /// Forgets the pairs, which were written.
    pub(crate) fn clear(&mut self) {
        *self = Self { files: std::mem::take(&mut self.files), ..Self::default() };
    }

    /// The files of all rows.
    pub(crate) fn into_files(self) -> Mentioned {
        self.files
    }

    /// Bytes of memory held.
    pub(crate) fn memory(&self) -> usize {
        self.last.capacity() * size_of::<u64>() + self.pairs.capacity() * (size_of::<(u32, u32)>() + 1)
    }

    /// The pairs in the form in which they are sorted, of the paths in `texts`.
    pub(crate) fn keys(&self, texts: &OwnDictionary) -> Vec<Vec<u8>> {
        let key = |(path, file): &(u32, u32)| key(texts.text(*path), Nullable::some(FileId(*file)));
        self.pairs.iter().map(key).collect()
    }
}

/// A text that sorts by path, then by file; without a file last.
pub(crate) fn key(path: &[u8], file: Nullable<FileId>) -> Vec<u8> {
    [path, &[0], &file.raw().0.to_be_bytes()].concat()
}

/// The path and the file of a key.
pub(crate) fn of_key(key: &[u8]) -> (&[u8], Nullable<FileId>) {
    let (rest, number) = key.split_last_chunk::<4>().unwrap_or((key, &[u8::MAX; 4]));
    (rest.strip_suffix(&[0]).unwrap_or(rest), Nullable::some(FileId(u32::from_be_bytes(*number))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_remembered_longer_than_their_names() {
        let mut pairs = NamePairs::default();
        pairs.note(Nullable::some(PathId(0)), Nullable::some(FileId(70)));
        pairs.note(Nullable::some(PathId(1)), Nullable::NULL);
        pairs.clear();
        assert!(pairs.pairs.is_empty());
        let files = pairs.into_files();
        assert_eq!(
            [0, 69, 70, 71, 500].map(|file| files.has(FileId(file))),
            [false, false, true, false, false]
        );
    }

    #[test]
    fn pairs_sort_by_path_then_file_and_come_back() {
        let pair = |path: &'static str, file: Option<u32>| (path.as_bytes(), file.map(FileId).into());
        let sorted = [pair("/a", Some(1)), pair("/a", Some(300)), pair("/a", None), pair("/a/b", Some(0))];
        let keys: Vec<Vec<u8>> = sorted.iter().map(|(path, file)| key(path, *file)).collect();
        assert!(keys.is_sorted());
        assert_eq!(keys.iter().map(|key| of_key(key)).collect::<Vec<_>>(), sorted);
    }
}
