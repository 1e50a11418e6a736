//! The ends of a directly-follows relation: an activity, or ● or ■.

use iotrail_query::ActivityId;

/// An activity by its number, or the boundary of a trace: ● as a predecessor, ■ as a follower.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Vertex(u32);

impl Vertex {
    pub(crate) const BOUNDARY: Self = Self(ActivityId::UNSELECTED.0);

    #[inline]
    pub(crate) const fn activity(index: u32) -> Self {
        Self(index)
    }

    /// The activity's number, NULL for ● and ■.
    #[inline]
    pub(crate) const fn index(self) -> Option<usize> {
        ActivityId(self.0).index()
    }
}

/// A directly-follows relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Relation {
    pub(crate) from: Vertex,
    pub(crate) to: Vertex,
}

impl Relation {
    #[inline]
    pub(crate) const fn between(from: u32, to: u32) -> Self {
        Self { from: Vertex::activity(from), to: Vertex::activity(to) }
    }

    /// A number by which relations are in order.
    #[inline]
    pub(crate) const fn key(self) -> u64 {
        (self.from.0 as u64) << 32 | self.to.0 as u64
    }

    /// ● before the first activity of a trace.
    pub(crate) const fn first(to: u32) -> Self {
        Self { from: Vertex::BOUNDARY, to: Vertex::activity(to) }
    }

    /// ■ after the last one.
    pub(crate) const fn last(from: u32) -> Self {
        Self { from: Vertex::activity(from), to: Vertex::BOUNDARY }
    }
}
