//! Distributions and throughput (Dun et al., Figures 5 to 10 and 12), thinned for drawing.

use super::thin::{differences, joined, thin, without_zeros};
use crate::data::{Bounded, NameId};
use crate::name_table::NameTable;
use iotrail_stats::result::{Distribution, Profile, Quantity, Series};
use serde::Serialize;
use std::cmp::Reverse;

/// The distributions of one quantity.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PageDistribution {
    /// What is distributed.
    pub quantity: Quantity,
    /// By call or group, most values first.
    pub series: Vec<PageSeries>,
    /// How many more series there are.
    pub more: u64,
    /// Number of values of the series that are left out.
    pub more_values: u64,
}

/// A distribution function; its error is less than 1/300 more than `e` says of the values.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PageSeries {
    /// The call or group.
    pub n: NameId,
    /// How many values.
    pub c: u64,
    /// Sum of the values.
    pub s: f64,
    /// Relative error of a value.
    #[serde(skip_serializing_if = "is_exact")]
    pub e: f64,
    /// How many distinct values there were before thinning.
    pub d: u64,
    /// Values, as differences.
    pub v: Vec<i64>,
    /// Numbers of values not larger, as differences.
    pub k: Vec<i64>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_exact(error: &f64) -> bool {
    *error == 0.0
}

/// Bytes and calls over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PageThroughput {
    /// By group.
    pub groups: PageBins,
    /// By rank.
    pub ranks: PageBins,
}

/// Series in equal bins.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PageBins {
    /// Start of the first bin after the page's origin.
    pub from: i64,
    /// Width of a bin.
    pub bin_ns: u64,
    /// Number of bins.
    pub bins: usize,
    /// The series; `-n` stands for n bins without any.
    pub rows: Bounded<PageRow>,
}

/// Name, bytes read, bytes written, calls.
pub type PageRow = (NameId, Vec<i64>, Vec<i64>, Vec<i64>);

/// How much of a profile the page holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// Series of a quantity.
    pub(crate) series: usize,
    /// Bins of all series of a picture together.
    pub(crate) cells: usize,
    /// Series of a picture.
    pub(crate) rows: usize,
}

/// The distributions of a profile, by quantity.
pub(crate) fn distributions(profile: &Profile, room: Room, names: &mut NameTable) -> Vec<PageDistribution> {
    let mut known: Vec<&Distribution> = profile.distributions.iter().filter(|one| one.count > 0).collect();
    known.sort_by_key(|one| (one.quantity, Reverse(one.count)));
    known
        .chunk_by(|a, b| a.quantity == b.quantity)
        .map(|of| {
            let (kept, rest) = of.split_at(of.len().min(room.series));
            PageDistribution {
                quantity: of[0].quantity,
                series: kept.iter().map(|one| series(one, names)).collect(),
                more: rest.len() as u64,
                more_values: rest.iter().map(|one| one.count).sum(),
            }
        })
        .collect()
}

fn series(one: &Distribution, names: &mut NameTable) -> PageSeries {
    let steps = thin(&one.steps);
    PageSeries {
        n: names.id(&one.series),
        c: one.count,
        s: one.sum as f64,
        e: one.error,
        d: one.steps.len() as u64,
        v: differences(steps.iter().map(|step| step.0)),
        k: differences(steps.iter().map(|step| i64::try_from(step.1).unwrap_or(i64::MAX))),
    }
}

/// Throughput, bins joined until the page has room for them; nothing if nothing has a time.
pub(crate) fn throughput(
    profile: &Profile,
    origin: i64,
    room: Room,
    names: &mut NameTable,
) -> Option<PageThroughput> {
    let given = &profile.throughput;
    let (start, bin_ns) = given.origin_ns.zip(given.bin_ns)?;
    if given.groups.is_empty() && given.ranks.is_empty() {
        return None;
    }
    let mut bins = |rows: &[Series]| {
        let length = rows.iter().map(|row| row.calls.len()).max().unwrap_or(0);
        let mut order: Vec<&Series> = rows.iter().collect();
        if order.len() > room.rows {
            let bytes = |row: &Series| {
                row.read.iter().chain(&row.written).fold(0_u64, |sum, value| sum.saturating_add(*value))
            };
            order.sort_by_cached_key(|row| Reverse(bytes(row)));
            order.truncate(room.rows);
        }
        let join = (length * order.len()).div_ceil(room.cells.max(1)).max(1);
        let short = |values: &[u64]| without_zeros(&joined(values, join));
        PageBins {
            from: start.saturating_sub(origin),
            bin_ns: bin_ns.saturating_mul(join as u64),
            bins: length.div_ceil(join),
            rows: Bounded {
                list: order
                    .iter()
                    .map(|row| {
                        (names.id(&row.name), short(&row.read), short(&row.written), short(&row.calls))
                    })
                    .collect(),
                more: (rows.len() - order.len()) as u64,
            },
        }
    };
    Some(PageThroughput { groups: bins(&given.groups), ranks: bins(&given.ranks) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_stats::result::Throughput;

    const ROOM: Room = Room { series: 2, cells: 6, rows: 2 };

    fn one(quantity: Quantity, series: &str, count: u64) -> Distribution {
        Distribution {
            quantity,
            series: series.into(),
            count,
            sum: 7,
            steps: vec![(2, 1), (5, count)],
            error: 0.0,
        }
    }

    #[test]
    fn each_quantity_keeps_its_largest_series_and_counts_the_rest() {
        let profile = Profile {
            distributions: vec![
                one(Quantity::Lifetime, "x", 3),
                one(Quantity::Latency, "a", 1),
                one(Quantity::Latency, "b", 9),
                one(Quantity::Latency, "c", 4),
                one(Quantity::Latency, "none", 0),
            ],
            ..Profile::default()
        };
        let mut names = NameTable::default();
        let page = distributions(&profile, ROOM, &mut names);
        let text = serde_json::to_string(&page).unwrap();
        assert_eq!(
            text,
            concat!(
                r#"[{"quantity":"latency","series":[{"n":0,"c":9,"s":7.0,"d":2,"v":[2,3],"k":[1,8]},{"n":1,"c":4,"s":7.0,"d":2,"v":[2,3],"k":[1,3]}],"more":1,"more_values":1},"#,
                r#"{"quantity":"lifetime","series":[{"n":2,"c":3,"s":7.0,"d":2,"v":[2,3],"k":[1,2]}],"more":0,"more_values":0}]"#
            )
        );
        assert_eq!(names.into_names(), ["b", "c", "x"]);
    }

    #[test]
    fn bins_are_joined_until_they_fit_and_rows_that_do_not_fit_are_counted() {
        let row = |name: &str, bytes| Series {
            name: name.into(),
            read: vec![bytes; 6],
            written: vec![0; 6],
            calls: vec![1; 6],
        };
        let given = Throughput {
            origin_ns: Some(110),
            bin_ns: Some(10),
            groups: vec![row("a", 1), row("b", 3), row("c", 2)],
            ranks: Vec::new(),
        };
        let profile = Profile { throughput: given, ..Profile::default() };
        let page = throughput(&profile, 100, ROOM, &mut NameTable::default()).unwrap();
        let groups = page.groups;
        assert_eq!((groups.from, groups.bin_ns, groups.bins, groups.rows.more), (10, 20, 3, 1));
        assert_eq!(groups.rows.list[0].1, [6, 6, 6]);
        assert_eq!(groups.rows.list[0].2, [-3]);
    }
}
