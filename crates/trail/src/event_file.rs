//! One file of the table `events` under construction: sorted rows in, row groups out.

use crate::error::TrailError;
use crate::meta::Table;
use crate::own_names::{NameColumn, OwnNames};
use crate::schema::schema;
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Int32Array, Int64Array, RecordBatch, StringArray, TimestampNanosecondArray,
    UInt32Array, UInt64Array,
};
use iotrail_model::nullable::Sentinel;
use iotrail_model::{EventBatch, Layer, Nullable};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::SortingColumn;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) struct EventFile {
    path: PathBuf,
    writer: ArrowWriter<File>,
    rows: u64,
}

impl EventFile {
    pub(crate) fn create(path: &Path) -> Result<Self, TrailError> {
        let sorted_by = |column_idx| SortingColumn { column_idx, descending: false, nulls_first: false };
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_sorting_columns(Some([0, 6, 1].into_iter().map(sorted_by).collect()))
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_max_row_group_row_count(None)
            .build();
        let file = File::create_new(path).map_err(TrailError::io("create", path))?;
        let writer = ArrowWriter::try_new(file, schema(Table::Events), Some(properties))
            .map_err(TrailError::writing(path))?;
        Ok(Self { path: path.to_owned(), writer, rows: 0 })
    }

    /// Writes rows of a sorted batch as one row group.
    pub(crate) fn write(
        &mut self,
        batch: &EventBatch,
        rows: Range<usize>,
        names: &OwnNames,
    ) -> Result<(), TrailError> {
        let writing = TrailError::writing(&self.path);
        self.rows += rows.len() as u64;
        let batch = record_batch(batch, rows, names).map_err(|error| writing(error.into()))?;
        self.writer.write(&batch).map_err(&writing)?;
        self.writer.flush().map_err(&writing)
    }

    /// Writes the footer; answers the number of rows.
    pub(crate) fn finish(self) -> Result<u64, TrailError> {
        let writing = TrailError::writing(&self.path);
        let file = self.writer.into_inner().map_err(writing)?;
        file.sync_all().map_err(TrailError::io("write", &self.path))?;
        Ok(self.rows)
    }
}

fn integers<T: Copy + Sentinel>(column: &[Nullable<T>]) -> impl Iterator<Item = Option<T>> {
    column.iter().map(|value| value.get())
}

fn texts<'a>(keys: impl Iterator<Item = Option<u32>>, column: NameColumn, names: &'a OwnNames) -> ArrayRef {
    let dictionary = names.column(column);
    let values: StringArray = dictionary.iter().map(|text| std::str::from_utf8(text).ok()).collect();
    let keys: Int32Array = keys.map(|key| key.map(|key| key as i32)).collect();
    Arc::new(DictionaryArray::<Int32Type>::new(keys, Arc::new(values)))
}

fn record_batch(
    b: &EventBatch,
    rows: Range<usize>,
    names: &OwnNames,
) -> Result<RecordBatch, arrow_schema::ArrowError> {
    let r = || rows.clone();
    let layers = StringArray::from_iter_values(Layer::ALL.iter().map(|layer| layer.name()));
    let layer_keys = Int32Array::from_iter_values(b.layer[r()].iter().map(|layer| *layer as i32));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(UInt32Array::from_iter_values(b.case[r()].iter().map(|id| id.0))),
        Arc::new(UInt64Array::from_iter_values(b.seq[r()].iter().copied())),
        Arc::new(UInt32Array::from_iter_values(b.pid[r()].iter().map(|id| id.0))),
        Arc::new(UInt32Array::from_iter_values(b.tid[r()].iter().map(|id| id.0))),
        Arc::new(DictionaryArray::<Int32Type>::new(layer_keys, Arc::new(layers))),
        texts(b.call[r()].iter().map(|id| Some(id.0)), NameColumn::Call, names),
        Arc::new(
            TimestampNanosecondArray::from_iter_values(b.start[r()].iter().map(|t| t.0)).with_timezone("UTC"),
        ),
        Arc::new(integers(&b.dur[r()]).map(|dur| dur.map(|dur| dur.0)).collect::<Int64Array>()),
        Arc::new(integers(&b.fd[r()]).collect::<Int32Array>()),
        texts(integers(&b.path[r()]).map(|id| id.map(|id| id.0)), NameColumn::Path, names),
        texts(integers(&b.path2[r()]).map(|id| id.map(|id| id.0)), NameColumn::Path, names),
        Arc::new(integers(&b.offset[r()]).collect::<Int64Array>()),
        Arc::new(integers(&b.requested[r()]).collect::<Int64Array>()),
        Arc::new(integers(&b.size[r()]).collect::<Int64Array>()),
        Arc::new(integers(&b.ret[r()]).collect::<Int64Array>()),
        texts(integers(&b.errno[r()]).map(|id| id.map(|id| id.0)), NameColumn::Errno, names),
        texts(integers(&b.flags[r()]).map(|id| id.map(|id| id.0)), NameColumn::Flags, names),
    ];
    RecordBatch::try_new(schema(Table::Events), columns)
}
