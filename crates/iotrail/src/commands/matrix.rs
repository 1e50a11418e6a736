//! `iotrail matrix`: who sends how much to whom.

use crate::rows::csv_lines;
use crate::{logs, output, ui::Ui, usage};
use iotrail_compress::{CountedCalls, counted_calls, is_structure_file, load};
use iotrail_draw::chart::{of_messages, sheet};
use iotrail_draw::{PictureFormat, Theme, picture_file};
use iotrail_model::threads::one_per_core;
use iotrail_model::{Case, Layer};
use iotrail_query::{Query, QuerySpec, SelectSpec};
use iotrail_stats::{MessageCalls, Messages, messages, messages_of};
use iotrail_structure_file::Document;
use iotrail_terminal::message_tables::message_tables;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Rows of each table.
const SHOWN: usize = 10;

/// The columns of CSV: a line for each pair.
const COLUMNS: [&str; 4] = ["from", "to", "messages", "bytes"];

/// Show which MPI ranks send messages to which, and how much.
///
/// Rules that hold for many ranks (rank + 1, all to 0), the ranks and the pairs with most bytes.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Counted is what senders give in messages (`iotrail record --mpi`), by ranks of MPI_COMM_WORLD; messages whose ranks are not known are told apart. Several runs are added up rank by rank. docs/matrix.md explains the figures.

Examples:
  iotrail matrix run.trail
  iotrail matrix run.structure --collectives
  iotrail matrix run.trail --csv | sort -t, -k4 -nr | head
  iotrail matrix run.trail -o matrix.svg")]
pub(crate) struct Args {
    /// Trails or structures, read as one log.
    #[arg(required = true, value_name = "TRAIL")]
    trails: Vec<PathBuf>,

    /// Show what collective calls gave as well.
    #[arg(long)]
    collectives: bool,

    /// Rows of each table.
    #[arg(long, value_name = "N", default_value_t = SHOWN, hide_default_value = true)]
    top: usize,

    /// Print JSON with every pair.
    #[arg(long, conflicts_with = "csv")]
    json: bool,

    /// Print every pair as CSV.
    #[arg(long)]
    csv: bool,

    /// Write to a file; .svg, .png and .pdf draw the matrix.
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    output: PathBuf,
}

/// How the answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MatrixFormat {
    Text,
    Json,
    Csv,
    Picture,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let format = format(args)?;
    let of_structure = match &args.trails[..] {
        [path] if is_structure_file(path) => counted(&load(path)?),
        _ => None,
    };
    let (found, has_messages) = match of_structure {
        Some(found) => found,
        None => scanned(&args.trails, ui)?,
    };
    if !has_messages {
        ui.warn("there are no calls of MPI; `iotrail record --mpi` records them");
    }
    write(args, &found, format, ui)?;
    if args.output != Path::new("-") {
        ui.report_written(std::slice::from_ref(&args.output));
    }
    Ok(ExitCode::SUCCESS)
}

/// The messages of trails and structures, and whether there are calls of MPI.
fn scanned(trails: &[PathBuf], ui: &Ui) -> anyhow::Result<(Messages, bool)> {
    let log = logs::open(trails, ui)?;
    let has_messages = log.layers().contains(&Layer::Mpi);
    let layer = has_messages.then(|| Layer::Mpi.name().to_owned()).into_iter().collect();
    let select = SelectSpec { layer, ..SelectSpec::default() };
    let query = Query::new(QuerySpec { select, ..QuerySpec::default() }, &log)?;
    Ok((messages(&log, &query, one_per_core())?, has_messages))
}

/// The messages of a structure without expanding it; NULL if it has to be.
fn counted(document: &Document) -> Option<(Messages, bool)> {
    let has_messages = document.keys.iter().any(|key| key.layer == Layer::Mpi);
    let rank = |case: &Case| case.name.rid.as_deref()?.parse().ok().filter(|_| has_messages);
    let ranks: Vec<Option<u32>> = document.cases.iter().map(rank).collect();
    let counted = counted_calls(document)?;
    // Who is in other communicators follows from the order of the calls that make them.
    let is_elsewhere = |calls: &CountedCalls| {
        let [comm, _, tag, sent, _] = calls.told;
        comm.is_some_and(|comm| comm != 0) && tag.is_some() && sent.is_some()
    };
    if counted.iter().any(is_elsewhere) {
        return None;
    }
    let calls = counted.into_iter().map(|CountedCalls { case, call, told, times }| {
        let [comm, peer, tag, sent, received] = told;
        let rank = ranks.get(case.index()).copied().flatten();
        MessageCalls { rank, call, comm, tag, peer, sent, received, times }
    });
    Some((messages_of(&document.names, ranks.clone(), calls), has_messages))
}

fn write(args: &Args, found: &Messages, format: MatrixFormat, ui: &Ui) -> anyhow::Result<()> {
    match format {
        MatrixFormat::Text => {
            output::text(&args.output, message_tables(found, args.top, args.collectives, ui.style()))
        }
        MatrixFormat::Json => output::write(&args.output, &output::json_document(found)?),
        MatrixFormat::Csv => output::stream(&args.output, |out| csv_lines(&COLUMNS, found.pairs.iter(), out)),
        MatrixFormat::Picture => {
            let title = "Messages between ranks";
            let scene = sheet(title, &[of_messages(found, title)]);
            output::write(&args.output, &picture_file(&scene, Theme::Auto, &args.output)?)
        }
    }
}

fn format(args: &Args) -> anyhow::Result<MatrixFormat> {
    let extension = args.output.extension().and_then(|extension| extension.to_str());
    match extension {
        _ if args.json => Ok(MatrixFormat::Json),
        _ if args.csv => Ok(MatrixFormat::Csv),
        _ if PictureFormat::from_path(&args.output).is_some() => Ok(MatrixFormat::Picture),
        Some("json") => Ok(MatrixFormat::Json),
        Some("csv") => Ok(MatrixFormat::Csv),
        Some("txt") | None => Ok(MatrixFormat::Text),
        _ => Err(usage::wrong(format!(
            "{}: unknown format; use one of .svg, .png, .pdf, .json, .csv, .txt",
            args.output.display()
        ))),
    }
}
