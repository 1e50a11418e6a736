//! From a returned call to an event.

use crate::Sink;
use crate::context::Context;
use crate::descriptor_tables::{Description, DescriptionId};
use crate::effect::Effect;
use crate::file_names::intern;
use crate::locks::Lock;
use crate::lookup::Location;
use crate::mappings::is_anonymous;
use crate::offsets::Way;
use crate::operands::{Base, Operands, PathArg, Position};
use crate::positions::Positions;
use crate::process_table::{Entered, ThreadId};
use crate::scene::{Scene, set_result, succeeded};
use crate::state::State;
use crate::symbols::{self, Symbol};
use iotrail_model::calls::{self, CallKind, Transfer};
use iotrail_model::raw::{Arg, RawCall, Return};
use iotrail_model::{CaseId, Dictionaries, Event, FlagsId, Layer, Nullable, PathId};

impl State {
    /// Names are looked for as a thread sees them from now on: below its root, in its mounts.
    pub(crate) fn look_from(&mut self, thread: ThreadId, names: &Dictionaries) {
        let namespace = &mut self.file_names.namespace;
        if namespace.mounts.differ() || namespace.is_rooted() || self.directories.are_rooted() {
            let directory = self.directories.get(self.processes.thread(thread).directory);
            namespace.look_from(directory.root.get().map(|root| names.paths.get(root.0)));
            namespace.mounts.enter(directory.mounts);
        }
    }

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
        self.file_names.covered.clear();
        self.file_names.namespace.looks_at(call.start);
        self.look_from(thread, cx.names);
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
            let fd = operands.fd?;
            let is_free = || succeeded(call) && fd.1.is_none() && self.descriptors.get(table, fd.0).is_none();
            let closing = self.being_closed(table, operands, effect).filter(|_| is_free());
            closing.or_else(|| self.acted_on(table, operands, effect, succeeded(call), cx.names))
        });
        let description = description.filter(|id| !self.is_gone(thread, *id, call, (operands, spec)));
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
        // What it leaves in the register is of the call that the signal interrupted.
        if scene.spec.is_none_or(|spec| spec.kind != CallKind::SignalReturn) {
            set_result(&mut event, call, cx.names);
        }
        self.set_flags(&mut event, operands, cx.names);
        self.set_paths(&mut event, &scene, cx.names);
        self.set_transfer(&mut event, &scene, cx.names);
        if let Some((bytes, spec)) = event.size.get().zip(scene.spec).filter(|_| cx.sink.asks(call.call)) {
            self.count_bytes(thread, spec.transfer, bytes);
        }
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
            self.file_names.emit_lost_name(path, file, cx);
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
        match self.processes.thread_mut(thread).resume(is_it) {
            Some(mut resumed) => {
                self.unwatch(&mut resumed);
                Some(resumed)
            }
            None => self.leave(thread),
        }
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
        let positions = operands.held.is_none_or(|file| Positions::of_name(file.name).exist());
        if let (Position::At(offset), true) = (operands.position, positions) {
            event.offset = Nullable::some(offset);
        }
        let Some(spec) = scene.spec.filter(|spec| spec.transfer != Transfer::None) else { return };
        event.requested = operands.requested.into();
        if let (true, Return::Value(returned, _)) = (scene.succeeded(), scene.call.ret)
            && let Some(bytes) = operands.moved(returned)
        {
            event.size = Nullable::some(bytes);
        }
        let is_request = self.effects.is_request(scene.call.call);
        let step = scene.step(is_request);
        if let Some(source) = scene.description {
            let way = match spec.transfer {
                Transfer::Write if self.writes_to_end(source, operands) => Way::ToEnd,
                Transfer::Write => Way::Write,
                _ => Way::Read,
            };
            // A request has an offset even where there are no positions.
            let position = match is_request && !self.descriptors.description(source).positions.exist() {
                true => Position::Cursor,
                false => operands.position,
            };
            event.offset = self.descriptors.transfer(source, &step, position, way);
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
                    self.descriptors.transfer(target, &step, operands.position2, Way::Write);
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

    /// Where the part of a file begins that fcntl locks.
    fn lock_start(&self, operands: &Operands<'_>, description: Option<DescriptionId>) -> Nullable<i64> {
        let cursor = description.and_then(|id| self.descriptors.certain_cursor(id).get());
        Lock::of(operands).and_then(|lock| lock.start(cursor)).into()
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
        if !self.unshown.holds() {
            return cx.sink.event(&event, cx.names);
        }
        self.unshown.push(&event);
        self.release_shown(cx);
    }

    /// Hands out what waits no longer for what the trace shows of files.
    pub(crate) fn release_shown<S: Sink>(&mut self, cx: &mut Context<'_, S>) {
        while let Some(event) = self.unshown.pop() {
            cx.sink.event(&event, cx.names);
        }
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
