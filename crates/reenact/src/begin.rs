//! What is there before the calls: files that the calls find, with the bytes that they read.

use crate::names::parents;
use crate::recorded::{Act, Recorded, Step};
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
    for step in &recorded.steps {
        if presence[step.name] == Presence::Unknown {
            presence[step.name] = first_seen(step);
        }
        if let Act::Rename(to) = step.act
            && presence[to] == Presence::Unknown
            && step.error.is_none()
        {
            presence[to] = Presence::Absent;
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
    let mut bytes = vec![0; recorded.names.len()];
    for (file, size) in &sizes {
        if first_file.get(&size.name) == Some(file) {
            bytes[size.name] = size.first;
        }
    }
    let absent: HashSet<&str> = (0..recorded.names.len())
        .filter(|name| recorded.is_directory[*name] && presence[*name] == Presence::Absent)
        .map(|name| recorded.names[name].as_str())
        .collect();
    for (name, presence) in recorded.names.iter().zip(&mut presence) {
        if parents(name).any(|outer| absent.contains(outer)) {
            *presence = Presence::Absent;
        }
    }
    let file = |(number, name): (usize, &String)| {
        let there = match presence[number] {
            Presence::There | Presence::Unknown => true,
            Presence::Made => bytes[number] > 0,
            Presence::Absent => false,
        };
        let directory = recorded.is_directory[number];
        ScratchFile { name: name.clone(), size: there.then_some(bytes[number]), directory }
    };
    recorded.names.iter().enumerate().map(file).collect()
}

/// What the first call on a name tells of it.
fn first_seen(step: &Step) -> Presence {
    const ENOENT: i32 = 2;
    match (step.act, step.call.action, step.error) {
        (.., Some(ENOENT)) => Presence::Absent,
        (.., Some(_)) => Presence::There,
        (Act::MakeDirectory, ..) => Presence::Absent,
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
                let (low, high) = opened.range(moved);
                // What is appended begins where the file ended.
                let must_hold = match (moved.writes, opened.mode.append) {
                    (false, _) => high,
                    (true, true) if moved.offset.is_some() => low,
                    _ => 0,
                };
                if !self.emptied && must_hold > self.written.max(self.first) && high > low {
                    self.first = must_hold;
                }
                if moved.writes {
                    self.written = self.written.max(high);
                }
            }
            _ => {}
        }
    }
}
