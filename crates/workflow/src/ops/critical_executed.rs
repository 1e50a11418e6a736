//! The critical path as executed: what the end of the run waited for, step by step back to its beginning.
//!
//! At each instant one thread is on the path. The walk begins at the last end, in the thread that made the last sign of the
//! process that ended. In a thread, at a time T, it looks at the last wait that began before T and is caused by another
//! thread (see [`Waits`]; of a wait that reaches beyond T only what lies before T counts):
//!
//! - the cause began at t: the time from t to T is the waiter's, and the walk goes on in the thread of the cause at t;
//! - there is none: the time back to the thread's birth is its own, and the walk goes on in the thread that made it, at the end
//!   of that call or at the first sign of the new thread, whichever was earlier;
//! - nobody recorded made it: if its process read a file whose last writer was done before, the walk goes on at that writer,
//!   and the time between is a gap: the data were there and nobody had begun yet. Else the rest is a gap before the beginning.
//!
//! A wait whose cause is not known stays with the waiter. Moments fall strictly, so the walk ends; segments and gaps cover the
//! time from the first start to the last end without a hole or an overlap, so they sum up to the makespan exactly. Waits are
//! sorted once, and each is looked at once in the thread that is on the path: O(N log N). Slack is not defined here: how late
//! a process could have ended depends on what would then have waited for what, which nothing recorded.
//! [`critical_static`](crate::ops::critical_static()) has it for the dependencies.

use crate::graph::{Graph, Relation, VertexId};
use crate::ops::OpError;
use crate::ops::adjacency::Adjacency;
use crate::ops::lifetimes::Lifetimes;
use crate::ops::whole::Wholes;
use crate::waits::{Ended, LineId, Unexplained, Waits};
use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashSet};
use iotrail_model::{Nanos, Timestamp};
use iotrail_query::ProcessId;
use serde::Serialize;

/// The path, in the order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Executed {
    /// First start and last end of a process; none without processes.
    pub span: Option<(Timestamp, Timestamp)>,
    /// From one to the other: the sum of all steps.
    pub makespan: Nanos,
    /// Segments and gaps.
    pub steps: Vec<ExecutedStep>,
    /// Processes of which birth or death was not recorded: their first or last sign stands in.
    pub unknown_times: u64,
    /// Waits on the path, on sockets and pipes of whose other end nothing is known: they may have been for somebody who is not
    /// on the path.
    pub unknown_ends: u64,
    /// The time of those waits.
    pub unknown_ends_time: Nanos,
}

/// A segment, or a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ExecutedStep {
    /// The process (the part of it that was at work) whose time this is; none in a gap.
    pub vertex: Option<VertexId>,
    /// When it begins.
    pub from: Timestamp,
    /// When it ends.
    pub to: Timestamp,
    /// Why it begins then.
    pub why: Reason,
    /// The process that the reason is about: whose end, data or fork it is.
    pub after: Option<VertexId>,
}

impl ExecutedStep {
    /// How long it is.
    #[must_use]
    pub fn span(&self) -> Nanos {
        self.to - self.from
    }
}

/// Why a step begins when it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// A child ended.
    ChildEnded,
    /// A child executed another program, and gave the memory of its maker back.
    ChildExecuted,
    /// What is read was written.
    DataWritten,
    /// No more data could come.
    DataEnded,
    /// The reader of a full pipe read.
    DataTaken,
    /// A lock was let go of.
    Unlocked,
    /// The other end of a FIFO was opened.
    OtherEndOpened,
    /// A connection was asked for.
    Connected,
    /// A word in memory was woken.
    Woken,
    /// The last rank made the collective call.
    Called,
    /// A file was made.
    Made,
    /// A signal killed the process.
    Killed,
    /// The parent made the process.
    Forked,
    /// Nothing recorded came before.
    Began,
}

impl Reason {
    /// In words, before the name of the other process.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::ChildEnded => "waited for its child",
            Self::ChildExecuted => "waited for the exec of its child",
            Self::DataWritten => "waited for data from",
            Self::DataEnded => "waited for the end of the data from",
            Self::DataTaken => "waited for its reader",
            Self::Unlocked => "waited for a lock held by",
            Self::OtherEndOpened => "waited for the FIFO to be opened by",
            Self::Connected => "waited for a connection from",
            Self::Woken => "waited to be woken by",
            Self::Called => "waited in a collective call for",
            Self::Made => "waited for a file made by",
            Self::Killed => "waited until it was killed by",
            Self::Forked => "started by",
            Self::Began => "nothing recorded came before",
        }
    }
}

impl From<Ended> for Reason {
    fn from(what: Ended) -> Self {
        match what {
            Ended::Child => Self::ChildEnded,
            Ended::Executed => Self::ChildExecuted,
            Ended::Data => Self::DataWritten,
            Ended::EndOfData => Self::DataEnded,
            Ended::Room => Self::DataTaken,
            Ended::Unlocked => Self::Unlocked,
            Ended::OtherEnd => Self::OtherEndOpened,
            Ended::Connected => Self::Connected,
            Ended::Woken => Self::Woken,
            Ended::Called => Self::Called,
            Ended::Made => Self::Made,
            Ended::Killed => Self::Killed,
        }
    }
}

/// Walks back from the last end.
///
/// # Errors
/// If a vertex stands for several processes, or time stamps are too coarse to tell what came before what.
pub fn critical_executed(graph: &Graph) -> Result<Executed, OpError> {
    if graph.resolution.is_coarse() {
        return Err(OpError::CoarseTimes);
    }
    let is_joined = |vertex: &&crate::graph::Vertex| vertex.process().is_some() && vertex.members > 1;
    if let Some(vertex) = graph.vertices.iter().find(is_joined) {
        return Err(OpError::Aggregated { key: vertex.key.to_string(), members: vertex.members });
    }
    let wholes = Wholes::new(graph);
    let lifetimes = Lifetimes::new(graph, &wholes);
    let first = lifetimes.start.iter().min().copied();
    let last = (0..wholes.len() as u32).rev().max_by_key(|whole| lifetimes.end[*whole as usize]);
    let Some((first, last)) = first.zip(last) else { return Ok(Executed::default()) };
    let end = lifetimes.end[last as usize];
    let mut walk = Walk::new(graph, &wholes, &lifetimes, first);
    walk.back(last, end);
    walk.steps.reverse();
    Ok(Executed {
        span: Some((Timestamp(first), Timestamp(end))),
        makespan: Timestamp(end) - Timestamp(first),
        steps: walk.steps,
        unknown_times: lifetimes.unknown,
        unknown_ends: walk.unexplained.number,
        unknown_ends_time: Nanos(walk.unexplained.time),
    })
}

struct Walk<'a> {
    graph: &'a Graph,
    waits: &'a Waits,
    wholes: &'a Wholes,
    lifetimes: &'a Lifetimes,
    /// The whole process of each process of the trail that is in the graph.
    of_process: HashMap<ProcessId, u32, RandomState>,
    process_of: Vec<ProcessId>,
    parents: Vec<Option<u32>>,
    incoming: Adjacency,
    first: i64,
    /// Threads that the walk left by their birth.
    left: HashSet<LineId, RandomState>,
    steps: Vec<ExecutedStep>,
    unexplained: Unexplained,
}

/// Where the walk is: in a process, in one of its threads if any of its calls is known, at a time.
#[derive(Clone, Copy)]
struct Position {
    whole: u32,
    line: Option<LineId>,
    at: i64,
}

impl<'a> Walk<'a> {
    fn new(graph: &'a Graph, wholes: &'a Wholes, lifetimes: &'a Lifetimes, first: i64) -> Self {
        let process = |whole: u32| {
            graph.vertex(wholes.parts(whole)[0]).process().map(|process| process.process).unwrap_or_default()
        };
        let process_of: Vec<ProcessId> = (0..wholes.len() as u32).map(process).collect();
        let mut parents = vec![None; wholes.len()];
        for edge in graph.edges.iter().filter(|edge| edge.relation == Relation::Fork) {
            let ends = wholes.of(edge.from).zip(wholes.of(edge.to));
            if let Some((parent, child)) = ends.filter(|(parent, child)| parent != child) {
                parents[child as usize].get_or_insert(parent);
            }
        }
        Self {
            graph,
            waits: &graph.waits,
            wholes,
            lifetimes,
            of_process: process_of
                .iter()
                .enumerate()
                .map(|(whole, process)| (*process, whole as u32))
                .collect(),
            process_of,
            parents,
            incoming: Adjacency::incoming(graph),
            first,
            left: HashSet::default(),
            steps: Vec::new(),
            unexplained: Unexplained::default(),
        }
    }

    /// Walks from the end of a process until nothing came before.
    fn back(&mut self, whole: u32, end: i64) {
        let mut to = end;
        let mut place = self.end_of(whole, end);
        loop {
            let next = match self.before(place) {
                Some((next, why)) => {
                    if next.whole != place.whole {
                        self.segment(place.whole, next.at, to, why, next.whole);
                        to = next.at;
                    }
                    next
                }
                None => match self.over_gap(place.whole, to) {
                    Some(writer) => {
                        to = writer.at;
                        writer
                    }
                    None => return,
                },
            };
            place = next;
        }
    }

    fn end_of(&self, whole: u32, at: i64) -> Position {
        Position { whole, line: self.waits.last_line(self.process_of[whole as usize]), at }
    }

    /// Where the walk goes on, and why; none if nothing that was recorded came before.
    fn before(&mut self, place: Position) -> Option<(Position, Reason)> {
        let Some(line) = place.line else { return self.before_birth(place, None) };
        for number in (0..self.waits.before(line, place.at)).rev() {
            let Some(cause) = self.waits.cause(line, number, place.at) else {
                if let Some(time) = self.waits.unexplained(line, number, place.at) {
                    self.unexplained.number += 1;
                    self.unexplained.time = self.unexplained.time.saturating_add(time);
                }
                continue;
            };
            let Some(whole) = self.of_process.get(&self.waits.process(cause.line)) else { continue };
            if cause.at > self.first {
                return Some((
                    Position { whole: *whole, line: Some(cause.line), at: cause.at },
                    cause.what.into(),
                ));
            }
        }
        self.before_birth(place, Some(line))
    }

    /// The thread that made this one. Each thread and process is left once this way, so that wrong times cannot lead in a circle.
    fn before_birth(&mut self, place: Position, line: Option<LineId>) -> Option<(Position, Reason)> {
        if let Some((maker, at)) =
            line.filter(|line| self.left.insert(*line)).and_then(|line| self.waits.maker(line))
            && let Some(whole) = self.of_process.get(&self.waits.process(maker))
        {
            let at = at.max(self.first).min(place.at);
            return Some((Position { whole: *whole, line: Some(maker), at }, Reason::Forked));
        }
        let parent = self.parents[place.whole as usize].take()?;
        let at = self.lifetimes.start[place.whole as usize].min(place.at);
        Some((self.end_of(parent, at), Reason::Forked))
    }

    /// The way over a gap from a process that nobody recorded made to the writer of a file that it read; none at the beginning.
    fn over_gap(&mut self, whole: u32, to: i64) -> Option<Position> {
        let start = self.lifetimes.start[whole as usize].min(to);
        if let Some((writer, at)) = self.writer_before(whole, start).filter(|(_, at)| *at > self.first) {
            self.segment(whole, start, to, Reason::DataWritten, writer);
            self.gap(at, start, Reason::DataWritten, Some(writer));
            return Some(self.end_of(writer, at));
        }
        let vertex = self.part(whole, to);
        self.push(Some(vertex), start, to, Reason::Began, None);
        self.gap(self.first, start, Reason::Began, None);
        None
    }

    /// The last to write before `start` what a process read.
    fn writer_before(&self, whole: u32, start: i64) -> Option<(u32, i64)> {
        let read = |part: &VertexId| {
            let edges = self.incoming.of(*part).iter().map(|id| self.graph.edge(*id));
            edges.filter(|edge| edge.relation == Relation::Read).map(|edge| edge.from).collect::<Vec<_>>()
        };
        let written = |file: VertexId| {
            let edges = self.incoming.of(file).iter().map(|id| self.graph.edge(*id));
            edges.filter_map(|edge| {
                let writer = self.wholes.of(edge.from).filter(|writer| *writer != whole)?;
                let end = self.lifetimes.end[writer as usize];
                let at = edge.last.map_or(end, |last| last.0.min(end));
                (at < start).then_some((writer, at))
            })
        };
        let files = self.wholes.parts(whole).iter().flat_map(read);
        files.flat_map(written).max_by_key(|(writer, at)| (*at, std::cmp::Reverse(*writer)))
    }

    fn segment(&mut self, whole: u32, from: i64, to: i64, why: Reason, after: u32) {
        let vertex = self.part(whole, to);
        let after = self.part(after, from);
        self.push(Some(vertex), from, to, why, Some(after));
    }

    fn gap(&mut self, from: i64, to: i64, why: Reason, after: Option<u32>) {
        let after = after.map(|after| self.part(after, from));
        self.push(None, from, to, why, after);
    }

    fn push(&mut self, vertex: Option<VertexId>, from: i64, to: i64, why: Reason, after: Option<VertexId>) {
        if from < to {
            let (from, to) = (Timestamp(from), Timestamp(to));
            self.steps.push(ExecutedStep { vertex, from, to, why, after });
        }
    }

    /// The part of a process that was at work until `at`.
    fn part(&self, whole: u32, at: i64) -> VertexId {
        let parts = self.wholes.parts(whole);
        let began = |part: &VertexId| {
            let start = self.graph.vertex(*part).process().and_then(|process| process.start);
            start.is_none_or(|start| start.0 < at)
        };
        parts.iter().rev().find(|part| began(part)).copied().unwrap_or(parts[0])
    }
}
