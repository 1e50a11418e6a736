//! What a tracer delivers: calls with their arguments as seen, and the life of threads.
//!
//! A tracer stays dumb and fast. It knows no paths behind descriptors and no offsets; the resolver
//! replays descriptor tables to find them. What a tracer does know better (a path printed beside a descriptor)
//! it hands over as a hint.

use crate::event::Layer;
use crate::file_facts::FileFacts;
use crate::ids::{CallId, Pid, SiteId, Tid};
use crate::time::{Nanos, Timestamp};
use crate::usage::Usage;
use serde::{Deserialize, Serialize};

pub use crate::raw_batch::RawBatch;

/// One item of the stream that a tracer delivers, in the order it was seen: calls at their completion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RawItem<'a> {
    /// A call returned, or its end will never be seen.
    Call(RawCall<'a>),
    /// A call was entered and something else was seen before it returned (the first half of an unfinished call), with
    /// the arguments seen so far; the same call follows as [`RawItem::Call`], at the latest when its thread ends.
    /// Calls that make a process must be announced, because their child may speak before they return. Announcing
    /// the others lets the resolver see which calls were in flight together.
    Entered(RawCall<'a>),
    /// A call of a library returned, and the tracer knows what its arguments mean. If it was entered, it is announced.
    Library {
        /// The call; of its arguments a descriptor that it acts on is looked at.
        call: RawCall<'a>,
        /// What it is about.
        operation: &'a Operation<&'a [u8]>,
    },
    /// A signal interrupted the announced or suspended call of a thread before it did anything. The kernel restarts it, as
    /// another call: this one has no effect and is no event.
    Interrupted {
        /// Thread that made the call.
        tid: Tid,
        /// When the call was entered.
        at: Timestamp,
    },
    /// A signal interrupted the announced call of a thread, and what becomes of it is not known yet: it keeps its place in the
    /// order. [`RawItem::Interrupted`] or a [`RawItem::Call`] with the same start says later that it was restarted, or
    /// how it ended. Meanwhile its thread makes other calls, those of the signal's handler.
    Suspended {
        /// Thread that made the call.
        tid: Tid,
        /// When the call was entered.
        at: Timestamp,
    },
    /// A thread ended with this status.
    Exited {
        /// Thread that ended.
        tid: Tid,
        /// Time of the end.
        at: Timestamp,
        /// Exit status, 0 to 255.
        status: i32,
    },
    /// A thread was killed.
    Killed {
        /// Thread that was killed.
        tid: Tid,
        /// Time of its death.
        at: Timestamp,
        /// Name of the signal, `SIGKILL`.
        signal: &'a [u8],
    },
    /// An exec by another thread of the process took over this thread's id (the leader's); the caller's own id ends.
    Superseded {
        /// The thread whose id goes on.
        tid: Tid,
        /// The thread that called exec.
        by: Tid,
        /// Time of the exec.
        at: Timestamp,
    },
    /// `child` came to be, in the announced call of `parent` that makes processes. It may speak from now on, before that call returns.
    Created {
        /// The thread in the call.
        parent: Tid,
        /// The new thread or process.
        child: Tid,
        /// Time at which the child was first seen.
        at: Timestamp,
    },
    /// A thread that was there when the recording began, and the process it belongs to.
    Found {
        /// Thread that was found.
        tid: Tid,
        /// Process (thread group) of the thread.
        pid: Pid,
        /// The process that made that, if it is known.
        ppid: Option<Pid>,
        /// Since when it is recorded: of the program that is started when its process began, of others when they were joined.
        at: Timestamp,
        /// The thread found before whose descriptor table it uses, or itself if nobody found before uses it; `None`: it is that of its
        /// process.
        table: Option<Tid>,
    },
    /// What a descriptor of a thread refers to: part of a snapshot, or a look at a descriptor whose making was not seen.
    Descriptor {
        /// Thread in whose descriptor table it is.
        tid: Tid,
        /// Number of the descriptor in that table.
        fd: i32,
        /// What it refers to.
        open: OpenFile<'a>,
    },
    /// Two descriptors, both known by now, share an open file description.
    Copies {
        /// The thread of the one that was found last.
        tid: Tid,
        /// Number of that descriptor.
        fd: i32,
        /// The thread of the other.
        of: Tid,
        /// Number of the other descriptor, in the table of `of`.
        other: i32,
        /// Whether it came with a message: it is one that was [sent](Self::Sent).
        received: bool,
    },
    /// Where a descriptor of a thread stands that is about to use it, while no other call uses it.
    Position {
        /// Thread that is about to use the descriptor.
        tid: Tid,
        /// Number of the descriptor.
        fd: i32,
        /// Where the next read or write goes.
        position: i64,
    },
    /// A thread sends a descriptor with a message (`SCM_RIGHTS`): whoever receives it shares its open file description.
    Sent {
        /// Thread that sends.
        tid: Tid,
        /// Number of the descriptor in the sender's table.
        fd: i32,
    },
    /// A thread received a descriptor with a message (`SCM_RIGHTS`); what it refers to, if the tracer knows.
    Received {
        /// Thread that received.
        tid: Tid,
        /// Number of the descriptor in the receiver's table.
        fd: i32,
        /// What it refers to.
        target: Option<Target<'a>>,
    },
    /// Which open file description a descriptor stands for in the next call of this thread cannot be known: another thread
    /// that shares the table changed it, and which of the two came first is not in the trace.
    Uncertain {
        /// Thread that makes the call.
        tid: Tid,
        /// Number of the descriptor.
        fd: i32,
    },
    /// What a thread did here could not be read, but for the beginning of `call`, whose last argument may be cut.
    Lost {
        /// Thread whose call could not be read.
        tid: Tid,
        /// The call, as far as it was read.
        call: Option<RawCall<'a>>,
    },
    /// Descriptors came with a message of which the trace does not say which, or not all.
    CameUnseen {
        /// Thread that received it.
        tid: Tid,
    },
    /// A process that is not followed shares, from now on, the open file descriptions of all descriptors of this thread.
    Escaped {
        /// Thread whose descriptors are shared.
        tid: Tid,
        /// Whether it shares those of later descriptors too: it uses the same table (`CLONE_FILES`).
        table: bool,
    },
    /// The working directory of a thread, found in a snapshot.
    WorkingDirectory {
        /// Thread whose working directory it is.
        tid: Tid,
        /// Absolute path.
        path: &'a [u8],
    },
    /// What lies behind a descriptor that was just made.
    File {
        /// Thread that made the descriptor.
        tid: Tid,
        /// Number of the descriptor.
        fd: i32,
        /// Device, inode, size, kind.
        facts: FileFacts,
    },
    /// What lies behind a descriptor that the call is about to return which comes next from this thread.
    FileInfo {
        /// Thread in the call.
        tid: Tid,
        /// Number that the call is about to return.
        fd: i32,
        /// Device, inode, size, kind.
        facts: FileFacts,
    },
    /// What a process shows of its executable image: after an exec, or when it was found.
    Image {
        /// Thread that called exec, or that was found.
        tid: Tid,
        /// Time at which the image began.
        at: Timestamp,
        /// Executable, command line, environment.
        image: Image<'a>,
    },
    /// What the process of this thread used up to now, over all its images. Comes before its exec returns and before its end.
    Usage {
        /// A thread of the process.
        tid: Tid,
        /// Sums since the process began; `max_memory` is that of the present image.
        usage: Usage,
    },
    /// What the tracer says this thread's command is called.
    Comm {
        /// Thread that has the name.
        tid: Tid,
        /// Name of the command (`comm`), at most 15 bytes from the kernel.
        comm: &'a [u8],
    },
}

impl RawItem<'_> {
    /// The thread that the item is about; of a creation the one that made the other.
    #[inline]
    #[must_use]
    pub const fn tid(&self) -> Tid {
        match self {
            Self::Call(call) | Self::Entered(call) | Self::Library { call, .. } => call.tid,
            Self::Created { parent, .. } => *parent,
            Self::Interrupted { tid, .. }
            | Self::Suspended { tid, .. }
            | Self::Exited { tid, .. }
            | Self::Killed { tid, .. }
            | Self::Superseded { tid, .. }
            | Self::Found { tid, .. }
            | Self::Descriptor { tid, .. }
            | Self::Copies { tid, .. }
            | Self::Position { tid, .. }
            | Self::Sent { tid, .. }
            | Self::Received { tid, .. }
            | Self::Uncertain { tid, .. }
            | Self::CameUnseen { tid }
            | Self::Lost { tid, .. }
            | Self::Escaped { tid, .. }
            | Self::WorkingDirectory { tid, .. }
            | Self::File { tid, .. }
            | Self::FileInfo { tid, .. }
            | Self::Image { tid, .. }
            | Self::Usage { tid, .. }
            | Self::Comm { tid, .. } => *tid,
        }
    }
}

/// A call as seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RawCall<'a> {
    /// The thread that called.
    pub tid: Tid,
    /// The interface at which the call was seen. Only system calls change what descriptors stand for.
    pub layer: Layer,
    /// Which call; ids of [`crate::calls::dictionary`].
    pub call: CallId,
    /// When it was entered.
    pub start: Timestamp,
    /// How long it took, if that was seen.
    pub dur: Option<Nanos>,
    /// What it returned.
    pub ret: Return<'a>,
    /// Arguments in the order of the kernel's signature, as far as they were seen; out-arguments hold what was returned in them.
    pub args: &'a [Arg<'a>],
}

impl RawCall<'_> {
    /// Takes the call without what the tracer printed of these descriptors.
    pub fn without_names<T>(&self, of: &[i32], take: impl FnOnce(&RawCall<'_>) -> T) -> T {
        if of.is_empty() {
            return take(self);
        }
        let args: Vec<Arg<'_>> = self.args.iter().map(|arg| arg.without_names(of)).collect();
        take(&RawCall { args: &args, ret: self.ret.without_names(of), ..*self })
    }
}

/// What a call of a library is about. Texts are `N`. Unknown is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operation<N> {
    /// The file, by the name that the program gave: where no descriptor tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<N>,
    /// Byte of the file at which a transfer began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<i64>,
    /// Bytes of the file that were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested: Option<i64>,
    /// Bytes of the file that were moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<i64>,
    /// Number of the communicator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comm: Option<i32>,
    /// Partner or root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<i32>,
    /// Tag of the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<i32>,
    /// Bytes given to other ranks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<i64>,
    /// Bytes got from them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received: Option<i64>,
    /// The other arguments, as text: see [`crate::requests`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<N>,
    /// The call site, whose frames are told otherwise.
    #[serde(skip)]
    pub site: Option<SiteId>,
}

impl<N> Operation<N> {
    /// The same with another kind of text.
    pub fn with_texts<'a, M>(&'a self, mut text: impl FnMut(&'a N) -> M) -> Operation<M> {
        let Self { ref name, offset, requested, size, comm, peer, tag, sent, received, ref args, site } =
            *self;
        let (name, args) = (name.as_ref().map(&mut text), args.as_ref().map(&mut text));
        Operation { name, offset, requested, size, comm, peer, tag, sent, received, args, site }
    }
}

/// An open file description as a snapshot shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenFile<'a> {
    /// Path or name.
    pub target: Target<'a>,
    /// Where the next read or write goes, if there are positions and it is known.
    pub position: Option<i64>,
    /// Whether writes go to the end (`O_APPEND`).
    pub append: bool,
    /// Whether it is closed at exec.
    pub cloexec: bool,
    /// Whether every process that shares it is followed; if not, or if that is unknown, others may move its position unseen.
    pub followed: bool,
    /// Device, inode, size, kind, if they were looked up.
    pub facts: Option<FileFacts>,
}

/// An executable image as the process shows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Image<'a> {
    /// Path of the executable (of a script: of its interpreter).
    pub exe: Option<&'a [u8]>,
    /// Command line, arguments separated by NUL.
    pub cmdline: Option<&'a [u8]>,
    /// Whether a part of the command line is missing.
    pub cmdline_cut: bool,
    /// Working directory.
    pub cwd: Option<&'a [u8]>,
    /// Chosen environment variables, `NAME=value`, sorted.
    pub env: &'a [&'a [u8]],
}

/// What a call returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Return<'a> {
    /// The end was not seen, or the call does not return.
    #[default]
    Unseen,
    /// A value, and what it refers to if it is a descriptor and the tracer knows.
    Value(i64, Option<Target<'a>>),
    /// It failed with this error (`ENOENT`).
    Failed(&'a [u8]),
    /// The tracer returned this value, or this error, in place of the call, which was not made.
    Injected(i64, Option<&'a [u8]>),
}

impl Return<'_> {
    /// The same, without what the tracer says of it if it is one of these descriptors.
    #[must_use]
    pub fn without_names(self, of: &[i32]) -> Self {
        match self {
            Self::Value(fd, Some(_)) if of.iter().any(|of| i64::from(*of) == fd) => Self::Value(fd, None),
            ret => ret,
        }
    }
}

/// What a descriptor refers to, as a tracer prints it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target<'a> {
    /// Path or name (`/etc/passwd`, `pipe:[7]`, `TCP:[127.0.0.1:80->...]`), unescaped.
    pub name: &'a [u8],
    /// Whether the file had been deleted; ` (deleted)` is not part of `name`.
    pub deleted: bool,
}

impl Target<'_> {
    /// Whether the file is called `path`, which really ends in ` (deleted)`: older tracers print that of deleted files, too.
    #[must_use]
    pub fn is_literally(&self, path: &[u8]) -> bool {
        self.deleted && path.strip_suffix(b" (deleted)") == Some(self.name)
    }
}

/// An argument as seen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Arg<'a> {
    /// It was not seen, or is of no use to the resolver.
    #[default]
    Opaque,
    /// NULL pointer.
    Null,
    /// An integer.
    Int(i64),
    /// A descriptor, and what it refers to if the tracer knows. A negative one with a name is a file that a ring holds
    /// without a descriptor.
    Fd(i32, Option<Target<'a>>),
    /// `AT_FDCWD`, and the working directory if the tracer knows it.
    Cwd(Option<Target<'a>>),
    /// A path, unescaped, as given; `complete` is false if the tracer cut it.
    Path {
        /// The path as the program gave it.
        bytes: &'a [u8],
        /// Whether these are all.
        complete: bool,
    },
    /// A path argument by the name that the kernel resolved: absolute, to be taken as it is.
    Located(&'a [u8]),
    /// Symbols, as in `O_RDONLY|O_CLOEXEC`.
    Symbols(&'a [u8]),
    /// Two descriptors stored by the call.
    FdPair([(i32, Option<Target<'a>>); 2]),
    /// Sum of the lengths of a vector of buffers.
    Length(u64),
    /// The strings of an argument vector, separated by NUL; `complete` is false if the tracer cut it.
    Strings {
        /// The strings. Where something is missing stands `...`.
        bytes: &'a [u8],
        /// Whether these are all.
        complete: bool,
    },
    /// Any other structure, as text.
    Text(&'a [u8]),
}

impl Arg<'_> {
    /// The same, without what the tracer says of these descriptors.
    #[must_use]
    pub fn without_names(self, of: &[i32]) -> Self {
        match self {
            Self::Fd(fd, Some(_)) if of.contains(&fd) => Self::Fd(fd, None),
            Self::FdPair(pair) => {
                Self::FdPair(pair.map(|(fd, name)| (fd, name.filter(|_| !of.contains(&fd)))))
            }
            arg => arg,
        }
    }
}
