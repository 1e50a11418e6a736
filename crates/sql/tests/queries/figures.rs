//! Two independent ways to the same figures: queries, and our own engines.

use crate::util::Dir;
use iotrail_dfg::{DfgOptions, synthesize};
use iotrail_query::{Query, QuerySpec};
use iotrail_trail::EventLog;

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
