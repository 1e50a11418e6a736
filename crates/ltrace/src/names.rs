//! Names of system calls: ltrace has those of an old table, and numbers for what is younger than it.

use iotrail_model::calls::numbers::shared;

/// What ltrace calls otherwise than the kernel.
const OLD: [(&[u8], &[u8]); 4] =
    [(b"pread", b"pread64"), (b"pwrite", b"pwrite64"), (b"sendfile64", b"sendfile"), (b"umount", b"umount2")];

/// Numbers of x86-64 below those that all architectures share, for which ltrace 0.7 has no names.
#[rustfmt::skip]
const YOUNG: [(u32, &str); 24] = [
    (303, "name_to_handle_at"), (304, "open_by_handle_at"), (306, "syncfs"), (308, "setns"), (309, "getcpu"),
    (310, "process_vm_readv"), (311, "process_vm_writev"), (314, "sched_setattr"), (315, "sched_getattr"),
    (316, "renameat2"), (317, "seccomp"), (318, "getrandom"), (319, "memfd_create"), (321, "bpf"),
    (322, "execveat"), (323, "userfaultfd"), (324, "membarrier"), (325, "mlock2"), (326, "copy_file_range"),
    (327, "preadv2"), (328, "pwritev2"), (332, "statx"), (333, "io_pgetevents"), (334, "rseq"),
];

/// The kernel's name of the system call that ltrace calls `name`.
pub(crate) fn system_call(name: &[u8]) -> &[u8] {
    if let Some((_, name)) = OLD.iter().find(|(old, _)| *old == name) {
        return name;
    }
    let number = std::str::from_utf8(name).ok().and_then(|name| name.parse::<u32>().ok());
    let young = |number| Some(YOUNG.iter().find(|(young, _)| *young == number)?.1);
    number.and_then(|number| young(number).or_else(|| shared(number))).map_or(name, str::as_bytes)
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
