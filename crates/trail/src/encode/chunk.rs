//! A column chunk: dictionary page, one data page, statistics.
//!
//! A chunk has one data page, because readers work by row group; pages of their own would only cost headers.

use crate::encode::bits::width;
use crate::encode::page::{self, PageKind};
use crate::encode::{delta, hybrid};
use bytes::Bytes;
use parquet::basic::{Compression, Encoding, LogicalType, ZstdLevel};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::statistics::{Statistics, ValueStatistics};
use parquet::schema::types::ColumnDescPtr;

/// The most distinct integers that are worth a dictionary.
const MAX_DISTINCT: usize = 1 << 13;

/// How many integers that came lately are remembered; a power of two.
const RECENT: usize = 256;

type KeyMap = hashbrown::HashMap<i64, u32, foldhash::fast::RandomState>;

/// An encoded column chunk and its description.
pub(crate) struct EncodedChunk {
    pub(crate) bytes: Bytes,
    pub(crate) close: ColumnCloseResult,
}

/// How a column of integers is encoded, and how its bounds compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Integers {
    /// Nearly sorted.
    Delta,
    /// Few distinct values; differences if there are too many.
    DictionaryOrDelta,
    /// Few distinct values; the values themselves if there are too many.
    DictionaryOrPlain,
}

/// Encodes columns one after another; buffers are used again.
pub(crate) struct ChunkEncoder {
    compressor: zstd::bulk::Compressor<'static>,
    page: Vec<u8>,
    levels: Vec<u32>,
    integers: Vec<i64>,
    keys: Vec<u32>,
    distinct: Vec<i64>,
    places: Vec<u32>,
    key_map: KeyMap,
    /// Integers that came lately and their keys: most come again soon, and need no hash then.
    recent: Vec<(i64, u32)>,
}

/// A dictionary page: entries in PLAIN encoding and their number.
struct Dictionary {
    entries: Vec<u8>,
    count: usize,
}

impl ChunkEncoder {
    pub(crate) fn new(level: i32) -> std::io::Result<Self> {
        // The compressor's own constructor panics where memory is short.
        let has_room = zstd::zstd_safe::CCtx::try_create().is_some();
        if !has_room {
            return Err(std::io::ErrorKind::OutOfMemory.into());
        }
        Ok(Self {
            compressor: zstd::bulk::Compressor::new(level)?,
            page: Vec::new(),
            levels: Vec::new(),
            integers: Vec::new(),
            keys: Vec::new(),
            distinct: Vec::new(),
            places: Vec::new(),
            key_map: KeyMap::default(),
            recent: vec![(0, u32::MAX); RECENT],
        })
    }

    /// A column of integers of `size` bytes; `null` is the value that stands for NULL.
    pub(crate) fn integers(
        &mut self,
        column: &ColumnDescPtr,
        values: impl Iterator<Item = i64>,
        null: Option<i64>,
        how: Integers,
        narrow: bool,
    ) -> Result<EncodedChunk> {
        self.integers.clear();
        self.integers.extend(values);
        let rows = self.integers.len();
        let nulls = null.map(|null| self.take_out(null));
        let statistics = self.bounds(narrow, Self::is_unsigned_64(column), nulls.unwrap_or(0) as u64);
        self.start_page(rows, nulls);
        // A column that is NULL in every row has neither dictionary nor values.
        let nothing = self.integers.is_empty();
        let dictionary =
            (how != Integers::Delta && !nothing && self.find_keys()).then(|| self.integer_dictionary(narrow));
        let encoding = match &dictionary {
            Some(dictionary) => {
                self.put_keys(dictionary.count);
                Encoding::RLE_DICTIONARY
            }
            None if narrow => {
                self.page.extend(self.integers.iter().flat_map(|value| (*value as i32).to_le_bytes()));
                Encoding::PLAIN
            }
            None if nothing || how == Integers::DictionaryOrPlain => {
                self.page.extend(self.integers.iter().flat_map(|value| value.to_le_bytes()));
                Encoding::PLAIN
            }
            None => {
                delta::encode(&mut self.page, &self.integers);
                Encoding::DELTA_BINARY_PACKED
            }
        };
        self.close(column, rows, encoding, dictionary, statistics)
    }

    /// A column of names; `entry` gives the text of an id, `u32::MAX` stands for NULL.
    pub(crate) fn names<'n>(
        &mut self,
        column: &ColumnDescPtr,
        ids: impl Iterator<Item = u32> + Clone,
        entry: impl Fn(u32) -> &'n [u8],
        nullable: bool,
    ) -> Result<EncodedChunk> {
        let rows = ids.clone().count();
        if nullable && ids.clone().all(|id| id == u32::MAX) {
            self.start_page(rows, Some(rows));
            return self.close(column, rows, Encoding::PLAIN, None, Self::no_bounds(rows));
        }
        self.keys.clear();
        self.levels.clear();
        self.places.fill(u32::MAX);
        let mut dictionary = Dictionary { entries: Vec::new(), count: 0 };
        for id in ids {
            if nullable {
                self.levels.push(u32::from(id != u32::MAX));
                if id == u32::MAX {
                    continue;
                }
            }
            let id = id as usize;
            if id >= self.places.len() {
                self.places.resize((id + 1).next_power_of_two(), u32::MAX);
            }
            let mut key = self.places[id];
            if key == u32::MAX {
                key = dictionary.count as u32;
                self.places[id] = key;
                dictionary.count += 1;
                put_text(&mut dictionary.entries, entry(id as u32));
            }
            self.keys.push(key);
        }
        let nulls = rows - self.keys.len();
        self.start_page(rows, nullable.then_some(nulls));
        if self.keys.is_empty() {
            return self.close(column, rows, Encoding::PLAIN, None, Self::no_bounds(nulls));
        }
        self.put_keys(dictionary.count);
        self.close(column, rows, Encoding::RLE_DICTIONARY, Some(dictionary), Self::no_bounds(nulls))
    }

    /// Takes out the integers that stand for NULL, of which it says how many there were; `levels` tells them from others if both
    /// occur.
    fn take_out(&mut self, null: i64) -> usize {
        self.levels.clear();
        let nulls = self.integers.iter().filter(|value| **value == null).count();
        if nulls == self.integers.len() {
            self.integers.clear();
        } else if nulls > 0 {
            self.levels.extend(self.integers.iter().map(|value| u32::from(*value != null)));
            self.integers.retain(|value| *value != null);
        }
        nulls
    }

    fn no_bounds(nulls: usize) -> Statistics {
        Statistics::ByteArray(ValueStatistics::new(None, None, None, Some(nulls as u64), false))
    }

    fn is_unsigned_64(column: &ColumnDescPtr) -> bool {
        column.logical_type_ref() == Some(&LogicalType::integer(64, false))
    }

    fn bounds(&self, narrow: bool, unsigned_64: bool, nulls: u64) -> Statistics {
        let first = self.integers.first().map(|first| (*first, *first));
        let mut bounds = first.map(|bounds| {
            self.integers
                .iter()
                .fold(bounds, |(least, greatest), value| (least.min(*value), greatest.max(*value)))
        });
        if unsigned_64 {
            // Beyond the signed numbers the order is another; such a `seq` does not occur, but must not lie.
            bounds = bounds.filter(|(min, _)| *min >= 0);
        }
        let (min, max) = bounds.unzip();
        if narrow {
            let int = |value: Option<i64>| value.map(|value| value as i32);
            Statistics::Int32(ValueStatistics::new(int(min), int(max), None, Some(nulls), false))
        } else {
            Statistics::Int64(ValueStatistics::new(min, max, None, Some(nulls), false))
        }
    }

    /// Definition levels: which rows are not NULL, if some may be.
    fn start_page(&mut self, rows: usize, nulls: Option<usize>) {
        self.page.clear();
        if let Some(nulls) = nulls {
            self.page.extend_from_slice(&[0; 4]);
            match nulls {
                0 => hybrid::encode_equal(&mut self.page, 1, rows, 1),
                _ if nulls == rows => hybrid::encode_equal(&mut self.page, 0, rows, 1),
                _ => hybrid::encode(&mut self.page, &self.levels, 1),
            }
            let length = (self.page.len() - 4) as u32;
            self.page[..4].copy_from_slice(&length.to_le_bytes());
        }
    }

    /// Numbers the distinct integers; `false` if there are too many.
    fn find_keys(&mut self) -> bool {
        self.keys.clear();
        self.distinct.clear();
        self.key_map.clear();
        self.recent.fill((0, u32::MAX));
        for &value in &self.integers {
            let recent = &mut self.recent[place_among_recent(value)];
            if recent.0 != value || recent.1 == u32::MAX {
                let next = self.distinct.len() as u32;
                let key = *self.key_map.entry(value).or_insert(next);
                if key == next {
                    if self.distinct.len() == MAX_DISTINCT {
                        return false;
                    }
                    self.distinct.push(value);
                }
                *recent = (value, key);
            }
            self.keys.push(recent.1);
        }
        true
    }

    fn integer_dictionary(&self, narrow: bool) -> Dictionary {
        let size = if narrow { 4 } else { 8 };
        let entries =
            self.distinct.iter().flat_map(|value| value.to_le_bytes().into_iter().take(size)).collect();
        Dictionary { entries, count: self.distinct.len() }
    }

    fn put_keys(&mut self, entries: usize) {
        let bits = width(entries.saturating_sub(1) as u64);
        self.page.push(bits);
        hybrid::encode(&mut self.page, &self.keys, bits);
    }

    fn close(
        &mut self,
        column: &ColumnDescPtr,
        rows: usize,
        encoding: Encoding,
        dictionary: Option<Dictionary>,
        statistics: Statistics,
    ) -> Result<EncodedChunk> {
        let mut bytes = Vec::new();
        let mut encodings = vec![Encoding::RLE, encoding];
        let (mut compressed_size, mut uncompressed_size) = (0, 0);
        let mut put = |kind, values, page: &[u8]| -> Result<i64> {
            let offset = bytes.len() as i64;
            let body = compress(&mut self.compressor, page)?;
            let size = page::put(&mut bytes, kind, values, page.len(), &body)?;
            compressed_size += size.compressed;
            uncompressed_size += size.uncompressed;
            Ok(offset)
        };
        let mut dictionary_offset = None;
        if let Some(dictionary) = dictionary {
            encodings.push(Encoding::PLAIN);
            dictionary_offset = Some(put(PageKind::Dictionary, dictionary.count, &dictionary.entries)?);
        }
        let data_offset = put(PageKind::Data(encoding), rows, &self.page)?;
        let metadata = ColumnChunkMetaData::builder(column.clone())
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_encodings(encodings)
            .set_num_values(rows as i64)
            .set_total_compressed_size(compressed_size)
            .set_total_uncompressed_size(uncompressed_size)
            .set_data_page_offset(data_offset)
            .set_dictionary_page_offset(dictionary_offset)
            .set_statistics(statistics)
            .build()?;
        let close = ColumnCloseResult {
            bytes_written: compressed_size as u64,
            rows_written: rows as u64,
            metadata,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        Ok(EncodedChunk { bytes: Bytes::from(bytes), close })
    }
}

fn place_among_recent(value: i64) -> usize {
    ((value as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - RECENT.ilog2())) as usize
}

fn put_text(entries: &mut Vec<u8>, text: &[u8]) {
    entries.extend_from_slice(&(text.len() as u32).to_le_bytes());
    entries.extend_from_slice(text);
}

fn compress(compressor: &mut zstd::bulk::Compressor<'_>, page: &[u8]) -> Result<Vec<u8>> {
    compressor.compress(page).map_err(|error| ParquetError::External(Box::new(error)))
}
