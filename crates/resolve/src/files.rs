//! Descriptor tables and open file descriptions.
//!
//! A descriptor is a number in a table; tables are shared by threads (and CLONE_FILES) and copied at fork. What a
//! descriptor stands for, its open file description, carries name and cursor and is shared by every copy (`man 2 open`).
//! Tables are dense vectors behind shared pointers, copied when the first of two owners changes one. Descriptions lie in
//! one arena; those that no table names any more are found by marking, so that close costs nothing.

use crate::kin::{Kin, UnseenMoves};
use crate::owned::Owned;
use crate::sockets::Protocol;
use hashbrown::HashMap;
use iotrail_model::{FileId, Nullable, PathId, Tid, Timestamp};
use std::sync::Arc;

/// Numbers from here on lie in a hash map, so that one hostile number does not cost gigabytes.
const DENSE: usize = 4096;

/// An open file description in [`Files`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DescriptionId(u32);

/// A descriptor table in [`Files`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TableId(u32);

/// What a descriptor stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Description {
    /// Path or name.
    pub(crate) path: Nullable<PathId>,
    /// The file, if it has a number yet.
    pub(crate) file: Nullable<FileId>,
    /// Position of the next read or write.
    pub(crate) cursor: Nullable<i64>,
    /// Whether writes go to the end of the file.
    pub(crate) append: bool,
    /// Whether there are positions at all.
    pub(crate) seekable: bool,
    /// Whether the opening was seen. What was not may be shared with unknown others.
    pub(crate) opened: bool,
    /// Whether the path is what the tracer printed, not what the letters of an argument say.
    pub(crate) confirmed: bool,
    /// Number of calls in flight that move the cursor.
    pub(crate) in_flight: u32,
    /// Which thread moved the cursor last, and when it was done.
    pub(crate) moved: Option<(Tid, Timestamp)>,
    /// For unseen openings: [`Files::epoch`] when the cursor was last known.
    pub(crate) epoch: u64,
    /// With which other unseen openings it may be one.
    pub(crate) kin: Kin,
    /// Of a socket.
    pub(crate) protocol: Protocol,
}

impl Description {
    /// A file or directory just opened.
    pub(crate) fn opened(path: Nullable<PathId>, seekable: bool, append: bool) -> Self {
        let cursor = if seekable { Nullable::some(0) } else { Nullable::NULL };
        Self { cursor, append, seekable, opened: true, ..Self::unseen(path) }
    }

    /// Something that was open before the trace began or whose opening is not in it.
    pub(crate) fn unseen(path: Nullable<PathId>) -> Self {
        Self {
            path,
            file: Nullable::NULL,
            cursor: Nullable::NULL,
            append: false,
            seekable: true,
            opened: false,
            confirmed: false,
            in_flight: 0,
            moved: None,
            epoch: 0,
            kin: Kin::ANYBODY,
            protocol: Protocol::Unknown,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    description: u32,
    cloexec: bool,
}

const EMPTY: Slot = Slot { description: u32::MAX, cloexec: false };

#[derive(Clone, Debug, Default)]
struct Table {
    dense: Vec<Slot>,
    sparse: HashMap<i32, Slot, foldhash::fast::FixedState>,
}

impl Table {
    #[inline]
    fn get(&self, fd: i32) -> Option<Slot> {
        let slot = match self.dense.get(fd as usize) {
            Some(slot) => *slot,
            None if self.sparse.is_empty() => EMPTY,
            None => self.sparse.get(&fd).copied().unwrap_or(EMPTY),
        };
        (slot.description != u32::MAX).then_some(slot)
    }

    fn set(&mut self, fd: i32, slot: Slot) {
        match usize::try_from(fd) {
            Ok(index) if index < DENSE => {
                if index >= self.dense.len() {
                    self.dense.resize(index + 1, EMPTY);
                }
                self.dense[index] = slot;
            }
            Ok(_) if slot.description == u32::MAX => {
                self.sparse.remove(&fd);
            }
            Ok(_) => {
                self.sparse.insert(fd, slot);
            }
            Err(_) => {}
        }
    }

    fn descriptions(&self) -> impl Iterator<Item = u32> {
        let slots = self.dense.iter().chain(self.sparse.values());
        slots.map(|slot| slot.description).filter(|description| *description != u32::MAX)
    }

    fn retain(&mut self, keep: impl Fn(i32, &mut Slot) -> bool) {
        for (fd, slot) in self.dense.iter_mut().enumerate() {
            if slot.description != u32::MAX && !keep(fd as i32, slot) {
                *slot = EMPTY;
            }
        }
        self.sparse.retain(|fd, slot| keep(*fd, slot));
    }
}

/// All descriptor tables and open file descriptions of a process tree.
#[derive(Debug, Default)]
pub(crate) struct Files {
    descriptions: Vec<Description>,
    free: Vec<u32>,
    tables: Owned<Arc<Table>>,
    live_after_sweep: usize,
    unseen_moves: UnseenMoves,
    /// Device and inode behind a description, where they are known.
    identities: Vec<Option<(u64, u64)>>,
}

impl Files {
    /// An empty table with one owner.
    pub(crate) fn new_table(&mut self) -> TableId {
        TableId(self.tables.add(Arc::default()))
    }

    /// One more owner of the same table.
    pub(crate) fn share(&mut self, id: TableId) -> TableId {
        self.tables.share(id.0);
        id
    }

    /// A copy of the table; costs nothing until one of the two changes.
    pub(crate) fn copy(&mut self, id: TableId) -> TableId {
        TableId(self.tables.copy(id.0))
    }

    /// One owner less.
    pub(crate) fn release(&mut self, id: TableId) {
        self.tables.release(id.0);
    }

    /// The table for an owner who wants it alone: itself or a copy.
    pub(crate) fn unshare(&mut self, id: TableId) -> TableId {
        TableId(self.tables.unshare(id.0))
    }

    /// What descriptor `fd` stands for.
    #[inline]
    pub(crate) fn get(&self, id: TableId, fd: i32) -> Option<DescriptionId> {
        self.tables.get(id.0)?.get(fd).map(|slot| DescriptionId(slot.description))
    }

    #[inline]
    pub(crate) fn description(&self, id: DescriptionId) -> &Description {
        &self.descriptions[id.0 as usize]
    }

    #[inline]
    pub(crate) fn description_mut(&mut self, id: DescriptionId) -> &mut Description {
        &mut self.descriptions[id.0 as usize]
    }

    /// A new description, not in any table yet.
    pub(crate) fn describe(&mut self, description: Description) -> DescriptionId {
        match self.free.pop() {
            Some(id) => {
                self.descriptions[id as usize] = description;
                if let Some(identity) = self.identities.get_mut(id as usize) {
                    *identity = None;
                }
                DescriptionId(id)
            }
            None => {
                self.descriptions.push(description);
                DescriptionId((self.descriptions.len() - 1) as u32)
            }
        }
    }

    /// What the tracer found behind a description; `false` if that was known.
    pub(crate) fn identify(&mut self, id: DescriptionId, device: u64, inode: u64) -> bool {
        let place = id.0 as usize;
        if place >= self.identities.len() {
            self.identities.resize(place + 1, None);
        }
        let identity = Some((device, inode));
        std::mem::replace(&mut self.identities[place], identity) != identity
    }

    /// The cursor of a description of unseen opening was moved, and with it those that may be the same one.
    pub(crate) fn unseen_move(&mut self, kin: Kin) {
        self.unseen_moves.count(kin);
    }

    /// Stands still as long as nothing moves the cursors of these kin.
    #[inline]
    pub(crate) fn epoch(&self, kin: Kin) -> u64 {
        self.unseen_moves.epoch(kin)
    }

    /// A description whose opening was not seen turned up. It may be any of those of the same file, also one whose
    /// opening was seen (a descriptor can be sent to another process): from now on a move of one makes the others unknown.
    pub(crate) fn find_kin(&mut self, id: DescriptionId) {
        let (path, identity) = (self.description(id).path, self.identity(id));
        let is_kin = |files: &Self, other: u32| {
            let own = (files.description(DescriptionId(other)).path, files.identity(DescriptionId(other)));
            match (identity, own.1) {
                (Some(identity), Some(own)) => identity == own,
                _ => !path.is_null() && path == own.0,
            }
        };
        let family: Vec<u32> =
            (0..self.descriptions.len() as u32).filter(|other| is_kin(self, *other)).collect();
        let kin = family.iter().map(|member| self.descriptions[*member as usize].kin).max();
        let kin = match kin {
            Some(Kin::ANYBODY) | None => self.unseen_moves.new_kin(),
            Some(kin) => kin,
        };
        let epoch = self.epoch(kin);
        for member in family {
            let valid = self.has_cursor(DescriptionId(member));
            let description = &mut self.descriptions[member as usize];
            if !valid {
                description.cursor = Nullable::NULL;
            }
            (description.opened, description.kin, description.epoch) = (false, kin, epoch);
        }
    }

    /// Writes go to the end from now on, or no longer. What may be the same description may go to the end with it.
    pub(crate) fn set_append(&mut self, id: DescriptionId, append: bool) {
        let Description { append: before, kin, .. } = *self.description(id);
        self.description_mut(id).append = append;
        if append && !before && kin != Kin::ANYBODY {
            let family = self.descriptions.iter_mut().filter(|description| description.kin == kin);
            family.for_each(|member| member.append = true);
        }
    }

    /// Whether the cursor of a description is still where it was last known to be.
    #[inline]
    pub(crate) fn has_cursor(&self, id: DescriptionId) -> bool {
        let description = self.description(id);
        description.opened || description.epoch == self.epoch(description.kin)
    }

    fn identity(&self, id: DescriptionId) -> Option<(u64, u64)> {
        self.identities.get(id.0 as usize).copied().flatten()
    }

    /// Lets `fd` stand for `description`.
    pub(crate) fn set(&mut self, id: TableId, fd: i32, description: DescriptionId, cloexec: bool) {
        self.change(id, |table| table.set(fd, Slot { description: description.0, cloexec }));
    }

    /// Lets `fd` stand for what `other` does.
    pub(crate) fn unite(&mut self, id: TableId, fd: i32, other: i32) {
        let slot = self.tables.get(id.0).and_then(|table| table.get(fd));
        if let (Some(slot), Some(description)) = (slot, self.get(id, other)) {
            self.set(id, fd, description, slot.cloexec);
        }
    }

    /// Whether `fd` is closed at exec.
    pub(crate) fn set_cloexec(&mut self, id: TableId, fd: i32, cloexec: bool) {
        if let Some(description) = self.get(id, fd) {
            self.set(id, fd, description, cloexec);
        }
    }

    /// Closes `fd`.
    pub(crate) fn close(&mut self, id: TableId, fd: i32) {
        if self.get(id, fd).is_some() {
            self.change(id, |table| table.set(fd, EMPTY));
        }
    }

    /// Closes the descriptors from `first` to `last`, or marks them to be closed at exec.
    pub(crate) fn close_range(&mut self, id: TableId, first: i64, last: i64, only_mark: bool) {
        let range = first..=last;
        self.change(id, |table| {
            table.retain(|fd, slot| {
                let inside = range.contains(&i64::from(fd));
                slot.cloexec |= inside && only_mark;
                !inside || only_mark
            });
        });
    }

    /// What exec does: the owner gets a table of its own, without the descriptors that are closed at exec.
    pub(crate) fn exec(&mut self, id: TableId) -> TableId {
        let id = self.unshare(id);
        let some_closed = self
            .tables
            .get(id.0)
            .is_some_and(|table| table.dense.iter().chain(table.sparse.values()).any(|slot| slot.cloexec));
        if some_closed {
            self.change(id, |table| table.retain(|_, slot| !slot.cloexec));
        }
        id
    }

    /// Gives `id` those descriptors of `from` of which it knows nothing itself.
    pub(crate) fn inherit_missing(&mut self, id: TableId, from: TableId) {
        let Some(from) = self.tables.get(from.0).map(Arc::clone) else { return };
        let dense = from.dense.iter().enumerate().map(|(fd, slot)| (fd as i32, *slot));
        let sparse = from.sparse.iter().map(|(fd, slot)| (*fd, *slot));
        for (fd, slot) in dense.chain(sparse).filter(|(_, slot)| slot.description != u32::MAX) {
            let known = self.get(id, fd).is_some_and(|own| {
                let own = self.description(own);
                own.opened || !own.path.is_null()
            });
            if !known {
                self.change(id, |table| table.set(fd, slot));
            }
        }
    }

    fn change(&mut self, id: TableId, change: impl FnOnce(&mut Table)) {
        if let Some(table) = self.tables.get_mut(id.0) {
            change(Arc::make_mut(table));
        }
    }

    /// Whether enough descriptions were made since the last sweep to pay for another.
    #[inline]
    pub(crate) fn wants_sweep(&self) -> bool {
        self.live() > 2 * self.live_after_sweep + 1024
    }

    /// Number of descriptions in memory.
    pub(crate) fn live(&self) -> usize {
        self.descriptions.len() - self.free.len()
    }

    /// Frees the descriptions that no table and none of `used_elsewhere` names.
    pub(crate) fn sweep(&mut self, used_elsewhere: impl Iterator<Item = DescriptionId>) {
        let mut used = vec![false; self.descriptions.len()];
        let mut last = std::ptr::null();
        for table in self.tables.iter() {
            if !std::ptr::eq(Arc::as_ptr(table), last) {
                table.descriptions().for_each(|description| used[description as usize] = true);
            }
            last = Arc::as_ptr(table);
        }
        used_elsewhere.for_each(|description| used[description.0 as usize] = true);
        self.free.clear();
        self.free.extend((0..used.len()).rev().filter(|index| !used[*index]).map(|index| index as u32));
        for index in &self.free {
            self.descriptions[*index as usize].path = Nullable::NULL;
            if let Some(identity) = self.identities.get_mut(*index as usize) {
                *identity = None;
            }
        }
        self.live_after_sweep = self.live();
    }

    /// The paths of all descriptions, to be renumbered.
    pub(crate) fn paths_mut(&mut self) -> impl Iterator<Item = &mut Nullable<PathId>> {
        self.descriptions.iter_mut().map(|description| &mut description.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(files: &mut Files, number: u32) -> DescriptionId {
        files.describe(Description::opened(Nullable::some(PathId(number)), true, false))
    }

    #[test]
    fn a_copied_table_changes_alone() {
        let mut files = Files::default();
        let parent = files.new_table();
        let (first, second) = (named(&mut files, 1), named(&mut files, 2));
        files.set(parent, 3, first, false);
        let child = files.copy(parent);
        files.set(child, 3, second, false);
        files.close(parent, 4);
        assert_eq!(files.get(parent, 3), Some(first));
        assert_eq!(files.get(child, 3), Some(second));
    }

    #[test]
    fn only_marked_descriptors_are_closed_at_exec() {
        let mut files = Files::default();
        let table = files.new_table();
        let file = named(&mut files, 1);
        files.set(table, 3, file, true);
        files.set(table, 4, file, false);
        files.set(table, 70_000, file, true);
        let other = files.share(table);
        let table = files.exec(table);
        assert_eq!([3, 4, 70_000].map(|fd| files.get(table, fd).is_some()), [false, true, false]);
        assert_eq!([3, 4, 70_000].map(|fd| files.get(other, fd).is_some()), [true; 3]);
    }

    #[test]
    fn closed_descriptions_are_freed() {
        let mut files = Files::default();
        let table = files.new_table();
        for number in 0..100_000 {
            let file = named(&mut files, number);
            files.set(table, 3, file, false);
            if files.wants_sweep() {
                files.sweep(std::iter::empty());
            }
        }
        assert!(files.descriptions.len() < 2000, "{}", files.descriptions.len());
        assert_eq!(files.description(files.get(table, 3).unwrap()).path, Nullable::some(PathId(99_999)));
    }

    #[test]
    fn huge_numbers_cost_no_memory() {
        let mut files = Files::default();
        let table = files.new_table();
        let file = named(&mut files, 1);
        files.set(table, i32::MAX, file, false);
        files.set(table, -5, file, false);
        assert_eq!(files.get(table, i32::MAX), Some(file));
        assert_eq!(files.get(table, -5), None);
        files.close_range(table, 0, i64::from(u32::MAX), false);
        assert_eq!(files.get(table, i32::MAX), None);
    }
}
