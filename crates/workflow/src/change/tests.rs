//! Runs of which it is known what changed between them.

use super::{Figure, Measured};
use crate::why::result::PieceKind;
use iotrail_model::{
    Case, CaseId, CaseName, Event, FileFacts, FileKind, Nanos, Nullable, Pid, Process, Tid, Timestamp,
};
use iotrail_query::{GroupId, Query, QuerySpec};
use iotrail_trail::EventLog;
use iotrail_trail::memory::MemoryLog;
use std::num::NonZeroUsize;

const MS: i64 = 1_000_000;

struct Runs(MemoryLog, u64);

impl Runs {
    /// A case for each of these commands.
    fn new(cids: &[&str]) -> Self {
        let case = |(id, cid): (u32, &&str)| Case {
            id: CaseId(id),
            name: CaseName { cid: Some((*cid).to_owned()), ..CaseName::default() },
            label: Some(cid[..1].to_owned()),
            ..Case::default()
        };
        Self(MemoryLog::new((0..).zip(cids).map(case).collect()), 0)
    }

    fn process(&mut self, case: u32, pid: u32, ppid: u32, exe: &str, (start, end): (i64, i64)) -> &mut Self {
        self.0.push_process(Process {
            case: CaseId(case),
            pid: Pid(pid),
            ppid: Some(Pid(ppid)),
            exe: Some(format!("/usr/bin/{exe}")),
            start: Some(Timestamp(start * MS)),
            end: Some(Timestamp(end * MS)),
            exit_code: Some(0),
            cwd: Some(format!("/run{case}")),
            ..Process::default()
        });
        self
    }

    fn call(
        &mut self,
        case: u32,
        pid: u32,
        call: &str,
        path: &str,
        (start, end): (i64, i64),
        ret: i64,
    ) -> &mut Self {
        self.1 += 1;
        if !path.is_empty() {
            let facts = FileFacts { kind: Some(FileKind::File), ..FileFacts::default() };
            self.0.push_file(path.as_bytes(), &facts);
        }
        let event = Event {
            case: CaseId(case),
            seq: self.1,
            pid: Pid(pid),
            tid: Tid(pid),
            call: self.0.call(call),
            start: Timestamp(start * MS),
            dur: Nullable::some(Nanos((end - start) * MS)),
            path: if path.is_empty() { Nullable::NULL } else { self.0.path(path) },
            size: Nullable::some(ret),
            ret: Nullable::some(ret),
            ..Event::default()
        };
        self.0.push(event);
        self
    }

    /// A program that writes and syncs a file of its working directory.
    fn writer(&mut self, case: u32, sync: i64) -> &mut Self {
        let file = format!("/run{case}/x.db");
        self.process(case, 10, 1, "db", (0, 40 + sync));
        self.call(case, 10, "write", &file, (10, 20), 500);
        self.call(case, 10, "fdatasync", &file, (20, 20 + sync), 0)
    }

    fn build(self) -> (EventLog, Query) {
        let log = self.0.build();
        let spec = QuerySpec { group_by: Some("label".to_owned()), ..QuerySpec::default() };
        let query = Query::new(spec, &log).unwrap();
        (log, query)
    }
}

fn measured(runs: Runs) -> Measured {
    let (log, query) = runs.build();
    Measured::new(&log, &query, NonZeroUsize::MIN).unwrap()
}

fn figures(measured: &Measured, figure: Figure) -> (Option<f64>, Option<f64>) {
    let (verdict, _) = measured.compare(GroupId(0), GroupId(1));
    let change = verdict.of(figure).unwrap();
    (change.a, change.b)
}

#[test]
fn a_sync_twice_as_slow_is_the_first_cause() {
    let mut runs = Runs::new(&["a", "b"]);
    runs.writer(0, 50).writer(1, 100);
    let measured = measured(runs);
    let (verdict, elapsed) = measured.compare(GroupId(0), GroupId(1));
    let elapsed = elapsed.unwrap();
    assert_eq!((elapsed.a_ns, elapsed.b_ns, elapsed.difference_ns), (90 * MS, 140 * MS, 50 * MS));
    let [cause] = &elapsed.causes[..] else { panic!("{:?}", elapsed.causes) };
    assert_eq!(
        (cause.kind, cause.path.as_deref(), cause.difference_ns),
        (PieceKind::Sync, Some("./x.db"), 50 * MS)
    );
    assert!(verdict.does_the_same(), "the same calls, only slower");
    assert_eq!(figures(&measured, Figure::Elapsed), (Some(90e6), Some(140e6)));
    assert_eq!(figures(&measured, Figure::Io), (Some(60e6), Some(110e6)));
    assert_eq!(figures(&measured, Figure::Written), (Some(500.0), Some(500.0)));
}

#[test]
fn one_process_more_is_told_by_the_verdict_and_by_its_time() {
    let mut runs = Runs::new(&["a", "b"]);
    runs.writer(0, 50).writer(1, 50);
    runs.process(1, 20, 10, "sleep", (71, 88)).call(1, 20, "nanosleep", "", (72, 87), 0);
    runs.call(1, 10, "clone", "", (70, 71), 20).call(1, 10, "wait4", "", (71, 89), 20);
    let measured = measured(runs);
    let (verdict, elapsed) = measured.compare(GroupId(0), GroupId(1));
    assert_eq!(figures(&measured, Figure::Processes), (Some(1.0), Some(2.0)));
    assert_eq!(figures(&measured, Figure::Calls), (Some(2.0), Some(5.0)));
    assert!(!verdict.does_the_same());
    let elapsed = elapsed.unwrap();
    assert_eq!(elapsed.difference_ns, 0, "both take 90 ms");
    assert_eq!(elapsed.causes.iter().map(|cause| cause.difference_ns).sum::<i64>(), 0);
    assert!(
        elapsed
            .causes
            .iter()
            .any(|cause| (cause.kind, cause.program.as_str()) == (PieceKind::Sleep, "sleep"))
    );
}

#[test]
fn figures_are_means_of_runs_and_of_ranks_the_slowest_counts() {
    let mut runs = Runs::new(&["a1", "a2", "b1"]);
    runs.writer(0, 50).writer(1, 70).writer(2, 60);
    let measured = measured(runs);
    let (verdict, elapsed) = measured.compare(GroupId(0), GroupId(1));
    assert_eq!((verdict.runs_a, verdict.runs_b), (2, 1));
    let change = verdict.of(Figure::Elapsed).unwrap();
    assert_eq!((change.a, change.b, change.range_a), (Some(100e6), Some(100e6), Some((90e6, 110e6))));
    assert_eq!(figures(&measured, Figure::Calls), (Some(2.0), Some(2.0)));
    assert!(!elapsed.unwrap().slowest_rank);
}

#[test]
fn nothing_is_known_of_no_runs() {
    let measured = measured(Runs::new(&["a"]));
    let (verdict, elapsed) = measured.compare(GroupId(0), GroupId(7));
    assert_eq!((verdict.runs_a, verdict.runs_b, elapsed), (1, 0, None));
    assert!(verdict.figures.iter().all(|change| change.difference.is_none()));
}
