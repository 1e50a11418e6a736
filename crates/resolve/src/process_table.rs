//! Who is alive: threads, the processes they belong to, and the executable images of these.

use crate::address_spaces::SpaceId;
use crate::contested::Watched;
use crate::descriptor_tables::{DescriptionId, TableId};
use crate::directories::DirectoryId;
use hashbrown::HashMap;
use iotrail_model::calls;
use iotrail_model::raw::{RawCall, RawItem, Return};
use iotrail_model::{
    CallId, CaseId, FileId, Layer, Nullable, OpenId, PathId, Pid, Process, Tid, Timestamp, Usage, text,
};
use std::collections::VecDeque;
use std::sync::Arc;

/// How many ended threads without an exit of their own are remembered.
const MAX_ZOMBIES: usize = 4096;
/// How many processes are remembered that were waited for and never seen.
const MAX_REAPED: usize = 4096;

/// A thread in [`ProcessTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThreadId(u32);

/// A process in [`ProcessTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProcessId(u32);

#[derive(Debug)]
pub(crate) struct Thread {
    pub(crate) tid: Tid,
    /// The id under which it called exec, until that call returns.
    pub(crate) alias: Option<Tid>,
    pub(crate) process: ProcessId,
    pub(crate) table: TableId,
    pub(crate) directory: DirectoryId,
    pub(crate) space: SpaceId,
    /// The call it is in, if that was announced.
    pub(crate) entered: Option<Entered>,
    /// Calls that signals interrupted and of which it is not known yet what becomes of them.
    pub(crate) suspended: Vec<Entered>,
    /// Calls of libraries that it is in, the outermost first.
    pub(crate) enclosing: Vec<Enclosing>,
    /// Whether an item of its own was seen.
    pub(crate) seen: bool,
    /// Its process ended, or it said that it ends; the notice of its own end is still to come.
    pub(crate) zombie: bool,
    /// It said itself that it ends.
    pub(crate) left: bool,
    /// It was waited for before it was seen.
    reaped: bool,
}

impl Thread {
    /// The innermost call of a higher layer that it is in.
    pub(crate) fn parent(&self, case: CaseId, layer: Layer) -> Nullable<u64> {
        let outer = self.enclosing.iter().rev().find(|outer| outer.layer > layer);
        outer.filter(|outer| outer.case == case).map(|outer| outer.seq).into()
    }

    /// Takes the last of its suspended calls that is meant; not if the call that it is in is meant, too.
    pub(crate) fn resume(&mut self, is_meant: impl Fn(&Entered) -> bool) -> Option<Entered> {
        if self.suspended.is_empty() || self.entered.as_ref().is_some_and(&is_meant) {
            return None;
        }
        let index = self.suspended.iter().rposition(is_meant)?;
        Some(self.suspended.remove(index))
    }

    /// What was noted when a call began, be it that a signal interrupted it.
    pub(crate) fn being_in(&mut self, call: &RawCall<'_>) -> Option<&mut Entered> {
        let is_it = |entered: &Entered| (entered.call, entered.start) == (call.call, call.start);
        let suspended = match self.entered.as_ref().is_some_and(is_it) {
            true => None,
            false => self.suspended.iter_mut().rfind(|entered| is_it(entered)),
        };
        suspended.or(self.entered.as_mut().filter(|entered| entered.call == call.call))
    }

    /// Whether an item may be of this thread; if it has ended, it may be of another one with the same id.
    #[inline]
    pub(crate) fn may_emit(&self, item: &RawItem<'_>) -> bool {
        !self.zombie
            || match item {
                RawItem::Call(call) => {
                    call.ret == Return::Unseen && (!self.left || calls::is_request(call.call))
                }
                RawItem::Exited { .. } | RawItem::Killed { .. } | RawItem::Superseded { .. } => true,
                RawItem::Comm { .. } => true,
                _ => false,
            }
    }
}

/// A call of a library that a thread is in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Enclosing {
    pub(crate) layer: Layer,
    pub(crate) start: Timestamp,
    pub(crate) case: CaseId,
    pub(crate) seq: u64,
    /// What its descriptor stood for when it began.
    pub(crate) open: Nullable<OpenId>,
}

/// A call in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entered {
    pub(crate) call: CallId,
    pub(crate) start: Timestamp,
    /// What its descriptor, or the memory that it acts on, stood for when it was entered.
    pub(crate) description: Option<DescriptionId>,
    /// What the second one stood for, where a copy goes to.
    pub(crate) target: Option<DescriptionId>,
    /// The offset in the file that is mapped to the memory that it acts on.
    pub(crate) offset: Nullable<i64>,
    /// Whether it moves the cursors.
    pub(crate) moves: bool,
    /// Its number within its case.
    pub(crate) seq: (CaseId, u64),
    /// How often those of `description` and `target` had been moved before.
    pub(crate) moves_before: [u64; 2],
    /// The descriptors that others may change meanwhile.
    pub(crate) watched: Option<Watched>,
    /// Whether it may move the cursor of what other processes have a descriptor for, while nobody can say which.
    pub(crate) moves_any: bool,
    /// The file from which it takes a name.
    pub(crate) removes: Option<FileId>,
}

impl Entered {
    /// What its descriptors stand for.
    pub(crate) fn descriptions(&self) -> impl Iterator<Item = DescriptionId> + use<> {
        self.description.into_iter().chain(self.target)
    }
}

/// A process and its present image.
#[derive(Debug)]
pub(crate) struct ProcessEntry {
    pub(crate) pid: Pid,
    pub(crate) ppid: Option<Pid>,
    pub(crate) case: CaseId,
    /// First sign of life of the image, NULL if it has shown none.
    pub(crate) start: Option<Timestamp>,
    /// When the call began that made the process, if that is all that tells its birth.
    pub(crate) born: Option<Timestamp>,
    /// What exit_group said, until the end is seen.
    pub(crate) exit: Option<(i32, Timestamp)>,
    pub(crate) exe: Option<Arc<str>>,
    pub(crate) cmdline: Option<CommandLine>,
    /// Working directory at the start of the image.
    pub(crate) cwd: Nullable<PathId>,
    /// Threads seen of in this image.
    pub(crate) threads: u32,
    /// Whether [`crate::Sink::image`] has it: since its first call, or since the tracer showed it.
    pub(crate) announced: bool,
    /// Whether an exec that was seen brought it; else it may be a copy of what its parent runs.
    pub(crate) executed: bool,
    /// Chosen environment variables.
    pub(crate) env: Arc<[String]>,
    /// What the process used up to now, if that was said during this image.
    pub(crate) usage: Option<Usage>,
    /// What it had used when the image began.
    used_before: Usage,
    pub(crate) bytes_read: i64,
    pub(crate) bytes_written: i64,
    members: Vec<ThreadId>,
    /// Made by a process that is not in the trace.
    pub(crate) has_unknown_parent: bool,
    /// Whether the ids that it is told are those of another PID namespace than the tracer's.
    pub(crate) told_other_ids: bool,
    /// Whether its children are told such ids.
    pub(crate) parts_ids: bool,
    /// It was there when the trace began, and its present image since then.
    pub(crate) found: bool,
    ended: bool,
    /// How it ends, once its last thread is gone.
    last: Option<(Timestamp, Termination)>,
}

/// How a process ended, as far as one can without another image in its place.
#[derive(Debug)]
enum Termination {
    Exit(i32),
    Signal(Box<[u8]>),
}

/// The arguments of an image, as far as they were seen.
#[derive(Clone, Debug)]
pub(crate) struct CommandLine {
    /// Separated by NUL.
    pub(crate) text: Arc<str>,
    /// Whether a part of it is missing.
    pub(crate) cut: bool,
}

/// How an image ended.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End<'a> {
    /// It exited with this status.
    Exit(i32),
    /// A signal killed it.
    Signal(&'a [u8]),
    /// Another image took its place.
    Exec,
}

impl ProcessEntry {
    /// It is in another PID namespace than the tracer.
    pub(crate) fn set_told_other_ids(&mut self) {
        (self.told_other_ids, self.parts_ids) = (true, true);
    }

    /// The row of the table `processes` for the present image.
    pub(crate) fn row(&self, end: Option<(Timestamp, End<'_>)>, cwd: Option<&[u8]>) -> Process {
        let end = end.or(self.last.as_ref().map(|(at, word)| (*at, word.end())));
        let seen_end = end.map(|(at, _)| at).or(self.exit.map(|(_, at)| at));
        let (code, signal) = match end.map(|(_, how)| how) {
            Some(End::Exit(status)) => (Some(status), None),
            Some(End::Signal(name)) => (None, Some(text::path_to_text(name).into_owned())),
            Some(End::Exec) => (None, None),
            None => (self.exit.map(|(status, _)| status), None),
        };
        Process {
            case: self.case,
            pid: self.pid,
            ppid: self.ppid,
            start: self.start,
            // Threads may have clocks of their own; a life is not negative.
            end: seen_end.max(seen_end.and(self.start)),
            exit_code: code,
            signal,
            exe: self.exe.as_deref().map(str::to_owned),
            cmdline: self.cmdline.as_ref().map(|line| line.text.to_string()),
            cmdline_cut: self.cmdline.as_ref().map(|line| line.cut),
            cwd: cwd.map(|path| text::path_to_text(path).into_owned()),
            threads: self.threads,
            usage: self.usage.map(|usage| usage.since(&self.used_before)).unwrap_or_default(),
            bytes_read: self.bytes_read,
            bytes_written: self.bytes_written,
            env: self.env.to_vec(),
        }
    }

    /// Keeps how the process ended for when its last thread is gone: as its leader says, if that does.
    pub(crate) fn will_end(&mut self, at: Timestamp, how: End<'_>, leads: bool) {
        if self.last.is_some() && !leads {
            return;
        }
        self.last = match how {
            End::Exit(status) => Some((at, Termination::Exit(status))),
            End::Signal(name) => Some((at, Termination::Signal(name.into()))),
            End::Exec => None,
        };
    }

    /// Starts the next image of the process, with an exec that began at `at`.
    pub(crate) fn replace(
        &mut self,
        at: Timestamp,
        exe: Option<Arc<str>>,
        cmdline: Option<CommandLine>,
        cwd: Nullable<PathId>,
    ) {
        (self.exe, self.cmdline, self.cwd) = (exe, cmdline, cwd);
        // What an image lived and used of which nothing else was seen counts for the next; not so what was before the trace.
        let (usage, was_found) = (self.usage.take(), std::mem::take(&mut self.found));
        let born = self.start.filter(|_| !self.announced && !was_found);
        if self.announced {
            self.used_before = usage.unwrap_or_default();
        } else if was_found {
            self.used_before = usage.unwrap_or(self.used_before);
        }
        self.start = Some(born.map_or(at, |born| born.min(at)));
        (self.exit, self.threads, self.announced, self.executed) = (None, 1, false, true);
        (self.env, self.last) = (Arc::default(), None);
        (self.bytes_read, self.bytes_written) = (0, 0);
    }
}

impl Termination {
    fn end(&self) -> End<'_> {
        match self {
            Self::Exit(status) => End::Exit(*status),
            Self::Signal(name) => End::Signal(name),
        }
    }
}

/// Who made a process.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Parentage {
    /// The process whose program it runs.
    pub(crate) image_of: Option<ProcessId>,
    /// The process that is its parent.
    pub(crate) ppid: Option<Pid>,
}

/// What a new process or thread starts with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewThread {
    pub(crate) tid: Tid,
    pub(crate) case: CaseId,
    pub(crate) table: TableId,
    pub(crate) directory: DirectoryId,
    pub(crate) space: SpaceId,
}

/// All threads and processes that may still emit items.
#[derive(Debug, Default)]
pub(crate) struct ProcessTable {
    threads: Vec<Option<Thread>>,
    free_threads: Vec<u32>,
    processes: Vec<Option<ProcessEntry>>,
    free_processes: Vec<u32>,
    by_tid: HashMap<Tid, ThreadId, foldhash::fast::RandomState>,
    /// The thread seen last.
    last: Option<(Tid, ThreadId)>,
    zombies: usize,
    /// The ids of zombies, the oldest in front; some may be gone.
    zombie_order: VecDeque<Tid>,
    /// Threads that were waited for before they were seen, in that order.
    reaped: VecDeque<Tid>,
    /// The ids that threads got since somebody looked.
    pub(crate) arrivals: Vec<Tid>,
}

impl ProcessTable {
    /// The thread with that id, dead or alive.
    #[inline]
    pub(crate) fn find(&mut self, tid: Tid) -> Option<ThreadId> {
        if let Some((last, id)) = self.last
            && last == tid
        {
            return Some(id);
        }
        let id = *self.by_tid.get(&tid)?;
        self.last = Some((tid, id));
        Some(id)
    }

    #[inline]
    #[expect(
        clippy::expect_used,
        reason = "ids are given out by `add` and dropped with the thread they name"
    )]
    pub(crate) fn thread(&self, id: ThreadId) -> &Thread {
        self.threads[id.0 as usize].as_ref().expect("a live thread")
    }

    #[inline]
    #[expect(
        clippy::expect_used,
        reason = "ids are given out by `add` and dropped with the thread they name"
    )]
    pub(crate) fn thread_mut(&mut self, id: ThreadId) -> &mut Thread {
        self.threads[id.0 as usize].as_mut().expect("a live thread")
    }

    #[inline]
    #[expect(clippy::expect_used, reason = "a process lives at least as long as its last thread")]
    pub(crate) fn process(&self, id: ProcessId) -> &ProcessEntry {
        self.processes[id.0 as usize].as_ref().expect("a live process")
    }

    #[inline]
    #[expect(clippy::expect_used, reason = "a process lives at least as long as its last thread")]
    pub(crate) fn process_mut(&mut self, id: ProcessId) -> &mut ProcessEntry {
        self.processes[id.0 as usize].as_mut().expect("a live process")
    }

    /// The number here of the thread with that id, dead or alive.
    pub(crate) fn known(&self, tid: Tid) -> Option<ThreadId> {
        self.by_tid.get(&tid).copied()
    }

    /// The thread with that id, dead or alive.
    pub(crate) fn get(&self, tid: Tid) -> Option<&Thread> {
        self.by_tid.get(&tid).map(|id| self.thread(*id))
    }

    /// A thread of the entry process `pid`.
    pub(crate) fn member_of(&mut self, pid: Pid) -> Option<ThreadId> {
        let is_of = |entry: &ProcessEntry| entry.pid == pid && !entry.ended;
        if let Some(leader) = self.find(Tid(pid.0))
            && is_of(self.process(self.thread(leader).process))
        {
            return Some(leader);
        }
        let entry = self.processes.iter().flatten().find(|entry| is_of(entry))?;
        entry.members.first().copied()
    }

    /// A new process with its first thread. The id of the thread must be free.
    pub(crate) fn add_process(
        &mut self,
        new: NewThread,
        pid: Pid,
        parentage: Parentage,
        cwd: Nullable<PathId>,
    ) -> ThreadId {
        let parent = parentage.image_of.map(|parent| self.process(parent));
        let entry = ProcessEntry {
            pid,
            ppid: parentage.ppid,
            case: new.case,
            start: None,
            born: None,
            exit: None,
            exe: parent.and_then(|parent| parent.exe.clone()),
            cmdline: parent.and_then(|parent| parent.cmdline.clone()),
            cwd,
            threads: 0,
            announced: false,
            executed: false,
            env: parent.map(|parent| Arc::clone(&parent.env)).unwrap_or_default(),
            usage: None,
            used_before: Usage::ZERO,
            bytes_read: 0,
            bytes_written: 0,
            members: Vec::new(),
            has_unknown_parent: parentage.ppid.is_none(),
            told_other_ids: parent.is_some_and(|parent| parent.parts_ids),
            parts_ids: parent.is_some_and(|parent| parent.parts_ids),
            found: false,
            ended: false,
            last: None,
        };
        let id = insert(&mut self.processes, &mut self.free_processes, entry);
        self.add_thread(new, ProcessId(id))
    }

    /// A new thread of a process. Its id must be free.
    pub(crate) fn add_thread(&mut self, new: NewThread, process: ProcessId) -> ThreadId {
        let thread = Thread {
            tid: new.tid,
            alias: None,
            process,
            table: new.table,
            directory: new.directory,
            space: new.space,
            entered: None,
            suspended: Vec::new(),
            enclosing: Vec::new(),
            seen: false,
            zombie: false,
            left: false,
            reaped: false,
        };
        let id = ThreadId(insert(&mut self.threads, &mut self.free_threads, thread));
        self.process_mut(process).members.push(id);
        self.by_tid.insert(new.tid, id);
        self.arrivals.push(new.tid);
        self.last = None;
        id
    }

    /// Takes a thread out. The second value is true if its process has no other and is taken out with it.
    pub(crate) fn remove(&mut self, id: ThreadId) -> Option<(Thread, bool)> {
        let thread = self.threads[id.0 as usize].take()?;
        self.free_threads.push(id.0);
        self.last = None;
        self.zombies -= usize::from(thread.zombie);
        for tid in [Some(thread.tid), thread.alias].into_iter().flatten() {
            if self.by_tid.get(&tid) == Some(&id) {
                self.by_tid.remove(&tid);
            }
        }
        let process = self.process_mut(thread.process);
        process.members.retain(|member| *member != id);
        let empty = process.members.is_empty();
        if empty {
            self.processes[thread.process.0 as usize] = None;
            self.free_processes.push(thread.process.0);
        }
        Some((thread, empty))
    }

    /// The process has ended, so its threads are about to; `true` the first time.
    pub(crate) fn end(&mut self, process: ProcessId) -> bool {
        let entry = self.process_mut(process);
        if std::mem::replace(&mut entry.ended, true) {
            return false;
        }
        self.make_zombies(process, None);
        true
    }

    /// All threads but `survivor` are about to end.
    pub(crate) fn make_zombies(&mut self, process: ProcessId, survivor: Option<ThreadId>) {
        let members = self.process(process).members.clone();
        members
            .into_iter()
            .filter(|member| Some(*member) != survivor)
            .for_each(|member| self.make_zombie(member));
    }

    /// A thread is about to end.
    pub(crate) fn make_zombie(&mut self, id: ThreadId) {
        let thread = self.thread_mut(id);
        if !std::mem::replace(&mut thread.zombie, true) {
            let tid = thread.tid;
            self.zombies += 1;
            self.zombie_order.push_back(tid);
        }
    }

    /// The ended thread whose own end has not come for longest, if there are too many of them.
    #[inline]
    pub(crate) fn excess_zombie(&mut self) -> Option<ThreadId> {
        if self.zombie_order.len() <= MAX_ZOMBIES {
            return None;
        }
        self.oldest_zombie()
    }

    #[cold]
    fn oldest_zombie(&mut self) -> Option<ThreadId> {
        let mut order = std::mem::take(&mut self.zombie_order);
        let is_zombie = |tid: &Tid| self.get(*tid).is_some_and(|thread| thread.zombie);
        if order.len() > 2 * MAX_ZOMBIES {
            order.retain(is_zombie);
        }
        let mut oldest = None;
        while self.zombies > MAX_ZOMBIES && oldest.is_none() && !order.is_empty() {
            oldest = order.pop_front().filter(is_zombie);
        }
        self.zombie_order = order;
        oldest.and_then(|oldest| self.find(oldest))
    }

    /// A thread that was never seen was waited for. Gives one to be forgotten if there are too many of them.
    pub(crate) fn reap(&mut self, id: ThreadId) -> Option<ThreadId> {
        let thread = self.thread_mut(id);
        let tid = thread.tid;
        if !std::mem::replace(&mut thread.reaped, true) {
            self.reaped.push_back(tid);
        }
        if self.reaped.len() <= MAX_REAPED {
            return None;
        }
        let oldest = self.reaped.pop_front().and_then(|oldest| self.find(oldest))?;
        let thread = self.thread(oldest);
        (thread.reaped && !thread.seen).then_some(oldest)
    }

    /// The thread `by` goes on under the id of `tid` and is known under both until its exec returns. The thread that
    /// had the id before must be gone.
    pub(crate) fn rename(&mut self, by: ThreadId, tid: Tid) {
        self.drop_alias(by);
        let thread = self.thread_mut(by);
        thread.alias = Some(std::mem::replace(&mut thread.tid, tid));
        self.by_tid.insert(tid, by);
        self.arrivals.push(tid);
        self.last = None;
    }

    /// Forgets the id under which the thread called exec.
    pub(crate) fn drop_alias(&mut self, id: ThreadId) {
        if let Some(alias) = self.thread_mut(id).alias.take() {
            self.by_tid.remove(&alias);
            self.last = None;
        }
    }

    /// Moves a thread, with what it did, to another process; its old one must keep no other.
    pub(crate) fn move_thread(&mut self, id: ThreadId, process: ProcessId) {
        let old = std::mem::replace(&mut self.thread_mut(id).process, process);
        self.free_processes.push(old.0);
        let old = self.processes[old.0 as usize].take();
        let entry = self.process_mut(process);
        entry.members.push(id);
        if let Some(old) = old {
            entry.threads += old.threads;
            entry.announced |= old.announced;
            entry.bytes_read += old.bytes_read;
            entry.bytes_written += old.bytes_written;
        }
    }

    /// Number of threads of a process.
    pub(crate) fn members(&self, process: ProcessId) -> usize {
        self.process(process).members.len()
    }

    /// All threads in the order of their ids.
    pub(crate) fn all(&self) -> impl Iterator<Item = ThreadId> {
        let threads = self.threads.iter().enumerate();
        threads.filter_map(|(index, thread)| thread.as_ref().map(|_| ThreadId(index as u32)))
    }

    /// What calls in flight, and suspended ones, act on.
    pub(crate) fn in_flight(&self) -> impl Iterator<Item = DescriptionId> {
        let threads = self.threads.iter().flatten();
        threads
            .flat_map(|thread| thread.suspended.iter().chain(&thread.entered))
            .flat_map(Entered::descriptions)
    }

    /// The paths that processes name, to be renumbered.
    pub(crate) fn paths_mut(&mut self) -> impl Iterator<Item = &mut Nullable<PathId>> {
        self.processes.iter_mut().flatten().map(|entry| &mut entry.cwd)
    }
}

fn insert<T>(slots: &mut Vec<Option<T>>, free: &mut Vec<u32>, value: T) -> u32 {
    match free.pop() {
        Some(index) => {
            slots[index as usize] = Some(value);
            index
        }
        None => {
            slots.push(Some(value));
            (slots.len() - 1) as u32
        }
    }
}
