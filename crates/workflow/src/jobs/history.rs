//! What each job did to which name, in the order of time, and which job must therefore wait for which.
//!
//! The last who wrote a name is needed by who reads it, writes it, renames it or deletes it after that; who read it is
//! needed by the next who writes it (make would otherwise overwrite what a reader still wants). The same holds of what is in
//! a file, by whatever name or descriptor it is read and written: its other names are those of hard links, and it keeps its
//! contents when it is renamed or removed.

use super::Made;
use super::attributes::{attributed, keeps_attributes};
use super::changed_names::{Climb, is_at};
use super::commands::{Commands, Doer, ends_of_heads};
use super::group::Together;
use super::hidden::Hidden;
use super::labels::{Called, Labels, same_files};
use super::link_counts::{Counting, counting, counts_when_open, sees_hidden};
use super::new_directories::takes_directories;
use super::programs::{ProgramId, Programs, name};
use super::stages::{Again, How, LookupOutcome, Stages, Thing, parent};
use super::steps::{JobAction, OpenMode, Step};
use super::times::{Asked, Modified};
use super::turns::{Needs, Turns};
use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashSet};
use iotrail_model::{FileId, Names, PathId, Timestamp};
use iotrail_query::ProcessTable;
use iotrail_trail::EventLog;
use std::collections::{BTreeMap, BTreeSet};
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
    /// Whether it was read before anybody made it.
    pub(crate) there_before: bool,
    /// Whether it was found or emptied before anybody made it.
    pub(crate) older: bool,
    /// Whether it may have been a symbolic link of before through which the job went that replaced it.
    pub(crate) perhaps_older: bool,
    /// Whether somebody looked for it before anybody made it, and nothing was there.
    missed: bool,
    /// Whether it is a symbolic link that somebody made.
    pub(crate) link: bool,
    /// Whether its time matters: somebody set it, compared it, or made another name of the file.
    pub(crate) timed: bool,
    /// What is known of its time.
    modified: Modified,
    /// Whether it may be a file of before that got this name. It may have others, which nobody may touch by this one.
    moved: bool,
    turns: Turns,
}

/// What happened to all names.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// By name, sorted.
    pub(crate) names: Vec<(Arc<str>, NameHistory)>,
    /// (job, job that it needs).
    pub(crate) needs: Needs,
    /// Directories that are there at the end, with the job that made each, sorted.
    pub(crate) directories: Vec<(Arc<str>, Who)>,
    /// Directories that managers made with permissions that are not known, be they gone at the end.
    pub(crate) made_by_managers: BTreeSet<Arc<str>>,
    /// Which jobs listed which directory with all that is in it.
    pub(crate) listed: BTreeMap<Arc<str>, Vec<u32>>,
    /// Files that were open before the recording and were written to.
    pub(crate) outside: Vec<Arc<str>>,
    /// Jobs to which it matters what the times of the inputs are, or when the others ran.
    pub(crate) time_dependent: BTreeSet<u32>,
    /// Jobs whose scripts may look at the times of files that other jobs made.
    pub(crate) perhaps_time_dependent: BTreeSet<u32>,
    /// Jobs that exchanged directories that had, or got, other names.
    pub(crate) exchangers: BTreeSet<u32>,
    /// Files of jobs whose permissions a manager changed.
    pub(crate) permitted: Vec<Arc<str>>,
    /// What jobs must find to run again.
    pub(crate) again: Again,
    /// Files that only managers read.
    pub(crate) of_managers: Vec<Arc<str>>,
    /// Names that jobs gave or took away by renaming, be they directories or links.
    pub(crate) renamed: BTreeSet<Arc<str>>,
}

/// File systems tell births by a clock that is behind by as many nanoseconds at most.
const COARSE: i64 = 10_000_000;

/// A recording begins when that clock has just gone on, by less than as many nanoseconds.
const JUST: i64 = 1_000_000;

/// So many names of one file, through links, are followed.
const MOST_NAMES: usize = 32;

/// Who did something about the number of a file's names, with whether it is known which file that was.
type CountDoers = Vec<(Doer, bool)>;

/// What jobs did about the number of a file's names.
#[derive(Default)]
struct Count {
    lookers: Vec<Doer>,
    /// Jobs that gave it one or took one away, with the time.
    changes: Vec<(Timestamp, Doer)>,
}

struct Writer<'a> {
    log: &'a EventLog,
    programs: &'a Programs,
    together: &'a Together,
    commands: &'a Commands<'a>,
    hidden: &'a Hidden,
    /// Whether the step under way is about something that is not a regular file.
    other: bool,
    names: HashMap<PathId, NameHistory, RandomState>,
    needs: Needs,
    made: HashMap<Arc<str>, (Who, Turns), RandomState>,
    /// Directories that managers made with permissions that are not known, be they gone at the end.
    made_by_managers: BTreeSet<Arc<str>>,
    ends: Vec<Option<Timestamp>>,
    asked: Asked,
    /// Jobs that made or deleted entries of a directory.
    changed: HashMap<Arc<str>, Vec<Doer>, RandomState>,
    /// What is known of the times of directories.
    altered: HashMap<Arc<str>, Modified, RandomState>,
    /// Jobs that listed a directory.
    listed: HashMap<Arc<str>, Vec<Doer>, RandomState>,
    /// Of these, those that may have counted hidden names.
    listed_hidden: BTreeMap<Arc<str>, Vec<u32>>,
    /// Names that directories of before had until they were renamed.
    moved_away: BTreeSet<PathId>,
    /// Directories that jobs exchanged, and those that were renamed: their names.
    exchanged: Vec<(u32, [Arc<str>; 2])>,
    renamed: Vec<Arc<str>>,
    /// Whether each program copies, stores or shows permissions.
    keeps_attributes: Vec<bool>,
    /// Whether each program goes on where a directory that it makes is there already.
    takes_directories: Vec<bool>,
    /// What has its permissions, owner or times set.
    attributed: HashSet<PathId, RandomState>,
    /// Whether each program may count hidden names in a directory that it lists.
    sees_hidden: Vec<bool>,
    /// What each file is called.
    labels: Labels<'a>,
    /// Who read and wrote what is in a file.
    contents: HashMap<FileId, Turns, RandomState>,
    /// Who looked at the number of a file's names, and who changed it.
    counted: HashMap<FileId, Count, RandomState>,
    /// Jobs that looked at the number of names of files of before, and those that removed a name of before or gave its file another
    /// one; with each, whether it is known which file that was.
    counted_before: (CountDoers, CountDoers),
    /// What each program makes of the number of a file's names.
    counting: Vec<Counting>,
    /// Whether each program looks at that of the files that it opens.
    counts_when_open: Vec<bool>,
    /// The interpreters of scripts, by the program that executes one.
    interpreters: HashMap<ProgramId, PathId, RandomState>,
    /// Files whose permissions a manager changed.
    permitted: BTreeSet<PathId>,
    /// Files that managers read.
    of_managers: BTreeSet<PathId>,
    /// Symbolic links that were made to a name.
    links: HashMap<Arc<str>, Vec<PathId>, RandomState>,
    /// Symbolic links by name, with what they lead to.
    targets: HashMap<Arc<str>, (PathId, Arc<str>), RandomState>,
    /// The stages of names.
    stages: Stages,
    /// The step under way.
    action: JobAction,
    /// What the step under way does to a file, if it empties or makes it.
    opens: Option<How>,
    /// Whether the step under way changes permissions only.
    permits: bool,
    /// Whether nothing had the name that the step under way makes.
    is_new: bool,
    /// Whether the step under way fails where something has the name already.
    needs_free: bool,
    /// Files that may have several names at a time.
    linked: BTreeSet<FileId>,
    /// Files that had several names at a time.
    several: BTreeSet<FileId>,
    /// Names of files that no call mentions, because a directory was renamed, and whether they may have been there before.
    unmentioned: BTreeMap<Arc<str>, bool>,
    /// Names of directories that are made, renamed or removed.
    places: HashMap<Arc<str>, PathId, RandomState>,
    /// Of the names that the step under way renames: those that held what was there before the recording.
    old_ones: Vec<PathId>,
    /// Names that are taken away from what has them, or given to something else.
    lost: HashSet<PathId, RandomState>,
    /// When the step under way began and ended.
    span: (Timestamp, Timestamp),
    /// When the command ends that does it.
    until: Option<Timestamp>,
    /// When the first step began.
    origin: Timestamp,
}

/// Goes through the steps; `who` is the job of each program, `heads` the command that it belongs to.
pub(crate) fn write(
    steps: &[Step],
    log: &EventLog,
    processes: &ProcessTable,
    programs: &Programs,
    together: &Together,
    (who, heads): (&[Who], &[Option<u32>]),
    hidden: &Hidden,
) -> History {
    let untils = ends_of_heads(processes, programs, heads, together.of_head.len());
    let last = |heads: &Vec<u32>| heads.iter().filter_map(|head| untils[*head as usize]).max();
    let ends = together.groups.iter().map(last).collect();
    let mut starts: Vec<Option<Timestamp>> = vec![None; together.groups.len()];
    for (program, job) in programs.all.iter().zip(who) {
        if let Some(job) = job {
            let start = &mut starts[*job as usize];
            *start = [*start, program.start].into_iter().flatten().min();
        }
    }
    let commands = Commands { programs, together, who, heads, untils: &untils };
    let (mut needs, climbs) = super::changed_names::needs(steps, log.names(), processes, &commands);
    let old_links = super::old_links::find(steps, log.names(), processes, &commands, hidden);
    needs.extend(old_links.needs.iter().copied());
    let line = |program| programs.image(program, processes).cmdline.as_deref().unwrap_or_default();
    let origin = steps.iter().map(|step| step.start).min().unwrap_or(Timestamp(i64::MAX));
    let mut writer = Writer {
        log,
        programs,
        together,
        commands: &commands,
        hidden,
        other: false,
        names: HashMap::default(),
        needs,
        made: HashMap::default(),
        made_by_managers: BTreeSet::new(),
        ends,
        asked: Asked::new(steps, processes, programs, log.names()),
        changed: HashMap::default(),
        altered: HashMap::default(),
        listed: HashMap::default(),
        moved_away: BTreeSet::new(),
        exchanged: Vec::new(),
        renamed: Vec::new(),
        listed_hidden: BTreeMap::new(),
        keeps_attributes: programs.all.iter().map(|program| keeps_attributes(line(program))).collect(),
        takes_directories: programs
            .all
            .iter()
            .map(|program| program.is_redone() || takes_directories(line(program)))
            .collect(),
        attributed: attributed(steps),
        sees_hidden: programs.all.iter().map(|program| sees_hidden(line(program))).collect(),
        labels: Labels::new(
            log.names(),
            log.distinct_files().iter().map(|file| file.numbered).collect(),
            same_files(log.distinct_files(), origin.0),
            steps,
        ),
        contents: HashMap::default(),
        counted: HashMap::default(),
        counted_before: (Vec::new(), Vec::new()),
        counting: programs.all.iter().map(|program| counting(line(program))).collect(),
        counts_when_open: programs.all.iter().map(|program| counts_when_open(line(program))).collect(),
        interpreters: interpreters(log.names(), programs, processes),
        permitted: BTreeSet::new(),
        of_managers: BTreeSet::new(),
        links: HashMap::default(),
        targets: HashMap::default(),
        stages: Stages::default(),
        action: JobAction::Look,
        opens: None,
        permits: false,
        is_new: false,
        needs_free: false,
        linked: BTreeSet::new(),
        several: BTreeSet::new(),
        unmentioned: BTreeMap::new(),
        places: places(steps, log, hidden),
        old_ones: Vec::new(),
        lost: lost(steps),
        span: (Timestamp(0), Timestamp(0)),
        until: None,
        origin,
    };
    for path in &old_links.own {
        writer.names.entry(*path).or_default().perhaps_older = true;
    }
    for path in &old_links.moved {
        writer.names.entry(*path).or_default().link = true;
    }
    for (job, path) in old_links.users {
        writer.stages.may_read(Thing::Name(path), job);
    }
    writer.linked = writer.of_several_names();
    for step in steps.iter().filter(|step| step.action == JobAction::Link) {
        writer.linked.extend(step.path.get().and_then(|path| writer.labels.known(step.file, path)));
    }
    let imports = super::listings::imports(steps, processes, programs, hidden);
    let mut climbs = climbs_by_path(&climbs, log.names()).into_iter().peekable();
    for (number, step) in steps.iter().enumerate() {
        while let Some((at, job, path)) = climbs.next_if(|(at, ..)| *at <= step.start) {
            writer.stages.now = at;
            writer.stages.read(Thing::Name(path), job, LookupOutcome::Used);
        }
        if let Some(program) = programs.of_step[number] {
            writer.span = (step.start, step.last);
            // What a manager opens for a command is over with it.
            let opened = commands.of_opened(number).filter(|_| who[program.index()].is_none());
            writer.until = opened.map_or_else(|| commands.until(program), |doer| doer.until);
            writer.stages.now = step.start;
            writer.other = hidden.is_other(step);
            writer.action = step.action;
            (writer.opens, writer.permits) = (None, matches!(step.action, JobAction::Mode(_)));
            if let (true, Some(job), Some(target)) = (step.is_new, who[program.index()], step.path2.get()) {
                writer.stages.read(Thing::Name(target), job, LookupOutcome::Missing);
            }
            writer.needs_free = match step.action {
                JobAction::MakeDirectory(_) => !writer.takes_directories[program.index()],
                action => action == JobAction::Rename,
            };
            writer.is_new = match step.action {
                JobAction::Symlink | JobAction::Fifo | JobAction::Link | JobAction::MakeDirectory(_) => true,
                JobAction::Open(mode) => {
                    mode.exclusive
                        || mode.create && step.path.get().is_some_and(|path| writer.is_new(step, path))
                }
                _ => step.is_new,
            };
            writer.through_links(number, step, who[program.index()]);
            writer.old_ones = writer.old_ones_of(step);
            writer.in_places(number, step, who[program.index()]);
            if let (JobAction::List, Some(job), Some(path)) =
                (step.action, who[program.index()], step.path.get())
                && !imports.contains(&number)
            {
                writer.stages.list(path, job);
            }
            writer.step(number, step, program, who[program.index()]);
        }
    }
    History { renamed: renamed(steps, log, &commands), ..writer.finish(who, &starts) }
}

/// By program the file that runs, as far as the log names it otherwise.
fn interpreters(
    names: &Names,
    programs: &Programs,
    processes: &ProcessTable,
) -> HashMap<ProgramId, PathId, RandomState> {
    let all = programs.all.iter().enumerate();
    let running = all.filter_map(|(number, program)| {
        Some((ProgramId(number as u32), programs.image(program, processes).exe.as_deref()?))
    });
    let running: Vec<(ProgramId, &str)> = running.collect();
    let wanted: HashSet<&str, RandomState> = running.iter().map(|(_, exe)| *exe).collect();
    let known = ids(names, &wanted);
    running.into_iter().filter_map(|(program, exe)| Some((program, *known.get(exe)?))).collect()
}

/// The numbers of these names.
fn ids<'a>(names: &'a Names, wanted: &HashSet<&str, RandomState>) -> HashMap<&'a str, PathId, RandomState> {
    let known = names.paths.iter().enumerate().filter(|(_, path)| wanted.contains(&***path));
    known.map(|(number, path)| (&**path, PathId::from_index(number))).collect()
}

/// When which job went up from what.
fn climbs_by_path(climbs: &[Climb], names: &Names) -> Vec<(Timestamp, u32, PathId)> {
    let wanted: HashSet<&str, RandomState> = climbs.iter().map(|climb| &*climb.name).collect();
    if wanted.is_empty() {
        return Vec::new();
    }
    let known = ids(names, &wanted);
    climbs.iter().filter_map(|climb| Some((climb.at, climb.job, *known.get(&*climb.name)?))).collect()
}

/// Names that jobs gave or took away by renaming.
fn renamed(steps: &[Step], log: &EventLog, commands: &Commands<'_>) -> BTreeSet<Arc<str>> {
    let is_of_job = |number: usize| {
        commands.programs.of_step[number].is_some_and(|program| commands.of_program(program).is_some())
    };
    let steps = steps.iter().enumerate();
    let renames = steps.filter(|(number, step)| step.action == JobAction::Rename && is_of_job(*number));
    let paths = renames.flat_map(|(_, step)| [step.path.get(), step.path2.get()]).flatten();
    paths.map(|path| name(log.names(), path).clone()).collect()
}

impl Writer<'_> {
    /// Files of before that were seen under several names, at one time or one after the other.
    fn of_several_names(&self) -> BTreeSet<FileId> {
        let mut names: BTreeMap<FileId, BTreeSet<PathId>> = BTreeMap::new();
        let is_old = |birth: Option<i64>| birth.is_some_and(|birth| birth < self.origin.0);
        for (number, file) in self.log.distinct_files().iter().enumerate() {
            if file.numbered && is_old(file.birth) {
                let root = self.labels.root(FileId(number as u32));
                names.entry(root).or_default().extend(file.names.iter().map(|name| name.path));
            }
        }
        names.into_iter().filter(|(_, names)| names.len() > 1).map(|(file, _)| file).collect()
    }

    /// All numbers of files of before that had several names at a time.
    fn shared(&self) -> Vec<FileId> {
        let files = self.log.distinct_files().iter().enumerate();
        let old = files.filter(|(_, file)| file.birth.is_some_and(|birth| birth < self.origin.0));
        let old = old.map(|(number, _)| FileId(number as u32));
        old.filter(|file| self.several.contains(&self.labels.root(*file))).collect()
    }

    /// What a file is called in messages: by a name that it had before the recording, if it is known.
    fn first_name(&self, file: FileId) -> Option<PathId> {
        let names = self.log.distinct_files().get(file.index()).map(|file| file.names.as_slice());
        let mut paths = names.unwrap_or_default().iter().map(|name| name.path);
        let was_there =
            |path: &PathId| self.names.get(path).is_some_and(|history| history.there_before || history.older);
        paths.find(was_there).or_else(|| self.labels.a_name(file))
    }

    fn step(&mut self, number: usize, step: &Step, program: ProgramId, who: Who) {
        let Some(path) = step.path.get() else { return };
        // Directories and links are entries, too, though they are no files.
        let entries = match step.action {
            JobAction::Rename => [Some(path), step.path2.get()],
            JobAction::Remove | JobAction::Symlink => [Some(path), None],
            _ => [None, None],
        };
        for entry in entries.into_iter().flatten() {
            self.in_directory(who, entry);
        }
        let file = self.labels.known(step.file, path);
        if let Some(called) = self.renamed(step, path, file) {
            return self.through_descriptor(who, step, file, called);
        }
        // Names that the call takes away.
        let lost = match step.action {
            JobAction::Remove => self.labels.file(path),
            JobAction::Rename => step.path2.get().and_then(|target| self.labels.file(target)),
            _ => None,
        };
        let nameless = file.is_some_and(|file| self.labels.is_nameless(file));
        self.labels.follow(step);
        if let Some(file) = file.filter(|_| self.labels.with_others(path).len() > 1) {
            self.several.insert(file);
        }
        self.count(who, lost.filter(|lost| step.action == JobAction::Remove || file != Some(*lost)));
        if step.action == JobAction::Remove {
            self.count_unknown(who, path, lost);
        }
        match step.action {
            JobAction::Open(mode) if mode.nameless => {}
            JobAction::Open(mode) if mode.directory => self.look(who, path, file, true),
            JobAction::Open(mode) => {
                if self.counts_when_open[program.index()] && !mode.write {
                    self.look_at_count(who, &Step { fd: None, ..*step }, program, file);
                }
                self.open(number, step, mode, who, path);
            }
            JobAction::Exec => {
                self.read(who, path, file, 0);
                // The kernel opens the one of a `#!` line; no call tells.
                if let Some(interpreter) =
                    self.interpreters.get(&program).copied().filter(|interpreter| *interpreter != path)
                {
                    self.read(who, interpreter, None, 0);
                }
            }
            JobAction::Read => self.read(who, path, file, step.bytes),
            JobAction::Write if self.programs.opened.contains(&path) => {
                self.wrote(who, path, file, step.bytes, Before::There);
                self.grow(path, step.end);
            }
            JobAction::Copy => {
                self.read(who, path, file, step.bytes);
                self.copied(who, step);
            }
            JobAction::Change => {
                self.wrote(who, path, file, 0, Before::There);
                self.grow(path, None);
            }
            // Who makes a file's contents is not the manager that sets its times and permissions.
            JobAction::Times if who.is_none() => {}
            JobAction::Mode(_) if who.is_none() => drop(self.permitted.insert(path)),
            JobAction::Mode(_) => {
                self.attribute(who, path);
                let modified = self.modified(path);
                self.set_attributes(who, path, file);
                self.names.entry(path).or_default().modified = modified;
                self.grow(path, None);
            }
            JobAction::Times => {
                // The time of a directory changes with what is in it.
                if self.altered.contains_key(name(self.log.names(), path)) {
                    self.list(who, path);
                }
                if self.hides(path) && self.asked.sets(program) {
                    self.attribute(who, path);
                }
                self.set_attributes(who, path, file);
                let own = self.modified(path);
                if let Some(set) = self.asked.set(program, path, own, self.log.names()) {
                    self.names.entry(path).or_default().modified = set;
                }
            }
            JobAction::Missing => self.look(who, path, None, false),
            JobAction::Tried => {
                let is_there = self.names.get(&path).is_some_and(|history| history.exists == Some(true));
                self.look(who, path, None, is_there);
            }
            JobAction::Look => self.look(who, path, file, true),
            JobAction::Hindered => {
                if let Some(job) = who.filter(|_| !self.hidden.is_of_system(path)) {
                    self.stages.hinders(path, job);
                }
            }
            JobAction::Stat => {
                if let (Some(job), true) =
                    (who, self.keeps_attributes[program.index()] && self.attributed.contains(&path))
                {
                    self.stages.read(Thing::Attributes(path), job, LookupOutcome::There);
                }
                self.look(who, path, file, true);
                self.look_at_count(who, step, program, file);
                match self.altered.get(name(self.log.names(), path)).copied() {
                    Some(altered) => self.asked.ask(program, path, true, altered),
                    None if self.hides(path) => {}
                    None => self.asked.ask(program, path, false, self.modified(path)),
                }
            }
            JobAction::Remove => self.remove(who, path),
            JobAction::RemoveDirectory => self.remove_directory(who, path),
            JobAction::Rename => {
                if let Some(target) = step.path2.get() {
                    self.moves(who, path);
                    if step.exchanges {
                        self.moves(who, target);
                        self.exchange(who, path, target);
                    } else {
                        if let Some(job) = who {
                            self.stages.renamed_to([path, target], job);
                        }
                        self.rename(who, path, target);
                    }
                }
            }
            JobAction::Link => {
                if !nameless {
                    self.moves(who, path);
                    self.named(who, path, 0);
                    self.count(who, file);
                    self.count_unknown(who, path, file);
                }
                if let Some(target) = step.path2.get() {
                    self.renew(who, target, 0, Before::Gone);
                    self.stages.links(Thing::Name(target));
                    let length =
                        self.names.get(&path).filter(|known| known.written).and_then(|known| known.length);
                    let modified = self.modified(path);
                    // It may be the last name that the file keeps.
                    let is_kept =
                        !nameless && who.is_some() && !self.hides(target) && self.lost.contains(&path);
                    let is_kept = is_kept && self.stages.is_old(Thing::Name(path));
                    if is_kept {
                        self.stages.holds_old(Thing::Name(target));
                    }
                    let history = self.names.entry(target).or_default();
                    (history.length, history.modified, history.moved) = (length, modified, is_kept);
                }
            }
            JobAction::Symlink | JobAction::Fifo => {
                self.opens = Some(How::Made);
                self.wrote(who, path, file, 0, Before::Gone);
                if step.action == JobAction::Fifo {
                    // No workflow system can tell by it whether its job was run.
                    self.names.entry(path).or_default().modified.set = true;
                }
                if let Some(target) = step.path2.get() {
                    self.stages.links(Thing::Name(path));
                    self.link(path, name(self.log.names(), target).clone());
                }
            }
            JobAction::MakeDirectory(mode) => {
                let itself = who.is_none() || self.programs.get(program).is_redone();
                if itself && mode.is_none() {
                    self.made_by_managers.insert(name(self.log.names(), path).clone());
                }
                self.make_directory(who, path);
            }
            JobAction::List => {
                self.list(who, path);
                if self.sees_hidden[program.index()] {
                    self.list_hidden(who, path);
                }
            }
            JobAction::Write
            | JobAction::Fork
            | JobAction::Pipe { .. }
            | JobAction::Dup { .. }
            | JobAction::CloseOnExec
            | JobAction::Close
            | JobAction::Seek
            | JobAction::Kill
            | JobAction::Umask(_)
            | JobAction::Accept => {}
        }
    }

    fn hides(&self, path: PathId) -> bool {
        self.other || self.hidden.hides(path)
    }

    /// What the file behind a descriptor is called, if it is not what it was opened as.
    fn renamed(&self, step: &Step, path: PathId, file: Option<FileId>) -> Option<Called> {
        let by_descriptor = step.fd.is_some()
            && matches!(
                step.action,
                JobAction::Read
                    | JobAction::Write
                    | JobAction::Copy
                    | JobAction::Change
                    | JobAction::Mode(_)
                    | JobAction::Times
                    | JobAction::Look
                    | JobAction::Stat
            );
        let called = file.filter(|_| by_descriptor).map(|file| self.labels.called(path, file))?;
        Some(called).filter(|called| *called != Called::Same)
    }

    /// What is done to a file that lost the name by which it was opened: only its contents tell who waits for whom.
    fn through_descriptor(&mut self, who: Who, step: &Step, file: Option<FileId>, called: Called) {
        match step.action {
            JobAction::Write | JobAction::Change => {
                self.write_contents(who, file);
                if let Called::Other(path) = called {
                    self.grow(path, step.end.filter(|_| step.action == JobAction::Write));
                    if let (Some(job), Some(history)) = (who, self.names.get_mut(&path)) {
                        history.modified.last = Some((self.span.1, job));
                    }
                }
            }
            JobAction::Mode(_) if who.is_some() => self.write_contents(who, file),
            JobAction::Times if who.is_some() => self.write_contents(who, file),
            JobAction::Mode(_) | JobAction::Times => {}
            _ => self.read_contents(who, file),
        }
        if step.action == JobAction::Copy {
            self.copied(who, step);
        }
    }

    /// The end of a copy.
    fn copied(&mut self, who: Who, step: &Step) {
        let Some(target) = step.path2.get().filter(|target| self.programs.opened.contains(target)) else {
            return;
        };
        let file = self.labels.known(step.file2, target);
        let called = file.map_or(Called::Same, |file| self.labels.called(target, file));
        if called == Called::Same {
            self.wrote(who, target, file, step.bytes, Before::There);
            self.grow(target, None);
        } else {
            let write = Step { action: JobAction::Write, end: None, ..*step };
            self.through_descriptor(who, &write, file, called);
        }
    }

    /// The job needs who wrote what is in the file.
    fn read_contents(&mut self, who: Who, file: Option<FileId>) {
        if let (Some(job), Some(file)) = (who, file) {
            if self.linked.contains(&file) {
                self.stages.read(Thing::Contents(file), job, LookupOutcome::Used);
            }
            self.contents.entry(file).or_default().read(job, self.span, &mut self.needs);
        }
    }

    /// The job needs who read or wrote what was in the file.
    fn write_contents(&mut self, who: Who, file: Option<FileId>) {
        match (who, file) {
            (Some(job), Some(file)) => {
                if self.linked.contains(&file) {
                    let how = if self.permits { How::Permitted } else { How::Changed };
                    let how = self.opens.unwrap_or(how);
                    self.stages.write(Thing::Contents(file), job, how, None);
                }
                self.contents.entry(file).or_default().write(job, self.span, &mut self.needs);
            }
            (None, Some(file)) => {
                self.contents.remove(&file);
                if self.linked.contains(&file) {
                    self.stages.by_manager(Thing::Contents(file));
                }
            }
            _ => {}
        }
    }

    /// A manager's open is the action of the command that got it.
    fn open(&mut self, number: usize, step: &Step, mode: OpenMode, who: Who, path: PathId) {
        let user =
            self.programs.open_of_step.get(&number).and_then(|open| self.together.opened_for.get(open));
        let who = who.or_else(|| user.and_then(|head| self.together.of_head.get(*head as usize).copied()));
        let file = self.labels.known(step.file, path);
        // A lock is made if it is not there, and opened to read; where nothing tells its birth, nobody needs it beforehand.
        let birth =
            file.and_then(|file| self.log.distinct_files().get(file.index())).and_then(|file| file.birth);
        let is_lock = mode.create && !mode.write && birth.is_none() && !self.names.contains_key(&path);
        if is_lock {
            self.wrote(who, path, file, 0, Before::Unknown);
        } else if !(mode.write || mode.create && self.is_new(step, path)) {
            self.read(who, path, file, 0);
        } else if mode.truncate || mode.exclusive || mode.create && self.is_new(step, path) {
            let was_there = mode.truncate && (!mode.create || self.is_old(step));
            let history = self.names.entry(path).or_default();
            history.older |= was_there && history.exists.is_none();
            self.opens = Some(if mode.truncate && !mode.exclusive { How::Emptied } else { How::Made });
            self.wrote(who, path, file, 0, Before::Gone);
        } else if mode.create {
            let is_old = self.is_old(step);
            let history = self.names.entry(path).or_default();
            history.older |= is_old && history.exists.is_none();
            self.wrote(who, path, file, 0, Before::Unknown);
        }
    }

    /// Whether an open that makes files made this one: the file was made in the recording, and by nobody before.
    fn is_new(&self, step: &Step, path: PathId) -> bool {
        let history = self.names.get(&path);
        if let Some(exists) = history.and_then(|history| history.exists) {
            return !exists;
        }
        let file = step.file.get().and_then(|file| self.log.distinct_files().get(file.index()));
        let begun = self.origin.0.saturating_sub(JUST);
        history.is_some_and(|history| history.missed)
            || file.and_then(|file| file.birth).is_some_and(|birth| birth >= begun)
    }

    /// Whether the file is known to have been there before the recording.
    fn is_old(&self, step: &Step) -> bool {
        let file = step.file.get().and_then(|file| self.log.distinct_files().get(file.index()));
        let surely = self.origin.0.saturating_sub(COARSE);
        file.and_then(|file| file.birth).is_some_and(|birth| birth < surely)
    }

    /// The job asked whether the name is there: it must find it as it did.
    fn look(&mut self, who: Who, path: PathId, file: Option<FileId>, found: bool) {
        let Some(job) = who else { return };
        if self.hides(path) {
            // A directory is no file of the workflow, but a link that leads to it is.
            if !self.hidden.is_of_system(path) {
                self.other_names(job, path, false);
            }
            return;
        }
        self.read_contents(who, file);
        if let Some((_, turns)) = self.made.get_mut(name(self.log.names(), path)) {
            turns.read(job, self.span, &mut self.needs);
        }
        self.other_names(job, path, false);
        let history = self.names.entry(path).or_default();
        history.older |= found && history.exists.is_none();
        history.missed = !found;
        history.turns.read(job, self.span, &mut self.needs);
        self.stages.read(
            Thing::Name(path),
            job,
            if found { LookupOutcome::There } else { LookupOutcome::Missing },
        );
    }

    /// The job looked at the number of the file's names: it must find as many. That of a directory counts those in it.
    fn look_at_count(&mut self, who: Who, step: &Step, program: ProgramId, file: Option<FileId>) {
        let counting = self.counting[program.index()];
        let (Some(job), Some(file), None) = (who, file, step.fd) else { return };
        if counting == Counting::No {
            return;
        }
        if let (Some(path), Counting::Yes) = (step.path.get(), counting) {
            self.stages.list(path, job);
            self.list(who, path);
            self.list_hidden(who, path);
        }
        self.stages.read(Thing::Count(file), job, LookupOutcome::Used);
        let doer = self.doer(job);
        let count = self.counted.entry(file).or_default();
        count.lookers.push(doer);
        let changers: Vec<Doer> = count.changes.iter().map(|(_, doer)| *doer).collect();
        self.needs.extend(over(&changers, job, self.span.0));
        let birth = self.log.distinct_files().get(file.index()).and_then(|file| file.birth);
        if birth.is_none_or(|birth| birth < self.origin.0) {
            let is_known = self.has_inode(file);
            let (lookers, changers) = &mut self.counted_before;
            if lookers.last() != Some(&(doer, is_known)) {
                lookers.push((doer, is_known));
                self.needs.extend(over(&may_be_same(changers, is_known), job, self.span.0));
            }
        }
    }

    /// The file has one name more or less: who looked at their number before is waited for.
    fn count(&mut self, who: Who, file: Option<FileId>) {
        let (Some(job), Some(file)) = (who, file) else { return };
        self.stages.write(Thing::Count(file), job, How::Made, None);
        let doer = self.doer(job);
        let count = self.counted.entry(file).or_default();
        self.needs.extend(over(&count.lookers, job, self.span.0));
        count.changes.push((self.span.0, doer));
    }

    /// Whether it is known which file of the file system it is.
    fn has_inode(&self, file: FileId) -> bool {
        self.log.distinct_files().get(file.index()).is_some_and(|file| file.inode.is_some())
    }

    /// A name is removed, or its file gets another one, that was there before: one of any file, if it is not known which one it is, or
    /// which one others looked at.
    fn count_unknown(&mut self, who: Who, path: PathId, lost: Option<FileId>) {
        let is_made = |history: &NameHistory| {
            history.written && !history.there_before && !history.older && !history.perhaps_older
        };
        let made = self.names.get(&path).is_some_and(is_made);
        let (Some(job), false) = (who, made || self.hides(path)) else { return };
        let change = (self.doer(job), lost.is_some_and(|lost| self.has_inode(lost)));
        let (lookers, changers) = &mut self.counted_before;
        self.needs.extend(over(&may_be_same(lookers, change.1), job, self.span.0));
        if changers.last() != Some(&change) {
            changers.push(change);
        }
    }

    /// The file also goes by other names: whoever waits for one of them waits for all.
    fn other_names(&mut self, job: u32, path: PathId, writes: bool) {
        let mut others = Vec::new();
        let mut ways = Vec::new();
        // A name of a trail may be as it was given or with its links resolved: both the links on its way and those that
        // lead to a part of it are waited for, and those that lead to them.
        let whole = Some((name(self.log.names(), path).clone(), false));
        // With each, whether it is what a link leads to of which only the link itself is met.
        let mut called: Vec<(Arc<str>, bool)> =
            whole.filter(|_| !self.targets.is_empty()).into_iter().collect();
        let mut at = 0;
        while let Some((whole, is_behind)) = called.get(at).cloned() {
            let mut rest = Some(&*whole);
            while let Some(part) = rest {
                let behind = &whole[part.len()..];
                let mut names: Vec<(Arc<str>, bool)> = Vec::new();
                let links = self.links.get(part).map(Vec::as_slice).unwrap_or_default();
                ways.extend_from_slice(links);
                let room = MOST_NAMES.saturating_sub(called.len());
                for link in links.iter().take(room) {
                    names.push((format!("{}{behind}", name(self.log.names(), *link)).into(), is_behind));
                }
                if let Some((link, target)) = self.targets.get(part) {
                    ways.push(*link);
                    let target = format!("{target}{behind}");
                    let is_met = self.action.is_of_link() && (is_behind || behind.is_empty());
                    let other = self.labels.number(&target);
                    let other = other.filter(|other| others.iter().all(|(known, _)| known != other));
                    others.extend(other.map(|other| (other, is_met)));
                    names.push((target.into(), is_met));
                }
                names.retain(|(name, _)| called.iter().all(|(known, _)| known != name));
                names.truncate(room);
                called.extend(names);
                rest = part.rsplit_once('/').map(|(parent, _)| parent).filter(|parent| !parent.is_empty());
            }
            at += 1;
        }
        ways.sort();
        ways.dedup();
        ways.retain(|link| *link != path);
        others.retain(|(other, _)| *other != path);
        for (other, is_met) in others {
            let writes = writes && !is_met;
            let found = if is_met || matches!(self.action, JobAction::Missing | JobAction::Tried) {
                LookupOutcome::Perhaps
            } else {
                LookupOutcome::Used
            };
            if writes {
                self.stages.write(Thing::Name(other), job, How::Changed, None);
            } else {
                self.stages.read(Thing::Name(other), job, found);
            }
            let turns = &mut self.names.entry(other).or_default().turns;
            if writes {
                turns.write(job, self.span, &mut self.needs);
            } else {
                turns.read(job, self.span, &mut self.needs);
            }
        }
        for link in ways {
            self.stages.read(Thing::Name(link), job, LookupOutcome::Used);
            self.names.entry(link).or_default().turns.read(job, self.span, &mut self.needs);
        }
    }

    fn link(&mut self, path: PathId, target: Arc<str>) {
        let names = self.log.names();
        self.links.entry(target.clone()).or_default().push(path);
        self.targets.insert(name(names, path).clone(), (path, target));
        self.names.entry(path).or_default().link = true;
    }

    /// The name is no symbolic link any more; what it led to.
    fn unlink(&mut self, path: PathId) -> Option<Arc<str>> {
        let (_, target) = self.targets.remove(name(self.log.names(), path))?;
        if let Some(links) = self.links.get_mut(&target) {
            links.retain(|link| *link != path);
        }
        Some(target)
    }

    fn read(&mut self, who: Who, path: PathId, file: Option<FileId>, bytes: u64) {
        if !self.hides(path) {
            self.of_managers.extend(Some(path).filter(|_| who.is_none()));
            self.read_contents(who, file);
            self.named(who, path, bytes);
        }
    }

    /// The job used the name: it needs who made it.
    fn named(&mut self, who: Who, path: PathId, bytes: u64) {
        let (Some(job), false) = (who, self.hides(path)) else { return };
        self.other_names(job, path, false);
        let history = self.names.entry(path).or_default();
        history.from_manager |= history.by_manager && history.turns.writer().is_none();
        let own = history.turns.writer() == Some(job);
        history.turns.read(job, self.span, &mut self.needs);
        history.there_before |= history.exists.is_none();
        self.stages.read(Thing::Name(path), job, LookupOutcome::Used);
        let used = usage(&mut history.uses, job);
        used.input |= !own;
        used.read = used.read.saturating_add(bytes);
    }

    fn wrote(&mut self, who: Who, path: PathId, file: Option<FileId>, bytes: u64, before: Before) {
        if !self.hides(path) {
            self.write_contents(who, file);
            self.renew(who, path, bytes, before);
            for name in self.labels.with_others(path).into_iter().filter(|_| before == Before::Gone) {
                if let Some(history) = self.names.get_mut(&name) {
                    history.length = Some(0);
                }
            }
        }
    }

    /// Who asks for permissions finds those that the job sets from now on.
    fn attribute(&mut self, who: Who, path: PathId) {
        if let (Some(job), false) = (who, self.hidden.is_of_system(path)) {
            self.stages.write(Thing::Attributes(path), job, How::Permitted, Some(true));
        }
    }

    /// Permissions or times are set. A directory that was made is no file because of that.
    fn set_attributes(&mut self, who: Who, path: PathId, file: Option<FileId>) {
        let Some((_, turns)) = self.made.get_mut(name(self.log.names(), path)) else {
            return self.wrote(who, path, file, 0, Before::There);
        };
        let Some(job) = who else { return };
        turns.read(job, self.span, &mut self.needs);
        self.in_directory(who, path);
        self.other_names(job, path, true);
        let how = if self.permits { How::Permitted } else { How::Changed };
        self.stages.write(Thing::Name(path), job, how, Some(true));
        self.names.entry(path).or_default().turns.write(job, self.span, &mut self.needs);
    }

    /// What is under that name is the job's from now on.
    fn renew(&mut self, who: Who, path: PathId, bytes: u64, file: Before) {
        if self.hides(path) {
            return;
        }
        self.in_directory(who, path);
        if let Some(job) = who {
            self.other_names(job, path, true);
        }
        let history = self.names.entry(path).or_default();
        let existed = history.exists.replace(true);
        let older = existed.or(Some(true).filter(|_| history.older || history.there_before));
        let older = older.or(Some(false).filter(|_| self.is_new));
        let how = match file {
            Before::Gone => self.opens.unwrap_or(How::Made),
            Before::Unknown if older == Some(false) => How::Made,
            Before::There if self.permits => How::Permitted,
            Before::Unknown | Before::There => How::Changed,
        };
        match who {
            Some(job) => {
                self.stages.write(Thing::Name(path), job, how, older);
                if older.is_none() && history.perhaps_older {
                    self.stages.may_replace(Thing::Name(path));
                }
            }
            None => self.stages.by_manager(Thing::Name(path)),
        }
        history.written = true;
        history.modified.last = who.map(|job| (self.span.1, job));
        if file == Before::Gone {
            history.length = Some(0);
            (history.modified.set, history.moved) = (false, false);
        }
        let Some(job) = who else {
            history.by_manager = true;
            history.turns = Turns::default();
            return;
        };
        let previous = history.turns.write(job, self.span, &mut self.needs);
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

    fn modified(&self, path: PathId) -> Modified {
        self.names.get(&path).map(|history| history.modified).unwrap_or_default()
    }

    /// The file reaches to that offset at least; `None`: it may have any length now.
    fn grow(&mut self, path: PathId, end: Option<i64>) {
        for name in self.labels.with_others(path) {
            if let Some(history) = self.names.get_mut(&name) {
                history.length = history.length.zip(end).map(|(length, end)| length.max(end));
            }
        }
    }

    fn remove(&mut self, who: Who, path: PathId) {
        if self.hides(path) {
            return;
        }
        self.in_directory(who, path);
        self.unlink(path);
        if let Some(job) = who {
            self.other_names(job, path, false);
        }
        let history = self.names.entry(path).or_default();
        // What nobody made could be removed because it was there before.
        let older = history.exists.replace(false).or(Some(true));
        let Some(job) = who else { return self.stages.by_manager(Thing::Name(path)) };
        self.stages.write(Thing::Name(path), job, How::Removed, older);
        history.turns.write(job, self.span, &mut self.needs);
        let used = usage(&mut history.uses, job);
        used.removed = true;
        used.input |= !used.output;
    }

    /// Who opens a file by another name uses the links on the way, which may be of before.
    fn through_links(&mut self, number: usize, step: &Step, who: Who) {
        let (Some(via), Some(path)) = (self.log.names().flags(step.via), step.path.get()) else { return };
        let Some(job) = who.or_else(|| Some(self.commands.of_opened(number)?.job)) else { return };
        let text = name(self.log.names(), path);
        let ways = std::iter::successors(Some(via), |way| parent(way));
        for way in ways.take_while(|way| !is_at(text, way)) {
            if let Some(link) = self.labels.number(way) {
                self.stages.read(Thing::Name(link), job, LookupOutcome::Used);
                self.names.entry(link).or_default().turns.read(job, self.span, &mut self.needs);
            }
        }
    }

    /// The names that the step renames, or the directory that it removes, that hold what was there before the recording.
    fn old_ones_of(&self, step: &Step) -> Vec<PathId> {
        let both = [step.path.get(), step.path2.get()].into_iter().flatten();
        let takes = matches!(step.action, JobAction::Rename | JobAction::RemoveDirectory);
        both.filter(|path| takes && self.stages.is_old(Thing::Name(*path))).collect()
    }

    /// Whether the name held, when the step under way began, what was there before the recording.
    fn holds_old(&self, path: PathId) -> bool {
        self.old_ones.contains(&path) || self.stages.is_old(Thing::Name(path))
    }

    /// Directories that are made, renamed or removed: who uses what is in them, or does that.
    fn in_places(&mut self, number: usize, step: &Step, who: Who) {
        if self.places.is_empty()
            || matches!(step.action, JobAction::Read | JobAction::Write | JobAction::Copy | JobAction::Close)
        {
            return;
        }
        let who = who.or_else(|| Some(self.commands.of_opened(number)?.job));
        let second = step.path2.get().filter(|_| matches!(step.action, JobAction::Rename | JobAction::Link));
        for (is_second, path) in
            step.path.get().map(|path| (false, path)).into_iter().chain(second.map(|path| (true, path)))
        {
            let text = name(self.log.names(), path).clone();
            if let Some(place) = self.places.get(&text).copied() {
                self.at_place(step, who, place, is_second);
            }
            let mut rest: &str = &text;
            while let Some((parent, _)) = rest.rsplit_once('/').filter(|(parent, _)| !parent.is_empty()) {
                if let (Some(place), Some(job)) = (self.places.get(parent), who) {
                    let found =
                        if matches!(step.action, JobAction::Missing | JobAction::Tried | JobAction::Hindered)
                        {
                            LookupOutcome::Perhaps
                        } else {
                            LookupOutcome::Used
                        };
                    self.stages.read(Thing::Name(*place), job, found);
                }
                rest = parent;
            }
        }
    }

    fn at_place(&mut self, step: &Step, who: Who, place: PathId, is_second: bool) {
        let thing = Thing::Name(place);
        let found = match step.action {
            JobAction::MakeDirectory(_) => Err(How::Made),
            JobAction::RemoveDirectory => Err(How::Removed),
            // Each must be there, and is another one then.
            JobAction::Rename if step.exchanges => Err(How::Changed),
            JobAction::Rename if is_second => Err(How::Made),
            JobAction::Rename => Err(How::Removed),
            JobAction::Missing => Ok(LookupOutcome::Missing),
            JobAction::Tried | JobAction::Hindered => Ok(LookupOutcome::Perhaps),
            JobAction::Look | JobAction::Stat | JobAction::List => Ok(LookupOutcome::There),
            JobAction::Open(mode) if mode.directory => Ok(LookupOutcome::There),
            // It is a file then.
            _ => return,
        };
        self.stages.is_directory(thing);
        match (found, who) {
            (Ok(found), Some(job)) => self.stages.read(thing, job, found),
            (Err(how), Some(job)) => {
                let older = match how {
                    How::Removed => Some(true),
                    _ => Some(false).filter(|_| self.is_new),
                };
                self.stages.write(thing, job, how, older);
                self.stages.is_made_directory(thing);
                if how == How::Made && self.needs_free {
                    self.stages.was_free(thing);
                }
                let from = step.path.get().filter(|_| how == How::Made && step.action == JobAction::Rename);
                if from.is_some_and(|from| self.old_ones.contains(&from)) {
                    self.stages.holds_old(thing);
                }
            }
            (Err(_), None) => self.stages.by_manager(thing),
            (Ok(_), None) => {}
        }
        if matches!(found, Err(How::Made | How::Changed)) {
            let text = name(self.log.names(), place).clone();
            self.stages.born(text, who, step.action == JobAction::Rename);
        }
    }

    fn make_directory(&mut self, who: Who, path: PathId) {
        self.in_directory(who, path);
        let text = name(self.log.names(), path).clone();
        let mut turns = self.names.get(&path).map(|history| history.turns.clone()).unwrap_or_default();
        if let Some(job) = who {
            turns.write(job, self.span, &mut self.needs);
        }
        self.made.insert(text, (who, turns));
    }

    fn remove_directory(&mut self, who: Who, path: PathId) {
        self.in_directory(who, path);
        let text = name(self.log.names(), path).clone();
        self.altered.remove(&text);
        let Some(job) = who else {
            self.made.remove(&text);
            return;
        };
        if let Some((_, mut turns)) = self.made.remove(&text) {
            let is_listed =
                self.listed.get(&text).is_some_and(|doers| doers.iter().any(|doer| doer.job == job));
            if is_listed && !self.old_ones.contains(&path) {
                self.stages.clear(path, job);
            }
            turns.write(job, self.span, &mut self.needs);
            self.names.entry(path).or_default().turns = turns;
        }
        self.needs_users_of(&text, job);
    }

    /// Who removes or moves a directory needs all who changed its entries or listed it.
    fn needs_users_of(&mut self, directory: &str, job: u32) {
        let users =
            [&self.changed, &self.listed].into_iter().filter_map(|users| users.get(directory)).flatten();
        self.needs.extend(users.filter(|user| user.job != job).map(|user| (job, user.job)));
    }

    /// A job in the command that does the step under way.
    fn doer(&self, job: u32) -> Doer {
        Doer { job, until: self.until }
    }

    fn rename(&mut self, who: Who, from: PathId, to: PathId) {
        let names = self.log.names();
        let old = name(names, from).clone();
        let within = format!("{old}/");
        let here = |history: &NameHistory| history.exists != Some(false) && !history.uses.is_empty();
        let inside: Vec<PathId> = self
            .names
            .iter()
            .filter(|(path, history)| name(names, **path).starts_with(&within) && here(history))
            .map(|(path, _)| *path)
            .collect();
        let made: Vec<Arc<str>> =
            self.made.keys().filter(|path| path.starts_with(&within)).cloned().collect();
        if !self.made.contains_key(&old) && inside.is_empty() {
            self.moves_unused_directory(who, from, to);
            if made.is_empty() {
                return self.rename_file(who, from, to);
            }
        }
        let new = name(names, to).clone();
        self.renamed.extend([old.clone(), new.clone()]);
        let moved = |path: &str| format!("{new}/{}", &path[within.len()..]);
        // The directory is no file, but what is in it may be.
        self.other = false;
        if let Some(altered) = self.altered.remove(&old) {
            self.altered.insert(new.clone(), altered);
        }
        self.in_directory(who, from);
        self.in_directory(who, to);
        for path in inside {
            self.rename_inside(who, path, moved(name(names, path)));
        }
        let unmentioned: Vec<Arc<str>> =
            self.unmentioned.keys().filter(|path| path.starts_with(&within)).cloned().collect();
        for path in unmentioned {
            let old = self.unmentioned.remove(&path).unwrap_or_default();
            let target = moved(&path);
            match self.labels.number(&target) {
                Some(known) => {
                    self.renew(who, known, 0, Before::Gone);
                    if old && who.is_some() {
                        self.stages.holds_old(Thing::Name(known));
                    }
                }
                None => self.carry(who, target.into(), old),
            }
        }
        let old_turns = self.made.remove(&old).map(|(_, turns)| turns).unwrap_or_default();
        for (path, target) in made
            .iter()
            .map(|path| (path, Arc::from(moved(path))))
            .chain([(&old, new.clone())])
            .collect::<Vec<_>>()
        {
            let mut turns = self.made.remove(path).map_or_else(|| old_turns.clone(), |(_, turns)| turns);
            if let Some(job) = who {
                turns.write(job, self.span, &mut self.needs);
                if *path != old {
                    if let Some(place) = self.places.get(&**path).copied() {
                        self.stages.write(Thing::Name(place), job, How::Removed, Some(true));
                        self.stages.is_made_directory(Thing::Name(place));
                    }
                    let made = Made { path: target.clone(), is_directory: true, ..Made::default() };
                    self.stages.carry(job, made);
                }
            }
            self.made.insert(target, (who, turns));
        }
        if let Some(job) = who {
            self.needs_users_of(&old, job);
        }
    }

    /// A directory of before of whose files nothing is known: where nothing moves it back, its new name is not free again.
    fn moves_unused_directory(&mut self, who: Who, from: PathId, to: PathId) {
        if !self.other || self.hidden.is_of_system(to) {
            return;
        }
        self.moved_away.insert(from);
        let Some(job) = who.filter(|_| !self.moved_away.contains(&to)) else { return };
        let path = name(self.log.names(), to).clone();
        self.stages.carry(job, Made { path, clear: true, moved: true, ..Made::default() });
    }

    /// Each of two names is that of what the other one was: of files, or of directories with what is in them.
    fn exchange(&mut self, who: Who, one: PathId, other: PathId) {
        let names = self.log.names();
        let texts = [name(names, one).clone(), name(names, other).clone()];
        let here = |history: &NameHistory| history.exists != Some(false) && !history.uses.is_empty();
        // What is in one of them, by the rest of its name.
        let mut inside: BTreeMap<Arc<str>, [Option<PathId>; 2]> = BTreeMap::new();
        for (path, _) in self.names.iter().filter(|(_, history)| here(history)) {
            for (side, text) in texts.iter().enumerate() {
                let rest = name(names, *path).strip_prefix(&**text).filter(|rest| rest.starts_with('/'));
                if let Some(rest) = rest {
                    inside.entry(rest.into()).or_default()[side] = Some(*path);
                }
            }
        }
        let is_made = texts.iter().any(|text| self.made.contains_key(text));
        if !is_made && inside.is_empty() {
            return self.exchange_files(who, one, other);
        }
        self.exchanged.extend(who.map(|job| (job, texts.clone())));
        self.other = false;
        self.in_directory(who, one);
        self.in_directory(who, other);
        for (rest, sides) in inside {
            match sides {
                [Some(one), Some(other)] => self.exchange_files(who, one, other),
                [Some(path), None] => self.rename_inside(who, path, format!("{}{rest}", texts[1])),
                [None, Some(path)] => self.rename_inside(who, path, format!("{}{rest}", texts[0])),
                [None, None] => {}
            }
        }
        let [of_one, of_other] = [0, 1].map(|side| self.take_made(&texts[side]));
        for (made, target) in [(of_one, &texts[1]), (of_other, &texts[0])] {
            for (rest, (_, mut turns)) in made {
                if let Some(job) = who {
                    turns.write(job, self.span, &mut self.needs);
                }
                self.made.insert(format!("{target}{rest}").into(), (who, turns));
            }
        }
        let Some(job) = who else { return };
        for text in &texts {
            self.needs_users_of(text, job);
        }
    }

    /// Takes a directory that was made and those in it away, by the rests of their names.
    fn take_made(&mut self, directory: &str) -> Vec<(String, (Who, Turns))> {
        let rest = |path: &str| {
            path.strip_prefix(directory)
                .filter(|rest| rest.is_empty() || rest.starts_with('/'))
                .map(str::to_owned)
        };
        let paths: Vec<Arc<str>> = self.made.keys().filter(|path| rest(path).is_some()).cloned().collect();
        let taken = paths.into_iter().filter_map(|path| Some((rest(&path)?, self.made.remove(&path)?)));
        taken.collect()
    }

    /// What is in a directory that got another name has another name.
    fn rename_inside(&mut self, who: Who, path: PathId, target: String) {
        match self.labels.number(&target) {
            Some(known) => self.rename_file(who, path, known),
            None => {
                let old = self.stages.is_old(Thing::Name(path));
                self.remove(who, path);
                self.carry(who, target.into(), old);
            }
        }
    }

    fn exchange_files(&mut self, who: Who, one: PathId, other: PathId) {
        let both = [one, other];
        both.iter().for_each(|path| self.named(who, *path, 0));
        let targets = both.map(|path| self.unlink(path));
        let old = both.map(|path| self.holds_old(path));
        let linked = both.map(|path| self.stages.is_linked(Thing::Name(path)));
        let lengths = both.map(|path| self.names.get(&path).and_then(|history| history.length));
        let modified = both.map(|path| self.modified(path));
        both.iter().for_each(|path| self.remove(who, *path));
        for (side, path) in both.into_iter().enumerate() {
            let from = 1 - side;
            self.renew(who, path, 0, Before::Gone);
            if old[from] && who.is_some() && !self.hides(path) {
                self.stages.holds_old(Thing::Name(path));
            }
            if linked[from] {
                self.stages.links(Thing::Name(path));
            }
            if let Some(history) = self.names.get_mut(&path) {
                (history.length, history.modified, history.moved) =
                    (lengths[from], modified[from], old[from]);
            }
            if let Some(target) = targets[from].clone() {
                self.link(path, target);
            }
        }
    }

    /// A file has a name that no call mentions. `old`: it may have been there before the recording.
    fn carry(&mut self, who: Who, path: Arc<str>, old: bool) {
        if let Some(job) = who {
            self.stages.carry(job, Made { path: path.clone(), clear: true, moved: old, ..Made::default() });
        }
        self.unmentioned.insert(path, old);
    }

    fn moves(&mut self, who: Who, path: PathId) {
        if let Some(job) = who {
            self.stages.moves(path, job);
        }
    }

    fn rename_file(&mut self, who: Who, from: PathId, to: PathId) {
        self.named(who, from, 0);
        let target = self.unlink(from);
        self.unlink(to);
        let is_old = self.holds_old(from);
        if let Some(file) = self.labels.file(to).filter(|_| is_old) {
            self.stages.renames(file);
        }
        let is_linked = self.stages.is_linked(Thing::Name(from));
        self.remove(who, from);
        let length = self.names.get(&from).and_then(|history| history.length);
        let modified = self.modified(from);
        self.renew(who, to, 0, Before::Gone);
        if is_old && who.is_some() && !self.hides(to) {
            self.stages.holds_old(Thing::Name(to));
        }
        if is_linked {
            self.stages.links(Thing::Name(to));
        }
        if let Some(history) = self.names.get_mut(&to) {
            (history.length, history.modified, history.moved) = (length, modified, is_old);
        }
        if let Some(target) = target {
            self.link(to, target);
        }
    }

    /// Who makes or deletes an entry needs who made the directory, and who listed it before.
    fn in_directory(&mut self, who: Who, path: PathId) {
        let Some(job) = who else { return };
        let path = name(self.log.names(), path);
        let made = !self.made.is_empty();
        let mut rest: &str = path;
        let mut nearest = true;
        while let Some((parent, _)) =
            rest.rsplit_once('/').filter(|(parent, _)| !parent.is_empty() && (nearest || made))
        {
            if let Some((_, turns)) = self.made.get_mut(parent) {
                turns.read(job, self.span, &mut self.needs);
            }
            if nearest {
                let listed = self.listed.get(parent).map(Vec::as_slice).unwrap_or_default();
                self.needs.extend(over(listed, job, self.span.0));
                let parent: Arc<str> = Arc::from(parent);
                let altered = Modified { last: Some((self.span.1, job)), set: false };
                self.altered.insert(parent.clone(), altered);
                let doer = self.doer(job);
                let doers = self.changed.entry(parent).or_default();
                if doers.last() != Some(&doer) {
                    doers.push(doer);
                }
            }
            (nearest, rest) = (false, parent);
        }
    }

    /// Who lists a directory needs those who changed its entries and were over by then.
    fn list(&mut self, who: Who, path: PathId) {
        let Some(job) = who else { return };
        self.look(who, path, None, true);
        let text = name(self.log.names(), path);
        let changed = self.changed.get(text).map(Vec::as_slice).unwrap_or_default();
        self.needs.extend(over(changed, job, self.span.0));
        let doer = self.doer(job);
        let doers = self.listed.entry(text.clone()).or_default();
        if doers.last() != Some(&doer) {
            doers.push(doer);
        }
    }

    /// What the workflow system keeps in the directory may be counted.
    fn list_hidden(&mut self, who: Who, path: PathId) {
        let Some(job) = who else { return };
        let jobs = self.listed_hidden.entry(name(self.log.names(), path).clone()).or_default();
        if jobs.last() != Some(&job) {
            jobs.push(job);
        }
    }

    /// Those who change a number of names that anybody looks at keep their order.
    fn order_counts(&mut self) {
        for count in self.counted.values().filter(|count| !count.lookers.is_empty()) {
            for pair in count.changes.windows(2) {
                self.needs.extend(over(&[pair[0].1], pair[1].1.job, pair[1].0));
            }
        }
    }

    fn finish(mut self, who: &[Who], starts: &[Option<Timestamp>]) -> History {
        self.order_counts();
        let names = self.log.names();
        let text = |path: PathId| name(names, path).clone();
        let mut stages = std::mem::take(&mut self.stages);
        stages.lost = self.lost.iter().map(|path| text(*path)).collect();
        let mut again = stages.finish(&text, &|file| self.first_name(file));
        again.shared.extend(self.shared());
        let reads = |job: u32, path: PathId| {
            let history = self.names.get(&path);
            history.is_some_and(|history| history.uses.iter().any(|(by, used)| *by == job && used.read > 0))
        };
        let asked = self.asked.follow(self.programs, who, starts, &self.ends, reads);
        self.needs.extend(asked.needs);
        for (path, history) in &mut self.names {
            // Whoever touches a file touches it under all its names.
            let file = self.labels.file(*path);
            let linked = self.labels.with_others(*path).len() > 1
                || file.is_some_and(|file| self.several.contains(&file));
            history.timed = history.modified.set || linked || history.moved || asked.timed.contains(path);
        }
        let only_read =
            |path: &PathId| self.names.get(path).is_none_or(|known| !known.written && known.uses.is_empty());
        let of_managers = self.of_managers.iter().filter(|path| only_read(path));
        let of_managers: BTreeSet<Arc<str>> = of_managers.map(|path| name(names, *path).clone()).collect();
        let mut all: Vec<(Arc<str>, NameHistory)> = self
            .names
            .into_iter()
            .filter(|(_, history)| history.written || !history.uses.is_empty() || history.exists.is_some())
            .map(|(path, history)| (name(names, path).clone(), history))
            .collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        let mut directories: Vec<(Arc<str>, Who)> =
            self.made.into_iter().map(|(path, (who, _))| (path, who)).collect();
        directories.sort();
        let listed = self.listed_hidden;
        let entered = entered(names);
        again
            .looked
            .retain(|(_, path)| !self.hidden.hides(*path) && !entered.contains(&**name(names, *path)));
        let outside = self.programs.wrote_outside.keys().filter(|path| !self.hidden.hides(**path));
        let outside = outside.map(|path| name(names, *path).clone()).collect();
        let permitted = self.permitted.iter().map(|path| name(names, *path).clone());
        let of_jobs = |path: &Arc<str>| {
            let known = all.binary_search_by(|(known, _)| known.cmp(path)).ok();
            known.is_some_and(|at| {
                all[at].1.exists != Some(false) && all[at].1.uses.iter().any(|(_, used)| used.output)
            })
        };
        let permitted = permitted.filter(of_jobs).collect();
        let (time_dependent, perhaps_time_dependent) = (asked.time_dependent, asked.perhaps_time_dependent);
        let made_by_managers = self.made_by_managers;
        History {
            names: all,
            needs: self.needs,
            directories,
            made_by_managers,
            listed,
            outside,
            time_dependent,
            perhaps_time_dependent,
            exchangers: exchangers(&self.exchanged, &self.renamed),
            permitted,
            again,
            of_managers: of_managers.into_iter().collect(),
            renamed: BTreeSet::new(),
        }
    }
}

/// Of more directories, names that come with a renamed directory are not followed.
const MOST_PLACES: usize = 1 << 17;
/// The kernel takes no longer one.
const LONGEST_PATH: usize = 4096;
/// Of more pairs of renames and exchanges it is not looked up which touch each other: they may.
const MOST_PAIRS: usize = 1 << 22;

/// Names that are removed, renamed, or given to something else.
fn lost(steps: &[Step]) -> HashSet<PathId, RandomState> {
    let lost = steps.iter().flat_map(|step| match step.action {
        JobAction::Remove => [step.path.get(), None],
        JobAction::Rename => [step.path.get(), step.path2.get()],
        _ => [None, None],
    });
    lost.flatten().collect()
}

/// Names of directories that are made or removed, and of those that get their names.
fn places(steps: &[Step], log: &EventLog, hidden: &Hidden) -> HashMap<Arc<str>, PathId, RandomState> {
    let names = log.names();
    let mut places: BTreeMap<Arc<str>, Option<PathId>> = BTreeMap::new();
    let made = |step: &&Step| matches!(step.action, JobAction::MakeDirectory(_) | JobAction::RemoveDirectory);
    for path in steps.iter().filter(made).filter_map(|step| step.path.get()) {
        if !hidden.is_of_system(path) {
            places.insert(name(names, path).clone(), Some(path));
        }
    }
    // What has one of the names of a directory may have got it from another one, or give it to another one.
    let renamed = steps.iter().filter(|step| step.action == JobAction::Rename);
    let renamed: Vec<[PathId; 2]> =
        renamed.filter_map(|step| Some([step.path.get()?, step.path2.get()?])).collect();
    let entered = entered(names);
    for path in renamed
        .iter()
        .filter(|both| both.iter().any(|path| entered.contains(&**name(names, *path))))
        .flatten()
    {
        if !hidden.is_of_system(*path) {
            places.insert(name(names, *path).clone(), Some(*path));
        }
    }
    let back = renamed.iter().rev().map(|[from, to]| [*to, *from]);
    for both in renamed.iter().copied().chain(back) {
        let [from, to] = both.map(|path| name(names, path));
        if places.len() < MOST_PLACES && !is_at(to, from) {
            let within: Arc<str> = format!("{from}/").into();
            let below = places.range(within.clone()..).take_while(|(path, _)| path.starts_with(&*within));
            let below = below.map(|(path, _)| format!("{to}/{}", &path[within.len()..]).into());
            let below: Vec<Arc<str>> = below.filter(|path: &Arc<str>| path.len() <= LONGEST_PATH).collect();
            for path in below {
                places.entry(path).or_default();
            }
        }
        if [from, to].iter().any(|path| places.contains_key(*path)) {
            for path in both.into_iter().filter(|path| !hidden.is_of_system(*path)) {
                places.insert(name(names, path).clone(), Some(path));
            }
        }
    }
    if places.values().any(Option::is_none) {
        for (number, path) in names.paths.iter().enumerate() {
            if let Some(unknown @ None) = places.get_mut(path) {
                *unknown = Some(PathId::from_index(number));
            }
        }
    }
    places.into_iter().filter_map(|(path, known)| Some((path, known?))).collect()
}

/// Who exchanged directories that were also renamed, or exchanged otherwise, or with one above or below.
fn exchangers(exchanged: &[(u32, [Arc<str>; 2])], renamed: &[Arc<str>]) -> BTreeSet<u32> {
    if exchanged.len().saturating_mul(exchanged.len() + renamed.len()) > MOST_PAIRS {
        return exchanged.iter().map(|(job, _)| *job).collect();
    }
    let touch = |one: &str, other: &str| is_at(one, other) || is_at(other, one);
    let is_chained = |at: usize, both: &[Arc<str>; 2]| {
        let others = exchanged.iter().enumerate().filter(|(other, _)| *other != at);
        let mut names = others.flat_map(|(_, (_, names))| names).chain(renamed);
        names.any(|name| both.iter().any(|own| touch(own, name)))
    };
    let chained = exchanged.iter().enumerate().filter(|(at, (_, both))| is_chained(*at, both));
    chained.map(|(_, (job, _))| *job).collect()
}

/// Names that others go through.
fn entered(names: &Names) -> HashSet<&str, RandomState> {
    names.paths.iter().filter_map(|path| Some(path.rsplit_once('/')?.0)).collect()
}

/// Those of the others who may have meant the same file, as far as it is known which ones they meant.
fn may_be_same(others: &[(Doer, bool)], is_known: bool) -> Vec<Doer> {
    others.iter().filter(|(_, other)| !(is_known && *other)).map(|(doer, _)| *doer).collect()
}

/// What a job needs of the others in a list: those whose commands were over at that time.
fn over(others: &[Doer], job: u32, at: Timestamp) -> impl Iterator<Item = (u32, u32)> + '_ {
    others
        .iter()
        .filter(move |other| other.job != job && other.is_over(at))
        .map(move |other| (job, other.job))
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
