//! `iotrail generate`: does to files what a model says, with any number of ranks.

use crate::commands::record::bytes;
use crate::commands::workload::{changed, read};
use crate::{output, ui::Ui};
use anyhow::ensure;
use iotrail_generate::program;
use iotrail_model::units;
use iotrail_replay::{Cache, Outcome, Plan, Sandbox, Think, execute};
use iotrail_terminal::workload_summary::model_totals;
use iotrail_workload::{RequestKind, Totals};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Do what a model of a workload says.
///
/// Real calls on files of a directory of their own, a thread for each rank, with the time between requests and the barriers of the model.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  iotrail generate model.toml --dir scratch --ranks 2
  iotrail generate model.toml --dir scratch --ranks 8 --set size=0.25 --asap --json
  iotrail generate model.toml --dir scratch --dry-run
  iotrail record -o clone.trail -- iotrail generate model.toml --dir scratch

The directory is made, or empty; the files in it are removed at the end, or with `--clean` after a kill. docs/workload.md explains the model file.")]
pub(crate) struct Args {
    /// The model file, as `iotrail characterize -o` writes it; `-` is stdin.
    #[arg(value_name = "MODEL", required_unless_present = "clean", conflicts_with = "clean")]
    model: Option<PathBuf>,

    /// Directory for the files.
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,

    /// Ranks.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    ranks: u32,

    /// Change the model first: `size=K`, `requests=K`, `slack=K`.
    #[arg(long, value_name = "KNOB=FACTOR")]
    set: Vec<String>,

    /// Number that draws depend on.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// No time between requests.
    #[arg(long)]
    asap: bool,

    /// Drop the files from the page cache first.
    #[arg(long)]
    cold: bool,

    /// Refuse a model whose files need more: `2GiB`.
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    max_bytes: Option<u64>,

    /// Check everything and say what would be done; the directory stays as it is.
    #[arg(long)]
    dry_run: bool,

    /// Leave the files in the directory.
    #[arg(long)]
    keep: bool,

    /// Remove what an earlier run left in the directory.
    #[arg(long)]
    clean: bool,

    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
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
    /// Calls that were made; none in a dry run.
    calls: Option<u64>,
    /// Calls that failed, though the model expects none to.
    failed: Option<u64>,
    elapsed_ns: Option<u64>,
    /// Of each n the calls that took 2^n ns to less than 2^(n+1) ns.
    latencies: Option<Vec<u64>>,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let Some(model) = &args.model else {
        let found = Sandbox::clean(&args.dir)?;
        let text = if found { "removed what an earlier run left" } else { "no earlier run left anything" };
        ui.info(&format!("{}: {text}", args.dir.display()));
        return Ok(ExitCode::SUCCESS);
    };
    let model = changed(&read(model)?, &args.set)?;
    let totals = model.totals(args.ranks)?;
    let plan = Plan::new(program(&model, args.ranks, args.seed)?)?;
    if let Some(most) = args.max_bytes {
        ensure!(
            plan.peak_bytes() <= most,
            "the files need up to {} bytes, more than {most}; choose a smaller model or fewer ranks",
            plan.peak_bytes()
        );
    }
    let outcome = if args.dry_run { None } else { Some(generate(args, &plan)?) };
    if args.json {
        output::json(&document(args, &totals, outcome.as_ref()))?;
    } else {
        let mut text = model_totals(&model, args.ranks, &totals, ui.style());
        text.push_str(
            &outcome
                .as_ref()
                .map_or_else(|| "nothing was done: a dry run\n".to_owned(), |outcome| said(outcome, &totals)),
        );
        output::text(Path::new("-"), text)?;
    }
    let failed = outcome.as_ref().is_some_and(|outcome| outcome.differences > 0 || outcome.cancelled);
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn generate(args: &Args, plan: &Plan) -> anyhow::Result<Outcome> {
    let cancel = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&cancel))?;
    }
    let mut sandbox = Sandbox::new(&args.dir, plan)?;
    let cache = if args.cold { Cache::Cold } else { Cache::Warm };
    sandbox.prepare(plan, cache, false, &cancel)?;
    let think = if args.asap { Think::Dropped } else { Think::Scaled(1.0) };
    let outcome = execute(plan, &sandbox, think, &cancel);
    if args.keep && !cancel.load(Ordering::Relaxed) {
        sandbox.keep();
    }
    Ok(outcome)
}

fn said(outcome: &Outcome, totals: &Totals) -> String {
    let seconds = outcome.elapsed.as_secs_f64();
    let rate = |bytes: u64| {
        if seconds > 0.0 { format!("{}/s", units::bytes(bytes as f64 / seconds)) } else { "–".to_owned() }
    };
    let mut text = format!(
        "{} calls in {}: {} read, {} written",
        units::count(outcome.times.operations()),
        units::duration(outcome.elapsed.as_nanos() as f64),
        rate(totals.bytes_read),
        rate(totals.bytes_written)
    );
    if outcome.differences > 0 {
        text.push_str(&format!("; {} FAILED", units::count(outcome.differences)));
    }
    if outcome.cancelled {
        text.push_str("; ended early");
    }
    text.push('\n');
    text
}

fn document(args: &Args, totals: &Totals, outcome: Option<&Outcome>) -> Document {
    let kinds = [RequestKind::Read, RequestKind::Write, RequestKind::Fsync, RequestKind::Fdatasync];
    let requests = kinds.iter().filter_map(|kind| totals.requests.get(kind)).sum();
    Document {
        format: "iotrail-generated/1",
        ranks: args.ranks,
        files: totals.files,
        sessions: totals.sessions,
        requests,
        bytes_read: totals.bytes_read,
        bytes_written: totals.bytes_written,
        calls: outcome.map(|outcome| outcome.times.operations()),
        failed: outcome.map(|outcome| outcome.differences),
        elapsed_ns: outcome.map(|outcome| u64::try_from(outcome.elapsed.as_nanos()).unwrap_or(u64::MAX)),
        latencies: outcome.map(|outcome| outcome.times.counts.to_vec()),
    }
}
