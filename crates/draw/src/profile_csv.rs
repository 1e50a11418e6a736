//! The tables of a profile as CSV: all rows, plain numbers, times in ns. NULL is an empty cell.

use crate::export::quoted_csv;
use iotrail_stats::result::{AccessRow, CallRow, PhaseRow, Series};
use iotrail_stats::{Profile, ProfileTable};

/// Name of the row of all groups.
const ALL: &str = "(all)";

/// One table of `profile` with a header line.
#[must_use]
pub fn profile_csv(profile: &Profile, table: ProfileTable) -> String {
    let mut csv = Csv::default();
    match table {
        ProfileTable::Calls => {
            csv.header(&CALL);
            profile.calls.iter().for_each(|row| csv.line(call(row)));
        }
        ProfileTable::GroupCalls => {
            csv.header(&[&["group"], &CALL[..]].concat());
            for (group, rows) in profile.groups.iter().zip(&profile.group_calls) {
                rows.iter().for_each(|row| csv.line([text(group)].into_iter().chain(call(row))));
            }
        }
        ProfileTable::Phases => {
            csv.header(&PHASE);
            profile.phases.iter().for_each(|row| csv.line(phase(&row.group, row)));
            csv.line(phase(ALL, &profile.total));
        }
        ProfileTable::Distributions => {
            csv.header(&["quantity", "series", "value", "not_larger", "share", "error"]);
            for series in &profile.distributions {
                let quantity = serde_json::to_value(series.quantity).unwrap_or_default();
                let start = [quantity.as_str().unwrap_or_default().to_owned(), text(&series.series)];
                for (value, seen) in &series.steps {
                    let share = *seen as f64 / series.count as f64;
                    let rest =
                        [value.to_string(), seen.to_string(), share.to_string(), series.error.to_string()];
                    csv.line(start.iter().cloned().chain(rest));
                }
            }
        }
        ProfileTable::Files => {
            csv.header(&[&["path"], &ACCESS[..]].concat());
            profile.files.iter().for_each(|row| csv.line([text(&row.name)].into_iter().chain(access(row))));
        }
        ProfileTable::Processes => {
            csv.header(&[&["command", "pid", "group"], &ACCESS[..]].concat());
            for row in &profile.processes {
                let group = row.group.and_then(|group| profile.groups.get(group as usize));
                let start =
                    [text(&row.name), cell(row.pid), group.map(|group| text(group)).unwrap_or_default()];
                csv.line(start.into_iter().chain(access(row)));
            }
        }
        ProfileTable::Throughput => {
            csv.header(&["by", "name", "start_ns", "bin_ns", "bytes_read", "bytes_written", "calls"]);
            for (by, all) in [("group", &profile.throughput.groups), ("rank", &profile.throughput.ranks)] {
                all.iter().for_each(|series| throughput(profile, by, series, &mut csv));
            }
        }
    }
    csv.0
}

#[derive(Default)]
struct Csv(String);

impl Csv {
    fn header(&mut self, names: &[&str]) {
        self.line(names.iter().map(|name| (*name).to_owned()));
    }

    fn line(&mut self, cells: impl IntoIterator<Item = String>) {
        let cells: Vec<String> = cells.into_iter().collect();
        self.0.push_str(&cells.join(","));
        self.0.push('\n');
    }
}

fn text(text: &str) -> String {
    if text.is_empty() { "\"\"".to_owned() } else { quoted_csv(text) }
}

fn cell(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

const CALL: [&str; 15] = [
    "call",
    "count",
    "count_share",
    "failures",
    "total_ns",
    "total_share",
    "timed",
    "mean_ns",
    "sd_ns",
    "min_ns",
    "p50_ns",
    "p95_ns",
    "p99_ns",
    "max_ns",
    "bytes",
];

fn call(row: &CallRow) -> [String; 15] {
    [
        text(&row.call),
        row.count.to_string(),
        row.count_share.to_string(),
        row.failures.to_string(),
        cell(row.total_ns),
        cell(row.total_share),
        row.timed.to_string(),
        cell(row.mean_ns),
        cell(row.sd_ns),
        cell(row.min_ns),
        cell(row.p50_ns),
        cell(row.p95_ns),
        cell(row.p99_ns),
        cell(row.max_ns),
        row.bytes.to_string(),
    ]
}

const PHASE: [&str; 25] = [
    "group",
    "jobs",
    "calls",
    "bytes_read",
    "bytes_written",
    "other_read",
    "other_written",
    "files_ro",
    "files_wo",
    "files_rw",
    "files_none",
    "processes_ro",
    "processes_wo",
    "processes_rw",
    "processes_none",
    "mappings",
    "storage_read",
    "storage_written",
    "storage_unknown",
    "page_cache_hit",
    "call_ns",
    "cpu_ns",
    "life_ns",
    "start_ns",
    "end_ns",
];

fn phase(group: &str, row: &PhaseRow) -> [String; 25] {
    [
        text(group),
        row.jobs.to_string(),
        row.calls.to_string(),
        row.bytes_read.to_string(),
        row.bytes_written.to_string(),
        row.other_read.to_string(),
        row.other_written.to_string(),
        row.files.ro.to_string(),
        row.files.wo.to_string(),
        row.files.rw.to_string(),
        row.files.none.to_string(),
        row.processes.ro.to_string(),
        row.processes.wo.to_string(),
        row.processes.rw.to_string(),
        row.processes.none.to_string(),
        row.mappings.to_string(),
        cell(row.storage_read),
        cell(row.storage_written),
        row.storage_unknown.to_string(),
        cell(row.page_cache_hit),
        cell(row.call_ns),
        cell(row.cpu_ns),
        cell(row.life_ns),
        cell(row.span.map(|(start, _)| start)),
        cell(row.span.map(|(_, end)| end)),
    ]
}

const ACCESS: [&str; 13] = [
    "reads",
    "writes",
    "bytes_read",
    "bytes_written",
    "consecutive",
    "sequential",
    "random",
    "common_size",
    "common_share",
    "unique_read",
    "unique_written",
    "reread",
    "overwritten",
];

fn access(row: &AccessRow) -> [String; 13] {
    [
        row.reads.to_string(),
        row.writes.to_string(),
        row.bytes_read.to_string(),
        row.bytes_written.to_string(),
        row.consecutive.to_string(),
        row.sequential.to_string(),
        row.random.to_string(),
        cell(row.common_size),
        cell(row.common_share),
        cell(row.unique_read),
        cell(row.unique_written),
        cell(row.reread),
        cell(row.overwritten),
    ]
}

fn throughput(profile: &Profile, by: &str, series: &Series, csv: &mut Csv) {
    let (Some(bin), Some(origin)) = (profile.throughput.bin_ns, profile.throughput.origin_ns) else { return };
    let bins = series.read.iter().zip(&series.written).zip(&series.calls);
    for (at, ((read, written), calls)) in bins.enumerate() {
        let after = i64::try_from(bin.saturating_mul(at as u64)).unwrap_or(i64::MAX);
        let start = origin.saturating_add(after);
        let numbers =
            [start.to_string(), bin.to_string(), read.to_string(), written.to_string(), calls.to_string()];
        csv.line([by.to_owned(), text(&series.name)].into_iter().chain(numbers));
    }
}
