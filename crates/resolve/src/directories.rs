//! Working directories. Threads share one, and so do processes made with CLONE_FS.

use iotrail_model::{Nullable, PathId};

/// A working directory in [`Directories`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DirectoryId(u32);

#[derive(Clone, Copy, Debug, Default)]
struct Owned {
    path: Nullable<PathId>,
    /// Whether it was changed to something that is not known, so that what is learnt later says nothing about before.
    moved: bool,
    owners: u32,
}

/// The working directories of a process tree.
#[derive(Debug, Default)]
pub(crate) struct Directories {
    directories: Vec<Owned>,
    free: Vec<u32>,
}

impl Directories {
    /// A directory that is not known yet, with one owner.
    pub(crate) fn unknown(&mut self) -> DirectoryId {
        self.add(Owned { owners: 1, ..Owned::default() })
    }

    fn add(&mut self, owned: Owned) -> DirectoryId {
        match self.free.pop() {
            Some(id) => {
                self.directories[id as usize] = owned;
                DirectoryId(id)
            }
            None => {
                self.directories.push(owned);
                DirectoryId((self.directories.len() - 1) as u32)
            }
        }
    }

    /// One more owner of the same directory.
    pub(crate) fn share(&mut self, id: DirectoryId) -> DirectoryId {
        self.directories[id.0 as usize].owners += 1;
        id
    }

    /// A directory of one's own that starts out the same.
    pub(crate) fn copy(&mut self, id: DirectoryId) -> DirectoryId {
        self.add(Owned { owners: 1, ..self.directories[id.0 as usize] })
    }

    /// One owner less.
    pub(crate) fn release(&mut self, id: DirectoryId) {
        let owned = &mut self.directories[id.0 as usize];
        owned.owners -= 1;
        if owned.owners == 0 {
            owned.path = Nullable::NULL;
            self.free.push(id.0);
        }
    }

    /// The directory for an owner who wants it alone.
    pub(crate) fn unshare(&mut self, id: DirectoryId) -> DirectoryId {
        if self.directories[id.0 as usize].owners == 1 {
            return id;
        }
        let copy = self.copy(id);
        self.release(id);
        copy
    }

    /// Where it is.
    #[inline]
    pub(crate) fn path(&self, id: DirectoryId) -> Nullable<PathId> {
        self.directories[id.0 as usize].path
    }

    /// Goes there.
    pub(crate) fn change(&mut self, id: DirectoryId, path: Nullable<PathId>) {
        let owned = &mut self.directories[id.0 as usize];
        owned.moved = true;
        owned.path = path;
    }

    /// Learns where it is. `true` if it was there from the start.
    pub(crate) fn learn(&mut self, id: DirectoryId, path: PathId) -> bool {
        let owned = &mut self.directories[id.0 as usize];
        let from_start = owned.path.is_null() && !owned.moved;
        owned.path = Nullable::some(path);
        from_start
    }

    /// The paths of all directories, to be renumbered.
    pub(crate) fn paths_mut(&mut self) -> impl Iterator<Item = &mut Nullable<PathId>> {
        self.directories.iter_mut().map(|owned| &mut owned.path)
    }
}
