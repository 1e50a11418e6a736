//! A Parquet file.

use super::json::{renamed, with_unique_names};
use crate::answer::Answer;
use crate::error::SqlError;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::errors::ParquetError;
use datafusion::parquet::file::properties::WriterProperties;
use std::io::Write;
use std::sync::Arc;

pub(super) fn write(answer: &mut Answer, out: &mut dyn Write) -> Result<u64, SqlError> {
    let schema = with_unique_names(answer.schema());
    let properties =
        WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
    // The library wants to own a target that can go to other threads, ours is borrowed: what it wrote is handed on after each batch.
    let mut writer =
        ArrowWriter::try_new(Vec::new(), Arc::clone(&schema), Some(properties)).map_err(encoding)?;
    let mut rows = 0;
    while let Some(batch) = answer.next_batch()? {
        rows += batch.num_rows() as u64;
        writer.write(&renamed(&batch, &schema)?).map_err(encoding)?;
        out.write_all(&std::mem::take(writer.inner_mut()))?;
    }
    out.write_all(&writer.into_inner().map_err(encoding)?)?;
    Ok(rows)
}

fn encoding(error: ParquetError) -> SqlError {
    SqlError::Query(Box::new(error.into()))
}
