//! Files are made, written and removed, and nobody reads them.

use super::Rule;
use super::habit::{Context, Directories, First, Image, ProcessHabit, Saved, Seen, Tally, split};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::FileId;
use iotrail_model::calls::{CallKind, Transfer};
use std::sync::Arc;

/// From so many files of a process on it is a habit.
const MANY: u64 = 10;

#[derive(Default)]
pub(crate) struct UnusedFiles {
    files: HashMap<FileId, Made, RandomState>,
}

/// A file since it was made.
struct Made {
    first: First,
    calls: Saved,
    bytes: u64,
    is_used: bool,
    is_removed: bool,
}

impl Rule for UnusedFiles {
    fn see(&mut self, call: &Seen) {
        let Some(file) = call.file.filter(|_| call.is_done()) else { return };
        let makes = call.kind == CallKind::Create || call.opened.creates();
        let made = match self.files.get_mut(&file) {
            Some(made) => made,
            None if makes && call.selected => self.files.entry(file).or_insert_with(|| Made {
                first: call.first(),
                calls: Saved::default(),
                bytes: 0,
                is_used: false,
                is_removed: false,
            }),
            None => return,
        };
        let by_other = made.first.process() != call.process();
        let moves = matches!(call.transfer, Transfer::Read | Transfer::Copy) && call.size != Some(0);
        made.is_used |= moves || by_other && call.kind != CallKind::Unlink;
        made.is_used |= matches!(call.kind, CallKind::Map | CallKind::Rename | CallKind::Link);
        made.is_removed |= call.kind == CallKind::Unlink;
        if call.transfer == Transfer::Write {
            made.bytes = made.bytes.saturating_add(call.size.unwrap_or_default());
        }
        made.calls.add(call);
    }

    fn found(&self, log: &Context) -> Vec<ProcessHabit> {
        let mut processes: HashMap<Image, (Tally, Directories), RandomState> = HashMap::default();
        let is_unused = |(file, made): &(&FileId, &Made)| {
            let is_read = made.is_used || log.beside.uses(**file, made.first.case);
            made.is_removed && !is_read && made.bytes > 0
        };
        for (_, made) in self.files.iter().filter(is_unused) {
            let key = made.first.process();
            let (tally, directories) =
                processes.entry(key).or_insert_with(|| (Tally::new(made.first), Directories::default()));
            if made.first.seq < tally.first.seq {
                tally.first = made.first;
            }
            tally.amount += 1;
            tally.calls += made.calls.calls;
            tally.saved.join(made.calls);
            directories.add(&log.text(made.first.path), made.calls.calls);
        }
        let many = processes.into_values().filter(|(tally, _)| tally.amount >= MANY);
        let found = many.map(|(tally, names)| ProcessHabit {
            rule: "unused-files",
            file: shown(&names.common(), &log.text(tally.first.path)),
            tally,
            places: names.most(),
            fix: "do not write what nobody reads: keep it in memory, or make one file and empty it; SQLite: one transaction for many rows, or PRAGMA journal_mode = WAL or TRUNCATE instead of a new journal for each",
            assumes: "nobody needs the files after a crash, and programs that were not recorded do not read them",
        });
        found.collect()
    }
}

/// The one name of most of the files, or their directory.
fn shown(common: &Arc<str>, first: &Arc<str>) -> Arc<str> {
    match common == first {
        true => Arc::clone(common),
        false if split(first).0.starts_with(&**common) => Arc::clone(common),
        false => split(first).0.into(),
    }
}
