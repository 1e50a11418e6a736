//! Who copies, stores or shows permissions, owners and times of files and directories: a job that does finds those of its stage.

use super::steps::{JobAction, Step};
use super::times::{Interest, interest, told};
use foldhash::fast::RandomState;
use hashbrown::HashSet;
use iotrail_model::PathId;

/// Whether what a command line leaves depends on more of a file than on what is in it.
pub(crate) fn keeps_attributes(line: &str) -> bool {
    let Some((program, known, _)) = told(line) else { return false };
    match program {
        "cp" | "rsync" | "stat" | "getfacl" => true,
        "find" => {
            known.words.iter().any(|word| matches!(*word, "-perm" | "-ls" | "-fls" | "-user" | "-group"))
                || known.has_directive("mMuUgGtT")
        }
        // These list or pack what there is, with its times.
        "ls" | "dir" | "vdir" | "tar" | "bsdtar" | "zip" | "cpio" | "pax" => {
            matches!(interest(line), Interest::Shows | Interest::Stores)
        }
        // It keeps who may execute a file.
        "git" => interest(line) == Interest::Stores,
        _ => false,
    }
}

/// What has its permissions, owner or times set.
pub(crate) fn attributed(steps: &[Step]) -> HashSet<PathId, RandomState> {
    let sets = steps.iter().filter(|step| matches!(step.action, JobAction::Mode(_) | JobAction::Times));
    sets.filter_map(|step| step.path.get()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_copies_packs_or_shows_permissions_keeps_them() {
        let keeps = |line: &str| keeps_attributes(&line.replace(' ', "\0"));
        for line in [
            "cp a b",
            "/bin/cp -a d e",
            "busybox cp a b",
            "tar cf x d",
            "ls -l d",
            "stat d",
            "find . -ls",
            "zip x a",
        ] {
            assert!(keeps(line), "{line}");
        }
        for line in ["", "cat a", "ls d", "find . -name x", "tar xf x", "chmod +x f", "git log", "git status"]
        {
            assert!(!keeps(line), "{line}");
        }
    }
}
