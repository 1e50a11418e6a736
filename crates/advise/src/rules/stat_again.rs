//! A process asks for the state of a file again and again, and nobody was seen to change it.

use super::Rule;
use super::habit::{Context, Image, ProcessHabit, Seen, Tally};
use super::per_image::PerImage;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::calls::{CallKind, Transfer};
use iotrail_model::{FileId, PathId};

/// From so many times on it is a habit.
const MANY: u64 = 20;
/// Who asks about a file that changes has a reason: of a hundred questions so many must be of no use.
const USELESS: u64 = 90;

#[derive(Default)]
pub(crate) struct StatAgain {
    /// How often each file was changed.
    changes: HashMap<FileId, u64, RandomState>,
    /// How often each process slept: who asks after a sleep waits for a change.
    sleeps: HashMap<Image, u64, RandomState>,
    asked: PerImage<PathId, Asked>,
}

struct Asked {
    /// The file, its changes and the sleeps of the process by then.
    then: (FileId, u64, u64),
    tally: Tally,
}

impl Asked {
    fn is_habit(&self) -> bool {
        let tally = &self.tally;
        tally.saved.calls >= MANY && tally.saved.calls * 100 >= tally.amount * USELESS
    }
}

impl Rule for StatAgain {
    fn see(&mut self, call: &Seen) {
        if matches!(call.kind, CallKind::Sleep | CallKind::Poll) {
            *self.sleeps.entry(call.process()).or_default() += 1;
        }
        let Some(file) = call.file.filter(|_| call.is_done()) else { return };
        let renames = matches!(call.kind, CallKind::Rename | CallKind::Link | CallKind::Unlink);
        if renames || call.changes() && call.transfer != Transfer::Read {
            *self.changes.entry(file).or_default() += 1;
        }
        // By name: who asks about an open file asks about what it has.
        let (true, true, None, Some(path)) =
            (call.kind == CallKind::Stat, call.selected, call.open, call.path)
        else {
            return;
        };
        let now = (
            file,
            self.changes.get(&file).copied().unwrap_or_default(),
            self.sleeps.get(&call.process()).copied().unwrap_or_default(),
        );
        let key = (call.process(), path);
        let asked = self
            .asked
            .entry(key)
            .or_insert_with(|| Asked { then: (file, u64::MAX, 0), tally: Tally::new(call.first()) });
        asked.tally.amount += 1;
        asked.tally.calls += 1;
        if asked.then == now {
            asked.tally.saved.add(call);
        }
        asked.then = now;
    }

    fn ended(&mut self, image: Image) {
        self.asked.keep_habits(image, Asked::is_habit);
        self.sleeps.remove(&image);
    }

    fn found(&self, log: &Context) -> Vec<ProcessHabit> {
        let many = self.asked.iter().filter(|(_, asked)| {
            asked.is_habit() && !log.beside.changes(asked.then.0, asked.tally.first.case)
        });
        let found = many.map(|(path, asked)| ProcessHabit {
            rule: "stat-again",
            file: log.text(Some(*path)),
            tally: asked.tally,
            places: Vec::new(),
            fix: "ask once and keep the answer; C library: set TZ (as `TZ=:/etc/localtime`), so that localtime does not look each time; Python: os.scandir and DirEntry.stat instead of several os.path functions",
            assumes: "programs that were not recorded do not change the file",
        });
        found.collect()
    }
}
