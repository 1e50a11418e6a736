//! What follows a recording: a summary in a few lines, and the files that were asked for.

use crate::commands::report;
use crate::free_name::free_name;
use crate::{output, ui::Ui};
use anyhow::bail;
use iotrail_export::escape::argument;
use iotrail_model::text::printable;
use iotrail_model::threads::one_per_core;
use iotrail_model::{Coverage, RecordingCoverage, units};
use iotrail_record::Session;
use iotrail_terminal::never_returned::never_returned_line;
use iotrail_terminal::why_summary::why_line;
use iotrail_trail::{EventLog, Info, Totals};
use iotrail_workflow::why::result::{PieceKind, Why};
use iotrail_workflow::why::why;
use std::path::{Path, PathBuf};

/// Larger recordings are explained only on request.
const EXPLAINED: u64 = 2_000_000;

/// What is written beside the trail.
#[derive(Debug, clap::Args)]
pub(crate) struct Outputs {
    /// Write the HTML report as well. Default: beside the trail, `NAME.html`, with a number if that exists.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    report: Option<Option<PathBuf>>,

    /// Replace the trail if it exists, and the report beside it.
    #[arg(long)]
    pub(crate) force: bool,

    /// Write a summary of the recording as JSON to a file, `-` for stdout.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Summarises a recording and writes what else was asked for. Of several ranks the last one speaks for all of them.
/// `name` is what is left of the trail in the end.
pub(crate) fn conclude(
    session: &Session,
    target: &Path,
    name: &Path,
    outputs: &Outputs,
    ui: &Ui,
) -> anyhow::Result<()> {
    let published = match &session.published {
        Ok(published) => published,
        Err(error) => bail!("{error}"),
    };
    if let Some(why) = session.outcome.coverage.recording.as_ref().and_then(RecordingCoverage::why_empty) {
        ui.warn(&format!("the recording holds no events: {why}"));
    }
    if published.is_last && (ui.talks() || outputs.report.is_some()) {
        info(session, (target, name), outputs, ui)?;
    }
    match &outputs.json {
        Some(path) => output::write(path, &summary(session, &published.added, name)?),
        None => Ok(()),
    }
}

fn info(session: &Session, (target, name): (&Path, &Path), outputs: &Outputs, ui: &Ui) -> anyhow::Result<()> {
    let log = EventLog::open(&[target.to_owned()])?;
    let info = log.info()?;
    let explains = ui.talks() && (1..=EXPLAINED).contains(&info.events);
    let explained = if explains { why(&log, one_per_core()).ok() } else { None };
    ui.info(&in_one_line(session, &info, explained.as_ref(), name));
    if let Some(recording) = &info.coverage.recording {
        ui.info(&format!("coverage: {}", recording.in_one_line()));
    }
    if let Some((why, run)) = explained.as_ref().and_then(|why| Some((why, why.runs.first()?))) {
        let slowest =
            if why.runs.len() > 1 { format!(" of the slowest, {}", run.name) } else { String::new() };
        ui.info(&format!("why{slowest} {}", why_line(run, why.directory.as_deref())));
        if let Some(line) = never_returned_line(why, &|nanos| units::duration(nanos as f64)) {
            ui.info(&line);
        }
    }
    if let Some(page) = &outputs.report {
        let beside = || free_name(&name.with_extension(""), "html", outputs.force);
        report::write_plain(target, &page.clone().unwrap_or_else(beside), ui)?;
    }
    let name = argument(&name.to_string_lossy());
    // Nobody can copy such a name from a terminal.
    if name.contains(char::is_control) {
        return Ok(());
    }
    let page = if outputs.report.is_none() { format!(", iotrail report {name}") } else { String::new() };
    ui.info(&format!("next: iotrail why {name}, iotrail files {name}, iotrail advise {name}{page}"));
    Ok(())
}

/// `run.trail: 181 events of 1 process in 28.3 ms (at most 27.5 ms without tracing)`.
fn in_one_line(session: &Session, info: &Info, why: Option<&Why>, target: &Path) -> String {
    let time = |nanos: i64| units::duration(nanos as f64);
    let ranks = match info.cases {
        1 => String::new(),
        ranks => format!(" in {}", units::counted(ranks, "rank", "ranks")),
    };
    let span = match why.and_then(|why| why.runs.first()) {
        Some(run) => {
            let tracing = run.pieces.iter().filter(|piece| piece.kind == PieceKind::Tracing);
            let without = run.elapsed_ns - tracing.map(|piece| piece.time_ns).sum::<i64>();
            format!("{} (at most {} without tracing)", time(run.elapsed_ns), time(without))
        }
        None => time((session.outcome.ended - session.outcome.started).0),
    };
    format!(
        "{}: {} of {}{ranks} in {span}",
        printable(&target.to_string_lossy()),
        units::counted(info.events, "event", "events"),
        units::counted(info.processes, "process", "processes"),
    )
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
