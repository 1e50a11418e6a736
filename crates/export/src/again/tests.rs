//! Laws of what a job sees to before it begins, each with a real shell in a real directory.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use super::*;
use iotrail_workflow::jobs::{JobId, State};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const MARK: &str = ".iotrail/left-";

fn state(left: Left) -> State {
    State { thing: 0, path: "/w/x".into(), left }
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
    let functions = functions(jobs, "clean").map(|functions| functions.join(" ")).unwrap_or_default();
    let before = before(0, &jobs.jobs[0], jobs).unwrap_or_default();
    let parts: Vec<String> =
        [before.checks, before.changes].into_iter().filter(|part| !part.is_empty()).collect();
    let line = format!("{functions} {} || exit; {command}", parts.join(" && "));
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

/// The file that says who left the only thing.
fn left_file(jobs: &Jobs, place: &Path) -> std::path::PathBuf {
    let [found, ..] = functions(jobs, "clean").unwrap();
    let start = found.find(MARK).unwrap();
    let sum: String = found[start + MARK.len()..].chars().take(8).collect();
    fs::create_dir_all(place.join(".iotrail")).unwrap();
    place.join(format!("{MARK}{sum}-0"))
}

#[test]
fn a_job_runs_only_where_it_finds_what_it_found() {
    let place = tempfile::tempdir().unwrap();
    let other = Left::ByJob(JobId(2));
    let cases: [(Left, Option<&str>, &str); 16] = [
        (Left::Input, None, ""),
        (Left::Input, Some("3\n"), "x: job 3 has changed it already; run clean, restore it, and make again"),
        (Left::Perhaps, None, ""),
        (
            Left::Perhaps,
            Some("3\n"),
            "x: job 3 has changed it already; run clean, restore it if it was there before, and make again",
        ),
        (Left::Nothing, None, ""),
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
    assert_eq!(run(&jobs, place.path(), "mkdir d"), None);
    let file = left_file(&jobs, place.path());
    assert_eq!(fs::read_to_string(&file).unwrap(), "1\n");
    let left: Vec<String> = all(place.path()).into_keys().filter(|name| !name.contains(".iotrail")).collect();
    assert_eq!(left, ["d", "keep"].map(|name| place.path().join(name).to_string_lossy().into_owned()));
    // Nothing is left beside the file that was written whole.
    assert_eq!(fs::read_dir(place.path().join(".iotrail")).unwrap().count(), 1);
}

#[test]
fn a_link_in_the_place_of_a_directory_is_not_gone_through() {
    let place = tempfile::tempdir().unwrap();
    put(place.path(), &["other/f"]);
    std::os::unix::fs::symlink("other", place.path().join("d")).unwrap();
    let jobs = one(Job { made: vec![directory("/w/d"), made("/w/d/f")], ..Job::default() });
    assert!(run(&jobs, place.path(), ":").unwrap().contains("d: d/f is not of this job"));
    assert!(place.path().join("other/f").exists());
}

#[test]
fn a_job_keeps_its_variables() {
    let place = tempfile::tempdir().unwrap();
    let names =
        ["was", "want", "also", "why", "left", "count", "all", "name", "place", "entry", "job", "thing"];
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
        [(Left::Input, "Restore what the jobs changed in place: x"), (Left::Perhaps, "Restore, if they were")]
    {
        put(place.path(), &["r"]);
        let jobs = one(Job { finds: vec![state(left)], made: made.clone(), ..Job::default() });
        let lines = clean(&jobs).join("; ");
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
fn functions_stand_between_single_quotes_of_a_makefile() {
    let jobs = one(Job { finds: vec![state(Left::Input)], ..Job::default() });
    for function in functions(&jobs, "\\\"make clean\\\"").unwrap() {
        assert!(
            !function.contains('\'') && !function.contains('#') && !function.contains('\n'),
            "{function}"
        );
    }
}
