//! The stages that each name went through: what a job found under it, and what it left.
//!
//! A job may run again only where it finds what it found in the recording. Each job that makes, changes or removes a name
//! begins a stage of it, which lasts until the next job does; the first one was there before the recording. Who read a name in one
//! stage, or changed it there, cannot run in another; who makes it of nothing can, once the name is free again.

use super::reach::reaches;
use super::{JobId, Left, Made, State};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::{FileId, PathId, Timestamp};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What goes through stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Thing {
    /// What has a name: a file, a link, a directory.
    Name(PathId),
    /// What is in a file that has several names.
    Contents(FileId),
    /// How many names a file has.
    Count(FileId),
    /// Who may do what with what has a name; of a directory from before the recording, also its times.
    Attributes(PathId),
}

/// How a stage begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// Emptied, or made of nothing, by an open that does both.
    Emptied,
    /// Made of nothing.
    Made,
    /// What was there goes on.
    Changed,
    /// Only who may do what with it is different.
    Permitted,
    /// It is gone.
    Removed,
}

/// What a job found under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LookupOutcome {
    /// What it used.
    Used,
    /// Something, as it asked for it.
    There,
    Missing,
    /// Whatever there was: it missed a name below, or met a link that leads there.
    Perhaps,
}

#[derive(Clone, Debug, Default)]
struct Stage {
    /// Who began it; nobody the first.
    writer: Option<u32>,
    at: Option<Timestamp>,
    /// Whether the job needed the stage before.
    needs_last: bool,
    /// Whether the job asked for the name before, and it was not there.
    missed: bool,
    /// Whether only permissions changed.
    permitted: bool,
    /// Whether what was there goes on.
    keeps: bool,
    /// Whether there is anything of that name, if it is known.
    exists: Option<bool>,
    /// Whether the job took it away, be it that something has the name again since.
    vanished: bool,
    /// Whether something may have had the name before.
    replaced: bool,
    /// Whether the first thing the job did was to empty it, without asking for it.
    emptied: bool,
    /// Whether it is a directory.
    directory: bool,
    /// Whether it may hold what was there before the recording, under this name or another.
    old: bool,
    /// Whether that came there from another name.
    given: bool,
    /// Whether it is a symbolic link, or another name of a file: who writes to it then writes to something else.
    linked: bool,
    /// Who found it.
    readers: BTreeSet<u32>,
    /// Who only asked for it and found it.
    lookers: BTreeSet<u32>,
    /// Who asked for it, and it was not there.
    missers: BTreeSet<u32>,
    /// Who found whatever there was, while that is not known.
    passers: BTreeSet<u32>,
}

/// A name with all that happened to it.
#[derive(Clone, Debug, Default)]
struct History {
    stages: Vec<Stage>,
    /// When a job first did something to it.
    first: Option<Timestamp>,
    is_directory: bool,
    /// A manager wrote it, which no job does again.
    by_manager: bool,
}

/// How a directory got its name.
#[derive(Clone, Copy, Debug)]
struct Birth {
    at: Timestamp,
    /// A job; nobody if a manager did it.
    by: Option<u32>,
    /// It was renamed, with all that is in it.
    moved: bool,
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct Stages {
    /// When what is told happens.
    pub(crate) now: Timestamp,
    all: HashMap<Thing, History, RandomState>,
    /// Directories that were made or renamed, by their names.
    births: HashMap<Arc<str>, Vec<Birth>, RandomState>,
    /// What went with a directory that a job renamed, by new names.
    carried: Vec<(u32, Made)>,
    /// Directories that were removed by jobs that had listed them.
    cleared: BTreeSet<(u32, PathId)>,
    /// Names that jobs renamed or of whose files they made further names.
    moves: BTreeSet<(u32, PathId)>,
    /// Names that jobs could not use because of what was there, or on the way to it.
    hindered: BTreeSet<(u32, PathId)>,
    /// By job, names that it took away, with those that it gave instead, in the order of time.
    renames: Vec<(u32, [PathId; 2])>,
    /// Files of before that were renamed: to restore them is to give them their names again.
    renamed: BTreeSet<FileId>,
    /// Names that were taken away from what had them, or given to something else: of what was below them before, nothing is known.
    pub(crate) lost: BTreeSet<Arc<str>>,
    /// Who listed which directory when.
    lists: Vec<(PathId, u32, Timestamp)>,
}

/// What jobs must find and what they leave.
#[derive(Debug, Default)]
pub(crate) struct Again {
    /// By thing, what happens to it.
    pub(crate) contested: Vec<Contested>,
    /// By job, what it made.
    pub(crate) made: Vec<(u32, Made)>,
    /// By job, the directories that it listed.
    pub(crate) listed: BTreeSet<(u32, PathId)>,
    /// Names of before that no job changed but in their permissions, by job that found them.
    pub(crate) looked: Vec<(u32, PathId)>,
    /// By job, names that it renamed or of whose files it made further names.
    pub(crate) moves: BTreeSet<(u32, PathId)>,
    /// By job, names that it took away, with those that it gave instead, in the order of time.
    pub(crate) renames: Vec<(u32, [PathId; 2])>,
    /// Names that were given to what was there before the recording, and that it has at the end.
    pub(crate) kept: Vec<PathId>,
    /// By job, directories made in the recording that it removed with what was in them, or looked for in vain.
    pub(crate) cleared: BTreeSet<(u32, PathId)>,
    /// Names that jobs looked for in vain and that nobody made, or could not use because of what was there, by job.
    pub(crate) missed: Vec<(u32, PathId)>,
    /// Files with several names that jobs changed.
    pub(crate) shared: Vec<FileId>,
    /// Names of files that jobs changed, by job that found them.
    pub(crate) met: BTreeSet<(u32, PathId)>,
}

/// A name that jobs found in different stages.
#[derive(Debug)]
pub(crate) struct Contested {
    pub(crate) path: PathId,
    /// What was there before the recording.
    pub(crate) before: Left,
    /// Whether that was emptied, removed or replaced.
    loses: bool,
    /// The jobs that began stages, but for the first.
    pub(crate) writers: Vec<u32>,
    /// Job, and the stage that it must find.
    pub(crate) finds: Vec<(u32, usize)>,
}

impl Stages {
    fn history(&mut self, thing: Thing) -> &mut History {
        let history = self.all.entry(thing).or_default();
        if history.stages.is_empty() {
            history.stages.push(Stage { old: true, ..Stage::default() });
        }
        history
    }

    /// The job used the name, or asked for it.
    pub(crate) fn read(&mut self, thing: Thing, job: u32, found: LookupOutcome) {
        let now = self.now;
        let history = self.history(thing);
        history.first.get_or_insert(now);
        let Some(stage) = history.stages.last_mut().filter(|stage| stage.writer != Some(job)) else { return };
        if stage.exists.is_none() && stage.writer.is_none() && found != LookupOutcome::Perhaps {
            stage.exists = Some(found != LookupOutcome::Missing);
        }
        let who = match found {
            LookupOutcome::Used => &mut stage.readers,
            LookupOutcome::There => &mut stage.lookers,
            LookupOutcome::Missing => &mut stage.missers,
            LookupOutcome::Perhaps if stage.exists == Some(true) => &mut stage.readers,
            LookupOutcome::Perhaps => &mut stage.passers,
        };
        who.insert(job);
    }

    /// The job may have used what had the name before the recording.
    pub(crate) fn may_read(&mut self, thing: Thing, job: u32) {
        self.history(thing).stages[0].readers.insert(job);
    }

    /// The job begins a stage, or goes on with its own. `older`: what is known of something that had the name before the recording.
    pub(crate) fn write(&mut self, thing: Thing, job: u32, how: How, older: Option<bool>) {
        let exists = Some(how != How::Removed);
        let at = self.now;
        let history = self.history(thing);
        history.first.get_or_insert(at);
        let Some(last) = history.stages.last_mut() else { return };
        let keeps = matches!(how, How::Changed | How::Permitted);
        let old = keeps && last.old && last.exists != Some(false);
        let given = old && last.given;
        if last.writer == Some(job) {
            // It made it anew, where it had taken its own away: it finds the name free only if nothing has it when it begins.
            last.missed |= how == How::Made && last.exists == Some(false) && !last.needs_last;
            last.exists = exists;
            last.vanished |= how == How::Removed;
            last.permitted &= how == How::Permitted;
            last.directory &= keeps;
            last.keeps &= keeps;
            (last.old, last.given) = (old, given);
            return;
        }
        let was_there = last.exists.or(older);
        if last.writer.is_none() {
            last.exists = was_there;
        }
        last.decide(job);
        let of_nothing = matches!(how, How::Emptied | How::Made);
        let needs_last = !of_nothing || last.readers.contains(&job);
        let missed = last.missers.contains(&job);
        if needs_last && how != How::Permitted {
            last.readers.insert(job);
        }
        let replaced = was_there == Some(true) || !of_nothing && was_there.is_none();
        let stage = Stage {
            writer: Some(job),
            at: Some(at),
            needs_last,
            missed,
            permitted: how == How::Permitted,
            keeps,
            exists,
            vanished: how == How::Removed,
            replaced,
            emptied: how == How::Emptied && !missed,
            old,
            given,
            ..Stage::default()
        };
        history.stages.push(stage);
    }

    /// Whether a name holds, as far as is known, what was there before the recording, under that name or another.
    pub(crate) fn is_old(&self, thing: Thing) -> bool {
        let last = self.all.get(&thing).and_then(|history| history.stages.last());
        last.is_none_or(|stage| stage.old && stage.exists != Some(false))
    }

    /// What just got that name was there before the recording, under another one.
    pub(crate) fn holds_old(&mut self, thing: Thing) {
        if let Some(stage) = self.history(thing).stages.last_mut() {
            (stage.old, stage.given) = (true, true);
        }
    }

    /// Whether a name is a symbolic link that a job made, or one that it gave to a file.
    pub(crate) fn is_linked(&self, thing: Thing) -> bool {
        let last = self.all.get(&thing).and_then(|history| history.stages.last());
        last.is_some_and(|stage| stage.linked)
    }

    /// What just began there is a symbolic link, or another name of a file.
    pub(crate) fn links(&mut self, thing: Thing) {
        if let Some(stage) = self.history(thing).stages.last_mut() {
            stage.linked = true;
        }
    }

    /// Something may have had the name of what just began there.
    pub(crate) fn may_replace(&mut self, thing: Thing) {
        if let Some(stage) = self.history(thing).stages.last_mut() {
            stage.replaced = true;
        }
    }

    /// A directory got that name; nobody's job if a manager did it.
    pub(crate) fn born(&mut self, directory: Arc<str>, by: Option<u32>, moved: bool) {
        self.births.entry(directory).or_default().push(Birth { at: self.now, by, moved });
    }

    /// What was made in the recording has another name, because the job renamed a directory above it.
    pub(crate) fn carry(&mut self, job: u32, made: Made) {
        self.carried.push((job, made));
    }

    /// What was just begun there, or ended, is a directory.
    pub(crate) fn is_made_directory(&mut self, thing: Thing) {
        if let Some(stage) = self.history(thing).stages.last_mut() {
            stage.directory = true;
        }
    }

    /// The job that just began it could do so only because nothing was in its way.
    pub(crate) fn was_free(&mut self, thing: Thing) {
        if let Some(stage) = self.history(thing).stages.last_mut() {
            stage.missed = true;
        }
    }

    /// The name is that of a directory.
    pub(crate) fn is_directory(&mut self, thing: Thing) {
        self.history(thing).is_directory = true;
    }

    /// A manager wrote it.
    pub(crate) fn by_manager(&mut self, thing: Thing) {
        self.history(thing).by_manager = true;
    }

    /// A job gives a file of before another name.
    pub(crate) fn renames(&mut self, file: FileId) {
        self.renamed.insert(file);
    }

    /// What is there, or perhaps on the way to it, was in the way of what the job wanted.
    pub(crate) fn hinders(&mut self, path: PathId, job: u32) {
        self.hindered.insert((job, path));
    }

    /// The job gives what has that name another one.
    pub(crate) fn moves(&mut self, path: PathId, job: u32) {
        self.moves.insert((job, path));
    }

    /// The job gives what has the first name the second one instead.
    pub(crate) fn renamed_to(&mut self, names: [PathId; 2], job: u32) {
        self.renames.push((job, names));
    }

    /// The job listed the directory.
    pub(crate) fn list(&mut self, directory: PathId, job: u32) {
        if self.lists.last().is_none_or(|(last, by, _)| (*last, *by) != (directory, job)) {
            self.lists.push((directory, job, self.now));
        }
    }

    /// The job removed the directory with all that it had found in it.
    pub(crate) fn clear(&mut self, directory: PathId, job: u32) {
        self.cleared.insert((job, directory));
    }

    /// Names in directories that were made in the recording were not there before, and those in renamed ones had other names.
    fn follow_births(&mut self, text: &impl Fn(PathId) -> Arc<str>) {
        for (thing, history) in &mut self.all {
            let Thing::Name(path) = thing else { continue };
            let whole = text(*path);
            let above = std::iter::successors(parent(&whole), |path| parent(path));
            let births = above.filter_map(|directory| self.births.get(directory));
            let Some(first) = history.first else { continue };
            let before = |birth: &&Birth| birth.at < first;
            let birth = births.filter_map(|births| births.iter().rfind(before)).max_by_key(|birth| birth.at);
            match birth {
                Some(Birth { at, by: Some(job), moved: true }) => history.came_with(*job, *at),
                Some(Birth { moved: false, .. }) => history.was_not_there(),
                _ => {}
            }
        }
    }

    /// Who listed a directory found the names in it, or missed them.
    fn follow_lists(&mut self, text: &impl Fn(PathId) -> Arc<str>) {
        let mut inside: HashMap<Arc<str>, Vec<Thing>, RandomState> = HashMap::default();
        for (thing, history) in &self.all {
            let (Thing::Name(path), true) = (thing, history.stages.len() > 1) else { continue };
            if let Some((parent, _)) = text(*path).rsplit_once('/') {
                inside.entry(parent.into()).or_default().push(*thing);
            }
        }
        for (directory, job, at) in std::mem::take(&mut self.lists) {
            for thing in inside.get(&text(directory)).into_iter().flatten() {
                let Some(history) = self.all.get_mut(thing) else { continue };
                let stage = history.stages.iter().rposition(|stage| stage.at.is_none_or(|began| began <= at));
                let Some(stage) = stage else { continue };
                let is_there = |stage: &Stage| stage.exists == Some(true);
                let there = is_there(&history.stages[stage]);
                let own = history.stages[stage].writer == Some(job);
                if own || history.stages[stage + 1..].iter().all(|later| is_there(later) == there) {
                    continue;
                }
                let missed = history.stages[stage].exists == Some(false);
                match history.stages.get_mut(stage + 1) {
                    // It finds the name free again once it is removed.
                    Some(next) if missed && next.writer == Some(job) && !next.needs_last => {
                        (next.missed, next.emptied) = (true, false);
                    }
                    _ => drop(history.stages[stage].readers.insert(job)),
                }
            }
        }
    }

    /// Who makes something gives it its first permissions. What is made several times, or renamed, is contested itself.
    fn follow_makers(&mut self) {
        let attributes = self.all.keys().filter_map(|thing| match thing {
            Thing::Attributes(path) => Some(*path),
            _ => None,
        });
        for path in attributes.collect::<Vec<PathId>>() {
            let name = self.all.get(&Thing::Name(path));
            let stages = name.map_or(&[][..], |history| &history.stages);
            let others = stages.iter().filter(|stage| stage.writer.is_some() && !stage.keeps);
            let makers: Vec<(u32, Option<Timestamp>)> =
                others.filter_map(|stage| Some((stage.writer?, stage.at))).collect();
            match makers.as_slice() {
                [] => {}
                [(job, Some(at))] => {
                    let history = self.all.get_mut(&Thing::Attributes(path));
                    history.into_iter().for_each(|history| history.came_with(*job, *at));
                }
                _ => drop(self.all.remove(&Thing::Attributes(path))),
            }
            self.all.get_mut(&Thing::Attributes(path)).into_iter().for_each(History::forget_setters);
        }
    }

    /// What follows of it all.
    pub(crate) fn finish(
        mut self,
        text: &impl Fn(PathId) -> Arc<str>,
        label: &impl Fn(FileId) -> Option<PathId>,
    ) -> Again {
        let listed = self.lists.iter().map(|(directory, job, _)| (*job, *directory)).collect();
        self.follow_births(text);
        self.follow_lists(text);
        self.follow_makers();
        let cleared = std::mem::take(&mut self.cleared);
        let moves = std::mem::take(&mut self.moves);
        let lost = std::mem::take(&mut self.lost);
        let may_be_older = |path: &str| {
            !lost.is_empty()
                && std::iter::successors(parent(path), |path| parent(path)).any(|at| lost.contains(at))
        };
        let missed = std::mem::take(&mut self.hindered).into_iter().collect();
        let renames = std::mem::take(&mut self.renames);
        let mut again = Again { listed, cleared, moves, missed, renames, ..Again::default() };
        again.made.append(&mut self.carried);
        let mut all: Vec<(Thing, History)> = self.all.into_iter().collect();
        all.sort_by_key(|(thing, _)| *thing);
        // Who set permissions that somebody had looked at before cannot do so again: it does not because of what it did.
        let shown = all.iter().filter(|(_, history)| history.shows_permissions());
        let setters: BTreeSet<u32> =
            shown.flat_map(|(_, history)| &history.stages).filter_map(|stage| stage.writer).collect();
        for (thing, mut history) in all {
            if let Thing::Name(path) = thing {
                let text = text(path);
                again.made.extend(history.made(&text, !may_be_older(&text)));
                again.cleared.extend(history.awaited().map(|job| (job, path)));
                again.kept.extend(history.ends_given().then_some(path));
                if history.stages.len() == 1 && !history.by_manager {
                    again.missed.extend(history.stages[0].missers.iter().map(|job| (*job, path)));
                }
                if history.stages.len() == 1 && !history.is_directory {
                    again.looked.extend(history.stages[0].all_found().map(|job| (job, path)));
                } else if history.stages.len() > 1
                    && history.stages[1..].iter().all(|stage| stage.permitted)
                    && !history.shows_permissions()
                {
                    let found = history.stages.iter().flat_map(Stage::all_found);
                    let own = |job: &u32| {
                        setters.contains(job) && history.stages.iter().any(|stage| stage.writer == Some(*job))
                    };
                    again.looked.extend(found.filter(|job| !own(job)).map(|job| (job, path)));
                } else if !history.is_directory {
                    let found = history.stages.iter().flat_map(Stage::all_found);
                    again.met.extend(found.map(|job| (job, path)));
                }
            }
            let path = match thing {
                Thing::Name(path) | Thing::Attributes(path) => Some(path),
                Thing::Contents(file) => {
                    again.shared.extend(Some(file).filter(|_| history.stages.len() > 1));
                    label(file)
                }
                Thing::Count(file) => {
                    history.is_counted();
                    label(file)
                }
            };
            if let Some(path) = path.filter(|_| !history.by_manager) {
                let before = match (thing, history.stages[0].exists) {
                    (Thing::Name(path), Some(false)) if !may_be_older(&text(path)) => Left::Free,
                    (Thing::Contents(file), _) if self.renamed.contains(&file) => Left::Nothing,
                    (Thing::Count(_), _) | (_, Some(false)) => Left::Nothing,
                    (_, Some(true)) | (Thing::Contents(_) | Thing::Attributes(_), None) => Left::Input,
                    (Thing::Name(_), None) => Left::Perhaps,
                };
                again.contested.extend(match thing {
                    Thing::Attributes(_) => history.found_in_turn(path, before),
                    _ => history.contested(path, before),
                });
            }
        }
        again
    }
}

impl Stage {
    /// It ends, and whether anything was there is as well known as it will be. That there was nothing decides nothing for `next`, who
    /// makes it then.
    fn decide(&mut self, next: u32) {
        let passers = std::mem::take(&mut self.passers).into_iter();
        if self.exists == Some(false) {
            self.missers.extend(passers.filter(|job| *job != next));
        } else {
            self.readers.extend(passers);
        }
    }

    fn all_found(&self) -> impl Iterator<Item = u32> {
        self.readers.union(&self.lookers).copied()
    }
}

impl History {
    /// Who made it of nothing. `sure`: what is known of it before the recording is all that there is to know.
    fn made(&self, path: &Arc<str>, sure: bool) -> Vec<(u32, Made)> {
        let stages = self.stages.iter().enumerate();
        let anew = stages.filter(|(_, stage)| !stage.needs_last && !stage.replaced);
        let lasting = anew.filter(|(_, stage)| stage.exists == Some(true));
        let made = lasting.filter_map(|(number, stage)| {
            let is_directory = stage.directory;
            // To empty what the name has become since would empty another file.
            let relinked = || self.stages[number..].iter().any(|stage| stage.linked);
            // What was removed again was empty by then.
            let gone = || self.stages[number..].iter().any(|stage| stage.vanished);
            let clear = if is_directory { stage.missed || gone() } else { !stage.emptied || relinked() };
            let moved = stage.old && !is_directory;
            let free = sure && self.stages[0].exists == Some(false);
            Some((stage.writer?, Made { path: path.clone(), is_directory, clear, moved, free }))
        });
        made.collect()
    }

    /// Whether it was given to what was there before the recording under another name, and still holds that.
    fn ends_given(&self) -> bool {
        self.stages.last().is_some_and(|last| last.given && last.exists == Some(true))
    }

    /// Who looked for a directory in vain that another job made.
    fn awaited(&self) -> impl Iterator<Item = u32> {
        let makes = |stage: &Stage, job: &u32| {
            stage.directory && stage.exists == Some(true) && stage.writer != Some(*job)
        };
        let missers = self.stages.iter().flat_map(|stage| &stage.missers).copied();
        missers.filter(move |job| self.stages.iter().any(|stage| makes(stage, job)))
    }

    /// The name came with a directory that the job renamed: there was nothing of that name before.
    fn came_with(&mut self, job: u32, at: Timestamp) {
        let mut came = Stage { writer: Some(job), at: Some(at), needs_last: true, ..self.stages[0].clone() };
        // What it may have used by that name is what it made.
        for users in [&mut came.readers, &mut came.lookers, &mut came.missers] {
            users.remove(&job);
        }
        self.stages[0] = came;
        self.stages.insert(0, Stage { exists: Some(false), ..Stage::default() });
    }

    /// Who sets permissions needs none of those that it looked at before or after.
    fn forget_setters(&mut self) {
        for at in 0..self.stages.len() {
            let next = self.stages.get(at + 1).and_then(|next| next.writer);
            let stage = &mut self.stages[at];
            let own = stage.writer;
            stage.lookers.retain(|job| Some(*job) != own && Some(*job) != next);
        }
    }

    /// There was nothing of that name before, unless it was found nevertheless.
    fn was_not_there(&mut self) {
        if self.stages[0].exists.is_none() {
            self.stages[0].exists = Some(false);
        }
    }

    /// A number of names: who adds one or takes one away, does so to the number that the recording had, if anybody looks at it.
    fn is_counted(&mut self) {
        if self.stages.iter().all(|stage| stage.readers.is_empty()) {
            return;
        }
        for at in 1..self.stages.len() {
            let writer = self.stages[at].writer;
            self.stages[at - 1].readers.extend(writer);
        }
    }

    /// Whether the last to set permissions set those of something from before the recording, at which somebody had looked: nobody makes
    /// it again as it was.
    fn shows_permissions(&self) -> bool {
        let [before @ .., last] = self.stages.as_slice() else { return false };
        let others = |stage: &Stage| stage.lookers.iter().any(|job| Some(*job) != last.writer);
        last.permitted
            && last.old
            && before.iter().all(|stage| stage.writer.is_none() || stage.permitted)
            && before.iter().any(others)
    }

    fn contested(&mut self, path: PathId, before: Left) -> Option<Contested> {
        while self.stages.last().is_some_and(|stage| stage.permitted) && !self.shows_permissions() {
            self.stages.pop();
        }
        self.found_in_turn(path, before)
    }

    /// Who found which stage but the last one.
    fn found_in_turn(&mut self, path: PathId, before: Left) -> Option<Contested> {
        let later = self.stages.len().checked_sub(1).filter(|later| *later > 0)?;
        // What is a file at one time and a directory at another is nothing that can be made over the other.
        let begun = || self.stages[1..].iter().filter(|stage| stage.exists == Some(true));
        let mixed = begun().any(|stage| stage.directory) && begun().any(|stage| !stage.directory);
        if mixed {
            for index in 0..later {
                let writer = self.stages[index + 1].writer;
                self.stages[index].readers.extend(writer);
            }
        }
        // Who overwrites it would overwrite another file once the name leads to that.
        let last_link = self.stages.iter().rposition(|stage| stage.linked).unwrap_or(0);
        for index in 0..last_link {
            let next = &self.stages[index + 1];
            let writer = next.writer.filter(|_| next.emptied && next.replaced);
            self.stages[index].readers.extend(writer);
        }
        let mut finds = Vec::new();
        for (number, stage) in self.stages[..later].iter().enumerate() {
            let is_first = |job: &u32| !finds.iter().any(|(other, _)| other == job);
            // Who makes it anew then finds the name free again, or something there again.
            let next = &self.stages[number + 1];
            let matters = |job: &u32| next.writer != Some(*job) || next.needs_last;
            let asked = stage.lookers.union(&stage.missers).copied().filter(matters);
            // What is in it stays the same.
            let is_same = self.stages[number + 1..].iter().all(|stage| stage.permitted);
            let read = stage.readers.iter().copied().filter(|_| !is_same);
            let all: BTreeSet<u32> = read.chain(asked).collect();
            let found: Vec<u32> = all.into_iter().filter(is_first).collect();
            finds.extend(found.into_iter().map(|job| (job, number)));
        }
        let writers = self.stages.iter().filter_map(|stage| stage.writer).collect();
        let loses = self.stages[1..].iter().any(|stage| !stage.keeps);
        (!finds.is_empty()).then_some(Contested { path, before, loses, writers, finds })
    }
}

/// The directory that a name is in.
pub(crate) fn parent(path: &str) -> Option<&str> {
    path.rsplit_once('/').map(|(parent, _)| parent).filter(|parent| !parent.is_empty())
}

impl Contested {
    /// Whether the order of the jobs lets those who change it do so in turn.
    fn is_in_turn(&self, needs: &[BTreeSet<u32>]) -> bool {
        let distinct: BTreeSet<u32> = self.writers.iter().copied().collect();
        let turns = self.writers.windows(2).all(|pair| is_after(needs, pair[1], pair[0]));
        distinct.len() == self.writers.len() && turns
    }

    /// Who finds which stage, as far as the order of the jobs grants it.
    fn granted(&self, needs: &[BTreeSet<u32>]) -> impl Iterator<Item = (u32, Option<u32>)> {
        self.finds.iter().filter_map(|(job, stage)| {
            let last = stage.checked_sub(1).and_then(|at| self.writers.get(at)).copied();
            let next = self.writers.get(*stage);
            let is_granted = last.is_none_or(|last| is_after(needs, *job, last))
                && next.is_none_or(|next| is_after(needs, *next, *job));
            is_granted.then_some((*job, last))
        })
    }
}

fn is_after(needs: &[BTreeSet<u32>], job: u32, other: u32) -> bool {
    /// Jobs that are looked at.
    const SEARCHED: usize = 20_000;
    job == other || reaches(|job| needs[job as usize].iter().copied(), job, other, SEARCHED)
}

impl Again {
    /// By job: what it must find, which things it leaves otherwise. Only what the order of the jobs grants in a first run.
    pub(crate) fn states(
        &self,
        needs: &[BTreeSet<u32>],
        text: &impl Fn(PathId) -> Arc<str>,
    ) -> Vec<(Vec<State>, Vec<u32>)> {
        let mut all = vec![(Vec::new(), Vec::new()); needs.len()];
        for (thing, contested) in self.in_turn(needs) {
            for writer in &contested.writers {
                all[*writer as usize].1.push(thing);
            }
            for (job, writer) in contested.granted(needs) {
                let left = writer.map_or(contested.before, |writer| Left::ByJob(JobId(writer)));
                all[job as usize].0.push(State {
                    thing,
                    path: text(contested.path),
                    left,
                    remade: Vec::new(),
                });
            }
        }
        all
    }

    /// The numbers of names of which what was there before was emptied, removed or replaced.
    pub(crate) fn lost(&self, needs: &[BTreeSet<u32>]) -> impl Iterator<Item = u32> {
        self.in_turn(needs).filter(|(_, contested)| contested.loses).map(|(number, _)| number)
    }

    /// Those that jobs change in an order that is granted, with their numbers.
    fn in_turn(&self, needs: &[BTreeSet<u32>]) -> impl Iterator<Item = (u32, &Contested)> {
        (0..).zip(self.contested.iter().filter(|contested| contested.is_in_turn(needs)))
    }

    /// Names of before that jobs change in no order that is granted.
    pub(crate) fn unordered(&self, needs: &[BTreeSet<u32>]) -> impl Iterator<Item = PathId> {
        let of_before = self.contested.iter().filter(|contested| contested.before == Left::Input);
        of_before.filter(|contested| !contested.is_in_turn(needs)).map(|contested| contested.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: Thing = Thing::Name(PathId(0));

    fn text(_: PathId) -> Arc<str> {
        "/w/x".into()
    }

    /// Job and stage that it must find; job and whether what it made must be away.
    type Finished = (Vec<(u32, usize)>, Vec<(u32, bool)>);

    fn finish(stages: Stages) -> Finished {
        let mut again = stages.finish(&text, &|_| None);
        let finds = again.contested.pop().map(|contested| contested.finds).unwrap_or_default();
        (finds, again.made.into_iter().map(|(job, made)| (job, made.clear)).collect())
    }

    #[test]
    fn who_appends_and_who_read_before_cannot_run_again_alone() {
        let mut stages = Stages::default();
        stages.write(X, 1, How::Emptied, Some(false));
        stages.read(X, 2, LookupOutcome::Used);
        stages.write(X, 3, How::Changed, None);
        stages.read(X, 4, LookupOutcome::Used);
        assert_eq!(finish(stages), (vec![(2, 1), (3, 1)], vec![(1, false)]));
    }

    #[test]
    fn who_makes_it_of_nothing_can_run_again_once_the_name_is_free() {
        let mut stages = Stages::default();
        stages.read(X, 1, LookupOutcome::Missing);
        stages.write(X, 1, How::Made, None);
        assert_eq!(finish(stages), (vec![], vec![(1, true)]));
    }

    #[test]
    fn what_is_emptied_must_be_away_if_the_name_is_given_to_another_file_later() {
        let later = |link: bool| {
            let mut stages = Stages::default();
            stages.write(X, 1, How::Emptied, Some(false));
            stages.write(X, 2, How::Made, None);
            if link {
                stages.links(X);
                assert!(stages.is_linked(X));
            }
            finish(stages).1
        };
        assert_eq!(later(false), [(1, false)]);
        assert_eq!(later(true), [(1, true)]);
    }

    #[test]
    fn what_is_overwritten_must_be_there_if_the_name_leads_to_another_file_later() {
        let later = |link: bool| {
            let mut stages = Stages::default();
            stages.write(X, 1, How::Emptied, Some(false));
            stages.write(X, 2, How::Emptied, None);
            stages.write(X, 3, How::Made, None);
            if link {
                stages.links(X);
            }
            finish(stages).0
        };
        assert_eq!(later(false), []);
        assert_eq!(later(true), [(2, 1)]);
    }

    #[test]
    fn who_misses_what_another_job_makes_cannot_run_after_it() {
        let mut stages = Stages::default();
        stages.read(X, 1, LookupOutcome::Missing);
        stages.write(X, 2, How::Emptied, None);
        assert_eq!(finish(stages), (vec![(1, 0)], vec![(2, false)]));
    }

    #[test]
    fn who_missed_a_name_below_did_not_find_what_is_above() {
        let missed_below = |other: u32| {
            let mut stages = Stages::default();
            stages.read(X, other, LookupOutcome::Perhaps);
            stages.write(X, 1, How::Made, Some(false));
            stages
        };
        assert_eq!(finish(missed_below(1)), (vec![], vec![(1, true)]));
        let again = missed_below(1).finish(&text, &|_| None);
        assert!(again.contested.is_empty(), "who makes it can do so again");
        let contested = missed_below(2).finish(&text, &|_| None).contested.pop().unwrap();
        assert_eq!((contested.before, contested.finds), (Left::Free, vec![(2, 0)]));
    }

    #[test]
    fn who_copies_permissions_finds_those_that_were_set_last() {
        const ATTRIBUTES: Thing = Thing::Attributes(PathId(0));
        let set = |stages: &mut Stages, job: u32| {
            stages.now = Timestamp(i64::from(job));
            stages.write(ATTRIBUTES, job, How::Permitted, Some(true));
            stages.write(X, job, How::Permitted, Some(true));
        };
        let mut stages = Stages::default();
        stages.write(X, 1, How::Emptied, Some(false));
        stages.read(ATTRIBUTES, 2, LookupOutcome::There);
        set(&mut stages, 3);
        stages.read(ATTRIBUTES, 4, LookupOutcome::There);
        set(&mut stages, 5);
        stages.read(ATTRIBUTES, 6, LookupOutcome::There);
        assert_eq!(finish(stages).0, vec![(2, 1), (4, 2)], "the last copy finds what is there");
        let mut stages = Stages::default();
        set(&mut stages, 3);
        stages.read(ATTRIBUTES, 4, LookupOutcome::There);
        assert_eq!(finish(stages).0, vec![], "nobody sets others later");
        let mut stages = Stages::default();
        stages.read(ATTRIBUTES, 1, LookupOutcome::There);
        stages.write(X, 1, How::Emptied, Some(false));
        stages.read(ATTRIBUTES, 2, LookupOutcome::There);
        set(&mut stages, 2);
        assert_eq!(finish(stages).0, vec![], "who makes it, or sets them, looks at its own");
    }

    #[test]
    fn who_may_replace_something_did_not_make_it_of_nothing() {
        let mut stages = Stages::default();
        stages.may_read(X, 1);
        stages.write(X, 2, How::Made, None);
        stages.may_replace(X);
        let again = stages.finish(&text, &|_| None);
        assert!(again.made.is_empty());
        assert_eq!(
            (again.contested[0].before, &again.contested[0].finds[..]),
            (Left::Perhaps, &[(1, 0)][..])
        );
    }

    #[test]
    fn permissions_may_be_set_again() {
        let mut stages = Stages::default();
        stages.write(X, 1, How::Permitted, Some(true));
        stages.read(X, 2, LookupOutcome::Used);
        assert_eq!(finish(stages), (vec![], vec![]));
    }

    #[test]
    fn who_lists_a_directory_and_then_makes_a_name_in_it_can_run_again_once_the_name_is_free() {
        let mut stages = Stages::default();
        stages.read(X, 2, LookupOutcome::Missing);
        stages.list(PathId(1), 1);
        stages.now = Timestamp(1);
        stages.write(X, 1, How::Emptied, Some(false));
        let names = |path: PathId| Arc::from(["/w/x", "/w"][path.index()]);
        let again = stages.finish(&names, &|_| None);
        assert_eq!(again.made.iter().map(|(job, made)| (*job, made.clear)).collect::<Vec<_>>(), [(1, true)]);
        assert!(again.contested.iter().all(|contested| contested.finds.iter().all(|(job, _)| *job != 1)));
    }

    #[test]
    fn nothing_in_a_directory_that_was_made_was_there_before() {
        let mut stages = Stages { now: Timestamp(1), ..Stages::default() };
        stages.born("/w".into(), Some(1), false);
        stages.now = Timestamp(2);
        stages.write(X, 2, How::Changed, None);
        let contested = stages.finish(&text, &|_| None).contested.pop().unwrap();
        assert_eq!(contested.before, Left::Free);
        let mut stages = Stages::default();
        stages.write(X, 2, How::Changed, None);
        let contested = stages.finish(&text, &|_| None).contested.pop().unwrap();
        assert_eq!(contested.before, Left::Perhaps, "of a name elsewhere it is not known");
    }

    #[test]
    fn what_came_with_a_renamed_directory_is_as_who_renamed_it_left_it() {
        let mut stages = Stages { now: Timestamp(1), ..Stages::default() };
        stages.born("/w".into(), Some(1), true);
        stages.now = Timestamp(2);
        stages.read(X, 2, LookupOutcome::Used);
        stages.write(X, 3, How::Removed, None);
        let contested = stages.finish(&text, &|_| None).contested.pop().unwrap();
        assert_eq!((contested.before, contested.writers), (Left::Free, vec![1, 3]));
        assert_eq!(contested.finds, [(2, 1), (3, 1)]);
    }

    #[test]
    fn who_gives_a_file_a_name_needs_their_number_only_if_anybody_looks_at_it() {
        let thing = Thing::Count(FileId(0));
        let finds = |looks: bool| {
            let mut stages = Stages::default();
            stages.write(thing, 1, How::Made, None);
            if looks {
                stages.read(thing, 2, LookupOutcome::Used);
            }
            stages.write(thing, 3, How::Made, None);
            let contested = stages.finish(&text, &|_| Some(PathId(0))).contested;
            contested.into_iter().flat_map(|contested| contested.finds).collect::<Vec<_>>()
        };
        assert_eq!(finds(false), []);
        assert_eq!(finds(true), [(1, 0), (2, 1), (3, 1)]);
    }

    #[test]
    fn what_was_there_before_is_known_under_another_name() {
        let mut stages = Stages::default();
        assert!(stages.is_old(X), "nobody touched it");
        stages.write(X, 1, How::Changed, Some(true));
        assert!(stages.is_old(X), "a line was added");
        stages.write(X, 2, How::Emptied, None);
        assert!(!stages.is_old(X));
        let mut stages = Stages::default();
        stages.write(X, 3, How::Made, None);
        stages.holds_old(X);
        let made = stages.finish(&text, &|_| None).made;
        assert!(made.len() == 1 && made[0].1.moved);
    }
}
