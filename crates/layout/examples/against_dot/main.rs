//! Compares layouts of real graphs with those of Graphviz `dot`: `cargo run --release --example against_dot [FOLDER [PICTURES]]`.
//!
//! Both are given the same sizes, weights and separations. For each graph the table has our figure over that of `dot`, and the
//! seconds of both; `PICTURES` gets both layouts of each graph as SVG.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement that fails should stop")]

#[path = "../../tests/layout/fixture.rs"]
mod fixture;
mod measure;

use iotrail_layout::{Direction, Graph, Layout, Point, Rect, Route, layout};
use measure::Figures;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Instant;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder =
        arguments.next().unwrap_or_else(|| concat!(env!("CARGO_MANIFEST_DIR"), "/tests/graphs").to_owned());
    let pictures = arguments.next();
    println!(
        "{:<14} {:>9} {:>11} {:>7} {:>7} {:>7} {:>8} {:>8}",
        "graph", "crossings", "dot", "length", "bends", "area", "s", "dot s"
    );
    let mut ratios: [Vec<f64>; 4] = Default::default();
    for (name, fixture) in fixture::all(&folder) {
        let graph = fixture.graph();
        let begin = Instant::now();
        let ours = layout(&graph).unwrap();
        let seconds = begin.elapsed().as_secs_f64();
        let begin = Instant::now();
        let theirs = by_dot(&graph);
        let dot_seconds = begin.elapsed().as_secs_f64();
        if let Some(folder) = &pictures {
            std::fs::write(format!("{folder}/{name}-ours.svg"), svg(&ours)).unwrap();
            std::fs::write(format!("{folder}/{name}-dot.svg"), svg(&theirs)).unwrap();
        }
        let (our, dot) = (Figures::of(&graph, &ours), Figures::of(&graph, &theirs));
        let row = our.over(&dot);
        println!(
            "{name:<14} {:>9} {:>11} {:>7.2} {:>7.2} {:>7.2} {seconds:>8.3} {dot_seconds:>8.3}",
            our.crossings, dot.crossings, row[1], row[2], row[3]
        );
        row.into_iter().zip(&mut ratios).for_each(|(ratio, list)| list.push(ratio));
    }
    let medians = ratios.map(|mut list| {
        list.sort_by(f64::total_cmp);
        list.get(list.len() / 2).copied().unwrap_or(f64::NAN)
    });
    println!(
        "median ratios: crossings {:.2}, length {:.2}, bends {:.2}, area {:.2}",
        medians[0], medians[1], medians[2], medians[3]
    );
}

const POINTS_PER_INCH: f64 = 72.0;

fn by_dot(graph: &Graph) -> Layout {
    let mut child = Command::new("timeout")
        .args(["20", "dot", "-Tplain"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(question(graph).as_bytes()).unwrap();
    answer(graph, &String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap())
}

fn question(graph: &Graph) -> String {
    let direction = if graph.direction == Direction::Right { "LR" } else { "TB" };
    let (nodes, ranks) = (graph.separation.nodes / POINTS_PER_INCH, graph.separation.ranks / POINTS_PER_INCH);
    let mut text = format!(
        "digraph {{ graph [rankdir={direction} nodesep={nodes} ranksep={ranks}]; node [shape=box fixedsize=true label=\"\"]; edge [arrowhead=none];\n"
    );
    for (index, node) in graph.nodes.iter().enumerate() {
        let (width, height) = (node.width / POINTS_PER_INCH, node.height / POINTS_PER_INCH);
        writeln!(text, "{index} [width={width:.4} height={height:.4}];").unwrap();
        match node.limit {
            iotrail_layout::RankLimit::First => writeln!(text, "{{rank=source; {index}}}").unwrap(),
            iotrail_layout::RankLimit::Last => writeln!(text, "{{rank=sink; {index}}}").unwrap(),
            iotrail_layout::RankLimit::Free => {}
        }
    }
    for edge in &graph.edges {
        write!(text, "{} -> {} [weight={}", edge.from, edge.to, edge.weight).unwrap();
        let (width, height) = edge.label;
        if width > 0.0 {
            write!(
                text,
                " label=<<table border=\"0\" cellpadding=\"0\" cellspacing=\"0\" fixedsize=\"true\" width=\"{width:.0}\" height=\"{height:.0}\"><tr><td></td></tr></table>>"
            )
            .unwrap();
        }
        text.push_str("];\n");
    }
    text + "}\n"
}

/// Of the plain format, whose lines of edges are grouped by their first node but keep their ends.
fn answer(graph: &Graph, text: &str) -> Layout {
    let mut height = 0.0;
    let mut layout = Layout {
        nodes: vec![Rect::default(); graph.nodes.len()],
        routes: vec![Route::default(); graph.edges.len()],
        labels: vec![None; graph.edges.len()],
        ..Layout::default()
    };
    let mut open: Vec<bool> = vec![true; graph.edges.len()];
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| words[at].parse::<f64>().unwrap();
        let point =
            |at: usize| Point::new(number(at) * POINTS_PER_INCH, (height - number(at + 1)) * POINTS_PER_INCH);
        match words[0] {
            "graph" => height = number(3),
            "node" => {
                let index: usize = words[1].parse().unwrap();
                let node = &graph.nodes[index];
                layout.nodes[index] = Rect::around(point(2), (node.width, node.height));
            }
            "edge" => {
                let ends = (words[1].parse().unwrap(), words[2].parse().unwrap());
                let count: usize = words[3].parse().unwrap();
                let points: Vec<Point> = (0..count).map(|at| point(4 + 2 * at)).collect();
                let index = (0..graph.edges.len())
                    .find(|index| open[*index] && (graph.edges[*index].from, graph.edges[*index].to) == ends)
                    .unwrap();
                open[index] = false;
                let curves =
                    points[1..].chunks_exact(3).map(|three| [three[0], three[1], three[2]]).collect();
                layout.routes[index] = Route { start: points[0], curves };
                let rest = 4 + 2 * count;
                if words.len() > rest + 4 {
                    layout.labels[index] = Some(Rect::around(point(rest + 1), graph.edges[index].label));
                }
            }
            _ => {}
        }
    }
    let all = measure::extent(&layout);
    (layout.width, layout.height) = (all.width, all.height);
    layout
}

fn svg(layout: &Layout) -> String {
    let all = measure::extent(layout).grown(6.0);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"{} {} {} {}\" width=\"{}\" height=\"{}\"><rect x=\"{}\" y=\"{}\" width=\"100%\" height=\"100%\" fill=\"white\"/>",
        all.x, all.y, all.width, all.height, all.width, all.height, all.x, all.y
    );
    for route in &layout.routes {
        write!(text, "<path fill=\"none\" stroke=\"#06c\" d=\"M{} {}", route.start.x, route.start.y).unwrap();
        for [a, b, end] in &route.curves {
            write!(text, "C{} {} {} {} {} {}", a.x, a.y, b.x, b.y, end.x, end.y).unwrap();
        }
        let end = route.end();
        write!(text, "\"/><circle cx=\"{}\" cy=\"{}\" r=\"3\" fill=\"#06c\"/>", end.x, end.y).unwrap();
    }
    let labels = layout.labels.iter().flatten().map(|rect| (rect, "#fffc", "#aaa"));
    for (rect, fill, stroke) in layout.nodes.iter().map(|rect| (rect, "#eee", "#333")).chain(labels) {
        write!(
            text,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{fill}\" stroke=\"{stroke}\"/>",
            rect.x, rect.y, rect.width, rect.height
        )
        .unwrap();
    }
    text + "</svg>"
}
