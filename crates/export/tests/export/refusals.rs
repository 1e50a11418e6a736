//! A job that make is refused to run again, or that fails, leaves what it should, by real runs of make.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test that cannot go on fails; one that cannot be made says so"
)]

use iotrail_export::{Format, WriteOptions, write_jobs};
use iotrail_workflow::jobs::{Command as JobCommand, Job, JobFile, Jobs, Left, Script, State};
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

fn output(path: &str) -> JobFile {
    JobFile { path: Arc::from(path), written: 1, only: true, stays: true, ..JobFile::default() }
}

/// A job that makes `a` and `b` if no job changed `x`, fails behind `a` if there is a file `stop`, and waits there if there is `slow`.
fn two_results() -> Jobs {
    two_results_of(
        "echo 1 >a; test ! -e stop || exit 1; test ! -e slow || { echo >begun; while test -e slow; do sleep 0.1; done; exit 1; }; echo 1 >b",
    )
}

/// A job that makes `a` and `b` by these commands if no job changed `x`.
fn two_results_of(line: &str) -> Jobs {
    let command = JobCommand {
        exe: Some(Arc::from("/bin/sh")),
        argv: ["sh", "-c", line].map(|word| word.as_bytes().to_vec()).to_vec(),
        cwd: Some(Arc::from("/w")),
        ..JobCommand::default()
    };
    let job = Job {
        script: Some(Script::Command(command)),
        name: Arc::from("sh"),
        outputs: vec![output("/w/a"), output("/w/b")],
        finds: vec![State { thing: 0, path: Arc::from("/w/x"), left: Left::Input, remade: Vec::new() }],
        members: 1,
        ..Job::default()
    };
    Jobs { jobs: vec![job], base: Some(Arc::from("/w")), ..Jobs::default() }
}

fn make(place: &Path) -> Output {
    Command::new("make").args(["-s", "-f", "w.mk"]).current_dir(place).stdin(Stdio::null()).output().unwrap()
}

/// A directory where the jobs were made once; `None` where there is no make.
fn made_once() -> Option<tempfile::TempDir> {
    if Command::new("make").arg("--version").stdout(Stdio::null()).status().is_err() {
        eprintln!("NOT TESTED: make is not installed");
        return None;
    }
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("x"), "x").unwrap();
    let makefile = write_jobs(&two_results(), Format::Makefile, &WriteOptions::default()).unwrap();
    fs::write(place.path().join("w.mk"), makefile).unwrap();
    assert!(make(place.path()).status.success());
    Some(place)
}

fn is_there(place: &Path, name: &str) -> bool {
    place.join(name).exists()
}

#[test]
fn make_deletes_no_result_of_a_job_that_is_refused() {
    let Some(place) = made_once() else { return };
    let place = place.path();
    let makefile = fs::read_to_string(place.join("w.mk")).unwrap();
    // What `_found` looks at: the directory, a sum, and the number of the thing.
    let (_, found) = makefile.split_once("left=.iotrail/left-").unwrap();
    fs::write(place.join(format!(".iotrail/left-{}-0", &found[..8])), "2\n").unwrap();
    fs::remove_file(place.join("a")).unwrap();
    let done = make(place);
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(!done.status.success() && said.contains("x: job 2 has changed it already"), "{said}");
    assert!(is_there(place, "b"), "the other result of the job: {said}");
}

#[test]
fn a_job_that_failed_is_run_again_though_its_results_are_there() {
    let Some(place) = made_once() else { return };
    let place = place.path();
    fs::write(place.join("stop"), "").unwrap();
    fs::remove_file(place.join("b")).unwrap();
    assert!(!make(place).status.success());
    fs::write(place.join("b"), "").unwrap();
    fs::remove_file(place.join("stop")).unwrap();
    assert!(make(place).status.success());
    assert_eq!(fs::read(place.join("b")).unwrap(), b"1\n");
}

#[test]
fn make_deletes_no_result_of_a_job_that_is_interrupted() {
    let Some(place) = made_once() else { return };
    let place = place.path();
    fs::write(place.join("slow"), "").unwrap();
    fs::remove_file(place.join("a")).unwrap();
    let mut make_of_two = Command::new("make");
    let quiet = make_of_two.args(["-s", "-f", "w.mk"]).current_dir(place).stdin(Stdio::null());
    let mut running = quiet.stderr(Stdio::null()).spawn().unwrap();
    while !is_there(place, "begun") && running.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert!(Command::new("kill").arg(running.id().to_string()).status().unwrap().success());
    assert!(!running.wait().unwrap().success());
    assert!(is_there(place, "b"), "the other result of the job");
    fs::remove_file(place.join("slow")).unwrap();
    assert!(make(place).status.success(), "without its stamp the job is run again");
}

/// A job that ends with the status that the file `status` holds, as it ended with 3 in the recording.
fn fails() -> Jobs {
    let mut jobs = two_results_of("echo 1 >a; echo 1 >b; read status <status; exit $status");
    jobs.jobs.iter_mut().for_each(|job| (job.exit_code, job.finds) = (Some(3), Vec::new()));
    jobs
}

#[test]
fn a_job_that_ends_with_another_status_than_it_was_recorded_with_says_so() {
    if Command::new("make").arg("--version").stdout(Stdio::null()).status().is_err() {
        eprintln!("NOT TESTED: make is not installed");
        return;
    }
    let makefile = write_jobs(&fails(), Format::Makefile, &WriteOptions::default()).unwrap();
    for status in [0, 1, 3, 127] {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("status"), format!("{status}\n")).unwrap();
        fs::write(place.path().join("w.mk"), &makefile).unwrap();
        let done = make(place.path());
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.success(), status == 3, "{status}: {said}");
        let expected = format!("job 1 ended with exit status {status}, and it was 3 in the recording");
        assert!(status == 3 || said.contains(&expected), "{said}");
    }
}

#[test]
fn what_is_too_long_for_an_argument_is_made_by_make_and_refused_where_there_is_no_shell() {
    let mut jobs = two_results();
    let command = |words: Vec<Vec<u8>>| {
        let command = JobCommand {
            exe: Some(Arc::from("/bin/touch")),
            argv: words,
            cwd: Some(Arc::from("/w")),
            ..JobCommand::default()
        };
        Script::Command(command)
    };
    let names: Vec<String> = (0..6000).map(|number| format!("a-name-that-is-not-short-{number}")).collect();
    let words =
        std::iter::once("touch".to_owned()).chain(names.iter().cloned()).map(String::into_bytes).collect();
    jobs.jobs[0].script =
        Some(Script::Sequence(vec![command(words), command(vec![b"touch".to_vec(), b"last".to_vec()])]));
    jobs.jobs[0].outputs = names.iter().map(|name| output(&format!("/w/{name}"))).collect();
    for format in [Format::Dagman, Format::Pegasus, Format::Dax] {
        let why = write_jobs(&jobs, format, &WriteOptions::default()).unwrap_err().to_string();
        assert!(why.contains("job 1") && why.contains("128 KiB"), "{why}");
    }
    if Command::new("make").arg("--version").stdout(Stdio::null()).status().is_err() {
        return eprintln!("NOT TESTED: make is not installed");
    }
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("x"), "x").unwrap();
    let makefile = write_jobs(&jobs, Format::Makefile, &WriteOptions::default()).unwrap();
    fs::write(place.path().join("w.mk"), makefile).unwrap();
    let made = make(place.path());
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    assert!(names.iter().all(|name| is_there(place.path(), name)) && is_there(place.path(), "last"));
}
