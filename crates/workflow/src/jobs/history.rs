//! What each job did to which name, in the order of time, and which job must therefore wait for which.
//!
//! The last who wrote a name is needed by who reads it, writes it, renames it or deletes it after that; who read it is
//! needed by the next who writes it (make would otherwise overwrite what a reader still wants).

use super::launch::{Launches, name};
use super::pipeline::Merged;
use super::steps::{Deed, OpenMode, Step};
use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashSet};
use iotrail_model::{PathId, Timestamp};
use iotrail_query::{LifeId, Lives};
use iotrail_trail::EventLog;
use std::sync::Arc;

/// Who did something: a job, or a manager.
type Who = Option<u32>;

/// What is known of a name's file as somebody begins to write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    /// What was there is gone.
    Gone,
    /// It is made if it is not there.
    Unknown,
    /// It is there.
    There,
}

/// What one job did to one name.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Use {
    /// It read before it wrote, or changed in place what was there.
    pub(crate) input: bool,
    /// It wrote or made or changed it.
    pub(crate) output: bool,
    /// It was there before it was changed.
    pub(crate) updated: bool,
    /// It deleted it and did not make it again.
    pub(crate) removed: bool,
    pub(crate) read: u64,
    pub(crate) written: u64,
}

/// What happened to one name.
#[derive(Clone, Debug, Default)]
pub(crate) struct NameHistory {
    /// By job, in the order of first use.
    pub(crate) uses: Vec<(u32, Use)>,
    /// Whether it is there at the end; unknown if nobody made or deleted it.
    pub(crate) exists: Option<bool>,
    /// Its length, known since it was emptied.
    pub(crate) length: Option<i64>,
    /// Whether anybody wrote it.
    pub(crate) written: bool,
    /// Whether a manager wrote it.
    pub(crate) by_manager: bool,
    /// Whether a job read what a manager wrote.
    pub(crate) from_manager: bool,
    writer: Who,
    readers: Vec<u32>,
}

/// What happened to all names.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// By name, sorted.
    pub(crate) names: Vec<(Arc<str>, NameHistory)>,
    /// (job, job that it needs).
    pub(crate) needs: HashSet<(u32, u32), RandomState>,
    /// Directories that are there at the end, with the job that made each, sorted.
    pub(crate) directories: Vec<(Arc<str>, Who)>,
}

impl NameHistory {
    /// The job is the last writer from now on and needs all who wrote or read what was there; who wrote it before.
    fn hand_over(&mut self, job: u32, needs: &mut HashSet<(u32, u32), RandomState>) -> Who {
        let previous = self.writer.replace(job);
        let before = previous.into_iter().chain(self.readers.drain(..));
        needs.extend(before.filter(|other| *other != job).map(|other| (job, other)));
        previous
    }
}

struct Writer<'a> {
    log: &'a EventLog,
    merged: &'a Merged,
    launches: &'a Launches,
    names: HashMap<PathId, NameHistory, RandomState>,
    needs: HashSet<(u32, u32), RandomState>,
    made: HashMap<Arc<str>, Who, RandomState>,
    hidden: Vec<bool>,
    ends: Vec<Option<Timestamp>>,
    /// Jobs that made or deleted entries of a directory.
    changed: HashMap<Arc<str>, Vec<u32>, RandomState>,
}

/// Goes through the steps.
pub(crate) fn write(
    steps: &[Step],
    log: &EventLog,
    lives: &Lives,
    launches: &Launches,
    merged: &Merged,
) -> History {
    let mut ends = vec![None; merged.groups.len()];
    for (place, group) in merged.of_life.iter().enumerate() {
        if let (Some(group), Some(end)) = (group, lives.all()[place].end) {
            ends[*group as usize] = ends[*group as usize].max(Some(end));
        }
    }
    let mut writer = Writer {
        log,
        merged,
        launches,
        names: HashMap::default(),
        needs: HashSet::default(),
        made: HashMap::default(),
        hidden: super::hidden::hidden(log, lives),
        ends,
        changed: HashMap::default(),
    };
    for (number, step) in steps.iter().enumerate() {
        if let Some(life) = lives.find(step.case, step.pid, step.start) {
            writer.step(number, step, life);
        }
    }
    writer.finish()
}

impl Writer<'_> {
    fn step(&mut self, number: usize, step: &Step, life: LifeId) {
        let who = self.merged.of_life[life.index()];
        let Some(path) = step.path.get() else { return };
        match step.deed {
            Deed::Open(mode) if mode.directory => {}
            Deed::Open(mode) if mode.write => self.open(number, mode, who, path),
            Deed::Open(_) | Deed::Exec => self.read(who, path, 0),
            Deed::Read => {
                self.read(who, path, step.bytes);
            }
            Deed::Write if self.launches.opened.contains(&path) => {
                self.wrote(who, path, step.bytes, Before::There);
                self.grow(path, step.end);
            }
            Deed::Write => {}
            Deed::Copy => {
                self.read(who, path, step.bytes);
                if let Some(target) = step.path2.get().filter(|target| self.launches.opened.contains(target))
                {
                    self.wrote(who, target, step.bytes, Before::There);
                    self.grow(target, None);
                }
            }
            Deed::Change => {
                self.wrote(who, path, 0, Before::There);
                self.grow(path, None);
            }
            Deed::Remove => self.remove(who, path),
            Deed::RemoveDirectory => self.remove_directory(who, path),
            Deed::Rename => {
                if let Some(target) = step.path2.get() {
                    self.rename(who, path, target);
                }
            }
            Deed::Link => {
                self.read(who, path, 0);
                if let Some(target) = step.path2.get() {
                    self.wrote(who, target, 0, Before::Gone);
                }
            }
            Deed::Symlink => self.wrote(who, path, 0, Before::Gone),
            Deed::MakeDirectory => {
                self.in_directory(who, path);
                self.made.insert(name(self.log.names(), path).clone(), who);
            }
            Deed::List => self.list(who, step.start, path),
            Deed::Fork | Deed::Pipe | Deed::Dup | Deed::Close => {}
        }
    }

    /// A manager's open that the first command gets as standard stream is that command's deed.
    fn open(&mut self, number: usize, mode: OpenMode, who: Who, path: PathId) {
        let opening =
            self.launches.open_of_step.get(&number).map(|open| self.launches.openings[open.0 as usize]);
        let user = opening.and_then(|opening| opening.first_user);
        let who = who.or_else(|| user.and_then(|life| self.merged.of_life[life.index()]));
        if mode.truncate {
            self.wrote(who, path, 0, Before::Gone);
        } else if mode.create {
            self.wrote(who, path, 0, Before::Unknown);
        }
    }

    fn read(&mut self, who: Who, path: PathId, bytes: u64) {
        let (Some(job), false) = (who, self.hidden[path.index()]) else { return };
        let history = self.names.entry(path).or_default();
        let by_manager = history.by_manager && history.writer.is_none();
        let (writer, seen) = (history.writer, history.readers.last() == Some(&job));
        history.from_manager |= by_manager;
        if writer != Some(job) {
            if !seen {
                history.readers.push(job);
            }
            let used = usage(&mut history.uses, job);
            used.input = true;
            used.read = used.read.saturating_add(bytes);
            if let Some(writer) = writer {
                self.needs.insert((job, writer));
            }
        } else {
            let used = usage(&mut history.uses, job);
            used.read = used.read.saturating_add(bytes);
        }
    }

    fn wrote(&mut self, who: Who, path: PathId, bytes: u64, file: Before) {
        if self.hidden[path.index()] {
            return;
        }
        self.in_directory(who, path);
        let history = self.names.entry(path).or_default();
        let existed = history.exists.replace(true);
        history.written = true;
        if file == Before::Gone {
            history.length = Some(0);
        }
        let Some(job) = who else {
            (history.by_manager, history.writer) = (true, None);
            history.readers.clear();
            return;
        };
        let previous = history.hand_over(job, &mut self.needs);
        let goes_on = previous == Some(job);
        let kept = match file {
            Before::Gone => false,
            Before::Unknown => existed != Some(false),
            Before::There => true,
        };
        history.from_manager |= kept && history.by_manager && previous.is_none();
        let used = usage(&mut history.uses, job);
        if kept && !goes_on {
            used.updated = true;
            used.input |= existed == Some(true) || file == Before::There;
        }
        (used.output, used.removed) = (true, false);
        used.written = used.written.saturating_add(bytes);
    }

    /// The file reaches to that offset at least; `None`: it may have any length now.
    fn grow(&mut self, path: PathId, end: Option<i64>) {
        if let Some(history) = self.names.get_mut(&path) {
            history.length = history.length.zip(end).map(|(length, end)| length.max(end));
        }
    }

    fn remove(&mut self, who: Who, path: PathId) {
        if self.hidden[path.index()] {
            return;
        }
        self.in_directory(who, path);
        let history = self.names.entry(path).or_default();
        history.exists = Some(false);
        let Some(job) = who else { return };
        history.hand_over(job, &mut self.needs);
        let used = usage(&mut history.uses, job);
        used.removed = true;
        used.input |= !used.output;
    }

    fn remove_directory(&mut self, who: Who, path: PathId) {
        self.in_directory(who, path);
        let maker = self.made.remove(name(self.log.names(), path)).flatten();
        if let (Some(job), Some(maker)) = (who, maker)
            && job != maker
        {
            self.needs.insert((job, maker));
        }
    }

    fn rename(&mut self, who: Who, from: PathId, to: PathId) {
        let old: Arc<str> = name(self.log.names(), from).clone();
        if let Some(maker) = self.made.remove(&old) {
            self.made.insert(name(self.log.names(), to).clone(), maker);
            return;
        }
        self.read(who, from, 0);
        self.remove(who, from);
        let length = self.names.get(&from).and_then(|history| history.length);
        self.wrote(who, to, 0, Before::Gone);
        if let Some(history) = self.names.get_mut(&to) {
            history.length = length;
        }
    }

    /// Who makes or deletes an entry needs who made the directory.
    fn in_directory(&mut self, who: Who, path: PathId) {
        let Some(job) = who else { return };
        let path = name(self.log.names(), path);
        let mut rest: &str = path;
        let mut nearest = true;
        while let Some((parent, _)) = rest.rsplit_once('/').filter(|(parent, _)| !parent.is_empty()) {
            if let Some(&Some(maker)) = self.made.get(parent)
                && maker != job
            {
                self.needs.insert((job, maker));
            }
            if nearest {
                let jobs = self.changed.entry(Arc::from(parent)).or_default();
                if jobs.last() != Some(&job) {
                    jobs.push(job);
                }
            }
            (nearest, rest) = (false, parent);
        }
    }

    /// Who lists a directory needs those who changed its entries and were over by then.
    fn list(&mut self, who: Who, at: Timestamp, path: PathId) {
        let Some(job) = who else { return };
        let Some(jobs) = self.changed.get(name(self.log.names(), path)) else { return };
        for &other in jobs {
            if other != job && self.ends[other as usize].is_some_and(|end| end <= at) {
                self.needs.insert((job, other));
            }
        }
    }

    fn finish(self) -> History {
        let names = self.log.names();
        let mut all: Vec<(Arc<str>, NameHistory)> =
            self.names.into_iter().map(|(path, history)| (name(names, path).clone(), history)).collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        let mut directories: Vec<(Arc<str>, Who)> = self.made.into_iter().collect();
        directories.sort();
        History { names: all, needs: self.needs, directories }
    }
}

fn usage(uses: &mut Vec<(u32, Use)>, job: u32) -> &mut Use {
    let at = match uses.iter().rposition(|(other, _)| *other == job) {
        Some(at) => at,
        None => {
            uses.push((job, Use::default()));
            uses.len() - 1
        }
    };
    &mut uses[at].1
}
