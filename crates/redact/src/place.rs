//! Where in a path a component stands, and so whether its name is public.

use crate::public;

/// Directories of the system: within them, names of `lists/system.txt` stay.
const SYSTEM: [&str; 9] = ["boot", "dev", "etc", "lib", "lib32", "lib64", "proc", "sys", "usr"];
/// Directories of programs: within them, names of `lists/programs.txt` stay.
const PROGRAMS: [&str; 6] = ["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/libexec", "/usr/lib/git-core"];
/// Within directories of the system, but the user's own.
const PRIVATE: [&str; 3] = ["/dev/shm", "/dev/mqueue", "/usr/local"];

/// Devices with numbers, and how a hashed one begins.
const NUMBERED: [(&str, &str); 6] = [
    ("ttyS", "ttyS0_"),
    ("tty", "tty0_"),
    ("loop", "loop0_"),
    ("dm-", "dm-0_"),
    ("md", "md0_"),
    ("sr", "sr0_"),
];
/// Disks, which have letters.
const DISKS: [&str; 4] = ["sd", "vd", "xvd", "hd"];

/// Whether the component `name` in the directory `parent` (an absolute path without a slash at its end) stays as it is.
pub(crate) fn is_public(parent: &str, name: &str) -> bool {
    // Loaders look for the same libraries in many directories, be they the system's or not.
    if public::is_architecture(name)
        || public::is_library(name)
        || public::is_interpreter(parent.rsplit('/').next().unwrap_or_default(), name)
    {
        return true;
    }
    // Whoever installs a program keeps its name.
    if is_of_programs(parent) && public::is_program(name) {
        return true;
    }
    let mut above = parent.split('/').skip(1);
    let (first, second) = (above.next().filter(|first| !first.is_empty()), above.next());
    if second.is_none() && public::is_top(first, name) {
        return true;
    }
    let Some(first) = first else { return is_foreign(name) };
    // The others are not looked through: a path may have thousands of components.
    if !matches!(first, "proc" | "dev") && !SYSTEM.contains(&first) && !PROGRAMS.contains(&parent) {
        return false;
    }
    let private = PRIVATE.iter().any(|place| is_within(parent, place));
    if private || parent.split('/').any(|component| component == "..") {
        return false;
    }
    if PROGRAMS.contains(&parent) && public::is_program(name) {
        return true;
    }
    let last = parent.rsplit('/').next().unwrap_or_default();
    if matches!(first, "proc" | "dev")
        && matches!(last, "fd" | "fdinfo" | "pts")
        && public::is_short_number(name)
    {
        return true;
    }
    // The number of a process says no more than the tables do, but a program can ask for any number.
    let is_process = first == "proc" && public::is_number(name);
    let is_device = matches!(first, "dev" | "sys") && public::is_device(name);
    SYSTEM.contains(&first) && !is_process && (is_device || public::is_system_name(name))
}

/// Whether a directory is one of programs by its name, wherever it is.
pub(crate) fn is_of_programs(directory: &str) -> bool {
    matches!(directory.rsplit('/').next(), Some("bin" | "sbin" | "libexec" | "games"))
}

/// `mnt:[4026532265]`: the name of a file of another mount namespace begins with it.
fn is_foreign(name: &str) -> bool {
    let inside = name.strip_prefix("mnt:[").and_then(|rest| rest.strip_suffix(']'));
    inside.is_some_and(public::is_inode)
}

/// Whether what follows the directory `parent` is a path of its own: what `/proc/self/root`, `/proc/self/cwd`, `/proc/7/fd/3` lead to.
pub(crate) fn is_door(parent: &str) -> bool {
    let Some(below) = parent.strip_prefix("/proc/") else { return false };
    let mut parts = below.split('/').skip(1).peekable();
    while parts.peek() == Some(&"task") {
        parts.next();
        parts.next();
    }
    matches!(
        (parts.next(), parts.next(), parts.next()),
        (Some("root" | "cwd" | "exe"), None, None) | (Some("fd" | "fdinfo" | "map_files"), Some(_), None)
    )
}

/// What stands before the hash of a device, whose kind its name tells: `sd` of what is called like a disk.
pub(crate) fn device(parent: &str, name: &str) -> &'static str {
    let followed_by = |prefix: &str, test: fn(char) -> bool| {
        name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(test))
    };
    let digit = |first: char| first.is_ascii_digit();
    match parent {
        "/dev/pts" if name.starts_with(digit) => "0_",
        "/dev" if followed_by("nvme", digit) && name[4..].contains('n') => "nvme0n0_",
        "/dev" => NUMBERED
            .into_iter()
            .find(|(prefix, _)| followed_by(prefix, digit))
            .map(|(_, made)| made)
            .unwrap_or_else(|| {
                DISKS
                    .into_iter()
                    .find(|prefix| followed_by(prefix, |first| first.is_ascii_lowercase()))
                    .unwrap_or_default()
            }),
        _ => "",
    }
}

fn is_within(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
