//! `iotrail recover`: finishes recordings whose recorder was killed.

use crate::commands::structured::{self, StructureArgs, is_structure_name, trail_beside};
use crate::{output, ui::Ui};
use anyhow::bail;
use iotrail_compress::is_structure_file;
use iotrail_model::threads::one_per_core;
use iotrail_model::units;
use iotrail_trail::{Liveness, RecoverOptions, Recovered, Unfinished, missing_ranks, recover};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

/// Finish a trail whose recorder was killed.
///
/// Converts what the recorder left, also after it ran out of disk space, into the tables of a finished trail.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  iotrail recover run.trail
  iotrail recover run.structure                    # of `iotrail record -o run.structure`
  iotrail recover run.trail -o other/run.trail     # if the disk is full or the trail is read-only

An unfinished trail can be read without this, too; every command says what is missing. Nothing is done to a finished one.

Exit status: 0 the trail is finished, 1 it is not: a recorder is still at work, a spool is damaged, or something failed.")]
pub(crate) struct Args {
    /// The trail, or the structure that was to be made.
    #[arg(value_name = "TRAIL")]
    trail: PathBuf,

    /// Make a new, finished trail there and leave the old one as it is.
    #[arg(short, long, value_name = "TRAIL")]
    output: Option<PathBuf>,

    /// Recover even if a recorder may still be running (on another host, say), and what is readable in damaged spools. A recording
    /// that is known to be running is left alone.
    #[arg(long)]
    salvage: bool,

    /// Replace the trail at --output if it exists.
    #[arg(long, requires = "output")]
    force: bool,

    /// Number of threads. Default: one per core.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,

    #[command(flatten)]
    structure: StructureArgs,

    /// Print what was recovered as JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let options = RecoverOptions {
        output: args.output.clone(),
        overwrite: args.force,
        force: args.salvage,
        threads: args.threads.unwrap_or_else(one_per_core),
    };
    let structure =
        (is_structure_name(&args.trail) && trail_beside(&args.trail).is_dir()).then_some(&args.trail);
    if structure.is_none() && is_structure_file(&args.trail) {
        ui.info(&format!("{}: nothing to recover, the structure is finished", args.trail.display()));
        return Ok(ExitCode::SUCCESS);
    }
    let trail = structure.map_or_else(|| args.trail.clone(), |structure| trail_beside(structure));
    if let Some(structure) = structure.filter(|_| args.output.is_some()) {
        bail!(
            "-o is where a trail goes: iotrail recover {} -o OTHER.trail",
            trail_beside(structure).display()
        );
    }
    let missing = missing_ranks(&trail)?;
    let bar = ui.event_bar("recovering");
    let recovered = recover(&trail, &options, &|done, total| bar.show(done, total))?;
    bar.clear();
    info(&recovered, args, ui);
    if !missing.is_empty() {
        let ranks: Vec<String> = missing.iter().map(u32::to_string).collect();
        ui.warn(&format!("missing, nothing was recorded of them: ranks {}", ranks.join(", ")));
    }
    if let Some(structure) = structure.filter(|_| recovered.is_complete()) {
        structured::finish(structure, &args.structure.options()?, ui)?;
    }
    if args.json {
        output::json(&recovered)?;
    }
    Ok(if recovered.is_complete() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn info(recovered: &Recovered, args: &Args, ui: &Ui) {
    let target = args.output.as_ref().unwrap_or(&args.trail).display();
    for left in &recovered.left {
        ui.warn(&format!("left alone: {}", describe(left)));
        if left.recorder == Liveness::Dead && left.events > 0 {
            ui.info("--salvage takes what is readable in it and removes its spool");
        }
    }
    for unreadable in &recovered.unreadable {
        ui.warn(&format!("left alone, nothing of it can be read: {}", unreadable.why));
    }
    if !recovered.unreadable.is_empty() && args.output.is_none() {
        ui.info("to get a trail of the others: -o OTHER.trail");
    }
    for recording in &recovered.recordings {
        ui.info(&describe(recording));
    }
    if recovered.recordings.is_empty() && recovered.is_complete() {
        ui.info(&format!("{}: nothing to recover, the trail is finished", args.trail.display()));
        if args.output.is_some() {
            ui.info(&format!("{target}: a copy of it"));
        }
    } else if !recovered.recordings.is_empty() {
        ui.info(&format!("{target}: {} recovered", units::counted(recovered.events, "event", "events")));
        if recovered.lost > 0 {
            ui.warn(&format!("{} lost", units::counted(recovered.lost, "event", "events")));
        }
        if recovered.lost_unknown > 0 {
            let places = units::counted(recovered.lost_unknown, "damaged place", "damaged places");
            ui.warn(&format!("{places}: an unknown number of events is lost there"));
        }
    }
}

/// Who recorded what, and what is missing.
fn describe(recording: &Unfinished) -> String {
    let state = match recording.recorder {
        Liveness::Alive => "still recording",
        Liveness::Dead => "ended",
        Liveness::Unknown => "may still be recording",
    };
    let Unfinished { case, host, pid, events, why, .. } = recording;
    let events = units::counted(*events, "event", "events");
    format!("{case}: {events} by process {pid} on {host} ({state}); {why}")
}
