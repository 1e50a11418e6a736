//! Deeds of managers that a command does again: directories that they make, names that they remove, rename or link, permissions,
//! empty files.
//!
//! No bytes are needed for these, so each is a program of its own, and a job as if the manager had executed `mkdir`, `rm` or
//! `chmod`. What a manager did without another program doing anything in between is one.
//!
//! A directory that is made as usual, stays, and that nobody looked for before is none: it is enough that it is there.

use super::divide::{Division, divide};
use super::environment::USUAL_UMASK;
use super::hidden::Hidden;
use super::own_deeds::is_of_workflow;
use super::programs::{Handle, OpenId, Program, ProgramId, Programs, Table, name};
use super::steps::{Deed, Step};
use super::{Command, JobOptions, Redirect, Target};
use foldhash::fast::RandomState;
use hashbrown::HashSet;
use iotrail_model::text::text_to_path;
use iotrail_model::{Names, PathId};
use iotrail_query::Lives;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Permissions that `mkdir` asks for.
const USUAL: u32 = 0o777;
/// The permissions among what `chmod` may be told.
const PERMISSIONS: u32 = 0o7777;

/// Makes programs of such deeds of all that may be managers.
pub(crate) fn redo(
    steps: &[Step],
    names: &Names,
    lives: &Lives,
    hidden: &Hidden,
    options: &JobOptions,
    programs: &mut Programs,
) {
    let division = divide(lives, programs, options, &BTreeSet::new());
    let handed_on = programs
        .all
        .iter()
        .flat_map(|program| program.table.values())
        .filter_map(|handle| match handle {
            Handle::File(open) => Some(*open),
            Handle::Pipe(_) | Handle::Closed => None,
        })
        .collect();
    let plain = plain_directories(steps, names, programs, &division);
    let look = Look { names, lives, hidden, division: &division, plain, handed_on };
    let mut latest: Option<ProgramId> = None;
    for (number, step) in steps.iter().enumerate() {
        let Some(who) = programs.of_step[number] else { continue };
        if !division.manager[who.index()] {
            latest = None;
            continue;
        }
        let Some(command) = look.command(number, step, who, programs) else { continue };
        let umask = programs.umask_of_step.get(&number).copied();
        let goes_on = latest.filter(|redone| {
            let program = programs.get(*redone);
            program.parent == Some(who) && program.umask == umask
        });
        let redone = goes_on.unwrap_or_else(|| programs.add_redone(who, step, umask));
        latest = Some(redone);
        let program = &mut programs.all[redone.index()];
        program.redone.push(command);
        program.until = Some(step.last);
        programs.of_step[number] = Some(redone);
    }
}

struct Look<'a> {
    names: &'a Names,
    lives: &'a Lives,
    hidden: &'a Hidden,
    division: &'a Division,
    /// Directories that need not be made at any certain time.
    plain: HashSet<PathId, RandomState>,
    /// Open files that a program got from the one that executed it.
    handed_on: HashSet<OpenId, RandomState>,
}

impl Look<'_> {
    /// What does again what a manager did, if anything can.
    fn command(&self, number: usize, step: &Step, who: ProgramId, programs: &Programs) -> Option<Command> {
        let path = step.path.get()?;
        let text = name(self.names, path);
        let of_system = self.division.system[who.index()];
        let matters = |text: &str| !of_system || is_of_workflow(self.lives.first_directory(), text);
        if !text.starts_with('/') || !matters(text) || self.hidden.is_of_system(path) {
            return None;
        }
        let other = self.hidden.is_other(step);
        let is_file = |path: PathId| !other && !self.hidden.hides(path);
        let program = programs.get(who);
        let image = programs.image(program, self.lives);
        let cwd: Option<Arc<str>> = image.cwd.as_deref().map(Arc::from);
        let relative = |path: PathId| {
            let text = &**name(self.names, path);
            let below = cwd.as_deref().and_then(|cwd| text.strip_prefix(cwd)?.strip_prefix('/'));
            let place = if below.is_some_and(|below| below.starts_with('-')) { "./" } else { "" };
            format!("{place}{}", below.unwrap_or(text))
        };
        let mut redirects = Vec::new();
        let words: Vec<String> = match step.deed {
            Deed::MakeDirectory(_) if self.plain.contains(&path) => return None,
            Deed::MakeDirectory(mode) => {
                let umask = programs.umask_of_step.get(&number).copied().or(programs.initial_umask);
                let mode = mode.filter(|mode| *mode != USUAL);
                let mode =
                    mode.map(|mode| format!("{:03o}", mode & PERMISSIONS & !umask.unwrap_or(USUAL_UMASK)));
                let option = mode.into_iter().flat_map(|mode| ["-m".to_owned(), mode]);
                ["mkdir".to_owned(), "-p".to_owned()]
                    .into_iter()
                    .chain(option)
                    .chain([relative(path)])
                    .collect()
            }
            Deed::RemoveDirectory => vec!["rmdir".to_owned(), relative(path)],
            Deed::Remove if is_file(path) => vec!["rm".to_owned(), "-f".to_owned(), relative(path)],
            Deed::Rename => {
                let target = step.path2.get().filter(|target| matters(name(self.names, *target)))?;
                vec!["mv".to_owned(), "-fT".to_owned(), relative(path), relative(target)]
            }
            Deed::Link if is_file(path) => {
                vec!["ln".to_owned(), relative(path), relative(step.path2.get()?)]
            }
            Deed::Fifo => vec!["mkfifo".to_owned(), relative(path)],
            Deed::Mode(Some(mode)) => {
                vec!["chmod".to_owned(), format!("{:03o}", mode & PERMISSIONS), relative(path)]
            }
            Deed::Open(mode) if mode.write && (mode.create || mode.truncate) && is_file(path) => {
                let open = programs.open_of_step.get(&number)?;
                let opening = programs.opening(*open);
                if mode.nameless || !opening.used_by.is_empty() || self.handed_on.contains(open) {
                    return None;
                }
                let path = name(self.names, path).clone();
                let target = if mode.truncate { Target::Write(path) } else { Target::Append(path) };
                redirects.push(Redirect { fd: 1, target });
                vec![":".to_owned()]
            }
            _ => return None,
        };
        let argv = words.iter().map(|word| text_to_path(word).into_owned()).collect();
        Some(Command { life: program.life, argv, cwd, redirects, ..Command::default() })
    }
}

/// Directories that managers made with the usual permissions, that nobody removed or renamed, and that no other program looked
/// for, or could have seen, before.
fn plain_directories(
    steps: &[Step],
    names: &Names,
    programs: &Programs,
    division: &Division,
) -> HashSet<PathId, RandomState> {
    let mut asked: HashSet<&str, RandomState> = HashSet::default();
    let mut moved: HashSet<&str, RandomState> = HashSet::default();
    let mut found: HashSet<PathId, RandomState> = HashSet::default();
    for (number, step) in steps.iter().enumerate() {
        let (Some(who), Some(path)) = (programs.of_step[number], step.path.get()) else { continue };
        let text = &**name(names, path);
        match step.deed {
            Deed::Missing if !division.manager[who.index()] => {
                let mut rest = text;
                while asked.insert(rest) {
                    let Some((parent, _)) = rest.rsplit_once('/') else { break };
                    rest = parent;
                }
            }
            Deed::List if !division.manager[who.index()] => drop(asked.insert(text)),
            Deed::MakeDirectory(mode) if division.manager[who.index()] => {
                let usual = mode.is_none_or(|mode| mode == USUAL);
                let unmasked = !programs.umask_of_step.contains_key(&number);
                let parent = text.rsplit_once('/').map_or("/", |(parent, _)| parent);
                if usual && unmasked && !asked.contains(text) && !asked.contains(parent) {
                    found.insert(path);
                }
            }
            Deed::RemoveDirectory => drop(moved.insert(text)),
            Deed::Mode(_) if division.manager[who.index()] => drop(moved.insert(text)),
            Deed::Rename => {
                moved.extend(
                    [Some(path), step.path2.get()].into_iter().flatten().map(|path| &**name(names, path)),
                );
            }
            _ => {}
        }
    }
    let on_the_way = |path: &PathId| {
        std::iter::successors(Some(&**name(names, *path)), |path| Some(path.rsplit_once('/')?.0))
            .any(|part| moved.contains(part))
    };
    found.retain(|path| !on_the_way(path));
    found
}

impl Programs {
    /// A program that does again what a manager does with this step.
    fn add_redone(&mut self, manager: ProgramId, step: &Step, umask: Option<u32>) -> ProgramId {
        let id = ProgramId(self.all.len() as u32);
        let Program { life, image, .. } = *self.get(manager);
        self.all.push(Program {
            life,
            image,
            start: Some(step.start),
            parent: Some(manager),
            table: Table::new(),
            known: true,
            umask,
            redone: Vec::new(),
            until: None,
        });
        id
    }
}
