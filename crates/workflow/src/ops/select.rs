//! The subgraph of an expression, and the graph without it.

use crate::graph::{Graph, VertexId};
use crate::ops::expression::Expression;
use crate::ops::subgraph::subgraph;
use crate::system::is_system;
use iotrail_model::text::printable;

/// The vertices for which `expression` holds, and the edges between them.
#[must_use]
pub fn select(graph: &Graph, expression: &Expression) -> Graph {
    let chosen = chosen(graph, expression);
    let sentence = format!("select {}", printable(expression.text()));
    subgraph(graph, "not selected", sentence, |vertex| chosen[vertex.index()], |_| true)
}

/// The vertices for which `expression` does not hold, and the edges between them.
#[must_use]
pub fn hide(graph: &Graph, expression: &Expression) -> Graph {
    let chosen = chosen(graph, expression);
    let sentence = format!("hide {}", printable(expression.text()));
    subgraph(graph, "hidden", sentence, |vertex: VertexId| !chosen[vertex.index()], |_| true)
}

/// The graph without the files of the system, see [`crate::system`].
#[must_use]
pub fn hide_system(graph: &Graph) -> Graph {
    let of_system = |vertex: VertexId| graph.vertex(vertex).file().is_some_and(|file| is_system(&file.path));
    subgraph(graph, "system files", "hide system files".to_owned(), |vertex| !of_system(vertex), |_| true)
}

fn chosen(graph: &Graph, expression: &Expression) -> Vec<bool> {
    let mut chosen = vec![false; graph.vertices.len()];
    for vertex in expression.matches(graph) {
        chosen[vertex.index()] = true;
    }
    chosen
}
