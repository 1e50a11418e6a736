//! From the vertices and edges of the pass to the graph: facts, names, and the order of everything.

use super::gather::Tally;
use super::graph_builder::{BuiltGraph, Counts, MOST_PARTS};
use super::labels::{Keys, Texts, base, process_keys};
use super::node::{Node, Version, What};
use super::path_files::FileId;
use crate::build::BuildOptions;
use crate::graph::{
    Edge, Facts, FileVertex, FileView, Graph, LeftOut, ProcessVertex, Relation, Vertex, VertexId,
};
use crate::tree::grow::cpu;
use crate::waits::Waits;
use crate::waits::ends::Channels;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::{Case, Clock, FileKind, Nanos, PathId, Resolution, Timestamp, units};
use iotrail_query::process_group::executable;
use iotrail_query::{ProcessGroups, ProcessId, ProcessTable};
use iotrail_trail::EventLog;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

pub(super) struct Finish<'a> {
    pub(super) log: &'a EventLog,
    pub(super) processes: &'a ProcessTable,
    pub(super) groups: &'a ProcessGroups,
    pub(super) options: &'a BuildOptions<'a>,
    pub(super) tally: Tally,
    pub(super) selected: &'a [bool],
}

impl Finish<'_> {
    pub(super) fn graph(&self, built: BuiltGraph, waits: Waits) -> Graph {
        let BuiltGraph { nodes, mut edges, hidden, shown, counts } = built;
        let mut vertices = self.vertices(&nodes, waits.channels());
        self.relate(&nodes, &edges, &mut vertices);
        let mut left_out = hidden.left_out(|path| shown.get(path.index()) == Some(&true));
        self.leave_out(&mut left_out);
        let mut notes = self.notes(&counts, &edges);
        if waits.is_untimed() {
            notes.push(
                "no call has a duration (strace -T records them): the critical path as executed knows of no waits but those for children"
                    .to_owned(),
            );
        }
        let order = order(&nodes, &vertices, &edges, self.options.view);
        let span = self.span();
        drop(nodes);
        let mut place = vec![VertexId(0); order.len()];
        for (new, old) in order.iter().enumerate() {
            place[*old as usize] = VertexId(new as u32);
        }
        for edge in &mut edges {
            (edge.from, edge.to) = (place[edge.from.index()], place[edge.to.index()]);
        }
        edges.sort_unstable_by_key(|edge| (edge.from, edge.to, edge.relation));
        Graph {
            view: self.options.view,
            vertices: permuted(vertices, &place),
            edges,
            phases: self.groups.names.iter().map(|name| Arc::from(name.as_str())).collect(),
            span,
            resolution: self.resolution(),
            left_out,
            notes,
            history: Vec::new(),
            waits: Arc::new(waits),
        }
    }

    fn vertices(&self, nodes: &[Node], channels: &Channels) -> Vec<Vertex> {
        let mut texts = Texts::default();
        let mut keys = Keys::default();
        let process_keys = process_keys(self.processes);
        let cases: Vec<Arc<str>> =
            self.log.cases().iter().map(|case| texts.share(&case.name.to_string())).collect();
        let mut parts: Vec<u32> = vec![0; self.processes.all().len()];
        let mut versions: HashMap<PathId, (u32, u32), RandomState> = HashMap::default();
        let mut newest: HashMap<FileId, u32, RandomState> = HashMap::default();
        for (index, node) in nodes.iter().enumerate() {
            match &node.what {
                What::Part(process, number) => parts[process.index()] = *number,
                What::Version(version) => {
                    versions.entry(version.path).or_default().1 = index as u32;
                    newest.insert(version.file, index as u32);
                }
            }
        }
        let whole = self.options.view == FileView::File;
        let vertex = |(index, node): (usize, &Node)| match &node.what {
            What::Part(process, part) => {
                let of = &process_keys[process.index()];
                let key = if *part == 1 { keys.unique(of) } else { keys.unique(&format!("{of}#{part}")) };
                let facts =
                    self.process(*process, *part, *part == parts[process.index()], node, &cases, &mut texts);
                let program = executable(self.processes.last_image(*process)).map(|name| texts.share(name));
                let time = node.first.zip(node.last).map(|(first, last)| Nanos((last - first).0.max(0)));
                let time = time.and_then(|time| self.resolution().known_span(time));
                Vertex {
                    label: program.unwrap_or_else(|| Arc::clone(&key)),
                    key,
                    phase: self
                        .groups
                        .of_process
                        .get(process.index())
                        .copied()
                        .flatten()
                        .map(|group| group.0),
                    members: 1,
                    time,
                    facts: Facts::Process(facts),
                }
            }
            What::Version(version) => {
                let (count, last) = versions.entry(version.path).or_default();
                *count += 1;
                let is_newest = newest.get(&version.file) == Some(&(index as u32));
                let last = *last == index as u32;
                let file = FileVertex {
                    version: *count,
                    last,
                    size: self.size(version, is_newest),
                    ..self.file(version, channels)
                };
                let key = match (whole, *count) {
                    (true, 1) => file.path.to_string(),
                    (true, number) => format!("{}~{number}", file.path),
                    (false, number) => format!("{}@{number}", file.path),
                };
                Vertex {
                    key: keys.unique(&key),
                    label: if base(&file.path) == &*file.path {
                        Arc::clone(&file.path)
                    } else {
                        texts.share(base(&file.path))
                    },
                    phase: None,
                    members: 1,
                    time: None,
                    facts: Facts::File(file),
                }
            }
        };
        nodes.iter().enumerate().map(vertex).collect()
    }

    fn process(
        &self,
        process: ProcessId,
        part: u32,
        last: bool,
        node: &Node,
        cases: &[Arc<str>],
        texts: &mut Texts,
    ) -> ProcessVertex {
        let image = self.processes.last_image(process);
        let case = self.log.cases().get(image.case.index());
        let mut text = |text: &Option<String>| text.as_deref().map(|text| texts.share(text));
        ProcessVertex {
            process,
            pid: image.pid.0,
            part,
            exe: text(&image.exe),
            cmdline: text(&image.cmdline),
            cwd: text(&image.cwd),
            host: case.and_then(|case| text(&case.name.host)),
            case: cases.get(image.case.index()).cloned().unwrap_or_default(),
            env: image.env.as_slice().into(),
            start: node.first,
            end: node.last,
            cpu: if part == 1 { cpu(self.processes.images(process)) } else { None },
            exit_code: image.exit_code.filter(|_| last),
            signal: if last { text(&image.signal) } else { None },
        }
    }

    fn file(&self, version: &Version, channels: &Channels) -> FileVertex {
        let row = self.log.files().get(version.path.index());
        let name = |path: &PathId| self.log.names().paths[path.index()].clone();
        let kind = row.and_then(|row| row.kind.as_deref());
        let way = channels.label(version.path);
        FileVertex {
            path: way.map_or_else(|| name(&version.path), Arc::from),
            names: version.names.iter().map(name).collect(),
            kind: FileKind::ALL.into_iter().find(|known| Some(known.name()) == kind),
            file: version.file.0,
            ..FileVertex::default()
        }
    }

    /// What was found when the file was last seen is the size of its newest version.
    fn size(&self, version: &Version, is_newest: bool) -> Option<i64> {
        match version.extent {
            Some(extent) => extent.size(),
            None => {
                let row = self.log.files().get(version.path.index())?;
                row.size.filter(|_| is_newest && !version.filled)
            }
        }
    }

    /// Readers, writers and phases of files, which their edges tell.
    fn relate(&self, nodes: &[Node], edges: &[Edge], vertices: &mut [Vertex]) {
        let mut users: Vec<(u32, bool, ProcessId)> = Vec::with_capacity(edges.len());
        let mut first: HashMap<u32, (bool, Option<Timestamp>, ProcessId), RandomState> = HashMap::default();
        for edge in edges {
            let (from, to) = (&nodes[edge.from.index()].what, &nodes[edge.to.index()].what);
            let (version, process, writes) = match (from, to) {
                (What::Part(process, _), What::Version(_)) => (edge.to.0, *process, true),
                (What::Version(_), What::Part(process, _)) => (edge.from.0, *process, false),
                _ => continue,
            };
            if writes {
                users.push((version, true, process));
            }
            if !writes || edge.read.calls > 0 {
                users.push((version, false, process));
            }
            let sign = (!writes, edge.first, process);
            let known = first.entry(version).or_insert(sign);
            *known = sign.min(*known);
        }
        users.sort_unstable();
        users.dedup();
        for (version, writes, _) in users {
            if let Facts::File(file) = &mut vertices[version as usize].facts {
                if writes { file.writers += 1 } else { file.readers += 1 }
            }
        }
        for (version, (_, _, process)) in first {
            vertices[version as usize].phase = self.groups.of(process).map(|group| group.0);
        }
    }

    fn leave_out(&self, left_out: &mut LeftOut) {
        let unselected = self.selected.iter().filter(|selected| !**selected).count() as u64;
        if unselected > 0 {
            left_out.vertices.push(("processes without a selected event".to_owned(), unselected));
        }
        let lost = self.tally.no_path.bytes.saturating_add(self.tally.no_process.bytes);
        left_out.bytes = left_out.bytes.saturating_add(lost);
    }

    fn span(&self) -> Option<(Timestamp, Timestamp)> {
        let processes = self.processes.all().iter().zip(self.selected).filter(|(_, selected)| **selected);
        let starts_and_ends =
            processes.map(|(process, _)| (process.start.or(process.end), process.end.or(process.start)));
        let times = starts_and_ends.filter_map(|(start, end)| start.zip(end)).chain(self.tally.span);
        times.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
    }

    fn notes(&self, counts: &Counts, edges: &[Edge]) -> Vec<String> {
        let mut notes = Vec::new();
        let mut note = |holds: bool, text: String| notes.extend(holds.then_some(text));
        let Tally { no_path, no_process, other_layers, shared_mappings, .. } = self.tally;
        note(
            no_path.calls > 0,
            format!(
                "{} moved {} of files that the trail does not name: they are in no edge.",
                units::counted(no_path.calls, "call", "calls"),
                units::counted(no_path.bytes, "byte", "bytes")
            ),
        );
        note(
            no_process.calls > 0,
            format!(
                "{} moved {} in processes that the trail does not know: they are in no edge.",
                units::counted(no_process.calls, "call", "calls"),
                units::counted(no_process.bytes, "byte", "bytes")
            ),
        );
        note(
            other_layers > 0,
            format!(
                "{} of other layers; only {} make edges.",
                units::counted(other_layers, "event is", "events are"),
                self.log.layers().first().copied().unwrap_or_default().calls()
            ),
        );
        note(
            shared_mappings > 0,
            format!(
                "{} can be written: each counts as a write of unknown size.",
                units::counted(shared_mappings, "shared mapping", "shared mappings")
            ),
        );
        note(
            counts.joined > 0,
            format!(
                "Processes and files are split into at most {MOST_PARTS} parts and versions: {} beyond that on the last edge before between the same process and file.",
                units::counted(counts.joined, "access is", "accesses are")
            ),
        );
        note(
            counts.given_up > 0,
            format!(
                "{} began a new part of a process because it would take too long to find out whether the data depend on it.",
                units::counted(counts.given_up, "read", "reads")
            ),
        );
        let both = edges.iter().filter(|edge| edge.read.calls > 0 && edge.written.calls > 0).count();
        note(
            both > 0,
            format!(
                "{} both read and written by one process; only one arrow is drawn.",
                units::counted(both as u64, "file is", "files are")
            ),
        );
        self.clocks(&mut note);
        notes
    }

    fn resolution(&self) -> Resolution {
        Case::resolution_of(self.log.cases())
    }

    fn clocks(&self, note: &mut impl FnMut(bool, String)) {
        let cases = self.log.cases();
        let has = |clock| cases.iter().any(|case| case.clock == clock);
        note(has(Clock::Order), "Cases without time stamps: their times only count events, so that lifetimes and the order between cases mean nothing.".to_owned());
        if let Some(sentence) = self.resolution().note() {
            note(true, format!("{sentence}."));
        }
        note(
            cases.len() > 1 && has(Clock::Relative),
            "Cases whose times start at 0: the order of accesses between cases is unknown.".to_owned(),
        );
        let mut hosts: Vec<&str> = cases.iter().filter_map(|case| case.name.host.as_deref()).collect();
        hosts.sort_unstable();
        hosts.dedup();
        note(
            hosts.len() > 1,
            format!(
                "{} hosts: the order of accesses between them is that of their clocks, as far as these agree.",
                hosts.len()
            ),
        );
    }
}

/// The order of the vertices of the graph; a topological one where there are no cycles.
fn order(nodes: &[Node], vertices: &[Vertex], edges: &[Edge], view: FileView) -> Vec<u32> {
    let mut by_sign: Vec<u32> = (0..nodes.len() as u32).collect();
    let key = |node: &u32| (nodes[*node as usize].first, &vertices[*node as usize].key);
    by_sign.sort_unstable_by(|one, other| key(one).cmp(&key(other)));
    if view == FileView::File {
        return by_sign;
    }
    let mut rank = vec![0_u32; nodes.len()];
    for (index, node) in by_sign.iter().enumerate() {
        rank[*node as usize] = index as u32;
    }
    let (mut waits_for, mut starts) = (vec![0_u32; nodes.len()], vec![0_u32; nodes.len() + 1]);
    for edge in edges {
        waits_for[edge.to.index()] += 1;
        starts[edge.from.index() + 1] += 1;
    }
    for node in 0..nodes.len() {
        starts[node + 1] += starts[node];
    }
    let (mut fill, mut targets) = (starts.clone(), vec![0_u32; edges.len()]);
    for edge in edges {
        targets[fill[edge.from.index()] as usize] = edge.to.0;
        fill[edge.from.index()] += 1;
    }
    let free = by_sign.iter().filter(|node| waits_for[**node as usize] == 0);
    let mut free: BinaryHeap<Reverse<u32>> = free.map(|node| Reverse(rank[*node as usize])).collect();
    let mut order = Vec::with_capacity(nodes.len());
    while let Some(Reverse(index)) = free.pop() {
        let node = by_sign[index as usize];
        order.push(node);
        for target in &targets[starts[node as usize] as usize..starts[node as usize + 1] as usize] {
            waits_for[*target as usize] -= 1;
            if waits_for[*target as usize] == 0 {
                free.push(Reverse(rank[*target as usize]));
            }
        }
    }
    debug_assert_eq!(order.len(), nodes.len(), "the graph of versions has no cycle");
    debug_assert!(edges.iter().all(|edge| edge.relation != Relation::Next || edge.from != edge.to));
    order
}

fn permuted(vertices: Vec<Vertex>, place: &[VertexId]) -> Vec<Vertex> {
    let mut placed: Vec<Option<Vertex>> = (0..vertices.len()).map(|_| None).collect();
    for (vertex, place) in vertices.into_iter().zip(place) {
        placed[place.index()] = Some(vertex);
    }
    placed.into_iter().flatten().collect()
}
