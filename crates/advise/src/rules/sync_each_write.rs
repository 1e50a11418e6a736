//! Little data is forced to storage each time: by fsync and its like, or by opening with `O_SYNC`.

use super::Rule;
use super::habit::{Context, First, Image, ProcessHabit, Saved, Seen, Tally};
use super::per_image::PerImage;
use iotrail_model::FileId;
use iotrail_model::calls::{CallKind, Transfer};

/// From so many times on it is a habit.
const MANY: u64 = 10;
/// Storage takes this much at once about as fast as less.
const LITTLE: u64 = 64 << 10;
/// What is saved if ten are done at once, in a hundred.
const SAVED: u64 = 90;

#[derive(Default)]
pub(crate) struct SyncEachWrite {
    files: PerImage<FileId, Uses>,
}

struct Uses {
    first: First,
    /// Bytes since the last time.
    bytes: u64,
    /// Bytes in all.
    forced: u64,
    /// Those that forced little.
    small: Saved,
}

impl Rule for SyncEachWrite {
    fn see(&mut self, call: &Seen) {
        let Some(file) = call.file.filter(|_| call.is_done() && call.selected) else { return };
        let writes = call.transfer == Transfer::Write;
        if !writes && call.kind != CallKind::Sync {
            return;
        }
        let uses = self.files.entry((call.process(), file)).or_insert_with(|| Uses {
            first: call.first(),
            bytes: 0,
            forced: 0,
            small: Saved::default(),
        });
        if writes {
            uses.bytes = uses.bytes.saturating_add(call.size.unwrap_or_default());
        }
        if !writes || call.syncs {
            if uses.bytes > 0 && uses.bytes < LITTLE {
                uses.small.add(call);
                uses.forced = uses.forced.saturating_add(uses.bytes);
            }
            uses.bytes = 0;
        }
    }

    fn ended(&mut self, image: Image) {
        self.files.keep_habits(image, |uses| uses.small.calls >= MANY);
    }

    fn found(&self, log: &Context) -> Vec<ProcessHabit> {
        let many = self.files.values().filter(|uses| uses.small.calls >= MANY);
        let found = many.map(|uses| ProcessHabit {
            rule: "sync-each-write",
            file: log.text(uses.first.path),
            tally: Tally {
                first: uses.first,
                calls: uses.small.calls,
                saved: uses.small.percent(SAVED),
                amount: uses.forced,
            },
            places: Vec::new(),
            fix: "force several records at once: one transaction for many rows (SQL: BEGIN ... COMMIT), one fsync for a batch or at the end, fdatasync where times do not matter; without O_SYNC where a crash may lose the last records",
            assumes: "ten of them can be one: the program can do without the last records if the machine fails in between",
        });
        found.collect()
    }
}
