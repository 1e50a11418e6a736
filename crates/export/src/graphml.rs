//! GraphML with typed keys: networkx, Gephi, yEd and igraph read it.
//!
//! A figure that does not exist has no `data` element. Integers are `long` where they are counts or nanoseconds.

use crate::figures::{self, Figures, Value};
use crate::workflow::WriteOptions;
use iotrail_model::quote::xml;
use iotrail_workflow::Graph;
use std::collections::BTreeMap;
use std::fmt::Write;

/// An edge of a [`document`]: places of its ends among the nodes, and what it tells.
pub type EdgeFigures = (usize, usize, Figures);

impl Value {
    fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "string",
            Self::Whole(_) => "long",
            Self::Real(_) => "double",
            Self::Bool(_) => "boolean",
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Text(text) => xml(text),
            Self::Whole(number) => number.to_string(),
            Self::Real(number) => number.to_string(),
            Self::Bool(truth) => truth.to_string(),
        }
    }
}

/// The workflow as GraphML.
pub(crate) fn workflow(graph: &Graph, options: &WriteOptions) -> String {
    let nodes: Vec<Figures> = graph.vertices.iter().map(|vertex| figures::of_vertex(graph, vertex)).collect();
    let edges: Vec<EdgeFigures> =
        graph.edges.iter().map(|edge| (edge.from.index(), edge.to.index(), figures::of_edge(edge))).collect();
    document("workflow", &figures::of_graph(graph, options), &nodes, &edges)
}

/// A directed graph; nodes are called `n0`, `n1`, … in the order given.
#[must_use]
pub fn document(id: &str, graph: &Figures, nodes: &[Figures], edges: &[EdgeFigures]) -> String {
    let mut keys = Keys::default();
    let mut body = String::new();
    // Writing to a String cannot fail, so results of `write!` are dropped throughout.
    keys.data(&mut body, "graph", graph, "    ");
    for (index, figures) in nodes.iter().enumerate() {
        let _ = writeln!(body, "    <node id=\"n{index}\">");
        keys.data(&mut body, "node", figures, "      ");
        body.push_str("    </node>\n");
    }
    for (from, to, figures) in edges {
        let _ = writeln!(body, "    <edge source=\"n{from}\" target=\"n{to}\">");
        keys.data(&mut body, "edge", figures, "      ");
        body.push_str("    </edge>\n");
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n{}  \
         <graph id=\"{}\" edgedefault=\"directed\">\n{body}  </graph>\n</graphml>\n",
        keys.declarations(),
        xml(id)
    )
}

/// Keys by what they belong to and their name, in the order of their first use.
#[derive(Default)]
struct Keys {
    ids: BTreeMap<(&'static str, String), (usize, &'static str)>,
}

impl Keys {
    fn data(&mut self, out: &mut String, of: &'static str, figures: &Figures, indent: &str) {
        for (name, value) in figures {
            let next = self.ids.len();
            let (id, _) = self.ids.entry((of, name.clone())).or_insert((next, value.kind()));
            let _ = writeln!(out, "{indent}<data key=\"d{id}\">{}</data>", value.text());
        }
    }

    fn declarations(&self) -> String {
        let mut keys: Vec<_> = self.ids.iter().collect();
        keys.sort_by_key(|(_, (id, _))| *id);
        let mut out = String::new();
        for ((of, name), (id, kind)) in keys {
            let _ = writeln!(
                out,
                "  <key id=\"d{id}\" for=\"{of}\" attr.name=\"{}\" attr.type=\"{kind}\"/>",
                xml(name)
            );
        }
        out
    }
}
