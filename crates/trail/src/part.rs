//! One writer's share of a trail: rows in any order in, sorted Parquet files out.
//!
//! Rows arrive nearly sorted: a call that was blocked for long comes late, and the cases of several inputs come
//! interleaved. So rows wait in a buffer; when it is full it is sorted and its older part becomes a row group of the
//! main run. A row that belongs before what is written already is late and goes to a buffer of its own, which spills
//! as a sorted run. [`crate::merge`] brings all together at the end. Memory does not depend on the number of rows.

use crate::counters::{Counters, NamedCounters};
use crate::error::TrailError;
use crate::event_file::EventFile;
use crate::kind::kind_of;
use crate::limits::Limits;
use crate::merge::Merger;
use crate::meta::{Table, TableFile};
use crate::own_names::OwnNames;
use crate::parquet_file::ParquetFile;
use crate::path_set::PathSet;
use crate::rows::{Key, SortBuffer, key};
use crate::tables::TableWriter;
use iotrail_model::canonical::canonical;
use iotrail_model::{CaseId, Dictionaries, Event, FileRow, Process};
use std::fs;
use std::path::{Path, PathBuf};

/// Writes one part of each table; several parts can be written at the same time.
pub struct PartWriter {
    directory: PathBuf,
    part: u32,
    limits: Limits,
    names: OwnNames,
    counters: Counters,
    buffer: SortBuffer,
    main: EventFile,
    /// The last key of each row group of the main run.
    ends: Vec<Key>,
    late: SortBuffer,
    runs: Vec<PathBuf>,
    next_run: usize,
    paths: PathSet,
    processes: TableWriter<Process>,
}

impl std::fmt::Debug for PartWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PartWriter").field("directory", &self.directory).field("part", &self.part).finish()
    }
}

/// What a finished part adds to the trail.
#[derive(Debug)]
pub struct PartSummary {
    pub(crate) part: u32,
    pub(crate) files: Vec<TableFile>,
    pub(crate) counters: NamedCounters,
    pub(crate) max_case: Option<CaseId>,
}

impl PartSummary {
    /// Rows of the part's `events`.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.files.iter().filter(|file| file.table == Table::Events).map(|file| file.rows).sum()
    }
}

impl PartWriter {
    pub(crate) fn create(directory: &Path, part: u32, limits: Limits) -> Result<Self, TrailError> {
        Ok(Self {
            directory: directory.to_owned(),
            part,
            limits,
            names: OwnNames::default(),
            counters: Counters::default(),
            buffer: SortBuffer::default(),
            main: EventFile::create(&directory.join(Table::Events.file_name(part)))?,
            ends: Vec::new(),
            late: SortBuffer::default(),
            runs: Vec::new(),
            next_run: 0,
            paths: PathSet::new(directory, part),
            processes: TableWriter::create(&directory.join(Table::Processes.file_name(part)))?,
        })
    }

    /// Adds a row; rows may come in any order.
    ///
    /// # Errors
    /// If a file cannot be written.
    #[inline]
    pub fn push(&mut self, event: &Event, names: &Dictionaries) -> Result<(), TrailError> {
        let own = self.names.adopt(event, names);
        self.counters.count(&own, &self.names);
        if self.ends.last().is_some_and(|written| own.sort_key() < *written) {
            self.late.push(&own);
        } else {
            self.buffer.push(&own);
        }
        if (self.buffer.len() + self.late.len()).is_multiple_of(self.limits.check_rows) {
            self.tidy()
        } else {
            Ok(())
        }
    }

    /// Writes what has grown too large.
    fn tidy(&mut self) -> Result<(), TrailError> {
        if self.names.paths.memory() > self.limits.path_bytes {
            self.write_all()?;
            self.spill_late()?;
            self.paths.spill(&self.names.paths)?;
            self.names.paths.clear();
        }
        if self.late.len() >= self.limits.late_rows {
            self.spill_late()?;
        }
        if self.buffer.len() >= self.limits.buffer_rows {
            self.write_group()?;
        }
        Ok(())
    }

    /// Sorts the buffer and writes its oldest rows as a row group of the main run.
    fn write_group(&mut self) -> Result<(), TrailError> {
        let rows = self.limits.group_rows.min(self.buffer.len());
        let batch = self.buffer.sorted();
        self.main.write(batch, 0..rows, &self.names)?;
        self.ends.push(key(batch, rows - 1));
        self.buffer.drop_front(rows);
        Ok(())
    }

    fn write_all(&mut self) -> Result<(), TrailError> {
        while self.buffer.len() > 0 {
            self.write_group()?;
        }
        Ok(())
    }

    /// Writes the late rows as a sorted run.
    fn spill_late(&mut self) -> Result<(), TrailError> {
        if self.late.len() == 0 {
            return Ok(());
        }
        let path = self.new_run();
        let mut run = EventFile::create(&path)?;
        let batch = self.late.sorted();
        for first in (0..batch.len).step_by(self.limits.run_group_rows) {
            run.write(batch, first..batch.len.min(first + self.limits.run_group_rows), &self.names)?;
        }
        run.finish()?;
        self.late.clear();
        self.runs.push(path);
        Ok(())
    }

    fn new_run(&mut self) -> PathBuf {
        self.next_run += 1;
        self.directory.join(format!("events-{:04}-{}.run", self.part, self.next_run))
    }

    /// Adds a row to `processes`.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn push_process(&mut self, process: &Process) -> Result<(), TrailError> {
        self.counters.count_process(process.case, process.pid);
        self.processes.push(process.clone())
    }

    /// Makes everything that was pushed independent of `names`, whose ids may then change their meaning.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn rotate(&mut self, _names: &Dictionaries) -> Result<(), TrailError> {
        self.names.forget_translations();
        Ok(())
    }

    /// Sorts and writes what is left and closes the files.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn finish(mut self, _names: &Dictionaries) -> Result<PartSummary, TrailError> {
        self.write_all()?;
        self.spill_late()?;
        // Merging needs the memory.
        (self.buffer, self.late) = (SortBuffer::default(), SortBuffer::default());
        let file_of = |table: Table, rows| TableFile { file: table.file_name(self.part), table, rows };
        let mut files_table = TableWriter::create(&self.directory.join(Table::Files.file_name(self.part)))?;
        self.paths.finish(&self.names.paths, |path| files_table.push(file_row(path)))?;
        let files = file_of(Table::Files, files_table.finish()?);
        let processes = file_of(Table::Processes, self.processes.finish()?);
        let merge = Merge { directory: &self.directory, part: self.part, limits: self.limits };
        let rows = self.main.finish()?;
        let rows = match self.runs.is_empty() {
            true => rows,
            false => merge.all(&self.ends, self.runs, &mut self.names)?,
        };
        let events = file_of(Table::Events, rows);
        Ok(PartSummary {
            part: self.part,
            files: vec![events, processes, files],
            max_case: self.counters.max_case(),
            counters: self.counters.named(&self.names),
        })
    }
}

/// Brings the runs of a part together.
struct Merge<'a> {
    directory: &'a Path,
    part: u32,
    limits: Limits,
}

impl Merge<'_> {
    fn all(&self, ends: &[Key], mut runs: Vec<PathBuf>, names: &mut OwnNames) -> Result<u64, TrailError> {
        let mut generation = 0;
        while runs.len() > self.limits.fan_in {
            generation += 1;
            runs = self.fewer(&runs, generation, names)?;
        }
        let target = self.directory.join(Table::Events.file_name(self.part));
        let main = self.directory.join(format!("events-{:04}-main.run", self.part));
        fs::rename(&target, &main).map_err(TrailError::io("rename", &target))?;
        let out = EventFile::create(&target)?;
        let rows = Merger::new(out, names, self.limits.group_rows, &self.limits).merge_into_main(
            &ParquetFile::open(&main, Table::Events)?,
            ends,
            &runs,
        )?;
        runs.iter().chain([&main]).try_for_each(|path| remove(path))?;
        Ok(rows)
    }

    /// One generation of merging: as many runs at a time as may be open.
    fn fewer(
        &self,
        runs: &[PathBuf],
        generation: usize,
        names: &mut OwnNames,
    ) -> Result<Vec<PathBuf>, TrailError> {
        let mut merged = Vec::new();
        for (number, some) in runs.chunks(self.limits.fan_in).enumerate() {
            let path = self.directory.join(format!("events-{:04}-{generation}-{number}.run", self.part));
            let out = EventFile::create(&path)?;
            Merger::new(out, names, self.limits.run_group_rows, &self.limits).merge_runs(some)?;
            some.iter().try_for_each(|path| remove(path))?;
            merged.push(path);
        }
        Ok(merged)
    }
}

fn remove(path: &Path) -> Result<(), TrailError> {
    fs::remove_file(path).map_err(TrailError::io("remove", path))
}

fn file_row(path: String) -> FileRow {
    let canonical = canonical(&path).into_owned();
    let kind = kind_of(&path).map(str::to_owned);
    FileRow { path, canonical, kind, ..FileRow::default() }
}
