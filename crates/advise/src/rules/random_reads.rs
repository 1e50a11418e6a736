//! A process reads pieces of a file here and there, and each comes from storage.

use super::Rule;
use super::habit::{Context, Image, ProcessHabit, Saved, Seen, Tally};
use super::per_image::PerImage;
use iotrail_model::FileId;
use iotrail_model::calls::Transfer;

/// From so many such reads on it is a habit.
const MANY: u64 = 50;
/// What takes so long came from storage and not from memory, in ns.
const SLOW: u64 = 50_000;
/// What begins so close behind the read before was read ahead.
const NEAR: u64 = 128 << 10;
/// So many requests storage serves side by side; what is saved is all but one of them.
const SIDE_BY_SIDE: u64 = 8;

#[derive(Default)]
pub(crate) struct RandomReads {
    files: PerImage<FileId, Reads>,
}

struct Reads {
    /// End of the read before, and how far apart the last two began.
    end: u64,
    low: u64,
    stride: Option<i128>,
    all: u64,
    random: Tally,
}

impl Reads {
    fn is_habit(&self) -> bool {
        self.random.amount >= MANY && self.random.amount * 2 >= self.all
    }
}

impl Rule for RandomReads {
    fn see(&mut self, call: &Seen) {
        let reads = call.transfer == Transfer::Read && call.is_done() && call.selected;
        let (Some(file), Some((low, high)), true) = (call.file, call.range(), reads) else { return };
        let first = || Reads { end: low, low, stride: None, all: 0, random: Tally::new(call.first()) };
        let reads = self.files.entry((call.process(), file)).or_insert_with(first);
        let stride = i128::from(low) - i128::from(reads.low);
        let is_near = (reads.end..=reads.end.saturating_add(NEAR)).contains(&low);
        let is_random = !is_near && reads.stride != Some(stride);
        reads.all += 1;
        if is_random && call.time.is_some_and(|time| time >= SLOW) {
            reads.random.amount += 1;
            reads.random.waste(call);
        }
        (reads.low, reads.end, reads.stride) = (low, high, Some(stride));
    }

    fn ended(&mut self, image: Image) {
        self.files.keep_habits(image, Reads::is_habit);
    }

    fn found(&self, log: &Context) -> Vec<ProcessHabit> {
        let found = self.files.values().filter(|reads| reads.is_habit()).map(|reads| ProcessHabit {
            rule: "random-reads",
            file: log.text(reads.random.first.path),
            tally: Tally {
                saved: Saved { calls: 0, ..reads.random.saved.fraction(SIDE_BY_SIDE - 1, SIDE_BY_SIDE) },
                ..reads.random
            },
            places: Vec::new(),
            fix: "ask in the order of offsets, or for all pieces at once: C: posix_fadvise(fd, offset, length, POSIX_FADV_WILLNEED) for what comes next, io_uring or aio with several requests; Python: sort the requests, os.posix_fadvise, several threads with os.pread; MPI: MPI_File_read_at_all with an indexed type; a small file: read all of it once",
            assumes: "which pieces come next is known before they are needed, and the storage serves several requests at once",
        });
        found.collect()
    }
}
