//! Descriptor tables and open file descriptions.
//!
//! A descriptor is a number in a table; tables are shared by threads (and CLONE_FILES) and copied at fork. What a
//! descriptor stands for, its open file description, carries name and cursor and is shared by every copy (`man 2 open`).
//! Tables are dense vectors behind shared pointers, copied when the first of two owners changes one. Descriptions lie in
//! one arena; those that no table names any more are found by marking, so that close costs nothing.

use crate::contested::{Contested, Numbers, Watched};
use crate::cursor::Moved;
use crate::holds::Holds;
pub(crate) use crate::ids::{DescriptionId, TableId};
use crate::kin::Kin;
use crate::owned::Owned;
use crate::positions::Positions;
use crate::renamed::Renamed;
use crate::sockets::Protocol;
use crate::source::Source;
use hashbrown::HashMap;
use iotrail_model::{FileId, Nullable, OpenId, PathId, Tid};
use std::collections::VecDeque;
use std::sync::Arc;

/// Numbers from here on lie in a hash map, so that one hostile number does not cost gigabytes.
const DENSE: usize = 4096;

/// A table of more descriptors is large.
const LARGE: usize = 256;

/// What a descriptor stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Description {
    /// Its number in the trail; NULL until it is in [`DescriptorTables`], and when there are no more.
    pub(crate) number: Nullable<OpenId>,
    /// Path or name.
    pub(crate) path: Nullable<PathId>,
    /// The file, if it has a number yet.
    pub(crate) file: Nullable<FileId>,
    /// Position of the next read or write, as far as those who are followed moved it: see [`DescriptorTables::is_trusted`] and
    /// [`DescriptorTables::cursor`].
    pub(crate) cursor: Nullable<i64>,
    /// Whether writes go to the end of the file, if that is known.
    pub(crate) append: Option<bool>,
    /// Whether it may be read, and written, if that is known.
    pub(crate) can: Option<[bool; 2]>,
    /// What moves the cursor, if there is one.
    pub(crate) positions: Positions,
    /// Whether every process that shares it is followed: its opening was seen, or the tracer says so.
    pub(crate) followed: bool,
    /// Number of times that it was sent away and not seen to arrive.
    pub(crate) sent: u32,
    /// Whether the path is what the tracer printed, not what the letters of an argument say.
    pub(crate) confirmed: bool,
    /// Number of calls in flight that move the cursor.
    pub(crate) in_flight: u32,
    /// How often the cursor was moved.
    pub(crate) moves: u64,
    /// [`DescriptorTables::losses`] when the cursor was set.
    pub(crate) since: u64,
    /// What a trace must hold so that all who move the cursor are seen.
    pub(crate) needs: Holds,
    /// Up to which rename of a file its name was followed ([`Renamed::count`]).
    pub(crate) renamed: u64,
    /// How many of the last parts of that name were removed, though such names may be there again: their renames are none of its own.
    pub(crate) removed: u16,
    /// Who moved it last, and when.
    pub(crate) moved: Option<Moved>,
    /// [`DescriptorTables::renames`] when the name was confirmed.
    pub(crate) renames: u64,
    /// The process that a pidfd refers to.
    pub(crate) process: Option<Tid>,
    /// Whether it is the root of a tree that no name leads to: what lies below it is not what its path says.
    pub(crate) detached: bool,
    /// Of a socket.
    pub(crate) protocol: Protocol,
    /// What the tracer may still call a socket that has another peer since.
    pub(crate) outdated: Nullable<PathId>,
    /// Whether it may be a copy of any other: nobody can say what its descriptor stands for.
    pub(crate) any: bool,
    /// Whether it is of one of several files, and nobody can say of which.
    pub(crate) of_several: bool,
    /// How many descriptions had been made before it.
    pub(crate) born: u32,
    /// Whether it went from one process to another.
    pub(crate) travelled: bool,
}

impl Description {
    /// A file or directory just opened.
    pub(crate) fn opened(path: Nullable<PathId>, positions: Positions, append: Option<bool>) -> Self {
        let cursor = if positions.exist() { Nullable::some(0) } else { Nullable::NULL };
        Self { cursor, append, positions, followed: true, ..Self::unseen(path) }
    }

    /// Something that was open before the trace began or whose opening is not in it.
    pub(crate) fn unseen(path: Nullable<PathId>) -> Self {
        Self {
            number: Nullable::NULL,
            path,
            file: Nullable::NULL,
            cursor: Nullable::NULL,
            append: None,
            can: None,
            positions: Positions::All,
            followed: false,
            sent: 0,
            confirmed: false,
            in_flight: 0,
            moves: 0,
            since: 0,
            needs: Holds::EVERYTHING,
            outdated: Nullable::NULL,
            renamed: 0,
            removed: 0,
            moved: None,
            renames: 0,
            process: None,
            detached: false,
            protocol: Protocol::Unknown,
            any: false,
            of_several: false,
            born: 0,
            travelled: false,
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
    /// Whether it has had a descriptor of which nobody can say what it stands for: another one that is found may be a copy of any.
    is_unclear: bool,
    /// What other processes may have of it.
    kin: Kin,
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

    fn slots(&self) -> impl Iterator<Item = (i32, Slot)> {
        let dense = self.dense.iter().enumerate().map(|(fd, slot)| (fd as i32, *slot));
        let slots = dense.chain(self.sparse.iter().map(|(fd, slot)| (*fd, *slot)));
        slots.filter(|(_, slot)| slot.description != u32::MAX)
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
pub(crate) struct DescriptorTables {
    pub(crate) source: Source,
    descriptions: Vec<Description>,
    /// How many descriptions there were.
    made: u32,
    free: Vec<u32>,
    tables: Owned<Arc<Table>>,
    live_after_sweep: usize,
    /// Threads of which it is not known what they share with the others.
    unknown_parents: u32,
    /// Which kinds of calls the trace is known to hold.
    pub(crate) holds: Holds,
    /// How many calls that rename files, or move directory trees, were entered or returned.
    pub(crate) renames: u64,
    /// How often it became unknown where all cursors are.
    losses: u64,
    /// Renames that descriptors follow.
    pub(crate) renamed: Renamed,
    /// Device and inode behind a description, where they are known.
    identities: Vec<Option<(u64, u64)>>,
    /// Calls in flight on descriptors that others may change.
    pub(crate) contested: Contested,
    /// Whether there has been a table that is not clear.
    pub(crate) has_unclear: bool,
    /// Calls in flight that may move the cursor of what other processes have a descriptor for, while nobody can say which.
    pub(crate) moving_any: u64,
    /// Descriptions that were sent with messages and not seen to arrive, the last ones.
    pub(crate) sent: VecDeque<DescriptionId>,
    /// Whether descriptors came with a message of which the trace does not say which: what is found later may be one of them.
    pub(crate) came_unseen: bool,
}

impl DescriptorTables {
    pub(crate) fn new(source: Source) -> Self {
        let holds = if source.is_trace { Holds::NOTHING } else { Holds::default() };
        Self { source, holds, ..Self::default() }
    }

    /// An empty table with one owner.
    pub(crate) fn new_table(&mut self) -> TableId {
        TableId(self.tables.add(Arc::default()))
    }

    /// One more owner of the same table.
    pub(crate) fn share(&mut self, id: TableId) -> TableId {
        self.tables.share(id.0);
        id
    }

    /// Whether a table has several owners.
    #[inline]
    pub(crate) fn is_shared(&self, id: TableId) -> bool {
        self.tables.is_shared(id.0)
    }

    /// A call begins on descriptors that others may change; what one of them stands for may be `known`.
    pub(crate) fn watch(
        &mut self,
        id: TableId,
        numbers: &Numbers,
        known: Option<(i32, DescriptionId)>,
    ) -> Watched {
        let (table, descriptions) = (self.tables.get(id.0), &self.descriptions);
        let stood_for = |fd| {
            let known = known.filter(|(known, _)| *known == fd).map(|(_, id)| id.0);
            let description = known.or_else(|| table?.get(fd).map(|slot| slot.description))?;
            Some((DescriptionId(description), descriptions[description as usize].any))
        };
        self.contested.begins(id, numbers, stood_for)
    }

    /// A copy of the table; costs nothing until one of the two changes.
    pub(crate) fn copy(&mut self, id: TableId) -> TableId {
        self.is_copied(id);
        TableId(self.tables.copy(id.0))
    }

    /// One owner less.
    pub(crate) fn release(&mut self, id: TableId) {
        self.tables.release(id.0);
    }

    /// What descriptor `fd` stands for.
    #[inline]
    pub(crate) fn get(&self, id: TableId, fd: i32) -> Option<DescriptionId> {
        self.tables.get(id.0)?.get(fd).map(|slot| DescriptionId(slot.description))
    }

    /// The same, and whether `fd` is closed at exec.
    pub(crate) fn get_marked(&self, id: TableId, fd: i32) -> Option<(DescriptionId, bool)> {
        self.tables.get(id.0)?.get(fd).map(|slot| (DescriptionId(slot.description), slot.cloexec))
    }

    /// The number of the description that `fd` stands for.
    pub(crate) fn number(&self, id: TableId, fd: i32) -> Nullable<OpenId> {
        self.get(id, fd).map_or(Nullable::NULL, |description| self.description(description).number)
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
        let (number, born) = (Nullable::some(OpenId(self.made)), self.made);
        self.made = self.made.saturating_add(1);
        let (since, renamed) = (self.losses, self.renamed.count());
        let description = Description { number, born, since, renamed, ..description };
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

    /// It is one that has a number already, and nobody can say which.
    pub(crate) fn has_no_number(&mut self, id: DescriptionId) {
        self.description_mut(id).number = Nullable::NULL;
    }

    /// What the tracer found behind a description; `false` if that was known.
    pub(crate) fn identify(&mut self, id: DescriptionId, device: u64, inode: u64) -> bool {
        let index = id.0 as usize;
        if index >= self.identities.len() {
            self.identities.resize(index + 1, None);
        }
        let identity = Some((device, inode));
        std::mem::replace(&mut self.identities[index], identity) != identity
    }

    /// The tracer says that a description has the name that it has.
    #[inline]
    pub(crate) fn confirm(&mut self, id: DescriptionId) -> &mut Description {
        let description = &mut self.descriptions[id.0 as usize];
        (description.confirmed, description.renames) = (true, self.renames);
        description.renamed = description.renamed.max(self.renamed.count());
        description
    }

    /// Whether the cursor of a description is where those who are followed left it.
    #[inline]
    pub(crate) fn is_trusted(&self, id: DescriptionId) -> bool {
        self.is_ours(id) && self.holds.hold(self.description(id).needs)
    }

    /// Whether it is known whether a description is open for appending: those who are followed alone may change that.
    #[inline]
    pub(crate) fn knows_append(&self, id: DescriptionId) -> bool {
        self.is_ours(id) && self.holds.hold(Holds::ALL)
    }

    /// Whether all who share a description are followed, be it that not all of their calls are seen.
    #[inline]
    pub(crate) fn is_ours(&self, id: DescriptionId) -> bool {
        let description = self.description(id);
        description.followed && description.sent == 0 && self.unknown_parents == 0
    }

    /// Where the next transfer starts, as far as those who are followed moved it.
    #[inline]
    pub(crate) fn cursor(&self, id: DescriptionId) -> Nullable<i64> {
        let description = self.description(id);
        if description.since < self.losses { Nullable::NULL } else { description.cursor }
    }

    #[inline]
    pub(crate) fn set_cursor(&mut self, id: DescriptionId, cursor: Nullable<i64>) {
        let losses = self.losses;
        let description = self.description_mut(id);
        (description.cursor, description.since) = (cursor, losses);
        description.moves += 1;
    }

    /// There are no positions behind this description.
    pub(crate) fn has_no_positions(&mut self, id: DescriptionId) {
        self.limit_positions(id, Positions::None);
    }

    /// No more than `positions` are behind this description.
    pub(crate) fn limit_positions(&mut self, id: DescriptionId, positions: Positions) {
        let description = self.description_mut(id);
        description.positions = description.positions.min(positions);
        if !description.positions.exist() {
            description.cursor = Nullable::NULL;
        }
    }

    /// A number that grows whenever the cursor of a description may have moved.
    #[inline]
    pub(crate) fn moves(&self, id: DescriptionId) -> u64 {
        self.description(id).moves + self.losses
    }

    /// Whether there is a cursor that no call moves at present, but nobody knows where it is. A descriptor of `table` stands for it.
    pub(crate) fn has_lost_cursor(&self, table: TableId, id: DescriptionId) -> bool {
        let description = self.description(id);
        let is_lost =
            description.positions.exist() && description.in_flight == 0 && self.cursor(id).is_null();
        let has_others = self.has_kin(table) || self.may_have_others(table, id);
        let may_move = || match has_others {
            true => self.moving_any > 0 || self.contested.may_act_on_any(None),
            false => self.contested.may_act_on_any(Some(table)),
        };
        is_lost && !may_move()
    }

    /// Nobody knows where any cursor is.
    pub(crate) fn lose_all(&mut self) {
        self.losses += 1;
    }

    /// Nobody knows where the cursors are of the descriptions of that path.
    pub(crate) fn lose_of(&mut self, path: Nullable<PathId>) {
        // A call costs no more than others.
        if self.live() > LARGE {
            return self.lose_all();
        }
        let known = self.with_descriptors();
        let of_path: Vec<DescriptionId> = known.filter(|id| self.description(*id).path == path).collect();
        of_path.into_iter().for_each(|id| self.set_cursor(id, Nullable::NULL));
    }

    /// Nobody knows where the cursors are of what a table names, nor, if `modes`, how writes go to it.
    pub(crate) fn lose(&mut self, id: TableId, modes: bool) {
        let Some(table) = self.tables.get(id.0).map(Arc::clone) else { return };
        // A call that is lost costs no more than others.
        if table.dense.len() + table.sparse.len() > LARGE {
            if modes {
                self.unknown_parent_appears();
            }
            return self.lose_all();
        }
        for description in table.descriptions().map(DescriptionId) {
            self.set_cursor(description, Nullable::NULL);
            if modes {
                self.description_mut(description).append = None;
            }
        }
    }

    /// Whether a descriptor stands for a file.
    pub(crate) fn holds_file(&self, file: FileId) -> bool {
        self.with_descriptors().any(|id| self.description(id).file == Nullable::some(file))
    }

    /// The descriptions that tables name, some of them more than once.
    pub(crate) fn with_descriptors(&self) -> impl Iterator<Item = DescriptionId> {
        self.tables.iter().flat_map(|table| table.descriptions()).map(DescriptionId)
    }

    /// The descriptions that a table names, some of them more than once.
    pub(crate) fn descriptions_of(&self, id: TableId) -> impl Iterator<Item = DescriptionId> {
        self.tables.get(id.0).into_iter().flat_map(|table| table.descriptions()).map(DescriptionId)
    }

    /// Somebody who is not followed may move the cursor of a description from now on.
    pub(crate) fn distrust(&mut self, id: DescriptionId) {
        self.description_mut(id).followed = false;
    }

    /// Somebody who is not followed may move the cursors of all that a table names.
    pub(crate) fn distrust_all(&mut self, id: TableId) {
        let Some(table) = self.tables.get(id.0).map(Arc::clone) else { return };
        table.descriptions().for_each(|description| self.distrust(DescriptionId(description)));
    }

    /// There is a thread that may share tables and descriptions with any other.
    pub(crate) fn unknown_parent_appears(&mut self) {
        self.unknown_parents = self.unknown_parents.saturating_add(1);
    }

    /// It is known now with whom such a thread shares what.
    pub(crate) fn parent_becomes_known(&mut self) {
        self.unknown_parents = self.unknown_parents.saturating_sub(1);
    }

    /// A descriptor is found to stand for what another one does.
    pub(crate) fn unite(&mut self, (id, fd): (TableId, i32), description: DescriptionId) {
        if let Some((known, cloexec)) = self.get_marked(id, fd)
            && known != description
        {
            self.know(id, fd, description, cloexec);
        }
    }

    /// A recorder saw a description that was sent arrive, and that nobody else got it.
    pub(crate) fn has_arrived(&mut self, id: DescriptionId) {
        let sent = &mut self.description_mut(id).sent;
        *sent = sent.saturating_sub(1);
        self.travels_no_more(id);
    }

    /// Once less it is on its way.
    pub(crate) fn travels_no_more(&mut self, id: DescriptionId) {
        if let Some(index) = self.sent.iter().position(|sent| *sent == id) {
            self.sent.remove(index);
        }
    }

    /// The descriptors of a table that stand for a file, with their descriptions.
    pub(crate) fn of_file(
        &self,
        id: TableId,
        identity: (u64, u64),
    ) -> impl Iterator<Item = (i32, DescriptionId)> {
        let slots = self.tables.get(id.0).into_iter().flat_map(|table| table.slots());
        let slots = slots.map(|(fd, slot)| (fd, DescriptionId(slot.description)));
        slots.filter(move |(_, description)| self.identity(*description) == Some(identity))
    }

    pub(crate) fn identity(&self, id: DescriptionId) -> Option<(u64, u64)> {
        self.identities.get(id.0 as usize).copied().flatten()
    }

    /// Lets `fd` stand for `description`.
    pub(crate) fn set(&mut self, id: TableId, fd: i32, description: DescriptionId, cloexec: bool) {
        self.gives_up(id, fd);
        if !self.contested.is_empty() && self.contested.stands_for(id, fd, description) {
            match self.description(description).any {
                true => self.blur(id),
                false => self.set_cursor(description, Nullable::NULL),
            }
        }
        self.know(id, fd, description, cloexec);
    }

    /// `fd` is found to stand for `description`, or to do so for a while: nobody changed it.
    pub(crate) fn know(&mut self, id: TableId, fd: i32, description: DescriptionId, cloexec: bool) {
        self.change(id, |table| table.set(fd, Slot { description: description.0, cloexec }));
    }

    /// Whether `fd` is closed at exec.
    pub(crate) fn set_cloexec(&mut self, id: TableId, fd: i32, cloexec: bool) {
        if let Some(description) = self.get(id, fd) {
            self.know(id, fd, description, cloexec);
        }
    }

    /// Closes `fd`.
    pub(crate) fn close(&mut self, id: TableId, fd: i32) {
        self.gives_up(id, fd);
        if !self.contested.is_empty() {
            self.contested.closes(id, fd);
        }
        self.know_free(id, fd);
    }

    /// `fd` is found to stand for nothing.
    pub(crate) fn know_free(&mut self, id: TableId, fd: i32) {
        if self.get(id, fd).is_some() {
            self.change(id, |table| table.set(fd, EMPTY));
        }
    }

    /// Closes the descriptors from `first` to `last`, or marks them to be closed at exec.
    pub(crate) fn close_range(&mut self, id: TableId, first: i64, last: i64, only_mark: bool) {
        let range = first..=last;
        if !only_mark {
            self.contested.closes_range(id, &range);
            let open = self.tables.get(id.0).into_iter().flat_map(|table| table.slots()).map(|(fd, _)| fd);
            let closed: Vec<i32> = open.filter(|fd| range.contains(&i64::from(*fd))).collect();
            closed.into_iter().for_each(|fd| self.gives_up(id, fd));
        }
        self.change(id, |table| {
            table.retain(|fd, slot| {
                let inside = range.contains(&i64::from(fd));
                slot.cloexec |= inside && only_mark;
                !inside || only_mark
            });
        });
    }

    /// What exec does, which began at `since`: the owner gets a table of its own, without the descriptors that are closed at exec.
    pub(crate) fn exec(&mut self, id: TableId, since: Option<u64>) -> TableId {
        let id = self.unshare_meanwhile(id, since);
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
        for (fd, slot) in from.slots() {
            let known = self.get(id, fd).is_some_and(|own| {
                let own = self.description(own);
                own.followed || !own.path.is_null()
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

    /// From now on nobody can say what each descriptor of a table stands for.
    pub(crate) fn becomes_unclear(&mut self, id: TableId) {
        self.has_unclear = true;
        self.change(id, |table| table.is_unclear = true);
    }

    /// A copy of a table is made: what one of the two has another name for may be behind any descriptor of the other.
    pub(crate) fn meets_kin(&mut self, id: TableId) {
        if !self.has_kin(id) && self.is_shared(id) {
            self.change(id, |table| table.kin.is_close = true);
        }
    }

    /// Whether what its descriptors stand for may have descriptors of other processes, while nobody can say which.
    pub(crate) fn has_kin(&self, id: TableId) -> bool {
        self.kin(id).is_some_and(|kin| kin.is_close)
    }

    /// Whether other processes may have descriptors for some of what a table names or named.
    pub(crate) fn has_others(&self, id: TableId) -> bool {
        self.kin(id).is_some_and(Kin::has_others)
    }

    /// What a table names no longer, and other processes may.
    pub(crate) fn former(&self, id: TableId) -> Vec<DescriptionId> {
        self.kin(id).map(|kin| kin.former().to_vec()).unwrap_or_default()
    }

    fn kin(&self, id: TableId) -> Option<&Kin> {
        self.tables.get(id.0).map(|table| &table.kin)
    }

    fn is_copied(&mut self, id: TableId) {
        let made = self.made;
        if self.kin(id).is_some_and(|kin| made > 0 && !kin.was_copied_since(made - 1)) {
            self.change(id, |table| table.kin.is_copied(made));
        }
    }

    /// Whether other processes may have descriptors for what one of a table stands for.
    fn may_have_others(&self, table: TableId, id: DescriptionId) -> bool {
        let Description { born, travelled, .. } = *self.description(id);
        travelled || self.kin(table).is_some_and(|kin| kin.was_copied_since(born))
    }

    /// `fd` does not stand any more for what it does, which a thread may have copied unseen.
    pub(crate) fn gives_up(&mut self, id: TableId, fd: i32) {
        if self.is_shared(id)
            && let Some(description) = self.get(id, fd)
            && !self.has_kin(id)
            && self.may_have_others(id, description)
        {
            self.change(id, |table| table.kin.gives_up(description));
        }
    }

    /// Whether nobody can say what each descriptor of a table stands for.
    pub(crate) fn is_unclear(&self, id: TableId) -> bool {
        self.has_unclear && self.tables.get(id.0).is_some_and(|table| table.is_unclear)
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

    /// Frees the descriptions that no table, no message and none of `used_elsewhere` names.
    pub(crate) fn sweep(&mut self, used_elsewhere: impl Iterator<Item = DescriptionId>) {
        let mut used = vec![false; self.descriptions.len()];
        let mut last = std::ptr::null();
        for table in self.tables.iter() {
            if !std::ptr::eq(Arc::as_ptr(table), last) {
                table.descriptions().for_each(|description| used[description as usize] = true);
            }
            last = Arc::as_ptr(table);
        }
        let sent = self.sent.iter().copied();
        used_elsewhere.chain(sent).for_each(|description| used[description.0 as usize] = true);
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

    fn named(files: &mut DescriptorTables, number: u32) -> DescriptionId {
        files.describe(Description::opened(Nullable::some(PathId(number)), Positions::All, Some(false)))
    }

    #[test]
    fn a_copied_table_changes_alone() {
        let mut files = DescriptorTables::default();
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
        let mut files = DescriptorTables::default();
        let table = files.new_table();
        let file = named(&mut files, 1);
        files.set(table, 3, file, true);
        files.set(table, 4, file, false);
        files.set(table, 70_000, file, true);
        let other = files.share(table);
        let table = files.exec(table, None);
        assert_eq!([3, 4, 70_000].map(|fd| files.get(table, fd).is_some()), [false, true, false]);
        assert_eq!([3, 4, 70_000].map(|fd| files.get(other, fd).is_some()), [true; 3]);
    }

    #[test]
    fn closed_descriptions_are_freed() {
        let mut files = DescriptorTables::default();
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
        let mut files = DescriptorTables::default();
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
