//! The files of a log with what was done to them, for terminals.

use crate::figures::{Figure, OF_USE, Shown, foremost, some};
use crate::table::{Style, Table};
use iotrail_model::text::printable;
use iotrail_model::units;
use iotrail_stats::{FileUse, FileUses, UsedFile};
use std::collections::HashSet;

/// The first `top` of these files as a table, below a line that says what there is in all.
#[must_use]
pub fn file_table(uses: &FileUses, top: usize, style: Style) -> String {
    let files = &uses.rows;
    let more = match of_names(files) {
        Some(_) => ("more name", "more names"),
        None => ("more file", "more files"),
    };
    foremost(&(headline(files) + &unnamed(uses)), (files, top), table, more, style)
}

/// How many files there are: several may have had one name, and one several.
fn number(files: &[UsedFile]) -> u64 {
    let mut known = HashSet::new();
    let is_new = |row: &&UsedFile| row.file.file.is_none_or(|file| known.insert(file));
    files.iter().filter(is_new).map(|row| row.files).fold(0, u64::saturating_add)
}

/// Of how many names they are, if that are fewer.
fn of_names(files: &[UsedFile]) -> Option<String> {
    let names = files.len() as u64;
    (number(files) != names).then(|| format!(" of {}", units::counted(names, "name", "names")))
}

/// What all files have together, and which of them has most of the time.
fn headline(files: &[UsedFile]) -> String {
    let sum = |of: fn(&FileUse) -> u64| files.iter().map(|row| of(&row.used)).fold(0, u64::saturating_add);
    let io = files.iter().filter_map(|row| row.used.io_ns).reduce(u64::saturating_add);
    let mut text = format!(
        "{}{}: {} read, {} written",
        units::counted(number(files), "file", "files"),
        of_names(files).unwrap_or_default(),
        units::bytes(sum(|used| used.bytes_read) as f64),
        units::bytes(sum(|used| used.bytes_written) as f64)
    );
    let requests = files.iter().filter_map(|row| row.used.request_ns).fold(0, u64::saturating_add);
    if let Some(io) = io.filter(|io| *io > 0) {
        text.push_str(&format!(", {} of I/O time{}", units::duration(io as f64), most(files, io)));
    }
    if requests > 0 {
        text.push_str(&format!("; requests in flight for {}", units::duration(requests as f64)));
    }
    text
}

/// What was moved through descriptors that the trace does not name.
fn unnamed(uses: &FileUses) -> String {
    let moved = [(uses.unnamed_read, "read"), (uses.unnamed_written, "written")];
    let moved = moved.iter().filter(|(bytes, _)| *bytes > 0);
    let moved: Vec<_> = moved.map(|(bytes, way)| format!("{} {way}", units::bytes(*bytes as f64))).collect();
    match moved.as_slice() {
        [] => String::new(),
        moved => format!("; without {} through unknown descriptors", moved.join(" and ")),
    }
}

/// Which file has most of the I/O time.
fn most(files: &[UsedFile], io: u64) -> String {
    // The first of equally heavy ones.
    let most = files.iter().rev().max_by_key(|row| row.used.io_ns);
    if let Some((row, nanos)) = most.and_then(|row| Some((row, row.used.io_ns?)))
        && files.len() > 1
    {
        let share = units::percent(nanos as f64 / io as f64);
        return format!("; {share} of it in {}", printable(&row.file.path));
    }
    String::new()
}

/// What stands behind the figures of uses.
const OF_FILES: [Figure<UsedFile>; 4] = [
    ("opens", false, |row| some(row.used.opens)),
    ("processes", true, |row| some(row.used.processes)),
    ("files", true, |row| Some(row.files).filter(|files| *files > 1).map(units::count)),
    ("ranks", true, |row| Some(row.used.ranks).filter(|ranks| *ranks > 1).map(units::count)),
];

/// The columns in which any of `all` has a figure, and the path.
fn table(shown: &[UsedFile], all: &[UsedFile]) -> Table {
    let of_use = Shown::of(&OF_USE, all.iter().map(|row| &row.used));
    let of_files = Shown::of(&OF_FILES, all.iter());
    let mut table = of_files.columns(of_use.columns(Table::new())).names("path");
    for row in shown {
        let figures = of_use.cells(&row.used).chain(of_files.cells(row));
        table.row(figures.chain([row.file.path.to_string()]));
    }
    table
}
