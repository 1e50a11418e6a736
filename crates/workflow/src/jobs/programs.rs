//! Programs as they were executed, with their descriptors at that moment, and who executed whom.
//!
//! A *program* is one executed image: what runs from an exec to the next exec of the process or to its end, together with
//! what it forks without an exec (the subshells of a shell, the workers of Python's multiprocessing). A shell's command
//! is thus a program below the shell's program, also where the shell executes the last command of a subshell in the
//! process of that subshell, or the last command of all in its own.

use super::Command;
use super::called::base;
use super::steps::{JobAction, OpenMode, Step};
use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashSet};
use iotrail_model::canonical::is_object;
use iotrail_model::{self as model, CaseId, FlagsId, Names, PathId, Pid, Process, Timestamp};
use iotrail_query::{ProcessId, ProcessTable};
use std::collections::{BTreeMap, BTreeSet};

/// A program: an index into [`Programs::all`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ProgramId(pub(crate) u32);

impl ProgramId {
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// An open of a file: an index into [`Programs::openings`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct FileOpenId(pub(crate) u32);

/// One open of a file, and who moved data through it.
#[derive(Clone, Debug)]
pub(crate) struct FileOpen {
    pub(crate) path: PathId,
    /// Its number in the log, with the case that numbers it.
    pub(crate) number: Option<(CaseId, model::OpenId)>,
    /// The name by which it was opened, if symbolic links lead from there to the file.
    pub(crate) via: Option<FlagsId>,
    pub(crate) mode: OpenMode,
    /// Who opened it.
    pub(crate) by: ProgramId,
    /// Programs that read, wrote or moved its position.
    pub(crate) used_by: BTreeSet<ProgramId>,
    /// Whether which open a copied descriptor belongs to had to be guessed.
    pub(crate) unsure: bool,
    /// The umask at that moment, if it is another than that of the recording.
    pub(crate) umask: Option<u32>,
}

/// What a descriptor refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Handle {
    /// A file that was opened in the recording.
    File(FileOpenId),
    /// A pipe, or a pair of sockets, that was made in the recording.
    Pipe(PathId),
    /// It was closed.
    Closed,
}

/// Descriptors of a process; those that are not in it were open before the recording, or never.
pub(crate) type Table = BTreeMap<i32, Handle>;

/// An executed program.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) process: ProcessId,
    /// Its row among the images of the process.
    pub(crate) image: usize,
    /// The symbolic link that was made in the recording by which it was executed, if the log tells: a script calls itself so.
    pub(crate) link: Option<PathId>,
    /// When it was executed.
    pub(crate) start: Option<Timestamp>,
    /// Which program executed it.
    pub(crate) parent: Option<ProgramId>,
    /// Its descriptors at that moment.
    pub(crate) table: Table,
    /// Whether the descriptors are known: the forks up to it were recorded.
    pub(crate) known: bool,
    /// Its umask at that moment, if it is another than that of the recording.
    pub(crate) umask: Option<u32>,
    /// Where it stands for actions of its parent: commands that do them again.
    pub(crate) redone: Vec<Command>,
    /// The end of these actions.
    pub(crate) until: Option<Timestamp>,
}

impl Program {
    /// Whether it stands for actions of its parent.
    pub(crate) fn is_redone(&self) -> bool {
        !self.redone.is_empty()
    }
}

/// How much went through a pipe.
#[derive(Clone, Debug, Default)]
pub(crate) struct Traffic {
    /// Programs that wrote to it.
    pub(crate) writers: BTreeSet<ProgramId>,
    /// Programs that read from it.
    pub(crate) readers: BTreeSet<ProgramId>,
}

#[derive(Debug, Default)]
pub(crate) struct Programs {
    /// Parents before those that they executed.
    pub(crate) all: Vec<Program>,
    pub(crate) openings: Vec<FileOpen>,
    /// The open that each step made.
    pub(crate) open_of_step: HashMap<usize, FileOpenId, RandomState>,
    /// Umasks under which directories and files were made, if they are others than that of the recording, by step.
    pub(crate) umask_of_step: HashMap<usize, u32, RandomState>,
    /// The umask under which the recording began, if it is known.
    pub(crate) initial_umask: Option<u32>,
    /// For each program whether it only led to the one that is the manager; none of those that were added since.
    pub(crate) aside: Vec<bool>,
    /// For each step the program that did it.
    pub(crate) of_step: Vec<Option<ProgramId>>,
    /// For each process the program that forked it.
    pub(crate) born_in: Vec<Option<ProgramId>>,
    /// For each process the program that it was in the end.
    pub(crate) last: Vec<Option<ProgramId>>,
    /// Files that were opened for writing in the recording. What is written without that was open before: the terminal or
    /// log that the whole recording writes to.
    pub(crate) opened: HashSet<PathId, RandomState>,
    /// Pipes that were made in the recording.
    pub(crate) pipes: BTreeMap<PathId, Traffic>,
    /// Both ends of pipes and pairs of sockets that were made in the recording, and of connections that it got.
    pub(crate) connections: HashSet<PathId, RandomState>,
    /// Relative names of opened files: it is not known in which directory.
    pub(crate) unplaced: BTreeSet<PathId>,
    /// Programs that read from what was open before the recording.
    pub(crate) read_outside: BTreeMap<ProgramId, PathId>,
    /// What was open before the recording, and who wrote to it.
    pub(crate) wrote_outside: BTreeMap<PathId, BTreeSet<ProgramId>>,
}

/// Programs that keep in `PWD` how they came to where they are.
const SHELLS: [&str; 8] = ["sh", "dash", "bash", "ash", "busybox", "ksh", "mksh", "zsh"];

/// Devices that have no position and keep nothing.
const NOTHING: [&str; 3] = ["/dev/null", "/dev/zero", "/dev/full"];

/// What a process hands on to those that it forks.
#[derive(Clone, Debug, Default)]
struct Inherited {
    table: Table,
    cloexec: BTreeSet<i32>,
    umask: Umask,
}

/// What a process takes away from the permissions of new files, as far as its calls say so.
#[derive(Clone, Copy, Debug, Default)]
struct Umask {
    /// What it was before the first call.
    original: Option<u32>,
    now: Option<u32>,
}

impl Umask {
    fn set(&mut self, mask: u32, before: Option<u32>) {
        self.original = self.original.or(before);
        self.now = Some(mask);
    }

    /// If it is another than that of the recording.
    fn changed(self) -> Option<u32> {
        self.now.filter(|_| self.now != self.original)
    }
}

/// Follows which descriptors each process has, so that it is known with which ones it executes a program: redirections are numbers
/// of descriptors, of which events only have those that a call uses. What a number refers to is told by the event's open file
/// description; only where the log does not know that, the name of the file tells it.
struct DescriptorTracker<'a> {
    processes: &'a ProcessTable,
    names: &'a Names,
    /// The opens by their numbers in the log.
    described: HashMap<(CaseId, model::OpenId), FileOpenId, RandomState>,
    inherited: HashMap<ProcessId, Inherited, RandomState>,
    /// Processes whose descriptors are known.
    followed: Vec<bool>,
    programs: Programs,
}

/// Follows programs and descriptors through the steps.
pub(crate) fn follow(steps: &[Step], processes: &ProcessTable, names: &Names) -> Programs {
    let count = processes.all().len();
    let programs = Programs { born_in: vec![None; count], last: vec![None; count], ..Programs::default() };
    let mut follower = DescriptorTracker {
        processes,
        names,
        described: HashMap::default(),
        inherited: HashMap::default(),
        followed: vec![false; count],
        programs,
    };
    for (number, step) in steps.iter().enumerate() {
        let who = processes
            .find(step.case, step.pid, step.start)
            .and_then(|process| follower.step(number, step, process));
        follower.programs.of_step.push(who);
    }
    for index in 0..count {
        follower.program(ProcessId(index as u32));
    }
    follower.programs
}

impl DescriptorTracker<'_> {
    fn step(&mut self, at: usize, step: &Step, process: ProcessId) -> Option<ProgramId> {
        if step.action == JobAction::Exec {
            let program = self.exec(step.start, process);
            self.programs.all[program.index()].link = step.path2.get();
            return Some(program);
        }
        let who = self.program(process)?;
        match step.action {
            JobAction::Fork => self.fork(step.case, step.ret, step.last, process, who),
            JobAction::Pipe { cloexec } => {
                self.programs.connections.extend(step.path.get().into_iter().chain(step.path2.get()));
                if let (Some(fd), Some(path)) = (step.fd, step.path.get()) {
                    self.programs.pipes.entry(path).or_default();
                    self.set(process, fd, Handle::Pipe(path), cloexec);
                }
            }
            JobAction::Accept => self.programs.connections.extend(step.path.get()),
            JobAction::Open(mode) => {
                let Some(path) = step.path.get() else { return Some(who) };
                let called = name(self.names, path);
                if !called.starts_with('/') && !self.programs.pipes.contains_key(&path) {
                    if !is_object(called) {
                        self.programs.unplaced.insert(path);
                    }
                    // Through /dev/stdout: what was open before the recording.
                    if let Some(fd) = step.fd {
                        self.unset(process, fd);
                    }
                    return Some(who);
                }
                if mode.write || mode.create {
                    self.programs.opened.insert(path);
                }
                if self.programs.pipes.contains_key(&path) {
                    // Through /dev/fd: the pipe itself.
                    if let Some(fd) = step.fd {
                        self.set(process, fd, Handle::Pipe(path), mode.cloexec);
                    }
                    return Some(who);
                }
                let open = FileOpenId(self.programs.openings.len() as u32);
                let (used_by, umask) = (BTreeSet::new(), self.umask(process));
                self.note_umask(at, process);
                let via = step.via.get();
                let number = step.open.get().map(|number| (step.numbering, number));
                self.programs.openings.push(FileOpen {
                    path,
                    number,
                    via,
                    mode,
                    by: who,
                    used_by,
                    unsure: false,
                    umask,
                });
                self.programs.open_of_step.insert(at, open);
                self.described.extend(number.map(|number| (number, open)));
                if let Some(fd) = step.fd {
                    self.set(process, fd, Handle::File(open), mode.cloexec);
                }
            }
            JobAction::Dup { cloexec } => {
                let fd = step.ret.and_then(|fd| i32::try_from(fd).ok());
                if let (Some(fd), Some(path)) = (fd, step.path.get()) {
                    let described = self.described(step).map(Handle::File);
                    // What has a number and was not opened here was open before.
                    let is_from_before = described.is_none()
                        && !step.open.is_null()
                        && !self.programs.pipes.contains_key(&path);
                    let named = || if is_from_before { None } else { self.named(process, path, fd) };
                    match described.or_else(named) {
                        Some(handle) => self.set(process, fd, handle, cloexec),
                        None => self.unset(process, fd),
                    }
                }
            }
            JobAction::CloseOnExec => {
                if let Some(fd) = step.fd {
                    self.inherited.entry(process).or_default().cloexec.insert(fd);
                }
            }
            JobAction::Close => {
                if let Some(fd) = step.fd {
                    if (0..=2).contains(&fd) {
                        self.set(process, fd, Handle::Closed, false);
                    } else {
                        self.unset(process, fd);
                    }
                }
            }
            JobAction::MakeDirectory(_) => self.note_umask(at, process),
            JobAction::Umask(mask) => {
                let before = step.ret.and_then(|before| u32::try_from(before).ok());
                if self.processes.get(process).parent.is_none() && self.umask(process).is_none() {
                    self.programs.initial_umask = self.programs.initial_umask.or(before);
                }
                self.inherited.entry(process).or_default().umask.set(mask, before);
            }
            JobAction::Read
            | JobAction::Write
            | JobAction::Copy
            | JobAction::Seek
            | JobAction::Change
            | JobAction::Mode(_)
            | JobAction::Times => self.used(step, process, who),
            _ => {}
        }
        Some(who)
    }

    fn used(&mut self, step: &Step, process: ProcessId, who: ProgramId) {
        let moved = step.bytes > 0;
        if matches!(step.action, JobAction::Write | JobAction::Copy) {
            self.outside(step, process, who);
        }
        for (path, reads) in [(step.path.get(), step.action != JobAction::Write), (step.path2.get(), false)] {
            let Some(path) = path else { continue };
            if let Some(traffic) = self.programs.pipes.get_mut(&path) {
                let users = if reads { &mut traffic.readers } else { &mut traffic.writers };
                if moved {
                    users.insert(who);
                }
                continue;
            }
            match self.open_of(step, process, path) {
                // Also who found the end of the file looked for more, and sees what it is.
                Some(open) => {
                    self.programs.openings[open.0 as usize].used_by.insert(who);
                }
                None if reads
                    && moved
                    && step.action == JobAction::Read
                    && step.fd == Some(0)
                    && !self.programs.connections.contains(&path) =>
                {
                    self.programs.read_outside.insert(who, path);
                }
                _ => {}
            }
        }
    }

    /// The open that the log numbers as the step's.
    fn described(&self, step: &Step) -> Option<FileOpenId> {
        self.described.get(&(step.numbering, step.open.get()?)).copied()
    }

    /// The open of `path` through which a step went.
    fn open_of(&self, step: &Step, process: ProcessId, path: PathId) -> Option<FileOpenId> {
        let is_of_path = |open: &FileOpenId| self.programs.opening(*open).path == path;
        if let Some(open) = self.described(step).filter(is_of_path) {
            return Some(open);
        }
        let table = &self.inherited.get(&process)?.table;
        let of_file = |handle: &Handle| match handle {
            Handle::File(open) => Some(*open).filter(is_of_path),
            _ => None,
        };
        let of_fd = step.fd.and_then(|fd| table.get(&fd)).and_then(of_file);
        of_fd.or_else(|| table.values().filter_map(of_file).next_back())
    }

    /// Notes who wrote to what was open before the recording: through a descriptor that nothing in it made.
    fn outside(&mut self, step: &Step, process: ProcessId, who: ProgramId) {
        let target = if step.action == JobAction::Copy { step.path2.get() } else { step.path.get() };
        let followed = self.processes.get(process).parent.is_none() || self.followed[process.index()];
        let (Some(path), Some(fd), true) = (target, step.fd, followed && step.bytes > 0) else { return };
        let table = self.inherited.get(&process).map(|inherited| &inherited.table);
        let connected = self.programs.connections.contains(&path);
        let named_here = self.programs.opened.contains(&path) || connected;
        let before = if step.action == JobAction::Copy {
            !named_here
        } else {
            !connected
                && table.is_none_or(|table| !table.contains_key(&fd))
                && ((0..=2).contains(&fd) || !named_here)
        };
        if before {
            self.programs.wrote_outside.entry(path).or_default().insert(who);
        }
    }

    fn note_umask(&mut self, number: usize, process: ProcessId) {
        if let Some(umask) = self.umask(process) {
            self.programs.umask_of_step.insert(number, umask);
        }
    }

    fn umask(&self, process: ProcessId) -> Option<u32> {
        self.inherited.get(&process).and_then(|inherited| inherited.umask.changed())
    }

    fn set(&mut self, process: ProcessId, fd: i32, handle: Handle, cloexec: bool) {
        let descriptors = self.inherited.entry(process).or_default();
        descriptors.table.insert(fd, handle);
        if cloexec {
            descriptors.cloexec.insert(fd);
        } else {
            descriptors.cloexec.remove(&fd);
        }
    }

    fn unset(&mut self, process: ProcessId, fd: i32) {
        let descriptors = self.inherited.entry(process).or_default();
        descriptors.table.remove(&fd);
        descriptors.cloexec.remove(&fd);
    }

    /// What the process has open under that name, where the log does not number opens: the latest if there are several.
    fn named(&mut self, process: ProcessId, path: PathId, target: i32) -> Option<Handle> {
        if self.programs.pipes.contains_key(&path) {
            return Some(Handle::Pipe(path));
        }
        let openings = &mut self.programs.openings;
        let table = &self.inherited.get(&process)?.table;
        let mut found: Vec<FileOpenId> = table
            .iter()
            .filter(|(fd, _)| **fd != target)
            .filter_map(|(_, handle)| match handle {
                Handle::File(open) if openings[open.0 as usize].path == path => Some(*open),
                _ => None,
            })
            .collect();
        found.sort();
        found.dedup();
        if NOTHING.contains(&&**name(self.names, path)) {
            // All opens of it for the same purpose are alike.
            found.sort_by_key(|open| openings[open.0 as usize].mode.write == (target > 0));
        } else if found.len() > 1 {
            found.iter().for_each(|open| openings[open.0 as usize].unsure = true);
        }
        // A descriptor that was copied onto itself.
        let own = || match table.get(&target) {
            Some(Handle::File(open)) if openings[open.0 as usize].path == path => Some(*open),
            _ => None,
        };
        found.last().copied().or_else(own).map(Handle::File)
    }

    /// The program that a process is now.
    fn program(&mut self, process: ProcessId) -> Option<ProgramId> {
        if let Some(program) = self.programs.last[process.index()] {
            return Some(program);
        }
        // Its fork was not recorded. Another command line than the parent's tells of an exec.
        let parent = self.processes.get(process).parent.and_then(|parent| self.program(parent));
        self.programs.born_in[process.index()] = parent;
        let own = parent.is_none_or(|parent| {
            let image = self.processes.images(process).first();
            let theirs = self
                .programs
                .all
                .get(parent.index())
                .map(|program| self.programs.image(program, self.processes));
            image.map(|image| (&image.exe, &image.cmdline))
                != theirs.map(|image| (&image.exe, &image.cmdline))
        });
        let program = match parent {
            Some(parent) if !own => parent,
            _ => self.add(process, 0, self.processes.get(process).start, parent),
        };
        self.programs.last[process.index()] = Some(program);
        Some(program)
    }

    fn add(
        &mut self,
        process: ProcessId,
        image: usize,
        start: Option<Timestamp>,
        parent: Option<ProgramId>,
    ) -> ProgramId {
        let id = ProgramId(self.programs.all.len() as u32);
        let root = self.processes.get(process).parent.is_none();
        let known = root || self.followed[process.index()];
        let table =
            self.inherited.get(&process).map(|descriptors| descriptors.table.clone()).unwrap_or_default();
        let umask = self.umask(process);
        let (link, redone, until) = (None, Vec::new(), None);
        self.programs.all.push(Program {
            process,
            image,
            link,
            start,
            parent,
            table,
            known,
            umask,
            redone,
            until,
        });
        id
    }

    fn fork(&mut self, case: CaseId, ret: Option<i64>, end: Timestamp, parent: ProcessId, who: ProgramId) {
        let Some(pid) = ret.and_then(|ret| u32::try_from(ret).ok()).map(Pid) else { return };
        let Some(child) = self.processes.find(case, pid, end) else { return };
        if child == parent
            || self.processes.get(child).parent != Some(parent)
            || self.programs.last[child.index()].is_some()
        {
            return;
        }
        let descriptors = self.inherited.entry(parent).or_default().clone();
        self.inherited.insert(child, descriptors);
        self.followed[child.index()] = true;
        self.programs.last[child.index()] = Some(who);
        self.programs.born_in[child.index()] = Some(who);
    }

    fn exec(&mut self, at: Timestamp, process: ProcessId) -> ProgramId {
        let descriptors = self.inherited.entry(process).or_default();
        for fd in std::mem::take(&mut descriptors.cloexec) {
            descriptors.table.remove(&fd);
        }
        let images = self.processes.images(process);
        let own =
            self.programs.last[process.index()].and_then(|program| self.programs.all.get(program.index()));
        let next = own.filter(|program| program.process == process).map_or(0, |program| program.image + 1);
        // The first image of a process that did nothing else before lives since the process does.
        let is_there = |image: &Process| image.start >= Some(at) || image.end.is_none_or(|end| end > at);
        let image = (next..images.len()).find(|index| is_there(&images[*index]));
        let parent = match self.programs.last[process.index()] {
            Some(program) => Some(program),
            None => {
                let parent = self.processes.get(process).parent.and_then(|parent| self.program(parent));
                self.programs.born_in[process.index()] = parent;
                parent
            }
        };
        let program = self.add(process, image.unwrap_or(images.len() - 1), Some(at), parent);
        self.programs.last[process.index()] = Some(program);
        program
    }
}

impl Programs {
    pub(crate) fn get(&self, id: ProgramId) -> &Program {
        &self.all[id.index()]
    }

    /// Whether a program only led to the one that is the manager.
    pub(crate) fn is_aside(&self, id: ProgramId) -> bool {
        self.aside.get(id.index()).copied().unwrap_or_default()
    }

    pub(crate) fn opening(&self, open: FileOpenId) -> &FileOpen {
        &self.openings[open.0 as usize]
    }

    /// What a shell called the working directory of a command that it executed, if that is another name, below the directory where the
    /// recording began: symbolic links lead from one to the other. Other programs leave `PWD` as it was when they change
    /// theirs.
    pub(crate) fn called_directory<'a>(
        &self,
        program: &Program,
        processes: &'a ProcessTable,
    ) -> Option<&'a str> {
        let executor = self.image(self.get(program.parent?), processes);
        let shell = executor.exe.as_deref().is_some_and(|exe| SHELLS.contains(&base(exe)));
        let image = self.image(program, processes);
        let told = image.env.iter().find_map(|entry| entry.strip_prefix("PWD=")).filter(|_| shell)?;
        let home = processes.first_directory()?;
        let below = told.strip_prefix(home).is_some_and(|rest| rest.starts_with('/'));
        (below && image.cwd.as_deref() != Some(told)).then_some(told)
    }

    /// What the table `processes` says of it.
    pub(crate) fn image<'a>(&self, program: &Program, processes: &'a ProcessTable) -> &'a Process {
        let images = processes.images(program.process);
        images.get(program.image).unwrap_or_else(|| processes.last_image(program.process))
    }
}

/// The name of a path.
pub(crate) fn name(names: &Names, path: PathId) -> &std::sync::Arc<str> {
    &names.paths[path.index()]
}
