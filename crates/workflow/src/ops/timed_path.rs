//! The heaviest path by time: a way through the graph that never goes back in time.
//!
//! The way begins in some vertex and crosses from vertex to vertex along edges, each at its first or at its last sign (an edge
//! without one when the vertex before has done all its work). It weighs the time in which the vertex that it is in was at work:
//! alive, without a child alive, and not waiting for another process. Because it is in one vertex at each instant it is never
//! longer than the run, also where processes that pipes join live at the same time; and because what a process did after its
//! last write is of no use to the reader, it does not count there.
//!
//! Let F(t) be the time at work of a vertex up to t, and let a and d be the crossings into it and out of it. The heaviest way up
//! to d weighs F(d) + max over a <= d of (weight up to a - F(a)): a sweep over the crossings of each vertex in the order of time,
//! vertices in topological order. The same backwards gives the heaviest way from each crossing on, and so the slack of each
//! vertex: how much heavier a way through it could become before the heaviest way does. O(E log E).

use crate::graph::{Edge, EdgeId, Graph, VertexId};
use crate::ops::adjacency::Adjacency;
use crate::ops::critical_static::{Critical, CriticalStep};
use crate::ops::weight::{Weight, busy};

/// The heaviest path by time of an acyclic graph of single processes, with its vertices in topological order.
pub(crate) fn timed_path(graph: &Graph, order: &[VertexId]) -> Critical {
    let work: Vec<Work> = busy(graph).into_iter().map(Work::new).collect();
    let mut paths = WeightedPaths::new(graph, &work);
    order.iter().for_each(|vertex| paths.forward(*vertex));
    order.iter().rev().for_each(|vertex| paths.backward(*vertex));
    paths.critical()
}

/// The time at work of a vertex.
struct Work {
    /// Start, end and what came before, of each span.
    spans: Vec<(i64, i64, i64)>,
    total: i64,
}

impl Work {
    fn new(spans: Vec<(i64, i64)>) -> Self {
        let mut total = 0_i64;
        let with_sums = spans.into_iter().map(|(start, end)| {
            let before = total;
            total = total.saturating_add(end.saturating_sub(start));
            (start, end, before)
        });
        let spans = with_sums.collect();
        Self { spans, total }
    }

    /// Up to a moment.
    fn until(&self, at: i64) -> i64 {
        let begun = self.spans.partition_point(|(start, _, _)| *start < at);
        let Some((start, end, before)) = begun.checked_sub(1).map(|last| self.spans[last]) else { return 0 };
        before + (at.min(end) - start)
    }

    /// When it is done.
    fn end(&self) -> Option<i64> {
        self.spans.last().map(|(_, end, _)| *end)
    }
}

/// An edge that is crossed at a moment.
#[derive(Clone, Copy)]
struct Crossing {
    edge: EdgeId,
    at: i64,
    /// The weight of the heaviest way up to here.
    sum: i64,
    /// The crossing before it on that way.
    before: Option<u32>,
    /// The weight of the heaviest way from here on.
    rest: i64,
}

struct WeightedPaths<'a> {
    graph: &'a Graph,
    work: &'a [Work],
    incoming: Adjacency,
    outgoing: Adjacency,
    crossings: Vec<Crossing>,
    /// The crossings of each edge: the first, and how many.
    of_edge: Vec<(u32, u32)>,
    /// The weight of the heaviest way through each vertex.
    through: Vec<i64>,
}

impl<'a> WeightedPaths<'a> {
    fn new(graph: &'a Graph, work: &'a [Work]) -> Self {
        Self {
            graph,
            work,
            incoming: Adjacency::incoming(graph),
            outgoing: Adjacency::outgoing(graph),
            crossings: Vec::new(),
            of_edge: vec![(0, 0); graph.edges.len()],
            through: vec![0; graph.vertices.len()],
        }
    }

    /// The crossings of some edges, in the order of time.
    fn sorted(&self, edges: &[EdgeId]) -> Vec<u32> {
        let of = |edge: &EdgeId| {
            let (first, count) = self.of_edge[edge.0 as usize];
            first..first + count
        };
        let mut crossings: Vec<u32> = edges.iter().flat_map(of).collect();
        crossings.sort_by_key(|crossing| (self.crossings[*crossing as usize].at, *crossing));
        crossings
    }

    /// Finds the heaviest ways out of a vertex, those into it being known.
    fn forward(&mut self, vertex: VertexId) {
        let into = self.sorted(self.incoming.of(vertex));
        let work = &self.work[vertex.index()];
        let done = work.end().max(into.last().map(|last| self.crossings[*last as usize].at));
        for edge in self.outgoing.of(vertex) {
            let first = self.crossings.len() as u32;
            let moments = moments(self.graph.edge(*edge), done.unwrap_or(i64::MIN));
            let new = moments.map(|at| Crossing { edge: *edge, at, sum: 0, before: None, rest: 0 });
            self.crossings.extend(new);
            self.of_edge[edge.0 as usize] = (first, self.crossings.len() as u32 - first);
        }
        let mut into = into.into_iter().peekable();
        let mut best = (0, None);
        for crossing in self.sorted(self.outgoing.of(vertex)) {
            let at = self.crossings[crossing as usize].at;
            while let Some(arrival) = into.next_if(|arrival| self.crossings[*arrival as usize].at <= at) {
                let Crossing { at, sum, .. } = self.crossings[arrival as usize];
                let without = sum - work.until(at);
                if without > best.0 {
                    best = (without, Some(arrival));
                }
            }
            let crossing = &mut self.crossings[crossing as usize];
            (crossing.sum, crossing.before) = (best.0 + work.until(at), best.1);
        }
    }

    /// Finds the heaviest ways from the crossings into a vertex on, those out of it being known.
    fn backward(&mut self, vertex: VertexId) {
        let work = &self.work[vertex.index()];
        let mut out = self.sorted(self.outgoing.of(vertex)).into_iter().rev().peekable();
        let mut best = work.total;
        let mut through = 0;
        for arrival in self.sorted(self.incoming.of(vertex)).into_iter().rev() {
            let Crossing { at, sum, .. } = self.crossings[arrival as usize];
            while let Some(next) = out.next_if(|next| self.crossings[*next as usize].at >= at) {
                let Crossing { at, rest, .. } = self.crossings[next as usize];
                best = best.max(work.until(at) + rest);
            }
            let rest = best - work.until(at);
            self.crossings[arrival as usize].rest = rest;
            through = through.max(sum + rest);
        }
        let whole =
            out.map(|next| work.until(self.crossings[next as usize].at) + self.crossings[next as usize].rest);
        self.through[vertex.index()] = whole.fold(best, i64::max).max(through);
    }

    fn critical(&self) -> Critical {
        let total = self.through.iter().copied().max().unwrap_or(0);
        Critical {
            weight: Weight::Time,
            total: amount(total),
            steps: if total > 0 { self.steps(total) } else { Vec::new() },
            slack: self.through.iter().map(|through| amount(total - through)).collect(),
        }
    }

    /// The heaviest way, from the first vertex at which one ends.
    fn steps(&self, total: i64) -> Vec<CriticalStep> {
        let Some((mut vertex, mut before)) = self.last(total) else { return Vec::new() };
        let (mut steps, mut until, mut sum) = (Vec::new(), None, total);
        loop {
            let work = &self.work[vertex.index()];
            let crossing = before.map(|crossing: u32| self.crossings[crossing as usize]);
            let worked =
                until.map_or(work.total, |at| work.until(at)) - crossing.map_or(0, |c| work.until(c.at));
            let edge = crossing.map(|crossing| crossing.edge);
            steps.push(CriticalStep { vertex, edge, weight: amount(worked), sum: amount(sum) });
            let Some(crossing) = crossing else { break };
            sum -= worked;
            (vertex, until, before) =
                (self.graph.edge(crossing.edge).from, Some(crossing.at), crossing.before);
        }
        steps.reverse();
        steps
    }

    /// Where the heaviest way ends, and the last crossing on it.
    fn last(&self, total: i64) -> Option<(VertexId, Option<u32>)> {
        let ends = |vertex: VertexId| {
            let work = &self.work[vertex.index()];
            let at_first = (work.total == total).then_some(None);
            let mut into = self.incoming.of(vertex).iter().flat_map(|edge| {
                let (first, count) = self.of_edge[edge.0 as usize];
                first..first + count
            });
            let by = into.find(|crossing| {
                let Crossing { at, sum, .. } = self.crossings[*crossing as usize];
                sum - work.until(at) + work.total == total
            });
            at_first.or(by.map(Some)).map(|by| (vertex, by))
        };
        (0..self.graph.vertices.len() as u32).map(VertexId).find_map(ends)
    }
}

/// When an edge may be crossed: at its first and at its last sign, else at `otherwise`.
fn moments(edge: &Edge, otherwise: i64) -> impl Iterator<Item = i64> {
    let first = edge.first.or(edge.last).map_or(otherwise, |at| at.0);
    let last = edge.last.map_or(first, |at| at.0);
    [first].into_iter().chain((last != first).then_some(last))
}

fn amount(nanos: i64) -> u64 {
    u64::try_from(nanos).unwrap_or(0)
}
