//! Two independent ways to the same figures: queries, and our own engines.

use crate::util::Dir;
use iotrail_dfg::{DfgOptions, synthesize};
use iotrail_query::{ProcessGroupBy, ProcessTable, Query, QuerySpec};
use iotrail_stats::{Profile, ProfileOptions, profile};
use iotrail_trail::EventLog;
use serde_json::Value;
use std::collections::BTreeMap;

/// What our own engine says of the trail.
fn profiled(dir: &Dir) -> Profile {
    let log = EventLog::open(&[dir.path("t.trail")]).expect("a log");
    let query = Query::new(QuerySpec::default(), &log).expect("a query");
    let processes = ProcessTable::of_log(&log).expect("processes");
    let groups = ProcessGroupBy::parse("exe").expect("a word").divide(&log, &processes);
    profile(&log, &query, &processes, &groups, &ProfileOptions::default()).expect("a profile")
}

/// Makes sure that each row that a query answers says what our own row says, as far as both speak of the same.
#[track_caller]
fn assert_same(asked: &[Value], own: &[Value], least: usize) {
    assert_eq!(asked.len(), own.len(), "{asked:#?}\n{own:#?}");
    for (asked, own) in asked.iter().zip(own) {
        let (asked, own) = (asked.as_object().expect("a row"), own.as_object().expect("a row"));
        let common: Vec<&String> = asked.keys().filter(|column| own.contains_key(*column)).collect();
        assert!(common.len() >= least, "only {common:?} are compared");
        for column in common {
            assert!(is_same(&asked[column], &own[column]), "{column}: {asked:#?}\n{own:#?}");
        }
    }
}

/// Integers exactly; fractions are computed in another order.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(x), Some(y)) if one.is_f64() || other.is_f64() => (x - y).abs() <= 1e-9 * x.abs().max(y.abs()),
        _ => one == other,
    }
}

fn values<T: serde::Serialize>(rows: &[T]) -> Vec<Value> {
    rows.iter().map(|row| serde_json::to_value(row).expect("JSON")).collect()
}

#[test]
fn queries_count_calls_as_the_profile_does() {
    for dir in [Dir::recorded(), Dir::small()] {
        let own = profiled(&dir);
        let order = "ORDER BY total_ns DESC NULLS LAST, count DESC, call";
        let asked = dir.objects(&format!("SELECT * FROM stat_calls {order}"));
        assert_same(&asked, &values(&own.calls), 14);
        for (group, rows) in own.groups.iter().zip(&own.group_calls) {
            let query = format!("SELECT * FROM stat_group_calls WHERE \"group\" = '{group}' {order}");
            assert_same(&dir.objects(&query), &values(rows), 14);
        }
    }
}

#[test]
fn queries_sum_up_phases_as_the_profile_does() {
    for dir in [Dir::recorded(), Dir::small(), Dir::of_threads()] {
        let own = profiled(&dir);
        assert_same(&dir.objects("SELECT * FROM stat_phases"), &values(&own.phases), 8);
    }
}

#[test]
fn queries_distribute_as_the_profile_does() {
    let dir = Dir::recorded();
    let own = profiled(&dir);
    let mut steps: BTreeMap<(String, String), Vec<(i64, u64)>> = BTreeMap::new();
    for row in dir.objects("SELECT * FROM stat_distributions") {
        let text = |column: &str| row[column].as_str().expect("a text").to_owned();
        let step = (row["value"].as_i64().expect("a value"), row["not_larger"].as_u64().expect("a count"));
        steps.entry((text("quantity"), text("series"))).or_default().push(step);
    }
    let mut compared = 0;
    for distribution in &own.distributions {
        let quantity = serde_json::to_value(distribution.quantity).expect("JSON");
        let key = (quantity.as_str().expect("a word").to_owned(), distribution.series.clone());
        if let Some(steps) = steps.remove(&key) {
            assert_eq!(steps, distribution.steps, "{key:?}");
            compared += 1;
        }
    }
    assert!(compared > 10 && steps.is_empty(), "{compared} were compared, {steps:?} are left");
}

#[test]
fn queries_find_the_bytes_of_files_and_processes_as_the_profile_does() {
    let dir = Dir::recorded();
    let own = profiled(&dir);
    let moved: BTreeMap<&str, [u64; 4]> = own
        .files
        .iter()
        .filter(|row| row.reads + row.writes > 0)
        .map(|row| (row.name.as_str(), [row.reads, row.writes, row.bytes_read, row.bytes_written]))
        .collect();
    let asked = dir.objects("SELECT * FROM stat_files");
    let columns = ["reads", "writes", "bytes_read", "bytes_written"];
    let figures = |row: &Value| columns.map(|column| row[column].as_u64().expect("a number"));
    let asked: BTreeMap<&str, [u64; 4]> =
        asked.iter().map(|row| (row["path"].as_str().expect("a path"), figures(row))).collect();
    assert!(!asked.is_empty());
    assert_eq!(asked, moved);
    let sum = |row: [u64; 4]| row[2] + row[3];
    let of_processes: u64 = own.processes.iter().map(|row| row.bytes_read + row.bytes_written).sum();
    let asked: u64 = dir.objects("SELECT * FROM stat_processes").iter().map(|row| sum(figures(row))).sum();
    assert_eq!(asked, of_processes);
    let binned = dir.rows("SELECT sum(bytes_read), sum(bytes_written), sum(calls) FROM stat_throughput");
    let all = own.phases.iter().fold([0; 3], |[read, written, calls], phase| {
        [read + phase.bytes_read, written + phase.bytes_written, calls + phase.calls]
    });
    assert_eq!(binned, [all.map(|sum| sum.to_string()).join(",")]);
}

#[test]
fn the_graph_as_a_table_is_the_graph() {
    let dir = Dir::small();
    let log = EventLog::open(&[dir.path("t.trail")]).expect("a log");
    for map in ["dir2", "file", "call"] {
        let spec = QuerySpec { map: Some(map.to_owned()), ..QuerySpec::default() };
        let query = Query::new(spec, &log).expect("a query");
        let dfg = synthesize(&log, &query, &DfgOptions::default()).expect("a graph");
        let edges: Vec<String> = dfg
            .edges
            .iter()
            .map(|edge| {
                let sum = edge.gap_ns.sum.map_or_else(String::new, |sum| sum.to_string());
                format!("{},{},{},{},{sum}", edge.from, edge.to, edge.count, edge.cases)
            })
            .collect();
        let asked = dir.rows(&format!("SELECT source, target, count, cases, gap_sum FROM dfg('{map}')"));
        assert_eq!(asked, edges, "{map}");
        let nodes: Vec<String> =
            dfg.nodes.iter().map(|node| format!("{},{},{}", node.activity, node.count, node.bytes)).collect();
        let asked = dir.rows(&format!("SELECT activity, count, bytes FROM dfg_nodes('{map}')"));
        assert_eq!(asked, nodes, "{map}");
        // And once more from the events alone.
        let counted = dir.rows(&format!(
            "SELECT activity('{map}', call, path) AS a, count(*), coalesce(sum(size), 0) FROM events \
             GROUP BY a HAVING a IS NOT NULL ORDER BY sum(dur) DESC, a"
        ));
        assert_eq!(counted, nodes, "{map}");
    }
}

#[test]
fn edges_follow_from_the_events_by_a_window() {
    let dir = Dir::small();
    let by_hand = dir.rows(
        "WITH steps AS (SELECT activity(call, path) AS a, lead(activity(call, path)) OVER (PARTITION BY case_id ORDER BY start, seq) \
         AS b FROM events) SELECT a, b, count(*) FROM steps WHERE b IS NOT NULL GROUP BY a, b ORDER BY a, b",
    );
    let graph = dir.rows(
        "SELECT source, target, count FROM dfg('dir2') WHERE source <> '●' AND target <> '■' ORDER BY source, target",
    );
    assert!(!graph.is_empty());
    assert_eq!(by_hand, graph);
}
