//! Time at stake: what a change could take off the elapsed time.

use iotrail_workflow::why::PathTimes;
use std::collections::BTreeMap;

/// Time on the paths of runs. Runs that are not related, as ranks that were recorded one by one, go on beside each other: what counts
/// is the one with most.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stake(BTreeMap<u32, Option<u64>>);

impl Stake {
    /// More of a run; NULL if it is not known how much.
    pub(crate) fn add(&mut self, run: u32, time: Option<u64>) {
        let all = self.0.entry(run).or_insert(Some(0));
        *all = all.zip(time).map(|(all, time)| all.saturating_add(time));
    }

    /// What is at stake elsewhere as well.
    pub(crate) fn join(&mut self, other: &Self) {
        other.0.iter().for_each(|(run, time)| self.add(*run, *time));
    }

    /// The time, and its share of the elapsed time, of the run with most; NULL if that is not known.
    pub(crate) fn most(&self, path: &PathTimes) -> (Option<u64>, Option<f64>) {
        let known = self.0.iter().filter_map(|(run, time)| Some((*run, (*time)?, path.elapsed(*run)?)));
        match known.max_by_key(|(run, time, _)| (*time, std::cmp::Reverse(*run))) {
            Some((_, time, elapsed)) if elapsed > 0 => (Some(time), Some(time as f64 / elapsed as f64)),
            _ => (None, None),
        }
    }
}
