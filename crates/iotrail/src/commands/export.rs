//! `iotrail export`: the event log as a whole for other programs.

mod c;
mod database;
mod destination;
mod fio;
mod fio_iolog;
mod grafana;
mod influx;
mod ior;
mod model;
mod perfetto;
mod points;

use crate::ui::Ui;
use std::path::PathBuf;
use std::process::ExitCode;

/// Write the event log in the format of another program.
#[derive(Debug, clap::Args)]
#[command(
    disable_help_subcommand = true,
    after_help = "Examples:
  iotrail export sqlite run.trail -o run.db
  sqlite3 run.db 'SELECT call, count(*), sum(size) FROM events GROUP BY call'
  iotrail export perfetto run.trail -o run.pftrace      # open it in ui.perfetto.dev
  iotrail export influx run.trail -o run.lp             # or send it to a server
  iotrail export grafana -o grafana                     # dashboards over what was sent
  iotrail export c model.toml -o app.c                  # a model of a workload as a program
  iotrail export fio model.toml -o app.fio              # the same as a job of fio
  iotrail export fio-iolog model.toml -o app.fio        # or as logs that fio replays
  iotrail export ior model.toml                         # or as runs of IOR, if it is one

iotrail export FORMAT --help has more."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    format: Format,
}

/// For whom.
#[derive(Debug, clap::Subcommand)]
enum Format {
    Sqlite(database::Args),
    Perfetto(perfetto::Args),
    Influx(influx::Args),
    Grafana(grafana::Args),
    C(c::Args),
    Fio(fio::Args),
    FioIolog(fio_iolog::Args),
    Ior(ior::Args),
}

/// From trails to one file.
#[derive(Debug, clap::Args)]
struct ToFile {
    /// Trails or structures, read as one log.
    #[arg(required = true, value_name = "TRAIL")]
    trails: Vec<PathBuf>,

    /// The file to write; `-` for stdout, of formats that are streams.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Print what was written as JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    match &args.format {
        Format::Sqlite(args) => database::run(args, ui),
        Format::Perfetto(args) => perfetto::run(args, ui),
        Format::Influx(args) => influx::run(args, ui),
        Format::Grafana(args) => grafana::run(args, ui),
        Format::C(args) => c::run(args, ui),
        Format::Fio(args) => fio::run(args, ui),
        Format::FioIolog(args) => fio_iolog::run(args, ui),
        Format::Ior(args) => ior::run(args, ui),
    }
}
