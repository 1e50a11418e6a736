//! Trails under recording: recorders that join in any order, that are killed, and what recover makes of them.
#![allow(clippy::unwrap_used, reason = "the lint spares test functions, but not their helpers")]

use iotrail_model::{
    CallId, CaseName, Coverage, Dictionaries, Event, FileId, Nanos, Nullable, PathId, Pid, Process,
    RecordingCoverage, Tid, Timestamp,
};
use iotrail_trail::{
    Capture, Columns, CreateOptions, EventLog, JoinOptions, Liveness, Recording, RecoverOptions, Trail,
    TrailWriter, check, recover, unfinished,
};
use std::num::NonZeroUsize;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

const THREADS: NonZeroUsize = NonZeroUsize::new(4).unwrap();

fn options(rank: u32, world: u32) -> JoinOptions {
    JoinOptions {
        rank: Some(rank),
        world: Some(world),
        command: vec!["app".to_owned()],
        capture: Capture { source: "ptrace".to_owned(), ..Capture::default() },
        case: CaseName { cid: Some("app".to_owned()), host: Some(host()), rid: Some(rank.to_string()) },
        ..JoinOptions::default()
    }
}

fn host() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap().trim().to_owned()
}

fn event(number: i64, seed: i64, names: &mut Dictionaries) -> Event {
    let path = names.paths.intern(format!("/data/{}", (number * seed) % 97).as_bytes());
    Event {
        seq: number as u64,
        pid: Pid(10),
        tid: Tid(10 + (number % 3) as u32),
        call: CallId((number % 5) as u32),
        // Calls that took long come late.
        start: Timestamp(1_000_000 + number * 100 - if number % 50 == 0 { 20_000 } else { 0 }),
        dur: Nullable::some(Nanos(number % 1000)),
        path: Nullable::some(PathId(path)),
        size: Nullable::some(number),
        ret: Nullable::some(number),
        ..Event::default()
    }
}

/// Records `events` events.
fn write(recording: &mut Recording, events: i64, seed: i64) {
    let mut names = Dictionaries::default();
    let process = Process { pid: Pid(10), start: Some(Timestamp(1)), ..Process::default() };
    recording.writer().image(&process).unwrap();
    for number in 0..events {
        let event = event(number, seed, &mut names);
        recording.writer().event(&event, &names).unwrap();
    }
}

fn coverage(events: u64) -> Coverage {
    Coverage::of_recording(RecordingCoverage { recorders: 1, events, ..RecordingCoverage::default() })
}

fn finish(recording: Recording, events: u64) {
    recording.finish(&coverage(events), false, THREADS, &|_, _| {}).unwrap();
}

fn record(target: &Path, options: JoinOptions, events: i64) {
    let seed = i64::from(options.rank.unwrap_or(0)) + 1;
    let mut recording = Recording::join(target, options).unwrap();
    write(&mut recording, events, seed);
    finish(recording, events as u64);
}

/// All events of a trail in the order in which analyses read them, with their paths.
fn read(target: &Path) -> Vec<(String, Event)> {
    let log = EventLog::open(&[target.to_owned()]).unwrap();
    let mut events = Vec::new();
    for group in 0..log.row_groups() {
        let batch = log.read(group, Columns::ALL).unwrap();
        for row in 0..batch.len {
            let event = batch.event(row);
            let path = log.names().path(event.path).unwrap_or_default().to_owned();
            // Ids differ from trail to trail.
            events.push((path, Event { path: Nullable::NULL, file: Nullable::NULL, ..event }));
        }
    }
    events
}

/// What `events` events of rank 0 must come back as.
fn expected(events: i64) -> Vec<(String, Event)> {
    let mut names = Dictionaries::default();
    let mut all: Vec<_> = (0..events)
        .map(|number| {
            let event = event(number, 1, &mut names);
            let path = String::from_utf8(names.paths.get(event.path.get().unwrap().0).to_vec()).unwrap();
            (path, Event { path: Nullable::NULL, ..event })
        })
        .collect();
    all.sort_by_key(|(_, event)| event.sort_key());
    all
}

fn directory() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("run.trail");
    (directory, target)
}

fn recover_options() -> RecoverOptions {
    RecoverOptions { output: None, overwrite: false, force: false, threads: THREADS }
}

#[test]
fn events_come_back_sorted_however_many_threads_convert_them() {
    for events in [0, 1, 1000, 450_000] {
        let (_directory, target) = directory();
        record(&target, JoinOptions { rank: None, ..options(0, 1) }, events);
        assert!(check(&target).unwrap().is_empty());
        assert!(read(&target) == expected(events), "{events} events");
        assert!(!target.join("recording").exists(), "nothing else is left");
        assert_eq!(
            Trail::open(&target).unwrap().meta().coverage.recording.as_ref().unwrap().events,
            events as u64
        );
    }
}

#[test]
fn sixteen_recorders_at_once_make_one_trail() {
    let (_directory, target) = directory();
    std::thread::scope(|scope| {
        for rank in 0..16 {
            let target = &target;
            scope.spawn(move || record(target, options(rank, 16), 100 + i64::from(rank)));
        }
    });
    assert!(check(&target).unwrap().is_empty());
    let trail = Trail::open(&target).unwrap();
    assert_eq!(trail.cases().len(), 16);
    assert_eq!(trail.meta().totals.events, (0..16).map(|rank| 100 + rank).sum::<u64>());
    let mut ranks: Vec<u32> =
        trail.cases().iter().map(|case| case.name.rid.as_ref().unwrap().parse().unwrap()).collect();
    ranks.sort_unstable();
    assert_eq!(ranks, (0..16).collect::<Vec<_>>());
    assert_eq!(trail.coverage().recording.as_ref().unwrap().recorders, 16);
    assert!(!target.join("recording").exists(), "all ranks have come: nobody can join any more");
}

#[test]
fn a_rank_that_starts_after_the_others_have_finished_joins_them() {
    let (_directory, target) = directory();
    record(&target, options(1, 3), 10);
    record(&target, options(2, 3), 20);
    assert_eq!(Trail::open(&target).unwrap().meta().totals.events, 30);
    record(&target, options(0, 3), 30);
    assert_eq!(Trail::open(&target).unwrap().meta().totals.events, 60);
    assert!(check(&target).unwrap().is_empty());
}

#[test]
fn another_run_is_refused_and_replaced_by_wish() {
    let (_directory, target) = directory();
    record(&target, options(0, 2), 10);
    let again = Recording::join(&target, options(0, 2)).unwrap_err().to_string();
    assert!(again.contains("of another run (app)") && again.contains("choose another name"), "{again}");
    let single = JoinOptions { rank: None, ..options(0, 1) };
    assert!(Recording::join(&target, single).unwrap_err().to_string().contains("exists already"));
    let forced = |rank| JoinOptions { overwrite: true, run: Some("job.2".into()), ..options(rank, 2) };
    record(&target, forced(0), 5);
    record(&target, forced(1), 6);
    assert_eq!(Trail::open(&target).unwrap().meta().totals.events, 11, "only the first replaces");
}

#[test]
fn what_is_no_trail_is_not_replaced() {
    let (_directory, target) = directory();
    std::fs::create_dir(&target).unwrap();
    std::fs::write(target.join("thesis.tex"), "x").unwrap();
    let forced = JoinOptions { overwrite: true, ..options(0, 1) };
    assert!(Recording::join(&target, forced).unwrap_err().to_string().contains("not overwritten"));
    assert!(target.join("thesis.tex").exists());
}

#[test]
fn an_unfinished_trail_opens_with_a_note_and_stays_as_it_is() {
    let (_directory, target) = directory();
    let mut recording = Recording::join(&target, options(0, 2)).unwrap();
    write(&mut recording, 1000, 1);
    record(&target, options(1, 2), 10);
    let found = unfinished(&target).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].recorder, found[0].events), (Liveness::Alive, 1000));
    let kept = recover(&target, &recover_options(), &|_, _| {}).unwrap();
    assert_eq!((kept.left.len(), kept.recordings.len()), (1, 0), "it is alive");
    drop(recording);
    assert_eq!(unfinished(&target).unwrap()[0].recorder, Liveness::Dead);
    let trail = Trail::open(&target).unwrap();
    assert_eq!(trail.meta().totals.events, 1010);
    let notes = trail.coverage().notes.sentences().collect::<Vec<_>>().join("\n");
    assert!(notes.contains("was killed") && notes.contains("is not finished"), "{notes}");
    assert_eq!(trail.coverage().recording.as_ref().unwrap().broken_off, 1);
    let log = EventLog::open(std::slice::from_ref(&target)).unwrap();
    assert_eq!(log.processes().unwrap().iter().filter(|process| process.end.is_none()).count(), 2);
    assert_eq!(unfinished(&target).unwrap().len(), 1, "opening changes nothing");
}

#[test]
fn recover_finishes_in_place_or_elsewhere_and_once() {
    let (directory, target) = directory();
    record(&target, options(1, 2), 10);
    let mut recording = Recording::join(&target, options(0, 2)).unwrap();
    write(&mut recording, 1000, 1);
    drop(recording);
    let other = directory.path().join("other.trail");
    let elsewhere = RecoverOptions { output: Some(other.clone()), ..recover_options() };
    let recovered = recover(&target, &elsewhere, &|_, _| {}).unwrap();
    assert_eq!((recovered.events, recovered.totals.unwrap().events), (1000, 1010));
    assert!(check(&other).unwrap().is_empty());
    assert_eq!(unfinished(&target).unwrap().len(), 1, "the original is as it was");
    let before = read(&target);
    recover(&target, &recover_options(), &|_, _| {}).unwrap();
    assert!(check(&target).unwrap().is_empty());
    assert!(read(&target) == before && read(&other) == before);
    let again = recover(&target, &recover_options(), &|_, _| {}).unwrap();
    assert_eq!((again.recordings.len(), again.events), (0, 0));
}

#[test]
fn of_several_that_recover_at_the_same_time_one_does_and_nobody_fails() {
    for _ in 0..3 {
        let (_directory, target) = directory();
        for rank in [0, 1] {
            let mut recording = Recording::join(&target, options(rank, 2)).unwrap();
            write(&mut recording, 5000, 1);
        }
        let events: u64 = std::thread::scope(|scope| {
            let run = || recover(&target, &recover_options(), &|_, _| {}).unwrap();
            let all: Vec<_> = (0..4).map(|_| scope.spawn(run)).collect();
            all.into_iter().map(|one| one.join().unwrap().events).sum()
        });
        assert_eq!((events, Trail::open(&target).unwrap().meta().totals.events), (10_000, 10_000));
        assert!(check(&target).unwrap().is_empty());
    }
}

#[test]
fn a_spool_that_was_cut_or_emptied_is_not_taken_for_sound() {
    for length in [0, 65_536] {
        let (_directory, target) = directory();
        let mut recording = Recording::join(&target, options(0, 1)).unwrap();
        write(&mut recording, 20_000, 1);
        let spool = recording.writer().directory().join("0000.spool");
        drop(recording);
        std::fs::File::options().write(true).open(&spool).unwrap().set_len(length).unwrap();
        let kept = recover(&target, &recover_options(), &|_, _| {}).unwrap();
        assert_eq!((kept.left.len(), kept.recordings.len()), (1, 0));
        assert!(kept.left[0].why.contains("events are lost"), "{}", kept.left[0].why);
        let forced = RecoverOptions { force: true, ..recover_options() };
        let recovered = recover(&target, &forced, &|_, _| {}).unwrap();
        assert_eq!((recovered.events + recovered.lost, recovered.lost_unknown), (20_000, 0));
        assert_eq!((recovered.events > 0, recovered.is_complete()), (length > 0, true));
        assert_eq!(Trail::open(&target).unwrap().meta().totals.events, recovered.events);
    }
}

#[test]
fn a_command_that_could_not_be_started_leaves_nothing() {
    let (directory, target) = directory();
    Recording::join(&target, options(0, 2)).unwrap().abandon().unwrap();
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    record(&target, options(0, 2), 10);
    Recording::join(&target, options(1, 2)).unwrap().abandon().unwrap();
    assert_eq!(Trail::open(&target).unwrap().meta().totals.events, 10, "the other rank's part stays");
    assert!(check(&target).unwrap().is_empty());
}

#[test]
fn a_recorder_killed_before_it_removed_its_spool_is_not_counted_twice() {
    let (directory, target) = directory();
    let mut recording = Recording::join(&target, options(0, 2)).unwrap();
    write(&mut recording, 100, 1);
    let spool = std::fs::read_dir(target.join("recording")).unwrap();
    let spool = spool.map(|entry| entry.unwrap().path()).find(|path| path.is_dir()).unwrap();
    let copy = directory.path().join("copy");
    copy_all(&spool, &copy);
    finish(recording, 100);
    std::fs::create_dir_all(&spool).unwrap();
    copy_all(&copy, &spool);
    assert_eq!(Trail::open(&target).unwrap().meta().totals.events, 100);
    recover(&target, &recover_options(), &|_, _| {}).unwrap();
    assert_eq!(Trail::open(&target).unwrap().meta().totals.events, 100);
    assert!(!spool.exists());
}

#[test]
fn events_lost_to_a_damaged_page_are_counted_once_however_many_threads_read() {
    let events = 410_000;
    let (_directory, target) = directory();
    let mut recording = Recording::join(&target, options(0, 1)).unwrap();
    write(&mut recording, events, 1);
    let spool = recording.writer().directory().to_owned();
    drop(recording);
    let segment = std::fs::OpenOptions::new().write(true).open(spool.join("0000.spool")).unwrap();
    // A page of every block: whichever block two threads share is among them.
    let blocks = std::fs::metadata(spool.join("0000.spool")).unwrap().len() / 65_536;
    for block in 0..blocks - 20 {
        segment.write_all_at(&[0; 4096], block * 65_536 + 32_768).unwrap();
    }
    let error = Trail::open(&target).unwrap_err().to_string();
    assert!(error.contains("0000.spool") && error.contains("not recovered"), "{error}");
    let refused = recover(&target, &recover_options(), &|_, _| {}).unwrap();
    assert_eq!((refused.recordings.len(), refused.left.len()), (0, 1));
    assert!(spool.join("0000.spool").is_file(), "what may still be read is left");
    recover(&target, &RecoverOptions { force: true, ..recover_options() }, &|_, _| {}).unwrap();
    let trail = Trail::open(&target).unwrap();
    let (found, lost) = (trail.meta().totals.events, trail.coverage().lost);
    assert_eq!(found + lost, events as u64);
    assert!(lost > 10_000, "{lost}");
    assert!(check(&target).unwrap().is_empty());
}

/// Flips a bit in the middle of the records of a spool whose recorder is gone.
fn damage(spool: &Path) {
    let mut bytes = std::fs::read(spool).unwrap();
    let used = bytes.iter().rposition(|byte| *byte != 0).unwrap();
    bytes[used / 2] ^= 1;
    std::fs::write(spool, bytes).unwrap();
}

#[test]
fn what_damage_took_of_the_last_block_is_counted() {
    let (_directory, target) = directory();
    let mut recording = Recording::join(&target, options(0, 1)).unwrap();
    write(&mut recording, 1000, 1);
    let spool = recording.writer().directory().join("0000.spool");
    drop(recording);
    damage(&spool);
    let forced = RecoverOptions { force: true, ..recover_options() };
    let recovered = recover(&target, &forced, &|_, _| {}).unwrap();
    assert!(recovered.lost > 300, "{}", recovered.lost);
    assert_eq!((recovered.events + recovered.lost, recovered.lost_unknown), (1000, 0));
}

#[test]
fn an_unknown_number_of_lost_events_is_not_said_to_be_none() {
    let (_directory, target) = directory();
    let mut recording = Recording::join(&target, options(0, 1)).unwrap();
    write(&mut recording, 1000, 1);
    let directory = recording.writer().directory().to_owned();
    drop(recording);
    damage(&directory.join("0000.spool"));
    std::fs::remove_file(directory.join("losses")).unwrap();
    let forced = RecoverOptions { force: true, ..recover_options() };
    let recovered = recover(&target, &forced, &|_, _| {}).unwrap();
    assert!(recovered.events < 1000, "{}", recovered.events);
    assert_eq!((recovered.lost, recovered.lost_unknown), (0, 2), "the damaged place, and the count");
    let coverage = Trail::open(&target).unwrap().coverage().recording.clone().unwrap();
    assert_eq!(coverage.lost_unknown, 2);
    let text = coverage.in_one_line();
    assert!(text.contains("2 damaged places in spools (an unknown number of events lost)"), "{text}");
    assert!(!text.contains("0 lost"), "{text}");
}

#[test]
fn a_new_trail_says_what_it_lacks_of_a_recording_that_was_not_taken() {
    let (directory, target) = directory();
    record(&target, options(0, 3), 10);
    let mut spools = Vec::new();
    for rank in [1, 2] {
        let mut recording = Recording::join(&target, options(rank, 3)).unwrap();
        write(&mut recording, 1000, 1);
        spools.push(recording.writer().directory().to_owned());
    }
    damage(&spools[0].join("0000.spool"));
    std::fs::write(spools[1].join("header.json"), "{").unwrap();
    let other = directory.path().join("other.trail");
    let elsewhere = RecoverOptions { output: Some(other.clone()), ..recover_options() };
    let recovered = recover(&target, &elsewhere, &|_, _| {}).unwrap();
    assert_eq!((recovered.left.len(), recovered.unreadable.len(), recovered.is_complete()), (1, 1, false));
    let trail = Trail::open(&other).unwrap();
    assert_eq!((trail.meta().totals.events, trail.coverage().lost), (10, 1000));
    let recording = trail.coverage().recording.as_ref().unwrap();
    assert_eq!((recording.lost(), recording.lost_unknown), (1000, 1));
    assert!(recording.lost["recordings that were not recovered"] > 300, "{:?}", recording.lost);
    assert!(recording.lost["damaged spool"] > 300, "{:?}", recording.lost);
    assert!(check(&other).unwrap().is_empty());
}

#[test]
fn a_recording_that_goes_on_is_missing_in_a_new_trail() {
    let (directory, target) = directory();
    let mut recording = Recording::join(&target, options(0, 1)).unwrap();
    write(&mut recording, 100, 1);
    let other = directory.path().join("other.trail");
    let elsewhere = RecoverOptions { output: Some(other.clone()), ..recover_options() };
    recover(&target, &elsewhere, &|_, _| {}).unwrap();
    let trail = Trail::open(&other).unwrap();
    assert_eq!((trail.meta().totals.events, trail.coverage().lost), (0, 100));
}

#[test]
fn a_damaged_table_is_not_copied() {
    let (directory, target) = directory();
    record(&target, options(0, 1), 1000);
    let table = target.join("events-0000.parquet");
    let mut bytes = std::fs::read(&table).unwrap();
    let middle = bytes.len() / 3;
    bytes[middle] ^= 4;
    std::fs::write(&table, bytes).unwrap();
    let other = directory.path().join("other.trail");
    let elsewhere = RecoverOptions { output: Some(other.clone()), force: true, ..recover_options() };
    let error = recover(&target, &elsewhere, &|_, _| {}).unwrap_err().to_string();
    assert!(error.contains("events-0000.parquet") && error.contains("checksum"), "{error}");
    assert!(!other.exists());
}

#[test]
fn what_somebody_cuts_off_while_it_is_recorded_is_counted_as_lost() {
    for length in [0, 65_536] {
        let (_directory, target) = directory();
        let mut recording = Recording::join(&target, options(0, 1)).unwrap();
        write(&mut recording, 20_000, 1);
        let spool = recording.writer().directory().join("0000.spool");
        std::fs::File::options().write(true).open(&spool).unwrap().set_len(length).unwrap();
        let mut names = Dictionaries::default();
        let refused = (20_000..25_000)
            .filter(|number| {
                let event = event(*number, 1, &mut names);
                recording.writer().event(&event, &names).is_err()
            })
            .count() as u64;
        let mut stated = coverage(25_000 - refused).recording.unwrap();
        stated.lost.insert("another program cut the file".to_owned(), refused);
        recording.finish(&Coverage::of_recording(stated), false, THREADS, &|_, _| {}).unwrap();
        let trail = Trail::open(&target).unwrap();
        assert!(refused > 0 && trail.coverage().lost > refused, "{refused}");
        assert_eq!(trail.meta().totals.events + trail.coverage().lost, 25_000, "{:?}", trail.coverage());
        assert_eq!(trail.coverage().recording.as_ref().unwrap().events, trail.meta().totals.events);
        assert!(check(&target).unwrap().is_empty());
    }
}

fn copy_all(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

#[test]
fn a_recording_that_is_going_on_is_never_recovered() {
    let (_directory, target) = directory();
    let mut recording = Recording::join(&target, options(0, 1)).unwrap();
    write(&mut recording, 100, 1);
    let forced = RecoverOptions { force: true, ..recover_options() };
    let refused = recover(&target, &forced, &|_, _| {}).unwrap();
    assert_eq!((refused.recordings.len(), refused.left.len()), (0, 1));
    let replaced = TrailWriter::create(&target, CreateOptions { overwrite: true });
    assert!(replaced.unwrap_err().to_string().contains("is recording into it"));
    write(&mut recording, 50, 2);
    finish(recording, 150);
    assert_eq!(Trail::open(&target).unwrap().meta().totals.events, 150);
}

#[test]
fn files_of_recorders_that_were_killed_are_those_of_each() {
    let (_directory, target) = directory();
    let mut recordings = Vec::new();
    for rank in 0..3 {
        let mut recording = Recording::join(&target, options(rank, 3)).unwrap();
        let mut names = Dictionaries::default();
        let process = Process { pid: Pid(10 + rank), start: Some(Timestamp(1)), ..Process::default() };
        recording.writer().image(&process).unwrap();
        for number in 0..=rank {
            let path = names.paths.intern(format!("/data/{rank}-{number}").as_bytes());
            let (path, file) = (Nullable::some(PathId(path)), Nullable::some(FileId(number)));
            let event = Event { pid: process.pid, tid: Tid(process.pid.0), path, file, ..Event::default() };
            recording.writer().event(&event, &names).unwrap();
        }
        recordings.push(recording);
    }
    drop(recordings);
    let files = || {
        let log = EventLog::open(std::slice::from_ref(&target)).unwrap();
        let mut files = std::collections::BTreeMap::new();
        for group in 0..log.row_groups() {
            let batch = log.read(group, Columns::ALL).unwrap();
            for row in 0..batch.len {
                let event = batch.event(row);
                let path = log.names().paths[event.path.get().unwrap().index()].clone();
                files.entry(event.file).or_insert_with(std::collections::BTreeSet::new).insert(path);
            }
        }
        files
    };
    let before = files();
    assert_eq!((before.len(), before.values().all(|names| names.len() == 1)), (6, true), "{before:?}");
    recover(&target, &recover_options(), &|_, _| {}).unwrap();
    assert_eq!(files().into_values().collect::<Vec<_>>(), before.into_values().collect::<Vec<_>>());
}

#[test]
fn a_spool_of_which_nothing_can_be_read_is_kept() {
    let (_directory, target) = directory();
    let mut recording = Recording::join(&target, options(0, 1)).unwrap();
    write(&mut recording, 100, 1);
    let spool = recording.writer().directory().to_owned();
    drop(recording);
    let header = std::fs::read_to_string(spool.join("header.json")).unwrap();
    std::fs::write(spool.join("header.json"), header.replace("tool_version", "toom_version")).unwrap();
    let forced = RecoverOptions { force: true, ..recover_options() };
    let recovered = recover(&target, &forced, &|_, _| {}).unwrap();
    assert!(recovered.unreadable[0].why.contains("header.json"), "{:?}", recovered.unreadable);
    std::fs::write(spool.join("header.json"), header).unwrap();
    recover(&target, &recover_options(), &|_, _| {}).unwrap();
    assert_eq!(Trail::open(&target).unwrap().meta().totals.events, 100);
}

#[test]
fn a_spool_without_its_header_is_neither_passed_over_nor_removed() {
    let (_directory, target) = directory();
    record(&target, options(0, 2), 10);
    let mut recording = Recording::join(&target, options(1, 2)).unwrap();
    write(&mut recording, 100, 1);
    let spool = recording.writer().directory().to_owned();
    drop(recording);
    let header = std::fs::read(spool.join("header.json")).unwrap();
    std::fs::remove_file(spool.join("header.json")).unwrap();
    assert!(Trail::open(&target).unwrap_err().to_string().contains("header.json"));
    let left = recover(&target, &recover_options(), &|_, _| {}).unwrap();
    assert!(!left.is_complete() && left.unreadable[0].why.contains("header.json"), "{left:?}");
    std::fs::write(spool.join("header.json"), header).unwrap();
    recover(&target, &recover_options(), &|_, _| {}).unwrap();
    assert_eq!(Trail::open(&target).unwrap().meta().totals.events, 110);
}

#[test]
fn a_copy_of_a_recording_beside_it_is_not_counted() {
    let (_directory, target) = directory();
    let mut recording = Recording::join(&target, options(0, 1)).unwrap();
    write(&mut recording, 100, 1);
    let spool = recording.writer().directory().to_owned();
    drop(recording);
    copy_all(&spool, &spool.with_file_name("vm-1-1"));
    assert!(Trail::open(&target).unwrap_err().to_string().contains("copied or renamed"));
    let recovered = recover(&target, &recover_options(), &|_, _| {}).unwrap();
    assert_eq!((recovered.events, recovered.unreadable.len()), (100, 1));
}

#[test]
fn a_recording_whose_directory_is_gone_is_missed() {
    for finished in [false, true] {
        let (_directory, target) = directory();
        let mut spools = Vec::new();
        for rank in 0..3 {
            let mut recording = Recording::join(&target, options(rank, 3)).unwrap();
            write(&mut recording, 100, i64::from(rank) + 1);
            match rank == 0 && finished {
                true => finish(recording, 100),
                false => spools.push(recording.writer().directory().to_owned()),
            }
        }
        std::fs::remove_dir_all(&spools[spools.len() - 1]).unwrap();
        for _ in 0..2 {
            let trail = Trail::open(&target).unwrap();
            let missing: Vec<&str> = trail
                .coverage()
                .notes
                .sentences()
                .filter(|text| text.contains("its directory is gone"))
                .collect();
            assert_eq!((missing.len(), trail.meta().totals.events), (1, 200), "{missing:?}");
            let recording = trail.coverage().recording.clone().unwrap();
            assert_eq!((recording.recorders, recording.lost_unknown), (3, 1));
            recover(&target, &recover_options(), &|_, _| {}).unwrap();
        }
    }
}

#[test]
fn a_rank_whose_command_could_not_be_started_is_not_missed() {
    let (_directory, target) = directory();
    let mut recording = Recording::join(&target, options(0, 2)).unwrap();
    write(&mut recording, 100, 1);
    Recording::join(&target, options(1, 2)).unwrap().abandon().unwrap();
    drop(recording);
    let trail = Trail::open(&target).unwrap();
    assert!(
        trail.coverage().notes.sentences().all(|text| !text.contains("gone")),
        "{:?}",
        trail.coverage().notes
    );
    assert_eq!(trail.coverage().recording.as_ref().unwrap().lost_unknown, 0);
}

#[test]
fn what_was_finished_is_not_overwritten_because_nothing_lists_it() {
    let (directory, target) = directory();
    record(&target, options(0, 2), 10);
    let mut recording = Recording::join(&target, options(1, 2)).unwrap();
    write(&mut recording, 100, 2);
    drop(recording);
    let finished = std::fs::read(target.join("events-0000.parquet")).unwrap();
    let list = std::fs::read(target.join("trail.json")).unwrap();
    std::fs::remove_file(target.join("trail.json")).unwrap();
    let forced = RecoverOptions { force: true, ..recover_options() };
    for options in [&forced, &recover_options()] {
        let refused = recover(&target, options, &|_, _| {}).unwrap_err().to_string();
        assert!(refused.contains("trail.json is missing"), "{refused}");
    }
    assert!(Trail::open(&target).unwrap_err().to_string().contains("trail.json is missing"));
    let rescue = RecoverOptions { output: Some(directory.path().join("new.trail")), ..forced };
    assert_eq!(recover(&target, &rescue, &|_, _| {}).unwrap().events, 100);
    assert_eq!(std::fs::read(target.join("events-0000.parquet")).unwrap(), finished);
    std::fs::write(target.join("trail.json"), list).unwrap();
    recover(&target, &recover_options(), &|_, _| {}).unwrap();
    assert_eq!(Trail::open(&target).unwrap().meta().totals.events, 110);
}

#[test]
fn cases_of_another_trail_are_not_believed_while_a_recording_waits() {
    let (directory, target) = directory();
    record(&target, options(0, 2), 10);
    drop(Recording::join(&target, options(1, 2)).unwrap());
    let other = directory.path().join("other.trail");
    record(&other, options(5, 6), 10);
    std::fs::copy(other.join("cases.parquet"), target.join("cases.parquet")).unwrap();
    assert!(Trail::open(&target).unwrap_err().to_string().contains("cases.parquet"));
    assert!(recover(&target, &recover_options(), &|_, _| {}).is_err());
}

#[test]
fn a_rank_of_which_nothing_can_be_read_does_not_keep_the_others_from_being_recovered() {
    let (directory, target) = directory();
    let mut spools = Vec::new();
    for rank in 0..3 {
        let mut recording = Recording::join(&target, options(rank, 3)).unwrap();
        write(&mut recording, 100, i64::from(rank) + 1);
        spools.push(recording.writer().directory().to_owned());
    }
    std::fs::remove_file(spools[1].join("header.json")).unwrap();
    let other = directory.path().join("other.trail");
    let elsewhere = RecoverOptions { output: Some(other.clone()), ..recover_options() };
    for options in [elsewhere, recover_options()] {
        let recovered = recover(&target, &options, &|_, _| {}).unwrap();
        assert_eq!((recovered.recordings.len(), recovered.left.len(), recovered.unreadable.len()), (2, 0, 1));
        assert_eq!((recovered.events, recovered.is_complete()), (200, false));
    }
    assert!(spools[1].join("0000.spool").is_file(), "it is kept");
    let trail = Trail::open(&other).unwrap();
    assert_eq!(trail.meta().totals.events, 200);
    let notes = trail.coverage().notes.sentences().collect::<Vec<_>>().join("\n");
    assert!(notes.contains("not taken") && notes.contains("header.json"), "{notes}");
    assert!(
        Trail::open(&target).unwrap_err().to_string().contains("header.json"),
        "no figures without that rank"
    );
}

#[test]
fn what_somebody_put_among_the_recordings_stays() {
    let (_directory, target) = directory();
    let recording = Recording::join(&target, options(0, 1)).unwrap();
    let mine = [target.join("recording/mine"), target.join("recording/notes.txt")];
    std::fs::create_dir(&mine[0]).unwrap();
    std::fs::write(&mine[1], "x").unwrap();
    finish(recording, 0);
    assert!(mine.iter().all(|path| path.exists()));
    assert_eq!(std::fs::read_dir(target.join("recording")).unwrap().count(), 2, "nothing else is left");
    std::fs::remove_dir(&mine[0]).unwrap();
    std::fs::remove_file(&mine[1]).unwrap();
    Trail::open(&target).unwrap();
}

#[test]
fn strangers_among_the_recordings_do_no_harm() {
    let (_directory, target) = directory();
    record(&target, options(0, 2), 10);
    std::fs::create_dir_all(target.join("recording/empty")).unwrap();
    std::fs::write(target.join("recording/file"), "x").unwrap();
    assert_eq!(Trail::open(&target).unwrap().meta().totals.events, 10);
    let hostile = target.join("recording/hostile");
    std::fs::create_dir(&hostile).unwrap();
    std::fs::write(hostile.join("header.json"), "{").unwrap();
    let error = Trail::open(&target).unwrap_err().to_string();
    assert!(error.contains("header.json"), "{error}");
}
