//! What a call means by the last component of a path: the one place that says which calls follow symbolic links.
//!
//! The sources are `man 2` of each call and, where it is silent, the flags with which the kernel looks the path up.

use super::CallSpec;
use super::flags::Flag;

/// What a call means by the last component of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Last {
    /// The name: it is made, moved or removed.
    Name,
    /// What bears the name, be it a symbolic link.
    Link,
    /// What the name leads to.
    Target,
}

const AT_SYMLINK_NOFOLLOW: Flag = Flag::new("AT_SYMLINK_NOFOLLOW", 0x100);
const AT_SYMLINK_FOLLOW: Flag = Flag::new("AT_SYMLINK_FOLLOW", 0x400);
const O_NOFOLLOW: Flag =
    Flag::new("O_NOFOLLOW", if cfg!(target_arch = "aarch64") { 0x8000 } else { 0x2_0000 });
const O_CREAT: Flag = Flag::new("O_CREAT", 0x40);
const O_EXCL: Flag = Flag::new("O_EXCL", 0x80);
const UMOUNT_NOFOLLOW: Flag = Flag::new("UMOUNT_NOFOLLOW", 8);
const FSPICK_SYMLINK_NOFOLLOW: Flag = Flag::new("FSPICK_SYMLINK_NOFOLLOW", 2);
const IN_DONT_FOLLOW: Flag = Flag::new("IN_DONT_FOLLOW", 0x0200_0000);
const FAN_MARK_DONT_FOLLOW: Flag = Flag::new("FAN_MARK_DONT_FOLLOW", 4);
const MOVE_MOUNT_F_SYMLINKS: Flag = Flag::new("MOVE_MOUNT_F_SYMLINKS", 1);
const MOVE_MOUNT_T_SYMLINKS: Flag = Flag::new("MOVE_MOUNT_T_SYMLINKS", 0x10);

/// What decides about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastRule {
    /// The call alone.
    Always(Last),
    /// A link is followed unless this argument has the flag.
    Unless(usize, Flag),
    /// A link is followed if this argument has the flag.
    If(usize, Flag),
    /// The flags of an open in this argument: `O_NOFOLLOW`, and `O_CREAT` with `O_EXCL`, do not follow.
    Open(usize),
}

impl LastRule {
    /// What is meant, if `has` tells which flags an argument has.
    pub fn decide(self, has: impl Fn(usize, Flag) -> bool) -> Last {
        let follows = match self {
            Self::Always(last) => return last,
            Self::Unless(arg, flag) => !has(arg, flag),
            Self::If(arg, flag) => has(arg, flag),
            Self::Open(arg) => !(has(arg, O_NOFOLLOW) || has(arg, O_CREAT) && has(arg, O_EXCL)),
        };
        if follows { Last::Target } else { Last::Link }
    }
}

impl CallSpec {
    /// What it means by the last component of the path that is its argument number `path`.
    #[must_use]
    pub fn last(&self, path: usize) -> LastRule {
        rule(self.work(), path)
    }
}

/// What the call of that name means by it.
fn rule(name: &str, path: usize) -> LastRule {
    use LastRule::{Always, If, Open, Unless};
    match name {
        "mkdir" | "mkdirat" | "rmdir" | "mknod" | "mknodat" | "unlink" | "unlinkat" | "rename"
        | "renameat" | "renameat2" | "symlink" | "symlinkat" => Always(Last::Name),
        "link" if path == 1 => Always(Last::Name),
        "linkat" if path == 3 => Always(Last::Name),
        "link" | "lstat" | "lstat64" | "oldlstat" | "readlink" | "readlinkat" | "lchown" | "lchown32"
        | "lgetxattr" | "lsetxattr" | "llistxattr" | "lremovexattr" => Always(Last::Link),
        "linkat" | "name_to_handle_at" => If(4, AT_SYMLINK_FOLLOW),
        "open" => Open(1),
        "openat" | "openat2" => Open(2),
        "statx" | "setxattrat" | "getxattrat" | "listxattrat" | "removexattrat" | "open_tree"
        | "open_tree_attr" | "mount_setattr" => Unless(2, AT_SYMLINK_NOFOLLOW),
        "newfstatat" | "fstatat64" | "faccessat2" | "fchmodat2" | "utimensat" | "utimensat_time64" => {
            Unless(3, AT_SYMLINK_NOFOLLOW)
        }
        "fchownat" | "execveat" | "file_getattr" | "file_setattr" => Unless(4, AT_SYMLINK_NOFOLLOW),
        "umount2" => Unless(1, UMOUNT_NOFOLLOW),
        "fspick" => Unless(2, FSPICK_SYMLINK_NOFOLLOW),
        "inotify_add_watch" => Unless(2, IN_DONT_FOLLOW),
        "fanotify_mark" => Unless(1, FAN_MARK_DONT_FOLLOW),
        "move_mount" if path == 1 => If(4, MOVE_MOUNT_F_SYMLINKS),
        "move_mount" => If(4, MOVE_MOUNT_T_SYMLINKS),
        _ => Always(Last::Target),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::{ArgKind, TABLE, named};

    fn last(name: &str, path: usize) -> LastRule {
        named(name).unwrap().last(path)
    }

    /// Every path of every call in the table, by what the manual says of its last component.
    const BY_THE_MANUAL: [(&str, &[&str]); 12] = [
        (
            "name",
            &[
                "mkdir",
                "mkdirat",
                "rmdir",
                "mknod",
                "mknodat",
                "rename",
                "rename:1",
                "renameat",
                "renameat:3",
                "renameat2",
                "renameat2:3",
                "link:1",
                "linkat:3",
                "symlink",
                "symlinkat",
                "unlink",
                "unlinkat",
                "io_uring_renameat",
                "io_uring_renameat:3",
                "io_uring_unlinkat",
                "io_uring_mkdirat",
                "io_uring_symlinkat",
                "io_uring_linkat:3",
            ],
        ),
        (
            "link",
            &[
                "lstat",
                "lstat64",
                "oldlstat",
                "readlink",
                "readlinkat",
                "lchown",
                "lchown32",
                "lgetxattr",
                "lsetxattr",
                "llistxattr",
                "lremovexattr",
                "link",
            ],
        ),
        ("if AT_SYMLINK_FOLLOW", &["linkat", "name_to_handle_at", "io_uring_linkat"]),
        (
            "unless AT_SYMLINK_NOFOLLOW",
            &[
                "newfstatat",
                "fstatat64",
                "statx",
                "faccessat2",
                "fchmodat2",
                "fchownat",
                "utimensat",
                "utimensat_time64",
                "getxattrat",
                "setxattrat",
                "listxattrat",
                "removexattrat",
                "file_getattr",
                "file_setattr",
                "open_tree",
                "open_tree_attr",
                "mount_setattr",
                "execveat",
                "io_uring_statx",
            ],
        ),
        (
            "open",
            &[
                "open",
                "openat",
                "openat2",
                "io_uring_openat",
                "io_uring_openat2",
                "io_uring_openat_direct",
                "io_uring_openat2_direct",
            ],
        ),
        ("unless UMOUNT_NOFOLLOW", &["umount2"]),
        ("unless FSPICK_SYMLINK_NOFOLLOW", &["fspick"]),
        ("unless IN_DONT_FOLLOW", &["inotify_add_watch"]),
        ("unless FAN_MARK_DONT_FOLLOW", &["fanotify_mark"]),
        ("if MOVE_MOUNT_F_SYMLINKS", &["move_mount"]),
        ("if MOVE_MOUNT_T_SYMLINKS", &["move_mount:3"]),
        (
            "target",
            &[
                "creat",
                "stat",
                "stat64",
                "oldstat",
                "access",
                "faccessat",
                "truncate",
                "truncate64",
                "chmod",
                "fchmodat",
                "chown",
                "chown32",
                "utime",
                "utimes",
                "futimesat",
                "statfs",
                "statfs64",
                "getxattr",
                "setxattr",
                "listxattr",
                "removexattr",
                "quotactl",
                "chdir",
                "chroot",
                "pivot_root",
                "pivot_root:1",
                "mount",
                "umount",
                "oldumount",
                "swapon",
                "swapoff",
                "acct",
                "execve",
                "execv",
                "uselib",
                "io_uring_setxattr",
                "io_uring_getxattr",
            ],
        ),
    ];

    fn word(rule: LastRule) -> String {
        match rule {
            LastRule::Always(last) => format!("{last:?}").to_lowercase(),
            LastRule::Unless(_, flag) => format!("unless {}", flag.name),
            LastRule::If(_, flag) => format!("if {}", flag.name),
            LastRule::Open(_) => "open".to_owned(),
        }
    }

    #[test]
    fn every_path_of_every_call_is_looked_up_as_the_manual_says() {
        let mut expected: Vec<(&str, &str)> =
            BY_THE_MANUAL.iter().flat_map(|(rule, paths)| paths.iter().map(|path| (*path, *rule))).collect();
        expected.sort_unstable();
        let mut found = Vec::new();
        for spec in TABLE {
            let paths = spec.args.iter().enumerate().filter(|(_, kind)| **kind == ArgKind::Path);
            for (number, (index, _)) in paths.enumerate() {
                let name = if number == 0 { spec.name.to_owned() } else { format!("{}:{index}", spec.name) };
                found.push((name, word(spec.last(index))));
            }
        }
        // A second path that alone is listed, as of `link:1`, has its number; the first has none.
        found.sort_unstable();
        let expected: Vec<(String, String)> =
            expected.into_iter().map(|(path, rule)| (path.to_owned(), rule.to_owned())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_argument_of_a_flag_is_one_of_flags() {
        for spec in TABLE {
            for (index, _) in spec.args.iter().enumerate().filter(|(_, kind)| **kind == ArgKind::Path) {
                let (LastRule::Unless(arg, _) | LastRule::If(arg, _) | LastRule::Open(arg)) =
                    spec.last(index)
                else {
                    continue;
                };
                assert!(
                    matches!(spec.args.get(arg), Some(ArgKind::Flags | ArgKind::Struct)),
                    "{}",
                    spec.name
                );
            }
        }
    }

    #[test]
    fn flags_decide() {
        let has = |set: &'static [(usize, &str)]| move |arg, flag: Flag| set.contains(&(arg, flag.name));
        assert_eq!(last("newfstatat", 1).decide(has(&[])), Last::Target);
        assert_eq!(last("newfstatat", 1).decide(has(&[(3, "AT_SYMLINK_NOFOLLOW")])), Last::Link);
        assert_eq!(last("linkat", 1).decide(has(&[])), Last::Link);
        assert_eq!(last("linkat", 1).decide(has(&[(4, "AT_SYMLINK_FOLLOW")])), Last::Target);
        assert_eq!(last("openat", 1).decide(has(&[(2, "O_CREAT")])), Last::Target);
        assert_eq!(last("openat", 1).decide(has(&[(2, "O_CREAT"), (2, "O_EXCL")])), Last::Link);
        assert_eq!(last("chmod", 0).decide(|_, _| true), Last::Target);
    }
}
