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
use super::own_actions::is_of_workflow;
use super::programs::{FileOpenId, Handle, Program, ProgramId, Programs, Table, name};
use super::steps::{JobAction, Step};
use super::{Command, JobOptions, Redirect, Target};
use foldhash::fast::RandomState;
use hashbrown::HashSet;
use iotrail_model::text::text_to_path;
use iotrail_model::{Names, PathId};
use iotrail_query::ProcessTable;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Permissions that `mkdir` asks for.
const USUAL: u32 = 0o777;
/// What the kernel heeds of the permissions that `mkdir` is asked for.
const OF_DIRECTORY: u32 = 0o1777;
/// The permissions among what `chmod` may be told.
const PERMISSIONS: u32 = 0o7777;

/// Makes programs of such actions of all that may be managers.
pub(crate) fn redo(
    steps: &[Step],
    names: &Names,
    processes: &ProcessTable,
    hidden: &Hidden,
    options: &JobOptions,
    programs: &mut Programs,
) {
    let division = divide(processes, programs, options, &BTreeSet::new());
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
    let look = Look { names, processes, hidden, division: &division, plain, handed_on };
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
            program.parent == Some(who) && program.umask == umask && length(program) < LONGEST
        });
        let redone = goes_on.unwrap_or_else(|| programs.add_redone(who, step, umask));
        latest = Some(redone);
        let program = &mut programs.all[redone.index()];
        add(&mut program.redone, command);
        program.until = Some(step.last);
        programs.of_step[number] = Some(redone);
    }
}

/// The permissions of a directory, if they are known and not the usual ones.
fn unusual(mode: Option<u32>) -> Option<u32> {
    mode.map(|mode| mode & OF_DIRECTORY).filter(|mode| *mode != USUAL)
}

/// A command line of so many bytes is not made longer: the kernel takes 128 KiB for one argument.
const LONGEST: usize = 16 << 10;

fn length(program: &Program) -> usize {
    program.redone.iter().flat_map(|command| &command.argv).map(|word| word.len() + 1).sum()
}

/// Adds a command; one that does the same as the last with another name is that with both names.
fn add(commands: &mut Vec<Command>, command: Command) {
    /// Options, behind which names stand.
    const SAME: [&[&[u8]]; 3] = [&[b"rm", b"-f"], &[b"rmdir"], &[b"mkdir", b"-p"]];
    let begins = |command: &Command, start: &[&[u8]]| {
        let operand = command.argv.get(start.len());
        command.argv.iter().map(Vec::as_slice).take(start.len()).eq(start.iter().copied())
            && operand.is_some_and(|word| !word.starts_with(b"-"))
    };
    match commands.last_mut() {
        Some(last) if SAME.iter().any(|start| begins(last, start) && begins(&command, start)) => {
            let start = SAME.iter().find(|start| begins(&command, start)).map_or(0, |start| start.len());
            last.argv.extend(command.argv.into_iter().skip(start));
        }
        _ => commands.push(command),
    }
}

struct Look<'a> {
    names: &'a Names,
    processes: &'a ProcessTable,
    hidden: &'a Hidden,
    division: &'a Division,
    /// Directories that need not be made at any certain time.
    plain: HashSet<PathId, RandomState>,
    /// Open files that a program got from the one that executed it.
    handed_on: HashSet<FileOpenId, RandomState>,
}

impl Look<'_> {
    /// What does again what a manager did, if anything can.
    fn command(&self, number: usize, step: &Step, who: ProgramId, programs: &Programs) -> Option<Command> {
        let path = step.path.get()?;
        let text = name(self.names, path);
        let of_system = self.division.system[who.index()];
        let matters = |text: &str| !of_system || is_of_workflow(self.processes.first_directory(), text);
        if !text.starts_with('/') || !matters(text) || self.hidden.is_of_system(path) {
            return None;
        }
        let other = self.hidden.is_other(step);
        let is_file = |path: PathId| !other && !self.hidden.hides(path);
        let program = programs.get(who);
        let cwd = programs.image(program, self.processes).cwd.as_deref();
        let relative = |path: PathId| {
            let text = &**name(self.names, path);
            let below = cwd.and_then(|cwd| text.strip_prefix(cwd)?.strip_prefix('/'));
            let place = if below.is_some_and(|below| below.starts_with('-')) { "./" } else { "" };
            format!("{place}{}", below.unwrap_or(text))
        };
        let mut redirects = Vec::new();
        let words: Vec<String> = match step.action {
            JobAction::MakeDirectory(_) if self.plain.contains(&path) => return None,
            JobAction::MakeDirectory(mode) => {
                let umask = programs.umask_of_step.get(&number).copied().or(programs.initial_umask);
                let mode = unusual(mode).map(|mode| format!("{:03o}", mode & !umask.unwrap_or(USUAL_UMASK)));
                let option = mode.into_iter().flat_map(|mode| ["-m".to_owned(), mode]);
                ["mkdir".to_owned(), "-p".to_owned()]
                    .into_iter()
                    .chain(option)
                    .chain([relative(path)])
                    .collect()
            }
            JobAction::RemoveDirectory => vec!["rmdir".to_owned(), relative(path)],
            JobAction::Remove if is_file(path) => vec!["rm".to_owned(), "-f".to_owned(), relative(path)],
            JobAction::Rename => {
                let target = step.path2.get().filter(|target| matters(name(self.names, *target)))?;
                vec!["mv", "-f", "-T"]
                    .into_iter()
                    .map(str::to_owned)
                    .chain([relative(path), relative(target)])
                    .collect()
            }
            JobAction::Link if is_file(path) => {
                vec!["ln".to_owned(), relative(path), relative(step.path2.get()?)]
            }
            JobAction::Fifo => vec!["mkfifo".to_owned(), relative(path)],
            JobAction::Mode(Some(mode)) => {
                vec!["chmod".to_owned(), format!("{:03o}", mode & PERMISSIONS), relative(path)]
            }
            JobAction::Open(mode) if mode.write && (mode.create || mode.truncate) && is_file(path) => {
                let open = programs.open_of_step.get(&number)?;
                let opening = programs.opening(*open);
                if mode.nameless || !opening.used_by.is_empty() || self.handed_on.contains(open) {
                    return None;
                }
                // As mkstemp does: nobody else may read it.
                if mode.exclusive && mode.read {
                    let words = ["install", "-m", "600", "/dev/null"].map(str::to_owned);
                    return Some(as_command(
                        program,
                        cwd,
                        words.into_iter().chain([relative(path)]),
                        Vec::new(),
                    ));
                }
                let path = name(self.names, path).clone();
                let target = if mode.truncate { Target::Write(path) } else { Target::Append(path) };
                redirects.push(Redirect { fd: 1, target });
                vec![":".to_owned()]
            }
            _ => return None,
        };
        Some(as_command(program, cwd, words, redirects))
    }
}

/// A command in a directory.
fn as_command(
    program: &Program,
    cwd: Option<&str>,
    words: impl IntoIterator<Item = String>,
    redirects: Vec<Redirect>,
) -> Command {
    let argv = words.into_iter().map(|word| text_to_path(&word).into_owned()).collect();
    Command { process: program.process, argv, cwd: cwd.map(Arc::from), redirects, ..Command::default() }
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
        match step.action {
            JobAction::Missing | JobAction::Tried if !division.manager[who.index()] => {
                let mut rest = text;
                while asked.insert(rest) {
                    let Some((parent, _)) = rest.rsplit_once('/') else { break };
                    rest = parent;
                }
            }
            JobAction::List if !division.manager[who.index()] => drop(asked.insert(text)),
            JobAction::MakeDirectory(mode) if division.manager[who.index()] => {
                let usual = unusual(mode).is_none();
                let unmasked = !programs.umask_of_step.contains_key(&number);
                let parent = text.rsplit_once('/').map_or("/", |(parent, _)| parent);
                if usual && unmasked && !asked.contains(text) && !asked.contains(parent) {
                    found.insert(path);
                }
            }
            JobAction::RemoveDirectory => drop(moved.insert(text)),
            JobAction::Mode(_) if division.manager[who.index()] => drop(moved.insert(text)),
            JobAction::Rename => {
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
        let Program { process, image, .. } = *self.get(manager);
        self.all.push(Program {
            process,
            image,
            link: None,
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
