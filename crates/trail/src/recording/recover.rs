//! Finishes what killed recorders left.

use crate::error::TrailError;
use crate::meta::{META_FILE, Table, Totals};
use crate::parquet_file::ParquetFile;
use crate::part::PartSummary;
use crate::recording::convert::{Converted, convert, damage_of};
use crate::recording::join::{capture_of, case_row, scratch};
use crate::recording::lock::Lock;
use crate::recording::publish::{Addition, Assembly, publish, read_cases, tidy};
use crate::recording::run::{RECORDING, RUN, Run, replace_json};
use crate::recording::unfinished::{
    Named, came_to_its_end, case_of, describe, describe_damaged, lost_to, spools,
};
use crate::recording::vanished::{self, refuse_unlisted, vanished};
use crate::recording::{Liveness, Progress, TOO_LONG, Unfinished};
use crate::trail::read_meta;
use crate::writer::Hidden;
use iotrail_model::recording_coverage::count;
use iotrail_model::{Case, CaseId, Coverage, Note, RecordingCoverage};
use iotrail_spool::{Damage, Spool};
use serde::Serialize;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Why the events of a recording are missing that stayed where it is.
const NOT_TAKEN: &str = "recordings that were not recovered";

/// How a trail is finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecoverOptions {
    /// Make a new, finished trail there and leave the old one as it is.
    pub output: Option<PathBuf>,
    /// Replace what is at `output`.
    pub overwrite: bool,
    /// Take recordings too whose recorder may be alive, and what can be read of those that are damaged. Never those that
    /// are visibly being written.
    pub force: bool,
    /// Number of threads.
    pub threads: NonZeroUsize,
}

/// What was finished.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Recovered {
    /// Recordings that are now part of the trail.
    pub recordings: Vec<Unfinished>,
    /// Recordings that were left alone: their recorder is, or may be, alive, or they are damaged.
    pub left: Vec<Unfinished>,
    /// Recordings of which nothing can be read, because their header is missing or damaged. They stay where they are.
    pub unreadable: Vec<Unreadable>,
    /// Events that came out of spools.
    pub events: u64,
    /// Events of the same recordings that are known to be missing.
    pub lost: u64,
    /// Damaged places at which more are missing, whose number nothing tells.
    pub lost_unknown: u64,
    /// What the whole trail holds now; NULL if there is nothing in it yet.
    pub totals: Option<Totals>,
}

impl Recovered {
    /// Whether nothing was left behind.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.left.is_empty() && self.unreadable.is_empty()
    }
}

/// A recording of which nothing can be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unreadable {
    /// Name of its directory under `recording`.
    pub name: String,
    /// Its directory and what is wrong with it, in a sentence.
    pub why: String,
}

/// Makes every recording that was not finished part of the trail `target`. A trail that is finished stays as it is.
///
/// May be killed at any moment, and called again. Of several at the same time one works; the others wait for it.
///
/// # Errors
/// There is not a trail, it cannot be written, the disk is full, or another is at work on it for too long.
pub fn recover(
    target: &Path,
    options: &RecoverOptions,
    progress: Progress<'_>,
) -> Result<Recovered, TrailError> {
    target.metadata().map_err(TrailError::io("open", target))?;
    if !target.join(META_FILE).is_file() && !target.join(RECORDING).is_dir() {
        let why = "it holds neither trail.json nor recordings".to_owned();
        return Err(TrailError::NotATrail { path: target.to_owned(), why });
    }
    let _lock = match Lock::take_recovery(target) {
        // Where nothing can be written, nobody else changes the trail in its place.
        Err(TrailError::Io { .. }) if options.output.is_some() => None,
        lock => Some(lock?),
    };
    let (mut recovered, mut candidates, mut others) = (Recovered::default(), Vec::new(), Vec::new());
    let spools = spools(target)?;
    let gone = vanished(target, &Run::read(target).ok().flatten().unwrap_or_default())?;
    if options.output.is_none() || !options.force {
        refuse_unlisted(target, &gone)?;
    }
    let run = run_of(target, options, &spools)?;
    for (name, spool) in spools {
        match spool {
            Err(error) => recovered.unreadable.push(Unreadable { name, why: error.to_string() }),
            Ok(spool) => match describe(&name, &spool) {
                found if may_take(&found, &spool, options.force)? => candidates.push((found, spool)),
                found => others.push((found, spool)),
            },
        }
    }
    let total = candidates.iter().map(|(found, _)| found.events).sum();
    let overall = Overall { earlier: AtomicU64::new(0), total, progress };
    let work = Work { threads: options.threads, force: options.force, overall: &overall };
    recovered.totals = match &options.output {
        None => {
            recovered.left.extend(others.into_iter().map(|(found, _)| found));
            let totals = work.in_place(target, candidates, &mut recovered)?;
            state_in_place(target, &gone)?;
            totals
        }
        Some(output) => {
            let spools = [candidates, others];
            let mut assembly = assembly_of(target, &run)?;
            vanished::state(&gone, &mut assembly.meta.coverage);
            Some(work.elsewhere((target, assembly), spools, (output, options.overwrite), &mut recovered)?)
        }
    };
    Ok(recovered)
}

/// What is known of the run whose recordings are recovered. It tells little that they do not say of themselves: who takes what can be
/// read takes them without it.
fn run_of(target: &Path, options: &RecoverOptions, spools: &[Named]) -> Result<Run, TrailError> {
    if spools.is_empty() && !options.force {
        return Ok(Run::read(target)?.unwrap_or_default());
    }
    match known_run(target, spools.iter().filter_map(|(_, spool)| spool.as_ref().ok())) {
        Err(_) if options.force => {
            if options.output.is_none() {
                Run::remove(target)?;
            }
            Ok(Run::default())
        }
        known => known,
    }
}

/// Whether a recording may be taken, as far as one knows before it is read.
fn may_take(found: &Unfinished, spool: &Spool, force: bool) -> Result<bool, TrailError> {
    Ok(match found.recorder {
        // Nothing is gained by giving up a spool of which nothing can be read, but might be one day.
        _ if force => {
            let is_readable = spool.events() > 0 || damage_of(spool)?.is_empty();
            !spool.is_being_written() && (is_readable || spool.is_blank()?)
        }
        Liveness::Dead => spool.damage().is_empty(),
        _ => false,
    })
}

/// States in the trail that recordings of its run are gone, if there is a finished part of it.
fn state_in_place(target: &Path, gone: &[Case]) -> Result<(), TrailError> {
    if gone.is_empty() || target.join(META_FILE).symlink_metadata().is_err() {
        return Ok(());
    }
    let _lock = Lock::take(target)?;
    let mut meta = read_meta(target)?;
    vanished::state(gone, &mut meta.coverage);
    replace_json(&target.join(META_FILE), &meta)
}

/// Progress over several recordings.
struct Overall<'a> {
    earlier: AtomicU64,
    total: u64,
    progress: Progress<'a>,
}

struct Work<'a> {
    threads: NonZeroUsize,
    force: bool,
    overall: &'a Overall<'a>,
}

impl Work<'_> {
    /// Converts a spool into parts in `directory`; leaves it alone if it turns out to be damaged.
    fn take(
        &self,
        found: Unfinished,
        spool: &Spool,
        directory: &Path,
        recovered: &mut Recovered,
    ) -> Result<Outcome, TrailError> {
        let Overall { earlier, total, progress } = self.overall;
        let show = |done: u64, _| progress(earlier.load(Ordering::Relaxed) + done, *total);
        let addition = addition(&found.name, spool, directory, self.threads, &show)?;
        earlier.fetch_add(spool.events(), Ordering::Relaxed);
        let events = addition.parts.iter().map(PartSummary::events).sum();
        let found = describe_damaged(found, spool, &addition.damage, events);
        if !self.force && !addition.damage.is_empty() {
            recovered.left.push(found);
            return Ok(Outcome::Left(Box::new(missing_of(&addition))));
        }
        recovered.events += events;
        let recording = addition.coverage.recording.as_ref();
        recovered.lost += recording.map_or(0, RecordingCoverage::lost);
        recovered.lost_unknown += recording.map_or(0, |recording| recording.lost_unknown);
        recovered.recordings.push(Unfinished { events, ..found });
        Ok(Outcome::Taken(Box::new(addition)))
    }

    fn in_place(
        &self,
        target: &Path,
        candidates: Vec<(Unfinished, Spool)>,
        recovered: &mut Recovered,
    ) -> Result<Option<Totals>, TrailError> {
        for (found, spool) in candidates {
            let scratch = scratch(spool.directory())?;
            if let Outcome::Taken(addition) = self.take(found, &spool, scratch.path(), recovered)? {
                let _lock = Lock::take(target)?;
                publish(target, vec![*addition])?;
            }
        }
        if target.join(META_FILE).symlink_metadata().is_err() {
            return Ok(None);
        }
        let _lock = Lock::take(target)?;
        tidy(target)?;
        Ok(Some(read_meta(target)?.totals))
    }

    /// A new trail of the finished tables and the recordings that can be taken.
    fn elsewhere(
        &self,
        (target, mut assembly): (&Path, Assembly),
        [candidates, others]: [Vec<(Unfinished, Spool)>; 2],
        (output, overwrite): (&Path, bool),
        recovered: &mut Recovered,
    ) -> Result<Totals, TrailError> {
        let hidden = Hidden::create(output, overwrite)?;
        let directory = hidden.path();
        for file in assembly.meta.files.iter().filter(|file| file.table != Table::Cases) {
            // What is damaged shall not be taken for the copy of something sound.
            ParquetFile::open_listed(target, file)?.verify()?;
            let (from, to) = (target.join(&file.file), directory.join(&file.file));
            fs::copy(&from, &to).map_err(TrailError::io("copy to", &to))?;
        }
        for (found, spool) in candidates {
            let scratch = scratch(directory)?;
            let addition = match self.take(found, &spool, scratch.path(), recovered)? {
                Outcome::Taken(addition) => addition,
                Outcome::Left(missing) => {
                    assembly.meta.coverage.merge(&missing);
                    continue;
                }
            };
            assembly.add(vec![*addition], |from, to| {
                let to = directory.join(to);
                fs::rename(from, &to).map_err(TrailError::io("rename to", &to))
            })?;
        }
        for (found, spool) in others {
            let scratch = scratch(directory)?;
            let left = addition(&found.name, &spool, scratch.path(), self.threads, &|_, _| {})?;
            assembly.meta.coverage.merge(&missing_of(&left));
            recovered.left.push(found);
        }
        for left in &recovered.left {
            let (case, why) = (Some(left.case.to_string()), left.why.clone());
            assembly.meta.coverage.note(Note::RecordingLeftOut { case, why });
        }
        for unreadable in &recovered.unreadable {
            let missing = RecordingCoverage { recorders: 1, lost_unknown: 1, ..RecordingCoverage::default() };
            assembly.meta.coverage.merge(&Coverage::of_recording(missing));
            assembly.meta.coverage.note(Note::RecordingLeftOut { case: None, why: unreadable.why.clone() });
        }
        assembly.write_cases(&directory.join(Table::Cases.file_name(0)))?;
        replace_json(&directory.join(META_FILE), &assembly.meta)?;
        hidden.make_durable()?;
        hidden.publish()?;
        Ok(assembly.meta.totals)
    }
}

/// What became of a spool that might be taken.
enum Outcome {
    Taken(Box<Addition>),
    /// It stays where it is. This is what a trail without it lacks.
    Left(Box<Coverage>),
}

/// What a trail without a recording lacks: what the recorder lost, and all that its spool holds.
fn missing_of(left: &Addition) -> Coverage {
    let known = left.coverage.recording.clone().unwrap_or_default();
    let mut missing = RecordingCoverage {
        recorders: 1,
        selections: known.selections,
        broken_off: known.broken_off,
        lost: known.lost,
        lost_unknown: known.lost_unknown,
        ..RecordingCoverage::default()
    };
    count(&mut missing.lost, NOT_TAKEN, left.parts.iter().map(PartSummary::events).sum());
    Coverage::of_recording(missing)
}

/// What the finished part of a trail says.
pub(crate) fn assembly_of(target: &Path, run: &Run) -> Result<Assembly, TrailError> {
    let mut assembly = match target.join(META_FILE).symlink_metadata() {
        Ok(_) => {
            let meta = read_meta(target)?;
            let cases = read_cases(target, &meta)?;
            Assembly::new(Some(meta), cases, run)
        }
        Err(_) => Assembly::new(None, Vec::new(), run),
    };
    assembly.add(Vec::new(), |_, _| Ok(()))?;
    Ok(assembly)
}

/// What is written of the run of unfinished recordings, which is there before them.
pub(crate) fn known_run<'a>(
    target: &Path,
    mut spools: impl Iterator<Item = &'a Spool>,
) -> Result<Run, TrailError> {
    let damaged = |why: &str| {
        let path = target.join(RECORDING).join(RUN);
        TrailError::DamagedSpool { path, why: why.to_owned(), target: target.to_owned() }
    };
    match Run::read(target) {
        Ok(Some(run)) => match spools.find(|spool| !run.is_of(spool.header())) {
            Some(spool) => Err(damaged(&format!("it is not of the run of {}", spool.header().case))),
            None => Ok(run),
        },
        Ok(None) => Err(damaged("the file is missing")),
        Err(TrailError::Damaged { why, .. }) => Err(damaged(&why)),
        Err(error) => Err(error),
    }
}

/// Converts the spool of a recorder that did not do it itself into parts in `directory`.
pub(crate) fn addition(
    name: &str,
    spool: &Spool,
    directory: &Path,
    threads: NonZeroUsize,
    progress: Progress<'_>,
) -> Result<Addition, TrailError> {
    let case = case_of(spool.header()).unwrap_or(CaseId(0));
    let converted = convert(spool, case, directory, threads, progress)?;
    Ok(Addition {
        name: name.to_owned(),
        // Nobody counted turns; that processes ran at the same time is the safe assumption.
        case: Case { interleaved: converted.tables.processes.len() > 1, ..case_row(spool.header(), case) },
        capture: capture_of(spool.header()),
        coverage: statement(name, spool, &converted),
        damage: converted.damage,
        parts: converted.parts,
        directory: directory.to_owned(),
    })
}

/// States what damage took of a spool that gave so many events.
pub(crate) fn count_damage(recording: &mut RecordingCoverage, spool: &Spool, damage: &[Damage], events: u64) {
    count(&mut recording.lost, "damaged spool", lost_to(damage, spool, events));
    let is_uncounted =
        |damage: &&Damage| damage.events.is_none() && damage.skipped > 0 && spool.written().is_none();
    recording.lost_unknown =
        damage.iter().filter(is_uncounted).count() as u64 + u64::from(spool.losses().unreadable);
}

/// The coverage of a recording that was broken off: what its recorder said last, and what its spool holds.
fn statement(name: &str, spool: &Spool, converted: &Converted) -> Coverage {
    let losses = spool.losses();
    // A spool without room for the last statement has it beside itself.
    let last = losses.statement.as_ref().or(converted.tables.coverage.as_ref());
    let mut coverage = last.cloned().unwrap_or_default();
    let events = converted.events();
    let found = describe(name, spool);
    let recording = coverage.recording.get_or_insert_with(RecordingCoverage::default);
    recording.recorders = 1;
    recording.events = events;
    recording.recovered = 1;
    recording.broken_off = u64::from(!came_to_its_end(spool));
    if !came_to_its_end(spool) {
        // Statements on the way speak of no event that the spool refused.
        let reason = losses.reason.as_deref().unwrap_or("the spool could not be written");
        count(&mut recording.lost, reason, losses.failed);
        count(&mut recording.lost, TOO_LONG, losses.too_long);
    }
    count_damage(recording, spool, &converted.damage, events);
    coverage.lost = recording.lost();
    let case = found.case.to_string();
    let (host, pid, why) = (found.host, found.pid, found.why);
    coverage.note(Note::FromSpool { case: case.clone(), host, pid, events, why });
    if losses.unreadable {
        coverage.note(Note::LossesUnreadable { case });
    }
    for damage in converted.damage.iter().take(5) {
        let file = damage.path.display().to_string();
        coverage.note(Note::SpoolDamaged { file, byte: damage.byte, what: damage.what.clone() });
    }
    coverage
}
