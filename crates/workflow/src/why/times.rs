//! When each thread was on the paths that explain the elapsed times of a log: what a change of its calls is worth.

use super::path::{Leg, Path, What};
use crate::waits::{Ended, LineId, Waits};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::{CaseId, Tid};
use iotrail_query::ProcessId;

/// Spans of time, sorted, none overlapping another.
type Spans = Vec<(i64, i64)>;

/// The paths of all runs of a log, as spans of time of threads.
#[derive(Clone, Debug, Default)]
pub struct PathTimes {
    /// The own time of each thread on a path.
    own: HashMap<(ProcessId, Tid), Spans, RandomState>,
    /// The same of all threads of a process together.
    processes: HashMap<ProcessId, Spans, RandomState>,
    /// Waits that the walk left to what ended them, by thread: from start to cause.
    awaited: HashMap<(ProcessId, Tid), Spans, RandomState>,
    /// By case, the run that it belongs to.
    runs: Vec<u32>,
    /// Elapsed time of each run that has a path.
    elapsed: HashMap<u32, u64, RandomState>,
}

impl PathTimes {
    pub(super) fn new(waits: &Waits, runs: &[u32], paths: &[(u32, Path)]) -> Self {
        let mut times = Self { runs: runs.to_vec(), ..Self::default() };
        let thread = |line: LineId| (waits.process(line), waits.tid(line));
        for (run, path) in paths {
            let elapsed = path.span.1.saturating_sub(path.span.0);
            times.elapsed.insert(*run, u64::try_from(elapsed).unwrap_or_default());
            // What is left of a sleep when a file that was looked for is there is what looking for it costs.
            let is_own = |leg: &&Leg| matches!(leg.what, What::Own | What::HandOver(Ended::Made));
            for leg in path.legs.iter().filter(is_own) {
                times.own.entry(thread(leg.line)).or_default().push((leg.from, leg.to));
                times.processes.entry(waits.process(leg.line)).or_default().push((leg.from, leg.to));
            }
            for wait in &path.awaited {
                times.awaited.entry(thread(wait.line)).or_default().push((wait.start, wait.cause.at));
            }
        }
        let spans = times.own.values_mut().chain(times.awaited.values_mut());
        spans.chain(times.processes.values_mut()).for_each(|spans| spans.sort_unstable());
        times
    }

    /// How long the thread was on the path between `start` and `end`, in ns.
    #[must_use]
    pub fn of_thread(&self, process: ProcessId, tid: Tid, (start, end): (i64, i64)) -> u64 {
        self.own.get(&(process, tid)).map_or(0, |spans| within(spans, start, end))
    }

    /// How long any thread of the process was on the path between `start` and `end`, in ns.
    #[must_use]
    pub fn of_process(&self, process: ProcessId, (start, end): (i64, i64)) -> u64 {
        self.processes.get(&process).map_or(0, |spans| within(spans, start, end))
    }

    /// How long the path followed what a wait of the thread between `start` and `end` waited for, in ns.
    #[must_use]
    pub fn awaited(&self, process: ProcessId, tid: Tid, (start, end): (i64, i64)) -> u64 {
        self.awaited.get(&(process, tid)).map_or(0, |spans| within(spans, start, end))
    }

    /// The run that a case belongs to.
    #[must_use]
    pub fn run(&self, case: CaseId) -> u32 {
        self.runs.get(case.index()).copied().unwrap_or_default()
    }

    /// The elapsed time of a run, in ns, if it has a path.
    #[must_use]
    pub fn elapsed(&self, run: u32) -> Option<u64> {
        self.elapsed.get(&run).copied()
    }
}

/// How much of `spans` lies between `start` and `end`.
fn within(spans: &[(i64, i64)], start: i64, end: i64) -> u64 {
    let first = spans.partition_point(|(_, to)| *to <= start);
    let inside = spans[first..].iter().take_while(|(from, _)| *from < end);
    inside.map(|(from, to)| (*to).min(end).saturating_sub((*from).max(start)).max(0) as u64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_cut_at_both_ends() {
        let spans = [(0, 10), (20, 30), (40, 50)];
        assert_eq!(within(&spans, 5, 45), 20);
        assert_eq!(within(&spans, 10, 20), 0);
        assert_eq!(within(&spans, 22, 24), 2);
        assert_eq!(within(&[], 0, 9), 0);
    }
}
