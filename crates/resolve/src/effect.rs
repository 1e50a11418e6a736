//! What the resolver does for each kind of call.

use crate::holds::Holds;
use crate::symbols;
use iotrail_model::CallId;
use iotrail_model::calls::{ArgKind, CallKind, CallSpec, Family, Last, LastRule, NameEffect, Object, TABLE};
use iotrail_model::raw::{Arg, RawCall};

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
pub(crate) static FSMOUNT: Anonymous = nameless(Cloexec::Flag(1));
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
    Uses,
    /// Makes what was not there.
    Makes,
    Renames,
    Links,
    Symlinks,
    Removes,
}

fn naming(spec: &CallSpec) -> Naming {
    match spec.name_effect() {
        NameEffect::Opens => Naming::Opens,
        NameEffect::Makes => Naming::Makes,
        NameEffect::Renames => Naming::Renames,
        NameEffect::Links => Naming::Links,
        NameEffect::Symlinks => Naming::Symlinks,
        NameEffect::Removes => Naming::Removes,
        NameEffect::None | NameEffect::Uses | NameEffect::ChangesDirectory | NameEffect::ChangesTrees => {
            if spec.has(ArgKind::Path) {
                Naming::Uses
            } else {
                Naming::None
            }
        }
    }
}

fn path_of<'a>(arg: &'a Arg<'a>) -> Option<&'a [u8]> {
    match arg {
        Arg::Path { bytes, complete: true } => Some(bytes),
        _ => None,
    }
}

fn has_slash(path: &[u8]) -> bool {
    path.ends_with(b"/") || path.ends_with(b"/.")
}

fn last_of(spec: &CallSpec) -> LastRule {
    let path = spec.args.iter().position(|kind| *kind == ArgKind::Path);
    path.map_or(LastRule::Always(Last::Name), |path| spec.last(path))
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
    /// Whether it opens a file into a place of a ring.
    opens_into_ring: bool,
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
            is_request: spec.request.is_some(),
            shows_file: spec.kind == CallKind::Stat,
            opens_into_ring: matches!(spec.name, "io_uring_openat_direct" | "io_uring_openat2_direct"),
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

    /// Whether a call follows a symbolic link at the end of its first path. One that is named with a slash behind it is not at the end
    /// (`man 7 path_resolution`).
    #[inline]
    pub(crate) fn follows(&self, call: &RawCall<'_>) -> bool {
        let Some(row) = self.rows.get(call.call.index()) else { return false };
        let has = |arg: usize, flag| call.args.get(arg).is_some_and(|arg| symbols::has(arg, flag));
        match row.last.decide(has) {
            Last::Target => true,
            Last::Link => call.args.iter().find_map(path_of).is_some_and(has_slash),
            Last::Name => false,
        }
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

    /// Whether `call` opens a file into a place of a ring, without a descriptor.
    #[inline]
    pub(crate) fn opens_into_ring(&self, call: CallId) -> bool {
        self.rows.get(call.index()).is_some_and(|row| row.opens_into_ring)
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

fn effect(spec: &CallSpec) -> Effect {
    match spec.kind {
        // A file that a ring holds has no descriptor.
        _ if spec.is_direct() => Effect::None,
        CallKind::Open | CallKind::Create | CallKind::OpenTree => Effect::Open,
        CallKind::Duplicate => Effect::Dup,
        CallKind::Control => Effect::Fcntl,
        CallKind::DeviceControl => Effect::Ioctl,
        CallKind::Close => Effect::Close,
        CallKind::CloseRange => Effect::CloseRange,
        CallKind::Seek => Effect::Seek,
        CallKind::List => Effect::List,
        CallKind::Rename => Effect::Rename,
        CallKind::Mount => Effect::Mount,
        CallKind::Unmount => Effect::Unmount,
        CallKind::MoveMount => Effect::MountOtherwise,
        CallKind::EnterNamespace => Effect::Enter,
        CallKind::ChangeDirectory => Effect::Chdir,
        CallKind::GetDirectory => Effect::Getcwd,
        CallKind::ChangeRoot | CallKind::PivotRoot => Effect::ChangeRoot,
        CallKind::Spawn | CallKind::Vfork => Effect::Spawn,
        CallKind::Exec => Effect::Exec,
        CallKind::ExitThread => Effect::Exit,
        CallKind::ExitProcess => Effect::ExitGroup,
        CallKind::Unshare => Effect::Unshare,
        CallKind::Map => Effect::Map,
        CallKind::Unmap => Effect::Unmap,
        CallKind::Remap => Effect::Remap,
        CallKind::WaitChild => Effect::Reap,
        CallKind::RingEnter | CallKind::AioSubmit => Effect::Submit,
        CallKind::Pipe => Effect::Anonymous(&PIPE),
        CallKind::Socket | CallKind::SocketPair => Effect::Anonymous(&SOCKET),
        CallKind::Bind => Effect::Bind,
        CallKind::OwnAddress => Effect::OwnAddress,
        CallKind::Connect => Effect::Connect,
        CallKind::Accept => Effect::Accept,
        CallKind::Make(object) => Effect::Anonymous(anonymous(object)),
        CallKind::TakeDescriptor => Effect::Anonymous(&TAKEN),
        CallKind::OpenHandle => Effect::Anonymous(&UNKNOWN),
        _ if spec.has(ArgKind::Address) && spec.has(ArgKind::Extent) => Effect::Touch,
        _ => Effect::None,
    }
}

fn anonymous(object: Object) -> &'static Anonymous {
    match object {
        Object::Event => &EVENTFD,
        Object::Memory => &MEMFD,
        Object::SecretMemory => &SECRETMEM,
        Object::Signal => &SIGNALFD,
        Object::Timer => &TIMERFD,
        Object::PageFault => &USERFAULTFD,
        Object::Performance => &PERF,
        Object::Process => &PIDFD,
        Object::Inotify => &INOTIFY,
        Object::Fanotify => &FANOTIFY,
        Object::FileSystem => &FSCONTEXT,
        Object::Mount => &FSMOUNT,
        Object::Ring => &IO_URING,
        Object::Epoll => &EPOLL,
        Object::Queue | Object::Installed => &UNKNOWN_CLOEXEC,
    }
}

/// What a trace holds in which there is such a call: those of its kind, if the kind is what one asks for and not the call.
/// That is about what people choose when they trace, not about what the calls do; hence the names.
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
    let around_waiting = matches!(
        spec.kind,
        CallKind::ExitThread
            | CallKind::ExitProcess
            | CallKind::SignalSetup
            | CallKind::SignalReturn
            | CallKind::Unmap
            | CallKind::ThreadSetup
            | CallKind::ProcessGroup
    );
    spec.family != Family::Wait && !around_waiting
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_resolver_does_for_every_call() {
        let rows = TABLE.iter().zip(Effects::default().rows).filter_map(|(spec, row)| {
            let words =
                [(row.is_turn, "turn"), (row.is_request, "request"), (row.shows_file, "shows its file")];
            let effect = match row.effect {
                Effect::Anonymous(anonymous) => {
                    let name = anonymous.name.map_or("?".into(), String::from_utf8_lossy);
                    format!("Anonymous({name}, {:?})", anonymous.cloexec)
                }
                effect => format!("{effect:?}"),
            };
            let plain = row.effect == Effect::None && row.naming == Naming::None && row.is_turn;
            let words: Vec<&str> = words.iter().filter(|(holds, _)| *holds).map(|(_, word)| *word).collect();
            (!plain).then(|| format!("{}: {effect}, {:?}, {}", spec.name, row.naming, words.join(" ")))
        });
        insta::assert_snapshot!(rows.collect::<Vec<_>>().join("\n"));
    }
}
