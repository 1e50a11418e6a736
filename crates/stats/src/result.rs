//! What a profile says. Each number is of one layer, which its docs, its JSON name and every table state.

use iotrail_model::{Coverage, Layer, Limitation};
use serde::Serialize;

/// The version of the JSON form of [`Profile`].
pub const PROFILE_FORMAT: u32 = 1;

/// All tables of a profile. Groups are numbered by their place in `groups`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Profile {
    /// [`PROFILE_FORMAT`].
    pub format: u32,
    /// Names of the trails.
    pub sources: Vec<String>,
    /// How processes are grouped, as written.
    pub by: String,
    /// Whether each name of a file counts as a file of its own.
    pub paths: bool,
    /// The selection in words, empty if everything is selected.
    pub selection: String,
    /// The layers whose calls count; empty if the log has no calls.
    pub layers: Vec<Layer>,
    /// First start of a selected call and last end, in ns since the epoch.
    pub span: Option<(i64, i64)>,
    /// Groups of processes, the first to start first.
    pub groups: Vec<String>,
    /// Table 1 (Dun et al., Table 4), one row for each call, most time first.
    pub calls: Vec<CallRow>,
    /// The same by group; shares are of the group's calls.
    pub group_calls: Vec<Vec<CallRow>>,
    /// Table 1 with a row for each call and class of its time: `read` of files apart from `read` of pipes. Shares are of all calls.
    pub class_calls: Vec<ClassCallRow>,
    /// Table 2 (Dun et al., Table 5), a row for each group of which anything is selected.
    pub phases: Vec<PhaseRow>,
    /// The last row of table 2: not the sum of the others, as groups share files.
    pub total: PhaseRow,
    /// Table 3: what is distributed how.
    pub distributions: Vec<Distribution>,
    /// Table 4 by file, most bytes first.
    pub files: Vec<AccessRow>,
    /// Table 4 by process, most bytes first.
    pub processes: Vec<AccessRow>,
    /// Table 5 by group and by rank.
    pub throughput: Throughput,
    /// Which events the trails lack; empty if none is known to be missing.
    pub limitations: Vec<Limitation>,
    /// The coverage statement, with what this analysis could not use.
    pub coverage: Coverage,
}

impl Profile {
    /// What its calls are, in words.
    #[must_use]
    pub fn kind_of_calls(&self) -> String {
        let words: Vec<&str> = self.layers.iter().map(|layer| layer.calls()).collect();
        if words.is_empty() { Layer::Syscall.calls().to_owned() } else { words.join(" and ") }
    }
}

/// Call statistics. Layer: that of the calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CallRow {
    /// Name of the call.
    pub call: String,
    /// Number of calls.
    pub count: u64,
    /// Of all calls.
    pub count_share: f64,
    /// How many failed.
    pub failures: u64,
    /// Sum of the times from start to return; NULL if none is known.
    pub total_ns: Option<u64>,
    /// Of the time of all calls; NULL if no time is known.
    pub total_share: Option<f64>,
    /// How many calls have a known duration: what the figures below are of.
    pub timed: u64,
    /// Arithmetic mean of the durations, ns; NULL if no call has one.
    pub mean_ns: Option<f64>,
    /// Standard deviation of the population.
    pub sd_ns: Option<f64>,
    /// Shortest duration, ns; NULL if no call has one.
    pub min_ns: Option<i64>,
    /// Nearest-rank quantiles.
    pub p50_ns: Option<i64>,
    /// See `p50_ns`.
    pub p95_ns: Option<i64>,
    /// See `p50_ns`.
    pub p99_ns: Option<i64>,
    /// Longest duration, ns; NULL if no call has one.
    pub max_ns: Option<i64>,
    /// Bytes moved, of calls that move bytes.
    pub bytes: u64,
}

/// Call statistics of one class of a call's time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ClassCallRow {
    /// What the time counts as (`docs/why.md`); NULL if it is of no class, or of one that is not known.
    pub class: Option<&'static str>,
    /// Whether that is waiting of a thread, by the clock or for somebody.
    pub waits: bool,
    /// Whether these are requests (io_uring, aio): their time is work in flight, and none of a thread.
    pub request: bool,
    /// Counts and durations of the calls.
    #[serde(flatten)]
    pub row: CallRow,
}

/// How many files or processes read, wrote, did both, or neither.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Modes {
    /// Bytes out of it (them), none into it.
    pub ro: u64,
    /// Bytes into it, none out of it.
    pub wo: u64,
    /// Both.
    pub rw: u64,
    /// Neither: only made, opened, looked at.
    pub none: u64,
}

/// The I/O summary of a group of processes. Layers: `read`, `written`, `files`, `processes`: that of the calls; `storage_*`: what
/// the file system fetched from or sent to storage, from the kernel's counters of the processes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PhaseRow {
    /// Name of the group.
    pub group: String,
    /// Processes of the group; of groups of jobs (`job`) those that the workflow manager started, not their descendants.
    pub jobs: u64,
    /// Selected calls.
    pub calls: u64,
    /// Bytes that calls read, from whatever.
    pub bytes_read: u64,
    /// Bytes that calls wrote, to whatever.
    pub bytes_written: u64,
    /// Of the bytes read, those from what is no file or is not known: pipes, sockets, terminals, character devices.
    pub other_read: u64,
    /// Of the bytes written, those to what is no file or is not known.
    pub other_written: u64,
    /// Files as the group used them.
    pub files: Modes,
    /// Processes of the group by what they did to all their files.
    pub processes: Modes,
    /// Mappings of files. Pages of them may have been read or written without a call; how many, nobody saw.
    pub mappings: u64,
    /// Bytes really fetched from storage; NULL if no process tells.
    pub storage_read: Option<u64>,
    /// Bytes really sent to storage.
    pub storage_written: Option<u64>,
    /// Processes of which this is not known, or not of all their images: what the sums lack.
    pub storage_unknown: u64,
    /// Share of the bytes read from files that came from the page cache: of each process what it read less what storage gave it
    /// (`storage_read`), at least 0; NULL if unknown, also of a selection of calls, which the kernel's counters cannot follow.
    pub page_cache_hit: Option<f64>,
    /// Sum of the time in calls, without requests; NULL if no call tells.
    pub call_ns: Option<u64>,
    /// The part of it that is I/O time: data, sync and metadata. NULL if no call tells.
    pub io_ns: Option<u64>,
    /// The part of it that is waiting, by the clock or for somebody. NULL if no call tells.
    pub wait_ns: Option<u64>,
    /// Time in which requests (io_uring, aio) were in flight, each by itself; no part of `call_ns`. NULL if no call tells.
    pub request_ns: Option<u64>,
    /// Sum of the CPU time of its processes; NULL if no process tells.
    pub cpu_ns: Option<u64>,
    /// Sum of the lifetimes of its processes; those without a known end count to the end of the log. NULL if no start is known.
    pub lifetime_ns: Option<u64>,
    /// First start and last end of its processes, ns since the epoch.
    pub span: Option<(i64, i64)>,
}

/// What a distribution is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Latency of calls, a series for each call (Dun et al., Fig. 5 and 6). Nanoseconds.
    Latency,
    /// Bytes moved by one read, a series for each group of processes (Fig. 9 is the sum by process).
    ReadLength,
    /// Bytes moved by one write.
    WriteLength,
    /// Bytes read by one process (Fig. 9).
    ProcessRead,
    /// Bytes written by one process (Fig. 10).
    ProcessWritten,
    /// Bytes moved by one read, a series for each group of files (Fig. 7).
    FileReadLength,
    /// Bytes moved by one write, a series for each group of files (Fig. 8).
    FileWriteLength,
    /// Lifetime of processes, a series for each group (Fig. 12). Nanoseconds.
    Lifetime,
}

/// A distribution: each value counts once, never by its size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Distribution {
    /// What it is of.
    pub quantity: Quantity,
    /// The call or the group.
    pub series: String,
    /// How many values.
    pub count: u64,
    /// Sum of the values.
    pub sum: u128,
    /// Distinct values, ascending, with the number of values not larger: the exact empirical distribution function.
    pub steps: Vec<(i64, u64)>,
    /// Whether values were joined because there were too many distinct ones: relative error of a value, else 0.
    pub error: f64,
}

/// Access pattern of a file or a process. Layer: that of the calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AccessRow {
    /// Path of the file, or command of the process.
    pub name: String,
    /// Number of the process; NULL for files.
    pub pid: Option<u32>,
    /// Group of the process; NULL for files.
    pub group: Option<u32>,
    /// Reads that moved bytes.
    pub reads: u64,
    /// Writes that moved bytes.
    pub writes: u64,
    /// Bytes that they read.
    pub bytes_read: u64,
    /// Bytes that they wrote.
    pub bytes_written: u64,
    /// Accesses that begin exactly where the one before ended, both with known offsets, through the same open file
    /// description, whichever process or descriptor made them.
    pub consecutive: u64,
    /// Accesses that begin at or after the end of the one before; holds the consecutive ones.
    pub sequential: u64,
    /// Accesses that begin before the end of the one before.
    pub random: u64,
    /// The most common size of a request, the smallest of equally common ones; NULL also if there are too many sizes.
    pub common_size: Option<i64>,
    /// Its share of all requests: regularity.
    pub common_share: Option<f64>,
    /// Distinct bytes of files that were read; NULL if the offset of one read is unknown.
    pub unique_read: Option<u64>,
    /// Distinct bytes of files that were written.
    pub unique_written: Option<u64>,
    /// Bytes read from files again: all bytes read from them − `unique_read`.
    pub reread: Option<u64>,
    /// Bytes of files written again.
    pub overwritten: Option<u64>,
}

/// Bytes and calls over time, in equal bins that begin at multiples of their width. Layer: that of the calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Throughput {
    /// Start of the first bin; NULL if no call has a time.
    pub origin_ns: Option<i64>,
    /// Width of a bin; NULL if no call has a time.
    pub bin_ns: Option<u64>,
    /// By group.
    pub groups: Vec<Series>,
    /// By rank (the recorded case), for the heat map.
    pub ranks: Vec<Series>,
}

/// One line of figures over time. A call's bytes are spread evenly over the bins that it lasts; sums over bins are exact.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Series {
    /// The group or the rank.
    pub name: String,
    /// Bytes read in each bin.
    pub read: Vec<u64>,
    /// Bytes written in each bin.
    pub written: Vec<u64>,
    /// Calls that began in each bin.
    pub calls: Vec<u64>,
}
