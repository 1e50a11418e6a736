//! `iotrail replay`: makes the calls of a recorded program again.

mod with_mpi;

use crate::args::scratch::Scratch;
use crate::{output, ui::Ui};
use anyhow::bail;
use iotrail_compress::{CompressOptions, compress, is_structure_file, load};
use iotrail_model::units;
use iotrail_reenact::{Difference, FileCalls, LeftOut, Listener, Posix, Reason, differences, posix, ranks};
use iotrail_replay::{Cache, Outcome, Sandbox, SandboxError, Think, execute_beside};
use iotrail_structure::Precision;
use iotrail_structure_file::Document;
use iotrail_trail::EventLog;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Make the calls of a recorded program again, below one directory.
///
/// Every thread makes the calls on files that it made when it was recorded, with data of the recorded sizes, and waits where it matters for the
/// others. Recorded paths lie below the directory; nothing else is touched.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  iotrail replay run.structure --dry-run
  iotrail replay run.trail --dir scratch --verify
  iotrail replay run.structure --dir scratch --compute none --json
  mpirun -n 4 iotrail replay run.structure --dir scratch

The directory is made, or empty; the files in it are removed at the end, or with `--clean` after a kill. docs/replay.md explains what is made again and what is not.")]
pub(crate) struct Args {
    /// The structure, or a trail.
    #[arg(value_name = "STRUCTURE", required_unless_present = "clean", conflicts_with = "clean")]
    structure: Option<PathBuf>,

    /// Number that draws of times, counts, sizes and offsets depend on.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// The time between calls: `sleep`, `spin` (the processor is busy), `none`, or a factor.
    #[arg(long, value_name = "HOW", default_value = "sleep", value_parser = think)]
    compute: Think,

    /// Calls on files: `real`, or `none` (only messages of MPI and the time between calls).
    #[arg(long, value_name = "HOW", default_value = "real", value_parser = file_calls)]
    io: FileCalls,

    /// The MPI library to load instead of the launcher's.
    #[arg(long, value_name = "PATH")]
    mpi_library: Option<PathBuf>,

    /// Compare the calls that were made with the recorded ones.
    #[arg(long)]
    verify: bool,

    /// Print the result as JSON.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    scratch: Scratch,
}

fn file_calls(word: &str) -> Result<FileCalls, String> {
    match word {
        "real" => Ok(FileCalls::Made),
        "none" => Ok(FileCalls::LeftOut),
        _ => Err("expected `real` or `none`".to_owned()),
    }
}

fn think(word: &str) -> Result<Think, String> {
    match word {
        "sleep" => Ok(Think::Scaled(1.0)),
        "spin" => Ok(Think::Busy),
        "none" => Ok(Think::Dropped),
        _ => match word.parse::<f64>() {
            Ok(factor) if factor.is_finite() && factor >= 0.0 => Ok(Think::Scaled(factor)),
            _ => Err("expected `sleep`, `spin`, `none` or a factor such as 0.5".to_owned()),
        },
    }
}

/// What was done.
#[derive(Serialize)]
struct ReplayResult {
    format: &'static str,
    /// Threads that make calls.
    threads: u64,
    /// Calls that are made again.
    calls: u64,
    bytes_read: u64,
    bytes_written: u64,
    /// The same calls by what they do.
    by_kind: BTreeMap<&'static str, KindCalls>,
    files: u64,
    /// Bytes that the files take at most.
    space_bytes: u64,
    /// Recorded calls that are not made again.
    not_replayed: Vec<NotReplayed>,
    /// Of programs with MPI: their calls of MPI.
    mpi: Option<MpiDone>,
    recorded_ns: u64,
    /// Time that the replay took; none in a dry run.
    elapsed_ns: Option<u64>,
    /// Calls that returned something else than when they were recorded.
    different_results: Option<u64>,
    /// Where the calls made are not those recorded; with `--verify`.
    differences: Option<Vec<Difference>>,
}

/// Calls of MPI of all ranks.
#[derive(Clone, Serialize)]
struct MpiDone {
    ranks: u32,
    /// Calls that are made again.
    calls: u64,
    /// Calls that were made; none in a dry run.
    made: Option<u64>,
    failed: Option<u64>,
    /// Waits that went on before a request was over, as recordings do not tell which one they waited for.
    unfinished: Option<u64>,
}

#[derive(Serialize)]
struct KindCalls {
    calls: u64,
    bytes: u64,
}

#[derive(Serialize)]
struct NotReplayed {
    reason: Reason,
    calls: u64,
    by_call: BTreeMap<String, u64>,
}

/// An execution and what it is compared with.
struct Done {
    outcome: Outcome,
    differences: Option<Vec<Difference>>,
}

/// Differences that are told one by one.
const SHOWN: usize = 100;

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    if args.scratch.clean {
        return args.scratch.clean(ui);
    }
    let Some(path) = &args.structure else { bail!("a structure is needed") };
    let document = structure(path)?;
    if let Some(ranks) = ranks(&document) {
        return with_mpi::run(args, &document, ranks, ui);
    }
    if args.io == FileCalls::LeftOut {
        bail!(
            "{} has no calls of MPI: without calls on files there is nothing to make again",
            path.display()
        );
    }
    let posix = posix(&document, args.seed)?;
    args.scratch.check(&posix.plan)?;
    let done = match &args.scratch.dir {
        Some(dir) if !args.scratch.dry_run => Some(replay(args, dir, &posix)?),
        _ => None,
    };
    let result = result(&posix, done.as_ref());
    if args.json {
        output::json(&result)?;
    } else {
        output::text(Path::new("-"), words(&result, args))?;
    }
    let failed = result.differences.as_ref().is_some_and(|found| !found.is_empty());
    let ended = done.is_some_and(|done| done.outcome.cancelled);
    Ok(if failed || ended { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The structure at a path, or of the trail there.
fn structure(path: &Path) -> anyhow::Result<Document> {
    if is_structure_file(path) {
        return Ok(load(path)?);
    }
    let log = EventLog::open(&[path.to_owned()])?;
    let options =
        CompressOptions { time_precision: Precision::EXACT, buckets: None, precision: Precision::EXACT };
    Ok(compress(&log, &options, &mut |_, _| {})?)
}

fn replay(args: &Args, dir: &Path, posix: &Posix) -> anyhow::Result<Done> {
    let cancel = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&cancel))?;
    }
    let mut sandbox = Sandbox::new(dir, &posix.plan)?;
    sandbox.prepare(&posix.plan, Cache::Warm, false, &cancel)?;
    let listener = Listener::new(&posix.plan);
    let outcome = execute_beside(&posix.plan, &sandbox, args.compute, &cancel, &listener);
    if outcome.is_full {
        return Err(SandboxError::Full(dir.to_owned()).into());
    }
    if args.scratch.keep {
        sandbox.keep();
    }
    let found = args.verify.then(|| differences(&posix.plan, &posix.recorded, &listener.issued(), SHOWN));
    Ok(Done { outcome, differences: found })
}

fn result(posix: &Posix, done: Option<&Done>) -> ReplayResult {
    let program = posix.plan.program();
    let kinds = posix.recorded.by_kind();
    let bytes = |kind| kinds.get(kind).map_or(0, |(_, bytes)| *bytes);
    ReplayResult {
        format: "iotrail-replay/1",
        threads: program.streams.len() as u64,
        calls: posix.recorded.calls(),
        bytes_read: bytes("read"),
        bytes_written: bytes("write"),
        by_kind: kinds.into_iter().map(|(kind, (calls, bytes))| (kind, KindCalls { calls, bytes })).collect(),
        files: program.files.iter().filter(|file| !file.directory).count() as u64,
        space_bytes: posix.plan.peak_bytes(),
        not_replayed: not_replayed(&posix.left_out),
        mpi: None,
        recorded_ns: posix.elapsed_ns,
        elapsed_ns: done.map(|done| u64::try_from(done.outcome.elapsed.as_nanos()).unwrap_or(u64::MAX)),
        different_results: done.map(|done| done.outcome.differences),
        differences: done.and_then(|done| done.differences.clone()),
    }
}

fn not_replayed(left_out: &LeftOut) -> Vec<NotReplayed> {
    let of = |(reason, by_call): (&Reason, &BTreeMap<String, u64>)| NotReplayed {
        reason: *reason,
        calls: by_call.values().sum(),
        by_call: by_call.clone(),
    };
    left_out.by_reason().iter().map(of).collect()
}

fn words(result: &ReplayResult, args: &Args) -> String {
    let duration = |ns: u64| units::duration(ns as f64);
    let mut text = format!(
        "{} on {} by {}: {} read, {} written; the files take up to {}; recorded in {}\n",
        units::counted(result.calls, "call", "calls"),
        units::counted(result.files, "file", "files"),
        units::counted(result.threads, "thread", "threads"),
        units::bytes(result.bytes_read as f64),
        units::bytes(result.bytes_written as f64),
        units::bytes(result.space_bytes as f64),
        duration(result.recorded_ns),
    );
    if let Some(mpi) = &result.mpi {
        let calls = units::counted(mpi.calls, "call", "calls");
        let ranks = units::counted(mpi.ranks.into(), "rank", "ranks");
        text.push_str(&format!("{calls} of MPI by {ranks}"));
        if let (Some(made), Some(failed), Some(unfinished)) = (mpi.made, mpi.failed, mpi.unfinished) {
            text.push_str(&format!(": {} made", units::count(made)));
            for (number, what) in
                [(failed, "FAILED"), (unfinished, "waits went on before all requests were over")]
            {
                if number > 0 {
                    text.push_str(&format!(", {} {what}", units::count(number)));
                }
            }
        }
        text.push('\n');
    }
    for left in &result.not_replayed {
        let mut calls: Vec<_> = left.by_call.iter().collect();
        calls.sort_by_key(|(name, calls)| (std::cmp::Reverse(**calls), name.as_str()));
        let more = if calls.len() > 4 { ", ..." } else { "" };
        let calls: Vec<String> =
            calls.iter().take(4).map(|(name, calls)| format!("{name} {}", units::count(**calls))).collect();
        let (number, reason) = (units::counted(left.calls, "call", "calls"), left.reason.words());
        text.push_str(&format!("not replayed: {number}: {reason} ({}{more})\n", calls.join(", ")));
    }
    match (result.elapsed_ns, result.different_results) {
        (Some(elapsed), Some(different)) => {
            text.push_str(&format!("replayed in {}", duration(elapsed)));
            if different > 0 {
                let calls = units::counted(different, "call", "calls");
                text.push_str(&format!("; {calls} returned something else than when recorded"));
            }
            text.push('\n');
        }
        _ => text.push_str("nothing was done: a dry run\n"),
    }
    match &result.differences {
        Some(found) if found.is_empty() => {
            text.push_str("verified: the same calls on the same files, with the same sizes and offsets\n")
        }
        Some(found) => {
            for difference in found {
                text.push_str(&format!(
                    "DIFFERENT: {} {}: {} with {} recorded, {} with {} made\n",
                    difference.call,
                    difference.file,
                    units::counted(difference.recorded_calls, "call", "calls"),
                    units::bytes(difference.recorded_bytes as f64),
                    units::counted(difference.issued_calls, "call", "calls"),
                    units::bytes(difference.issued_bytes as f64),
                ));
            }
        }
        None => {}
    }
    if let (true, Some(dir), Some(_)) = (args.scratch.keep, &args.scratch.dir, result.elapsed_ns) {
        text.push_str(&format!("the files are in {}\n", dir.display()));
    }
    text
}
