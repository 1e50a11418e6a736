//! What a process used: the counters that the kernel keeps for it.

use crate::time::Nanos;
use serde::{Deserialize, Serialize};

/// Counters of a process with all its threads, or of one of its executable images. Unknown is `None`, never 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// User CPU time.
    pub user: Option<Nanos>,
    /// System CPU time.
    pub system: Option<Nanos>,
    /// Page faults that needed no storage.
    pub minor_faults: Option<u64>,
    /// Page faults that read from storage.
    pub major_faults: Option<u64>,
    /// Largest resident memory of the image, in bytes.
    pub max_memory: Option<u64>,
    /// Bytes that were really fetched from storage (`read_bytes` of `/proc/PID/io`).
    pub storage_read: Option<u64>,
    /// Bytes that were really sent to storage, or will be (`write_bytes` less `cancelled_write_bytes`).
    pub storage_written: Option<u64>,
    /// Context switches because it waited.
    pub voluntary_switches: Option<u64>,
    /// Context switches because its time was up.
    pub involuntary_switches: Option<u64>,
    /// Time spent waiting for block I/O to finish (delay accounting), where the kernel counts it and lets us see it.
    pub io_delay: Option<Nanos>,
}

impl Usage {
    /// Nothing used yet, as a process begins.
    pub const ZERO: Self = Self {
        user: Some(Nanos(0)),
        system: Some(Nanos(0)),
        minor_faults: Some(0),
        major_faults: Some(0),
        max_memory: None,
        storage_read: Some(0),
        storage_written: Some(0),
        voluntary_switches: Some(0),
        involuntary_switches: Some(0),
        io_delay: Some(Nanos(0)),
    };

    /// What was used since the counters stood at `before`. The largest memory is no sum and stays.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let time = |now: Option<Nanos>, before: Option<Nanos>| {
            now.zip(before).map(|(now, before)| Nanos(now.0.saturating_sub(before.0).max(0)))
        };
        let count = |now: Option<u64>, before: Option<u64>| {
            now.zip(before).map(|(now, before)| now.saturating_sub(before))
        };
        Self {
            user: time(self.user, before.user),
            system: time(self.system, before.system),
            minor_faults: count(self.minor_faults, before.minor_faults),
            major_faults: count(self.major_faults, before.major_faults),
            max_memory: self.max_memory,
            storage_read: count(self.storage_read, before.storage_read),
            storage_written: count(self.storage_written, before.storage_written),
            voluntary_switches: count(self.voluntary_switches, before.voluntary_switches),
            involuntary_switches: count(self.involuntary_switches, before.involuntary_switches),
            io_delay: time(self.io_delay, before.io_delay),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_used_the_difference_and_its_own_memory() {
        let before =
            Usage { user: Some(Nanos(5)), major_faults: Some(9), max_memory: Some(70), ..Usage::ZERO };
        let now = Usage {
            user: Some(Nanos(12)),
            major_faults: Some(7),
            max_memory: Some(50),
            io_delay: None,
            ..Usage::ZERO
        };
        let image = now.since(&before);
        assert_eq!((image.user, image.major_faults, image.max_memory), (Some(Nanos(7)), Some(0), Some(50)));
        assert_eq!((image.io_delay, image.system), (None, Some(Nanos(0))));
        assert_eq!(now.since(&Usage::default()).user, None);
    }
}
