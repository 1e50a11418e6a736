//! Row groups of `events` back into columns of ids.
//!
//! Columns that are stored as this crate stores them come straight from their pages ([`PageDecoder`]): names are looked up once per
//! entry of a row group's dictionary; rows then cost one look into a small table. All others come through the library, which reads
//! a row group in slices, so that what lies between the file and the ids stays in the cache.

mod bounded_pages;
mod column_cursor;
mod input;
mod page_decoder;
mod page_header;
mod validity;
mod values;

pub(crate) use column_cursor::{ColumnCursor, Text};
pub(crate) use page_decoder::{Chunk, PageDecoder};

use crate::cell;
use crate::cells::Cells;
use crate::columns::Columns;
use crate::error::TrailError;
use crate::parquet_file::ParquetFile;
use iotrail_model::nullable::Sentinel;
use iotrail_model::{EventBatch, NameKind, Nullable};

/// Where a name's id comes from.
pub(crate) trait NameTable {
    /// The id of `text`, `None` if it has none.
    fn id(&mut self, column: NameKind, text: &str) -> Option<u32>;
}

/// Rows that are decoded at a time.
const SLICE_ROWS: usize = 8192;

/// Decodes `columns` of one row group.
pub(crate) fn decode(
    file: &ParquetFile,
    row_group: usize,
    columns: Columns,
    names: &mut impl NameTable,
) -> Result<EventBatch, TrailError> {
    let mut batch = EventBatch::default();
    decode_into(&mut batch, &mut PageDecoder::default(), file, row_group, columns, names)?;
    Ok(batch)
}

/// Replaces the rows of `batch` by one row group and uses its memory again. After an error some of the rows are there.
pub(crate) fn decode_into(
    batch: &mut EventBatch,
    decoder: &mut PageDecoder,
    file: &ParquetFile,
    row_group: usize,
    columns: Columns,
    names: &mut impl NameTable,
) -> Result<(), TrailError> {
    batch.clear();
    let rows = file.group_rows(row_group);
    if columns == Columns::NONE {
        batch.len = rows;
        return Ok(());
    }
    // An older file lacks columns that were added at the end.
    let present: Columns = columns.indices().filter(|index| *index < file.columns()).collect();
    let chunks = file.read_chunks(row_group, present.indices())?;
    let is_foreign = |index: &usize| match file.chunk(row_group, *index, &chunks) {
        Some(chunk) => !cell::decode_pages(decoder, chunk, *index, batch, names),
        None => true,
    };
    let foreign: Columns = present.indices().filter(is_foreign).collect();
    if foreign != Columns::NONE {
        file.decode(row_group, chunks, foreign.indices(), SLICE_ROWS, |found| {
            append(batch, rows, found, foreign, names)
        })?;
    }
    cell::fill_absent(batch, columns, rows);
    Ok(())
}

/// Appends some of the `rows` rows of a row group.
fn append(
    batch: &mut EventBatch,
    rows: usize,
    found: &[Cells<Text>],
    columns: Columns,
    names: &mut impl NameTable,
) -> Result<(), String> {
    for (index, cells) in columns.indices().zip(found) {
        let name = Columns::NAMES[index];
        cell::decode(&Slice::new(cells, rows), index, batch, names)
            .map_err(|why| format!("column `{name}` {why}"))?;
    }
    Ok(())
}

pub(crate) fn lookup(
    names: &mut impl NameTable,
    column: NameKind,
) -> impl FnMut(&str) -> Result<u32, String> {
    move |text| {
        names.id(column, text).ok_or_else(|| {
            let table = match column {
                NameKind::Path => "the table `files`",
                NameKind::Call | NameKind::Errno | NameKind::Flags => "the totals of trail.json",
            };
            format!("has `{}`, which is not in {table}", iotrail_model::text::printable(text))
        })
    }
}

/// Some rows of one column.
pub(crate) struct Slice<'a> {
    cells: &'a Cells<Text>,
    /// Rows of the row group.
    rows: usize,
}

impl<'a> Slice<'a> {
    /// Rows of a row group of `rows` rows.
    pub(crate) const fn new(cells: &'a Cells<Text>, rows: usize) -> Self {
        Self { cells, rows }
    }

    pub(crate) fn required<T>(&self, column: &mut Vec<T>, make: impl Fn(i64) -> T) -> Result<(), String> {
        self.each(self.numbers()?, column, |value| value.map(&make).ok_or_else(null))
    }

    pub(crate) fn optional<T: Sentinel>(
        &self,
        column: &mut Vec<Nullable<T>>,
        make: impl Fn(i64) -> T,
    ) -> Result<(), String> {
        self.each(self.numbers()?, column, |value| {
            Ok(value.map(&make).map_or(Nullable::NULL, Nullable::some))
        })
    }

    pub(crate) fn names<T>(
        &self,
        column: &mut Vec<T>,
        mut id: impl FnMut(&str) -> Result<u32, String>,
        make: impl Fn(u32) -> T,
    ) -> Result<(), String> {
        self.each(self.texts()?, column, |text| id(text.as_ref().ok_or_else(null)?.as_str()).map(&make))
    }

    pub(crate) fn optional_names<T: Sentinel>(
        &self,
        column: &mut Vec<Nullable<T>>,
        mut id: impl FnMut(&str) -> Result<u32, String>,
        make: impl Fn(u32) -> T,
    ) -> Result<(), String> {
        self.each(self.texts()?, column, |text| match text {
            Some(text) => id(text.as_str()).map(|id| Nullable::some(make(id))),
            None => Ok(Nullable::NULL),
        })
    }

    fn numbers(&self) -> Result<&[Option<i64>], String> {
        match self.cells {
            Cells::Numbers(cells) => Ok(cells),
            _ => Err("is not a column of numbers".to_owned()),
        }
    }

    fn texts(&self) -> Result<&[Option<Text>], String> {
        match self.cells {
            Cells::Texts(cells) => Ok(cells),
            _ => Err("is not a column of names".to_owned()),
        }
    }

    fn each<C, T>(
        &self,
        cells: &[C],
        column: &mut Vec<T>,
        mut make: impl FnMut(&C) -> Result<T, String>,
    ) -> Result<(), String> {
        // Room for the whole row group at once, which costs no more than growing to it.
        column.reserve(self.rows.saturating_sub(column.len()));
        for cell in cells {
            column.push(make(cell)?);
        }
        Ok(())
    }
}

fn null() -> String {
    "has NULL".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meta::Table;
    use crate::own_names::OwnNames;
    use crate::planted::exchangeable_trail;

    /// All columns of a row group, as the library reads them.
    fn by_the_library(file: &ParquetFile, row_group: usize, names: &mut OwnNames) -> EventBatch {
        let mut batch = EventBatch::default();
        let rows = file.group_rows(row_group);
        file.read(row_group, Columns::ALL.indices(), 7, |found| {
            append(&mut batch, rows, found, Columns::ALL, names)
        })
        .unwrap();
        cell::fill_absent(&mut batch, Columns::ALL, rows);
        batch
    }

    #[test]
    fn the_library_reads_what_is_read_here_without_it() {
        let (_guard, path) = exchangeable_trail();
        let file = ParquetFile::open(&path.join("events-0000.parquet"), Table::Events).unwrap();
        let mut names = OwnNames::default();
        for row_group in 0..file.row_groups() {
            let chunks = file.read_chunks(row_group, Columns::ALL.indices()).unwrap();
            let (mut decoder, mut batch) = (PageDecoder::default(), EventBatch::default());
            for index in Columns::ALL.indices() {
                let chunk = file.chunk(row_group, index, &chunks).unwrap();
                let name = Columns::NAMES[index];
                assert!(cell::decode_pages(&mut decoder, chunk, index, &mut batch, &mut names), "{name}");
            }
            batch.len = file.group_rows(row_group);
            assert_eq!(batch, by_the_library(&file, row_group, &mut names));
        }
    }
}
