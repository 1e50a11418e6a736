//! From a command to its trail: joins the trail, records into the spool, makes the tables.

use crate::proc::{Launcher, host};
use crate::{Outcome, RecordError, RecordPlan, Store, Target, record};
use iotrail_model::recording_coverage::count;
use iotrail_model::{CaseName, Coverage, Dictionaries, Event, NamedFile, PathId, Process};
use iotrail_resolve::Sink;
use iotrail_spool::SpoolError;
use iotrail_trail::{Capture, JoinOptions, Progress, Recording, Totals, TrailError};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Where a recording goes, and under which name.
#[derive(Clone, Debug)]
pub struct SessionOptions {
    /// The trail.
    pub target: PathBuf,
    /// Replace a trail of another run.
    pub overwrite: bool,
    /// Free text by which runs are told apart.
    pub label: Option<String>,
    /// What the recorders of one run have in common; the launcher's if not given.
    pub run: Option<String>,
    /// Threads that make the tables at the end.
    pub threads: NonZeroUsize,
}

/// A recording that is over, and in its trail if nothing went wrong there.
#[derive(Debug)]
pub struct Session {
    /// How the program ended, and what was seen.
    pub outcome: Outcome,
    /// What this recording added to the trail. The program has run in any case.
    pub added: Result<Totals, TrailError>,
}

/// No recording was made.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The program was not started: there is no place for its trail.
    #[error(transparent)]
    Trail(#[from] TrailError),
    /// The program could not be started or attached to.
    #[error(transparent)]
    Record(#[from] RecordError),
}

impl SessionError {
    /// The status that a shell reports in this case, see [`RecordError::exit_status`].
    #[must_use]
    pub fn exit_status(&self) -> u8 {
        match self {
            Self::Trail(_) => 125,
            Self::Record(error) => error.exit_status(),
        }
    }
}

/// Records `plan` into a trail. See [`record`] about threads and children.
///
/// # Errors
/// The trail cannot be made, or the program could not be started or attached to; then nothing is left behind.
pub fn record_to_trail(
    plan: &RecordPlan,
    options: &SessionOptions,
    progress: Progress<'_>,
) -> Result<Session, SessionError> {
    let mut recording = Recording::join(&options.target, join_options(plan, options))?;
    let mut spool = Spooled { recording: &mut recording, failure: None, refused: 0 };
    let outcome = match record(plan, &mut spool) {
        Ok(outcome) => with_refused(outcome, spool.refused),
        Err(error) => {
            recording.abandon()?;
            return Err(error.into());
        }
    };
    let added = recording.finish(&outcome.coverage, outcome.interleaved, options.threads, progress);
    Ok(Session { outcome, added })
}

fn join_options(plan: &RecordPlan, options: &SessionOptions) -> JoinOptions {
    let launcher = Launcher::detect();
    let command: Vec<String> = match &plan.target {
        Target::Command(words) => words.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        Target::Attach(_) => Vec::new(),
    };
    let case = CaseName {
        cid: Some(name_of(&plan.target)),
        host: host(),
        rid: Some(launcher.rank.map_or_else(|| std::process::id().to_string(), |rank| rank.to_string())),
    };
    let mut details = BTreeMap::new();
    details.extend(launcher.name.map(|name| ("launcher".to_owned(), name.to_owned())));
    details.extend(launcher.job_name.clone().map(|name| ("job".to_owned(), name)));
    JoinOptions {
        run: options.run.clone().or(launcher.run),
        rank: launcher.rank,
        world: launcher.world,
        overwrite: options.overwrite,
        capture: Capture {
            source: "ptrace".to_owned(),
            command: (!command.is_empty()).then(|| command.join(" ")),
            host: case.host.clone(),
            inputs: Vec::new(),
            details,
        },
        command,
        case,
        label: options.label.clone(),
    }
}

/// What a recording is called after: the program without its directory, or the processes that were attached to.
#[must_use]
pub fn name_of(target: &Target) -> String {
    match target {
        Target::Command(words) => {
            let program = words.first().map(Path::new).and_then(Path::file_name);
            program.map_or_else(|| "recording".to_owned(), |name| OsStr::to_string_lossy(name).into_owned())
        }
        Target::Attach(pids) => match pids[..] {
            [pid] => format!("pid-{pid}"),
            _ => "pids".to_owned(),
        },
    }
}

/// Keeps what the resolver finds out in a spool, until that fails.
struct Spooled<'a> {
    recording: &'a mut Recording,
    failure: Option<String>,
    /// Events that the spool had no room for in one record.
    refused: u64,
}

/// Counts events that the spool refused one by one.
fn with_refused(mut outcome: Outcome, refused: u64) -> Outcome {
    if let Some(recording) = &mut outcome.coverage.recording {
        count(&mut recording.lost, iotrail_trail::TOO_LONG, refused);
        recording.events = recording.events.saturating_sub(refused);
        outcome.coverage.lost = recording.lost();
    }
    outcome
}

impl Spooled<'_> {
    fn note(&mut self, result: Result<(), SpoolError>) {
        match result {
            Err(error) if self.failure.is_none() && !error.is_about_one_record() => {
                self.failure = Some(error.to_string());
            }
            _ => {}
        }
    }
}

impl Sink for Spooled<'_> {
    #[inline]
    fn event(&mut self, event: &Event, names: &Dictionaries) {
        let result = self.recording.writer().event(event, names);
        self.refused += u64::from(result.as_ref().is_err_and(SpoolError::is_about_one_record));
        self.note(result);
    }

    fn process(&mut self, process: Process) {
        let result = self.recording.writer().process(&process);
        self.note(result);
    }

    fn image(&mut self, process: &Process) {
        let result = self.recording.writer().image(process);
        self.note(result);
    }

    fn file(&mut self, path: PathId, file: &NamedFile, names: &Dictionaries) {
        let result = self.recording.writer().file(path, file, names);
        self.note(result);
    }
}

impl Store for Spooled<'_> {
    fn begun(&mut self) {
        // What goes wrong here is tried again, and reported, at the end.
        let _ = self.recording.begun();
    }

    fn failure(&self) -> Option<String> {
        self.failure.clone()
    }

    fn bytes(&self) -> u64 {
        self.recording.written().bytes
    }

    fn rotated(&mut self) {
        self.recording.writer().rotate();
    }

    fn coverage(&mut self, coverage: &Coverage) {
        let result = self.recording.writer().coverage(coverage);
        self.note(result);
    }
}
