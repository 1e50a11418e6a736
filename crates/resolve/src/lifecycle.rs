//! Threads and processes come and go.
//!
//! A new thread is known by the return value of the call that made it, or, if it is seen earlier, by what the tracer said
//! of its creation or by the only creation in flight. fork and vfork copy the descriptor table (vfork shares memory, not descriptors); clone shares what its
//! flags say. The thread whose id is the process id is reported last by the kernel, so its end is the process's end.

use crate::Sink;
use crate::context::Context;
use crate::creations::Creation;
use crate::descriptor_tables::Description;
use crate::directories::DirectoryId;
use crate::ids::TableId;
use crate::operands::Operands;
use crate::process_table::{CommandLine, End, Entered, NewThread, Parentage, ProcessId, Thread, ThreadId};
use crate::scene::Scene;
use crate::shares::Shares;
use crate::state::State;
use iotrail_model::raw::RawCall;
use iotrail_model::{CaseId, Nullable, PathId, Pid, Tid, Timestamp, text};

impl State {
    pub(crate) fn see(&mut self, id: ThreadId, case: CaseId, at: Option<Timestamp>) {
        self.tally.threads += 1;
        let thread = self.processes.thread_mut(id);
        thread.seen = true;
        let process = thread.process;
        let entry = self.processes.process_mut(process);
        if entry.threads == 0 {
            entry.case = case;
        }
        entry.threads += 1;
        entry.start = entry.start.or_else(|| at.map(|at| entry.born.map_or(at, |born| born.min(at))));
    }

    /// A thread was made by a call that began at `at`: a trace tells no better when its process was born.
    fn born(&mut self, id: ThreadId, at: Timestamp, shares: Shares) {
        if shares.process || !self.source.is_trace {
            return;
        }
        let process = self.processes.thread(id).process;
        let entry = self.processes.process_mut(process);
        entry.born = Some(at);
        entry.start = entry.start.map(|start| start.min(at));
    }

    /// A thread without a known parent is a process of its own. Its standard descriptors exist, whatever they are.
    pub(crate) fn unknown_parent(&mut self, case: CaseId, tid: Tid) -> ThreadId {
        if self.tally.threads > 0 {
            self.descriptors.meets_unknown_parent();
        }
        self.unrelated(case, tid, Pid(tid.0), None)
    }

    /// The first thread of a process of which nothing is known but these ids.
    pub(crate) fn unrelated(&mut self, case: CaseId, tid: Tid, pid: Pid, ppid: Option<Pid>) -> ThreadId {
        let table = self.unseen_table();
        let directory = self.directories.unknown();
        let space = self.spaces.empty();
        let parentage = Parentage { image_of: None, ppid };
        self.processes.add_process(
            NewThread { tid, case, table, directory, space },
            pid,
            parentage,
            Nullable::NULL,
        )
    }

    /// A table with what a program expects to be there: descriptors of which nothing is known.
    pub(crate) fn unseen_table(&mut self) -> TableId {
        let table = self.descriptors.new_table();
        for fd in 0..3 {
            let description = self.descriptors.describe(Description::unseen(Nullable::NULL));
            self.descriptors.set(table, fd, description, false);
        }
        table
    }

    /// `tid` is the child of the creation of `parent`.
    pub(crate) fn attach(&mut self, case: CaseId, tid: Tid, parent: Tid) -> ThreadId {
        match (self.creations.get(parent), self.processes.find(parent)) {
            (Some(Creation { start, shares, since, .. }), Some(thread)) => {
                self.creations.has_child(parent, tid);
                let child = self.child(case, thread, tid, shares, Some(since));
                self.born(child, start, shares);
                child
            }
            _ => {
                self.creations.end(parent);
                self.unknown_parent(case, tid)
            }
        }
    }

    /// The call that makes it began at `since`, by the clock of calls in flight.
    fn child(
        &mut self,
        case: CaseId,
        parent: ThreadId,
        tid: Tid,
        shares: Shares,
        since: Option<u64>,
    ) -> ThreadId {
        let Thread { process, table, directory, space, .. } = *self.processes.thread(parent);
        self.descriptors.divides(table, shares.table);
        let table = match shares.table {
            true => self.descriptors.share(table),
            false => self.descriptors.copy_meanwhile(table, since),
        };
        let directory = match shares.directory {
            true => self.directories.share(directory),
            false => self.directories.copy(directory),
        };
        if shares.parts_mounts {
            self.part_mounts(directory);
        }
        let space = if shares.memory { self.spaces.share(space) } else { self.spaces.copy(space) };
        let new = NewThread { tid, case, table, directory, space };
        if shares.process {
            self.processes.add_thread(new, process)
        } else {
            let parent = self.processes.process(process);
            let ppid = if shares.parent { parent.ppid } else { Some(parent.pid) };
            let parentage = Parentage { image_of: Some(process), ppid };
            let cwd = self.directories.path(directory);
            let child = self.processes.add_process(new, Pid(tid.0), parentage, cwd);
            if shares.parts_ids {
                let process = self.processes.thread(child).process;
                self.processes.process_mut(process).set_told_other_ids();
            }
            child
        }
    }

    /// The owners of a directory get a mount namespace of their own.
    pub(crate) fn part_mounts(&mut self, directory: DirectoryId) {
        match self.file_names.namespace.mounts.copy(self.directories.get(directory).mounts) {
            Some(mounts) => self.directories.set_mounts(directory, mounts),
            None => self.tally.unclear_mounts += 1,
        }
    }

    /// A call that makes a process was entered.
    pub(crate) fn creation_begins(&mut self, id: ThreadId, call: &RawCall<'_>, operands: &Operands<'_>) {
        let parent = self.processes.thread(id).tid;
        let shares = Shares::of(call, operands);
        let since = self.descriptors.contested.now();
        self.creations.begin(parent, call.start, shares, since);
    }

    /// The tracer says that `child` came to be in the announced call of a thread, which has not returned.
    pub(crate) fn created<S: Sink>(
        &mut self,
        case: CaseId,
        parent: ThreadId,
        child: Tid,
        at: Timestamp,
        cx: &mut Context<'_, S>,
    ) {
        let tid = self.processes.thread(parent).tid;
        let (start, shares, since) = match self.creations.get(tid) {
            Some(creation) if creation.child == Some(child) => return,
            Some(creation) => {
                self.creations.has_child(tid, child);
                (creation.start, creation.shares, Some(creation.since))
            }
            None => (at, Shares::default(), None),
        };
        self.link(case, parent, child, start, (shares, since), cx);
        if let Some(child) = self.processes.find(child)
            && !self.processes.thread(child).seen
        {
            let process = self.processes.thread(child).process;
            self.processes.process_mut(process).born = None;
            self.see(child, case, Some(at));
        }
    }

    /// The call of a thread that it entered at that time had no effect.
    pub(crate) fn interrupted(&mut self, id: ThreadId, at: Timestamp) {
        if let Some(mut resumed) = self.processes.thread_mut(id).resume(|call| call.start == at) {
            self.unwatch(&mut resumed);
            return;
        }
        self.leave(id);
        let tid = self.processes.thread(id).tid;
        self.creations.end(tid);
    }

    /// What becomes of the announced call of a thread will be told later.
    pub(crate) fn suspended(&mut self, id: ThreadId) {
        if let Some(entered) = self.stand_still(id) {
            self.processes.thread_mut(id).suspended.push(entered);
        }
        let tid = self.processes.thread(id).tid;
        self.creations.end(tid);
    }

    /// The announced call of a thread is over.
    pub(crate) fn leave(&mut self, id: ThreadId) -> Option<Entered> {
        let mut entered = self.stand_still(id)?;
        self.unwatch(&mut entered);
        Some(entered)
    }

    /// The announced call of a thread moves nothing for now.
    fn stand_still(&mut self, id: ThreadId) -> Option<Entered> {
        let entered = self.processes.thread_mut(id).entered.take()?;
        for description in entered.descriptions().filter(|_| entered.moves) {
            let in_flight = &mut self.descriptors.description_mut(description).in_flight;
            *in_flight = in_flight.saturating_sub(1);
        }
        Some(entered)
    }

    /// A call that makes a process returned; `child` is what it made.
    pub(crate) fn creation_ends<S: Sink>(
        &mut self,
        id: ThreadId,
        call: &RawCall<'_>,
        operands: &Operands<'_>,
        child: Option<Tid>,
        cx: &mut Context<'_, S>,
    ) {
        let Thread { tid: parent, process, .. } = *self.processes.thread(id);
        let case = self.processes.process(process).case;
        let creation = self.creations.end(parent);
        // A child that was already seen is known, even if a PID namespace gives it another number in the parent's eyes.
        if creation.as_ref().is_some_and(|creation| creation.child.is_some()) {
            return;
        }
        let Some(child) = child else { return };
        let (start, shares, since) = match creation {
            // The second half of a call may show flags that the first did not.
            Some(creation) => {
                (creation.start, Shares::of(call, operands).or(creation.shares), Some(creation.since))
            }
            None => (call.start, Shares::of(call, operands), None),
        };
        if self.is_told_other_ids(process) {
            // The child is known when it is seen.
            let since = since.unwrap_or_else(|| self.descriptors.contested.now());
            self.creations.begin(parent, start, shares, since);
            return;
        }
        self.link(case, id, child, start, (shares, since), cx);
    }

    /// Whether the calls of a process return ids that the trace does not use.
    fn is_told_other_ids(&self, process: ProcessId) -> bool {
        self.source.is_trace && self.processes.process(process).told_other_ids
    }

    /// `child` is a child of the thread `parent`, whose call began at `start`.
    fn link<S: Sink>(
        &mut self,
        case: CaseId,
        parent: ThreadId,
        child: Tid,
        start: Timestamp,
        (shares, since): (Shares, Option<u64>),
        cx: &mut Context<'_, S>,
    ) {
        let child = match self.processes.find(child) {
            Some(early) if early == parent => return,
            Some(early) if self.was_seen_early(early, start) => {
                self.reparent(early, parent, shares);
                early
            }
            Some(old) => {
                self.forget(old, cx);
                self.child(case, parent, child, shares, since)
            }
            None => self.child(case, parent, child, shares, since),
        };
        self.born(child, start, shares);
    }

    /// The id of a thread thought alive was given to another: its end was not seen.
    pub(crate) fn forget<S: Sink>(&mut self, old: ThreadId, cx: &mut Context<'_, S>) {
        let thread = self.processes.thread(old);
        let process = thread.process;
        if thread.tid.0 == self.processes.process(process).pid.0 {
            self.end_process(process, None, cx);
        }
        self.drop_thread(old, cx);
    }

    /// Whether a thread without a parent was first seen after `start`, when its creation was in flight unannounced. Where
    /// each thread has a file, its number alone says so.
    fn was_seen_early(&self, id: ThreadId, start: Timestamp) -> bool {
        let thread = self.processes.thread(id);
        let process = self.processes.process(thread.process);
        let fresh =
            process.has_unknown_parent && self.processes.members(thread.process) == 1 && !thread.zombie;
        fresh && process.start.is_some_and(|first| self.source.own_files || first >= start)
    }

    fn reparent(&mut self, id: ThreadId, parent: ThreadId, shares: Shares) {
        let Thread { process: parent_process, table, directory, space, .. } = *self.processes.thread(parent);
        let own = self.processes.thread(id);
        let (process, own_table, own_directory) = (own.process, own.table, own.directory);
        self.spaces.inherit_missing(own.space, space);
        self.descriptors.learns_parent(table);
        self.descriptors.inherit_missing(own_table, table);
        self.directories.inherit(own_directory, directory);
        if shares.process {
            self.processes.move_thread(id, parent_process);
        } else {
            let parent = self.processes.process(parent_process);
            let ppid = if shares.parent { parent.ppid } else { Some(parent.pid) };
            let parts_ids = parent.parts_ids || shares.parts_ids;
            let entry = self.processes.process_mut(process);
            (entry.ppid, entry.has_unknown_parent) = (ppid, false);
            if parts_ids {
                entry.set_told_other_ids();
            }
        }
    }

    /// Nothing more comes of a thread: where each has a file, that is at its end.
    pub(crate) fn over<S: Sink>(&mut self, tid: Tid, cx: &mut Context<'_, S>) {
        // A thread that called exec in place of its leader goes on in the file of that one.
        let thread = self.processes.find(tid).filter(|id| self.processes.thread(*id).tid == tid);
        if let Some(thread) = thread {
            self.drop_thread(thread, cx);
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
        self.cases.ends(case, pid);
    }

    pub(crate) fn exited<S: Sink>(
        &mut self,
        id: ThreadId,
        at: Timestamp,
        status: i32,
        cx: &mut Context<'_, S>,
    ) {
        self.thread_ends(id, at, End::Exit(status), cx);
    }

    pub(crate) fn killed<S: Sink>(
        &mut self,
        id: ThreadId,
        at: Timestamp,
        signal: &[u8],
        cx: &mut Context<'_, S>,
    ) {
        self.thread_ends(id, at, End::Signal(signal), cx);
    }

    fn thread_ends<S: Sink>(&mut self, id: ThreadId, at: Timestamp, how: End<'_>, cx: &mut Context<'_, S>) {
        let thread = self.processes.thread(id);
        let process = thread.process;
        let leads = thread.tid.0 == self.processes.process(process).pid.0;
        if leads || self.processes.members(process) == 1 {
            match self.source.own_files {
                // The other threads say in their files, perhaps read later, what they did until then.
                true => self.processes.process_mut(process).will_end(at, how, leads),
                false => self.end_process(process, Some((at, how)), cx),
            }
        }
        self.drop_thread(id, cx);
    }

    /// Forgets ended threads whose own end never came, if there are too many of them.
    #[inline]
    pub(crate) fn drop_zombies<S: Sink>(&mut self, cx: &mut Context<'_, S>) {
        if !self.source.own_files {
            while let Some(zombie) = self.processes.excess_zombie() {
                self.drop_thread(zombie, cx);
            }
        }
    }

    /// The process has ended; hands out its last image, once.
    fn end_process<S: Sink>(
        &mut self,
        process: ProcessId,
        end: Option<(Timestamp, End<'_>)>,
        cx: &mut Context<'_, S>,
    ) {
        if self.processes.end(process) {
            let entry = self.processes.process(process);
            let (pid, case) = (entry.pid, entry.case);
            self.hand_out(process, end, cx);
            self.cases.ends(case, pid);
        }
    }

    /// Hands out the present image, if it was seen.
    fn hand_out<S: Sink>(
        &mut self,
        process: ProcessId,
        end: Option<(Timestamp, End<'_>)>,
        cx: &mut Context<'_, S>,
    ) {
        let entry = self.processes.process(process);
        if entry.threads > 0 {
            let cwd = entry.cwd.get().map(|path| cx.names.paths.get(path.0));
            cx.sink.process(entry.row(end, cwd));
        }
    }

    /// Forgets a thread; with the last one its process, which is handed out if it had not ended.
    pub(crate) fn drop_thread<S: Sink>(&mut self, id: ThreadId, cx: &mut Context<'_, S>) {
        self.leave(id);
        for mut suspended in std::mem::take(&mut self.processes.thread_mut(id).suspended) {
            self.unwatch(&mut suspended);
        }
        let process = self.processes.thread(id).process;
        if self.processes.members(process) == 1 {
            self.end_process(process, None, cx);
        }
        if let Some((thread, _)) = self.processes.remove(id) {
            self.descriptors.release(thread.table);
            self.directories.release(thread.directory);
            self.spaces.release(thread.space);
            self.creations.end(thread.tid);
        }
    }

    /// The thread `by` called exec and goes on under the id of `old`, the leader, which is gone.
    pub(crate) fn superseded<S: Sink>(&mut self, old: ThreadId, by: Tid, cx: &mut Context<'_, S>) {
        let tid = self.processes.thread(old).tid;
        match self.processes.find(by) {
            Some(by) if by != old => {
                let (process, own) = (self.processes.thread(old).process, self.processes.thread(by).process);
                // A thread that nobody saw being made is taken for a process until it says whose it is.
                let is_alone = self.processes.members(own) == 1 && !self.processes.process(own).announced;
                if own != process && is_alone {
                    self.processes.move_thread(by, process);
                }
                self.drop_thread(old, cx);
                self.processes.rename(by, tid);
            }
            _ => {}
        }
    }

    /// A process was waited for. If it was never seen, it may be outside of the trace: those are forgotten one day. If it
    /// announced its end, that came true, and the number may come again. Not so where each thread has a file: there
    /// a wait stands where it began, and what the child did meanwhile is read later.
    pub(crate) fn reaped<S: Sink>(&mut self, by: ThreadId, tid: Tid, cx: &mut Context<'_, S>) {
        let Thread { tid: reaper, process, .. } = *self.processes.thread(by);
        if self.is_told_other_ids(process) {
            self.creations.end(reaper);
            return;
        }
        let Some(id) = self.processes.find(tid).filter(|id| *id != by) else { return };
        let thread = self.processes.thread(id);
        let process = thread.process;
        if !thread.seen {
            if let Some(forgotten) = self.processes.reap(id) {
                self.drop_thread(forgotten, cx);
            }
        } else if !self.source.own_files && self.processes.process(process).exit.is_some() {
            self.end_process(process, None, cx);
        }
    }

    /// An exec succeeded: a new image under the same process id. A copy of the parent that did nothing else is not handed out.
    pub(crate) fn new_image<S: Sink>(
        &mut self,
        scene: &Scene<'_>,
        exe: Nullable<PathId>,
        cx: &mut Context<'_, S>,
    ) {
        let Scene { thread: id, call, operands, .. } = *scene;
        self.processes.drop_alias(id);
        let Thread { process, table, directory, space, .. } = *self.processes.thread(id);
        if self.processes.process(process).executed {
            self.announce(id, cx);
        }
        if self.processes.process(process).announced {
            self.hand_out(process, Some((call.start, End::Exec)), cx);
        }
        self.processes.make_zombies(process, Some(id));
        self.spaces.release(space);
        let thread = self.processes.thread_mut(id);
        (thread.table, thread.space) = (self.descriptors.exec(table, scene.since()), self.spaces.empty());
        let to_text = |bytes: &[u8]| text::path_to_text(bytes).as_ref().into();
        let cwd = self.directories.path(directory);
        let entry = self.processes.process_mut(process);
        let cmdline =
            operands.strings.map(|(line, complete)| CommandLine { text: to_text(line), cut: !complete });
        let exe = exe.get().map(|path| to_text(cx.names.paths.get(path.0)));
        entry.replace(call.start, exe, cmdline, cwd);
    }
}
