//! What each call does with the last component of a path, and with names altogether.

use iotrail_model::calls::{ArgKind, CallSpec};

/// What a call means by the last component of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Last {
    /// The name: it is made, moved or removed.
    Name,
    /// What bears the name, be it a symbolic link.
    Link,
    /// What the name leads to.
    Target,
}

/// What a successful call changes about names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    None,
    /// A name of a directory is there now.
    Made,
    /// A symbolic link is there now.
    Linked,
    /// A name is gone.
    Removed,
    /// A name moved.
    Renamed,
    /// The working directory is another one.
    Directory,
    /// Roots or mounts are others.
    Mounts,
}

const AT_SYMLINK_NOFOLLOW: u64 = 0x100;
const AT_SYMLINK_FOLLOW: u64 = 0x400;
const O_NOFOLLOW: u64 = if cfg!(target_arch = "aarch64") { 0x8000 } else { 0x2_0000 };
const UMOUNT_NOFOLLOW: u64 = 8;
const FSPICK_SYMLINK_NOFOLLOW: u64 = 2;
const IN_DONT_FOLLOW: u64 = 0x0200_0000;
const MOVE_MOUNT_F_SYMLINKS: u64 = 1;
const MOVE_MOUNT_T_SYMLINKS: u64 = 0x10;

/// What call `name` with these arguments means by the last component of argument `place`.
pub(crate) fn last(name: &str, place: usize, values: &[u64; 6]) -> Last {
    let follows = |yes| if yes { Last::Target } else { Last::Link };
    let without = |place: usize, flag| follows(values[place] & flag == 0);
    let with = |place: usize, flag| follows(values[place] & flag != 0);
    match name {
        "mkdir" | "mkdirat" | "rmdir" | "mknod" | "mknodat" | "unlink" | "unlinkat" | "rename"
        | "renameat" | "renameat2" | "symlink" | "symlinkat" => Last::Name,
        "link" | "linkat" if place == 1 && name == "link" || place == 3 => Last::Name,
        "link" | "lstat" | "lstat64" | "oldlstat" | "readlink" | "readlinkat" | "lchown" | "lchown32"
        | "lgetxattr" | "lsetxattr" | "llistxattr" | "lremovexattr" => Last::Link,
        "linkat" | "name_to_handle_at" => with(4, AT_SYMLINK_FOLLOW),
        "statx" | "setxattrat" | "getxattrat" | "listxattrat" | "removexattrat" | "open_tree"
        | "open_tree_attr" | "mount_setattr" => without(2, AT_SYMLINK_NOFOLLOW),
        "newfstatat" | "fstatat64" | "faccessat2" | "fchmodat2" | "utimensat" | "utimensat_time64" => {
            without(3, AT_SYMLINK_NOFOLLOW)
        }
        "fchownat" | "execveat" | "file_getattr" | "file_setattr" => without(4, AT_SYMLINK_NOFOLLOW),
        "open" => without(1, O_NOFOLLOW),
        "openat" => without(2, O_NOFOLLOW),
        "umount2" => without(1, UMOUNT_NOFOLLOW),
        "fspick" => without(2, FSPICK_SYMLINK_NOFOLLOW),
        "inotify_add_watch" => without(2, IN_DONT_FOLLOW),
        "move_mount" => with(4, if place < 2 { MOVE_MOUNT_F_SYMLINKS } else { MOVE_MOUNT_T_SYMLINKS }),
        _ => Last::Target,
    }
}

/// What a successful call of that name changes.
pub(crate) fn change(name: &str) -> Change {
    match name.strip_prefix("io_uring_").unwrap_or(name) {
        "mkdir" | "mkdirat" | "link" | "linkat" => Change::Made,
        "symlink" | "symlinkat" => Change::Linked,
        "unlink" | "unlinkat" => Change::Removed,
        "rename" | "renameat" | "renameat2" => Change::Renamed,
        "chdir" | "fchdir" => Change::Directory,
        "chroot" | "pivot_root" | "unshare" | "setns" | "mount" | "umount" | "oldumount" | "umount2"
        | "move_mount" | "mount_setattr" | "open_tree" | "open_tree_attr" | "fsmount" => Change::Mounts,
        _ => Change::None,
    }
}

/// Calls that must be followed if what was learnt about names is to be kept.
pub(crate) const CHANGING: [&str; 6] = ["symlink", "unlink", "rename", "mkdir", "mount", "chdir"];

/// Whether a call must be looked at before it is made: afterwards its names may lead elsewhere.
pub(crate) fn is_early(name: &str) -> bool {
    matches!(name, "execve" | "execveat" | "pivot_root" | "umount" | "umount2" | "mount" | "move_mount")
}

/// Whether a call takes its names away.
pub(crate) fn removes(name: &str) -> bool {
    name.starts_with("rename") || name.starts_with("unlink") || name == "rmdir"
}

/// Whether the last component was looked up, if a call failed with this error.
pub(crate) fn has_arrived(error: i32) -> bool {
    const ENOENT: i32 = 2;
    const EFAULT: i32 = 14;
    const EEXIST: i32 = 17;
    const EXDEV: i32 = 18;
    const ENOTDIR: i32 = 20;
    const ENAMETOOLONG: i32 = 36;
    const ELOOP: i32 = 40;
    ![ENOENT, EFAULT, EEXIST, EXDEV, ENOTDIR, ENAMETOOLONG, ELOOP].contains(&error)
}

/// Whether an argument is a path that can be looked up.
pub(crate) fn is_path(kind: ArgKind) -> bool {
    matches!(kind, ArgKind::Path | ArgKind::PathOut | ArgKind::LinkTarget)
}

/// Whether a call takes a path or changes what paths mean.
pub(crate) fn concerns(spec: &CallSpec) -> bool {
    spec.args.iter().any(|kind| is_path(*kind)) || change(spec.name) != Change::None
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_model::calls::TABLE;

    #[test]
    fn flags_decide_whether_the_last_link_is_followed() {
        let flags = |place: usize, value| {
            let mut values = [0; 6];
            values[place] = value;
            values
        };
        assert_eq!(last("newfstatat", 1, &[0; 6]), Last::Target);
        assert_eq!(last("newfstatat", 1, &flags(3, AT_SYMLINK_NOFOLLOW)), Last::Link);
        assert_eq!(last("linkat", 1, &[0; 6]), Last::Link);
        assert_eq!(last("linkat", 1, &flags(4, AT_SYMLINK_FOLLOW)), Last::Target);
        assert_eq!(last("linkat", 3, &flags(4, AT_SYMLINK_FOLLOW)), Last::Name);
        assert_eq!(last("link", 1, &[0; 6]), Last::Name);
        assert_eq!(last("link", 0, &[0; 6]), Last::Link);
        assert_eq!(last("stat", 0, &[0; 6]), Last::Target);
        assert_eq!(last("rename", 1, &[0; 6]), Last::Name);
    }

    #[test]
    fn every_call_that_changes_names_is_in_the_table() {
        for name in CHANGING {
            assert!(change(name) != Change::None && TABLE.iter().any(|spec| spec.name == name), "{name}");
        }
    }
}
