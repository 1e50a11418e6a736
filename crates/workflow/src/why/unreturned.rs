//! Calls that never returned: where the threads were whose process was killed, or was not seen to end.
//!
//! A thread is in the last call it made, if that has no end or a signal interrupted it right before the process was gone, and in the
//! calls of higher layers that this one was made in. Of these the outermost is told: the `MPI_Recv` that polls, not the `poll`. Calls that were left another way (a jump out
//! of an error handler) are none of these, because the thread made others afterwards, outside of them.

use super::pieces::Naming;
use super::result::{NeverReturned, Owner};
use crate::waits::SIGNAL_TAKES;
use crate::waits::gather::{CALL_COLUMNS, interrupted};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::calls::{CallKind, CallSpec, EventClasses};
use iotrail_model::{CallId, EventBatch, Layer, Names, Nullable, PathId, Process, Tid, Timestamp};
use iotrail_query::{Asks, Pass, ProcessId, ProcessTable, Rows};
use iotrail_trail::Columns;
use std::collections::{BTreeMap, BTreeSet};

/// A call of a thread: when it began and in which call of a higher layer.
#[derive(Clone, Copy, Debug)]
struct Begun {
    order: (Timestamp, u64),
    parent: Nullable<u64>,
    layer: Layer,
    call: CallId,
    path: Nullable<PathId>,
    comm: Nullable<i32>,
    peer: Nullable<i32>,
    tag: Nullable<i32>,
    /// When a signal interrupted it.
    interrupted: Option<Timestamp>,
}

/// What a thread called last.
#[derive(Clone, Debug)]
pub(super) struct Latest {
    call: Begun,
    /// Whether it ends the thread or the process, or returned.
    is_over: bool,
    /// Of each layer the last call that did not return.
    open: Vec<Begun>,
}

impl Latest {
    fn merge(&mut self, other: Self) {
        if self.call.order < other.call.order {
            (self.call, self.is_over) = (other.call, other.is_over);
        }
        for call in other.open {
            match self.open.iter_mut().find(|open| open.layer == call.layer) {
                Some(open) if open.order < call.order => *open = call,
                Some(_) => {}
                None => self.open.push(call),
            }
        }
    }

    /// The outermost call that the thread was in when its process ended.
    fn outermost(&self, end: Option<i64>) -> Option<Begun> {
        let within = |call: &Begun| {
            let parent = call.parent.get()?;
            self.open.iter().find(|open| open.order.1 == parent && open.layer > call.layer).copied()
        };
        let went_on =
            |interrupted: Timestamp| end.is_none_or(|end| end.saturating_sub(interrupted.0) > SIGNAL_TAKES);
        let is_over = self.is_over || self.call.interrupted.is_some_and(went_on);
        let innermost = if is_over { within(&self.call) } else { Some(self.call) };
        std::iter::successors(innermost, within).last()
    }
}

/// By thread, what it called last.
pub(super) type Threads = HashMap<(ProcessId, Tid), Latest, RandomState>;

/// The pass over all calls.
#[derive(Debug)]
pub(super) struct Unreturned<'a> {
    processes: &'a ProcessTable,
    classes: &'a EventClasses,
    /// By process, whether it may have been in a call at its end.
    stopped: Vec<bool>,
    /// By error, whether it says that a signal interrupted the call.
    interrupted: Vec<bool>,
}

impl<'a> Unreturned<'a> {
    /// Nothing if all processes ended by themselves.
    pub(super) fn new(processes: &'a ProcessTable, classes: &'a EventClasses, names: &Names) -> Option<Self> {
        let all = (0..processes.all().len() as u32).map(ProcessId);
        let stopped: Vec<bool> = all.map(|process| was_stopped(processes.images(process))).collect();
        stopped.contains(&true).then(|| Self { processes, classes, stopped, interrupted: interrupted(names) })
    }
}

impl Unreturned<'_> {
    /// When a signal interrupted a call, which may be the one that ended the process: what the call returned is not known then, or it
    /// is that a handler was called, which may have raised the signal again.
    fn interrupted(&self, batch: &EventBatch, row: usize) -> Option<Timestamp> {
        let is_interrupted = match batch.errno[row].get() {
            Some(errno) => self.interrupted.get(errno.index()) == Some(&true),
            None => batch.ret[row].is_null() && batch.layer[row] == Layer::Syscall,
        };
        is_interrupted.then_some(batch.start[row] + batch.dur[row].get()?)
    }
}

impl Pass for Unreturned<'_> {
    type Sums = Threads;
    type Boundary = ();
    type Closed = ();
    type Output = Threads;

    fn columns(&self) -> Columns {
        let of_messages = [Columns::SEQ, Columns::PARENT, Columns::COMM, Columns::PEER, Columns::TAG];
        Columns::of(CALL_COLUMNS) | Columns::of(of_messages)
    }

    fn asks(&self) -> Asks {
        Asks::COLUMNS
    }

    fn sums(&self) -> Threads {
        Threads::default()
    }

    fn closed(&self) {}

    fn add(&self, threads: &mut Threads, rows: &Rows<'_>) {
        let batch = rows.batch;
        for row in 0..batch.len {
            let found = self.processes.find(batch.case[row], batch.pid[row], batch.start[row]);
            let Some(process) = found.filter(|process| self.stopped[process.index()]) else { continue };
            let spec = self.classes.spec(batch, row);
            if spec.is_some_and(CallSpec::is_request) {
                continue;
            }
            let ends =
                spec.is_some_and(|spec| matches!(spec.kind, CallKind::ExitThread | CallKind::ExitProcess));
            let call = Begun { interrupted: self.interrupted(batch, row), ..begun(batch, row) };
            let is_over = ends || call.interrupted.is_none() && !batch.dur[row].is_null();
            let open = if is_over { Vec::new() } else { vec![call] };
            let latest = Latest { call, is_over, open };
            match threads.get_mut(&(process, batch.tid[row])) {
                Some(thread) => thread.merge(latest),
                None => drop(threads.insert((process, batch.tid[row]), latest)),
            }
        }
    }

    fn merge(&self, threads: &mut Threads, other: Threads) {
        for (thread, latest) in other {
            match threads.get_mut(&thread) {
                Some(known) => known.merge(latest),
                None => drop(threads.insert(thread, latest)),
            }
        }
    }

    fn close(&self, (): &mut (), (): ()) {}

    fn finish(&self, threads: Threads, (): ()) -> Threads {
        threads
    }
}

fn begun(batch: &EventBatch, row: usize) -> Begun {
    Begun {
        order: (batch.start[row], batch.seq[row]),
        parent: batch.parent[row],
        layer: batch.layer[row],
        call: batch.call[row],
        path: batch.path[row],
        comm: batch.comm[row],
        peer: batch.peer[row],
        tag: batch.tag[row],
        interrupted: None,
    }
}

/// Whether a process may have been in a call at its end: it did not exit by itself.
fn was_stopped(images: &[Process]) -> bool {
    images.last().is_some_and(|last| last.exit_code.is_none() && !last.is_replaced())
}

/// The rows of all threads: those of the highest layer first, and of these the longest. `end` is the end of the run of a process, if it has one.
pub(super) fn never_returned(
    threads: &Threads,
    processes: &ProcessTable,
    naming: &Naming<'_>,
    end: &dyn Fn(ProcessId) -> Option<i64>,
) -> Vec<NeverReturned> {
    let mut rows: BTreeMap<Key, Heap> = BTreeMap::new();
    for ((process, tid), latest) in threads {
        let entry = processes.get(*process);
        let ended = entry.end.map(|end| end.0).or_else(|| end(*process));
        let Some(call) = latest.outermost(ended) else { continue };
        let start = call.order.0;
        let last = processes.last_image(*process);
        if last.start.is_some_and(|executed| executed > start) {
            continue;
        }
        let image = naming.images.at(*process, start.0);
        let key = Key {
            program: naming.program(image),
            layer: call.layer,
            call: naming.names.call(call.call).to_owned(),
            path: call.path.get().map(|path| naming.awaited(path)),
            comm: call.comm.get(),
            peer: call.peer.get(),
            tag: call.tag.get(),
        };
        let host = naming.case(image).and_then(|case| case.name.host.clone());
        let owner = Owner { pid: entry.pid.0, tid: tid.0, host };
        // Where no library of ranks is called, what stands for the rank is the number of a process.
        let rank = naming.rank(image).filter(|_| call.layer != Layer::Syscall);
        let heap = rows.entry(key).or_default();
        heap.ranks.extend(rank.map(str::to_owned));
        heap.processes.insert(*process);
        heap.threads.push((ended.map(|end| end.saturating_sub(start.0).max(0)), owner));
    }
    let mut rows: Vec<NeverReturned> = rows.into_iter().map(|(key, heap)| heap.row(key)).collect();
    rows.sort_by_key(|row| std::cmp::Reverse((row.layer, row.time_ns)));
    rows
}

/// What threads have in common that are in one row.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    program: String,
    layer: Layer,
    call: String,
    path: Option<String>,
    comm: Option<i32>,
    peer: Option<i32>,
    tag: Option<i32>,
}

#[derive(Default)]
struct Heap {
    ranks: BTreeSet<String>,
    processes: BTreeSet<ProcessId>,
    threads: Vec<(Option<i64>, Owner)>,
}

impl Heap {
    fn row(self, key: Key) -> NeverReturned {
        let Key { program, layer, call, path, comm, peer, tag } = key;
        let mut ranks: Vec<String> = self.ranks.into_iter().collect();
        ranks.sort_by_key(|rank| (rank.parse::<u64>().unwrap_or(u64::MAX), rank.clone()));
        let (processes, number) = (self.processes.len() as u64, self.threads.len() as u64);
        let by_time =
            |(time, owner): &(Option<i64>, Owner)| (*time, std::cmp::Reverse((owner.pid, owner.tid)));
        let (time_ns, owner) = self.threads.into_iter().max_by_key(by_time).unwrap_or_default();
        NeverReturned {
            time_ns,
            program,
            layer,
            call,
            path,
            comm,
            peer,
            tag,
            ranks,
            processes,
            threads: number,
            owner,
        }
    }
}
