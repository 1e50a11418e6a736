//! A column of a small table into pages, by the Parquet library's encoders: cells in, a chunk out.

use crate::cells::Cells;
use crate::encode::{EncodedChunk, page};
use bytes::Bytes;
use parquet::column::page::{CompressedPage, Page, PageWriteSpec, PageWriter};
use parquet::column::writer::{ColumnWriter, ColumnWriterImpl, get_column_writer};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterPropertiesPtr;
use parquet::schema::types::ColumnDescPtr;
use std::sync::{Arc, Mutex, PoisonError};

/// The column of a row group under construction.
pub(crate) struct CellWriter {
    writer: ColumnWriter<'static>,
    pages: Pages,
}

impl CellWriter {
    pub(crate) fn new(column: &ColumnDescPtr, properties: &WriterPropertiesPtr) -> Self {
        let pages = Pages::default();
        let writer = get_column_writer(Arc::clone(column), Arc::clone(properties), Box::new(pages.clone()));
        Self { writer, pages }
    }

    /// Appends rows.
    pub(crate) fn write<T: AsRef<str>>(&mut self, cells: &Cells<T>) -> Result<()> {
        write_cells(&mut self.writer, cells)
    }

    pub(crate) fn finish(self) -> Result<EncodedChunk> {
        let close = self.writer.close()?;
        Ok(EncodedChunk { bytes: Bytes::from(self.pages.take()), close })
    }
}

/// Appends rows of a column that has such.
pub(crate) fn write_cells<T: AsRef<str>>(writer: &mut ColumnWriter<'_>, cells: &Cells<T>) -> Result<()> {
    match (writer, cells) {
        (ColumnWriter::BoolColumnWriter(writer), Cells::Truths(cells)) => put(writer, cells, |cell| *cell),
        (ColumnWriter::Int32ColumnWriter(writer), Cells::Numbers(cells)) => {
            put(writer, cells, |cell| *cell as i32)
        }
        (ColumnWriter::Int64ColumnWriter(writer), Cells::Numbers(cells)) => put(writer, cells, |cell| *cell),
        (ColumnWriter::ByteArrayColumnWriter(writer), Cells::Texts(cells)) => put(writer, cells, text),
        (ColumnWriter::ByteArrayColumnWriter(writer), Cells::Lists(lists)) => {
            let values: Vec<ByteArray> = lists.iter().flatten().map(text).collect();
            let (definitions, repetitions) = levels(lists);
            writer.write_batch(&values, Some(&definitions), Some(&repetitions)).map(drop)
        }
        _ => Err(ParquetError::General("a column has cells of another type".to_owned())),
    }
}

fn text<T: AsRef<str>>(text: &T) -> ByteArray {
    ByteArray::from(text.as_ref())
}

fn put<P: DataType, T>(
    writer: &mut ColumnWriterImpl<'_, P>,
    cells: &[Option<T>],
    value: impl Fn(&T) -> P::T,
) -> Result<()> {
    let values: Vec<P::T> = cells.iter().flatten().map(value).collect();
    let nullable = writer.get_descriptor().max_def_level() > 0;
    let definitions: Option<Vec<i16>> =
        nullable.then(|| cells.iter().map(|cell| cell.is_some().into()).collect());
    writer.write_batch(&values, definitions.as_deref(), None).map(drop)
}

/// Which elements there are, and which of them begin a list.
fn levels<T>(lists: &[Vec<T>]) -> (Vec<i16>, Vec<i16>) {
    let of = |list: &Vec<T>| {
        let elements = list.len().max(1);
        let is_there = i16::from(!list.is_empty());
        (0..elements).map(move |place| (is_there, i16::from(place > 0)))
    };
    lists.iter().flat_map(of).unzip()
}

/// Pages that are written so far.
#[derive(Clone, Default)]
struct Pages(Arc<Mutex<Vec<u8>>>);

impl Pages {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl PageWriter for Pages {
    fn write_page(&mut self, page: CompressedPage) -> Result<PageWriteSpec> {
        let kind = match page.compressed_page() {
            Page::DictionaryPage { .. } => page::PageKind::Dictionary,
            Page::DataPage { encoding, .. } => page::PageKind::Data(*encoding),
            Page::DataPageV2 { .. } => {
                return Err(ParquetError::NYI("pages of this version are not written".to_owned()));
            }
        };
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let offset = pages.len() as u64;
        let size =
            page::put(&mut pages, kind, page.num_values() as usize, page.uncompressed_size(), page.data())?;
        Ok(PageWriteSpec {
            page_type: page.page_type(),
            uncompressed_size: size.uncompressed as usize,
            compressed_size: size.compressed as usize,
            num_values: page.num_values(),
            offset,
            bytes_written: size.compressed as u64,
        })
    }

    fn close(&mut self) -> Result<()> {
        Ok(())
    }
}
