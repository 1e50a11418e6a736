//! The subgraph of an expression, and the graph without it.

use crate::graph::{Graph, VertexId};
use crate::ops::expression::Expression;
use crate::ops::subgraph::subgraph;
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

fn chosen(graph: &Graph, expression: &Expression) -> Vec<bool> {
    let mut chosen = vec![false; graph.vertices.len()];
    for vertex in expression.matches(graph) {
        chosen[vertex.index()] = true;
    }
    chosen
}
