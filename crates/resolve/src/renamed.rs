//! What open descriptors are called after their file was renamed, or a directory above it.
//!
//! The path of a descriptor is the name by which the kernel knows it: that of its opening, until a rename of that very name gives it
//! another. Further names of the file do not matter. A name that was removed lies in its directory still, wherever that is moved: also
//! if the file gets the name a second time, and is renamed then. The same holds for a directory above that was removed. Renames and
//! removals of directories are noted, the last ones, and followed when a descriptor is used next.

use iotrail_model::{FileId, Nullable};
use std::collections::VecDeque;

/// Renames and removals that are remembered.
const MOST: usize = 256;

/// The last renames, and removals of directories.
#[derive(Debug, Default)]
pub(crate) struct Renamed {
    last: VecDeque<Rename>,
    /// How many there were.
    count: u64,
}

#[derive(Debug)]
struct Rename {
    old: Box<[u8]>,
    /// Nothing if it was removed.
    new: Option<Box<[u8]>>,
    file: Nullable<FileId>,
}

/// What became of a name.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Followed {
    /// What the file is called by now, if that is something else.
    pub(crate) name: Option<Vec<u8>>,
    /// How many of the last parts of the name were removed, so that later renames of such names do not matter.
    pub(crate) removed: u16,
}

impl Renamed {
    /// A file got one more name.
    pub(crate) fn note_link(&mut self, name: &[u8], file: FileId) {
        self.push(Rename { old: name.into(), new: Some(name.into()), file: Nullable::some(file) });
    }

    /// A file that was called `old` is called `new`.
    pub(crate) fn note(&mut self, old: &[u8], new: &[u8], file: Nullable<FileId>) {
        self.push(Rename { old: old.into(), new: Some(new.into()), file });
    }

    /// A directory that was called `name` is removed.
    pub(crate) fn note_removal(&mut self, name: &[u8], directory: Nullable<FileId>) {
        self.push(Rename { old: name.into(), new: None, file: directory });
    }

    fn push(&mut self, rename: Rename) {
        if self.last.len() == MOST {
            self.last.pop_front();
        }
        self.last.push_back(rename);
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
        (name, mut removed): (&[u8], u16),
    ) -> Followed {
        let skip = self.last.len() - (self.count - since).min(self.last.len() as u64) as usize;
        let mut by_now: Option<Vec<u8>> = None;
        for rename in self.last.iter().skip(skip) {
            let name = by_now.as_deref().unwrap_or(name);
            // Who gets a name that it has must have lost it.
            if rename.new.as_deref() == Some(name) && !file.is_null() && file == rename.file {
                removed = removed.max(1);
            }
            let Some(rest) = name.strip_prefix(&*rename.old) else { continue };
            let is_it = match rest.first() {
                None => file.is_null() || rename.file.is_null() || file == rename.file,
                Some(byte) => *byte == b'/',
            };
            let below = rest.iter().filter(|byte| **byte == b'/').count().min(u16::MAX.into()) as u16;
            match &rename.new {
                _ if !is_it || below < removed => {}
                Some(new) => by_now = Some([new, rest].concat()),
                None => removed = below.saturating_add(1),
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
            let followed = renamed.follow(since, file(number), (name.as_bytes(), 0));
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
        assert_eq!(linked.follow(0, file(1), (b"/a/q", 0)), Followed { name: None, removed: 1 });
        assert_eq!(
            linked.follow(1, file(1), (b"/a/q", 0)).name.as_deref(),
            Some(&b"/a/r"[..]),
            "it was opened since"
        );
        assert_eq!(linked.follow(0, file(1), (b"/a/p", 0)), Followed::default());

        linked.note(b"/a", b"/d", file(2));
        let followed = Followed { name: Some(b"/d/q".to_vec()), removed: 1 };
        assert_eq!(linked.follow(0, file(1), (b"/a/q", 0)), followed);
        assert_eq!(linked.follow(1, file(1), (b"/a/q", 1)), followed);

        let mut moved = Renamed::default();
        moved.note(b"/o", b"/q", file(1));
        moved.note(b"/p", b"/q", file(1));
        moved.note(b"/q", b"/r", file(1));
        let followed = Followed { name: Some(b"/q".to_vec()), removed: 1 };
        assert_eq!(moved.follow(0, file(1), (b"/o", 0)), followed);
        assert_eq!(moved.follow(0, file(1), (b"/p", 0)), Followed { name: Some(b"/r".to_vec()), removed: 0 });
    }

    #[test]
    fn a_name_in_a_directory_that_was_removed_stays_there_when_the_directory_is_made_again() {
        let mut renamed = Renamed::default();
        renamed.note_removal(b"/a/s/t", Nullable::some(FileId(3)));
        renamed.note_removal(b"/a/s", Nullable::some(FileId(2)));
        renamed.note(b"/a/s", b"/a/new", Nullable::some(FileId(4)));
        renamed.note(b"/a/s/t", b"/a/new", Nullable::some(FileId(5)));
        let follow =
            |renamed: &Renamed, since| renamed.follow(since, Nullable::some(FileId(1)), (b"/a/s/t/f", 0));
        assert_eq!(follow(&renamed, 0), Followed { name: None, removed: 3 });
        assert_eq!(follow(&renamed, 2).name.as_deref(), Some(&b"/a/new/t/f"[..]), "it was opened since");
        renamed.note(b"/a", b"/b", Nullable::some(FileId(6)));
        let followed = Followed { name: Some(b"/b/s/t/f".to_vec()), removed: 3 };
        assert_eq!(follow(&renamed, 0), followed);
    }
}
