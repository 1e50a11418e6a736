//! Symbols of calls on memory.

use super::{Name, Octal, Set, bits, push};
use crate::stored::{ByteRange, Stored};
use std::io::Write as _;

pub(super) static PROTECTION: Set = Set {
    zero: Some("PROT_NONE"),
    wide: true,
    ..bits(&[
        (1, "PROT_READ"),
        (2, "PROT_WRITE"),
        (4, "PROT_EXEC"),
        (8, "PROT_SEM"),
        (0x100_0000, "PROT_GROWSDOWN"),
        (0x200_0000, "PROT_GROWSUP"),
    ])
};

pub(super) static MAP: Set = Set {
    mask: 0xf,
    choices: &[(0, "MAP_FILE"), (1, "MAP_SHARED"), (2, "MAP_PRIVATE"), (3, "MAP_SHARED_VALIDATE")],
    page_size: Some((26, "MAP_HUGE_SHIFT")),
    ..bits(&[
        (0x10, "MAP_FIXED"),
        (0x20, "MAP_ANONYMOUS"),
        (0x40, "MAP_32BIT"),
        (0x4000, "MAP_NORESERVE"),
        (0x8000, "MAP_POPULATE"),
        (0x1_0000, "MAP_NONBLOCK"),
        (0x100, "MAP_GROWSDOWN"),
        (0x800, "MAP_DENYWRITE"),
        (0x1000, "MAP_EXECUTABLE"),
        (0x2000, "MAP_LOCKED"),
        (0x2_0000, "MAP_STACK"),
        (0x4_0000, "MAP_HUGETLB"),
        (0x8_0000, "MAP_SYNC"),
        (0x10_0000, "MAP_FIXED_NOREPLACE"),
    ])
};

pub(super) static REMAP: Set =
    Set { wide: true, ..bits(&[(1, "MREMAP_MAYMOVE"), (2, "MREMAP_FIXED"), (4, "MREMAP_DONTUNMAP")]) };

pub(super) static SYNC: Set = bits(&[(4, "MS_SYNC"), (1, "MS_ASYNC"), (2, "MS_INVALIDATE")]);

pub(super) static ADVICE: &[Name] = &[
    (0, "MADV_NORMAL"),
    (1, "MADV_RANDOM"),
    (2, "MADV_SEQUENTIAL"),
    (3, "MADV_WILLNEED"),
    (4, "MADV_DONTNEED"),
    (8, "MADV_FREE"),
    (9, "MADV_REMOVE"),
    (10, "MADV_DONTFORK"),
    (11, "MADV_DOFORK"),
    (12, "MADV_MERGEABLE"),
    (13, "MADV_UNMERGEABLE"),
    (14, "MADV_HUGEPAGE"),
    (15, "MADV_NOHUGEPAGE"),
    (16, "MADV_DONTDUMP"),
    (17, "MADV_DODUMP"),
    (18, "MADV_WIPEONFORK"),
    (19, "MADV_KEEPONFORK"),
    (20, "MADV_COLD"),
    (21, "MADV_PAGEOUT"),
    (22, "MADV_POPULATE_READ"),
    (23, "MADV_POPULATE_WRITE"),
    (24, "MADV_DONTNEED_LOCKED"),
    (25, "MADV_COLLAPSE"),
    (100, "MADV_HWPOISON"),
    (101, "MADV_SOFT_OFFLINE"),
    (102, "MADV_GUARD_INSTALL"),
    (103, "MADV_GUARD_REMOVE"),
];

pub(super) static LOCK: Set = bits(&[(1, "MLOCK_ONFAULT")]);
pub(super) static LOCK_ALL: Set = bits(&[(1, "MCL_CURRENT"), (2, "MCL_FUTURE"), (4, "MCL_ONFAULT")]);

pub(super) static ATTACH: Set =
    bits(&[(0x1000, "SHM_RDONLY"), (0x2000, "SHM_RND"), (0x4000, "SHM_REMAP"), (0x8000, "SHM_EXEC")]);

pub(super) static SEGMENT_CONTROL: &[Name] = &[
    (0, "IPC_RMID"),
    (1, "IPC_SET"),
    (2, "IPC_STAT"),
    (3, "IPC_INFO"),
    (11, "SHM_LOCK"),
    (12, "SHM_UNLOCK"),
    (13, "SHM_STAT"),
    (14, "SHM_INFO"),
    (15, "SHM_STAT_ANY"),
];

static SEGMENT: &[Name] =
    &[(0o1000, "IPC_CREAT"), (0o2000, "IPC_EXCL"), (0o4000, "SHM_HUGETLB"), (0o1_0000, "SHM_NORESERVE")];

/// `IPC_CREAT|0600`
pub(super) fn write_segment(flags: u64, bytes: &mut Vec<u8>) -> Stored {
    const HUGE_SHIFT: u32 = 26;
    let (start, mode, size) = (bytes.len(), flags & 0o777, flags >> HUGE_SHIFT & 0x3f);
    let mut rest = flags & !0o777 & !(size << HUGE_SHIFT);
    for (bit, name) in SEGMENT.iter().filter(|(bit, _)| flags & bit != 0) {
        push(name, start, bytes);
        rest &= !bit;
    }
    if rest != 0 {
        push(&format!("{rest:#x}"), start, bytes);
    }
    if size != 0 {
        push(&format!("{size}<<SHM_HUGE_SHIFT"), start, bytes);
    }
    if bytes.len() == start {
        return Stored::Int(mode as i64);
    }
    let _ = write!(bytes, "|{}", Octal(mode));
    Stored::Symbols(ByteRange::since(start, bytes))
}
