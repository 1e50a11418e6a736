//! What managers did themselves that jobs made of their commands would not do again.
//!
//! A shell's builtins write files, feed pipes and read a part of what a command reads next; nobody recorded with which
//! bytes. Such a manager is no list of commands: it is run again as a whole.

use super::divide::Division;
use super::early::OpenedEarly;
use super::environment::differs;
use super::group::Together;
use super::hidden::Hidden;
use super::programs::{Handle, ProgramId, Programs, name};
use super::steps::{JobAction, Step};
use crate::waits::ends::Channels;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::text::printable;
use iotrail_model::{Names, PathId};
use iotrail_query::ProcessTable;
use std::collections::{BTreeMap, BTreeSet};

/// Something that a manager did itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum OwnAction {
    /// What it did to a file.
    File(&'static str, Option<PathId>),
    /// Anything else, in words.
    Other(String),
}

/// What managers did themselves, of each in the order in which it was noticed.
pub(crate) struct OwnActions<'a> {
    names: &'a Names,
    /// The directory where the recording began.
    home: Option<&'a str>,
    found: BTreeMap<ProgramId, IndexedActions>,
}

/// Each action once, with its place.
type IndexedActions = HashMap<OwnAction, usize, RandomState>;

/// Files of one kind of action that are named; others are counted.
const NAMED: usize = 3;

/// What managers did themselves.
pub(crate) fn own_actions<'a>(
    steps: &[Step],
    names: &'a Names,
    processes: &'a ProcessTable,
    programs: &Programs,
    (division, together, early): (&Division, &Together, &OpenedEarly),
    hidden: &Hidden,
    sockets: &Channels,
) -> OwnActions<'a> {
    let home = processes.first_directory();
    let mut look =
        Look { names, processes, programs, division, hidden, fifos: BTreeSet::new(), found: BTreeMap::new() };
    for (number, step) in steps.iter().enumerate() {
        if let Some(who) = programs.of_step[number] {
            look.step(number, step, who, together);
        }
    }
    look.pipes();
    look.sockets(steps, sockets);
    look.openings(together, early);
    look.heads();
    OwnActions { names, home, found: look.found }
}

/// Whether a file is one of the workflow: below the directory where the recording began, and none that a workflow system
/// keeps for itself.
pub(crate) fn is_of_workflow(home: Option<&str>, path: &str) -> bool {
    let below =
        |home: &str| path.strip_prefix(home.trim_end_matches('/')).is_some_and(|rest| rest.starts_with('/'));
    home.is_none_or(below) && !path.contains("/.snakemake/") && !path.ends_with("/.snakemake")
}

impl OwnActions<'_> {
    /// Managers that did something, the last first.
    pub(crate) fn managers(&self) -> impl Iterator<Item = ProgramId> {
        self.found.keys().rev().copied()
    }

    /// Why a manager is more than its commands: the first that it did, but nothing that it did to files of its own where there
    /// is anything else.
    pub(crate) fn reason(&self, manager: ProgramId) -> String {
        let actions = self.found.get(&manager).into_iter().flatten();
        let first = actions.min_by_key(|(action, place)| (!self.matters(action), **place));
        first.map(|(action, _)| self.sentence(action)).unwrap_or_default()
    }

    /// All that a manager did that matters, in sentences; files of one kind of action together. Workflow systems set the times of
    /// what their jobs made as soon as it is made: that changes nothing.
    pub(crate) fn sentences(&self, manager: ProgramId, sets_times: bool) -> Vec<String> {
        let mut actions: Vec<(&OwnAction, usize)> =
            self.found.get(&manager).into_iter().flatten().map(|(action, place)| (action, *place)).collect();
        actions.retain(|(action, _)| {
            self.matters(action) && !(sets_times && matches!(action, OwnAction::File(SET_TIMES, _)))
        });
        actions.sort_by_key(|(_, place)| *place);
        let mut files: BTreeMap<&str, Vec<Option<PathId>>> = BTreeMap::new();
        let mut sentences = Vec::new();
        for (action, _) in actions {
            match action {
                OwnAction::File(what, path) => files.entry(what).or_default().push(*path),
                OwnAction::Other(text) => sentences.push(text.clone()),
            }
        }
        sentences.extend(files.into_iter().map(|(what, paths)| {
            let named: Vec<String> = paths.iter().take(NAMED).map(|path| called(self.names, *path)).collect();
            match paths.len() - named.len() {
                0 => format!("it {what} {} itself", named.join(", ")),
                more => format!("it {what} {} and {more} more itself", named.join(", ")),
            }
        }));
        sentences
    }

    fn matters(&self, action: &OwnAction) -> bool {
        match action {
            OwnAction::File(_, Some(path)) => is_of_workflow(self.home, name(self.names, *path)),
            OwnAction::File(_, None) | OwnAction::Other(_) => true,
        }
    }

    fn sentence(&self, action: &OwnAction) -> String {
        match action {
            OwnAction::File(what, path) => format!("it {what} {} itself", called(self.names, *path)),
            OwnAction::Other(text) => text.clone(),
        }
    }
}

/// The name of a file as it is shown.
fn called(names: &Names, path: Option<PathId>) -> String {
    path.map_or_else(|| "a file".to_owned(), |path| printable(name(names, path)).into_owned())
}

const SOCKET: &str = "commands exchange data through a socket";
const SET_TIMES: &str = "set the times of";

/// Who sent and who received through one direction of a connection.
type Users = [BTreeSet<ProgramId>; 2];

struct Look<'a> {
    names: &'a Names,
    processes: &'a ProcessTable,
    programs: &'a Programs,
    division: &'a Division,
    hidden: &'a Hidden,
    /// Named pipes that were made.
    fifos: BTreeSet<PathId>,
    found: BTreeMap<ProgramId, IndexedActions>,
}

impl Look<'_> {
    fn manages(&self, program: ProgramId) -> bool {
        self.division.manager[program.index()]
    }

    fn note(&mut self, who: ProgramId, action: OwnAction) {
        let actions = self.found.entry(who).or_default();
        let index = actions.len();
        actions.entry(action).or_insert(index);
    }

    fn note_other(&mut self, who: ProgramId, what: impl FnOnce() -> String) {
        self.note(who, OwnAction::Other(what()));
    }

    fn path(&self, path: Option<PathId>) -> String {
        called(self.names, path)
    }

    fn step(&mut self, number: usize, step: &Step, who: ProgramId, together: &Together) {
        match step.action {
            JobAction::Fifo => self.fifos.extend(step.path.get()),
            // Also who is left waiting for the other end.
            JobAction::Open(_) if step.path.get().is_some_and(|path| self.fifos.contains(&path)) => {
                return self.up(who, |look| {
                    format!("commands exchange data through the named pipe {}", look.path(step.path.get()))
                });
            }
            JobAction::Remove => self.fifos.retain(|path| step.path.get() != Some(*path)),
            _ => {}
        }
        if step.action == JobAction::Accept {
            return self.up(who, |_| SOCKET.to_owned());
        }
        if !self.manages(who) {
            return;
        }
        let other = self.hidden.is_other(step);
        let visible = |path: Option<PathId>| path.is_some_and(|path| !other && !self.hidden.hides(path));
        let (path, path2) = (step.path.get(), step.path2.get());
        if step.action == JobAction::Kill {
            return self.note_other(who, || "it sent a signal to a process".to_owned());
        }
        let what = match step.action {
            JobAction::Write if step.bytes > 0 && visible(path) && self.opened(path) => "wrote",
            JobAction::Copy if step.bytes > 0 && visible(path2) && self.opened(path2) => "wrote",
            JobAction::Change if visible(path) => "changed",
            JobAction::Mode(_) if visible(path) => "changed the permissions of",
            JobAction::Times if visible(path) => SET_TIMES,
            JobAction::Remove if visible(path) => "deleted",
            JobAction::Rename if visible(path) || visible(path2) => "renamed",
            JobAction::Link | JobAction::Symlink if visible(path) || visible(path2) => "linked",
            JobAction::RemoveDirectory => "deleted",
            JobAction::Open(mode) if (mode.truncate || mode.create) && mode.write && visible(path) => {
                let open = self.programs.open_of_step.get(&number);
                if open.is_some_and(|open| together.opened_for.contains_key(open)) {
                    return;
                }
                "emptied or made"
            }
            _ => return,
        };
        let path = if step.action == JobAction::Copy { path2 } else { path };
        self.note(who, OwnAction::File(what, path));
    }

    fn opened(&self, path: Option<PathId>) -> bool {
        path.is_some_and(|path| self.programs.opened.contains(&path))
    }

    /// About the nearest manager above a program, if it is below one.
    fn up(&mut self, who: ProgramId, what: impl FnOnce(&Self) -> String) {
        let mut at = Some(who);
        while let Some(program) = at {
            if self.manages(program) {
                let text = what(self);
                return self.note_other(program, || text);
            }
            at = self.programs.get(program).parent;
        }
    }

    /// Data between a manager and commands.
    fn pipes(&mut self) {
        let programs = self.programs;
        for traffic in programs.pipes.values() {
            let managers =
                |users: &BTreeSet<ProgramId>| users.iter().copied().find(|user| self.manages(*user));
            let (wrote, read) = (managers(&traffic.writers), managers(&traffic.readers));
            let job_reads = traffic.readers.iter().any(|reader| !self.manages(*reader));
            if let (Some(manager), true) = (wrote, job_reads) {
                self.note_other(manager, || "it sent data of its own to a command through a pipe".to_owned());
            }
            if let (Some(manager), true) = (read, job_reads) {
                self.note_other(manager, || {
                    "it read a part of what a command read from the same pipe".to_owned()
                });
            }
        }
    }

    /// Data between commands, or with a manager, through sockets of which both ends are known: no format has a word for them.
    fn sockets(&mut self, steps: &[Step], sockets: &Channels) {
        let mut users: BTreeMap<PathId, Users> = BTreeMap::new();
        for (number, step) in steps.iter().enumerate() {
            let (Some(who), Some(path)) = (self.programs.of_step[number], step.path.get()) else { continue };
            let (way, end) = match step.action {
                JobAction::Write => (sockets.sends(path), 0),
                JobAction::Read => (sockets.receives(path), 1),
                _ => continue,
            };
            if step.bytes > 0 && sockets.is_connected(path) {
                users.entry(way).or_default()[end].insert(who);
            }
        }
        for [senders, receivers] in users.into_values() {
            let job = |who: &ProgramId| self.division.of_program[who.index()].ok_or(*who);
            let jobs: BTreeSet<_> = senders.iter().chain(&receivers).map(job).collect();
            if jobs.len() > 1 {
                senders.into_iter().chain(receivers).for_each(|who| self.up(who, |_| SOCKET.to_owned()));
            }
        }
    }

    /// Open files that a manager moved on before a command got them, and those that cannot be told apart.
    fn openings(&mut self, together: &Together, early: &OpenedEarly) {
        for open in together.opened_for.keys() {
            let opening = self.programs.opening(*open);
            let manager = opening.used_by.iter().copied().find(|user| self.manages(*user));
            let others = opening.used_by.iter().any(|user| !self.manages(*user));
            let text = self.path(Some(opening.path));
            if let Some(manager) = manager.filter(|_| others) {
                self.note_other(manager, || {
                    format!("it read or wrote {text} through a descriptor that a command got")
                });
            } else if opening.unsure && self.manages(opening.by) {
                let by = opening.by;
                self.note_other(by, || {
                    format!("it opened {text} several times, and which of them a command got is not known")
                });
            } else if early.used.contains(open) && self.manages(opening.by) {
                self.note_other(opening.by, || {
                    format!("it opened {text} for a command before others used that file or its name")
                });
            }
            let mode = opening.mode;
            let odd = !mode.read && !mode.append && !mode.truncate
                || mode.read && mode.write && (mode.append || mode.truncate);
            if odd && self.manages(opening.by) {
                let by = opening.by;
                self.note_other(by, || {
                    format!("it opened {text} in a way for which a shell has no redirection")
                });
            }
        }
    }

    /// Commands that are not known well enough to be run on their own.
    fn heads(&mut self) {
        for head in &self.division.heads {
            let program = self.programs.get(*head);
            let Some(parent) = program.parent.filter(|_| !program.is_redone()) else { continue };
            let image = self.programs.image(program, self.processes);
            let is_last = self.processes.images(program.process).len() == program.image + 1;
            let unusable = program.table.iter().any(|(fd, handle)| {
                *fd > 9
                    && match handle {
                        Handle::File(open) => {
                            self.programs.opening(*open).used_by.iter().any(|user| self.within(*user, *head))
                        }
                        Handle::Pipe(pipe) => {
                            let traffic = &self.programs.pipes[pipe];
                            traffic
                                .readers
                                .iter()
                                .chain(&traffic.writers)
                                .any(|user| self.within(*user, *head))
                                && !program
                                    .table
                                    .iter()
                                    .any(|(other, held)| (0..=2).contains(other) && held == handle)
                        }
                        Handle::Closed => false,
                    }
            });
            let words = image.cmdline.as_deref();
            let why = if !program.known {
                "how its commands were started was not recorded"
            } else if words.is_none() {
                "a command line was not recorded"
            } else if super::command::is_cut(image) {
                "a command line is not complete in the trail"
            } else if differs(image, self.programs.image(self.programs.get(parent), self.processes)) {
                "it changed environment variables that are not in the trail (`iotrail record --env NAME` keeps one)"
            } else if unusable {
                "a command uses a descriptor above 9"
            } else if is_last && image.signal.as_deref().is_some_and(|signal| signal != "SIGPIPE") {
                "a command was ended by a signal"
            } else if words.is_some_and(|words| {
                words.split('\0').next().is_some_and(|word| word.rsplit('/').next() == Some("mktemp"))
            }) {
                "mktemp chooses another name each time"
            } else {
                continue;
            };
            self.up(parent, |_| why.to_owned());
        }
    }

    fn within(&self, program: ProgramId, head: ProgramId) -> bool {
        self.division.of_program[program.index()] == self.division.of_program[head.index()]
    }
}
