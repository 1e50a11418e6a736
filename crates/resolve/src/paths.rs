//! Absolute paths from directories and relative paths, by their letters alone.
//!
//! A trace does not say which components are symbolic links but those that it made, so `a/../b` is `b` even where the kernel
//! would have gone elsewhere. Where the tracer printed the real path it is taken instead.

/// Writes `path`, seen from the directory `base`, to `out`: without `//`, `.`, `..` and a slash at the end.
///
/// The result is relative, and the answer `false`, only if both are relative; then `..` at its beginning stay.
pub(crate) fn join(base: Option<&[u8]>, path: &[u8], out: &mut Vec<u8>) -> bool {
    out.clear();
    if path.first() == Some(&b'/') {
        out.push(b'/');
    } else if let Some(base) = base {
        push(base, out);
    }
    push(path, out);
    if out.is_empty() {
        out.push(b'.');
    }
    out[0] == b'/'
}

/// Goes on from `out` along `path`.
pub(crate) fn push(path: &[u8], out: &mut Vec<u8>) {
    if out.is_empty() && path.first() == Some(&b'/') {
        out.push(b'/');
    }
    for component in path.split(|byte| *byte == b'/') {
        match component {
            b"" | b"." => {}
            b".." => pop_component(out),
            name => push_component(name, out),
        }
    }
}

fn push_component(name: &[u8], out: &mut Vec<u8>) {
    if !matches!(out.last(), None | Some(b'/')) {
        out.push(b'/');
    }
    out.extend_from_slice(name);
}

fn pop_component(out: &mut Vec<u8>) {
    match out.iter().rposition(|byte| *byte == b'/') {
        Some(0) => out.truncate(1),
        Some(_) | None if out.is_empty() || out.ends_with(b"..") && last_component(out) == b".." => {
            push_component(b"..", out);
        }
        Some(slash) => out.truncate(slash),
        None => out.clear(),
    }
}

fn last_component(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or_default()
}

/// The directory that `path` lies in, `None` if its letters do not say.
pub(crate) fn parent(path: &[u8]) -> Option<&[u8]> {
    match path.iter().rposition(|byte| *byte == b'/')? {
        0 => Some(b"/"),
        slash => Some(&path[..slash]),
    }
}

/// Whose descriptors and directories a link of the kernel shows. The threads of a process need not share them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The process of the caller: its first thread (`/proc/self`, `/dev/fd`).
    Process,
    /// The thread that calls (`/proc/thread-self`).
    Caller,
    /// The thread of a number.
    Thread(u32),
}

/// Whose descriptor a link of the kernel leads to, and which.
pub(crate) fn descriptor_link(path: &[u8]) -> Option<(Owner, i32)> {
    match path {
        b"/dev/stdin" => Some((Owner::Process, 0)),
        b"/dev/stdout" => Some((Owner::Process, 1)),
        b"/dev/stderr" => Some((Owner::Process, 2)),
        _ => {
            let (owner, behind) = owner(path)?;
            Some((owner, number(behind.strip_prefix(b"fd/")?)?))
        }
    }
}

/// Whose links a path of the kernel is among, and which it is: what stands behind `/dev/`, `/proc/77/`, `/proc/self/task/78/`.
fn owner(path: &[u8]) -> Option<(Owner, &[u8])> {
    if let Some(behind) = path.strip_prefix(b"/dev/") {
        return Some((Owner::Process, behind));
    }
    let (process, behind) = split(path.strip_prefix(b"/proc/")?)?;
    let thread = |text| Some(Owner::Thread(u32::try_from(number(text)?).ok()?));
    if let Some((number, behind)) = behind.strip_prefix(b"task/").and_then(split) {
        return Some((thread(number)?, behind));
    }
    let owner = match process {
        b"self" => Owner::Process,
        b"thread-self" => Owner::Caller,
        process => thread(process)?,
    };
    Some((owner, behind))
}

/// A directory that a link of the kernel leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DirectoryLink {
    /// Where a process works.
    WorkingDirectory,
    /// Where its absolute paths begin.
    Root,
    /// What it holds open.
    Descriptor(i32),
}

/// Whose directory a path leads through, and how the path goes on from there: `/proc/self/cwd/x`, `/proc/77/root/x`,
/// `/proc/thread-self/fd/3/x`, `/dev/fd/3/x`.
pub(crate) fn directory_link(path: &[u8]) -> Option<(Owner, DirectoryLink, &[u8])> {
    let (owner, behind) = owner(path)?;
    let (link, rest) = split(behind)?;
    match link {
        b"cwd" if !path.starts_with(b"/dev/") => Some((owner, DirectoryLink::WorkingDirectory, rest)),
        b"root" if !path.starts_with(b"/dev/") => Some((owner, DirectoryLink::Root, rest)),
        b"fd" => {
            let (fd, rest) = split(rest)?;
            Some((owner, DirectoryLink::Descriptor(number(fd)?), rest))
        }
        _ => None,
    }
}

/// What stands before and behind the first slash.
fn split(path: &[u8]) -> Option<(&[u8], &[u8])> {
    let slash = path.iter().position(|byte| *byte == b'/')?;
    Some((&path[..slash], &path[slash + 1..]))
}

fn number(text: &[u8]) -> Option<i32> {
    let digits = text.iter().all(u8::is_ascii_digit).then_some(text)?;
    std::str::from_utf8(digits).ok()?.parse::<i32>().ok()
}

/// `path` as the kernel takes it that lets nobody leave a directory (`RESOLVE_IN_ROOT`), seen from there: nothing lies above
/// it, and absolute paths begin there.
pub(crate) fn within(path: &[u8]) -> Vec<u8> {
    let mut out = vec![b'/'];
    push(path, &mut out);
    match out.split_off(1) {
        inner if inner.is_empty() => b".".to_vec(),
        inner => inner,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn joined(base: Option<&str>, path: &str) -> String {
        let mut out = Vec::new();
        join(base.map(str::as_bytes), path.as_bytes(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn dots_and_double_slashes_vanish() {
        assert_eq!(joined(Some("/home/u"), "./a//b/../c/"), "/home/u/a/c");
        assert_eq!(joined(Some("/home/u"), "/x/./y//"), "/x/y");
        assert_eq!(joined(Some("/"), "a"), "/a");
        assert_eq!(joined(Some("/a"), ".."), "/");
        assert_eq!(joined(Some("/a"), "."), "/a");
        assert_eq!(joined(None, "//x"), "/x");
    }

    #[test]
    fn nothing_lies_above_the_root() {
        assert_eq!(joined(Some("/a"), "../../../b"), "/b");
        assert_eq!(joined(None, "/.."), "/");
    }

    #[test]
    fn without_a_directory_relative_paths_stay_relative() {
        assert_eq!(joined(None, "a/../../b"), "../b");
        assert_eq!(joined(None, "../../a/.."), "../..");
        assert_eq!(joined(None, "..a/.."), ".");
        assert_eq!(joined(Some("sub"), "../x.."), "x..");
        assert_eq!(joined(None, "a.."), "a..");
    }

    #[test]
    fn links_to_descriptors_are_recognised() {
        for (path, expected) in [
            ("/proc/self/fd/3", Some((Owner::Process, 3))),
            ("/proc/thread-self/fd/3", Some((Owner::Caller, 3))),
            ("/dev/fd/63", Some((Owner::Process, 63))),
            ("/dev/stderr", Some((Owner::Process, 2))),
            ("/proc/77/fd/4", Some((Owner::Thread(77), 4))),
            ("/proc/self/task/78/fd/4", Some((Owner::Thread(78), 4))),
            ("/proc/77/task/78/fd/4", Some((Owner::Thread(78), 4))),
            ("/proc/77/task/fd/4", None),
            ("/proc/self/fd/3/x", None),
            ("/proc/self/fd/x", None),
            ("/proc/self/fd/", None),
            ("/proc/self/fd/99999999999", None),
            ("dev/fd/3", None),
            ("", None),
        ] {
            assert_eq!(descriptor_link(path.as_bytes()), expected, "{path}");
        }
    }

    #[test]
    fn links_to_directories_are_recognised_on_the_way() {
        use DirectoryLink::{Descriptor, Root, WorkingDirectory};
        for (path, expected) in [
            ("/proc/self/cwd/a/b", Some((Owner::Process, WorkingDirectory, "a/b"))),
            ("/proc/thread-self/root/etc", Some((Owner::Caller, Root, "etc"))),
            ("/proc/77/cwd/", Some((Owner::Thread(77), WorkingDirectory, ""))),
            ("/proc/77/task/78/cwd/x", Some((Owner::Thread(78), WorkingDirectory, "x"))),
            ("/proc/self/fd/3/x", Some((Owner::Process, Descriptor(3), "x"))),
            ("/dev/fd/3/../x", Some((Owner::Process, Descriptor(3), "../x"))),
            ("/proc/self/cwd", None),
            ("/proc/self/fd/3", None),
            ("/proc/self/fdinfo/3/x", None),
            ("/dev/cwd/x", None),
            ("/proc/x/cwd/y", None),
        ] {
            let expected = expected.map(|(owner, link, rest)| (owner, link, rest.as_bytes()));
            assert_eq!(directory_link(path.as_bytes()), expected, "{path}");
        }
    }

    #[test]
    fn nobody_leaves_a_directory_that_is_taken_for_the_root() {
        for (path, expected) in [("/etc/x", "etc/x"), ("../../etc/../a", "a"), ("/..", "."), ("a", "a")] {
            assert_eq!(within(path.as_bytes()), expected.as_bytes(), "{path}");
        }
    }

    proptest! {
        #[test]
        fn joining_in_steps_is_joining_at_once(base in "(/[ab.]{1,2}){0,3}", first in "[ab./]{0,6}", second in "[ab.]{1,2}(/[ab.]{1,2}){0,3}") {
            let base = format!("/{base}");
            let whole = joined(Some(&base), &format!("{first}/{second}"));
            let steps = joined(Some(&joined(Some(&base), &first)), &second);
            if !first.is_empty() {
                prop_assert_eq!(whole, steps);
            }
        }

        #[test]
        fn a_joined_path_is_its_own_normal_form(path in "[ab./]{0,12}") {
            let once = joined(None, &path);
            prop_assert_eq!(&joined(None, &once), &once);
        }
    }
}
