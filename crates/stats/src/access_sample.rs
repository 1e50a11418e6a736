//! When and where some files were accessed: a bounded sample of the transfers from and to each.
//!
//! Which accesses are in the sample depends on nothing but their numbers in the log, so that any split of a log gives the same.

use crate::file_uses::FileUsing;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::{Event, FileId, Nullable, PathId};
use iotrail_query::{Asks, Pass, Rows};
use iotrail_trail::Columns;
use std::collections::BinaryHeap;

/// A read or write: when, where in its file, how many bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SampledAccess {
    /// When it began, in ns since the epoch.
    pub start_ns: i64,
    /// Where in the file it began.
    pub offset: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Whether they went into the file.
    pub is_write: bool,
}

/// The accesses to the files of one row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessSample {
    /// Accesses whose offset is known.
    pub placed: u64,
    /// Accesses whose offset is unknown.
    pub unplaced: u64,
    /// All placed ones or, if they are too many, some that were drawn without regard to what they are; sorted by time.
    pub list: Vec<SampledAccess>,
}

/// The pass that draws the samples, over the events that the table of files is made of.
pub struct AccessSampling<'a> {
    files: &'a FileUsing<'a>,
    /// The sample of each row.
    samples: HashMap<usize, usize, RandomState>,
    most: usize,
}

impl<'a> AccessSampling<'a> {
    /// Of at most `most` accesses to each of `rows`, numbers of rows that `files` makes.
    #[must_use]
    pub fn new(files: &'a FileUsing<'a>, rows: &[usize], most: usize) -> Self {
        let samples = rows.iter().enumerate().map(|(sample, row)| (*row, sample)).collect();
        Self { files, samples, most }
    }

    fn sample(&self, file: Nullable<FileId>, path: Nullable<PathId>) -> Option<usize> {
        let table = &self.files.table;
        self.samples.get(&table.row(table.subject(file, path)?)).copied()
    }
}

/// What a worker draws.
pub struct Drawn(Vec<Draw>);

/// Those that were drawn for one sample: the ones with the smallest lots.
#[derive(Default)]
struct Draw {
    placed: u64,
    unplaced: u64,
    heap: BinaryHeap<(u64, SampledAccess)>,
}

impl Draw {
    fn add(&mut self, lot: u64, access: SampledAccess, most: usize) {
        if self.heap.len() < most {
            self.heap.push((lot, access));
        } else if let Some(mut largest) = self.heap.peek_mut()
            && (lot, access) < *largest
        {
            *largest = (lot, access);
        }
    }
}

/// A number that depends on that of an event only, and on nothing else about it (splitmix64).
fn lot(event: &Event) -> u64 {
    let mut bits = (u64::from(event.case.0) << 44 ^ event.seq).wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

impl Pass for AccessSampling<'_> {
    type Sums = Drawn;
    type Boundary = ();
    type Closed = ();
    type Output = Vec<AccessSample>;

    fn columns(&self) -> Columns {
        self.files.columns() | Columns::SEQ
    }

    fn asks(&self) -> Asks {
        self.files.asks()
    }

    fn sums(&self) -> Drawn {
        Drawn(self.samples.iter().map(|_| Draw::default()).collect())
    }

    fn closed(&self) {}

    fn add(&self, Drawn(draws): &mut Drawn, rows: &Rows<'_>) {
        let batch = rows.batch;
        if self.samples.is_empty() {
            return;
        }
        for row in (0..batch.len).filter(|row| rows.selected[*row]) {
            let event = batch.event(row);
            let kind = self.files.kinds.calls.of(&event);
            let Some(moved) = kind.moved(&event) else { continue };
            let offset = event.offset.get().and_then(|offset| u64::try_from(offset).ok());
            if let Some(draw) = self.sample(event.file, event.path).and_then(|at| draws.get_mut(at)) {
                match offset {
                    Some(offset) => {
                        let is_write = moved.written && !moved.read;
                        let access =
                            SampledAccess { start_ns: event.start.0, offset, bytes: moved.bytes, is_write };
                        draw.placed += 1;
                        draw.add(lot(&event), access, self.most);
                    }
                    None => draw.unplaced += 1,
                }
            }
            // Where a copy begins in its target is not recorded.
            if moved.read
                && moved.written
                && let Some(draw) = self.sample(event.file2, event.path2).and_then(|at| draws.get_mut(at))
            {
                draw.unplaced += 1;
            }
        }
    }

    fn merge(&self, Drawn(draws): &mut Drawn, Drawn(others): Drawn) {
        for (mine, theirs) in draws.iter_mut().zip(others) {
            mine.placed += theirs.placed;
            mine.unplaced += theirs.unplaced;
            theirs.heap.into_iter().for_each(|(lot, access)| mine.add(lot, access, self.most));
        }
    }

    fn close(&self, (): &mut (), (): ()) {}

    fn finish(&self, Drawn(draws): Drawn, (): ()) -> Vec<AccessSample> {
        let sample = |draw: Draw| {
            let mut list: Vec<SampledAccess> = draw.heap.into_iter().map(|(_, access)| access).collect();
            list.sort_unstable();
            AccessSample { placed: draw.placed, unplaced: draw.unplaced, list }
        };
        draws.into_iter().map(sample).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(at: u64) -> SampledAccess {
        SampledAccess { start_ns: at as i64, offset: at, bytes: 1, is_write: false }
    }

    #[test]
    fn a_sample_is_that_of_all_rows_whichever_worker_saw_them() {
        let lots: Vec<u64> = (0..5_000).map(|seq| lot(&Event { seq, ..Event::default() })).collect();
        let draw = |range: std::ops::Range<usize>| {
            let mut draw = Draw::default();
            range.for_each(|at| draw.add(lots[at], access(at as u64), 100));
            draw.heap.into_sorted_vec()
        };
        let whole = draw(0..5_000);
        let mut parts: Vec<_> = [0..3_000, 3_000..3_010, 3_010..5_000].into_iter().flat_map(draw).collect();
        parts.sort_unstable();
        parts.truncate(100);
        assert_eq!(parts, whole);
        // Drawn from everywhere: no fifth of the log has less than half of its share.
        for fifth in 0..5_u64 {
            let inside = whole.iter().filter(|(_, one)| one.offset / 1_000 == fifth).count();
            assert!(inside >= 10, "{fifth}: {inside}");
        }
    }
}
