//! The article's table, row by row, and the examples of runs.

use iotrail_advise::{
    Access, Category, Description, DescriptionId, Edge, EdgeKind, FileAccesses, Kind, ProcessEdges, Reason,
    Rules, Shape, Stop,
};
use iotrail_model::{CallId, CaseId, Pid, Tid};

/// An access of a description at a time: `(description, kind, start, low, high)`.
type Row = (u32, Kind, i64, u64, u64);

fn file(rows: &[Row]) -> FileAccesses {
    let accesses = rows.iter().enumerate().map(|(at, (description, kind, start, low, high))| Access {
        start: *start,
        end: start + 1,
        low: *low,
        high: *high,
        seq: at as u64,
        description: DescriptionId(*description),
        tid: Tid(*description),
        pid: Pid(*description),
        call: CallId(0),
        kind: *kind,
        mergeable: matches!(kind, Kind::Read | Kind::Write),
        timed: true,
    });
    FileAccesses { accesses: accesses.collect(), ..FileAccesses::default() }
}

fn descriptions() -> Vec<Description> {
    (0..4).map(|pid| Description { case: CaseId(0), pid: Pid(pid), appends: false }).collect()
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
        file.edges = vec![Edge { start: 20, kind: EdgeKind::Sync }];
        let found = file.runs(&descriptions(), &ProcessEdges::default(), ordered);
        found.runs.iter().map(|run| run.members.len()).collect::<Vec<_>>()
    };
    assert_eq!(with_edge(Kind::Write, true), [2, 2]);
    assert_eq!(with_edge(Kind::Write, false), [4]);
    assert_eq!(with_edge(Kind::Read, true), [4]);
}
