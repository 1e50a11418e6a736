//! Running again: what a job sees to before it begins, and how all that the jobs made is removed.
//!
//! A job may run only where it finds what it found in the recording. Of a name that jobs change one after the other, a file in
//! `.iotrail` says which of them has begun last; a job to which the name matters begins only if that is the one that left it so in
//! the recording. What it made where nothing was, it removes first. It looks at all of this before it changes anything: who is
//! refused leaves every result as it was.

use crate::escape::{Base, argument, arguments, single_quoted};
use crate::long_lines::each;
use crate::needed::is_shared;
use crate::owned::{Listing, Owned, above, is_at, is_below, is_given, names, parent};
use crate::spares::{self, Spared, Thing};
use crate::targets::{all_after, begun};
use iotrail_model::text::printable;
use iotrail_workflow::jobs::{Job, JobId, Jobs, Left, Made, State};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Names in one command of what is removed.
const IN_A_LINE: usize = 30;

/// What the file says about the functions, above them, and the function that each line is about, if it is about one.
const EXPLANATION: [(&str, &str); 39] = [
    (
        "",
        "What a job sees to before it begins, so that it gives what it gave in the recording, or is refused and leaves all as it is:",
    ),
    (
        "_found",
        "_found N WHO NAME: the last job that has begun to change NAME is job WHO. \"input\": no job has, and NAME was there before the",
    ),
    (
        "_found",
        "  recording; \"perhaps\": no job has, and it may have been there; \"free\": no job has, and nothing has the",
    ),
    ("_found", "  name; \"nothing\": no job has, and nothing needs to be restored."),
    (
        "_left",
        "_left N JOB...: one of these has begun to change the name last; they run again after this one, which removes it (_remove).",
    ),
    (
        "_only",
        "_only N NAME...: of these names the first N are directories that the job makes anew, and nothing but these names is in them.",
    ),
    (
        "_new",
        "_new MARK (MARK NAME)...: if the job never began here, nothing has the names that those jobs make that never began either. It changes",
    ),
    ("_new", "  files of before, or needs them, and is not done once more where all was done already."),
    (
        "_needs",
        "_needs MARK (MARK NAME)...: if the job never began here, these are there, which those jobs need that never began either: it may",
    ),
    ("_needs", "  change files of before, and is not done where another one cannot be."),
    (
        "_first",
        "_first MARK NAME...: if the job, which leaves MARK, never began here, nothing has these names, which it removes from then on.",
    ),
    ("_real", "_real NAME...: these directories, in which the job removes files, are no links."),
    (
        "_there",
        "_there HOW NAME...: these are there, which a job changes later; a link that leads nowhere is enough if HOW is -L.",
    ),
    ("_free", "_free NAME...: nothing has these names, which the job gives to files of before."),
    (
        "_leaves",
        "_leaves JOB N...: from now on these are as JOB leaves them. .iotrail/left-*-N holds the number of that job.",
    ),
    (
        "_was",
        "_was N NAME: how NAME is before a job changes it for the first time. \"clean\" keeps how the jobs left it, and _found refuses that.",
    ),
    (
        "_spares",
        "_spares N HOW COUNT NAME...: \"clean\" ends here if NAME, which was there before (\"input\") or perhaps, is not restored, and a result",
    ),
    (
        "_spares",
        "  may hold what is left of it: the next COUNT names; the first of them if NAME is gone, the second if it is not. The other names",
    ),
    (
        "_spares",
        "  are kept: what was there before may be there as it was. With FORCE=1, and where nothing is made of it, .iotrail/stays-*-N is left.",
    ),
    ("_unmake", "_unmake N NAME: \"clean\" removes NAME if it was not there before a job changed it."),
    (
        "_same",
        "_same N NAME: a job that overwrites NAME, if that was there before, finds there what the jobs left. _now N NAME: that is what is there now, but for permissions;",
    ),
    (
        "_same",
        "  what differs from that was changed by somebody else, and \"clean\" does not keep it as what the jobs left.",
    ),
    ("", "Then the job removes what it made itself the last time, where it matters that it is not there."),
    (
        "_holds",
        "Of a directory that the jobs made and a job lists, .iotrail/made-*-JOB holds what JOB made there the last time:",
    ),
    (
        "_holds",
        "_holds JOB N NAME...: the first N names are such directories; nothing is there but the other names and what jobs made.",
    ),
    (
        "_clears",
        "_clears N NAME...: the job removes the first N names, directories, with what is in them: the other names, and what jobs made.",
    ),
    (
        "_anew",
        "_anew JOBS N NAME...: of these names the first N are such directories that a job makes anew; nothing is there but the other names and what these jobs made.",
    ),
    (
        "_drops",
        "_drops JOB N NAME...: what JOB made there is removed. _begins JOB N NAME...: what is there now is not made by JOB.",
    ),
    (
        "_keeps",
        "_keeps JOB N NAME...: what is there now is made by JOB, but for what was there and the other names. _ends JOB: it is at work no more.",
    ),
    (
        "_looks",
        "_looks JOB NAME...: .iotrail/looks-*-JOB keeps how these look, which JOB reads and no job makes (_look).",
    ),
    ("_looks", "_permitted JOB NAME...: the same of those whose permissions jobs set, which do not count."),
    (
        "_looks",
        "_leading JOB NAME...: the same of those that jobs rename and nobody reads; of one that is a link only where it leads.",
    ),
    (
        "_looks",
        "_makes JOB NAME...: it keeps that these are there, which JOB makes. _away JOB NAME...: that these are not, which JOB takes away.",
    ),
    (
        "_looks",
        "_left_alone JOB: what JOB reads and no job makes is as it was when JOB began; otherwise others must see it as it is now.",
    ),
    ("_looks", "_changed: the jobs of which one of all these looks otherwise now."),
    (
        "_nowhere",
        "_nowhere JOB NAME...: .iotrail/nowhere-*-JOB keeps which of these are links that lead nowhere when JOB begins. _since JOB: none of",
    ),
    ("_nowhere", "  them leads anywhere now: a later job may have made what it finds there."),
    (
        "",
        "A job that is done leaves a stamp .iotrail/job-*; one that has none, because it failed or was interrupted, is run again.",
    ),
    (
        "",
        "If a job is refused, \"clean\" removes what the jobs made, and says what to restore of what they changed.",
    ),
];

/// What the file says about these functions.
pub(crate) fn explanation(functions: &[String]) -> impl Iterator<Item = &'static str> {
    let is_there = |name: &str| functions.iter().any(|function| function.starts_with(&format!("{name}()")));
    EXPLANATION.into_iter().filter(move |(name, _)| name.is_empty() || is_there(name)).map(|(_, line)| line)
}

/// What a job does before its commands, each a line for `sh`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Preparation {
    /// Ends with an error if the job must not run, and changes nothing.
    pub(crate) checks: String,
    /// Says that the job has begun and removes what must not be there.
    pub(crate) changes: String,
    /// What is done after its commands, however they ended.
    pub(crate) after: String,
}

impl Preparation {
    /// The commands of the job, with what is done after them.
    pub(crate) fn around(&self, commands: &str) -> String {
        if self.after.is_empty() {
            return commands.to_owned();
        }
        format!("( {commands} ); set $?; {}; exit $1", self.after)
    }
}

/// The directories that a job makes, and the files that it removes before it runs.
struct Anew<'a> {
    /// Directories that must not be there.
    strict: Vec<&'a str>,
    /// Directories that are removed if they are empty.
    loose: Vec<&'a str>,
    files: Vec<&'a str>,
    /// With the place: files that it removes below a name that it finds and changes itself, which may be a link to where others lie.
    behind: Vec<(&'a str, &'a str)>,
    /// Files that it empties, and whose names its commands do not say: it may make them no more; and what an interrupted run left.
    chosen: Vec<&'a str>,
    /// Directories in which nothing else may be: those that must be away, and all that the job made in them. What is in a directory
    /// of the jobs is seen to otherwise.
    closed: Vec<&'a str>,
    /// Directories of the jobs that must be away: nothing may be in them but what is removed.
    emptied: Vec<&'a str>,
    /// Names that files of before get: they must be free.
    moved: Vec<&'a str>,
    /// Jobs that run again whenever it does, and that may make more names in the directories that must be away.
    fillers: Vec<usize>,
}

impl<'a> Anew<'a> {
    fn of(number: usize, jobs: &'a Jobs, owned: &Owned<'a>) -> Self {
        let job = &jobs.jobs[number];
        let filling = &owned.fillings[number];
        // Who makes a directory if it is not there needs none of it.
        let fresh = |made: &&Made| made.is_directory && (made.clear || &*job.name != "mkdir");
        let (strict, mut loose): (Vec<&Made>, Vec<&Made>) =
            job.made.iter().filter(fresh).partition(|made| made.clear);
        let within = |path: &str, places: &[&Made]| places.iter().any(|place| is_below(path, &place.path));
        let gone = |made: &&Made| !made.is_directory && !made.moved;
        let removed = |made: &&Made| {
            let is_own = filling.own.contains(&*made.path);
            gone(made) && (made.clear || is_own || within(&made.path, &strict) || within(&made.path, &loose))
        };
        let chosen =
            job.made.iter().filter(|made| gone(made) && !removed(made) && !is_given(job, &made.path));
        let chosen = chosen.map(|made| &*made.path).chain(leftovers(job, jobs)).collect();
        let mut files: Vec<&Made> = job.made.iter().filter(removed).collect();
        let after = if strict.is_empty() { BTreeSet::new() } else { all_after(number, &owned.followers) };
        let followers = after.iter().flat_map(|other| &jobs.jobs[*other].made);
        let followers: Vec<&Made> =
            followers.filter(|made| !made.moved && within(&made.path, &strict)).collect();
        let fills = |other: &usize| {
            let filling = &owned.fillings[*other];
            let mut places = filling.directories.iter();
            filling.open
                && places.any(|place| {
                    strict.iter().any(|made| is_at(place, &made.path) || is_below(&made.path, place))
                })
        };
        let fillers = after.iter().copied().filter(fills).collect();
        files.extend(followers.iter().copied().filter(gone));
        loose.extend(followers.iter().filter(|made| made.is_directory));
        let paths = |made: &[&'a Made]| made.iter().map(|made| &*made.path).collect();
        let own = |state: &&State| job.leaves.binary_search(&state.thing).is_ok();
        let there = job.finds.iter().filter(|state| !matches!(state.left, Left::Free | Left::Nothing));
        let places: Vec<&str> = there.filter(own).map(|state| &*state.path).collect();
        let place = |made: &&Made| places.iter().copied().find(|place| is_below(&made.path, place));
        let behind = files.iter().filter_map(|made| Some((place(made)?, &*made.path))).collect();
        files.retain(|made| place(made).is_none());
        let moved: Vec<&Made> = job.made.iter().filter(|made| made.moved).collect();
        let is_owned =
            |path: &&str| filling.directories.iter().any(|place| path == place || is_below(path, place));
        let closed = strict.iter().chain(loose.iter().filter(|made| within(&made.path, &strict)));
        let (emptied, closed): (Vec<&str>, Vec<&str>) = closed.map(|made| &*made.path).partition(is_owned);
        Self {
            closed,
            emptied: emptied
                .into_iter()
                .filter(|path| strict.iter().any(|made| &*made.path == *path))
                .collect(),
            files: paths(&files),
            behind,
            chosen,
            strict: paths(&strict),
            loose: paths(&loose),
            moved: paths(&moved),
            fillers,
        }
    }
}

impl<'a> Anew<'a> {
    /// The directories of the jobs in which it removes files: a link in the place of one would lead the removal elsewhere.
    fn above_files(&self, jobs: &'a Jobs) -> BTreeSet<&'a str> {
        let made = || jobs.jobs.iter().flat_map(|job| &job.made);
        let others: BTreeSet<&str> =
            made().filter(|made| !made.is_directory).map(|made| &*made.path).collect();
        let directories = made().filter(|made| made.is_directory).map(|made| &*made.path);
        let directories: BTreeSet<&str> = directories.filter(|path| !others.contains(path)).collect();
        let removed = self.files.iter().chain(&self.chosen).chain(&self.strict).chain(&self.loose);
        removed.flat_map(|path| ancestors(path)).filter_map(|path| directories.get(path).copied()).collect()
    }
}

/// The directories that a path is in.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at])
}

/// Files that a job makes for a time, in the place of the jobs, where it would find them if it was interrupted: it lists the directory.
fn leftovers<'a>(job: &'a Job, jobs: &Jobs) -> Vec<&'a str> {
    let base = Base::of(jobs);
    let is_listed = |path: &&str| job.listed.iter().any(|directory| parent(path) == Some(directory));
    let is_inside = |path: &&str| !matches!(base.relative(path).as_bytes(), [b'/', ..] | [b'.', b'.', ..]);
    job.temporaries.iter().map(|path| &**path).filter(is_listed).filter(is_inside).collect()
}

/// Whether a job may be refused, but for names that are taken before it begins for the first time.
pub(crate) fn is_guarded(job: &Job) -> bool {
    let is_strict = |made: &Made| made.is_directory && made.clear;
    !job.finds.is_empty() || job.made.iter().any(|made| made.moved || is_strict(made))
}

/// A job that is at work leaves its mark before its results: so these are looked for first.
const NEW: &str = "_new() ( test ! -e \"$1\" || exit 0; shift; while test -n \"$1\"; do \
if { test -e \"$2\" || test -L \"$2\"; } && test ! -e \"$1\"; then \
echo \"$2: it is not of these jobs, which change files of before; run them where all is as it was then, or move it away, and make again\" >&2; exit 1; fi; \
shift 2; done );";

/// One that is at work has left its mark before it takes a name away.
const NEEDS: &str = "_needs() ( test ! -e \"$1\" || exit 0; shift; while test -n \"$1\"; do \
test -e \"$2\" || test -L \"$2\" || test -e \"$1\" || { \
echo \"$2: it is not there, and another job needs it; restore it, and make again\" >&2; exit 1; }; \
shift 2; done );";

const FIRST: &str = "_first() ( test ! -e \"$1\" || exit 0; shift; for name; do test -e \"$name\" || test -L \"$name\" || continue; \
echo \"$name: it is not of these jobs; move it away, and make again\" >&2; exit 1; done );";

const REAL: &str = "_real() ( for name; do test ! -L \"$name\" || { \
echo \"$name: it is a symbolic link now, and the jobs made a directory; move the link away, and make again\" >&2; exit 1; }; done );";

/// Functions for `sh` that look and mark; the explanation says what each does. They are subshells, so that they leave the variables
/// of the job alone. `clean` says in messages how to begin anew.
pub(crate) fn functions(jobs: &Jobs, owned: &Owned<'_>, clean: &str) -> Option<Vec<String>> {
    let asks = |number: usize| !owned.untouched.results(number, &jobs.jobs[number]).is_empty();
    let is_full = owned.any()
        || jobs.jobs.iter().any(|job| is_guarded(job) || !job.leaves.is_empty())
        || (0..jobs.jobs.len()).any(asks);
    if !is_full {
        let removes = |number: usize| !Anew::of(number, jobs, owned).files.is_empty();
        return (0..jobs.jobs.len()).any(removes).then(|| vec![FIRST.to_owned(), REAL.to_owned()]);
    }
    let sum = sum(jobs);
    let mark = format!(".iotrail/left-{sum}-");
    let was = format!(".iotrail/was-{sum}-");
    let still = format!(".iotrail/still-{sum}-");
    let now = format!(".iotrail/now-{sum}-");
    let is = format!(".iotrail/is-{sum}-");
    // Of a directory: permissions, which one it is, and what is in it. One that was made anew lacks what was in it, but what the jobs put into it
    // and `clean` took away is no change.
    let held = "_held() ( _state \"$1\" | sed \"/^d/{s/.*/d/;q;}\" | tail -n 1 );";
    let state = "_state() ( case $1 in /*) ;; *) set -- \"./$1\";; esac; if test -L \"$1\"; then echo \"l $(readlink \"$1\")\"; elif test -d \"$1\"; then \
stat -c \"%A %i %.9W\" \"$1\"; find \"$1\" -name .iotrail -prune -o -type d -print -o -printf \"%p %s %T@\\n\" | LC_ALL=C sort | cksum; elif test -e \"$1\"; then \
ls -ld \"$1\" | cut -c1-10; if test -f \"$1\"; then cksum <\"$1\"; fi; else echo none; fi );";
    let found = format!(
        "_found() ( was=- also= left={mark}$1; if test -e $left; then was=$(cat $left) || exit; fi; \
case $2 in input) want=- also=\"restore it, \";; perhaps) want=- also=\"restore it if it was there before, \";; free|nothing) want=-;; *) want=$2;; esac; \
if test \"$was\" = $want; then case $2 in input|perhaps) ;; free) _first \"\" \"$3\"; exit;; *) exit 0;; esac; \
test -e {still}$1 && test \"$(cat {still}$1)\" = \"$(_state \"$3\")\" || exit 0; \
if test $2 = perhaps; then also=\"restore it if it was there before, or else move it away, \"; fi; \
echo \"$3: it is still as the jobs left it; ${{also}}or remove {still}$1 if it is as you want it, and make again\" >&2; exit 1; fi; \
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
    let there = "_there() ( how=$1; shift; for name; do test -e \"$name\" || test $how \"$name\" || { \
echo \"$name: it is not there; restore it, and make again\" >&2; exit 1; }; done );";
    let free = "_free() ( for name; do test -e \"$name\" || test -L \"$name\" || continue; \
echo \"$name: it may hold what had another name before the jobs ran; put that back, move $name away, and make again\" >&2; exit 1; done );";
    let same = format!(
        "_same() ( test ! -e {now}$1 || test \"$(cat {was}$1 2>/dev/null)\" = none || test \"$(cat {now}$1)\" = \"$(_held \"$2\")\" || {{ \
echo \"$2: it was changed after the jobs left it, and this one overwrites it; run {clean}, restore it, and make again\" >&2; exit 1; }} );"
    );
    let leaves = format!(
        "_leaves() ( job=$1; shift; mkdir -p .iotrail || exit; for thing; do rm -f {now}$thing; \
echo $job >{mark}$thing.new && mv -f {mark}$thing.new {mark}$thing || exit; done );"
    );
    let left = format!(
        "_left() ( was=; if test -e {mark}$1; then was=$(cat {mark}$1) || exit; fi; shift; for job; do test \"$job\" != \"$was\" || exit 0; done; exit 1 );"
    );
    let remove = format!(
        "_remove() ( thing=$1; shift; for name; do if test -L \"$name\" || test ! -d \"$name\"; then rm -f -- \"$name\"; else \
rmdir -- \"$name\" 2>/dev/null || {{ echo \"$name: it has become a directory since, or something else is in it; run {clean}, and make again\" >&2; exit 1; }}; fi || exit; done; \
rm -f {mark}$thing );"
    );
    // One that was interrupted between the two has changed nothing yet.
    let before = format!(
        "_was() ( test ! -e {mark}$1 || exit 0; mkdir -p .iotrail && _state \"$2\" >{was}$1 && rm -f {still}$1 );"
    );
    let after = format!(
        "_still() ( test -e {mark}$1 && test -e {was}$1 || exit 0; (_same \"$@\") 2>/dev/null || exit 0; \
test ! -e {is}$1 || test \"$(_state \"$2\" | _which)\" = \"$(cat {is}$1)\" || exit 0; _state \"$2\" >{still}$1; \
test \"$(sed \"/^d/q\" {was}$1)\" != \"$(sed \"/^d/q\" {still}$1)\" || rm -f {still}$1 );"
    );
    let unmake = format!(
        "_unmake() ( if test -e {was}$1 && test \"$(cat {was}$1)\" = none; then if test -d \"$2\" && test ! -L \"$2\"; then rmdir -- \"$2\" 2>/dev/null || :; else rm -f -- \"$2\"; fi; \
else echo \"Restore, if it was there before the jobs ran: $2\"; fi );"
    );
    let forget = format!(
        "_forget() ( for entry in .iotrail/* .iotrail/.[!.]*; do case $entry in {still}*) ;; *) rm -rf \"$entry\";; esac; done; \
rmdir .iotrail 2>/dev/null || : );"
    );
    let mut all = vec![
        state.to_owned(),
        held.to_owned(),
        found,
        left,
        remove,
        same,
        only,
        FIRST.to_owned(),
        REAL.to_owned(),
        NEW.to_owned(),
        NEEDS.to_owned(),
        there.to_owned(),
        free.to_owned(),
        leaves,
        before,
        after,
        unmake,
        forget,
    ];
    all.extend(spares::functions(&sum, clean));
    if owned.any() {
        all.extend(filling_functions(&sum, clean));
    }
    Some(all)
}

/// Functions for `sh` that see to directories of the jobs. Names with line breaks are left alone.
fn filling_functions(sum: &str, clean: &str) -> [String; 11] {
    let made = made_list(sum);
    let begun = format!(".iotrail/begun-{sum}-");
    let below = "_below() ( count=$1; shift; nl=$(printf \"\\nx\"); nl=${nl%x}; for place; do test $count -gt 0 || break; count=$((count-1)); \
test -L \"./$place\" || test ! -d \"./$place\" || find \"./$place\" -mindepth 1 ! -path \"*$nl*\"; done | LC_ALL=C sort -u );";
    let rest = "_rest() ( shift $(($1+1)); for name; do printf \"./%s\\n\" \"$name\"; done );";
    let sorted = "LC_ALL=C sort | LC_ALL=C uniq";
    // Whether another job kept or dropped its list while the lists were read.
    let listed = format!("_listed() ( cat {made}* 2>/dev/null | LC_ALL=C grep -qxF -e \"$1\" );");
    // While another job is at work there, or after one was interrupted, nobody knows whose a name is.
    let holds = format!(
        "_holds() ( job=$1; shift; for list in {begun}*; do test \"$list\" = {begun}$job || test ! -e \"$list\" || exit 0; done; \
name=$({{ _below \"$@\"; for time in 1 2; do _rest \"$@\"; cat {made}* 2>/dev/null; done; }} | {sorted} -u | head -n 1); \
test -z \"$name\" || {{ if _listed \"$name\"; then _holds $job \"$@\"; exit; fi; \
for list in {begun}*; do test \"$list\" = {begun}$job || test ! -e \"$list\" || exit 0; done; \
echo \"$name: it is not of these jobs; move it away, and make again\" >&2; exit 1; }}; \
test -e {made}$job || exit 0; for list in {made}*; do test \"$list\" = {made}$job || cat \"$list\" {made}$job | {sorted} -d; done | \
while IFS= read -r name; do if test -e \"$name\" || test -L \"$name\"; then \
echo \"$name: it is not of this job alone; run {clean}, and make again\" >&2; exit 1; fi; done );"
    );
    let clears = format!(
        "_clears() ( name=$({{ _below \"$@\"; for time in 1 2; do _rest \"$@\"; cat {made}* 2>/dev/null; done; }} | {sorted} -u | head -n 1); \
test -z \"$name\" || {{ if _listed \"$name\"; then _clears \"$@\"; exit; fi; echo \"$name: it is not of these jobs; move it away, and make again\" >&2; exit 1; }} );"
    );
    let anew = format!(
        "_anew() ( jobs=$1; shift; \
name=$({{ _below \"$@\"; for time in 1 2; do _rest \"$@\"; for job in $jobs; do cat {made}$job 2>/dev/null; done; done; }} | {sorted} -u | head -n 1); \
test -z \"$name\" || {{ echo \"$name: it is not of this job alone; run {clean}, move away what is left of it, and make again\" >&2; exit 1; }} );"
    );
    let drops = format!(
        "_drops() ( job=$1; shift; test -e {made}$job || exit 0; {{ _below \"$@\"; cat {made}$job; }} | {sorted} -d | LC_ALL=C sort -r | \
while IFS= read -r name; do if test -d \"$name\" && test ! -L \"$name\"; then rmdir \"$name\" 2>/dev/null || :; else rm -f \"$name\" || exit; fi; done && \
rm -f {made}$job );"
    );
    let begins = format!("_begins() ( job=$1; shift; mkdir -p .iotrail && _below \"$@\" >{begun}$job );");
    let keeps = format!(
        "_keeps() ( job=$1; shift; test -e {begun}$job || exit 0; \
{{ _below \"$@\"; for time in 1 2; do cat {begun}$job; _rest \"$@\"; done; }} | {sorted} -u >{begun}$job.new && \
mv -f {begun}$job.new {made}$job && rm -f {begun}$job );"
    );
    let gone = format!(
        "_gone() ( test -e {made}$1 && while IFS= read -r name; do test -e \"$name\" || test -L \"$name\" || {{ echo $2; exit; }}; done <{made}$1 );"
    );
    let ends = format!("_ends() ( rm -f {begun}$1 );");
    [below.to_owned(), rest.to_owned(), listed, holds, clears, anew, drops, begins, keeps, ends, gone]
}

/// What the files in `.iotrail` of these jobs have in their names.
pub(crate) fn sum(jobs: &Jobs) -> String {
    let mut sum = crc32fast::Hasher::new();
    for job in &jobs.jobs {
        sum.update(job.name.as_bytes());
        job.finds.iter().for_each(|state| sum.update(state.path.as_bytes()));
    }
    format!("{:08x}", sum.finalize())
}

/// What a job made in directories of the jobs; its number follows.
pub(crate) fn made_list(sum: &str) -> String {
    format!(".iotrail/made-{sum}-")
}

/// What a job does before its commands; `None` if there is nothing to see to.
pub(crate) fn before(number: usize, jobs: &Jobs, owned: &Owned<'_>) -> Option<Preparation> {
    let job = &jobs.jobs[number];
    let anew = Anew::of(number, jobs, owned);
    let filling = &owned.fillings[number];
    let filled = match (filling.directories.is_empty(), filling.open) {
        (true, _) => None,
        (false, false) => Some(format!("_ends {}", number + 1)),
        (false, true) => fill("_keeps", number, &filling.directories, filling.others.iter().copied(), jobs),
    };
    let of_before = found(jobs, &[Left::Input, Left::Perhaps]);
    let left = job.leaves.iter().filter_map(|thing| Some((*thing, *of_before.get(thing)?)));
    let left = left.filter(|(_, path)| !is_shared(path, jobs));
    let left = left.map(|(thing, path)| of_input("_now", thing, &[path], jobs));
    let after: Vec<String> = filled.into_iter().chain(left).collect();
    let preparation = Preparation {
        checks: checks(number, &anew, jobs, owned),
        changes: changes(number, &anew, jobs, owned),
        after: after.join("; "),
    };
    (preparation != Preparation::default()).then_some(preparation)
}

/// A function with a job, directories that it fills, and names; nothing if there are none.
fn fill<'a>(
    function: &str,
    number: usize,
    directories: &[&'a str],
    names: impl Iterator<Item = &'a str>,
    jobs: &Jobs,
) -> Option<String> {
    let command = format!("{function} {} {}", number + 1, directories.len());
    let names = directories.iter().copied().chain(names);
    (!directories.is_empty()).then(|| with_names(&command, names, jobs))
}

fn checks(number: usize, anew: &Anew<'_>, jobs: &Jobs, owned: &Owned<'_>) -> String {
    let (job, filling) = (&jobs.jobs[number], &owned.fillings[number]);
    let mut parts: Vec<String> = Vec::new();
    let real = anew.above_files(jobs);
    if !real.is_empty() {
        parts.push(with_names("_real", real.into_iter(), jobs));
    }
    let new = owned.untouched.results(number, job);
    let needed = owned.needed.of_others(number, job);
    for (function, of_others) in [("_new", new), ("_needs", needed)] {
        if !of_others.is_empty() {
            let (first, names) = arguments(of_others.iter().map(|(_, name)| *name), jobs);
            let marked = of_others.iter().zip(names);
            let marked = marked.map(|((other, _), name)| format!(" {} {name}", mark(*other, jobs)));
            let line = marked.fold(format!("{function} {}", mark(number, jobs)), |line, pair| line + &pair);
            parts.push(grouped(&first, &line));
        }
    }
    for state in &job.finds {
        let left = match state.left {
            Left::ByJob(other) => (other.0 + 1).to_string(),
            Left::Input => "input".to_owned(),
            Left::Perhaps => "perhaps".to_owned(),
            Left::Free => "free".to_owned(),
            Left::Nothing => "nothing".to_owned(),
        };
        let name = argument(&printable(&Base::of(jobs).relative(&state.path)));
        let found = format!("_found {} {left} {name}", state.thing);
        parts.push(match left_by(state) {
            Some(left_by) => match inside(state, jobs) {
                Some((count, names)) => {
                    let only = with_names(&format!("_only {count}"), names.into_iter(), jobs);
                    format!("if {left_by}; then {only}; else {found}; fi")
                }
                None => format!("{{ {left_by} || {found}; }}"),
            },
            None => found,
        });
    }
    let (read, moved) = (owned.needed.read(number).collect::<Vec<_>>(), owned.needed.moved(number).collect());
    for (how, names) in [("-e", read), ("-L", moved)] {
        if !names.is_empty() {
            parts.push(with_names(&format!("_there {how}"), names.into_iter(), jobs));
        }
    }
    let overwritten = overwritten(job, jobs).into_iter();
    parts.extend(overwritten.map(|(thing, path)| of_input("_same", thing, &[path], jobs)));
    let closed = &anew.closed;
    if !closed.is_empty() {
        // What is in a directory that it fills is seen to otherwise, the directory itself is one of these names.
        let filled = anew.strict.iter().chain(&anew.loose).filter(|path| !closed.contains(path));
        let inside =
            filled.chain(&anew.files).filter(|path| closed.iter().any(|place| is_below(path, place)));
        let names = closed.iter().chain(inside).copied();
        parts.push(with_names(&format!("_only {}", closed.len()), names, jobs));
    }
    if !anew.moved.is_empty() {
        parts.push(with_names("_free", anew.moved.iter().copied(), jobs));
    }
    if !anew.emptied.is_empty() {
        let removed = anew.files.iter().chain(&anew.strict).chain(&anew.loose);
        let inside = removed.filter(|path| anew.emptied.iter().any(|place| is_below(path, place)));
        let names = anew.emptied.iter().chain(inside).copied();
        let who = std::iter::once(number).chain(anew.fillers.iter().copied());
        let who: Vec<String> = who.map(|job| (job + 1).to_string()).collect();
        let who = if who.len() > 1 { format!("\"{}\"", who.join(" ")) } else { who.concat() };
        parts.push(with_names(&format!("_anew {who} {}", anew.emptied.len()), names, jobs));
    }
    let all = filling.own.union(&filling.others).copied();
    let inside = all.filter(|path| filling.listed.iter().any(|place| is_below(path, place)));
    parts.extend(fill("_holds", number, &filling.listed, inside, jobs));
    if let Some(Listing { directories, names }) = owned.listings.get(number) {
        parts.extend(fill("_holds", number, directories, names.iter().copied(), jobs));
    }
    if !filling.cleared.is_empty() {
        let names = filling.cleared.iter().chain(&filling.known).copied();
        parts.push(with_names(&format!("_clears {}", filling.cleared.len()), names, jobs));
    }
    if !anew.files.is_empty() {
        let command = format!("_first {}", mark(number, jobs));
        parts.push(with_names(&command, anew.files.iter().copied(), jobs));
    }
    parts.join(" && ")
}

/// Asks whether one of those that make it again left what has the name now.
fn left_by(state: &State) -> Option<String> {
    let jobs: Vec<String> = state.remade.iter().map(|job| (job.0 + 1).to_string()).collect();
    (!jobs.is_empty()).then(|| format!("_left {} {}", state.thing, jobs.join(" ")))
}

/// If jobs made a directory of what has the name now: how many directories that and those below it are, and their names, outer ones
/// first, with those of the files in them behind.
fn inside<'a>(state: &'a State, jobs: &'a Jobs) -> Option<(usize, Vec<&'a str>)> {
    let made = jobs.jobs.iter().flat_map(|job| &job.made).filter(|made| made.is_directory);
    let directories: BTreeSet<&str> =
        made.map(|made| &*made.path).filter(|path| is_at(path, &state.path)).collect();
    if !directories.contains(&*state.path) {
        return None;
    }
    let below = jobs.jobs.iter().flat_map(names).filter(|path| is_at(path, &state.path));
    let files: BTreeSet<&str> = below.filter(|path| !directories.contains(path)).collect();
    Some((directories.len(), directories.into_iter().chain(files).collect()))
}

/// Leaves a note for later, among those in `.iotrail`. Jobs that look after the directory shall spare it: it is nothing of which git
/// knows, and no file without content.
pub(crate) fn note(file: &str) -> String {
    format!("mkdir -p .iotrail && echo \"*\" >.iotrail/.gitignore && echo >{file}")
}

fn changes(number: usize, anew: &Anew<'_>, jobs: &Jobs, owned: &Owned<'_>) -> String {
    let (job, filling) = (&jobs.jobs[number], &owned.fillings[number]);
    let mut parts: Vec<String> = Vec::new();
    let own = own_results(job, anew, jobs);
    if !own.is_empty() {
        parts.push(format!("{{ test ! -e {} || {{ {}; }}; }}", mark(number, jobs), own.join("; ")));
    }
    let asks = || {
        !owned.untouched.results(number, job).is_empty() || !owned.needed.of_others(number, job).is_empty()
    };
    if !job.made.is_empty() || owned.needed.is_asked(number) || asks() {
        parts.push(note(&mark(number, jobs)));
    }
    for state in &job.finds {
        parts.extend(left_by(state).map(|left_by| {
            let names = inside(state, jobs).map_or_else(|| vec![&*state.path], |(_, names)| names);
            let removal = with_names(&format!("_remove {}", state.thing), names.into_iter().rev(), jobs);
            format!("{{ ! {left_by} || {removal}; }}")
        }));
    }
    let before = found(jobs, &[Left::Input, Left::Perhaps]);
    for thing in &job.leaves {
        parts.extend(before.get(thing).map(|path| of_input("_was", *thing, &[path], jobs)));
    }
    if !job.leaves.is_empty() {
        let things: Vec<String> = job.leaves.iter().map(ToString::to_string).collect();
        parts.push(format!("_leaves {} {}", number + 1, things.join(" ")));
    }
    parts.extend(
        fill("_drops", number, &filling.directories, std::iter::empty(), jobs).filter(|_| filling.open),
    );
    for other in &anew.fillers {
        parts.extend(fill("_drops", *other, &owned.fillings[*other].directories, std::iter::empty(), jobs));
    }
    if !anew.files.is_empty() {
        let (first, names) = arguments(anew.files.iter().copied(), jobs);
        parts.push(grouped(&first, &each("rm -f --", &names, " && ")));
    }
    let mut places: Vec<&str> = anew.strict.iter().chain(&anew.loose).copied().collect();
    // What is below another one comes first.
    places.sort_unstable_by(|a, b| b.cmp(a));
    if !places.is_empty() {
        let (first, names) = arguments(places.into_iter(), jobs);
        parts.push(format!("{{ {first}{} 2>/dev/null || :; }}", each("rmdir --", &names, " 2>/dev/null; ")));
    }
    parts.extend(fill("_begins", number, &filling.directories, std::iter::empty(), jobs));
    parts.join(" && ")
}

/// Commands that remove what a job made itself the last time, where something of before may have the name the first time.
fn own_results(job: &Job, anew: &Anew<'_>, jobs: &Jobs) -> Vec<String> {
    let mut lines = Vec::new();
    if !anew.chosen.is_empty() {
        let (first, names) = arguments(anew.chosen.iter().copied(), jobs);
        lines.push(grouped(&first, &each("rm -f --", &names, "; ")));
    }
    for (place, file) in &anew.behind {
        let (first, names) = arguments([*place, *file].into_iter(), jobs);
        if let [place, file] = &names[..] {
            lines.push(format!("{{ {first}test -L {place} || rm -f -- {file}; }}"));
        }
    }
    // It may have put something else in the place of a directory.
    let places: BTreeSet<&str> = anew.strict.iter().chain(&anew.loose).copied().collect();
    let stay = job.outputs.iter().filter(|file| file.stays).map(|file| &*file.path);
    let (first, others) = arguments(stay.filter(|path| places.contains(path)), jobs);
    if !others.is_empty() {
        lines.push(format!("{{ {first}{} 2>/dev/null || :; }}", each("rm -f --", &others, " 2>/dev/null; ")));
    }
    lines
}

/// What tells that a job has begun in this directory before.
pub(crate) fn mark(number: usize, jobs: &Jobs) -> String {
    begun(JobId(number as u32), &jobs.jobs[number], jobs)
}

/// Names that jobs change and that a job must find as one of these, by their numbers.
fn found<'a>(jobs: &'a Jobs, left: &[Left]) -> BTreeMap<u32, &'a str> {
    let states = jobs.jobs.iter().flat_map(|job| &job.finds).filter(|state| left.contains(&state.left));
    states.map(|state| (state.thing, &*state.path)).collect()
}

/// Names of before, or perhaps of before, that jobs need as they were and that this one overwrites without a look at them, by their
/// numbers.
fn overwritten<'a>(job: &Job, jobs: &'a Jobs) -> Vec<(u32, &'a str)> {
    let is_found = |thing: &u32| job.finds.iter().any(|state| state.thing == *thing);
    let made: BTreeSet<&str> = job.made.iter().map(|made| &*made.path).collect();
    let mut old = found(jobs, &[Left::Perhaps]);
    old.retain(|_, path| !made.contains(path));
    old.extend(found(jobs, &[Left::Input]));
    let blindly = job.leaves.iter().filter(|thing| !is_found(thing));
    blindly
        .filter_map(|thing| Some((*thing, *old.get(thing)?)))
        .filter(|(_, path)| !is_shared(path, jobs))
        .collect()
}

/// A function with the number of what was there before the recording, its name, and perhaps others.
pub(crate) fn of_input(function: &str, thing: u32, paths: &[&str], jobs: &Jobs) -> String {
    with_names(&format!("{function} {thing}"), paths.iter().copied(), jobs)
}

/// A command and the names that it is about.
pub(crate) fn with_names<'a>(command: &str, paths: impl Iterator<Item = &'a str>, jobs: &Jobs) -> String {
    let (first, names) = arguments(paths, jobs);
    grouped(&first, &format!("{command} {}", names.join(" ")))
}

/// A command with the assignments that its words need.
fn grouped(first: &str, line: &str) -> String {
    if first.is_empty() { line.to_owned() } else { format!("{{ {first}{line}; }}") }
}

/// Commands for `sh` that remove what the jobs made, never what was there before the recording, be it under another name.
pub(crate) fn clean(jobs: &Jobs, owned: &Owned<'_>) -> Vec<String> {
    let [of_before, unknown] = [Left::Input, Left::Perhaps].map(|left| found(jobs, &[left]));
    let all_made = || jobs.jobs.iter().flat_map(|job| &job.made);
    let moved = all_made().filter(|made| made.moved).map(|made| &*made.path);
    let moved: BTreeSet<&str> = moved.chain(jobs.kept.iter().map(|path| &**path)).collect();
    let inputs: BTreeSet<&str> = of_before.values().copied().collect();
    let perhaps: BTreeSet<&str> = unknown.values().copied().filter(|path| !inputs.contains(path)).collect();
    // What was in a directory that nobody had made yet was nowhere.
    let is_within = |path: &str| {
        let mut directories = all_made().filter(|made| made.is_directory && !made.moved);
        directories.any(|made| is_below(path, &made.path))
    };
    let inputs: BTreeSet<&str> = inputs.into_iter().filter(|path| !is_within(path)).collect();
    let perhaps: BTreeSet<&str> = perhaps.into_iter().filter(|path| !is_within(path)).collect();
    let unsure = unsure(jobs);
    let kept = |path: &str| inputs.contains(path) || perhaps.contains(path) || moved.contains(path);
    let mut files: Vec<Removal<'_>> = Vec::new();
    let managed = jobs.directories.iter().map(|path| Removal { path, mark: Arc::from(".iotrail") });
    let mut places: Vec<Removal<'_>> = managed.collect();
    // By path, the mark of one who made it.
    let (mut made_files, mut made_places) = (BTreeMap::new(), BTreeMap::new());
    for (number, job) in jobs.jobs.iter().enumerate() {
        let mark: Arc<str> = mark(number, jobs).into();
        let left = leftovers(job, jobs).into_iter().filter(|path| !kept(path));
        files.extend(left.map(|path| Removal { path, mark: mark.clone() }));
        for made in job.made.iter().filter(|made| !kept(&made.path) && !unsure.contains(&*made.path)) {
            let (all, makers) = match made.is_directory {
                true => (&mut places, &mut made_places),
                false => (&mut files, &mut made_files),
            };
            all.push(Removal { path: &made.path, mark: mark.clone() });
            makers.insert(&*made.path, mark.clone());
        }
    }
    // What one job made another one may have replaced by what is no directory, or by one.
    for job in &jobs.jobs {
        let stay = job.outputs.iter().filter(|file| file.stays).map(|file| &*file.path);
        files.extend(stay.filter_map(|path| Some(Removal { path, mark: made_places.get(path)?.clone() })));
        let others = job.directories.iter().map(|path| &**path);
        places.extend(others.filter_map(|path| Some(Removal { path, mark: made_files.get(path)?.clone() })));
    }
    // What lies in a directory that a job made came with the jobs, however it got there.
    let maker_above = |path| above(path).find_map(|at| made_places.get(at));
    let (came, replaced): (BTreeSet<&str>, BTreeSet<&str>) =
        replaced(jobs, &unsure, &kept).into_iter().partition(|path| maker_above(path).is_some());
    files
        .extend(came.into_iter().filter_map(|path| Some(Removal { path, mark: maker_above(path)?.clone() })));
    // What is below another one comes first.
    places.sort_by(|a, b| b.path.cmp(a.path));
    // What was a file once and a directory then may be either.
    let names: BTreeSet<&str> = places.iter().map(|place| place.path).collect();
    let (either, files): (Vec<Removal<'_>>, Vec<Removal<'_>>) =
        files.into_iter().partition(|file| names.contains(file.path));
    let things = || of_before.iter().chain(&unknown).map(|(thing, path)| (*thing, *path));
    let removes: BTreeSet<&str> = files.iter().chain(&either).map(|removal| removal.path).collect();
    let replaced_at =
        |source: &str| all_made().any(|made| made.is_directory && !made.moved && is_at(source, &made.path));
    let all: Vec<&str> =
        [&files, &either, &places].into_iter().flatten().map(|removal| removal.path).collect();
    let numbered =
        of_before.iter().map(|(number, path)| Thing { number: Some(*number), path, is_certain: true });
    let guessed =
        unknown.iter().map(|(number, path)| Thing { number: Some(*number), path, is_certain: false });
    let others = jobs.unordered.iter().map(|path| Thing { number: None, path, is_certain: true });
    let spared = Spared::of(jobs, numbered.chain(guessed).chain(others), (&removes, &moved), &replaced_at)
        .needed(&all);
    let guard = |path: &str| spared.guard(path);
    let mut lines: Vec<String> = spared.lines();
    for (number, filling) in owned.fillings.iter().enumerate() {
        let drops =
            fill("_drops", number, &filling.directories, std::iter::empty(), jobs).filter(|_| filling.open);
        let ways = filling.directories.iter().flat_map(|path| ways(path, jobs));
        lines.extend(drops.map(|drops| unless_linked(ways, jobs) + &drops));
    }
    lines.extend(removals(&files, "rm -f --", "", &guard, jobs));
    lines.extend(removals(&either, "rm -f --", " 2>/dev/null || :", &guard, jobs));
    lines.extend(removals(&places, "rmdir --", " 2>/dev/null || :", &guard, jobs));
    let asked = unknown.iter().filter(|(_, path)| perhaps.contains(*path) && !moved.contains(*path));
    lines.extend(asked.map(|(thing, path)| {
        unless_linked(ways(path, jobs), jobs) + &of_input("_unmake", *thing, &[path], jobs)
    }));
    let changed = things().filter(|(_, path)| inputs.contains(path) || perhaps.contains(path));
    lines.extend(changed.map(|(thing, path)| of_input("_still", thing, &[path], jobs)));
    let forget = if of_before.is_empty() && unknown.is_empty() { "rm -rf .iotrail" } else { "_forget" };
    lines.push(forget.to_owned());
    let says = [
        ("Restore what the jobs changed in place: ", inputs.clone()),
        (
            "Kept, because they may hold what had another name before: ",
            moved.difference(&inputs).copied().collect(),
        ),
        ("Kept, because something may have had the name before: ", replaced),
    ];
    lines.extend(says.iter().filter_map(|(what, names)| line(what, names, jobs)));
    lines
}

/// Names that a job gives to something new, though one before it wrote what may have been there before the recording.
fn unsure(jobs: &Jobs) -> BTreeSet<&str> {
    let mut written: BTreeMap<&str, bool> = BTreeMap::new();
    for job in &jobs.jobs {
        let made: BTreeSet<&str> = job.made.iter().map(|made| &*made.path).collect();
        let used = job.outputs.iter().map(|file| &file.path).chain(&job.temporaries);
        let wrote = used.map(|path| &**path).filter(|path| !made.contains(path));
        for (path, unsure) in wrote.map(|path| (path, true)).chain(made.iter().map(|path| (*path, false))) {
            written.entry(path).or_insert(unsure);
        }
    }
    written.into_iter().filter(|(_, unsure)| *unsure).map(|(path, _)| path).collect()
}

/// Results of which no job is known to have made them where nothing was, or that are `unsure`; `kept` knows those that have a line of
/// their own.
fn replaced<'a>(jobs: &'a Jobs, unsure: &BTreeSet<&str>, kept: &impl Fn(&str) -> bool) -> BTreeSet<&'a str> {
    let base = Base::of(jobs);
    let made: BTreeSet<&str> = jobs.jobs.iter().flat_map(|job| &job.made).map(|made| &*made.path).collect();
    let stay =
        jobs.jobs.iter().flat_map(|job| &job.outputs).filter(|file| file.stays).map(|file| &*file.path);
    let here = stay.filter(|path| !base.relative(path).starts_with('/'));
    here.filter(|path| (unsure.contains(path) || !made.contains(path)) && !kept(path)).collect()
}

/// What `clean` removes, if there is the mark of who made it.
struct Removal<'a> {
    path: &'a str,
    mark: Arc<str>,
}

/// Commands that remove names, a few of one directory in each: only what was made here, and not through a link that somebody put
/// in the place of a directory.
fn removals(
    all: &[Removal<'_>],
    command: &str,
    end: &str,
    guard: &impl Fn(&str) -> String,
    jobs: &Jobs,
) -> Vec<String> {
    let same = |a: &Removal<'_>, b: &Removal<'_>| {
        a.mark == b.mark && parent(a.path) == parent(b.path) && guard(a.path) == guard(b.path)
    };
    let some = all.chunk_by(same).flat_map(|same| same.chunks(IN_A_LINE));
    some.map(|some| {
        let linked = unless_linked(ways(some[0].path, jobs), jobs);
        let (first, names) = arguments(some.iter().map(|removal| removal.path), jobs);
        let line = grouped(&first, &format!("{command} {}", names.join(" ")));
        format!("test ! -e {} || {}{linked}{line}{end}", some[0].mark, guard(some[0].path))
    })
    .collect()
}

/// The directories on the way to a path, from that in which the jobs run.
fn ways<'a>(path: &'a str, jobs: &Jobs) -> Vec<&'a str> {
    let base = Base::of(jobs);
    let inside = |path: &&str| {
        let relative = base.relative(path);
        !relative.starts_with('/') && relative != "."
    };
    above(path).take_while(inside).collect()
}

/// What a command begins with that is not run where one of these is a link.
fn unless_linked<'a>(ways: impl IntoIterator<Item = &'a str>, jobs: &Jobs) -> String {
    let ways: BTreeSet<&str> = ways.into_iter().collect();
    let (first, names) = arguments(ways.into_iter(), jobs);
    names.iter().map(|name| grouped(&first, &format!("test -L {name}")) + " || ").collect()
}

/// What says something about names; nothing if there are none.
fn line(what: &str, names: &BTreeSet<&str>, jobs: &Jobs) -> Option<String> {
    let base = Base::of(jobs);
    let names: Vec<String> = names.iter().map(|path| printable(&base.relative(path)).into_owned()).collect();
    (!names.is_empty())
        .then(|| format!("printf '%s\\n' {}", single_quoted(&format!("{what}{}", names.join(", ")))))
}

#[cfg(test)]
mod tests;
