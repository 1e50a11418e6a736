//! Calls that make descriptors, or give what those stand for another name.

use crate::Sink;
use crate::contested::Look;
use crate::context::Context;
use crate::descriptor_tables::{Description, DescriptionId, TableId};
use crate::effect::{Anonymous, Cloexec, Effect, FSMOUNT, IO_URING, O_CLOEXEC, PIDFD, SOCKET, TAKEN};
use crate::file_names::{LONG, intern};
use crate::histories::Fate;
use crate::holds::Holds;
use crate::identity::OpenRequest;
use crate::operands::{Base, Operands, PathArg, integer};
use crate::paths;
use crate::positions::Positions;
use crate::process_table::{Thread, ThreadId};
use crate::scene::{Scene, asked_by, cloexec_in, is_creat};
use crate::shares::Shares;
use crate::sockets::{self, Address, Given, Protocol};
use crate::state::State;
use crate::symbols;
use iotrail_model::calls::{CallKind, Makes};
use iotrail_model::places::is_pseudo;
use iotrail_model::raw::Target;
use iotrail_model::text::path_to_text;
use iotrail_model::{Dictionaries, Event, FileKind, FlagsId, Nullable, PathId, Tid};

/// Whether a name leads to a file through symbolic links, as far as its letters tell: not those of the kernel, which lead to
/// what a process has open.
fn goes_by_links(given: Option<PathArg<'_>>, name: &[u8], file: &[u8]) -> bool {
    let climbs = |path: &[u8]| path.split(|byte| *byte == b'/').any(|part| part == b"..");
    name != file
        && name.len() <= LONG
        && [name, file].into_iter().all(|path| path.starts_with(b"/") && !is_pseudo(path))
        && given.and_then(|given| given.bytes).is_some_and(|bytes| !climbs(bytes))
}

/// A file in a directory that was made without a name (`O_TMPFILE`); the kernel shows a number instead.
const NAMELESS: &[u8] = b"/#unnamed";

/// What a tracer knows of a descriptor that came with a message.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Arrival<'a> {
    /// It stands for what another descriptor does.
    Copy(DescriptionId),
    /// Its name, if that.
    Named(Option<Target<'a>>),
}

impl State {
    /// A call that would have made a descriptor from another one (accept) acted on that.
    pub(crate) fn name_second(&mut self, event: &mut Event, scene: &Scene<'_>, names: &mut Dictionaries) {
        if let (Some(fd), None) = (scene.operands.fd2, scene.operands.path) {
            let table = self.processes.thread(scene.thread).table;
            event.fd = Nullable::some(fd.0);
            if let Some(listener) = self.description_of(table, fd, false, names) {
                let Description { path, number, .. } = *self.descriptors.description(listener);
                (event.path, event.open) = (path, number);
            }
        }
    }

    pub(crate) fn open<S: Sink>(&mut self, event: &mut Event, scene: &Scene<'_>, cx: &mut Context<'_, S>) {
        let Some((fd, hint)) = scene.made() else { return };
        let (operands, given) = (scene.operands, event.path);
        let hint = hint
            .filter(|hint| given.get().is_none_or(|given| !hint.is_literally(cx.names.paths.get(given.0))));
        let mut positions =
            event.path.get().map_or(Positions::All, |path| Positions::of_path(cx.names.paths.get(path.0)));
        let link = event.path.get().filter(|_| hint.is_none());
        let behind = link.and_then(|link| self.behind_link(scene.thread, link, cx.names).get());
        let behind = behind.filter(|_| self.effects.follows(scene.call));
        if let Some(file) = hint.map(|hint| intern(cx.names, hint.name)).or(behind) {
            event.path = Nullable::some(file);
            positions = Positions::of_name(cx.names.paths.get(file.0));
            let by_links = |given: &PathId| {
                hint.is_some_and(|hint| !hint.deleted)
                    && goes_by_links(operands.path, cx.names.paths.get(given.0), cx.names.paths.get(file.0))
            };
            event.via = match given.get().filter(by_links) {
                Some(given) => {
                    let text = path_to_text(cx.names.paths.get(given.0)).into_owned();
                    Nullable::some(FlagsId(cx.names.flags.intern(text.as_bytes())))
                }
                None => Nullable::NULL,
            };
        }
        let flags = asked_by(scene);
        if flags.nameless() {
            self.file_names.follow_directory(event, given, cx.names);
        }
        if let (true, None, Some(directory)) = (flags.nameless(), hint, event.path.get()) {
            self.scratch.clear();
            self.scratch.extend_from_slice(cx.names.paths.get(directory.0));
            self.scratch.extend_from_slice(NAMELESS);
            event.path = Nullable::some(intern(cx.names, &self.scratch));
        }
        // Flags of open_tree have names of their own, but this one has the number of `O_CLOEXEC`.
        let cloexec =
            flags.close_on_exec() || operands.flags[0].is_some_and(|flags| cloexec_in(flags, O_CLOEXEC));
        let opening = OpenRequest {
            creates: flags.creates(),
            exclusive: flags.exclusive() || flags.nameless(),
            nameless: flags.nameless() || hint.is_some_and(|hint| hint.deleted),
            follows: self.effects.follows(scene.call),
        };
        // Unless only the end of the call was seen.
        let shows_flags = is_creat(scene) || !scene.call.args.is_empty();
        let append = Some(flags.appends()).filter(|_| shows_flags);
        let needs =
            if shows_flags { Holds::of_open(flags.reads(), flags.writes()) } else { Holds::EVERYTHING };
        let facts = self.found_behind(scene.thread, fd);
        event.file = self.opened(event, (scene.thread, given), opening, facts.as_ref(), cx);
        if flags.writes() && !self.source.is_trace {
            self.file_names.written.extend(event.file.get());
        }
        if let (true, Some(path), Some(file)) = (opening.nameless, event.path.get(), event.file.get()) {
            self.file_names.emit_lost_name(path, file, cx);
        }
        let file = event.file;
        let is_directory = flags.directory() && !flags.nameless();
        let kind = file.get().and_then(|file| self.file_names.namespace.kind(file));
        if is_directory || flags.is_path() || matches!(kind, Some(FileKind::Pipe | FileKind::Char)) {
            positions = Positions::None;
        }
        let description = Description {
            confirmed: hint.is_some(),
            renames: self.descriptors.renames,
            file,
            needs,
            of_several: hint.is_none()
                && behind.is_none()
                && self.may_lead_anywhere(given, opening, cx.names),
            detached: scene.spec.is_some_and(|spec| spec.kind == CallKind::OpenTree)
                && operands.has(symbols::OPEN_TREE_CLONE),
            can: shows_flags.then(|| [flags.reads(), flags.writes()].map(|can| can && !flags.is_path())),
            ..Description::opened(event.path, positions, append)
        };
        let description = self.descriptors.describe(description);
        self.gives(scene, fd, description, cloexec);
        event.fd = Nullable::some(fd);
        event.open = self.descriptors.description(description).number;
        self.unshown.opens(event.open);
    }

    /// Whether a path of a trace is that of a descriptor, which says nothing of the file behind it.
    fn may_lead_anywhere(&self, path: Nullable<PathId>, opening: OpenRequest, names: &Dictionaries) -> bool {
        let is_link = |path: PathId| paths::descriptor_link(names.paths.get(path.0)).is_some();
        self.source.is_trace && opening.follows && path.get().is_some_and(is_link)
    }

    /// A call made a descriptor, which stands for `description` unless somebody closed it before the call was told to be over.
    fn gives(&mut self, scene: &Scene<'_>, fd: i32, description: DescriptionId, cloexec: bool) {
        let table = self.processes.thread(scene.thread).table;
        let contested = &mut self.descriptors.contested;
        let fate = scene.watched().map_or(Fate::Stands, |watched| contested.fate(&watched, fd));
        if fate != Fate::Stands {
            return self.passes((table, fd), description, fate);
        }
        // A number is given again only after it was closed.
        let is_open =
            self.descriptors.get(table, fd).is_some_and(|id| self.descriptors.description(id).followed);
        if self.source.is_trace && is_open && !self.gaps {
            self.descriptors.holds.misses();
        }
        self.descriptors.contested.frees(table, fd);
        self.replaces(scene, fd, description, cloexec);
    }

    /// A call made a descriptor, which stood for `description` for a while, or still does.
    fn passes(&mut self, (table, fd): (TableId, i32), description: DescriptionId, fate: Fate) {
        self.descriptors.contested.stood_for(table, fd, description);
        self.descriptors.set_cursor(description, Nullable::NULL);
        match fate {
            Fate::Unclear => self.descriptors.stands_for_any(table, fd),
            _ if self.descriptors.get(table, fd).is_none() => self.descriptors.becomes_unclear(table),
            _ => {}
        }
    }

    /// A descriptor came with a message.
    pub(crate) fn received(
        &mut self,
        thread: ThreadId,
        fd: i32,
        arrival: Arrival<'_>,
        names: &mut Dictionaries,
    ) {
        let Thread { table, entered, .. } = self.processes.thread(thread);
        let (table, watched) = (*table, entered.as_ref().and_then(|entered| entered.watched));
        let contested = &mut self.descriptors.contested;
        let look = Look { call: watched.map(|watched| watched.call), is_new: true };
        let is_steady = contested.is_steady(table, fd, look);
        let fate = watched.map_or(Fate::Stands, |watched| contested.fate(&watched, fd));
        watched.iter().for_each(|watched| contested.has_made(watched));
        if let Arrival::Copy(description) = arrival {
            self.descriptors.has_arrived(description);
        }
        if fate != Fate::Stands {
            let unknown = self.descriptors.describe(Description::unseen(Nullable::NULL));
            self.descriptors.has_no_number(unknown);
            return self.passes((table, fd), unknown, fate);
        }
        self.descriptors.contested.frees(table, fd);
        match arrival {
            Arrival::Copy(description) if is_steady => {
                let cloexec = self.descriptors.get_marked(table, fd).is_some_and(|(_, cloexec)| cloexec);
                self.descriptors.set(table, fd, description, cloexec);
            }
            Arrival::Named(target) if is_steady => {
                self.descriptors.arrives(table, (fd, target), &mut self.file_names, names);
            }
            _ => self.descriptors.arrives(table, (fd, None), &mut self.file_names, names),
        }
    }

    /// A descriptor stands for `description` instead of what there was.
    fn replaces(&mut self, scene: &Scene<'_>, fd: i32, description: DescriptionId, cloexec: bool) {
        let contested = &self.descriptors.contested;
        let is_moved = scene.watched().is_some_and(|watched| contested.may_be_moved(&watched, fd));
        let table = self.processes.thread(scene.thread).table;
        self.descriptors.set(table, fd, description, cloexec);
        if is_moved {
            self.descriptors.set_cursor(description, Nullable::NULL);
        }
    }

    pub(crate) fn make(
        &mut self,
        event: &mut Event,
        scene: &Scene<'_>,
        kind: &'static Anonymous,
        names: &mut Dictionaries,
    ) {
        let operands = scene.operands;
        let cloexec = match kind.cloexec {
            Cloexec::Always => true,
            Cloexec::Flag(bits) => operands.flags.iter().flatten().any(|flags| cloexec_in(flags, bits)),
        };
        let made = match (operands.pair, scene.spec.map(|spec| spec.makes)) {
            (Some([first, second]), _) => [Some(first), Some(second)],
            (None, Some(Makes::Descriptor)) => [scene.made(), None],
            (None, _) => [None, None],
        };
        self.tally.rings += u64::from(kind == &IO_URING);
        if kind == &TAKEN && self.takes(event, scene, names) {
            return;
        }
        if kind.unseen {
            self.descriptors.meets_unknown_parent();
        }
        for (fd, hint) in made.into_iter().flatten().rev() {
            let description = self.describe_anonymous(kind, hint, operands, names);
            let process = scene.call.args.first().filter(|_| kind == &PIDFD).and_then(integer);
            let process = process.and_then(|process| u32::try_from(process).ok()).map(Tid);
            let description = self.descriptors.describe(Description { process, ..description });
            // It has the number of what it is a copy of.
            if kind == &TAKEN && self.source.is_trace {
                self.descriptors.has_no_number(description);
            }
            self.gives(scene, fd, description, cloexec);
            event.fd = Nullable::some(fd);
            (event.open, event.open2) = (self.descriptors.description(description).number, event.open);
            if operands.path.is_none() {
                // The two ends of a pipe are one thing, those of a pair of sockets are two.
                if operands.pair.is_some() && kind == &SOCKET && hint.is_some() {
                    event.path2 = event.path;
                }
                event.path = self.descriptors.description(description).path;
                event.file = self.file_of(description, names);
            }
        }
    }

    /// The call that made a process stored a descriptor of it. The child, whose table may be a copy, has none.
    pub(crate) fn stores_pidfd(&mut self, scene: &Scene<'_>, child: Tid, names: &mut Dictionaries) {
        if let Some(fd) = Shares::pidfd(scene.call, scene.operands) {
            let description = self.describe_anonymous(&PIDFD, None, scene.operands, names);
            let description = Description { process: Some(child), ..description };
            let description = self.descriptors.describe(description);
            self.gives(scene, fd, description, true);
        }
    }

    /// A copy of a descriptor of a process that was opened with `pidfd_open`; `false` if it is not known which. A recorder
    /// has looked before the call is told.
    fn takes(&mut self, event: &mut Event, scene: &Scene<'_>, names: &mut Dictionaries) -> bool {
        let (Some(pidfd), Some((fd, hint))) = (scene.operands.fd2, scene.made()) else { return false };
        let table = self.processes.thread(scene.thread).table;
        let looked = self.descriptors.get(table, fd).filter(|_| !self.source.is_trace);
        let Some(description) = looked.or_else(|| self.taken_from(scene, pidfd.0, hint)) else {
            return false;
        };
        self.follow_renames(description, names);
        let Description { path, number, .. } = *self.descriptors.description(description);
        let agrees = |hint: Target<'_>| path.get().is_some_and(|path| names.paths.get(path.0) == hint.name);
        if !hint.is_none_or(agrees) {
            return false;
        }
        self.descriptors.description_mut(description).travelled = true;
        self.descriptors.set(table, fd, description, true);
        (event.fd, event.path, event.open) = (Nullable::some(fd), path, number);
        event.file = self.file_of(description, names);
        true
    }

    /// What the number that `pidfd_getfd` names stands for in the process behind `pidfd`.
    fn taken_from(&self, scene: &Scene<'_>, pidfd: i32, hint: Option<Target<'_>>) -> Option<DescriptionId> {
        let pidfd = self.descriptors.get(self.processes.thread(scene.thread).table, pidfd)?;
        let of = self.descriptors.description(pidfd).process?;
        // A number in another PID namespace is none of ours; the name shows that, if the tracer told it.
        let thread = (self.source.is_trace || hint.is_some()).then(|| self.processes.get(of))??;
        let other = scene.operands.commands[0].and_then(integer)?;
        self.descriptors.get(thread.table, i32::try_from(other).ok()?)
    }

    /// The new socket speaks the protocol of the one that listened.
    pub(crate) fn accept(&mut self, event: &mut Event, scene: &Scene<'_>, names: &mut Dictionaries) {
        self.make(event, scene, &SOCKET, names);
        let table = self.processes.thread(scene.thread).table;
        let listener = scene.operands.fd2.and_then(|fd| self.description_of(table, fd, false, names));
        let (Some(listener), Some((fd, _))) = (listener, scene.made()) else { return };
        let Description { path, protocol, .. } = *self.descriptors.description(listener);
        let Some(accepted) = self.descriptors.get(table, fd) else { return };
        self.descriptors.description_mut(accepted).protocol = protocol;
        let peer = scene.operands.address.and_then(Address::parse);
        let text = |path: Nullable<PathId>| path.get().map_or(&b""[..], |path| names.paths.get(path.0));
        let (listener, present) = (text(path), text(self.descriptors.description(accepted).path));
        if !sockets::gives_way(present, scene.operands.fd2) || sockets::tells_both_ends(present) {
            return;
        }
        if let Some(name) = sockets::accepted(protocol, listener, present, peer.as_ref()) {
            event.path = Nullable::some(intern(names, &name));
            self.descriptors.description_mut(accepted).path = event.path;
        }
    }

    /// bind and connect give a socket an address, and so a name.
    pub(crate) fn name_socket(
        &mut self,
        event: &mut Event,
        scene: &Scene<'_>,
        given: Given,
        names: &mut Dictionaries,
    ) {
        let Some(id) = scene.description else { return };
        // A recorder looks when the call has returned, and may have announced it without the name.
        if let Some((_, Some(hint))) = scene.operands.fd.filter(|_| given == Given::Peer)
            && sockets::tells_both_ends(hint.name)
            && !self.source.is_trace
        {
            event.path = Nullable::some(intern(names, hint.name));
            self.descriptors.description_mut(id).path = event.path;
            return;
        }
        let Some(address) = scene.operands.address.and_then(Address::parse) else {
            if given == Given::Peer
                && scene.operands.address.is_some_and(sockets::is_none)
                && let Some(name) = self.descriptors.loses_peer(id, self.source.is_trace, names)
            {
                event.path = Nullable::some(name);
            }
            return;
        };
        let Description { path, protocol, .. } = *self.descriptors.description(id);
        let present = path.get().map_or(&b"socket"[..], |path| names.paths.get(path.0));
        // A tracer that named it does not know of its new peer, nor may it later.
        let outdated =
            sockets::without_peer(present).filter(|_| given == Given::Peer && self.source.is_trace);
        if outdated.is_none() && !sockets::gives_way(present, scene.operands.fd) {
            return;
        }
        let name = sockets::name(protocol, present, given, &address).or(outdated.clone());
        if let Some(name) = name {
            event.path = Nullable::some(intern(names, &name));
            let description = self.descriptors.description_mut(id);
            description.path = event.path;
            description.outdated = path.get().filter(|_| outdated.is_some()).into();
        }
    }

    /// A socket in the file system is a file that bind makes and connect looks up.
    pub(crate) fn set_socket_file<S: Sink>(
        &mut self,
        event: &mut Event,
        scene: &Scene<'_>,
        cx: &mut Context<'_, S>,
    ) {
        if let Some(Address::File(file)) = scene.operands.address.and_then(Address::parse) {
            let arg = PathArg { base: Base::Cwd(None), bytes: Some(&file), located: false, in_root: false };
            let location = self.locate(scene.thread, arg, false, cx.names);
            event.path2 = location.path;
            self.tally.relative_paths += u64::from(location.relative);
            let makes = self.effects.of(scene.call.call) == Effect::Bind;
            event.file2 = self.socket_file(event.path2, makes, scene.succeeded(), cx);
        }
    }

    fn describe_anonymous(
        &mut self,
        kind: &'static Anonymous,
        hint: Option<Target<'_>>,
        operands: &Operands<'_>,
        names: &mut Dictionaries,
    ) -> Description {
        let name = hint.map(|hint| hint.name).or(kind.name);
        let path = match (name, hint, operands.text) {
            (Some(name), None, Some(given)) if kind.named => {
                self.scratch.clear();
                self.scratch.extend_from_slice(name);
                self.scratch.extend_from_slice(given);
                Some(intern(names, &self.scratch))
            }
            (Some(_), None, None) if kind.named => None,
            (name, _, _) => name.map(|name| intern(names, name)),
        };
        match kind.name {
            Some(name) => {
                let positions = if kind.named { Positions::All } else { Positions::of_name(name) };
                let protocol = if kind == &SOCKET { Protocol::of(operands.flags) } else { Protocol::Unknown };
                let opened = Description::opened(path.into(), positions, Some(false));
                let file = if kind.named { names.next_file() } else { Nullable::NULL };
                let renames = self.descriptors.renames;
                Description { confirmed: hint.is_some(), renames, protocol, file, ..opened }
            }
            None => {
                let renames = self.descriptors.renames;
                let file = hint.map_or(Nullable::NULL, |hint| {
                    self.descriptors.deleted_file(hint, &mut self.file_names, names)
                });
                let detached = kind == &FSMOUNT;
                Description {
                    confirmed: hint.is_some(),
                    renames,
                    file,
                    detached,
                    ..Description::unseen(path.into())
                }
            }
        }
    }

    pub(crate) fn duplicate(
        &mut self,
        event: &mut Event,
        scene: &Scene<'_>,
        cloexec: bool,
        names: &mut Dictionaries,
    ) {
        let Some((fd, hint)) = scene.made() else { return };
        let table = self.processes.thread(scene.thread).table;
        // dup2 of a descriptor to itself changes nothing, not even whether it survives exec.
        if let Some(description) = scene.description
            && event.fd != Nullable::some(fd)
        {
            match scene.operands.fd2 {
                Some(_) => self.replaces(scene, fd, description, cloexec),
                None => self.gives(scene, fd, description, cloexec),
            }
        }
        event.fd = Nullable::some(fd);
        if let Some(copy) = self.description_of(table, (fd, hint), false, names) {
            let Description { path, number, .. } = *self.descriptors.description(copy);
            (event.path, event.open) = (path, number);
            event.file = self.file_of(copy, names);
        }
    }
}
