//! What managers did themselves that jobs made of their commands would not do again.
//!
//! A shell's builtins write files, feed pipes and read a part of what a command reads next; nobody recorded with which
//! bytes. Such a manager is no list of commands: it is run again as a whole.

use super::divide::Division;
use super::group::Together;
use super::hidden::Hidden;
use super::programs::{Handle, ProgramId, Programs, name};
use super::steps::{Deed, Step};
use crate::waits::ends::Channels;
use iotrail_model::text::printable;
use iotrail_model::{ENVIRONMENT_DIGEST, Names, PathId};
use iotrail_query::Lives;
use std::collections::{BTreeMap, BTreeSet};

/// For each manager that did something itself, what it was.
pub(crate) fn own_deeds(
    steps: &[Step],
    names: &Names,
    lives: &Lives,
    programs: &Programs,
    (division, together): (&Division, &Together),
    hidden: &Hidden,
    sockets: &Channels,
) -> BTreeMap<ProgramId, String> {
    let below = lives.first_directory().map(|base| format!(" {base}/"));
    let mut look = Look { names, lives, programs, division, hidden, below, found: BTreeMap::new() };
    for (number, step) in steps.iter().enumerate() {
        if let Some(who) = programs.of_step[number] {
            look.step(number, step, who, together);
        }
    }
    look.pipes();
    look.sockets(steps, sockets);
    look.openings(together);
    look.heads();
    look.found
}

const SOCKET: &str = "commands exchange data through a socket";

/// Who sent and who received through one direction of a connection.
type Users = [BTreeSet<ProgramId>; 2];

struct Look<'a> {
    names: &'a Names,
    lives: &'a Lives,
    programs: &'a Programs,
    division: &'a Division,
    hidden: &'a Hidden,
    /// What a sentence has that names something below the directory where the recording began.
    below: Option<String>,
    found: BTreeMap<ProgramId, String>,
}

impl Look<'_> {
    fn manages(&self, program: ProgramId) -> bool {
        self.division.manager[program.index()]
    }

    fn say(&mut self, who: ProgramId, what: impl FnOnce() -> String) {
        self.found.entry(who).or_insert_with(what);
    }

    /// What a manager did to a file. Of several deeds one is told: the first, but none to a file that a workflow system keeps for
    /// itself where there is another.
    fn say_of_file(&mut self, who: ProgramId, path: Option<PathId>, what: &str) {
        let matters = |text: &str| {
            self.below.as_deref().is_none_or(|below| text.contains(below)) && !text.contains("/.snakemake/")
        };
        let text = format!("it {what} {} itself", self.path(path));
        match self.found.get(&who) {
            Some(told) if !matters(&text) || matters(told) => {}
            _ => drop(self.found.insert(who, text)),
        }
    }

    fn path(&self, path: Option<PathId>) -> String {
        path.map_or_else(|| "a file".to_owned(), |path| printable(name(self.names, path)).into_owned())
    }

    fn step(&mut self, number: usize, step: &Step, who: ProgramId, together: &Together) {
        if step.deed == Deed::Fifo {
            return self.up(who, |look| {
                format!("commands exchange data through the named pipe {}", look.path(step.path.get()))
            });
        }
        if step.deed == Deed::Accept {
            return self.up(who, |_| SOCKET.to_owned());
        }
        if !self.manages(who) {
            return;
        }
        let other = self.hidden.is_other(step);
        let visible = |path: Option<PathId>| path.is_some_and(|path| !other && !self.hidden.hides(path));
        let (path, path2) = (step.path.get(), step.path2.get());
        if step.deed == Deed::Kill {
            return self.say(who, || "it sent a signal to a process".to_owned());
        }
        let what = match step.deed {
            Deed::Write if step.bytes > 0 && visible(path) && self.opened(path) => "wrote",
            Deed::Copy if step.bytes > 0 && visible(path2) && self.opened(path2) => "wrote",
            Deed::Change if visible(path) => "changed",
            Deed::Mode if visible(path) => "changed the permissions of",
            Deed::Times if visible(path) => "set the times of",
            Deed::Remove if visible(path) => "deleted",
            Deed::Rename if visible(path) || visible(path2) => "renamed",
            Deed::Link | Deed::Symlink if visible(path) || visible(path2) => "linked",
            Deed::RemoveDirectory => "deleted",
            Deed::Open(mode) if (mode.truncate || mode.create) && mode.write && visible(path) => {
                let open = self.programs.open_of_step.get(&number);
                if open.is_some_and(|open| together.opened_for.contains_key(open)) {
                    return;
                }
                "emptied or made"
            }
            _ => return,
        };
        let path = if step.deed == Deed::Copy { path2 } else { path };
        self.say_of_file(who, path, what);
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
                return self.say(program, || text);
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
                self.say(manager, || "it sent data of its own to a command through a pipe".to_owned());
            }
            if let (Some(manager), true) = (read, job_reads) {
                self.say(manager, || "it read a part of what a command read from the same pipe".to_owned());
            }
        }
    }

    /// Data between commands, or with a manager, through sockets of which both ends are known: no format has a word for them.
    fn sockets(&mut self, steps: &[Step], sockets: &Channels) {
        let mut users: BTreeMap<PathId, Users> = BTreeMap::new();
        for (number, step) in steps.iter().enumerate() {
            let (Some(who), Some(path)) = (self.programs.of_step[number], step.path.get()) else { continue };
            let (way, end) = match step.deed {
                Deed::Write => (sockets.sends(path), 0),
                Deed::Read => (sockets.receives(path), 1),
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
    fn openings(&mut self, together: &Together) {
        for open in together.opened_for.keys() {
            let opening = self.programs.opening(*open);
            let manager = opening.used_by.iter().copied().find(|user| self.manages(*user));
            let others = opening.used_by.iter().any(|user| !self.manages(*user));
            let text = self.path(Some(opening.path));
            if let Some(manager) = manager.filter(|_| others) {
                self.say(manager, || {
                    format!("it read or wrote {text} through a descriptor that a command got")
                });
            } else if opening.unsure && self.manages(opening.by) {
                let by = opening.by;
                self.say(by, || {
                    format!("it opened {text} several times, and which of them a command got is not known")
                });
            }
            let mode = opening.mode;
            let odd = !mode.read && !mode.append && !mode.truncate
                || mode.read && mode.write && (mode.append || mode.truncate);
            if odd && self.manages(opening.by) {
                let by = opening.by;
                self.say(by, || format!("it opened {text} in a way for which a shell has no redirection"));
            }
        }
    }

    /// Commands that are not known well enough to be run on their own.
    fn heads(&mut self) {
        for head in &self.division.heads {
            let program = self.programs.get(*head);
            let Some(parent) = program.parent else { continue };
            let image = self.programs.image(program, self.lives);
            let is_last = self.lives.images(program.life).len() == program.image + 1;
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
            } else if self.changed_environment(*head) {
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

    /// Whether a command has another environment than the first program, apart from variables that are known.
    fn changed_environment(&self, head: ProgramId) -> bool {
        let program = self.programs.get(head);
        let mut root = program;
        while let Some(parent) = root.parent {
            root = self.programs.get(parent);
        }
        let [own, outer] = [program, root].map(|program| &self.programs.image(program, self.lives).env);
        let digest = |env: &[String]| env.iter().find(|entry| entry.starts_with(ENVIRONMENT_DIGEST)).cloned();
        digest(own).zip(digest(outer)).is_some_and(|(own, outer)| own != outer)
    }

    fn within(&self, program: ProgramId, head: ProgramId) -> bool {
        self.division.of_program[program.index()] == self.division.of_program[head.index()]
    }
}
