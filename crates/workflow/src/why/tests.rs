//! Worked examples, and the law that pieces add up on random logs.

use super::account::{Account, Call, Cost, Images, Kind, Threads};
use super::path::walk;
use super::result::{
    ClassRow, Limitation, LimitationKind, NeverReturned, Owner, Piece, PieceKind, Run, WHY_FORMAT, WaitCause,
    WaitRow, WaitTime,
};
use super::why;
use crate::waits::absent::{Absent, Looks, Made};
use crate::waits::ends::Channels;
use crate::waits::locks::{LockCall, LockCalls, LockStep};
use crate::waits::ranks::{RankCall, Ranks};
use crate::waits::{Act, ProcessFacts, Row, Waits};
use iotrail_model::calls::mpi::Role;
use iotrail_model::case::CaseName;
use iotrail_model::recording_coverage::{RecordingCoverage, TracerCost};
use iotrail_model::{
    CallId, Case, CaseId, Coverage, Event, FileFacts, FileKind, Layer, Nanos, Nullable, OpenId, PathId, Pid,
    Process, Tid, Timestamp, Usage,
};
use iotrail_query::{ProcessId, ProcessTable};
use iotrail_trail::memory::MemoryLog;
use proptest::prelude::*;
use std::num::NonZeroUsize;

const MS: i64 = 1_000_000;

struct Builder(MemoryLog, u64);

impl Builder {
    fn new() -> Self {
        Self(MemoryLog::new(vec![Case::default()]), 0)
    }

    fn process(&mut self, pid: u32, ppid: u32, exe: &str, (start, end): (i64, i64)) -> &mut Self {
        self.0.push_process(Process {
            pid: Pid(pid),
            ppid: Some(Pid(ppid)),
            exe: Some(format!("/usr/bin/{exe}")),
            start: Some(Timestamp(start * MS)),
            end: Some(Timestamp(end * MS)),
            exit_code: Some(0),
            usage: Usage { user: Some(Nanos(1_000 * MS)), system: Some(Nanos(0)), ..Usage::default() },
            ..Process::default()
        });
        self
    }

    /// A process that a signal ended, with the end in ns.
    fn killed(&mut self, pid: u32, exe: &str, end: i64) -> &mut Self {
        self.0.push_process(Process {
            pid: Pid(pid),
            ppid: Some(Pid(1)),
            exe: Some(format!("/usr/bin/{exe}")),
            start: Some(Timestamp(0)),
            end: Some(Timestamp(end)),
            signal: Some("SIGKILL".to_owned()),
            ..Process::default()
        });
        self
    }

    /// A call in ms; without an end if `end` is before `start`.
    fn call(&mut self, tid: u32, call: &str, path: &str, times: (i64, i64), ret: i64) -> &mut Self {
        self.call_on(Nullable::NULL, (tid, call), path, times, ret)
    }

    /// The same on an open file description.
    fn call_on(
        &mut self,
        open: Nullable<OpenId>,
        (tid, call): (u32, &str),
        path: &str,
        (start, end): (i64, i64),
        ret: i64,
    ) -> &mut Self {
        self.1 += 1;
        let kind = match path {
            _ if path.starts_with("pipe:") => Some(FileKind::Pipe),
            "" => None,
            _ => Some(FileKind::File),
        };
        if let Some(kind) = kind {
            self.0.push_file(path.as_bytes(), &FileFacts { kind: Some(kind), ..FileFacts::default() });
        }
        let event = Event {
            seq: self.1,
            pid: Pid(tid / 10 * 10),
            tid: Tid(tid),
            call: self.0.call(call),
            start: Timestamp(start * MS),
            dur: (end >= start).then_some(Nanos((end - start) * MS)).into(),
            path: if path.is_empty() { Nullable::NULL } else { self.0.path(path) },
            size: Nullable::some(ret),
            ret: Nullable::some(ret),
            open,
            ..Event::default()
        };
        self.0.push(event);
        self
    }

    fn run(self) -> Run {
        let why = why(&self.0.build(), NonZeroUsize::MIN).unwrap();
        let [run] = <[Run; 1]>::try_from(why.runs).unwrap();
        assert_eq!(run.pieces.iter().map(|piece| piece.time_ns).sum::<i64>(), run.elapsed_ns);
        run
    }
}

/// (ms, kind, program, path) of each piece.
fn pieces(run: &Run) -> Vec<(i64, PieceKind, &str, &str)> {
    let piece = |piece: &Piece| (piece.time_ns / MS, piece.kind);
    run.pieces
        .iter()
        .map(|it| (piece(it).0, it.kind, it.program.as_str(), it.path.as_deref().unwrap_or_default()))
        .collect()
}

#[test]
fn a_program_that_syncs_is_told_by_its_syncs_and_what_lies_between() {
    let mut log = Builder::new();
    log.process(10, 1, "db", (0, 100));
    log.call(10, "write", "/x.db", (10, 20), 5).call(10, "fdatasync", "/x.db", (20, 80), 0);
    log.call(10, "exit_group", "", (95, 0), 0);
    assert_eq!(
        pieces(&log.run()),
        [
            (60, PieceKind::Sync, "db", "/x.db"),
            (15, PieceKind::Computing, "db", ""),
            (10, PieceKind::Data, "db", "/x.db"),
            (10, PieceKind::Start, "db", ""),
            (5, PieceKind::Process, "db", ""),
        ]
    );
}

fn rank(rank: u32) -> Case {
    let name = CaseName { cid: Some("app".into()), host: None, rid: Some(rank.to_string()) };
    Case { id: CaseId(rank), name, ..Case::default() }
}

#[test]
fn ranks_wait_for_the_last_one_and_what_mpi_does_to_begin_is_its_own() {
    let mut log = Builder(MemoryLog::new(vec![rank(0), rank(1)]), 0);
    for (rank, end) in [(0, 100), (1, 98)] {
        log.0.push_process(Process {
            case: CaseId(rank),
            pid: Pid(rank * 10 + 10),
            exe: Some("/usr/bin/app".to_owned()),
            start: Some(Timestamp(0)),
            end: Some(Timestamp(end * MS)),
            exit_code: Some(0),
            usage: Usage { user: Some(Nanos(1_000 * MS)), system: Some(Nanos(0)), ..Usage::default() },
            ..Process::default()
        });
    }
    let calls = [
        (10, "getpid", (0, 0)),
        (10, "MPI_Init", (0, 20)),
        (10, "nanosleep", (5, 15)),
        (10, "MPI_Barrier", (30, 82)),
        (20, "getpid", (0, 0)),
        (20, "MPI_Init", (0, 20)),
        (20, "nanosleep", (5, 15)),
        (20, "nanosleep", (25, 80)),
        (20, "MPI_Barrier", (80, 83)),
    ];
    for (tid, call, span) in calls {
        log.call(tid, call, "", span, 0);
    }
    log.call(10, "write", "/f", (85, 95), 5);
    let (mpi, barrier) = (log.0.call("MPI_Init"), log.0.call("MPI_Barrier"));
    let is_mpi = |event: &Event| [mpi, barrier].contains(&event.call);
    let log = log.0.map_events(|event| {
        event.case = CaseId(event.pid.0 / 10 - 1);
        event.layer = if is_mpi(event) { Layer::Mpi } else { Layer::Syscall };
        event.comm = (event.call == barrier).then_some(0).into();
    });
    let why = why(&log.build(), NonZeroUsize::MIN).unwrap();
    let [run] = <[Run; 1]>::try_from(why.runs).unwrap();
    assert_eq!(run.elapsed_ns, 100 * MS);
    assert_eq!(run.pieces.iter().map(|piece| piece.time_ns).sum::<i64>(), run.elapsed_ns);
    assert_eq!(
        pieces(&run),
        [
            (55, PieceKind::Sleep, "app", ""),
            (20, PieceKind::Mpi, "app", ""),
            (13, PieceKind::Computing, "app", ""),
            (10, PieceKind::Data, "app", "/f"),
            (2, PieceKind::HandOver, "app", "collective call"),
        ]
    );
    let mpi = run.waits.iter().find(|row| row.cause == WaitCause::Mpi).unwrap();
    assert_eq!((mpi.waiter.as_str(), mpi.by.as_deref()), ("app", Some("app rank 1")));
    assert_eq!(mpi.in_all, WaitTime { number: 1, time_ns: 50 * MS });
    assert_eq!(mpi.on_path, mpi.in_all);
}

#[test]
fn who_looks_for_a_file_until_it_is_there_waits_for_who_makes_it() {
    let mut log = Builder::new();
    log.process(10, 1, "poller", (0, 100)).process(20, 10, "maker", (2, 90));
    let flag = |log: &mut Builder, (start, end): (i64, i64)| {
        log.call(10, "stat", "/flag", (start, end), -1);
    };
    flag(&mut log, (10, 11));
    log.call(10, "nanosleep", "", (11, 40), 0);
    flag(&mut log, (40, 41));
    log.call(10, "nanosleep", "", (41, 70), 0);
    log.call(10, "stat", "/flag", (70, 71), 0).call(10, "write", "/x", (80, 100), 5);
    log.call(20, "mkdir", "/flag", (60, 61), 0).call(20, "read", "/y", (5, 55), 5);
    let missing = log.0.errno("ENOENT");
    let stat = log.0.call("stat");
    let failed = log.0.map_events(|event| {
        if event.call == stat && event.start.0 < 70 * MS {
            event.errno = missing;
        }
    });
    let run = Builder(failed, 0).run();
    assert_eq!(
        pieces(&run)[..3],
        [
            (50, PieceKind::Data, "maker", "/y"),
            (20, PieceKind::Data, "poller", "/x"),
            (10, PieceKind::HandOver, "poller", "file"),
        ]
    );
    let wait = run.waits.iter().find(|row| row.cause == WaitCause::File).unwrap();
    let named = (wait.waiter.as_str(), wait.by.as_deref(), wait.path.as_deref());
    assert_eq!(named, ("poller", Some("maker"), Some("/flag")));
    assert_eq!((wait.on_path, wait.in_all), (wait.in_all, WaitTime { number: 1, time_ns: 50 * MS }));
    assert!(run.waits.iter().all(|row| row.cause != WaitCause::Sleep));
}

#[test]
fn who_waits_for_a_child_leaves_the_time_to_it() {
    let mut log = Builder::new();
    log.process(10, 1, "sh", (0, 100)).process(20, 10, "sleep", (10, 90));
    log.call(10, "openat", "/x", (0, 1), 3).call(10, "clone", "", (9, 10), 20);
    log.call(10, "wait4", "", (20, 92), 20).call(10, "exit_group", "", (99, 0), 0);
    log.call(20, "nanosleep", "", (12, 85), 0).call(20, "exit_group", "", (90, 0), 0);
    let run = log.run();
    let sleep = pieces(&run)[0];
    assert_eq!(sleep, (73, PieceKind::Sleep, "sleep", ""));
    assert!(pieces(&run).contains(&(2, PieceKind::HandOver, "sh", "end of a child")));
    let wait = &run.waits[0];
    assert_eq!((wait.waiter.as_str(), wait.cause, wait.by.as_deref()), ("sleep", WaitCause::Sleep, None));
    let wait = &run.waits[1];
    assert_eq!(
        (wait.waiter.as_str(), wait.cause, wait.by.as_deref()),
        ("sh", WaitCause::Child, Some("sleep"))
    );
    assert_eq!((wait.on_path.time_ns, wait.in_all.number), (70 * MS, 1));
}

#[test]
fn who_polls_until_a_child_ends_leaves_the_time_to_it() {
    let mut log = Builder::new();
    log.process(10, 1, "python3", (0, 100)).process(20, 10, "sleep", (10, 90));
    log.call(10, "clone", "", (9, 10), 20).call(10, "epoll_wait", "", (20, 92), 1);
    log.call(10, "wait4", "", (93, 94), 20).call(10, "exit_group", "", (99, 0), 0);
    log.call(20, "nanosleep", "", (12, 85), 0).call(20, "exit_group", "", (90, 0), 0);
    let run = log.run();
    assert_eq!(pieces(&run)[0], (73, PieceKind::Sleep, "sleep", ""));
    let waits = run.waits.iter().map(|wait| (wait.waiter.as_str(), wait.cause, wait.by.as_deref()));
    assert!(
        waits.into_iter().any(|wait| wait == ("python3", WaitCause::Child, Some("sleep"))),
        "{:?}",
        run.waits
    );
}

#[test]
fn a_child_that_had_ended_before_was_not_waited_for() {
    let mut log = Builder::new();
    log.process(10, 1, "sh", (0, 100)).process(20, 10, "true", (10, 20));
    log.call(10, "clone", "", (0, 1), 20).call(20, "exit_group", "", (19, 0), 0);
    log.call(10, "wait4", "", (50, 60), 20).call(10, "exit_group", "", (100, 0), 0);
    let run = log.run();
    assert!(pieces(&run).contains(&(10 + 1, PieceKind::Process, "sh", "")), "{:?}", pieces(&run));
    assert_eq!(run.waits, []);
}

#[test]
fn a_reader_of_an_empty_pipe_leaves_the_time_to_the_writer_and_a_reader_that_came_later_does_not() {
    let mut log = Builder::new();
    log.process(10, 1, "sort", (0, 100)).process(20, 1, "gen", (0, 100));
    log.call(10, "read", "pipe:[1]", (0, 62), 5).call(10, "exit_group", "", (100, 0), 0);
    log.call(20, "getpid", "", (0, 0), 20).call(20, "write", "pipe:[1]", (60, 61), 5);
    let waits = log.run().waits;
    assert_eq!((waits[0].cause, waits[0].by.as_deref()), (WaitCause::Pipe, Some("gen")));
    let mut log = Builder::new();
    log.process(10, 1, "sort", (0, 100)).process(20, 1, "gen", (0, 100));
    log.call(20, "write", "pipe:[1]", (1, 2), 5).call(10, "getpid", "", (0, 0), 10);
    log.call(10, "read", "pipe:[1]", (50, 62), 5).call(10, "exit_group", "", (100, 0), 0);
    let run = log.run();
    assert!(pieces(&run).contains(&(12, PieceKind::Waiting, "sort", "pipe")), "{:?}", pieces(&run));
}

#[test]
fn who_closes_the_end_of_a_pipe_that_is_read_from_ends_no_data() {
    let mut log = Builder::new();
    for (pid, exe) in [(10, "cat"), (20, "gen"), (30, "peek")] {
        log.process(pid, 1, exe, (0, 100));
    }
    for (tid, call, open, times, ret) in [
        (10, "read", 1, (2, 62), 0),
        (20, "write", 2, (0, 1), 5),
        (20, "close", 2, (59, 60), 0),
        (30, "read", 1, (0, 1), 5),
        (30, "close", 1, (61, 62), 0),
    ] {
        log.call_on(Nullable::some(OpenId(open)), (tid, call), "pipe:[1]", times, ret);
    }
    log.call(10, "exit_group", "", (100, 0), 0);
    let waits = log.run().waits;
    let wait = (waits[0].waiter.as_str(), waits[0].cause, waits[0].by.as_deref());
    assert_eq!(wait, ("cat", WaitCause::Pipe, Some("gen")), "{waits:?}");
}

#[test]
fn a_killed_process_may_be_noticed_a_little_after_the_wait_that_its_end_ended() {
    let killed = |noticed: i64| {
        let mut log = Builder::new();
        log.process(10, 1, "cat", (0, 100));
        log.killed(20, "gen", 62 * MS + noticed);
        log.call(10, "read", "pipe:[1]", (2, 62), 0).call(10, "exit_group", "", (100, 0), 0);
        log.call(20, "write", "pipe:[1]", (0, 1), 5);
        let waits = log.run().waits;
        waits.first().and_then(|wait| wait.by.clone())
    };
    assert_eq!(killed(500_000).as_deref(), Some("gen"));
    assert_eq!(killed(1_500_000), None, "something else ended the data");
}

#[test]
fn a_sleep_that_a_kill_ends_is_one_in_all_as_on_the_path() {
    let mut log = Builder::new();
    log.killed(10, "sleep", 100 * MS);
    log.call(10, "openat", "/x", (0, 1), 3).call(10, "nanosleep", "", (10, 0), 0);
    log.0 = log.0.map_events(|event| {
        if event.dur.is_null() {
            event.ret = Nullable::NULL;
        }
    });
    let waits = log.run().waits;
    let slept = WaitTime { number: 1, time_ns: 90 * MS };
    assert_eq!((waits[0].cause, waits[0].on_path, waits[0].in_all), (WaitCause::Sleep, slept, slept));
}

#[test]
fn what_the_recorder_added_is_taken_out_of_calls_and_of_what_follows_them() {
    let mut log = Builder::new();
    log.process(10, 1, "cat", (0, 100));
    log.call(10, "openat", "/x", (0, 10), 3).call(10, "read", "/x", (30, 60), 5);
    log.call(10, "close", "/x", (61, 62), 0).call(10, "exit_group", "", (100, 0), 0);
    let memory = std::mem::take(&mut log.0);
    log.0 = memory.coverage(recorded_at(2 * MS));
    assert_eq!(
        pieces(&log.run()),
        [
            // 20 - 2, 1 - 1, 38 - 1
            (54, PieceKind::Computing, "cat", ""),
            (28, PieceKind::Data, "cat", "/x"),
            // 2 + 2, 2 + 1, 1 + 2
            (10, PieceKind::Tracing, "cat", ""),
            (8, PieceKind::Metadata, "cat", "/x"),
        ]
    );
}

#[test]
fn who_joins_a_thread_or_waits_for_a_word_leaves_the_time_to_who_ends_or_wakes() {
    for (flags, waker) in [("FUTEX_WAIT_PRIVATE", "futex"), ("FUTEX_WAIT", "exit")] {
        let mut log = Builder::new();
        log.process(10, 1, "threads", (0, 100));
        log.call(10, "clone", "", (0, 1), 11).call(10, "futex", "", (10, 92), 0);
        log.call(11, "fsync", "/x", (5, 85), 0).call(11, waker, "", (90, 91), 0);
        log.call(10, "exit_group", "", (100, 0), 0);
        let flags = [log.0.flags(flags), log.0.flags("FUTEX_WAKE_PRIVATE")];
        let futex = log.0.call("futex");
        let log = Builder(
            log.0.map_events(|event| {
                if event.call == futex {
                    event.flags = flags[usize::from(event.tid == Tid(11))];
                    event.offset = Nullable::some(0x7000);
                }
            }),
            0,
        );
        let run = log.run();
        assert_eq!(pieces(&run)[0], (80, PieceKind::Sync, "threads", "/x"), "{:?}", pieces(&run));
        assert_eq!(run.waits[0].cause, WaitCause::Futex);
    }
}

#[test]
fn children_that_executed_nothing_run_the_program_of_their_maker() {
    let mut builder = Builder::new();
    let unknown = |pid, ppid, (start, end): (i64, i64)| Process {
        pid: Pid(pid),
        ppid: Some(Pid(ppid)),
        start: Some(Timestamp(start * MS)),
        end: Some(Timestamp(end * MS)),
        exit_code: Some(0),
        ..Process::default()
    };
    builder.0.push_process(unknown(10, 1, (0, 100)));
    for (number, pid) in [20, 30, 40].into_iter().enumerate() {
        let start = 10 + 20 * number as i64;
        builder.0.push_process(unknown(pid, if pid == 40 { 30 } else { 10 }, (start, start + 35)));
        builder.call(pid, "read", "/data/x", (start + 1, start + 2), 1);
    }
    builder.call(10, "write", "/data/log", (1, 2), 1);
    let run = builder.run();
    assert!(run.pieces.iter().all(|piece| piece.program == "the program of process 10"), "{:?}", run.pieces);
}

#[test]
fn programs_that_were_traced_one_after_the_other_are_one_path() {
    let mut log = Builder::new();
    log.process(10, 1, "first", (0, 40)).process(20, 1, "second", (50, 100));
    log.call(10, "fsync", "/x", (0, 30), 0).call(10, "exit_group", "", (40, 0), 0);
    log.call(20, "fsync", "/y", (60, 90), 0).call(20, "exit_group", "", (100, 0), 0);
    let run = log.run();
    let start = pieces(&run).into_iter().find(|(_, kind, ..)| *kind == PieceKind::Start);
    assert_eq!(start, Some((20, PieceKind::Start, "second", "")));
    assert!(pieces(&run).contains(&(30, PieceKind::Sync, "first", "/x")));
}

#[test]
fn runs_whose_processes_are_not_related_are_explained_apart_the_slowest_first() {
    let case = |id: u32| Case { id: CaseId(id), ..Case::default() };
    let mut log = MemoryLog::new(vec![case(0), case(1)]);
    for (id, end) in [(0, 10), (1, 30)] {
        let time = |at: i64| Some(Timestamp(at * MS));
        let (case, pid) = (CaseId(id), Pid(5));
        log.push_process(Process {
            case,
            pid,
            start: time(0),
            end: time(end),
            exit_code: Some(0),
            ..Process::default()
        });
        let call = log.call("fsync");
        let dur = Nullable::some(Nanos(end * MS));
        log.push(Event { case, pid, tid: Tid(5), call, start: Timestamp(0), dur, ..Event::default() });
    }
    let runs = why(&log.build(), NonZeroUsize::MIN).unwrap().runs;
    assert_eq!(runs.iter().map(|run| run.elapsed_ns / MS).collect::<Vec<_>>(), [30, 10]);
}

#[test]
fn a_log_without_calls_has_no_runs() {
    assert_eq!(why(&MemoryLog::new(vec![Case::default()]).build(), NonZeroUsize::MIN).unwrap().runs, []);
}

/// Names of calls, and whether they are on a channel.
const CALLS: [&str; 14] = [
    "read",
    "write",
    "openat",
    "close",
    "fdatasync",
    "wait4",
    "clone",
    "execve",
    "exit_group",
    "exit",
    "poll",
    "futex",
    "nanosleep",
    "flock",
];
const PATHS: [&str; 5] = ["", "/data/x", "pipe:[1]", "pipe:[2]", "socket:[3]"];

#[derive(Clone, Debug)]
struct Step {
    tid: u32,
    call: usize,
    path: usize,
    start: i64,
    dur: i64,
    ret: i64,
}

fn step() -> impl Strategy<Value = Step> {
    let ret = prop_oneof![Just(-1), Just(0), (1..4_i64).prop_map(|process| process * 10), Just(11)];
    (10..34_u32, 0..CALLS.len(), 0..PATHS.len(), 0..60_i64, -1..20_i64, ret)
        .prop_map(|(tid, call, path, start, dur, ret)| Step { tid, call, path, start, dur, ret })
}

/// What a recorder added, in ns.
fn recorded_at(cost: i64) -> Coverage {
    let cost = TracerCost {
        calibrated: 1,
        calibrated_calls: 1,
        added: Nanos(cost * 2),
        inside: Nanos(cost),
        ..TracerCost::default()
    };
    let recording = RecordingCoverage { cost, ..RecordingCoverage::default() };
    Coverage { recording: Some(recording), ..Coverage::default() }
}

fn processes(ends: &[Option<i64>]) -> Vec<Process> {
    let process = |(at, end): (usize, &Option<i64>)| Process {
        pid: Pid(at as u32 * 10 + 10),
        ppid: Some(Pid(at as u32 * 10)),
        start: Some(Timestamp(at as i64)),
        end: end.map(Timestamp),
        exit_code: Some(0),
        usage: Usage { user: end.map(Nanos), system: Some(Nanos(3)), ..Usage::default() },
        ..Process::default()
    };
    ends.iter().enumerate().map(process).collect()
}

/// The time of the pieces of a log whose second reading brings these calls, and the elapsed time.
fn accounted(
    rows: &[Row],
    (mpi, absent, locks): (&[RankCall], Absent, LockCalls),
    ends: &[Option<i64>],
    cost: Cost,
) -> Option<(i64, i64)> {
    let processes = ProcessTable::new(processes(ends));
    let facts = processes.all().iter().map(|process| ProcessFacts {
        left: None,
        parent: process.parent,
        pid: process.pid.0,
        start: process.start.map(|start| start.0),
        end: process.end.map(|end| end.0),
        killed_by: None,
    });
    let images = Images::new(&processes);
    let ranks = Ranks::of(&[0, 1, 2].map(rank));
    let waits = Waits::new(
        rows.to_vec(),
        facts.collect(),
        Channels::default(),
        rows.iter().any(|row| row.start < row.end),
        true,
    )
    .with_mpi(mpi.to_vec(), &ranks);
    let waits = waits.with_absent(absent).with_locks(locks);
    let threads = Threads { waits: &waits, images: &images, runs: &[0] };
    let path = walk(&waits, &processes, &|_| true)?;
    let mut account = Account::new(cost, &path.legs, &threads);
    let own = mpi.iter().filter(|call| call.role == Role::Begins);
    let own =
        own.filter_map(|call| Some(((call.process, call.tid), call.start, call.end?, Kind::Mpi, call.call)));
    let calls = rows.iter().map(|row| ((row.process, row.tid), row.start, row.end, Kind::Data, CallId(0)));
    let mut calls: Vec<_> = own.chain(calls).collect();
    calls.sort_by_key(|(_, start, ..)| *start);
    for (thread, start, end, kind, call) in calls {
        let Some(line) = waits.lines().find(|line| (waits.process(*line), waits.tid(*line)) == thread) else {
            continue;
        };
        account.call(&Call { line, start, end, kind, call, path: Nullable::NULL }, &threads);
    }
    let amounts = account.finish(&threads);
    Some((amounts.time(), path.span.1 - path.span.0))
}

#[test]
fn processes_that_end_the_waits_of_each_other_at_one_moment_lead_in_no_circle() {
    let row = Row { process: ProcessId(2), tid: Tid(30), start: 1, end: 1, act: Act::Exit };
    let cost = Cost { call: 0, inside: 0 };
    let ends = [Some(61), None, None];
    assert_eq!(
        accounted(&[row], (&[], Absent::default(), LockCalls::default()), &ends, cost),
        Some((61, 61))
    );
}

fn act() -> impl Strategy<Value = Act> {
    let channel = || (0..3_u32).prop_map(PathId);
    prop_oneof![
        prop::option::of((1..5_u32).prop_map(|process| process * 10)).prop_map(Act::Child),
        (channel(), any::<bool>()).prop_map(|(channel, ended)| Act::Read { channel, ended }),
        channel().prop_map(Act::Write),
        channel().prop_map(Act::Close),
        channel().prop_map(Act::Lock),
        Just(Act::Ready),
        Just(Act::Interrupted),
        (0..2_i64, any::<bool>()).prop_map(|(word, private)| Act::FutexWait(word, private)),
        (0..2_i64).prop_map(Act::FutexWake),
        Just(Act::Slept),
        (1..5_u32).prop_map(|process| Act::Spawn(process * 10 + 1)),
        (1..5_u32).prop_map(|process| Act::Vfork(process * 10)),
        Just(Act::Exec),
        Just(Act::Exit),
        Just(Act::ExitThread),
        Just(Act::Other),
    ]
}

fn row() -> impl Strategy<Value = Row> {
    (0..3_u32, 0..2_u32, 0..60_i64, 0..20_i64, act()).prop_map(|(process, thread, start, time, act)| Row {
        process: ProcessId(process),
        tid: Tid(process * 10 + 10 + thread),
        start,
        end: start + time,
        act,
    })
}

/// A call of MPI by the first thread of a process, which is a rank.
fn mpi_call() -> impl Strategy<Value = RankCall> {
    let role = prop::sample::select(vec![Role::Begins, Role::Synchronises, Role::FromRoot, Role::ToRoot]);
    (0..3_u32, 0..60_i64, prop::option::of(0..20_i64), role).prop_map(|(process, start, time, role)| {
        RankCall {
            case: CaseId(process),
            process: ProcessId(process),
            tid: Tid(process * 10 + 10),
            start,
            end: time.map(|time| start + time),
            call: CallId(1),
            role,
            root: Some(0),
            file: None,
            moves_data: false,
            of_some: false,
        }
    })
}

/// Names that threads look for in vain and make.
fn absent() -> impl Strategy<Value = Absent> {
    let thread = |process: u32| (ProcessId(process), Tid(process * 10 + 10));
    let look = (0..3_u32, 0..2_u32, 0..40_i64, 0..10_i64).prop_map(move |(process, path, first, length)| {
        let (process, tid) = thread(process);
        ((process, tid, PathId(path)), Looks { first, last: first + length, number: 2 })
    });
    let made = (0..3_u32, 0..2_u32, 0..60_i64).prop_map(move |(process, path, start)| {
        let (process, tid) = thread(process);
        Made { path: PathId(path), start, end: start, process, tid }
    });
    let all = (prop::collection::vec(look, 0..4), prop::collection::vec(made, 0..4));
    all.prop_map(|(looks, made)| Absent { looks: looks.into_iter().collect(), made })
}

/// What threads do with locks of files.
fn locks() -> impl Strategy<Value = LockCalls> {
    let steps =
        [LockStep::TakesForProcess, LockStep::TakesForDescription, LockStep::Unlocks, LockStep::Closes];
    let description = || (0..3_u32).prop_map(|open| (CaseId(0), OpenId(open)));
    let call = (
        0..3_u32,
        0..60_i64,
        0..3_u32,
        prop::option::of(description()),
        prop::sample::select(steps.to_vec()),
        any::<bool>(),
    );
    let call = call.prop_map(|(process, start, path, description, step, shared)| LockCall {
        process: ProcessId(process),
        tid: Tid(process * 10 + 10),
        start,
        path: PathId(path),
        description,
        step,
        shared,
    });
    let users = (description(), (0..3_u32).prop_map(ProcessId));
    let all = (prop::collection::vec(call, 0..8), prop::collection::vec(users, 0..4));
    all.prop_map(|(calls, users)| LockCalls { calls, users: users.into_iter().collect() })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pieces_add_up_to_the_elapsed_time_whatever_threads_do(
        rows in prop::collection::vec(row(), 1..30),
        mpi in prop::collection::vec(mpi_call(), 0..8),
        absent in absent(),
        locks in locks(),
        ends in prop::collection::vec(prop::option::of(0..80_i64), 3),
        (call, inside) in (0..5_i64, 0..5_i64),
    ) {
        let cost = Cost { call: call.max(inside), inside };
        let (sum, elapsed) = accounted(&rows, (&mpi, absent, locks), &ends, cost).expect("a path");
        prop_assert_eq!(sum, elapsed);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pieces_add_up_to_the_elapsed_time_whatever_the_log_says(
        steps in prop::collection::vec(step(), 1..14),
        ends in prop::collection::vec(prop::option::of(0..80_i64), 3),
        rows in 1..6_usize,
        (cost, unit) in (0..3_i64, prop_oneof![Just(1), Just(MS)]),
    ) {
        let mut log = Builder::new();
        let ends: Vec<_> = ends.into_iter().map(|end| end.map(|end| end * unit)).collect();
        processes(&ends).into_iter().for_each(|process| log.0.push_process(process));
        for Step { tid, call, path, start, dur, ret } in &steps {
            let tid = tid / 10 * 10 + tid % 2;
            log.call(tid, CALLS[*call], PATHS[*path], (*start, start + dur), *ret);
        }
        // In ns times collide, and in ms they are those of the builder.
        let memory = log.0.map_events(|event| {
            event.start.0 = event.start.0 / MS * unit;
            event.dur = event.dur.get().map(|dur| Nanos(dur.0 / MS * unit)).into();
        });
        let memory = memory.coverage(recorded_at(cost * unit));
        let why = why(&memory.row_group_rows(rows).build(), NonZeroUsize::MIN).unwrap();
        for run in &why.runs {
            prop_assert_eq!(run.pieces.iter().map(|piece| piece.time_ns).sum::<i64>(), run.elapsed_ns);
            prop_assert!(run.pieces.iter().all(|piece| piece.time_ns > 0));
        }
        prop_assert!(!why.runs.is_empty());
    }
}

#[test]
fn what_never_returned_is_the_outermost_call_of_each_thread_that_was_stopped() {
    for rows in [1, 1_000] {
        let mut log = Builder::new();
        log.killed(10, "app", 100 * MS).killed(20, "left", 100 * MS).process(30, 1, "exits", (0, 90));
        log.call(10, "MPI_Recv", "", (20, 0), 0);
        log.call(10, "poll", "", (21, 30), 0).call(10, "poll", "", (30, 0), 0);
        log.call(11, "read", "pipe:[1]", (40, 0), 0);
        log.call(20, "MPI_Send", "", (20, 0), 0).call(20, "write", "/f", (30, 31), 1);
        log.call(21, "exit", "", (50, 0), 0);
        log.killed(40, "sort", 100 * MS).call(40, "openat", "/fifo", (70, 99), -4);
        // Interrupted, too, but much was computed afterwards.
        log.killed(50, "busy", 100 * MS).call(50, "openat", "/fifo", (10, 40), -4);
        log.killed(60, "read", 100 * MS).call(60, "pread64", "/f", (50, 98), 0);
        let (openat, interrupted) = (log.0.call("openat"), log.0.errno("EINTR"));
        log.call(30, "futex", "", (10, 0), 0).call(31, "exit_group", "", (90, 0), 0);
        let (recv, cut) = (log.0.call("MPI_Recv"), log.0.call("pread64"));
        let send = log.0.call("MPI_Send");
        let poll = log.0.call("poll");
        let log = log.0.map_events(|event| {
            event.layer = if [recv, send].contains(&event.call) { Layer::Mpi } else { Layer::Syscall };
            event.errno = if event.call == openat { interrupted } else { Nullable::NULL };
            event.ret = if event.call == cut { Nullable::NULL } else { event.ret };
            event.parent = (event.call == poll).then_some(1).into();
            event.peer = (event.call == recv).then_some(3).into();
            event.tag = (event.call == recv).then_some(7).into();
        });
        let why = why(&log.row_group_rows(rows).build(), NonZeroUsize::MIN).unwrap();
        let told = |row: &NeverReturned| (row.call.clone(), row.layer, row.time_ns, row.peer, row.tag);
        assert_eq!(
            why.never_returned.iter().map(told).collect::<Vec<_>>(),
            [
                ("MPI_Recv".to_owned(), Layer::Mpi, Some(80 * MS), Some(3), Some(7)),
                ("read".to_owned(), Layer::Syscall, Some(60 * MS), None, None),
                ("pread64".to_owned(), Layer::Syscall, Some(50 * MS), None, None),
                ("openat".to_owned(), Layer::Syscall, Some(30 * MS), None, None),
            ]
        );
    }
}

fn agrees(value: &impl serde::Serialize, schema: &serde_json::Value) {
    let written = serde_json::to_value(value).unwrap();
    let keys: Vec<&String> = written.as_object().unwrap().keys().collect();
    let described: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(keys, described);
    assert_eq!(schema["required"].as_array().unwrap().len(), keys.len());
}

#[test]
fn the_schema_describes_every_field_and_every_word_that_is_written() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/why.schema.json");
    let schema: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(schema["properties"]["format"]["const"], WHY_FORMAT);
    let of = |name: &str| &schema["$defs"][name];
    agrees(&Run::default(), of("run"));
    agrees(&Piece::default(), of("piece"));
    agrees(&Owner::default(), of("owner"));
    agrees(&NeverReturned::default(), of("never-returned"));
    agrees(&WaitRow::default(), of("wait"));
    agrees(&WaitTime::default(), of("waits"));
    agrees(&ClassRow::default(), of("class"));
    let limitations = Limitation::new(LimitationKind::Lost);
    agrees(&limitations, of("limitation"));
    let words = |list: &serde_json::Value| list.as_array().unwrap().len();
    assert_eq!(words(&of("piece")["properties"]["kind"]["enum"]), PieceKind::Tracing as usize + 1);
    assert_eq!(words(&of("wait")["properties"]["cause"]["enum"]), WaitCause::Unknown as usize + 1);
    assert_eq!(
        words(&of("limitation")["properties"]["what"]["enum"]),
        LimitationKind::CpuUnknown as usize + 1
    );
}
