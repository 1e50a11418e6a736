//! The short answer about a trail: what `iotrail info --json` prints.

use crate::meta::TrailMeta;
use iotrail_model::{Case, Coverage, Resolution, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What a trail, or several as one event log, hold. Serialises to the JSON of `iotrail info --json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Info {
    /// Names of the trails.
    pub trails: Vec<String>,
    /// What delivered the events; several sources are joined by `, `.
    pub source: String,
    /// Latest format version among the trails.
    pub format_version: u64,
    /// Versions of iotrail that wrote the trails.
    pub tool_versions: BTreeSet<String>,
    /// The traced commands, as far as they are known.
    pub commands: BTreeSet<String>,
    /// What the time stamps mean: names of clocks.
    pub clocks: BTreeSet<String>,
    /// The unit of the time stamps in ns, of cases with several the coarsest; NULL if there are none, or the trail does not
    /// tell.
    #[serde(rename = "resolution_ns", default)]
    pub resolution: Resolution,
    /// Number of cases.
    pub cases: u64,
    /// Number of processes: what was forked, whatever it executed later; a number used again is another one.
    pub processes: u64,
    /// Number of threads of these processes.
    pub threads: u64,
    /// Number of events.
    pub events: u64,
    /// Events by call.
    pub calls: BTreeMap<String, u64>,
    /// Events by layer.
    #[serde(default)]
    pub layers: BTreeMap<String, u64>,
    /// Call sites of MPI calls.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub sites: u64,
    /// Events by error name.
    pub errnos: BTreeMap<String, u64>,
    /// From the first start to the last end; NULL if there is no event, or a case has no time stamps.
    pub time: Option<Span>,
    /// Bytes moved.
    pub bytes: Bytes,
    /// What the trails cover.
    pub coverage: Coverage,
    /// Size of the trails' files.
    pub disk_bytes: u64,
}

/// A span of time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// RFC 3339.
    pub start: String,
    /// RFC 3339.
    pub end: String,
    /// Nanoseconds since the epoch of the clock.
    pub start_ns: i64,
    /// Nanoseconds since the epoch of the clock.
    pub end_ns: i64,
}

impl Span {
    fn new(start_ns: i64, end_ns: i64) -> Self {
        let text = |nanos| Timestamp(nanos).to_rfc3339();
        Self { start: text(start_ns), end: text(end_ns), start_ns, end_ns }
    }
}

/// Bytes moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bytes {
    /// By read variants.
    pub read: i64,
    /// By write variants.
    pub written: i64,
}

impl Info {
    pub(crate) fn new(name: &str, meta: &TrailMeta, cases: &[Case], disk_bytes: u64) -> Self {
        let totals = &meta.totals;
        Self {
            trails: vec![name.to_owned()],
            source: meta.capture.source.clone(),
            format_version: meta.format_version,
            tool_versions: BTreeSet::from([meta.tool_version.clone()]),
            commands: meta.capture.command.iter().cloned().collect(),
            clocks: cases.iter().map(|case| case.clock.name().to_owned()).collect(),
            resolution: Case::resolution_of(cases),
            cases: totals.cases,
            processes: totals.processes,
            threads: totals.threads,
            events: totals.events,
            calls: totals.calls.clone(),
            layers: totals.by_layer(),
            sites: 0,
            errnos: totals.errnos.clone(),
            // One case without time stamps, and the first start and the last end are those of no clock.
            time: totals
                .start
                .zip(totals.end)
                .filter(|_| cases.iter().all(Case::has_times))
                .map(|(start, end)| Span::new(start, end)),
            bytes: Bytes { read: totals.bytes_read, written: totals.bytes_written },
            coverage: meta.coverage.clone(),
            disk_bytes,
        }
    }

    /// The answer about both event logs together.
    pub fn merge(&mut self, other: &Self) {
        self.trails.extend(other.trails.iter().cloned());
        let mut sources: BTreeSet<&str> = self.source.split(", ").chain(other.source.split(", ")).collect();
        sources.remove("");
        self.source = sources.into_iter().collect::<Vec<_>>().join(", ");
        self.format_version = self.format_version.max(other.format_version);
        self.tool_versions.extend(other.tool_versions.iter().cloned());
        self.commands.extend(other.commands.iter().cloned());
        self.clocks.extend(other.clocks.iter().cloned());
        self.resolution = self.resolution.max(other.resolution);
        self.cases += other.cases;
        self.processes += other.processes;
        self.threads += other.threads;
        self.events += other.events;
        add(&mut self.calls, &other.calls);
        add(&mut self.layers, &other.layers);
        add(&mut self.errnos, &other.errnos);
        self.time = match (self.time.take(), other.time.clone()) {
            (Some(a), Some(b)) => Some(Span::new(a.start_ns.min(b.start_ns), a.end_ns.max(b.end_ns))),
            (a, b) => a.or(b),
        };
        self.bytes.read = self.bytes.read.saturating_add(other.bytes.read);
        self.bytes.written = self.bytes.written.saturating_add(other.bytes.written);
        self.coverage.merge(&other.coverage);
        self.disk_bytes += other.disk_bytes;
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

pub(crate) fn add(counts: &mut BTreeMap<String, u64>, more: &BTreeMap<String, u64>) {
    for (name, count) in more {
        *counts.entry(name.clone()).or_default() += count;
    }
}
