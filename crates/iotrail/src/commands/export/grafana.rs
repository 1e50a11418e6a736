//! `iotrail export grafana`: dashboards, and the files by which Grafana finds them.

use super::destination::Destination;
use super::points::Analysed;
use crate::{output, ui::Ui};
use anyhow::Context;
use iotrail_export::ExportError;
use iotrail_export::grafana::{Access, Provision, dashboards, link};
use iotrail_export::influx::points;
use iotrail_trail::outside_of_trails;
use std::path::{Path, PathBuf, absolute};
use std::process::ExitCode;

/// Dashboards over points in InfluxDB.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  iotrail export grafana -o grafana --db traces
  iotrail export grafana run.trail -o grafana --db traces     # prints the link to this run
  iotrail export grafana -o grafana --org lab --bucket traces --token-file token
  GF_PATHS_PROVISIONING=$PWD/grafana/provisioning grafana server --homepath /usr/share/grafana

Writes dashboards/*.json, which can be imported by hand too, and provisioning/, which tells Grafana where the dashboards and the data are. All queries are InfluxQL: a bucket of InfluxDB 2.x must be mapped to a database (docs/influx.md). Grafana reads the token from its file; user and password of a database are added by hand.")]
pub(super) struct Args {
    /// Trails whose points were sent; the link selects them.
    #[arg(value_name = "TRAIL")]
    trails: Vec<PathBuf>,

    /// The directory to write.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,

    #[command(flatten)]
    destination: Destination,

    /// The tag `job` of the points. Default: the names of the trails.
    #[arg(long, value_name = "NAME")]
    job: Option<String>,

    /// Print what was written as JSON.
    #[arg(long)]
    json: bool,
}

/// The database that dashboards ask if none is named.
const DATABASE: &str = "iotrail";

/// What was written.
#[derive(serde::Serialize)]
struct Written {
    files: Vec<PathBuf>,
    link: Option<String>,
}

pub(super) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let link = if args.trails.is_empty() { None } else { Some(link_to(args, ui)?) };
    let files = write(&args.output, &args.destination)?;
    ui.report_written(&files);
    if let Some(link) = &link {
        ui.info(&format!("dashboards: {link}"));
    }
    if args.json {
        output::json(&Written { files, link })?;
    }
    Ok(ExitCode::SUCCESS)
}

fn link_to(args: &Args, ui: &Ui) -> anyhow::Result<String> {
    let analysed = Analysed::of(&args.trails, args.job.as_deref(), ui)?;
    let survey = points(&analysed.source(), &mut |_: &str| Ok::<_, ExportError>(()), &mut |_| ())?;
    Ok(link(&args.destination.grafana, &analysed.selected(survey.span())?))
}

fn write(directory: &Path, destination: &Destination) -> anyhow::Result<Vec<PathBuf>> {
    let named = |path: &Path| absolute(path).with_context(|| format!("cannot find {}", path.display()));
    let token =
        destination.token_file.as_deref().filter(|_| destination.is_bucket()).map(named).transpose()?;
    let provision = Provision {
        url: &destination.url,
        database: destination.name().unwrap_or(DATABASE),
        access: token.as_deref().map_or(Access::Open, Access::Token),
    };
    // The directory itself may be a trail.
    outside_of_trails(&directory.join("dashboards"))?;
    let [shown, sources, providers] = ["dashboards", "provisioning/datasources", "provisioning/dashboards"]
        .map(|part| directory.join(part));
    for part in [&shown, &sources, &providers] {
        std::fs::create_dir_all(part).with_context(|| format!("cannot create {}", part.display()))?;
    }
    let mut files = output::Files::default();
    for (name, dashboard) in dashboards() {
        files.write(&shown.join(name), &output::json_document(&dashboard)?)?;
    }
    files.write(&sources.join("iotrail.yaml"), provision.data_source().as_bytes())?;
    files.write(&providers.join("iotrail.yaml"), Provision::provider(&named(&shown)?).as_bytes())?;
    files.publish()
}
