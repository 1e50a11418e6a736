//! What `iotrail workflow` says in a terminal: what there is, where the time between the first start and the last end went,
//! what is slow, what behaves alike, what is not shown.

use crate::hints::Hint;
use crate::table::{Align, Block, Style, Table};
use iotrail_model::{Nanos, Resolution, units};
use iotrail_workflow::cycles::cycles;
use iotrail_workflow::graph::{FileView, Graph, Relation, Vertex};
use iotrail_workflow::ops::table::{
    BottleneckRow, ClusterRow, DegreeRow, ExecutedRow, HeaviestRow, PathRow, Rows, SlackRow,
};
use iotrail_workflow::ops::{self, Weight};
use std::collections::{BTreeMap, BTreeSet};

/// Rows of each table of the summary.
const SHOWN: usize = 8;
/// Cycles that are named.
const CYCLES: usize = 5;
/// Vertices that are named of a cycle.
const CYCLE_VERTICES: usize = 8;

/// The summary of a graph, ending in a line break.
#[must_use]
pub fn workflow_summary(graph: &Graph, weight: Weight, style: Style) -> String {
    let mut sections = vec![overview(graph, style), phases(graph, style)];
    match ops::critical_executed(graph) {
        Ok(executed) if !executed.steps.is_empty() => {
            sections.push(workflow_table(&ops::table::executed(graph, &executed), SHOWN, style));
        }
        Ok(_) => {}
        Err(error) => sections.push(note(&format!("no critical path as executed: {error}"), style)),
    }
    match ops::critical_static(graph, weight) {
        // Without times, nothing weighs anything.
        Ok(critical) if !critical.steps.is_empty() && (graph.span.is_some() || weight != Weight::Time) => {
            sections.push(workflow_table(&ops::table::heaviest(graph, &critical), SHOWN, style));
        }
        Ok(_) => {}
        Err(error) => sections.push(note(&format!("no heaviest path: {error}"), style)),
    }
    let slow = ops::table::bottlenecks(graph);
    if matches!(&slow.rows, Rows::Bottlenecks(rows) if !rows.is_empty()) {
        sections.push(workflow_table(&slow, SHOWN, style));
    }
    if !is_joined(graph) {
        sections.push(workflow_table(&ops::table::clusters(graph), SHOWN, style));
    }
    sections.push(cycles_of(graph, style));
    sections.push(graph.notes.iter().map(|text| note(text, style)).collect());
    sections.push(style.hint(Hint::WholeTables));
    sections.retain(|section| !section.is_empty());
    sections.join("\n")
}

fn note(text: &str, style: Style) -> String {
    let lines =
        crate::table::wrap(&iotrail_model::text::printable(text), style.width.saturating_sub(6).max(20));
    format!("{} {}\n", style.dim("note:"), lines.join("\n      "))
}

fn is_joined(graph: &Graph) -> bool {
    graph.vertices.iter().any(|vertex| vertex.members > 1)
}

fn overview(graph: &Graph, style: Style) -> String {
    let mut block = Block::new();
    for sentence in &graph.history {
        block.entry("operation", sentence.clone());
    }
    let processes: BTreeSet<_> = graph
        .vertices
        .iter()
        .filter_map(|vertex| Some((vertex.process()?.process, vertex.members > 1)))
        .collect();
    let parts = graph.vertices.iter().filter(|vertex| vertex.process().is_some()).count();
    let members = |is_file: bool| -> u64 {
        let chosen = graph.vertices.iter().filter(|vertex| vertex.file().is_some() == is_file);
        chosen.map(|vertex| u64::from(vertex.members)).sum()
    };
    let joined = is_joined(graph);
    let whole: BTreeSet<u32> = graph.vertices.iter().filter_map(|vertex| Some(vertex.file()?.file)).collect();
    let files = graph.vertices.len() - parts;
    if joined {
        let of = |count: usize, all: u64, one: &str, many: &str| {
            format!(
                "{} for {}",
                units::counted(count as u64, "vertex", "vertices"),
                units::counted(all, one, many)
            )
        };
        block.entry("processes", of(parts, members(false), "process", "processes"));
        block.entry("files", of(files, members(true), "version of a file", "versions of files"));
    } else {
        let (processes, count) = (processes.len() as u64, parts as u64);
        let split =
            if count > processes { format!(" in {} parts", units::count(count)) } else { String::new() };
        block.entry("processes", format!("{}{split}", units::count(processes)));
        let versions = match graph.view {
            FileView::Version if files > whole.len() => {
                format!(" in {} versions", units::count(files as u64))
            }
            _ => String::new(),
        };
        block.entry("files", format!("{}{versions}", units::count(whole.len() as u64)));
    }
    block.entry("edges", edges(graph));
    let sum = |bytes: fn(&iotrail_workflow::Edge) -> u64| {
        graph.edges.iter().map(bytes).fold(0, u64::saturating_add)
    };
    let (read, written) = (sum(|edge| edge.read.bytes), sum(|edge| edge.written.bytes));
    block.entry(
        "bytes moved",
        format!("{} read, {} written, by calls", units::bytes(read as f64), units::bytes(written as f64)),
    );
    let recorded = graph.span.map(|(first, _)| {
        let lasts = graph.elapsed().map(|span| format!("{} ", units::duration(span.0 as f64)));
        format!("{}from {}", lasts.unwrap_or_default(), first.to_rfc3339())
    });
    block.entry("recorded", recorded.unwrap_or_else(|| "–".to_owned()));
    if let Some(text) = left_out(graph) {
        block.entry("not shown", text);
    }
    block.render(style)
}

fn edges(graph: &Graph) -> String {
    let mut counts: BTreeMap<Relation, u64> = BTreeMap::new();
    for edge in &graph.edges {
        *counts.entry(edge.relation).or_default() += 1;
    }
    let parts: Vec<String> = counts
        .iter()
        .map(|(relation, count)| format!("{} {}", units::count(*count), relation.name()))
        .collect();
    let all = units::count(graph.edges.len() as u64);
    if parts.is_empty() { all } else { format!("{all} ({})", parts.join(", ")) }
}

fn left_out(graph: &Graph) -> Option<String> {
    let left_out = &graph.left_out;
    let mut parts = left_out.counted();
    if left_out.edges > 0 {
        let bytes = units::bytes(left_out.bytes as f64);
        parts.push(format!("{} with {bytes}", units::counted(left_out.edges, "edge", "edges")));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

#[derive(Default)]
struct Phase {
    processes: u64,
    lifetime: u64,
    /// Whether the lifetime of one of them is not known, nor then the sum.
    incomplete: bool,
    start: Option<i64>,
    end: Option<i64>,
    read: u64,
    written: u64,
}

/// A row for each phase that has processes, the first to start first.
fn phases(graph: &Graph, style: Style) -> String {
    let mut found: BTreeMap<u32, Phase> = BTreeMap::new();
    let mut processes = BTreeSet::new();
    for vertex in &graph.vertices {
        let (Some(process), Some(phase)) = (vertex.process(), vertex.phase) else { continue };
        let row = found.entry(phase).or_default();
        if vertex.members > 1 || processes.insert(process.process) {
            row.processes += u64::from(vertex.members);
        }
        row.incomplete |= vertex.time.is_none();
        row.lifetime = row.lifetime.saturating_add(vertex.time.map_or(0, |time| time.0.unsigned_abs()));
        row.start = row.start.into_iter().chain(process.start.map(|at| at.0)).min();
        row.end = row.end.max(process.end.map(|at| at.0));
    }
    for edge in &graph.edges {
        let ends = [edge.from, edge.to].map(|end| graph.vertex(end));
        let Some(process) = ends.iter().find(|vertex| vertex.process().is_some()) else { continue };
        if let Some(row) = process.phase.and_then(|phase| found.get_mut(&phase)) {
            row.read = row.read.saturating_add(edge.read.bytes);
            row.written = row.written.saturating_add(edge.written.bytes);
        }
    }
    if found.is_empty() {
        return String::new();
    }
    let mut table = Table::new()
        .names("phase")
        .figures("processes", Align::Right)
        .figures("begins", Align::Right)
        .figures("lasts", Align::Right)
        .optional("lifetimes", Align::Right)
        .figures("read", Align::Right)
        .figures("written", Align::Right);
    let first = graph.span.map(|(first, _)| first.0);
    let unknown = || "–".to_owned();
    let span = |from: Option<i64>, to: Option<i64>| {
        let known =
            from.zip(to).and_then(|(from, to)| graph.resolution.known_span(Nanos(to.saturating_sub(from))));
        known.map_or_else(unknown, |span| units::duration(span.0 as f64))
    };
    for (phase, row) in found {
        table.row([
            graph.phases.get(phase as usize).map_or_else(unknown, ToString::to_string),
            units::count(row.processes),
            after(first, row.start, graph.resolution),
            span(row.start, row.end),
            row.start
                .filter(|_| !row.incomplete)
                .map_or_else(unknown, |_| units::duration(row.lifetime as f64)),
            units::bytes(row.read as f64),
            units::bytes(row.written as f64),
        ]);
    }
    format!("{}\n{}", style.bold("Phases"), table.render(style))
}

/// How long after the first sign of the log a phase begins.
fn after(first: Option<i64>, start: Option<i64>, resolution: Resolution) -> String {
    let between = first.zip(start).map(|(first, start)| Nanos(start.saturating_sub(first)));
    let known = between.and_then(|span| resolution.known_span(span));
    known.map_or_else(|| "–".to_owned(), |span| format!("+{}", units::duration(span.0 as f64)))
}

fn cycles_of(graph: &Graph, style: Style) -> String {
    let found = cycles(graph);
    if found.is_empty() {
        return String::new();
    }
    let mut out = style.bold("Cycles");
    let count = units::counted(found.len() as u64, "group", "groups");
    out.push_str(&format!(": {count} of vertices that depend on each other\n"));
    for cycle in found.iter().take(CYCLES) {
        let mut names: Vec<String> = cycle
            .iter()
            .take(CYCLE_VERTICES)
            .map(|vertex| iotrail_model::text::printable(&named(graph.vertex(*vertex))).into_owned())
            .collect();
        if cycle.len() > CYCLE_VERTICES {
            names.push(format!("… ({} in all)", cycle.len()));
        }
        out.push_str(&format!("  {}\n", names.join(", ")));
    }
    if found.len() > CYCLES {
        out.push_str(&format!("  and {} more\n", units::count((found.len() - CYCLES) as u64)));
    }
    out
}

/// A file by its key, a process by what it is called too.
fn named(vertex: &Vertex) -> String {
    if vertex.file().is_some() || vertex.key == vertex.label {
        vertex.key.to_string()
    } else {
        format!("{} {}", vertex.label, vertex.key)
    }
}

/// A table with at most `limit` rows, ending in a line break.
#[must_use]
pub fn workflow_table(table: &ops::Table, limit: usize, style: Style) -> String {
    let (body, rest) = match &table.rows {
        Rows::Heaviest(rows) => heaviest(rows, limit),
        Rows::Executed(rows) => executed(rows, limit),
        Rows::Slack(rows) => slack(rows, limit),
        Rows::Bottlenecks(rows) => bottlenecks(rows, limit),
        Rows::Degrees(rows) => degrees(rows, limit),
        Rows::Clusters(rows) => clusters(rows, limit),
        Rows::Paths(rows) => paths(rows, limit),
    };
    let mut name = table.name.to_owned();
    if let Some(first) = name.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    let mut out = format!("{}: {}\n", style.bold(&name), summary_of(table));
    if !body.is_empty() {
        out.push_str(&body.render(style));
    }
    if let Some(rest) = rest {
        out.push_str(&style.dim(&rest));
        out.push('\n');
    }
    for text in &table.notes {
        out.push_str(&note(text, style));
    }
    out
}

/// The summary with times for people.
fn summary_of(table: &ops::Table) -> String {
    match &table.rows {
        Rows::Executed(rows) if !rows.is_empty() => {
            let gaps: i64 = rows.iter().filter(|row| row.key.is_none()).map(|row| row.span_ns).sum();
            let all: i64 = rows.iter().map(|row| row.span_ns).sum();
            let steps = units::counted(rows.len() as u64, "step", "steps");
            let (all, gaps) = (units::duration(all as f64), units::duration(gaps as f64));
            format!("{all} in {steps}, {gaps} in gaps\n{}", by_phase(rows))
        }
        Rows::Heaviest(rows) => match rows.last() {
            Some(last) => {
                let vertices = units::counted(rows.len() as u64, "vertex", "vertices");
                format!("{} in {vertices}", amount(last.sum, last.unit))
            }
            None => table.summary.clone(),
        },
        _ => table.summary.clone(),
    }
}

/// `By phase: mDiff 38.0 %, …`, the largest share first.
fn by_phase(rows: &[ExecutedRow]) -> String {
    let mut shares: BTreeMap<&str, f64> = BTreeMap::new();
    for row in rows {
        let phase = row.phase.as_deref().or(row.label.as_deref()).unwrap_or("(gaps)");
        *shares.entry(phase).or_default() += row.share.unwrap_or(0.0);
    }
    let mut shares: Vec<(&str, f64)> = shares.into_iter().collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
    let shown = |(phase, share): &(&str, f64)| {
        format!("{} {}", iotrail_model::text::printable(phase), units::percent(*share))
    };
    let rest = if shares.len() > SHOWN { ", …" } else { "" };
    format!("By phase: {}{rest}", shares.iter().take(SHOWN).map(shown).collect::<Vec<_>>().join(", "))
}

fn amount(value: Option<u64>, unit: &str) -> String {
    let Some(value) = value else { return "–".to_owned() };
    match unit {
        "ns" => units::duration(value as f64),
        "bytes" => units::bytes(value as f64),
        _ => units::count(value),
    }
}

/// The `limit` rows with the largest figure, in their order, and a sentence on the rest.
fn largest<'a, T>(
    rows: &'a [T],
    limit: usize,
    figure: impl Fn(&T) -> u64,
    what: &str,
) -> (Vec<&'a T>, Option<String>) {
    let mut places: Vec<usize> = (0..rows.len()).collect();
    places.sort_by_key(|index| (std::cmp::Reverse(figure(&rows[*index])), *index));
    let hidden = places.split_off(limit.min(places.len()));
    places.sort_unstable();
    let rest = (!hidden.is_empty()).then(|| format!("and {} {what}", units::count(hidden.len() as u64)));
    (places.into_iter().map(|index| &rows[index]).collect(), rest)
}

fn first<T>(rows: &[T], limit: usize) -> (&[T], Option<String>) {
    let shown = &rows[..limit.min(rows.len())];
    let rest = rows.len() - shown.len();
    (shown, (rest > 0).then(|| format!("and {} more", units::count(rest as u64))))
}

fn heaviest(rows: &[HeaviestRow], limit: usize) -> (Table, Option<String>) {
    let (shown, rest) = largest(rows, limit, |row| row.weight.unwrap_or(0), "lighter vertices");
    let mut table = Table::new()
        .figures("weight", Align::Right)
        .figures("share", Align::Right)
        .figures("by", Align::Left)
        .names("vertex")
        .names("name");
    for row in shown {
        table.row([
            amount(row.weight, row.unit),
            share(row.share),
            row.relation.map_or("", Relation::name).to_owned(),
            row.key.to_string(),
            row.label.to_string(),
        ]);
    }
    (table, rest)
}

fn share(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), units::percent)
}

fn executed(rows: &[ExecutedRow], limit: usize) -> (Table, Option<String>) {
    let origin = rows.first().map_or(0, |row| row.from_ns);
    let hidden_time = |shown: &[&ExecutedRow]| {
        let all: i64 = rows.iter().map(|row| row.span_ns).sum();
        all - shown.iter().map(|row| row.span_ns).sum::<i64>()
    };
    let (shown, rest) = largest(rows, limit, |row| row.span_ns.unsigned_abs(), "shorter steps");
    let rest = rest.map(|rest| format!("{rest}, {} together", units::duration(hidden_time(&shown) as f64)));
    let mut table = Table::new()
        .figures("at", Align::Right)
        .figures("takes", Align::Right)
        .figures("share", Align::Right)
        .names("process")
        .figures("pid", Align::Left)
        .names("started because");
    for row in shown {
        let why =
            row.after.as_ref().map_or_else(|| row.why.to_owned(), |after| format!("{} {after}", row.why));
        table.row([
            format!("+{}", units::duration(row.from_ns.saturating_sub(origin) as f64)),
            units::duration(row.span_ns as f64),
            share(row.share),
            row.label.as_deref().unwrap_or("(gap)").to_owned(),
            row.key.as_deref().unwrap_or("").to_owned(),
            why,
        ]);
    }
    (table, rest)
}

fn slack(rows: &[SlackRow], limit: usize) -> (Table, Option<String>) {
    let (shown, rest) = first(rows, limit);
    let mut table = Table::new().figures("slack", Align::Right).names("vertex").names("name");
    for row in shown {
        table.row([amount(row.slack, row.unit), row.key.to_string(), row.label.to_string()]);
    }
    (table, rest)
}

fn bottlenecks(rows: &[BottleneckRow], limit: usize) -> (Table, Option<String>) {
    let (shown, rest) = first(rows, limit);
    let mut table = Table::new()
        .figures("lost", Align::Right)
        .figures("rate", Align::Right)
        .figures("normal rate", Align::Right)
        .figures("bytes", Align::Right)
        .figures("", Align::Left)
        .names("process")
        .names("from")
        .names("to");
    for row in shown {
        table.row([
            units::duration(row.lost_ns as f64),
            units::rate(row.rate),
            units::rate(row.median_rate),
            units::bytes(row.bytes as f64),
            row.relation.name().to_owned(),
            row.process.as_deref().unwrap_or("").to_owned(),
            row.from.to_string(),
            row.to.to_string(),
        ]);
    }
    (table, rest)
}

fn degrees(rows: &[DegreeRow], limit: usize) -> (Table, Option<String>) {
    let (shown, rest) = first(rows, limit);
    let mut table = Table::new()
        .figures("in", Align::Right)
        .figures("out", Align::Right)
        .figures("between", Align::Right)
        .figures("reach", Align::Right)
        .figures("kind", Align::Left)
        .names("vertex")
        .names("name");
    for row in shown {
        table.row([
            units::count(u64::from(row.incoming)),
            units::count(u64::from(row.outgoing)),
            format!("{:.1}", row.betweenness),
            row.reach.map_or_else(|| "–".to_owned(), units::count),
            row.kind.to_owned(),
            row.key.to_string(),
            row.label.to_string(),
        ]);
    }
    (table, rest)
}

fn paths(rows: &[PathRow], limit: usize) -> (Table, Option<String>) {
    let (shown, rest) = first(rows, limit);
    let mut table = Table::new().names("vertex").names("name");
    for row in shown {
        table.row([row.key.to_string(), row.path.to_string()]);
    }
    (table, rest)
}

fn clusters(rows: &[ClusterRow], limit: usize) -> (Table, Option<String>) {
    let (shown, rest) = first(rows, limit);
    let mut table = Table::new().names("cluster").names("reads").names("writes").names("children");
    // The directory of a group of files says little where a cluster is one line.
    let short = |groups: &[String]| {
        let names = groups.iter().map(|group| match group.split_once(" x /") {
            Some((count, path)) => format!("{count} x {}", path.rsplit('/').next().unwrap_or(path)),
            None => group.clone(),
        });
        names.collect::<Vec<_>>().join(", ")
    };
    for row in shown {
        table.row([row.name.clone(), short(&row.reads), short(&row.writes), row.children.join(", ")]);
    }
    (table, rest)
}
