//! One writer's share of a trail: rows in any order in, sorted Parquet files out.

use crate::counters::{Counters, NamedCounters};
use crate::error::TrailError;
use crate::event_file::EventFile;
use crate::kind::kind_of;
use crate::meta::{Table, TableFile};
use crate::own_names::OwnNames;
use crate::tables::TableWriter;
use iotrail_model::canonical::canonical;
use iotrail_model::{CaseId, Dictionaries, Event, EventBatch, FileRow, Process};
use std::path::{Path, PathBuf};

/// Writes one part of each table; several parts can be written at the same time.
pub struct PartWriter {
    directory: PathBuf,
    part: u32,
    names: OwnNames,
    counters: Counters,
    events: Vec<Event>,
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
    pub(crate) fn create(directory: &Path, part: u32) -> Result<Self, TrailError> {
        Ok(Self {
            directory: directory.to_owned(),
            part,
            names: OwnNames::default(),
            counters: Counters::default(),
            events: Vec::new(),
            processes: TableWriter::create(&directory.join(Table::Processes.file_name(part)))?,
        })
    }

    /// Adds a row; rows may come in any order.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn push(&mut self, event: &Event, names: &Dictionaries) -> Result<(), TrailError> {
        let own = self.names.adopt(event, names);
        self.counters.count(&own, &self.names);
        self.events.push(own);
        Ok(())
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
        self.events.sort_by_key(Event::sort_key);
        let mut files = Vec::new();
        let mut events = EventFile::create(&self.path(Table::Events))?;
        let batch = EventBatch::from_events(&self.events);
        for first in (0..batch.len).step_by(1 << 17) {
            events.write(&batch, first..batch.len.min(first + (1 << 17)), &self.names)?;
        }
        files.push(self.table_file(Table::Events, events.finish()?));
        let mut paths = TableWriter::create(&self.path(Table::Files))?;
        let mut texts: Vec<String> =
            self.names.paths.iter().map(|text| String::from_utf8_lossy(text).into_owned()).collect();
        texts.sort_unstable();
        for path in texts {
            paths.push(file_row(path))?;
        }
        files.push(self.table_file(Table::Files, paths.finish()?));
        let path = self.table_file(Table::Processes, 0);
        let rows = self.processes.finish()?;
        files.push(TableFile { rows, ..path });
        let max_case = self.counters.max_case();
        Ok(PartSummary { part: self.part, files, counters: self.counters.named(&self.names), max_case })
    }

    fn path(&self, table: Table) -> PathBuf {
        self.directory.join(table.file_name(self.part))
    }

    fn table_file(&self, table: Table, rows: u64) -> TableFile {
        TableFile { file: table.file_name(self.part), table, rows }
    }
}

fn file_row(path: String) -> FileRow {
    let canonical = canonical(&path).into_owned();
    let kind = kind_of(&path).map(str::to_owned);
    FileRow { path, canonical, kind, ..FileRow::default() }
}
