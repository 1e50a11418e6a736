//! The process tree: who made whom, for how long each ran, what it moved, how it ended.
//!
//! Dun et al., section 5.2: vertices are processes, an edge leads from parent to child; the makespan is estimated by the
//! longest path; patterns of processing are found by clustering subtrees of the same shape. There the lifetimes of a
//! path are added up, so that the time in which a parent waits for its child counts twice; here each moment counts once.

pub(crate) mod grow;
mod shape;
#[cfg(test)]
mod tests;

pub use grow::tree;

use iotrail_model::{Nanos, Resolution, Timestamp};
use iotrail_query::ProcessId;
use serde::Serialize;
use std::sync::Arc;

/// A process of the tree: an index into [`Tree::nodes`], which are in the order of [`iotrail_query::ProcessTable::all`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[repr(transparent)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The id as an index.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A shape of subtrees: an index into [`Tree::shapes`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[repr(transparent)]
pub struct ShapeId(pub u32);

/// A process in the tree, from its fork to its end.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Node {
    /// Which process of the trail.
    pub process: ProcessId,
    /// Process id.
    pub pid: u32,
    /// The number of its parent, if known; the parent need not have been recorded.
    pub ppid: Option<u32>,
    /// Its parent, if that was recorded.
    pub parent: Option<NodeId>,
    /// Its children, the first to start first.
    pub children: Vec<NodeId>,
    /// Base name of its executable, else the first word of its command line, else its number.
    pub label: Arc<str>,
    /// Path of the last executable that it executed.
    pub exe: Option<Arc<str>>,
    /// Command line, arguments separated by NUL.
    pub cmdline: Option<Arc<str>>,
    /// Name of the host.
    pub host: Option<Arc<str>>,
    /// Name of the recorded case (`cid/host/rid`).
    pub case: Arc<str>,
    /// Index into [`Tree::phases`]: its group.
    pub phase: Option<u32>,
    /// First sign of life; NULL if its trace has no time stamps.
    pub start: Option<Timestamp>,
    /// Exit or death; NULL if the end was never seen, or its trace has no time stamps.
    pub end: Option<Timestamp>,
    /// CPU time of all its images.
    pub cpu: Option<Nanos>,
    /// Bytes that it read.
    pub bytes_read: u64,
    /// Bytes that it wrote.
    pub bytes_written: u64,
    /// Exit status; NULL if it was killed or not seen to end.
    pub exit_code: Option<i32>,
    /// Name of the signal that killed it.
    pub signal: Option<Arc<str>>,
    /// How many programs it executed, one after the other; the fork itself counts as one.
    pub images: u32,
    /// The shape of the subtree below it.
    pub shape: ShapeId,
    /// Processes in that subtree, with itself.
    pub size: u32,
    /// Steps from its root.
    pub depth: u32,
}

impl Node {
    /// Whether it was killed, or ended with another code than 0.
    #[must_use]
    pub fn failed(&self) -> bool {
        self.signal.is_some() || self.exit_code.is_some_and(|code| code != 0)
    }
}

impl Node {
    /// Time from its first sign of life to its end, if both were seen and time stamps of this resolution tell it.
    #[must_use]
    pub fn lifetime(&self, resolution: Resolution) -> Option<Nanos> {
        resolution.known_span(self.end? - self.start?)
    }
}

/// Subtrees that look the same: the same label, and children of the same shapes in whatever order.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Shape {
    /// `mDiffFit(mDiff, mFitplane)`; equal children are counted: `make(3 x sh(cc))`.
    pub name: Arc<str>,
    /// How many subtrees have it.
    pub count: u32,
    /// Processes in one such subtree.
    pub size: u32,
    /// The distinct shapes below its root and how often each occurs, by their names.
    pub children: Vec<(ShapeId, u32)>,
}

/// The path from a root whose processes lived for the longest time together.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LongestPath {
    /// Its processes, the root first.
    pub nodes: Vec<NodeId>,
    /// How long at least one of them lived: never longer than the whole tree. NULL if no lifetime is known.
    pub time: Option<Nanos>,
}

/// The process tree, a forest if several processes have no recorded parent.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Tree {
    /// All processes; parents before their children.
    pub nodes: Vec<Node>,
    /// Processes without a recorded parent, the first to start first.
    pub roots: Vec<NodeId>,
    /// Shapes of subtrees, the largest first.
    pub shapes: Vec<Shape>,
    /// Names of the groups of processes, the first to start first.
    pub phases: Vec<Arc<str>>,
    /// First start and last end.
    pub span: Option<(Timestamp, Timestamp)>,
    /// The unit of the time stamps in ns, of several cases the coarsest; NULL if it is not known.
    #[serde(rename = "resolution_ns")]
    pub resolution: Resolution,
    /// The estimate of the makespan.
    pub longest: LongestPath,
}

impl Tree {
    /// The process of that id.
    #[must_use]
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// The shape of that id.
    #[must_use]
    pub fn shape(&self, id: ShapeId) -> &Shape {
        &self.shapes[id.0 as usize]
    }
}
