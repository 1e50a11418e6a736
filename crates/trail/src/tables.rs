//! The small tables as Parquet: `cases`, `processes`, `files`, `sites`.

use crate::checksums;
use crate::error::TrailError;
use crate::meta::{Table, Written};
use crate::schema::schema;
use crate::sites::SiteRow;
use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{
    ArrayRef, BooleanArray, Int32Array, Int64Array, RecordBatch, StringArray, TimestampNanosecondArray,
    UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field};
use iotrail_model::{Case, FileRow, Nanos, Process};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use std::fs::File;
use std::os::unix::fs::FileExt;
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
            // Indices of pages lie behind the pages and have no checksums.
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_offset_index_disabled(true)
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

    /// Writes the footer.
    pub(crate) fn finish(mut self) -> Result<Written, TrailError> {
        self.flush()?;
        let writing = TrailError::writing(&self.path);
        self.writer.flush().map_err(&writing)?;
        self.writer.sync().map_err(TrailError::io("write", &self.path))?;
        let chunks = self.checksums().map_err(TrailError::io("read", &self.path))?;
        self.writer.append_key_value_metadata(checksums::entry(&chunks));
        let mut file = self.writer.into_inner().map_err(writing)?;
        let footer = checksums::seal_footer(&mut file).map_err(TrailError::io("write", &self.path))?;
        Ok(Written { rows: self.rows, footer })
    }
}

impl<R: Row> TableWriter<R> {
    /// The checksums of all chunks, which the library has written.
    fn checksums(&self) -> std::io::Result<Vec<u32>> {
        let file = File::open(&self.path)?;
        let chunks = self.writer.flushed_row_groups().iter().flat_map(|group| group.columns());
        chunks
            .map(|chunk| {
                let (start, length) = chunk.byte_range();
                let mut bytes = vec![0; length as usize];
                file.read_exact_at(&mut bytes, start)?;
                Ok(checksums::of(&bytes))
            })
            .collect()
    }
}

fn texts<'a>(values: impl Iterator<Item = &'a str>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values))
}

fn optional_texts<'a>(values: impl Iterator<Item = &'a Option<String>>) -> ArrayRef {
    Arc::new(values.map(Option::as_deref).collect::<StringArray>())
}

fn numbers(values: impl Iterator<Item = Option<u64>>) -> ArrayRef {
    Arc::new(values.collect::<UInt64Array>())
}

fn spans(values: impl Iterator<Item = Option<Nanos>>) -> ArrayRef {
    Arc::new(values.map(|span| span.map(|span| span.0)).collect::<Int64Array>())
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
            spans(rows.iter().map(|row| Some(row.resolution.0).filter(|unit| unit.0 > 0))),
            Arc::new(rows.iter().map(|row| row.numbered_with.map(|case| case.0)).collect::<UInt32Array>()),
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
            spans(rows.iter().map(|row| row.usage.user)),
            spans(rows.iter().map(|row| row.usage.system)),
            Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.bytes_read))),
            Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.bytes_written))),
            Arc::new(env.finish()),
            numbers(rows.iter().map(|row| row.usage.minor_faults)),
            numbers(rows.iter().map(|row| row.usage.major_faults)),
            numbers(rows.iter().map(|row| row.usage.max_memory)),
            numbers(rows.iter().map(|row| row.usage.storage_read)),
            numbers(rows.iter().map(|row| row.usage.storage_written)),
            numbers(rows.iter().map(|row| row.usage.voluntary_switches)),
            numbers(rows.iter().map(|row| row.usage.involuntary_switches)),
            spans(rows.iter().map(|row| row.usage.io_delay)),
            Arc::new(rows.iter().map(|row| row.cmdline_cut).collect::<BooleanArray>()),
        ]
    }
}

impl Row for FileRow {
    const TABLE: Table = Table::Files;

    fn columns(rows: &[Self]) -> Vec<ArrayRef> {
        vec![
            texts(rows.iter().map(|row| &*row.path)),
            texts(rows.iter().map(|row| &*row.canonical)),
            optional_texts(rows.iter().map(|row| &row.kind)),
            numbers(rows.iter().map(|row| row.device)),
            numbers(rows.iter().map(|row| row.inode)),
            Arc::new(rows.iter().map(|row| row.size).collect::<Int64Array>()),
            Arc::new(rows.iter().map(|row| row.file).collect::<UInt32Array>()),
            Arc::new(rows.iter().map(|row| row.birth).collect::<Int64Array>()),
            Arc::new(rows.iter().map(|row| row.gone).collect::<BooleanArray>()),
            Arc::new(rows.iter().map(|row| row.case.map(|case| case.0)).collect::<UInt32Array>()),
        ]
    }
}

impl Row for SiteRow {
    const TABLE: Table = Table::Sites;

    fn columns(rows: &[Self]) -> Vec<ArrayRef> {
        let source = || rows.iter().map(|row| &row.frame.source);
        vec![
            Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.site.0))),
            Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.place))),
            texts(rows.iter().map(|row| row.frame.module.as_str())),
            optional_texts(rows.iter().map(|row| &row.frame.build_id)),
            Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.frame.offset))),
            optional_texts(source().map(|source| &source.function)),
            optional_texts(source().map(|source| &source.file)),
            Arc::new(source().map(|source| source.line).collect::<UInt32Array>()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parquet_file::ParquetFile;
    use crate::read_tables;
    use iotrail_model::{Pid, Usage};

    fn process(pid: u32) -> Process {
        Process { pid: Pid(pid), threads: 1, env: vec!["A=1".to_owned()], ..Process::default() }
    }

    fn read_back(path: &Path) -> Vec<Process> {
        read_tables::rows(&ParquetFile::open(path, Table::Processes).unwrap(), read_tables::process).unwrap()
    }

    #[test]
    fn what_a_process_used_comes_back_and_unknown_stays_unknown() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("processes-0000.parquet");
        let usage = Usage {
            user: Some(Nanos(1)),
            system: Some(Nanos(2)),
            minor_faults: Some(3),
            major_faults: Some(4),
            max_memory: Some(5),
            storage_read: Some(u64::MAX),
            storage_written: Some(7),
            voluntary_switches: Some(8),
            involuntary_switches: Some(9),
            io_delay: Some(Nanos(10)),
        };
        let rows = vec![Process { usage, ..process(1) }, process(2)];
        let mut table = TableWriter::create(&path).unwrap();
        rows.iter().for_each(|row| table.push(row.clone()).unwrap());
        table.finish().unwrap();
        assert_eq!(read_back(&path), rows);
    }

    #[test]
    fn tables_of_the_first_iotrail_lack_later_columns() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("processes-0000.parquet");
        let first: Vec<usize> = (0..16).collect();
        let rows = [process(1), process(2)];
        let batch = RecordBatch::try_new(schema(Table::Processes), Row::columns(&rows)).unwrap();
        let batch = batch.project(&first).unwrap();
        write(&path, &batch);
        assert_eq!(read_back(&path), rows);
        let shorter = directory.path().join("shorter.parquet");
        write(&shorter, &batch.project(&first[..15]).unwrap());
        let error = ParquetFile::open(&shorter, Table::Processes).unwrap_err();
        assert!(error.to_string().contains("column `env` is missing"), "{error}");
    }

    fn write(path: &Path, batch: &RecordBatch) {
        let file = File::create_new(path).unwrap();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
        writer.write(batch).unwrap();
        writer.close().unwrap();
    }
}
