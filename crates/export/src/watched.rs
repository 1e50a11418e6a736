//! Names that a job looked for in vain, and arguments that may be symbolic links: it runs again when something appears there, or
//! leads elsewhere. What was there when a job ran is in `.iotrail/leads-*` of the makefile, and in the parameters of a rule of Snakemake.

use crate::escape::Base;
use crate::owned;
use iotrail_workflow::jobs::{Issue, Job, Jobs, Left};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Names of one job.
const MOST_OF_JOB: usize = 100;
/// Names of all jobs together: each build looks at them.
const MOST: usize = 5000;

/// What is looked at.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    /// By job, names as they are written.
    pub(crate) names: Vec<Vec<String>>,
    /// Names that are too many, or that the format cannot express.
    pub(crate) left_out: BTreeSet<String>,
    /// What the jobs make or take away: a name that leads there shows what the jobs did, and leads elsewhere for nobody else.
    pub(crate) made: BTreeSet<String>,
    /// Directories of it, in which all is theirs.
    pub(crate) directories: BTreeSet<String>,
    /// Names of any job that no job makes or takes away: what wakes others looks through them, too.
    of_before: BTreeSet<String>,
    /// By job, what it alone makes and may have made by one of its names, through a link to a directory. Not of traces of other tools:
    /// they call what it looked for in vain before as it was told.
    pub(crate) own: Vec<Vec<String>>,
}

impl Watched {
    /// Those of the jobs; `name` writes a path if the format can.
    pub(crate) fn of(jobs: &Jobs, name: &impl Fn(&str) -> Option<String>) -> Self {
        let base = Base::of(jobs);
        let mut room = MOST;
        let mut watched = Self::default();
        for job in &jobs.jobs {
            let inside = of_job(job, jobs).map(|path| base.relative(path));
            let mut names = Vec::new();
            for path in inside.filter(|path| !path.starts_with('/') && path != ".") {
                match name(&path).filter(|_| names.len() < MOST_OF_JOB.min(room)) {
                    Some(name) => names.push(name),
                    None => drop(watched.left_out.insert(path)),
                }
            }
            room -= names.len();
            watched.names.push(names);
        }
        let written = |path: &str| {
            Some(base.relative(path)).filter(|path| !path.starts_with('/')).and_then(|path| name(&path))
        };
        let made = || jobs.jobs.iter().flat_map(owned::names);
        watched.made = made().chain(taken_away(jobs)).filter_map(written).collect();
        let of_jobs = jobs.jobs.iter().flat_map(|job| &job.directories);
        watched.directories = of_jobs.chain(&jobs.directories).filter_map(|path| written(path)).collect();
        let all = watched.names.iter().flatten();
        watched.of_before = all.filter(|name| !watched.made.contains(*name)).cloned().collect();
        let makers = makers(jobs);
        let is_recorded = !jobs.issues.iter().any(|issue| matches!(issue, Issue::UnknownEnvironment));
        for (number, (job, names)) in jobs.jobs.iter().zip(&watched.names).enumerate() {
            let known: BTreeSet<&str> = names.iter().map(|name| last_part(name)).collect();
            let alone = |path: &&str| is_recorded && makers.get(path) == Some(&Some(number));
            let called = |path: &&str| known.contains(last_part(path));
            let own = owned::names(job).filter(alone).filter(called).filter_map(written);
            let own: BTreeSet<String> = own.filter(|path| !names.contains(path)).collect();
            watched.own.push(own.into_iter().collect());
        }
        watched
    }

    /// Whether what a job reads by that name may be what jobs make, because the name may be a link.
    pub(crate) fn may_lead(&self, number: usize, name: &str) -> bool {
        self.of_before.contains(name) || self.names[number].iter().any(|watched| watched == name)
    }

    /// Whether there are any.
    pub(crate) fn any(&self) -> bool {
        self.names.iter().any(|names| !names.is_empty())
    }
}

/// By name, the job that makes or changes it, if no other one does.
fn makers(jobs: &Jobs) -> BTreeMap<&str, Option<usize>> {
    let mut makers: BTreeMap<&str, Option<usize>> = BTreeMap::new();
    for (number, job) in jobs.jobs.iter().enumerate() {
        for path in owned::names(job) {
            let maker = makers.entry(path).or_insert(Some(number));
            *maker = maker.filter(|other| *other == number);
        }
    }
    makers.extend(jobs.directories.iter().map(|path| (&**path, None)));
    makers.extend(taken_away(jobs).map(|path| (path, None)));
    makers
}

/// What a name is called in its directory.
fn last_part(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, last)| last)
}

/// Names of before that jobs find and that are away at the end.
fn taken_away(jobs: &Jobs) -> impl Iterator<Item = &str> {
    let lasting = owned::lasting(jobs);
    let found = jobs.jobs.iter().flat_map(|job| &job.finds);
    let of_before = found.filter(|state| matches!(state.left, Left::Input | Left::Perhaps));
    of_before.map(|state| &*state.path).filter(move |path| !lasting.contains(path))
}

/// What a job looked for in vain, and its arguments that may be links: not what jobs change by its other names, which always looks
/// otherwise.
pub(crate) fn of_job<'a>(job: &'a Job, jobs: &'a Jobs) -> impl Iterator<Item = &'a Arc<str>> {
    let is_shared = |path: &Arc<str>| jobs.shared.binary_search(path).is_ok();
    job.watched.iter().filter(move |path| jobs.is_own(path) && !is_shared(path))
}

/// Functions for `sh`, where those of make do not see to it: links that lead nowhere when a job begins and to what a later one made when it
/// begins again.
pub(crate) fn functions(sum: &str, clean: &str) -> [String; 2] {
    let file = format!(".iotrail/nowhere-{sum}-$job");
    [
        format!(
            "_nowhere() ( job=$1; shift; mkdir -p .iotrail && for name; do \
test ! -L \"$name\" || test -e \"$name\" || printf \"%s\\n\" \"$name\"; done >{file} );"
        ),
        format!(
            "_since() ( job=$1; test ! -e {file} || while IFS= read -r name; do test ! -e \"$name\" || {{ \
echo \"$name: it leads to what a job has made since; run {clean}, and make again\" >&2; exit 1; }}; done <{file} );"
        ),
    ]
}

/// Functions for make: `leads-elsewhere` with the number of a job is something if the names of `watched-N` do not lead where they led when it
/// ran, `are-there` are the files among them, and `keep-leads` is a command that keeps where they lead. `refuse-made`
/// is one that refuses the job if one of them leads to what a job made, but did not when it began (`keep-inner`), unless the job alone makes that by this name (`own-N`); `keep-led` keeps how those look that lead to nothing of the jobs; `unless-theirs` is a name, unless it leads to what the jobs make, whose time is no reason; `still-nowhere` does so if another job made that while it ran.
pub(crate) fn of_make(watched: &Watched, sum: &str, new: &str, clean: &str) -> String {
    let file = format!(".iotrail/leads-{sum}-$1");
    let inner = format!(".iotrail/inner-{sum}-$1");
    let inside = watched.directories.iter().map(|directory| format!("{directory}/%"));
    let made: Vec<String> = watched.made.iter().chain(&watched.directories).cloned().chain(inside).collect();
    let made = made.join(" ");
    format!(
        "
# Names that a job looked for in vain, or that may be symbolic links. It is run when they lead elsewhere than when it ran last,
# but not for what the jobs make there. It may also look through what is one of another job: `through-N`. What it alone makes
# by such a name, through a link to a directory: `own-N`.
watched-base := $(realpath .)
watched-made := {made}
define watched-break


endef
leads-away = $(filter-out $(watched-made),$(patsubst $(watched-base)/%,%,$(realpath $1)))
leads-to = $(subst $(watched-break),?,$(strip $(foreach name,$(watched-$1),$(if $(call leads-away,$(name)),$(name)>$(call leads-away,$(name))))))
leads-differ = $(subst <$1>,,<$2>)$(subst <$2>,,<$1>)
leads-elsewhere = $(if $(call leads-differ,$(call leads-to,$1),$(file <{file})),{new})
are-there = $(foreach name,$(watched-$1),$(if $(call leads-away,$(name)),$(if $(wildcard $(name)/.),,$(name))))
keep-leads = $(if $(call leads-to,$1),printf \"%s\\n\" '$(subst ','\\'',$(call leads-to,$1))' >{file},rm -f {file})
unless-theirs = $(if $(realpath $1),$(if $(call leads-away,$1),$1),$1)
led-away = $(foreach name,$(watched-$1) $(through-$1),$(if $(call leads-away,$(name)),./$(name)))
keep-led = $(if $(call led-away,$1),_looks $1-led $(call led-away,$1),rm -f .iotrail/looks-{sum}-$1-led)
keep-inner = mkdir -p .iotrail && printf \"%s\\n\" '. $(call lead-inside,$1)' >{inner}
lead-inside = $(foreach name,$(watched-$1),$(if $(filter $(watched-made),$(patsubst $(watched-base)/%,%,$(realpath $(name)))),$(name)))
made-since = $(if $(file <{inner}),$(foreach name,$(filter-out $(file <{inner}),$(call lead-inside,$1)),$(if $(call leads-own,$1,$(name)),,$(name))))
leads-own = $(filter $(own-$1),$(patsubst $(watched-base)/%,%,$(filter $(realpath $2),$(realpath $(dir $2))/$(notdir $2))))
made-why = it leads to what a job has made since; run {clean}, and make again
refuse-made = $(if $(call made-since,$1),echo \"$(firstword $(call made-since,$1)): $(made-why)\" >&2; exit 1)
lead-nowhere = $(foreach name,$(watched-$1),$(if $(realpath $(name)),,$(name)))
still-nowhere = for name in $(call lead-nowhere,$1); do test ! -L $$name || test ! -e $$name || {{ echo \"$$name: a job made what it leads to at the same time; run {clean}, and make again without -j\" >&2; exit 1; }}; done
"
    )
}

/// Functions for a Snakefile: `leads` tells names that lead elsewhere, `there` are the files among them.
pub(crate) const OF_SNAKEMAKE: &str = "
# Names that a job looked for in vain, or that may be symbolic links. It is run when they lead elsewhere than when it ran last,
# but not for what the jobs make there.
def theirs(name):
    path = os.path.relpath(os.path.realpath(name))
    return path in MADE or any(path == directory or path.startswith(directory + \"/\") for directory in MADE_DIRECTORIES)

def leads(*names):
    found = [(name, os.path.relpath(os.path.realpath(name))) for name in names if os.path.exists(name) and not theirs(name)]
    return zlib.crc32(repr(found).encode(\"utf-8\", \"surrogateescape\")) if found else 0

def there(*names):
    return [name for name in names if os.path.exists(name) and not os.path.isdir(name) and not theirs(name)]

def unless_theirs(name):
    return [] if os.path.exists(name) and theirs(name) else [name]
";

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_workflow::jobs::JobFile;

    #[test]
    fn names_in_the_directory_are_watched_as_far_as_they_are_few() {
        let job = |count: usize| {
            let names = (0..count).map(|number| format!("/w/{number:03}").into());
            Job {
                watched: names.chain(["/etc/x".into(), "/w/a b".into(), "/w".into()]).collect(),
                ..Job::default()
            }
        };
        let jobs = Jobs {
            jobs: vec![job(2), job(MOST_OF_JOB + 2)],
            base: Some("/w".into()),
            shared: vec!["/w/002".into()],
            ..Jobs::default()
        };
        let watched = Watched::of(&jobs, &|path| Some(path.to_owned()).filter(|path| !path.contains(' ')));
        assert_eq!(
            (&watched.names[0][..], watched.names[1].len()),
            (&["000".into(), "001".into()][..], MOST_OF_JOB)
        );
        assert_eq!(watched.left_out, BTreeSet::from(["101".into(), "a b".into()]));
    }

    #[test]
    fn what_a_job_alone_makes_may_have_the_last_part_of_a_name_that_is_watched() {
        let output = |path: &str| JobFile { path: path.into(), ..JobFile::default() };
        let copies = Job {
            watched: vec!["/w/data/in".into(), "/w/data/out".into(), "/w/made".into()],
            outputs: ["/w/real/out", "/w/real/log", "/w/made"].map(output).to_vec(),
            ..Job::default()
        };
        let own = |others: &[Job]| {
            let jobs = others.iter().chain([&copies]).cloned().collect();
            let jobs = Jobs { jobs, base: Some("/w".into()), ..Jobs::default() };
            Watched::of(&jobs, &|path| Some(path.to_owned())).own.pop().unwrap()
        };
        assert_eq!(own(&[]), ["real/out"]);
        assert!(own(&[Job { outputs: vec![output("/w/real/out")], ..Job::default() }]).is_empty());
        let traced = Jobs {
            issues: vec![Issue::UnknownEnvironment],
            jobs: vec![copies.clone()],
            base: Some("/w".into()),
            ..Jobs::default()
        };
        assert!(Watched::of(&traced, &|path| Some(path.to_owned())).own[0].is_empty());
    }
}
