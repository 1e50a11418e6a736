//! Names without accidental numbers.
//!
//! `pipe:[4711]` and `/proc/815/stat` differ between any two runs, so a graph over exact names falls apart into as many
//! nodes as there were pipes and processes (22,746 nodes instead of 76 on one `make`). The canonical name stands beside
//! the exact one in the table `files`, and mappings use it.
//!
//! The names of what is no file are those of the kernel's `/proc/PID/fd` and of strace's `-yy`.

use std::borrow::Cow;

const NAMESPACES: [&str; 10] =
    ["cgroup", "ipc", "mnt", "net", "pid", "pid_for_children", "time", "time_for_children", "user", "uts"];

/// The canonical form of the exact name `path`. Applying it twice changes nothing.
///
/// | exact | canonical |
/// |---|---|
/// | `pipe:[4711]` | `pipe` |
/// | `socket:[9]` | `socket` |
/// | `TCP:[127.0.0.1:80->127.0.0.1:9]`, `UNIX-STREAM:[7->8,"/run/x"]` | `socket:TCP`, `socket:UNIX-STREAM` |
/// | `anon_inode:[eventpoll]` | `anon_inode:eventpoll` |
/// | `pidfd:[77]`, `signalfd:[HUP]` | `pidfd`, `signalfd` |
/// | `net:[4026531840]` and the other namespaces | `namespace:net` |
/// | `/memfd:x`, `memfd:x`, each with or without ` (deleted)` | `memfd:x` |
/// | `/proc/77`, `/proc/77/task/78/stat` | `/proc/[pid]`, `/proc/[pid]/task/[tid]/stat` |
/// | `/proc/77/fd/3`, `/proc/self/fdinfo/3`, `/dev/fd/3` | `/proc/[pid]/fd/[n]`, `/proc/self/fdinfo/[n]`, `/dev/fd/[n]` |
/// | `/proc/77/map_files/7f00-7f01` | `/proc/[pid]/map_files/[range]` |
///
/// Everything else is its own canonical name: `/dev/pts/5`, `/dev/shm/x`, `/tmp/out.17`.
#[must_use]
pub fn canonical(path: &str) -> Cow<'_, str> {
    if let Some(rest) = path.strip_prefix('/') {
        return match rest.split_once('/') {
            Some(("proc", below)) => proc(path, below),
            Some(("dev", below)) => device(path, below),
            None if rest.starts_with("memfd:") => Cow::Borrowed(undeleted(rest)),
            _ => Cow::Borrowed(path),
        };
    }
    if path.starts_with("memfd:") {
        return Cow::Borrowed(undeleted(path));
    }
    match path.strip_suffix(']').and_then(|open| open.split_once(":[")) {
        Some((kind, inner)) => object(path, kind, inner),
        None => Cow::Borrowed(path),
    }
}

fn undeleted(mut name: &str) -> &str {
    while let Some(rest) = name.strip_suffix(" (deleted)") {
        name = rest;
    }
    name
}

/// Whether a name is that of something that lies in no directory: a pipe, a socket, a process. Other names without a
/// leading slash are paths of which it is not known where they begin.
#[must_use]
pub fn is_object(name: &str) -> bool {
    let is_kind = |(kind, _): (&str, &str)| is_word(kind);
    matches!(name, "" | "pipe" | "pipe:" | "socket" | "socket:")
        || ["anon_inode:", "memfd:", "pid:"].iter().any(|kind| name.starts_with(kind))
        || name.strip_suffix(']').and_then(|open| open.split_once(":[")).is_some_and(is_kind)
}

/// Whether a text can be the kind of an object.
#[must_use]
pub fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}

fn object<'a>(path: &'a str, kind: &'a str, inner: &'a str) -> Cow<'a, str> {
    match kind {
        "anon_inode" if is_word(inner) => Cow::Owned(format!("anon_inode:{inner}")),
        "anon_inode" => Cow::Borrowed(path),
        _ if NAMESPACES.contains(&kind) => Cow::Owned(format!("namespace:{kind}")),
        _ if !is_word(kind) => Cow::Borrowed(path),
        _ if kind.starts_with(|first: char| first.is_ascii_uppercase()) => {
            Cow::Owned(format!("socket:{kind}"))
        }
        _ => Cow::Borrowed(kind),
    }
}

fn device<'a>(path: &'a str, below: &str) -> Cow<'a, str> {
    match below.strip_prefix("fd/") {
        Some(number) if is_number(number) => Cow::Borrowed("/dev/fd/[n]"),
        _ => Cow::Borrowed(path),
    }
}

fn proc<'a>(path: &'a str, below: &'a str) -> Cow<'a, str> {
    let mut parts = below.split('/');
    let process = match parts.next() {
        Some(first) if is_number(first) || first == "[pid]" => "[pid]",
        Some(first @ ("self" | "thread-self")) => first,
        _ => return Cow::Borrowed(path),
    };
    let mut name = format!("/proc/{process}");
    let mut parent = "";
    for part in parts {
        let part_name = match parent {
            "task" if is_number(part) => "[tid]",
            "fd" | "fdinfo" if is_number(part) => "[n]",
            "map_files" if part.contains('-') => "[range]",
            _ => part,
        };
        name.push('/');
        name.push_str(part_name);
        parent = part;
    }
    Cow::Owned(name)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn objects_lie_in_no_directory() {
        for name in
            ["pipe:[7]", "TCP:[1.2.3.4:5]", "UNIX-STREAM:[8->7,\"/run/x\"]", "socket", "pid:7<sh>", "memfd:x"]
        {
            assert!(is_object(name), "{name}");
        }
        for name in ["/pipe:[7]", "data", "a:b", "dir/x:[1]", "12:30.log", ".."] {
            assert!(!is_object(name), "{name}");
        }
    }

    #[test]
    fn what_is_no_file_loses_its_numbers() {
        for (exact, name) in [
            ("pipe:[4711]", "pipe"),
            ("socket:[9]", "socket"),
            ("TCP:[127.0.0.1:80->127.0.0.1:9]", "socket:TCP"),
            ("TCPv6:[[::1]:80]", "socket:TCPv6"),
            ("UNIX-STREAM:[7->8,\"/run/x\"]", "socket:UNIX-STREAM"),
            ("UNIX-STREAM:[7->\"/run/x:[y]\"]", "socket:UNIX-STREAM"),
            ("UNIX:[->@\"name\"]", "socket:UNIX"),
            ("TCP:[7->127.0.0.1:80]", "socket:TCP"),
            ("NETLINK:[ROUTE:77]", "socket:NETLINK"),
            ("anon_inode:[eventpoll]", "anon_inode:eventpoll"),
            ("anon_inode:bpf-map", "anon_inode:bpf-map"),
            ("pidfd:[77]", "pidfd"),
            ("net:[4026531840]", "namespace:net"),
            ("/memfd:x (deleted)", "memfd:x"),
            ("memfd:x", "memfd:x"),
            ("", ""),
            (":[]", ":[]"),
            ("odd name:[1]", "odd name:[1]"),
        ] {
            assert_eq!(canonical(exact), name);
        }
    }

    #[test]
    fn processes_threads_and_descriptors_lose_their_numbers() {
        for (exact, name) in [
            ("/proc/77", "/proc/[pid]"),
            ("/proc/77/stat", "/proc/[pid]/stat"),
            ("/proc/77/task/78/stat", "/proc/[pid]/task/[tid]/stat"),
            ("/proc/77/fd/3", "/proc/[pid]/fd/[n]"),
            ("/proc/self/fdinfo/3", "/proc/self/fdinfo/[n]"),
            ("/proc/self/maps", "/proc/self/maps"),
            ("/proc/77/map_files/7f00-7f01", "/proc/[pid]/map_files/[range]"),
            ("/dev/fd/3", "/dev/fd/[n]"),
        ] {
            assert_eq!(canonical(exact), name);
        }
    }

    #[test]
    fn files_keep_their_names() {
        for path in [
            "/proc/filesystems",
            "/proc/sys/kernel/7",
            "/dev/pts/5",
            "/dev/shm/x.7",
            "/tmp/pipe:[7]",
            "/proc",
            "a/7",
        ] {
            assert_eq!(canonical(path), path);
        }
    }

    proptest! {
        #[test]
        fn canonical_is_idempotent(
            parts in prop::collection::vec(
                prop_oneof![
                    Just("/proc"), Just("/"), Just("7"), Just("/task"), Just("/fd"), Just("/fdinfo/"), Just("[pid]"), Just("/dev/fd"),
                    Just("/memfd:"), Just("memfd:"), Just(" (deleted)"), Just("pipe"), Just("TCP"), Just("net"), Just("anon_inode"),
                    Just(":["), Just("]"), Just("/map_files/"), Just("a-b"), Just("é"), Just("self")
                ], 0..8)
        ) {
            let path = parts.concat();
            let once = canonical(&path).into_owned();
            prop_assert_eq!(canonical(&once).into_owned(), once);
        }
    }
}
