//! Symbolic links that were there before the recording, and that a job replaces or removes.
//!
//! A trail calls what was read through such a link as the link led to, and does not tell that there was a link. So a name that a
//! job takes away, and of which nothing says that it was a file of its own or was not there, may have been one: every job that
//! was over by then and used a file that its command line does not name may have come to it that way, and is waited for.

use super::changed_names::{absolute, paths_in};
use super::hidden::Hidden;
use super::programs::{ProgramId, Programs, name};
use super::stages::parent;
use super::steps::{JobAction, Step};
use super::turns::Needs;
use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashSet};
use iotrail_model::{Names, PathId, Timestamp};
use iotrail_query::ProcessTable;
use std::collections::{BTreeSet, HashSet as WordSet};
use std::sync::Arc;

/// More jobs are not waited for one by one: the one that waited for them stands for them.
const MOST_USERS: usize = 256;

/// What is found.
#[derive(Debug, Default)]
pub(crate) struct OldLinks {
    /// (job, job that it needs).
    pub(crate) needs: Needs,
    /// Who may have used which name as a link, before another job took it away.
    pub(crate) users: Vec<(u32, PathId)>,
    /// Names that may have been links through which the job went that took them away.
    pub(crate) own: HashSet<PathId, RandomState>,
    /// Names that such a link may have got.
    pub(crate) moved: HashSet<PathId, RandomState>,
}

/// Names that each program's command line holds, as far as anybody asked.
struct Words<'a> {
    processes: &'a ProcessTable,
    programs: &'a Programs,
    known: HashMap<ProgramId, WordSet<Arc<str>>, RandomState>,
}

impl Words<'_> {
    /// Whether the program was told that name, or runs there or below.
    fn hold(&mut self, program: ProgramId, path: &str) -> bool {
        let image = self.programs.image(self.programs.get(program), self.processes);
        let cwd = image.cwd.as_deref().unwrap_or_default();
        if cwd.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')) {
            return true;
        }
        let words = self.known.entry(program).or_insert_with(|| {
            let words = image.cmdline.as_deref().unwrap_or_default().split('\0');
            words.flat_map(paths_in).map(|word| absolute(cwd, word)).collect()
        });
        words.contains(path)
    }
}

/// Goes through the steps; `who` is the job of each program, `ends` the end of each job.
pub(crate) fn find(
    steps: &[Step],
    names: &Names,
    processes: &ProcessTable,
    programs: &Programs,
    hidden: &Hidden,
    who: &[Option<u32>],
    ends: &[Option<Timestamp>],
) -> OldLinks {
    let mut found = OldLinks::default();
    let takes = |step: &Step| matches!(step.action, JobAction::Remove | JobAction::Rename);
    if !steps.iter().any(takes) {
        return found;
    }
    let mut words = Words { processes, programs, known: HashMap::default() };
    // Names that are no links of before.
    let mut known: HashSet<PathId, RandomState> = HashSet::default();
    // Directories that were made: nothing in them was there before.
    let mut made: HashSet<&str, RandomState> = HashSet::default();
    let mut users: BTreeSet<u32> = BTreeSet::new();
    for (number, step) in steps.iter().enumerate() {
        let Some(path) = step.path.get() else { continue };
        if matches!(step.action, JobAction::MakeDirectory(_)) {
            made.insert(name(names, path));
        }
        if hidden.hides(path) {
            continue;
        }
        let program = programs.of_step[number];
        let job = program.and_then(|program| who[program.index()]);
        match step.action {
            JobAction::Open(_) | JobAction::Exec | JobAction::Look | JobAction::Stat | JobAction::List => {
                if let (Some(program), Some(job)) = (program, job)
                    && !users.contains(&job)
                    // It made the file, which no link led to.
                    && !matches!(step.action, JobAction::Open(mode) if mode.exclusive)
                    && step.fd.is_none_or(|_| matches!(step.action, JobAction::Open(_)))
                    && !words.hold(program, name(names, path))
                {
                    users.insert(job);
                }
                if matches!(step.action, JobAction::Open(_) | JobAction::Exec) {
                    known.insert(path);
                }
            }
            JobAction::Missing | JobAction::Symlink | JobAction::MakeDirectory(_) | JobAction::Fifo => {
                known.insert(path);
            }
            JobAction::Link => known.extend(step.path2.get()),
            JobAction::Remove | JobAction::Rename => {
                let target = step.path2.get().filter(|_| step.action == JobAction::Rename);
                if step.is_new {
                    known.extend(target);
                }
                if !known.contains(&path) {
                    found.moved.extend(target);
                }
                for taken in [Some(path), target].into_iter().flatten() {
                    let mut above = std::iter::successors(parent(name(names, taken)), |path| parent(path));
                    if known.insert(taken)
                        && let Some(job) = job
                        && !above.any(|directory| made.contains(directory))
                    {
                        found.take(job, taken, step.start, &mut users, ends);
                    }
                }
            }
            _ => {}
        }
    }
    found
}

impl OldLinks {
    /// The job takes a name away that may be a link.
    fn take(
        &mut self,
        job: u32,
        taken: PathId,
        at: Timestamp,
        users: &mut BTreeSet<u32>,
        ends: &[Option<Timestamp>],
    ) {
        let is_over = |other: &u32| ends[*other as usize].is_some_and(|end| end <= at);
        for other in users.iter().filter(|other| **other != job && is_over(other)) {
            self.needs.insert((job, *other));
            self.users.push((*other, taken));
        }
        if users.contains(&job) {
            self.own.insert(taken);
        }
        if users.len() > MOST_USERS {
            users.retain(|other| !is_over(other));
            users.insert(job);
        }
    }
}
