//! What a cell of `events` is in Parquet's pages and in a batch. A column is a line of
//! [`iotrail_model::event_columns`]; a type of cell is an implementation of [`Stored`] here, beside that of
//! [`iotrail_model::Cell`].

use crate::columns::Columns;
use crate::decode::{Chunk, NameTable, PageDecoder, Slice, lookup};
use crate::encode::{ChunkEncoder, EncodedChunk, Integers};
use crate::own_names::OwnNames;
use crate::schema::{ColumnKind, ColumnSchema};
use iotrail_model::{
    CallId, CaseId, ErrnoId, EventBatch, FileId, FlagsId, Layer, NameKind, Nanos, Nullable, OpenId, PathId,
    Pid, SiteId, Tid, Timestamp,
};
use parquet::errors::{ParquetError, Result};
use parquet::schema::types::ColumnDescPtr;
use std::ops::Range;

/// A column on its way into pages.
pub(crate) struct Pages<'a> {
    pub(crate) encoder: &'a mut ChunkEncoder,
    pub(crate) column: &'a ColumnDescPtr,
    pub(crate) packing: Integers,
    pub(crate) names: &'a OwnNames,
}

impl Pages<'_> {
    fn integers(
        &mut self,
        values: impl Iterator<Item = i64>,
        null: Option<i64>,
        narrow: bool,
    ) -> Result<EncodedChunk> {
        self.encoder.integers(self.column, values, null, self.packing, narrow)
    }

    fn names(
        &mut self,
        of: NameKind,
        ids: impl Iterator<Item = u32> + Clone,
        nullable: bool,
    ) -> Result<EncodedChunk> {
        let names = self.names;
        self.encoder.names(self.column, ids, |id| names.column(of).text(id), nullable)
    }
}

/// A type of cell as it is stored.
pub(crate) trait Stored: Copy {
    /// Its type in the table.
    const KIND: ColumnKind;

    /// Rows of a column as pages.
    fn encode(cells: &[Self], pages: &mut Pages<'_>) -> Result<EncodedChunk>;

    /// Appends the rows of `slice`.
    fn decode(
        slice: &Slice<'_>,
        cells: &mut Vec<Self>,
        names: &mut impl NameTable,
    ) -> std::result::Result<(), String>;

    /// Fills `cells` with all rows of a column that is stored as this crate stores it; `None` if it is not.
    fn decode_pages(
        decoder: &mut PageDecoder,
        chunk: Chunk<'_>,
        cells: &mut Vec<Self>,
        names: &mut impl NameTable,
    ) -> Option<()>;
}

/// Cells that are integers: their type; whether 32 bits hold them; to an integer, and from what a page holds as 64 bits.
macro_rules! integers {
    ($($cell:ty: $kind:ident, $narrow:literal, $to:expr, $from:expr;)*) => {$(
        impl Stored for $cell {
            const KIND: ColumnKind = ColumnKind::$kind;

            fn encode(cells: &[Self], pages: &mut Pages<'_>) -> Result<EncodedChunk> {
                pages.integers(cells.iter().copied().map($to), None, $narrow)
            }

            fn decode(
                slice: &Slice<'_>,
                cells: &mut Vec<Self>,
                _names: &mut impl NameTable,
            ) -> std::result::Result<(), String> {
                slice.required(cells, $from)
            }

            fn decode_pages(
                decoder: &mut PageDecoder,
                chunk: Chunk<'_>,
                cells: &mut Vec<Self>,
                _names: &mut impl NameTable,
            ) -> Option<()> {
                decoder.integers(chunk, cells, $narrow, None, $from)
            }
        }
    )*};
}

/// The same for those that may be NULL.
macro_rules! optional_integers {
    ($($cell:ty: $kind:ident, $narrow:literal, $to:expr, $from:expr;)*) => {$(
        impl Stored for Nullable<$cell> {
            const KIND: ColumnKind = ColumnKind::$kind;

            fn encode(cells: &[Self], pages: &mut Pages<'_>) -> Result<EncodedChunk> {
                let null = Some($to(Self::NULL.raw()));
                pages.integers(cells.iter().map(|cell| $to(cell.raw())), null, $narrow)
            }

            fn decode(
                slice: &Slice<'_>,
                cells: &mut Vec<Self>,
                _names: &mut impl NameTable,
            ) -> std::result::Result<(), String> {
                slice.optional(cells, $from)
            }

            fn decode_pages(
                decoder: &mut PageDecoder,
                chunk: Chunk<'_>,
                cells: &mut Vec<Self>,
                _names: &mut impl NameTable,
            ) -> Option<()> {
                let some = |value| Nullable::some($from(value));
                decoder.integers(chunk, cells, $narrow, Some(Self::NULL), some)
            }
        }
    )*};
}

/// Cells that are names.
macro_rules! names {
    ($($cell:ident: $column:ident;)*) => {$(
        impl Stored for Nullable<$cell> {
            const KIND: ColumnKind = ColumnKind::Name;

            fn encode(cells: &[Self], pages: &mut Pages<'_>) -> Result<EncodedChunk> {
                pages.names(NameKind::$column, cells.iter().map(|cell| cell.raw().0), true)
            }

            fn decode(
                slice: &Slice<'_>,
                cells: &mut Vec<Self>,
                names: &mut impl NameTable,
            ) -> std::result::Result<(), String> {
                slice.optional_names(cells, lookup(names, NameKind::$column), $cell)
            }

            fn decode_pages(
                decoder: &mut PageDecoder,
                chunk: Chunk<'_>,
                cells: &mut Vec<Self>,
                names: &mut impl NameTable,
            ) -> Option<()> {
                let id = |text: &str| names.id(NameKind::$column, text).map(|id| Nullable::some($cell(id)));
                decoder.names(chunk, cells, Some(Self::NULL), id)
            }
        }
    )*};
}

integers! {
    CaseId: UInt32, true, |id: Self| i64::from(id.0), |value| CaseId(value as u32);
    Pid: UInt32, true, |id: Self| i64::from(id.0), |value| Pid(value as u32);
    Tid: UInt32, true, |id: Self| i64::from(id.0), |value| Tid(value as u32);
    u64: UInt64, false, |value: Self| value as i64, |value| value as u64;
    Timestamp: Time, false, |time: Self| time.0, Timestamp;
}

optional_integers! {
    i32: Int32, true, i64::from, |value| value as i32;
    i64: Int64, false, std::convert::identity::<i64>, |value| value;
    Nanos: Int64, false, |span: Nanos| span.0, Nanos;
    FileId: UInt32, true, |id: FileId| i64::from(id.0), |value| FileId(value as u32);
    u64: UInt64, false, |value: u64| value as i64, |value| value as u64;
    OpenId: UInt32, true, |id: OpenId| i64::from(id.0), |value| OpenId(value as u32);
    SiteId: UInt32, true, |id: SiteId| i64::from(id.0), |value| SiteId(value as u32);
}

names! {
    PathId: Path;
    ErrnoId: Errno;
    FlagsId: Flags;
}

impl Stored for CallId {
    const KIND: ColumnKind = ColumnKind::Name;

    fn encode(cells: &[Self], pages: &mut Pages<'_>) -> Result<EncodedChunk> {
        pages.names(NameKind::Call, cells.iter().map(|cell| cell.0), false)
    }

    fn decode(
        slice: &Slice<'_>,
        cells: &mut Vec<Self>,
        names: &mut impl NameTable,
    ) -> std::result::Result<(), String> {
        slice.names(cells, lookup(names, NameKind::Call), CallId)
    }

    fn decode_pages(
        decoder: &mut PageDecoder,
        chunk: Chunk<'_>,
        cells: &mut Vec<Self>,
        names: &mut impl NameTable,
    ) -> Option<()> {
        decoder.names(chunk, cells, None, |text| names.id(NameKind::Call, text).map(CallId))
    }
}

impl Stored for Layer {
    const KIND: ColumnKind = ColumnKind::Name;

    fn encode(cells: &[Self], pages: &mut Pages<'_>) -> Result<EncodedChunk> {
        let name = |id: u32| Layer::ALL[id as usize].name().as_bytes();
        pages.encoder.names(pages.column, cells.iter().map(|layer| *layer as u32), name, false)
    }

    fn decode(
        slice: &Slice<'_>,
        cells: &mut Vec<Self>,
        _names: &mut impl NameTable,
    ) -> std::result::Result<(), String> {
        let number = |text: &str| {
            let place = Layer::ALL.into_iter().position(|layer| layer.name() == text);
            place.map(|place| place as u32).ok_or_else(|| format!("has the unknown layer `{text}`"))
        };
        slice.names(cells, number, |number| Layer::ALL[number as usize])
    }

    fn decode_pages(
        decoder: &mut PageDecoder,
        chunk: Chunk<'_>,
        cells: &mut Vec<Self>,
        _names: &mut impl NameTable,
    ) -> Option<()> {
        decoder.names(chunk, cells, None, Layer::from_name)
    }
}

macro_rules! table {
    ($(#[$doc:meta] $field:ident: $cell:ty, $constant:ident = $name:literal, $packing:ident, $redaction:ident, $code:ident;)*) => {
        /// The columns, in the order of the table.
        pub(crate) fn columns() -> Vec<ColumnSchema> {
            vec![$(ColumnSchema {
                name: $name,
                kind: <$cell as Stored>::KIND,
                nullable: <$cell as iotrail_model::Cell>::NULLABLE,
            },)*]
        }

        /// Encodes rows of the column at `place` of the table.
        pub(crate) fn encode(
            encoder: &mut ChunkEncoder,
            column: &ColumnDescPtr,
            index: usize,
            (batch, rows): (&EventBatch, Range<usize>),
            names: &OwnNames,
        ) -> Result<EncodedChunk> {
            $(if Columns::at(index) == Columns::$constant {
                let mut pages = Pages { encoder, column, packing: Integers::$packing, names };
                return Stored::encode(&batch.$field[rows], &mut pages);
            })*
            Err(ParquetError::General(format!("the schema has no column {index}")))
        }

        /// Appends rows of the column at `place` of the table.
        pub(crate) fn decode(
            slice: &Slice<'_>,
            index: usize,
            batch: &mut EventBatch,
            names: &mut impl NameTable,
        ) -> std::result::Result<(), String> {
            $(if Columns::at(index) == Columns::$constant {
                return Stored::decode(slice, &mut batch.$field, names);
            })*
            Err("is unknown".to_owned())
        }

        /// Fills the column at `place` of the table, if it is stored as this crate stores it; else it is empty afterwards.
        pub(crate) fn decode_pages(
            decoder: &mut PageDecoder,
            chunk: Chunk<'_>,
            index: usize,
            batch: &mut EventBatch,
            names: &mut impl NameTable,
        ) -> bool {
            $(if Columns::at(index) == Columns::$constant {
                let done = Stored::decode_pages(decoder, chunk, &mut batch.$field, names);
                if done.is_none() {
                    batch.$field.clear();
                }
                return done.is_some();
            })*
            false
        }

        /// Columns that were wanted and that the file does not have are NULL in every row.
        pub(crate) fn fill_absent(batch: &mut EventBatch, columns: Columns, rows: usize) {
            batch.len = rows;
            $(if columns.contains(Columns::$constant) {
                batch.$field.resize(rows, <$cell>::default());
            })*
        }
    };
}

iotrail_model::event_columns!(table);

#[cfg(test)]
pub(crate) use table;
