//! Permutation test over runs: could a difference between two groups be chance?
//!
//! If the groups did not differ, any other division of the same runs into groups of these sizes would be as likely. Each
//! activity (and each transition) is one hypothesis: *its runs are exchangeable*. Of all its figures (how often, how long,
//! how many bytes; in all and for each occurrence) the ranks of the runs are compared, and the largest standardised
//! difference of mean ranks is the statistic. So one slow outlier decides nothing, and however many figures an
//! activity has, it is tested once. The p-value is the share of divisions whose statistic is at least as large.
//!
//! A run may lack a figure: without any call there is no time of a call. It says nothing about that figure, so it stands
//! at the mean rank of those that have it, which moves no sum of ranks to either side.
//!
//! All divisions are tried if there are at most [`MAX_EXACT`]. Otherwise random ones from a fixed seed are, one after the
//! other, until [`HITS`] of them reach the observed statistic (Besag and Clifford, "Sequential Monte Carlo p-values",
//! 1991): a hypothesis that noise explains ends early, one with a small p-value gets as many divisions as it takes to
//! survive the correction for the number of tests. Ranks are integers, so the result is reproducible.

/// Up to how many divisions all are tried.
const MAX_EXACT: u128 = 20_000;
/// How many random divisions must reach the observed statistic before the p-value is settled.
const HITS: u64 = 25;
/// Random divisions for each hypothesis, at most: the smallest p-value is then far below what the correction asks for.
const DIVISIONS_FOR_EACH: u64 = 1_000;
const MIN_DIVISIONS: u64 = 2_000;
/// How many ranks may be summed up for all divisions together.
const BUDGET: u64 = 2_000_000_000;
/// Fewer runs on either side allow no p-value that means anything (three against three: 0.1).
pub(crate) const FEWEST: usize = 4;
/// Share of comparisons without any difference that may still claim one.
pub(crate) const LEVEL: f64 = 0.05;

/// One hypothesis: for each of its figures the value of every run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hypothesis {
    /// Twice the distance of each run's rank from the mean rank (equal values share their mean rank), by figure; 0 for
    /// runs without the figure. Figures that do not vary are left out.
    ranks: Vec<Vec<i64>>,
    /// Standard deviation of those ranks.
    spread: Vec<f64>,
}

impl Hypothesis {
    /// Takes the values of a figure, one for each run; `None` for runs that lack it.
    pub(crate) fn figure(&mut self, values: &[Option<f64>]) {
        let ranks = centred_ranks(values);
        let squares: i64 = ranks.iter().map(|rank| rank.pow(2)).sum();
        if squares > 0 {
            self.spread.push((squares as f64 / values.len() as f64).sqrt());
            self.ranks.push(ranks);
        }
    }

    /// The largest standardised difference between the groups' mean ranks, up to a factor that all divisions share; `second`
    /// are the runs of the second group.
    fn statistic(&self, second: &[u32]) -> f64 {
        let of = |(ranks, spread): (&Vec<i64>, &f64)| {
            let sum: i64 = second.iter().map(|run| ranks[*run as usize]).sum();
            sum.abs() as f64 / spread
        };
        self.ranks.iter().zip(&self.spread).map(of).fold(0.0, f64::max)
    }
}

fn centred_ranks(values: &[Option<f64>]) -> Vec<i64> {
    let mut order: Vec<(f64, usize)> =
        values.iter().enumerate().filter_map(|(run, value)| Some(((*value)?, run))).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut ranks = vec![0; values.len()];
    let mut from = 0;
    for group in order.chunk_by(|a, b| a.0 == b.0) {
        let (first, last) = (from + 1, from + group.len());
        // The mean of the doubled ranks is the number of values and one more.
        let rank = (first + last) as i64 - (order.len() as i64 + 1);
        group.iter().for_each(|(_, run)| ranks[*run] = rank);
        from = last;
    }
    ranks
}

/// The p-values of hypotheses and how many divisions the most thorough of them rests on.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tested {
    pub(crate) p_values: Vec<f64>,
    pub(crate) divisions: u64,
}

/// Tests hypotheses about the observed division (`true` is the second group); nothing if a group has too few runs.
pub(crate) fn test(hypotheses: &[Hypothesis], observed: &[bool]) -> Option<Tested> {
    let second: Vec<u32> = (0..).zip(observed).filter(|(_, second)| **second).map(|(run, _)| run).collect();
    let runs = observed.len();
    if second.len() < FEWEST || runs - second.len() < FEWEST {
        return None;
    }
    let all = binomial(runs, second.len());
    let mut races: Vec<Race<'_>> = hypotheses.iter().map(|one| Race::new(one, &second)).collect();
    if all <= MAX_EXACT {
        for division in Combinations::new(runs, second.len()) {
            races.iter_mut().for_each(|race| race.run(&division));
        }
        let p_values = races.iter().map(|race| race.hits as f64 / all as f64).collect();
        return Some(Tested { p_values, divisions: all as u64 });
    }
    let most = (hypotheses.len() as u64 * DIVISIONS_FOR_EACH).max(MIN_DIVISIONS);
    let mut random = SplitMix(0x1074_a11e);
    let mut members: Vec<u32> = (0..runs as u32).collect();
    let (mut tried, mut spent) = (0, 0);
    while tried < most && spent < BUDGET {
        let running: Vec<&mut Race<'_>> = races.iter_mut().filter(|race| race.hits < HITS).collect();
        if running.is_empty() {
            break;
        }
        tried += 1;
        random.choose(&mut members, second.len());
        let division = &members[..second.len()];
        for race in running {
            spent += (division.len() * race.hypothesis.ranks.len().max(1)) as u64;
            race.run(division);
        }
    }
    let p_values = races.iter().map(Race::sequential_p).collect();
    Some(Tested { p_values, divisions: tried })
}

/// A hypothesis while divisions are tried.
struct Race<'a> {
    hypothesis: &'a Hypothesis,
    observed: f64,
    tried: u64,
    hits: u64,
}

impl<'a> Race<'a> {
    fn new(hypothesis: &'a Hypothesis, second: &[u32]) -> Self {
        Self { hypothesis, observed: hypothesis.statistic(second), tried: 0, hits: 0 }
    }

    fn run(&mut self, division: &[u32]) {
        // Sums of integers: what is equal is equal exactly but for the last bits of the division by the spread.
        let reached = self.hypothesis.statistic(division) >= self.observed * (1.0 - 1e-12);
        self.tried += 1;
        self.hits += u64::from(reached);
    }

    /// Besag and Clifford: hits over tries where it stopped at enough hits, else with the observed division added.
    fn sequential_p(&self) -> f64 {
        match self.hits {
            HITS.. => self.hits as f64 / self.tried as f64,
            hits => (hits + 1) as f64 / (self.tried + 1) as f64,
        }
    }
}

/// The smallest p-value that `runs` on each side allow: groups of equal size can be exchanged, with the same statistic.
fn smallest_p(runs: usize) -> f64 {
    2.0 / binomial(2 * runs, runs) as f64
}

/// How many runs each side needs before one difference among `hypotheses` can stand.
pub(crate) fn runs_needed(hypotheses: usize) -> u64 {
    let stands = |runs: &usize| smallest_p(*runs) * hypotheses.max(1) as f64 <= LEVEL;
    (FEWEST..=60).find(stands).unwrap_or(60) as u64
}

/// Benjamini and Hochberg: the smallest rate of false discoveries at which each difference would still be called real.
pub(crate) fn adjusted(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut smallest = 1.0_f64;
    for (rank, &index) in order.iter().enumerate().rev() {
        smallest = smallest.min(p_values[index] * p_values.len() as f64 / (rank + 1) as f64);
        adjusted[index] = smallest;
    }
    adjusted
}

fn binomial(n: usize, k: usize) -> u128 {
    (0..k.min(n - k) as u128).fold(1_u128, |product, i| product.saturating_mul(n as u128 - i) / (i + 1))
}

/// Every way to choose some of the first numbers.
struct Combinations {
    count: usize,
    next: Option<Vec<u32>>,
}

impl Combinations {
    fn new(count: usize, chosen: usize) -> Self {
        Self { count, next: Some((0..chosen as u32).collect()) }
    }
}

impl Iterator for Combinations {
    type Item = Vec<u32>;

    fn next(&mut self) -> Option<Vec<u32>> {
        let current = self.next.take()?;
        let room = self.count - current.len();
        self.next = (0..current.len()).rev().find(|&i| (current[i] as usize) < room + i).map(|moved| {
            let mut next = current.clone();
            next[moved] += 1;
            (moved + 1..next.len()).for_each(|i| next[i] = next[i - 1] + 1);
            next
        });
        Some(current)
    }
}

/// A small generator of random numbers (Steele, Lea, Flood: "Fast splittable pseudorandom number generators").
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    /// Brings `count` members, chosen at random, to the front (Fisher and Yates, as far as needed).
    fn choose(&mut self, members: &mut [u32], count: usize) {
        for index in 0..count {
            members.swap(index, index + self.below(members.len() - index));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn halves(count: usize) -> Vec<bool> {
        (0..count).map(|case| case >= count / 2).collect()
    }

    fn of(values: &[f64]) -> Hypothesis {
        let mut hypothesis = Hypothesis::default();
        hypothesis.figure(&known(values));
        hypothesis
    }

    fn known(values: &[f64]) -> Vec<Option<f64>> {
        values.iter().copied().map(Some).collect()
    }

    fn p(values: &[f64]) -> f64 {
        test(&[of(values)], &halves(values.len())).unwrap().p_values[0]
    }

    /// Roughly normal noise.
    fn noise(random: &mut SplitMix) -> f64 {
        (0..12).map(|_| random.below(1_000_000) as f64 / 1e6).sum::<f64>() - 6.0
    }

    #[test]
    fn fewer_than_four_against_four_are_not_tested() {
        assert_eq!(test(&[of(&[1.0, 2.0, 3.0, 11.0, 12.0, 13.0])], &halves(6)), None);
        assert_eq!(test(&[], &[false, true, true, true, true, true]), None);
    }

    #[test]
    fn what_is_apart_has_the_smallest_p_that_the_runs_allow_and_what_is_equal_has_one() {
        assert_eq!(p(&[1.0, 2.0, 3.0, 4.0, 101.0, 102.0, 103.0, 104.0]), 2.0 / 70.0);
        assert_eq!(p(&[1.0; 8]), 1.0);
        assert_eq!(smallest_p(4), 2.0 / 70.0);
        assert_eq!([1, 2, 40].map(runs_needed), [4, 5, 7]);
    }

    #[test]
    fn one_outlier_is_no_difference() {
        assert!(p(&[1.0, 3.0, 5.0, 7.0, 2.0, 4.0, 6.0, 1e9]) > 0.3);
    }

    #[test]
    fn many_runs_are_sampled_as_often_as_their_p_needs_and_the_answer_is_always_the_same() {
        let apart: Vec<f64> =
            (0..60).map(|n| f64::from(n * 37 % 101 + if n >= 30 { 200 } else { 0 })).collect();
        let equal: Vec<f64> = (0..60).map(|n| f64::from(n * 37 % 101)).collect();
        let hypotheses = vec![of(&apart), of(&equal)];
        let tested = test(&hypotheses, &halves(60)).unwrap();
        assert_eq!(tested.p_values[0], 1.0 / (tested.divisions + 1) as f64);
        assert!(tested.p_values[0] < 0.001 && tested.p_values[1] > 0.05, "{tested:?}");
        assert_eq!(test(&hypotheses, &halves(60)), Some(tested));
        let hundred = vec![of(&apart); 100];
        let tested = test(&hundred, &halves(60)).unwrap();
        assert!(tested.p_values[0] * 100.0 < LEVEL / 10.0, "a p small enough for 100 tests: {tested:?}");
    }

    #[test]
    fn adjustment_by_hand() {
        // 0.01 x 4 / 1, 0.02 x 4 / 2, 0.03 x 4 / 3 are all 0.04; 0.9 stays.
        let adjusted = adjusted(&[0.9, 0.01, 0.03, 0.02]);
        for (value, expected) in adjusted.into_iter().zip([0.9, 0.04, 0.04, 0.04]) {
            assert!((value - expected).abs() < 1e-12);
        }
    }

    /// Comparisons of runs from one distribution that claim any difference; `planted` is a factor on the first activity.
    fn claims(comparisons: usize, activities: usize, runs: usize, planted: f64, seed: u64) -> usize {
        let mut random = SplitMix(seed);
        let claimed = |_: &usize| {
            let hypotheses: Vec<Hypothesis> = (0..activities)
                .map(|activity| {
                    let mut hypothesis = Hypothesis::default();
                    let slower = |run: usize| if activity == 0 && run >= runs { planted } else { 1.0 };
                    let times: Vec<f64> =
                        (0..2 * runs).map(|run| (0.3 * noise(&mut random)).exp() * slower(run)).collect();
                    let counts: Vec<f64> = (0..2 * runs).map(|_| random.below(5) as f64).collect();
                    hypothesis.figure(&known(&times));
                    hypothesis.figure(&known(&counts));
                    hypothesis
                })
                .collect();
            let tested = test(&hypotheses, &halves(2 * runs)).unwrap();
            adjusted(&tested.p_values)[if planted == 1.0 { 0..activities } else { 0..1 }]
                .iter()
                .any(|q| *q <= LEVEL)
        };
        (0..comparisons).filter(claimed).count()
    }

    #[test]
    fn at_most_five_of_a_hundred_comparisons_without_a_difference_claim_one() {
        // 400 comparisons: 20 expected at most, 33 is three standard deviations above.
        for (runs, seed) in [(4, 1), (6, 2)] {
            let wrong = claims(400, 12, runs, 1.0, seed);
            assert!(wrong <= 33, "{wrong} of 400 with {runs} runs a side");
        }
    }

    #[test]
    fn a_planted_change_of_a_factor_of_two_is_found() {
        assert!(claims(10, 40, 10, 2.0, 3) >= 9);
        assert!(claims(5, 120, 15, 2.0, 4) == 5);
    }

    /// Another way to the p-value of `docs/definitions.md`: ranks by counting, every division as a mask of bits. A run
    /// without a figure is at the mean rank of the others, so it is out of all sums.
    fn by_definition(figures: &[Vec<Option<f64>>], observed: &[bool]) -> f64 {
        let mask = observed.iter().rev().fold(0_u32, |mask, second| mask << 1 | u32::from(*second));
        let rank = |values: &[Option<f64>], value: f64| {
            let count =
                |is: &dyn Fn(f64) -> bool| values.iter().flatten().filter(|other| is(**other)).count() as f64;
            count(&|other| other < value) + (count(&|other| other == value) + 1.0) / 2.0
        };
        let statistic = |division: u32| {
            let of = |values: &Vec<Option<f64>>| {
                let middle = (values.iter().flatten().count() as f64 + 1.0) / 2.0;
                let ranks = values.iter().map(|value| value.map_or(middle, |value| rank(values, value)));
                let ranks: Vec<f64> = ranks.collect();
                let variance =
                    ranks.iter().map(|rank| (rank - middle).powi(2)).sum::<f64>() / ranks.len() as f64;
                let mean = |second: bool| {
                    let side = |run: &usize| (division >> run & 1 == 1) == second;
                    let side: Vec<f64> = (0..ranks.len()).filter(side).map(|run| ranks[run]).collect();
                    side.iter().sum::<f64>() / side.len() as f64
                };
                if variance == 0.0 { 0.0 } else { (mean(true) - mean(false)).abs() / variance.sqrt() }
            };
            figures.iter().map(of).fold(0.0, f64::max)
        };
        let all = (0..1_u32 << observed.len()).filter(|other| other.count_ones() == mask.count_ones());
        let all: Vec<f64> = all.map(statistic).collect();
        let reached = all.iter().filter(|value| **value >= statistic(mask) * (1.0 - 1e-9)).count();
        reached as f64 / all.len() as f64
    }

    #[test]
    fn a_run_without_a_figure_is_at_the_mean_rank() {
        // Ranks 1 to 7; the fourth run has none, so it stands at 4 like the last. Seen from there the second group adds up to
        // 1 + 2 + 3 + 0, which is the most; one of the two that stand in the middle is on either side: 4 of 70 divisions.
        let values: Vec<Option<f64>> = [1.0, 2.0, 3.0]
            .into_iter()
            .map(Some)
            .chain([None, Some(5.0), Some(6.0), Some(7.0), Some(4.0)])
            .collect();
        let mut hypothesis = Hypothesis::default();
        hypothesis.figure(&values);
        assert_eq!(hypothesis.ranks, [[-6, -4, -2, 0, 2, 4, 6, 0]]);
        let p = test(&[hypothesis], &halves(8)).unwrap().p_values[0];
        assert_eq!(p, 4.0 / 70.0);
        assert_eq!(by_definition(&[values], &halves(8)), p);
    }

    proptest! {
        #[test]
        fn exact_p_values_follow_from_the_definition(
            runs in prop::collection::vec(prop::array::uniform3(prop::option::of(0_u32..9)), 8..11),
            split in 4_usize..6,
        ) {
            prop_assume!(split + 4 <= runs.len());
            let observed: Vec<bool> = (0..runs.len()).map(|case| case >= split).collect();
            let figure = |index: usize| runs.iter().map(|run| run[index].map(f64::from)).collect::<Vec<_>>();
            let figures: Vec<_> = (0..3).map(figure).collect();
            let mut hypothesis = Hypothesis::default();
            figures.iter().for_each(|values| hypothesis.figure(values));
            let tested = test(&[hypothesis], &observed).unwrap();
            prop_assert!((tested.p_values[0] - by_definition(&figures, &observed)).abs() < 1e-12);
        }
    }
}
