//! GML, the Graph Modelling Language (Himsolt 1996): networkx, igraph and Gephi read it.
//!
//! Keys are letters and digits only, so `_` falls out of names (`bytesRead`). Integers beyond 32 bits are written as
//! strings: the language promises no more, and readers differ.

use crate::figures::{self, Figures, Value};
use crate::workflow::WriteOptions;
use iotrail_model::quote::gml;
use iotrail_workflow::Graph;
use std::fmt::Write;

/// The workflow as GML.
// Writing to a String cannot fail, so results of `write!` are dropped throughout.
pub(crate) fn document(graph: &Graph, options: &WriteOptions) -> String {
    let mut out = String::from("Creator \"iotrail\"\ngraph [\n  directed 1\n  multigraph 1\n");
    list(&mut out, &figures::of_graph(graph, options), "  ");
    for (id, vertex) in graph.vertices.iter().enumerate() {
        let _ = writeln!(out, "  node [\n    id {id}");
        let mut figures = figures::of_vertex(graph, vertex);
        // networkx takes labels as names of nodes, which must differ.
        for (name, _) in &mut figures {
            match name.as_str() {
                "label" => *name = "name".to_owned(),
                "key" => *name = "label".to_owned(),
                _ => {}
            }
        }
        list(&mut out, &figures, "    ");
        out.push_str("  ]\n");
    }
    for edge in &graph.edges {
        let _ = writeln!(out, "  edge [\n    source {}\n    target {}", edge.from.0, edge.to.0);
        let _ = writeln!(out, "    key \"{}\"", edge.relation.name());
        list(&mut out, &figures::of_edge(edge), "    ");
        out.push_str("  ]\n");
    }
    out.push_str("]\n");
    out
}

fn list(out: &mut String, figures: &Figures, indent: &str) {
    for (name, value) in figures {
        let value = match value {
            Value::Text(text) => gml(text),
            Value::Whole(number) if i32::try_from(*number).is_ok() => number.to_string(),
            Value::Whole(number) => gml(&number.to_string()),
            Value::Real(number) => format!("{number:?}"),
            Value::Bool(truth) => u8::from(*truth).to_string(),
        };
        let _ = writeln!(out, "{indent}{} {value}", key(name));
    }
}

/// `bytes_read` becomes `bytesRead`.
fn key(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |key, word| {
        let (head, tail) = word.split_at(word.len().min(1));
        key + &head.to_ascii_uppercase() + tail
    })
}
