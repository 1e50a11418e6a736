//! What each thread waited for, and which call of another thread ended the wait.
//!
//! A wait is a call that stops its thread until somebody else does something: `wait4` until a child ends, a read of an empty
//! pipe until somebody writes or the last writer is gone, a write to a full pipe until somebody reads, a lock until its
//! holder lets go. Its *cause* is a call of another thread that began inside the wait and could end it. Who came first
//! waits, the later one is the cause: a read whose data were there before is no wait.
//!
//! | wait | cause |
//! |---|---|
//! | `wait4`, `waitid` | the exit of the child that it returned |
//! | `vfork`, `clone` with `CLONE_VFORK` | the exec of the child, else its exit |
//! | a read that returned data | the first write at the other end |
//! | a read at the end of the data | the last close, shutdown or exit of who could have written, else its last exec |
//! | an accept of a connection | the first connect at the other end |
//! | a write | the first read at the other end |
//! | an open of a FIFO | the first open of it by another thread |
//! | `poll`, `select`, `epoll_wait` | that of the thread's next calls on channels or for children, the first that has one |
//! | a lock | the last unlock of the same file, or close or exit by who may have held one (`waits::locks`) |
//! | a futex | the last wake of the same word, else the last exit of a thread of the process (`pthread_join`) |
//! | any, interrupted | the end of a child right before |
//! | any that the death of its process ended | the last `kill` with that signal by another process right before |
//! | a collective call of MPI | the same call of the last rank (`waits::ranks`) |
//! | looking for a file again and again, asleep in between | its making by another thread (`waits::absent`) |
//!
//! In a log of which nobody says that calls that wait for children were recorded and that holds none, or that does not tell
//! how long calls took, the maker of a process is taken to wait for its end.
//!
//! Waits on pipes that the trace does not tell apart (`pipe` without a number), and on sockets of which it does not tell the other
//! end, have no known cause: they are counted, because they may be somebody else's. Memory: about 50 bytes for each transfer on a
//! channel, each wait and each call that makes or ends a process.

pub(crate) mod absent;
pub(crate) mod ends;
pub(crate) mod gather;
pub(crate) mod locks;
pub(crate) mod ranks;

use self::absent::Absent;
use self::ends::Channels;
use self::locks::Locks;
use self::ranks::{LibraryCall, NamedWait, RankCall, Ranks, rank_waits};
use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashSet};
use iotrail_model::calls::mpi::Role;
use iotrail_model::{FlagsId, PathId, Tid};
use iotrail_query::ProcessId;

/// What a row says that a thread did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// Waited for the end of a child: the one of this number, or any.
    Child(Option<u32>),
    /// Read from a channel.
    Read {
        channel: PathId,
        /// Whether it found the end of the data.
        ended: bool,
    },
    /// Wrote to a channel.
    Write(PathId),
    /// Accepted a connection: the new socket.
    Accept(PathId),
    /// Connected a socket.
    Connect(PathId),
    /// Opened a FIFO, which waits until somebody opens its other end.
    Open(PathId),
    /// Waited until a descriptor was ready.
    Ready,
    /// Waited for a lock.
    Lock(PathId),
    /// Waited until a signal came.
    Interrupted,
    /// Waited for the word at this address to be woken; whether only threads of its process can do that.
    FutexWait(i64, bool),
    /// Woke who waits for the word at this address.
    FutexWake(i64),
    /// Waited by the clock.
    Slept,
    /// Waited for something that has no name here.
    Blocked,
    /// Waited until this signal, a name of the log's flags, killed its process.
    Killed(FlagsId),
    /// Sent that signal.
    Kill(FlagsId),
    /// Closed a descriptor of a channel.
    Close(PathId),
    /// Had a channel in its hands in another way: made, copied or opened it.
    Touch(PathId),
    /// Executed another program, which closed descriptors.
    Exec,
    /// Made the thread or process of this number.
    Spawn(u32),
    /// Made the process of this number, and waited until that executed another program or ended (`vfork`).
    Vfork(u32),
    /// Ended its process.
    Exit,
    /// Ended itself alone.
    ExitThread,
    /// Any other call; only the first and the last of a thread are kept.
    Other,
}

impl Act {
    const fn may_wait(self) -> bool {
        matches!(
            self,
            Self::Child(_)
                | Self::Read { .. }
                | Self::Write(_)
                | Self::Accept(_)
                | Self::Open(_)
                | Self::Ready
                | Self::Lock(_)
                | Self::Interrupted
                | Self::FutexWait(..)
                | Self::Slept
                | Self::Blocked
                | Self::Killed(_)
                | Self::Vfork(_)
        )
    }

    /// The channel that it moved data through, or waited for somebody at the other end of.
    const fn channel(self) -> Option<PathId> {
        match self {
            Self::Read { channel, .. } | Self::Write(channel) | Self::Accept(channel) => Some(channel),
            _ => None,
        }
    }
}

/// A call of a thread, in ns since the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) process: ProcessId,
    pub(crate) tid: Tid,
    pub(crate) start: i64,
    pub(crate) end: i64,
    pub(crate) act: Act,
}

/// What is known of a process beside its calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProcessFacts {
    pub(crate) parent: Option<ProcessId>,
    pub(crate) pid: u32,
    pub(crate) start: Option<i64>,
    pub(crate) end: Option<i64>,
    /// When the recorder left it, if that is how the record of all that it belongs to ends.
    pub(crate) left: Option<i64>,
    /// The signal that killed it, if a call of the log names it.
    pub(crate) killed_by: Option<FlagsId>,
}

impl ProcessFacts {
    /// When it ended or was left.
    fn last_seen(&self) -> Option<i64> {
        self.end.or(self.left)
    }
}

/// A thread: an index into [`Waits`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LineId(u32);

impl LineId {
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A thread's waits.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    process: ProcessId,
    tid: Tid,
    first: i64,
    last: i64,
    /// Sorted by start.
    waits: Vec<Wait>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wait {
    start: i64,
    end: i64,
    act: Act,
}

/// What ended a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cause {
    /// The thread that did it.
    pub(crate) line: LineId,
    /// When its call began.
    pub(crate) at: i64,
    /// What it was.
    pub(crate) what: Ended,
}

/// How a wait ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// A child ended.
    Child,
    /// A child executed another program.
    Executed,
    /// Data came.
    Data,
    /// No more data can come.
    EndOfData,
    /// There is room for more data.
    Room,
    /// A lock was let go of.
    Unlocked,
    /// The other end of a FIFO was opened.
    OtherEnd,
    Connected,
    /// A word in memory was woken.
    Woken,
    /// The last rank made the collective call.
    Called,
    /// A file was made.
    Made,
    /// A signal killed the process.
    Killed,
}

/// Waits for somebody of whom nothing is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unexplained {
    pub(crate) number: u64,
    /// How long, in ns.
    pub(crate) time: i64,
}

/// A call of some thread: when it began.
type Sign = (i64, LineId);

/// The waits of all threads of a log, and what could end them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Waits {
    lines: Vec<Line>,
    /// The threads of each process.
    of_process: Vec<Vec<LineId>>,
    processes: Vec<ProcessFacts>,
    /// Whether no call has a duration.
    untimed: bool,
    /// The processes that a process made, by number.
    children: HashMap<(ProcessId, u32), Vec<ProcessId>, RandomState>,
    /// When each process began to end, and its last thread: its call of exit, else its death.
    exits: Vec<Option<Sign>>,
    /// The same, sorted.
    ends: Vec<(i64, ProcessId)>,
    /// Processes whose end is that of the process itself, which may be noticed late.
    noticed: HashSet<ProcessId, RandomState>,
    /// Who made the thread or process of a number: when the call began and ended.
    spawns: HashMap<u32, Vec<(i64, i64, LineId)>, RandomState>,
    reads: HashMap<PathId, Vec<Sign>, RandomState>,
    writes: HashMap<PathId, Vec<Sign>, RandomState>,
    opens: HashMap<PathId, Vec<Sign>, RandomState>,
    connects: HashMap<PathId, Vec<Sign>, RandomState>,
    closes: HashMap<PathId, Vec<Sign>, RandomState>,
    locks: Locks,
    wakes: HashMap<i64, Vec<Sign>, RandomState>,
    kills: HashMap<FlagsId, Vec<Sign>, RandomState>,
    execs: HashMap<ProcessId, Vec<Sign>, RandomState>,
    exec_ends: HashMap<Sign, i64, RandomState>,
    /// Ends of single threads.
    thread_ends: HashMap<ProcessId, Vec<Sign>, RandomState>,
    /// Processes that had a channel in their hands.
    holders: HashMap<PathId, HashSet<ProcessId, RandomState>, RandomState>,
    /// Which of them are the two ends of one connection.
    channels: Channels,
    /// Waits that several calls make together, and that stand for all that lies in them: of ranks for each other, and for files
    /// that are not there yet.
    named: HashMap<LineId, Vec<NamedWait>, RandomState>,
    /// The begins and ends of MPI in each thread, which do so too.
    library: HashMap<LineId, Vec<LibraryCall>, RandomState>,
}

impl Waits {
    /// Puts rows in any order together; `timed` says whether any call has a duration.
    pub(crate) fn new(
        mut rows: Vec<Row>,
        processes: Vec<ProcessFacts>,
        channels: Channels,
        timed: bool,
        waits_recorded: bool,
    ) -> Self {
        rows.sort_by_key(|row| (row.process, row.tid, row.start, row.end));
        if timed {
            end_with_processes(&mut rows, &processes);
        }
        let mut waits = Self {
            of_process: vec![Vec::new(); processes.len()],
            exits: vec![None; processes.len()],
            channels,
            ..Self::default()
        };
        for row in &rows {
            let line = waits.line(row);
            waits.take(line, row);
        }
        for (index, process) in processes.iter().enumerate() {
            if let Some(parent) = process.parent {
                waits.children.entry((parent, process.pid)).or_default().push(ProcessId(index as u32));
            }
        }
        waits.add_silent(&processes);
        waits.add_silent_threads(&processes);
        for (index, process) in processes.iter().enumerate() {
            let id = ProcessId(index as u32);
            if waits.exits[index].is_none() {
                let last_thread = || waits.thread_ends.get(&id)?.iter().max().copied();
                waits.exits[index] = process.end.zip(waits.last_line(id)).or_else(last_thread);
                waits.noticed.extend(process.end.map(|_| id));
            }
            waits.ends.extend(waits.exits[index].map(|(index, _)| (index, id)));
        }
        waits.ends.sort_unstable();
        waits.processes = processes;
        waits.untimed = !rows.is_empty() && !timed;
        let has_waits = rows.iter().any(|row| matches!(row.act, Act::Child(_)) && row.start < row.end);
        if !has_waits && (waits.untimed || !waits_recorded) {
            waits.suppose_waits_for_children();
        }
        for signs in
            [&mut waits.reads, &mut waits.writes, &mut waits.opens, &mut waits.connects, &mut waits.closes]
        {
            signs.values_mut().for_each(|signs| signs.sort_unstable());
        }
        waits.wakes.values_mut().for_each(|signs| signs.sort_unstable());
        waits.kills.values_mut().for_each(|signs| signs.sort_unstable());
        for signs in [&mut waits.execs, &mut waits.thread_ends] {
            signs.values_mut().for_each(|signs| signs.sort_unstable());
        }
        waits
    }

    /// The same with calls of MPI: those that begin and end it, and the waits that collective calls of `ranks` were.
    pub(crate) fn with_mpi(mut self, calls: Vec<RankCall>, ranks: &Ranks) -> Self {
        if calls.is_empty() {
            return self;
        }
        let lines = self.lines_by_thread();
        let line = |process, tid| lines.get(&(process, tid)).copied();
        let is_own = |call: &RankCall| matches!(call.role, Role::Begins | Role::Ends);
        let (own, collective): (Vec<_>, Vec<_>) = calls.into_iter().partition(is_own);
        for RankCall { process, tid, start, end, call, .. } in own {
            if let (Some(line), Some(end)) = (line(process, tid), end) {
                self.library.entry(line).or_default().push(LibraryCall { start, end, call });
            }
        }
        self.library.values_mut().for_each(|calls| calls.sort_unstable_by_key(|call| call.start));
        self.named = rank_waits(collective, ranks, line);
        self
    }

    /// The same with the waits for files that were not there.
    pub(crate) fn with_absent(mut self, absent: Absent) -> Self {
        if absent.looks.is_empty() || absent.made.is_empty() {
            return self;
        }
        let lines = self.lines_by_thread();
        for (line, wait) in absent.waits(&self.lines, |process, tid| lines.get(&(process, tid)).copied()) {
            self.named.entry(line).or_default().push(wait);
        }
        self.named.values_mut().for_each(|waits| waits.sort_by_key(|wait| (wait.start, wait.end)));
        self
    }

    /// The call that begins or ends MPI in which a thread was at `at`, if it was in one; else the next one, if it makes one.
    pub(crate) fn library_call(&self, line: LineId, at: i64) -> Option<LibraryCall> {
        let calls = self.library.get(&line)?;
        calls.get(calls.partition_point(|call| call.end <= at)).copied()
    }

    /// The waits of a thread that several calls make together, in the order of time.
    pub(crate) fn named_waits(&self, line: LineId) -> &[NamedWait] {
        self.named.get(&line).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether what a thread did from `start` to `end` is part of such a wait, or of the begin or end of MPI.
    pub(crate) fn is_part(&self, line: LineId, start: i64, end: i64) -> bool {
        if self.library_call(line, start).is_some_and(|call| call.start <= start && end <= call.end) {
            return true;
        }
        let waits = self.named_waits(line);
        let begun = waits.partition_point(|wait| wait.start <= start);
        waits[..begun].iter().rev().take(NESTED).any(|wait| wait.covers(start, end))
    }

    /// Pairs of processes that are ranks of one program: each that waited, and whom it waited for.
    pub(crate) fn ranks_that_met(&self) -> impl Iterator<Item = (ProcessId, ProcessId)> {
        let pair = |line: &LineId, wait: &NamedWait| (self.process(*line), self.process(wait.cause.line));
        let of_ranks = |wait: &&NamedWait| wait.cause.what == Ended::Called;
        let pairs = self.named.iter();
        pairs.flat_map(move |(line, waits)| waits.iter().filter(of_ranks).map(move |wait| pair(line, wait)))
    }

    /// A process without any call of its own that made others, or whose life is known (a signal ended it), has a thread, too; its first
    /// sign is its birth, or that of its first child.
    fn add_silent(&mut self, processes: &[ProcessFacts]) {
        let mut signs: Vec<Option<i64>> = vec![None; processes.len()];
        for (index, process) in processes.iter().enumerate().rev() {
            let birth = process.start.filter(|_| process.end.is_some());
            let first = birth.into_iter().chain(signs[index]).min();
            if let (true, Some(first)) = (self.of_process[index].is_empty(), first) {
                let row = Row {
                    process: ProcessId(index as u32),
                    tid: Tid(process.pid),
                    start: first,
                    end: process.end.unwrap_or(first),
                    act: Act::Other,
                };
                self.line(&row);
            }
            let own = self.of_process[index].iter().map(|line| self.lines[line.index()].first).min();
            if let Some(sign) = process.parent.and_then(|parent| signs.get_mut(parent.index())) {
                *sign = own.into_iter().chain(*sign).min();
            }
        }
    }

    /// A thread without any call of its own that outlived the others: of a process whose other threads ended one by one, and that a
    /// signal ended later.
    fn add_silent_threads(&mut self, processes: &[ProcessFacts]) {
        let known = self.lines_by_thread();
        let mut silent: Vec<Row> = Vec::new();
        for (number, spawns) in &self.spawns {
            for (start, _, maker) in spawns {
                let process = self.process(*maker);
                let is_known = known.contains_key(&(process, Tid(*number)))
                    || self.children.contains_key(&(process, *number));
                let alone = self.exits[process.index()].is_none() && self.thread_ends.contains_key(&process);
                if let (false, true, Some(end)) = (is_known, alone, processes[process.index()].end) {
                    silent.push(Row { process, tid: Tid(*number), start: *start, end, act: Act::Other });
                }
            }
        }
        silent.sort_by_key(|row| (row.process, row.tid, row.start));
        silent.iter().for_each(|row| _ = self.line(row));
    }

    /// In a log without calls that wait for children each maker of a process is taken to wait for its end.
    fn suppose_waits_for_children(&mut self) {
        for (child, process) in self.processes.iter().enumerate() {
            let Some((end, _)) = self.exits[child] else { continue };
            let Some(leader) = self.of_process[child].first().copied() else { continue };
            let Some((maker, _)) = process.parent.and_then(|_| self.maker(leader)) else { continue };
            let act = Act::Child(Some(process.pid));
            self.lines[maker.index()].waits.push(Wait {
                start: end.saturating_sub(1),
                end: end.saturating_add(1),
                act,
            });
        }
        self.lines.iter_mut().for_each(|line| line.waits.sort_by_key(|wait| (wait.start, wait.end)));
    }

    /// The thread of a row; rows of one thread come one after the other.
    fn line(&mut self, row: &Row) -> LineId {
        let known = self.lines.last_mut().filter(|line| (line.process, line.tid) == (row.process, row.tid));
        if let Some(line) = known {
            line.last = line.last.max(row.end);
            return LineId(self.lines.len() as u32 - 1);
        }
        let id = LineId(self.lines.len() as u32);
        let Row { process, tid, start, end, .. } = *row;
        self.lines.push(Line { process, tid, first: start, last: end, waits: Vec::new() });
        if let Some(lines) = self.of_process.get_mut(process.index()) {
            lines.push(id);
        }
        id
    }

    fn take(&mut self, line: LineId, row: &Row) {
        let Row { process, start, end, act, .. } = *row;
        if matches!(act, Act::Close(_)) || act.may_wait() && start < end {
            self.lines[line.index()].waits.push(Wait { start, end, act });
        }
        let sign = (start, line);
        match act {
            Act::Read { channel, .. } => self.reads.entry(channel).or_default().push(sign),
            Act::Write(channel) => self.writes.entry(channel).or_default().push(sign),
            Act::Connect(channel) => self.connects.entry(channel).or_default().push(sign),
            Act::Open(channel) => self.opens.entry(channel).or_default().push(sign),
            Act::Close(channel) => self.closes.entry(channel).or_default().push(sign),
            Act::Spawn(child) | Act::Vfork(child) => {
                self.spawns.entry(child).or_default().push((start, end, line))
            }
            Act::Exit | Act::ExitThread => {
                if act == Act::Exit {
                    self.exits[process.index()] = self.exits[process.index()].max(Some(sign));
                }
                self.thread_ends.entry(process).or_default().push(sign);
            }
            Act::Exec => {
                self.execs.entry(process).or_default().push(sign);
                self.exec_ends.insert(sign, end);
            }
            Act::FutexWake(word) => self.wakes.entry(word).or_default().push(sign),
            Act::Kill(signal) => self.kills.entry(signal).or_default().push(sign),
            _ => {}
        }
        if let Act::Write(path)
        | Act::Accept(path)
        | Act::Connect(path)
        | Act::Open(path)
        | Act::Close(path)
        | Act::Touch(path) = act
        {
            self.holders.entry(path).or_default().insert(process);
        }
    }

    /// Whether no call has a duration, so that only the ends of children are known to have been waited for.
    pub(crate) fn is_untimed(&self) -> bool {
        self.untimed
    }

    /// When a process ended, or the recorder left it.
    pub(crate) fn last_seen(&self, process: ProcessId) -> Option<i64> {
        self.processes.get(process.index())?.last_seen()
    }

    /// Which sockets are the two ends of one connection.
    pub(crate) fn channels(&self) -> &Channels {
        &self.channels
    }

    /// The process of a thread.
    pub(crate) fn process(&self, line: LineId) -> ProcessId {
        self.lines[line.index()].process
    }

    /// The thread of a process that made the last sign.
    pub(crate) fn last_line(&self, process: ProcessId) -> Option<LineId> {
        let lines = self.of_process.get(process.index())?;
        lines.iter().copied().max_by_key(|line| (self.lines[line.index()].last, std::cmp::Reverse(*line)))
    }

    pub(crate) fn lines(&self) -> impl Iterator<Item = LineId> + use<> {
        (0..self.lines.len() as u32).map(LineId)
    }

    fn lines_by_thread(&self) -> HashMap<(ProcessId, Tid), LineId, RandomState> {
        self.lines().map(|line| ((self.process(line), self.tid(line)), line)).collect()
    }

    /// The thread's number.
    pub(crate) fn tid(&self, line: LineId) -> Tid {
        self.lines[line.index()].tid
    }

    /// When a thread's first call began and its last one ended.
    pub(crate) fn span(&self, line: LineId) -> (i64, i64) {
        let Line { first, last, .. } = self.lines[line.index()];
        (first, last)
    }

    /// How many waits a thread has.
    pub(crate) fn number_of_waits(&self, line: LineId) -> usize {
        self.lines[line.index()].waits.len()
    }

    /// The wait of that number of a thread: when it began and ended, and what it was for.
    pub(crate) fn wait(&self, line: LineId, number: usize) -> Option<(i64, i64, Act)> {
        let waits = &self.lines[line.index()].waits;
        let Wait { start, end, act } = *waits.get(number).filter(|wait| wait.act.may_wait())?;
        Some((start, end, awaited(waits, number).next().unwrap_or(act)))
    }

    /// Whether a child of that number had begun to end, or had made its last sign, before `at`.
    pub(crate) fn child_ended_before(&self, parent: ProcessId, pid: u32, at: i64) -> bool {
        let children = self.children.get(&(parent, pid)).into_iter().flatten();
        children.filter_map(|child| self.exits[child.index()]).any(|(end, _)| end <= at)
    }

    /// The thread of a process that ended it, else the one that made the last sign.
    pub(crate) fn ending_line(&self, process: ProcessId) -> Option<LineId> {
        self.exits
            .get(process.index())
            .copied()
            .flatten()
            .map(|(_, line)| line)
            .or_else(|| self.last_line(process))
    }

    /// How many waits of a thread began before `until`.
    pub(crate) fn before(&self, line: LineId, until: i64) -> usize {
        self.lines[line.index()].waits.partition_point(|wait| wait.start < until)
    }

    /// What ended the wait of that number of a thread, or what of it lies before `until`.
    pub(crate) fn cause(&self, line: LineId, number: usize, until: i64) -> Option<Cause> {
        let Line { process, waits, .. } = &self.lines[line.index()];
        let wait = waits.get(number)?;
        let is_whole = wait.end <= until;
        let inside =
            Inside { from: wait.start, until: wait.end.min(until), is_whole, line, process: *process };
        awaited(waits, number).find_map(|act| self.cause_of(act, inside))
    }

    fn cause_of(&self, act: Act, inside: Inside) -> Option<Cause> {
        match act {
            Act::Child(pid) => self.end_of_child(inside, pid),
            Act::Vfork(pid) => self.memory_given_back(inside, pid),
            Act::Read { channel, ended: false } => {
                self.first(&self.writes, self.channels.far_end(channel)?, inside, Ended::Data)
            }
            Act::Read { channel, ended: true } => self.end_of_data(inside, self.channels.far_end(channel)?),
            Act::Write(channel) => {
                self.first(&self.reads, self.channels.far_end(channel)?, inside, Ended::Room)
            }
            Act::Accept(channel) => {
                self.first(&self.connects, self.channels.far_end(channel)?, inside, Ended::Connected)
            }
            Act::Open(channel) => self.first(&self.opens, channel, inside, Ended::OtherEnd),
            Act::Lock(path) => self.let_go(inside, path),
            Act::Interrupted => self.interrupting_child(inside),
            Act::Killed(signal) => self.killer(inside, signal),
            Act::FutexWait(word, private) => self.woken(inside, word, private),
            _ => None,
        }
    }

    /// Whether the wait of that number of a thread may have been for somebody at the other end of a channel of whom nothing is
    /// known; how long it was then, as far as it lies before `until`.
    pub(crate) fn unexplained(&self, line: LineId, number: usize, until: i64) -> Option<i64> {
        let waits = &self.lines[line.index()].waits;
        let wait = waits.get(number)?;
        let channel = awaited(waits, number).next()?.channel()?;
        // Who only reads from a pipe is not at its other end.
        let is_used = |far_end| {
            self.holders.contains_key(&far_end) || far_end != channel && self.reads.contains_key(&far_end)
        };
        let is_known = self.channels.far_end(channel).is_some_and(is_used);
        (!is_known).then(|| wait.end.min(until) - wait.start)
    }

    fn first(
        &self,
        signs: &HashMap<PathId, Vec<Sign>, RandomState>,
        channel: PathId,
        inside: Inside,
        what: Ended,
    ) -> Option<Cause> {
        let signs = signs.get(&channel)?;
        let after = signs.partition_point(|(at, _)| *at <= inside.from);
        let mut signs = signs[after..].iter().take_while(|(at, _)| *at < inside.until);
        let (at, line) = signs.find(|(_, line)| *line != inside.line)?;
        Some(Cause { line: *line, at: *at, what })
    }

    /// The latest close by another thread, or end of another process that held the channel.
    fn end_of_data(&self, inside: Inside, channel: PathId) -> Option<Cause> {
        let closed = self.last_of(self.closes.get(&channel), inside);
        let holders = self.holders.get(&channel);
        let ended = self.last_of_ends(inside, closed, |process| {
            holders.is_some_and(|holders| self.is_held(holders, process))
        });
        let (at, line) = ended.or_else(|| self.last_exec_of(holders?, inside))?;
        Some(Cause { line, at, what: Ended::EndOfData })
    }

    /// The last exec inside of another one of `processes`.
    fn last_exec_of(&self, processes: &HashSet<ProcessId, RandomState>, inside: Inside) -> Option<Sign> {
        let others = processes.iter().filter(|process| **process != inside.process);
        others.filter_map(|process| self.last_of(self.execs.get(process), inside)).max()
    }

    /// The last wake of a word by another thread, which must be of the same process if the word is private to it; the kernel
    /// itself wakes who waits for the end of a thread.
    fn woken(&self, inside: Inside, word: i64, private: bool) -> Option<Cause> {
        let (from, until) = (inside.from, inside.until);
        let is_other =
            |line: LineId| line != inside.line && (!private || self.process(line) == inside.process);
        let last = |signs: Option<&Vec<Sign>>| {
            let signs = signs?;
            let before = signs.partition_point(|(at, _)| *at < until);
            let inside_it = signs[..before].iter().rev().take_while(|(at, _)| *at > from);
            inside_it.copied().find(|(_, line)| is_other(*line))
        };
        let woken = last(self.wakes.get(&word));
        let ended = || last(self.thread_ends.get(&inside.process)).filter(|_| !private);
        let (at, line) = woken.or_else(ended)?;
        Some(Cause { line, at, what: Ended::Woken })
    }

    /// The last call that may have let go of the lock, or end of who may have held it; else an exec that closed descriptors.
    fn let_go(&self, inside: Inside, path: PathId) -> Option<Cause> {
        let locks = self.locks.get(&path)?;
        let is_inside = |(at, line): &Sign| inside.from < *at && *at < inside.until && *line != inside.line;
        let released = locks.released.iter().copied().rfind(is_inside);
        let may_hold = |process| locks.owners.contains(&process) || self.is_held(&locks.users, process);
        let ended = self.last_of_ends(inside, released, may_hold);
        let (at, line) = ended.or_else(|| self.last_exec_of(&locks.users, inside))?;
        Some(Cause { line, at, what: Ended::Unlocked })
    }

    fn last_of(&self, signs: Option<&Vec<Sign>>, inside: Inside) -> Option<Sign> {
        let signs = signs?;
        let before = signs.partition_point(|(at, _)| *at < inside.until);
        let of_others = |(_, line): &&Sign| self.process(*line) != inside.process;
        let inside_it = signs[..before].iter().rev().take_while(|(at, _)| *at > inside.from);
        inside_it.copied().find(|sign| of_others(&sign))
    }

    /// The last of a sign and of the ends inside of other processes of which `holds` is true. Who is killed may be noticed after the wait.
    fn last_of_ends(
        &self,
        inside: Inside,
        sign: Option<Sign>,
        holds: impl Fn(ProcessId) -> bool,
    ) -> Option<Sign> {
        let mut exits = self.exits_inside(inside).rev();
        let last = sign.max(exits.find(|(process, _)| holds(*process)).map(|(_, exit)| exit));
        let is_near = last.is_some_and(|(at, _)| inside.until - at <= NOTICED_AFTER);
        if is_near || !inside.is_whole {
            return last;
        }
        let after = self.ends.partition_point(|(at, _)| *at < inside.until);
        let late = self.ends[after..].iter().take_while(|(at, _)| at - inside.until <= NOTICED_AFTER);
        let mut late = late.map(|(_, process)| *process).filter(|process| {
            *process != inside.process && self.noticed.contains(process) && holds(*process)
        });
        let line = late.next().and_then(|process| Some(self.exits[process.index()]?.1));
        line.map(|line| (inside.until, line)).or(last)
    }

    fn is_held(&self, holders: &HashSet<ProcessId, RandomState>, process: ProcessId) -> bool {
        let parent =
            |process: &ProcessId| self.processes.get(process.index()).and_then(|process| process.parent);
        std::iter::successors(Some(process), parent).any(|process| holders.contains(&process))
    }

    /// The other processes that began to end inside, in the order of time.
    fn exits_inside(&self, inside: Inside) -> impl DoubleEndedIterator<Item = (ProcessId, Sign)> {
        let after = self.ends.partition_point(|(at, _)| *at <= inside.from);
        let before = self.ends.partition_point(|(at, _)| *at < inside.until);
        let processes = self.ends.get(after..before).unwrap_or_default().iter().map(|(_, process)| *process);
        let others = processes.filter(move |process| *process != inside.process);
        others.filter_map(|process| Some((process, self.exits[process.index()]?)))
    }

    fn end_of_child(&self, inside: Inside, pid: Option<u32>) -> Option<Cause> {
        // In another namespace a child has another number.
        let of_number = pid.and_then(|pid| self.children.get(&(inside.process, pid)));
        let (at, line) = match of_number {
            Some(children) => children.iter().filter_map(|child| self.awaited_exit(*child, inside)).max()?,
            None => {
                self.exits_inside(inside)
                    .rev()
                    .find(|(process, _)| self.is_child(*process, inside.process))?
                    .1
            }
        };
        Some(Cause { line, at, what: Ended::Child })
    }

    /// The exec, else the end, of a child that shared the memory of its maker, which could go on then.
    fn memory_given_back(&self, inside: Inside, pid: u32) -> Option<Cause> {
        let children = self.children.get(&(inside.process, pid))?;
        let execs = children.iter().filter_map(|child| self.last_of(self.execs.get(child), inside));
        if let Some(sign) = execs.max() {
            // The maker goes on while the new program is still made ready.
            let at = self.exec_ends.get(&sign).copied().unwrap_or(sign.0).min(inside.until);
            return Some(Cause { line: sign.1, at, what: Ended::Executed });
        }
        let exits = children.iter().filter_map(|child| self.exits[child.index()]);
        let (at, line) = exits.filter(|(at, _)| inside.from < *at && *at <= inside.until).max()?;
        Some(Cause { line, at, what: Ended::Child })
    }

    /// The exit of a child that the wait returned; with coarse clocks at the moment of the return, and perhaps noticed later.
    fn awaited_exit(&self, child: ProcessId, inside: Inside) -> Option<Sign> {
        let (at, line) = self.exits[child.index()]?;
        let at = at.min(inside.until);
        (inside.from < at && self.lines[line.index()].first <= at).then_some((at, line))
    }

    /// The child whose end interrupted the wait: the last one, at once. An end that only its parent's next call notices interrupts
    /// nothing, since `SIGCHLD` is ignored by who has no handler.
    fn interrupting_child(&self, inside: Inside) -> Option<Cause> {
        let mut ends =
            self.exits_inside(inside).filter(|(process, _)| self.is_child(*process, inside.process));
        let (_, (at, line)) = ends.next_back().filter(|(_, (at, _))| inside.until - at <= SIGNAL_TAKES)?;
        Some(Cause { line, at, what: Ended::Child })
    }

    /// The last call by another process, right before, that sent the signal which killed the one that waits. Whom a signal was sent to no
    /// trail tells.
    fn killer(&self, inside: Inside, signal: FlagsId) -> Option<Cause> {
        let (at, line) = self.last_of(self.kills.get(&signal), inside)?;
        (inside.until - at <= SIGNAL_TAKES).then_some(Cause { line, at, what: Ended::Killed })
    }

    fn is_child(&self, process: ProcessId, parent: ProcessId) -> bool {
        self.processes[process.index()].parent == Some(parent)
    }

    /// The time that a process of one thread waited for others: from the start of each wait to its cause.
    pub(crate) fn caused_by_others(&self, process: ProcessId) -> Vec<(i64, i64)> {
        let Some([line]) = self.of_process.get(process.index()).map(Vec::as_slice) else { return Vec::new() };
        let waits = self.lines[line.index()].waits.iter().enumerate();
        let caused =
            waits.filter_map(|(number, wait)| Some((wait.start, self.cause(*line, number, wait.end)?.at)));
        caused.collect()
    }

    /// Who made a thread, and when its own life began; none if that was not seen.
    pub(crate) fn maker(&self, line: LineId) -> Option<(LineId, i64)> {
        let Line { process, tid, first, .. } = self.lines[line.index()];
        let is_leader = self.processes[process.index()].pid == tid.0;
        let makers = if is_leader { self.processes[process.index()].parent } else { Some(process) }?;
        let spawns = self.spawns.get(&tid.0).into_iter().flatten();
        let made = spawns.filter(|(start, _, maker)| *start <= first && self.process(*maker) == makers);
        if let Some((start, end, maker)) = made.max() {
            return Some((*maker, first.min(*end).max(*start)));
        }
        // The call was not recorded: the thread of the maker that began first.
        let maker = self.of_process.get(makers.index())?.first().copied().filter(|maker| *maker != line)?;
        (self.lines[maker.index()].first <= first).then_some((maker, first))
    }
}

/// A sleep or wait that never returned, as the last call of its thread, goes on until the process ends or is left.
fn end_with_processes(rows: &mut [Row], processes: &[ProcessFacts]) {
    let last_of_threads = rows.chunk_by_mut(|one, next| (one.process, one.tid) == (next.process, next.tid));
    for row in last_of_threads.filter_map(<[Row]>::last_mut) {
        let process = processes.get(row.process.index()).copied().unwrap_or_default();
        let end = process.last_seen();
        if let (Act::Slept | Act::Blocked, true, Some(end)) = (row.act, row.start == row.end, end) {
            row.end = end.max(row.start);
            row.act = process.killed_by.map_or(row.act, Act::Killed);
        }
    }
}

/// Named waits that may go on at once in a thread: for so many files.
const NESTED: usize = 8;
/// A signal interrupts a wait within this time, in ns, even on a busy machine.
pub(crate) const SIGNAL_TAKES: i64 = 50_000_000;
/// Who waited for a process that was killed may go on so many ns before a recorder notices the death.
const NOTICED_AFTER: i64 = 1_000_000;
/// Calls after a wait for descriptors that may tell which of them was ready.
const NEXT: usize = 16;

/// What the wait of that number of a thread may have been for; of a wait for descriptors what the thread did next with channels, or
/// which child it found ended (a `pidfd`, or a signal that is read).
fn awaited(waits: &[Wait], number: usize) -> impl Iterator<Item = Act> + '_ {
    let own = waits.get(number).map(|wait| wait.act);
    let after = waits.get(number + 1..).filter(|_| own == Some(Act::Ready)).unwrap_or_default();
    let next = after.iter().map(|wait| wait.act).take_while(|act| *act != Act::Ready).take(NEXT);
    let told = next.filter_map(|act| match act {
        Act::Close(channel) => Some(Act::Read { channel, ended: false }),
        _ => Some(act)
            .filter(|act| act.channel().is_some() || matches!(act, Act::Open(_) | Act::Child(Some(_)))),
    });
    own.filter(|act| *act != Act::Ready).into_iter().chain(told)
}

/// The inside of a wait of a thread.
#[derive(Clone, Copy)]
struct Inside {
    from: i64,
    until: i64,
    /// Whether it is all of the wait.
    is_whole: bool,
    line: LineId,
    process: ProcessId,
}
