//! A Parquet file of a trail, opened and verified: schema, row count, sizes that can be true.

use crate::cells::Cells;
use crate::checksums;
use crate::decode::{Chunk, ColumnCursor, Text};
use crate::error::TrailError;
use crate::footer;
use crate::guarded::guarded;
use crate::limits::MAX_GROUP_ROWS;
use crate::meta::{Table, TableFile};
use crate::schema::verify;
use crate::verified::VerifiedChunks;
use parquet::basic::Compression;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows that are decoded at a time only to see whether they can be.
const SLICE: usize = 1 << 13;

/// A verified file.
#[derive(Clone, Debug)]
pub(crate) struct ParquetFile {
    path: PathBuf,
    metadata: Arc<ParquetMetaData>,
    /// How many of the table's columns it has.
    columns: usize,
    bytes: u64,
    /// Of each chunk, by row group and column; files of older versions have none.
    checksums: Option<Arc<[u32]>>,
}

impl ParquetFile {
    pub(crate) fn open(path: &Path, table: Table) -> Result<Self, TrailError> {
        let file = open_regular(path)?;
        let bytes = file.metadata().map_err(TrailError::io("read", path))?.len();
        footer::examine(path, &file, bytes)?;
        let metadata =
            guarded(|| ParquetMetaDataReader::new().parse_and_finish(&file)).map(Arc::new).map_err(
                |why| TrailError::damaged(path, None, format!("it is not a readable Parquet file: {why}")),
            )?;
        let described = metadata.file_metadata();
        let columns = verify(path, table, described.schema().get_fields())?;
        let checksums = checksums::chunks(described.key_value_metadata()).map(Arc::from);
        let file = Self { path: path.to_owned(), metadata, columns, bytes, checksums };
        file.check_sizes()?;
        Ok(file)
    }

    /// Opens a file that `trail.json` lists.
    pub(crate) fn open_listed(directory: &Path, listed: &TableFile) -> Result<Self, TrailError> {
        Self::open_verified(directory, listed, false)
    }

    /// Opens a file that the `trail.json` lists to which recordings are just being added: of `cases` it may hold more rows, theirs.
    pub(crate) fn open_growing(directory: &Path, listed: &TableFile) -> Result<Self, TrailError> {
        Self::open_verified(directory, listed, listed.table == Table::Cases)
    }

    fn open_verified(directory: &Path, listed: &TableFile, may_grow: bool) -> Result<Self, TrailError> {
        let file = Self::open(&directory.join(&listed.file), listed.table)?;
        let found = file.rows();
        if may_grow && found > listed.rows {
            return Ok(file);
        }
        if found != listed.rows {
            let why = format!("it has {found} rows, trail.json says {}", listed.rows);
            return Err(TrailError::damaged(&file.path, None, why));
        }
        if let Some(expected) = listed.footer.as_deref()
            && file.footer() != Some(expected)
        {
            let found = file.footer().map_or("no checksum".to_owned(), |sum| format!("the checksum {sum}"));
            let why =
                format!("it is not the file that trail.json lists: its footer has {found}, not {expected}");
            return Err(TrailError::damaged(&file.path, None, why));
        }
        Ok(file)
    }

    fn footer(&self) -> Option<&str> {
        checksums::footer(self.metadata.file_metadata().key_value_metadata())
    }

    fn check_sizes(&self) -> Result<(), TrailError> {
        let columns: usize = self.metadata.row_groups().iter().map(|group| group.num_columns()).sum();
        if self.checksums.as_ref().is_some_and(|sums| sums.len() != columns) {
            return Err(TrailError::damaged(&self.path, None, "it has not one checksum for each column"));
        }
        for (number, group) in self.metadata.row_groups().iter().enumerate() {
            let damaged = |why: String| Err(TrailError::damaged(&self.path, Some(number), why));
            let rows = group.num_rows();
            if !(0..=MAX_GROUP_ROWS as i64).contains(&rows) {
                return damaged(format!("it declares {rows} rows, at most {MAX_GROUP_ROWS} are read"));
            }
            for column in group.columns() {
                let start = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
                let end = start.checked_add(column.compressed_size());
                let inside = start >= 0 && column.compressed_size() >= 0;
                if !inside || end.is_none_or(|end| end as u64 > self.bytes) {
                    let column = column.column_path().string();
                    return damaged(format!("column `{column}` lies outside of the file: the file was cut"));
                }
            }
        }
        Ok(())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }

    /// How many of the table's columns it has: the first ones. Each is one column of Parquet.
    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn column_bytes(&self, column: &str) -> u64 {
        let groups = self.metadata.row_groups().iter();
        let chunks =
            groups.flat_map(|group| group.columns()).filter(|chunk| chunk.column_path().string() == column);
        chunks.map(|chunk| chunk.compressed_size().max(0) as u64).sum()
    }

    pub(crate) fn row_groups(&self) -> usize {
        self.metadata.num_row_groups()
    }

    /// Rows by the row groups' own count.
    pub(crate) fn rows(&self) -> u64 {
        let groups = self.metadata.row_groups();
        groups.iter().map(|group| group.num_rows().max(0) as u64).sum()
    }

    pub(crate) fn group_rows(&self, row_group: usize) -> usize {
        self.metadata.row_group(row_group).num_rows().max(0) as usize
    }

    /// The verified bytes of columns of a row group.
    pub(crate) fn chunks(
        &self,
        file: &File,
        row_group: usize,
        columns: &[usize],
    ) -> Result<VerifiedChunks, TrailError> {
        let group = self.metadata.row_group(row_group);
        let first = row_group * group.num_columns();
        let checksums = self.checksums.as_ref().and_then(|sums| sums.get(first..first + group.num_columns()));
        VerifiedChunks::read(file, self.bytes, group, columns, checksums)
            .map_err(|why| TrailError::damaged(&self.path, Some(row_group), why))
    }

    /// The verified bytes of columns (by their places) of a row group.
    pub(crate) fn read_chunks(
        &self,
        row_group: usize,
        columns: impl IntoIterator<Item = usize>,
    ) -> Result<VerifiedChunks, TrailError> {
        let columns: Vec<usize> = columns.into_iter().collect();
        self.chunks(&open_regular(&self.path)?, row_group, &columns)
    }

    /// A column among `chunks`, if it is flat and compressed as this crate does it.
    pub(crate) fn chunk<'a>(
        &self,
        row_group: usize,
        column: usize,
        chunks: &'a VerifiedChunks,
    ) -> Option<Chunk<'a>> {
        let metadata = self.metadata.row_group(row_group).columns().get(column)?;
        let described = metadata.column_descr();
        let is_plain = described.max_rep_level() == 0 && described.max_def_level() <= 1;
        (is_plain && matches!(metadata.compression(), Compression::ZSTD(_))).then_some(Chunk {
            bytes: chunks.bytes(metadata)?,
            rows: self.group_rows(row_group),
            nullable: described.max_def_level() == 1,
        })
    }

    /// Reads everything and says whether it is what was written, as far as checksums tell it, else as far as it can be decoded.
    pub(crate) fn verify(&self) -> Result<(), TrailError> {
        for (number, group) in self.metadata.row_groups().iter().enumerate() {
            match &self.checksums {
                Some(_) => self.read_chunks(number, 0..group.num_columns()).map(drop)?,
                None => self.read(number, 0..self.columns, SLICE, |_| Ok(()))?,
            }
        }
        Ok(())
    }

    /// Decodes columns (by their places) of one row group and hands them on, at most `slice` rows at a time.
    pub(crate) fn read(
        &self,
        row_group: usize,
        columns: impl IntoIterator<Item = usize>,
        slice: usize,
        take: impl FnMut(&[Cells<Text>]) -> Result<(), String>,
    ) -> Result<(), TrailError> {
        let columns: Vec<usize> = columns.into_iter().collect();
        let chunks = self.read_chunks(row_group, columns.iter().copied())?;
        self.decode(row_group, chunks, columns, slice, take)
    }

    /// Decodes columns of one row group that are among `chunks`.
    pub(crate) fn decode(
        &self,
        row_group: usize,
        chunks: VerifiedChunks,
        columns: impl IntoIterator<Item = usize>,
        slice: usize,
        mut take: impl FnMut(&[Cells<Text>]) -> Result<(), String>,
    ) -> Result<(), TrailError> {
        guarded(|| {
            let mut columns = self.cursors(row_group, chunks, columns)?;
            let rows = self.group_rows(row_group);
            for first in (0..rows).step_by(slice.max(1)) {
                let wanted = slice.max(1).min(rows - first);
                let cells = columns.iter_mut().map(|(name, cursor)| {
                    let cells = cursor.read(wanted).map_err(|error| format!("column `{name}`: {error}"))?;
                    let found = first + cells.len();
                    if cells.len() == wanted { Ok(cells) } else { Err(other_rows(name, found, rows)) }
                });
                take(&cells.collect::<Result<Vec<_>, _>>()?)?;
            }
            columns.iter_mut().try_for_each(|(name, cursor)| match cursor.read(1) {
                Ok(rest) if rest.is_empty() => Ok(()),
                _ => Err(other_rows(name, rows + 1, rows)),
            })
        })
        .map_err(|why| TrailError::damaged(&self.path, Some(row_group), why))
    }

    /// Columns of a row group with their names.
    fn cursors(
        &self,
        row_group: usize,
        chunks: VerifiedChunks,
        columns: impl IntoIterator<Item = usize>,
    ) -> Result<Vec<(String, ColumnCursor)>, String> {
        let (group, chunks) = (self.metadata.row_group(row_group), Arc::new(chunks));
        let cursor = |column: usize| {
            let chunk = group.columns().get(column).ok_or("a column is missing")?;
            let name = chunk.column_path().string();
            let cursor = ColumnCursor::new(&chunks, chunk, self.group_rows(row_group));
            cursor.map_err(|error| format!("column `{name}`: {error}")).map(|cursor| (name, cursor))
        };
        columns.into_iter().map(cursor).collect()
    }
}

fn other_rows(column: &str, found: usize, rows: usize) -> String {
    format!(
        "column `{column}` has {found} rows{}, its footer says {rows}",
        if found > rows { " or more" } else { "" }
    )
}

/// Opens a file that is neither a link out of the trail nor a device that never ends.
pub(crate) fn open_regular(path: &Path) -> Result<File, TrailError> {
    let kind = path.symlink_metadata().map_err(TrailError::io("read", path))?.file_type();
    if !kind.is_file() {
        let what = if kind.is_symlink() { "a symbolic link" } else { "not a regular file" };
        return Err(TrailError::damaged(
            path,
            None,
            format!("it is {what}, a trail holds regular files only"),
        ));
    }
    File::open(path).map_err(TrailError::io("read", path))
}
