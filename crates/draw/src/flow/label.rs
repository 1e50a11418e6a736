//! What is written on vertices and edges of a workflow.

use crate::font::{self, Weight};
use crate::furniture::cut;
use iotrail_model::text::shown;
use iotrail_model::{text, units};
use iotrail_workflow::graph::{Edge, Facts, FileVertex, Graph, ProcessVertex, Vertex};

const NAME_SIZE: f64 = 12.0;
const FIGURE_SIZE: f64 = 10.5;
/// Size of the labels of edges.
pub(super) const EDGE_SIZE: f64 = 10.0;
const LEADING: f64 = 1.25;
/// Widest line, points.
const WIDEST: f64 = 190.0;
const LONGEST_NAME: usize = 32;

/// A line on a vertex.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) size: f64,
    pub(super) weight: Weight,
}

impl Line {
    fn new(text: &str, size: f64, weight: Weight) -> Self {
        Self { text: cut(text, size, weight, WIDEST), size, weight }
    }

    fn width(&self) -> f64 {
        font::width(&self.text, self.size, self.weight)
    }

    pub(super) fn height(&self) -> f64 {
        self.size * LEADING
    }
}

/// The lines of a vertex: the name, what else tells it from others, its time or its size.
pub(super) fn lines(vertex: &Vertex) -> Vec<Line> {
    let weight = if vertex.process().is_some() { Weight::Bold } else { Weight::Regular };
    let mut lines = vec![Line::new(&name(vertex), NAME_SIZE, weight)];
    let small = match &vertex.facts {
        Facts::Process(process) => process_lines(vertex, process),
        Facts::File(file) => file_lines(vertex, file),
    };
    lines.extend(small.into_iter().map(|text| Line::new(&text, FIGURE_SIZE, Weight::Regular)));
    lines
}

/// Width and height of the lines.
pub(super) fn extent(lines: &[Line]) -> (f64, f64) {
    (lines.iter().map(Line::width).fold(0.0, f64::max), lines.iter().map(Line::height).sum())
}

/// `63 × mDiffFit` of several, unless the name says so itself.
fn name(vertex: &Vertex) -> String {
    let name = shown(&vertex.label, LONGEST_NAME);
    let counted = format!("{} x ", vertex.members);
    match vertex.members {
        0 | 1 => name,
        _ if name.starts_with(&counted) => name,
        many => format!("{} × {name}", units::count(u64::from(many))),
    }
}

/// The time that it stands for, if it is known and any.
fn known_time(vertex: &Vertex) -> Option<String> {
    vertex.time.filter(|time| time.0 > 0).map(|time| units::duration(time.0 as f64))
}

/// The arguments of one process; the time of all.
fn process_lines(vertex: &Vertex, process: &ProcessVertex) -> Vec<String> {
    let arguments = process.cmdline.as_deref().filter(|_| vertex.members <= 1).and_then(arguments);
    let time = known_time(vertex);
    let time = time.map(|time| if vertex.members > 1 { format!("{time} in all") } else { time });
    let part = (process.part > 1 && vertex.members <= 1).then(|| format!("part {}", process.part));
    arguments.into_iter().chain([part, time].into_iter().flatten()).collect()
}

/// What follows the command in a command line.
fn arguments(cmdline: &str) -> Option<String> {
    let (_, rest) = cmdline.trim_end_matches('\0').split_once('\0')?;
    Some(text::shorten(&text::printable(&rest.replace('\0', " ")), 34).into_owned())
}

fn file_lines(vertex: &Vertex, file: &FileVertex) -> Vec<String> {
    if vertex.members > 1 {
        return Vec::new();
    }
    let version = (file.version > 1 || !file.last).then(|| format!("version {}", file.version));
    let kind = file.kind.filter(|kind| kind.name() != "file").map(|kind| kind.name().to_owned());
    let size = file.size.filter(|size| *size >= 0).map(|size| units::bytes(size as f64));
    let facts: Vec<String> = [kind, version, size].into_iter().flatten().collect();
    if facts.is_empty() { Vec::new() } else { vec![facts.join(", ")] }
}

/// `1.20 MB, 350 MB/s`; nothing on edges without bytes.
pub(super) fn edge(edge: &Edge) -> Option<String> {
    let bytes = (edge.bytes() > 0).then(|| units::bytes(edge.bytes() as f64))?;
    Some(match edge.rate() {
        Some(rate) => format!("{bytes}, {}", units::rate(rate)),
        None => bytes,
    })
}

/// Width and height of such a label, with the room that a wide line and its head need beside it.
pub(super) fn edge_size(edge_label: &str) -> (f64, f64) {
    (font::width(edge_label, EDGE_SIZE, Weight::Regular) + 2.0 * BESIDE, EDGE_SIZE + 4.0)
}

/// How much wider at each side the label is than its text.
pub(super) const BESIDE: f64 = 7.0;

/// Everything about a vertex, for its tooltip.
pub(super) fn vertex_title(vertex: &Vertex, graph: &Graph) -> String {
    let mut lines = Vec::new();
    match &vertex.facts {
        Facts::Process(process) => {
            let command =
                process.cmdline.as_deref().map(|line| line.trim_end_matches('\0').replace('\0', " "));
            lines.push(shown(command.as_deref().unwrap_or(&vertex.label), 400));
            lines.push(format!("process {}, part {}", process.pid, process.part));
            lines.extend(known_time(vertex).map(|time| format!("time {time}")));
        }
        Facts::File(file) => {
            lines.push(shown(&file.path, 400));
            lines.push(format!(
                "version {}, {}, {}",
                file.version,
                units::counted(file.readers.into(), "reader", "readers"),
                units::counted(file.writers.into(), "writer", "writers")
            ));
        }
    }
    if vertex.members > 1 {
        lines.push(format!("the first of {}", units::count(u64::from(vertex.members))));
    }
    let phase = vertex.phase.and_then(|phase| graph.phases.get(phase as usize));
    lines.extend(phase.map(|phase| format!("group {}", shown(phase, 80))));
    lines.join("\n")
}

/// Everything about an edge, for its tooltip.
pub(super) fn edge_title(edge: &Edge, graph: &Graph) -> String {
    let name = |vertex: &Vertex| shown(&vertex.label, 80);
    let mut lines = vec![format!(
        "{} → {}: {}",
        name(graph.vertex(edge.from)),
        name(graph.vertex(edge.to)),
        edge.relation.name()
    )];
    for (word, transfer) in [("read", &edge.read), ("written", &edge.written)] {
        if transfer.calls > 0 || transfer.bytes > 0 {
            let time = transfer
                .elapsed
                .map_or_else(String::new, |time| format!(", {}", units::duration(time.0 as f64)));
            let bytes = units::counted(transfer.bytes, "byte", "bytes");
            let calls = units::counted(transfer.calls, "call", "calls");
            lines.push(format!("{word}: {bytes} in {calls}{time}"));
        }
    }
    if edge.members > 1 {
        lines.push(format!("{} edges", units::count(u64::from(edge.members))));
    }
    lines.join("\n")
}
