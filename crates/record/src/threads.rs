//! The threads that are traced, and where each of them is.

use crate::selection::Cores;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use iotrail_decode::Special;
use iotrail_model::{Nanos, Pid, Tid, Timestamp};
use iotrail_ptrace::{CallInfo, Ending, Phase, Stopped};

/// Calls of one thread that wait for the end of a signal's handling; a handler can be interrupted in a call, too.
const MAX_INTERRUPTED: usize = 16;

/// A call that was entered.
#[derive(Debug)]
pub(crate) struct InFlight {
    pub(crate) entry: iotrail_decode::Entry,
    pub(crate) start: Timestamp,
    /// Where the thread stood: an interrupted call is restarted from the same place.
    pub(crate) instruction: u64,
    pub(crate) stack: u64,
    /// Whether the resolver knows of it.
    pub(crate) announced: bool,
    /// The thread or process that it made, as the tracer sees it.
    pub(crate) child: Option<Tid>,
}

impl InFlight {
    /// Whether the thread is about to make this very call.
    pub(crate) fn is_same(&self, info: &CallInfo) -> bool {
        let registers = self.entry.registers();
        let here = (self.instruction, self.stack) == (info.instruction, info.stack);
        here && info.phase == (Phase::Entry { number: registers.number, args: registers.args })
    }

    /// Whether it makes a thread or process.
    pub(crate) fn spawns(&self) -> bool {
        self.entry.effects().special == Special::Spawn
    }

    /// Whether it ends the thread.
    pub(crate) fn never_returns(&self) -> bool {
        self.entry.effects().special == Special::Exit
    }
}

/// A call that a signal interrupted and that the kernel will restart, unless a handler says otherwise.
#[derive(Debug)]
pub(crate) struct Interrupted {
    pub(crate) call: InFlight,
    /// How long it took up to the signal.
    pub(crate) dur: Nanos,
    /// Whether it goes on with `restart_syscall`.
    pub(crate) goes_on: bool,
    /// Whether the thread has made no other call since.
    pub(crate) is_last: bool,
}

/// A traced thread.
#[derive(Debug)]
pub(crate) struct Thread {
    /// Its process; `None` as long as nobody said who made it.
    pub(crate) process: Option<Pid>,
    pub(crate) call: Option<InFlight>,
    pub(crate) interrupted: Vec<Interrupted>,
    /// It returns from a signal handler.
    pub(crate) returning: bool,
    /// It is in a call about cores.
    pub(crate) cores: Option<Cores>,
    /// It is held, because it is not known who made it, or because others of its process are waited for.
    pub(crate) held: Option<Stopped>,
    /// It ended before it was known who made it.
    pub(crate) dead: Option<(Ending, Timestamp)>,
    /// It is in a group stop.
    pub(crate) listening: bool,
    /// It was seen to be about to end.
    pub(crate) exiting: bool,
    /// It runs the program; before that it is a copy of the recorder.
    pub(crate) started: bool,
    /// What it calls is not the program's: it makes the file through which it will tell of its MPI calls.
    pub(crate) quiet: bool,
}

impl Thread {
    pub(crate) fn new(process: Option<Pid>) -> Self {
        Self {
            process,
            call: None,
            interrupted: Vec::new(),
            returning: false,
            cores: None,
            held: None,
            dead: None,
            listening: false,
            exiting: false,
            started: true,
            quiet: false,
        }
    }

    /// Keeps an interrupted call; returns the oldest one if there are too many (handlers that never returned).
    pub(crate) fn interrupt(&mut self, interrupted: Interrupted) -> Option<Interrupted> {
        self.interrupted.push(interrupted);
        (self.interrupted.len() > MAX_INTERRUPTED).then(|| self.interrupted.remove(0))
    }
}

/// All traced threads, and how many of each process are alive.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    threads: HashMap<Tid, Thread, foldhash::fast::FixedState>,
    processes: HashMap<Pid, u32, foldhash::fast::FixedState>,
    /// Threads of which nobody said who made them.
    unknown: usize,
}

impl Threads {
    pub(crate) fn len(&self) -> usize {
        self.threads.len()
    }

    /// Whether threads of a process are traced.
    pub(crate) fn has_process(&self, pid: Pid) -> bool {
        self.processes.contains_key(&pid)
    }

    pub(crate) fn processes(&self) -> usize {
        self.processes.len()
    }

    /// All processes of which a thread is alive, ascending.
    pub(crate) fn all_processes(&self) -> Vec<Pid> {
        let mut processes: Vec<Pid> = self.processes.keys().copied().collect();
        processes.sort_unstable();
        processes
    }

    #[inline]
    pub(crate) fn get(&self, tid: Tid) -> Option<&Thread> {
        self.threads.get(&tid)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, tid: Tid) -> Option<&mut Thread> {
        self.threads.get_mut(&tid)
    }

    /// The thread, a new one if it was not heard of.
    pub(crate) fn entry(&mut self, tid: Tid) -> &mut Thread {
        let unknown = &mut self.unknown;
        self.threads.entry(tid).or_insert_with(|| {
            *unknown += 1;
            Thread::new(None)
        })
    }

    /// A thread belongs to a process from now on. Of an older thread with its id nothing is left.
    pub(crate) fn belongs(&mut self, tid: Tid, process: Pid) -> &mut Thread {
        let thread = match self.threads.entry(tid) {
            Entry::Occupied(entry) => {
                let thread = entry.into_mut();
                self.unknown -= usize::from(thread.process.is_none());
                thread
            }
            Entry::Vacant(entry) => entry.insert(Thread::new(None)),
        };
        if thread.process.is_none() && !thread.exiting {
            *self.processes.entry(process).or_default() += 1;
        }
        thread.process = Some(process);
        thread
    }

    /// A thread will make no more calls. Returns its process if that was its last thread.
    pub(crate) fn retires(&mut self, tid: Tid) -> Option<Pid> {
        let thread = self.threads.get_mut(&tid)?;
        if std::mem::replace(&mut thread.exiting, true) {
            return None;
        }
        let process = thread.process?;
        let alive = self.processes.get_mut(&process)?;
        *alive -= 1;
        if *alive > 0 {
            return None;
        }
        self.processes.remove(&process);
        Some(process)
    }

    pub(crate) fn remove(&mut self, tid: Tid) -> Option<Thread> {
        let thread = self.threads.remove(&tid)?;
        self.unknown -= usize::from(thread.process.is_none());
        Some(thread)
    }

    /// A thread goes on under another id.
    pub(crate) fn rename(&mut self, from: Tid, to: Tid) {
        if let Some(thread) = self.threads.remove(&from) {
            self.threads.insert(to, thread);
        }
    }

    /// All ids, ascending.
    pub(crate) fn ids(&self) -> Vec<Tid> {
        let mut ids: Vec<Tid> = self.threads.keys().copied().collect();
        ids.sort_unstable();
        ids
    }

    /// Whether there are threads of which nobody said who made them.
    #[inline]
    pub(crate) fn has_orphans(&self) -> bool {
        self.unknown > 0
    }

    /// Whether a thread is in a call that makes another one, of which nothing is known yet.
    pub(crate) fn is_any_spawning(&self) -> bool {
        let makes = |call: &InFlight| call.spawns() && call.child.is_none();
        self.threads.values().any(|thread| thread.call.as_ref().is_some_and(makes))
    }

    /// Threads of which nobody said who made them, ascending.
    pub(crate) fn orphans(&self) -> Vec<Tid> {
        let orphans = self.threads.iter().filter(|(_, thread)| thread.process.is_none());
        let mut ids: Vec<Tid> = orphans.map(|(tid, _)| *tid).collect();
        ids.sort_unstable();
        ids
    }

    /// Whether every thread that could run is in a group stop.
    pub(crate) fn all_listening(&self) -> bool {
        let mut living = self.threads.values().filter(|thread| !thread.exiting).peekable();
        living.peek().is_some() && living.all(|thread| thread.listening)
    }

    /// Whether all of these threads are held.
    pub(crate) fn all_held(&self, tids: &[Tid]) -> bool {
        tids.iter().all(|tid| self.get(*tid).is_none_or(|thread| thread.held.is_some()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_thread_of_a_process_is_noticed_once() {
        let mut threads = Threads::default();
        threads.belongs(Tid(10), Pid(10));
        threads.belongs(Tid(11), Pid(10));
        threads.belongs(Tid(11), Pid(10));
        assert_eq!(threads.retires(Tid(10)), None, "the leader goes first");
        assert_eq!(threads.retires(Tid(10)), None);
        assert_eq!(threads.retires(Tid(11)), Some(Pid(10)));
        assert_eq!(threads.retires(Tid(11)), None);
        assert_eq!((threads.len(), threads.processes()), (2, 0));
    }

    #[test]
    fn threads_of_unknown_making_are_known_until_they_belong() {
        let mut threads = Threads::default();
        threads.entry(Tid(12));
        threads.entry(Tid(11));
        threads.entry(Tid(11));
        threads.belongs(Tid(10), Pid(10));
        assert_eq!(threads.orphans(), [Tid(11), Tid(12)]);
        threads.belongs(Tid(11), Pid(11));
        threads.remove(Tid(12));
        assert_eq!(threads.orphans(), []);
        assert!(!threads.has_orphans() && !threads.is_any_spawning());
    }

    #[test]
    fn stopped_threads_are_counted_without_those_that_are_gone() {
        let mut threads = Threads::default();
        assert!(!threads.all_listening());
        threads.belongs(Tid(10), Pid(10)).listening = true;
        threads.belongs(Tid(11), Pid(10));
        assert!(!threads.all_listening());
        threads.retires(Tid(11));
        assert!(threads.all_listening());
    }
}
