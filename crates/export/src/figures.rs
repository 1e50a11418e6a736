//! What a graph, a vertex and an edge tell, as named values: the same in every format that holds attributes.
//!
//! A figure that is unknown is left out, never 0. Names are words of letters, digits and `_`, as GML wants them.

use crate::workflow::WriteOptions;
use iotrail_model::{ENVIRONMENT_DIGEST, Nanos, Timestamp};
use iotrail_workflow::{Edge, Facts, FileVertex, Graph, ProcessVertex, Vertex};

/// A value of a type that formats tell apart.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Text.
    Text(String),
    /// A count, bytes, nanoseconds.
    Whole(i64),
    /// A share or a rate.
    Real(f64),
    /// Yes or no.
    Bool(bool),
}

/// Names and values, in the order in which they are written.
pub type Figures = Vec<(String, Value)>;

/// Of the whole graph.
pub(crate) fn of_graph(graph: &Graph, options: &WriteOptions) -> Figures {
    let mut figures = Figures::new();
    text(&mut figures, "title", Some(&options.title()));
    text(&mut figures, "sources", Some(&options.sources.join(", ")));
    count(&mut figures, "vertices", graph.vertices.len() as u64);
    count(&mut figures, "edges", graph.edges.len() as u64);
    time(&mut figures, "start_ns", graph.span.map(|span| span.0));
    time(&mut figures, "end_ns", graph.span.map(|span| span.1));
    text(&mut figures, "history", some(&graph.history.join("; ")));
    text(&mut figures, "notes", some(&graph.notes.join(" ")));
    let hidden: u64 = graph.left_out.vertices.iter().map(|(_, number)| number).sum();
    count(&mut figures, "left_out_vertices", hidden);
    count(&mut figures, "left_out_edges", graph.left_out.edges);
    count(&mut figures, "left_out_bytes", graph.left_out.bytes);
    figures
}

/// Of a vertex.
pub(crate) fn of_vertex(graph: &Graph, vertex: &Vertex) -> Figures {
    let mut figures = Figures::new();
    text(&mut figures, "label", Some(&vertex.label));
    text(&mut figures, "key", Some(&vertex.key));
    let phase = vertex.phase.and_then(|phase| graph.phases.get(phase as usize));
    text(&mut figures, "phase", phase.map(|phase| &**phase));
    count(&mut figures, "members", u64::from(vertex.members));
    match &vertex.facts {
        Facts::Process(process) => of_process(&mut figures, process, vertex.time),
        Facts::File(file) => of_file(&mut figures, file),
    }
    figures
}

fn of_process(figures: &mut Figures, process: &ProcessVertex, lifetime: Option<Nanos>) {
    text(figures, "kind", Some("process"));
    count(figures, "pid", u64::from(process.pid));
    count(figures, "part", u64::from(process.part));
    text(figures, "exe", process.exe.as_deref());
    text(figures, "command", process.cmdline.as_deref().map(command).as_deref());
    text(figures, "cwd", process.cwd.as_deref());
    text(figures, "host", process.host.as_deref());
    text(figures, "case", Some(&process.case));
    let kept: Vec<&str> = process
        .env
        .iter()
        .map(String::as_str)
        .filter(|entry| !entry.starts_with(ENVIRONMENT_DIGEST))
        .collect();
    text(figures, "env", some(&kept.join("\n")));
    time(figures, "start_ns", process.start);
    time(figures, "end_ns", process.end);
    figures.extend(lifetime.map(|lifetime| ("lifetime_ns".to_owned(), Value::Whole(lifetime.0))));
    figures.extend(process.cpu.map(|cpu| ("cpu_ns".to_owned(), Value::Whole(cpu.0))));
    figures.extend(process.exit_code.map(|code| ("exit_code".to_owned(), Value::Whole(code.into()))));
    text(figures, "signal", process.signal.as_deref());
}

fn of_file(figures: &mut Figures, file: &FileVertex) {
    text(figures, "kind", Some("file"));
    text(figures, "path", Some(&file.path));
    let names: Vec<&str> = file.names.iter().map(|name| &**name).collect();
    text(figures, "further_names", some(&names.join("\n")));
    text(figures, "file_kind", file.kind.map(iotrail_model::FileKind::name));
    count(figures, "version", u64::from(file.version));
    figures.push(("last_version".to_owned(), Value::Bool(file.last)));
    figures.extend(file.size.map(|size| ("size".to_owned(), Value::Whole(size))));
    count(figures, "readers", u64::from(file.readers));
    count(figures, "writers", u64::from(file.writers));
}

/// Of an edge.
pub(crate) fn of_edge(edge: &Edge) -> Figures {
    let mut figures = Figures::new();
    text(&mut figures, "relation", Some(edge.relation.name()));
    count(&mut figures, "members", u64::from(edge.members));
    if edge.relation.moves_data() {
        count(&mut figures, "bytes", edge.bytes());
        count(&mut figures, "calls", edge.calls());
        count(&mut figures, "bytes_read", edge.read.bytes);
        count(&mut figures, "bytes_written", edge.written.bytes);
        figures.extend(edge.elapsed().map(|time| ("elapsed_ns".to_owned(), Value::Whole(time.0))));
        figures.extend(edge.rate().map(|rate| ("bytes_per_second".to_owned(), Value::Real(rate))));
    }
    time(&mut figures, "first_ns", edge.first);
    time(&mut figures, "last_ns", edge.last);
    figures
}

/// A command line with blanks between its arguments: for reading, not for running.
pub(crate) fn command(cmdline: &str) -> String {
    cmdline.trim_end_matches('\0').replace('\0', " ")
}

fn text(figures: &mut Figures, name: &str, value: Option<&str>) {
    figures.extend(value.map(|value| (name.to_owned(), Value::Text(value.to_owned()))));
}

/// A list of nothing is left out.
fn some(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

/// Beyond what 63 bits hold there is no exact type in these formats; the nearest is the largest.
fn count(figures: &mut Figures, name: &str, value: u64) {
    figures.push((name.to_owned(), Value::Whole(i64::try_from(value).unwrap_or(i64::MAX))));
}

fn time(figures: &mut Figures, name: &str, value: Option<Timestamp>) {
    figures.extend(value.map(|value| (name.to_owned(), Value::Whole(value.0))));
}

/// What a vertex is called where versions of one file stand side by side: the first goes without its number.
pub(crate) fn short_name(vertex: &Vertex) -> String {
    match vertex.file() {
        Some(file) if file.version > 1 && vertex.members == 1 => format!("{}@{}", vertex.label, file.version),
        _ => vertex.label.to_string(),
    }
}
