//! What each call does with the last component of a path, and with names altogether.

use iotrail_decode::CallSet;
use iotrail_model::CallId;
use iotrail_model::calls::{ArgKind, CallKind, CallSpec, NameEffect, TABLE};

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

/// What a call with these arguments means by the last component of argument `place`.
pub(crate) fn last(spec: &CallSpec, index: usize, values: &[u64; 6]) -> Last {
    // The flags of openat2 lie in memory.
    let in_memory = opens_by_structure(spec);
    spec.last(index).decide(|arg, flag| !in_memory && flag.is_in_number(values[arg]))
}

/// Whether it is told in a structure how to open: openat2.
pub(crate) fn opens_by_structure(spec: &CallSpec) -> bool {
    spec.kind == CallKind::Open && spec.has(ArgKind::Struct)
}

/// What a successful call changes.
pub(crate) fn change(spec: &CallSpec) -> Change {
    match spec.name_effect() {
        // Names of nodes and files lead nowhere else.
        NameEffect::Makes if spec.kind == CallKind::MakeDirectory => Change::Made,
        NameEffect::Links => Change::Made,
        NameEffect::Symlinks => Change::Linked,
        // An empty directory was no way to anything.
        NameEffect::Removes if spec.kind == CallKind::Unlink => Change::Removed,
        NameEffect::Renames => Change::Renamed,
        NameEffect::ChangesDirectory => Change::Directory,
        NameEffect::ChangesTrees => Change::Mounts,
        _ => Change::None,
    }
}

/// What must be followed if what was learnt about names is to be kept.
const CHANGING: [CallKind; 6] = [
    CallKind::Symlink,
    CallKind::Unlink,
    CallKind::Rename,
    CallKind::MakeDirectory,
    CallKind::Mount,
    CallKind::ChangeDirectory,
];

/// Whether threads stop at all calls that change what was learnt about names.
pub(crate) fn follows_changes(calls: &CallSet) -> bool {
    let changing = TABLE.iter().enumerate().filter(|(_, spec)| CHANGING.contains(&spec.kind));
    changing.map(|(row, _)| CallId::from_index(row)).all(|call| calls.follows_call(call))
}

/// Whether a call must be looked at before it is made: afterwards its names may lead elsewhere.
pub(crate) fn is_early(spec: &CallSpec) -> bool {
    matches!(
        spec.kind,
        CallKind::Exec | CallKind::PivotRoot | CallKind::Unmount | CallKind::Mount | CallKind::MoveMount
    )
}

/// Whether a call takes its names away.
pub(crate) fn removes(spec: &CallSpec) -> bool {
    matches!(spec.name_effect(), NameEffect::Renames | NameEffect::Removes)
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
    spec.args.iter().any(|kind| is_path(*kind)) || change(spec) != Change::None
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_model::calls::named;

    fn last(name: &str, index: usize, values: &[u64; 6]) -> Last {
        super::last(named(name).unwrap(), index, values)
    }

    #[test]
    fn flags_decide_whether_the_last_link_is_followed() {
        let flags = |index: usize, value| {
            let mut values = [0; 6];
            values[index] = value;
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
    fn what_was_learnt_is_kept_only_if_all_variants_of_a_change_are_followed() {
        let follows = |words| follows_changes(&CallSet::parse(words).unwrap());
        assert!(follows("io") && follows("all"));
        assert!(!follows("read") && !follows("io,!rename"));
        assert!(!follows("io,!renameat2"), "another variant of the same change");
    }

    #[test]
    fn what_every_call_changes_about_names() {
        let rows = TABLE.iter().filter_map(|spec| {
            let words = [(is_early(spec), "early"), (removes(spec), "removes")];
            let words = words.iter().filter(|(holds, _)| *holds).map(|(_, word)| *word).collect::<Vec<_>>();
            let change = change(spec);
            (change != Change::None || !words.is_empty())
                .then(|| format!("{}: {change:?} {}", spec.name, words.join(" ")).trim_end().to_owned())
        });
        insta::assert_snapshot!(rows.collect::<Vec<_>>().join("\n"));
    }
}
