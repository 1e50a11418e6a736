//! `iotrail record`: run a program and keep every call that it makes to files.

use crate::commands::recorded::{Outputs, conclude};
use crate::commands::structured::{self, StructureArgs, is_structure_name};
use crate::free_name::free_name;
use crate::mpi_library;
use crate::ui::Ui;
use anyhow::bail;
use iotrail_model::quantity;
use iotrail_model::threads::one_per_core;
use iotrail_record::proc::EnvSelection;
use iotrail_record::{
    CallSet, Limits, MpiPlan, Placement, RecordPlan, SessionError, SessionOptions, Target, Wait, name_of,
    record_to_trail,
};
use std::ffi::OsString;
use std::io;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// Exit status when the recording could not begin, as `env` and `timeout` have it.
const NOT_STARTED: u8 = 125;

/// Run a program and record what it does to files.
///
/// Records every call of the program and its children to files, pipes and sockets, and what they wait for.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  iotrail record -- ls -l
  iotrail record --report -o build.trail -- make -j8
  iotrail record -o server.trail -p 4711
  iotrail record --calls data,!lseek -- ./app
  mpirun -n 16 iotrail record -o run.trail -- ./app
  mpirun -n 16 iotrail record --mpi -o run.trail -- ./app
  iotrail record -o build.structure -- make

The program keeps its input, output and terminal. Exit status: the program's, or 128 + n if signal n ended it; 125 if the recording could not begin, 126 if the command cannot be executed, 127 if there is none of that name.")]
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

    /// Record a running process instead: all its threads and future children. Ctrl-C ends the recording and leaves the process running.
    /// May be given several times.
    #[arg(short, long, value_name = "PID")]
    pid: Vec<u32>,

    /// The trail to write; `NAME.structure` makes a structure, in which loops are kept once. Default: `COMMAND.trail` in the current
    /// directory, with a number if that exists.
    #[arg(short, long, value_name = "TRAIL")]
    output: Option<PathBuf>,

    /// Calls to record, comma-separated: a set (`io`, `file`, `desc`, `all`), a family (`data`, `metadata`, `socket`, ...) or names;
    /// prefix `!` to exclude. Process creation and exit are always recorded.
    #[arg(long, value_name = "SET", default_value = "io", value_parser = CallSet::parse)]
    calls: CallSet,

    /// Record the calls of MPI and MPI-IO as well, as calls of the layers `mpi` and `mpiio` around the system calls that they make. C and
    /// Fortran, Open MPI, MPICH and their relatives; the program must be linked dynamically.
    #[arg(long, conflicts_with = "pid")]
    mpi: bool,

    /// With `--mpi`: keep where in the program each call was made, N calls of its stack from the caller towards `main`, at most 64. 16 is
    /// enough for most programs. Not for programs that run on stacks of their own (coroutines).
    #[arg(long, value_name = "N", default_value_t = 0, requires = "mpi", value_parser = clap::value_parser!(u8).range(0..=64))]
    stack: u8,

    /// When the recording ends: `all`, with the last process, or `main`, with the command itself.
    #[arg(long, value_name = "WHO", default_value = "all")]
    wait: Wait,

    /// Cores for program and recorder: `same` (one, shared), `free` (any) or `auto` (one while at most about one thread of the program
    /// is busy, otherwise any).
    #[arg(long, value_name = "WHERE", default_value = "auto")]
    placement: Placement,

    /// The same as `--placement same`.
    #[arg(long, hide = true, conflicts_with = "placement")]
    same_core: bool,

    /// Record these environment variables of each process as well: names or globs, comma-separated. Default: only those of known batch
    /// and workflow systems.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    env: Vec<String>,

    /// A label to tell runs apart.
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,

    /// Name of the run that several recorders write to one trail. Default: the job of mpirun or srun.
    #[arg(long, value_name = "TEXT")]
    run_id: Option<String>,

    /// Keep at most N events; the rest are counted.
    #[arg(long, value_name = "N")]
    max_events: Option<u64>,

    /// Keep at most BYTES of events: `500MB`; the rest are counted.
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    max_bytes: Option<u64>,

    /// Sample 1 in N data transfers at random; all other calls are kept.
    #[arg(long, value_name = "N")]
    sample: Option<NonZeroU64>,

    /// Number of threads that write the trail at the end. Default: one per core.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,

    #[command(flatten)]
    structure: StructureArgs,

    #[command(flatten)]
    outputs: Outputs,
}

/// Bytes, as in `500MB`.
pub(crate) fn bytes(word: &str) -> Result<u64, String> {
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
        None => free_name(Path::new(&name_of(&plan.target)), "trail", args.outputs.force),
    };
    let compressed = is_structure_name(&target).then(|| args.structure.options()).transpose()?;
    if compressed.is_none() && args.structure.is_given() {
        bail!("--precision and --time-precision are those of a structure: name one with -o NAME.structure");
    }
    let name = target;
    let target = match compressed {
        Some(_) => structured::begin(&name, args.outputs.force)?,
        None => name.clone(),
    };
    let options = SessionOptions {
        target: target.clone(),
        overwrite: args.outputs.force,
        label: args.label.clone(),
        run: args.run_id.clone(),
        threads: args.threads.unwrap_or_else(one_per_core),
    };
    let bar = ui.event_bar("writing the trail");
    let session = record_to_trail(&plan, &options, &|done, total| bar.show(done, total));
    bar.clear();
    let session = session.inspect_err(|_| {
        if compressed.is_some() {
            structured::abandon(&target);
        }
    })?;
    // The program has run: whatever fails from here on is reported, and the program's status stays what it is.
    let mut concluded = conclude(&session, &target, &name, &args.outputs, ui);
    let is_whole = session.published.as_ref().is_ok_and(|published| published.is_last);
    if let Some(options) = compressed.filter(|_| is_whole) {
        concluded = concluded.and(structured::finish(&name, &options, ui));
    }
    if let Err(error) = concluded {
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
        mpi: args.mpi.then(|| mpi(args)).transpose()?,
        limits: Limits { max_events: args.max_events, max_size: args.max_bytes, sample: args.sample },
    })
}

fn mpi(args: &Args) -> anyhow::Result<MpiPlan> {
    Ok(MpiPlan { library: mpi_library::find()?, stack: args.stack.into() })
}
