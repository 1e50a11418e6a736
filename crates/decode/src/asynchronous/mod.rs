//! I/O that a program asks for and the kernel does later: io_uring and Linux AIO.
//!
//! Neither makes a call for each operation. What was asked for lies in memory that program and kernel share
//! (io_uring: `man 7 io_uring`, `include/uapi/linux/io_uring.h`; AIO: `man 2 io_submit`, `include/uapi/linux/aio_abi.h`):
//! it is read when the call that hands it over is entered, and what came of it when a call of that family returns,
//! before the memory goes away, and when the program ends. Each operation becomes a raw call of its own (`io_uring_read`,
//! `aio_pwrite`), by the thread that handed it over; it starts with the call that did so and ends when its completion
//! was seen, which is later than it happened if the program did something else meanwhile.
//!
//! Everything in that memory is the program's and may be anything: what is read in one stop is bounded, and so is what
//! is remembered.
//!
//! A tracer hands over every call that [`Asynchronous::concerns`] names, at its entry ([`Asynchronous::entered`]) and
//! at its exit ([`Asynchronous::returned`]); it says when a process was copied ([`Asynchronous::forked`]), gives a last
//! look at the memory of a thread that is about to end ([`Asynchronous::ending`]), and says what ended:
//! [`Asynchronous::thread_ended`] for one thread of a process that goes on, [`Asynchronous::gone`] for a process, before
//! the items that end its threads, and for a program that another one replaced, before the item of that exec.

mod apart;
mod block;
mod calls;
mod context;
mod entry;
mod files;
mod geometry;
mod pending;
mod process;
mod reading;
mod request;
mod ring;
mod tally;

#[cfg(test)]
mod tests;

pub use tally::Tally;

use crate::call_of;
use crate::{Abi, Memory, Registers, Returned};
use hashbrown::HashMap;
use iotrail_model::calls as table;
use iotrail_model::raw::RawCall;
use iotrail_model::{CallId, Pid, Tid, Timestamp};
use process::Process;
use request::Finish;
use ring::{Ring, RingId};
use std::fmt;

/// Takes the raw calls of operations.
pub type Deliver<'a> = &'a mut dyn FnMut(&RawCall<'_>);

/// A stop of a thread, with what can be found out about its process.
#[derive(Clone, Copy)]
pub struct Stop<'a, M> {
    /// Process of the stopped thread.
    pub pid: Pid,
    /// Thread that stopped.
    pub tid: Tid,
    /// Time of the stop.
    pub at: Timestamp,
    /// The memory of the process.
    pub memory: &'a M,
    /// What a descriptor refers to. Asked only when files are registered with a ring.
    pub look: &'a dyn Fn(i32) -> Option<HeldFile>,
    /// The name that the kernel will resolve a path to.
    pub place: &'a dyn Fn(&Asked<'_>) -> Option<Vec<u8>>,
}

/// An open file that a ring may hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldFile {
    /// Name of the file, as the descriptor shows it.
    pub name: Vec<u8>,
    /// Whether writes go to its end (`O_APPEND`), whatever offset they are given.
    pub appends: bool,
}

/// A path of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked<'a> {
    /// The directory descriptor; `None` is the working directory.
    pub directory: Option<i32>,
    /// Path as the request gives it, relative or absolute.
    pub path: &'a [u8],
    /// Whether it stands for a name that is made, moved or removed, and not for a file.
    pub is_name: bool,
    /// Whether its last component is followed if it is a symbolic link.
    pub follows: bool,
}

impl<M> fmt::Debug for Stop<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stop({}/{} at {:?})", self.pid, self.tid, self.at)
    }
}

/// Follows asynchronous I/O of all processes.
#[derive(Debug, Default)]
pub struct Asynchronous {
    processes: HashMap<Pid, Process>,
    rings: HashMap<RingId, Ring>,
    next_ring: u32,
    tally: Tally,
}

/// What a call has to do with asynchronous I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    RingSetup,
    RingEnter,
    RingRegister,
    ContextSetup,
    ContextDestroy,
    ContextSubmit,
    /// `io_getevents` and `io_pgetevents`; the call moves completions out of the ring.
    ContextEvents,
    ContextCancel,
    Map,
    Unmap,
    Close,
    CloseRange,
    Copy,
    Control,
    /// Makes the memory go away.
    Last,
}

impl Role {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "io_uring_setup" => Self::RingSetup,
            "io_uring_enter" => Self::RingEnter,
            "io_uring_register" => Self::RingRegister,
            "io_setup" => Self::ContextSetup,
            "io_destroy" => Self::ContextDestroy,
            "io_submit" => Self::ContextSubmit,
            "io_getevents" | "io_pgetevents" | "io_pgetevents_time64" => Self::ContextEvents,
            "io_cancel" => Self::ContextCancel,
            "mmap" | "mmap2" => Self::Map,
            "munmap" => Self::Unmap,
            "close" => Self::Close,
            "close_range" => Self::CloseRange,
            "dup" | "dup2" | "dup3" => Self::Copy,
            "fcntl" | "fcntl64" => Self::Control,
            "execve" | "execveat" | "exit_group" => Self::Last,
            _ => return None,
        })
    }

    /// Whether it begins something, so that it matters to processes that have nothing yet.
    fn begins(self) -> bool {
        matches!(self, Self::RingSetup | Self::ContextSetup | Self::RingEnter | Self::ContextSubmit)
    }
}

/// Roles of the rows of the call table.
fn role(call: CallId) -> Option<Role> {
    static ROLES: std::sync::LazyLock<Vec<Option<Role>>> =
        std::sync::LazyLock::new(|| table::TABLE.iter().map(|spec| Role::of(spec.name)).collect());
    ROLES.get(call.index()).copied().flatten()
}

/// A call with its registers.
#[derive(Clone, Copy, Debug)]
struct Call {
    role: Role,
    args: [u64; 6],
    /// Width of addresses and of `long` in bytes.
    width: usize,
    /// Whether the offset of a mapping counts pages.
    in_pages: bool,
}

impl Call {
    fn of(registers: &Registers) -> Option<Self> {
        let call = call_of(registers.abi, registers.number)?;
        let width = match registers.abi {
            Abi::X86_64 | Abi::Aarch64 => 8,
            Abi::I386 | Abi::X32 => 4,
            Abi::Unknown(_) => return None,
        };
        let in_pages = table::spec(call).is_some_and(|spec| spec.name == "mmap2");
        Some(Self { role: role(call)?, args: registers.args, width, in_pages })
    }

    /// An argument that is a descriptor or another `int`.
    fn int(&self, place: usize) -> i32 {
        self.args[place] as i32
    }

    /// An argument that is an `unsigned int`.
    fn unsigned(&self, place: usize) -> u32 {
        self.args[place] as u32
    }

    /// An argument that is an address or another `long`.
    fn long(&self, place: usize) -> u64 {
        if self.width == 4 { u64::from(self.args[place] as u32) } else { self.args[place] }
    }
}

impl Asynchronous {
    /// Nothing is under way yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether a call of that process is to be handed to [`Asynchronous::entered`] and [`Asynchronous::returned`].
    #[inline]
    #[must_use]
    pub fn concerns(&self, pid: Pid, call: CallId) -> bool {
        role(call).is_some_and(|role| role.begins() || self.processes.contains_key(&pid))
    }

    /// A thread entered a call.
    pub fn entered<M: Memory>(&mut self, stop: &Stop<'_, M>, registers: &Registers, deliver: Deliver<'_>) {
        let Some(call) = Call::of(registers) else { return };
        match call.role {
            Role::RingEnter => self.ring_entered(stop, &call, deliver),
            Role::ContextSubmit => self.submit_entered(stop, &call, deliver),
            Role::ContextEvents | Role::ContextCancel | Role::ContextDestroy => {
                self.reap_contexts(stop, deliver);
            }
            Role::Last | Role::CloseRange => self.reap_all(stop, deliver),
            Role::Unmap | Role::Close | Role::Copy if self.touches_ring(stop.pid, &call) => {
                self.reap_all(stop, deliver);
            }
            Role::Unmap | Role::Close | Role::Copy => {}
            Role::RingSetup | Role::RingRegister | Role::ContextSetup | Role::Map | Role::Control => {}
        }
    }

    /// The call returned.
    pub fn returned<M: Memory>(
        &mut self,
        stop: &Stop<'_, M>,
        registers: &Registers,
        returned: Returned,
        deliver: Deliver<'_>,
    ) {
        let Some(call) = Call::of(registers) else { return };
        match (call.role, returned) {
            (Role::RingEnter, returned) => self.ring_returned(stop, &call, returned, deliver),
            (Role::ContextSubmit, returned) => self.submit_returned(stop, returned, deliver),
            (Role::ContextEvents, returned) => self.events_returned(stop, &call, returned, deliver),
            (Role::ContextCancel, _) => self.reap_contexts(stop, deliver),
            (_, Returned::Error(_)) => self.forget_entry(stop),
            (Role::RingSetup, Returned::Value(fd)) => self.ring_made(stop, &call, fd),
            (Role::RingRegister, Returned::Value(value)) => self.registered(stop, &call, value),
            (Role::ContextSetup, Returned::Value(_)) => self.context_made(stop, &call),
            (Role::ContextDestroy, Returned::Value(_)) => self.context_destroyed(stop, &call, deliver),
            (Role::Map, Returned::Value(address)) => self.mapped(stop, &call, address as u64),
            (Role::Unmap, Returned::Value(_)) => self.unmapped(stop.pid, &call),
            (Role::Close, Returned::Value(_)) => self.closed(stop.pid, call.int(0), call.int(0), false),
            (Role::CloseRange, Returned::Value(_)) => self.range_closed(stop.pid, &call),
            (Role::Copy, Returned::Value(fd)) => self.copied(stop.pid, call.int(0), fd),
            (Role::Control, Returned::Value(fd)) => {
                const F_DUPFD: i32 = 0;
                const F_DUPFD_CLOEXEC: i32 = 1030;
                if matches!(call.int(1), F_DUPFD | F_DUPFD_CLOEXEC) {
                    self.copied(stop.pid, call.int(0), fd);
                }
            }
            (Role::Last, Returned::Value(_)) => {}
        }
    }

    /// A thread is about to end and its memory can still be read: the last look.
    pub fn ending<M: Memory>(&mut self, stop: &Stop<'_, M>, deliver: Deliver<'_>) {
        self.reap_all(stop, deliver);
    }

    /// `child` was made by `parent` and has copies of its descriptors and memory. Threads need no word.
    pub fn forked(&mut self, parent: Pid, child: Pid) {
        if let Some(process) = self.processes.get(&parent) {
            let copy = process.forked();
            self.processes.insert(child, copy);
        }
    }

    /// A thread ended, and its process goes on: what it asked for is now reported by whoever sees it.
    pub fn thread_ended(&mut self, pid: Pid, tid: Tid) {
        if let Some(process) = self.processes.get_mut(&pid) {
            process.threads_gone.insert(tid);
            process.entering.remove(&tid);
            process.submitting.remove(&tid);
        }
    }

    /// A process runs another program now, or ended: what it asked for and was not seen to complete is delivered without
    /// an end. Comes before the items that say that its threads ended.
    pub fn gone(&mut self, pid: Pid, deliver: Deliver<'_>) {
        let Some(process) = self.processes.remove(&pid) else { return };
        let mut left = Vec::new();
        for ring in self.rings.values_mut() {
            ring.abandoned_by(pid, &mut left);
        }
        for (_, mut context) in process.contexts {
            left.append(&mut context.pending.drain());
        }
        left.sort_by_key(|request| (request.start, request.serial));
        self.tally.unfinished += left.iter().filter(|request| !request.silent).count() as u64;
        for request in left {
            let tid = if process.threads_gone.contains(&request.tid) { Tid(pid.0) } else { request.tid };
            request.deliver(tid, None, Finish::Unseen, deliver);
        }
        self.drop_unused_rings();
    }

    /// The recording is over.
    pub fn finish(&mut self, deliver: Deliver<'_>) {
        let mut left: Vec<Pid> = self.processes.keys().copied().collect();
        left.sort_unstable();
        for pid in left {
            self.gone(pid, deliver);
        }
    }

    /// What was seen, for the coverage statement.
    #[must_use]
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    fn process(&mut self, pid: Pid) -> &mut Process {
        self.processes.entry(pid).or_default()
    }

    /// A call failed that would have changed something.
    fn forget_entry<M>(&mut self, stop: &Stop<'_, M>) {
        if let Some(process) = self.processes.get_mut(&stop.pid) {
            process.entering.remove(&stop.tid);
        }
    }

    /// Reads all completions that the memory of this process shows.
    fn reap_all<M: Memory>(&mut self, stop: &Stop<'_, M>, deliver: Deliver<'_>) {
        self.reap_contexts(stop, deliver);
        let Some(process) = self.processes.get(&stop.pid) else { return };
        for (id, ring_addresses) in &process.ring_addresses {
            if let Some(ring) = self.rings.get_mut(id) {
                ring.reap(stop, ring_addresses, &process.threads_gone, &mut self.tally, deliver);
            }
        }
    }

    fn drop_unused_rings(&mut self) {
        let processes = &self.processes;
        self.rings.retain(|id, _| processes.values().any(|process| process.refers_to(*id)));
    }
}
