//! A Mermaid flowchart, for Markdown pages that draw one: rounded processes, square files.

use crate::figures;
use crate::workflow::WriteOptions;
use iotrail_model::quote::mermaid as escaped;
use iotrail_model::text::printable;
use iotrail_model::units;
use iotrail_workflow::{Graph, Relation};
use std::fmt::Write;

/// The workflow as a flowchart.
// Writing to a String cannot fail, so results of `write!` are dropped throughout.
pub(crate) fn document(graph: &Graph, options: &WriteOptions) -> String {
    let mut out =
        format!("---\ntitle: {}\n---\nflowchart TD\n", serde_json::Value::from(printable(&options.title())));
    for (id, vertex) in graph.vertices.iter().enumerate() {
        let (open, close) = if vertex.process().is_some() { ("([", "])") } else { ("[", "]") };
        let _ =
            writeln!(out, "  n{id}{open}\"{}\"{close}", escaped(&printable(&figures::short_name(vertex))));
    }
    for edge in &graph.edges {
        let arrow = if edge.relation.moves_data() { "-->" } else { "-.->" };
        let label = match edge.bytes() {
            0 => String::new(),
            bytes => format!("|\"{}\"|", escaped(&units::bytes(bytes as f64))),
        };
        let _ = writeln!(out, "  n{} {arrow}{label} n{}", edge.from.0, edge.to.0);
    }
    let created = graph.edges.iter().enumerate().filter(|(_, edge)| edge.relation == Relation::Create);
    let created: Vec<String> = created.map(|(place, _)| place.to_string()).collect();
    if !created.is_empty() {
        let _ = writeln!(out, "  linkStyle {} stroke-width:2px", created.join(","));
    }
    let hidden: u64 = graph.left_out.vertices.iter().map(|(_, number)| number).sum();
    if hidden > 0 {
        let hidden = units::counted(hidden, "vertex", "vertices");
        let _ = writeln!(out, "  hidden[/\"hidden: {hidden}\"/]");
    }
    out
}
