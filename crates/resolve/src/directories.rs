//! Working directories, and root directories. Threads share one of each, and so do processes made with CLONE_FS.

use crate::mounts::MountSpace;
use crate::owned::Owned;
use iotrail_model::{FileId, Nullable, PathId};

/// A working directory in [`Directories`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DirectoryId(u32);

/// A working directory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Directory {
    /// Its path, seen from where the trace began if it is `relative`.
    pub(crate) path: Nullable<PathId>,
    pub(crate) relative: bool,
    /// The directory itself, which keeps its number when it is renamed.
    pub(crate) file: Nullable<FileId>,
    /// Whether it was changed, so that what is learnt later says nothing about before.
    pub(crate) moved: bool,
    /// The root directory of those who work there, if it was changed and is known.
    pub(crate) root: Nullable<PathId>,
    /// The mount namespace of those who work there: it is shared only with the directory.
    pub(crate) mounts: MountSpace,
}

/// The working directories of a process tree.
#[derive(Debug, Default)]
pub(crate) struct Directories {
    directories: Owned<Directory>,
    /// Whether anybody was given another root directory.
    rooted: bool,
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

    /// What is known of it.
    #[inline]
    pub(crate) fn get(&self, id: DirectoryId) -> Directory {
        self.directories.get(id.0).copied().unwrap_or_default()
    }

    /// Its absolute path.
    pub(crate) fn path(&self, id: DirectoryId) -> Nullable<PathId> {
        let directory = self.get(id);
        if directory.relative { Nullable::NULL } else { directory.path }
    }

    /// Goes there.
    pub(crate) fn change(&mut self, id: DirectoryId, to: Directory) {
        if let Some(directory) = self.directories.get_mut(id.0) {
            *directory = Directory { moved: true, root: directory.root, mounts: directory.mounts, ..to };
        }
    }

    /// Its owners have another root directory from now on; unknown if it is NULL.
    pub(crate) fn set_root(&mut self, id: DirectoryId, root: Nullable<PathId>) {
        self.rooted |= !root.is_null();
        if let Some(directory) = self.directories.get_mut(id.0) {
            directory.root = root;
        }
    }

    /// Whether anybody was given another root directory.
    pub(crate) const fn are_rooted(&self) -> bool {
        self.rooted
    }

    /// Its owners see other mounts from now on.
    pub(crate) fn set_mounts(&mut self, id: DirectoryId, mounts: MountSpace) {
        if let Some(directory) = self.directories.get_mut(id.0) {
            directory.mounts = mounts;
        }
    }

    /// Learns where it is. `true` if it was there from the start.
    pub(crate) fn learn(&mut self, id: DirectoryId, path: PathId, file: Nullable<FileId>) -> bool {
        let Some(directory) = self.directories.get_mut(id.0) else { return false };
        let from_start = directory.path.is_null() && !directory.moved;
        *directory = Directory { path: Nullable::some(path), relative: false, file, ..*directory };
        from_start
    }

    /// What nothing is known of is where another one is.
    pub(crate) fn inherit(&mut self, id: DirectoryId, from: DirectoryId) {
        let known = self.get(from);
        if let Some(directory) = self.directories.get_mut(id.0).filter(|directory| directory.path.is_null()) {
            *directory = Directory { moved: directory.moved, ..known };
        }
    }

    /// The paths of all directories, to be renumbered.
    pub(crate) fn paths_mut(&mut self) -> impl Iterator<Item = &mut Nullable<PathId>> {
        self.directories.iter_mut().flat_map(|directory| [&mut directory.path, &mut directory.root])
    }
}
