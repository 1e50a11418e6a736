//! What `clean` spares until it is restored: jobs may have made a copy of what was there before the recording, or packed it, and then
//! changed or removed it. What they made is all that is left of it then.

use crate::again::{of_input, sum};
use crate::owned::is_at;
use iotrail_workflow::jobs::{Job, Jobs, Left};
use std::collections::BTreeSet;

/// Things of before that jobs change.
pub(crate) struct Spared<'a> {
    jobs: &'a Jobs,
    sum: String,
    things: Vec<Source<'a>>,
}

struct Source<'a> {
    thing: u32,
    path: &'a str,
    /// A result of what it held.
    heir: Option<&'a str>,
    /// Whether it lies in, or is, a directory that jobs make anew: results have its name, or lie in it.
    replaced: bool,
}

impl<'a> Spared<'a> {
    /// The things of these numbers and names; `removes` are the results that `clean` removes.
    pub(crate) fn of(
        jobs: &'a Jobs,
        things: impl Iterator<Item = (u32, &'a str)>,
        removes: &BTreeSet<&str>,
        replaced: &impl Fn(&str) -> bool,
    ) -> Self {
        let source = |(thing, path)| {
            let heir = heir(jobs, thing, path, removes);
            Source { thing, path, heir, replaced: replaced(path) }
        };
        Self { jobs, sum: sum(jobs), things: things.map(source).collect() }
    }

    /// Without those that nothing is made of and no removal depends on.
    pub(crate) fn needed(mut self, removals: &[&str]) -> Self {
        self.things.retain(|source| source.heir.is_some() || removals.iter().any(|path| source.holds(path)));
        self
    }

    /// What `clean` begins with: it ends where something is not restored that a result is made of.
    pub(crate) fn lines(&self) -> Vec<String> {
        let line = |source: &Source<'a>| {
            let names: Vec<&str> = std::iter::once(source.path).chain(source.heir).collect();
            of_input("_spares", source.thing, &names, self.jobs) + " || exit 1"
        };
        self.things.iter().map(line).collect()
    }

    /// What a removal begins with that is only done where the things that it is at, or in, are as the jobs left them.
    pub(crate) fn guard(&self, path: &str) -> String {
        let above = self.things.iter().filter(|source| source.holds(path));
        above.map(|source| format!("test ! -e {} || ", stays(&self.sum, source.thing))).collect()
    }
}

impl Source<'_> {
    fn holds(&self, path: &str) -> bool {
        self.replaced && is_at(path, self.path)
    }
}

/// The first result of those who read the thing as it was before, or what became of that.
fn heir<'a>(jobs: &'a Jobs, thing: u32, path: &'a str, removes: &BTreeSet<&str>) -> Option<&'a str> {
    let of_before = |job: &Job| {
        let finds = |left| matches!(left, Left::Input | Left::Perhaps);
        job.finds.iter().any(|state| state.thing == thing && finds(state.left))
    };
    let read = |job: &'a Job| job.inputs.iter().filter(|file| file.read > 0).map(|file| &*file.path);
    let moves = |job: &'a Job| job.made.iter().filter(|made| made.moved).map(|made| &*made.path);
    let mut holders: Vec<&str> = Vec::new();
    for job in &jobs.jobs {
        let is_held = |name: &str| holders.iter().any(|holder| is_at(name, holder));
        let takes = of_before(job)
            && (read(job).any(|name| is_at(name, path)) || moves(job).next().is_some())
            || read(job).any(is_held);
        if takes {
            let results = job.outputs.iter().filter(|file| file.stays).map(|file| &*file.path);
            if let Some(result) = results.clone().find(|result| removes.contains(result)) {
                return Some(result);
            }
            let outputs = job.outputs.iter().map(|file| &*file.path);
            holders.extend(outputs.chain(moves(job)));
        }
    }
    None
}

/// The file that says, while `clean` is at work, that a thing is as the jobs left it.
fn stays(sum: &str, thing: impl std::fmt::Display) -> String {
    format!(".iotrail/stays-{sum}-{thing}")
}

/// The functions for `sh`; `clean` says how it is run.
pub(crate) fn functions(sum: &str, clean: &str) -> [String; 3] {
    let file = |what: &str| format!(".iotrail/{what}-{sum}-");
    let (mark, was, is, now, stays) = (file("left"), file("was"), file("is"), file("now"), stays(sum, "$1"));
    [
        "_which() ( sed \"/^d/{s/[^ ]* //;q;}\" | tail -n 1 );".to_owned(),
        format!(
            "_now() ( state=$(_state \"$2\"); echo \"$state\" | _which >{is}$1; echo \"$state\" | sed \"/^d/{{s/.*/d/;q;}}\" | tail -n 1 >{now}$1 );"
        ),
        format!(
            "_spares() ( rm -f {stays}; test -e {mark}$1 && test -e {was}$1 && test -e {is}$1 || exit 0; \
look=$(_state \"$2\" | _which); test \"$look\" = \"$(cat {is}$1)\" || exit 0; test \"$look\" != \"$(_which <{was}$1)\" || exit 0; \
if test -n \"$3\" && test -z \"$FORCE\" && test \"$(cat {was}$1)\" != none && {{ test -e \"$3\" || test -L \"$3\"; }}; then \
echo \"$2: the jobs have changed it, and $3 may be all that is left of it; restore it, and run {clean}, or remove $3 too with FORCE=1\" >&2; exit 1; fi; \
echo >{stays} );"
        ),
    ]
}
