//! The files of a log with what was done to them, for terminals.

use crate::hints::Hint;
use crate::table::{Align, Style, Table};
use iotrail_model::text::printable;
use iotrail_model::units;
use iotrail_stats::{FileUse, UsedFile};

/// The first `top` of these files as a table, below a line that says what there is in all.
#[must_use]
pub fn file_table(files: &[UsedFile], top: usize, style: Style) -> String {
    let mut out = style.bold(&headline(files));
    out.push('\n');
    let shown = &files[..top.min(files.len())];
    if shown.is_empty() {
        return out;
    }
    out.push_str(&table(shown, files).render(style));
    if shown.len() < files.len() {
        let more = units::counted((files.len() - shown.len()) as u64, "more file", "more files");
        out.push_str(&style.left_out(&format!("… {more}"), Hint::MoreRows));
    }
    out
}

/// What all files have together, and which of them has most of the time.
fn headline(files: &[UsedFile]) -> String {
    let sum = |of: fn(&FileUse) -> u64| files.iter().map(|row| of(&row.used)).fold(0, u64::saturating_add);
    let io = files.iter().filter_map(|row| row.used.io_ns).reduce(u64::saturating_add);
    let mut text = format!(
        "{}: {} read, {} written",
        units::counted(files.iter().map(|row| row.files).sum(), "file", "files"),
        units::bytes(sum(|used| used.bytes_read) as f64),
        units::bytes(sum(|used| used.bytes_written) as f64)
    );
    let Some(io) = io.filter(|io| *io > 0) else { return text };
    text.push_str(&format!(", {} of I/O time", units::duration(io as f64)));
    // The first of equally heavy ones.
    let most = files.iter().rev().max_by_key(|row| row.used.io_ns);
    if let Some((row, nanos)) = most.and_then(|row| Some((row, row.used.io_ns?)))
        && files.len() > 1
    {
        let share = units::percent(nanos as f64 / io as f64);
        text.push_str(&format!("; {share} of it in {}", printable(&row.file.path)));
    }
    text
}

/// One column of figures: its title, whether narrow terminals go without it, and its cell.
type Figure = (&'static str, bool, fn(&UsedFile) -> Option<String>);

const FIGURES: [Figure; 15] = [
    ("I/O time", false, |row| row.used.io_ns.map(|nanos| units::duration(nanos as f64))),
    ("syncing", true, |row| time(row.used.sync_ns)),
    ("waiting", false, |row| time(row.used.wait_ns)),
    ("read", false, |row| moved(row.used.reads, row.used.bytes_read)),
    ("written", false, |row| moved(row.used.writes, row.used.bytes_written)),
    ("reads", false, |row| some(row.used.reads)),
    ("writes", false, |row| some(row.used.writes)),
    ("request", true, |row| row.used.common_size.map(|size| units::bytes(size as f64))),
    ("sequential", true, |row| row.used.sequential_share().map(units::percent)),
    ("again", true, |row| {
        row.used.again().filter(|bytes| *bytes > 0).map(|bytes| units::bytes(bytes as f64))
    }),
    ("opens", false, |row| some(row.used.opens)),
    ("failed", false, |row| some(row.used.failures)),
    ("processes", true, |row| some(row.used.processes)),
    ("files", true, |row| Some(row.files).filter(|files| *files > 1).map(units::count)),
    ("ranks", true, |row| Some(row.used.ranks).filter(|ranks| *ranks > 1).map(units::count)),
];

fn some(count: u64) -> Option<String> {
    (count > 0).then(|| units::count(count))
}

fn time(nanos: Option<u64>) -> Option<String> {
    nanos.filter(|nanos| *nanos > 0).map(|nanos| units::duration(nanos as f64))
}

fn moved(calls: u64, bytes: u64) -> Option<String> {
    (calls > 0).then(|| units::bytes(bytes as f64))
}

/// The columns in which any of `all` has a figure, and the path.
fn table(shown: &[UsedFile], all: &[UsedFile]) -> Table {
    let figures: Vec<&Figure> =
        FIGURES.iter().filter(|(_, _, cell)| all.iter().any(|row| cell(row).is_some())).collect();
    let table = figures.iter().fold(Table::new(), |table, (title, optional, _)| match optional {
        true => table.optional(title, Align::Right),
        false => table.figures(title, Align::Right),
    });
    let mut table = table.names("path");
    for row in shown {
        let cells = figures.iter().map(|(_, _, cell)| cell(row).unwrap_or_else(|| "–".to_owned()));
        table.row(cells.chain([row.file.path.to_string()]));
    }
    table
}
