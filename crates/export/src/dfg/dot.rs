//! The drawn part as Graphviz input, complete with labels and colours: `dot -Tsvg graph.dot` draws it again.

use iotrail_dfg::Dfg;
use iotrail_dfg::result::{END, Edge, START};
use iotrail_draw::label::{self, NodeLabel};
use iotrail_draw::scene::{Dash, Ink, Rgb};
use iotrail_draw::shade::Shades;
use iotrail_draw::{Direction, Picture, Theme, View, palette};
use iotrail_model::quote::dot as quoted;
use std::collections::HashMap;
use std::fmt::Write;

pub(super) fn document(dfg: &Dfg, view: &View) -> String {
    let (drawn, picture) = Picture::of(dfg, view);
    let dfg = &*drawn;
    let mut writer = Writer { dfg, view, shades: Shades::new(dfg, &picture, view), out: String::new() };
    writer.graph(&picture);
    writer.out
}

struct Writer<'a> {
    dfg: &'a Dfg,
    view: &'a View,
    shades: Shades<'a>,
    out: String,
}

// Writing to a String cannot fail, so results of `write!` are dropped throughout.
impl Writer<'_> {
    fn graph(&mut self, picture: &Picture) {
        let direction = if self.view.direction == Some(Direction::Right) { "LR" } else { "TB" };
        let page = self.colour(palette::PAGE).hex();
        let title = picture
            .hidden
            .statement()
            .into_iter()
            .fold(self.title(), |title, hidden| format!("{title}\n{hidden}"));
        let _ = write!(
            self.out,
            "digraph dfg {{\n  graph [rankdir={direction}, bgcolor=\"{page}\", label={}, labelloc=t, fontname=\"Arial\", fontcolor=\"{}\"];\n  \
             node [shape=box, style=\"filled,rounded\", fontname=\"Arial\", fontsize=11];\n  \
             edge [fontname=\"Arial\", fontsize=10, fontcolor=\"{1}\"];\n",
            quoted(&title),
            self.colour(palette::TEXT).hex()
        );
        let text = self.colour(palette::TEXT).hex();
        for (id, activity, shape) in [("start", START, "circle"), ("end", END, "square")] {
            let _ = writeln!(
                self.out,
                "  {id} [label=\"\", tooltip={}, shape={shape}, width=0.25, style=filled, fillcolor=\"{text}\"];",
                quoted(activity)
            );
        }
        let mut ids = HashMap::from([(START, "start".to_owned()), (END, "end".to_owned())]);
        for index in &picture.nodes {
            let id = format!("n{index}");
            self.node(&id, *index);
            ids.insert(&self.dfg.nodes[*index].activity, id);
        }
        for index in &picture.edges {
            let edge = &self.dfg.edges[*index];
            if let (Some(from), Some(to)) = (ids.get(&*edge.from), ids.get(&*edge.to)) {
                self.edge(from, to, edge);
            }
        }
        self.out.push_str("}\n");
    }

    fn title(&self) -> String {
        self.view
            .title
            .clone()
            .unwrap_or_else(|| format!("Directly-Follows Graph of {}", self.dfg.sources.join(", ")))
    }

    fn colour(&self, ink: Ink) -> Rgb {
        if self.view.theme == Theme::Dark { ink.dark } else { ink.light }
    }

    fn node(&mut self, id: &str, index: usize) {
        let node = &self.dfg.nodes[index];
        let paint = self.shades.node(node);
        let lines: Vec<String> =
            NodeLabel::of(node, self.dfg, self.view).lines.into_iter().map(|line| line.text).collect();
        let _ = writeln!(
            self.out,
            "  {id} [label={}, tooltip={}, fillcolor=\"{}\", fontcolor=\"{}\", color=\"{}\", penwidth={}, style=\"filled,rounded{}\"];",
            quoted(&lines.join("\n")),
            quoted(&label::node_title(node, self.dfg)),
            self.colour(paint.fill).hex(),
            self.colour(paint.text).hex(),
            self.colour(paint.border.ink).hex(),
            paint.border.width,
            dash(paint.border.dash).map(|word| format!(",{word}")).unwrap_or_default()
        );
    }

    fn edge(&mut self, from: &str, to: &str, edge: &Edge) {
        let stroke = self.shades.edge(edge, 1.0 + (edge.count.max(1) as f64).log10() * 0.6);
        let _ = writeln!(
            self.out,
            "  {from} -> {to} [label={}, tooltip={}, color=\"{}\", penwidth={:.2}, style={}, weight={}];",
            quoted(&label::edge_label(edge, self.view.edge_measure)),
            quoted(&label::edge_title(edge, self.dfg)),
            self.colour(stroke.ink).hex(),
            stroke.width,
            dash(stroke.dash).unwrap_or("solid"),
            1 + edge.count.max(1).ilog10()
        );
    }
}

/// Graphviz has no dash-dot.
fn dash(dash: Dash) -> Option<&'static str> {
    match dash {
        Dash::Solid => None,
        Dash::Dashed | Dash::DashDot => Some("dashed"),
        Dash::Dotted => Some("dotted"),
    }
}
