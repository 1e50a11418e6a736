//! Laws of what a job sees to before it begins, each with a real shell in a real directory.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use super::*;
use crate::targets::{Before, Names, followers};
use iotrail_workflow::jobs::{JobFile, JobId, State};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const MARK: &str = ".iotrail/left-";

/// A job that makes `d/1` and `d/2`, after it changed what was there before.
fn splitter() -> Job {
    let made = vec![made("/w/d/1"), made("/w/d/2")];
    Job { made, finds: vec![state(Left::Input)], leaves: vec![0], ..Job::default() }
}

fn state(left: Left) -> State {
    State { thing: 0, path: "/w/x".into(), left, remade: Vec::new() }
}

fn made(path: &str) -> Made {
    Made { path: path.into(), clear: true, ..Made::default() }
}

fn directory(path: &str) -> Made {
    Made { is_directory: true, ..made(path) }
}

fn moved(path: &str) -> Made {
    Made { moved: true, ..made(path) }
}

fn one(job: Job) -> Jobs {
    Jobs { jobs: vec![job], base: Some("/w".into()), ..Jobs::default() }
}

/// What a shell says on stderr that goes through the preparation of the first job and then a command; `None` if it did not fail.
fn run(jobs: &Jobs, place: &Path, command: &str) -> Option<String> {
    run_job(0, jobs, place, command)
}

/// What each job sees to in a makefile.
fn owned(jobs: &Jobs) -> Owned<'_> {
    let name = |path: &str| Some(path.to_owned());
    let mut owned = Owned::of(jobs);
    owned.followers = followers(jobs, &owned, Before::Kept, &Names { target: name, input: name });
    owned
}

/// The same of any job.
fn run_job(number: usize, jobs: &Jobs, place: &Path, command: &str) -> Option<String> {
    let owned = owned(jobs);
    let before = before(number, jobs, &owned).unwrap_or_default();
    let parts: Vec<&str> =
        [&*before.checks, &*before.changes].into_iter().filter(|part| !part.is_empty()).collect();
    in_shell(jobs, place, &format!("{} || exit; {}", parts.join(" && "), before.around(command)))
}

/// What a shell says on stderr that knows the functions; `None` if it did not fail.
fn in_shell(jobs: &Jobs, place: &Path, command: &str) -> Option<String> {
    let owned = Owned::of(jobs);
    let functions = functions(jobs, &owned, "clean").map(|functions| functions.join(" ")).unwrap_or_default();
    let line = format!("{functions} {command}");
    let mut shell = Command::new("sh");
    let output = shell.args(["-c", &line]).current_dir(place).stdin(Stdio::null()).output().unwrap();
    (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

/// All that lies below, and what is in it.
fn all(place: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(place).unwrap().map(|entry| entry.unwrap().path()) {
        let name = entry.to_string_lossy().into_owned();
        if entry.is_dir() && !entry.is_symlink() {
            found.extend(all(&entry));
            found.insert(name, Vec::new());
        } else {
            found.insert(name, fs::read(&entry).unwrap_or_default());
        }
    }
    found
}

fn put(place: &Path, names: &[&str]) {
    for name in names {
        let path = place.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, name).unwrap();
    }
}

/// All jobs have begun here before.
fn begin(jobs: &Jobs, place: &Path) {
    let marks: Vec<String> = (0..jobs.jobs.len()).map(|number| mark(number, jobs)).collect();
    put(place, &marks.iter().map(String::as_str).collect::<Vec<_>>());
}

/// The file that says who left the only thing.
fn left_file(jobs: &Jobs, place: &Path) -> std::path::PathBuf {
    fs::create_dir_all(place.join(".iotrail")).unwrap();
    place.join(format!("{MARK}{}-0", sum(jobs)))
}

#[test]
fn a_job_does_not_run_where_what_a_later_one_changes_is_missing() {
    let place = tempfile::tempdir().unwrap();
    let input = JobFile { path: Arc::from("/w/x"), read: 1, ..JobFile::default() };
    let reader = Job { finds: vec![state(Left::Input)], inputs: vec![input], ..Job::default() };
    let refused = "x: it is not there; restore it, and make again";
    let jobs = one(reader.clone());
    assert!(run(&jobs, place.path(), ":").unwrap().contains(refused));
    std::os::unix::fs::symlink("nowhere", place.path().join("x")).unwrap();
    assert!(run(&jobs, place.path(), ":").unwrap().contains(refused));
    let mover = Job { inputs: Vec::new(), moves: vec![Arc::from("/w/x")], ..reader.clone() };
    assert_eq!(run(&one(mover), place.path(), ":"), None, "a link is renamed, wherever it leads");
    let input = JobFile { path: Arc::from("/w/x"), ..JobFile::default() };
    let remover = Job { inputs: vec![input], ..reader };
    assert_eq!(run(&one(remover), place.path(), ":"), None, "or removed");
}

#[test]
fn a_job_runs_only_where_it_finds_what_it_found() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("x"), "x").unwrap();
    let other = Left::ByJob(JobId(2));
    let cases: [(Left, Option<&str>, &str); 18] = [
        (Left::Input, None, ""),
        (Left::Input, Some("3\n"), "x: job 3 has changed it already; run clean, restore it, and make again"),
        (Left::Perhaps, None, ""),
        (
            Left::Perhaps,
            Some("3\n"),
            "x: job 3 has changed it already; run clean, restore it if it was there before, and make again",
        ),
        (Left::Nothing, None, ""),
        (Left::Free, None, "x: it is not of these jobs; move it away, and make again"),
        (Left::Free, Some("3\n"), "x: job 3 has changed it already; run clean, and make again"),
        (Left::Nothing, Some("3\n"), "x: job 3 has changed it already; run clean, and make again"),
        (other, Some("3\n"), ""),
        (other, Some("3"), ""),
        (other, Some("33\n"), "x: job 33 has changed it already; run clean, and make again"),
        (other, None, "x: job 3 has not left it here; run clean, and make again"),
        (other, Some(""), "is damaged, so nobody knows which job has changed it last; run clean"),
        (other, Some("3 4"), "is damaged"),
        (other, Some("-"), "job 3 has not left it here"),
        (Left::Input, Some(""), "is damaged"),
        (Left::Input, Some("*"), "is damaged"),
        (Left::Nothing, Some("\n"), "is damaged"),
    ];
    for (left, written, wanted) in cases {
        let jobs = one(Job { finds: vec![state(left)], ..Job::default() });
        let file = left_file(&jobs, place.path());
        let _ = fs::remove_file(&file);
        written.into_iter().for_each(|text| fs::write(&file, text).unwrap());
        let said = run(&jobs, place.path(), ":");
        match said {
            None => assert_eq!(wanted, "", "{left:?} {written:?}"),
            Some(said) => {
                assert!(!wanted.is_empty() && said.contains(wanted), "{left:?} {written:?}: {said}")
            }
        }
    }
}

#[test]
fn who_is_refused_leaves_everything_as_it_is() {
    let results = vec![directory("/w/d"), directory("/w/d/e"), made("/w/d/e/f"), made("/w/r"), moved("/w/m")];
    let leaves = vec![0];
    let refused = [
        ("another job changed x", Left::Input, vec!["d/e/f", "r"], "has changed it already"),
        ("a file of a person", Left::Nothing, vec!["d/e/f", "r", "d/note"], "d: d/note is not of this job"),
        ("one with a dot", Left::Nothing, vec!["d/e/f", "r", "d/e/.x"], "d/e: d/e/.x is not of this job"),
        ("a directory of a person", Left::Nothing, vec!["d/e/f", "r", "d/g/h"], "d: d/g is not of this job"),
        ("a file of before", Left::Nothing, vec!["d/e/f", "r", "m"], "m: it may hold what had another name"),
    ];
    for (what, left, names, wanted) in refused {
        let place = tempfile::tempdir().unwrap();
        put(place.path(), &names);
        let jobs = one(Job {
            finds: vec![state(left)],
            leaves: leaves.clone(),
            made: results.clone(),
            ..Job::default()
        });
        if left == Left::Input {
            fs::write(left_file(&jobs, place.path()), "7\n").unwrap();
        }
        let before = all(place.path());
        let said = run(&jobs, place.path(), "echo ran >ran").unwrap();
        assert!(said.contains(wanted), "{what}: {said}");
        assert_eq!(all(place.path()), before, "{what}");
    }
}

#[test]
fn what_a_job_made_itself_is_removed_before_it_makes_it_again() {
    let place = tempfile::tempdir().unwrap();
    put(place.path(), &["d/e/f", "d/*", "d/a b", "-x", "it's", "keep"]);
    fs::create_dir(place.path().join("d/empty")).unwrap();
    let made = vec![
        made("/w/-x"),
        directory("/w/d"),
        made("/w/d/*"),
        made("/w/d/a b"),
        made("/w/d/line\nbreak"),
        Made { clear: false, ..directory("/w/d/e") },
        made("/w/d/e/f"),
        Made { clear: false, ..directory("/w/d/empty") },
        made("/w/it's"),
    ];
    put(place.path(), &["d/line\nbreak"]);
    let jobs = one(Job { leaves: vec![0], made, ..Job::default() });
    begin(&jobs, place.path());
    assert_eq!(run(&jobs, place.path(), "mkdir d"), None);
    let file = left_file(&jobs, place.path());
    assert_eq!(fs::read_to_string(&file).unwrap(), "1\n");
    let left: Vec<String> = all(place.path()).into_keys().filter(|name| !name.contains(".iotrail")).collect();
    assert_eq!(left, ["d", "keep"].map(|name| place.path().join(name).to_string_lossy().into_owned()));
    // Nothing is left beside the mark, what hides all from git, and the file that was written whole.
    assert_eq!(fs::read_dir(place.path().join(".iotrail")).unwrap().count(), 3);
}

#[test]
fn what_lies_under_the_name_of_a_result_before_a_job_began_is_not_removed() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let first = Job { made: vec![made("/w/d/1"), made("/w/d/2")], ..Job::default() };
    let second = Job { made: vec![made("/w/b")], ..Job::default() };
    let jobs = Jobs { jobs: vec![first, second], base: Some("/w".into()), ..Jobs::default() };
    put(place, &["a b", "d/2", "x"]);
    let before = all(place);
    let said = run(&jobs, place, "touch ran").unwrap();
    assert!(said.contains("d/2: it is not of these jobs; move it away, and make again"), "{said}");
    let clean = clean(&jobs, &Owned::of(&jobs)).join("; ");
    assert_eq!(in_shell(&jobs, place, &clean), None);
    assert_eq!(all(place), before, "clean removes nothing either");
    std::os::unix::fs::symlink("nowhere", place.join("b")).unwrap();
    assert!(
        run_job(1, &jobs, place, ":").unwrap().contains("b: it is not of these jobs"),
        "a link that leads nowhere"
    );
    fs::remove_file(place.join("d/2")).unwrap();
    assert_eq!(run(&jobs, place, "touch d/1 d/2"), None);
    assert_eq!(run(&jobs, place, "touch d/1 d/2"), None, "it made them");
    assert_eq!(in_shell(&jobs, place, &clean), None);
    assert!(!place.join("d/1").exists() && place.join("b").is_symlink(), "the other job never began");
}

#[test]
fn clean_goes_through_no_link_in_the_place_of_a_directory() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let made = vec![directory("/w/a b"), directory("/w/a b/-c"), made("/w/a b/-c/f"), made("/w/r")];
    let jobs = one(Job { made, ..Job::default() });
    let clean = clean(&jobs, &Owned::of(&jobs)).join("; ");
    let build = || {
        put(place, &["a b/-c/f", "r"]);
        begin(&jobs, place);
    };
    for directory in ["a b", "a b/-c"] {
        build();
        fs::rename(place.join(directory), place.join("other")).unwrap();
        std::os::unix::fs::symlink(place.join("other"), place.join(directory)).unwrap();
        let kept = all(&place.join("other"));
        assert_eq!(in_shell(&jobs, place, &clean), None);
        assert_eq!(all(&place.join("other")), kept, "{directory}");
        assert!(!place.join("r").exists());
        fs::remove_file(place.join(directory)).unwrap();
        fs::remove_dir_all(place.join("other")).unwrap();
    }
    build();
    assert_eq!(in_shell(&jobs, place, &clean), None);
    assert_eq!(fs::read_dir(place).unwrap().count(), 0);
}

#[test]
fn a_link_in_the_place_of_a_directory_is_not_gone_through() {
    let place = tempfile::tempdir().unwrap();
    put(place.path(), &["other/f"]);
    std::os::unix::fs::symlink("other", place.path().join("d")).unwrap();
    let jobs = one(Job { made: vec![directory("/w/d"), made("/w/d/f")], ..Job::default() });
    assert!(run(&jobs, place.path(), ":").unwrap().contains("d: it is a symbolic link now"));
    assert!(place.path().join("other/f").exists());
}

#[test]
fn a_job_keeps_its_variables() {
    let place = tempfile::tempdir().unwrap();
    let names = [
        "was", "want", "also", "why", "left", "count", "all", "name", "place", "entry", "job", "thing",
        "list", "nl", "time",
    ];
    let job = Job {
        finds: vec![state(Left::Nothing)],
        leaves: vec![0],
        made: vec![directory("/w/d"), moved("/w/m")],
        ..Job::default()
    };
    let test = names.map(|name| format!("test \"${{{name}-unset}}\" = unset")).join(" && ");
    assert_eq!(run(&one(job), place.path(), &test), None);
}

#[test]
fn clean_removes_no_file_that_was_there_before_under_any_name() {
    let place = tempfile::tempdir().unwrap();
    put(place.path(), &["x", "m", "r", "d/f", ".iotrail/job-1"]);
    let made = vec![made("/w/x"), moved("/w/m"), made("/w/r"), directory("/w/d"), made("/w/d/f")];
    for (left, says) in
        [(Left::Input, "Restore what the jobs changed in place: x"), (Left::Perhaps, "Restore, if it was")]
    {
        put(place.path(), &["r"]);
        let jobs = one(Job { finds: vec![state(left)], made: made.clone(), ..Job::default() });
        begin(&jobs, place.path());
        let owned = Owned::of(&jobs);
        let functions = functions(&jobs, &owned, "clean").unwrap().join(" ");
        let lines = format!("{functions} {}", clean(&jobs, &owned).join("; "));
        let output = Command::new("sh").args(["-c", &lines]).current_dir(place.path()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            said.contains(says)
                && said.contains("Kept, because they may hold what had another name before: m"),
            "{said}"
        );
        let left: Vec<String> = all(place.path()).into_keys().collect();
        assert_eq!(left, ["m", "x"].map(|name| place.path().join(name).to_string_lossy().into_owned()));
    }
}

#[test]
fn who_changes_a_file_of_before_is_refused_where_results_are_of_nobody() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("r"), "r").unwrap();
    let old = JobFile { path: "/w/old".into(), older: true, stays: true, ..JobFile::default() };
    let result = JobFile { path: "/w/r".into(), stays: true, ..JobFile::default() };
    let changer = Job { outputs: vec![old], ..Job::default() };
    let maker =
        Job { made: vec![Made { free: true, ..made("/w/r") }], outputs: vec![result], ..Job::default() };
    let jobs = Jobs { jobs: vec![changer, maker], ..one(Job::default()) };
    let refused = "r: it is not of these jobs, which change files of before";
    assert!(run(&jobs, place.path(), ":").unwrap().contains(refused));
    let mark = place.path().join(mark(1, &jobs));
    fs::create_dir_all(mark.parent().unwrap()).unwrap();
    fs::write(&mark, "").unwrap();
    assert_eq!(run(&jobs, place.path(), ":"), None, "the other job made it");
}

#[test]
fn functions_stand_between_single_quotes_of_a_makefile() {
    let lister = Job { listed: vec!["/w/d".into()], ..splitter() };
    let jobs = Jobs { directories: vec!["/w/d".into()], ..one(lister) };
    for function in functions(&jobs, &Owned::of(&jobs), "\\\"make clean\\\"").unwrap() {
        assert!(
            !function.contains('\'') && !function.contains('#') && !function.contains('\n'),
            "{function}"
        );
    }
}

/// Two jobs that make names in a directory that a third one lists.
fn two_fillers() -> Jobs {
    let filler =
        |paths: &[&str]| Job { made: paths.iter().map(|path| made(path)).collect(), ..Job::default() };
    let lister = Job { listed: vec!["/w/d".into()], ..Job::default() };
    let mut second = filler(&["/w/d/b", "/w/d/s/c"]);
    second.made.push(Made { clear: false, ..directory("/w/d/s") });
    Jobs {
        jobs: vec![filler(&["/w/d/1", "/w/d/2"]), second, lister],
        base: Some("/w".into()),
        directories: vec!["/w/d".into()],
        ..Jobs::default()
    }
}

/// The names in `d`, and below.
fn inside(place: &Path) -> Vec<String> {
    let names = all(&place.join("d")).into_keys();
    names.map(|name| name.split_once("/d/").unwrap().1.to_owned()).collect()
}

#[test]
fn a_job_removes_what_it_made_the_last_time_in_a_directory_of_the_jobs() {
    let place = tempfile::tempdir().unwrap();
    let (place, jobs) = (place.path(), two_fillers());
    fs::create_dir(place.join("d")).unwrap();
    let make = |number, line: &str| assert_eq!(run_job(number, &jobs, place, line), None, "{line}");
    make(0, "touch d/1 d/2 d/3 'd/a b' d/-x; mkdir -p d/e; touch d/e/f");
    make(1, "mkdir -p d/s; touch d/b d/s/c d/q");
    make(0, "touch d/1");
    assert_eq!(inside(place), ["1", "b", "q", "s", "s/c"], "what the other made stays");
    make(0, "touch d/1 d/4; false || :");
    make(1, "mkdir -p d/s; touch d/s/c");
    assert_eq!(inside(place), ["1", "4", "s", "s/c"]);
    // Who fails says what it made, too.
    assert!(run_job(0, &jobs, place, "touch d/7; exit 3").is_some());
    make(0, "touch d/2");
    assert_eq!(inside(place), ["2", "s", "s/c"]);
    let clean = clean(&jobs, &Owned::of(&jobs)).join("; ");
    make(0, "touch d/9");
    assert_eq!(in_shell(&jobs, place, &clean), None);
    assert!(!place.join("d").exists(), "{:?}", inside(place));
}

#[test]
fn what_no_job_made_is_not_removed_from_a_directory_of_the_jobs() {
    let place = tempfile::tempdir().unwrap();
    let (place, jobs) = (place.path(), two_fillers());
    put(place, &["d/1", "d/b", "d/s/c"]);
    begin(&jobs, place);
    assert_eq!(run_job(0, &jobs, place, "touch d/1 d/3"), None, "names of the recording are of the jobs");
    put(place, &["d/note"]);
    let before = all(place);
    let said = run_job(0, &jobs, place, "touch ran").unwrap();
    assert!(said.contains("./d/note: it is not of these jobs; move it away"), "{said}");
    assert_eq!(all(place), before);
    fs::remove_file(place.join("d/note")).unwrap();
    // While another job is at work, its names are nobody's yet.
    fs::write(place.join(format!(".iotrail/begun-{}-2", sum(&jobs))), "").unwrap();
    put(place, &["d/b.tmp"]);
    assert_eq!(run_job(0, &jobs, place, "touch d/1"), None);
    assert!(place.join("d/b.tmp").exists() && !place.join("d/3").exists());
    // A link in the place of the directory is not gone through.
    fs::rename(place.join("d"), place.join("other")).unwrap();
    std::os::unix::fs::symlink("other", place.join("d")).unwrap();
    let sum = sum(&jobs);
    fs::write(place.join(format!(".iotrail/made-{sum}-1")), "./d/b.tmp\n").unwrap();
    let _ = run_job(0, &jobs, place, ":");
    assert!(place.join("other/b.tmp").exists());
}

#[test]
fn a_job_that_removes_a_directory_is_refused_while_anything_else_lies_in_it() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let maker = Job { made: vec![directory("/w/d"), made("/w/d/1")], ..Job::default() };
    let remover = Job { clears: vec!["/w/d".into()], ..Job::default() };
    let jobs = Jobs { jobs: vec![maker, remover], base: Some("/w".into()), ..Jobs::default() };
    assert_eq!(run_job(1, &jobs, place, ":"), None, "nothing is there");
    put(place, &["d/1"]);
    assert_eq!(run_job(1, &jobs, place, ":"), None, "a job made it");
    put(place, &["d/.note"]);
    // Another job that is at work makes no difference.
    fs::create_dir(place.join(".iotrail")).unwrap();
    fs::write(place.join(format!(".iotrail/begun-{}-1", sum(&jobs))), "").unwrap();
    let said = run_job(1, &jobs, place, "rm -rf d").unwrap();
    assert!(said.contains("./d/.note: it is not of these jobs; move it away"), "{said}");
    assert!(place.join("d/1").exists());
    fs::write(place.join(format!(".iotrail/made-{}-1", sum(&jobs))), "./d/.note\n").unwrap();
    assert_eq!(run_job(1, &jobs, place, "rm -rf d"), None, "a later run made it");
}

#[test]
fn what_two_jobs_may_have_made_at_a_time_is_not_removed() {
    let place = tempfile::tempdir().unwrap();
    let (place, jobs) = (place.path(), two_fillers());
    put(place, &["d/x"]);
    let sum = sum(&jobs);
    fs::create_dir(place.join(".iotrail")).unwrap();
    for job in ["1", "2"] {
        fs::write(place.join(format!(".iotrail/made-{sum}-{job}")), "./d/x\n").unwrap();
    }
    let said = run_job(0, &jobs, place, ":").unwrap();
    assert!(said.contains("./d/x: it is not of this job alone; run clean"), "{said}");
    assert!(place.join("d/x").exists());
}

#[test]
fn what_a_job_changed_must_be_restored_after_clean() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let jobs = one(Job { finds: vec![state(Left::Input)], leaves: vec![0], ..Job::default() });
    let clean = clean(&jobs, &Owned::of(&jobs)).join("; ");
    put(place, &["x"]);
    let changes = ["echo more >>x", "rm x", "chmod 600 x", "rm x; ln -s y x", "rm x; mkdir x"];
    for change in changes {
        assert_eq!(run(&jobs, place, change), None, "{change}");
        for _ in 0..2 {
            assert_eq!(in_shell(&jobs, place, &clean), None);
            let said = run(&jobs, place, "touch ran").expect(change);
            assert!(
                said.contains("x: it is still as the jobs left it; restore it, or remove .iotrail/still-"),
                "{said}"
            );
        }
        assert!(!place.join("ran").exists());
        let _ = fs::remove_dir(place.join("x")).or_else(|_| fs::remove_file(place.join("x")));
        put(place, &["x"]);
    }
    // Another input is as good, and what a job did not change needs no restoring.
    assert_eq!(run(&jobs, place, ":"), None);
    assert_eq!(in_shell(&jobs, place, &clean), None);
    assert!(!place.join(".iotrail").exists());
    assert_eq!(run(&jobs, place, "echo more >>x"), None);
}

#[test]
fn what_somebody_else_changed_after_the_jobs_is_not_as_the_jobs_left_it() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let change = Job { finds: vec![state(Left::Input)], leaves: vec![0], ..Job::default() };
    let next = Job { finds: vec![state(Left::ByJob(JobId(0)))], leaves: vec![0], ..Job::default() };
    let jobs = Jobs { jobs: vec![change, next], base: Some("/w".into()), ..Jobs::default() };
    let clean = clean(&jobs, &Owned::of(&jobs)).join("; ");
    put(place, &["x"]);
    for all in [false, true] {
        assert_eq!(run_job(0, &jobs, place, "echo more >>x"), None);
        if all {
            assert_eq!(run_job(1, &jobs, place, "echo last >>x"), None);
        }
        fs::write(place.join("x"), "mine").unwrap();
        assert_eq!(in_shell(&jobs, place, &clean), None);
        assert!(!place.join(".iotrail").exists());
    }
    assert_eq!(run_job(0, &jobs, place, "echo more >>x"), None);
    assert_eq!(fs::read(place.join("x")).unwrap(), b"minemore\n");
}

#[test]
fn who_makes_a_directory_removes_what_those_made_in_it_that_run_again_with_it() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let maker = Job { made: vec![directory("/w/d")], directories: vec!["/w/d".into()], ..Job::default() };
    let filler = Job { made: vec![made("/w/d/f")], needs: vec![JobId(0)], ..Job::default() };
    let jobs = Jobs { jobs: vec![maker, filler], base: Some("/w".into()), ..Jobs::default() };
    put(place, &["d/f"]);
    begin(&jobs, place);
    assert_eq!(run(&jobs, place, "mkdir d"), None);
    assert!(inside(place).is_empty());
    put(place, &["d/f", "d/note"]);
    assert!(run(&jobs, place, "mkdir d").unwrap().contains("d: d/note is not of this job"));
    assert_eq!(inside(place), ["f", "note"]);
}

#[test]
fn who_makes_a_directory_and_files_in_it_removes_what_others_put_there_under_names_that_they_chose() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let job = |path: &str| {
        let outputs = vec![JobFile { path: path.into(), stays: true, ..JobFile::default() }];
        Job { made: vec![made(path)], outputs, ..Job::default() }
    };
    let mut maker = Job { directories: vec!["/w/d".into()], ..job("/w/d/a") };
    maker.made.push(directory("/w/d"));
    let chooser = Job { needs: vec![JobId(0)], ..job("/w/d/b") };
    let lister = Job { listed: vec!["/w/d".into()], needs: vec![JobId(0), JobId(1)], ..Job::default() };
    let jobs = Jobs { jobs: vec![maker, chooser, lister], base: Some("/w".into()), ..Jobs::default() };
    assert_eq!(run(&jobs, place, "mkdir d && touch d/a"), None);
    assert_eq!(run_job(1, &jobs, place, "touch d/b d/c"), None);
    assert_eq!(inside(place), ["a", "b", "c"]);
    assert_eq!(run(&jobs, place, "mkdir d && touch d/a"), None);
    assert_eq!(inside(place), ["a"]);
    assert_eq!(run_job(1, &jobs, place, "touch d/b"), None);
    put(place, &["d/note"]);
    let said = run(&jobs, place, "mkdir d").unwrap();
    assert!(
        said.contains("d/note: it is not of this job alone; run clean, move away what is left"),
        "{said}"
    );
    assert_eq!(inside(place), ["a", "b", "note"]);
}

#[test]
fn a_directory_that_a_job_fills_may_lie_in_one_that_it_makes() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let outer = vec![directory("/w/d"), directory("/w/d/e"), directory("/w/d/e2"), made("/w/d/e/f")];
    let filled = vec!["/w/d/e".into()];
    let job = Job { made: outer, listed: filled.clone(), directories: filled, ..Job::default() };
    let jobs = one(job);
    let command = "mkdir d d/e d/e2 && touch d/e/f && echo * >d/e/g";
    for _ in 0..2 {
        assert_eq!(run(&jobs, place, command), None);
        assert_eq!(inside(place), ["e", "e/f", "e/g", "e2"]);
    }
    put(place, &["d/note"]);
    assert!(run(&jobs, place, command).unwrap().contains("d: d/note is not of this job"));
}

#[test]
fn clean_does_not_ask_to_restore_what_was_in_no_directory_of_before() {
    let below = State { path: "/w/d/x".into(), ..state(Left::Input) };
    let job = Job { finds: vec![below, state(Left::Input)], made: vec![directory("/w/d")], ..Job::default() };
    let jobs = one(job);
    let lines = clean(&jobs, &Owned::of(&jobs));
    assert!(
        lines.contains(&"printf '%s\\n' 'Restore what the jobs changed in place: x'".to_owned()),
        "{lines:?}"
    );
}

#[test]
fn clean_names_results_that_may_have_replaced_something() {
    let output = |path: &str| JobFile { path: path.into(), stays: true, ..JobFile::default() };
    let outputs = ["/w/replaced", "/w/new", "/w/x", "/elsewhere", "/w/d/within"].map(output).to_vec();
    let job = Job {
        outputs: [outputs, vec![JobFile { stays: false, ..output("/w/gone") }]].concat(),
        made: vec![made("/w/new"), directory("/w/d")],
        finds: vec![state(Left::Input)],
        ..Job::default()
    };
    let jobs = one(job);
    let lines = clean(&jobs, &Owned::of(&jobs));
    assert!(lines.iter().any(|line| line.contains("rm -f -- d/within")), "a job made d: {lines:?}");
    let said: Vec<String> = lines.into_iter().filter(|line| line.contains("Kept")).collect();
    assert_eq!(said, ["printf '%s\\n' 'Kept, because something may have had the name before: replaced'"]);
}

#[test]
fn what_was_changed_after_the_jobs_left_it_is_not_overwritten() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let reader = Job { finds: vec![state(Left::Input)], ..Job::default() };
    let writer = Job { leaves: vec![0], ..Job::default() };
    let jobs = Jobs { jobs: vec![reader, writer], base: Some("/w".into()), ..Jobs::default() };
    put(place, &["x"]);
    for _ in 0..2 {
        assert_eq!(run_job(1, &jobs, place, "echo new >x"), None);
    }
    fs::write(place.join("x"), "mine").unwrap();
    let said = run_job(1, &jobs, place, "echo new >x").unwrap();
    assert!(said.contains("x: it was changed after the jobs left it"), "{said}");
    assert_eq!(fs::read(place.join("x")).unwrap(), b"mine");
    let clean = clean(&jobs, &Owned::of(&jobs)).join("; ");
    assert_eq!(in_shell(&jobs, place, &clean), None);
    assert_eq!(run_job(0, &jobs, place, ":"), None, "it is not what the jobs left");
    assert_eq!(run_job(1, &jobs, place, "echo new >x"), None);
}

#[test]
fn a_file_whose_name_a_program_chose_does_not_stay_from_the_last_run() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let made = ["/w/p1", "/w/p 2"].map(|path| Made { clear: false, ..made(path) });
    let jobs = one(Job { made: made.to_vec(), ..Job::default() });
    put(place, &["p1"]);
    assert_eq!(run(&jobs, place, "test -e p1 && touch 'p 2'"), None, "nothing here is of the job yet");
    assert_eq!(run(&jobs, place, "test ! -e p1 && test ! -e 'p 2'"), None);
}

#[test]
fn clean_removes_what_was_not_there_before_a_job_changed_it() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let job = Job { finds: vec![state(Left::Perhaps)], leaves: vec![0], ..Job::default() };
    let jobs = one(job);
    let clean = clean(&jobs, &Owned::of(&jobs)).join("; ");
    for _ in 0..2 {
        assert_eq!(run_job(0, &jobs, place, "test ! -e x && echo new >>x"), None);
        assert_eq!(in_shell(&jobs, place, &clean), None);
        assert_eq!(all(place), BTreeMap::new());
    }
    put(place, &["x"]);
    assert_eq!(run_job(0, &jobs, place, "echo new >>x"), None);
    assert_eq!(in_shell(&jobs, place, &clean), None);
    assert_eq!(fs::read(place.join("x")).unwrap(), b"xnew\n", "it was there");
    let said = run_job(0, &jobs, place, "echo new >>x").unwrap();
    assert!(
        said.contains("x: it is still as the jobs left it; restore it if it was there before, or else move it away, or remove .iotrail/still-"),
        "{said}"
    );
}
