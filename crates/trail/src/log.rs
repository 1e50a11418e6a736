//! One or several trails as one event log.

use crate::columns::Columns;
use crate::decode::{PageDecoder, decode_into};
use crate::error::TrailError;
use crate::identity::{ByPath, DistinctFile, FileName, Identities, Name, Numbering};
use crate::info::Info;
use crate::meta::Table;
use crate::name_index::NameIndex;
use crate::parquet_file::ParquetFile;
use crate::read_tables;
use crate::row_group::RowGroupMeta;
use crate::sites::{self, SiteNumbers, Sites};
use crate::trail::Trail;
use hashbrown::HashMap;
use iotrail_kernel::pool;
use iotrail_model::places::is_pseudo;
use iotrail_model::{
    Case, CaseId, Coverage, EventBatch, FileId, FileRow, Layer, Limitation, NameKind, Names, Nullable,
    PathId, Process, Site,
};
use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

/// Adds what another part knows of the same path.
fn learn(known: &mut FileRow, other: &FileRow) {
    if known.device.is_none() && other.device.is_some() {
        let kind = other.kind.clone().or_else(|| known.kind.take());
        (known.device, known.inode, known.size, known.kind) = (other.device, other.inode, other.size, kind);
    }
}

/// Each path is its own file.
fn name_files(files: &mut [Nullable<FileId>], paths: &[Nullable<PathId>]) {
    for (file, path) in files.iter_mut().zip(paths) {
        *file = path.get().map(|path| FileId(path.0)).into();
    }
}

/// What is known of the size under a name: nothing where somebody looked and saw none. A name that the file has lost keeps its own, if those
/// that are left tell the file's.
fn size_under(file: &DistinctFile, name: &FileName) -> Option<i64> {
    let is_gone = |name: &FileName| name.gone == Some(true);
    let is_told = || file.names.iter().any(|other| !is_gone(other) && other.size.is_some());
    match name.looked_at {
        true if name.size.is_none() || is_gone(name) && is_told() => name.size,
        _ => file.size,
    }
}

/// What stands for its part in the name of a file: `0003.parquet`.
pub(crate) fn part_of(file: &ParquetFile) -> &str {
    let name = file.path().file_name().and_then(std::ffi::OsStr::to_str).unwrap_or_default();
    name.rsplit('-').next().unwrap_or_default()
}

/// One or several trails; ids of cases and names are over all of them.
#[derive(Debug)]
pub struct EventLog {
    trails: Vec<Trail>,
    /// The log's id of each trail's first case.
    first_cases: Vec<u32>,
    cases: Vec<Case>,
    names: NameIndex,
    files: Vec<FileRow>,
    /// Rows of tables `files` whose files are not known yet.
    unidentified: Vec<Name>,
    identities: Identities,
    /// Number of parts.
    parts: usize,
    /// Names of hosts, while rows are read.
    hosts: Vec<String>,
    groups: Vec<Group>,
    sites: Sites,
    memory: Option<Memory>,
}

#[derive(Debug)]
struct Group {
    meta: RowGroupMeta,
    place: RowGroupSource,
}

#[derive(Debug)]
enum RowGroupSource {
    File { trail: usize, part: usize, file: ParquetFile, row_group: usize, sites: Arc<SiteNumbers> },
    Memory(Box<EventBatch>),
}

/// What a log in memory holds beside its batches.
#[derive(Debug)]
struct Memory {
    processes: Vec<Process>,
}

impl EventLog {
    /// Opens trails as one event log, in the order given.
    ///
    /// # Errors
    /// If one of them cannot be opened or its table `files` cannot be read.
    pub fn open(paths: &[PathBuf]) -> Result<Self, TrailError> {
        Self::of_trails(paths.iter().map(|path| Trail::open(path)).collect::<Result<Vec<_>, _>>()?)
    }

    /// Trails as one event log, in the order given.
    ///
    /// # Errors
    /// If the table `files` of one of them cannot be read.
    pub fn of_trails(trails: Vec<Trail>) -> Result<Self, TrailError> {
        let mut log = Self { sites: Sites::of(&trails)?, ..Self::empty() };
        for trail in trails {
            log.add_trail(trail)?;
        }
        log.identify();
        Ok(log)
    }

    pub(crate) fn name_index(&self) -> &NameIndex {
        &self.names
    }

    fn empty() -> Self {
        Self {
            trails: Vec::new(),
            first_cases: Vec::new(),
            cases: Vec::new(),
            names: NameIndex::new(),
            files: Vec::new(),
            unidentified: Vec::new(),
            identities: Identities::default(),
            parts: 0,
            hosts: Vec::new(),
            groups: Vec::new(),
            sites: Sites::default(),
            memory: None,
        }
    }

    /// A log in memory; `batches` are its row groups, sorted, with ids of `names` and numbers of `rows`.
    pub(crate) fn in_memory(
        trail: Trail,
        names: NameIndex,
        rows: Vec<FileRow>,
        batches: Vec<EventBatch>,
        (processes, sites): (Vec<Process>, Sites),
    ) -> Self {
        let mut log = Self { names, sites, memory: Some(Memory { processes }), ..Self::empty() };
        log.first_cases.push(0);
        log.cases.extend_from_slice(trail.cases());
        log.trails.push(trail);
        rows.into_iter().for_each(|row| log.add_file(row, 0, false));
        log.parts = 1;
        log.identify();
        for mut batch in batches {
            let meta = RowGroupMeta::of_batch(&batch);
            let known = log.identities.translate(0, &mut batch.file, &batch.path, ByPath::Always);
            let known = known
                .and_then(|()| log.identities.translate(0, &mut batch.file2, &batch.path2, ByPath::Always));
            debug_assert_eq!(known, Ok(()), "every number of a batch has a row");
            log.groups.push(Group { meta, place: RowGroupSource::Memory(Box::new(batch)) });
        }
        log
    }

    fn add_trail(&mut self, trail: Trail) -> Result<(), TrailError> {
        let first = self.cases.len() as u32;
        let number = |case: CaseId| CaseId(case.0.saturating_add(first));
        let count = trail.cases().len();
        self.cases.extend(trail.cases().iter().map(|case| Case {
            id: number(case.id),
            numbered_with: case.numbered_with.filter(|with| with.index() < count).map(number),
            ..case.clone()
        }));
        self.first_cases.push(first);
        let parts = self.add_names(&trail)?;
        let number = self.trails.len();
        let numbers = self.sites.numbers(&trail)?;
        for file in trail.tables(Table::Events) {
            let sites = numbers.of(part_of(file));
            let part = parts.get(part_of(file)).copied().unwrap_or(usize::MAX);
            for row_group in 0..file.row_groups() {
                let meta = RowGroupMeta::of_file(file, row_group, first);
                let (file, sites) = (file.clone(), Arc::clone(&sites));
                let place = RowGroupSource::File { trail: number, part, file, row_group, sites };
                self.groups.push(Group { meta, place });
            }
        }
        self.trails.push(trail);
        Ok(())
    }

    /// Answers the numbers of the trail's parts, by what their files are called.
    fn add_names(&mut self, trail: &Trail) -> Result<HashMap<String, usize>, TrailError> {
        let totals = &trail.meta().totals;
        let calls = totals.calls.keys().map(|text| (NameKind::Call, text));
        let errnos = totals.errnos.keys().map(|text| (NameKind::Errno, text));
        let flags = totals.flags.iter().map(|text| (NameKind::Flags, text));
        for (column, text) in calls.chain(errnos).chain(flags) {
            self.names.add(column, text.as_str());
        }
        let mut parts = HashMap::new();
        for file in trail.tables(Table::Files) {
            parts.insert(part_of(file).to_owned(), self.parts);
            let number = self.first_cases.len() as u32 - 1;
            let is_settled = trail.meta().distinct_files;
            read_tables::each(file, read_tables::file, |row| self.add_file(row, number, is_settled))?;
            self.parts += 1;
        }
        Ok(parts)
    }

    /// Takes a row of `files` of the part and the trail that are being read; whether its numbers are those of the whole trail.
    fn add_file(&mut self, mut row: FileRow, trail: u32, is_settled: bool) {
        let first = self.first_cases[trail as usize];
        let case = row.case.map(|case| CaseId(case.0.saturating_add(first)));
        row.case = case.filter(|case| case.index() < self.cases.len());
        let numbering = match row.case {
            _ if is_settled => Numbering::Trail,
            Some(case) => Numbering::Case(case.0),
            None => Numbering::Part(self.parts as u32),
        };
        let space = (trail, numbering);
        let host = row.case.and_then(|case| self.cases[case.index()].name.host.as_deref());
        let host = match host {
            Some(host) => self.hosts.iter().position(|known| known == host).unwrap_or_else(|| {
                self.hosts.push(host.to_owned());
                self.hosts.len() - 1
            }) as u32,
            None => u32::MAX - trail,
        };
        let path = match self.names.add(NameKind::Path, Arc::clone(&row.path)) {
            None => {
                self.files.push(row.clone());
                PathId::from_index(self.files.len() - 1)
            }
            Some(known) => {
                let same = &mut self.files[known as usize];
                learn(same, &row);
                (row.path, row.canonical) = (Arc::clone(&same.path), Arc::clone(&same.canonical));
                PathId(known)
            }
        };
        self.unidentified.push(Name { space, part: self.parts, host, path, row });
    }

    /// Finds out which names are one file, when all of them are there.
    fn identify(&mut self) {
        let names = std::mem::take(&mut self.unidentified);
        self.identities = Identities::of(names, &self.names.names().paths, self.parts.max(1));
        self.hosts = Vec::new();
        self.learn_from_files();
    }

    /// What was found out of a file under one name is known under the others.
    fn learn_from_files(&mut self) {
        for (path, row) in self.files.iter_mut().enumerate() {
            let file = &self.identities.files[self.identities.of_path(PathId::from_index(path)).index()];
            if row.device.is_none() && file.device.is_some() {
                (row.device, row.inode, row.size) = (file.device, file.inode, file.size);
            }
            if row.kind.is_none() {
                row.kind.clone_from(&file.kind);
            }
        }
    }

    /// All cases by their ids.
    #[must_use]
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// The case that the open file descriptions of a case are numbered with: a number with this case is one description,
    /// whatever cases its calls are of.
    #[must_use]
    pub fn numbering(&self, case: CaseId) -> CaseId {
        self.cases.get(case.index()).map_or(case, Case::numbering)
    }

    /// The layers of its calls, the lowest first.
    #[must_use]
    pub fn layers(&self) -> Vec<Layer> {
        let by_layer = |trail: &Trail| trail.meta().totals.by_layer();
        let counted: Vec<_> = self.trails().iter().map(by_layer).collect();
        let has =
            |layer: &Layer| counted.iter().any(|counts| counts.get(layer.name()).is_some_and(|n| *n > 0));
        Layer::ALL.into_iter().filter(has).collect()
    }

    /// All names by their ids; ids of calls in [`iotrail_model::calls::TABLE`] are rows of that table.
    #[must_use]
    pub fn names(&self) -> &Names {
        self.names.names()
    }

    /// The files of the log, each once, whatever its names: `distinct_files()[FileId.index()]`. The columns `file` and `file2` of
    /// its batches hold these ids; there they are known wherever the path is.
    #[must_use]
    pub fn distinct_files(&self) -> &[DistinctFile] {
        &self.identities.files
    }

    /// Of each of [`EventLog::distinct_files`] whether it holds bytes at places, and is none of the kernel's own. Where no kind is known,
    /// names tell: what is a directory of others is none.
    #[must_use]
    pub fn holds_bytes(&self) -> Vec<bool> {
        let paths = &self.names().paths;
        let directories: HashSet<&str> =
            paths.iter().filter_map(|path| Some(path.rsplit_once('/')?.0)).collect();
        let files = self.distinct_files().iter().map(|file| {
            let path = &*paths[file.path.index()];
            let by_name = || path.starts_with('/') && !directories.contains(path);
            !is_pseudo(path) && file.holds_bytes().unwrap_or_else(by_name)
        });
        files.collect()
    }

    /// The same log, in which each name counts as a file of its own.
    #[must_use]
    pub fn by_names(mut self) -> Self {
        self.identities = Identities::of_names(&self.identities, &self.files);
        for group in &mut self.groups {
            if let RowGroupSource::Memory(batch) = &mut group.place {
                let EventBatch { file, file2, path, path2, .. } = &mut **batch;
                name_files(file, path);
                name_files(file2, path2);
            }
        }
        self
    }

    /// The file that `path` means where nothing better is known: the first of that name.
    #[must_use]
    pub fn file_of(&self, path: PathId) -> FileId {
        self.identities.of_path(path)
    }

    /// Every name of every file: the table `files` with ids of the log.
    #[must_use]
    pub fn file_names(&self) -> Vec<FileRow> {
        let rows = self.distinct_files().iter().enumerate().flat_map(|(file, known)| {
            known.names.iter().map(move |name| FileRow {
                path: Arc::clone(&self.names().paths[name.path.index()]),
                canonical: Arc::clone(&self.files[name.path.index()].canonical),
                kind: known.kind.clone(),
                device: known.device,
                inode: known.inode,
                size: size_under(known, name),
                file: Some(file as u32),
                birth: known.birth,
                gone: name.gone,
                case: known.case,
            })
        });
        rows.collect()
    }

    /// What is known under each path, of the first file of that name: `files()[PathId.index()]`.
    #[must_use]
    pub fn files(&self) -> &[FileRow] {
        &self.files
    }

    /// All processes, sorted by case, start and pid. An end before the start, as imports of traces whose clock was set
    /// back had it once, is unknown.
    ///
    /// # Errors
    /// If a table `processes` cannot be read.
    pub fn processes(&self) -> Result<Vec<Process>, TrailError> {
        let mut processes = self.memory.as_ref().map(|memory| memory.processes.clone()).unwrap_or_default();
        for (trail, first) in self.trails.iter().zip(&self.first_cases) {
            for file in trail.tables(Table::Processes) {
                let mut rows = read_tables::rows(file, read_tables::process)?;
                rows.iter_mut().for_each(|row| row.case.0 = row.case.0.saturating_add(*first));
                if let Some(row) = rows.iter().find(|row| row.case.index() >= self.cases.len()) {
                    let why = format!("process {} is of case {}, which does not exist", row.pid, row.case);
                    return Err(TrailError::damaged(file.path(), None, why));
                }
                processes.append(&mut rows);
            }
        }
        for process in processes.iter_mut().filter(|process| process.end < process.start) {
            process.end = None;
        }
        processes.sort_by_key(|process| (process.case, process.start, process.pid));
        Ok(processes)
    }

    /// The file of a row group and its place there; a log in memory has none.
    #[cfg(test)]
    pub(crate) fn place_of(&self, row_group: usize) -> Option<(&ParquetFile, usize)> {
        match &self.groups[row_group].place {
            RowGroupSource::Memory(_) => None,
            RowGroupSource::File { file, row_group, .. } => Some((file, *row_group)),
        }
    }

    /// The call sites of the log: `sites()[SiteId.index()]`. Equal stacks are one, whoever recorded them.
    #[must_use]
    pub fn sites(&self) -> &[Site] {
        &self.sites.all
    }

    /// The coverage statement over all trails.
    #[must_use]
    pub fn coverage(&self) -> Coverage {
        let mut coverage = Coverage::default();
        self.trails.iter().for_each(|trail| coverage.merge(trail.coverage()));
        coverage
    }

    /// Which events the trails lack, each named if there are several.
    #[must_use]
    pub fn missing_events(&self) -> Vec<Limitation> {
        let several = self.trails.len() > 1;
        let of = |trail: &Trail| {
            let name = several.then(|| trail.name());
            let missing = trail.coverage().missing_events().into_iter();
            missing.map(move |row| Limitation { trail: name.clone(), ..row })
        };
        self.trails.iter().flat_map(of).collect()
    }

    /// What stands before all figures of the trails: the events that they lack, and that their clocks are coarse.
    #[must_use]
    pub fn limitations(&self) -> Vec<Limitation> {
        let several = self.trails.len() > 1;
        let coarse = self.trails.iter().filter_map(|trail| {
            let trail_name = several.then(|| trail.name());
            Some(Limitation { trail: trail_name, ..Limitation::of_clocks(trail.cases())? })
        });
        self.missing_events().into_iter().chain(coarse).collect()
    }

    /// The short answer about all trails.
    ///
    /// # Errors
    /// If the size of a file cannot be read.
    pub fn info(&self) -> Result<Info, TrailError> {
        let mut info = Info::default();
        for trail in &self.trails {
            info.merge(&trail.info()?);
        }
        info.sites = self.sites.all.len() as u64;
        Ok(info)
    }

    /// The trails of the log.
    #[must_use]
    pub fn trails(&self) -> &[Trail] {
        &self.trails
    }

    /// The number of the trail that a case of this log belongs to: its index in [`EventLog::trails`].
    #[must_use]
    pub fn trail_number(&self, case: CaseId) -> usize {
        self.first_cases.partition_point(|first| *first <= case.0).saturating_sub(1)
    }

    /// The trail that a case of this log belongs to.
    #[must_use]
    pub fn trail_of(&self, case: CaseId) -> &Trail {
        &self.trails[self.trail_number(case)]
    }

    /// Number of row groups; rows within one are sorted by (case, start, seq), and so are consecutive row groups of
    /// one part.
    #[must_use]
    pub fn row_groups(&self) -> usize {
        self.groups.len()
    }

    /// Number of events.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.groups.iter().map(|group| group.meta.rows as u64).sum()
    }

    /// Compressed bytes of a column of `events`, to see what takes the space.
    #[must_use]
    pub fn column_bytes(&self, column: &str) -> u64 {
        let tables = self.trails.iter().flat_map(|trail| trail.tables(Table::Events));
        tables.map(|file| file.column_bytes(column)).sum()
    }

    /// What is known about a row group without reading it.
    #[must_use]
    pub fn row_group(&self, row_group: usize) -> &RowGroupMeta {
        &self.groups[row_group].meta
    }

    /// Reads columns of one row group; with the files behind paths come those paths.
    ///
    /// # Errors
    /// If the file cannot be read or is damaged.
    pub fn read(&self, row_group: usize, columns: Columns) -> Result<EventBatch, TrailError> {
        let mut batch = EventBatch::default();
        let target = (&mut batch, &mut PageDecoder::default());
        self.read_into(target, row_group, columns, ByPath::Always)?;
        Ok(batch)
    }

    /// As [`EventLog::read`], with no file where the trail has no number of one, as its path alone tells it. Of logs in memory paths were asked
    /// beforehand.
    ///
    /// # Errors
    /// If the file cannot be read or is damaged.
    pub fn read_numbered(&self, row_group: usize, columns: Columns) -> Result<EventBatch, TrailError> {
        let mut batch = EventBatch::default();
        let target = (&mut batch, &mut PageDecoder::default());
        self.read_into(target, row_group, columns, ByPath::Never)?;
        Ok(batch)
    }

    /// Replaces the rows of `batch` by those of one row group and uses its memory again.
    fn read_into(
        &self,
        (batch, decoder): (&mut EventBatch, &mut PageDecoder),
        row_group: usize,
        columns: Columns,
        by_path: ByPath,
    ) -> Result<(), TrailError> {
        let (trail, part, file, row_group, sites) = match &self.groups[row_group].place {
            RowGroupSource::Memory(rows) => {
                batch.clone_from(rows);
                return Ok(());
            }
            RowGroupSource::File { trail, part, file, row_group, sites } => {
                (*trail, *part, file, *row_group, sites)
            }
        };
        decode_into(batch, decoder, file, row_group, columns.with_paths_of_files(), &mut &self.names)?;
        let known = self.identities.translate(part, &mut batch.file, &batch.path, by_path);
        let known =
            known.and_then(|()| self.identities.translate(part, &mut batch.file2, &batch.path2, by_path));
        if let Err(number) = known {
            let why = format!("an event is of file {number}, which is not in `files`");
            return Err(TrailError::damaged(file.path(), Some(row_group), why));
        }
        if let Err(site) = sites::translate(sites, &mut batch.site) {
            return Err(TrailError::damaged(file.path(), Some(row_group), sites::unknown(site)));
        }
        let first = self.first_cases[trail];
        let end = first + self.trails[trail].cases().len() as u32;
        for case in &mut batch.case {
            case.0 = case.0.saturating_add(first);
            if case.0 >= end {
                let why = format!("an event is of case {}, which is not in `cases`", case.0 - first);
                return Err(TrailError::damaged(file.path(), Some(row_group), why));
            }
        }
        Ok(())
    }

    /// Reads all row groups with `threads` workers, each with a state of its own, and answers what `step` made of
    /// each, in the order of the row groups.
    ///
    /// # Errors
    /// The error of the first row group that cannot be read.
    pub fn scan<S, T: Send>(
        &self,
        columns: Columns,
        threads: NonZeroUsize,
        state: impl Fn() -> S + Sync,
        step: impl Fn(&mut S, usize, &EventBatch) -> T + Sync,
    ) -> Result<Vec<T>, TrailError> {
        self.scan_only(|_| true, columns, threads, state, step)
    }

    /// Like [`EventLog::scan`], for those row groups only that `wanted` says yes to.
    ///
    /// # Errors
    /// The error of the first row group that cannot be read.
    pub fn scan_only<S, T: Send>(
        &self,
        wanted: impl Fn(&RowGroupMeta) -> bool,
        columns: Columns,
        threads: NonZeroUsize,
        state: impl Fn() -> S + Sync,
        step: impl Fn(&mut S, usize, &EventBatch) -> T + Sync,
    ) -> Result<Vec<T>, TrailError> {
        let wanted: Vec<usize> = (0..self.groups.len()).filter(|at| wanted(&self.groups[*at].meta)).collect();
        let worker = || (state(), EventBatch::default(), PageDecoder::default());
        let begin = |job: usize| Ok(wanted.get(job).copied());
        pool::run(threads, wanted.len(), begin, worker, |(state, batch, decoder), _, row_group| {
            let Some(row_group) = row_group else { return Ok(None) };
            self.read_into((batch, decoder), row_group, columns, ByPath::Always)?;
            Ok(Some(step(state, row_group, batch)))
        })
        .map(|done| done.into_iter().flatten().collect())
    }
}
