//! Comma-separated values.

use super::cells::{each_row, unique_names};
use crate::answer::Answer;
use crate::error::SqlError;
use iotrail_model::csv;
use std::io::Write;

pub(super) fn write(answer: &mut Answer, out: &mut dyn Write) -> Result<u64, SqlError> {
    let names = unique_names(answer.schema());
    out.write_all(csv::line(names.iter().map(|name| csv::text(name))).as_bytes())?;
    let mut rows = 0;
    while let Some(batch) = answer.next_batch()? {
        rows += batch.num_rows() as u64;
        each_row(&batch, |cells| {
            let cells = cells.into_iter().map(|cell| csv::text_or_null(cell.as_deref()));
            out.write_all(csv::line(cells).as_bytes()).map_err(SqlError::from)
        })?;
    }
    Ok(rows)
}
