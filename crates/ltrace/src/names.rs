//! Names of system calls: ltrace has those of an old table, and numbers for what is younger than it.

/// What ltrace calls otherwise than the kernel.
const OLD: [(&[u8], &[u8]); 4] =
    [(b"pread", b"pread64"), (b"pwrite", b"pwrite64"), (b"sendfile64", b"sendfile"), (b"umount", b"umount2")];

/// Numbers of x86-64 that ltrace 0.7 has no names for; from 424 on all architectures share them.
#[rustfmt::skip]
const YOUNG: [(u32, &[u8]); 47] = [
    (303, b"name_to_handle_at"), (304, b"open_by_handle_at"), (306, b"syncfs"), (308, b"setns"), (309, b"getcpu"),
    (310, b"process_vm_readv"), (311, b"process_vm_writev"), (314, b"sched_setattr"), (315, b"sched_getattr"),
    (316, b"renameat2"), (317, b"seccomp"), (318, b"getrandom"), (319, b"memfd_create"), (321, b"bpf"),
    (322, b"execveat"), (323, b"userfaultfd"), (324, b"membarrier"), (325, b"mlock2"), (326, b"copy_file_range"),
    (327, b"preadv2"), (328, b"pwritev2"), (332, b"statx"), (333, b"io_pgetevents"), (334, b"rseq"),
    (424, b"pidfd_send_signal"), (425, b"io_uring_setup"), (426, b"io_uring_enter"), (427, b"io_uring_register"),
    (428, b"open_tree"), (429, b"move_mount"), (430, b"fsopen"), (431, b"fsconfig"), (432, b"fsmount"),
    (433, b"fspick"), (434, b"pidfd_open"), (435, b"clone3"), (436, b"close_range"), (437, b"openat2"),
    (438, b"pidfd_getfd"), (439, b"faccessat2"), (440, b"process_madvise"), (441, b"epoll_pwait2"),
    (442, b"mount_setattr"), (448, b"process_mrelease"), (449, b"futex_waitv"), (451, b"cachestat"), (452, b"fchmodat2"),
];

/// The kernel's name of the system call that ltrace calls `name`.
pub(crate) fn system_call(name: &[u8]) -> &[u8] {
    if let Some((_, name)) = OLD.iter().find(|(old, _)| *old == name) {
        return name;
    }
    let number = std::str::from_utf8(name).ok().and_then(|name| name.parse::<u32>().ok());
    let young = number.and_then(|number| YOUNG.iter().find(|(young, _)| *young == number));
    young.map_or(name, |(_, name)| name)
}

/// Functions of libraries that open the file which their first argument names, by a system call of their own.
const OPENERS: [&[u8]; 6] = [b"open", b"open64", b"creat", b"creat64", b"fopen", b"fopen64"];

/// Whether the first file that is opened within a function is the one that its first argument names.
pub(crate) fn opens_its_argument(function: &[u8]) -> bool {
    OPENERS.contains(&function)
}

/// Whether this is a function of a library and no system call, so that a line that begins with it is of ltrace.
pub(crate) fn is_of_library(name: &[u8]) -> bool {
    FAMILIES.iter().any(|family| name.starts_with(family))
        || name.ends_with(b"printf")
        || name.ends_with(b"scanf")
        || FUNCTIONS.contains(&name)
}

/// How functions of libraries begin, and no system call does.
const FAMILIES: [&[u8]; 9] = [b"pthread_", b"sem_", b"str", b"wcs", b"__", b"_Z", b"_IO_", b"MPI_", b"omp_"];

/// Common functions of the C library.
const FUNCTIONS: [&[u8]; 18] = [
    b"__libc_start_main",
    b"fopen",
    b"fopen64",
    b"fclose",
    b"fread",
    b"fwrite",
    b"fgets",
    b"fputs",
    b"puts",
    b"printf",
    b"fprintf",
    b"malloc",
    b"calloc",
    b"free",
    b"strlen",
    b"memcpy",
    b"getenv",
    b"setlocale",
];
