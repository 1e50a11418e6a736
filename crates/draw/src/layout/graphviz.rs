//! Graphviz `dot` as an engine, when it is installed and answers in time.
//!
//! It gets sizes, never names, on its standard input, and is killed when it takes too long: on 76 nodes and 1,312 edges
//! it needs a minute.

use super::geometry::{Point, Rect, Route};
use super::{END_VERTEX, Graph, LayoutEngine, Link, Placement, START_VERTEX};
use crate::error::DrawError;
use serde::Deserialize;
use std::fmt::Write as _;
use std::io::{Read, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// The program and how long it may take.
pub(super) struct Graphviz {
    pub(super) program: &'static str,
    pub(super) limit: Duration,
}

impl Default for Graphviz {
    fn default() -> Self {
        Self { program: "dot", limit: Duration::from_secs(4) }
    }
}

const POINTS_PER_INCH: f64 = 72.0;
const BESIDE: f64 = 7.0;

impl LayoutEngine for Graphviz {
    fn name(&self) -> &'static str {
        "dot"
    }

    fn place(&self, graph: &Graph) -> Result<Placement, DrawError> {
        let answer = self.ask(question(graph)).map_err(DrawError::Graphviz)?;
        let answer: Option<Answer> = serde_json::from_str(&answer).ok();
        let placement = answer.and_then(|answer| answer.placement(graph));
        placement.ok_or_else(|| {
            DrawError::Graphviz("its answer is not the JSON of Graphviz 2.40 or later".to_owned())
        })
    }
}

impl Graphviz {
    fn ask(&self, question: String) -> Result<String, String> {
        let mut child = Command::new(self.program)
            .arg("-Tjson0")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("cannot start `{}`: {error}", self.program))?;
        let answer = self.talk(&mut child, question);
        if answer.is_err() {
            // It may have ended by itself in the meantime.
            let _ = child.kill();
        }
        let status = child.wait().map_err(|error| error.to_string())?;
        let answer = answer?;
        if status.success() { Ok(answer) } else { Err(format!("`{}` ended with {status}", self.program)) }
    }

    /// Writes and reads in threads of their own, because both sides may wait for each other.
    fn talk(&self, child: &mut Child, question: String) -> Result<String, String> {
        let (Some(mut input), Some(mut output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("it has no standard input or output".to_owned());
        };
        // A write fails only if the program ended early, which its exit status tells.
        std::thread::spawn(move || input.write_all(question.as_bytes()));
        let (sender, answer) = mpsc::channel();
        std::thread::spawn(move || {
            let mut text = String::new();
            let read = output.read_to_string(&mut text).map(|_| text);
            // Nobody listens any more after the time limit.
            let _ = sender.send(read);
        });
        match answer.recv_timeout(self.limit) {
            Ok(text) => text.map_err(|error| error.to_string()),
            Err(_) => Err(format!("no answer within {} s", self.limit.as_secs_f64())),
        }
    }
}

fn question(graph: &Graph) -> String {
    let direction = if graph.sideways { "LR" } else { "TB" };
    let mut text = format!(
        "digraph {{ graph [rankdir={direction} nodesep=0.3 ranksep=0.3]; node [shape=box fixedsize=true label=\"\"]; edge [arrowhead=none];\n"
    );
    let inches = |points: f64| points / POINTS_PER_INCH;
    // Writing to a String cannot fail.
    for (index, (width, height)) in graph.sizes.iter().enumerate() {
        let _ = writeln!(text, "{index} [width={:.4} height={:.4}];", inches(*width), inches(*height));
    }
    if graph.framed {
        let _ = writeln!(text, "{{rank=source; {START_VERTEX}}} {{rank=sink; {END_VERTEX}}}");
    }
    for (index, Link { from, to, label: (width, height), weight }) in graph.edges.iter().enumerate() {
        if *width <= 0.0 {
            let _ = writeln!(text, "{from} -> {to} [id={index} weight={weight}];");
            continue;
        }
        // `dot` puts the middle of a label beside the line: the extra width keeps the label off a wide line.
        let (width, height) =
            if graph.sideways { (*width, height + BESIDE) } else { (width + BESIDE, *height) };
        let _ = writeln!(
            text,
            "{from} -> {to} [id={index} weight={weight} label=<<table border=\"0\" cellpadding=\"0\" cellspacing=\"0\" \
             fixedsize=\"true\" width=\"{width:.0}\" height=\"{height:.0}\"><tr><td></td></tr></table>>];"
        );
    }
    text.push_str("}\n");
    text
}

/// What is read of the `json0` format; points, y upwards.
#[derive(Deserialize)]
struct Answer {
    bb: String,
    objects: Vec<Vertex>,
    #[serde(default)]
    edges: Vec<Edge>,
}

#[derive(Deserialize)]
struct Vertex {
    name: String,
    pos: Option<String>,
}

#[derive(Deserialize)]
struct Edge {
    id: String,
    pos: String,
    lp: Option<String>,
}

impl Answer {
    fn placement(&self, graph: &Graph) -> Option<Placement> {
        let flip = Flip { height: numbers(&self.bb)?.get(3).copied()? };
        let mut vertices = vec![None; graph.sizes.len()];
        for (vertex, place) in self.objects.iter().filter_map(|vertex| Some((vertex, vertex.pos.as_deref()?)))
        {
            let index: usize = vertex.name.parse().ok()?;
            *vertices.get_mut(index)? = Some(Rect::around(flip.point(place)?, graph.sizes[index]));
        }
        let mut edges = vec![None; graph.edges.len()];
        for edge in &self.edges {
            let route = flip.route(&edge.pos)?;
            let label =
                edge.lp.as_deref().and_then(|place| flip.point(place)).unwrap_or_else(|| route.at(0.5));
            *edges.get_mut(edge.id.parse::<usize>().ok()?)? = Some((route, label));
        }
        let edges: Vec<(Route, Point)> = edges.into_iter().collect::<Option<_>>()?;
        let (routes, labels) = edges.into_iter().unzip();
        Some(Placement { vertices: vertices.into_iter().collect::<Option<_>>()?, routes, labels })
    }
}

struct Flip {
    height: f64,
}

impl Flip {
    fn point(&self, text: &str) -> Option<Point> {
        match numbers(text)?.as_slice() {
            [x, y] => Some(Point::new(*x, self.height - y)),
            _ => None,
        }
    }

    /// The first of the splines; `dot` splits only parallel edges of concentrated graphs, which we never ask for.
    fn route(&self, text: &str) -> Option<Route> {
        let spline = text.split(';').next()?;
        let points: Vec<Point> = spline.split(' ').map(|point| self.point(point)).collect::<Option<_>>()?;
        let (start, rest) = points.split_first()?;
        let curves = rest.chunks_exact(3).map(|three| [three[0], three[1], three[2]]).collect();
        Some(Route { start: *start, curves })
    }
}

fn numbers(text: &str) -> Option<Vec<f64>> {
    text.split(',').map(|number| number.parse().ok().filter(|value: &f64| value.is_finite())).collect()
}
