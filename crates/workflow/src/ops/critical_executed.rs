//! The critical path as executed: what the end of the run waited for, step by step back to its beginning.
//!
//! The walk begins at the process that ended last, at its end. At a process p and a time T it looks for what p last waited
//! for: among
//!
//! - the children of p: the end of each,
//! - the processes that wrote what p read: the last sign of their writing, or of p's reading if that was earlier,
//!
//! the one with the latest moment t in (start of p, T]. The time [t, T] belongs to p, and the walk goes on at the other
//! process at t. If there is none, [start of p, T] belongs to p, and either its parent made it begin, and the walk goes on
//! at the parent at that moment; or, if a writer of p's input was done later than anything that the parent itself waited
//! for, the walk goes on at that writer, and the time between is a gap: the data were there and nobody had begun yet.
//!
//! Segments and gaps cover the time from the first start to the last end without a hole or an overlap, so they sum up to
//! the makespan exactly. Each wait is used once, which bounds the walk; every process that it comes to sorts its waits
//! once: O((V + E) log E). Slack is not defined here: how late a process could have ended depends on what would then have
//! waited for what, which nothing recorded. [`critical_static`](crate::ops::critical_static()) has it for the dependencies.

use crate::graph::{Graph, VertexId};
use crate::ops::OpError;
use crate::ops::lifetimes::Lifetimes;
use crate::ops::waits::{Wait, Waits};
use crate::ops::whole::Wholes;
use iotrail_model::{Nanos, Timestamp};
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
    /// What is read was written.
    DataWritten,
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
            Self::DataWritten => "needed data of",
            Self::Forked => "started by",
            Self::Began => "nothing recorded came before",
        }
    }
}

/// Walks back from the last end.
///
/// # Errors
/// If a vertex stands for several processes.
pub fn critical_executed(graph: &Graph) -> Result<Executed, OpError> {
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
    let waits = Waits::new(graph, &wholes, &lifetimes);
    let mut walk = Walk { graph, wholes: &wholes, lifetimes: &lifetimes, waits, first, steps: Vec::new() };
    walk.back(last, end);
    walk.steps.reverse();
    Ok(Executed {
        span: Some((Timestamp(first), Timestamp(end))),
        makespan: Timestamp(end) - Timestamp(first),
        steps: walk.steps,
        unknown_times: lifetimes.unknown,
    })
}

struct Walk<'a> {
    graph: &'a Graph,
    wholes: &'a Wholes,
    lifetimes: &'a Lifetimes,
    waits: Waits<'a>,
    first: i64,
    steps: Vec<ExecutedStep>,
}

impl Walk<'_> {
    /// Walks from the end of `process` until nothing came before.
    fn back(&mut self, process: u32, end: i64) {
        let mut at = Some((process, end));
        while let Some((process, to)) = at {
            at = self.step(process, to);
        }
    }

    /// One step back; where the walk goes on.
    fn step(&mut self, process: u32, to: i64) -> Option<(u32, i64)> {
        let start = self.lifetimes.start[process as usize].min(to);
        if let Some(wait) = self.waits.take_latest(process, to, start) {
            let why = if wait.is_child { Reason::ChildEnded } else { Reason::DataWritten };
            self.segment(process, wait.at, to, why, Some(wait.process));
            return Some((wait.process, wait.at));
        }
        let before = self.waits.latest(process, start);
        let parent = self.waits.parent(process);
        let waited = parent.map(|parent| {
            let born = self.lifetimes.start[parent as usize];
            self.waits.latest(parent, start).map_or(born, |wait: Wait| wait.at.max(born))
        });
        match (before, parent) {
            (Some(wait), _) if waited.is_none_or(|waited| wait.at > waited) => {
                self.waits.take_latest(process, start, i64::MIN);
                self.segment(process, start, to, Reason::DataWritten, Some(wait.process));
                self.gap(wait.at, start, Reason::DataWritten, Some(wait.process));
                Some((wait.process, wait.at))
            }
            (_, Some(parent)) => {
                self.waits.take_parent(process);
                self.segment(process, start, to, Reason::Forked, Some(parent));
                Some((parent, start))
            }
            (_, None) => {
                self.segment(process, start, to, Reason::Began, None);
                self.gap(self.first, start, Reason::Began, None);
                None
            }
        }
    }

    fn segment(&mut self, process: u32, from: i64, to: i64, why: Reason, after: Option<u32>) {
        if from < to {
            let vertex = Some(self.part(process, to));
            let after = after.map(|after| self.part(after, from));
            self.steps.push(ExecutedStep { vertex, from: Timestamp(from), to: Timestamp(to), why, after });
        }
    }

    fn gap(&mut self, from: i64, to: i64, why: Reason, after: Option<u32>) {
        if from < to {
            let after = after.map(|after| self.part(after, from));
            self.steps.push(ExecutedStep {
                vertex: None,
                from: Timestamp(from),
                to: Timestamp(to),
                why,
                after,
            });
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
