//! That all jobs are done and nothing is otherwise since: then none runs again.
//!
//! Jobs that change what was there before find it changed after the first build, and would be refused. Who only builds once more has
//! nothing to restore: where every name that the jobs deal with looks as the last whole build left it, there is nothing to do.

use crate::escape::arguments;
use iotrail_workflow::jobs::{Jobs, Left, State};
use std::collections::BTreeSet;

/// Each build looks at all names.
const MOST: usize = 2000;

/// The names that jobs deal with, where one of them changes what was there before; `None` if none does, or there is no list of them.
pub(crate) fn names(jobs: &Jobs) -> Option<BTreeSet<&str>> {
    let of_before = |state: &State| matches!(state.left, Left::Input | Left::Perhaps);
    if !jobs.jobs.iter().flat_map(|job| &job.finds).any(of_before) {
        return None;
    }
    let mut names: BTreeSet<&str> =
        jobs.directories.iter().chain(&jobs.of_managers).map(|path| &**path).collect();
    for job in &jobs.jobs {
        names.extend(job.inputs.iter().chain(&job.outputs).map(|file| &*file.path));
        names.extend(job.finds.iter().map(|state| &*state.path));
        names.extend(job.made.iter().map(|made| &*made.path));
        let others = [
            &job.temporaries,
            &job.directories,
            &job.found,
            &job.met,
            &job.listed,
            &job.clears,
            &job.watched,
        ];
        names.extend(others.into_iter().flatten().map(|path| &**path));
    }
    let is_listed =
        |names: &BTreeSet<&str>| names.len() <= MOST && !names.iter().any(|name| name.contains('\n'));
    Some(names).filter(is_listed)
}

/// Functions for `sh`; the explanation of `again` says what each does.
pub(crate) fn functions(sum: &str) -> [String; 3] {
    let names = format!(".iotrail/names-{sum}");
    let settled = format!(".iotrail/settled-{sum}");
    let all = |how: &str| {
        format!("tr \"\\n\" \"\\0\" <{names} | TZ=UTC0 xargs -0 stat {how} %f %s %y\" -- 2>/dev/null")
    };
    [
        format!("_states() ( {}; {} );", all("-c \"%N"), all("-L -c \"%n")),
        format!(
            "_settle() ( mkdir -p .iotrail && printf \"%s\\n\" \"$@\" >{names} && _states >{settled}; test -e {settled} );"
        ),
        format!(
            "_settled() ( test -e {settled} && test \"$(_states)\" = \"$(cat {settled})\" && echo yes );"
        ),
    ]
}

/// For make: `settled` is something if there is nothing to do. `--always-make` is to do it all the same.
pub(crate) const OF_MAKE: &str =
    "settled := $(if $(findstring B,$(firstword -$(MAKEFLAGS))),,$(shell _settled))\n";

/// The command that keeps how all of these look.
pub(crate) fn settle(names: &BTreeSet<&str>, jobs: &Jobs) -> String {
    let (first, words) = arguments(names.iter().copied(), jobs);
    format!("{first}_settle {}", words.join(" "))
}
