//! Row groups of `events` back into columns of ids.
//!
//! Names are looked up once per entry of a row group's dictionary; rows then cost one look into a small table. Columns that are
//! stored as this crate stores them come straight from their pages ([`PageDecoder`]), all others through the library.
//!
//! There a row group is read in slices, so that what lies between the file and the ids stays in the cache and in memory that
//! the allocator has at hand: arrays of a whole row group went back to the kernel each time.

mod input;
mod page_decoder;
mod page_header;
mod validity;
mod values;

pub(crate) use page_decoder::{Chunk, PageDecoder};

use crate::cell;
use crate::columns::Columns;
use crate::error::TrailError;
use crate::parquet_file::ParquetFile;
use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Int32Type};
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray};
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
    let there = file.metadata().schema().fields().len();
    let present: Columns = columns.indices().filter(|index| *index < there).collect();
    let chunks = file.read_chunks(row_group, present.indices())?;
    let is_foreign = |index: &usize| match file.chunk(row_group, *index, &chunks) {
        Some(chunk) => !cell::decode_pages(decoder, chunk, *index, batch, names),
        None => true,
    };
    let foreign: Columns = present.indices().filter(is_foreign).collect();
    if foreign != Columns::NONE {
        let mut target = Target { batch, rows, dictionaries: Default::default() };
        file.decode(row_group, chunks, foreign.indices(), SLICE_ROWS, |record| {
            target.append(record, foreign, names)
        })?;
    }
    cell::fill_absent(batch, columns, rows);
    Ok(())
}

/// A batch that is being filled.
struct Target<'a> {
    batch: &'a mut EventBatch,
    /// How many rows it will have.
    rows: usize,
    /// By place of the column.
    dictionaries: [Dictionary; Columns::NAMES.len()],
}

impl Target<'_> {
    fn append(
        &mut self,
        record: &RecordBatch,
        columns: Columns,
        names: &mut impl NameTable,
    ) -> Result<(), String> {
        for (index, array) in columns.indices().zip(record.columns()) {
            let name = Columns::NAMES[index];
            self.append_column(index, array, names).map_err(|why| format!("column `{name}` {why}"))?;
        }
        Ok(())
    }

    fn append_column(
        &mut self,
        index: usize,
        array: &ArrayRef,
        names: &mut impl NameTable,
    ) -> Result<(), String> {
        let Self { batch, rows, dictionaries } = self;
        let slice = Slice::new(array, *rows);
        cell::decode(&slice, index, batch, &mut dictionaries[index], names)
    }
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

/// The latest dictionary of a column and the ids of its entries. The slices of a row group mostly share one.
#[derive(Default)]
pub(crate) struct Dictionary {
    texts: Option<StringArray>,
    ids: Vec<u32>,
}

impl Dictionary {
    /// The id of each entry.
    fn ids(
        &mut self,
        texts: &StringArray,
        mut id: impl FnMut(&str) -> Result<u32, String>,
    ) -> Result<&[u32], String> {
        // The dictionary is held, so no other one can come to lie at its place.
        if !self.texts.as_ref().is_some_and(|known| is_same(known, texts)) {
            self.texts = None;
            self.ids.clear();
            // Which entries rows refer to is not known yet, but files of this format have no others.
            for text in texts {
                self.ids.push(id(text.unwrap_or_default())?);
            }
            self.texts = Some(texts.clone());
        }
        Ok(&self.ids)
    }
}

/// Whether both are the same memory.
fn is_same(one: &StringArray, other: &StringArray) -> bool {
    one.value_offsets().as_ptr() == other.value_offsets().as_ptr()
        && one.len() == other.len()
        && one.values().as_ptr() == other.values().as_ptr()
        && one.null_count() == other.null_count()
}

/// Some rows of one column.
pub(crate) struct Slice<'a> {
    array: &'a ArrayRef,
    /// Rows of the row group.
    rows: usize,
}

impl<'a> Slice<'a> {
    /// Rows of a row group of `rows` rows.
    pub(crate) const fn new(array: &'a ArrayRef, rows: usize) -> Self {
        Self { array, rows }
    }

    pub(crate) fn required<P: ArrowPrimitiveType, T>(
        &self,
        column: &mut Vec<T>,
        make: impl Fn(P::Native) -> T,
    ) -> Result<(), String> {
        let array = self.array.as_primitive_opt::<P>().ok_or_else(|| wrong_type(self.array))?;
        self.reserve(column);
        column.extend(array.values().iter().map(|value| make(*value)));
        Ok(())
    }

    pub(crate) fn optional<P: ArrowPrimitiveType, T: Sentinel>(
        &self,
        column: &mut Vec<Nullable<T>>,
        make: impl Fn(P::Native) -> T,
    ) -> Result<(), String> {
        let from = column.len();
        self.required::<P, _>(column, |value| Nullable::some(make(value)))?;
        put_nulls(&mut column[from..], self.array, Nullable::NULL);
        Ok(())
    }

    pub(crate) fn optional_names<T: Sentinel>(
        &self,
        column: &mut Vec<Nullable<T>>,
        known: &mut Dictionary,
        id: impl FnMut(&str) -> Result<u32, String>,
        make: impl Fn(u32) -> T,
    ) -> Result<(), String> {
        self.names(column, known, id, |id| Nullable::some(make(id)), Some(Nullable::NULL))
    }

    /// `id` for each entry of the dictionary, then a look per row.
    pub(crate) fn names<T: Copy>(
        &self,
        column: &mut Vec<T>,
        known: &mut Dictionary,
        id: impl FnMut(&str) -> Result<u32, String>,
        make: impl Fn(u32) -> T,
        null: Option<T>,
    ) -> Result<(), String> {
        let array = self.array.as_dictionary_opt::<Int32Type>().ok_or_else(|| wrong_type(self.array))?;
        let values = array.values();
        let ids = known.ids(values.as_string_opt::<i32>().ok_or_else(|| wrong_type(values))?, id)?;
        let keys = array.keys();
        let beyond = |key: i32| key as u32 as usize >= ids.len();
        // The keys of rows that are NULL mean nothing, so most often the first look is enough.
        if keys.values().iter().any(|key| beyond(*key)) && keys.iter().flatten().any(beyond) {
            return Err("refers to an entry behind the end of its dictionary".to_owned());
        }
        self.reserve(column);
        let from = column.len();
        column.extend(keys.values().iter().map(|key| match ids.get(*key as u32 as usize) {
            Some(id) => make(*id),
            None => make(0),
        }));
        match null {
            Some(null) => put_nulls(&mut column[from..], keys, null),
            None if keys.null_count() > 0 => return Err("has NULL".to_owned()),
            None => {}
        }
        Ok(())
    }

    /// Room for the whole row group at once, which costs no more than growing to it.
    fn reserve<T>(&self, column: &mut Vec<T>) {
        column.reserve(self.rows.saturating_sub(column.len()));
    }
}

/// Puts `null` where `array` has NULL.
fn put_nulls<T: Copy>(values: &mut [T], array: &dyn Array, null: T) {
    let Some(nulls) = array.nulls() else { return };
    let valid = nulls.inner().bit_chunks();
    for (values, valid) in values.chunks_mut(64).zip(valid.iter_padded()) {
        if valid != u64::MAX {
            for (bit, value) in values.iter_mut().enumerate() {
                *value = if valid >> bit & 1 == 1 { *value } else { null };
            }
        }
    }
}

fn wrong_type(array: &dyn Array) -> String {
    format!("came as {}", array.data_type())
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
        let mut target = Target { batch: &mut batch, rows, dictionaries: Default::default() };
        file.read(row_group, Columns::ALL.indices(), 7, |record| target.append(record, Columns::ALL, names))
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
