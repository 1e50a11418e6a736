//! A process opens many files that each hold little.

use super::Rule;
use super::habit::{Context, Directories, First, Image, ProcessHabit, Saved, Seen, Tally, split};
use super::per_image::PerImage;
use iotrail_model::calls::{CallKind, Transfer};
use iotrail_model::{FileId, PathId, Tid};

/// From so many files on it is a habit.
const MANY: u64 = 200;
/// What is little for a file.
const LITTLE: u64 = 32 << 10;
/// What is saved if they are kept in one file, in a hundred.
const SAVED: u64 = 95;

#[derive(Default)]
pub(crate) struct SmallFiles {
    files: PerImage<FileId, Used>,
    /// What each thread has looked at last, of which it may do more: its lookups.
    looked_at: PerImage<Tid, (FileId, Saved)>,
    /// What programs did that have ended.
    ended: Vec<Small>,
}

#[derive(Clone, Copy)]
struct Used {
    first: First,
    bytes: u64,
    /// Opens, closes and lookups.
    around: Saved,
}

/// The small files of a program, if they are many.
#[derive(Clone)]
struct Small {
    tally: Tally,
    /// Their paths, and the calls around each.
    files: Vec<(Option<PathId>, u32)>,
}

impl Rule for SmallFiles {
    fn see(&mut self, call: &Seen) {
        let Some(file) = call.file.filter(|_| call.is_done()) else { return };
        let key = (call.process(), file);
        if matches!(call.kind, CallKind::Open | CallKind::Create) && call.selected && !call.is_of_system {
            let looked =
                self.looked_at.remove(&(call.process(), call.tid)).filter(|(looked, _)| *looked == file);
            let around = looked.map(|(_, lookups)| lookups).unwrap_or_default();
            let used = Used { first: call.first(), bytes: 0, around };
            self.files.entry(key).or_insert(used).around.add(call);
        } else if call.kind == CallKind::Unlink {
            self.files.remove(&key);
        } else if let Some(used) = self.files.get_mut(&key) {
            match (call.transfer, call.kind) {
                (Transfer::None, CallKind::Close | CallKind::Stat) => used.around.add(call),
                (Transfer::None, _) => {}
                _ => used.bytes = used.bytes.saturating_add(call.size.unwrap_or_default()),
            }
        } else if call.kind == CallKind::Stat && call.selected {
            let none = (file, Saved::default());
            let looked = self.looked_at.entry((call.process(), call.tid)).or_insert(none);
            if looked.0 != file {
                *looked = none;
            }
            looked.1.add(call);
        }
    }

    fn ended(&mut self, image: Image) {
        drop(self.looked_at.take(image));
        self.ended.extend(Small::of(self.files.take(image)));
    }

    fn found(&self, log: &Context) -> Vec<ProcessHabit> {
        let running = self.files.images().filter_map(|files| Small::of(files.copied()));
        running.chain(self.ended.iter().cloned()).map(|small| small.habit(log)).collect()
    }
}

impl Small {
    fn of(files: impl Iterator<Item = Used>) -> Option<Self> {
        let mut files = files.filter(|used| used.bytes > 0 && used.bytes < LITTLE).peekable();
        let mut small = Self { tally: Tally::new(files.peek()?.first), files: Vec::new() };
        for Used { first, around, .. } in files {
            let tally = &mut small.tally;
            if first.seq < tally.first.seq {
                tally.first = first;
            }
            tally.amount += 1;
            tally.calls += around.calls;
            tally.saved.join(around);
            small.files.push((first.path, u32::try_from(around.calls).unwrap_or(u32::MAX)));
        }
        small.files.shrink_to_fit();
        (small.tally.amount >= MANY).then_some(small)
    }

    fn habit(self, log: &Context) -> ProcessHabit {
        let Self { tally, files } = self;
        let mut directories = Directories::default();
        for (path, calls) in files {
            directories.add(split(&log.text(path)).0, calls.into());
        }
        ProcessHabit {
            rule: "small-files",
            file: directories.common(),
            tally: Tally { saved: tally.saved.percent(SAVED), ..tally },
            places: directories.most(),
            fix: "keep many small pieces in one file: HDF5, NetCDF, SQLite, an indexed tar or zip file (Python: zipfile, webdataset); git: `git gc`; on parallel file systems copy an archive to local storage and unpack it there",
            assumes: "the form of the data is yours to choose",
        }
    }
}
