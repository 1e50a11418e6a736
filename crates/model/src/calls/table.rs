//! The rows of the call table, grouped by family: every name in the tables of x86-64, i386 and arm64.
//!
//! From the kernel's system call tables (`arch/*/entry/syscalls/*.tbl`) and the manual pages of section 2.

use super::ArgKind::{
    Address, Buffer, Command, Count, DirFd, Extent, Fd, Fd2, FdPair, Flags, LinkTarget, Message, Messages,
    Name, Offset, Offset2, Other, Path, PathOut, Position, Process, SocketName, Status, Strings, Struct,
    Vector, Word,
};
use super::CallKind::{
    Accept, Access, Advise, AdviseMemory, AioCancel, AioDestroy, AioGetEvents, AioSetup, AioSubmit, Allocate,
    Bind, ChangeDirectory, ChangeMode, ChangeMounts, ChangeOwner, ChangeRoot, Close, CloseRange, Connect,
    Control, Create, DeviceControl, Duplicate, EnterNamespace, Exec, ExitProcess, ExitThread, Filter, Futex,
    GetAffinity, GetAttribute, GetDirectory, Kill, Link, List, Lock, Make, MakeDirectory, MakeNode, Map,
    Mount, MoveMount, Open, OpenHandle, OpenTree, OwnAddress, Pipe, PivotRoot, Poll, PollControl,
    ProcessControl, ProcessGroup, ReadLink, Remap, RemapPages, RemoveDirectory, Rename, Restart, RingEnter,
    RingRegister, Seek, SetAffinity, SetAttribute, SetTimes, Shutdown, SignalReturn, SignalSetup, Sleep,
    Socket, SocketPair, Stat, Symlink, SyncMemory, TakeDescriptor, ThreadSetup, Trace, Truncate, Umask,
    Unlink, Unmap, Unmount, Unshare, Vfork, WaitChild, WaitChildInfo, WaitSignal,
};
use super::{ArgKind, CallKind, CallSpec, Family, Makes, Object, Request, Transfer};
use crate::event::Layer;

const fn call(name: &'static str, family: Family, args: &'static [ArgKind]) -> CallSpec {
    CallSpec {
        name,
        layer: Layer::Syscall,
        family,
        kind: CallKind::Other,
        args,
        transfer: Transfer::None,
        makes: Makes::Nothing,
        request: None,
    }
}

impl CallSpec {
    /// The same row as a call of that kind.
    const fn is(self, kind: CallKind) -> Self {
        Self { kind, ..self }
    }
}

/// Reads file data.
const fn read(name: &'static str, args: &'static [ArgKind]) -> CallSpec {
    CallSpec { transfer: Transfer::Read, ..data(name, args) }.is(CallKind::Read)
}

/// Writes file data.
const fn write(name: &'static str, args: &'static [ArgKind]) -> CallSpec {
    CallSpec { transfer: Transfer::Write, ..data(name, args) }.is(CallKind::Write)
}

/// Copies between two descriptors.
const fn copy(name: &'static str, args: &'static [ArgKind]) -> CallSpec {
    CallSpec { transfer: Transfer::Copy, ..data(name, args) }.is(CallKind::Copy)
}

/// Returns a new descriptor.
const fn open(name: &'static str, args: &'static [ArgKind]) -> CallSpec {
    CallSpec { makes: Makes::Descriptor, ..desc(name, args) }
}

/// Returns a new process or thread.
const fn spawn(name: &'static str, args: &'static [ArgKind]) -> CallSpec {
    CallSpec { makes: Makes::Process, ..process(name, args) }.is(CallKind::Spawn)
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
    call(name, Family::Sync, args).is(CallKind::Sync)
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

/// An entry of a ring that does the work of a call.
const fn ring(work: &'static str, spec: CallSpec) -> CallSpec {
    CallSpec { request: Some(Request::Ring { work: Some(work), direct: false }), ..spec }
}

/// The same, for a file among those that the ring holds: no descriptor is made or closed.
const fn direct(work: &'static str, spec: CallSpec) -> CallSpec {
    CallSpec { request: Some(Request::Ring { work: Some(work), direct: true }), ..spec }
}

/// An entry of a ring whose work no call does.
const fn ring_alone(spec: CallSpec) -> CallSpec {
    CallSpec { request: Some(Request::Ring { work: None, direct: false }), ..spec }
}

/// A control block that does the work of a call.
const fn control_block(work: &'static str, spec: CallSpec) -> CallSpec {
    CallSpec { request: Some(Request::ControlBlock { work }), ..spec }
}

/// Every call that is known by name, grouped by what it is about.
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
    data("lseek", &[Fd, Other, Flags]).is(Seek),
    data("llseek", &[Fd, Other, Position, Flags]).is(Seek),
    data("_llseek", &[Fd, Other, Position, Flags]).is(Seek),
    copy("sendfile", &[Fd2, Fd, Offset, Count]),
    copy("sendfile64", &[Fd2, Fd, Offset, Count]),
    copy("copy_file_range", &[Fd, Offset, Fd2, Offset2, Count, Flags]),
    copy("splice", &[Fd, Offset, Fd2, Offset2, Count, Flags]),
    copy("tee", &[Fd, Fd2, Count, Flags]),
    write("vmsplice", &[Fd, Vector, Other, Flags]),
    data("readahead", &[Fd, Offset, Other]).is(Advise),
    data("fadvise64", &[Fd, Offset, Other, Flags]).is(Advise),
    data("fadvise64_64", &[Fd, Offset, Other, Flags]).is(Advise),
    data("arm_fadvise64_64", &[Fd, Flags, Offset, Other]).is(Advise),
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
    sync("msync", &[Address, Extent, Flags]).is(SyncMemory),
    sync("bdflush", &[Other, Other]),

    // Locks.
    call("flock", Family::Lock, &[Fd, Flags]).is(Lock),

    // Descriptors.
    open("open", &[Path, Flags, Other]).is(Open),
    open("openat", &[DirFd, Path, Flags, Other]).is(Open),
    open("openat2", &[DirFd, Path, Struct, Other]).is(Open),
    open("creat", &[Path, Other]).is(Create),
    open("open_by_handle_at", &[Fd2, Other, Flags]).is(OpenHandle),
    open("open_tree", &[DirFd, Path, Flags]).is(OpenTree),
    open("open_tree_attr", &[DirFd, Path, Flags, Other, Other]).is(OpenTree),
    desc("close", &[Fd]).is(Close),
    desc("close_range", &[Command, Command, Flags]).is(CloseRange),
    open("dup", &[Fd]).is(Duplicate),
    open("dup2", &[Fd, Fd2]).is(Duplicate),
    open("dup3", &[Fd, Fd2, Flags]).is(Duplicate),
    desc("fcntl", &[Fd, Flags, Command]).is(Control),
    desc("fcntl64", &[Fd, Flags, Command]).is(Control),
    desc("ioctl", &[Fd, Flags, Other]).is(DeviceControl),
    desc("pipe", &[FdPair]).is(Pipe),
    desc("pipe2", &[FdPair, Flags]).is(Pipe),
    open("eventfd", &[Other]).is(Make(Object::Event)),
    open("eventfd2", &[Other, Flags]).is(Make(Object::Event)),
    open("memfd_create", &[Name, Flags]).is(Make(Object::Memory)),
    open("memfd_secret", &[Flags]).is(Make(Object::SecretMemory)),
    open("signalfd", &[Fd, Other, Other]).is(Make(Object::Signal)),
    open("signalfd4", &[Fd, Other, Other, Flags]).is(Make(Object::Signal)),
    open("timerfd_create", &[Other, Flags]).is(Make(Object::Timer)),
    desc("timerfd_settime", &[Fd, Flags, Other, Other]),
    desc("timerfd_settime64", &[Fd, Flags, Other, Other]),
    desc("timerfd_gettime", &[Fd, Other]),
    desc("timerfd_gettime64", &[Fd, Other]),
    open("userfaultfd", &[Flags]).is(Make(Object::PageFault)),
    open("perf_event_open", &[Other, Process, Other, Fd2, Flags]).is(Make(Object::Performance)),
    open("pidfd_open", &[Process, Flags]).is(Make(Object::Process)),
    open("pidfd_getfd", &[Fd2, Command, Flags]).is(TakeDescriptor),
    open("inotify_init", &[]).is(Make(Object::Inotify)),
    open("inotify_init1", &[Flags]).is(Make(Object::Inotify)),
    desc("inotify_add_watch", &[Fd, Path, Flags]),
    desc("inotify_rm_watch", &[Fd, Other]),
    open("fanotify_init", &[Flags, Other]).is(Make(Object::Fanotify)),
    desc("fanotify_mark", &[Fd, Flags, Other, DirFd, Path]),
    desc("kcmp", &[Process, Process, Other, Other, Other]),

    // Metadata.
    meta("stat", &[Path, Other]).is(Stat),
    meta("lstat", &[Path, Other]).is(Stat),
    meta("fstat", &[Fd, Other]).is(Stat),
    meta("stat64", &[Path, Other]).is(Stat),
    meta("lstat64", &[Path, Other]).is(Stat),
    meta("fstat64", &[Fd, Other]).is(Stat),
    meta("oldstat", &[Path, Other]).is(Stat),
    meta("oldlstat", &[Path, Other]).is(Stat),
    meta("oldfstat", &[Fd, Other]).is(Stat),
    meta("newfstatat", &[DirFd, Path, Other, Flags]).is(Stat),
    meta("fstatat64", &[DirFd, Path, Other, Flags]).is(Stat),
    meta("statx", &[DirFd, Path, Flags, Other, Other]).is(Stat),
    meta("access", &[Path, Flags]).is(Access),
    meta("faccessat", &[DirFd, Path, Flags]).is(Access),
    meta("faccessat2", &[DirFd, Path, Flags, Flags]).is(Access),
    meta("readlink", &[Path, Buffer, Other]).is(ReadLink),
    meta("readlinkat", &[DirFd, Path, Buffer, Other]).is(ReadLink),
    meta("truncate", &[Path, Offset]).is(Truncate),
    meta("truncate64", &[Path, Offset]).is(Truncate),
    meta("ftruncate", &[Fd, Offset]).is(Truncate),
    meta("ftruncate64", &[Fd, Offset]).is(Truncate),
    meta("fallocate", &[Fd, Flags, Offset, Other]).is(Allocate),
    meta("chmod", &[Path, Flags]).is(ChangeMode),
    meta("fchmod", &[Fd, Flags]).is(ChangeMode),
    meta("fchmodat", &[DirFd, Path, Flags]).is(ChangeMode),
    meta("fchmodat2", &[DirFd, Path, Flags, Flags]).is(ChangeMode),
    meta("chown", &[Path, Other, Other]).is(ChangeOwner),
    meta("lchown", &[Path, Other, Other]).is(ChangeOwner),
    meta("fchown", &[Fd, Other, Other]).is(ChangeOwner),
    meta("chown32", &[Path, Other, Other]).is(ChangeOwner),
    meta("lchown32", &[Path, Other, Other]).is(ChangeOwner),
    meta("fchown32", &[Fd, Other, Other]).is(ChangeOwner),
    meta("fchownat", &[DirFd, Path, Other, Other, Flags]).is(ChangeOwner),
    meta("utime", &[Path, Other]).is(SetTimes),
    meta("utimes", &[Path, Other]).is(SetTimes),
    meta("futimesat", &[DirFd, Path, Other]).is(SetTimes),
    meta("utimensat", &[DirFd, Path, Other, Flags]).is(SetTimes),
    meta("utimensat_time64", &[DirFd, Path, Other, Flags]).is(SetTimes),
    meta("statfs", &[Path, Other]),
    meta("statfs64", &[Path, Other, Other]),
    meta("fstatfs", &[Fd, Other]),
    meta("fstatfs64", &[Fd, Other, Other]),
    meta("ustat", &[Other, Other]),
    meta("umask", &[Flags]).is(Umask),
    meta("getxattr", &[Path, Other, Other, Other]).is(GetAttribute),
    meta("lgetxattr", &[Path, Other, Other, Other]).is(GetAttribute),
    meta("fgetxattr", &[Fd, Other, Other, Other]).is(GetAttribute),
    meta("getxattrat", &[DirFd, Path, Flags, Other, Other, Other]).is(GetAttribute),
    meta("setxattr", &[Path, Other, Other, Other, Flags]).is(SetAttribute),
    meta("lsetxattr", &[Path, Other, Other, Other, Flags]).is(SetAttribute),
    meta("fsetxattr", &[Fd, Other, Other, Other, Flags]).is(SetAttribute),
    meta("setxattrat", &[DirFd, Path, Flags, Other, Other, Other]).is(SetAttribute),
    meta("listxattr", &[Path, Other, Other]).is(GetAttribute),
    meta("llistxattr", &[Path, Other, Other]).is(GetAttribute),
    meta("flistxattr", &[Fd, Other, Other]).is(GetAttribute),
    meta("listxattrat", &[DirFd, Path, Flags, Other, Other]).is(GetAttribute),
    meta("removexattr", &[Path, Other]).is(SetAttribute),
    meta("lremovexattr", &[Path, Other]).is(SetAttribute),
    meta("fremovexattr", &[Fd, Other]).is(SetAttribute),
    meta("removexattrat", &[DirFd, Path, Flags, Other]).is(SetAttribute),
    meta("file_getattr", &[DirFd, Path, Other, Other, Flags]).is(GetAttribute),
    meta("file_setattr", &[DirFd, Path, Other, Other, Flags]).is(SetAttribute),
    meta("name_to_handle_at", &[DirFd, Path, Other, Other, Flags]),
    meta("cachestat", &[Fd, Other, Other, Flags]),
    meta("quotactl", &[Command, Path, Other, Other]),
    meta("quotactl_fd", &[Fd, Command, Other, Other]),

    // Directories.
    dir("getdents", &[Fd, Buffer, Other]).is(List),
    dir("getdents64", &[Fd, Buffer, Other]).is(List),
    dir("readdir", &[Fd, Buffer, Other]).is(List),
    dir("mkdir", &[Path, Flags]).is(MakeDirectory),
    dir("mkdirat", &[DirFd, Path, Flags]).is(MakeDirectory),
    dir("rmdir", &[Path]).is(RemoveDirectory),
    dir("mknod", &[Path, Flags, Other]).is(MakeNode),
    dir("mknodat", &[DirFd, Path, Flags, Other]).is(MakeNode),
    dir("rename", &[Path, Path]).is(Rename),
    dir("renameat", &[DirFd, Path, DirFd, Path]).is(Rename),
    dir("renameat2", &[DirFd, Path, DirFd, Path, Flags]).is(Rename),
    dir("link", &[Path, Path]).is(Link),
    dir("linkat", &[DirFd, Path, DirFd, Path, Flags]).is(Link),
    dir("symlink", &[LinkTarget, Path]).is(Symlink),
    dir("symlinkat", &[LinkTarget, DirFd, Path]).is(Symlink),
    dir("unlink", &[Path]).is(Unlink),
    dir("unlinkat", &[DirFd, Path, Flags]).is(Unlink),
    dir("chdir", &[Path]).is(ChangeDirectory),
    dir("fchdir", &[Fd]).is(ChangeDirectory),
    dir("getcwd", &[PathOut, Other]).is(GetDirectory),
    dir("chroot", &[Path]).is(ChangeRoot),
    dir("pivot_root", &[Path, Path]).is(PivotRoot),
    dir("lookup_dcookie", &[Other, Other, Other]),
    dir("mount", &[Name, Path, Other, Flags, Other]).is(Mount),
    dir("umount", &[Path]).is(Unmount),
    dir("oldumount", &[Path]).is(Unmount),
    dir("umount2", &[Path, Flags]).is(Unmount),
    dir("mount_setattr", &[DirFd, Path, Flags, Other, Other]).is(ChangeMounts),
    dir("move_mount", &[DirFd, Path, DirFd, Path, Flags]).is(MoveMount),
    open("fsopen", &[Other, Flags]).is(Make(Object::FileSystem)),
    dir("fsconfig", &[Fd, Flags, Other, Other, Other]),
    open("fsmount", &[Fd2, Flags, Other]).is(Make(Object::Mount)),
    open("fspick", &[DirFd, Path, Flags]).is(Make(Object::FileSystem)),
    dir("statmount", &[Other, Other, Other, Other]),
    dir("listmount", &[Other, Other, Other, Other]),
    dir("swapon", &[Path, Flags]),
    dir("swapoff", &[Path]),
    dir("acct", &[Path]),

    // Memory.
    memory("mmap", &[Address, Extent, Flags, Flags, Fd, Offset]).is(Map),
    memory("mmap2", &[Address, Extent, Flags, Flags, Fd, Offset]).is(Map),
    memory("old_mmap", &[Address, Extent, Flags, Flags, Fd, Offset]).is(Map),
    memory("munmap", &[Address, Extent]).is(Unmap),
    memory("mremap", &[Address, Extent, Extent, Flags, Address]).is(Remap),
    memory("remap_file_pages", &[Address, Extent, Flags, Other, Flags]).is(RemapPages),
    memory("mprotect", &[Address, Extent, Flags]),
    memory("pkey_mprotect", &[Address, Extent, Flags, Other]),
    memory("mseal", &[Address, Extent, Other]),
    memory("madvise", &[Address, Extent, Flags]).is(AdviseMemory),
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
    on_socket(open("socket", &[Flags, Flags, Other])).is(Socket),
    socket("socketpair", &[Flags, Flags, Other, FdPair]).is(SocketPair),
    socket("bind", &[Fd, SocketName, Other]).is(Bind),
    socket("connect", &[Fd, SocketName, Other]).is(Connect),
    socket("listen", &[Fd, Other]),
    on_socket(open("accept", &[Fd2, SocketName, Other])).is(Accept),
    on_socket(open("accept4", &[Fd2, SocketName, Other, Flags])).is(Accept),
    on_socket(read("recv", &[Fd, Buffer, Count, Flags])),
    on_socket(read("recvfrom", &[Fd, Buffer, Count, Flags, Other, Other])),
    on_socket(read("recvmsg", &[Fd, Message, Flags])),
    on_socket(read("recvmmsg", &[Fd, Messages, Other, Flags, Other])),
    on_socket(read("recvmmsg_time64", &[Fd, Messages, Other, Flags, Other])),
    on_socket(write("send", &[Fd, Buffer, Count, Flags])),
    on_socket(write("sendto", &[Fd, Buffer, Count, Flags, Other, Other])),
    on_socket(write("sendmsg", &[Fd, Message, Flags])),
    on_socket(write("sendmmsg", &[Fd, Messages, Other, Flags])),
    socket("shutdown", &[Fd, Flags]).is(Shutdown),
    socket("getsockname", &[Fd, SocketName, Other]).is(OwnAddress),
    socket("getpeername", &[Fd, SocketName, Other]),
    socket("getsockopt", &[Fd, Flags, Flags, Other, Other]),
    socket("setsockopt", &[Fd, Flags, Flags, Other, Other]),
    socket("socketcall", &[Command, Other]),

    // Asynchronous I/O.
    asynchronous("io_setup", &[Other, Other]).is(AioSetup),
    asynchronous("io_destroy", &[Other]).is(AioDestroy),
    asynchronous("io_submit", &[Other, Other, Other]).is(AioSubmit),
    asynchronous("io_cancel", &[Other, Other, Other]).is(AioCancel),
    asynchronous("io_getevents", &[Other, Other, Other, Other, Other]).is(AioGetEvents),
    asynchronous("io_pgetevents", &[Other, Other, Other, Other, Other, Other]).is(AioGetEvents),
    asynchronous("io_pgetevents_time64", &[Other, Other, Other, Other, Other, Other]).is(AioGetEvents),
    open("io_uring_setup", &[Other, Other]).is(Make(Object::Ring)),
    asynchronous("io_uring_enter", &[Fd, Other, Other, Flags, Other, Other]).is(RingEnter),
    asynchronous("io_uring_register", &[Fd, Flags, Other, Other]).is(RingRegister),

    // Readiness.
    poll("poll", &[Other, Other, Other]).is(Poll),
    poll("ppoll", &[Other, Other, Other, Other, Other]).is(Poll),
    poll("ppoll_time64", &[Other, Other, Other, Other, Other]).is(Poll),
    poll("select", &[Other, Other, Other, Other, Other]).is(Poll),
    poll("oldselect", &[Other, Other, Other, Other, Other]).is(Poll),
    poll("_newselect", &[Other, Other, Other, Other, Other]).is(Poll),
    poll("pselect6", &[Other, Other, Other, Other, Other, Other]).is(Poll),
    poll("pselect6_time64", &[Other, Other, Other, Other, Other, Other]).is(Poll),
    open("epoll_create", &[Other]).is(Make(Object::Epoll)),
    open("epoll_create1", &[Flags]).is(Make(Object::Epoll)),
    poll("epoll_ctl", &[Fd, Flags, Fd2, Other]).is(PollControl),
    poll("epoll_wait", &[Fd, Other, Other, Other]).is(Poll),
    poll("epoll_pwait", &[Fd, Other, Other, Other, Other, Other]).is(Poll),
    poll("epoll_pwait2", &[Fd, Other, Other, Other, Other, Other]).is(Poll),

    // Processes.
    spawn("fork", &[]),
    spawn("vfork", &[]).is(Vfork),
    spawn("clone", &[Other, Flags, Other, Other, Other]),
    spawn("clone2", &[Other, Other, Flags, Other, Other, Other]),
    spawn("clone3", &[Struct, Other]),
    process("execve", &[Path, Strings, Other]).is(Exec),
    process("execveat", &[DirFd, Path, Strings, Other, Flags]).is(Exec),
    process("execv", &[Path, Strings]).is(Exec),
    process("exit", &[Status]).is(ExitThread),
    process("exit_group", &[Status]).is(ExitProcess),
    process("unshare", &[Flags]).is(Unshare),
    process("setns", &[Fd, Flags]).is(EnterNamespace),
    process("getpid", &[]),
    process("getppid", &[]),
    process("gettid", &[]),
    process("set_tid_address", &[Other]).is(ThreadSetup),
    process("setsid", &[]),
    process("setpgid", &[Process, Process]).is(ProcessGroup),
    process("kill", &[Process, Flags]).is(Kill),
    process("tkill", &[Process, Flags]),
    process("tgkill", &[Process, Process, Flags]),
    process("pidfd_send_signal", &[Fd, Flags, Other, Other]),
    process("ptrace", &[Flags, Process, Other, Other]).is(Trace),
    process("prctl", &[Flags, Other, Other, Other, Other]).is(ProcessControl),
    process("arch_prctl", &[Flags, Other]),
    process("getrusage", &[Flags, Other]),
    process("setrlimit", &[Flags, Other]),
    process("getrlimit", &[Flags, Other]),
    process("prlimit64", &[Process, Flags, Other, Other]),
    process("ioprio_get", &[Flags, Process]),
    process("ioprio_set", &[Flags, Process, Other]),
    process("sched_yield", &[]),

    // Waiting for others.
    wait("wait4", &[Process, Other, Flags, Other]).is(WaitChild),
    wait("waitid", &[Other, Process, Other, Flags, Other]).is(WaitChildInfo),
    wait("waitpid", &[Process, Other, Flags]).is(WaitChild),
    wait("pause", &[]).is(WaitSignal),
    wait("sigsuspend", &[Other]).is(WaitSignal),
    wait("rt_sigsuspend", &[Other, Other]).is(WaitSignal),
    wait("sigtimedwait", &[Other, Other, Other, Other]).is(WaitSignal),
    wait("rt_sigtimedwait", &[Other, Other, Other, Other]).is(WaitSignal),
    wait("rt_sigtimedwait_time64", &[Other, Other, Other, Other]).is(WaitSignal),
    wait("nanosleep", &[Other, Other]).is(Sleep),
    wait("clock_nanosleep", &[Other, Flags, Other, Other]).is(Sleep),
    wait("clock_nanosleep_time64", &[Other, Flags, Other, Other]).is(Sleep),
    wait("futex", &[Word, Flags, Other, Other, Other, Other]).is(Futex),
    wait("futex_time64", &[Word, Flags, Other, Other, Other, Other]).is(Futex),
    wait("futex_wait", &[Word, Other, Other, Flags, Other, Other]).is(Futex),
    wait("futex_waitv", &[Other, Other, Flags, Other, Other]).is(Futex),
    wait("restart_syscall", &[Other]).is(Restart),

    // Message queues and the rest that makes descriptors.
    open("mq_open", &[Other, Flags, Other, Other]).is(Make(Object::Queue)),
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
    other("seccomp", &[Flags, Flags, Other]).is(Filter),
    other("finit_module", &[Fd, Other, Flags]),
    other("kexec_file_load", &[Fd, Fd2, Other, Other, Flags]),
    other("uselib", &[Path]),
    other("getrandom", &[Buffer, Other, Flags]),
    other("rt_sigaction", &[Flags, Other, Other, Other]).is(SignalSetup),
    other("rt_sigprocmask", &[Flags, Other, Other, Other]).is(SignalSetup),
    other("rt_sigreturn", &[]).is(SignalReturn),
    other("sysfs", &[Other, Other, Other]),

    // What the kernel's tables name besides: clocks, identities, signals, scheduling, System V messages.
    other("_sysctl", &[Other]),
    other("add_key", &[Other, Other, Other, Other, Other]),
    other("adjtimex", &[Other]),
    other("afs_syscall", &[]),
    other("alarm", &[Other]),
    other("break", &[Other]),
    other("capget", &[Other, Other]),
    other("capset", &[Other, Other]),
    other("clock_adjtime", &[Other, Other]),
    other("clock_adjtime64", &[Other, Other]),
    other("clock_getres", &[Other, Other]),
    other("clock_getres_time64", &[Other, Other]),
    other("clock_gettime", &[Other, Other]),
    other("clock_gettime64", &[Other, Other]),
    other("clock_settime", &[Other, Other]),
    other("clock_settime64", &[Other, Other]),
    other("create_module", &[Other, Other]),
    other("delete_module", &[Other, Other]),
    other("epoll_ctl_old", &[Other, Other, Other, Other]).is(PollControl),
    other("epoll_wait_old", &[Other, Other, Other, Other]).is(Poll),
    other("ftime", &[Other]),
    other("futex_requeue", &[Other, Other, Other, Other]),
    wait("futex_wake", &[Word, Other, Other, Flags]).is(Futex),
    other("get_kernel_syms", &[Other]),
    other("get_mempolicy", &[Other, Other, Other, Other, Other]),
    other("get_robust_list", &[Other, Other, Other]),
    other("get_thread_area", &[Other]),
    other("getcpu", &[Other, Other, Other]),
    other("getegid", &[]),
    other("getegid32", &[]),
    other("geteuid", &[]),
    other("geteuid32", &[]),
    other("getgid", &[]),
    other("getgid32", &[]),
    other("getgroups", &[Other, Other]),
    other("getgroups32", &[Other, Other]),
    other("getitimer", &[Other, Other]),
    other("getpgid", &[Other]),
    other("getpgrp", &[]),
    other("getpmsg", &[Other, Other, Other, Other, Other]),
    other("getpriority", &[Other, Other]),
    other("getresgid", &[Other, Other, Other]),
    other("getresgid32", &[Other, Other, Other]),
    other("getresuid", &[Other, Other, Other]),
    other("getresuid32", &[Other, Other, Other]),
    other("getsid", &[Other]),
    other("gettimeofday", &[Other, Other]),
    other("getuid", &[]),
    other("getuid32", &[]),
    other("gtty", &[Other, Other]),
    other("idle", &[]),
    other("init_module", &[Other, Other, Other]),
    other("ioperm", &[Other, Other, Other]),
    other("iopl", &[Other]),
    other("ipc", &[Other, Other, Other, Other, Other, Other]),
    other("kexec_load", &[Other, Other, Other, Other]),
    other("keyctl", &[Other, Other, Other, Other, Other]),
    other("lock", &[]),
    other("lsm_get_self_attr", &[Other, Other, Other, Other]),
    other("lsm_list_modules", &[Other, Other, Other]),
    other("lsm_set_self_attr", &[Other, Other, Other, Other]),
    other("map_shadow_stack", &[Other, Other, Other]),
    other("mbind", &[Other, Other, Other, Other, Other, Other]),
    other("membarrier", &[Other, Other, Other]),
    other("migrate_pages", &[Other, Other, Other, Other]),
    other("modify_ldt", &[Other, Other, Other]),
    other("move_pages", &[Other, Other, Other, Other, Other, Other]),
    other("mpx", &[]),
    other("msgctl", &[Other, Other, Other]),
    other("msgget", &[Other, Other]),
    other("msgrcv", &[Other, Other, Other, Other, Other]),
    other("msgsnd", &[Other, Other, Other, Other]),
    other("nfsservctl", &[Other, Other, Other]),
    other("nice", &[Other]),
    other("oldolduname", &[Other]),
    other("olduname", &[Other]),
    other("personality", &[Other]),
    other("pkey_alloc", &[Other, Other]),
    other("pkey_free", &[Other]),
    other("process_mrelease", &[Fd, Other]),
    other("prof", &[]),
    other("profil", &[Other, Other, Other, Other]),
    other("putpmsg", &[Other, Other, Other, Other, Other]),
    other("query_module", &[Other, Other, Other, Other, Other]),
    other("reboot", &[Other, Other, Other, Other]),
    other("request_key", &[Other, Other, Other, Other]),
    other("rseq", &[Other, Other, Other, Other]),
    other("rt_sigpending", &[Other, Other]),
    other("rt_sigqueueinfo", &[Other, Other, Other]),
    other("rt_tgsigqueueinfo", &[Other, Other, Other, Other]),
    other("sched_get_priority_max", &[Other]),
    other("sched_get_priority_min", &[Other]),
    other("sched_getaffinity", &[Other, Other, Other]).is(GetAffinity),
    other("sched_getattr", &[Other, Other, Other, Other]),
    other("sched_getparam", &[Other, Other]),
    other("sched_getscheduler", &[Other]),
    other("sched_rr_get_interval", &[Other, Other]),
    other("sched_rr_get_interval_time64", &[Other, Other]),
    other("sched_setaffinity", &[Other, Other, Other]).is(SetAffinity),
    other("sched_setattr", &[Other, Other, Other]),
    other("sched_setparam", &[Other, Other]),
    other("sched_setscheduler", &[Other, Other, Other]),
    other("security", &[]),
    other("semctl", &[Other, Other, Other, Other]),
    other("semget", &[Other, Other, Other]),
    other("semop", &[Other, Other, Other]),
    other("semtimedop", &[Other, Other, Other, Other]),
    other("semtimedop_time64", &[Other, Other, Other, Other]),
    other("set_mempolicy", &[Other, Other, Other]),
    other("set_mempolicy_home_node", &[Other, Other, Other, Other]),
    other("set_robust_list", &[Other, Other]),
    other("set_thread_area", &[Other]),
    other("setdomainname", &[Other, Other]),
    other("setfsgid", &[Other]),
    other("setfsgid32", &[Other]),
    other("setfsuid", &[Other]),
    other("setfsuid32", &[Other]),
    other("setgid", &[Other]),
    other("setgid32", &[Other]),
    other("setgroups", &[Other, Other]),
    other("setgroups32", &[Other, Other]),
    other("sethostname", &[Other, Other]),
    other("setitimer", &[Other, Other, Other]),
    other("setpriority", &[Other, Other, Other]),
    other("setregid", &[Other, Other]),
    other("setregid32", &[Other, Other]),
    other("setresgid", &[Other, Other, Other]),
    other("setresgid32", &[Other, Other, Other]),
    other("setresuid", &[Other, Other, Other]),
    other("setresuid32", &[Other, Other, Other]),
    other("setreuid", &[Other, Other]),
    other("setreuid32", &[Other, Other]),
    other("settimeofday", &[Other, Other]),
    other("setuid", &[Other]),
    other("setuid32", &[Other]),
    other("sgetmask", &[]),
    other("sigaction", &[Other, Other, Other]).is(SignalSetup),
    other("sigaltstack", &[Other, Other]),
    other("signal", &[Other, Other]),
    other("sigpending", &[Other]),
    other("sigprocmask", &[Other, Other, Other]).is(SignalSetup),
    other("sigreturn", &[]).is(SignalReturn),
    other("ssetmask", &[Other]),
    other("stime", &[Other]),
    other("stty", &[Other, Other]),
    other("sysinfo", &[Other]),
    other("syslog", &[Other, Other, Other]),
    other("time", &[Other]),
    other("timer_create", &[Other, Other, Other]),
    other("timer_delete", &[Other]),
    other("timer_getoverrun", &[Other]),
    other("timer_gettime", &[Other, Other]),
    other("timer_gettime64", &[Other, Other]),
    other("timer_settime", &[Other, Other, Other, Other]),
    other("timer_settime64", &[Other, Other, Other, Other]),
    other("times", &[Other]),
    other("tuxcall", &[]),
    other("ugetrlimit", &[Other, Other]),
    other("ulimit", &[Other, Other]),
    other("uname", &[Other]),
    other("uprobe", &[]),
    other("uretprobe", &[]),
    other("vhangup", &[]),
    other("vm86", &[Other, Other]),
    other("vm86old", &[Other]),
    other("vserver", &[]),

    // Requests, done later than they were handed over: entries of io_uring's submission queue, by the names of the
    // calls that they mirror. A negative descriptor with a name is a file that the ring holds without a descriptor.
    ring("pread64", read("io_uring_read", &[Fd, Buffer, Count, Offset, Flags])),
    ring("pwrite64", write("io_uring_write", &[Fd, Buffer, Count, Offset, Flags])),
    ring("preadv2", read("io_uring_readv", &[Fd, Vector, Other, Offset, Flags])),
    ring("pwritev2", write("io_uring_writev", &[Fd, Vector, Other, Offset, Flags])),
    ring("pread64", read("io_uring_read_fixed", &[Fd, Buffer, Count, Offset, Flags])),
    ring("pwrite64", write("io_uring_write_fixed", &[Fd, Buffer, Count, Offset, Flags])),
    ring("preadv2", read("io_uring_readv_fixed", &[Fd, Vector, Other, Offset, Flags])),
    ring("pwritev2", write("io_uring_writev_fixed", &[Fd, Vector, Other, Offset, Flags])),
    ring("pread64", read("io_uring_read_multishot", &[Fd, Buffer, Count, Offset, Flags])),
    ring("splice", copy("io_uring_splice", &[Fd, Offset, Fd2, Offset2, Count, Flags])),
    ring("tee", copy("io_uring_tee", &[Fd, Fd2, Count, Flags])),
    ring("fsync", sync("io_uring_fsync", &[Fd, Flags])),
    ring("sync_file_range", sync("io_uring_sync_file_range", &[Fd, Offset, Other, Flags])),
    ring("fadvise64", data("io_uring_fadvise", &[Fd, Offset, Other, Flags]).is(Advise)),
    ring("madvise", memory("io_uring_madvise", &[Address, Extent, Flags]).is(AdviseMemory)),
    ring("fallocate", meta("io_uring_fallocate", &[Fd, Flags, Offset, Other]).is(Allocate)),
    ring("ftruncate", meta("io_uring_ftruncate", &[Fd, Offset]).is(Truncate)),
    ring("statx", meta("io_uring_statx", &[DirFd, Path, Flags, Other, Other]).is(Stat)),
    ring("fsetxattr", meta("io_uring_fsetxattr", &[Fd, Other, Other, Other, Flags]).is(SetAttribute)),
    ring("setxattr", meta("io_uring_setxattr", &[Path, Other, Other, Other, Flags]).is(SetAttribute)),
    ring("fgetxattr", meta("io_uring_fgetxattr", &[Fd, Other, Other, Other]).is(GetAttribute)),
    ring("getxattr", meta("io_uring_getxattr", &[Path, Other, Other, Other]).is(GetAttribute)),
    ring("openat", open("io_uring_openat", &[DirFd, Path, Flags, Other]).is(Open)),
    ring("openat2", open("io_uring_openat2", &[DirFd, Path, Struct, Other]).is(Open)),
    direct("openat", desc("io_uring_openat_direct", &[DirFd, Path, Flags, Other]).is(Open)),
    direct("openat2", desc("io_uring_openat2_direct", &[DirFd, Path, Struct, Other]).is(Open)),
    ring("close", desc("io_uring_close", &[Fd]).is(Close)),
    direct("close", desc("io_uring_close_direct", &[Fd]).is(Close)),
    ring_alone(open("io_uring_fixed_fd_install", &[Other, Flags]).is(Make(Object::Installed))),
    ring("pipe2", desc("io_uring_pipe", &[FdPair, Flags]).is(Pipe)),
    ring("renameat2", dir("io_uring_renameat", &[DirFd, Path, DirFd, Path, Flags]).is(Rename)),
    ring("unlinkat", dir("io_uring_unlinkat", &[DirFd, Path, Flags]).is(Unlink)),
    ring("mkdirat", dir("io_uring_mkdirat", &[DirFd, Path, Other]).is(MakeDirectory)),
    ring("symlinkat", dir("io_uring_symlinkat", &[LinkTarget, DirFd, Path]).is(Symlink)),
    ring("linkat", dir("io_uring_linkat", &[DirFd, Path, DirFd, Path, Flags]).is(Link)),
    ring("socket", on_socket(open("io_uring_socket", &[Flags, Flags, Other])).is(Socket)),
    direct("socket", socket("io_uring_socket_direct", &[Flags, Flags, Other]).is(Socket)),
    ring("accept4", on_socket(open("io_uring_accept", &[Fd2, SocketName, Other, Flags])).is(Accept)),
    direct("accept4", socket("io_uring_accept_direct", &[Fd, SocketName, Other, Flags]).is(Accept)),
    ring("bind", socket("io_uring_bind", &[Fd, SocketName, Other]).is(Bind)),
    ring("connect", socket("io_uring_connect", &[Fd, SocketName, Other]).is(Connect)),
    ring("listen", socket("io_uring_listen", &[Fd, Other])),
    ring("shutdown", socket("io_uring_shutdown", &[Fd, Flags]).is(Shutdown)),
    ring("send", on_socket(write("io_uring_send", &[Fd, Buffer, Count, Flags]))),
    ring("send", on_socket(write("io_uring_send_zc", &[Fd, Buffer, Count, Flags]))),
    ring("sendmsg", on_socket(write("io_uring_sendmsg", &[Fd, Message, Flags]))),
    ring("sendmsg", on_socket(write("io_uring_sendmsg_zc", &[Fd, Message, Flags]))),
    ring("recv", on_socket(read("io_uring_recv", &[Fd, Buffer, Count, Flags]))),
    ring("recv", on_socket(read("io_uring_recv_zc", &[Fd, Buffer, Count, Flags]))),
    ring("recvmsg", on_socket(read("io_uring_recvmsg", &[Fd, Message, Flags]))),

    // The same for the control blocks of io_submit.
    control_block("pread64", read("aio_pread", &[Fd, Buffer, Count, Offset, Flags])),
    control_block("pwrite64", write("aio_pwrite", &[Fd, Buffer, Count, Offset, Flags])),
    control_block("preadv2", read("aio_preadv", &[Fd, Vector, Other, Offset, Flags])),
    control_block("pwritev2", write("aio_pwritev", &[Fd, Vector, Other, Offset, Flags])),
    control_block("fsync", sync("aio_fsync", &[Fd])),
    control_block("fdatasync", sync("aio_fdsync", &[Fd])),
];
