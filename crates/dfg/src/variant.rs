//! Activity traces and the activity log: the multiset of traces, equal ones stored once (Sankaran et al., section IV).
//!
//! A trace may have a billion activities and arrive in pieces, so its identity is its length and two polynomial hashes
//! modulo 2^61 - 1 (122 bits together): the hash of a concatenation follows from the hashes of its parts. Beside
//! it stands the beginning of the trace, run-length encoded: at most [`MAX_STEPS`] activities of each trace, and at most
//! [`MAX_TOTAL_STEPS`] of all distinct traces together, so that ten thousand ranks that all differ do not fill the
//! memory. The common cap is halved until the total fits; it is a function of the set of lengths alone, hence the
//! same for every order of merging.

use hashbrown::HashMap;
use iotrail_query::CaseKey;

/// How many activities of a trace are listed at most.
pub const MAX_STEPS: u64 = 10_000;
/// How many activities of all distinct traces together are listed at most.
pub const MAX_TOTAL_STEPS: u64 = 1_000_000;

const MODULUS: u64 = (1 << 61) - 1;
const BASES: [u64; 2] = [0x0f3c_4a2b_91d7_5e63, 0x1a84_6d5f_0b29_c717];

/// Identity of a trace: its length and its hashes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TraceId {
    pub(crate) length: u64,
    hashes: [u64; 2],
}

impl TraceId {
    /// Appends [`PENDING`] activities at a time: one multiplication that waits for the one before, and one remainder.
    fn push_all(&mut self, activities: [u32; PENDING]) {
        for ((hash, base), powers) in self.hashes.iter_mut().zip(BASES).zip(&POWERS) {
            let steps = activities
                .iter()
                .zip(powers.iter().rev().skip(1))
                .map(|(activity, power)| step(*activity) * u128::from(*power));
            debug_assert_eq!(powers[1], base);
            *hash = reduce(u128::from(*hash) * u128::from(powers[PENDING]) + steps.sum::<u128>());
        }
        self.length += PENDING as u64;
    }

    fn push(&mut self, activity: u32) {
        for (hash, base) in self.hashes.iter_mut().zip(BASES) {
            *hash = reduce(u128::from(*hash) * u128::from(base) + step(activity));
        }
        self.length += 1;
    }

    fn extend(&mut self, next: &Self) {
        for ((hash, base), tail) in self.hashes.iter_mut().zip(BASES).zip(next.hashes) {
            *hash = reduce(u128::from(*hash) * u128::from(power(base, next.length)) + u128::from(tail));
        }
        self.length += next.length;
    }
}

/// No activity is 0, which would not change a hash of nothing.
fn step(activity: u32) -> u128 {
    u128::from(activity) + 1
}

/// How many activities wait until they become part of the hashes.
const PENDING: usize = 8;

/// The powers of each base, from the 0th on.
const POWERS: [[u64; PENDING + 1]; 2] = [powers(BASES[0]), powers(BASES[1])];

const fn powers(base: u64) -> [u64; PENDING + 1] {
    let mut powers = [1; PENDING + 1];
    let mut at = 1;
    while at <= PENDING {
        powers[at] = (powers[at - 1] as u128 * base as u128 % MODULUS as u128) as u64;
        at += 1;
    }
    powers
}

/// `value` modulo 2^61 - 1, for values below 2^122 + 2^61.
#[inline]
fn reduce(value: u128) -> u64 {
    let folded = (value as u64 & MODULUS) + (value >> 61) as u64;
    let folded = (folded & MODULUS) + (folded >> 61);
    // The smaller of the two is the remainder: below the modulus, the difference wraps round to a huge number.
    folded.min(folded.wrapping_sub(MODULUS))
}

fn power(base: u64, mut exponent: u64) -> u64 {
    let (mut square, mut product) = (base, 1_u64);
    while exponent > 0 {
        if exponent & 1 == 1 {
            product = reduce(u128::from(product) * u128::from(square));
        }
        square = reduce(u128::from(square) * u128::from(square));
        exponent >>= 1;
    }
    product
}

/// The same activity several times in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    activity: u32,
    times: u32,
}

/// The beginning of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Steps {
    runs: Vec<Run>,
    listed: u64,
}

impl Steps {
    #[inline]
    fn push(&mut self, activity: u32, times: u64, cap: u64) {
        let times = times.min(cap.saturating_sub(self.listed));
        if times == 0 {
            return;
        }
        self.listed += times;
        match self.runs.last_mut() {
            Some(last) if last.activity == activity => last.times += times as u32,
            _ => self.runs.push(Run { activity, times: times as u32 }),
        }
    }

    fn truncate(&mut self, cap: u64) {
        while let Some(last) = self.runs.last_mut()
            && self.listed > cap
        {
            let cut = u64::from(last.times).min(self.listed - cap);
            self.listed -= cut;
            last.times -= cut as u32;
            if last.times == 0 {
                self.runs.pop();
            }
        }
        self.runs.shrink_to_fit();
    }

    /// The listed activities, one after the other.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> {
        self.runs.iter().flat_map(|run| std::iter::repeat_n(run.activity, run.times as usize))
    }
}

/// An activity trace, or a piece of one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace {
    /// Of all activities but the pending ones.
    id: TraceId,
    steps: Steps,
    pending: [u32; PENDING],
    waiting: usize,
}

impl Trace {
    #[inline]
    pub(crate) fn push(&mut self, activity: u32) {
        self.pending[self.waiting % PENDING] = activity;
        self.waiting += 1;
        if self.waiting == PENDING {
            self.settle_all();
        }
    }

    /// Takes in all pending activities, of which there are as many as can be.
    fn settle_all(&mut self) {
        self.waiting = 0;
        self.id.push_all(self.pending);
        if self.steps.listed < MAX_STEPS {
            self.pending.into_iter().for_each(|activity| self.steps.push(activity, 1, MAX_STEPS));
        }
    }

    /// Takes in all pending activities.
    fn settle(&mut self) {
        for activity in self.pending.into_iter().take(std::mem::take(&mut self.waiting)) {
            self.id.push(activity);
            self.steps.push(activity, 1, MAX_STEPS);
        }
    }

    /// Appends the piece that follows.
    pub(crate) fn extend(&mut self, mut next: Self) {
        self.settle();
        next.settle();
        self.id.extend(&next.id);
        for run in &next.steps.runs {
            self.steps.push(run.activity, u64::from(run.times), MAX_STEPS);
        }
    }

    /// Its identity and its beginning.
    fn into_parts(mut self) -> (TraceId, Steps) {
        self.settle();
        (self.id, self.steps)
    }
}

/// A distinct trace and the cases that have it.
#[derive(Clone, Debug)]
pub(crate) struct VariantCases {
    pub(crate) steps: Steps,
    /// In no particular order.
    pub(crate) cases: Vec<CaseKey>,
}

/// The activity log.
#[derive(Clone, Debug)]
pub(crate) struct Variants {
    by_id: HashMap<TraceId, VariantCases, foldhash::fast::RandomState>,
    /// How many activities of each trace are kept.
    cap: u64,
    /// How many activities are kept of all traces together.
    listed: u64,
}

impl Default for Variants {
    fn default() -> Self {
        Self { by_id: HashMap::default(), cap: MAX_STEPS, listed: 0 }
    }
}

impl Variants {
    /// Adds the trace of one case.
    pub(crate) fn add(&mut self, case: CaseKey, trace: Trace) {
        let (id, steps) = trace.into_parts();
        self.add_cases(id, VariantCases { steps, cases: vec![case] });
        self.fit();
    }

    pub(crate) fn merge(&mut self, other: Self) {
        for (id, variant) in other.by_id {
            self.add_cases(id, variant);
            self.fit();
        }
    }

    fn add_cases(&mut self, id: TraceId, variant: VariantCases) {
        match self.by_id.entry(id) {
            hashbrown::hash_map::Entry::Occupied(mut known) => {
                let known = known.get_mut();
                known.cases.extend(variant.cases);
            }
            hashbrown::hash_map::Entry::Vacant(place) => {
                let new = place.insert(variant);
                new.steps.truncate(self.cap);
                self.listed += id.length.min(self.cap);
            }
        }
    }

    /// Halves the cap until all listed activities fit.
    fn fit(&mut self) {
        if self.listed <= MAX_TOTAL_STEPS {
            return;
        }
        while self.listed > MAX_TOTAL_STEPS {
            self.cap /= 2;
            self.listed = self.by_id.keys().map(|id| id.length.min(self.cap)).sum();
        }
        let cap = self.cap;
        self.by_id.values_mut().for_each(|variant| variant.steps.truncate(cap));
    }

    /// The traces, in no particular order, and how many activities of each are listed at most.
    pub(crate) fn into_parts(self) -> (impl Iterator<Item = (TraceId, VariantCases)>, u64) {
        (self.by_id.into_iter(), self.cap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn trace(activities: &[u32]) -> Trace {
        let mut trace = Trace::default();
        activities.iter().for_each(|&activity| trace.push(activity));
        trace
    }

    #[test]
    fn a_long_trace_is_listed_up_to_the_cap_and_told_apart_beyond_it() {
        let mut long = vec![1; MAX_STEPS as usize + 5];
        let (first_id, first) = trace(&long).into_parts();
        *long.last_mut().unwrap() = 2;
        let (second_id, second) = trace(&long).into_parts();
        assert_eq!(first, second);
        assert_eq!(first.iter().count() as u64, MAX_STEPS);
        assert_ne!(first_id, second_id);
        assert_eq!(first_id.length, MAX_STEPS + 5);
    }

    #[test]
    fn many_long_variants_share_one_shrinking_cap_whatever_the_order() {
        let traces: Vec<Trace> = (0..250_u32).map(|n| trace(&vec![n; 9_000])).collect();
        let add = |order: &mut dyn Iterator<Item = usize>| {
            let mut variants = Variants::default();
            order.for_each(|n| variants.add(CaseKey(n as u64), traces[n].clone()));
            (variants.cap, variants.listed)
        };
        assert_eq!(add(&mut (0..250)), (2_500, 625_000));
        assert_eq!(add(&mut (0..250).rev()), (2_500, 625_000));
    }

    proptest! {
        #[test]
        fn pieces_of_a_trace_join_to_the_whole(activities in prop::collection::vec(0_u32..4, 0..40), cut in any::<prop::sample::Index>()) {
            let (left, right) = activities.split_at(cut.index(activities.len() + 1));
            let mut joined = trace(left);
            joined.extend(trace(right));
            let joined = joined.into_parts();
            prop_assert_eq!(&joined, &trace(&activities).into_parts());
            prop_assert_eq!(joined.1.iter().collect::<Vec<_>>(), activities);
        }

        #[test]
        fn different_traces_have_different_identities(a in prop::collection::vec(0_u32..3, 0..12), b in prop::collection::vec(0_u32..3, 0..12)) {
            prop_assert_eq!(trace(&a).into_parts().0 == trace(&b).into_parts().0, a == b);
        }

        #[test]
        fn activities_that_waited_give_the_same_identity(activities in prop::collection::vec(0_u32..=u32::MAX - 2, 0..40)) {
            let mut one_by_one = TraceId::default();
            activities.iter().for_each(|activity| one_by_one.push(*activity));
            prop_assert_eq!(trace(&activities).into_parts().0, one_by_one);
        }

        #[test]
        fn reduction_is_the_remainder(value in 0..(1_u128 << 122)) {
            prop_assert_eq!(u128::from(reduce(value)), value % u128::from(MODULUS));
        }
    }
}
