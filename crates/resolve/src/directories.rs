//! Working directories. Threads share one, and so do processes made with CLONE_FS.

use crate::owned::Owned;
use iotrail_model::{Nullable, PathId};

/// A working directory in [`Directories`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DirectoryId(u32);

#[derive(Clone, Copy, Debug, Default)]
struct Directory {
    path: Nullable<PathId>,
    /// Whether it was changed to something that is not known, so that what is learnt later says nothing about before.
    moved: bool,
}

/// The working directories of a process tree.
#[derive(Debug, Default)]
pub(crate) struct Directories {
    directories: Owned<Directory>,
}

impl Directories {
    /// A directory that is not known yet, with one owner.
    pub(crate) fn unknown(&mut self) -> DirectoryId {
        DirectoryId(self.directories.add(Directory::default()))
    }

    /// One more owner of the same directory.
    pub(crate) fn share(&mut self, id: DirectoryId) -> DirectoryId {
        self.directories.share(id.0);
        id
    }

    /// A directory of one's own that starts out the same.
    pub(crate) fn copy(&mut self, id: DirectoryId) -> DirectoryId {
        DirectoryId(self.directories.copy(id.0))
    }

    /// One owner less.
    pub(crate) fn release(&mut self, id: DirectoryId) {
        self.directories.release(id.0);
    }

    /// The directory for an owner who wants it alone.
    pub(crate) fn unshare(&mut self, id: DirectoryId) -> DirectoryId {
        DirectoryId(self.directories.unshare(id.0))
    }

    /// Where it is.
    #[inline]
    pub(crate) fn path(&self, id: DirectoryId) -> Nullable<PathId> {
        self.directories.get(id.0).map_or(Nullable::NULL, |directory| directory.path)
    }

    /// Goes there.
    pub(crate) fn change(&mut self, id: DirectoryId, path: Nullable<PathId>) {
        if let Some(directory) = self.directories.get_mut(id.0) {
            *directory = Directory { path, moved: true };
        }
    }

    /// Learns where it is. `true` if it was there from the start.
    pub(crate) fn learn(&mut self, id: DirectoryId, path: PathId) -> bool {
        let Some(directory) = self.directories.get_mut(id.0) else { return false };
        let from_start = directory.path.is_null() && !directory.moved;
        directory.path = Nullable::some(path);
        from_start
    }

    /// The paths of all directories, to be renumbered.
    pub(crate) fn paths_mut(&mut self) -> impl Iterator<Item = &mut Nullable<PathId>> {
        self.directories.iter_mut().map(|directory| &mut directory.path)
    }
}
