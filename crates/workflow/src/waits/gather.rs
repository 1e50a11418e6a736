//! From the event log to the rows of [`Waits`].

use super::absent::{Absent, Looks, Made};
use super::ends::Channels;
use super::locks::{Description, LockCall, LockCalls, LockStep};
use super::ranks::{RankCall, Ranks};
use super::{Act, ProcessFacts, Row, Waits};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::calls::{
    CallKind, CallSpec, Class, EventClasses, Family, LockRequest, NameEffect, OpenFlags, PerCall,
    flags::has_word, futex_wakes, mpi,
};
use iotrail_model::{CaseId, EventBatch, FlagsId, Layer, Names, Nanos, OpenId, PathId, Tid};
use iotrail_query::{Asks, Pass, ProcessEntry, ProcessId, ProcessTable, Rows};
use iotrail_trail::{Columns, EventLog};
use std::collections::HashSet;
use std::sync::Arc;

/// What tells which call of which thread on which channel a row is, and how it ended.
pub(crate) const CALL_COLUMNS: [Columns; 14] = [
    Columns::CASE,
    Columns::PID,
    Columns::TID,
    Columns::LAYER,
    Columns::CALL,
    Columns::START,
    Columns::DUR,
    Columns::PATH,
    Columns::PATH2,
    Columns::SIZE,
    Columns::RET,
    Columns::ERRNO,
    Columns::FLAGS,
    Columns::OPEN,
];

/// `MPI_COMM_WORLD` in the column of communicators.
const WORLD: i32 = 0;

/// Channels beyond this have no name of their own: counters of events (eventfd), told by their open file descriptions.
const NAMELESS: u32 = 1 << 31;

/// The channel that an open file description without a name of its own is.
fn nameless_channel(case: CaseId, open: OpenId) -> Option<PathId> {
    (case.0 < 1 << 11 && open.0 < 1 << 20).then_some(PathId(NAMELESS | case.0 << 20 | open.0))
}

/// Whether no name of the log is that of this channel.
pub(crate) const fn is_nameless(channel: PathId) -> bool {
    channel.0 >= NAMELESS
}

/// What a call may make of its thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    Child,
    Read,
    Write,
    Pair,
    Accept,
    Connect,
    Open,
    Ready,
    Lock,
    Close,
    Spawn,
    Vfork,
    Exit,
    ExitThread,
    Exec,
    Futex,
    Kill,
    #[default]
    Other,
}

/// What a call does with names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Naming {
    #[default]
    None,
    Uses,
    /// Its first path, which it may make.
    Opens,
    /// Its first path.
    Makes,
    /// Its second path.
    Gives,
}

fn naming(spec: &CallSpec) -> Naming {
    match spec.name_effect() {
        NameEffect::Opens if spec.kind == CallKind::Create => Naming::Makes,
        NameEffect::Opens => Naming::Opens,
        NameEffect::Makes => Naming::Makes,
        NameEffect::Renames | NameEffect::Links | NameEffect::Symlinks => Naming::Gives,
        NameEffect::Uses => Naming::Uses,
        _ => Naming::None,
    }
}

/// What is done by an entry of a ring is no call of the thread, but bytes that it moved have woken somebody.
fn kind(spec: &CallSpec) -> Kind {
    match spec.kind {
        CallKind::Read => Kind::Read,
        CallKind::Write => Kind::Write,
        CallKind::Spawn => Kind::Spawn,
        CallKind::Vfork => Kind::Vfork,
        _ if spec.request.is_some() => Kind::Other,
        CallKind::WaitChild | CallKind::WaitChildInfo => Kind::Child,
        CallKind::Poll => Kind::Ready,
        CallKind::Lock | CallKind::Control => Kind::Lock,
        CallKind::Close | CallKind::Shutdown => Kind::Close,
        CallKind::SocketPair => Kind::Pair,
        CallKind::Accept => Kind::Accept,
        CallKind::Connect => Kind::Connect,
        CallKind::Open | CallKind::Create => Kind::Open,
        CallKind::ExitThread => Kind::ExitThread,
        CallKind::ExitProcess => Kind::Exit,
        CallKind::Exec => Kind::Exec,
        CallKind::Futex => Kind::Futex,
        CallKind::Kill => Kind::Kill,
        _ => Kind::Other,
    }
}

/// By error, whether it says that a signal interrupted the call.
pub(crate) fn interrupted(names: &Names) -> Vec<bool> {
    names.errnos.iter().map(|name| &**name == "EINTR" || name.starts_with("ERESTART")).collect()
}

/// The names of signals among flags.
fn signals(flags: &[Arc<str>]) -> HashMap<Arc<str>, FlagsId, RandomState> {
    let named = flags.iter().enumerate().filter(|(_, name)| name.starts_with("SIG"));
    named.map(|(index, name)| (Arc::clone(name), FlagsId::from_index(index))).collect()
}

/// What flags ask of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LockFlags {
    request: LockRequest,
    /// Whether it is the process's, not the open file description's.
    of_process: bool,
    /// Whether others may have it, too.
    shared: bool,
}

impl LockFlags {
    fn of(flags: &str) -> Option<Self> {
        let of_process = LockRequest::is_of_process(flags);
        let shared = LockRequest::is_shared(flags);
        LockRequest::of(flags).map(|request| Self { request, of_process, shared })
    }
}

/// The meanings of a log's names.
#[derive(Debug)]
struct WaitVocabulary {
    kinds: PerCall<Kind>,
    classes: EventClasses,
    locks: Vec<Option<LockFlags>>,
    /// Whether any lock of the log may wait, so that who has files open matters.
    has_locks: bool,
    /// The operations of `futex` among the flags: whether they wake, and whether the word is private to its process.
    futexes: Vec<(bool, bool)>,
    /// Which flags say that who makes a process waits until it executes another program.
    vforks: Vec<bool>,
    channels: Channels,
    /// Which paths are those of counters of events.
    counters: Vec<bool>,
    interrupted: Vec<bool>,
    /// The names of signals among the flags.
    signals: HashMap<Arc<str>, FlagsId, RandomState>,
    /// Which errors say that a call goes on beside its thread.
    goes_on: Vec<bool>,
    /// What calls of MPI mean for the other ranks.
    collectives: PerCall<mpi::Role>,
    names: PerCall<Naming>,
    /// Which errors say that a name is not there, and which flags that a file is made if it is not.
    missing: Vec<bool>,
    opens: Vec<bool>,
    ranks: Ranks,
}

impl WaitVocabulary {
    fn new(log: &EventLog) -> Self {
        let names = log.names();
        let locks: Vec<_> = names.flags.iter().map(|text| LockFlags::of(text)).collect();
        let futex = |text: &Arc<str>| (futex_wakes(text), text.contains("_PRIVATE"));
        Self {
            names: PerCall::new(&names.calls, |call| call.spec.map_or(Naming::None, naming)),
            missing: names.errnos.iter().map(|name| &**name == "ENOENT").collect(),
            opens: names.flags.iter().map(|text| OpenFlags::parse(text.as_bytes()).creates()).collect(),
            collectives: PerCall::new(&names.calls, |call| mpi::role(call.name)),
            ranks: Ranks::of(log.cases()),
            classes: EventClasses::new(names, log.files(), HashSet::new()).recorded_at(&log.coverage()),
            has_locks: locks.iter().flatten().any(|lock| lock.request == LockRequest::Wait),
            futexes: names.flags.iter().map(futex).collect(),
            locks,
            vforks: names.flags.iter().map(|text| has_word(text.as_bytes(), "CLONE_VFORK")).collect(),
            kinds: PerCall::new(&names.calls, |call| call.spec.map_or(Kind::Other, kind)),
            channels: Channels::of(log),
            counters: names.paths.iter().map(|path| path.starts_with("anon_inode:[eventfd")).collect(),
            signals: signals(&names.flags),
            goes_on: names.errnos.iter().map(|name| &**name == "EINPROGRESS").collect(),
            interrupted: interrupted(names),
        }
    }

    /// The two sockets that a call made.
    fn pair(&self, batch: &EventBatch, row: usize) -> Option<(PathId, PathId)> {
        let made = self.kinds.of(batch.call[row]) == Kind::Pair && batch.errno[row].is_null();
        let end = |path: Option<PathId>| self.channels.of_path(path?);
        end(batch.path[row].get()).zip(end(batch.path2[row].get())).filter(|_| made)
    }

    /// What a row says its thread did.
    fn act(&self, batch: &EventBatch, row: usize) -> Act {
        let failed = batch.errno[row].get();
        let interrupted = failed.is_some_and(|errno| self.interrupted.get(errno.index()) == Some(&true));
        let goes_on = failed.is_some_and(|errno| self.goes_on.get(errno.index()) == Some(&true));
        let kind = self.kinds.of(batch.call[row]);
        let path = batch.path[row].get();
        let channel = path.and_then(|path| self.channels.of_path(path)).or_else(|| self.counter(batch, row));
        let touch = channel.map_or(Act::Other, Act::Touch);
        let number = batch.ret[row].get().filter(|ret| *ret > 0).and_then(|ret| u32::try_from(ret).ok());
        match (kind, channel) {
            (Kind::Exit, _) => Act::Exit,
            (Kind::ExitThread, _) => Act::ExitThread,
            (Kind::Futex, _) => self.futex(batch, row, interrupted || failed.is_some()),
            _ if interrupted => Act::Interrupted,
            (Kind::Connect, Some(channel)) if goes_on => Act::Connect(channel),
            _ if failed.is_some() => touch,
            (Kind::Child, _) => Act::Child(number),
            (Kind::Ready, _) if number.is_some() => Act::Ready,
            (Kind::Exec, _) => Act::Exec,
            (Kind::Kill, _) => batch.flags[row].get().map_or(Act::Other, Act::Kill),
            (Kind::Vfork, _) => number.map_or(Act::Other, Act::Vfork),
            (Kind::Spawn, _) if self.shares_memory(batch, row) => number.map_or(Act::Other, Act::Vfork),
            (Kind::Spawn, _) => number.map_or(Act::Other, Act::Spawn),
            (Kind::Lock, _) => match (path, self.lock(batch, row)) {
                (Some(path), Some(LockFlags { request: LockRequest::Wait, .. })) => Act::Lock(path),
                _ => touch,
            },
            (Kind::Read, Some(channel)) => Act::Read { channel, ended: batch.size[row].get() == Some(0) },
            (Kind::Write, Some(channel)) => Act::Write(channel),
            (Kind::Accept, Some(channel)) => Act::Accept(channel),
            (Kind::Connect, Some(channel)) => Act::Connect(channel),
            (Kind::Open, Some(channel)) => Act::Open(channel),
            (Kind::Close, Some(channel)) => Act::Close(channel),
            _ => touch,
        }
    }
}

impl WaitVocabulary {
    /// Whether an act is on a pipe, whose two ends are one channel.
    fn is_pipe(&self, act: Act) -> bool {
        let (Act::Read { channel, .. } | Act::Write(channel) | Act::Close(channel)) = act else {
            return false;
        };
        !is_nameless(channel) && self.channels.far_end(channel) == Some(channel)
    }

    /// The counter of events that a row is on.
    fn counter(&self, batch: &EventBatch, row: usize) -> Option<PathId> {
        let path = batch.path[row].get().filter(|path| self.counters.get(path.index()) == Some(&true));
        path.and_then(|_| nameless_channel(batch.case[row], batch.open[row].get()?))
    }

    /// Whether who makes a process waits until it executes another program.
    fn shares_memory(&self, batch: &EventBatch, row: usize) -> bool {
        batch.flags[row].get().and_then(|id| self.vforks.get(id.index())) == Some(&true)
    }

    /// What the flags of a row ask of a lock.
    fn lock(&self, batch: &EventBatch, row: usize) -> Option<LockFlags> {
        batch.flags[row].get().and_then(|id| *self.locks.get(id.index())?)
    }

    /// What a row that did not fail tells of the locks of a file.
    fn lock_call(&self, batch: &EventBatch, row: usize, of: &Row, locks: &mut LockCalls) {
        let Some(path) = batch.path[row].get().filter(|_| batch.errno[row].is_null()) else { return };
        let description = batch.open[row].get().map(|open| (batch.case[row], open));
        locks.users.extend(description.map(|description| (description, of.process)));
        let step = match (self.kinds.of(batch.call[row]), self.lock(batch, row)) {
            (Kind::Close, _) => LockStep::Closes,
            (Kind::Lock, Some(LockFlags { request: LockRequest::Release, .. })) => LockStep::Unlocks,
            (Kind::Lock, Some(LockFlags { of_process: true, .. })) => LockStep::TakesForProcess,
            (Kind::Lock, Some(_)) => LockStep::TakesForDescription,
            _ => return,
        };
        let shared = self.lock(batch, row).is_some_and(|lock| lock.shared);
        let Row { process, tid, start, .. } = *of;
        locks.calls.push(LockCall { process, tid, start, path, description, step, shared });
    }

    /// What a row tells of a name that is not there, or that it makes.
    fn look(&self, batch: &EventBatch, row: usize, of: &Row, absent: &mut Absent) {
        let text = || batch.flags[row].get().and_then(|id| self.opens.get(id.index())).copied();
        let (path, path2) = (batch.path[row].get(), batch.path2[row].get());
        let failed = batch.errno[row].get();
        let path = match (self.names.of(batch.call[row]), failed) {
            (Naming::None, _) => return,
            (_, Some(errno)) => {
                if let Some(path) = path.filter(|_| self.missing.get(errno.index()) == Some(&true)) {
                    absent.look((of.process, of.tid, path), Looks::one(of.start, of.end));
                }
                return;
            }
            (Naming::Opens, None) => path.filter(|_| text() == Some(true)),
            (Naming::Makes, None) => path,
            (Naming::Gives, None) => path2,
            (Naming::Uses, None) => None,
        };
        let Row { start, end, process, tid, .. } = *of;
        absent.made.extend(path.map(|path| Made { path, start, end, process, tid }));
    }

    /// The call of MPI that a row is: one that begins or ends it, or a collective one on all ranks.
    fn mpi_call(&self, batch: &EventBatch, row: usize, process: ProcessId) -> Option<RankCall> {
        let role = self.collectives.of(batch.call[row]);
        let is_rank = self.ranks.of_case(batch.case[row]).is_some();
        let (comm, file) = (batch.comm[row].get(), batch.path[row].get());
        let (matters, of_some) = match (role, comm, file) {
            (mpi::Role::Begins | mpi::Role::Ends, ..) => (true, false),
            (mpi::Role::Other, ..) | (_, None, None) => (false, false),
            (_, Some(WORLD), _) | (_, None, Some(_)) => (is_rank, false),
            (_, Some(_), _) => (is_rank && file.is_some(), true),
        };
        let start = batch.start[row].0;
        (matters && batch.errno[row].is_null()).then(|| RankCall {
            case: batch.case[row],
            process,
            tid: batch.tid[row],
            start,
            end: batch.dur[row].get().map(|Nanos(dur)| start.saturating_add(dur.max(0))),
            call: batch.call[row],
            role,
            root: batch.peer[row].get(),
            moves_data: batch.layer[row] == Layer::Mpiio,
            file: file.filter(|_| comm != Some(WORLD)),
            of_some,
        })
    }

    /// What an operation on a word in memory did.
    fn futex(&self, batch: &EventBatch, row: usize, failed: bool) -> Act {
        let flags = batch.flags[row].get().and_then(|id| self.futexes.get(id.index()));
        match (batch.offset[row].get(), flags) {
            (Some(word), Some((true, _))) => Act::FutexWake(word),
            (Some(word), Some((false, private))) if !failed => Act::FutexWait(word, *private),
            _ => Act::Other,
        }
    }

    /// Of a call that waited for something that has no name here, how.
    fn nameless(&self, batch: &EventBatch, row: usize) -> Act {
        match self.classes.of(batch, row) {
            Some(Class::Wait) => Act::Blocked,
            Some(Class::Sleep) => Act::Slept,
            _ => Act::Other,
        }
    }
}

/// The pass that finds the waits of all threads of a log.
#[derive(Debug)]
pub struct Waiting<'a> {
    processes: &'a ProcessTable,
    vocabulary: WaitVocabulary,
    /// Whether who recorded the log says that it recorded calls that wait for children.
    waits_recorded: bool,
    /// Whether a recorder measured how long calls took.
    is_recorded: bool,
    /// When the recorder left processes that went on.
    left_at: Option<i64>,
    layer: Layer,
}

impl<'a> Waiting<'a> {
    pub(crate) fn new(log: &EventLog, processes: &'a ProcessTable) -> Self {
        Self::of_layer(log, processes, Layer::Syscall)
    }

    /// The same of the calls of another layer.
    pub(crate) fn of_layer(log: &EventLog, processes: &'a ProcessTable, layer: Layer) -> Self {
        let recording = log.coverage().recording;
        let is_recorded = recording.is_some();
        let left_at = recording.as_ref().and_then(|recording| Some(recording.left_at?.0));
        let waits_recorded = recording.is_some_and(|recording| {
            !recording.selections.is_empty() && !recording.without().contains(&Family::Wait.name())
        });
        Self { processes, vocabulary: WaitVocabulary::new(log), waits_recorded, is_recorded, left_at, layer }
    }
}

/// What calls say of waits.
#[derive(Clone, Debug, Default)]
pub struct WaitCalls {
    rows: Vec<Row>,
    /// The sockets that were made in pairs.
    pairs: Vec<(PathId, PathId)>,
    mpi: Vec<RankCall>,
    absent: Absent,
    locks: LockCalls,
    pipes: PipeEnds,
    /// Whether any call has a duration.
    timed: bool,
}

/// Which open file descriptions are the ends of pipes from which is read: to close them ends no data.
#[derive(Clone, Debug, Default)]
struct PipeEnds {
    read: HashSet<Description>,
    written: HashSet<Description>,
    /// Closes of descriptors of pipes.
    closes: Vec<(Row, Description)>,
}

impl PipeEnds {
    fn add(&mut self, other: Self) {
        self.read.extend(other.read);
        self.written.extend(other.written);
        self.closes.extend(other.closes);
    }

    /// The closes as rows.
    fn rows(self) -> impl Iterator<Item = Row> {
        let Self { read, written, closes } = self;
        closes.into_iter().map(move |(row, description)| match row.act {
            Act::Close(channel) if read.contains(&description) && !written.contains(&description) => {
                Row { act: Act::Touch(channel), ..row }
            }
            _ => row,
        })
    }
}

impl Waiting<'_> {
    /// Whether neither a process nor the one that all of its family descend from was seen to end.
    fn goes_on(&self, process: &ProcessEntry) -> bool {
        let parent = |process: &&ProcessEntry| process.parent.map(|parent| self.processes.get(parent));
        let mut family = std::iter::successors(Some(process), parent).take(self.processes.all().len());
        process.end.is_none()
            && family.find(|of| of.parent.is_none()).is_some_and(|first| first.end.is_none())
    }
}

impl Pass for Waiting<'_> {
    type Sums = ();
    type Boundary = WaitCalls;
    type Closed = WaitCalls;
    type Output = Waits;

    fn columns(&self) -> Columns {
        Columns::of(CALL_COLUMNS) | Columns::OFFSET | Columns::COMM | Columns::PEER
    }

    fn asks(&self) -> Asks {
        Asks::COLUMNS
    }

    fn sums(&self) {}

    fn closed(&self) -> WaitCalls {
        WaitCalls::default()
    }

    fn add(&self, (): &mut (), rows: &Rows<'_>) -> WaitCalls {
        found(rows.batch, self.processes, &self.vocabulary, self.layer)
    }

    fn merge(&self, (): &mut (), (): ()) {}

    fn close(&self, found: &mut WaitCalls, more: WaitCalls) {
        found.rows.extend(more.rows);
        found.pairs.extend(more.pairs);
        found.mpi.extend(more.mpi);
        found.absent.add(more.absent);
        found.locks.add(more.locks);
        found.pipes.add(more.pipes);
        found.timed |= more.timed;
    }

    fn finish(&self, (): (), found: WaitCalls) -> Waits {
        let WaitCalls { mut rows, pairs, mpi, absent, locks, pipes, timed } = found;
        rows.extend(pipes.rows());
        let mut channels = self.vocabulary.channels.clone();
        pairs.into_iter().for_each(|(one, other)| channels.join(one, other));
        let signal = |process: usize| self.processes.last_image(ProcessId(process as u32)).signal.as_deref();
        let facts = self.processes.all().iter().enumerate().map(|(index, process)| ProcessFacts {
            parent: process.parent,
            pid: process.pid.0,
            start: process.start.map(|start| start.0),
            end: process.end.map(|end| end.0),
            left: self.left_at.filter(|_| self.goes_on(process)),
            killed_by: signal(index).and_then(|name| self.vocabulary.signals.get(name)).copied(),
        });
        let waits =
            Waits::new(rows, facts.collect(), channels, timed || self.is_recorded, self.waits_recorded);
        waits.with_mpi(mpi, &self.vocabulary.ranks).with_absent(absent).with_locks(locks)
    }
}

/// The rows of a batch, and the pairs of sockets that were made; of calls that matter to nobody only the first and the last of
/// each thread.
fn found(
    batch: &EventBatch,
    processes: &ProcessTable,
    vocabulary: &WaitVocabulary,
    layer: Layer,
) -> WaitCalls {
    let (mut rows, mut pairs, mut mpi) = (Vec::new(), Vec::new(), Vec::new());
    let (mut absent, mut locks, mut timed) = (Absent::default(), LockCalls::default(), false);
    let mut pipes = PipeEnds::default();
    let mut others: HashMap<(ProcessId, Tid), [Row; 2], RandomState> = HashMap::default();
    for index in 0..batch.len {
        let start = batch.start[index];
        let is_mpi = matches!(batch.layer[index], Layer::Mpi | Layer::Mpiio);
        if batch.layer[index] != layer && !is_mpi {
            continue;
        }
        let Some(process) = processes.find(batch.case[index], batch.pid[index], start) else { continue };
        if is_mpi {
            mpi.extend(vocabulary.mpi_call(batch, index, process));
        }
        if batch.layer[index] != layer {
            continue;
        }
        timed |= !batch.dur[index].is_null();
        let is_unseen = |row: usize| batch.dur[row].is_null() && batch.ret[row].is_null();
        let dur = batch.dur[index].get().map_or(0, |Nanos(dur)| dur.max(0));
        let act = match vocabulary.act(batch, index) {
            Act::Other if dur > 0 => vocabulary.nameless(batch, index),
            // It never returned.
            Act::Other if is_unseen(index) => vocabulary.nameless(batch, index),
            act if act.may_wait() && is_unseen(index) && processes.last_image(process).signal.is_some() => {
                vocabulary.nameless(batch, index)
            }
            act => act,
        };
        let row =
            Row { process, tid: batch.tid[index], start: start.0, end: start.0.saturating_add(dur), act };
        vocabulary.look(batch, index, &row, &mut absent);
        if vocabulary.has_locks {
            vocabulary.lock_call(batch, index, &row, &mut locks);
        }
        if let Some((one, other)) = vocabulary.pair(batch, index) {
            pairs.push((one, other));
            rows.push(Row { act: Act::Touch(other), ..row });
        }
        let description = batch.open[index].get().map(|open| (batch.case[index], open));
        match (act, description.filter(|_| vocabulary.is_pipe(act))) {
            (Act::Read { .. }, Some(description)) => drop(pipes.read.insert(description)),
            (Act::Write(_), Some(description)) => drop(pipes.written.insert(description)),
            (Act::Close(_), Some(description)) => {
                pipes.closes.push((row, description));
                continue;
            }
            _ => {}
        }
        match act {
            Act::Other => {
                let ends = others.entry((process, row.tid)).or_insert([row; 2]);
                if row.end > ends[1].end {
                    ends[1] = row;
                }
            }
            _ => rows.push(row),
        }
    }
    rows.extend(others.into_values().flatten());
    WaitCalls { rows, pairs, mpi, absent, locks, pipes, timed }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_model::calls::TABLE;

    #[test]
    fn what_every_call_may_make_of_its_thread() {
        let rows = TABLE.iter().map(|spec| (spec.name, kind(spec))).filter(|(_, kind)| *kind != Kind::Other);
        let rows: Vec<String> = rows.map(|(name, kind)| format!("{name}: {kind:?}")).collect();
        insta::assert_snapshot!(rows.join("\n"));
    }
}
