//! Running again: what a job sees to before it begins, and how all that the jobs made is removed.
//!
//! A job may run only where it finds what it found in the recording. Of a name that jobs change one after the other, a file in
//! `.iotrail` says which of them has begun last; a job to which the name matters begins only if that is the one that left it so in
//! the recording. What it made where nothing was, it removes first. It looks at all of this before it changes anything: who is
//! refused leaves every result as it was.

use crate::escape::{Base, argument, arguments, single_quoted};
use iotrail_model::text::printable;
use iotrail_workflow::jobs::{Job, Jobs, Left, Made};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Names in one command of what is removed.
const IN_A_LINE: usize = 30;

/// What the file says about the functions, above them.
pub(crate) const EXPLANATION: [&str; 9] = [
    "What a job sees to before it begins, so that it gives what it gave in the recording, or is refused and leaves all as it is:",
    "_found N WHO NAME: the last job that has begun to change NAME is job WHO. \"input\": no job has, and NAME was there before the",
    "  recording; \"perhaps\": no job has, and it may have been there; \"nothing\": no job has, and nothing needs to be restored.",
    "_only N NAME...: of these names the first N are directories that the job makes anew, and nothing but these names is in them.",
    "_free NAME...: nothing has these names, which the job gives to files of before.",
    "_leaves JOB N...: from now on these are as JOB leaves them. .iotrail/left-*-N holds the number of that job.",
    "Then the job removes what it made itself the last time, where it matters that it is not there.",
    "A job that is done leaves a stamp .iotrail/job-*; one that has none, because it failed or was interrupted, is run again.",
    "If a job is refused, \"clean\" removes what the jobs made, and says what to restore of what they changed.",
];

/// What a job does before its commands, each a line for `sh`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Preparation {
    /// Ends with an error if the job must not run, and changes nothing.
    pub(crate) checks: String,
    /// Says that the job has begun and removes what must not be there.
    pub(crate) changes: String,
}

/// The directories that a job makes, and the files that it removes before it runs.
struct Anew<'a> {
    /// Directories that must not be there.
    strict: Vec<&'a str>,
    /// Directories that are removed if they are empty.
    loose: Vec<&'a str>,
    files: Vec<&'a str>,
    /// Names that files of before get: they must be free.
    moved: Vec<&'a str>,
}

impl<'a> Anew<'a> {
    fn of(job: &'a Job) -> Self {
        // Who makes a directory if it is not there needs none of it.
        let fresh = |made: &&Made| made.is_directory && (made.clear || &*job.name != "mkdir");
        let (strict, loose): (Vec<&Made>, Vec<&Made>) =
            job.made.iter().filter(fresh).partition(|made| made.clear);
        let within = |path: &str, places: &[&Made]| places.iter().any(|place| is_below(path, &place.path));
        let gone = |made: &&Made| !made.is_directory && !made.moved;
        let removed = |made: &&Made| {
            gone(made) && (made.clear || within(&made.path, &strict) || within(&made.path, &loose))
        };
        let paths = |made: &[&'a Made]| made.iter().map(|made| &*made.path).collect();
        let moved: Vec<&Made> = job.made.iter().filter(|made| made.moved).collect();
        Self {
            files: paths(&job.made.iter().filter(removed).collect::<Vec<_>>()),
            strict: paths(&strict),
            loose: paths(&loose),
            moved: paths(&moved),
        }
    }

    /// The directories in which nothing else may be: those that must be away, and all that the job made in them.
    fn closed(&self) -> Vec<&'a str> {
        let inside = |path: &&&str| self.strict.iter().any(|place| is_below(path, place));
        self.strict.iter().chain(self.loose.iter().filter(inside)).copied().collect()
    }
}

fn is_below(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}

/// Whether a job may be refused.
pub(crate) fn is_guarded(job: &Job) -> bool {
    let anew = Anew::of(job);
    !job.finds.is_empty() || !anew.strict.is_empty() || !anew.moved.is_empty()
}

/// Functions for `sh` that look and mark; the explanation says what each does. They are subshells, so that they leave the variables
/// of the job alone. `clean` says in messages how to begin anew.
pub(crate) fn functions(jobs: &Jobs, clean: &str) -> Option<[String; 4]> {
    if !jobs.jobs.iter().any(|job| is_guarded(job) || !job.leaves.is_empty()) {
        return None;
    }
    let mut sum = crc32fast::Hasher::new();
    for job in &jobs.jobs {
        sum.update(job.name.as_bytes());
        job.finds.iter().for_each(|state| sum.update(state.path.as_bytes()));
    }
    let mark = format!(".iotrail/left-{:08x}-", sum.finalize());
    let found = format!(
        "_found() ( was=- also= left={mark}$1; if test -e $left; then was=$(cat $left) || exit; fi; \
case $2 in input) want=- also=\"restore it, \";; perhaps) want=- also=\"restore it if it was there before, \";; nothing) want=-;; *) want=$2;; esac; \
test \"$was\" = $want && exit; \
case $was in -) why=\"job $want has not left it here\";; \"\"|*[!0-9]*) why=\"$left is damaged, so nobody knows which job has changed it last\" also=\"restore it if a job changed it in place, \";; \
*) why=\"job $was has changed it already\";; esac; \
echo \"$3: $why; run {clean}, ${{also}}and make again\" >&2; exit 1 );"
    );
    let only = format!(
        "_only() ( count=$1; shift; all=/./; for name; do all=\"$all$name/./\"; done; \
for place; do test $count -gt 0 || break; count=$((count-1)); test -e \"$place\" || test -L \"$place\" || continue; \
for entry in \"$place\"/* \"$place\"/.[!.]* \"$place\"/..?*; do test -e \"$entry\" || test -L \"$entry\" || continue; \
case $all in *\"/./$entry/./\"*) test ! -L \"$place\" && continue;; esac; \
echo \"$place: $entry is not of this job; run {clean}, move away what is left in $place, and make again\" >&2; exit 1; done; done );"
    );
    let free = "_free() ( for name; do test -e \"$name\" || test -L \"$name\" || continue; \
echo \"$name: it may hold what had another name before the jobs ran; put that back, move $name away, and make again\" >&2; exit 1; done );";
    let leaves = format!(
        "_leaves() ( job=$1; shift; mkdir -p .iotrail || exit; for thing; do \
echo $job >{mark}$thing.new && mv -f {mark}$thing.new {mark}$thing || exit; done );"
    );
    Some([found, only, free.to_owned(), leaves])
}

/// What a job does before its commands; `None` if there is nothing to see to.
pub(crate) fn before(number: usize, job: &Job, jobs: &Jobs) -> Option<Preparation> {
    let anew = Anew::of(job);
    let preparation =
        Preparation { checks: checks(job, &anew, jobs), changes: changes(number, job, &anew, jobs) };
    (preparation != Preparation::default()).then_some(preparation)
}

fn checks(job: &Job, anew: &Anew<'_>, jobs: &Jobs) -> String {
    let mut parts: Vec<String> = Vec::new();
    for state in &job.finds {
        let left = match state.left {
            Left::ByJob(other) => (other.0 + 1).to_string(),
            Left::Input => "input".to_owned(),
            Left::Perhaps => "perhaps".to_owned(),
            Left::Nothing => "nothing".to_owned(),
        };
        let name = argument(&printable(&Base::of(jobs).relative(&state.path)));
        parts.push(format!("_found {} {left} {name}", state.thing));
    }
    let closed = anew.closed();
    if !closed.is_empty() {
        let all = closed
            .iter()
            .chain(anew.files.iter().filter(|file| closed.iter().any(|place| is_below(file, place))));
        let (first, names) = arguments(all.copied(), jobs);
        parts.push(grouped(&first, &format!("_only {} {}", closed.len(), names.join(" "))));
    }
    if !anew.moved.is_empty() {
        let (first, names) = arguments(anew.moved.iter().copied(), jobs);
        parts.push(grouped(&first, &format!("_free {}", names.join(" "))));
    }
    parts.join(" && ")
}

fn changes(number: usize, job: &Job, anew: &Anew<'_>, jobs: &Jobs) -> String {
    let mut parts: Vec<String> = Vec::new();
    if !job.leaves.is_empty() {
        let things: Vec<String> = job.leaves.iter().map(ToString::to_string).collect();
        parts.push(format!("_leaves {} {}", number + 1, things.join(" ")));
    }
    if !anew.files.is_empty() {
        let (first, names) = arguments(anew.files.iter().copied(), jobs);
        parts.push(grouped(&first, &format!("rm -f -- {}", names.join(" "))));
    }
    let mut places: Vec<&str> = anew.strict.iter().chain(&anew.loose).copied().collect();
    // What is below another one comes first.
    places.sort_unstable_by(|a, b| b.cmp(a));
    if !places.is_empty() {
        let (first, names) = arguments(places.into_iter(), jobs);
        parts.push(format!("{{ {first}rmdir -- {} 2>/dev/null || :; }}", names.join(" ")));
    }
    parts.join(" && ")
}

/// A command with the assignments that its words need.
fn grouped(first: &str, line: &str) -> String {
    if first.is_empty() { line.to_owned() } else { format!("{{ {first}{line}; }}") }
}

/// Commands for `sh` that remove what the jobs made, never what was there before the recording, be it under another name.
pub(crate) fn clean(jobs: &Jobs) -> Vec<String> {
    let found = |left: Left| -> BTreeSet<&str> {
        let states = jobs.jobs.iter().flat_map(|job| &job.finds).filter(|state| state.left == left);
        states.map(|state| &*state.path).collect()
    };
    let all_made = || jobs.jobs.iter().flat_map(|job| &job.made);
    let moved: BTreeSet<&str> = all_made().filter(|made| made.moved).map(|made| &*made.path).collect();
    let inputs = found(Left::Input);
    let perhaps: BTreeSet<&str> = found(Left::Perhaps).difference(&inputs).copied().collect();
    let kept = |path: &str| inputs.contains(path) || perhaps.contains(path) || moved.contains(path);
    let made = || all_made().filter(|made| !kept(&made.path));
    let files: BTreeSet<&str> = made().filter(|made| !made.is_directory).map(|made| &*made.path).collect();
    let places: BTreeSet<&str> = made().filter(|made| made.is_directory).map(|made| &*made.path).collect();
    let places: BTreeSet<&str> = places.into_iter().chain(jobs.directories.iter().map(Arc::as_ref)).collect();
    // What was a file once and a directory then may be either.
    let (either, files): (Vec<&str>, Vec<&str>) = files.into_iter().partition(|path| places.contains(path));
    let places: Vec<&str> = places.into_iter().rev().collect();
    let mut lines = removals(&files, "rm -f --", "", jobs);
    lines.extend(removals(&either, "rm -f --", " 2>/dev/null || :", jobs));
    lines.extend(removals(&places, "rmdir --", " 2>/dev/null || :", jobs));
    lines.push("rm -rf .iotrail".to_owned());
    let says = [
        ("Restore what the jobs changed in place: ", inputs.clone()),
        ("Restore, if they were there before the jobs ran: ", perhaps.difference(&moved).copied().collect()),
        (
            "Kept, because they may hold what had another name before: ",
            moved.difference(&inputs).copied().collect(),
        ),
    ];
    lines.extend(says.iter().filter_map(|(what, names)| line(what, names, jobs)));
    lines
}

/// Commands that remove names, a few in each.
fn removals(paths: &[&str], command: &str, end: &str, jobs: &Jobs) -> Vec<String> {
    let some = paths.chunks(IN_A_LINE).map(|some| arguments(some.iter().copied(), jobs));
    some.map(|(first, names)| format!("{first}{command} {}{end}", names.join(" "))).collect()
}

/// What says something about names; nothing if there are none.
fn line(what: &str, names: &BTreeSet<&str>, jobs: &Jobs) -> Option<String> {
    let base = Base::of(jobs);
    let names: Vec<String> = names.iter().map(|path| printable(&base.relative(path)).into_owned()).collect();
    (!names.is_empty()).then(|| format!("echo {}", single_quoted(&format!("{what}{}", names.join(", ")))))
}

#[cfg(test)]
mod tests;
