//! Late rows find their place: sorted runs are merged into the main run.
//!
//! Rows arrive nearly sorted, so nearly all row groups of the main run are right as they are; these are copied byte
//! for byte, and only those that late rows fall into are decoded and encoded again.

use crate::columns::Columns;
use crate::decode::{NameTable, decode};
use crate::error::TrailError;
use crate::event_file::EventFile;
use crate::limits::Limits;
use crate::meta::{Table, Written};
use crate::own_names::{OwnDictionary, OwnNames};
use crate::parquet_file::ParquetFile;
use crate::rows::{Key, key};
use iotrail_model::{EventBatch, NameKind, Nullable, PathId};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::{Path, PathBuf};

impl NameTable for OwnNames {
    fn id(&mut self, column: NameKind, text: &str) -> Option<u32> {
        Some(self.column_mut(column).intern(text))
    }
}

/// A sorted file that is read one row group at a time.
struct Run {
    file: ParquetFile,
    next_group: usize,
    batch: EventBatch,
    at: usize,
}

impl Run {
    fn open(path: &Path, names: &mut OwnNames) -> Result<Self, TrailError> {
        let file = ParquetFile::open(path, Table::Events)?;
        let mut run = Self { file, next_group: 0, batch: EventBatch::default(), at: 0 };
        run.fill(names)?;
        Ok(run)
    }

    fn fill(&mut self, names: &mut OwnNames) -> Result<(), TrailError> {
        while self.at == self.batch.len && self.next_group < self.file.row_groups() {
            self.batch = decode(&self.file, self.next_group, Columns::ALL, names)?;
            self.at = 0;
            self.next_group += 1;
        }
        Ok(())
    }

    fn key(&self) -> Option<Key> {
        (self.at < self.batch.len).then(|| key(&self.batch, self.at))
    }
}

/// Several runs as one sorted stream.
struct Runs {
    runs: Vec<Run>,
    heap: BinaryHeap<Reverse<(Key, usize)>>,
}

impl Runs {
    fn open(paths: &[PathBuf], names: &mut OwnNames) -> Result<Self, TrailError> {
        let runs = paths.iter().map(|path| Run::open(path, names)).collect::<Result<Vec<_>, _>>()?;
        let heap =
            runs.iter().enumerate().filter_map(|(number, run)| Some(Reverse((run.key()?, number)))).collect();
        Ok(Self { runs, heap })
    }

    fn peek(&self) -> Option<Key> {
        self.heap.peek().map(|Reverse((key, _))| *key)
    }

    /// Moves the first row to the end of `out`.
    fn pop_into(&mut self, out: &mut EventBatch, names: &mut OwnNames) -> Result<(), TrailError> {
        if let Some(Reverse((_, number))) = self.heap.pop() {
            let run = &mut self.runs[number];
            out.append(&run.batch, run.at..run.at + 1);
            run.at += 1;
            run.fill(names)?;
            self.heap.extend(run.key().map(|key| Reverse((key, number))));
        }
        Ok(())
    }
}

/// Merges runs, and a main run with them.
pub(crate) struct Merger<'a> {
    out: EventFile,
    pending: EventBatch,
    names: &'a mut OwnNames,
    group_rows: usize,
    path_bytes: usize,
}

impl<'a> Merger<'a> {
    pub(crate) fn new(out: EventFile, names: &'a mut OwnNames, group_rows: usize, limits: &Limits) -> Self {
        names.paths.clear();
        Self { out, pending: EventBatch::default(), names, group_rows, path_bytes: limits.path_bytes }
    }

    /// Merges `runs` into one.
    pub(crate) fn merge_runs(mut self, paths: &[PathBuf]) -> Result<Written, TrailError> {
        let mut runs = Runs::open(paths, self.names)?;
        self.take_rest(&mut runs)?;
        self.out.finish()
    }

    /// Merges `runs` into the main run, whose row groups end with the keys `ends`.
    pub(crate) fn merge_into_main(
        mut self,
        main: &ParquetFile,
        ends: &[Key],
        paths: &[PathBuf],
    ) -> Result<Written, TrailError> {
        let mut runs = Runs::open(paths, self.names)?;
        for (row_group, end) in ends.iter().enumerate() {
            if runs.peek().is_none_or(|late| late >= *end) {
                self.write_pending()?;
                self.out.copy(main, row_group)?;
            } else {
                let group = decode(main, row_group, Columns::ALL, self.names)?;
                self.merge_group(group, &mut runs)?;
            }
        }
        self.take_rest(&mut runs)?;
        self.out.finish()
    }

    fn merge_group(&mut self, mut group: EventBatch, runs: &mut Runs) -> Result<(), TrailError> {
        let mut at = 0;
        while at < group.len {
            let before_late = match runs.peek() {
                Some(late) => count_before(&group, at, late),
                None => group.len - at,
            };
            self.pending.append(&group, at..at + before_late);
            at += before_late;
            if at < group.len {
                runs.pop_into(&mut self.pending, self.names)?;
            }
            if self.pending.len >= 2 * self.group_rows {
                self.write_full(runs, &mut group)?;
            }
        }
        self.write_full(runs, &mut EventBatch::default())?;
        // What is about as large as a row group need not wait for more.
        if self.pending.len >= self.group_rows / 2 { self.write_pending() } else { Ok(()) }
    }

    fn take_rest(&mut self, runs: &mut Runs) -> Result<(), TrailError> {
        while runs.peek().is_some() {
            runs.pop_into(&mut self.pending, self.names)?;
            if self.pending.len >= 2 * self.group_rows {
                self.write_full(runs, &mut EventBatch::default())?;
            }
        }
        self.write_pending()
    }

    /// Writes whole row groups; what is left waits for more rows. `group` is in use, too.
    fn write_full(&mut self, runs: &mut Runs, group: &mut EventBatch) -> Result<(), TrailError> {
        while self.pending.len >= self.group_rows * 3 / 2 {
            self.out.write(&self.pending, 0..self.group_rows, self.names)?;
            self.pending.drop_front(self.group_rows);
        }
        if self.names.paths.memory() > self.path_bytes {
            let batches = runs.runs.iter_mut().map(|run| &mut run.batch).chain([&mut self.pending, group]);
            keep_live_paths(&mut self.names.paths, batches);
        }
        Ok(())
    }

    fn write_pending(&mut self) -> Result<(), TrailError> {
        if self.pending.len > 0 {
            self.out.write(&self.pending, 0..self.pending.len, self.names)?;
            self.pending.clear();
        }
        Ok(())
    }
}

/// How many rows from `first` on come before or with `late`.
fn count_before(group: &EventBatch, first: usize, late: Key) -> usize {
    let (mut low, mut high) = (first, group.len);
    while low < high {
        let middle = low + (high - low) / 2;
        if key(group, middle) <= late {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low - first
}

/// Renumbers the paths so that only those of rows in memory are kept.
fn keep_live_paths<'a>(paths: &mut OwnDictionary, batches: impl Iterator<Item = &'a mut EventBatch>) {
    let all = std::mem::take(paths);
    for batch in batches {
        for path in batch.path.iter_mut().chain(&mut batch.path2) {
            if let Some(id) = path.get() {
                *path = Nullable::some(PathId(paths.intern_bytes(all.text(id.0))));
            }
        }
    }
}
