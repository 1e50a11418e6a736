//! One flipped bit anywhere in a trail changes no figure, or is reported with file and place. `IOTRAIL_FLIPS=10000` tries more.
#![allow(clippy::unwrap_used, reason = "the lint spares test functions, but not their helpers")]

use iotrail_model::{
    CallId, Case, CaseName, Coverage, Dictionaries, ErrnoId, Event, FileFacts, FileKind, FlagsId, Nanos,
    Nullable, PathId, Pid, Process, Tid, Timestamp,
};
use iotrail_trail::{Capture, Columns, CreateOptions, EventLog, JoinOptions, Recording, TrailWriter};
use std::fs;
use std::path::{Path, PathBuf};

/// Different places each time would make failures that nobody can repeat.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

fn flips(default: usize) -> usize {
    std::env::var("IOTRAIL_FLIPS").ok().and_then(|number| number.parse().ok()).unwrap_or(default)
}

fn event(number: i64, names: &mut Dictionaries) -> Event {
    let path = names.paths.intern(format!("/data/file.{}", (number * 31) % 97).as_bytes());
    let failed = number % 13 == 0;
    Event {
        seq: number as u64,
        pid: Pid(10 + (number % 2) as u32),
        tid: Tid(10 + (number % 3) as u32),
        call: CallId((number % 5) as u32),
        start: Timestamp(1_700_000_000_000_000_000 + number * 1000),
        dur: Nullable::some(Nanos(number * 7919 % 10_000)),
        fd: Nullable::some((number % 7) as i32),
        path: Nullable::some(PathId(path)),
        offset: Nullable::some(number * 512),
        requested: Nullable::some(4096),
        size: if failed { Nullable::NULL } else { Nullable::some(number % 4096) },
        ret: Nullable::some(if failed { -1 } else { number % 4096 }),
        errno: if failed { Nullable::some(ErrnoId(names.errnos.intern(b"EIO"))) } else { Nullable::NULL },
        flags: Nullable::some(FlagsId(names.flags.intern(b"O_RDONLY"))),
        ..Event::default()
    }
}

fn process(pid: u32) -> Process {
    Process {
        pid: Pid(pid),
        start: Some(Timestamp(1)),
        exe: Some("/usr/bin/app".to_owned()),
        cmdline: Some(format!("app\0-n{pid}")),
        threads: 2,
        bytes_read: 4711,
        env: vec!["A=1".to_owned()],
        ..Process::default()
    }
}

fn finished(target: &Path) {
    finished_of(target, 0);
}

/// Trails of other numbers differ in each file, not in the number of rows.
fn finished_of(target: &Path, other: u32) {
    let writer = TrailWriter::create(target, CreateOptions::default()).unwrap();
    let mut names = Dictionaries::default();
    let mut part = writer.part().unwrap();
    for number in 0..3000 {
        let event = event(number + i64::from(other), &mut names);
        part.push(&event, &names).unwrap();
    }
    part.push_process(&process(10 + other)).unwrap();
    part.push_process(&process(11 + other)).unwrap();
    let facts = FileFacts {
        device: 1,
        inode: 2 + u64::from(other),
        size: Some(3),
        kind: Some(FileKind::File),
        birth: None,
    };
    part.push_file(b"/data/file.7", &facts).unwrap();
    let summary = part.finish(&names).unwrap();
    let name = CaseName { cid: Some("app".to_owned()), host: Some(format!("h{other}")), rid: None };
    let cases = [Case { name, source: "x.st".to_owned(), ..Case::default() }];
    writer.finish(&cases, vec![summary], Capture::default(), &Coverage::default()).unwrap();
}

/// Everything that a trail says, and what it says of damage.
fn told(target: &Path) -> Result<(String, String), String> {
    let text = |error: iotrail_trail::TrailError| error.to_string();
    let log = EventLog::open(&[target.to_path_buf()]).map_err(text)?;
    let mut told = format!("{:?}\n{:?}\n{:?}\n", log.cases(), log.files(), log.names());
    told += &format!("{:?}\n", log.processes().map_err(text)?);
    let meta = log.trails()[0].meta();
    told += &format!("{:?} {:?} {:?}\n", meta.totals, meta.capture, meta.time);
    for row_group in 0..log.row_groups() {
        told += &format!("{:?}\n", log.row_group(row_group));
        let batch = log.read(row_group, Columns::ALL).map_err(text)?;
        (0..batch.len).for_each(|row| told += &format!("{:?}\n", batch.event(row)));
    }
    let coverage = log.coverage();
    Ok((told, format!("{} {:?} {:?}", coverage.lost, coverage.notes, coverage.recording)))
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

#[test]
fn a_flipped_bit_of_a_trail_is_reported_with_its_place_or_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("t.trail");
    finished(&target);
    let before = told(&target).unwrap();
    let files = files(&target);
    assert_eq!(files.len(), 5);
    let (mut random, mut reported) = (Random(7), 0);
    for round in 0..flips(300) {
        // Each file gets as many flips, though most bytes are in one.
        let file = &files[round % files.len()];
        let sound = fs::read(file).unwrap();
        let bit = random.below(8 * sound.len() as u64) as usize;
        let mut damaged = sound.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        fs::write(file, &damaged).unwrap();
        let place = format!("bit {} of byte {} of {}", bit % 8, bit / 8, file.display());
        match told(&target) {
            Ok(after) => {
                assert!(after == before, "{place} changes what the trail says, and nothing is reported")
            }
            Err(error) => {
                reported += 1;
                let name = file.file_name().unwrap().to_str().unwrap();
                assert!(error.contains(name), "{place}: {error}");
            }
        }
        fs::write(file, &sound).unwrap();
    }
    assert!(reported * 10 > flips(300) * 8, "only {reported} flips are reported");
}

#[test]
fn a_file_of_another_trail_is_not_taken_for_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let (target, other) = (directory.path().join("t.trail"), directory.path().join("o.trail"));
    finished(&target);
    finished_of(&other, 1);
    for file in
        files(&target).iter().filter(|file| file.extension().is_some_and(|ending| ending == "parquet"))
    {
        let own = fs::read(file).unwrap();
        let foreign = fs::read(other.join(file.file_name().unwrap())).unwrap();
        assert!(own != foreign, "{}", file.display());
        fs::write(file, foreign).unwrap();
        let error = told(&target).unwrap_err();
        assert!(error.contains(file.file_name().unwrap().to_str().unwrap()), "{error}");
        fs::write(file, own).unwrap();
    }
    told(&target).unwrap();
}

#[test]
fn a_flipped_bit_of_a_recording_is_reported_or_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("t.trail");
    let mut recording =
        Recording::join(&target, JoinOptions { command: vec!["app".to_owned()], ..JoinOptions::default() })
            .unwrap();
    let mut names = Dictionaries::default();
    recording.writer().image(&process(10)).unwrap();
    for number in 0..200 {
        let event = event(number, &mut names);
        recording.writer().event(&event, &names).unwrap();
    }
    drop(recording);
    let before = told(&target).unwrap();
    let files: Vec<PathBuf> = files(&target.join("recording"))
        .into_iter()
        .filter(|file| fs::metadata(file).unwrap().len() > 0)
        .collect();
    let (mut random, mut reported) = (Random(9), 0);
    for round in 0..flips(150) {
        let file = &files[round % files.len()];
        let sound = fs::read(file).unwrap();
        // Space that is reserved and not written yet is most of a spool.
        let used = sound.iter().rposition(|byte| *byte != 0).map_or(1, |last| last + 1);
        let bit = random.below(8 * used as u64) as usize;
        let mut damaged = sound.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        fs::write(file, &damaged).unwrap();
        match told(&target) {
            Ok(after) if after.1 != before.1 => reported += 1,
            Ok(after) => assert!(
                after.0 == before.0,
                "bit {} of byte {} of {} changes what the trail says, and nothing is reported",
                bit % 8,
                bit / 8,
                file.display()
            ),
            Err(_) => reported += 1,
        }
        fs::write(file, &sound).unwrap();
    }
    assert!(reported > 0);
}
