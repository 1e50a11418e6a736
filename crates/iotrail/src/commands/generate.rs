//! `iotrail generate`: does to files what a model says, with any number of ranks.

mod with_mpi;

use crate::args::scratch::Scratch;
use crate::commands::workload::{Scaling, read};
use crate::{mpi_library, output, ui::Ui};
use anyhow::{Context, bail, ensure};
use clap::ValueEnum;
use iotrail_generate::{
    Component, MAX_OPERATIONS, MAX_RANKS, MixError, Planned, mixed, planned, with_lock_order, write_trail,
};
use iotrail_model::threads::one_per_core;
use iotrail_model::units;
use iotrail_mpi_run::Launched;
use iotrail_record::{
    CallSet, MpiPlan, Placement, RecordPlan, SessionOptions, Target, Wait, record_to_trail,
};
use iotrail_replay::{
    Cache, Checked, Content, OperationKind, Outcome, Plan, Program, Sandbox, Think, Times, execute,
};
use iotrail_terminal::workload_summary::model_totals;
use iotrail_trail::CreateOptions;
use iotrail_workload::{Model, Totals};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Do what a model of a workload says.
///
/// Real calls on files of a directory of their own, a thread for each rank, with the time between requests and the barriers of the model.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  iotrail generate model.toml --dir scratch --ranks 2
  iotrail generate model.toml --dir scratch --ranks 8 --scale size=0.25 --asap --json
  iotrail generate model.toml --dir scratch --verify -o clone.trail
  mpirun -n 8 iotrail generate model.toml --dir scratch
  iotrail generate model.toml:2 model.toml:4@+200ms --dir scratch --asap
  iotrail generate model.toml --dir scratch --dry-run
  iotrail generate model.toml --dir scratch --dry-run -o plan.trail

The directory is made, or empty; the files in it are removed at the end, or with `--clean` after a kill. docs/workload.md explains the model file.")]
pub(crate) struct Args {
    /// Model files, as `iotrail characterize -o` writes them; `-` is stdin. Several run at the same time, each in a directory of its own:
    /// `A.toml:4 B.toml:2@+5s#7` are 4 ranks of the one, and 2 of the other, which begin 5 s later, with seed 7.
    #[arg(value_name = "MODEL", required_unless_present = "clean", conflicts_with = "clean", value_parser = component)]
    models: Vec<Component>,

    /// Ranks of models that come without a number [default: those of the recording, else 4].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    ranks: Option<u32>,

    #[command(flatten)]
    knobs: Scaling,

    /// Number that draws depend on.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Take locks in the order of the plan, as its times have it; without, whoever comes first has them first.
    #[arg(long)]
    lock_order: bool,

    /// No time between requests.
    #[arg(long, conflicts_with_all = ["pace", "think"])]
    asap: bool,

    /// When requests begin.
    #[arg(long, value_name = "PACE", value_enum, default_value_t = Pace::Slack)]
    pace: Pace,

    /// What a rank does in the time between requests.
    #[arg(long, value_name = "HOW", value_enum, default_value_t = ThinkWord::Sleep)]
    think: ThinkWord,

    /// Check contents: what is written follows from seed, file and offset, and what is read, and left at the end, must be that.
    #[arg(long, conflicts_with = "dry_run")]
    verify: bool,

    /// Record it, or with `--dry-run` write what would be done, as a trail.
    #[arg(short, long, value_name = "TRAIL")]
    output: Option<PathBuf>,

    /// Replace the trail if it exists.
    #[arg(long, requires = "output")]
    force: bool,

    /// The MPI library, if it is not that of the `mpirun` that launched the ranks.
    #[arg(long, value_name = "FILE")]
    mpi_library: Option<PathBuf>,

    /// Whether the page cache has the files at the begin.
    #[arg(long, value_name = "STATE", value_enum, default_value_t = CacheWord::Warm)]
    cache: CacheWord,

    /// Refuse more ranks.
    #[arg(long, value_name = "N")]
    max_ranks: Option<u32>,

    /// Print the result as JSON.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    scratch: Scratch,
}

/// When requests begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Pace {
    /// The time of the model after the request before.
    Slack,
    /// At the time at which they would begin if each took as long as recorded, or when the one before has ended.
    Start,
}

/// What a rank does in the time between requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ThinkWord {
    /// It sleeps.
    Sleep,
    /// It keeps a core busy.
    Busy,
}

/// Whether the page cache has files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CacheWord {
    /// They are dropped from it.
    Cold,
    /// They are there as far as making them left them there.
    Warm,
}

/// A word of the command line; a file of that name is a model, whatever is in the name.
fn component(text: &str) -> Result<Component, MixError> {
    if Path::new(text).exists() {
        return Ok(Component { path: text.to_owned(), ranks: None, delay: Duration::ZERO, seed: None });
    }
    text.parse()
}

/// A model that is generated.
struct Part {
    component: Component,
    model: Model,
    ranks: u32,
    totals: Totals,
}

/// What a model of several comes to.
#[derive(Serialize)]
struct PartDocument {
    /// Its directory.
    label: String,
    ranks: u32,
    delay_ns: u64,
    files: u64,
    sessions: u64,
    requests: u64,
    bytes_read: u64,
    bytes_written: u64,
}

/// What was done.
#[derive(Serialize)]
struct Document {
    format: &'static str,
    ranks: u32,
    files: u64,
    sessions: u64,
    requests: u64,
    bytes_read: u64,
    bytes_written: u64,
    /// Of several models what each comes to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    models: Vec<PartDocument>,
    /// NULL in a dry run.
    #[serde(flatten)]
    done: Option<DoneDocument>,
}

/// What calls came to.
#[derive(Serialize)]
struct DoneDocument {
    /// Calls that were made.
    calls: u64,
    /// Whether sessions of MPI-IO were done with its calls, and not with system calls in their place.
    by_mpi_io: bool,
    /// Calls that failed or moved less than they should, though the model expects none to.
    failed: u64,
    /// Of them those that failed, by the name of the error.
    errors: BTreeMap<String, u64>,
    /// Calls that failed as the model expects.
    expected_errors: u64,
    /// Bytes that were really read.
    read_bytes: u64,
    /// Bytes that were really written.
    written_bytes: u64,
    elapsed_ns: u64,
    /// Of each n the calls that took 2^n ns to less than 2^(n+1) ns.
    latencies: Vec<u64>,
    /// The same by what they do.
    latencies_by_kind: BTreeMap<&'static str, Vec<u64>>,
    /// Of each n the pauses that ended 2^n ns to less than 2^(n+1) ns late.
    lateness: Vec<u64>,
    /// Sum of all pauses as they should be.
    slack_ns: u64,
    /// As they were.
    waited_ns: u64,
    #[serde(flatten)]
    checked: Option<CheckedDocument>,
}

/// What contents came to.
#[derive(Serialize)]
struct CheckedDocument {
    /// Bytes that were compared.
    checked_bytes: u64,
    /// Of them those that nobody wrote there.
    wrong_bytes: u64,
    /// Bytes that were written and were not found.
    missing_bytes: u64,
}

/// What was done, and what was found of the contents.
struct Done {
    outcome: Outcome,
    checked: Option<Checked>,
    /// Whether sessions of MPI-IO were done with its calls, and not with system calls in their place.
    by_mpi_io: bool,
}

impl Done {
    fn is_right(&self) -> bool {
        self.outcome.differences == 0
            && !self.outcome.cancelled
            && self.checked.is_none_or(|checked| checked.is_right())
    }
}

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    if args.models.is_empty() {
        return args.scratch.clean(ui);
    }
    let launched = Launched::find(|name| std::env::var(name).ok()).filter(|launched| launched.size > 1);
    if let (Some(trail), false) = (&args.output, args.scratch.dry_run) {
        // What is refused makes no trail.
        let (parts, planned, _) = args.planned(launched.map(|launched| launched.size).or(args.ranks))?;
        args.plan(planned)?;
        let by_mpi_io = launched.is_some() && sum(&parts).mpi_io_sessions > 0;
        return record(args, trail, by_mpi_io, ui);
    }
    match launched {
        Some(launched) => with_mpi::run(args, launched, ui),
        None => alone(args, args.planned(args.ranks)?, ui),
    }
}

/// Does it in this process, or only plans it.
fn alone(
    args: &Args,
    (parts, planned, labels): (Vec<Part>, Planned, Vec<String>),
    ui: &Ui,
) -> anyhow::Result<ExitCode> {
    let dir = args.scratch.dir.as_deref().unwrap_or(Path::new(NOWHERE));
    let written = args.output.as_ref().map(|trail| (trail, planned.clone()));
    let plan = args.plan(planned)?;
    args.scratch.check(&plan)?;
    if let Some((trail, planned)) = written {
        let options = CreateOptions { overwrite: args.force };
        let written = write_trail(&planned, &std::path::absolute(dir)?, trail, options)?;
        ui.info(&format!("{}: {}", trail.display(), units::counted(written.events, "event", "events")));
    }
    let done = if args.scratch.dry_run { None } else { Some(generate(args, dir, &plan)?) };
    tell(args, (&parts, &labels), done.as_ref(), ui)?;
    let right = done.as_ref().is_none_or(Done::is_right);
    Ok(if right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Where the files of plans are that are not carried out.
const NOWHERE: &str = "scratch";

/// Prints what was done.
fn tell(
    args: &Args,
    (parts, labels): (&[Part], &[String]),
    done: Option<&Done>,
    ui: &Ui,
) -> anyhow::Result<()> {
    if args.json {
        return output::json(&document(parts, labels, done));
    }
    let mut text = String::new();
    for (at, part) in parts.iter().enumerate() {
        text.extend(labels.get(at).map(|label| format!("{}\n", ui.style().bold(label))));
        text.push_str(&model_totals(&part.model, part.ranks, &part.totals, ui.style()));
    }
    let dry = || "nothing was done: a dry run\n".to_owned();
    text.push_str(&done.map_or_else(dry, said));
    if sum(parts).mpi_io_sessions > 0 && done.is_some_and(|done| !done.by_mpi_io) {
        text.push_str("sessions of MPI-IO were done with system calls; `mpirun -n N iotrail generate` does them with calls of MPI-IO\n");
    }
    output::text(Path::new("-"), text)
}

/// What all models come to.
fn sum(parts: &[Part]) -> Totals {
    let mut all = Totals::default();
    parts.iter().for_each(|part| all.merge(&part.totals));
    all
}

impl Args {
    /// The models, one program of all, and the directories of several.
    fn planned(&self, ranks_of_all: Option<u32>) -> anyhow::Result<(Vec<Part>, Planned, Vec<String>)> {
        let (mut parts, mut components) = (Vec::new(), Vec::new());
        let mut models = Vec::new();
        for component in &self.models {
            let model = self.knobs.apply(&read(Path::new(&component.path))?)?;
            models.push((component, model.ranks_of_run(component.ranks.or(ranks_of_all)), model));
        }
        let ranks: u64 = models.iter().map(|(_, ranks, _)| u64::from(*ranks)).sum();
        if let Some(most) = self.max_ranks {
            ensure!(ranks <= u64::from(most), "{ranks} ranks are more than --max-ranks {most}");
        }
        for (component, ranks, model) in models {
            let seed = component.seed.unwrap_or(self.seed);
            let totals = model.totals_of(ranks, seed)?;
            let mut planned = planned(&model, ranks, seed).with_context(|| component.path.clone())?;
            if self.lock_order {
                planned = with_lock_order(planned).with_context(|| component.path.clone())?;
            }
            components.push((component.clone(), planned));
            parts.push(Part { component: component.clone(), model, ranks, totals });
        }
        if let ([component], [_]) = (&self.models[..], &components[..])
            && component.delay.is_zero()
        {
            let planned = components.pop().map(|(_, planned)| planned).unwrap_or_default();
            return Ok((parts, planned, Vec::new()));
        }
        let (planned, labels) = mixed(components);
        let operations: u64 = planned.program.streams.iter().map(|stream| stream.len() as u64).sum();
        ensure!(
            operations <= MAX_OPERATIONS && planned.program.streams.len() as u64 <= u64::from(MAX_RANKS),
            "the models have {operations} operations of {} ranks together, at most {MAX_OPERATIONS} of {MAX_RANKS} are generated",
            planned.program.streams.len()
        );
        Ok((parts, planned, labels))
    }

    /// What is executed.
    fn plan(&self, planned: Planned) -> anyhow::Result<Plan> {
        self.checked(self.paced(planned).program)
    }

    /// The program with pauses, or with the times at which its operations begin.
    fn paced(&self, planned: Planned) -> Planned {
        match self.pace {
            Pace::Slack => planned,
            Pace::Start => planned.due(),
        }
    }

    fn checked(&self, program: Program) -> anyhow::Result<Plan> {
        let mut plan = Plan::new(program)?;
        if self.verify {
            plan = plan.with_content(Content { seed: self.seed });
        }
        Ok(plan)
    }

    fn is_cold(&self) -> bool {
        self.cache == CacheWord::Cold
    }

    fn think(&self) -> Think {
        match (self.asap, self.pace, self.think) {
            (true, ..) => Think::Dropped,
            (_, Pace::Start, _) => Think::Due,
            (.., ThinkWord::Busy) => Think::Busy,
            (.., ThinkWord::Sleep) => Think::Scaled(1.0),
        }
    }
}

/// Runs this command again below a recorder, of calls of MPI, too, where it makes calls of MPI-IO.
fn record(args: &Args, trail: &Path, by_mpi_io: bool, ui: &Ui) -> anyhow::Result<ExitCode> {
    ensure!(
        args.models.iter().all(|component| component.path != "-"),
        "a model from stdin cannot be recorded: write it to a file first"
    );
    let program = std::env::current_exe().context("cannot find this program")?;
    let plan = RecordPlan {
        target: Target::Command(without_output(program.into())),
        calls: CallSet::default(),
        wait: Wait::default(),
        placement: Placement::default(),
        env: Default::default(),
        mpi: if by_mpi_io { Some(MpiPlan { library: mpi_library::find()?, stack: 0 }) } else { None },
        limits: Default::default(),
    };
    let options = SessionOptions {
        target: trail.to_owned(),
        overwrite: args.force,
        label: None,
        run: None,
        threads: one_per_core(),
    };
    let session = record_to_trail(&plan, &options, &|_, _| {})?;
    match &session.published {
        Ok(published) => {
            let events = units::counted(published.added.events, "event", "events");
            ui.info(&format!("{}: {events}", trail.display()));
        }
        Err(error) => bail!("{error}"),
    }
    Ok(ExitCode::from(session.outcome.end.exit_status()))
}

/// The words of this command without those that say where the recording goes.
fn without_output(program: OsString) -> Vec<OsString> {
    let mut words = vec![program];
    let mut rest = std::env::args_os().skip(1);
    while let Some(word) = rest.next() {
        match word.to_str() {
            Some("-o" | "--output") => drop(rest.next()),
            Some("--force") => {}
            Some(text) if text.starts_with("--output=") || text.starts_with("-o") => {}
            _ => words.push(word),
        }
    }
    words
}

fn generate(args: &Args, dir: &Path, plan: &Plan) -> anyhow::Result<Done> {
    let cancel = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&cancel))?;
    }
    let mut sandbox = Sandbox::new(dir, plan)?;
    let cache = if args.is_cold() { Cache::Cold } else { Cache::Warm };
    sandbox.prepare(plan, cache, false, &cancel)?;
    let outcome = execute(plan, &sandbox, args.think(), &cancel);
    let checked =
        if args.verify && !outcome.cancelled { Some(sandbox.check(plan, &outcome, &cancel)?) } else { None };
    if args.scratch.keep && !cancel.load(Ordering::Relaxed) {
        sandbox.keep();
    }
    Ok(Done { outcome, checked, by_mpi_io: false })
}

fn said(Done { outcome, checked, .. }: &Done) -> String {
    let seconds = outcome.elapsed.as_secs_f64();
    let rate = |bytes: u64| {
        if seconds > 0.0 { format!("{}/s", units::bytes(bytes as f64 / seconds)) } else { "–".to_owned() }
    };
    let mut text = format!(
        "{} calls in {}: {} read, {} written",
        units::count(outcome.times.operations()),
        units::duration(outcome.elapsed.as_nanos() as f64),
        rate(outcome.moved[0]),
        rate(outcome.moved[1])
    );
    if outcome.expected_errors > 0 {
        let errors = units::counted(outcome.expected_errors, "error", "errors");
        text.push_str(&format!("; {errors} as expected"));
    }
    if outcome.differences > 0 {
        let errors = outcome.errors.iter().map(|(number, count)| {
            format!("{} {}", std::io::Error::from_raw_os_error(*number), units::count(*count))
        });
        let errors = errors.collect::<Vec<_>>().join(", ");
        let errors = if errors.is_empty() { String::new() } else { format!(" ({errors})") };
        text.push_str(&format!("; {} FAILED{errors}", units::count(outcome.differences)));
    }
    if outcome.cancelled {
        text.push_str("; ended early");
    }
    text.push('\n');
    for (kind, times) in
        OperationKind::ALL.iter().zip(&outcome.by_kind).filter(|(_, times)| times.operations() > 0)
    {
        text.push_str(&format!("  {:<9}{}\n", kind.word(), latency(times)));
    }
    if let Some(checked) = checked {
        let bytes = units::bytes(checked.bytes as f64);
        let found = match checked.is_right() {
            true => "all as written".to_owned(),
            false => {
                format!("{} WRONG, {} MISSING", units::count(checked.wrong), units::count(checked.missing))
            }
        };
        text.push_str(&format!("contents: {bytes} compared, {found}\n"));
    }
    text
}

/// How long calls took: median and 99 % quantile to a power of two, and the sum.
fn latency(times: &Times) -> String {
    let all = times.operations();
    let quantile = |share: u64| {
        let wanted = (all * share).div_ceil(100);
        let mut before = 0;
        let found = times.counts.iter().position(|count| {
            before += count;
            before >= wanted
        });
        units::duration(2_f64.powi(found.unwrap_or_default() as i32 + 1))
    };
    format!(
        "{} calls, {} in all, half below {}, 99 % below {}",
        units::count(all),
        units::duration(times.total_ns as f64),
        quantile(50),
        quantile(99)
    )
}

/// All requests of totals.
fn requests(totals: &Totals) -> u64 {
    totals.requests.values().sum::<u64>() + totals.calls
}

fn document(parts: &[Part], labels: &[String], done: Option<&Done>) -> Document {
    let totals = sum(parts);
    let of_part = |(part, label): (&Part, &String)| PartDocument {
        label: label.clone(),
        ranks: part.ranks,
        delay_ns: u64::try_from(part.component.delay.as_nanos()).unwrap_or(u64::MAX),
        files: part.totals.files,
        sessions: part.totals.sessions,
        requests: requests(&part.totals),
        bytes_read: part.totals.bytes_read,
        bytes_written: part.totals.bytes_written,
    };
    Document {
        format: "iotrail-generated/1",
        ranks: parts.iter().map(|part| part.ranks).sum(),
        files: totals.files,
        sessions: totals.sessions,
        requests: requests(&totals),
        bytes_read: totals.bytes_read,
        bytes_written: totals.bytes_written,
        models: parts.iter().zip(labels).map(of_part).collect(),
        done: done.map(done_document),
    }
}

fn done_document(Done { outcome, checked, by_mpi_io }: &Done) -> DoneDocument {
    let kinds = OperationKind::ALL.iter().zip(&outcome.by_kind).filter(|(_, times)| times.operations() > 0);
    let name = |number: i32| std::io::Error::from_raw_os_error(number).to_string();
    DoneDocument {
        calls: outcome.times.operations(),
        by_mpi_io: *by_mpi_io,
        failed: outcome.differences,
        errors: outcome.errors.iter().map(|(number, count)| (name(*number), *count)).collect(),
        expected_errors: outcome.expected_errors,
        read_bytes: outcome.moved[0],
        written_bytes: outcome.moved[1],
        elapsed_ns: u64::try_from(outcome.elapsed.as_nanos()).unwrap_or(u64::MAX),
        latencies: outcome.times.counts.to_vec(),
        latencies_by_kind: kinds.map(|(kind, times)| (kind.word(), times.counts.to_vec())).collect(),
        lateness: outcome.lateness.counts.to_vec(),
        slack_ns: outcome.slack_ns[0],
        waited_ns: outcome.slack_ns[1],
        checked: checked.map(|checked| CheckedDocument {
            checked_bytes: checked.bytes,
            wrong_bytes: checked.wrong,
            missing_bytes: checked.missing,
        }),
    }
}
