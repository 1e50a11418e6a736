//! `iotrail info`: what is in a trail, and what is not.

use crate::{logs, output, ui::Ui};
use iotrail_compress::{Outline, is_structure_file, load};
use iotrail_console::hints;
use iotrail_model::{Nanos, RecordingCoverage, units};
use iotrail_terminal::outline;
use iotrail_terminal::table::{Align, Block, Table};
use iotrail_trail::Info;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// How many calls the human form lists.
const SHOWN_CALLS: usize = 15;

/// Summarise a trail and its coverage.
///
/// Cases, processes, calls and bytes, what was not recorded or not understood.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  iotrail info run.trail
  iotrail info run.trail --json | jq .coverage.lines")]
pub(crate) struct Args {
    /// Trails or structures, several are summed up as one log.
    #[arg(required = true, value_name = "TRAIL")]
    trails: Vec<PathBuf>,

    /// Print JSON with exact values.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    if let [path] = &args.trails[..]
        && is_structure_file(path)
    {
        return structure(path, args.json, ui);
    }
    let info = logs::open(&args.trails, ui)?.info()?;
    if args.json {
        output::json(&info)?;
    } else {
        output::text(Path::new("-"), human(&info, &names(&args.trails), ui))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What is in a structure.
fn structure(path: &Path, json: bool, ui: &Ui) -> anyhow::Result<ExitCode> {
    let outline = Outline::summary(&load(path)?)?;
    if json {
        output::json(&outline)?;
    } else {
        output::text(Path::new("-"), outline::summary(&outline).render(ui.style()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Trails as words of a command.
fn names(trails: &[PathBuf]) -> String {
    trails.iter().map(|trail| trail.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

fn human(info: &Info, trails: &str, ui: &Ui) -> String {
    let style = ui.style();
    let mut text = summary(info).render(style);
    text.push('\n');
    text.push_str(&calls(info).render(style));
    text.push('\n');
    text.push_str(&coverage(info, trails).render(style));
    text
}

fn summary(info: &Info) -> Block {
    let mut block = Block::new();
    block.entry("trail", info.trails.join(", "));
    block.entry("source", info.source.clone());
    if !info.commands.is_empty() {
        block.entry("commands", info.commands.iter().cloned().collect::<Vec<_>>().join(", "));
    }
    block.entry("cases", units::count(info.cases));
    block.entry(
        "processes",
        format!("{} ({})", units::count(info.processes), units::counted(info.threads, "thread", "threads")),
    );
    let per_event = if info.events == 0 { 0.0 } else { info.disk_bytes as f64 / info.events as f64 };
    let disk = units::bytes(info.disk_bytes as f64);
    block.entry(
        "events",
        format!("{} ({disk} on disk, {per_event:.1} bytes each)", units::count(info.events)),
    );
    if info.layers.len() > 1 {
        let layer = |(name, count): (&String, &u64)| format!("{name} {}", units::count(*count));
        block.entry("layers", info.layers.iter().map(layer).collect::<Vec<_>>().join(", "));
    }
    if info.sites > 0 {
        block.entry("call sites", units::count(info.sites));
    }
    if let Some(time) = &info.time {
        let span = info.resolution.known_span(Nanos(time.end_ns.saturating_sub(time.start_ns)));
        let span = span.map_or_else(|| "–".to_owned(), |span| units::duration(span.0 as f64));
        let clocks = info.clocks.iter().cloned().collect::<Vec<_>>().join(", ");
        block.entry("time", format!("{} to {}: {span} (clock: {clocks})", time.start, time.end));
    } else if info.events > 0 {
        block.entry(
            "time",
            format!("– (clock: {})", info.clocks.iter().cloned().collect::<Vec<_>>().join(", ")),
        );
    }
    let bytes = |value: i64| units::bytes(value as f64);
    block.entry("bytes", format!("{} read, {} written", bytes(info.bytes.read), bytes(info.bytes.written)));
    let failed: u64 = info.errnos.values().sum();
    if failed > 0 {
        let mut errors: Vec<_> = info.errnos.iter().collect();
        errors.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), name.as_str()));
        let names: Vec<String> =
            errors.iter().take(5).map(|(name, count)| format!("{name} {}", units::count(**count))).collect();
        block.entry("failed", format!("{} ({})", units::count(failed), names.join(", ")));
    }
    block
}

fn calls(info: &Info) -> Table {
    let mut table = Table::new().names("call").figures("events", Align::Right).figures("share", Align::Right);
    let mut calls: Vec<_> = info.calls.iter().collect();
    calls.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), name.as_str()));
    let share = |count: u64| units::percent(count as f64 / info.events.max(1) as f64);
    for (name, count) in calls.iter().take(SHOWN_CALLS) {
        table.row([(*name).clone(), units::count(**count), share(**count)]);
    }
    let rest: u64 = calls.iter().skip(SHOWN_CALLS).map(|(_, count)| **count).sum();
    if rest > 0 {
        table.row([format!("({} others)", calls.len() - SHOWN_CALLS), units::count(rest), share(rest)]);
    }
    table
}

fn coverage(info: &Info, trails: &str) -> Block {
    let coverage = &info.coverage;
    let lines = &coverage.lines;
    let mut block = Block::new();
    if let Some(recording) = &coverage.recording {
        recorded(recording, &mut block);
    }
    if lines.total > 0 {
        let kinds = [
            ("event", lines.event),
            ("unfinished", lines.unfinished),
            ("resumed", lines.resumed),
            ("signal", lines.signal),
            ("exit", lines.exit),
            ("noise", lines.noise),
            ("not understood", lines.unparsed),
        ];
        let kinds: Vec<String> = kinds
            .iter()
            .filter(|(_, count)| *count > 0)
            .map(|(kind, count)| format!("{} {kind}", units::count(*count)))
            .collect();
        block.entry("lines", format!("{} = {}", units::count(lines.total), kinds.join(" + ")));
    }
    if !coverage.noise.is_empty() {
        let kinds: Vec<String> =
            coverage.noise.iter().map(|(kind, count)| format!("{kind} {}", units::count(*count))).collect();
        block.entry("noise", kinds.join(", "));
    }
    let losses = [
        ("interrupted", coverage.interrupted, "restarted by the kernel; with its restart one event"),
        ("ended", coverage.interrupted_ended, "calls that a signal ended: they failed with EINTR"),
        (
            "undecided",
            coverage.interrupted_unknown,
            "calls that a signal interrupted; the trace does not show what became of them",
        ),
        ("incomplete", coverage.incomplete, "only one half of the call was seen"),
        (
            "cut",
            coverage.cut_arguments,
            "calls whose command line or path strace cut: trace with a larger -s",
        ),
        ("lost", coverage.lost, "known to be missing"),
        ("relative", coverage.relative_paths, "paths left relative, their directory was never seen"),
    ];
    for (key, count, meaning) in losses.into_iter().filter(|(_, count, _)| *count > 0) {
        block.entry(key, format!("{} ({meaning})", units::count(count)));
    }
    for example in &coverage.examples {
        block.entry("not understood", format!("{}:{}: {}", example.file, example.line, example.text));
    }
    for note in coverage.notes.iter() {
        block.entry("note", hints::of_note(note, trails));
    }
    let imported = lines.total > 0 || coverage.recording.is_none();
    if imported && lines.unparsed + coverage.incomplete + coverage.cut_arguments + coverage.lost == 0 {
        let all = if coverage.notes.is_empty() { "complete: " } else { "" };
        block.entry("coverage", format!("{all}every line was understood, no call was cut"));
    }
    block
}

/// What recorders saw and what not.
fn recorded(recording: &RecordingCoverage, block: &mut Block) {
    block.entry("recorded", recording.selected());
    let without = recording.without();
    if !without.is_empty() {
        block.entry("not recorded", without.join(", "));
    }
    if let Some(why) = recording.why_empty() {
        block.entry("no events", why);
    }
    for gap in recording.gaps() {
        block.entry("not seen", gap);
    }
    if recording.gaps().is_empty() {
        block.entry("not seen", "nothing is known to be missing");
    }
    for cost in recording.costs() {
        block.entry("cost", cost);
    }
}
