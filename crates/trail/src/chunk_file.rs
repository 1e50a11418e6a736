//! A Parquet file of a table under construction: encoded columns in, row groups with their checksums out.

use crate::checksums;
use crate::encode::EncodedChunk;
use crate::error::TrailError;
use crate::meta::Written;
use crate::parquet_file::ParquetFile;
use crate::schema::{ColumnSchema, parquet_schema};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::Result;
use parquet::file::properties::{WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnDescPtr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) struct ChunkFile {
    path: PathBuf,
    writer: SerializedFileWriter<File>,
    rows: u64,
    /// Checksums of the chunks so far.
    checksums: Vec<u32>,
}

impl ChunkFile {
    pub(crate) fn create(
        path: &Path,
        columns: &[ColumnSchema],
        properties: WriterProperties,
    ) -> std::result::Result<Self, TrailError> {
        let file = File::create_new(path).map_err(TrailError::io("create", path))?;
        let writer = parquet_schema(columns)
            .and_then(|schema| SerializedFileWriter::new(file, schema, Arc::new(properties)))
            .map_err(TrailError::writing(path))?;
        Ok(Self { path: path.to_owned(), writer, rows: 0, checksums: Vec::new() })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn columns(&self) -> &[ColumnDescPtr] {
        self.writer.schema_descr().columns()
    }

    pub(crate) fn properties(&self) -> &WriterPropertiesPtr {
        self.writer.properties()
    }

    /// Writes a row group of so many rows, of which `encode` makes the column at each place.
    pub(crate) fn write_group(
        &mut self,
        rows: usize,
        encode: impl FnMut(&ColumnDescPtr, usize) -> Result<EncodedChunk>,
    ) -> std::result::Result<(), TrailError> {
        self.rows += rows as u64;
        self.write_chunks(encode).map_err(TrailError::writing(&self.path))
    }

    fn write_chunks(
        &mut self,
        mut encode: impl FnMut(&ColumnDescPtr, usize) -> Result<EncodedChunk>,
    ) -> Result<()> {
        let columns = self.columns().to_vec();
        let mut group = self.writer.next_row_group()?;
        for (index, column) in columns.iter().enumerate() {
            let chunk = encode(column, index)?;
            self.checksums.push(checksums::of(&chunk.bytes));
            group.append_column(&chunk.bytes, chunk.close)?;
        }
        group.close()?;
        Ok(())
    }

    /// Copies a row group byte for byte from a file of the same schema.
    pub(crate) fn copy(
        &mut self,
        source: &ParquetFile,
        row_group: usize,
    ) -> std::result::Result<(), TrailError> {
        let file = File::open(source.path()).map_err(TrailError::io("read", source.path()))?;
        let writing = TrailError::writing(&self.path);
        let metadata = source.metadata().row_group(row_group);
        self.rows += source.group_rows(row_group) as u64;
        let mut group = self.writer.next_row_group().map_err(&writing)?;
        let chunks: Vec<usize> = (0..metadata.num_columns()).collect();
        let chunks = source.chunks(&file, row_group, &chunks)?;
        for column in metadata.columns() {
            let close = ColumnCloseResult {
                bytes_written: column.compressed_size().max(0) as u64,
                rows_written: source.group_rows(row_group) as u64,
                metadata: column.clone(),
                bloom_filter: None,
                column_index: None,
                offset_index: None,
            };
            self.checksums.push(chunks.checksum(column));
            group.append_column(&chunks, close).map_err(&writing)?;
        }
        group.close().map_err(&writing)?;
        Ok(())
    }

    /// Writes the footer.
    pub(crate) fn finish(mut self) -> std::result::Result<Written, TrailError> {
        self.writer.append_key_value_metadata(checksums::entry(&self.checksums));
        let mut file = self.writer.into_inner().map_err(TrailError::writing(&self.path))?;
        let footer = checksums::seal_footer(&mut file).map_err(TrailError::io("write", &self.path))?;
        Ok(Written { rows: self.rows, footer })
    }
}
