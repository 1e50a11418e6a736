//! From a command to its trail: joins the trail, records into the spool, makes the tables.

use crate::proc::{Launcher, host};
use crate::{Outcome, RecordError, RecordPlan, Store, StoreError, Target, record};
use iotrail_model::{CaseName, Coverage, Dictionaries, Event, NamedFile, PathId, Process, Site, SiteId};
use iotrail_spool::SpoolError;
use iotrail_trail::{Capture, JoinOptions, Progress, Published, Recording, TrailError};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Where a recording goes, and under which name.
#[derive(Clone, Debug)]
pub struct SessionOptions {
    /// Path of the trail to write.
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
    pub published: Result<Published, TrailError>,
}

/// No recording was made.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The program was not started: there is no place for its trail.
    #[error("{0}")]
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
    let outcome = match record(plan, &mut Spool(&mut recording)) {
        Ok(outcome) => outcome,
        Err(error) => {
            recording.abandon()?;
            return Err(error.into());
        }
    };
    let published = recording.finish(&outcome.coverage, outcome.interleaved, options.threads, progress);
    Ok(Session { outcome, published })
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

/// Keeps events in the spool of a recording.
struct Spool<'a>(&'a mut Recording);

impl From<SpoolError> for StoreError {
    fn from(error: SpoolError) -> Self {
        match error.is_about_one_record() {
            true => Self::Refused(iotrail_trail::TOO_LONG),
            false => Self::Failed(error.to_string()),
        }
    }
}

impl Store for Spool<'_> {
    fn begun(&mut self) {
        // What goes wrong here is tried again, and reported, at the end.
        let _ = self.0.begun();
    }

    #[inline]
    fn event(&mut self, event: &Event, names: &Dictionaries) -> Result<(), StoreError> {
        Ok(self.0.writer().event(event, names)?)
    }

    fn process(&mut self, process: &Process) -> Result<(), StoreError> {
        Ok(self.0.writer().process(process)?)
    }

    fn image(&mut self, process: &Process) -> Result<(), StoreError> {
        Ok(self.0.writer().image(process)?)
    }

    fn file(&mut self, path: PathId, file: &NamedFile, names: &Dictionaries) -> Result<(), StoreError> {
        Ok(self.0.writer().file(path, file, names)?)
    }

    fn site(&mut self, site: SiteId, of: &Site) -> Result<(), StoreError> {
        Ok(self.0.writer().site(site, of)?)
    }

    fn coverage(&mut self, coverage: &Coverage) -> Result<(), StoreError> {
        Ok(self.0.writer().coverage(coverage)?)
    }

    fn bytes(&self) -> u64 {
        self.0.written().bytes
    }

    fn rotated(&mut self) {
        self.0.writer().rotate();
    }
}
