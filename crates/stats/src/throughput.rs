//! Table 5: bytes and calls over time, by group of processes and by rank.
//!
//! The span of a log is known only when all of it was read, so bins begin one nanosecond wide and are joined when they become
//! too many: 1, 2, 10, 20, 100 … ns, each a multiple of the one before. Bins begin at multiples of their width, and of a
//! call's bytes floor(bytes · elapsed / duration) lie before each instant; so bins that were joined hold exactly what
//! they would hold had they been so wide from the start, and any split of the log gives the same.

use crate::bins::{Bins, Grid};
use crate::call::Call;
use crate::result::{Series, Throughput as Table};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::Resolution;
use std::ops::RangeInclusive;

/// Most bins over a log; half as many are the least, or a fifth.
const MOST_BINS: u64 = 400;

/// Bytes and calls over time of some rows of a log.
#[derive(Clone, Debug, Default)]
pub(crate) struct Throughput {
    grid: Option<Grid>,
    /// The coarsest resolution that a case states: what is within one of it is not known.
    stated: u64,
    /// Of cases that state none, the finest time unit of which all starts are multiples.
    seen: Option<u64>,
    /// By slot.
    groups: HashMap<u32, Lines, RandomState>,
    /// By recorded case.
    ranks: HashMap<u32, Lines, RandomState>,
}

#[derive(Clone, Debug, Default)]
struct Lines {
    read: Bins,
    written: Bins,
    calls: Bins,
}

impl Throughput {
    /// Adds a selected call of a case that has times of this resolution.
    pub(crate) fn add(&mut self, call: &Call, resolution: Resolution) {
        let start = call.event.start.0;
        match resolution.known() {
            Some(unit) => self.stated = self.stated.max(unit.unsigned_abs()),
            None => self.sees(Some(unit_of(start))),
        }
        let end = call.event.dur.get().map_or(start, |dur| start.saturating_add(dur.0.max(0)));
        let span = if call.moved.is_some() { start..=end } else { start..=start };
        let grid = self.cover(Grid::over(&span, MOST_BINS));
        let lines = [
            self.groups.entry(call.slot as u32).or_default(),
            self.ranks.entry(call.event.case.0).or_default(),
        ];
        for line in lines {
            line.calls.add(grid.bin(start), 1);
            let Some(moved) = call.moved else { continue };
            if moved.read {
                line.read.spread(&grid, &span, moved.bytes);
            }
            if moved.written {
                line.written.spread(&grid, &span, moved.bytes);
            }
        }
    }

    /// Adds other rows of the same log.
    pub(crate) fn merge(&mut self, mut other: Self) {
        self.stated = self.stated.max(other.stated);
        self.sees(other.seen);
        let Some(theirs) = other.grid else { return };
        let grid = self.cover(theirs);
        other.cover(grid);
        for (mine, theirs) in [(&mut self.groups, other.groups), (&mut self.ranks, other.ranks)] {
            for (key, lines) in theirs {
                mine.entry(key).or_default().merge(&lines);
            }
        }
    }

    fn sees(&mut self, unit: Option<u64>) {
        self.seen = self.seen.into_iter().chain(unit).min();
    }

    /// Makes the grid reach over `other`, too.
    fn cover(&mut self, other: Grid) -> Grid {
        let Some(before) = self.grid else {
            self.grid = Some(other);
            return other;
        };
        let grid = before.join(&other, MOST_BINS);
        if grid.width() > before.width() {
            let factor = grid.width() / before.width();
            let lines = self.groups.values_mut().chain(self.ranks.values_mut());
            lines.for_each(|lines| lines.widen(factor));
        }
        self.grid = Some(grid);
        grid
    }

    /// The table, with the names of groups and ranks.
    pub(crate) fn table(&self, groups: &[String], rank: impl Fn(usize) -> String) -> Table {
        let Some(grid) = &self.grid else { return Table::default() };
        let unit = self.stated.max(self.seen.unwrap_or(1));
        let factor = (unit / grid.width()).max(1);
        let grid = &grid.widened(grid.width() * factor);
        Table {
            origin_ns: Some(grid.origin()),
            bin_ns: Some(grid.width()),
            groups: series(&self.groups, grid, factor, |slot| groups.get(slot).cloned().unwrap_or_default()),
            ranks: series(&self.ranks, grid, factor, rank),
        }
    }
}

/// The unit in which a time stamp seems to be written, of a trail that does not tell: a second, a millisecond, a microsecond or a nanosecond.
fn unit_of(time: i64) -> u64 {
    [1_000_000_000, 1_000_000, 1_000].into_iter().find(|unit| time % unit == 0).unwrap_or(1).unsigned_abs()
}

/// The lines in the order of their numbers, with `factor` bins joined to one.
fn series(
    lines: &HashMap<u32, Lines, RandomState>,
    grid: &Grid,
    factor: u64,
    name: impl Fn(usize) -> String,
) -> Vec<Series> {
    let mut keys: Vec<u32> = lines.keys().copied().collect();
    keys.sort_unstable();
    let bins: RangeInclusive<i64> = grid.bins();
    let one = |key: u32| {
        let mut lines = lines[&key].clone();
        if factor > 1 {
            lines.widen(factor);
        }
        Series {
            name: name(key as usize),
            read: lines.read.values(&bins),
            written: lines.written.values(&bins),
            calls: lines.calls.values(&bins),
        }
    };
    keys.into_iter().map(one).collect()
}

impl Lines {
    fn widen(&mut self, factor: u64) {
        [&mut self.read, &mut self.written, &mut self.calls].into_iter().for_each(|bins| bins.widen(factor));
    }

    fn merge(&mut self, other: &Self) {
        self.read.merge(&other.read);
        self.written.merge(&other.written);
        self.calls.merge(&other.calls);
    }
}
