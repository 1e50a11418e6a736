//! Symbols of calls on files and directories.

use super::{Name, Octal, Set, bits, push};
use crate::Abi;
use crate::stored::{ByteRange, Stored};
use std::io::Write as _;

pub(super) static OPEN: Set = Set {
    mask: 3,
    choices: &[(0, "O_RDONLY"), (1, "O_WRONLY"), (2, "O_RDWR"), (3, "O_ACCMODE")],
    bits: OPEN_BITS,
    zero: None,
    page_size: None,
    wide: false,
};

/// Flags of open where no access mode belongs (pipe2, dup3).
pub(super) static DESCRIPTOR: Set = bits(OPEN_BITS);

const OPEN_BITS: &[Name] = &[
    (0x40, "O_CREAT"),
    (0x80, "O_EXCL"),
    (0x100, "O_NOCTTY"),
    (0x200, "O_TRUNC"),
    (0x400, "O_APPEND"),
    (0x800, "O_NONBLOCK"),
    (0x10_1000, "O_SYNC"),
    (0x10_0000, "__O_SYNC"),
    (0x1000, "O_DSYNC"),
    (0x4000, "O_DIRECT"),
    (0x8000, "O_LARGEFILE"),
    (0x2_0000, "O_NOFOLLOW"),
    (0x4_0000, "O_NOATIME"),
    (0x8_0000, "O_CLOEXEC"),
    (0x20_0000, "O_PATH"),
    (0x41_0000, "O_TMPFILE"),
    (0x40_0000, "__O_TMPFILE"),
    (0x1_0000, "O_DIRECTORY"),
    (0x2000, "FASYNC"),
];

/// Flags of open with the numbers of x86. 64-bit ARM has four of them elsewhere.
pub(super) fn as_generic(flags: u64, abi: Abi) -> u64 {
    const MOVED: [(u64, u64); 4] =
        [(0x4000, 0x1_0000), (0x8000, 0x2_0000), (0x1_0000, 0x4000), (0x2_0000, 0x8000)];
    if abi != Abi::Aarch64 {
        return flags;
    }
    let from = MOVED.iter().fold(0, |mask, (from, _)| mask | from);
    MOVED.iter().fold(flags & !from, |all, (from, to)| if flags & from != 0 { all | to } else { all })
}

/// Appends flags of open.
pub(crate) fn push_open(flags: u64, abi: Abi, bytes: &mut Vec<u8>) {
    OPEN.push(as_generic(flags, abi), bytes);
}

pub(super) static CLOEXEC: Set = bits(&[(0x8_0000, "O_CLOEXEC")]);

pub(crate) static OPEN_RESOLVE: Set = bits(&[
    (1, "RESOLVE_NO_XDEV"),
    (2, "RESOLVE_NO_MAGICLINKS"),
    (4, "RESOLVE_NO_SYMLINKS"),
    (8, "RESOLVE_BENEATH"),
    (0x10, "RESOLVE_IN_ROOT"),
    (0x20, "RESOLVE_CACHED"),
]);

pub(crate) static WHENCE: &[Name] =
    &[(0, "SEEK_SET"), (1, "SEEK_CUR"), (2, "SEEK_END"), (3, "SEEK_DATA"), (4, "SEEK_HOLE")];

pub(super) static READ_WRITE: Set = bits(&[
    (1, "RWF_HIPRI"),
    (2, "RWF_DSYNC"),
    (4, "RWF_SYNC"),
    (8, "RWF_NOWAIT"),
    (0x10, "RWF_APPEND"),
    (0x20, "RWF_NOAPPEND"),
    (0x40, "RWF_ATOMIC"),
    (0x80, "RWF_DONTCACHE"),
]);

pub(super) static SPLICE: Set =
    bits(&[(1, "SPLICE_F_MOVE"), (2, "SPLICE_F_NONBLOCK"), (4, "SPLICE_F_MORE"), (8, "SPLICE_F_GIFT")]);

pub(super) static ADVICE: &[Name] = &[
    (0, "POSIX_FADV_NORMAL"),
    (1, "POSIX_FADV_RANDOM"),
    (2, "POSIX_FADV_SEQUENTIAL"),
    (3, "POSIX_FADV_WILLNEED"),
    (4, "POSIX_FADV_DONTNEED"),
    (5, "POSIX_FADV_NOREUSE"),
];

pub(super) static SYNC_RANGE: Set = bits(&[
    (1, "SYNC_FILE_RANGE_WAIT_BEFORE"),
    (2, "SYNC_FILE_RANGE_WRITE"),
    (4, "SYNC_FILE_RANGE_WAIT_AFTER"),
]);

pub(super) static FLOCK: Set = bits(&[
    (1, "LOCK_SH"),
    (2, "LOCK_EX"),
    (4, "LOCK_NB"),
    (8, "LOCK_UN"),
    (0x20, "LOCK_MAND"),
    (0xc0, "LOCK_RW"),
    (0x40, "LOCK_READ"),
    (0x80, "LOCK_WRITE"),
]);

pub(crate) static LOCK_TYPES: &[Name] =
    &[(0, "F_RDLCK"), (1, "F_WRLCK"), (2, "F_UNLCK"), (4, "F_EXLCK"), (8, "F_SHLCK")];

pub(super) static CONTROL: &[Name] = &[
    (0, "F_DUPFD"),
    (1, "F_GETFD"),
    (2, "F_SETFD"),
    (3, "F_GETFL"),
    (4, "F_SETFL"),
    (5, "F_GETLK"),
    (6, "F_SETLK"),
    (7, "F_SETLKW"),
    (8, "F_SETOWN"),
    (9, "F_GETOWN"),
    (10, "F_SETSIG"),
    (11, "F_GETSIG"),
    (12, "F_GETLK64"),
    (13, "F_SETLK64"),
    (14, "F_SETLKW64"),
    (15, "F_SETOWN_EX"),
    (16, "F_GETOWN_EX"),
    (17, "F_GETOWNER_UIDS"),
    (36, "F_OFD_GETLK"),
    (37, "F_OFD_SETLK"),
    (38, "F_OFD_SETLKW"),
    (1024, "F_SETLEASE"),
    (1025, "F_GETLEASE"),
    (1026, "F_NOTIFY"),
    (1027, "F_DUPFD_QUERY"),
    (1028, "F_CREATED_QUERY"),
    (1029, "F_CANCELLK"),
    (1030, "F_DUPFD_CLOEXEC"),
    (1031, "F_SETPIPE_SZ"),
    (1032, "F_GETPIPE_SZ"),
    (1033, "F_ADD_SEALS"),
    (1034, "F_GET_SEALS"),
    (1035, "F_GET_RW_HINT"),
    (1036, "F_SET_RW_HINT"),
    (1037, "F_GET_FILE_RW_HINT"),
    (1038, "F_SET_FILE_RW_HINT"),
];

pub(super) static CLOSE_RANGE: Set = bits(&[(2, "CLOSE_RANGE_UNSHARE"), (4, "CLOSE_RANGE_CLOEXEC")]);

const AT_BITS: &[Name] = &[
    (0x100, "AT_SYMLINK_NOFOLLOW"),
    (0x200, "AT_REMOVEDIR"),
    (0x400, "AT_SYMLINK_FOLLOW"),
    (0x800, "AT_NO_AUTOMOUNT"),
    (0x1000, "AT_EMPTY_PATH"),
    (0x8000, "AT_RECURSIVE"),
];

pub(super) static AT: Set = bits(AT_BITS);

pub(super) static AT_STATX: Set = Set {
    mask: 0x6000,
    choices: &[(0, "AT_STATX_SYNC_AS_STAT")],
    bits: &[
        (0x2000, "AT_STATX_FORCE_SYNC"),
        (0x4000, "AT_STATX_DONT_SYNC"),
        (0x100, "AT_SYMLINK_NOFOLLOW"),
        (0x200, "AT_REMOVEDIR"),
        (0x400, "AT_SYMLINK_FOLLOW"),
        (0x800, "AT_NO_AUTOMOUNT"),
        (0x1000, "AT_EMPTY_PATH"),
        (0x8000, "AT_RECURSIVE"),
    ],
    zero: None,
    page_size: None,
    wide: false,
};

pub(super) static AT_ACCESS: Set =
    bits(&[(0x100, "AT_SYMLINK_NOFOLLOW"), (0x200, "AT_EACCESS"), (0x1000, "AT_EMPTY_PATH")]);

pub(super) static AT_HANDLE: Set = bits(&[(0x400, "AT_SYMLINK_FOLLOW"), (0x1000, "AT_EMPTY_PATH")]);

pub(super) static OPEN_TREE: Set = bits(&[
    (1, "OPEN_TREE_CLONE"),
    (0x8_0000, "OPEN_TREE_CLOEXEC"),
    (0x100, "AT_SYMLINK_NOFOLLOW"),
    (0x200, "AT_REMOVEDIR"),
    (0x400, "AT_SYMLINK_FOLLOW"),
    (0x800, "AT_NO_AUTOMOUNT"),
    (0x1000, "AT_EMPTY_PATH"),
    (0x8000, "AT_RECURSIVE"),
]);

pub(super) static ACCESS: Set = Set { zero: Some("F_OK"), ..bits(&[(4, "R_OK"), (2, "W_OK"), (1, "X_OK")]) };

pub(super) static FALLOCATE: Set = bits(&[
    (1, "FALLOC_FL_KEEP_SIZE"),
    (2, "FALLOC_FL_PUNCH_HOLE"),
    (4, "FALLOC_FL_NO_HIDE_STALE"),
    (8, "FALLOC_FL_COLLAPSE_RANGE"),
    (0x10, "FALLOC_FL_ZERO_RANGE"),
    (0x20, "FALLOC_FL_INSERT_RANGE"),
    (0x40, "FALLOC_FL_UNSHARE_RANGE"),
]);

pub(super) static SET_ATTRIBUTE: Set = bits(&[(1, "XATTR_CREATE"), (2, "XATTR_REPLACE")]);

pub(super) static RENAME: Set =
    bits(&[(1, "RENAME_NOREPLACE"), (2, "RENAME_EXCHANGE"), (4, "RENAME_WHITEOUT")]);

pub(super) static MOUNT: Set = Set {
    mask: 0xffff_0000,
    choices: &[(0xc0ed_0000, "MS_MGC_VAL")],
    wide: true,
    ..bits(&[
        (1, "MS_RDONLY"),
        (2, "MS_NOSUID"),
        (4, "MS_NODEV"),
        (8, "MS_NOEXEC"),
        (0x10, "MS_SYNCHRONOUS"),
        (0x20, "MS_REMOUNT"),
        (0x40, "MS_MANDLOCK"),
        (0x80, "MS_DIRSYNC"),
        (0x100, "MS_NOSYMFOLLOW"),
        (0x400, "MS_NOATIME"),
        (0x800, "MS_NODIRATIME"),
        (0x1000, "MS_BIND"),
        (0x2000, "MS_MOVE"),
        (0x4000, "MS_REC"),
        (0x8000, "MS_SILENT"),
        (0x1_0000, "MS_POSIXACL"),
        (0x2_0000, "MS_UNBINDABLE"),
        (0x4_0000, "MS_PRIVATE"),
        (0x8_0000, "MS_SLAVE"),
        (0x10_0000, "MS_SHARED"),
        (0x20_0000, "MS_RELATIME"),
        (0x40_0000, "MS_KERNMOUNT"),
        (0x80_0000, "MS_I_VERSION"),
        (0x100_0000, "MS_STRICTATIME"),
        (0x200_0000, "MS_LAZYTIME"),
        (0x400_0000, "MS_SUBMOUNT"),
        (0x800_0000, "MS_NOREMOTELOCK"),
        (0x1000_0000, "MS_NOSEC"),
        (0x2000_0000, "MS_BORN"),
        (0x4000_0000, "MS_ACTIVE"),
        (0x8000_0000, "MS_NOUSER"),
    ])
};

pub(super) static UNMOUNT: Set =
    bits(&[(1, "MNT_FORCE"), (2, "MNT_DETACH"), (4, "MNT_EXPIRE"), (8, "UMOUNT_NOFOLLOW")]);

pub(super) static MOUNT_ATTRIBUTES: Set = bits(&[
    (0x100, "AT_SYMLINK_NOFOLLOW"),
    (0x800, "AT_NO_AUTOMOUNT"),
    (0x1000, "AT_EMPTY_PATH"),
    (0x8000, "AT_RECURSIVE"),
]);

pub(super) static MOVE_MOUNT: Set = bits(&[
    (1, "MOVE_MOUNT_F_SYMLINKS"),
    (2, "MOVE_MOUNT_F_AUTOMOUNTS"),
    (4, "MOVE_MOUNT_F_EMPTY_PATH"),
    (0x10, "MOVE_MOUNT_T_SYMLINKS"),
    (0x20, "MOVE_MOUNT_T_AUTOMOUNTS"),
    (0x40, "MOVE_MOUNT_T_EMPTY_PATH"),
    (0x100, "MOVE_MOUNT_SET_GROUP"),
    (0x200, "MOVE_MOUNT_BENEATH"),
]);

pub(super) static FSOPEN: Set = bits(&[(1, "FSOPEN_CLOEXEC")]);
pub(super) static FSMOUNT: Set = bits(&[(1, "FSMOUNT_CLOEXEC")]);
pub(super) static FSPICK: Set = bits(&[
    (1, "FSPICK_CLOEXEC"),
    (2, "FSPICK_SYMLINK_NOFOLLOW"),
    (4, "FSPICK_NO_AUTOMOUNT"),
    (8, "FSPICK_EMPTY_PATH"),
]);
pub(super) static FSCONFIG: &[Name] = &[
    (0, "FSCONFIG_SET_FLAG"),
    (1, "FSCONFIG_SET_STRING"),
    (2, "FSCONFIG_SET_BINARY"),
    (3, "FSCONFIG_SET_PATH"),
    (4, "FSCONFIG_SET_PATH_EMPTY"),
    (5, "FSCONFIG_SET_FD"),
    (6, "FSCONFIG_CMD_CREATE"),
    (7, "FSCONFIG_CMD_RECONFIGURE"),
    (8, "FSCONFIG_CMD_CREATE_EXCL"),
];

pub(super) static SWAP: Set = bits(&[
    (0x8000, "SWAP_FLAG_PREFER"),
    (0x1_0000, "SWAP_FLAG_DISCARD"),
    (0x2_0000, "SWAP_FLAG_DISCARD_ONCE"),
    (0x4_0000, "SWAP_FLAG_DISCARD_PAGES"),
]);

pub(super) static WATCH: Set = bits(&[
    (1, "IN_ACCESS"),
    (2, "IN_MODIFY"),
    (4, "IN_ATTRIB"),
    (8, "IN_CLOSE_WRITE"),
    (0x10, "IN_CLOSE_NOWRITE"),
    (0x20, "IN_OPEN"),
    (0x40, "IN_MOVED_FROM"),
    (0x80, "IN_MOVED_TO"),
    (0x100, "IN_CREATE"),
    (0x200, "IN_DELETE"),
    (0x400, "IN_DELETE_SELF"),
    (0x800, "IN_MOVE_SELF"),
    (0x2000, "IN_UNMOUNT"),
    (0x4000, "IN_Q_OVERFLOW"),
    (0x8000, "IN_IGNORED"),
    (0x100_0000, "IN_ONLYDIR"),
    (0x200_0000, "IN_DONT_FOLLOW"),
    (0x400_0000, "IN_EXCL_UNLINK"),
    (0x1000_0000, "IN_MASK_CREATE"),
    (0x2000_0000, "IN_MASK_ADD"),
    (0x4000_0000, "IN_ISDIR"),
    (0x8000_0000, "IN_ONESHOT"),
]);

pub(super) static INOTIFY: Set = bits(&[(0x800, "IN_NONBLOCK"), (0x8_0000, "IN_CLOEXEC")]);

pub(super) static FANOTIFY: Set = Set {
    mask: 0xc,
    choices: &[(0, "FAN_CLASS_NOTIF"), (4, "FAN_CLASS_CONTENT"), (8, "FAN_CLASS_PRE_CONTENT")],
    ..bits(&[
        (1, "FAN_CLOEXEC"),
        (2, "FAN_NONBLOCK"),
        (0x10, "FAN_UNLIMITED_QUEUE"),
        (0x20, "FAN_UNLIMITED_MARKS"),
        (0x40, "FAN_ENABLE_AUDIT"),
        (0x80, "FAN_REPORT_PIDFD"),
        (0x100, "FAN_REPORT_TID"),
        (0x200, "FAN_REPORT_FID"),
        (0x400, "FAN_REPORT_DIR_FID"),
        (0x800, "FAN_REPORT_NAME"),
        (0x1000, "FAN_REPORT_TARGET_FID"),
    ])
};

pub(super) static FANOTIFY_MARK: Set = bits(&[
    (1, "FAN_MARK_ADD"),
    (2, "FAN_MARK_REMOVE"),
    (4, "FAN_MARK_DONT_FOLLOW"),
    (8, "FAN_MARK_ONLYDIR"),
    (0x10, "FAN_MARK_MOUNT"),
    (0x20, "FAN_MARK_IGNORED_MASK"),
    (0x40, "FAN_MARK_IGNORED_SURV_MODIFY"),
    (0x80, "FAN_MARK_FLUSH"),
    (0x100, "FAN_MARK_FILESYSTEM"),
    (0x200, "FAN_MARK_EVICTABLE"),
    (0x400, "FAN_MARK_IGNORE"),
]);

pub(super) static EVENTFD: Set =
    bits(&[(1, "EFD_SEMAPHORE"), (0x8_0000, "EFD_CLOEXEC"), (0x800, "EFD_NONBLOCK")]);
pub(super) static SIGNALFD: Set = bits(&[(0x8_0000, "SFD_CLOEXEC"), (0x800, "SFD_NONBLOCK")]);
pub(super) static TIMERFD: Set = bits(&[
    (1, "TFD_TIMER_ABSTIME"),
    (2, "TFD_TIMER_CANCEL_ON_SET"),
    (0x8_0000, "TFD_CLOEXEC"),
    (0x800, "TFD_NONBLOCK"),
]);
pub(super) static MEMFD: Set = Set {
    page_size: Some((26, "MFD_HUGE_SHIFT")),
    ..bits(&[
        (1, "MFD_CLOEXEC"),
        (2, "MFD_ALLOW_SEALING"),
        (4, "MFD_HUGETLB"),
        (8, "MFD_NOEXEC_SEAL"),
        (0x10, "MFD_EXEC"),
    ])
};
pub(super) static USERFAULTFD: Set =
    bits(&[(1, "UFFD_USER_MODE_ONLY"), (0x800, "O_NONBLOCK"), (0x8_0000, "O_CLOEXEC")]);
pub(super) static PERF: Set = Set {
    wide: true,
    ..bits(&[
        (1, "PERF_FLAG_FD_NO_GROUP"),
        (2, "PERF_FLAG_FD_OUTPUT"),
        (4, "PERF_FLAG_PID_CGROUP"),
        (8, "PERF_FLAG_FD_CLOEXEC"),
    ])
};
pub(super) static PIDFD: Set = bits(&[(0x800, "PIDFD_NONBLOCK")]);
pub(super) static EPOLL: Set = bits(&[(0x8_0000, "EPOLL_CLOEXEC")]);
pub(super) static EPOLL_CONTROL: &[Name] =
    &[(1, "EPOLL_CTL_ADD"), (2, "EPOLL_CTL_DEL"), (3, "EPOLL_CTL_MOD")];
pub(super) static RING_ENTER: Set = bits(&[
    (1, "IORING_ENTER_GETEVENTS"),
    (2, "IORING_ENTER_SQ_WAKEUP"),
    (4, "IORING_ENTER_SQ_WAIT"),
    (8, "IORING_ENTER_EXT_ARG"),
    (0x10, "IORING_ENTER_REGISTERED_RING"),
    (0x20, "IORING_ENTER_ABS_TIMER"),
    (0x40, "IORING_ENTER_EXT_ARG_REG"),
]);

const NODE_TYPES: &[Name] = &[
    (0o140_000, "S_IFSOCK"),
    (0o120_000, "S_IFLNK"),
    (0o100_000, "S_IFREG"),
    (0o060_000, "S_IFBLK"),
    (0o040_000, "S_IFDIR"),
    (0o020_000, "S_IFCHR"),
    (0o010_000, "S_IFIFO"),
];
const NODE_BITS: &[Name] = &[(0o4000, "S_ISUID"), (0o2000, "S_ISGID"), (0o1000, "S_ISVTX")];

/// `S_IFIFO|0644`
pub(super) fn write_node(mode: u64, bytes: &mut Vec<u8>) -> Stored {
    let (start, kind) = (bytes.len(), mode & 0o170_000);
    let name = NODE_TYPES.iter().find(|(number, _)| *number == kind);
    if kind != 0 && name.is_none() {
        return Stored::Int(mode as i64);
    }
    for (_, name) in name.into_iter().chain(NODE_BITS.iter().filter(|(bit, _)| mode & bit != 0)) {
        push(name, start, bytes);
    }
    if bytes.len() == start {
        return Stored::Int(mode as i64);
    }
    let _ = write!(bytes, "|{}", Octal(mode & 0o777));
    Stored::Symbols(ByteRange::since(start, bytes))
}
