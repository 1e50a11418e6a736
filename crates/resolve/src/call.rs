//! From a returned call to an event, and what the call changes.

use crate::Sink;
use crate::context::Context;
use crate::cursor::Move;
use crate::descriptor_tables::{Description, DescriptionId};
use crate::directories::Directory;
use crate::effect::{Anonymous, Cloexec, Effect, IO_URING, O_CLOEXEC, PIDFD, SOCKET, TAKEN};
use crate::file_names::intern;
use crate::holds::Holds;
use crate::identity::Opening;
use crate::locks::Lock;
use crate::lookup::Location;
use crate::mappings::is_anonymous;
use crate::operands::{Base, FdArg, Operands, PathArg, Position, integer};
use crate::paths;
use crate::process_table::{Entered, ThreadId};
use crate::sockets::{self, Address, Given, Protocol};
use crate::state::State;
use crate::symbols::{self, Symbol, is_command};
use iotrail_model::calls::{self, CallKind, CallSpec, Makes, OpenFlags, Transfer};
use iotrail_model::raw::{Arg, RawCall, Return, Target};
use iotrail_model::{CaseId, Dictionaries, ErrnoId, Event, FileKind, FlagsId, Layer, Nullable, PathId, Tid};

/// A file in a directory that was made without a name (`O_TMPFILE`); the kernel shows a number instead.
const NAMELESS: &[u8] = b"/#unnamed";

/// A returned call with everything found out about it.
#[derive(Clone, Copy)]
struct Scene<'a> {
    case: CaseId,
    thread: ThreadId,
    call: &'a RawCall<'a>,
    spec: Option<&'static CallSpec>,
    operands: &'a Operands<'a>,
    /// What its descriptor stands for.
    description: Option<DescriptionId>,
    /// What was noted when it was entered, if it was announced.
    entered: Option<Entered>,
}

impl Scene<'_> {
    fn succeeded(&self) -> bool {
        succeeded(self.call)
    }

    /// What it does to the cursor of its descriptor.
    fn step(&self, is_request: bool) -> Move {
        Move::of(self.call, is_request).since(self.entered.map(|entered| entered.moves_before[0]))
    }

    /// The descriptor that it made, and what the tracer said about it.
    fn made(&self) -> Option<FdArg<'_>> {
        match self.call.ret {
            Return::Value(fd, hint) => i32::try_from(fd).ok().map(|fd| (fd, hint)),
            _ => None,
        }
    }
}

#[inline]
pub(crate) fn set_result(event: &mut Event, call: &RawCall<'_>, names: &mut Dictionaries) {
    match call.ret {
        Return::Unseen => {}
        Return::Value(value, _) => event.ret = Nullable::some(value),
        Return::Injected(value, error) => {
            event.ret = Nullable::some(value);
            event.errno = error.map(|error| ErrnoId(names.errnos.intern(error))).into();
        }
        Return::Failed(error) => {
            event.ret = Nullable::some(-1);
            event.errno = Nullable::some(ErrnoId(names.errnos.intern(error)));
        }
    }
}

/// What an open asks for: by its name, its structure or its flags, as far as they were seen.
fn asked_by(scene: &Scene<'_>) -> OpenFlags {
    let operands = scene.operands;
    match operands.structure.and_then(|how| symbols::field(how, b"flags")) {
        _ if is_creat(scene) => OpenFlags::CREAT,
        Some(text) => OpenFlags::parse(text),
        None => operands.flags[0].map(symbols::open_flags).unwrap_or_default(),
    }
}

fn is_creat(scene: &Scene<'_>) -> bool {
    scene.spec.is_some_and(|spec| spec.kind == CallKind::Create)
}

fn succeeded(call: &RawCall<'_>) -> bool {
    matches!(call.ret, Return::Value(bytes, _) if bytes >= 0)
}

fn cloexec_in(arg: &Arg<'_>, bits: u64) -> bool {
    match arg {
        Arg::Int(number) => *number as u64 & bits != 0,
        Arg::Symbols(text) | Arg::Text(text) => symbols::is_cloexec(text, bits),
        _ => false,
    }
}

/// Appends flags as seen; those of a second argument follow the first.
fn push_flags(out: &mut Vec<u8>, arg: &Arg<'_>) {
    let text = match arg {
        Arg::Symbols(text) | Arg::Text(text) => text,
        Arg::Int(number) => {
            separate(out);
            let text = if (0..10).contains(number) { number.to_string() } else { format!("{number:#x}") };
            out.extend_from_slice(text.as_bytes());
            return;
        }
        _ => return,
    };
    if !text.is_empty() {
        separate(out);
        out.extend_from_slice(text);
    }
}

fn separate(out: &mut Vec<u8>) {
    if !out.is_empty() {
        out.push(b'|');
    }
}

impl State {
    /// A call returned, or its end will never be seen.
    pub(crate) fn call<S: Sink>(
        &mut self,
        case: CaseId,
        thread: ThreadId,
        seq: Option<u64>,
        call: &RawCall<'_>,
        cx: &mut Context<'_, S>,
    ) {
        self.file_names.lost.clear();
        if self.file_names.namespace.mounts.differ() {
            let directory = self.processes.thread(thread).directory;
            self.file_names.namespace.mounts.enter(self.directories.get(directory).mounts);
        }
        let effect = self.effects.of(call.call);
        self.descriptors.holds.learn(self.effects.holds(call.call));
        let entered = match self.effects.is_request(call.call) {
            true => None,
            false => self.began(thread, call),
        };
        if entered.is_none() {
            self.take_turn(case, thread, call);
        }
        if !(effect == Effect::Exec && succeeded(call)) {
            self.announce(thread, cx);
        }
        let spec = calls::spec(call.call);
        let operands = &Operands::of(spec, call);
        let entered = entered.filter(|entered| entered.call == call.call);
        if call.args.is_empty() && entered.is_none() {
            self.saw_no_arguments(thread, call, cx.names);
        }
        let begun = entered.filter(|entered| entered.seq.0 == case).map(|entered| entered.seq.1);
        let seq = begun.or(seq).unwrap_or_else(|| self.cases.next_seq(case));
        let description = entered.and_then(|entered| entered.description).or_else(|| {
            let table = self.processes.thread(thread).table;
            self.description_of(table, operands.fd?, succeeded(call), cx.names)
        });
        let (description, mapped_offset) = match (effect, entered) {
            (Effect::Unmap | Effect::Remap | Effect::Touch, None) => {
                let mapped = self.spaces.touched(self.processes.thread(thread).space, effect, spec, call);
                (mapped.map(|mapped| mapped.description), mapped.map(|mapped| mapped.offset).into())
            }
            (_, Some(entered)) => (description, entered.offset),
            (_, None) => (description, Nullable::NULL),
        };
        if let Some(description) = description {
            self.follow_renames(description, cx.names);
        }
        let scene = Scene { case, thread, call, spec, operands, description, entered };

        let mut event = Event {
            case,
            seq,
            layer: call.layer,
            call: call.call,
            tid: call.tid,
            start: call.start,
            dur: call.dur.into(),
            fd: operands.fd.map(|(fd, _)| fd).into(),
            offset: mapped_offset,
            ..Event::default()
        };
        if let Some(description) = description {
            let Description { path, number, .. } = *self.descriptors.description(description);
            (event.path, event.open) = (path, number);
        } else if let Some(file) = operands.held {
            event.path = Nullable::some(intern(cx.names, file.name));
        }
        set_result(&mut event, call, cx.names);
        self.set_flags(&mut event, operands, cx.names);
        self.set_paths(&mut event, &scene, cx.names);
        self.set_transfer(&mut event, &scene, cx.names);
        match effect {
            Effect::Map if is_anonymous(operands) => {
                (event.path, event.offset) = (Nullable::NULL, Nullable::NULL);
                (event.file, event.open) = (Nullable::NULL, Nullable::NULL);
            }
            Effect::Fcntl => event.offset = self.lock_start(operands, description),
            Effect::Bind | Effect::Connect => self.set_socket_file(&mut event, &scene, cx),
            _ => {}
        }
        self.identify(&mut event, (thread, call, operands), description, cx);
        if scene.succeeded() {
            self.apply(&mut event, &scene, effect, cx);
        } else {
            self.apply_otherwise(&mut event, &scene, effect, cx);
        }
        for (path, file) in std::mem::take(&mut self.file_names.lost_names) {
            self.file_names.tell_lost(path, file, cx);
        }
        if !self.probes.is_empty() {
            self.learn_behind(thread, cx);
        }
        self.hand_over(event, thread, cx);
        if effect == Effect::Exec && scene.succeeded() {
            self.processes.thread_mut(thread).enclosing.clear();
        }
    }

    /// What was noted when a call was entered that is over now.
    fn began(&mut self, thread: ThreadId, call: &RawCall<'_>) -> Option<Entered> {
        let is_it = |entered: &Entered| (entered.call, entered.start) == (call.call, call.start);
        self.processes.thread_mut(thread).resume(is_it).or_else(|| self.leave(thread))
    }

    fn set_flags(&mut self, event: &mut Event, operands: &Operands<'_>, names: &mut Dictionaries) {
        let field = operands.structure.and_then(|structure| symbols::field(structure, b"flags"));
        self.scratch.clear();
        for flags in operands.flags.into_iter().flatten() {
            push_flags(&mut self.scratch, flags);
        }
        if let Some(lock) = Lock::of(operands) {
            separate(&mut self.scratch);
            self.scratch.extend_from_slice(lock.kind());
        }
        let text = field.unwrap_or(&self.scratch);
        if !text.is_empty() {
            event.flags = Nullable::some(FlagsId(names.flags.intern(text)));
        }
    }

    fn set_paths(&mut self, event: &mut Event, scene: &Scene<'_>, names: &mut Dictionaries) {
        let (id, operands) = (scene.thread, scene.operands);
        let empty_flag = || operands.flags.iter().flatten().any(|flags| symbols::AT_EMPTY_PATH.is_in(flags));
        let mut relative = false;
        if let Some(arg) = operands.path {
            // readlinkat and others take an empty path without a flag, so success says as much as the flag.
            let by_fd = scene.succeeded() && matches!(arg.base, Base::Fd(_));
            let location = self.locate(id, arg, by_fd || empty_flag(), names);
            event.path = location.path;
            if let Some(fd) = location.fd {
                event.fd = Nullable::some(fd);
                event.open = self.descriptors.number(self.processes.thread(id).table, fd);
            }
            relative |= location.relative;
        }
        if let Some(arg) = operands.path2 {
            let location = self.locate(id, arg, empty_flag(), names);
            event.path2 = location.path;
            relative |= location.relative;
        } else if scene.spec.is_some_and(|spec| spec.kind == CallKind::Mount) {
            event.path2 = self.mounted(scene, names);
        } else if let (Some(target), Some(_)) = (operands.text, operands.path) {
            let location = match operands.text_located {
                true => Location { path: Nullable::some(intern(names, target)), ..Location::default() },
                false if target.is_empty() => Location::default(),
                false => self.beside(event.path, target, names),
            };
            event.path2 = location.path;
            relative |= location.relative;
        }
        self.tally.relative_paths += u64::from(relative);
    }

    /// The directory or file that a mount shows once more, or moves.
    fn mounted(&mut self, scene: &Scene<'_>, names: &mut Dictionaries) -> Nullable<PathId> {
        let operands = scene.operands;
        let has_source = operands.has(symbols::MS_BIND) || operands.has(symbols::MS_MOVE);
        let Some(source) = operands.text.filter(|_| has_source && self.source.is_trace) else {
            return Nullable::NULL;
        };
        let arg = PathArg {
            base: Base::Cwd(None),
            bytes: Some(source),
            located: operands.text_located,
            in_root: false,
        };
        self.locate(scene.thread, arg, false, names).path
    }

    #[inline]
    fn set_transfer(&mut self, event: &mut Event, scene: &Scene<'_>, names: &mut Dictionaries) {
        let operands = scene.operands;
        let positions = operands.held.is_none_or(|file| paths::name_has_positions(file.name));
        if let (Position::At(offset), true) = (operands.position, positions) {
            event.offset = Nullable::some(offset);
        }
        let Some(spec) = scene.spec.filter(|spec| spec.transfer != Transfer::None) else { return };
        event.requested = operands.requested.into();
        if let (true, Return::Value(returned, _)) = (scene.succeeded(), scene.call.ret)
            && let Some(bytes) = operands.moved(returned)
        {
            event.size = Nullable::some(bytes);
            self.count_bytes(scene.thread, spec.transfer, bytes);
        }
        let is_request = self.effects.is_request(scene.call.call);
        let step = scene.step(is_request);
        if let Some(source) = scene.description {
            let to_end = spec.transfer == Transfer::Write && self.writes_to_end(source, operands);
            // A request has an offset even where there are no positions.
            let position = match is_request && !self.descriptors.description(source).seekable {
                true => Position::Cursor,
                false => operands.position,
            };
            event.offset = self.descriptors.transfer(source, &step, position, to_end);
        }
        if operands.held.is_some() && operands.position == Position::Cursor && scene.succeeded() {
            // What io_uring holds may share its position with a descriptor, of the same file at least.
            self.descriptors.lose_of(event.path);
        }
        if let (Transfer::Copy, Some(fd)) = (spec.transfer, operands.fd2) {
            let table = self.processes.thread(scene.thread).table;
            let target = scene.entered.and_then(|entered| entered.target);
            let target = target.or_else(|| self.description_of(table, fd, scene.succeeded(), names));
            if let Some(target) = target {
                let Description { path, number, .. } = *self.descriptors.description(target);
                (event.path2, event.open2) = (path, number);
                event.file2 = self.file_of(target, names);
                // Copies to the end of a file fail. A copy within one description moves its cursor once.
                let moved = scene.description == Some(target) && operands.position == Position::Cursor;
                if !(moved && operands.position2 == Position::Cursor) {
                    let step = step.since(scene.entered.map(|entered| entered.moves_before[1]));
                    self.descriptors.transfer(target, &step, operands.position2, false);
                }
            }
        }
    }

    fn count_bytes(&mut self, id: ThreadId, transfer: Transfer, bytes: i64) {
        let process = self.processes.thread(id).process;
        let entry = self.processes.process_mut(process);
        match transfer {
            Transfer::Read => entry.bytes_read = entry.bytes_read.saturating_add(bytes),
            Transfer::Write => entry.bytes_written = entry.bytes_written.saturating_add(bytes),
            Transfer::Copy => {
                entry.bytes_read = entry.bytes_read.saturating_add(bytes);
                entry.bytes_written = entry.bytes_written.saturating_add(bytes);
            }
            Transfer::None => {}
        }
    }

    fn writes_to_end(&self, id: DescriptionId, operands: &Operands<'_>) -> bool {
        let has = |symbol: Symbol| operands.has(symbol);
        // Where the cursor goes is followed also while it is not certain yet that all calls are seen.
        let is_sure = match operands.position {
            Position::Cursor => self.descriptors.is_ours(id),
            Position::At(_) | Position::Unseen => self.descriptors.knows_append(id),
        };
        match self.descriptors.description(id).append.filter(|append| *append || is_sure) {
            // A file that is not known not to be open for appending may be, and whoever shares it may make it so.
            Some(true) | None => !has(symbols::RWF_NOAPPEND),
            Some(false) => has(symbols::RWF_APPEND),
        }
    }

    /// What a successful call changes.
    fn apply<S: Sink>(
        &mut self,
        event: &mut Event,
        scene: &Scene<'_>,
        effect: Effect,
        cx: &mut Context<'_, S>,
    ) {
        let Scene { thread, call, operands, description, .. } = *scene;
        match effect {
            Effect::None | Effect::Exit | Effect::ExitGroup => {}
            Effect::Open => self.open(event, scene, cx),
            Effect::Anonymous(kind) => self.make(event, scene, kind, cx.names),
            Effect::Accept => self.accept(event, scene, cx.names),
            Effect::Bind | Effect::OwnAddress => self.name_socket(event, scene, Given::Own, cx.names),
            Effect::Connect => self.name_socket(event, scene, Given::Peer, cx.names),
            Effect::Dup => {
                let cloexec = operands.flags[0].is_some_and(|flags| cloexec_in(flags, O_CLOEXEC));
                self.duplicate(event, scene, cloexec, cx.names);
            }
            Effect::Fcntl => self.control(event, scene, cx.names),
            Effect::Ioctl => self.control_device(thread, operands),
            Effect::Close => self.close(thread, operands, description),
            Effect::CloseRange => self.close_range(thread, operands),
            Effect::Seek => {
                if let (Some(description), Return::Value(position, _)) = (description, call.ret) {
                    let to = operands.stored.unwrap_or(position);
                    event.offset = self.descriptors.seek(description, &scene.step(false), Some(to));
                }
            }
            Effect::List => {
                if let Some(description) = description {
                    self.descriptors.has_no_positions(description);
                }
            }
            Effect::Rename => self.descriptors.renames += 1,
            Effect::Mount => {
                self.descriptors.renames += 1;
                self.mount(event, operands, cx.names);
            }
            Effect::Unmount => {
                self.descriptors.renames += 1;
                if let Some(path) = event.path.get().filter(|_| self.source.is_trace) {
                    let seen = self.file_names.namespace.unmount(cx.names.paths.get(path.0));
                    self.tally.unclear_mounts += u64::from(!seen);
                }
            }
            Effect::MountOtherwise => {
                self.descriptors.renames += 1;
                self.tally.unclear_mounts += 1;
            }
            Effect::Enter => {
                let is_mount = operands.flags[0].is_some_and(|flags| symbols::CLONE_NEWNS.is_in(flags));
                self.tally.unclear_mounts += u64::from(is_mount);
            }
            Effect::Chdir => {
                let directory = self.processes.thread(thread).directory;
                let destination = self.destination(event, cx.names);
                self.directories.change(directory, destination);
            }
            Effect::Getcwd => {
                if let Some(path) = operands.text.filter(|path| path.starts_with(b"/")) {
                    let path = intern(cx.names, path);
                    event.path = Nullable::some(path);
                    self.learn_directory(thread, path, cx.names);
                }
            }
            Effect::ChangeRoot => {
                self.tally.changed_roots += 1;
                self.descriptors.renames += 1;
            }
            Effect::Spawn => {
                let child = scene.made().and_then(|(child, _)| u32::try_from(child).ok());
                let child = child.filter(|child| *child > 0).map(Tid);
                self.creation_ends(thread, call, operands, child, cx);
            }
            Effect::Exec => {
                self.new_image(thread, call, operands, event.path, cx);
            }
            Effect::Unshare => self.unshare(thread, operands),
            Effect::Map => {
                let space = self.processes.thread(thread).space;
                let maps = self.spaces.map_by_call(space, scene.spec, call, operands, description);
                self.tally.file_mappings += u64::from(maps);
            }
            Effect::Unmap if scene.entered.is_none() => {
                self.spaces.unmap_by_call(self.processes.thread(thread).space, scene.spec, call);
            }
            Effect::Unmap | Effect::Touch => {}
            Effect::Remap => {
                let space = self.processes.thread(thread).space;
                self.spaces.remap_by_call(space, scene.spec, call, operands);
            }
            Effect::Submit => {
                if let Return::Value(requests, _) = call.ret {
                    self.tally.submitted += requests.unsigned_abs();
                }
            }
            Effect::Reap => {
                if let Some((child, _)) = scene.made()
                    && let Ok(child) = u32::try_from(child)
                {
                    self.reaped(thread, Tid(child), cx);
                }
            }
        }
    }

    /// Where a change of the working directory led.
    fn destination(&self, event: &Event, names: &mut Dictionaries) -> Directory {
        let path = self.moved(event.file, event.path, names);
        let relative = path.get().is_some_and(|path| !names.paths.get(path.0).starts_with(b"/"));
        // The file behind a relative path is known if it is known what that is relative to.
        let path = if relative && event.file.is_null() { Nullable::NULL } else { path };
        Directory { path, relative, file: event.file, ..Directory::default() }
    }

    /// What a call changes that failed or whose end was not seen.
    fn apply_otherwise<S: Sink>(
        &mut self,
        event: &mut Event,
        scene: &Scene<'_>,
        effect: Effect,
        cx: &mut Context<'_, S>,
    ) {
        let Scene { case, thread, call, operands, description, .. } = *scene;
        match (effect, call.ret, description) {
            (Effect::Seek, Return::Failed(b"ESPIPE"), Some(description)) => {
                self.descriptors.has_no_positions(description);
            }
            (Effect::Seek, Return::Unseen, Some(description)) => {
                self.descriptors.seek(description, &scene.step(false), None);
            }
            // The descriptor is gone even if the kernel reports an error of the file below it.
            (Effect::Close, Return::Failed(error), _) if error != b"EBADF" => {
                self.close(thread, operands, description);
            }
            // Announced, it was taken for closed.
            (Effect::Close, Return::Injected(..), Some(description)) => {
                let table = self.processes.thread(thread).table;
                if let Some((fd, _)) =
                    operands.fd.filter(|(fd, _)| self.descriptors.get(table, *fd).is_none())
                {
                    self.descriptors.set(table, fd, description, false);
                }
            }
            (Effect::Close, Return::Unseen, _) => self.close(thread, operands, description),
            (Effect::Anonymous(_) | Effect::Accept, _, None) => self.name_second(event, scene, cx.names),
            (Effect::Connect, Return::Failed(b"EINPROGRESS"), _) => {
                self.name_socket(event, scene, Given::Peer, cx.names);
            }
            (Effect::Spawn, _, _) => self.creation_ends(thread, call, operands, None, cx),
            (Effect::ExitGroup, Return::Unseen, _) => {
                self.exit_group(case, thread, operands, call.start);
                self.exits(thread);
            }
            (Effect::Exit, Return::Unseen, _) => self.exits(thread),
            (Effect::Exec, Return::Failed(_) | Return::Injected(..), _) => self.processes.drop_alias(thread),
            _ => {}
        }
    }

    /// A call that would have made a descriptor from another one (accept) acted on that.
    fn name_second(&mut self, event: &mut Event, scene: &Scene<'_>, names: &mut Dictionaries) {
        if let (Some(fd), None) = (scene.operands.fd2, scene.operands.path) {
            let table = self.processes.thread(scene.thread).table;
            event.fd = Nullable::some(fd.0);
            if let Some(listener) = self.description_of(table, fd, false, names) {
                let Description { path, number, .. } = *self.descriptors.description(listener);
                (event.path, event.open) = (path, number);
            }
        }
    }

    fn open<S: Sink>(&mut self, event: &mut Event, scene: &Scene<'_>, cx: &mut Context<'_, S>) {
        let Some((fd, hint)) = scene.made() else { return };
        let (operands, given) = (scene.operands, event.path);
        let mut seekable =
            event.path.get().is_none_or(|path| paths::has_positions(cx.names.paths.get(path.0)));
        let link = event.path.get().filter(|_| hint.is_none());
        let behind = link.and_then(|link| self.behind_link(scene.thread, link, cx.names).get());
        let behind = behind.filter(|_| self.effects.follows(scene.call));
        if let Some(file) = hint.map(|hint| intern(cx.names, hint.name)).or(behind) {
            event.path = Nullable::some(file);
            seekable = paths::name_has_positions(cx.names.paths.get(file.0));
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
        let opening = Opening {
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
        if let (true, Some(path), Some(file)) = (opening.nameless, event.path.get(), event.file.get()) {
            self.file_names.tell_lost(path, file, cx);
        }
        let file = event.file;
        let is_directory = flags.directory() && !flags.nameless();
        let kind = file.get().and_then(|file| self.file_names.namespace.kind(file));
        seekable &= !matches!(kind, Some(FileKind::Pipe | FileKind::Char));
        let description = Description {
            confirmed: hint.is_some(),
            renames: self.descriptors.renames,
            file,
            needs,
            ..Description::opened(event.path, seekable && !is_directory, append)
        };
        let description = self.descriptors.describe(description);
        let table = self.processes.thread(scene.thread).table;
        // A number is given again only after it was closed.
        let is_open =
            self.descriptors.get(table, fd).is_some_and(|id| self.descriptors.description(id).followed);
        if self.source.is_trace && is_open && !self.gaps {
            self.descriptors.holds.misses();
        }
        self.descriptors.set(table, fd, description, cloexec);
        event.fd = Nullable::some(fd);
        event.open = self.descriptors.description(description).number;
    }

    fn make(
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
            self.descriptors.set(self.processes.thread(scene.thread).table, fd, description, cloexec);
            event.fd = Nullable::some(fd);
            (event.open, event.open2) = (self.descriptors.description(description).number, event.open);
            if operands.path.is_none() {
                // The two ends of a pipe are one thing, those of a pair of sockets are two.
                if operands.pair.is_some() && kind == &SOCKET && hint.is_some() {
                    event.path2 = event.path;
                }
                event.path = self.descriptors.description(description).path;
                event.file = self.descriptors.description(description).file;
            }
        }
    }

    /// A copy of a descriptor of a process that was opened with `pidfd_open`; `false` if it is not known which.
    fn takes(&mut self, event: &mut Event, scene: &Scene<'_>, names: &mut Dictionaries) -> bool {
        let (Some(pidfd), Some((fd, hint))) = (scene.operands.fd2, scene.made()) else { return false };
        let table = self.processes.thread(scene.thread).table;
        let of = self
            .descriptors
            .get(table, pidfd.0)
            .and_then(|pidfd| self.descriptors.description(pidfd).process);
        let other = scene.operands.commands[0].and_then(integer).and_then(|other| i32::try_from(other).ok());
        // A number in another PID namespace is none of ours; the name shows that, if the tracer told it.
        let thread =
            of.filter(|_| self.source.is_trace || hint.is_some()).and_then(|of| self.processes.get(of));
        let Some((thread, other)) = thread.zip(other) else { return false };
        let Some(description) = self.descriptors.get(thread.table, other) else { return false };
        self.follow_renames(description, names);
        let Description { path, number, .. } = *self.descriptors.description(description);
        let agrees = |hint: Target<'_>| path.get().is_some_and(|path| names.paths.get(path.0) == hint.name);
        if !hint.is_none_or(agrees) {
            return false;
        }
        self.descriptors.set(table, fd, description, true);
        (event.fd, event.path, event.open) = (Nullable::some(fd), path, number);
        event.file = self.file_of(description, names);
        true
    }

    /// The new socket speaks the protocol of the one that listened.
    fn accept(&mut self, event: &mut Event, scene: &Scene<'_>, names: &mut Dictionaries) {
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
    fn name_socket(&mut self, event: &mut Event, scene: &Scene<'_>, given: Given, names: &mut Dictionaries) {
        let Some(id) = scene.description else { return };
        // A recorder looks when the call has returned, and may have announced it without the name.
        if let Some((_, Some(hint))) = scene.operands.fd.filter(|_| given == Given::Peer)
            && sockets::tells_both_ends(hint.name)
        {
            event.path = Nullable::some(intern(names, hint.name));
            self.descriptors.description_mut(id).path = event.path;
            return;
        }
        let Some(address) = scene.operands.address.and_then(Address::parse) else { return };
        let Description { path, protocol, .. } = *self.descriptors.description(id);
        let present = path.get().map_or(&b"socket"[..], |path| names.paths.get(path.0));
        if !sockets::gives_way(present, scene.operands.fd) {
            return;
        }
        if let Some(name) = sockets::name(protocol, present, given, &address) {
            event.path = Nullable::some(intern(names, &name));
            self.descriptors.description_mut(id).path = event.path;
        }
    }

    /// A socket in the file system is a file that bind makes and connect looks up.
    fn set_socket_file<S: Sink>(&mut self, event: &mut Event, scene: &Scene<'_>, cx: &mut Context<'_, S>) {
        if let Some(Address::File(file)) = scene.operands.address.and_then(Address::parse) {
            let arg = PathArg { base: Base::Cwd(None), bytes: Some(&file), located: false, in_root: false };
            let location = self.locate(scene.thread, arg, false, cx.names);
            event.path2 = location.path;
            self.tally.relative_paths += u64::from(location.relative);
            let makes = self.effects.of(scene.call.call) == Effect::Bind;
            event.file2 = self.socket_file(event.path2, makes, scene.succeeded(), cx);
        }
    }

    /// Where the part of a file begins that fcntl locks.
    fn lock_start(&self, operands: &Operands<'_>, description: Option<DescriptionId>) -> Nullable<i64> {
        let cursor = description.and_then(|id| self.descriptors.certain_cursor(id).get());
        Lock::of(operands).and_then(|lock| lock.start(cursor)).into()
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
                let seekable = kind.named || paths::name_has_positions(name);
                let protocol = if kind == &SOCKET { Protocol::of(operands.flags) } else { Protocol::Unknown };
                let opened = Description::opened(path.into(), seekable, Some(false));
                let file = if kind.named { names.next_file() } else { Nullable::NULL };
                let renames = self.descriptors.renames;
                Description { confirmed: hint.is_some(), renames, protocol, file, ..opened }
            }
            None => {
                let renames = self.descriptors.renames;
                let file = hint.map_or(Nullable::NULL, |hint| {
                    self.descriptors.deleted_file(hint, &mut self.file_names, names)
                });
                Description { confirmed: hint.is_some(), renames, file, ..Description::unseen(path.into()) }
            }
        }
    }

    fn duplicate(&mut self, event: &mut Event, scene: &Scene<'_>, cloexec: bool, names: &mut Dictionaries) {
        let Some((fd, hint)) = scene.made() else { return };
        let table = self.processes.thread(scene.thread).table;
        // dup2 of a descriptor to itself changes nothing, not even whether it survives exec.
        if let Some(description) = scene.description
            && event.fd != Nullable::some(fd)
        {
            self.descriptors.set(table, fd, description, cloexec);
        }
        event.fd = Nullable::some(fd);
        if let Some(copy) = self.description_of(table, (fd, hint), false, names) {
            let Description { path, number, .. } = *self.descriptors.description(copy);
            (event.path, event.open) = (path, number);
            event.file = self.file_of(copy, names);
        }
    }

    fn control(&mut self, event: &mut Event, scene: &Scene<'_>, names: &mut Dictionaries) {
        let Scene { thread, call, operands, description, .. } = *scene;
        let (command, argument) = (operands.flags[0], operands.commands[0]);
        let table = self.processes.thread(thread).table;
        let Some((fd, _)) = operands.fd else { return };
        if is_command(command, b"F_DUPFD", 0) {
            self.duplicate(event, scene, false, names);
        } else if is_command(command, b"F_DUPFD_CLOEXEC", 1030) {
            self.duplicate(event, scene, true, names);
        } else if is_command(command, b"F_SETFD", 2) {
            let cloexec = argument.is_some_and(|flags| symbols::FD_CLOEXEC.is_in(flags));
            self.descriptors.set_cloexec(table, fd, cloexec);
        } else if is_command(command, b"F_GETFD", 1) {
            if let Return::Value(flags, _) = call.ret {
                self.descriptors.set_cloexec(table, fd, flags & 1 != 0);
            }
        } else if let Some(description) = description {
            let append = if is_command(command, b"F_SETFL", 4) {
                argument.map(|flags| symbols::O_APPEND.is_in(flags))
            } else if let (true, Return::Value(flags, _)) = (is_command(command, b"F_GETFL", 3), call.ret) {
                Some(symbols::O_APPEND.is_in(&Arg::Int(flags)))
            } else {
                None
            };
            if let Some(append) = append {
                self.descriptors.description_mut(description).append = Some(append);
            }
        }
    }

    fn control_device(&mut self, id: ThreadId, operands: &Operands<'_>) {
        let table = self.processes.thread(id).table;
        if let Some((fd, _)) = operands.fd {
            if is_command(operands.flags[0], b"FIOCLEX", 0x5451) {
                self.descriptors.set_cloexec(table, fd, true);
            } else if is_command(operands.flags[0], b"FIONCLEX", 0x5450) {
                self.descriptors.set_cloexec(table, fd, false);
            }
        }
    }

    /// Closes the descriptor, unless its number stands for something else since the call was entered.
    fn close(&mut self, id: ThreadId, operands: &Operands<'_>, description: Option<DescriptionId>) {
        let table = self.processes.thread(id).table;
        if let Some((fd, _)) = operands.fd
            && self.descriptors.get(table, fd) == description
        {
            self.descriptors.close(table, fd);
        }
    }

    fn close_range(&mut self, id: ThreadId, operands: &Operands<'_>) {
        let flags = operands.flags[0];
        if flags.is_some_and(|flags| symbols::CLOSE_RANGE_UNSHARE.is_in(flags)) {
            self.unshare_table(id);
        }
        let bound = |arg: Option<&Arg<'_>>| match arg {
            Some(Arg::Fd(fd, _)) => Some(i64::from(*fd)),
            Some(arg) => integer(arg).map(|number| number & 0xffff_ffff),
            None => None,
        };
        if let Some(first) = bound(operands.commands[0]) {
            let last = bound(operands.commands[1]).unwrap_or(i64::MAX);
            let only_mark = flags.is_some_and(|flags| symbols::CLOSE_RANGE_CLOEXEC.is_in(flags));
            self.descriptors.close_range(self.processes.thread(id).table, first, last, only_mark);
        }
    }

    fn unshare(&mut self, id: ThreadId, operands: &Operands<'_>) {
        let Some(flags) = operands.flags[0] else { return };
        if symbols::CLONE_FILES.is_in(flags) {
            self.unshare_table(id);
        }
        let other_mounts = symbols::CLONE_NEWNS.is_in(flags);
        if other_mounts || symbols::CLONE_FS.is_in(flags) {
            let directory = self.processes.thread(id).directory;
            let own = self.directories.unshare(directory);
            self.processes.thread_mut(id).directory = own;
            if other_mounts {
                self.part_mounts(own);
            }
        }
    }

    /// Follows what a mount does to names.
    fn mount(&mut self, event: &Event, operands: &Operands<'_>, names: &Dictionaries) {
        let has = |symbol: Symbol| operands.has(symbol);
        let changes_none = [
            symbols::MS_REMOUNT,
            symbols::MS_UNBINDABLE,
            symbols::MS_PRIVATE,
            symbols::MS_SLAVE,
            symbols::MS_SHARED,
        ];
        if !self.source.is_trace || has(changes_none[0]) {
            return;
        }
        let (binds, moves) = (has(symbols::MS_BIND), has(symbols::MS_MOVE));
        if !binds && changes_none.into_iter().any(has) {
            return;
        }
        let text = |path: Nullable<PathId>| path.get().map(|path| names.paths.get(path.0));
        let is_clear = match (text(event.path), text(event.path2)) {
            (Some(target), Some(source)) if binds => {
                self.file_names.namespace.bind(target, source, has(symbols::MS_REC))
            }
            (Some(target), Some(source)) if moves => self.file_names.namespace.move_mount(source, target),
            (Some(target), _) if !binds && !moves => self.file_names.namespace.mount(target),
            _ => false,
        };
        self.tally.unclear_mounts += u64::from(!is_clear);
    }

    fn unshare_table(&mut self, id: ThreadId) {
        let table = self.processes.thread(id).table;
        self.processes.thread_mut(id).table = self.descriptors.unshare(table);
    }

    #[inline]
    pub(crate) fn hand_over<S: Sink>(&mut self, mut event: Event, id: ThreadId, cx: &mut Context<'_, S>) {
        let process = self.processes.thread(id).process;
        event.pid = self.processes.process(process).pid;
        if !self.effects.is_request(event.call) {
            event.parent = self.processes.thread(id).parent(event.case, event.layer);
        }
        let is_unknown = event.path.is_null() && !event.fd.is_null() && event.errno.is_null();
        self.tally.unknown_descriptors += u64::from(is_unknown && event.layer == Layer::Syscall);
        self.cases.count_event(event.case);
        self.file_names.credit.earn();
        cx.sink.event(&event, cx.names);
    }
}
