//! Which file a call acted on: the columns `file` and `file2`.
//!
//! A descriptor stands for the file that it was opened on, whatever becomes of the name. A path means what the name
//! denotes when the call is made, and what the call makes, renames or removes changes that ([`crate::namespace`]). What a
//! tracer finds behind a descriptor (device, inode, time of birth) is believed more than names: it tells hard links, bind
//! mounts and what others did.

use crate::Sink;
use crate::attributes;
use crate::effect::Naming;
use crate::files::{Description, DescriptionId, TableId};
use crate::lookup::intern;
use crate::namespace::{Content, Crossed, Made, Node, Walked};
use crate::operands::{Base, Operands, PathArg};
use crate::process_table::ThreadId;
use crate::resolver::Resolver;
use crate::symbols::{self, Symbol};
use iotrail_model::calls::{Presence, spec};
use iotrail_model::raw::{Arg, RawCall, Return, Target};
use iotrail_model::{Dictionaries, Event, FileFacts, FileId, FileKind, NamedFile, Nullable, PathId};
use std::borrow::Cow;

/// Descriptors that may be on their way in messages.
const MOST_SENT: usize = 256;
/// Files that rings opened which are remembered.
const MOST_IN_RINGS: usize = 1 << 16;
/// Descriptors of one name that are looked at.
const MANY: usize = 64;

/// How many names in renamed directories may still be told. Each event adds some, so that hostile renames cost no more than
/// other calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Credit(usize);

impl Default for Credit {
    fn default() -> Self {
        Self(1 << 16)
    }
}

impl Credit {
    #[inline]
    pub(crate) fn earn(&mut self) {
        self.0 = self.0.saturating_add(16);
    }
}

/// What a call asks for that makes a descriptor of a path.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Opening {
    pub(crate) creates: bool,
    /// It must not have been there.
    pub(crate) exclusive: bool,
    /// The file has no name.
    pub(crate) nameless: bool,
    pub(crate) follows: bool,
}

impl Resolver {
    /// The file that a description stands for.
    pub(crate) fn file_of(&mut self, id: DescriptionId, names: &mut Dictionaries) -> Nullable<FileId> {
        let description = self.files.description(id);
        let (file, path) = (description.file, description.path);
        if !file.is_null() {
            return file;
        }
        let Some(walked) = self.reach(path, false, names) else { return Nullable::NULL };
        let file = self.there(walked.node, names);
        self.files.description_mut(id).file = file;
        file
    }

    /// Where an absolute path leads.
    pub(crate) fn reach(
        &mut self,
        path: Nullable<PathId>,
        follow: bool,
        names: &Dictionaries,
    ) -> Option<Walked> {
        let id = path.get()?;
        let text = names.paths.get(id.0);
        if text.first() != Some(&b'/') { None } else { self.namespace.reach(id, text, follow) }
    }

    /// Where a path leads that is an argument of a call; a relative one is seen from where the trace began.
    fn reach_given(&mut self, path: Nullable<PathId>, follow: bool, names: &Dictionaries) -> Option<Walked> {
        let id = path.get()?;
        let text = names.paths.get(id.0);
        match text.first() {
            _ if self.lost_file(path).is_some() => None,
            Some(b'/') => self.namespace.reach(id, text, follow),
            Some(_) if self.is_trace => self.namespace.reach(id, text, follow),
            _ => None,
        }
    }

    /// As [`Self::reach_given`] of a name that the call makes, moves or removes; it gets the name that it really has.
    fn reach_name(&mut self, path: &mut Nullable<PathId>, names: &mut Dictionaries) -> Option<Walked> {
        let walked = self.reach_given(*path, false, names)?;
        if let Some(link) = &walked.link {
            *path = Nullable::some(intern(names, &link.path));
        }
        Some(walked)
    }

    /// The number of a directory in which a process works.
    pub(crate) fn directory_at(&mut self, path: PathId, names: &mut Dictionaries) -> Nullable<FileId> {
        if !self.is_trace {
            return Nullable::NULL;
        }
        match self.reach(Nullable::some(path), false, names) {
            Some(walked) => self.there(walked.node, names),
            None => Nullable::NULL,
        }
    }

    /// The file of a description that the tracer calls by another name than before.
    pub(crate) fn renamed_file(
        &mut self,
        id: DescriptionId,
        path: Nullable<PathId>,
        deleted: bool,
        names: &Dictionaries,
    ) -> Nullable<FileId> {
        let file = self.files.description(id).file;
        if deleted {
            return file;
        }
        let Some(walked) = self.reach(path, false, names) else { return Nullable::NULL };
        match (self.namespace.content(walked.node), file.get()) {
            (Content::File(present), _) => Nullable::some(present),
            (_, Some(known)) => {
                self.namespace.set(walked.node, Content::File(known));
                file
            }
            (_, None) => file,
        }
    }

    /// The file that a name denotes of which it is certain that it denotes one.
    fn there(&mut self, node: Node, names: &mut Dictionaries) -> Nullable<FileId> {
        match self.namespace.content(node) {
            Content::File(file) | Content::Nameless(file) => Nullable::some(file),
            Content::Unknown if self.namespace.forgot() => Nullable::NULL,
            Content::Unknown | Content::Nothing => self.make_file(node, names),
        }
    }

    /// A new file of that name.
    fn make_file(&mut self, node: Node, names: &mut Dictionaries) -> Nullable<FileId> {
        let file = names.next_file();
        if let Some(file) = file.get() {
            self.namespace.set(node, Content::File(file));
        }
        file
    }

    /// Says which files the call acted on, and follows what it does to names.
    pub(crate) fn identify<S: Sink>(
        &mut self,
        event: &mut Event,
        (thread, call, operands): (ThreadId, &RawCall<'_>, &Operands<'_>),
        description: Option<DescriptionId>,
        names: &mut Dictionaries,
        sink: &mut S,
    ) {
        let naming = self.effects.naming(call.call);
        if let Some(id) = description {
            event.file = self.file_of(id, names);
        }
        if operands.held.is_some() {
            event.file = self.file_in_ring(event.path, names);
        }
        let succeeded = matches!(call.ret, Return::Value(value, _) if value >= 0);
        match naming {
            Naming::None => {}
            _ if !succeeded => {
                if let (true, Some(_)) = (may_be_there(call, operands), operands.path)
                    && let Some(walked) = self.reach_given(event.path, self.effects.follows(call), names)
                {
                    let file = Nullable::<FileId>::from(self.namespace.content(walked.node));
                    event.file = Nullable::from(file.get().or(event.file.get()));
                    self.note_link(event, event.path, walked.link.as_ref(), names);
                }
            }
            // That is found out with the descriptor.
            Naming::Opens => {}
            Naming::Looks => {
                self.looks(event, thread, self.effects.follows(call), operands, names);
                if self.effects.opens_into_ring(call.call) {
                    self.put_into_ring(event.path, event.file, names);
                }
            }
            Naming::Makes => {
                event.file = self.makes(event, names, sink);
                if let (Some(file), Some(kind)) = (event.file.get(), kind_of_node(operands)) {
                    self.namespace.set_kind(file, kind);
                    self.tell(event.path, event.file, false, names, sink);
                }
            }
            Naming::Renames => self.renames(event, operands, names, sink),
            Naming::Links => {
                let follows = self.effects.follows(call);
                self.links(event, (thread, follows), operands, names, sink);
            }
            Naming::Symlinks => {
                let target = event.path2;
                event.file = self.makes(event, names, sink);
                event.path2 = target;
                if let (Some(file), Some(target)) = (event.file.get(), operands.text) {
                    self.namespace.set_target(file, target);
                }
                if let Some(walked) = self.reach_given(event.path2, true, names) {
                    event.file2 = self.namespace.content(walked.node).into();
                    // What leads to a file through links is none of its names.
                    if walked.link.is_some() {
                        self.tell(event.path2, event.file2, true, names, sink);
                    }
                }
            }
            Naming::Removes => {
                if let Some(walked) = self.reach_given(event.path, false, names) {
                    self.note_link(event, event.path, walked.link.as_ref(), names);
                    event.file = self.there(walked.node, names);
                    self.namespace.set(walked.node, Content::Nothing);
                    self.tell(event.path, event.file, true, names, sink);
                }
            }
        }
        if succeeded && self.is_trace && self.effects.shows_file(call.call) {
            self.learn_attributes(event, call, description, names, sink);
        }
    }

    /// A call that acts on what its path denotes.
    fn looks(
        &mut self,
        event: &mut Event,
        thread: ThreadId,
        follows: bool,
        operands: &Operands<'_>,
        names: &mut Dictionaries,
    ) {
        let Some(arg) = operands.path else { return };
        if let Some(file) = self.base_file(thread, arg, names) {
            event.file = file;
            return;
        }
        if let Some(description) = self.described(thread, event.path, names).filter(|_| follows) {
            event.file = self.file_of(description, names);
            let path = self.files.description(description).path;
            event.path = Nullable::from(path.get().or(event.path.get()));
            return;
        }
        if let Some(file) = self.lost_file(event.path) {
            event.file = file;
        } else if let Some(walked) = self.reach_given(event.path, follows, names) {
            event.file = self.there(walked.node, names);
            self.note_link(event, event.path, walked.link.as_ref(), names);
        }
    }

    /// A ring opened this file, which gets no descriptor; calls on it say how it was called then.
    fn put_into_ring(&mut self, path: Nullable<PathId>, file: Nullable<FileId>, names: &Dictionaries) {
        if self.in_rings.len() >= MOST_IN_RINGS {
            self.in_rings.clear();
        }
        if let (Some(path), Some(file)) = (path.get(), file.get()) {
            self.in_rings.insert(names.paths.get(path.0).into(), file);
        }
    }

    /// The file of that name that a ring holds: the one that was opened so, or what the name denotes.
    fn file_in_ring(&mut self, path: Nullable<PathId>, names: &Dictionaries) -> Nullable<FileId> {
        let Some(name) = path.get().map(|path| names.paths.get(path.0)) else { return Nullable::NULL };
        if let Some(file) = self.in_rings.get(name) {
            return Nullable::some(*file);
        }
        let walked = self.reach(path, false, names);
        walked.map_or(Nullable::NULL, |walked| self.namespace.content(walked.node).into())
    }

    /// The file of a directory descriptor that an empty path stands for.
    fn base_file(
        &mut self,
        thread: ThreadId,
        arg: PathArg<'_>,
        names: &mut Dictionaries,
    ) -> Option<Nullable<FileId>> {
        let (Base::Fd(fd), None | Some(b"")) = (arg.base, arg.bytes) else { return None };
        let table = self.processes.thread(thread).table;
        let description = self.description_of(table, fd, false, names)?;
        Some(self.file_of(description, names))
    }

    /// The description that a link of the kernel leads to.
    fn described(
        &self,
        thread: ThreadId,
        path: Nullable<PathId>,
        names: &Dictionaries,
    ) -> Option<DescriptionId> {
        self.descriptor_behind(thread, names.paths.get(path.get()?.0))
    }

    /// A path that led through a symbolic link is where that led to, and names the link as its second path.
    fn note_link(
        &mut self,
        event: &mut Event,
        path: Nullable<PathId>,
        link: Option<&Crossed>,
        names: &mut Dictionaries,
    ) {
        let (Some(path), Some(link)) = (path.get(), link) else { return };
        if event.path2.is_null() {
            let name = names.paths.get(path.0)[..link.length].to_vec();
            event.path2 = Nullable::some(intern(names, &name));
            event.file2 = Nullable::some(link.file);
        }
        if event.path == Nullable::some(path) {
            event.path = Nullable::some(intern(names, &link.path));
        }
    }

    /// A file is made in the directory `given`, whatever symbolic links lead there.
    pub(crate) fn follow_directory(
        &mut self,
        event: &mut Event,
        given: Nullable<PathId>,
        names: &mut Dictionaries,
    ) {
        if let Some(walked) = self.reach_given(given, true, names) {
            self.note_link(event, given, walked.link.as_ref(), names);
        }
    }

    fn makes<S: Sink>(
        &mut self,
        event: &mut Event,
        names: &mut Dictionaries,
        sink: &mut S,
    ) -> Nullable<FileId> {
        let Some(walked) = self.reach_given(event.path, false, names) else { return Nullable::NULL };
        self.note_link(event, event.path, walked.link.as_ref(), names);
        self.lose(event.path, walked.node, names, sink);
        self.make_new(walked.node, names)
    }

    /// A file that the call made under that name.
    fn make_new(&mut self, node: Node, names: &mut Dictionaries) -> Nullable<FileId> {
        let file = self.make_file(node, names);
        if let Some(file) = file.get() {
            self.namespace.set_made(file);
        }
        file
    }

    /// What a name denoted up to now has lost it.
    fn lose<S: Sink>(&mut self, path: Nullable<PathId>, node: Node, names: &Dictionaries, sink: &mut S) {
        if let Content::File(_) = self.namespace.content(node) {
            let file = self.namespace.content(node).into();
            self.namespace.set(node, Content::Nothing);
            self.tell(path, file, true, names, sink);
        }
    }

    /// Tells that a file has a name or has lost it.
    pub(crate) fn tell<S: Sink>(
        &self,
        path: Nullable<PathId>,
        file: Nullable<FileId>,
        gone: bool,
        names: &Dictionaries,
        sink: &mut S,
    ) {
        let (Some(path), Some(number)) = (path.get(), file.get()) else { return };
        let kind = self.namespace.kind(number);
        let facts = self.namespace.facts(number);
        let facts = facts.map(|facts| FileFacts { kind: facts.kind.or(kind), ..facts });
        sink.file(path, &NamedFile { file, gone, facts, kind: kind.filter(|_| facts.is_none()) }, names);
    }

    fn renames<S: Sink>(
        &mut self,
        event: &mut Event,
        operands: &Operands<'_>,
        names: &mut Dictionaries,
        sink: &mut S,
    ) {
        let (Some(from), Some(to)) =
            (self.reach_name(&mut event.path, names), self.reach_name(&mut event.path2, names))
        else {
            return;
        };
        event.file = self.there(from.node, names);
        let present = Nullable::from(self.namespace.content(to.node));
        let (Some(old), Some(new)) = (event.path.get(), event.path2.get()) else { return };
        if has(operands, symbols::RENAME_EXCHANGE) {
            event.file2 = self.there(to.node, names);
            // To exchange two names of one file changes nothing.
            if from.node == to.node || !event.file.is_null() && event.file == event.file2 {
                return;
            }
            let (below_old, below_new) = (self.below(from.node), self.below(to.node));
            self.namespace.exchange(names.paths.get(old.0), names.paths.get(new.0));
            // By way of a name that no path has.
            for (from, to, file) in [
                (names.paths.get(old.0), &b"\0"[..], event.file),
                (names.paths.get(new.0), names.paths.get(old.0), event.file2),
                (b"\0", names.paths.get(new.0), event.file),
            ] {
                self.files.renamed.note(from, to, file);
            }
            self.tell_below(&below_old, old, true, names, sink);
            self.tell_below(&below_new, new, true, names, sink);
            self.tell_below(&below_old, new, false, names, sink);
            self.tell_below(&below_new, old, false, names, sink);
            for (path, file, gone) in [
                (event.path, event.file, true),
                (event.path2, event.file2, true),
                (event.path, event.file2, false),
                (event.path2, event.file, false),
            ] {
                self.tell(path, file, gone, names, sink);
            }
            return;
        }
        event.file2 = event.file;
        // Two names of one file both stay.
        if from.node == to.node || !event.file.is_null() && event.file == present {
            return;
        }
        let below = self.below(from.node);
        self.namespace.rename(names.paths.get(old.0), names.paths.get(new.0));
        self.files.renamed.note(names.paths.get(old.0), names.paths.get(new.0), event.file);
        self.tell_below(&below, old, true, names, sink);
        self.tell_below(&below, new, false, names, sink);
        self.tell(event.path2, present, true, names, sink);
        self.tell(event.path, event.file, true, names, sink);
        self.tell(event.path2, event.file, false, names, sink);
        if has(operands, symbols::RENAME_WHITEOUT) {
            self.leave_whiteout(event.path, names, sink);
        }
    }

    /// Where a file was lies the device now that hides what a lower layer of an overlay has there.
    fn leave_whiteout<S: Sink>(&mut self, path: Nullable<PathId>, names: &mut Dictionaries, sink: &mut S) {
        let Some(walked) = self.reach_given(path, false, names) else { return };
        let file = self.make_new(walked.node, names);
        if let Some(file) = file.get() {
            self.namespace.set_kind(file, FileKind::Char);
        }
        self.tell(path, file, false, names, sink);
    }

    /// The files below a directory that gets another name.
    fn below(&mut self, node: Node) -> Vec<(Vec<u8>, FileId)> {
        let (found, seen) = self.namespace.below(node, self.credit.0);
        self.credit.0 -= seen;
        found
    }

    /// Tells of files below a directory of that path that they have, or have lost, these names.
    fn tell_below<S: Sink>(
        &self,
        files: &[(Vec<u8>, FileId)],
        directory: PathId,
        gone: bool,
        names: &mut Dictionaries,
        sink: &mut S,
    ) {
        for (name, file) in files {
            let path = [names.paths.get(directory.0), name].concat();
            let path = Nullable::some(intern(names, &path));
            self.tell(path, Nullable::some(*file), gone, names, sink);
        }
    }

    fn links<S: Sink>(
        &mut self,
        event: &mut Event,
        (thread, follows): (ThreadId, bool),
        operands: &Operands<'_>,
        names: &mut Dictionaries,
        sink: &mut S,
    ) {
        let link = (event.path2, event.file2);
        self.looks(event, thread, follows, operands, names);
        (event.path2, event.file2) = link;
        event.file2 = event.file;
        let Some(walked) = self.reach_name(&mut event.path2, names) else { return };
        let Some(file) = event.file.get() else { return };
        self.lose(event.path2, walked.node, names, sink);
        self.namespace.set(walked.node, Content::File(file));
        self.tell(event.path2, event.file, false, names, sink);
    }

    /// The file behind a new description, whose path was given as `given`.
    pub(crate) fn opened<S: Sink>(
        &mut self,
        event: &mut Event,
        (thread, given): (ThreadId, Nullable<PathId>),
        opening: Opening,
        facts: Option<&FileFacts>,
        names: &mut Dictionaries,
        sink: &mut S,
    ) -> Nullable<FileId> {
        if let Some(description) = self.described(thread, given, names).filter(|_| opening.follows) {
            return self.file_of(description, names);
        }
        if let Some(file) = self.lost_file(given).filter(|file| !file.is_null()) {
            return file;
        }
        if opening.nameless {
            let file = self.nameless(facts, opening, names);
            if let (Some(walked), Some(file)) = (self.reach(event.path, false, names), file.get())
                && !matches!(self.namespace.content(walked.node), Content::File(_))
            {
                self.namespace.set(walked.node, Content::Nameless(file));
            }
            return file;
        }
        let walked = self.reach_given(given, opening.follows, names);
        let told = event.path != given;
        let link = walked.as_ref().and_then(|walked| walked.link.as_ref());
        self.note_link(event, given, link, names);
        let walked = if told { self.reach(event.path, false, names) } else { walked };
        let Some(Walked { node, .. }) = walked else { return Nullable::NULL };
        let present = self.namespace.content(node);
        let made = match (opening.creates, present) {
            (false, _) => Made::No,
            (true, Content::Nothing | Content::Nameless(_)) => Made::Surely,
            (true, _) if opening.exclusive => Made::Surely,
            (true, Content::File(_)) => Made::No,
            (true, Content::Unknown) => Made::Perhaps,
        };
        let found = facts.and_then(|facts| self.found_file(present, facts, made));
        let is_other = facts.is_some_and(|facts| self.is_other(present, facts));
        match found {
            Some(file) if present == Content::File(file) => Nullable::some(file),
            Some(file) => {
                match present {
                    // Nobody looked at it before: it was this file all the time.
                    Content::File(known) if self.is_unseen(known, file) => {
                        let named =
                            NamedFile { file: present.into(), facts: facts.copied(), ..NamedFile::default() };
                        event.path.get().into_iter().for_each(|path| sink.file(path, &named, names));
                    }
                    _ => self.lose(event.path, node, names, sink),
                }
                self.namespace.set(node, Content::File(file));
                Nullable::some(file)
            }
            None if is_other => {
                self.lose(event.path, node, names, sink);
                self.make_file(node, names)
            }
            None if made == Made::Surely => {
                self.lose(event.path, node, names, sink);
                self.make_new(node, names)
            }
            None if made != Made::No || facts.is_some() && present == Content::Unknown => {
                self.make_file(node, names)
            }
            None => self.there(node, names),
        }
    }

    /// Whether nobody looked at a file yet, and `found` may be it: the trace did not make it, or did so before that was seen.
    fn is_unseen(&self, file: FileId, found: FileId) -> bool {
        (!self.namespace.is_made(file) || file < found) && self.namespace.facts(file).is_none()
    }

    /// Whether a file does not have that name, as far as is known.
    pub(crate) fn is_gone(&mut self, path: PathId, file: Nullable<FileId>, names: &Dictionaries) -> bool {
        let Some(walked) = self.reach(Nullable::some(path), false, names) else { return false };
        match self.namespace.content(walked.node) {
            Content::Unknown => false,
            Content::Nothing | Content::Nameless(_) => true,
            Content::File(present) => Nullable::some(present) != file,
        }
    }

    /// The file that was bound to a socket, or that one was connected to.
    pub(crate) fn socket_file<S: Sink>(
        &mut self,
        path: Nullable<PathId>,
        makes: bool,
        succeeded: bool,
        names: &mut Dictionaries,
        sink: &mut S,
    ) -> Nullable<FileId> {
        let Some(walked) = self.reach_given(path, !makes, names) else { return Nullable::NULL };
        match (makes, succeeded) {
            (true, true) => {
                self.lose(path, walked.node, names, sink);
                let file = self.make_new(walked.node, names);
                if let Some(file) = file.get() {
                    self.namespace.set_kind(file, FileKind::Socket);
                }
                self.tell(path, file, false, names, sink);
                file
            }
            (false, true) => self.there(walked.node, names),
            (_, false) => self.namespace.content(walked.node).into(),
        }
    }

    /// The file of a descriptor of which nothing is known but a name that its file has lost: somebody had it before. NULL
    /// if the name is there.
    pub(crate) fn deleted_file(&mut self, hint: Target<'_>, names: &mut Dictionaries) -> Nullable<FileId> {
        if !(hint.deleted && hint.name.starts_with(b"/")) {
            return Nullable::NULL;
        }
        // A look at all descriptors costs no more than other calls.
        let cost = self.files.live() + self.sent.len();
        let path = names.paths.find(hint.name).map(PathId).filter(|_| self.is_trace && cost <= self.credit.0);
        self.credit.0 -= if path.is_some() { cost } else { 0 };
        let mut held = path.into_iter().flat_map(|path| {
            let known = self.files.with_descriptors().chain(self.sent.iter().copied());
            let known = known.map(|id| self.files.description(id));
            known.filter(move |known| known.path == Nullable::some(path)).filter_map(|known| known.file.get())
        });
        let held: Vec<FileId> = held.by_ref().take(MANY).collect();
        let gone = |file: &&FileId| !self.namespace.has_names(**file);
        let first = held.iter().find(gone).copied();
        match first.filter(|first| held.iter().filter(gone).all(|other| other == first)) {
            Some(file) => Nullable::some(file),
            None => names.next_file(),
        }
    }

    /// A descriptor was sent with a message: until it arrives nobody may have it.
    pub(crate) fn travels(&mut self, id: DescriptionId) {
        if self.sent.len() == MOST_SENT {
            self.sent.pop_front();
        }
        self.sent.push_back(id);
    }

    /// A trace shows that a thread received a descriptor. If only one that was sent can be it, it is that.
    pub(crate) fn arrives(
        &mut self,
        thread: ThreadId,
        fd: i32,
        target: Option<Target<'_>>,
        names: &mut Dictionaries,
    ) {
        let table = self.processes.thread(thread).table;
        self.files.close(table, fd);
        let Some(target) = target else {
            // One of those on their way, or one that nobody saw being sent: which, a trace without names does not say.
            let id = self.description_of(table, (fd, None), true, names);
            id.into_iter().for_each(|id| self.files.has_no_number(id));
            return;
        };
        for id in self.sent.clone() {
            self.follow_renames(id, names);
        }
        let is_it = |id: &DescriptionId| {
            let Description { path, file, .. } = *self.files.description(*id);
            // What lies in no directory has no names to lose.
            let is_path = target.name.starts_with(b"/");
            let has_lost = is_path && file.get().is_some_and(|file| !self.namespace.has_names(file));
            path.get().is_some_and(|path| names.paths.get(path.0) == target.name)
                && target.deleted == has_lost
        };
        let matching: Vec<DescriptionId> = self.sent.iter().copied().filter(is_it).collect();
        match matching.first().filter(|first| matching.iter().all(|other| other == *first)) {
            Some(only) => {
                self.files.set(table, fd, *only, false);
                if !self.is_trace {
                    // A recorder has made sure that nobody else got it.
                    let sent = &mut self.files.description_mut(*only).sent;
                    *sent = sent.saturating_sub(1);
                }
                if let Some(place) = self.sent.iter().position(|id| id == only) {
                    self.sent.remove(place);
                }
            }
            None => {
                let id = self.description_of(table, (fd, Some(target)), true, names);
                id.filter(|_| !matching.is_empty()).into_iter().for_each(|id| self.files.has_no_number(id));
            }
        }
    }

    /// Whether a file that the trace made has no name any more and nobody has it open: another one that is found with its
    /// inode is not it, also with an equal time of birth.
    fn is_dead(&self, file: FileId) -> bool {
        let is_it = |id: DescriptionId| self.files.description(id).file == Nullable::some(file);
        self.namespace.is_made(file)
            && !self.namespace.has_names(file)
            && !self.files.holds_file(file)
            && !self.sent.iter().copied().any(is_it)
            && !self.memory.descriptions().any(is_it)
            && !self.processes.in_flight().any(is_it)
    }

    /// The known file that was found, if it is one.
    fn known_file(&self, facts: &FileFacts, made: Made) -> Option<FileId> {
        self.namespace.of_facts(facts, made).filter(|file| !self.is_dead(*file))
    }

    /// A look at a descriptor of which nothing was known shows a file that has lost its names: one that is known, perhaps.
    pub(crate) fn recognise(&mut self, id: DescriptionId, facts: &FileFacts) {
        if let Some(file) = self.known_file(facts, Made::No) {
            self.files.description_mut(id).file = Nullable::some(file);
        }
    }

    /// A file that no name leads to.
    fn nameless(
        &mut self,
        facts: Option<&FileFacts>,
        opening: Opening,
        names: &mut Dictionaries,
    ) -> Nullable<FileId> {
        let made = if opening.exclusive { Made::Surely } else { Made::No };
        let known = facts.and_then(|facts| self.known_file(facts, made));
        let file = known.map(Nullable::some).unwrap_or_else(|| names.next_file());
        if let (Made::Surely, None, Some(file)) = (made, known, file.get()) {
            self.namespace.set_made(file);
        }
        file
    }

    /// The known file that was found where `present` should be.
    fn found_file(&self, present: Content, facts: &FileFacts, made: Made) -> Option<FileId> {
        let known = self.namespace.of_facts(facts, made);
        if let (Content::File(file), Made::No) = (present, made) {
            match self.namespace.facts(file) {
                Some(seen) if (seen.device, seen.inode) == (facts.device, facts.inode) => return Some(file),
                // The trace made it when the other was known already, which has lost its names: the inode was given again.
                None if known.is_some_and(|known| self.is_older(known, file)) => return Some(file),
                _ => {}
            }
        }
        known.filter(|file| !self.is_dead(*file))
    }

    /// Whether a file without a name was known before the trace made another one.
    fn is_older(&self, known: FileId, made: FileId) -> bool {
        self.namespace.is_made(made) && known < made && !self.namespace.has_names(known)
    }

    /// Whether another file was found than the one that should be there.
    fn is_other(&self, present: Content, facts: &FileFacts) -> bool {
        let Content::File(file) = present else { return false };
        let known = self.namespace.facts(file);
        known.is_some_and(|known| (known.device, known.inode) != (facts.device, facts.inode))
    }

    /// The call shows the attributes of a file, which tell it from others and join its names.
    fn learn_attributes<S: Sink>(
        &mut self,
        event: &mut Event,
        call: &RawCall<'_>,
        description: Option<DescriptionId>,
        names: &mut Dictionaries,
        sink: &mut S,
    ) {
        let (Some(shown), Some(path), Some(file)) =
            (attributes::shown(call.args), event.path.get(), event.file.get())
        else {
            return;
        };
        let known = self.namespace.facts(file);
        let facts = FileFacts { birth: shown.birth.or(known.and_then(|known| known.birth)), ..shown };
        let is_other = known.is_some_and(|known| (known.device, known.inode) != (facts.device, facts.inode));
        let holder = self.namespace.of_facts(&facts, Made::Perhaps);
        // What the trace made cannot be what was there before.
        let holder = holder.filter(|holder| *holder == file || is_other || !self.namespace.is_made(file));
        let found = match holder {
            Some(holder) => Nullable::some(holder),
            None if is_other => names.next_file(),
            None => Nullable::some(file),
        };
        let Some(found) = found.get() else { return };
        let node = self.reach_given(event.path, false, names).map(|walked| walked.node);
        let node = node.filter(|node| self.namespace.content(*node) == Content::File(file));
        if found != file {
            if is_other && description.is_none() {
                self.tell(event.path, Nullable::some(file), true, names, sink);
            } else if !is_other {
                // Both numbers are that of one file.
                sink.file(
                    path,
                    &NamedFile { file: event.file, facts: Some(facts), ..NamedFile::default() },
                    names,
                );
            }
            if let Some(node) = node {
                self.namespace.set(node, Content::File(found));
            }
            if let Some(description) = description {
                self.files.description_mut(description).file = Nullable::some(found);
            }
            event.file = Nullable::some(found);
        }
        self.namespace.learn(found, &facts);
        self.tell(event.path, event.file, node.is_none(), names, sink);
    }

    /// What a tracer found behind a description: answers its file.
    pub(crate) fn learn_identity(
        &mut self,
        id: DescriptionId,
        facts: &FileFacts,
        names: &mut Dictionaries,
    ) -> Nullable<FileId> {
        let description = self.files.description(id);
        let (path, mut file) = (description.path, description.file);
        let is_file = path.get().is_some_and(|path| names.paths.get(path.0).starts_with(b"/"));
        if !is_file || facts.kind == Some(FileKind::Anon) {
            return file;
        }
        if file.is_null() {
            let walked = self.reach(path, false, names);
            let present =
                walked.as_ref().map(|walked| self.namespace.content(walked.node)).unwrap_or_default();
            file = match self.found_file(present, facts, Made::No) {
                Some(known) => Nullable::some(known),
                None => match present {
                    Content::File(known) if !self.is_other(present, facts) => Nullable::some(known),
                    _ => names.next_file(),
                },
            };
            if let (Some(walked), Some(file)) = (walked, file.get()) {
                self.namespace.set(walked.node, Content::File(file));
            }
            self.files.description_mut(id).file = file;
        }
        if let Some(file) = file.get() {
            self.namespace.learn(file, facts);
        }
        file
    }

    /// What was found behind the descriptor that a call of this thread is about to return, if a tracer told.
    pub(crate) fn found_behind(&self, thread: ThreadId, fd: i32) -> Option<FileFacts> {
        let tid = self.processes.thread(thread).tid;
        self.behind.iter().find(|(of, other, _)| (*of, *other) == (tid, fd)).map(|(_, _, facts)| *facts)
    }

    /// The call that made the descriptors has returned: what was found behind them is learnt.
    pub(crate) fn learn_behind<S: Sink>(
        &mut self,
        thread: ThreadId,
        table: TableId,
        names: &mut Dictionaries,
        sink: &mut S,
    ) {
        let tid = self.processes.thread(thread).tid;
        let mut found = std::mem::take(&mut self.behind);
        found.retain(|(of, fd, facts)| {
            if *of == tid
                && let Some(description) = self.files.get(table, *fd)
            {
                self.learn_file(description, facts, names, sink);
            }
            *of != tid
        });
        self.behind = found;
    }
}

/// What the mode of `mknod` makes: `S_IFIFO|0644`.
fn kind_of_node(operands: &Operands<'_>) -> Option<FileKind> {
    let word = |word: &[u8]| match word {
        b"S_IFIFO" => Some(FileKind::Pipe),
        b"S_IFSOCK" => Some(FileKind::Socket),
        b"S_IFCHR" => Some(FileKind::Char),
        b"S_IFBLK" => Some(FileKind::Block),
        b"S_IFREG" => Some(FileKind::File),
        _ => None,
    };
    operands.flags.iter().flatten().find_map(|mode| match mode {
        Arg::Int(mode) => u32::try_from(*mode).ok().and_then(FileKind::of_mode),
        Arg::Symbols(text) | Arg::Text(text) => text.split(|byte| *byte == b'|').find_map(word),
        _ => None,
    })
}

/// Whether a failed call leaves open that its path is that of a file.
fn may_be_there(call: &RawCall<'_>, operands: &Operands<'_>) -> bool {
    let (Return::Failed(errno), Some(spec)) = (call.ret, spec(call.call)) else { return true };
    let flags = || match (operands.structure, operands.flags[0]) {
        (Some(text), _) | (None, Some(&(Arg::Symbols(text) | Arg::Text(text)))) => Cow::Borrowed(text),
        (None, Some(Arg::Int(number))) => Cow::Owned(number.to_string().into_bytes()),
        _ => Cow::Borrowed(&b""[..]),
    };
    spec.presence(flags, errno) != Presence::Missing
}

pub(crate) fn has(operands: &Operands<'_>, symbol: Symbol) -> bool {
    operands.flags.iter().flatten().any(|flags| symbol.is_in(flags))
}
