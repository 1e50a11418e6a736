//! Which file a call acted on: the columns `file` and `file2`.
//!
//! A descriptor stands for the file that it was opened on, whatever becomes of the name. A path means what the name
//! denotes when the call is made, and what the call makes, renames or removes changes that ([`crate::namespace`]). What a
//! tracer finds behind a descriptor (device, inode, time of birth) is believed more than names: it tells hard links, bind
//! mounts and what others did.

use crate::Sink;
use crate::attributes;
use crate::births;
use crate::context::Context;
use crate::descriptor_tables::{Description, DescriptionId};
use crate::effect::Naming;
use crate::file_names::intern;
use crate::namespace::{Content, Made, Walked};
use crate::open_files::Holders;
use crate::operands::{Base, Operands, PathArg};
use crate::process_table::{Thread, ThreadId};
use crate::state::State;
use iotrail_model::calls::{Presence, spec};
use iotrail_model::raw::{Arg, RawCall, Return};
use iotrail_model::{
    Dictionaries, Event, FileFacts, FileId, FileKind, NamedFile, Nullable, PathId, Timestamp,
};
use std::borrow::Cow;

/// What a call asks for that makes a descriptor of a path.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OpenRequest {
    pub(crate) creates: bool,
    /// It must not have been there.
    pub(crate) exclusive: bool,
    /// The file has no name.
    pub(crate) nameless: bool,
    pub(crate) follows: bool,
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

/// What a failed call tells of its path; of one that gives a name, of that.
fn presence(call: &RawCall<'_>, operands: &Operands<'_>) -> Option<Presence> {
    let (Return::Failed(errno), Some(spec)) = (call.ret, spec(call.call)) else { return None };
    let flags = || match (operands.structure, operands.flags[0]) {
        (Some(text), _) | (None, Some(&(Arg::Symbols(text) | Arg::Text(text)))) => Cow::Borrowed(text),
        (None, Some(Arg::Int(number))) => Cow::Owned(number.to_string().into_bytes()),
        _ => Cow::Borrowed(&b""[..]),
    };
    Some(spec.presence(flags, errno))
}

/// Whether a call that begins then, and makes a file unless it is there, made this one.
fn is_young(facts: &FileFacts, start: Timestamp) -> bool {
    facts.birth.is_some_and(|birth| births::may_be_made_by(birth, start))
}

impl State {
    /// Says which files the call acted on, and follows what it does to names.
    pub(crate) fn identify<S: Sink>(
        &mut self,
        event: &mut Event,
        (thread, call, operands): (ThreadId, &RawCall<'_>, &Operands<'_>),
        description: Option<DescriptionId>,
        cx: &mut Context<'_, S>,
    ) {
        let naming = self.effects.naming(call.call);
        if let Some(id) = description {
            event.file = self.file_of(id, cx.names);
        }
        if operands.held.is_some() {
            event.file = self.file_in_ring(event.path, cx.names);
        }
        let succeeded = matches!(call.ret, Return::Value(value, _) if value >= 0);
        match naming {
            Naming::None => {}
            _ if !succeeded => {
                let presence = presence(call, operands);
                if let (false, Some(_)) = (presence == Some(Presence::Missing), operands.path)
                    && let Some(walked) =
                        self.file_names.reach_given(event.path, self.effects.follows(call), cx.names)
                {
                    let file = Nullable::<FileId>::from(self.file_names.namespace.content(walked.node));
                    event.file = Nullable::from(file.get().or(event.file.get()));
                    self.file_names.note_link(event, event.path, walked.link.as_ref(), cx.names);
                }
                // The name that it would have given is taken.
                if let (Naming::Renames | Naming::Links, Some(Presence::There)) = (naming, presence)
                    && let Some(walked) = self.file_names.reach_given(event.path2, false, cx.names)
                {
                    event.file2 = self.file_names.there(walked.node, cx.names);
                }
            }
            // That is found out with the descriptor.
            Naming::Opens => {}
            Naming::Uses => {
                self.uses(event, thread, self.effects.follows(call), operands, cx.names);
                if let (true, Some(path), Some(file)) =
                    (self.effects.opens_into_ring(call.call), event.path.get(), event.file.get())
                {
                    self.ring_files.insert(cx.names.paths.get(path.0), file);
                }
            }
            Naming::Makes => {
                event.file = self.file_names.makes(event, cx);
                if let (Some(file), Some(kind)) = (event.file.get(), kind_of_node(operands)) {
                    self.file_names.namespace.set_kind(file, kind);
                    self.file_names.emit_name(event.path, event.file, false, cx);
                }
            }
            Naming::Renames => self.file_names.renames(event, operands, &mut self.descriptors.renamed, cx),
            Naming::Links => {
                let follows = self.effects.follows(call);
                self.links(event, (thread, follows), operands, cx);
            }
            Naming::Symlinks => {
                let target = event.path2;
                event.file = self.file_names.makes(event, cx);
                event.path2 = target;
                if let (Some(file), Some(target)) = (event.file.get(), operands.text) {
                    self.file_names.namespace.set_target(file, target);
                }
                if let Some(walked) = self.file_names.reach_given(event.path2, true, cx.names) {
                    event.file2 = self.file_names.namespace.content(walked.node).into();
                    // What leads to a file through links is none of its names.
                    if walked.link.is_some() {
                        self.file_names.emit_name(event.path2, event.file2, true, cx);
                    }
                }
            }
            Naming::Removes => {
                if let Some(walked) = self.file_names.reach_given(event.path, false, cx.names) {
                    self.file_names.note_link(event, event.path, walked.link.as_ref(), cx.names);
                    event.file = self.file_names.there(walked.node, cx.names);
                    self.file_names.namespace.set(walked.node, Content::Nothing);
                    if let Some(path) =
                        event.path.get().filter(|_| self.file_names.namespace.has_children(walked.node))
                    {
                        self.descriptors.renamed.note_removal(cx.names.paths.get(path.0), event.file);
                    }
                    self.file_names.emit_name(event.path, event.file, true, cx);
                }
            }
        }
        if succeeded && self.source.is_trace && self.effects.shows_file(call.call) {
            let description = description.or_else(|| self.base_description(thread, operands.path?, cx.names));
            self.learn_attributes(event, call, description, cx);
        }
    }

    /// A call that acts on what its path denotes.
    fn uses(
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
            self.follow_renames(description, names);
            let path = self.descriptors.description(description).path;
            event.path = Nullable::from(path.get().or(event.path.get()));
            return;
        }
        if let Some(file) = self.file_names.lost_file(event.path) {
            event.file = file;
        } else if let Some(walked) = self.file_names.reach_given(event.path, follows, names) {
            event.file = self.file_names.there(walked.node, names);
            self.file_names.note_link(event, event.path, walked.link.as_ref(), names);
        }
    }

    /// The file of that name that a ring holds: the one that was opened so, or what the name denotes.
    fn file_in_ring(&mut self, path: Nullable<PathId>, names: &Dictionaries) -> Nullable<FileId> {
        let Some(name) = path.get().map(|path| names.paths.get(path.0)) else { return Nullable::NULL };
        if let Some(file) = self.ring_files.get(name) {
            return Nullable::some(file);
        }
        let walked = self.file_names.reach(path, false, names);
        walked.map_or(Nullable::NULL, |walked| self.file_names.namespace.content(walked.node).into())
    }

    /// The file of a directory descriptor that an empty path stands for.
    fn base_file(
        &mut self,
        thread: ThreadId,
        arg: PathArg<'_>,
        names: &mut Dictionaries,
    ) -> Option<Nullable<FileId>> {
        let description = self.base_description(thread, arg, names)?;
        Some(self.file_of(description, names))
    }

    /// What a directory descriptor stands for that an empty path means.
    fn base_description(
        &mut self,
        thread: ThreadId,
        arg: PathArg<'_>,
        names: &mut Dictionaries,
    ) -> Option<DescriptionId> {
        let (Base::Fd(fd), None | Some(b"")) = (arg.base, arg.bytes) else { return None };
        let table = self.processes.thread(thread).table;
        self.description_of(table, fd, false, names)
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

    fn links<S: Sink>(
        &mut self,
        event: &mut Event,
        (thread, follows): (ThreadId, bool),
        operands: &Operands<'_>,
        cx: &mut Context<'_, S>,
    ) {
        let link = (event.path2, event.file2);
        self.uses(event, thread, follows, operands, cx.names);
        (event.path2, event.file2) = link;
        event.file2 = event.file;
        let Some(walked) = self.file_names.reach_name(&mut event.path2, cx.names) else { return };
        let Some(file) = event.file.get() else { return };
        self.file_names.lose(event.path2, walked.node, cx);
        self.file_names.namespace.set(walked.node, Content::File(file));
        if let Some(path) = event.path2.get() {
            self.descriptors.renamed.note_link(cx.names.paths.get(path.0), file);
        }
        self.file_names.emit_name(event.path2, event.file, false, cx);
    }

    /// The file behind a new description, whose path was given as `given`.
    pub(crate) fn opened<S: Sink>(
        &mut self,
        event: &mut Event,
        (thread, given): (ThreadId, Nullable<PathId>),
        opening: OpenRequest,
        facts: Option<&FileFacts>,
        cx: &mut Context<'_, S>,
    ) -> Nullable<FileId> {
        if let Some(description) = self.described(thread, given, cx.names).filter(|_| opening.follows) {
            return self.file_of(description, cx.names);
        }
        if let Some(file) = self.file_names.lost_file(given).filter(|file| !file.is_null()) {
            return file;
        }
        if opening.nameless {
            let holders = Holders { spaces: &self.spaces, processes: &self.processes };
            let file =
                self.descriptors.nameless(facts, opening.exclusive, &holders, &mut self.file_names, cx.names);
            if let (Some(walked), Some(file)) =
                (self.file_names.reach(event.path, false, cx.names), file.get())
                && !matches!(self.file_names.namespace.content(walked.node), Content::File(_))
            {
                self.file_names.namespace.set(walked.node, Content::Nameless(file));
            }
            return file;
        }
        let walked = self.file_names.reach_given(given, opening.follows, cx.names);
        let is_renamed = event.path != given;
        let link = walked.as_ref().and_then(|walked| walked.link.as_ref());
        self.file_names.note_link(event, given, link, cx.names);
        let walked = if is_renamed { self.file_names.reach(event.path, false, cx.names) } else { walked };
        let Some(Walked { node, .. }) = walked else { return Nullable::NULL };
        let present = self.file_names.namespace.content(node);
        let made = match (opening.creates, present) {
            (false, _) => Made::No,
            (true, Content::Nothing | Content::Nameless(_)) => Made::Surely,
            (true, _) if opening.exclusive => Made::Surely,
            (true, Content::File(_)) => Made::No,
            (true, Content::Unknown) => Made::Perhaps,
        };
        let found = facts.and_then(|facts| {
            self.descriptors.found_file(present, facts, made, &self.file_names, &self.holders())
        });
        // Somebody else removed the file that has its inode and time of birth.
        let is_new = |file: &FileId| {
            opening.creates
                && opening.exclusive
                && self.file_names.namespace.is_known_before(*file, event.start)
        };
        let found = found.filter(|file| !is_new(file));
        let is_other = facts.is_some_and(|facts| self.file_names.is_other(present, facts));
        let file = match found {
            Some(file) if present == Content::File(file) => Nullable::some(file),
            Some(file) => {
                match present {
                    // Nobody looked at it before: it was this file all the time.
                    Content::File(known) if self.file_names.is_unseen(known, file) => {
                        let named =
                            NamedFile { file: present.into(), facts: facts.copied(), ..NamedFile::default() };
                        event.path.get().into_iter().for_each(|path| cx.sink.file(path, &named, cx.names));
                    }
                    _ => self.file_names.lose(event.path, node, cx),
                }
                self.file_names.namespace.set(node, Content::File(file));
                Nullable::some(file)
            }
            None if is_other => {
                self.file_names.lose(event.path, node, cx);
                self.file_names.make_file(node, cx.names)
            }
            None if made == Made::Surely => {
                self.file_names.lose(event.path, node, cx);
                self.file_names.make_new(node, cx.names)
            }
            None if made == Made::Perhaps && facts.is_some_and(|facts| is_young(facts, event.start)) => {
                self.file_names.make_new(node, cx.names)
            }
            None if made != Made::No || facts.is_some() && present == Content::Unknown => {
                self.file_names.make_file(node, cx.names)
            }
            None => self.file_names.there(node, cx.names),
        };
        if let (Some(file), Some(_)) = (file.get(), facts) {
            let end = event.dur.get().map(|dur| Timestamp(event.start.0.saturating_add(dur.0)));
            self.file_names.namespace.was_opened(file, event.start, end);
        }
        file
    }

    /// The file that was bound to a socket, or that one was connected to.
    pub(crate) fn socket_file<S: Sink>(
        &mut self,
        path: Nullable<PathId>,
        makes: bool,
        succeeded: bool,
        cx: &mut Context<'_, S>,
    ) -> Nullable<FileId> {
        let Some(walked) = self.file_names.reach_given(path, !makes, cx.names) else { return Nullable::NULL };
        match (makes, succeeded) {
            (true, true) => {
                self.file_names.lose(path, walked.node, cx);
                let file = self.file_names.make_new(walked.node, cx.names);
                if let Some(file) = file.get() {
                    self.file_names.namespace.set_kind(file, FileKind::Socket);
                }
                self.file_names.emit_name(path, file, false, cx);
                file
            }
            (false, true) => self.file_names.there(walked.node, cx.names),
            (_, false) => self.file_names.namespace.content(walked.node).into(),
        }
    }

    /// The call shows the attributes of a file, which tell it from others and join its names.
    fn learn_attributes<S: Sink>(
        &mut self,
        event: &mut Event,
        call: &RawCall<'_>,
        description: Option<DescriptionId>,
        cx: &mut Context<'_, S>,
    ) {
        let (Some(shown), Some(path), Some(file)) =
            (attributes::shown(call.args), event.path.get(), event.file.get())
        else {
            return;
        };
        self.unshown.prints();
        let known = self.file_names.namespace.facts(file);
        let facts = FileFacts { birth: shown.birth.or(known.and_then(|known| known.birth)), ..shown };
        let is_other = known.is_some_and(|known| (known.device, known.inode) != (facts.device, facts.inode));
        let holder = self.file_names.namespace.of_facts(&facts, Made::Perhaps);
        // What the trace made cannot be what was there before.
        let holder =
            holder.filter(|holder| *holder == file || is_other || !self.file_names.namespace.is_made(file));
        let found = match holder {
            Some(holder) => Nullable::some(holder),
            None if is_other => cx.names.next_file(),
            None => Nullable::some(file),
        };
        let Some(found) = found.get() else { return };
        let node = self.file_names.reach_given(event.path, false, cx.names).map(|walked| walked.node);
        let node = node.filter(|node| self.file_names.namespace.content(*node) == Content::File(file));
        if found != file {
            if is_other && (description.is_none() || node.is_some()) {
                self.file_names.emit_name(event.path, Nullable::some(file), true, cx);
            } else if !is_other {
                // Both numbers are that of one file.
                cx.sink.file(
                    path,
                    &NamedFile { file: event.file, facts: Some(facts), ..NamedFile::default() },
                    cx.names,
                );
            }
            if let Some(node) = node {
                self.file_names.namespace.set(node, Content::File(found));
            }
            event.file = Nullable::some(found);
            if let Some(description) = description {
                self.acts_on(description, event, (file, is_other));
            }
        }
        if let Some(description) = description {
            self.unshown.settles(self.descriptors.description(description).number);
        }
        self.file_names.namespace.learn(found, &facts);
        self.file_names.emit_name(event.path, Nullable::some(found), node.is_none(), cx);
    }

    /// A call showed that a description is of the file of the event. If calls on it were told to act on another one, as its
    /// name said, that is what all its calls act on.
    fn acts_on(&mut self, id: DescriptionId, event: &mut Event, (told, is_other): (FileId, bool)) {
        let Description { number, followed, .. } = *self.descriptors.description(id);
        let is_corrected = self.unshown.shows(number, event.file);
        if is_other && followed && !is_corrected {
            event.file = Nullable::some(told);
        } else {
            self.descriptors.description_mut(id).file = event.file;
        }
    }

    /// What was found behind the descriptor that a call of this thread is about to return, if a tracer told.
    pub(crate) fn found_behind(&self, thread: ThreadId, fd: i32) -> Option<FileFacts> {
        self.probes.get(self.processes.thread(thread).tid, fd)
    }

    /// The call that made the descriptors has returned: what was found behind them is learnt.
    pub(crate) fn learn_behind<S: Sink>(&mut self, thread: ThreadId, cx: &mut Context<'_, S>) {
        let Thread { tid, table, .. } = *self.processes.thread(thread);
        for (fd, facts) in self.probes.take(tid) {
            if let Some(description) = self.descriptors.get(table, fd) {
                self.learn_file(description, &facts, cx);
            }
        }
    }

    /// What lies behind a description. Pipes and sockets get the number by which they can be told apart.
    pub(crate) fn learn_file<S: Sink>(
        &mut self,
        id: DescriptionId,
        facts: &FileFacts,
        cx: &mut Context<'_, S>,
    ) {
        // A copy of the descriptor tells nothing new.
        if !self.descriptors.identify(id, facts.device, facts.inode) {
            return;
        }
        let kind = match facts.kind {
            Some(FileKind::Pipe) => Some("pipe"),
            Some(FileKind::Socket) => Some("socket"),
            _ => None,
        };
        let positions = !matches!(facts.kind, Some(FileKind::Char | FileKind::Anon | FileKind::Directory));
        if kind.is_some() || !positions {
            self.descriptors.has_no_positions(id);
        }
        let description = self.descriptors.description_mut(id);
        let Some(path) = description.path.get() else { return };
        let path = match kind.filter(|kind| cx.names.paths.get(path.0) == kind.as_bytes()) {
            Some(kind) => intern(cx.names, format!("{kind}:[{}]", facts.inode).as_bytes()),
            None => path,
        };
        description.path = Nullable::some(path);
        let holders = Holders { spaces: &self.spaces, processes: &self.processes };
        let file = self.descriptors.learn_identity(id, facts, &holders, &mut self.file_names, cx.names);
        let gone = self.file_names.is_gone(path, file, cx.names);
        cx.sink.file(path, &NamedFile { file, gone, facts: Some(*facts), kind: None }, cx.names);
    }
}
