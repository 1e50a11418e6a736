//! JSON lines: one object for each row, NULL stated.

use super::cells::unique_names;
use crate::answer::Answer;
use crate::error::SqlError;
use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::arrow::json::writer::{LineDelimited, WriterBuilder};
use datafusion::arrow::record_batch::{RecordBatch, RecordBatchOptions};
use std::io::Write;
use std::sync::Arc;

pub(super) fn write(answer: &mut Answer, out: &mut dyn Write) -> Result<u64, SqlError> {
    let schema = with_unique_names(answer.schema());
    let builder = WriterBuilder::new().with_explicit_nulls(true);
    let mut rows = 0;
    while let Some(batch) = answer.next_batch()? {
        rows += batch.num_rows() as u64;
        let batch = renamed(&batch, &schema)?;
        let mut lines = Vec::new();
        let mut writer = builder.clone().build::<_, LineDelimited>(&mut lines);
        writer.write(&batch)?;
        writer.finish()?;
        drop(writer);
        // Here and not in the writer, so that it shows as the system's error that a reader went away.
        out.write_all(&lines)?;
    }
    Ok(rows)
}

/// The batch with other names of its columns.
pub(super) fn renamed(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, SqlError> {
    let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(Arc::clone(schema), batch.columns().to_vec(), &rows)?)
}

/// The schema with names that are told apart.
pub(super) fn with_unique_names(schema: &SchemaRef) -> SchemaRef {
    let names = unique_names(schema);
    let rename = |(field, name): (&Arc<Field>, String)| Field::clone(field).with_name(name);
    Arc::new(Schema::new(schema.fields().iter().zip(names).map(rename).collect::<Vec<_>>()))
}
