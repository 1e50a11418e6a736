//! Reads a trail that is not finished: what is in spools becomes tables in a temporary directory. The trail stays as it is.

use crate::error::TrailError;
use crate::meta::{META_FILE, Table, TrailMeta};
use crate::parquet_file::ParquetFile;
use crate::private::{Temporary, close_file};
use crate::recording::recover::{addition, assembly_of, known_run};
use crate::recording::unfinished::{directories, readable, spools};
use crate::recording::vanished::{self, refuse_unlisted, vanished};
use iotrail_model::threads::one_per_core;
use iotrail_model::{Case, Note};
use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

/// An unfinished trail as far as it can be read.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) meta: TrailMeta,
    pub(crate) cases: Vec<Case>,
    pub(crate) files: Vec<(Table, ParquetFile)>,
    /// Holds the converted tables as long as they are read.
    pub(crate) temporary: Arc<Temporary>,
}

/// What changes when a recorder finishes: the recordings that are there, and which file `trail.json` is.
pub(crate) fn state(target: &Path) -> (Vec<String>, Option<(u64, i64, u64)>) {
    let meta = target.join(META_FILE).metadata().ok();
    let meta = meta.map(|meta| (meta.ino(), meta.mtime_nsec(), meta.len()));
    (directories(target).unwrap_or_default(), meta)
}

/// Opens the finished tables of `target` and converts the rest; `None` if there is no rest.
pub(crate) fn open(target: &Path) -> Result<Option<Opened>, TrailError> {
    let spools = readable(spools(target)?)?;
    if spools.is_empty() {
        return Ok(None);
    }
    let directory = std::env::temp_dir();
    let temporary =
        Temporary::create(&directory).map_err(TrailError::io("create a directory in", &directory))?;
    let run = known_run(target, spools.iter().map(|(_, spool)| spool))?;
    let gone = vanished(target, &run)?;
    refuse_unlisted(target, &gone)?;
    let mut assembly = assembly_of(target, &run)?;
    vanished::state(&gone, &mut assembly.meta.coverage);
    let finished: BTreeSet<String> = assembly.meta.files.iter().map(|listed| listed.file.clone()).collect();
    for (number, (name, spool)) in spools.iter().enumerate() {
        let parts = temporary.path().join(number.to_string());
        std::fs::create_dir(&parts).map_err(TrailError::io("create", &parts))?;
        let addition = addition(name, spool, &parts, one_per_core(), &|_, _| {})?;
        if let Some(damage) = addition.damage.first().filter(|_| !spool.is_being_written()) {
            let more = match addition.damage.len() {
                1 => String::new(),
                places => format!(", the first of {places} places"),
            };
            let why = format!("byte {}: {}{more}", damage.byte, damage.what);
            let (path, target) = (damage.path.clone(), target.to_owned());
            return Err(TrailError::DamagedSpool { path, why, target });
        }
        assembly.add(vec![addition], |from, to| {
            close_file(from).map_err(TrailError::io("change", from))?;
            std::fs::rename(from, temporary.path().join(to)).map_err(TrailError::io("rename", from))
        })?;
    }
    let tables = assembly.meta.files.iter().filter(|listed| listed.table != Table::Cases);
    let files = tables
        .map(|listed| {
            let directory = if finished.contains(&listed.file) { target } else { temporary.path() };
            Ok((listed.table, ParquetFile::open_growing(directory, listed)?))
        })
        .collect::<Result<Vec<_>, TrailError>>()?;
    assembly.meta.coverage.note(Note::Unfinished);
    Ok(Some(Opened { meta: assembly.meta, cases: assembly.cases, files, temporary: Arc::new(temporary) }))
}
