//! What was done to each file of small logs, against what was worked out by hand, and against profiles.

#![allow(clippy::unwrap_used, reason = "the lint spares test functions, but not their helpers")]

use crate::io_table::{Log, profile_of, random_log, rows};
use iotrail_model::{Event, FileFacts, FileKind, Nanos, Nullable, Timestamp};
use iotrail_query::{ProcessGroups, ProcessTable, Query, QuerySpec, TimeSlices, scan};
use iotrail_stats::size_histogram::SizeBin;
use iotrail_stats::{Context, FileSlicing, FileUsing, RowBy, UsedFile, file_uses};
use iotrail_trail::EventLog;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

fn used(log: &EventLog, spec: QuerySpec, by: RowBy, threads: usize) -> BTreeMap<String, UsedFile> {
    let query = Query::new(spec, log).unwrap();
    let processes = ProcessTable::of_log(log).unwrap();
    let rows = file_uses(log, &query, &processes, by, NonZeroUsize::new(threads).unwrap()).unwrap().rows;
    let number = rows.len();
    let rows: BTreeMap<_, _> = rows.into_iter().map(|row| (row.file.path.to_string(), row)).collect();
    assert_eq!(rows.len(), number, "one row for each path");
    rows
}

#[test]
fn a_file_has_its_time_by_what_it_was_spent_on_its_sizes_its_errors_and_its_users() {
    let mut log = Log::new();
    let file = FileFacts { kind: Some(FileKind::File), ..FileFacts::default() };
    log.memory.push_file(b"/f", &file);
    log.memory.push_file(b"pipe:[1]", &FileFacts { kind: Some(FileKind::Pipe), ..FileFacts::default() });
    for pid in [1, 2] {
        log.process(pid, 0, "a", None);
    }
    log.fail("openat", 1, "/f");
    log.call("openat", 1, 3, "/f");
    log.moved_through(1, ("write", 1, 3, "/f", Some(0), 10));
    log.moved_through(1, ("write", 1, 3, "/f", Some(10), 10));
    log.moved_through(1, ("pread64", 2, 3, "/f", Some(4), 6));
    let sync = Event { dur: Nullable::some(Nanos(9000)), ..log.event("fsync", 1, 3, "/f") };
    log.memory.push(sync);
    log.moved(("read", 2, 0, "pipe:[1]", None, 7));
    log.copied(("sendfile", 1, 3, "/f", Some(0), 20), "/copy");
    let rows = used(&log.memory.build(), QuerySpec::default(), RowBy::Path, 1);

    let row = &rows["/f"].used;
    assert_eq!((row.calls, row.opens, row.failures), (7, 1, 1));
    assert_eq!(row.errors, BTreeMap::from([("ENOENT".to_owned(), 1)]));
    assert_eq!((row.reads, row.bytes_read, row.writes, row.bytes_written), (2, 26, 2, 20));
    // Each call but the sync took 500 ns; opens are metadata.
    assert_eq!((row.data_ns, row.sync_ns, row.metadata_ns), (Some(2000), Some(9000), Some(1000)));
    assert_eq!((row.io_ns, row.wait_ns), (Some(12_000), Some(0)));
    // 10 follows 10, then 4 goes back; nothing comes before the copy, whose open file description is not known.
    assert_eq!((row.consecutive, row.sequential, row.random), (1, 1, 1));
    assert_eq!((row.unique_read, row.reread), (Some(20), Some(6)));
    assert_eq!((row.unique_written, row.overwritten), (Some(20), Some(0)));
    assert_eq!(row.write_sizes, [SizeBin { from: 4096, to: 8191, count: 2 }]);
    assert_eq!((row.processes, row.ranks), (2, 1));
    assert_eq!((row.first_ns, row.last_ns), (Some(1000), Some(15_000)));
    assert_eq!((row.sequential_share(), row.again()), (Some(0.5), Some(6)));

    let row = &rows["pipe:[1]"].used;
    assert_eq!((row.reads, row.bytes_read, row.io_ns, row.wait_ns), (1, 7, Some(0), Some(500)));
    assert_eq!((row.unique_read, row.sequential_share()), (Some(0), None));
    let row = &rows["/copy"].used;
    assert_eq!((row.calls, row.writes, row.bytes_written, row.unique_written), (1, 1, 20, None));
    assert_eq!((row.io_ns, row.write_sizes.len()), (None, 1));
}

#[test]
fn a_call_that_names_two_files_counts_in_both_once_if_they_are_one() {
    let mut log = Log::new();
    let file = FileFacts { kind: Some(FileKind::File), ..FileFacts::default() };
    for path in [&b"/a"[..], b"/b", b"/same"] {
        log.memory.push_file(path, &file);
    }
    log.process(1, 0, "a", None);
    let second = |log: &mut Log, call, path, path2: &str| {
        let event = log.event(call, 1, -1, path);
        Event { path2: log.memory.path(path2), ..event }
    };
    let rename = second(&mut log, "rename", "/a", "/b");
    log.memory.push(rename);
    let refused = second(&mut log, "link", "/a", "/b");
    let errno = log.memory.errno("EEXIST");
    log.memory.push(Event { errno, ..refused });
    log.copied(("copy_file_range", 1, 3, "/same", Some(0), 20), "/same");
    let symlink = second(&mut log, "symlink", "/b", "/a");
    log.memory.push(symlink);
    let rows = used(&log.memory.build(), QuerySpec::default(), RowBy::Path, 1);

    let (a, b, same) = (&rows["/a"].used, &rows["/b"].used, &rows["/same"].used);
    assert_eq!((a.calls, a.failures, a.io_ns), (2, 1, Some(1000)));
    // Its own: that a symbolic link was made; the text of a link touches nothing.
    assert_eq!((b.calls, b.failures, b.io_ns), (3, 1, Some(500)));
    assert_eq!(b.errors, BTreeMap::from([("EEXIST".to_owned(), 1)]));
    assert_eq!((same.calls, same.reads, same.writes, same.bytes_written), (1, 1, 1, 20));
}

#[test]
fn only_selected_calls_count_and_the_order_of_accesses_is_theirs() {
    let mut log = Log::new();
    log.process(1, 0, "a", None);
    log.moved_through(1, ("write", 1, 3, "/f", Some(0), 10));
    log.moved_through(1, ("read", 1, 3, "/f", Some(50), 10));
    log.moved_through(1, ("write", 1, 3, "/f", Some(10), 10));
    let mut spec = QuerySpec::default();
    spec.select.call = vec!["write".to_owned()];
    let rows = used(&log.memory.build(), spec, RowBy::File, 1);
    let row = &rows["/f"].used;
    assert_eq!((row.calls, row.reads, row.writes, row.consecutive), (2, 0, 2, 1));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn however_a_log_is_cut_its_files_are_the_same(rows in rows(), pieces in 1..9_usize, threads in 1..4_usize) {
        for by in [RowBy::Path, RowBy::File, RowBy::Name] {
            let whole = used(&random_log(&rows, 1000), QuerySpec::default(), by, 1);
            prop_assert_eq!(whole, used(&random_log(&rows, pieces), QuerySpec::default(), by, threads));
        }
    }

    #[test]
    fn files_have_what_the_profile_says_of_them(rows in rows()) {
        let log = random_log(&rows, 7);
        let profile = profile_of(&log, "exe", QuerySpec::default(), 1);
        let used = used(&log, QuerySpec::default(), RowBy::Path, 2);
        for row in &profile.files {
            let mine = &used[&row.name].used;
            prop_assert_eq!((mine.reads, mine.writes, mine.bytes_read, mine.bytes_written), (row.reads, row.writes, row.bytes_read, row.bytes_written));
            prop_assert_eq!((mine.consecutive, mine.sequential, mine.random), (row.consecutive, row.sequential, row.random));
            prop_assert_eq!((mine.unique_read, mine.reread, mine.unique_written, mine.overwritten), (row.unique_read, row.reread, row.unique_written, row.overwritten));
            prop_assert_eq!((mine.common_size, mine.common_share), (row.common_size, row.common_share));
            let sizes = |bins: &[SizeBin]| bins.iter().map(|bin| bin.count).sum::<u64>();
            prop_assert_eq!((sizes(&mine.read_sizes), sizes(&mine.write_sizes)), (row.reads, row.writes));
        }
        let io: u64 = used.values().filter_map(|row| row.used.io_ns).sum();
        prop_assert_eq!(Some(io), profile.total.io_ns.or(Some(0)));
        let calls: u64 = used.values().map(|row| row.used.calls).sum();
        let copies = rows.iter().filter(|row| row.0 == 1).count() as u64;
        prop_assert_eq!(calls, profile.total.calls + copies);
    }

    #[test]
    fn the_slices_of_files_are_the_files_however_the_log_is_cut(
        rows in rows(), pieces in 1..9_usize, threads in 1..4_usize, slices in 1..30_usize,
    ) {
        let sliced = |log: &EventLog, threads: usize| {
            let (query, processes) = (Query::new(QuerySpec::default(), log).unwrap(), ProcessTable::of_log(log).unwrap());
            let groups = ProcessGroups::default();
            let context = Context { log, query: &query, processes: &processes, groups: &groups, only: None };
            let threads = NonZeroUsize::new(threads).unwrap();
            let using = FileUsing::new(context, RowBy::Path, threads).unwrap();
            let used = scan(log, Some(&query), threads, &using).unwrap().rows;
            let all: Vec<usize> = (0..used.len()).collect();
            let slicing = FileSlicing::new(&using, &all, TimeSlices::new(log, Timestamp(0), 2_000, slices));
            (scan(log, Some(&query), threads, &slicing).unwrap(), used)
        };
        let (whole, used) = sliced(&random_log(&rows, 1000), 1);
        prop_assert_eq!(&whole, &sliced(&random_log(&rows, pieces), threads).0);
        let sum = |values: &[u64]| values.iter().sum::<u64>();
        for (slices, UsedFile { used, .. }) in whole.iter().zip(&used) {
            prop_assert_eq!(sum(&slices.calls), used.calls);
            prop_assert_eq!(sum(&slices.io_ns), used.io_ns.unwrap_or(0));
            prop_assert_eq!((sum(&slices.bytes_read), sum(&slices.bytes_written)), (used.bytes_read, used.bytes_written));
        }
    }
}
