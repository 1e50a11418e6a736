//! Whether the workflow ran already where it is started: a script was recorded there, or jobs of another export ran there. Files of before
//! are not as they were then, and what jobs would do to them a second time may destroy what is left of them.

use iotrail_workflow::jobs::{Job, Jobs, Left};

/// Names by which it is told, since all of them are there then.
const NAMES: usize = 8;

/// Some of what jobs make where nothing was, and that is there at the end, with the numbers of those jobs, the job and those behind it first:
/// nothing of it is there before the job begins for the first time, but for what these made. Only for a job that changes files of
/// before, or needs them as they were before later ones change them.
pub(crate) fn results(number: usize, jobs: &Jobs) -> Vec<(usize, &str)> {
    if !needs_before(&jobs.jobs[number]) {
        return Vec::new();
    }
    let others = (number..jobs.jobs.len()).chain(0..number);
    let of_job = |other: usize| of_nothing(&jobs.jobs[other]).map(move |name| (other, name));
    others.flat_map(of_job).take(NAMES).collect()
}

/// Whether it needs files of before as they were, or changes them.
fn needs_before(job: &Job) -> bool {
    let finds = job.finds.iter().any(|state| matches!(state.left, Left::Input | Left::Perhaps));
    let changes = job.outputs.iter().any(|file| file.older);
    finds || changes || !job.moves.is_empty() || job.made.iter().any(|made| made.moved)
}

fn of_nothing(job: &Job) -> impl Iterator<Item = &str> {
    let stays = |path: &str| job.outputs.iter().any(|file| file.stays && *file.path == *path);
    let made = job.made.iter().filter(|made| made.free && !made.is_directory && !made.moved);
    made.map(|made| &*made.path).filter(move |path| stays(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_workflow::jobs::{JobFile, Made};

    fn maker(path: &str) -> Job {
        Job {
            made: vec![Made { path: path.into(), free: true, ..Made::default() }],
            outputs: vec![JobFile { path: path.into(), stays: true, ..JobFile::default() }],
            ..Job::default()
        }
    }

    #[test]
    fn who_changes_a_file_of_before_asks_for_what_the_jobs_make() {
        let old = JobFile { path: "/w/old".into(), older: true, stays: true, ..JobFile::default() };
        let changer = Job { outputs: vec![old], ..Job::default() };
        let (mut unsure, mut passing) = (maker("/w/unsure"), maker("/w/passing"));
        unsure.made[0].free = false;
        passing.outputs[0].stays = false;
        let all = [maker("/w/first"), changer, unsure, passing, maker("/w/last")];
        let jobs = Jobs { jobs: all.to_vec(), ..Jobs::default() };
        assert_eq!(results(1, &jobs), [(4, "/w/last"), (0, "/w/first")]);
        assert_eq!(results(0, &jobs), [], "it changes nothing of before");
    }
}
