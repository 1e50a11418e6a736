//! Some of the jobs.

use super::{Issue, Job, JobId, Jobs, Left};
use iotrail_query::ProcessId;
use std::collections::BTreeSet;

impl Jobs {
    /// The jobs of which a process is wanted. A job that needs one that is left out needs what that one needed.
    #[must_use]
    pub fn select(&self, wanted: impl Fn(ProcessId) -> bool) -> Self {
        self.keep(&self.kept(wanted))
    }

    /// The jobs that are kept.
    pub(crate) fn keep(&self, kept: &[bool]) -> Self {
        let mut new: Vec<Option<JobId>> = Vec::with_capacity(self.jobs.len());
        // For each old job the new ones that stand for it when somebody needs it.
        let mut stands: Vec<BTreeSet<JobId>> = Vec::with_capacity(self.jobs.len());
        let mut jobs: Vec<Job> = Vec::new();
        for (job, keep) in self.jobs.iter().zip(kept) {
            let needs: BTreeSet<JobId> =
                job.needs.iter().filter_map(|needed| stands.get(needed.index())).flatten().copied().collect();
            if *keep {
                let id = JobId(jobs.len() as u32);
                new.push(Some(id));
                stands.push(BTreeSet::from([id]));
                jobs.push(Job { needs: needs.into_iter().collect(), ..job.clone() });
            } else {
                new.push(None);
                stands.push(needs);
            }
        }
        // What a job that is left out changed is as it is.
        let gone: BTreeSet<u32> = self
            .jobs
            .iter()
            .zip(kept)
            .filter(|(_, keep)| !**keep)
            .flat_map(|(job, _)| &job.leaves)
            .copied()
            .collect();
        for job in &mut jobs {
            job.finds.retain(|state| !gone.contains(&state.thing));
            job.leaves.retain(|thing| !gone.contains(thing));
            for state in &mut job.finds {
                if let Left::ByJob(other) = &mut state.left {
                    *other = new.get(other.index()).copied().flatten().unwrap_or(*other);
                }
            }
        }
        let issues = self.issues.iter().filter_map(|issue| renamed(issue, &new)).collect();
        Self { jobs, issues, ..self.clone() }
    }

    /// Whether each job is kept. One without a process, which a manager did itself, is if a job that is kept needs it, or all
    /// others are.
    fn kept(&self, wanted: impl Fn(ProcessId) -> bool) -> Vec<bool> {
        let mut kept: Vec<bool> =
            self.jobs.iter().map(|job| job.processes.iter().any(|process| wanted(*process))).collect();
        let all = self.jobs.iter().zip(&kept).all(|(job, kept)| *kept || job.processes.is_empty());
        for number in (0..self.jobs.len()).rev() {
            if self.jobs[number].processes.is_empty() && all {
                kept[number] = true;
            }
            if kept[number] {
                for needed in &self.jobs[number].needs {
                    kept[needed.index()] |= self.jobs[needed.index()].processes.is_empty();
                }
            }
        }
        kept
    }
}

/// The same about the new numbers, if it still concerns anybody.
fn renamed(issue: &Issue, new: &[Option<JobId>]) -> Option<Issue> {
    let of = |job: &JobId| new.get(job.index()).copied().flatten();
    let some = |jobs: &[JobId]| {
        let left: Vec<JobId> = jobs.iter().filter_map(of).collect();
        (!left.is_empty()).then_some(left)
    };
    let all = |jobs: &[JobId]| some(jobs).filter(|left| left.len() > 1);
    Some(match issue {
        Issue::Cycle { jobs } => Issue::Cycle { jobs: all(jobs)? },
        Issue::Times { jobs } => Issue::Times { jobs: some(jobs)? },
        Issue::MayUseTimes { jobs } => Issue::MayUseTimes { jobs: some(jobs)? },
        Issue::Exchanges { jobs } => Issue::Exchanges { jobs: some(jobs)? },
        Issue::ListsTrail { jobs, trail } => Issue::ListsTrail { jobs: some(jobs)?, trail: trail.clone() },
        Issue::ListsBase { jobs } => Issue::ListsBase { jobs: some(jobs)? },
        Issue::SharedOutput { path, jobs } => Issue::SharedOutput { path: path.clone(), jobs: all(jobs)? },
        Issue::ManagerWrote { path } => Issue::ManagerWrote { path: path.clone() },
        Issue::CannotRun { job, why } => Issue::CannotRun { job: of(job)?, why: why.clone() },
        Issue::NoEnd { job } => Issue::NoEnd { job: of(job)? },
        Issue::Failed { job, how } => Issue::Failed { job: of(job)?, how: how.clone() },
        Issue::PipeToManager { job } => Issue::PipeToManager { job: of(job)? },
        Issue::Whole { job, why } => Issue::Whole { job: of(job)?, why: why.clone() },
        Issue::ReadsOutside { job } => Issue::ReadsOutside { job: of(job)? },
        Issue::OtherUser { jobs, program } => {
            Issue::OtherUser { jobs: some(jobs)?, program: program.clone() }
        }
        Issue::CallsMissing { .. }
        | Issue::Environment { .. }
        | Issue::UnknownEnvironment
        | Issue::ManagerMade { .. }
        | Issue::NotExported { .. }
        | Issue::WroteOutside { .. }
        | Issue::Unplaced { .. }
        | Issue::Above { .. }
        | Issue::Outside { .. } => issue.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_needs_a_job_that_is_left_out_needs_what_that_one_needed() {
        let job = |process: u32, needs: &[u32]| Job {
            processes: vec![ProcessId(process)],
            needs: needs.iter().map(|needed| JobId(*needed)).collect(),
            ..Job::default()
        };
        let issues = vec![
            Issue::NoEnd { job: JobId(1) },
            Issue::Cycle { jobs: vec![JobId(0), JobId(1)] },
            Issue::NoEnd { job: JobId(2) },
        ];
        let jobs = Jobs { jobs: vec![job(5, &[]), job(6, &[0]), job(7, &[1])], issues, ..Jobs::default() };
        let some = jobs.select(|process| process != ProcessId(6));
        assert_eq!(some.jobs[1].needs, [JobId(0)]);
        assert_eq!(some.issues, [Issue::NoEnd { job: JobId(1) }]);
        assert_eq!(jobs.select(|_| true), jobs);
    }

    #[test]
    fn what_a_manager_did_itself_is_kept_for_those_who_need_it() {
        let job = |processes: &[u32], needs: &[u32]| Job {
            processes: processes.iter().copied().map(ProcessId).collect(),
            needs: needs.iter().map(|needed| JobId(*needed)).collect(),
            ..Job::default()
        };
        let jobs = vec![job(&[], &[]), job(&[1], &[0]), job(&[2], &[]), job(&[], &[2])];
        let jobs = Jobs { jobs, ..Jobs::default() };
        let sizes = |wanted: &[u32]| jobs.select(|process| wanted.contains(&process.0)).jobs.len();
        assert_eq!([sizes(&[1, 2]), sizes(&[1]), sizes(&[2]), sizes(&[])], [4, 2, 1, 0]);
    }
}
