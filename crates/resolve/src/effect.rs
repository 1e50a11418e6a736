//! What a call does to descriptors, directories and processes, beyond what the call table says.

use crate::files::Holds;
use crate::symbols;
use iotrail_model::CallId;
use iotrail_model::calls::{self, ArgKind, CallSpec, Family, Last, LastRule, Makes, TABLE};
use iotrail_model::raw::RawCall;

/// What the resolver does when a call succeeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing, or only what the call table says (transfers).
    None,
    /// The new descriptor stands for the path argument.
    Open,
    /// The new descriptor, or both of a pair, stand for something without a path.
    Anonymous(&'static Anonymous),
    /// The new descriptor stands for what the old one does.
    Dup,
    Fcntl,
    Ioctl,
    Close,
    CloseRange,
    Seek,
    /// Reads the entries of a directory, whose positions mean nothing.
    List,
    /// Gives files other names.
    Rename,
    /// Lets names lead to other trees.
    Mount,
    Unmount,
    /// The same, by descriptors: it is not followed.
    MountOtherwise,
    /// Goes to another namespace.
    Enter,
    Chdir,
    Fchdir,
    Getcwd,
    ChangeRoot,
    Spawn,
    Exec,
    Exit,
    ExitGroup,
    Unshare,
    Map,
    Unmap,
    Remap,
    /// Acts on a range of memory that stays mapped as it is.
    Touch,
    /// Gives a socket its own address.
    Bind,
    /// Tells it.
    OwnAddress,
    /// Gives a socket the address of its peer.
    Connect,
    Accept,
    /// Returns the id of a process that ended.
    Reap,
    /// Hands over requests that the kernel serves beside the calls.
    Submit,
}

/// A kind of thing without a path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Anonymous {
    /// The name that the kernel gives it, without numbers; `None` if it is not known from the call.
    pub(crate) name: Option<&'static [u8]>,
    /// Whether the name argument of the call follows.
    pub(crate) named: bool,
    /// When it is closed at exec.
    pub(crate) cloexec: Cloexec,
    /// Whether what is done with it moves cursors of other descriptors, which a trace of calls does not show.
    pub(crate) unseen: bool,
}

/// When a new descriptor is closed at exec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cloexec {
    /// If a flag of that name or number says so.
    Flag(u64),
    /// Always.
    Always,
}

/// `O_CLOEXEC`, which most flags of that kind equal.
pub(crate) const O_CLOEXEC: u64 = 0x8_0000;

const fn named(name: &'static [u8], cloexec: Cloexec) -> Anonymous {
    Anonymous { name: Some(name), named: false, cloexec, unseen: false }
}

const fn nameless(cloexec: Cloexec) -> Anonymous {
    Anonymous { name: None, named: false, cloexec, unseen: false }
}

static PIPE: Anonymous = named(b"pipe", Cloexec::Flag(O_CLOEXEC));
pub(crate) static SOCKET: Anonymous = named(b"socket", Cloexec::Flag(O_CLOEXEC));
static EVENTFD: Anonymous = named(b"anon_inode:[eventfd]", Cloexec::Flag(O_CLOEXEC));
static SIGNALFD: Anonymous = named(b"anon_inode:[signalfd]", Cloexec::Flag(O_CLOEXEC));
static TIMERFD: Anonymous = named(b"anon_inode:[timerfd]", Cloexec::Flag(O_CLOEXEC));
static EPOLL: Anonymous = named(b"anon_inode:[eventpoll]", Cloexec::Flag(O_CLOEXEC));
static INOTIFY: Anonymous = named(b"anon_inode:inotify", Cloexec::Flag(O_CLOEXEC));
static FANOTIFY: Anonymous = named(b"anon_inode:[fanotify]", Cloexec::Flag(1));
static USERFAULTFD: Anonymous = named(b"anon_inode:[userfaultfd]", Cloexec::Flag(O_CLOEXEC));
static PERF: Anonymous = named(b"anon_inode:[perf_event]", Cloexec::Flag(8));
pub(crate) static IO_URING: Anonymous =
    Anonymous { unseen: true, ..named(b"anon_inode:[io_uring]", Cloexec::Always) };
pub(crate) static PIDFD: Anonymous = named(b"anon_inode:[pidfd]", Cloexec::Always);
static FSCONTEXT: Anonymous = named(b"anon_inode:[fscontext]", Cloexec::Flag(1));
static SECRETMEM: Anonymous = named(b"/secretmem", Cloexec::Flag(O_CLOEXEC));
static MEMFD: Anonymous = Anonymous { named: true, ..named(b"/memfd:", Cloexec::Flag(1)) };
static FSMOUNT: Anonymous = nameless(Cloexec::Flag(1));
static UNKNOWN: Anonymous = nameless(Cloexec::Flag(O_CLOEXEC));
static UNKNOWN_CLOEXEC: Anonymous = nameless(Cloexec::Always);
/// A descriptor of another process.
pub(crate) static TAKEN: Anonymous = Anonymous { unseen: true, ..nameless(Cloexec::Always) };

/// What a call does to names of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Naming {
    /// It has no path.
    None,
    /// Makes a descriptor of what a path denotes.
    Opens,
    /// Acts on what its path denotes.
    Looks,
    /// Makes what was not there.
    Makes,
    Renames,
    Links,
    Symlinks,
    Removes,
}

fn naming(spec: &CallSpec) -> Naming {
    match name_of_work(spec.name) {
        "open" | "openat" | "openat2" | "creat" => Naming::Opens,
        "mkdir" | "mkdirat" | "mknod" | "mknodat" => Naming::Makes,
        "rename" | "renameat" | "renameat2" => Naming::Renames,
        "link" | "linkat" => Naming::Links,
        "symlink" | "symlinkat" => Naming::Symlinks,
        "unlink" | "unlinkat" | "rmdir" => Naming::Removes,
        _ if spec.args.contains(&ArgKind::Path) => Naming::Looks,
        _ => Naming::None,
    }
}

fn last_of(spec: &CallSpec) -> LastRule {
    let path = spec.args.iter().position(|kind| *kind == ArgKind::Path);
    path.map_or(LastRule::Always(Last::Name), |path| calls::last(spec.name, path))
}

/// What the resolver wants to know of a call in the table.
#[derive(Clone, Copy, Debug)]
struct Row {
    effect: Effect,
    naming: Naming,
    /// What it means by the last component of its first path.
    last: LastRule,
    is_turn: bool,
    is_request: bool,
    shows_file: bool,
    holds: Holds,
}

/// Effects of the calls in the table, which of them count as taking turns, and which are asynchronous requests.
#[derive(Debug)]
pub(crate) struct Effects {
    rows: Vec<Row>,
}

impl Default for Effects {
    fn default() -> Self {
        let row = |spec: &'static CallSpec| Row {
            effect: effect(spec),
            naming: naming(spec),
            last: last_of(spec),
            is_turn: is_turn(spec),
            is_request: is_request(spec.name),
            shows_file: shows_file(spec.name),
            holds: holds(spec.name),
        };
        Self { rows: TABLE.iter().map(row).collect() }
    }
}

impl Effects {
    /// What `call` does.
    #[inline]
    pub(crate) fn of(&self, call: CallId) -> Effect {
        self.rows.get(call.index()).map_or(Effect::None, |row| row.effect)
    }

    /// What `call` does to names.
    #[inline]
    pub(crate) fn naming(&self, call: CallId) -> Naming {
        self.rows.get(call.index()).map_or(Naming::None, |row| row.naming)
    }

    /// Whether a call follows a symbolic link at the end of its first path.
    #[inline]
    pub(crate) fn follows(&self, call: &RawCall<'_>) -> bool {
        let Some(row) = self.rows.get(call.call.index()) else { return false };
        let has = |arg: usize, flag| call.args.get(arg).is_some_and(|arg| symbols::has(arg, flag));
        row.last.decide(has) == Last::Target
    }

    /// Whether `call` shows that its process is doing something of its own.
    #[inline]
    pub(crate) fn is_turn(&self, call: CallId) -> bool {
        self.rows.get(call.index()).is_none_or(|row| row.is_turn)
    }

    /// Whether `call` stores what a file is.
    #[inline]
    pub(crate) fn shows_file(&self, call: CallId) -> bool {
        self.rows.get(call.index()).is_some_and(|row| row.shows_file)
    }

    /// What a trace holds in which `call` is.
    #[inline]
    pub(crate) fn holds(&self, call: CallId) -> Holds {
        self.rows.get(call.index()).map_or(Holds::NOTHING, |row| row.holds)
    }

    /// Whether `call` is no call but a request that the kernel served beside the calls of the thread.
    #[inline]
    pub(crate) fn is_request(&self, call: CallId) -> bool {
        self.rows.get(call.index()).is_some_and(|row| row.is_request)
    }
}

/// The name of what a request to an io_uring does; else the name itself.
fn name_of_work(name: &'static str) -> &'static str {
    match name {
        "io_uring_setup" | "io_uring_enter" | "io_uring_register" => name,
        name => name.strip_prefix("io_uring_").unwrap_or(name),
    }
}

fn shows_file(name: &'static str) -> bool {
    const STATS: [&str; 12] = [
        "stat",
        "lstat",
        "fstat",
        "stat64",
        "lstat64",
        "fstat64",
        "oldstat",
        "oldlstat",
        "oldfstat",
        "newfstatat",
        "fstatat64",
        "statx",
    ];
    STATS.contains(&name_of_work(name))
}

fn is_request(name: &'static str) -> bool {
    name_of_work(name) != name || name.starts_with("aio_")
}

fn effect(spec: &CallSpec) -> Effect {
    match name_of_work(spec.name) {
        "dup" | "dup2" | "dup3" => Effect::Dup,
        "fcntl" | "fcntl64" => Effect::Fcntl,
        "ioctl" => Effect::Ioctl,
        "close" => Effect::Close,
        "close_range" => Effect::CloseRange,
        "lseek" | "llseek" | "_llseek" => Effect::Seek,
        "getdents" | "getdents64" | "readdir" => Effect::List,
        "rename" | "renameat" | "renameat2" => Effect::Rename,
        "mount" => Effect::Mount,
        "umount" | "oldumount" | "umount2" => Effect::Unmount,
        "move_mount" => Effect::MountOtherwise,
        "setns" => Effect::Enter,
        "chdir" => Effect::Chdir,
        "fchdir" => Effect::Fchdir,
        "getcwd" => Effect::Getcwd,
        "chroot" | "pivot_root" => Effect::ChangeRoot,
        "execve" | "execveat" | "execv" => Effect::Exec,
        "exit" => Effect::Exit,
        "exit_group" => Effect::ExitGroup,
        "unshare" => Effect::Unshare,
        "mmap" | "mmap2" | "old_mmap" => Effect::Map,
        "munmap" => Effect::Unmap,
        "mremap" => Effect::Remap,
        "wait4" | "waitpid" => Effect::Reap,
        "io_uring_enter" | "io_submit" => Effect::Submit,
        "pipe" | "pipe2" => Effect::Anonymous(&PIPE),
        "socketpair" => Effect::Anonymous(&SOCKET),
        "bind" => Effect::Bind,
        "getsockname" => Effect::OwnAddress,
        "connect" => Effect::Connect,
        "accept" | "accept4" => Effect::Accept,
        _ if spec.args.contains(&ArgKind::Address) && spec.args.contains(&ArgKind::Extent) => Effect::Touch,
        name => match spec.makes {
            Makes::Nothing => Effect::None,
            Makes::Process => Effect::Spawn,
            Makes::Descriptor => made_by(name),
        },
    }
}

fn made_by(name: &str) -> Effect {
    Effect::Anonymous(match name {
        "socket" => &SOCKET,
        "eventfd" | "eventfd2" => &EVENTFD,
        "signalfd" | "signalfd4" => &SIGNALFD,
        "timerfd_create" => &TIMERFD,
        "epoll_create" | "epoll_create1" => &EPOLL,
        "inotify_init" | "inotify_init1" => &INOTIFY,
        "fanotify_init" => &FANOTIFY,
        "userfaultfd" => &USERFAULTFD,
        "perf_event_open" => &PERF,
        "io_uring_setup" => &IO_URING,
        "pidfd_open" => &PIDFD,
        "fsopen" | "fspick" => &FSCONTEXT,
        "fsmount" => &FSMOUNT,
        "memfd_create" => &MEMFD,
        "memfd_secret" => &SECRETMEM,
        "open_by_handle_at" => &UNKNOWN,
        "pidfd_getfd" => &TAKEN,
        "mq_open" | "fixed_fd_install" => &UNKNOWN_CLOEXEC,
        _ => return Effect::Open,
    })
}

/// What a trace holds in which there is such a call: those of its kind, if the kind is what one asks for and not the call.
fn holds(name: &str) -> Holds {
    match name {
        "brk" | "mprotect" | "set_tid_address" | "set_robust_list" | "rseq" | "prlimit64" | "getrandom"
        | "getpid" | "gettid" | "getuid" | "geteuid" | "rt_sigaction" | "rt_sigprocmask" | "sigaltstack" => {
            Holds::ALL
        }
        "ioctl" | "fadvise64" | "poll" | "ppoll" | "select" | "pselect6" | "epoll_wait" | "epoll_pwait" => {
            Holds::DESCRIPTORS
        }
        "arch_prctl" | "wait4" => Holds::PROCESSES,
        "read" => Holds::READS,
        "write" => Holds::WRITES,
        _ => Holds::NOTHING,
    }
}

/// Calls by which a process waits for another, gets ready to or winds up do not show that it runs beside it.
fn is_turn(spec: &CallSpec) -> bool {
    const AROUND_WAITING: [&str; 8] = [
        "exit",
        "exit_group",
        "rt_sigaction",
        "rt_sigprocmask",
        "rt_sigreturn",
        "munmap",
        "set_tid_address",
        "setpgid",
    ];
    spec.family != Family::Wait && !AROUND_WAITING.contains(&spec.name)
}
