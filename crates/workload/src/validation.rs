//! Whether runs of a clone are like runs of the application.
//!
//! All is computed from the distances between runs: |x−y| of totals, total variation of mixes, and so on. Statistics: energy
//! distance (Székely, Rizzo 2013) with a permutation test, and the ratio of medians with a bootstrap over runs.

use crate::random::Random;
use thiserror::Error;

/// A clone is within noise if it is not this much further from the application than the application is from itself.
const MAX_RATIO: f64 = 1.5;

/// Largest p-value at which runs differ.
const SIGNIFICANT: f64 = 0.05;

/// All relabellings are tried if there are no more than these, else so many random ones.
const MAX_RELABELLINGS: u64 = 200_000;

/// Random relabellings.
const SAMPLED_RELABELLINGS: u64 = 9_999;

/// Resamples of the bootstrap.
const RESAMPLES: usize = 1_999;

/// Distances between all runs; those of the application come first.
#[derive(Clone, Debug, PartialEq)]
pub struct Runs {
    distances: Vec<Vec<f64>>,
    application: usize,
}

/// Why runs cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RunsError {
    /// Noise is the distance between runs of the application.
    #[error("comparing needs at least 2 runs of the application and 1 of the clone")]
    TooFew,
    /// Distances are one square of finite numbers that are at least 0, the same in both directions.
    #[error("distances between runs are not symmetric, or not finite and at least 0")]
    NotDistances,
}

/// How far clone and application are apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Median distance between a run of the application and one of the clone.
    pub median: f64,
    /// Median distance between two runs of the application.
    pub noise: f64,
    /// ρ, their ratio; NULL if the application has no noise.
    pub ratio: Option<f64>,
    /// 95 % bootstrap bound of the ratio; NULL if in too many resamples there is no noise.
    pub ratio_bound: Option<f64>,
    /// 95 % bootstrap bound of the median.
    pub median_bound: f64,
    /// E: mean distance between them, less the mean of those within each.
    pub energy: f64,
    /// Share of relabellings of the runs whose energy is at least that.
    pub p_value: f64,
    /// Whether all distances between clone and application are 0.
    pub equal: bool,
}

/// What a comparison comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No difference at all.
    Equal,
    /// Not further apart than runs of the application.
    WithinNoise,
    /// A small difference.
    WithinTolerance,
    /// A difference that chance does not explain.
    Differs,
    /// Too few runs to tell.
    Undecided,
}

impl Comparison {
    /// The first verdict that applies, where medians up to `tolerance` are small and `corrected` is the p-value corrected for
    /// the number of comparisons.
    #[must_use]
    pub fn verdict(&self, tolerance: f64, corrected: f64) -> Verdict {
        if self.equal {
            Verdict::Equal
        } else if self.ratio_bound.is_some_and(|bound| bound <= MAX_RATIO) {
            Verdict::WithinNoise
        } else if self.median_bound <= tolerance {
            Verdict::WithinTolerance
        } else if corrected <= SIGNIFICANT || self.noise == 0.0 {
            Verdict::Differs
        } else {
            Verdict::Undecided
        }
    }
}

impl Runs {
    /// Distances between runs, of which the first `application` are of the application.
    ///
    /// # Errors
    /// If there are too few runs, or these are no distances.
    pub fn new(distances: Vec<Vec<f64>>, application: usize) -> Result<Self, RunsError> {
        let len = distances.len();
        if application < 2 || len <= application {
            return Err(RunsError::TooFew);
        }
        let is_square = distances.iter().all(|row| row.len() == len);
        let is_distance = |one: usize, other: usize| {
            let distance: f64 = distances[one][other];
            distance.is_finite() && distance >= 0.0 && distance == distances[other][one]
        };
        let are_distances = is_square && (0..len).all(|one| (0..len).all(|other| is_distance(one, other)));
        if are_distances { Ok(Self { distances, application }) } else { Err(RunsError::NotDistances) }
    }

    /// Distances of totals: |x−y| in their unit.
    ///
    /// # Errors
    /// If there are too few runs, or a total is not finite.
    pub fn of_totals(application: &[f64], clone: &[f64]) -> Result<Self, RunsError> {
        let all: Vec<f64> = application.iter().chain(clone).copied().collect();
        let row = |one: &f64| all.iter().map(|other| (one - other).abs()).collect();
        Self::new(all.iter().map(row).collect(), application.len())
    }

    /// Distances between runs of the two lists that are not the same run.
    fn between<'a>(&'a self, ones: &'a [usize], others: &'a [usize]) -> impl Iterator<Item = f64> + 'a {
        let pairs = ones.iter().flat_map(move |&one| others.iter().map(move |&other| (one, other)));
        pairs.filter(|(one, other)| one != other).map(|(one, other)| self.distances[one][other])
    }

    fn energy(&self, application: &[usize], clone: &[usize]) -> f64 {
        let mean = |ones, others| {
            let (sum, count) =
                self.between(ones, others).fold((0.0, 0_u32), |(sum, count), next| (sum + next, count + 1));
            if count == 0 { 0.0 } else { sum / f64::from(count) }
        };
        mean(application, clone) - (mean(application, application) + mean(clone, clone)) / 2.0
    }

    fn medians(&self, application: &[usize], clone: &[usize]) -> (f64, f64) {
        (
            median(self.between(application, clone).collect()),
            median(self.between(application, application).collect()),
        )
    }
}

/// Compares the runs. The result is a function of them alone.
#[must_use]
pub fn compare(runs: &Runs) -> Comparison {
    let all: Vec<usize> = (0..runs.distances.len()).collect();
    let (application, clone) = all.split_at(runs.application);
    let (median, noise) = runs.medians(application, clone);
    let (median_bound, ratio_bound) = bounds(runs, application, clone);
    Comparison {
        median,
        noise,
        ratio: (noise > 0.0).then(|| median / noise),
        ratio_bound,
        median_bound,
        energy: runs.energy(application, clone),
        p_value: p_value(runs, all.clone()),
        equal: runs.between(application, clone).all(|distance| distance == 0.0),
    }
}

/// 95 % bounds of the median between application and clone, and of its ratio to the noise.
fn bounds(runs: &Runs, application: &[usize], clone: &[usize]) -> (f64, Option<f64>) {
    let mut random = Random::of(&[RESAMPLES as u64]);
    let mut resample =
        |runs: &[usize]| -> Vec<usize> { runs.iter().map(|_| runs[random.below(runs.len())]).collect() };
    let resampled = (0..RESAMPLES).map(|_| {
        let (application, clone) = (resample(application), resample(clone));
        runs.medians(&application, &clone)
    });
    let (medians, ratios): (Vec<f64>, Vec<f64>) = resampled
        .map(|(median, noise)| (median, if noise > 0.0 { median / noise } else { f64::INFINITY }))
        .unzip();
    (bound(medians), Some(bound(ratios)).filter(|bound| bound.is_finite()))
}

/// The 95 % quantile, by nearest rank.
fn bound(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get((values.len() * 95).div_ceil(100).saturating_sub(1)).copied().unwrap_or_default()
}

/// The middle value, or the mean of the two in the middle; 0 of none.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        len if len % 2 == 1 => values[len / 2],
        len => f64::midpoint(values[len / 2 - 1], values[len / 2]),
    }
}

/// Share of relabellings with at least the energy of the runs as they are, which is one of them.
fn p_value(runs: &Runs, mut order: Vec<usize>) -> f64 {
    let len = runs.application;
    // Sums in another order differ in their last digits.
    let scale = runs.distances.iter().flatten().copied().fold(0.0, f64::max);
    let least = runs.energy(&order[..len], &order[len..]) - scale * 1e-9;
    let is_extreme = |order: &[usize]| runs.energy(&order[..len], &order[len..]) >= least;
    let Some(all) = choices(order.len() as u64, len as u64).filter(|&all| all <= MAX_RELABELLINGS) else {
        let mut random = Random::of(&[SAMPLED_RELABELLINGS]);
        let extreme = (0..SAMPLED_RELABELLINGS).filter(|_| {
            random.shuffle(&mut order);
            is_extreme(&order)
        });
        return (extreme.count() + 1) as f64 / (SAMPLED_RELABELLINGS + 1) as f64;
    };
    let mut chosen: Vec<usize> = (0..len).collect();
    let mut extreme = 0_u64;
    loop {
        let rest: Vec<usize> = (0..order.len()).filter(|run| chosen.binary_search(run).is_err()).collect();
        extreme += u64::from(is_extreme(&[chosen.as_slice(), &rest].concat()));
        if !next_choice(&mut chosen, order.len()) {
            return extreme as f64 / all as f64;
        }
    }
}

/// The ways to choose `some` of `all`; NULL if they do not fit 64 bits.
fn choices(all: u64, some: u64) -> Option<u64> {
    (0..some).try_fold(1_u64, |choices, at| Some(choices.checked_mul(all - at)? / (at + 1)))
}

/// The next choice of ascending numbers below `all`, in lexical order; whether there is one.
fn next_choice(chosen: &mut [usize], all: usize) -> bool {
    let len = chosen.len();
    let Some(at) = (0..len).rev().find(|&at| chosen[at] < all - len + at) else { return false };
    let first = chosen[at] + 1;
    chosen[at..].iter_mut().zip(first..).for_each(|(number, next)| *number = next);
    true
}
