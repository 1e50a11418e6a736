//! What open descriptors are called after their file was renamed, or a directory above it.
//!
//! The path of a descriptor is the name by which the kernel knows it: that of its opening, until a rename of that very name gives it
//! another. Further names of the file do not matter, and a name that was removed stays. Renames are noted, the last ones, and
//! followed when a descriptor is used next.

use iotrail_model::{FileId, Nullable};
use std::collections::VecDeque;

/// Renames that are remembered.
const MOST: usize = 256;

/// The last renames.
#[derive(Debug, Default)]
pub(crate) struct Renamed {
    last: VecDeque<Rename>,
    /// How many there were.
    count: u64,
}

#[derive(Debug)]
struct Rename {
    old: Box<[u8]>,
    new: Box<[u8]>,
    file: Nullable<FileId>,
}

impl Renamed {
    /// A file that was called `old` is called `new`.
    pub(crate) fn note(&mut self, old: &[u8], new: &[u8], file: Nullable<FileId>) {
        if self.last.len() == MOST {
            self.last.pop_front();
        }
        self.last.push_back(Rename { old: old.into(), new: new.into(), file });
        self.count += 1;
    }

    /// How many renames there were.
    #[inline]
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Whether one of those since then is not remembered any more.
    pub(crate) fn forgot(&self, since: u64) -> bool {
        self.count - since > self.last.len() as u64
    }

    /// What a file is called by now that was called `name` then, if that is something else.
    pub(crate) fn follow(&self, since: u64, file: Nullable<FileId>, name: &[u8]) -> Option<Vec<u8>> {
        let skip = self.last.len() - (self.count - since).min(self.last.len() as u64) as usize;
        let mut by_now: Option<Vec<u8>> = None;
        for rename in self.last.iter().skip(skip) {
            let name = by_now.as_deref().unwrap_or(name);
            let Some(rest) = name.strip_prefix(&*rename.old) else { continue };
            let is_it = match rest.first() {
                None => file.is_null() || rename.file.is_null() || file == rename.file,
                Some(byte) => *byte == b'/',
            };
            if is_it {
                by_now = Some([&rename.new, rest].concat());
            }
        }
        by_now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_follows_renames_of_its_file_and_of_directories_above() {
        let mut renamed = Renamed::default();
        let file = |number| Nullable::some(FileId(number));
        renamed.note(b"/d/a", b"/d/b", file(1));
        renamed.note(b"/d", b"/e", file(9));
        renamed.note(b"/e/b", b"/e/c", file(2));
        let follow = |since, number, name: &str| {
            renamed.follow(since, file(number), name.as_bytes()).map(|name| String::from_utf8(name).unwrap())
        };
        assert_eq!(follow(0, 1, "/d/a").as_deref(), Some("/e/b"), "the last rename is of another file");
        assert_eq!(follow(0, 2, "/d/b").as_deref(), Some("/e/c"));
        assert_eq!(follow(1, 1, "/d/a").as_deref(), Some("/e/a"));
        assert_eq!((follow(0, 3, "/dd"), follow(3, 2, "/e/b")), (None, None));
        for number in 0..MOST {
            renamed.note(format!("/{number}").as_bytes(), b"/x", file(5));
        }
        assert!(renamed.forgot(2) && !renamed.forgot(3) && renamed.last.len() == MOST);
    }
}
