//! Which of the numbers that calls return a copy shows. Those that say what its other columns say stay; of any other nobody knows
//! what it tells, so that only its sign is left.

use crate::public;
use iotrail_model::calls::{Returns, named};
use iotrail_model::{Event, Nullable};

/// The permissions of a file: no mask has more.
const PERMISSIONS: i64 = 0o7777;

/// What stays of what a call returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// All.
    Number,
    /// Numbers of processes.
    Process,
    /// Permissions.
    Mask,
    /// Whether it is above, below or 0.
    Sign,
}

impl Shown {
    /// What stays of what the call of that name returns.
    pub(crate) fn of(call: &str) -> Self {
        if public::is_mpi(call) {
            return Self::Number;
        }
        match named(call).map_or(Returns::Else, |call| call.returns()) {
            Returns::Bytes | Returns::Position | Returns::Descriptor | Returns::Count => Self::Number,
            Returns::Process => Self::Process,
            Returns::Mask => Self::Mask,
            Returns::NameLength | Returns::Else => Self::Sign,
        }
    }

    /// What the event of the copy returns.
    pub(crate) fn of_event(self, event: &Event) -> Nullable<i64> {
        let sign = |number: i64| {
            let stays = match self {
                Self::Number => true,
                Self::Process => number <= i64::from(public::MOST_PROCESSES),
                Self::Mask => number <= PERMISSIONS,
                Self::Sign => false,
            };
            let is_descriptor = event.fd.get().map(i64::from) == Some(number);
            if number > 0 && (stays || is_descriptor) || self == Self::Number {
                number
            } else {
                number.signum()
            }
        };
        event.ret.get().map(sign).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_descriptors_and_processes_stay_and_of_anything_else_the_sign() {
        let of = |call: &str, ret: i64| {
            let event = Event { ret: Nullable::some(ret), ..Event::default() };
            Shown::of(call).of_event(&event).get().unwrap()
        };
        for (call, ret) in [
            ("read", 4096),
            ("openat", 7),
            ("lseek", 1 << 40),
            ("clone", 61_234),
            ("getpid", 4_194_303),
            ("umask", 0o022),
            ("getdents64", 123),
            ("epoll_wait", 9),
            ("fcntl", 0o100_002),
            ("MPI_Barrier", 15),
            ("getuid", 0),
            ("solve_for_acme", 0),
        ] {
            assert_eq!(of(call, ret), ret, "{call}");
        }
        for call in [
            "getuid",
            "geteuid",
            "getgid",
            "getegid",
            "setfsuid",
            "setfsgid",
            "getuid32",
            "keyctl",
            "add_key",
            "request_key",
            "syscall_0x1ff",
            "syscall_0x1",
            "getgroups",
            "prctl",
            "ioctl",
            "getcwd",
            "readlink",
            "mmap",
            "ptrace",
            "time",
            "shmget",
            "ao_lookup",
            "getpid",
            "umask",
        ] {
            assert_eq!((of(call, 407_123_777), of(call, -407_888_123)), (1, -1), "{call}");
        }
    }
}
