//! Whoever makes the tables of a recording may be killed at any instant, run out of space, or do it twice at once: no
//! event is lost, and none comes twice.
#![allow(clippy::unwrap_used, reason = "the lint spares test functions, but not their helpers")]

use iotrail_model::{
    CallId, CaseName, Coverage, Dictionaries, Event, Nullable, PathId, Pid, Process, Tid, Timestamp,
};
use iotrail_trail::{Columns, EventLog, JoinOptions, Recording, RecoverOptions, check, recover, unfinished};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const TARGET: &str = "IOTRAIL_TEST_TARGET";
const EVENTS: u64 = 300;
const RANKS: u32 = 3;

fn rank(rank: u32) -> JoinOptions {
    let run = Some("job".to_owned());
    let case = CaseName { rid: Some(rank.to_string()), ..CaseName::default() };
    JoinOptions { run, case, rank: Some(rank), world: Some(RANKS), ..JoinOptions::default() }
}

fn options() -> RecoverOptions {
    let threads = NonZeroUsize::new(2).unwrap();
    RecoverOptions { output: None, overwrite: false, force: true, threads }
}

/// A trail of recordings whose recorders came to no end.
fn left_behind(directory: &Path) -> PathBuf {
    let target = directory.join("t.trail");
    let mut recordings: Vec<_> =
        (0..RANKS).map(|number| Recording::join(&target, rank(number)).unwrap()).collect();
    for (recording, number) in recordings.iter_mut().zip(0_u32..) {
        let mut names = Dictionaries::default();
        let pid = Pid(10 + number);
        let start = Some(Timestamp(0));
        recording.writer().image(&Process { pid, start, threads: 1, ..Process::default() }).unwrap();
        for seq in 0..EVENTS {
            let call = CallId(names.calls.intern(b"read"));
            let path = Nullable::some(PathId(names.paths.intern(format!("/{}", seq % 9).as_bytes())));
            let (start, size) = (Timestamp(seq as i64), Nullable::some(2));
            let event = Event { seq, pid, tid: Tid(pid.0), call, path, start, size, ..Event::default() };
            recording.writer().event(&event, &names).unwrap();
        }
    }
    target
}

/// Every event is there, once, in order.
fn assert_whole(target: &Path) {
    let log = EventLog::open(&[target.to_owned()]).unwrap();
    let mut rows = Vec::new();
    for group in 0..log.row_groups() {
        let batch = log.read(group, Columns::ALL).unwrap();
        rows.extend((0..batch.len).map(|row| (batch.pid[row].0, batch.seq[row])));
    }
    let mut by_process: Vec<_> =
        (10..10 + RANKS).flat_map(|pid| (0..EVENTS).map(move |seq| (pid, seq))).collect();
    let in_order = rows.chunk_by(|a, b| a.0 == b.0).count() == RANKS as usize;
    assert!(in_order, "the rows of a case follow each other");
    rows.sort_by_key(|row| row.0);
    by_process.sort_unstable();
    assert!(rows == by_process, "{} of {} events", rows.len(), by_process.len());
    assert_eq!(check(target).unwrap(), []);
}

/// This test again, as a process of its own that recovers `target`.
fn recoverer(target: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killed::recovers_what_it_is_told_to", "--nocapture", "--test-threads=1"])
        .env(TARGET, target)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The other half of the tests below; alone it does nothing.
#[test]
fn recovers_what_it_is_told_to() {
    if let Some(target) = std::env::var_os(TARGET) {
        recover(Path::new(&target), &options(), &|_, _| ()).unwrap();
    }
}

#[test]
fn a_converter_may_be_killed_at_any_instant() {
    let directory = tempfile::tempdir().unwrap();
    let mut kills = 0;
    let mut pause = Duration::from_micros(500);
    for round in 0..6 {
        let place = directory.path().join(round.to_string());
        std::fs::create_dir(&place).unwrap();
        let target = left_behind(&place);
        for attempt in 0..8 {
            let mut child = recoverer(&target);
            let deadline = Instant::now() + pause;
            while Instant::now() < deadline && child.try_wait().unwrap().is_none() {
                std::thread::yield_now();
            }
            let has_ended = child.try_wait().unwrap().is_some();
            kills += usize::from(!has_ended);
            child.kill().unwrap();
            child.wait().unwrap();
            // The span from the start of a process to its end is not known beforehand: feel for it.
            pause = if has_ended { pause / 2 } else { pause * 5 / 4 };
            if attempt % 3 == 0 {
                assert_whole(&target);
            }
        }
        recover(&target, &options(), &|_, _| ()).unwrap();
        assert_whole(&target);
        assert!(unfinished(&target).unwrap().is_empty());
        let left = std::fs::read_dir(&target).unwrap().count();
        assert_eq!(left, 2 + 3 * RANKS as usize, "nothing is left in {}", target.display());
    }
    assert!(kills > 10, "only {kills} converters were killed at work");
}

#[test]
fn two_who_recover_at_once_do_not_disturb_each_other() {
    let directory = tempfile::tempdir().unwrap();
    for round in 0..6 {
        let place = directory.path().join(round.to_string());
        std::fs::create_dir(&place).unwrap();
        let target = left_behind(&place);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                // One that finds that another was faster may say so.
                scope.spawn(|| drop(recover(&target, &options(), &|_, _| ())));
            }
        });
        recover(&target, &options(), &|_, _| ()).unwrap();
        assert_whole(&target);
    }
}

#[test]
fn without_space_the_spool_stays_and_the_error_says_what_to_do() {
    let directory = tempfile::tempdir().unwrap();
    let target = left_behind(directory.path());
    // Files of more than two blocks of 512 bytes cannot be written.
    let script = "ulimit -f 2; trap '' XFSZ; exec \"$0\" \"$@\"";
    let status = Command::new("sh")
        .args(["-c", script])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "killed::recovers_what_it_is_told_to", "--nocapture", "--test-threads=1"])
        .env(TARGET, &target)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(!status.success(), "there was space after all");
    assert_whole(&target);
    recover(&target, &options(), &|_, _| ()).unwrap();
    assert_whole(&target);
}

#[test]
fn a_recording_that_cannot_be_converted_is_kept() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("t.trail");
    let mut recording = Recording::join(&target, JoinOptions::default()).unwrap();
    let names = Dictionaries::default();
    recording.writer().event(&Event::default(), &names).unwrap();
    // Something stands where the table belongs.
    std::fs::create_dir_all(target.join("events-0000.parquet/x")).unwrap();
    let threads = NonZeroUsize::MIN;
    let coverage = Coverage { lost: 1_500, ..Coverage::default() };
    let error = recording.finish(&coverage, false, threads, &|_, _| ()).unwrap_err().to_string();
    assert!(error.contains("can be recovered") && error.contains("but for 1,500 that are lost"), "{error}");
    std::fs::remove_dir_all(target.join("events-0000.parquet")).unwrap();
    assert_eq!(recover(&target, &options(), &|_, _| ()).unwrap().events, 1);
}

#[test]
fn processes_that_were_not_seen_to_end_have_what_their_events_tell() {
    let directory = tempfile::tempdir().unwrap();
    let target = left_behind(directory.path());
    let log = EventLog::open(&[target]).unwrap();
    for process in log.processes().unwrap() {
        assert_eq!((process.end, process.bytes_read), (None, 2 * EVENTS as i64));
    }
}

/// Each file of recordings that were broken off is missed, and what is left of them is taken when that is wished for.
#[test]
fn a_file_that_somebody_removed_is_missed() {
    let directory = tempfile::tempdir().unwrap();
    let (whole, target) = (left_behind(directory.path()), directory.path().join("c.trail"));
    let name_of = |log: &EventLog, case: usize| log.cases()[case].name.clone();
    let expected = name_of(&EventLog::open(std::slice::from_ref(&whole)).unwrap(), 1);
    assert_eq!(expected.rid.as_deref(), Some("1"));
    let recording = std::fs::read_dir(whole.join("recording")).unwrap().map(|entry| entry.unwrap().path());
    let recording = recording.filter(|path| path.is_dir()).max().unwrap();
    let recording = recording.file_name().unwrap().to_str().unwrap();
    for file in [
        "run.json".to_owned(),
        format!("{recording}/losses"),
        format!("{recording}/0000.spool"),
        format!("{recording}/header.json"),
    ] {
        let _ = std::fs::remove_dir_all(&target);
        assert!(Command::new("cp").args(["-r"]).args([&whole, &target]).status().unwrap().success());
        std::fs::remove_file(target.join("recording").join(&file)).unwrap();
        let error = EventLog::open(std::slice::from_ref(&target)).unwrap_err().to_string();
        let named = if file.ends_with("header.json") { recording } else { file.as_str() };
        assert!(error.contains(named), "{error}");
        let careful = recover(&target, &RecoverOptions { force: false, ..options() }, &|_, _| ());
        match file.as_str() {
            "run.json" => assert!(careful.unwrap_err().to_string().contains("missing"), "{file}"),
            _ => assert!(!careful.unwrap().is_complete(), "{file}"),
        }
        let salvaged = recover(&target, &options(), &|_, _| ()).unwrap();
        let readable = if file.ends_with("losses") || file == "run.json" { 3 } else { 2 };
        assert_eq!(salvaged.totals.unwrap().events, readable * EVENTS, "{file}");
        if readable == 3 {
            assert_eq!(
                name_of(&EventLog::open(std::slice::from_ref(&target)).unwrap(), 1),
                expected,
                "{file}"
            );
        }
    }
}

#[test]
fn the_run_of_another_recording_is_not_believed() {
    let directory = tempfile::tempdir().unwrap();
    let target = left_behind(directory.path());
    let place = directory.path().join("other");
    std::fs::create_dir(&place).unwrap();
    let case = CaseName { cid: Some("other".to_owned()), ..CaseName::default() };
    let other = Recording::join(&place.join("t.trail"), JoinOptions { case, ..rank(0) }).unwrap();
    std::fs::copy(place.join("t.trail/recording/run.json"), target.join("recording/run.json")).unwrap();
    drop(other);
    let error = EventLog::open(std::slice::from_ref(&target)).unwrap_err().to_string();
    assert!(error.contains("run.json: it is not of the run of 0"), "{error}");
    assert!(recover(&target, &RecoverOptions { force: false, ..options() }, &|_, _| ()).is_err());
    recover(&target, &options(), &|_, _| ()).unwrap();
    assert_whole(&target);
    let log = EventLog::open(std::slice::from_ref(&target)).unwrap();
    let ranks: Vec<_> = log.cases().iter().map(|case| case.name.rid.as_deref()).collect();
    assert_eq!(ranks, [Some("0"), Some("1"), Some("2")]);
}
