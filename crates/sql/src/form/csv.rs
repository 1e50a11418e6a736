//! Comma-separated values.

use super::cells::{each_row, unique_names};
use crate::answer::Answer;
use crate::error::SqlError;
use iotrail_draw::export::quoted_csv;
use std::io::Write;

pub(super) fn write(answer: &mut Answer, out: &mut dyn Write) -> Result<u64, SqlError> {
    let header: Vec<String> = unique_names(answer.schema()).iter().map(|name| quoted_csv(name)).collect();
    writeln!(out, "{}", header.join(","))?;
    let mut rows = 0;
    while let Some(batch) = answer.next_batch()? {
        rows += batch.num_rows() as u64;
        each_row(&batch, |cells| {
            let cells: Vec<String> = cells.into_iter().map(cell).collect();
            writeln!(out, "{}", cells.join(",")).map_err(SqlError::from)
        })?;
    }
    Ok(rows)
}

/// NULL is an empty cell, an empty text a quoted one.
fn cell(value: Option<String>) -> String {
    match value {
        None => String::new(),
        Some(text) if text.is_empty() => "\"\"".to_owned(),
        Some(text) => quoted_csv(&text),
    }
}
