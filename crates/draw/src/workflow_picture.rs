//! The picture of a workflow of any size: what is too large to read is joined first, and the picture says so.

use crate::error::DrawError;
use crate::flow::{self, EdgeWidth, FlowView, Highlight};
use crate::scene::Scene;
use iotrail_model::units;
use iotrail_workflow::graph::{EdgeId, Graph, Relation, VertexId};
use iotrail_workflow::ops::{self, READABLE, Weight, condense};
use std::collections::{BTreeMap, BTreeSet};

/// A picture, and what had to be done to make it readable.
#[derive(Clone, Debug)]
pub struct WorkflowPicture {
    /// What is drawn.
    pub scene: Scene,
    /// `drawn joined: ...`, if something was joined.
    pub joined: Option<String>,
}

/// Draws `graph`; edges are as wide as `weight` says, the critical path stands out.
///
/// # Errors
/// If no positions are found.
pub fn workflow_picture(graph: &Graph, weight: Weight, title: &str) -> Result<WorkflowPicture, DrawError> {
    let highlight = critical(graph, weight);
    let (drawn, places) = match condense(graph, READABLE) {
        Some((drawn, places)) => (Some(drawn), places),
        None => (None, (0..graph.vertices.len() as u32).map(VertexId).collect()),
    };
    let joined = drawn.as_ref().map(|drawn| {
        let how = drawn.history.last().map_or("", String::as_str);
        let (before, after) = (graph.vertices.len() as u64, drawn.vertices.len() as u64);
        let before = units::counted(before, "vertex is", "vertices are");
        format!("{before} drawn as {}: {how}", units::count(after))
    });
    let shown = drawn.as_ref().unwrap_or(graph);
    let view = FlowView {
        title: title.to_owned(),
        highlight: highlight.map(|highlight| moved(highlight, graph, shown, &places)),
        width: if weight == Weight::Rate { EdgeWidth::InverseRate } else { EdgeWidth::Bytes },
        max_vertices: READABLE,
        ..FlowView::default()
    };
    Ok(WorkflowPicture { scene: flow::scene(shown, &view)?, joined })
}

/// The critical path as executed, or where processes are joined the heaviest path, if there is one.
fn critical(graph: &Graph, weight: Weight) -> Option<Highlight> {
    if let Ok(executed) = ops::critical_executed(graph) {
        let steps: Vec<VertexId> = executed.steps.iter().filter_map(|step| step.vertex).collect();
        let name = format!("critical path as executed, {}", units::duration(executed.makespan.0 as f64));
        return (!steps.is_empty()).then(|| between(graph, name, &steps));
    }
    let critical = ops::critical_static(graph, weight).ok()?;
    let amount =
        if weight.is_time() { units::duration(critical.total as f64) } else { units::count(critical.total) };
    Some(Highlight {
        name: format!("heaviest path by {}, {amount}", weight.name()),
        vertices: critical.steps.iter().map(|step| step.vertex).collect(),
        edges: critical.steps.iter().filter_map(|step| step.edge).collect(),
    })
}

/// The processes of a path, and the files and edges by which one waited for the next.
fn between(graph: &Graph, name: String, steps: &[VertexId]) -> Highlight {
    let pairs: BTreeSet<(VertexId, VertexId)> =
        steps.windows(2).flat_map(|two| [(two[0], two[1]), (two[1], two[0])]).collect();
    let mut highlight = Highlight { name, vertices: steps.iter().copied().collect(), edges: BTreeSet::new() };
    let mut writes: BTreeMap<VertexId, Vec<(VertexId, EdgeId)>> = BTreeMap::new();
    for (index, edge) in graph.edges.iter().enumerate() {
        let id = EdgeId(index as u32);
        match edge.relation {
            Relation::Create | Relation::Write if highlight.vertices.contains(&edge.from) => {
                writes.entry(edge.to).or_default().push((edge.from, id));
            }
            Relation::Fork | Relation::Continue if pairs.contains(&(edge.from, edge.to)) => {
                highlight.edges.insert(id);
            }
            _ => {}
        }
    }
    for (index, edge) in graph.edges.iter().enumerate() {
        for (writer, write) in writes.get(&edge.from).into_iter().flatten() {
            if pairs.contains(&(*writer, edge.to)) {
                highlight.vertices.insert(edge.from);
                highlight.edges.extend([*write, EdgeId(index as u32)]);
            }
        }
    }
    highlight
}

/// The same on the joined graph.
fn moved(highlight: Highlight, from: &Graph, to: &Graph, places: &[VertexId]) -> Highlight {
    let ends: BTreeSet<(VertexId, VertexId)> = highlight
        .edges
        .iter()
        .map(|edge| from.edge(*edge))
        .map(|edge| (places[edge.from.index()], places[edge.to.index()]))
        .collect();
    let edges = (0..to.edges.len() as u32).map(EdgeId);
    Highlight {
        name: highlight.name,
        vertices: highlight.vertices.iter().map(|vertex| places[vertex.index()]).collect(),
        edges: edges.filter(|edge| ends.contains(&(to.edge(*edge).from, to.edge(*edge).to))).collect(),
    }
}
