//! Answers as tables for reading, as CSV, as JSON lines, as Parquet.

mod cells;
mod csv;
mod json;
mod parquet;
mod table;

use crate::answer::Answer;
use crate::error::SqlError;
use iotrail_terminal::Style;
use std::io::Write;
use std::path::Path;

/// How an answer is written.
#[derive(Clone, Copy, Debug)]
pub enum OutputFormat {
    /// For reading: at most so many rows, the rest is counted.
    Table {
        /// What the terminal can do.
        style: Style,
        /// Rows that are shown.
        rows: usize,
    },
    /// Comma-separated values with a header line: NULL is an empty cell, an empty text a quoted one.
    Csv,
    /// One object for each row.
    Json,
    /// A Parquet file.
    Parquet,
}

impl OutputFormat {
    /// The form that a file's name asks for; `None` if it asks for none of these.
    #[must_use]
    pub fn of_file(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "csv" => Some(Self::Csv),
            "json" | "jsonl" | "ndjson" => Some(Self::Json),
            "parquet" => Some(Self::Parquet),
            _ => None,
        }
    }

    /// Writes all rows of an answer and says how many there were.
    ///
    /// # Errors
    /// If the statement fails, is interrupted, or the rows cannot be written.
    pub fn write(self, answer: &mut Answer, out: &mut dyn Write) -> Result<u64, SqlError> {
        match self {
            Self::Table { style, rows } => table::write(answer, style, rows, out),
            Self::Csv => csv::write(answer, out),
            Self::Json => json::write(answer, out),
            Self::Parquet => parquet::write(answer, out),
        }
    }
}
