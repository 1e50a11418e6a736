//! The I/O summary, access patterns and throughput of small logs, against what was worked out by hand.

#![allow(clippy::unwrap_used, reason = "the lint spares test functions, but not their helpers")]

use iotrail_model::{
    Case, CaseId, CaseName, Clock, Event, FileFacts, FileKind, Layer, Nanos, Nullable, OpenId, Pid, Process,
    Timestamp, Usage,
};
use iotrail_query::{ProcessGroupBy, ProcessTable, Query, QuerySpec};
use iotrail_stats::result::{AccessRow, Modes, PhaseRow, Profile};
use iotrail_stats::{ProfileOptions, profile};
use iotrail_trail::EventLog;
use iotrail_trail::memory::MemoryLog;
use proptest::prelude::*;
use std::num::NonZeroUsize;

/// A log that is written call by call, a microsecond apart.
pub(crate) struct Log {
    pub(crate) memory: MemoryLog,
    seq: u64,
}

/// A transfer: call, pid, descriptor, path, offset, bytes moved.
pub(crate) type Moved<'a> = (&'a str, u32, i32, &'a str, Option<i64>, i64);

impl Log {
    pub(crate) fn new() -> Self {
        let case =
            Case { name: CaseName { rid: Some("0".to_owned()), ..CaseName::default() }, ..Case::default() };
        Self::of(vec![case])
    }

    pub(crate) fn of(cases: Vec<Case>) -> Self {
        Self { memory: MemoryLog::new(cases), seq: 0 }
    }

    pub(crate) fn event(&mut self, call: &str, pid: u32, fd: i32, path: &str) -> Event {
        self.seq += 1;
        Event {
            seq: self.seq,
            pid: Pid(pid),
            call: self.memory.call(call),
            start: Timestamp(self.seq as i64 * 1000),
            dur: Nullable::some(Nanos(500)),
            fd: Nullable::some(fd),
            path: self.memory.path(path),
            ..Event::default()
        }
    }

    pub(crate) fn call(&mut self, call: &str, pid: u32, fd: i32, path: &str) {
        let event = self.event(call, pid, fd, path);
        self.memory.push(event);
    }

    pub(crate) fn fail(&mut self, call: &str, pid: u32, path: &str) {
        let errno = self.memory.errno("ENOENT");
        let event = Event { errno, ..self.event(call, pid, -1, path) };
        self.memory.push(event);
    }

    pub(crate) fn transfer(&mut self, (call, pid, fd, path, offset, size): Moved<'_>) -> Event {
        Event {
            offset: offset.into(),
            requested: Nullable::some(4096),
            size: Nullable::some(size),
            ..self.event(call, pid, fd, path)
        }
    }

    pub(crate) fn moved(&mut self, moved: Moved<'_>) {
        let event = self.transfer(moved);
        self.memory.push(event);
    }

    /// The same through a known open file description.
    pub(crate) fn moved_through(&mut self, open: u32, moved: Moved<'_>) {
        let open = Nullable::some(OpenId(open));
        let event = Event { open, ..self.transfer(moved) };
        self.memory.push(event);
    }

    pub(crate) fn copied(&mut self, moved: Moved<'_>, to: &str) {
        let path2 = self.memory.path(to);
        let event = Event { path2, ..self.transfer(moved) };
        self.memory.push(event);
    }

    pub(crate) fn process(&mut self, pid: u32, ppid: u32, exe: &str, read: Option<u64>) {
        self.memory.push_process(Process {
            pid: Pid(pid),
            ppid: Some(Pid(ppid)),
            exe: Some(format!("/usr/bin/{exe}")),
            start: Some(Timestamp(i64::from(pid))),
            end: Some(Timestamp(100_000)),
            exit_code: Some(0),
            usage: Usage { storage_read: read, storage_written: read.map(|_| 0), ..Usage::default() },
            ..Process::default()
        });
    }

    fn kind(&mut self, path: &str, kind: FileKind) {
        self.memory.push_file(
            path.as_bytes(),
            &FileFacts { device: 1, inode: 1, size: None, kind: Some(kind), birth: None },
        );
    }
}

pub(crate) fn profile_of(log: &EventLog, by: &str, spec: QuerySpec, threads: usize) -> Profile {
    let query = Query::new(spec, log).unwrap();
    let processes = ProcessTable::new(log.processes().unwrap());
    let groups = ProcessGroupBy::parse(by).unwrap().divide(log, &processes);
    let threads = NonZeroUsize::new(threads).unwrap();
    let options = ProfileOptions { by: by.to_owned(), threads, ..ProfileOptions::default() };
    profile(log, &query, &processes, &groups, &options).unwrap()
}

fn phase<'a>(profile: &'a Profile, group: &str) -> &'a PhaseRow {
    profile.phases.iter().find(|row| row.group == group).unwrap()
}

fn file<'a>(profile: &'a Profile, name: &str) -> &'a AccessRow {
    profile.files.iter().find(|row| row.name == name).unwrap()
}

fn modes(ro: u64, wo: u64, rw: u64, none: u64) -> Modes {
    Modes { ro, wo, rw, none }
}

/// make (1) starts the jobs 2 and 4, which are `a`; 2 starts 3, which is `b`.
fn workflow() -> EventLog {
    let mut log = Log::new();
    log.process(1, 0, "make", Some(0));
    log.process(2, 1, "a", Some(50));
    log.process(3, 2, "b", None);
    log.process(4, 1, "a", Some(25));
    log.kind("/w", FileKind::Directory);
    log.kind("pipe:[7]", FileKind::Pipe);
    log.call("openat", 2, 3, "/w/in");
    log.moved(("read", 2, 3, "/w/in", Some(0), 100));
    log.moved(("read", 2, 3, "/w/in", Some(100), 100));
    log.moved(("read", 2, 3, "/w/in", Some(200), 0));
    log.moved(("write", 2, 4, "/w/out", Some(0), 50));
    log.moved(("pread64", 3, 3, "/w/in", Some(50), 100));
    log.moved(("write", 3, 1, "pipe:[7]", None, 10));
    log.copied(("copy_file_range", 4, 3, "/w/in", Some(0), 100), "/w/copy");
    log.call("newfstatat", 4, -1, "/w/looked");
    log.call("newfstatat", 4, -1, "/w");
    log.fail("openat", 4, "/w/never");
    log.call("mmap", 4, 3, "/w/in");
    log.memory.build()
}

#[test]
fn files_and_processes_are_counted_by_what_was_moved_between_them() {
    let profile = profile_of(&workflow(), "exe", QuerySpec::default(), 1);
    let groups: Vec<_> = profile.phases.iter().map(|row| (&*row.group, row.jobs, row.calls)).collect();
    assert_eq!(groups, [("make", 1, 0), ("a", 2, 10), ("b", 1, 2)]);
    let a = phase(&profile, "a");
    assert_eq!((a.bytes_read, a.bytes_written, a.other_written, a.mappings), (300, 150, 0, 1));
    assert_eq!(a.files, modes(1, 2, 0, 1), "in is read, out and copy are written, looked is neither");
    assert_eq!(a.processes, modes(0, 0, 2, 0));
    let b = phase(&profile, "b");
    assert_eq!((b.bytes_read, b.bytes_written, b.other_read, b.other_written), (100, 10, 0, 10));
    assert_eq!((b.files, b.processes), (modes(1, 0, 0, 0), modes(1, 0, 0, 0)), "a pipe is no file");
    assert_eq!(phase(&profile, "make").processes, modes(0, 0, 0, 1));
    let total = &profile.total;
    assert_eq!((total.jobs, total.calls, total.bytes_read, total.bytes_written), (4, 12, 400, 160));
    assert_eq!(total.files, modes(1, 2, 0, 1), "groups share files");
    assert_eq!(total.processes, modes(1, 0, 2, 1));
}

#[test]
fn jobs_are_what_the_manager_started_but_all_their_processes_count() {
    let profile = profile_of(&workflow(), "job", QuerySpec::default(), 1);
    let a = phase(&profile, "a");
    assert_eq!((a.jobs, a.processes), (2, modes(1, 0, 2, 0)));
    assert_eq!((a.bytes_read, a.bytes_written), (400, 160));
}

#[test]
fn storage_is_by_process_and_unknown_where_one_does_not_tell() {
    let profile = profile_of(&workflow(), "exe", QuerySpec::default(), 1);
    let a = phase(&profile, "a");
    assert_eq!((a.storage_read, a.storage_unknown, a.page_cache_hit), (Some(75), 0, Some(0.75)));
    let b = phase(&profile, "b");
    assert_eq!((b.storage_read, b.storage_unknown, b.page_cache_hit), (None, 1, None));
    assert_eq!((profile.total.storage_read, profile.total.page_cache_hit), (Some(75), None));
    let mut spec = QuerySpec::default();
    spec.select.path = vec!["/w/in".to_owned()];
    let some = profile_of(&workflow(), "exe", spec, 1);
    assert_eq!(phase(&some, "a").page_cache_hit, None, "the kernel counts whole processes");
    let groups: Vec<_> = some.phases.iter().map(|row| (&*row.group, row.jobs)).collect();
    assert_eq!(groups, [("a", 2), ("b", 1)], "make made no selected call");
}

#[test]
fn lifetimes_and_their_span_are_those_of_the_processes() {
    let profile = profile_of(&workflow(), "exe", QuerySpec::default(), 1);
    let a = phase(&profile, "a");
    assert_eq!((a.lifetime_ns, a.span, a.call_ns), (Some(99_998 + 99_996), Some((2, 100_000)), Some(5_000)));
}

#[test]
fn access_patterns_are_of_each_descriptor_and_interval_exact() {
    let profile = profile_of(&workflow(), "exe", QuerySpec::default(), 1);
    let row = file(&profile, "/w/in");
    assert_eq!((row.reads, row.bytes_read, row.writes), (4, 400, 0));
    assert_eq!((row.consecutive, row.sequential, row.random), (1, 1, 0));
    assert_eq!((row.unique_read, row.reread), (Some(200), Some(200)));
    // Three reads ask for 4,096 bytes; the copy, which asks for all there is, moved 100.
    assert_eq!((row.common_size, row.common_share), (Some(4096), Some(0.75)));
    let copy = file(&profile, "/w/copy");
    assert_eq!((copy.bytes_written, copy.unique_written, copy.overwritten), (100, None, None));
    let names: Vec<_> = profile.files.iter().map(|row| &*row.name).collect();
    assert_eq!(names, ["/w/in", "/w/copy", "/w/out"], "most bytes first, no pipe");
    let of = |pid| profile.processes.iter().find(|row| row.pid == Some(pid)).unwrap();
    assert_eq!((of(3).bytes_written, of(3).unique_written, of(3).overwritten), (10, Some(0), Some(0)));
    assert_eq!((of(2).unique_read, of(2).reread, of(2).unique_written), (Some(200), Some(0), Some(50)));
    assert_eq!((of(4).unique_read, of(4).unique_written), (Some(100), None));
}

#[test]
fn a_file_that_is_opened_again_is_not_read_backwards() {
    let mut log = Log::new();
    log.process(1, 0, "a", None);
    for offset in [0, 10] {
        log.call("openat", 1, 3, "/f");
        log.moved(("read", 1, 3, "/f", Some(offset), 10));
        log.moved(("read", 1, 3, "/f", Some(40), 10));
        log.moved(("write", 1, 3, "/f", Some(20), 5));
        log.moved(("write", 1, 3, "/f", None, 5));
        log.moved(("read", 1, 3, "/f", Some(0), 10));
    }
    let log = log.memory.build();
    let row = file(&profile_of(&log, "exe", QuerySpec::default(), 1), "/f").clone();
    assert_eq!((row.consecutive, row.sequential, row.random), (0, 2, 2));
    assert_eq!((row.unique_read, row.reread, row.unique_written), (Some(30), Some(30), None));
    let mut spec = QuerySpec::default();
    spec.select.call = vec!["read".to_owned()];
    let row = file(&profile_of(&log, "exe", spec, 1), "/f").clone();
    assert_eq!(
        (row.consecutive, row.sequential, row.random),
        (0, 2, 2),
        "opens count though they are not selected"
    );
}

#[test]
fn what_goes_on_through_one_open_file_description_is_sequential_whoever_does_it() {
    let mut log = Log::new();
    log.process(1, 0, "a", None);
    log.process(2, 1, "b", None);
    // A descriptor that was inherited, and a copy of it: one position.
    log.moved_through(5, ("write", 1, 3, "/f", Some(0), 10));
    log.moved_through(5, ("write", 2, 3, "/f", Some(10), 10));
    log.moved_through(5, ("write", 1, 4, "/f", Some(20), 10));
    // The number of a descriptor that was closed, for another opening of the file: a position of its own.
    log.moved_through(6, ("write", 1, 4, "/f", Some(0), 10));
    log.moved_through(5, ("write", 2, 3, "/f", Some(30), 10));
    // A copy into it, somewhere: what comes then is neither.
    let copy = log.transfer(("sendfile", 1, 7, "/g", Some(0), 10));
    let (path2, open2) = (log.memory.path("/f"), Nullable::some(OpenId(5)));
    log.memory.push(Event { path2, open2, ..copy });
    log.moved_through(5, ("write", 2, 3, "/f", Some(50), 10));
    let profile = profile_of(&log.memory.build(), "exe", QuerySpec::default(), 1);
    let row = file(&profile, "/f");
    assert_eq!((row.writes, row.consecutive, row.sequential, row.random), (7, 3, 3, 0));
    let of = |pid| profile.processes.iter().find(|row| row.pid == Some(pid)).unwrap().consecutive;
    assert_eq!((of(1), of(2)), (1, 2), "each process has what it went on with");
}

/// The cases of one `strace -ff`: the rows of each follow those of the one before, whenever the calls were made.
fn of_several_cases(transfers: &[(u32, &str, i64, i64)], row_group_rows: usize) -> EventLog {
    let case = |id: u32| Case {
        id: CaseId(id),
        name: CaseName { rid: Some(id.to_string()), ..CaseName::default() },
        numbered_with: (id > 0).then_some(CaseId(0)),
        ..Case::default()
    };
    let mut log = Log::of(vec![case(0), case(1)]);
    let mut events: Vec<Event> = Vec::new();
    for (case, call, offset, size) in transfers {
        let event = log.transfer((call, *case, 3, "/f", Some(*offset), *size));
        events.push(Event { case: CaseId(*case), open: Nullable::some(OpenId(7)), ..event });
    }
    events.sort_by_key(|event| event.case);
    events.into_iter().for_each(|event| log.memory.push(event));
    log.memory.row_group_rows(row_group_rows).build()
}

#[test]
fn what_several_cases_do_through_one_description_is_seen_in_the_order_of_time() {
    let transfers = [
        (1, "pread64", 0, 100),
        (0, "pread64", 4096, 904),
        (1, "pread64", 4000, 1000),
        (0, "pread64", 5000, 8),
    ];
    for rows in [1, 3, 100] {
        let log = of_several_cases(&transfers, rows);
        for threads in [1, 2] {
            let profile = profile_of(&log, "exe", QuerySpec::default(), threads);
            let row = file(&profile, "/f");
            assert_eq!((row.consecutive, row.sequential, row.random), (1, 2, 1));
        }
    }
}

#[test]
fn of_two_layers_one_counts() {
    let mut log = Log::new();
    log.process(1, 0, "a", None);
    let above = log.transfer(("pwrite64", 1, 3, "/f", Some(0), 10));
    log.memory.push(Event { layer: Layer::Libc, ..above });
    log.moved(("pwrite64", 1, 3, "/f", Some(0), 10));
    let log = log.memory.build();
    let of = |layer: &[&str]| {
        let mut spec = QuerySpec::default();
        spec.select.layer = layer.iter().map(|&layer| layer.to_owned()).collect();
        let profile = profile_of(&log, "exe", spec, 1);
        (profile.total.bytes_written, profile.total.calls, profile.kind_of_calls())
    };
    assert_eq!(of(&[]), (10, 1, "system calls".to_owned()));
    assert_eq!(of(&["libc"]), (10, 1, "C library calls".to_owned()));
    assert_eq!(of(&["all"]), (20, 2, "system calls and C library calls".to_owned()));
}

#[test]
fn throughput_is_by_group_and_by_rank_and_loses_no_byte() {
    let throughput = profile_of(&workflow(), "exe", QuerySpec::default(), 1).throughput;
    let sum = |lines: &[iotrail_stats::result::Series]| {
        let all = |pick: fn(&iotrail_stats::result::Series) -> &Vec<u64>| -> u64 {
            lines.iter().flat_map(pick).sum()
        };
        (all(|line| &line.read), all(|line| &line.written), all(|line| &line.calls))
    };
    assert_eq!(sum(&throughput.groups), (400, 160, 12));
    assert_eq!(sum(&throughput.ranks), (400, 160, 12));
    let names: Vec<_> = throughput.groups.iter().map(|line| &*line.name).collect();
    assert_eq!((names, throughput.ranks.len()), (vec!["a", "b"], 1));
    // All calls start at whole microseconds: nothing tells what happens within one.
    assert_eq!((throughput.bin_ns, throughput.origin_ns), (Some(1000), Some(1000)));
}

#[test]
fn without_time_stamps_there_is_no_throughput_and_no_lifetime() {
    let mut log = Log::new();
    let case = Case { id: CaseId(0), clock: Clock::Order, ..Case::default() };
    log.memory = MemoryLog::new(vec![case]);
    log.process(1, 0, "a", None);
    log.moved(("read", 1, 3, "/f", Some(0), 10));
    let profile = profile_of(&log.memory.build(), "exe", QuerySpec::default(), 1);
    assert_eq!((profile.total.bytes_read, profile.total.lifetime_ns, profile.total.span), (10, None, None));
    assert!(profile.throughput.groups.is_empty() && profile.throughput.ranks.is_empty());
}

/// A row of a random log: call, pid, descriptor, file, offset or NULL, bytes.
pub(crate) type Row = (usize, u32, i32, usize, Option<i64>, i64);

pub(crate) fn rows() -> impl Strategy<Value = Vec<Row>> {
    let offset = prop::option::weighted(0.9, 0..60_i64);
    prop::collection::vec((0..5_usize, 1..4_u32, 3..5_i32, 0..3_usize, offset, 0..20_i64), 0..60)
}

pub(crate) fn random_log(rows: &[Row], row_group_rows: usize) -> EventLog {
    let mut log = Log::new();
    log.memory = log.memory.row_group_rows(row_group_rows);
    for pid in 1..3 {
        log.process(pid, 0, ["", "a", "b"][pid as usize], Some(3));
    }
    for &(call, pid, fd, path, offset, size) in rows {
        let path = ["/f", "/g", "pipe:[1]"][path];
        match call {
            0 => log.call("openat", pid, fd, path),
            1 => log.copied(("sendfile", pid, fd, path, offset, size), "/copy"),
            _ if fd == 4 => {
                log.moved_through(pid / 2, (["write", "read"][call % 2], pid, fd, path, offset, size))
            }
            2 => log.moved(("write", pid, fd, path, offset, size)),
            _ => log.moved(("read", pid, fd, path, offset, size)),
        }
    }
    log.memory.build()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn however_a_log_is_cut_and_by_how_many_threads_it_is_read_the_profile_is_the_same(
        rows in rows(), pieces in 1..9_usize, threads in 1..4_usize,
    ) {
        let whole = profile_of(&random_log(&rows, 1000), "exe", QuerySpec::default(), 1);
        let cut = profile_of(&random_log(&rows, pieces), "exe", QuerySpec::default(), threads);
        prop_assert_eq!(whole, cut);
    }

    #[test]
    fn the_sums_of_all_tables_agree(rows in rows()) {
        let profile = profile_of(&random_log(&rows, 7), "exe", QuerySpec::default(), 2);
        let total = &profile.total;
        let by_group = |pick: fn(&PhaseRow) -> u64| profile.phases.iter().map(pick).sum::<u64>();
        prop_assert_eq!(by_group(|row| row.bytes_read), total.bytes_read);
        prop_assert_eq!(by_group(|row| row.calls), rows.len() as u64);
        let of_files: u64 = profile.files.iter().map(|row| row.bytes_read).sum();
        prop_assert_eq!(of_files, total.bytes_read - total.other_read);
        let written: u64 = profile.throughput.groups.iter().flat_map(|line| &line.written).sum();
        prop_assert_eq!(written, total.bytes_written);
        for row in &profile.files {
            let decided = row.sequential + row.random;
            prop_assert!(row.consecutive <= row.sequential && decided <= row.reads + row.writes);
            prop_assert!(row.unique_read.is_none_or(|unique| unique + row.reread.unwrap() == row.bytes_read));
        }
    }
}
