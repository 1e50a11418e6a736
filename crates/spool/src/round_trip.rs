//! What goes into a spool comes out of it.

use crate::samples;
use crate::{Header, Spool, SpoolError, SpoolWriter, Visit};
use iotrail_model::{
    CallId, Coverage, Dictionaries, ErrnoId, Event, FlagsId, NamedFile, Nanos, Nullable, PathId, Pid,
    Process, Tid, Timestamp,
};
use proptest::prelude::*;
use std::path::Path;

/// A record with names in place of ids.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Record {
    Event(Box<Event>, [Option<Vec<u8>>; 7]),
    Process(Box<Process>),
    Image(Box<Process>),
    File(Vec<u8>, NamedFile),
    Coverage(Box<Coverage>),
}

pub(crate) fn named(event: &Event, names: &Dictionaries) -> Record {
    let texts = [
        Some(names.calls.get(event.call.0).to_vec()),
        event.path.get().map(|id| names.paths.get(id.0).to_vec()),
        event.path2.get().map(|id| names.paths.get(id.0).to_vec()),
        event.errno.get().map(|id| names.errnos.get(id.0).to_vec()),
        event.flags.get().map(|id| names.flags.get(id.0).to_vec()),
        event.via.get().map(|id| names.flags.get(id.0).to_vec()),
        event.args.get().map(|id| names.flags.get(id.0).to_vec()),
    ];
    let event = Event {
        call: CallId(0),
        path: Nullable::NULL,
        path2: Nullable::NULL,
        errno: Nullable::NULL,
        flags: Nullable::NULL,
        via: Nullable::NULL,
        args: Nullable::NULL,
        ..*event
    };
    Record::Event(Box::new(event), texts)
}

/// Collects everything.
#[derive(Debug, Default)]
pub(crate) struct All {
    pub(crate) records: Vec<Record>,
}

impl Visit for All {
    type Error = SpoolError;

    fn event(&mut self, event: &Event, names: &Dictionaries) -> Result<(), SpoolError> {
        self.records.push(named(event, names));
        Ok(())
    }

    fn process(&mut self, process: Process) -> Result<(), SpoolError> {
        self.records.push(Record::Process(Box::new(process)));
        Ok(())
    }

    fn image(&mut self, process: Process) -> Result<(), SpoolError> {
        self.records.push(Record::Image(Box::new(process)));
        Ok(())
    }

    fn file(&mut self, path: &[u8], facts: &NamedFile) -> Result<(), SpoolError> {
        self.records.push(Record::File(path.to_vec(), *facts));
        Ok(())
    }

    fn coverage(&mut self, coverage: Coverage) -> Result<(), SpoolError> {
        self.records.push(Record::Coverage(Box::new(coverage)));
        Ok(())
    }
}

/// Dictionaries in which the ids of [`samples::event`] have names; those of another `turn` have others.
pub(crate) fn names(turn: usize) -> Dictionaries {
    let mut names = Dictionaries::default();
    for number in 0..6 {
        names.paths.intern(format!("/data/run{turn}/part-{number}\u{ff}").as_bytes());
        names.errnos.intern(format!("E{number}").as_bytes());
        names.flags.intern(format!("O_{turn}|{number}").as_bytes());
    }
    names
}

/// Everything in the spool, none of it damaged.
pub(crate) fn read_all(directory: &Path) -> Vec<Record> {
    let spool = Spool::open(directory).unwrap();
    assert_eq!(spool.damage(), []);
    let mut all = All::default();
    let mut reader = spool.reader();
    reader.read_all(&mut all).unwrap();
    assert_eq!(reader.damage(), []);
    let events = all.records.iter().filter(|record| matches!(record, Record::Event(..))).count();
    assert_eq!(spool.events(), events as u64);
    all.records
}

#[derive(Clone, Debug)]
enum Step {
    Event(Event),
    Process(Process),
    Image(Process),
    File(u32, NamedFile),
    Coverage(u64),
    Rotate,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        20 => samples::event().prop_map(Step::Event),
        1 => samples::process().prop_map(Step::Process),
        1 => samples::process().prop_map(Step::Image),
        2 => (0_u32..6, samples::named()).prop_map(|(path, file)| Step::File(path, file)),
        1 => any::<u64>().prop_map(Step::Coverage),
        1 => Just(Step::Rotate),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]
    #[test]
    fn a_finished_and_an_abandoned_spool_hold_every_record(
        steps in prop::collection::vec(step(), 0..60),
        finishes in any::<bool>(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = SpoolWriter::create(dir.path(), &Header::default()).unwrap();
        let mut expected = Vec::new();
        let mut turn = 0;
        let mut dictionaries = names(turn);
        for step in steps {
            match step {
                Step::Event(event) => {
                    expected.push(named(&event, &dictionaries));
                    writer.event(&event, &dictionaries).unwrap();
                }
                Step::Process(process) => {
                    writer.process(&process).unwrap();
                    expected.push(Record::Process(Box::new(process)));
                }
                Step::Image(process) => {
                    writer.image(&process).unwrap();
                    expected.push(Record::Image(Box::new(process)));
                }
                Step::File(path, facts) => {
                    writer.file(PathId(path), facts, &dictionaries).unwrap();
                    expected.push(Record::File(dictionaries.paths.get(path).to_vec(), facts));
                }
                Step::Coverage(lost) => {
                    let coverage = Coverage { lost, ..Coverage::default() };
                    writer.coverage(&coverage).unwrap();
                    expected.push(Record::Coverage(Box::new(coverage)));
                }
                Step::Rotate => {
                    turn += 1;
                    dictionaries = names(turn);
                    writer.rotate();
                }
            }
        }
        // Abandoned, its lock and its mapping are as good as those of a killed writer.
        if finishes {
            writer.finish().unwrap();
        } else {
            drop(writer);
        }
        prop_assert_eq!(read_all(dir.path()), expected);
        prop_assert_eq!(Spool::open(dir.path()).unwrap().is_finished(), finishes);
    }
}

/// The events of a program that reads files one after another; event `number`, with the names that it needs.
fn synthetic(number: u64, names: &mut Dictionaries) -> Event {
    let file = number / 5;
    let path = names.paths.intern(format!("/data/archive/directory-{}/file-{file}.bin", file % 7).as_bytes());
    let flags = names.flags.intern(b"O_RDONLY|O_CLOEXEC");
    let enoent = names.errnos.intern(b"ENOENT");
    let event = Event {
        seq: number,
        pid: Pid(40 + (number / 1000) as u32),
        tid: Tid(40 + (number / 1000) as u32),
        call: CallId((number % 5) as u32),
        start: Timestamp(1_700_000_000_000_000_000 + number as i64 * 21_013),
        dur: Nullable::some(Nanos(5_000 + (number % 977) as i64)),
        path: Nullable::some(PathId(path)),
        ..Event::default()
    };
    match number % 5 {
        0 => Event { ret: Nullable::some(-1), errno: Nullable::some(ErrnoId(enoent)), ..event },
        1 => Event {
            fd: Nullable::some(3),
            ret: Nullable::some(3),
            flags: Nullable::some(FlagsId(flags)),
            ..event
        },
        4 => Event { fd: Nullable::some(3), ret: Nullable::some(0), ..event },
        part => Event {
            fd: Nullable::some(3),
            offset: Nullable::some((part as i64 - 2) * 8192),
            requested: Nullable::some(8192),
            size: Nullable::some(8192 - (part as i64 - 2) * 100),
            ret: Nullable::some(8192 - (part as i64 - 2) * 100),
            ..event
        },
    }
}

/// Writes `count` synthetic events into segments of 2 MiB.
pub(crate) fn write_synthetic(directory: &Path, count: u64) -> Vec<Record> {
    let mut writer = SpoolWriter::with_segments(directory, &Header::default(), 2 << 20).unwrap();
    let mut names = Dictionaries::default();
    let mut expected = Vec::new();
    for number in 0..count {
        let event = synthetic(number, &mut names);
        writer.event(&event, &names).unwrap();
        expected.push(named(&event, &names));
    }
    let written = writer.finish().unwrap();
    assert_eq!(written.events, count);
    expected
}

#[test]
fn many_blocks_pieces_and_segments_are_one_spool() {
    let dir = tempfile::tempdir().unwrap();
    let count = 150_000;
    let expected = write_synthetic(dir.path(), count);
    assert!(dir.path().join("0001.spool").is_file());
    assert!(read_all(dir.path()) == expected);
    let spool = Spool::open(dir.path()).unwrap();
    assert!(spool.is_finished());
    let bytes: u64 = spool.bytes();
    assert!(bytes / count < 30, "{} bytes an event", bytes / count);
}

#[test]
fn pieces_can_be_read_alone_and_in_any_order() {
    let dir = tempfile::tempdir().unwrap();
    let expected = write_synthetic(dir.path(), 150_000);
    let spool = Spool::open(dir.path()).unwrap();
    assert!(spool.pieces().len() > 2);
    let mut parts: Vec<Vec<Record>> = Vec::new();
    for piece in spool.pieces().iter().rev() {
        let mut all = All::default();
        spool.reader().read(piece, &mut all).unwrap();
        assert_eq!(all.records.len() as u64, piece.events);
        parts.push(all.records);
    }
    parts.reverse();
    assert!(parts.concat() == expected);
}

#[test]
fn a_window_of_time_delivers_what_starts_in_it() {
    let dir = tempfile::tempdir().unwrap();
    let expected = write_synthetic(dir.path(), 150_000);
    let spool = Spool::open(dir.path()).unwrap();
    let start = |record: &Record| match record {
        Record::Event(event, _) => event.start,
        _ => unreachable!(),
    };
    for (first, last) in [(0, 0), (70_000, 70_010), (10, 149_999), (149_990, 149_999)] {
        let mut all = All::default();
        spool.reader().within(start(&expected[first])..=start(&expected[last])).read_all(&mut all).unwrap();
        assert!(all.records == expected[first..=last], "{first}..={last}");
    }
    let mut all = All::default();
    spool.reader().within(Timestamp(0)..=Timestamp(1)).read_all(&mut all).unwrap();
    assert_eq!(all.records, []);
}

#[test]
fn names_and_rows_longer_than_a_block_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = SpoolWriter::create(dir.path(), &Header::default()).unwrap();
    let mut names = Dictionaries::default();
    let mut expected = Vec::new();
    for number in 0..30_u32 {
        let path = names.paths.intern(format!("/{}", "é".repeat(2000 * number as usize)).as_bytes());
        let path2 = names.paths.intern(format!("/{number}{}", "x".repeat(120_000)).as_bytes());
        let event = Event {
            seq: u64::from(number),
            path: Nullable::some(PathId(path)),
            path2: Nullable::some(PathId(path2)),
            ..Event::default()
        };
        writer.event(&event, &names).unwrap();
        expected.push(named(&event, &names));
        let process = Process {
            pid: Pid(number),
            cmdline: Some("arg\0".repeat(2000 * number as usize)),
            ..Process::default()
        };
        writer.process(&process).unwrap();
        expected.push(Record::Process(Box::new(process)));
    }
    assert_eq!(writer.written().cut_rows, 0);
    writer.finish().unwrap();
    assert!(read_all(dir.path()) == expected);
}

#[test]
fn what_is_too_long_or_unknown_is_refused_alone() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = SpoolWriter::create(dir.path(), &Header::default()).unwrap();
    let mut names = names(0);
    let long = names.paths.intern(&vec![b'x'; 1 << 20]);
    let event = |path| Event { path: Nullable::some(PathId(path)), ..Event::default() };
    let error = writer.event(&event(long), &names).unwrap_err().to_string();
    assert!(error.starts_with("a name has 1048576 bytes"), "{error}");
    let error = writer.event(&event(77), &names).unwrap_err().to_string();
    assert_eq!(error, "an event refers to row 77 of the dictionary of paths, which has 7 rows");
    writer.event(&event(0), &names).unwrap();
    let huge = Process { cmdline: Some("x".repeat(3 << 20)), ..Process::default() };
    writer.process(&huge).unwrap();
    let written = writer.finish().unwrap();
    assert_eq!((written.events, written.refused_events, written.cut_rows), (1, 2, 1));
    assert_eq!(read_all(dir.path()).len(), 2);
}

#[test]
fn tables_take_the_final_row_of_an_image_or_what_was_known_when_it_began() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = SpoolWriter::create(dir.path(), &Header::default()).unwrap();
    let row = |pid, exit_code| Process {
        pid: Pid(pid),
        start: Some(Timestamp(i64::from(pid))),
        exit_code,
        ..Process::default()
    };
    for pid in 1..4 {
        writer.image(&row(pid, None)).unwrap();
    }
    writer.process(&row(2, Some(5))).unwrap();
    for lost in [3, 8] {
        writer.coverage(&Coverage { lost, ..Coverage::default() }).unwrap();
    }
    drop(writer);
    let tables = Spool::open(dir.path()).unwrap().tables().unwrap();
    let codes: Vec<_> = tables.processes.values().map(|row| (row.pid.0, row.exit_code)).collect();
    assert_eq!(codes, [(1, None), (2, Some(5)), (3, None)]);
    assert_eq!(tables.unfinished, 2);
    assert_eq!(tables.coverage.unwrap().lost, 8);
}

#[test]
fn a_spool_can_be_read_while_it_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = SpoolWriter::create(dir.path(), &Header::default()).unwrap();
    let names = names(0);
    let mut earlier = Vec::new();
    for number in 0..2000_u64 {
        writer.event(&Event { seq: number, ..Event::default() }, &names).unwrap();
        if number % 500 == 499 {
            let spool = Spool::open(dir.path()).unwrap();
            assert!(spool.is_being_written() && !spool.is_finished());
            assert_eq!(spool.damage(), []);
            assert_eq!(spool.events(), number + 1);
            earlier.push(spool);
        }
    }
    writer.finish().unwrap();
    for (round, spool) in earlier.iter().enumerate() {
        let mut all = All::default();
        spool.reader().read_all(&mut all).unwrap();
        assert_eq!(all.records.len(), (round + 1) * 500, "an opened spool stays what it was");
    }
    assert!(!Spool::open(dir.path()).unwrap().is_being_written());
}
