//! Columns of figures that several tables have: a title, when it is shown, and its cell.

use crate::hints::Hint;
use crate::table::{Align, Style, Table};
use iotrail_model::units;
use iotrail_stats::FileUse;

/// One column of figures: its title, whether narrow terminals go without it, and its cell.
pub(crate) type Figure<T> = (&'static str, bool, fn(&T) -> Option<String>);

/// What was done to a file, or through an open file description.
pub(crate) const OF_USE: [Figure<FileUse>; 12] = [
    ("I/O time", false, |used| used.io_ns.map(|nanos| units::duration(nanos as f64))),
    ("syncing", true, |used| time(used.sync_ns)),
    ("waiting", false, |used| time(used.wait_ns)),
    ("in flight", false, |used| time(used.request_ns)),
    ("read", false, |used| moved(used.reads, used.bytes_read)),
    ("written", false, |used| moved(used.writes, used.bytes_written)),
    ("reads", false, |used| some(used.reads)),
    ("writes", false, |used| some(used.writes)),
    ("request", true, |used| used.common_size.map(|size| units::bytes(size as f64))),
    ("sequential", true, |used| used.sequential_share().map(units::percent)),
    ("again", true, |used| used.again().filter(|bytes| *bytes > 0).map(|bytes| units::bytes(bytes as f64))),
    ("failed", false, |used| some(used.failures)),
];

/// The first `top` of `all` as `table` draws them (the columns depend on all), below a headline and above how many are left out.
pub(crate) fn foremost<T>(
    headline: &str,
    (all, top): (&[T], usize),
    table: fn(&[T], &[T]) -> Table,
    (one, many): (&str, &str),
    style: Style,
) -> String {
    let mut out = style.bold(headline);
    out.push('\n');
    let shown = &all[..top.min(all.len())];
    if shown.is_empty() {
        return out;
    }
    out.push_str(&table(shown, all).render(style));
    if shown.len() < all.len() {
        let more = units::counted((all.len() - shown.len()) as u64, one, many);
        out.push_str(&style.left_out(&format!("… {more}"), Hint::MoreRows));
    }
    out
}

/// A count, unless there is nothing to count.
pub(crate) fn some(count: u64) -> Option<String> {
    (count > 0).then(|| units::count(count))
}

/// A time, unless there was none.
pub(crate) fn time(nanos: Option<u64>) -> Option<String> {
    nanos.filter(|nanos| *nanos > 0).map(|nanos| units::duration(nanos as f64))
}

fn moved(calls: u64, bytes: u64) -> Option<String> {
    (calls > 0).then(|| units::bytes(bytes as f64))
}

/// Those columns in which any of `all` has a figure.
pub(crate) struct Shown<'a, T>(Vec<&'a Figure<T>>);

impl<'a, T> Shown<'a, T> {
    pub(crate) fn of<'b>(figures: &'a [Figure<T>], rows: impl Iterator<Item = &'b T>) -> Self
    where
        T: 'b,
    {
        let mut has_any = vec![false; figures.len()];
        for row in rows {
            has_any.iter_mut().zip(figures).for_each(|(any, (_, _, cell))| *any |= cell(row).is_some());
        }
        Self(figures.iter().zip(has_any).filter_map(|(figure, any)| any.then_some(figure)).collect())
    }

    /// The table with these columns behind its own.
    pub(crate) fn columns(&self, table: Table) -> Table {
        self.0.iter().fold(table, |table, (title, optional, _)| match optional {
            true => table.optional(title, Align::Right),
            false => table.figures(title, Align::Right),
        })
    }

    /// The cells of a row.
    pub(crate) fn cells(&self, row: &T) -> impl Iterator<Item = String> {
        self.0.iter().map(|(_, _, cell)| cell(row).unwrap_or_else(|| "–".to_owned()))
    }
}
