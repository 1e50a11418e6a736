//! The call table: what is known about each call by name.
//!
//! One table serves tracers, the resolver and all analyses: which argument is a descriptor, which a path, what is transferred,
//! what the call does ([`CallKind`]) and what follows from that: its effect on descriptors and names, the class of its time.
//! Nothing else knows calls by their names: who wants to do something with a call asks for its kind.
//! A call that is not in the table is still an event; its id lies behind the table's.
//!
//! Argument lists follow the kernel's signatures (`man 2`) with two simplifications that every tracer can make: a
//! 64-bit number that a 32-bit kernel takes in two registers is one argument, and `clone` has its flags second, after
//! the stack, on every architecture. Names are those of the kernel's system call tables, old and new variants of all
//! architectures, because a trace shows the variant that the program called.

mod class;
mod effects;
mod event_class;
pub mod flags;
mod forces;
mod group;
#[cfg(test)]
mod homes;
mod kind;
mod last;
mod locks;
pub mod mpi;
pub mod numbers;
mod open_flags;
mod per_call;
mod presence;
mod results;
mod table;
#[cfg(test)]
mod view;

use crate::event::Layer;
use crate::ids::CallId;
use crate::interner::Interner;
pub use class::Class;
pub use effects::{DescriptorEffect, NameEffect};
pub use event_class::{AT_ONCE, EventClasses, futex_wakes};
pub use flags::Flag;
pub use forces::Forces;
pub use group::Group;
pub use kind::{CallKind, Object};
pub use last::{Last, LastRule};
pub use locks::LockRequest;
pub use open_flags::OpenFlags;
pub use per_call::{Call, PerCall};
pub use presence::Presence;
pub use results::Returns;
use std::collections::HashMap;
use std::sync::LazyLock;
pub use table::TABLE;

/// What an argument of a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArgKind {
    /// The descriptor that the call acts on; the source of a copy.
    Fd,
    /// The directory descriptor (or `AT_FDCWD`) that the next path argument is relative to.
    DirFd,
    /// A path, as the program gives it.
    Path,
    /// A path that the call stores for the caller (getcwd); tracers deliver it as a path.
    PathOut,
    /// What a symbolic link shall point to: a path relative to the directory of the link.
    LinkTarget,
    /// A name that is no path (memfd_create); tracers deliver it like a path.
    Name,
    /// A second descriptor: target of dup2, destination of a copy.
    Fd2,
    /// Where the call stores two descriptors (pipe, socketpair).
    FdPair,
    /// Memory that the call reads from or writes to.
    Buffer,
    /// An array of buffers; its lengths add up to the bytes asked for.
    Vector,
    /// A message header (`struct msghdr`); the lengths of its vector add up to the bytes asked for.
    Message,
    /// An array of message headers with the bytes that each moved; tracers deliver their sum when the call has returned.
    Messages,
    /// Number of bytes asked for.
    Count,
    /// File offset or file length in bytes; of a pointer to an offset, the value it held when the call was entered.
    Offset,
    /// Like `Offset`, for the destination of a copy.
    Offset2,
    /// The new position that `_llseek` stores.
    Position,
    /// Symbols worth keeping in the column `flags`.
    Flags,
    /// Symbols or numbers that matter to the resolver only.
    Command,
    /// A process, thread or pidfd.
    Process,
    /// The status of an exit.
    Status,
    /// An argument or environment vector.
    Strings,
    /// A structure that the resolver looks into, as text: `{flags=CLONE_VM|CLONE_VFORK, ...}`.
    Struct,
    /// An address in the memory of the caller, as a number.
    Address,
    /// Number of bytes of that memory.
    Extent,
    /// The address of the word that threads wait at and wake each other by; kept in the column `offset`.
    Word,
    /// A socket address, as text in the form of strace: `{sa_family=AF_UNIX, sun_path="/run/x"}`,
    /// `{sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}`.
    SocketName,
    /// An argument that no analysis reads.
    Other,
}

/// Row of the call table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallSpec {
    /// Canonical name, the kernel's.
    pub name: &'static str,
    /// At which interface it is made.
    pub layer: Layer,
    /// What kind of work it is.
    pub family: Family,
    /// What it does.
    pub kind: CallKind,
    /// The kinds of the arguments, in order.
    pub args: &'static [ArgKind],
    /// Which way data flows.
    pub transfer: Transfer,
    /// What a successful return value names.
    pub makes: Makes,
    /// Of a request that a program leaves to the kernel in memory: what it is an entry of.
    pub request: Option<Request>,
}

/// What a request is an entry of. It is no call of a thread, so that it may come back, or be given up, after its thread has
/// ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Request {
    /// The queue of an io_uring.
    Ring {
        /// The call whose work it does, if there is one.
        work: Option<&'static str>,
        /// Whether it is about a file among those that the ring holds, which no descriptor of the process names.
        direct: bool,
    },
    /// The control blocks of io_submit.
    ControlBlock {
        /// The call whose work it does.
        work: &'static str,
    },
}

impl CallSpec {
    /// The name of the call whose work it does: its own, but of requests.
    #[must_use]
    pub const fn work(&self) -> &'static str {
        match self.request {
            Some(Request::Ring { work: Some(work), .. } | Request::ControlBlock { work }) => work,
            Some(Request::Ring { work: None, .. }) | None => self.name,
        }
    }

    /// Whether it is about a file that a ring holds without a descriptor.
    #[must_use]
    pub const fn is_direct(&self) -> bool {
        matches!(self.request, Some(Request::Ring { direct: true, .. }))
    }

    /// Whether one of its arguments is of that kind.
    #[must_use]
    pub fn has(&self, kind: ArgKind) -> bool {
        self.args.contains(&kind)
    }
}

/// What kind of work a call does. Every call is in one family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Family {
    /// Moves file data, or the cursor: read, write, lseek, sendfile.
    Data,
    /// Reads or changes what is known about files: stat, chmod, truncate, xattr, statfs.
    Metadata,
    /// Makes, copies or closes descriptors: open, dup, fcntl, close.
    Descriptor,
    /// Reads or changes directories: getdents, mkdir, rename, unlink, chdir, mount.
    Directory,
    /// Maps and advises memory: mmap, msync, madvise.
    Memory,
    /// Forces data to storage: fsync, sync.
    Sync,
    /// Locks files: flock.
    Lock,
    /// Sockets, whatever they do.
    Socket,
    /// Makes, replaces, ends or describes processes.
    Process,
    /// Waits for another process or thread, a signal or a time: wait4, futex, nanosleep.
    Wait,
    /// Waits until descriptors are ready: poll, select, epoll.
    Poll,
    /// Submits or completes asynchronous I/O: io_submit, io_uring_enter.
    Async,
    /// Calls that belong to no other family.
    #[default]
    Other,
}

impl Family {
    /// Every family, in the order in which they are listed.
    pub const ALL: [Self; 13] = [
        Self::Data,
        Self::Metadata,
        Self::Descriptor,
        Self::Directory,
        Self::Memory,
        Self::Sync,
        Self::Lock,
        Self::Socket,
        Self::Process,
        Self::Wait,
        Self::Poll,
        Self::Async,
        Self::Other,
    ];

    /// The name in tables and rules.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Metadata => "metadata",
            Self::Descriptor => "descriptor",
            Self::Directory => "directory",
            Self::Memory => "memory",
            Self::Sync => "sync",
            Self::Lock => "lock",
            Self::Socket => "socket",
            Self::Process => "process",
            Self::Wait => "wait",
            Self::Poll => "poll",
            Self::Async => "async",
            Self::Other => "other",
        }
    }
}

/// Which way a call moves data, seen from the process.
///
/// The return value of these calls is the number of bytes moved (of those that move several messages it is in their
/// headers), so they alone have a `size`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Transfer {
    /// It moves none, or its return value does not say how much.
    #[default]
    None,
    /// Into the process: read variants, and recv, recvfrom, recvmsg, recvmmsg.
    Read,
    /// Out of the process: write variants, and send, sendto, sendmsg, sendmmsg, vmsplice.
    Write,
    /// From one descriptor to another: copy_file_range, sendfile, splice, tee.
    Copy,
}

/// What a successful return value names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Makes {
    /// Nothing new.
    #[default]
    Nothing,
    /// A new descriptor.
    Descriptor,
    /// A new process or thread.
    Process,
}

/// Row of a call, `None` for calls that are not in the table.
#[inline]
#[must_use]
pub fn spec(call: CallId) -> Option<&'static CallSpec> {
    TABLE.get(call.index())
}

/// Row of the call of that name.
#[must_use]
pub fn named(name: &str) -> Option<&'static CallSpec> {
    id(name).and_then(spec)
}

/// Number of the row of the call of that name.
#[must_use]
pub fn id(name: &str) -> Option<CallId> {
    static IDS: LazyLock<HashMap<&'static str, CallId>> = LazyLock::new(|| {
        TABLE.iter().enumerate().map(|(row, spec)| (spec.name, CallId::from_index(row))).collect()
    });
    IDS.get(name).copied()
}

/// The kernel's name of a call that libraries and manuals call something else.
#[must_use]
pub fn kernel_name(name: &str) -> &str {
    match name {
        "pread" => "pread64",
        "pwrite" => "pwrite64",
        "llseek" => "_llseek",
        "fstatat" => "newfstatat",
        name => name,
    }
}

/// Whether it is a request (`io_uring_read`, `aio_pread`) and no call of a thread; see [`Request`].
#[must_use]
pub fn is_request(call: CallId) -> bool {
    spec(call).is_some_and(|spec| spec.request.is_some())
}

/// Whether every program of the C library makes that call as it starts, and hardly anybody asks a tracer for it.
#[must_use]
pub fn starts_programs(name: &str) -> bool {
    matches!(name, "brk" | "mprotect" | "arch_prctl" | "set_tid_address")
}

/// A dictionary of call names in which the table's rows have their own numbers.
#[must_use]
pub fn dictionary() -> Interner {
    let mut names = Interner::new();
    for spec in TABLE {
        names.intern(spec.name.as_bytes());
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_its_own_name_and_number() {
        let names = dictionary();
        assert_eq!(names.len(), TABLE.len());
        for (number, spec) in TABLE.iter().enumerate() {
            assert_eq!(names.find(spec.name.as_bytes()), Some(number as u32), "{}", spec.name);
        }
    }

    #[test]
    fn requests_do_the_work_of_calls_in_the_table_and_are_of_their_kind() {
        for spec in TABLE {
            let ring = ["io_uring_setup", "io_uring_enter", "io_uring_register"];
            let by_name = spec.name.starts_with("io_uring_") && !ring.contains(&spec.name);
            assert_eq!(spec.request.is_some(), by_name || spec.name.starts_with("aio_"), "{}", spec.name);
            assert_eq!(spec.is_direct(), spec.name.ends_with("_direct"), "{}", spec.name);
            let work = named(spec.work()).unwrap();
            assert_eq!(
                (work.kind, work.transfer, work.family),
                (spec.kind, spec.transfer, spec.family),
                "{}",
                spec.name
            );
            assert!(work.request.is_none() || work.name == "io_uring_fixed_fd_install", "{}", spec.name);
        }
    }

    #[test]
    fn transfers_say_what_they_act_on_and_how_much_they_ask_for() {
        for spec in TABLE.iter().filter(|spec| spec.transfer != Transfer::None) {
            assert!(spec.args.contains(&ArgKind::Fd), "{}", spec.name);
            let asks = [ArgKind::Count, ArgKind::Vector, ArgKind::Message, ArgKind::Messages];
            assert!(spec.args.iter().any(|kind| asks.contains(kind)), "{}", spec.name);
            assert_eq!(spec.transfer == Transfer::Copy, spec.args.contains(&ArgKind::Fd2), "{}", spec.name);
        }
    }

    #[test]
    fn directory_descriptors_stand_before_their_path() {
        for spec in TABLE {
            for (index, _) in spec.args.iter().enumerate().filter(|(_, kind)| **kind == ArgKind::DirFd) {
                assert_eq!(spec.args.get(index + 1), Some(&ArgKind::Path), "{}", spec.name);
            }
        }
    }

    #[test]
    fn every_column_has_at_most_the_arguments_it_can_hold() {
        let count = |spec: &CallSpec, kind| spec.args.iter().filter(|other| **other == kind).count();
        for spec in TABLE {
            for kind in [ArgKind::Fd, ArgKind::Fd2, ArgKind::Offset, ArgKind::Count, ArgKind::FdPair] {
                assert!(count(spec, kind) <= 1, "{} {kind:?}", spec.name);
            }
            assert!(count(spec, ArgKind::Path) <= 2 && spec.args.len() <= 6, "{}", spec.name);
        }
    }
}
