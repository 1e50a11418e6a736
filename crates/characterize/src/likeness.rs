//! A program beside the clone that a model makes of it, as pictures show both: the verdict, groups, paths, distributions and series over
//! time, with what runs of the program differ among themselves.

use crate::portrait::{PathPicture, Portrait};
use crate::result::GroupFigures;
use crate::validate::{Figure, Sample, figures};
use iotrail_workload::{Distribution, Series, bin_width, series_distance};
use serde::Serialize;
use std::collections::BTreeSet;

/// Points of a curve at most.
const MAX_POINTS: usize = 64;

/// Where the clone comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CloneSource {
    /// What the model would do, with the times that it has for it.
    Planned,
    /// It was run and recorded.
    Recorded,
}

/// Values of the program's runs and of the clone's at the points of a curve; NULL where there is none.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Curve {
    /// Least of the program's runs.
    pub low: Vec<Option<f64>>,
    /// Their mean.
    pub program: Vec<Option<f64>>,
    /// Largest of them.
    pub high: Vec<Option<f64>>,
    /// Mean of the clone's runs.
    pub clone: Vec<Option<f64>>,
}

/// Two series of the whole run, in bins of one width.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OverTime {
    /// Width of a bin, in ns.
    pub bin_ns: i64,
    /// Bytes of a bin (figure 5).
    pub bytes: Curve,
    /// Share of its requests that move data (figure 6).
    pub data_ratio: Curve,
    /// Mean over pairs of runs of mean |x−y| over mean, of the bytes, between program and clone.
    pub distance: Option<f64>,
    /// The same between runs of the program; NULL with one.
    pub noise: Option<f64>,
    /// Index of dispersion of the requests of a bin, of the program and the clone.
    pub dispersion: [Option<f64>; 2],
}

/// A distribution of the program and the clone, as shares of values that are not larger.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Shares {
    /// Class of files; `all` for the whole run.
    pub class: String,
    /// Symbol of table III, or `requests of a bin` (figure 7).
    pub name: &'static str,
    /// Values, ascending.
    pub values: Vec<i64>,
    /// Shares at these values.
    pub shares: Curve,
}

/// One side: what its runs have in common is that of the first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Side {
    /// Runs.
    pub runs: usize,
    /// Ranks.
    pub ranks: u32,
    /// Groups of ranks.
    pub groups: Vec<GroupFigures>,
    /// What their representatives do, one for each group.
    pub paths: Vec<PathPicture>,
}

/// A program and its clone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Likeness {
    /// Name and version of this form.
    pub format: &'static str,
    /// Where the clone comes from.
    pub clone_source: CloneSource,
    /// The verdict that is worst of all figures; of one run of the program, without noise, `equal`, `within tolerance` or `undecided`.
    pub verdict: &'static str,
    /// The figures.
    pub figures: Vec<Figure>,
    /// The program.
    pub program: Side,
    /// The clone.
    pub clone: Side,
    /// Series over time.
    pub over_time: OverTime,
    /// Distributions, that of requests of a bin first.
    pub distributions: Vec<Shares>,
}

/// Why there is no picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a picture of program and clone needs a run of each")]
pub struct NothingToShow;

/// What is shown of runs of a program and of its clone.
///
/// # Errors
/// If there is no run of one of them.
pub fn likeness(
    program: &[Portrait],
    clone: &[Portrait],
    clone_source: CloneSource,
) -> Result<Likeness, NothingToShow> {
    let (first, first_clone) = (program.first().ok_or(NothingToShow)?, clone.first().ok_or(NothingToShow)?);
    let samples = |runs: &[Portrait]| runs.iter().map(|run| run.sample.clone()).collect::<Vec<Sample>>();
    let (verdict, figures) = figures(&samples(program), &samples(clone)).map_err(|_| NothingToShow)?;
    let longest = program.iter().chain(clone).map(|run| run.span_ns).max().unwrap_or_default();
    let bin_ns = bin_width(longest);
    let series = |runs: &[Portrait]| -> Vec<Series> {
        runs.iter().map(|run| Series::of(&run.moments, run.span_ns, bin_ns)).collect()
    };
    let (ours, theirs) = (series(program), series(clone));
    Ok(Likeness {
        format: "iotrail-likeness/1",
        clone_source,
        verdict,
        figures,
        program: side(program, first),
        clone: side(clone, first_clone),
        over_time: over_time(&ours, &theirs, bin_ns),
        distributions: distributions(program, clone, [&ours, &theirs]),
    })
}

fn side(runs: &[Portrait], first: &Portrait) -> Side {
    Side { runs: runs.len(), ranks: first.ranks(), groups: first.groups.clone(), paths: first.paths.clone() }
}

fn over_time(program: &[Series], clone: &[Series], bin_ns: i64) -> OverTime {
    let bins = program.iter().chain(clone).map(|series| series.requests.len()).max().unwrap_or_default();
    let all = |series: &[Series], of: &dyn Fn(&Series) -> Vec<Option<f64>>| {
        series.iter().map(of).collect::<Vec<_>>()
    };
    let bytes = |series: &Series| series.bytes.iter().map(|bytes| Some(*bytes as f64)).collect();
    let numbers = |series: &Series| series.bytes.iter().map(|bytes| *bytes as f64).collect::<Vec<f64>>();
    let (ours, theirs): (Vec<_>, Vec<_>) =
        (program.iter().map(numbers).collect(), clone.iter().map(numbers).collect());
    let apart = |one: usize, other: &Vec<f64>| series_distance(&ours[one], other);
    let of_clone = (0..ours.len()).flat_map(|one| theirs.iter().filter_map(move |other| apart(one, other)));
    let own = (0..ours.len()).flat_map(|one| {
        let others = ours.iter().enumerate().filter(move |(other, _)| *other != one);
        others.filter_map(move |(_, other)| apart(one, other)).collect::<Vec<_>>()
    });
    let dispersion = |series: &[Series]| mean(series.iter().filter_map(Series::dispersion));
    OverTime {
        bin_ns,
        bytes: curve(&all(program, &bytes), &all(clone, &bytes), bins, Some(0.0)),
        data_ratio: curve(&all(program, &Series::data_ratio), &all(clone, &Series::data_ratio), bins, None),
        distance: mean(of_clone),
        noise: mean(own),
        dispersion: [dispersion(program), dispersion(clone)],
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_u64), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / count as f64)
}

/// Values of runs at so many points; what a run that is over does not have is `after`.
fn curve(
    program: &[Vec<Option<f64>>],
    clone: &[Vec<Option<f64>>],
    points: usize,
    after: Option<f64>,
) -> Curve {
    let at = |runs: &[Vec<Option<f64>>], point: usize| -> Vec<f64> {
        runs.iter().filter_map(|run| run.get(point).copied().unwrap_or(after)).collect()
    };
    let mut curve = Curve::default();
    for point in 0..points {
        let (ours, theirs) = (at(program, point), at(clone, point));
        curve.low.push(ours.iter().copied().reduce(f64::min).map(rounded));
        curve.high.push(ours.iter().copied().reduce(f64::max).map(rounded));
        curve.program.push(mean(ours.into_iter()).map(rounded));
        curve.clone.push(mean(theirs.into_iter()).map(rounded));
    }
    curve
}

/// Four digits behind the point, which is more than a picture shows.
fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

/// A distribution of each run of both sides.
type OfRuns<'a> = [Vec<&'a Distribution>; 2];

fn distributions(program: &[Portrait], clone: &[Portrait], series: [&[Series]; 2]) -> Vec<Shares> {
    let arrivals = series.map(|runs| runs.iter().map(Series::arrivals).collect::<Vec<_>>());
    let both = [arrivals[0].iter().collect(), arrivals[1].iter().collect()];
    let first = shares("all".to_owned(), ARRIVALS, &both);
    let names: BTreeSet<(&String, &'static str)> = program
        .iter()
        .chain(clone)
        .flat_map(|run| run.sample.distributions())
        .map(|(name, _)| name)
        .collect();
    let of_name = names.into_iter().map(|(class, name)| {
        let of = |runs: &'_ [Portrait]| -> Vec<Distribution> {
            runs.iter()
                .map(|run| {
                    let found = run.sample.distributions().find(|(other, _)| *other == (class, name));
                    found.map(|(_, found)| found.clone()).unwrap_or_default()
                })
                .collect()
        };
        let (ours, theirs) = (of(program), of(clone));
        shares(class.clone(), name, &[ours.iter().collect(), theirs.iter().collect()])
    });
    std::iter::once(first).chain(of_name).collect()
}

/// Requests that begin in a bin of time (figure 7).
const ARRIVALS: &str = "requests of a bin";

fn shares(class: String, name: &'static str, runs: &OfRuns<'_>) -> Shares {
    let values = points(runs.iter().flatten().copied());
    let of = |distribution: &&Distribution| cumulated(distribution, &values);
    let [ours, theirs] = runs.each_ref().map(|side| side.iter().map(of).collect::<Vec<_>>());
    let shares = curve(&ours, &theirs, values.len(), None);
    Shares { class, name, values, shares }
}

/// Values at which curves are drawn: all of them, or those at equal shares of all distributions together, with the smallest and largest.
fn points<'a>(all: impl Iterator<Item = &'a Distribution>) -> Vec<i64> {
    let mut sum = Distribution::default();
    all.for_each(|distribution| sum.merge(distribution));
    let counts: Vec<(i64, u64)> = sum.counts().collect();
    if counts.len() <= MAX_POINTS {
        return counts.into_iter().map(|(value, _)| value).collect();
    }
    let mut below = 0;
    let mut chosen = Vec::with_capacity(MAX_POINTS + 1);
    for (value, times) in &counts {
        let rank = |count: u64| u128::from(count) * (MAX_POINTS as u128 - 1) / u128::from(sum.total().max(1));
        if below == 0 || rank(below + times) > rank(below) {
            chosen.push(*value);
        }
        below += times;
    }
    chosen
}

/// Shares of the values of a distribution that are not larger than these; nothing of an empty one.
fn cumulated(distribution: &Distribution, values: &[i64]) -> Vec<Option<f64>> {
    let mut counts = distribution.counts().peekable();
    let (mut below, total) = (0_u64, distribution.total());
    let share = values.iter().map(|value| {
        while let Some((_, times)) = counts.next_if(|(known, _)| known <= value) {
            below += times;
        }
        (total > 0).then(|| below as f64 / total as f64)
    });
    share.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_have_the_range_and_mean_of_the_runs() {
        let program = [vec![Some(1.0), Some(3.0)], vec![Some(2.0)]];
        let curve = curve(&program, &[vec![Some(5.0), None]], 2, Some(0.0));
        assert_eq!(curve.low, [Some(1.0), Some(0.0)]);
        assert_eq!(curve.high, [Some(2.0), Some(3.0)]);
        assert_eq!(curve.program, [Some(1.5), Some(1.5)]);
        assert_eq!(curve.clone, [Some(5.0), None]);
    }

    #[test]
    fn shares_reach_one_at_the_largest_value_however_many_there_are() {
        for count in [1, 64, 65, 10_000] {
            let many: Distribution = (0..count).collect();
            let found = shares("shared".to_owned(), "D", &[vec![&many], vec![&many]]);
            assert!(found.values.len() <= MAX_POINTS + 1, "{}", found.values.len());
            assert_eq!((found.values[0], *found.values.last().unwrap()), (0, count - 1));
            assert_eq!(found.shares.program.last(), Some(&Some(1.0)));
            assert_eq!(found.shares.low, found.shares.clone);
        }
    }

    #[test]
    fn what_a_side_does_not_have_is_null() {
        let found = shares(
            "shared".to_owned(),
            "D",
            &[vec![&[3].into_iter().collect()], vec![&Distribution::default()]],
        );
        assert_eq!((found.shares.program, found.shares.clone), (vec![Some(1.0)], vec![None]));
    }
}
