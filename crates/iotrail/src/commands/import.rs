//! `iotrail import`: traces of other programs into a trail.

use crate::commands::structured::no_structure_name;
use crate::{output, signals, ui::Ui, usage};
use anyhow::Context;
use clap::builder::PossibleValuesParser;
use indicatif::ProgressBar;
use iotrail_console::hints;
use iotrail_darshan::DarshanDxt;
use iotrail_import::{
    CasePattern, Format, ImportOptions, ImportSummary, Input, Progress, RawRecords, import,
};
use iotrail_ltrace::Ltrace;
use iotrail_model::units;
use iotrail_strace::Strace;
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;

/// The formats of traces, the most particular first; strace's, which is searched for to the end of a file, last.
const FORMATS: [&dyn Format; 4] = [&RawRecords, &DarshanDxt, &Ltrace, &Strace];

/// Their names, the most usual first.
fn format_names() -> PossibleValuesParser {
    PossibleValuesParser::new(FORMATS.iter().rev().map(|format| format.name()))
}

/// How many warnings of an import are shown one by one.
const SHOWN: usize = 10;

/// Turn traces of strace, ltrace or Darshan DXT into a trail.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Formats, recognised by content:
  strace       strace -f -tt -T -y -o a_host1_9042.st COMMAND
  darshan-dxt  LOG.darshan of a job with DXT_ENABLE_IO_TRACE=1, or the text of darshan-dxt-parser
  ltrace       ltrace -S -f -ttt -T -s 4096 -o FILE COMMAND
  raw          lines of JSON that another recorder writes (docs/raw-records.md)

Examples:
  iotrail import -o run.trail a_host1_9042.st b_host1_9157.st
  iotrail import -o run.trail traces/
  iotrail import -o run.trail --case-name '{cid}-{rid}.txt' --label before old/*.txt
  zcat big.st.gz | iotrail import -o big.trail -
  my-recorder | iotrail import --format raw -o calls.trail -

Ctrl-C ends an import early: the trail holds what was read until then and is marked as incomplete. Press Ctrl-C again to abort. A named file that cannot be read or has no known format is reported, and the trail holds the others; such files in a directory are only mentioned.

Exit status: 0 all inputs were imported, 1 some could not be (or none: then there is not a trail), 2 wrong usage.")]
pub(crate) struct Args {
    /// Trace files, directories of them (with all sub-directories), or `-` for standard input. gzip, xz and zstd are
    /// recognised by content. The files of one `strace -ff` are read together.
    #[arg(required = true, value_name = "FILE|DIR|-")]
    inputs: Vec<OsString>,

    /// The trail to write, usually named `NAME.trail`.
    #[arg(short, long, value_name = "TRAIL")]
    output: PathBuf,

    /// Format of all inputs, if it is not recognised.
    #[arg(long, value_name = "FORMAT", value_parser = format_names())]
    format: Option<String>,

    /// How file names become case names; any of {cid}, {host} and {rid} may be missing, and slashes match directories.
    /// Default: {cid}_{host}_{rid} with any extension, else the file name is the cid.
    #[arg(long, value_name = "PATTERN")]
    case_name: Option<CasePattern>,

    /// A label for all cases, to tell runs apart.
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,

    /// Date of the first line of every file, for traces with times of day only (strace -t, -tt).
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = date)]
    date: Option<(i64, i64, i64)>,

    /// Number of threads; the trail does not depend on it. Default: one per core.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,

    /// Replace the trail if it exists.
    #[arg(long)]
    force: bool,

    /// Print what was imported as JSON.
    #[arg(long)]
    json: bool,
}

/// A calendar date.
fn date(text: &str) -> Result<(i64, i64, i64), String> {
    let wrong = || format!("`{text}` is not a date; write it like 2026-11-21");
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts[..] else { return Err(wrong()) };
    let number = |part: &str, width: usize| -> Result<i64, String> {
        let digits = part.len() == width && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse().ok().filter(|_| digits).ok_or_else(wrong)
    };
    let date = (number(year, 4)?, number(month, 2)?, number(day, 2)?);
    let days = iotrail_model::time::days_from_civil(date.0, date.1, date.2);
    if iotrail_model::time::civil_from_days(days) != date || date.0 < 1970 {
        return Err(format!("there is no day {text} since 1970"));
    }
    Ok(date)
}

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    if args.output == Path::new("-") {
        return Err(usage::wrong(
            "a trail is a directory, it cannot go to stdout: name it with -o NAME.trail",
        ));
    }
    let options = ImportOptions {
        case_pattern: args.case_name.clone().unwrap_or_default(),
        format: args.format.clone(),
        label: args.label.clone(),
        date: args.date,
        threads: args.threads,
        overwrite: args.force,
        cancel: signals::cancelled_by_signal().context("cannot watch for Ctrl-C")?,
    };
    let inputs: Vec<Input> = args.inputs.iter().map(|word| Input::from(word.as_os_str())).collect();
    let bar = Bar { ui, bar: OnceLock::new() };
    no_structure_name(&args.output)?;
    let result = import(&FORMATS, &inputs, &options, &args.output, &bar);
    bar.clear();
    let summary = result?;
    report(&summary, args, ui)?;
    Ok(if summary.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn report(summary: &ImportSummary, args: &Args, ui: &Ui) -> anyhow::Result<()> {
    for failure in summary.failures.iter().take(SHOWN) {
        ui.warn(&failure.to_string());
    }
    for warning in summary.warnings.iter().take(SHOWN) {
        ui.warn(&warning.to_string());
    }
    let more = summary.failures.len().saturating_sub(SHOWN) + summary.warnings.len().saturating_sub(SHOWN);
    if more > 0 {
        ui.warn(&format!("{} more; --json lists all", units::count(more as u64)));
    }
    ui.info(&in_one_line(summary, args));
    for note in summary.coverage.notes.iter() {
        ui.info(&format!("note: {}", hints::of_note(note, &args.output.to_string_lossy())));
    }
    if args.json {
        output::json(summary)?;
    }
    Ok(())
}

fn in_one_line(summary: &ImportSummary, args: &Args) -> String {
    let counted = |number: u64, one: &str, many: &str| match number {
        1 => format!("1 {one}"),
        _ => format!("{} {many}", units::count(number)),
    };
    let mut line = format!(
        "{}: {} of {} in {} from {} ({})",
        args.output.display(),
        counted(summary.events, "event", "events"),
        counted(summary.processes, "process", "processes"),
        counted(summary.cases, "case", "cases"),
        counted(summary.coverage.lines.total, "line", "lines"),
        units::bytes(summary.bytes_read as f64),
    );
    let losses = [
        (summary.coverage.lines.unparsed, "line not understood", "lines not understood"),
        (summary.coverage.lost, "missing event", "missing events"),
        (summary.coverage.incomplete, "call seen by half", "calls seen by half"),
        (summary.coverage.cut_arguments, "call with cut arguments", "calls with cut arguments"),
        (summary.coverage.interrupted, "interrupted call", "interrupted calls"),
    ];
    for (number, one, many) in losses.into_iter().filter(|(number, ..)| *number > 0) {
        line.push_str(&format!(", {}", counted(number, one, many)));
    }
    line
}

/// A bar on the terminal, made when the total is known.
struct Bar<'a> {
    ui: &'a Ui,
    bar: OnceLock<ProgressBar>,
}

impl Bar<'_> {
    fn clear(&self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}

impl Progress for Bar<'_> {
    fn begin(&self, _files: u64, bytes: Option<u64>) {
        self.bar.get_or_init(|| self.ui.byte_bar(bytes, "importing"));
    }

    fn advance(&self, bytes: u64) {
        if let Some(bar) = self.bar.get() {
            bar.inc(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FORMATS, date};

    #[test]
    fn every_format_is_a_source_that_trails_name() {
        for format in FORMATS {
            assert!(iotrail_model::sources::SOURCES.contains(&format.name()), "{}", format.name());
        }
    }

    #[test]
    fn a_date_is_a_day_of_the_calendar() {
        assert_eq!(date("2024-02-29"), Ok((2024, 2, 29)));
        for wrong in ["2023-02-29", "2026-13-01", "26-1-1", "2026-11", "2026-11-+1", "1969-12-31", "x"] {
            assert!(date(wrong).is_err(), "{wrong}");
        }
    }
}
