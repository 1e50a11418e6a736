//! The call table: what is known about each call by name.
//!
//! One table serves every tracer and the resolver: which argument is a descriptor, which a path, what is transferred.
//! A call that is not in the table is still an event; its id lies behind the table's.

use crate::ids::CallId;
use crate::interner::Interner;

/// What an argument of a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArgKind {
    /// The descriptor that the call acts on.
    Fd,
    /// The directory descriptor (or `AT_FDCWD`) that the next path argument is relative to.
    DirFd,
    /// A path.
    Path,
    /// A second descriptor: target of dup2, destination of a copy.
    Fd2,
    /// Where the call stores two descriptors (pipe, socketpair).
    FdPair,
    /// A buffer.
    Buffer,
    /// An array of buffers; its lengths add up to the bytes asked for.
    Vector,
    /// Number of bytes asked for.
    Count,
    /// File offset in bytes.
    Offset,
    /// Symbols worth keeping in the column `flags`.
    Flags,
    /// Symbols or numbers that matter to the resolver only.
    Command,
    /// A process, thread or pidfd.
    Process,
    /// Anything else.
    Other,
}

/// Row of the call table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallSpec {
    /// Canonical name, the kernel's.
    pub name: &'static str,
    /// The kinds of the arguments, in order.
    pub args: &'static [ArgKind],
    /// Which way data flows.
    pub transfer: Transfer,
}

/// Which way a call moves data, seen from the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Transfer {
    /// It moves none.
    #[default]
    None,
    /// Into the process: read variants.
    Read,
    /// Out of the process: write variants.
    Write,
    /// From one descriptor to another: copy_file_range, sendfile, splice.
    Copy,
}

/// The table.
pub static TABLE: &[CallSpec] = &[];

/// Row of a call, `None` for calls that are not in the table.
#[must_use]
pub fn spec(call: CallId) -> Option<&'static CallSpec> {
    TABLE.get(call.index())
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
