//! One of the processes of a parallel program spends far more time on files than the median one.

use super::Rule;
use super::habit::{Context, ProcessHabit, Saved, Seen, Tally, part_of};
use super::peers::Peers;
use super::root_io::root;

/// So many times the median.
const TIMES: u64 = 2;
/// What is more than the median counts from so much on, in ns.
const MUCH: u64 = 10_000_000;

#[derive(Default)]
pub(crate) struct RankImbalance(Peers);

impl Rule for RankImbalance {
    fn see(&mut self, call: &Seen) {
        self.0.see(call);
    }

    fn found(&self, log: &Context) -> Vec<ProcessHabit> {
        let groups = self.0.groups(log);
        let found = groups.iter().filter(|group| root(group).is_none()).filter_map(|group| {
            let mut times: Vec<u64> = group.iter().map(|used| used.calls.time).collect::<Option<_>>()?;
            times.sort_unstable();
            let median = times[(times.len() - 1) / 2];
            let slowest = group.iter().max_by_key(|used| used.calls.time)?;
            let time = slowest.calls.time?;
            let more = time - median;
            let saved = Saved { calls: 0, timed: 0, time: Some(more), on_path: part_of(more, slowest.calls.on_path, time) };
            let tally =
                Tally { first: slowest.first, calls: slowest.calls.calls, saved, amount: slowest.bytes };
            (more >= MUCH && time >= TIMES.saturating_mul(median)).then(|| ProcessHabit {
                rule: "rank-imbalance",
                file: log.text(slowest.main_file()),
                tally,
                places: Vec::new(),
                fix: "give each process the same share of the bytes and files (divide by size, not by number), or let free processes take the next piece; if the bytes are equal, look at where the slow process runs and at the stripes of its files",
                assumes: "the processes wait for each other, at the end at least",
            })
        });
        found.collect()
    }
}
