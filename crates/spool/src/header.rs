//! `header.json`: whose recording this is. Written before the first event, never changed.

use iotrail_model::{CaseName, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The format version that this crate writes and reads. A spool lives until it is converted, so earlier versions need
/// not be read for ever.
pub const FORMAT_VERSION: u64 = 3;

/// Who records what.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Header {
    /// The process that writes the spool.
    pub recorder: Recorder,
    /// The name of the one case that the events belong to.
    pub case: CaseName,
    /// Free text by which runs are told apart.
    pub label: Option<String>,
    /// What the recorders of one run have in common.
    pub run: Option<String>,
    /// The rank of this recorder's program in its run.
    pub rank: Option<u32>,
    /// Whatever else the trail needs to know of the capture, by name.
    pub capture: BTreeMap<String, serde_json::Value>,
}

/// The process that writes a spool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Recorder {
    /// Name of the host.
    pub host: String,
    /// Its process id there.
    pub pid: u32,
    /// `/proc/sys/kernel/random/boot_id`: whether the machine was started anew since.
    pub boot_id: Option<String>,
    /// When the recording began.
    pub started: Option<Timestamp>,
    /// The recorded command line; empty if processes were attached to.
    pub command: Vec<String>,
}
