//! What each process may have waited for: ends of its children, and the writing of what it read.
//!
//! The walk of the critical path only goes back in time, so the waits of a process are kept in a heap by their moment, and
//! what is later than the walk is dropped for good. A file with many writers has one entry for each reader, which moves on
//! to an earlier write when it is taken.

use crate::graph::{Graph, Relation, VertexId};
use crate::ops::adjacency::{Adjacency, vertices};
use crate::ops::lifetimes::Lifetimes;
use crate::ops::whole::Wholes;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Something that a process waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wait {
    /// When it came.
    pub(crate) at: i64,
    /// Of which process.
    pub(crate) process: u32,
    /// Whether it is the end of a child.
    pub(crate) is_child: bool,
}

/// An entry of a heap: the latest first, then children, then the first process.
type Entry = (i64, bool, Reverse<u32>, Option<Source>);

/// Further writes of the file of an entry: its list, and how many of them are left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Source {
    writes: u32,
    left: u32,
}

pub(crate) struct Waits<'a> {
    graph: &'a Graph,
    wholes: &'a Wholes,
    lifetimes: &'a Lifetimes,
    incoming: Adjacency,
    parent: Vec<Option<u32>>,
    children: Vec<Vec<u32>>,
    /// The writes of each file, sorted by time: (when, by whom).
    writes: Vec<Vec<(i64, u32)>>,
    /// Of which vertex the writes count for each file: of itself, or of the version before if nobody wrote to it.
    written_as: Vec<VertexId>,
    heaps: Vec<Option<BinaryHeap<Entry>>>,
}

impl<'a> Waits<'a> {
    pub(crate) fn new(graph: &'a Graph, wholes: &'a Wholes, lifetimes: &'a Lifetimes) -> Self {
        let mut waits = Self {
            graph,
            wholes,
            lifetimes,
            incoming: Adjacency::incoming(graph),
            parent: vec![None; wholes.len()],
            children: vec![Vec::new(); wholes.len()],
            writes: vec![Vec::new(); graph.vertices.len()],
            written_as: vertices(graph).collect(),
            heaps: vec![None; wholes.len()],
        };
        waits.find_children();
        waits.find_writes();
        waits
    }

    fn find_children(&mut self) {
        for edge in self.graph.edges.iter().filter(|edge| edge.relation == Relation::Fork) {
            let ends = self.wholes.of(edge.from).zip(self.wholes.of(edge.to));
            let Some((parent, child)) = ends.filter(|(parent, child)| parent != child) else { continue };
            self.children[parent as usize].push(child);
            self.parent[child as usize].get_or_insert(parent);
        }
    }

    fn find_writes(&mut self) {
        for edge in &self.graph.edges {
            if matches!(edge.relation, Relation::Create | Relation::Write)
                && let Some(writer) = self.wholes.of(edge.from)
            {
                let end = self.lifetimes.end[writer as usize];
                let at = edge.last.map_or(end, |last| last.0.min(end));
                self.writes[edge.to.index()].push((at.max(self.lifetimes.start[writer as usize]), writer));
            }
        }
        for writes in &mut self.writes {
            writes.sort_unstable();
        }
        for edge in self.graph.edges.iter().filter(|edge| edge.relation == Relation::Next) {
            if self.writes[edge.to.index()].is_empty() {
                self.written_as[edge.to.index()] = self.written_as[edge.from.index()];
            }
        }
    }

    /// The process that made `process`, unless the walk went there from it before.
    pub(crate) fn parent(&self, process: u32) -> Option<u32> {
        self.parent[process as usize]
    }

    /// Lets the walk go to the parent of `process` for the only time.
    pub(crate) fn take_parent(&mut self, process: u32) {
        self.parent[process as usize] = None;
    }

    /// Takes the latest wait of `process` in (after, until].
    pub(crate) fn take_latest(&mut self, process: u32, until: i64, after: i64) -> Option<Wait> {
        let wait = self.latest(process, until).filter(|wait| wait.at > after)?;
        let top = self.heaps[process as usize].as_mut().and_then(BinaryHeap::pop);
        if let Some((_, _, _, Some(source))) = top {
            self.push_before(process, source, wait.at);
        }
        Some(wait)
    }

    /// The latest wait of `process` until then; what is later is forgotten.
    pub(crate) fn latest(&mut self, process: u32, until: i64) -> Option<Wait> {
        if self.heaps[process as usize].is_none() {
            self.fill(process, until);
        }
        loop {
            let heap = self.heaps[process as usize].as_mut()?;
            let (at, is_child, Reverse(other), source) = *heap.peek()?;
            if at <= until {
                return Some(Wait { at, process: other, is_child });
            }
            heap.pop();
            if let Some(source) = source {
                self.push_before(process, source, until);
            }
        }
    }

    fn fill(&mut self, process: u32, until: i64) {
        let start = self.lifetimes.start[process as usize];
        let ends = self.children[process as usize].iter().filter_map(|child| {
            let end = self.lifetimes.end[*child as usize];
            (start < end && end <= until).then_some((end, true, Reverse(*child), None))
        });
        self.heaps[process as usize] = Some(ends.collect());
        for part in 0..self.wholes.parts(process).len() {
            let part = self.wholes.parts(process)[part];
            for place in 0..self.incoming.of(part).len() {
                let edge = self.graph.edge(self.incoming.of(part)[place]);
                if matches!(edge.relation, Relation::Read | Relation::Map) {
                    let writes = self.written_as[edge.from.index()];
                    let until = edge.last.map_or(until, |last| last.0.min(until));
                    let left = self.writes[writes.index()].len() as u32;
                    self.push_before(process, Source { writes: writes.0, left }, until);
                }
            }
        }
    }

    /// Adds the latest write of `source` until then by another process than `process`.
    fn push_before(&mut self, process: u32, source: Source, until: i64) {
        let writes = &self.writes[source.writes as usize][..source.left as usize];
        let mut left = writes.partition_point(|(at, _)| *at <= until);
        while left > 0 && writes[left - 1].1 == process {
            left -= 1;
        }
        let Some((at, writer)) = left.checked_sub(1).map(|place| writes[place]) else { return };
        let rest = Source { writes: source.writes, left: left as u32 - 1 };
        if let Some(heap) = &mut self.heaps[process as usize] {
            heap.push((at, false, Reverse(writer), Some(rest)));
        }
    }
}
