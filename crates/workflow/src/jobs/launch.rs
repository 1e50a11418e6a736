//! How each process was started: the command that it executed first, and descriptors 0, 1 and 2 at that moment.
//!
//! A shell redirects in the child between fork and exec, or in itself before a vfork and back after it; either way the
//! descriptors at the exec are what counts. Whoever opened the file, the first command that gets it from one open that
//! empties it writes `> file`; the ones after it go on at the end: `>> file`.

use super::steps::{Deed, OpenMode, Step};
use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashSet};
use iotrail_model::{CaseId, Names, PathId, Pid, Timestamp};
use iotrail_query::{LifeId, Lives};

/// An open: an index into [`Launches::openings`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct OpenId(pub(crate) u32);

/// One open of a file and who got it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opening {
    pub(crate) mode: OpenMode,
    /// The first process that executed a command with it as standard stream.
    pub(crate) first_user: Option<LifeId>,
}

/// What a descriptor refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Handle {
    pub(crate) path: PathId,
    /// The recorded open; `None` for what was open before the recording, and for pipes.
    pub(crate) open: Option<OpenId>,
    /// A pipe or a pair of sockets that was made in the recording.
    pub(crate) pipe: bool,
}

/// How a process was started.
#[derive(Clone, Debug, Default)]
pub(crate) struct Launch {
    /// Its first successful exec.
    pub(crate) exec: Option<Timestamp>,
    /// Descriptors 0, 1, 2 then; without an exec: as they were inherited.
    pub(crate) streams: [Option<Handle>; 3],
}

/// How all processes were started.
#[derive(Debug, Default)]
pub(crate) struct Launches {
    pub(crate) of_life: Vec<Launch>,
    pub(crate) openings: Vec<Opening>,
    /// Number of the open that each step made, by number of the step.
    pub(crate) open_of_step: HashMap<usize, OpenId, RandomState>,
    /// Files that were opened for writing in the recording. What is written without that was open before: the terminal or
    /// log that the whole recording writes to.
    pub(crate) opened: HashSet<PathId, RandomState>,
    /// Pipes through which bytes went.
    pub(crate) carried: HashSet<PathId, RandomState>,
}

type Table = HashMap<i32, Handle, RandomState>;

struct Follower<'a> {
    lives: &'a Lives,
    tables: HashMap<LifeId, Table, RandomState>,
    pipes: HashSet<PathId, RandomState>,
    launches: Launches,
}

/// Follows the descriptors of all processes through the steps.
pub(crate) fn follow(steps: &[Step], lives: &Lives) -> Launches {
    let mut follower = Follower {
        lives,
        tables: HashMap::default(),
        pipes: HashSet::default(),
        launches: Launches { of_life: vec![Launch::default(); lives.all().len()], ..Launches::default() },
    };
    for (number, step) in steps.iter().enumerate() {
        if let Some(life) = lives.find(step.case, step.pid, step.start) {
            follower.step(number, step, life);
        }
    }
    follower.unseen_execs();
    follower.launches
}

impl Follower<'_> {
    fn step(&mut self, number: usize, step: &Step, life: LifeId) {
        match step.deed {
            Deed::Fork => self.fork(step.case, step.ret, step.last, life),
            Deed::Exec => self.exec(step.start, life),
            Deed::Pipe => {
                if let (Some(fd), Some(path)) = (step.fd, step.path.get()) {
                    self.pipes.insert(path);
                    self.table(life).insert(fd, Handle { path, open: None, pipe: true });
                }
            }
            Deed::Open(mode) => {
                if mode.write || mode.create {
                    self.launches.opened.extend(step.path.get());
                }
                let open = OpenId(self.launches.openings.len() as u32);
                self.launches.openings.push(Opening { mode, first_user: None });
                self.launches.open_of_step.insert(number, open);
                if let (Some(fd), Some(path)) = (step.fd, step.path.get()) {
                    self.table(life).insert(fd, Handle { path, open: Some(open), pipe: false });
                }
            }
            Deed::Dup => {
                if let (Some(fd), Some(path)) =
                    (step.ret.and_then(|fd| i32::try_from(fd).ok()), step.path.get())
                {
                    let handle = self.handle(life, path);
                    self.table(life).insert(fd, handle);
                }
            }
            Deed::Close => {
                if let Some(fd) = step.fd {
                    self.table(life).remove(&fd);
                }
            }
            Deed::Read | Deed::Write if step.bytes > 0 => {
                self.launches.carried.extend(step.path.get().filter(|path| self.pipes.contains(path)));
            }
            _ => {}
        }
    }

    /// Where execs were not recorded, another command line than the parent's tells of one.
    fn unseen_execs(&mut self) {
        for (place, life) in self.lives.all().iter().enumerate() {
            let image = self.lives.last_image(LifeId(place as u32));
            let parent = life.parent.map(|parent| self.lives.last_image(parent));
            let launch = &mut self.launches.of_life[place];
            let own =
                parent.is_none_or(|parent| (&image.exe, &image.cmdline) != (&parent.exe, &parent.cmdline));
            if launch.exec.is_none() && own {
                launch.exec = life.start;
            }
        }
    }

    fn table(&mut self, life: LifeId) -> &mut Table {
        self.tables.entry(life).or_default()
    }

    /// What the process has open under that name: the latest open if there are several.
    fn handle(&mut self, life: LifeId, path: PathId) -> Handle {
        let pipe = self.pipes.contains(&path);
        let open = self
            .table(life)
            .values()
            .filter(|handle| handle.path == path)
            .filter_map(|handle| handle.open)
            .max_by_key(|open| open.0);
        Handle { path, open, pipe }
    }

    fn fork(&mut self, case: CaseId, ret: Option<i64>, end: Timestamp, parent: LifeId) {
        let Some(pid) = ret.and_then(|ret| u32::try_from(ret).ok()).map(Pid) else { return };
        let Some(child) = self.lives.find(case, pid, end) else { return };
        if child == parent || self.lives.get(child).parent != Some(parent) {
            return;
        }
        let table = self.table(parent).clone();
        let launch = &mut self.launches.of_life[child.index()];
        launch.streams = [0, 1, 2].map(|fd| table.get(&fd).copied());
        self.tables.insert(child, table);
    }

    fn exec(&mut self, at: Timestamp, life: LifeId) {
        let table = self.tables.entry(life).or_default();
        let launch = &mut self.launches.of_life[life.index()];
        if launch.exec.is_some() {
            return;
        }
        launch.exec = Some(at);
        launch.streams = [0, 1, 2].map(|fd| table.get(&fd).copied());
        for open in launch.streams.iter().flatten().filter_map(|handle| handle.open) {
            self.launches.openings[open.0 as usize].first_user.get_or_insert(life);
        }
    }
}

impl Launches {
    pub(crate) fn get(&self, life: LifeId) -> &Launch {
        &self.of_life[life.index()]
    }

    /// The pipe that a process has as that descriptor, if it was made in the recording.
    pub(crate) fn pipe(&self, life: LifeId, descriptor: usize) -> Option<PathId> {
        self.get(life).streams[descriptor].filter(|handle| handle.pipe).map(|handle| handle.path)
    }

    /// The file that a process got as that descriptor by a redirection: its name, how it was opened, and whether this
    /// process is the first to use that open.
    pub(crate) fn redirection(&self, life: LifeId, descriptor: usize) -> Option<(PathId, OpenMode, bool)> {
        let handle = self.get(life).streams[descriptor]?;
        let opening = self.openings.get(handle.open?.0 as usize)?;
        Some((handle.path, opening.mode, opening.first_user == Some(life)))
    }
}

/// The name of a path.
pub(crate) fn name(names: &Names, path: PathId) -> &std::sync::Arc<str> {
    &names.paths[path.index()]
}
