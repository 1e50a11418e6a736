//! What open descriptors are called after their file was renamed, or a directory above it.
//!
//! The path of a descriptor is the name by which the kernel knows it: that of its opening, until a rename of that very name gives it
//! another. Further names of the file do not matter. A name that was removed lies in its directory still, wherever that is moved: also
//! if the file gets the name a second time, and is renamed then. Renames are noted, the last ones, and followed when a descriptor is
//! used next.

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

/// What became of a name.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Followed {
    /// What the file is called by now, if that is something else.
    pub(crate) name: Option<Vec<u8>>,
    /// Whether the name was removed, so that later renames of that name do not matter.
    pub(crate) removed: bool,
}

impl Renamed {
    /// A file got one more name.
    pub(crate) fn note_link(&mut self, name: &[u8], file: FileId) {
        self.note(name, name, Nullable::some(file));
    }

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

    /// What became of a file that was called `name` then, which `removed` tells to have been removed.
    pub(crate) fn follow(
        &self,
        since: u64,
        file: Nullable<FileId>,
        (name, mut removed): (&[u8], bool),
    ) -> Followed {
        let skip = self.last.len() - (self.count - since).min(self.last.len() as u64) as usize;
        let mut by_now: Option<Vec<u8>> = None;
        for rename in self.last.iter().skip(skip) {
            let name = by_now.as_deref().unwrap_or(name);
            // Who gets a name that it has must have lost it.
            if name == &*rename.new && !file.is_null() && file == rename.file {
                removed = true;
            }
            let Some(rest) = name.strip_prefix(&*rename.old) else { continue };
            let is_it = match rest.first() {
                None => !removed && (file.is_null() || rename.file.is_null() || file == rename.file),
                Some(byte) => *byte == b'/',
            };
            if is_it {
                by_now = Some([&rename.new, rest].concat());
            }
        }
        Followed { name: by_now, removed }
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
            let followed = renamed.follow(since, file(number), (name.as_bytes(), false));
            followed.name.map(|name| String::from_utf8(name).unwrap())
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

    #[test]
    fn a_name_that_was_removed_stays_in_its_directory_when_its_file_gets_it_again() {
        let file = |number| Nullable::some(FileId(number));
        let mut linked = Renamed::default();
        linked.note_link(b"/a/q", FileId(1));
        linked.note(b"/a/q", b"/a/r", file(1));
        assert_eq!(linked.follow(0, file(1), (b"/a/q", false)), Followed { name: None, removed: true });
        assert_eq!(
            linked.follow(1, file(1), (b"/a/q", false)).name.as_deref(),
            Some(&b"/a/r"[..]),
            "it was opened since"
        );
        assert_eq!(linked.follow(0, file(1), (b"/a/p", false)), Followed::default());

        linked.note(b"/a", b"/d", file(2));
        let followed = Followed { name: Some(b"/d/q".to_vec()), removed: true };
        assert_eq!(linked.follow(0, file(1), (b"/a/q", false)), followed);
        assert_eq!(linked.follow(1, file(1), (b"/a/q", true)), followed);

        let mut moved = Renamed::default();
        moved.note(b"/o", b"/q", file(1));
        moved.note(b"/p", b"/q", file(1));
        moved.note(b"/q", b"/r", file(1));
        let followed = Followed { name: Some(b"/q".to_vec()), removed: true };
        assert_eq!(moved.follow(0, file(1), (b"/o", false)), followed);
        assert_eq!(
            moved.follow(0, file(1), (b"/p", false)),
            Followed { name: Some(b"/r".to_vec()), removed: false }
        );
    }
}
