//! Running again: what a job sees to before it begins, and how all that the jobs made is removed.
//!
//! A job may run only where it finds what it found in the recording. What it made where nothing was, it removes first. Of a name
//! that jobs change one after the other, a file in `.iotrail` says which of them has begun last; a job to which the name matters
//! begins only if that is the one that left it so in the recording.

use crate::escape::arguments;
use iotrail_model::text::printable;
use iotrail_workflow::jobs::{Job, Jobs, Left, Made};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Names in one command of what is removed.
const IN_A_LINE: usize = 30;

/// Functions for `sh`: `_found THING STATE NAME` ends with an error if the name is in another state, `_leaves JOB THING...` says that
/// the job has begun to change these, `_emptied DIRECTORY...` removes directories if nothing else is in them. `clean` says in
/// messages how to begin anew.
pub(crate) fn functions(jobs: &Jobs, clean: &str) -> Option<[String; 3]> {
    let is_guarded =
        |job: &Job| !job.finds.is_empty() || job.made.iter().any(|made| made.clear && made.is_directory);
    if !jobs.jobs.iter().any(is_guarded) {
        return None;
    }
    let mut sum = crc32fast::Hasher::new();
    for job in &jobs.jobs {
        sum.update(job.name.as_bytes());
        job.finds.iter().for_each(|state| sum.update(state.path.as_bytes()));
    }
    let mark = format!(".iotrail/left-{:08x}-", sum.finalize());
    let found = format!(
        "_found() {{ want=$2 also=; case $2 in input) want=- also=\"restore it, \";; nothing) want=-;; esac; \
was=$(cat {mark}$1 2>/dev/null || echo -); test \"$was\" = \"$want\" || {{ \
echo \"$3: job $was has changed it already; run {clean}, ${{also}}and make again\" >&2; exit 1; }}; }};"
    );
    let leaves = format!(
        "_leaves() {{ job=$1; shift; mkdir -p .iotrail; for thing; do echo $job >{mark}$thing || exit; done; }};"
    );
    let emptied = format!(
        "_emptied() {{ for place; do test ! -d \"$place\" || rmdir -- \"$place\" 2>/dev/null || {{ \
echo \"$place: other files are in it; run {clean}, remove it, and make again\" >&2; exit 1; }}; done; }};"
    );
    Some([found, leaves, emptied])
}

/// What a job does before its commands: a line for `sh` that ends with an error if it must not run, and whether it needs the
/// functions; nothing if there is nothing to see to.
pub(crate) fn before(number: usize, job: &Job, jobs: &Jobs) -> Option<(String, bool)> {
    let mut parts: Vec<String> = Vec::new();
    let mut ahead = String::new();
    for state in &job.finds {
        let left = match state.left {
            Left::ByJob(other) => (other.0 + 1).to_string(),
            Left::Input => "input".to_owned(),
            Left::Nothing => "nothing".to_owned(),
        };
        let name = crate::escape::argument(&printable(&base_name(jobs, &state.path)));
        parts.push(format!("_found {} {left} {name}", state.thing));
    }
    if !job.leaves.is_empty() {
        let things: Vec<String> = job.leaves.iter().map(ToString::to_string).collect();
        parts.push(format!("_leaves {} {}", number + 1, things.join(" ")));
    }
    // Who makes a directory if it is not there needs none of it.
    let fresh = |made: &&Made| made.is_directory && (made.clear || &*job.name != "mkdir");
    let places: Vec<&str> = job.made.iter().filter(fresh).map(|made| &*made.path).collect();
    let below = |path: &str| {
        places.iter().any(|place| path.strip_prefix(place).is_some_and(|rest| rest.starts_with('/')))
    };
    let files = job.made.iter().filter(|made| !made.is_directory && (made.clear || below(&made.path)));
    let (first, files) = arguments(files.map(|made| &*made.path), jobs);
    if !files.is_empty() {
        ahead.push_str(&first);
        parts.push(format!("rm -f -- {}", files.join(" ")));
    }
    // Variables of one command are not those of the next.
    let grouped =
        |first: String, line: String| if first.is_empty() { line } else { format!("{{ {first}{line}; }}") };
    let (strict, loose): (Vec<&Made>, Vec<&Made>) =
        job.made.iter().rev().filter(fresh).partition(|made| made.clear);
    let (first, loose) = arguments(loose.iter().map(|made| &*made.path), jobs);
    if !loose.is_empty() {
        parts.push(format!("{{ {first}rmdir -- {} 2>/dev/null || :; }}", loose.join(" ")));
    }
    let (first, strict) = arguments(strict.iter().map(|made| &*made.path), jobs);
    let uses = !job.finds.is_empty() || !job.leaves.is_empty() || !strict.is_empty();
    if !strict.is_empty() {
        parts.push(grouped(first, format!("_emptied {}", strict.join(" "))));
    }
    (!parts.is_empty()).then(|| (format!("{ahead}{}", parts.join(" && ")), uses))
}

fn base_name(jobs: &Jobs, path: &str) -> String {
    crate::escape::Base::of(jobs).relative(path)
}

/// Commands for `sh` that remove what the jobs made, never what was there before the recording.
pub(crate) fn clean(jobs: &Jobs) -> Vec<String> {
    let inputs: BTreeSet<&str> = jobs
        .jobs
        .iter()
        .flat_map(|job| &job.finds)
        .filter(|state| state.left == Left::Input)
        .map(|state| &*state.path)
        .collect();
    let made = || jobs.jobs.iter().flat_map(|job| &job.made).filter(|made| !inputs.contains(&*made.path));
    let files: BTreeSet<&str> = made().filter(|made| !made.is_directory).map(|made| &*made.path).collect();
    let places: BTreeSet<&str> = made().filter(|made| made.is_directory).map(|made| &*made.path).collect();
    let places: BTreeSet<&str> = places.into_iter().chain(jobs.directories.iter().map(Arc::as_ref)).collect();
    // What was a file once and a directory then may be either.
    let (either, files): (Vec<&str>, Vec<&str>) = files.into_iter().partition(|path| places.contains(path));
    let places: Vec<&str> = places.into_iter().rev().collect();
    let mut lines = Vec::new();
    for some in files.chunks(IN_A_LINE) {
        let (first, names) = arguments(some.iter().copied(), jobs);
        lines.push(format!("{first}rm -f -- {}", names.join(" ")));
    }
    for some in either.chunks(IN_A_LINE) {
        let (first, names) = arguments(some.iter().copied(), jobs);
        lines.push(format!("{first}rm -f -- {} 2>/dev/null || :", names.join(" ")));
    }
    for some in places.chunks(IN_A_LINE) {
        let (first, names) = arguments(some.iter().copied(), jobs);
        lines.push(format!("{first}rmdir -- {} 2>/dev/null || :", names.join(" ")));
    }
    lines.push("rm -rf .iotrail".to_owned());
    if !inputs.is_empty() {
        let names: Vec<String> =
            inputs.iter().map(|path| printable(&base_name(jobs, path)).into_owned()).collect();
        let text = format!("Restore what the jobs changed in place: {}", names.join(", "));
        lines.push(format!("echo {}", crate::escape::single_quoted(&text)));
    }
    lines
}
