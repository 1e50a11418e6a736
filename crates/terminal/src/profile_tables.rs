//! The tables of a profile for terminals. Each title names the layer that the numbers are of.

use crate::hints::Hint;
use crate::table::{Align, Style, Table};
use iotrail_model::text::printable;
use iotrail_model::units;
use iotrail_stats::distribution::Scale;
use iotrail_stats::result::{
    AccessRow, CallRow, ClassCallRow, Distribution, Modes, PhaseRow, Quantity, Series,
};
use iotrail_stats::{Profile, ProfileTable};

/// What is unknown.
const UNKNOWN: &str = "–";
/// Heights of a small picture.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// How many bars a small picture has at most.
const MOST_BARS: usize = 24;

/// `tables` of `profile`, the first `top` rows of each.
#[must_use]
pub fn profile_tables(profile: &Profile, tables: &[ProfileTable], top: usize, style: Style) -> String {
    let texts: Vec<String> = tables.iter().map(|table| section(profile, *table, top, style)).collect();
    texts.join("\n")
}

fn section(profile: &Profile, table: ProfileTable, top: usize, style: Style) -> String {
    let by = printable(&profile.by);
    let layer = &table.layer(&profile.kind_of_calls());
    match table {
        ProfileTable::Phases => {
            let rows = phases(profile, top);
            let files = if profile.paths { "; names counted as files" } else { "" };
            let title = format!("I/O of groups of processes, by {by}{files}");
            titled(&title, layer, &rows, profile.phases.len().saturating_sub(top), style)
        }
        ProfileTable::Calls => {
            let rows = |is_shown: fn(&ClassCallRow) -> bool| -> Vec<&ClassCallRow> {
                profile.class_calls.iter().filter(|row| is_shown(row)).collect()
            };
            let mut text = classed("Calls", layer, &rows(|row| !row.waits && !row.request), top, style);
            let others = [
                ("Waits", rows(|row| row.waits)),
                ("Requests in flight, beside the calls of their threads", rows(|row| row.request)),
            ];
            for (title, rows) in others.iter().filter(|(_, rows)| !rows.is_empty()) {
                text.push('\n');
                text.push_str(&classed(title, layer, rows, top, style));
            }
            text
        }
        ProfileTable::GroupCalls => {
            let groups = profile.groups.iter().zip(&profile.group_calls).filter(|(_, rows)| !rows.is_empty());
            let texts: Vec<String> = groups
                .map(|(group, rows)| {
                    let title = format!("Calls of {}", printable(group));
                    titled(&title, layer, &calls(rows, None, top), rows.len().saturating_sub(top), style)
                })
                .collect();
            texts.join("\n")
        }
        ProfileTable::Distributions => distributions(profile, top, style),
        ProfileTable::Files => {
            let title = if profile.paths { "Access to files, by name" } else { "Access to files" };
            access(title, layer, &profile.files, None, top, style)
        }
        ProfileTable::Processes => {
            access("Access by processes", layer, &profile.processes, Some(&profile.groups), top, style)
        }
        ProfileTable::Throughput => throughput(profile, layer, top, style),
    }
}

fn titled(title: &str, layer: &str, rows: &Table, hidden: usize, style: Style) -> String {
    let mut text = format!("{} {}\n", style.bold(title), style.dim(&format!("(layer: {layer})")));
    if rows.is_empty() {
        text.push_str("Nothing.\n");
        return text;
    }
    text.push_str(&rows.render(style));
    if hidden > 0 {
        let more = units::counted(hidden as u64, "more row", "more rows");
        text.push_str(&style.left_out(&more, Hint::MoreRows));
    }
    text
}

/// A table of calls by class; shares are of its rows.
fn classed(title: &str, layer: &str, rows: &[&ClassCallRow], top: usize, style: Style) -> String {
    let count: u64 = rows.iter().map(|row| row.row.count).sum();
    let time = rows.iter().filter_map(|row| row.row.total_ns).fold(0, u64::saturating_add);
    let shown: Vec<CallRow> = rows
        .iter()
        .map(|row| CallRow {
            count_share: row.row.count as f64 / count.max(1) as f64,
            total_share: row.row.total_ns.filter(|_| time > 0).map(|nanos| nanos as f64 / time as f64),
            ..row.row.clone()
        })
        .collect();
    let classes: Vec<&str> = rows.iter().map(|row| row.class.unwrap_or(UNKNOWN)).collect();
    titled(title, layer, &calls(&shown, Some(&classes), top), rows.len().saturating_sub(top), style)
}

fn calls(rows: &[CallRow], classes: Option<&[&str]>, top: usize) -> Table {
    let mut table = Table::new().names("call");
    if classes.is_some() {
        table = table.figures("class", Align::Left);
    }
    table = table.figures("count", Align::Right).figures("share", Align::Right);
    table = table.figures("time", Align::Right).figures("share", Align::Right).figures("mean", Align::Right);
    for title in ["sd", "min", "p50", "p95", "p99", "max"] {
        table = table.optional(title, Align::Right);
    }
    table = table.figures("failed", Align::Right).optional("bytes", Align::Right);
    for (index, row) in rows.iter().take(top).enumerate() {
        let nanos = |value: Option<i64>| known(value, |value| units::duration(value as f64));
        let class = classes.and_then(|classes| classes.get(index)).map(|class| (*class).to_owned());
        let name = [Some(row.call.clone()), class].into_iter().flatten();
        table.row(name.chain([
            units::count(row.count),
            units::percent(row.count_share),
            known(row.total_ns, |nanos| units::duration(nanos as f64)),
            known(row.total_share, units::percent),
            known(row.mean_ns, units::duration),
            known(row.sd_ns, units::duration),
            nanos(row.min_ns),
            nanos(row.p50_ns),
            nanos(row.p95_ns),
            nanos(row.p99_ns),
            nanos(row.max_ns),
            units::count(row.failures),
            units::bytes(row.bytes as f64),
        ]));
    }
    table
}

/// A column of the summary of groups: its title, whether narrow terminals go without it, and its cell.
type PhaseColumn = (&'static str, bool, fn(&PhaseRow) -> String);

const PHASE_COLUMNS: [PhaseColumn; 14] = [
    ("processes", false, |row| units::count(row.jobs)),
    ("read", false, |row| units::bytes(row.bytes_read as f64)),
    ("written", false, |row| units::bytes(row.bytes_written as f64)),
    ("files r/w/both/none", false, |row| modes(&row.files)),
    ("processes r/w/both/no file", false, |row| modes(&row.processes)),
    ("calls", true, |row| units::count(row.calls)),
    ("I/O time", true, |row| units::duration_or_dash(row.io_ns)),
    ("waiting", true, |row| units::duration_or_dash(row.wait_ns)),
    (IN_FLIGHT, true, |row| units::duration_or_dash(row.request_ns.filter(|nanos| *nanos > 0))),
    ("CPU", true, |row| units::duration_or_dash(row.cpu_ns)),
    ("lifetime", true, |row| units::duration_or_dash(row.lifetime_ns)),
    ("from storage", true, |row| known(row.storage_read, |bytes| units::bytes(bytes as f64))),
    ("to storage", true, |row| known(row.storage_written, |bytes| units::bytes(bytes as f64))),
    ("page cache", true, |row| known(row.page_cache_hit, units::percent)),
];

/// The column that is there only if a group left requests to the kernel.
const IN_FLIGHT: &str = "in flight";

/// The first groups, and all together if there are several.
fn phases(profile: &Profile, top: usize) -> Table {
    let requests = profile.total.request_ns.is_some_and(|nanos| nanos > 0);
    let columns = || PHASE_COLUMNS.iter().filter(|(title, ..)| requests || *title != IN_FLIGHT);
    let mut table = Table::new().names("group");
    for (title, optional, _) in columns() {
        table = match optional {
            true => table.optional(title, Align::Right),
            false => table.figures(title, Align::Right),
        };
    }
    let total = (profile.phases.len() != 1).then_some(&profile.total);
    for row in profile.phases.iter().take(top).chain(total) {
        let cells = columns().map(|(_, _, cell)| cell(row));
        table.row([row.group.clone()].into_iter().chain(cells));
    }
    table
}

fn modes(modes: &Modes) -> String {
    format!("{}/{}/{}/{}", modes.ro, modes.wo, modes.rw, modes.none)
}

fn distributions(profile: &Profile, top: usize, style: Style) -> String {
    let mut texts = Vec::new();
    for series in profile.distributions.chunk_by(|a, b| a.quantity == b.quantity) {
        let Some(first) = series.first() else { continue };
        let (title, number) = quantity(first.quantity);
        let mut sorted: Vec<&Distribution> = series.iter().collect();
        sorted.sort_by(|a, b| (b.count, &a.series).cmp(&(a.count, &b.series)));
        let mut table = Table::new().names(title.1).figures("values", Align::Right);
        for title in ["min", "p25", "p50", "p75", "p95", "max"] {
            table = table.figures(title, Align::Right);
        }
        table = table.optional("mean", Align::Right).optional("histogram", Align::Left);
        for series in sorted.iter().take(top) {
            table.row(distribution_cells(series, number));
        }
        let layer = match first.quantity {
            Quantity::Lifetime => "processes".to_owned(),
            _ => profile.kind_of_calls(),
        };
        let mut text = format!("{} {}\n", style.bold(title.0), style.dim(&format!("(layer: {layer})")));
        text.push_str(&table.render(style));
        let hidden = sorted.len().saturating_sub(top);
        if hidden > 0 {
            let more = units::counted(hidden as u64, "more row", "more rows");
            text.push_str(&style.left_out(&more, Hint::MoreInJson));
        }
        let error = series.iter().map(|series| series.error).fold(0.0, f64::max);
        if error > 0.0 {
            let note = format!(
                "Values of series with too many distinct ones are within {}.\n",
                units::percent(error)
            );
            text.push_str(&style.dim(&note));
        }
        texts.push(text);
    }
    texts.join("\n")
}

type Number = fn(f64) -> String;

/// Title, name of the series, and how values are written.
fn quantity(quantity: Quantity) -> ((&'static str, &'static str), Number) {
    match quantity {
        Quantity::Latency => (("Latency of calls", "call"), units::duration),
        Quantity::ReadLength => (("Length of reads, by group of processes", "group"), units::bytes),
        Quantity::WriteLength => (("Length of writes, by group of processes", "group"), units::bytes),
        Quantity::ProcessRead => (("Bytes read by a process", "group"), units::bytes),
        Quantity::ProcessWritten => (("Bytes written by a process", "group"), units::bytes),
        Quantity::FileReadLength => (("Length of reads, by group of files", "files"), units::bytes),
        Quantity::FileWriteLength => (("Length of writes, by group of files", "files"), units::bytes),
        Quantity::Lifetime => (("Lifetime of processes", "group"), units::duration),
    }
}

fn distribution_cells(series: &Distribution, number: Number) -> Vec<String> {
    let value = |value: Option<i64>| known(value, |value| number(value as f64));
    let mut cells = vec![series.series.clone(), units::count(series.count)];
    cells.push(value(series.steps.first().map(|(value, _)| *value)));
    cells.extend([25.0, 50.0, 75.0, 95.0, 100.0].map(|percentage| value(series.percentile(percentage))));
    cells.push(known(series.mean(), number));
    let counts: Vec<u64> = series.histogram().iter().map(|bin| bin.count).collect();
    let axis = match series.scale() {
        Scale::Linear => "",
        Scale::Log2 | Scale::Log10 => " log",
    };
    cells.push(format!("{}{axis}", bars(&counts)));
    cells
}

/// A small picture of counts; neighbours are added up if they are too many.
fn bars(counts: &[u64]) -> String {
    let joined: Vec<u64> =
        counts.chunks(counts.len().div_ceil(MOST_BARS).max(1)).map(|part| part.iter().sum()).collect();
    let most = joined.iter().copied().max().unwrap_or_default().max(1);
    let bar = |count: &u64| match count {
        0 => ' ',
        count => BARS[((u128::from(*count) * BARS.len() as u128).div_ceil(u128::from(most)) - 1) as usize],
    };
    joined.iter().map(bar).collect()
}

fn access(
    title: &str,
    layer: &str,
    rows: &[AccessRow],
    groups: Option<&[String]>,
    top: usize,
    style: Style,
) -> String {
    let mut shown = Table::new();
    shown = match groups {
        Some(_) => shown.names("command").figures("pid", Align::Right).names("group"),
        None => shown.names("file"),
    };
    for title in ["reads", "read", "writes", "written"] {
        shown = shown.figures(title, Align::Right);
    }
    for title in ["consecutive", "sequential", "random", "common size", "share", "reread", "overwritten"] {
        shown = shown.optional(title, Align::Right);
    }
    for row in rows.iter().take(top) {
        let mut cells = vec![row.name.clone()];
        if let Some(groups) = groups {
            cells.push(known(row.pid, |pid| pid.to_string()));
            let group = row.group.and_then(|group| groups.get(group as usize));
            cells.push(known(group, Clone::clone));
        }
        let bytes = |value: u64| units::bytes(value as f64);
        cells.extend([
            units::count(row.reads),
            bytes(row.bytes_read),
            units::count(row.writes),
            bytes(row.bytes_written),
            units::count(row.consecutive),
            units::count(row.sequential),
            units::count(row.random),
            known(row.common_size, |size| units::bytes(size as f64)),
            known(row.common_share, units::percent),
            known(row.reread, bytes),
            known(row.overwritten, bytes),
        ]);
        shown.row(cells);
    }
    titled(title, layer, &shown, rows.len().saturating_sub(top), style)
}

fn throughput(profile: &Profile, layer: &str, top: usize, style: Style) -> String {
    let bin = profile.throughput.bin_ns.unwrap_or(0) as f64;
    let mut texts = Vec::new();
    for (title, name, series) in [
        ("Throughput by group", "group", &profile.throughput.groups),
        ("Throughput by rank", "rank", &profile.throughput.ranks),
    ] {
        let mut table = Table::new().names(name);
        for title in ["read", "peak/s", "written", "peak/s", "calls", "peak/s"] {
            table = table.figures(title, Align::Right);
        }
        table = table.optional("bytes over time", Align::Left);
        series.iter().take(top).for_each(|series| table.row(series_cells(series, bin)));
        let bins = if bin > 0.0 { format!(", bins of {}", units::duration(bin)) } else { String::new() };
        let title = format!("{title}{bins}");
        texts.push(titled(&title, layer, &table, series.len().saturating_sub(top), style));
    }
    texts.join("\n")
}

fn series_cells(series: &Series, bin: f64) -> [String; 8] {
    let sum = |values: &[u64]| values.iter().fold(0, |sum: u64, value| sum.saturating_add(*value));
    let peak = |values: &[u64]| values.iter().copied().max().unwrap_or_default() as f64 * 1e9 / bin.max(1.0);
    let both: Vec<u64> = series
        .read
        .iter()
        .zip(&series.written)
        .map(|(read, written)| read.saturating_add(*written))
        .collect();
    [
        series.name.clone(),
        units::bytes(sum(&series.read) as f64),
        units::bytes(peak(&series.read)),
        units::bytes(sum(&series.written) as f64),
        units::bytes(peak(&series.written)),
        units::count(sum(&series.calls)),
        units::count(peak(&series.calls).round() as u64),
        bars(&both),
    ]
}

fn known<T>(value: Option<T>, show: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), show)
}
