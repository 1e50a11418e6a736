//! What a process has of asynchronous I/O: rings by descriptor and where they are mapped, AIO contexts by address.

use super::block::Submission;
use super::context::Context;
use super::geometry::RingAddresses;
use super::ring::RingId;
use hashbrown::{HashMap, HashSet};
use iotrail_model::Tid;
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub(super) struct Process {
    /// Rings by descriptor.
    pub(super) rings: HashMap<i32, RingId>,
    /// Rings by their place among the registered ones of a thread.
    pub(super) registered: HashMap<(Tid, u32), RingId>,
    /// Where each is mapped.
    pub(super) ring_addresses: BTreeMap<RingId, RingAddresses>,
    /// AIO contexts.
    pub(super) contexts: BTreeMap<u64, Context>,
    /// Rings whose `io_uring_enter` a thread is in; `None` is one that is not known.
    pub(super) entering: HashMap<Tid, Option<RingId>>,
    /// The `io_submit` that a thread is in.
    pub(super) submitting: HashMap<Tid, Submission>,
    /// Threads that ended.
    pub(super) threads_gone: HashSet<Tid>,
}

impl Process {
    /// The copy that a child has: descriptors and mappings, but no AIO contexts (`man 2 io_setup`) and no registered rings.
    pub(super) fn forked(&self) -> Self {
        Self { rings: self.rings.clone(), ring_addresses: self.ring_addresses.clone(), ..Self::default() }
    }

    pub(super) fn refers_to(&self, ring: RingId) -> bool {
        self.ring_addresses.contains_key(&ring)
            || self.rings.values().any(|other| *other == ring)
            || self.registered.values().any(|other| *other == ring)
    }
}
