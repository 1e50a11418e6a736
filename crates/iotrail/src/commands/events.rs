//! `iotrail events`: the events themselves.

use crate::rows::{OutputFormat, OutputFormatArgs, json_lines};
use crate::{args::query::Selection, logs, output, ui::Ui};
use iotrail_console::hints;
use iotrail_model::csv;
use iotrail_model::{Case, CellKind, Column, Event, Names, Nullable, Value, text::printable, units};
use iotrail_query::{ActivityId, Classified, Query, QuerySpec};
use iotrail_trail::{Columns, EventLog, POSITION_COLUMNS, Positions};
use std::borrow::Cow;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::LazyLock;

/// Print events.
///
/// As a table for reading, as CSV or as JSON lines.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  iotrail events run.trail --limit 20
  iotrail events run.trail --call 'read,pread*' --path '/etc/**' --csv > reads.csv
  iotrail events run.trail --failed --json | jq -r .path | sort | uniq -c

Columns are those of the table `events` (docs/trail-format.md), the case's cid, host, rid and label, and, of reads, writes and seeks, \
offset_before and offset_after.")]
pub(crate) struct Args {
    /// Trails or structures, read as one log.
    #[arg(required = true, value_name = "TRAIL")]
    trails: Vec<PathBuf>,

    /// Stop after N events.
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<u64>,

    #[command(flatten)]
    format: OutputFormatArgs,

    /// Write to a file instead of stdout.
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    output: PathBuf,

    #[command(flatten)]
    selection: Selection,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let format = args.format.format();
    let log = logs::open(&args.trails, ui)?;
    let mut select = args.selection.spec();
    if select.layer.is_empty() {
        // Nothing is added up here.
        select.layer.push("all".to_owned());
    }
    let spec = QuerySpec { map: Some("call".to_owned()), select, ..QuerySpec::default() };
    let query = Query::new(spec, &log)?;
    query.warnings().iter().for_each(|warning| ui.warn(&hints::of_warning(warning)));
    let limit = args.limit.unwrap_or(u64::MAX);
    let printed = output::stream(&args.output, |out| print(&log, &query, format, limit, out))?;
    if limit > 0 {
        query.check_selected(printed, &log)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn print(
    log: &EventLog,
    query: &Query,
    format: OutputFormat,
    limit: u64,
    out: &mut dyn Write,
) -> anyhow::Result<u64> {
    let mut classifier = query.worker();
    let mut classified = Classified::default();
    let positions = Positions::new(log.names());
    let mut printed = 0;
    writeln_header(format, out)?;
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
            let case = &log.cases()[event.case.index()];
            Record { case, names: log.names(), event: &event, positions: positions.of(&event) }
                .write(format, out)?;
            printed += 1;
        }
    }
    Ok(printed)
}

fn writeln_header(format: OutputFormat, out: &mut dyn Write) -> std::io::Result<()> {
    match format {
        OutputFormat::Csv => writeln!(out, "{}", COLUMNS.join(",")),
        OutputFormat::Table => writeln!(
            out,
            "{:<30} {:<16} {:>7} {:>9} {:>10} {:>12} {:<14} PATH",
            "START", "CASE", "TID", "DURATION", "SIZE", "OFFSET", "CALL"
        ),
        OutputFormat::Json => Ok(()),
    }
}

/// One event with its names: the columns of the table, those of its case behind `case_id`, and what follows from them.
struct Record<'a> {
    case: &'a Case,
    names: &'a Names,
    event: &'a Event,
    /// [`POSITION_COLUMNS`].
    positions: [Nullable<i64>; 2],
}

/// What stands in a field.
#[derive(serde::Serialize)]
#[serde(untagged)]
enum Field<'a> {
    Null,
    Int(i64),
    Count(u64),
    Text(Cow<'a, str>),
}

impl<'a> From<Option<&'a str>> for Field<'a> {
    fn from(text: Option<&'a str>) -> Self {
        text.map_or(Self::Null, |text| Self::Text(Cow::Borrowed(text)))
    }
}

impl Field<'_> {
    /// NULL is an empty cell, an empty text a quoted one.
    fn write_csv(&self, out: &mut dyn Write) -> std::io::Result<()> {
        match self {
            Self::Null => Ok(()),
            Self::Int(number) => write!(out, "{number}"),
            Self::Count(number) => write!(out, "{number}"),
            Self::Text(text) => out.write_all(csv::text(text).as_bytes()),
        }
    }
}

/// The names of the fields.
static COLUMNS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let of_case: &[&str] = &["cid", "host", "rid", "label"];
    let more = |kind| match kind {
        CellKind::Case => of_case,
        CellKind::Time => &["start_ns"],
        _ => &[],
    };
    let fields = |column: &'static Column| std::iter::once(&column.name).chain(more(column.kind));
    Event::COLUMNS.iter().flat_map(fields).copied().chain(POSITION_COLUMNS).collect()
});

impl<'a> Record<'a> {
    /// The fields, in the order of [`COLUMNS`].
    fn fields(&self) -> Vec<Field<'a>> {
        let mut fields = Vec::with_capacity(COLUMNS.len());
        for (column, value) in Event::COLUMNS.iter().zip(self.event.values()) {
            self.put(value, &mut fields);
            if column.kind == CellKind::Case {
                let name = &self.case.name;
                let of_case = [&name.cid, &name.host, &name.rid, &self.case.label];
                fields.extend(of_case.map(|text| Field::from(text.as_deref())));
            }
        }
        fields.extend(self.positions.map(|position| position.get().map_or(Field::Null, Field::Int)));
        fields
    }

    fn put(&self, value: Value, fields: &mut Vec<Field<'a>>) {
        let field = match value {
            Value::Null => Field::Null,
            Value::Int(number) => Field::Int(number),
            Value::Count(number) => Field::Count(number),
            Value::Layer(layer) => Field::from(Some(layer.name())),
            Value::Name(kind, id) => Field::from(Some(&*kind.texts(self.names)[id as usize])),
            // A trace without time stamps only tells the order.
            Value::Time(_) if !self.case.has_times() => {
                fields.push(Field::Null);
                Field::Null
            }
            Value::Time(time) => {
                fields.push(Field::Text(time.to_rfc3339().into()));
                Field::Int(time.0)
            }
        };
        fields.push(field);
    }

    fn write(&self, format: OutputFormat, out: &mut dyn Write) -> anyhow::Result<()> {
        match format {
            OutputFormat::Json => json_lines(std::iter::once(self), out)?,
            OutputFormat::Csv => {
                for (number, field) in self.fields().iter().enumerate() {
                    out.write_all(if number > 0 { b"," } else { b"" })?;
                    field.write_csv(out)?;
                }
                writeln!(out)?;
            }
            OutputFormat::Table => self.write_row(out)?,
        }
        Ok(())
    }

    fn write_row(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let Self { case, names, event, .. } = self;
        let number =
            |value: Nullable<i64>| value.get().map_or_else(|| "-".to_owned(), |value| value.to_string());
        let size = names.errno(event.errno).map_or_else(|| number(event.size), str::to_owned);
        write!(
            out,
            "{:<30} {:<16} {:>7} {:>9} {:>10} {:>12} {:<14} {}",
            if case.has_times() { event.start.to_rfc3339() } else { "-".to_owned() },
            printable(&case.name.to_string()),
            event.tid,
            event.dur.get().map_or_else(|| "-".to_owned(), |span| units::duration(span.0 as f64)),
            size,
            number(event.offset),
            names.call(event.call),
            printable(names.path(event.path).unwrap_or("-")),
        )?;
        match names.path(event.path2) {
            Some(second) => writeln!(out, " -> {}", printable(second)),
            None => writeln!(out),
        }
    }
}

impl serde::Serialize for Record<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(COLUMNS.iter().zip(self.fields()))
    }
}
