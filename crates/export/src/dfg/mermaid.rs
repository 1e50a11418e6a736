//! The drawn part as a Mermaid flowchart, for Markdown pages that draw one.

use iotrail_dfg::Dfg;
use iotrail_dfg::result::{END, START};
use iotrail_draw::label::{self, NodeLabel};
use iotrail_draw::shade::Shades;
use iotrail_draw::{Direction, Picture, View};
use iotrail_model::quote::mermaid as escaped;
use std::collections::HashMap;
use std::fmt::Write;

// Writing to a String cannot fail, so results of `write!` are dropped throughout.
pub(super) fn document(dfg: &Dfg, view: &View) -> String {
    let (drawn, picture) = Picture::of(dfg, view);
    let dfg = &*drawn;
    let shades = Shades::new(dfg, &picture, view);
    let direction = if view.direction == Some(Direction::Right) { "LR" } else { "TD" };
    let mut out = format!("flowchart {direction}\n  start((\"●\"))\n");
    let mut ids = HashMap::from([(START, "start".to_owned()), (END, "stop".to_owned())]);
    for index in &picture.nodes {
        let node = &dfg.nodes[*index];
        let lines: Vec<String> =
            NodeLabel::of(node, dfg, view).lines.iter().map(|line| escaped(&line.text)).collect();
        let _ = writeln!(out, "  n{index}[\"{}\"]", lines.join("<br/>"));
        ids.insert(&node.activity, format!("n{index}"));
    }
    // `end` is a word of the language.
    out.push_str("  stop[\"■\"]\n");
    for index in &picture.edges {
        let edge = &dfg.edges[*index];
        if let (Some(from), Some(to)) = (ids.get(&*edge.from), ids.get(&*edge.to)) {
            let _ = writeln!(
                out,
                "  {from} -->|\"{}\"| {to}",
                escaped(&label::edge_label(edge, view.edge_measure))
            );
        }
    }
    if let Some(hidden) = picture.hidden.statement() {
        let _ = writeln!(out, "  hidden[/\"{}\"/]", escaped(&hidden));
    }
    for index in &picture.nodes {
        let paint = shades.node(&dfg.nodes[*index]);
        let (fill, text, border) =
            (paint.fill.light.hex(), paint.text.light.hex(), paint.border.ink.light.hex());
        let dash = paint.border.dash.pattern(paint.border.width).map(|pattern| {
            let lengths: Vec<String> = pattern.iter().map(|length| format!("{length:.0}")).collect();
            format!(",stroke-dasharray:{}", lengths.join(" "))
        });
        let _ = writeln!(
            out,
            "  style n{index} fill:{fill},color:{text},stroke:{border}{}",
            dash.unwrap_or_default()
        );
    }
    out
}
