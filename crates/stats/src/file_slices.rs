//! What was done to some files in slices of time.
//!
//! A call counts in the slice in which it begins, with its bytes; its I/O time counts where it passes.

use crate::file_uses::FileUsing;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::{FileId, Nullable, PathId};
use iotrail_query::{Asks, Pass, Rows, TimeSlices};
use iotrail_trail::Columns;

/// The files of a row by slice. All lists are as long as there are slices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSlices {
    /// Calls that name it.
    pub calls: Vec<u64>,
    /// Their I/O time without requests, ns.
    pub io_ns: Vec<u64>,
    /// Bytes that they read from it.
    pub bytes_read: Vec<u64>,
    /// Bytes that they wrote into it.
    pub bytes_written: Vec<u64>,
}

/// The pass that makes them, over the events that the table of files is made of.
pub struct FileSlicing<'a> {
    files: &'a FileUsing<'a>,
    /// The place of each row in the result.
    places: HashMap<usize, usize, RandomState>,
    slices: TimeSlices,
}

impl<'a> FileSlicing<'a> {
    /// Of `rows`, numbers of rows that `files` makes.
    #[must_use]
    pub fn new(files: &'a FileUsing<'a>, rows: &[usize], slices: TimeSlices) -> Self {
        let places = rows.iter().enumerate().map(|(index, row)| (*row, index)).collect();
        Self { files, places, slices }
    }

    fn place(&self, file: Nullable<FileId>, path: Nullable<PathId>) -> Option<usize> {
        let table = &self.files.table;
        self.places.get(&table.row(table.subject(file, path)?)).copied()
    }
}

impl Pass for FileSlicing<'_> {
    type Sums = Vec<FileSlices>;
    type Boundary = ();
    type Closed = ();
    type Output = Vec<FileSlices>;

    fn columns(&self) -> Columns {
        self.files.columns()
    }

    fn asks(&self) -> Asks {
        self.files.asks()
    }

    fn sums(&self) -> Vec<FileSlices> {
        let none = || vec![0; self.slices.count];
        let row = |_| FileSlices { calls: none(), io_ns: none(), bytes_read: none(), bytes_written: none() };
        (0..self.places.len()).map(row).collect()
    }

    fn closed(&self) {}

    fn add(&self, sums: &mut Vec<FileSlices>, rows: &Rows<'_>) {
        let batch = rows.batch;
        for row in (0..batch.len).filter(|row| rows.selected[*row]) {
            let first = self.place(batch.file[row], batch.path[row]);
            let second = self.place(batch.file2[row], batch.path2[row]);
            if first.is_none() && second.is_none() {
                continue;
            }
            let Some(slice) = self.slices.of(batch.case[row], batch.start[row]) else { continue };
            let event = batch.event(row);
            let kind = self.files.kinds.calls.of(&event);
            let (second, moved) = (second.filter(|_| kind.second), kind.moved(&event));
            let is_copy = moved.is_some_and(|moved| moved.read && moved.written);
            if let Some(index) = first {
                let file = &mut sums[index];
                file.calls[slice] += 1;
                let classes = &self.files.kinds.classes;
                let is_io = || classes.of(batch, row).is_some_and(|class| class.is_io());
                if !classes.is_request(batch.call[row]) && is_io() {
                    let add =
                        |slice: usize, nanos| file.io_ns[slice] = file.io_ns[slice].saturating_add(nanos);
                    self.slices.spread(event.start, event.dur, add);
                }
                if let Some(moved) = moved {
                    file.move_bytes(slice, moved.bytes, moved.read, moved.written && !is_copy);
                }
            }
            if let Some(index) = second {
                let file = &mut sums[index];
                file.calls[slice] += u64::from(first != Some(index));
                if let Some(moved) = moved.filter(|_| is_copy) {
                    file.move_bytes(slice, moved.bytes, false, true);
                }
            }
        }
    }

    fn merge(&self, sums: &mut Vec<FileSlices>, other: Vec<FileSlices>) {
        let add = |mine: &mut [u64], theirs: &[u64]| {
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine = mine.saturating_add(*theirs));
        };
        for (mine, theirs) in sums.iter_mut().zip(other) {
            add(&mut mine.calls, &theirs.calls);
            add(&mut mine.io_ns, &theirs.io_ns);
            add(&mut mine.bytes_read, &theirs.bytes_read);
            add(&mut mine.bytes_written, &theirs.bytes_written);
        }
    }

    fn close(&self, (): &mut (), (): ()) {}

    fn finish(&self, sums: Vec<FileSlices>, (): ()) -> Vec<FileSlices> {
        sums
    }
}

impl FileSlices {
    fn move_bytes(&mut self, slice: usize, bytes: u64, read: bool, written: bool) {
        let add = |sum: &mut u64, is: bool| *sum = sum.saturating_add(if is { bytes } else { 0 });
        add(&mut self.bytes_read[slice], read);
        add(&mut self.bytes_written[slice], written);
    }
}
