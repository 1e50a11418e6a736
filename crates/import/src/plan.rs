//! What an import will do: which files make which cases, which are read together, which go into which part.
//!
//! Everything here depends on the inputs alone, not on the number of threads or their timing, so that the same input
//! gives the same trail. Jobs and cases keep the order of the inputs; a part is a run of consecutive jobs, so its rows
//! come nearly sorted.

use crate::input::TraceFile;
use crate::naming::{self, CasePattern};
use crate::probe::Probe;
use iotrail_model::time::{NANOS_PER_DAY, civil_from_days, days_from_civil};
use iotrail_model::{CaseId, CaseName, Clock, Nanos, Tid, Timestamp};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Text that is worth a part of its own: about one row group of events.
const PART_BYTES: u64 = 16 << 20;
/// However much there is, a reader should not have to open more files.
const MAX_PARTS: u64 = 256;
/// What compressed text grows by, roughly.
const EXPANSION: u64 = 12;

/// A file to import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedFile {
    /// Where it is.
    pub file: TraceFile,
    /// Its case, or the first of them.
    pub case: CaseId,
    /// How many case ids it has, from that one on.
    pub(crate) cases: u32,
    /// The number of its format; of a pipe, only reading tells it.
    pub(crate) format: Option<usize>,
    /// The name of its case, as its own name and the pattern of the user say.
    pub name: CaseName,
    /// The thread of lines that name none.
    pub tid: Option<Tid>,
    /// The threads of its set, sorted.
    pub set: Arc<[Tid]>,
    /// The date of the first line.
    pub date: Option<(i64, i64, i64)>,
    /// The first time stamp, if it can be compared with those of other files.
    pub first: Option<Timestamp>,
}

/// Files that are read together because they are one run: one file, or the set that one `strace -ff` wrote.
pub type Job = Vec<PlannedFile>;

/// See the [module](self).
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) jobs: Vec<Job>,
    pub(crate) parts: Vec<Range<usize>>,
    /// How many cases its files have.
    pub(crate) cases: u32,
    /// Files whose names the pattern does not match.
    pub(crate) unmatched: Vec<String>,
}

impl Plan {
    /// Plans the import of `files`, which are all to be imported.
    pub(crate) fn new(
        files: Vec<(TraceFile, Probe)>,
        pattern: &CasePattern,
        date: Option<(i64, i64, i64)>,
    ) -> Self {
        let mut plan = Self::default();
        let names = plan.name_cases(&files, pattern);
        let mut sets: HashMap<String, usize> = HashMap::new();
        for ((file, probe), name) in files.into_iter().zip(names) {
            let tid = file.number_in_name().filter(|_| probe.one_thread);
            let comparable = matches!(probe.clock, Clock::Utc | Clock::TimeOfDay);
            let first = probe.first.filter(|_| comparable);
            let set = tid.map(|_| set_of(&file.name));
            let (cases, format, set_later) = (probe.cases, probe.format, Arc::default());
            let planned =
                PlannedFile { file, case: CaseId(0), cases, format, name, tid, set: set_later, date, first };
            match set.as_ref().and_then(|set| sets.get(set)) {
                Some(&job) => plan.jobs[job].push(planned),
                None => {
                    sets.extend(set.map(|set| (set, plan.jobs.len())));
                    plan.jobs.push(vec![planned]);
                }
            }
        }
        for job in &mut plan.jobs {
            job.sort_by_key(|file| file.tid);
            separate_days(job, date);
            let set: Arc<[Tid]> = job.iter().filter_map(|file| file.tid).collect();
            job.iter_mut().for_each(|file| file.set = Arc::clone(&set));
        }
        plan.number_cases();
        plan.parts = parts(&plan.jobs);
        plan
    }

    /// The files in the order of their cases.
    pub(crate) fn files(&self) -> impl Iterator<Item = &PlannedFile> {
        self.jobs.iter().flatten()
    }

    fn name_cases(&mut self, files: &[(TraceFile, Probe)], pattern: &CasePattern) -> Vec<CaseName> {
        let paths: Vec<String> = files.iter().map(|(file, _)| file.name.clone()).collect();
        let mut names = Vec::with_capacity(paths.len());
        for path in &paths {
            let named = pattern.name(path);
            names.push(named.name);
            if !named.matched {
                self.unmatched.push(path.clone());
            }
        }
        naming::tell_apart(&mut names, &paths);
        names
    }

    fn number_cases(&mut self) {
        for file in self.jobs.iter_mut().flatten() {
            file.case = CaseId(self.cases);
            self.cases = self.cases.saturating_add(file.cases);
        }
    }
}

/// What the files of one `strace -ff` have in common: directory and prefix.
fn set_of(name: &str) -> String {
    let name = naming::without_compression(name);
    name.rsplit_once('.').map_or(name, |(prefix, _)| prefix).to_owned()
}

/// Time stamps without a date do not say that some files of a set start after midnight. They do if the first time
/// stamps leave more than half a day empty and the processes before that gap are the younger ones.
fn separate_days(job: &mut Job, date: Option<(i64, i64, i64)>) {
    let mut firsts: Vec<(Timestamp, Option<Tid>)> =
        job.iter().filter_map(|file| Some((file.first?, file.tid))).collect();
    if firsts.iter().any(|(first, _)| first.0.div_euclid(NANOS_PER_DAY) != first_day(date)) {
        return;
    }
    firsts.sort_unstable();
    let gap = |pair: &[(Timestamp, Option<Tid>)]| pair[1].0 - pair[0].0;
    let Some(early) = firsts.windows(2).position(|pair| gap(pair) > Nanos(NANOS_PER_DAY / 2)) else { return };
    let (early, late) = firsts.split_at(early + 1);
    if early.iter().map(|(_, tid)| tid).min() < late.iter().map(|(_, tid)| tid).max() {
        return;
    }
    let gap_ends = late[0].0;
    for file in job {
        if let Some(first) = file.first.filter(|first| *first < gap_ends) {
            file.first = Some(first + Nanos(NANOS_PER_DAY));
            file.date = Some(civil_from_days(first_day(date) + 1));
        }
    }
}

fn first_day(date: Option<(i64, i64, i64)>) -> i64 {
    date.map_or(0, |(year, month, day)| days_from_civil(year, month, day))
}

/// Cuts the jobs into runs of about equal weight.
fn parts(jobs: &[Job]) -> Vec<Range<usize>> {
    let weights: Vec<u64> = jobs.iter().map(|job| job.iter().map(weight).sum()).collect();
    let target = PART_BYTES.max(weights.iter().sum::<u64>() / MAX_PARTS);
    let mut parts = Vec::new();
    let (mut start, mut sum) = (0, 0);
    for (job, weight) in weights.into_iter().enumerate() {
        sum += weight;
        if sum >= target || job + 1 == jobs.len() {
            parts.push(start..job + 1);
            (start, sum) = (job + 1, 0);
        }
    }
    parts
}

fn weight(file: &PlannedFile) -> u64 {
    let packed = naming::without_compression(&file.file.name) != file.file.name;
    // A pipe may bring anything.
    file.file.size().map_or(PART_BYTES, |size| size * if packed { EXPANSION } else { 1 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Origin;
    use crate::probe::Content;

    const SECOND: i64 = 1_000_000_000;

    fn file(name: &str, size: u64, seconds: Option<i64>) -> (TraceFile, Probe) {
        let origin = Origin::File(name.into(), size);
        let first = seconds.map(|seconds| Timestamp(seconds * SECOND));
        let clock = if first.is_some() { Clock::TimeOfDay } else { Clock::Order };
        let probe = Probe { one_thread: true, first, clock, ..Probe::of(Content::Trace) };
        (TraceFile { origin, name: name.to_owned(), named: true }, probe)
    }

    fn plan(files: Vec<(TraceFile, Probe)>) -> Plan {
        Plan::new(files, &CasePattern::Guess, None)
    }

    fn jobs(plan: &Plan) -> Vec<Vec<&str>> {
        plan.jobs.iter().map(|job| job.iter().map(|file| file.file.name.as_str()).collect()).collect()
    }

    #[test]
    fn files_with_a_common_prefix_and_one_thread_each_are_one_run() {
        let mut named_threads = file("t.30", 1, Some(1));
        named_threads.1.one_thread = false;
        let plan = plan(vec![
            file("t.100", 1, Some(1)),
            file("d/t.7", 1, Some(1)),
            file("x.st", 1, Some(1)),
            file("t.20.gz", 1, Some(1)),
            named_threads,
        ]);
        assert_eq!(jobs(&plan), [vec!["t.20.gz", "t.100"], vec!["d/t.7"], vec!["x.st"], vec!["t.30"]]);
        let tids: Vec<_> = plan.files().map(|file| file.tid).collect();
        assert_eq!(tids, [Some(Tid(20)), Some(Tid(100)), Some(Tid(7)), None, None]);
        assert_eq!(plan.files().map(|file| file.case.0).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        assert_eq!(plan.unmatched, ["x.st"]);
    }

    #[test]
    fn younger_processes_before_an_empty_half_day_start_after_midnight() {
        let day = 86_400;
        let firsts = |files| {
            let plan = plan(files);
            plan.files().map(|file| file.first.map(|first| first.0 / SECOND)).collect::<Vec<_>>()
        };
        let over_midnight =
            vec![file("t.8", 1, Some(5)), file("t.7", 1, Some(day - 5)), file("t.9", 1, None)];
        assert_eq!(firsts(over_midnight), [Some(day - 5), Some(day + 5), None]);
        let long_run = vec![file("t.7", 1, Some(5)), file("t.8", 1, Some(day - 5))];
        assert_eq!(firsts(long_run), [Some(5), Some(day - 5)]);
    }

    #[test]
    fn parts_are_few_and_about_equal() {
        let ranks =
            |count: u64, size| (0..count).map(|rank| file(&format!("a_h_{rank}.st"), size, None)).collect();
        assert_eq!(plan(ranks(10_000, 1000)).parts, vec![0..10_000; 1]);
        let large = plan(ranks(1000, 1 << 30)).parts;
        assert!(large.len() <= 256 && large.len() > 200, "{}", large.len());
        assert_eq!(plan(ranks(3, PART_BYTES)).parts, [0..1, 1..2, 2..3]);
        assert_eq!(plan(vec![]).parts, []);
    }
}
