//! The tables of a profile as CSV: all rows, plain numbers, times in ns. NULL is an empty cell.

use iotrail_model::csv::{Table, number, text, text_or_null};
use iotrail_stats::result::{AccessRow, CallRow, ClassCallRow, PhaseRow, Series};
use iotrail_stats::{Profile, ProfileTable};

/// One table of `profile` with a header line.
#[must_use]
pub fn profile_csv(profile: &Profile, table: ProfileTable) -> String {
    match table {
        ProfileTable::Calls => {
            let of_class =
                |row: &ClassCallRow| join([text_or_null(row.class), row.waits.to_string()], call(&row.row));
            rows(&join(["class", "waits"], CALL), profile.class_calls.iter().map(of_class))
        }
        ProfileTable::GroupCalls => {
            let groups = profile.groups.iter().zip(&profile.group_calls);
            let of_group = |(group, calls): (&String, &Vec<CallRow>)| {
                calls.iter().map(|row| join([text(group)], call(row))).collect::<Vec<_>>()
            };
            rows(&join(["group"], CALL), groups.flat_map(of_group))
        }
        ProfileTable::Phases => rows(&PHASE, profile.phases.iter().chain([&profile.total]).map(phase)),
        ProfileTable::Distributions => distributions(profile),
        ProfileTable::Files => {
            let files = profile.files.iter().map(|row| join([text(&row.name)], access(row)));
            rows(&join(["path"], ACCESS), files)
        }
        ProfileTable::Processes => {
            let process = |row: &AccessRow| {
                let group = row.group.and_then(|group| profile.groups.get(group as usize));
                let group = text_or_null(group.map(|group| &**group));
                join([text(&row.name), number(row.pid), group], access(row))
            };
            rows(&join(["command", "pid", "group"], ACCESS), profile.processes.iter().map(process))
        }
        ProfileTable::Throughput => throughput(profile),
    }
}

fn rows<R: IntoIterator<Item: AsRef<str>>>(header: &[&str], rows: impl Iterator<Item = R>) -> String {
    let mut table = Table::new(header);
    rows.for_each(|row| table.line(row));
    table.finish()
}

fn join<T>(first: impl IntoIterator<Item = T>, rest: impl IntoIterator<Item = T>) -> Vec<T> {
    first.into_iter().chain(rest).collect()
}

fn distributions(profile: &Profile) -> String {
    let mut table = Table::new(["quantity", "series", "value", "not_larger", "share", "error"]);
    for series in &profile.distributions {
        let quantity = serde_json::to_value(series.quantity).unwrap_or_default();
        let start = [text_or_null(quantity.as_str()), text(&series.series)];
        for (value, seen) in &series.steps {
            let share = *seen as f64 / series.count as f64;
            let rest = [value.to_string(), seen.to_string(), share.to_string(), series.error.to_string()];
            table.line(start.iter().chain(&rest));
        }
    }
    table.finish()
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
        number(row.total_ns),
        number(row.total_share),
        row.timed.to_string(),
        number(row.mean_ns),
        number(row.sd_ns),
        number(row.min_ns),
        number(row.p50_ns),
        number(row.p95_ns),
        number(row.p99_ns),
        number(row.max_ns),
        row.bytes.to_string(),
    ]
}

const PHASE: [&str; 27] = [
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
    "io_ns",
    "wait_ns",
    "cpu_ns",
    "lifetime_ns",
    "start_ns",
    "end_ns",
];

fn phase(row: &PhaseRow) -> [String; 27] {
    [
        text(&row.group),
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
        number(row.storage_read),
        number(row.storage_written),
        row.storage_unknown.to_string(),
        number(row.page_cache_hit),
        number(row.call_ns),
        number(row.io_ns),
        number(row.wait_ns),
        number(row.cpu_ns),
        number(row.lifetime_ns),
        number(row.span.map(|(start, _)| start)),
        number(row.span.map(|(_, end)| end)),
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
        number(row.common_size),
        number(row.common_share),
        number(row.unique_read),
        number(row.unique_written),
        number(row.reread),
        number(row.overwritten),
    ]
}

fn throughput(profile: &Profile) -> String {
    let mut table = Table::new(["by", "name", "start_ns", "bin_ns", "bytes_read", "bytes_written", "calls"]);
    let (groups, ranks) = (&profile.throughput.groups, &profile.throughput.ranks);
    let Some(time) = profile.throughput.bin_ns.zip(profile.throughput.origin_ns) else {
        return table.finish();
    };
    for (by, all) in [("group", groups), ("rank", ranks)] {
        all.iter().for_each(|series| bins(by, series, time, &mut table));
    }
    table.finish()
}

fn bins(by: &str, series: &Series, (bin, origin): (u64, i64), table: &mut Table) {
    let bins = series.read.iter().zip(&series.written).zip(&series.calls);
    for (index, ((read, written), calls)) in bins.enumerate() {
        let after = i64::try_from(bin.saturating_mul(index as u64)).unwrap_or(i64::MAX);
        let start = origin.saturating_add(after).to_string();
        let numbers = [start, bin.to_string(), read.to_string(), written.to_string(), calls.to_string()];
        table.line(join([by.to_owned(), text(&series.name)], numbers));
    }
}
