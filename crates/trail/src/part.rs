//! One writer's share of a trail: rows in any order in, sorted Parquet files out.
//!
//! Rows arrive nearly sorted: a call that was blocked for long comes late, and the cases of several inputs come
//! interleaved. So rows wait in a buffer; when it is full its oldest rows are sorted and become a row group of the main run. A row that belongs before what is written already is late and goes to a buffer of its own, which spills
//! as a sorted run. [`crate::merge`] brings all together at the end. Memory does not depend on the number of rows.

use crate::counters::{Counters, NamedCounters};
use crate::error::TrailError;
use crate::event_file::EventFile;
use crate::fact_set::FactSet;
use crate::group_writer::GroupWriter;
use crate::kind::kind_of;
use crate::limits::Limits;
use crate::merge::Merger;
use crate::meta::{Table, TableFile, Written};
use crate::name_pairs::{Mentioned, NamePairs, of_key};
use crate::own_names::OwnNames;
use crate::parquet_file::ParquetFile;
use crate::rows::{Key, SortBuffer};
use crate::sites;
use crate::tables::TableWriter;
use crate::text_runs::TextRuns;
use iotrail_model::canonical::canonical;
use iotrail_model::{
    CaseId, Dictionaries, Event, EventBatch, FileId, FileKind, FileRow, NamedFile, Nullable, Process, Site,
    SiteId,
};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Writes one part of each table; several parts can be written at the same time.
pub struct PartWriter {
    directory: PathBuf,
    part: u32,
    limits: Limits,
    names: OwnNames,
    counters: Counters,
    buffer: SortBuffer,
    /// Memory for rows on their way from there to a row group.
    oldest: EventBatch,
    main: GroupWriter,
    /// The last key of each row group of the main run.
    ends: Vec<Key>,
    late: SortBuffer,
    runs: Vec<PathBuf>,
    next_run: usize,
    /// The names in `names` and their files.
    pairs: NamePairs,
    /// Those that are no longer there.
    paths: TextRuns<0>,
    numberings: Numberings,
    facts: FactSet,
    processes: TableWriter<Process>,
    sites: BTreeMap<SiteId, Site>,
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
    /// With `apart`, row groups are encoded on a thread of their own.
    pub(crate) fn create(
        directory: &Path,
        part: u32,
        limits: Limits,
        apart: bool,
    ) -> Result<Self, TrailError> {
        Ok(Self {
            directory: directory.to_owned(),
            part,
            limits,
            names: OwnNames::default(),
            counters: Counters::default(),
            buffer: SortBuffer::default(),
            oldest: EventBatch::default(),
            main: GroupWriter::create(&directory.join(Table::Events.file_name(part)), apart)?,
            ends: Vec::new(),
            late: SortBuffer::default(),
            runs: Vec::new(),
            next_run: 0,
            pairs: NamePairs::default(),
            numberings: Numberings::default(),
            paths: TextRuns::new(directory, format!("paths-{part:04}")),
            facts: FactSet::new(directory, part, limits.path_bytes),
            processes: TableWriter::create(&directory.join(Table::Processes.file_name(part)))?,
            sites: BTreeMap::new(),
        })
    }

    /// Adds a row; rows may come in any order.
    ///
    /// # Errors
    /// If a file cannot be written.
    #[inline]
    pub fn push(&mut self, event: &Event, names: &Dictionaries) -> Result<(), TrailError> {
        let own = self.names.translate(event, names);
        self.counters.count(&own, &self.names);
        self.pairs.note(own.path, own.file);
        self.pairs.note(own.path2, own.file2);
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
        if self.names.paths.memory() + self.pairs.memory() > self.limits.path_bytes {
            self.write_all()?;
            self.spill_late()?;
            self.paths.spill(entries(&self.pairs.keys(&self.names.paths)))?;
            self.pairs.clear();
            self.names.paths.clear();
            self.main.forget_paths();
        }
        if self.late.len() >= self.limits.late_rows {
            self.spill_late()?;
        }
        if self.buffer.len() >= self.limits.buffer_rows {
            self.write_group()?;
        }
        Ok(())
    }

    /// Writes the oldest rows of the buffer as a row group of the main run.
    fn write_group(&mut self) -> Result<(), TrailError> {
        self.oldest.clear();
        let last = self.buffer.take_least(self.limits.group_rows, &mut self.oldest);
        self.ends.extend(last);
        self.main.write(&mut self.oldest, &self.names)
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
        self.counters.count_process(process);
        self.processes.push(process.clone())
    }

    /// Adds a call site that events refer to.
    pub fn push_site(&mut self, site: SiteId, of: Site) {
        self.sites.insert(site, of);
    }

    /// Adds what is known of a file. It stands in the row of `path` in `files` if an event mentions that path, before or
    /// after, or, unless it has lost that name, the file; the latest facts count.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn push_file(&mut self, path: &[u8], file: impl Into<NamedFile>) -> Result<(), TrailError> {
        self.facts.push(path, file.into())
    }

    /// From the number `from` on, files are numbered by one resolver, whose first case is `case`: a number means the same
    /// file in all parts that name this case.
    pub fn numbering(&mut self, case: CaseId, from: FileId) {
        self.numberings.0.push((from, case));
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
        self.oldest = EventBatch::default();
        let table = TableWriter::create(&self.directory.join(Table::Files.file_name(self.part)))?;
        let names = self.pairs.keys(&self.names.paths);
        let of_names = NameRows { mentioned: self.pairs.into_files(), numberings: self.numberings };
        let files = of_names.write(table, self.paths, &names, self.facts)?;
        let processes = self.processes.finish()?;
        let merge = Merge { directory: &self.directory, part: self.part, limits: self.limits };
        let events = match self.main.finish()? {
            Some(events) if self.runs.is_empty() => events,
            _ => merge.all(&self.ends, self.runs, &mut self.names)?,
        };
        let part = self.part;
        let tables = [
            events.listed(Table::Events, part),
            processes.listed(Table::Processes, part),
            files.listed(Table::Files, part),
        ];
        let sites = sites::write(&self.sites, &self.directory, part)?;
        Ok(PartSummary {
            part,
            files: tables.into_iter().chain(sites).collect(),
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
    fn all(&self, ends: &[Key], mut runs: Vec<PathBuf>, names: &mut OwnNames) -> Result<Written, TrailError> {
        let mut generation = 0;
        while runs.len() > self.limits.fan_in {
            generation += 1;
            runs = self.fewer(&runs, generation, names)?;
        }
        let target = self.directory.join(Table::Events.file_name(self.part));
        let main = self.directory.join(format!("events-{:04}-main.run", self.part));
        fs::rename(&target, &main).map_err(TrailError::io("rename", &target))?;
        let out = EventFile::create(&target)?;
        let written = Merger::new(out, names, self.limits.group_rows, &self.limits).merge_into_main(
            &ParquetFile::open(&main, Table::Events)?,
            ends,
            &runs,
        )?;
        runs.iter().chain([&main]).try_for_each(|path| remove(path))?;
        Ok(written)
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

fn entries(keys: &[Vec<u8>]) -> impl Iterator<Item = (&[u8], [u8; 0])> {
    keys.iter().map(|key| (key.as_slice(), []))
}

/// Where the numbers of one resolver begin, and its first case; ascending.
#[derive(Debug, Default)]
pub(crate) struct Numberings(Vec<(FileId, CaseId)>);

impl Numberings {
    fn case_of(&self, file: Nullable<FileId>) -> Option<CaseId> {
        let after = self.0.partition_point(|(from, _)| Some(*from) <= file.get());
        self.0.get(after.checked_sub(1)?).map(|(_, case)| *case)
    }
}

/// The rows of the names of files.
struct NameRows {
    /// Files that events mention.
    mentioned: Mentioned,
    numberings: Numberings,
}

impl NameRows {
    /// Writes the row of each name of a file with what is known of it: the names that events mention, and those that such a
    /// file got otherwise (with its directory, or in exchange). A path that also denotes a file has no row for the calls of
    /// which it is not known what it denoted.
    fn write(
        &self,
        mut table: TableWriter<FileRow>,
        names: TextRuns<0>,
        rest: &[Vec<u8>],
        facts: FactSet,
    ) -> Result<Written, TrailError> {
        let (mut names, mut facts) = (names.finish(entries(rest))?, facts.finish()?);
        let mut last = Vec::new();
        loop {
            let name = names.next()?;
            while let Some((key, known)) = facts.before(name.as_ref().map(|(key, [])| key.as_slice()))? {
                if !known.gone && known.file.get().is_some_and(|file| self.mentioned.has(file)) {
                    last = of_key(&key).0.to_vec();
                    self.push(&mut table, &last, &known)?;
                }
            }
            let Some((key, [])) = name else { break };
            let (path, file) = of_key(&key);
            let known = facts.of(&key)?.unwrap_or(NamedFile { file, ..NamedFile::default() });
            if !(file.is_null() && path == last) {
                last = path.to_vec();
                self.push(&mut table, path, &known)?;
            }
        }
        names.remove()?;
        facts.remove()?;
        table.finish()
    }

    fn push(
        &self,
        table: &mut TableWriter<FileRow>,
        path: &[u8],
        known: &NamedFile,
    ) -> Result<(), TrailError> {
        // Dictionaries of a part hold texts.
        let path = String::from_utf8_lossy(path).into();
        table.push(FileRow { case: self.numberings.case_of(known.file), ..file_row(path, known) })
    }
}

/// The row of a name. What was found there is a better word on its kind than the name itself.
pub(crate) fn file_row(path: Arc<str>, named: &NamedFile) -> FileRow {
    let facts = named.facts.as_ref();
    let found = facts.and_then(|facts| facts.kind).or(named.kind).map(FileKind::name);
    FileRow {
        canonical: canonical(&path).into(),
        kind: found.or_else(|| kind_of(&path)).map(str::to_owned),
        device: facts.map(|facts| facts.device),
        inode: facts.map(|facts| facts.inode),
        size: facts.and_then(|facts| facts.size),
        file: named.file.get().map(|file| file.0),
        birth: facts.and_then(|facts| facts.birth),
        gone: named.file.get().map(|_| named.gone),
        case: None,
        path,
    }
}
