//! A process opens many files that each hold little.

use super::Rule;
use super::habit::{
    Context, Directories, First, Image, ProcessHabit, Saved, Seen, Tally, is_of_system, split,
};
use super::per_image::PerImage;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::FileId;
use iotrail_model::calls::{CallKind, Transfer};

/// From so many files on it is a habit.
const MANY: u64 = 200;
/// What is little for a file.
const LITTLE: u64 = 32 << 10;
/// What is saved if they are kept in one file, in a hundred.
const SAVED: u64 = 95;

#[derive(Default)]
pub(crate) struct SmallFiles {
    files: PerImage<FileId, Used>,
}

struct Used {
    first: First,
    bytes: u64,
    /// Opens, closes and lookups.
    around: Saved,
}

impl Rule for SmallFiles {
    fn see(&mut self, call: &Seen) {
        let Some(file) = call.file.filter(|_| call.is_done()) else { return };
        let key = (call.process(), file);
        if matches!(call.kind, CallKind::Open | CallKind::Create) && call.selected {
            let used = Used { first: call.first(), bytes: 0, around: Saved::default() };
            self.files.entry(key).or_insert(used).around.add(call);
        } else if call.kind == CallKind::Unlink {
            self.files.remove(&key);
        } else if let Some(used) = self.files.get_mut(&key) {
            match (call.transfer, call.kind) {
                (Transfer::None, CallKind::Close | CallKind::Stat) => used.around.add(call),
                (Transfer::None, _) => {}
                _ => used.bytes = used.bytes.saturating_add(call.size.unwrap_or_default()),
            }
        }
    }

    fn ended(&mut self, image: Image) {
        self.files.keep_many(image, MANY as usize);
    }

    fn found(&self, log: &Context) -> Vec<ProcessHabit> {
        let mut processes: HashMap<Image, (Tally, Directories), RandomState> = HashMap::default();
        let is_small = |used: &&Used| used.bytes > 0 && used.bytes < LITTLE;
        for used in self.files.values().filter(is_small) {
            let path = log.text(used.first.path);
            if is_of_system(&path) {
                continue;
            }
            let (tally, directories) = processes
                .entry(used.first.process())
                .or_insert_with(|| (Tally::new(used.first), Directories::default()));
            if used.first.seq < tally.first.seq {
                tally.first = used.first;
            }
            tally.amount += 1;
            tally.calls += used.around.calls;
            tally.saved.join(used.around);
            directories.add(split(&path).0, used.around.calls);
        }
        let many = processes.into_values().filter(|(tally, _)| tally.amount >= MANY);
        let found = many.map(|(tally, directories)| ProcessHabit {
            rule: "small-files",
            file: directories.common(),
            tally: Tally { saved: tally.saved.percent(SAVED), ..tally },
            places: directories.most(),
            fix: "keep many small pieces in one file: HDF5, NetCDF, SQLite, an indexed tar or zip file (Python: zipfile, webdataset); git: `git gc`; on parallel file systems copy an archive to local storage and unpack it there",
            assumes: "the form of the data is yours to choose",
        });
        found.collect()
    }
}
