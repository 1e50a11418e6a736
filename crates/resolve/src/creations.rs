//! Calls in flight that make a process or thread.

use crate::shares::Shares;
use hashbrown::HashMap;
use iotrail_model::{Tid, Timestamp};
use std::collections::BTreeSet;

/// A call in flight that makes a process or thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Creation {
    pub(crate) start: Timestamp,
    pub(crate) shares: Shares,
    /// When it began, by the clock of [`crate::contested::Contested`].
    pub(crate) since: u64,
    /// The child, if it was seen before the call returned.
    pub(crate) child: Option<Tid>,
}

/// At most one for each thread.
#[derive(Debug, Default)]
pub(crate) struct Creations {
    by_parent: HashMap<Tid, Creation, foldhash::fast::RandomState>,
    /// The parents whose child was not seen yet.
    open: BTreeSet<Tid>,
}

/// How many creations wait for their child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Open {
    None,
    /// That of this parent.
    One(Tid),
    Several,
}

impl Creations {
    pub(crate) fn begin(&mut self, parent: Tid, start: Timestamp, shares: Shares, since: u64) {
        self.by_parent.insert(parent, Creation { start, shares, since, child: None });
        self.open.insert(parent);
    }

    /// The creation of a parent is over, or will never be.
    pub(crate) fn end(&mut self, parent: Tid) -> Option<Creation> {
        if self.by_parent.is_empty() {
            return None;
        }
        self.open.remove(&parent);
        self.by_parent.remove(&parent)
    }

    pub(crate) fn get(&self, parent: Tid) -> Option<Creation> {
        self.by_parent.get(&parent).copied()
    }

    /// `child` is what the call of `parent` makes.
    pub(crate) fn has_child(&mut self, parent: Tid, child: Tid) {
        if let Some(creation) = self.by_parent.get_mut(&parent) {
            creation.child = Some(child);
            self.open.remove(&parent);
        }
    }

    #[inline]
    pub(crate) fn open(&self) -> Open {
        match (self.open.first(), self.open.len()) {
            (None, _) => Open::None,
            (Some(parent), 1) => Open::One(*parent),
            _ => Open::Several,
        }
    }

    pub(crate) fn clear(&mut self) {
        self.by_parent.clear();
        self.open.clear();
    }
}
