//! What `clean` spares until it is restored: jobs may have made a copy of what was there before the recording, or packed it, and then
//! changed or removed it. What they made is all that is left of it then.
//!
//! Nobody knows what a program makes of what it reads. So everything counts that was made by a job that read it or gave it another
//! name, and by all that needed such a job.

use crate::again::{sum, with_names};
use crate::owned::is_at;
use iotrail_workflow::jobs::{Job, JobFile, JobId, Jobs, Left, State};
use std::collections::BTreeSet;

/// Things of before that jobs change.
pub(crate) struct Spared<'a> {
    jobs: &'a Jobs,
    sum: String,
    things: Vec<Source<'a>>,
}

/// What was there before the recording.
#[derive(Clone, Copy)]
pub(crate) struct Thing<'a> {
    /// Its number, if jobs change it in an order that is known.
    pub(crate) number: Option<u32>,
    pub(crate) path: &'a str,
    /// Whether it is certain that it was there.
    pub(crate) is_certain: bool,
}

struct Source<'a> {
    thing: Thing<'a>,
    /// A result of those who read it as it was before, or gave it another name.
    heir: Option<&'a str>,
    /// A result of those who read it at any time, also when jobs had only added to it.
    last_heir: Option<&'a str>,
    /// Names that `clean` keeps and that those gave it who gave it another one.
    homes: Vec<&'a str>,
    /// Whether it lies in, or is, a directory that jobs make anew: results have its name, or lie in it.
    replaced: bool,
}

impl<'a> Spared<'a> {
    /// The things; `removes` are the results that `clean` removes, `moved` the names that it keeps because jobs gave them to what was
    /// there before.
    pub(crate) fn of(
        jobs: &'a Jobs,
        things: impl Iterator<Item = Thing<'a>>,
        (removes, moved): (&BTreeSet<&str>, &BTreeSet<&'a str>),
        replaced: &impl Fn(&str) -> bool,
    ) -> Self {
        let source = |thing: Thing<'a>| {
            let heir = |later| heir(jobs, &thing, later, removes);
            let (homes, replaced) = (homes(jobs, thing.path, moved), replaced(thing.path));
            Source { thing, heir: heir(false), last_heir: heir(true), homes, replaced }
        };
        Self { jobs, sum: sum(jobs), things: things.map(source).collect() }
    }

    /// Without those that nothing is made of and no removal depends on.
    pub(crate) fn needed(mut self, removals: &[&str]) -> Self {
        let is_needed = |source: &Source<'_>| {
            source.last_heir.is_some() || removals.iter().any(|path| source.holds(path))
        };
        self.things.retain(is_needed);
        self
    }

    /// What `clean` begins with: it ends where something is not restored that a result is made of.
    pub(crate) fn lines(&self) -> Vec<String> {
        let line = |source: &Source<'a>| {
            let Thing { number, path, is_certain } = source.thing;
            let number = number.map_or_else(|| "-".to_owned(), |number| number.to_string());
            let before = if is_certain { "input" } else { "perhaps" };
            let heirs: Vec<&str> = [source.last_heir, source.heir].into_iter().flatten().collect();
            let command = format!("_spares {number} {before} {}", heirs.len());
            let names = std::iter::once(path).chain(heirs).chain(source.homes.iter().copied());
            with_names(&command, names, self.jobs) + " || exit 1"
        };
        self.things.iter().map(line).collect()
    }

    /// What a removal begins with that is only done where the things that it is at, or in, are as the jobs left them.
    pub(crate) fn guard(&self, path: &str) -> String {
        let above = self.things.iter().filter(|source| source.holds(path));
        let numbers = above.filter_map(|source| source.thing.number);
        numbers.map(|number| format!("test ! -e {} || ", stays(&self.sum, number))).collect()
    }
}

impl Source<'_> {
    fn holds(&self, path: &str) -> bool {
        self.replaced && is_at(path, self.thing.path)
    }
}

/// The first result, if possible one that stays, of those who read the thing or gave it another name, and of all that needed them.
/// `later`: also of those who did so when jobs had only added to it.
fn heir<'a>(jobs: &'a Jobs, thing: &Thing<'_>, later: bool, removes: &BTreeSet<&str>) -> Option<&'a str> {
    let is_of_before = |state: &State| {
        Some(state.thing) == thing.number && matches!(state.left, Left::Input | Left::Perhaps)
    };
    let is_any = thing.number.is_none_or(|number| jobs.lost.binary_search(&number).is_ok());
    let is_early = |job: &Job| is_any || job.finds.iter().any(is_of_before);
    let takes = |job: &Job| {
        let is_of_it = |file: &&JobFile| is_at(&file.path, thing.path);
        // Who only adds to it takes nothing of it.
        let adds = |file: &JobFile| job.outputs.iter().any(|output| output.path == file.path);
        let reads = job.inputs.iter().filter(is_of_it).any(|file| file.read > 0 || !adds(file))
            || job.outputs.iter().filter(is_of_it).any(|file| file.read > 0);
        let moves = || job.moves.iter().any(|path| is_at(path, thing.path) || is_at(thing.path, path));
        (reads || moves()) && (later || is_early(job))
    };
    let mut has_it: Vec<bool> = Vec::with_capacity(jobs.jobs.len());
    let mut first = None;
    for job in &jobs.jobs {
        let has_one = |needed: &JobId| has_it.get(needed.0 as usize).is_some_and(|has_it| *has_it);
        let has = takes(job) || job.needs.iter().any(has_one);
        has_it.push(has);
        for result in job.outputs.iter().filter(|file| has && removes.contains(&*file.path)) {
            if result.stays {
                return Some(&result.path);
            }
            first = first.or(Some(&*result.path));
        }
    }
    first
}

/// Names, of those that `clean` keeps, that jobs gave to what had this one.
fn homes<'a>(jobs: &'a Jobs, path: &str, moved: &BTreeSet<&'a str>) -> Vec<&'a str> {
    const MOST: usize = 4;
    let movers = jobs.jobs.iter().filter(|job| job.moves.iter().any(|name| **name == *path));
    let names = movers.flat_map(|job| {
        let made = job.made.iter().map(|made| &*made.path);
        made.chain(job.outputs.iter().map(|file| &*file.path))
    });
    let homes: BTreeSet<&str> = names.filter_map(|name| moved.get(name).copied()).collect();
    homes.into_iter().take(MOST).collect()
}

/// The file that says, while `clean` is at work, that a thing is as the jobs left it.
fn stays(sum: &str, thing: impl std::fmt::Display) -> String {
    format!(".iotrail/stays-{sum}-{thing}")
}

/// The functions for `sh`; `clean` says how it is run.
pub(crate) fn functions(sum: &str, clean: &str) -> [String; 3] {
    let file = |what: &str| format!(".iotrail/{what}-{sum}-");
    let of_thing = |what: &str| file(what) + "$thing";
    let (is, now) = (of_thing("is"), of_thing("now"));
    let (mark, was, stays) = (of_thing("left"), of_thing("was"), stays(sum, "$thing"));
    [
        "_which() ( sed \"/^d/{s/[^ ]* //;q;}\" | tail -n 1 );".to_owned(),
        format!(
            "_now() ( thing=$1 state=$(_state \"$2\"); echo \"$state\" | _which >{is}; echo \"$state\" | sed \"/^d/{{s/.*/d/;q;}}\" | tail -n 1 >{now} );"
        ),
        format!(
            "_spares() ( thing=$1 what=$2 count=$3 name=$4 last= heir=; shift 4; if test $count -gt 0; then last=$1; shift; fi; \
if test $count -gt 1; then heir=$1; shift; fi; rm -f {stays}; look=$(_state \"$name\" | _which); before=; \
if test -e {mark} && test -e {was}; then why=\"the jobs have changed it\" before=$(_which <{was}); test \"$look\" != \"$before\" || exit 0; \
test \"$look\" = none || test ! -e {is} || test \"$look\" = \"$(cat {is})\" || exit 0; \
else why=\"it is not there\"; test $what = input && test \"$look\" = none && ls .iotrail/ran-* >/dev/null 2>&1 || exit 0; fi; \
if test \"$look\" = none || {{ test -d \"$name\" && test ! -L \"$name\"; }}; then heir=$last; fi; \
for home; do test ! -f \"$home\" || test \"$(_state \"$home\" | _which)\" != \"$before\" || heir=; done; \
if test -n \"$heir\" && test -z \"$FORCE\" && test \"$before\" != none; then \
echo \"$name: $why, and $heir may be all that is left of it; restore it, and run {clean}, or remove $heir too with FORCE=1\" >&2; exit 1; fi; \
echo >{stays} );"
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_workflow::jobs::Made;
    use std::sync::Arc;

    fn reader(read: &[&str], written: &[&str], needs: &[u32]) -> Job {
        let file =
            |path: &&str| JobFile { path: Arc::from(*path), read: 1, stays: true, ..JobFile::default() };
        Job {
            inputs: read.iter().map(file).collect(),
            outputs: written.iter().map(|path| JobFile { read: 0, ..file(path) }).collect(),
            needs: needs.iter().map(|need| JobId(*need)).collect(),
            ..Job::default()
        }
    }

    fn finds(left: Left, job: Job) -> Job {
        let state = State { thing: 0, path: Arc::from("/w/a"), left, remade: Vec::new() };
        Job { finds: vec![state], ..job }
    }

    fn heir_of(jobs: &Jobs, later: bool) -> Option<&str> {
        let removes = jobs.jobs.iter().flat_map(|job| &job.outputs).map(|file| &*file.path).collect();
        heir(jobs, &Thing { number: Some(0), path: "/w/a", is_certain: true }, later, &removes)
    }

    #[test]
    fn all_that_needed_who_read_a_thing_may_hold_it() {
        let first = finds(Left::Input, reader(&["/w/a"], &[], &[]));
        let other = reader(&["/w/b"], &["/w/o"], &[]);
        let last = reader(&[], &["/w/c"], &[0]);
        let jobs = Jobs { jobs: vec![first, other, last], ..Jobs::default() };
        assert_eq!(heir_of(&jobs, false), Some("/w/c"));
    }

    #[test]
    fn who_adds_to_a_thing_takes_nothing_of_it_and_neither_does_who_reads_it_then() {
        let mut adds = finds(Left::Input, reader(&["/w/a"], &["/w/a", "/w/log"], &[]));
        adds.inputs[0].read = 0;
        let jobs = |lost: &[u32]| Jobs {
            jobs: vec![adds.clone(), finds(Left::ByJob(JobId(0)), reader(&["/w/a"], &["/w/c"], &[]))],
            lost: lost.to_vec(),
            ..Jobs::default()
        };
        assert_eq!((heir_of(&jobs(&[]), false), heir_of(&jobs(&[]), true)), (None, Some("/w/c")));
        assert_eq!(heir_of(&jobs(&[0]), false), Some("/w/c"), "it was emptied at some time");
    }

    #[test]
    fn what_got_another_name_is_there_under_that_one() {
        let made = Made { path: Arc::from("/w/t"), moved: true, ..Made::default() };
        let mover = Job { moves: vec![Arc::from("/w/a")], made: vec![made], ..Job::default() };
        let jobs = Jobs { jobs: vec![mover, reader(&["/w/t"], &["/w/c"], &[0])], ..Jobs::default() };
        assert_eq!(homes(&jobs, "/w/a", &BTreeSet::from(["/w/t", "/w/u"])), ["/w/t"]);
        assert_eq!(heir_of(&jobs, true), Some("/w/c"));
    }
}
