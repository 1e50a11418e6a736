//! Graphviz input: ellipses for processes, boxes for files, dotted lines between processes, arrowheads by operation, labels
//! with lifetimes, bytes and rates (Dun et al., section 6.3.4). `dot -Tsvg workflow.dot` draws it.

use crate::figures;
use crate::workflow::WriteOptions;
use iotrail_model::quote::dot as quoted;
use iotrail_model::text::{printable, shorten};
use iotrail_model::units;
use iotrail_workflow::{Edge, Facts, Graph, Relation, Vertex};
use std::fmt::Write;

/// How many characters of a command line a label shows.
const COMMAND_WIDTH: usize = 60;

/// The workflow as DOT.
// Writing to a String cannot fail, so results of `write!` are dropped throughout.
pub(crate) fn document(graph: &Graph, options: &WriteOptions) -> String {
    let mut out = format!(
        "digraph workflow {{\n  graph [label={}, labelloc=t, fontname=\"Arial\", rankdir=TB];\n  \
         node [fontname=\"Arial\", fontsize=11];\n  edge [fontname=\"Arial\", fontsize=9];\n",
        quoted(&caption(graph, options))
    );
    for (id, vertex) in graph.vertices.iter().enumerate() {
        let _ = writeln!(
            out,
            "  n{id} [shape={}, label={}, tooltip={}];",
            if vertex.process().is_some() { "ellipse" } else { "box" },
            quoted(&label(vertex)),
            quoted(&printable(&tooltip(vertex)))
        );
    }
    for edge in &graph.edges {
        let (style, head) = look(edge.relation);
        let _ = writeln!(
            out,
            "  n{} -> n{} [style={style}, arrowhead={head}, label={}, tooltip={}];",
            edge.from.0,
            edge.to.0,
            quoted(&edge_label(edge)),
            quoted(edge.relation.name())
        );
    }
    out.push_str("}\n");
    out
}

fn caption(graph: &Graph, options: &WriteOptions) -> String {
    let hidden: u64 = graph.left_out.vertices.iter().map(|(_, number)| number).sum();
    let left_out = (hidden > 0).then(|| format!("hidden: {}", units::counted(hidden, "vertex", "vertices")));
    let lines = [Some(options.title()), Some(graph.history.join("; ")), left_out];
    let lines = lines.into_iter().flatten().filter(|line| !line.is_empty());
    lines.map(|line| printable(&line).into_owned()).collect::<Vec<_>>().join("\n")
}

fn label(vertex: &Vertex) -> String {
    let mut lines = vec![printable(&figures::short_name(vertex)).into_owned()];
    if let Facts::Process(process) = &vertex.facts {
        let command = process.cmdline.as_deref().map(figures::command).unwrap_or_default();
        if vertex.members == 1 && !command.is_empty() && command != *vertex.label {
            lines.push(printable(&shorten(&command, COMMAND_WIDTH)).into_owned());
        }
        let time = vertex.time.filter(|time| time.0 > 0);
        lines.extend(time.map(|time| units::duration(time.0 as f64)));
    }
    lines.join("\n")
}

fn tooltip(vertex: &Vertex) -> String {
    match &vertex.facts {
        Facts::Process(process) => process.cmdline.as_deref().map(figures::command).unwrap_or_default(),
        Facts::File(file) => file.path.to_string(),
    }
}

/// Style of the line and of its head.
const fn look(relation: Relation) -> (&'static str, &'static str) {
    match relation {
        Relation::Fork => ("dotted", "normal"),
        Relation::Continue => ("dotted", "none"),
        Relation::Create => ("solid", "diamond"),
        Relation::Write => ("solid", "normal"),
        Relation::Read => ("solid", "vee"),
        Relation::Map => ("dashed", "vee"),
        Relation::Next => ("dashed", "none"),
    }
}

/// Bytes and rate, as far as there are any.
fn edge_label(edge: &Edge) -> String {
    if edge.bytes() == 0 {
        return String::new();
    }
    let bytes = units::bytes(edge.bytes() as f64);
    edge.rate().map_or_else(|| bytes.clone(), |rate| format!("{bytes}\n{}", units::rate(rate)))
}
