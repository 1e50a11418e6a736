//! What is there before the calls: files that the calls find, with the bytes that they read.

use crate::names::parents;
use crate::recorded::{Act, ENOENT, ENOTDIR, Recorded, Step, is_of_directory, is_of_file, makes_name};
use iotrail_model::FileId;
use iotrail_replay::{OpenMode, ScratchFile};
use iotrail_verify::{CallAction, Description, Moved};
use std::collections::{HashMap, HashSet};

/// What is known of a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Presence {
    #[default]
    Unknown,
    /// It is there.
    There,
    /// It is not there.
    Absent,
    /// A call makes it unless it is there.
    Made,
}

/// What is known of a file while its calls are followed.
#[derive(Default)]
struct Size {
    /// The name that it had first.
    name: usize,
    /// Bytes that must be there.
    first: u64,
    /// Where what was written ends.
    written: u64,
    /// Bytes that were written behind the end, wherever that was.
    appended: u64,
    /// Whether it was emptied: what is read behind was written by others.
    emptied: bool,
}

/// What is known of a description while its calls are followed.
#[derive(Default)]
struct Opened {
    mode: OpenMode,
    /// Where it stands, as far as calls tell: for recordings that do not know it.
    cursor: u64,
}

impl Opened {
    /// The bytes of a transfer.
    fn range(&mut self, moved: Moved) -> (u64, u64) {
        let low = moved.offset.unwrap_or(self.cursor);
        let high = low.saturating_add(moved.moved);
        if !moved.positioned {
            self.cursor = high;
        }
        (low, high)
    }
}

/// The files of the program, by the numbers of their names.
pub(crate) fn files(recorded: &Recorded) -> Vec<ScratchFile> {
    let mut presence = vec![Presence::Unknown; recorded.names.len()];
    let mut sizes: HashMap<FileId, Size> = HashMap::new();
    let mut first_file: HashMap<usize, FileId> = HashMap::new();
    let mut opened: HashMap<Description, Opened> = HashMap::new();
    // Names that failed calls would have made.
    let mut targets = Vec::new();
    let missed = missed(recorded);
    for step in &recorded.steps {
        if presence[step.name] == Presence::Unknown {
            presence[step.name] = first_seen(step);
        }
        if !missed.is_empty() {
            see_directory(recorded, step, &missed, &mut presence);
        }
        if let Act::Rename(to) | Act::Link(to) = step.act
            && presence[to] == Presence::Unknown
        {
            presence[to] = match step.error {
                None => Presence::Absent,
                Some(ENOENT | ENOTDIR) => {
                    targets.push(to);
                    Presence::Unknown
                }
                Some(_) => Presence::There,
            };
        }
        if step.error.is_none() {
            first_file.entry(step.name).or_insert(step.call.file);
            let size =
                sizes.entry(step.call.file).or_insert_with(|| Size { name: step.name, ..Size::default() });
            match step.call.open {
                Some(open) => size.follow(step, opened.entry(open).or_default()),
                None => size.follow(step, &mut Opened::default()),
            }
        }
    }
    for target in targets {
        if presence[target] == Presence::Unknown {
            presence[target] = Presence::Absent;
        }
    }
    let mut bytes = vec![0; recorded.names.len()];
    for (file, size) in &sizes {
        if first_file.get(&size.name) == Some(file) {
            bytes[size.name] = size.first;
        }
    }
    let begins_as_directory = first_roles(recorded);
    let around: HashSet<&str> = recorded.names.iter().flat_map(|name| parents(name)).collect();
    let is_around = |number: usize| around.contains(recorded.names[number].as_str());
    let absent: HashSet<&str> = (0..recorded.names.len())
        .filter(|name| recorded.is_directory[*name] || is_around(*name))
        .filter(|name| presence[*name] == Presence::Absent || !begins_as_directory[*name])
        .map(|name| recorded.names[name].as_str())
        .collect();
    for (name, presence) in recorded.names.iter().zip(&mut presence) {
        if parents(name).any(|outer| absent.contains(outer)) {
            *presence = Presence::Absent;
        }
    }
    let both: Vec<usize> = (0..recorded.names.len())
        .filter(|number| match recorded.is_directory[*number] {
            true => recorded.is_file[*number],
            // What is looked for in it is not there.
            false => is_around(*number),
        })
        .collect();
    let file = |(number, name): (usize, &String)| {
        let there = match presence[number] {
            Presence::There | Presence::Unknown => true,
            Presence::Made => bytes[number] > 0,
            Presence::Absent => false,
        };
        let directory = begins_as_directory[number];
        ScratchFile { name: name.clone(), size: there.then_some(bytes[number]), directory }
    };
    let mut files: Vec<ScratchFile> = recorded.names.iter().enumerate().map(file).collect();
    // What is a directory at one time and a file at another.
    for number in both {
        let (name, directory) = (recorded.names[number].clone(), !begins_as_directory[number]);
        files.push(ScratchFile { name, size: None, directory });
    }
    files
}

/// Directories in which calls could make nothing, as they were not there.
fn missed(recorded: &Recorded) -> HashMap<&str, usize> {
    let misses = recorded.steps.iter().filter(|step| step.error == Some(ENOENT) && makes_name(step.act));
    let outer: HashSet<&str> = misses.filter_map(|step| parents(&recorded.names[step.name]).next()).collect();
    let names = recorded.names.iter().enumerate();
    names
        .filter(|(_, name)| outer.contains(name.as_str()))
        .map(|(number, name)| (name.as_str(), number))
        .collect()
}

/// Notes what a call tells of the directories that it came through, of those that some call missed.
fn see_directory(recorded: &Recorded, step: &Step, missed: &HashMap<&str, usize>, presence: &mut [Presence]) {
    let seen = match step.error {
        None => Presence::There,
        Some(ENOENT) if makes_name(step.act) => Presence::Absent,
        Some(_) => return,
    };
    let most = if seen == Presence::Absent { 1 } else { usize::MAX };
    for outer in parents(&recorded.names[step.name]).take(most) {
        if let Some(presence) = missed.get(outer).and_then(|number| presence.get_mut(*number))
            && *presence == Presence::Unknown
        {
            *presence = seen;
        }
    }
}

/// Whether each name is a directory at first.
fn first_roles(recorded: &Recorded) -> Vec<bool> {
    let mut roles = recorded.is_directory.clone();
    let mut both: HashMap<&str, usize> = (recorded.names.iter().enumerate())
        .filter(|(number, _)| recorded.is_directory[*number] && recorded.is_file[*number])
        .map(|(number, name)| (name.as_str(), number))
        .collect();
    for step in &recorded.steps {
        if both.is_empty() {
            break;
        }
        let name = recorded.names[step.name].as_str();
        let own = match step.error {
            None => is_of_directory(step.act, step.call.action).then_some(true).or(is_of_file(
                step.act,
                step.call.action,
            )
            .then_some(false)),
            Some(_) => None,
        };
        if let Some((role, number)) = own.and_then(|role| Some((role, both.remove(name)?))) {
            roles[number] = role;
        }
        match step.error {
            None => {
                for outer in parents(name) {
                    both.remove(outer);
                }
            }
            Some(ENOTDIR) => {
                let wants_one = matches!(step.act, Act::Remove { directory: true })
                    || matches!(step.act, Act::Open(mode) if mode.directory);
                let found = if wants_one { Some(name) } else { parents(name).next() };
                if let Some(number) = found.and_then(|found| both.remove(found)) {
                    roles[number] = false;
                }
            }
            Some(_) => {}
        }
    }
    roles
}

/// What the first call on a name tells of it.
fn first_seen(step: &Step) -> Presence {
    match (step.act, step.call.action, step.error) {
        (.., Some(ENOENT)) => Presence::Absent,
        (Act::Open(mode), _, Some(ENOTDIR)) if mode.directory => Presence::There,
        (Act::Remove { directory: true }, _, Some(ENOTDIR)) => Presence::There,
        (.., Some(ENOTDIR)) => Presence::Absent,
        (.., Some(_)) => Presence::There,
        (Act::MakeDirectory | Act::Symlink, ..) => Presence::Absent,
        (_, CallAction::Open(mode), None) if mode.create && mode.exclusive => Presence::Absent,
        (_, CallAction::Open(mode), None) if mode.create => Presence::Made,
        _ => Presence::There,
    }
}

impl Size {
    fn follow(&mut self, step: &Step, opened: &mut Opened) {
        match step.call.action {
            CallAction::Open(mode) => {
                opened.mode = mode;
                self.emptied |= mode.truncate;
            }
            CallAction::Seek(to) => opened.cursor = to,
            CallAction::Truncate(_) => self.emptied = true,
            CallAction::Transfer(moved) => {
                let appends = moved.writes && opened.mode.append;
                if appends && moved.offset.is_none() {
                    self.appended = self.appended.saturating_add(moved.moved);
                    return;
                }
                let (low, high) = opened.range(moved);
                // What is appended begins where the file ended.
                let must_hold = match (moved.writes, appends) {
                    (false, _) => high,
                    (true, true) => low,
                    _ => 0,
                };
                let end = self.written.max(self.first).saturating_add(self.appended);
                if !self.emptied && must_hold > end && high > low {
                    self.first = must_hold - self.appended;
                }
                if moved.writes {
                    self.written = self.written.max(high);
                }
            }
            _ => {}
        }
    }
}
