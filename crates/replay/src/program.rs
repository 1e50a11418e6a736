//! What is executed: streams of operations on numbered files and open file descriptions.

/// A file of a program; operations name it by its index in [`Program::files`]. A name that is a directory at one time and a file at another stands there
/// twice, once as each; at most one of them is there before the program begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScratchFile {
    /// Its name beneath the directory: parts of letters, digits, `-`, `_` and `.`, none of which begins with a dot, with `/` between
    /// them. Directories on the way are made.
    pub name: String,
    /// Bytes that it holds before the program begins; NULL if it is not there.
    pub size: Option<u64>,
    /// Whether it is a directory: it is there before the program begins if it has a size.
    pub directory: bool,
}

/// An open file description, numbered within its stream; another stream that inherits it has a number of its own for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OpenNumber(pub u32);

/// With whose calls an open file is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Interface {
    /// System calls.
    #[default]
    System,
    /// Those of MPI-IO where a [`Companion`](crate::Companion) has them; each rank makes its own.
    MpiIo,
    /// The same, all ranks together.
    Collective,
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct OpenMode {
    /// Whether it may be read.
    pub read: bool,
    /// Whether it may be written.
    pub write: bool,
    /// `O_CREAT`.
    pub create: bool,
    /// `O_EXCL`: refuses a file that is there, together with `O_CREAT`.
    pub exclusive: bool,
    /// `O_TRUNC`.
    pub truncate: bool,
    /// `O_APPEND`.
    pub append: bool,
    /// `O_DSYNC`: each write is on storage before it returns.
    pub sync: bool,
    /// `O_DIRECT`: past the page cache, in blocks of [`DIRECT_BLOCK`](crate::DIRECT_BLOCK).
    pub direct: bool,
    /// `O_DIRECTORY`: refuses what is no directory.
    pub directory: bool,
    /// With whose calls it is used.
    pub interface: Interface,
}

/// Where a vectored call moves its bytes from or to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffers {
    /// Bytes of all of them.
    pub bytes: u64,
    /// How many: the bytes are divided among them as evenly as can be.
    pub count: u32,
}

/// One system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// `openat2`, beneath the directory. Where an error is expected, nothing stays open.
    Open {
        /// Index of the file.
        file: usize,
        /// The description that it makes.
        open: OpenNumber,
        /// How.
        mode: OpenMode,
    },
    /// `close`.
    Close(OpenNumber),
    /// `read` of so many bytes.
    Read(OpenNumber, u64),
    /// `write` of so many bytes.
    Write(OpenNumber, u64),
    /// `pread` at an offset of so many bytes.
    ReadAt(OpenNumber, u64, u64),
    /// `pwrite` at an offset of so many bytes.
    WriteAt(OpenNumber, u64, u64),
    /// `readv`, or `preadv` at an offset.
    ReadVector(OpenNumber, Option<u64>, Buffers),
    /// `writev`, or `pwritev` at an offset.
    WriteVector(OpenNumber, Option<u64>, Buffers),
    /// `lseek` to an offset from the begin of the file.
    Seek(OpenNumber, u64),
    /// `fsync`.
    Sync(OpenNumber),
    /// `fdatasync`.
    SyncData(OpenNumber),
    /// `flock`: takes a lock of the file, alone or with others that take it so, too. Waits for it, at most [`LONGEST_LOCK`](crate::LONGEST_LOCK).
    Lock {
        /// The description.
        open: OpenNumber,
        /// Whether others may have it at the same time.
        shared: bool,
    },
    /// `flock`: releases the lock.
    Unlock(OpenNumber),
    /// `ftruncate` to a size.
    Truncate(OpenNumber, u64),
    /// `statx` of the file of that index by its name.
    Stat(usize),
    /// `fstat`.
    StatOpen(OpenNumber),
    /// `unlink` of the file of that index.
    Unlink(usize),
    /// `rename` of the file of the first index to the name of that of the second.
    Rename(usize, usize),
    /// `link`: the file of the first index gets the name of that of the second, too.
    Link(usize, usize),
    /// `symlink`: a symbolic link that leads nowhere, as no link is followed.
    Symlink(usize),
    /// Sets the length of the file of that index, as `truncate` does: it is opened for that.
    TruncateNamed(usize, u64),
    /// `mkdir` of the directory of that index.
    MakeDirectory(usize),
    /// `rmdir` of the directory of that index.
    RemoveDirectory(usize),
    /// `faccessat` of the file of that index.
    Access(usize),
    /// `getdents64` of an open directory.
    ListOpen(OpenNumber),
    /// `dup`: one more descriptor of a description.
    Duplicate {
        /// The description.
        open: OpenNumber,
        /// The number of its new descriptor.
        copy: OpenNumber,
    },
    /// Waits for others in a way that the engine does not know, by a number: a [`Companion`](crate::Companion) does it. No call.
    Meet(usize),
    /// Something that the engine does not know, by a number: a [`Companion`](crate::Companion) does it.
    Other(usize),
    /// Opens what a process has open from its begin: no call.
    Attach {
        /// Index of the file.
        file: usize,
        /// The description that it makes.
        open: OpenNumber,
        /// How.
        mode: OpenMode,
    },
    /// Closes what a process leaves open when it ends: no call.
    Leave(OpenNumber),
    /// Gives a process of the same stream a description that another one has: no call. It is closed when both have closed it.
    Adopt {
        /// The description.
        open: OpenNumber,
        /// The number that the process has for it.
        copy: OpenNumber,
    },
    /// All entries of the directory of that index are read: it is opened and closed for that.
    List(usize),
    /// The streams of the group of that index wait for each other: no call.
    Barrier(usize),
    /// Waits until so many ns have gone by since the common begin of all streams, whatever becomes of the time between operations: no call.
    NotBefore(u64),
    /// Sets the event of that index, which one stream does once: no call.
    Signal(usize),
    /// Waits until the event of that index is set: no call.
    Await(usize),
    /// Sets an event, and with it gives a description that the stream opened to those who inherit it: no call.
    Share {
        /// The description.
        open: OpenNumber,
        /// Index of the event.
        event: usize,
    },
    /// Waits for an event, and takes the description that came with it, as a process takes those of its parent: no call. It is closed
    /// when all streams that have it have closed it.
    Inherit {
        /// The number that it has in this stream.
        open: OpenNumber,
        /// Index of the event.
        event: usize,
    },
}

impl Action {
    /// The description that it needs, if it needs one.
    #[must_use]
    pub const fn uses(self) -> Option<OpenNumber> {
        match self {
            Self::Open { .. }
            | Self::Attach { .. }
            | Self::Access(_)
            | Self::Other(_)
            | Self::Stat(_)
            | Self::Unlink(_)
            | Self::Rename(..)
            | Self::Link(..)
            | Self::Symlink(_)
            | Self::TruncateNamed(..)
            | Self::MakeDirectory(_)
            | Self::RemoveDirectory(_)
            | Self::List(_)
            | Self::Barrier(_)
            | Self::NotBefore(_)
            | Self::Meet(_)
            | Self::Signal(_)
            | Self::Await(_)
            | Self::Inherit { .. } => None,
            Self::Share { open, .. }
            | Self::Close(open)
            | Self::Read(open, _)
            | Self::Write(open, _)
            | Self::ReadAt(open, _, _)
            | Self::WriteAt(open, _, _)
            | Self::ReadVector(open, _, _)
            | Self::WriteVector(open, _, _)
            | Self::Seek(open, _)
            | Self::Sync(open)
            | Self::SyncData(open)
            | Self::Lock { open, .. }
            | Self::Unlock(open)
            | Self::StatOpen(open)
            | Self::ListOpen(open)
            | Self::Leave(open)
            | Self::Duplicate { open, .. }
            | Self::Adopt { open, .. }
            | Self::Truncate(open, _) => Some(open),
        }
    }

    /// The files that it names.
    pub(crate) fn names(self) -> impl Iterator<Item = usize> {
        let (one, other) = match self {
            Self::Open { file, .. }
            | Self::Attach { file, .. }
            | Self::Access(file)
            | Self::Stat(file)
            | Self::Unlink(file)
            | Self::TruncateNamed(file, _)
            | Self::Symlink(file)
            | Self::MakeDirectory(file)
            | Self::RemoveDirectory(file)
            | Self::List(file) => (Some(file), None),
            Self::Rename(from, to) | Self::Link(from, to) => (Some(from), Some(to)),
            _ => (None, None),
        };
        one.into_iter().chain(other)
    }

    /// Whether it makes, removes or changes names.
    pub(crate) const fn changes_names(self) -> bool {
        matches!(
            self,
            Self::Unlink(_)
                | Self::Rename(..)
                | Self::Link(..)
                | Self::Symlink(_)
                | Self::MakeDirectory(_)
                | Self::RemoveDirectory(_)
        )
    }

    /// Whether it is a system call, and not something between streams.
    #[must_use]
    pub const fn is_call(self) -> bool {
        !matches!(
            self,
            Self::Barrier(_)
                | Self::Meet(_)
                | Self::NotBefore(_)
                | Self::Signal(_)
                | Self::Await(_)
                | Self::Share { .. }
                | Self::Inherit { .. }
                | Self::Attach { .. }
                | Self::Leave(_)
                | Self::Adopt { .. }
        )
    }

    /// Bytes that it asks to move.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        match self {
            Self::Read(_, bytes)
            | Self::Write(_, bytes)
            | Self::ReadAt(_, _, bytes)
            | Self::WriteAt(_, _, bytes) => bytes,
            Self::ReadVector(_, _, buffers) | Self::WriteVector(_, _, buffers) => buffers.bytes,
            _ => 0,
        }
    }

    /// Where a transfer begins that says so itself.
    #[must_use]
    pub const fn offset(self) -> Option<u64> {
        match self {
            Self::ReadAt(_, offset, _)
            | Self::WriteAt(_, offset, _)
            | Self::ReadVector(_, Some(offset), _)
            | Self::WriteVector(_, Some(offset), _) => Some(offset),
            _ => None,
        }
    }

    /// The buffers of a vectored call.
    pub(crate) const fn buffers(self) -> Option<Buffers> {
        match self {
            Self::ReadVector(_, _, buffers) | Self::WriteVector(_, _, buffers) => Some(buffers),
            _ => None,
        }
    }

    pub(crate) const fn writes(self) -> bool {
        matches!(self, Self::Write(..) | Self::WriteAt(..) | Self::WriteVector(..))
    }
}

/// What the operation returned when it was recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Expected {
    /// No error, whatever the number.
    #[default]
    Success,
    /// So many bytes.
    Bytes(u64),
    /// The number of an error.
    Error(i32),
}

/// One operation of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Time between the end of the operation before and this one, in ns.
    pub think_ns: u64,
    /// What it does.
    pub action: Action,
    /// What it shall return.
    pub expected: Expected,
}

/// Operations that follow each other: those of a thread.
pub type Stream = Vec<Operation>;

/// Streams that begin together, and the files that they use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// The files.
    pub files: Vec<ScratchFile>,
    /// The streams.
    pub streams: Vec<Stream>,
    /// Streams that wait for each other, by their indices.
    pub groups: Vec<Vec<usize>>,
    /// How many events there are.
    pub events: usize,
}
