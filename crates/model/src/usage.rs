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
