//! The rows of the call table, grouped by family.
//!
//! From the kernel's system call tables (`arch/*/entry/syscalls/*.tbl`) and the manual pages of section 2.

use super::ArgKind::{
    Address, Buffer, Command, Count, DirFd, Extent, Fd, Fd2, FdPair, Flags, LinkTarget, Message, Name,
    Offset, Offset2, Other, Path, PathOut, Position, Process, SocketName, Status, Strings, Struct, Vector,
};
use super::{ArgKind, CallSpec, Family, Makes, Transfer};

const fn call(name: &'static str, family: Family, args: &'static [ArgKind]) -> CallSpec {
    CallSpec { name, family, args, transfer: Transfer::None, makes: Makes::Nothing }
}

/// Reads file data.
const fn read(name: &'static str, args: &'static [ArgKind]) -> CallSpec {
    CallSpec { transfer: Transfer::Read, ..call(name, Family::Data, args) }
}

/// Writes file data.
const fn write(name: &'static str, args: &'static [ArgKind]) -> CallSpec {
    CallSpec { transfer: Transfer::Write, ..call(name, Family::Data, args) }
}

/// Copies between two descriptors.
const fn copy(name: &'static str, args: &'static [ArgKind]) -> CallSpec {
    CallSpec { transfer: Transfer::Copy, ..call(name, Family::Data, args) }
}

/// Returns a new descriptor.
const fn open(name: &'static str, args: &'static [ArgKind]) -> CallSpec {
    CallSpec { makes: Makes::Descriptor, ..call(name, Family::Descriptor, args) }
}

/// Returns a new process or thread.
const fn spawn(name: &'static str, args: &'static [ArgKind]) -> CallSpec {
    CallSpec { makes: Makes::Process, ..call(name, Family::Process, args) }
}

const fn data(name: &'static str, args: &'static [ArgKind]) -> CallSpec {
    call(name, Family::Data, args)
}
const fn meta(name: &'static str, args: &'static [ArgKind]) -> CallSpec {
    call(name, Family::Metadata, args)
}
const fn desc(name: &'static str, args: &'static [ArgKind]) -> CallSpec {
    call(name, Family::Descriptor, args)
}
const fn dir(name: &'static str, args: &'static [ArgKind]) -> CallSpec {
    call(name, Family::Directory, args)
}
const fn memory(name: &'static str, args: &'static [ArgKind]) -> CallSpec {
    call(name, Family::Memory, args)
}
const fn sync(name: &'static str, args: &'static [ArgKind]) -> CallSpec {
    call(name, Family::Sync, args)
}
const fn socket(name: &'static str, args: &'static [ArgKind]) -> CallSpec {
    call(name, Family::Socket, args)
}
const fn process(name: &'static str, args: &'static [ArgKind]) -> CallSpec {
    call(name, Family::Process, args)
}
const fn wait(name: &'static str, args: &'static [ArgKind]) -> CallSpec {
    call(name, Family::Wait, args)
}
const fn poll(name: &'static str, args: &'static [ArgKind]) -> CallSpec {
    call(name, Family::Poll, args)
}
const fn asynchronous(name: &'static str, args: &'static [ArgKind]) -> CallSpec {
    call(name, Family::Async, args)
}
const fn other(name: &'static str, args: &'static [ArgKind]) -> CallSpec {
    call(name, Family::Other, args)
}

/// The same row as a call on sockets.
const fn on_socket(spec: CallSpec) -> CallSpec {
    CallSpec { family: Family::Socket, ..spec }
}

/// The table.
#[rustfmt::skip]
pub static TABLE: &[CallSpec] = &[
    // Data.
    read("read", &[Fd, Buffer, Count]),
    write("write", &[Fd, Buffer, Count]),
    read("pread64", &[Fd, Buffer, Count, Offset]),
    read("pread", &[Fd, Buffer, Count, Offset]),
    write("pwrite64", &[Fd, Buffer, Count, Offset]),
    write("pwrite", &[Fd, Buffer, Count, Offset]),
    read("readv", &[Fd, Vector, Other]),
    write("writev", &[Fd, Vector, Other]),
    read("preadv", &[Fd, Vector, Other, Offset]),
    write("pwritev", &[Fd, Vector, Other, Offset]),
    read("preadv2", &[Fd, Vector, Other, Offset, Flags]),
    write("pwritev2", &[Fd, Vector, Other, Offset, Flags]),
    data("lseek", &[Fd, Other, Flags]),
    data("llseek", &[Fd, Other, Position, Flags]),
    data("_llseek", &[Fd, Other, Position, Flags]),
    copy("sendfile", &[Fd2, Fd, Offset, Count]),
    copy("sendfile64", &[Fd2, Fd, Offset, Count]),
    copy("copy_file_range", &[Fd, Offset, Fd2, Offset2, Count, Flags]),
    copy("splice", &[Fd, Offset, Fd2, Offset2, Count, Flags]),
    copy("tee", &[Fd, Fd2, Count, Flags]),
    write("vmsplice", &[Fd, Vector, Other, Flags]),
    data("readahead", &[Fd, Offset, Other]),
    data("fadvise64", &[Fd, Offset, Other, Flags]),
    data("fadvise64_64", &[Fd, Offset, Other, Flags]),
    data("arm_fadvise64_64", &[Fd, Flags, Offset, Other]),
    data("process_vm_readv", &[Process, Other, Other, Other, Other, Flags]),
    data("process_vm_writev", &[Process, Other, Other, Other, Other, Flags]),

    // Sync.
    sync("fsync", &[Fd]),
    sync("fdatasync", &[Fd]),
    sync("sync", &[]),
    sync("syncfs", &[Fd]),
    sync("sync_file_range", &[Fd, Offset, Other, Flags]),
    sync("sync_file_range2", &[Fd, Flags, Offset, Other]),
    sync("arm_sync_file_range", &[Fd, Flags, Offset, Other]),
    sync("msync", &[Address, Extent, Flags]),
    sync("bdflush", &[Other, Other]),

    // Locks.
    call("flock", Family::Lock, &[Fd, Flags]),

    // Descriptors.
    open("open", &[Path, Flags, Other]),
    open("openat", &[DirFd, Path, Flags, Other]),
    open("openat2", &[DirFd, Path, Struct, Other]),
    open("creat", &[Path, Other]),
    open("open_by_handle_at", &[Fd2, Other, Flags]),
    open("open_tree", &[DirFd, Path, Flags]),
    open("open_tree_attr", &[DirFd, Path, Flags, Other, Other]),
    desc("close", &[Fd]),
    desc("close_range", &[Command, Command, Flags]),
    open("dup", &[Fd]),
    open("dup2", &[Fd, Fd2]),
    open("dup3", &[Fd, Fd2, Flags]),
    desc("fcntl", &[Fd, Flags, Command]),
    desc("fcntl64", &[Fd, Flags, Command]),
    desc("ioctl", &[Fd, Flags, Other]),
    desc("pipe", &[FdPair]),
    desc("pipe2", &[FdPair, Flags]),
    open("eventfd", &[Other]),
    open("eventfd2", &[Other, Flags]),
    open("memfd_create", &[Name, Flags]),
    open("memfd_secret", &[Flags]),
    open("signalfd", &[Fd, Other, Other]),
    open("signalfd4", &[Fd, Other, Other, Flags]),
    open("timerfd_create", &[Other, Flags]),
    desc("timerfd_settime", &[Fd, Flags, Other, Other]),
    desc("timerfd_settime64", &[Fd, Flags, Other, Other]),
    desc("timerfd_gettime", &[Fd, Other]),
    desc("timerfd_gettime64", &[Fd, Other]),
    open("userfaultfd", &[Flags]),
    open("perf_event_open", &[Other, Process, Other, Fd2, Flags]),
    open("pidfd_open", &[Process, Flags]),
    open("pidfd_getfd", &[Fd2, Other, Flags]),
    open("inotify_init", &[]),
    open("inotify_init1", &[Flags]),
    desc("inotify_add_watch", &[Fd, Path, Flags]),
    desc("inotify_rm_watch", &[Fd, Other]),
    open("fanotify_init", &[Flags, Other]),
    desc("fanotify_mark", &[Fd, Flags, Other, DirFd, Path]),
    desc("kcmp", &[Process, Process, Other, Other, Other]),

    // Metadata.
    meta("stat", &[Path, Other]),
    meta("lstat", &[Path, Other]),
    meta("fstat", &[Fd, Other]),
    meta("stat64", &[Path, Other]),
    meta("lstat64", &[Path, Other]),
    meta("fstat64", &[Fd, Other]),
    meta("oldstat", &[Path, Other]),
    meta("oldlstat", &[Path, Other]),
    meta("oldfstat", &[Fd, Other]),
    meta("newfstatat", &[DirFd, Path, Other, Flags]),
    meta("fstatat64", &[DirFd, Path, Other, Flags]),
    meta("statx", &[DirFd, Path, Flags, Other, Other]),
    meta("access", &[Path, Flags]),
    meta("faccessat", &[DirFd, Path, Flags]),
    meta("faccessat2", &[DirFd, Path, Flags, Flags]),
    meta("readlink", &[Path, Buffer, Other]),
    meta("readlinkat", &[DirFd, Path, Buffer, Other]),
    meta("truncate", &[Path, Offset]),
    meta("truncate64", &[Path, Offset]),
    meta("ftruncate", &[Fd, Offset]),
    meta("ftruncate64", &[Fd, Offset]),
    meta("fallocate", &[Fd, Flags, Offset, Other]),
    meta("chmod", &[Path, Flags]),
    meta("fchmod", &[Fd, Flags]),
    meta("fchmodat", &[DirFd, Path, Flags]),
    meta("fchmodat2", &[DirFd, Path, Flags, Flags]),
    meta("chown", &[Path, Other, Other]),
    meta("lchown", &[Path, Other, Other]),
    meta("fchown", &[Fd, Other, Other]),
    meta("chown32", &[Path, Other, Other]),
    meta("lchown32", &[Path, Other, Other]),
    meta("fchown32", &[Fd, Other, Other]),
    meta("fchownat", &[DirFd, Path, Other, Other, Flags]),
    meta("utime", &[Path, Other]),
    meta("utimes", &[Path, Other]),
    meta("futimesat", &[DirFd, Path, Other]),
    meta("utimensat", &[DirFd, Path, Other, Flags]),
    meta("utimensat_time64", &[DirFd, Path, Other, Flags]),
    meta("statfs", &[Path, Other]),
    meta("statfs64", &[Path, Other, Other]),
    meta("fstatfs", &[Fd, Other]),
    meta("fstatfs64", &[Fd, Other, Other]),
    meta("ustat", &[Other, Other]),
    meta("umask", &[Other]),
    meta("getxattr", &[Path, Other, Other, Other]),
    meta("lgetxattr", &[Path, Other, Other, Other]),
    meta("fgetxattr", &[Fd, Other, Other, Other]),
    meta("getxattrat", &[DirFd, Path, Flags, Other, Other, Other]),
    meta("setxattr", &[Path, Other, Other, Other, Flags]),
    meta("lsetxattr", &[Path, Other, Other, Other, Flags]),
    meta("fsetxattr", &[Fd, Other, Other, Other, Flags]),
    meta("setxattrat", &[DirFd, Path, Flags, Other, Other, Other]),
    meta("listxattr", &[Path, Other, Other]),
    meta("llistxattr", &[Path, Other, Other]),
    meta("flistxattr", &[Fd, Other, Other]),
    meta("listxattrat", &[DirFd, Path, Flags, Other, Other]),
    meta("removexattr", &[Path, Other]),
    meta("lremovexattr", &[Path, Other]),
    meta("fremovexattr", &[Fd, Other]),
    meta("removexattrat", &[DirFd, Path, Flags, Other]),
    meta("file_getattr", &[DirFd, Path, Other, Other, Flags]),
    meta("file_setattr", &[DirFd, Path, Other, Other, Flags]),
    meta("name_to_handle_at", &[DirFd, Path, Other, Other, Flags]),
    meta("cachestat", &[Fd, Other, Other, Flags]),
    meta("quotactl", &[Command, Path, Other, Other]),
    meta("quotactl_fd", &[Fd, Command, Other, Other]),

    // Directories.
    dir("getdents", &[Fd, Buffer, Other]),
    dir("getdents64", &[Fd, Buffer, Other]),
    dir("readdir", &[Fd, Buffer, Other]),
    dir("mkdir", &[Path, Other]),
    dir("mkdirat", &[DirFd, Path, Other]),
    dir("rmdir", &[Path]),
    dir("mknod", &[Path, Flags, Other]),
    dir("mknodat", &[DirFd, Path, Flags, Other]),
    dir("rename", &[Path, Path]),
    dir("renameat", &[DirFd, Path, DirFd, Path]),
    dir("renameat2", &[DirFd, Path, DirFd, Path, Flags]),
    dir("link", &[Path, Path]),
    dir("linkat", &[DirFd, Path, DirFd, Path, Flags]),
    dir("symlink", &[LinkTarget, Path]),
    dir("symlinkat", &[LinkTarget, DirFd, Path]),
    dir("unlink", &[Path]),
    dir("unlinkat", &[DirFd, Path, Flags]),
    dir("chdir", &[Path]),
    dir("fchdir", &[Fd]),
    dir("getcwd", &[PathOut, Other]),
    dir("chroot", &[Path]),
    dir("pivot_root", &[Path, Path]),
    dir("lookup_dcookie", &[Other, Other, Other]),
    dir("mount", &[Other, Path, Other, Flags, Other]),
    dir("umount", &[Path]),
    dir("oldumount", &[Path]),
    dir("umount2", &[Path, Flags]),
    dir("mount_setattr", &[DirFd, Path, Flags, Other, Other]),
    dir("move_mount", &[DirFd, Path, DirFd, Path, Flags]),
    open("fsopen", &[Other, Flags]),
    dir("fsconfig", &[Fd, Flags, Other, Other, Other]),
    open("fsmount", &[Fd2, Flags, Other]),
    open("fspick", &[DirFd, Path, Flags]),
    dir("statmount", &[Other, Other, Other, Other]),
    dir("listmount", &[Other, Other, Other, Other]),
    dir("swapon", &[Path, Flags]),
    dir("swapoff", &[Path]),
    dir("acct", &[Path]),

    // Memory.
    memory("mmap", &[Address, Extent, Flags, Flags, Fd, Offset]),
    memory("mmap2", &[Address, Extent, Flags, Flags, Fd, Offset]),
    memory("old_mmap", &[Address, Extent, Flags, Flags, Fd, Offset]),
    memory("munmap", &[Address, Extent]),
    memory("mremap", &[Address, Extent, Extent, Flags, Address]),
    memory("remap_file_pages", &[Address, Extent, Flags, Other, Flags]),
    memory("mprotect", &[Address, Extent, Flags]),
    memory("pkey_mprotect", &[Address, Extent, Flags, Other]),
    memory("mseal", &[Address, Extent, Other]),
    memory("madvise", &[Address, Extent, Flags]),
    memory("process_madvise", &[Process, Other, Other, Flags, Other]),
    memory("mincore", &[Address, Extent, Other]),
    memory("mlock", &[Address, Extent]),
    memory("mlock2", &[Address, Extent, Flags]),
    memory("munlock", &[Address, Extent]),
    memory("mlockall", &[Flags]),
    memory("munlockall", &[]),
    memory("brk", &[Other]),
    memory("shmget", &[Other, Other, Flags]),
    memory("shmat", &[Other, Other, Flags]),
    memory("shmdt", &[Other]),
    memory("shmctl", &[Other, Flags, Other]),

    // Sockets.
    on_socket(open("socket", &[Flags, Flags, Other])),
    socket("socketpair", &[Flags, Flags, Other, FdPair]),
    socket("bind", &[Fd, SocketName, Other]),
    socket("connect", &[Fd, SocketName, Other]),
    socket("listen", &[Fd, Other]),
    on_socket(open("accept", &[Fd2, SocketName, Other])),
    on_socket(open("accept4", &[Fd2, SocketName, Other, Flags])),
    on_socket(read("recv", &[Fd, Buffer, Count, Flags])),
    on_socket(read("recvfrom", &[Fd, Buffer, Count, Flags, Other, Other])),
    on_socket(read("recvmsg", &[Fd, Message, Flags])),
    socket("recvmmsg", &[Fd, Other, Other, Flags, Other]),
    socket("recvmmsg_time64", &[Fd, Other, Other, Flags, Other]),
    on_socket(write("send", &[Fd, Buffer, Count, Flags])),
    on_socket(write("sendto", &[Fd, Buffer, Count, Flags, Other, Other])),
    on_socket(write("sendmsg", &[Fd, Message, Flags])),
    socket("sendmmsg", &[Fd, Other, Other, Flags]),
    socket("shutdown", &[Fd, Flags]),
    socket("getsockname", &[Fd, SocketName, Other]),
    socket("getpeername", &[Fd, SocketName, Other]),
    socket("getsockopt", &[Fd, Flags, Flags, Other, Other]),
    socket("setsockopt", &[Fd, Flags, Flags, Other, Other]),
    socket("socketcall", &[Command, Other]),

    // Asynchronous I/O.
    asynchronous("io_setup", &[Other, Other]),
    asynchronous("io_destroy", &[Other]),
    asynchronous("io_submit", &[Other, Other, Other]),
    asynchronous("io_cancel", &[Other, Other, Other]),
    asynchronous("io_getevents", &[Other, Other, Other, Other, Other]),
    asynchronous("io_pgetevents", &[Other, Other, Other, Other, Other, Other]),
    asynchronous("io_pgetevents_time64", &[Other, Other, Other, Other, Other, Other]),
    open("io_uring_setup", &[Other, Other]),
    asynchronous("io_uring_enter", &[Fd, Other, Other, Flags, Other, Other]),
    asynchronous("io_uring_register", &[Fd, Flags, Other, Other]),

    // Readiness.
    poll("poll", &[Other, Other, Other]),
    poll("ppoll", &[Other, Other, Other, Other, Other]),
    poll("ppoll_time64", &[Other, Other, Other, Other, Other]),
    poll("select", &[Other, Other, Other, Other, Other]),
    poll("oldselect", &[Other, Other, Other, Other, Other]),
    poll("_newselect", &[Other, Other, Other, Other, Other]),
    poll("pselect6", &[Other, Other, Other, Other, Other, Other]),
    poll("pselect6_time64", &[Other, Other, Other, Other, Other, Other]),
    open("epoll_create", &[Other]),
    open("epoll_create1", &[Flags]),
    poll("epoll_ctl", &[Fd, Flags, Fd2, Other]),
    poll("epoll_wait", &[Fd, Other, Other, Other]),
    poll("epoll_pwait", &[Fd, Other, Other, Other, Other, Other]),
    poll("epoll_pwait2", &[Fd, Other, Other, Other, Other, Other]),

    // Processes.
    spawn("fork", &[]),
    spawn("vfork", &[]),
    spawn("clone", &[Other, Flags, Other, Other, Other]),
    spawn("clone2", &[Other, Other, Flags, Other, Other, Other]),
    spawn("clone3", &[Struct, Other]),
    process("execve", &[Path, Strings, Other]),
    process("execveat", &[DirFd, Path, Strings, Other, Flags]),
    process("execv", &[Path, Strings]),
    process("exit", &[Status]),
    process("exit_group", &[Status]),
    process("unshare", &[Flags]),
    process("setns", &[Fd, Flags]),
    process("getpid", &[]),
    process("getppid", &[]),
    process("gettid", &[]),
    process("set_tid_address", &[Other]),
    process("setsid", &[]),
    process("setpgid", &[Process, Process]),
    process("kill", &[Process, Flags]),
    process("tkill", &[Process, Flags]),
    process("tgkill", &[Process, Process, Flags]),
    process("pidfd_send_signal", &[Fd, Flags, Other, Other]),
    process("ptrace", &[Flags, Process, Other, Other]),
    process("prctl", &[Flags, Other, Other, Other, Other]),
    process("arch_prctl", &[Flags, Other]),
    process("getrusage", &[Flags, Other]),
    process("setrlimit", &[Flags, Other]),
    process("getrlimit", &[Flags, Other]),
    process("prlimit64", &[Process, Flags, Other, Other]),
    process("ioprio_get", &[Flags, Process]),
    process("ioprio_set", &[Flags, Process, Other]),
    process("sched_yield", &[]),

    // Waiting for others.
    wait("wait4", &[Process, Other, Flags, Other]),
    wait("waitid", &[Other, Process, Other, Flags, Other]),
    wait("waitpid", &[Process, Other, Flags]),
    wait("pause", &[]),
    wait("sigsuspend", &[Other]),
    wait("rt_sigsuspend", &[Other, Other]),
    wait("sigtimedwait", &[Other, Other, Other, Other]),
    wait("rt_sigtimedwait", &[Other, Other, Other, Other]),
    wait("rt_sigtimedwait_time64", &[Other, Other, Other, Other]),
    wait("nanosleep", &[Other, Other]),
    wait("clock_nanosleep", &[Other, Flags, Other, Other]),
    wait("clock_nanosleep_time64", &[Other, Flags, Other, Other]),
    wait("futex", &[Other, Flags, Other, Other, Other, Other]),
    wait("futex_time64", &[Other, Flags, Other, Other, Other, Other]),
    wait("futex_wait", &[Other, Other, Other, Flags, Other, Other]),
    wait("futex_waitv", &[Other, Other, Flags, Other, Other]),
    wait("restart_syscall", &[Other]),

    // Message queues and the rest that makes descriptors.
    open("mq_open", &[Other, Flags, Other, Other]),
    other("mq_unlink", &[Other]),
    other("mq_timedsend", &[Fd, Buffer, Other, Other, Other]),
    other("mq_timedsend_time64", &[Fd, Buffer, Other, Other, Other]),
    other("mq_timedreceive", &[Fd, Buffer, Other, Other, Other]),
    other("mq_timedreceive_time64", &[Fd, Buffer, Other, Other, Other]),
    other("mq_notify", &[Fd, Other]),
    other("mq_getsetattr", &[Fd, Other, Other]),
    other("landlock_create_ruleset", &[Other, Other, Flags]),
    other("landlock_add_rule", &[Fd, Flags, Other, Other]),
    other("landlock_restrict_self", &[Fd, Flags]),
    other("bpf", &[Flags, Other, Other]),
    other("seccomp", &[Flags, Flags, Other]),
    other("finit_module", &[Fd, Other, Flags]),
    other("kexec_file_load", &[Fd, Fd2, Other, Other, Flags]),
    other("uselib", &[Path]),
    other("getrandom", &[Buffer, Other, Flags]),
    other("rt_sigaction", &[Flags, Other, Other, Other]),
    other("rt_sigprocmask", &[Flags, Other, Other, Other]),
    other("rt_sigreturn", &[]),
    other("sysfs", &[Other, Other, Other]),
];
