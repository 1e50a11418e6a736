//! What open descriptors are called after their file was renamed, or a directory above it.
//!
//! The path of a descriptor is the name by which the kernel knows it: that of its opening, until a rename of that very name gives it
//! another. Further names of the file do not matter, and a name that was removed stays. Renames are noted, the last ones, and
//! followed when a descriptor is used next.

use crate::Sink;
use crate::files::DescriptionId;
use crate::lookup::{LONG, intern};
use crate::namespace::Content;
use crate::resolver::Resolver;
use iotrail_model::{Dictionaries, FileId, Nullable, PathId};
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
    fn forgot(&self, since: u64) -> bool {
        self.count - since > self.last.len() as u64
    }

    /// What a file is called by now that was called `name` then, if that is something else.
    fn follow(&self, since: u64, file: Nullable<FileId>, name: &[u8]) -> Option<Vec<u8>> {
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

impl Resolver {
    /// Gives a description the name that its file has by now.
    #[inline]
    pub(crate) fn follow_renames(&mut self, id: DescriptionId, names: &mut Dictionaries) {
        if self.files.description(id).renamed < self.files.renamed.count() {
            self.rename_description(id, names);
        }
    }

    #[cold]
    fn rename_description(&mut self, id: DescriptionId, names: &mut Dictionaries) {
        let count = self.files.renamed.count();
        let description = self.files.description_mut(id);
        let (path, file) = (description.path, description.file);
        let since = std::mem::replace(&mut description.renamed, count);
        let Some(path) = path.get() else { return };
        let by_now = self.files.renamed.follow(since, file, names.paths.get(path.0));
        let by_now = by_now.or_else(|| {
            let file = file.get().filter(|_| self.files.renamed.forgot(since))?;
            self.is_gone(path, Nullable::some(file), names).then(|| self.namespace.path_of(file))?
        });
        if let Some(by_now) = by_now {
            let path = (by_now.len() <= LONG).then(|| intern(names, &by_now));
            self.files.description_mut(id).path = path.into();
            // A file without a name is called so, but that is none of its names.
            if let (Some(path), Some(file)) = (path, file.get())
                && !self.is_called(file, path, names)
            {
                self.lost_names.push((path, file));
            }
        }
    }
}

impl Resolver {
    /// Tells that a file has lost a name, unless it got that again: a tracer says how a descriptor was opened.
    pub(crate) fn tell_lost<S: Sink>(
        &mut self,
        path: PathId,
        file: FileId,
        names: &Dictionaries,
        sink: &mut S,
    ) {
        let walked = self.reach(Nullable::some(path), false, names);
        if walked.is_none_or(|walked| self.namespace.content(walked.node) != Content::File(file)) {
            self.tell(Nullable::some(path), Nullable::some(file), true, names, sink);
        }
    }

    /// Whether a path denotes a file, as far as is known.
    fn is_called(&mut self, file: FileId, path: PathId, names: &Dictionaries) -> bool {
        let walked = self.reach(Nullable::some(path), false, names);
        let content = walked.map(|walked| self.namespace.content(walked.node));
        content.is_none_or(|content| content == Content::File(file)) || self.namespace.forgot()
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
