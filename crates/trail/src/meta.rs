//! `trail.json`: what the trail is, which files belong to it, what it covers.

use crate::seal::Checksum;
use iotrail_model::{Coverage, Layer};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The format version that this crate writes, and the latest that it reads.
pub const FORMAT_VERSION: u64 = 1;
/// The mark by which `trail.json` is told from other JSON.
pub(crate) const FORMAT: &str = "iotrail trail";
/// The file that describes a trail.
pub(crate) const META_FILE: &str = "trail.json";
/// The largest `trail.json` that is read, in bytes.
pub(crate) const MAX_META_BYTES: u64 = 1 << 28;

/// How and where the events were captured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Capture {
    /// What delivered the events: `strace`.
    pub source: String,
    /// The traced command line, if it is known.
    pub command: Option<String>,
    /// The host, if it is known and the same for all cases.
    pub host: Option<String>,
    /// The inputs as the user named them.
    pub inputs: Vec<String>,
    /// Whatever else is known about the capture, by name.
    pub details: BTreeMap<String, String>,
}

/// The content of `trail.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrailMeta {
    /// Always `iotrail trail`.
    pub format: String,
    /// Version of the format.
    pub format_version: u64,
    /// Version of the iotrail that wrote it.
    pub tool_version: String,
    /// How and where the events were captured.
    pub capture: Capture,
    /// What time stamps mean.
    pub time: TimeBase,
    /// The tables' files.
    pub files: Vec<TableFile>,
    /// Counts and sums over all events.
    pub totals: Totals,
    /// What the trail holds of what happened, and what not.
    pub coverage: Coverage,
    /// Names of the recordings whose events it holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recordings: Vec<String>,
    /// Whether a number of a file is the same file in all parts and cases, and no other number is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub distinct_files: bool,
    /// The checksum of the document itself; older ones lack it.
    #[serde(default)]
    pub checksum: Checksum,
}

/// What time stamps mean.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeBase {
    /// Always `ns`.
    pub unit: String,
    /// Always the Unix epoch; what it really is says the column `clock` of `cases`.
    pub origin: String,
}

impl Default for TimeBase {
    fn default() -> Self {
        Self { unit: "ns".to_owned(), origin: "1970-01-01T00:00:00Z".to_owned() }
    }
}

/// The tables of a trail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Table {
    /// One row per case.
    Cases,
    /// One row per completed call.
    Events,
    /// One row per executable image of a process.
    Processes,
    /// One row per distinct path of a part.
    Files,
    /// One row per frame of a call site of a part.
    Sites,
}

impl Table {
    /// The name of the table.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cases => "cases",
            Self::Events => "events",
            Self::Processes => "processes",
            Self::Files => "files",
            Self::Sites => "sites",
        }
    }

    /// The file of part `part` of the table.
    pub(crate) fn file_name(self, part: u32) -> String {
        match self {
            Self::Cases => "cases.parquet".to_owned(),
            _ => format!("{}-{part:04}.parquet", self.name()),
        }
    }
}

/// One file of a trail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableFile {
    /// Name within the trail's directory.
    pub file: String,
    /// The table it is a part of.
    pub table: Table,
    /// Number of rows.
    pub rows: u64,
    /// The checksum of its footer, eight digits: no other file can take its place unnoticed. Older trails have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub footer: Option<String>,
}

/// A file of a table that is complete.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub(crate) rows: u64,
    /// The checksum of its footer.
    pub(crate) footer: Option<String>,
}

impl Written {
    /// The entry in `trail.json` of part `part` of `table`.
    pub(crate) fn listed(self, table: Table, part: u32) -> TableFile {
        TableFile { file: table.file_name(part), table, rows: self.rows, footer: self.footer }
    }
}

/// Counts and sums over all events of a trail.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Totals {
    /// Rows of `cases`.
    pub cases: u64,
    /// Processes: what was forked, whatever it executed later; a number used again is another one.
    pub processes: u64,
    /// Threads of these processes.
    pub threads: u64,
    /// Rows of `events`.
    pub events: u64,
    /// Events by call name.
    pub calls: BTreeMap<String, u64>,
    /// Events by error name.
    pub errnos: BTreeMap<String, u64>,
    /// Events by layer; trails that were written before layers were counted hold system calls alone.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub layers: BTreeMap<String, u64>,
    /// Every text in the column `flags`.
    pub flags: BTreeSet<String>,
    /// Start of the first event in ns, if there is one.
    pub start: Option<i64>,
    /// End of the last event in ns; an event whose end was never seen counts with its start.
    pub end: Option<i64>,
    /// Bytes moved by read variants of the lowest layer; a copy between descriptors counts here and in `bytes_written`.
    pub bytes_read: i64,
    /// Bytes moved by write variants.
    pub bytes_written: i64,
}

impl Totals {
    /// Events by layer, also of trails that do not say.
    pub(crate) fn by_layer(&self) -> BTreeMap<String, u64> {
        if !self.layers.is_empty() || self.events == 0 {
            return self.layers.clone();
        }
        BTreeMap::from([(Layer::Syscall.name().to_owned(), self.events)])
    }

    /// Adds the counts over other cases.
    pub(crate) fn add(&mut self, other: &Self) {
        self.layers = self.by_layer();
        crate::info::add(&mut self.layers, &other.by_layer());
        self.cases += other.cases;
        self.processes += other.processes;
        self.threads += other.threads;
        self.events += other.events;
        crate::info::add(&mut self.calls, &other.calls);
        crate::info::add(&mut self.errnos, &other.errnos);
        self.flags.extend(other.flags.iter().cloned());
        self.start = self.start.into_iter().chain(other.start).min();
        self.end = self.end.into_iter().chain(other.end).max();
        self.bytes_read = self.bytes_read.saturating_add(other.bytes_read);
        self.bytes_written = self.bytes_written.saturating_add(other.bytes_written);
    }
}
