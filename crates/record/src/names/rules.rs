//! What each call does with the last component of a path, and with names altogether.

use iotrail_model::calls::{self, ArgKind, CallSpec};

pub(crate) use iotrail_model::calls::Last;

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

/// What call `name` with these arguments means by the last component of argument `place`.
pub(crate) fn last(name: &str, place: usize, values: &[u64; 6]) -> Last {
    // The flags of openat2 lie in memory.
    let in_memory = name.contains("openat2");
    calls::last(name, place).decide(|arg, flag| !in_memory && values[arg] & flag.bits != 0)
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
        assert_eq!(last("newfstatat", 1, &flags(3, 0x100)), Last::Link);
        assert_eq!(last("linkat", 1, &flags(4, 0x400)), Last::Target);
        assert_eq!(last("linkat", 3, &flags(4, 0x400)), Last::Name);
        assert_eq!(last("fanotify_mark", 4, &flags(1, 4)), Last::Link);
        assert_eq!(last("chmod", 0, &flags(1, 0x100)), Last::Target, "a mode is no flag");
        assert_eq!(last("openat2", 1, &[u64::MAX; 6]), Last::Target);
    }

    #[test]
    fn every_call_that_changes_names_is_in_the_table() {
        for name in CHANGING {
            assert!(change(name) != Change::None && TABLE.iter().any(|spec| spec.name == name), "{name}");
        }
    }
}
