//! The critical path as executed, as vertices and edges to be marked, and as the list of what the run waited for.

use iotrail_workflow::graph::{Graph, Relation, VertexId};
use iotrail_workflow::ops::{Executed, Reason, critical_executed};
use std::collections::{HashMap, HashSet};

/// What is on the path.
#[derive(Clone, Debug, Default)]
pub(crate) struct CriticalPath {
    /// Its processes and the files between them, in the order of time.
    pub(super) vertices: Vec<VertexId>,
    /// The edges that it takes.
    pub(super) edges: HashSet<(VertexId, VertexId)>,
    /// Its segments and gaps.
    pub(super) executed: Option<Executed>,
    /// Why there is none.
    pub(super) why_not: Option<String>,
}

impl CriticalPath {
    pub(crate) fn new(graph: &Graph) -> Self {
        match critical_executed(graph) {
            Ok(executed) => Self::of(graph, executed),
            Err(error) => Self { why_not: Some(error.to_string()), ..Self::default() },
        }
    }

    fn of(graph: &Graph, executed: Executed) -> Self {
        let mut path = Self::default();
        let between = Between::new(graph);
        let mut seen = HashSet::new();
        for step in &executed.steps {
            let Some(vertex) = step.vertex else { continue };
            let way = step.after.map(|after| between.way(graph, after, vertex, step.why)).unwrap_or_default();
            let on_the_way = way.iter().flat_map(|(from, to)| [*from, *to]).chain([vertex]);
            path.vertices.extend(on_the_way.filter(|vertex| seen.insert(*vertex)));
            path.edges.extend(way);
        }
        path.executed = Some(executed);
        path
    }
}

/// Edges by where they begin.
struct Between(HashMap<VertexId, Vec<usize>>);

impl Between {
    fn new(graph: &Graph) -> Self {
        let mut out: HashMap<VertexId, Vec<usize>> = HashMap::new();
        for (index, edge) in graph.edges.iter().enumerate() {
            out.entry(edge.from).or_default().push(index);
        }
        Self(out)
    }

    /// The edges by which `vertex` depends on `after`: of data, those through the file of which it read the most; else the fork.
    fn way(
        &self,
        graph: &Graph,
        after: VertexId,
        vertex: VertexId,
        why: Reason,
    ) -> Vec<(VertexId, VertexId)> {
        let out = |from: VertexId| self.0.get(&from).into_iter().flatten().map(|at| &graph.edges[*at]);
        let has = |from: VertexId, to: VertexId| out(from).any(|edge| edge.to == to);
        let data = || {
            let files = out(after).filter(|edge| edge.relation.moves_data()).map(|edge| edge.to);
            let read =
                files.flat_map(out).filter(|edge| edge.to == vertex && edge.relation == Relation::Read);
            read.max_by_key(|edge| edge.read.bytes).map(|edge| vec![(after, edge.from), (edge.from, vertex)])
        };
        let fork = |from, to| has(from, to).then(|| vec![(from, to)]);
        match why {
            Reason::DataWritten | Reason::DataEnded => data().or_else(|| fork(after, vertex)),
            Reason::ChildEnded | Reason::ChildExecuted => data().or_else(|| fork(vertex, after)),
            _ => fork(after, vertex),
        }
        .unwrap_or_default()
    }
}
