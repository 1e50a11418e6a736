//! Names that a job looked for in vain, and arguments that may be symbolic links: it runs again when something appears there, or
//! leads elsewhere. What was there when a job ran is in `.iotrail/leads-*` of the makefile, and in the parameters of a rule of Snakemake.

use crate::escape::Base;
use iotrail_workflow::jobs::Jobs;
use std::collections::BTreeSet;

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
}

impl Watched {
    /// Those of the jobs; `name` writes a path if the format can.
    pub(crate) fn of(jobs: &Jobs, name: &impl Fn(&str) -> Option<String>) -> Self {
        let base = Base::of(jobs);
        let mut room = MOST;
        let mut watched = Self::default();
        for job in &jobs.jobs {
            let inside = job.watched.iter().filter(|path| jobs.is_own(path)).map(|path| base.relative(path));
            let mut names = Vec::new();
            for path in inside.filter(|path| !path.starts_with('/') && !path.starts_with("..") && path != ".")
            {
                match name(&path).filter(|_| names.len() < MOST_OF_JOB.min(room)) {
                    Some(name) => names.push(name),
                    None => drop(watched.left_out.insert(path)),
                }
            }
            room -= names.len();
            watched.names.push(names);
        }
        watched
    }

    /// Whether there are any.
    pub(crate) fn any(&self) -> bool {
        self.names.iter().any(|names| !names.is_empty())
    }
}

/// Functions for make: `leads-elsewhere` with the number of a job is something if the names of `watched-N` do not lead where they led when it
/// ran, `are-there` are the files among them, and `keep-leads` is a command that keeps where they lead.
pub(crate) fn of_make(sum: &str, new: &str) -> String {
    let file = format!(".iotrail/leads-{sum}-$1");
    format!(
        "
# Names that a job looked for in vain, or that may be symbolic links. It is run when they lead elsewhere than when it ran last.
watched-base := $(realpath .)
define watched-break


endef
leads-to = $(subst $(watched-break),?,$(strip $(foreach name,$(watched-$1),$(if $(realpath $(name)),$(name)>$(patsubst $(watched-base)/%,%,$(realpath $(name)))))))
leads-differ = $(subst <$1>,,<$2>)$(subst <$2>,,<$1>)
leads-elsewhere = $(if $(call leads-differ,$(call leads-to,$1),$(file <{file})),{new})
are-there = $(foreach name,$(watched-$1),$(if $(realpath $(name)),$(if $(wildcard $(name)/.),,$(name))))
keep-leads = $(if $(call leads-to,$1),printf \"%s\\n\" '$(subst ','\\'',$(call leads-to,$1))' >{file},rm -f {file})
"
    )
}

/// Functions for a Snakefile: `leads` tells names that lead elsewhere, `there` are the files among them.
pub(crate) const OF_SNAKEMAKE: &str = "
# Names that a job looked for in vain, or that may be symbolic links. It is run when they lead elsewhere than when it ran last.
def leads(*names):
    found = [(name, os.path.relpath(os.path.realpath(name))) for name in names if os.path.exists(name)]
    return zlib.crc32(repr(found).encode(\"utf-8\", \"surrogateescape\")) if found else 0

def there(*names):
    return [name for name in names if os.path.exists(name) and not os.path.isdir(name)]
";

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_workflow::jobs::Job;

    #[test]
    fn names_in_the_directory_are_watched_as_far_as_they_are_few() {
        let job = |count: usize| {
            let names = (0..count).map(|number| format!("/w/{number:03}").into());
            Job {
                watched: names.chain(["/etc/x".into(), "/w/a b".into(), "/w".into()]).collect(),
                ..Job::default()
            }
        };
        let jobs =
            Jobs { jobs: vec![job(2), job(MOST_OF_JOB + 1)], base: Some("/w".into()), ..Jobs::default() };
        let watched = Watched::of(&jobs, &|path| Some(path.to_owned()).filter(|path| !path.contains(' ')));
        assert_eq!(
            (&watched.names[0][..], watched.names[1].len()),
            (&["000".into(), "001".into()][..], MOST_OF_JOB)
        );
        assert_eq!(watched.left_out, BTreeSet::from(["100".into(), "a b".into()]));
    }
}
