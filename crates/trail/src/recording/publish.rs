//! Parts become part of the trail: their files get their names, and `trail.json` lists them. Under the lock.
//!
//! `trail.json` alone says what is in the trail. It lists the recordings whose events it holds, so that one whose
//! recorder was killed between the last two steps is not taken for unfinished.

use crate::counters::NamedCounters;
use crate::error::TrailError;
use crate::meta::{
    Capture, FORMAT, FORMAT_VERSION, META_FILE, Table, TableFile, TimeBase, Totals, TrailMeta, Written,
};
use crate::parquet_file::ParquetFile;
use crate::part::PartSummary;
use crate::read_tables;
use crate::recording::run::{RECORDING, Run, replace_json};
use crate::recording::unfinished::is_empty_recording;
use crate::recording::vanished::{refuse_unlisted, vanished};
use crate::replaceable::is_of_recording;
use crate::tables::TableWriter;
use crate::trail::read_meta;
use iotrail_model::{Case, CaseId, Coverage};
use iotrail_spool::Damage;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A converted recording.
#[derive(Debug)]
pub(crate) struct Addition {
    /// Name of its directory.
    pub(crate) name: String,
    /// Its case as the recording alone tells it.
    pub(crate) case: Case,
    pub(crate) capture: Capture,
    pub(crate) coverage: Coverage,
    /// What was found wrong in its spool.
    pub(crate) damage: Vec<Damage>,
    pub(crate) parts: Vec<PartSummary>,
    /// Where the files of the parts are.
    pub(crate) directory: PathBuf,
}

/// A recording that has become part of a trail.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Published {
    /// What it added.
    pub added: Totals,
    /// Whether the trail has the recordings of all ranks now. A recorder without a launcher that tells how many there are is the last.
    pub is_last: bool,
}

/// Makes additions part of the trail `target`.
pub(crate) fn publish(target: &Path, additions: Vec<Addition>) -> Result<Published, TrailError> {
    let old = match target.join(META_FILE).symlink_metadata() {
        Ok(_) => Some(read_meta(target)?),
        Err(_) => None,
    };
    let run = Run::read(target)?.unwrap_or_default();
    let old_cases = match &old {
        Some(old) => read_cases(target, old)?,
        None => {
            refuse_unlisted(target, &vanished(target, &run)?)?;
            Vec::new()
        }
    };
    let mut assembly = Assembly::new(old, old_cases, &run);
    // Another process may have finished the same recording meanwhile.
    let additions: Vec<Addition> =
        additions.into_iter().filter(|addition| !assembly.meta.recordings.contains(&addition.name)).collect();
    if additions.is_empty() {
        return Ok(Published::default());
    }
    let added = assembly.add(additions, |from, to| {
        let (from, to) = (from.to_owned(), target.join(to));
        sync(&from)?;
        fs::rename(&from, &to).map_err(TrailError::io("rename to", &to))
    })?;
    let cases = target.join("cases.new");
    // Left by one who was killed here.
    let _ = fs::remove_file(&cases);
    assembly.write_cases(&cases)?;
    let listed = target.join(Table::Cases.file_name(0));
    fs::rename(&cases, &listed).map_err(TrailError::io("rename to", &listed))?;
    replace_json(&target.join(META_FILE), &assembly.meta)?;
    sync(target)?;
    let is_last = run.world.is_none_or(|world| assembly.meta.recordings.len() >= world as usize);
    Ok(Published { added, is_last })
}

/// A description of a trail that grows.
#[derive(Debug)]
pub(crate) struct Assembly {
    pub(crate) meta: TrailMeta,
    pub(crate) cases: Vec<Case>,
}

impl Assembly {
    pub(crate) fn new(old: Option<TrailMeta>, old_cases: Vec<Case>, run: &Run) -> Self {
        let mut meta = old.unwrap_or_else(|| TrailMeta {
            format: FORMAT.to_owned(),
            format_version: FORMAT_VERSION,
            time: TimeBase::default(),
            ..TrailMeta::default()
        });
        meta.tool_version = env!("CARGO_PKG_VERSION").to_owned();
        let mut cases = old_cases;
        cases.extend(run.cases.iter().skip(cases.len()).cloned());
        Self { meta, cases }
    }

    /// Adds recordings; `place` is called with the path of each of their files and its name in the trail.
    pub(crate) fn add(
        &mut self,
        additions: Vec<Addition>,
        mut place: impl FnMut(&Path, &str) -> Result<(), TrailError>,
    ) -> Result<Totals, TrailError> {
        let mut added = Totals::default();
        for addition in additions {
            let mut counters = NamedCounters::default();
            for part in addition.parts {
                let number = self.next_part();
                for file in part.files {
                    let name = file.table.file_name(number);
                    place(&addition.directory.join(&file.file), &name)?;
                    self.meta.files.push(TableFile { file: name, ..file });
                }
                counters.add(part.counters);
            }
            self.admit(addition.case);
            join_captures(&mut self.meta.capture, addition.capture);
            self.meta.coverage.merge(&addition.coverage);
            self.meta.recordings.push(addition.name);
            let totals = counters.totals(0);
            self.meta.totals.add(&totals);
            added.add(&totals);
        }
        let rows = self.cases.len() as u64;
        self.meta.totals.cases = rows;
        self.list_cases(Written { rows, footer: None });
        Ok(added)
    }

    /// The number of the next part: beyond those of all listed files.
    fn next_part(&self) -> u32 {
        let numbers = self.meta.files.iter().filter_map(|file| {
            let digits = file.file.strip_suffix(".parquet")?.rsplit('-').next()?;
            digits.parse::<u32>().ok()
        });
        numbers.max().map_or(0, |last| last.saturating_add(1))
    }

    fn admit(&mut self, case: Case) {
        let (index, interleaved) = (case.id.index(), case.interleaved);
        let unknown = |at: usize| Case { id: CaseId::from_index(at), ..Case::default() };
        while self.cases.len() <= index {
            self.cases.push(unknown(self.cases.len()));
        }
        // The run tells the case, unless its document is gone.
        if self.cases[index] == unknown(index) {
            self.cases[index] = case;
        }
        self.cases[index].interleaved = interleaved;
    }

    fn list_cases(&mut self, written: Written) {
        self.meta.files.retain(|file| file.table != Table::Cases);
        self.meta.files.insert(0, written.listed(Table::Cases, 0));
    }

    /// Writes the cases and lists what was written.
    pub(crate) fn write_cases(&mut self, path: &Path) -> Result<(), TrailError> {
        let mut table = TableWriter::create(path)?;
        self.cases.iter().try_for_each(|case| table.push(case.clone()))?;
        self.list_cases(table.finish()?);
        sync(path)
    }
}

/// How a trail of several recordings was captured: what they have in common.
fn join_captures(own: &mut Capture, other: Capture) {
    if *own == Capture::default() {
        *own = other;
        return;
    }
    let same = |own: &mut Option<String>, other: Option<String>| {
        if *own != other {
            *own = None;
        }
    };
    same(&mut own.command, other.command);
    same(&mut own.host, other.host);
    own.details.retain(|name, value| other.details.get(name) == Some(value));
}

/// All rows of `cases`, also those that `meta` does not list yet.
pub(crate) fn read_cases(target: &Path, meta: &TrailMeta) -> Result<Vec<Case>, TrailError> {
    let file = match meta.files.iter().find(|file| file.table == Table::Cases) {
        Some(listed) => ParquetFile::open_growing(target, listed)?,
        None => ParquetFile::open(&target.join(Table::Cases.file_name(0)), Table::Cases)?,
    };
    read_tables::rows(&file, read_tables::case)
}

/// Removes the directories of recordings that are part of the trail, and all traces of recording if nobody can join any
/// more. What somebody else put there stays. Under the lock.
pub(crate) fn tidy(target: &Path) -> Result<(), TrailError> {
    let recording = target.join(RECORDING);
    let mut left = 0;
    let listed = read_meta(target)?.recordings;
    let own = super::unfinished::directories(target)?.into_iter();
    for name in own.filter(|name| is_of_recording(&recording, name)) {
        let directory = recording.join(&name);
        // Under the lock nobody is about to write the header of a new recording: who was, was killed.
        if listed.contains(&name) || is_empty_recording(&directory) {
            fs::remove_dir_all(&directory).map_err(TrailError::io("remove", &directory))?;
        } else {
            left += 1;
        }
    }
    if left > 0 || Run::read(target)?.is_some_and(|run| run.is_open()) {
        return Ok(());
    }
    Run::remove(target)?;
    match fs::remove_dir(&recording) {
        Err(error) if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::DirectoryNotEmpty) => {
            Err(TrailError::io("remove", &recording)(error))
        }
        _ => Ok(()),
    }
}

fn sync(path: &Path) -> Result<(), TrailError> {
    let file = fs::File::open(path).map_err(TrailError::io("open", path))?;
    file.sync_all().map_err(TrailError::io("write", path))
}
