//! The small tables as Parquet: `cases`, `processes`, `files`, `sites`.

use crate::cells::Cells;
use crate::chunk_file::ChunkFile;
use crate::encode::CellWriter;
use crate::error::TrailError;
use crate::meta::{Table, Written};
use crate::schema::{ColumnSchema, schema};
use crate::sites::SiteRow;
use iotrail_model::{Case, FileRow, Nanos, Process, Timestamp};
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use std::path::Path;

/// Rows of a small table that are encoded at once; a divisor of those of a row group.
const BATCH_ROWS: usize = 4096;
/// Rows of a row group of a small table; bounds the memory of its encoder.
const GROUP_ROWS: usize = 1 << 16;

/// A row of a small table.
pub trait Row: Sized {
    /// The table.
    const TABLE: Table;

    /// The columns of some rows, as [`schema()`] has them.
    fn columns(rows: &[Self]) -> Vec<Cells<&str>>;
}

/// A file of a small table under construction.
pub(crate) struct TableWriter<R: Row> {
    file: ChunkFile,
    /// The columns of the row group.
    columns: Vec<CellWriter>,
    group_rows: usize,
    buffer: Vec<R>,
}

impl<R: Row> TableWriter<R> {
    pub(crate) fn create(path: &Path) -> std::result::Result<Self, TrailError> {
        Self::with_schema(path, &schema(R::TABLE))
    }

    /// A file with these columns, which the table's begin with.
    fn with_schema(path: &Path, columns: &[ColumnSchema]) -> std::result::Result<Self, TrailError> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            // Indices of pages lie behind the pages and have no checksums.
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_offset_index_disabled(true)
            .build();
        let file = ChunkFile::create(path, columns, properties)?;
        Ok(Self { file, columns: Vec::new(), group_rows: 0, buffer: Vec::new() })
    }

    pub(crate) fn push(&mut self, row: R) -> std::result::Result<(), TrailError> {
        self.buffer.push(row);
        if self.buffer.len() < BATCH_ROWS {
            return Ok(());
        }
        self.encode().map_err(TrailError::writing(self.file.path()))?;
        if self.group_rows < GROUP_ROWS { Ok(()) } else { self.write_group() }
    }

    fn encode(&mut self) -> Result<()> {
        if self.columns.is_empty() {
            let properties = self.file.properties();
            self.columns =
                self.file.columns().iter().map(|column| CellWriter::new(column, properties)).collect();
        }
        let cells = R::columns(&self.buffer);
        self.columns.iter_mut().zip(&cells).try_for_each(|(column, cells)| column.write(cells))?;
        self.group_rows += self.buffer.len();
        self.buffer.clear();
        Ok(())
    }

    fn write_group(&mut self) -> std::result::Result<(), TrailError> {
        let rows = std::mem::take(&mut self.group_rows);
        let mut columns = std::mem::take(&mut self.columns).into_iter();
        self.file.write_group(rows, |column, _| match columns.next() {
            Some(written) => written.finish(),
            None => Err(ParquetError::General(format!("the column `{}` was not written", column.name()))),
        })
    }

    /// Writes the footer.
    pub(crate) fn finish(mut self) -> std::result::Result<Written, TrailError> {
        if !self.buffer.is_empty() {
            self.encode().map_err(TrailError::writing(self.file.path()))?;
        }
        if self.group_rows > 0 {
            self.write_group()?;
        }
        self.file.finish()
    }
}

fn texts<'a>(values: impl Iterator<Item = &'a str>) -> Cells<&'a str> {
    Cells::Texts(values.map(Some).collect())
}

fn optional_texts<'a>(values: impl Iterator<Item = &'a Option<String>>) -> Cells<&'a str> {
    Cells::Texts(values.map(Option::as_deref).collect())
}

fn numbers<'a, N: Into<i64>>(values: impl Iterator<Item = N>) -> Cells<&'a str> {
    Cells::Numbers(values.map(|value| Some(value.into())).collect())
}

fn optional_numbers<'a, N: Into<i64>>(values: impl Iterator<Item = Option<N>>) -> Cells<&'a str> {
    Cells::Numbers(values.map(|value| value.map(Into::into)).collect())
}

/// Numbers of 64 bits without sign.
fn counts<'a>(values: impl Iterator<Item = Option<u64>>) -> Cells<&'a str> {
    Cells::Numbers(values.map(|value| value.map(|value| value as i64)).collect())
}

fn spans<'a>(values: impl Iterator<Item = Option<Nanos>>) -> Cells<&'a str> {
    Cells::Numbers(values.map(|span| span.map(|span| span.0)).collect())
}

fn times<'a>(values: impl Iterator<Item = Option<Timestamp>>) -> Cells<&'a str> {
    Cells::Numbers(values.map(|time| time.map(|time| time.0)).collect())
}

impl Row for Case {
    const TABLE: Table = Table::Cases;

    fn columns(rows: &[Self]) -> Vec<Cells<&str>> {
        vec![
            numbers(rows.iter().map(|row| row.id.0)),
            optional_texts(rows.iter().map(|row| &row.name.cid)),
            optional_texts(rows.iter().map(|row| &row.name.host)),
            optional_texts(rows.iter().map(|row| &row.name.rid)),
            optional_texts(rows.iter().map(|row| &row.label)),
            texts(rows.iter().map(|row| row.clock.name())),
            texts(rows.iter().map(|row| row.source.as_str())),
            Cells::Truths(rows.iter().map(|row| Some(row.interleaved)).collect()),
            spans(rows.iter().map(|row| Some(row.resolution.0).filter(|unit| unit.0 > 0))),
            optional_numbers(rows.iter().map(|row| row.numbered_with.map(|case| case.0))),
        ]
    }
}

impl Row for Process {
    const TABLE: Table = Table::Processes;

    fn columns(rows: &[Self]) -> Vec<Cells<&str>> {
        vec![
            numbers(rows.iter().map(|row| row.case.0)),
            numbers(rows.iter().map(|row| row.pid.0)),
            optional_numbers(rows.iter().map(|row| row.ppid.map(|pid| pid.0))),
            times(rows.iter().map(|row| row.start)),
            times(rows.iter().map(|row| row.end)),
            optional_numbers(rows.iter().map(|row| row.exit_code)),
            optional_texts(rows.iter().map(|row| &row.signal)),
            optional_texts(rows.iter().map(|row| &row.exe)),
            optional_texts(rows.iter().map(|row| &row.cmdline)),
            optional_texts(rows.iter().map(|row| &row.cwd)),
            numbers(rows.iter().map(|row| row.threads)),
            spans(rows.iter().map(|row| row.usage.user)),
            spans(rows.iter().map(|row| row.usage.system)),
            numbers(rows.iter().map(|row| row.bytes_read)),
            numbers(rows.iter().map(|row| row.bytes_written)),
            Cells::Lists(rows.iter().map(|row| row.env.iter().map(String::as_str).collect()).collect()),
            counts(rows.iter().map(|row| row.usage.minor_faults)),
            counts(rows.iter().map(|row| row.usage.major_faults)),
            counts(rows.iter().map(|row| row.usage.max_memory)),
            counts(rows.iter().map(|row| row.usage.storage_read)),
            counts(rows.iter().map(|row| row.usage.storage_written)),
            counts(rows.iter().map(|row| row.usage.voluntary_switches)),
            counts(rows.iter().map(|row| row.usage.involuntary_switches)),
            spans(rows.iter().map(|row| row.usage.io_delay)),
            Cells::Truths(rows.iter().map(|row| row.cmdline_cut).collect()),
        ]
    }
}

impl Row for FileRow {
    const TABLE: Table = Table::Files;

    fn columns(rows: &[Self]) -> Vec<Cells<&str>> {
        vec![
            texts(rows.iter().map(|row| &*row.path)),
            texts(rows.iter().map(|row| &*row.canonical)),
            optional_texts(rows.iter().map(|row| &row.kind)),
            counts(rows.iter().map(|row| row.device)),
            counts(rows.iter().map(|row| row.inode)),
            optional_numbers(rows.iter().map(|row| row.size)),
            optional_numbers(rows.iter().map(|row| row.file)),
            optional_numbers(rows.iter().map(|row| row.birth)),
            Cells::Truths(rows.iter().map(|row| row.gone).collect()),
            optional_numbers(rows.iter().map(|row| row.case.map(|case| case.0))),
        ]
    }
}

impl Row for SiteRow {
    const TABLE: Table = Table::Sites;

    fn columns(rows: &[Self]) -> Vec<Cells<&str>> {
        let source = || rows.iter().map(|row| &row.frame.source);
        vec![
            numbers(rows.iter().map(|row| row.site.0)),
            numbers(rows.iter().map(|row| row.place)),
            texts(rows.iter().map(|row| row.frame.module.as_str())),
            optional_texts(rows.iter().map(|row| &row.frame.build_id)),
            counts(rows.iter().map(|row| Some(row.frame.offset))),
            optional_texts(source().map(|source| &source.function)),
            optional_texts(source().map(|source| &source.file)),
            optional_numbers(source().map(|source| source.line)),
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
        let rows = [process(1), process(2)];
        write(&path, &rows, 16);
        assert_eq!(read_back(&path), rows);
        let shorter = directory.path().join("shorter.parquet");
        write(&shorter, &rows, 15);
        let error = ParquetFile::open(&shorter, Table::Processes).unwrap_err();
        assert!(error.to_string().contains("column `env` is missing"), "{error}");
    }

    /// Writes the first columns of processes.
    fn write(path: &Path, rows: &[Process], columns: usize) {
        let mut table = TableWriter::with_schema(path, &schema(Table::Processes)[..columns]).unwrap();
        rows.iter().for_each(|row| table.push(row.clone()).unwrap());
        table.finish().unwrap();
    }
}
