//! Symbols of calls on processes, and of those that wait.

use super::others::counted;
use super::{Name, Set, bits, push};
use crate::signals::signal_name;
use crate::stored::{ByteRange, Stored};

pub(crate) static CLONE: Set = Set {
    wide: true,
    ..bits(&[
        (0x100, "CLONE_VM"),
        (0x200, "CLONE_FS"),
        (0x400, "CLONE_FILES"),
        (0x800, "CLONE_SIGHAND"),
        (0x1000, "CLONE_PIDFD"),
        (0x2000, "CLONE_PTRACE"),
        (0x4000, "CLONE_VFORK"),
        (0x8000, "CLONE_PARENT"),
        (0x1_0000, "CLONE_THREAD"),
        (0x2_0000, "CLONE_NEWNS"),
        (0x4_0000, "CLONE_SYSVSEM"),
        (0x8_0000, "CLONE_SETTLS"),
        (0x10_0000, "CLONE_PARENT_SETTID"),
        (0x20_0000, "CLONE_CHILD_CLEARTID"),
        (0x80_0000, "CLONE_UNTRACED"),
        (0x100_0000, "CLONE_CHILD_SETTID"),
        (0x200_0000, "CLONE_NEWCGROUP"),
        (0x400_0000, "CLONE_NEWUTS"),
        (0x800_0000, "CLONE_NEWIPC"),
        (0x1000_0000, "CLONE_NEWUSER"),
        (0x2000_0000, "CLONE_NEWPID"),
        (0x4000_0000, "CLONE_NEWNET"),
        (0x8000_0000, "CLONE_IO"),
        (0x1_0000_0000, "CLONE_CLEAR_SIGHAND"),
        (0x2_0000_0000, "CLONE_INTO_CGROUP"),
        (0x80, "CLONE_NEWTIME"),
    ])
};

pub(super) static UNSHARE: Set = bits(&[
    (0x80, "CLONE_NEWTIME"),
    (0x100, "CLONE_VM"),
    (0x200, "CLONE_FS"),
    (0x400, "CLONE_FILES"),
    (0x800, "CLONE_SIGHAND"),
    (0x1_0000, "CLONE_THREAD"),
    (0x2_0000, "CLONE_NEWNS"),
    (0x4_0000, "CLONE_SYSVSEM"),
    (0x200_0000, "CLONE_NEWCGROUP"),
    (0x400_0000, "CLONE_NEWUTS"),
    (0x800_0000, "CLONE_NEWIPC"),
    (0x1000_0000, "CLONE_NEWUSER"),
    (0x2000_0000, "CLONE_NEWPID"),
    (0x4000_0000, "CLONE_NEWNET"),
]);

pub(super) static NAMESPACES: Set = bits(&[
    (0x80, "CLONE_NEWTIME"),
    (0x2_0000, "CLONE_NEWNS"),
    (0x200_0000, "CLONE_NEWCGROUP"),
    (0x400_0000, "CLONE_NEWUTS"),
    (0x800_0000, "CLONE_NEWIPC"),
    (0x1000_0000, "CLONE_NEWUSER"),
    (0x2000_0000, "CLONE_NEWPID"),
    (0x4000_0000, "CLONE_NEWNET"),
]);

/// `CLONE_VM|CLONE_VFORK|SIGCHLD`: the lowest byte is the signal sent at the end.
pub(super) fn write_clone(value: u64, bytes: &mut Vec<u8>) -> Stored {
    let (start, flags, signal) = (bytes.len(), value & 0xffff_ff00 & 0xffff_ffff, value & 0xff);
    if flags != 0 {
        CLONE.push(flags, bytes);
    }
    if let Ok(signal @ 1..=64) = i32::try_from(signal) {
        push(&signal_name(signal), start, bytes);
    } else if signal != 0 {
        push(&signal.to_string(), start, bytes);
    }
    if bytes.len() == start { Stored::Int(0) } else { Stored::Symbols(ByteRange::since(start, bytes)) }
}

pub(super) static WAIT: Set = bits(&[
    (1, "WNOHANG"),
    (4, "WEXITED"),
    (2, "WSTOPPED"),
    (8, "WCONTINUED"),
    (0x100_0000, "WNOWAIT"),
    (0x8000_0000, "__WCLONE"),
    (0x4000_0000, "__WALL"),
    (0x2000_0000, "__WNOTHREAD"),
]);

pub(super) static TIMER: Set = bits(&[(1, "TIMER_ABSTIME")]);

pub(super) static USAGE: &[Name] =
    &[(0, "RUSAGE_SELF"), (1, "RUSAGE_THREAD"), (0xffff_ffff, "RUSAGE_CHILDREN")];

pub(super) static PRIORITY_OF: &[Name] =
    &[(1, "IOPRIO_WHO_PROCESS"), (2, "IOPRIO_WHO_PGRP"), (3, "IOPRIO_WHO_USER")];

pub(super) static ARCHITECTURE: &[Name] = &[
    (0x1001, "ARCH_SET_GS"),
    (0x1002, "ARCH_SET_FS"),
    (0x1003, "ARCH_GET_FS"),
    (0x1004, "ARCH_GET_GS"),
    (0x1011, "ARCH_GET_CPUID"),
    (0x1012, "ARCH_SET_CPUID"),
];

counted! { LIMITS: "RLIMIT_"
    CPU FSIZE DATA STACK CORE RSS NPROC NOFILE MEMLOCK AS LOCKS SIGPENDING MSGQUEUE NICE RTPRIO RTTIME
}

counted! { SIGNAL_MASK: "SIG_" BLOCK UNBLOCK SETMASK }

pub(super) static FUTEX: &[Name] = &[
    (0, "FUTEX_WAIT"),
    (1, "FUTEX_WAKE"),
    (2, "FUTEX_FD"),
    (3, "FUTEX_REQUEUE"),
    (4, "FUTEX_CMP_REQUEUE"),
    (5, "FUTEX_WAKE_OP"),
    (6, "FUTEX_LOCK_PI"),
    (7, "FUTEX_UNLOCK_PI"),
    (8, "FUTEX_TRYLOCK_PI"),
    (9, "FUTEX_WAIT_BITSET"),
    (10, "FUTEX_WAKE_BITSET"),
    (11, "FUTEX_WAIT_REQUEUE_PI"),
    (12, "FUTEX_CMP_REQUEUE_PI"),
    (13, "FUTEX_LOCK_PI2"),
    (0x80, "FUTEX_WAIT_PRIVATE"),
    (0x81, "FUTEX_WAKE_PRIVATE"),
    (0x83, "FUTEX_REQUEUE_PRIVATE"),
    (0x84, "FUTEX_CMP_REQUEUE_PRIVATE"),
    (0x85, "FUTEX_WAKE_OP_PRIVATE"),
    (0x86, "FUTEX_LOCK_PI_PRIVATE"),
    (0x87, "FUTEX_UNLOCK_PI_PRIVATE"),
    (0x88, "FUTEX_TRYLOCK_PI_PRIVATE"),
    (0x89, "FUTEX_WAIT_BITSET_PRIVATE"),
    (0x8a, "FUTEX_WAKE_BITSET_PRIVATE"),
    (0x8b, "FUTEX_WAIT_REQUEUE_PI_PRIVATE"),
    (0x8c, "FUTEX_CMP_REQUEUE_PI_PRIVATE"),
    (0x8d, "FUTEX_LOCK_PI2_PRIVATE"),
    (0x189, "FUTEX_WAIT_BITSET_PRIVATE|FUTEX_CLOCK_REALTIME"),
    (0x109, "FUTEX_WAIT_BITSET|FUTEX_CLOCK_REALTIME"),
];

pub(super) static TRACE: &[Name] = &[
    (0, "PTRACE_TRACEME"),
    (1, "PTRACE_PEEKTEXT"),
    (2, "PTRACE_PEEKDATA"),
    (3, "PTRACE_PEEKUSER"),
    (4, "PTRACE_POKETEXT"),
    (5, "PTRACE_POKEDATA"),
    (6, "PTRACE_POKEUSER"),
    (7, "PTRACE_CONT"),
    (8, "PTRACE_KILL"),
    (9, "PTRACE_SINGLESTEP"),
    (12, "PTRACE_GETREGS"),
    (13, "PTRACE_SETREGS"),
    (14, "PTRACE_GETFPREGS"),
    (15, "PTRACE_SETFPREGS"),
    (16, "PTRACE_ATTACH"),
    (17, "PTRACE_DETACH"),
    (24, "PTRACE_SYSCALL"),
    (0x4200, "PTRACE_SETOPTIONS"),
    (0x4201, "PTRACE_GETEVENTMSG"),
    (0x4202, "PTRACE_GETSIGINFO"),
    (0x4203, "PTRACE_SETSIGINFO"),
    (0x4204, "PTRACE_GETREGSET"),
    (0x4205, "PTRACE_SETREGSET"),
    (0x4206, "PTRACE_SEIZE"),
    (0x4207, "PTRACE_INTERRUPT"),
    (0x4208, "PTRACE_LISTEN"),
    (0x4209, "PTRACE_PEEKSIGINFO"),
    (0x420a, "PTRACE_GETSIGMASK"),
    (0x420b, "PTRACE_SETSIGMASK"),
    (0x420c, "PTRACE_SECCOMP_GET_FILTER"),
    (0x420d, "PTRACE_SECCOMP_GET_METADATA"),
    (0x420e, "PTRACE_GET_SYSCALL_INFO"),
    (0x420f, "PTRACE_GET_RSEQ_CONFIGURATION"),
];

pub(super) static PROCESS_CONTROL: &[Name] = &[
    (1, "PR_SET_PDEATHSIG"),
    (2, "PR_GET_PDEATHSIG"),
    (3, "PR_GET_DUMPABLE"),
    (4, "PR_SET_DUMPABLE"),
    (7, "PR_GET_KEEPCAPS"),
    (8, "PR_SET_KEEPCAPS"),
    (13, "PR_GET_TIMING"),
    (14, "PR_SET_TIMING"),
    (15, "PR_SET_NAME"),
    (16, "PR_GET_NAME"),
    (21, "PR_GET_SECCOMP"),
    (22, "PR_SET_SECCOMP"),
    (23, "PR_CAPBSET_READ"),
    (24, "PR_CAPBSET_DROP"),
    (25, "PR_GET_TSC"),
    (26, "PR_SET_TSC"),
    (27, "PR_GET_SECUREBITS"),
    (28, "PR_SET_SECUREBITS"),
    (29, "PR_SET_TIMERSLACK"),
    (30, "PR_GET_TIMERSLACK"),
    (31, "PR_TASK_PERF_EVENTS_DISABLE"),
    (32, "PR_TASK_PERF_EVENTS_ENABLE"),
    (33, "PR_MCE_KILL"),
    (34, "PR_MCE_KILL_GET"),
    (35, "PR_SET_MM"),
    (36, "PR_SET_CHILD_SUBREAPER"),
    (37, "PR_GET_CHILD_SUBREAPER"),
    (38, "PR_SET_NO_NEW_PRIVS"),
    (39, "PR_GET_NO_NEW_PRIVS"),
    (40, "PR_GET_TID_ADDRESS"),
    (41, "PR_SET_THP_DISABLE"),
    (42, "PR_GET_THP_DISABLE"),
    (47, "PR_CAP_AMBIENT"),
    (52, "PR_GET_SPECULATION_CTRL"),
    (53, "PR_SET_SPECULATION_CTRL"),
    (57, "PR_SET_IO_FLUSHER"),
    (58, "PR_GET_IO_FLUSHER"),
    (59, "PR_SET_SYSCALL_USER_DISPATCH"),
    (62, "PR_SCHED_CORE"),
    (0x5356_4d41, "PR_SET_VMA"),
    (0x5961_6d61, "PR_SET_PTRACER"),
];
