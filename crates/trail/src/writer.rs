//! A trail under construction: a hidden directory beside the target, renamed when it is complete.

use crate::counters::NamedCounters;
use crate::error::TrailError;
use crate::limits::Limits;
use crate::meta::{Capture, FORMAT, FORMAT_VERSION, META_FILE, Table, TimeBase, Totals, TrailMeta};
use crate::outside::outside_of_trails;
use crate::part::{PartSummary, PartWriter};
use crate::private;
use crate::replaceable::check_replaceable;
use crate::seal::{self, Checksum, JSON_MARK};
use crate::tables::TableWriter;
use iotrail_model::{Case, Coverage};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// How a trail is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CreateOptions {
    /// Replace a trail that is there already.
    pub overwrite: bool,
}

/// Builds a trail. Dropped before [`TrailWriter::finish`], it leaves nothing behind.
#[derive(Debug)]
pub struct TrailWriter {
    hidden: Hidden,
    next_part: AtomicU32,
    durable: bool,
    distinct_files: bool,
}

impl TrailWriter {
    /// Starts a trail that will be at `path`.
    ///
    /// # Errors
    /// If something is at `path` that may not be overwritten, or the directory cannot be made.
    pub fn create(path: &Path, options: CreateOptions) -> Result<Self, TrailError> {
        Ok(Self {
            hidden: Hidden::create(path, options.overwrite)?,
            next_part: AtomicU32::new(0),
            durable: true,
            distinct_files: false,
        })
    }

    /// Without waiting for the disk, for trails that nobody needs after a power cut.
    #[must_use]
    pub fn not_durable(mut self) -> Self {
        self.durable = false;
        self
    }

    /// Numbers of files that parts will use are those of the whole trail: equal ones are one file, others are others.
    #[must_use]
    pub fn distinct_files(mut self) -> Self {
        self.distinct_files = true;
        self
    }

    /// Starts another part.
    ///
    /// # Errors
    /// If its files cannot be made.
    pub fn part(&self) -> Result<PartWriter, TrailError> {
        self.part_with(Limits::default(), false)
    }

    /// As [`Self::part`], but rows are encoded and written on a thread of their own while others come in. What is written is
    /// the same.
    ///
    /// # Errors
    /// If its files cannot be made.
    pub fn part_apart(&self) -> Result<PartWriter, TrailError> {
        self.part_with(Limits::default(), true)
    }

    /// Starts another part that holds no more than `limits` in memory.
    pub(crate) fn part_with(&self, limits: Limits, apart: bool) -> Result<PartWriter, TrailError> {
        let part = self.next_part.fetch_add(1, Ordering::Relaxed);
        PartWriter::create(&self.hidden.directory, part, limits, apart)
    }

    /// Completes the trail, gives it its name, and says what it holds.
    ///
    /// # Errors
    /// If a file cannot be written, or a part refers to a case that is not in `cases`.
    pub fn finish(
        self,
        cases: &[Case],
        mut parts: Vec<PartSummary>,
        capture: Capture,
        coverage: &Coverage,
    ) -> Result<Totals, TrailError> {
        self.check_cases(cases, &parts)?;
        let mut table = TableWriter::create(&self.hidden.directory.join(Table::Cases.file_name(0)))?;
        for case in cases {
            table.push(case.clone())?;
        }
        let mut files = vec![table.finish()?.listed(Table::Cases, 0)];
        let mut counters = NamedCounters::default();
        parts.sort_by_key(|part| part.part);
        for part in parts {
            files.extend(part.files);
            counters.add(part.counters);
        }
        let meta = TrailMeta {
            format: FORMAT.to_owned(),
            format_version: FORMAT_VERSION,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            capture,
            time: TimeBase::default(),
            files,
            totals: counters.totals(cases.len()),
            coverage: coverage.clone(),
            recordings: Vec::new(),
            distinct_files: self.distinct_files,
            checksum: Checksum::default(),
        };
        self.write_meta(&meta)?;
        if self.durable {
            self.hidden.make_durable()?;
        }
        self.hidden.publish()?;
        Ok(meta.totals)
    }

    fn check_cases(&self, cases: &[Case], parts: &[PartSummary]) -> Result<(), TrailError> {
        let inconsistent = |why| Err(TrailError::Inconsistent { path: self.hidden.target.clone(), why });
        if let Some((row, case)) = cases.iter().enumerate().find(|(row, case)| case.id.index() != *row) {
            return inconsistent(format!("row {row} of `cases` has case_id {}, expected {row}", case.id));
        }
        match parts.iter().filter_map(|part| part.max_case).max() {
            Some(max) if max.index() >= cases.len() => {
                inconsistent(format!("a part refers to case {max}, but there are {} cases", cases.len()))
            }
            _ => Ok(()),
        }
    }

    fn write_meta(&self, meta: &TrailMeta) -> Result<(), TrailError> {
        let path = self.hidden.directory.join(META_FILE);
        let mut json = serde_json::to_vec_pretty(meta)
            .map_err(|source| TrailError::Json { path: path.clone(), source })?;
        seal::seal(&mut json, JSON_MARK);
        let mut file = fs::File::create_new(&path).map_err(TrailError::io("create", &path))?;
        file.write_all(&json).map_err(TrailError::io("write", &path))
    }
}

/// A directory beside its place, which gets its name when it is complete; until then only its owner may enter. Dropped before, it
/// leaves nothing behind.
#[derive(Debug)]
pub(crate) struct Hidden {
    target: PathBuf,
    directory: PathBuf,
    overwrite: bool,
    published: bool,
}

impl Hidden {
    /// A directory that will be at `target`.
    pub(crate) fn create(target: &Path, overwrite: bool) -> Result<Self, TrailError> {
        check_target(target, CreateOptions { overwrite })?;
        let name = target.file_name().ok_or_else(|| TrailError::NotATrail {
            path: target.to_owned(),
            why: "a trail needs a name".to_owned(),
        })?;
        let directory = create_hidden(target, name)?;
        Ok(Self { target: target.to_owned(), directory, overwrite, published: false })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.directory
    }

    /// Brings every file to the disk: once the trail has its name, a power cut does not take its content.
    pub(crate) fn make_durable(&self) -> Result<(), TrailError> {
        let reading = || TrailError::io("read", &self.directory);
        for entry in fs::read_dir(&self.directory).map_err(reading())? {
            let path = entry.map_err(reading())?.path();
            let file = fs::File::open(&path).map_err(TrailError::io("open", &path))?;
            file.sync_all().map_err(TrailError::io("write", &path))?;
        }
        Ok(())
    }

    /// Gives the directory its name; what was there goes.
    pub(crate) fn publish(mut self) -> Result<(), TrailError> {
        let aside = self.directory.with_extension("replaced");
        let replaces = self.overwrite && self.target.symlink_metadata().is_ok();
        check_target(&self.target, CreateOptions { overwrite: self.overwrite })?;
        let replaced = replaces.then_some(self.target.as_path());
        private::open_up(&self.directory, replaced).map_err(TrailError::io("create", &self.target))?;
        if replaces {
            fs::rename(&self.target, &aside).map_err(TrailError::io("replace", &self.target))?;
        }
        if let Err(error) = fs::rename(&self.directory, &self.target) {
            if replaces {
                // The old trail goes back to its place; if even that fails, the message below names where it is not.
                let _ = fs::rename(&aside, &self.target);
            }
            return Err(TrailError::io("rename to", &self.target)(error));
        }
        self.published = true;
        if replaces {
            fs::remove_dir_all(&aside).map_err(TrailError::io("remove", &aside))?;
        }
        Ok(())
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        if !self.published {
            // Nothing can be done about a directory that cannot be removed; opening it says that it is partial.
            let _ = fs::remove_dir_all(&self.directory);
        }
    }
}

/// Makes a directory that no other writer has. A number is added where a killed writer left one: process numbers come
/// again, in containers nearly always.
fn create_hidden(path: &Path, name: &OsStr) -> Result<PathBuf, TrailError> {
    let mut mark = format!(".partial-{}", std::process::id());
    for attempt in 1.. {
        let mut hidden = OsString::from(".");
        hidden.push(name);
        hidden.push(&mark);
        let directory = path.with_file_name(hidden);
        match private::create_dir(&directory) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                mark = format!(".partial-{}-{attempt}", std::process::id());
            }
            Err(error) => return Err(TrailError::io("create", path)(error)),
            Ok(()) => return Ok(directory),
        }
    }
    Err(TrailError::io("create", path)(ErrorKind::AlreadyExists.into()))
}

/// Whether a trail may be made at `path`: nothing is there, or a trail that may be replaced.
fn check_target(path: &Path, options: CreateOptions) -> Result<(), TrailError> {
    outside_of_trails(path)?;
    if path.symlink_metadata().is_err() {
        return Ok(());
    }
    if !options.overwrite {
        return Err(TrailError::Exists { path: path.to_owned() });
    }
    check_replaceable(path)
}
