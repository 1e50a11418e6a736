//! Tables for reading.

use super::cells::{each_row, is_figure};
use crate::answer::Answer;
use crate::error::SqlError;
use iotrail_model::{text, units};
use iotrail_terminal::Style;
use iotrail_terminal::table::{Align, Table};
use std::io::Write;

pub(super) fn write(
    answer: &mut Answer,
    style: Style,
    shown: usize,
    out: &mut dyn Write,
) -> Result<u64, SqlError> {
    let fields = answer.schema().fields().clone();
    let mut table = fields.iter().fold(Table::new(), |table, field| {
        // Titles come from the query: as hostile as what stands below them.
        let title = text::printable(field.name());
        match is_figure(field.data_type()) {
            true => table.figures(&title, Align::Right),
            false => table.names(&title),
        }
    });
    let mut rows = 0;
    while let Some(batch) = answer.next_batch()? {
        let room = shown.saturating_sub(usize::try_from(rows).unwrap_or(usize::MAX));
        rows += batch.num_rows() as u64;
        each_row(&batch.slice(0, room.min(batch.num_rows())), |cells| -> Result<(), SqlError> {
            table.row(cells.into_iter().map(|cell| cell.map_or_else(|| "NULL".to_owned(), one_line)));
            Ok(())
        })?;
    }
    out.write_all(table.render(style).as_bytes())?;
    if rows > shown as u64 {
        let rest = units::count(rows - shown as u64);
        writeln!(
            out,
            "... and {rest} more rows: --rows N shows more, --csv, --json and --parquet write all"
        )?;
    }
    Ok(rows)
}

/// Command lines have NUL between their arguments; as a table they are for reading.
fn one_line(value: String) -> String {
    match value.contains('\0') {
        true => value.trim_end_matches('\0').replace('\0', " "),
        false => value,
    }
}
