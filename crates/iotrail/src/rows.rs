//! The small tables of a trail as CSV and JSON lines: one serializable record a row.

use crate::{output, ui::Ui};
use iotrail_model::csv;
use iotrail_terminal::table::Table;
use iotrail_terminal::{incomplete, limitation_of_figures};
use iotrail_trail::EventLog;
use serde::Serialize;
use serde_json::Value;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// How rows are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputFormat {
    /// For reading.
    Table,
    /// Comma-separated values with a header line.
    Csv,
    /// One object a line.
    Json,
}

/// The choice between the forms.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct OutputFormatArgs {
    /// JSON lines: one object for each row.
    #[arg(long, conflicts_with = "csv")]
    json: bool,

    /// Comma-separated values with a header line.
    #[arg(long)]
    csv: bool,
}

impl OutputFormatArgs {
    pub(crate) fn format(self) -> OutputFormat {
        match (self.json, self.csv) {
            (true, _) => OutputFormat::Json,
            (_, true) => OutputFormat::Csv,
            _ => OutputFormat::Table,
        }
    }
}

/// What the commands that print a small table have in common.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct TableArgs {
    /// Trails or structures, read as one log.
    #[arg(required = true, value_name = "TRAIL")]
    pub(crate) trails: Vec<PathBuf>,

    #[command(flatten)]
    format: OutputFormatArgs,

    /// Write to a file instead of stdout.
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    output: PathBuf,
}

impl TableArgs {
    /// Prints rows in the form that was asked for; `table` is what people read.
    pub(crate) fn print(
        &self,
        columns: &[&str],
        rows: impl Iterator<Item: Serialize>,
        table: impl FnOnce() -> Table,
        (log, ui): (&EventLog, &Ui),
    ) -> anyhow::Result<ExitCode> {
        self.print_text(columns, rows, || table().render(ui.style()), (log, ui))
    }

    /// The same where people read more than a table.
    pub(crate) fn print_text(
        &self,
        columns: &[&str],
        rows: impl Iterator<Item: Serialize>,
        text: impl FnOnce() -> String,
        (log, ui): (&EventLog, &Ui),
    ) -> anyhow::Result<ExitCode> {
        let missing = log.missing_events();
        let format = self.format.format();
        if format != OutputFormat::Table {
            missing.iter().for_each(|row| ui.warn(&limitation_of_figures(row)));
        }
        match format {
            OutputFormat::Json => output::stream(&self.output, |out| json_lines(rows, out)),
            OutputFormat::Csv => output::stream(&self.output, |out| csv_lines(columns, rows, out)),
            OutputFormat::Table => output::text(&self.output, incomplete(&missing, ui.style()) + &text()),
        }?;
        Ok(ExitCode::SUCCESS)
    }
}

/// What was done to a file, or through an open file description, as columns of CSV (`stats::FileUse`).
pub(crate) const COLUMNS_OF_USE: [&str; 24] = [
    "calls",
    "failures",
    "opens",
    "reads",
    "writes",
    "bytes_read",
    "bytes_written",
    "io_ns",
    "data_ns",
    "sync_ns",
    "metadata_ns",
    "wait_ns",
    "request_ns",
    "consecutive",
    "sequential",
    "random",
    "common_size",
    "common_share",
    "unique_read",
    "unique_written",
    "reread",
    "overwritten",
    "processes",
    "ranks",
];

/// Writes records as JSON lines.
pub(crate) fn json_lines(rows: impl Iterator<Item: Serialize>, out: &mut dyn Write) -> anyhow::Result<()> {
    for row in rows {
        // As the system's error: that the reader went away shows only there.
        serde_json::to_writer(&mut *out, &row).map_err(std::io::Error::from)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// Writes `columns` of records as CSV. A list is its items with `;`; words have blanks between them, since few programs read a cell
/// with NUL in it.
pub(crate) fn csv_lines(
    columns: &[&str],
    rows: impl Iterator<Item: Serialize>,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    out.write_all(csv::line(columns).as_bytes())?;
    for row in rows {
        let row = serde_json::to_value(&row)?;
        out.write_all(csv::line(columns.iter().map(|column| cell(&row[*column]))).as_bytes())?;
    }
    Ok(())
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        // Words of a command line.
        Value::String(text) => csv::text(&text.replace('\0', " ")),
        Value::Array(items) => {
            let texts: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            csv::text(&texts.join(";"))
        }
        other => other.to_string(),
    }
}
