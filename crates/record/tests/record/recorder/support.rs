//! Programs to record, and a store that keeps what comes out in memory.

use iotrail_model::{Dictionaries, Event, Process};
use iotrail_record::proc::EnvSelection;
use iotrail_record::{
    CallSet, Limits, Outcome, Placement, RecordError, RecordPlan, Store, StoreError, Target, Wait, record,
};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use tempfile::TempDir;

/// A process makes one recording at a time, and tests may share a process.
static ONE: Mutex<()> = Mutex::new(());

/// An event with its names.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) pid: u32,
    pub(crate) tid: u32,
    pub(crate) call: String,
    pub(crate) path: Option<String>,
    pub(crate) ret: Option<i64>,
    pub(crate) errno: Option<String>,
    pub(crate) dur: Option<i64>,
}

#[derive(Debug, Default)]
pub(crate) struct Collected {
    pub(crate) events: Vec<Row>,
    pub(crate) processes: Vec<Process>,
    /// The store fails when it holds so many events.
    pub(crate) capacity: Option<usize>,
}

impl Collected {
    pub(crate) fn calls(&self, name: &str) -> Vec<&Row> {
        self.events.iter().filter(|row| row.call == name).collect()
    }
}

impl Store for Collected {
    fn event(&mut self, event: &Event, names: &Dictionaries) -> Result<(), StoreError> {
        if self.capacity.is_some_and(|capacity| self.events.len() >= capacity) {
            return Err(StoreError::Failed("the disk is full".to_owned()));
        }
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        self.events.push(Row {
            pid: event.pid.0,
            tid: event.tid.0,
            call: text(names.calls.get(event.call.0)),
            path: event.path.get().map(|id| text(names.paths.get(id.0))),
            ret: event.ret.get(),
            errno: event.errno.get().map(|id| text(names.errnos.get(id.0))),
            dur: event.dur.get().map(|dur| dur.0),
        });
        Ok(())
    }

    fn process(&mut self, process: &Process) -> Result<(), StoreError> {
        self.processes.push(process.clone());
        Ok(())
    }

    fn bytes(&self) -> u64 {
        self.events.len() as u64 * 30
    }
}

/// A directory with compiled programs.
pub(crate) struct Stage {
    dir: TempDir,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Compiles a program; `None` if the compiler cannot with these options.
    pub(crate) fn try_compile(&self, name: &str, options: &[&str]) -> Option<PathBuf> {
        let source =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs").join(name).with_extension("c");
        let program = self.path(name);
        let output = Command::new("cc")
            .args(["-O1", "-w", "-pthread", "-o"])
            .args([&program, &source])
            .args(options)
            .output()
            .unwrap();
        output.status.success().then_some(program)
    }

    pub(crate) fn compile(&self, name: &str) -> PathBuf {
        self.try_compile(name, &[]).expect("cc compiles a test program")
    }
}

/// A plan to record a command.
pub(crate) fn plan<I: IntoIterator<Item = W>, W: Into<OsString>>(words: I) -> RecordPlan {
    RecordPlan {
        target: Target::Command(words.into_iter().map(Into::into).collect()),
        calls: CallSet::parse("all").unwrap(),
        wait: Wait::All,
        placement: Placement::Auto,
        env: EnvSelection::none(),
        limits: Limits::default(),
        mpi: None,
    }
}

/// A plan to record a scene.
pub(crate) fn scene(stage: &Stage, words: &[&str]) -> RecordPlan {
    let program = stage.compile("scenes");
    plan(std::iter::once(program.into_os_string()).chain(words.iter().map(Into::into)))
}

/// A plan to record a line of shell.
pub(crate) fn shell(line: &str) -> RecordPlan {
    plan(["/bin/sh", "-c", line])
}

pub(crate) fn run(plan: &RecordPlan) -> (Outcome, Collected) {
    run_into(plan, Collected::default())
}

pub(crate) fn run_into(plan: &RecordPlan, mut store: Collected) -> (Outcome, Collected) {
    let _one = ONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let outcome = record(plan, &mut store).unwrap();
    (outcome, store)
}

pub(crate) fn fails(plan: &RecordPlan) -> RecordError {
    let _one = ONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    record(plan, &mut Collected::default()).unwrap_err()
}

/// Waits until something is so, with a generous deadline.
pub(crate) fn until(mut so: impl FnMut() -> bool) {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !so() {
        assert!(std::time::Instant::now() < deadline, "waited for a minute");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}
