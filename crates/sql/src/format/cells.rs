//! Values as text, and names of columns that are told apart.

use crate::error::SqlError;
use datafusion::arrow::array::Array;
use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use std::collections::HashSet;

/// Names of columns; a second `pid` is `pid_2`, so that no value hides another.
pub(super) fn unique_names(schema: &Schema) -> Vec<String> {
    let mut taken: HashSet<String> = HashSet::new();
    let mut names = Vec::new();
    for field in schema.fields() {
        let mut name = field.name().clone();
        let mut number = 2;
        while !taken.insert(name.clone()) {
            name = format!("{}_{number}", field.name());
            number += 1;
        }
        names.push(name);
    }
    names
}

/// Calls `row` with the texts of each row, `None` for NULL.
pub(super) fn each_row<E: From<SqlError>>(
    batch: &RecordBatch,
    mut row: impl FnMut(Vec<Option<String>>) -> Result<(), E>,
) -> Result<(), E> {
    let options = FormatOptions::default();
    let formatters = batch.columns().iter().map(|column| ArrayFormatter::try_new(column, &options));
    let formatters = formatters.collect::<Result<Vec<_>, _>>().map_err(SqlError::from)?;
    for index in 0..batch.num_rows() {
        let cell =
            |(column, formatter): (&datafusion::arrow::array::ArrayRef, &ArrayFormatter<'_>)| match column
                .logical_nulls()
                .is_some_and(|nulls| nulls.is_null(index))
            {
                true => Ok(None),
                false => formatter.value(index).try_to_string().map(Some),
            };
        let cells = batch.columns().iter().zip(&formatters).map(cell);
        row(cells.collect::<Result<Vec<_>, _>>().map_err(SqlError::from)?)?;
    }
    Ok(())
}

/// Whether values are figures, which stand at the right.
pub(super) fn is_figure(kind: &DataType) -> bool {
    kind.is_numeric()
}
