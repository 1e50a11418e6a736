//! `iotrail stats`: what calls, files and processes did, by group of processes.

use crate::args::query::ProcessQuery;
use crate::{logs, output, ui::Ui, usage};
use iotrail_console::hints;
use iotrail_draw::chart::{Plot, PlotKind, of_profile, sheet};
use iotrail_draw::view::Theme;
use iotrail_draw::{PictureFormat, picture_file};
use iotrail_export::profile_csv::profile_csv;
use iotrail_query::{AUTO, ProcessTable, Query};
use iotrail_stats::{FilesBy, Profile, ProfileOptions, ProfileTable, profile, sql};
use iotrail_terminal::incomplete;
use iotrail_terminal::profile_tables::profile_tables;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// How many rows of each table are shown.
const SHOWN: usize = 20;

/// What is drawn if nothing is said.
const DISTRIBUTIONS: Plot = Plot { kind: PlotKind::Ecdf, quantity: None };

/// Show statistics of calls, programs and files.
///
/// I/O by group of processes, statistics of calls, distributions, access patterns, throughput.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  iotrail stats run.trail
  iotrail stats run.trail --phases job --table phases
  iotrail stats run.trail --phases 'cmd~ -p (\\S+)' --table all
  iotrail stats run.trail --table calls --csv -o calls.csv
  iotrail stats run.trail --table files --paths
  iotrail stats run.trail --plot ecdf:latency -o latency.svg
  iotrail stats run.trail --json | jq '.phases[] | {group, bytes_read}'
  iotrail stats run.trail --show-sql --table phases

Tables: phases, calls, group-calls, distributions, files, processes, throughput. Plots: ecdf, histogram, box (of one quantity: ecdf:latency, box:lifetime, ...), bytes, calls, heat. Figures are defined in docs/stats.md.")]
pub(crate) struct Args {
    /// Trails or structures, read as one log.
    #[arg(required = true, value_name = "TRAIL")]
    trails: Vec<PathBuf>,

    /// How files are grouped for the lengths of requests: `template`, `dir` (or `dir1`, `dir2`, ...), `ext`, `file`, or `map` (by
    /// the activities of --map).
    #[arg(long, value_name = "HOW", default_value = "template", value_parser = crate::args::choice::<FilesBy>)]
    files_by: FilesBy,

    /// Count names instead of files: a file with two names is two rows, and counts twice.
    #[arg(long, conflicts_with = "show_sql")]
    paths: bool,

    /// The tables to show, or `all`. Default: phases and calls.
    #[arg(long, value_name = "TABLE", value_delimiter = ',')]
    table: Vec<String>,

    /// The charts to draw into -o FILE.svg, .png or .pdf: `ecdf:latency`, `histogram`, `box`, `bytes`, `calls`, `heat`. Default: all
    /// distribution functions.
    #[arg(long, value_name = "PLOT", value_parser = crate::args::choice::<Plot>)]
    plot: Vec<Plot>,

    /// Write to a file: a picture if the extension is svg, png or pdf, JSON if it is json, CSV if it is csv, else text.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// The whole profile as JSON.
    #[arg(long, conflicts_with = "csv")]
    json: bool,

    /// One table as comma-separated values, all of its rows.
    #[arg(long)]
    csv: bool,

    /// Print the SQL that gives the tables instead of the tables (see `iotrail sql`).
    #[arg(long, conflicts_with_all = ["json", "csv", "plot"])]
    show_sql: bool,

    /// Rows of each table.
    #[arg(long, value_name = "N", default_value_t = SHOWN)]
    top: usize,

    #[command(flatten)]
    query: ProcessQuery,
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProfileFormat {
    Text,
    Json,
    Csv(ProfileTable),
    Picture,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let tables = tables(&args.table)?;
    let format = format(args, &tables)?;
    let target = args.output.as_deref().unwrap_or(Path::new("-"));
    if args.show_sql {
        let texts: Vec<String> = tables.iter().map(|table| sql::script(*table)).collect();
        output::write(target, texts.join("\n").as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let profile = read(args, ui)?;
    let bytes = match format {
        ProfileFormat::Text => {
            let text = profile_tables(&profile, &tables, args.top, ui.style());
            (incomplete(&profile.limitations, ui.style()) + &text).into_bytes()
        }
        ProfileFormat::Csv(table) => profile_csv(&profile, table).into_bytes(),
        ProfileFormat::Json => {
            let mut text = serde_json::to_vec(&profile)?;
            text.push(b'\n');
            text
        }
        ProfileFormat::Picture => {
            let plots = if args.plot.is_empty() { &[DISTRIBUTIONS][..] } else { &args.plot };
            let charts: Vec<_> = plots.iter().flat_map(|plot| of_profile(&profile, *plot)).collect();
            picture_file(&sheet(&profile.sources.join(", "), &charts), Theme::Auto, target)?
        }
    };
    match format {
        ProfileFormat::Text => output::text(target, &bytes)?,
        _ => output::write(target, &bytes)?,
    }
    if target != Path::new("-") {
        ui.info(&format!("wrote {}", target.display()));
    }
    Ok(ExitCode::SUCCESS)
}

fn read(args: &Args, ui: &Ui) -> anyhow::Result<Profile> {
    let log = logs::open(&args.trails, ui)?;
    let log = if args.paths { log.by_names() } else { log };
    let mut spec = args.query.spec();
    if args.files_by == FilesBy::Map {
        spec.map.get_or_insert_with(|| AUTO.to_owned());
    }
    let query = Query::new(spec, &log)?;
    query.warnings().iter().for_each(|warning| ui.warn(&hints::of_warning(warning)));
    let processes = ProcessTable::of_log(&log)?;
    let groups = args.query.groups(&log, &processes)?;
    if groups.names.is_empty() && !groups.of_process.is_empty() {
        ui.warn(&format!("--phases {}: no process belongs to any group", args.query.phases()));
    }
    let options = ProfileOptions {
        by: args.query.phases().to_owned(),
        files_by: args.files_by,
        paths: args.paths,
        ..ProfileOptions::default()
    };
    let profile = profile(&log, &query, &processes, &groups, &options)?;
    query.check_selected(profile.calls.len() as u64, &log)?;
    Ok(profile)
}

fn tables(words: &[String]) -> anyhow::Result<Vec<ProfileTable>> {
    if words.is_empty() {
        return Ok(vec![ProfileTable::Phases, ProfileTable::Calls]);
    }
    if words.iter().any(|word| word == "all") {
        return Ok(ProfileTable::ALL.to_vec());
    }
    words.iter().map(|word| Ok(word.parse()?)).collect()
}

/// What the options and the extension of the output ask for.
fn format(args: &Args, tables: &[ProfileTable]) -> anyhow::Result<ProfileFormat> {
    let extension = args.output.as_deref().and_then(Path::extension).and_then(|extension| extension.to_str());
    let picture = args.output.as_deref().and_then(PictureFormat::from_path).is_some();
    if !args.plot.is_empty() && !picture {
        return Err(usage::wrong(
            "--plot draws a picture: name a file for it with -o FILE.svg, .png or .pdf",
        ));
    }
    if args.csv || (extension == Some("csv") && !args.json) {
        let table = match tables {
            [table] => Some(*table),
            _ => None,
        };
        return table
            .map(ProfileFormat::Csv)
            .ok_or_else(|| usage::wrong("CSV holds one table: choose it with --table"));
    }
    Ok(match extension {
        _ if args.json => ProfileFormat::Json,
        Some("json") => ProfileFormat::Json,
        _ if picture => ProfileFormat::Picture,
        _ => ProfileFormat::Text,
    })
}
