//! A trail on disk, opened and verified.

use crate::error::TrailError;
use crate::info::Info;
use crate::meta::{FORMAT, FORMAT_VERSION, MAX_META_BYTES, META_FILE, Table, TableFile, TrailMeta};
use crate::parquet_file::{ParquetFile, open_regular};
use crate::private::Temporary;
use crate::read_tables;
use crate::recording::{self, BROKEN, Opened};
use crate::seal::{self, JSON_MARK, Seal};
use iotrail_model::{Case, Coverage};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How often a trail is opened while recorders finish.
const MAX_ATTEMPTS: usize = 20;

/// A trail: its description, its cases, and the footers of its files.
#[derive(Clone, Debug)]
pub struct Trail {
    path: PathBuf,
    meta: TrailMeta,
    cases: Vec<Case>,
    files: Vec<(Table, ParquetFile)>,
    /// Tables made of what recorders left, or of `origin`; removed with the last use.
    temporary: Option<Arc<Temporary>>,
    /// The file in whose place the trail is read.
    origin: Option<PathBuf>,
}

impl Trail {
    /// Opens the trail at `path`: reads `trail.json`, the cases and the footers of all files, and verifies that they
    /// belong together. Pages are verified when they are read.
    ///
    /// # Errors
    /// If there is not a trail, its import was not finished, it is of a later format version, or it is damaged. What killed recorders
    /// left is opened with the rest.
    pub fn open(path: &Path) -> Result<Self, TrailError> {
        for _ in 1..MAX_ATTEMPTS {
            let before = recording::state(path);
            match Self::open_now(path) {
                // A recorder finished meanwhile: what was in its spool is in the tables now.
                Err(_) if recording::state(path) != before => (),
                outcome => return outcome,
            }
        }
        Self::open_now(path)
    }

    fn open_now(path: &Path) -> Result<Self, TrailError> {
        if let Some(opened) = recording::open(path)? {
            let Opened { meta, cases, files, temporary } = opened;
            return Ok(Self {
                path: path.to_owned(),
                meta,
                cases,
                files,
                temporary: Some(temporary),
                origin: None,
            });
        }
        let meta = read_meta(path)?;
        let files = meta
            .files
            .iter()
            .map(|listed| Ok((listed.table, ParquetFile::open_listed(path, listed)?)))
            .collect::<Result<Vec<_>, TrailError>>()?;
        let mut trail =
            Self { path: path.to_owned(), meta, cases: Vec::new(), files, temporary: None, origin: None };
        trail.cases = trail.read_cases()?;
        trail.check_totals()?;
        Ok(trail)
    }

    /// Reads `origin` as the trail that `make` writes to the path that it is given, in a directory of its own among the temporary ones. The
    /// directory goes with the last use of the trail.
    ///
    /// # Errors
    /// Those of `make`, or there is no room for a directory.
    pub fn in_place_of<E: From<TrailError>>(
        origin: &Path,
        make: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<Self, E> {
        let directory = std::env::temp_dir();
        let temporary = Temporary::create(&directory)
            .map_err(|source| E::from(TrailError::io("create a directory in", &directory)(source)))?;
        let path = temporary.path().join("expanded.trail");
        make(&path)?;
        let trail = Self::open_now(&path)?;
        let (path, temporary) = (origin.to_owned(), Some(Arc::new(temporary)));
        Ok(Self { path: path.clone(), origin: Some(path), temporary, ..trail })
    }

    /// A trail without files, for logs in memory.
    pub(crate) fn in_memory(meta: TrailMeta, cases: Vec<Case>) -> Self {
        Self {
            path: PathBuf::from("memory.trail"),
            meta,
            cases,
            files: Vec::new(),
            temporary: None,
            origin: None,
        }
    }

    /// The trail's name: its directory's without `.trail`.
    #[must_use]
    pub fn name(&self) -> String {
        let real = || self.path.canonicalize().ok()?.file_name().map(std::ffi::OsStr::to_os_string);
        let name = self.path.file_name().map(std::ffi::OsStr::to_os_string).or_else(real).unwrap_or_default();
        let text = iotrail_model::text::path_to_text(name.as_encoded_bytes()).into_owned();
        text.strip_suffix(".trail").map(str::to_owned).unwrap_or(text)
    }

    /// Where it is, or what it is read in place of.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The content of `trail.json`.
    #[must_use]
    pub fn meta(&self) -> &TrailMeta {
        &self.meta
    }

    /// The coverage statement.
    #[must_use]
    pub fn coverage(&self) -> &Coverage {
        &self.meta.coverage
    }

    /// The cases, by their ids within this trail.
    #[must_use]
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// The short answer about the trail; it costs no scan.
    ///
    /// # Errors
    /// If the size of `trail.json` cannot be read.
    pub fn info(&self) -> Result<Info, TrailError> {
        let bytes = match &self.origin {
            Some(origin) => origin.metadata().map_err(TrailError::io("read", origin))?.len(),
            None => self.bytes()?,
        };
        Ok(Info::new(&self.name(), &self.meta, &self.cases, bytes))
    }

    /// Bytes of its files.
    fn bytes(&self) -> Result<u64, TrailError> {
        let meta = self.path.join(META_FILE);
        let meta_bytes = match self.files.is_empty() || self.temporary.is_some() {
            true => 0,
            false => meta.metadata().map_err(TrailError::io("read", &meta))?.len(),
        };
        Ok(meta_bytes + self.files.iter().map(|(_, file)| file.bytes()).sum::<u64>())
    }

    pub(crate) fn tables(&self, table: Table) -> impl Iterator<Item = &ParquetFile> {
        self.files.iter().filter(move |(of, _)| *of == table).map(|(_, file)| file)
    }

    fn read_cases(&self) -> Result<Vec<Case>, TrailError> {
        let Some(file) = self.tables(Table::Cases).next() else {
            return Err(TrailError::damaged(&self.path.join(META_FILE), None, "it lists no table `cases`"));
        };
        let mut cases = read_tables::rows(file, read_tables::case)?;
        cases.truncate(usize::try_from(self.meta.totals.cases).unwrap_or(usize::MAX));
        match cases.iter().enumerate().find(|(row, case)| case.id.index() != *row) {
            Some((row, case)) => {
                let why = format!("row {row} has case_id {}, expected {row}", case.id);
                Err(TrailError::damaged(file.path(), None, why))
            }
            None => Ok(cases),
        }
    }

    fn check_totals(&self) -> Result<(), TrailError> {
        let events: u64 = self.tables(Table::Events).map(ParquetFile::rows).sum();
        let totals = &self.meta.totals;
        for (what, found, said) in
            [("events", events, totals.events), ("cases", self.cases.len() as u64, totals.cases)]
        {
            if found != said {
                let why = format!("its totals say {said} {what}, the files hold {found}");
                return Err(TrailError::damaged(&self.path.join(META_FILE), None, why));
            }
        }
        Ok(())
    }
}

/// What every version of the format has in `trail.json`.
#[derive(Deserialize)]
struct Preamble {
    format: String,
    format_version: u64,
    #[serde(default)]
    tool_version: String,
}

/// Reads `trail.json`, of which the file names are verified.
pub(crate) fn read_meta(path: &Path) -> Result<TrailMeta, TrailError> {
    let not_a_trail = |why: &str| TrailError::NotATrail { path: path.to_owned(), why: why.to_owned() };
    let kind = path.metadata().map_err(TrailError::io("open", path))?;
    if !kind.is_dir() {
        return Err(not_a_trail("it is not a directory (a trail is a directory that holds trail.json)"));
    }
    if is_partial(path) {
        return Err(TrailError::Partial { path: path.to_owned() });
    }
    let meta = path.join(META_FILE);
    if meta.symlink_metadata().is_err() {
        return Err(not_a_trail("it holds no trail.json"));
    }
    let mut json = Vec::new();
    let file = open_regular(&meta)?;
    file.take(MAX_META_BYTES + 1).read_to_end(&mut json).map_err(TrailError::io("read", &meta))?;
    if json.len() as u64 > MAX_META_BYTES {
        return Err(TrailError::damaged(&meta, None, format!("it is larger than {MAX_META_BYTES} bytes")));
    }
    if seal::examine(&json, JSON_MARK) == Seal::Broken {
        return Err(TrailError::damaged(&meta, None, BROKEN));
    }
    let unreadable = |source| TrailError::Json { path: meta.clone(), source };
    let preamble: Preamble = serde_json::from_slice(&json).map_err(unreadable)?;
    if preamble.format != FORMAT {
        return Err(not_a_trail("its trail.json describes something else"));
    }
    if preamble.format_version > FORMAT_VERSION {
        return Err(TrailError::FutureVersion {
            path: path.to_owned(),
            found: preamble.format_version,
            supported: FORMAT_VERSION,
            tool_version: iotrail_model::text::printable(&preamble.tool_version).into_owned(),
        });
    }
    let read: TrailMeta = serde_json::from_slice(&json).map_err(unreadable)?;
    check_names(path, &read.files)?;
    Ok(read)
}

fn is_partial(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let mark = b".partial-";
    name.starts_with(b".") && name.windows(mark.len()).any(|window| window == mark)
}

/// File names of a hostile `trail.json` must not lead out of the directory, and no file may be counted twice.
fn check_names(path: &Path, files: &[TableFile]) -> Result<(), TrailError> {
    let mut seen = BTreeSet::new();
    for listed in files {
        let damaged = |what: &str| {
            let name = iotrail_model::text::printable(&listed.file).into_owned();
            Err(TrailError::damaged(
                &path.join(META_FILE),
                None,
                format!("it lists the file `{name}`, {what}"),
            ))
        };
        if !is_table_file(listed) {
            return damaged("which is not a file name of this format");
        }
        if !seen.insert(&listed.file) {
            return damaged("twice");
        }
    }
    Ok(())
}

fn is_table_file(listed: &TableFile) -> bool {
    if listed.table == Table::Cases {
        return listed.file == Table::Cases.file_name(0);
    }
    let number = listed.file.strip_prefix(listed.table.name()).and_then(|rest| rest.strip_prefix('-'));
    let number = number.and_then(|rest| rest.strip_suffix(".parquet")).and_then(|digits| digits.parse().ok());
    number.is_some_and(|part| listed.table.file_name(part) == listed.file)
}
