//! The small tables as Parquet: `cases`, `processes`, `files`.

use crate::error::TrailError;
use crate::meta::Table;
use crate::schema::schema;
use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{
    ArrayRef, BooleanArray, Int32Array, Int64Array, RecordBatch, StringArray, TimestampNanosecondArray,
    UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field};
use iotrail_model::{Case, FileRow, Process};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows of a small table that are encoded at once.
const BATCH_ROWS: usize = 4096;
/// Rows of a row group of a small table; bounds the memory of its encoder.
const GROUP_ROWS: usize = 1 << 16;

/// A row of a small table.
pub(crate) trait Row: Sized {
    const TABLE: Table;
    fn columns(rows: &[Self]) -> Vec<ArrayRef>;
}

/// A file of a small table under construction.
pub(crate) struct TableWriter<R: Row> {
    path: PathBuf,
    writer: ArrowWriter<File>,
    buffer: Vec<R>,
    rows: u64,
}

impl<R: Row> TableWriter<R> {
    pub(crate) fn create(path: &Path) -> Result<Self, TrailError> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .build();
        let file = File::create_new(path).map_err(TrailError::io("create", path))?;
        let writer = ArrowWriter::try_new(file, schema(R::TABLE), Some(properties))
            .map_err(TrailError::writing(path))?;
        Ok(Self { path: path.to_owned(), writer, buffer: Vec::new(), rows: 0 })
    }

    pub(crate) fn push(&mut self, row: R) -> Result<(), TrailError> {
        self.buffer.push(row);
        self.rows += 1;
        if self.buffer.len() >= BATCH_ROWS { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), TrailError> {
        let writing = TrailError::writing(&self.path);
        let batch = RecordBatch::try_new(schema(R::TABLE), R::columns(&self.buffer))
            .map_err(|error| writing(error.into()))?;
        self.buffer.clear();
        self.writer.write(&batch).map_err(writing)
    }

    /// Writes the footer; answers the number of rows.
    pub(crate) fn finish(mut self) -> Result<u64, TrailError> {
        self.flush()?;
        self.writer.close().map_err(TrailError::writing(&self.path))?;
        Ok(self.rows)
    }
}

fn texts<'a>(values: impl Iterator<Item = &'a str>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values))
}

fn optional_texts<'a>(values: impl Iterator<Item = &'a Option<String>>) -> ArrayRef {
    Arc::new(values.map(Option::as_deref).collect::<StringArray>())
}

impl Row for Case {
    const TABLE: Table = Table::Cases;

    fn columns(rows: &[Self]) -> Vec<ArrayRef> {
        vec![
            Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.id.0))),
            optional_texts(rows.iter().map(|row| &row.name.cid)),
            optional_texts(rows.iter().map(|row| &row.name.host)),
            optional_texts(rows.iter().map(|row| &row.name.rid)),
            optional_texts(rows.iter().map(|row| &row.label)),
            texts(rows.iter().map(|row| row.clock.name())),
            texts(rows.iter().map(|row| row.source.as_str())),
            Arc::new(rows.iter().map(|row| Some(row.interleaved)).collect::<BooleanArray>()),
        ]
    }
}

impl Row for Process {
    const TABLE: Table = Table::Processes;

    fn columns(rows: &[Self]) -> Vec<ArrayRef> {
        let time = |value: fn(&Self) -> Option<iotrail_model::Timestamp>| -> ArrayRef {
            let values: TimestampNanosecondArray =
                rows.iter().map(|row| value(row).map(|time| time.0)).collect();
            Arc::new(values.with_timezone("UTC"))
        };
        let item = Arc::new(Field::new("item", DataType::Utf8, false));
        let mut env = ListBuilder::new(StringBuilder::new()).with_field(item);
        for row in rows {
            row.env.iter().for_each(|variable| env.values().append_value(variable));
            env.append(true);
        }
        vec![
            Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.case.0))),
            Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.pid.0))),
            Arc::new(rows.iter().map(|row| row.ppid.map(|pid| pid.0)).collect::<UInt32Array>()),
            time(|row| row.start),
            time(|row| row.end),
            Arc::new(rows.iter().map(|row| row.exit_code).collect::<Int32Array>()),
            optional_texts(rows.iter().map(|row| &row.signal)),
            optional_texts(rows.iter().map(|row| &row.exe)),
            optional_texts(rows.iter().map(|row| &row.cmdline)),
            optional_texts(rows.iter().map(|row| &row.cwd)),
            Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.threads))),
            Arc::new(rows.iter().map(|row| row.usage.user.map(|span| span.0)).collect::<Int64Array>()),
            Arc::new(rows.iter().map(|row| row.usage.system.map(|span| span.0)).collect::<Int64Array>()),
            Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.bytes_read))),
            Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.bytes_written))),
            Arc::new(env.finish()),
        ]
    }
}

impl Row for FileRow {
    const TABLE: Table = Table::Files;

    fn columns(rows: &[Self]) -> Vec<ArrayRef> {
        vec![
            texts(rows.iter().map(|row| row.path.as_str())),
            texts(rows.iter().map(|row| row.canonical.as_str())),
            optional_texts(rows.iter().map(|row| &row.kind)),
            Arc::new(rows.iter().map(|row| row.device).collect::<UInt64Array>()),
            Arc::new(rows.iter().map(|row| row.inode).collect::<UInt64Array>()),
            Arc::new(rows.iter().map(|row| row.size).collect::<Int64Array>()),
        ]
    }
}
