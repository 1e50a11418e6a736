//! Mounts that a recorder saw being made: what they hide has its name still, though others are found there.

use crate::node::Node;
use hashbrown::HashMap;
use iotrail_model::Timestamp;

/// Mount points that are remembered.
const MOST: usize = 1 << 12;

/// The mount points of a recording.
#[derive(Debug, Default)]
pub(crate) struct Covers {
    points: HashMap<u32, Cover, foldhash::fast::RandomState>,
}

#[derive(Clone, Copy, Debug)]
struct Cover {
    /// When something was mounted there first.
    since: Timestamp,
    /// How many mounts lie there.
    mounts: u32,
}

impl Covers {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Something is mounted there from then on.
    pub(crate) fn mount(&mut self, point: Node, at: Timestamp) {
        if self.points.len() < MOST || self.points.contains_key(&point.0) {
            self.points.entry(point.0).or_insert(Cover { since: at, mounts: 0 }).mounts += 1;
        }
    }

    /// The last mount there is taken away.
    pub(crate) fn unmount(&mut self, point: Node) {
        if let Some(cover) = self.points.get_mut(&point.0) {
            cover.mounts -= 1;
            if cover.mounts == 0 {
                self.points.remove(&point.0);
            }
        }
    }

    /// Whether what was seen then at a name, to which `way` leads, is hidden there.
    pub(crate) fn hide(&self, mut way: impl Iterator<Item = Node>, seen: Timestamp) -> bool {
        way.any(|node| self.points.get(&node.0).is_some_and(|cover| seen < cover.since))
    }
}
