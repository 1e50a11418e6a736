//! What the number is that a call returns: one answer for all who ask.

use super::{CallKind, CallSpec, Makes, Transfer};

/// What a return value above 0 says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Returns {
    /// How many bytes were moved, listed or asked for.
    Bytes,
    /// The position of an open file.
    Position,
    /// A descriptor, or what is asked about one.
    Descriptor,
    /// A process, a thread, or a group of processes.
    Process,
    /// How many of what was waited for, woken, or handed over there are.
    Count,
    /// The permissions that new files lacked before.
    Mask,
    /// How long a name is.
    NameLength,
    /// Anything else: numbers of users and keys, addresses, times, settings.
    Else,
}

impl CallSpec {
    /// What it returns if it succeeds and that is not 0.
    #[must_use]
    pub fn returns(&self) -> Returns {
        match self.kind {
            CallKind::GetDirectory | CallKind::ReadLink => Returns::NameLength,
            CallKind::Seek => Returns::Position,
            CallKind::Umask => Returns::Mask,
            CallKind::List | CallKind::GetAttribute => Returns::Bytes,
            CallKind::Control => Returns::Descriptor,
            CallKind::WaitChild | CallKind::ThreadSetup => Returns::Process,
            CallKind::Poll
            | CallKind::Futex
            | CallKind::AioSubmit
            | CallKind::AioGetEvents
            | CallKind::RingEnter => Returns::Count,
            _ if self.makes == Makes::Descriptor => Returns::Descriptor,
            _ if self.makes == Makes::Process => Returns::Process,
            _ if self.transfer != Transfer::None => Returns::Bytes,
            CallKind::Other => self.returns_by_name(),
            _ => Returns::Else,
        }
    }

    fn returns_by_name(&self) -> Returns {
        match self.name {
            "getrandom" => Returns::Bytes,
            "getpid" | "getppid" | "gettid" | "getpgid" | "getpgrp" | "getsid" | "setsid" => Returns::Process,
            "inotify_add_watch" => Returns::Count,
            _ => Returns::Else,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::{TABLE, named};

    #[test]
    fn what_calls_return_is_told_by_what_they_do() {
        let returns = |name: &str| named(name).unwrap().returns();
        for (name, expected) in [
            ("pread64", Returns::Bytes),
            ("recvmmsg", Returns::Bytes),
            ("getdents64", Returns::Bytes),
            ("lseek", Returns::Position),
            ("openat", Returns::Descriptor),
            ("fcntl", Returns::Descriptor),
            ("io_uring_setup", Returns::Descriptor),
            ("clone3", Returns::Process),
            ("wait4", Returns::Process),
            ("epoll_wait", Returns::Count),
            ("getcwd", Returns::NameLength),
            ("umask", Returns::Mask),
        ] {
            assert_eq!(returns(name), expected, "{name}");
        }
        for name in [
            "getuid",
            "geteuid32",
            "getgid",
            "setfsuid",
            "setfsgid",
            "keyctl",
            "add_key",
            "request_key",
            "ioctl",
        ] {
            assert_eq!(returns(name), Returns::Else, "{name}");
        }
    }

    #[test]
    fn what_makes_a_descriptor_or_moves_bytes_returns_it() {
        for spec in TABLE.iter().filter(|spec| spec.makes == Makes::Descriptor) {
            assert_eq!(spec.returns(), Returns::Descriptor, "{}", spec.name);
        }
        for spec in TABLE.iter().filter(|spec| spec.kind == CallKind::Spawn || spec.kind == CallKind::Vfork) {
            assert_eq!(spec.returns(), Returns::Process, "{}", spec.name);
        }
    }
}
