//! Column chunks as this crate writes them, straight from their pages into cells.
//!
//! A graph needs ten columns, and what lay between the pages and the cells in the library's reader (levels, arrays, their
//! masks and dictionaries) took two thirds of the time. What is not as this crate writes it (other pages, encodings,
//! compressions, damage) is left to the library, which also words what is wrong; so nothing here says more than `None`.

use crate::decode::input::{SLACK, advance, length};
use crate::decode::page_header::{PageHeader, PageKind};
use crate::decode::validity::Validity;
use crate::decode::values::{differences, keyed, plain};

const PLAIN: i64 = 0;
const PLAIN_DICTIONARY: i64 = 2;
const DELTA_BINARY_PACKED: i64 = 5;
const RLE_DICTIONARY: i64 = 8;

/// The largest page that is decoded here. Ours have 2^17 rows at most; larger ones are the library's.
const MAX_PAGE: usize = 1 << 26;

/// A column of a row group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk<'a> {
    pub(crate) bytes: &'a [u8],
    /// Rows of the row group.
    pub(crate) rows: usize,
    /// Whether the file says that there may be NULL.
    pub(crate) nullable: bool,
}

/// Decodes columns one after another; buffers are used again.
#[derive(Default)]
pub(crate) struct PageDecoder {
    decompressor: Option<zstd::zstd_safe::DCtx<'static>>,
    page: Vec<u8>,
    validity: Validity,
}

/// What values of a column are, if they are not keys.
trait Values<T> {
    /// The entries of a dictionary page.
    fn entries(&mut self, page: &[u8], count: usize) -> Option<Vec<T>>;

    /// Appends `count` values.
    fn append(&mut self, encoding: i64, page: &[u8], count: usize, cells: &mut Vec<T>) -> Option<()>;
}

impl PageDecoder {
    /// Fills `cells` with integers of 32 (`narrow`) or 64 bits.
    pub(crate) fn integers<T: Copy>(
        &mut self,
        chunk: Chunk<'_>,
        cells: &mut Vec<T>,
        narrow: bool,
        null: Option<T>,
        make: impl Fn(i64) -> T,
    ) -> Option<()> {
        self.chunk(chunk, cells, null, &mut Numbers { narrow, make })
    }

    /// Fills `cells` with what `make` makes of names.
    pub(crate) fn names<T: Copy>(
        &mut self,
        chunk: Chunk<'_>,
        cells: &mut Vec<T>,
        null: Option<T>,
        make: impl FnMut(&str) -> Option<T>,
    ) -> Option<()> {
        self.chunk(chunk, cells, null, &mut Texts { make })
    }

    fn chunk<T: Copy>(
        &mut self,
        chunk: Chunk<'_>,
        cells: &mut Vec<T>,
        null: Option<T>,
        values: &mut impl Values<T>,
    ) -> Option<()> {
        if chunk.nullable != null.is_some() {
            return None;
        }
        cells.reserve(chunk.rows);
        let (mut input, mut entries) = (chunk.bytes, Vec::new());
        while cells.len() < chunk.rows {
            let header = PageHeader::read(&mut input)?;
            self.decompress(advance(&mut input, header.compressed)?, header.uncompressed)?;
            match header.kind {
                PageKind::Dictionary if matches!(header.encoding, PLAIN | PLAIN_DICTIONARY) => {
                    entries = values.entries(&self.page[..header.uncompressed], header.values)?;
                }
                PageKind::Data if header.values <= chunk.rows - cells.len() => {
                    self.data(header, &mut entries, cells, null, values)?;
                }
                PageKind::Dictionary | PageKind::Data => return None,
            }
        }
        Some(())
    }

    /// Appends the rows of the data page in `page`.
    fn data<T: Copy>(
        &mut self,
        header: PageHeader,
        entries: &mut Vec<T>,
        cells: &mut Vec<T>,
        null: Option<T>,
        values: &mut impl Values<T>,
    ) -> Option<()> {
        let Self { page, validity, .. } = self;
        let (mut page, mut known, from) = (&page[..], header.values, cells.len());
        if null.is_some() {
            let levels = length(&mut page)?;
            if levels > page.len().checked_sub(SLACK)? {
                return None;
            }
            known = validity.read(advance(&mut page, levels)?, header.values)?;
        }
        match header.encoding {
            _ if known == 0 => {}
            RLE_DICTIONARY | PLAIN_DICTIONARY => keyed(page, known, entries, cells)?,
            encoding => values.append(encoding, page, known, cells)?,
        }
        if let Some(null) = null.filter(|_| known < header.values) {
            validity.spread(cells, from, null);
        }
        Some(())
    }

    /// Puts the bytes of a page into `page`, with slack behind them.
    fn decompress(&mut self, body: &[u8], bytes: usize) -> Option<()> {
        if bytes > MAX_PAGE {
            return None;
        }
        if self.decompressor.is_none() {
            self.decompressor = zstd::zstd_safe::DCtx::try_create();
        }
        self.page.clear();
        self.page.reserve(bytes + SLACK);
        let found = self.decompressor.as_mut()?.decompress(&mut self.page, body).ok()?;
        self.page.resize(bytes + SLACK, 0);
        (found == bytes).then_some(())
    }
}

struct Numbers<F> {
    narrow: bool,
    make: F,
}

impl<T, F: Fn(i64) -> T> Values<T> for Numbers<F> {
    fn entries(&mut self, page: &[u8], count: usize) -> Option<Vec<T>> {
        let mut entries = Vec::new();
        plain(page, count, self.narrow, &self.make, &mut entries)?;
        Some(entries)
    }

    fn append(&mut self, encoding: i64, page: &[u8], count: usize, cells: &mut Vec<T>) -> Option<()> {
        match encoding {
            PLAIN => plain(&page[..page.len() - SLACK], count, self.narrow, &self.make, cells),
            DELTA_BINARY_PACKED => differences(page, count, &self.make, cells),
            _ => None,
        }
    }
}

struct Texts<F> {
    make: F,
}

impl<T, F: FnMut(&str) -> Option<T>> Values<T> for Texts<F> {
    fn entries(&mut self, mut page: &[u8], count: usize) -> Option<Vec<T>> {
        let mut entries = Vec::new();
        for _ in 0..count {
            let bytes = length(&mut page)?;
            let text = std::str::from_utf8(advance(&mut page, bytes)?).ok()?;
            entries.push((self.make)(text)?);
        }
        Some(entries)
    }

    fn append(&mut self, _encoding: i64, _page: &[u8], _count: usize, _cells: &mut Vec<T>) -> Option<()> {
        None
    }
}
