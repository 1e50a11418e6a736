//! `iotrail record`: run a program and keep every call that it makes to files.

use crate::commands::report;
use crate::{output, ui::Ui};
use anyhow::bail;
use iotrail_model::threads::one_per_core;
use iotrail_model::{Coverage, RecordingCoverage, quantity, units};
use iotrail_record::proc::EnvSelection;
use iotrail_record::{
    CallSet, Limits, Placement, RecordPlan, Session, SessionError, SessionOptions, Target, Wait, name_of,
    record_to_trail,
};
use iotrail_terminal::why_summary::why_line;
use iotrail_trail::{EventLog, Totals};
use iotrail_workflow::why::why;
use std::ffi::OsString;
use std::io;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// Exit status when the recording could not begin, as `env` and `timeout` have it.
const NOT_STARTED: u8 = 125;

/// Run a program and keep every call that it and its children make to files.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  iotrail record -- ls -l
  iotrail record --report -o build.trail -- make -j8
  iotrail record -o server.trail -p 4711
  iotrail record --calls data,!lseek -- ./app
  mpirun -n 16 iotrail record -o run.trail -- ./app

The program keeps its input, output and terminal. Exit status: the program's, or 128 + n if signal n ended it; 125 if the
recording could not begin, 126 if the command cannot be executed, 127 if there is none of that name.")]
pub(crate) struct Args {
    /// The command and its arguments.
    #[arg(
        required_unless_present = "pid",
        conflicts_with = "pid",
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "COMMAND"
    )]
    command: Vec<OsString>,

    /// Record a running process instead: all its threads, and its children from now on. Ctrl-C ends the recording and
    /// leaves the process running. May be given several times.
    #[arg(short, long, value_name = "PID")]
    pid: Vec<u32>,

    /// The trail to make. Default: `COMMAND.trail` here, with a number if there is one already.
    #[arg(short, long, value_name = "TRAIL")]
    output: Option<PathBuf>,

    /// Write the page when it is done, too. Default: beside the trail, `TRAIL.html`.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    report: Option<Option<PathBuf>>,

    /// Which calls: `io`, `file`, `desc`, `all`, a family (`data`, `metadata`, `socket`, ...) or names, in a list; `!`
    /// takes away. The calls that make and end processes are always in.
    #[arg(long, value_name = "SET", default_value = "io", value_parser = CallSet::parse)]
    calls: CallSet,

    /// When the recording is over: `all` when the last process has ended, `main` with the command itself.
    #[arg(long, value_name = "WHO", default_value = "all")]
    wait: Wait,

    /// Cores that program and recorder run on: `same` (one, shared), `free` (any) or `auto` (one while about one thread of the
    /// program is busy, any otherwise).
    #[arg(long, value_name = "WHERE", default_value = "auto")]
    placement: Placement,

    /// The same as `--placement same`.
    #[arg(long, hide = true, conflicts_with = "placement")]
    same_core: bool,

    /// Keep these environment variables of each process, too (names or globs, in a list). Default: only those of known
    /// batch and workflow systems.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    env: Vec<String>,

    /// A label by which runs can be told apart later.
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,

    /// Name of the run that several recorders contribute to. Default: the job of mpirun or srun.
    #[arg(long, value_name = "TEXT")]
    run_id: Option<String>,

    /// Keep at most so many events; the others are counted.
    #[arg(long, value_name = "N")]
    max_events: Option<u64>,

    /// Keep at most so many bytes of events; the others are counted.
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    max_size: Option<u64>,

    /// Sample 1 in N data transfers at random; all other calls are kept.
    #[arg(long, value_name = "N")]
    sample: Option<NonZeroU64>,

    /// Number of threads that write the trail at the end. Default: one per core.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,

    /// Replace the trail if there is one.
    #[arg(long)]
    force: bool,

    /// Write what was recorded as JSON to a file, `-` for stdout, when the program has ended.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

fn bytes(word: &str) -> Result<u64, String> {
    quantity::bytes(word).and_then(|bytes| u64::try_from(bytes).map_err(|_| "negative".to_owned()))
}

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    match record(args, ui) {
        Ok(code) => Ok(code),
        Err(error) => {
            ui.error(&error);
            if is_limited(&error) {
                ui.warn("the limit on the size of files (`ulimit -f`) is too small to record anything");
            }
            let status = error.downcast_ref::<SessionError>().map_or(NOT_STARTED, SessionError::exit_status);
            Ok(ExitCode::from(status))
        }
    }
}

/// Whether a file would have been larger than this process may make.
fn is_limited(error: &anyhow::Error) -> bool {
    let kind = |cause: &(dyn std::error::Error + 'static)| {
        let shared = cause.downcast_ref::<Arc<io::Error>>().map(|error| error.kind());
        shared.or_else(|| cause.downcast_ref::<io::Error>().map(io::Error::kind))
    };
    error.chain().any(|cause| kind(cause) == Some(io::ErrorKind::FileTooLarge))
}

fn record(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let plan = plan(args)?;
    let target = match &args.output {
        Some(path) if path == Path::new("-") => {
            bail!("a trail is a directory, it cannot go to stdout: name it with -o NAME.trail")
        }
        Some(path) => path.clone(),
        None => free_name(&name_of(&plan.target), args.force),
    };
    let options = SessionOptions {
        target: target.clone(),
        overwrite: args.force,
        label: args.label.clone(),
        run: args.run_id.clone(),
        threads: args.threads.unwrap_or_else(one_per_core),
    };
    let bar = ui.event_bar("writing the trail");
    let session = record_to_trail(&plan, &options, &|done, total| bar.show(done, total));
    bar.clear();
    let session = session?;
    // The program has run: whatever fails from here on is said, and the program's status stays what it is.
    if let Err(error) = conclude(&session, &target, args, ui) {
        ui.error(&error);
    }
    Ok(ExitCode::from(session.outcome.end.exit_status()))
}

fn plan(args: &Args) -> anyhow::Result<RecordPlan> {
    let mut env = EnvSelection::default();
    args.env.iter().try_for_each(|pattern| env.add(pattern))?;
    Ok(RecordPlan {
        target: match args.pid.is_empty() {
            true => Target::Command(args.command.clone()),
            false => Target::Attach(args.pid.clone()),
        },
        calls: args.calls.clone(),
        wait: args.wait,
        placement: if args.same_core { Placement::Same } else { args.placement },
        env,
        limits: Limits { max_events: args.max_events, max_size: args.max_size, sample: args.sample },
    })
}

/// `NAME.trail`, or `NAME-2.trail` and so on if that is taken and may not be replaced.
fn free_name(name: &str, replace: bool) -> PathBuf {
    let candidate = |number: u32| match number {
        1 => PathBuf::from(format!("{name}.trail")),
        _ => PathBuf::from(format!("{name}-{number}.trail")),
    };
    let free = |path: &PathBuf| replace || path.symlink_metadata().is_err();
    (1..u32::MAX).map(candidate).find(free).unwrap_or_else(|| candidate(1))
}

/// Says what was recorded, and writes what else was asked for.
fn conclude(session: &Session, target: &Path, args: &Args, ui: &Ui) -> anyhow::Result<()> {
    let coverage = &session.outcome.coverage;
    let recording = coverage.recording.as_ref();
    let added = match &session.added {
        Ok(added) => added,
        Err(error) => bail!("{error}"),
    };
    ui.say(&in_one_line(session, added, target));
    if let Some(why) = recording.and_then(RecordingCoverage::why_empty) {
        ui.warn(&format!("the recording holds no events: {why}"));
    }
    if let Some(recording) = recording {
        ui.say(&format!("coverage: {}", recording.in_one_line()));
    }
    if let Some(answer) = answer(added, target) {
        ui.say(&answer);
    }
    if let Some(page) = &args.report {
        let page = page.clone().unwrap_or_else(|| target.with_extension("html"));
        report::write_plain(target, &page, ui)?;
    }
    match &args.json {
        Some(path) => output::write(path, &summary(session, added, target)?),
        None => Ok(()),
    }
}

/// Recordings of more events are explained only when somebody asks.
const EXPLAINED: u64 = 500_000;

/// Where the elapsed time of a small recording of one case went, in one line. Others may still be recording into a trail of several.
fn answer(added: &Totals, target: &Path) -> Option<String> {
    if !(1..=EXPLAINED).contains(&added.events) {
        return None;
    }
    let log = EventLog::open(&[target.to_owned()]).ok().filter(|log| log.cases().len() == 1)?;
    let why = why(&log, one_per_core()).ok()?;
    let [run] = why.runs.as_slice() else { return None };
    Some(format!("why {}", why_line(run, why.directory.as_deref())))
}

fn in_one_line(session: &Session, added: &Totals, target: &Path) -> String {
    let (events, processes) = (units::count(added.events), units::count(added.processes));
    let span = units::duration((session.outcome.ended - session.outcome.started).0 as f64);
    let plural = if added.processes == 1 { "process" } else { "processes" };
    format!("{}: {events} events of {processes} {plural} in {span}", target.display())
}

/// What was recorded, for programs.
#[derive(serde::Serialize)]
struct Summary<'a> {
    trail: String,
    exit_status: u8,
    started: String,
    ended: String,
    events: u64,
    processes: u64,
    threads: u64,
    bytes_read: i64,
    bytes_written: i64,
    coverage: &'a Coverage,
}

fn summary(session: &Session, added: &Totals, target: &Path) -> anyhow::Result<Vec<u8>> {
    let outcome = &session.outcome;
    output::json_document(&Summary {
        trail: target.to_string_lossy().into_owned(),
        exit_status: outcome.end.exit_status(),
        started: outcome.started.to_rfc3339(),
        ended: outcome.ended.to_rfc3339(),
        events: added.events,
        processes: added.processes,
        threads: added.threads,
        bytes_read: added.bytes_read,
        bytes_written: added.bytes_written,
        coverage: &outcome.coverage,
    })
}
