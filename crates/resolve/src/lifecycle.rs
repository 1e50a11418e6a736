//! Threads and processes come and go.
//!
//! A new thread is known by the return value of the call that made it, or, if it is seen earlier, by what the tracer said
//! of its creation or by the only creation in flight. fork and vfork copy the descriptor table (vfork shares memory, not descriptors); clone shares what its
//! flags say. The thread whose id is the process id is reported last by the kernel, so its end is the process's end.

use crate::Sink;
use crate::creations::{Creation, Open};
use crate::files::Description;
use crate::operands::Operands;
use crate::process_table::{NewThread, CommandLine, End, Parentage, ProcessId, Thread, ThreadId};
use crate::resolver::{Resolver, origin};
use crate::symbols::{self, Symbol};
use iotrail_model::calls::{self, CallKind};
use iotrail_model::raw::{RawCall, RawItem};
use iotrail_model::{CaseId, Dictionaries, Nullable, Pid, Tid, Timestamp, text};

/// What a child shares with its parent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shares {
    table: bool,
    directory: bool,
    process: bool,
    memory: bool,
    /// The parent of its parent: they are siblings.
    parent: bool,
    /// It sees mounts of its own.
    parts_mounts: bool,
}

impl Shares {
    fn of(call: &RawCall<'_>, operands: &Operands<'_>) -> Self {
        let is_vfork = calls::spec(call.call).is_some_and(|spec| spec.kind == CallKind::Vfork);
        let field = operands.structure.and_then(|structure| symbols::field(structure, b"flags"));
        let has = |symbol: Symbol| match field {
            Some(flags) => symbol.is_in_text(flags),
            None => operands.flags[0].is_some_and(|flags| symbol.is_in(flags)),
        };
        Self {
            table: has(symbols::CLONE_FILES),
            directory: has(symbols::CLONE_FS),
            process: has(symbols::CLONE_THREAD),
            memory: is_vfork || has(symbols::CLONE_VM) || has(symbols::CLONE_THREAD),
            parent: has(symbols::CLONE_PARENT),
            parts_mounts: has(symbols::CLONE_NEWNS),
        }
    }
}

impl Resolver {
    /// The thread that an item is of; `None` if the item has to wait.
    #[inline]
    pub(crate) fn emitter<S: Sink>(
        &mut self,
        case: CaseId,
        seq: Option<u64>,
        item: &RawItem<'_>,
        names: &Dictionaries,
        sink: &mut S,
    ) -> Option<ThreadId> {
        let (tid, at) = origin(item);
        let id = match self.processes.find(tid) {
            Some(id) if self.own_files || self.processes.thread(id).may_emit(item) => id,
            Some(zombie) => {
                self.drop_thread(zombie, names, sink);
                self.new_emitter(case, tid, seq, item)?
            }
            None => self.new_emitter(case, tid, seq, item)?,
        };
        if !self.processes.thread(id).seen {
            self.see(id, case, at);
        }
        Some(id)
    }

    pub(crate) fn see(&mut self, id: ThreadId, case: CaseId, at: Option<Timestamp>) {
        self.threads += 1;
        let thread = self.processes.thread_mut(id);
        thread.seen = true;
        let process = thread.process;
        let entry = self.processes.process_mut(process);
        if entry.threads == 0 {
            entry.case = case;
        }
        entry.threads += 1;
        entry.start = entry.start.or(at);
    }

    fn new_emitter(&mut self, case: CaseId, tid: Tid, seq: Option<u64>, item: &RawItem<'_>) -> Option<ThreadId> {
        match self.creations.open() {
            Open::None => Some(self.unknown_parent(case, tid)),
            // Among the items that wait may be the call that made this one.
            Open::One(parent) if self.held.is_empty() => Some(self.attach(case, tid, parent)),
            Open::One(_) | Open::Several => {
                let begins = matches!(item, RawItem::Call(_) | RawItem::Entered(_));
                let seq = seq.or_else(|| begins.then(|| self.next_seq(case)));
                self.held.push(case, tid, seq, item);
                None
            }
        }
    }

    /// A thread without a known parent is a process of its own. Its standard descriptors exist, whatever they are.
    fn unknown_parent(&mut self, case: CaseId, tid: Tid) -> ThreadId {
        if self.threads > 0 {
            self.meets_unknown_parent();
        }
        self.unrelated(case, tid, Pid(tid.0), None)
    }

    /// The first thread of a process of which nothing is known but these ids.
    pub(crate) fn unrelated(&mut self, case: CaseId, tid: Tid, pid: Pid, ppid: Option<Pid>) -> ThreadId {
        let table = self.files.new_table();
        for fd in 0..3 {
            let description = self.files.describe(Description::unseen(Nullable::NULL));
            self.files.set(table, fd, description, false);
        }
        let directory = self.directories.unknown();
        let space = self.memory.empty();
        let parentage = Parentage { image_of: None, ppid };
        self.processes.add_process(
            NewThread { tid, case, table, directory, space },
            pid,
            parentage,
            Nullable::NULL,
        )
    }

    /// `tid` is the child of the creation of `parent`.
    fn attach(&mut self, case: CaseId, tid: Tid, parent: Tid) -> ThreadId {
        match (self.creations.get(parent), self.processes.find(parent)) {
            (Some(Creation { shares, .. }), Some(thread)) => {
                self.creations.has_child(parent, tid);
                self.child(case, thread, tid, shares)
            }
            _ => {
                self.creations.end(parent);
                self.unknown_parent(case, tid)
            }
        }
    }

    fn child(&mut self, case: CaseId, parent: ThreadId, tid: Tid, shares: Shares) -> ThreadId {
        let Thread { process, table, directory, space, .. } = *self.processes.thread(parent);
        self.divides(table, shares.table);
        let table = if shares.table { self.files.share(table) } else { self.files.copy(table) };
        let directory = match shares.directory {
            true => self.directories.share(directory),
            false => self.directories.copy(directory),
        };
        if shares.parts_mounts {
            self.part_mounts(directory);
        }
        let space = if shares.memory { self.memory.share(space) } else { self.memory.copy(space) };
        let new = NewThread { tid, case, table, directory, space };
        if shares.process {
            self.processes.add_thread(new, process)
        } else {
            let parent = self.processes.process(process);
            let ppid = if shares.parent { parent.ppid } else { Some(parent.pid) };
            let parentage = Parentage { image_of: Some(process), ppid };
            let cwd = self.directories.path(directory);
            self.processes.add_process(new, Pid(tid.0), parentage, cwd)
        }
    }

    /// A call that makes a process was entered.
    pub(crate) fn creation_begins(&mut self, id: ThreadId, call: &RawCall<'_>, operands: &Operands<'_>) {
        let parent = self.processes.thread(id).tid;
        let shares = Shares::of(call, operands);
        self.creations.begin(parent, call.start, shares);
    }

    /// The tracer says that `child` came to be in the announced call of a thread, which has not returned.
    pub(crate) fn created<S: Sink>(
        &mut self,
        case: CaseId,
        parent: ThreadId,
        child: Tid,
        at: Timestamp,
        names: &Dictionaries,
        sink: &mut S,
    ) {
        let tid = self.processes.thread(parent).tid;
        let (start, shares) = match self.creations.get(tid) {
            Some(creation) if creation.child == Some(child) => return,
            Some(creation) => {
                self.creations.has_child(tid, child);
                (creation.start, creation.shares)
            }
            None => (at, Shares::default()),
        };
        self.link(case, parent, child, start, shares, names, sink);
        if let Some(child) = self.processes.find(child)
            && !self.processes.thread(child).seen
        {
            self.see(child, case, Some(at));
        }
    }

    /// The call of a thread that it entered at that time had no effect.
    pub(crate) fn interrupted(&mut self, id: ThreadId, at: Timestamp) {
        if self.processes.thread_mut(id).resume(|call| call.start == at).is_some() {
            return;
        }
        self.leave(id);
        let tid = self.processes.thread(id).tid;
        self.creations.end(tid);
    }

    /// What becomes of the announced call of a thread will be told later.
    pub(crate) fn suspended(&mut self, id: ThreadId) {
        if let Some(entered) = self.leave(id) {
            self.processes.thread_mut(id).suspended.push(entered);
        }
        let tid = self.processes.thread(id).tid;
        self.creations.end(tid);
    }

    /// A call that makes a process returned; `child` is what it made.
    pub(crate) fn creation_ends<S: Sink>(
        &mut self,
        id: ThreadId,
        call: &RawCall<'_>,
        operands: &Operands<'_>,
        child: Option<Tid>,
        names: &Dictionaries,
        sink: &mut S,
    ) {
        let Thread { tid: parent, process, .. } = *self.processes.thread(id);
        let case = self.processes.process(process).case;
        let creation = self.creations.end(parent);
        // A child that was already seen is known, even if a PID namespace gives it another number in the parent's eyes.
        if creation.as_ref().is_some_and(|creation| creation.child.is_some()) {
            return;
        }
        let Some(child) = child else { return };
        let (start, shares) = match creation {
            // The second half of a call may show flags that the first did not.
            Some(creation) => (creation.start, Shares::of(call, operands).or(creation.shares)),
            None => (call.start, Shares::of(call, operands)),
        };
        self.link(case, id, child, start, shares, names, sink);
    }

    /// `child` is a child of the thread `parent`, whose call began at `start`.
    #[expect(clippy::too_many_arguments, reason = "a link has two ends, each with what is known of it")]
    fn link<S: Sink>(
        &mut self,
        case: CaseId,
        parent: ThreadId,
        child: Tid,
        start: Timestamp,
        shares: Shares,
        names: &Dictionaries,
        sink: &mut S,
    ) {
        match self.processes.find(child) {
            Some(early) if early == parent => {}
            Some(early) if self.was_seen_early(early, start) => self.reparent(early, parent, shares),
            Some(old) => {
                self.forget(old, names, sink);
                self.child(case, parent, child, shares);
            }
            None => {
                self.child(case, parent, child, shares);
            }
        }
    }

    /// The id of a thread thought alive was given to another: its end was not seen.
    pub(crate) fn forget<S: Sink>(&mut self, old: ThreadId, names: &Dictionaries, sink: &mut S) {
        let thread = self.processes.thread(old);
        let process = thread.process;
        if thread.tid.0 == self.processes.process(process).pid.0 {
            self.end_process(process, None, names, sink);
        }
        self.drop_thread(old, names, sink);
    }

    /// Whether a thread without a parent was first seen after `start`, when its creation was in flight unannounced. Where
    /// each thread has a file, its number alone says so.
    fn was_seen_early(&self, id: ThreadId, start: Timestamp) -> bool {
        let thread = self.processes.thread(id);
        let process = self.processes.process(thread.process);
        let fresh = process.has_unknown_parent && self.processes.members(thread.process) == 1 && !thread.zombie;
        fresh && process.start.is_some_and(|first| self.own_files || first >= start)
    }

    fn reparent(&mut self, id: ThreadId, parent: ThreadId, shares: Shares) {
        let Thread { process: parent_process, table, directory, space, .. } = *self.processes.thread(parent);
        let own = self.processes.thread(id);
        let (process, own_table, own_directory) = (own.process, own.table, own.directory);
        self.memory.inherit_missing(own.space, space);
        self.learns_parent(table);
        self.files.inherit_missing(own_table, table);
        self.directories.inherit(own_directory, directory);
        if shares.process {
            self.processes.move_thread(id, parent_process);
        } else {
            let parent = self.processes.process(parent_process);
            let ppid = if shares.parent { parent.ppid } else { Some(parent.pid) };
            let entry = self.processes.process_mut(process);
            (entry.ppid, entry.has_unknown_parent) = (ppid, false);
        }
    }

    /// Takes the waiting items of threads that are known by now, or that cannot be told apart any more, in the order in
    /// which they came.
    pub(crate) fn release_held<S: Sink>(&mut self, names: &mut Dictionaries, sink: &mut S) {
        loop {
            while let Some(tid) = self.processes.arrivals.pop() {
                self.held.know(tid);
            }
            let Some(tid) = self.held.first_known() else {
                if self.settles_first() {
                    continue;
                }
                return;
            };
            if self.is_still_it(tid, names, sink)
                && let Some(waiting) = self.held.take(tid)
            {
                waiting.with(|item| self.take(waiting.case, waiting.seq, item, names, sink));
                self.held.know(tid);
            }
        }
    }

    /// Whether the waiting thread is still the one that was known when its item came. If not, its items wait on.
    fn is_still_it<S: Sink>(&mut self, tid: Tid, names: &Dictionaries, sink: &mut S) -> bool {
        let Some(id) = self.processes.find(tid) else { return false };
        let thread = self.processes.thread(id);
        let may_emit = self.held.peek(tid).is_some_and(|item| item.with(|item| thread.may_emit(item)));
        if !may_emit && !self.own_files {
            self.drop_thread(id, names, sink);
        }
        may_emit || self.own_files
    }

    /// Finds a parent, or none, for the waiting thread that was seen first, if it needs not wait any longer.
    fn settles_first(&mut self) -> bool {
        let Some(first) = self.held.first() else { return false };
        match self.creations.open() {
            // It was seen before all others that wait, so that none of them made it.
            Open::One(parent) => {
                self.attach(CaseId(0), first, parent);
            }
            Open::Several if !self.held.is_full() => return false,
            Open::Several | Open::None => {
                self.orphans += 1;
                self.unknown_parent(CaseId(0), first);
            }
        }
        true
    }

    /// Nothing more comes of a thread: where each has a file, that is at its end.
    pub fn over<S: Sink>(&mut self, tid: Tid, names: &mut Dictionaries, sink: &mut S) {
        // A thread that called exec in place of its leader goes on in the file of that one.
        let thread = self.processes.find(tid).filter(|id| self.processes.thread(*id).tid == tid);
        if let Some(thread) = thread {
            self.drop_thread(thread, names, sink);
        }
    }

    /// exit or exit_group was called: this is the last that the thread does. Its number may come again without a notice
    /// of its end.
    pub(crate) fn exits(&mut self, id: ThreadId) {
        self.processes.make_zombie(id);
        self.processes.thread_mut(id).left = true;
    }

    /// exit_group was called: this is the last that the process does.
    pub(crate) fn exit_group(
        &mut self,
        case: CaseId,
        id: ThreadId,
        operands: &Operands<'_>,
        start: Timestamp,
    ) {
        let process = self.processes.thread(id).process;
        let entry = self.processes.process_mut(process);
        if let Some(status) = operands.status {
            entry.exit = Some(((status & 0xff) as i32, start));
        }
        let pid = entry.pid;
        self.case_state(case).turns.ends(pid);
    }

    pub(crate) fn exited<S: Sink>(
        &mut self,
        id: ThreadId,
        at: Timestamp,
        status: i32,
        names: &Dictionaries,
        sink: &mut S,
    ) {
        self.thread_ends(id, at, End::Exit(status), names, sink);
    }

    pub(crate) fn killed<S: Sink>(
        &mut self,
        id: ThreadId,
        at: Timestamp,
        signal: &[u8],
        names: &Dictionaries,
        sink: &mut S,
    ) {
        self.thread_ends(id, at, End::Signal(signal), names, sink);
    }

    fn thread_ends<S: Sink>(
        &mut self,
        id: ThreadId,
        at: Timestamp,
        how: End<'_>,
        names: &Dictionaries,
        sink: &mut S,
    ) {
        let thread = self.processes.thread(id);
        let process = thread.process;
        let leads = thread.tid.0 == self.processes.process(process).pid.0;
        if leads || self.processes.members(process) == 1 {
            match self.own_files {
                // The other threads say in their files, perhaps read later, what they did until then.
                true => self.processes.process_mut(process).will_end(at, how, leads),
                false => self.end_process(process, Some((at, how)), names, sink),
            }
        }
        self.drop_thread(id, names, sink);
    }

    /// Forgets ended threads whose own end never came, if there are too many of them.
    #[inline]
    pub(crate) fn drop_zombies<S: Sink>(&mut self, names: &Dictionaries, sink: &mut S) {
        if !self.own_files {
            while let Some(zombie) = self.processes.excess_zombie() {
                self.drop_thread(zombie, names, sink);
            }
        }
    }

    /// The process has ended; hands out its last image, once.
    fn end_process<S: Sink>(
        &mut self,
        process: ProcessId,
        end: Option<(Timestamp, End<'_>)>,
        names: &Dictionaries,
        sink: &mut S,
    ) {
        if self.processes.end(process) {
            let entry = self.processes.process(process);
            let (pid, case) = (entry.pid, entry.case);
            self.hand_out(process, end, names, sink);
            self.case_state(case).turns.ends(pid);
        }
    }

    /// Hands out the present image, if it was seen.
    pub(crate) fn hand_out<S: Sink>(
        &mut self,
        process: ProcessId,
        end: Option<(Timestamp, End<'_>)>,
        names: &Dictionaries,
        sink: &mut S,
    ) {
        let entry = self.processes.process(process);
        if entry.threads > 0 {
            let cwd = entry.cwd.get().map(|path| names.paths.get(path.0));
            sink.process(entry.row(end, cwd));
        }
    }

    /// Forgets a thread; with the last one its process, which is handed out if it had not ended.
    pub(crate) fn drop_thread<S: Sink>(&mut self, id: ThreadId, names: &Dictionaries, sink: &mut S) {
        self.leave(id);
        let process = self.processes.thread(id).process;
        if self.processes.members(process) == 1 {
            self.end_process(process, None, names, sink);
        }
        if let Some((thread, _)) = self.processes.remove(id) {
            self.files.release(thread.table);
            self.directories.release(thread.directory);
            self.memory.release(thread.space);
            self.creations.end(thread.tid);
        }
    }

    /// The thread `by` called exec and goes on under the id of `old`, the leader, which is gone.
    pub(crate) fn superseded<S: Sink>(&mut self, old: ThreadId, by: Tid, names: &Dictionaries, sink: &mut S) {
        let tid = self.processes.thread(old).tid;
        match self.processes.find(by) {
            Some(by) if by != old => {
                self.drop_thread(old, names, sink);
                self.processes.rename(by, tid);
            }
            _ => {}
        }
    }

    /// A process was waited for. If it was never seen, it may be outside of the trace: those are forgotten one day. If it
    /// announced its end, that came true, and the number may come again. Not so where each thread has a file: there
    /// a wait stands where it began, and what the child did meanwhile is read later.
    pub(crate) fn reaped<S: Sink>(&mut self, by: ThreadId, tid: Tid, names: &Dictionaries, sink: &mut S) {
        let Some(id) = self.processes.find(tid).filter(|id| *id != by) else { return };
        let thread = self.processes.thread(id);
        let process = thread.process;
        if !thread.seen {
            if let Some(forgotten) = self.processes.reap(id) {
                self.drop_thread(forgotten, names, sink);
            }
        } else if !self.own_files && self.processes.process(process).exit.is_some() {
            self.end_process(process, None, names, sink);
        }
    }

    /// An exec succeeded: a new image under the same process id. An image that did nothing is not handed out.
    pub(crate) fn new_image<S: Sink>(
        &mut self,
        id: ThreadId,
        call: &RawCall<'_>,
        operands: &Operands<'_>,
        exe: Option<&[u8]>,
        names: &Dictionaries,
        sink: &mut S,
    ) {
        self.processes.drop_alias(id);
        let Thread { process, table, directory, space, .. } = *self.processes.thread(id);
        if self.processes.process(process).announced {
            self.hand_out(process, Some((call.start, End::Exec)), names, sink);
        }
        self.processes.make_zombies(process, Some(id));
        self.memory.release(space);
        let thread = self.processes.thread_mut(id);
        (thread.table, thread.space) = (self.files.exec(table), self.memory.empty());
        let to_text = |bytes: &[u8]| text::path_to_text(bytes).as_ref().into();
        let cwd = self.directories.path(directory);
        let entry = self.processes.process_mut(process);
        let cmdline =
            operands.strings.map(|(line, complete)| CommandLine { text: to_text(line), cut: !complete });
        entry.replace(call.start, exe.map(to_text), cmdline, cwd);
    }
}

impl Shares {
    fn or(self, other: Self) -> Self {
        Self {
            table: self.table || other.table,
            directory: self.directory || other.directory,
            process: self.process || other.process,
            memory: self.memory || other.memory,
            parent: self.parent || other.parent,
            parts_mounts: self.parts_mounts || other.parts_mounts,
        }
    }
}
