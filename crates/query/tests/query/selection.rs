use crate::log::{Log, case};
use crate::{activities, words};
use iotrail_model::{CaseId, Layer, Nullable, Timestamp};
use iotrail_query::{Query, QuerySpec, SelectSpec};
use iotrail_trail::EventLog;

/// Rows 1 to 6, a microsecond apart.
fn log() -> EventLog {
    let mut log = Log::new(vec![case(0, "a/n1/0"), case(1, "b/n2/1")]);
    log.with(0, "read", "/s/a.dat", |event, _| event.size = Nullable::some(4096));
    log.with(0, "pread64", "/s/d/b.dat", |event, _| event.size = Nullable::some(10));
    log.with(0, "openat", "/s/no", |event, memory| event.errno = memory.errno("ENOENT"));
    log.event(0, "brk", "");
    log.with(1, "rename", "/x", |event, memory| event.path2 = memory.path("/s/c.dat"));
    log.with(1, "write", "/proc/77/fd/1", |event, _| event.size = Nullable::some(0));
    log.build()
}

/// The numbers of the selected rows.
fn selected(select: SelectSpec) -> Vec<usize> {
    let spec = QuerySpec { select, map: Some("call".into()), ..QuerySpec::default() };
    let rows = activities(spec, &log());
    rows.iter().zip(1..).filter(|(activity, _)| *activity != "unselected").map(|(_, number)| number).collect()
}

#[test]
fn each_condition_selects_its_rows() {
    let none = SelectSpec::default;
    let some = |word: &str| Some(word.to_owned());
    for (select, rows) in [
        (none(), vec![1, 2, 3, 4, 5, 6]),
        (SelectSpec { call: words(&["p*,read", "brk"]), ..none() }, vec![1, 2, 4]),
        (SelectSpec { not_call: words(&["{p*,read}"]), ..none() }, vec![3, 4, 5, 6]),
        (SelectSpec { path: words(&["*.dat"]), ..none() }, vec![1, 2, 5]),
        (SelectSpec { path: words(&["/s/*.dat"]), ..none() }, vec![1, 5]),
        (SelectSpec { not_path: words(&["/s"]), ..none() }, vec![4, 6]),
        (SelectSpec { path: words(&["/proc/\\[pid\\]/**"]), ..none() }, vec![6]),
        (SelectSpec { case: words(&["a/*"]), ..none() }, vec![1, 2, 3, 4]),
        (SelectSpec { case: words(&["rid=1"]), ..none() }, vec![5, 6]),
        (SelectSpec { not_case: words(&["host=n?"]), ..none() }, vec![]),
        (
            SelectSpec { pid: words(&["7,100", "101-200"]), not_pid: words(&["101"]), ..none() },
            vec![1, 2, 3, 4],
        ),
        (SelectSpec { since: some("+1us"), until: some("+3us"), ..none() }, vec![2, 3]),
        (SelectSpec { since: some("50%"), ..none() }, vec![4, 5, 6]),
        (SelectSpec { since: some("1970-01-01T00:00:01.000006Z"), ..none() }, vec![6]),
        (SelectSpec { until: some("00:00:01.000002"), ..none() }, vec![1]),
        (SelectSpec { min_size: some("4KiB"), ..none() }, vec![1]),
        (SelectSpec { max_size: some("10"), ..none() }, vec![2, 6]),
        (SelectSpec { min_size: some("0"), ..none() }, vec![1, 2, 6]),
        (SelectSpec { failed: Some(true), ..none() }, vec![3]),
        (SelectSpec { failed: Some(false), path: words(&["/s"]), ..none() }, vec![1, 2, 5]),
    ] {
        assert_eq!(selected(select.clone()), rows, "{select:?}");
    }
}

#[test]
fn row_groups_without_a_selected_row_can_be_skipped() {
    let select = SelectSpec { case: words(&["b/*"]), until: Some("+2us".into()), ..SelectSpec::default() };
    let query = Query::new(QuerySpec { select, ..QuerySpec::default() }, &log()).unwrap();
    let start = Timestamp(1_000_001_000);
    let all = Timestamp(0)..=Timestamp(i64::MAX);
    assert!(query.may_match(CaseId(0)..=CaseId(1), all.clone()));
    assert!(!query.may_match(CaseId(0)..=CaseId(0), all.clone()));
    assert!(!query.may_match(CaseId(2)..=CaseId(9), all));
    assert!(!query.may_match(CaseId(0)..=CaseId(1), Timestamp(start.0 + 2000)..=Timestamp(i64::MAX)));
    assert!(query.may_match(CaseId(0)..=CaseId(1), Timestamp(start.0 + 1999)..=Timestamp(i64::MAX)));
}

#[test]
fn words_that_match_nothing_are_said() {
    let select = SelectSpec { case: words(&["a"]), call: words(&["raed"]), ..SelectSpec::default() };
    let query = Query::new(QuerySpec { select, ..QuerySpec::default() }, &log()).unwrap();
    assert_eq!(
        query.warnings().iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            "case a: no case matches; cases are named like a/n1/0, a part of the name is meant as cid=…, host=…, rid=…",
            "call raed: the log has no such call"
        ]
    );
}

/// A write of MPI-IO and the system call that it made, twice.
fn two_layers() -> EventLog {
    let mut log = Log::new(vec![case(0, "a/n1/0")]);
    for _ in 0..2 {
        log.with(0, "MPI_File_write", "/s/a", |event, _| event.layer = Layer::Mpiio);
        log.with(0, "pwrite64", "/s/a", |event, _| event.size = Nullable::some(10));
    }
    log.build()
}

#[test]
fn of_several_layers_the_lowest_counts_unless_others_are_named() {
    let log = two_layers();
    assert_eq!(log.layers(), [Layer::Syscall, Layer::Mpiio]);
    let rows = |layer: &[&str]| {
        let select = SelectSpec { layer: words(layer), ..SelectSpec::default() };
        let spec = QuerySpec { select, map: Some("call".into()), ..QuerySpec::default() };
        let query = Query::new(spec.clone(), &log).unwrap();
        let selected =
            activities(spec, &log).iter().map(|activity| *activity != "unselected").collect::<Vec<_>>();
        (
            selected,
            query.selection(),
            query.warnings().iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
        )
    };
    let (selected, words, warning) = rows(&[]);
    assert_eq!(selected, [false, true, false, true]);
    assert_eq!(words, "layer syscall (of syscall, mpiio)");
    assert!(warning.contains("only syscall is counted"), "{warning}");
    assert_eq!(rows(&["mpiio"]).0, [true, false, true, false]);
    assert_eq!(rows(&["mpiio"]).2, "");
    let (selected, words, warning) = rows(&["all"]);
    assert_eq!((selected, &*words), (vec![true; 4], "layer syscall, mpiio (of syscall, mpiio)"));
    assert!(warning.contains("more than once"), "{warning}");
    let (selected, _, warning) = rows(&["libc"]);
    assert_eq!(selected, [false; 4]);
    assert_eq!(warning, "layer libc: the log has calls of syscall, mpiio only");
}
