//! What descriptors stand for: open file descriptions and the files behind them.
//!
//! The tables say what the trace implies; what a tracer printed beside a number is better informed (an opening that is not in
//! the trace, a descriptor received over a socket) and corrects them. The path of a descriptor follows renames
//! ([`crate::renamed`]).

use crate::address_spaces::AddressSpaces;
use crate::descriptor_tables::{Description, DescriptionId, DescriptorTables, TableId};
use crate::file_names::{FileNames, LONG, intern};
use crate::namespace::{Content, Made};
use crate::operands::FdArg;
use crate::positions::Positions;
use crate::process_table::ProcessTable;
use crate::sockets::is_socket_name;
use iotrail_model::raw::Target;
use iotrail_model::{Dictionaries, FileFacts, FileId, FileKind, Nullable, PathId};

/// Descriptors that may be on their way in messages.
const MOST_SENT: usize = 256;
/// Descriptors of one name that are looked at.
const MANY: usize = 64;

/// Who holds open file descriptions beside tables and messages: mappings, and calls in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Holders<'a> {
    pub(crate) spaces: &'a AddressSpaces,
    pub(crate) processes: &'a ProcessTable,
}

impl DescriptorTables {
    /// What a descriptor argument stands for. With `exists` it gets a description if it had none.
    #[inline]
    pub(crate) fn description_of(
        &mut self,
        table: TableId,
        (fd, hint): FdArg<'_>,
        exists: bool,
        files: &mut FileNames,
        names: &mut Dictionaries,
    ) -> Option<DescriptionId> {
        let known = self.get(table, fd);
        if let Some(id) = known {
            self.follow_renames(id, files, names);
        }
        match (known, hint) {
            (Some(_), None) => known,
            (Some(id), Some(hint)) => {
                let path = self.description(id).path.get();
                if path.is_some_and(|path| names.paths.get(path.0) == hint.name) {
                    self.confirm(id);
                    return known;
                }
                Some(self.correct(table, fd, id, hint, files, names))
            }
            (None, Some(hint)) => Some(self.discover(table, fd, hint, files, names)),
            (None, None) if exists => {
                let id = self.describe(Description::unseen(Nullable::NULL));
                self.find(table, fd, id);
                Some(id)
            }
            (None, None) => None,
        }
    }

    /// The tracer names it differently. If it never named it before, this is its real name. If files were renamed since, this
    /// is its new one. Otherwise somebody who is not followed renamed it, or the number was closed and opened again unseen,
    /// and nobody can say which.
    #[cold]
    fn correct(
        &mut self,
        table: TableId,
        fd: i32,
        id: DescriptionId,
        hint: Target<'_>,
        files: &mut FileNames,
        names: &mut Dictionaries,
    ) -> DescriptionId {
        let description = self.description(id);
        if description.outdated.get().is_some_and(|path| names.paths.get(path.0) == hint.name) {
            return id;
        }
        if description.path.get().is_some_and(|path| hint.is_literally(names.paths.get(path.0))) {
            return id;
        }
        if description.confirmed && description.renames == self.renames && !is_socket_name(hint.name) {
            self.distrust(id);
            return self.discover(table, fd, hint, files, names);
        }
        let (path, file) = (Nullable::some(intern(names, hint.name)), description.file);
        let file = files.renamed_file(file, path, hint.deleted, names);
        files.lost_names.extend(path.get().zip(file.get()).filter(|_| hint.deleted));
        let description = self.confirm(id);
        (description.path, description.file) = (path, file);
        self.limit_positions(id, Positions::of_name(hint.name));
        id
    }

    fn discover(
        &mut self,
        table: TableId,
        fd: i32,
        hint: Target<'_>,
        files: &mut FileNames,
        names: &mut Dictionaries,
    ) -> DescriptionId {
        let path = intern(names, hint.name);
        let file = self.deleted_file(hint, files, names);
        files.lost_names.extend(file.get().map(|file| (path, file)));
        let description = Description {
            file,
            positions: Positions::of_name(hint.name),
            confirmed: true,
            renames: self.renames,
            ..Description::unseen(Nullable::some(path))
        };
        let id = self.describe(description);
        self.find(table, fd, id);
        id
    }

    /// A descriptor that nobody has told of stands for `description`.
    fn find(&mut self, table: TableId, fd: i32, description: DescriptionId) {
        self.contested.found(table, fd);
        if self.came_unseen {
            self.has_no_number(description);
        }
        if self.is_unclear(table) || self.contested.is_making(table) {
            self.may_be_any(table, description);
        }
        self.know(table, fd, description, false);
    }

    /// Gives a description the name that its file has by now.
    #[inline]
    pub(crate) fn follow_renames(
        &mut self,
        id: DescriptionId,
        files: &mut FileNames,
        names: &mut Dictionaries,
    ) {
        if self.description(id).renamed < self.renamed.count() {
            self.rename_description(id, files, names);
        }
    }

    #[cold]
    fn rename_description(&mut self, id: DescriptionId, files: &mut FileNames, names: &mut Dictionaries) {
        let count = self.renamed.count();
        let description = self.description_mut(id);
        let (path, file, removed) = (description.path, description.file, description.removed);
        let since = std::mem::replace(&mut description.renamed, count);
        let Some(path) = path.get() else { return };
        let followed = self.renamed.follow(since, file, (names.paths.get(path.0), removed));
        self.description_mut(id).removed = followed.removed;
        let by_now = followed.name.or_else(|| {
            let file = file.get().filter(|_| self.renamed.forgot(since) && followed.removed == 0)?;
            files.is_gone(path, Nullable::some(file), names).then(|| files.namespace.path_of(file))?
        });
        if let Some(by_now) = by_now {
            let path = (by_now.len() <= LONG).then(|| intern(names, &by_now));
            self.description_mut(id).path = path.into();
            // A file without a name is called so, but that is none of its names.
            if let (Some(path), Some(file)) = (path, file.get())
                && !files.is_called(file, path, names)
            {
                files.lost_names.push((path, file));
            }
        }
    }

    /// The file that a description stands for.
    pub(crate) fn file_of(
        &mut self,
        id: DescriptionId,
        files: &mut FileNames,
        names: &mut Dictionaries,
    ) -> Nullable<FileId> {
        let description = self.description(id);
        let (file, path) = (description.file, description.path);
        if !file.is_null() || description.of_several {
            return file;
        }
        let Some(walked) = files.reach(path, false, names) else { return Nullable::NULL };
        let file = files.there(walked.node, names);
        self.description_mut(id).file = file;
        file
    }

    /// The file of a descriptor of which nothing is known but a name that its file has lost: somebody had it before. NULL
    /// if the name is there.
    pub(crate) fn deleted_file(
        &mut self,
        hint: Target<'_>,
        files: &mut FileNames,
        names: &mut Dictionaries,
    ) -> Nullable<FileId> {
        if !(hint.deleted && hint.name.starts_with(b"/")) {
            return Nullable::NULL;
        }
        // A look at all descriptors costs no more than other calls.
        let cost = self.live() + self.sent.len();
        let path = names
            .paths
            .find(hint.name)
            .map(PathId)
            .filter(|_| self.source.is_trace && cost <= files.credit.0);
        files.credit.0 -= if path.is_some() { cost } else { 0 };
        let mut held = path.into_iter().flat_map(|path| {
            let known = self.with_descriptors().chain(self.sent.iter().copied());
            let known = known.map(|id| self.description(id));
            known.filter(move |known| known.path == Nullable::some(path)).filter_map(|known| known.file.get())
        });
        let held: Vec<FileId> = held.by_ref().take(MANY).collect();
        let gone = |file: &&FileId| path.is_some_and(|path| files.has_lost(path, **file, names));
        let gone: Vec<FileId> = held.iter().filter(gone).copied().collect();
        match gone.first().filter(|first| gone.iter().all(|other| other == *first)) {
            Some(file) => Nullable::some(*file),
            None => names.next_file(),
        }
    }

    /// A descriptor was sent with a message: until it arrives nobody may have it.
    pub(crate) fn travels(&mut self, id: DescriptionId) {
        if self.sent.len() == MOST_SENT {
            self.sent.pop_front();
        }
        self.sent.push_back(id);
        self.description_mut(id).travelled = true;
    }

    /// A trace shows that a thread received a descriptor. If only one that was sent can be it, it is that.
    pub(crate) fn arrives(
        &mut self,
        table: TableId,
        (fd, target): FdArg<'_>,
        files: &mut FileNames,
        names: &mut Dictionaries,
    ) {
        self.gives_up(table, fd);
        self.know_free(table, fd);
        let Some(target) = target else {
            // One of those on their way, or one that nobody saw being sent: which, a trace without names does not say.
            if let Some(id) = self.description_of(table, (fd, None), true, files, names) {
                self.has_no_number(id);
                self.set(table, fd, id, false);
            }
            return;
        };
        for id in self.sent.clone() {
            self.follow_renames(id, files, names);
        }
        // What lies in no directory has no names to lose.
        let is_path = target.name.starts_with(b"/");
        let mut is_it = |id: &DescriptionId| {
            let Description { path, file, .. } = *self.description(*id);
            path.get().is_some_and(|path| {
                let mut has_lost =
                    || is_path && file.get().is_some_and(|file| files.has_lost(path, file, names));
                names.paths.get(path.0) == target.name && target.deleted == has_lost()
            })
        };
        let matching: Vec<DescriptionId> = self.sent.iter().copied().filter(|id| is_it(id)).collect();
        match matching.first().filter(|first| matching.iter().all(|other| other == *first)) {
            Some(only) => {
                self.set(table, fd, *only, false);
                if self.source.is_trace { self.travels_no_more(*only) } else { self.has_arrived(*only) }
            }
            None => {
                let id = self.discover(table, fd, target, files, names);
                if !matching.is_empty() {
                    self.has_no_number(id);
                    self.is_of_file_of(id, &matching);
                }
                self.set(table, fd, id, false);
            }
        }
    }

    /// A description is one of `candidates`. If they are all of one file, so is it.
    fn is_of_file_of(&mut self, id: DescriptionId, candidates: &[DescriptionId]) {
        let mut files = candidates.iter().map(|candidate| self.description(*candidate).file);
        let file = files.next().unwrap_or_default();
        let of_several = files.any(|other| other != file);
        let description = self.description_mut(id);
        description.of_several = of_several;
        description.file = if of_several { Nullable::NULL } else { file };
    }

    /// Whether a descriptor of that file is on its way in a message.
    pub(crate) fn is_on_its_way(&self, facts: &FileFacts) -> bool {
        self.sent.iter().any(|id| self.identity(*id) == Some((facts.device, facts.inode)))
    }

    /// Whether a file that the trace made has no name any more and nobody has it open: another one that is found with its
    /// inode is not it, also with an equal time of birth, unless it was there for longer than such a time is exact.
    fn is_dead(&self, file: FileId, found: &FileFacts, files: &FileNames, holders: &Holders<'_>) -> bool {
        let is_it = |id: DescriptionId| self.description(id).file == Nullable::some(file);
        files.namespace.is_made(file)
            && !files.namespace.has_names(file)
            && !files.namespace.outlives_its_names(file, found)
            && !self.holds_file(file)
            && !self.sent.iter().copied().any(is_it)
            && !holders.spaces.descriptions().any(is_it)
            && !holders.processes.in_flight().any(is_it)
    }

    /// The known file that was found, if it is one.
    fn known_file(
        &self,
        facts: &FileFacts,
        made: Made,
        files: &FileNames,
        holders: &Holders<'_>,
    ) -> Option<FileId> {
        files.namespace.of_facts(facts, made).filter(|file| !self.is_dead(*file, facts, files, holders))
    }

    /// A look at a descriptor of which nothing was known shows a file that has lost its names: one that is known, perhaps.
    pub(crate) fn recognise(
        &mut self,
        id: DescriptionId,
        facts: &FileFacts,
        files: &FileNames,
        holders: &Holders<'_>,
    ) {
        if let Some(file) = self.known_file(facts, Made::No, files, holders) {
            self.description_mut(id).file = Nullable::some(file);
        }
    }

    /// A file that no name leads to.
    pub(crate) fn nameless(
        &mut self,
        facts: Option<&FileFacts>,
        exclusive: bool,
        holders: &Holders<'_>,
        files: &mut FileNames,
        names: &mut Dictionaries,
    ) -> Nullable<FileId> {
        let made = if exclusive { Made::Surely } else { Made::No };
        let known = facts.and_then(|facts| self.known_file(facts, made, files, holders));
        let file = known.map(Nullable::some).unwrap_or_else(|| names.next_file());
        if let (Made::Surely, None, Some(file)) = (made, known, file.get()) {
            files.namespace.set_made(file);
        }
        file
    }

    /// The known file that was found where `present` should be.
    pub(crate) fn found_file(
        &self,
        present: Content,
        facts: &FileFacts,
        made: Made,
        files: &FileNames,
        holders: &Holders<'_>,
    ) -> Option<FileId> {
        let known = files.namespace.of_facts(facts, made);
        if let (Content::File(file), Made::No) = (present, made) {
            match files.namespace.facts(file) {
                Some(seen) if (seen.device, seen.inode) == (facts.device, facts.inode) => return Some(file),
                // The trace made it when the other was known already, which has lost its names: the inode was given again.
                None if known.is_some_and(|known| files.is_older(known, file)) => return Some(file),
                _ => {}
            }
        }
        // What is made now has the inode of a file whose last name is being removed: the kernel has done that.
        let is_gone = |file| made != Made::No && files.namespace.is_going(file);
        known.filter(|file| !is_gone(*file) && !self.is_dead(*file, facts, files, holders))
    }

    /// What a tracer found behind a description: answers its file.
    pub(crate) fn learn_identity(
        &mut self,
        id: DescriptionId,
        facts: &FileFacts,
        holders: &Holders<'_>,
        files: &mut FileNames,
        names: &mut Dictionaries,
    ) -> Nullable<FileId> {
        let description = self.description(id);
        let (path, mut file) = (description.path, description.file);
        let is_file = path.get().is_some_and(|path| names.paths.get(path.0).starts_with(b"/"));
        if !is_file || facts.kind == Some(FileKind::Anon) {
            return file;
        }
        if file.is_null() {
            let walked = files.reach(path, false, names);
            let present =
                walked.as_ref().map(|walked| files.namespace.content(walked.node)).unwrap_or_default();
            file = match self.found_file(present, facts, Made::No, files, holders) {
                Some(known) => Nullable::some(known),
                None => match present {
                    Content::File(known) if !files.is_other(present, facts) => Nullable::some(known),
                    _ => names.next_file(),
                },
            };
            if let (Some(walked), Some(file)) = (walked, file.get()) {
                files.namespace.set(walked.node, Content::File(file));
            }
            self.description_mut(id).file = file;
        }
        if let Some(file) = file.get() {
            files.namespace.learn(file, facts);
        }
        file
    }
}
