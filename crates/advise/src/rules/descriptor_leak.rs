//! A process opens files and does not close them.

use super::Rule;
use super::habit::{Context, Directories, First, Image, ProcessHabit, Saved, Seen, Tally, split};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::OpenId;
use iotrail_model::calls::CallKind;

/// From so many files on that were left open it is a habit.
const MANY: u64 = 100;
/// What was not used while so many other files were opened is not used any more.
const IDLE: u64 = 50;

#[derive(Default)]
pub(crate) struct DescriptorLeak {
    processes: HashMap<Image, Opens, RandomState>,
}

#[derive(Default)]
struct Opens {
    number: u64,
    /// What is open: its open, and how many there had been when it was last used.
    open: HashMap<OpenId, (First, u64), RandomState>,
}

impl Rule for DescriptorLeak {
    fn see(&mut self, call: &Seen) {
        if matches!(call.kind, CallKind::Exec | CallKind::CloseRange) && call.is_done() {
            self.processes.remove(&call.process());
        }
        let (Some(open), true) = (call.open, call.is_done() && call.file.is_some()) else { return };
        let opens = self.processes.entry(call.process()).or_default();
        match call.kind {
            CallKind::Open | CallKind::Create if call.selected && !call.opened.directory() => {
                opens.number += 1;
                opens.open.insert(open, (call.first(), opens.number));
            }
            CallKind::Close => {
                opens.open.remove(&open);
            }
            _ => {
                if let Some((_, used)) = opens.open.get_mut(&open) {
                    *used = opens.number;
                }
            }
        }
    }

    fn found(&self, log: &Context) -> Vec<ProcessHabit> {
        self.processes.values().filter_map(|opens| opens.leak(log)).collect()
    }
}

impl Opens {
    fn leak(&self, log: &Context) -> Option<ProcessHabit> {
        let left: Vec<&First> =
            self.open.values().filter(|(_, used)| used + IDLE <= self.number).map(|(open, _)| open).collect();
        let mut directories = Directories::default();
        left.iter().for_each(|open| directories.add(split(&log.text(open.path)).0, 1));
        let first = left.iter().min_by_key(|open| open.seq)?;
        let number = left.len() as u64;
        // It costs no time that a trail tells.
        let saved = Saved { calls: 0, timed: 0, time: None, on_path: 0 };
        let tally = Tally { first: **first, calls: number, saved, amount: number };
        (number >= MANY).then(|| ProcessHabit {
            rule: "descriptor-leak",
            file: directories.common(),
            tally,
            places: directories.most(),
            fix: "close each file when it is done with (C: close on all ways out; Python: `with open(...)`; Fortran: close), before the limit of open files (ulimit -n) stops the program",
            assumes: "the files are not used after the end of the recording",
        })
    }
}
