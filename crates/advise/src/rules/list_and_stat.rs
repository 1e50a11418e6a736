//! A process lists a directory and asks for the state of each entry, which it does not use otherwise.

use super::Rule;
use super::habit::{Context, First, Image, ProcessHabit, Saved, Seen, Tally};
use super::per_image::PerImage;
use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashSet};
use iotrail_model::PathId;
use iotrail_model::calls::CallKind;

/// From so many entries of a process on it is a habit.
const MANY: u64 = 100;

#[derive(Default)]
pub(crate) struct ListAndStat {
    listed: HashSet<(Image, PathId), RandomState>,
    /// Entries that were asked for, and nothing else.
    entries: PerImage<PathId, (First, Option<PathId>, Saved)>,
}

impl Rule for ListAndStat {
    fn see(&mut self, call: &Seen) {
        let (Some(path), true) = (call.path, call.is_done()) else { return };
        let key = (call.process(), path);
        match (call.kind, call.parent) {
            (CallKind::List, _) => {
                self.listed.insert(key);
                self.entries.remove(&key);
            }
            (CallKind::Stat, Some(parent)) if call.open.is_none() && call.selected => {
                if self.listed.contains(&(call.process(), parent)) {
                    let first = || (call.first(), call.parent, Saved::default());
                    let (.., saved) = self.entries.entry(key).or_insert_with(first);
                    saved.add(call);
                }
            }
            (CallKind::Stat, _) => {}
            _ => {
                self.entries.remove(&key);
            }
        }
    }

    fn ended(&mut self, image: Image) {
        self.entries.keep_many(image, MANY as usize);
    }

    fn found(&self, log: &Context) -> Vec<ProcessHabit> {
        let mut directories: HashMap<(Image, Option<PathId>), Tally, RandomState> = HashMap::default();
        for (first, parent, saved) in self.entries.values() {
            let key = (first.process(), *parent);
            let tally = directories.entry(key).or_insert_with(|| Tally::new(*first));
            if first.seq < tally.first.seq {
                tally.first = *first;
            }
            tally.amount += 1;
            tally.calls += saved.calls;
            tally.saved.join(*saved);
        }
        let many = directories.into_iter().filter(|(_, tally)| tally.amount >= MANY);
        let found = many.map(|((_, directory), tally)| ProcessHabit {
            rule: "list-and-stat",
            file: log.text(directory),
            tally,
            places: Vec::new(),
            fix: "take names and types from the listing itself (C: d_type of readdir; Python: os.scandir and DirEntry.is_dir(); shell: `ls -U` without colours, `find -type`); git: core.fsmonitor and core.untrackedCache; fewer files in a directory",
            assumes: "sizes and times of the entries are not needed",
        });
        found.collect()
    }
}
