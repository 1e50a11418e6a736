//! Which symbols the arguments of a call are written with.

use super::Notation::{
    Clone, Node, Number, One, Open, Permissions, Request, Segment, Set, Signal, SocketOption, SocketType,
};
use super::{Notation, files, memory, others, processes, sockets};

/// The notation of argument `place` (a place in the call table) of the call of that name.
pub(crate) fn notation(name: &str, index: usize) -> Notation {
    of_file(name, index)
        .or_else(|| of_descriptor(name, index))
        .or_else(|| of_directory(name))
        .or_else(|| of_memory(name, index))
        .or_else(|| of_socket(name, index))
        .or_else(|| of_process(name))
        .or_else(|| of_other(name, index))
        .unwrap_or(Number)
}

fn of_file(name: &str, index: usize) -> Option<Notation> {
    Some(match name {
        "preadv2" | "pwritev2" => Set(&files::READ_WRITE),
        "lseek" | "llseek" | "_llseek" => One(files::WHENCE),
        "splice" | "tee" | "vmsplice" => Set(&files::SPLICE),
        "fadvise64" | "fadvise64_64" | "arm_fadvise64_64" => One(files::ADVICE),
        "sync_file_range" | "sync_file_range2" | "arm_sync_file_range" => Set(&files::SYNC_RANGE),
        "flock" => Set(&files::FLOCK),
        "open" | "openat" | "open_by_handle_at" | "mq_open" => Open,
        "newfstatat" | "fstatat64" | "fchmodat2" if index == 3 => Set(&files::AT),
        "fchownat" | "utimensat" | "utimensat_time64" | "execveat" => Set(&files::AT),
        "getxattrat" | "listxattrat" | "removexattrat" | "file_getattr" | "file_setattr" => Set(&files::AT),
        "setxattrat" => Set(&files::AT),
        "statx" => Set(&files::AT_STATX),
        "faccessat2" if index == 3 => Set(&files::AT_ACCESS),
        "access" | "faccessat" | "faccessat2" => Set(&files::ACCESS),
        "name_to_handle_at" => Set(&files::AT_HANDLE),
        "fallocate" => Set(&files::FALLOCATE),
        "chmod" | "fchmod" | "fchmodat" | "fchmodat2" | "umask" => Permissions,
        "setxattr" | "lsetxattr" | "fsetxattr" => Set(&files::SET_ATTRIBUTE),
        _ => return None,
    })
}

fn of_descriptor(name: &str, index: usize) -> Option<Notation> {
    Some(match name {
        "close_range" if index == 2 => Set(&files::CLOSE_RANGE),
        "dup3" | "pipe2" => Set(&files::DESCRIPTOR),
        "fcntl" | "fcntl64" if index == 1 => One(files::CONTROL),
        "ioctl" => Request,
        "eventfd2" => Set(&files::EVENTFD),
        "memfd_create" => Set(&files::MEMFD),
        "memfd_secret" => Set(&files::CLOEXEC),
        "signalfd4" => Set(&files::SIGNALFD),
        "timerfd_create" | "timerfd_settime" | "timerfd_settime64" => Set(&files::TIMERFD),
        "userfaultfd" => Set(&files::USERFAULTFD),
        "perf_event_open" => Set(&files::PERF),
        "pidfd_open" => Set(&files::PIDFD),
        "inotify_init1" => Set(&files::INOTIFY),
        "inotify_add_watch" => Set(&files::WATCH),
        "fanotify_init" => Set(&files::FANOTIFY),
        "fanotify_mark" => Set(&files::FANOTIFY_MARK),
        "epoll_create1" => Set(&files::EPOLL),
        "epoll_ctl" => One(files::EPOLL_CONTROL),
        "io_uring_enter" => Set(&files::RING_ENTER),
        "io_uring_register" => One(others::RING_REGISTER),
        _ => return None,
    })
}

fn of_directory(name: &str) -> Option<Notation> {
    Some(match name {
        "mkdir" | "mkdirat" => Permissions,
        "mknod" | "mknodat" => Node,
        "renameat2" => Set(&files::RENAME),
        "linkat" | "unlinkat" => Set(&files::AT),
        "mount" => Set(&files::MOUNT),
        "umount2" => Set(&files::UNMOUNT),
        "mount_setattr" => Set(&files::MOUNT_ATTRIBUTES),
        "move_mount" => Set(&files::MOVE_MOUNT),
        "open_tree" | "open_tree_attr" => Set(&files::OPEN_TREE),
        "fsopen" => Set(&files::FSOPEN),
        "fsconfig" => One(files::FSCONFIG),
        "fsmount" => Set(&files::FSMOUNT),
        "fspick" => Set(&files::FSPICK),
        "swapon" => Set(&files::SWAP),
        _ => return None,
    })
}

fn of_memory(name: &str, index: usize) -> Option<Notation> {
    Some(match (name, index) {
        ("mmap" | "mmap2" | "old_mmap", 3) | ("remap_file_pages", 4) => Set(&memory::MAP),
        ("mmap" | "mmap2" | "old_mmap" | "remap_file_pages" | "mprotect" | "pkey_mprotect", 2) => {
            Set(&memory::PROTECTION)
        }
        ("mremap", _) => Set(&memory::REMAP),
        ("msync", _) => Set(&memory::SYNC),
        ("madvise" | "process_madvise", _) => One(memory::ADVICE),
        ("mlock2", _) => Set(&memory::LOCK),
        ("mlockall", _) => Set(&memory::LOCK_ALL),
        ("shmget", _) => Segment,
        ("shmat", _) => Set(&memory::ATTACH),
        ("shmctl", _) => One(memory::SEGMENT_CONTROL),
        _ => return None,
    })
}

fn of_socket(name: &str, index: usize) -> Option<Notation> {
    Some(match (name, index) {
        ("socket" | "socketpair", 0) => One(sockets::FAMILIES),
        ("socket" | "socketpair", 1) => SocketType,
        ("accept4", _) => Set(&sockets::FLAGS),
        ("recv" | "recvfrom" | "recvmsg" | "recvmmsg" | "recvmmsg_time64", _) => Set(&sockets::MESSAGE),
        ("send" | "sendto" | "sendmsg" | "sendmmsg", _) => Set(&sockets::MESSAGE),
        ("shutdown", _) => One(sockets::SHUTDOWN),
        ("getsockopt" | "setsockopt", 1) => One(sockets::LEVELS),
        ("getsockopt" | "setsockopt", 2) => SocketOption,
        _ => return None,
    })
}

fn of_process(name: &str) -> Option<Notation> {
    Some(match name {
        "clone" => Clone,
        "unshare" => Set(&processes::UNSHARE),
        "setns" => Set(&processes::NAMESPACES),
        "kill" | "tkill" | "tgkill" | "pidfd_send_signal" | "rt_sigaction" => Signal,
        "rt_sigprocmask" => One(processes::SIGNAL_MASK),
        "ptrace" => One(processes::TRACE),
        "prctl" => One(processes::PROCESS_CONTROL),
        "arch_prctl" => One(processes::ARCHITECTURE),
        "getrusage" => One(processes::USAGE),
        "setrlimit" | "getrlimit" | "prlimit64" => One(processes::LIMITS),
        "ioprio_get" | "ioprio_set" => One(processes::PRIORITY_OF),
        "wait4" | "waitid" | "waitpid" => Set(&processes::WAIT),
        "clock_nanosleep" | "clock_nanosleep_time64" => Set(&processes::TIMER),
        "futex" | "futex_time64" => One(processes::FUTEX),
        _ => return None,
    })
}

fn of_other(name: &str, index: usize) -> Option<Notation> {
    Some(match (name, index) {
        ("getrandom", _) => Set(&others::RANDOM),
        ("finit_module", _) => Set(&others::MODULE),
        ("landlock_create_ruleset", _) => Set(&others::LANDLOCK_RULESET),
        ("landlock_add_rule", _) => One(others::LANDLOCK_RULE),
        ("bpf", _) => One(others::BPF),
        ("seccomp", 0) => One(others::SECCOMP),
        ("seccomp", 1) => Set(&others::SECCOMP_FILTER),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_model::calls::{ArgKind, TABLE};

    /// A new call shows here: with the symbols of `<linux/...>` it is read more easily than with a number.
    #[test]
    fn flags_without_symbols_are_these() {
        let mut plain = Vec::new();
        for spec in TABLE.iter() {
            let flags = spec.args.iter().enumerate().filter(|(_, kind)| **kind == ArgKind::Flags);
            let numbers = flags.filter(|(index, _)| matches!(notation(spec.name, *index), Number));
            plain.extend(numbers.map(|(index, _)| format!("{} {index}", spec.name)));
        }
        insta::assert_snapshot!(plain.join("\n"));
    }
}
