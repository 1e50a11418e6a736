//! Open file descriptions of small logs, against what was worked out by hand.

#![allow(clippy::unwrap_used, reason = "the lint spares test functions, but not their helpers")]

use crate::io_table::{Log, random_log, rows};
use iotrail_model::{Case, CaseId, CaseName, Event, FileFacts, FileKind, Nullable, OpenId};
use iotrail_query::{ProcessTable, Query, QuerySpec};
use iotrail_stats::{Session, sessions};
use iotrail_trail::EventLog;
use proptest::prelude::*;
use std::num::NonZeroUsize;

fn of(log: &EventLog, spec: QuerySpec, threads: usize) -> Vec<Session> {
    let query = Query::new(spec, log).unwrap();
    let processes = ProcessTable::of_log(log).unwrap();
    sessions(log, &query, &processes, NonZeroUsize::new(threads).unwrap()).unwrap()
}

fn on(log: &mut Log, open: u32, call: &str, pid: u32, path: &str) {
    let event = Event { open: Nullable::some(OpenId(open)), ..log.event(call, pid, 3, path) };
    log.memory.push(event);
}

/// Process 1 opens, writes, and shares with 2; 1 closes first. Then 1 opens the file again and leaves it open.
fn shared() -> EventLog {
    let mut log = Log::new();
    let file = FileFacts { kind: Some(FileKind::File), ..FileFacts::default() };
    log.memory.push_file(b"/f", &file);
    for (pid, exe) in [(1, "a"), (2, "b")] {
        log.process(pid, 0, exe, None);
    }
    let flags = log.memory.flags("O_RDWR");
    let opens = Event { open: Nullable::some(OpenId(7)), flags, ..log.event("openat", 1, 3, "/f") };
    log.memory.push(opens);
    log.moved_through(7, ("write", 1, 3, "/f", Some(100), 10));
    log.moved_through(7, ("write", 2, 3, "/f", Some(110), 20));
    on(&mut log, 7, "close", 1, "/f");
    log.moved_through(7, ("pread64", 2, 3, "/f", Some(105), 5));
    on(&mut log, 7, "close", 2, "/f");
    on(&mut log, 8, "openat", 1, "/f");
    log.moved_through(8, ("read", 1, 3, "/f", None, 5));
    log.memory.build()
}

#[test]
fn a_session_lasts_from_its_opening_to_its_last_close() {
    let rows = of(&shared(), QuerySpec::default(), 1);
    let [first, second] = rows.as_slice() else { panic!("{rows:?}") };
    assert_eq!((first.open, &*first.path, first.kind.as_deref()), (7, "/f", Some("file")));
    assert_eq!((first.pid, first.program.as_deref(), first.flags.as_deref()), (1, Some("a"), Some("O_RDWR")));
    // Opened by the first call, at 1 us; closed by the sixth, which took 500 ns.
    assert_eq!((first.opened_ns, first.closed_ns, first.open_ns()), (Some(1000), Some(6500), Some(5500)));
    assert_eq!((first.low, first.high), (Some(100), Some(130)));
    assert_eq!((&*first.pids, first.used.processes), (&[1, 2][..], 2));
    let used = &first.used;
    assert_eq!((used.calls, used.opens, used.reads, used.writes), (6, 1, 1, 2));
    assert_eq!((used.bytes_read, used.bytes_written, used.unique_written), (5, 30, Some(30)));
    assert_eq!((used.consecutive, used.sequential, used.random), (1, 1, 1));

    assert_eq!((second.open, second.opened_ns, second.closed_ns), (8, Some(7000), None));
    assert_eq!((second.low, second.high, second.used.unique_read), (None, None, None));
}

#[test]
fn what_is_selected_counts_and_who_shared_is_told_whatever_is_selected() {
    let mut spec = QuerySpec::default();
    spec.select.pid = vec!["2".to_owned()];
    let rows = of(&shared(), spec, 1);
    let [only] = rows.as_slice() else { panic!("{rows:?}") };
    assert_eq!(
        (only.used.calls, only.used.bytes_written, only.low, only.high),
        (3, 20, Some(105), Some(130))
    );
    assert_eq!((only.opened_ns, only.closed_ns, &*only.pids), (Some(1000), Some(6500), &[1, 2][..]));
}

#[test]
fn a_copy_of_a_descriptor_opens_nothing_and_use_after_a_close_leaves_it_open() {
    let mut log = Log::new();
    log.process(1, 0, "a", None);
    on(&mut log, 1, "dup", 1, "/inherited");
    on(&mut log, 1, "close", 1, "/inherited");
    on(&mut log, 1, "fstat", 1, "/inherited");
    let rows = of(&log.memory.build(), QuerySpec::default(), 1);
    assert_eq!((rows[0].opened_ns, rows[0].closed_ns, rows[0].used.calls), (None, None, 3));
}

#[test]
fn a_copy_between_files_counts_on_both_sides() {
    let mut log = Log::new();
    log.process(1, 0, "a", None);
    let copy = log.transfer(("sendfile", 1, 3, "/from", Some(0), 20));
    let (open, open2) = (Nullable::some(OpenId(1)), Nullable::some(OpenId(2)));
    let path2 = log.memory.path("/to");
    log.memory.push(Event { open, open2, path2, ..copy });
    let rows = of(&log.memory.build(), QuerySpec::default(), 1);
    let sides: Vec<_> =
        rows.iter().map(|row| (&*row.path, row.used.bytes_read, row.used.bytes_written, row.low)).collect();
    assert_eq!(sides, [("/from", 20, 0, Some(0)), ("/to", 0, 20, None)]);
}

#[test]
fn cases_that_share_numbers_share_sessions() {
    let mut log = Log::of(vec![
        Case { name: named("0"), ..Case::default() },
        Case { id: CaseId(1), name: named("1"), numbered_with: Some(CaseId(0)), ..Case::default() },
        Case { id: CaseId(2), name: named("2"), ..Case::default() },
    ]);
    for (case, pid, call) in
        [(0, 1, "openat"), (0, 1, "write"), (1, 2, "write"), (2, 3, "write"), (1, 2, "close")]
    {
        let open = Nullable::some(OpenId(7));
        let size = if call == "write" { 10 } else { 0 };
        let event = log.transfer((call, pid, 3, "/f", None, size));
        log.memory.push(Event { case: CaseId(case), open, ..event });
    }
    let rows = of(&log.memory.build(), QuerySpec::default(), 1);
    let shown: Vec<_> = rows
        .iter()
        .map(|row| (&*row.case, row.open, row.opened_ns, row.closed_ns, &*row.pids, row.used.bytes_written))
        .collect();
    let expected = [("0", 7, Some(1000), Some(5500), &[1, 2][..], 20), ("2", 7, None, None, &[3], 10)];
    assert_eq!(shown, expected);
}

#[test]
fn both_ends_of_a_pipe_have_its_name() {
    let mut log = Log::new();
    let [open, open2] = [8, 7].map(|open| Nullable::some(OpenId(open)));
    let pipe = Event { open, open2, ..log.event("pipe2", 1, 3, "pipe:[9]") };
    log.memory.push(pipe);
    log.moved_through(7, ("write", 1, 4, "pipe:[9]", None, 6));
    let rows = of(&log.memory.build(), QuerySpec::default(), 1);
    let shown: Vec<_> = rows.iter().map(|row| (row.open, &*row.path, row.used.bytes_written)).collect();
    assert_eq!(shown, [(7, "pipe:[9]", 6), (8, "pipe:[9]", 0)]);
}

fn named(rank: &str) -> CaseName {
    CaseName { rid: Some(rank.to_owned()), ..CaseName::default() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn however_a_log_is_cut_its_sessions_are_the_same(rows in rows(), pieces in 1..9_usize, threads in 1..4_usize) {
        let whole = of(&random_log(&rows, 1000), QuerySpec::default(), 1);
        prop_assert_eq!(whole, of(&random_log(&rows, pieces), QuerySpec::default(), threads));
    }
}
