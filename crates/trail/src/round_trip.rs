//! Laws of writing and reading: whatever is pushed in whatever order comes back sorted and equal.

use crate::decode::decode;
use crate::limits::Limits;
use crate::{Capture, Columns, CreateOptions, EventLog, TrailError, TrailWriter, check};
use iotrail_model::text::path_to_text;
use iotrail_model::{
    CallId, Case, CaseId, Coverage, Dictionaries, ErrnoId, Event, FileId, FlagsId, Frame, Layer, Nanos,
    Nullable, OpenId, PathId, Pid, Site, SiteId, SourcePlace, Tid, Timestamp,
};
use proptest::prelude::*;
use std::path::{Path, PathBuf};

const TINY: Limits = Limits {
    check_rows: 1,
    buffer_rows: 12,
    group_rows: 8,
    late_rows: 3,
    run_group_rows: 2,
    fan_in: 2,
    path_bytes: 1 << 20,
};

/// Names by their place in these lists; a path that is no text, and one that looks like an escape.
const CALLS: [&str; 3] = ["read", "openat", "invented_call"];
const PATHS: [&[u8]; 4] = [b"/a", b"/tmp/\xff", b"/tmp/\\xff", b"pipe:[7]"];
const ERRNOS: [&str; 2] = ["ENOENT", "EINTR"];
const FLAGS: [&str; 2] = ["O_RDONLY", ""];

fn names(rotated: bool) -> Dictionaries {
    let mut names = Dictionaries::default();
    let mut order: Vec<usize> = (0..PATHS.len()).collect();
    if rotated {
        order.reverse();
    }
    for index in order {
        names.paths.intern(PATHS[index]);
    }
    for (dictionary, texts) in
        [(&mut names.calls, &CALLS[..]), (&mut names.errnos, &ERRNOS[..]), (&mut names.flags, &FLAGS[..])]
    {
        for text in texts {
            dictionary.intern(text.as_bytes());
        }
    }
    names
}

/// `event`, whose ids are places in the lists, with the ids of `names`.
fn with_ids(event: &Event, names: &Dictionaries) -> Event {
    let path = |place: Nullable<PathId>| {
        place.get().and_then(|place| names.paths.find(PATHS[place.index()])).map(PathId).into()
    };
    let call = names.calls.find(CALLS[event.call.index()].as_bytes()).unwrap_or_default();
    Event { call: CallId(call), path: path(event.path), path2: path(event.path2), ..*event }
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let number = || prop_oneof![Just(None), any::<i64>().prop_map(Some), (0_i64..100).prop_map(Some)];
    let key = (0_u32..3, -20_i64..200, 0_u64..1000, 0_u32..4);
    let names = (0_u32..3, prop::option::of(0_u32..4), prop::option::of(0_u32..4));
    let failed = (prop::option::of(0_u32..2), prop::option::of(0_u32..2), 0_usize..4);
    let file = || prop::option::of(prop_oneof![0_u32..4, Just(i32::MAX as u32 + 7)]);
    let numbers = (number(), number(), number(), number(), number(), prop::option::of(any::<i32>()));
    let event =
        (key, names, failed, numbers, (file(), file())).prop_map(|(key, names, failed, numbers, files)| {
            Event {
                case: CaseId(key.0),
                start: Timestamp(key.1),
                seq: key.2,
                pid: Pid(key.3 / 2),
                tid: Tid(u32::MAX - key.3),
                call: CallId(names.0),
                path: names.1.map(PathId).into(),
                path2: names.2.map(PathId).into(),
                errno: failed.0.map(ErrnoId).into(),
                flags: failed.1.map(FlagsId).into(),
                layer: Layer::ALL[failed.2],
                dur: numbers.0.map(Nanos).into(),
                offset: numbers.1.into(),
                requested: numbers.2.into(),
                size: numbers.3.into(),
                ret: numbers.4.into(),
                fd: numbers.5.into(),
                file: files.0.map(FileId).into(),
                file2: files.1.map(FileId).into(),
                open: files.0.map(|id| OpenId(id ^ 5)).into(),
                open2: files.1.map(OpenId).into(),
                parent: names.1.map(u64::from).into(),
                comm: numbers.5.into(),
                peer: names.2.map(|rank| rank as i32 - 2).into(),
                tag: numbers.5.map(|tag| tag ^ 1).into(),
                sent: numbers.1.into(),
                received: numbers.2.into(),
                via: failed.1.map(FlagsId).into(),
                args: failed.1.map(FlagsId).into(),
                site: names.2.map(SiteId).into(),
            }
        });
    prop::collection::vec(event, 0..120).prop_map(|mut events| {
        // Record order is unique within a case.
        events.iter_mut().enumerate().for_each(|(row, event)| event.seq = event.seq << 8 | row as u64);
        events
    })
}

fn case(id: u32) -> Case {
    Case { id: CaseId(id), source: format!("{id}.st"), ..Case::default() }
}

fn site(number: u32) -> Site {
    let source = SourcePlace { function: Some("main".to_owned()), file: None, line: Some(number) };
    let frame = Frame { module: "/bin/a".to_owned(), build_id: None, offset: number.into(), source };
    Site { frames: vec![frame.clone(), Frame { offset: 900, ..frame }] }
}

fn write(target: &Path, parts: &[&[Event]], limits: Limits, rotate_every: usize) -> Result<(), TrailError> {
    let writer = TrailWriter::create(target, CreateOptions::default())?.not_durable();
    let mut summaries = Vec::new();
    for (number, events) in parts.iter().enumerate() {
        // Every other one is encoded by a thread of its own.
        let mut part = writer.part_with(limits, number % 2 == rotate_every % 2)?;
        let mut dictionaries = names(false);
        for (row, event) in events.iter().enumerate() {
            if row % rotate_every == rotate_every - 1 {
                part.rotate(&dictionaries)?;
                dictionaries = names(row % 2 == 0);
            }
            part.push(&with_ids(event, &dictionaries), &dictionaries)?;
        }
        (0..4).for_each(|number| part.push_site(SiteId(number), site(number)));
        summaries.push(part.finish(&dictionaries)?);
    }
    let cases: Vec<Case> = (0..3).map(case).collect();
    writer.finish(&cases, summaries, Capture::default(), &Coverage::default()).map(drop)
}

/// All events of a log with ids that are places in the lists.
fn read(path: &Path) -> Result<Vec<Event>, TrailError> {
    let log = EventLog::open(&[path.to_owned()])?;
    let names = log.names();
    let place = |id: Nullable<PathId>| -> Nullable<PathId> {
        let text = names.path(id);
        PATHS.iter().position(|path| text == Some(&*path_to_text(path))).map(PathId::from_index).into()
    };
    let flags = |id: Nullable<FlagsId>| -> Nullable<FlagsId> {
        let text = names.flags(id);
        FLAGS.iter().position(|name| text == Some(*name)).map(FlagsId::from_index).into()
    };
    let mut events = Vec::new();
    for row_group in 0..log.row_groups() {
        let mut batch = log.read(row_group, Columns::ALL)?;
        if let Some((file, row_group)) = log.place_of(row_group) {
            // The numbers as they are in the file.
            let raw = decode(file, row_group, Columns::FILE | Columns::FILE2, &mut log.name_index())?;
            (batch.file, batch.file2) = (raw.file, raw.file2);
        }
        let bounds = log.row_group(row_group);
        let cases = bounds.cases.clone().unwrap_or(CaseId(9)..=CaseId(0));
        let starts = bounds.starts.clone().unwrap_or(Timestamp(0)..=Timestamp(-1));
        for row in 0..batch.len {
            let event = batch.event(row);
            assert!(cases.contains(&event.case) && starts.contains(&event.start), "{bounds:?} {event:?}");
            events.push(Event {
                call: CallId::from_index(
                    CALLS.iter().position(|name| *name == names.call(event.call)).unwrap(),
                ),
                path: place(event.path),
                path2: place(event.path2),
                errno: names
                    .errno(event.errno)
                    .and_then(|text| ERRNOS.iter().position(|name| *name == text))
                    .map(ErrnoId::from_index)
                    .into(),
                flags: flags(event.flags),
                via: flags(event.via),
                args: flags(event.args),
                ..event
            });
        }
    }
    Ok(events)
}

fn sorted(mut events: Vec<Event>) -> Vec<Event> {
    events.sort_by_key(Event::sort_key);
    events
}

fn target(directory: &tempfile::TempDir) -> PathBuf {
    directory.path().join("t.trail")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn events_in_any_order_come_back_sorted_and_equal(events in events(), rotate_every in 2_usize..50) {
        let directory = tempfile::tempdir().unwrap();
        write(&target(&directory), &[&events], TINY, rotate_every).unwrap();
        prop_assert_eq!(read(&target(&directory)).unwrap(), sorted(events));
        let left: Vec<_> = std::fs::read_dir(target(&directory)).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        prop_assert_eq!(left.len(), 6, "no run is left: {:?}", left);
    }

    #[test]
    fn nearly_sorted_events_come_back_too(events in events(), late in prop::collection::vec(0_usize..120, 0..4)) {
        let mut events = sorted(events);
        for index in late {
            if index < events.len() {
                let event = events.remove(index);
                events.push(event);
            }
        }
        let directory = tempfile::tempdir().unwrap();
        let limits = Limits { path_bytes: 200, ..TINY };
        write(&target(&directory), &[&events], limits, 1000).unwrap();
        prop_assert_eq!(read(&target(&directory)).unwrap(), sorted(events));
    }

    #[test]
    fn several_parts_are_sorted_each(events in events(), cut in 0_usize..120) {
        let cut = cut.min(events.len());
        let directory = tempfile::tempdir().unwrap();
        write(&target(&directory), &[&events[..cut], &events[cut..]], TINY, 1000).unwrap();
        let expected = [sorted(events[..cut].to_vec()), sorted(events[cut..].to_vec())].concat();
        prop_assert_eq!(read(&target(&directory)).unwrap(), expected);
    }
}

#[test]
fn many_paths_spill_and_come_back_once() {
    let directory = tempfile::tempdir().unwrap();
    let writer = TrailWriter::create(&target(&directory), CreateOptions::default()).unwrap();
    let limits = Limits { path_bytes: 1 << 16, ..Limits::default() };
    let mut part = writer.part_with(limits, true).unwrap();
    let mut names = Dictionaries::default();
    for row in 0..20_000_u64 {
        let path = PathId(names.paths.intern(format!("/data/{}", row % 9000).as_bytes()));
        let event = Event {
            seq: row,
            start: Timestamp((row / 3) as i64),
            path: Nullable::some(path),
            ..Event::default()
        };
        let call = CallId(names.calls.intern(b"read"));
        part.push(&Event { call, ..event }, &names).unwrap();
    }
    let summary = part.finish(&names).unwrap();
    writer.finish(&[case(0)], vec![summary], Capture::default(), &Coverage::default()).unwrap();
    let log = EventLog::open(&[target(&directory)]).unwrap();
    assert_eq!((log.rows(), log.files().len()), (20_000, 9000));
    assert!(log.files().is_sorted_by(|a, b| a.path < b.path));
    assert_eq!(check(&target(&directory)).unwrap(), []);
}

#[test]
fn untouched_row_groups_are_copied_as_they_are() {
    let directory = tempfile::tempdir().unwrap();
    let event = |row: i64| Event { seq: row as u64, start: Timestamp(row * 10), ..Event::default() };
    let on_time: Vec<Event> = (0..64).map(event).collect();
    write(&target(&directory), &[&on_time], TINY, 1000).unwrap();
    let bytes_on_time = column_bytes(&target(&directory));
    let late = [on_time, vec![Event { seq: 99, start: Timestamp(205), ..event(0) }]].concat();
    let other = directory.path().join("late.trail");
    write(&other, &[&late], TINY, 1000).unwrap();
    let bytes_late = column_bytes(&other);
    let changed: Vec<usize> = (0..8).filter(|group| bytes_on_time[*group] != bytes_late[*group]).collect();
    assert_eq!(changed, [2], "205 lies in the third group of eight");
    assert_eq!(read(&other).unwrap(), sorted(late));
}

/// The first chunk of `start` of every row group, as bytes.
fn column_bytes(path: &Path) -> Vec<Vec<u8>> {
    let bytes = std::fs::read(path.join("events-0000.parquet")).unwrap();
    let file =
        crate::parquet_file::ParquetFile::open(&path.join("events-0000.parquet"), crate::Table::Events)
            .unwrap();
    let range = |group: usize| {
        let (start, length) = file.metadata().row_group(group).column(6).byte_range();
        bytes[start as usize..(start + length) as usize].to_vec()
    };
    (0..file.row_groups()).map(range).collect()
}
