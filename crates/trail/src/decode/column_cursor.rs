//! A column of a row group by the Parquet library's reader: whatever the library can read, some rows at a time.

use crate::cells::Cells;
use crate::decode::bounded_pages::BoundedPages;
use crate::verified::VerifiedChunks;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{ByteArray, ByteArrayType, DataType};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::serialized_reader::SerializedPageReader;
use std::sync::Arc;

/// A text in a page; its bytes are UTF-8.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Text(ByteArray);

impl Text {
    fn new(bytes: ByteArray) -> Result<Self> {
        bytes.as_utf8()?;
        Ok(Self(bytes))
    }

    pub(crate) fn as_str(&self) -> &str {
        self.0.as_utf8().unwrap_or_default()
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

/// The rows of a column that are not read yet.
pub(crate) struct ColumnCursor {
    reader: ColumnReader,
    levels: Levels,
}

/// Which rows have a value, and how many.
struct Levels {
    is_list: bool,
    nullable: bool,
    definitions: Vec<i16>,
    repetitions: Vec<i16>,
}

impl ColumnCursor {
    /// A column of a row group of `rows` rows whose bytes are among `chunks`.
    pub(crate) fn new(
        chunks: &Arc<VerifiedChunks>,
        column: &ColumnChunkMetaData,
        rows: usize,
    ) -> Result<Self> {
        let described = column.column_descr();
        let (definitions, repetitions) = (described.max_def_level(), described.max_rep_level());
        if definitions > 1 || repetitions > definitions {
            return Err(ParquetError::NYI("it is nested".to_owned()));
        }
        let pages = SerializedPageReader::new(Arc::clone(chunks), column, rows, None)?;
        let pages = BoundedPages::new(pages, column.column_descr_ptr());
        let is_list = repetitions == 1;
        let levels = Levels {
            is_list,
            nullable: definitions == 1 && !is_list,
            definitions: Vec::new(),
            repetitions: Vec::new(),
        };
        Ok(Self { reader: get_column_reader(column.column_descr_ptr(), Box::new(pages)), levels })
    }

    /// The next `rows` rows, fewer at the end.
    pub(crate) fn read(&mut self, rows: usize) -> Result<Cells<Text>> {
        let levels = &mut self.levels;
        Ok(match &mut self.reader {
            ColumnReader::ByteArrayColumnReader(reader) if levels.is_list => {
                Cells::Lists(levels.lists(reader, rows)?)
            }
            _ if levels.is_list => return Err(ParquetError::NYI("it is a list".to_owned())),
            ColumnReader::BoolColumnReader(reader) => Cells::Truths(levels.cells(reader, rows, Ok)?),
            ColumnReader::Int32ColumnReader(reader) => {
                Cells::Numbers(levels.cells(reader, rows, |value| Ok(value.into()))?)
            }
            ColumnReader::Int64ColumnReader(reader) => Cells::Numbers(levels.cells(reader, rows, Ok)?),
            ColumnReader::ByteArrayColumnReader(reader) => {
                Cells::Texts(levels.cells(reader, rows, Text::new)?)
            }
            _ => return Err(ParquetError::NYI("it is of a type that no table has".to_owned())),
        })
    }
}

impl Levels {
    fn cells<P: DataType, T>(
        &mut self,
        reader: &mut ColumnReaderImpl<P>,
        rows: usize,
        cell: impl Fn(P::T) -> Result<T>,
    ) -> Result<Vec<Option<T>>> {
        self.definitions.clear();
        let mut values = Vec::new();
        reader.read_records(rows, Some(&mut self.definitions), None, &mut values)?;
        let mut values = values.into_iter().map(cell);
        if !self.nullable {
            return values.map(|value| value.map(Some)).collect();
        }
        self.definitions
            .iter()
            .map(|level| if *level == 1 { values.next().transpose() } else { Ok(None) })
            .collect()
    }

    fn lists(&mut self, reader: &mut ColumnReaderImpl<ByteArrayType>, rows: usize) -> Result<Vec<Vec<Text>>> {
        let Self { definitions, repetitions, .. } = self;
        definitions.clear();
        repetitions.clear();
        let (mut values, mut lists) = (Vec::new(), Vec::<Vec<Text>>::new());
        reader.read_records(rows, Some(definitions), Some(repetitions), &mut values)?;
        let mut values = values.into_iter().map(Text::new);
        for (definition, repetition) in definitions.iter().zip(repetitions) {
            if *repetition == 0 || lists.is_empty() {
                lists.push(Vec::new());
            }
            if *definition == 1
                && let Some(list) = lists.last_mut()
            {
                list.extend(values.next().transpose()?);
            }
        }
        Ok(lists)
    }
}
