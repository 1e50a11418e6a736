//! A process that moves data spends most of its I/O time on names and states of files.

use super::Rule;
use super::habit::{Context, Directories, Image, ProcessHabit, Saved, Seen, Tally, is_of_system, split};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::PathId;
use iotrail_model::calls::{Class, Transfer};

/// From so many calls on it is a habit.
const MANY: u64 = 1000;
/// Who moves less than that has little else to do.
const MOVED: u64 = 1 << 20;
/// So many times what data take.
const TIMES: u64 = 3;

#[derive(Default)]
pub(crate) struct MetadataShare {
    processes: HashMap<Image, Work, RandomState>,
}

struct Work {
    names: Tally,
    data: u64,
    bytes: u64,
    /// By directory of what they name: calls.
    directories: HashMap<Option<PathId>, u64, RandomState>,
}

impl Rule for MetadataShare {
    fn see(&mut self, call: &Seen) {
        let is_io = call.class.is_some_and(Class::is_io) && call.selected;
        let Some(class) = call.class.filter(|_| is_io) else { return };
        let work = self.processes.entry(call.process()).or_insert_with(|| Work {
            names: Tally::new(call.first()),
            data: 0,
            bytes: 0,
            directories: HashMap::default(),
        });
        if class == Class::Metadata {
            work.names.amount += 1;
            work.names.waste(call);
            *work.directories.entry(call.parent.or(call.path)).or_default() += 1;
        } else {
            work.data = work.data.saturating_add(call.spent.unwrap_or_default());
            let moves = call.transfer != Transfer::None && call.is_done();
            work.bytes = work.bytes.saturating_add(call.size.filter(|_| moves).unwrap_or_default());
        }
    }

    fn ended(&mut self, image: Image) {
        if self.processes.get(&image).is_some_and(|work| work.names.amount < MANY) {
            self.processes.remove(&image);
        }
    }

    fn found(&self, log: &Context) -> Vec<ProcessHabit> {
        self.processes.values().filter_map(|work| work.habit(log)).collect()
    }
}

impl Work {
    fn habit(&self, log: &Context) -> Option<ProcessHabit> {
        let time = self.names.saved.time?;
        if self.names.amount < MANY || self.bytes < MOVED || time < self.data.saturating_mul(TIMES) {
            return None;
        }
        let mut directories = Directories::default();
        let mut own = 0;
        for (path, calls) in &self.directories {
            let text = log.text(*path);
            if !is_of_system(&format!("{text}/")) && text.starts_with('/') {
                directories.add(if path.is_some() { &text } else { split(&text).0 }, *calls);
                own += calls;
            }
        }
        (own * 2 >= self.names.amount).then(|| {
            // The time beyond what the data take.
            let surplus = self.names.saved.fraction(time - self.data, time.max(1));
            ProcessHabit {
                rule: "metadata-share",
                file: directories.common(),
                tally: Tally {
                    saved: Saved { calls: 0, ..surplus },
                    ..self.names
                },
                places: directories.most(),
                fix: "open each file once and keep it open; ask once and remember (os.scandir instead of listdir and stat; fstat of what is open); make names in a local directory and move the whole of it; pack many files into one; on parallel file systems: fewer, larger files, and directories that are not shared by all ranks",
                assumes: "the names and states are not what the program is for (find, ls, rm)",
            }
        })
    }
}
