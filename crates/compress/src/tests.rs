//! Laws: what was compressed comes back, whatever the events are; what is damaged is an error.

use crate::error::CompressError;
use crate::events::Events;
use crate::{CompressOptions, Loops, Outline, OutlineOptions, Stage, check, compress, expand};
use iotrail_model::{
    Case, CaseId, CaseName, Event, Frame, Layer, Nanos, Nullable, OpenId, Pid, Process, Site, SourcePlace,
    Tid, Timestamp,
};
use iotrail_structure::{
    Column, DrawnColumns, Extreme, Histogram, HistogramParts, ItemId, KeyId, Precision, Repeated, Repeats,
    Resolution, Structure,
};
use iotrail_structure_file::{About, Document, ItemTimes, uncompressed};
use iotrail_trail::memory::MemoryLog;
use iotrail_trail::{Columns, CreateOptions, EventLog};
use proptest::prelude::*;
use tempfile::TempDir;

const EXACT: CompressOptions =
    CompressOptions { time_precision: Precision::EXACT, buckets: None, precision: Precision::EXACT };

fn default_options() -> CompressOptions {
    CompressOptions {
        time_precision: Precision::new(95).expect("a precision"),
        buckets: Some(16),
        precision: Precision::EXACT,
    }
}

const CALLS: [&str; 7] = ["openat", "read", "write", "pread64", "close", "futex", "MPI_Barrier"];

/// A call of a program: thread, call, file, what else is said.
type Row = (u8, u8, u8, u8);

/// Loops with branches in up to three processes with two threads each.
fn program() -> impl Strategy<Value = Vec<Row>> {
    let call = (0..6_u8, 0..7_u8, 0..5_u8, any::<u8>());
    prop::collection::vec(call, 0..6).prop_recursive(3, 120, 4, |inner| {
        prop_oneof![
            (inner.clone(), 0..9_usize).prop_map(|(body, count)| body.repeat(count)),
            prop::collection::vec(inner, 0..4).prop_map(|parts| parts.concat()),
        ]
    })
}

/// A stack of one to three calls.
fn site(number: u8) -> Site {
    let frame = |place: u8| Frame {
        module: "/bin/a".to_owned(),
        build_id: number.is_multiple_of(2).then(|| "0a1b".to_owned()),
        offset: u64::from(number) * 100 + u64::from(place),
        source: SourcePlace { function: Some(format!("f{place}")), file: None, line: None },
    };
    Site { frames: (0..=number % 3).map(frame).collect() }
}

fn log(rows: &[Row]) -> EventLog {
    let case = |id, rid: Option<&str>| Case {
        id: CaseId(id),
        name: CaseName { rid: rid.map(str::to_owned), ..CaseName::default() },
        ..Case::default()
    };
    let mut log =
        MemoryLog::new(vec![case(0, Some("1")), case(1, Some("0")), case(2, None)]).row_group_rows(50);
    log.push_process(Process {
        case: CaseId(1),
        pid: Pid(11),
        exe: Some("/bin/a".into()),
        ..Process::default()
    });
    let mut outer = [None; 6];
    for (seq, &(thread, call, file, what)) in (0_u64..).zip(rows) {
        let name = format!("/data/in-{:03}/x", (u64::from(file) + seq / 40) % 7);
        let layer = if call == 6 { Layer::Mpi } else { Layer::Syscall };
        let parent = if what % 3 == 0 && layer == Layer::Syscall { outer[usize::from(thread)] } else { None };
        if layer == Layer::Mpi {
            outer[usize::from(thread)] = Some(seq);
        }
        let size = (what % 5 > 0 && what != 9).then_some(i64::from(what) * 100);
        let event = Event {
            case: CaseId(u32::from(thread) % 3),
            seq,
            pid: Pid(u32::from(thread) % 3 + 10),
            tid: Tid(u32::from(thread) + 10),
            layer,
            call: log.call(CALLS[usize::from(call)]),
            start: Timestamp(1_000_000 + seq as i64 * 1_000 + i64::from(what)),
            dur: if what == 7 { Nullable::NULL } else { Nullable::some(Nanos(i64::from(what) * 3)) },
            fd: (call != 5).then_some(i32::from(file) + 3).into(),
            path: if call < 5 { log.path(&name) } else { Nullable::NULL },
            offset: (call == 3).then_some(4_096 * seq as i64).into(),
            requested: (call == 1 || call == 2).then_some(i64::from(what) * 100).into(),
            size: size.filter(|_| call == 1 || call == 2).into(),
            ret: Nullable::some(if what == 9 { -1 } else { size.unwrap_or(0) }),
            errno: if what == 9 { log.errno("EIO") } else { Nullable::NULL },
            open: (call < 5).then_some(OpenId(u32::from(file) + (seq / 30) as u32)).into(),
            parent: parent.into(),
            comm: (call == 6).then_some(0).into(),
            site: if call == 6 && what % 4 > 0 { log.site(site(file)) } else { Nullable::NULL },
            ..Event::default()
        };
        log.push(event);
    }
    log.build()
}

/// Every event with the names of its ids.
fn shown(log: &EventLog) -> Vec<(Event, Vec<String>)> {
    let mut events = Vec::new();
    for row_group in 0..log.row_groups() {
        let batch = log.read(row_group, Columns::ALL).expect("rows");
        for event in (0..batch.len).map(|row| batch.event(row)) {
            let names = log.names();
            let texts = [
                Some(names.call(event.call)),
                names.path(event.path),
                names.path(event.path2),
                names.errno(event.errno),
                names.flags(event.flags),
            ];
            let mut texts = texts.map(|text| text.unwrap_or("NULL").to_owned()).to_vec();
            texts.extend(event.site.get().map(|site| format!("{:?}", log.sites()[site.index()])));
            let Ok(event) = event.with_names(|_, _| Ok::<_, std::convert::Infallible>(0));
            events.push((
                Event { file: Nullable::NULL, file2: Nullable::NULL, site: Nullable::NULL, ..event },
                texts,
            ));
        }
    }
    events.sort_by_key(|(event, _)| (event.case, event.start, event.seq));
    events
}

fn there_and_back(log: &EventLog, options: &CompressOptions) -> (Document, EventLog, TempDir) {
    let made = compress(log, options, &mut |_, _| {}).expect("a structure");
    let bytes = made.to_bytes().expect("bytes");
    let document = Document::of_bytes(&bytes).expect("the structure");
    assert_eq!(document, made);
    assert!(check(&document, 9).is_empty(), "{:?}", check(&document, 9));
    let directory = tempfile::tempdir().expect("a directory");
    let target = directory.path().join("back.trail");
    expand(&document, &target, CreateOptions::default(), 0, |_| {}).expect("a trail");
    assert_eq!(iotrail_trail::check(&target).expect("a trail"), []);
    let back = EventLog::open(&[target]).expect("a trail");
    (document, back, directory)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn everything_comes_back(rows in program()) {
        let log = log(&rows);
        let (_, back, _directory) = there_and_back(&log, &EXACT);
        prop_assert_eq!(shown(&back), shown(&log));
        prop_assert_eq!(back.cases(), log.cases());
        prop_assert_eq!(back.processes().expect("rows"), log.processes().expect("rows"));
        prop_assert_eq!(back.coverage(), log.coverage());
    }

    #[test]
    fn without_times_everything_else_comes_back(rows in program()) {
        let log = log(&rows);
        let (document, back, _directory) = there_and_back(&log, &default_options());
        // In the order of each thread; what encloses a call, by where it stands in its thread.
        let untimed = |log: &EventLog| {
            let mut events = shown(log);
            events.sort_by_key(|(event, _)| (event.case, event.pid, event.tid, event.start, event.seq));
            let places: std::collections::HashMap<(CaseId, u64), usize> =
                events.iter().enumerate().map(|(place, (event, _))| ((event.case, event.seq), place)).collect();
            let rows = events.iter().map(|(event, texts)| {
                let parent = event.parent.get().map(|parent| places.get(&(event.case, parent)).copied());
                let dur = event.dur.get().map(|_| Nanos(0));
                let event = Event { seq: 0, start: Timestamp(0), parent: Nullable::NULL, dur: dur.into(), ..*event };
                (event, texts.clone(), parent)
            });
            rows.collect::<Vec<_>>()
        };
        let total = |log: &EventLog| shown(log).iter().filter_map(|(event, _)| event.dur.get()).map(|span| span.0).sum::<i64>();
        prop_assert_eq!(untimed(&back), untimed(&log));
        prop_assert_eq!(total(&back), total(&log));
        let outline = Outline::of(&document, OutlineOptions::default()).expect("an outline");
        prop_assert_eq!(outline.events, rows.len() as u64);
    }
}

#[test]
fn calls_from_two_places_are_two_calls_and_their_sites_cost_some_bytes() {
    let barrier = |site, what| (0, 6, site, what);
    let with = |what| {
        let body = [barrier(0, what), barrier(1, what), barrier(0, what)];
        let document =
            compress(&log(&body.repeat(50)), &default_options(), &mut |_, _| {}).expect("a structure");
        let bytes = document.to_bytes().expect("bytes").len();
        let outline = Outline::of(&document, OutlineOptions::default()).expect("an outline");
        (document, bytes, outline)
    };
    let (without, plain, _) = with(4);
    let (document, bytes, outline) = with(5);
    assert_eq!((without.sites.len(), without.keys.len()), (0, 1));
    assert_eq!((document.sites.len(), document.keys.len()), (2, 2));
    assert!(bytes < plain + 120, "{bytes} bytes, {plain} without sites");
    let called_by: Vec<String> = outline.body[0]
        .body
        .iter()
        .map(|item| {
            item.call.as_ref().and_then(|call| call.site.innermost()).map(Frame::words).unwrap_or_default()
        })
        .collect();
    assert_eq!(called_by, ["f0 (a+0x0)", "f0 (a+0x64)"]);
}

#[test]
fn a_loop_over_files_is_one_loop() {
    let row = |call, what| (0, call, 0, what);
    let body = [row(0, 10), row(1, 20), row(1, 20), row(4, 10)];
    let document =
        compress(&log(&body.repeat(100)), &default_options(), &mut |_, _| {}).expect("a structure");
    let items = document.structure.items();
    assert_eq!(items.iter().filter(|item| matches!(item.what, Repeats::Loop(_))).count(), 1);
    assert_eq!(items.len(), 4);
    let twice = compress(&log(&body.repeat(200)), &default_options(), &mut |_, _| {}).expect("a structure");
    assert_eq!(twice.structure.items().len(), 4);
}

/// The number at a place of a file, seven bits a byte, the lowest first; the place is moved behind it.
fn varint(file: &[u8], at: &mut usize) -> usize {
    let bytes = file[*at..].iter().position(|byte| *byte < 0x80).expect("a last byte") + 1;
    let number =
        file[*at..*at + bytes].iter().rev().fold(0, |number, byte| number << 7 | usize::from(byte & 0x7f));
    *at += bytes;
    number
}

fn add_varint(mut number: usize, file: &mut Vec<u8>) {
    while number >= 0x80 {
        file.push(number as u8 | 0x80);
        number >>= 7;
    }
    file.push(number as u8);
}

/// A file with a section's bytes changed, its checksums right.
fn with_damage(file: &[u8], section: usize, damage: impl Fn(&mut Vec<u8>)) -> Vec<u8> {
    let file = uncompressed(file).expect("a structure");
    let mut at = 12;
    let count = varint(&file, &mut at);
    let mut entry = || {
        let [_codec, stored, _sections, tag, raw] = std::array::from_fn(|_| varint(&file, &mut at));
        if tag & 1 == 1 {
            varint(&file, &mut at);
        }
        at += 4;
        (tag, stored, raw)
    };
    let entries: Vec<(usize, usize, usize)> = (0..count).map(|_| entry()).collect();
    let mut start = at + 4;
    let (mut index, mut rest) = (file[..12].to_vec(), Vec::new());
    add_varint(count, &mut index);
    for (number, (tag, stored, raw)) in entries.into_iter().enumerate() {
        let mut bytes = file[start..start + stored].to_vec();
        start += stored;
        if number == section % count {
            damage(&mut bytes);
        }
        let raw = raw.min(bytes.len());
        [0, bytes.len(), 1, tag, raw].into_iter().for_each(|number| add_varint(number, &mut index));
        if tag & 1 == 1 {
            add_varint(bytes.len() - raw, &mut index);
        }
        index.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
        rest.extend_from_slice(&bytes);
    }
    let checksum = crc32fast::hash(&index);
    index.extend_from_slice(&checksum.to_le_bytes());
    [index, rest].concat()
}

/// Reads whatever it is.
fn walk(bytes: &[u8]) -> Result<(), CompressError> {
    let Ok(document) = Document::of_bytes(bytes) else { return Ok(()) };
    if document.events() > 100_000 {
        return Ok(());
    }
    let mut events = Events::new(&document, 0);
    for line in 0..document.lines.len() as u32 {
        events.line(line, &mut |_| Ok(()))?;
    }
    Outline::of(&document, OutlineOptions::default()).map(drop)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn hostile_sections_are_errors_or_structures(
        exact in any::<bool>(), section in 0..11_usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4), cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let body = [(0, 6, 0, 9), (0, 0, 1, 3), (0, 1, 1, 20), (1, 1, 2, 6), (1, 4, 1, 10)];
        let options = if exact { EXACT } else { default_options() };
        let file = compress(&log(&body.repeat(9)), &options, &mut |_, _| {}).expect("a structure").to_bytes().expect("bytes");
        let damaged = with_damage(&file, section, |raw| {
            for (index, byte) in &changes {
                if !raw.is_empty() {
                    let at = index.index(raw.len());
                    raw[at] = *byte;
                }
            }
            if let Some(cut) = cut {
                raw.truncate(cut.index(raw.len() + 1));
            }
        });
        let _ = walk(&damaged);
    }

    #[test]
    fn a_flipped_bit_or_a_cut_is_an_error(index in any::<prop::sample::Index>(), bit in 0..8_u8) {
        let body = [(0, 0, 1, 3), (0, 1, 1, 20), (0, 4, 1, 10)];
        let file = compress(&log(&body.repeat(5)), &EXACT, &mut |_, _| {}).expect("a structure").to_bytes().expect("bytes");
        let at = index.index(file.len());
        let mut flipped = file.clone();
        flipped[at] ^= 1 << bit;
        prop_assert!(Document::of_bytes(&flipped).is_err());
        prop_assert!(Document::of_bytes(&file[..at]).is_err());
    }
}

/// Two ranks, three time steps of 100 ns on rank 0 and 200 on rank 1, of which the second of rank 1 takes 500: each reads four blocks of 10
/// bytes in 4 ns each and writes 7 bytes in 6 ns.
fn time_steps() -> EventLog {
    let case = |id, rid: &str| Case {
        id: CaseId(id),
        name: CaseName { rid: Some(rid.to_owned()), ..CaseName::default() },
        ..Case::default()
    };
    let mut log = MemoryLog::new(vec![case(0, "0"), case(1, "1")]);
    for (rank, steps) in [[100, 100, 100], [200, 500, 200]].into_iter().enumerate() {
        let (mut step_start, mut seq) = (1000, 0);
        let calls = [("read", 10, 4); 4].into_iter().chain([("write", 7, 6)]);
        for length in steps {
            for (number, (call, size, dur)) in (0..).zip(calls.clone()) {
                let (case, pid) = (CaseId(rank as u32), Pid(10 + rank as u32));
                let (call, path) = (log.call(call), log.path(&format!("/data/{call}")));
                let start = Timestamp(step_start + number * 10);
                let (size, dur) = (Nullable::some(size), Nullable::some(Nanos(dur)));
                let tid = Tid(pid.0);
                log.push(Event { case, seq, pid, tid, call, path, start, size, dur, ..Event::default() });
                seq += 1;
            }
            step_start += length;
        }
    }
    log.build()
}

#[test]
fn loops_have_the_time_bytes_and_slowest_iterations_of_the_program() {
    let document = compress(&time_steps(), &EXACT, &mut |_, _| {}).unwrap();
    let loops = Loops::of(&document).unwrap();
    let [steps] = &loops.loops[..] else { panic!("{loops:#?}") };
    // The last step ends with its last call, 46 ns after its first began.
    let (first, second) = (100 + 100 + 46, 200 + 500 + 46);
    assert_eq!((steps.executions, steps.iterations, steps.calls), (2, 6, 30));
    assert_eq!((steps.bytes, steps.in_calls_ns), (6 * 47, 6 * 22));
    assert_eq!((steps.time_ns, loops.threads_ns, steps.share), (first + second, first + second, 1.0));
    assert_eq!(
        (steps.calls_in_it.as_slice(), steps.outer),
        (&["read".to_owned(), "write".to_owned()][..], None)
    );
    let threads = &steps.threads;
    assert_eq!((threads.count, threads.min_ns, threads.median_ns), (2, first, first));
    assert_eq!((threads.max_ns, threads.max_thread, threads.max_rank), (second, 1, 1));
    let mean = (first + second) as f64 / 2.0;
    assert!((threads.imbalance - (second as f64 / mean - 1.0)).abs() < 1e-12);
    let slowest: Vec<_> =
        steps.slowest.iter().map(|slow| (slow.rank, slow.iteration[0], slow.time_ns)).collect();
    assert_eq!(slowest, [(1, 1, 500), (1, 0, 200), (0, 0, 100), (0, 1, 100), (0, 2, 46), (1, 2, 46)]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn iterations_of_loops_are_those_of_the_outline(rows in program()) {
        let document = compress(&log(&rows), &EXACT, &mut |_, _| {}).unwrap();
        let outline = Outline::of(&document, OutlineOptions::default()).unwrap();
        let mut expected = Vec::new();
        let mut items: Vec<_> = outline.body.iter().collect();
        while let Some(item) = items.pop() {
            expected.extend(item.call.is_none().then_some((item.item, item.count.sum)));
            items.extend(&item.body);
        }
        expected.sort_unstable();
        let loops = Loops::of(&document).unwrap().loops;
        let mut found: Vec<_> = loops.iter().map(|row| (row.item, row.iterations)).collect();
        found.sort_unstable();
        prop_assert_eq!(found, expected);
        for row in loops {
            let times: i64 = row.slowest.iter().map(|slow| slow.time_ns).sum();
            prop_assert!(row.iterations > 8 || times == row.time_ns, "{row:?}");
        }
    }
}

#[test]
fn times_of_more_than_128_bits_are_the_most_there_are() {
    let ends = [0, i64::MAX].map(|value| Some(Extreme { value, rank: 0 }));
    let resolution = Resolution { level: 3, buckets: Some(16) };
    let times = HistogramParts {
        level: Resolution::MAX_LEVEL,
        counts: [(0, u64::MAX)].into(),
        sum: i128::from(i64::MAX) << 63,
        min: ends[0],
        max: ends[1],
    };
    let durations = Histogram::of_parts(resolution, times).expect("a histogram");
    let event = Repeated {
        counts: Column::default(),
        what: Repeats::Event { key: KeyId(0), columns: Vec::new(), children: Vec::new() },
    };
    let document = Document {
        about: About { time_precision: 95, ..About::default() },
        structure: Structure::of_parts(vec![event; 3], (0..3).map(ItemId).collect(), DrawnColumns::new()),
        times: vec![ItemTimes { durations, gaps: std::collections::BTreeMap::new() }; 3],
        ..Document::default()
    };
    assert_eq!(Outline::summary(&document).expect("a summary").time_ns, i64::MAX);
}

#[test]
fn more_events_than_a_structure_holds_are_an_error() {
    let log = log(&[(0, 1, 0, 0), (1, 1, 0, 0)]);
    let (mut document, ..) = there_and_back(&log, &EXACT);
    document.lines.iter_mut().for_each(|line| line.events = u32::MAX);
    let error = Document::of_bytes(&document.to_bytes().expect("bytes")).expect_err("too many events");
    assert!(error.to_string().contains("8589934590 events"), "{error}");
}

#[test]
fn each_stage_goes_over_all_events() {
    let (log, mut steps) = (time_steps(), Vec::new());
    let options = CompressOptions { precision: Precision::LEAST, ..default_options() };
    compress(&log, &options, &mut |stage, done| steps.push((stage, done))).expect("a structure");
    assert!(steps.is_sorted(), "{steps:?}");
    let stages = [Stage::Reading, Stage::Loops, Stage::Changes, Stage::Columns, Stage::Distributions];
    for stage in stages {
        let last = steps.iter().rfind(|(other, _)| *other == stage);
        assert_eq!(last, Some(&(stage, log.rows())));
    }
}
