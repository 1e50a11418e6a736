//! Laws that hold for every graph.

use crate::graph::{Graph, VertexId};
use crate::ops::samples::graphs;
use crate::ops::weight::busy;
use crate::ops::{
    Aggregation, Expression, Operation, Weight, aggregate, ancestors, clusters, critical_executed,
    critical_static, descendants, hide, run, select,
};
use iotrail_model::Nanos;
use proptest::prelude::*;

fn vertex_total(graph: &Graph) -> u64 {
    let left: u64 = graph.left_out.vertices.iter().map(|(_, count)| count).sum();
    left + graph.vertices.iter().map(|vertex| u64::from(vertex.members)).sum::<u64>()
}

fn edge_total(graph: &Graph) -> u64 {
    graph.left_out.edges + graph.edges.iter().map(|edge| u64::from(edge.members)).sum::<u64>()
}

fn byte_total(graph: &Graph) -> u64 {
    graph.left_out.bytes + graph.edges.iter().map(crate::Edge::bytes).sum::<u64>()
}

fn is_well_formed(graph: &Graph) -> bool {
    let sorted = graph
        .edges
        .windows(2)
        .all(|two| (two[0].from, two[0].to, two[0].relation) < (two[1].from, two[1].to, two[1].relation));
    let mut keys: Vec<_> = graph.vertices.iter().map(|vertex| &vertex.key).collect();
    keys.sort();
    sorted && keys.windows(2).all(|two| two[0] != two[1])
}

fn word() -> impl Strategy<Value = Operation> {
    let words = [
        ("select", "kind=file | exe=mAdd"),
        ("select", "bytes>500 | kind=process"),
        ("hide", "path~fits"),
        ("window", "10%..60%"),
        ("aggregate", "process=exe"),
        ("aggregate", "process=phase,file=template"),
        ("aggregate", "file=all"),
        ("aggregate", "process=cluster,file=dir"),
        ("cluster", ""),
    ];
    prop::sample::select(words.to_vec()).prop_map(|(name, word)| Operation::parse(name, word).unwrap())
}

/// The weight of the heaviest path by trying all of them.
fn brute_force(graph: &Graph, own: &[u64], weight: Weight, at: VertexId) -> u64 {
    let below = graph.edges.iter().filter(|edge| edge.from == at);
    let best = below.map(|edge| weight.of_edge(edge) + brute_force(graph, own, weight, edge.to)).max();
    own[at.index()] + best.unwrap_or(0)
}

/// The heaviest way on from a vertex that was come to at `from`, by trying all of them. Edges of the graphs here have a sign or
/// are crossed when all work and all arrivals are done.
fn timed_brute_force(graph: &Graph, busy: &[Vec<(i64, i64)>], at: VertexId, from: i64) -> i64 {
    let worked = |until: i64| -> i64 {
        busy[at.index()].iter().map(|(start, end)| (*end.min(&until) - *start.max(&from)).max(0)).sum()
    };
    let below = graph.edges.iter().filter(|edge| edge.from == at).flat_map(|edge| {
        [edge.first.or(edge.last), edge.last.or(edge.first)].map(|moment| (edge.to, moment))
    });
    let ways = below.filter_map(|(to, moment)| {
        let moment = moment.map_or_else(|| done(graph, busy, at), |moment| moment.0);
        (moment >= from).then(|| worked(moment) + timed_brute_force(graph, busy, to, moment))
    });
    ways.max().unwrap_or(0).max(worked(i64::MAX))
}

/// When all work of a vertex is done and the last edge into it was crossed.
fn done(graph: &Graph, busy: &[Vec<(i64, i64)>], at: VertexId) -> i64 {
    let end = busy[at.index()].last().map(|(_, end)| *end);
    let into = graph.edges.iter().filter(|edge| edge.to == at).map(|edge| {
        edge.last.or(edge.first).map_or_else(
            || done(graph, busy, edge.from),
            |moment| moment.0.max(edge.first.map_or(moment.0, |first| first.0)),
        )
    });
    into.max().max(end).unwrap_or(i64::MIN)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn operations_lose_no_vertex_edge_or_byte_and_keep_the_order(
        graph in graphs(), operations in prop::collection::vec(word(), 0..5)
    ) {
        let totals = (vertex_total(&graph), edge_total(&graph), byte_total(&graph));
        let length = operations.len();
        let outcome = run(graph, &operations).unwrap().graph;
        prop_assert_eq!((vertex_total(&outcome), edge_total(&outcome), byte_total(&outcome)), totals);
        prop_assert!(is_well_formed(&outcome));
        prop_assert_eq!(outcome.history.len(), length);
        let sorted = outcome.edges.iter().all(|edge| edge.from < edge.to);
        prop_assert!(sorted || outcome.notes.iter().any(|note| note.contains("cycle")));
    }

    #[test]
    fn a_subgraph_of_a_subgraph_is_a_subgraph(graph in graphs()) {
        let parse = |text: &str| Expression::parse("select", text).unwrap();
        let (one, other) = (parse("kind=process | path~data"), parse("!(exe=sh)"));
        let strip = |mut graph: Graph| {
            graph.history.clear();
            graph.left_out.vertices = vec![("all".into(), graph.left_out.vertices.iter().map(|(_, n)| n).sum())];
            graph
        };
        let both = strip(select(&graph, &parse("(kind=process | path~data) & !(exe=sh)")));
        prop_assert_eq!(&strip(select(&select(&graph, &one), &other)), &both);
        prop_assert_eq!(&strip(select(&select(&graph, &other), &one)), &both);
        prop_assert_eq!(strip(hide(&select(&graph, &one), &parse("exe=sh"))), both);
        let again = select(&select(&graph, &one), &one);
        prop_assert_eq!(strip(again), strip(select(&graph, &one)));
    }

    #[test]
    fn what_follows_a_vertex_comes_after_it_and_back(graph in graphs(), index in any::<prop::sample::Index>()) {
        prop_assume!(!graph.vertices.is_empty());
        let vertex = VertexId(index.index(graph.vertices.len()) as u32);
        let after = descendants(&graph, &[vertex], "it");
        let key = graph.vertex(vertex).key.clone();
        for (place, other) in after.vertices.iter().enumerate() {
            let before = ancestors(&after, &[VertexId(place as u32)], "it");
            prop_assert!(before.vertices.iter().any(|vertex| vertex.key == key), "{}", other.key);
        }
    }

    #[test]
    fn segments_and_gaps_sum_up_to_the_makespan(graph in graphs()) {
        let executed = critical_executed(&graph).unwrap();
        let Some((first, last)) = executed.span else {
            prop_assert!(graph.vertices.iter().all(|vertex| vertex.process().is_none()));
            return Ok(());
        };
        let mut at = first;
        for step in &executed.steps {
            prop_assert_eq!(step.from, at);
            prop_assert!(step.to > step.from);
            at = step.to;
        }
        prop_assert_eq!(at, last);
        let sum: i64 = executed.steps.iter().map(|step| step.span().0).sum();
        prop_assert_eq!(Nanos(sum), executed.makespan);
        for process in graph.vertices.iter().filter_map(crate::Vertex::process) {
            prop_assert!(process.start.is_none_or(|start| start >= first));
        }
    }

    #[test]
    fn the_heaviest_path_is_that_of_brute_force(graph in graphs(), weight in prop::sample::select(vec![Weight::Bytes, Weight::Rate, Weight::Calls])) {
        let critical = critical_static(&graph, weight).unwrap();
        let own = weight.of_vertices(&graph);
        let best = (0..graph.vertices.len() as u32).map(|v| brute_force(&graph, &own, weight, VertexId(v))).max();
        prop_assert_eq!(critical.total, best.unwrap_or(0));
        prop_assert_eq!(critical.steps.iter().map(|step| step.weight).sum::<u64>(), critical.total);
        for step in &critical.steps {
            prop_assert_eq!(critical.slack[step.vertex.index()], 0);
        }
        for (index, slack) in critical.slack.iter().enumerate() {
            let through_it = critical.total - slack;
            prop_assert!(own[index] <= through_it);
        }
    }

    #[test]
    fn the_heaviest_path_by_time_goes_forward_in_time_and_is_never_longer_than_the_run(graph in graphs()) {
        let critical = critical_static(&graph, Weight::Time).unwrap();
        let busy = busy(&graph);
        let best = (0..graph.vertices.len() as u32).map(|v| timed_brute_force(&graph, &busy, VertexId(v), i64::MIN)).max();
        prop_assert_eq!(critical.total as i64, best.unwrap_or(0));
        prop_assert_eq!(critical.steps.iter().map(|step| step.weight).sum::<u64>(), critical.total);
        let span = graph.span.map_or(0, |(first, last)| (last - first).0);
        prop_assert!(critical.total as i64 <= span, "{} of {span}", critical.total);
        for step in &critical.steps {
            prop_assert_eq!(critical.slack[step.vertex.index()], 0);
        }
    }

    #[test]
    fn clusters_hold_every_process_once(graph in graphs()) {
        let wholes = crate::ops::whole::Wholes::new(&graph);
        let found: u64 = clusters(&graph).iter().map(|cluster| cluster.processes).sum();
        prop_assert_eq!(found, wholes.len() as u64);
    }

    #[test]
    fn no_expression_panics(text in "[a-z=~!<>&|()'\" *?\\[:0-9é/.]{0,40}") {
        let _ = Expression::parse("select", &text);
        let _ = Aggregation::parse(&text);
        let _ = crate::ops::Window::parse(&text);
    }

    #[test]
    fn every_expression_and_its_opposite_divide_a_graph(graph in graphs(), text in "(kind|exe|path|bytes|degree|label)(=|!=|~|>)[a-z0-9*]{1,6}") {
        let Ok(expression) = Expression::parse("select", &text) else { return Ok(()) };
        let opposite = Expression::parse("select", &format!("!({text})")).unwrap();
        let (one, other) = (expression.matches(&graph).len(), opposite.matches(&graph).len());
        prop_assert_eq!(one + other, graph.vertices.len());
    }

    #[test]
    fn aggregating_twice_changes_nothing_more(graph in graphs()) {
        let by = Aggregation::parse("process=exe,file=template").unwrap();
        let once = aggregate(&graph, &by);
        let keys = |graph: &Graph| graph.vertices.iter().map(|vertex| (vertex.key.clone(), vertex.members)).collect::<Vec<_>>();
        prop_assert_eq!(aggregate(&once, &by).vertices.len(), once.vertices.len(), "{:?}", keys(&once));
    }
}
