//! The article's table, row by row, and the examples of runs.

use iotrail_advise::{
    Access, Category, Description, DescriptionId, Edge, EdgeKind, FileAccesses, Kind, ProcessEdges, Reason,
    Rules, Shape, Stop,
};
use iotrail_model::{CallId, CaseId, Pid, Tid};

/// An access of a description at a time: `(description, kind, start, low, high)`.
type Row = (u32, Kind, i64, u64, u64);

fn file(rows: &[Row]) -> FileAccesses {
    let accesses = rows.iter().enumerate().map(|(index, (description, kind, start, low, high))| Access {
        start: *start,
        end: start + 1,
        low: *low,
        high: *high,
        seq: index as u64,
        description: DescriptionId(*description),
        tid: Tid(*description),
        pid: Pid(*description),
        call: CallId(0),
        kind: *kind,
        mergeable: matches!(kind, Kind::Read | Kind::Write) && *high < u64::MAX,
        syncs: false,
        timed: true,
    });
    FileAccesses { accesses: accesses.collect(), ..FileAccesses::default() }
}

fn descriptions() -> Vec<Description> {
    (0..4).map(|pid| Description { case: CaseId(0), pid: Pid(pid), appends: false, syncs: false }).collect()
}

fn pair(rows: &[Row], rules: Rules) -> (Category, Reason) {
    // Somebody has seen before how long the file is.
    let rows: Vec<Row> = [(3, Kind::Read, -100, 0, 100)].into_iter().chain(rows.iter().copied()).collect();
    let pairs = file(&rows).pairs(&descriptions(), rules);
    let found = pairs.iter().find(|pair| pair.first == 1).expect("a pair of the first");
    (found.category, found.reason)
}

#[test]
fn pairs_are_those_of_the_table() {
    use Category::{Easy, Impossible, Possible, Unknown};
    use Kind::{Read, Seek, UnknownRead, UnknownWrite, Write};
    let between = |repeated: Kind, other: Kind, low: u64, high: u64, rules: Rules| {
        pair(&[(1, repeated, 0, 0, 10), (2, other, 10, low, high), (1, repeated, 20, 10, 20)], rules)
    };
    for rules in [Rules::Corrected, Rules::Article] {
        let none = pair(&[(1, Read, 0, 0, 10), (1, Read, 20, 10, 20)], rules);
        assert_eq!(none, (Easy, Reason::NothingBetween));
        // Before the first began or after the second ended is not between.
        let outside =
            [(2, Write, -5, 0, 20), (1, Write, 0, 0, 10), (1, Write, 20, 10, 20), (2, Write, 30, 0, 20)];
        let outside = file(&outside).pairs(&descriptions(), rules);
        assert_eq!(outside.iter().find(|pair| pair.first == 1).map(|pair| pair.category), Some(Easy));
        for (repeated, other) in [(Read, UnknownWrite), (Write, UnknownWrite), (Write, UnknownRead)] {
            assert_eq!(
                between(repeated, other, 0, u64::MAX, rules),
                (Unknown, Reason::UnknownEffect),
                "{repeated:?} {other:?}"
            );
        }
        assert_eq!(between(Read, UnknownRead, 0, u64::MAX, rules).0, Possible);
        assert_eq!(between(Read, Read, 5, 15, rules), (Possible, Reason::NothingInTheWay));
        assert_eq!(between(Read, Seek, 5, 6, rules).0, Possible);
        assert_eq!(between(Read, Write, 20, 30, rules).0, Possible);
        assert_eq!(between(Read, Write, 19, 30, rules), (Impossible, Reason::Write));
        assert_eq!(between(Write, Read, 20, 30, rules).0, Possible);
        assert_eq!(between(Write, Seek, 20, 21, rules).0, Possible);
        assert_eq!(between(Write, Read, 15, 30, rules), (Impossible, Reason::Read));
        assert_eq!(between(Write, Write, 15, 30, rules), (Impossible, Reason::Write));
    }
    // Where the article is stricter than what changes a result.
    assert_eq!(between(Write, Write, 40, 50, Rules::Corrected).0, Possible);
    assert_eq!(between(Write, Write, 40, 50, Rules::Article), (Impossible, Reason::Write));
    assert_eq!(between(Write, Seek, 5, 6, Rules::Corrected).0, Possible);
    assert_eq!(between(Write, Seek, 5, 6, Rules::Article), (Impossible, Reason::Seek));
}

#[test]
fn the_call_that_comes_first_decides() {
    use Kind::{UnknownWrite, Write};
    let rows = |unknown: i64, write: i64| {
        let mut rows = vec![
            (1, Write, 0, 0, 10),
            (2, Write, write, 0, 5),
            (3, UnknownWrite, unknown, 0, u64::MAX),
            (1, Write, 50, 10, 20),
        ];
        rows.sort_by_key(|row| row.2);
        rows
    };
    assert_eq!(pair(&rows(10, 20), Rules::Corrected).0, Category::Unknown);
    assert_eq!(pair(&rows(20, 10), Rules::Corrected).0, Category::Impossible);
}

fn runs(rows: &[Row]) -> Vec<(Vec<u32>, Shape, Stop)> {
    let found = file(rows).runs(&descriptions(), &ProcessEdges::default(), true);
    found.runs.into_iter().map(|run| (run.members, run.shape, run.stop)).collect()
}

/// Both pairs pass, all three do not: the write at 15 is after the first read of what it writes would have been hoisted.
#[test]
fn pairs_do_not_compose() {
    use Kind::{Read, Write};
    let rows = [(1, Read, 0, 0, 10), (2, Write, 15, 20, 30), (1, Read, 20, 10, 20), (1, Read, 40, 20, 30)];
    let rows: Vec<Row> = [(3, Read, -100, 0, 100)].into_iter().chain(rows).collect();
    let pairs = file(&rows).pairs(&descriptions(), Rules::Corrected);
    assert!(pairs.iter().all(|pair| [1, 2].contains(&(pair.category as u8))), "{pairs:?}");
    assert_eq!(runs(&rows), [(vec![1, 3], Shape::Adjacent, Stop::Conflict(2))]);
}

#[test]
fn runs_have_one_shape() {
    use Kind::Read;
    let rows = [
        (1, Read, 0, 0, 10),
        (1, Read, 10, 10, 20),
        (1, Read, 20, 20, 30),
        (1, Read, 30, 100, 104),
        (1, Read, 40, 200, 204),
        (1, Read, 50, 300, 304),
        (1, Read, 60, 7, 9),
    ];
    let strided = Shape::Strided { size: 4, stride: 100 };
    assert_eq!(
        runs(&rows),
        [(vec![0, 1, 2], Shape::Adjacent, Stop::End), (vec![3, 4, 5], strided, Stop::End)]
    );
}

#[test]
fn edges_end_runs_of_writes_and_not_of_reads() {
    let rows =
        |kind| [(1, kind, 0, 0, 10), (1, kind, 10, 10, 20), (1, kind, 30, 20, 30), (1, kind, 40, 30, 40)];
    let with_edge = |kind, ordered| {
        let mut file = file(&rows(kind));
        file.edges = vec![Edge { start: 20, kind: EdgeKind::Sync, pid: Pid(1), call: CallId(0) }];
        let found = file.runs(&descriptions(), &ProcessEdges::default(), ordered);
        found.runs.iter().map(|run| run.members.len()).collect::<Vec<_>>()
    };
    assert_eq!(with_edge(Kind::Write, true), [2, 2]);
    assert_eq!(with_edge(Kind::Write, false), [4]);
    assert_eq!(with_edge(Kind::Read, true), [4]);
}

/// Ranges in random order, of which two and three by chance lie one behind the other.
#[test]
fn what_lies_anyhow_is_one_run_whatever_its_parts_look_like() {
    use Kind::Read;
    let places = [50, 60, 0, 90, 100, 110, 20, 40, 30, 80, 10, 70];
    let rows: Vec<Row> = places
        .iter()
        .enumerate()
        .map(|(index, place)| (1, Read, index as i64 * 10, *place, place + 10))
        .collect();
    assert_eq!(runs(&rows), [((0..12).collect(), Shape::Scattered, Stop::End)]);
    // Four regular ones are a run of their own.
    let places = [50, 0, 90, 20, 40, 30, 80, 10, 200, 210, 220, 230];
    let rows: Vec<Row> = places
        .iter()
        .enumerate()
        .map(|(index, place)| (1, Read, index as i64 * 10, *place, place + 10))
        .collect();
    let shapes: Vec<_> = runs(&rows).into_iter().map(|(members, shape, _)| (members.len(), shape)).collect();
    assert_eq!(shapes, [(8, Shape::Scattered), (4, Shape::Adjacent)]);
}

#[test]
fn writes_that_overlap_are_no_run_that_could_be_sorted() {
    use Kind::Write;
    let at = |places: &[u64]| -> Vec<Row> {
        let row = |(at, place): (usize, &u64)| (1, Write, at as i64 * 10, *place, place + 10);
        places.iter().enumerate().map(row).collect()
    };
    assert_eq!(runs(&at(&[0; 12])), []);
    let descending: Vec<u64> = (0..12).map(|at| 5 * (12 - at)).collect();
    assert_eq!(runs(&at(&descending)), []);
    // Up to the first that is written again.
    let found = runs(&at(&[100, 40, 80, 10, 60, 120, 30, 140, 85]));
    assert_eq!(found, [((0..8).collect(), Shape::Scattered, Stop::Overlap)]);
}

#[test]
fn what_is_on_storage_when_it_returns_is_not_put_off_unless_order_does_not_matter() {
    let rows: Vec<Row> =
        (0..4).map(|at| (1, Kind::Write, at * 10, at as u64 * 10, at as u64 * 10 + 10)).collect();
    let lengths = |file: &FileAccesses, opened: bool, ordered: bool| -> Vec<usize> {
        let descriptions: Vec<Description> =
            descriptions().into_iter().map(|open| Description { syncs: opened, ..open }).collect();
        let found = file.runs(&descriptions, &ProcessEdges::default(), ordered);
        found.runs.iter().map(|run| run.members.len()).collect()
    };
    let mut calls = file(&rows);
    assert_eq!((lengths(&calls, true, true), lengths(&calls, true, false)), (vec![], vec![4]));
    calls.accesses[1].syncs = true;
    assert_eq!((lengths(&calls, false, true), lengths(&calls, false, false)), (vec![2, 2], vec![4]));
}

/// The end of a file that was set is known: what is written behind the bytes that are read does not touch them.
#[test]
fn a_file_is_as_long_as_it_was_made() {
    use Kind::{Read, Write};
    let rows: Vec<Row> = [(2, Write, 0, 100_000, u64::MAX), (2, Write, 35, 50_500, 50_510)]
        .into_iter()
        .chain((0..8).map(|at| (1, Read, 10 + at * 10, at as u64 * 1500, at as u64 * 1500 + 10)))
        .collect();
    let mut rows = rows;
    rows.sort_by_key(|row| row.2);
    let found = runs(&rows);
    assert_eq!(found.iter().map(|run| run.0.len()).collect::<Vec<_>>(), [8], "{found:?}");
    let pairs = file(&rows).pairs(&descriptions(), Rules::Corrected);
    assert_eq!(pairs.iter().filter(|pair| pair.category == Category::Possible).count(), 1, "{pairs:?}");
    assert!(pairs.iter().all(|pair| pair.category != Category::Impossible), "{pairs:?}");
}

/// As [`runs`] of rows of one process, each of a thread and with the time when it ends.
fn runs_of_threads(rows: &[(u32, Kind, i64, i64, u64, u64)]) -> Vec<(Vec<u32>, Stop)> {
    let mut file = file(&rows.iter().map(|row| (1, row.1, row.2, row.4, row.5)).collect::<Vec<_>>());
    for (access, row) in file.accesses.iter_mut().zip(rows) {
        (access.tid, access.end) = (Tid(row.0), row.3);
    }
    let found = file.runs(&descriptions(), &ProcessEdges::default(), true);
    found.runs.into_iter().map(|run| (run.members, run.stop)).collect()
}

/// A thread reads what another one wrote long before through the same description, while that one writes something else: if the first
/// write is put off to the end of the third, it is no longer certain what is read.
#[test]
fn what_is_put_off_meets_no_call_of_another_thread_through_the_same_description() {
    use Kind::{Read, Write};
    let writes = |read: i64| {
        runs_of_threads(&[
            (1, Write, 0, 2, 0, 100),
            (1, Write, 10, 12, 100, 200),
            (1, Write, 20, 23, 200, 300),
            (2, Read, read, read + 1, 0, 100),
        ])
    };
    assert_eq!(writes(30), [(vec![0, 1, 2], Stop::Mixed)]);
    assert_eq!(writes(21), [(vec![0, 1], Stop::Parallel)]);
    // What touches may be on either side.
    assert_eq!(writes(23), [(vec![0, 1], Stop::Parallel)]);
    let reads = |end: i64| {
        runs_of_threads(&[
            (2, Write, 0, end, 100, 200),
            (1, Read, 10, 12, 0, 100),
            (1, Read, 20, 22, 100, 200),
            (1, Read, 30, 32, 200, 300),
        ])
    };
    assert_eq!(reads(5), [(vec![1, 2, 3], Stop::End)]);
    assert_eq!(reads(11), [(vec![2, 3], Stop::End)]);
    // Other reads are in nobody's way.
    let beside = [(2, Read, 0, 11, 100, 200), (1, Read, 20, 22, 0, 100), (1, Read, 30, 32, 100, 200)];
    assert_eq!(runs_of_threads(&beside).last(), Some(&(vec![1, 2], Stop::End)));
}

#[test]
fn a_jump_forward_takes_nothing_from_the_run_behind_it() {
    use Kind::Read;
    let rows = [
        (1, Read, 0, 200, 300),
        (1, Read, 10, 800, 900),
        (1, Read, 20, 900, 1000),
        (1, Read, 30, 13_800, 13_900),
        (1, Read, 40, 13_900, 14_000),
    ];
    let adjacent = |members: [u32; 2]| (members.to_vec(), Shape::Adjacent, Stop::End);
    assert_eq!(runs(&rows), [adjacent([1, 2]), adjacent([3, 4])]);
}
