//! Programs as they were executed, with their descriptors at that moment, and who executed whom.
//!
//! A *program* is one executed image: what runs from an exec to the next exec of the process or to its end, together with
//! what it forks without an exec (the subshells of a shell, the workers of Python's multiprocessing). A shell's command
//! is thus a program below the shell's program, also where the shell executes the last command of a subshell in the
//! process of that subshell, or the last command of all in its own.

use super::Command;
use super::steps::{Deed, OpenMode, Step};
use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashSet};
use iotrail_model::canonical::is_object;
use iotrail_model::{self as model, CaseId, Names, PathId, Pid, Process, Timestamp};
use iotrail_query::{LifeId, Lives};
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
pub(crate) struct OpenId(pub(crate) u32);

/// One open of a file, and who moved data through it.
#[derive(Clone, Debug)]
pub(crate) struct Opening {
    pub(crate) path: PathId,
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
    File(OpenId),
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
    pub(crate) life: LifeId,
    /// Its row among the images of the process.
    pub(crate) image: usize,
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
    /// Where it stands for deeds of its parent: commands that do them again.
    pub(crate) redone: Vec<Command>,
    /// The end of these deeds.
    pub(crate) until: Option<Timestamp>,
}

impl Program {
    /// Whether it stands for deeds of its parent.
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
    pub(crate) openings: Vec<Opening>,
    /// The open that each step made.
    pub(crate) open_of_step: HashMap<usize, OpenId, RandomState>,
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
struct Follower<'a> {
    lives: &'a Lives,
    names: &'a Names,
    /// The opens by their numbers in the log.
    described: HashMap<(CaseId, model::OpenId), OpenId, RandomState>,
    inherited: HashMap<LifeId, Inherited, RandomState>,
    /// Processes whose descriptors are known.
    followed: Vec<bool>,
    programs: Programs,
}

/// Follows programs and descriptors through the steps.
pub(crate) fn follow(steps: &[Step], lives: &Lives, names: &Names) -> Programs {
    let count = lives.all().len();
    let programs = Programs { born_in: vec![None; count], last: vec![None; count], ..Programs::default() };
    let mut follower = Follower {
        lives,
        names,
        described: HashMap::default(),
        inherited: HashMap::default(),
        followed: vec![false; count],
        programs,
    };
    for (number, step) in steps.iter().enumerate() {
        let who =
            lives.find(step.case, step.pid, step.start).and_then(|life| follower.step(number, step, life));
        follower.programs.of_step.push(who);
    }
    for place in 0..count {
        follower.program(LifeId(place as u32));
    }
    follower.programs
}

impl Follower<'_> {
    fn step(&mut self, number: usize, step: &Step, life: LifeId) -> Option<ProgramId> {
        if step.deed == Deed::Exec {
            return Some(self.exec(step.start, life));
        }
        let who = self.program(life)?;
        match step.deed {
            Deed::Fork => self.fork(step.case, step.ret, step.last, life, who),
            Deed::Pipe { cloexec } => {
                self.programs.connections.extend(step.path.get().into_iter().chain(step.path2.get()));
                if let (Some(fd), Some(path)) = (step.fd, step.path.get()) {
                    self.programs.pipes.entry(path).or_default();
                    self.set(life, fd, Handle::Pipe(path), cloexec);
                }
            }
            Deed::Accept => self.programs.connections.extend(step.path.get()),
            Deed::Open(mode) => {
                let Some(path) = step.path.get() else { return Some(who) };
                let called = name(self.names, path);
                if !called.starts_with('/') && !self.programs.pipes.contains_key(&path) {
                    if !is_object(called) {
                        self.programs.unplaced.insert(path);
                    }
                    // Through /dev/stdout: what was open before the recording.
                    if let Some(fd) = step.fd {
                        self.unset(life, fd);
                    }
                    return Some(who);
                }
                if mode.write || mode.create {
                    self.programs.opened.insert(path);
                }
                if self.programs.pipes.contains_key(&path) {
                    // Through /dev/fd: the pipe itself.
                    if let Some(fd) = step.fd {
                        self.set(life, fd, Handle::Pipe(path), mode.cloexec);
                    }
                    return Some(who);
                }
                let open = OpenId(self.programs.openings.len() as u32);
                let (used_by, umask) = (BTreeSet::new(), self.umask(life));
                self.note_umask(number, life);
                self.programs.openings.push(Opening { path, mode, by: who, used_by, unsure: false, umask });
                self.programs.open_of_step.insert(number, open);
                self.described.extend(step.open.get().map(|number| ((step.case, number), open)));
                if let Some(fd) = step.fd {
                    self.set(life, fd, Handle::File(open), mode.cloexec);
                }
            }
            Deed::Dup { cloexec } => {
                let fd = step.ret.and_then(|fd| i32::try_from(fd).ok());
                if let (Some(fd), Some(path)) = (fd, step.path.get()) {
                    let described = self.described(step).map(Handle::File);
                    match described.or_else(|| self.named(life, path, fd)) {
                        Some(handle) => self.set(life, fd, handle, cloexec),
                        None => self.unset(life, fd),
                    }
                }
            }
            Deed::CloseOnExec => {
                if let Some(fd) = step.fd {
                    self.inherited.entry(life).or_default().cloexec.insert(fd);
                }
            }
            Deed::Close => {
                if let Some(fd) = step.fd {
                    if (0..=2).contains(&fd) {
                        self.set(life, fd, Handle::Closed, false);
                    } else {
                        self.unset(life, fd);
                    }
                }
            }
            Deed::MakeDirectory(_) => self.note_umask(number, life),
            Deed::Umask(mask) => {
                let before = step.ret.and_then(|before| u32::try_from(before).ok());
                if self.lives.get(life).parent.is_none() && self.umask(life).is_none() {
                    self.programs.initial_umask = self.programs.initial_umask.or(before);
                }
                self.inherited.entry(life).or_default().umask.set(mask, before);
            }
            Deed::Read
            | Deed::Write
            | Deed::Copy
            | Deed::Seek
            | Deed::Change
            | Deed::Mode(_)
            | Deed::Times => self.used(step, life, who),
            _ => {}
        }
        Some(who)
    }

    fn used(&mut self, step: &Step, life: LifeId, who: ProgramId) {
        let moved = step.bytes > 0;
        if matches!(step.deed, Deed::Write | Deed::Copy) {
            self.outside(step, life, who);
        }
        for (path, reads) in [(step.path.get(), step.deed != Deed::Write), (step.path2.get(), false)] {
            let Some(path) = path else { continue };
            if let Some(traffic) = self.programs.pipes.get_mut(&path) {
                let users = if reads { &mut traffic.readers } else { &mut traffic.writers };
                if moved {
                    users.insert(who);
                }
                continue;
            }
            match self.open_of(step, life, path) {
                // Also who found the end of the file looked for more, and sees what it is.
                Some(open) => {
                    self.programs.openings[open.0 as usize].used_by.insert(who);
                }
                None if reads
                    && moved
                    && step.deed == Deed::Read
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
    fn described(&self, step: &Step) -> Option<OpenId> {
        self.described.get(&(step.case, step.open.get()?)).copied()
    }

    /// The open of `path` through which a step went.
    fn open_of(&self, step: &Step, life: LifeId, path: PathId) -> Option<OpenId> {
        let is_of_path = |open: &OpenId| self.programs.opening(*open).path == path;
        if let Some(open) = self.described(step).filter(is_of_path) {
            return Some(open);
        }
        let table = &self.inherited.get(&life)?.table;
        let of_file = |handle: &Handle| match handle {
            Handle::File(open) => Some(*open).filter(is_of_path),
            _ => None,
        };
        let of_fd = step.fd.and_then(|fd| table.get(&fd)).and_then(of_file);
        of_fd.or_else(|| table.values().filter_map(of_file).next_back())
    }

    /// Notes who wrote to what was open before the recording: through a descriptor that nothing in it made.
    fn outside(&mut self, step: &Step, life: LifeId, who: ProgramId) {
        let target = if step.deed == Deed::Copy { step.path2.get() } else { step.path.get() };
        let followed = self.lives.get(life).parent.is_none() || self.followed[life.index()];
        let (Some(path), Some(fd), true) = (target, step.fd, followed && step.bytes > 0) else { return };
        let table = self.inherited.get(&life).map(|inherited| &inherited.table);
        let connected = self.programs.connections.contains(&path);
        let named_here = self.programs.opened.contains(&path) || connected;
        let before = if step.deed == Deed::Copy {
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

    fn note_umask(&mut self, number: usize, life: LifeId) {
        if let Some(umask) = self.umask(life) {
            self.programs.umask_of_step.insert(number, umask);
        }
    }

    fn umask(&self, life: LifeId) -> Option<u32> {
        self.inherited.get(&life).and_then(|inherited| inherited.umask.changed())
    }

    fn set(&mut self, life: LifeId, fd: i32, handle: Handle, cloexec: bool) {
        let descriptors = self.inherited.entry(life).or_default();
        descriptors.table.insert(fd, handle);
        if cloexec {
            descriptors.cloexec.insert(fd);
        } else {
            descriptors.cloexec.remove(&fd);
        }
    }

    fn unset(&mut self, life: LifeId, fd: i32) {
        let descriptors = self.inherited.entry(life).or_default();
        descriptors.table.remove(&fd);
        descriptors.cloexec.remove(&fd);
    }

    /// What the process has open under that name, where the log does not number opens: the latest if there are several.
    fn named(&mut self, life: LifeId, path: PathId, target: i32) -> Option<Handle> {
        if self.programs.pipes.contains_key(&path) {
            return Some(Handle::Pipe(path));
        }
        let openings = &mut self.programs.openings;
        let table = &self.inherited.get(&life)?.table;
        let mut found: Vec<OpenId> = table
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
    fn program(&mut self, life: LifeId) -> Option<ProgramId> {
        if let Some(program) = self.programs.last[life.index()] {
            return Some(program);
        }
        // Its fork was not recorded. Another command line than the parent's tells of an exec.
        let parent = self.lives.get(life).parent.and_then(|parent| self.program(parent));
        self.programs.born_in[life.index()] = parent;
        let own = parent.is_none_or(|parent| {
            let image = self.lives.images(life).first();
            let theirs =
                self.programs.all.get(parent.index()).map(|program| self.programs.image(program, self.lives));
            image.map(|image| (&image.exe, &image.cmdline))
                != theirs.map(|image| (&image.exe, &image.cmdline))
        });
        let program = match parent {
            Some(parent) if !own => parent,
            _ => self.add(life, 0, self.lives.get(life).start, parent),
        };
        self.programs.last[life.index()] = Some(program);
        Some(program)
    }

    fn add(
        &mut self,
        life: LifeId,
        image: usize,
        start: Option<Timestamp>,
        parent: Option<ProgramId>,
    ) -> ProgramId {
        let id = ProgramId(self.programs.all.len() as u32);
        let root = self.lives.get(life).parent.is_none();
        let known = root || self.followed[life.index()];
        let table =
            self.inherited.get(&life).map(|descriptors| descriptors.table.clone()).unwrap_or_default();
        let umask = self.umask(life);
        let (redone, until) = (Vec::new(), None);
        self.programs.all.push(Program { life, image, start, parent, table, known, umask, redone, until });
        id
    }

    fn fork(&mut self, case: CaseId, ret: Option<i64>, end: Timestamp, parent: LifeId, who: ProgramId) {
        let Some(pid) = ret.and_then(|ret| u32::try_from(ret).ok()).map(Pid) else { return };
        let Some(child) = self.lives.find(case, pid, end) else { return };
        if child == parent
            || self.lives.get(child).parent != Some(parent)
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

    fn exec(&mut self, at: Timestamp, life: LifeId) -> ProgramId {
        let descriptors = self.inherited.entry(life).or_default();
        for fd in std::mem::take(&mut descriptors.cloexec) {
            descriptors.table.remove(&fd);
        }
        let images = self.lives.images(life);
        let own = self.programs.last[life.index()].and_then(|program| self.programs.all.get(program.index()));
        let next = own.filter(|program| program.life == life).map_or(0, |program| program.image + 1);
        // The first image of a process that did nothing else before lives since the process does.
        let is_there = |image: &Process| image.start >= Some(at) || image.end.is_none_or(|end| end > at);
        let image = (next..images.len()).find(|place| is_there(&images[*place]));
        let parent = match self.programs.last[life.index()] {
            Some(program) => Some(program),
            None => {
                let parent = self.lives.get(life).parent.and_then(|parent| self.program(parent));
                self.programs.born_in[life.index()] = parent;
                parent
            }
        };
        let program = self.add(life, image.unwrap_or(images.len() - 1), Some(at), parent);
        self.programs.last[life.index()] = Some(program);
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

    pub(crate) fn opening(&self, open: OpenId) -> &Opening {
        &self.openings[open.0 as usize]
    }

    /// What the table `processes` says of it.
    pub(crate) fn image<'a>(&self, program: &Program, lives: &'a Lives) -> &'a Process {
        let images = lives.images(program.life);
        images.get(program.image).unwrap_or_else(|| lives.last_image(program.life))
    }
}

/// The name of a path.
pub(crate) fn name(names: &Names, path: PathId) -> &std::sync::Arc<str> {
    &names.paths[path.index()]
}
