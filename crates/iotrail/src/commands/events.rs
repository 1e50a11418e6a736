//! `iotrail events`: the events themselves.

use crate::rows::{Form, FormArgs, json_lines};
use crate::{args::query::Selection, output, ui::Ui};
use iotrail_draw::export::quoted_csv;
use iotrail_model::{Case, Event, Names, text::printable, units};
use iotrail_query::{ActivityId, Classified, Query, QuerySpec};
use iotrail_trail::{Columns, EventLog};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Print events, as a table for reading, as CSV or as JSON lines.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  iotrail events run.trail --limit 20
  iotrail events run.trail --call 'read,pread*' --path '/etc/**' --csv > reads.csv
  iotrail events run.trail --failed --json | jq -r .path | sort | uniq -c

Columns are those of the table `events` (docs/trail-format.md), and the case's cid, host, rid and label.")]
pub(crate) struct Args {
    /// Trails, read as one log.
    #[arg(required = true, value_name = "TRAIL")]
    trails: Vec<PathBuf>,

    #[command(flatten)]
    selection: Selection,

    /// Stop after so many events.
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<u64>,

    #[command(flatten)]
    form: FormArgs,

    /// Write to a file instead of stdout.
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    output: PathBuf,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let form = args.form.form();
    let log = EventLog::open(&args.trails)?;
    let spec =
        QuerySpec { map: Some("call".to_owned()), select: args.selection.spec(), ..QuerySpec::default() };
    let query = Query::new(spec, &log)?;
    let limit = args.limit.unwrap_or(u64::MAX);
    let printed = output::stream(&args.output, |out| print(&log, &query, form, limit, out))?;
    if printed == 0 && limit > 0 {
        ui.say(&format!("no events selected of {}", units::count(log.rows())));
    }
    Ok(ExitCode::SUCCESS)
}

fn print(log: &EventLog, query: &Query, form: Form, limit: u64, out: &mut dyn Write) -> anyhow::Result<u64> {
    let mut classifier = query.worker();
    let mut classified = Classified::default();
    let mut printed = 0;
    writeln_header(form, out)?;
    for row_group in 0..log.row_groups() {
        if printed >= limit {
            break;
        }
        let batch = log.read(row_group, Columns::ALL)?;
        classifier.classify(&batch, &mut classified);
        for (row, activity) in classified.activity.iter().enumerate() {
            if *activity == ActivityId::UNSELECTED {
                continue;
            }
            if printed >= limit {
                break;
            }
            let event = batch.event(row);
            let record = Record::new(&event, &log.cases()[event.case.index()], log.names());
            record.write(form, out)?;
            printed += 1;
        }
    }
    Ok(printed)
}

fn writeln_header(form: Form, out: &mut dyn Write) -> std::io::Result<()> {
    match form {
        Form::Csv => writeln!(out, "{}", Record::COLUMNS.join(",")),
        Form::Table => writeln!(
            out,
            "{:<30} {:<16} {:>7} {:>9} {:>10} {:>12} {:<14} PATH",
            "START", "CASE", "TID", "DURATION", "SIZE", "OFFSET", "CALL"
        ),
        Form::Json => Ok(()),
    }
}

/// One event with its names, in the order of the columns.
#[derive(serde::Serialize)]
struct Record<'a> {
    case_id: u32,
    cid: Option<&'a str>,
    host: Option<&'a str>,
    rid: Option<&'a str>,
    label: Option<&'a str>,
    seq: u64,
    pid: u32,
    tid: u32,
    layer: &'a str,
    call: &'a str,
    /// Unknown if the trace has no time stamps: `seq` tells the order.
    start: Option<String>,
    start_ns: Option<i64>,
    dur: Option<i64>,
    fd: Option<i32>,
    path: Option<&'a str>,
    path2: Option<&'a str>,
    offset: Option<i64>,
    requested: Option<i64>,
    size: Option<i64>,
    ret: Option<i64>,
    errno: Option<&'a str>,
    flags: Option<&'a str>,
    file: Option<u32>,
    file2: Option<u32>,
    open: Option<u32>,
    open2: Option<u32>,
    #[serde(skip)]
    case: &'a Case,
}

impl<'a> Record<'a> {
    const COLUMNS: [&'static str; 26] = [
        "case_id",
        "cid",
        "host",
        "rid",
        "label",
        "seq",
        "pid",
        "tid",
        "layer",
        "call",
        "start",
        "start_ns",
        "dur",
        "fd",
        "path",
        "path2",
        "offset",
        "requested",
        "size",
        "ret",
        "errno",
        "flags",
        "file",
        "file2",
        "open",
        "open2",
    ];

    fn new(event: &Event, case: &'a Case, names: &'a Names) -> Self {
        Self {
            case_id: event.case.0,
            cid: case.name.cid.as_deref(),
            host: case.name.host.as_deref(),
            rid: case.name.rid.as_deref(),
            label: case.label.as_deref(),
            seq: event.seq,
            pid: event.pid.0,
            tid: event.tid.0,
            layer: event.layer.name(),
            call: names.call(event.call),
            start: case.tells_time().then(|| event.start.to_rfc3339()),
            start_ns: case.tells_time().then_some(event.start.0),
            dur: event.dur.get().map(|span| span.0),
            fd: event.fd.get(),
            path: names.path(event.path),
            path2: names.path(event.path2),
            offset: event.offset.get(),
            requested: event.requested.get(),
            size: event.size.get(),
            ret: event.ret.get(),
            errno: names.errno(event.errno),
            flags: names.flags(event.flags),
            file: event.file.get().map(|file| file.0),
            file2: event.file2.get().map(|file| file.0),
            open: event.open.get().map(|open| open.0),
            open2: event.open2.get().map(|open| open.0),
            case,
        }
    }

    fn write(&self, form: Form, out: &mut dyn Write) -> anyhow::Result<()> {
        match form {
            Form::Json => json_lines(std::iter::once(self), out)?,
            Form::Csv => writeln!(out, "{}", self.csv_fields().join(","))?,
            Form::Table => self.write_row(out)?,
        }
        Ok(())
    }

    fn csv_fields(&self) -> [String; 26] {
        /// NULL is an empty cell, an empty text a quoted one.
        fn text(value: Option<&str>) -> String {
            match value {
                None => String::new(),
                Some("") => "\"\"".to_owned(),
                Some(value) => quoted_csv(value),
            }
        }
        fn number(value: Option<impl ToString>) -> String {
            value.map_or_else(String::new, |value| value.to_string())
        }
        [
            self.case_id.to_string(),
            text(self.cid),
            text(self.host),
            text(self.rid),
            text(self.label),
            self.seq.to_string(),
            self.pid.to_string(),
            self.tid.to_string(),
            self.layer.to_owned(),
            text(Some(self.call)),
            self.start.clone().unwrap_or_default(),
            number(self.start_ns),
            number(self.dur),
            number(self.fd),
            text(self.path),
            text(self.path2),
            number(self.offset),
            number(self.requested),
            number(self.size),
            number(self.ret),
            text(self.errno),
            text(self.flags),
            number(self.file),
            number(self.file2),
            number(self.open),
            number(self.open2),
        ]
    }

    fn write_row(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let size = match self.errno {
            Some(errno) => errno.to_owned(),
            None => self.size.map_or_else(|| "-".to_owned(), |size| size.to_string()),
        };
        write!(
            out,
            "{:<30} {:<16} {:>7} {:>9} {:>10} {:>12} {:<14} {}",
            self.start.as_deref().unwrap_or("-"),
            printable(&self.case.name.to_string()),
            self.tid,
            self.dur.map_or_else(|| "-".to_owned(), |span| units::duration(span as f64)),
            size,
            self.offset.map_or_else(|| "-".to_owned(), |offset| offset.to_string()),
            self.call,
            printable(self.path.unwrap_or("-")),
        )?;
        match self.path2 {
            Some(second) => writeln!(out, " -> {}", printable(second)),
            None => writeln!(out),
        }
    }
}
