//! Locks of files: who may hold them, and which calls may let go of them.
//!
//! A lock of `fcntl` is the process's and goes with any close of the file in it (`man 2 fcntl`). One of `flock`, or of an open
//! file description (`F_OFD_SETLK`), goes with the last descriptor of the description, in whatever process that is (`man 2
//! flock`). Who takes it again, to have it with others, lets go of it, too. Which of several closes and ends was the last is not recorded: it is the last one before the waiter went on.

use super::{Sign, Waits};
use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashSet};
use iotrail_model::{CaseId, OpenId, PathId, Tid};
use iotrail_query::ProcessId;

/// An open file description of a log.
pub(crate) type Description = (CaseId, OpenId);

type Processes = HashSet<ProcessId, RandomState>;

/// What a call does with the locks of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LockStep {
    /// The process has a lock then.
    TakesForProcess,
    /// The open file description has a lock then.
    TakesForDescription,
    Unlocks,
    /// Closes a descriptor.
    Closes,
}

/// A call on a file that may be locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LockCall {
    pub(crate) process: ProcessId,
    pub(crate) tid: Tid,
    pub(crate) start: i64,
    pub(crate) path: PathId,
    /// None where the log does not tell.
    pub(crate) description: Option<Description>,
    pub(crate) step: LockStep,
    /// Whether it takes a lock that others may have, too.
    pub(crate) shared: bool,
}

impl LockCall {
    /// Whose the lock is.
    fn owner(&self) -> Owner {
        match (self.step, self.description) {
            (LockStep::TakesForDescription, Some(description)) => Owner::Description(description),
            _ => Owner::Process(self.process, self.path),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Owner {
    Process(ProcessId, PathId),
    Description(Description),
}

/// What a log tells of locks.
#[derive(Clone, Debug, Default)]
pub(crate) struct LockCalls {
    pub(crate) calls: Vec<LockCall>,
    /// Who had which open file description in its hands.
    pub(crate) users: HashSet<(Description, ProcessId), RandomState>,
}

impl LockCalls {
    pub(crate) fn add(&mut self, other: Self) {
        self.calls.extend(other.calls);
        self.users.extend(other.users);
    }
}

/// The locks of one file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FileLocks {
    /// Unlocks, and closes by who may have held a lock, in the order of time.
    pub(super) released: Vec<Sign>,
    /// Processes that had a lock themselves.
    pub(super) owners: Processes,
    /// Processes that had an open file description with a lock in their hands, which their children inherit.
    pub(super) users: Processes,
}

/// The locks of all files.
pub(super) type Locks = HashMap<PathId, FileLocks, RandomState>;

impl Waits {
    /// The same with the locks of files.
    pub(crate) fn with_locks(mut self, LockCalls { mut calls, users }: LockCalls) -> Self {
        calls.sort_by_key(|call| call.start);
        let mut locked: HashMap<Description, PathId, RandomState> = HashMap::default();
        for call in &calls {
            let taken = match call.step {
                LockStep::TakesForProcess => &mut self.locks.entry(call.path).or_default().owners,
                LockStep::TakesForDescription => {
                    locked.extend(call.description.map(|description| (description, call.path)));
                    &mut self.locks.entry(call.path).or_default().users
                }
                LockStep::Unlocks | LockStep::Closes => continue,
            };
            taken.insert(call.process);
        }
        for (description, process) in users {
            if let Some(locks) = locked.get(&description).and_then(|path| self.locks.get_mut(path)) {
                locks.users.insert(process);
            }
        }
        let lines = self.lines_by_thread();
        let mut taken: HashSet<Owner, RandomState> = HashSet::default();
        for call in &calls {
            let path = call.description.and_then(|description| locked.get(&description)).copied();
            let path = path.unwrap_or(call.path);
            let Some(locks) = self.locks.get(&path) else { continue };
            let lets_go = match call.step {
                LockStep::Unlocks => {
                    taken.remove(&Owner::Process(call.process, call.path));
                    call.description.map(|description| taken.remove(&Owner::Description(description)));
                    true
                }
                LockStep::Closes => {
                    let is_locked = |description| locked.contains_key(&description);
                    locks.owners.contains(&call.process)
                        || call.description.map_or(self.is_held(&locks.users, call.process), is_locked)
                }
                // Who had it alone lets those in who want it shared.
                LockStep::TakesForProcess | LockStep::TakesForDescription => {
                    !taken.insert(call.owner()) && call.shared
                }
            };
            if let (true, Some(line)) = (lets_go, lines.get(&(call.process, call.tid))) {
                self.locks.entry(path).or_default().released.push((call.start, *line));
            }
        }
        self.locks.values_mut().for_each(|locks| locks.released.sort_unstable());
        self
    }
}
