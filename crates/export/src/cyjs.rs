//! Cytoscape.js JSON (`.cyjs`), as Cytoscape exports and reads it: `elements` with `nodes` and `edges`, ids as strings.

use crate::error::ExportError;
use crate::figures::{self, Figures, Value};
use crate::workflow::WriteOptions;
use iotrail_workflow::Graph;
use serde_json::{Map, Value as Json, json};

/// The workflow as cyjs.
pub(crate) fn document(graph: &Graph, options: &WriteOptions) -> Result<String, ExportError> {
    let node = |(id, vertex)| {
        let mut data = data(figures::of_vertex(graph, vertex));
        // Cytoscape shows `name`; a node's own `id` is a number within the file.
        data.insert("name".to_owned(), json!(vertex.label));
        data.insert("id".to_owned(), json!(format!("n{id}")));
        // networkx takes this for the node.
        data.insert("value".to_owned(), json!(format!("n{id}")));
        json!({ "data": data })
    };
    let edge = |(id, edge): (usize, &iotrail_workflow::Edge)| {
        let mut data = data(figures::of_edge(edge));
        data.insert("id".to_owned(), json!(format!("e{id}")));
        data.insert("source".to_owned(), json!(format!("n{}", edge.from.0)));
        data.insert("target".to_owned(), json!(format!("n{}", edge.to.0)));
        data.insert("key".to_owned(), json!(edge.relation.name()));
        data.insert("interaction".to_owned(), json!(edge.relation.name()));
        json!({ "data": data })
    };
    let mut whole = data(figures::of_graph(graph, options));
    whole.insert("name".to_owned(), json!(options.title()));
    let nodes: Vec<Json> = graph.vertices.iter().enumerate().map(node).collect();
    let edges: Vec<Json> = graph.edges.iter().enumerate().map(edge).collect();
    let document = json!({
        "format_version": "1.0",
        "generated_by": "iotrail",
        "target_cytoscapejs_version": "~3.0",
        "directed": true,
        "multigraph": true,
        "data": whole,
        "elements": { "nodes": nodes, "edges": edges },
    });
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

fn data(figures: Figures) -> Map<String, Json> {
    let value = |value| match value {
        Value::Text(text) => Json::from(text),
        Value::Whole(number) => Json::from(number),
        Value::Real(number) => Json::from(number),
        Value::Bool(truth) => Json::from(truth),
    };
    figures.into_iter().map(|(name, figure)| (name, value(figure))).collect()
}
