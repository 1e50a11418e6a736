//! Symbolic links that were there before the recording, and that a job replaces, removes, renames, or gives a second name.
//!
//! A trail calls what was read through such a link as the link led to, and does not tell that there was a link. So a name that a
//! job takes away, and of which nothing says that it was a file of its own or was not there, may have been one, or a directory with
//! one in it: every job that was over by then and used a file that its command line does not name may have come to it that way, and is
//! waited for. So is the job itself that gave it another name: by who names that later, or uses a file that it does not name.

use super::changed_names::{absolute, is_at, paths_in};
use super::commands::{Commands, Doer};
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
/// The same of those who gave other names.
const MOST_MOVERS: usize = 64;

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
        is_at(self.cwd(program), path) || self.of(program).contains(path)
    }

    /// The same of that name or one below it.
    fn lead_to(&mut self, program: ProgramId, path: &str) -> bool {
        is_at(self.cwd(program), path) || self.of(program).iter().any(|word| is_at(word, path))
    }

    /// Where the program runs.
    fn cwd(&self, program: ProgramId) -> &str {
        self.programs.image(self.programs.get(program), self.processes).cwd.as_deref().unwrap_or_default()
    }

    fn of(&mut self, program: ProgramId) -> &WordSet<Arc<str>> {
        self.known.entry(program).or_insert_with(|| {
            let image = self.programs.image(self.programs.get(program), self.processes);
            let cwd = image.cwd.as_deref().unwrap_or_default();
            let words = image.cmdline.as_deref().unwrap_or_default().split('\0');
            words.flat_map(paths_in).map(|word| absolute(cwd, word)).collect()
        })
    }
}

/// Goes through the steps.
pub(crate) fn find(
    steps: &[Step],
    names: &Names,
    processes: &ProcessTable,
    commands: &Commands<'_>,
    hidden: &Hidden,
) -> OldLinks {
    let takes = |step: &Step| matches!(step.action, JobAction::Remove | JobAction::Rename | JobAction::Link);
    if !steps.iter().any(takes) {
        return OldLinks::default();
    }
    let programs = commands.programs;
    let mut search = Search {
        names,
        words: Words { processes, programs, known: HashMap::default() },
        found: OldLinks::default(),
        known: HashSet::default(),
        made: HashSet::default(),
        users: BTreeSet::new(),
        movers: Vec::new(),
    };
    for (number, step) in steps.iter().enumerate() {
        let Some(path) = step.path.get() else { continue };
        if matches!(step.action, JobAction::MakeDirectory(_)) {
            search.made.insert(name(names, path));
        }
        if hidden.hides(path) {
            continue;
        }
        let program = programs.of_step[number];
        let own = program.and_then(|program| commands.of_program(program));
        // What a shell opens for a command is named in no command line.
        let teller = program.filter(|_| own.is_some());
        search.step(step, path, (own.or_else(|| commands.of_opened(number)), teller));
    }
    search.found
}

/// The way through the steps.
struct Search<'a> {
    names: &'a Names,
    words: Words<'a>,
    found: OldLinks,
    /// Names that are no links of before.
    known: HashSet<PathId, RandomState>,
    /// Directories that were made: nothing in them was there before.
    made: HashSet<&'a str, RandomState>,
    /// Jobs that used a file that they do not name.
    users: BTreeSet<Doer>,
    /// Who gave another name to what may be such a link, or lead to one; which.
    movers: Vec<(Doer, PathId)>,
}

impl Search<'_> {
    /// A step of a job, which a program does that has a command line, or another one for it.
    fn step(&mut self, step: &Step, path: PathId, (doer, teller): (Option<Doer>, Option<ProgramId>)) {
        match step.action {
            JobAction::Open(_)
            | JobAction::Exec
            | JobAction::Look
            | JobAction::Stat
            | JobAction::List
            | JobAction::Missing
            | JobAction::Tried => {
                if let Some(doer) = doer {
                    self.used(step, path, doer, teller);
                }
                let is_told = match step.action {
                    JobAction::Open(mode) => !mode.directory,
                    JobAction::Exec | JobAction::Missing => true,
                    _ => false,
                };
                if is_told {
                    self.known.insert(path);
                }
            }
            JobAction::Symlink | JobAction::MakeDirectory(_) | JobAction::Fifo => {
                self.known.insert(path);
            }
            JobAction::Link => {
                self.moves((doer, step.start), path, step.path2.get());
                self.known.extend(step.path2.get());
            }
            JobAction::Remove | JobAction::Rename => {
                let target = step.path2.get().filter(|_| step.action == JobAction::Rename);
                if step.is_new {
                    self.known.extend(target);
                }
                let again = self.found.moved.contains(&path);
                if let Some(target) = target.filter(|_| !again && self.is_below_made(path)) {
                    self.made.insert(name(self.names, target));
                }
                self.moves((doer, step.start), path, target);
                for taken in [Some(path), target].into_iter().flatten() {
                    let is_first = self.known.insert(taken);
                    let Some(doer) = doer.filter(|_| !self.is_below_made(taken)) else { continue };
                    if is_first || again && taken == path {
                        self.found.take(doer, taken, step.start, &mut self.users, is_first);
                    }
                }
            }
            _ => {}
        }
    }

    /// A job uses a name: through a link, if nothing tells it of it.
    fn used(&mut self, step: &Step, path: PathId, doer: Doer, teller: Option<ProgramId>) {
        let text = name(self.names, path);
        let is_named = teller.is_some_and(|program| self.words.hold(program, text));
        let opens = matches!(step.action, JobAction::Open(_));
        if !is_named
            && (opens || step.fd.is_none())
            && !matches!(step.action, JobAction::Missing | JobAction::Tried)
        {
            // It made the file, which no link led to, in a directory that it knows.
            let is_made = matches!(step.action, JobAction::Open(mode) if mode.exclusive)
                && parent(text)
                    .is_some_and(|place| teller.is_some_and(|program| self.words.lead_to(program, place)));
            if !is_made {
                self.users.insert(doer);
            }
        }
        for (mover, target) in &self.movers {
            if mover.job == doer.job || !mover.is_over(step.start) {
                continue;
            }
            let target = name(self.names, *target);
            if !is_named || teller.is_some_and(|program| self.words.lead_to(program, target)) {
                self.found.needs.insert((doer.job, mover.job));
            }
        }
    }

    /// A job gives a name to what may be a link, or lead to one.
    fn moves(&mut self, (doer, at): (Option<Doer>, Timestamp), path: PathId, target: Option<PathId>) {
        let Some(target) = target else { return };
        let may_be_link = !self.known.contains(&path) && !self.is_below_made(path);
        if !may_be_link && !self.found.moved.contains(&path) {
            return;
        }
        self.found.moved.insert(target);
        if let Some(doer) = doer {
            if self.movers.len() >= MOST_MOVERS {
                let older =
                    self.movers.extract_if(.., |(mover, _)| mover.is_over(at)).map(|(older, _)| older.job);
                self.found
                    .needs
                    .extend(older.filter(|older| *older != doer.job).map(|older| (doer.job, older)));
            }
            self.movers.push((doer, target));
        }
    }

    /// Whether a directory on the way to a name was made, so that nothing in it is older.
    fn is_below_made(&self, path: PathId) -> bool {
        let text = name(self.names, path);
        let is_made = |path: &str| self.made.contains(path);
        is_made(text) || std::iter::successors(parent(text), |path| parent(path)).any(is_made)
    }
}

impl OldLinks {
    /// The job takes a name away that may be a link, of before if the name `is_old`.
    fn take(&mut self, doer: Doer, taken: PathId, at: Timestamp, users: &mut BTreeSet<Doer>, is_old: bool) {
        let job = doer.job;
        for other in users.iter().filter(|other| other.job != job && other.is_over(at)) {
            self.needs.insert((job, other.job));
            self.users.extend(is_old.then_some((other.job, taken)));
        }
        if is_old && users.iter().any(|user| user.job == job) {
            self.own.insert(taken);
        }
        if users.len() > MOST_USERS {
            users.retain(|other| !other.is_over(at));
            users.insert(doer);
        }
    }
}
