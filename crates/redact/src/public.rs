//! What is public: words of systems and programs that say nothing of who uses them. Everything else is replaced.
//!
//! The words are lists (`lists/*.txt`) and a few patterns with short numbers. A list cannot leak a name: whoever reads a kept
//! word learns that it is in the list.

use iotrail_model::calls;
use iotrail_model::requests::Requests;
use iotrail_query::preset::extension;
use std::collections::HashSet;
use std::sync::LazyLock;

type Words = LazyLock<HashSet<&'static str>>;

/// With those of the other names that are kept: an ending is kept everywhere or nowhere.
static ENDINGS: Words = LazyLock::new(|| {
    let kept = [&SYSTEM, &LIBRARIES, &PROGRAMS].into_iter().flat_map(|words| words.iter());
    let of_kept = kept.filter_map(|name| extension(name)).map(|ending| &ending[1..]);
    let mut endings = words(include_str!("lists/endings.txt"));
    endings.extend(of_kept.filter(|ending| **ending == ending.to_ascii_lowercase()));
    endings
});
static ERRORS: Words = LazyLock::new(|| words(include_str!("lists/errors.txt")));
static FLAGS: Words = LazyLock::new(|| words(include_str!("lists/flags.txt")));
static LIBRARIES: Words = LazyLock::new(|| words(include_str!("lists/libraries.txt")));
static MPI: Words = LazyLock::new(|| iotrail_mpi_abi::functions().map(|function| function.name).collect());
static OPTIONS: Words = LazyLock::new(|| words(include_str!("lists/options.txt")));
static PROGRAMS: Words = LazyLock::new(|| words(include_str!("lists/programs.txt")));
static SYSTEM: Words = LazyLock::new(|| words(include_str!("lists/system.txt")));
static VARIABLES: Words = LazyLock::new(|| words(include_str!("lists/variables.txt")));

/// Directories whose names are the same on every machine, wherever they are.
const ANYWHERE: [&str; 11] = [
    "lib64",
    "node_modules",
    "bin",
    "lib",
    "libexec",
    "share",
    "include",
    "gconv",
    "site-packages",
    "dist-packages",
    "__pycache__",
];
/// Directories right below the root whose own names tell nothing.
const TOP: [&str; 27] = [
    "bin",
    "boot",
    "data",
    "dev",
    "etc",
    "home",
    "lib",
    "lib32",
    "lib64",
    "media",
    "mnt",
    "opt",
    "proc",
    "root",
    "run",
    "sbin",
    "scratch",
    "srv",
    "sys",
    "tmp",
    "users",
    "usr",
    "var",
    "work",
    "nix",
    "snap",
    "lost+found",
];
/// Directories right below `/var`.
const VAR: [&str; 8] = ["tmp", "log", "lib", "cache", "run", "spool", "lock", "mail"];
/// Names of namespaces and of other objects of the kernel, as in `net:[4026531840]`.
const OBJECTS: [&str; 20] = [
    "cgroup",
    "ipc",
    "mnt",
    "net",
    "pid",
    "pid_for_children",
    "time",
    "time_for_children",
    "user",
    "uts",
    "pipe",
    "socket",
    "pidfd",
    "signalfd",
    "eventfd",
    "timerfd",
    "eventpoll",
    "inotify",
    "fanotify",
    "memfd",
];
/// What `anon_inode:` is followed by.
const ANONYMOUS: [&str; 22] = [
    "eventfd",
    "eventpoll",
    "timerfd",
    "signalfd",
    "inotify",
    "fanotify",
    "io_uring",
    "perf_event",
    "pidfd",
    "userfaultfd",
    "bpf-map",
    "bpf-prog",
    "bpf_link",
    "btf",
    "seccomp",
    "seccomp notify",
    "dmabuf",
    "sync_file",
    "kvm-vm",
    "kvm-vcpu",
    "landlock-ruleset",
    "mount",
];
/// What sockets are called after.
const SOCKETS: [&str; 20] = [
    "TCP",
    "TCPv6",
    "UDP",
    "UDPv6",
    "UDPLITE",
    "UDPLITEv6",
    "RAW",
    "RAWv6",
    "PING",
    "PINGv6",
    "ICMP",
    "SCTP",
    "UNIX",
    "UNIX-STREAM",
    "UNIX-DGRAM",
    "UNIX-SEQPACKET",
    "NETLINK",
    "PACKET",
    "VSOCK",
    "MPTCP",
];
/// Signals, without `SIG`.
const SIGNALS: [&str; 34] = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "IOT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE",
    "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ",
    "VTALRM", "PROF", "WINCH", "IO", "POLL", "PWR", "SYS", "RTMIN",
];
/// The longest number that is kept where a small number is all there can be.
const SHORT: usize = 3;

fn words(list: &'static str) -> HashSet<&'static str> {
    list.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace).collect()
}

/// An ending without its dot.
pub(crate) fn is_ending(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    ENDINGS.contains(&*lower) && (text == lower || text == text.to_ascii_uppercase() || text.len() == 1)
}

/// `SIGTERM`, `SIGRT_7`.
pub(crate) fn is_signal(name: &str) -> bool {
    name.strip_prefix("SIG").is_some_and(|name| {
        SIGNALS.contains(&name)
            || ["RT_", "RTMIN+", ""].iter().any(|real| name.strip_prefix(real).is_some_and(is_short_number))
    }) || is_short_number(name)
}

/// Calls of the kernel and of MPI. Functions of other libraries may be the program's own.
pub(crate) fn is_call(name: &str) -> bool {
    calls::named(name).is_some() || is_mpi(name) || is_numbered_call(name)
}

/// Functions of MPI.
pub(crate) fn is_mpi(name: &str) -> bool {
    MPI.contains(name)
}

/// No kernel has so many calls.
const NO_CALL: u32 = 1024;

/// `syscall_0x1c2`: a call that had no name yet.
fn is_numbered_call(name: &str) -> bool {
    let Some(written) = name.strip_prefix("syscall_") else { return false };
    let number = match written.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => written.parse().ok(),
    };
    // The same number could be written in many ways, and what is written may be a text.
    let is_plain = |number: &u32| written == format!("{number:#x}") || written == number.to_string();
    number.is_some_and(|number| number < NO_CALL && is_plain(&number))
}

pub(crate) fn is_error(name: &str) -> bool {
    ERRORS.contains(name)
}

pub(crate) fn is_option_name(name: &str) -> bool {
    OPTIONS.contains(name)
}

pub(crate) fn is_variable(name: &str) -> bool {
    VARIABLES.contains(name)
}

pub(crate) fn is_anywhere(component: &str) -> bool {
    ANYWHERE.contains(&component)
}

/// Whether the component number `depth` (from 0) below `parent` is one that every machine has.
pub(crate) fn is_top(parent: Option<&str>, component: &str) -> bool {
    match parent {
        None => TOP.contains(&component),
        Some("var") => VAR.contains(&component),
        Some(_) => false,
    }
}

/// `python3.11` in a directory `lib`: the library of an interpreter, wherever it is installed.
pub(crate) fn is_interpreter(parent: &str, name: &str) -> bool {
    let is_library = matches!(parent, "lib" | "lib64" | "share") || is_architecture(parent);
    let known = |known: &&str| name.strip_prefix(*known).is_some_and(is_short_version);
    is_library && ["python", "perl", "ruby", "R", "tcl"].iter().any(known)
}

/// `x86_64-linux-gnu`.
pub(crate) fn is_architecture(name: &str) -> bool {
    name.ends_with("-linux-gnu") && SYSTEM.contains(name)
}

pub(crate) fn is_object(kind: &str) -> bool {
    OBJECTS.contains(&kind)
}

pub(crate) fn is_anonymous(kind: &str) -> bool {
    ANONYMOUS.contains(&kind)
}

pub(crate) fn is_socket(kind: &str) -> bool {
    SOCKETS.contains(&kind)
}

/// Programs of which several versions are installed side by side; of any other a number would be somebody's.
const VERSIONED: [&str; 27] = [
    "aclocal",
    "automake",
    "clang",
    "clang++",
    "clangd",
    "cpp",
    "g++",
    "gcc",
    "gcc-ar",
    "gcc-nm",
    "gcc-ranlib",
    "gcov",
    "gdb",
    "gfortran",
    "lld",
    "llvm-ar",
    "llvm-nm",
    "lua",
    "luac",
    "perl",
    "php",
    "pip",
    "pydoc",
    "pypy",
    "python",
    "ruby",
    "tclsh",
];
/// Digits of each of the two numbers of a version of a program.
const VERSION_DIGITS: usize = 2;

/// `make`, `python3.11`, `gcc-12`.
pub(crate) fn is_program(name: &str) -> bool {
    PROGRAMS.contains(name) || is_versioned_program(name)
}

/// `python3.11`, `x86_64-linux-gnu-gcc-12`.
fn is_versioned_program(name: &str) -> bool {
    let target = name.find("-linux-gnu-").map(|at| at + "-linux-gnu-".len());
    let (target, tool) = name.split_at(target.unwrap_or(0));
    let base = unversioned(tool);
    VERSIONED.contains(&base)
        && (target.is_empty() || is_architecture(target.trim_end_matches('-')))
        && is_short_version(&tool[base.len()..])
}

/// A component of a path within a directory of the system.
pub(crate) fn is_system_name(name: &str) -> bool {
    SYSTEM.contains(name) || is_library(name) || is_module(name) || is_versioned_directory(name)
}

/// `libc.so.6`, `libm-2.36.so`.
pub(crate) fn is_library(name: &str) -> bool {
    let Some((base, version)) = name.split_once(".so") else { return false };
    if LIBRARIES.contains(base) {
        return is_version(version);
    }
    let stem = unversioned(base);
    // Both versions are one text to whoever reads the name.
    let (before, behind) =
        (base[stem.len()..].trim_start_matches(['.', '-']), version.trim_start_matches('.'));
    let both = [before, behind].iter().filter(|version| !version.is_empty()).copied().collect::<Vec<_>>();
    LIBRARIES.contains(stem)
        && is_version(&base[stem.len()..])
        && is_version(version)
        && is_version(&both.join("."))
}

/// `os.cpython-311.pyc`, `_bz2.cpython-311-x86_64-linux-gnu.so`.
fn is_module(name: &str) -> bool {
    let Some((stem, tag)) = name.split_once(".cpython-3") else { return false };
    let digits = tag.len() - tag.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let tag = &tag[digits..];
    let known = SYSTEM.contains(&*format!("{stem}.py")) || SYSTEM.contains(stem);
    let tags = [".pyc", ".opt-1.pyc", ".opt-2.pyc", "-x86_64-linux-gnu.so", "-aarch64-linux-gnu.so"];
    known && digits <= VERSION_DIGITS && tags.contains(&tag)
}

/// `python3.11`, `gcc` beside `12`.
fn is_versioned_directory(name: &str) -> bool {
    let base = unversioned(name);
    matches!(base, "" | "python" | "perl" | "gcc" | "ruby" | "llvm") && is_short_version(&name[base.len()..])
}

/// Numbered and lettered devices: `tty1`, `cpu12`, `sda1`, `nvme0n1p2`.
pub(crate) fn is_device(name: &str) -> bool {
    let numbered =
        ["tty", "ttyS", "cpu", "node", "loop", "dm-", "md", "sr", "policy", "index", "state", "event"];
    let rest = |prefix: &&str| name.strip_prefix(*prefix).is_some_and(is_short_number);
    let disk = |prefix: &&str| {
        name.strip_prefix(*prefix).is_some_and(|rest| {
            let digits = rest.trim_start_matches(|c: char| c.is_ascii_lowercase());
            (1..=2).contains(&(rest.len() - digits.len())) && (digits.is_empty() || is_short_number(digits))
        })
    };
    let nvme = || {
        let parts = name.strip_prefix("nvme")?.split_once('n')?;
        let (space, part) = parts.1.split_once('p').unwrap_or((parts.1, "1"));
        Some([parts.0, space, part].into_iter().all(is_short_number))
    };
    numbered.iter().any(rest) || ["sd", "vd", "xvd", "hd"].iter().any(disk) || nvme().unwrap_or(false)
}

/// A name without the numbers of a version behind it.
fn unversioned(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').trim_end_matches('-')
}

/// Four numbers may be an address. Behind names of libraries three are a version, anywhere else a date.
const GROUPS: usize = 3;

/// `.6.0.30`, `3.11`, `-12`, nothing: numbers that are too short and too few to be anything else.
fn is_version(text: &str) -> bool {
    let text = text.trim_start_matches(['.', '-']);
    text.len() <= 8
        && text.split('.').count() <= GROUPS
        && (text.is_empty() || text.split('.').all(|number| number.is_empty() || is_short_number(number)))
}

/// `3.11`, `-12`: one or two numbers of a version, each of two digits at most.
fn is_short_version(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    let short = |number: &str| (1..=VERSION_DIGITS).contains(&number.len()) && is_number(number);
    text.split('.').count() <= 2 && text.split('.').all(short)
}

/// A number of at most three digits.
pub(crate) fn is_short_number(text: &str) -> bool {
    (1..=SHORT).contains(&text.len()) && is_number(text)
}

/// The number of what the kernel makes without a disk, which has 32 bits.
pub(crate) fn is_inode(text: &str) -> bool {
    is_number(text) && text.parse::<u32>().is_ok()
}

/// The kernel numbers no more processes.
pub(crate) const MOST_PROCESSES: u32 = 1 << 22;

/// A number that a process can have.
pub(crate) fn is_process(text: &str) -> bool {
    is_number(text) && text.parse().is_ok_and(|number: u32| number <= MOST_PROCESSES)
}

pub(crate) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text says which requests of MPI a call is about, and no word that is not public.
pub(crate) fn are_requests(text: &str) -> bool {
    Requests::parse(text).is_some_and(|requests| requests.by.is_none_or(is_call))
}

/// Flags that have no name are one number, beside a mode or behind a shift; four may be an address.
const NUMBERS_OF_FLAGS: usize = 2;

/// Flags as a copy shows them: symbols of the kernel and few numbers no longer than the kernel's stay; whatever else stands there may be a
/// name and is replaced by what `hash` makes of it.
pub(crate) fn flags(text: &str, hash: &impl Fn(&str) -> String) -> String {
    let mut numbers = 0;
    let mut out = String::with_capacity(text.len());
    for piece in text.split_inclusive(['|', ' ', '~', '<']) {
        let word = piece.trim_end_matches(['|', ' ', '~', '<']);
        let is_number = word.starts_with(|first: char| first.is_ascii_digit());
        numbers += usize::from(is_number);
        let is_flag = FLAGS.contains(word) || is_signal(word) || is_number_of_flags(word);
        let stays = word.is_empty() || is_flag && (!is_number || numbers <= NUMBERS_OF_FLAGS);
        out.push_str(&if stays { word.to_owned() } else { hash(word) });
        out.push_str(&piece[word.len()..]);
    }
    out
}

/// A number in octal, as modes are written, or 32 bits in hexadecimal.
fn is_number_of_flags(word: &str) -> bool {
    let has = |digits: &str, most: usize, is_digit: fn(u8) -> bool| {
        (1..=most).contains(&digits.len()) && digits.bytes().all(is_digit)
    };
    let hexadecimal = word.strip_prefix("0x").is_some_and(|digits| has(digits, 8, |b| b.is_ascii_hexdigit()));
    let octal = || word.starts_with('0') && has(word, 7, |byte| matches!(byte, b'0'..=b'7'));
    hexadecimal || octal()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_calls_are_public_if_the_kernel_or_mpi_has_them() {
        for call in ["openat", "MPI_Allreduce", "MPI_File_write_at_all", "syscall_0x1c2"] {
            assert!(is_call(call), "{call}");
        }
        for call in [
            "MPI_Secret",
            "solve_for_acme",
            "syscall_secret",
            "syscall_0x5ec7",
            "syscall_+5",
            "syscall_4096",
            "syscall_0x00000000000000000000001",
            "syscall_007",
            "syscall_0xAB",
        ] {
            assert!(!is_call(call), "{call}");
        }
    }

    #[test]
    fn words_of_systems_are_known_and_names_among_them_are_not() {
        for name in
            ["libc.so.6", "libstdc++.so.6.0.30", "python3.11", "os.cpython-311.pyc", "os.py", "5.36", "12"]
        {
            assert!(is_system_name(name), "{name}");
        }
        assert!(
            is_device("sda1") && is_device("nvme0n1p2") && !is_device("sdquokka") && !is_device("cpu123456")
        );
        for name in [
            "libquokka.so.6",
            "libc.so.quokka",
            "libc.so.123456789",
            "libm-192.168.so.17.5",
            "libz-99.20.11.so.31.12.19",
            "407",
            "quokka.cpython-311.pyc",
            "quokka",
            "python24.05.13",
            "perl.555.12",
            "ruby-12.05.87",
            "555.867",
            "os.cpython-34111111111111111.pyc",
            "node17",
            "sdab",
        ] {
            assert!(!is_system_name(name), "{name}");
        }
        assert!(is_interpreter("lib", "python3.11") && !is_interpreter("lib", "python24.05.13"));
        assert!(is_program("python3.11") && is_program("gcc-12") && is_program("mAdd"));
        assert!(is_program("x86_64-linux-gnu-gcc-12") && !is_program("quokka-linux-gnu-gcc-12"));
        for name in [
            "quokka",
            "node17",
            "go24.12",
            "ld07.95",
            "make-123456",
            "12",
            "id12.05.87",
            "date87",
            "ls-407",
            "git-5.6.78",
            "python12.05.87",
            "python407",
            "gcc-",
        ] {
            assert!(!is_program(name), "{name}");
        }
        assert!(is_system_name("libc.mo") && is_ending("mo"), "an ending is kept everywhere or nowhere");
        assert!(is_ending("fits") && is_ending("FITS") && !is_ending("quokka") && !is_ending("Fits"));
    }

    #[test]
    fn flags_are_symbols_and_numbers() {
        for text in [
            "O_RDONLY|O_CLOEXEC",
            "0x1f",
            "F_SETLKW|F_WRLCK",
            "0644",
            "S_IFREG|0644",
            "~O_APPEND",
            "SIGCHLD",
            "TCGETS",
            "",
        ] {
            assert_eq!(flags(text, &|_| "hash".to_owned()), text);
        }
        for text in [
            "QUOKKA",
            "O_RDONLY|quokka",
            "QUOKKA_1",
            "O_QUOKKA",
            "CLONE_QUOKKA|CLONE_VM",
            "O_RDONLY<<quokka",
            "O_RDONLY O_QUOKKA",
            "SIGQUOKKA",
            "RT_QUOKKA",
            "__O_QUOKKA",
            "0xquokka",
            "0xdeadbeefcafe",
            "O_RDONLY|201|212|131|144",
            "0201 0212 0131 0144",
            "O_RDONLY|0xc9|0xd4|0x83|0x90",
            "4071234567",
            "04071234567",
        ] {
            assert!(flags(text, &|_| "hash".to_owned()).contains("hash"), "{text}");
        }
    }

    #[test]
    fn beside_a_name_flags_stay() {
        let seen = flags("O_RDWR|O_QUOKKA|201|212|131|O_CREAT", &|_| "hash".to_owned());
        assert_eq!(seen, "O_RDWR|hash|201|212|hash|O_CREAT");
    }

    /// Symbols that the recorder writes. Its crate is not below this one; its tables are text like any other.
    #[test]
    fn every_symbol_of_a_recording_is_public() {
        let tables = concat!(env!("CARGO_MANIFEST_DIR"), "/../decode/src/symbols");
        let mut count = 0;
        let tables = std::fs::read_dir(tables).unwrap().map(|entry| entry.unwrap().path());
        for table in tables.filter(|path| path.is_file()) {
            let text = std::fs::read_to_string(table).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap();
            for word in code.split('"').skip(1).step_by(2).filter(|word| {
                let letters = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
                word.len() > 3 && word.bytes().all(letters) && !word.ends_with('_')
            }) {
                assert_eq!(flags(word, &|_| "hash".to_owned()), word);
                count += 1;
            }
        }
        assert!(count > 800, "{count}");
    }

    #[test]
    fn the_lists_are_whole() {
        for list in [&*ENDINGS, &*ERRORS, &*FLAGS, &*LIBRARIES, &*OPTIONS, &*PROGRAMS, &*SYSTEM, &*VARIABLES]
        {
            assert!(list.len() > 100);
        }
        assert!(ENDINGS.iter().all(|ending| ending.len() <= 12 && *ending == ending.to_ascii_lowercase()));
    }
}
