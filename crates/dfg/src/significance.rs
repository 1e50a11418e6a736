//! Permutation test over cases: could a difference between two groups be chance?
//!
//! If the groups did not differ, any other division of the same cases into groups of these sizes would be as likely. The
//! p-value is the share of divisions under which the figure differs at least as much, in either direction. All
//! divisions are tried if there are at most [`MAX_EXACT`], else random ones from a fixed seed, to which the one that was
//! observed is added. Sums are integers, so equal divisions give equal figures and the result is reproducible.
//!
//! Small groups cannot show much: with three cases against three, the smallest possible p-value is 0.1.

/// Up to how many divisions all are tried.
const MAX_EXACT: u128 = 10_000;
/// How many random divisions are tried otherwise; fewer for logs of many thousand cases, to keep the time bounded.
const RANDOM: u64 = 2_000;
const MIN_RANDOM: u64 = 200;
/// How many values may be summed for all divisions.
const BUDGET: u64 = 2_000_000_000;
/// P-values above this level do not count as a difference.
pub(crate) const LEVEL: f64 = 0.05;

/// What a figure divides: for example durations by events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    /// The case's place in the list of all cases.
    pub(crate) case: u32,
    pub(crate) numerator: i128,
    pub(crate) denominator: u64,
}

/// How the figure of a group follows from its cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Figure {
    /// Sum of the numerators over the number of cases in the group.
    PerCase,
    /// Sum of the numerators over the sum of the denominators.
    Mean,
}

/// The divisions of cases to try; `true` is the second group.
#[derive(Debug)]
pub(crate) struct Divisions {
    observed: Vec<bool>,
    tried: Vec<Vec<bool>>,
    /// Whether `tried` is all there are, the observed one among them.
    exact: bool,
}

impl Divisions {
    /// The divisions for the observed one; none if a group has fewer than two cases. `shares` is the number of values
    /// that each division sums up.
    pub(crate) fn new(observed: Vec<bool>, shares: u64) -> Self {
        let second = observed.iter().filter(|second| **second).count();
        let first = observed.len() - second;
        if first < 2 || second < 2 {
            return Self { observed, tried: Vec::new(), exact: true };
        }
        if binomial(observed.len(), second) <= MAX_EXACT {
            let tried = combinations(observed.len(), second);
            return Self { observed, tried, exact: true };
        }
        let count = (BUDGET / shares.max(1)).clamp(MIN_RANDOM, RANDOM);
        let mut random = SplitMix(0x1074_a11e);
        let tried = (0..count).map(|_| random.shuffled(&observed)).collect();
        Self { observed, tried, exact: false }
    }

    /// How many divisions p-values rest on; 0 without a test.
    pub(crate) fn count(&self) -> u64 {
        self.tried.len() as u64
    }

    /// The smallest p-value that any data could give.
    pub(crate) fn smallest_p(&self) -> f64 {
        let second = self.observed.iter().filter(|second| **second).count();
        match self.exact {
            // Groups of equal size can be exchanged, with the same difference the other way round.
            true if second * 2 == self.observed.len() => 2.0 / self.count() as f64,
            true => 1.0 / self.count() as f64,
            false => 1.0 / (self.count() + 1) as f64,
        }
    }

    /// The p-value of the difference; NULL without a test.
    pub(crate) fn p_value(&self, shares: &[Share], figure: Figure) -> Option<f64> {
        if self.tried.is_empty() {
            return None;
        }
        let second = self.observed.iter().filter(|second| **second).count() as u64;
        let sizes = [self.observed.len() as u64 - second, second];
        let observed = difference(&self.observed, sizes, shares, figure)?.abs();
        // What has no figure in one of the groups cannot speak against chance.
        let at_least = |division: &&Vec<bool>| {
            difference(division, sizes, shares, figure).is_none_or(|difference| difference.abs() >= observed)
        };
        let hits = self.tried.iter().filter(at_least).count() as u64;
        let (hits, tried) = if self.exact { (hits, self.count()) } else { (hits + 1, self.count() + 1) };
        Some(hits as f64 / tried as f64)
    }
}

/// Figure of the second group minus that of the first; NULL if one has none.
fn difference(division: &[bool], sizes: [u64; 2], shares: &[Share], figure: Figure) -> Option<f64> {
    let mut numerators = [0_i128; 2];
    let mut denominators = [0_u64; 2];
    for share in shares {
        let group = usize::from(division[share.case as usize]);
        numerators[group] += share.numerator;
        denominators[group] += share.denominator;
    }
    if figure == Figure::PerCase {
        denominators = sizes;
    }
    let mean = |group: usize| {
        (denominators[group] > 0).then(|| numerators[group] as f64 / denominators[group] as f64)
    };
    Some(mean(1)? - mean(0)?)
}

/// Benjamini and Hochberg: the smallest rate of false discoveries at which each difference would still be called real.
pub(crate) fn adjusted(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut smallest = 1.0_f64;
    for (rank, &place) in order.iter().enumerate().rev() {
        smallest = smallest.min(p_values[place] * p_values.len() as f64 / (rank + 1) as f64);
        adjusted[place] = smallest;
    }
    adjusted
}

fn binomial(n: usize, k: usize) -> u128 {
    (0..k.min(n - k) as u128).fold(1_u128, |product, i| product.saturating_mul(n as u128 - i) / (i + 1))
}

/// Every way to choose `chosen` of `count`.
fn combinations(count: usize, chosen: usize) -> Vec<Vec<bool>> {
    let mut all = Vec::new();
    let mut places: Vec<usize> = (0..chosen).collect();
    loop {
        let mut division = vec![false; count];
        places.iter().for_each(|&place| division[place] = true);
        all.push(division);
        let Some(moved) = (0..chosen).rev().find(|&i| places[i] < count - chosen + i) else { return all };
        places[moved] += 1;
        (moved + 1..chosen).for_each(|i| places[i] = places[i - 1] + 1);
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

    fn shuffled(&mut self, labels: &[bool]) -> Vec<bool> {
        let mut labels = labels.to_vec();
        for last in (1..labels.len()).rev() {
            let other = ((u128::from(self.next()) * (last as u128 + 1)) >> 64) as usize;
            labels.swap(last, other);
        }
        labels
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shares(values: &[i64]) -> Vec<Share> {
        let share = |(case, &value): (usize, &i64)| Share {
            case: case as u32,
            numerator: value.into(),
            denominator: 1,
        };
        values.iter().enumerate().map(share).collect()
    }

    fn halves(count: usize) -> Vec<bool> {
        (0..count).map(|case| case >= count / 2).collect()
    }

    #[test]
    fn three_against_three_cannot_be_below_one_tenth() {
        let divisions = Divisions::new(halves(6), 6);
        assert_eq!(divisions.count(), 20);
        assert_eq!(divisions.smallest_p(), 0.1);
        assert_eq!(divisions.p_value(&shares(&[1, 2, 3, 1001, 1002, 1003]), Figure::PerCase), Some(0.1));
        assert_eq!(divisions.p_value(&shares(&[1, 1, 1, 1, 1, 1]), Figure::PerCase), Some(1.0));
    }

    #[test]
    fn one_case_is_no_sample() {
        let divisions = Divisions::new(vec![false, true, true], 3);
        assert_eq!((divisions.count(), divisions.p_value(&shares(&[1, 2, 3]), Figure::PerCase)), (0, None));
    }

    #[test]
    fn many_cases_are_sampled_and_the_answer_is_always_the_same() {
        let values: Vec<i64> = (0..60).map(|n| n * 37 % 101 + if n >= 30 { 60 } else { 0 }).collect();
        let p = |figure| Divisions::new(halves(60), 60).p_value(&shares(&values), figure).unwrap();
        assert_eq!(p(Figure::PerCase), 1.0 / 2_001.0);
        assert_eq!(p(Figure::Mean), p(Figure::Mean));
    }

    #[test]
    fn adjustment_by_hand() {
        // 0.01 x 4 / 1, 0.02 x 4 / 2, 0.03 x 4 / 3 are all 0.04; 0.9 stays.
        let adjusted = adjusted(&[0.9, 0.01, 0.03, 0.02]);
        for (value, expected) in adjusted.into_iter().zip([0.9, 0.04, 0.04, 0.04]) {
            assert!((value - expected).abs() < 1e-12);
        }
    }

    proptest! {
        #[test]
        fn exact_p_values_equal_brute_force(values in prop::collection::vec(-9_i64..9, 4..9), split in 2_usize..7) {
            prop_assume!(split + 2 <= values.len());
            let observed: Vec<bool> = (0..values.len()).map(|case| case >= split).collect();
            let of = |mask: u32| {
                let side = |second: bool| {
                    let values = values.iter().enumerate().filter(|(case, _)| (mask >> case & 1 == 1) == second);
                    let (sum, count) = values.fold((0, 0), |(sum, count), (_, value)| (sum + value, count + 1));
                    sum as f64 / f64::from(count)
                };
                (side(true) - side(false)).abs()
            };
            let mask = observed.iter().enumerate().map(|(case, second)| u32::from(*second) << case).sum::<u32>();
            let same_size = (0..1_u32 << values.len()).filter(|other| other.count_ones() == mask.count_ones());
            let all: Vec<f64> = same_size.map(of).collect();
            let expected = all.iter().filter(|value| **value >= of(mask)).count() as f64 / all.len() as f64;
            prop_assert_eq!(Divisions::new(observed, 9).p_value(&shares(&values), Figure::PerCase), Some(expected));
        }
    }
}
