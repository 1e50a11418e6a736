//! What the time of a call counts as.

use super::{CallKind, CallSpec, Family, Object};
use crate::file_facts::FileKind;

/// What the time of an event counts as. I/O time is that of data, sync and metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Moves bytes from or to a regular file or block device.
    Data,
    /// Forces data to storage.
    Sync,
    /// Asks or changes something about files and names.
    Metadata,
    /// Waits for another thread, process or host.
    Wait,
    /// Waits by the clock.
    Sleep,
    /// A wait that was over at once: bytes changed hands.
    Transfer,
    /// Makes, replaces or ends processes.
    Process,
    /// Maps and advises memory.
    Memory,
}

impl Class {
    /// Whether its time is I/O time.
    #[must_use]
    pub const fn is_io(self) -> bool {
        matches!(self, Self::Data | Self::Sync | Self::Metadata)
    }

    /// Whether its time is waiting, by the clock or for somebody.
    #[must_use]
    pub const fn is_wait(self) -> bool {
        matches!(self, Self::Wait | Self::Sleep | Self::Transfer)
    }

    /// The name in tables and rules.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Sync => "sync",
            Self::Metadata => "metadata",
            Self::Wait => "wait",
            Self::Sleep => "sleep",
            Self::Transfer => "transfer",
            Self::Process => "process",
            Self::Memory => "memory",
        }
    }
}

/// What lies behind a descriptor, as far as the time of a call depends on it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    /// Storage: a regular file or block device.
    Storage,
    /// Somebody: a pipe, socket, terminal or anonymous inode.
    Peer,
}

/// A character device counts as a terminal; `/dev/null` and its like are told apart by their path only.
const fn side(kind: FileKind) -> Side {
    match kind {
        FileKind::File | FileKind::Block | FileKind::Directory => Side::Storage,
        FileKind::Pipe | FileKind::Socket | FileKind::Char | FileKind::Anon => Side::Peer,
    }
}

impl CallSpec {
    /// Whether it is a request (`io_uring_read`, `aio_pread`) that the kernel serves beside the calls of the thread: its time is work in
    /// flight, and none that a thread spends.
    #[must_use]
    pub const fn is_request(&self) -> bool {
        self.request.is_some()
    }

    /// What the time of this call counts as, on a descriptor of this kind and, of a copy, into one of the second kind. `None`:
    /// of no class, or of one that depends on a kind that is not known.
    ///
    /// What kinds do not tell, flags and results do: [`super::EventClasses`] is to be asked of events. A `Wait` that ended at once
    /// without a cause is [`Class::Transfer`], which neither returns. Requests that the kernel serves beside
    /// the calls of the thread have the class of their work, but no thread waits for that time.
    #[must_use]
    pub fn class(&self, fd: Option<FileKind>, fd2: Option<FileKind>) -> Option<Class> {
        Some(match self.kind {
            CallKind::Read | CallKind::Write | CallKind::Copy => return self.class_of_transfer(fd, fd2),
            CallKind::Advise | CallKind::AioSubmit => Class::Data,
            CallKind::Sleep => Class::Sleep,
            CallKind::Control | CallKind::Duplicate | CallKind::CloseRange | CallKind::Seek => {
                Class::Metadata
            }
            CallKind::Open
            | CallKind::Create
            | CallKind::OpenHandle
            | CallKind::OpenTree
            | CallKind::Close => Class::Metadata,
            CallKind::DeviceControl if fd.map(side) == Some(Side::Storage) => Class::Metadata,
            CallKind::Make(Object::FileSystem | Object::Mount) => Class::Metadata,
            CallKind::Connect | CallKind::Accept | CallKind::RingEnter | CallKind::AioGetEvents => {
                Class::Wait
            }
            CallKind::PollControl => return None,
            CallKind::Spawn
            | CallKind::Vfork
            | CallKind::Exec
            | CallKind::ExitThread
            | CallKind::ExitProcess => Class::Process,
            _ => return self.class_of_family(),
        })
    }

    /// A copy waits if either end may.
    fn class_of_transfer(&self, fd: Option<FileKind>, fd2: Option<FileKind>) -> Option<Class> {
        if self.family == Family::Socket {
            return Some(Class::Wait);
        }
        let mut sides = [fd.map(side), fd2.map(side)];
        if self.kind != CallKind::Copy {
            sides[1] = sides[0];
        }
        match sides {
            [Some(Side::Peer), _] | [_, Some(Side::Peer)] => Some(Class::Wait),
            [Some(Side::Storage), Some(Side::Storage)] => Some(Class::Data),
            _ => None,
        }
    }

    fn class_of_family(&self) -> Option<Class> {
        match self.family {
            Family::Sync => Some(Class::Sync),
            Family::Metadata | Family::Directory => Some(Class::Metadata),
            Family::Memory => Some(Class::Memory),
            Family::Lock | Family::Wait | Family::Poll => Some(Class::Wait),
            Family::Data => Some(Class::Memory),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::named;

    fn class(name: &str, fd: Option<FileKind>, fd2: Option<FileKind>) -> Option<Class> {
        named(name).and_then(|spec| spec.class(fd, fd2))
    }

    #[test]
    fn what_a_descriptor_is_decides_about_transfers() {
        for (kind, expected) in [
            (FileKind::File, Class::Data),
            (FileKind::Block, Class::Data),
            (FileKind::Pipe, Class::Wait),
            (FileKind::Socket, Class::Wait),
            (FileKind::Char, Class::Wait),
            (FileKind::Anon, Class::Wait),
        ] {
            for name in ["read", "pwrite64", "writev", "io_uring_read", "aio_pwrite"] {
                assert_eq!(class(name, Some(kind), None), Some(expected), "{name} {kind:?}");
            }
        }
        assert_eq!(class("read", None, None), None, "unknown is unknown");
        assert_eq!(class("recvmsg", None, None), Some(Class::Wait));
    }

    #[test]
    fn a_copy_waits_if_either_end_may() {
        let [file, pipe] = [Some(FileKind::File), Some(FileKind::Pipe)];
        assert_eq!(class("copy_file_range", file, file), Some(Class::Data));
        assert_eq!(class("sendfile", file, pipe), Some(Class::Wait));
        assert_eq!(class("splice", pipe, None), Some(Class::Wait));
        assert_eq!(class("sendfile", file, None), None);
    }

    #[test]
    fn calls_have_the_classes_of_the_definition() {
        for (class_of, names) in [
            (Class::Sync, "fsync fdatasync sync_file_range msync syncfs sync io_uring_fsync aio_fsync"),
            (
                Class::Metadata,
                "openat close newfstatat access readlink getdents64 unlink rename mkdir chmod ftruncate setxattr fcntl lseek",
            ),
            (
                Class::Wait,
                "poll select epoll_wait wait4 waitid futex pause rt_sigsuspend accept connect flock io_uring_enter \
                 io_getevents",
            ),
            (Class::Sleep, "nanosleep clock_nanosleep"),
            (Class::Process, "execve fork clone exit exit_group"),
            (Class::Memory, "mmap munmap madvise"),
        ] {
            for name in names.split_whitespace() {
                assert_eq!(class(name, None, None), Some(class_of), "{name}");
            }
        }
        for name in ["getpid", "rt_sigaction", "uname", "epoll_ctl", "pipe2", "socket"] {
            assert_eq!(class(name, None, None), None, "{name}");
        }
    }
}
