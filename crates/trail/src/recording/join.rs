//! A recorder's share of a trail, from its first event to its Parquet files.

use crate::error::TrailError;
use crate::meta::{Capture, META_FILE};
use crate::outside::outside_of_trails;
use crate::recording::Progress;
use crate::recording::convert::convert;
use crate::recording::lock::Lock;
use crate::recording::place::{Aside, Replaced};
use crate::recording::publish::{Addition, Published, publish, tidy};
use crate::recording::recover::count_damage;
use crate::recording::run::{RECORDING, Run};
use crate::recording::unfinished::{boot_id, directory_name};
use iotrail_model::{Case, CaseId, CaseName, Clock, Coverage, Nanos, Resolution, Timestamp};
use iotrail_spool::{Header, Recorder, Spool, SpoolWriter, Written};
use std::fs;
use std::num::NonZeroUsize;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Names of what the trail must know of a recording, in the spool's header.
pub(crate) const CASE_ID: &str = "case_id";
pub(crate) const CAPTURE: &str = "capture";

/// Which trail a recorder contributes to, and as what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JoinOptions {
    /// What the recorders of one run have in common: the launcher's job and step.
    pub run: Option<String>,
    /// The rank of the program in its run.
    pub rank: Option<u32>,
    /// The number of ranks of the run.
    pub world: Option<u32>,
    /// Replace a trail of another run. Of several ranks only the first one replaces; the others join it.
    pub overwrite: bool,
    /// How the events are captured; `command` and `host` are those of this recorder.
    pub capture: Capture,
    /// The recorded command line; empty if processes were attached to.
    pub command: Vec<String>,
    /// The name of the case.
    pub case: CaseName,
    /// Free text by which runs are told apart.
    pub label: Option<String>,
}

/// A recorder's share of a trail. Dropped before [`Recording::finish`], its spool stays, as if it had been killed; one that
/// was to replace a trail and had not [`Recording::begun`] goes, and the old trail stays.
#[derive(Debug)]
pub struct Recording {
    target: PathBuf,
    directory: PathBuf,
    /// The directory of the spool, wherever somebody may move the trail.
    opened: fs::File,
    name: String,
    case: CaseId,
    writer: SpoolWriter,
    /// The new trail, as long as the old one is at its place.
    aside: Option<Aside>,
    /// The old trail, as long as it may have to come back.
    replaced: Replaced,
}

impl Recording {
    /// Makes the trail `target`, or joins it if recorders of the same run made it: the same `run`, or, where the launcher
    /// names none, the same command and number of ranks without this rank.
    ///
    /// # Errors
    /// Another trail, or something that is not a trail, is there; the directory cannot be written; another recorder holds
    /// the trail's lock for too long.
    pub fn join(target: &Path, options: JoinOptions) -> Result<Self, TrailError> {
        if target.file_name().is_none() {
            let why = "a trail needs a name".to_owned();
            return Err(TrailError::NotATrail { path: target.to_owned(), why });
        }
        outside_of_trails(target)?;
        let _lock = Lock::take(target)?;
        let (mut run, aside) = enter(target, &options)?;
        let is_alone = options.rank.is_none();
        let place = aside.as_ref().map_or(target, Aside::path);
        let case = CaseId::from_index(run.cases.len());
        run.ranks.extend(options.rank);
        let header = header(options, case);
        run.cases.push(case_row(&header, case));
        let name = directory_name(&header, case);
        let directory = place.join(RECORDING).join(&name);
        fs::create_dir(&directory).map_err(TrailError::io("create", &directory))?;
        let begin = || {
            let writer = SpoolWriter::create(&directory, &header)?;
            run.write(place)?;
            Ok((writer, fs::File::open(&directory).map_err(TrailError::io("open", &directory))?))
        };
        let (writer, opened) = begin().inspect_err(|_: &TrailError| {
            // A trail of other recorders shall not keep what this one could not begin.
            let _ = fs::remove_dir_all(&directory);
        })?;
        let target = target.to_owned();
        let replaced = Replaced::default();
        let mut recording = Self { target, directory, opened, name, case, writer, aside, replaced };
        // Other ranks must find the new trail; one recorder alone leaves the old one until it has something better.
        if !is_alone || recording.target.symlink_metadata().is_err() {
            recording.place()?;
        }
        Ok(recording)
    }

    /// The program runs: the old trail, if there is one, may go.
    ///
    /// # Errors
    /// The trail cannot be moved to its place.
    pub fn begun(&mut self) -> Result<(), TrailError> {
        if self.aside.is_some() {
            let _lock = Lock::take(&self.target)?;
            self.place()?;
        }
        self.replaced.remove();
        Ok(())
    }

    /// Moves the new trail to its place. Under the lock.
    fn place(&mut self) -> Result<(), TrailError> {
        if let Some(aside) = self.aside.take() {
            self.replaced = aside.place()?;
            self.directory = self.target.join(RECORDING).join(&self.name);
            self.writer.moved_to(&self.directory);
        }
        Ok(())
    }

    /// Takes the events. Give the spool the coverage statement now and then: it is what is known if the recorder is killed.
    pub fn writer(&mut self) -> &mut SpoolWriter {
        &mut self.writer
    }

    /// What was written and refused so far.
    #[must_use]
    pub fn written(&self) -> Written {
        self.writer.written()
    }

    /// Makes Parquet files of the spool with `threads` threads, adds them to the trail, and removes the spool. `interleaved` says whether two processes of the case ran at the same time.
    ///
    /// # Errors
    /// The disk is full or the trail was removed. Unless the message says otherwise the spool is complete, and
    /// [`crate::recover`] finishes it when there is space, or elsewhere.
    pub fn finish(
        mut self,
        coverage: &Coverage,
        interleaved: bool,
        threads: NonZeroUsize,
        progress: Progress<'_>,
    ) -> Result<Published, TrailError> {
        if let Err(source) = self.begun() {
            // What was recorded stays under the hidden name.
            let path = self.aside.take().map_or_else(|| self.target.clone(), Aside::keep);
            let _ = self.writer.finish_with(coverage);
            return Err(TrailError::NotConverted { path, lost: coverage.lost, source: Box::new(source) });
        }
        let Self { target, directory, opened, name, case, writer, .. } = self;
        // What the spool refuses from here on was said to be lost already, by the statement itself.
        let _ = writer.finish_with(coverage);
        // The writer's lock ended with it; this one says that the recorder is still at work.
        let header = fs::File::options().read(true).write(true).open(directory.join("header.json")).ok();
        let _held = header.as_ref().map(fs::File::try_lock);
        let finish = || {
            let spool = Spool::open(&directory)?;
            let scratch = scratch(&directory)?;
            let parts = scratch.path().to_owned();
            let converted = convert(&spool, case, &parts, threads, progress)?;
            let mut coverage = coverage.clone();
            if !converted.damage.is_empty() {
                // The recorder does not know what somebody did to its files.
                let recording = coverage.recording.get_or_insert_default();
                recording.events = converted.events();
                count_damage(recording, &spool, &converted.damage, converted.events());
                coverage.lost = recording.lost();
            }
            let addition = Addition {
                name: name.clone(),
                case: Case { interleaved, ..case_row(spool.header(), case) },
                capture: capture_of(spool.header()),
                coverage,
                damage: converted.damage,
                parts: converted.parts,
                directory: parts,
            };
            let _lock = Lock::take(&target)?;
            let published = publish(&target, vec![addition])?;
            tidy(&target)?;
            Ok(published)
        };
        finish().map_err(|source: TrailError| {
            let path = target.clone();
            if directory.join("header.json").is_file() {
                TrailError::NotConverted { path, lost: coverage.lost, source: Box::new(source) }
            } else if let Some(to) = trail_around(&opened) {
                TrailError::Moved { path, to }
            } else {
                TrailError::Vanished { path }
            }
        })
    }

    /// Takes the recording back as if it had never begun: the command could not be started. A trail that holds nothing
    /// else is removed.
    ///
    /// # Errors
    /// Its files cannot be removed.
    pub fn abandon(self) -> Result<(), TrailError> {
        let Self { target, directory, case, writer, aside, mut replaced, .. } = self;
        drop(writer);
        let _lock = Lock::take(&target)?;
        if let Some(aside) = aside {
            drop(aside);
            return Ok(());
        }
        let run = Run::read(&target)?;
        let alone = run.as_ref().is_none_or(|run| run.cases.len() <= 1);
        if let Some(mut run) = run {
            run.abandoned.push(case);
            run.write(&target)?;
        }
        fs::remove_dir_all(&directory).map_err(TrailError::io("remove", &directory))?;
        if alone && target.join(META_FILE).symlink_metadata().is_err() {
            if replaced.bring_back(&target)? {
                return Ok(());
            }
            fs::remove_dir_all(&target).map_err(TrailError::io("remove", &target))?;
        }
        Ok(())
    }
}

/// Where the trail is now whose spool has this directory; `None` if that was removed.
fn trail_around(spool: &fs::File) -> Option<PathBuf> {
    let there = fs::read_link(format!("/proc/self/fd/{}", spool.as_raw_fd())).ok()?;
    let trail = there.ancestors().nth(2)?;
    there.join("header.json").is_file().then(|| trail.to_owned())
}

/// The run of the trail; if there is none, a new one in a trail that is not at its place yet. Under the lock.
fn enter(target: &Path, options: &JoinOptions) -> Result<(Run, Option<Aside>), TrailError> {
    if target.symlink_metadata().is_ok() {
        if !target.is_dir() {
            crate::replaceable::check_replaceable(target)?;
        }
        match Run::read(target)? {
            Some(run) if run.takes(options) => return Ok((run, None)),
            found => check_place(target, found.as_ref(), options)?,
        }
    }
    Ok((Run::of(options), Some(Aside::create(target)?)))
}

/// Whether what stands at `target` may be replaced: if that is wished for, or it is empty.
fn check_place(target: &Path, run: Option<&Run>, options: &JoinOptions) -> Result<(), TrailError> {
    let is_empty = fs::read_dir(target).is_ok_and(|mut entries| entries.next().is_none());
    if !options.overwrite && !is_empty {
        return Err(match run.filter(|_| options.rank.is_some()) {
            Some(run) => TrailError::OtherRun { path: target.to_owned(), of: run.describe() },
            None => TrailError::Exists { path: target.to_owned() },
        });
    }
    crate::replaceable::check_replaceable(target)
}

fn header(options: JoinOptions, case: CaseId) -> Header {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let capture = serde_json::to_value(&options.capture).unwrap_or_default();
    Header {
        recorder: Recorder {
            host: options.case.host.clone().unwrap_or_else(|| "localhost".to_owned()),
            pid: std::process::id(),
            boot_id: boot_id(),
            started: Some(Timestamp(now.as_nanos() as i64)),
            command: options.command,
        },
        case: options.case,
        label: options.label,
        run: options.run,
        rank: options.rank,
        capture: [(CASE_ID.to_owned(), case.0.into()), (CAPTURE.to_owned(), capture)].into(),
    }
}

/// How the recording of this header captured its events.
pub(crate) fn capture_of(header: &Header) -> Capture {
    let value = header.capture.get(CAPTURE).cloned().unwrap_or_default();
    serde_json::from_value(value).unwrap_or_default()
}

/// The row of the case that the events of this header's recording belong to.
pub(crate) fn case_row(header: &Header, id: CaseId) -> Case {
    Case {
        id,
        name: header.case.clone(),
        label: header.label.clone(),
        clock: Clock::Utc,
        source: capture_of(header).source,
        interleaved: false,
        resolution: Resolution(Nanos(1)),
        numbered_with: None,
    }
}

/// A place in `directory` for Parquet files that are not part of the trail yet. Each converter has its own, so that several
/// may work on one recording and the first one wins; what a killed one leaves goes with the recording.
pub(crate) fn scratch(directory: &Path) -> Result<tempfile::TempDir, TrailError> {
    tempfile::Builder::new()
        .prefix("parts-")
        .permissions(PermissionsExt::from_mode(0o700))
        .tempdir_in(directory)
        .map_err(TrailError::io("create a directory in", directory))
}
