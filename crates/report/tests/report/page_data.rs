//! The data of a report on the paper's example: `ls` and `ls -l`, three processes each, reads and writes only.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use iotrail_model::{Case, CaseId, CaseName, Event, Nanos, Nullable, Pid, Tid, Timestamp};
use iotrail_query::{Query, QuerySpec};
use iotrail_report::data::PageData;
use iotrail_report::{Limits, ReportOptions, page_data, report};
use iotrail_trail::EventLog;
use iotrail_trail::memory::MemoryLog;
use std::num::NonZeroUsize;

const SHORT: &[(&str, &str, u32)] =
    &[("read", "/usr/lib/libc.so.6", 3), ("read", "/proc/filesystems", 2), ("read", "/etc/locale.alias", 2)];
const LONG: &[(&str, &str, u32)] = &[
    ("read", "/etc/nsswitch.conf", 2),
    ("read", "/etc/passwd", 1),
    ("read", "/etc/group", 1),
    ("write", "/dev/pts/7", 1),
    ("read", "/usr/lib/locale/LC_TIME", 2),
    ("write", "/dev/pts/7", 2),
];

fn log(rows: usize) -> EventLog {
    let case = |id: u32| Case {
        id: CaseId(id),
        name: CaseName {
            cid: Some(if id < 3 { "a" } else { "b" }.into()),
            host: Some("host1".into()),
            rid: Some((9042 + id).to_string()),
        },
        ..Case::default()
    };
    let mut log = MemoryLog::new((0..6).map(case).collect()).row_group_rows(rows);
    for id in 0..6_u32 {
        let steps = SHORT.iter().chain(if id < 3 { &[("write", "/dev/pts/7", 1)][..] } else { LONG });
        let calls =
            steps.flat_map(|(call, path, times)| std::iter::repeat_n((*call, *path), *times as usize));
        for (seq, (call, path)) in calls.enumerate() {
            let (call, path) = (log.call(call), log.path(path));
            log.push(Event {
                case: CaseId(id),
                seq: seq as u64,
                pid: Pid(9042 + id),
                tid: Tid(9042 + id),
                call,
                path,
                start: Timestamp(1_000_000 * i64::from(id) + 100_000 * seq as i64),
                dur: Nullable::some(Nanos(1_000 * (seq as i64 + 1))),
                size: Nullable::some(100),
                ..Event::default()
            });
        }
    }
    log.build()
}

fn options(threads: usize) -> ReportOptions {
    ReportOptions {
        command: "iotrail report a.trail --by cid -o report.html".to_owned(),
        threads: NonZeroUsize::new(threads).unwrap(),
        ..ReportOptions::default()
    }
}

fn grouped(log: &EventLog) -> Query {
    Query::new(QuerySpec { group_by: Some("cid".into()), ..QuerySpec::default() }, log).unwrap()
}

fn data(rows: usize, options: &ReportOptions) -> PageData {
    let log = log(rows);
    page_data(&log, &grouped(&log), options).unwrap()
}

#[test]
fn the_papers_example_as_the_page_gets_it() {
    let data = data(1000, &options(1));
    insta::assert_snapshot!(serde_json::to_string_pretty(&data.totals).unwrap());
    insta::assert_snapshot!("nodes", lines(&data.nodes));
    insta::assert_snapshot!("edges", lines(&data.edges));
    insta::assert_snapshot!("variants", lines(&data.variants.list));
    insta::assert_snapshot!("names", lines(&data.names));
}

fn lines<T: serde::Serialize>(rows: &[T]) -> String {
    rows.iter().map(|row| serde_json::to_string(row).unwrap() + "\n").collect()
}

#[test]
fn at_every_stop_boxes_lie_apart_and_lines_join_them() {
    let data = data(1000, &options(1));
    let stops = &data.stops;
    assert_eq!(stops.list.iter().map(|stop| stop.n).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6, 7]);
    for (stop, level) in stops.list.iter().flat_map(|stop| stop.levels.iter().map(move |level| (stop, level)))
    {
        let mark = (stops.mark, stops.mark);
        let sizes = stops.order[..stop.n].iter().map(|node| (data.nodes[*node].w, stops.height));
        let boxes: Vec<[i32; 4]> = ([mark, mark].into_iter().chain(sizes).zip(level.at.chunks_exact(2)))
            .map(|((width, height), at)| [at[0], at[1], at[0] + width, at[1] + height])
            .collect();
        assert_eq!(boxes.len(), stop.n + 2);
        for (index, a) in boxes.iter().enumerate() {
            let over = |b: &&[i32; 4]| a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
            assert_eq!(boxes[index + 1..].iter().find(over), None, "{a:?} at {}", stop.n);
        }
        let of = |end: i32| match usize::try_from(end) {
            Ok(node) => boxes[2 + stops.order.iter().position(|one| *one == node).unwrap()],
            Err(_) => boxes[(-end - 1) as usize],
        };
        let edges =
            level.edges.iter().map(|(edge, line)| (data.edges[*edge].from, data.edges[*edge].to, line));
        for (from, to, line) in edges.chain(level.ways.iter().map(|way| (way.0, way.1, &way.5))) {
            let mut points: Vec<[i32; 2]> = Vec::new();
            for step in line.chunks_exact(2) {
                let before = points.last().copied().unwrap_or_default();
                points.push([before[0] + step[0], before[1] + step[1]]);
            }
            points.pop();
            // A start, and three control points for each curve.
            assert_eq!(points.len() % 3, 1, "{line:?}");
            for (at, end) in [(points[0], of(from)), (points[points.len() - 1], of(to))] {
                let touches =
                    (end[0] - 1..=end[2] + 1).contains(&at[0]) && (end[1] - 1..=end[3] + 1).contains(&at[1]);
                assert!(touches, "{at:?} of {from} to {to} beside {end:?}");
            }
        }
    }
}

#[test]
fn fewer_stops_than_there_are_keep_the_whole_graph() {
    let limits = Limits { stops: 3, levels: 1, ..Limits::default() };
    let data = data(1000, &ReportOptions { limits, ..options(1) });
    assert_eq!(
        data.stops.list.iter().map(|stop| (stop.n, stop.levels.len())).collect::<Vec<_>>(),
        [(1, 1), (3, 1), (7, 1)]
    );
    assert_eq!(data.stops.list[2].levels[0].edges.len(), data.edges.len());
}

#[test]
fn threads_and_row_groups_do_not_change_a_byte() {
    let whole = report(&log(1000), &grouped(&log(1000)), &options(1)).unwrap();
    for (rows, threads) in [(7, 1), (3, 4), (1, 2)] {
        let log = log(rows);
        assert_eq!(
            report(&log, &grouped(&log), &options(threads)).unwrap(),
            whole,
            "{rows} rows, {threads} threads"
        );
    }
}

#[test]
fn what_does_not_fit_is_counted() {
    let limits = Limits {
        nodes: 4,
        edges: 6,
        variants: 1,
        table_rows: 2,
        files: 2,
        rows_per_node: 1,
        ..Limits::default()
    };
    let data = data(1000, &ReportOptions { limits, ..options(1) });
    assert_eq!((data.nodes.len(), data.nodes_more.nodes), (4, 3));
    let events: u64 = data.nodes.iter().map(|node| node.c).sum();
    assert_eq!(events + data.nodes_more.events, data.totals.mapped);
    assert_eq!((data.variants.list.len(), data.variants.more.variants, data.variants.more.cases), (1, 1, 3));
    assert_eq!((data.files.list.len(), data.files.more), (2, 6));
    assert_eq!((data.cases.list.len(), data.cases.more), (2, 4));
    assert_eq!(data.nodes.iter().map(|node| node.csm).max(), Some(5));
}

#[test]
fn events_without_room_for_bars_become_bins_that_keep_their_time() {
    let limits = Limits { bars_per_timeline: 5, longest: 2, timeline_rows: 3, ..Limits::default() };
    let data = data(1000, &ReportOptions { limits, ..options(1) });
    let timeline = &data.timeline.acts[&0];
    assert_eq!((timeline.bars.is_none(), timeline.longest.len(), timeline.rows.len()), (true, 2, 3));
    let busy: f64 = timeline.level.iter().sum::<f64>() * timeline.bin_ns as f64;
    let exact = data.nodes[0].t.unwrap() as f64;
    assert!((busy / exact - 1.0).abs() < 0.05, "{busy} against {exact}");
}
