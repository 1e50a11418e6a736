//! Pages that declare no more than they hold.
//!
//! The library allocates what a page declares before it decodes it: a few hostile bytes could ask for as many gigabytes as there
//! are not, and a failed allocation ends the process.

use crate::decode::input::{advance, length, varint, zigzag};
use crate::limits::MAX_GROUP_ROWS;
use parquet::basic::{Encoding, Type};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::schema::types::ColumnDescPtr;

/// See the [module](self).
pub(crate) struct BoundedPages<P> {
    pages: P,
    column: ColumnDescPtr,
}

impl<P: PageReader> BoundedPages<P> {
    pub(crate) fn new(pages: P, column: ColumnDescPtr) -> Self {
        Self { pages, column }
    }

    fn check(&self, page: &Page) -> Result<()> {
        let declared = page.num_values() as usize;
        let fits = match page {
            Page::DictionaryPage { buf, .. } => declared <= buf.len() / self.least_bytes(),
            _ if declared > MAX_GROUP_ROWS => false,
            _ => self.has_no_more_texts(page, declared).unwrap_or(false),
        };
        if fits {
            Ok(())
        } else {
            Err(ParquetError::General("a page declares more than it holds".to_owned()))
        }
    }

    /// Bytes that a value takes at least.
    fn least_bytes(&self) -> usize {
        match self.column.physical_type() {
            Type::INT64 | Type::DOUBLE => 8,
            Type::INT96 => 12,
            Type::BOOLEAN | Type::FIXED_LEN_BYTE_ARRAY => 1,
            Type::INT32 | Type::FLOAT | Type::BYTE_ARRAY => 4,
        }
    }

    /// Whether there are not more lengths of texts than texts, where they are apart from these; `None` if it cannot be told.
    fn has_no_more_texts(&self, page: &Page, declared: usize) -> Option<bool> {
        let blocks = match page.encoding() {
            Encoding::DELTA_LENGTH_BYTE_ARRAY => 1,
            Encoding::DELTA_BYTE_ARRAY => 2,
            _ => return Some(true),
        };
        let mut values = self.values(page)?;
        for _ in 0..blocks {
            if skip_differences(&mut values)? > declared as u64 {
                return Some(false);
            }
        }
        Some(true)
    }

    /// What is behind the levels of a page.
    fn values<'a>(&self, page: &'a Page) -> Option<&'a [u8]> {
        let mut rest: &[u8] = page.buffer();
        match page {
            Page::DataPageV2 { def_levels_byte_len, rep_levels_byte_len, .. } => {
                advance(&mut rest, def_levels_byte_len.checked_add(*rep_levels_byte_len)? as usize)?;
            }
            Page::DataPage { .. } => {
                let levels = [self.column.max_rep_level(), self.column.max_def_level()];
                for _ in levels.iter().filter(|level| **level > 0) {
                    let bytes = length(&mut rest)?;
                    advance(&mut rest, bytes)?;
                }
            }
            Page::DictionaryPage { .. } => {}
        }
        Some(rest)
    }
}

/// Skips numbers that are stored as differences and answers how many they are.
fn skip_differences(input: &mut &[u8]) -> Option<u64> {
    let (block, miniblocks, count) = (varint(input)?, varint(input)?, varint(input)?);
    zigzag(input)?;
    let values = block.checked_div(miniblocks)?;
    let miniblocks = usize::try_from(miniblocks).ok()?;
    if values == 0 || miniblocks == 0 {
        return None;
    }
    let mut left = count.saturating_sub(1);
    while left > 0 {
        zigzag(input)?;
        for width in advance(input, miniblocks)? {
            // Of miniblocks behind the last number there is nothing.
            if left > 0 {
                advance(input, usize::try_from(values.checked_mul(u64::from(*width))? / 8).ok()?)?;
            }
            left = left.saturating_sub(values);
        }
    }
    Some(count)
}

impl<P: PageReader> Iterator for BoundedPages<P> {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl<P: PageReader> PageReader for BoundedPages<P> {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        page.iter().try_for_each(|page| self.check(page))?;
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.pages.at_record_boundary()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::delta;
    use crate::meta::Table;
    use crate::schema::{parquet_schema, schema};
    use bytes::Bytes;
    use parquet::schema::types::SchemaDescriptor;

    struct Nothing;

    impl Iterator for Nothing {
        type Item = Result<Page>;

        fn next(&mut self) -> Option<Self::Item> {
            None
        }
    }

    impl PageReader for Nothing {
        fn get_next_page(&mut self) -> Result<Option<Page>> {
            Ok(None)
        }

        fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
            Ok(None)
        }

        fn skip_next_page(&mut self) -> Result<()> {
            Ok(())
        }
    }

    /// Whether a page of the column `path` of `files`, which is never NULL, may be read.
    fn is_read(page: &Page) -> bool {
        let columns = SchemaDescriptor::new(parquet_schema(&schema(Table::Files)).unwrap());
        BoundedPages::new(Nothing, columns.column(0)).check(page).is_ok()
    }

    fn data(encoding: Encoding, num_values: u32, bytes: Vec<u8>) -> Page {
        let (def_level_encoding, rep_level_encoding) = (Encoding::RLE, Encoding::RLE);
        let buf = Bytes::from(bytes);
        Page::DataPage { buf, num_values, encoding, def_level_encoding, rep_level_encoding, statistics: None }
    }

    #[test]
    fn dictionaries_with_more_entries_than_bytes_are_refused() {
        let page = |num_values| {
            let buf = Bytes::from(vec![0; 40]);
            Page::DictionaryPage { buf, num_values, encoding: Encoding::PLAIN, is_sorted: false }
        };
        assert!(is_read(&page(10)) && !is_read(&page(11)) && !is_read(&page(u32::MAX)));
        assert!(!is_read(&data(Encoding::PLAIN, u32::MAX, vec![0; 40])));
    }

    #[test]
    fn more_lengths_than_texts_are_refused() {
        let mut lengths = Vec::new();
        for count in [0_usize, 1, 2, 33, 129, 300] {
            lengths.clear();
            delta::encode(&mut lengths, &(0..count as i64).map(|length| length % 7).collect::<Vec<_>>());
            let one = Encoding::DELTA_LENGTH_BYTE_ARRAY;
            assert!(is_read(&data(one, count as u32, lengths.clone())));
            assert!(count == 0 || !is_read(&data(one, count as u32 - 1, lengths.clone())));
            let two = [lengths.clone(), lengths.clone()].concat();
            assert!(is_read(&data(Encoding::DELTA_BYTE_ARRAY, count as u32, two)));
            let mut later = lengths.clone();
            delta::encode(&mut later, &vec![0; count + 1]);
            assert!(!is_read(&data(Encoding::DELTA_BYTE_ARRAY, count as u32, later)));
        }
        // A count of 2^62.
        let hostile = [&[0x80, 1, 4][..], &[0x80; 8], &[0x40, 0]].concat();
        assert!(!is_read(&data(Encoding::DELTA_LENGTH_BYTE_ARRAY, 5, hostile)));
    }
}
