//! `iotrail export influx`: calls, processes, files and findings as points in time.

use super::destination::Destination;
use super::points::Analysed;
use crate::{output, ui::Ui};
use iotrail_export::ExportError;
use iotrail_export::grafana::link;
use iotrail_export::influx::{Measurement, Written, points};
use iotrail_influx::{CountQuery, Options, Sent, Server, Stored, Upload, UploadError, Waiting, count};
use iotrail_model::{quantity, units};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// How often, and how long apart, a server is asked again that does not show all points yet.
const ASKED: u32 = 5;
const BETWEEN: Duration = Duration::from_millis(500);

/// Points for InfluxDB and what speaks its protocol.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  iotrail export influx run.trail --db traces
  iotrail export influx run.trail --url http://db:8086 --org lab --bucket traces --token-file token
  iotrail export influx run.trail -o run.lp
  iotrail export influx run.trail -o - | gzip | curl --data-binary @- -H 'Content-Encoding: gzip' \\
      'https://db/write?db=traces&precision=ns'

Calls, processes, files and findings become points; docs/influx.md lists their fields. A point that is sent twice is one point, so an upload can be run again; --resume asks the server how far it came. A server that is busy, restarts or cannot be reached is tried again for --retry-for. At the end the points in the server are counted. There is no TLS: let curl send line protocol instead.

Exit status 1: points were dropped, are missing, or could not be sent.")]
pub(super) struct Args {
    /// Trails or structures, read as one log.
    #[arg(required = true, value_name = "TRAIL")]
    trails: Vec<PathBuf>,

    /// Write line protocol into a file instead; `-` is stdout.
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["db", "org", "bucket", "token_file", "resume"])]
    output: Option<PathBuf>,

    #[command(flatten)]
    destination: Destination,

    /// The tag `job` of all points. Default: the names of the trails.
    #[arg(long, value_name = "NAME")]
    job: Option<String>,

    /// Continue an upload that was interrupted: skip the points that the server has.
    #[arg(long)]
    resume: bool,

    /// Points of a request.
    #[arg(long, value_name = "N", default_value_t = Options::BATCH, value_parser = clap::value_parser!(u64).range(1..))]
    batch: u64,

    /// How long to try to send a batch.
    #[arg(long, value_name = "SPAN", default_value = "2min", value_parser = quantity::span)]
    retry_for: i64,

    /// Print what was written as JSON.
    #[arg(long)]
    json: bool,
}

/// What was done.
#[derive(serde::Serialize)]
struct Done<'a> {
    job: &'a str,
    points: u64,
    #[serde(flatten)]
    written: Written,
    /// Of an upload.
    sent: Option<Sent>,
    /// Points of these in the server; NULL if it cannot be asked.
    stored: Option<u64>,
    /// The dashboard.
    link: Option<String>,
}

pub(super) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    match &args.output {
        Some(output) => to_file(args, output, ui),
        None => to_server(args, ui),
    }
}

fn to_file(args: &Args, file: &Path, ui: &Ui) -> anyhow::Result<ExitCode> {
    if file != Path::new("-") {
        output::spares_recordings(file)?;
    }
    let analysed = Analysed::of(&args.trails, args.job.as_deref(), ui)?;
    let bar = ui.event_bar("exporting");
    let written = output::stream(file, |out| {
        let mut sink = |line: &str| -> anyhow::Result<()> {
            out.write_all(line.as_bytes())?;
            Ok(out.write_all(b"\n")?)
        };
        points(&analysed.source(), &mut sink, &mut |done| bar.show(done, analysed.calls()))
    })?;
    bar.clear();
    ui.info(&format!("{}: {}", file.display(), described(&written)));
    if args.json {
        let points = written.points();
        output::json(&Done { job: analysed.job(), points, written, sent: None, stored: None, link: None })?;
    }
    Ok(ExitCode::SUCCESS)
}

fn to_server(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let server = args.destination.server()?;
    let analysed = Analysed::of(&args.trails, args.job.as_deref(), ui)?;
    let skip = if args.resume { already_there(&server, &analysed, args.batch)? } else { 0 };
    let options = Options {
        batch_points: args.batch,
        patience: Duration::from_nanos(u64::try_from(args.retry_for).unwrap_or_default()),
        skip,
        ..Options::default()
    };
    let (written, sent) =
        upload(&server, &analysed, options, ui).map_err(|error| explained(error, &args.destination, skip))?;
    let stored = stored(&server, analysed.job(), &written);
    let link = link(&args.destination.grafana, &analysed.selected(written.span())?);
    let complete = report(&server, &written, &sent, &stored, ui);
    ui.info(&format!("dashboards: {link}"));
    if args.json {
        let stored = match stored {
            Stored::Points(points) => Some(points),
            Stored::Unknown(_) => None,
        };
        let points = written.points();
        output::json(&Done {
            job: analysed.job(),
            points,
            written,
            sent: Some(sent),
            stored,
            link: Some(link),
        })?;
    }
    Ok(if complete { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// How many points at the begin the server has for certain. Its last batch may be there in part, in any order.
fn already_there(server: &Server, analysed: &Analysed, batch: u64) -> anyhow::Result<u64> {
    let survey = points(&analysed.source(), &mut |_: &str| Ok::<_, ExportError>(()), &mut |_| ())?;
    match count(server, &wanted(analysed.job(), &survey)) {
        Stored::Points(points) => Ok(points.saturating_sub(batch)),
        Stored::Unknown(why) => {
            anyhow::bail!(
                "{}: cannot tell how far the upload came: {why}; run it without --resume",
                server.address()
            )
        }
    }
}

fn upload(
    server: &Server,
    analysed: &Analysed,
    options: Options,
    ui: &Ui,
) -> anyhow::Result<(Written, Sent)> {
    let bar = ui.event_bar("uploading");
    let waiting = |waiting: &Waiting<'_>| {
        let wait = units::duration(waiting.wait.as_nanos() as f64);
        ui.warn(&format!("{}: {}; next try in {wait}", server.address(), waiting.why));
    };
    let mut upload = Upload::new(server, options, &waiting);
    let mut sink = |line: &str| -> anyhow::Result<()> { Ok(upload.push(line)?) };
    let written = points(&analysed.source(), &mut sink, &mut |done| bar.show(done, analysed.calls()))?;
    let sent = upload.finish()?;
    bar.clear();
    Ok((written, sent))
}

/// With how far it came, and what to do.
fn explained(error: anyhow::Error, destination: &Destination, skipped: u64) -> anyhow::Error {
    let Some(failed) = error.downcast_ref::<UploadError>() else { return error };
    let name = destination.name().unwrap_or_default();
    let hint = match failed.status() {
        Some(401 | 403) => "; --token-file names the file with the token".to_owned(),
        Some(404) if destination.is_bucket() => {
            format!("; make it first: influx bucket create -n \"{name}\"")
        }
        Some(404) => format!("; make it first: influx -execute 'CREATE DATABASE \"{name}\"'"),
        _ => "; --resume continues, and points that are sent twice do no harm".to_owned(),
    };
    let accepted = units::counted(failed.accepted() + skipped, "point", "points");
    anyhow::anyhow!("{failed}{hint}").context(format!("the upload stopped after {accepted}"))
}

fn wanted<'a>(job: &'a str, written: &Written) -> Vec<CountQuery<'a>> {
    let wanted = Measurement::ALL.into_iter().filter_map(|measurement| {
        let extent = written.of(measurement);
        Some(CountQuery {
            measurement: measurement.name(),
            field: measurement.counted_by(),
            tag: ("job", job),
            first: extent.first_ns?,
            last: extent.last_ns?,
        })
    });
    wanted.collect()
}

/// What the server has; some show what they accepted a moment later.
fn stored(server: &Server, job: &str, written: &Written) -> Stored {
    let wanted = wanted(job, written);
    let mut stored = count(server, &wanted);
    for _ in 1..ASKED {
        if !matches!(stored, Stored::Points(points) if points < written.points()) {
            break;
        }
        std::thread::sleep(BETWEEN);
        stored = count(server, &wanted);
    }
    stored
}

/// Says what became of the points, and answers whether all are there.
fn report(server: &Server, written: &Written, sent: &Sent, stored: &Stored, ui: &Ui) -> bool {
    let address = server.address();
    ui.info(&format!("{address}: {}", described(written)));
    if sent.skipped > 0 {
        ui.info(&format!(
            "skipped {}, which the server had",
            units::counted(sent.skipped, "point", "points")
        ));
    }
    if sent.partial > 0 {
        let said = sent.first_refusal.as_deref().unwrap_or_default();
        let dropped = units::counted(sent.dropped, "point", "points");
        ui.warn(&format!(
            "{address} dropped {dropped} of {}: {said}",
            units::counted(sent.partial, "batch", "batches")
        ));
    }
    let points = written.points();
    let complete = match stored {
        Stored::Points(stored) if *stored < points => {
            ui.warn(&format!(
                "{} of {} are in the server",
                units::count(*stored),
                units::counted(points, "point", "points")
            ));
            false
        }
        Stored::Points(stored) if *stored > points => {
            ui.warn(&format!(
                "the server has {} of this job in this time: others have the same --job",
                units::counted(*stored, "point", "points")
            ));
            true
        }
        Stored::Points(_) => {
            ui.info("all points are in the server");
            true
        }
        Stored::Unknown(why) => {
            ui.info(&format!(
                "accepted {}; the server cannot count them: {why}",
                units::counted(sent.accepted, "point", "points")
            ));
            true
        }
    };
    complete && sent.partial == 0
}

fn described(written: &Written) -> String {
    let moved = if written.moved == 0 {
        String::new()
    } else {
        format!(", {} to a free time", units::counted(written.moved, "was moved", "were moved"))
    };
    format!(
        "{} ({} of calls, {} of processes, {} of files, {} of findings{moved})",
        units::counted(written.points(), "point", "points"),
        units::count(written.calls.points),
        units::count(written.processes.points),
        units::count(written.files.points),
        units::count(written.findings.points),
    )
}
